/*
 * box, variant texture: as direct, but the neighbourhood is read through a texture object, whose cache is laid
 * out for neighbours in two dimensions.
 *
 * The texture's texels are single elements, so a row has width * channels of them, and coordinates count
 * elements. Texels are read as they are (point sampling, no conversion) at coordinates x + 0.5, exact in
 * a float for every size that a texture may have. Its addressing outside the image equals a border of ours in
 * two cases: `border` reads 0, as TWI_ZERO; `clamp` is TWI_REPLICATE, of one channel only since it repeats
 * the last element. The hardware's wrap and mirror want coordinates divided by the size, which a float cannot
 * hold exactly: the other borders are the index rule in software.
 */
#include "cuda/box.cuh"

/* Floats are fetched as the bits that they are. */
template <typename T> static __device__ __forceinline__ T fetch(cudaTextureObject_t texture, int64_t x, int64_t y)
{
    return tex2D<T>(texture, (float)x + 0.5f, (float)y + 0.5f);
}
template <> __device__ __forceinline__ float fetch<float>(cudaTextureObject_t texture, int64_t x, int64_t y)
{
    return __uint_as_float(fetch<uint32_t>(texture, x, y));
}

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_texture(const twi_cuda_box_texture argument)
{
    const twi_cuda_box &box = argument.box;
    const cudaTextureObject_t texture = argument.texture;
    const int64_t element = box.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = box.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (element >= box.width * box.channels || y >= box.last)
        return;
    const int64_t pixel = twi_pixel(element, box.channels);
    const int32_t channel = (int32_t)(element - pixel * box.channels);
    const int64_t left = pixel - box.anchor_x;
    const int64_t top = y - box.anchor_y;
    const typename twi_sums<T>::Sum sum = twi_sum_window<T>(box, [&](int32_t i, int32_t j) {
        if (argument.hardware)
            return fetch<T>(texture, (left + i) * box.channels + channel, top + j);
        const int64_t column = twi_border_index(left + i, box.width, box.border);
        const int64_t row = twi_border_index(top + j, box.height, box.border);
        return column < 0 || row < 0 ? (T)box.value : fetch<T>(texture, column * box.channels + channel, row);
    });
    twi_write(box, element, y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_texture_kernels[TWI_CUDA_TYPES] = {
    (const void *)box_texture<uint8_t>, (const void *)box_texture<uint16_t>, (const void *)box_texture<int16_t>,
    (const void *)box_texture<int32_t>, (const void *)box_texture<float>,    NULL,
};
