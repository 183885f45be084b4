/*
 * histogram, fast. Additions of a warp to shared memory take a cycle each where they meet in a bank.
 *   bytes   every lane has counters of its own, in its own bank: whatever the pixels are, no additions meet. The 32
 *           counters of a value lie side by side.
 *   words   one table of 65536 counters of 16 bits a block is all that has room. A thread that finds a counter beyond
 *           half of its range empties it into global memory before it goes on; the others cannot fill the rest
 *           meanwhile. A warp whose pixels all have one value adds them at once.
 * Blocks stay, and their warps take segments of rows in turn.
 */
#include "cuda/cuda.h"
#include "cuda/histogram_kernels.h"

enum {
    THREADS = TWI_CUDA_COUNT_THREADS,
    WARPS = THREADS / 32,
    PIECE = 16,          /* bytes that a lane loads at a time, */
    DEPTH = 4,           /* pieces that it has under way, */
    PIECES = 32 * DEPTH, /* and those of a warp: a segment */
};

static __device__ __forceinline__ void add(const twi_cuda_count &h, uint32_t value, int32_t channel, uint32_t count)
{
    if (count > 0)
        atomicAdd((unsigned long long *)&h.counts[(int64_t)value * h.channels + channel], (unsigned long long)count);
}

template <int BYTES> static __device__ __forceinline__ void clear(uint4 *table)
{
    for (int i = (int)threadIdx.x; i < BYTES / (int)sizeof(uint4); i += THREADS)
        table[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

/* The segments of rows that a warp takes: `across` of each row, in turn with all other warps. */
struct walk {
    int64_t y;
    uint32_t x;
    uint32_t across;
    int64_t down; /* to the warp's next segment */
    uint32_t right;

    __device__ __forceinline__ walk(int64_t first, int64_t stride, uint32_t segments) : across(segments)
    {
        y = first / across;
        x = (uint32_t)(first - y * across);
        down = stride / across;
        right = (uint32_t)(stride - down * across);
    }

    __device__ __forceinline__ void next()
    {
        x += right;
        y += down + (x >= across);
        x -= x >= across ? across : 0;
    }
};

/* ---- Bytes ------------------------------------------------------------------------------------------- */

/* `lane` is the lane's first counter of the channel, in bytes from the table's beginning. */
static __device__ __forceinline__ void count(char *table, uint32_t lane, uint32_t value)
{
    atomicAdd((uint32_t *)(table + (value * 128 | lane)), 1u);
}

/* Pixels of a piece whose first element is of channel `first` % CHANNELS. */
template <int CHANNELS>
static __device__ __forceinline__ void count_piece(char *table, const uint4 &piece, uint32_t first)
{
    const uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
    uint32_t lane[CHANNELS];
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        lane[i] = (first + i) % CHANNELS * TWI_CUDA_COUNT_TABLES + threadIdx.x % 32 * 4;
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        count(table, lane[i % CHANNELS], words[i / 4] >> i % 4 * 8 & 0xffu);
}

/* Elements from `begin` on, one a lane. */
template <int CHANNELS>
static __device__ __forceinline__ void count_rest(char *table, const uint8_t *row, int64_t begin, int64_t end)
{
    const int64_t e = begin + threadIdx.x % 32;
    if (e < end)
        count(table, (uint32_t)(e % CHANNELS) * TWI_CUDA_COUNT_TABLES + threadIdx.x % 32 * 4, row[e]);
}

template <int CHANNELS> static __global__ void __launch_bounds__(THREADS, 1) count_bytes(const twi_cuda_count h)
{
    extern __shared__ __align__(16) char table[];
    const int64_t columns = h.width * CHANNELS;
    const uint32_t lane = threadIdx.x % 32;
    clear<CHANNELS * TWI_CUDA_COUNT_TABLES>((uint4 *)table);
    /* a row may begin inside a piece */
    walk at((int64_t)blockIdx.x * WARPS + threadIdx.x / 32, (int64_t)h.blocks * WARPS,
            (uint32_t)((columns + PIECE - 2) / (PIECES * PIECE)) + 1);
    for (; at.y < h.rows; at.next()) {
        const uint8_t *const row = (const uint8_t *)h.src + at.y * h.src_pitch;
        const uint32_t before = (uint32_t)(uintptr_t)row % PIECE; /* bytes of the first piece that are not the row's */
        const uint32_t whole = before > 0;                        /* the first whole piece, and the end of these */
        const uint32_t whole_end = (uint32_t)((before + columns) / PIECE);
        const uint32_t first = at.x * PIECES + lane;
        const uint4 *const from = (const uint4 *)(row - before) + first;
        uint4 in[DEPTH];
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
            if (first + 32 * i >= whole && first + 32 * i < whole_end)
                in[i] = __ldcs(from + 32 * i);
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
            if (first + 32 * i >= whole && first + 32 * i < whole_end)
                count_piece<CHANNELS>(table, in[i], (first + 32 * i) % CHANNELS * PIECE + 2 * 12 - before);
        const int64_t head = before > 0 ? min((int64_t)PIECE - before, columns) : 0;
        if (at.x == 0)
            count_rest<CHANNELS>(table, row, 0, head);
        if (at.x == at.across - 1)
            count_rest<CHANNELS>(table, row, max((int64_t)whole_end * PIECE - before, head), columns);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 256 * CHANNELS; i += THREADS) {
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < 32; k++) /* each lane begins in another bank */
            sum += ((const uint32_t *)table)[i * 32 + (lane + k) % 32];
        add(h, (uint32_t)i % 256, i / 256, sum);
    }
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void count(const twi_cuda_count &h, uint32_t *table, uint32_t value, int32_t channel,
                                             uint32_t count)
{
    const uint32_t shift = value % 2 * 16;
    const uint32_t had = atomicAdd(&table[value / 2], count << shift) >> shift & 0xffffu;
    /* others add once at most before they are here, too: 32 warps no more than 256 each, and the counter has room */
    if (had + count >= 0x8000u)
        add(h, value, channel, atomicAnd(&table[value / 2], ~(0xffffu << shift)) >> shift & 0xffffu);
}

/* Words of one value, by the warp. */
static __device__ __forceinline__ bool are_one(const uint4 &piece, uint32_t *value)
{
    const uint32_t both = __shfl_sync(~0u, __byte_perm(piece.x, 0, 0x1010), 0);
    *value = both & 0xffffu;
    return __all_sync(~0u, piece.x == both && piece.y == both && piece.z == both && piece.w == both);
}

static __global__ void __launch_bounds__(THREADS, 1) count_words(const twi_cuda_count h)
{
    extern __shared__ __align__(16) uint32_t counters[];
    const int32_t each = PIECE / (int32_t)sizeof(uint16_t);
    const int32_t channel = (int32_t)blockIdx.x % h.channels;
    const int64_t columns = h.width * h.channels;
    const int64_t lane = threadIdx.x % 32;
    clear<TWI_CUDA_COUNT_WORDS>((uint4 *)counters);
    walk at((int64_t)(blockIdx.x / h.channels) * WARPS + threadIdx.x / 32, (int64_t)(h.blocks / h.channels) * WARPS,
            (uint32_t)((columns - 1) / (PIECES * each)) + 1);
    for (; at.y < h.rows; at.next()) {
        const uint16_t *const row = (const uint16_t *)((const char *)h.src + at.y * h.src_pitch);
        const int64_t begin = (int64_t)at.x * PIECES * each;
        const int64_t end = min(begin + PIECES * each, columns);
        if (!h.whole || end - begin < PIECES * each) {
            for (int64_t e = begin + lane; e < end; e += 32)
                if (e % h.channels == channel)
                    count(h, counters, row[e], channel, 1);
            continue;
        }
        uint4 in[DEPTH];
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
            in[i] = __ldcs((const uint4 *)(row + begin) + i * 32 + lane);
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            const int64_t first = begin + (i * 32 + lane) * each;
            const uint32_t words[4] = {in[i].x, in[i].y, in[i].z, in[i].w};
            uint32_t value;
            if (h.channels == 1 && are_one(in[i], &value)) {
                if (lane == 0)
                    count(h, counters, value, 0, 32 * each);
                continue;
            }
#pragma unroll
            for (int k = 0; k < each; k++)
                if (h.channels == 1 || (first + k) % h.channels == channel)
                    count(h, counters, words[k / 2] >> k % 2 * 16 & 0xffffu, channel, 1);
        }
    }
    __syncthreads();
    uint32_t *const to = h.tables + (int64_t)blockIdx.x * TWI_CUDA_COUNT_PAIRS;
    for (int i = (int)threadIdx.x; i < TWI_CUDA_COUNT_PAIRS; i += THREADS)
        to[i] = counters[i];
}

/* A pair of values a thread. */
static __global__ void finish_words(const twi_cuda_count h)
{
    const int pair = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int32_t channel = 0; channel < h.channels; channel++) {
        uint32_t low = 0;
        uint32_t high = 0;
#pragma unroll 8
        for (int32_t block = channel; block < h.blocks; block += h.channels) {
            const uint32_t both = h.tables[(int64_t)block * TWI_CUDA_COUNT_PAIRS + pair];
            low += both & 0xffffu;
            high += both >> 16;
        }
        h.counts[(int64_t)(2 * pair) * h.channels + channel] += low;
        h.counts[(int64_t)(2 * pair + 1) * h.channels + channel] += high;
    }
}

extern "C" const void *const twi_cuda_count_bytes[4] = {(const void *)count_bytes<1>, (const void *)count_bytes<2>,
                                                        (const void *)count_bytes<3>, (const void *)count_bytes<4>};
extern "C" const void *const twi_cuda_count_words = (const void *)count_words;
extern "C" const void *const twi_cuda_count_finish = (const void *)finish_words;
