/*
 * correlate, variant `tensor`: u8 images and integer masks, as products of banded matrices of the mask's rows with
 * pixels on the tensor cores, exactly.
 *
 * A block marches down a strip of 128 columns in steps of 64 rows for every four warps. All that a step reads is
 * brought into shared memory while the one before is worked on. A warp makes 32 columns x 64 rows, a tile of 16 columns
 * being (16 columns x 32 weights) * (32 pixels x 8 rows), for each row of the mask and each part of 32 pixels. Rows j,
 * j + 8, j + 16, ... of a mask take turns: pixels are held in blocks of 8 rows, of which all but one are those of the
 * turn before. Masks beyond signed bytes have two or three planes: sums of the upper one times 256 begin those of the
 * next.
 *
 * mma.m16n8k32 (s8 x u8 -> s32), thread (g, q) = (lane / 4, lane % 4): A word i has rows g + 8 (i % 2), columns
 * 16 (i / 2) + 4q ... + 3; B word i has rows 16 i + 4q ... + 3 of column g; C has rows g (0, 1) and g + 8 (2, 3),
 * columns 2q and 2q + 1. Rows g and g + 8 of A stand for the output columns 2g and 2g + 1.
 */
#include "cuda/band.cuh"
#include "cuda/quotient.cuh"
#include "cuda/row.cuh"

enum { BLOCKS = TWI_CUDA_BAND_HEIGHT / 8, TOGETHER = 4 }; /* blocks of 8 rows that a warp makes, and stores at once */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* sum += a * b, weights times pixels */
TWI_DEVICE void multiply_add(int32_t *sum, const uint4 &a, const uint32_t *b)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

TWI_DEVICE uint32_t load_shared_word(uint32_t shared)
{
    uint32_t word;
    asm volatile("ld.shared.u32 %0,[%1];" : "=r"(word) : "r"(shared) : "memory");
    return word;
}

/* An 8 x 8 matrix of halves of words, of which thread (g, q) has row g, columns 2q and 2q + 1, turned. */
TWI_DEVICE uint32_t turn(uint32_t word)
{
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0,%0;" : "+r"(word));
    return word;
}

/* ---- Staging ----------------------------------------------------------------------------------------- */

/* Begins to bring the rows from y on, `rows` of them, into shared memory, a piece of 16 bytes a thread and turn. */
TWI_DEVICE void stage_rows(const twi_cuda_correlate_tensor &a, uint32_t shared, const int32_t *columns, int64_t left,
                           int64_t y, int rows)
{
    const twi_cuda_box &box = a.box;
    const int pieces = a.staged / 16;
    const bool inside = left >= 0 && left + a.staged <= box.width * box.channels && y >= 0 && y + rows <= box.height &&
                        ((uintptr_t)box.src | (uintptr_t)box.src_pitch) % 16 == 0;
    const int threads = blockDim.y * 32;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int further = threads / pieces;
    const int beside = threads - further * pieces;
    int row = thread / pieces;
    int piece = thread - row * pieces;
#pragma unroll 1
    while (row < rows) {
        const uint32_t to = shared + row * a.pitch + 16 * piece;
        if (inside)
            copy_async(to, (const uint8_t *)box.src + (y + row) * box.src_pitch + left + 16 * piece);
        else
            stage_carefully(box, to, near_row(box, y + row), columns + 16 * piece);
        row += further;
        piece += beside;
        if (piece >= pieces) {
            piece -= pieces;
            row++;
        }
    }
    commit_copies();
}

/* ---- Sums ---------------------------------------------------------------------------------------------- */

/* Of an 8-row block of a warp's outputs: [tile of 16 columns][element of C] */
typedef int32_t block_sums[TILES][4];

/* A thread's pixels of a block of 8 rows, for each tile. */
typedef uint32_t pixel_block[TILES][2];

TWI_DEVICE void load_block(uint32_t at, pixel_block &block)
{
    block[0][0] = load_shared_word(at);
    block[0][1] = load_shared_word(at + 16);
    block[1][0] = block[0][1];
    block[1][1] = load_shared_word(at + 32);
}

