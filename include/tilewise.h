/*
 * tilewise: neighbourhood and tile operations on images, the same bytes on every device.
 *
 * Four tiers, from simple to expert:
 *   Simple   tw_box(context, &src, &dst, &params)            one call, one result
 *   Plan     tw_plan_create() once, tw_plan_run() often      runs allocate nothing
 *   Devices  contexts, memory, streams, progress, allocators
 *   Inspect  which variants exist, which one a plan chose, and why another does not apply
 *
 * Every function that can fail returns a tw_status; tw_error_message() then holds one sentence that
 * names the argument, its value and what would be right. The library never prints and never exits.
 *
 * Thread safety: functions without a context may be called from any thread. A context, and every
 * plan made from it, may be used from one thread at a time; separate contexts are independent.
 * A child process must not use the library after fork() if its parent has: OpenMP's threads and CUDA's state do not
 * pass to it. After exec() it may.
 *
 * What each operation computes, to the byte, is written in docs/semantics.md.
 */
#ifndef TILEWISE_H
#define TILEWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

#if defined(TW_BUILDING_SHARED)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------- */

typedef enum tw_status {
    TW_OK = 0,
    TW_ERROR_ARGUMENT,    /* a caller's mistake: the message names the argument and its value */
    TW_ERROR_UNSUPPORTED, /* legal, but no implementation here can do it */
    TW_ERROR_MEMORY,      /* an allocation failed, on the host or on the device, or threads were refused */
    TW_ERROR_LIMIT,       /* a size that cannot be represented or would overflow */
    TW_ERROR_DEVICE,      /* the requested device is not available */
    TW_ERROR_CUDA,        /* the device failed while working; the message names the call */
    TW_ERROR_CANCELLED,   /* the progress callback asked to stop; the output is incomplete */
    TW_ERROR_FILE,        /* tilewise_mpi.h: a file could not be opened, read or written */
    TW_STATUS_COUNT
} tw_status;

/* A short name such as "argument"; "unknown" for a value outside the enum. */
TW_API const char *tw_status_name(tw_status status);

/* The calling thread's last failure, one sentence without a final newline; "" if there was none.
   Valid until the same thread's next failing call. */
TW_API const char *tw_error_message(void);

/* "0.1.0" */
TW_API const char *tw_version(void);

/* ---- Images ------------------------------------------------------------------------------- */

/* The elements of images. Pixels are of the first TW_TYPE_COUNT types, which every operation reads; the others are
   for results that those cannot hold: sums, counts, and whole records (tw_stats). */
typedef enum tw_type {
    TW_U8 = 0,
    TW_U16,
    TW_I16,
    TW_I32,
    TW_F32,
    TW_F64,
    TW_TYPE_COUNT,
    TW_U32 = TW_TYPE_COUNT,
    TW_I64,
    TW_U64,
    TW_STATS,
    TW_ELEMENT_COUNT
} tw_type;

/* Bytes of one element; 0 for an unknown type. */
TW_API size_t tw_type_size(tw_type type);
/* "u8" ... "f64", "u32", "i64", "u64", "stats"; "unknown" for a value outside the enum. */
TW_API const char *tw_type_name(tw_type type);

/* Where an image's bytes live. Pinned host memory counts as TW_HOST: it is recognised by itself. */
typedef enum tw_memory { TW_HOST = 0, TW_DEVICE } tw_memory;

/*
 * An image, or a view: a rectangle of a larger image, with the parent's pitch. It owns nothing.
 * Pixel (x, y), channel c is at  data + y * pitch + (x * channels + c) * tw_type_size(type).
 *   width, height  >= 1
 *   channels       1 to 4, interleaved
 *   pitch          bytes from a row to the next; a multiple of the element's size that holds a row
 * data must be aligned to the element's size. (Of records, TW_STATS, to 8 bytes, as their pitch.)
 */
typedef struct tw_image {
    void *data;
    int64_t width;
    int64_t height;
    int64_t pitch;
    int32_t channels;
    tw_type type;
    tw_memory memory;
} tw_image;

/* TW_OK if the descriptor is sound: known type, sizes in range, pitch holds a row, no overflow. */
TW_API tw_status tw_image_check(const tw_image *image);

/* The rectangle at (x, y) as an image of its own. Fails if it does not lie inside `image`. */
TW_API tw_status tw_image_view(const tw_image *image, int64_t x, int64_t y, int64_t width, int64_t height,
                               tw_image *view);

/* ---- Borders and windows ------------------------------------------------------------------- */

/* What a position outside the image reads; the row `abcd` continued to both sides. */
typedef enum tw_border_mode {
    TW_BORDER_ZERO = 0,  /* 00|abcd|00 */
    TW_BORDER_CONSTANT,  /* vv|abcd|vv */
    TW_BORDER_REPLICATE, /* aa|abcd|dd */
    TW_BORDER_REFLECT,   /* ba|abcd|dc */
    TW_BORDER_MIRROR,    /* cb|abcd|cb */
    TW_BORDER_WRAP,      /* cd|abcd|ab */
    TW_BORDER_IGNORE,    /* min, max and what is built of them: outside takes no part */
    TW_BORDER_COUNT
} tw_border_mode;

