/*
 * histogram, the variants to learn from. Many threads count in one table, by atomic additions.
 *   global   the table lies in global memory: additions of all blocks to one counter queue up in the L2 cache
 *   shared   a block has a table of its own, and adds to the one in global memory what it has counted at the end. Of
 *            lanes that add 1 to the same word the hardware counts how many they are; where it cannot know that it is
 *            1, as for words, they take turns
 */
#include "cuda/cuda.h"
#include "cuda/histogram_kernels.h"

static __device__ __forceinline__ void add(const twi_cuda_count &h, uint32_t value, int32_t channel, uint32_t count)
{
    atomicAdd((unsigned long long *)&h.counts[(int64_t)value * h.channels + channel], (unsigned long long)count);
}

template <typename T> static __device__ __forceinline__ const T *row_of(const twi_cuda_count &h, int64_t y)
{
    return (const T *)((const char *)h.src + y * h.src_pitch);
}

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) histogram_global(const twi_cuda_count h)
{
    const int64_t x = h.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = h.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x < h.width * h.channels && y < h.rows)
        add(h, row_of<T>(h, y)[x], (int32_t)(x % h.channels), 1);
}

/* 65536 counters of 32 bits have no room in shared memory: those of words lie in pairs. No block has so many pixels
   that 16 bits would not hold their number. */
template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_COUNT_WIDTH *TWI_CUDA_COUNT_HEIGHT)
    histogram_shared(const twi_cuda_count h)
{
    extern __shared__ __align__(16) uint32_t table[];
    const int values = 1 << 8 * sizeof(T);
    const int together = (int)sizeof(T); /* counters of a word */
    const int threads = TWI_CUDA_COUNT_WIDTH * TWI_CUDA_COUNT_HEIGHT;
    const int thread = (int)(threadIdx.y * TWI_CUDA_COUNT_WIDTH + threadIdx.x);
    const int64_t block = h.left + blockIdx.x;
    const int32_t channel = (int32_t)(block % h.channels);
    const int64_t x = block / h.channels * TWI_CUDA_COUNT_WIDTH + threadIdx.x;
    const int64_t top = h.first + (int64_t)blockIdx.y * TWI_CUDA_COUNT_ROWS;
    const int64_t bottom = min(top + TWI_CUDA_COUNT_ROWS, h.rows);
    for (int i = thread; i < values / together; i += threads)
        table[i] = 0;
    __syncthreads();
#pragma unroll 4
    for (int64_t y = top + threadIdx.y; y < bottom && x < h.width; y += TWI_CUDA_COUNT_HEIGHT) {
        const uint32_t value = row_of<T>(h, y)[x * h.channels + channel];
        atomicAdd(&table[value / together], 1u << value % together * 16);
    }
    __syncthreads();
    for (int i = thread; i < values; i += threads) {
        const uint32_t count = table[i / together] >> i % together * 16 & 0xffffu;
        if (count > 0)
            add(h, (uint32_t)i, channel, count);
    }
}

extern "C" const void *const twi_cuda_histogram_global[2] = {(const void *)histogram_global<uint8_t>,
                                                             (const void *)histogram_global<uint16_t>};
extern "C" const void *const twi_cuda_histogram_shared[2] = {(const void *)histogram_shared<uint8_t>,
                                                             (const void *)histogram_shared<uint16_t>};
