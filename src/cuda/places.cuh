/*
 * Device code that the kernels of variant `places` share: what the windows of a tile read, sorted, which gives each
 * position a place in the order. A tile of which all that fits is sorted in shared memory; a larger one is merged there
 * from parts in global memory.
 */
#ifndef TWI_PLACES_CUH
#define TWI_PLACES_CUH

#include "cuda/order.cuh"

#define TWI_DEVICE static __device__ __forceinline__

enum { ITEMS = TWI_CUDA_PLACES_ITEMS };

extern __shared__ uint4 room[];

/* ---- Items -------------------------------------------------------------------------------------------------- */

/* Where a position is: 65536 * y + x, both below 32767, in the tile's neighbourhood. NOWHERE is in no window. */
enum { ROW = 65536, NOWHERE = 0x7fff7fff };

/* What is sorted: a key as bits whose order is that of the elements, and where it is. Which of equals comes first does
   not matter, as long as all threads agree. */
template <typename K> struct wide_item {
    K key;
    K position;
    static __device__ __forceinline__ wide_item of(K key, uint32_t where)
    {
        return {key, where};
    }
    __device__ __forceinline__ uint32_t where() const
    {
        return (uint32_t)position;
    }
    __device__ __forceinline__ bool before(const wide_item &other) const
    {
        return key < other.key;
    }
};

/* The same in one word, for keys of 16 bits and sides up to 255. */
struct narrow_item {
    uint32_t both;
    static __device__ __forceinline__ narrow_item of(uint32_t key, uint32_t where)
    {
        return {__byte_perm(where, key, 0x5420)};
    }
    __device__ __forceinline__ uint32_t where() const
    {
        return __byte_perm(both, 0, 0x4140);
    }
    __device__ __forceinline__ bool before(const narrow_item &other) const
    {
        return both < other.both;
    }
};

template <typename K> struct items_of {
    typedef wide_item<K> near_by; /* of sides up to 255 */
    typedef wide_item<K> any;
};
template <> struct items_of<uint8_t> {
    typedef narrow_item near_by;
    typedef wide_item<uint32_t> any;
};
template <> struct items_of<uint16_t> : items_of<uint8_t> {
};

/* ---- Sorting ------------------------------------------------------------------------------------------------ */

/* Items in shared memory: those of neighbouring threads begin in other banks. */
template <typename I> struct in_shared {
    I *items;
    __device__ __forceinline__ I &operator[](int i) const
    {
        return items[i + (unsigned)i / ITEMS];
    }
};

/* Batcher's odd-even merge sort of a thread's items, in registers. */
template <typename I> TWI_DEVICE void sort_own(I (&items)[ITEMS])
{
#pragma unroll
    for (int size = 1; size < ITEMS; size *= 2)
#pragma unroll
        for (int step = size; step > 0; step /= 2)
#pragma unroll
            for (int i = 0; i < ITEMS; i++) {
                const int j = i + step;
                if (j < ITEMS && i >= step % size && (i - step % size) / step % 2 == 0 &&
                    i / (2 * size) == j / (2 * size)) {
                    const I a = items[i];
                    const I b = items[j];
                    const bool swap = b.before(a);
                    items[i] = swap ? b : a;
                    items[j] = swap ? a : b;
                }
            }
}

/* Of two sorted runs, begin ... middle - 1 and middle ... end - 1, merged, the items from `first` on. */
template <typename Run, typename I>
TWI_DEVICE void merge_some(Run items, int begin, int middle, int end, int first, I (&merged)[ITEMS])
{
    /* how many of those before `first` come from the left run */
    int low = max(0, first - (end - middle));
    int high = min(first, middle - begin);
    while (low < high) {
        const int left = (low + high) / 2;
        if (items[middle + first - 1 - left].before(items[begin + left]))
            high = left;
        else
            low = left + 1;
    }
    int a = begin + low;
    int b = middle + first - low;
    I left = items[min(a, end - 1)];
    I right = items[min(b, end - 1)];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const bool from_right = a >= middle || (b < end && right.before(left));
        merged[i] = from_right ? right : left;
        a += !from_right;
        b += from_right;
        const I next = items[min(from_right ? b : a, end - 1)];
        left = from_right ? left : next;
        right = from_right ? next : right;
    }
}

/* Sorts the items of all threads: thread t then has those at ITEMS * t and on. */
template <typename I, int THREADS> TWI_DEVICE void sort_all(I (&items)[ITEMS])
{
    const in_shared<I> all = {(I *)room};
    const int first = (int)threadIdx.x * ITEMS;
    sort_own(items);
#pragma unroll 1
    for (int run = ITEMS; run < THREADS * ITEMS; run *= 2) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            all[first + i] = items[i];
        __syncthreads();
        const int begin = first & -2 * run;
        merge_some(all, begin, begin + run, begin + 2 * run, first - begin, items);
    }
    __syncthreads();
}

/* ---- Tiles -------------------------------------------------------------------------------------------------- */

/* A tile of outputs of one channel, and what their windows read. */
struct tile {
    int64_t left; /* the first output */
    int64_t top;
    int64_t x; /* the first position */
    int64_t y;
    int width; /* of the positions */
    int height;
    int channel;
    bool inside;
};

