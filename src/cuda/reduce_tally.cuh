/*
 * What a thread makes of the pixels that it sees: sums of integers, extremes, counts. Pixels come one by one or 16
 * bytes at a time; of 8 and 16 bits, several are in a word. Of a thread's pieces (reduce_kernels.h), 32 bits count all.
 */
#ifndef TWI_REDUCE_TALLY_CUH
#define TWI_REDUCE_TALLY_CUH

#include "cuda/reduce.cuh"

template <typename T> struct twi_sixteen {
    static constexpr int count = 16 / (int)sizeof(T);
    union {
        uint4 words;
        uint32_t word[4];
        T of[16 / sizeof(T)];
    };
};

/* An element in all places of a word. */
static __device__ __forceinline__ uint32_t twi_repeat(uint8_t element)
{
    return element * 0x01010101u;
}
static __device__ __forceinline__ uint32_t twi_repeat(uint16_t element)
{
    return element * 0x00010001u;
}
static __device__ __forceinline__ uint32_t twi_repeat(int16_t element)
{
    return twi_repeat((uint16_t)element);
}

/* ---- Sums ---------------------------------------------------------------------------------------------- */

/* Integers; floats are added by their order (reduce_leaf.cu). */
template <typename T> struct twi_adder {
    typedef int64_t Sum;
    Sum sum = 0;
    __device__ __forceinline__ void take(T element)
    {
        sum += (int64_t)element;
    }
    __device__ __forceinline__ void take(const twi_sixteen<T> &v)
    {
#pragma unroll
        for (int i = 0; i < v.count; i++)
            take(v.of[i]);
    }
};
/* Products with ones add four bytes, or two halves of a word. */
template <> struct twi_adder<uint8_t> {
    typedef uint32_t Sum;
    Sum sum = 0;
    __device__ __forceinline__ void take(uint8_t element)
    {
        sum += element;
    }
    __device__ __forceinline__ void take(const twi_sixteen<uint8_t> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum = __dp4a(v.word[i], 0x01010101u, sum);
    }
};
template <> struct twi_adder<uint16_t> {
    typedef uint32_t Sum;
    Sum sum = 0;
    __device__ __forceinline__ void take(uint16_t element)
    {
        sum += element;
    }
    __device__ __forceinline__ void take(const twi_sixteen<uint16_t> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum = __dp2a_lo(v.word[i], 0x0101u, sum);
    }
};
template <> struct twi_adder<int16_t> {
    typedef int32_t Sum;
    Sum sum = 0;
    __device__ __forceinline__ void take(int16_t element)
    {
        sum += element;
    }
    __device__ __forceinline__ void take(const twi_sixteen<int16_t> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum = __dp2a_lo((int32_t)v.word[i], 0x0101, sum);
    }
};

/* ---- Extremes ------------------------------------------------------------------------------------------ */

/* The lowest or highest element; before any has come, one that no other is worse than. Of words, key_of() is that of
   the elements in one place. rank() is for twi_raise(): the key, or what is compared in less time. */
template <typename T, bool HIGH> struct twi_bound {
    typedef typename twi_keys<T>::Key Key;
    Key best = HIGH ? twi_keys<T>::lowest : twi_keys<T>::highest;
    __device__ __forceinline__ void take(T element)
    {
        const Key key = twi_keys<T>::of(element);
        best = (HIGH ? key > best : key < best) ? key : best;
    }
    __device__ __forceinline__ void take(const twi_sixteen<T> &v)
    {
#pragma unroll
        for (int i = 0; i < v.count; i++)
            take(v.of[i]);
    }
    __device__ __forceinline__ Key key() const
    {
        return best;
    }
    __device__ __forceinline__ Key rank() const
    {
        return key();
    }
    __device__ __forceinline__ Key key_of(int place) const
    {
        (void)place;
        return best;
    }
};

/* Bytes as halves of words: of a whole word's halves, the upper byte decides. */
template <bool HIGH> struct twi_bound<uint8_t, HIGH> {
    typedef uint8_t Key;
    uint32_t upper = HIGH ? 0 : ~0u;
    uint32_t lower = HIGH ? 0 : ~0u;
    __device__ __forceinline__ void take_word(uint32_t word)
    {
        upper = HIGH ? __vmaxu2(upper, word) : __vminu2(upper, word);
        lower = HIGH ? __vmaxu2(lower, word & 0x00ff00ffu) : __vminu2(lower, word & 0x00ff00ffu);
    }
    __device__ __forceinline__ void take(uint8_t element)
    {
        take_word(twi_repeat(element));
    }
    __device__ __forceinline__ void take(const twi_sixteen<uint8_t> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            take_word(v.word[i]);
    }
    __device__ __forceinline__ Key key() const
    {
        const uint32_t both = upper >> 8 & 0x00ff00ffu;
        const uint32_t best = HIGH ? __vmaxu2(both, lower) : __vminu2(both, lower);
        return (Key)(HIGH ? max(best & 0xffffu, best >> 16) : min(best & 0xffffu, best >> 16));
    }
    __device__ __forceinline__ Key rank() const
    {
        return key();
    }
    __device__ __forceinline__ Key key_of(int place) const
    {
        return (Key)(place % 2 == 0 ? lower >> 8 * place : upper >> 8 * place);
    }
};

