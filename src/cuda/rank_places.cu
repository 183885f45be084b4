/*
 * rank, variant `places`: any rank of whole windows. What the windows of a tile read is sorted once (places.cuh), which
 * gives each position a place in the order. From then on elements of all types are small integers that differ.
 *   march:  a thread goes down a column of outputs. It keeps a place, and how many positions of the window have lower
 *           ones; a row that enters or leaves changes the count, by comparisons.
 *   walk:   then it goes along the order, up or down, over positions in the window and others, until as many positions
 *           of the window are below as the rank says.
 */
#include <cuda_fp16.h>

#include "cuda/places.cuh"

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

/* Blocks take tiles in turn, in memory of their own. */
template <typename T>
static __global__ void __launch_bounds__(LARGE_THREADS) rank_places_large(const __grid_constant__ twi_cuda_places order)
{
    typedef typename items_of<typename twi_keys<T>::Bits>::any Item;
    for (int64_t number = blockIdx.x; number < order.tiles_across * order.tiles_down; number += gridDim.x) {
        const tile t = tile_of(order.box, number % order.tiles_across, number / order.tiles_across);
        const int total = large_total(t);
        Item *from = (Item *)order.scratch + blockIdx.x * (2 * (int64_t)total);
        Item *to = from + total;
        sort_large<T>(order.box, t, total, from, to);
        uint32_t *const list = (uint32_t *)from;
        int32_t *const places = (int32_t *)(list + total);
        for (int i = (int)threadIdx.x; i < total; i += LARGE_THREADS) {
            const uint32_t where = to[i].where();
            list[i] = where;
            if (where != NOWHERE)
                places[(int64_t)(where / ROW) * t.width + where % ROW] = i;
        }
        __syncthreads();
        march_tile<T, single_places, LARGE_THREADS>(order, t, list, (const int32_t *)places, t.width);
        __syncthreads();
    }
}

extern "C" const twi_cuda_places_kernel twi_cuda_rank_places[TWI_CUDA_PLACES_SIZES] = TWI_PLACES_TABLE(rank_places);

extern "C" const void *const twi_cuda_rank_places_large[TWI_CUDA_TYPES] = TWI_PLACES_TYPES(rank_places_large);
