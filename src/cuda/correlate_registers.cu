/*
 * correlate, variant `registers`: windows within 3x3 or 5x5, u8 and f32 pixels, one channel. Each thread makes a few
 * words of several rows from rows that it holds in registers, a word or two beside its own included: neighbouring
 * threads load those again, from the cache. No shared memory, no barrier, nothing between threads.
 *
 * u8 with integer masks: four products an instruction (DP4A), masks as one or two planes of signed bytes.
 *   5x5: a word of a column's bytes in rows y - 2 ... y + 1 for each of the five columns, and the row y + 2 in
 *        the two words where it lies: 7 instructions for 25 products.
 *   3x3: a row's three bytes; a word of four serves two outputs.
 * Float sums: fma in the order of the taps.
 */
#include "cuda/march.cuh"
#include "cuda/quotient.cuh"
#include "cuda/row.cuh"

enum { ROWS = 4, WARPS = TWI_CUDA_TAPS_ROWS / ROWS }; /* a thread makes; a block has */

/* ---- Loading ----------------------------------------------------------------------------------------- */

/* N words, whose address is a multiple of their size as far as that is a power of two. */
template <int N> TWI_DEVICE void load_aligned(const char *address, uint32_t *words)
{
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int k = 0; k < N; k += 4)
            load16(address + 4 * k, words + k);
    } else if constexpr (N == 2) {
        const uint2 v = __ldg((const uint2 *)address);
        words[0] = v.x;
        words[1] = v.y;
    } else {
#pragma unroll
        for (int k = 0; k < N; k++)
            words[k] = __ldg((const uint32_t *)address + k);
    }
}

/* The same to store them. */
template <int N> TWI_DEVICE void store_words(char *address, const uint32_t *words)
{
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int k = 0; k < N; k += 4)
            store16(address + 4 * k, words + k);
    } else {
#pragma unroll
        for (int k = 0; k < N; k += 2)
            *(uint2 *)(address + 4 * k) = make_uint2(words[k], words[k + 1]);
    }
}

/* Words of N rows of which some lie beside the image: those inside are loaded all at once, the others then, each
   element by the border's rule. That loop is not unrolled: it has few turns, in few threads. */
template <typename T, int WORDS, int N>
TWI_DEVICE void load_edge(const twi_cuda_box &box, const char *const *row, int64_t element, uint32_t (*x)[WORDS])
{
    constexpr int each = 4 / (int)sizeof(T);
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const int64_t first = element + k * each;
#pragma unroll
        for (int i = 0; i < N; i++) {
            x[i][k] = 0;
            if (row[i] && first >= 0 && first + each <= box.width) {
#pragma unroll
                for (int e = 0; e < each; e++)
                    put_element<T>(x[i] + k, e, __ldg((const T *)row[i] + first + e));
            }
        }
    }
#pragma unroll 1
    for (int k = 0; k < WORDS; k++) {
        const int64_t first = element + k * each;
        if (first >= 0 && first + each <= box.width)
            continue;
        uint32_t word[N] = {};
#pragma unroll
        for (int e = 0; e < each; e++) {
            const int64_t from = near_index(first + e, box.width, box.border);
#pragma unroll
            for (int i = 0; i < N; i++)
                put_element<T>(word + i, e, row[i] && from >= 0 ? __ldg((const T *)row[i] + from) : (T)box.value);
        }
#pragma unroll
        for (int j = 0; j < WORDS; j++)
#pragma unroll
            for (int i = 0; i < N; i++)
                x[i][j] = j == k ? word[i] : x[i][j];
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (!row[i])
            fill<T, WORDS>(box, x[i]);
}

/* N words at an address: one that is a multiple of 16 but for HALO words before it, or any. The aligned pieces around
   them are loaded, too. */
template <int HALO, int N, bool ALIGNED> TWI_DEVICE void load_words(const char *address, uint32_t *words)
{
    if constexpr (ALIGNED) {
        load_aligned<HALO>(address, words);
        load_aligned<N - 2 * HALO>(address + 4 * HALO, words + HALO);
        load_aligned<HALO>(address + 4 * (N - HALO), words + N - HALO);
    } else {
        uint32_t pieces[N + TWI_PIECE / 4];
        load_pieces<N>(address, pieces);
        skip_bytes<N>(pieces, (unsigned)(uintptr_t)address, words);
    }
}

