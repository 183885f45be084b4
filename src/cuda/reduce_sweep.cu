/* Rows and whole images: sums of integers, extremes and counts, in one look and any order. */
#include "cuda/reduce_tree.cuh"

template <typename T, int WHAT>
static __global__ void __launch_bounds__(TWI_LANES, TWI_BLOCKS) sweep(const __grid_constant__ twi_cuda_reduce a)
{
    const int64_t block = a.left + blockIdx.x;
    if (block >= a.blocks) {
        twi_make_node<T, WHAT, twi_i128>(a, block - a.blocks);
        return;
    }
    const int64_t item = twi_item_of_block(a, block);
    const twi_part<T> unit(a, item, 0);
    const int piece = (int)a.piece;
    twi_tally<T, WHAT> mine;
    twi_value<T, WHAT, twi_i128> value;
    for (int start = 0, i = 0; start < unit.n; start += piece, i++) {
        const int n = unit.n - start < piece ? unit.n - start : piece;
        twi_visit(unit.at + (int64_t)start * a.plane.channels, n, a.plane.channels, mine);
        mine.close(i);
    }
    if (WHAT & TWI_CUDA_SUM)
        value.sum = (twi_i128)(int64_t)twi_add_block(mine.adder.sum);
    value.lowest.set(mine.low, item * a.pieces + mine.low_at);
    value.highest.set(mine.high, item * a.pieces + mine.high_at);
    value.counts = mine.counter.count();
    if constexpr (WHAT != TWI_CUDA_SUM)
        twi_gather(&value);
    twi_put_value(a, value, 0, item);
}

#define EXTREMES (TWI_CUDA_LOWEST | TWI_CUDA_HIGHEST)
#define SETS(T, SUM, ALL)                                                                                              \
    {                                                                                                                  \
        SUM, (const void *)sweep<T, TWI_CUDA_LOWEST>, (const void *)sweep<T, TWI_CUDA_HIGHEST>,                        \
            (const void *)sweep<T, EXTREMES>, (const void *)sweep<T, TWI_CUDA_COUNTS>, (const void *)sweep<T, ALL>     \
    }
#define INTEGERS(T) SETS(T, ((const void *)sweep<T, TWI_CUDA_SUM>), TWI_CUDA_EVERYTHING)
#define FLOATS(T) SETS(T, nullptr, EXTREMES | TWI_CUDA_COUNTS)
const void *const twi_cuda_reduce_sweep[6][TWI_CUDA_SETS] = {INTEGERS(uint8_t), INTEGERS(uint16_t), INTEGERS(int16_t),
                                                             INTEGERS(int32_t), FLOATS(float),      FLOATS(double)};
