/*
 * transpose, the variants to learn from. Rows of dst are columns of the source, so that of two threads side by side
 * either the reads are far apart or the writes; a tile in shared memory, read by rows and written by columns, makes
 * both contiguous. A column of the tile then lies in one bank of shared memory, unless rows are a pixel longer than
 * the tile, or their pixels are permuted.
 */
#include "cuda/cuda.h"
#include "cuda/transpose_kernels.h"

/* A pixel as units that may be read and written whole. */
template <typename Unit, int Count> struct pixel {
    Unit unit[Count];
};

template <typename P>
static __device__ __forceinline__ const P *source(const twi_cuda_transpose &t, int64_t x, int64_t y)
{
    return (const P *)((const char *)t.src + x * t.right + y * t.down);
}

template <typename P> static __device__ __forceinline__ P *output(const twi_cuda_transpose &t, int64_t x, int64_t y)
{
    return (P *)((char *)t.dst + y * t.dst_pitch) + x;
}

/* ---- Without shared memory ---------------------------------------------------------------------- */

/* Threads side by side read side by side: they make a column of dst. */
template <typename P>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) transpose_rows(const twi_cuda_transpose t)
{
    const int64_t y = t.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t x = t.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x < t.width && y < t.height)
        *output<P>(t, x, y) = *source<P>(t, x, y);
}

/* Threads side by side write side by side. */
template <typename P>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) transpose_columns(const twi_cuda_transpose t)
{
    const int64_t x = t.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = t.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x < t.width && y < t.height)
        *output<P>(t, x, y) = *source<P>(t, x, y);
}

/* ---- With a tile ----------------------------------------------------------------------------------- */

enum { SIDE = TWI_CUDA_TILE_SIDE, ROWS = TWI_CUDA_TILE_ROWS };

/* Row j of the tile holds a piece of a source row, which becomes column j of the block's outputs. */
template <typename P, int Pitch, bool Swizzled>
static __global__ void __launch_bounds__(SIDE *ROWS) transpose_tile(const twi_cuda_transpose t)
{
    __shared__ P tile[SIDE * Pitch];
    const auto place = [](int row, int column) { return row * Pitch + (Swizzled ? column ^ row : column); };
    const int64_t left = t.left + (int64_t)blockIdx.x * SIDE;
    const int64_t top = t.first + (int64_t)blockIdx.y * SIDE;
    const int i = (int)threadIdx.x;
#pragma unroll
    for (int j = (int)threadIdx.y; j < SIDE; j += ROWS)
        if (left + j < t.width && top + i < t.height)
            tile[place(j, i)] = *source<P>(t, left + j, top + i);
    __syncthreads();
#pragma unroll
    for (int j = (int)threadIdx.y; j < SIDE; j += ROWS)
        if (left + i < t.width && top + j < t.height)
            *output<P>(t, left + i, top + j) = tile[place(i, j)];
}

/* ---- Tables ---------------------------------------------------------------------------------------- */

/* Pixels of units of 16 bytes have at most 32. */
#define COUNTS(KERNEL, UNIT, ...)                                                                                      \
    {                                                                                                                  \
        (const void *)KERNEL<pixel<UNIT, 1> __VA_ARGS__>, (const void *)KERNEL<pixel<UNIT, 2> __VA_ARGS__>,            \
            (const void *)KERNEL<pixel<UNIT, 3> __VA_ARGS__>, (const void *)KERNEL<pixel<UNIT, 4> __VA_ARGS__>         \
    }
#define TABLE(KERNEL, ...)                                                                                             \
    {                                                                                                                  \
        COUNTS(KERNEL, uint8_t, __VA_ARGS__), COUNTS(KERNEL, uint16_t, __VA_ARGS__),                                   \
            COUNTS(KERNEL, uint32_t, __VA_ARGS__), COUNTS(KERNEL, uint64_t, __VA_ARGS__),                              \
        {                                                                                                              \
            (const void *)KERNEL<pixel<uint4, 1> __VA_ARGS__>, (const void *)KERNEL<pixel<uint4, 2> __VA_ARGS__>,      \
                nullptr, nullptr                                                                                       \
        }                                                                                                              \
    }
#define COMMA ,

extern "C" const void *const twi_cuda_transpose_rows[TWI_CUDA_UNITS][4] = TABLE(transpose_rows);
extern "C" const void *const twi_cuda_transpose_columns[TWI_CUDA_UNITS][4] = TABLE(transpose_columns);
extern "C" const void *const twi_cuda_transpose_shared[TWI_CUDA_UNITS][4] = TABLE(transpose_tile, COMMA SIDE, false);
extern "C" const void *const twi_cuda_transpose_padded[TWI_CUDA_UNITS][4] =
    TABLE(transpose_tile, COMMA(SIDE + 1), false);
extern "C" const void *const twi_cuda_transpose_swizzled[TWI_CUDA_UNITS][4] = TABLE(transpose_tile, COMMA SIDE, true);
