/*
 * rank, variant `columns`: medians of 5x5, u8. A thread makes 16 neighbouring pixels, two rows at a time, down a strip.
 * Pixels that lie 8 columns apart share a word, in the high bytes of its halves: so a column's neighbours are other
 * registers, and every instruction compares two pixels.
 *   Columns of five are sorted: the four rows that both windows share, then the fifth moves in.
 *   Two neighbouring columns are merged, for up to four windows; two such pairs for two windows, each of which has one
 *   column more.
 *   Of those 20 sorted values the median of 25 can be but the ranks 7 to 12, and of the sorted column beside them each
 *   value goes with one of these: the median is the lowest of six highests.
 */
#include "cuda/march.cuh"
#include "cuda/row.cuh"

enum {
    OWN = 16,           /* columns that a thread makes */
    HALF = OWN / 2,     /* the distance of those that share a word */
    PAIRED = HALF + 4,  /* such words of a row, two columns more on either side */
    WORDS = OWN / 4 + 2 /* of a row in memory, a word more on either side */
};

/* ---- Networks ------------------------------------------------------------------------------------------- */

TWI_DEVICE void exchange(uint32_t &a, uint32_t &b)
{
    const uint32_t low = __vminu2(a, b);
    b = __vmaxu2(a, b);
    a = low;
}

/* Batcher's merge of the sorted a[0] ... a[M - 1] and b[0] ... b[N - 1]: those with even and those with odd numbers are
   merged, and then neighbours exchanged. What nobody reads of the result is not computed. */
template <int M, int N> TWI_DEVICE void merge(const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    if constexpr (M == 0 || N == 0) {
#pragma unroll
        for (int i = 0; i < M + N; i++)
            out[i] = M == 0 ? b[i] : a[i];
    } else if constexpr (M == 1 && N == 1) {
        out[0] = a[0];
        out[1] = b[0];
        exchange(out[0], out[1]);
    } else {
        constexpr int evens = (M + 1) / 2 + (N + 1) / 2;
        constexpr int odds = M / 2 + N / 2;
        uint32_t even_a[(M + 1) / 2];
        uint32_t even_b[(N + 1) / 2];
        uint32_t odd_a[M / 2 + 1];
        uint32_t odd_b[N / 2 + 1];
        uint32_t even[evens];
        uint32_t odd[odds + 1];
#pragma unroll
        for (int i = 0; i < M; i++)
            (i % 2 ? odd_a : even_a)[i / 2] = a[i];
#pragma unroll
        for (int i = 0; i < N; i++)
            (i % 2 ? odd_b : even_b)[i / 2] = b[i];
        merge<(M + 1) / 2, (N + 1) / 2>(even_a, even_b, even);
        merge<M / 2, N / 2>(odd_a, odd_b, odd);
        out[0] = even[0];
#pragma unroll
        for (int i = 0; i < odds; i++) {
            out[2 * i + 1] = odd[i];
            if (i + 1 < evens) {
                out[2 * i + 2] = even[i + 1];
                exchange(out[2 * i + 1], out[2 * i + 2]);
            }
        }
        if constexpr (evens > odds + 1)
            out[M + N - 1] = even[evens - 1];
    }
}

TWI_DEVICE void sort_four(uint32_t *v)
{
    exchange(v[0], v[1]);
    exchange(v[2], v[3]);
    exchange(v[0], v[2]);
    exchange(v[1], v[3]);
    exchange(v[1], v[2]);
}

/* A fifth value moves into four sorted ones. */
TWI_DEVICE void insert(const uint32_t *four, uint32_t value, uint32_t *five)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        five[i] = four[i];
        exchange(five[i], value);
    }
    five[4] = value;
}

