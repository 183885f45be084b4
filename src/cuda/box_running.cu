/*
 * box, variant `running`: cost per pixel that hardly grows with the window. A block of 256 threads marches down a
 * strip, 4 rows a step, in two roles with one barrier between them:
 *   down:    a thread keeps the sums of 8 columns in registers, adds the row that enters the window and takes
 *            away the one that leaves, and writes each row of sums to shared memory;
 *   across:  a thread makes 16 neighbouring outputs of a row. Two neighbouring windows differ by one column that
 *            enters and one that leaves, so the 16 differences give all sums once the first is known: by a
 *            scan over the warp, whose very first window is summed directly.
 * Shared memory holds two steps, so that one barrier a step is enough.
 */
#include "cuda/march.cuh"

enum {
    THREADS = 256,
    COLUMNS = 8 * THREADS,     /* that a block has sums of: the strip and what its windows reach beside it */
    SUM_PITCH = COLUMNS + 128, /* reads run over the last column; what they get is not used */
    ROWS = 4,                  /* of a step */
    OUTPUTS = 16               /* of a thread */
};

/* Where a column's sum lies. Against bank conflicts every second group of 8 pieces of 16 bytes swaps neighbours. */
TWI_DEVICE unsigned place_of(unsigned column)
{
    return column ^ (column >> 3 & 8);
}

/* ---- Down: sums of 8 columns ----------------------------------------------------------------------- */

/* Where a thread's 8 columns lie. */
struct columns {
    int64_t x;
    bool direct;     /* inside the image, and aligned in every row */
    bool inside;     /* inside by a word: loads of whole words stay inside, whatever the alignment */
    bool outside;    /* nothing but the border's value */
    int32_t from[8]; /* otherwise: the column that each reads, -1: the border's value */
};

template <bool INSIDE> TWI_DEVICE void find_columns(const twi_cuda_box &box, int64_t x, columns &c)
{
    c.x = x;
    c.direct = x >= 0 && x + 8 <= box.width && ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 8 == 0;
    c.inside = x >= 4 && x + 12 <= box.width;
    if constexpr (!INSIDE) {
#pragma unroll
        for (int i = 0; i < 8; i++)
            c.from[i] = (int32_t)near_index(x + i, box.width, box.border);
        c.outside = true;
#pragma unroll
        for (int i = 0; i < 8; i++)
            c.outside = c.outside && c.from[i] < 0;
    }
}

/* N rows' 8 pixels of a thread at the image's edge or at any address. A row that is NULL is the border's value. */
template <int N> TWI_DEVICE void load_carefully(const twi_cuda_box &box, const columns &c, int64_t y, uint2 *rows)
{
    const uint32_t value = (uint8_t)box.value;
    const uint8_t *row[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        row[k] = near_row(box, y + k);
        rows[k] = make_uint2(value * 0x01010101, value * 0x01010101);
    }
    if (c.direct) {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (row[k])
                rows[k] = __ldg((const uint2 *)(row[k] + c.x));
    } else if (c.inside) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            uint32_t words[2] = {rows[k].x, rows[k].y};
            if (row[k])
                load_shifted<8>(row[k] + c.x, words);
            rows[k] = make_uint2(words[0], words[1]);
        }
    } else {
#pragma unroll
        for (int k = 0; k < N; k++) {
            uint32_t pixels[8];
#pragma unroll
            for (int i = 0; i < 8; i++)
                pixels[i] = row[k] && c.from[i] >= 0 ? __ldg(row[k] + c.from[i]) : value;
            rows[k].x = pixels[0] | pixels[1] << 8 | pixels[2] << 16 | pixels[3] << 24;
            rows[k].y = pixels[4] | pixels[5] << 8 | pixels[6] << 16 | pixels[7] << 24;
        }
    }
}

/* The ROWS rows from y on; `from` is where the thread's pixels of row y lie, if they do. INSIDE: these rows lie inside
   the image, and columns that do not are left as they are, 0: they change no sum. */
