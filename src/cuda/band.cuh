/*
 * What the variants called `tensor` share whose filter is a sum along rows, then one down columns: both as products
 * with banded matrices of weights on the tensor cores, exactly. u8 images that march.cuh can march down.
 *
 * A block marches down a strip of 128 elements' columns in steps of 16 rows, 32 columns a warp. In a step a warp
 *   sums along rows:    (16 columns x 32 KX weights) * (32 KX elements x 8 rows)     -> 16-bit row sums,
 *   sums down columns:  (16 rows x 32 KY weights) * (32 KY row sums x 8 columns), for the low and the high byte.
 * The result of the first product lies in the registers as the second wants its operand, so the row sums of the
 * last 2 KY steps never leave the registers. The image comes in by asynchronous copies, STAGES - 1 steps ahead.
 *
 * Blocks at the image's rim march in code of their own, so that the others have neither instructions nor registers for
 * it. They bring rows as they lie in memory and make the columns beside the image from those that have arrived: bytes
 * fetched one by one would be waited for in every step. Those at the rows' ends begin first all the same: a launch
 * waits for its slowest block.
 *
 * mma.m16n8k32 (u8 x u8 -> s32), thread (g, q) = (lane / 4, lane % 4): A word i has rows g + 8 (i % 2), columns
 * 16 (i / 2) + 4q ... + 3; B word i has rows 16 i + 4q ... + 3 of column g; C has rows g (0, 1) and g + 8 (2, 3),
 * columns 2q and 2q + 1. The order of the summed dimension is free as long as A and B agree: in the first product
 * thread q has elements 8q ... 8q + 7 of 32, which it loads at once.
 */
#ifndef TWI_CUDA_BAND_CUH
#define TWI_CUDA_BAND_CUH

#include "cuda/element.cuh"
#include "cuda/march.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS, STAGES = 4, STEP = 16, TILES = 2, PART_BYTES = TWI_CUDA_PART_WORDS * 4 };

/* How far a window may reach from its output in either direction: KX sets it along rows, in elements, KY down columns.
 */
template <int KX, int KY> struct geometry {
    static constexpr int reach_x = 16 * KX - 8;
    static constexpr int reach_y = 16 * KY - 8;
    static constexpr int pad = 16 * KX; /* columns staged on either side of the block's own */
    static constexpr int staged = 32 * WARPS + 2 * pad;
    static constexpr int pieces = staged / 16;
    static constexpr int pitch = staged % 64 ? staged : staged + 32; /* an odd multiple of 32: no bank conflicts */
    static constexpr int groups = 2 * KY;                            /* steps that a window spans */
    static constexpr int unroll = groups > STAGES ? groups : STAGES; /* a multiple of both: KY is 1, 2 or 4 */
    static constexpr int columns = STAGES * STEP * pitch; /* where the table of columns lies, behind the stages */
    static constexpr int shared = columns + staged * (int)sizeof(int32_t);
};

/* The matrices of weights of PLANES bytes, if there are any, lie behind these: [plane][KX], then [odd][plane][KY]. */
template <int KX, int KY, int PLANES> struct matrices {
    static constexpr int parts = PLANES * (KX + 2 * KY);
    static constexpr int place = (geometry<KX, KY>::shared + 15) / 16 * 16;
    static constexpr int shared = place + parts * PART_BYTES;

    /* Pairs of steps that begin at an odd step of the window have weights of their own. */
    static __host__ __device__ constexpr int along(int plane, int k)
    {
        return plane * KX + k;
    }
    static __host__ __device__ constexpr int down(int plane, int place)
    {
        return PLANES * (KX + place % 2 * KY) + plane * KY + place / 2;
    }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* ---- Instructions ------------------------------------------------------------------------------------- */

/* sum += a * b */
TWI_DEVICE void multiply_add(uint32_t *sum, const uint32_t *a, uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

TWI_DEVICE void copy_async(uint32_t shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared), "l"(global) : "memory");
}

/* The first `count` of 16 bytes, and zeros. */
TWI_DEVICE void copy_first_async(uint32_t shared, const void *global, int count)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(shared), "l"(global), "r"(count) : "memory");
}

