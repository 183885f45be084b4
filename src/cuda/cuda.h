/*
 * What the kernels (.cu) and the host code (.c) share: the arguments of kernels and the tables of kernels.
 *
 * A .cu file holds kernels only and exports tables of their addresses; the host code is C and starts them
 * through cudaLaunchKernel() (host.h, twi_cuda_launch_box). So the library needs no C++ runtime, and templates
 * stay inside one .cu file.
 */
#ifndef TWI_CUDA_H
#define TWI_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The argument of every kernel of `box`, passed by value. "Element" is one channel of one pixel: a row has
   width * channels of them, and all kernels count columns in elements. */
typedef struct twi_cuda_box {
    const void *src;
    void *dst;
    int64_t src_pitch; /* bytes */
    int64_t dst_pitch;
    int64_t width; /* pixels */
    int64_t height;
    int64_t left;  /* the element column where the grid starts: 0 but for grids past the hardware's limits */
    int64_t first; /* output rows first ... last-1 */
    int64_t last;
    /* The outputs of a block, for kernels whose blocks march down a strip. */
    int32_t strip_width;
    int32_t strip_height;
    int32_t channels;
    int32_t window_width;
    int32_t window_height;
    int32_t anchor_x;
    int32_t anchor_y;
    /* The row or column that positions -1 and height or width read, -1: the value. */
    int64_t row_before;
    int64_t row_after;
    int64_t column_before;
    int64_t column_after;
    int32_t border;  /* TWI_ZERO ... TWI_WRAP of exact.h */
    int32_t nearest; /* 1: round to nearest; 0: floor */
    /* u8, u16, i16: every sum of the window fits in 32 bits, so that `reciprocal` divides it */
    int32_t narrow;
    /* registers: all ones for the lowest, which is the complement of the highest complement; else 0 */
    uint32_t flip;
    double value;   /* what a position outside reads with TWI_ZERO and TWI_CONSTANT, as the image's type holds it */
    int64_t count;  /* window_width * window_height */
    double inverse; /* 1.0 / count */
    uint64_t reciprocal; /* 2^64 / count rounded up, 0 for a count of 1 (it would need 65 bits) */
} twi_cuda_box;

/* The element types by number, equal to tw_type (launch.c asserts it): tables have a kernel's address for each,
   NULL: none. */
enum { TWI_CUDA_U8, TWI_CUDA_U16, TWI_CUDA_I16, TWI_CUDA_I32, TWI_CUDA_F32, TWI_CUDA_F64, TWI_CUDA_TYPES };

/* Kernels whose blocks may have any shape are compiled for blocks of this many threads: what the hardware has. */
enum { TWI_CUDA_MOST_THREADS = 1024 };

/* box_direct.cu, box_tiled.cu: a thread an output element, blocks of any shape. */
extern const void *const twi_cuda_box_direct[TWI_CUDA_TYPES];
extern const void *const twi_cuda_box_tiled[TWI_CUDA_TYPES];

/* A source that is read through a texture of single elements (texture.cuh). */
typedef struct twi_cuda_texture {
    uint64_t object;  /* the cudaTextureObject_t */
    int32_t hardware; /* 1: the texture's own addressing is the border */
} twi_cuda_texture;

/* box_texture.cu: a thread an output element, the source read through a texture. */
typedef struct twi_cuda_box_texture {
    twi_cuda_box box;
    twi_cuda_texture texture;
} twi_cuda_box_texture;
extern const void *const twi_cuda_box_texture_kernels[TWI_CUDA_TYPES];

/* box_separable.cu: one pass over a chunk of the image. A pass looks at a line of values, along a row or down a
   column, and at one hexadecimal digit of the window's size there. It makes sums of 16 neighbouring values,
   which are the values of the next digit's pass, and adds as many values as the digit says to the sums. */
