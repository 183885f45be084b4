/* Images that stay on several devices: on three of the CPU's, and on GPUs where there are some. */
#include "testing.h"

enum { MOST = 4 };

/* A context over several devices; NULL: there are none of this kind. */
static tw_context *open_devices(int kind)
{
    static const int same[MOST] = {0, 0, 0, 0};
    static const int all[MOST] = {0, 1, 2, 3};
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    int gpus = 0;
    assert_ok(tw_device_count(TW_CUDA, &gpus));
    options.threads = 4;
    options.backend = kind == 0 ? TW_CPU : TW_CUDA;
    options.devices = kind == 2 ? all : same;
    options.device_count = kind == 2 ? (gpus < MOST ? gpus : MOST) : 3;
    if ((kind == 1 && gpus < 1) || (kind == 2 && gpus < 2))
        return NULL;
    assert_ok(tw_context_create(&options, &context));
    return context;
}

static tw_context *open_cpu(void)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CPU;
    assert_ok(tw_context_create(&options, &context));
    return context;
}

static tw_spread *make_spread(tw_context *context, const tw_image *like, int64_t reach)
{
    tw_spread *spread = NULL;
    assert_ok(tw_spread_create(context, like->width, like->height, like->channels, like->type, reach, &spread));
    return spread;
}

/* On one device. */
static void run_alone(const tw_problem *problem, const tw_image *src, const tw_image *dst)
{
    tw_context *context = open_cpu();
    tw_plan *plan = NULL;
    assert_ok(tw_plan_create(context, problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, src, dst));
    tw_plan_destroy(plan);
    tw_context_destroy(context);
}

/* The problem on spread images and on one device, whose bytes must be the same. */
static void compare(tw_context *context, const tw_problem *problem, const picture *src, int64_t reach)
{
    const tw_image *image = &src->image;
    const bool turned = problem->op == TW_OP_TRANSPOSE && problem->turn & 1;
    picture expected = make_picture(turned ? image->height : image->width, turned ? image->width : image->height,
                                    image->channels, problem->out_type, 0);
    picture got = make_picture(expected.image.width, expected.image.height, image->channels, problem->out_type, 0);
    tw_spread *from = make_spread(context, image, reach);
    tw_spread *to = make_spread(context, &got.image, reach);
    tw_spread_plan *plan = NULL;
    run_alone(problem, image, &expected.image);
    assert_ok(tw_spread_plan_create(context, problem, NULL, &plan));
    assert_ok(tw_spread_put(from, image));
    assert_ok(tw_spread_run(plan, from, to));
    assert_ok(tw_spread_get(to, &got.image));
    assert_true(same_pixels(&expected.image, &got.image));
    tw_spread_plan_destroy(plan);
    tw_spread_destroy(from);
    tw_spread_destroy(to);
    free_picture(&expected);
    free_picture(&got);
}

static void every_border_and_reach(tw_context *context)
{
    static const tw_window windows[] = {{3, 3, 1, 1}, {2, 8, 0, 7}, {5, 9, 4, 0}, {3, 61, 1, 30}};
    static const int64_t heights[] = {61, 7, 2};
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
        picture src = make_picture(45, heights[h], 2, TW_U8, 0);
        picture dst = make_picture(45, heights[h], 2, TW_U8, 0);
        fill_random(&src.image, 3);
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            for (int mode = 0; mode < TW_BORDER_COUNT; mode++) {
                tw_order_params params = tw_order_defaults();
                tw_problem problem;
                params.window = windows[w];
                params.border = (tw_border){(tw_border_mode)mode, 77};
                assert_ok(tw_order_problem(TW_OP_MAX, &src.image, &dst.image, &params, 0, &problem));
                compare(context, &problem, &src, 61);
            }
        }
        free_picture(&src);
        free_picture(&dst);
    }
}

