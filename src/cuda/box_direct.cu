/* box, variant direct: each thread makes one output and reads its whole neighbourhood from global memory. */
#include "cuda/box.cuh"

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_direct(const twi_cuda_box box)
{
    const twi_output out = twi_output_here(box);
    if (!out.exists)
        return;
    typename twi_sums<T>::Sum sum;
    if (out.inside) {
        const char *const corner = (const char *)(twi_row<T>(box, out.top) + out.left * box.channels + out.channel);
        sum = twi_sum_window<T>(
            box, [&](int32_t i, int32_t j) { return ((const T *)(corner + j * box.src_pitch))[i * box.channels]; });
    } else {
        sum = twi_sum_window<T>(
            box, [&](int32_t i, int32_t j) { return twi_read<T>(box, out.left + i, out.top + j, out.channel); });
    }
    twi_write(box, out.element, out.y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_direct[TWI_CUDA_TYPES] = {
    (const void *)box_direct<uint8_t>, (const void *)box_direct<uint16_t>, (const void *)box_direct<int16_t>,
    (const void *)box_direct<int32_t>, (const void *)box_direct<float>,    (const void *)box_direct<double>,
};
