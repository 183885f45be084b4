/*
 * What the kernels of variant `herk` (order_herk.cu) load and where they keep it: a thread's four columns as words,
 * what the border's rule makes of columns outside the image, the layout of shared memory.
 */
#ifndef TWI_CUDA_HERK_CUH
#define TWI_CUDA_HERK_CUH

#include "cuda/march.cuh"

enum {
    THREADS = 256,
    COLUMNS = 4 * THREADS,          /* that a block has extremes of: the strip and what its windows reach beside it */
    STEP = 16,                      /* rows */
    PAIRS = STEP / 2,               /* rows of shared memory: two of the image each, a warp's work */
    OUTPUTS = 32,                   /* of a thread, in each of two rows */
    SLOTS = THREADS + THREADS / 8,  /* of a row: two words, four columns of two rows; one in nine is unused, ... */
    BEHIND = 96,                    /* and more behind the last: reads run over the end; what they get is not used */
    LINES = PAIRS * SLOTS + BEHIND, /* slots of a step */
    PIECES = 32 * OUTPUTS / 16,     /* of 16 bytes, that a warp stores of a row */
    CAREFUL = 8                     /* rows that are loaded at a time where the border needs care */
};

/* ... so that threads that read slots 8 apart meet no bank twice. */
TWI_DEVICE int slot_of(int column)
{
    const int group = column / 4;
    return group + group / 8;
}

template <bool HIGHEST> TWI_DEVICE uint32_t better(uint32_t a, uint32_t b)
{
    return HIGHEST ? __vmaxu2(a, b) : __vminu2(a, b);
}

template <bool HIGHEST> TWI_DEVICE uint32_t better(uint32_t a, uint32_t b, uint32_t c)
{
    return HIGHEST ? __vimax3_u16x2(a, b, c) : __vimin3_u16x2(a, b, c);
}

/* Four columns as two pairs: 0 and 2, 1 and 3. */
struct four {
    uint32_t even;
    uint32_t odd;
};

TWI_DEVICE four split(uint32_t word)
{
    return {word << 8, word};
}

TWI_DEVICE uint32_t joined(four x)
{
    return __byte_perm(x.even, x.odd, 0x7351);
}

template <bool HIGHEST> TWI_DEVICE four better(four a, four b)
{
    return {better<HIGHEST>(a.even, b.even), better<HIGHEST>(a.odd, b.odd)};
}

template <bool HIGHEST> TWI_DEVICE four better(four a, four b, four c)
{
    return {better<HIGHEST>(a.even, b.even, c.even), better<HIGHEST>(a.odd, b.odd, c.odd)};
}

/* ---- Loading a thread's 4 columns ---------------------------------------------------------------------- */

/* Where four columns at the image's edge lie: by any border's rule, they are pixels of two words of a row. A thread
   keeps its own in shared memory: only blocks at the edge need them. */
struct columns {
    int32_t x;       /* the first of the four */
    int32_t word[2]; /* bytes from the row's begin */
    uint32_t select; /* which bytes of both */
    uint32_t mask;   /* those that are pixels, and what the others are */
    uint32_t fill;
};

TWI_DEVICE uint32_t four_values(const twi_cuda_box &box)
{
    return (uint8_t)box.value * 0x01010101u;
}

TWI_DEVICE columns find_columns(const twi_cuda_box &box, int32_t x)
{
    columns c = {x, {-1, -1}, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int32_t from = (int32_t)near_index(x + i, box.width, box.border);
        const int32_t word = from & ~3;
        if (from < 0)
            continue;
        if (c.word[0] < 0)
            c.word[0] = word;
        if (word != c.word[0])
            c.word[1] = word;
        c.select |= (uint32_t)(from % 4 + (word == c.word[0] ? 0 : 4)) << (4 * i);
        c.mask |= 0xffu << (8 * i);
    }
    c.word[0] = c.word[0] < 0 ? 0 : c.word[0];
    c.word[1] = c.word[1] < 0 ? c.word[0] : c.word[1];
    c.fill = four_values(box) & ~c.mask;
    return c;
}

