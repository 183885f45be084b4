/*
 * transpose, variant fast: 16 bytes an access on both sides, pieces of 128 bytes of a row at least. Rows at any address
 * are read as the aligned pieces around those 16 bytes, and written a word a thread, a warp 128 bytes of a row.
 *
 * A thread reads 16 bytes of as many rows as make a word of one column, 4 or 16 bytes, and exchanges rows and columns
 * in registers. The words go to shared memory, where a row of the tile is a column of the source; from there, 16 bytes
 * at a time, to dst. The pieces of 16 bytes of a tile's row are permuted by an exclusive or, so that neither words
 * that are written together, which lie in different rows, nor pieces that are read together meet in a bank.
 *
 * Tiles are made in bands of dst, some tiles high, column after column of the band: what is written at a time lies in
 * few pages of memory, and so does what is read. The last tiles, which hang over the image's edge and take longer,
 * come first.
 */
#include "cuda/row.cuh"
#include "cuda/transpose_kernels.h"

enum { THREADS = TWI_CUDA_FAST_THREADS, PIECE = 16, SECTION = 128, PIECES = SECTION / PIECE };

/* ---- Columns of a few rows, in registers ----------------------------------------------------------- */

/* The 32-bit word `i` of 16 bytes. */
static __device__ __forceinline__ uint32_t word_of(const uint4 &piece, int i)
{
    return i == 0 ? piece.x : i == 1 ? piece.y : i == 2 ? piece.z : piece.w;
}

/* For elements of SIZE bytes: WORD is what ROWS rows have in a column, and take(rows, put) calls put(column, word)
   for each column of those rows. */
template <int SIZE> struct columns;

template <> struct columns<1> {
    typedef uint32_t WORD;
    template <typename Put> static __device__ __forceinline__ void take(const uint4 *rows, Put put)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t a = word_of(rows[0], i);
            const uint32_t b = word_of(rows[1], i);
            const uint32_t c = word_of(rows[2], i);
            const uint32_t d = word_of(rows[3], i);
            /* bytes: a0 b0 a1 b1, c0 d0 c1 d1, a2 b2 a3 b3, c2 d2 c3 d3 */
            const uint32_t low = __byte_perm(a, b, 0x5140);
            const uint32_t low2 = __byte_perm(c, d, 0x5140);
            const uint32_t high = __byte_perm(a, b, 0x7362);
            const uint32_t high2 = __byte_perm(c, d, 0x7362);
            put(4 * i, __byte_perm(low, low2, 0x5410));
            put(4 * i + 1, __byte_perm(low, low2, 0x7632));
            put(4 * i + 2, __byte_perm(high, high2, 0x5410));
            put(4 * i + 3, __byte_perm(high, high2, 0x7632));
        }
    }
};

template <> struct columns<2> {
    typedef uint32_t WORD;
    template <typename Put> static __device__ __forceinline__ void take(const uint4 *rows, Put put)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            put(2 * i, __byte_perm(word_of(rows[0], i), word_of(rows[1], i), 0x5410));
            put(2 * i + 1, __byte_perm(word_of(rows[0], i), word_of(rows[1], i), 0x7632));
        }
    }
};

template <> struct columns<4> {
    typedef uint4 WORD;
    template <typename Put> static __device__ __forceinline__ void take(const uint4 *rows, Put put)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            put(i, make_uint4(word_of(rows[0], i), word_of(rows[1], i), word_of(rows[2], i), word_of(rows[3], i)));
    }
};

template <> struct columns<8> {
    typedef uint4 WORD;
    template <typename Put> static __device__ __forceinline__ void take(const uint4 *rows, Put put)
    {
        put(0, make_uint4(rows[0].x, rows[0].y, rows[1].x, rows[1].y));
        put(1, make_uint4(rows[0].z, rows[0].w, rows[1].z, rows[1].w));
    }
};

template <> struct columns<16> {
    typedef uint4 WORD;
    template <typename Put> static __device__ __forceinline__ void take(const uint4 *rows, Put put)
    {
        put(0, rows[0]);
    }
};

