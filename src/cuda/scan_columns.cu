/*
 * scan down columns, in one pass over memory: a block marches down 32 columns. Each of its warps holds a group of
 * TWI_GROUP rows in registers; what lies before the groups goes through shared memory.
 */
#include "cuda/scan.cuh"

enum { WARPS = TWI_CUDA_SCAN_WARPS };

template <typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 8 ? 1 : 2) scan_columns(const twi_cuda_scan scan)
{
    __shared__ A totals[2][WARPS][32];
    const int lane = (int)threadIdx.x;
    const int warp = (int)threadIdx.y;
    const int warps = (int)blockDim.y;
    const int64_t columns = scan.width * scan.channels;
    const int64_t element = scan.left + (int64_t)blockIdx.x * 32 + lane;
    const bool exists = element < columns;
    const char *const src = (const char *)scan.src + (exists ? element : columns - 1) * (int64_t)sizeof(T);
    char *const dst = (char *)scan.dst + element * (int64_t)sizeof(O);
    A groups = 0; /* before the step's first */
    int parity = 0;
    for (int64_t top = 0; top < scan.rows; top += warps * TWI_GROUP, parity ^= 1) {
        const int64_t first = top + warp * TWI_GROUP;
        const int64_t count = scan.rows - first; /* of rows, if fewer than a group */
        const char *from = src + first * scan.src_pitch;
        char *to = dst + first * scan.dst_pitch;
        T values[TWI_GROUP];
        A sum = 0;
#pragma unroll
        for (int j = 0; j < TWI_GROUP; j++) {
            values[j] = j < count ? *(const T *)from : (T)0;
            from += scan.src_pitch;
        }
#pragma unroll
        for (int j = 0; j < TWI_GROUP; j++)
            sum = sum + (A)values[j];
        totals[parity][warp][lane] = sum;
        __syncthreads();
        A before = groups;
#pragma unroll 1
        for (int i = 0; i < warps; i++) {
            before = i == warp ? groups : before;
            groups = groups + totals[parity][i][lane];
        }
        sum = 0;
#pragma unroll
        for (int j = 0; j < TWI_GROUP; j++) {
            twi_hide(values[j], scan.zero);
            const A without = before + sum;
            sum = sum + (A)values[j];
            if (exists && j < count)
                *(O *)to = twi_sum_as(O(), scan.exclusive ? without : before + sum);
            to += scan.dst_pitch;
        }
    }
}

#define KERNEL(T, O, A) (const void *)scan_columns<T, O, A>
extern "C" const void *const twi_cuda_scan_columns[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    {KERNEL(uint8_t, uint32_t, uint32_t), KERNEL(uint8_t, uint64_t, uint64_t), KERNEL(uint8_t, double, double),
     nullptr},
    {KERNEL(uint16_t, uint32_t, uint32_t), KERNEL(uint16_t, uint64_t, uint64_t), KERNEL(uint16_t, double, double),
     nullptr},
    {KERNEL(int16_t, uint32_t, uint32_t), KERNEL(int16_t, uint64_t, uint64_t), KERNEL(int16_t, double, double),
     nullptr},
    {nullptr, KERNEL(int32_t, uint64_t, uint64_t), KERNEL(int32_t, double, double), nullptr},
    {nullptr, nullptr, KERNEL(float, double, double), KERNEL(float, float, double)},
    {nullptr, nullptr, KERNEL(double, double, double), nullptr},
};
