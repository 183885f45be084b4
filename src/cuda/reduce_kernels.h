/* The kernels of reduce, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_REDUCE_KERNELS_H
#define TWI_REDUCE_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel makes of the pixels that it looks at: a set. */
enum { TWI_CUDA_SUM = 1, TWI_CUDA_LOWEST = 2, TWI_CUDA_HIGHEST = 4, TWI_CUDA_COUNTS = 8, TWI_CUDA_EVERYTHING = 15 };
/* The sets that there are kernels for: one thing, both extremes, everything; or sums, both extremes, everything. */
enum { TWI_CUDA_SETS = 6, TWI_CUDA_FEW_SETS = 3 };

/* The pixels, as a plane of which all channels are looked at. */
typedef struct twi_cuda_plane {
    const void *src;
    int64_t pitch; /* bytes */
    int64_t width;
    int64_t height;
    int32_t channels; /* elements from a pixel to the next */
} twi_cuda_plane;

/* Where the extremes of a part of a channel were seen, and what they are. */
typedef struct twi_cuda_extremes {
    int64_t lowest; /* keys (twi_key_f64) */
    int64_t highest;
    int64_t lowest_at; /* the first unit, or rows, with such a pixel */
    int64_t highest_at;
} twi_cuda_extremes;

/* Where records go, and what a kernel puts into them. */
typedef struct twi_cuda_record {
    void *dst;
    int64_t dst_pitch; /* bytes from a record's row to the next */
    int64_t records;   /* a channel's */
    int64_t width;     /* of src */
    double count;      /* pixels of a record */
    double *means;     /* [channel][record]: of the first look, for the second; NULL: there is none */
    int32_t channels;
    int32_t figures; /* that this kernel makes: */
    int32_t add;     /* to records that another one has begun */
    int32_t axis;    /* 0, 1, 2: tw_axis */
} twi_cuda_record;

/* What squared differences are to. */
typedef struct twi_cuda_middle {
    const double *means; /* [channel][record]; NULL: */
    double about[4];     /* each channel's */
    int32_t squares;     /* whether the kernel adds squares at all */
} twi_cuda_middle;

/*
 * reduce_sweep.cu, reduce_leaf.cu: rows, and the whole image. A row, of one channel, is cut into pieces, and a block of
 * TWI_LANES threads makes a value of its pieces. Values are sequences, and a sequence is cut into nodes of TWI_LEAF
 * values, which are values of the next level's sequences, until those have one. For each node there is one more block,
 * behind all others, that waits for the values, so that the whole tree is one launch. Whatever the order in which
 * blocks are started, this ends as long as there is room for others beside all that wait. Where there might not be,
 * blocks are `counted`: of a node's own and the makers of its values, who is the last to begin makes the node, so that
 * no block waits for one that has not begun.
 */
enum { TWI_CUDA_REDUCE_LEVELS = 10 /* of widths, then of heights, below 2^60 */ };
typedef struct twi_cuda_level {
    int64_t count; /* values of a sequence */
    int64_t nodes; /* of a sequence */
    int64_t sequences;
    int64_t values;  /* of all sequences */
    uint64_t *words; /* [word][value]: 0 between launches */
    uint32_t *begun; /* [sequence][node]: how many counted blocks have begun; 0 between launches */
} twi_cuda_level;

typedef struct twi_cuda_reduce {
    twi_cuda_plane plane;
    int64_t unit;   /* pixels of a piece */
    int64_t units;  /* pieces of a row */
    int64_t pieces; /* of a sequence of the first level */
    int64_t shares; /* its values: one has every so manieth piece */
    int64_t blocks; /* that have pieces */
    twi_cuda_middle middle;
    twi_cuda_record record;
    twi_cuda_level level[TWI_CUDA_REDUCE_LEVELS];
    int32_t levels;
    int32_t counted;
    int64_t left; /* where the grid starts: block, and nothing */
    int64_t first;
} twi_cuda_reduce;

/* Everything but the sums of floats. A block loads a piece at once. Of more pieces than the most, of 16 bits or else,
   a thread's sums and numbers of elements might not fit into 32 bits. */
