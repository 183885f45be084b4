/* Pieces, what a block makes of them, and how the values of blocks become a record (reduce_kernels.h). */
#ifndef TWI_REDUCE_TREE_CUH
#define TWI_REDUCE_TREE_CUH

#include "cuda/reduce_tally.cuh"

enum { TWI_WARPS = TWI_LANES / TWI_WARP };

/* Blocks that a multiprocessor is to hold, so that each thread may have 64 registers. */
enum { TWI_BLOCKS = 8 };

/* ---- Where pixels are ---------------------------------------------------------------------------------------- */

/* Divisions are slow, and these mostly have nothing to divide. */
static __device__ __forceinline__ int64_t twi_quotient(int64_t value, int64_t by)
{
    return value < by ? 0 : by == 1 ? value : value / by;
}

/* What a block has: a share of a sequence. The channels of a share are neighbours, since they share memory. */
struct twi_share {
    int32_t channel;
    int64_t row; /* that the sequence begins with */
    int64_t number;

    __device__ __forceinline__ twi_share(const twi_cuda_reduce &a, int64_t block)
    {
        const int64_t of_channel = twi_quotient(block, a.plane.channels);
        channel = (int32_t)(block - of_channel * a.plane.channels);
        row = twi_quotient(of_channel, a.shares);
        number = of_channel - row * a.shares;
    }
    /* The value, of all. */
    __device__ __forceinline__ int64_t item(const twi_cuda_reduce &a) const
    {
        return channel * twi_quotient(a.blocks, a.plane.channels) + row * a.shares + number;
    }
};

/* A piece of the sequence that begins with `row`. */
template <typename T> struct twi_piece {
    const T *at;
    int64_t x;
    int64_t y;
    int n; /* pixels */

    __device__ __forceinline__ twi_piece(const twi_cuda_reduce &a, int32_t channel, int64_t row, int64_t piece)
    {
        const int64_t below = twi_quotient(piece, a.units);
        y = row + below;
        x = (piece - below * a.units) * a.unit;
        n = (int)(a.plane.width - x < a.unit ? a.plane.width - x : a.unit);
        at = (const T *)((const char *)a.plane.src + y * a.plane.pitch) + x * a.plane.channels + channel;
    }
};

/* ---- Extremes and where they are: the better of two, or the earlier --------------------------------------------- */

/* The lower order is the better one; before any has come, the worst. */
template <typename Order, typename Place> struct twi_spot {
    Order order = (Order)-1 > (Order)0 ? (Order)-1 : (Order) ~((Order)1 << (8 * sizeof(Order) - 1));
    Place place = (Place)-1;

    __device__ __forceinline__ void merge(const twi_spot &other)
    {
        if (other.order < order || (other.order == order && other.place < place))
            *this = other;
    }
    __device__ __forceinline__ twi_spot down(int distance) const
    {
        twi_spot other;
        other.order = twi_shuffle_down(order, distance);
        other.place = twi_shuffle_down(place, distance);
        return other;
    }
};

/* Within a block: by keys, and numbers of elements. */
template <typename T> struct twi_near : twi_spot<int32_t, uint32_t> {
};
template <> struct twi_near<double> : twi_spot<int64_t, uint32_t> {
};

/* Among blocks: by words, of which none is 0. No key is INT64_MAX or INT64_MIN, and the place, y * width + x, has 1
   added to it. */
typedef twi_spot<uint64_t, uint64_t> twi_far;

/* ---- Values ---------------------------------------------------------------------------------------------------- */

/* What a thread, or for its block thread 0, knows of its share or of a node: the set WHAT. A: of sums, f64 or 128 bits.
 */
template <int WHAT, typename A, typename Spot = twi_far> struct twi_value {
    A sum = 0;
    Spot lowest;
    Spot highest;
    uint64_t counts = 0;
};

