/*
 * The mean on the CPU, shared by its levels (plain C, AVX2, AVX-512): what a plan prepares, once.
 * The levels are the same template compiled three times: box_c.c, box_avx2.c, box_avx512.c.
 */
#ifndef TWI_CPU_BOX_H
#define TWI_CPU_BOX_H

#include "cpu/rows.h"

/* How a problem is computed. The bounds are chosen in box.c. */
typedef enum twi_box_method {
    TWI_BOX_SMALL,   /* 3x3 and 5x5: sums in registers, straight from the source rows */
    TWI_BOX_SLIDE16, /* u8: sliding sums, of columns in 16 bits and of windows in 32 (vector levels only) */
    TWI_BOX_SLIDE32, /* sliding sums in 32 bits */
    TWI_BOX_SLIDE64, /* sliding sums in 64 bits */
    TWI_BOX_TREE     /* floats: sums of 2, 4, 8 ... values, in the order that exact.h fixes */
} twi_box_method;

enum {
    TWI_BOX_BAND = 4,         /* output rows that the small method computes together */
    TWI_BOX_SMALLEST = 3,     /* the windows of the small method */
    TWI_BOX_LARGEST = 5,      /* */
    TWI_BOX_TILE = 832,       /* bytes of a row in a copied tile at the image's left or right edge */
    TWI_BOX_CHUNK = 3072,     /* elements that a row is computed in, so that results stay in the L1 cache */
    TWI_BOX_STAGE = 4096 + 64 /* bytes of a chunk's row of the small method; not a power of two: rows that
                                 lie 4096 bytes apart would share one set of the cache */
};

/* Exact division of sums by multiplication: (sum * magic) >> shift. */
typedef struct twi_box_divider {
    uint32_t start;   /* added to a sum before: half the count for nearest, and what makes i16 sums positive */
    uint32_t magic;   /* sums below 2^31 */
    int shift;        /* */
    uint32_t magic16; /* sums of the small method on u8 */
    int shift16;      /* */
    int64_t half;     /* for nearest: count / 2, else 0 */
    int64_t count;
    double inverse; /* 1 / count */
} twi_box_divider;

typedef struct twi_box_setup {
    twi_box_method method;
    int64_t row;    /* elements of a row */
    int64_t before; /* elements that a window reads to the left of its own, and to the right */
    int64_t after;  /* */
    int64_t channels;
    tw_window window;
    int border;
    bool stream; /* the output is larger than the cache: store past it */
    twi_box_divider divider;
    int64_t strip; /* tree: output elements computed together */
    int64_t lines; /* tree: lines of sums that a strip keeps */
    /* All below lies in the plan's scratch. */
    const int64_t *halo; /* the element that each of the before + after elements beside a row reads, or -1 */
    const void *outside; /* a row of the border's value, for the borders that have one */
    char *workers;
    int64_t worker_bytes;
} twi_box_setup;

/* The source row that row y of the bordered image is. */
static inline const void *twi_box_row(const twi_box_setup *setup, const tw_image *src, int64_t y)
{
    const int64_t row = twi_border_index(y, src->height, setup->border);
    return row < 0 ? setup->outside : (const char *)src->data + row * src->pitch;
}

tw_status twi_box_prepare(tw_plan *plan);        /* plain C */
tw_status twi_box_prepare_vector(tw_plan *plan); /* levels with vectors */

double twi_box_cost_c(const tw_context *context, const tw_problem *problem);
double twi_box_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_box_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
