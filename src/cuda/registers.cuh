/*
 * The kernels of the variants called `registers`: filters of 3x3 windows, centred. A warp makes 512 bytes of several
 * rows, each thread 16 bytes of each; all its loads leave before the first is needed, and blocks are short-lived and
 * walk memory as a copy does. Rows lie in registers (row.cuh). No shared memory, no barrier.
 *
 * Warps that touch the image's edges run another instance of the same body, so that the path of all others
 * has no branch. Small images have a lighter kernel: a word a thread, which fills the device sooner.
 *
 * A filter is a struct F<T, C> for type T and C channels, with
 *   make<W, ROWS, HALOS>(box, x, out)      out[r]: a thread's W words made of its extended rows x[r], x[r + 1], x[r +
 * 2] HALOS: the extended rows have theirs. Else the filter takes what it needs beside a thread's own words from the
 * neighbouring threads; only u8 is asked for that.
 */
#ifndef TWI_CUDA_REGISTERS_CUH
#define TWI_CUDA_REGISTERS_CUH

#include "cuda/row.cuh"

/* The outputs of a thread of a warp that begins at byte `begin`, in ROWS rows from y on. */
template <template <typename, int> class F, typename T, int C, int W, int ROWS, bool ALIGNED, bool INSIDE>
TWI_DEVICE void tile(const twi_cuda_box &box, int64_t begin, int64_t y, bool whole)
{
    constexpr bool halos = ALIGNED || sizeof(T) > 1;
    uint32_t x[ROWS + 2][extended<T, C, W>::words];
    uint32_t out[ROWS][W];
    load_rows<T, C, W, ROWS + 2, ALIGNED, INSIDE, halos>(box, begin, y, whole, x);
    F<T, C>::template make<W, ROWS, halos>(box, x, out);
    if constexpr (ALIGNED) {
        const int64_t at = begin + threadIdx.x * (4 * W);
        const int64_t bytes = box.width * C * (int64_t)sizeof(T);
        char *row = (char *)box.dst + y * box.dst_pitch;
#pragma unroll
        for (int r = 0; r < ROWS; r++, row += box.dst_pitch)
            if (INSIDE || y + r < box.last)
                store_own<T, W, INSIDE>(row, at, bytes, out[r]);
    } else {
        store_rows<T, C, W, ROWS, INSIDE>(box, begin, y, whole, out);
    }
}

/* Warps side by side, as many as blockDim.y. */
template <template <typename, int> class F, typename T, int C, int W, int ROWS, bool ALIGNED>
static __global__ void __launch_bounds__(128) large(const __grid_constant__ twi_cuda_box box)
{
    using s = span<T, C, W, ALIGNED>;
    /* The same in all threads, which the compiler cannot know of threadIdx.y: it would prepare for warps that split. */
    const int row_of_block = __shfl_sync(~0u, (int)threadIdx.y, 0);
    const int64_t warp = blockIdx.x * (int64_t)blockDim.y + row_of_block;
    const int64_t begin = box.left * (int64_t)sizeof(T) + warp * s::warp - s::before;
    const int64_t y = box.first + blockIdx.y * (int64_t)ROWS;
    if (begin + s::before - s::beyond >= box.width * C * (int64_t)sizeof(T))
        return;
    const bool whole = columns_inside<W>(begin, box.width * C * (int64_t)sizeof(T));
    if (warp_inside<T, C, W, ROWS, ALIGNED>(box, begin, y, whole))
        tile<F, T, C, W, ROWS, ALIGNED, true>(box, begin, y, whole);
    else
        tile<F, T, C, W, ROWS, ALIGNED, false>(box, begin, y, whole);
}

/* A word a thread (an f64: two), a warp a row or two. Rows begin at multiples of 4 bytes, and both images span less
   than 2^31 bytes. */
template <template <typename, int> class F, typename T, int C, int ROWS>
static __global__ void __launch_bounds__(128) small(const __grid_constant__ twi_cuda_box box)
{
    constexpr int W = sizeof(T) == 8 ? 2 : 1;
    const int bytes = (int)box.width * C * (int)sizeof(T);
    const int at = (blockIdx.x * 32 + threadIdx.x) * (4 * W);
    const int y = (int)box.first + (blockIdx.y * 4 + threadIdx.y) * ROWS;
    if (at >= bytes || y >= (int)box.last)
        return;
    uint32_t x[ROWS + 2][extended<T, C, W>::words];
    uint32_t out[ROWS][W];
    load_light<T, C, W, ROWS + 2>(box, at, y, x);
    F<T, C>::template make<W, ROWS, true>(box, x, out);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (y + r < (int)box.last)
            store_own<T, W, false>((char *)box.dst + (y + r) * (int)box.dst_pitch, at, bytes, out[r]);
}

/* ---- Table ------------------------------------------------------------------------------------------ */

/* f64 has 32 bytes a thread, so that a pixel of 4 channels lies within a neighbour, and half the rows. */
template <typename T> static constexpr int words = sizeof(T) == 8 ? 8 : 4;
template <typename T> static constexpr int rows = sizeof(T) == 8 ? 2 : 4;

template <template <typename, int> class F, typename T, int C> static constexpr twi_cuda_registers kernels()
{
    using s = span<T, C, words<T>, false>;
    return {(const void *)large<F, T, C, words<T>, rows<T>, true>,
            (const void *)large<F, T, C, words<T>, rows<T>, false>, (const void *)small<F, T, C, 2>, s::warp,
            s::beyond};
}

#define TWI_REGISTERS_OF_TYPE(F, T)                                                                                    \
    {                                                                                                                  \
        kernels<F, T, 1>(), kernels<F, T, 2>(), kernels<F, T, 3>(), kernels<F, T, 4>()                                 \
    }

#define TWI_REGISTERS_TABLE(F)                                                                                         \
    {                                                                                                                  \
        TWI_REGISTERS_OF_TYPE(F, uint8_t), TWI_REGISTERS_OF_TYPE(F, uint16_t), TWI_REGISTERS_OF_TYPE(F, int16_t),      \
            TWI_REGISTERS_OF_TYPE(F, int32_t), TWI_REGISTERS_OF_TYPE(F, float), TWI_REGISTERS_OF_TYPE(F, double),      \
    }

#endif
