/* Rows and whole images: sums of integers, extremes and counts, in one look and any order. */
#include "cuda/reduce_tree.cuh"

template <typename T, int WHAT>
static __global__ void __launch_bounds__(TWI_LANES, TWI_BLOCKS) sweep(const __grid_constant__ twi_cuda_reduce a)
{
    twi_await_stream();
    const int64_t block = a.left + blockIdx.x;
    if (block >= a.blocks) {
        twi_stand_by<WHAT, twi_i128>(a, block - a.blocks);
        return;
    }
    const twi_share share(a, block);
    const uint32_t before = twi_begin_values(a, share.item(a), 1);
    twi_tally<T, WHAT> mine;
    twi_value<WHAT, twi_i128, twi_near<T>> value;
    int number = 0;
    for (int64_t i = share.number; i < a.pieces; i += a.shares, number += (int)a.unit) {
        const twi_piece<T> piece(a, share.channel, share.row, i);
        twi_visit<TWI_LANES>(piece.at, piece.n, a.plane.channels, number, mine);
    }
    twi_take_tally(&value, mine);
    if (WHAT & TWI_CUDA_SUM)
        value.sum = (twi_i128)(int64_t)twi_add_block(mine.adder.sum);
    if constexpr (WHAT != TWI_CUDA_SUM)
        twi_gather(&value);
    twi_put_value(a, share, value, before);
}

/* Short rows that are records, some threads each. */
template <typename T, int WHAT>
static __global__ void __launch_bounds__(TWI_LANES, TWI_BLOCKS) short_rows(const __grid_constant__ twi_cuda_reduce a)
{
    enum { THREADS = TWI_LANES / TWI_CUDA_SHORT_ROWS };
    twi_await_stream();
    const int64_t number = (a.left + blockIdx.x) * TWI_CUDA_SHORT_ROWS + threadIdx.x / THREADS;
    const bool exists = number < a.plane.height * a.plane.channels;
    const twi_share share(a, exists ? number : 0);
    const twi_piece<T> piece(a, share.channel, share.row, 0);
    twi_tally<T, WHAT> mine;
    twi_value<WHAT, twi_i128, twi_near<T>> value;
    twi_visit<THREADS>(piece.at, exists ? piece.n : 0, a.plane.channels, 0, mine);
    twi_take_tally(&value, mine);
    if (WHAT & TWI_CUDA_SUM)
        value.sum = (twi_i128)(int64_t)twi_fold_warp<THREADS>(mine.adder.sum);
    twi_gather_warp<THREADS>(&value);
    if (exists && threadIdx.x % THREADS == 0)
        twi_write_record(a, twi_far_value<T>(a, share, value), share.item(a));
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

#define SHORT(T, SUM, ALL)                                                                                             \
    {                                                                                                                  \
        SUM, (const void *)short_rows<T, EXTREMES>, (const void *)short_rows<T, ALL>                                   \
    }
#define SHORT_INTEGERS(T) SHORT(T, ((const void *)short_rows<T, TWI_CUDA_SUM>), TWI_CUDA_EVERYTHING)
#define SHORT_FLOATS(T) SHORT(T, nullptr, EXTREMES | TWI_CUDA_COUNTS)
const void *const twi_cuda_reduce_short_rows[6][TWI_CUDA_FEW_SETS] = {SHORT_INTEGERS(uint8_t), SHORT_INTEGERS(uint16_t),
                                                                      SHORT_INTEGERS(int16_t), SHORT_INTEGERS(int32_t),
                                                                      SHORT_FLOATS(float),     SHORT_FLOATS(double)};
