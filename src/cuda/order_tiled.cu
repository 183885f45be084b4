/* min and max, variant tiled: the tile of correlate_tiled.cu, filled with keys, and the extreme in place of the sum. */
#include "cuda/order.cuh"

extern __shared__ double order_tile[];

template <typename T, bool HIGHEST>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) extreme_tiled(const twi_cuda_order order)
{
    typedef twi_extreme<T, HIGHEST> extreme;
    typedef typename extreme::Key Key;
    const twi_cuda_box &box = order.box;
    Key *const shared = (Key *)order_tile;
    const twi_tile tile = twi_tile_here(box);
    twi_fill_tile<T>(box, tile, shared, extreme::outside(order), [](T element) { return twi_keys<T>::of(element); });
    __syncthreads();

    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    const Key *const corner = twi_tile_corner(tile, shared);
    twi_write<T>(box, out.element, out.y, extreme::of_window(order, [&](int32_t i, int32_t j) {
                     return corner[j * tile.width + i * box.channels];
                 }));
}

extern "C" const void *const twi_cuda_min_tiled[TWI_CUDA_TYPES] = TWI_EXTREME_TABLE(extreme_tiled, false);
extern "C" const void *const twi_cuda_max_tiled[TWI_CUDA_TYPES] = TWI_EXTREME_TABLE(extreme_tiled, true);
