/*
 * rank, variant `registers`: medians of 3x3, by the kernels of registers.cuh. Each column of three is sorted, for three
 * windows at once. The median of nine is then the middle one of: the highest of the columns' lowest, the middle of
 * their middles, the lowest of their highest.
 */
#include "cuda/lanes.cuh"
#include "cuda/registers.cuh"

template <typename T, int C> struct median {
    using of = lanes<T>;
    using vector = typename of::vector;

    TWI_DEVICE vector of_three(vector a, vector b, vector c)
    {
        return middle(a, b, c, of::lowest(a, b, c), of::highest(a, b, c));
    }

    template <int W, int ROWS, bool HALOS>
    TWI_DEVICE void make(const twi_cuda_box &, uint32_t (*x)[extended<T, C, W>::words], uint32_t (*out)[W])
    {
        using row = extended<T, C, W>;
        constexpr int count = of::template count<row::words>;
        constexpr int made = of::template count<W>;
        vector v[ROWS + 2][count];
#pragma unroll
        for (int i = 0; i < ROWS + 2; i++)
            of::template split<row::words>(x[i], 0, v[i]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector low[count];
            vector mid[count];
            vector high[count];
            vector result[made];
#pragma unroll
            for (int i = 0; i < count; i++) {
                low[i] = of::lowest(v[r][i], v[r + 1][i], v[r + 2][i]);
                high[i] = of::highest(v[r][i], v[r + 1][i], v[r + 2][i]);
                mid[i] = middle(v[r][i], v[r + 1][i], v[r + 2][i], low[i], high[i]);
            }
            if constexpr (!HALOS) {
                fetch_halos<C, W>(low);
                fetch_halos<C, W>(mid);
                fetch_halos<C, W>(high);
            }
#pragma unroll
            for (int i = 0; i < made; i++) {
                const int e = row::first + of::first(i);
                result[i] = of_three(of::highest(of::at(low, e - C), of::at(low, e), of::at(low, e + C)),
                                     of_three(of::at(mid, e - C), of::at(mid, e), of::at(mid, e + C)),
                                     of::lowest(of::at(high, e - C), of::at(high, e), of::at(high, e + C)));
            }
            of::template join<W>(result, 0, out[r]);
        }
    }
};

extern "C" const twi_cuda_registers twi_cuda_median_registers[TWI_CUDA_TYPES][4] = TWI_REGISTERS_TABLE(median);
