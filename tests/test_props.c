/* What must hold for the mean whatever its implementation: each property through every variant that applies. */
#include "testing.h"

static const int windows[][2] = {{1, 1}, {3, 3}, {2, 3}, {5, 1}, {1, 4}, {9, 6}, {17, 12}};

/* A sound problem for separate images, or in place where src is dst. */
static tw_problem problem_of(const tw_image *src, const tw_image *dst, const tw_box_params *params)
{
    tw_problem problem;
    assert_ok(tw_box_problem(src, dst, params, &problem));
    return problem;
}

static void expect_same(const tw_image *got, const tw_image *expected, const walk *w, const tw_problem *problem)
{
    char text[200];
    if (same_pixels(got, expected))
        return;
    (void)tw_problem_text(problem, text, sizeof text);
    fail_msg("%s, %s: other pixels", w->variant.name, text);
}

/* The answer of a variant on the CPU. */
static void by_variant(const char *name, const tw_image *src, const tw_image *dst, const tw_problem *problem)
{
    tw_context_options options = tw_context_defaults();
    const tw_plan_options by_name = {.variant = name};
    tw_context *context = NULL;
    tw_plan *plan = NULL;
    options.backend = TW_CPU;
    assert_ok(tw_context_create(&options, &context));
    assert_ok(tw_plan_create(context, problem, &by_name, &plan));
    assert_ok(tw_plan_run(plan, src, dst));
    tw_plan_destroy(plan);
    tw_context_destroy(context);
}

static void by_reference(const tw_image *src, const tw_image *dst, const tw_problem *problem)
{
    by_variant("reference", src, dst, problem);
}

static void a_constant_image_stays_constant(void **state)
{
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (int border = TW_BORDER_CONSTANT; border < TW_BORDER_IGNORE; border++)
            for (size_t i = 0; i < COUNT(windows); i++) {
                const double value = type >= TW_F32 ? 0.7f : 113;
                picture src = make_picture(37, 21, 1, type, 8);
                picture dst = make_picture(37, 21, 1, type, 8);
                tw_box_params params = box_params(windows[i][0], windows[i][1], (tw_border_mode)border);
                params.border.value = value;
                params.rounding = i % 2 ? TW_ROUND_NEAREST : TW_ROUND_FLOOR;
                const tw_problem problem = problem_of(&src.image, &dst.image, &params);
                walk w = {0};
                fill(&src.image, value);
                while (next_variant(&w, &problem)) {
                    fill(&dst.image, 1);
                    assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                    expect_same(&dst.image, &src.image, &w, &problem);
                }
                free_picture(&src);
                free_picture(&dst);
            }
}

/* A single pixel of W*H gives 1 wherever the window holds it, and 0 elsewhere. */
static void an_impulse_gives_the_window(void **state)
{
    enum { WIDTH = 41, HEIGHT = 29, AT_X = 20, AT_Y = 13 };
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (size_t i = 0; i < COUNT(windows); i++)
            for (int far = 0; far < 2; far++) {
                const int width = windows[i][0];
                const int height = windows[i][1];
                if (type == TW_U8 && width * height > UINT8_MAX)
                    continue;
                picture src = make_picture(WIDTH, HEIGHT, 1, type, 0);
                picture dst = make_picture(WIDTH, HEIGHT, 1, type, 0);
                tw_box_params params = box_params(width, height, TW_BORDER_ZERO);
                if (far) {
                    params.window.anchor_x = width - 1;
                    params.window.anchor_y = 0;
                }
                const tw_problem problem = problem_of(&src.image, &dst.image, &params);
                walk w = {0};
                fill(&src.image, 0);
                put(&src.image, AT_X, AT_Y, 0, width * height);
                while (next_variant(&w, &problem)) {
                    assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                    for (int y = 0; y < HEIGHT; y++)
                        for (int x = 0; x < WIDTH; x++) {
                            const int left = x - params.window.anchor_x;
                            const int top = y - params.window.anchor_y;
                            const bool holds =
                                AT_X >= left && AT_X < left + width && AT_Y >= top && AT_Y < top + height;
                            if (get(&dst.image, x, y, 0) != (holds ? 1 : 0))
                                fail_msg("%s, %s, window %dx%d: (%d, %d) is %g", w.variant.name, tw_type_name(type),
                                         width, height, x, y, get(&dst.image, x, y, 0));
                        }
                }
                free_picture(&src);
                free_picture(&dst);
            }
}