/* Of a warp's values, or of fewer threads', the first gets what is no sum. */
template <int THREADS, int WHAT, typename A, typename Spot>
static __device__ __forceinline__ void twi_gather_warp(twi_value<WHAT, A, Spot> *value)
{
#pragma unroll
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (WHAT & TWI_CUDA_LOWEST)
            value->lowest.merge(value->lowest.down(distance));
        if (WHAT & TWI_CUDA_HIGHEST)
            value->highest.merge(value->highest.down(distance));
        if (WHAT & TWI_CUDA_COUNTS)
            value->counts += twi_shuffle_down(value->counts, distance);
    }
}

/* Of all threads' values, thread 0. */
template <int WHAT, typename A, typename Spot>
static __device__ __forceinline__ void twi_gather(twi_value<WHAT, A, Spot> *value)
{
    __shared__ Spot lowest[TWI_WARPS];
    __shared__ Spot highest[TWI_WARPS];
    __shared__ uint64_t counts[TWI_WARPS];
    twi_gather_warp<TWI_WARP>(value);
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
template <int WHAT> struct twi_words {
    static constexpr int lowest = WHAT & TWI_CUDA_SUM ? 1 : 0;
    static constexpr int highest = lowest + (WHAT & TWI_CUDA_LOWEST ? 2 : 0);
    static constexpr int counts = highest + (WHAT & TWI_CUDA_HIGHEST ? 2 : 0);
    static constexpr int all = counts + (WHAT & TWI_CUDA_COUNTS ? 1 : 0);
};

/* A sum of floats is never -0. One of integers has fewer than 64 bits where it is published. */
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

static __device__ __forceinline__ void twi_put_spot(uint64_t *words, const twi_far &spot)
{
    words[0] = spot.order;
    words[1] = spot.place;
}
static __device__ __forceinline__ twi_far twi_get_spot(const uint64_t *words)
{
    twi_far spot;
    spot.order = words[0];
    spot.place = words[1];
    return spot;
}

/* For one thread: value `item` of the level. */
template <int WHAT, typename A>
static __device__ __forceinline__ void twi_publish(const twi_cuda_level &level, int64_t item,
                                                   const twi_value<WHAT, A> &value)
{
    typedef twi_words<WHAT> Words;
    uint64_t words[Words::all];
    if constexpr (WHAT & TWI_CUDA_SUM)
        words[0] = twi_word_of(value.sum);
    if constexpr (WHAT & TWI_CUDA_LOWEST)
        twi_put_spot(words + Words::lowest, value.lowest);
    if constexpr (WHAT & TWI_CUDA_HIGHEST)
        twi_put_spot(words + Words::highest, value.highest);
    if constexpr (WHAT & TWI_CUDA_COUNTS)
        words[Words::counts] = value.counts + 1;
#pragma unroll
    for (int i = 0; i < Words::all; i++)
        *(volatile uint64_t *)(level.words + i * level.values + item) = words[i];
}

/* ---- Nodes ------------------------------------------------------------------------------------------------- */

/* Adds the words of a value. */
template <int WHAT, typename A>
static __device__ __forceinline__ void twi_take_words(twi_value<WHAT, A> *value, const uint64_t *words)
{
    typedef twi_words<WHAT> Words;
    if constexpr (WHAT & TWI_CUDA_SUM)
        twi_add_word(&value->sum, words[0]);
    if constexpr (WHAT & TWI_CUDA_LOWEST)
        value->lowest.merge(twi_get_spot(words + Words::lowest));
    if constexpr (WHAT & TWI_CUDA_HIGHEST)
        value->highest.merge(twi_get_spot(words + Words::highest));
    if constexpr (WHAT & TWI_CUDA_COUNTS)
        value->counts += words[Words::counts] - 1;
}

/* A thread's share of a node's n values, which it waits for: those of its lane, in ascending order. */
template <int WHAT, typename A>
static __device__ __forceinline__ void twi_take_lane(const twi_cuda_level &level, int64_t first, int n,
                                                     twi_value<WHAT, A> *value)
{
    enum { WORDS = twi_words<WHAT>::all, AT_ONCE = WORDS == 1 ? 16 : WORDS == 2 ? 8 : 4 };
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

/* ---- From elements to records ---------------------------------------------------------------------------------- */

template <typename T, bool HIGH>
static __device__ __forceinline__ twi_near<T> twi_near_of(const twi_best<T, HIGH> &best)
{
    twi_near<T> spot;
    if (best.at >= 0) {
        spot.order = HIGH ? ~best.key() : best.key();
        spot.place = (uint32_t)best.number();
    }
    return spot;
}

template <bool HIGH, typename T>
static __device__ __forceinline__ twi_far twi_far_of(const twi_cuda_reduce &a, const twi_share &share,
                                                     const twi_near<T> &spot)
{
    const int64_t key = twi_widen<T>((typename twi_keys<T>::Key)(HIGH ? ~spot.order : spot.order));
    const uint32_t round = spot.place / (uint32_t)a.unit;
    const twi_piece<T> piece(a, share.channel, share.row, share.number + round * a.shares);
    twi_far far;
    far.order = (uint64_t)(HIGH ? ~key : key) ^ 1ull << 63;
    far.place = (uint64_t)(piece.y * a.plane.width + piece.x + (spot.place - round * (uint32_t)a.unit) + 1);
    return far;
}

/* A thread's value, but for the sum. */
template <typename T, int WHAT, int TALLIED, typename A>
static __device__ __forceinline__ void twi_take_tally(twi_value<WHAT, A, twi_near<T>> *value,
                                                      const twi_tally<T, TALLIED> &mine)
{
    if (WHAT & TWI_CUDA_LOWEST)
        value->lowest = twi_near_of(mine.lowest);
    if (WHAT & TWI_CUDA_HIGHEST)
        value->highest = twi_near_of(mine.highest);
    if (WHAT & TWI_CUDA_COUNTS)
        value->counts = mine.counter.count();
}

/* A share's value for other blocks. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ twi_value<WHAT, A> twi_far_value(const twi_cuda_reduce &a, const twi_share &share,
                                                                   const twi_value<WHAT, A, twi_near<T>> &near)
{
    twi_value<WHAT, A> value;
    value.sum = near.sum;
    if (WHAT & TWI_CUDA_LOWEST)
        value.lowest = twi_far_of<false>(a, share, near.lowest);
    if (WHAT & TWI_CUDA_HIGHEST)
        value.highest = twi_far_of<true>(a, share, near.highest);
    value.counts = near.counts;
    return value;
}

static __device__ __forceinline__ double twi_value_of_order(uint64_t order, bool high)
{
    const int64_t key = (int64_t)(order ^ 1ull << 63);
    return twi_value_of_key(high ? ~key : key);
}

/* For one thread. */
template <int WHAT, typename A>
static __device__ __forceinline__ void twi_write_record(const twi_cuda_reduce &a, const twi_value<WHAT, A> &value,
                                                        int64_t number)
{
    const twi_cuda_record &r = a.record;
    const int64_t channel = twi_quotient(number, r.records);
    twi_stats stats = {};
    if (WHAT & TWI_CUDA_SUM)
        twi_put_sum(&stats, value.sum);
    if (WHAT & TWI_CUDA_SUM && a.middle.squares) {
        stats.var = stats.sum;
        stats.sum = 0;
    }
    if (WHAT & TWI_CUDA_LOWEST) {
        const int64_t place = (int64_t)value.lowest.place - 1;
        stats.min = twi_value_of_order(value.lowest.order, false);
        stats.argmin_y = twi_quotient(place, r.width);
        stats.argmin_x = place - stats.argmin_y * r.width;
    }
    if (WHAT & TWI_CUDA_HIGHEST) {
        const int64_t place = (int64_t)value.highest.place - 1;
        stats.max = twi_value_of_order(value.highest.order, true);
        stats.argmax_y = twi_quotient(place, r.width);
        stats.argmax_x = place - stats.argmax_y * r.width;
    }
    if (WHAT & TWI_CUDA_COUNTS)
        stats.count_nonzero = value.counts;
    twi_put_record<WHAT>(r, stats, 0, number - channel * r.records, channel);
}

/* ---- Blocks --------------------------------------------------------------------------------------------------- */

/* Of a level. */
struct twi_node {
    int64_t number; /* of all, which is the item of the next level */
    int64_t first;  /* item */
    int n;

    __device__ __forceinline__ twi_node(const twi_cuda_level &level, int64_t item_number) : number(item_number)
    {
        const int64_t sequence = twi_quotient(number, level.nodes);
        const int64_t before = (number - sequence * level.nodes) * TWI_LEAF;
        first = sequence * level.count + before;
        n = level.count - before < TWI_LEAF ? (int)(level.count - before) : TWI_LEAF;
    }
};

/* The number of the node that an item belongs to. */
static __device__ __forceinline__ int64_t twi_node_of(const twi_cuda_level &level, int64_t item)
{
    const int64_t sequence = twi_quotient(item, level.count);
    return sequence * level.nodes + (item - sequence * level.count) / TWI_LEAF;
}

/* If blocks are counted, thread 0 tells that so many values of a node have begun, or that the node's own block has, and
   gets what there was before. It looks at that as late as it can, since memory takes its time to answer. */
static __device__ __forceinline__ uint32_t twi_begin(const twi_cuda_reduce &a, int level, int64_t node, int count)
{
    return a.counted && threadIdx.x == 0 ? atomicAdd(a.level[level].begun + node, (uint32_t)count) : 0;
}

/* What a block begins with: twi_begin for its values, from `item` on. */
static __device__ __forceinline__ uint32_t twi_begin_values(const twi_cuda_reduce &a, int64_t item, int count)
{
    return a.counted ? twi_begin(a, 0, twi_node_of(a.level[0], item), count) : 0;
}

/* What a node's own block does, and what counted blocks end with that have begun `count`, where `before` were: the last
   makes the node, and so on. */
template <int WHAT, typename A>
static __device__ __noinline__ void twi_make_nodes(const twi_cuda_reduce &a, int i, int64_t number, int count,
                                                   uint32_t before)
{
    __shared__ bool last;
    for (;; i++) {
        const twi_cuda_level &level = a.level[i];
        const twi_node node(level, number);
        if (threadIdx.x == 0 && a.counted) {
            last = before + (uint32_t)count == (uint32_t)node.n + 1;
            if (last)
                level.begun[number] = 0;
        }
        __syncthreads();
        if (a.counted && !last)
            return;
        if (i + 1 < a.levels) {
            number = twi_node_of(a.level[i + 1], node.number);
            count = 1;
            before = twi_begin(a, i + 1, number, count);
        }
        twi_value<WHAT, A> value;
        twi_take_lane(level, node.first, node.n, &value);
        if (WHAT & TWI_CUDA_SUM)
            value.sum = twi_fold_sums(value.sum);
        if constexpr (WHAT != TWI_CUDA_SUM)
            twi_gather(&value);
        if (threadIdx.x == 0 && i + 1 < a.levels)
            twi_publish(a.level[i + 1], node.number, value);
        else if (threadIdx.x == 0)
            twi_write_record(a, value, node.number);
        if (!a.counted || i + 1 == a.levels)
            return;
        __syncthreads(); /* before the shared values are written again */
    }
}

/* Block `number` of those that have no pieces. */
template <int WHAT, typename A>
static __device__ __forceinline__ void twi_stand_by(const twi_cuda_reduce &a, int64_t number)
{
    int i = 0;
    for (; number >= a.level[i].nodes * a.level[i].sequences; i++)
        number -= a.level[i].nodes * a.level[i].sequences;
    twi_make_nodes<WHAT, A>(a, i, number, 1, twi_begin(a, i, number, 1));
}

/* For blocks: thread 0's value is that of the share. */
template <typename T, int WHAT, typename A>
static __device__ __forceinline__ void twi_put_value(const twi_cuda_reduce &a, const twi_share &share,
                                                     const twi_value<WHAT, A, twi_near<T>> &value, uint32_t before)
{
    if (threadIdx.x == 0 && a.levels > 0)
        twi_publish(a.level[0], share.item(a), twi_far_value<T>(a, share, value));
    else if (threadIdx.x == 0)
        twi_write_record(a, twi_far_value<T>(a, share, value), share.item(a));
    if (a.counted)
        twi_make_nodes<WHAT, A>(a, 0, twi_node_of(a.level[0], share.item(a)), 1, before);
}

#endif
