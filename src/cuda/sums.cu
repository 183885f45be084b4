/* What lies before a part is added to its running sums of integers. */
#include "cuda/cuda.h"

/* A thread an element. */
template <typename T> static __global__ void add_row(const twi_cuda_addition argument)
{
    const int64_t element = argument.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = argument.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (element < argument.columns && y < argument.rows)
        ((T *)((char *)argument.dst + y * argument.dst_pitch))[element] += (T)argument.row[element];
}

extern "C" const void *const twi_cuda_addition_kernels[TWI_CUDA_ADDITIONS] = {
    (const void *)add_row<uint32_t>,
    (const void *)add_row<uint64_t>,
    (const void *)add_row<double>,
};