TWI_DEVICE const uint32_t *word_around(const uint8_t *place)
{
    return (const uint32_t *)((uintptr_t)place & ~(uintptr_t)3);
}

TWI_DEVICE bool rows_aligned(const twi_cuda_box &box)
{
    return ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 4 == 0;
}

/* A word at any address, in one load where rows are aligned. */
TWI_DEVICE uint32_t load_word(bool aligned, const uint8_t *place)
{
    const uint32_t *words = word_around(place);
    const uint32_t low = __ldg(words);
    const uint32_t high = aligned ? 0 : __ldg(words + 1);
    return __funnelshift_r(low, high, (unsigned)(uintptr_t)place % 4 * 8);
}

/* Four columns from x on, pixel by pixel. */
static __device__ __noinline__ uint32_t gather(const twi_cuda_box &box, const uint8_t *row, int32_t x)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const int64_t from = near_index(x + i, box.width, box.border);
        word |= (uint32_t)(from < 0 ? (uint8_t)box.value : __ldg(row + from)) << (8 * i);
    }
    return word;
}

/* Words of CAREFUL rows that lie in the image, none of them its first or last. */
TWI_DEVICE void load_beside(const uint8_t *row, int64_t pitch, bool aligned, const columns &c, uint32_t *words)
{
    uint32_t left[CAREFUL];
    uint32_t right[CAREFUL];
#pragma unroll
    for (int k = 0; k < CAREFUL; k++, row += pitch) {
        left[k] = load_word(aligned, row + c.word[0]);
        right[k] = load_word(aligned, row + c.word[1]);
    }
#pragma unroll
    for (int k = 0; k < CAREFUL; k++)
        words[k] = (__byte_perm(left[k], right[k], c.select) & c.mask) | c.fill;
}

/* Words of CAREFUL rows by the border's rule, row by row. Where words reach beyond a row's ends, they may leave the
   image in its first and last row: there pixels are read one by one. */
TWI_DEVICE void load_beyond(const twi_cuda_box &box, int64_t y, bool aligned, const columns &c, uint32_t *words)
{
    const bool ragged = !aligned || c.word[0] + 4 > box.width || c.word[1] + 4 > box.width;
    uint32_t left[CAREFUL];
    uint32_t right[CAREFUL];
    uint32_t outside = 0; /* a bit a row */
    uint32_t risky = 0;
#pragma unroll
    for (int k = 0; k < CAREFUL; k++) {
        const int64_t from = near_index(y + k, box.height, box.border);
        const bool apart = (!aligned && from == 0) || (ragged && from == box.height - 1);
        const uint8_t *row = (const uint8_t *)box.src + (from < 0 || apart ? box.height / 2 : from) * box.src_pitch;
        outside |= (uint32_t)(from < 0) << k;
        risky |= (uint32_t)apart << k;
        left[k] = load_word(aligned, row + c.word[0]);
        right[k] = load_word(aligned, row + c.word[1]);
    }
#pragma unroll
    for (int k = 0; k < CAREFUL; k++)
        words[k] = outside >> k & 1 ? four_values(box) : (__byte_perm(left[k], right[k], c.select) & c.mask) | c.fill;
#pragma unroll 1
    for (int k = 0; risky; k++, risky >>= 1)
        if (risky & 1)
            words[k] =
                gather(box, (const uint8_t *)box.src + near_index(y + k, box.height, box.border) * box.src_pitch, c.x);
}

/* A function of its own, so that it does not lie between instructions that all blocks need. */
static __device__ __noinline__ void load_carefully(const twi_cuda_box &box, int64_t y, const columns *place,
                                                   uint32_t *words)
{
    const columns c = *place;
    const bool aligned = rows_aligned(box);
    if (y > 0 && y + CAREFUL < box.height)
        load_beside((const uint8_t *)box.src + y * box.src_pitch, box.src_pitch, aligned, c, words);
    else
        load_beyond(box, y, aligned, c, words);
}

