/* The f64 sum of values that arrive one by one, in the order of core/exact.h. */
#ifndef TWI_SEQUENCE_H
#define TWI_SEQUENCE_H

#include <stdbool.h>
#include <string.h>

#include "core/exact.h"

enum { TWI_SEQUENCE_LEVELS = 6 }; /* leaves of leaves: more values than any image has */

/* Start with {.count = {0}}: lanes are cleared when their leaf is opened. */
typedef struct twi_sequence {
    int count[TWI_SEQUENCE_LEVELS]; /* values in the leaf that is open */
    double lanes[TWI_SEQUENCE_LEVELS][TWI_LANES];
} twi_sequence;

static inline void twi_sequence_put(twi_sequence *s, int level, double value)
{
    if (s->count[level] == 0)
        memset(s->lanes[level], 0, sizeof s->lanes[level]);
    s->lanes[level][s->count[level] % TWI_LANES] += value;
    s->count[level]++;
}

/* Adds a value to the leaf that is open at the level: 0 for the sequence itself, 1 for sums of whole leaves. */
static inline void twi_sequence_add(twi_sequence *s, int level, double value)
{
    twi_sequence_put(s, level, value);
    for (; s->count[level] == TWI_LEAF && level + 1 < TWI_SEQUENCE_LEVELS; level++) {
        s->count[level] = 0;
        twi_sequence_put(s, level + 1, twi_fold_lanes(s->lanes[level]));
    }
}

/* The sum; it closes all leaves. A leaf of one value is that value, so levels above the last need no look. */
static inline double twi_sequence_sum(twi_sequence *s)
{
    double sum = 0;
    bool open = false; /* a leaf below was not full */
    for (int level = 0; level < TWI_SEQUENCE_LEVELS; level++) {
        if (s->count[level] > 0 && open)
            twi_sequence_put(s, level, sum);
        if (s->count[level] > 0) {
            sum = twi_fold_lanes(s->lanes[level]);
            open = true;
        }
        s->count[level] = 0;
    }
    return sum;
}

#endif