/* The medians of HALF windows of five sorted columns each. */
TWI_DEVICE void medians(const uint32_t (*column)[5], uint32_t *out)
{
    uint32_t two[HALF / 2 + 1][10];
#pragma unroll
    for (int k = 0; k < HALF / 2 + 1; k++)
        merge<5, 5>(column[2 * k + 1], column[2 * k + 2], two[k]);
#pragma unroll
    for (int k = 0; k < HALF / 2; k++) {
        uint32_t four[20];
        merge<10, 10>(two[k], two[k + 1], four);
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const uint32_t *fifth = column[side ? 2 * k + 5 : 2 * k];
            const uint32_t *rank = four + 7;
            const uint32_t low = __vimin3_u16x2(rank[5], __vmaxu2(rank[0], fifth[4]), __vmaxu2(rank[1], fifth[3]));
            const uint32_t lower = __vimin3_u16x2(low, __vmaxu2(rank[2], fifth[2]), __vmaxu2(rank[3], fifth[1]));
            out[2 * k + side] = __vminu2(lower, __vmaxu2(rank[4], fifth[0]));
        }
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* Four columns from x on, by the border's rule. */
static __device__ __noinline__ uint32_t gather(const twi_cuda_box &box, const uint8_t *row, int64_t x)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const int64_t from = twi_border_index(x + i, box.width, box.border);
        word |= (uint32_t)(from < 0 ? (uint8_t)box.value : __ldg(row + from)) << (8 * i);
    }
    return word;
}

template <bool ALIGNED> TWI_DEVICE void load_word(const uint8_t *place, uint32_t *word)
{
    if (ALIGNED)
        *word = __ldg((const uint32_t *)place);
    else
        load_shifted<4>(place, word);
}

/* Whether a word, and the words around it that hold it at any address, lie in a row. */
template <bool ALIGNED> TWI_DEVICE bool within(const twi_cuda_box &box, int64_t x)
{
    return x >= (ALIGNED ? 0 : 4) && x + (ALIGNED ? 4 : 8) <= box.width;
}

/* Whether all of a thread's own columns are pixels, and those of the word before or after them are not, but copies of
   them or the border's value. */
TWI_DEVICE bool at_row_end(const twi_cuda_box &box, int64_t x)
{
    const bool first = x == -4;
    const bool last = x + 4 + OWN == box.width;
    return box.border != TWI_WRAP && (first || last) && box.width >= 2 * OWN && x >= -4 && x + 4 + OWN <= box.width;
}

/* The two columns beside a thread's own, as the border's rule makes them of the nearest word. */
TWI_DEVICE void take_beside(const twi_cuda_box &box, int64_t x, uint32_t *words)
{
    const uint32_t value = (uint8_t)box.value * 0x01010101u;
    const bool copies = box.border >= TWI_REPLICATE;
    const int before = box.border == TWI_REPLICATE ? 0x0000 : box.border == TWI_REFLECT ? 0x0100 : 0x1200;
    const int after = box.border == TWI_REPLICATE ? 0x0033 : box.border == TWI_REFLECT ? 0x0023 : 0x0012;
    if (x < 0)
        words[0] = __byte_perm(words[1], value, copies ? before : 0x4444);
    else
        words[WORDS - 1] = __byte_perm(words[WORDS - 2], value, copies ? after : 0x4444);
}

/* What the words from column x on read in row y. ALIGNED: rows begin at multiples of 16 bytes. `inside`: all words, and
   4 bytes more on either side, lie in the image. */
template <bool ALIGNED>
TWI_DEVICE void load_row(const twi_cuda_box &box, bool inside, int64_t x, int64_t y, uint32_t *words)
{
    if (!inside)
        y = twi_border_index(y, box.height, box.border);
    const uint8_t *row = (const uint8_t *)box.src + y * box.src_pitch;
    if (ALIGNED && inside) {
        words[0] = __ldg((const uint32_t *)(row + x));
        load16(row + x + 4, words + 1);
        words[WORDS - 1] = __ldg((const uint32_t *)(row + x + OWN + 4));
    } else if (inside) {
        load_shifted<4 * WORDS>(row + x, words);
    } else {
        /* loads first, so that none waits for another; then pixel by pixel what lies at the row's ends */
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            words[k] = (uint8_t)box.value * 0x01010101u;
            if (y >= 0 && within<ALIGNED>(box, x + 4 * k))
                load_word<ALIGNED>(row + x + 4 * k, words + k);
        }
        if (ALIGNED && y >= 0 && at_row_end(box, x))
            take_beside(box, x, words);
        else
#pragma unroll
            for (int k = 0; k < WORDS; k++)
                if (y >= 0 && !within<ALIGNED>(box, x + 4 * k))
                    words[k] = gather(box, row, x + 4 * k);
    }
}

