/* Parts: some rows of a result from the pixels that they read alone, and misuse. */
#include "testing.h"

enum { WIDTH = 9, HEIGHT = 11 };

/* Makes rows first ... last-1 of dst from a copy of the part's regions. */
static void run_part(tw_context *context, const tw_problem *problem, int64_t first, int64_t last, const tw_image *src,
                     const tw_image *dst)
{
    tw_part part;
    tw_image to;
    tw_image from;
    tw_plan *plan = NULL;
    int64_t y = 0;
    assert_ok(tw_problem_part(problem, first, last, &part));
    picture rows = make_picture(part.problem.width, part.problem.height, problem->channels, problem->type, 8);
    for (int32_t i = 0; i < part.count; i++) {
        const tw_region *read = &part.reads[i];
        assert_ok(tw_image_view(src, read->x, read->y, read->width, read->height, &from));
        assert_ok(tw_image_view(&rows.image, 0, y, read->width, read->height, &to));
        assert_ok(tw_image_copy(context, &from, &to));
        y += read->height;
    }
    assert_int_equal(y, part.problem.height);
    assert_ok(tw_plan_create(context, &part.problem, NULL, &plan));
    assert_ok(tw_image_view(dst, 0, first, dst->width, last - first, &to));
    assert_ok(tw_plan_run_rows(plan, &rows.image, &to, part.first));
    tw_plan_destroy(plan);
    free_picture(&rows);
}

/* Every band of the result against the same rows of the whole. */
static void compare_bands(tw_context *context, const tw_problem *problem, const tw_image *src, const tw_image *whole)
{
    tw_plan *plan = NULL;
    assert_ok(tw_plan_create(context, problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, src, whole));
    tw_plan_destroy(plan);
    for (int64_t first = 0; first < whole->height; first++) {
        for (int64_t last = first + 1; last <= whole->height; last++) {
            picture dst = make_picture(whole->width, whole->height, whole->channels, whole->type, 0);
            tw_image expected;
            tw_image got;
            run_part(context, problem, first, last, src, &dst.image);
            assert_ok(tw_image_view(whole, 0, first, whole->width, last - first, &expected));
            assert_ok(tw_image_view(&dst.image, 0, first, whole->width, last - first, &got));
            assert_true(same_pixels(&expected, &got));
            free_picture(&dst);
        }
    }
}

static void a_band_is_the_same_rows_of_the_whole(void **state)
{
    static const tw_window windows[] = {{3, 3, 1, 1}, {2, 6, 0, 5}, {5, 6, 4, 0}, {1, 11, 0, 5}, {3, 31, 1, 12}};
    tw_context *context = context_on_cpu();
    picture src = make_picture(WIDTH, HEIGHT, 2, TW_U8, 5);
    picture dst = make_picture(WIDTH, HEIGHT, 2, TW_U8, 0);
    (void)state;
    fill_random(&src.image, 5);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        for (int mode = 0; mode < TW_BORDER_COUNT; mode++) {
            tw_problem problem;
            tw_order_params params = tw_order_defaults();
            params.window = windows[i];
            params.border = (tw_border){(tw_border_mode)mode, 77};
            assert_ok(tw_order_problem(TW_OP_MAX, &src.image, &dst.image, &params, 0, &problem));
            compare_bands(context, &problem, &src.image, &dst.image);
        }
    }
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
}

static void a_band_of_a_turn_is_made_of_columns_or_rows(void **state)
{
    tw_context *context = context_on_cpu();
    picture src = make_picture(WIDTH, HEIGHT, 3, TW_U16, 2);
    (void)state;
    fill_random(&src.image, 6);
    for (int turn = 1; turn < TW_TURN_COUNT; turn++) {
        tw_problem problem;
        picture dst = turn & 1 ? make_picture(HEIGHT, WIDTH, 3, TW_U16, 0) : make_picture(WIDTH, HEIGHT, 3, TW_U16, 0);
        assert_ok(tw_transpose_problem(&src.image, &dst.image, (tw_turn)turn, &problem));
        compare_bands(context, &problem, &src.image, &dst.image);
        free_picture(&dst);
    }
    tw_context_destroy(context);
    free_picture(&src);
}

