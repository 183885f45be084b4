/*
 * lut, variant fast: u8 in, the table 32 times in shared memory, once in the banks of each lane, so that a warp's 32
 * reads take one cycle whatever the pixels are. The copy of entry v for lane l lies at byte 256 v + 4 l (8 l for
 * entries of 8 bytes): one byte permutation makes the address out of 4 pixels and the lane's number.
 *
 * Warps take segments of rows; the next one is asked for before the results of one are stored. A block makes few:
 * enough to be worth its tables, but so few that all blocks together walk through memory in order. (As many blocks as
 * the device holds, that take segments in turn to the end, drift apart and are slower.)
 */
#include "cuda/cuda.h"
#include "cuda/lut_kernels.h"

enum { THREADS = TWI_CUDA_LUT_THREADS, STRIDE = 256, PIECE = 16 };

/* The table as every lane has it: address() of pixel i of four. */
template <int SIZE> struct lane_table {
    typedef uint32_t word;
    const char *shared;
    uint32_t lane;

    __device__ __forceinline__ word at(uint32_t pixels, int i) const
    {
        return *(const word *)(shared + __byte_perm(pixels, lane, 0x5504u | (uint32_t)i << 4));
    }
};

/* 16 bytes of dst from the pixels in `in`, four to a word. */
static __device__ __forceinline__ uint4 look_up(const lane_table<1> &table, const uint32_t *in)
{
    uint32_t out[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t low = __byte_perm(table.at(in[i], 0), table.at(in[i], 1), 0x0040);
        const uint32_t high = __byte_perm(table.at(in[i], 2), table.at(in[i], 3), 0x0040);
        out[i] = __byte_perm(low, high, 0x5410);
    }
    return make_uint4(out[0], out[1], out[2], out[3]);
}

static __device__ __forceinline__ uint4 look_up(const lane_table<2> &table, const uint32_t *in)
{
    return make_uint4(__byte_perm(table.at(in[0], 0), table.at(in[0], 1), 0x5410),
                      __byte_perm(table.at(in[0], 2), table.at(in[0], 3), 0x5410),
                      __byte_perm(table.at(in[1], 0), table.at(in[1], 1), 0x5410),
                      __byte_perm(table.at(in[1], 2), table.at(in[1], 3), 0x5410));
}

static __device__ __forceinline__ uint4 look_up(const lane_table<4> &table, const uint32_t *in)
{
    return make_uint4(table.at(in[0], 0), table.at(in[0], 1), table.at(in[0], 2), table.at(in[0], 3));
}

template <> struct lane_table<8> {
    typedef uint2 word;
    const char *shared;
    uint32_t lane;

    __device__ __forceinline__ word at(uint32_t pixels, int i) const
    {
        return *(const word *)(shared + __byte_perm(pixels, lane, 0x5504u | (uint32_t)i << 4));
    }
};

static __device__ __forceinline__ uint4 look_up(const lane_table<8> &table, const uint32_t *in)
{
    const uint2 a = table.at(in[0], 0);
    const uint2 b = table.at(in[0], 1);
    return make_uint4(a.x, a.y, b.x, b.y);
}

/* The pixels of a piece, as a value and as words. */
template <int PIXELS> struct whole_piece;
template <> struct whole_piece<16> {
    typedef uint4 type;
};
template <> struct whole_piece<8> {
    typedef uint2 type;
};
template <> struct whole_piece<4> {
    typedef uint32_t type;
};
template <> struct whole_piece<2> {
    typedef uint16_t type;
};
template <int PIXELS> union pixels_of {
    typename whole_piece<PIXELS>::type whole;
    uint32_t words[(PIXELS + 3) / 4];
};

/* A segment of a row: 32 times `together` pieces. */
struct segment {
    int64_t y;
    uint32_t x;
};

