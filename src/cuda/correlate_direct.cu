/*
 * correlate, variants direct and readonly: each thread makes one output and reads its whole neighbourhood from
 * global memory. All threads of a warp read the same value of the mask at a time: constant memory (direct) hands
 * one value a cycle to all of them. The read-only path (readonly) is that of ordinary loads, with room for any mask.
 */
#include "cuda/correlate.cuh"

template <typename T, typename S, typename Argument>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1)
    correlate_direct(const __grid_constant__ Argument argument)
{
    const twi_cuda_box &box = twi_filter(argument).box;
    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    S sum;
    if (out.inside) {
        const char *const corner = (const char *)(twi_row<T>(box, out.top) + out.left * box.channels + out.channel);
        sum = twi_correlate<S, true>(argument, [&](int32_t i, int32_t j) {
            return ((const T *)(corner + j * box.src_pitch))[i * box.channels];
        });
    } else {
        sum = twi_correlate<S, false>(
            argument, [&](int32_t i, int32_t j) { return twi_read<T>(box, out.left + i, out.top + j, out.channel); });
    }
    twi_write_sum(box, twi_filter(argument).scale, out, sum);
}

extern "C" const void *const twi_cuda_correlate_direct[TWI_CUDA_TYPES][TWI_CUDA_SUMS] =
    TWI_CORRELATE_TABLE(correlate_direct, twi_cuda_correlate_constant,
                        (const void *)(correlate_direct<double, double, twi_cuda_correlate_constant>));
extern "C" const void *const twi_cuda_correlate_readonly[TWI_CUDA_TYPES][TWI_CUDA_SUMS] = TWI_CORRELATE_TABLE(
    correlate_direct, twi_cuda_correlate, (const void *)(correlate_direct<double, double, twi_cuda_correlate>));
