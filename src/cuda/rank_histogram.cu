/*
 * rank, variant `histogram`: any rank of large windows, u8. A block marches down a strip, a row a step. For each column
 * it keeps the histogram of the window's rows, as a tree of counts: the node of the bits b of a value counts the
 * pixels whose value begins with b and a 0. So a pixel that enters or leaves changes a count a bit, where the bit
 * is 0.
 *   down:    a thread takes the pixel that enters its column's histogram, and the one that leaves.
 *   across:  a thread finds the value of one output from the highest bit down. It adds its columns' counts in one node,
 *            four of them an instruction: if they are more than the rank still to go, the bit is 0, else it is 1 and
 * the rank goes down by the sum. No step depends on the pixels, so all images take the same time but for conflicts in
 * shared memory.
 */
#include "core/exact.h"
#include "cuda/cuda.h"

#define TWI_DEVICE static __device__ __forceinline__

/* Bytes from a node's counts to the next node's. Threads side by side read nodes near each other, 9 words of each: the
   words of neighbouring nodes lie in other banks. */
template <int THREADS> static constexpr int pitch = THREADS + 4 * 9;

extern __shared__ uint32_t counts[];

/* The counts of a value's path change by `change`, a 1 or -1 in the column's byte, but for the nodes above bit
   `below`. */
template <int THREADS> TWI_DEVICE void walk(uint32_t value, int below, uint32_t change, uint32_t *column)
{
#pragma unroll
    for (int bit = 7; bit >= 0; bit--) {
        const uint32_t node = (256 | value) >> (bit + 1);
        if (bit <= below && !(value >> bit & 1))
            atomicAdd(column + node * (pitch<THREADS> / 4), change);
    }
}

/* The sum of the counts in a node, WORDS words or, 0, as many as said. `mask`: which bytes of the first and of the last
   two words count. */
template <int WORDS> TWI_DEVICE uint32_t sum_of(const uint32_t *node, int words, const uint32_t *mask)
{
    const int last = (WORDS > 0 ? WORDS : words) - 1;
    uint32_t sum = __dp4a(node[0], mask[0], 0u);
#pragma unroll
    for (int k = 1; k < last - 1; k++)
        sum = __dp4a(node[k], 0x01010101u, sum);
    return __dp4a(node[last], mask[2], __dp4a(node[last - 1], mask[1], sum));
}

/* Word k of those that hold bytes `first` to first + count - 1: a 1 in each such byte. */
TWI_DEVICE uint32_t mask_of(int k, int first, int count)
{
    uint32_t mask = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        mask |= 4 * k + i >= first && 4 * k + i < first + count ? 1u << (8 * i) : 0;
    return mask;
}

/* What a thread's column reads in a row, by the border's rule. */
TWI_DEVICE uint32_t pixel(const twi_cuda_box &box, int64_t column, int64_t y)
{
    const int64_t row = twi_border_index(y, box.height, box.border);
    return row < 0 || column < 0 ? (uint8_t)box.value : __ldg((const uint8_t *)box.src + row * box.src_pitch + column);
}

template <int THREADS, int WORDS>
static __global__ void __launch_bounds__(THREADS) rank_histogram(const __grid_constant__ twi_cuda_order order)
{
    const twi_cuda_box &box = order.box;
    const int thread = threadIdx.x;
    const int64_t left = box.left + blockIdx.x * (int64_t)box.strip_width;
    const int64_t top = box.first + blockIdx.y * (int64_t)box.strip_height;
    const int rows = (int)(box.last - top < box.strip_height ? box.last - top : box.strip_height);
    /* Neighbouring threads take columns of different words: they would wait for each other in one. */
    const int own = thread % (THREADS / 4) * 4 + thread / (THREADS / 4);
    const int64_t column = twi_border_index(left - box.anchor_x + own, box.width, box.border);
    uint32_t *const counted = counts + own / 4;
    const uint32_t one = 1u << (own % 4 * 8);
    const uint32_t *const window = counts + thread / 4;
    const int words = (box.window_width + 6) / 4;
    const int last = (WORDS > 0 ? WORDS : words) - 1;
    const uint32_t mask[3] = {mask_of(0, thread % 4, box.window_width), mask_of(last - 1, thread % 4, box.window_width),
                              mask_of(last, thread % 4, box.window_width)};
    const bool makes = thread < box.strip_width && left + thread < box.width;
    uint8_t *place = (uint8_t *)box.dst + top * box.dst_pitch + left + thread;

    for (int i = thread; i < 256 * (pitch<THREADS> / 4); i += THREADS)
        counts[i] = 0;
    __syncthreads();
    const int64_t begin = top - box.anchor_y;
#pragma unroll 1
    for (int j = 0; j < box.window_height; j++)
        walk<THREADS>(pixel(box, column, begin + j), 7, one, counted);

#pragma unroll 1
    for (int r = 0; r < rows; r++, place += box.dst_pitch) {
        __syncthreads();
        const uint32_t leaves = pixel(box, column, begin + r);
        const uint32_t enters = pixel(box, column, begin + r + box.window_height);
        uint32_t rank = order.rank;
        uint32_t node = 1;
        if (makes) {
#pragma unroll
            for (int bit = 0; bit < 8; bit++) {
                const uint32_t below = sum_of<WORDS>(window + node * (pitch<THREADS> / 4), words, mask);
                const bool one_bit = rank >= below;
                rank -= one_bit ? below : 0;
                node = 2 * node + one_bit;
            }
            *place = (uint8_t)node;
        }
        __syncthreads();
        /* above the highest bit in which they differ both change the same counts */
        const int below = 31 - __clz((int)(enters ^ leaves));
        walk<THREADS>(enters, below, one, counted);
        walk<THREADS>(leaves, below, 0u - one, counted);
    }
}

#define KERNELS(threads, words)                                                                                        \
    {                                                                                                                  \
        threads, words, 256 * pitch<threads>, (const void *)rank_histogram<threads, words>                             \
    }

extern "C" const twi_cuda_histogram twi_cuda_rank_histogram[TWI_CUDA_HISTOGRAMS] = {
    KERNELS(256, 3), KERNELS(256, 4), KERNELS(256, 5), KERNELS(256, 9), KERNELS(256, 0), KERNELS(768, 0),
};
