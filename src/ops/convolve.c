/* correlate, convolve, sepconv, gaussian and the derivative masks: arguments, problems, and the definitions as scalar
   code. */
#include <math.h>
#include <string.h>

#include "ops/sample.h"

tw_status tw_correlate_problem(const tw_image *src, const tw_image *dst, const tw_correlate_params *params,
                               tw_problem *problem)
{
    if (!params || !problem)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", params ? "problem" : "params");
    tw_problem made = {
        .op = TW_OP_CORRELATE,
        .window = params->window,
        .border = params->border,
        .rounding = params->rounding,
        .mask = params->mask,
        .divisor = params->divisor,
        .offset = params->offset,
    };
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_correlate(tw_context *context, const tw_image *src, const tw_image *dst, const tw_correlate_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_correlate_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

tw_status tw_convolve(tw_context *context, const tw_image *src, const tw_image *dst, const tw_correlate_params *params)
{
    tw_problem problem;
    void *turned = NULL;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_correlate_problem(src, dst, params, &problem));
    const tw_window *window = &params->window;
    const size_t count = (size_t)window->width * (size_t)window->height;
    const bool exact = params->mask.integers != NULL;
    const size_t size = exact ? sizeof *params->mask.integers : sizeof *params->mask.floats;
    const char *values = exact ? (const char *)params->mask.integers : (const char *)params->mask.floats;
    TWI_TRY(twi_host_allocate(context, count * size, &turned));
    for (size_t i = 0; i < count; i++)
        memcpy((char *)turned + i * size, values + (count - 1 - i) * size, size);
    problem.window.anchor_x = window->width - 1 - window->anchor_x;
    problem.window.anchor_y = window->height - 1 - window->anchor_y;
    if (exact)
        problem.mask.integers = turned;
    else
        problem.mask.floats = turned;
    const tw_status status = twi_run_kept(context, &problem, src, dst);
    twi_host_release(context, turned);
    return status;
}

tw_status tw_sepconv_problem(const tw_image *src, const tw_image *dst, const tw_sepconv_params *params,
                             tw_problem *problem)
{
    if (!params || !problem)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", params ? "problem" : "params");
    tw_problem made = {
        .op = TW_OP_SEPCONV,
        .window = params->window,
        .border = params->border,
        .rounding = params->rounding,
        .mask = params->row,
        .column = params->column,
        .divisor = params->divisor,
        .offset = params->offset,
    };
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_sepconv(tw_context *context, const tw_image *src, const tw_image *dst, const tw_sepconv_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_sepconv_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

tw_gaussian_params tw_gaussian_defaults(void)
{
    const tw_gaussian_params params = {
        .sigma_x = 1,
        .sigma_y = 1,
        .truncate = 4,
        .border = {TW_BORDER_REPLICATE, 0},
    };
    return params;
}

/* The number of taps along one axis. */
static tw_status support(const char *axis, double sigma, double truncate, int32_t asked, int32_t *taps)
{
    if (!(sigma >= 0) || isinf(sigma))
        return twi_fail(TW_ERROR_ARGUMENT, "sigma %g along %s: use 0 (leave the axis alone) or more", sigma, axis);
    if (asked < 0 || (asked > 0 && asked % 2 == 0))
        return twi_fail(TW_ERROR_ARGUMENT, "gaussian of %d taps along %s: use an odd number, or 0 for that of sigma",
                        (int)asked, axis);
    if (!(truncate > 0) || isinf(truncate))
        return twi_fail(TW_ERROR_ARGUMENT, "truncate %g: use more than 0", truncate);
    const double radius = ceil(truncate * sigma);
    if (asked == 0 && radius > TWI_MAX_GAUSSIAN / 2)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "sigma %g along %s, truncated at %g sigma, needs more than %d taps: give a size", sigma, axis,
                        truncate, (int)TWI_MAX_GAUSSIAN);
    *taps = asked > 0 ? asked : 2 * (int32_t)radius + 1;
    return TW_OK;
}

tw_status tw_gaussian_problem(const tw_image *src, const tw_image *dst, const tw_gaussian_params *params,
                              tw_problem *problem)
{
    const tw_gaussian_params defaults = tw_gaussian_defaults();
    int32_t width = 0;
    int32_t height = 0;
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (!params)
        params = &defaults;
    TWI_TRY(support("x", params->sigma_x, params->truncate, params->width, &width));
    TWI_TRY(support("y", params->sigma_y, params->truncate, params->height, &height));
    tw_problem made = {
        .op = TW_OP_GAUSSIAN,
        .window = tw_window_centred(width, height),
        .border = params->border,
        .sigma_x = params->sigma_x,
        .sigma_y = params->sigma_y,
    };
    TWI_TRY(twi_problem_complete(src, dst, &made));
    *problem = made;
    return TW_OK;
}

tw_status tw_gaussian(tw_context *context, const tw_image *src, const tw_image *dst, const tw_gaussian_params *params)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_gaussian_problem(src, dst, params, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

tw_status tw_derivative_mask(tw_derivative derivative, tw_direction direction, int32_t mask[9])
{
    /* the smoothing across a derivative (-1 0 1): 1 2 1 and so on */
    static const int32_t across[TW_DERIVATIVE_COUNT][2] = {
        [TW_SOBEL] = {1, 2},
        [TW_SCHARR] = {3, 10},
        [TW_PREWITT] = {1, 1},
    };
    static const int32_t laplacian[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    if ((unsigned)derivative >= TW_DERIVATIVE_COUNT || (unsigned)direction > TW_DIRECTION_Y || !mask)
        return twi_fail(TW_ERROR_ARGUMENT, "derivative %d, direction %d, mask %p: one of them is not valid",
                        (int)derivative, (int)direction, (void *)mask);
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            const int along = direction == TW_DIRECTION_X ? i : j;
            const int aside = direction == TW_DIRECTION_X ? j : i;
            mask[3 * j + i] =
                derivative == TW_LAPLACIAN ? laplacian[3 * j + i] : (along - 1) * across[derivative][aside == 1];
        }
    }
    return TW_OK;
}

/* ---- The references ---------------------------------------------------------------------------- */

/* Exact sums are for integers times integers; f64 is for f64 pixels; the rest is f32. */
static bool is_exact(const tw_problem *problem)
{
    return problem->mask.integers && problem->type != TW_F32 && problem->type != TW_F64;
}

static double value_of(const tw_values *values, int32_t i)
{
    return values->integers ? (double)values->integers[i] : values->floats[i];
}

/* One step of a float sum, in the arithmetic of the pixels. */
static double multiply_add(const tw_problem *problem, double mask, double pixel, double sum)
{
    return problem->type == TW_F64 ? fma(mask, pixel, sum) : (double)fmaf((float)mask, (float)pixel, (float)sum);
}

static double scale(const tw_problem *problem, double sum)
{
    if (problem->type == TW_F64)
        return sum / problem->divisor + problem->offset;
    const float quotient = (float)sum / (float)problem->divisor;
    return (double)(quotient + (float)problem->offset);
}

static twi_i128 scale_exact(const tw_problem *problem, twi_i128 sum)
{
    return twi_quotient(sum, (int64_t)problem->divisor, problem->rounding == TW_ROUND_NEAREST) +
           (int64_t)problem->offset;
}

static void correlate_pixel(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    const bool exact = is_exact(problem);
    twi_i128 integer_sum = 0;
    double float_sum = 0;
    for (int32_t j = 0; j < window->height; j++) {
        for (int32_t i = 0; i < window->width; i++) {
            const int64_t px = x - window->anchor_x + i;
            const int64_t py = y - window->anchor_y + j;
            const int32_t tap = j * window->width + i;
            if (exact)
                integer_sum += (twi_i128)problem->mask.integers[tap] * twi_sample_integer(s, px, py);
            else
                float_sum =
                    multiply_add(problem, value_of(&problem->mask, tap), twi_sample_float(s, px, py), float_sum);
        }
    }
    if (exact)
        twi_store_integer(element, problem->out_type, scale_exact(problem, integer_sum));
    else
        twi_store_float(element, problem->out_type, scale(problem, float_sum));
}

static void sepconv_pixel(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    const bool exact = is_exact(problem);
    twi_i128 integer_sum = 0;
    double float_sum = 0;
    for (int32_t j = 0; j < window->height; j++) {
        const int64_t py = y - window->anchor_y + j;
        twi_i128 integer_row = 0;
        double float_row = 0;
        for (int32_t i = 0; i < window->width; i++) {
            const int64_t px = x - window->anchor_x + i;
            if (exact)
                integer_row += (twi_i128)problem->mask.integers[i] * twi_sample_integer(s, px, py);
            else
                float_row = multiply_add(problem, value_of(&problem->mask, i), twi_sample_float(s, px, py), float_row);
        }
        if (exact)
            integer_sum += integer_row * problem->column.integers[j];
        else
            float_sum = multiply_add(problem, value_of(&problem->column, j), float_row, float_sum);
    }
    if (exact)
        twi_store_integer(element, problem->out_type, scale_exact(problem, integer_sum));
    else
        twi_store_float(element, problem->out_type, scale(problem, float_sum));
}

static tw_status run_correlate(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, correlate_pixel);
}

const twi_code twi_correlate_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_correlate,
};

