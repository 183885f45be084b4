/* lut: a table's entry for each element. The problem, and the definition as scalar code. */
#include <string.h>

#include "ops/sample.h"

tw_status tw_lut_problem(const tw_image *src, const tw_image *dst, const tw_lut_params *params, tw_problem *problem)
{
    if (!params || !problem)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", params ? "problem" : "params");
    tw_problem made = {.op = TW_OP_LUT, .table = params->table, .table_channels = params->channels};
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_lut(tw_context *context, const tw_image *src, const tw_image *dst, const tw_lut_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_lut_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

static void look_up(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const tw_problem *problem = &plan->problem;
    const size_t size = tw_type_size(problem->out_type);
    const size_t channel = problem->table_channels > 1 ? (size_t)s->channel : 0;
    const size_t entry = channel * twi_table_entries(problem) + (size_t)twi_sample_integer(s, x, y);
    memcpy(element, (const char *)problem->table + entry * size, size);
}

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, look_up);
}

const twi_code twi_lut_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_reference,
};