typedef struct twi_cuda_pass {
    twi_cuda_box box;
    const void *values; /* the first pass along rows reads box.src instead */
    void *blocks;       /* out: sums of 16; NULL after the last digit */
    const void *before; /* the sums so far; NULL in the first pass */
    void *after;        /* out: the sums; the last pass down writes means to box.dst instead */
    int64_t pitch;      /* of all four arrays, in their elements */
    int64_t step;       /* from a value to the next of its line, in elements */
    int64_t skip;       /* from an output to the first value that it adds: what smaller digits have taken */
    int64_t left;       /* where the grid starts in the chunk */
    int64_t first;
    int64_t block_columns; /* the extent of `blocks` */
    int64_t block_rows;
    int64_t sum_columns; /* and of the sums */
    int64_t sum_rows;
    int64_t chunk_left; /* where the chunk's first output lies in the image: element column and row */
    int64_t chunk_top;
    int32_t digit;
} twi_cuda_pass;
extern const void *const twi_cuda_separable_first[TWI_CUDA_TYPES];
extern const void *const twi_cuda_separable_next[TWI_CUDA_TYPES];
extern const void *const twi_cuda_separable_last[TWI_CUDA_TYPES];

/* registers.cuh: 3x3, centred. Blocks of 32 x 4 threads. */
typedef struct twi_cuda_registers {
    const void *aligned;    /* both images' rows begin at multiples of 16 bytes */
    const void *shifted;    /* rows at any address */
    const void *small;      /* rows begin at multiples of 4; a word a thread */
    int32_t shifted_bytes;  /* of a row that a warp of `shifted` makes */
    int32_t shifted_beyond; /* bytes beyond a row's end that its warps must cover */
} twi_cuda_registers;
extern const twi_cuda_registers twi_cuda_box_registers[TWI_CUDA_TYPES][4];

/* Kernels called tensor that march down strips of 128 elements (band.cuh): u8, windows that reach at most so far from
   their output. Blocks of 32 x 4 threads. */
typedef struct twi_cuda_band {
    int32_t reach_x; /* in elements */
    int32_t reach_y;
    int32_t shared; /* bytes of dynamic shared memory */
    int32_t blocks; /* that a multiprocessor holds */
    int32_t rows;   /* of a strip at most: more gain nothing */
} twi_cuda_band;

/* box_tensor.cu: one channel. */
enum { TWI_CUDA_TENSORS = 2 };
typedef struct twi_cuda_tensor {
    const void *kernel[2]; /* means rounded down, and to the nearest */
    twi_cuda_band band;
} twi_cuda_tensor;
extern const twi_cuda_tensor twi_cuda_box_tensor[TWI_CUDA_TENSORS];

/* box_running.cu: u8, one channel. Blocks of 256 threads with the sums of 2048 columns. Kernel r % 8 is for centred
   windows of 2r + 1 columns, the last for any. */
enum { TWI_CUDA_RUNNING = 9, TWI_CUDA_RUNNING_COLUMNS = 2048, TWI_CUDA_RUNNING_SHARED = 2 * 4 * (2048 + 128) * 2 };
extern const void *const twi_cuda_box_running[TWI_CUDA_RUNNING];

/* ---- Correlation ------------------------------------------------------------------------------------ */

/* What a weighted sum is made in: the narrowest integers that hold every sum of the mask, or the floats of the
   definition. Masks are converted to int32_t, float or double. */
enum { TWI_CUDA_SUM_I32, TWI_CUDA_SUM_I64, TWI_CUDA_SUM_I128, TWI_CUDA_SUM_F32, TWI_CUDA_SUM_F64, TWI_CUDA_SUMS };
/* Beside these, for gaussian on u8: fixed point. */
enum { TWI_CUDA_SUM_FIXED = TWI_CUDA_SUMS, TWI_CUDA_SEPARABLE_SUMS };

/* How a sum becomes an element of the output. */
typedef struct twi_cuda_scale {
    int64_t divisor; /* of integer sums */
    int64_t offset;
    double float_divisor; /* of float sums */
    double float_offset;
    int32_t out_type;
} twi_cuda_scale;

