/* gaussian on CUDA, variant tensor: fixed point (gaussian_tensor.cu). */
#include "cuda/host.h"

enum { MOST_TAPS = 2 * 56 + 1 }; /* the largest kernel reaches 56 from an output */

static const twi_cuda_band_kernel *kernel_of(const tw_problem *problem)
{
    return twi_cuda_find_band(twi_cuda_gaussian_tensor, TWI_CUDA_GAUSSIAN_TENSORS, problem);
}

static const char *refuses_tensor(const tw_context *context, const tw_problem *problem)
{
    if (!twi_gaussian_is_fixed(problem))
        return "it does the fixed point of u8, which asks for sigmas from 0.5 to 50, not too far apart, and more than "
               "one tap on both axes";
    if (!kernel_of(problem))
        return "the window reaches more than 56 elements along a row, or 56 rows, from its output";
    return twi_cuda_refuses_band(context, problem);
}

static double cost_tensor(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return twi_cuda_band_cost(kernel_of(problem), problem);
}

static void fixed_weights(double sigma, int32_t taps, int32_t *fixed)
{
    double weights[MOST_TAPS];
    twi_gaussian_weights(sigma, taps, weights);
    twi_gaussian_fixed(weights, taps, fixed);
}

static tw_status prepare_tensor(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    int32_t row[MOST_TAPS];
    int32_t column[MOST_TAPS];
    fixed_weights(problem->sigma_x, problem->window.width, row);
    fixed_weights(problem->sigma_y, problem->window.height, column);
    return twi_cuda_prepare_band(plan, kernel_of(problem), row, column);
}

static tw_status run_tensor(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_band_kernel *kernel = kernel_of(&plan->problem);
    twi_cuda_gaussian argument = {.box = twi_cuda_box_arguments(plan, job), .weights = plan->scratch};
    return twi_cuda_launch_band(plan, kernel->kernel, &kernel->band, &argument, &argument.box, job->stream);
}

const twi_code twi_gaussian_tensor_cuda = {
    .refuses = refuses_tensor,
    .cost = cost_tensor,
    .prepare = prepare_tensor,
    .run = run_tensor,
};