/* N rows from y on: WORDS words from element `element` on. INSIDE: all of them are pixels, and what load_words() loads
   lies in their rows. */
template <typename T, int HALO, int WORDS, int N, bool ALIGNED, bool INSIDE>
TWI_DEVICE void load_extended(const twi_cuda_box &box, int64_t element, int64_t y, uint32_t (*x)[WORDS])
{
    constexpr int each = 4 / (int)sizeof(T);
    if constexpr (INSIDE) {
        const char *from = (const char *)box.src + y * box.src_pitch + element * (int64_t)sizeof(T);
#pragma unroll
        for (int i = 0; i < N; i++, from += box.src_pitch)
            load_words<HALO, WORDS, ALIGNED>(from, x[i]);
    } else {
        const char *row[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            row[i] = (const char *)near_row(box, y + i);
        if (element < each || element + (WORDS + 1) * each > box.width) {
            load_edge<T, WORDS, N>(box, row, element, x);
            return;
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (row[i])
                load_shifted<4 * WORDS>((const uint8_t *)row[i] + element * (int64_t)sizeof(T), x[i]);
            else
                fill<T, WORDS>(box, x[i]);
        }
    }
}

/* ---- Integer sums --------------------------------------------------------------------------------------- */

/* sum + the four products of bytes without and with a sign */
TWI_DEVICE int32_t multiply_bytes(uint32_t pixels, uint32_t weights, int32_t sum)
{
    asm("dp4a.u32.s32 %0,%1,%2,%0;" : "+r"(sum) : "r"(pixels), "r"(weights));
    return sum;
}

/* Sums of one output row of 5x5 windows. column[i]: four rows' bytes of the column i - 2; row: the fifth row's words.
 */
template <int COUNT>
TWI_DEVICE void multiply_5x5(const uint32_t *column, const uint32_t *row, const uint32_t *weights, int32_t *sums)
{
#pragma unroll
    for (int p = 0; p < COUNT; p++) {
#pragma unroll
        for (int i = 0; i < 5; i++)
            sums[p] = multiply_bytes(column[p + i], weights[i], sums[p]);
        /* the bytes p + 2 ... p + 6 of the row begin at any byte of a word: there are weights for each */
        const uint32_t *across = weights + 5 + (p + 2) % 4 * 2;
        sums[p] = multiply_bytes(row[(p + 2) / 4], across[0], sums[p]);
        sums[p] = multiply_bytes(row[(p + 2) / 4 + 1], across[1], sums[p]);
    }
}

/* The columns of bytes of four words, one above the other. */
TWI_DEVICE void turn_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t *columns)
{
    const uint32_t upper[2] = {__byte_perm(a, b, 0x5140), __byte_perm(a, b, 0x7362)};
    const uint32_t lower[2] = {__byte_perm(c, d, 0x5140), __byte_perm(c, d, 0x7362)};
#pragma unroll
    for (int i = 0; i < 4; i++)
        columns[i] = __byte_perm(upper[i / 2], lower[i / 2], i % 2 ? 0x7632 : 0x5410);
}

template <int PLANES, int COUNT>
TWI_DEVICE void planes_5x5(const twi_cuda_correlate_registers &a, const uint32_t *column, const uint32_t *row,
                           int32_t *sums)
{
#pragma unroll
    for (int p = 0; p < COUNT; p++)
        sums[p] = PLANES == 1 ? a.quotient.start : 0;
#pragma unroll
    for (int plane = 0; plane < PLANES; plane++) {
        if (plane > 0) {
#pragma unroll
            for (int p = 0; p < COUNT; p++)
                sums[p] = sums[p] * 256 + a.quotient.start;
        }
        multiply_5x5<COUNT>(column, row, a.planes[plane], sums);
    }
}

