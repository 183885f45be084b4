/* Copies: of memory as it lies, with which every figure is compared, and of rows of other devices. */
#include "cuda/cuda.h"

/* 16 bytes a thread, in memory order. */
static __global__ void copy(const uint4 *src, uint4 *dst, uint64_t bytes)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t begin = i * sizeof(uint4);
    if (begin + sizeof(uint4) <= bytes) {
        dst[i] = src[i];
    } else { /* the last, incomplete piece */
        for (uint64_t at = begin; at < bytes; at++)
            ((uint8_t *)dst)[at] = ((const uint8_t *)src)[at];
    }
}

extern "C" const void *const twi_cuda_copy_kernel = (const void *)copy;

static __global__ void fetch(const twi_cuda_fetches fetches)
{
    const twi_cuda_fetch &f = fetches.list[blockIdx.y];
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t y = i / f.vectors;
    const uint32_t begin = (i - y * f.vectors) * (uint32_t)sizeof(uint4);
    const char *from = (const char *)f.from + y * f.from_pitch;
    char *to = (char *)f.to + y * f.to_pitch;
    if (y >= f.rows)
        return;
    if (begin + sizeof(uint4) <= f.bytes) {
        *(uint4 *)(to + begin) = *(const uint4 *)(from + begin);
    } else {
        for (uint32_t at = begin; at < f.bytes; at++)
            to[at] = from[at];
    }
}

extern "C" const void *const twi_cuda_fetch_kernel = (const void *)fetch;