template <bool INSIDE>
TWI_DEVICE void load_rows(const twi_cuda_box &box, const columns &c, const uint8_t *from, int64_t y, uint2 *rows)
{
    if (INSIDE || (c.direct && y >= 0 && y + ROWS <= box.height)) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (!INSIDE || c.direct)
                rows[k] = __ldg((const uint2 *)(from + k * box.src_pitch));
    } else if (c.outside) {
        const uint32_t value = (uint8_t)box.value * 0x01010101u;
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            rows[k] = make_uint2(value, value);
    } else {
        load_carefully<ROWS>(box, c, y, rows);
    }
}

/* sums: 8 columns, two in a word. */
TWI_DEVICE void slide(uint32_t *sums, uint2 enters, uint2 leaves)
{
    sums[0] += __byte_perm(enters.x, 0, 0x4140) - __byte_perm(leaves.x, 0, 0x4140);
    sums[1] += __byte_perm(enters.x, 0, 0x4342) - __byte_perm(leaves.x, 0, 0x4342);
    sums[2] += __byte_perm(enters.y, 0, 0x4140) - __byte_perm(leaves.y, 0, 0x4140);
    sums[3] += __byte_perm(enters.y, 0, 0x4342) - __byte_perm(leaves.y, 0, 0x4342);
}

/* The sums of the `count` rows from y on. */
template <bool INSIDE>
TWI_DEVICE void first_sums(const twi_cuda_box &box, const columns &c, const uint8_t *from, int64_t y, int count,
                           uint32_t *sums)
{
    const uint2 none = make_uint2(0, 0);
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
#pragma unroll 2
    for (; count >= ROWS; count -= ROWS, y += ROWS, from += ROWS * box.src_pitch) {
        uint2 rows[ROWS];
        load_rows<INSIDE>(box, c, from, y, rows);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            slide(sums, rows[k], none);
    }
#pragma unroll 1
    for (; count > 0; count--, y++) {
        uint2 row;
        load_carefully<1>(box, c, y, &row);
        slide(sums, row, none);
    }
}

/* ---- Across: 16 outputs of a row ---------------------------------------------------------------------- */

/* 16 sums from column `first` on, two in a word. OFFSET is first % 8, or -1 where it is known only at run time. */
template <int OFFSET> TWI_DEVICE void load_sums(const uint16_t *row, unsigned first, uint32_t *sums)
{
    const unsigned offset = OFFSET < 0 ? first % 8 : (unsigned)OFFSET;
    uint32_t words[13];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (i == 2 && OFFSET == 0)
            break;
        const uint4 v = *(const uint4 *)(row + place_of(first - offset + 8 * i));
        words[4 * i] = v.x;
        words[4 * i + 1] = v.y;
        words[4 * i + 2] = v.z;
        words[4 * i + 3] = v.w;
    }
    words[12] = 0;
    if constexpr (OFFSET >= 0) {
#pragma unroll
        for (int i = 0; i < 8; i++)
            sums[i] = OFFSET % 2 ? __byte_perm(words[OFFSET / 2 + i], words[OFFSET / 2 + i + 1], 0x5432)
                                 : words[OFFSET / 2 + i];
    } else {
        uint32_t moved[11];
#pragma unroll
        for (int i = 0; i < 11; i++)
            moved[i] = offset & 4 ? words[i + 2] : words[i];
#pragma unroll
        for (int i = 0; i < 10; i++)
            moved[i] = offset & 2 ? moved[i + 1] : moved[i];
#pragma unroll
        for (int i = 0; i < 8; i++)
            sums[i] = __funnelshift_r(moved[i], moved[i + 1], offset % 2 * 16);
    }
}

