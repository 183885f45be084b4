/*
 * The element of a rank in a rectangle of bytes, for a tile of output elements at once.
 *
 * For one threshold, the window positions that hold at most that are counted for the whole tile, by sums that slide
 * down and grow fourfold along the rows: the time does not grow with the window's height, and only with the logarithm
 * of its width. An output lies above the threshold if the count is at most its rank. So thresholds are tried as in a
 * binary search, but for a tile: an interval is halved while outputs lie in it, and only the blocks that have
 * some look at it. That takes about as many thresholds as a tile has different outputs, at most 255.
 */
#ifndef TWI_CPU_ORDER_COUNT_H
#define TWI_CPU_ORDER_COUNT_H

#include "cpu/order_keys.h"

enum {
    COUNT_BLOCK = 64, /* elements */
    COUNT_BLOCKS = TWI_ORDER_TILE / COUNT_BLOCK,
    COUNT_LEVELS = 6, /* windows' parts of 1, 4, 16 ... 1024 columns */
    COUNT_TERMS = 3 * COUNT_LEVELS + 1
};

/* How many outputs of each block lie above a threshold. */
typedef struct above {
    int32_t threshold;
    uint8_t blocks[TWI_ORDER_TILE_ROWS][COUNT_BLOCKS];
} above;

/* A part of a window's row: 4^level columns. */
typedef struct term {
    int level;
    int64_t first; /* in elements */
} term;

typedef struct count_tile {
    const twi_order_setup *setup;
    const uint8_t *source; /* rows of `pitch` bytes, the first output's window at its start */
    uint8_t *result;       /* likewise */
    char *lines;           /* counts of columns, then of parts of windows */
    int64_t pitch;
    int64_t n;
    int64_t height;
    int64_t length; /* columns that are counted */
    int levels;
    int last_bits;  /* of results, that are found otherwise */
    int term_count; /* the window's width is their sum ... */
    bool one_more;  /* ... or that less the column behind it */
    term terms[COUNT_TERMS];
} count_tile;

static bool block_is_open(const above *low, const above *high, int64_t y, int64_t block)
{
    return low->blocks[y][block] != high->blocks[y][block];
}

static bool row_is_open(const above *low, const above *high, int64_t y)
{
    return memcmp(low->blocks[y], high->blocks[y], sizeof low->blocks[y]) != 0;
}

/* Too many positions for counts of 8 bits in a column and 16 in a window. */
static bool count_is_broad(const twi_order_setup *setup)
{
    return setup->width * setup->height > UINT16_MAX || setup->height > UINT8_MAX;
}

#ifdef LEVEL_VECTOR
#include "cpu/order_count_vector.tmpl.h"

/* What is faster: a threshold for a whole tile, or a bit for every output. */
static int count_last_bits(int64_t positions)
{
    return positions > UINT8_MAX ? 0 : positions > 150 ? 2 : positions > 100 ? 4 : 5;
}
#else
static int count_last_bits(int64_t positions)
{
    (void)positions;
    return 0;
}

static void lower_bytes(uint8_t *line, int64_t n)
{
    (void)line;
    (void)n;
}

static void finish_bits(const count_tile *tile, int bits)
{
    (void)tile;
    (void)bits;
}

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
#endif

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
    int64_t last = tile->height;
    int64_t first = 0;
    memcpy(middle->blocks, low->blocks, sizeof middle->blocks);
    while (!row_is_open(low, high, last - 1))
        last--;
    while (!row_is_open(low, high, first))
        first++;
    if (count <= UINT8_MAX)
        pass_narrow(tile, low, high, middle, first, last);
    else if (!count_is_broad(setup))
        pass_medium(tile, low, high, middle, first, last);
    else
        pass_broad(tile, low, high, middle, first, last);
}

/* Finds the outputs above low's threshold and not above high's. */
static void count_between(const count_tile *tile, const above *low, const above *high)
{
    above middle = {.threshold = (low->threshold + high->threshold) / 2};
    if (high->threshold - low->threshold <= 1 << tile->last_bits ||
        memcmp(low->blocks, high->blocks, (size_t)tile->height * sizeof *low->blocks) == 0)
        return;
    count_pass(tile, low, high, &middle);
    count_between(tile, low, &middle);
    count_between(tile, &middle, high);
}

static int digits(int64_t width)
{
    int sum = 0;
    for (; width > 0; width /= 4)
        sum += (int)(width % 4);
    return sum;
}

/* The width in base 4; of one column more, and that subtracted again, where that is shorter. */
static void count_terms(count_tile *tile)
{
    int64_t width = tile->setup->width;
    int64_t first = 0;
    tile->one_more = digits(width + 1) + 1 < digits(width);
    width += tile->one_more;
    for (int64_t side = 1; side <= width; side *= 4, tile->levels++) {
        for (int64_t digit = width / side % 4; digit > 0; digit--, first += side) {
            const term part = {tile->levels, first * tile->setup->channels};
            tile->terms[tile->term_count++] = part;
        }
    }
}

static void run_count(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t halo = setup->before + setup->after;
    char *place = order_scratch(setup, job);
    uint8_t *source = take(&place, (setup->height - 1 + 2 * TWI_ORDER_TILE_ROWS) * setup->pitch);
    count_tile tile = {.setup = setup, .source = source, .pitch = setup->pitch};
    tile.lines = take(&place, 0);
    tile.result = source + (setup->height - 1 + TWI_ORDER_TILE_ROWS) * setup->pitch;
    tile.last_bits = count_last_bits(setup->width * setup->height);
    count_terms(&tile);
    for (int64_t y = job->first; y < job->last; y += tile.height) {
        tile.height = twi_min_i64(TWI_ORDER_TILE_ROWS, job->last - y);
        for (int64_t first = 0; first < setup->row; first += setup->strip) {
            const int64_t valid = twi_min_i64(setup->strip, setup->row - first);
            above none = {.threshold = -1};
            const above all = {.threshold = UINT8_MAX};
            /* whole blocks: what lies behind the row's end has results too, of whatever the tile holds there */
            tile.n = (valid + COUNT_BLOCK - 1) / COUNT_BLOCK * COUNT_BLOCK;
            tile.length = tile.n + halo + setup->channels;
            for (int64_t i = 0; i < tile.height + setup->height - 1; i++)
                fetch_u8(setup, &job->src, y - setup->anchor_y + i, first - setup->before, valid + halo,
                         source + i * setup->pitch);
            for (int64_t i = 0; i < tile.height + setup->height - 1 && !count_is_broad(setup); i++)
                lower_bytes(source + i * setup->pitch, tile.length);
            for (int64_t i = 0; i < tile.height; i++) {
                memset(none.blocks[i], COUNT_BLOCK, (size_t)(tile.n / COUNT_BLOCK));
                memset(tile.result + i * setup->pitch, 0, (size_t)tile.n);
            }
            count_between(&tile, &none, &all);
            if (tile.last_bits)
                finish_bits(&tile, tile.last_bits);
            for (int64_t i = 0; i < tile.height; i++)
                deliver_u8(setup, job, y + i, first, tile.result + i * setup->pitch, valid);
        }
    }
}

#endif
