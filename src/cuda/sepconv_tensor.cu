/*
 * sepconv, variant `tensor`: u8 images and integer weights of a byte, as products with banded matrices on the tensor
 * cores (band.cuh). A sum along a row is 16 bits with sign: its low byte has none, its high byte has one.
 */
#include "cuda/band.cuh"
#include "cuda/quotient.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* sum += a * b, signed weights times bytes without a sign, and with one. */
#define MULTIPLY_ADD(name, signs)                                                                                      \
    TWI_DEVICE void name(uint32_t *sum, const uint32_t *a, uint32_t b0, uint32_t b1)                                   \
    {                                                                                                                  \
        asm("mma.sync.aligned.m16n8k32.row.col.s32." signs ".s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"   \
            : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])                                                   \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                           \
    }
MULTIPLY_ADD(multiply_add_unsigned, "s8.u8")
MULTIPLY_ADD(multiply_add_signed, "s8.s8")

template <int WIDE, int HIGH> struct passes {
    static constexpr int KX = WIDE;
    static constexpr int KY = HIGH;
    typedef matrices<KX, KY, 1> parts;

    const twi_cuda_sepconv_tensor &argument;
    weights_of<parts> weights;
    uint32_t line_start[4];
    uint32_t start[4];
    history<KY> sums;

    TWI_DEVICE_MEMBER explicit passes(const twi_cuda_sepconv_tensor &a) : argument(a)
    {
    }

    TWI_DEVICE_MEMBER void prepare()
    {
        weights.bring(argument.weights);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            line_start[j] = kept((uint32_t)argument.line_start);
            start[j] = kept((uint32_t)argument.start);
        }
    }

    TWI_DEVICE_MEMBER void take(uint32_t pixels, int slot)
    {
        uint32_t row[KX][4];
#pragma unroll
        for (int k = 0; k < KX; k++)
            weights.load(parts::along(0, k), row[k]);
        sum_rows<KX, KY>(pixels, slot, sums, [&](uint32_t from, uint32_t *line) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                line[j] = line_start[j];
#pragma unroll
            for (int k = 0; k < KX; k++) {
                const uint2 b = load_shared(from + 32 * k);
                multiply_add_unsigned(line, row[k], b.x, b.y);
            }
        });
    }

    TWI_DEVICE_MEMBER void make(int tile, int slot, uint32_t *words)
    {
        uint32_t low[2][4];
        uint32_t high[2][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++)
            low[0][j] = low[1][j] = start[j];
#pragma unroll
        for (int k = 0; k < KY; k++) {
            const int place = place_of_pair<KY>(k, slot);
            uint32_t column[4];
            weights.load(parts::down(0, place), column);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                multiply_add_unsigned(low[i], column, sums.low[tile][i][2 * k], sums.low[tile][i][2 * k + 1]);
                multiply_add_signed(high[i], column, sums.high[tile][i][2 * k], sums.high[tile][i][2 * k + 1]);
            }
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int32_t sum[4]; /* of neighbouring columns */
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] = (int32_t)(low[i / 2][2 * j + i % 2] + (high[i / 2][2 * j + i % 2] << 8));
            finish<uint8_t, 4>(argument.quotient, sum, words + j);
        }
    }
};
#endif

template <int KX, int KY, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    tensor(const __grid_constant__ twi_cuda_sepconv_tensor argument)
{
#if __CUDA_ARCH__ >= 800
    passes<KX, KY> filter(argument);
    march_band(argument.box, filter);
#endif
}

#define KERNEL(KX, KY, BLOCKS, ROWS)                                                                                   \
    {                                                                                                                  \
        (const void *)tensor<KX, KY, BLOCKS>,                                                                          \
            {geometry<KX, KY>::reach_x, geometry<KX, KY>::reach_y, matrices<KX, KY, 1>::shared, BLOCKS, ROWS}, KX, KY, \
            1                                                                                                          \
    }

extern "C" const twi_cuda_band_kernel twi_cuda_sepconv_tensors[TWI_CUDA_SEPCONV_TENSORS] = {
    KERNEL(1, 1, 5, 192),
    KERNEL(2, 1, 5, 192),
    KERNEL(2, 2, 4, 384),
    KERNEL(4, 4, 3, 512),
};
