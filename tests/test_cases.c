/* Small problems that other software got wrong, each with the right value and the public report, through every
   variant that applies. */
#include "testing.h"

typedef struct example {
    const char *promise;
    const char *report;
    tw_type type;
    int width;
    int height;
    int channels;
    tw_window window;
    tw_border border;
    tw_rounding rounding;
    int gap; /* bytes between rows */
    bool in_place;
    int ulp; /* float types: how far the answer may be from `expected` */
    const double *input;
    const double *expected;
} example;

/* clang-format off */
static const example examples[] = {
    {.promise = "divided once, not after each pass", .report = "https://github.com/vapoursynth/vapoursynth/issues/506",
     .type = TW_U8, .width = 5, .height = 5, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){2, 1, 1, 0, 5,  1, 2, 0, 1, 7,  0, 2, 2, 1, 3,  4, 1, 2, 2, 0,  9, 0, 1, 2, 2},
     .expected = (const double[]){0, 0, 0, 1, 1,  0, 1, 1, 2, 1,  1, 1, 1, 2, 1,  1, 2, 1, 1, 1,  1, 1, 0, 1, 0}},
    {.promise = "no rounded reciprocal: 49 times 128 is 128", .report = "https://github.com/webarkit/jsfeatNext/issues/114",
     .type = TW_U8, .width = 5, .height = 4, .channels = 1, .window = {7, 7, 3, 3}, .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){128, 128, 128, 128, 128,  128, 128, 128, 128, 128,  128, 128, 128, 128, 128,  128, 128, 128, 128, 128},
     .expected = (const double[]){128, 128, 128, 128, 128,  128, 128, 128, 128, 128,  128, 128, 128, 128, 128,  128, 128, 128, 128, 128}},
    {.promise = "a window of two zeros is 0, as measured wrong in OpenCV 4.6 blur", .report = "",
     .type = TW_U8, .width = 7, .height = 1, .channels = 1, .window = {2, 1, 1, 0}, .border = {TW_BORDER_REFLECT, 0}, .rounding = TW_ROUND_NEAREST,
     .input = (const double[]){0, 0, 0, 100, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 50, 50, 0, 0}},
    {.promise = "floor, not truncation toward zero", .report = "https://github.com/scipy/scipy/issues/6930",
     .type = TW_I16, .width = 5, .height = 1, .channels = 1, .window = {3, 1, 1, 0}, .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){-1, 0, 0, -3, 2},
     .expected = (const double[]){-1, -1, -1, -1, -1}},
    {.promise = "nearest, ties up: -1.5 becomes -1", .report = "https://github.com/scipy/scipy/issues/6930",
     .type = TW_I16, .width = 6, .height = 1, .channels = 1, .window = {2, 1, 1, 0}, .border = {TW_BORDER_REPLICATE, 0}, .rounding = TW_ROUND_NEAREST,
     .input = (const double[]){-1, -2, 1, 2, -3, -4},
     .expected = (const double[]){-1, -1, 0, 2, 0, -3}},
    {.promise = "seven ones out of seven are 1", .report = "https://github.com/scipy/scipy/issues/6930",
     .type = TW_U8, .width = 23, .height = 1, .channels = 1, .window = {7, 1, 3, 0}, .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {.promise = "a sum of 4.5e9 does not wrap", .report = "https://github.com/visualizersdotnl/cookiedough/issues/16",
     .type = TW_U8, .width = 3, .height = 2, .channels = 1, .window = {4201, 4201, 2100, 2100}, .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){255, 255, 255,  255, 255, 255},
     .expected = (const double[]){255, 255, 255,  255, 255, 255}},
    {.promise = "a u16 window wider than 256", .report = "https://github.com/CellProfiler/CellProfiler/issues/1713",
     .type = TW_U16, .width = 3, .height = 2, .channels = 1, .window = {281, 281, 140, 140}, .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){60000, 1, 2,  3, 59999, 4},
     .expected = (const double[]){20072, 19966, 19965,  20072, 19965, 19966}},
    {.promise = "the corner too is divided by the full window", .report = "https://github.com/parallella/pal/pull/76",
     .type = TW_U8, .width = 2, .height = 2, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){9, 9,  9, 9},
     .expected = (const double[]){4, 4,  4, 4}},
    {.promise = "mirror of a single pixel is that pixel", .report = "https://github.com/scikit-image/scikit-image/issues/3001",
     .type = TW_U8, .width = 1, .height = 1, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){7},
     .expected = (const double[]){7}},
    {.promise = "mirror is applied as often as needed", .report = "https://github.com/ajdnik/imghash/pull/44",
     .type = TW_U8, .width = 2, .height = 2, .channels = 1, .window = {7, 7, 3, 3}, .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){1, 2,  3, 40},
     .expected = (const double[]){14, 11,  11, 8}},
    {.promise = "uniform stays uniform", .report = "https://github.com/webarkit/jsfeatNext/issues/114",
     .type = TW_U8, .width = 2, .height = 2, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){128, 128,  128, 128},
     .expected = (const double[]){128, 128,  128, 128}},
    {.promise = "wrap is applied as often as needed", .report = "https://github.com/dask/dask/issues/11934",
     .type = TW_U8, .width = 5, .height = 2, .channels = 1, .window = {7, 7, 3, 3}, .border = {TW_BORDER_WRAP, 0},
     .input = (const double[]){0, 10, 20, 30, 40,  50, 60, 70, 80, 90},
     .expected = (const double[]){50, 52, 48, 44, 47,  42, 45, 41, 37, 40}},
    {.promise = "mirror, several reflections in a row", .report = "https://github.com/numpy/numpy/issues/25926",
     .type = TW_U16, .width = 3, .height = 1, .channels = 1, .window = {15, 1, 7, 0}, .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){0, 1, 4},
     .expected = (const double[]){1, 1, 1}},
    {.promise = "an even window reads x-1 and x", .report = "https://github.com/jimp-dev/jimp/issues/749",
     .type = TW_U8, .width = 4, .height = 4, .channels = 1, .window = {2, 2, 1, 1}, .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){0, 0, 0, 0,  0, 16, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0,  0, 4, 4, 0,  0, 4, 4, 0,  0, 0, 0, 0}},
    {.promise = "an anchor at the window's far corner", .report = "https://github.com/fixstars/libSGM/issues/17",
     .type = TW_U8, .width = 4, .height = 2, .channels = 1, .window = {3, 2, 2, 1}, .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){1, 2, 3, 4,  5, 6, 7, 8},
     .expected = (const double[]){1, 1, 2, 3,  3, 3, 4, 5}},
    {.promise = "a NaN stays in its window", .report = "https://github.com/scipy/scipy/issues/7818",
     .type = TW_F32, .width = 11, .height = 1, .channels = 1, .window = {3, 1, 1, 0}, .border = {TW_BORDER_REFLECT, 0}, .ulp = 4,
     .input = (const double[]){0, 3, 6, NAN, 9, 12, 15, 3, 3, 3, 3},
     .expected = (const double[]){1, 3, NAN, NAN, NAN, 12, 10, 7, 3, 3, 3}},
    {.promise = "infinities stay in their window", .report = "https://github.com/MINDS-THU/planar_grasp_detection/issues/1",
     .type = TW_F32, .width = 9, .height = 1, .channels = 1, .window = {3, 1, 1, 0}, .border = {TW_BORDER_REPLICATE, 0}, .ulp = 4,
     .input = (const double[]){1, INFINITY, 1, 4, 4, -INFINITY, 4, 4, 4},
     .expected = (const double[]){INFINITY, INFINITY, INFINITY, 3, -INFINITY, -INFINITY, -INFINITY, 4, 4}},
    {.promise = "no drift behind large values", .report = "https://github.com/scipy/scipy/pull/7516",
     .type = TW_F64, .width = 7, .height = 1, .channels = 1, .window = {2, 1, 1, 0}, .border = {TW_BORDER_REPLICATE, 0}, .ulp = 4,
     .input = (const double[]){1e15, -1e15, 0.25, 0.5, 0.25, 0.5, 0.25},
     .expected = (const double[]){1e15, 0, -499999999999999.9, 0.375, 0.375, 0.375, 0.375}},
    {.promise = "17 wide, rows 23 bytes apart: the last columns are written, the gap is not", .report = "https://github.com/rigaya/NVEnc/issues/763",
     .type = TW_U8, .width = 17, .height = 3, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_ZERO, 0}, .gap = 6,
     .input = (const double[]){11, 48, 85, 122, 159, 196, 233, 14, 51, 88, 125, 162, 199, 236, 17, 54, 91,
                               128, 165, 202, 239, 20, 57, 94, 131, 168, 205, 242, 23, 60, 97, 134, 171, 208,
                               245, 26, 63, 100, 137, 174, 211, 248, 29, 66, 103, 140, 177, 214, 251, 32, 69},
     .expected = (const double[]){39, 71, 95, 91, 88, 84, 80, 76, 73, 97, 93, 90, 86, 82, 78, 75, 58,
                                  69, 108, 116, 125, 133, 142, 150, 131, 111, 119, 128, 136, 145, 153, 134, 114, 69,
                                  62, 92, 88, 84, 80, 77, 101, 97, 94, 90, 86, 82, 79, 103, 99, 96, 53}},
    {.promise = "the pitch is not the row's length", .report = "https://github.com/opencv/opencv_contrib/issues/3163",
     .type = TW_U16, .width = 5, .height = 4, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_REPLICATE, 0}, .gap = 16,
     .input = (const double[]){7, 1007, 2007, 3007, 4007,  5007, 6007, 7007, 8007, 9007,
                               10007, 11007, 12007, 13007, 14007,  15007, 16007, 17007, 18007, 19007},
     .expected = (const double[]){2007, 2673, 3673, 4673, 5340,  5340, 6007, 7007, 8007, 8673,
                                  10340, 11007, 12007, 13007, 13673,  13673, 14340, 15340, 16340, 17007}},
    {.promise = "width exactly 64", .report = "https://github.com/pinterf/KNLMeansCL/issues/6",
     .type = TW_U8, .width = 64, .height = 2, .channels = 1, .window = {3, 1, 1, 0}, .border = {TW_BORDER_WRAP, 0},
     .input = (const double[]){11, 48, 85, 122, 159, 196, 233, 14, 51, 88, 125, 162, 199, 236, 17, 54, 91, 128, 165, 202, 239, 20,
                               57, 94, 131, 168, 205, 242, 23, 60, 97, 134, 171, 208, 245, 26, 63, 100, 137, 174, 211, 248, 29, 66,
                               103, 140, 177, 214, 251, 32, 69, 106, 143, 180, 217, 254, 35, 72, 109, 146, 183, 220, 1, 38,
                               75, 112, 149, 186, 223, 4, 41, 78, 115, 152, 189, 226, 7, 44, 81, 118, 155, 192, 229, 10, 47, 84,
                               121, 158, 195, 232, 13, 50, 87, 124, 161, 198, 235, 16, 53, 90, 127, 164, 201, 238, 19, 56, 93, 130,
                               167, 204, 241, 22, 59, 96, 133, 170, 207, 244, 25, 62, 99, 136, 173, 210, 247, 28, 65, 102},
     .expected = (const double[]){32, 48, 85, 122, 159, 196, 147, 99, 51, 88, 125, 162, 199, 150, 102, 54, 91, 128, 165, 202, 153, 105,
                                  57, 94, 131, 168, 205, 156, 108, 60, 97, 134, 171, 208, 159, 111, 63, 100, 137, 174, 211, 162, 114, 66,
                                  103, 140, 177, 214, 165, 117, 69, 106, 143, 180, 217, 168, 120, 72, 109, 146, 183, 134, 86, 16,
                                  96, 112, 149, 186, 137, 89, 41, 78, 115, 152, 189, 140, 92, 44, 81, 118, 155, 192, 143, 95, 47, 84,
                                  121, 158, 195, 146, 98, 50, 87, 124, 161, 198, 149, 101, 53, 90, 127, 164, 201, 152, 104, 56, 93, 130,
                                  167, 204, 155, 107, 59, 96, 133, 170, 207, 158, 110, 62, 99, 136, 173, 210, 161, 113, 65, 80}},
    {.promise = "alpha is a channel like the others", .report = "https://github.com/thumbor/thumbor/pull/1411",
     .type = TW_U8, .width = 2, .height = 2, .channels = 4, .window = {3, 3, 1, 1}, .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){0, 0, 0, 0, 90, 60, 30, 255,  0, 0, 0, 0, 9, 9, 9, 128},
     .expected = (const double[]){21, 14, 7, 70, 42, 28, 15, 141,  12, 8, 5, 56, 24, 17, 10, 113}},
    {.promise = "in place", .report = "https://github.com/opencv/opencv_contrib/issues/1799",
     .type = TW_U8, .width = 7, .height = 5, .channels = 1, .window = {3, 3, 1, 1}, .border = {TW_BORDER_ZERO, 0}, .in_place = true,
     .input = (const double[]){9, 62, 115, 168, 221, 18, 71,  124, 177, 230, 27, 80, 133, 186,  239, 36, 89, 142, 195, 248, 45,
                               98, 151, 204, 1, 54, 107, 160,  213, 10, 63, 116, 169, 222, 19},
     .expected = (const double[]){41, 79, 86, 93, 71, 78, 45,  71, 120, 116, 140, 136, 133, 77,  91, 149, 117, 113, 109, 134, 97,
                                  83, 122, 90, 114, 139, 135, 89,  52, 82, 60, 67, 74, 81, 56}},
};
/* clang-format on */

