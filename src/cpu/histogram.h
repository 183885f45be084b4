/* histogram on the CPU: what its levels share (histogram.c). */
#ifndef TWI_CPU_HISTOGRAM_H
#define TWI_CPU_HISTOGRAM_H

#include "cpu/cpu.h"
#include "cpu/rows.h"

/* How a level counts. Each thread has tables, which begin with its totals: the values of the first channel, of the
   second, and so on. */
typedef struct twi_counting {
    int channels;
    int64_t room;  /* bytes of a thread's tables, as prepare() was told */
    int64_t clear; /* of which so many are 0 before the first piece */
    int64_t piece; /* elements of a row at a time; a multiple of the channels */
    bool paired;   /* plain bytes: pairs may be counted */
    void (*count)(const struct twi_counting *counting, const void *at, int64_t n, void *tables);
    /* All that was counted goes to the totals; NULL: it is there. */
    void (*empty)(const struct twi_counting *counting, void *tables);
} twi_counting;

tw_status twi_histogram_prepare(tw_plan *plan, int64_t room);
tw_status twi_histogram_run(const tw_plan *plan, const twi_job *job, const twi_counting *counting);
/* `each`: nanoseconds for an element by one thread. */
double twi_histogram_cost(const tw_context *context, const tw_problem *problem, double each);

#endif
