/*
 * min, max and rank on the CPU, shared by their levels (plain C, AVX2, AVX-512): what a plan prepares, once.
 * The levels are the same templates compiled three times: order_c.c, order_avx2.c, order_avx512.c.
 *
 * Rows are lines of elements (rows.h). Elements are compared as keys: integers, whose order is that of the elements
 * (exact.h).
 */
#ifndef TWI_CPU_ORDER_H
#define TWI_CPU_ORDER_H

#include "cpu/order_network.h"
#include "cpu/rows.h"

/* How a problem is computed. order.c chooses. */
typedef enum twi_order_method {
    TWI_ORDER_BANDS,      /* 3x3 and 5x5, min, max and median: eight rows at a time */
    TWI_ORDER_SLIDE,      /* min and max of a rectangle of any size */
    TWI_ORDER_GROUPS,     /* the same of 10 to 64 rows: eight rows at a time */
    TWI_ORDER_FOOTPRINT,  /* min and max of a footprint: runs of positions */
    TWI_ORDER_THRESHOLDS, /* rank of a rectangle of bytes: how many lie above a threshold, for a tile at once */
    TWI_ORDER_NETWORK,    /* rank of a small rectangle: exchanges, for a tile at once */
    TWI_ORDER_HISTOGRAM,  /* rank of any positions, of 8 and 16 bits, many: a histogram that slides */
    TWI_ORDER_PLACES,     /* the same of 32 and 64 bits: a set that slides, of places in the order of a tile's keys */
    TWI_ORDER_SELECT      /* rank of anything: the result's bits from the highest on */
} twi_order_method;

enum {
    TWI_ORDER_BAND = 8,                                           /* output rows that the bands compute together */
    TWI_ORDER_SMALLEST = 3,                                       /* their windows */
    TWI_ORDER_LARGEST = 5,                                        /* */
    TWI_ORDER_BAND_ROWS = TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1, /* source rows that they read at most */
    TWI_ORDER_ROOM = 24,                                          /* lines that their kernels keep */
    TWI_ORDER_GROUPS_LEAST = TWI_ORDER_BAND + 2,                  /* rows of the windows that groups suit */
    TWI_ORDER_GROUPS_MOST = 64,                                   /* */
    TWI_ORDER_COMMON = TWI_ORDER_GROUPS_MOST / TWI_ORDER_BAND + TWI_ORDER_BAND, /* lines that a band shares at most */
    TWI_ORDER_CHUNK = 4096, /* bytes of a row that are computed together */
    TWI_ORDER_PIECE = 1024, /* bytes of a row of the bands of which such lines are kept */
    TWI_ORDER_VECTOR = 32   /* bytes of a vector of strips (order_strips.tmpl.h) */
};

/* Positions of a window's row, one beside the other, that take part. TWI_ORDER_PLACES counts `first` and `last` in the
   positions of its tiles, which lie column by column. */
typedef struct twi_order_run {
    int32_t row;
    int32_t level; /* the largest power of two that is not longer: 2^level positions */
    int64_t first; /* in elements from the window's left end */
    int64_t last;  /* */
} twi_order_run;

typedef struct twi_order_setup {
    twi_order_method method;
    tw_type type;
    bool highest; /* max */
    bool stream;  /* the output is larger than the cache: store past it */
    bool wide;    /* select: keys of 32 bits for 16-bit elements, as the window's positions pass 16 bits */
    int border;
    int64_t row;    /* elements of a row */
    int64_t before; /* elements that a window reads to the left of its own, and to the right */
    int64_t after;  /* */
    int64_t channels;
    int64_t width;    /* the window; of min and max without what can only repeat */
    int64_t height;   /* */
    int64_t anchor_y; /* */
    int64_t rank;
    int64_t outside;     /* the key that positions outside the image have */
    int64_t strip;       /* elements of a row that are computed together, or of one of a tile's strips */
    int64_t strip_pitch; /* of results: the strip, in whole tiles of a network */
    int64_t tile_rows;   /* output rows of a tile */
    int64_t pitch;       /* bytes of a kept row; places: positions of a tile's column */
    int64_t levels;      /* footprints: kept rows of 1, 2, 4 ... positions */
    int64_t run_count;
    twi_order_network network; /* of the plan's state */
    /* All below lies in the plan's scratch. */
    const twi_order_run *runs;
    const int64_t *halo; /* the element that each of the before + after elements beside a row reads, or -1 */
    char *workers;
    int64_t worker_bytes;
} twi_order_setup;

/* Places: the positions that a tile reads, and the words that have a bit for each. */
static inline int64_t twi_order_tile_positions(const twi_order_setup *setup)
{
    return (setup->strip / setup->channels + setup->width - 1) * setup->pitch;
}
static inline int64_t twi_order_words(int64_t positions)
{
    return positions / 64 + 1;
}

tw_status twi_order_prepare(tw_plan *plan);
void twi_order_release(tw_plan *plan);

double twi_order_cost_c(const tw_context *context, const tw_problem *problem);
double twi_order_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_order_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
