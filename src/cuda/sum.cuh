/*
 * Device code that correlate, sepconv and gaussian share: weighted sums in the types that hold them, and how a sum
 * becomes an element. What decides a result is exact.h's and follows the references (ops/convolve.c).
 */
#ifndef TWI_SUM_CUH
#define TWI_SUM_CUH

#include "core/wide.h"
#include "cuda/element.cuh"

/* For each type of sums: what a mask's value and a pixel are converted to. */
template <typename S> struct twi_terms {
    typedef int32_t Mask;
    typedef int32_t Pixel;
};
template <> struct twi_terms<float> {
    typedef float Mask;
    typedef float Pixel;
};
template <> struct twi_terms<double> {
    typedef double Mask;
    typedef double Pixel;
};

/* sum + mask * value */
template <typename S, typename V> static __device__ __forceinline__ S twi_multiply_add(S sum, int32_t mask, V value)
{
    return sum + (S)mask * value;
}
template <>
__device__ __forceinline__ twi_i128 twi_multiply_add<twi_i128, int32_t>(twi_i128 sum, int32_t mask, int32_t value)
{
    return sum + (int64_t)mask * value; /* the product fits in 64 bits */
}
/* In one multiplication: left to itself, the compiler extends the mask first and multiplies three times. */
static __device__ __forceinline__ int64_t twi_multiply_add(int64_t sum, int32_t mask, int32_t value)
{
    int64_t result;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(result) : "r"(mask), "r"(value), "l"(sum));
    return result;
}
static __device__ __forceinline__ float twi_multiply_add(float sum, float mask, float value)
{
    return __builtin_fmaf(mask, value, sum);
}
static __device__ __forceinline__ double twi_multiply_add(double sum, double mask, double value)
{
    return __builtin_fma(mask, value, sum);
}

/* The sum of mask(k) * at(i, j) in row-major order, k counting the positions: of SIDE x SIDE, unrolled; and of any
   window, with SMALL 3x3 and 5x5 unrolled, which is for an at() of few instructions. */
template <typename S, int SIDE, typename Mask, typename At>
static __device__ __forceinline__ S twi_sum_square(Mask mask, At at)
{
    S sum = 0;
#pragma unroll
    for (int32_t k = 0; k < SIDE * SIDE; k++)
        sum = twi_multiply_add(sum, mask(k), (typename twi_terms<S>::Pixel)at(k % SIDE, k / SIDE));
    return sum;
}