TWI_DEVICE void commit_copies(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

TWI_DEVICE void wait_for_oldest_copies(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

TWI_DEVICE uint2 load_shared(uint32_t shared)
{
    uint2 words;
    asm volatile("ld.shared.v2.u32 {%0,%1},[%2];" : "=r"(words.x), "=r"(words.y) : "r"(shared) : "memory");
    return words;
}

TWI_DEVICE void store_shared(uint32_t shared, const uint32_t *words)
{
    asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(shared), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
}

TWI_DEVICE uint32_t load_shared_byte(uint32_t shared)
{
    uint32_t byte;
    asm volatile("ld.shared.u8 %0,[%1];" : "=r"(byte) : "r"(shared) : "memory");
    return byte;
}

TWI_DEVICE void store_shared_byte(uint32_t shared, uint32_t byte)
{
    asm volatile("st.shared.u8 [%0],%1;" ::"r"(shared), "r"(byte) : "memory");
}

/* ---- Staging ----------------------------------------------------------------------------------------- */

/* Eight threads bring a row into shared memory, a piece of 16 bytes each. */
TWI_DEVICE int staged_row(void)
{
    return (threadIdx.y * 32 + threadIdx.x) / 8;
}

TWI_DEVICE int staged_piece(void)
{
    return threadIdx.x % 8;
}

/* The pieces beyond are left to the first KX warps. */
template <int KX> TWI_DEVICE int further_row(void)
{
    return (threadIdx.y * 32 + threadIdx.x) / (2 * KX);
}

template <int KX> TWI_DEVICE int further_piece(void)
{
    return 8 + (threadIdx.y * 32 + threadIdx.x) % (2 * KX);
}

/* Elements of a row: they fit in 32 bits (march.c). */
TWI_DEVICE int32_t elements_of(const twi_cuda_box &box)
{
    return (int32_t)box.width * box.channels;
}

struct staging {
    const uint8_t *from; /* where the thread's piece lies in the step to come */
    const uint8_t *more; /* the same of a second one: some warps bring the pieces at the rows' ends */
    uint32_t to;         /* where they go in the first stage */
    uint32_t more_to;
    int64_t y;     /* the first row of the step to come */
    int32_t left;  /* the first staged column */
    bool inside;   /* the block lies inside the image, and all pieces are aligned */
    bool straight; /* pieces are copied as they lie in memory, all aligned */
    bool mends;    /* columns beside the image are made from others of a stage, once it has arrived */
};

template <int KX, int KY>
TWI_DEVICE void begin_staging(const twi_cuda_box &box, uint32_t shared, int64_t left, int64_t top, int steps,
                              staging &s)
{
    using g = geometry<KX, KY>;
    const int32_t width = elements_of(box);
    const bool aligned = ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 16 == 0;
    s.left = (int32_t)left - g::pad;
    s.y = top - g::reach_y;
    const bool between = s.left >= 0 && s.left + g::staged <= width;
    s.inside = aligned && between && s.y >= 0 && s.y + STEP * steps <= box.height;
    s.straight = aligned && (box.border != TWI_WRAP || width % 16 == 0);
    s.mends =
        s.straight && !between && box.border != TWI_ZERO && box.border != TWI_WRAP; /* zeros and wrap are copied */
    s.from = (const uint8_t *)box.src + (s.y + staged_row()) * box.src_pitch + s.left + 16 * staged_piece();
    s.more = (const uint8_t *)box.src + (s.y + further_row<KX>()) * box.src_pitch + s.left + 16 * further_piece<KX>();
    s.to = kept(shared + staged_row() * g::pitch + 16 * staged_piece());
    s.more_to = kept(shared + further_row<KX>() * g::pitch + 16 * further_piece<KX>());
}

/* For blocks at the image's rim: the element that each staged column is read from, -1 where it is the border's value.
 */
TWI_DEVICE void find_columns(const twi_cuda_box &box, int64_t left, int staged, int32_t *columns)
{
    const int64_t before = staged; /* pixels: no element lies further left of the image */
#pragma unroll 1
    for (int i = threadIdx.y * 32 + threadIdx.x; i < staged; i += 32 * blockDim.y) {
        const int64_t pixel = twi_pixel(left + i + before * box.channels, box.channels) - before;
        const int64_t from = near_index(pixel, box.width, box.border);
        columns[i] = (int32_t)(from < 0 ? -1 : left + i + (from - pixel) * box.channels);
    }
    __syncthreads();
}

/* Makes the columns beside the image in a stage that has arrived, as many as a window reaches on either side. */
template <int KX, int KY>
TWI_DEVICE void mend(const twi_cuda_box &box, uint32_t stage, const int32_t *columns, const staging &s)
{
    using g = geometry<KX, KY>;
    constexpr int apart = THREADS / (2 * g::pad); /* from a thread's row to its next */
    constexpr int together = 4;                   /* loads, which would wait for stores between them */
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int i = thread % (2 * g::pad);
    const int place = i < g::pad ? i : elements_of(box) - s.left + i - g::pad;
    if (i < g::pad ? s.left >= 0 : place >= g::staged)
        return;
    const int from = columns[place] - s.left;
    const bool value = columns[place] < 0 || from < 0 || from >= g::staged; /* where no window reaches: anything */
    const uint32_t row = stage + thread / (2 * g::pad) * g::pitch;
#pragma unroll
    for (int k = 0; k < STEP / apart; k += together) {
        uint32_t bytes[together];
#pragma unroll
        for (int j = 0; j < together; j++)
            bytes[j] = value ? (uint32_t)box.value : load_shared_byte(row + from + (k + j) * apart * g::pitch);
#pragma unroll
        for (int j = 0; j < together; j++)
            store_shared_byte(row + place + (k + j) * apart * g::pitch, bytes[j]);
    }
}

/* 16 elements of a row, each from its column. */
TWI_DEVICE void gather(const twi_cuda_box &box, const uint8_t *row, const int32_t *columns, uint32_t *words)
{
    const uint32_t value = (uint8_t)box.value;
    words[0] = words[1] = words[2] = words[3] = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int32_t from = columns[i];
        words[i / 4] |= (from >= 0 ? (uint32_t)__ldg(row + from) : value) << (i % 4 * 8);
    }
}

/* 16 times the border's value. */
TWI_DEVICE void stage_value(const twi_cuda_box &box, uint32_t to)
{
    const uint32_t value = (uint8_t)box.value * 0x01010101u;
    const uint32_t words[4] = {value, value, value, value};
    store_shared(to, words);
}

/* A piece as it lies in a row, from a column on, and zeros beside the image. */
TWI_DEVICE void stage_straight(const twi_cuda_box &box, uint32_t to, const uint8_t *row, int32_t column)
{
    const int32_t width = elements_of(box);
    if (!row) {
        stage_value(box, to);
        return;
    }
    if (box.border == TWI_WRAP)
        column += column < 0 ? width : column >= width ? -width : 0;
    copy_first_async(to, row + column, column < 0 ? 0 : max(0, min(16, width - column)));
}

/* A piece for rows at any address. */
TWI_DEVICE void stage_carefully(const twi_cuda_box &box, uint32_t to, const uint8_t *row, const int32_t *columns)
{
    const int32_t first = columns[0];
    const bool plain = row && first >= 0 && columns[15] - first == 15;
    uint32_t words[4];
    if (plain && (uintptr_t)(row + first) % 16 == 0) {
        copy_async(to, row + first);
        return;
    }
    if (!row || (first < 0 && columns[15] < 0)) {
        stage_value(box, to);
        return;
    }
    if (plain && first >= 4 && first + 20 <= box.width * box.channels)
        load_shifted<16>(row + first, words);
    else
        gather(box, row, columns, words);
    store_shared(to, words);
}

/* Begins to bring the next 16 rows into the stage that lies `offset` bytes behind the first. */
template <int KX, bool INSIDE>
TWI_DEVICE void stage_step(const twi_cuda_box &box, int offset, const int32_t *columns, staging &s)
{
    if (INSIDE) {
        copy_async(s.to + offset, s.from);
        if (threadIdx.y < KX)
            copy_async(s.more_to + offset, s.more);
    } else {
        const uint8_t *row = near_row(box, s.y + staged_row());
#pragma unroll 1
        for (int more = 0; staged_piece() + more < 8 + 2 * KX; more += 8) {
            const int piece = staged_piece() + more;
            const uint32_t to = s.to + offset + 16 * more;
            if (s.straight)
                stage_straight(box, to, row, s.left + 16 * piece);
            else
                stage_carefully(box, to, row, columns + 16 * piece);
        }
    }
    s.from += STEP * box.src_pitch;
    s.more += STEP * box.src_pitch;
    s.y += STEP;
}

/* ---- The two products ---------------------------------------------------------------------------------- */

/* The column of a 16-wide tile that row m of the first product stands for: so that a thread ends with the four
   neighbours 4q ... 4q + 3. */
TWI_DEVICE int column_of(int m)
{
    return m < 8 ? 4 * (m / 2) + m % 2 : 4 * ((m - 8) / 2) + 2 + (m - 8) % 2;
}

/* The row sums of a warp's 32 columns, the steps of a window, 16 bits each: their low and their high bytes.
   [tile][columns 0-1 or 2-3 of the thread][step] */
template <int KY> struct history {
    uint32_t low[TILES][2][2 * KY];
    uint32_t high[TILES][2][2 * KY];
};

/* Puts a stage's row sums into slot `slot`. `pixels`: the thread's first elements in the stage. `sum(from, line)`
   makes sums of 8 rows, those of the thread: columns 2q, 2q + 1 of the product's rows g and g + 8. */
template <int KX, int KY, typename Sum> TWI_DEVICE void sum_rows(uint32_t pixels, int slot, history<KY> &h, Sum sum)
{
    uint32_t bytes[2][TILES][2]; /* [upper or lower 8 rows]: two rows' low bytes, then their high bytes */
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            uint32_t line[4];
            sum(pixels + half * 8 * geometry<KX, KY>::pitch + 16 * tile, line);
            bytes[half][tile][0] = __byte_perm(line[0], line[1], 0x5140);
            bytes[half][tile][1] = __byte_perm(line[2], line[3], 0x5140);
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            h.low[tile][i][slot] = __byte_perm(bytes[0][tile][i], bytes[1][tile][i], 0x5410);
            h.high[tile][i][slot] = __byte_perm(bytes[0][tile][i], bytes[1][tile][i], 0x7632);
        }
    }
}

