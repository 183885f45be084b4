/* transpose on the CPU: what all levels share. */
#ifndef TWI_CPU_TRANSPOSE_H
#define TWI_CPU_TRANSPOSE_H

#include "cpu/cpu.h"

/*
 * A turn with its flips taken out: rows that are to be read or written in the reverse order are walked with a negative
 * pitch. What is left is dst(x, y) = src(y, x), or, without an exchange, rows that are copied or mirrored.
 */
typedef struct twi_turn_walk {
    const char *src;
    char *dst;
    int64_t src_pitch;
    int64_t dst_pitch;
    int64_t count; /* pixels of a row of dst */
    int64_t first; /* the job's rows of dst, as the walk counts them */
    int64_t last;
    int64_t burst; /* bytes of a row of dst that an exchange makes at a time: 1 to 4 lines */
    bool exchange;
    bool mirror;
    bool stream; /* dst is larger than the cache, and its rows begin at lines of it */
} twi_turn_walk;

twi_turn_walk twi_turn_walk_of(const tw_plan *plan, const twi_job *job);

/* Estimates of the levels, nanoseconds. */
double twi_transpose_cost_c(const tw_context *context, const tw_problem *problem);
double twi_transpose_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_transpose_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