template <int PLANES, int COUNT, int WORDS, typename Done>
TWI_DEVICE void sum_5x5(const twi_cuda_correlate_registers &a, const uint32_t (*x)[WORDS], Done done)
{
    uint32_t columns[4 * WORDS]; /* of which the first two and the last two are not needed */
    uint32_t *const column = columns + 2;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        turn_words(x[0][k], x[1][k], x[2][k], x[3][k], columns + 4 * k);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int32_t sums[COUNT];
        planes_5x5<PLANES, COUNT>(a, column, x[r + 4], sums);
        done(r, sums);
#pragma unroll
        for (int c = 0; c < COUNT + 4; c++) /* a row down */
            column[c] = __byte_perm(column[c], x[r + 4][(c + 2) / 4], 0x4321 + ((c + 2) % 4 << 12));
    }
}

template <int PLANES, int COUNT, int WORDS, typename Done>
TWI_DEVICE void sum_3x3(const twi_cuda_correlate_registers &a, const uint32_t (*x)[WORDS], Done done)
{
    uint32_t pair[ROWS + 2][COUNT / 2]; /* the bytes beside and of two outputs */
#pragma unroll
    for (int i = 0; i < ROWS + 2; i++)
#pragma unroll
        for (int k = 0; k < COUNT / 2; k++)
            pair[i][k] = __funnelshift_r(x[i][(2 * k + 3) / 4], x[i][(2 * k + 3) / 4 + 1], (2 * k + 3) % 4 * 8);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int32_t sums[COUNT];
#pragma unroll
        for (int p = 0; p < COUNT; p++) {
            sums[p] = PLANES == 1 ? a.quotient.start : 0;
#pragma unroll
            for (int plane = 0; plane < PLANES; plane++) {
                if (plane > 0)
                    sums[p] = sums[p] * 256 + a.quotient.start;
#pragma unroll
                for (int j = 0; j < 3; j++)
                    sums[p] = multiply_bytes(pair[r + j][p / 2], a.planes[plane][2 * j + p % 2], sums[p]);
            }
        }
        done(r, sums);
    }
}

/* ---- Float sums ----------------------------------------------------------------------------------------- */

/* A byte put into the last bits of 2^23 is a float, a subtraction away; conversions are slower. */
template <typename T> TWI_DEVICE float float_element(const uint32_t *words, int i)
{
    if constexpr (sizeof(T) == 1)
        return __uint_as_float(__byte_perm(words[i / 4], 0x4b000000, 0x7440 + i % 4)) - 0x1p23f;
    else
        return get_element<T>(words, i);
}

/* Input row by input row: each output takes its taps in their order. */
template <typename T, int REACH, int HALO, int COUNT, int WORDS>
TWI_DEVICE void sum_floats(const twi_cuda_correlate_registers &a, const uint32_t (*x)[WORDS], float (*sums)[COUNT])
{
    constexpr int side = 2 * REACH + 1;
    constexpr int first = 4 * HALO / (int)sizeof(T) - REACH;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < COUNT; p++)
            sums[r][p] = 0;
#pragma unroll
    for (int i = 0; i < ROWS + 2 * REACH; i++) {
        float value[COUNT + 2 * REACH];
#pragma unroll
        for (int c = 0; c < COUNT + 2 * REACH; c++)
            value[c] = float_element<T>(x[i], first + c);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int j = i - r;
            if (j < 0 || j >= side)
                continue;
#pragma unroll
            for (int p = 0; p < COUNT; p++)
#pragma unroll
                for (int k = 0; k < side; k++)
                    sums[r][p] = __builtin_fmaf(a.taps[j * side + k], value[p + k], sums[r][p]);
        }
    }
}

/* sum / divisor + offset, as elements. Multiplying by the inverse of a power of two is dividing. */
template <typename T, int COUNT>
TWI_DEVICE void finish_floats(const twi_cuda_correlate_registers &a, float *sums, uint32_t *words)
{
    int32_t values[COUNT];
    if (a.inverse != 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            sums[i] *= a.inverse;
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            sums[i] /= a.divisor;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const float value = sums[i] + a.offset;
        if constexpr ((T)0.5 == (T)0)
            values[i] = __float2int_rn(value); /* saturates; 0 for NaN */
        else
            words[i] = __float_as_uint(twi_canonical_f32(value));
    }
    if constexpr ((T)0.5 == (T)0)
        pack<T, COUNT>(values, words);
}

/* ---- Storing -------------------------------------------------------------------------------------------- */