static void every_turn(tw_context *context)
{
    picture src = make_picture(45, 61, 3, TW_U16, 0);
    fill_random(&src.image, 4);
    for (int turn = 1; turn < TW_TURN_COUNT; turn++) {
        picture dst = turn & 1 ? make_picture(61, 45, 3, TW_U16, 0) : make_picture(45, 61, 3, TW_U16, 0);
        tw_problem problem;
        assert_ok(tw_transpose_problem(&src.image, &dst.image, (tw_turn)turn, &problem));
        compare(context, &problem, &src, 0);
        free_picture(&dst);
    }
    free_picture(&src);
}

/* Figures of a spread image, which a run of a filter has made, beside those of one CPU. */
static void compare_figures(tw_context *context, const tw_problem *problem, const tw_image *image)
{
    int64_t width = 0;
    int64_t height = 0;
    assert_ok(tw_problem_size(problem, &width, &height));
    picture expected = make_picture(width, height, image->channels, problem->out_type, 0);
    picture got = make_picture(width, height, image->channels, problem->out_type, 0);
    tw_spread *spread = make_spread(context, image, 0);
    tw_spread_plan *plan = NULL;
    run_alone(problem, image, &expected.image);
    assert_ok(tw_spread_plan_create(context, problem, NULL, &plan));
    assert_ok(tw_spread_put(spread, image));
    for (int i = 0; i < 2; i++) { /* a plan begins anew with each run */
        assert_ok(tw_spread_reduce(plan, spread, &got.image));
        assert_true(same_pixels(&expected.image, &got.image));
    }
    tw_spread_plan_destroy(plan);
    tw_spread_destroy(spread);
    free_picture(&expected);
    free_picture(&got);
}

static void all_figures(tw_context *context)
{
    static const tw_type types[] = {TW_U8, TW_I16, TW_F32};
    static const int64_t heights[] = {301, 2};
    for (size_t i = 0; i < COUNT(types) * COUNT(heights); i++) {
        picture src = make_picture(150, heights[i % 2], 2, types[i / 2], 0);
        picture dst = make_picture(150, heights[i % 2], 2, TW_STATS, 0); /* holds the results of all axes */
        tw_reduce_params params = tw_reduce_defaults();
        tw_problem problem;
        fill_random(&src.image, (unsigned)i);
        for (int axis = 0; axis < TW_AXIS_COUNT; axis++) {
            tw_image result = dst.image;
            result.width = axis == TW_AXIS_Y ? src.image.width : 1;
            result.height = axis == TW_AXIS_X ? src.image.height : 1;
            params.axis = (tw_axis)axis;
            assert_ok(tw_reduce_problem(&src.image, &result, &params, &problem));
            compare_figures(context, &problem, &src.image);
        }
        if (types[i / 2] == TW_U8) {
            picture counts = make_picture(256, 1, 2, TW_U64, 0);
            assert_ok(tw_histogram_problem(&src.image, &counts.image, &problem));
            compare_figures(context, &problem, &src.image);
            free_picture(&counts);
        }
        free_picture(&src);
        free_picture(&dst);
    }
}

