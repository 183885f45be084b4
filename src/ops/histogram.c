/* histogram: how often each value occurs. The problem, and the definition as scalar code. */
#include <string.h>

#include "ops/sample.h"

tw_status tw_histogram_problem(const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    tw_problem made = {.op = TW_OP_HISTOGRAM};
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_histogram(tw_context *context, const tw_image *src, const tw_image *dst)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_histogram_problem(src, dst, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    uint64_t *counts = job->dst.data;
    memset(counts, 0, (size_t)job->dst.width * (size_t)problem->channels * sizeof *counts);
    for (int channel = 0; channel < problem->channels; channel++) {
        const twi_sampler s = {&job->src, problem->border, channel};
        for (int64_t y = 0; y < problem->height; y++)
            for (int64_t x = 0; x < problem->width; x++)
                counts[twi_sample_integer(&s, x, y) * problem->channels + channel]++;
    }
    return TW_OK;
}

const twi_code twi_histogram_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_reference,
    .whole = true,
};
