/* Results made in parts. */
#ifndef TWI_PARTS_H
#define TWI_PARTS_H

#include "core/plan.h"

/* Rows 0 ... cut-1 and the others of the result, each from the pixels of src that it reads, alone.
   TW_ERROR_UNSUPPORTED where results of the operation have no parts. */
tw_status twi_run_parts(tw_context *context, const tw_problem *problem, const tw_plan_options *options, int64_t cut,
                        const tw_image *src, const tw_image *dst);

#endif