static tw_status run_sepconv(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, sepconv_pixel);
}

const twi_code twi_sepconv_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_sepconv,
};

/* The weights of both axes, kept with the plan. */
typedef struct gaussian_state {
    int32_t *fixed_row;
    int32_t *fixed_column;
    double *row;
    double *column;
} gaussian_state;

static tw_status prepare_gaussian(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const size_t width = (size_t)problem->window.width;
    const size_t height = (size_t)problem->window.height;
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(plan->context,
                              sizeof(gaussian_state) + (width + height) * (sizeof(double) + sizeof(int32_t)), &memory));
    gaussian_state *state = memory;
    state->row = (double *)(state + 1);
    state->column = state->row + width;
    state->fixed_row = (int32_t *)(state->column + height);
    state->fixed_column = state->fixed_row + width;
    twi_gaussian_weights(problem->sigma_x, problem->window.width, state->row);
    twi_gaussian_weights(problem->sigma_y, problem->window.height, state->column);
    twi_gaussian_fixed(state->row, problem->window.width, state->fixed_row);
    twi_gaussian_fixed(state->column, problem->window.height, state->fixed_column);
    plan->state = state;
    return TW_OK;
}

static void release_gaussian(tw_plan *plan)
{
    twi_host_release(plan->context, plan->state);
}

