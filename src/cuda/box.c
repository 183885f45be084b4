/* box on CUDA, the variants to learn from: their parameters, and their kernels chosen by type. */
#include "cuda/host.h"

/* Estimates in nanoseconds of the work of these variants: all read each window position once an output. */
static double cost_per_position(const tw_problem *problem, double output, double position)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double positions = (double)problem->window.width * problem->window.height;
    return 5000 + outputs * (output + position * positions * (double)tw_type_size(problem->type));
}

/* ---- direct ------------------------------------------------------------------------------------ */

enum { BLOCK_WIDTH = 16, BLOCK_HEIGHT = 16 };

static double cost_direct(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.001, 0.0003);
}

static tw_status prepare_direct(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_load_kernel(plan, twi_cuda_box_direct[plan->problem.type], 0);
}

static tw_status run_direct(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_launch_box(twi_cuda_box_direct[plan->problem.type], &shape, twi_cuda_box_arguments(plan, job),
                               job->stream);
}

const twi_code twi_box_direct_cuda = {
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
};

/* ---- tiled -------------------------------------------------------------------------------------- */

static size_t tile_bytes(const tw_problem *problem, int64_t block_width, int64_t block_height)
{
    const int64_t width = block_width + (int64_t)(problem->window.width - 1) * problem->channels;
    const int64_t height = block_height + problem->window.height - 1;
    return (size_t)(width * height) * tw_type_size(problem->type);
}

static const char *refuses_tiled(const tw_context *context, const tw_problem *problem)
{
    if (context && tile_bytes(problem, BLOCK_WIDTH, BLOCK_HEIGHT) > twi_cuda_state_of(context)->shared_limit)
        return "the tile of such a window does not fit in the device's shared memory";
    return NULL;
}

static double cost_tiled(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.003, 0.0002);
}

static tw_status shape_tiled(const tw_plan *plan, twi_cuda_shape *shape)
{
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, shape));
    shape->shared = tile_bytes(&plan->problem, shape->block_width, shape->block_height);
    return TW_OK;
}

static tw_status prepare_tiled(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    return twi_cuda_load_kernel(plan, twi_cuda_box_tiled[plan->problem.type], shape.shared);
}

static tw_status run_tiled(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    return twi_cuda_launch_box(twi_cuda_box_tiled[plan->problem.type], &shape, twi_cuda_box_arguments(plan, job),
                               job->stream);
}

const twi_code twi_box_tiled_cuda = {
    .refuses = refuses_tiled,
    .cost = cost_tiled,
    .prepare = prepare_tiled,
    .run = run_tiled,
};
