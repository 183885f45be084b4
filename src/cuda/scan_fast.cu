/*
 * scan along rows, in one pass over memory. A warp holds TWI_CUDA_SCAN_TILES tiles in registers, a block a span: it
 * finds the totals of tiles, scans these, and makes the sums from the values that it still has. Of aligned rows, blocks
 * stay: a thread has its values of the next span brought to shared memory, while it works on those in its registers.
 *
 * Lines of many spans: a block a span (chained), by decoupled look-back (Merrill and Garland, Single-pass Parallel
 * Prefix Scan with Decoupled Look-back, NVIDIA NVR-2016-002). A block publishes its span's total as soon as it has it,
 * and looks back for the nearest span whose end is known. Floats must be added in one order whatever the timing: the
 * totals from there on are kept, and added from the left. A word that is published is a sum whose highest bit is
 * inverted: 0 means that it is not there yet, since no sum is -0 or INT64_MIN.
 */
#include "cuda/scan.cuh"

enum { TILES = TWI_CUDA_SCAN_TILES, WARPS = TWI_CUDA_SCAN_WARPS, SPAN_TILES = TILES * WARPS };

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

/* What a block keeps in shared memory of the spans of its lines. */
template <typename A> struct room {
    A totals[2][SPAN_TILES];     /* of tiles, line after line; two, so that a barrier a span is enough */
    A starts[SPAN_TILES];        /* x of the tiles */
    A before[TILES][32 * WARPS]; /* q of each thread's quads */
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

/* The thread's values of the next span are brought to places that are its own: it need not wait for others. */
template <typename T> static __device__ __forceinline__ void bring(const T *from, uint32_t bytes, T *to)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "n"(sizeof(T)), "r"(bytes)
                 : "memory");
#else
    *to = bytes > 0 ? *from : T{};
#endif
}

static __device__ __forceinline__ void await_brought()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
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

template <typename T> struct next_values {
    typedef typename piece_of<4 * sizeof(T)>::type piece;
    enum { PIECES = (int)(sizeof(twi_four<T>) / sizeof(piece)) };
    twi_four<T> *own; /* in shared memory: each quad in a row of all threads */

    /* The quads that load_quads() would load; 0 beyond the end. */
    template <typename O> __device__ __forceinline__ void start(const line<T, O> &l, int64_t first) const
    {
        const twi_four<T> *const from = (const twi_four<T> *)l.source(l.y, first);
        const int left = l.left(first);
#pragma unroll
        for (int k = 0; k < TILES; k++)
#pragma unroll
            for (int i = 0; i < PIECES; i++)
                bring((const piece *)&from[k * TWI_SCAN_QUADS] + i,
                      k * TWI_SCAN_TILE < left ? (uint32_t)sizeof(piece) : 0, (piece *)&own[k * 32 * WARPS] + i);
    }

    __device__ __forceinline__ void take(twi_four<T> (&values)[TILES]) const
    {
        await_brought();
#pragma unroll
        for (int k = 0; k < TILES; k++)
            values[k] = own[k * 32 * WARPS];
    }
};

/* What a thread knows of its tiles goes to the room; then, behind a barrier, the span's total. */
template <typename T, typename A>
static __device__ __forceinline__ void sum_tiles(const twi_four<T> (&values)[TILES], room<A> &shared, int parity)
{
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    const int tile = (int)(threadIdx.y * blockDim.x + threadIdx.x) / 32 * TILES;
    A sum;
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        const T *const v = values[k].value;
        shared.before[k][thread] = twi_before_lane(((A)v[0] + (A)v[1]) + ((A)v[2] + (A)v[3]), &sum);
        if (threadIdx.x % 32 == 0)
            shared.totals[parity][tile + k] = sum;
    }
}