/* The sum of `count` columns from `first` on, in every thread of the warp. */
TWI_DEVICE uint32_t sum_of_warp(const uint16_t *row, unsigned first, unsigned count)
{
    uint32_t sum = 0;
#pragma unroll 1
    for (unsigned base = threadIdx.x % 32; base < count; base += 4 * 32) {
#pragma unroll
        for (unsigned i = base; i < base + 4 * 32; i += 32)
            sum += i < count ? row[place_of(first + i)] : 0;
    }
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, sum);
#else
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
#endif
}

/* Sums below 2^23 are floats without loss: 2^23 + sum has the bits of 2^23, plus sum. */
static constexpr uint32_t float_bits = 0x4B000000u;
static constexpr float float_base = 8388608.0f;

/* 16 means from the sum of the first window, as float_bits + sum, and the differences, two in a word, each with
   32768 added. One multiply-add rounded down divides: see refuses_running() in march.c. */
TWI_DEVICE void means_of(uint32_t sum, const uint32_t *differences, float inverse, uint32_t *words)
{
    uint32_t mean[OUTPUTS];
#pragma unroll
    for (int i = 0; i < OUTPUTS / 2; i++) {
        const float even = __uint_as_float(sum) - (float_base + 2 * i * 32768.0f);
        const uint32_t next = __dp2a_lo(differences[i], 0x0001u, sum);
        const float odd = __uint_as_float(next) - (float_base + (2 * i + 1) * 32768.0f);
        sum = __dp2a_lo(differences[i], 0x0101u, sum);
        mean[2 * i] = __float_as_uint(__fmaf_rd(even, inverse, float_base));
        mean[2 * i + 1] = __float_as_uint(__fmaf_rd(odd, inverse, float_base));
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        words[i] = __byte_perm(__byte_perm(mean[4 * i], mean[4 * i + 1], 0x0040),
                               __byte_perm(mean[4 * i + 2], mean[4 * i + 3], 0x0040), 0x5410);
}

/* The sum of a thread's first window: that of the warp's first, and all differences of the threads before. */
TWI_DEVICE uint32_t scanned(const uint32_t *differences, uint32_t warp_first)
{
    uint32_t own = 0u - OUTPUTS * 32768u;
#pragma unroll
    for (int i = 0; i < OUTPUTS / 2; i++)
        own = __dp2a_lo(differences[i], 0x0101u, own);
    uint32_t sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, sum, distance);
        if (threadIdx.x % 32 >= distance)
            sum += before;
    }
    return warp_first + sum - own;
}

/* ---- The march ----------------------------------------------------------------------------------------- */