/* COUNT elements from element `element` of row y on, those that are inside. Rows at any address: by the warp. */
template <typename T, int COUNT, bool ALIGNED, bool INSIDE>
TWI_DEVICE void store_outputs(const twi_cuda_box &box, int64_t element, int64_t y, uint32_t *words)
{
    constexpr int count = COUNT * (int)sizeof(T) / 4;
    const int64_t at = element * (int64_t)sizeof(T);
    char *to = (char *)box.dst + y * box.dst_pitch + at;
    if constexpr (!ALIGNED)
        store_rows<T, 1, count, 1, INSIDE>(box, at - (int)threadIdx.x * (4 * count), y, true,
                                           (uint32_t(*)[count])words);
    else if constexpr (INSIDE)
        store_words<count>(to, words);
    else if (y >= box.last)
        return;
    else if (element + COUNT <= box.width)
        store_words<count>(to, words);
    else
        store_elements<T, count>(to, 0, (box.width - element) * (int64_t)sizeof(T), words);
}

/* ---- Kernels -------------------------------------------------------------------------------------------- */

/* What a thread makes: 4 * W bytes of pixels in a few rows, from rows with HALO words on either side. The four warps of
   a block lie one below the other: they share, in the cache, the rows that two of them read. */
template <typename T, int REACH, int W> struct geometry {
    static constexpr int rows = ROWS + 2 * REACH; /* that it reads */
    static constexpr int halo = (REACH * (int)sizeof(T) + 3) / 4;
    static constexpr int words = W + 2 * halo;
    static constexpr int count = 4 * W / (int)sizeof(T);
    static constexpr int before = 4 * halo / (int)sizeof(T); /* elements loaded beside its own */
    static constexpr int blocks = REACH == 1 ? 6 : 5;        /* that a multiprocessor must have room for */
};

/* Which threads of a warp store: all where rows begin at multiples of 16, else as row.cuh says. */
template <typename Out, typename G, bool ALIGNED> struct stored {
    using bytes = span<Out, 1, G::count *(int)sizeof(Out) / 4, ALIGNED>;
    static constexpr int before = bytes::first * G::count; /* elements that a warp makes before the first it stores */
    static constexpr int width = bytes::last * G::count - before;
    static constexpr int beyond = bytes::beyond / (int)sizeof(Out); /* elements to cover beyond a row's end */
};

template <int REACH, int PLANES, typename Out, typename G, bool ALIGNED, bool INSIDE>
TWI_DEVICE void integer_tile(const twi_cuda_correlate_registers &a, int64_t element, int64_t y)
{
    uint32_t x[G::rows][G::words];
    load_extended<uint8_t, G::halo, G::words, G::rows, ALIGNED, INSIDE>(a.box, element - G::before, y - REACH, x);
    const auto done = [&](int r, const int32_t *sums) {
        uint32_t out[G::count * sizeof(Out) / 4];
        finish<Out, G::count>(a.quotient, sums, out);
        store_outputs<Out, G::count, ALIGNED, INSIDE>(a.box, element, y + r, out);
    };
    if constexpr (REACH == 1)
        sum_3x3<PLANES, G::count, G::words>(a, x, done);
    else
        sum_5x5<PLANES, G::count, G::words>(a, x, done);
}

template <typename T, int REACH, typename Out, typename G, bool ALIGNED, bool INSIDE>
TWI_DEVICE void float_tile(const twi_cuda_correlate_registers &a, int64_t element, int64_t y)
{
    uint32_t x[G::rows][G::words];
    float sums[ROWS][G::count];
    load_extended<T, G::halo, G::words, G::rows, ALIGNED, INSIDE>(a.box, element - G::before, y - REACH, x);
    sum_floats<T, REACH, G::halo, G::count, G::words>(a, x, sums);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint32_t out[G::count * sizeof(Out) / 4];
        finish_floats<Out, G::count>(a, sums[r], out);
        store_outputs<Out, G::count, ALIGNED, INSIDE>(a.box, element, y + r, out);
    }
}