/* Figures after a run that is only queued, and rows that change after others have read them. */
static void figures_in_a_chain(tw_context *context)
{
    picture src = make_picture(400, 300, 1, TW_U8, 0);
    picture blurred = make_picture(400, 300, 1, TW_U8, 0);
    picture expected = make_picture(400, 1, 1, TW_STATS, 0);
    picture got = make_picture(400, 1, 1, TW_STATS, 0);
    const tw_box_params box = box_params(5, 5, TW_BORDER_WRAP);
    const tw_reduce_params columns = {.axis = TW_AXIS_Y, .figures = TW_FIGURE_ALL};
    tw_context *alone = open_cpu();
    tw_spread *a = make_spread(context, &src.image, 2);
    tw_spread *b = make_spread(context, &src.image, 2);
    tw_spread_plan *blur = NULL;
    tw_spread_plan *reduce = NULL;
    tw_problem problem;
    fill_random(&src.image, 11);
    assert_ok(tw_box_problem(&src.image, &blurred.image, &box, &problem));
    assert_ok(tw_spread_plan_create(context, &problem, NULL, &blur));
    assert_ok(tw_reduce_problem(&src.image, &got.image, &columns, &problem));
    assert_ok(tw_spread_plan_create(context, &problem, NULL, &reduce));
    assert_ok(tw_spread_put(a, &src.image));
    for (int i = 0; i < 6; i++) {
        assert_ok(tw_spread_run(blur, i % 2 ? b : a, i % 2 ? a : b));
        assert_ok(tw_spread_reduce(reduce, i % 2 ? a : b, &got.image));
        assert_ok(tw_box(alone, i % 2 ? &blurred.image : &src.image, i % 2 ? &src.image : &blurred.image, &box));
        assert_ok(tw_reduce(alone, i % 2 ? &src.image : &blurred.image, &expected.image, &columns));
        assert_true(same_pixels(&expected.image, &got.image));
    }
    tw_spread_plan_destroy(blur);
    tw_spread_plan_destroy(reduce);
    tw_spread_destroy(a);
    tw_spread_destroy(b);
    tw_context_destroy(alone);
    free_picture(&src);
    free_picture(&blurred);
    free_picture(&expected);
    free_picture(&got);
}

/* Runs that are only queued: each must wait for its neighbours' rows of the one before. Beside them round trips of the
   same devices. */
static void a_chain(tw_context *context)
{
    picture src = make_picture(700, 500, 1, TW_U8, 0);
    picture a = make_picture(700, 500, 1, TW_U8, 0);
    picture b = make_picture(700, 500, 1, TW_U8, 0);
    picture even = make_picture(700, 500, 1, TW_U8, 0); /* by one CPU: after an even number of runs, and an odd one */
    picture odd = make_picture(700, 500, 1, TW_U8, 0);
    tw_context *alone = open_cpu();
    const tw_box_params params = box_params(5, 5, TW_BORDER_WRAP);
    tw_spread_plan *plan = NULL;
    tw_problem problem;
    fill_random(&src.image, 5);
    assert_ok(tw_box_problem(&src.image, &a.image, &params, &problem));
    tw_spread *one = make_spread(context, &src.image, 2);
    tw_spread *two = make_spread(context, &src.image, 2);
    assert_ok(tw_spread_plan_create(context, &problem, NULL, &plan));
    assert_ok(tw_spread_put(one, &src.image));
    for (int i = 0; i < 25; i++) {
        assert_ok(tw_spread_run(plan, one, two));
        assert_ok(tw_spread_run(plan, two, one));
        assert_ok(tw_box(context, i == 0 ? &src.image : &b.image, &a.image, &params));
        assert_ok(tw_box(context, &a.image, &b.image, &params));
        assert_ok(tw_box(alone, i == 0 ? &src.image : &even.image, &odd.image, &params));
        assert_ok(tw_box(alone, &odd.image, &even.image, &params));
        assert_true(same_pixels(&even.image, &b.image));
    }
    assert_ok(tw_spread_wait(one));
    assert_ok(tw_spread_get(one, &a.image));
    assert_true(same_pixels(&even.image, &a.image));
    tw_context_destroy(alone);
    free_picture(&even);
    free_picture(&odd);
    tw_spread_plan_destroy(plan);
    tw_spread_destroy(one);
    tw_spread_destroy(two);
    free_picture(&src);
    free_picture(&a);
    free_picture(&b);
}

static void spread_images_give_the_bytes_of_one_device(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tw_context *context = open_devices(kind);
        if (!context)
            continue;
        every_border_and_reach(context);
        every_turn(context);
        a_chain(context);
        all_figures(context);
        figures_in_a_chain(context);
        tw_context_destroy(context);
    }
}

