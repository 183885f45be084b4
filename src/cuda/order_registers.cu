/*
 * min and max, variant `registers`: 3x3 windows, by the kernels of registers.cuh. The lowest is the complement of the
 * highest complement, so that one kernel does both.
 */
#include "cuda/lanes.cuh"
#include "cuda/registers.cuh"

template <typename T, int C> struct extreme {
    template <int W, int ROWS, bool HALOS>
    TWI_DEVICE void make(const twi_cuda_box &box, uint32_t (*x)[extended<T, C, W>::words], uint32_t (*out)[W])
    {
        using row = extended<T, C, W>;
        using of = lanes<T>;
        using vector = typename of::vector;
        constexpr int count = of::template count<row::words>;
        constexpr int made = of::template count<W>;
        vector v[ROWS + 2][count];
#pragma unroll
        for (int i = 0; i < ROWS + 2; i++)
            of::template split<row::words>(x[i], box.flip, v[i]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector column[count];
            vector result[made];
#pragma unroll
            for (int i = 0; i < count; i++)
                column[i] = of::highest(v[r][i], v[r + 1][i], v[r + 2][i]);
            if constexpr (!HALOS)
                fetch_halos<C, W>(column);
#pragma unroll
            for (int i = 0; i < made; i++) {
                const int e = row::first + of::first(i);
                result[i] = of::highest(of::at(column, e - C), of::at(column, e), of::at(column, e + C));
            }
            of::template join<W>(result, box.flip, out[r]);
        }
    }
};

extern "C" const twi_cuda_registers twi_cuda_extreme_registers[TWI_CUDA_TYPES][4] = TWI_REGISTERS_TABLE(extreme);