/* Where a thread's outputs begin; false: its warp has none. *inside: the warp needs no care. */
template <typename T, int REACH, typename Out, typename G, bool ALIGNED>
TWI_DEVICE bool place_of(const twi_cuda_box &box, int64_t *element, int64_t *y, bool *inside)
{
    using s = stored<Out, G, ALIGNED>;
    /* elements that are touched beside those that a warp makes */
    constexpr int source = G::before + (ALIGNED ? 0 : TWI_PIECE / (int)sizeof(T));
    constexpr int margin = source > s::beyond ? source : s::beyond;
    /* The same in all threads, which the compiler cannot know of threadIdx.y. */
    const int warp = __shfl_sync(~0u, (int)threadIdx.y, 0);
    const int64_t begin = box.left + blockIdx.x * (int64_t)s::width - s::before;
    *element = begin + (int)threadIdx.x * G::count;
    *y = box.first + (blockIdx.y * (int64_t)WARPS + warp) * ROWS;
    *inside = begin >= margin && begin + 32 * G::count + margin <= box.width && *y >= REACH &&
              *y + ROWS + REACH <= box.height && *y + ROWS <= box.last;
    return *y < box.last;
}

template <int REACH, int PLANES, typename Out, typename G, bool ALIGNED>
static __global__ void __launch_bounds__(32 * WARPS, G::blocks)
    integers(const __grid_constant__ twi_cuda_correlate_registers a)
{
    int64_t element;
    int64_t y;
    bool inside;
    if (!place_of<uint8_t, REACH, Out, G, ALIGNED>(a.box, &element, &y, &inside))
        return;
    if (inside)
        integer_tile<REACH, PLANES, Out, G, ALIGNED, true>(a, element, y);
    else
        integer_tile<REACH, PLANES, Out, G, ALIGNED, false>(a, element, y);
}

template <typename T, int REACH, typename Out, typename G, bool ALIGNED>
static __global__ void __launch_bounds__(32 * WARPS, G::blocks)
    floats(const __grid_constant__ twi_cuda_correlate_registers a)
{
    int64_t element;
    int64_t y;
    bool inside;
    if (!place_of<T, REACH, Out, G, ALIGNED>(a.box, &element, &y, &inside))
        return;
    if (inside)
        float_tile<T, REACH, Out, G, ALIGNED, true>(a, element, y);
    else
        float_tile<T, REACH, Out, G, ALIGNED, false>(a, element, y);
}

/* ---- Tables --------------------------------------------------------------------------------------------- */

template <typename T, int REACH, typename Out> static constexpr twi_cuda_taps_kernel of_floats()
{
    using G = geometry<T, REACH, sizeof(T) == 1 ? 2 : 4>;
    using any = stored<Out, G, false>;
    return {(const void *)floats<T, REACH, Out, G, true>, (const void *)floats<T, REACH, Out, G, false>,
            stored<Out, G, true>::width, any::width, any::beyond};
}

template <int REACH, int PLANES, typename Out> static constexpr twi_cuda_taps_kernel of_integers()
{
    using G = geometry<uint8_t, REACH, 4>;
    using any = stored<Out, G, false>;
    return {(const void *)integers<REACH, PLANES, Out, G, true>, (const void *)integers<REACH, PLANES, Out, G, false>,
            stored<Out, G, true>::width, any::width, any::beyond};
}

static constexpr twi_cuda_taps_kernel none = {};

/* clang-format off */
#define INTEGERS(reach, planes)                                                                                        \
    {of_integers<reach, planes, uint8_t>(), of_integers<reach, planes, uint16_t>(),                                    \
     of_integers<reach, planes, int16_t>(), of_integers<reach, planes, int32_t>(),                                     \
     of_integers<reach, planes, float>(), none}

extern "C" const twi_cuda_taps_kernel twi_cuda_correlate_integers[2][TWI_CUDA_PLANES][TWI_CUDA_TYPES] = {
    {INTEGERS(1, 1), INTEGERS(1, 2)},
    {INTEGERS(2, 1), INTEGERS(2, 2)},
};

#define FLOATS(reach)                                                                                                  \
    {{of_floats<uint8_t, reach, uint8_t>(), none, of_floats<uint8_t, reach, int16_t>(), none,                          \
      of_floats<uint8_t, reach, float>(), none},                                                                       \
     {none, none, none, none, of_floats<float, reach, float>(), none}}

extern "C" const twi_cuda_taps_kernel twi_cuda_correlate_floats[2][2][TWI_CUDA_TYPES] = {FLOATS(1), FLOATS(2)};
/* clang-format on */
