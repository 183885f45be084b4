/* f64 sums in the order of core/exact.h: of leaves by warps, of groups of a column by threads. */
#include "cuda/reduce.cuh"

template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(32 * TWI_CUDA_LEAF_WARPS, 4) leaf(twi_cuda_leaves a)
{
    __shared__ double sums[TWI_CUDA_LEAF_WARPS];
    const int warp = threadIdx.x / TWI_WARP;
    const int64_t item = a.left + (int64_t)blockIdx.x * TWI_CUDA_LEAF_WARPS + warp;
    const int64_t channel = a.first + blockIdx.y;
    if (item < a.leaves * a.plane.height) {
        const int64_t y = item / a.leaves;
        const int64_t x = item % a.leaves * TWI_LEAF;
        const int64_t n = a.plane.width - x < TWI_LEAF ? a.plane.width - x : TWI_LEAF;
        const T *row = (const T *)((const char *)a.plane.src + y * a.plane.pitch) + channel;
        const double mean = SQUARES ? a.means[channel * a.records + y * a.record_step] : 0;
        const double sum =
            twi_leaf_sum<T, SQUARES>(row + x * a.plane.channels, n, a.plane.channels, a.plane.vectors != 0, mean);
        if (threadIdx.x % TWI_WARP == 0)
            sums[warp] = sum;
    }
    __syncthreads();
    /* the leaves of a row that are one block's are lanes again */
    const int64_t first = item - warp + threadIdx.x * a.together;
    if (threadIdx.x * a.together >= TWI_CUDA_LEAF_WARPS || first >= a.leaves * a.plane.height)
        return;
    double *lanes = sums + threadIdx.x * a.together;
    for (int half = a.together / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    a.sums[channel * a.total + first / a.together] = lanes[0];
}

/* A thread an element: column and channel; a row of the grid for each group of rows. */
template <typename T, bool SQUARES> static __global__ void columns(twi_cuda_leaves a)
{
    const int64_t elements = a.plane.width * a.plane.channels;
    const int64_t element = a.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t group = a.first + blockIdx.y;
    if (element >= elements)
        return;
    const int64_t top = group * TWI_GROUP;
    const int rows = a.plane.height - top < TWI_GROUP ? (int)(a.plane.height - top) : TWI_GROUP;
    const char *at = (const char *)a.plane.src + top * a.plane.pitch + element * (int64_t)sizeof(T);
    double mean = 0;
    double sum = 0;
    if (SQUARES)
        mean = a.means[element % a.plane.channels * a.records + element / a.plane.channels];
    for (int y = 0; y < rows; y++)
        sum += twi_term<SQUARES>((double)*(const T *)(at + y * a.plane.pitch), mean);
    a.sums[group * elements + element] = sum;
}

#define KERNELS(NAME, T)                                                                                               \
    {                                                                                                                  \
        (const void *)NAME<T, false>, (const void *)NAME<T, true>                                                      \
    }
#define ALL_TYPES(NAME)                                                                                                \
    {                                                                                                                  \
        KERNELS(NAME, uint8_t), KERNELS(NAME, uint16_t), KERNELS(NAME, int16_t), KERNELS(NAME, int32_t),               \
            KERNELS(NAME, float), KERNELS(NAME, double)                                                                \
    }
const void *const twi_cuda_reduce_leaf[6][2] = ALL_TYPES(leaf);
const void *const twi_cuda_reduce_columns[6][2] = ALL_TYPES(columns);
