/* Measuring: what the planner and `bench` share. */
#ifndef TWI_MEASURE_H
#define TWI_MEASURE_H

#include "core/plan.h"

typedef struct twi_spread {
    double median;
    double smallest;
    double largest;
    int count; /* 0: not measured */
} twi_spread;

/* Sorts the samples. */
twi_spread twi_spread_of(double *samples, int count);

/* Fills a host image with numbers that are ordinary for every type: no NaN, nothing that a processor is slow with. */
void twi_fill_ordinary(const tw_image *image);

#endif
