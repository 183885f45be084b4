/*
 * What every operation needs around its rows: a plan's scratch cut into areas, and the border.
 *
 * A row is a line of elements: pixel x, channel k is element x * channels + k, and the neighbour in the same channel
 * lies `channels` elements away. So one code does every channel count. A window reads `before` elements to the left of
 * its own and `after` to the right; those that lie beside the row are its halo.
 */
#ifndef TWI_CPU_ROWS_H
#define TWI_CPU_ROWS_H

#include "core/exact.h"
#include "core/plan.h"

enum {
    TWI_LINE = 64,  /* bytes of a cache line: the step of every kernel */
    TWI_SLACK = 256 /* bytes that kernels may touch past an area's end */
};

/* What an area of scratch takes: its bytes, the slack, and what makes the next one start at a line. */
static inline int64_t twi_area_bytes(int64_t bytes)
{
    return (bytes + 2 * TWI_SLACK) / TWI_SLACK * TWI_SLACK;
}

/* Puts an area of count * size bytes at *offset, the end of *total. False: it cannot be counted. */
bool twi_add_area(int64_t *total, int64_t count, int64_t size, int64_t *offset);

/* The element of the row that each element of the halo reads, or -1 for the border's value: first the `before` on the
   left, then the `after` on the right. */
void twi_fill_halo(const tw_problem *problem, int64_t before, int64_t after, int64_t *halo);

/* A row of `count` elements outside the image: the border's value, 0 where it has none. */
void twi_fill_outside(const tw_problem *problem, int64_t count, void *outside);

/* Whether an output of rows of so many elements is stored past the cache: it would only push the source out of it. */
bool twi_output_streams(const tw_problem *problem, int64_t elements);

#endif
