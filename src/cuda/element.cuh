/*
 * Device code that all filters share: where an element lies, what a position reads, how a block brings its
 * neighbourhood into shared memory.
 */
#ifndef TWI_ELEMENT_CUH
#define TWI_ELEMENT_CUH

#include "core/exact.h"
#include "cuda/cuda.h"

/* The pixel of an element column. A division by a constant is a multiplication. */
static __device__ __forceinline__ int64_t twi_pixel(int64_t element, int32_t channels)
{
    switch (channels) {
    case 1:
        return element;
    case 2:
        return element / 2;
    case 3:
        return element / 3;
    default:
        return element / 4;
    }
}

template <typename T> static __device__ __forceinline__ const T *twi_row(const twi_cuda_box &box, int64_t y)
{
    return (const T *)((const char *)box.src + y * box.src_pitch);
}

/* What position (x, y) reads, inside the image or out. */
template <typename T>
static __device__ __forceinline__ T twi_read(const twi_cuda_box &box, int64_t x, int64_t y, int32_t channel)
{
    const int64_t column = twi_border_index(x, box.width, box.border);
    const int64_t row = twi_border_index(y, box.height, box.border);
    if (column < 0 || row < 0)
        return (T)box.value;
    return twi_row<T>(box, row)[column * box.channels + channel];
}

template <typename T>
static __device__ __forceinline__ void twi_write(const twi_cuda_box &box, int64_t element, int64_t y, T mean)
{
    ((T *)((char *)box.dst + y * box.dst_pitch))[element] = mean;
}

/* ---- Outputs ------------------------------------------------------------------------------------ */

/* The output of a thread in a grid of blocks whose threads make one output each. */
typedef struct twi_output {
    int64_t element;
    int64_t y;
    int64_t left; /* the pixel and row of the window's first position, */
    int64_t top;
    int32_t channel; /* and its channel */
    bool exists;     /* false: the block hangs over the image's edge */
    bool inside;     /* the whole window lies in the image */
} twi_output;

static __device__ __forceinline__ twi_output twi_output_here(const twi_cuda_box &box)
{
    twi_output out;
    out.element = box.left + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    out.y = box.first + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t pixel = twi_pixel(out.element, box.channels);
    out.channel = (int32_t)(out.element - pixel * box.channels);
    out.left = pixel - box.anchor_x;
    out.top = out.y - box.anchor_y;
    out.exists = out.element < box.width * box.channels && out.y < box.last;
    out.inside = out.left >= 0 && out.top >= 0 && out.left + box.window_width <= box.width &&
                 out.top + box.window_height <= box.height;
    return out;
}

/* ---- Tiles ---------------------------------------------------------------------------------------- */

/* The part of the image that the outputs of a block read. */
typedef struct twi_tile {
    int64_t left; /* its first element column and row in the image */
    int64_t top;
    int32_t width; /* in elements */
    int32_t height;
} twi_tile;

static __device__ __forceinline__ twi_tile twi_tile_here(const twi_cuda_box &box)
{
    twi_tile tile;
    tile.left = box.left + (int64_t)blockIdx.x * blockDim.x - (int64_t)box.anchor_x * box.channels;
    tile.top = box.first + (int64_t)blockIdx.y * blockDim.y - box.anchor_y;
    tile.width = (int32_t)blockDim.x + (box.window_width - 1) * box.channels;
    tile.height = (int32_t)blockDim.y + box.window_height - 1;
    return tile;
}

/*
 * Fills the tile: thread t of the block writes positions t, t + threads, t + 2 * threads, ..., so each position,
 * corners included, is written by exactly one thread. `of` makes what is kept of an element; `outside` is kept
 * where the border's value is read. To be followed by a barrier that all threads reach.
 */
template <typename T, typename E, typename Of>
static __device__ __forceinline__ void twi_fill_tile(const twi_cuda_box &box, const twi_tile &tile, E *shared,
                                                     E outside, Of of)
{
    const int32_t thread = (int32_t)(threadIdx.y * blockDim.x + threadIdx.x);
    const int32_t threads = (int32_t)(blockDim.x * blockDim.y);
    const bool inside = tile.left >= 0 && tile.top >= 0 && tile.left + tile.width <= box.width * box.channels &&
                        tile.top + tile.height <= box.height;
    for (int32_t at = thread; at < tile.width * tile.height; at += threads) {
        const int32_t j = at / tile.width;
        const int64_t element = tile.left + (at - j * tile.width);
        if (inside) {
            shared[at] = of(twi_row<T>(box, tile.top + j)[element]);
        } else {
            /* left of the image elements are negative: the pixel is rounded down */
            const int64_t offset = (int64_t)box.anchor_x * box.channels;
            const int64_t pixel = twi_pixel(element + offset, box.channels) - box.anchor_x;
            const int64_t column = twi_border_index(pixel, box.width, box.border);
            const int64_t row = twi_border_index(tile.top + j, box.height, box.border);
            shared[at] = column < 0 || row < 0
                             ? outside
                             : of(twi_row<T>(box, row)[column * box.channels + (element - pixel * box.channels)]);
        }
    }
}

/* The thread's first window position in the tile; the next pixel is `channels` further. */
template <typename E> static __device__ __forceinline__ const E *twi_tile_corner(const twi_tile &tile, const E *shared)
{
    return shared + (int32_t)threadIdx.y * tile.width + (int32_t)threadIdx.x;
}

#endif
