/* Units, what a block makes of one, and how the values of units become a record (reduce_kernels.h). */
#ifndef TWI_REDUCE_TREE_CUH
#define TWI_REDUCE_TREE_CUH

#include "cuda/reduce_tally.cuh"

enum { TWI_WARPS = TWI_LANES / TWI_WARP };

/* Blocks that a multiprocessor is to hold, so that each thread may have 64 registers. */
enum { TWI_BLOCKS = 8 };

/* ---- Where pixels are ---------------------------------------------------------------------------------------- */

/* Unit `item` of all, which is value `item` of the first level, from piece `piece` of its own on. */
template <typename T> struct twi_part {
    const T *at;
    int64_t x;
    int64_t y;
    int64_t channel;
    int n; /* pixels of the unit from there on */

    __device__ __forceinline__ twi_part(const twi_cuda_reduce &a, int64_t item, int64_t piece)
    {
        const bool single = a.plane.height == 1 && a.plane.channels == 1;
        const int64_t rows = single ? 0 : a.units == 1 ? item : item / a.units; /* of this and earlier channels */
        channel = a.plane.channels == 1 ? 0 : rows / a.plane.height;
        y = rows - channel * a.plane.height;
        x = (item - rows * a.units) * a.unit;
        n = (int)(a.plane.width - x < a.unit ? a.plane.width - x : a.unit);
        x += piece * a.piece;
        n -= (int)(piece * a.piece);
        at = (const T *)((const char *)a.plane.src + y * a.plane.pitch) + x * a.plane.channels + channel;
    }
};

/* The unit of a block. The channels of a unit are neighbours, since they share memory. */
static __device__ __forceinline__ int64_t twi_item_of_block(const twi_cuda_reduce &a, int64_t block)
{
    if (a.plane.channels == 1)
        return block;
    const int64_t of_channel = block / a.plane.channels;
    return (block - of_channel * a.plane.channels) * a.plane.height * a.units + of_channel;
}

/* ---- Extremes and where they are: the better of two, or the earlier --------------------------------------------- */

/* Keys of 32 bits or fewer: a word, of which the lower one counts. 0 is none, and ~0 is worse than all. */
template <typename T, bool HIGH, bool LONG = sizeof(T) == 8> struct twi_spot {
    static constexpr int words = 1;
    uint64_t word = ~0ull;

    /* `piece`: of all, below 2^32 - 1. */
    __device__ __forceinline__ void set(typename twi_keys<T>::Key key, int64_t piece)
    {
        const uint32_t order = (uint32_t)(int32_t)key ^ 0x80000000u;
        word = (uint64_t)(HIGH ? ~order : order) << 32 | (uint32_t)(piece + 1);
    }
    __device__ __forceinline__ void merge(const twi_spot &other)
    {
        word = other.word < word ? other.word : word;
    }
    __device__ __forceinline__ twi_spot down(int distance) const
    {
        twi_spot other;
        other.word = twi_shuffle_down(word, distance);
        return other;
    }
    __device__ __forceinline__ void put(uint64_t *to) const
    {
        to[0] = word;
    }
    __device__ __forceinline__ void get(const uint64_t *from)
    {
        word = from[0];
    }
    __device__ __forceinline__ int64_t key() const
    {
        const uint32_t order = (uint32_t)(word >> 32);
        return twi_widen<T>((typename twi_keys<T>::Key)((HIGH ? ~order : order) ^ 0x80000000u));
    }
    __device__ __forceinline__ int64_t piece() const
    {
        return (int64_t)(uint32_t)word - 1;
    }
};

/* Keys of 64 bits, of which none is INT64_MAX or INT64_MIN. */
template <typename T, bool HIGH> struct twi_spot<T, HIGH, true> {
    static constexpr int words = 2;
    uint64_t order = ~0ull;
    uint64_t next = ~0ull; /* the piece and 1 */

    __device__ __forceinline__ void set(int64_t key, int64_t piece)
    {
        order = (uint64_t)(HIGH ? ~key : key) ^ 1ull << 63;
        next = (uint64_t)piece + 1;
    }
    __device__ __forceinline__ void merge(const twi_spot &other)
    {
        if (other.order < order || (other.order == order && other.next < next))
            *this = other;
    }
    __device__ __forceinline__ twi_spot down(int distance) const
    {
        twi_spot other;
        other.order = twi_shuffle_down(order, distance);
        other.next = twi_shuffle_down(next, distance);
        return other;
    }
    __device__ __forceinline__ void put(uint64_t *to) const
    {
        to[0] = order;
        to[1] = next;
    }
    __device__ __forceinline__ void get(const uint64_t *from)
    {
        order = from[0];
        next = from[1];
    }
    __device__ __forceinline__ int64_t key() const
    {
        const int64_t key = (int64_t)(order ^ 1ull << 63);
        return HIGH ? ~key : key;
    }
    __device__ __forceinline__ int64_t piece() const
    {
        return (int64_t)next - 1;
    }
};

