/* correlate on CUDA, variant registers: the mask as its kernels multiply it (correlate_registers.cu). */
#include <math.h>

#include "cuda/planes.h"

/* How far the window reaches from its output. */
static int32_t reach_of(const tw_window *window)
{
    const int64_t across = twi_max_i64(window->anchor_x, window->width - 1 - window->anchor_x);
    const int64_t down = twi_max_i64(window->anchor_y, window->height - 1 - window->anchor_y);
    return (int32_t)twi_max_i64(across, down);
}

/* 0: kernels for 3x3; 1: for 5x5. */
static int size_of(const tw_problem *problem)
{
    return reach_of(&problem->window) > 1;
}

static bool is_exact(const tw_problem *problem)
{
    return problem->type == TW_U8 && problem->mask.integers;
}

static const twi_cuda_taps_kernel *kernels_of(const tw_problem *problem)
{
    if (is_exact(problem))
        return &twi_cuda_correlate_integers[size_of(problem)][twi_cuda_planes(problem) - 1][problem->out_type];
    return &twi_cuda_correlate_floats[size_of(problem)][problem->type == TW_F32][problem->out_type];
}

static const char *refuses_registers(const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    (void)context;
    if (reach_of(window) > 2)
        return "the window reaches more than 2 pixels from its output";
    if (problem->width < window->width || problem->height < window->height)
        return "the image is smaller than the window"; /* a border's rule is applied once */
    if (is_exact(problem))
        return twi_cuda_refuses_planes(problem, TWI_CUDA_PLANES);
    /* a tap that is not there is not one of 0: 0 times infinity is NaN */
    if (window->width != window->height || window->width != 2 * reach_of(window) + 1 || window->width == 1)
        return "floats are for 3x3 and 5x5, centred";
    if (!kernels_of(problem)->aligned)
        return "it does not make this type of these sums";
    return NULL;
}

/* What it takes beside moving the image: 5x5, of bytes or floats, an instruction for each product or four. */
static double cost_registers(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height;
    const double moved = (double)(tw_type_size(problem->type) + tw_type_size(problem->out_type));
    const double planes = is_exact(problem) ? twi_cuda_planes(problem) : problem->type == TW_F32 ? 1.5 : 3;
    (void)context;
    return 4000 + outputs * (0.00024 * moved + (size_of(problem) ? 0.00033 : 0.0001) * planes);
}

static tw_status prepare_registers(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, kernels_of(&plan->problem)->aligned, 0));
    return twi_cuda_load_kernel(plan, kernels_of(&plan->problem)->shifted, 0);
}

/* A byte of the integer kernels' mask, row j, column i. */
static void put_byte(uint32_t *words, int reach, int32_t i, int32_t j, uint32_t byte)
{
    if (reach == 1) { /* for the first output of two, and for the second, which lies a byte further */
        words[2 * j] |= byte << (8 * i);
        words[2 * j + 1] |= byte << (8 * (i + 1));
    } else if (j < 4) {
        words[i] |= byte << (8 * j);
    } else { /* for each byte at which a row of five can begin in a word */
        for (int first = 0; first < 4; first++)
            words[5 + 2 * first + (first + i) / 4] |= byte << ((first + i) % 4 * 8);
    }
}

static void put_planes(const tw_problem *problem, twi_cuda_correlate_registers *argument)
{
    const tw_window *window = &problem->window;
    const int planes = twi_cuda_planes(problem);
    const int reach = size_of(problem) + 1;
    for (int32_t j = 0; j < window->height; j++) {
        for (int32_t i = 0; i < window->width; i++) {
            uint8_t bytes[TWI_CUDA_PLANES];
            (void)twi_cuda_cut(twi_cuda_weight(problem, j * window->width + i), planes, bytes);
            for (int plane = 0; plane < planes; plane++)
                put_byte(argument->planes[plane], reach, reach - window->anchor_x + i, reach - window->anchor_y + j,
                         bytes[plane]);
        }
    }
}

static void put_floats(const tw_problem *problem, twi_cuda_correlate_registers *argument)
{
    int exponent = 0;
    twi_cuda_convert_values(&problem->mask, TWI_CUDA_SUM_F32, (int64_t)problem->window.width * problem->window.height,
                            argument->taps);
    argument->divisor = (float)problem->divisor;
    argument->offset = (float)problem->offset;
    /* the inverse of a power of two is one, too, if it is no subnormal number */
    if (fabsf(frexpf(argument->divisor, &exponent)) == 0.5f && exponent > -100 && exponent < 100)
        argument->inverse = 1 / argument->divisor;
}

static tw_status run_registers(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_taps_kernel *kernels = kernels_of(problem);
    const bool aligned = twi_cuda_aligned_to(job, 16);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = 4,
        .outputs_width = (unsigned)(aligned ? kernels->aligned_width : kernels->shifted_width),
        .outputs_height = TWI_CUDA_TAPS_ROWS,
    };
    twi_cuda_correlate_registers argument = {.box = twi_cuda_box_arguments(plan, job)};
    if (is_exact(problem)) {
        argument.quotient = twi_cuda_quotient_of(problem);
        put_planes(problem, &argument);
    } else {
        put_floats(problem, &argument);
    }
    return twi_cuda_launch(aligned ? kernels->aligned : kernels->shifted, &shape, &argument,
                           problem->width + (aligned ? 0 : kernels->beyond), &argument.box.left, &argument.box.first,
                           job->last, job->stream);
}

const twi_code twi_correlate_registers_cuda = {
    .refuses = refuses_registers,
    .cost = cost_registers,
    .prepare = prepare_registers,
    .run = run_registers,
};