/* Where in the window pair k of a history's steps lies, when the newest is in `slot`: its first step. An odd one has
   weights of its own. */
template <int KY> TWI_DEVICE int place_of_pair(int k, int slot)
{
    return (2 * k + 4 * KY - slot - 1) % (2 * KY);
}

/* Byte BYTE of the results of 4 neighbouring columns, for two rows: what columns 0-1 and 2-3 have in a thread. */
template <int BYTE> TWI_DEVICE void pack_rows(const uint32_t (*results)[4], uint32_t *words)
{
    constexpr unsigned both = BYTE | (BYTE + 4) << 4;
#pragma unroll
    for (int j = 0; j < 2; j++)
        words[j] = __byte_perm(__byte_perm(results[0][2 * j], results[0][2 * j + 1], both),
                               __byte_perm(results[1][2 * j], results[1][2 * j + 1], both), 0x5410);
}

/* ---- The march ----------------------------------------------------------------------------------------- */

/* Stores a row, of which `count` elements are left from the thread's first on: pairs of threads exchange words, so
   that each has 8 neighbouring bytes. */
TWI_DEVICE void store_row(uint8_t *place, bool exists, bool whole, int count, uint32_t tile0, uint32_t tile1)
{
    const bool odd = threadIdx.x % 2;
    const uint32_t other = __shfl_xor_sync(~0u, odd ? tile0 : tile1, 1);
    const uint32_t words[2] = {odd ? other : tile0, odd ? tile1 : other};
    if (!exists)
        return;
    if (whole)
        *(uint2 *)place = make_uint2(words[0], words[1]);
    else
        store_first<2>(place, count, words);
}