template <typename T, bool HIGH> struct twi_bound_of_halves {
    typedef T Key;
    static constexpr bool is_signed = (T)-1 < (T)0;
    uint32_t best;
    __device__ __forceinline__ twi_bound_of_halves()
        : best(twi_repeat(HIGH ? twi_keys<T>::lowest : twi_keys<T>::highest))
    {
    }
    __device__ __forceinline__ void take_word(uint32_t word)
    {
        if (is_signed)
            best = HIGH ? __vmaxs2(best, word) : __vmins2(best, word);
        else
            best = HIGH ? __vmaxu2(best, word) : __vminu2(best, word);
    }
    __device__ __forceinline__ void take(T element)
    {
        take_word(twi_repeat(element));
    }
    __device__ __forceinline__ void take(const twi_sixteen<T> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            take_word(v.word[i]);
    }
    __device__ __forceinline__ Key key() const
    {
        const T low = (T)best;
        const T high = (T)(best >> 16);
        return (HIGH ? high > low : high < low) ? high : low;
    }
    __device__ __forceinline__ Key rank() const
    {
        return key();
    }
    __device__ __forceinline__ Key key_of(int place) const
    {
        return (Key)(best >> 16 * place);
    }
};
template <bool HIGH> struct twi_bound<uint16_t, HIGH> : twi_bound_of_halves<uint16_t, HIGH> {
};
template <bool HIGH> struct twi_bound<int16_t, HIGH> : twi_bound_of_halves<int16_t, HIGH> {
};

static __device__ __forceinline__ float twi_float_of(uint32_t bits)
{
    return __uint_as_float(bits);
}

/* The hardware's order is the definition's: -0 below +0; the lowest passes NaN over, the highest keeps it. */
template <bool HIGH> static __device__ __forceinline__ float twi_better_float(float a, float b)
{
#if __CUDA_ARCH__ >= 800
    float better;
    if (HIGH)
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(better) : "f"(a), "f"(b));
    else
        asm("min.f32 %0, %1, %2;" : "=f"(better) : "f"(a), "f"(b));
    return better;
#else
    const int32_t key_a = twi_keys<float>::of(a);
    const int32_t key_b = twi_keys<float>::of(b);
    return (HIGH ? key_b > key_a : key_b < key_a) ? b : a;
#endif
}

template <bool HIGH> struct twi_bound<float, HIGH> {
    typedef int32_t Key;
    float best;
    __device__ __forceinline__ twi_bound() : best(twi_float_of(HIGH ? 0xff800000u : 0x7fc00000u))
    {
    }
    __device__ __forceinline__ void take(float element)
    {
        best = twi_better_float<HIGH>(best, element);
    }
    __device__ __forceinline__ void take(const twi_sixteen<float> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            take(v.of[i]);
    }
    __device__ __forceinline__ Key key() const
    {
        return twi_keys<float>::of(best);
    }
    __device__ __forceinline__ float rank() const
    {
        return best;
    }
    __device__ __forceinline__ Key key_of(int place) const
    {
        (void)place;
        return key();
    }
};

/* ---- Counts of what is not 0 --------------------------------------------------------------------------- */

template <typename T> struct twi_counter {
    uint32_t some = 0;
    __device__ __forceinline__ void take(T element)
    {
        some += element != 0;
    }
    __device__ __forceinline__ void take(const twi_sixteen<T> &v)
    {
#pragma unroll
        for (int i = 0; i < v.count; i++)
            take(v.of[i]);
    }
    __device__ __forceinline__ uint32_t count() const
    {
        return some;
    }
};
/* The highest bit of each byte, set if any is; added in 128ths. */
template <> struct twi_counter<uint8_t> {
    uint32_t some = 0;
    __device__ __forceinline__ void take(uint8_t element)
    {
        some += element != 0 ? 128 : 0;
    }
    __device__ __forceinline__ void take(const twi_sixteen<uint8_t> &v)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            some = __dp4a((((v.word[i] & 0x7f7f7f7fu) + 0x7f7f7f7fu) | v.word[i]) & 0x80808080u, 0x01010101u, some);
    }
    __device__ __forceinline__ uint32_t count() const
    {
        return some >> 7;
    }
};

/* ---- Extremes and where they are ------------------------------------------------------------------------- */

/* Whether the other one is better than the best, which it then becomes. */
template <bool HIGH, typename Key> static __device__ __forceinline__ bool twi_raise(Key *best, Key other)
{
    const bool better = HIGH ? other > *best : other < *best;
    *best = better ? other : *best;
    return better;
}
template <bool HIGH> static __device__ __forceinline__ bool twi_raise(float *best, float other)
{
    const uint32_t before = __float_as_uint(*best);
    *best = twi_better_float<HIGH>(*best, other);
    return __float_as_uint(*best) != before;
}

