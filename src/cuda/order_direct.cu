/*
 * min and max, variant direct: each thread reads its whole neighbourhood from global memory.
 *
 * rank, variant direct: a thread finds its output's key bit by bit, the highest first. With the bits above known, it
 * counts the window's keys that have those and a 0 next: if they are more than the rank still to go, the bit is 0,
 * else it is 1 and the rank goes down by the count. No memory but the image's, and exact for any window and type;
 * the window is read once a bit.
 */
#include "cuda/order.cuh"

template <typename T, bool HIGHEST>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) extreme_direct(const twi_cuda_order order)
{
    typedef twi_extreme<T, HIGHEST> extreme;
    const twi_output out = twi_output_here(order.box);
    if (!out.exists)
        return;
    twi_with_keys<T>(order.box, out, extreme::outside(order),
                     [&](auto at) { twi_write<T>(order.box, out.element, out.y, extreme::of_window(order, at)); });
}

/* The key of rank `rank` among the window's. */
template <typename T, typename At>
static __device__ __forceinline__ typename twi_keys<T>::Key select(const twi_cuda_order &order, At at)
{
    typedef typename twi_keys<T>::Key Key;
    typedef typename twi_keys<T>::Bits Bits;
    const int top = 8 * (int)sizeof(Key) - 1;
    const Bits sign = Bits(twi_keys<T>::lowest < 0 ? (Bits)1 << top : 0); /* turned over, bits are in order, too */
    uint32_t rank = order.rank;
    Bits found = 0;
    for (int bit = top; bit >= 0; bit--) {
        uint32_t count = 0;
        twi_each_key(order, at,
                     [&](Key key) { count += (Bits)((Bits)((Bits)key ^ sign) >> bit) == (Bits)(found >> bit); });
        if (rank >= count) {
            rank -= count;
            found = (Bits)(found | (Bits)1 << bit);
        }
    }
    return (Key)(Bits)(found ^ sign);
}

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) rank_direct(const twi_cuda_order order)
{
    const twi_output out = twi_output_here(order.box);
    if (!out.exists)
        return;
    twi_with_keys<T>(order.box, out, twi_keys<T>::of((T)order.box.value), [&](auto at) {
        twi_write<T>(order.box, out.element, out.y, twi_keys<T>::back(select<T>(order, at)));
    });
}

extern "C" const void *const twi_cuda_min_direct[TWI_CUDA_TYPES] = TWI_EXTREME_TABLE(extreme_direct, false);
extern "C" const void *const twi_cuda_max_direct[TWI_CUDA_TYPES] = TWI_EXTREME_TABLE(extreme_direct, true);

extern "C" const void *const twi_cuda_rank_direct[TWI_CUDA_TYPES] = {
    (const void *)rank_direct<uint8_t>, (const void *)rank_direct<uint16_t>, (const void *)rank_direct<int16_t>,
    (const void *)rank_direct<int32_t>, (const void *)rank_direct<float>,    (const void *)rank_direct<double>,
};