/* Matrices of weights in shared memory. The march's first barrier comes before their first use. */
template <typename MATRICES> struct weights_of {
    uint32_t first; /* the thread's words of the first part */

    TWI_DEVICE_MEMBER void bring(const void *from)
    {
        extern __shared__ __align__(16) uint8_t stages[];
        uint4 *const to = (uint4 *)(stages + MATRICES::place);
        for (int i = threadIdx.y * 32 + threadIdx.x; i < MATRICES::parts * 32; i += THREADS)
            to[i] = __ldg((const uint4 *)from + i);
        first = (uint32_t)__cvta_generic_to_shared(to + threadIdx.x);
    }

    TWI_DEVICE_MEMBER void load(int part, uint32_t *words)
    {
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(first + part * PART_BYTES)
                     : "memory");
    }
};

/* What a block makes. */
struct strip {
    int64_t left; /* the first column */
    int64_t top;  /* the first row */
    int rows;
    int steps;
};

/* The strip of a block: those at the rows' ends come first. */
template <int KX, int KY> TWI_DEVICE void find_strip(const twi_cuda_box &box, strip &own)
{
    uint32_t x = blockIdx.x;
    uint32_t y = blockIdx.y;
    if (gridDim.x > 2) {
        const uint32_t block = y * gridDim.x + x;
        const uint32_t ends = 2 * gridDim.y;
        const uint32_t inner = gridDim.x - 2;
        x = block < ends ? block % 2 * (gridDim.x - 1) : (block - ends) % inner + 1;
        y = block < ends ? block / 2 : (block - ends) / inner;
    }
    own.left = box.left + x * (int64_t)(32 * WARPS);
    own.top = box.first + y * (int64_t)box.strip_height;
    own.rows = (int)(box.last - own.top < box.strip_height ? box.last - own.top : box.strip_height);
    own.steps = (own.rows + STEP - 1) / STEP + geometry<KX, KY>::groups - 1;
}