/* `value` is read for TW_BORDER_CONSTANT alone; the image's type must be able to hold it. */
typedef struct tw_border {
    tw_border_mode mode;
    double value;
} tw_border;

/* "zero" ... "ignore"; "unknown" for a value outside the enum. */
TW_API const char *tw_border_name(tw_border_mode mode);

/* Output (x, y) reads x - anchor_x ... x - anchor_x + width - 1, likewise in y.
   width, height: 1 to TW_MAX_WINDOW. anchor: 0 to size - 1. */
typedef struct tw_window {
    int32_t width;
    int32_t height;
    int32_t anchor_x;
    int32_t anchor_y;
} tw_window;

#define TW_MAX_WINDOW 65535

/* The window of that size anchored at (width / 2, height / 2). */
TW_API tw_window tw_window_centred(int32_t width, int32_t height);

/* How an integer mean is rounded: toward minus infinity, or to the nearest with ties up. */
typedef enum tw_rounding { TW_ROUND_FLOOR = 0, TW_ROUND_NEAREST, TW_ROUNDING_COUNT } tw_rounding;

/* "floor", "nearest"; "unknown" for a value outside the enum. */
TW_API const char *tw_rounding_name(tw_rounding rounding);

/* ---- Contexts and devices ------------------------------------------------------------------ */

/* TW_AUTO: the GPU where one works, else the CPU, without a word. */
typedef enum tw_backend { TW_AUTO = 0, TW_CPU, TW_CUDA, TW_BACKEND_COUNT } tw_backend;

/* "auto", "cpu", "cuda"; "unknown" for a value outside the enum. */
TW_API const char *tw_backend_name(tw_backend backend);

/* Host memory for the library's own use. allocate returns memory aligned to `alignment` (a power
   of two) or NULL; release takes what allocate gave. Both NULL: the C library's. A context with several devices may
   call them from as many threads at a time. */
typedef struct tw_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory);
    void *user;
} tw_allocator;

/* Called from the thread that runs a plan, at intervals, with the share of the work that is done
   (0 to 1, never falling). Return false to stop: the run then fails with TW_ERROR_CANCELLED. */
typedef bool (*tw_progress)(void *user, double done);

typedef struct tw_context_options {
    tw_backend backend;
    int device;             /* the CUDA device's number, for TW_CUDA and TW_AUTO */
    const int *devices;     /* the numbers of several, which share the work on host images; read during the call only */
    int device_count;       /* of `devices`; 0: the one device above */
    int threads;            /* CPU threads; 0: all that this process may use */
    uint64_t device_memory; /* the most bytes of each CUDA device's memory to take: more fails with TW_ERROR_MEMORY; 0:
                               all there is */
    tw_allocator allocator;
    tw_progress progress; /* NULL: none */
    void *progress_user;
} tw_context_options;

typedef struct tw_context tw_context;

/* TW_AUTO, device 0, all threads, no bound on memory, the C library's allocator, no progress. */
TW_API tw_context_options tw_context_defaults(void);

/*
 * A context owns a device, its streams, and the scratch and pinned memory of the calls made with it. `options` NULL:
 * the defaults. TW_CUDA where none works fails with TW_ERROR_DEVICE and the reason; TW_AUTO then gives the CPU.
 *
 * With `devices`, plans and calls on host images give each device some rows or columns of the result; the bytes are
 * those of one device. Running sums of floats over the whole image run on one of them, work on device images on the
 * first, whose memory they are; tw_spread is for images that stay on all of them. A number may occur more than once,
 * for tests, and of the CPU too: as many contexts then share the threads. A device that fails ends the call with
 * TW_ERROR_DEVICE; under TW_AUTO those that cannot be opened are left out, and when one fails later the rest do its
 * work, then and from then on.
 */
TW_API tw_status tw_context_create(const tw_context_options *options, tw_context **context);

/* Frees the context. Its plans must be destroyed before. NULL is allowed. */
TW_API void tw_context_destroy(tw_context *context);

/* TW_CPU or TW_CUDA: what the context works on; TW_AUTO for NULL. */
TW_API tw_backend tw_context_backend(const tw_context *context);
/* The CPU threads that its work may use, 1 or more; 0 for NULL. */
TW_API int tw_context_threads(const tw_context *context);

/* Kinds of memory that a context hands out. TW_MEMORY_PINNED is host memory from which transfers to
   the device run at full speed; with a CPU context it is ordinary host memory. */
typedef enum tw_memory_kind { TW_MEMORY_HOST = 0, TW_MEMORY_PINNED, TW_MEMORY_DEVICE } tw_memory_kind;

/* A new image of the context's memory, its pitch a multiple of 256 bytes, contents undefined. Free
   it with tw_image_free() and the same context. TW_MEMORY_DEVICE needs a CUDA context. TW_ERROR_MEMORY where memory is
   refused, TW_ERROR_LIMIT where the size cannot be counted. */
