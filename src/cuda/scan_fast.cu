/*
 * scan along rows, in one pass over memory. A warp takes TILES tiles at a time, a lane a quad of each: it keeps the
 * sums r in registers, finds what lies before the quads by shuffles and, behind a barrier, what lies before the tiles
 * from the totals of all warps. Blocks stay, and take lines in turn: of aligned rows a thread has its next values
 * brought to shared memory while it works. Memory is the faster the less of it is asked for at a time, so long as it
 * never rests.
 *
 * Rows that fit in shared memory (short): a block has one, and ends with it. All its values are brought at once, and
 * added as they come; they are added again where sums are stored, for these are more than there are registers. While a
 * block waits for its values, others beside it store theirs.
 *
 * Lines of many spans (chained): a block has a span at a time, and is at work on two. It publishes the next span's
 * total, makes the sums of the one before, and has a third brought to shared memory. One block keeps accounts instead:
 * it adds the totals, in their order, as they come, and publishes what lies before each span, which it has done by the
 * time that it is asked for. Sums are made twice here as well. A word that is published is a sum whose highest bit is
 * inverted: 0 means that it is not there yet, since no sum is -0 or INT64_MIN.
 */
#include "cuda/scan.cuh"

enum { TILES = TWI_CUDA_SCAN_TILES, SHORT_TILES = TWI_CUDA_SHORT_TILES };
enum { SPAN_WARPS = TWI_CUDA_SPAN_WARPS, STAGES = TWI_CUDA_SPAN_STAGES };

/* A channel of a row, or of rows one after the other. */
template <typename T, typename O> struct line {
    const twi_cuda_scan &scan;
    int64_t y;
    int32_t channel;
    int64_t pixels;

    __device__ __forceinline__ void find(int64_t index, int64_t *row, int64_t *column) const
    {
        *row = y;
        *column = index;
        if (scan.pixels > scan.width) {
            *row = index / scan.width;
            *column = index - *row * scan.width;
        }
    }

    __device__ __forceinline__ const T *source(int64_t row, int64_t column) const
    {
        return (const T *)((const char *)scan.src + row * scan.src_pitch) + column * scan.channels + channel;
    }

    __device__ __forceinline__ O *output(int64_t row, int64_t column) const
    {
        return (O *)((char *)scan.dst + row * scan.dst_pitch) + column * scan.channels + channel;
    }

    /* Pixels from `first` on, as far as they may matter to a thread. */
    __device__ __forceinline__ int left(int64_t first) const
    {
        return first < pixels ? (int)min(pixels - first, (int64_t)TWI_SCAN_SPAN) : 0;
    }

    /* Four values from pixel `index` on; 0 beyond the end. */
    __device__ __forceinline__ twi_four<T> load(int64_t index) const
    {
        twi_four<T> four = {};
        int64_t row;
        int64_t column;
        if (index >= pixels)
            return four;
        find(index, &row, &column);
        for (int j = 0; j < 4 && index + j < pixels; j++) {
            four.value[j] = *source(row, column);
            next(&row, &column);
        }
        return four;
    }

    __device__ __forceinline__ void store(int64_t index, const twi_four<O> &four) const
    {
        int64_t row;
        int64_t column;
        if (index >= pixels)
            return;
        find(index, &row, &column);
        for (int j = 0; j < 4 && index + j < pixels; j++) {
            *output(row, column) = four.value[j];
            next(&row, &column);
        }
    }

    __device__ __forceinline__ void next(int64_t *row, int64_t *column) const
    {
        if (++*column == scan.width && scan.pixels > scan.width) {
            *column = 0;
            ++*row;
        }
    }
};

/* The thread's quads of its warp's tiles, from pixel `first` on. ALIGNED: whole ones in one row, which move at once. */
template <bool ALIGNED, typename T, typename O>
static __device__ __forceinline__ void load_quads(const line<T, O> &l, int64_t first, twi_four<T> (&values)[TILES])
{
    const twi_four<T> *const from = (const twi_four<T> *)l.source(l.y, first);
    const int left = l.left(first);
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        if (!ALIGNED)
            values[k] = l.load(first + k * TWI_SCAN_TILE);
        else
            values[k] = k * TWI_SCAN_TILE < left ? from[k * TWI_SCAN_QUADS] : twi_four<T>{};
    }
}

