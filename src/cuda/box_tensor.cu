/*
 * box, variant `tensor`: the mean, as two products with banded matrices of ones on the tensor cores (band.cuh).
 */
#include "cuda/band.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

template <int NK, bool NEAREST> struct means {
    static constexpr int KX = NK;
    static constexpr int KY = NK;

    const twi_cuda_box &box;
    uint32_t start; /* of a window's sum */
    float scale;
    uint32_t across[NK][4];
    uint32_t down[2][NK][4]; /* of pairs of steps that begin at an even and at an odd one of the window */
    uint32_t down_high[2][NK][4];
    history<NK> sums; /* high bytes times 4: they are below 64, so that the weights that are left, 64, are bytes too */

    TWI_DEVICE_MEMBER explicit means(const twi_cuda_box &argument) : box(argument)
    {
        start = NEAREST ? (uint32_t)box.count / 2 : 0;
        scale = __frcp_ru((float)box.count) * 0x1p126f;
    }

    /* Weights of the first product: word i of part k. */
    TWI_DEVICE_MEMBER uint32_t row_weights(int k, int i)
    {
        const int x = column_of(threadIdx.x / 4 + 8 * (i % 2));
        const int from = 32 * k + 8 * (threadIdx.x % 4) + 4 * (i / 2) - geometry<NK, NK>::reach_x - x;
        return ones(from + box.anchor_x, box.window_width);
    }

    /* Weights of the second. The bytes of a history's word stand for rows 2q, 2q + 1, 2q + 8, 2q + 9. */
    TWI_DEVICE_MEMBER uint32_t column_weights(int odd, int k, int i)
    {
        const int y = threadIdx.x / 4 + 8 * (i % 2);
        const int step = (2 * k + odd + i / 2) % geometry<NK, NK>::groups;
        const int from = STEP * step + 2 * (threadIdx.x % 4) - geometry<NK, NK>::reach_y - y + box.anchor_y;
        return __byte_perm(ones(from, box.window_height), ones(from + 8, box.window_height), 0x5410);
    }

    TWI_DEVICE_MEMBER void prepare()
    {
#pragma unroll
        for (int k = 0; k < NK; k++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                across[k][i] = row_weights(k, i);
#pragma unroll
                for (int odd = 0; odd < 2; odd++) {
                    down[odd][k][i] = column_weights(odd, k, i);
                    if (NK == 1) /* else there are no registers to spare */
                        down[odd][k][i] = kept(down[odd][k][i]);
                    down_high[odd][k][i] = down[odd][k][i] << 6;
                    if (NK == 1)
                        down_high[odd][k][i] = kept(down_high[odd][k][i]);
                }
            }
        }
    }

    TWI_DEVICE_MEMBER void take(uint32_t pixels, int slot)
    {
        sum_rows<NK, NK>(pixels, slot, sums, [&](uint32_t from, uint32_t *line) {
            line[0] = line[1] = line[2] = line[3] = 0;
#pragma unroll
            for (int k = 0; k < NK; k++) {
                const uint2 b = load_shared(from + 32 * k);
                multiply_add(line, across[k], b.x, b.y);
            }
        });
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
#pragma unroll
            for (int i = 0; i < 2; i++)
                sums.high[tile][i][slot] <<= 2;
        }
    }

    /* A sum below 2^23 is, as a float's bits, sum * 2^-149; times 2^126 / n, plus 1, rounded down, that is the
       quotient in the last bits: see refuses_tensor() in march.c. */
    TWI_DEVICE_MEMBER void make(int tile, int slot, uint32_t *words)
    {
        uint32_t mean[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t sum[4] = {start, start, start, start};
#pragma unroll
            for (int k = 0; k < NK; k++) {
                const int place = place_of_pair<NK>(k, slot);
                const uint32_t *low = &sums.low[tile][i][2 * k];
                const uint32_t *high = &sums.high[tile][i][2 * k];
                multiply_add(sum, down[place % 2][place / 2], low[0], low[1]);
                multiply_add(sum, down_high[place % 2][place / 2], high[0], high[1]);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                mean[i][j] = __float_as_uint(__fmaf_rd(__uint_as_float(sum[j]), scale, 1.0f));
        }
        pack_rows<0>(mean, words);
    }
};
#endif

/* How many blocks a multiprocessor holds is set by registers: with room for them the compiler does not compute
   addresses anew in every step. */
template <int NK> static constexpr int blocks = NK == 1 ? 5 : 4;

template <int NK, bool NEAREST>
static __global__ void __launch_bounds__(THREADS, blocks<NK>) tensor(const __grid_constant__ twi_cuda_box box)
{
#if __CUDA_ARCH__ >= 800
    means<NK, NEAREST> filter(box);
    march_band(box, filter);
#endif
}

/* Short strips keep the rows that neighbouring blocks read close in time; long ones read fewer rows twice. */
extern "C" const twi_cuda_tensor twi_cuda_box_tensor[TWI_CUDA_TENSORS] = {
    {{(const void *)tensor<1, false>, (const void *)tensor<1, true>},
     {geometry<1, 1>::reach_x, geometry<1, 1>::reach_y, geometry<1, 1>::shared, blocks<1>, 192}},
    {{(const void *)tensor<2, false>, (const void *)tensor<2, true>},
     {geometry<2, 2>::reach_x, geometry<2, 2>::reach_y, geometry<2, 2>::shared, blocks<2>, 704}},
};
