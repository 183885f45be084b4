/* The kernels of histogram, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_HISTOGRAM_KERNELS_H
#define TWI_HISTOGRAM_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twi_cuda_count {
    const void *src;
    int64_t src_pitch; /* bytes */
    int64_t width;     /* pixels */
    int64_t rows;
    int64_t left; /* where the grid starts */
    int64_t first;
    uint64_t *counts; /* [value][channel], zeroed */
    uint32_t *tables; /* of words: what each block has counted at the end, two counters a word */
    int32_t channels;
    int32_t blocks; /* of fast: those of the grid, */
    int32_t whole;  /* and 1, if rows of words begin at multiples of 16 bytes */
} twi_cuda_count;

/* histogram.cu, [0] of u8, [1] of u16. global: a thread an element. shared: a block so many rows and columns of a
   channel, the channels of a tile one block after the other. */
extern const void *const twi_cuda_histogram_global[2];
enum { TWI_CUDA_COUNT_WIDTH = 128, TWI_CUDA_COUNT_HEIGHT = 8, TWI_CUDA_COUNT_ROWS = 256 };
extern const void *const twi_cuda_histogram_shared[2];

/* histogram_fast.cu. Bytes, by the number of channels less 1: every lane has a table of each channel. */
enum { TWI_CUDA_COUNT_THREADS = 1024, TWI_CUDA_COUNT_TABLES = 32 * 256 * 4 /* bytes */ };
extern const void *const twi_cuda_count_bytes[4];
/* Words: block i counts channel i % channels; a thread of the last kernel adds up all blocks' counters of two values.
 */
enum { TWI_CUDA_COUNT_WORDS = 65536 * 2 /* bytes */, TWI_CUDA_COUNT_PAIRS = 65536 / 2 };
extern const void *const twi_cuda_count_words;
extern const void *const twi_cuda_count_finish;

#ifdef __cplusplus
}
#endif
#endif