/* ---- Values ---------------------------------------------------------------------------------------------------- */

/* What a thread, or for its block thread 0, knows of a unit or node. A: of sums, f64 or 128 bits. */
template <typename T, int WHAT, typename A> struct twi_value {
    A sum = 0;
    twi_spot<T, false> lowest;
    twi_spot<T, true> highest;
    uint64_t counts = 0;
};

/* Of all threads' values, thread 0 gets what is no sum. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_gather(twi_value<T, WHAT, A> *value)
{
    __shared__ twi_spot<T, false> lowest[TWI_WARPS];
    __shared__ twi_spot<T, true> highest[TWI_WARPS];
    __shared__ uint64_t counts[TWI_WARPS];
#pragma unroll
    for (int distance = TWI_WARP / 2; distance > 0; distance /= 2) {
        if (WHAT & TWI_CUDA_LOWEST)
            value->lowest.merge(value->lowest.down(distance));
        if (WHAT & TWI_CUDA_HIGHEST)
            value->highest.merge(value->highest.down(distance));
        if (WHAT & TWI_CUDA_COUNTS)
            value->counts += twi_shuffle_down(value->counts, distance);
    }
    if (threadIdx.x % TWI_WARP == 0) {
        lowest[threadIdx.x / TWI_WARP] = value->lowest;
        highest[threadIdx.x / TWI_WARP] = value->highest;
        counts[threadIdx.x / TWI_WARP] = value->counts;
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i < TWI_WARPS && threadIdx.x == 0; i++) {
        value->lowest.merge(lowest[i]);
        value->highest.merge(highest[i]);
        value->counts += counts[i];
    }
}

/* The sum of all threads' integers, in any order; thread 0 has it. */
template <typename S> static __device__ __forceinline__ S twi_add_block(S sum)
{
    __shared__ S sums[TWI_WARPS];
    sum = twi_fold_warp(sum);
    if (threadIdx.x % TWI_WARP == 0)
        sums[threadIdx.x / TWI_WARP] = sum;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < TWI_WARPS && threadIdx.x == 0; i++)
        sum += sums[i];
    return sum;
}

/* ---- Values in memory ---------------------------------------------------------------------------------------- */

/* A value is published as words of which none is 0, and 0 is where none is yet: no word waits for a fence, and whoever
   reads one puts 0 back for the next launch. */
template <typename T, int WHAT> struct twi_words {
    static constexpr int lowest = WHAT & TWI_CUDA_SUM ? 1 : 0;
    static constexpr int highest = lowest + (WHAT & TWI_CUDA_LOWEST ? twi_spot<T, false>::words : 0);
    static constexpr int counts = highest + (WHAT & TWI_CUDA_HIGHEST ? twi_spot<T, true>::words : 0);
    static constexpr int all = counts + (WHAT & TWI_CUDA_COUNTS ? 1 : 0);
};

/* A sum of floats is never -0. One of integers has 64 bits where it is published: 2^32 pixels are a record. */
static __device__ __forceinline__ uint64_t twi_word_of(double sum)
{
    return (uint64_t)__double_as_longlong(sum) ^ 1ull << 63;
}
static __device__ __forceinline__ uint64_t twi_word_of(twi_i128 sum)
{
    return (uint64_t)sum ^ 1ull << 63;
}
static __device__ __forceinline__ void twi_add_word(double *sum, uint64_t word)
{
    *sum += __longlong_as_double((long long)(word ^ 1ull << 63));
}
static __device__ __forceinline__ void twi_add_word(twi_i128 *sum, uint64_t word)
{
    *sum += (int64_t)(word ^ 1ull << 63);
}