TWI_DEVICE tile tile_of(const twi_cuda_box &box, int64_t column, int64_t row)
{
    tile t;
    t.channel = (int)(column % box.channels);
    t.left = column / box.channels * box.strip_width;
    t.top = box.first + row * box.strip_height;
    t.x = t.left - box.anchor_x;
    t.y = t.top - box.anchor_y;
    t.width = box.strip_width + box.window_width - 1;
    t.height = box.strip_height + box.window_height - 1;
    t.inside = t.x >= 0 && t.y >= 0 && t.x + t.width <= box.width && t.y + t.height <= box.height;
    return t;
}

/* A call, as it is rare and long: tiles at the image's edge read so. */
template <typename T>
static __device__ __noinline__ T read_outside(const twi_cuda_box &box, const tile &t, int x, int y)
{
    return twi_read<T>(box, t.x + x, t.y + y, t.channel);
}

template <typename T> TWI_DEVICE typename twi_keys<T>::Key key_at(const twi_cuda_box &box, const tile &t, int x, int y)
{
    return twi_keys<T>::of(t.inside ? twi_row<T>(box, t.y + y)[(t.x + x) * box.channels + t.channel]
                                    : read_outside<T>(box, t, x, y));
}

/* The items begin, begin + THREADS ... of those of the tile, row by row. */
template <typename T, typename I, int THREADS>
TWI_DEVICE void load_items(const twi_cuda_box &box, const tile &t, int begin, I (&items)[ITEMS])
{
    typedef twi_keys<T> keys;
    typedef typename keys::Bits Bits;
    const Bits sign = (Bits)(keys::lowest < 0 ? (Bits)1 << (8 * sizeof(Bits) - 1) : 0);
    /* exact: a tile's positions times its width fit in 32 bits, and the width is not 1 */
    const uint32_t inverse = UINT32_MAX / (uint32_t)t.width + 1;
    const auto load = [&](auto element) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const int at = begin + i * THREADS;
            const int y = (int)__umulhi((uint32_t)at, inverse);
            const int x = at - y * t.width;
            items[i] = y < t.height ? I::of((Bits)((Bits)keys::of(element(x, y)) ^ sign), (uint32_t)(ROW * y + x))
                                    : I::of((Bits) ~(Bits)0, NOWHERE);
        }
    };
    if (t.inside) {
        const char *const corner = (const char *)(twi_row<T>(box, t.y) + t.x * box.channels + t.channel);
        load([&](int x, int y) { return ((const T *)(corner + y * box.src_pitch))[x * box.channels]; });
    } else {
        load([&](int x, int y) { return read_outside<T>(box, t, x, y); });
    }
}

/* ---- In global memory ------------------------------------------------------------------------------------------ */

enum { LARGE_THREADS = TWI_CUDA_PLACES_THREADS, PART = LARGE_THREADS * ITEMS };

TWI_DEVICE int large_total(const tile &t)
{
    return (t.width * t.height + PART - 1) / PART * PART;
}

/* Sorts the items of a large tile, into `to`: parts of as many items as a block has in registers are sorted there, then
   runs of them are merged from one half of the memory to the other, which are exchanged. */
template <typename T, typename I>
TWI_DEVICE void sort_large(const twi_cuda_box &box, const tile &t, int total, I *&from, I *&to)
{
    const int thread = (int)threadIdx.x;
    const in_shared<I> shared = {(I *)room};
    I items[ITEMS];
    /* stored by neighbouring threads side by side */
    const auto store = [&](int begin) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            shared[thread * ITEMS + i] = items[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            to[begin + i * LARGE_THREADS + thread] = shared[i * LARGE_THREADS + thread];
    };
    for (int begin = 0; begin < total; begin += PART) {
        load_items<T, I, LARGE_THREADS>(box, t, begin + thread, items);
        sort_all<I, LARGE_THREADS>(items);
        store(begin);
    }
    for (int run = PART; run < total; run *= 2) {
        I *const merged = from;
        from = to;
        to = merged;
        __syncthreads();
        for (int part = 0; part < total; part += PART) {
            const int begin = part & -2 * run;
            merge_some((const I *)from, begin, min(begin + run, total), min(begin + 2 * run, total),
                       part - begin + thread * ITEMS, items);
            store(part);
        }
    }
    __syncthreads();
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/* A template of a type, and of a number of threads, if there is one. */
#define TWI_PLACES_TYPES(kernel, ...)                                                                                  \
    {                                                                                                                  \
        (const void *)kernel<uint8_t, ##__VA_ARGS__>, (const void *)kernel<uint16_t, ##__VA_ARGS__>,                   \
            (const void *)kernel<int16_t, ##__VA_ARGS__>, (const void *)kernel<int32_t, ##__VA_ARGS__>,                \
            (const void *)kernel<float, ##__VA_ARGS__>, (const void *)kernel<double, ##__VA_ARGS__>,                   \
    }

#define TWI_PLACES_TABLE(kernel)                                                                                       \
    {                                                                                                                  \
        {64, TWI_PLACES_TYPES(kernel, 64)}, {128, TWI_PLACES_TYPES(kernel, 128)},                                      \
            {256, TWI_PLACES_TYPES(kernel, 256)}, {512, TWI_PLACES_TYPES(kernel, 512)},                                \
            {1024, TWI_PLACES_TYPES(kernel, 1024)},                                                                    \
    }

#endif
