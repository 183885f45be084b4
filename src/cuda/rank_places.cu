/*
 * rank, variant `places`: any rank of whole windows. What the windows of a tile read is sorted once, which gives each
 * position a place in the order. From then on elements of all types are small integers that differ.
 *   march:  a thread goes down a column of outputs. It keeps a place, and how many positions of the window have lower
 *           ones; a row that enters or leaves changes the count, by comparisons.
 *   walk:   then it goes along the order, up or down, over positions in the window and others, until as many positions
 *           of the window are below as the rank says.
 * A tile of which all that fits is sorted in shared memory; a larger one is merged there from parts in global memory.
 */
#include <cuda_fp16.h>

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

/* ---- March and walk ------------------------------------------------------------------------------------------- */

/* Places of 14 bits, two a word, as halves, whose order is that of integers below 0x7c00. In the first and the last of
   a window's words not all belong to it: `or` makes NaNs of the others, which are below none. */
struct paired_places {
    const uint32_t *words;
    int pitch;
    int count;
    uint32_t first;
    uint32_t last;

    TWI_DEVICE __half2 halves(uint32_t pair)
    {
        return *(const __half2 *)&pair;
    }
    __device__ __forceinline__ paired_places(const uint32_t *places, int row, int x, int width)
        : words(places + x / 2), pitch(row), count(width / 2 + 1)
    {
        const int rest = width % 2 + x % 2; /* that belong to it of the last word */
        first = x % 2 ? 0x00007fff : width == 1 ? 0x7fff0000 : 0;
        last = rest == 0 || width == 1 ? 0x7fff7fff : rest == 1 ? 0x7fff0000 : 0;
    }
    /* How many of the window's positions in row y have places below that. */
    __device__ __forceinline__ int below(int y, int place) const
    {
        const uint32_t *const row = words + y * pitch;
        const __half2 limit = halves((uint32_t)place * 0x10001u);
        __half2 sum = __hadd2(__hlt2(halves(row[0] | first), limit), __hlt2(halves(row[count - 1] | last), limit));
#pragma unroll 4
        for (int k = 1; k < count - 1; k++)
            sum = __hadd2(sum, __hlt2(halves(row[k]), limit));
        return __half2int_rz(__hadd(__low2half(sum), __high2half(sum)));
    }
};

struct single_places {
    const int32_t *places;
    int pitch;
    int count;

    __device__ __forceinline__ single_places(const int32_t *all, int row, int x, int width)
        : places(all + x), pitch(row), count(width)
    {
    }
    __device__ __forceinline__ int below(int y, int place) const
    {
        const int32_t *const row = places + (int64_t)y * pitch;
        int sum = 0;
#pragma unroll 8
        for (int k = 0; k < count; k++)
            sum += row[k] < place;
        return sum;
    }
};

enum { STRIDE = 8 };

/* A window, as two numbers of two halves: whether both halves of a position lie in it is seen by the highest bits. */
struct corners {
    uint32_t from;
    uint32_t to;
    __device__ __forceinline__ bool hold(uint32_t position) const
    {
        return ((position + from) & (to - position) & 0x80008000u) == 0x80008000u;
    }
};

TWI_DEVICE int held(const corners &window, const uint32_t *list)
{
    int sum = 0;
#pragma unroll
    for (int i = 0; i < STRIDE; i++)
        sum += window.hold(list[i]);
    return sum;
}

/* Along the order from a place below which `lower` positions of the window are, to the one in it below which `rank`
   are: in strides, whose loads do not wait for each other, as long as none goes too far, then in steps. Up, the last
   stride may read beyond the list, where it only counts too many. */
TWI_DEVICE void walk(const corners &window, const uint32_t *list, int rank, int &place, int &lower)
{
    if (lower > rank) {
        while (place >= STRIDE) {
            const int count = held(window, list + place - STRIDE);
            if (lower - count <= rank)
                break;
            place -= STRIDE;
            lower -= count;
        }
        while (lower > rank)
            lower -= window.hold(list[--place]);
    } else {
        for (;;) {
            const int count = held(window, list + place);
            if (lower + count > rank)
                break;
            place += STRIDE;
            lower += count;
        }
        while (lower < rank || !window.hold(list[place]))
            lower += window.hold(list[place++]);
    }
}