typedef struct twi_cuda_correlate {
    twi_cuda_box box;
    twi_cuda_scale scale;
    twi_cuda_texture texture; /* for the kernels called texture */
    const void *mask;         /* in global memory, for kernels without the mask in their argument */
} twi_cuda_correlate;

/*
 * The same with the mask in the argument. A kernel's parameters lie in constant memory, a copy of its own for each
 * launch: so plans and streams side by side cannot disturb each other, as they could by writing to one
 * __constant__ array. 4096 bytes of parameters is what every driver allows.
 */
enum { TWI_CUDA_MASK_BYTES = 3584 };
typedef struct twi_cuda_correlate_constant {
    twi_cuda_correlate filter;
    union {
        int32_t integers[TWI_CUDA_MASK_BYTES / 4];
        float floats[TWI_CUDA_MASK_BYTES / 4];
        double doubles[TWI_CUDA_MASK_BYTES / 8];
    } mask;
} twi_cuda_correlate_constant;

/* A thread an output element, blocks of any shape. correlate_direct.cu, with the mask in the argument and in global
   memory; correlate_tiled.cu, likewise; correlate_texture.cu, with the mask in the argument. */
extern const void *const twi_cuda_correlate_direct[TWI_CUDA_TYPES][TWI_CUDA_SUMS];
extern const void *const twi_cuda_correlate_readonly[TWI_CUDA_TYPES][TWI_CUDA_SUMS];
extern const void *const twi_cuda_correlate_tiled[TWI_CUDA_TYPES][TWI_CUDA_SUMS];
extern const void *const twi_cuda_correlate_tiled_global[TWI_CUDA_TYPES][TWI_CUDA_SUMS];
extern const void *const twi_cuda_correlate_texture_kernels[TWI_CUDA_TYPES][TWI_CUDA_SUMS];

/* How the fast kernels divide an exact sum (quotient.cuh): not at all; by a float, sums below 2^23; by a multiplication
   of 32 bits, sums below 2^31. The sum starts with `start`; `add` is added to the quotient. */
enum { TWI_CUDA_WHOLE, TWI_CUDA_FLOAT, TWI_CUDA_MULTIPLY };
typedef struct twi_cuda_quotient {
    int32_t division;
    int32_t start;
    int32_t add;
    float reciprocal;
    uint32_t multiplier;
    int32_t shift;
} twi_cuda_quotient;

/* correlate_registers.cu: u8 and f32, one channel, windows within 3x3 or 5x5 around the output. Blocks of 32 x 4
   threads. Integer masks are cut into planes of signed bytes, the highest first. */
enum { TWI_CUDA_PLANES = 2, TWI_CUDA_PLANE_WORDS = 13, TWI_CUDA_TAPS = 25 };
typedef struct twi_cuda_correlate_registers {
    twi_cuda_box box;
    twi_cuda_quotient quotient;                             /* of integer sums */
    uint32_t planes[TWI_CUDA_PLANES][TWI_CUDA_PLANE_WORDS]; /* bytes as the kernels multiply them */
    float taps[TWI_CUDA_TAPS];                              /* of float sums */
    float divisor;
    float inverse; /* of a divisor that is a power of two, else 0 */
    float offset;
} twi_cuda_correlate_registers;
enum { TWI_CUDA_TAPS_ROWS = 16 }; /* of a block */
typedef struct twi_cuda_taps_kernel {
    const void *aligned; /* NULL: none; for rows that begin at multiples of 16 bytes, and at any address */
    const void *shifted;
    int32_t aligned_width; /* outputs of a block */
    int32_t shifted_width;
    int32_t beyond; /* that blocks of `shifted` must cover beyond a row's end */
} twi_cuda_taps_kernel;
/* [3x3, 5x5][planes - 1][the output's type]: u8 pixels; then float sums [3x3, 5x5][u8 or f32 pixels][type] */
extern const twi_cuda_taps_kernel twi_cuda_correlate_integers[2][TWI_CUDA_PLANES][TWI_CUDA_TYPES];
extern const twi_cuda_taps_kernel twi_cuda_correlate_floats[2][2][TWI_CUDA_TYPES];

