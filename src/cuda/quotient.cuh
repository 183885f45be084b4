/* How the fast kernels of correlate turn sums into elements: no division, several outputs in a word at a time. */
#ifndef TWI_QUOTIENT_CUH
#define TWI_QUOTIENT_CUH

#include "core/exact.h"
#include "cuda/cuda.h"

#define TWI_DEVICE static __device__ __forceinline__

/* floor(sum / divisor) + offset. What the sum started with has made it positive, and brought half a divisor along. */
template <int DIVISION> TWI_DEVICE int32_t quotient(const twi_cuda_quotient &by, int32_t sum)
{
    if constexpr (DIVISION == TWI_CUDA_FLOAT) /* below 2^23: the last bits of a float, before and after */
        return __float_as_int(__fmaf_rd(__int_as_float(sum) - 0x1p23f, by.reciprocal, 0x1p23f)) + by.add;
    else if constexpr (DIVISION == TWI_CUDA_MULTIPLY)
        return (int32_t)(__umulhi((uint32_t)sum, by.multiplier) >> by.shift) + by.add;
    else
        return sum;
}

/* `count` values, saturated, as the words that they are in memory. */
template <typename T, int COUNT> TWI_DEVICE void pack(const int32_t *values, uint32_t *words)
{
    if constexpr (sizeof(T) == 1) {
#pragma unroll
        for (int k = 0; k < COUNT / 4; k++) {
            uint32_t upper;
            asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;"
                : "=r"(upper)
                : "r"(values[4 * k + 3]), "r"(values[4 * k + 2]), "r"(0));
            asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;"
                : "=r"(words[k])
                : "r"(values[4 * k + 1]), "r"(values[4 * k]), "r"(upper));
        }
    } else if constexpr (sizeof(T) == 2) {
#pragma unroll
        for (int k = 0; k < COUNT / 2; k++) {
            if constexpr ((T)-1 < (T)0)
                asm("cvt.pack.sat.s16.s32 %0,%1,%2;" : "=r"(words[k]) : "r"(values[2 * k + 1]), "r"(values[2 * k]));
            else
                asm("cvt.pack.sat.u16.s32 %0,%1,%2;" : "=r"(words[k]) : "r"(values[2 * k + 1]), "r"(values[2 * k]));
        }
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            words[k] = (T)0.5 == (T)0 ? (uint32_t)values[k] : __float_as_uint((float)values[k]);
    }
}

template <typename T, int COUNT, int DIVISION>
TWI_DEVICE void finish_by(const twi_cuda_quotient &by, const int32_t *sums, uint32_t *words)
{
    int32_t values[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        values[i] = quotient<DIVISION>(by, sums[i]);
    pack<T, COUNT>(values, words);
}

/* Sums to elements. The branch is the same for all threads. */
template <typename T, int COUNT>
TWI_DEVICE void finish(const twi_cuda_quotient &by, const int32_t *sums, uint32_t *words)
{
    if (by.division == TWI_CUDA_WHOLE)
        finish_by<T, COUNT, TWI_CUDA_WHOLE>(by, sums, words);
    else if (by.division == TWI_CUDA_FLOAT)
        finish_by<T, COUNT, TWI_CUDA_FLOAT>(by, sums, words);
    else
        finish_by<T, COUNT, TWI_CUDA_MULTIPLY>(by, sums, words);
}

#endif
