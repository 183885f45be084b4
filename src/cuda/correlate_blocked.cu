/*
 * correlate, variant `blocked`: any mask, any type. A thread makes ALONG x DOWN outputs, whose sums stay in its
 * registers while the rows that they read pass through shared memory, converted once. A value that it loads meets DOWN
 * weights and the values beside it: 36 products for a value and a vector of weights.
 *
 * ALONG is odd, so that the threads of a warp, which lie so far apart, read from different banks. Each output takes its
 * taps in row-major order: input rows come from the top, and their values from the left.
 */
#include "cuda/sum.cuh"

enum { ALONG = TWI_CUDA_BLOCKED_ALONG, DOWN = TWI_CUDA_BLOCKED_DOWN, WARPS = TWI_CUDA_BLOCKED_WARPS };

/* The weights that an input row's value has for DOWN outputs, one below the other. */
template <typename Mask>
static __device__ __forceinline__ void load_weights(const void *weights, int32_t index, Mask *to)
{
    constexpr int vectors = DOWN * (int)sizeof(Mask) / 16;
    const uint4 *const from = (const uint4 *)weights + (int64_t)index * vectors;
    uint4 raw[vectors];
#pragma unroll
    for (int i = 0; i < vectors; i++)
        raw[i] = __ldg(from + i);
#pragma unroll
    for (int r = 0; r < DOWN; r++)
        to[r] = ((const Mask *)raw)[r];
}

/* Adds an input row, of which `line` is the thread's first value, `step` elements from pixel to pixel. It is row `j` of
   the mask for the thread's first output, j - 1 for the one below, and so on. ALL: all of these are rows of the mask.
 */
template <typename S, bool ALL, typename Pixel>
static __device__ __forceinline__ void add_row(const twi_cuda_correlate_blocked &a, const Pixel *line, int32_t step,
                                               int32_t j, S (*sum)[ALONG])
{
    typedef typename twi_terms<S>::Mask Mask;
    const int32_t width = a.box.window_width;
    const int32_t height = a.box.window_height;
    Pixel value[ALONG];
    Mask next[DOWN];
    load_weights<Mask>(a.weights, j * width, next);
#pragma unroll
    for (int p = 0; p < ALONG - 1; p++, line += step)
        value[p] = *line;
#pragma unroll 1
    for (int32_t first = 0; first < width; first += ALONG) {
#pragma unroll
        for (int u = 0; u < ALONG; u++) {
            Mask weight[DOWN];
            if (first + u >= width)
                break;
            value[(u + ALONG - 1) % ALONG] = *line;
            line += step;
#pragma unroll
            for (int r = 0; r < DOWN; r++)
                weight[r] = next[r];
            load_weights<Mask>(a.weights, j * width + first + u + 1, next); /* the last is followed by one more */
#pragma unroll
            for (int r = 0; r < DOWN; r++)
                if (ALL || (j >= r && j - r < height))
#pragma unroll
                    for (int p = 0; p < ALONG; p++)
                        sum[r][p] = twi_multiply_add(sum[r][p], weight[r], value[(u + p) % ALONG]);
        }
    }
}

/* Brings image rows y ... y + rows - 1 into shared memory, `columns` elements from pixel `left` on. */
template <typename T, typename Pixel>
static __device__ __forceinline__ void fill_rows(const twi_cuda_box &box, Pixel *tile, int32_t pitch, int64_t left,
                                                 int32_t columns, int64_t y, int32_t rows)
{
    const bool inside = left >= 0 && left * box.channels + columns <= box.width * box.channels;
    for (int32_t j = threadIdx.y; j < rows; j += WARPS) {
        const int64_t from = twi_border_index(y + j, box.height, box.border);
        Pixel *const to = tile + j * pitch;
        if (from >= 0 && inside) {
            const T *const row = twi_row<T>(box, from) + left * box.channels;
            for (int32_t i = threadIdx.x; i < columns; i += 32)
                to[i] = (Pixel)row[i];
        } else {
            for (int32_t i = threadIdx.x; i < columns; i += 32) {
                const int32_t pixel = i / box.channels;
                to[i] = (Pixel)twi_read<T>(box, left + pixel, y + j, i - pixel * box.channels);
            }
        }
    }
}

