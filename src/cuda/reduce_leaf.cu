/* f64 sums of rows and whole images in the order of core/exact.h: a block a leaf, a thread a lane. */
#include "cuda/reduce_tree.cuh"

enum { STEPS = TWI_LEAF / TWI_LANES /* values of a lane */, AT_ONCE = 8 /* of them in a shorter leaf */ };

/* A leaf of n values, `step` elements apart, to the lane's sum and to the tally. */
template <typename T, bool SQUARES, int WHAT>
static __device__ __forceinline__ double add_lane(const T *at, int n, int step, double mean, twi_tally<T, WHAT> *mine)
{
    const int thread = (int)threadIdx.x;
    double lane = 0;
    if (n == TWI_LEAF) { /* all loads before the first use */
        T values[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            values[i] = __ldg(at + (int64_t)(thread + i * TWI_LANES) * step);
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            lane += twi_term<SQUARES>((double)values[i], mean);
            mine->take(values[i]);
        }
        return lane;
    }
    for (int start = thread; start < n; start += AT_ONCE * TWI_LANES) {
        T values[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (start + k * TWI_LANES < n)
                values[k] = __ldg(at + (int64_t)(start + k * TWI_LANES) * step);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (start + k * TWI_LANES < n) {
                lane += twi_term<SQUARES>((double)values[k], mean);
                mine->take(values[k]);
            }
    }
    return lane;
}

/* WHAT: the set; sums are always made. */
template <typename T, bool SQUARES, int WHAT>
static __global__ void __launch_bounds__(TWI_LANES, TWI_BLOCKS) leaf(const __grid_constant__ twi_cuda_reduce a)
{
    __shared__ double lanes[2][TWI_LANES];
    __shared__ double leaves[TWI_CUDA_ROW_LEAVES];
    const int64_t block = a.left + blockIdx.x;
    if (block >= a.blocks) {
        twi_make_node<T, WHAT, double>(a, block - a.blocks);
        return;
    }
    const int64_t item = twi_item_of_block(a, block);
    const twi_part<T> unit(a, item, 0);
    const int channels = a.plane.channels;
    const double mean =
        SQUARES ? twi_middle_of(a.middle, a.record, a.record.records > 1 ? unit.y : 0, unit.channel) : 0;
    twi_tally<T, WHAT & ~TWI_CUDA_SUM> mine;
    twi_value<T, WHAT, double> value;
    for (int start = 0, i = 0; start < unit.n; start += TWI_LEAF, i++) {
        const int n = unit.n - start < TWI_LEAF ? unit.n - start : TWI_LEAF;
        const double lane = add_lane<T, SQUARES>(unit.at + (int64_t)start * channels, n, channels, mean, &mine);
        mine.close(i);
        value.sum = twi_fold_block(lane, lanes[i % 2]);
        if (threadIdx.x == 0)
            leaves[i] = value.sum;
    }
    if (unit.n > TWI_LEAF && threadIdx.x < TWI_WARP) { /* the leaves of a row are lanes again */
        __syncwarp();
        value.sum = twi_fold_warp(threadIdx.x * TWI_LEAF < unit.n ? leaves[threadIdx.x] : 0);
    }
    value.lowest.set(mine.low, item * a.pieces + mine.low_at);
    value.highest.set(mine.high, item * a.pieces + mine.high_at);
    value.counts = mine.counter.count();
    if constexpr (WHAT != TWI_CUDA_SUM)
        twi_gather(&value);
    twi_put_value(a, value, 0, item);
}

/* Short rows, of which a warp makes the sums: thread t has the lanes t, t + 32, t + 64 and t + 96. */
template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(TWI_LANES) narrow(const __grid_constant__ twi_cuda_reduce a)
{
    const int64_t block = a.left + blockIdx.x;
    const int64_t rows = a.plane.height * a.plane.channels;
    const int thread = threadIdx.x % TWI_WARP;
    if (block >= a.blocks) {
        twi_make_node<T, TWI_CUDA_SUM, double>(a, block - a.blocks);
        return;
    }
#pragma unroll 1
    for (int i = threadIdx.x / TWI_WARP; i < TWI_CUDA_NARROW_ROWS; i += TWI_WARPS) {
        const int64_t row = block * TWI_CUDA_NARROW_ROWS + i;
        if (row >= rows)
            return;
        const twi_part<T> part(a, row, 0);
        const double mean =
            SQUARES ? twi_middle_of(a.middle, a.record, a.record.records > 1 ? part.y : 0, part.channel) : 0;
        twi_value<T, TWI_CUDA_SUM, double> value;
        double lanes[4] = {0, 0, 0, 0};
        for (int at = thread; at < part.n; at += TWI_LANES)
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (at + k * TWI_WARP < part.n)
                    lanes[k] += twi_term<SQUARES>(
                        (double)__ldg(part.at + (int64_t)(at + k * TWI_WARP) * a.plane.channels), mean);
        value.sum = twi_fold_warp((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
        if (thread > 0)
            continue;
        if (a.levels == 0)
            twi_write_record(a, value, row, twi_stats());
        else
            twi_publish(a.level[0], row, value);
    }
}

#define SQUARES(T) (const void *)leaf<T, true, TWI_CUDA_SUM>, (const void *)narrow<T, true>
#define INTEGERS(T)                                                                                                    \
    {                                                                                                                  \
        nullptr, nullptr, nullptr, SQUARES(T)                                                                          \
    }
#define FLOATS(T)                                                                                                      \
    {                                                                                                                  \
        (const void *)leaf<T, false, TWI_CUDA_SUM>, (const void *)narrow<T, false>,                                    \
            (const void *)leaf<T, false, TWI_CUDA_EVERYTHING>, SQUARES(T)                                              \
    }
const void *const twi_cuda_reduce_leaf[6][TWI_CUDA_LEAF_KERNELS] = {
    INTEGERS(uint8_t), INTEGERS(uint16_t), INTEGERS(int16_t), INTEGERS(int32_t), FLOATS(float), FLOATS(double)};