static bool is_right(const example *e, double got, double expected)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (isinf(expected) || e->ulp == 0)
        return got == expected;
    const double beyond =
        e->type == TW_F32 ? (double)nextafterf((float)fabs(expected), INFINITY) : nextafter(fabs(expected), INFINITY);
    return fabs(got - expected) <= e->ulp * (beyond - fabs(expected));
}

static void fill_from(const tw_image *image, const double *values)
{
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                put(image, x, y, c, *values++);
}

static void compare(const example *e, const char *variant, const tw_image *image)
{
    const double *expected = e->expected;
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++, expected++) {
                const double got = get(image, x, y, c);
                if (!is_right(e, got, *expected))
                    fail_msg("%s, %s: (%d, %d) channel %d is %.17g, not %.17g (%s)", variant, e->promise, (int)x,
                             (int)y, c, got, *expected, e->report);
            }
}

static void every_case_has_its_right_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        const example *e = &examples[i];
        picture src = make_picture(e->width, e->height, e->channels, e->type, e->gap);
        picture dst = make_picture(e->width, e->height, e->channels, e->type, e->gap);
        const picture *out = e->in_place ? &src : &dst;
        const tw_box_params params = {e->window, e->border, e->rounding};
        tw_problem problem;
        walk w = {0};
        int ran = 0;
        assert_ok(tw_box_problem(&src.image, &out->image, &params, &problem));
        for (; next_variant(&w, &problem); ran++) {
            fill(&dst.image, 99);
            fill_from(&src.image, e->input);
            assert_ok(tw_plan_run(w.plan, &src.image, &out->image));
            compare(e, w.variant.name, &out->image);
            if (!guards_hold(&src) || !guards_hold(&dst))
                fail_msg("%s, %s: bytes outside the pixels changed", w.variant.name, e->promise);
        }
        assert_true(ran > 0);
        free_picture(&src);
        free_picture(&dst);
    }
}