/* What moves to shared memory meanwhile goes to places that are the thread's own: it need not wait for others. PAST the
   first cache, which 16 bytes can be: it holds less than is asked for where rows are brought at once. */
template <bool PAST, typename T> static __device__ __forceinline__ void bring(const T *from, uint32_t bytes, T *to)
{
#if __CUDA_ARCH__ >= 800
    if (PAST && sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "n"(sizeof(T)), "r"(bytes)
                     : "memory");
#else
    *to = bytes > 0 ? *from : T{};
#endif
}

/* Of four values, what moves at once. */
template <int BYTES> struct piece_of {
    typedef uint4 type;
};
template <> struct piece_of<4> {
    typedef uint32_t type;
};
template <> struct piece_of<8> {
    typedef uint2 type;
};

/* Brings the lane's quad of tile k, of a line that has `left` pixels from `first` on. `own`: that of the first tile in
   shared memory. */
template <bool PAST, typename T, typename O>
static __device__ __forceinline__ void bring_quad(const line<T, O> &l, int64_t first, int left, int k, twi_four<T> *own)
{
    typedef typename piece_of<4 * sizeof(T)>::type piece;
    enum { PIECES = (int)(sizeof(twi_four<T>) / sizeof(piece)) };
    const twi_four<T> *const from = (const twi_four<T> *)l.source(l.y, first);
#pragma unroll
    for (int i = 0; i < PIECES; i++)
        bring<PAST>((const piece *)&from[k * TWI_SCAN_QUADS] + i,
                    k * TWI_SCAN_TILE < left ? (uint32_t)sizeof(piece) : 0, (piece *)&own[k * TWI_SCAN_QUADS] + i);
}

/* Brings what load_quads<true>() would load. */
template <bool PAST, typename T, typename O>
static __device__ __forceinline__ void bring_quads(const line<T, O> &l, int64_t first, twi_four<T> *own)
{
    const int left = l.left(first);
#pragma unroll
    for (int k = 0; k < TILES; k++)
        bring_quad<PAST>(l, first, left, k, own);
}

template <typename T>
static __device__ __forceinline__ void take_quads(const twi_four<T> *own, twi_four<T> (&values)[TILES])
{
#pragma unroll
    for (int k = 0; k < TILES; k++)
        values[k] = own[k * TWI_SCAN_QUADS];
}

/* All that was brought is there. */
static __device__ __forceinline__ void await_quads()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* The sums r in a quad. */
template <typename T, typename A> static __device__ __forceinline__ void add_quad(const twi_four<T> &values, A (&r)[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        r[j] = (A)values.value[j];
    twi_scan_quad(r);
}

/* The sums r in the thread's quads and in the warp's tiles, which are a quad of them, and what lies before the quads.
 */
template <typename A> struct quad_sums {
    A quads[TILES][4];
    A before[TILES];
    A tiles[TILES];
};

template <typename T, typename A>
static __device__ __forceinline__ void scan_quads(const twi_four<T> (&values)[TILES], quad_sums<A> &sums)
{
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        add_quad(values[k], sums.quads[k]);
        sums.before[k] = twi_before_lane(sums.quads[k][3], &sums.tiles[k]);
    }
    twi_scan_quad(sums.tiles);
}

/* What the scheme of Hillis and Steele has made of the first `count` of 32 values at the last of them. */
template <typename A> static __device__ __forceinline__ A sum_of_first(const A *values, int count)
{
    const int index = count - 1 - (int)threadIdx.x % 32;
    A sum = index >= 0 ? values[index] : (A)0;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
        sum = sum + __shfl_xor_sync(~0u, sum, distance);
    return sum;
}

/* The running sums of a quad, from what lies before it. */
template <bool EXCLUSIVE, typename O, typename A>
static __device__ __forceinline__ twi_four<O> running_sums(const A (&r)[4], A before)
{
    twi_four<O> four;
#pragma unroll
    for (int j = 0; j < 4; j++)
        four.value[j] = twi_sum_as(O(), before + (!EXCLUSIVE ? r[j] : j > 0 ? r[j > 0 ? j - 1 : 0] : (A)0));
    return four;
}

