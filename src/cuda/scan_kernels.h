/* The kernels of scan, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_SCAN_KERNELS_H
#define TWI_SCAN_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twi_cuda_scan {
    const void *src;
    void *dst;
    int64_t src_pitch; /* bytes */
    int64_t dst_pitch;
    int64_t width; /* pixels */
    int64_t rows;
    int64_t lines;  /* a channel of a row each */
    int64_t left;   /* the line or element column where the grid starts */
    int64_t first;  /* 0 */
    int64_t pixels; /* of a line; more than `width` where it goes on in the next row */
    int32_t channels;
    int32_t exclusive;
    uint32_t zero; /* 0, which kernels do not know */
    /* Of lines of many spans: 0, then [span][channel], its total and what lies before it. */
    uint64_t *tickets;
    uint64_t *totals;
    uint64_t *befores;
} twi_cuda_scan;

/* What dst has; signed integers count as unsigned ones. */
enum { TWI_CUDA_SUM_32, TWI_CUDA_SUM_64, TWI_CUDA_SUM_DOUBLE, TWI_CUDA_SUM_FLOAT, TWI_CUDA_OUTS };
/* The rows of the tables: pixels by their type's number. */
enum { TWI_CUDA_SCAN_TYPES = 6 };

/* scan_fast.cu; [1]: of aligned images, where a line is one row of one channel, in both images aligned for four
   elements at a time, 16 bytes at most, and a multiple of four long. Lines: a line has blockDim.x / 32 warps, a power
   of two, each of which makes TWI_CUDA_SCAN_WARP sums at a time, and a block has blockDim.y lines; blocks take lines in
   turn. Chained: two blocks at least, all at work at a time, of TWI_CUDA_SPAN_WARPS warps. Of aligned images a warp has
   a stage of TWI_CUDA_SCAN_WARP pixels in dynamic shared memory; chained, TWI_CUDA_SPAN_STAGES of them, but none of
   pixels of 8 bytes. NULL: none. */
enum { TWI_CUDA_SCAN_TILES = 4, TWI_CUDA_SCAN_WARP = TWI_CUDA_SCAN_TILES * 128 };
enum { TWI_CUDA_SCAN_WARPS = 16, TWI_CUDA_SCAN_LINES = 4 /* at most */ };
enum { TWI_CUDA_SPAN_WARPS = 32, TWI_CUDA_SPAN_STAGES = 3 };
extern const void *const twi_cuda_scan_lines[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];
extern const void *const twi_cuda_scan_chained[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];
/* Of aligned images whose rows have at most a span, by blocks of as many warps as a row has TWI_CUDA_SHORT_WARP pixels,
   and with a stage of as many in dynamic shared memory for each; none of pixels of 8 bytes. */
enum { TWI_CUDA_SHORT_TILES = 8, TWI_CUDA_SHORT_WARP = TWI_CUDA_SHORT_TILES * 128, TWI_CUDA_SHORT_WARPS = 16 };
extern const void *const twi_cuda_scan_short[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];

/* scan.cu: a block of so many threads a line, integers alone. */
enum { TWI_CUDA_SCAN_CHUNK = 1024 };
extern const void *const twi_cuda_scan_hillis[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];
extern const void *const twi_cuda_scan_blelloch[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];
extern const void *const twi_cuda_scan_shuffle[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];

/* scan_columns.cu: a block of 32 x TWI_CUDA_SCAN_WARPS threads, or fewer rows of them, has 32 columns. */
extern const void *const twi_cuda_scan_columns[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];

/* scan_integral.cu: the integral of integers. Its table is cut into strips of TWI_CUDA_STRIP columns, a warp's, and
   these into chunks of rows. */
typedef struct twi_cuda_integral {
    const void *src;
    void *dst;         /* the table, with its row and column of zeros */
    int64_t src_pitch; /* bytes */
    int64_t dst_pitch;
    int64_t width; /* pixels of src */
    int64_t rows;
    int64_t left;  /* the strip, row or column where the grid starts, */
    int64_t first; /* and the chunk */
    void *sums;    /* [channel][strip][row]: the row's sum in the strip, then in all strips before; after the rows the
                      chunks    likewise */
    void *tops; /* [channel][chunk][column]: sums before the column in strip and chunk, then of all above the chunk */
    int32_t channels;
    int32_t strips; /* of a channel */
    int32_t chunks;
    int32_t chunk_rows; /* at most TWI_CUDA_STRIP_ROWS, whose sums of narrow pixels fit in 32 bits */
    int32_t whole;      /* 1: one channel, both images aligned for four elements at a time, 16 bytes at most */
} twi_cuda_integral;

enum { TWI_CUDA_STRIP = 128, TWI_CUDA_STRIP_WARPS = 8, TWI_CUDA_STRIP_ROWS = 128, TWI_CUDA_CARRY_THREADS = 128 };
/* By the type of pixels; [1] of 64 bits. Blocks of 32 x TWI_CUDA_STRIP_WARPS threads, a warp a strip. */
extern const void *const twi_cuda_integral_sums[TWI_CUDA_SCAN_TYPES][2];
extern const void *const twi_cuda_integral_table[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS];
/* A thread a row or chunk; a thread a column. */
extern const void *const twi_cuda_integral_lefts[2];
extern const void *const twi_cuda_integral_tops[2];

#ifdef __cplusplus
}
#endif
#endif