/* https://github.com/rasterio/rasterio/issues/1471 */
static void a_border_value_that_the_type_cannot_hold_is_refused(void **state)
{
    static const struct {
        tw_type type;
        double value;
    } bad[] = {
        {TW_U8, -1},      {TW_U8, 256},       {TW_U8, 0.5},   {TW_U8, NAN},           {TW_U16, 65536},
        {TW_I16, -32769}, {TW_I16, INFINITY}, {TW_I32, 1e10}, {TW_I32, 2147483648.0}, {TW_F32, 1e300},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        picture src = make_picture(2, 2, 1, bad[i].type, 0);
        picture dst = make_picture(2, 2, 1, bad[i].type, 0);
        tw_box_params params = box_params(3, 3, TW_BORDER_CONSTANT);
        tw_problem problem;
        params.border.value = bad[i].value;
        assert_int_equal(tw_box_problem(&src.image, &dst.image, &params, &problem), TW_ERROR_ARGUMENT);
        assert_non_null(strstr(tw_error_message(), "cannot hold"));
        free_picture(&src);
        free_picture(&dst);
    }
}

/* https://github.com/scipy/scipy/issues/9553 */
static void a_partial_overlap_is_refused(void **state)
{
    picture all = make_picture(3, 4, 1, TW_U8, 0);
    tw_context *context = NULL;
    tw_image upper;
    tw_image lower;
    (void)state;
    fill(&all.image, 7);
    assert_ok(tw_context_create(NULL, &context));
    assert_ok(tw_image_view(&all.image, 0, 0, 3, 3, &upper));
    assert_ok(tw_image_view(&all.image, 0, 1, 3, 3, &lower));
    assert_int_equal(tw_box(context, &upper, &lower, NULL), TW_ERROR_ARGUMENT);
    assert_non_null(strstr(tw_error_message(), "overlap"));
    for (int y = 0; y < 4; y++)
        assert_true(get(&all.image, 0, y, 0) == 7);
    tw_context_destroy(context);
    free_picture(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_has_its_right_value),
        cmocka_unit_test(a_border_value_that_the_type_cannot_hold_is_refused),
        cmocka_unit_test(a_partial_overlap_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