TW_API tw_status tw_image_create(tw_context *context, int64_t width, int64_t height, int32_t channels, tw_type type,
                                 tw_memory_kind kind, tw_image *image);
/* Of images that tw_image_create() made alone; *image is zeroed. NULL, and an image without data, are allowed. */
TW_API void tw_image_free(tw_context *context, tw_image *image);

/* Copies the pixels, row by row; the images must agree in all but memory and pitch, and must not
   overlap. Returns when the copy is done. */
TW_API tw_status tw_image_copy(tw_context *context, const tw_image *src, const tw_image *dst);

/* ---- Simple tier ---------------------------------------------------------------------------- */

typedef struct tw_box_params {
    tw_window window;
    tw_border border;
    tw_rounding rounding;
} tw_box_params;

/* 3x3, centred, zero border, floor. */
TW_API tw_box_params tw_box_defaults(void);

/*
 * The mean over a window: the sum of all width * height positions, border positions included,
 * divided by width * height. Integer types: the exact sum, rounded as asked. Float types: a fixed
 * order of additions; a NaN or infinity changes only the outputs whose window holds it.
 *
 * src and dst agree in size, channels, type and memory. dst may be src (in place); a partial
 * overlap is an error. Device images need a CUDA context; host images work with any context.
 * Returns when dst is complete. `params` NULL: the defaults.
 */
TW_API tw_status tw_box(tw_context *context, const tw_image *src, const tw_image *dst, const tw_box_params *params);

/* Numbers of a mask: exactly one of the two is set, the other NULL. They are read during the call only:
   plans keep copies. */
typedef struct tw_values {
    const int32_t *integers;
    const double *floats;
} tw_values;

/* A mask of window.width * window.height values, row by row; both sides at most TW_MAX_MASK.
   divisor: not 0; an integer with an integer mask. offset: likewise an integer then. */
typedef struct tw_correlate_params {
    tw_window window;
    tw_values mask;
    double divisor;
    double offset;
    tw_border border;
    tw_rounding rounding;
} tw_correlate_params;

#define TW_MAX_MASK 255

/*
 * Output (x, y) is the sum of mask[j][i] * in(x - anchor_x + i, y - anchor_y + j), divided by `divisor`, plus
 * `offset`, saturated to dst's type, which may differ from src's.
 * An integer mask on integer pixels: the exact sum; the quotient is rounded as `rounding` says.
 * Otherwise: fma in row-major order of the taps, starting from 0, in f32 (f64 on f64 pixels); to an integer type by
 * rounding half to even, NaN becoming 0.
 * src and dst agree in size, channels and memory; in place is legal if the types agree too. `params` is needed: a mask
 * has no default.
 */
TW_API tw_status tw_correlate(tw_context *context, const tw_image *src, const tw_image *dst,
                              const tw_correlate_params *params);
/* The same with the mask turned by 180 degrees, and the anchor with it. */
TW_API tw_status tw_convolve(tw_context *context, const tw_image *src, const tw_image *dst,
                             const tw_correlate_params *params);

/* Correlation with the outer product of a column (window.height values) and a row (window.width values), both
   integers or both floats. Integers: the same result as the product. Floats: the row first, its result in f32 (f64
   on f64 pixels), then the column. */
typedef struct tw_sepconv_params {
    tw_window window;
    tw_values row;
    tw_values column;
    double divisor;
    double offset;
    tw_border border;
    tw_rounding rounding;
} tw_sepconv_params;

/* Shapes, types, saturation and ranges as for tw_correlate: up to TW_MAX_MASK numbers each, a divisor that is not 0. */
TW_API tw_status tw_sepconv(tw_context *context, const tw_image *src, const tw_image *dst,
                            const tw_sepconv_params *params);

/* sigma: 0 or more, finite; 0 leaves its axis alone. truncate: above 0. width, height: odd sizes, or 0 for
   2 * ceil(truncate * sigma) + 1. */
typedef struct tw_gaussian_params {
    double sigma_x;
    double sigma_y;
    double truncate;
    int32_t width;
    int32_t height;
    tw_border border;
} tw_gaussian_params;

/* sigma 1, truncate 4, replicate border. */
TW_API tw_gaussian_params tw_gaussian_defaults(void);
/* The type stays. u8, where both axes have more than a tap, and sigmas from 0.5 to 50 (10 with zero and constant
   borders), one at most 12 times the other: fixed point, at most 1 from the rounded exact result; all else: in f64.
   src and dst agree in size, channels, type and memory; dst may be src. `params` NULL: the defaults. */
TW_API tw_status tw_gaussian(tw_context *context, const tw_image *src, const tw_image *dst,
                             const tw_gaussian_params *params);

typedef enum tw_derivative { TW_SOBEL = 0, TW_SCHARR, TW_PREWITT, TW_LAPLACIAN, TW_DERIVATIVE_COUNT } tw_derivative;
typedef enum tw_direction { TW_DIRECTION_X = 0, TW_DIRECTION_Y } tw_direction;

/* The 3x3 integer mask, for tw_correlate: a derivative grows to the right or downward; the Laplacian (0 1 0, 1 -4 1,
   0 1 0) has no direction. */
