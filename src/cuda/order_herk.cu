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
 *   across:  a warp takes two of the step's rows, a thread 32 neighbouring outputs of both. They pass through shared
 *            memory once more, so that neighbouring threads store neighbouring pieces.
 *
 * Pixels are compared two at a time in the high bytes of a word's halves: what lies below them decides between equal
 * ones only. Down the two are columns, across they are rows, so that neither needs a shift.
 *
 * What bounds the kernel is the pipe that both extremes and integer additions run on: where it can, it leaves addresses
 * to others.
 */
#include "cuda/herk.cuh"

/* ---- Down ------------------------------------------------------------------------------------------------ */

template <int G, bool HIGHEST> TWI_DEVICE four extreme(const uint32_t *rows)
{
    four all = split(rows[0]);
#pragma unroll
    for (int k = 1; k + 1 < G; k += 2)
        all = better<HIGHEST>(all, split(rows[k]), split(rows[k + 1]));
    return G % 2 ? all : better<HIGHEST>(all, split(rows[G - 1]));
}

/* Running extremes of G rows, from the last one up. */
template <int G, bool HIGHEST> TWI_DEVICE void ends_of(const uint32_t *rows, four *ends)
{
    ends[G - 1] = split(rows[G - 1]);
#pragma unroll
    for (int k = G - 2; k >= 0; k--)
        ends[k] = better<HIGHEST>(split(rows[k]), ends[k + 1]);
}