/* A block's work. FILTER holds KX, KY, weights and a history. It is asked to
     prepare()                   its weights, while the first copies are on their way,
     take(pixels, slot)          sum a stage along its rows, into a slot of its history,
     make(tile, slot, words)     outputs of 4 neighbouring columns of a tile in two rows, 8 apart; the newest row sums
                                 are in `slot`.
   INSIDE: s.inside. */
template <bool INSIDE, typename FILTER>
TWI_DEVICE void march_strip(const twi_cuda_box &box, const strip &own, staging &s, FILTER &filter)
{
    using g = geometry<FILTER::KX, FILTER::KY>;
    extern __shared__ __align__(16) uint8_t stages[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(stages);
    const int lane = threadIdx.x;
    const int64_t width = box.width * box.channels;
    const int64_t mine = own.left + 32 * threadIdx.y;
    const int64_t x = mine + (lane % 2 ? 16 + 4 * (lane % 4 - 1) : 4 * (lane % 4));
    const bool whole = kept(mine + 32 <= width && ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 8 == 0);
    const uint32_t pixels = shared + lane / 4 * g::pitch + 32 * threadIdx.y + g::pad - g::reach_x + 8 * (lane % 4);
    int32_t *columns = (int32_t *)(stages + g::columns);
    if (!INSIDE)
        find_columns(box, s.left, g::staged, columns);
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < own.steps)
            stage_step<FILTER::KX, INSIDE>(box, i * STEP * g::pitch, columns, s);
        commit_copies();
    }
    filter.prepare();
    const int count = (int)(width - x < 8 ? width - x : 8);
    uint8_t *out = (uint8_t *)box.dst + (own.top + lane / 4) * box.dst_pitch + x;
    int row = lane / 4 - STEP * (g::groups - 1); /* the output row of a step, from the strip's first */
    for (int base = 0; base < own.steps; base += g::unroll) {
#pragma unroll
        for (int u = 0; u < g::unroll; u++) {
            const int step = base + u;
            if (step >= own.steps)
                return;
            wait_for_oldest_copies();
            __syncthreads();
            if (!INSIDE && s.mends) {
                mend<FILTER::KX, FILTER::KY>(box, shared + u % STAGES * STEP * g::pitch, columns, s);
                __syncthreads();
            }
            if (step + STAGES - 1 < own.steps)
                stage_step<FILTER::KX, INSIDE>(box, (u + STAGES - 1) % STAGES * STEP * g::pitch, columns, s);
            commit_copies();
            filter.take(pixels + u % STAGES * STEP * g::pitch, u % g::groups);
            if (step >= g::groups - 1) {
                uint32_t words[TILES][2];
                for (int tile = 0; tile < TILES; tile++)
                    filter.make(tile, u % g::groups, words[tile]);
                store_row(out, row < own.rows, whole, count, words[0][0], words[1][0]);
                store_row(out + 8 * box.dst_pitch, row + 8 < own.rows, whole, count, words[0][1], words[1][1]);
                out += STEP * box.dst_pitch;
            }
            row += STEP;
        }
    }
}

template <typename FILTER> TWI_DEVICE void march_band(const twi_cuda_box &box, FILTER &filter)
{
    extern __shared__ __align__(16) uint8_t stages[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(stages);
    strip own;
    staging s;
    find_strip<FILTER::KX, FILTER::KY>(box, own);
    begin_staging<FILTER::KX, FILTER::KY>(box, shared, own.left, own.top, own.steps, s);
    if (s.inside)
        march_strip<true>(box, own, s, filter);
    else
        march_strip<false>(box, own, s, filter);
}
#endif

#endif
