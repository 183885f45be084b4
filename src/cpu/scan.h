/*
 * scan and integral on the CPU. Sums are made in unsigned integers of 32 or 64 bits, which hold signed ones as well, or
 * in f64; TWI_SCAN_TILE values at a time, which lie side by side whatever the number of channels.
 */
#ifndef TWI_CPU_SCAN_H
#define TWI_CPU_SCAN_H

#include "core/plan.h"
#include "core/prefix.h"

/* The sums so far of one channel of a line. Start with zeros. */
typedef struct twi_scan_line {
    uint64_t integer;
    twi_prefix prefix; /* of floats */
} twi_scan_line;

/* What a level does for a pair of types. */
typedef struct twi_scan_kernels {
    /* n values of a line, `step` elements apart, and where their sums go, likewise. All calls for a line but the last
       have whole tiles. */
    void (*along)(twi_scan_line *line, const void *in, void *out, int64_t n, int64_t step, bool exclusive);
    /* A row of n columns. `groups` and `group` are sums of 8 bytes a column, that of groups before and that in the
       group. */
    void (*down)(const void *groups, void *group, const void *in, void *out, int64_t n, bool exclusive);
    /* A group is complete. */
    void (*close)(void *groups, void *group, int64_t n);
} twi_scan_kernels;

/* The kernels of a level: by the type of src, and what dst has. `again`: values that are sums already, for the second
   direction of an integral. */
enum { TWI_SCAN_32, TWI_SCAN_64, TWI_SCAN_F64, TWI_SCAN_F32, TWI_SCAN_SUMS };
typedef struct twi_scan_level {
    const twi_scan_kernels *kernels[TW_TYPE_COUNT][TWI_SCAN_SUMS];
    const twi_scan_kernels *again[TWI_SCAN_SUMS];
    void (*put)(void *restrict dst, const void *restrict src, int64_t bytes, bool stream); /* of level.h, likewise: */
    void (*finish)(bool stream);
} twi_scan_level;

tw_status twi_scan_prepare(tw_plan *plan);
tw_status twi_scan_run(const tw_plan *plan, const twi_job *job, const twi_scan_level *level);
tw_status twi_integral_prepare(tw_plan *plan);
tw_status twi_integral_run(const tw_plan *plan, const twi_job *job, const twi_scan_level *level);

double twi_scan_cost_c(const tw_context *context, const tw_problem *problem);
double twi_scan_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_scan_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
