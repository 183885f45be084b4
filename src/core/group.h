/* Plans of contexts with several devices: a share of the result for each. */
#ifndef TWI_GROUP_H
#define TWI_GROUP_H

#include "core/plan.h"

enum { TWI_MOST_DEVICES = 64 };

/* The context's devices that work, each as a context of its own, the context itself first; returns how many. */
int twi_members(tw_context *context, tw_context *members[TWI_MOST_DEVICES]);

/* Whether a call failed with its device: the next would fail, too. */
static inline bool twi_is_failure_of_device(tw_status status)
{
    return status == TW_ERROR_DEVICE || status == TW_ERROR_CUDA;
}

/* How the work of a thread ended, since messages belong to threads. A device's failure is TW_ERROR_DEVICE. */
typedef struct twi_outcome {
    tw_status status;
    char message[300];
} twi_outcome;

/* In the thread, which has the message. */
void twi_note_outcome(twi_outcome *outcome, tw_status status);
/* In the caller's, which gets it, with the device that it came from. */
tw_status twi_pass_outcome(const twi_outcome *outcome, const tw_context *context);

/* Fails: there is none left. */
tw_status twi_no_device(void);

/* Calls work() for each of `count` items, at most TWI_MOST_DEVICES, in threads of their own, and returns when all are
   done. Where the system has no thread the caller's works, in ascending order; so it does for the first. */
void twi_run_threads(void *(*work)(void *item), void *items, size_t size, int count);

/* Where the share i of `count` nearly equal ones of a length begins; the last ends where share `count` would begin. */
static inline int64_t twi_cut_at(int64_t length, int count, int i)
{
    return length / count * i + length % count * i / count;
}

/* Whether the context has several devices, and they may share the problem. */
bool twi_group_takes(const tw_context *context, const tw_problem *problem);

/* Makes plan->group, and plan->variant of the first share's. Alone: one of the devices makes all. TW_ERROR_UNSUPPORTED
   where a variant that was named does no parts. */
tw_status twi_group_create(tw_plan *plan, const tw_plan_options *options, bool alone);
void twi_group_destroy(tw_plan *plan);

/* Rows of the result from `first` on, as a back end's run(). */
tw_status twi_group_run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first);

/* ---- Running sums that go on from share to share (carry.c) ------------------------------------------------ */

typedef struct twi_chain twi_chain;

/* Of so many shares, whose plans make sums of integers by parts of the problem; they join in ascending order. */
tw_status twi_chain_create(const tw_context *context, const tw_problem *problem, int count, twi_chain **chain);
tw_status twi_chain_join(twi_chain *chain, int number, tw_plan *plan);
/* Before the plan is destroyed. */
void twi_chain_leave(tw_plan *plan);
void twi_chain_destroy(twi_chain *chain);

/* Before each run of all shares. */
void twi_chain_begin(twi_chain *chain);
/* Before a share's own, whose rows of the result end before `last`; src: the whole image. */
void twi_carry_start(const tw_plan *plan, const tw_image *src, int64_t last);
/* For back ends, when the sums of a plan that has a carry are queued where they will lie: adds what lies before them,
   and waits for the share that says so. */
tw_status twi_carry_add(const tw_plan *plan, const tw_image *dst);
/* The share has failed: those after it may not wait. */
void twi_carry_fail(const tw_plan *plan);

#endif
