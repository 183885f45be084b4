/*
 * gaussian, variant `tensor`: the fixed point of u8 images as products with banded matrices on the tensor cores
 * (band.cuh). Weights are 16 bits, and so are the row sums once they are rounded: both products are made of bytes,
 * each plane of weights with each plane of pixels or row sums, in sums of their own.
 */
#include "cuda/band.cuh"

enum { PLANES = 2 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* floor(low / 256) + high, of a sum below 2^23: a small integer is, as a float's bits, itself times 2^-149, and the
   fused addition is rounded down to a multiple of that. */
TWI_DEVICE uint32_t join(uint32_t low, uint32_t high)
{
    return __float_as_uint(__fmaf_rd(__uint_as_float(low), 0x1p-8f, __uint_as_float(high)));
}

template <int WIDE, int HIGH> struct gaussian {
    static constexpr int KX = WIDE;
    static constexpr int KY = HIGH;

    typedef matrices<KX, KY, PLANES> parts;

    const twi_cuda_gaussian &argument;
    weights_of<parts> weights;
    uint32_t half[4]; /* of 256, in registers: sums start there that are to be rounded to the nearest */
    history<KY> sums;

    TWI_DEVICE_MEMBER explicit gaussian(const twi_cuda_gaussian &a) : argument(a)
    {
    }

    TWI_DEVICE_MEMBER void prepare()
    {
        weights.bring(argument.weights);
#pragma unroll
        for (int j = 0; j < 4; j++)
            half[j] = kept(128);
    }

    TWI_DEVICE_MEMBER void take(uint32_t pixels, int slot)
    {
        uint32_t low[KX][4];
        uint32_t high[KX][4];
#pragma unroll
        for (int k = 0; k < KX; k++) {
            weights.load(parts::along(0, k), low[k]);
            weights.load(parts::along(1, k), high[k]);
        }
        sum_rows<KX, KY>(pixels, slot, sums, [&](uint32_t from, uint32_t *line) {
            uint32_t sum_low[4] = {half[0], half[1], half[2], half[3]};
            uint32_t sum_high[4] = {0, 0, 0, 0};
#pragma unroll
            for (int k = 0; k < KX; k++) {
                const uint2 b = load_shared(from + 32 * k);
                multiply_add(sum_low, low[k], b.x, b.y);
                multiply_add(sum_high, high[k], b.x, b.y);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                line[j] = join(sum_low[j], sum_high[j]);
        });
    }

    TWI_DEVICE_MEMBER void make(int tile, int slot, uint32_t *words)
    {
        uint32_t sum[3][2][4] = {}; /* of products of two low bytes, of a low and a high one, of two high ones */
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[2][0][j] = sum[2][1][j] = half[j];
#pragma unroll
        for (int k = 0; k < KY; k++) {
            const int place = place_of_pair<KY>(k, slot);
#pragma unroll
            for (int plane = 0; plane < PLANES; plane++) {
                uint32_t matrix[4];
                weights.load(parts::down(plane, place), matrix);
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    multiply_add(sum[plane][i], matrix, sums.low[tile][i][2 * k], sums.low[tile][i][2 * k + 1]);
                    multiply_add(sum[plane + 1][i], matrix, sums.high[tile][i][2 * k], sums.high[tile][i][2 * k + 1]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                sum[0][i][j] = join(join(sum[0][i][j], sum[1][i][j]), sum[2][i][j]);
        }
        pack_rows<1>(sum[0], words);
    }
};
#endif

template <int KX, int KY, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS) tensor(const __grid_constant__ twi_cuda_gaussian argument)
{
#if __CUDA_ARCH__ >= 800
    gaussian<KX, KY> filter(argument);
    march_band(argument.box, filter);
#endif
}

#define KERNEL(KX, KY, BLOCKS, ROWS)                                                                                   \
    {                                                                                                                  \
        (const void *)tensor<KX, KY, BLOCKS>,                                                                          \
            {geometry<KX, KY>::reach_x, geometry<KX, KY>::reach_y, matrices<KX, KY, PLANES>::shared, BLOCKS, ROWS},    \
            KX, KY, PLANES                                                                                             \
    }

extern "C" const twi_cuda_band_kernel twi_cuda_gaussian_tensor[TWI_CUDA_GAUSSIAN_TENSORS] = {
    KERNEL(1, 1, 5, 192), KERNEL(2, 1, 4, 384), KERNEL(2, 2, 4, 384), KERNEL(4, 2, 3, 512), KERNEL(4, 4, 3, 512),
};
