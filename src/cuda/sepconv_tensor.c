/* sepconv on CUDA, variant tensor: integer weights of a signed byte on u8 images (sepconv_tensor.cu). */
#include "cuda/planes.h"

enum { MOST_TAPS = 2 * 56 + 1 }; /* the largest kernel reaches 56 from an output */
enum { MOST_ROW = 65535 / 255 }; /* sums along a row must fit in 16 bits: the weights' absolute values sum to no more */

static const twi_cuda_band_kernel *kernel_of(const tw_problem *problem)
{
    return twi_cuda_find_band(twi_cuda_sepconv_tensors, TWI_CUDA_SEPCONV_TENSORS, problem);
}

/* A row's weights above and below 0, these without their sign. */
typedef struct row_sums {
    int64_t above;
    int64_t below;
} row_sums;

static row_sums sums_of_row(const tw_problem *problem)
{
    row_sums sums = {0, 0};
    for (int32_t i = 0; i < problem->window.width; i++) {
        const int64_t weight = twi_cuda_weight(problem, i);
        sums.above += twi_max_i64(weight, 0);
        sums.below += twi_max_i64(-weight, 0);
    }
    return sums;
}

static bool fits_byte(int64_t weight)
{
    return weight >= INT8_MIN && weight <= INT8_MAX;
}

static const char *refuses_tensor(const tw_context *context, const tw_problem *problem)
{
    const char *const refusal = twi_cuda_refuses_quotient(problem);
    if (refusal)
        return refusal;
    if (problem->out_type != TW_U8)
        return "it makes u8";
    if (!kernel_of(problem))
        return "the window reaches more than 56 elements along a row, or 56 rows, from its output";
    for (int32_t i = 0; i < problem->window.width; i++)
        if (!fits_byte(twi_cuda_weight(problem, i)))
            return "a weight is not a signed byte";
    for (int32_t j = 0; j < problem->window.height; j++)
        if (!fits_byte(problem->column.integers[j]))
            return "a weight is not a signed byte";
    const row_sums sums = sums_of_row(problem);
    if (sums.above + sums.below > MOST_ROW)
        return "the row's absolute values sum to more than 257";
    return twi_cuda_refuses_band(context, problem);
}

static double cost_tensor(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return twi_cuda_band_cost(kernel_of(problem), problem);
}

static tw_status prepare_tensor(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    int32_t row[MOST_TAPS];
    for (int32_t i = 0; i < problem->window.width; i++)
        row[i] = (int32_t)twi_cuda_weight(problem, i);
    return twi_cuda_prepare_band(plan, kernel_of(problem), row, problem->column.integers);
}

static tw_status run_tensor(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_band_kernel *kernel = kernel_of(problem);
    const row_sums sums = sums_of_row(problem);
    const int64_t lowest = -UINT8_MAX * sums.below;
    const int64_t line_start = INT16_MIN - lowest;
    int64_t column = 0;
    for (int32_t j = 0; j < problem->window.height; j++)
        column += problem->column.integers[j];
    twi_cuda_sepconv_tensor argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .quotient = twi_cuda_quotient_of(problem),
        .weights = plan->scratch,
        .line_start = (int32_t)line_start,
    };
    argument.start = (int32_t)(uint32_t)(argument.quotient.start - line_start * column);
    return twi_cuda_launch_band(plan, kernel->kernel, &kernel->band, &argument, &argument.box, job->stream);
}

const twi_code twi_sepconv_tensor_cuda = {
    .refuses = refuses_tensor,
    .cost = cost_tensor,
    .prepare = prepare_tensor,
    .run = run_tensor,
};