/* Stores the running sums of a quad of the warp's tile k, from what lies before it. */
template <bool ALIGNED, typename T, typename O, typename A>
static __device__ __forceinline__ void store_quad(const line<T, O> &l, int64_t first, int k, const A (&r)[4], A before)
{
    const twi_four<O> four = l.scan.exclusive ? running_sums<true, O>(r, before) : running_sums<false, O>(r, before);
    if (!ALIGNED)
        l.store(first + k * TWI_SCAN_TILE, four);
    else if (k * TWI_SCAN_TILE < l.left(first))
        ((twi_four<O> *)l.output(l.y, first))[k * TWI_SCAN_QUADS] = four;
}

/* ---- Lines -------------------------------------------------------------------------------------------------- */

/* The line of a number; empty if there is none. ALIGNED: a row is one. */
template <bool ALIGNED, typename T, typename O>
static __device__ __forceinline__ line<T, O> line_of(const twi_cuda_scan &scan, int64_t number)
{
    const int64_t y = ALIGNED ? number : number / scan.channels;
    const int32_t channel = ALIGNED ? 0 : (int32_t)(number - y * scan.channels);
    return {scan, y, channel, number < scan.lines ? scan.pixels : 0};
}

template <bool ALIGNED, typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * TWI_CUDA_SCAN_WARPS) scan_lines(const twi_cuda_scan scan)
{
    extern __shared__ __align__(16) char stage[];
    /* of the quads of tiles in a span; two, so that a barrier is enough */
    __shared__ A totals[2][TWI_CUDA_SCAN_LINES][TWI_SCAN_QUADS];
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int warps = (int)blockDim.x / 32;
    const int chunk = warps * TWI_CUDA_SCAN_WARP;
    const int place = warp * TWI_CUDA_SCAN_WARP + lane * 4;
    const int64_t step = (int64_t)gridDim.x * blockDim.y;
    twi_four<T> *const own = (twi_four<T> *)stage + ((int)threadIdx.y * warps + warp) * TILES * TWI_SCAN_QUADS + lane;
    int parity = 0;
    int64_t top = (int64_t)blockIdx.x * blockDim.y;
    if (ALIGNED)
        bring_quads<false>(line_of<true, T, O>(scan, top + threadIdx.y), place, own);
    for (; top < scan.lines; top += step) {
        const line<T, O> l = line_of<ALIGNED, T, O>(scan, top + threadIdx.y);
        A spans = 0;
        int done = 0; /* quads of tiles of the span */
        for (int64_t start = 0; start < scan.pixels; start += chunk) {
            A *const groups = totals[parity][threadIdx.y];
            const bool last = start + chunk >= scan.pixels;
            twi_four<T> values[TILES];
            quad_sums<A> sums;
            if (ALIGNED) {
                await_quads();
                take_quads(own, values);
                bring_quads<false>(last ? line_of<true, T, O>(scan, top + step + threadIdx.y) : l,
                                   place + (last ? 0 : start + chunk), own);
            } else {
                load_quads<false>(l, start + place, values);
            }
            scan_quads(values, sums);
            if (lane == 0)
                groups[done + warp] = sums.tiles[TILES - 1];
            __syncthreads();
            const A x = sum_of_first(groups, done + warp);
#pragma unroll
            for (int k = 0; k < TILES; k++)
                store_quad<ALIGNED>(l, start + place, k, sums.quads[k],
                                    (spans + (k == 0 ? x : x + sums.tiles[k == 0 ? 0 : k - 1])) + sums.before[k]);
            done += warps;
            if (done == TWI_SCAN_QUADS && !last)
                spans = spans + sum_of_first(groups, TWI_SCAN_QUADS);
            if (done == TWI_SCAN_QUADS || last) {
                done = 0;
                parity ^= 1;
            }
        }
    }
}

/* ---- Rows that fit in shared memory --------------------------------------------------------------------------- */

/* All quads were brought but those of the LATER tiles that were asked for last. */
template <int LATER> static __device__ __forceinline__ void await_tile()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

static __device__ __forceinline__ void end_tile()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* What lies before the quads of the warp's tiles from K on, as they come, and the totals of these. `left`: of the row's
   pixels from the warp's first on. */
