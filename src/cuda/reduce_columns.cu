/*
 * Columns. A warp's threads have a column each, or the columns of a word, and the warps of a block have rows below each
 * other. The block that is the last of a strip puts its parts together and makes the records.
 */
#include "cuda/reduce_tally.cuh"

enum { STRIP = TWI_CUDA_STRIP, WARPS = TWI_CUDA_STRIP_ROWS, CHUNK = TWI_CUDA_CHUNK_ROWS };

/* Whether all other parts of the block's strip are there. */
static __device__ __forceinline__ bool is_last(const twi_cuda_columns &a, int64_t strip)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        last = atomicAdd(a.arrived + strip, 1u) == (uint32_t)a.parts - 1;
        if (last)
            a.arrived[strip] = 0;
    }
    __syncthreads();
    if (last)
        __threadfence();
    return last;
}

/* ---- Sums of integers, extremes, counts -------------------------------------------------------------------- */

/* The elements that a thread reads at once: one, or those of a word. */
template <typename T, int PER> struct elements {
    union {
        uint32_t word;
        T of[PER];
    };
    __device__ __forceinline__ void load(const char *at)
    {
        if (PER > 1)
            word = *(const uint32_t *)at;
        else
            of[0] = *(const T *)at;
    }
};

/* What a thread makes of its rows. */
template <typename T, int PER> struct tally {
    typedef typename twi_keys<T>::Key Key;
    typename twi_adder<T>::Sum sums[PER];
    uint32_t counts[PER];
    Key lowest[PER];
    Key highest[PER];
    int lowest_at[PER]; /* chunks of the part; -1: none */
    int highest_at[PER];
};

/* What is known of a column. */
struct column {
    int64_t sum;
    uint64_t counts;
    twi_cuda_extremes extremes; /* places are chunks */
};

template <int WHAT> static __device__ __forceinline__ void merge(column *c, const column &other)
{
    c->sum += other.sum;
    c->counts += other.counts;
    twi_merge<WHAT>(&c->extremes, other.extremes);
}

static __device__ __forceinline__ column nothing()
{
    column c;
    c.sum = 0;
    c.counts = 0;
    c.extremes = twi_no_extremes();
    return c;
}

template <typename T, int PER>
static __device__ __forceinline__ void take(twi_bound<T, false> *low, twi_bound<T, true> *high, int what,
                                            const elements<T, PER> &e)
{
    if constexpr (PER > 1) {
        if (what & TWI_CUDA_LOWEST)
            low->take_word(e.word);
        if (what & TWI_CUDA_HIGHEST)
            high->take_word(e.word);
    } else {
        if (what & TWI_CUDA_LOWEST)
            low->take(e.of[0]);
        if (what & TWI_CUDA_HIGHEST)
            high->take(e.of[0]);
    }
}

/* `rows` rows, CHUNK or fewer. */
template <typename T, int PER, int WHAT>
static __device__ __forceinline__ void take_chunk(const char *at, int64_t pitch, int rows, int chunk, tally<T, PER> *t)
{
    elements<T, PER> e[CHUNK];
    twi_bound<T, false> low;
    twi_bound<T, true> high;
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        if (i < rows)
            e[i].load(at + i * pitch);
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        if (i >= rows)
            continue;
        take(&low, &high, WHAT, e[i]);
#pragma unroll
        for (int k = 0; k < PER; k++) {
            if (WHAT & TWI_CUDA_SUM && PER == 4) /* one of four bytes */
                t->sums[k] = __dp4a(e[i].word, 1u << 8 * k, (uint32_t)t->sums[k]);
            else if (WHAT & TWI_CUDA_SUM)
                t->sums[k] += (typename twi_adder<T>::Sum)e[i].of[k];
            if (WHAT & TWI_CUDA_COUNTS)
                t->counts[k] += e[i].of[k] != 0;
        }
    }
#pragma unroll
    for (int k = 0; k < PER; k++) {
        if (WHAT & TWI_CUDA_LOWEST && (chunk == 0 || low.key_of(k) < t->lowest[k])) {
            t->lowest[k] = low.key_of(k);
            t->lowest_at[k] = chunk;
        }
        if (WHAT & TWI_CUDA_HIGHEST && (chunk == 0 || high.key_of(k) > t->highest[k])) {
            t->highest[k] = high.key_of(k);
            t->highest_at[k] = chunk;
        }
    }
}

