/*
 * lut, the variants to learn from: where the table lies. Constant memory hands one word a cycle to all lanes of a warp
 * that ask for it, and serves different words one after the other. Global memory is read through the cache, in
 * sectors of 32 bytes, with or without the promise that nobody writes it (readonly). Shared memory serves 32 banks at
 * a time, whatever the words.
 */
#include "cuda/cuda.h"
#include "cuda/lut_kernels.h"

/* The row of src that holds the element, and of dst. */
template <typename T> static __device__ __forceinline__ const T *source_row(const twi_cuda_lut &lut, int64_t y)
{
    return (const T *)((const char *)lut.src + y * lut.src_pitch);
}

template <typename E> static __device__ __forceinline__ E *output_row(const twi_cuda_lut &lut, int64_t y)
{
    return (E *)((char *)lut.dst + y * lut.dst_pitch);
}

/* Where the table of the element's channel begins, in entries. */
template <typename T> static __device__ __forceinline__ int32_t table_of(const twi_cuda_lut &lut, int64_t element)
{
    return (int32_t)(element % lut.table_channels) << 8 * sizeof(T);
}

/* One element a thread; `entry` reads the table. */
template <typename T, typename E, typename Entry>
static __device__ __forceinline__ void look_up(const twi_cuda_lut &lut, Entry entry)
{
    const int64_t x = lut.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = lut.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x < lut.columns && y < lut.rows)
        output_row<E>(lut, y)[x] = entry(table_of<T>(lut, x) + source_row<T>(lut, y)[x]);
}

template <typename T, typename E>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1)
    lut_constant(const __grid_constant__ twi_cuda_lut_constant argument)
{
    look_up<T, E>(argument.lut, [&](int32_t i) { return ((const E *)argument.table)[i]; });
}

template <typename T, typename E>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) lut_global(const twi_cuda_lut lut)
{
    look_up<T, E>(lut, [&](int32_t i) { return ((const E *)lut.table)[i]; });
}

template <typename T, typename E>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) lut_readonly(const twi_cuda_lut lut)
{
    look_up<T, E>(lut, [&](int32_t i) { return __ldg((const E *)lut.table + i); });
}

template <typename T, typename E>
static __global__ void __launch_bounds__(TWI_CUDA_LUT_WIDTH *TWI_CUDA_LUT_HEIGHT) lut_shared(const twi_cuda_lut lut)
{
    extern __shared__ __align__(16) char shared[];
    const int threads = TWI_CUDA_LUT_WIDTH * TWI_CUDA_LUT_HEIGHT;
    const int pieces = lut.table_channels * (int)(sizeof(E) << 8 * sizeof(T)) / (int)sizeof(uint4);
    for (int i = (int)(threadIdx.y * blockDim.x + threadIdx.x); i < pieces; i += threads)
        ((uint4 *)shared)[i] = ((const uint4 *)lut.table)[i];
    __syncthreads();
    const int64_t x = lut.left + (int64_t)blockIdx.x * TWI_CUDA_LUT_WIDTH + threadIdx.x;
    const int64_t top = lut.first + (int64_t)blockIdx.y * TWI_CUDA_LUT_ROWS;
    const int64_t bottom = min(top + TWI_CUDA_LUT_ROWS, lut.rows);
    if (x >= lut.columns)
        return;
    const E *const table = (const E *)shared + table_of<T>(lut, x);
#pragma unroll 4
    for (int64_t y = top + threadIdx.y; y < bottom; y += TWI_CUDA_LUT_HEIGHT)
        output_row<E>(lut, y)[x] = table[source_row<T>(lut, y)[x]];
}

/* Entries are moved as bits. */
#define TABLE(KERNEL)                                                                                                  \
    {                                                                                                                  \
        {(const void *)KERNEL<uint8_t, uint8_t>, (const void *)KERNEL<uint8_t, uint16_t>,                              \
         (const void *)KERNEL<uint8_t, uint32_t>, (const void *)KERNEL<uint8_t, uint64_t>},                            \
        {                                                                                                              \
            (const void *)KERNEL<uint16_t, uint8_t>, (const void *)KERNEL<uint16_t, uint16_t>,                         \
                (const void *)KERNEL<uint16_t, uint32_t>, (const void *)KERNEL<uint16_t, uint64_t>                     \
        }                                                                                                              \
    }
extern "C" const void *const twi_cuda_lut_constant_kernels[2][TWI_CUDA_ENTRIES] = TABLE(lut_constant);
extern "C" const void *const twi_cuda_lut_global[2][TWI_CUDA_ENTRIES] = TABLE(lut_global);
extern "C" const void *const twi_cuda_lut_readonly[2][TWI_CUDA_ENTRIES] = TABLE(lut_readonly);
extern "C" const void *const twi_cuda_lut_shared[2][TWI_CUDA_ENTRIES] = TABLE(lut_shared);
