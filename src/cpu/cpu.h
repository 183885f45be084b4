/* What the files of the CPU back end share. */
#ifndef TWI_CPU_H
#define TWI_CPU_H

#include "core/plan.h"

/* Why a level with vectors does not run: the reason, or NULL. No level depends on the problem. */
const char *twi_cpu_refuses_avx2(const tw_context *context, const tw_problem *problem);
const char *twi_cpu_refuses_avx512(const tw_context *context, const tw_problem *problem);
const char *twi_cpu_refuses_avx512_vnni(const tw_context *context, const tw_problem *problem);

/* The back end's `subtract`. */
tw_status twi_cpu_subtract(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst);

#endif