/* correlate_tensor.cu: u8, integer masks in planes of signed bytes, the highest first, each as banded matrices in
   global memory: [plane][part of 32 elements along the row][row of the mask][lane][word]. Blocks of 32 x 4 k threads
   make 128 elements of strip_height rows, 64 k a step. */
enum { TWI_CUDA_BAND_WIDTH = 128, TWI_CUDA_BAND_HEIGHT = 64, TWI_CUDA_BAND_WARPS = 4, TWI_CUDA_BAND_WORDS = 32 * 4 };
typedef struct twi_cuda_correlate_tensor {
    twi_cuda_box box;
    twi_cuda_quotient quotient;
    const void *matrices;
    int32_t planes;
    int32_t parts;
    int32_t before; /* elements from the first that a part holds to its output, a multiple of 4 */
    int32_t staged; /* elements of a row in shared memory, a multiple of 16, */
    int32_t pitch;  /* and bytes from row to row: an odd multiple of 16 */
    int32_t stages; /* steps that have room in shared memory: 2, or 1 where the strip has one step alone */
} twi_cuda_correlate_tensor;
extern const void *const twi_cuda_correlate_tensor_kernels[TWI_CUDA_TYPES]; /* the output's type; NULL: none */

/* correlate_blocked.cu: a thread makes ALONG pixels of a row, of one channel; a warp WARP_WIDTH of some rows. In
   vectors of 16 bytes: `mask_pitch` is a row of the mask, in global memory, which ends with a whole one; `pitch` one of
   the image, in shared memory, and odd. F64 for integers makes the same as I64, where sums are exact in f64. */
enum {
    TWI_CUDA_BLOCKED_ALONG = 16,
    TWI_CUDA_BLOCKED_WARPS = 8,
    TWI_CUDA_BLOCKED_WARP_WIDTH = 64,
    TWI_CUDA_BLOCKED_WIDTH = 128, /* outputs of a block */
    TWI_CUDA_BLOCKED_HEIGHT = 32
};
typedef struct twi_cuda_correlate_blocked {
    twi_cuda_box box;
    twi_cuda_scale scale;
    const void *weights;
    int32_t mask_pitch;
    int32_t pitch;
    int32_t shift; /* values before the first of both rows */
    int32_t rows;  /* of the mask in shared memory at a time */
} twi_cuda_correlate_blocked;
extern const void *const twi_cuda_correlate_blocked_kernels[TWI_CUDA_TYPES][TWI_CUDA_SUMS]; /* NULL: none */

/* sepconv.cu: one of the two passes over a chunk of the image, along its rows into `lines`, or down those into the
   output. A thread an element; column and row count from the chunk's first. */
typedef struct twi_cuda_sepconv {
    twi_cuda_box box;
    twi_cuda_scale scale;
    const void *weights; /* of the pass, in global memory */
    void *lines;         /* line k belongs to image row chunk_top - anchor_y + k */
    int64_t pitch;       /* of the lines, in their elements */
    int64_t columns;     /* what the pass makes */
    int64_t rows;
    int64_t chunk_left; /* where the chunk's first output lies in the image: element column and row */
    int64_t chunk_top;
    int64_t left; /* where the grid starts in the chunk */
    int64_t first;
} twi_cuda_sepconv;
extern const void *const twi_cuda_sepconv_along[TWI_CUDA_TYPES][TWI_CUDA_SEPARABLE_SUMS];
extern const void *const twi_cuda_sepconv_down[TWI_CUDA_SEPARABLE_SUMS];

/* sepconv_fused.cu: both passes at once, down a strip. Blocks of 32 x ALONG threads make 32 / channels * channels *
   ALONG elements a row, STEP rows a step. */