template <typename A> static __device__ __forceinline__ A scan_tiles(room<A> &shared, int parity)
{
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int line_tiles = (int)blockDim.x / 32 * TILES;
    const int line_start = (int)threadIdx.y * line_tiles;
    A sum;
    A r[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        r[j] = 4 * lane + j < line_tiles ? shared.totals[parity][line_start + 4 * lane + j] : (A)0;
    twi_scan_quad(r);
    const A before = twi_before_lane(r[3], &sum);
    if (lane / (TILES / 4) == warp) { /* each warp its own tiles */
#pragma unroll
        for (int j = 0; j < 4; j++)
            shared.starts[line_start + 4 * lane + j] = j == 0 ? before : before + r[j == 0 ? 0 : j - 1];
    }
    __syncwarp();
    return sum;
}

/* The sums, from what lies before the span. */
template <bool ALIGNED, bool EXCLUSIVE, typename T, typename O, typename A>
static __device__ __forceinline__ void store_quads(const line<T, O> &l, twi_four<T> (&values)[TILES],
                                                   const room<A> &shared, A spans, int64_t first)
{
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    const int left = l.left(first);
    twi_four<O> *const to = (twi_four<O> *)l.output(l.y, first);
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        twi_hide(values[k], l.scan.zero);
        const T *const v = values[k].value;
        const A base = (spans + shared.starts[thread / 32 * TILES + k]) + shared.before[k][thread];
        A r[4] = {(A)v[0], (A)v[1], (A)v[2], (A)v[3]};
        twi_four<O> sums;
        twi_scan_quad(r);
#pragma unroll
        for (int j = 0; j < 4; j++)
            sums.value[j] = twi_sum_as(O(), base + (!EXCLUSIVE ? r[j] : j > 0 ? r[j > 0 ? j - 1 : 0] : (A)0));
        if (!ALIGNED)
            l.store(first + k * TWI_SCAN_TILE, sums);
        else if (k * TWI_SCAN_TILE < left)
            to[k * TWI_SCAN_QUADS] = sums;
    }
}

template <bool ALIGNED, typename T, typename O, typename A>
static __device__ __forceinline__ void store_sums(const line<T, O> &l, twi_four<T> (&values)[TILES],
                                                  const room<A> &shared, A spans, int64_t first)
{
    if (l.scan.exclusive)
        store_quads<ALIGNED, true>(l, values, shared, spans, first);
    else
        store_quads<ALIGNED, false>(l, values, shared, spans, first);
}

/* Where the thread's first quad lies in the span. */
static __device__ __forceinline__ int64_t place_in_span()
{
    return (int64_t)(threadIdx.x / 32) * TWI_CUDA_SCAN_WARP + threadIdx.x % 32 * 4;
}

template <bool ALIGNED, typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 8 ? 1 : 2) scan_lines(const twi_cuda_scan scan)
{
    __shared__ room<A> shared;
    const int64_t number = scan.left + (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    const int64_t y = number / scan.channels;
    const line<T, O> l = {scan, y, (int32_t)(number - y * scan.channels), number < scan.lines ? scan.pixels : 0};
    A spans = 0;
    int parity = 0;
#pragma unroll 1
    for (int64_t start = 0; start < scan.pixels; start += TWI_SCAN_SPAN, parity ^= 1) {
        const int64_t first = start + place_in_span();
        twi_four<T> values[TILES];
        load_quads<ALIGNED>(l, first, values);
        sum_tiles(values, shared, parity);
        __syncthreads();
        const A total = scan_tiles(shared, parity);
        store_sums<ALIGNED>(l, values, shared, spans, first);
        spans = spans + total;
    }
}

/* Aligned lines of more than half a span: blocks take lines in turn. */
template <typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 8 ? 1 : 2) scan_streamed(const twi_cuda_scan scan)
{
    extern __shared__ __align__(16) char stage[];
    __shared__ room<A> shared;
    const next_values<T> next = {(twi_four<T> *)stage + threadIdx.x};
    line<T, O> l = {scan, blockIdx.x, 0, scan.pixels};
    int64_t start = 0;
    A spans = 0;
    next.start(l, place_in_span());
#pragma unroll 1
    for (int parity = 0; l.y < scan.lines; parity ^= 1) {
        twi_four<T> values[TILES];
        next.take(values);
        const bool last = start + TWI_SCAN_SPAN >= scan.pixels;
        const line<T, O> following = {scan, last ? l.y + gridDim.x : l.y, 0, scan.pixels};
        const int64_t following_start = last ? 0 : start + TWI_SCAN_SPAN;
        if (following.y < scan.lines)
            next.start(following, following_start + place_in_span());
        sum_tiles(values, shared, parity);
        __syncthreads();
        const A total = scan_tiles(shared, parity);
        store_sums<true>(l, values, shared, spans, start + place_in_span());
        spans = last ? (A)0 : spans + total;
        l.y = following.y;
        start = following_start;
    }
}

/* ---- Chained spans ------------------------------------------------------------------------------------- */

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

enum { LOOK_BACK = 1024 /* totals that are kept: more spans are not at work at a time on today's devices */ };