/* The reference, in place, a view of a larger image, every number of threads: the same bytes. */
static void place_and_threads_change_nothing(void **state)
{
    static const int sizes[][2] = {{1, 1}, {3, 40}, {67, 5}, {130, 33}};
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (int channels = 1; channels <= 4; channels++)
            for (size_t s = 0; s < COUNT(sizes); s++)
                for (size_t i = 0; i < COUNT(windows); i++) {
                    const tw_border_mode border = (tw_border_mode)((i + s + (size_t)channels) % TW_BORDER_IGNORE);
                    const int width = sizes[s][0];
                    const int height = sizes[s][1];
                    tw_box_params params = box_params(windows[i][0], windows[i][1], border);
                    picture src = make_picture(width, height, channels, type, 0);
                    picture expected = make_picture(width, height, channels, type, 0);
                    picture whole = make_picture(width + 9, height + 4, channels, type, 24);
                    picture in_place = make_picture(width, height, channels, type, 16);
                    picture view_dst = make_picture(width, height, channels, type, 40);
                    tw_image view;
                    tw_context *context = NULL;
                    params.border.value = border == TW_BORDER_CONSTANT ? 50 : 0;
                    fill_random(&whole.image, (unsigned)((int)type * 100 + channels * 10 + (int)s));
                    assert_ok(tw_image_view(&whole.image, 5, 2, width, height, &view));
                    assert_ok(tw_context_create(NULL, &context));
                    assert_ok(tw_image_copy(context, &view, &src.image));
                    const tw_problem apart = problem_of(&src.image, &expected.image, &params);
                    const tw_problem same = problem_of(&in_place.image, &in_place.image, &params);
                    by_reference(&src.image, &expected.image, &apart);

                    walk w = {.threads = 1 + (int)((s + i) % 7)};
                    while (next_variant(&w, &apart)) {
                        fill(&view_dst.image, 77);
                        assert_ok(tw_plan_run(w.plan, &view, &view_dst.image));
                        expect_same(&view_dst.image, &expected.image, &w, &apart);
                        assert_true(guards_hold(&view_dst));
                    }
                    walk again = {.threads = 7 - (int)((s + i) % 7)};
                    while (next_variant(&again, &same)) {
                        assert_ok(tw_image_copy(context, &src.image, &in_place.image));
                        assert_ok(tw_plan_run(again.plan, &in_place.image, &in_place.image));
                        expect_same(&in_place.image, &expected.image, &again, &same);
                        assert_true(guards_hold(&in_place));
                    }
                    tw_context_destroy(context);
                    free_picture(&src);
                    free_picture(&expected);
                    free_picture(&whole);
                    free_picture(&in_place);
                    free_picture(&view_dst);
                }
}

/* With values that W*H divides, every mean is exact; under wrap each pixel is in W*H windows, so the sum of the
   image is kept, also where the window is larger than the image. */
static void wrap_keeps_the_sum(void **state)
{
    static const int sizes[][2] = {{50, 30}, {4, 3}, {1, 7}};
    static const tw_type types[] = {TW_U16, TW_I16, TW_I32};
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t i = 0; i < COUNT(windows); i++) {
                const int count = windows[i][0] * windows[i][1];
                picture src = make_picture(sizes[s][0], sizes[s][1], 1, types[t], 0);
                picture dst = make_picture(sizes[s][0], sizes[s][1], 1, types[t], 0);
                tw_box_params params = box_params(windows[i][0], windows[i][1], TW_BORDER_WRAP);
                params.rounding = s % 2 ? TW_ROUND_NEAREST : TW_ROUND_FLOOR;
                const tw_problem problem = problem_of(&src.image, &dst.image, &params);
                double sum = 0;
                walk w = {0};
                fill_random(&src.image, (unsigned)i);
                for (int y = 0; y < sizes[s][1]; y++)
                    for (int x = 0; x < sizes[s][0]; x++) {
                        const double value = trunc(get(&src.image, x, y, 0) / 3) * count;
                        const double kept = fabs(value) <= 32000 ? value : 0;
                        put(&src.image, x, y, 0, kept);
                        sum += kept;
                    }
                while (next_variant(&w, &problem)) {
                    double got = 0;
                    assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                    for (int y = 0; y < sizes[s][1]; y++)
                        for (int x = 0; x < sizes[s][0]; x++)
                            got += get(&dst.image, x, y, 0);
                    if (got != sum)
                        fail_msg("%s, %s, window %dx%d: the sum went from %g to %g", w.variant.name,
                                 tw_type_name(types[t]), windows[i][0], windows[i][1], sum, got);
                }
                free_picture(&src);
                free_picture(&dst);
            }
}

