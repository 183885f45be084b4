/*
 * sepconv and gaussian, variant fused: a block marches down a strip, STEP rows a step, and keeps in shared memory the
 * sums along rows that the outputs of a step need. In a step its threads
 *   bring STEP rows of pixels into shared memory, converted once,
 *   sum them along, ALONG neighbouring pixels a thread, into a ring of lines,
 *   sum lines down, STEP rows a thread, into outputs.
 * A thread of many sums needs one value and one weight more for each tap of all of them. ALONG is odd, so that the
 * threads of a warp, which lie so far apart, read from different banks.
 */
#include "cuda/sepconv.cuh"

enum { ALONG = TWI_CUDA_FUSED_ALONG, STEP = TWI_CUDA_FUSED_STEP };

/* sum[r] += weight(0) * value(r) + ... + weight(n - 1) * value(r + n - 1), in that order. `next` gives the values one
   after the other. */
template <int R, typename V, typename S, typename Weight, typename Next>
static __device__ __forceinline__ void sum_lines(S *sum, const Weight *weights, int32_t n, Next next)
{
    V values[R];
#pragma unroll
    for (int r = 0; r < R - 1; r++)
        values[r] = next();
    for (int32_t first = 0; first < n; first += R) {
#pragma unroll
        for (int u = 0; u < R; u++) {
            if (first + u >= n)
                return;
            values[(u + R - 1) % R] = next();
            const Weight weight = weights[first + u];
#pragma unroll
            for (int r = 0; r < R; r++)
                sum[r] = twi_multiply_add(sum[r], weight, values[(u + r) % R]);
        }
    }
}

/* The block's part of shared memory, and where it is in the image. */
template <typename S> struct strip {
    typedef typename twi_terms<S>::Mask Weight;
    typedef typename twi_terms<S>::Pixel Pixel;
    typedef typename passes<S>::Line Line;
    Line *lines;   /* a ring of `ring` lines */
    Pixel *pixels; /* STEP rows */
    Weight *along; /* weights */
    Weight *down;
    int32_t width;  /* elements of a line */
    int32_t pitch;  /* of a row of pixels */
    int64_t left;   /* the element that the first output lies at */
    int64_t before; /* ... and that the first pixel's lies at */
};

template <typename S> static __device__ __forceinline__ strip<S> strip_here(const twi_cuda_fused &f)
{
    extern __shared__ __align__(16) unsigned char shared[];
    const twi_cuda_box &box = f.box;
    strip<S> s;
    s.width = 32 / box.channels * box.channels * ALONG;
    s.pitch = s.width + (box.window_width - 1) * box.channels;
    s.left = box.left + (int64_t)blockIdx.x * s.width;
    s.before = s.left - (int64_t)box.anchor_x * box.channels;
    s.lines = (typename strip<S>::Line *)shared;
    s.pixels = (typename strip<S>::Pixel *)(s.lines + f.ring * s.width);
    s.along = (typename strip<S>::Weight *)(s.pixels + STEP * s.pitch);
    s.down = s.along + box.window_width;
    return s;
}

template <typename W> static __device__ __forceinline__ void copy_weights(const void *from, int32_t count, W *to)
{
    for (int32_t i = (int32_t)(threadIdx.y * 32 + threadIdx.x); i < count; i += 32 * ALONG)
        to[i] = __ldg((const W *)from + i);
}

/* Brings STEP rows from y on, a warp a row. */
template <typename T, typename S>
static __device__ __forceinline__ void bring_rows(const twi_cuda_box &box, const strip<S> &s, int64_t y)
{
    typedef typename strip<S>::Pixel Pixel;
    const bool inside = s.before >= 0 && s.before + s.pitch <= box.width * box.channels;
    for (int32_t j = (int32_t)threadIdx.y; j < STEP; j += ALONG) {
        const int64_t row = twi_border_index(y + j, box.height, box.border);
        Pixel *const to = s.pixels + j * s.pitch;
        if (inside && row >= 0) {
            const T *const from = twi_row<T>(box, row) + s.before;
#pragma unroll 4
            for (int32_t i = (int32_t)threadIdx.x; i < s.pitch; i += 32)
                to[i] = (Pixel)__ldg(from + i);
        } else {
            for (int32_t i = (int32_t)threadIdx.x; i < s.pitch; i += 32) {
                /* left of the image elements are negative: the pixel is rounded down */
                const int64_t element = s.before + i;
                const int64_t pixel =
                    twi_pixel(element + (int64_t)box.anchor_x * box.channels, box.channels) - box.anchor_x;
                to[i] = (Pixel)twi_read<T>(box, pixel, y + j, (int32_t)(element - pixel * box.channels));
            }
        }
    }
}

