/* min, max and rank on CUDA, the variants to learn from: footprints, and kernels chosen by type. */
#include <math.h>

#include "cuda/host.h"
#include "cuda/pattern.h"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8, TILE_OUTPUTS_WIDTH = 32, TILE_OUTPUTS_HEIGHT = 32 };

/* ---- What the variants share ------------------------------------------------------------------------ */

static double cost_per_position(const tw_problem *problem, double output, double position)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double positions = (double)problem->window.width * problem->window.height;
    return 5000 + outputs * (output + position * positions * (problem->type == TW_F64 ? 2 : 1));
}

/* A copy of the footprint in the plan's scratch memory. */
static tw_status send_footprint(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const size_t bytes = (size_t)problem->window.width * (size_t)problem->window.height;
    if (!problem->footprint)
        return TW_OK;
    TWI_TRY(twi_plan_scratch(plan, bytes));
    return twi_cuda_send(plan->context, plan->scratch, problem->footprint, bytes);
}

void twi_cuda_ignore_outside(const tw_problem *problem, twi_cuda_box *box)
{
    static const double ends[TW_TYPE_COUNT][2] = {
        [TW_U8] = {0, UINT8_MAX},          [TW_U16] = {0, UINT16_MAX},  [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX}, [TW_F32] = {-HUGE_VAL, NAN}, [TW_F64] = {-HUGE_VAL, NAN},
    };
    box->border = (int32_t)TW_BORDER_CONSTANT;
    box->value = ends[problem->type][problem->op == TW_OP_MIN];
}

static tw_status launch(const tw_plan *plan, const twi_job *job, const void *kernel, const twi_cuda_shape *shape)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_order argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .footprint = plan->scratch,
        .rank = (uint32_t)problem->rank,
        .ignore = problem->border.mode == TW_BORDER_IGNORE,
    };
    return twi_cuda_launch(kernel, shape, &argument, problem->width * problem->channels, &argument.box.left,
                           &argument.box.first, job->last, job->stream);
}

/* ---- direct ----------------------------------------------------------------------------------------- */

static const void *kernel_direct(const tw_problem *problem)
{
    return problem->op == TW_OP_MIN   ? twi_cuda_min_direct[problem->type]
           : problem->op == TW_OP_MAX ? twi_cuda_max_direct[problem->type]
                                      : twi_cuda_rank_direct[problem->type];
}

/* rank reads the window once a bit of the type. */
static int32_t looks(const tw_problem *problem)
{
    return problem->op == TW_OP_RANK ? 8 * (int32_t)tw_type_size(problem->type) : 1;
}

static double cost_direct(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.011, 0.00074 * looks(problem));
}

static tw_status prepare_direct(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_direct(&plan->problem), 0));
    return send_footprint(plan);
}

static tw_status run_direct(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return launch(plan, job, kernel_direct(&plan->problem), &shape);
}

static void explain_direct(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_window(kernel);
    if (kernel->problem->footprint)
        twi_cuda_declare_values(kernel, "footprint", TWI_SPACE_GLOBAL, 1, true);
    for (size_t i = 0; i < kernel->count; i++)
        kernel->accesses[i].steps *= looks(kernel->problem);
    twi_cuda_declare_output(kernel, true);
    kernel->function = kernel_direct(kernel->problem);
}

const twi_code twi_min_direct_cuda = {
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
    .explain = explain_direct,
};

const twi_code twi_max_direct_cuda = {
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
    .explain = explain_direct,
};

const twi_code twi_rank_direct_cuda = {
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
    .explain = explain_direct,
};

/* ---- tiled ------------------------------------------------------------------------------------------ */

static const void *kernel_tiled(const tw_problem *problem)
{
    return problem->op == TW_OP_MIN ? twi_cuda_min_tiled[problem->type] : twi_cuda_max_tiled[problem->type];
}

static const char *refuses_tiled(const tw_context *context, const tw_problem *problem)
{
    return twi_cuda_refuses_tile(context, problem, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT);
}

static double cost_tiled(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.017, 0.00052);
}

static tw_status shape_tiled(const tw_plan *plan, twi_cuda_shape *shape)
{
    TWI_TRY(twi_cuda_block_shape(plan, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT, shape));
    shape->shared = twi_cuda_tile_bytes(&plan->problem, shape->block_width, shape->block_height);
    return TW_OK;
}

static tw_status prepare_tiled(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_tiled(&plan->problem), shape.shared));
    return send_footprint(plan);
}

