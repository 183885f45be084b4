/* Device code that the kernels of correlate share: where the mask lies, and the table of kernels. */
#ifndef TWI_CORRELATE_CUH
#define TWI_CORRELATE_CUH

#include "cuda/sum.cuh"

/* The two arguments of kernels, one like the other. */
static __device__ __forceinline__ const twi_cuda_correlate &twi_filter(const twi_cuda_correlate &argument)
{
    return argument;
}
static __device__ __forceinline__ const twi_cuda_correlate &twi_filter(const twi_cuda_correlate_constant &argument)
{
    return argument.filter;
}

/* Value k of the mask, in the type of the third argument: from the kernel's argument, or, through the read-only
   path, from global memory. */
static __device__ __forceinline__ int32_t twi_mask(const twi_cuda_correlate_constant &argument, int32_t k, int32_t)
{
    return argument.mask.integers[k];
}
static __device__ __forceinline__ float twi_mask(const twi_cuda_correlate_constant &argument, int32_t k, float)
{
    return argument.mask.floats[k];
}
static __device__ __forceinline__ double twi_mask(const twi_cuda_correlate_constant &argument, int32_t k, double)
{
    return argument.mask.doubles[k];
}
template <typename M> static __device__ __forceinline__ M twi_mask(const twi_cuda_correlate &argument, int32_t k, M)
{
    return __ldg((const M *)argument.mask + k);
}

/* The window's sum; at(i, j) is the element in its column i, row j. SMALL: see twi_sum_mask. */
template <typename S, bool SMALL, typename Argument, typename At>
static __device__ __forceinline__ S twi_correlate(const Argument &argument, At at)
{
    typedef typename twi_terms<S>::Mask Mask;
    return twi_sum_mask<S, SMALL>(
        twi_filter(argument).box, [&](int32_t k) { return twi_mask(argument, k, Mask()); }, at);
}

/* Kernels for the types of elements and sums; integers of 16 bits or less never need 128. `f64` is
   that for f64 pixels. */
#define TWI_CORRELATE_TABLE(kernel, Argument, f64)                                                                     \
    {                                                                                                                  \
        {(const void *)kernel<uint8_t, int32_t, Argument>, (const void *)kernel<uint8_t, int64_t, Argument>, NULL,     \
         (const void *)kernel<uint8_t, float, Argument>, NULL},                                                        \
            {(const void *)kernel<uint16_t, int32_t, Argument>, (const void *)kernel<uint16_t, int64_t, Argument>,     \
             NULL, (const void *)kernel<uint16_t, float, Argument>, NULL},                                             \
            {(const void *)kernel<int16_t, int32_t, Argument>, (const void *)kernel<int16_t, int64_t, Argument>, NULL, \
             (const void *)kernel<int16_t, float, Argument>, NULL},                                                    \
            {(const void *)kernel<int32_t, int32_t, Argument>, (const void *)kernel<int32_t, int64_t, Argument>,       \
             (const void *)kernel<int32_t, twi_i128, Argument>, (const void *)kernel<int32_t, float, Argument>, NULL}, \
            {NULL, NULL, NULL, (const void *)kernel<float, float, Argument>, NULL}, {NULL, NULL, NULL, NULL, f64},     \
    }

#endif