TW_API tw_status tw_derivative_mask(tw_derivative derivative, tw_direction direction, int32_t mask[9]);

#define TW_MAX_FOOTPRINT 1023

/* A window of which the positions that are not 0 in `footprint` (window.width * window.height bytes, row by row) take
   part; NULL: all. Both sides at most TW_MAX_FOOTPRINT where there is a footprint. */
typedef struct tw_order_params {
    tw_window window;
    const uint8_t *footprint;
    tw_border border; /* TW_BORDER_IGNORE for tw_min, tw_max and tw_morph alone */
} tw_order_params;

/* 3x3, centred, the whole rectangle, replicate border. */
TW_API tw_order_params tw_order_defaults(void);

/*
 * The lowest, the highest, the median (of an even count n: the element of rank n/2), or the element of rank
 * `rank` (0 is the lowest) of the window. The type stays. Floats are ordered
 * -inf < ... < -0 < +0 < ... < inf < NaN, and all NaN are one.
 * src and dst agree in size, channels, type and memory; dst may be src. `params` NULL: the defaults. `rank`: 0 to
 * tw_order_count(params) - 1.
 */
TW_API tw_status tw_min(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params);
TW_API tw_status tw_max(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params);
TW_API tw_status tw_median(tw_context *context, const tw_image *src, const tw_image *dst,
                           const tw_order_params *params);
TW_API tw_status tw_rank(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params,
                         int64_t rank);

/* How many positions of the window take part; 0 for NULL. */
TW_API int64_t tw_order_count(const tw_order_params *params);
/* min(count - 1, floor(count * percentile / 100)); percentile 0 to 100. */
TW_API int64_t tw_percentile_rank(int64_t count, double percentile);

typedef enum tw_shape { TW_RECT = 0, TW_CROSS, TW_ELLIPSE, TW_SHAPE_COUNT } tw_shape;

/* Fills width * height bytes with 1 where the shape is, else 0. The cross has its arms through the centre
   (width / 2, height / 2); the ellipse holds (2i - W + 1)^2 H^2 + (2j - H + 1)^2 W^2 <= W^2 H^2. Sides: 1 to
   TW_MAX_FOOTPRINT. */
TW_API tw_status tw_footprint(tw_shape shape, int32_t width, int32_t height, uint8_t *footprint);

typedef enum tw_morphology {
    TW_ERODE = 0, /* min */
    TW_DILATE,    /* max */
    TW_OPEN,      /* erode, then dilate with the window turned by 180 degrees, so that nothing shifts */
    TW_CLOSE,     /* dilate, then erode so */
    TW_GRADIENT,  /* dilate - erode */
    TW_TOPHAT,    /* src - open */
    TW_BLACKHAT,  /* close - src */
    TW_MORPHOLOGY_COUNT
} tw_morphology;

typedef struct tw_plan_options tw_plan_options; /* below */

/* Each erosion and dilation is done `iterations` times (1 or more), as `options` says; NULL: all by the planner.
   Differences saturate at the type's ends. Images and `params` as for tw_min; images between the steps take memory of
   the context, so TW_ERROR_MEMORY is possible. */
TW_API tw_status tw_morph(tw_context *context, const tw_image *src, const tw_image *dst, tw_morphology morphology,
                          const tw_order_params *params, int32_t iterations, const tw_plan_options *options);

/* Results for a row, for a column, or for the whole image. */
typedef enum tw_axis { TW_AXIS_X = 0, TW_AXIS_Y, TW_AXIS_ALL, TW_AXIS_COUNT } tw_axis;

/* "x", "y", "all"; "unknown" for a value outside the enum. */
TW_API const char *tw_axis_name(tw_axis axis);

/* What a reduction says of one channel; every byte that was not asked for is 0. Values of all types of pixels are
   exact in f64, and sums of integers have 128 bits, in two's complement. */
typedef struct tw_stats {
    uint64_t sum_low;
    int64_t sum_high;
    double sum; /* of integers: rounded to the nearest f64 */
    double mean;
    double var;
    double std;
    double min;
    double max;
    int64_t argmin_x;
    int64_t argmin_y;
    int64_t argmax_x;
    int64_t argmax_y;
    uint64_t count_nonzero;
} tw_stats;

/* What a reduction is asked for: a set of these. */
typedef enum tw_figure {
    TW_FIGURE_SUM = 1,
    TW_FIGURE_MEAN = 2,
    TW_FIGURE_VAR = 4,
    TW_FIGURE_STD = 8,
    TW_FIGURE_MIN = 16,
    TW_FIGURE_MAX = 32,
    TW_FIGURE_ARGMIN = 64,
    TW_FIGURE_ARGMAX = 128,
    TW_FIGURE_COUNT_NONZERO = 256,
    TW_FIGURE_ALL = 511,
    TW_FIGURE_SQUARES = 512 /* var is the sum of the squared differences to `about`; not with VAR or STD */
} tw_figure;

