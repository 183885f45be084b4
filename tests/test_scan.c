/* scan and integral: properties of running sums, by every variant on this machine. */
#include "testing.h"

static const tw_type sum_types[] = {TW_U32, TW_I32, TW_U64, TW_I64, TW_F32, TW_F64};

static double sum_at(const tw_image *image, int64_t x, int64_t y, int channel)
{
    const void *place = element(image, x, y, channel);
    switch (image->type) {
    case TW_U32:
        return *(const uint32_t *)place;
    case TW_U64:
    case TW_I64:
        return (double)*(const int64_t *)place;
    default:
        return get(image, x, y, channel);
    }
}

/* The pixel before (x, y) on its line; false: there is none. */
static bool before(tw_axis axis, int64_t width, int64_t *x, int64_t *y)
{
    if (axis == TW_AXIS_Y)
        return --*y >= 0;
    if (--*x < 0 && axis == TW_AXIS_ALL) {
        *x = width - 1;
        --*y;
    }
    return *x >= 0 && *y >= 0;
}

/* ---- Integers: differences give the image back --------------------------------------------------------- */

static void check_differences(const picture *src, const picture *dst, const tw_scan_params *params, const char *name)
{
    const tw_image *in = &src->image;
    for (int64_t y = 0; y < in->height; y++)
        for (int64_t x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                int64_t from_x = x;
                int64_t from_y = y;
                const bool follows = before(params->axis, in->width, &from_x, &from_y);
                const double sum = sum_at(&dst->image, x, y, c);
                const double less = follows ? sum_at(&dst->image, from_x, from_y, c) : 0;
                const double value = !params->exclusive ? get(in, x, y, c) : follows ? get(in, from_x, from_y, c) : 0;
                if (sum - less != value)
                    fail_msg("%s, axis %s: pixel %d,%d", name, tw_axis_name(params->axis), (int)x, (int)y);
            }
    assert_true(guards_hold(dst));
}

static void each_scan(int64_t width, int64_t height, int channels, tw_type type, tw_type sum)
{
    picture src = make_picture(width, height, channels, type, 24);
    picture dst = make_picture(width, height, channels, sum, 16);
    fill_random(&src.image, 7);
    for (tw_axis axis = TW_AXIS_X; axis < TW_AXIS_COUNT; axis++)
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            const tw_scan_params params = {axis, exclusive == 1};
            walk w = {.threads = 3};
            tw_problem problem;
            if (tw_scan_problem(&src.image, &dst.image, &params, &problem) != TW_OK)
                continue; /* the pair of types is no one's */
            while (next_variant(&w, &problem)) {
                assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                check_differences(&src, &dst, &params, w.variant.name);
            }
        }
    free_picture(&src);
    free_picture(&dst);
}

static void differences_give_the_image_back(void **state)
{
    (void)state;
    for (tw_type type = TW_U8; type <= TW_I32; type++)
        for (size_t i = 0; i < COUNT(sum_types); i++) {
            each_scan(301, 67, 1, type, sum_types[i]);
            each_scan(129, 33, 3, type, sum_types[i]);
            each_scan(1, 40, 2, type, sum_types[i]);
        }
    each_scan(20000, 3, 1, TW_U8, TW_U32);
    each_scan(36000, 2, 1, TW_U8, TW_U32); /* more than two spans */
}

/* ---- Integrals: rectangles ------------------------------------------------------------------------------ */

static void rectangles_take_four_pixels(void **state)
{
    enum { WIDTH = 140, HEIGHT = 90 };
    unsigned seed = 3;
    (void)state;
    for (int channels = 1; channels <= 4; channels += 3) {
        picture src = make_picture(WIDTH, HEIGHT, channels, TW_I16, 2);
        picture dst = make_picture(WIDTH + 1, HEIGHT + 1, channels, TW_I64, 8);
        walk w = {.threads = 2};
        tw_problem problem;
        fill_random(&src.image, 11);
        assert_ok(tw_integral_problem(&src.image, &dst.image, &problem));
        while (next_variant(&w, &problem)) {
            assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
            for (int i = 0; i < 60; i++) {
                const int64_t left = next_random(&seed) % WIDTH;
                const int64_t top = next_random(&seed) % HEIGHT;
                const int64_t right = left + 1 + next_random(&seed) % (WIDTH - left);
                const int64_t bottom = top + 1 + next_random(&seed) % (HEIGHT - top);
                const int c = i % channels;
                double sum = 0;
                for (int64_t y = top; y < bottom; y++)
                    for (int64_t x = left; x < right; x++)
                        sum += get(&src.image, x, y, c);
                if (sum != sum_at(&dst.image, right, bottom, c) - sum_at(&dst.image, left, bottom, c) -
                               sum_at(&dst.image, right, top, c) + sum_at(&dst.image, left, top, c))
                    fail_msg("%s: %d,%d to %d,%d", w.variant.name, (int)left, (int)top, (int)right, (int)bottom);
            }
            assert_true(guards_hold(&dst));
        }
        free_picture(&src);
        free_picture(&dst);
    }
}

