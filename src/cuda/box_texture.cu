/*
 * box, variant texture: as direct, but the neighbourhood is read through a texture object, whose cache is laid
 * out for neighbours in two dimensions (texture.cuh).
 */
#include "cuda/box.cuh"
#include "cuda/texture.cuh"

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_texture(const twi_cuda_box_texture argument)
{
    const twi_cuda_box &box = argument.box;
    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    const typename twi_sums<T>::Sum sum =
        twi_sum_window<T>(box, [&](int32_t i, int32_t j) { return twi_fetch<T>(box, argument.texture, out, i, j); });
    twi_write(box, out.element, out.y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_texture_kernels[TWI_CUDA_TYPES] = {
    (const void *)box_texture<uint8_t>, (const void *)box_texture<uint16_t>, (const void *)box_texture<int16_t>,
    (const void *)box_texture<int32_t>, (const void *)box_texture<float>,    NULL,
};