/* For the first warp: the sum of all before the span, added from the left. `kept` has room for LOOK_BACK totals. */
template <typename A>
static __device__ __forceinline__ A look_back(const twi_cuda_scan &scan, int64_t span, int32_t channel, A *kept)
{
    const int lane = (int)threadIdx.x;
    int count = 0; /* totals that are kept, the nearest first */
    A sum = 0;
    for (;;) {
        const int64_t seen = span - 1 - count - lane;
        const uint64_t end = seen >= 0 ? read_word(&scan.ends[seen * scan.channels + channel]) : 0;
        const uint64_t total = seen >= 0 ? read_word(&scan.totals[seen * scan.channels + channel]) : 0;
        const int to_end = __ffs((int)__ballot_sync(~0u, end != 0)) - 1; /* -1: none */
        const int missing = __ffs((int)~__ballot_sync(~0u, total != 0)) - 1;
        int more = missing < 0 ? 32 : missing;
        if (to_end >= 0 && to_end < more)
            more = to_end;
        if (count + more > LOOK_BACK) /* wait until an end is known nearer by */
            continue;
        if (lane < more)
            from_word(total, &kept[count + lane]);
        count += more;
        if (more == to_end) {
            from_word(__shfl_sync(~0u, end, to_end), &sum);
            break;
        }
    }
    __syncwarp();
    for (int i = count - 1; i >= 0; i--)
        sum = sum + kept[i];
    return sum;
}

/* What a block keeps of the spans before its own. */
template <typename A> struct chain {
    A kept[LOOK_BACK];
    A before;
    int64_t ticket;
};

/* Blocks take spans in the order in which they come for them, so that all that a block waits for are at work. */
static __device__ __forceinline__ int64_t take_ticket(const twi_cuda_scan &scan)
{
    return (int64_t)atomicAdd((unsigned long long *)scan.tickets, 1ull);
}

/* What lies before the span of a ticket, for all threads. */
template <typename A>
static __device__ __forceinline__ A find_before(const twi_cuda_scan &scan, int64_t ticket, A total, chain<A> &shared)
{
    const int64_t span = ticket / scan.channels;
    if (threadIdx.x < 32) {
        A sum = 0;
        if (span > 0) {
            if (threadIdx.x == 0)
                publish(&scan.totals[ticket], as_word(total));
            sum = look_back(scan, span, (int32_t)(ticket - span * scan.channels), shared.kept);
        }
        if (threadIdx.x == 0) {
            publish(&scan.ends[ticket], as_word((A)(sum + total)));
            shared.before = sum;
        }
    }
    __syncthreads();
    return shared.before;
}

template <bool ALIGNED, typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 8 ? 1 : 2) scan_chained(const twi_cuda_scan scan)
{
    __shared__ room<A> shared;
    __shared__ chain<A> spans;
    if (threadIdx.x == 0)
        spans.ticket = take_ticket(scan);
    __syncthreads();
    const int64_t ticket = spans.ticket;
    const int64_t span = ticket / scan.channels;
    const line<T, O> l = {scan, 0, (int32_t)(ticket - span * scan.channels), scan.pixels};
    const int64_t first = span * TWI_SCAN_SPAN + place_in_span();
    twi_four<T> values[TILES];
    load_quads<ALIGNED>(l, first, values);
    sum_tiles(values, shared, 0);
    __syncthreads();
    const A total = scan_tiles(shared, 0);
    store_sums<ALIGNED>(l, values, shared, find_before(scan, ticket, total, spans), first);
}

#define SCAN_LINES(T, O, A) (const void *)scan_lines<false, T, O, A>
#define SCAN_ALIGNED_LINES(T, O, A) (const void *)scan_lines<true, T, O, A>
#define SCAN_STREAMED(T, O, A) (const void *)scan_streamed<T, O, A>
#define SCAN_CHAINED(T, O, A) (const void *)scan_chained<false, T, O, A>
#define SCAN_CHAINED_ALIGNED(T, O, A) (const void *)scan_chained<true, T, O, A>
#define KERNELS(KERNEL)                                                                                                \
    {                                                                                                                  \
        {KERNEL(uint8_t, uint32_t, uint32_t), KERNEL(uint8_t, uint64_t, uint64_t), KERNEL(uint8_t, double, double)},   \
            {KERNEL(uint16_t, uint32_t, uint32_t), KERNEL(uint16_t, uint64_t, uint64_t),                               \
             KERNEL(uint16_t, double, double)},                                                                        \
            {KERNEL(int16_t, uint32_t, uint32_t), KERNEL(int16_t, uint64_t, uint64_t),                                 \
             KERNEL(int16_t, double, double)},                                                                         \
            {nullptr, KERNEL(int32_t, uint64_t, uint64_t), KERNEL(int32_t, double, double)},                           \
            {nullptr, nullptr, KERNEL(float, double, double), KERNEL(float, float, double)},                           \
            {nullptr, nullptr, KERNEL(double, double, double)},                                                        \
    }
extern "C" const void *const twi_cuda_scan_lines[TWI_CUDA_LINES][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    KERNELS(SCAN_LINES), KERNELS(SCAN_ALIGNED_LINES), KERNELS(SCAN_STREAMED)};
extern "C" const void *const twi_cuda_scan_chained[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    KERNELS(SCAN_CHAINED), KERNELS(SCAN_CHAINED_ALIGNED)};