enum { TWI_CUDA_FUSED_ALONG = 5, TWI_CUDA_FUSED_STEP = 10 };
typedef struct twi_cuda_fused {
    twi_cuda_box box;
    twi_cuda_scale scale;
    const void *along; /* weights, in global memory */
    const void *down;
    int32_t
        ring; /* lines that shared memory holds: the least multiple of STEP from the window's height - 1 + STEP on */
} twi_cuda_fused;
extern const void *const twi_cuda_sepconv_fused[TWI_CUDA_TYPES][TWI_CUDA_SEPARABLE_SUMS];

/* Of kernels called tensor with weights: the matrices are cut into parts of 32 of the dimension that is summed:
   [plane][parts_x] for the sums along rows, [odd][plane][parts_y] for those down columns, each [lane][word]. */
enum { TWI_CUDA_PART_WORDS = 32 * 4 };
typedef struct twi_cuda_band_kernel {
    const void *kernel;
    twi_cuda_band band;
    int32_t parts_x;
    int32_t parts_y;
    int32_t planes; /* bytes of a weight */
} twi_cuda_band_kernel;

/* gaussian_tensor.cu: unsigned weights of two bytes. The cheapest kernel first. */
enum { TWI_CUDA_GAUSSIAN_TENSORS = 5 };
typedef struct twi_cuda_gaussian {
    twi_cuda_box box;
    const void *weights; /* the parts, in global memory */
} twi_cuda_gaussian;
extern const twi_cuda_band_kernel twi_cuda_gaussian_tensor[TWI_CUDA_GAUSSIAN_TENSORS];

/* sepconv_tensor.cu: signed weights of one byte, u8 out. The cheapest kernel first. */
enum { TWI_CUDA_SEPCONV_TENSORS = 4 };
typedef struct twi_cuda_sepconv_tensor {
    twi_cuda_box box;
    twi_cuda_quotient quotient; /* without its start */
    const void *weights;        /* the parts, in global memory */
    int32_t line_start;         /* what a sum along a row starts with, so that it fits in 16 bits, */
    int32_t start;              /* and one down a column */
} twi_cuda_sepconv_tensor;
extern const twi_cuda_band_kernel twi_cuda_sepconv_tensors[TWI_CUDA_SEPCONV_TENSORS];

/* ---- Order filters ------------------------------------------------------------------------------------ */

typedef struct twi_cuda_order {
    twi_cuda_box box;
    const uint8_t *footprint; /* in global memory; NULL: all positions take part */
    uint32_t rank;            /* of rank: below 2^32, as the number of positions is */
    int32_t ignore;           /* of min and max. 1: positions outside the image take no part */
} twi_cuda_order;

/* A thread an output element, blocks of any shape. order_direct.cu, order_tiled.cu, order_network.cu; the last for
   3x3 and 5x5. */
extern const void *const twi_cuda_min_direct[TWI_CUDA_TYPES];
extern const void *const twi_cuda_max_direct[TWI_CUDA_TYPES];
extern const void *const twi_cuda_rank_direct[TWI_CUDA_TYPES];
extern const void *const twi_cuda_min_tiled[TWI_CUDA_TYPES];
extern const void *const twi_cuda_max_tiled[TWI_CUDA_TYPES];
extern const void *const twi_cuda_median_network[2][TWI_CUDA_TYPES];

/* order_network.cu: a rank of few positions, as the median of `count` values: of `lows` values more that no element is
   below, and the others that none is above. Blocks of any shape; the kernels with the fewest values first. */
enum { TWI_CUDA_NETWORKS = 5, TWI_CUDA_FEW = 37 };
typedef struct twi_cuda_few {
    twi_cuda_box box;
    int32_t positions;
    int32_t lows;
    int64_t offsets[TWI_CUDA_FEW]; /* bytes from the window's corner to its positions */
    int16_t x[TWI_CUDA_FEW];
    int16_t y[TWI_CUDA_FEW];
} twi_cuda_few;
typedef struct twi_cuda_network {
    int32_t count;
    const void *kernel[TWI_CUDA_TYPES];
} twi_cuda_network;
extern const twi_cuda_network twi_cuda_rank_network[TWI_CUDA_NETWORKS];