/* Shifting an image round its edges shifts the result: the mean does not depend on where a pixel lies. */
static void wrap_commutes_with_a_shift(void **state)
{
    enum { WIDTH = 83, HEIGHT = 19, RIGHT = 29, DOWN = 7 };
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (size_t i = 0; i < COUNT(windows); i++) {
            picture src = make_picture(WIDTH, HEIGHT, 2, type, 0);
            picture shifted = make_picture(WIDTH, HEIGHT, 2, type, 0);
            picture dst = make_picture(WIDTH, HEIGHT, 2, type, 0);
            picture dst_shifted = make_picture(WIDTH, HEIGHT, 2, type, 0);
            const tw_box_params params = box_params(windows[i][0], windows[i][1], TW_BORDER_WRAP);
            const tw_problem problem = problem_of(&src.image, &dst.image, &params);
            const size_t pixel = 2 * tw_type_size(type);
            walk w = {0};
            fill_random(&src.image, 3);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    memcpy(element(&shifted.image, (x + RIGHT) % WIDTH, (y + DOWN) % HEIGHT, 0),
                           element(&src.image, x, y, 0), pixel);
            while (next_variant(&w, &problem)) {
                assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                assert_ok(tw_plan_run(w.plan, &shifted.image, &dst_shifted.image));
                for (int y = 0; y < HEIGHT; y++)
                    for (int x = 0; x < WIDTH; x++)
                        if (memcmp(element(&dst_shifted.image, (x + RIGHT) % WIDTH, (y + DOWN) % HEIGHT, 0),
                                   element(&dst.image, x, y, 0), pixel) != 0)
                            fail_msg("%s, %s, window %dx%d: (%d, %d) depends on its place", w.variant.name,
                                     tw_type_name(type), windows[i][0], windows[i][1], x, y);
            }
            free_picture(&src);
            free_picture(&shifted);
            free_picture(&dst);
            free_picture(&dst_shifted);
        }
}

/* A row and the column of the same values have the same means, to the byte. */
static void a_column_is_a_row_turned(void **state)
{
    enum { LENGTH = 150 };
    static const int sides[] = {1, 2, 3, 4, 7, 16, 33, 101, 211};
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (int border = 0; border < TW_BORDER_IGNORE; border++)
            for (size_t i = 0; i < COUNT(sides); i++) {
                picture row = make_picture(LENGTH, 1, 1, type, 0);
                picture column = make_picture(1, LENGTH, 1, type, 0);
                picture row_mean = make_picture(LENGTH, 1, 1, type, 0);
                picture column_mean = make_picture(1, LENGTH, 1, type, 0);
                const tw_box_params along = box_params(sides[i], 1, (tw_border_mode)border);
                const tw_box_params down = box_params(1, sides[i], (tw_border_mode)border);
                const tw_problem row_problem = problem_of(&row.image, &row_mean.image, &along);
                const tw_problem column_problem = problem_of(&column.image, &column_mean.image, &down);
                walk w = {0};
                fill_random(&row.image, (unsigned)sides[i]);
                fill_random(&column.image, (unsigned)sides[i]);
                by_reference(&row.image, &row_mean.image, &row_problem);
                while (next_variant(&w, &column_problem)) {
                    assert_ok(tw_plan_run(w.plan, &column.image, &column_mean.image));
                    if (memcmp(row_mean.image.data, column_mean.image.data, LENGTH * tw_type_size(type)) != 0)
                        fail_msg("%s, %s, %s, %d: the column differs from the row", w.variant.name, tw_type_name(type),
                                 tw_border_name((tw_border_mode)border), sides[i]);
                }
                free_picture(&row);
                free_picture(&column);
                free_picture(&row_mean);
                free_picture(&column_mean);
            }
}