/* LEAVES, ENTERS: where, modulo 8, the columns lie that leave and enter the window of a thread's first output. */
template <int LEAVES, int ENTERS, bool INSIDE> TWI_DEVICE void march(const twi_cuda_box &box)
{
    extern __shared__ __align__(16) uint16_t sums_of_steps[];
    const int thread = threadIdx.x;
    const int halo = (box.anchor_x + 7) / 8 * 8;
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    const int64_t enter = top - box.anchor_y + box.window_height - 1; /* rows that enter and leave for output `top` */
    const int64_t leave = top - box.anchor_y - 1;
    const unsigned own = place_of(8 * thread);
    const int across = thread % 128;               /* which 16 outputs, in every second row of a step */
    const int begin = 16 * (across - thread % 32); /* the warp's first output */
    const int x = 16 * across < box.strip_width ? 16 * across : box.strip_width - OUTPUTS;
    const int count = (int)(box.width - left - x < OUTPUTS ? box.width - left - x : OUTPUTS);
    const bool whole = count == OUTPUTS && ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 16 == 0;
    uint8_t *out = (uint8_t *)box.dst + (top + thread / 128) * box.dst_pitch + left + x;
    const float inverse = __frcp_ru((float)box.count);
    const uint32_t start = float_bits + (box.nearest ? (uint32_t)box.count / 2 : 0);
    columns c;
    uint32_t sums[4];
    uint2 enters[ROWS] = {};
    uint2 leaves[ROWS] = {};
    find_columns<INSIDE>(box, left - halo + 8 * thread, c);
    const uint8_t *leaving = (const uint8_t *)box.src + leave * box.src_pitch + c.x;
    const uint8_t *entering = leaving + box.window_height * box.src_pitch;
    sums[0] = sums[1] = sums[2] = sums[3] = (uint8_t)box.value * box.window_height * 0x10001u;
    if (!INSIDE || c.direct)
        first_sums<INSIDE>(box, c, leaving, leave, box.window_height, sums);
    load_rows<INSIDE>(box, c, entering, enter, enters);
    load_rows<INSIDE>(box, c, leaving, leave, leaves);
    int buffer = 0;
    for (int r = 0; r < rows; r += ROWS, buffer ^= 1, out += ROWS * box.dst_pitch) {
        uint16_t *step = sums_of_steps + buffer * ROWS * SUM_PITCH;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            slide(sums, enters[k], leaves[k]);
            *(uint4 *)(step + k * SUM_PITCH + own) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
        }
        __syncthreads();
        if (r + ROWS < rows) {
            entering += ROWS * box.src_pitch;
            leaving += ROWS * box.src_pitch;
            load_rows<INSIDE>(box, c, entering, enter + r + ROWS, enters);
            load_rows<INSIDE>(box, c, leaving, leave + r + ROWS, leaves);
        }
        if (begin >= box.strip_width)
            continue;
#pragma unroll
        for (int k = 0; k < ROWS; k += 2) {
            const int y = r + k + thread / 128;
            const uint16_t *row = step + (k + thread / 128) * SUM_PITCH;
            uint32_t differences[8];
            uint32_t gone[8];
            uint32_t words[4];
            load_sums<ENTERS>(row, x + halo - box.anchor_x + box.window_width, differences);
            load_sums<LEAVES>(row, x + halo - box.anchor_x, gone);
#pragma unroll
            for (int i = 0; i < 8; i++)
                differences[i] = differences[i] - gone[i] + 0x80008000u;
            const uint32_t first = sum_of_warp(row, begin + halo - box.anchor_x, box.window_width);
            means_of(scanned(differences, first + start), differences, inverse, words);
            if (y >= rows || 16 * across >= box.strip_width)
                continue;
            uint8_t *place = out + k * box.dst_pitch;
            if (whole)
                *(uint4 *)place = make_uint4(words[0], words[1], words[2], words[3]);
            else
                store_first<4>(place, count, words);
        }
    }
}

/* Whether all rows that a block reads lie inside the image, and each thread's columns either inside, and aligned, or
   outside, where they are the border's value in all rows. */
TWI_DEVICE bool block_inside(const twi_cuda_box &box)
{
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width - (box.anchor_x + 7) / 8 * 8;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height - box.anchor_y - 1;
    const bool value = box.border == TWI_ZERO || box.border == TWI_CONSTANT;
    const bool columns = (left >= 0 && left + COLUMNS <= box.width) || (value && box.width % 8 == 0);
    return columns && top >= 0 && top + box.strip_height + box.window_height + 2 * ROWS <= box.height &&
           ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 8 == 0;
}

template <int LEAVES, int ENTERS>
static __global__ void __launch_bounds__(THREADS, 3) running(const __grid_constant__ twi_cuda_box box)
{
    if (block_inside(box))
        march<LEAVES, ENTERS, true>(box);
    else
        march<LEAVES, ENTERS, false>(box);
}

/* A centred odd window of 2r + 1 columns: (-r) % 8 and (r + 1) % 8, by r % 8. */
extern "C" const void *const twi_cuda_box_running[TWI_CUDA_RUNNING] = {
    (const void *)running<0, 1>, (const void *)running<7, 2>, (const void *)running<6, 3>,
    (const void *)running<5, 4>, (const void *)running<4, 5>, (const void *)running<3, 6>,
    (const void *)running<2, 7>, (const void *)running<1, 0>, (const void *)running<-1, -1>,
};
