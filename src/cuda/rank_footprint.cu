/*
 * rank, variant `places`, of footprints: as rank_places.cu, for any positions of the window.
 *   march:  the positions whose neighbour above or below does not belong to the footprint are all that changes when the
 *           window goes down a row. They are offsets into the tile's places, the same for all threads. In shared memory
 *           a word has the places of two columns half a tile apart, which one thread marches down together: a load and
 *           a comparison serve both.
 *   search: where the place of the rank is far, all positions are counted anew at guesses until it is near.
 *   walk:   along the order in blocks of eight. Whether the window holds a position is a bit of a map of the footprint.
 */
#include <cuda_fp16.h>

#include "cuda/places.cuh"

/* ---- Places ------------------------------------------------------------------------------------------------- */

/* sum[i] becomes the number of the offsets at which column i of the thread has places below place[i]. Sums of halves
   are exact up to 2048, places have 14 bits: halves below 0x7c00 are in the order of integers. */
struct twin_places {
    enum { COLUMNS = 2 };
    typedef uint16_t Listed;
    const uint32_t *words;

    TWI_DEVICE __half2 halves(uint32_t pair)
    {
        return *(const __half2 *)&pair;
    }
    __device__ __forceinline__ void below(const int32_t *offsets, int count, int at, const int (&place)[COLUMNS],
                                          int (&sum)[COLUMNS]) const
    {
        enum { EXACT = 2048 };
        const uint32_t *const here = words + at;
        const __half2 limits = halves((uint32_t)place[1] << 16 | (uint32_t)place[0]);
        const auto compare = [&](int offset) { return __hlt2(halves(here[offset]), limits); };
        sum[0] = sum[1] = 0;
        for (int begin = 0; begin < count; begin += EXACT) {
            const int end = min(begin + EXACT, count);
            __half2 part = halves(0);
            int k = begin;
#pragma unroll 2
            for (; k + 4 <= end; k += 4) {
                const int4 four = __ldg((const int4 *)(offsets + k));
                part = __hadd2(part, __hadd2(__hadd2(compare(four.x), compare(four.y)),
                                             __hadd2(compare(four.z), compare(four.w))));
            }
            for (; k < end; k++)
                part = __hadd2(part, compare(__ldg(offsets + k)));
            sum[0] += __half2int_rz(__low2half(part));
            sum[1] += __half2int_rz(__high2half(part));
        }
    }
};

struct far_places {
    enum { COLUMNS = 1 };
    typedef uint32_t Listed;
    const int32_t *places;

    __device__ __forceinline__ void below(const int32_t *offsets, int count, int at, const int (&place)[COLUMNS],
                                          int (&sum)[COLUMNS]) const
    {
        const int32_t *const here = places + at;
        sum[0] = 0;
#pragma unroll 8
        for (int k = 0; k < count; k++)
            sum[0] += here[__ldg(offsets + k)] < place[0];
    }
};

/* ---- March and walk ------------------------------------------------------------------------------------------- */

enum { BLOCK = 8 }; /* entries of the order that are looked at together */

/* The footprint as bits, a row of the tile's positions after the other: where a position lies from the window's corner
   on is its bit's number. The bits of a word count from the highest, and those from `extent` on are 0. */
struct footprint_map {
    const uint32_t *bits;
    uint32_t extent;

    /* Bit i is set where the window holds entry i of the block. */
    template <typename Q> __device__ __forceinline__ uint32_t held(const Q *block, uint32_t corner) const
    {
        enum { WORDS = BLOCK * sizeof(Q) / 4 };
        uint32_t words[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            const uint4 four = ((const uint4 *)block)[i / 4];
            words[i] = four.x;
            words[i + 1] = four.y;
            words[i + 2] = four.z;
            words[i + 3] = four.w;
        }
        uint32_t held = 0;
#pragma unroll
        for (int i = BLOCK - 1; i >= 0; i--) {
            const uint32_t entry = sizeof(Q) == 4 ? words[i] : i % 2 ? words[i / 2] >> 16 : words[i / 2] & 0xffff;
            const uint32_t bit = min(entry - corner, extent);
            held = __funnelshift_l(__funnelshift_l(0, bits[bit / 32], bit), held, 1);
        }
        return held;
    }

