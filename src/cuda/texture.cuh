/*
 * Reading through a texture object, for the variants called texture.
 *
 * The texture's texels are single elements, so a row has width * channels of them, and coordinates count
 * elements. Texels are read as they are (point sampling, no conversion) at coordinates x + 0.5, exact in
 * a float for every size that a texture may have. Its addressing outside the image equals a border of ours in
 * two cases: `border` reads 0, as TWI_ZERO; `clamp` is TWI_REPLICATE, of one channel only since it repeats
 * the last element. The hardware's wrap and mirror want coordinates divided by the size, which a float cannot
 * hold exactly: the other borders are the index rule in software.
 */
#ifndef TWI_TEXTURE_CUH
#define TWI_TEXTURE_CUH

#include "cuda/element.cuh"

/* Floats are fetched as the bits that they are. */
template <typename T> static __device__ __forceinline__ T twi_texel(uint64_t texture, int64_t x, int64_t y)
{
    return tex2D<T>((cudaTextureObject_t)texture, (float)x + 0.5f, (float)y + 0.5f);
}
template <> __device__ __forceinline__ float twi_texel<float>(uint64_t texture, int64_t x, int64_t y)
{
    return __uint_as_float(twi_texel<uint32_t>(texture, x, y));
}

/* Window position (i, j) of the output. */
template <typename T>
static __device__ __forceinline__ T twi_fetch(const twi_cuda_box &box, const twi_cuda_texture &texture,
                                              const twi_output &out, int32_t i, int32_t j)
{
    if (texture.hardware)
        return twi_texel<T>(texture.object, (out.left + i) * box.channels + out.channel, out.top + j);
    const int64_t column = twi_border_index(out.left + i, box.width, box.border);
    const int64_t row = twi_border_index(out.top + j, box.height, box.border);
    return column < 0 || row < 0 ? (T)box.value
                                 : twi_texel<T>(texture.object, column * box.channels + out.channel, row);
}

#endif
