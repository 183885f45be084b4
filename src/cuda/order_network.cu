/*
 * rank, variant network: the median of few values by comparisons of registers whose order does not depend on the
 * data. Of n values, take n / 2 + 2. Their lowest cannot be the median of all, since more than n / 2 values are
 * above it, nor can their highest: both are dropped, and the next value joins. When none are left to join, three
 * values remain, and the middle one is the median. Other ranks, and numbers of values without a kernel: as many values
 * that no element is below are added, and that none is above, as make it the median.
 */
#include "cuda/order.cuh"

template <typename K> static __device__ __forceinline__ void exchange(K &a, K &b)
{
    const K low = a < b ? a : b;
    b = a < b ? b : a;
    a = low;
}

/* Puts the lowest of keys[0] ... keys[N - 1] first and the highest last. */
template <int N, typename K> static __device__ __forceinline__ void part(K *keys)
{
#pragma unroll
    for (int i = 0; i < N / 2; i++) /* losers of the pairs to the left half, winners to the right */
        exchange(keys[i], keys[N - 1 - i]);
#pragma unroll
    for (int i = 1; i < (N + 1) / 2; i++)
        exchange(keys[0], keys[i]);
#pragma unroll
    for (int i = N / 2; i < N - 1; i++)
        exchange(keys[i], keys[N - 1]);
}

/* The median of keys[0] ... keys[N - 1] and those that have yet to join, which lie from keys[NEXT] on. */
template <int N, int NEXT> struct forget {
    template <typename K> static __device__ __forceinline__ K median(K *keys)
    {
        part<N>(keys);
        keys[0] = keys[NEXT]; /* in place of the lowest; the highest is left behind */
        return forget<N - 1, NEXT + 1>::median(keys);
    }
};
template <int NEXT> struct forget<3, NEXT> {
    template <typename K> static __device__ __forceinline__ K median(K *keys)
    {
        part<3>(keys);
        return keys[1];
    }
};

template <typename T, int SIDE>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) median_network(const twi_cuda_order order)
{
    typedef typename twi_keys<T>::Key Key;
    typedef decltype(+Key()) Wide; /* registers have 32 bits at least */
    enum { COUNT = SIDE * SIDE, KEPT = COUNT / 2 + 2 };
    const twi_output out = twi_output_here(order.box);
    if (!out.exists)
        return;
    Wide keys[COUNT];
    twi_with_keys<T>(order.box, out, twi_keys<T>::of((T)order.box.value), [&](auto at) {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            keys[k] = at(k % SIDE, k / SIDE);
    });
    const Wide median = forget<KEPT, KEPT>::median(keys);
    twi_write<T>(order.box, out.element, out.y, twi_keys<T>::back((Key)median));
}

/* A call, as it is rare and long. */
template <typename T>
static __device__ __noinline__ typename twi_keys<T>::Key read_beyond(const twi_cuda_box &box, const twi_output &out,
                                                                     int32_t i, int32_t j)
{
    return twi_read_key<T>(box, out, i, j, twi_keys<T>::of((T)box.value));
}

template <typename T, int COUNT>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1)
    rank_network(const __grid_constant__ twi_cuda_few few)
{
    typedef twi_keys<T> keys_of;
    typedef typename keys_of::Key Key;
    typedef decltype(+Key()) Wide;
    enum { KEPT = COUNT / 2 + 2 };
    const twi_cuda_box &box = few.box;
    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    Wide keys[COUNT];
    const auto fill = [&](auto at) {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            keys[k] = k < few.positions ? at(k) : k < few.positions + few.lows ? keys_of::lowest : keys_of::highest;
    };
    if (out.inside) {
        const char *const corner = (const char *)(twi_row<T>(box, out.top) + out.left * box.channels + out.channel);
        fill([&](int k) { return keys_of::of(*(const T *)(corner + few.offsets[k])); });
    } else {
        fill([&](int k) { return read_beyond<T>(box, out, few.x[k], few.y[k]); });
    }
    const Wide found = forget<KEPT, KEPT>::median(keys);
    twi_write<T>(box, out.element, out.y, keys_of::back((Key)found));
}

#define FEW(count)                                                                                                     \
    {                                                                                                                  \
        count,                                                                                                         \
        {                                                                                                              \
            (const void *)rank_network<uint8_t, count>, (const void *)rank_network<uint16_t, count>,                   \
                (const void *)rank_network<int16_t, count>, (const void *)rank_network<int32_t, count>,                \
                (const void *)rank_network<float, count>, (const void *)rank_network<double, count>,                   \
        }                                                                                                              \
    }

extern "C" const twi_cuda_network twi_cuda_rank_network[TWI_CUDA_NETWORKS] = {FEW(5), FEW(9), FEW(13), FEW(21),
                                                                              FEW(37)};

#define TABLE(side)                                                                                                    \
    {                                                                                                                  \
        (const void *)median_network<uint8_t, side>, (const void *)median_network<uint16_t, side>,                     \
            (const void *)median_network<int16_t, side>, (const void *)median_network<int32_t, side>,                  \
            (const void *)median_network<float, side>, (const void *)median_network<double, side>,                     \
    }

extern "C" const void *const twi_cuda_median_network[2][TWI_CUDA_TYPES] = {TABLE(3), TABLE(5)};