typedef struct tw_reduce_params {
    tw_axis axis;
    unsigned figures; /* a set of tw_figure, not empty: what is not asked for costs nothing */
    double about[4];  /* of each channel, for TW_FIGURE_SQUARES: by which figures of parts become those of the whole */
} tw_reduce_params;

/* All figures of the whole image. */
TW_API tw_reduce_params tw_reduce_defaults(void);

/*
 * Sum, mean, variance, extremes and their places, and the count of what is not 0, of each channel.
 * dst has elements of type TW_STATS and as many channels as src: 1x1 for TW_AXIS_ALL, 1 x height (a record a row) for
 * TW_AXIS_X, width x 1 (a record a column) for TW_AXIS_Y.
 * Sums of integers are exact. Floats are added in f64 in a fixed order (docs/semantics.md), the same on every device.
 * mean: the sum over the count. var, std: of the population, from the squared differences to that mean, added in the
 * same order. Floats are ordered as for tw_min; the places are those of the first in row-major order; a NaN in the
 * sum, mean, var and std is the one quiet NaN. count_nonzero counts NaN, and neither 0 nor -0. `params` NULL: the
 * defaults.
 */
TW_API tw_status tw_reduce(tw_context *context, const tw_image *src, const tw_image *dst,
                           const tw_reduce_params *params);

/* How often each value occurs. src: u8 or u16; dst: u64, 256x1 or 65536x1, as many channels as src. */
TW_API tw_status tw_histogram(tw_context *context, const tw_image *src, const tw_image *dst);

typedef struct tw_scan_params {
    tw_axis axis;   /* TW_AXIS_ALL: row after row, as one line */
    bool exclusive; /* a pixel's own value is not in its sum */
} tw_scan_params;

/* Inclusive, along rows. */
TW_API tw_scan_params tw_scan_defaults(void);

/*
 * Running sums of each channel: along every row, down every column, or over the whole image. The type of dst is wider
 * than that of src: u32, u64 or f64 for u8 and u16; i32, i64 or f64 for i16; i64 or f64 for i32; f32 or f64 for f32;
 * f64 for f64. Integers are exact: where so many of src's values might not fit, TW_ERROR_LIMIT, whatever the pixels.
 * Floats are added in f64 in a fixed order (docs/semantics.md), the same on every device; each sum is rounded once.
 * src and dst agree in size, channels and memory. `params` NULL: the defaults.
 */
TW_API tw_status tw_scan(tw_context *context, const tw_image *src, const tw_image *dst, const tw_scan_params *params);

/* The summed-area table: dst is a column and a row larger than src, and its pixel (x, y) is the sum of the pixels to
   the left of x in the rows above y. Types and limits as tw_scan, but for f32, which dst cannot have. */
TW_API tw_status tw_integral(tw_context *context, const tw_image *src, const tw_image *dst);

/* The narrowest type of dst that is sure to hold the sums; TW_ELEMENT_COUNT if there is none for such images.
   `params` NULL: the defaults. */
TW_API tw_type tw_scan_type(const tw_image *src, const tw_scan_params *params);
TW_API tw_type tw_integral_type(const tw_image *src);

/* Where the pixels go. The values are sets of steps: 1 exchanges rows and columns, then 2 left and right, then 4 top
   and bottom of the result. Rotations are clockwise. */
typedef enum tw_turn {
    TW_TRANSPOSE = 1,
    TW_FLIP_HORIZONTAL = 2,
    TW_ROTATE_90 = 3,
    TW_FLIP_VERTICAL = 4,
    TW_ROTATE_270 = 5,
    TW_ROTATE_180 = 6,
    TW_FLIP_BOTH = TW_ROTATE_180,
    TW_TRANSVERSE = 7, /* transposed along the other diagonal */
    TW_TURN_COUNT
} tw_turn;

/* "transpose", "flip-horizontal" ...; "unknown" for a value outside the enum. */
TW_API const char *tw_turn_name(tw_turn turn);

/* dst has the type and channels of src; its width is src's height, and the reverse, where the turn exchanges rows and
   columns. Then only square images may be turned in place. */
TW_API tw_status tw_transpose(tw_context *context, const tw_image *src, const tw_image *dst, tw_turn turn);

/* Values of dst's type for every value of src: 256 (u8) or 65536 (u16) entries for all channels, or so many for each
   channel, one channel after the other. Read during the call only: plans keep copies. */
typedef struct tw_lut_params {
    const void *table;
    int32_t channels; /* of the table: 1, or those of the images */
} tw_lut_params;

/* dst(x, y) is the table's entry src(x, y), bit for bit. src is u8 or u16, dst of any type of pixels; in place is legal
   if the types agree. */
TW_API tw_status tw_lut(tw_context *context, const tw_image *src, const tw_image *dst, const tw_lut_params *params);

/* ---- Plan tier ------------------------------------------------------------------------------ */

