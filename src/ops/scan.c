/* scan and integral: running sums. The problems, and the definition as scalar code. */
#include <string.h>

#include "core/prefix.h"
#include "ops/sample.h"

tw_scan_params tw_scan_defaults(void)
{
    const tw_scan_params params = {.axis = TW_AXIS_X};
    return params;
}

tw_status tw_scan_problem(const tw_image *src, const tw_image *dst, const tw_scan_params *params, tw_problem *problem)
{
    const tw_scan_params defaults = tw_scan_defaults();
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (!params)
        params = &defaults;
    tw_problem made = {.op = TW_OP_SCAN, .axis = params->axis, .exclusive = params->exclusive};
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_scan(tw_context *context, const tw_image *src, const tw_image *dst, const tw_scan_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_scan_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

tw_status tw_integral_problem(const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    tw_problem made = {.op = TW_OP_INTEGRAL};
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_integral(tw_context *context, const tw_image *src, const tw_image *dst)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_integral_problem(src, dst, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

static tw_type narrowest(const tw_image *src, tw_problem problem)
{
    static const tw_type types[] = {TW_U32, TW_I32, TW_F32, TW_U64, TW_I64, TW_F64};
    if (tw_image_check(src) != TW_OK || src->type >= TW_TYPE_COUNT)
        return TW_ELEMENT_COUNT;
    problem.type = src->type;
    problem.width = src->width;
    problem.height = src->height;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        problem.out_type = types[i];
        if ((twi_sum_types(problem.op, src->type) & TWI_BIT(types[i])) && twi_sums_fit(&problem))
            return types[i];
    }
    return TW_ELEMENT_COUNT;
}

tw_type tw_scan_type(const tw_image *src, const tw_scan_params *params)
{
    const tw_problem problem = {.op = TW_OP_SCAN, .axis = params ? params->axis : TW_AXIS_X};
    return narrowest(src, problem);
}

tw_type tw_integral_type(const tw_image *src)
{
    const tw_problem problem = {.op = TW_OP_INTEGRAL};
    return narrowest(src, problem);
}

/* ---- The reference --------------------------------------------------------------------------------- */

/* A line of any kind: integers are exact in any order. */
typedef struct line {
    bool exclusive;
    int64_t integer; /* the sum so far */
    twi_line along;  /* of floats, along rows */
    double groups;   /* of floats, down columns */
    double group;
    int64_t count;
} line;

static double next_down(line *l, double value)
{
    if (l->count > 0 && l->count % TWI_GROUP == 0) {
        l->groups += l->group;
        l->group = 0;
    }
    l->count++;
    const double without = l->groups + l->group;
    l->group += value;
    return l->exclusive ? without : l->groups + l->group;
}

static int64_t next_integer(line *l, int64_t value)
{
    l->integer += value;
    return l->exclusive ? l->integer - value : l->integer;
}

static void store_integer(void *element, tw_type type, int64_t value)
{
    if (type == TW_F64)
        *(double *)element = (double)value;
    else if (tw_type_size(type) == 4)
        *(uint32_t *)element = (uint32_t)value;
    else
        *(int64_t *)element = value;
}

/* An element's running sum along its line goes to `element`. */
static void put_next(const twi_sampler *s, line *l, bool down, int64_t x, int64_t y, void *element, tw_type type)
{
    if (TWI_BIT(s->image->type) & TWI_INTEGERS) {
        store_integer(element, type, next_integer(l, twi_sample_integer(s, x, y)));
    } else {
        const double value = twi_sample_float(s, x, y);
        twi_store_float(element, type, down ? next_down(l, value) : twi_line_next(&l->along, value, l->exclusive));
    }
}

static void *element_at(const tw_image *image, int64_t x, int64_t y, int channel)
{
    return (char *)image->data + y * image->pitch +
           (x * image->channels + channel) * (int64_t)tw_type_size(image->type);
}

static void scan_columns(const tw_problem *problem, const twi_sampler *s, const tw_image *dst)
{
    for (int64_t x = 0; x < problem->width; x++) {
        line l = {.exclusive = problem->exclusive};
        for (int64_t y = 0; y < problem->height; y++)
            put_next(s, &l, true, x, y, element_at(dst, x, y, s->channel), dst->type);
    }
}

/* Each row a line, or all of them one. */
static void scan_rows(const tw_problem *problem, const twi_sampler *s, const tw_image *dst)
{
    line l = {.exclusive = problem->exclusive};
    for (int64_t y = 0; y < problem->height; y++) {
        if (problem->axis == TW_AXIS_X)
            l = (line){.exclusive = problem->exclusive};
        for (int64_t x = 0; x < problem->width; x++)
            put_next(s, &l, false, x, y, element_at(dst, x, y, s->channel), dst->type);
    }
}

static tw_status run_scan(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    for (int channel = 0; channel < problem->channels; channel++) {
        const twi_sampler s = {&job->src, problem->border, channel};
        if (problem->axis == TW_AXIS_Y)
            scan_columns(problem, &s, &job->dst);
        else
            scan_rows(problem, &s, &job->dst);
    }
    return TW_OK;
}

const twi_code twi_scan_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_scan,
    .whole = true,
};

/* Elements as numbers, in place. */
static void sum_table_column(const tw_image *table, int64_t x, int channel)
{
    line l = {.exclusive = false};
    for (int64_t y = 1; y < table->height; y++) {
        void *element = element_at(table, x, y, channel);
        if (table->type == TW_F64)
            *(double *)element = twi_canonical_f64(next_down(&l, *(double *)element));
        else if (tw_type_size(table->type) == 4)
            store_integer(element, table->type, next_integer(&l, *(int32_t *)element));
        else
            store_integer(element, table->type, next_integer(&l, *(int64_t *)element));
    }
}

static tw_status run_integral(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const tw_image *dst = &job->dst;
    const int64_t size = (int64_t)tw_type_size(dst->type);
    tw_image sums = *dst; /* without the first row and column */
    sums.data = element_at(dst, 1, 1, 0);
    for (int64_t y = 0; y < dst->height; y++)
        memset(element_at(dst, 0, y, 0), 0, (size_t)((y == 0 ? dst->width : 1) * dst->channels * size));
    for (int channel = 0; channel < problem->channels; channel++) {
        const twi_sampler s = {&job->src, problem->border, channel};
        scan_rows(problem, &s, &sums);
        for (int64_t x = 1; x < dst->width; x++)
            sum_table_column(dst, x, channel);
    }
    return TW_OK;
}

const twi_code twi_integral_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_integral,
    .whole = true,
};