/* order_registers.cu, median_registers.cu: 3x3, by type and channels. */
extern const twi_cuda_registers twi_cuda_extreme_registers[TWI_CUDA_TYPES][4];
extern const twi_cuda_registers twi_cuda_median_registers[TWI_CUDA_TYPES][4];

/* order_herk.cu: u8, one channel. Blocks of 256 threads with the extremes of 1024 columns, of which strip_width begin a
   window; strips are a multiple of 32 wide and of 16 high. */
enum { TWI_CUDA_HERKS = 5, TWI_CUDA_HERK_COLUMNS = 1024 };
typedef struct twi_cuda_herk {
    int32_t down; /* rows and columns of a group: 1, or windows are at least twice as large */
    int32_t across;
    const void *kernel[2]; /* lowest, highest */
} twi_cuda_herk;
extern const twi_cuda_herk twi_cuda_extreme_herk[TWI_CUDA_HERKS];
enum {
    TWI_CUDA_HERK_SHARED = 8 * 2 * (8 * (256 + 256 / 8) + 96) + 24 * 256 + 8 * 2 * 1024,
    TWI_CUDA_HERK_GROUP = 4 * 256
}; /* bytes */

/* median_columns.cu: 5x5, u8, one channel; rows at any address, and at multiples of 16. Blocks of 32 threads make
   512 columns of strip_height rows, an even number. */
extern const void *const twi_cuda_median_columns[2];

/* rank_histogram.cu: u8, one channel, windows of 3 to 255 columns and at most 255 rows. Blocks of so many threads,
   which have as many columns, make strip_width outputs of a row: as many windows as lie in those columns. */
enum { TWI_CUDA_HISTOGRAMS = 6 };
typedef struct twi_cuda_histogram {
    int32_t threads;
    int32_t words;  /* that windows of (width + 6) / 4 words read, at least 3; 0: any */
    int32_t shared; /* bytes of shared memory */
    const void *kernel;
} twi_cuda_histogram;
extern const twi_cuda_histogram twi_cuda_rank_histogram[TWI_CUDA_HISTOGRAMS];

/* rank_halving.cu: medians of 7x7, 9x9 and 11x11. Blocks of ACROSS x DOWN threads make 4 * (ACROSS / channels) pixels
   of 2 * DOWN rows, of twice as many for 8 and 16 bits. NULL: not done. */
enum { TWI_CUDA_HALVING_ACROSS = 32, TWI_CUDA_HALVING_DOWN = 4, TWI_CUDA_HALVINGS = 3 };
extern const void *const twi_cuda_median_halving[TWI_CUDA_HALVINGS][TWI_CUDA_TYPES];

/* rank_places.cu: blocks make tiles of strip_width x strip_height outputs of a channel, from more than a column. */
typedef struct twi_cuda_places {
    twi_cuda_box box;
    uint32_t rank;
    int32_t piece;        /* rows of a tile that a thread makes one after the other */
    int64_t tiles_across; /* of all channels */
    int64_t tiles_down;
    void *scratch;
} twi_cuda_places;

/* Tiles whose windows read at most ITEMS positions a thread, rows rounded up to an even number, and sides of 255. A
   block has shared memory for (ITEMS + 1) * threads items, of 4 bytes for 8 and 16 bits, else twice the element, and
   for 6 bytes a position. */
enum { TWI_CUDA_PLACES_ITEMS = 16, TWI_CUDA_PLACES_SIZES = 5 };
typedef struct twi_cuda_places_kernel {
    int32_t threads;
    const void *kernel[TWI_CUDA_TYPES];
} twi_cuda_places_kernel;
extern const twi_cuda_places_kernel twi_cuda_rank_places[TWI_CUDA_PLACES_SIZES];

