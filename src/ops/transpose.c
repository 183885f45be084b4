/* transpose, rotations and flips: pixels moved whole. The problem, and the definition as scalar code. */
#include <string.h>

#include "ops/sample.h"

tw_status tw_transpose_problem(const tw_image *src, const tw_image *dst, tw_turn turn, tw_problem *problem)
{
    tw_problem made = {.op = TW_OP_TRANSPOSE, .turn = turn};
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_transpose(tw_context *context, const tw_image *src, const tw_image *dst, tw_turn turn)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_transpose_problem(src, dst, turn, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

/* ---- The reference: where each pixel of dst comes from ------------------------------------------- */

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    const unsigned turn = plan->problem.turn;
    const size_t pixel = (size_t)job->dst.channels * tw_type_size(job->dst.type);
    for (int64_t y = job->first; y < job->last; y++) {
        for (int64_t x = 0; x < job->dst.width; x++) {
            const int64_t right = turn & TWI_TURN_LEFT_RIGHT ? job->dst.width - 1 - x : x;
            const int64_t down = turn & TWI_TURN_TOP_BOTTOM ? job->dst.height - 1 - y : y;
            const int64_t column = turn & TWI_TURN_EXCHANGE ? down : right;
            const int64_t row = turn & TWI_TURN_EXCHANGE ? right : down;
            memcpy((char *)job->dst.data + y * job->dst.pitch + x * (int64_t)pixel,
                   (const char *)job->src.data + row * job->src.pitch + column * (int64_t)pixel, pixel);
        }
    }
    return TW_OK;
}

const twi_code twi_transpose_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_reference,
};