enum { TWI_CUDA_ROUND_BYTES = 16384, TWI_CUDA_MOST_PIECES = 100000, TWI_CUDA_MOST_PIECES_16 = 1000 };
/* Shares of a sequence, which a node's threads read at once, and blocks that any multiprocessor holds. */
enum { TWI_CUDA_SHARES = 1024, TWI_CUDA_HELD = 4 };
extern const void *const twi_cuda_reduce_sweep[6][TWI_CUDA_SETS];
/* The same of rows that are records, of at most so many bytes: a block has several. */
enum { TWI_CUDA_SHORT_ROWS = 8, TWI_CUDA_SHORT_BYTES = 1024 };
extern const void *const twi_cuda_reduce_short_rows[6][TWI_CUDA_FEW_SETS];
/* f64 sums by core/exact.h, alone, with everything else, or of squared differences; units are a leaf, or rows of at
   most TWI_CUDA_ROW_LEAVES. The narrow kernels make TWI_CUDA_NARROW_ROWS rows of at most TWI_CUDA_NARROW_WIDTH a block.
 */
enum {
    TWI_CUDA_LEAVES,
    TWI_CUDA_NARROW_LEAVES,
    TWI_CUDA_ALL_LEAVES,
    TWI_CUDA_SQUARES,
    TWI_CUDA_NARROW_SQUARES,
    TWI_CUDA_LEAF_KERNELS
};
enum { TWI_CUDA_ROW_LEAVES = 32, TWI_CUDA_NARROW_WIDTH = 512, TWI_CUDA_NARROW_ROWS = 16 };
extern const void *const twi_cuda_reduce_leaf[6][TWI_CUDA_LEAF_KERNELS];

/*
 * reduce_columns.cu. Blocks of TWI_CUDA_COLUMN_THREADS threads go down TWI_CUDA_STRIP threads' columns, of which each
 * has one, or as many as are in a word. A grid's rows are parts of the columns; the block that is the last of a strip
 * puts the parts together.
 */
enum { TWI_CUDA_STRIP = 32, TWI_CUDA_STRIP_ROWS = 16, TWI_CUDA_COLUMN_THREADS = TWI_CUDA_STRIP * TWI_CUDA_STRIP_ROWS };
/* Rows in which the place of an extreme is looked for in the end, and rows of a part at most. */
enum { TWI_CUDA_CHUNK_ROWS = 16, TWI_CUDA_PART_ROWS = 4096 };
/* Parts of a column in sums of floats: lanes that are as many apart. */
enum { TWI_CUDA_LANE_PARTS = 8 };
typedef struct twi_cuda_columns {
    twi_cuda_plane plane;
    twi_cuda_middle middle;
    twi_cuda_record record;
    int64_t part_rows; /* of a part; of sums of floats no meaning */
    int64_t parts;
    void *sums; /* [part][element], f64 or int64_t; of floats [leaf][part][element] */
    twi_cuda_extremes *extremes;
    uint64_t *counts;
    uint32_t *arrived; /* parts of each strip that are there; 0 between launches */
    int64_t left;      /* where the grid starts: strip, part */
    int64_t first;
} twi_cuda_columns;
/* With a column a thread, or a word of them where rows begin at words. */
extern const void *const twi_cuda_reduce_columns[2][6][TWI_CUDA_FEW_SETS];
extern const void *const twi_cuda_reduce_lanes[6][2]; /* sums of floats, squared differences */

/* reduce_direct.cu: the variants to learn from. A block of TWI_LANES threads makes the sum of a leaf, a thread a lane,
   and they differ in how the lanes are folded. Sums and lanes are f64, of integers int64_t. The next table is of sums
   of sums; the last kernel makes records, a thread each. */
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
    twi_cuda_record record; /* of the last kernel */
} twi_cuda_fold;
extern const void *const twi_cuda_reduce_fold[TWI_CUDA_FOLDS][6];
extern const void *const twi_cuda_reduce_fold_sums[TWI_CUDA_FOLDS][2]; /* of int64_t, of f64 */
extern const void *const twi_cuda_reduce_fold_record[2];

#ifdef __cplusplus
}
#endif
#endif