/* An element that is moved alone. */
template <int SIZE> struct element;
template <> struct element<1> {
    typedef uint8_t type;
};
template <> struct element<2> {
    typedef uint16_t type;
};
template <> struct element<4> {
    typedef uint32_t type;
};
template <> struct element<8> {
    typedef uint2 type;
};
template <> struct element<16> {
    typedef uint4 type;
};

/* ---- Pieces of 16 bytes ------------------------------------------------------------------------------ */

/* The first `count` elements of a piece; 16 bytes at once if all of them are wanted. */
template <int SIZE> static __device__ __forceinline__ uint4 load_piece(const char *from, int64_t count)
{
    typedef typename element<SIZE>::type single;
    union {
        uint4 whole;
        single elements[PIECE / SIZE];
    } piece = {};
    if (count >= PIECE / SIZE)
        return *(const uint4 *)from;
#pragma unroll
    for (int i = 0; i < PIECE / SIZE; i++)
        if (i < count)
            piece.elements[i] = ((const single *)from)[i];
    return piece.whole;
}

template <int SIZE> static __device__ __forceinline__ void store_piece(char *to, uint4 value, int64_t count)
{
    typedef typename element<SIZE>::type single;
    union {
        uint4 whole;
        single elements[PIECE / SIZE];
    } piece = {value};
    if (count >= PIECE / SIZE) {
        *(uint4 *)to = value;
        return;
    }
#pragma unroll
    for (int i = 0; i < PIECE / SIZE; i++)
        if (i < count)
            ((single *)to)[i] = piece.elements[i];
}