/* Every variant's answer to the problem, on random pixels, is the scalar one. */
static void expect_reference(const picture *src, const picture *dst, const picture *expected, const tw_problem *problem)
{
    walk w = {0};
    by_reference(&src->image, &expected->image, problem);
    while (next_variant(&w, problem)) {
        fill(&dst->image, 1);
        assert_ok(tw_plan_run(w.plan, &src->image, &dst->image));
        expect_same(&dst->image, &expected->image, &w, problem);
        assert_true(guards_hold(dst));
    }
}

/* What fast kernels single out: 5x5 masks of bytes, Gaussians of few taps, rows so long that they are read in place. */
static void what_kernels_single_out_is_right(void **state)
{
    static const int widths[] = {1, 4, 63, 64, 65, 191, 192, 200, 261, 333, 700};
    static const double divisors[] = {1, 16, 77, -9};
    (void)state;
    for (size_t i = 0; i < COUNT(widths); i++)
        for (int type = 0; type < 2; type++)
            for (int round = 0; round < 4; round++) {
                const int height = 3 + 4 * round;
                const tw_type of = type ? TW_F32 : TW_U8;
                picture src = make_picture(widths[i], height, 1, of, 8);
                picture dst = make_picture(widths[i], height, 1, of, 4);
                picture expected = make_picture(widths[i], height, 1, of, 0);
                unsigned seed = (unsigned)(16 * i + 4 * (size_t)type + (size_t)round);
                int32_t mask[25];
                tw_problem problem;
                for (int k = 0; k < 25; k++)
                    mask[k] = (int32_t)(next_random(&seed) % 255) - 127;
                const tw_correlate_params correlate = {.window = tw_window_centred(5, 5),
                                                       .mask = {.integers = mask},
                                                       .divisor = divisors[round],
                                                       .border = {.mode = (tw_border_mode)round},
                                                       .rounding = TW_ROUND_NEAREST};
                tw_gaussian_params gaussian = tw_gaussian_defaults();
                gaussian.sigma_x = 0.6 + 0.3 * round;
                gaussian.sigma_y = 0.5 + 0.4 * round;
                gaussian.width = 3 + 2 * (int32_t)(i % 6);
                gaussian.height = 3 + 4 * round;
                fill_random(&src.image, seed);
                assert_ok(tw_correlate_problem(&src.image, &dst.image, &correlate, &problem));
                expect_reference(&src, &dst, &expected, &problem);
                assert_ok(tw_gaussian_problem(&src.image, &dst.image, &gaussian, &problem));
                expect_reference(&src, &dst, &expected, &problem);
                free_picture(&src);
                free_picture(&dst);
                free_picture(&expected);
            }
}

/* 64 elements at a time: where rows end between, the windows of those before reach over the end. */
static void five_by_five_is_right_at_all_ends(void **state)
{
    (void)state;
    for (int width = 1; width <= 4 * 64 + 3; width += width % 64 >= 4 && width % 64 < 60 ? 28 : 1)
        for (int mode = 0; mode < TW_BORDER_IGNORE; mode++) {
            picture src = make_picture(width, 9, 1, TW_U8, 8);
            picture dst = make_picture(width, 9, 1, TW_U8, 4);
            picture expected = make_picture(width, 9, 1, TW_U8, 0);
            tw_gaussian_params gaussian = tw_gaussian_defaults();
            tw_problem problem;
            gaussian.width = gaussian.height = 5;
            gaussian.border.mode = (tw_border_mode)mode;
            fill_random(&src.image, (unsigned)(7 * width + mode));
            assert_ok(tw_gaussian_problem(&src.image, &dst.image, &gaussian, &problem));
            expect_reference(&src, &dst, &expected, &problem);
            free_picture(&src);
            free_picture(&dst);
            free_picture(&expected);
        }
}

static void check_mask(tw_type type, int width, int channels, tw_correlate_params correlate)
{
    picture src = make_picture(width, 9, channels, type, 8);
    picture dst = make_picture(width, 9, channels, type, 4);
    picture expected = make_picture(width, 9, channels, type, 0);
    tw_problem problem;
    correlate.border.mode = (tw_border_mode)(width % TW_BORDER_IGNORE);
    correlate.divisor = 99;
    fill_random(&src.image, (unsigned)width);
    assert_ok(tw_correlate_problem(&src.image, &dst.image, &correlate, &problem));
    expect_reference(&src, &dst, &expected, &problem);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&expected);
}

