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

extern __shared__ double box_tile[];

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_tiled(const twi_cuda_box box)
{
    T *const shared = (T *)box_tile;
    const twi_tile tile = twi_tile_here(box);
    twi_fill_tile<T>(box, tile, shared, (T)box.value, [](T element) { return element; });
    __syncthreads();

    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    const T *const corner = twi_tile_corner(tile, shared);
    const typename twi_sums<T>::Sum sum =
        twi_sum_window<T>(box, [&](int32_t i, int32_t j) { return corner[j * tile.width + i * box.channels]; });
    twi_write(box, out.element, out.y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_tiled[TWI_CUDA_TYPES] = {
    (const void *)box_tiled<uint8_t>, (const void *)box_tiled<uint16_t>, (const void *)box_tiled<int16_t>,
    (const void *)box_tiled<int32_t>, (const void *)box_tiled<float>,    (const void *)box_tiled<double>,
};
