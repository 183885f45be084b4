/* Device code that the kernels of reduce share: folds of lanes, what parts of an image add up to, records. */
#ifndef TWI_REDUCE_CUH
#define TWI_REDUCE_CUH

#include "core/exact.h"
#include "cuda/order.cuh"
#include "cuda/reduce_kernels.h"

enum { TWI_WARP = 32 };

#define TWI_ALL_LANES 0xffffffffu

/* What is added: the values, or their squared differences to the mean. */
template <bool SQUARES> static __device__ __forceinline__ double twi_term(double value, double mean)
{
    const double difference = value - mean;
    return SQUARES ? difference * difference : value;
}

static __device__ __forceinline__ double twi_middle_of(const twi_cuda_middle &middle, const twi_cuda_record &r,
                                                       int64_t record, int64_t channel)
{
    return middle.means ? middle.means[channel * r.records + record] : middle.about[channel];
}

/* Waits for what the stream had before: for kernels that twi_cuda_launch_early() starts. */
static __device__ __forceinline__ void twi_await_stream()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* ---- Folds ------------------------------------------------------------------------------------------- */

template <typename A> static __device__ __forceinline__ A twi_shuffle_down(A value, int distance)
{
    return __shfl_down_sync(TWI_ALL_LANES, value, distance);
}
template <> __device__ __forceinline__ twi_i128 twi_shuffle_down(twi_i128 value, int distance)
{
    const uint64_t low = __shfl_down_sync(TWI_ALL_LANES, (uint64_t)value, distance);
    const int64_t high = __shfl_down_sync(TWI_ALL_LANES, (int64_t)(value >> 64), distance);
    return (twi_i128)high << 64 | low;
}

/* Adds values that lie one a thread, thread t's the lane t. Thread 0 has the result; of fewer than a warp's, the first
   of as many. */
template <int THREADS = TWI_WARP, typename A> static __device__ __forceinline__ A twi_fold_warp(A value)
{
#pragma unroll
    for (int distance = THREADS / 2; distance > 0; distance /= 2)
        value += twi_shuffle_down(value, distance);
    return value;
}

/* The same for a block of TWI_LANES threads, which calls it with another array of `lanes` the next time. */
template <typename A> static __device__ __forceinline__ A twi_fold_block(A value, A *lanes)
{
    const int thread = (int)threadIdx.x;
    lanes[thread] = value;
    __syncthreads();
    if (thread < TWI_WARP)
        value = twi_fold_warp((lanes[thread] + lanes[thread + 64]) + (lanes[thread + 32] + lanes[thread + 96]));
    return value;
}

/* ---- Extremes ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ twi_cuda_extremes twi_no_extremes()
{
    twi_cuda_extremes e;
    e.lowest = INT64_MAX; /* above every key, and below */
    e.highest = INT64_MIN;
    e.lowest_at = INT64_MAX;
    e.highest_at = INT64_MAX;
    return e;
}

/* WHAT: a set, of which only the extremes matter here. */
template <int WHAT>
static __device__ __forceinline__ void twi_merge(twi_cuda_extremes *e, const twi_cuda_extremes &other)
{
    if (WHAT & TWI_CUDA_LOWEST &&
        (other.lowest < e->lowest || (other.lowest == e->lowest && other.lowest_at < e->lowest_at))) {
        e->lowest = other.lowest;
        e->lowest_at = other.lowest_at;
    }
    if (WHAT & TWI_CUDA_HIGHEST &&
        (other.highest > e->highest || (other.highest == e->highest && other.highest_at < e->highest_at))) {
        e->highest = other.highest;
        e->highest_at = other.highest_at;
    }
}

/* Keys of a type as those of f64. */
static __device__ __forceinline__ int64_t twi_wide_key(double value)
{
    return twi_key_f64((uint64_t)__double_as_longlong(value));
}

template <typename T> static __device__ __forceinline__ int64_t twi_widen(typename twi_keys<T>::Key key)
{
    return twi_wide_key((double)key);
}
template <> __device__ __forceinline__ int64_t twi_widen<float>(int32_t key)
{
    return twi_wide_key((double)__uint_as_float(twi_unkey_f32(key)));
}
template <> __device__ __forceinline__ int64_t twi_widen<double>(int64_t key)
{
    return key;
}

/* ---- Records ----------------------------------------------------------------------------------------- */

/* Figures that are made of a set. */
static __device__ __forceinline__ constexpr int twi_figures_of(int what)
{
    return (what & TWI_CUDA_SUM ? TWI_SUM | TWI_MEAN | TWI_VAR | TWI_STD | TWI_SQUARES : 0) |
           (what & TWI_CUDA_LOWEST ? TWI_MIN | TWI_ARGMIN : 0) | (what & TWI_CUDA_HIGHEST ? TWI_MAX | TWI_ARGMAX : 0) |
           (what & TWI_CUDA_COUNTS ? TWI_COUNT_NONZERO : 0);
}

/* Puts the figures of record (x, y) into place: those of `stats`, whose var is made from here on, and whose places are
   found. WHAT: the set that they are made of. */
template <int WHAT>
static __device__ __forceinline__ void twi_put_record(const twi_cuda_record &r, twi_stats stats, int64_t x, int64_t y,
                                                      int64_t channel)
{
    const int figures = r.figures & twi_figures_of(WHAT);
    twi_stats *const place = (twi_stats *)((char *)r.dst + y * r.dst_pitch) + x * r.channels + channel;
    if (WHAT & TWI_CUDA_SUM && (r.means || figures & TWI_MEAN))
        stats.mean = stats.sum / r.count;
    if (figures & (TWI_VAR | TWI_STD)) /* else it stays the sum of squares, if anything */
        stats.var = stats.var / r.count;
    if (WHAT & TWI_CUDA_SUM && r.means)
        r.means[channel * r.records + x + y] = stats.mean;
    twi_stats_finish(figures, &stats);
    if (r.add) { /* what is not asked for is 0, here and there */
        const uint64_t *const ours = (const uint64_t *)&stats;
        uint64_t *const all = (uint64_t *)place;
#pragma unroll
        for (int i = 0; i < (int)(sizeof stats / sizeof *all); i++)
            all[i] |= ours[i];
    } else {
        *place = stats;
    }
}

static __device__ __forceinline__ void twi_put_sum(twi_stats *stats, double sum)
{
    stats->sum = sum;
}
static __device__ __forceinline__ void twi_put_sum(twi_stats *stats, twi_i128 sum)
{
    stats->sum = sum == (int64_t)sum ? (double)(int64_t)sum : (double)sum; /* one instruction, or many */
    stats->sum_low = (uint64_t)sum;
    stats->sum_high = (int64_t)(sum >> 64);
}
static __device__ __forceinline__ void twi_put_sum(twi_stats *stats, int64_t sum)
{
    twi_put_sum(stats, (twi_i128)sum);
}

#endif
