/* box, the mean over a window: its arguments, its problem, and the definition as scalar code. */
#include "ops/sample.h"

tw_box_params tw_box_defaults(void)
{
    const tw_box_params params = {
        .window = {3, 3, 1, 1},
        .border = {TW_BORDER_ZERO, 0},
        .rounding = TW_ROUND_FLOOR,
    };
    return params;
}

tw_status tw_box_problem(const tw_image *src, const tw_image *dst, const tw_box_params *params, tw_problem *problem)
{
    const tw_box_params defaults = tw_box_defaults();
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (!params)
        params = &defaults;
    tw_problem made = {
        .op = TW_OP_BOX,
        .window = params->window,
        .border = params->border,
        .rounding = params->rounding,
    };
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_box(tw_context *context, const tw_image *src, const tw_image *dst, const tw_box_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_box_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

/* ---- The reference: one position at a time, as docs/semantics.md says it --------------------- */

static int64_t sum_integers(const twi_sampler *s, int64_t x, int64_t y, const tw_window *window)
{
    int64_t sum = 0;
    for (int32_t j = 0; j < window->height; j++)
        for (int32_t i = 0; i < window->width; i++)
            sum += twi_sample_integer(s, x - window->anchor_x + i, y - window->anchor_y + j);
    return sum;
}

/* The fixed shape of float sums (exact.h), as the recursion that it is. `at` gives value i. */
typedef struct line {
    const twi_sampler *sampler;
    const tw_window *window;
    int64_t x;
    int64_t y;
} line;

static twi_pair sum_row(const line *l, int32_t n);

/* Value i of a line of pixels (down < 0), or the sum of row i of the window. */
static twi_pair value_at(const line *l, bool rows, int32_t i)
{
    if (!rows)
        return twi_pair_of(twi_sample_float(l->sampler, l->x + i, l->y));
    const line row = {l->sampler, l->window, l->x, l->y + i};
    return sum_row(&row, l->window->width);
}

static twi_pair sum_block(const line *l, bool rows, int32_t first, int32_t size)
{
    if (size == 1)
        return value_at(l, rows, first);
    return twi_pair_add(sum_block(l, rows, first, size / 2), sum_block(l, rows, first + size / 2, size / 2));
}

static twi_pair sum_line(const line *l, bool rows, int32_t n)
{
    twi_pair sum = {0, 0};
    int32_t done = 0;
    for (int32_t size = 1; size <= n; size *= 2) {
        if (!(n & size))
            continue;
        const twi_pair block = sum_block(l, rows, done, size);
        sum = done == 0 ? block : twi_pair_add(sum, block);
        done += size;
    }
    return sum;
}

static twi_pair sum_row(const line *l, int32_t n)
{
    return sum_line(l, false, n);
}

static twi_pair sum_floats(const twi_sampler *s, int64_t x, int64_t y, const tw_window *window)
{
    const line window_rows = {s, window, x - window->anchor_x, y - window->anchor_y};
    return sum_line(&window_rows, true, window->height);
}

static void store_mean(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    const int64_t count = (int64_t)window->width * window->height;
    if (problem->type == TW_F32)
        *(float *)element = twi_mean_f32(sum_floats(s, x, y, window).high, 1.0 / (double)count);
    else if (problem->type == TW_F64)
        *(double *)element = twi_mean_f64(sum_floats(s, x, y, window), (double)count);
    else
        twi_store_integer(
            element, problem->type,
            twi_mean_integer(sum_integers(s, x, y, window), count, problem->rounding == TW_ROUND_NEAREST));
}

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, store_mean);
}

const twi_code twi_box_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_reference,
};