/* Sums the rows along, a warp a row, into the lines from `line` on. */
template <typename S>
static __device__ __forceinline__ void sum_along(const twi_cuda_box &box, const strip<S> &s, int32_t line)
{
    typedef typename strip<S>::Pixel Pixel;
    const int32_t lane = (int32_t)threadIdx.x;
    const int32_t channels = box.channels;
    if (lane >= 32 / channels * channels)
        return;
    const int32_t place = lane / channels * channels * ALONG + lane % channels;
    for (int32_t j = (int32_t)threadIdx.y; j < STEP; j += ALONG) {
        S sum[ALONG];
#pragma unroll
        for (int r = 0; r < ALONG; r++)
            sum[r] = passes<S>::begin_along();
        const Pixel *from = s.pixels + j * s.pitch + place;
        sum_lines<ALONG, Pixel>(sum, s.along, box.window_width, [&]() {
            const Pixel value = *from;
            from += channels;
            return value;
        });
        typename strip<S>::Line *const to = s.lines + (line + j) * s.width + place;
#pragma unroll
        for (int r = 0; r < ALONG; r++)
            to[r * channels] = passes<S>::keep(sum[r]);
    }
}

/* Sums lines down, those of the first output from `line` on, and writes `count` rows of outputs, at most STEP. */
template <typename S>
static __device__ __forceinline__ void sum_down(const twi_cuda_fused &f, const strip<S> &s, int32_t line, int64_t y,
                                                int64_t count)
{
    typedef typename strip<S>::Line Line;
    const twi_cuda_box &box = f.box;
    const int32_t column = (int32_t)(threadIdx.y * 32 + threadIdx.x);
    if (column >= s.width || s.left + column >= box.width * box.channels)
        return;
    S sum[STEP];
#pragma unroll
    for (int r = 0; r < STEP; r++)
        sum[r] = passes<S>::begin_down();
    const Line *from = s.lines + line * s.width + column;
    const Line *const end = s.lines + f.ring * s.width;
    sum_lines<STEP, Line>(sum, s.down, box.window_height, [&]() {
        const Line value = *from;
        from += s.width;
        from = from >= end ? from - f.ring * s.width : from;
        return value;
    });
    char *row = (char *)box.dst + y * box.dst_pitch;
#pragma unroll
    for (int r = 0; r < STEP; r++, row += box.dst_pitch)
        if (r < count)
            passes<S>::finish(box, f.scale, row, s.left + column, sum[r]);
}

template <typename T, typename S>
static __global__ void __launch_bounds__(32 * ALONG, 5) fused(const __grid_constant__ twi_cuda_fused f)
{
    const twi_cuda_box &box = f.box;
    const strip<S> s = strip_here<S>(f);
    const int64_t top = box.first + (int64_t)blockIdx.y * box.strip_height;
    const int64_t rows = box.last - top < box.strip_height ? box.last - top : box.strip_height;
    /* the ring holds the lines of STEP outputs, rounded up to whole steps: the first `skip` lines are not used */
    const int32_t before = f.ring - STEP;
    const int32_t skip = before - (box.window_height - 1);
    copy_weights(f.along, box.window_width, s.along);
    copy_weights(f.down, box.window_height, s.down);
    int32_t line = 0; /* in the ring, that of the step */
    for (int64_t y = -before; y < rows; y += STEP) {
        bring_rows<T, S>(box, s, top - box.anchor_y + y + before - skip);
        __syncthreads();
        sum_along(box, s, line);
        __syncthreads();
        line = line + STEP == f.ring ? 0 : line + STEP;
        if (y >= 0)
            sum_down(f, s, (line + skip) % f.ring, top + y, rows - y);
    }
}

/* Integers of any sum below 128 bits. */
#define INTEGERS(T, fixed)                                                                                             \
    {                                                                                                                  \
        (const void *)fused<T, int32_t>, (const void *)fused<T, int64_t>, NULL, (const void *)fused<T, float>,         \
            (const void *)fused<T, double>, fixed,                                                                     \
    }

extern "C" const void *const twi_cuda_sepconv_fused[TWI_CUDA_TYPES][TWI_CUDA_SEPARABLE_SUMS] = {
    INTEGERS(uint8_t, (const void *)(fused<uint8_t, uint32_t>)),
    INTEGERS(uint16_t, NULL),
    INTEGERS(int16_t, NULL),
    INTEGERS(int32_t, NULL),
    {NULL, NULL, NULL, (const void *)fused<float, float>, (const void *)fused<float, double>, NULL},
    {NULL, NULL, NULL, NULL, (const void *)fused<double, double>, NULL},
};
