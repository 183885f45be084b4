/* dst = a - b, saturated: the last step of gradient, tophat and blackhat. */
#include "core/exact.h"
#include "cuda/cuda.h"

static __device__ __forceinline__ uint8_t minus(uint8_t a, uint8_t b)
{
    return a < b ? 0 : (uint8_t)(a - b);
}
static __device__ __forceinline__ uint16_t minus(uint16_t a, uint16_t b)
{
    return a < b ? 0 : (uint16_t)(a - b);
}
static __device__ __forceinline__ int16_t minus(int16_t a, int16_t b)
{
    const int32_t difference = (int32_t)a - b;
    return (int16_t)(difference < INT16_MIN ? INT16_MIN : difference > INT16_MAX ? INT16_MAX : difference);
}
static __device__ __forceinline__ int32_t minus(int32_t a, int32_t b)
{
    const int64_t difference = (int64_t)a - b;
    return (int32_t)(difference < INT32_MIN ? INT32_MIN : difference > INT32_MAX ? INT32_MAX : difference);
}
static __device__ __forceinline__ float minus(float a, float b)
{
    return twi_canonical_f32(a - b);
}
static __device__ __forceinline__ double minus(double a, double b)
{
    return twi_canonical_f64(a - b);
}

/* A thread an element. dst may be a or b: each element is read by the thread alone that writes it. */
template <typename T> static __global__ void subtract(const twi_cuda_subtract argument)
{
    const int64_t element = argument.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = argument.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (element >= argument.columns || y >= argument.rows)
        return;
    const T a = ((const T *)((const char *)argument.a + y * argument.a_pitch))[element];
    const T b = ((const T *)((const char *)argument.b + y * argument.b_pitch))[element];
    ((T *)((char *)argument.dst + y * argument.dst_pitch))[element] = minus(a, b);
}

extern "C" const void *const twi_cuda_subtract_kernels[TWI_CUDA_TYPES] = {
    (const void *)subtract<uint8_t>, (const void *)subtract<uint16_t>, (const void *)subtract<int16_t>,
    (const void *)subtract<int32_t>, (const void *)subtract<float>,    (const void *)subtract<double>,
};