/* The mask's rows of a part: `matrices` is the thread's word of the first, `pixels` of the staged rows. */
TWI_DEVICE void add_part(const uint4 *matrices, uint32_t pixels, int pitch, int height, block_sums *sums)
{
    uint4 next = __ldg(matrices);
#pragma unroll 1
    for (int begin = 0; begin < 8 && begin < height; begin++) {
        pixel_block block[BLOCKS];
        uint32_t at = pixels + begin * pitch;
#pragma unroll
        for (int n = 0; n < BLOCKS; n++, at += 8 * pitch)
            load_block(at, block[n]);
#pragma unroll 1
        for (int base = begin; base < height; base += 8 * BLOCKS) {
#pragma unroll
            for (int u = 0; u < BLOCKS; u++) { /* block n of the outputs reads block (n + u) % BLOCKS */
                const int row = base + 8 * u;
                if (row >= height)
                    break;
                const bool more = row + 8 < height;
                const uint4 weights = next;
                next = __ldg(matrices + 32 * (more ? row + 8 : begin + 1 < height ? begin + 1 : 0));
#pragma unroll
                for (int n = 0; n < BLOCKS; n++)
#pragma unroll
                    for (int tile = 0; tile < TILES; tile++)
                        multiply_add(sums[n][tile], weights, block[(n + u) % BLOCKS][tile]);
                if (more) {
                    load_block(at, block[u]);
                    at += 8 * pitch;
                }
            }
        }
    }
}

TWI_DEVICE void add_planes(const twi_cuda_correlate_tensor &a, uint32_t pixels, block_sums *sums)
{
    const int height = a.box.window_height;
    const uint4 *matrices = (const uint4 *)a.matrices + threadIdx.x;
    int32_t *const all = &sums[0][0][0];
#pragma unroll
    for (int i = 0; i < BLOCKS * TILES * 4; i++)
        all[i] = a.planes == 1 ? a.quotient.start : 0;
#pragma unroll 1
    for (int plane = 0; plane < a.planes; plane++) {
        if (plane > 0) {
#pragma unroll
            for (int i = 0; i < BLOCKS * TILES * 4; i++)
                all[i] = all[i] * 256 + (plane == a.planes - 1 ? a.quotient.start : 0);
        }
#pragma unroll 1
        for (int part = 0; part < a.parts; part++, matrices += 32 * height)
            add_part(matrices, pixels + 32 * part, a.pitch, height, sums);
    }
}

/* ---- Results -------------------------------------------------------------------------------------------- */

/* From elements of a tile as a thread has its sums, output columns 2g and 2g + 1 of rows 2q and 2q + 1, to those at
   columns 4q ... 4q + 3 of row g. */
template <typename T> TWI_DEVICE void turn_tile(uint32_t *words)
{
    if constexpr (sizeof(T) == 1) {
        words[0] = turn(words[0]);
    } else if constexpr (sizeof(T) == 2) {
        const uint32_t even = turn(words[0]);
        const uint32_t odd = turn(words[1]);
        words[0] = __byte_perm(even, odd, 0x5410);
        words[1] = __byte_perm(even, odd, 0x7632);
    } else {
        const uint32_t each[4] = {words[0], words[1], words[2], words[3]};
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t low = turn(__byte_perm(each[2 * i], each[2 * i + 1], 0x5410));
            const uint32_t high = turn(__byte_perm(each[2 * i], each[2 * i + 1], 0x7632));
            words[i] = __byte_perm(low, high, 0x5410);
            words[i + 2] = __byte_perm(low, high, 0x7632);
        }
    }
}

/* A thread's outputs of a row, four of each tile, from element x on (and x + 16). WHOLE: all of the warp's exist, at
   multiples of 16 bytes. */
template <typename T, bool WHOLE>
TWI_DEVICE void store_tiles(const twi_cuda_box &box, const uint32_t (*tiles)[sizeof(T)], int64_t x, int64_t y)
{
    char *row = (char *)box.dst + y * box.dst_pitch;
    const bool exists = WHOLE || y < box.last;
    const int64_t width = box.width * box.channels;
    if constexpr (sizeof(T) == 1) { /* pairs of threads exchange words, for 8 neighbouring bytes each */
        const int64_t mine = x + (threadIdx.x % 2 ? 12 : 0);
        const int64_t left = WHOLE ? 8 : width - mine;
        store_row((uint8_t *)row + mine, exists, WHOLE, left < 8 ? (int)left : 8, tiles[0][0], tiles[1][0]);
    } else {
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            T *place = (T *)row + x + 16 * tile;
            if constexpr (WHOLE && sizeof(T) == 2) {
                *(uint2 *)place = make_uint2(tiles[tile][0], tiles[tile][1]);
            } else if constexpr (WHOLE) {
                store16(place, tiles[tile]);
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (exists && x + 16 * tile + i < width)
                        place[i] = get_element<T>(tiles[tile], i);
            }
        }
    }
}