/* G = 1 is for windows of one row. */
template <int G, bool HIGHEST> struct down {
    four ends[G];         /* of the next outputs' own group */
    uint32_t rows[STEP];  /* of the groups after it */
    uint32_t fresh[STEP]; /* the rows behind the first window */
    bool plain;           /* the thread's columns are read as the word at `at` of each row; */
    bool shifted;         /* rows begin anywhere: as the aligned word where that begins, the next thread has the rest */
    bool ragged;          /* some thread's word reaches beyond the row's end */
    uint32_t at;
    uint32_t behind_warp; /* the word behind the last thread's */
    uint32_t beyond;      /* that word: thread k has the one of row k in `rows`, or of row k - STEP in `fresh` */
    int64_t pitch;        /* the image's, in registers of the thread */
    int between;          /* groups of fresh rows before, whose extremes lie in shared memory */
    int oldest;           /* of them: the next one takes its place */

    /* Whether STEP rows from y on are read as words: one may not exist behind the last row. */
    TWI_DEVICE_MEMBER bool are_words(const twi_cuda_box &box, int64_t y)
    {
        return plain && y >= 0 && y + STEP <= box.height - (ragged ? 1 : 0);
    }

    /* STEP rows from y on. Nothing waits for the loads of words. */
    TWI_DEVICE_MEMBER void load(const twi_cuda_box &box, int64_t y, uint32_t *words)
    {
        if (are_words(box, y)) {
            const uint8_t *row = (const uint8_t *)box.src + y * box.src_pitch + at;
            if (shifted) {
#pragma unroll
                for (int k = 0; k < STEP; k++, row += pitch)
                    words[k] = __ldg(word_around(row));
            } else {
#pragma unroll
                for (int k = 0; k < STEP; k++, row += pitch)
                    words[k] = __ldg((const uint32_t *)row);
            }
        } else {
            uint32_t *loaded = (uint32_t *)room_of_warp(threadIdx.x / 32) + threadIdx.x % 32 * (CAREFUL + 1);
#pragma unroll
            for (int k = 0; k < STEP; k++) {
                if (k % CAREFUL == 0)
                    load_carefully(box, y + k, places_of_block() + threadIdx.x, loaded);
                words[k] = loaded[k % CAREFUL];
            }
        }
    }

    /* What lies behind the warp's columns: row `number` of STEP from y on. */
    TWI_DEVICE_MEMBER void load_beyond_warp(const twi_cuda_box &box, int64_t y, int number)
    {
        if (are_words(box, y))
            beyond = __ldg(word_around((const uint8_t *)box.src + (y + number) * box.src_pitch + behind_warp));
    }

    /* Puts words together of STEP rows from y on. Thread `first` has what lies behind the warp in the first of them. */
    TWI_DEVICE_MEMBER void join(const twi_cuda_box &box, int64_t y, int first, uint32_t *words)
    {
        if (!are_words(box, y))
            return;
        const unsigned address = (unsigned)(uintptr_t)box.src + (unsigned)y * (unsigned)box.src_pitch;
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            const uint32_t next = __shfl_down_sync(~0u, words[k], 1);
            const uint32_t last = __shfl_sync(~0u, beyond, first + k);
            words[k] = __funnelshift_r(words[k], threadIdx.x % 32 == 31 ? last : next,
                                       8 * (address + k * (unsigned)box.src_pitch)); /* modulo 32 */
        }
    }

    /* Loads STEP rows from y on, and puts them together at once. */
    TWI_DEVICE_MEMBER void load_now(const twi_cuda_box &box, int64_t y, uint32_t *words)
    {
        load(box, y, words);
        if (shifted) {
            load_beyond_warp(box, y, threadIdx.x % STEP);
            join(box, y, 0, words);
        }
    }

    TWI_DEVICE_MEMBER void push(four all)
    {
        ring_of_block()[oldest * THREADS + threadIdx.x] = joined(all);
        oldest = oldest + 1 == between ? 0 : oldest + 1;
    }

    /* For outputs whose first window begins at row y. */
    TWI_DEVICE_MEMBER void begin(const twi_cuda_box &box, int64_t y)
    {
        between = box.window_height / G - 1;
        oldest = 0;
#pragma unroll 1
        for (int k = between; k > 0;) {
            load_now(box, y + box.window_height - G * k, fresh);
#pragma unroll
            for (int i = 0; i < STEP / G; i++, k--)
                if (k > 0)
                    push(extreme<G, HIGHEST>(fresh + G * i));
        }
        load_now(box, y + G - STEP, rows); /* of which the last G are the first group */
        ends_of<G, HIGHEST>(rows + STEP - G, ends);
        next(box, y - STEP);
    }

    /* Loads for the outputs after those whose first window begins at row y. */
    TWI_DEVICE_MEMBER void next(const twi_cuda_box &box, int64_t y)
    {
        load(box, y + STEP + G, rows);
        if constexpr (G > 1)
            load(box, y + STEP + box.window_height, fresh);
        if (shifted)
            load_beyond_warp(box, y + STEP + (threadIdx.x % 32 < STEP ? G : box.window_height), threadIdx.x % STEP);
    }

    /* Before the outputs whose first window begins at row y are made. */
    TWI_DEVICE_MEMBER void arrive(const twi_cuda_box &box, int64_t y)
    {
        if (!shifted)
            return;
        join(box, y + G, 0, rows);
        if constexpr (G > 1)
            join(box, y + box.window_height, STEP, fresh);
    }

    /* The outputs of G rows, which begin at row `at` of the step. What the groups of fresh rows leave of the rows
       between, the next group holds. */
    TWI_DEVICE_MEMBER void make(int at, four *out)
    {
        four after[G];
        ends_of<G, HIGHEST>(rows + at, after);
#pragma unroll
        for (int k = 0; k < G; k++) {
            out[k] = ends[k];
            ends[k] = after[k];
        }
        if constexpr (G == 1)
            return;
        const uint32_t *ring = ring_of_block() + threadIdx.x;
        four middle = better<HIGHEST>(after[0], split(ring[0]), split(ring[(between - 1) * THREADS]));
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

/* N slots from number `first` on, counted from a thread's own, which begin at the address `row` of shared memory.
   `first` is the same for all threads, and so are the offsets: with addresses of 32 bits the compiler leaves them to
   the pipe of what is common to a warp. */
template <int N> TWI_DEVICE void read_slots(uint32_t row, unsigned first, uint32_t *words)
{
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        const uint32_t at = row + (first + k + (first + k) / 8) * (unsigned)sizeof(uint2);
        asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];"
                     : "=r"(words[2 * k]), "=r"(words[2 * k + 1])
                     : "r"(at)
                     : "memory");
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

