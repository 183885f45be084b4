/*
 * Elements compared several at a time. A vector of elements is what one instruction compares: two elements of 8 or 16
 * bits in the halves of a word, or one element of another type, floats as their keys (exact.h). All vectors of a type
 * are integers, ordered as the elements are.
 *
 * u8: a vector holds the bytes e and e + 2 in the high bytes of its halves; what lies below them only decides between
 * equal ones. So a row's words become vectors by a shift at most.
 */
#ifndef TWI_CUDA_LANES_CUH
#define TWI_CUDA_LANES_CUH

#include "cuda/order.cuh"
#include "cuda/row.cuh"

/* Lowest, highest and middle of three. `middle` is told the other two. */
struct u16_pairs {
    typedef uint32_t vector;
    TWI_DEVICE vector lowest(vector a, vector b)
    {
        return __vminu2(a, b);
    }
    TWI_DEVICE vector highest(vector a, vector b)
    {
        return __vmaxu2(a, b);
    }
    TWI_DEVICE vector lowest(vector a, vector b, vector c)
    {
        return __vimin3_u16x2(a, b, c);
    }
    TWI_DEVICE vector highest(vector a, vector b, vector c)
    {
        return __vimax3_u16x2(a, b, c);
    }
};

struct i16_pairs {
    typedef uint32_t vector;
    TWI_DEVICE vector lowest(vector a, vector b, vector c)
    {
        return __vimin3_s16x2(a, b, c);
    }
    TWI_DEVICE vector highest(vector a, vector b, vector c)
    {
        return __vimax3_s16x2(a, b, c);
    }
};

template <typename V> struct singles {
    typedef V vector;
    TWI_DEVICE vector lowest(vector a, vector b, vector c)
    {
        return min(min(a, b), c);
    }
    TWI_DEVICE vector highest(vector a, vector b, vector c)
    {
        return max(max(a, b), c);
    }
};

/* An extended row as vectors, `count` of them for its N words:
     split(words, flip, v)    v[0] ... v[count - 1]
     at(v, e)                 the vector that begins with element e
     first(i)                 the element that the vector i of outputs begins with
     join(v, flip, words)     the words that vectors of outputs make
   With `flip` all ones instead of 0 every vector is complemented, which turns the order round. */
template <typename T> struct lanes : singles<int32_t> {
    template <int N> static constexpr int count = N;
    static constexpr int first(int i)
    {
        return i;
    }
    template <int N> TWI_DEVICE void split(const uint32_t *words, uint32_t flip, vector *v)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = twi_keys<T>::of(get_element<T>(words, k)) ^ (vector)flip;
    }
    TWI_DEVICE vector at(const vector *v, int e)
    {
        return v[e];
    }
    template <int N> TWI_DEVICE void join(const vector *v, uint32_t flip, uint32_t *words)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            put_element<T>(words, k, twi_keys<T>::back(v[k] ^ (vector)flip));
    }
};

template <> struct lanes<double> : singles<int64_t> {
    template <int N> static constexpr int count = N / 2;
    static constexpr int first(int i)
    {
        return i;
    }
    template <int N> TWI_DEVICE void split(const uint32_t *words, uint32_t flip, vector *v)
    {
#pragma unroll
        for (int k = 0; k < N / 2; k++)
            v[k] = twi_keys<double>::of(get_element<double>(words, k)) ^ -(vector)(flip & 1);
    }
    TWI_DEVICE vector at(const vector *v, int e)
    {
        return v[e];
    }
    template <int N> TWI_DEVICE void join(const vector *v, uint32_t flip, uint32_t *words)
    {
#pragma unroll
        for (int k = 0; k < N / 2; k++)
            put_element<double>(words, k, twi_keys<double>::back(v[k] ^ -(vector)(flip & 1)));
    }
};

template <typename Pairs> struct lanes_16 : Pairs {
    typedef uint32_t vector;
    template <int N> static constexpr int count = N;
    static constexpr int first(int i)
    {
        return 2 * i;
    }
    template <int N> TWI_DEVICE void split(const uint32_t *words, uint32_t flip, vector *v)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = words[k] ^ flip;
    }
    TWI_DEVICE vector at(const vector *v, int e)
    {
        return e % 2 == 0 ? v[e / 2] : __byte_perm(v[e / 2], v[e / 2 + 1], 0x5432);
    }
    template <int N> TWI_DEVICE void join(const vector *v, uint32_t flip, uint32_t *words)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            words[k] = v[k] ^ flip;
    }
};

template <> struct lanes<uint16_t> : lanes_16<u16_pairs> {
};
template <> struct lanes<int16_t> : lanes_16<i16_pairs> {
};

template <> struct lanes<uint8_t> : u16_pairs {
    template <int N> static constexpr int count = 2 * N;
    static constexpr int first(int i)
    {
        return i / 2 * 4 + i % 2;
    }
    template <int N> TWI_DEVICE void split(const uint32_t *words, uint32_t flip, vector *v)
    {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t word = words[k] ^ flip;
            v[2 * k] = word << 8;
            v[2 * k + 1] = word;
        }
    }
    TWI_DEVICE vector at(const vector *v, int e)
    {
        const int i = e / 4 * 2 + e % 2;
        return e % 4 < 2 ? v[i] : __byte_perm(v[i], v[i + 2], 0x5432);
    }
    template <int N> TWI_DEVICE void join(const vector *v, uint32_t flip, uint32_t *words)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            words[k] = __byte_perm(v[2 * k], v[2 * k + 1], 0x7351) ^ flip;
    }
};

/* The middle one of three, of which the lowest and the highest are known. */
template <typename V> TWI_DEVICE V middle(V a, V b, V c, V lowest, V highest)
{
    return a ^ b ^ c ^ lowest ^ highest;
}

/* Vectors of a row without halos, whose middle W words are a thread's own: those of the words beside come from the
   neighbouring threads. A pixel of one channel needs but the odd vector on the left, the even one on the right. */
template <int C, int W> TWI_DEVICE void fetch_halos(uint32_t *v)
{
    if (C > 1) {
        v[0] = __shfl_up_sync(~0u, v[2 * W], 1);
        v[2 * W + 3] = __shfl_down_sync(~0u, v[3], 1);
    }
    v[1] = __shfl_up_sync(~0u, v[2 * W + 1], 1);
    v[2 * W + 2] = __shfl_down_sync(~0u, v[2], 1);
}

#endif
