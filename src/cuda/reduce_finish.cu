/* Tallies and sums become records. */
#include "cuda/reduce.cuh"

/* Tallies of a record put together; sums in 128 bits. */
struct whole {
    twi_cuda_tally tally;
    twi_i128 exact;
};

static __device__ __forceinline__ void add(whole *w, const twi_cuda_tally &tally)
{
    w->exact += tally.exact;
    twi_merge(&w->tally, tally);
}

static __device__ __forceinline__ whole nothing()
{
    whole w;
    w.tally = twi_no_tally();
    w.exact = 0;
    return w;
}

/* Writes the record, or in the first of two looks its mean. */
static __device__ void finish(const twi_cuda_finish &f, const whole &w, double sum, double squares, int64_t record,
                              int64_t channel)
{
    double *mean = f.means + channel * f.records + record;
    double *total = mean + f.channels * f.records;
    twi_stats stats;
    stats.sum = f.integers ? (double)w.exact : f.squares ? *total : sum;
    stats.mean = stats.sum / f.count;
    if (f.means && !f.squares) {
        *mean = f.figures & TWI_SQUARES ? f.about[channel] : stats.mean;
        *total = stats.sum;
        return;
    }
    stats.sum_low = (uint64_t)w.exact;
    stats.sum_high = (int64_t)(w.exact >> 64);
    stats.var = f.figures & TWI_SQUARES ? squares : squares / f.count;
    stats.min = twi_value_of_key(w.tally.lowest);
    stats.max = twi_value_of_key(w.tally.highest);
    stats.argmin_x = w.tally.lowest_at % f.width;
    stats.argmin_y = w.tally.lowest_at / f.width;
    stats.argmax_x = w.tally.highest_at % f.width;
    stats.argmax_y = w.tally.highest_at / f.width;
    stats.count_nonzero = w.tally.counts;
    twi_stats_finish(f.figures, &stats);
    const int64_t x = f.axis == 1 ? record : 0;
    const int64_t y = f.axis == 0 ? record : 0;
    ((twi_stats *)((char *)f.dst + y * f.dst_pitch))[x * f.channels + channel] = stats;
}

/* Rows: a warp a record. */
static __global__ void record(twi_cuda_finish f)
{
    const int64_t index = f.left + (int64_t)blockIdx.x * TWI_CUDA_LEAF_WARPS + threadIdx.x / TWI_WARP;
    const int64_t channel = f.first + blockIdx.y;
    if (index >= f.records)
        return;
    const int64_t item = channel * f.records + index;
    whole w = nothing();
    double sum = 0;
    double squares = 0;
    if (f.parts > 0)
        add(&w, f.tallies[item]);
    if (f.sums)
        sum = twi_leaf_sum<double, false>(f.sums + item * f.values, f.values, 1, false, 0);
    if (f.squares)
        squares = twi_leaf_sum<double, false>(f.squares + item * f.values, f.values, 1, false, 0);
    if (threadIdx.x % TWI_WARP == 0)
        finish(f, w, sum, squares, index, channel);
}

enum { AT_ONCE = 1024 / TWI_LANES /* leaves by a block of so many threads, a thread a lane */ };

/* The sum of at most TWI_WARP leaves; thread 0 has it. */
static __device__ double sum_block(const double *values, int64_t count)
{
    __shared__ double lanes[AT_ONCE][TWI_LANES];
    __shared__ double leaves[TWI_WARP];
    const int lane = threadIdx.x % TWI_LANES;
    const int warp = threadIdx.x / TWI_WARP;
    const int thread = threadIdx.x % TWI_WARP;
    if (threadIdx.x < TWI_WARP)
        leaves[threadIdx.x] = 0;
    for (int64_t start = 0; start < count; start += AT_ONCE * TWI_LEAF) {
        const int64_t first = start + threadIdx.x / TWI_LANES * TWI_LEAF;
        double value = 0;
#pragma unroll
        for (int i = 0; i < TWI_LEAF / TWI_LANES; i++)
            if (first + i * TWI_LANES + lane < count)
                value += values[first + i * TWI_LANES + lane];
        lanes[threadIdx.x / TWI_LANES][lane] = value;
        __syncthreads();
        if (warp < AT_ONCE) {
            const double *leaf = lanes[warp];
            const double sum =
                twi_fold_warp((leaf[thread] + leaf[thread + 64]) + (leaf[thread + 32] + leaf[thread + 96]));
            if (thread == 0)
                leaves[start / TWI_LEAF + warp] = sum;
        }
        __syncthreads();
    }
    return twi_fold_warp(leaves[thread]);
}