/* 16 bytes at any address: inside a row, and what lies around them is memory of the image. */
static __device__ __forceinline__ uint4 load_shifted(const char *from)
{
    uint32_t pieces[(PIECE + TWI_PIECE) / 4];
    uint32_t words[PIECE / 4];
    load_pieces<PIECE / 4>(from, pieces);
    skip_bytes<PIECE / 4>(pieces, (unsigned)(uintptr_t)from, words);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* The first `count` of 16 bytes. */
static __device__ __forceinline__ uint4 load_bytes(const char *from, int64_t count)
{
    uint32_t words[PIECE / 4] = {};
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        if (i < count)
            put_element<uint8_t>(words, i, (uint8_t)from[i]);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* ---- A tile ------------------------------------------------------------------------------------------ */

/* ACROSS sections of 128 bytes of DOWN * 128 / SIZE source rows. */
template <int SIZE, int ACROSS, int DOWN> struct tile {
    typedef typename columns<SIZE>::WORD word;
    static const int width = DOWN * SECTION / SIZE; /* of the outputs */
    static const int height = ACROSS * SECTION / SIZE;
    static const int pitch = DOWN * SECTION; /* of shared memory, whose rows are dst's */
    static const int rows = sizeof(word) / SIZE;
    static const int batches = ACROSS * SECTION * DOWN * SECTION / SIZE / (PIECE * rows * THREADS);

    /* Where byte `at` of row y is kept. */
    static __device__ __forceinline__ char *place(char *shared, int y, int at)
    {
        return shared + y * pitch + (at ^ (y * SIZE / PIECE % PIECES * PIECE));
    }

    /* `columns` x `lines` outputs exist; all of the tile's if it is WHOLE. */
    template <bool WHOLE, bool ALIGNED>
    static __device__ __forceinline__ void fill(char *shared, const twi_cuda_transpose &t, const char *src,
                                                int64_t columns_left, int64_t lines_left)
    {
        uint4 piece[batches][rows];
#pragma unroll
        for (int i = 0; i < batches; i++) {
            const int number = i * THREADS + (int)threadIdx.x;
            const int at = number % (ACROSS * PIECES) * PIECE;
            const int first = number / (ACROSS * PIECES) * rows;
#pragma unroll
            for (int r = 0; r < rows; r++) {
                const char *const from = src + (int64_t)(first + r) * t.right + at;
                if (WHOLE)
                    piece[i][r] = ALIGNED ? *(const uint4 *)from : load_shifted(from);
                else if (first + r >= columns_left)
                    piece[i][r] = make_uint4(0, 0, 0, 0);
                else
                    piece[i][r] = ALIGNED ? load_piece<SIZE>(from, lines_left - at / SIZE)
                                          : load_bytes(from, lines_left * SIZE - at);
            }
        }
#pragma unroll
        for (int i = 0; i < batches; i++) {
            const int number = i * THREADS + (int)threadIdx.x;
            const int y = number % (ACROSS * PIECES) * PIECE / SIZE;
            const int at = number / (ACROSS * PIECES) * (int)sizeof(word);
            columns<SIZE>::take(piece[i],
                                [&](int column, word value) { *(word *)place(shared, y + column, at) = value; });
        }
    }

    template <bool WHOLE>
    static __device__ __forceinline__ void empty(char *shared, const twi_cuda_transpose &t, char *dst,
                                                 int64_t columns_left, int64_t lines_left)
    {
#pragma unroll
        for (int i = 0; i < height * DOWN * PIECES / THREADS; i++) {
            const int number = i * THREADS + (int)threadIdx.x;
            const int y = number / (DOWN * PIECES);
            const int at = number % (DOWN * PIECES) * PIECE;
            char *const to = dst + y * t.dst_pitch + at;
            const uint4 piece = *(const uint4 *)place(shared, y, at);
            if (WHOLE)
                *(uint4 *)to = piece;
            else if (y < lines_left)
                store_piece<SIZE>(to, piece, columns_left - at / SIZE);
        }
    }

    /* The same to rows at any address. Aligned words of a row begin `before` bytes early; what they leave at its ends
       is four bytes. */
    static __device__ __forceinline__ void empty_shifted(char *shared, const twi_cuda_transpose &t, char *dst)
    {
        const int lane = (int)threadIdx.x % 32;
#pragma unroll 4
        for (int number = (int)threadIdx.x / 32; number < height * DOWN; number += THREADS / 32) {
            const int y = number / DOWN;
            char *const to = dst + y * t.dst_pitch;
            const int before = (int)((uintptr_t)to % 4);
            const int at = number % DOWN * SECTION + 4 * lane;
            const uint32_t high = *(const uint32_t *)place(shared, y, at);
            const uint32_t low = at > 0 ? *(const uint32_t *)place(shared, y, at - 4) : 0;
            if (at > 0 || before == 0)
                *(uint32_t *)(to + at - before) = __funnelshift_l(low, high, 8 * before);
            if (before > 0 && at < 16) {
                const int byte = lane < 4 - before ? lane : pitch - 4 + lane;
                to[byte] = *place(shared, y, byte);
            }
        }
    }

    /* Rows of `bytes`, `lines_left` of them, a byte a thread. */
    static __device__ __forceinline__ void empty_bytes(char *shared, const twi_cuda_transpose &t, char *dst,
                                                       int64_t bytes, int64_t lines_left)
    {
#pragma unroll 1
        for (int y = (int)threadIdx.x / 32; y < height && y < lines_left; y += THREADS / 32)
            for (int at = (int)threadIdx.x % 32; at < pitch && at < bytes; at += 32)
                dst[y * t.dst_pitch + at] = *place(shared, y, at);
    }
};

/* The block's tile, from the grid's last to its first, in bands. A grid of 2^32 tiles would not fit any memory. */
static __device__ __forceinline__ uint2 tile_here(uint32_t band_height)
{
    const uint32_t number = gridDim.x * gridDim.y - 1 - (blockIdx.y * gridDim.x + blockIdx.x);
    const uint32_t band = number / (band_height * gridDim.x);
    const uint32_t height = min(band_height, gridDim.y - band * band_height);
    const uint32_t in_band = number - band * band_height * gridDim.x;
    return make_uint2(in_band / height, band * band_height + in_band % height);
}

/* ALIGNED: rows begin at multiples of 16 bytes. */
template <int SIZE, int ACROSS, int DOWN, bool ALIGNED>
static __global__ void __launch_bounds__(THREADS) transpose_fast(const twi_cuda_transpose t)
{
    extern __shared__ __align__(16) char shared[];
    typedef tile<SIZE, ACROSS, DOWN> here;
    const uint2 number = tile_here((uint32_t)t.band);
    const int64_t left = t.left + (int64_t)number.x * here::width;
    const int64_t top = t.first + (int64_t)number.y * here::height;
    const int64_t columns_left = t.width - left;
    const int64_t lines_left = t.height - top;
    const char *const src = (const char *)t.src + left * t.right + top * SIZE;
    char *const dst = (char *)t.dst + top * t.dst_pitch + left * SIZE;
    /* the pieces around a source row's last bytes reach up to TWI_PIECE bytes beyond it */
    const bool whole =
        columns_left >= here::width && lines_left * SIZE >= here::height * SIZE + (ALIGNED ? 0 : TWI_PIECE);
    if (whole)
        here::template fill<true, ALIGNED>(shared, t, src, 0, 0);
    else
        here::template fill<false, ALIGNED>(shared, t, src, columns_left, lines_left);
    __syncthreads();
    if (!ALIGNED && whole)
        here::empty_shifted(shared, t, dst);
    else if (!ALIGNED)
        here::empty_bytes(shared, t, dst, columns_left * SIZE, lines_left);
    else if (whole)
        here::template empty<true>(shared, t, dst, 0, 0);
    else
        here::template empty<false>(shared, t, dst, columns_left, lines_left);
}

#define TILE(SIZE, ACROSS, DOWN, BAND, ALIGNED)                                                                        \
    {                                                                                                                  \
        (const void *)transpose_fast<SIZE, ACROSS, DOWN, ALIGNED>, tile<SIZE, ACROSS, DOWN>::width,                    \
            tile<SIZE, ACROSS, DOWN>::height, BAND, ACROSS *DOWN *(SECTION * SECTION / SIZE)                           \
    }
extern "C" const twi_cuda_transpose_fast twi_cuda_transpose_tiles[TWI_CUDA_UNITS] = {
    TILE(1, 1, 1, 2, true), TILE(2, 1, 2, 2, true),   TILE(4, 2, 2, 2, true),
    TILE(8, 2, 4, 2, true), TILE(16, 4, 4, 32, true),
};
extern "C" const twi_cuda_transpose_fast twi_cuda_transpose_shifted[TWI_CUDA_SHIFTED_UNITS] = {
    TILE(1, 1, 2, 2, false),
    TILE(2, 1, 2, 2, false),
};

/* ---- Flips -------------------------------------------------------------------------------------------- */

template <int SIZE> static __device__ __forceinline__ uint4 reversed(uint4 piece)
{
    switch (SIZE) {
    case 1:
        return make_uint4(__byte_perm(piece.w, 0, 0x0123), __byte_perm(piece.z, 0, 0x0123),
                          __byte_perm(piece.y, 0, 0x0123), __byte_perm(piece.x, 0, 0x0123));
    case 2:
        return make_uint4(__byte_perm(piece.w, 0, 0x1032), __byte_perm(piece.z, 0, 0x1032),
                          __byte_perm(piece.y, 0, 0x1032), __byte_perm(piece.x, 0, 0x1032));
    case 4:
        return make_uint4(piece.w, piece.z, piece.y, piece.x);
    case 8:
        return make_uint4(piece.z, piece.w, piece.x, piece.y);
    default:
        return piece;
    }
}

template <int SIZE> static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) flip(const twi_cuda_transpose t)
{
    const int64_t x = t.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = t.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= t.width || y >= t.height)
        return;
    const uint4 piece = *(const uint4 *)((const char *)t.src + x * t.right + y * t.down);
    ((uint4 *)((char *)t.dst + y * t.dst_pitch))[x] = reversed<SIZE>(piece);
}

extern "C" const void *const twi_cuda_flip[TWI_CUDA_UNITS] = {
    (const void *)flip<1>, (const void *)flip<2>, (const void *)flip<4>, (const void *)flip<8>, (const void *)flip<16>,
};
