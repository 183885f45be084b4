/* Device code of scan: values and sums by type, and a tile's sums by shuffles. */
#ifndef TWI_SCAN_CUH
#define TWI_SCAN_CUH

#include <string.h>

#include "core/exact.h"
#include "cuda/scan_kernels.h"

/* A sum becomes an element of dst. */
static __device__ __forceinline__ uint32_t twi_sum_as(uint32_t, uint32_t sum)
{
    return sum;
}

static __device__ __forceinline__ uint64_t twi_sum_as(uint64_t, uint64_t sum)
{
    return sum;
}

static __device__ __forceinline__ double twi_sum_as(double, double sum)
{
    return twi_canonical_f64(sum);
}

static __device__ __forceinline__ float twi_sum_as(float, double sum)
{
    return twi_canonical_f32((float)sum);
}

/* Four neighbours as bytes that move together, 16 at a time. */
template <typename T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) twi_four {
    T value[4];
};

/* Hides from the compiler where a value comes from; `zero` is 0. Sums of values are made twice: to keep what the first
   time has converted and added would take more registers than there are. */
template <typename T> static __device__ __forceinline__ void twi_hide(T &value, uint32_t zero)
{
    uint32_t words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (size_t i = 0; i < sizeof words / 4; i++)
        words[i] ^= zero;
    memcpy(&value, words, sizeof(T));
}

/* The sum of each lane's value and all before it: the scheme of Hillis and Steele. */
template <typename A> static __device__ __forceinline__ A twi_through_lane(A value)
{
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const A more = __shfl_up_sync(~0u, value, distance);
        if (lane >= distance)
            value = more + value;
    }
    return value;
}

/* What lies before each lane, from that. */
template <typename A> static __device__ __forceinline__ A twi_earlier_lane(A through)
{
    const A before = __shfl_up_sync(~0u, through, 1);
    return threadIdx.x % 32 == 0 ? (A)0 : before;
}

/* What lies before each lane's value and, as *total, the sum of all. */
template <typename A> static __device__ __forceinline__ A twi_before_lane(A value, A *total)
{
    const A through = twi_through_lane(value);
    *total = __shfl_sync(~0u, through, 31);
    return twi_earlier_lane(through);
}

/* A step of adding up COUNT values of each lane over the warp: of two a lane keeps one, and gives the other away to the
   lane at the DISTANCE. */
template <int COUNT, int DISTANCE, typename A> static __device__ __forceinline__ void twi_fold(A *values)
{
    const bool upper = (threadIdx.x & DISTANCE) != 0;
#pragma unroll
    for (int j = 0; j < COUNT / 2; j++) {
        const A given = upper ? values[2 * j] : values[2 * j + 1];
        const A kept = upper ? values[2 * j + 1] : values[2 * j];
        values[j] = kept + __shfl_xor_sync(~0u, given, DISTANCE);
    }
}

/* The sums r of a quad. */
template <typename A> static __device__ __forceinline__ void twi_scan_quad(A (&r)[4])
{
    r[1] = r[0] + r[1];
    r[3] = r[1] + (r[2] + r[3]);
    r[2] = r[1] + r[2];
}

#endif
