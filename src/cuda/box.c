/* box on CUDA, the variants to learn from: their parameters, and their kernels chosen by type. */
#include "cuda/host.h"
#include "cuda/pattern.h"

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

static void explain_direct(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_window(kernel);
    twi_cuda_declare_output(kernel, false);
    kernel->function = twi_cuda_box_direct[kernel->problem->type];
}

const twi_code twi_box_direct_cuda = {
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
    .explain = explain_direct,
};

/* ---- tiled -------------------------------------------------------------------------------------- */

static const char *refuses_tiled(const tw_context *context, const tw_problem *problem)
{
    return twi_cuda_refuses_tile(context, problem, BLOCK_WIDTH, BLOCK_HEIGHT);
}

static double cost_tiled(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.003, 0.0002);
}

static tw_status shape_tiled(const tw_plan *plan, twi_cuda_shape *shape)
{
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, shape));
    shape->shared = twi_cuda_tile_bytes(&plan->problem, shape->block_width, shape->block_height);
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

static void explain_tiled(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_tile(kernel);
    twi_cuda_declare_output(kernel, false);
    kernel->function = twi_cuda_box_tiled[kernel->problem->type];
}

const twi_code twi_box_tiled_cuda = {
    .refuses = refuses_tiled,
    .cost = cost_tiled,
    .prepare = prepare_tiled,
    .run = run_tiled,
    .explain = explain_tiled,
};

/* ---- texture ------------------------------------------------------------------------------------ */

static double cost_texture(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double positions = (double)problem->window.width * problem->window.height;
    (void)context;
    return 5000 + outputs * (0.001 + 0.001 * positions);
}

static tw_status prepare_texture(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_box_texture_kernels[plan->problem.type], 0));
    return twi_cuda_prepare_texture(plan);
}

static tw_status run_texture(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_shape shape;
    twi_cuda_box_texture argument = {.box = twi_cuda_box_arguments(plan, job)};
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_find_texture(plan, job, &argument.texture));
    return twi_cuda_launch(twi_cuda_box_texture_kernels[problem->type], &shape, &argument,
                           problem->width * problem->channels, &argument.box.left, &argument.box.first, job->last,
                           job->stream);
}

static void explain_texture(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_texture(kernel);
    twi_cuda_declare_output(kernel, false);
    kernel->function = twi_cuda_box_texture_kernels[kernel->problem->type];
}

const twi_code twi_box_texture_cuda = {
    .refuses = twi_cuda_refuses_texture,
    .cost = cost_texture,
    .prepare = prepare_texture,
    .run = run_texture,
    .release = twi_cuda_release_texture,
    .explain = explain_texture,
};
