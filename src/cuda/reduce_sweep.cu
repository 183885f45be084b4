/* Sums of integers, extremes and counts: one look at every pixel, in any order. */
#include "cuda/reduce.cuh"

enum { DEPTH = 4 /* loads under way */ };

template <typename T> struct vector16 {
    static constexpr int count = 16 / (int)sizeof(T);
    union {
        uint4 words;
        uint32_t word[4];
        T of[16 / sizeof(T)];
    };
};

/* ---- Figures of 16 bytes: 8 and 16 bits in pairs of 16 --------------------------------------------------- */

template <typename T> static __device__ __forceinline__ int64_t sum_of(const vector16<T> &v)
{
    int64_t sum = 0;
    int32_t narrow = 0;
    for (int i = 0; i < vector16<T>::count; i++) {
        if (sizeof(T) < 4)
            narrow += (int32_t)v.of[i];
        else
            sum += (int64_t)v.of[i];
    }
    return sum + narrow;
}
template <> __device__ __forceinline__ int64_t sum_of<uint8_t>(const vector16<uint8_t> &v)
{
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum = __dp4a(v.word[i], 0x01010101u, sum);
    return sum;
}

template <typename T> static __device__ __forceinline__ int32_t count_of(const vector16<T> &v)
{
    int32_t some = 0;
    for (int i = 0; i < vector16<T>::count; i++)
        some += v.of[i] != 0;
    return some;
}
template <> __device__ __forceinline__ int32_t count_of<uint8_t>(const vector16<uint8_t> &v)
{
    int32_t some = 0;
    for (int i = 0; i < 4; i++) /* the highest bit of each byte: set, if any is */
        some += __popc((((v.word[i] & 0x7f7f7f7fu) + 0x7f7f7f7fu) | v.word[i]) & 0x80808080u);
    return some;
}

template <typename T> struct range {
    typename twi_keys<T>::Key low;
    typename twi_keys<T>::Key high;
};

template <typename T> static __device__ __forceinline__ range<T> range_of(const vector16<T> &v)
{
    range<T> r;
    r.low = r.high = twi_keys<T>::of(v.of[0]);
    for (int i = 1; i < vector16<T>::count; i++) {
        const typename twi_keys<T>::Key key = twi_keys<T>::of(v.of[i]);
        r.low = key < r.low ? key : r.low;
        r.high = key > r.high ? key : r.high;
    }
    return r;
}
template <> __device__ __forceinline__ range<uint16_t> range_of(const vector16<uint16_t> &v)
{
    const uint32_t low = __vminu2(__vminu2(v.word[0], v.word[1]), __vminu2(v.word[2], v.word[3]));
    const uint32_t high = __vmaxu2(__vmaxu2(v.word[0], v.word[1]), __vmaxu2(v.word[2], v.word[3]));
    range<uint16_t> r;
    r.low = (uint16_t)min(low & 0xffffu, low >> 16);
    r.high = (uint16_t)max(high & 0xffffu, high >> 16);
    return r;
}
template <> __device__ __forceinline__ range<uint8_t> range_of(const vector16<uint8_t> &v)
{
    uint32_t low = 0x00ff00ffu;
    uint32_t high = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t even = v.word[i] & 0x00ff00ffu;
        const uint32_t odd = v.word[i] >> 8 & 0x00ff00ffu;
        low = __vminu2(low, __vminu2(even, odd));
        high = __vmaxu2(high, __vmaxu2(even, odd));
    }
    range<uint8_t> r;
    r.low = (uint8_t)min(low & 0xffffu, low >> 16);
    r.high = (uint8_t)max(high & 0xffffu, high >> 16);
    return r;
}

/* ---- Threads, blocks ------------------------------------------------------------------------------------- */

/* What a thread knows; keys are the type's own until the end. */
template <typename T, int WHAT> struct tally {
    typedef typename twi_keys<T>::Key Key;
    int64_t exact;
    uint64_t counts;
    Key lowest;
    Key highest;
    int64_t lowest_at;
    int64_t highest_at;

    __device__ __forceinline__ tally()
        : exact(0), counts(0), lowest(0), highest(0), lowest_at(INT64_MAX), highest_at(INT64_MAX)
    {
    }

    /* Neighbours with such extremes, the first of them number `at` of the channel. */
    __device__ __forceinline__ void compare(const T *of, int n, const range<T> &r, int64_t at)
    {
        /* the place is looked for only where there is a new extreme: seldom */
        if (r.low < lowest || lowest_at == INT64_MAX) {
            int i = 0;
            while (i < n - 1 && twi_keys<T>::of(of[i]) != r.low)
                i++;
            lowest = r.low;
            lowest_at = at + i;
        }
        if (r.high > highest || highest_at == INT64_MAX) {
            int i = 0;
            while (i < n - 1 && twi_keys<T>::of(of[i]) != r.high)
                i++;
            highest = r.high;
            highest_at = at + i;
        }
    }

    __device__ __forceinline__ void take(const vector16<T> &v, const T *place, int64_t at)
    {
        if (WHAT & TWI_CUDA_EXACT)
            exact += sum_of<T>(v);
        if (WHAT & TWI_CUDA_COUNTS)
            counts += count_of<T>(v);
        if (WHAT & TWI_CUDA_RANGE)
            compare(place, vector16<T>::count, range_of(v), at);
    }

    __device__ __forceinline__ void take(const T *place, int64_t at)
    {
        range<T> r;
        r.low = r.high = twi_keys<T>::of(*place);
        if (WHAT & TWI_CUDA_EXACT)
            exact += (int64_t)*place;
        if (WHAT & TWI_CUDA_COUNTS)
            counts += *place != 0;
        if (WHAT & TWI_CUDA_RANGE)
            compare(place, 1, r, at);
    }

    __device__ __forceinline__ twi_cuda_tally widen() const
    {
        twi_cuda_tally wide = twi_no_tally();
        wide.exact = exact;
        wide.counts = counts;
        if (lowest_at != INT64_MAX) {
            wide.lowest = twi_widen<T>(lowest);
            wide.lowest_at = lowest_at;
            wide.highest = twi_widen<T>(highest);
            wide.highest_at = highest_at;
        }
        return wide;
    }
};

