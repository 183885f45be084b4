/* The kernels of reduce and histogram, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_REDUCE_KERNELS_H
#define TWI_REDUCE_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a part of the pixels of a channel adds up to, in whatever order: blocks make them, others put them together. */
typedef struct twi_cuda_tally {
    int64_t exact; /* the sum of integers */
    uint64_t counts;
    int64_t lowest; /* keys (twi_key_f64) */
    int64_t highest;
    int64_t lowest_at; /* y * width + x of the first */
    int64_t highest_at;
} twi_cuda_tally;

/* What a sweep looks for: a set. */
enum { TWI_CUDA_EXACT = 1, TWI_CUDA_RANGE = 2, TWI_CUDA_COUNTS = 4, TWI_CUDA_SWEEPS = 8 };

/* One channel of the source, or a plain array. */
typedef struct twi_cuda_plane {
    const void *src; /* of channel 0 */
    int64_t pitch;   /* bytes */
    int64_t width;
    int64_t height;
    int32_t channels; /* elements from a pixel to the next */
    int32_t vectors;  /* rows begin at multiples of 16 bytes, and there is one channel */
} twi_cuda_plane;

/* reduce_sweep.cu: everything but the sums of floats. Block (b, channel) makes tallies[channel * blocks + b]. It takes
   steps of TWI_CUDA_SWEEP_THREADS threads times 16 bytes: b, b + blocks ... of the whole image, or (`rows`) those of
   row b. */
enum { TWI_CUDA_SWEEP_THREADS = 256, TWI_CUDA_PART_ROWS = 1024 /* of a column, in a tally */ };
typedef struct twi_cuda_sweep {
    twi_cuda_plane plane;
    twi_cuda_tally *tallies;
    int64_t blocks;
    int64_t left; /* where the grid starts: block, channel */
    int64_t first;
    int32_t rows;
} twi_cuda_sweep;
extern const void *const twi_cuda_reduce_sweep[6][TWI_CUDA_SWEEPS];

/* reduce_leaf.cu: f64 sums by core/exact.h. A warp makes the sum of a leaf, and a block those of rows that have a power
   of two of leaves, at most as many as it has warps. */
enum { TWI_CUDA_LEAF_WARPS = 8 };
typedef struct twi_cuda_leaves {
    twi_cuda_plane plane;
    double *sums;        /* [channel][item]: a row's leaves, or its sum */
    const double *means; /* of the kernels that add squared differences: means[channel * records + y * record_step] */
    int64_t records;
    int64_t record_step; /* 1: a mean for each row */
    int64_t leaves;      /* of a row */
    int64_t total;       /* items of a channel */
    int64_t left;        /* where the grid starts: leaf, channel */
    int64_t first;
    int32_t together; /* leaves of an item */
} twi_cuda_leaves;
extern const void *const twi_cuda_reduce_leaf[6][2];    /* pixels, squared differences */
extern const void *const twi_cuda_reduce_columns[6][2]; /* the same arguments: sums[group * elements + element] */

/* reduce_direct.cu: the variants to learn from. A block of TWI_LANES threads makes the sum of a leaf, a thread a lane,
   and they differ in how the lanes are folded. Sums and lanes are f64, of integers int64_t. The last two tables are of
   sums of sums. */
enum {
    TWI_CUDA_NEIGHBOURED,
    TWI_CUDA_INTERLEAVED,
    TWI_CUDA_SHARED,
    TWI_CUDA_UNROLLED,
    TWI_CUDA_SHUFFLE,
    TWI_CUDA_FOLDS
};
typedef struct twi_cuda_fold {
    twi_cuda_plane plane;
    void *sums;    /* [channel][item] */
    void *lanes;   /* in global memory: TWI_LANES for each item, or NULL */
    int64_t items; /* of a row */
    int64_t total;
    int64_t left; /* where the grid starts: item, channel */
    int64_t first;
} twi_cuda_fold;
extern const void *const twi_cuda_reduce_fold[TWI_CUDA_FOLDS][6];
extern const void *const twi_cuda_reduce_fold_sums[TWI_CUDA_FOLDS][2]; /* of int64_t, of f64 */

/* reduce_finish.cu. */
typedef struct twi_cuda_finish {
    const twi_cuda_tally *tallies; /* [channel][record][parts]; of columns [part][element] */
    int64_t parts;                 /* of a record; 0: there are none */
    const int64_t *exact;          /* [channel][record]: sums of integers without a tally; NULL: none */
    const double *sums;            /* [channel][record][values]; of columns [value][element]; NULL: there are none */
    int64_t values;                /* of a record: at most a leaf's for rows and the whole image */
    double *means;                 /* out, before a second look: [channel][record], then the sums of floats likewise */
    double about[4];               /* the means' place, where squares about them are asked for */
    const double *squares;         /* of the second look, laid out as `sums`; NULL: none */
    void *dst;
    int64_t dst_pitch; /* bytes from a record's row to the next */
    int64_t records;   /* a channel's */
    int64_t left;      /* where the grid starts: record, channel */
    int64_t first;
    int64_t width; /* of src */
    double count;  /* pixels of a record */
    int32_t channels;
    int32_t integers;
    int32_t figures;
    int32_t axis; /* 0, 1, 2: tw_axis */
} twi_cuda_finish;
extern const void *const twi_cuda_reduce_record; /* a warp a record, 8 a block: rows */
extern const void *const twi_cuda_reduce_image;  /* a block of 1024 threads a channel: the whole image */
extern const void *const twi_cuda_reduce_strip;  /* blocks of 32 x 16 threads: 32 records of columns */
extern const void
    *const twi_cuda_reduce_tallies[6][TWI_CUDA_SWEEPS]; /* tallies of columns, a thread each (twi_cuda_sweep) */

#ifdef __cplusplus
}
#endif
#endif