/* The columns of a warp's threads in all warps put together: the first warp has the result. */
template <int WHAT> static __device__ __forceinline__ column merge_warps(const column &mine)
{
    __shared__ int64_t sums[WARPS][STRIP];
    __shared__ uint64_t counts[WARPS][STRIP];
    __shared__ twi_cuda_extremes extremes[WARPS][STRIP];
    column all = mine;
    __syncthreads();
    if (WHAT & TWI_CUDA_SUM)
        sums[threadIdx.y][threadIdx.x] = mine.sum;
    if (WHAT & TWI_CUDA_COUNTS)
        counts[threadIdx.y][threadIdx.x] = mine.counts;
    if (WHAT & TWI_CUDA_LOWEST)
        extremes[threadIdx.y][threadIdx.x] = mine.extremes;
    __syncthreads();
    for (int i = 1; i < WARPS && threadIdx.y == 0; i++) {
        if (WHAT & TWI_CUDA_SUM)
            all.sum += sums[i][threadIdx.x];
        if (WHAT & TWI_CUDA_COUNTS)
            all.counts += counts[i][threadIdx.x];
        if (WHAT & TWI_CUDA_LOWEST)
            twi_merge<WHAT>(&all.extremes, extremes[i][threadIdx.x]);
    }
    return all;
}

template <int WHAT>
static __device__ __forceinline__ void store_part(const twi_cuda_columns &a, int64_t index, const column &c)
{
    if (WHAT & TWI_CUDA_SUM)
        ((int64_t *)a.sums)[index] = c.sum;
    if (WHAT & TWI_CUDA_COUNTS)
        a.counts[index] = c.counts;
    if (WHAT & TWI_CUDA_LOWEST)
        a.extremes[index] = c.extremes;
}

/* What all parts say of an element, a warp's share of them. */
template <int WHAT>
static __device__ __forceinline__ column load_parts(const twi_cuda_columns &a, int64_t element, int64_t all_elements)
{
    column c = nothing();
    for (int64_t part = threadIdx.y; part < a.parts; part += WARPS) {
        const int64_t index = part * all_elements + element;
        column other = nothing();
        if (WHAT & TWI_CUDA_SUM)
            other.sum = __ldcg((const long long *)a.sums + index);
        if (WHAT & TWI_CUDA_COUNTS)
            other.counts = __ldcg(a.counts + index);
        if (WHAT & TWI_CUDA_LOWEST) {
            const longlong2 keys = __ldcg((const longlong2 *)(a.extremes + index));
            const longlong2 places = __ldcg((const longlong2 *)(a.extremes + index) + 1);
            other.extremes = {keys.x, keys.y, places.x, places.y};
        }
        merge<WHAT>(&c, other);
    }
    return c;
}

/* The first row of a chunk where an element has the key. */
template <typename T>
static __device__ __forceinline__ int64_t find_row(const twi_cuda_columns &a, int64_t element, int64_t chunk,
                                                   int64_t key)
{
    const int64_t top = chunk * CHUNK;
    const char *const at = (const char *)a.plane.src + top * a.plane.pitch + element * (int64_t)sizeof(T);
    int first = CHUNK;
#pragma unroll
    for (int i = CHUNK - 1; i >= 0; i--)
        if (top + i < a.plane.height && twi_widen<T>(twi_keys<T>::of(*(const T *)(at + i * a.plane.pitch))) == key)
            first = i;
    return top + first;
}

template <typename T, int WHAT>
static __device__ __forceinline__ void make_record(const twi_cuda_columns &a, const column &c, int64_t element)
{
    const int64_t x = element / a.plane.channels;
    twi_stats stats = {};
    if (WHAT & TWI_CUDA_SUM)
        twi_put_sum(&stats, (twi_i128)c.sum);
    if (WHAT & TWI_CUDA_COUNTS)
        stats.count_nonzero = c.counts;
    if (WHAT & TWI_CUDA_LOWEST) {
        stats.min = twi_value_of_key(c.extremes.lowest);
        stats.max = twi_value_of_key(c.extremes.highest);
        stats.argmin_x = stats.argmax_x = x;
        if (a.record.figures & TWI_ARGMIN)
            stats.argmin_y = find_row<T>(a, element, c.extremes.lowest_at, c.extremes.lowest);
        if (a.record.figures & TWI_ARGMAX)
            stats.argmax_y = find_row<T>(a, element, c.extremes.highest_at, c.extremes.highest);
    }
    twi_put_record<WHAT>(a.record, stats, x, 0, element - x * a.plane.channels);
}

