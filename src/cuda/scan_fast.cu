/*
 * scan along rows, in one pass over memory. A warp holds TWI_CUDA_SCAN_TILES tiles in registers, a block a span: it
 * finds the totals of tiles, scans these, and makes the sums from the values that it still has.
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
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        if (!ALIGNED)
            values[k] = l.load(first + k * TWI_SCAN_TILE);
        else
            values[k] = first + k * TWI_SCAN_TILE < l.pixels ? from[k * TWI_SCAN_QUADS] : twi_four<T>{};
    }
}

/* Fills the room and returns the span's total. */
template <typename T, typename A>
static __device__ __forceinline__ A find_totals(const twi_four<T> (&values)[TILES], room<A> &shared, int parity)
{
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    const int line_tiles = (int)blockDim.x / 32 * TILES;
    const int line_start = (int)threadIdx.y * line_tiles;
    A sum;
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        const T *const v = values[k].value;
        shared.before[k][thread] = twi_before_lane(((A)v[0] + (A)v[1]) + ((A)v[2] + (A)v[3]), &sum);
        if (lane == 0)
            shared.totals[parity][line_start + warp * TILES + k] = sum;
    }
    __syncthreads();
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
template <bool ALIGNED, typename T, typename O, typename A>
static __device__ __forceinline__ void store_sums(const line<T, O> &l, twi_four<T> (&values)[TILES],
                                                  const room<A> &shared, A spans, int64_t first)
{
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    twi_four<O> *const to = (twi_four<O> *)l.output(l.y, first);
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        twi_hide(values[k], l.scan.zero);
        const T *const v = values[k].value;
        const A base = (spans + shared.starts[thread / 32 * TILES + k]) + shared.before[k][thread];
        A r[4] = {(A)v[0], (A)v[1], (A)v[2], (A)v[3]};
        twi_four<O> sums;
        twi_scan_quad(r);
        if (l.scan.exclusive) {
            r[3] = r[2];
            r[2] = r[1];
            r[1] = r[0];
            r[0] = 0;
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            sums.value[j] = twi_sum_as(O(), base + r[j]);
        if (!ALIGNED)
            l.store(first + k * TWI_SCAN_TILE, sums);
        else if (first + k * TWI_SCAN_TILE < l.pixels)
            to[k * TWI_SCAN_QUADS] = sums;
    }
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
        const A total = find_totals(values, shared, parity);
        store_sums<ALIGNED>(l, values, shared, spans, first);
        spans = spans + total;
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

template <bool ALIGNED, typename T, typename O, typename A>
__global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 8 ? 1 : 2) scan_chained(const twi_cuda_scan scan)
{
    __shared__ room<A> shared;
    __shared__ A kept[LOOK_BACK];
    __shared__ A before;
    __shared__ int64_t ticket;
    /* blocks take spans in the order in which they begin, so that all that a block waits for are at work */
    if (threadIdx.x == 0)
        ticket = (int64_t)atomicAdd((unsigned long long *)scan.tickets, 1ull);
    __syncthreads();
    const int64_t span = ticket / scan.channels;
    const int32_t channel = (int32_t)(ticket - span * scan.channels);
    const int64_t word = span * scan.channels + channel;
    const line<T, O> l = {scan, 0, channel, scan.pixels};
    const int64_t first = span * TWI_SCAN_SPAN + place_in_span();
    twi_four<T> values[TILES];
    load_quads<ALIGNED>(l, first, values);
    const A total = find_totals(values, shared, 0);
    if (threadIdx.x < 32) {
        A sum = 0;
        if (span > 0) {
            if (threadIdx.x == 0)
                publish(&scan.totals[word], as_word(total));
            sum = look_back(scan, span, channel, kept);
        }
        if (threadIdx.x == 0) {
            publish(&scan.ends[word], as_word((A)(sum + total)));
            before = sum;
        }
    }
    __syncthreads();
    store_sums<ALIGNED>(l, values, shared, before, first);
}

#define KERNELS(KERNEL, ALIGNED)                                                                                       \
    {                                                                                                                  \
        {(const void *)KERNEL<ALIGNED, uint8_t, uint32_t, uint32_t>,                                                   \
         (const void *)KERNEL<ALIGNED, uint8_t, uint64_t, uint64_t>,                                                   \
         (const void *)KERNEL<ALIGNED, uint8_t, double, double>, nullptr},                                             \
            {(const void *)KERNEL<ALIGNED, uint16_t, uint32_t, uint32_t>,                                              \
             (const void *)KERNEL<ALIGNED, uint16_t, uint64_t, uint64_t>,                                              \
             (const void *)KERNEL<ALIGNED, uint16_t, double, double>, nullptr},                                        \
            {(const void *)KERNEL<ALIGNED, int16_t, uint32_t, uint32_t>,                                               \
             (const void *)KERNEL<ALIGNED, int16_t, uint64_t, uint64_t>,                                               \
             (const void *)KERNEL<ALIGNED, int16_t, double, double>, nullptr},                                         \
            {nullptr, (const void *)KERNEL<ALIGNED, int32_t, uint64_t, uint64_t>,                                      \
             (const void *)KERNEL<ALIGNED, int32_t, double, double>, nullptr},                                         \
            {nullptr, nullptr, (const void *)KERNEL<ALIGNED, float, double, double>,                                   \
             (const void *)KERNEL<ALIGNED, float, float, double>},                                                     \
            {nullptr, nullptr, (const void *)KERNEL<ALIGNED, double, double, double>, nullptr},                        \
    }
extern "C" const void *const twi_cuda_scan_lines[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {KERNELS(scan_lines, false),
                                                                                           KERNELS(scan_lines, true)};
extern "C" const void *const twi_cuda_scan_chained[2][TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    KERNELS(scan_chained, false), KERNELS(scan_chained, true)};
