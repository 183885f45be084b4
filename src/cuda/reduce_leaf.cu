/* f64 sums of rows and whole images in the order of core/exact.h: a block a leaf, a thread a lane. */
#include "cuda/reduce_tree.cuh"

/* Blocks that a multiprocessor is to hold: with one more, a leaf's values would not all be in registers. */
enum { TWI_LEAF_BLOCKS = 7 };

/* Some of a thread's values. */
template <typename T, int COUNT> struct some_values {
    T of[COUNT];
    /* Of n elements from `at` on, `step` apart, every so manieth: all loads before the first use. */
    __device__ __forceinline__ void load(const T *at, int n, int step)
    {
        const int thread = (int)threadIdx.x;
        if (n == COUNT * TWI_LANES && step == 1) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                of[i] = __ldcs(at + thread + i * TWI_LANES);
            return;
        }
        at += (int64_t)thread * step;
#pragma unroll
        for (int i = 0; i < COUNT; i++, at += (int64_t)TWI_LANES * step)
            if (thread + i * TWI_LANES < n)
                of[i] = *at; /* channels share memory, and caches */
    }
};

/* WHAT: the set; sums are always made. */
template <typename T, bool SQUARES, int WHAT>
static __global__ void __launch_bounds__(TWI_LANES, TWI_LEAF_BLOCKS) leaf(const __grid_constant__ twi_cuda_reduce a)
{
    enum { STEP = TWI_LEAF / (sizeof(T) == 8 || WHAT != TWI_CUDA_SUM ? 2 : 1) /* values that are loaded at once */ };
    __shared__ double lanes[2][TWI_LANES];
    __shared__ double leaves[TWI_CUDA_ROW_LEAVES];
    twi_await_stream();
    const int64_t block = a.left + blockIdx.x;
    if (block >= a.blocks) {
        twi_stand_by<WHAT, double>(a, block - a.blocks);
        return;
    }
    const twi_share share(a, block);
    const twi_piece<T> piece(a, share.channel, share.row, share.number);
    const int channels = a.plane.channels;
    const double mean =
        SQUARES ? twi_middle_of(a.middle, a.record, a.record.records > 1 ? piece.y : 0, share.channel) : 0;
    uint32_t before = 0;
    twi_tally<T, WHAT & ~TWI_CUDA_SUM> mine;
    twi_value<WHAT, double, twi_near<T>> value;
    double lane = 0;
    for (int start = 0; start < piece.n; start += STEP) {
        const int n = piece.n - start < STEP ? piece.n - start : STEP;
        some_values<T, STEP / TWI_LANES> values;
        values.load(piece.at + (int64_t)start * channels, n, channels);
        if (start == 0)
            before = twi_begin_values(a, share.item(a), 1);
        const auto take = [&](int i) {
            lane += twi_term<SQUARES>((double)values.of[i], mean);
            mine(values.of[i], start + (int)threadIdx.x + i * TWI_LANES);
        };
        if (n == STEP) {
#pragma unroll
            for (int i = 0; i < STEP / TWI_LANES; i++)
                take(i);
        } else {
#pragma unroll
            for (int i = 0; i < STEP / TWI_LANES; i++)
                if ((int)threadIdx.x + i * TWI_LANES < n)
                    take(i);
        }
        if ((start + STEP) % TWI_LEAF == 0 || start + STEP >= piece.n) { /* the end of a leaf */
            const int leaf = start / TWI_LEAF;
            value.sum = twi_fold_block(lane, lanes[leaf % 2]);
            lane = 0;
            if (threadIdx.x == 0)
                leaves[leaf] = value.sum;
        }
    }
    if (piece.n > TWI_LEAF && threadIdx.x < TWI_WARP) { /* the leaves of a row are lanes again */
        __syncwarp();
        value.sum = twi_fold_warp(threadIdx.x * TWI_LEAF < piece.n ? leaves[threadIdx.x] : 0);
    }
    twi_take_tally(&value, mine);
    if constexpr (WHAT != TWI_CUDA_SUM)
        twi_gather(&value);
    twi_put_value(a, share, value, before);
}

/* Short rows, of which a warp makes the sums: thread t has the lanes t, t + 32, t + 64 and t + 96. */
template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(TWI_LANES, 6) narrow(const __grid_constant__ twi_cuda_reduce a)
{
    twi_await_stream();
    const int64_t block = a.left + blockIdx.x;
    if (block >= a.blocks) {
        twi_stand_by<TWI_CUDA_SUM, double>(a, block - a.blocks);
        return;
    }
    const int64_t of_channel = twi_quotient(a.blocks, a.plane.channels);
    const int32_t channel = (int32_t)twi_quotient(block, of_channel);
    const int64_t top = (block - channel * of_channel) * TWI_CUDA_NARROW_ROWS;
    const int64_t first = channel * a.plane.height + top;
    const int rows = a.plane.height - top < TWI_CUDA_NARROW_ROWS ? (int)(a.plane.height - top) : TWI_CUDA_NARROW_ROWS;
    const uint32_t before = twi_begin_values(a, first, rows); /* of one node */
    const int thread = threadIdx.x % TWI_WARP;
#pragma unroll 1
    for (int i = threadIdx.x / TWI_WARP; i < rows; i += TWI_WARPS) {
        const twi_piece<T> piece(a, channel, top + i, 0);
        const double mean =
            SQUARES ? twi_middle_of(a.middle, a.record, a.record.records > 1 ? piece.y : 0, channel) : 0;
        twi_value<TWI_CUDA_SUM, double> value;
        double lanes[4] = {0, 0, 0, 0};
        for (int at = thread; at < piece.n; at += TWI_LANES)
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (at + k * TWI_WARP < piece.n)
                    lanes[k] += twi_term<SQUARES>(
                        (double)__ldcs(piece.at + (int64_t)(at + k * TWI_WARP) * a.plane.channels), mean);
        value.sum = twi_fold_warp((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
        if (thread > 0)
            continue;
        if (a.levels == 0)
            twi_write_record(a, value, first + i);
        else
            twi_publish(a.level[0], first + i, value);
    }
    if (a.counted)
        twi_make_nodes<TWI_CUDA_SUM, double>(a, 0, twi_node_of(a.level[0], first), rows, before);
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