/* Larger tiles: blocks take them in turn, each with scratch memory for two items a position, of 8 bytes, f64: of 16,
   the positions rounded up to multiples of ITEMS * THREADS; and with shared memory for (ITEMS + 1) * THREADS items. */
enum { TWI_CUDA_PLACES_THREADS = 512 };
extern const void *const twi_cuda_rank_places_large[TWI_CUDA_TYPES];

/* rank_footprint.cu: the same for footprints, in as many kernels. strip_width is even. Tiles in shared memory have for
   each row `pitch` = strip_width / 2 + window_width - 1 words, the places of two columns strip_width / 2 apart; larger
   ones have their width. A block's shared memory has room for the order, 2 bytes an item, those words, and the map. */
typedef struct twi_cuda_footprint {
    twi_cuda_places tiles;
    /* Where positions lie from the window's corner on, in places: all of the footprint, then, `enters` and `leaves`
       from there, multiples of 4, those that a window gets or loses as it goes down a row; `changes` of each, 0: they
       are so many that all are counted anew. */
    const int32_t *offsets;
    int32_t positions;
    int32_t changes;
    int32_t enters;
    int32_t leaves;
    int32_t pitch;
    int32_t words;        /* of the map; the last is 0 */
    const uint32_t *bits; /* footprint_map */
    float far;            /* places that are faster to walk than all positions to count; not below 8 */
} twi_cuda_footprint;
extern const twi_cuda_places_kernel twi_cuda_rank_footprint[TWI_CUDA_PLACES_SIZES];
extern const void *const twi_cuda_rank_footprint_large[TWI_CUDA_TYPES];

/* ---- The rest ----------------------------------------------------------------------------------------- */

/* subtract.cu: dst = a - b; dst may be a or b. A thread an element, blocks of any shape. */
typedef struct twi_cuda_subtract {
    const void *a;
    const void *b;
    void *dst;
    int64_t a_pitch; /* bytes */
    int64_t b_pitch;
    int64_t dst_pitch;
    int64_t columns; /* elements */
    int64_t rows;
    int64_t left; /* where the grid starts */
    int64_t first;
} twi_cuda_subtract;
extern const void *const twi_cuda_subtract_kernels[TWI_CUDA_TYPES];

/* sums.cu: adds a row of 64-bit integers to each row of sums; by their type, as uint32_t, uint64_t and double. */
typedef struct twi_cuda_addition {
    const int64_t *row;
    void *dst;
    int64_t dst_pitch;
    int64_t columns; /* elements of a row */
    int64_t rows;
    int64_t left; /* where the grid starts */
    int64_t first;
} twi_cuda_addition;
enum { TWI_CUDA_ADD_32, TWI_CUDA_ADD_64, TWI_CUDA_ADD_DOUBLE, TWI_CUDA_ADDITIONS };
extern const void *const twi_cuda_addition_kernels[TWI_CUDA_ADDITIONS];

/* copy.cu: void (const void *src, void *dst, uint64_t bytes), 16 bytes a thread; both 16-byte aligned. */
enum { TWI_CUDA_COPY_THREADS = 256, TWI_CUDA_COPY_BYTES = 16 };
extern const void *const twi_cuda_copy_kernel;

/* The same for rows of several images at once, which another device may own: a row of blocks for each. */
enum { TWI_CUDA_FETCHES = 8 };
typedef struct twi_cuda_fetch {
    const void *from;
    void *to;
    int64_t from_pitch; /* bytes, as the addresses multiples of 16 */
    int64_t to_pitch;
    uint32_t bytes;   /* of a row, which has */
    uint32_t vectors; /* of 16 bytes, the last perhaps incomplete */
    uint32_t rows;    /* vectors * rows < 2^31 */
} twi_cuda_fetch;
typedef struct twi_cuda_fetches {
    twi_cuda_fetch list[TWI_CUDA_FETCHES];
} twi_cuda_fetches;
extern const void *const twi_cuda_fetch_kernel;

#ifdef __cplusplus
}
#endif
#endif