/* Sums of N blocks to elements, together: one of them after the other would wait for each instruction. */
template <typename T, int N>
TWI_DEVICE void store_blocks(const twi_cuda_correlate_tensor &a, const block_sums *sums, int64_t x, int64_t y,
                             bool whole)
{
    int32_t ordered[N][TILES][4];
    uint32_t words[N][TILES][sizeof(T)];
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
#pragma unroll
            for (int i = 0; i < 4; i++) /* what is turned are halves of words: of bytes, a row's two columns */
                ordered[n][tile][i] = sums[n][tile][sizeof(T) == 1 ? i / 2 + i % 2 * 2 : i];
        }
    }
    finish<T, N * TILES * 4>(a.quotient, &ordered[0][0][0], &words[0][0][0]);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
            turn_tile<T>(words[n][tile]);
    const int64_t row = y + threadIdx.x / 4;
    if (whole && y + 8 * N <= a.box.last) {
#pragma unroll
        for (int n = 0; n < N; n++)
            store_tiles<T, true>(a.box, words[n], x, row + 8 * n);
    } else {
#pragma unroll
        for (int n = 0; n < N; n++)
            store_tiles<T, false>(a.box, words[n], x, row + 8 * n);
    }
}

template <typename T> TWI_DEVICE void march(const twi_cuda_correlate_tensor &a)
{
    extern __shared__ __align__(16) uint8_t stages[];
    const twi_cuda_box &box = a.box;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(stages);
    const int lane = threadIdx.x;
    const int across = threadIdx.y % WARPS;
    const int down = threadIdx.y / WARPS;
    const int step = TWI_CUDA_BAND_HEIGHT * (blockDim.y / WARPS);
    const int rows = step + box.window_height - 1; /* that a step reads */
    const int pad = (a.before + 15) / 16 * 16;
    const int64_t left = box.left + blockIdx.x * (int64_t)TWI_CUDA_BAND_WIDTH;
    const int64_t end = box.first + (blockIdx.y + 1) * (int64_t)box.strip_height;
    const int64_t x = left + 32 * across + 4 * (lane % 4);
    const bool whole = left + 32 * across + 32 <= box.width * box.channels &&
                       ((uintptr_t)box.dst | (uintptr_t)box.dst_pitch) % 16 == 0;
    const uint32_t pixels =
        shared + (TWI_CUDA_BAND_HEIGHT * down + lane / 4) * a.pitch + 32 * across + pad - a.before + 4 * (lane % 4);
    int32_t *const columns = (int32_t *)(stages + a.stages * rows * a.pitch);
    int64_t y = end - box.strip_height;
    uint32_t offset = 0; /* of the stage that is worked on */
    find_columns(box, left - pad, a.staged, columns);
    stage_rows(a, shared, columns, left - pad, y - box.anchor_y, rows);
#pragma unroll 1
    for (; y < end && y < box.last; y += step) {
        block_sums sums[BLOCKS];
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        const uint32_t next = a.stages > 1 && offset == 0 ? rows * a.pitch : 0;
        if (y + step < end && y + step < box.last)
            stage_rows(a, shared + next, columns, left - pad, y + step - box.anchor_y, rows);
        add_planes(a, pixels + offset, sums);
#pragma unroll
        for (int n = 0; n < BLOCKS; n += TOGETHER)
            store_blocks<T, TOGETHER>(a, sums + n, x, y + TWI_CUDA_BAND_HEIGHT * down + 8 * n, whole);
        offset = next;
    }
}
#endif

/* Up to 16 warps, whose sums leave no room for more in the registers. */
template <typename T>
static __global__ void __launch_bounds__(512, 1) tensor(const __grid_constant__ twi_cuda_correlate_tensor a)
{
#if __CUDA_ARCH__ >= 800
    march<T>(a);
#endif
}

extern "C" const void *const twi_cuda_correlate_tensor_kernels[TWI_CUDA_TYPES] = {
    (const void *)tensor<uint8_t>, (const void *)tensor<uint16_t>, (const void *)tensor<int16_t>,
    (const void *)tensor<int32_t>, (const void *)tensor<float>,    NULL,
};
