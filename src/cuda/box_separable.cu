/*
 * box, variant separable: sums along the rows, then down the columns, in passes that each deal with one
 * hexadecimal digit of the window's size. A window of 101 = 0x65 positions is 5 values and 6 sums of 16: the
 * first pass adds 1 + 4 values and makes the sums of 16, the second adds 2 + 4 of those. Work for an output
 * grows with the number of digits.
 *
 * This is the order of exact.h, reached another way: its blocks of 2^k values are the bits of the digits from
 * the smallest on, and a block is summed pairwise within a pass and across passes alike. So floats and
 * integers share the code, and no sum depends on where the chunk's edges lie.
 */
#include "cuda/box.cuh"

/* The sums' type: exact for integers, whatever the window. */
template <typename T> using Sum = typename twi_sums<T>::Sum;

/* at(first) ... at(first + N - 1), N a power of two: left half + right half. */
template <int N> struct pairwise {
    template <typename S, typename At> static __device__ __forceinline__ S sum(At at, int32_t first)
    {
        return twi_plus(pairwise<N / 2>::template sum<S>(at, first),
                        pairwise<N / 2>::template sum<S>(at, first + N / 2));
    }
};
template <> struct pairwise<1> {
    template <typename S, typename At> static __device__ __forceinline__ S sum(At at, int32_t first)
    {
        return at(first);
    }
};

/* The sums so far, joined by one block of N values if the digit has that bit. */
template <typename S> struct total {
    S sum;
    bool empty;
    int32_t taken;

    template <int N, typename At> __device__ __forceinline__ void add(int32_t digit, At at)
    {
        if (!(digit & N))
            return;
        const S block = pairwise<N>::template sum<S>(at, taken);
        sum = empty ? block : twi_plus(sum, block);
        empty = false;
        taken += N;
    }
};

/* What a pass makes at (column, row) of the chunk: block sums, and the sums themselves, given to `store`.
   at(i) is the i-th value of the line that starts at the output; `skipped(i)` is that after the skip. */
template <typename S, typename At, typename Skipped, typename Store>
static __device__ __forceinline__ void run_pass(const twi_cuda_pass &pass, int64_t column, int64_t row, At at,
                                                Skipped skipped, Store store)
{
    const int64_t place = row * pass.pitch + column;
    if (pass.blocks && column < pass.block_columns && row < pass.block_rows)
        ((S *)pass.blocks)[place] = pairwise<16>::template sum<S>(at, 0);
    if (column >= pass.sum_columns || row >= pass.sum_rows)
        return;
    total<S> total = {};
    total.empty = !pass.before;
    if (pass.before)
        total.sum = ((const S *)pass.before)[place];
    total.template add<1>(pass.digit, skipped);
    total.template add<2>(pass.digit, skipped);
    total.template add<4>(pass.digit, skipped);
    total.template add<8>(pass.digit, skipped);
    store(place, total.sum);
}

static __device__ __forceinline__ int64_t pass_column(const twi_cuda_pass &pass)
{
    return pass.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ int64_t pass_row(const twi_cuda_pass &pass)
{
    return pass.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
}

/* Called, not inlined 31 times: it serves threads near the image's edge only. */
static __device__ __noinline__ int64_t border_index(int64_t i, int64_t n, int32_t border)
{
    return twi_border_index(i, n, border);
}

/* The first pass along rows: values are the image's elements, rows and columns outside it by the border. */
template <typename T> static __global__ void separable_first(const twi_cuda_pass pass)
{
    const twi_cuda_box &box = pass.box;
    const int32_t channels = box.channels;
    const int64_t column = pass_column(pass);
    const int64_t row = pass_row(pass);
    const int64_t offset = (int64_t)box.anchor_x * channels;
    const int64_t element = pass.chunk_left + column - offset;
    const int64_t pixel = twi_pixel(element + offset, channels) - box.anchor_x;
    const int32_t channel = (int32_t)(element - pixel * channels);
    const int64_t y = border_index(pass.chunk_top + row - box.anchor_y, box.height, box.border);
    const T *const line = twi_row<T>(box, y < 0 ? 0 : y) + channel;
    const bool inside = pixel >= 0 && pixel + 16 <= box.width && y >= 0;
    const auto at = [&](int32_t i) {
        int64_t x = pixel + i;
        if (!inside)
            x = y < 0 ? -1 : border_index(x, box.width, box.border);
        return twi_begin<Sum<T>, T>(x < 0 ? (T)box.value : line[x * channels]);
    };
    run_pass<Sum<T>>(pass, column, row, at, at,
                     [&](int64_t place, Sum<T> sum) { ((Sum<T> *)pass.after)[place] = sum; });
}

/* A later pass along rows, or one down that is not the last: values are sums. */
template <typename S> static __global__ void separable_next(const twi_cuda_pass pass)
{
    const int64_t column = pass_column(pass);
    const int64_t row = pass_row(pass);
    const S *const line = (const S *)pass.values + row * pass.pitch + column;
    run_pass<S>(
        pass, column, row, [&](int32_t i) { return line[i * pass.step]; },
        [&](int32_t i) { return line[pass.skip + i * pass.step]; },
        [&](int64_t place, S sum) { ((S *)pass.after)[place] = sum; });
}

/* The last pass down, which writes means. */
template <typename T> static __global__ void separable_last(const twi_cuda_pass pass)
{
    const int64_t column = pass_column(pass);
    const int64_t row = pass_row(pass);
    const Sum<T> *const line = (const Sum<T> *)pass.values + row * pass.pitch + column;
    const auto at = [&](int32_t i) { return line[pass.skip + i * pass.step]; };
    run_pass<Sum<T>>(pass, column, row, at, at, [&](int64_t, Sum<T> sum) {
        twi_write(pass.box, pass.chunk_left + column, pass.chunk_top + row, twi_mean<T>(sum, pass.box));
    });
}

extern "C" const void *const twi_cuda_separable_first[TWI_CUDA_TYPES] = {
    (const void *)separable_first<uint8_t>, (const void *)separable_first<uint16_t>,
    (const void *)separable_first<int16_t>, (const void *)separable_first<int32_t>,
    (const void *)separable_first<float>,   (const void *)separable_first<double>,
};

extern "C" const void *const twi_cuda_separable_next[TWI_CUDA_TYPES] = {
    (const void *)separable_next<int64_t>, (const void *)separable_next<int64_t>,
    (const void *)separable_next<int64_t>, (const void *)separable_next<int64_t>,
    (const void *)separable_next<double>,  (const void *)separable_next<twi_pair>,
};

extern "C" const void *const twi_cuda_separable_last[TWI_CUDA_TYPES] = {
    (const void *)separable_last<uint8_t>, (const void *)separable_last<uint16_t>,
    (const void *)separable_last<int16_t>, (const void *)separable_last<int32_t>,
    (const void *)separable_last<float>,   (const void *)separable_last<double>,
};
