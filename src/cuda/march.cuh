/*
 * What the kernels share that march down strips of u8 images: large windows, one channel, images of at least
 * TWI_MARCH_SMALLEST pixels a side, so that a border's rule is applied once at most.
 */
#ifndef TWI_CUDA_MARCH_CUH
#define TWI_CUDA_MARCH_CUH

#include "core/exact.h"
#include "cuda/cuda.h"

#define TWI_DEVICE static __device__ __forceinline__
#define TWI_DEVICE_MEMBER __device__ __forceinline__

/* twi_border_index() without its divisions, for -n <= i < 2n. What lies further out is read only for outputs that
   nobody stores; -1 then. */
TWI_DEVICE int64_t near_index(int64_t i, int64_t n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == TWI_ZERO || border == TWI_CONSTANT)
        return -1;
    if (border == TWI_REPLICATE)
        return i < 0 ? 0 : n - 1;
    if (border == TWI_WRAP)
        i += i < 0 ? n : -n;
    else if (border == TWI_REFLECT)
        i = (i < 0 ? 0 : 2 * n) - 1 - i;
    else
        i = (i < 0 ? 0 : 2 * n - 2) - i;
    return i >= 0 && i < n ? i : -1;
}

/* The row that position y reads, NULL where it is the border's value. */
TWI_DEVICE const uint8_t *near_row(const twi_cuda_box &box, int64_t y)
{
    y = near_index(y, box.height, box.border);
    return y < 0 ? nullptr : (const uint8_t *)box.src + y * box.src_pitch;
}

/* The same value, which the compiler then keeps in a register: it cannot compute it anew where it is used. */
TWI_DEVICE uint32_t kept(uint32_t value)
{
    return __shfl_sync(~0u, value, threadIdx.x);
}

/* A word whose byte e is 1 where 0 <= first + e < size. */
TWI_DEVICE uint32_t ones(int first, int size)
{
    const int before = first < 0 ? -first : 0;
    const int after = first + 4 > size ? first + 4 - size : 0;
    return __funnelshift_lc(0, 0x01010101, 8 * before) & __funnelshift_rc(0x01010101, 0, 8 * after);
}

/* BYTES / 4 words at any address; the aligned words around them must lie inside the row. */
template <int BYTES> TWI_DEVICE void load_shifted(const uint8_t *address, uint32_t *words)
{
    const uint32_t *aligned = (const uint32_t *)((uintptr_t)address & ~(uintptr_t)3);
    const unsigned shift = (unsigned)(uintptr_t)address % 4 * 8;
    uint32_t raw[BYTES / 4 + 1];
#pragma unroll
    for (int k = 0; k <= BYTES / 4; k++)
        raw[k] = __ldg(aligned + k);
#pragma unroll
    for (int k = 0; k < BYTES / 4; k++)
        words[k] = __funnelshift_r(raw[k], raw[k + 1], shift);
}

/* The first `count` of 4 * W bytes. */
template <int W> TWI_DEVICE void store_first(uint8_t *place, int count, const uint32_t *words)
{
#pragma unroll
    for (int i = 0; i < 4 * W; i++)
        if (i < count)
            place[i] = (uint8_t)(words[i / 4] >> (i % 4 * 8));
}

#endif
