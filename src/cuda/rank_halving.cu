/*
 * rank, variant `halving`: medians of 7x7, 9x9 and 11x11. A thread makes a tile of 4x2 outputs. What all its windows
 * cover is sorted once; for each half of the tile what only its windows cover is merged in, and so on down to single
 * outputs. That is a list of exchanges, which does not depend on the pixels: it is written during the build
 * (cmake/median_networks.c), and here all its values are registers. Two elements of 8 or 16 bits share a register.
 */
#include "cuda/order.cuh"

#define TWI_DEVICE static __device__ __forceinline__

enum { TILE_WIDTH = 4, TILE_HEIGHT = 2, ACROSS = TWI_CUDA_HALVING_ACROSS, DOWN = TWI_CUDA_HALVING_DOWN };

/* What an instruction compares: one element's key, or two of which the second lies a block's rows below. */
template <typename K> struct singles {
    enum { COUNT = 1 };
    typedef K vector;
    TWI_DEVICE vector lowest(vector a, vector b)
    {
        return min(a, b);
    }
    TWI_DEVICE vector highest(vector a, vector b)
    {
        return max(a, b);
    }
};
struct pairs {
    enum { COUNT = 2 };
    typedef uint32_t vector;
    TWI_DEVICE vector lowest(vector a, vector b)
    {
        return __vminu2(a, b);
    }
    TWI_DEVICE vector highest(vector a, vector b)
    {
        return __vmaxu2(a, b);
    }
};

/* Elements to vectors and back. */
template <typename T> struct lanes {
    typedef twi_keys<T> keys;
    typedef singles<typename keys::Key> vectors;
    template <typename Read> TWI_DEVICE typename keys::Key of(Read read)
    {
        return keys::of(read(0));
    }
    TWI_DEVICE T part(typename keys::Key vector, int)
    {
        return keys::back(vector);
    }
};
template <typename T, uint32_t SIGN> struct pair_lanes {
    typedef pairs vectors;
    template <typename Read> TWI_DEVICE uint32_t of(Read read)
    {
        return ((uint32_t)(uint16_t)read(0) | (uint32_t)(uint16_t)read(1) << 16) ^ SIGN;
    }
    TWI_DEVICE T part(uint32_t vector, int lane)
    {
        return (T)((vector ^ SIGN) >> (16 * lane));
    }
};
template <> struct lanes<uint8_t> : pair_lanes<uint8_t, 0> {
};
template <> struct lanes<uint16_t> : pair_lanes<uint16_t, 0> {
};
template <> struct lanes<int16_t> : pair_lanes<int16_t, 0x80008000u> {
};

/* run() makes the medians of a tile, row by row, whose first input is at `corner`. It is a function of its own, since
   it is long and the same for all types of a size. */
template <typename V, int SIDE> struct network;

#define SLOTS(count) vector slots[count], best;
#define TAKE(slot, x, y) slots[slot] = corner[(y)*width + (x)*channels];
#define EXCHANGE(a, b, low, high)                                                                                      \
    {                                                                                                                  \
        const vector first = slots[a], second = slots[b];                                                              \
        slots[low] = V::lowest(first, second);                                                                         \
        slots[high] = V::highest(first, second);                                                                       \
    }
#define FIRST_PAIR(a, b) best = V::highest(slots[a], slots[b]);
#define PAIR(a, b) best = V::lowest(best, V::highest(slots[a], slots[b]));
#define GIVE(x, y) medians[TILE_WIDTH * (y) + (x)] = best;

template <typename V> struct network<V, 7> {
    typedef typename V::vector vector;
    static __device__ __noinline__ void run(const vector *corner, int width, int channels, vector *medians)
    {
#include "cuda/median_network_7.cuh"
    }
};
template <typename V> struct network<V, 9> {
    typedef typename V::vector vector;
    static __device__ __noinline__ void run(const vector *corner, int width, int channels, vector *medians)
    {
#include "cuda/median_network_9.cuh"
    }
};
template <typename V> struct network<V, 11> {
    typedef typename V::vector vector;
    static __device__ __noinline__ void run(const vector *corner, int width, int channels, vector *medians)
    {
#include "cuda/median_network_11.cuh"
    }
};