template <int K, typename T, typename A>
static __device__ __forceinline__ void add_tiles(const twi_four<T> *own, int left, A (&before)[SHORT_TILES], A *totals)
{
    if constexpr (K < SHORT_TILES) {
        await_tile<SHORT_TILES - 1 - K>();
        if (K * TWI_SCAN_TILE < left) {
            A r[4];
            add_quad(own[K * TWI_SCAN_QUADS], r);
            const A through = twi_through_lane(r[3]);
            before[K] = twi_earlier_lane(through);
            if (threadIdx.x % 32 == 31)
                totals[K] = through;
        }
        add_tiles<K + 1>(own, left, before, totals);
    }
}

template <typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * TWI_CUDA_SHORT_WARPS, 2) scan_short(const twi_cuda_scan scan)
{
    extern __shared__ __align__(16) char stage[];
    __shared__ A totals[TWI_SCAN_TILE]; /* of tiles */
    const int lane = (int)threadIdx.x % 32;
    const int tile = (int)threadIdx.x / 32 * SHORT_TILES; /* the warp's first */
    const int first = tile * TWI_SCAN_TILE + lane * 4;
    const int left = (int)scan.pixels - first;
    const line<T, O> l = line_of<true, T, O>(scan, scan.left + blockIdx.x);
    twi_four<T> *const own = (twi_four<T> *)stage + tile * TWI_SCAN_QUADS + lane;
    twi_four<O> *const to = (twi_four<O> *)l.output(l.y, first);
    A before[SHORT_TILES];
    A r[4];
#pragma unroll
    for (int k = 0; k < SHORT_TILES; k++) {
        bring_quad<true>(l, first, left, k, own);
        end_tile();
    }
    add_tiles<0>(own, left + lane * 4, before, &totals[tile]);
    __syncthreads();
    memcpy(r, &totals[lane * 4], sizeof r);
    twi_scan_quad(r);
    const A x = (A)0 + twi_earlier_lane(twi_through_lane(r[3])); /* no -0, since a span begins with 0 */
    const A bases[4] = {x, x + r[0], x + r[1], x + r[2]};        /* what lies before the lane's four tiles */
#pragma unroll
    for (int k = 0; k < SHORT_TILES; k++) {
        const A base = __shfl_sync(~0u, bases[k % 4], (tile + k) / 4) + before[k];
        if (k * TWI_SCAN_TILE >= left)
            continue;
        add_quad(own[k * TWI_SCAN_QUADS], r);
        to[k * TWI_SCAN_QUADS] = scan.exclusive ? running_sums<true, O>(r, base) : running_sums<false, O>(r, base);
    }
}

/* ---- Chained spans ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ uint64_t as_word(double sum)
{
    return (uint64_t)__double_as_longlong(sum + 0.0) ^ 1ull << 63; /* -0 becomes 0 */
}

static __device__ __forceinline__ uint64_t as_word(uint64_t sum)
{
    return sum ^ 1ull << 63;
}

static __device__ __forceinline__ uint64_t as_word(uint32_t sum)
{
    return as_word((uint64_t)sum);
}

static __device__ __forceinline__ void from_word(uint64_t word, double *sum)
{
    *sum = __longlong_as_double((long long)(word ^ 1ull << 63));
}

template <typename A> static __device__ __forceinline__ void from_word(uint64_t word, A *sum)
{
    *sum = (A)(word ^ 1ull << 63);
}