/* How many of a window's positions have places below that. */
template <typename Places> TWI_DEVICE int lower_in(const Places &places, int top, int height, int place)
{
    int lower = 0;
    for (int j = 0; j < height; j++)
        lower += places.below(top + j, place);
    return lower;
}

/* Counting a window anew takes the time of a step for so many positions. */
enum { POSITIONS_A_STEP = 8, MOST_JUMPS = 6 };

/* The outputs first ... last - 1 of column x of a tile. `list` has the positions in order. */
template <typename T, typename Places>
TWI_DEVICE void march(const twi_cuda_places &order, const tile &t, int x, int first, int last, const uint32_t *list,
                      const Places &places)
{
    const twi_cuda_box &box = order.box;
    const int rank = (int)order.rank;
    const uint32_t corner = (uint32_t)(ROW * first + x);
    corners window = {0x80008000u - corner,
                      0x80008000u + corner + (uint32_t)(ROW * (box.window_height - 1) + box.window_width - 1)};
    /* From a guess, by jumps as far as the tile's positions lie apart on average, then by steps. */
    const float apart = (float)(t.width * t.height) / (float)box.count;
    int place = (int)((float)rank * apart);
    int lower = lower_in(places, first, box.window_height, place); /* positions of the window that have lower places */
    for (int jumps = 0; jumps < MOST_JUMPS; jumps++) {
        const float away = (float)(rank - lower) * apart;
        if (fabsf(away) * POSITIONS_A_STEP < (float)box.count)
            break;
        place = min(max(place + (int)away, 0), t.width * t.height - 1);
        lower = lower_in(places, first, box.window_height, place);
    }
    for (int y = first; y < last; y++) {
        walk(window, list, rank, place, lower);
        const uint32_t found = list[place];
        twi_write<T>(box, (t.left + x) * box.channels + t.channel, t.top + y,
                     twi_keys<T>::back(key_at<T>(box, t, (int)(found % ROW), (int)(found / ROW))));
        if (y + 1 < last)
            lower += places.below(y + box.window_height, place) - places.below(y, place);
        window.from -= ROW;
        window.to += ROW;
    }
}

/* A block's threads take its tile's columns, each cut into pieces. */
template <typename T, typename Places, int THREADS, typename P>
TWI_DEVICE void march_tile(const twi_cuda_places &order, const tile &t, const uint32_t *list, const P *places,
                           int pitch)
{
    const twi_cuda_box &box = order.box;
    const int columns = (int)min((int64_t)box.strip_width, box.width - t.left);
    const int rows = (int)min((int64_t)box.strip_height, box.last - t.top);
    const int pieces = (rows + order.piece - 1) / order.piece;
    for (int job = (int)threadIdx.x; job < columns * pieces; job += THREADS) {
        const int x = job % columns;
        const int first = job / columns * order.piece;
        march<T>(order, t, x, first, min(first + order.piece, rows), list, Places(places, pitch, x, box.window_width));
    }
}

/* ---- In shared memory ----------------------------------------------------------------------------------------- */

template <typename T, int THREADS>
static __global__ void __launch_bounds__(THREADS) rank_places(const __grid_constant__ twi_cuda_places order)
{
    typedef typename items_of<typename twi_keys<T>::Bits>::near_by Item;
    const tile t = tile_of(order.box, order.box.left / order.box.strip_width + blockIdx.x, blockIdx.y);
    Item items[ITEMS];
    load_items<T, Item, THREADS>(order.box, t, (int)threadIdx.x, items);
    sort_all<Item, THREADS>(items);

    uint32_t *const list = (uint32_t *)room;
    uint16_t *const places = (uint16_t *)(list + ITEMS * THREADS);
    const int pitch = (t.width + 1) / 2;
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        uint32_t four[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            four[k] = items[i + k].where();
            if ((int)(four[k] / ROW) < t.height)
                places[four[k] / ROW * (2 * pitch) + four[k] % ROW] = (uint16_t)(ITEMS * threadIdx.x + i + k);
        }
        room[threadIdx.x * (ITEMS / 4) + i / 4] = make_uint4(four[0], four[1], four[2], four[3]);
    }
    __syncthreads();
    march_tile<T, paired_places, THREADS>(order, t, list, (const uint32_t *)places, pitch);
}