template <typename E> struct segments {
    static const int pixels = PIECE / (int)sizeof(E);
    static const int together = pixels > 4 ? 2 : 4;
    static const uint32_t pieces = 32 * together;

    const twi_cuda_lut &lut;
    uint32_t lane;
    uint32_t whole; /* pieces of a row that are moved at once */

    __device__ __forceinline__ const uint8_t *source(int64_t y) const
    {
        return (const uint8_t *)lut.src + y * lut.src_pitch;
    }

    __device__ __forceinline__ E *output(int64_t y) const
    {
        return (E *)((char *)lut.dst + y * lut.dst_pitch);
    }

    __device__ __forceinline__ void load(segment s, pixels_of<pixels> *in) const
    {
        const uint32_t first = s.x * pieces + lane;
        const uint8_t *const from = source(s.y) + (int64_t)first * pixels;
        if (s.y >= lut.rows)
            return;
#pragma unroll
        for (int i = 0; i < together; i++)
            if (first + 32 * i < whole)
                in[i].whole = *(const typename whole_piece<pixels>::type *)(from + 32 * i * pixels);
    }

    __device__ __forceinline__ void store(segment s, const uint4 *value) const
    {
        const uint32_t first = s.x * pieces + lane;
        E *const to = output(s.y) + (int64_t)first * pixels;
#pragma unroll
        for (int i = 0; i < together; i++)
            if (first + 32 * i < whole)
                *(uint4 *)(to + 32 * i * pixels) = value[i];
    }

    /* What is no whole piece, one by one, from the table in global memory. */
    __device__ __forceinline__ void finish(segment s) const
    {
        const int64_t begin = (int64_t)max(whole, s.x * pieces) * pixels;
        const int64_t end = min(lut.columns, ((int64_t)s.x + 1) * pieces * pixels);
        for (int64_t i = begin + lane; i < end; i += 32)
            output(s.y)[i] = ((const E *)lut.table)[source(s.y)[i]];
    }
};

template <typename E>
static __global__ void __launch_bounds__(THREADS, TWI_CUDA_LUT_BLOCKS) lut_fast(const twi_cuda_lut lut)
{
    extern __shared__ __align__(16) char shared[];
    typedef typename lane_table<sizeof(E)>::word word;
    typedef segments<E> all;
    const uint32_t lane = threadIdx.x % 32;
    const lane_table<sizeof(E)> table = {shared, lane * (uint32_t)sizeof(word)};
    const all here = {lut, lane, lut.vectors ? (uint32_t)(lut.columns / all::pixels) : 0};
    const uint32_t across = (uint32_t)((lut.columns + all::pieces * all::pixels - 1) / (all::pieces * all::pixels));
    const uint32_t warps = THREADS / 32;
    const int64_t number = (int64_t)blockIdx.x * warps * lut.rounds + threadIdx.x / 32;
    const segment step = {warps / across, warps % across};
    segment at = {lut.first + number / across, (uint32_t)(number % across)};
    pixels_of<all::pixels> in[all::together] = {};
    here.load(at, in);
#pragma unroll
    for (int i = (int)threadIdx.x; i < 256 * 32; i += THREADS) {
        word entry = {};
        *(E *)&entry = ((const E *)lut.table)[i / 32];
        *(word *)(shared + i / 32 * STRIDE + table.lane) = entry;
    }
    __syncthreads();
    for (int round = 1; round <= lut.rounds && at.y < lut.rows; round++) {
        const segment done = at;
        uint4 out[all::together];
#pragma unroll
        for (int i = 0; i < all::together; i++)
            out[i] = look_up(table, in[i].words);
        at.x += step.x;
        at.y += step.y + (at.x >= across);
        at.x -= at.x >= across ? across : 0;
        if (round < lut.rounds)
            here.load(at, in);
        here.store(done, out);
        if ((done.x + 1) * all::pieces > here.whole)
            here.finish(done);
    }
}

#define ROW(E, ROUNDS)                                                                                                 \
    {                                                                                                                  \
        (const void *)lut_fast<E>, (int32_t)segments<E>::pieces *segments<E>::pixels, ROUNDS                           \
    }
extern "C" const twi_cuda_lut_segments twi_cuda_lut_fast[TWI_CUDA_ENTRIES] = {
    ROW(uint8_t, 4),
    ROW(uint16_t, 4),
    ROW(uint32_t, 2),
    ROW(uint64_t, 2),
};
