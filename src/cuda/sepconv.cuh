/*
 * What the kernels of sepconv and gaussian share: the sums of sum.cuh, and beside them the fixed point of a gaussian
 * on u8: weights of 16 fractional bits, sums along rows rounded to 8.8 bits.
 */
#ifndef TWI_CUDA_SEPCONV_CUH
#define TWI_CUDA_SEPCONV_CUH

#include "cuda/sum.cuh"

/* For each type of sums: where they start, along and down, what is kept of one along, and what comes of one down. */
template <typename S> struct passes {
    typedef S Line;
    static __device__ __forceinline__ S begin_along()
    {
        return 0;
    }
    static __device__ __forceinline__ S begin_down()
    {
        return 0;
    }
    static __device__ __forceinline__ Line keep(S sum)
    {
        return sum;
    }
    static __device__ __forceinline__ void finish(const twi_cuda_box &box, const twi_cuda_scale &scale, void *row,
                                                  int64_t element, S sum)
    {
        twi_finish<S>(box, scale, row, element, sum);
    }
};
template <> struct passes<uint32_t> {
    typedef uint16_t Line;
    static __device__ __forceinline__ uint32_t begin_along()
    {
        return 1u << 7;
    }
    static __device__ __forceinline__ uint32_t begin_down()
    {
        return 1u << 23;
    }
    static __device__ __forceinline__ Line keep(uint32_t sum)
    {
        return (Line)(sum >> 8);
    }
    static __device__ __forceinline__ void finish(const twi_cuda_box &, const twi_cuda_scale &, void *row,
                                                  int64_t element, uint32_t sum)
    {
        ((uint8_t *)row)[element] = (uint8_t)(sum >> 24);
    }
};

#endif