/* The columns i and i + HALF of a row, from two columns before a thread's own on. */
TWI_DEVICE void pair_up(const uint32_t *words, uint32_t *pairs)
{
#pragma unroll
    for (int i = 0; i < PAIRED; i++)
        pairs[i] = __byte_perm(words[(i + 2) / 4], words[(i + 2) / 4 + 2], 0x4400 + (i + 2) % 4 * 0x1111);
}

TWI_DEVICE void take_apart(const uint32_t *pairs, uint32_t *words)
{
#pragma unroll
    for (int k = 0; k < HALF / 4; k++) {
        const uint32_t low = __byte_perm(pairs[4 * k], pairs[4 * k + 1], 0x7351);
        const uint32_t high = __byte_perm(pairs[4 * k + 2], pairs[4 * k + 3], 0x7351);
        words[k] = __byte_perm(low, high, 0x5410);
        words[k + HALF / 4] = __byte_perm(low, high, 0x7632);
    }
}

/* ---- The march ------------------------------------------------------------------------------------------- */

template <bool ALIGNED> TWI_DEVICE void march(const twi_cuda_box &box, bool inside, int64_t x, int64_t top)
{
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    const int count = (int)(box.width - x < OWN ? box.width - x : OWN);
    const bool whole = ALIGNED && count == OWN;
    uint8_t *place = (uint8_t *)box.dst + top * box.dst_pitch + x;
    uint32_t words[2][WORDS];
    uint32_t row[6][PAIRED];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        load_row<ALIGNED>(box, inside, x - 4, top - 2 + j, words[0]);
        pair_up(words[0], row[j]);
    }
    load_row<ALIGNED>(box, inside, x - 4, top + 2, words[0]);
    load_row<ALIGNED>(box, inside, x - 4, top + 3, words[1]);
#pragma unroll 1
    for (int r = 0; r < rows; r += 2) {
        pair_up(words[0], row[4]);
        pair_up(words[1], row[5]);
        if (r + 2 < rows) {
            load_row<ALIGNED>(box, inside, x - 4, top + r + 4, words[0]);
            load_row<ALIGNED>(box, inside, x - 4, top + r + 5, words[1]);
        }
        uint32_t shared[PAIRED][4];
#pragma unroll
        for (int i = 0; i < PAIRED; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                shared[i][j] = row[j + 1][i];
            sort_four(shared[i]);
        }
#pragma unroll
        for (int j = 0; j < 2; j++, place += box.dst_pitch) {
            uint32_t column[PAIRED][5];
            uint32_t out[HALF];
            uint32_t made[OWN / 4];
#pragma unroll
            for (int i = 0; i < PAIRED; i++)
                insert(shared[i], row[5 * j][i], column[i]);
            medians(column, out);
            take_apart(out, made);
            if (r + j >= rows)
                return;
            if (whole)
                store16(place, made);
            else
                store_first<OWN / 4>(place, count, made);
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < PAIRED; i++)
                row[j][i] = row[j + 2][i];
    }
}

/* A warp a block: where one has to take care at the image's edge, no other waits for it. */
template <bool ALIGNED>
static __global__ void __launch_bounds__(32, 12) median_columns(const __grid_constant__ twi_cuda_box box)
{
    const int64_t warp = box.left + blockIdx.x * (int64_t)(32 * OWN);
    const int64_t x = warp + threadIdx.x * OWN;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    if (x >= box.width)
        return;
    const bool inside =
        warp >= 8 && warp + 32 * OWN + 8 <= box.width && top >= 2 && top + box.strip_height + 4 <= box.height;
    march<ALIGNED>(box, inside, x, top);
}

extern "C" const void *const twi_cuda_median_columns[2] = {
    (const void *)median_columns<false>,
    (const void *)median_columns<true>,
};
