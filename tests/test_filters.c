/* Small problems for the masks and the order filters that other software got wrong, each with the right value and the
   public report, through every variant that applies. test_cases.c is the same for the mean. */
#include "testing.h"

typedef enum filter {
    CORRELATE,
    CONVOLVE,
    SEPCONV,
    GAUSSIAN,
    SOBEL,
    SCHARR,
    MIN,
    MAX,
    MEDIAN,
    RANK,
    CLOSE,
    TOPHAT
} filter;

typedef struct example {
    const char *promise;
    const char *report;
    tw_border border;
    const int32_t *mask; /* sepconv: the row */
    const int32_t *column;
    const double *float_mask;
    const uint8_t *footprint;
    const double *input;
    const double *expected;
    double divisor; /* 0: 1 */
    double offset;
    double sigma;
    double percentile;
    double tolerance;
    filter filter;
    tw_type type;
    tw_type out_type;
    tw_direction direction;
    tw_window window;
    int width;
    int height;
    int view[4];    /* x, y, width, height; 0: the whole image */
    int rank;       /* -1: that of percentile */
    int iterations; /* 0: 1 */
    bool in_place;
} example;

/* clang-format off */
static const example examples[] = {
    {.promise = "mirror along an axis of one pixel: every value tripled",
     .report = "https://github.com/scipy/scipy/issues/11661",
     .filter = CONVOLVE, .type = TW_I32, .out_type = TW_I32, .width = 4, .height = 1, .window = {1, 3, 0, 1},
     .border = {TW_BORDER_MIRROR, 0},
     .mask = (const int32_t[]){1, 1, 1},
     .input = (const double[]){0, 1, 2, 3},
     .expected = (const double[]){0, 3, 6, 9}},
    {.promise = "reflect, as often as needed, in a median ten times as large as the image",
     .report = "",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 3, .window = {31, 31, 15, 15},
     .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){1, 20, 3, 40,  5, 60, 7, 80,  9, 10, 110, 12},
     .expected = (const double[]){12, 10, 12, 10,  12, 10, 12, 10,  12, 10, 12, 10}},
    {.promise = "a view's edge is an edge for a separable mask",
     .report = "https://github.com/opencv/opencv/issues/5263",
     .filter = SEPCONV, .type = TW_F32, .out_type = TW_F32, .width = 4, .height = 3, .window = {3, 1, 1, 0},
     .border = {TW_BORDER_ZERO, 0}, .view = {1, 0, 3, 3},
     .mask = (const int32_t[]){1, 1, 1}, .column = (const int32_t[]){1},
     .input = (const double[]){1, 1, 1, 1,  1, 1, 1, 1,  1, 1, 1, 1},
     .expected = (const double[]){2, 3, 2,  2, 3, 2,  2, 3, 2}},
    {.promise = "in place inside a larger image: the rest keeps its bytes",
     .report = "https://github.com/opencv/opencv/issues/9884",
     .filter = MIN, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 5, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_IGNORE, 0}, .view = {2, 1, 3, 3}, .in_place = true,
     .input = (const double[]){250, 250, 250, 250, 250, 250, 250,  250, 0, 0, 0, 0, 0, 250,  250, 0, 0, 150, 0, 0, 250,
                  250, 0, 0, 0, 0, 0, 250,  250, 250, 250, 250, 250, 250, 250},
     .expected = (const double[]){0, 0, 0,  0, 0, 0,  0, 0, 0}},
    {.promise = "NaN are the largest values of a median",
     .report = "https://github.com/GreycLab/CImg/issues/304",
     .filter = MEDIAN, .type = TW_F32, .out_type = TW_F32, .width = 5, .height = 5, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){1, 2, 3, 4, 5,  6, NAN, NAN, 9, 10,  11, NAN, NAN, 14, 15,  16, 17, 18, 19, 20,  21, 22, 23,
                  24, 25},
     .expected = (const double[]){2, 3, 4, 5, 5,  6, 11, 14, 10, 10,  16, 18, 19, 18, 15,  17, 21, 22, 20, 20,  21, 21, 22, 23,
                  24}},
    {.promise = "a window of NaN but for one is NaN",
     .report = "https://github.com/mantidproject/mantidimaging/issues/1117",
     .filter = MEDIAN, .type = TW_F32, .out_type = TW_F32, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){NAN, NAN, NAN,  NAN, 5, NAN,  NAN, NAN, NAN},
     .expected = (const double[]){NAN, NAN, NAN,  NAN, NAN, NAN,  NAN, NAN, NAN}},
    {.promise = "-inf < ... < inf < NaN",
     .report = "https://github.com/ml-explore/mlx/issues/4274",
     .filter = MAX, .type = TW_F32, .out_type = TW_F32, .width = 7, .height = 1, .window = {3, 1, 1, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){3, NAN, 1, 5, -INFINITY, 0, 2},
     .expected = (const double[]){NAN, NAN, NAN, 5, 5, 2, 2}},
    {.promise = "of an even number, the upper of the two middle values",
     .report = "https://github.com/pytorch/pytorch/issues/1837",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 3, .height = 3, .window = {2, 2, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){4, 1, 3,  2, 9, 8,  7, 5, 6},
     .expected = (const double[]){4, 4, 3,  4, 4, 8,  7, 7, 8}},
    {.promise = "a median more than 255 wide",
     .report = "https://github.com/opencv/opencv/issues/26407",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 3, .height = 3, .window = {257, 257, 128, 128},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){0, 50, 100,  150, 200, 250,  10, 20, 30},
     .expected = (const double[]){20, 30, 30,  20, 30, 30,  20, 30, 30}},
    {.promise = "the median of a constant is that constant",
     .report = "https://github.com/kornia/kornia/issues/4670",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 5, .height = 5, .window = {5, 5, 2, 2},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204,
                  204, 204,  204, 204, 204, 204, 204},
     .expected = (const double[]){204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204,
                  204, 204,  204, 204, 204, 204, 204}},
    {.promise = "with border zero a median changes the four corners alone",
     .report = "https://github.com/kornia/kornia/issues/4670",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 5, .height = 5, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204,
                  204, 204,  204, 204, 204, 204, 204},
     .expected = (const double[]){0, 204, 204, 204, 0,  204, 204, 204, 204, 204,  204, 204, 204, 204, 204,  204, 204, 204, 204,
                  204,  0, 204, 204, 204, 0}},
    {.promise = "5x5 with border mirror",
     .report = "https://github.com/opencv/opencv/issues/12721",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 6, .window = {5, 5, 2, 2},
     .border = {TW_BORDER_MIRROR, 0},
     .input = (const double[]){5, 102, 199, 40, 137, 234, 75,  172, 13, 110, 207, 48, 145, 242,  83, 180, 21, 118, 215, 56,
                  153,  250, 91, 188, 29, 126, 223, 64,  161, 2, 99, 196, 37, 134, 231,  72, 169, 10, 107, 204, 45, 142},
     .expected = (const double[]){102, 110, 110, 118, 137, 145, 145,  110, 102, 110, 118, 137, 145, 145,  102, 102, 110, 118,
                  134, 137, 137,  99, 107, 110, 110, 126, 134, 134,  99, 99, 107, 107, 126, 134, 134,  99, 99, 107, 107, 126,
                  134, 134}},
    {.promise = "the highest rank is the maximum",
     .report = "https://github.com/libvips/libvips/issues/555",
     .filter = RANK, .type = TW_U8, .out_type = TW_U8, .width = 8, .height = 1, .window = {5, 1, 2, 0},
     .border = {TW_BORDER_REPLICATE, 0}, .rank = 4,
     .input = (const double[]){5, 3, 9, 1, 7, 7, 2, 8},
     .expected = (const double[]){9, 9, 9, 9, 9, 8, 8, 8}},
    {.promise = "100 values in the window",
     .report = "https://github.com/libvips/libvips/issues/4609",
     .filter = RANK, .type = TW_U8, .out_type = TW_U8, .width = 13, .height = 13, .window = {10, 10, 5, 5},
     .border = {TW_BORDER_REPLICATE, 0}, .rank = 0,
     .input = (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,
                  255, 255, 255, 255, 255, 0, 0, 0, 0,  0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0,  0, 0, 255, 255,
                  255, 255, 255, 255, 255, 255, 255, 0, 0,  0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0,  0, 0, 255,
                  255, 255, 255, 255, 255, 255, 255, 255, 0, 0,  0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0,  0, 0,
                  255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0,  0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0,  0,
                  0, 0, 0, 255, 255, 255, 255, 255, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,
                  0, 0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,
                  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,
                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                  0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,
                  0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {.promise = "percentile 100 is the maximum",
     .report = "https://github.com/scikit-image/scikit-image/pull/562",
     .filter = RANK, .type = TW_U16, .out_type = TW_U16, .width = 4, .height = 4, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REFLECT, 0}, .percentile = 100, .rank = -1,
     .input = (const double[]){11, 9984, 19957, 29930,  39903, 49876, 59849, 4286,  14259, 24232, 34205, 44178,  54151,
                  64124, 8561, 18534},
     .expected = (const double[]){49876, 59849, 59849, 59849,  49876, 59849, 59849, 59849,  64124, 64124, 64124, 59849,  64124,
                  64124, 64124, 44178}},
    {.promise = "a rank in place",
     .report = "https://github.com/cupy/cupy/issues/8406",
     .filter = RANK, .type = TW_U8, .out_type = TW_U8, .width = 5, .height = 3, .window = {3, 2, 1, 1},
     .border = {TW_BORDER_REFLECT, 0}, .in_place = true, .rank = 1,
     .input = (const double[]){3, 2, 5, 1, 4,  5, 8, 3, 7, 1,  5, 6, 9, 3, 5},
     .expected = (const double[]){2, 2, 1, 1, 1,  3, 3, 2, 1, 1,  5, 5, 3, 3, 1}},
    {.promise = "a minimum with holes in place",
     .report = "https://github.com/cupy/cupy/issues/8398",
     .filter = MIN, .type = TW_U8, .out_type = TW_U8, .width = 5, .height = 3, .window = {3, 2, 1, 1},
     .border = {TW_BORDER_REFLECT, 0}, .in_place = true,
     .footprint = (const uint8_t[]){1, 0, 1,  1, 1, 0},
     .input = (const double[]){3, 2, 5, 1, 4,  7, 6, 9, 3, 5,  5, 8, 3, 7, 1},
     .expected = (const double[]){2, 2, 1, 1, 1,  2, 3, 1, 3, 1,  5, 5, 3, 3, 1}},
    {.promise = "the type's highest value does not wrap",
     .report = "https://github.com/scipy/scipy/issues/11816",
     .filter = MIN, .type = TW_I32, .out_type = TW_I32, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){2147483647, 2147483647, 2147483647,  2147483647, 0, 2147483647,  2147483647, 2147483647,
                  2147483647},
     .expected = (const double[]){0, 0, 0,  0, 0, 0,  0, 0, 0}},
    {.promise = "all values negative: no 0 appears",
     .report = "https://github.com/arrayfire/arrayfire/issues/1940",
     .filter = MAX, .type = TW_F32, .out_type = TW_F32, .width = 2, .height = 2, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_IGNORE, 0},
     .input = (const double[]){-7.5, -2.5,  -9, -4},
     .expected = (const double[]){-2.5, -2.5,  -2.5, -2.5}},
    {.promise = "a footprint of one position left of the middle: the left neighbour",
     .report = "https://github.com/arrayfire/arrayfire/pull/1546",
     .filter = MAX, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 4, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .footprint = (const uint8_t[]){0, 0, 0,  1, 0, 0,  0, 0, 0},
     .input = (const double[]){0, 0, 0, 0,  0, 9, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0,  0, 0, 9, 0,  0, 0, 0, 0,  0, 0, 0, 0}},
    {.promise = "an even footprint reads x-1 and x",
     .report = "https://github.com/arrayfire/arrayfire/issues/1940",
     .filter = MAX, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 4, .window = {2, 2, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .footprint = (const uint8_t[]){1, 1,  1, 1},
     .input = (const double[]){0, 0, 0, 0,  0, 1, 1, 0,  0, 0, 0, 0,  0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0,  0, 1, 1, 1,  0, 1, 1, 1,  0, 0, 0, 0}},
    {.promise = "border zero takes part in a minimum",
     .report = "https://github.com/imeka/ndarray-ndimage/issues/15",
     .filter = MIN, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .input = (const double[]){255, 255, 255, 255,  255, 255, 255, 255,  255, 255, 255, 255},
     .expected = (const double[]){0, 0, 0, 0,  0, 255, 255, 0,  0, 0, 0, 0}},
    {.promise = "holes in a footprint, border replicate",
     .report = "https://github.com/opencv/opencv/issues/9884",
     .filter = MAX, .type = TW_U8, .out_type = TW_U8, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .footprint = (const uint8_t[]){1, 0, 1,  0, 1, 0,  1, 0, 1},
     .input = (const double[]){9, 8, 7,  6, 5, 4,  3, 2, 1},
     .expected = (const double[]){9, 9, 8,  9, 9, 8,  6, 6, 5}},
    {.promise = "two dilations of 3x3 are one of 5x5",
     .report = "https://github.com/opencv/opencv_contrib/issues/3035",
     .filter = MAX, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 5, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_IGNORE, 0}, .iterations = 2,
     .input = (const double[]){0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 9, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0,
                  0, 0, 0, 0, 0},
     .expected = (const double[]){0, 9, 9, 9, 9, 9, 0,  0, 9, 9, 9, 9, 9, 0,  0, 9, 9, 9, 9, 9, 0,  0, 9, 9, 9, 9, 9, 0,  0, 9,
                  9, 9, 9, 9, 0}},
    {.promise = "closing with an even window does not shift, and is nowhere below the image",
     .report = "https://github.com/CellProfiler/CellProfiler/issues/47",
     .filter = CLOSE, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 5, .window = {2, 2, 1, 1},
     .border = {TW_BORDER_IGNORE, 0},
     .input = (const double[]){50, 50, 50, 50, 50, 50, 50,  50, 50, 50, 50, 50, 50, 50,  50, 50, 50, 0, 50, 50, 50,  50, 50,
                  50, 50, 50, 50, 50,  50, 50, 50, 50, 50, 50, 50},
     .expected = (const double[]){50, 50, 50, 50, 50, 50, 50,  50, 50, 50, 50, 50, 50, 50,  50, 50, 50, 50, 50, 50, 50,  50,
                  50, 50, 50, 50, 50, 50,  50, 50, 50, 50, 50, 50, 50}},
    {.promise = "tophat is the image less its opening",
     .report = "https://github.com/cupy/cupy/issues/8399",
     .filter = TOPHAT, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 7, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REFLECT, 0},
     .input = (const double[]){1, 0, 0, 0, 0, 0, 0,  0, 1, 1, 1, 1, 1, 0,  0, 1, 1, 1, 1, 1, 0,  0, 1, 1, 1, 1, 1, 0,  0, 1,
                  1, 1, 0, 1, 0,  0, 1, 1, 1, 1, 1, 0,  0, 0, 0, 0, 0, 0, 1},
     .expected = (const double[]){1, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0,
                  0, 0, 0, 1, 0,  0, 0, 0, 0, 1, 1, 0,  0, 0, 0, 0, 0, 0, 1}},
    {.promise = "convolution of an impulse is the mask itself",
     .report = "https://github.com/python-pillow/Pillow/pull/7204",
     .filter = CONVOLVE, .type = TW_U8, .out_type = TW_U8, .width = 7, .height = 7, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .mask = (const int32_t[]){1, 2, 3,  4, 5, 6,  7, 8, 9},
     .input = (const double[]){0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 1, 0, 0, 0,  0, 0,
                  0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0},
     .expected = (const double[]){0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 1, 2, 3, 0, 0,  0, 0, 4, 5, 6, 0, 0,  0, 0,
                  7, 8, 9, 0, 0,  0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0}},
    {.promise = "correlation does not turn the mask",
     .report = "https://github.com/Imagick/imagick/issues/31",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 3, .window = {2, 3, 1, 1},
     .border = {TW_BORDER_ZERO, 0},
     .mask = (const int32_t[]){1, 2,  3, 4,  5, 6},
     .input = (const double[]){0, 0, 0, 0,  0, 10, 0, 0,  0, 0, 0, 0},
     .expected = (const double[]){0, 60, 50, 0,  0, 40, 30, 0,  0, 20, 10, 0}},
    {.promise = "a mask of one column",
     .report = "https://github.com/ImageMagick/ImageMagick/issues/2224",
     .filter = CORRELATE, .type = TW_F32, .out_type = TW_F32, .width = 3, .height = 4, .window = {1, 3, 0, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .float_mask = (const double[]){-0.5,  0.0,  0.5},
     .input = (const double[]){1, 5, 2,  9, 4, 0,  3, 8, 7,  6, 2, 1},
     .expected = (const double[]){4, -0.5, -1,  1, 1.5, 2.5,  -1.5, -1, 0.5,  1.5, -3, -3}},
    {.promise = "what is below 0 does not wrap",
     .report = "https://github.com/luispedro/mahotas/issues/75",
     .filter = CORRELATE, .type = TW_U16, .out_type = TW_U16, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .mask = (const int32_t[]){1, 2, 1,  0, 0, 0,  -1, -2, -1},
     .input = (const double[]){0, 0, 60000,  0, 60000, 65535,  65535, 65535, 0},
     .expected = (const double[]){0, 0, 0,  0, 0, 65535,  0, 0, 65535}},
    {.promise = "divided by the sum of the mask",
     .report = "https://github.com/vapoursynth/vapoursynth/issues/249",
     .filter = CONVOLVE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REFLECT, 0}, .divisor = 8,
     .mask = (const int32_t[]){1, 1, 1,  1, 0, 1,  1, 1, 1},
     .input = (const double[]){200, 100, 0, 50,  255, 255, 255, 255,  0, 10, 20, 30},
     .expected = (const double[]){195, 158, 133, 114,  127, 105, 90, 86,  98, 101, 108, 111}},
    {.promise = "sobel grows to the right, and past 255",
     .report = "https://github.com/c2siorg/imagelab/pull/149",
     .filter = SOBEL, .type = TW_U8, .out_type = TW_I16, .width = 4, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0},
     .input = (const double[]){0, 0, 255, 255,  0, 0, 255, 255,  0, 0, 255, 255},
     .expected = (const double[]){0, 1020, 1020, 0,  0, 1020, 1020, 0,  0, 1020, 1020, 0}},
    {.promise = "scharr grows downward",
     .report = "https://github.com/boostorg/gil/pull/392",
     .filter = SCHARR, .type = TW_U8, .out_type = TW_I16, .width = 3, .height = 4, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_MIRROR, 0}, .direction = TW_DIRECTION_Y,
     .input = (const double[]){10, 20, 30,  10, 20, 30,  90, 20, 200,  0, 0, 0},
     .expected = (const double[]){0, 0, 0,  800, 750, 1700,  -220, -320, -420,  0, 0, 0}},
    {.promise = "the 5x5 derivative of a u16 image in i16",
     .report = "https://github.com/opencv/opencv/issues/13506",
     .filter = SEPCONV, .type = TW_U16, .out_type = TW_I16, .width = 8, .height = 5, .window = {5, 5, 2, 2},
     .border = {TW_BORDER_MIRROR, 0},
     .mask = (const int32_t[]){1, 4, 6, 4, 1}, .column = (const int32_t[]){-1, -2, 0, 2, 1},
     .input = (const double[]){127, 138, 130, 102, 118, 97, 76, 84,  164, 3, 51, 124, 151, 89, 154, 117,  63, 50, 115, 103,
                  83, 148, 106, 79,  218, 107, 81, 126, 78, 138, 85, 142,  184, 96, 187, 148, 150, 112, 138, 162},
     .expected = (const double[]){0, 0, 0, 0, 0, 0, 0, 0,  -1020, -796, -489, -469, -247, 317, 458, 320,  2552, 2340, 1617,
                  591, 9, 96, 318, 386,  3692, 3344, 2553, 1665, 811, 369, 698, 1060,  0, 0, 0, 0, 0, 0, 0, 0}},
    {.promise = "an offset below every i16 leaves nothing of a u8",
     .report = "",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {5, 5, 2, 2},
     .border = {TW_BORDER_REPLICATE, 0}, .divisor = 3, .offset = -40000,
     .mask = (const int32_t[]){1, 0, 0, 0, 2,  0, 1, 0, 0, 0,  0, 0, 5, 0, 0,  0, 0, 0, 1, 0,  2, 0, 0, 0, -1},
     .input = (const double[]){0, 100, 200, 255},
     .expected = (const double[]){0, 0, 0, 0}},
    {.promise = "an offset above every i16 fills a u8",
     .report = "",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {5, 5, 2, 2},
     .border = {TW_BORDER_REPLICATE, 0}, .divisor = 3, .offset = 40000,
     .mask = (const int32_t[]){1, 0, 0, 0, 2,  0, 1, 0, 0, 0,  0, 0, 5, 0, 0,  0, 0, 0, 1, 0,  2, 0, 0, 0, -1},
     .input = (const double[]){0, 100, 200, 255},
     .expected = (const double[]){255, 255, 255, 255}},
    {.promise = "the offset is added after the division",
     .report = "https://github.com/opencv/opencv/issues/13375",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_MIRROR, 0}, .divisor = 8, .offset = 128,
     .mask = (const int32_t[]){-1, 0, 1,  -2, 0, 2,  -1, 0, 1},
     .input = (const double[]){0, 100, 200,  50, 150, 250,  255, 0, 255},
     .expected = (const double[]){128, 228, 128,  128, 203, 128,  128, 178, 128}},
    {.promise = "negative sums are divided toward minus infinity",
     .report = "https://github.com/Libraries-Openly-Fused/FusedKernelLibrary/pull/277",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_I16, .width = 3, .height = 3, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0}, .divisor = 4,
     .mask = (const int32_t[]){-1, -1, -1,  -1, 1, -1,  -1, -1, -1},
     .input = (const double[]){0, 1, 2,  3, 4, 5,  6, 7, 8},
     .expected = (const double[]){-3, -4, -5,  -6, -7, -8,  -9, -10, -11}},
    {.promise = "13x13 on 5x5 is exact",
     .report = "https://github.com/opencv/opencv/issues/21486",
     .filter = CORRELATE, .type = TW_U16, .out_type = TW_I32, .width = 5, .height = 5, .window = {13, 13, 6, 6},
     .border = {TW_BORDER_MIRROR, 0},
     .mask = (const int32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1,
                  1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,
                  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, -168, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                  1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1,
                  1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     .input = (const double[]){11, 9984, 19957, 29930, 39903,  49876, 59849, 4286, 14259, 24232,  34205, 44178, 54151,
                  64124, 8561,  18534, 28507, 38480, 48453, 58426,  2863, 12836, 22809, 32782, 42755},
     .expected = (const double[]){6166388, 4482374, 2539062, 857894, -957192,  -2581362, -4199840, 4997968, 3316800, 1501714,
                  -173762, -1792240, -3670016, -5351184, 3909314,  2430446, 877504, -934736, -2550368, -4365454,  5151496,
                  3598554, 1786314, 236218, -1578868}},
    {.promise = "an even mask with its anchor left of the middle",
     .report = "https://github.com/jimp-dev/jimp/issues/749",
     .filter = CORRELATE, .type = TW_F32, .out_type = TW_F32, .width = 6, .height = 1, .window = {4, 1, 1, 0},
     .border = {TW_BORDER_ZERO, 0},
     .float_mask = (const double[]){0.25, 0.75, -0.75, -0.25},
     .input = (const double[]){0, 0, 4, 0, 0, 0},
     .expected = (const double[]){-1, -3, 3, 1, 0, 0}},
    {.promise = "the sum needs more bits than the result",
     .report = "https://github.com/opencv/opencv/issues/30002",
     .filter = CORRELATE, .type = TW_I32, .out_type = TW_I32, .width = 3, .height = 2, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_REPLICATE, 0}, .divisor = 9,
     .mask = (const int32_t[]){1, 1, 1,  1, 1, 1,  1, 1, 1},
     .input = (const double[]){2147483647, 2147483647, 2147483647,  2147483647, 2147483647, 2147483647},
     .expected = (const double[]){2147483647, 2147483647, 2147483647,  2147483647, 2147483647, 2147483647}},
    {.promise = "sums beyond 2^53 are exact to the last bit", .report = "",
     .filter = CORRELATE, .type = TW_I32, .out_type = TW_I32, .width = 5, .height = 1, .window = {3, 1, 1, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .mask = (const int32_t[]){16777216, 1, -16777216},
     .input = (const double[]){2147483647, 5, 2147483647, 7, 2147483647},
     .expected = (const double[]){2147483647, 5, 2113929215, 7, -2147483648.0}},
    {.promise = "sums beyond 64 bits are rounded to f64 once, and not cut off", .report = "",
     .filter = CORRELATE, .type = TW_I32, .out_type = TW_F64, .width = 7, .height = 1, .window = {5, 1, 2, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .mask = (const int32_t[]){2147483647, 2147483647, 2147483646, 2147483647, 2147483647},
     .input = (const double[]){2147483647, 2147483647, -2147483648.0, 1, 2147483642, -7, 2147483647},
     .expected = (const double[]){1.3835058038102295e+19, 9.223372026117358e+18, 9.223372019674907e+18,
                  4.611685988362617e+18, 4.611685986215133e+18, 1.3835058018774942e+19, 1.8446744028612395e+19}},
    {.promise = "and to f32", .report = "",
     .filter = SEPCONV, .type = TW_I32, .out_type = TW_F32, .width = 7, .height = 1, .window = {5, 1, 2, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .mask = (const int32_t[]){2147483647, 2147483647, 2147483646, 2147483647, 2147483647},
     .column = (const int32_t[]){-2147483647},
     .input = (const double[]){2147483647, 2147483647, -2147483648.0, 1, 2147483642, -7, 2147483647},
     .expected = (const double[]){-2.9710560942849127e+28, -1.9807040628566084e+28, -1.9807040628566084e+28,
                  -9.903520314283042e+27, -9.903520314283042e+27, -2.9710560942849127e+28, -3.961408125713217e+28}},
    {.promise = "half to even, NaN to 0, saturated",
     .report = "https://github.com/opencv/opencv/pull/21257",
     .filter = CORRELATE, .type = TW_F32, .out_type = TW_U8, .width = 3, .height = 2, .window = {1, 1, 0, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .float_mask = (const double[]){1.0},
     .input = (const double[]){0.5, 1.5, 2.5,  NAN, -3.25, 300.75},
     .expected = (const double[]){0, 2, 2,  0, 0, 255}},
    {.promise = "wrap in a correlation",
     .report = "https://github.com/opencv/opencv/issues/4599",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {3, 1, 1, 0},
     .border = {TW_BORDER_WRAP, 0}, .divisor = 4,
     .mask = (const int32_t[]){1, 2, 1},
     .input = (const double[]){10, 20, 30, 40},
     .expected = (const double[]){20, 20, 30, 30}},
    {.promise = "zero continues abcd to 00000abcd",
     .report = "https://github.com/Open-EO/openeo-processes/pull/174",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {11, 1, 5, 0},
     .border = {TW_BORDER_ZERO, 0},
     .mask = (const int32_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     .input = (const double[]){11, 22, 33, 44},
     .expected = (const double[]){0, 0, 0, 0}},
    {.promise = "replicate continues abcd to aaaaaabcd",
     .report = "https://github.com/Open-EO/openeo-processes/pull/174",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {11, 1, 5, 0},
     .border = {TW_BORDER_REPLICATE, 0},
     .mask = (const int32_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     .input = (const double[]){11, 22, 33, 44},
     .expected = (const double[]){11, 11, 11, 11}},
    {.promise = "reflect continues abcd to ddcbaabcd",
     .report = "https://github.com/Open-EO/openeo-processes/pull/174",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {11, 1, 5, 0},
     .border = {TW_BORDER_REFLECT, 0},
     .mask = (const int32_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     .input = (const double[]){11, 22, 33, 44},
     .expected = (const double[]){44, 44, 33, 22}},
    {.promise = "mirror continues abcd to bcdcbabcd",
     .report = "https://github.com/Open-EO/openeo-processes/pull/174",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {11, 1, 5, 0},
     .border = {TW_BORDER_MIRROR, 0},
     .mask = (const int32_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     .input = (const double[]){11, 22, 33, 44},
     .expected = (const double[]){22, 33, 44, 33}},
    {.promise = "wrap continues abcd to dabcdabcd",
     .report = "https://github.com/Open-EO/openeo-processes/pull/174",
     .filter = CORRELATE, .type = TW_U8, .out_type = TW_U8, .width = 4, .height = 1, .window = {11, 1, 5, 0},
     .border = {TW_BORDER_WRAP, 0},
     .mask = (const int32_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     .input = (const double[]){11, 22, 33, 44},
     .expected = (const double[]){44, 11, 22, 33}},
    {.promise = "a constant that is not 0 takes part in a median",
     .report = "https://github.com/silx-kit/silx/issues/2020",
     .filter = MEDIAN, .type = TW_U8, .out_type = TW_U8, .width = 3, .height = 2, .window = {3, 3, 1, 1},
     .border = {TW_BORDER_CONSTANT, 255},
     .input = (const double[]){1, 9, 1,  9, 1, 9},
     .expected = (const double[]){255, 9, 255,  255, 9, 255}},
    {.promise = "a Gaussian of the highest value is that value",
     .report = "https://github.com/opencv/opencv/issues/20121",
     .filter = GAUSSIAN, .type = TW_U16, .out_type = TW_U16, .width = 6, .height = 5, .window = {9, 9, 4, 4},
     .border = {TW_BORDER_MIRROR, 0}, .sigma = 2.5,
     .input = (const double[]){65535, 65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535, 65535, 65535,  65535,
                  65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535,
                  65535, 65535},
     .expected = (const double[]){65535, 65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535, 65535, 65535,  65535,
                  65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535, 65535, 65535,  65535, 65535, 65535, 65535,
                  65535, 65535}},
    {.promise = "a wide Gaussian of a constant is that constant",
     .report = "https://github.com/opencv/opencv/issues/9863",
     .filter = GAUSSIAN, .type = TW_U8, .out_type = TW_U8, .width = 6, .height = 5, .window = {31, 31, 15, 15},
     .border = {TW_BORDER_MIRROR, 0}, .sigma = 30,
     .input = (const double[]){100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100,
                  100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100},
     .expected = (const double[]){100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100,
                  100, 100, 100, 100, 100, 100,  100, 100, 100, 100, 100, 100}},
    {.promise = "5 taps on each side of sigma 1.1: rounded up",
     .report = "https://github.com/datacarpentry/image-processing/pull/50",
     .filter = GAUSSIAN, .type = TW_F64, .out_type = TW_F64, .width = 15, .height = 1, .border = {TW_BORDER_ZERO, 0},
     .sigma = 1.1, .tolerance = 1e-12,
     .input = (const double[]){0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
     .expected = (const double[]){0.0, 0.0, 4.290636645136071e-06, 0.00017687502124699505, 0.0031907311559013335,
                  0.025187952265350293, 0.08701105825684155, 0.13153307717941232, 0.08701105825684155, 0.025187952265350293,
                  0.0031907311559013335, 0.00017687502124699505, 4.290636645136071e-06, 0.0, 0.0}},
};
/* clang-format on */

/* ---- From an example to its problem -------------------------------------------------------------- */

enum { MOST_TAPS = 256 };

static tw_status correlate_problem(const example *e, const tw_image *src, const tw_image *dst, int32_t *turned,
                                   tw_problem *problem)
{
    tw_correlate_params params = {
        .window = e->window,
        .mask = {e->mask, e->float_mask},
        .divisor = e->divisor != 0 ? e->divisor : 1,
        .offset = e->offset,
        .border = e->border,
    };
    if (e->filter == CONVOLVE) {
        const int taps = e->window.width * e->window.height;
        assert_true(e->mask && taps <= MOST_TAPS);
        for (int i = 0; i < taps; i++)
            turned[i] = e->mask[taps - 1 - i];
        params.mask.integers = turned;
        params.window.anchor_x = e->window.width - 1 - e->window.anchor_x;
        params.window.anchor_y = e->window.height - 1 - e->window.anchor_y;
    } else if (e->filter == SOBEL || e->filter == SCHARR) {
        assert_ok(tw_derivative_mask(e->filter == SOBEL ? TW_SOBEL : TW_SCHARR, e->direction, turned));
        params.mask.integers = turned;
    }
    return tw_correlate_problem(src, dst, &params, problem);
}

static tw_status order_problem(const example *e, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const tw_order_params params = {e->window, e->footprint, e->border};
    const tw_op op = e->filter == MIN ? TW_OP_MIN : e->filter == MAX ? TW_OP_MAX : TW_OP_RANK;
    const int64_t count = tw_order_count(&params);
    const int64_t rank = e->filter == MEDIAN ? count / 2
                         : e->rank >= 0      ? e->rank
                                             : tw_percentile_rank(count, e->percentile);
    return tw_order_problem(op, src, dst, &params, rank, problem);
}

static tw_status make_problem(const example *e, const tw_image *src, const tw_image *dst, int32_t *taps,
                              tw_problem *problem)
{
    const tw_sepconv_params sepconv = {
        .window = e->window, .row = {e->mask, NULL}, .column = {e->column, NULL}, .divisor = 1, .border = e->border};
    const tw_gaussian_params gaussian = {e->sigma, e->sigma, 4, e->window.width, e->window.height, e->border};
    switch (e->filter) {
    case SEPCONV:
        return tw_sepconv_problem(src, dst, &sepconv, problem);
    case GAUSSIAN:
        return tw_gaussian_problem(src, dst, &gaussian, problem);
    case MIN:
    case MAX:
    case MEDIAN:
    case RANK:
        return order_problem(e, src, dst, problem);
    default:
        return correlate_problem(e, src, dst, taps, problem);
    }
}

/* ---- Comparing ----------------------------------------------------------------------------------- */

/* The images of an example: `src` and `dst` are views of the two pictures, or the same view of the first. */
typedef struct images {
    picture in;
    picture out;
    tw_image src;
    tw_image dst;
} images;

static images make_images(const example *e)
{
    images all = {.in = make_picture(e->width, e->height, 1, e->type, 8)};
    const int *v = e->view;
    all.src = all.in.image;
    if (v[2] > 0)
        assert_ok(tw_image_view(&all.in.image, v[0], v[1], v[2], v[3], &all.src));
    all.out = make_picture(all.src.width, all.src.height, 1, e->out_type, 16);
    all.dst = e->in_place ? all.src : all.out.image;
    return all;
}

static void free_images(images *all)
{
    free_picture(&all->in);
    free_picture(&all->out);
}

static void fill_images(const example *e, const images *all)
{
    const double *values = e->input;
    fill(&all->out.image, 99);
    for (int y = 0; y < e->height; y++)
        for (int x = 0; x < e->width; x++)
            put(&all->in.image, x, y, 0, *values++);
}

static bool is_right(double got, double expected, double tolerance)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    return got == expected || fabs(got - expected) <= tolerance;
}

static void compare(const example *e, const char *variant, const images *all)
{
    const double *expected = e->expected;
    for (int64_t y = 0; y < all->dst.height; y++) {
        for (int64_t x = 0; x < all->dst.width; x++, expected++) {
            const double got = get(&all->dst, x, y, 0);
            if (!is_right(got, *expected, e->tolerance))
                fail_msg("%s, %s: (%d, %d) is %.17g, not %.17g (%s)", variant, e->promise, (int)x, (int)y, got,
                         *expected, e->report);
        }
    }
    /* what lies around a view that was filtered in place */
    const int *v = e->view;
    for (int y = 0; y < e->height; y++)
        for (int x = 0; x < e->width; x++)
            if (v[2] > 0 && (x < v[0] || x >= v[0] + v[2] || y < v[1] || y >= v[1] + v[3]))
                assert_true(get(&all->in.image, x, y, 0) == e->input[y * e->width + x]);
    if (!guards_hold(&all->in) || !guards_hold(&all->out))
        fail_msg("%s, %s: bytes outside the pixels changed", variant, e->promise);
}

/* ---- Tests --------------------------------------------------------------------------------------- */

static bool is_built_of_others(const example *e)
{
    return e->filter == CLOSE || e->filter == TOPHAT || e->iterations > 1;
}

static void every_variant_has_the_right_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        const example *e = &examples[i];
        int32_t taps[MOST_TAPS];
        tw_problem problem;
        walk w = {0};
        int ran = 0;
        if (is_built_of_others(e))
            continue;
        images all = make_images(e);
        assert_ok(make_problem(e, &all.src, &all.dst, taps, &problem));
        for (; next_variant(&w, &problem); ran++) {
            fill_images(e, &all);
            assert_ok(tw_plan_run(w.plan, &all.src, &all.dst));
            compare(e, w.variant.name, &all);
        }
        assert_true(ran > 0);
        free_images(&all);
    }
}

static void what_is_built_of_others_has_the_right_value(void **state)
{
    tw_context *context = NULL;
    (void)state;
    assert_ok(tw_context_create(NULL, &context));
    for (size_t i = 0; i < COUNT(examples); i++) {
        const example *e = &examples[i];
        const tw_order_params params = {e->window, e->footprint, e->border};
        const tw_morphology morphology = e->filter == CLOSE    ? TW_CLOSE
                                         : e->filter == TOPHAT ? TW_TOPHAT
                                         : e->filter == MIN    ? TW_ERODE
                                                               : TW_DILATE;
        if (!is_built_of_others(e))
            continue;
        images all = make_images(e);
        fill_images(e, &all);
        assert_ok(
            tw_morph(context, &all.src, &all.dst, morphology, &params, e->iterations > 1 ? e->iterations : 1, NULL));
        compare(e, "morph", &all);
        free_images(&all);
    }
    tw_context_destroy(context);
}

/* Erosions and dilations are done by the variant that is asked for. */
static void the_variant_of_morphology_is_used(void **state)
{
    const tw_plan_options reference = {.variant = "reference"};
    const tw_plan_options unknown = {.variant = "spiral"};
    picture src = make_picture(9, 7, 1, TW_U8, 0);
    picture dst = make_picture(9, 7, 1, TW_U8, 0);
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    (void)state;
    options.backend = TW_CPU;
    assert_ok(tw_context_create(&options, &context));
    for (int i = 0; i < 63; i++)
        put(&src.image, i % 9, i / 9, 0, i == 31);
    assert_ok(tw_morph(context, &src.image, &dst.image, TW_DILATE, NULL, 2, &reference));
    for (int i = 0; i < 63; i++)
        assert_true(get(&dst.image, i % 9, i / 9, 0) == (abs(i % 9 - 4) <= 2 && abs(i / 9 - 3) <= 2));
    assert_refused(tw_morph(context, &src.image, &dst.image, TW_DILATE, NULL, 2, &unknown), TW_ERROR_ARGUMENT,
                   "spiral");
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
}

/* https://github.com/GreycLab/CImg/issues/95 */
static void an_empty_footprint_is_refused(void **state)
{
    static const uint8_t footprint[4];
    picture src = make_picture(2, 2, 1, TW_U8, 0);
    picture dst = make_picture(2, 2, 1, TW_U8, 0);
    const tw_order_params params = {{2, 2, 1, 1}, footprint, {TW_BORDER_REPLICATE, 0}};
    tw_problem problem;
    (void)state;
    assert_refused(tw_order_problem(TW_OP_MIN, &src.image, &dst.image, &params, 0, &problem), TW_ERROR_ARGUMENT,
                   "footprint is empty");
    free_picture(&src);
    free_picture(&dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_has_the_right_value),
        cmocka_unit_test(what_is_built_of_others_has_the_right_value),
        cmocka_unit_test(the_variant_of_morphology_is_used),
        cmocka_unit_test(an_empty_footprint_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