/* Threads side by side make the tiles of a pixel's channels, then those of the next four pixels. */
template <typename T, int SIDE>
static __global__ void __launch_bounds__(ACROSS *DOWN) median_halving(const __grid_constant__ twi_cuda_box box)
{
    typedef lanes<T> L;
    typedef typename L::vectors V;
    typedef typename V::vector vector;
    enum { ROWS = TILE_HEIGHT * DOWN, MOST = 4 };
    __shared__ vector near_by[(ROWS + SIDE - 1) * (TILE_WIDTH * ACROSS + MOST * (SIDE - 1))];
    const int channels = box.channels;
    const int pixels = ACROSS / channels * TILE_WIDTH;
    const int64_t left = (box.left / channels / pixels + blockIdx.x) * pixels;
    const int64_t top = box.first + blockIdx.y * (int64_t)(ROWS * V::COUNT);
    const int width = (pixels + SIDE - 1) * channels;
    const int64_t x0 = left - box.anchor_x;
    const int64_t y0 = top - box.anchor_y;
    const int rows = ROWS * V::COUNT + SIDE - 1;
    const bool inside = x0 >= 0 && y0 >= 0 && x0 + pixels + SIDE - 1 <= box.width && y0 + rows <= box.height;
    const auto fill = [&](auto read) {
        for (int at = (int)(threadIdx.y * ACROSS + threadIdx.x); at < width * (ROWS + SIDE - 1); at += ACROSS * DOWN) {
            const int y = at / width;
            const int x = at - y * width;
            near_by[at] = L::of([&](int lane) { return read(x, y + lane * ROWS); });
        }
    };
    if (inside) {
        const char *const corner = (const char *)(twi_row<T>(box, y0) + x0 * channels);
        fill([&](int x, int y) { return ((const T *)(corner + y * box.src_pitch))[x]; });
    } else {
        fill([&](int x, int y) {
            const int pixel = (int)twi_pixel(x, channels);
            return twi_read<T>(box, x0 + pixel, y0 + y, x - pixel * channels);
        });
    }
    __syncthreads();

    const int tile = (int)twi_pixel(threadIdx.x, channels);
    const int channel = (int)threadIdx.x - tile * channels;
    if (tile * TILE_WIDTH >= pixels)
        return;
    const vector *const corner = near_by + threadIdx.y * TILE_HEIGHT * width + tile * TILE_WIDTH * channels + channel;
    vector medians[TILE_WIDTH * TILE_HEIGHT];
    network<V, SIDE>::run(corner, width, channels, medians);
#pragma unroll
    for (int i = 0; i < TILE_WIDTH * TILE_HEIGHT; i++) {
        const int64_t column = left + tile * TILE_WIDTH + i % TILE_WIDTH;
#pragma unroll
        for (int lane = 0; lane < V::COUNT; lane++) {
            const int64_t row = top + threadIdx.y * TILE_HEIGHT + i / TILE_WIDTH + lane * ROWS;
            if (column < box.width && row < box.last)
                twi_write<T>(box, column * channels + channel, row, L::part(medians[i], lane));
        }
    }
}

/* Of 11x11, f64 does not fit in registers. */
#define KERNELS(side, doubles)                                                                                         \
    {                                                                                                                  \
        (const void *)median_halving<uint8_t, side>, (const void *)median_halving<uint16_t, side>,                     \
            (const void *)median_halving<int16_t, side>, (const void *)median_halving<int32_t, side>,                  \
            (const void *)median_halving<float, side>, doubles,                                                        \
    }
#define DOUBLES(side) (const void *)median_halving<double, side>

extern "C" const void *const twi_cuda_median_halving[TWI_CUDA_HALVINGS][TWI_CUDA_TYPES] = {
    KERNELS(7, DOUBLES(7)),
    KERNELS(9, DOUBLES(9)),
    KERNELS(11, nullptr),
};
