/* transpose on the CPU: turns as walks, the rows of flips, and what the levels cost. */
#include "cpu/transpose.h"
#include "cpu/rows.h"

/* Where lines are fetched in pairs, the second is gone before it is wanted if tiles have many source rows: the bursts
   that were fastest there, measured on one such processor (docs/design.md). */
static int64_t burst_of(int64_t pixel)
{
    const int64_t longest = 4 * TWI_LINE;
    const int64_t in_pairs = pixel == 1 ? TWI_LINE : 2 * TWI_LINE;
    return twi_cpu_fetches_pairs() ? in_pairs : longest;
}

twi_turn_walk twi_turn_walk_of(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const unsigned turn = problem->turn;
    const bool exchange = (turn & TWI_TURN_EXCHANGE) != 0;
    const tw_image *src = &job->src;
    const tw_image *dst = &job->dst;
    twi_turn_walk walk = {
        .src = src->data,
        .dst = dst->data,
        .src_pitch = src->pitch,
        .dst_pitch = dst->pitch,
        .count = exchange ? src->height : src->width,
        .first = job->first,
        .last = job->last,
        .burst = burst_of(problem->channels * (int64_t)tw_type_size(problem->type)),
        .exchange = exchange,
        .mirror = !exchange && (turn & TWI_TURN_LEFT_RIGHT),
        .stream = twi_output_streams(problem, problem->width * problem->channels) &&
                  ((uintptr_t)dst->data | (uint64_t)dst->pitch) % TWI_LINE == 0,
    };
    if (turn & (exchange ? TWI_TURN_LEFT_RIGHT : TWI_TURN_TOP_BOTTOM)) {
        walk.src += (src->height - 1) * src->pitch;
        walk.src_pitch = -src->pitch;
    }
    if (exchange && (turn & TWI_TURN_TOP_BOTTOM)) {
        walk.dst += (dst->height - 1) * dst->pitch;
        walk.dst_pitch = -dst->pitch;
        walk.first = dst->height - job->last;
        walk.last = dst->height - job->first;
    }
    return walk;
}

/* Nanoseconds for a byte by one thread; a share of them for each of several. */
static double estimate(const tw_context *context, const tw_problem *problem, double byte)
{
    const double bytes =
        (double)problem->width * (double)problem->height * problem->channels * (double)tw_type_size(problem->type);
    return bytes * byte / (context ? context->threads : 1);
}

double twi_transpose_cost_c(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 1);
}

double twi_transpose_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.2);
}

double twi_transpose_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.15);
}
