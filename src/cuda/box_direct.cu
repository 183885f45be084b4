/* box, variant direct: each thread makes one output and reads its whole neighbourhood from global memory. */
#include "cuda/box.cuh"

template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) box_direct(const twi_cuda_box box)
{
    const int64_t element = box.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = box.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (element >= box.width * box.channels || y >= box.last)
        return;
    const int64_t pixel = twi_pixel(element, box.channels);
    const int32_t channel = (int32_t)(element - pixel * box.channels);
    const int64_t left = pixel - box.anchor_x;
    const int64_t top = y - box.anchor_y;
    typename twi_sums<T>::Sum sum;
    if (left >= 0 && top >= 0 && left + box.window_width <= box.width && top + box.window_height <= box.height) {
        const char *const corner = (const char *)(twi_row<T>(box, top) + left * box.channels + channel);
        sum = twi_sum_window<T>(
            box, [&](int32_t i, int32_t j) { return ((const T *)(corner + j * box.src_pitch))[i * box.channels]; });
    } else {
        sum =
            twi_sum_window<T>(box, [&](int32_t i, int32_t j) { return twi_read<T>(box, left + i, top + j, channel); });
    }
    twi_write(box, element, y, twi_mean<T>(sum, box));
}

extern "C" const void *const twi_cuda_box_direct[TWI_CUDA_TYPES] = {
    (const void *)box_direct<uint8_t>, (const void *)box_direct<uint16_t>, (const void *)box_direct<int16_t>,
    (const void *)box_direct<int32_t>, (const void *)box_direct<float>,    (const void *)box_direct<double>,
};
