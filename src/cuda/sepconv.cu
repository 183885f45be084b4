/*
 * sepconv and gaussian, variant separable: weighted sums along the rows of a chunk are kept in scratch memory, in
 * the type of the sums, then weighted down the columns.
 */
#include "cuda/sepconv.cuh"

/* `sum` + weight(0) * at(0) + ... + weight(n - 1) * at(n - 1), in that order. */
template <typename S, typename At>
static __device__ __forceinline__ S sum_line(const twi_cuda_sepconv &pass, S sum, int32_t n, At at)
{
    typedef typename twi_terms<S>::Mask Weight;
    const Weight *const weights = (const Weight *)pass.weights;
    for (int32_t i = 0; i < n; i++)
        sum = twi_multiply_add(sum, __ldg(weights + i), at(i));
    return sum;
}

template <typename T, typename S>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) sepconv_along(const twi_cuda_sepconv pass)
{
    typedef typename twi_terms<S>::Pixel Pixel;
    const twi_cuda_box &box = pass.box;
    const int64_t column = pass.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = pass.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= pass.columns || row >= pass.rows)
        return;
    const int64_t element = pass.chunk_left + column;
    const int64_t pixel = twi_pixel(element, box.channels);
    const int64_t left = pixel - box.anchor_x;
    const int64_t y = twi_border_index(pass.chunk_top - box.anchor_y + row, box.height, box.border);
    const T *const line = twi_row<T>(box, y < 0 ? 0 : y) + (element - pixel * box.channels);
    S sum = passes<S>::begin_along();
    if (y >= 0 && left >= 0 && left + box.window_width <= box.width) {
        const T *const start = line + left * box.channels;
        sum = sum_line(pass, sum, box.window_width, [&](int32_t i) { return (Pixel)start[i * box.channels]; });
    } else {
        sum = sum_line(pass, sum, box.window_width, [&](int32_t i) {
            const int64_t x = y < 0 ? -1 : twi_border_index(left + i, box.width, box.border);
            return (Pixel)(x < 0 ? (T)box.value : line[x * box.channels]);
        });
    }
    ((typename passes<S>::Line *)pass.lines)[row * pass.pitch + column] = passes<S>::keep(sum);
}

template <typename S>
static __global__ void __launch_bounds__(TWI_CUDA_MOST_THREADS, 1) sepconv_down(const twi_cuda_sepconv pass)
{
    typedef typename passes<S>::Line Line;
    const int64_t column = pass.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = pass.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= pass.columns || row >= pass.rows)
        return;
    const Line *const start = (const Line *)pass.lines + row * pass.pitch + column;
    const S sum = sum_line(pass, passes<S>::begin_down(), pass.box.window_height,
                           [&](int32_t j) { return start[j * pass.pitch]; });
    passes<S>::finish(pass.box, pass.scale, (char *)pass.box.dst + (pass.chunk_top + row) * pass.box.dst_pitch,
                      pass.chunk_left + column, sum);
}

/* Integers of any sum, and of a gaussian. */
#define INTEGERS(T, fixed)                                                                                             \
    {                                                                                                                  \
        (const void *)sepconv_along<T, int32_t>, (const void *)sepconv_along<T, int64_t>,                              \
            (const void *)sepconv_along<T, twi_i128>, (const void *)sepconv_along<T, float>,                           \
            (const void *)sepconv_along<T, double>, fixed,                                                             \
    }

extern "C" const void *const twi_cuda_sepconv_along[TWI_CUDA_TYPES][TWI_CUDA_SEPARABLE_SUMS] = {
    INTEGERS(uint8_t, (const void *)(sepconv_along<uint8_t, uint32_t>)),
    INTEGERS(uint16_t, NULL),
    INTEGERS(int16_t, NULL),
    INTEGERS(int32_t, NULL),
    {NULL, NULL, NULL, (const void *)sepconv_along<float, float>, (const void *)sepconv_along<float, double>, NULL},
    {NULL, NULL, NULL, NULL, (const void *)sepconv_along<double, double>, NULL},
};

extern "C" const void *const twi_cuda_sepconv_down[TWI_CUDA_SEPARABLE_SUMS] = {
    (const void *)sepconv_down<int32_t>, (const void *)sepconv_down<int64_t>, (const void *)sepconv_down<twi_i128>,
    (const void *)sepconv_down<float>,   (const void *)sepconv_down<double>,  (const void *)sepconv_down<uint32_t>,
};