/* Where the word that begins with a column lies in a row; columns outside that are no copies of a word have any. Of
   rows at any address, the word behind the last one may hold its last pixels. */
TWI_DEVICE uint32_t word_of(const twi_cuda_box &box, int64_t column, bool wraps)
{
    const int64_t last = (box.width - 1) / 4 * 4 + (rows_aligned(box) ? 0 : 4);
    const int64_t from = wraps ? near_index(column, box.width, box.border) : column;
    return from < 0 ? 0 : (uint32_t)(from < last ? from / 4 * 4 : last);
}

/* ---- Columns outside the image ------------------------------------------------------------------------- */

/* By most borders' rule they are copies of columns inside, or one value. What is made of them is so, too: a block that
   has the columns they are copies of copies their extremes in shared memory, and need not know the border before. */
struct outside {
    int64_t first; /* the image's column that the block's first is */
    int before;    /* how many of the block's lie before the image */
    int after;     /* the first that lies behind it, */
    int end;       /* and behind the last that is read */
};

TWI_DEVICE outside find_outside(const twi_cuda_box &box, int64_t first, int end)
{
    outside o;
    o.first = first;
    o.before = first < 0 ? (int)-first : 0;
    o.after = box.width - first < end ? (int)(box.width - first) : end;
    o.end = end;
    return o;
}

/* Whether the block has all columns that those outside are copies of. */
TWI_DEVICE bool has_copied(const twi_cuda_box &box, const outside &o)
{
    if (box.border == TWI_ZERO || box.border == TWI_CONSTANT || (o.before == 0 && o.after == o.end))
        return true;
    const int64_t nearest = 2 * box.width - 2 - (o.first + o.end - 1); /* the farthest left that is copied */
    return box.border != TWI_WRAP && o.before < COLUMNS / 2 && (o.after == o.end || nearest > o.first);
}

/* Where the two bytes of a column, of both rows, lie in a row of shared memory: two apart. */
TWI_DEVICE int byte_of(int column)
{
    return 8 * slot_of(column) + 4 * (column % 2) + column / 2 % 2;
}

TWI_DEVICE void copy_outside(const twi_cuda_box &box, const outside &o, uint2 *step)
{
    uint8_t *row = (uint8_t *)(step + threadIdx.x % PAIRS * SLOTS);
#pragma unroll 1
    for (int i = threadIdx.x / PAIRS; i < o.before + o.end - o.after; i += THREADS / PAIRS) {
        const int column = i < o.before ? i : o.after + i - o.before;
        const int64_t from = near_index(o.first + column, box.width, box.border);
        const uint8_t *source = row + byte_of((int)(from - o.first));
        uint8_t *place = row + byte_of(column);
        place[0] = from < 0 ? (uint8_t)box.value : source[0];
        place[2] = from < 0 ? (uint8_t)box.value : source[2];
    }
}

/* ---- Shared memory -------------------------------------------------------------------------------------- */

/* Two steps' rows, so that one barrier a step is enough; then each thread's columns; room that each warp puts two rows
   of outputs into, or its threads the words of CAREFUL rows; the extremes of groups between, a thread's are THREADS
   apart. */
extern __shared__ __align__(16) uint2 lines[];

TWI_DEVICE columns *places_of_block()
{
    return (columns *)(lines + 2 * LINES);
}

TWI_DEVICE uint4 *room_of_warp(int warp)
{
    return (uint4 *)(places_of_block() + THREADS) + warp * (2 * PIECES);
}

TWI_DEVICE uint32_t *ring_of_block()
{
    return (uint32_t *)room_of_warp(PAIRS);
}

/* In registers of the thread. Half of each addition of such a pitch runs beside the extremes, of a common one none. */
TWI_DEVICE int64_t kept_pitch(int64_t pitch)
{
    return (int64_t)((uint64_t)kept((uint32_t)((uint64_t)pitch >> 32)) << 32 | kept((uint32_t)pitch));
}

#endif
