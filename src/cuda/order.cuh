/*
 * Device code that min, max and rank share: elements as keys, integers whose order is that of the definition
 * (exact.h). Keys are as wide as the elements.
 */
#ifndef TWI_ORDER_CUH
#define TWI_ORDER_CUH

#include "cuda/element.cuh"

/* lowest and highest are keys that no element is beyond: where no position takes part they stand for the result.
   For floats they lie beyond all elements, NaN included; `back` makes infinities of them. */
template <typename T, typename K, typename U, K low, K high> struct twi_integer_keys {
    typedef K Key;
    typedef U Bits; /* the key's bits without a sign, for selection */
    static constexpr K lowest = low;
    static constexpr K highest = high;
    static __device__ __forceinline__ K of(T element)
    {
        return element;
    }
    static __device__ __forceinline__ T back(K key)
    {
        return key;
    }
};

template <typename T> struct twi_keys;
template <> struct twi_keys<uint8_t> : twi_integer_keys<uint8_t, uint8_t, uint8_t, 0, UINT8_MAX> {
};
template <> struct twi_keys<uint16_t> : twi_integer_keys<uint16_t, uint16_t, uint16_t, 0, UINT16_MAX> {
};
template <> struct twi_keys<int16_t> : twi_integer_keys<int16_t, int16_t, uint16_t, INT16_MIN, INT16_MAX> {
};
template <> struct twi_keys<int32_t> : twi_integer_keys<int32_t, int32_t, uint32_t, INT32_MIN, INT32_MAX> {
};
template <> struct twi_keys<float> {
    typedef int32_t Key;
    typedef uint32_t Bits;
    static constexpr int32_t lowest = INT32_MIN;
    static constexpr int32_t highest = INT32_MAX;
    static __device__ __forceinline__ int32_t of(float element)
    {
        return twi_key_f32(__float_as_uint(element));
    }
    static __device__ __forceinline__ float back(int32_t key)
    {
        const uint32_t bits = key == lowest ? 0xff800000u : key == highest ? 0x7f800000u : twi_unkey_f32(key);
        return __uint_as_float(bits);
    }
};
template <> struct twi_keys<double> {
    typedef int64_t Key;
    typedef uint64_t Bits;
    static constexpr int64_t lowest = INT64_MIN;
    static constexpr int64_t highest = INT64_MAX;
    static __device__ __forceinline__ int64_t of(double element)
    {
        return twi_key_f64((uint64_t)__double_as_longlong(element));
    }
    static __device__ __forceinline__ double back(int64_t key)
    {
        const uint64_t bits = key == lowest    ? 0xfff0000000000000u
                              : key == highest ? 0x7ff0000000000000u
                                               : twi_unkey_f64(key);
        return __longlong_as_double((int64_t)bits);
    }
};

/* The key at window position (i, j) of the output; `outside` where the border's value is read. */
template <typename T>
static __device__ __forceinline__ typename twi_keys<T>::Key
twi_read_key(const twi_cuda_box &box, const twi_output &out, int32_t i, int32_t j, typename twi_keys<T>::Key outside)
{
    const int64_t column = twi_border_index(out.left + i, box.width, box.border);
    const int64_t row = twi_border_index(out.top + j, box.height, box.border);
    if (column < 0 || row < 0)
        return outside;
    return twi_keys<T>::of(twi_row<T>(box, row)[column * box.channels + out.channel]);
}

/* visit(at(i, j)) for all positions that take part. */
template <typename At, typename Visit>
static __device__ __forceinline__ void twi_each_key(const twi_cuda_order &order, At at, Visit visit)
{
    const int32_t width = order.box.window_width;
    for (int32_t j = 0; j < order.box.window_height; j++)
        for (int32_t i = 0; i < width; i++)
            if (!order.footprint || __ldg(order.footprint + (int64_t)j * width + i))
                visit(at(i, j));
}

/* Calls use(at), where at(i, j) is the key at a window position of the output: without a look at the border where
   the window lies in the image. */
template <typename T, typename Use>
static __device__ __forceinline__ void twi_with_keys(const twi_cuda_box &box, const twi_output &out,
                                                     typename twi_keys<T>::Key outside, Use use)
{
    if (out.inside) {
        const char *const corner = (const char *)(twi_row<T>(box, out.top) + out.left * box.channels + out.channel);
        use([&](int32_t i, int32_t j) {
            return twi_keys<T>::of(((const T *)(corner + j * box.src_pitch))[i * box.channels]);
        });
    } else {
        use([&](int32_t i, int32_t j) { return twi_read_key<T>(box, out, i, j, outside); });
    }
}

/* ---- Extremes -------------------------------------------------------------------------------------- */

template <typename T, bool HIGHEST> struct twi_extreme {
    typedef typename twi_keys<T>::Key Key;
    static __device__ __forceinline__ Key neutral()
    {
        return HIGHEST ? twi_keys<T>::lowest : twi_keys<T>::highest;
    }
    static __device__ __forceinline__ Key better(Key a, Key b)
    {
        return (HIGHEST ? a > b : a < b) ? a : b;
    }
    /* A position outside that is ignored is the neutral key, which changes nothing. */
    static __device__ __forceinline__ Key outside(const twi_cuda_order &order)
    {
        return order.ignore ? neutral() : twi_keys<T>::of((T)order.box.value);
    }
    template <typename At> static __device__ __forceinline__ T of_window(const twi_cuda_order &order, At at)
    {
        Key best = neutral();
        twi_each_key(order, at, [&](Key key) { best = better(best, key); });
        return twi_keys<T>::back(best);
    }
};

#define TWI_EXTREME_TABLE(kernel, highest)                                                                             \
    {                                                                                                                  \
        (const void *)kernel<uint8_t, highest>, (const void *)kernel<uint16_t, highest>,                               \
            (const void *)kernel<int16_t, highest>, (const void *)kernel<int32_t, highest>,                            \
            (const void *)kernel<float, highest>, (const void *)kernel<double, highest>,                               \
    }

#endif
