/*
 * Sums by blocks that make a leaf each, a thread a lane (core/exact.h), to see what folding the lanes costs where they
 * lie in global memory, in shared memory or in registers. The order of the additions is the same for all.
 */
#include "cuda/reduce.cuh"

/* The bits of a lane's number, turned round: lanes 64 apart become neighbours, those 32 apart lie two apart, ... */
static __device__ __forceinline__ int turned(int lane)
{
    return (int)(__brev((unsigned)lane) >> 25);
}

/* Global memory, pairs of neighbours, then of every second, ...: the threads that work are spread over all warps. */
template <typename A> static __device__ __forceinline__ A fold_neighboured(A value, A *lanes)
{
    lanes[turned(threadIdx.x)] = value;
    for (int distance = 1; distance < TWI_LANES; distance *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * distance) == 0)
            lanes[threadIdx.x] += lanes[threadIdx.x + distance];
    }
    return lanes[0];
}

/* Memory, the upper half added to the lower: the threads that work are the first ones, whole warps of them. */
template <typename A> static __device__ __forceinline__ A fold_halves(A value, A *lanes)
{
    lanes[threadIdx.x] = value;
    for (int half = TWI_LANES / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            lanes[threadIdx.x] += lanes[threadIdx.x + half];
    }
    return lanes[0];
}

/* Shared memory, every step written out; below a warp there is nobody else to wait for. */
template <typename A> static __device__ __forceinline__ A fold_unrolled(A value, A *lanes)
{
    lanes[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x < 64)
        lanes[threadIdx.x] += lanes[threadIdx.x + 64];
    __syncthreads();
    if (threadIdx.x >= TWI_WARP)
        return value;
    value = lanes[threadIdx.x] + lanes[threadIdx.x + 32];
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        lanes[threadIdx.x] = value;
        __syncwarp();
        value += lanes[threadIdx.x + half];
        __syncwarp();
    }
    return value;
}

/* Registers: a warp holds every fourth lane, so that shuffles fold distances of 64 to 4; the last two steps take one
   value a warp through shared memory. */
template <typename A> static __device__ __forceinline__ A fold_shuffled(A value, A *lanes)
{
    const int warp = threadIdx.x / TWI_WARP;
    for (int distance = TWI_WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(TWI_ALL_LANES, value, distance);
    if (threadIdx.x % TWI_WARP == 0)
        lanes[warp] = value;
    __syncthreads();
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

template <int FOLD, typename T, typename A> static __global__ void __launch_bounds__(TWI_LANES) fold(twi_cuda_fold a)
{
    __shared__ A shared[FOLD < TWI_CUDA_SHARED ? 1 : FOLD == TWI_CUDA_SHUFFLE ? TWI_LANES / TWI_WARP : TWI_LANES];
    const int64_t item = a.left + blockIdx.x;
    const int64_t channel = a.first + blockIdx.y;
    const int64_t start = item % a.items * TWI_LEAF;
    const int n = a.plane.width - start < TWI_LEAF ? (int)(a.plane.width - start) : TWI_LEAF;
    const T *at =
        (const T *)((const char *)a.plane.src + item / a.items * a.plane.pitch) + start * a.plane.channels + channel;
    const int lane =
        FOLD == TWI_CUDA_SHUFFLE ? (int)threadIdx.x % TWI_WARP * 4 + (int)threadIdx.x / TWI_WARP : (int)threadIdx.x;
    A *lanes = FOLD < TWI_CUDA_SHARED ? (A *)a.lanes + (channel * a.total + item) * TWI_LANES : shared;
    A value = 0;
    for (int i = lane; i < n; i += TWI_LANES)
        value += (A)at[(int64_t)i * a.plane.channels];
    if (FOLD == TWI_CUDA_NEIGHBOURED)
        value = fold_neighboured(value, lanes);
    else if (FOLD == TWI_CUDA_UNROLLED)
        value = fold_unrolled(value, lanes);
    else if (FOLD == TWI_CUDA_SHUFFLE)
        value = fold_shuffled(value, lanes);
    else
        value = fold_halves(value, lanes);
    if (threadIdx.x == 0)
        ((A *)a.sums)[channel * a.total + item] = value;
}

/* The sums of whole images become records, a thread each. */
template <typename A> static __global__ void make_records(const __grid_constant__ twi_cuda_fold a)
{
    const int64_t channel = a.left + blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    twi_stats stats = {};
    if (channel >= a.record.channels)
        return;
    const A sum = ((const A *)a.sums)[channel];
    twi_put_sum(&stats, sum);
    twi_put_record<TWI_CUDA_SUM>(a.record, stats, 0, 0, channel);
}

#define PIXELS(FOLD)                                                                                                   \
    {                                                                                                                  \
        (const void *)fold<FOLD, uint8_t, int64_t>, (const void *)fold<FOLD, uint16_t, int64_t>,                       \
            (const void *)fold<FOLD, int16_t, int64_t>, (const void *)fold<FOLD, int32_t, int64_t>,                    \
            (const void *)fold<FOLD, float, double>, (const void *)fold<FOLD, double, double>                          \
    }
#define SUMS(FOLD)                                                                                                     \
    {                                                                                                                  \
        (const void *)fold<FOLD, int64_t, int64_t>, (const void *)fold<FOLD, double, double>                           \
    }
const void *const twi_cuda_reduce_fold[TWI_CUDA_FOLDS][6] = {PIXELS(0), PIXELS(1), PIXELS(2), PIXELS(3), PIXELS(4)};
const void *const twi_cuda_reduce_fold_sums[TWI_CUDA_FOLDS][2] = {SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4)};
const void *const twi_cuda_reduce_fold_record[2] = {(const void *)make_records<int64_t>,
                                                    (const void *)make_records<double>};
