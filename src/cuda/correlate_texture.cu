/* correlate, variant texture: as direct, but the neighbourhood is read through a texture object (texture.cuh). */
#include "cuda/correlate.cuh"
#include "cuda/texture.cuh"

template <typename T, typename S, typename Argument>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1)
    correlate_texture(const __grid_constant__ Argument argument)
{
    const twi_cuda_correlate &filter = twi_filter(argument);
    const twi_output out = twi_output_here(filter.box);
    if (!out.exists)
        return;
    const S sum = twi_correlate<S, false>(
        argument, [&](int32_t i, int32_t j) { return twi_fetch<T>(filter.box, filter.texture, out, i, j); });
    twi_write_sum(filter.box, filter.scale, out, sum);
}

/* A texture has no texels of 64 bits. */
extern "C" const void *const twi_cuda_correlate_texture_kernels[TWI_CUDA_TYPES][TWI_CUDA_SUMS] =
    TWI_CORRELATE_TABLE(correlate_texture, twi_cuda_correlate_constant, NULL);
