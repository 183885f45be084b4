/*
 * box, variant tiled: a block first brings the part of the image that its outputs read, the tile, into shared
 * memory, then each thread sums its neighbourhood there. A 16x16 block of 3x3 windows on one channel has a
 * tile of 18x18 elements, which its 256 threads fill in strides: thread t takes elements t, t + 256, ...
 *
 * Between filling and reading is one barrier. Every thread of the block reaches it, also those that have no
 * output because the block hangs over the image's edge: they fill their share of the tile all the same. A
 * thread that returned earlier would leave holes in the tile, and the others would wait for it or not
 * as the hardware pleases: the language leaves a barrier that some threads skip undefined.
 */
#include "cuda/box.cuh"

extern __shared__ double twi_tile[];

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_tiled(const twi_cuda_box box)
{
    T *const tile = (T *)twi_tile;
    const int64_t columns = box.width * box.channels;
    const int64_t left = box.left + (int64_t)blockIdx.x * blockDim.x; /* the block's first output */
    const int64_t top = box.first + (int64_t)blockIdx.y * blockDim.y;
    const int32_t tile_width = (int32_t)blockDim.x + (box.window_width - 1) * box.channels;
    const int32_t tile_height = (int32_t)blockDim.y + box.window_height - 1;
    const int64_t tile_left = left - (int64_t)box.anchor_x * box.channels;
    const int64_t tile_top = top - box.anchor_y;
    const int32_t thread = (int32_t)(threadIdx.y * blockDim.x + threadIdx.x);
    const int32_t threads = (int32_t)(blockDim.x * blockDim.y);
    const bool inside =
        tile_left >= 0 && tile_top >= 0 && tile_left + tile_width <= columns && tile_top + tile_height <= box.height;

    for (int32_t at = thread; at < tile_width * tile_height; at += threads) {
        const int32_t j = at / tile_width;
        const int64_t element = tile_left + (at - j * tile_width);
        if (inside) {
            tile[at] = twi_row<T>(box, tile_top + j)[element];
        } else {
            /* left of the image elements are negative: the pixel is rounded down */
            const int64_t offset = (int64_t)box.anchor_x * box.channels;
            const int64_t pixel = twi_pixel(element + offset, box.channels) - box.anchor_x;
            tile[at] = twi_read<T>(box, pixel, tile_top + j, (int32_t)(element - pixel * box.channels));
        }
    }
    __syncthreads();

    const int64_t element = left + threadIdx.x;
    const int64_t y = top + threadIdx.y;
    if (element >= columns || y >= box.last)
        return;
    const T *const corner = tile + (int32_t)threadIdx.y * tile_width + (int32_t)threadIdx.x;
    const typename twi_sums<T>::Sum sum =
        twi_sum_window<T>(box, [&](int32_t i, int32_t j) { return corner[j * tile_width + i * box.channels]; });
    twi_write(box, element, y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_tiled[TWI_CUDA_TYPES] = {
    (const void *)box_tiled<uint8_t>, (const void *)box_tiled<uint16_t>, (const void *)box_tiled<int16_t>,
    (const void *)box_tiled<int32_t>, (const void *)box_tiled<float>,    (const void *)box_tiled<double>,
};