template <typename S, bool SMALL, typename Mask, typename At>
static __device__ __forceinline__ S twi_sum_mask(const twi_cuda_box &box, Mask mask, At at)
{
    S sum = 0;
    int32_t k = 0;
    if (SMALL && sizeof(S) == 4 && box.window_width == 5 && box.window_height == 5)
        return twi_sum_square<S, 5>(mask, at);
    if (SMALL && sizeof(S) == 4 && box.window_width == 3 && box.window_height == 3)
        return twi_sum_square<S, 3>(mask, at);
    for (int32_t j = 0; j < box.window_height; j++)
        for (int32_t i = 0; i < box.window_width; i++)
            sum = twi_multiply_add(sum, mask(k++), (typename twi_terms<S>::Pixel)at(i, j));
    return sum;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* twi_quotient() in 32 or 64 bits, for sums that leave room for half a divisor (twi_cuda_sum_of() sees to it). */
template <typename S> static __device__ __forceinline__ S twi_quotient_narrow(S sum, S divisor, int nearest)
{
    const S by = divisor < 0 ? -divisor : divisor;
    if (by == 1)
        return sum * divisor;
    if (divisor < 0)
        sum = -sum;
    if (nearest)
        sum += by / 2;
    const S quotient = sum / by;
    return sum < quotient * by ? quotient - 1 : quotient;
}

static __device__ __forceinline__ int64_t twi_saturate_narrow(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static __device__ __forceinline__ void twi_store_integer(void *row, int64_t element, int32_t type, int64_t value)
{
    switch (type) {
    case TWI_CUDA_U8:
        ((uint8_t *)row)[element] = (uint8_t)twi_saturate_narrow(value, 0, UINT8_MAX);
        break;
    case TWI_CUDA_U16:
        ((uint16_t *)row)[element] = (uint16_t)twi_saturate_narrow(value, 0, UINT16_MAX);
        break;
    case TWI_CUDA_I16:
        ((int16_t *)row)[element] = (int16_t)twi_saturate_narrow(value, INT16_MIN, INT16_MAX);
        break;
    case TWI_CUDA_I32:
        ((int32_t *)row)[element] = (int32_t)twi_saturate_narrow(value, INT32_MIN, INT32_MAX);
        break;
    case TWI_CUDA_F32:
        ((float *)row)[element] = (float)value;
        break;
    default:
        ((double *)row)[element] = (double)value;
        break;
    }
}

static __device__ __forceinline__ void twi_store_float(void *row, int64_t element, int32_t type, double value)
{
    switch (type) {
    case TWI_CUDA_U8:
        ((uint8_t *)row)[element] = (uint8_t)twi_round_even(value, 0, UINT8_MAX);
        break;
    case TWI_CUDA_U16:
        ((uint16_t *)row)[element] = (uint16_t)twi_round_even(value, 0, UINT16_MAX);
        break;
    case TWI_CUDA_I16:
        ((int16_t *)row)[element] = (int16_t)twi_round_even(value, INT16_MIN, INT16_MAX);
        break;
    case TWI_CUDA_I32:
        ((int32_t *)row)[element] = (int32_t)twi_round_even(value, INT32_MIN, INT32_MAX);
        break;
    case TWI_CUDA_F32:
        ((float *)row)[element] = twi_canonical_f32((float)value);
        break;
    default:
        ((double *)row)[element] = twi_canonical_f64(value);
        break;
    }
}

/* Divides, unless by 1, which takes longer than small sums; adds the offset, saturates and writes. */
template <typename S>
static __device__ __forceinline__ void twi_finish(const twi_cuda_box &box, const twi_cuda_scale &scale, void *row,
                                                  int64_t element, S sum)
{
    const int64_t quotient = twi_quotient_narrow<S>(sum, (S)scale.divisor, box.nearest);
    twi_store_integer(row, element, scale.out_type, quotient + scale.offset);
}
template <>
__device__ __forceinline__ void twi_finish<twi_i128>(const twi_cuda_box &box, const twi_cuda_scale &scale, void *row,
                                                     int64_t element, twi_i128 sum)
{
    const twi_i128 value = twi_quotient(sum, scale.divisor, box.nearest) + scale.offset;
    if (scale.out_type == TWI_CUDA_F32)
        ((float *)row)[element] = twi_f32_of_wide(value);
    else if (scale.out_type == TWI_CUDA_F64)
        ((double *)row)[element] = twi_f64_of_wide(value);
    else
        twi_store_integer(row, element, scale.out_type, twi_saturate(value, INT64_MIN, INT64_MAX));
}
template <>
__device__ __forceinline__ void twi_finish<float>(const twi_cuda_box &, const twi_cuda_scale &scale, void *row,
                                                  int64_t element, float sum)
{
    const float divisor = (float)scale.float_divisor;
    const float value = (divisor == 1 ? sum : sum / divisor) + (float)scale.float_offset;
    if (scale.out_type == TWI_CUDA_F32)
        ((float *)row)[element] = twi_canonical_f32(value);
    else
        twi_store_float(row, element, scale.out_type, (double)value);
}
template <>
__device__ __forceinline__ void twi_finish<double>(const twi_cuda_box &, const twi_cuda_scale &scale, void *row,
                                                   int64_t element, double sum)
{
    const double quotient = scale.float_divisor == 1 ? sum : sum / scale.float_divisor;
    twi_store_float(row, element, scale.out_type, quotient + scale.float_offset);
}

/* The same for the thread's output. */
template <typename S>
static __device__ __forceinline__ void twi_write_sum(const twi_cuda_box &box, const twi_cuda_scale &scale,
                                                     const twi_output &out, S sum)
{
    twi_finish<S>(box, scale, (char *)box.dst + out.y * box.dst_pitch, out.element, sum);
}

#endif