/* Fixed point: weights of 16 fractional bits, rows rounded to 8.8 bits, then columns. */
static void gaussian_fixed_pixel(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const gaussian_state *state = plan->state;
    const tw_window *window = &plan->problem.window;
    uint32_t sum = 1u << 23;
    for (int32_t j = 0; j < window->height; j++) {
        uint32_t row = 1u << 7;
        for (int32_t i = 0; i < window->width; i++)
            row += (uint32_t)state->fixed_row[i] *
                   (uint32_t)twi_sample_integer(s, x - window->anchor_x + i, y - window->anchor_y + j);
        sum += (uint32_t)state->fixed_column[j] * (row >> 8);
    }
    *(uint8_t *)element = (uint8_t)(sum >> 24);
}

/* In f64: fma in the order of the taps, the row first. */
static void gaussian_pixel(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const gaussian_state *state = plan->state;
    const tw_window *window = &plan->problem.window;
    double sum = 0;
    for (int32_t j = 0; j < window->height; j++) {
        double row = 0;
        for (int32_t i = 0; i < window->width; i++)
            row = fma(state->row[i], twi_sample_float(s, x - window->anchor_x + i, y - window->anchor_y + j), row);
        sum = fma(state->column[j], row, sum);
    }
    twi_store_float(element, plan->problem.out_type, sum);
}

static tw_status run_gaussian(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, twi_gaussian_is_fixed(&plan->problem) ? gaussian_fixed_pixel : gaussian_pixel);
}

const twi_code twi_gaussian_reference_cpu = {
    .cost = twi_cost_reference,
    .prepare = prepare_gaussian,
    .run = run_gaussian,
    .release = release_gaussian,
};