static tw_status run_tiled(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    return launch(plan, job, kernel_tiled(&plan->problem), &shape);
}

static void explain_tiled(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT);
    twi_cuda_declare_tile(kernel);
    if (kernel->problem->footprint)
        twi_cuda_declare_values(kernel, "footprint", TWI_SPACE_GLOBAL, 1, false);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_tiled(kernel->problem);
}

const twi_code twi_min_tiled_cuda = {
    .refuses = refuses_tiled,
    .cost = cost_tiled,
    .prepare = prepare_tiled,
    .run = run_tiled,
    .explain = explain_tiled,
};

const twi_code twi_max_tiled_cuda = {
    .refuses = refuses_tiled,
    .cost = cost_tiled,
    .prepare = prepare_tiled,
    .run = run_tiled,
    .explain = explain_tiled,
};

/* ---- network ---------------------------------------------------------------------------------------- */

/* Whole windows of 3x3 and 5x5 whose median is asked for have kernels of their own. */
static const void *kernel_median(const tw_problem *problem)
{
    const int32_t side = problem->window.width;
    if (problem->footprint || side != problem->window.height || (side != 3 && side != 5) ||
        problem->rank != side * side / 2)
        return NULL;
    return twi_cuda_median_network[side == 5][problem->type];
}

/* The one with the fewest values that have as many below the rank's as above, or NULL. */
static const twi_cuda_network *network_of(const tw_problem *problem)
{
    const int64_t positions = twi_footprint_count(&problem->window, problem->footprint);
    const int64_t half = twi_max_i64(problem->rank, positions - 1 - problem->rank);
    for (int i = 0; i < TWI_CUDA_NETWORKS; i++)
        if (twi_cuda_rank_network[i].count / 2 >= half)
            return &twi_cuda_rank_network[i];
    return NULL;
}

static const void *kernel_network(const tw_problem *problem)
{
    const void *median = kernel_median(problem);
    return median ? median : network_of(problem)->kernel[problem->type];
}

static const char *refuses_network(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (kernel_median(problem) || network_of(problem))
        return NULL;
    return "it does medians of 3x3 and 5x5, and of others ranks with at most 18 values below and above";
}

static double cost_network(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    (void)context;
    if (kernel_median(problem))
        return cost_per_position(problem, 0.002, 0.0005);
    const double count = network_of(problem)->count;
    return 5000 + outputs * (0.004 + 0.0005 * count + 0.00003 * count * count * (problem->type == TW_F64 ? 4 : 1));
}

/* The positions, in the plan's state: runs do not look for them again. */
static tw_status list_positions(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    TWI_TRY(twi_host_allocate(plan->context, sizeof(twi_cuda_few), &plan->state));
    twi_cuda_few *few = plan->state;
    *few = (twi_cuda_few){.lows = network_of(problem)->count / 2 - (int32_t)problem->rank};
    for (int32_t j = 0; j < problem->window.height; j++) {
        for (int32_t i = 0; i < problem->window.width; i++) {
            if (problem->footprint && !problem->footprint[(int64_t)j * problem->window.width + i])
                continue;
            few->x[few->positions] = (int16_t)i;
            few->y[few->positions] = (int16_t)j;
            few->positions++;
        }
    }
    return TW_OK;
}

static tw_status prepare_network(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_network(&plan->problem), 0));
    return kernel_median(&plan->problem) ? TW_OK : list_positions(plan);
}

static void release_network(tw_plan *plan)
{
    twi_host_release(plan->context, plan->state);
}

static tw_status run_network(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    if (!plan->state)
        return launch(plan, job, kernel_network(problem), &shape);
    twi_cuda_few few = *(const twi_cuda_few *)plan->state;
    few.box = twi_cuda_box_arguments(plan, job);
    for (int32_t k = 0; k < few.positions; k++)
        few.offsets[k] =
            few.y[k] * few.box.src_pitch + few.x[k] * (int64_t)problem->channels * (int64_t)tw_type_size(problem->type);
    return twi_cuda_launch(kernel_network(problem), &shape, &few, problem->width * problem->channels, &few.box.left,
                           &few.box.first, job->last, job->stream);
}

static void explain_network(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_window(kernel);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_network(kernel->problem);
}

const twi_code twi_rank_network_cuda = {
    .refuses = refuses_network,
    .cost = cost_network,
    .prepare = prepare_network,
    .run = run_network,
    .release = release_network,
    .explain = explain_network,
};