/* ---- Floats ---------------------------------------------------------------------------------------------- */

static void a_nan_stays_to_the_end_of_its_line(void **state)
{
    enum { WIDTH = 700, AT = 333 };
    (void)state;
    picture src = make_picture(WIDTH, 3, 1, TW_F32, 4);
    picture dst = make_picture(WIDTH, 3, 1, TW_F32, 4);
    walk w = {.threads = 2};
    tw_problem problem;
    fill(&src.image, 1);
    put(&src.image, AT, 1, 0, (double)NAN);
    assert_ok(tw_scan_problem(&src.image, &dst.image, NULL, &problem));
    while (next_variant(&w, &problem)) {
        assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
        for (int64_t x = 0; x < WIDTH; x++) {
            const uint32_t *bits = element(&dst.image, x, 1, 0);
            if (x < AT ? get(&dst.image, x, 1, 0) != (double)(x + 1) : *bits != 0x7fc00000u)
                fail_msg("%s: pixel %d", w.variant.name, (int)x);
            assert_true(get(&dst.image, x, 0, 0) == (double)(x + 1) && get(&dst.image, x, 2, 0) == (double)(x + 1));
        }
    }
    free_picture(&src);
    free_picture(&dst);
}

static void fill_with_negative_zeros(const tw_image *image)
{
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            put(image, x, y, 0, -0.0);
}

/* More lines than a device has at work at a time, and lines of many spans; of -0 alone, whose sums are +0. */
static void variants_agree_to_the_bit(void **state)
{
    static const int64_t sizes[][2] = {{516, 2500}, {1030, 900}, {4100, 300}, {16384, 40}, {70000, 3}, {70001, 2}};
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        const int64_t *const size = sizes[i / 2];
        picture src = make_picture(size[0], size[1], 1, TW_F32, 16);
        picture first = make_picture(size[0], size[1], 1, TW_F32, 16);
        picture dst = make_picture(size[0], size[1], 1, TW_F32, 16);
        if (i % 2 == 0)
            fill_random(&src.image, 9);
        else
            fill_with_negative_zeros(&src.image);
        for (int way = 0; way < 2 * TW_AXIS_COUNT; way++) {
            const tw_scan_params params = {(tw_axis)(way / 2), way % 2 == 1};
            walk w = {.threads = 2};
            tw_problem problem;
            assert_ok(tw_scan_problem(&src.image, &dst.image, &params, &problem));
            assert_true(next_variant(&w, &problem));
            assert_ok(tw_plan_run(w.plan, &src.image, &first.image));
            while (next_variant(&w, &problem)) {
                assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                if (!same_pixels(&first.image, &dst.image))
                    fail_msg("%s, axis %s, %d wide", w.variant.name, tw_axis_name(params.axis), (int)size[0]);
            }
        }
        free_picture(&src);
        free_picture(&first);
        free_picture(&dst);
    }
}

static void threads_and_places_change_no_bit(void **state)
{
    (void)state;
    for (tw_axis axis = TW_AXIS_X; axis < TW_AXIS_COUNT; axis++) {
        const tw_scan_params params = {.axis = axis};
        picture src = make_picture(1111, 70, 1, TW_F32, 8);
        picture first = make_picture(1111, 70, 1, TW_F32, 0);
        fill_random(&src.image, 5);
        for (int threads = 1; threads <= 7; threads += 2) {
            picture dst = make_picture(1111, 70, 1, TW_F32, 12);
            tw_context_options options = tw_context_defaults();
            tw_context *context = NULL;
            options.backend = TW_CPU;
            options.threads = threads;
            assert_ok(tw_context_create(&options, &context));
            if (threads == 1)
                assert_ok(tw_scan(context, &src.image, &first.image, &params));
            assert_ok(tw_image_copy(context, &src.image, &dst.image));
            assert_ok(tw_scan(context, &dst.image, &dst.image, &params));
            assert_true(same_pixels(&first.image, &dst.image));
            tw_context_destroy(context);
            free_picture(&dst);
        }
        free_picture(&src);
        free_picture(&first);
    }
}

