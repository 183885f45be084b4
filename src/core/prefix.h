/* The f64 running sums of values that arrive one by one, in the order of core/exact.h. */
#ifndef TWI_PREFIX_H
#define TWI_PREFIX_H

#include "core/exact.h"

/* Up to TWI_SCAN_TILE values. A value's sum in the tile is before + inner. */
typedef struct twi_tile {
    int count;
    double before;                     /* q of the quad */
    double inner;                      /* r of the last value; of the next one where that opens a quad: +0 */
    double pair;                       /* r1 */
    double third;                      /* v2 */
    double total;                      /* of all whole quads */
    double partial[5][TWI_SCAN_QUADS]; /* of each quad, before the step of d = 1, 2, 4, 8, 16 */
} twi_tile;

/* Makes before + inner the exclusive sum of the next value. */
static inline void twi_tile_open(twi_tile *t)
{
    if (t->count % 4 == 0) {
        t->before = t->count == 0 ? 0 : t->total;
        t->inner = 0;
    }
}

/* The last quad is whole: the steps of Hillis and Steele, as far as they concern it. */
static inline void twi_tile_close_quad(twi_tile *t)
{
    const int quad = t->count / 4;
    double total = t->inner;
    for (int step = 0; step < 5; step++) {
        const int distance = 1 << step;
        t->partial[step][quad] = total;
        if (quad >= distance)
            total = t->partial[step][quad - distance] + total;
    }
    t->total = total;
}

/* Makes before + inner the sum that includes the value. */
static inline void twi_tile_add(twi_tile *t, double value)
{
    twi_tile_open(t);
    switch (t->count % 4) {
    case 0:
        t->inner = value;
        break;
    case 1:
        t->inner = t->pair = t->inner + value;
        break;
    case 2:
        t->inner = t->pair + value;
        t->third = value;
        break;
    default:
        t->inner = t->pair + (t->third + value);
        twi_tile_close_quad(t);
        break;
    }
    t->count++;
}

/* A line. Start with {.spans = 0}. */
typedef struct twi_prefix {
    double spans;   /* g */
    double base;    /* g + x of the tile */
    twi_tile tiles; /* the totals of those before it */
} twi_prefix;

/* The next tile: `total` is that of the one before. */
static inline void twi_prefix_step(twi_prefix *p, double total)
{
    twi_tile_add(&p->tiles, total);
    if (p->tiles.count == TWI_SCAN_TILE) {
        p->spans += p->tiles.total;
        p->tiles.count = 0;
    }
    twi_tile_open(&p->tiles);
    p->base = p->spans + (p->tiles.before + p->tiles.inner);
}

/* A line's values one by one. Start with {.tile = {.count = 0}}. */
typedef struct twi_line {
    twi_prefix prefix;
    twi_tile tile;
} twi_line;

/* The running sum of the next value, with or without it. */
static inline double twi_line_next(twi_line *l, double value, int exclusive)
{
    if (l->tile.count == TWI_SCAN_TILE) {
        twi_prefix_step(&l->prefix, l->tile.total);
        l->tile.count = 0;
    }
    twi_tile_open(&l->tile);
    const double without = (l->prefix.base + l->tile.before) + l->tile.inner;
    twi_tile_add(&l->tile, value);
    return exclusive ? without : (l->prefix.base + l->tile.before) + l->tile.inner;
}

#endif