template <typename T, int PER, int WHAT>
static __global__ void __launch_bounds__(TWI_CUDA_COLUMN_THREADS, 2) columns(const __grid_constant__ twi_cuda_columns a)
{
    twi_await_stream();
    const int64_t all_elements = a.plane.width * a.plane.channels;
    const int64_t strip = a.left + blockIdx.x;
    const int64_t left = strip * (STRIP * PER);
    const int64_t element = left + threadIdx.x * PER;
    const int64_t part = a.first + blockIdx.y;
    /* rows of a warp are whole chunks */
    const int64_t warp_rows = a.part_rows / WARPS;
    const int64_t top = part * a.part_rows + threadIdx.y * warp_rows;
    const int64_t below = a.plane.height - top < warp_rows ? a.plane.height - top : warp_rows;
    const int rows = element < all_elements && below > 0 ? (int)below : 0;
    const char *const at = (const char *)a.plane.src + top * a.plane.pitch + element * (int64_t)sizeof(T);
    tally<T, PER> t = {};
    int y = 0;
    for (; y + CHUNK <= rows; y += CHUNK)
        take_chunk<T, PER, WHAT>(at + y * a.plane.pitch, a.plane.pitch, CHUNK, y / CHUNK, &t);
    if (y < rows)
        take_chunk<T, PER, WHAT>(at + y * a.plane.pitch, a.plane.pitch, rows - y, y / CHUNK, &t);
#pragma unroll
    for (int k = 0; k < PER; k++) {
        column c = nothing();
        c.sum = (int64_t)t.sums[k];
        c.counts = t.counts[k];
        if (WHAT & TWI_CUDA_LOWEST && rows > 0) {
            c.extremes.lowest = twi_widen<T>(t.lowest[k]);
            c.extremes.highest = twi_widen<T>(t.highest[k]);
            c.extremes.lowest_at = top / CHUNK + t.lowest_at[k];
            c.extremes.highest_at = top / CHUNK + t.highest_at[k];
        }
        c = merge_warps<WHAT>(c);
        if (threadIdx.y > 0 || element + k >= all_elements)
            continue;
        if (a.parts == 1)
            make_record<T, WHAT>(a, c, element + k);
        else
            store_part<WHAT>(a, part * all_elements + element + k, c);
    }
    if (a.parts == 1 || !is_last(a, strip))
        return;
    for (int k = 0; k < PER; k++) {
        const int64_t mine = left + k * STRIP + threadIdx.x;
        const column c = merge_warps<WHAT>(mine < all_elements ? load_parts<WHAT>(a, mine, all_elements) : nothing());
        if (threadIdx.y == 0 && mine < all_elements)
            make_record<T, WHAT>(a, c, mine);
    }
}

/* ---- Sums of floats ------------------------------------------------------------------------------------------- */

enum { LANE_PARTS = TWI_CUDA_LANE_PARTS, GROUPS = TWI_LANES / LANE_PARTS };
static_assert((int)GROUPS == (int)WARPS, "a warp has a lane of each part");

/* The sum of a lane of a column's leaf, whose groups of rows are TWI_LANES groups apart. */
template <typename T, bool SQUARES>
static __device__ __forceinline__ double sum_lane(const char *at, int64_t pitch, int64_t first, int64_t bottom,
                                                  double mean)
{
    double lane = 0;
    for (int64_t top = first; top < bottom; top += (int64_t)TWI_LANES * TWI_GROUP) {
        const char *const rows = at + top * pitch;
        double group = 0;
        if (bottom - top >= TWI_GROUP) {
#pragma unroll
            for (int y = 0; y < TWI_GROUP; y++)
                group += twi_term<SQUARES>((double)*(const T *)(rows + y * pitch), mean);
        } else {
            for (int y = 0; y < (int)(bottom - top); y++)
                group += twi_term<SQUARES>((double)*(const T *)(rows + y * pitch), mean);
        }
        lane += group;
    }
    return lane;
}

