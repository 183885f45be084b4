/* reduce: figures of the whole image, of its rows or of its columns. The problem, and the definition as scalar code. */
#include <math.h>
#include <string.h>

#include "core/sequence.h"
#include "ops/sample.h"

tw_reduce_params tw_reduce_defaults(void)
{
    const tw_reduce_params params = {.axis = TW_AXIS_ALL, .figures = TW_FIGURE_ALL};
    return params;
}

tw_status tw_reduce_problem(const tw_image *src, const tw_image *dst, const tw_reduce_params *params,
                            tw_problem *problem)
{
    const tw_reduce_params defaults = tw_reduce_defaults();
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (!params)
        params = &defaults;
    tw_problem made = {.op = TW_OP_REDUCE, .axis = params->axis, .figures = params->figures};
    memcpy(made.about, params->about, sizeof made.about);
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_reduce(tw_context *context, const tw_image *src, const tw_image *dst, const tw_reduce_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_reduce_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

/* ---- The reference: sums in the order of core/exact.h ---------------------------------------------- */

/* The pixels that one record is about: columns left ... right-1 of rows top ... bottom-1. */
typedef struct part {
    twi_sampler sampler;
    tw_axis axis;
    int64_t left;
    int64_t right;
    int64_t top;
    int64_t bottom;
} part;

/* What is added up: the pixels, or their squared differences to the mean. */
typedef struct term {
    bool squares;
    double mean;
} term;

static double term_of(const part *p, const term *t, int64_t x, int64_t y)
{
    const double value = twi_sample_float(&p->sampler, x, y);
    return t->squares ? (value - t->mean) * (value - t->mean) : value;
}

static double row_sum(const part *p, const term *t, int64_t y)
{
    twi_sequence pixels = {.count = {0}};
    for (int64_t x = p->left; x < p->right; x++)
        twi_sequence_add(&pixels, 0, term_of(p, t, x, y));
    return twi_sequence_sum(&pixels);
}

static double group_sum(const part *p, const term *t, int64_t first)
{
    double sum = 0;
    for (int64_t y = first; y < first + TWI_GROUP && y < p->bottom; y++)
        sum += term_of(p, t, p->left, y);
    return sum;
}

static double float_sum(const part *p, const term *t)
{
    const int64_t step = p->axis == TW_AXIS_Y ? TWI_GROUP : 1;
    twi_sequence sums = {.count = {0}};
    for (int64_t y = p->top; y < p->bottom; y += step)
        twi_sequence_add(&sums, 0, p->axis == TW_AXIS_Y ? group_sum(p, t, y) : row_sum(p, t, y));
    return twi_sequence_sum(&sums);
}

static twi_i128 integer_sum(const part *p)
{
    twi_i128 sum = 0;
    for (int64_t y = p->top; y < p->bottom; y++)
        for (int64_t x = p->left; x < p->right; x++)
            sum += twi_sample_integer(&p->sampler, x, y);
    return sum;
}

static int64_t key_of(const part *p, int64_t x, int64_t y)
{
    const double value = twi_sample_float(&p->sampler, x, y);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return twi_key_f64(bits);
}

static void find_extremes(const part *p, twi_stats *stats)
{
    int64_t lowest = key_of(p, p->left, p->top);
    int64_t highest = lowest;
    stats->argmin_x = stats->argmax_x = p->left;
    stats->argmin_y = stats->argmax_y = p->top;
    for (int64_t y = p->top; y < p->bottom; y++) {
        for (int64_t x = p->left; x < p->right; x++) {
            const int64_t key = key_of(p, x, y);
            stats->count_nonzero += twi_sample_float(&p->sampler, x, y) != 0;
            if (key < lowest) {
                lowest = key;
                stats->argmin_x = x;
                stats->argmin_y = y;
            }
            if (key > highest) {
                highest = key;
                stats->argmax_x = x;
                stats->argmax_y = y;
            }
        }
    }
    stats->min = twi_value_of_key(lowest);
    stats->max = twi_value_of_key(highest);
}

static void find_sums(const part *p, const tw_problem *problem, twi_stats *stats)
{
    const double count = (double)(p->right - p->left) * (double)(p->bottom - p->top);
    const tw_type type = p->sampler.image->type;
    term t = {false, 0};
    if (type == TW_F32 || type == TW_F64) {
        stats->sum = float_sum(p, &t);
    } else {
        const twi_i128 sum = integer_sum(p);
        stats->sum_low = (uint64_t)sum;
        stats->sum_high = (int64_t)(sum >> 64);
        stats->sum = (double)sum;
    }
    stats->mean = stats->sum / count;
    if (problem->figures & TW_FIGURE_SQUARES) {
        t = (term){true, problem->about[p->sampler.channel]};
        stats->var = float_sum(p, &t);
    } else {
        t = (term){true, stats->mean};
        stats->var = float_sum(p, &t) / count;
    }
}

static void make_record(const part *p, const tw_problem *problem, twi_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    find_extremes(p, stats);
    find_sums(p, problem, stats);
    twi_stats_finish((int)problem->figures, stats);
}

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    for (int64_t y = job->first; y < job->last; y++) {
        for (int64_t x = 0; x < job->dst.width; x++) {
            twi_stats *row = (twi_stats *)(void *)((char *)job->dst.data + y * job->dst.pitch);
            for (int channel = 0; channel < problem->channels; channel++) {
                part p = {
                    .sampler = {&job->src, problem->border, channel},
                    .axis = problem->axis,
                    .right = problem->width,
                    .bottom = problem->height,
                };
                if (problem->axis == TW_AXIS_X) {
                    p.top = y;
                    p.bottom = y + 1;
                } else if (problem->axis == TW_AXIS_Y) {
                    p.left = x;
                    p.right = x + 1;
                }
                make_record(&p, problem, &row[x * problem->channels + channel]);
            }
        }
    }
    return TW_OK;
}

const twi_code twi_reduce_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_reference,
    .whole = true,
};
