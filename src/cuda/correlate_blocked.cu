/*
 * correlate, variant `blocked`: any mask, any type. A thread makes ALONG outputs of a row, whose sums stay in its
 * registers. For each row of the mask it slides along the image's row, both of which lie in shared memory and are read
 * in vectors of 16 bytes: of the mask's row, which all threads of a block read at once, and of the values, of which the
 * last ALONG and a vector more stay in registers, in a ring. A vector of each is LANES * ALONG products.
 *
 * The 8 threads whose vectors are read together lie one below the other, in rows that are an odd number of vectors
 * long: no two of them meet in a bank. So that a mask's row ends with a whole vector, `shift` values precede it that
 * do not count, and as many each row of values. An output takes its taps in row-major order.
 *
 * A product that is added in 64 bits takes more than twice as long as one in f64, on devices made for that: there
 * integer sums beyond 32 bits are made in f64, as long as it holds them (twi_cuda_fast_sum_of()).
 */
#include "cuda/sum.cuh"

enum {
    ALONG = TWI_CUDA_BLOCKED_ALONG,
    WARPS = TWI_CUDA_BLOCKED_WARPS,
    WARP_WIDTH = TWI_CUDA_BLOCKED_WARP_WIDTH,
    WARP_ROWS = 32 * ALONG / WARP_WIDTH,
    WARPS_ACROSS = TWI_CUDA_BLOCKED_WIDTH / WARP_WIDTH
};

template <typename Value> static __device__ __forceinline__ void load_vector(const uint4 *from, Value *to)
{
    const uint4 raw = *from;
#pragma unroll
    for (int i = 0; i < 16 / (int)sizeof(Value); i++)
        to[i] = ((const Value *)&raw)[i];
}

/* Adds the products of a row of the mask, of so many vectors, to the thread's sums. */
template <typename Value, typename S>
static __device__ __forceinline__ void add_row(const uint4 *values, const uint4 *weights, int32_t vectors,
                                               int32_t shift, S *sum)
{
    constexpr int LANES = 16 / (int)sizeof(Value);
    constexpr int SLOTS = ALONG / LANES + 1;
    Value ring[SLOTS * LANES];
    Value weight[LANES];
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        load_vector(values + k, ring + k * LANES);
    load_vector(weights, weight);
#pragma unroll
    for (int u = 0; u < LANES; u++)
        if (u >= shift)
#pragma unroll
            for (int p = 0; p < ALONG; p++)
                sum[p] = twi_multiply_add(sum[p], weight[u], ring[u + p]);
#pragma unroll 1
    for (;; values += SLOTS, weights += SLOTS)
#pragma unroll
        for (int k = 0; k < SLOTS; k++) {
            if (--vectors == 0)
                return;
            load_vector(weights + k + 1, weight);
            load_vector(values + k + SLOTS, ring + k * LANES);
#pragma unroll
            for (int u = 0; u < LANES; u++)
#pragma unroll
                for (int p = 0; p < ALONG; p++)
                    sum[p] = twi_multiply_add(sum[p], weight[u], ring[((k + 1) * LANES + u + p) % (SLOTS * LANES)]);
        }
}

/* To shared memory, without passing through registers where the hardware can: then many are on their way at once. */
template <typename T, typename Value> static __device__ __forceinline__ void bring(const T *from, Value *to)
{
    *to = (Value)*from;
}
#if __CUDA_ARCH__ >= 800
template <typename T> static __device__ __forceinline__ void bring(const T *from, T *to)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
                 "n"(sizeof(T))
                 : "memory");
}
#endif
static __device__ __forceinline__ void await_brought()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Brings one channel of `columns` pixels from `left` on, of image rows y ... y + rows - 1. */
template <typename T, typename Value>
static __device__ __forceinline__ void fill_rows(const twi_cuda_box &box, Value *tile, int32_t pitch, int64_t left,
                                                 int32_t columns, int64_t y, int32_t rows, int32_t channel)
{
    if (left >= 0 && left + columns <= box.width && y >= 0 && y + rows <= box.height) {
        const T *row = twi_row<T>(box, y + threadIdx.y) + left * box.channels + channel;
        for (int32_t j = threadIdx.y; j < rows; j += WARPS) {
#pragma unroll 4
            for (int32_t i = threadIdx.x; i < columns; i += 32)
                bring(row + i * box.channels, tile + j * pitch + i);
            row = (const T *)((const char *)row + WARPS * box.src_pitch);
        }
        return;
    }
    for (int32_t j = threadIdx.y; j < rows; j += WARPS)
#pragma unroll 1
        for (int32_t i = threadIdx.x; i < columns; i += 32)
            tile[j * pitch + i] = (Value)twi_read<T>(box, left + i, y + j, channel);
}

/* What a sum made in S is: in f64, but for pixels of f64, an integer below 2^53. */
template <typename T, typename S> struct sum_in {
    typedef S Type;
};
template <typename T> struct sum_in<T, double> {
    typedef int64_t Type;
};
template <> struct sum_in<double, double> {
    typedef double Type;
};