/* Part p of a column has the lanes p, p + 8, p + 16 ... of its leaves, one a warp. */
template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(TWI_CUDA_COLUMN_THREADS, 2) lanes(const __grid_constant__ twi_cuda_columns a)
{
    __shared__ double shared[TWI_LANES][STRIP];
    const int warp = (int)threadIdx.y;
    twi_await_stream();
    const int64_t all_elements = a.plane.width * a.plane.channels;
    const int64_t strip = a.left + blockIdx.x;
    const int64_t element = strip * STRIP + threadIdx.x;
    const int64_t x = element / a.plane.channels;
    const int64_t channel = element - x * a.plane.channels;
    const int64_t part = a.first + blockIdx.y;
    const int64_t leaf_rows = (int64_t)TWI_LEAF * TWI_GROUP;
    const int64_t leaves = (a.plane.height + leaf_rows - 1) / leaf_rows;
    const bool exists = element < all_elements; /* all threads reach the barriers */
    const char *const at = (const char *)a.plane.src + element * (int64_t)sizeof(T);
    const double mean = SQUARES && exists ? twi_middle_of(a.middle, a.record, x, channel) : 0;
    double *const sums = (double *)a.sums;
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
        const int64_t top = leaf * leaf_rows;
        const int64_t bottom = a.plane.height - top < leaf_rows ? a.plane.height : top + leaf_rows;
        const int64_t first = top + (warp * LANE_PARTS + part) * TWI_GROUP;
        shared[warp][threadIdx.x] = exists ? sum_lane<T, SQUARES>(at, a.plane.pitch, first, bottom, mean) : 0;
        for (int half = WARPS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (warp < half)
                shared[warp][threadIdx.x] += shared[warp + half][threadIdx.x];
        }
        if (warp == 0 && exists)
            sums[(leaf * LANE_PARTS + part) * all_elements + element] = shared[0][threadIdx.x];
        __syncthreads();
    }
    if (!is_last(a, strip))
        return;
    /* leaves are values of a sequence, of at most one leaf */
    for (int lane = warp; lane < TWI_LANES; lane += WARPS) {
        double sum = 0;
        for (int64_t leaf = lane; leaf < leaves && exists; leaf += TWI_LANES) {
            double of[LANE_PARTS];
#pragma unroll
            for (int p = 0; p < LANE_PARTS; p++)
                of[p] = __ldcg(sums + (leaf * LANE_PARTS + p) * all_elements + element);
#pragma unroll
            for (int half = LANE_PARTS / 2; half > 0; half /= 2)
                for (int p = 0; p < half; p++)
                    of[p] += of[p + half];
            sum += of[0];
        }
        shared[lane][threadIdx.x] = sum;
    }
    for (int half = TWI_LANES / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int lane = warp; lane < half; lane += WARPS)
            shared[lane][threadIdx.x] += shared[lane + half][threadIdx.x];
    }
    if (warp > 0 || !exists)
        return;
    twi_stats stats = {};
    if (SQUARES)
        stats.var = shared[0][threadIdx.x];
    else
        stats.sum = shared[0][threadIdx.x];
    twi_put_record<TWI_CUDA_SUM>(a.record, stats, x, 0, channel);
}

#define EXTREMES (TWI_CUDA_LOWEST | TWI_CUDA_HIGHEST)
#define SETS(T, PER, SUM, ALL)                                                                                         \
    {                                                                                                                  \
        SUM, (const void *)columns<T, PER, EXTREMES>, (const void *)columns<T, PER, ALL>                               \
    }
#define INTEGERS(T, PER) SETS(T, PER, ((const void *)columns<T, PER, TWI_CUDA_SUM>), TWI_CUDA_EVERYTHING)
#define FLOATS(T) SETS(T, 1, nullptr, EXTREMES | TWI_CUDA_COUNTS)
#define TYPES(BYTES, HALVES)                                                                                           \
    {                                                                                                                  \
        INTEGERS(uint8_t, BYTES), INTEGERS(uint16_t, HALVES), INTEGERS(int16_t, HALVES), INTEGERS(int32_t, 1),         \
            FLOATS(float), FLOATS(double)                                                                              \
    }
#define LANES(T)                                                                                                       \
    {                                                                                                                  \
        (const void *)lanes<T, false>, (const void *)lanes<T, true>                                                    \
    }
const void *const twi_cuda_reduce_columns[2][6][TWI_CUDA_FEW_SETS] = {TYPES(1, 1), TYPES(4, 2)};
const void *const twi_cuda_reduce_lanes[6][2] = {LANES(uint8_t), LANES(uint16_t), LANES(int16_t),
                                                 LANES(int32_t), LANES(float),    LANES(double)};