static __device__ __forceinline__ uint64_t read_word(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

static __device__ __forceinline__ void publish(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
}

/* For a warp a channel: what lies before each of its spans, as their totals come. */
template <typename A> static __device__ __forceinline__ void keep_accounts(const twi_cuda_scan &scan, int32_t words)
{
    const int lane = (int)threadIdx.x % 32;
    int32_t first = (int)threadIdx.x / 32;
    A sum = 0;
    while (first < words) {
        const int32_t place = first + lane * scan.channels;
        const uint64_t word = place < words ? read_word(&scan.totals[place]) : 0;
        const int missing = __ffs((int)~__ballot_sync(~0u, word != 0)) - 1;
        const int count = missing < 0 ? 32 : missing;
        A before = 0;
        A total = 0;
        if (lane < count)
            from_word(word, &total);
#pragma unroll
        for (int i = 0; i < 32; i++) {
            const A next = __shfl_sync(~0u, total, i);
            before = lane == i ? sum : before;
            sum = sum + next;
        }
        if (lane < count)
            publish(&scan.befores[place], as_word(before));
        first += count * scan.channels;
    }
}

/* The total of the warp's tiles, whose own go to `tiles`. */
template <typename T, typename A>
static __device__ __forceinline__ A sum_tiles(const twi_four<T> (&values)[TILES], A (&tiles)[TILES])
{
    A totals[TILES];
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        const T *const v = values[k].value;
        totals[k] = ((A)v[0] + (A)v[1]) + ((A)v[2] + (A)v[3]);
    }
    twi_fold<TILES, 1>(totals);
    twi_fold<TILES / 2, 2>(totals);
    A sum = totals[0];
#pragma unroll
    for (int distance = 4; distance < 32; distance *= 2)
        sum = sum + __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 < TILES) /* each lane has a tile's */
        tiles[threadIdx.x % 32] = sum;
    sum = sum + __shfl_xor_sync(~0u, sum, 1);
    return sum + __shfl_xor_sync(~0u, sum, 2);
}

/* A span of a channel; empty if there is none of the number. STAGED: its values wait in shared memory. */
template <bool ALIGNED, typename T, typename O> struct span {
    enum { STAGED = ALIGNED && sizeof(T) <= 4 };
    line<T, O> l;
    int64_t first; /* of the thread's pixels */
    twi_four<T> *own;

    __device__ __forceinline__ span(const twi_cuda_scan &scan, int32_t number, int32_t words, twi_four<T> *stage,
                                    int slot)
        : l{scan, 0, 0, number < words ? scan.pixels : 0}
    {
        const int lane = (int)threadIdx.x % 32;
        const int warp = (int)threadIdx.x / 32;
        const int32_t index = ALIGNED ? number : number / scan.channels;
        l.channel = ALIGNED ? 0 : number - index * scan.channels;
        first = (int64_t)index * TWI_SCAN_SPAN + warp * TWI_CUDA_SCAN_WARP + lane * 4;
        own = stage + (slot * SPAN_WARPS + warp) * TILES * TWI_SCAN_QUADS + lane;
    }
    __device__ __forceinline__ void bring() const
    {
        if (STAGED)
            bring_quads<true>(l, first, own);
    }
    __device__ __forceinline__ void take(twi_four<T> (&values)[TILES]) const
    {
        if (STAGED)
            take_quads(own, values);
        else
            load_quads<ALIGNED>(l, first, values);
    }
};

/* -1: the accounts. */
static __device__ __forceinline__ int32_t take_ticket(const twi_cuda_scan &scan)
{
    return (int32_t)atomicAdd((unsigned long long *)scan.tickets, 1ull) - 1;
}

/* Blocks take spans in the order in which they come for them, so that all that the accounts wait for are at work. The
   first to come keeps the accounts. */