/* ---- Types and limits -------------------------------------------------------------------------------------- */

/* Descriptors alone: no pixel is touched. */
static tw_image large(int64_t width, int64_t height, tw_type type, uintptr_t address)
{
    const tw_image image = {(void *)address, width, height, width * (int64_t)tw_type_size(type), 1, type, TW_HOST};
    return image;
}

static void sums_that_might_not_fit_are_refused(void **state)
{
    const uintptr_t far = (uintptr_t)1 << 44;
    tw_problem problem;
    (void)state;
    /* 16843009 * 255 is the largest u32 */
    tw_image src = large(16843009, 2, TW_U8, 64);
    tw_image dst = large(16843009, 2, TW_U32, far);
    assert_ok(tw_scan_problem(&src, &dst, NULL, &problem));
    assert_int_equal(tw_scan_type(&src, NULL), TW_U32);
    src = large(16843010, 2, TW_U8, 64);
    dst = large(16843010, 2, TW_U32, far);
    assert_refused(tw_scan_problem(&src, &dst, NULL, &problem), TW_ERROR_LIMIT, "16843010 values of u8 may exceed u32");
    assert_int_equal(tw_scan_type(&src, NULL), TW_U64);
    assert_int_equal(tw_integral_type(&src), TW_U64);
    src = large(1 << 19, 1 << 12, TW_I32, 64);
    dst = large((1 << 19) + 1, (1 << 12) + 1, TW_F64, far);
    assert_refused(tw_integral_problem(&src, &dst, &problem), TW_ERROR_LIMIT, "2^53");
    assert_int_equal(tw_integral_type(&src), TW_I64);
    src = large(65536, 1, TW_I16, 64);
    assert_int_equal(tw_scan_type(&src, NULL), TW_I32);
    src = large(65537, 1, TW_I16, 64);
    assert_int_equal(tw_scan_type(&src, NULL), TW_I64);
    src = large(10, 10, TW_F32, 64);
    assert_int_equal(tw_scan_type(&src, NULL), TW_F32);
    assert_int_equal(tw_integral_type(&src), TW_F64);
    assert_int_equal(tw_integral_type(NULL), TW_ELEMENT_COUNT);
}

static void wrong_types_and_sizes_are_named(void **state)
{
    const tw_scan_params wrong = {.axis = TW_AXIS_COUNT};
    picture src = make_picture(8, 8, 1, TW_U8, 0);
    picture sums = make_picture(8, 8, 1, TW_U32, 0);
    picture floats = make_picture(9, 9, 1, TW_F32, 0);
    tw_problem problem;
    (void)state;
    assert_refused(tw_scan_problem(&src.image, &src.image, NULL, &problem), TW_ERROR_ARGUMENT, "u8");
    assert_refused(tw_scan_problem(&src.image, &sums.image, &wrong, &problem), TW_ERROR_ARGUMENT, "axis");
    assert_refused(tw_scan_problem(&src.image, &sums.image, NULL, NULL), TW_ERROR_ARGUMENT, "problem");
    assert_refused(tw_scan_problem(&sums.image, &sums.image, NULL, &problem), TW_ERROR_ARGUMENT, "u32");
    assert_refused(tw_integral_problem(&src.image, &sums.image, &problem), TW_ERROR_ARGUMENT, "9x9");
    assert_refused(tw_integral_problem(&src.image, &floats.image, &problem), TW_ERROR_ARGUMENT, "f32");
    free_picture(&src);
    free_picture(&sums);
    free_picture(&floats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_give_the_image_back),    cmocka_unit_test(rectangles_take_four_pixels),
        cmocka_unit_test(a_nan_stays_to_the_end_of_its_line), cmocka_unit_test(variants_agree_to_the_bit),
        cmocka_unit_test(threads_and_places_change_no_bit),   cmocka_unit_test(sums_that_might_not_fit_are_refused),
        cmocka_unit_test(wrong_types_and_sizes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