template <typename T, typename S>
static __global__ void __launch_bounds__(32 * WARPS) blocked(const __grid_constant__ twi_cuda_correlate_blocked a)
{
    typedef typename twi_terms<S>::Pixel Pixel;
    extern __shared__ __align__(16) unsigned char room[];
    const twi_cuda_box &box = a.box;
    Pixel *const tile = (Pixel *)room;
    const int32_t channels = box.channels;
    const int32_t groups = 32 / channels; /* of ALONG pixels, in a warp */
    const int32_t group = threadIdx.x / channels;
    const int32_t channel = threadIdx.x % channels;
    const int64_t left = (box.left + blockIdx.x * (int64_t)(groups * ALONG * channels)) / channels;
    const int64_t top = box.first + blockIdx.y * (int64_t)(WARPS * DOWN);
    const int32_t mine = threadIdx.y * DOWN; /* the first output row, from the block's */
    const int32_t height = box.window_height;
    const int32_t all = WARPS * DOWN + height - 1;
    const int32_t columns = (groups * ALONG + box.window_width - 1) * channels;
    /* threads beyond the last group, of 3 channels, do its work again */
    const int32_t place = (group < groups ? group : groups - 1) * ALONG * channels + channel;
    S sum[DOWN][ALONG];
#pragma unroll
    for (int r = 0; r < DOWN; r++)
#pragma unroll
        for (int p = 0; p < ALONG; p++)
            sum[r][p] = 0;
    for (int32_t first = 0; first < all; first += a.rows) {
        const int32_t end = first + a.rows < all ? first + a.rows : all;
        __syncthreads(); /* the rows before are no longer needed */
        fill_rows<T>(box, tile, a.pitch, left - box.anchor_x, columns, top - box.anchor_y + first, end - first);
        __syncthreads();
        for (int32_t i = first > mine ? first : mine; i < end && i < mine + DOWN + height - 1; i++) {
            const int32_t j = i - mine;
            const Pixel *const line = tile + (i - first) * a.pitch + place;
            if (j >= DOWN - 1 && j < height)
                add_row<S, true>(a, line, channels, j, sum);
            else
                add_row<S, false>(a, line, channels, j, sum);
        }
    }
    if (group >= groups)
        return;
        /* a row a turn, the others moving up: code that runs once takes longer to fetch than to run */
#pragma unroll 1
    for (int r = 0; r < DOWN; r++) {
        const int64_t y = top + mine + r;
        char *const row = (char *)box.dst + y * box.dst_pitch;
#pragma unroll
        for (int p = 0; p < ALONG; p++) {
            const int64_t pixel = left + group * ALONG + p;
            if (y < box.last && pixel < box.width)
                twi_finish<S>(box, a.scale, row, pixel * channels + channel, sum[0][p]);
#pragma unroll
            for (int k = 0; k < DOWN - 1; k++)
                sum[k][p] = sum[k + 1][p];
        }
    }
}

#define INTEGERS(T)                                                                                                    \
    {                                                                                                                  \
        (const void *)blocked<T, int32_t>, (const void *)blocked<T, int64_t>, NULL, (const void *)blocked<T, float>,   \
            NULL                                                                                                       \
    }

extern "C" const void *const twi_cuda_correlate_blocked_kernels[TWI_CUDA_TYPES][TWI_CUDA_SUMS] = {
    INTEGERS(uint8_t),
    INTEGERS(uint16_t),
    INTEGERS(int16_t),
    INTEGERS(int32_t),
    {NULL, NULL, NULL, (const void *)blocked<float, float>, NULL},
    {NULL, NULL, NULL, NULL, (const void *)blocked<double, double>},
};
