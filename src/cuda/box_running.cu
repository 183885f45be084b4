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

/* Where a block lies, as far as its loads care: all rows inside the image, and each thread's columns either inside, and
   aligned, or outside, where they are the border's value in all rows; at the image's edge, but aligned; anything. */
enum place { INSIDE, EDGE, ANYWHERE };

/* Where a column's sum lies. Against bank conflicts every second group of 8 pieces of 16 bytes swaps neighbours. */
TWI_DEVICE unsigned place_of(unsigned column)
{
    return column ^ (column >> 3 & 8);
}

/* ---- Down: sums of 8 columns ----------------------------------------------------------------------- */

/* Where a thread's 8 columns lie. */
struct columns {
    int64_t x;
    bool direct;     /* whole words of every row: inside the image, and aligned; EDGE: some may lie behind the row */
    bool inside;     /* inside by a word: loads of whole words stay inside, whatever the alignment */
    bool outside;    /* nothing but the border's value */
    int32_t from[8]; /* ANYWHERE: the column that each reads, -1: the border's value */
    uint2 mask;      /* EDGE: the bytes inside the image, and what the others are */
    uint2 fill;
    uint32_t value; /* EDGE: four of the border's */
};

/* A word's first `count` bytes; count may be any. */
TWI_DEVICE uint32_t first_bytes(int count)
{
    return __funnelshift_rc(0xFFFFFFFFu, 0, 8 * (count < 0 ? 4 : count > 4 ? 0 : 4 - count));
}