/* tw_convolve and the derivatives are correlations; medians and percentiles are ranks. */
typedef enum tw_op {
    TW_OP_BOX = 0,
    TW_OP_CORRELATE,
    TW_OP_SEPCONV,
    TW_OP_GAUSSIAN,
    TW_OP_MIN,
    TW_OP_MAX,
    TW_OP_RANK,
    TW_OP_TRANSPOSE,
    TW_OP_LUT,
    TW_OP_REDUCE,
    TW_OP_HISTOGRAM,
    TW_OP_SCAN,
    TW_OP_INTEGRAL,
    TW_OP_COUNT
} tw_op;

/* "box", "correlate", ... "integral"; "unknown" for a value outside the enum. */
TW_API const char *tw_op_name(tw_op op);

/* All that decides a result, but for the pixels. A value: comparable and printable. Fill it with
   the operation's function (tw_box_problem), which checks everything. */
typedef struct tw_problem {
    tw_op op;
    tw_type type;     /* of src */
    tw_type out_type; /* of dst */
    int32_t channels;
    int64_t width; /* of src; dst's size follows from the operation */
    int64_t height;
    tw_window window; /* operations without a window have one of a pixel, and the zero border */
    tw_border border;
    tw_rounding rounding;
    tw_memory memory; /* where both images live */
    bool in_place;    /* dst is src */
    /* correlate: the mask; sepconv: its row and column. Read while a plan is made, which keeps copies. */
    tw_values mask;
    tw_values column;
    double divisor;
    double offset;
    /* gaussian; window has its support */
    double sigma_x;
    double sigma_y;
    /* min, max, rank: NULL is the whole rectangle */
    const uint8_t *footprint;
    int64_t rank;
    tw_turn turn;      /* transpose */
    tw_axis axis;      /* reduce, scan */
    bool exclusive;    /* scan */
    unsigned figures;  /* reduce */
    double about[4];   /* reduce, where squares are asked for */
    const void *table; /* lut: copied like masks */
    int32_t table_channels;
} tw_problem;

/* The problem that tw_box() would solve for these images. Only their descriptors are read. */
TW_API tw_status tw_box_problem(const tw_image *src, const tw_image *dst, const tw_box_params *params,
                                tw_problem *problem);

/* Likewise for tw_correlate() and the others: the same arguments, the same checks. Masks, footprints and tables stay
   the caller's; they must live until the plan is made. */
TW_API tw_status tw_correlate_problem(const tw_image *src, const tw_image *dst, const tw_correlate_params *params,
                                      tw_problem *problem);
TW_API tw_status tw_sepconv_problem(const tw_image *src, const tw_image *dst, const tw_sepconv_params *params,
                                    tw_problem *problem);
TW_API tw_status tw_gaussian_problem(const tw_image *src, const tw_image *dst, const tw_gaussian_params *params,
                                     tw_problem *problem);
/* `op` is TW_OP_MIN, TW_OP_MAX or TW_OP_RANK; `rank` is read for the last alone. */
TW_API tw_status tw_order_problem(tw_op op, const tw_image *src, const tw_image *dst, const tw_order_params *params,
                                  int64_t rank, tw_problem *problem);
TW_API tw_status tw_transpose_problem(const tw_image *src, const tw_image *dst, tw_turn turn, tw_problem *problem);
TW_API tw_status tw_lut_problem(const tw_image *src, const tw_image *dst, const tw_lut_params *params,
                                tw_problem *problem);
TW_API tw_status tw_reduce_problem(const tw_image *src, const tw_image *dst, const tw_reduce_params *params,
                                   tw_problem *problem);
TW_API tw_status tw_histogram_problem(const tw_image *src, const tw_image *dst, tw_problem *problem);
TW_API tw_status tw_scan_problem(const tw_image *src, const tw_image *dst, const tw_scan_params *params,
                                 tw_problem *problem);
TW_API tw_status tw_integral_problem(const tw_image *src, const tw_image *dst, tw_problem *problem);

/* One line, such as "box u8 c1 1003x769 s3x3 a1,1 zero floor host". Returns the length that the whole
   text has; at most size - 1 characters and a NUL are written. */
TW_API size_t tw_problem_text(const tw_problem *problem, char *text, size_t size);

/* Checks the problem, and tells the size of dst. */
TW_API tw_status tw_problem_size(const tw_problem *problem, int64_t *width, int64_t *height);

/* How the planner chooses a variant. */
typedef enum tw_planning {
    TW_PLAN_ESTIMATE = 0, /* by what the context knows from measurements, else by an estimate */
    TW_PLAN_MEASURE, /* the same, once the problem has been measured at this size: if it was not yet, by tw_tune() */
    TW_PLANNING_COUNT
} tw_planning;

struct tw_plan_options {
    const char *variant; /* NULL: the planner's choice */
    int32_t block_width; /* CUDA block shape of the variants that have one; 0: the variant's own */
    int32_t block_height;
    tw_planning planning; /* read where `variant` is NULL */
};

typedef struct tw_plan tw_plan;

/* Chooses a variant, its parameters and its scratch memory. `options` NULL: all by the planner.
   Every variant returns the same bytes: planning is only ever about time. TW_ERROR_ARGUMENT for a variant that does not
   exist, TW_ERROR_UNSUPPORTED, with its reason, for one that cannot do the problem. */
