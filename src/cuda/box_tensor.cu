/*
 * box, variant `tensor`: the mean as two products with banded matrices of ones, on the tensor cores, exactly.
 *
 * A block marches down a strip of 128 columns in steps of 16 rows, 32 columns a warp. In a step a warp
 *   sums along rows:    (16 columns x 32 NK weights) * (32 NK pixels x 8 rows)      -> 16-bit row sums,
 *   sums down columns:  (16 rows x 32 NK weights) * (32 NK row sums x 8 columns), for the low and the high byte.
 * The result of the first product lies in the registers as the second wants its operand, so the row sums of the
 * last 2 NK steps never leave the registers. The image comes in by asynchronous copies, STAGES - 1 steps ahead.
 *
 * mma.m16n8k32 (u8 x u8 -> s32), thread (g, q) = (lane / 4, lane % 4): A word i has rows g + 8 (i % 2), columns
 * 16 (i / 2) + 4q ... + 3; B word i has rows 16 i + 4q ... + 3 of column g; C has rows g (0, 1) and g + 8 (2, 3),
 * columns 2q and 2q + 1. The order of the summed dimension is free as long as A and B agree.
 */
#include "cuda/march.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS, STAGES = 4, STEP = 16, TILES = 2 };

/* NK sets how far a window may reach from its output, in each direction. */
template <int NK> struct geometry {
    static constexpr int reach = 16 * NK - 8;
    static constexpr int pad = 16 * NK; /* columns staged on either side of the block's own */
    static constexpr int staged = 32 * WARPS + 2 * pad;
    static constexpr int pieces = staged / 16;
    static constexpr int pitch = pieces % 2 ? staged : staged + 16; /* an odd number of pieces: no bank conflicts */
    static constexpr int groups = 2 * NK;                           /* steps that a window spans */
    static constexpr int unroll = groups > STAGES ? groups : STAGES;
    static constexpr int columns = STAGES * STEP * pitch; /* where the table of columns lies, behind the stages */
    static constexpr int shared = columns + staged * (int)sizeof(int32_t);
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

TWI_DEVICE void commit_copies(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

TWI_DEVICE void wait_for_oldest_copies(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

TWI_DEVICE uint32_t load_shared(uint32_t shared)
{
    uint32_t word;
    asm volatile("ld.shared.u32 %0,[%1];" : "=r"(word) : "r"(shared) : "memory");
    return word;
}

TWI_DEVICE void store_shared(uint32_t shared, const uint32_t *words)
{
    asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(shared), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
}

/* ---- Weights ---------------------------------------------------------------------------------------- */

/* The column of a 16-wide tile that row m of the first product stands for: so that a thread ends with the four
   neighbours 4q ... 4q + 3. */
TWI_DEVICE int column_of(int m)
{
    return m < 8 ? 4 * (m / 2) + m % 2 : 4 * ((m - 8) / 2) + 2 + (m - 8) % 2;
}

/* Weights of the first product: word i of part k. */
template <int NK> TWI_DEVICE uint32_t row_weights(const twi_cuda_box &box, int k, int i)
{
    const int lane = threadIdx.x;
    const int x = column_of(lane / 4 + 8 * (i % 2));
    const int from = 32 * k + 16 * (i / 2) + 4 * (lane % 4) - geometry<NK>::reach - x;
    return ones(from + box.anchor_x, box.window_width);
}

/* Weights of the second: word i of part k. Of the row sums' registers, pairs of steps go into one product; `odd`
   tells whether the pair begins at an odd step of the window. Its bytes stand for rows 2q, 2q + 1, 2q + 8, 2q + 9. */
template <int NK> TWI_DEVICE uint32_t column_weights(const twi_cuda_box &box, int odd, int k, int i)
{
    const int lane = threadIdx.x;
    const int y = lane / 4 + 8 * (i % 2);
    const int step = (2 * k + odd + i / 2) % geometry<NK>::groups;
    const int from = STEP * step + 2 * (lane % 4) - geometry<NK>::reach - y + box.anchor_y;
    return __byte_perm(ones(from, box.window_height), ones(from + 8, box.window_height), 0x5410);
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

/* The pieces beyond are left to the first warps. */
template <int NK> TWI_DEVICE int further_row(void)
{
    return (threadIdx.y * 32 + threadIdx.x) / (geometry<NK>::pieces - 8);
}

template <int NK> TWI_DEVICE int further_piece(void)
{
    return 8 + threadIdx.x % (geometry<NK>::pieces - 8);
}

template <int NK> struct staging {
    const uint8_t *from; /* where the thread's piece lies in the step to come */
    const uint8_t *more; /* the same of a second one: some warps bring the pieces at the rows' ends */
    uint32_t to;         /* where they go in the first stage */
    uint32_t more_to;
    int64_t left; /* the first staged column */
    int64_t y;    /* the first row of the step to come */
    bool inside;  /* the block lies inside the image, and all pieces are aligned */
};

template <int NK>
TWI_DEVICE void begin_staging(const twi_cuda_box &box, uint32_t shared, int64_t left, int64_t top, int steps,
                              staging<NK> &s)
{
    using g = geometry<NK>;
    s.left = left - g::pad;
    s.y = top - g::reach;
    s.inside = s.left >= 0 && s.left + g::staged <= box.width && s.y >= 0 && s.y + STEP * steps <= box.height &&
               (((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 16 == 0);
    s.from = (const uint8_t *)box.src + (s.y + staged_row()) * box.src_pitch + s.left + 16 * staged_piece();
    s.more = (const uint8_t *)box.src + (s.y + further_row<NK>()) * box.src_pitch + s.left + 16 * further_piece<NK>();
    s.to = kept(shared + staged_row() * g::pitch + 16 * staged_piece());
    s.more_to = kept(shared + further_row<NK>() * g::pitch + 16 * further_piece<NK>());
}

/* For blocks at the image's edge: the column that each staged one is read from, -1 where it is the border's value. */
template <int NK> TWI_DEVICE void find_columns(const twi_cuda_box &box, int64_t left, int32_t *columns)
{
#pragma unroll 1
    for (int i = threadIdx.y * 32 + threadIdx.x; i < geometry<NK>::staged; i += THREADS)
        columns[i] = (int32_t)near_index(left + i, box.width, box.border);
    __syncthreads();
}

/* 16 pixels of a row, each from its column. */
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

/* A piece for blocks at the image's edge and for rows at any address. */
TWI_DEVICE void stage_carefully(const twi_cuda_box &box, uint32_t to, const uint8_t *row, const int32_t *columns)
{
    const int32_t first = columns[0];
    const bool plain = row && first >= 0 && columns[15] - first == 15;
    const uint32_t value = (uint8_t)box.value * 0x01010101u;
    uint32_t words[4] = {value, value, value, value};
    if (plain && (uintptr_t)(row + first) % 16 == 0) {
        copy_async(to, row + first);
        return;
    }
    if (plain && first >= 4 && first + 20 <= box.width)
        load_shifted<16>(row + first, words);
    else if (row && (first >= 0 || columns[15] >= 0))
        gather(box, row, columns, words);
    store_shared(to, words);
}

/* Begins to bring the next 16 rows into the stage that lies `offset` bytes behind the first. */
template <int NK>
TWI_DEVICE void stage_step(const twi_cuda_box &box, int offset, const int32_t *columns, staging<NK> &s)
{
    if (s.inside) {
        copy_async(s.to + offset, s.from);
        if (threadIdx.y < NK)
            copy_async(s.more_to + offset, s.more);
    } else {
        const uint8_t *row = near_row(box, s.y + staged_row());
#pragma unroll 1
        for (int piece = 0; piece < geometry<NK>::pieces - staged_piece(); piece += 8)
            stage_carefully(box, s.to + offset + 16 * piece, row, columns + 16 * (staged_piece() + piece));
    }
    s.from += STEP * box.src_pitch;
    s.more += STEP * box.src_pitch;
    s.y += STEP;
}

/* ---- The two products ---------------------------------------------------------------------------------- */

/* Row sums of a warp's 32 columns, the steps of a window: low bytes, and high bytes times 4, which are below 64: so the
   high bytes' weights, 64, are bytes too, and one sum takes in both. [tile][columns 0-1 or 2-3][step] */
template <int NK> struct history {
    uint32_t low[TILES][2][geometry<NK>::groups];
    uint32_t high[TILES][2][geometry<NK>::groups];
};

/* Sums a stage along its rows, into slot `slot` of the history. `pixels`: the thread's first word of the stage. */
template <int NK> TWI_DEVICE void sum_rows(uint32_t pixels, const uint32_t (*weights)[4], int slot, history<NK> &h)
{
    uint32_t bytes[2][TILES][2]; /* [upper or lower 8 rows]: two rows' low bytes, then their high bytes */
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            uint32_t sum[4] = {0, 0, 0, 0};
#pragma unroll
            for (int k = 0; k < NK; k++) {
                const uint32_t at = pixels + half * 8 * geometry<NK>::pitch + 16 * (tile + 2 * k);
                const uint32_t b0 = load_shared(at);
                const uint32_t b1 = load_shared(at + 16);
                multiply_add(sum, weights[k], b0, b1);
            }
            bytes[half][tile][0] = __byte_perm(sum[0], sum[1], 0x5140);
            bytes[half][tile][1] = __byte_perm(sum[2], sum[3], 0x5140);
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            h.low[tile][i][slot] = __byte_perm(bytes[0][tile][i], bytes[1][tile][i], 0x5410);
            h.high[tile][i][slot] = __byte_perm(bytes[0][tile][i], bytes[1][tile][i], 0x7632) << 2;
        }
    }
}

/* The weights of low and of high bytes, for pairs of steps that begin at an even and at an odd one of the window. */
template <int NK> struct column_matrix {
    uint32_t low[2][NK][4];
    uint32_t high[2][NK][4];
};

/* The means of 4 neighbouring columns of a tile in two rows, 8 apart. The newest row sums are in `slot`. A sum
   below 2^23 is, as a float's bits, sum * 2^-149; times 2^126 / n, plus 1, rounded down, that is the quotient in the
   last bits: see refuses_tensor() in march.c. */
template <int NK>
TWI_DEVICE void mean_columns(const history<NK> &h, int tile, int slot, const column_matrix<NK> &weights, uint32_t start,
                             float scale, uint32_t *means)
{
    constexpr int groups = geometry<NK>::groups;
    uint32_t mean[2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t sum[4] = {start, start, start, start};
#pragma unroll
        for (int k = 0; k < NK; k++) {
            const int place = (2 * k + 2 * groups - slot - 1) % groups; /* of the pair in the window */
            multiply_add(sum, weights.low[place % 2][place / 2], h.low[tile][i][2 * k], h.low[tile][i][2 * k + 1]);
            multiply_add(sum, weights.high[place % 2][place / 2], h.high[tile][i][2 * k], h.high[tile][i][2 * k + 1]);
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            mean[i][j] = __float_as_uint(__fmaf_rd(__uint_as_float(sum[j]), scale, 1.0f));
    }
#pragma unroll
    for (int j = 0; j < 2; j++)
        means[j] = __byte_perm(__byte_perm(mean[0][2 * j], mean[0][2 * j + 1], 0x0040),
                               __byte_perm(mean[1][2 * j], mean[1][2 * j + 1], 0x0040), 0x5410);
}

/* Stores a row, of which `count` pixels are left from the thread's first on: pairs of threads exchange words, so
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

template <int NK, bool NEAREST> TWI_DEVICE void march(const twi_cuda_box &box)
{
    using g = geometry<NK>;
    extern __shared__ __align__(16) uint8_t stages[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(stages);
    const int lane = threadIdx.x;
    const int64_t left = box.left + blockIdx.x * (int64_t)(32 * WARPS);
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    const int steps = (rows + STEP - 1) / STEP + g::groups - 1;
    const int64_t mine = left + 32 * threadIdx.y;
    const int64_t x = mine + (lane % 2 ? 16 + 4 * (lane % 4 - 1) : 4 * (lane % 4));
    const bool whole = kept(mine + 32 <= box.width && ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 8 == 0);
    const uint32_t pixels = shared + lane / 4 * g::pitch + 32 * threadIdx.y + g::pad - g::reach + 4 * (lane % 4);
    const uint32_t start = NEAREST ? (uint32_t)box.count / 2 : 0;
    const float scale = __frcp_ru((float)box.count) * 0x1p126f;
    staging<NK> s;
    history<NK> h;
    uint32_t across[NK][4];
    column_matrix<NK> down;
    int32_t *columns = (int32_t *)(stages + g::columns);
    begin_staging<NK>(box, shared, left, top, steps, s);
    if (!s.inside)
        find_columns<NK>(box, s.left, columns);
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < steps)
            stage_step<NK>(box, i * STEP * g::pitch, columns, s);
        commit_copies();
    }
#pragma unroll
    for (int k = 0; k < NK; k++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            across[k][i] = row_weights<NK>(box, k, i);
            down.low[0][k][i] = column_weights<NK>(box, 0, k, i);
            down.low[1][k][i] = column_weights<NK>(box, 1, k, i);
            down.high[0][k][i] = down.low[0][k][i] << 6;
            down.high[1][k][i] = down.low[1][k][i] << 6;
            if (NK > 1) /* no registers to spare */
                continue;
            down.high[0][k][i] = kept(down.high[0][k][i]);
            down.high[1][k][i] = kept(down.high[1][k][i]);
        }
    }
    const int count = (int)(box.width - x < 8 ? box.width - x : 8);
    uint8_t *out = (uint8_t *)box.dst + (top + lane / 4) * box.dst_pitch + x;
    int row = lane / 4 - STEP * (g::groups - 1); /* the output row of a step, from the strip's first */
    for (int base = 0; base < steps; base += g::unroll) {
#pragma unroll
        for (int u = 0; u < g::unroll; u++) {
            const int step = base + u;
            if (step >= steps)
                return;
            wait_for_oldest_copies();
            __syncthreads();
            if (step + STAGES - 1 < steps)
                stage_step<NK>(box, (u + STAGES - 1) % STAGES * STEP * g::pitch, columns, s);
            commit_copies();
            sum_rows<NK>(pixels + u % STAGES * STEP * g::pitch, across, u % g::groups, h);
            if (step >= g::groups - 1) {
                uint32_t means[TILES][2];
                for (int tile = 0; tile < TILES; tile++)
                    mean_columns<NK>(h, tile, u % g::groups, down, start, scale, means[tile]);
                store_row(out, row < rows, whole, count, means[0][0], means[1][0]);
                store_row(out + 8 * box.dst_pitch, row + 8 < rows, whole, count, means[0][1], means[1][1]);
                out += STEP * box.dst_pitch;
            }
            row += STEP;
        }
    }
}
#endif

/* How many blocks a multiprocessor holds is set by registers: with room for them the compiler does not compute
   addresses anew in every step. */
template <int NK> static constexpr int blocks = NK == 1 ? 5 : 4;

template <int NK, bool NEAREST>
static __global__ void __launch_bounds__(THREADS, blocks<NK>) tensor(const __grid_constant__ twi_cuda_box box)
{
#if __CUDA_ARCH__ >= 800
    march<NK, NEAREST>(box);
#endif
}

/* Short strips keep the rows that neighbouring blocks read close in time; long ones read fewer rows twice. */
extern "C" const twi_cuda_tensor twi_cuda_box_tensor[TWI_CUDA_TENSORS] = {
    {{(const void *)tensor<1, false>, (const void *)tensor<1, true>},
     geometry<1>::reach,
     geometry<1>::shared,
     blocks<1>,
     192},
    {{(const void *)tensor<2, false>, (const void *)tensor<2, true>},
     geometry<2>::reach,
     geometry<2>::shared,
     blocks<2>,
     704},
};