/* For one thread: value `item` of the level. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_publish(const twi_cuda_level &level, int64_t item,
                                                   const twi_value<T, WHAT, A> &value)
{
    typedef twi_words<T, WHAT> Words;
    uint64_t words[Words::all];
    if constexpr (WHAT & TWI_CUDA_SUM)
        words[0] = twi_word_of(value.sum);
    if constexpr (WHAT & TWI_CUDA_LOWEST)
        value.lowest.put(words + Words::lowest);
    if constexpr (WHAT & TWI_CUDA_HIGHEST)
        value.highest.put(words + Words::highest);
    if constexpr (WHAT & TWI_CUDA_COUNTS)
        words[Words::counts] = value.counts + 1;
#pragma unroll
    for (int i = 0; i < Words::all; i++)
        *(volatile uint64_t *)(level.words + i * level.values + item) = words[i];
}

/* ---- Nodes ------------------------------------------------------------------------------------------------- */

/* Adds the words of a value. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_take_words(twi_value<T, WHAT, A> *value, const uint64_t *words)
{
    typedef twi_words<T, WHAT> Words;
    if constexpr (WHAT & TWI_CUDA_SUM)
        twi_add_word(&value->sum, words[0]);
    if constexpr (WHAT & TWI_CUDA_LOWEST) {
        twi_spot<T, false> other;
        other.get(words + Words::lowest);
        value->lowest.merge(other);
    }
    if constexpr (WHAT & TWI_CUDA_HIGHEST) {
        twi_spot<T, true> other;
        other.get(words + Words::highest);
        value->highest.merge(other);
    }
    if constexpr (WHAT & TWI_CUDA_COUNTS)
        value->counts += words[Words::counts] - 1;
}

/* A thread's share of a node's n values, which it waits for: those of its lane, in ascending order. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_take_lane(const twi_cuda_level &level, int64_t first, int n,
                                                     twi_value<T, WHAT, A> *value)
{
    enum { WORDS = twi_words<T, WHAT>::all, AT_ONCE = WORDS == 1 ? 16 : WORDS == 2 ? 8 : 2 };
    for (int start = (int)threadIdx.x; start < n; start += AT_ONCE * TWI_LANES) {
        volatile uint64_t *const from = level.words + first + start;
        uint64_t words[AT_ONCE][WORDS];
        bool missing;
        do { /* all loads before the first use */
            missing = false;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
#pragma unroll
                for (int i = 0; i < WORDS; i++)
                    words[k][i] = start + k * TWI_LANES < n ? from[i * level.values + k * TWI_LANES] : ~0ull;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
#pragma unroll
                for (int i = 0; i < WORDS; i++)
                    missing = missing || words[k][i] == 0;
        } while (missing);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (start + k * TWI_LANES >= n)
                break;
            twi_take_words(value, words[k]);
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                from[i * level.values + k * TWI_LANES] = 0;
        }
    }
}

/* The lanes' sums to thread 0: floats in their order. */
static __device__ __forceinline__ double twi_fold_sums(double lane)
{
    __shared__ double lanes[TWI_LANES];
    return twi_fold_block(lane, lanes);
}
static __device__ __forceinline__ twi_i128 twi_fold_sums(twi_i128 lane)
{
    const int64_t high = twi_add_block((int64_t)(lane >> 32));
    __syncthreads(); /* both use one array */
    const int64_t low = twi_add_block((int64_t)((uint64_t)lane & 0xffffffffu));
    return ((twi_i128)high << 32) + low;
}

/* ---- Records ------------------------------------------------------------------------------------------------- */

/* The first pixel whose key is the wanted one; for twi_visit. */
template <typename T, bool HIGH> struct twi_finder {
    int64_t wanted;
    int at;
    template <typename V> __device__ __forceinline__ void operator()(const V &pixels, int first)
    {
        twi_bound<T, HIGH> bound;
        bound.take(pixels);
        if (first < at && twi_widen<T>(bound.key()) == wanted)
            at = first;
    }
};