TW_API tw_status tw_plan_create(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                                tw_plan **plan);
/* Before its context. NULL is allowed. */
TW_API void tw_plan_destroy(tw_plan *plan);

/* Runs the plan on images that match its problem (any pitch) and returns when dst is complete.
   Allocates nothing. TW_ERROR_ARGUMENT for images that are not those of the problem. */
TW_API tw_status tw_plan_run(tw_plan *plan, const tw_image *src, const tw_image *dst);

/* The same on device images, queued on `stream` (a cudaStream_t; NULL: CUDA's default stream), and
   returns at once. Runs of one plan must be ordered by the caller: they share its scratch memory.
   TW_ERROR_ARGUMENT for host images. */
TW_API tw_status tw_plan_enqueue(tw_plan *plan, const tw_image *src, const tw_image *dst, void *stream);

/* ---- Parts: a result made some rows at a time ------------------------------------------------ */

/* A rectangle of pixels. */
typedef struct tw_region {
    int64_t x;
    int64_t y;
    int64_t width;
    int64_t height;
} tw_region;

/* What it takes to make some rows of a result: a source that has the `count` regions of the whole image, one below the
   other. The rows are those from `first` on of `problem`'s result. */
typedef struct tw_part {
    tw_problem problem;
    int64_t first;
    int32_t count;
    tw_region reads[2]; /* of one width; two where border wrap joins both ends of the image */
} tw_part;

/*
 * The part of a problem that makes rows first ... last-1 of its result, the same bytes as the whole image's. An image
 * larger than memory, or one that several devices or machines share, is worked on in parts: bands of rows with what
 * their windows reach. Parts of equally many rows, away from the image's ends, have equal problems, and share a plan.
 * Of a transposition, a part is some columns, or rows, of the source.
 * TW_ERROR_UNSUPPORTED for results whose rows depend on more than some rows of the source (tw_reduce, tw_histogram,
 * tw_integral, tw_scan but along rows), unless all rows are asked for.
 */
TW_API tw_status tw_problem_part(const tw_problem *problem, int64_t first, int64_t last, tw_part *part);

/* Makes as many rows of the plan's result as dst has, from row `first` on; otherwise as tw_plan_run(). Not in place.
   TW_ERROR_UNSUPPORTED for fewer than all rows where the variant makes them all at once: turns, figures, running sums,
   whose parts need all. */
TW_API tw_status tw_plan_run_rows(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first);

/* Figures of a whole image whose rows come in bands, the same bytes as tw_reduce() and tw_histogram() give for it. */
typedef struct tw_tally tw_tally;

/*
 * Of the problem of a reduction of the whole image (TW_AXIS_ALL) or of a histogram. Figures of single rows or columns
 * need none: each of them is that of a band of rows, or of columns, whose place is to be added to the records'.
 *
 *     while (tw_tally_wants(tally))            all rows once, for the variance once more
 *         tw_tally_add(tally, &next_rows);
 *     tw_tally_finish(tally, &dst);
 */
TW_API tw_status tw_tally_create(tw_context *context, const tw_problem *problem, tw_tally **tally);
/* Before its context. NULL is allowed. */
TW_API void tw_tally_destroy(tw_tally *tally);

/* Whether rows are missing: after the image's last row those that are wanted next begin with its first again. */
TW_API bool tw_tally_wants(const tw_tally *tally);

/* Adds the next rows, an image on the host, of the problem's width, channels and type, on the tally's context. */
TW_API tw_status tw_tally_add(tw_tally *tally, const tw_image *band);

/* The same in two steps, for bands that others reduce: the problem of the next `rows` rows, whatever their place, and
   its result. Ranks that each have some rows solve one problem a rank and add all results in order. */
TW_API tw_status tw_tally_problem(const tw_tally *tally, int64_t rows, tw_problem *problem);
TW_API tw_status tw_tally_add_found(tw_tally *tally, int64_t rows, const tw_image *found);

/* Writes the record of each channel, or the histogram, to an image on the host. TW_ERROR_ARGUMENT while rows are
   missing. */
TW_API tw_status tw_tally_finish(const tw_tally *tally, const tw_image *dst);

/* ---- Spread images: rows that stay on several devices ------------------------------------------ */

/*
 * An image whose rows lie on the devices of a context (tw_context_options.devices), a band on each, for chains of
 * filters: between two of them only the rows that windows reach move, from device to device.
 * `reach`: rows that a device has room for above and below its band, at least those that a window reaches; of a band
 * that is lower than the window, the image's height will do. Not thread-safe, as its context.
 */
typedef struct tw_spread tw_spread;
TW_API tw_status tw_spread_create(tw_context *context, int64_t width, int64_t height, int32_t channels, tw_type type,
                                  int64_t reach, tw_spread **spread);
/* Before its context, after what was queued is complete. NULL is allowed. */
TW_API void tw_spread_destroy(tw_spread *spread);

/* Waits for what was queued, then copies all rows from, or to, an image on the host of the same shape; page-locked
   memory is the fastest. */
TW_API tw_status tw_spread_put(tw_spread *spread, const tw_image *image);
TW_API tw_status tw_spread_get(const tw_spread *spread, const tw_image *image);

