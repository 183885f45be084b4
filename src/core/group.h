/* Plans of contexts with several devices: a share of the result for each. */
#ifndef TWI_GROUP_H
#define TWI_GROUP_H

#include "core/plan.h"

enum { TWI_MOST_DEVICES = 64 };

/* The context's devices that work, each as a context of its own, the context itself first; returns how many. */
int twi_members(tw_context *context, tw_context *members[TWI_MOST_DEVICES]);

/* Where the share i of `count` nearly equal ones of a length begins; the last ends where share `count` would begin. */
static inline int64_t twi_cut_at(int64_t length, int count, int i)
{
    return length / count * i + length % count * i / count;
}

/* Whether the context has several devices and results of the problem can be shared among them. */
bool twi_group_takes(const tw_context *context, const tw_problem *problem);

/* Makes plan->group, and plan->variant of the first share's. */
tw_status twi_group_create(tw_plan *plan, const tw_plan_options *options);
void twi_group_destroy(tw_plan *plan);

/* Rows of the result from `first` on, as a back end's run(). */
tw_status twi_group_run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first);

#endif