/* The first pixel of thread 0's spot, as y * width + x. */
template <typename T, bool HIGH>
static __device__ __noinline__ int64_t twi_find(const twi_cuda_reduce &a, int64_t piece, int64_t key)
{
    __shared__ int64_t shared[2];
    __shared__ int first;
    if (threadIdx.x == 0) {
        shared[0] = piece;
        shared[1] = key;
        first = INT32_MAX;
    }
    __syncthreads();
    piece = shared[0];
    const int64_t item = a.pieces == 1 ? piece : piece / a.pieces;
    const twi_part<T> part(a, item, piece - item * a.pieces);
    twi_finder<T, HIGH> finder = {shared[1], INT32_MAX};
    twi_visit(part.at, part.n < a.piece ? part.n : (int)a.piece, a.plane.channels, finder);
    if (finder.at != INT32_MAX) { /* of 16 bytes, the first that has the key */
        while (twi_widen<T>(twi_keys<T>::of(part.at[(int64_t)finder.at * a.plane.channels])) != finder.wanted)
            finder.at++;
        atomicMin(&first, finder.at);
    }
    __syncthreads();
    return part.y * a.plane.width + part.x + first;
}

/* For one thread: `stats` has the places. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_write_record(const twi_cuda_reduce &a, const twi_value<T, WHAT, A> &value,
                                                        int64_t record, twi_stats stats)
{
    const twi_cuda_record &r = a.record;
    const int64_t channel = r.channels == 1 ? 0 : record / r.records;
    if (WHAT & TWI_CUDA_SUM)
        twi_put_sum(&stats, value.sum);
    if (a.middle.squares) {
        stats.var = stats.sum;
        stats.sum = 0;
    }
    if (WHAT & TWI_CUDA_LOWEST)
        stats.min = twi_value_of_key(value.lowest.key());
    if (WHAT & TWI_CUDA_HIGHEST)
        stats.max = twi_value_of_key(value.highest.key());
    stats.count_nonzero = WHAT & TWI_CUDA_COUNTS ? value.counts : 0;
    twi_put_record(r, stats, 0, record - channel * r.records, channel);
}

/* For whole blocks: thread 0's value becomes the record. Apart, so that it costs the other paths no registers. */
template <typename T, int WHAT, typename A>
static __device__ __noinline__ void twi_make_record(const twi_cuda_reduce &a, twi_value<T, WHAT, A> value,
                                                    int64_t record)
{
    const twi_cuda_record &r = a.record;
    twi_stats stats = {};
    if (WHAT & TWI_CUDA_LOWEST && r.figures & TWI_ARGMIN) {
        const int64_t number = twi_find<T, false>(a, value.lowest.piece(), value.lowest.key());
        stats.argmin_y = number / r.width;
        stats.argmin_x = number - stats.argmin_y * r.width;
    }
    if (WHAT & TWI_CUDA_HIGHEST && r.figures & TWI_ARGMAX) {
        const int64_t number = twi_find<T, true>(a, value.highest.piece(), value.highest.key());
        stats.argmax_y = number / r.width;
        stats.argmax_x = number - stats.argmax_y * r.width;
    }
    if (threadIdx.x == 0)
        twi_write_record(a, value, record, stats);
}

/* ---- Blocks --------------------------------------------------------------------------------------------------- */

/* Thread 0's value is a node's, or a unit's (level 0): a record, or a value of the next sequence. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_put_value(const twi_cuda_reduce &a, const twi_value<T, WHAT, A> &value,
                                                     int level, int64_t item)
{
    if (level == a.levels)
        twi_make_record(a, value, item);
    else if (threadIdx.x == 0)
        twi_publish(a.level[level], item, value);
}

/* For blocks behind those that have units: block `number` of them. Blocks begin in the order of their numbers, so all
   that this one waits for are at work. */
template <typename T, int WHAT, typename A>
static __device__ __noinline__ void twi_make_node(const twi_cuda_reduce &a, int64_t number)
{
    int i = 0;
    for (; number >= a.level[i].nodes * a.level[i].sequences; i++)
        number -= a.level[i].nodes * a.level[i].sequences;
    const twi_cuda_level &level = a.level[i];
    const int64_t sequence = level.nodes == 1 ? number : number / level.nodes;
    const int64_t first = (number - sequence * level.nodes) * TWI_LEAF;
    const int n = level.count - first < TWI_LEAF ? (int)(level.count - first) : TWI_LEAF;
    twi_value<T, WHAT, A> value;
    twi_take_lane(level, sequence * level.count + first, n, &value);
    if (WHAT & TWI_CUDA_SUM)
        value.sum = twi_fold_sums(value.sum);
    if constexpr (WHAT != TWI_CUDA_SUM)
        twi_gather(&value);
    twi_put_value(a, value, i + 1, number);
}

#endif