/* A plan for spread images. The problem may be one that was made for images of the same shapes anywhere.
   TW_ERROR_UNSUPPORTED as tw_problem_part(), but for reductions and histograms. */
typedef struct tw_spread_plan tw_spread_plan;
TW_API tw_status tw_spread_plan_create(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                                       tw_spread_plan **plan);
/* Before its context, after its runs are complete. NULL is allowed. */
TW_API void tw_spread_plan_destroy(tw_spread_plan *plan);

/* Queues a run on all devices and returns; runs of one context follow each other. dst is not src. The bytes are those
   of one device. TW_ERROR_ARGUMENT where src has less reach than the window needs, with both numbers. */
TW_API tw_status tw_spread_run(tw_spread_plan *plan, const tw_spread *src, const tw_spread *dst);

/* For the plan of a reduction or histogram: after what was queued, each device finds the figures of its rows or
   columns; those of the whole, the same bytes as tw_reduce() and tw_histogram() give, go to dst on the host. */
TW_API tw_status tw_spread_reduce(tw_spread_plan *plan, const tw_spread *src, const tw_image *dst);

/* Waits until all that was queued is complete. */
TW_API tw_status tw_spread_wait(const tw_spread *spread);

/* ---- Wisdom: measured choices ---------------------------------------------------------------- */

/* Milliseconds a run of one variant, on images that lie on its device: median, least and most of several figures. */
typedef struct tw_timing {
    const char *variant;
    double median;
    double least;
    double most;
    bool chosen;
} tw_timing;

/*
 * Times the variants that do the problem on the context's device, on images of its own, and remembers in the context
 * which one is the fastest; the estimate's choice stays where no other is faster in all rounds but one. Images of more
 * than 256 MiB are measured by their upper part; variants that cannot win are tried briefly or not at all.
 * `timings` gets the first `room` of those timed to the end, the fastest first; *count is how many there are.
 * Both may be NULL, the first with room 0.
 *
 * What is remembered is the planner's choice for problems of the same class from then on: the same operation, types,
 * channels, window, border mode, rounding, rank, footprint, and numbers of a mask (8 bits, 32 bits or floats); any
 * anchor, place and values; both sides of the image within a factor of 2, where the nearest size counts. A variant
 * that refuses the problem at hand is passed over. Only the time depends on it, never a result.
 */
TW_API tw_status tw_tune(tw_context *context, const tw_problem *problem, tw_timing *timings, size_t room,
                         size_t *count);

/* All that the context remembers, as lines of text for tw_wisdom_import(). Returns the length that the whole text
   has; at most size - 1 characters and a NUL are written. */
TW_API size_t tw_wisdom_export(const tw_context *context, char *text, size_t size);

/* Adds what a text of `size` characters holds to what the context remembers; of two entries for one problem, the new
   one counts. Entries of other devices are kept, for tw_wisdom_export(), and do not apply. All or nothing:
   TW_ERROR_ARGUMENT for a damaged text, TW_ERROR_UNSUPPORTED for one of another version of the library. */
TW_API tw_status tw_wisdom_import(tw_context *context, const char *text, size_t size);

/* The context forgets everything. Plans that were made stay as they are. */
TW_API void tw_wisdom_forget(tw_context *context);

/* ---- Inspect tier --------------------------------------------------------------------------- */

/* The name of the variant that the plan runs; "" for NULL. */
TW_API const char *tw_plan_variant(const tw_plan *plan);

/* One implementation of an operation, as the registry lists it. */
typedef struct tw_variant_info {
    const char *name;
    const char *summary;
    tw_op op;
    tw_backend backend;
} tw_variant_info;

/* How many rows the registry of this build has: without CUDA, those of the CPU. */
TW_API size_t tw_variant_count(void);
/* `index` below tw_variant_count(); false otherwise. */
TW_API bool tw_variant_get(size_t index, tw_variant_info *info);
/* NULL if the variant can do the problem on this machine, else the reason why not (valid until the
   thread's next call). `context` NULL: only the problem is asked, not the machine. */
TW_API const char *tw_variant_refuses(size_t index, const tw_context *context, const tw_problem *problem);

/* A device as text, for people: "NVIDIA H200, compute capability 9.0, 139 GiB". */
typedef struct tw_device_info {
    char name[128];
    char detail[256];
} tw_device_info;

/* Devices of a back end: the CPU is one. No driver or no GPU: 0 and TW_OK. */
TW_API tw_status tw_device_count(tw_backend backend, int *count);
/* `device`: 0 to count - 1, else TW_ERROR_DEVICE. */
TW_API tw_status tw_device_describe(tw_backend backend, int device, tw_device_info *info);
/* Bytes of the CUDA device's memory that nobody holds at present. */
TW_API tw_status tw_device_free_memory(int device, uint64_t *bytes);
/* Why there is no CUDA device: "built without CUDA", the driver's own words, or "" where one works. */
TW_API const char *tw_cuda_reason(void);

#ifdef __cplusplus
}
#endif
#endif