    /* Along the order from a block below which `lower` positions of the window are, to that with the position below
       which `rank` are; returns that. */
    template <typename Q>
    __device__ __forceinline__ uint32_t walk(const Q *list, uint32_t corner, int rank, int &place, int &lower) const
    {
        const bool down = lower > rank;
        uint32_t here;
        for (;;) {
            place -= down ? BLOCK : 0;
            here = held(list + place, corner);
            const int count = __popc(here);
            lower -= down ? count : 0;
            if (down ? lower <= rank : lower + count > rank)
                break;
            place += down ? 0 : BLOCK;
            lower += down ? 0 : count;
        }
        for (int skip = rank - lower; skip > 0; skip--)
            here &= here - 1;
        return list[place + __ffs((int)here) - 1];
    }
};

/* Guesses by how far positions lie apart on average; from then on ranges are halved. */
enum { GUESSES = 3 };

/* The outputs first ... last - 1 of column x of a tile, and of those half a tile beside it. */
template <typename T, typename Places>
TWI_DEVICE void march(const twi_cuda_footprint &order, const tile &t, int x, int first, int last,
                      const typename Places::Listed *list, const footprint_map &map, const Places &places)
{
    enum { COLUMNS = Places::COLUMNS };
    const twi_cuda_box &box = order.tiles.box;
    const int rank = (int)order.tiles.rank;
    const int aside = box.strip_width / COLUMNS;
    const int32_t *const enters = order.offsets + order.enters;
    const int32_t *const leaves = order.offsets + order.leaves;
    const uint32_t inverse = UINT32_MAX / (uint32_t)t.width + 1; /* as in load_items() */
    const float apart = (float)(t.width * t.height) / (float)order.positions;
    const int end = (t.width * t.height + BLOCK - 1) & -BLOCK;
    int at = first * order.pitch + x;
    int place[COLUMNS];
    int lower[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        place[i] = (int)((float)rank * apart) & -BLOCK;
    places.below(order.offsets, order.positions, at, place, lower);
    for (int y = first; y < last; y++, at += order.pitch) {
        /* By counting anew elsewhere, where that is faster than to walk. */
        int low[COLUMNS];
        int high[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            low[i] = 0;
            high[i] = end;
        }
        for (int counted = 0;; counted++) {
            bool far = false;
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) {
                (lower[i] <= rank ? low[i] : high[i]) = place[i];
                const float away = ((float)(rank - lower[i]) + 0.5f) * apart;
                if (fminf(fabsf(away), (float)(high[i] - low[i])) <= order.far)
                    continue;
                far = true;
                const int guess = (place[i] + (int)away) & -BLOCK;
                place[i] =
                    counted < GUESSES && guess > low[i] && guess < high[i] ? guess : (low[i] + high[i]) / 2 & -BLOCK;
            }
            if (!far)
                break;
            places.below(order.offsets, order.positions, at, place, lower);
        }
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int column = x + i * aside;
            if (t.left + column >= box.width)
                break;
            const uint32_t found = map.walk(list, (uint32_t)(y * t.width + column), rank, place[i], lower[i]);
            const int row = (int)__umulhi(found, inverse);
            twi_write<T>(box, (t.left + column) * box.channels + t.channel, t.top + y,
                         twi_keys<T>::back(key_at<T>(box, t, (int)found - row * t.width, row)));
        }
        if (y + 1 == last)
            break;
        if (order.changes > 0) {
            int more[COLUMNS];
            int less[COLUMNS];
            places.below(enters, order.changes, at, place, more);
            places.below(leaves, order.changes, at, place, less);
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                lower[i] += more[i] - less[i];
        } else {
            places.below(order.offsets, order.positions, at + order.pitch, place, lower);
        }
    }
}

