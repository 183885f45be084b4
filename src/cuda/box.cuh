/*
 * Device code that the kernels of box share: sums in the one defined order, means.
 * Everything that decides a result is exact.h's; this header says how it is reached on the device.
 */
#ifndef TWI_BOX_CUH
#define TWI_BOX_CUH

#include "cuda/element.cuh"

/* For each element type: Row sums a window's row, Sum the whole window. 65535 elements of 16 bits fit in 32. */
template <typename T> struct twi_sums;
template <> struct twi_sums<uint8_t> {
    typedef uint32_t Row;
    typedef int64_t Sum;
};
template <> struct twi_sums<uint16_t> {
    typedef uint32_t Row;
    typedef int64_t Sum;
};
template <> struct twi_sums<int16_t> {
    typedef int32_t Row;
    typedef int64_t Sum;
};
template <> struct twi_sums<int32_t> {
    typedef int64_t Row;
    typedef int64_t Sum;
};
template <> struct twi_sums<float> {
    typedef double Row;
    typedef double Sum;
};
template <> struct twi_sums<double> {
    typedef twi_pair Row;
    typedef twi_pair Sum;
};

/* An element as the start of a sum. */
template <typename R, typename T> static __device__ __forceinline__ R twi_begin(T element)
{
    return (R)element;
}
template <> __device__ __forceinline__ twi_pair twi_begin<twi_pair, double>(double element)
{
    return twi_pair_of(element);
}

static __device__ __forceinline__ uint32_t twi_plus(uint32_t a, uint32_t b)
{
    return a + b;
}
static __device__ __forceinline__ int32_t twi_plus(int32_t a, int32_t b)
{
    return a + b;
}
static __device__ __forceinline__ int64_t twi_plus(int64_t a, int64_t b)
{
    return a + b;
}
static __device__ __forceinline__ double twi_plus(double a, double b)
{
    return a + b;
}
static __device__ __forceinline__ twi_pair twi_plus(twi_pair a, twi_pair b)
{
    return twi_pair_add(a, b);
}

/* ---- Sums ------------------------------------------------------------------------------------- */

/* The sum of at(0) ... at(n - 1). Integers: any order is the same. */
template <typename S> struct twi_line {
    template <typename At> static __device__ __forceinline__ S sum(int32_t n, At at)
    {
        S sum = 0;
        for (int32_t i = 0; i < n; i++)
            sum = twi_plus(sum, (S)at(i));
        return sum;
    }
};

/* Floats: exact.h's order, one value at a time. Within a block of 2^k values this is a binary counter whose
   digit k holds the sum of 2^k values that waits for its right half. */
template <typename S> struct twi_tree {
    template <typename At> static __device__ __forceinline__ S sum(int32_t n, At at)
    {
        S digit[16]; /* n < 2^16 */
        S sum = {};
        int32_t done = 0;
        for (int32_t size = 1; size <= n; size *= 2) {
            if (!(n & size))
                continue;
            S value = {};
            for (int32_t i = 0; i < size; i++) {
                int k = 0;
                value = at(done + i);
                for (; i >> k & 1; k++)
                    value = twi_plus(digit[k], value);
                digit[k] = value;
            }
            sum = done == 0 ? value : twi_plus(sum, value);
            done += size;
        }
        return sum;
    }
};
template <> struct twi_line<double> : twi_tree<double> {
};
template <> struct twi_line<twi_pair> : twi_tree<twi_pair> {
};

/* The sum of the window whose element in column i, row j is at(i, j): its rows first, then down. */
template <typename T, typename At>
static __device__ __forceinline__ typename twi_sums<T>::Sum twi_sum_window(const twi_cuda_box &box, At at)
{
    typedef typename twi_sums<T>::Row Row;
    typedef typename twi_sums<T>::Sum Sum;
    return twi_line<Sum>::sum(box.window_height, [&](int32_t j) {
        return twi_line<Row>::sum(box.window_width, [&](int32_t i) { return twi_begin<Row, T>(at(i, j)); });
    });
}

/* ---- Means ------------------------------------------------------------------------------------ */

/* sum / count by multiplication, rounded down. Exact: the error of the reciprocal, below count / 2^64, times
   a sum below 2^32 stays below the 1 / count that a quotient may be short of the next integer. */
static __device__ __forceinline__ uint32_t twi_divide(uint32_t sum, uint64_t reciprocal)
{
    const uint64_t low = (reciprocal & 0xffffffffu) * sum >> 32;
    return reciprocal == 0 ? sum : (uint32_t)(((reciprocal >> 32) * sum + low) >> 32);
}

/* The mean of an integer window. `lowest` is the type's: sums are made positive by it. */
template <typename T>
static __device__ __forceinline__ T twi_mean_of(int64_t sum, const twi_cuda_box &box, int32_t lowest)
{
    if (!box.narrow)
        return (T)twi_mean_integer(sum, box.count, box.nearest);
    const uint32_t count = (uint32_t)box.count;
    const uint32_t positive = (uint32_t)sum - (uint32_t)lowest * count + (box.nearest ? count / 2 : 0);
    return (T)((int32_t)twi_divide(positive, box.reciprocal) + lowest);
}

template <typename T>
static __device__ __forceinline__ T twi_mean(typename twi_sums<T>::Sum sum, const twi_cuda_box &box);
template <> __device__ __forceinline__ uint8_t twi_mean<uint8_t>(int64_t sum, const twi_cuda_box &box)
{
    return twi_mean_of<uint8_t>(sum, box, 0);
}
template <> __device__ __forceinline__ uint16_t twi_mean<uint16_t>(int64_t sum, const twi_cuda_box &box)
{
    return twi_mean_of<uint16_t>(sum, box, 0);
}
template <> __device__ __forceinline__ int16_t twi_mean<int16_t>(int64_t sum, const twi_cuda_box &box)
{
    return twi_mean_of<int16_t>(sum, box, INT16_MIN);
}
template <> __device__ __forceinline__ int32_t twi_mean<int32_t>(int64_t sum, const twi_cuda_box &box)
{
    return (int32_t)twi_mean_integer(sum, box.count, box.nearest);
}
template <> __device__ __forceinline__ float twi_mean<float>(double sum, const twi_cuda_box &box)
{
    return twi_mean_f32(sum, box.inverse);
}
template <> __device__ __forceinline__ double twi_mean<double>(twi_pair sum, const twi_cuda_box &box)
{
    return twi_mean_f64(sum, (double)box.count);
}

#endif
