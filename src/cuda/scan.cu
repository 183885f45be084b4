/*
 * scan along rows, the variants to learn from: a block a line, a chunk of 1024 values after the other.
 *   hillis    Hillis and Steele, Data Parallel Algorithms, Communications of the ACM 29 (1986): in step d each value
 *             gets that of its neighbour d places before, d = 1, 2, 4, ...: 10 steps, 10 additions a value
 *   blelloch  Blelloch, Prefix Sums and Their Applications, CMU-CS-90-190 (1990): sums up a tree, then down again: 20
 *             steps, 2 additions a value, but ever fewer threads at work, whose strides meet in few banks
 *   shuffle   the first scheme in each warp by shuffles, then over the sums of warps: two barriers
 * They add in other orders than the definition of floats, so they do integers, which are exact in any order.
 */
#include "cuda/scan.cuh"

enum { CHUNK = TWI_CUDA_SCAN_CHUNK };

/* A channel of a row. */
template <typename T, typename O> struct row_of {
    const T *src;
    O *dst;
    int32_t step; /* elements from a pixel to the next */

    __device__ __forceinline__ explicit row_of(const twi_cuda_scan &scan) : step(scan.channels)
    {
        const int64_t number = scan.left + blockIdx.x;
        const int64_t y = number / scan.channels;
        src = (const T *)((const char *)scan.src + y * scan.src_pitch) + (number - y * scan.channels);
        dst = (O *)((char *)scan.dst + y * scan.dst_pitch) + (number - y * scan.channels);
    }
};

/* The inclusive sums of a chunk, one a thread, in place; `spare` has as much room. Returns where they are. */
struct hillis {
    template <typename A> static __device__ __forceinline__ A *run(A *values, A *spare)
    {
        const int i = (int)threadIdx.x;
        for (int distance = 1; distance < CHUNK; distance *= 2) {
            const A own = values[i];
            spare[i] = i >= distance ? values[i - distance] + own : own;
            __syncthreads();
            A *const made = spare;
            spare = values;
            values = made;
        }
        return values;
    }
};

struct blelloch {
    template <typename A> static __device__ __forceinline__ A *run(A *values, A *spare)
    {
        const int i = (int)threadIdx.x;
        const A own = values[i];
        for (int stride = 1; stride < CHUNK; stride *= 2) { /* up: sums of 2, 4, 8 ... */
            const int right = (i + 1) * 2 * stride - 1;
            __syncthreads();
            if (right < CHUNK)
                values[right] += values[right - stride];
        }
        __syncthreads();
        if (i == 0)
            values[CHUNK - 1] = 0;
        for (int stride = CHUNK / 2; stride > 0; stride /= 2) { /* down: what lies before each part */
            const int right = (i + 1) * 2 * stride - 1;
            __syncthreads();
            if (right < CHUNK) {
                const A left = values[right - stride];
                values[right - stride] = values[right];
                values[right] += left;
            }
        }
        __syncthreads();
        spare[i] = values[i] + own;
        __syncthreads();
        return spare;
    }
};

struct shuffle {
    template <typename A> static __device__ __forceinline__ A *run(A *values, A *spare)
    {
        const int lane = (int)threadIdx.x % 32;
        const int warp = (int)threadIdx.x / 32;
        const A own = values[threadIdx.x];
        A total;
        const A before = twi_before_lane(own, &total);
        if (lane == 0)
            spare[warp] = total;
        __syncthreads();
        const A warps_before = twi_before_lane(spare[lane], &total); /* 32 warps: a lane each */
        values[threadIdx.x] = __shfl_sync(~0u, warps_before, warp) + before + own;
        __syncthreads();
        return values;
    }
};

template <typename Scheme, typename T, typename O, typename A>
__global__ void __launch_bounds__(CHUNK) scan_rows(const twi_cuda_scan scan)
{
    __shared__ A room[2][CHUNK];
    const row_of<T, O> row(scan);
    A before = 0;
    for (int64_t start = 0; start < scan.width; start += CHUNK) {
        const int64_t x = start + threadIdx.x;
        const A value = x < scan.width ? (A)row.src[x * row.step] : (A)0;
        room[0][threadIdx.x] = value;
        __syncthreads();
        const A *const sums = Scheme::run(room[0], room[1]);
        if (x < scan.width) {
            const A sum = before + sums[threadIdx.x];
            row.dst[x * row.step] = twi_sum_as(O(), (A)(scan.exclusive ? sum - value : sum));
        }
        before += sums[CHUNK - 1];
        __syncthreads();
    }
}

#define KERNEL(SCHEME, T, O) (const void *)scan_rows<SCHEME, T, O, O>
#define TABLE(SCHEME)                                                                                                  \
    extern "C" const void *const twi_cuda_scan_##SCHEME[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {                        \
        {KERNEL(SCHEME, uint8_t, uint32_t), KERNEL(SCHEME, uint8_t, uint64_t), KERNEL(SCHEME, uint8_t, double)},       \
        {KERNEL(SCHEME, uint16_t, uint32_t), KERNEL(SCHEME, uint16_t, uint64_t), KERNEL(SCHEME, uint16_t, double)},    \
        {KERNEL(SCHEME, int16_t, uint32_t), KERNEL(SCHEME, int16_t, uint64_t), KERNEL(SCHEME, int16_t, double)},       \
        {nullptr, KERNEL(SCHEME, int32_t, uint64_t), KERNEL(SCHEME, int32_t, double)},                                 \
    }
TABLE(hillis);
TABLE(blelloch);
TABLE(shuffle);