/* Writes a warp's sums, from (x, y) on, in shared memory so that threads side by side write outputs side by side. */
template <typename T, typename S>
static __device__ __forceinline__ void finish_rows(const twi_cuda_correlate_blocked &a, uint4 *room, const S *sum,
                                                   int64_t x, int64_t y, int32_t channel)
{
    typedef typename sum_in<T, S>::Type Sum;
    constexpr int THREAD_VECTORS = ALONG * (int)sizeof(S) / 16;
    constexpr int PITCH = WARP_WIDTH * (int)sizeof(S) / 16 + 1; /* odd, as above */
    const twi_cuda_box &box = a.box;
    const int32_t lane = threadIdx.x;
    room += threadIdx.y * (WARP_ROWS * PITCH);
    uint4 *const to = room + lane % WARP_ROWS * PITCH + lane / WARP_ROWS * THREAD_VECTORS;
#pragma unroll
    for (int k = 0; k < THREAD_VECTORS; k++)
        to[k] = ((const uint4 *)sum)[k];
    __syncwarp();
    char *row = (char *)box.dst + y * box.dst_pitch;
    const int32_t columns = (int32_t)min((int64_t)WARP_WIDTH, box.width - x);
    const int32_t rows = (int32_t)min((int64_t)WARP_ROWS, box.last - y);
    /* not unrolled: code that runs once takes longer to fetch than to run */
#pragma unroll 1
    for (int32_t r = 0; r < rows; r++, row += box.dst_pitch, room += PITCH)
#pragma unroll 1
        for (int32_t i = lane; i < columns; i += 32)
            twi_finish<Sum>(box, a.scale, row, (x + i) * box.channels + channel, (Sum)((const S *)room)[i]);
}

template <typename T, typename S>
static __global__ void __launch_bounds__(32 * WARPS, sizeof(S) == 4 ? 4 : 2)
    blocked(const __grid_constant__ twi_cuda_correlate_blocked a)
{
    typedef typename twi_terms<S>::Pixel Pixel;
    constexpr int LANES = 16 / (int)sizeof(Pixel);
    extern __shared__ uint4 room[];
    const twi_cuda_box &box = a.box;
    const int32_t height = box.window_height;
    uint4 *const weights = room;
    uint4 *const tile = room + a.rows * a.mask_pitch;
    const int32_t lane = threadIdx.x;
    const int32_t warp = threadIdx.y;
    const int32_t warp_x = warp % WARPS_ACROSS * WARP_WIDTH; /* from the block's first output */
    const int32_t warp_y = warp / WARPS_ACROSS * WARP_ROWS;
    const int64_t left = box.left / box.channels + blockIdx.x * (int64_t)TWI_CUDA_BLOCKED_WIDTH;
    const int64_t top = box.first + blockIdx.y * (int64_t)TWI_CUDA_BLOCKED_HEIGHT;
    const uint4 *const mine =
        tile + (warp_y + lane % WARP_ROWS) * a.pitch + (warp_x + lane / WARP_ROWS * ALONG) / LANES;
    for (int32_t channel = 0; channel < box.channels; channel++) {
        S sum[ALONG];
#pragma unroll
        for (int p = 0; p < ALONG; p++)
            sum[p] = 0;
        for (int32_t first = 0; first < height; first += a.rows) {
            const int32_t count = min(a.rows, height - first);
            __syncthreads(); /* what was there is no longer needed */
            for (int32_t i = warp * 32 + lane; i < count * a.mask_pitch; i += 32 * WARPS)
                weights[i] = __ldg((const uint4 *)a.weights + first * a.mask_pitch + i);
            fill_rows<T>(box, (Pixel *)tile + a.shift, a.pitch * LANES, left - box.anchor_x,
                         TWI_CUDA_BLOCKED_WIDTH + box.window_width - 1, top - box.anchor_y + first,
                         TWI_CUDA_BLOCKED_HEIGHT + count - 1, channel);
            await_brought();
            __syncthreads();
#pragma unroll 1
            for (int32_t j = 0; j < count; j++)
                add_row<Pixel>(mine + j * a.pitch, weights + j * a.mask_pitch, a.mask_pitch, a.shift, sum);
        }
        __syncthreads();
        finish_rows<T>(a, room, sum, left + warp_x, top + warp_y, channel);
    }
}

#define INTEGERS(T)                                                                                                    \
    {                                                                                                                  \
        (const void *)blocked<T, int32_t>, (const void *)blocked<T, int64_t>, NULL, (const void *)blocked<T, float>,   \
            (const void *)blocked<T, double>                                                                           \
    }

extern "C" const void *const twi_cuda_correlate_blocked_kernels[TWI_CUDA_TYPES][TWI_CUDA_SUMS] = {
    INTEGERS(uint8_t),
    INTEGERS(uint16_t),
    INTEGERS(int16_t),
    INTEGERS(int32_t),
    {NULL, NULL, NULL, (const void *)blocked<float, float>, NULL},
    {NULL, NULL, NULL, NULL, (const void *)blocked<double, double>},
};
