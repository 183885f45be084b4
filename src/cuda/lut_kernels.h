/* The kernels of lut, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_LUT_KERNELS_H
#define TWI_LUT_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twi_cuda_lut {
    const void *src;
    void *dst;
    int64_t src_pitch; /* bytes */
    int64_t dst_pitch;
    int64_t columns; /* elements */
    int64_t rows;
    int64_t left; /* where the grid starts */
    int64_t first;
    const void *table;      /* in global memory, for kernels without the table in their argument */
    int32_t table_channels; /* 1, or those of the images */
    int32_t vectors;        /* of fast: 1, if pieces of src and dst begin at multiples of their size */
    int32_t rounds;         /* and the segments that each warp makes */
} twi_cuda_lut;

/* The table in the argument lies in constant memory (see twi_cuda_correlate_constant). */
enum { TWI_CUDA_TABLE_BYTES = 3584 };
typedef struct twi_cuda_lut_constant {
    twi_cuda_lut lut;
    uint64_t table[TWI_CUDA_TABLE_BYTES / 8];
} twi_cuda_lut_constant;

/* Entries of 1, 2, 4 or 8 bytes: tables of kernels have 2^i; [0]: u8 in, [1]: u16. */
enum { TWI_CUDA_ENTRIES = 4 };

/* lut.cu. A thread an element, blocks of any shape. */
extern const void *const twi_cuda_lut_constant_kernels[2][TWI_CUDA_ENTRIES];
extern const void *const twi_cuda_lut_global[2][TWI_CUDA_ENTRIES];
extern const void *const twi_cuda_lut_readonly[2][TWI_CUDA_ENTRIES];
/* A block copies the table to dynamic shared memory, then makes some elements a thread, below each other. */
enum { TWI_CUDA_LUT_WIDTH = 64, TWI_CUDA_LUT_HEIGHT = 16, TWI_CUDA_LUT_ROWS = 512 };
extern const void *const twi_cuda_lut_shared[2][TWI_CUDA_ENTRIES];

/* lut_fast.cu: u8 in, one table for all channels, images of less than 2^31 pieces of 16 bytes a row of dst. The tables
   of a block fill its dynamic shared memory; each of its warps makes `rounds` segments, of rows of the image. */
enum { TWI_CUDA_LUT_THREADS = 512, TWI_CUDA_LUT_BLOCKS = 2 /* a multiprocessor */, TWI_CUDA_LUT_SHARED = 65536 };
typedef struct twi_cuda_lut_segments {
    const void *kernel;
    int32_t elements; /* of a segment */
    int32_t rounds;   /* for large images */
} twi_cuda_lut_segments;
extern const twi_cuda_lut_segments twi_cuda_lut_fast[TWI_CUDA_ENTRIES];

#ifdef __cplusplus
}
#endif
#endif