template <bool ALIGNED, typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * SPAN_WARPS) scan_chained(const twi_cuda_scan scan)
{
    typedef span<ALIGNED, T, O> span_of;
    extern __shared__ __align__(16) char stage[];
    /* of the spans under way, the n-th at n % 4: the sums of the quads of tiles, of tiles, and who they are */
    __shared__ A totals[4][SPAN_WARPS];
    __shared__ A tiles[4][SPAN_WARPS][TILES];
    __shared__ int32_t tickets[4];
    twi_four<T> *const quads = (twi_four<T> *)stage;
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int32_t words = (int32_t)((scan.pixels + TWI_SCAN_SPAN - 1) / TWI_SCAN_SPAN) * scan.channels;
    const auto add_up = [&](int32_t number, int slot, unsigned n) {
        twi_four<T> values[TILES];
        span_of(scan, number, words, quads, slot).take(values);
        const A sum = sum_tiles<T, A>(values, tiles[n % 4][warp]);
        if (lane == 0)
            totals[n % 4][warp] = sum;
    };
    const auto tell = [&](int32_t number, unsigned n) {
        if (warp > 0 || number >= words)
            return;
        const A total = sum_of_first(totals[n % 4], SPAN_WARPS);
        if (lane == 0)
            publish(&scan.totals[number], as_word(total));
    };
    if (threadIdx.x == 0) {
        tickets[0] = take_ticket(scan);
        if (tickets[0] >= 0)
            tickets[1] = take_ticket(scan);
    }
    __syncthreads();
    int32_t number = tickets[0];
    int32_t next = tickets[1];
    if (number < 0) {
        if (warp < scan.channels)
            keep_accounts<A>(scan, words);
        return;
    }
    span_of(scan, number, words, quads, 0).bring();
    span_of(scan, next, words, quads, 1).bring();
    await_quads();
    add_up(number, 0, 0);
    __syncthreads();
    tell(number, 0);
    int slot = 0;
    for (unsigned n = 0; number < words; n++) {
        const int second = slot + 1 == STAGES ? 0 : slot + 1;
        const int third = second + 1 == STAGES ? 0 : second + 1;
        if (threadIdx.x == 32)
            tickets[(n + 2) % 4] = take_ticket(scan);
        await_quads();
        add_up(next, second, n + 1);
        __syncthreads();
        const int32_t after = tickets[(n + 2) % 4];
        span_of(scan, after, words, quads, third).bring();
        tell(next, n + 1);
        uint64_t word = read_word(&scan.befores[number]);
        const span_of s(scan, number, words, quads, slot);
        twi_four<T> values[TILES];
        A before[TILES];
        A spans;
        s.take(values);
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            A r[4];
            add_quad(values[k], r);
            before[k] = twi_earlier_lane(twi_through_lane(r[3]));
        }
        const A x = sum_of_first(totals[n % 4], warp);
        while (word == 0)
            word = read_word(&scan.befores[number]);
        from_word(word, &spans);
        A in_warp[TILES];
        memcpy(in_warp, tiles[n % 4][warp], sizeof in_warp);
        twi_scan_quad(in_warp);
        __syncwarp(); /* the values are taken anew: their sums are more than there are registers */
        s.take(values);
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            A r[4];
            add_quad(values[k], r);
            store_quad<ALIGNED>(s.l, s.first, k, r,
                                (spans + (k == 0 ? x : x + in_warp[k == 0 ? 0 : k - 1])) + before[k]);
        }
        number = next;
        next = after;
        slot = second;
    }
}

#define SCAN_LINES(T, O, A) (const void *)scan_lines<false, T, O, A>
#define SCAN_ALIGNED_LINES(T, O, A) (const void *)scan_lines<true, T, O, A>
#define SCAN_CHAINED(T, O, A) (const void *)scan_chained<false, T, O, A>
#define SCAN_CHAINED_ALIGNED(T, O, A) (const void *)scan_chained<true, T, O, A>
#define SCAN_SHORT(T, O, A) (const void *)scan_short<T, O, A>
#define NONE(T, O, A) nullptr
#define KERNELS(KERNEL, OF_DOUBLES)                                                                                    \
    {                                                                                                                  \
        {KERNEL(uint8_t, uint32_t, uint32_t), KERNEL(uint8_t, uint64_t, uint64_t), KERNEL(uint8_t, double, double)},   \
            {KERNEL(uint16_t, uint32_t, uint32_t), KERNEL(uint16_t, uint64_t, uint64_t),                               \
             KERNEL(uint16_t, double, double)},                                                                        \
            {KERNEL(int16_t, uint32_t, uint32_t), KERNEL(int16_t, uint64_t, uint64_t),                                 \
             KERNEL(int16_t, double, double)},                                                                         \
            {nullptr, KERNEL(int32_t, uint64_t, uint64_t), KERNEL(int32_t, double, double)},                           \
            {nullptr, nullptr, KERNEL(float, double, double), KERNEL(float, float, double)},                           \
            {nullptr, nullptr, OF_DOUBLES(double, double, double)},                                                    \
    }
extern "C" const void *const twi_cuda_scan_lines[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    KERNELS(SCAN_LINES, SCAN_LINES), KERNELS(SCAN_ALIGNED_LINES, SCAN_ALIGNED_LINES)};
extern "C" const void *const twi_cuda_scan_chained[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    KERNELS(SCAN_CHAINED, SCAN_CHAINED), KERNELS(SCAN_CHAINED_ALIGNED, SCAN_CHAINED_ALIGNED)};
extern "C" const void *const twi_cuda_scan_short[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = KERNELS(SCAN_SHORT, NONE);