/* Running extremes from the right, within each group from J on. */
template <int G, int OWN, bool HIGHEST, int J = 0> TWI_DEVICE void extreme_ends(const uint32_t *own, uint32_t *out)
{
    if constexpr (J < OUTPUTS / G) {
        out[G * J + G - 1] = column(own, OWN + G * J + G - 1);
#pragma unroll
        for (int i = G - 2; i >= 0; i--)
            out[G * J + i] = better<HIGHEST>(column(own, OWN + G * J + i), out[G * J + i + 1]);
        extreme_ends<G, OWN, HIGHEST, J + 1>(own, out);
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
TWI_DEVICE void make_groups(const uint32_t *behind, const uint32_t *between, uint32_t before, uint32_t *out)
{
    if constexpr (J < OUTPUTS / G) {
        const uint32_t middle = better<HIGHEST>(between[J], before);
        out[G * J] = better<HIGHEST>(out[G * J], middle);
        before = column(behind, SKIP + G * (J + 1));
#pragma unroll
        for (int i = 1; i < G; i++) {
            out[G * J + i] = better<HIGHEST>(out[G * J + i], middle, before);
            before = better<HIGHEST>(before, column(behind, SKIP + G * (J + 1) + i));
        }
        make_groups<G, SKIP, HIGHEST, J + 1>(behind, between, before, out);
    }
}

/* The outputs of a thread whose slots begin at `row`. OWN: the columns from a slot's begin to the first window; SKIP:
   to those behind it. */
template <int G, int OWN, int SKIP, bool HIGHEST>
TWI_DEVICE void across(uint32_t row, int width, uint32_t *a, uint32_t *b)
{
    constexpr int groups = OUTPUTS / G;
    constexpr int own_slots = (OWN + OUTPUTS + 3) / 4;
    constexpr int slots = (SKIP + G + OUTPUTS + 3) / 4;
    uint32_t own[2 * own_slots];
    uint32_t out[OUTPUTS];
    read_slots<own_slots>(row, 0, own);
    extreme_ends<G, OWN, HIGHEST>(own, out);
    if constexpr (G > 1) {
        uint32_t behind[2 * slots];
        uint32_t whole[groups];
        uint32_t between[groups];
        read_slots<slots>(row, (unsigned)(OWN + width - G) / 4, behind);
#pragma unroll
        for (int j = 0; j < groups; j++)
            whole[j] = out[G * j];
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
        make_groups<G, SKIP, HIGHEST>(behind, between, extreme_columns<G, SKIP, HIGHEST>(behind), out);
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS / 4; i++) {
        const uint32_t left = __byte_perm(out[4 * i], out[4 * i + 1], 0x7351);
        const uint32_t right = __byte_perm(out[4 * i + 2], out[4 * i + 3], 0x7351);
        a[i] = __byte_perm(left, right, 0x5410);
        b[i] = __byte_perm(left, right, 0x7632);
    }
}

/* `skips`: 4 OWN + SKIP, one of COUNT from FIRST on. */
template <int G, bool HIGHEST, int FIRST = 0, int COUNT = 16>
TWI_DEVICE void across_any(int skips, uint32_t row, int width, uint32_t *a, uint32_t *b)
{
    if constexpr (COUNT == 1)
        across<G, FIRST / 4, FIRST % 4, HIGHEST>(row, width, a, b);
    else if (skips < FIRST + COUNT / 2)
        across_any<G, HIGHEST, FIRST, COUNT / 2>(skips, row, width, a, b);
    else
        across_any<G, HIGHEST, FIRST + COUNT / 2, COUNT / 2>(skips, row, width, a, b);
}

/* ---- Storing ---------------------------------------------------------------------------------------------- */

/* Where a piece of a row of outputs lies in a warp's room: threads that write or read neighbouring ones meet no bank
   twice. */
TWI_DEVICE int place_of(int piece)
{
    return piece ^ (piece / 8 & 1);
}

/* A thread's outputs of a row. */
TWI_DEVICE void put_outputs(uint4 *room, const uint32_t *words)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < OUTPUTS / 16; k++)
        room[place_of(OUTPUTS / 16 * lane + k)] =
            make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
}