/* ---- In global memory ------------------------------------------------------------------------------------------ */

/* Blocks take tiles in turn, in memory of their own. Parts of as many items as a block has in registers are sorted
   there, then runs of them are merged from one half of the memory to the other. */
template <typename T>
static __global__ void __launch_bounds__(TWI_CUDA_PLACES_THREADS)
    rank_places_large(const __grid_constant__ twi_cuda_places order)
{
    enum { THREADS = TWI_CUDA_PLACES_THREADS, PART = THREADS * ITEMS };
    typedef typename items_of<typename twi_keys<T>::Bits>::any Item;
    const int thread = (int)threadIdx.x;
    const in_shared<Item> shared = {(Item *)room};
    for (int64_t number = blockIdx.x; number < order.tiles_across * order.tiles_down; number += gridDim.x) {
        const tile t = tile_of(order.box, number % order.tiles_across, number / order.tiles_across);
        const int total = (t.width * t.height + PART - 1) / PART * PART;
        Item *from = (Item *)order.scratch + blockIdx.x * (2 * (int64_t)total);
        Item *to = from + total;
        Item items[ITEMS];
        /* stored by neighbouring threads side by side */
        const auto store = [&](int begin) {
            __syncthreads();
#pragma unroll
            for (int i = 0; i < ITEMS; i++)
                shared[thread * ITEMS + i] = items[i];
            __syncthreads();
#pragma unroll
            for (int i = 0; i < ITEMS; i++)
                to[begin + i * THREADS + thread] = shared[i * THREADS + thread];
        };
        for (int begin = 0; begin < total; begin += PART) {
            load_items<T, Item, THREADS>(order.box, t, begin + thread, items);
            sort_all<Item, THREADS>(items);
            store(begin);
        }
        for (int run = PART; run < total; run *= 2) {
            Item *const merged = from;
            from = to;
            to = merged;
            __syncthreads();
            for (int part = 0; part < total; part += PART) {
                const int begin = part & -2 * run;
                merge_some((const Item *)from, begin, min(begin + run, total), min(begin + 2 * run, total),
                           part - begin + thread * ITEMS, items);
                store(part);
            }
        }
        __syncthreads();
        uint32_t *const list = (uint32_t *)from;
        int32_t *const places = (int32_t *)(list + total);
        for (int i = thread; i < total; i += THREADS) {
            const uint32_t where = to[i].where();
            list[i] = where;
            if (where != NOWHERE)
                places[(int64_t)(where / ROW) * t.width + where % ROW] = i;
        }
        __syncthreads();
        march_tile<T, single_places, THREADS>(order, t, list, (const int32_t *)places, t.width);
        __syncthreads();
    }
}

#define KERNELS(threads)                                                                                               \
    {                                                                                                                  \
        threads,                                                                                                       \
        {                                                                                                              \
            (const void *)rank_places<uint8_t, threads>, (const void *)rank_places<uint16_t, threads>,                 \
                (const void *)rank_places<int16_t, threads>, (const void *)rank_places<int32_t, threads>,              \
                (const void *)rank_places<float, threads>, (const void *)rank_places<double, threads>,                 \
        }                                                                                                              \
    }

extern "C" const twi_cuda_places_kernel twi_cuda_rank_places[TWI_CUDA_PLACES_SIZES] = {
    KERNELS(64), KERNELS(128), KERNELS(256), KERNELS(512), KERNELS(1024),
};

extern "C" const void *const twi_cuda_rank_places_large[TWI_CUDA_TYPES] = {
    (const void *)rank_places_large<uint8_t>, (const void *)rank_places_large<uint16_t>,
    (const void *)rank_places_large<int16_t>, (const void *)rank_places_large<int32_t>,
    (const void *)rank_places_large<float>,   (const void *)rank_places_large<double>,
};