/* The whole image: a block a channel. */
static __global__ void image(twi_cuda_finish f)
{
    __shared__ twi_cuda_tally warps[TWI_WARP];
    const int64_t channel = f.first + blockIdx.y;
    whole w = nothing();
    double sum = 0;
    double squares = 0;
    if (f.parts > 0) {
        /* sums of up to 2^31 pixels each fit in 64 bits, those of all need not: they are added by one thread */
        twi_cuda_tally mine = twi_no_tally();
        for (int64_t i = threadIdx.x; i < f.parts; i += blockDim.x)
            twi_merge(&mine, f.tallies[channel * f.parts + i]);
        mine = twi_merge_warp(mine);
        if (threadIdx.x % TWI_WARP == 0)
            warps[threadIdx.x / TWI_WARP] = mine;
        __syncthreads();
        for (int i = 0; i < TWI_WARP && threadIdx.x == 0; i++)
            add(&w, warps[i]);
    }
    if (f.exact)
        w.exact = f.exact[channel];
    if (f.sums)
        sum = sum_block(f.sums + channel * f.values, f.values);
    if (f.squares)
        squares = sum_block(f.squares + channel * f.values, f.values);
    if (threadIdx.x == 0)
        finish(f, w, sum, squares, 0, channel);
}

/* ---- Columns: 16 threads a record, thread t with lanes t, t + 16, ... of the leaf ----------------------- */

enum { COLUMNS = 32, THREADS = 16, HELD = TWI_LANES / THREADS };

static __device__ double fold_columns(double *lanes, double (*shared)[COLUMNS])
{
    for (int half = HELD / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    __syncthreads();
    shared[threadIdx.y][threadIdx.x] = lanes[0];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half)
            shared[threadIdx.y][threadIdx.x] += shared[threadIdx.y + half][threadIdx.x];
    }
    __syncthreads();
    return shared[0][threadIdx.x];
}

/* The sum of the column's groups: of leaves, and of the leaves' sums, of which there are at most a leaf. */
static __device__ double sum_column(const double *values, int64_t count, int64_t pitch, bool exists,
                                    double (*shared)[COLUMNS])
{
    double top[HELD] = {0};
    for (int64_t leaf = 0; leaf * TWI_LEAF < count; leaf++) {
        double lanes[HELD] = {0};
        const int64_t first = leaf * TWI_LEAF;
        const int64_t last = count - first < TWI_LEAF ? count : first + TWI_LEAF;
        for (int64_t start = first + threadIdx.y; exists && start < last; start += TWI_LANES)
#pragma unroll
            for (int i = 0; i < HELD; i++)
                if (start + i * THREADS < last)
                    lanes[i] += values[(start + i * THREADS) * pitch];
        const double sum = fold_columns(lanes, shared);
#pragma unroll
        for (int i = 0; i < HELD; i++)
            if (leaf % TWI_LANES == i * THREADS + threadIdx.y)
                top[i] += sum;
    }
    return fold_columns(top, shared);
}

static __global__ void strip(twi_cuda_finish f)
{
    __shared__ double shared[THREADS][COLUMNS];
    const int64_t elements = f.records * f.channels;
    const int64_t element = f.left + (int64_t)blockIdx.x * COLUMNS + threadIdx.x;
    const bool exists = element < elements; /* all threads reach the barriers */
    whole w = nothing();
    double sum = 0;
    double squares = 0;
    if (f.sums)
        sum = sum_column(f.sums + element, f.values, elements, exists, shared);
    if (f.squares)
        squares = sum_column(f.squares + element, f.values, elements, exists, shared);
    if (!exists || threadIdx.y > 0)
        return;
    for (int64_t part = 0; part < f.parts; part++)
        add(&w, f.tallies[part * elements + element]);
    finish(f, w, sum, squares, element / f.channels, element % f.channels);
}

const void *const twi_cuda_reduce_record = (const void *)record;
const void *const twi_cuda_reduce_image = (const void *)image;
const void *const twi_cuda_reduce_strip = (const void *)strip;
