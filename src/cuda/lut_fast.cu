/*
 * lut, variant fast: u8 in, the table 32 times in shared memory, once in the banks of each lane, so that a warp's 32
 * reads take one cycle whatever the pixels are. The copy of entry v for lane l lies at byte 256 v + 4 l (8 l for
 * entries of 8 bytes): one byte permutation makes the address out of 4 pixels and the lane's number.
 *
 * Blocks stay, since filling their tables is dear, and take pieces in memory's order, all at a time; a thread asks for
 * the pieces after next before it stores a result.
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
    uint8_t bytes[PIXELS];
};

/* A piece of the image. */
struct position {
    int64_t y;
    uint32_t x;
};

template <typename E> struct pieces {
    static const int pixels = PIECE / (int)sizeof(E);

    /* How many of the piece's pixels exist. */
    static __device__ __forceinline__ int64_t count(const twi_cuda_lut &lut, position at)
    {
        return at.y < lut.rows ? lut.columns - (int64_t)at.x * pixels : 0;
    }

    static __device__ __forceinline__ pixels_of<pixels> load(const twi_cuda_lut &lut, position at)
    {
        const int64_t n = count(lut, at);
        const uint8_t *const from = (const uint8_t *)lut.src + at.y * lut.src_pitch + (int64_t)at.x * pixels;
        pixels_of<pixels> in = {};
        if (lut.vectors && n >= pixels) {
            in.whole = *(const typename whole_piece<pixels>::type *)from;
        } else {
#pragma unroll
            for (int i = 0; i < pixels; i++)
                if (i < n)
                    in.bytes[i] = from[i];
        }
        return in;
    }

    static __device__ __forceinline__ void store(const twi_cuda_lut &lut, position at, uint4 value)
    {
        const int64_t n = count(lut, at);
        E *const to = (E *)((char *)lut.dst + at.y * lut.dst_pitch) + (int64_t)at.x * pixels;
        union {
            uint4 whole;
            E entries[pixels];
        } out = {value};
        if (lut.vectors && n >= pixels) {
            *(uint4 *)to = value;
        } else {
#pragma unroll
            for (int i = 0; i < pixels; i++)
                if (i < n)
                    to[i] = out.entries[i];
        }
    }
};

template <typename E>
static __global__ void __launch_bounds__(THREADS, TWI_CUDA_LUT_BLOCKS) lut_fast(const twi_cuda_lut lut)
{
    extern __shared__ __align__(16) char shared[];
    typedef typename lane_table<sizeof(E)>::word word;
    const int pixels = pieces<E>::pixels;
    const int together = pixels > 4 ? 2 : 4;
    const uint32_t lane = threadIdx.x % 32 * (uint32_t)sizeof(word);
    for (int i = (int)threadIdx.x; i < 256 * 32; i += THREADS) {
        word entry = {};
        *(E *)&entry = ((const E *)lut.table)[i / 32];
        *(word *)(shared + i / 32 * STRIDE + lane) = entry;
    }
    __syncthreads();

    const lane_table<sizeof(E)> table = {shared, lane};
    const uint32_t across = (uint32_t)((lut.columns + pixels - 1) / pixels);
    const uint32_t all = gridDim.x * THREADS;
    const uint32_t number = blockIdx.x * THREADS + threadIdx.x;
    const position step = {all / across, all % across};
    position next = {lut.first + number / across, number % across};
    position at[together];
    pixels_of<pixels> in[together];
    const auto advance = [&](int i) {
        at[i] = next;
        in[i] = pieces<E>::load(lut, next);
        next.x += step.x;
        next.y += step.y + (next.x >= across);
        next.x -= next.x >= across ? across : 0;
    };
#pragma unroll
    for (int i = 0; i < together; i++)
        advance(i);
    while (at[0].y < lut.rows) {
#pragma unroll
        for (int i = 0; i < together; i++) {
            const uint4 out = look_up(table, in[i].words);
            const position here = at[i];
            advance(i);
            pieces<E>::store(lut, here, out);
        }
    }
}

extern "C" const void *const twi_cuda_lut_fast[TWI_CUDA_ENTRIES] = {
    (const void *)lut_fast<uint8_t>,
    (const void *)lut_fast<uint16_t>,
    (const void *)lut_fast<uint32_t>,
    (const void *)lut_fast<uint64_t>,
};
