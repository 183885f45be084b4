/* What the files of the CPU back end share. */
#ifndef TWI_CPU_H
#define TWI_CPU_H

#include "core/plan.h"

/* The back end's `subtract`. */
tw_status twi_cpu_subtract(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst);

#endif