template <typename T, int WHAT>
static __global__ void __launch_bounds__(TWI_CUDA_SWEEP_THREADS, 4) sweep(twi_cuda_sweep a)
{
    __shared__ twi_cuda_tally warps[TWI_CUDA_SWEEP_THREADS / TWI_WARP];
    constexpr int count = vector16<T>::count;
    const twi_cuda_plane &plane = a.plane;
    const int64_t block = a.left + blockIdx.x;
    const int64_t channel = a.first + blockIdx.y;
    const int64_t width = plane.width;
    const int64_t steps = (width + count * TWI_CUDA_SWEEP_THREADS - 1) / (count * TWI_CUDA_SWEEP_THREADS);
    const int64_t end = a.rows ? (block + 1) * steps : plane.height * steps;
    const int64_t stride = a.rows ? 1 : a.blocks;
    const int64_t down = stride / steps;
    const int64_t right = stride % steps;
    int64_t index = a.rows ? block * steps : block;
    int64_t y = index / steps;
    int64_t step = index % steps;
    tally<T, WHAT> mine;
    while (index < end) {
        vector16<T> vectors[DEPTH];
        const T *places[DEPTH];
        int64_t xs[DEPTH];
        int64_t numbers[DEPTH];
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            xs[i] = index < end ? (step * TWI_CUDA_SWEEP_THREADS + threadIdx.x) * count : width;
            places[i] = (const T *)((const char *)plane.src + y * plane.pitch) + xs[i] * plane.channels + channel;
            numbers[i] = y * width + xs[i];
            if (plane.vectors && xs[i] + count <= width)
                vectors[i].words = __ldg((const uint4 *)places[i]);
            index += stride;
            y += down;
            step += right;
            if (step >= steps) {
                step -= steps;
                y++;
            }
        }
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            if (plane.vectors && xs[i] + count <= width) {
                mine.take(vectors[i], places[i], numbers[i]);
                continue;
            }
            for (int k = 0; k < count && xs[i] + k < width; k++)
                mine.take(places[i] + k * plane.channels, numbers[i] + k);
        }
    }
    twi_cuda_tally whole = twi_merge_warp(mine.widen());
    if (threadIdx.x % TWI_WARP == 0)
        warps[threadIdx.x / TWI_WARP] = whole;
    __syncthreads();
    if (threadIdx.x >= TWI_WARP)
        return;
    whole = twi_merge_warp(threadIdx.x < TWI_CUDA_SWEEP_THREADS / TWI_WARP ? warps[threadIdx.x] : twi_no_tally());
    if (threadIdx.x == 0)
        a.tallies[channel * a.blocks + block] = whole;
}

/* A thread an element, a row of the grid for each part of the height. */
template <typename T, int WHAT> static __global__ void columns(twi_cuda_sweep a)
{
    const twi_cuda_plane &plane = a.plane;
    const int64_t elements = plane.width * plane.channels;
    const int64_t element = a.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t part = a.first + blockIdx.y;
    if (element >= elements)
        return;
    const int64_t top = part * TWI_CUDA_PART_ROWS;
    const int64_t bottom = plane.height - top < TWI_CUDA_PART_ROWS ? plane.height : top + TWI_CUDA_PART_ROWS;
    const char *at = (const char *)plane.src + element * (int64_t)sizeof(T);
    tally<T, WHAT> mine;
#pragma unroll 4
    for (int64_t y = top; y < bottom; y++)
        mine.take((const T *)(at + y * plane.pitch), y * plane.width + element / plane.channels);
    a.tallies[part * elements + element] = mine.widen();
}

/* Floats have no exact sums. */
#define INTEGERS(NAME, T)                                                                                              \
    {                                                                                                                  \
        NULL, (const void *)NAME<T, 1>, (const void *)NAME<T, 2>, (const void *)NAME<T, 3>, (const void *)NAME<T, 4>,  \
            (const void *)NAME<T, 5>, (const void *)NAME<T, 6>, (const void *)NAME<T, 7>                               \
    }
#define FLOATS(NAME, T)                                                                                                \
    {                                                                                                                  \
        NULL, NULL, (const void *)NAME<T, 2>, NULL, (const void *)NAME<T, 4>, NULL, (const void *)NAME<T, 6>, NULL     \
    }
#define ALL_TYPES(NAME)                                                                                                \
    {                                                                                                                  \
        INTEGERS(NAME, uint8_t), INTEGERS(NAME, uint16_t), INTEGERS(NAME, int16_t), INTEGERS(NAME, int32_t),           \
            FLOATS(NAME, float), FLOATS(NAME, double)                                                                  \
    }
const void *const twi_cuda_reduce_sweep[6][TWI_CUDA_SWEEPS] = ALL_TYPES(sweep);
const void *const twi_cuda_reduce_tallies[6][TWI_CUDA_SWEEPS] = ALL_TYPES(columns);