/* 16 bytes that begin `skip` bytes into a piece, 0 to 15. */
TWI_DEVICE uint4 piece_at(const uint4 *room, int piece, int skip)
{
    const uint4 low = room[place_of(piece)];
    const uint4 high = room[place_of(piece + (skip > 0))];
    const uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    uint32_t moved[6];
    uint32_t out[5];
#pragma unroll
    for (int k = 0; k < 6; k++)
        moved[k] = skip & 8 ? words[k + 2] : words[k];
#pragma unroll
    for (int k = 0; k < 5; k++)
        out[k] = skip & 4 ? moved[k + 1] : moved[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[k] = __funnelshift_r(out[k], out[k + 1], 8 * skip);
    return make_uint4(out[0], out[1], out[2], out[3]);
}

TWI_DEVICE uint8_t byte_at(const uint4 *room, int byte)
{
    return ((const uint8_t *)(room + place_of(byte / 16)))[byte % 16];
}

/* The first `count` outputs of a warp's row, at any address: whole aligned pieces, then a byte a thread of those at
   both ends. */
TWI_DEVICE void store_row(const uint4 *room, uint8_t *row, int count)
{
    const int lane = threadIdx.x % 32;
    const int first = min(count, (int)(-(uintptr_t)row % 16)); /* bytes before the first whole piece */
    const int pieces = (count - first) / 16;
#pragma unroll 1
    for (int i = lane; i < pieces; i += 32)
        *(uint4 *)(row + first + 16 * i) = piece_at(room, i, first);
    const int byte = lane < 16 ? lane : first + 16 * pieces + lane - 16;
    if (byte < (lane < 16 ? first : count))
        row[byte] = byte_at(room, byte);
}

/* Both of a warp's rows where they begin at multiples of 16. */
TWI_DEVICE void store_rows(const uint4 *room, uint8_t *row, int64_t pitch, int count)
{
    const int lane = threadIdx.x % 32;
    const int pieces = count / 16;
    const int byte = 16 * pieces + lane;
    uint8_t *to = row + 16 * lane;
    uint4 piece[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        piece[k] = room[place_of(lane) + 32 * k];
    if (lane < pieces) {
        *(uint4 *)to = piece[0];
        *(uint4 *)(to + pitch) = piece[2];
    }
    if (lane + 32 < pieces) {
        *(uint4 *)(to + 512) = piece[1];
        *(uint4 *)(to + pitch + 512) = piece[3];
    }
    if (byte < count) {
        row[byte] = byte_at(room, byte);
        row[pitch + byte] = byte_at(room + PIECES, byte);
    }
}

/* ---- The march -------------------------------------------------------------------------------------------- */

/* DOWN, ACROSS: the groups, of at most half the window, or of 1 where it has but one row or column. */
template <int DOWN, int ACROSS, bool HIGHEST>
static __global__ void __launch_bounds__(THREADS, 2) herk(const __grid_constant__ twi_cuda_box box)
{
    constexpr int made = DOWN > 1 ? DOWN : 2; /* rows at a time */
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    const int pair = thread / 32;
    const int skip = (4 - box.anchor_x % 4) % 4; /* columns before the first window, to begin at a word */
    const int skips = 4 * skip + (skip + box.window_width - ACROSS) % 4;
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    const int width = (int)(box.width - left < box.strip_width ? box.width - left : box.strip_width);
    const int64_t begin = left - box.anchor_x - skip;
    const outside beside = find_outside(box, begin, skip + width + box.window_width - 1);
    const bool aligned = rows_aligned(box);
    const bool wraps = aligned && box.border == TWI_WRAP && box.width % 4 == 0;
    /* of fewer than 16 columns, words beside a row could lie behind the image */
    const bool plain = wraps || (has_copied(box, beside) && (aligned || box.width >= 16));
    const bool any_outside = plain && !wraps && beside.before + beside.end - beside.after > 0;
    places_of_block()[thread] = find_columns(box, (int32_t)begin + 4 * thread);
    down<DOWN, HIGHEST> d;
    d.plain = plain;
    d.shifted = plain && !aligned;
    d.ragged = aligned ? box.width % 4 != 0 && begin + COLUMNS > box.width : begin + COLUMNS + 8 > box.width;
    d.at = word_of(box, begin + 4 * thread, wraps);
    d.behind_warp = __shfl_sync(~0u, d.at, 31) + 4;
    d.beyond = 0;
    d.pitch = kept_pitch(box.src_pitch);
    d.begin(box, top - box.anchor_y);
    const bool whole = ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 16 == 0; /* pieces */
    uint4 *room = room_of_warp(pair);
    uint8_t *place = (uint8_t *)box.dst + (top + 2 * pair) * box.dst_pitch + left;
    int buffer = 0;
    for (int y = 0; y < rows; y += STEP, buffer ^= 1, place += STEP * box.dst_pitch) {
        uint2 *step = lines + buffer * LINES;
        d.arrive(box, top - box.anchor_y + y);
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
        const uint2 *own = step + pair * SLOTS + slot_of(OUTPUTS * lane);
        across_any<ACROSS, HIGHEST>(skips, (uint32_t)__cvta_generic_to_shared(own), box.window_width, a, b);
        put_outputs(room, a);
        put_outputs(room + PIECES, b);
        __syncwarp();
        const int row = y + 2 * pair;
        if (whole && row + 1 < rows) {
            store_rows(room, place, box.dst_pitch, width);
        } else {
            store_row(room, place, row < rows ? width : 0);
            store_row(room + PIECES, place + box.dst_pitch, row + 1 < rows ? width : 0);
        }
        __syncwarp(); /* before the room is used anew */
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