static __device__ __forceinline__ float twi_rank(float element)
{
    return element;
}
static __device__ __forceinline__ int64_t twi_rank(double element)
{
    return twi_keys<double>::of(element);
}
template <typename T> static __device__ __forceinline__ T twi_rank(T element)
{
    return element;
}

static __device__ __forceinline__ int32_t twi_key_of_rank(float rank)
{
    return twi_keys<float>::of(rank);
}
template <typename Key> static __device__ __forceinline__ Key twi_key_of_rank(Key key)
{
    return key;
}

/* The lowest or highest of what a thread sees in ascending order, the first of several. */
template <typename T, bool HIGH> struct twi_best {
    decltype(twi_bound<T, HIGH>().rank()) rank = twi_bound<T, HIGH>().rank();
    int at = -1;         /* number of the element, or of the first of those with which it came; -1: none has come */
    twi_sixteen<T> with; /* the last that came so: the place among them is looked for in the end */

    __device__ __forceinline__ twi_best()
    {
#pragma unroll
        for (int i = 0; i < with.count; i++) /* worse than whatever comes alone */
            with.of[i] = twi_keys<T>::back(HIGH ? twi_keys<T>::lowest : twi_keys<T>::highest);
    }
    __device__ __forceinline__ void take(T element, int number)
    {
        if (twi_raise<HIGH>(&rank, twi_rank(element)) || at < 0)
            at = number;
    }
    __device__ __forceinline__ void take(const twi_sixteen<T> &v, int number)
    {
        twi_bound<T, HIGH> bound;
        bound.take(v);
        if (twi_raise<HIGH>(&rank, bound.rank()) || at < 0) {
            at = number;
            with = v;
        }
    }
    __device__ __forceinline__ typename twi_keys<T>::Key key() const
    {
        return twi_key_of_rank(rank);
    }
    __device__ __forceinline__ int number() const
    {
        int place = 0;
#pragma unroll
        for (int i = with.count - 1; i >= 0; i--)
            place = twi_keys<T>::of(with.of[i]) == key() ? i : place;
        return at + place;
    }
};

/* ---- All of a set -------------------------------------------------------------------------------------- */

/* For `twi_visit`: takes an element, or 16 bytes of them, of that number. */
template <typename T, int WHAT> struct twi_tally {
    twi_adder<T> adder;
    twi_best<T, false> lowest;
    twi_best<T, true> highest;
    twi_counter<T> counter;

    template <typename V> __device__ __forceinline__ void operator()(const V &pixels, int number)
    {
        if (WHAT & TWI_CUDA_SUM)
            adder.take(pixels);
        if (WHAT & TWI_CUDA_LOWEST)
            lowest.take(pixels, number);
        if (WHAT & TWI_CUDA_HIGHEST)
            highest.take(pixels, number);
        if (WHAT & TWI_CUDA_COUNTS)
            counter.take(pixels);
    }
};

/* Shows THREADS threads side by side, 16 or more, n elements, `step` apart, each to one of the threads and to each in
   ascending order: to `see` with its number, or as 16 bytes with that of the first. The one at `at` has the number
   `number`. Memory that is read once is the first to leave the caches: what blocks tell each other stays. */
template <int THREADS, typename T, typename F>
static __device__ __forceinline__ void twi_visit(const T *at, int n, int step, int number, F &see)
{
    enum { DEPTH = THREADS == TWI_LANES ? TWI_CUDA_ROUND_BYTES / (TWI_LANES * 16) : 2 /* loads under way */ };
    constexpr int count = twi_sixteen<T>::count;
    const int thread = (int)threadIdx.x % THREADS;
    if (step > 1) {
#pragma unroll 4
        for (int i = thread; i < n; i += THREADS)
            see(at[(int64_t)i * step], number + i); /* channels share memory, and caches */
        return;
    }
    const int skipped = (int)(-(uintptr_t)at % 16 / sizeof(T)); /* up to a multiple of 16 bytes */
    const int before = skipped < n ? skipped : n;
    const int vectors = (n - before) / count;
    const uint4 *const from = (const uint4 *)(at + before);
    int i = thread;
    if (thread < before)
        see(__ldcs(at + thread), number + thread);
    number += before;
    for (; i + (DEPTH - 1) * THREADS < vectors; i += DEPTH * THREADS) {
        twi_sixteen<T> v[DEPTH];
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            v[k].words = __ldcs(from + i + k * THREADS);
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            see(v[k], number + (i + k * THREADS) * count);
    }
    for (; i < vectors; i += THREADS) {
        twi_sixteen<T> v;
        v.words = __ldcs(from + i);
        see(v, number + i * count);
    }
    const int rest = vectors * count + thread;
    if (before + rest < n)
        see(__ldcs(at + before + rest), number + rest);
}

#endif
