/*
 * reduce and histogram on the CPU. All kernels work element by element: an element of a row belongs to channel
 * i % channels, and blocks of TWI_REDUCE_BLOCK elements, a multiple of 1 to 4, keep the channels apart by themselves.
 */
#ifndef TWI_CPU_REDUCE_H
#define TWI_CPU_REDUCE_H

#include "core/plan.h"

enum {
    TWI_REDUCE_BLOCK = 192,
    TWI_REDUCE_REST = 12 /* what a block is folded to: still a multiple of 1 to 4 */
};

/* What a level does with n elements of a type. */
typedef struct twi_reduce_kernels {
    /* Adds element i, or its squared difference to means[i % period], to lanes[i % period]. */
    void (*add)(double *lanes, int64_t period, const void *row, int64_t n);
    void (*add_squares)(double *lanes, int64_t period, const double *means, const void *row, int64_t n);
    /* Adds integers exactly; n below 2^31. */
    void (*sum_row)(int64_t *sums, const void *row, int64_t n);
    void (*sum_columns)(int64_t *sums, const void *row, int64_t n);
    /* The lowest and highest of TWI_REDUCE_REST classes of elements, as keys (twi_key_f64 of the value). n is at least
       `channels`; a class without an element has no meaning. */
    void (*range_row)(int64_t *lowest, int64_t *highest, const void *row, int64_t n, int channels);
    /* The first element of a channel that has the key. */
    int64_t (*find)(const void *row, int64_t n, int channels, int channel, int64_t key);
    /* Keeps the extremes of each element, and the y where they were first seen. */
    void (*range_columns)(int64_t *lowest, int64_t *highest, int64_t *lowest_y, int64_t *highest_y, const void *row,
                          int64_t n, int64_t y);
    void (*count_row)(uint64_t *counts, const void *row, int64_t n);
    void (*count_columns)(uint64_t *counts, const void *row, int64_t n);
} twi_reduce_kernels;

/* Runs a plan whose prepare was twi_reduce_prepare. */
tw_status twi_reduce_run(const tw_plan *plan, const twi_job *job, const twi_reduce_kernels *kernels);
tw_status twi_reduce_prepare(tw_plan *plan);

double twi_reduce_cost_c(const tw_context *context, const tw_problem *problem);
double twi_reduce_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_reduce_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