static void misuse_is_named(void **state)
{
    tw_context *context = open_devices(0);
    picture src = make_picture(40, 30, 1, TW_U8, 0);
    picture other = make_picture(41, 30, 1, TW_U8, 0);
    const tw_box_params params = box_params(9, 9, TW_BORDER_ZERO);
    tw_spread_plan *plan = NULL;
    tw_spread *spread = NULL;
    tw_problem problem;
    (void)state;
    assert_refused(tw_spread_create(NULL, 4, 4, 1, TW_U8, 0, &spread), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_spread_create(context, 4, 4, 1, TW_U8, 0, NULL), TW_ERROR_ARGUMENT, "spread is NULL");
    assert_refused(tw_spread_create(context, 0, 4, 1, TW_U8, 0, &spread), TW_ERROR_ARGUMENT, "0x4 pixels");
    assert_refused(tw_spread_create(context, 4, 4, 1, TW_U8, -1, &spread), TW_ERROR_ARGUMENT, "reach -1");
    assert_refused(tw_spread_create(context, 4, 4, 5, TW_U8, 0, &spread), TW_ERROR_ARGUMENT, "5 channels");
    assert_refused(tw_spread_create(context, 4, 4, 1, TW_U8, INT64_MAX, &spread), TW_ERROR_LIMIT, "too many rows");
    assert_ok(tw_box_problem(&src.image, &src.image, &params, &problem));
    assert_refused(tw_spread_plan_create(NULL, &problem, NULL, &plan), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_spread_plan_create(context, NULL, NULL, &plan), TW_ERROR_ARGUMENT, "problem is NULL");
    assert_refused(tw_spread_plan_create(context, &problem, NULL, NULL), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_ok(tw_spread_plan_create(context, &problem, NULL, &plan));
    tw_spread *low = make_spread(context, &src.image, 3);
    tw_spread *high = make_spread(context, &src.image, 4);
    tw_spread *wide = make_spread(context, &other.image, 4);
    assert_refused(tw_spread_put(low, &other.image), TW_ERROR_ARGUMENT, "41x30");
    assert_refused(tw_spread_get(NULL, &src.image), TW_ERROR_ARGUMENT, "spread is NULL");
    assert_refused(tw_spread_wait(NULL), TW_ERROR_ARGUMENT, "spread is NULL");
    assert_refused(tw_spread_run(plan, low, high), TW_ERROR_ARGUMENT, "reach is 3 rows");
    assert_refused(tw_spread_run(plan, low, low), TW_ERROR_ARGUMENT, "dst is src");
    assert_refused(tw_spread_run(plan, wide, high), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_spread_run(NULL, low, high), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_ok(tw_spread_run(plan, high, low));
    assert_refused(tw_spread_reduce(plan, high, &src.image), TW_ERROR_ARGUMENT, "use tw_spread_run");
    tw_spread_plan_destroy(plan);
    picture record = make_picture(1, 1, 1, TW_STATS, 0);
    tw_scan_params down = {.axis = TW_AXIS_Y};
    picture sums = make_picture(40, 30, 1, TW_U32, 0);
    assert_ok(tw_scan_problem(&src.image, &sums.image, &down, &problem));
    assert_refused(tw_spread_plan_create(context, &problem, NULL, &plan), TW_ERROR_UNSUPPORTED, "scan has no parts");
    assert_ok(tw_reduce_problem(&src.image, &record.image, NULL, &problem));
    assert_ok(tw_spread_plan_create(context, &problem, NULL, &plan));
    assert_refused(tw_spread_run(plan, high, low), TW_ERROR_ARGUMENT, "use tw_spread_reduce");
    assert_refused(tw_spread_reduce(plan, wide, &record.image), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_spread_reduce(plan, high, &src.image), TW_ERROR_ARGUMENT, "stats of 1x1");
    assert_refused(tw_spread_reduce(NULL, high, &record.image), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_ok(tw_spread_reduce(plan, high, &record.image));
    free_picture(&record);
    free_picture(&sums);
    tw_spread_destroy(low);
    tw_spread_destroy(high);
    tw_spread_destroy(wide);
    tw_spread_destroy(NULL);
    tw_spread_plan_destroy(plan);
    tw_spread_plan_destroy(NULL);
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread_images_give_the_bytes_of_one_device),
        cmocka_unit_test(misuse_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
