/* The kernels of transpose, for the host code: their arguments and tables of their addresses. */
#ifndef TWI_TRANSPOSE_KERNELS_H
#define TWI_TRANSPOSE_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every turn is a walk over the source with a fixed step for each direction in dst. */
typedef struct twi_cuda_transpose {
    const void *src; /* the pixel that goes to dst's first */
    void *dst;
    int64_t right; /* bytes from it to the one that goes to the right of that, */
    int64_t down;  /* and to the one that goes below */
    int64_t dst_pitch;
    int64_t width; /* of dst, pixels */
    int64_t height;
    int64_t left; /* where the grid starts in dst */
    int64_t first;
    int32_t band; /* of fast: the height of its bands, in tiles */
} twi_cuda_transpose;

/* A pixel is moved as 1 to 4 units of 1, 2, 4, 8 or 16 bytes: tables have a kernel for unit 2^i and for count - 1. */
enum { TWI_CUDA_UNITS = 5, TWI_CUDA_LARGEST_UNIT = 1 << (TWI_CUDA_UNITS - 1) };

/* transpose.cu. A thread a pixel, blocks of any shape: rows counts columns and rows in the source, columns in dst. */
extern const void *const twi_cuda_transpose_rows[TWI_CUDA_UNITS][4];
extern const void *const twi_cuda_transpose_columns[TWI_CUDA_UNITS][4];
/* Tiles of 32 x 32 pixels, blocks of 32 x 8 threads. */
enum { TWI_CUDA_TILE_SIDE = 32, TWI_CUDA_TILE_ROWS = 8 };
extern const void *const twi_cuda_transpose_shared[TWI_CUDA_UNITS][4];
extern const void *const twi_cuda_transpose_padded[TWI_CUDA_UNITS][4];
extern const void *const twi_cuda_transpose_swizzled[TWI_CUDA_UNITS][4];

/* transpose_fast.cu, for pixels of one unit and rows that begin at multiples of 16 bytes; of small units, also for rows
   that begin anywhere. */
enum { TWI_CUDA_FAST_THREADS = 256, TWI_CUDA_SHIFTED_UNITS = 2 };
typedef struct twi_cuda_transpose_fast {
    const void *kernel;
    int32_t width; /* of a block's outputs, pixels */
    int32_t height;
    int32_t band;
    int32_t shared; /* bytes of dynamic shared memory */
} twi_cuda_transpose_fast;
extern const twi_cuda_transpose_fast twi_cuda_transpose_tiles[TWI_CUDA_UNITS];
extern const twi_cuda_transpose_fast twi_cuda_transpose_shifted[TWI_CUDA_SHIFTED_UNITS];
/* Flips of rows that are whole pieces of 16 bytes: a thread a piece, which counts as a pixel, blocks of any shape. The
   units of a piece are put in the reverse order. */
extern const void *const twi_cuda_flip[TWI_CUDA_UNITS];

#ifdef __cplusplus
}
#endif
#endif