/* What a part costs: its rows, what the window reaches, and no more. */
static void a_part_reads_no_more_than_its_windows_do(void **state)
{
    const tw_image image = {(void *)(uintptr_t)256, 100, 1000, 100, 1, TW_U8, TW_HOST};
    const tw_image other = {(void *)(uintptr_t)0x1000000, 100, 1000, 100, 1, TW_U8, TW_HOST};
    tw_problem problem;
    tw_part part;
    (void)state;
    for (int mode = 0; mode < TW_BORDER_IGNORE; mode++) {
        tw_box_params params = box_params(7, 7, (tw_border_mode)mode);
        assert_ok(tw_box_problem(&image, &other, &params, &problem));
        assert_ok(tw_problem_part(&problem, 500, 510, &part));
        assert_int_equal(part.count, 1);
        assert_int_equal(part.reads[0].y, 497);
        assert_int_equal(part.problem.height, 16);
        assert_int_equal(part.first, 3);
        assert_ok(tw_problem_part(&problem, 0, 10, &part));
        assert_int_equal(part.problem.height, mode == TW_BORDER_WRAP ? 16 : 13);
        assert_ok(tw_problem_part(&problem, 990, 1000, &part));
        assert_int_equal(part.problem.height, mode == TW_BORDER_WRAP ? 16 : 13);
    }
}

static void misuse_is_named(void **state)
{
    tw_context *context = context_on_cpu();
    picture src = make_picture(WIDTH, HEIGHT, 1, TW_U8, 0);
    picture dst = make_picture(WIDTH, HEIGHT, 1, TW_U8, 0);
    picture turned = make_picture(HEIGHT, WIDTH, 1, TW_U8, 0);
    picture counts = make_picture(256, 1, 1, TW_U64, 0);
    tw_plan *plan = NULL;
    tw_problem problem;
    tw_image rows;
    tw_part part;
    (void)state;
    fill_random(&src.image, 7);
    assert_ok(tw_box_problem(&src.image, &dst.image, NULL, &problem));
    assert_refused(tw_problem_part(NULL, 0, 1, &part), TW_ERROR_ARGUMENT, "problem is NULL");
    assert_refused(tw_problem_part(&problem, 0, 1, NULL), TW_ERROR_ARGUMENT, "part is NULL");
    assert_refused(tw_problem_part(&problem, -1, 1, &part), TW_ERROR_ARGUMENT, "rows -1 to 1 of 11");
    assert_refused(tw_problem_part(&problem, 3, 3, &part), TW_ERROR_ARGUMENT, "rows 3 to 3");
    assert_refused(tw_problem_part(&problem, 3, 12, &part), TW_ERROR_ARGUMENT, "rows 3 to 12");
    assert_ok(tw_plan_create(context, &problem, NULL, &plan));
    assert_ok(tw_image_view(&dst.image, 0, 0, WIDTH, 4, &rows));
    assert_refused(tw_plan_run_rows(NULL, &src.image, &rows, 0), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_refused(tw_plan_run_rows(plan, &src.image, &rows, -1), TW_ERROR_ARGUMENT, "from row -1 on");
    assert_refused(tw_plan_run_rows(plan, &src.image, &rows, 8), TW_ERROR_ARGUMENT, "4 rows from row 8 on");
    assert_refused(tw_plan_run_rows(plan, &src.image, &src.image, 0), TW_ERROR_ARGUMENT, "image of their own");
    assert_ok(tw_plan_run_rows(plan, &src.image, &rows, 7));
    tw_plan_destroy(plan);
    assert_ok(tw_transpose_problem(&src.image, &turned.image, TW_TRANSPOSE, &problem));
    assert_ok(tw_plan_create(context, &problem, &(tw_plan_options){.variant = "reference"}, &plan));
    assert_ok(tw_plan_run_rows(plan, &src.image, &turned.image, 0));
    tw_plan_destroy(plan);
    assert_ok(tw_histogram_problem(&src.image, &counts.image, &problem));
    assert_ok(tw_problem_part(&problem, 0, 1, &part));
    assert_ok(tw_reduce_problem(&src.image,
                                &(tw_image){(void *)(uintptr_t)256, 1, HEIGHT, sizeof(tw_stats), 1, TW_STATS, TW_HOST},
                                &(tw_reduce_params){.axis = TW_AXIS_X, .figures = TW_FIGURE_SUM}, &problem));
    assert_refused(tw_problem_part(&problem, 0, 1, &part), TW_ERROR_UNSUPPORTED, "reduce has no parts");
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&turned);
    free_picture(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_band_is_the_same_rows_of_the_whole),
        cmocka_unit_test(a_band_of_a_turn_is_made_of_columns_or_rows),
        cmocka_unit_test(a_part_reads_no_more_than_its_windows_do),
        cmocka_unit_test(misuse_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
