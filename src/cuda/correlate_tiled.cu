/*
 * correlate, variant tiled: a block first brings the part of the image that its outputs read, the tile, into shared
 * memory, then each thread sums its neighbourhood there. A 32x32 block of 5x5 masks on one channel has a tile of
 * 36x36 elements, each written by exactly one thread (twi_fill_tile); then all threads meet at one barrier, also
 * those without an output at the image's ragged edge: see box_tiled.cu for what happens otherwise.
 */
#include "cuda/correlate.cuh"

extern __shared__ double correlate_tile[];

template <typename T, typename S, typename Argument>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1)
    correlate_tiled(const __grid_constant__ Argument argument)
{
    const twi_cuda_box &box = twi_filter(argument).box;
    T *const shared = (T *)correlate_tile;
    const twi_tile tile = twi_tile_here(box);
    twi_fill_tile<T>(box, tile, shared, (T)box.value, [](T element) { return element; });
    __syncthreads();

    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    const T *const corner = twi_tile_corner(tile, shared);
    const S sum = twi_correlate<S, true>(
        argument, [&](int32_t i, int32_t j) { return corner[j * tile.width + i * box.channels]; });
    twi_write_sum(box, twi_filter(argument).scale, out, sum);
}

extern "C" const void *const twi_cuda_correlate_tiled[TWI_CUDA_TYPES][TWI_CUDA_SUMS] =
    TWI_CORRELATE_TABLE(correlate_tiled, twi_cuda_correlate_constant,
                        (const void *)(correlate_tiled<double, double, twi_cuda_correlate_constant>));
extern "C" const void *const twi_cuda_correlate_tiled_global[TWI_CUDA_TYPES][TWI_CUDA_SUMS] = TWI_CORRELATE_TABLE(
    correlate_tiled, twi_cuda_correlate, (const void *)(correlate_tiled<double, double, twi_cuda_correlate>));