/* A block's threads take its tile's columns, each cut into pieces. */
template <typename T, int THREADS, typename Places>
TWI_DEVICE void march_tile(const twi_cuda_footprint &order, const tile &t, const typename Places::Listed *list,
                           const footprint_map &map, const Places &places)
{
    const twi_cuda_box &box = order.tiles.box;
    const int columns = (int)min((int64_t)box.strip_width / Places::COLUMNS, box.width - t.left);
    const int rows = (int)min((int64_t)box.strip_height, box.last - t.top);
    const int pieces = (rows + order.tiles.piece - 1) / order.tiles.piece;
    for (int job = (int)threadIdx.x; job < columns * pieces; job += THREADS) {
        const int first = job / columns * order.tiles.piece;
        march<T>(order, t, job % columns, first, min(first + order.tiles.piece, rows), list, map, places);
    }
}

/* ---- Kernels -------------------------------------------------------------------------------------------------- */

/* A position's number in its tile, row by row; NOWHERE's is beyond all of the windows'. */
TWI_DEVICE uint32_t number_of(const tile &t, uint32_t where)
{
    return where / ROW * (uint32_t)t.width + where % ROW;
}

template <typename T, int THREADS>
static __global__ void __launch_bounds__(THREADS) rank_footprint(const __grid_constant__ twi_cuda_footprint order)
{
    typedef typename items_of<typename twi_keys<T>::Bits>::near_by Item;
    const twi_cuda_box &box = order.tiles.box;
    const tile t = tile_of(box, box.left / box.strip_width + blockIdx.x, blockIdx.y);
    const int thread = (int)threadIdx.x;
    Item items[ITEMS];
    load_items<T, Item, THREADS>(box, t, thread, items);
    sort_all<Item, THREADS>(items);

    uint16_t *const list = (uint16_t *)room;
    uint16_t *const places = list + ITEMS * THREADS;
    uint32_t *const bits = (uint32_t *)places + order.pitch * t.height;
    const int aside = box.strip_width / 2;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t where = items[i].where();
        const int y = (int)(where / ROW);
        const int x = (int)(where % ROW);
        const int place = ITEMS * thread + i;
        list[place] = (uint16_t)min(number_of(t, where), 0xffffu);
        uint16_t *const pair = places + 2 * (y * order.pitch + x);
        if (y < t.height && x < order.pitch)
            pair[0] = (uint16_t)place;
        if (y < t.height && x >= aside)
            pair[1 - 2 * aside] = (uint16_t)place;
    }
    for (int i = thread; i < order.words; i += THREADS)
        bits[i] = __ldg(order.bits + i);
    __syncthreads();
    const footprint_map map = {bits, 32 * (uint32_t)(order.words - 1)};
    march_tile<T, THREADS>(order, t, list, map, twin_places{(const uint32_t *)places});
}

/* Blocks take tiles in turn, in memory of their own. */
template <typename T>
static __global__ void __launch_bounds__(LARGE_THREADS)
    rank_footprint_large(const __grid_constant__ twi_cuda_footprint order)
{
    typedef typename items_of<typename twi_keys<T>::Bits>::any Item;
    const twi_cuda_places &tiles = order.tiles;
    const footprint_map map = {order.bits, 32 * (uint32_t)(order.words - 1)};
    for (int64_t number = blockIdx.x; number < tiles.tiles_across * tiles.tiles_down; number += gridDim.x) {
        const tile t = tile_of(tiles.box, number % tiles.tiles_across, number / tiles.tiles_across);
        const int total = large_total(t);
        Item *from = (Item *)tiles.scratch + blockIdx.x * (2 * (int64_t)total);
        Item *to = from + total;
        sort_large<T>(tiles.box, t, total, from, to);
        uint32_t *const list = (uint32_t *)from;
        int32_t *const places = (int32_t *)(list + total);
        for (int i = (int)threadIdx.x; i < total; i += LARGE_THREADS) {
            const uint32_t where = to[i].where();
            const uint32_t at = number_of(t, where);
            list[i] = at;
            if (where != NOWHERE)
                places[at] = i;
        }
        __syncthreads();
        march_tile<T, LARGE_THREADS>(order, t, list, map, far_places{places});
        __syncthreads();
    }
}

extern "C" const twi_cuda_places_kernel twi_cuda_rank_footprint[TWI_CUDA_PLACES_SIZES] =
    TWI_PLACES_TABLE(rank_footprint);

extern "C" const void *const twi_cuda_rank_footprint_large[TWI_CUDA_TYPES] = TWI_PLACES_TYPES(rank_footprint_large);
