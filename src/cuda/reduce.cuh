/* Device code that the kernels of reduce share: leaves of float sums, and tallies. */
#ifndef TWI_REDUCE_CUH
#define TWI_REDUCE_CUH

#include "core/exact.h"
#include "cuda/order.cuh"
#include "cuda/reduce_kernels.h"

enum { TWI_WARP = 32 };

#define TWI_ALL_LANES 0xffffffffu

/* Four neighbours at an address that is a multiple of their bytes (16, if they have more). */
template <typename T> struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) twi_quad {
    T of[4];
};

/* What is added: the values, or their squared differences to the mean. */
template <bool SQUARES> static __device__ __forceinline__ double twi_term(double value, double mean)
{
    const double difference = value - mean;
    return SQUARES ? difference * difference : value;
}

/* Folds values that lie one a thread, thread t's the lane t. Thread 0 has the result. */
static __device__ __forceinline__ double twi_fold_warp(double value)
{
    for (int distance = TWI_WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(TWI_ALL_LANES, value, distance);
    return value;
}

/*
 * The sum of a leaf of n values, `step` elements apart, by the whole warp: the result is every thread's. The lanes of
 * thread t are 4t ... 4t + 3 where four neighbours are loaded at once, else t, t + 32, t + 64 and t + 96.
 */
template <typename T, bool SQUARES>
static __device__ __forceinline__ double twi_leaf_sum(const T *at, int64_t n, int32_t step, bool vectors, double mean)
{
    const int thread = threadIdx.x % TWI_WARP;
    double lanes[4] = {0, 0, 0, 0};
    if (vectors && n == TWI_LEAF) {
#pragma unroll 8
        for (int i = 0; i < TWI_LEAF / TWI_LANES; i++) {
            const twi_quad<T> quad = *(const twi_quad<T> *)(at + i * TWI_LANES + 4 * thread);
            for (int k = 0; k < 4; k++)
                lanes[k] += twi_term<SQUARES>((double)quad.of[k], mean);
        }
    } else if (vectors) {
        for (int i = 4 * thread; i < n; i += TWI_LANES)
            for (int k = 0; k < 4 && i + k < n; k++)
                lanes[k] += twi_term<SQUARES>((double)at[i + k], mean);
    } else {
#pragma unroll 4
        for (int i = thread; i < n; i += TWI_LANES)
            for (int k = 0; k < 4; k++)
                if (i + k * TWI_WARP < n)
                    lanes[k] += twi_term<SQUARES>((double)at[(int64_t)(i + k * TWI_WARP) * step], mean);
    }
    if (vectors) /* the distances that lie between threads are the longer ones here, the shorter ones below */
        for (int k = 0; k < 4; k++)
            lanes[k] = twi_fold_warp(lanes[k]);
    lanes[0] += lanes[2];
    lanes[1] += lanes[3];
    lanes[0] += lanes[1];
    if (!vectors)
        lanes[0] = twi_fold_warp(lanes[0]);
    return __shfl_sync(TWI_ALL_LANES, lanes[0], 0);
}

/* ---- Tallies ----------------------------------------------------------------------------------------- */

static __device__ __forceinline__ twi_cuda_tally twi_no_tally()
{
    twi_cuda_tally tally;
    tally.exact = 0;
    tally.counts = 0;
    tally.lowest = INT64_MAX; /* above every key, and below */
    tally.highest = INT64_MIN;
    tally.lowest_at = INT64_MAX;
    tally.highest_at = INT64_MAX;
    return tally;
}

static __device__ __forceinline__ void twi_merge(twi_cuda_tally *tally, const twi_cuda_tally &other)
{
    tally->exact += other.exact;
    tally->counts += other.counts;
    if (other.lowest < tally->lowest || (other.lowest == tally->lowest && other.lowest_at < tally->lowest_at)) {
        tally->lowest = other.lowest;
        tally->lowest_at = other.lowest_at;
    }
    if (other.highest > tally->highest || (other.highest == tally->highest && other.highest_at < tally->highest_at)) {
        tally->highest = other.highest;
        tally->highest_at = other.highest_at;
    }
}

/* Merges the tallies of a warp into that of its thread 0. */
static __device__ __forceinline__ twi_cuda_tally twi_merge_warp(twi_cuda_tally tally)
{
    for (int distance = TWI_WARP / 2; distance > 0; distance /= 2) {
        twi_cuda_tally other;
        other.exact = __shfl_down_sync(TWI_ALL_LANES, tally.exact, distance);
        other.counts = __shfl_down_sync(TWI_ALL_LANES, tally.counts, distance);
        other.lowest = __shfl_down_sync(TWI_ALL_LANES, tally.lowest, distance);
        other.highest = __shfl_down_sync(TWI_ALL_LANES, tally.highest, distance);
        other.lowest_at = __shfl_down_sync(TWI_ALL_LANES, tally.lowest_at, distance);
        other.highest_at = __shfl_down_sync(TWI_ALL_LANES, tally.highest_at, distance);
        if (threadIdx.x % TWI_WARP + distance < TWI_WARP)
            twi_merge(&tally, other);
    }
    return tally;
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

#endif
