/*
 * The element of a rank in a rectangle of bytes, for a tile of output elements at once.
 *
 * For one threshold, the window positions that hold at most that are counted for the whole tile with sums that slide
 * down and double along the rows: the time does not grow with the window's height, and only with the
 * logarithm of its width. An output lies above the threshold if the count is at most its rank. So thresholds
 * are tried as in a binary search, but for a tile: an interval is halved while outputs lie in it. That
 * takes about as many thresholds as the tile has different outputs, at most 255, whatever the window.
 */
#ifndef TWI_CPU_ORDER_COUNT_H
#define TWI_CPU_ORDER_COUNT_H

#include "cpu/order_keys.h"

/* How many outputs of each row of the tile lie above a threshold. */
typedef struct above {
    int32_t threshold;
    int32_t rows[TWI_ORDER_TILE_ROWS];
} above;

typedef struct count_tile {
    const twi_order_setup *setup;
    const uint8_t *source; /* rows of `pitch` bytes, the first output's window at its start */
    uint8_t *result;       /* likewise */
    int64_t pitch;
    int64_t n;
    int64_t height;
    char *columns; /* counts of columns, 1 or 4 bytes each */
    char *lines;   /* sums of them, for windows' widths of 1, 4, 16 ... */
} count_tile;

#define NAME narrow /* windows of up to 255 positions */
#define COLUMN uint8_t
#define SUM uint8_t
#include "cpu/order_count.tmpl.h"
#undef SUM
#undef COLUMN
#undef NAME

#define NAME medium /* up to 65535, and up to 255 rows */
#define COLUMN uint8_t
#define SUM uint16_t
#include "cpu/order_count.tmpl.h"
#undef SUM
#undef COLUMN
#undef NAME

#define NAME broad
#define COLUMN uint32_t
#define SUM uint32_t
#include "cpu/order_count.tmpl.h"
#undef SUM
#undef COLUMN
#undef NAME

static void count_pass(const count_tile *tile, const above *low, const above *high, above *middle)
{
    const twi_order_setup *setup = tile->setup;
    const int64_t count = setup->width * setup->height;
    if (count <= UINT8_MAX)
        pass_narrow(tile, low, high, middle);
    else if (count <= UINT16_MAX && setup->height <= UINT8_MAX)
        pass_medium(tile, low, high, middle);
    else
        pass_broad(tile, low, high, middle);
}

/* Finds the outputs above `low` and not above `high`, of which only the first is known to be below them. */
static void count_between(const count_tile *tile, const above *low, const above *high)
{
    above middle = {.threshold = (low->threshold + high->threshold) / 2};
    if (high->threshold - low->threshold == 1 ||
        memcmp(low->rows, high->rows, (size_t)tile->height * sizeof *low->rows) == 0)
        return;
    count_pass(tile, low, high, &middle);
    count_between(tile, low, &middle);
    count_between(tile, &middle, high);
}

static void run_count(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t halo = setup->before + setup->after;
    char *place = order_scratch(setup, job);
    uint8_t *source = take(&place, (setup->height - 1 + 2 * TWI_ORDER_TILE_ROWS) * setup->pitch);
    count_tile tile = {.setup = setup, .source = source, .pitch = setup->pitch};
    tile.columns = take(&place, 0);
    tile.lines = tile.columns + 4 * setup->pitch;
    tile.result = source + (setup->height - 1 + TWI_ORDER_TILE_ROWS) * setup->pitch;
    for (int64_t y = job->first; y < job->last; y += tile.height) {
        tile.height = twi_min_i64(TWI_ORDER_TILE_ROWS, job->last - y);
        for (int64_t first = 0; first < setup->row; first += setup->strip) {
            above none = {.threshold = -1};
            const above all = {.threshold = UINT8_MAX};
            tile.n = twi_min_i64(setup->strip, setup->row - first);
            for (int64_t i = 0; i < tile.height + setup->height - 1; i++)
                fetch_u8(setup, &job->src, y - setup->anchor_y + i, first - setup->before, tile.n + halo,
                         source + i * setup->pitch);
            for (int64_t i = 0; i < tile.height; i++) {
                none.rows[i] = (int32_t)tile.n;
                memset(tile.result + i * setup->pitch, 0, (size_t)tile.n);
            }
            count_between(&tile, &none, &all);
            for (int64_t i = 0; i < tile.height; i++)
                deliver_u8(setup, job, y + i, first, tile.result + i * setup->pitch, tile.n);
        }
    }
}

#endif