template <place P> TWI_DEVICE void find_columns(const twi_cuda_box &box, int64_t x, columns &c)
{
    if (P == EDGE && box.border == TWI_WRAP && (x < 0 || x >= box.width))
        x = near_index(x, box.width, box.border);
    c.x = x;
    c.direct = x >= 0 && x + 8 <= box.width && ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 8 == 0;
    c.inside = x >= 4 && x + 12 <= box.width;
    if constexpr (P == EDGE) {
        const int count = x < 0 || x >= box.width ? 8 : (int)(box.width - x < 8 ? box.width - x : 8);
        c.value = kept((uint8_t)box.value * 0x01010101u);
        c.direct = x >= 0 && x < box.width;
        c.inside = count == 8;
        c.mask = make_uint2(first_bytes(count), first_bytes(count - 4));
        c.fill = make_uint2(c.value & ~c.mask.x, c.value & ~c.mask.y);
    }
    if constexpr (P == ANYWHERE) {
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

/* Up to 8 pixels, one by one. */
static __device__ __noinline__ uint2 load_bytes(const uint8_t *from, int count)
{
    uint32_t words[2] = {0, 0};
    for (int i = 0; i < count; i++)
        words[i / 4] |= (uint32_t)__ldg(from + i) << (i % 4 * 8);
    return make_uint2(words[0], words[1]);
}

/* N rows from y on of a block at the edge. All that depends on the row is the same for the whole block. */
template <int N>
TWI_DEVICE void load_edge(const twi_cuda_box &box, const columns &c, const uint8_t *from, int64_t y, uint2 *rows)
{
    const uint8_t *place[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        rows[k] = make_uint2(c.value, c.value);
        place[k] = from + k * box.src_pitch;
    }
    if (y < 0 || y + N >= box.height) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const int64_t row = near_index(y + k, box.height, box.border);
            place[k] = row < 0 ? nullptr : (const uint8_t *)box.src + row * box.src_pitch + c.x;
            if (row == box.height - 1 && !c.inside) { /* a whole word may not exist behind the last row */
                rows[k] = load_bytes(place[k], (int)(box.width - c.x));
                place[k] = nullptr;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (c.direct && place[k])
            rows[k] = __ldg((const uint2 *)place[k]);
}

/* The ROWS rows from y on; `from` is where the thread's pixels of row y lie, if they do. INSIDE: columns that do not
   lie inside are left as they are, 0: they change no sum. */
template <place P>
TWI_DEVICE void load_rows(const twi_cuda_box &box, const columns &c, const uint8_t *from, int64_t y, uint2 *rows)
{
    if constexpr (P == EDGE) {
        load_edge<ROWS>(box, c, from, y, rows);
    } else if (P == INSIDE || (c.direct && y >= 0 && y + ROWS <= box.height)) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (P != INSIDE || c.direct)
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

/* What a thread's columns are where its words reach behind the row's end. */
template <place P> TWI_DEVICE uint2 masked(const columns &c, uint2 row)
{
    if constexpr (P == EDGE)
        return make_uint2((row.x & c.mask.x) | c.fill.x, (row.y & c.mask.y) | c.fill.y);
    return row;
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
template <place P>
TWI_DEVICE void first_sums(const twi_cuda_box &box, const columns &c, const uint8_t *from, int64_t y, int count,
                           uint32_t *sums)
{
    const uint2 none = make_uint2(0, 0);
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
#pragma unroll 2
    for (; count >= ROWS; count -= ROWS, y += ROWS, from += ROWS * box.src_pitch) {
        uint2 rows[ROWS];
        load_rows<P>(box, c, from, y, rows);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            slide(sums, masked<P>(c, rows[k]), none);
    }
#pragma unroll 1
    for (; count > 0; count--, y++, from += box.src_pitch) {
        uint2 row;
        if constexpr (P == EDGE)
            load_edge<1>(box, c, from, y, &row);
        else
            load_carefully<1>(box, c, y, &row);
        slide(sums, masked<P>(c, row), none);
    }
}

/* The columns of a block that lie outside the image, where the border makes them copies of others. */
struct outside {
    int64_t first; /* the image's column that the block's first is */
    int before;    /* how many there are before the image */
    int after;     /* the block's first one after it, and how many */
    int behind;
};

TWI_DEVICE bool mirrors(const twi_cuda_box &box)
{
    return box.border == TWI_REPLICATE || box.border == TWI_REFLECT || box.border == TWI_MIRROR;
}

TWI_DEVICE void find_outside(const twi_cuda_box &box, int64_t first, int used, outside &o)
{
    o.first = first;
    o.before = first < 0 && mirrors(box) ? (int)-first : 0;
    o.after = first + used > box.width ? (int)(box.width - first) : used;
    o.behind = mirrors(box) ? used - o.after : 0;
}

/* Their sums, once those inside are there: as the border's rule says, sums are copied instead of pixels. */
TWI_DEVICE void copy_outside(const twi_cuda_box &box, const outside &o, uint16_t *step)
{
    constexpr int share = THREADS / ROWS; /* threads of a row */
    uint16_t *row = step + threadIdx.x / share * SUM_PITCH;
#pragma unroll 1
    for (int i = threadIdx.x % share; i < o.before + o.behind; i += share) {
        const int column = i < o.before ? i : o.after + i - o.before;
        const int64_t from = near_index(o.first + column, box.width, box.border) - o.first;
        if (from >= 0 && from < COLUMNS)
            row[place_of(column)] = row[place_of((unsigned)from)];
    }
    __syncthreads();
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

/* The sum of `count` columns from `first` on, in every thread of the warp: 8 columns a thread, those that do not belong
   to the window by weights of 0. */
TWI_DEVICE uint32_t sum_of_warp(const uint16_t *row, int first, int count)
{
    const int before = first % 8;
    uint32_t sum = 0;
#pragma unroll 1
    for (int i = 8 * (threadIdx.x % 32) - before; i < count; i += 8 * 32) {
        const uint4 v = *(const uint4 *)(row + place_of(first + i));
        const uint32_t left = ones(i, count);
        const uint32_t right = ones(i + 4, count);
        sum = __dp2a_lo(v.x, left, sum);
        sum = __dp2a_hi(v.y, left, sum);
        sum = __dp2a_lo(v.z, right, sum);
        sum = __dp2a_hi(v.w, right, sum);
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

/* The rows of a block. What the grid has more than there are rows is taken off the first and the last blocks: theirs
   lie at the image's edges and take longer. */
struct chunk {
    int64_t top;
    int rows;
};

TWI_DEVICE chunk chunk_of_block(const twi_cuda_box &box)
{
    const int64_t surplus = (int64_t)gridDim.y * box.strip_height - (box.last - box.first);
    const int64_t begin = box.first + blockIdx.y * (int64_t)box.strip_height - (surplus > 0 ? surplus / 8 * 4 : 0);
    const int64_t end = begin + box.strip_height < box.last ? begin + box.strip_height : box.last;
    const int64_t top = begin < box.first ? box.first : begin;
    return {top, (int)(end - top)};
}

/* ---- The march ----------------------------------------------------------------------------------------- */

/* LEAVES, ENTERS: where, modulo 8, the columns lie that leave and enter the window of a thread's first output. The rows
   of a step are a loop that is not unrolled: blocks inside and at the edge run different code at once, and when it was
   twice as long, all were a fifth slower. */
template <int LEAVES, int ENTERS, place P> TWI_DEVICE void march(const twi_cuda_box &box)
{
    extern __shared__ __align__(16) uint16_t sums_of_steps[];
    const int thread = threadIdx.x;
    const int halo = (box.anchor_x + 7) / 8 * 8;
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width;
    const int64_t top = chunk_of_block(box).top;
    const int rows = chunk_of_block(box).rows;
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
    outside o = {};
    uint32_t sums[4];
    uint2 enters[ROWS] = {};
    uint2 leaves[ROWS] = {};
    find_columns<P>(box, left - halo + 8 * thread, c);
    if constexpr (P == EDGE)
        find_outside(box, left - halo, halo + box.strip_width + box.window_width - 1 - box.anchor_x, o);
    const uint8_t *leaving = (const uint8_t *)box.src + leave * box.src_pitch + c.x;
    const uint8_t *entering = leaving + box.window_height * box.src_pitch;
    sums[0] = sums[1] = sums[2] = sums[3] = (uint8_t)box.value * box.window_height * 0x10001u;
    if (P != INSIDE || c.direct)
        first_sums<P>(box, c, leaving, leave, box.window_height, sums);
    load_rows<P>(box, c, entering, enter, enters);
    load_rows<P>(box, c, leaving, leave, leaves);
    int buffer = 0;
    for (int r = 0; r < rows; r += ROWS, buffer ^= 1, out += ROWS * box.dst_pitch) {
        uint16_t *step = sums_of_steps + buffer * ROWS * SUM_PITCH;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            slide(sums, masked<P>(c, enters[k]), masked<P>(c, leaves[k]));
            *(uint4 *)(step + k * SUM_PITCH + own) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
        }
        __syncthreads();
        if (P == EDGE && o.before + o.behind > 0)
            copy_outside(box, o, step);
        if (r + ROWS < rows) {
            entering += ROWS * box.src_pitch;
            leaving += ROWS * box.src_pitch;
            load_rows<P>(box, c, entering, enter + r + ROWS, enters);
            load_rows<P>(box, c, leaving, leave + r + ROWS, leaves);
        }
        if (begin >= box.strip_width)
            continue;
#pragma unroll 1
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

TWI_DEVICE place place_of_block(const twi_cuda_box &box)
{
    const int64_t first = box.left + blockIdx.x * (int64_t)box.strip_width - (box.anchor_x + 7) / 8 * 8;
    const int64_t end = first + COLUMNS;
    const chunk chunk = chunk_of_block(box);
    const int64_t top = chunk.top - box.anchor_y - 1;
    const int64_t right = box.window_width - 1 - box.anchor_x;
    const bool rows = top >= 0 && top + chunk.rows + box.window_height + 2 * ROWS <= box.height;
    const bool columns = first >= 0 && end <= box.width;
    const bool words = box.width % 8 == 0;
    if (((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 8 != 0)
        return ANYWHERE;
    if (rows && (columns || (words && (box.border == TWI_ZERO || box.border == TWI_CONSTANT))))
        return INSIDE;
    if (columns || (box.border == TWI_WRAP && words) || box.border == TWI_ZERO || box.border == TWI_CONSTANT)
        return EDGE;
    /* the columns that those outside are copies of have to be the block's own */
    return mirrors(box) && first >= -COLUMNS / 4 && (end <= box.width || box.width - 1 - right >= first) ? EDGE
                                                                                                         : ANYWHERE;
}

template <int LEAVES, int ENTERS>
static __global__ void __launch_bounds__(THREADS, 3) running(const __grid_constant__ twi_cuda_box box)
{
    const place place = place_of_block(box);
    if (place == INSIDE)
        march<LEAVES, ENTERS, INSIDE>(box);
    else if (place == EDGE)
        march<LEAVES, ENTERS, EDGE>(box);
    else
        march<LEAVES, ENTERS, ANYWHERE>(box);
}

/* A centred odd window of 2r + 1 columns: (-r) % 8 and (r + 1) % 8, by r % 8. */
extern "C" const void *const twi_cuda_box_running[TWI_CUDA_RUNNING] = {
    (const void *)running<0, 1>, (const void *)running<7, 2>, (const void *)running<6, 3>,
    (const void *)running<5, 4>, (const void *)running<4, 5>, (const void *)running<3, 6>,
    (const void *)running<2, 7>, (const void *)running<1, 0>, (const void *)running<-1, -1>,
};