/* The same of masks, whose rows are read in place when they are longer. */
static void five_by_five_masks_are_right_at_all_ends(void **state)
{
    static const int32_t mask[25] = {3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, 8, 40, 7, 9, -3, 2, 3, 8, -4, 6, 2, -6, 4, 3};
    (void)state;
    for (int width = 19 * 64 - 6; width <= 20 * 64 + 6; width += width % 64 == 6 ? 52 : 1)
        check_mask(TW_U8, width, 1,
                   (tw_correlate_params){.window = tw_window_centred(5, 5), .mask = {.integers = mask}});
}

/* The same of floats, in rows of any length, where a window may reach over the start of more than one tile. */
static void masks_of_floats_are_right_at_all_ends(void **state)
{
    static const tw_window shapes[] = {{5, 5, 2, 2}, {35, 3, 17, 1}, {35, 3, 34, 0}, {2, 4, 0, 3}};
    double mask[105];
    (void)state;
    for (int i = 0; i < 105; i++)
        mask[i] = (i * 37 % 101 - 30) / 8.0;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (int width = 57; width <= 330; width += 13)
            check_mask(TW_F32, width, width % 4 + 1,
                       (tw_correlate_params){.window = shapes[k], .mask = {.floats = mask}});
}

/* From 8 MiB on results go past the cache, in runs of aligned bytes, or by way of a copy where rows are not aligned. */
static void large_results_are_those_of_plain_code(void **state)
{
    enum { WIDTH = 65 * 64, HEIGHT = 2051, LINE = 64 };
    static const int32_t mask[25] = {3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, 8, 40, 7, 9, -3, 2, 3, 8, -4, 6, 2, -6, 4, 3};
    const tw_correlate_params correlate = {
        .window = tw_window_centred(5, 5), .mask = {.integers = mask}, .divisor = 99, .rounding = TW_ROUND_NEAREST};
    tw_gaussian_params gaussian = tw_gaussian_defaults();
    picture src = make_picture(WIDTH, HEIGHT, 1, TW_U8, 3);
    picture dst = make_picture(WIDTH + 2 * LINE, HEIGHT, 1, TW_U8, 0);
    picture expected = make_picture(WIDTH, HEIGHT, 1, TW_U8, 0);
    (void)state;
    fill_random(&src.image, 5);
    for (int filter = 0; filter < 3; filter++)
        for (int aligned = 0; aligned < 2; aligned++) {
            const int64_t to_line = (int64_t)((LINE - (uintptr_t)dst.image.data % LINE) % LINE);
            walk w = {.threads = 2};
            tw_image view;
            tw_problem problem;
            assert_ok(tw_image_view(&dst.image, to_line + (aligned ? 0 : 1), 0, WIDTH, HEIGHT, &view));
            gaussian.width = gaussian.height = filter == 0 ? 5 : 7;
            assert_ok(filter < 2 ? tw_gaussian_problem(&src.image, &view, &gaussian, &problem)
                                 : tw_correlate_problem(&src.image, &view, &correlate, &problem));
            by_variant("c", &src.image, &expected.image, &problem);
            while (next_variant(&w, &problem)) {
                if (strcmp(w.variant.name, "reference") == 0)
                    continue; /* takes seconds */
                fill(&dst.image, 1);
                assert_ok(tw_plan_run(w.plan, &src.image, &view));
                expect_same(&view, &expected.image, &w, &problem);
                assert_true(get(&dst.image, to_line + WIDTH + 1, HEIGHT - 1, 0) == 1);
            }
        }
    free_picture(&src);
    free_picture(&dst);
    free_picture(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_image_stays_constant),
        cmocka_unit_test(an_impulse_gives_the_window),
        cmocka_unit_test(place_and_threads_change_nothing),
        cmocka_unit_test(wrap_keeps_the_sum),
        cmocka_unit_test(wrap_commutes_with_a_shift),
        cmocka_unit_test(a_column_is_a_row_turned),
        cmocka_unit_test(what_kernels_single_out_is_right),
        cmocka_unit_test(large_results_are_those_of_plain_code),
        cmocka_unit_test(five_by_five_is_right_at_all_ends),
        cmocka_unit_test(five_by_five_masks_are_right_at_all_ends),
        cmocka_unit_test(masks_of_floats_are_right_at_all_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
