/*
 * lut, variant fast: u8 in, the table 32 times in shared memory, once in the banks of each lane, so that a warp's 32
 * reads take one cycle whatever the pixels are. The copy of entry v for lane l lies at byte 256 v + 4 l (8 l for
 * entries of 8 bytes): one byte permutation makes the address out of 4 pixels and the lane's number.
 *
 * Blocks stay, since filling their tables is dear, and take pieces in memory's order, all at a time; a thread asks
 * for several pieces before it uses the first.
 */
#include "cuda/cuda.h"
#include "cuda/lut_kernels.h"

enum { THREADS = TWI_CUDA_LUT_THREADS, STRIDE = 256, PIECE = 16, AT_A_TIME = 4 };

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

/* The pixels of a piece as one value. */
template <int PIXELS> struct piece_of;
template <> struct piece_of<16> {
    typedef uint4 type;
};
template <> struct piece_of<8> {
    typedef uint2 type;
};
template <> struct piece_of<4> {
    typedef uint32_t type;
};
template <> struct piece_of<2> {
    typedef uint16_t type;
};

/* A position in the image that moves on by the number of all threads. */
struct walker {
    int64_t x; /* piece */
    int64_t y;
};

template <typename E> static __global__ void __launch_bounds__(THREADS) lut_fast(const twi_cuda_lut lut)
{
    extern __shared__ __align__(16) char shared[];
    const int SIZE = (int)sizeof(E);
    const int PIXELS = PIECE / SIZE;
    typedef typename piece_of<PIXELS>::type piece;
    typedef typename lane_table<SIZE>::word word;
    const uint32_t lane = threadIdx.x % 32 * (uint32_t)sizeof(word);
    for (int i = (int)threadIdx.x; i < 256 * 32; i += THREADS) {
        word entry = {};
        *(E *)&entry = ((const E *)lut.table)[i / 32];
        *(word *)(shared + i / 32 * STRIDE + lane) = entry;
    }
    __syncthreads();

    const lane_table<SIZE> table = {shared, lane};
    const int64_t across = (lut.columns + PIXELS - 1) / PIXELS;
    const int64_t all = (int64_t)gridDim.x * THREADS;
    const int64_t step_x = all % across;
    const int64_t step_y = all / across;
    const int64_t number = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    walker at = {number % across, lut.first + number / across};
    while (at.y < lut.rows) {
        walker place[AT_A_TIME];
        union {
            piece whole;
            uint32_t words[(PIXELS + 3) / 4];
        } in[AT_A_TIME];
#pragma unroll
        for (int i = 0; i < AT_A_TIME; i++) {
            place[i] = at;
            const uint8_t *const row = (const uint8_t *)lut.src + at.y * lut.src_pitch + at.x * PIXELS;
            if (at.y < lut.rows && lut.vectors && (at.x + 1) * PIXELS <= lut.columns)
                in[i].whole = *(const piece *)row;
            at.x += step_x;
            at.y += step_y + (at.x >= across);
            at.x -= at.x >= across ? across : 0;
        }
#pragma unroll
        for (int i = 0; i < AT_A_TIME; i++) {
            const int64_t first = place[i].x * PIXELS;
            E *const out = (E *)((char *)lut.dst + place[i].y * lut.dst_pitch) + first;
            if (place[i].y >= lut.rows)
                return;
            if (lut.vectors && first + PIXELS <= lut.columns) {
                *(uint4 *)out = look_up(table, in[i].words);
            } else {
                const uint8_t *const row = (const uint8_t *)lut.src + place[i].y * lut.src_pitch + first;
                for (int j = 0; j < PIXELS && first + j < lut.columns; j++)
                    out[j] = ((const E *)lut.table)[row[j]];
            }
        }
    }
}

extern "C" const void *const twi_cuda_lut_fast[TWI_CUDA_ENTRIES] = {
    (const void *)lut_fast<uint8_t>,
    (const void *)lut_fast<uint16_t>,
    (const void *)lut_fast<uint32_t>,
    (const void *)lut_fast<uint64_t>,
};
