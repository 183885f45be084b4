/*
 * min and max, variant `herk`: cost per pixel that hardly grows with the window, after van Herk and after Gil and
 * Werman, in one pass. A line is cut into groups of G. The windows of a group's G outputs share all but the ends: the
 * group itself, of which each output takes what is not before it (a running extreme from the right), and the first
 * G - 1 values behind the group's first window (a running extreme from the left). What lies between are whole groups.
 * So an output is the extreme of three.
 *
 * A block of 256 threads marches down a strip, 16 rows a step, in two roles with one barrier between them:
 *   down:    a thread makes the extremes of 4 columns, 4 pixels a word, and writes them to shared memory. The rows
 *            that the group leaves behind are loaded a second time, from the cache.
 *   across:  a warp takes two of the step's rows, a thread 32 neighbouring outputs of both.
 * Pixels are compared two at a time in the high bytes of a word's halves: what lies below them decides between equal
 * ones only. Down the two are columns, across they are rows, so that neither needs a shift.
 */
#include "cuda/march.cuh"

enum {
    THREADS = 256,
    COLUMNS = 4 * THREADS,         /* that a block has extremes of: the strip and what its windows reach beside it */
    STEP = 16,                     /* rows */
    PAIRS = STEP / 2,              /* rows of shared memory: two of the image each, a warp's work */
    OUTPUTS = 32,                  /* of a thread, in each of two rows */
    SLOTS = THREADS + THREADS / 8, /* of a row: two words, four columns of two rows; one in nine is unused, ... */
    BEHIND = 96,                   /* and more behind the last: reads run over the end; what they get is not used */
    ROOM = 32 * (OUTPUTS / 4 + 1), /* words that a warp keeps a row of outputs in, */
    CAREFUL = OUTPUTS / 4          /* and its threads the words of so many rows */
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

TWI_DEVICE bool rows_aligned(const twi_cuda_box &box)
{
    return ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 4 == 0;
}

/* A word at any address, in one load where rows are aligned. */
TWI_DEVICE uint32_t load_word(bool aligned, const uint8_t *place)
{
    const uint32_t *words = (const uint32_t *)((uintptr_t)place & ~(uintptr_t)3);
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

/* Where the word that begins with a column lies in a row; columns outside that are no copies of a word have any. */
TWI_DEVICE uint32_t word_of(const twi_cuda_box &box, int64_t column)
{
    const int64_t from = box.border == TWI_WRAP ? near_index(column, box.width, box.border) : column;
    return from < 0 ? 0 : (uint32_t)(from < box.width ? from : box.width - 1) & ~3u;
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

/* Two steps' rows, so that one barrier a step is enough; then each thread's columns; each warp's room for a row of
   outputs; the extremes of groups between, a thread's are THREADS apart. */
extern __shared__ __align__(16) uint2 lines[];

TWI_DEVICE columns *places_of_block()
{
    return (columns *)(lines + 2 * PAIRS * SLOTS + BEHIND);
}

TWI_DEVICE uint32_t *rooms_of_block()
{
    return (uint32_t *)(places_of_block() + THREADS);
}

TWI_DEVICE uint32_t *ring_of_block()
{
    return rooms_of_block() + PAIRS * ROOM;
}

/* ---- Down ------------------------------------------------------------------------------------------------ */

template <int G, bool HIGHEST> TWI_DEVICE four extreme(const uint32_t *rows)
{
    four all = split(rows[0]);
#pragma unroll
    for (int k = 1; k + 1 < G; k += 2)
        all = better<HIGHEST>(all, split(rows[k]), split(rows[k + 1]));
    return G % 2 ? all : better<HIGHEST>(all, split(rows[G - 1]));
}

/* G = 1 is for windows of one row. */
template <int G, bool HIGHEST> struct down {
    uint32_t rows[G + STEP]; /* of the next outputs, and of the group after them */
    uint32_t fresh[STEP];    /* the rows behind the first window */
    bool plain;              /* the thread's columns are read as the aligned word at `at` of each row */
    bool inside;             /* the block's columns, and 4 more on either side, lie in the image */
    bool ragged;             /* some thread's word reaches beyond the row's end */
    uint32_t at;
    int between; /* groups of fresh rows before, whose extremes lie in shared memory */
    int oldest;  /* of them: the next one takes its place */

    /* STEP rows from y on. Nothing waits for the loads of a plain word. */
    __device__ __forceinline__ void load(const twi_cuda_box &box, int64_t y, uint32_t *words)
    {
        const int64_t height = box.height - (ragged ? 1 : 0); /* a whole word may not exist behind the last row */
        if (plain && y >= 0 && y + STEP <= height) {
            const uint8_t *row = (const uint8_t *)box.src + y * box.src_pitch + at;
#pragma unroll
            for (int k = 0; k < STEP; k++, row += box.src_pitch)
                words[k] = __ldg((const uint32_t *)row);
        } else if (inside && y >= 0 && y + STEP <= box.height) {
            const uint8_t *row = (const uint8_t *)box.src + y * box.src_pitch + at;
#pragma unroll
            for (int k = 0; k < STEP; k++, row += box.src_pitch)
                words[k] = load_word(false, row);
        } else {
            uint32_t *loaded = rooms_of_block() + threadIdx.x / 32 * ROOM + threadIdx.x % 32 * (CAREFUL + 1);
#pragma unroll
            for (int k = 0; k < STEP; k++) {
                if (k % CAREFUL == 0)
                    load_carefully(box, y + k, places_of_block() + threadIdx.x, loaded);
                words[k] = loaded[k % CAREFUL];
            }
        }
    }

    __device__ __forceinline__ void push(four all)
    {
        ring_of_block()[oldest * THREADS + threadIdx.x] = joined(all);
        oldest = oldest + 1 == between ? 0 : oldest + 1;
    }

    /* For outputs whose first window begins at row y. */
    __device__ __forceinline__ void begin(const twi_cuda_box &box, int64_t y)
    {
        between = box.window_height / G - 1;
        oldest = 0;
#pragma unroll 1
        for (int k = between; k > 0;) {
            load(box, y + box.window_height - G * k, fresh);
#pragma unroll
            for (int i = 0; i < STEP / G; i++, k--)
                if (k > 0)
                    push(extreme<G, HIGHEST>(fresh + G * i));
        }
        load(box, y + G - STEP, rows + G); /* of which the last G are the first group */
        next(box, y - STEP);
    }

    /* Loads for the outputs after those whose first window begins at row y. */
    __device__ __forceinline__ void next(const twi_cuda_box &box, int64_t y)
    {
#pragma unroll
        for (int k = 0; k < G; k++)
            rows[k] = rows[STEP + k];
        load(box, y + STEP + G, rows + G);
        if constexpr (G > 1)
            load(box, y + STEP + box.window_height, fresh);
    }

    /* The outputs of G rows, which begin at row `at` of the step. What the groups of fresh rows leave of the rows
       between, the next group holds. */
    __device__ __forceinline__ void make(int at, four *out)
    {
        const uint32_t *own = rows + at;
        out[G - 1] = split(own[G - 1]);
#pragma unroll
        for (int k = G - 2; k >= 0; k--)
            out[k] = better<HIGHEST>(split(own[k]), out[k + 1]);
        if constexpr (G == 1)
            return;
        const uint32_t *ring = ring_of_block() + threadIdx.x;
        four middle =
            better<HIGHEST>(extreme<G, HIGHEST>(own + G), split(ring[0]), split(ring[(between - 1) * THREADS]));
#pragma unroll 1
        for (int k = 1; k < between - 1; k++)
            middle = better<HIGHEST>(middle, split(ring[k * THREADS]));
        out[0] = better<HIGHEST>(out[0], middle);
        four before = split(fresh[at]);
#pragma unroll
        for (int i = 1; i < G; i++) {
            out[i] = better<HIGHEST>(out[i], middle, before);
            before = better<HIGHEST>(before, split(fresh[at + i]));
        }
        push(before);
    }
};

/* ---- Across ---------------------------------------------------------------------------------------------- */

/* N slots from number `first` on, counted from a thread's own; the same for all threads. */
template <int N> TWI_DEVICE void read_slots(const uint2 *row, unsigned first, uint32_t *words)
{
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        const uint2 v = row[first + k + (first + k) / 8];
        words[2 * k] = v.x;
        words[2 * k + 1] = v.y;
    }
}

/* Column k of such words: both rows' pixels. */
TWI_DEVICE uint32_t column(const uint32_t *words, int k)
{
    const uint32_t word = words[k / 4 * 2 + k % 2];
    return k % 4 < 2 ? word << 8 : word;
}

/* Of the G columns from K on. */
template <int G, int K, bool HIGHEST> TWI_DEVICE uint32_t extreme_columns(const uint32_t *words)
{
    uint32_t all = column(words, K);
#pragma unroll
    for (int i = 1; i + 1 < G; i += 2)
        all = better<HIGHEST>(all, column(words, K + i), column(words, K + i + 1));
    return G % 2 ? all : better<HIGHEST>(all, column(words, K + G - 1));
}

/* Of each group, from group J on. */
template <int G, bool HIGHEST, int J = 0> TWI_DEVICE void extreme_groups(const uint32_t *words, uint32_t *whole)
{
    if constexpr (J < OUTPUTS / G) {
        whole[J] = extreme_columns<G, G * J, HIGHEST>(words);
        extreme_groups<G, HIGHEST, J + 1>(words, whole);
    }
}

/* A thread's N groups become those that follow each; the next thread's first moves in. */
template <int N> TWI_DEVICE void next_groups(uint32_t *whole)
{
    const uint32_t next = __shfl_down_sync(~0u, whole[0], 1);
#pragma unroll
    for (int j = 0; j + 1 < N; j++)
        whole[j] = whole[j + 1];
    whole[N - 1] = next;
}

/* The outputs from group J on. `before`: the extreme of the G columns before those behind the group's first window. */
template <int G, int SKIP, bool HIGHEST, int J = 0>
TWI_DEVICE void make_groups(const uint32_t *own, const uint32_t *behind, const uint32_t *between, uint32_t before,
                            uint32_t *out)
{
    if constexpr (J < OUTPUTS / G) {
        out[G * J + G - 1] = column(own, G * J + G - 1);
#pragma unroll
        for (int i = G - 2; i >= 0; i--)
            out[G * J + i] = better<HIGHEST>(column(own, G * J + i), out[G * J + i + 1]);
        if constexpr (G > 1) {
            const uint32_t middle = better<HIGHEST>(between[J], before);
            out[G * J] = better<HIGHEST>(out[G * J], middle);
            before = column(behind, SKIP + G * (J + 1));
#pragma unroll
            for (int i = 1; i < G; i++) {
                out[G * J + i] = better<HIGHEST>(out[G * J + i], middle, before);
                before = better<HIGHEST>(before, column(behind, SKIP + G * (J + 1) + i));
            }
        }
        make_groups<G, SKIP, HIGHEST, J + 1>(own, behind, between, before, out);
    }
}

/* The outputs of a thread whose slots begin at `row`. SKIP: the columns from a slot's begin to those behind the window.
 */
template <int G, int SKIP, bool HIGHEST> TWI_DEVICE void across(const uint2 *row, int width, uint32_t *a, uint32_t *b)
{
    constexpr int groups = OUTPUTS / G;
    constexpr int slots = (SKIP + G + OUTPUTS + 3) / 4;
    uint32_t own[OUTPUTS / 2];
    uint32_t behind[2 * slots];
    uint32_t whole[groups];
    uint32_t between[groups];
    uint32_t before = 0;
    uint32_t out[OUTPUTS];
    read_slots<OUTPUTS / 4>(row, 0, own);
    if constexpr (G > 1) {
        read_slots<slots>(row, (unsigned)(width - G) / 4, behind);
        extreme_groups<G, HIGHEST>(own, whole);
        next_groups<groups>(whole);
#pragma unroll
        for (int j = 0; j < groups; j++)
            between[j] = whole[j];
#pragma unroll 1
        for (int k = width / G - 2; k > 0; k--) {
            next_groups<groups>(whole);
#pragma unroll
            for (int j = 0; j < groups; j++)
                between[j] = better<HIGHEST>(between[j], whole[j]);
        }
        before = extreme_columns<G, SKIP, HIGHEST>(behind);
    }
    make_groups<G, SKIP, HIGHEST>(own, behind, between, before, out);
#pragma unroll
    for (int i = 0; i < OUTPUTS / 4; i++) {
        const uint32_t left = __byte_perm(out[4 * i], out[4 * i + 1], 0x7351);
        const uint32_t right = __byte_perm(out[4 * i + 2], out[4 * i + 3], 0x7351);
        a[i] = __byte_perm(left, right, 0x5410);
        b[i] = __byte_perm(left, right, 0x7632);
    }
}

/* 32 outputs of a row at `place`, of which the first `count` exist; rows begin at multiples of 16. `whole`: all of both
   threads' of a pair do. Such pairs exchange halves: each access then fills whole sectors of 32 bytes. */
TWI_DEVICE void store(uint8_t *place, int count, bool whole, const uint32_t *words)
{
    const bool right = threadIdx.x % 2;
    uint32_t first[4]; /* of the left thread's outputs, and of the right one's */
    uint32_t second[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t other = __shfl_xor_sync(~0u, right ? words[k] : words[4 + k], 1);
        first[k] = right ? other : words[k];
        second[k] = right ? words[4 + k] : other;
    }
    if (whole) {
        *(uint4 *)(right ? place - 16 : place) = make_uint4(first[0], first[1], first[2], first[3]);
        *(uint4 *)(right ? place + 16 : place + 32) = make_uint4(second[0], second[1], second[2], second[3]);
    } else {
        store_first<OUTPUTS / 4>(place, count, words);
    }
}

/* A row's outputs of a warp, of which the first `count` exist, at any address: they pass through shared memory, so that
   neighbouring threads store neighbouring aligned words. One word in nine of `room` is unused, against bank conflicts.
 */
TWI_DEVICE void store_shifted(uint32_t *room, uint8_t *row, int count, const uint32_t *words)
{
    constexpr int each = OUTPUTS / 4;
    const int lane = threadIdx.x % 32;
    const int before = (int)((uintptr_t)row % 4); /* bytes of the first word that are not the row's */
#pragma unroll
    for (int k = 0; k < each; k++)
        room[(each + 1) * lane + k] = words[k];
    __syncwarp();
#pragma unroll 1
    for (int i = lane; 4 * i - before < count; i += 32) {
        const uint32_t low = i > 0 ? room[i - 1 + (i - 1) / each] : 0;
        const uint32_t high = i < 32 * each ? room[i + i / each] : 0;
        const uint32_t word = __funnelshift_lc(low, high, 8 * before);
        const int first = 4 * i - before;
        if (first >= 0 && first + 4 <= count) {
            *(uint32_t *)(row + first) = word;
        } else {
            for (int b = 0; b < 4; b++)
                if (first + b >= 0 && first + b < count)
                    row[first + b] = (uint8_t)(word >> (8 * b));
        }
    }
    __syncwarp(); /* before the room is used anew */
}

/* Words that begin `skip` bytes further on, 0 to 3: the next thread's move in. */
TWI_DEVICE void move_in(uint32_t *words, int skip)
{
    uint32_t next = __shfl_down_sync(~0u, words[0], 1);
#pragma unroll
    for (int k = 0; k < OUTPUTS / 4; k++)
        words[k] = __funnelshift_r(words[k], k + 1 < OUTPUTS / 4 ? words[k + 1] : next, 8 * skip);
}

/* ---- The march -------------------------------------------------------------------------------------------- */

template <int G, bool HIGHEST> TWI_DEVICE void across_any(const uint2 *row, int width, uint32_t *a, uint32_t *b)
{
    switch ((width - G) & 3) {
    case 0:
        across<G, 0, HIGHEST>(row, width, a, b);
        break;
    case 1:
        across<G, 1, HIGHEST>(row, width, a, b);
        break;
    case 2:
        across<G, 2, HIGHEST>(row, width, a, b);
        break;
    default:
        across<G, 3, HIGHEST>(row, width, a, b);
        break;
    }
}

/* DOWN, ACROSS: the groups, of at most half the window, or of 1 where it has but one row or column. */
template <int DOWN, int ACROSS, bool HIGHEST>
static __global__ void __launch_bounds__(THREADS, 2) herk(const __grid_constant__ twi_cuda_box box)
{
    constexpr int made = DOWN > 1 ? DOWN : 2; /* rows at a time */
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    const int pair = thread / 32;
    const int skip = (4 - box.anchor_x % 4) % 4; /* columns before the first window, to begin at a word */
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    const int64_t x = left + OUTPUTS * lane;
    const int width = (int)(box.width - left < box.strip_width ? box.width - left : box.strip_width);
    const int count = width - OUTPUTS * lane < 0         ? 0
                      : width - OUTPUTS * lane < OUTPUTS ? width - OUTPUTS * lane
                                                         : OUTPUTS;
    const bool aligned = ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 16 == 0;
    const bool whole = __shfl_xor_sync(~0u, count, 1) + count == 2 * OUTPUTS;
    const int64_t begin = left - box.anchor_x - skip;
    const outside beside = find_outside(box, begin, skip + width + box.window_width - 1);
    const bool wraps = box.border == TWI_WRAP && box.width % 4 == 0;
    const bool plain = rows_aligned(box) && (wraps || has_copied(box, beside));
    const bool any_outside = plain && !wraps && beside.before + beside.end - beside.after > 0;
    places_of_block()[thread] = find_columns(box, (int32_t)begin + 4 * thread);
    down<DOWN, HIGHEST> d;
    d.plain = plain;
    d.inside = begin >= 4 && begin + COLUMNS + 4 <= box.width;
    d.ragged = box.width % 4 != 0 && begin + COLUMNS > box.width;
    d.at = word_of(box, begin + 4 * thread);
    d.begin(box, top - box.anchor_y);
    uint8_t *place = (uint8_t *)box.dst + (top + 2 * pair) * box.dst_pitch + x;
    int buffer = 0;
    for (int y = 0; y < rows; y += STEP, buffer ^= 1, place += STEP * box.dst_pitch) {
        uint2 *step = lines + buffer * PAIRS * SLOTS;
#pragma unroll
        for (int k = 0; k < STEP; k += made) {
            four out[made];
#pragma unroll
            for (int i = 0; i < made; i += DOWN)
                d.make(k + i, out + i);
#pragma unroll
            for (int i = 0; i < made; i += 2)
                step[(k + i) / 2 * SLOTS + slot_of(4 * thread)] = make_uint2(
                    __byte_perm(out[i].even, out[i + 1].even, 0x7531), __byte_perm(out[i].odd, out[i + 1].odd, 0x7531));
        }
        d.next(box, top - box.anchor_y + y);
        __syncthreads();
        if (any_outside) {
            copy_outside(box, beside, step);
            __syncthreads();
        }
        uint32_t a[OUTPUTS / 4];
        uint32_t b[OUTPUTS / 4];
        across_any<ACROSS, HIGHEST>(step + pair * SLOTS + slot_of(OUTPUTS * lane), box.window_width, a, b);
        if (skip != 0) {
            move_in(a, skip);
            move_in(b, skip);
        }
        const int row = y + 2 * pair;
        if (aligned) {
            store(place, row < rows ? count : 0, whole && row < rows, a);
            store(place + box.dst_pitch, row + 1 < rows ? count : 0, whole && row + 1 < rows, b);
        } else {
            store_shifted(rooms_of_block() + pair * ROOM, place - OUTPUTS * lane, row < rows ? width : 0, a);
            store_shifted(rooms_of_block() + pair * ROOM, place - OUTPUTS * lane + box.dst_pitch,
                          row + 1 < rows ? width : 0, b);
        }
    }
}

#define KERNELS(down, across)                                                                                          \
    {                                                                                                                  \
        down, across,                                                                                                  \
        {                                                                                                              \
            (const void *)herk<down, across, false>, (const void *)herk<down, across, true>                            \
        }                                                                                                              \
    }

extern "C" const twi_cuda_herk twi_cuda_extreme_herk[TWI_CUDA_HERKS] = {
    KERNELS(8, 8), KERNELS(4, 4), KERNELS(2, 2), KERNELS(1, 8), KERNELS(8, 1),
};
