/* correlate on CUDA, the variants to learn from: where the mask lies, what the sums are made in, their kernels. */
#include <math.h>
#include <string.h>

#include "core/exact.h"
#include "cuda/host.h"
#include "cuda/pattern.h"

_Static_assert(sizeof(twi_cuda_correlate_constant) <= 4096, "a kernel has at most 4096 bytes of parameters");

/* ---- Sums ---------------------------------------------------------------------------------------- */

/* The highest absolute value of an integer type. */
static int64_t highest_pixel(tw_type type)
{
    static const int64_t highest[TW_TYPE_COUNT] = {
        [TW_U8] = UINT8_MAX,
        [TW_U16] = UINT16_MAX,
        [TW_I16] = -(int64_t)INT16_MIN,
        [TW_I32] = -(int64_t)INT32_MIN,
    };
    return highest[type];
}

/* The sum of absolute values. */
static int64_t weight(const int32_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] < 0 ? -(int64_t)values[i] : values[i];
    return sum;
}

/* Above every sum of the window, and of a part of it. */
static twi_i128 highest_sum(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const int64_t pixel = highest_pixel(problem->type);
    if (problem->op == TW_OP_CORRELATE)
        return (twi_i128)weight(problem->mask.integers, (int64_t)window->width * window->height) * pixel;
    const twi_i128 row = (twi_i128)weight(problem->mask.integers, window->width) * pixel;
    return row * twi_max_i64(1, weight(problem->column.integers, window->height));
}

int twi_cuda_sum_of(const tw_problem *problem)
{
    if (problem->type == TW_F64)
        return TWI_CUDA_SUM_F64;
    if (problem->type == TW_F32 || !problem->mask.integers)
        return TWI_CUDA_SUM_F32;
    const int64_t divisor = (int64_t)fabs(problem->divisor);
    const twi_i128 highest = highest_sum(problem) + divisor / 2;
    if (highest <= INT32_MAX && divisor <= INT32_MAX)
        return TWI_CUDA_SUM_I32;
    return highest + (int64_t)fabs(problem->offset) <= INT64_MAX ? TWI_CUDA_SUM_I64 : TWI_CUDA_SUM_I128;
}

int twi_cuda_fast_sum_of(const tw_context *context, const tw_problem *problem)
{
    enum { I64_RATIO = 4 }; /* as f64_ratio, of products that are added in 64 bits */
    const int64_t highest_exact = (int64_t)1 << 53;
    const int sum = twi_cuda_sum_of(problem);
    const bool faster = context && twi_cuda_state_of(context)->f64_ratio < I64_RATIO;
    return sum == TWI_CUDA_SUM_I64 && faster && highest_sum(problem) <= highest_exact ? TWI_CUDA_SUM_F64 : sum;
}

twi_cuda_scale twi_cuda_scale_of(const tw_problem *problem, int sum)
{
    const bool exact = sum != TWI_CUDA_SUM_F32 && sum != TWI_CUDA_SUM_F64;
    const twi_cuda_scale scale = {
        .divisor = exact ? (int64_t)problem->divisor : 1,
        .offset = exact ? (int64_t)problem->offset : 0,
        .float_divisor = problem->divisor,
        .float_offset = problem->offset,
        .out_type = (int32_t)problem->out_type,
    };
    return scale;
}

size_t twi_cuda_value_size(int sum)
{
    return sum == TWI_CUDA_SUM_F64 ? sizeof(double) : sizeof(int32_t);
}

void twi_cuda_convert_values(const tw_values *values, int sum, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++) {
        const double value = values->integers ? (double)values->integers[i] : values->floats[i];
        if (sum == TWI_CUDA_SUM_F64)
            ((double *)to)[i] = value;
        else if (sum == TWI_CUDA_SUM_F32)
            ((float *)to)[i] = (float)value;
        else
            ((int32_t *)to)[i] = values->integers[i];
    }
}

double twi_cuda_sum_cost(int sum)
{
    static const double cost[TWI_CUDA_SUMS] = {
        [TWI_CUDA_SUM_I32] = 1, [TWI_CUDA_SUM_I64] = 2, [TWI_CUDA_SUM_I128] = 6,
        [TWI_CUDA_SUM_F32] = 1, [TWI_CUDA_SUM_F64] = 2,
    };
    return cost[sum];
}

/* ---- The mask -------------------------------------------------------------------------------------- */

static int64_t mask_count(const tw_problem *problem)
{
    return (int64_t)problem->window.width * problem->window.height;
}

/* Whether the mask has room in a kernel's argument. */
static bool is_constant(const tw_problem *problem)
{
    const int sum = problem->type == TW_F64 ? TWI_CUDA_SUM_F64 : TWI_CUDA_SUM_F32; /* of the same size as others */
    return mask_count(problem) * (int64_t)twi_cuda_value_size(sum) <= TWI_CUDA_MASK_BYTES;
}

static const char *refuses_large(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return is_constant(problem) ? NULL
                                : "the mask has more than the 3584 bytes of constant memory that a launch brings along";
}

/* A copy of the mask in the plan's scratch memory. */
static tw_status send_mask(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int sum = twi_cuda_sum_of(problem);
    const size_t bytes = (size_t)mask_count(problem) * twi_cuda_value_size(sum);
    void *values = NULL;
    TWI_TRY(twi_plan_scratch(plan, bytes));
    TWI_TRY(twi_host_allocate(plan->context, bytes, &values));
    twi_cuda_convert_values(&problem->mask, sum, mask_count(problem), values);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, values, bytes);
    twi_host_release(plan->context, values);
    return status;
}

/* ---- Launches -------------------------------------------------------------------------------------- */

typedef const void *const kernel_table[TWI_CUDA_SUMS]; /* of which there is one for each type */

static const void *kernel_of(const kernel_table *kernels, const tw_problem *problem)
{
    return kernels[problem->type][twi_cuda_sum_of(problem)];
}

/* The outputs of the job; `texture` may be NULL. */
static tw_status launch(const tw_plan *plan, const twi_job *job, const void *kernel, const twi_cuda_shape *shape,
                        bool constant, const twi_cuda_texture *texture)
{
    const tw_problem *problem = &plan->problem;
    const int sum = twi_cuda_sum_of(problem);
    twi_cuda_correlate_constant argument;
    argument.filter = (twi_cuda_correlate){
        .box = twi_cuda_box_arguments(plan, job),
        .scale = twi_cuda_scale_of(problem, sum),
        .mask = constant ? NULL : plan->scratch,
    };
    if (texture)
        argument.filter.texture = *texture;
    if (constant)
        twi_cuda_convert_values(&problem->mask, sum, mask_count(problem), &argument.mask);
    /* kernels without the mask in their argument take its first member */
    return twi_cuda_launch(kernel, shape, &argument, problem->width * problem->channels, &argument.filter.box.left,
                           &argument.filter.box.first, job->last, job->stream);
}

static double cost_per_position(const tw_problem *problem, double output, double position)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    return 5000 +
           outputs * (output + position * (double)mask_count(problem) * twi_cuda_sum_cost(twi_cuda_sum_of(problem)));
}

/* ---- direct, readonly ------------------------------------------------------------------------------- */

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

/* The mask, of which a thread reads a value with each position of its window. */
static void declare_mask(twi_kernel *kernel, bool constant, bool paths)
{
    const int32_t bytes = (int32_t)twi_cuda_value_size(twi_cuda_sum_of(kernel->problem));
    twi_cuda_declare_values(kernel, "mask", constant ? TWI_SPACE_CONSTANT : TWI_SPACE_GLOBAL, bytes, paths);
}

static double cost_direct(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.002, 0.0003);
}

static tw_status prepare_direct(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_load_kernel(plan, kernel_of(twi_cuda_correlate_direct, &plan->problem), 0);
}

static tw_status run_direct(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return launch(plan, job, kernel_of(twi_cuda_correlate_direct, &plan->problem), &shape, true, NULL);
}

static void explain_direct(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_window(kernel);
    declare_mask(kernel, true, true);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_of(twi_cuda_correlate_direct, kernel->problem);
}

const twi_code twi_correlate_direct_cuda = {
    .refuses = refuses_large,
    .cost = cost_direct,
    .prepare = prepare_direct,
    .run = run_direct,
    .explain = explain_direct,
};

static double cost_readonly(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.002, 0.0004);
}

static tw_status prepare_readonly(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_of(twi_cuda_correlate_readonly, &plan->problem), 0));
    return send_mask(plan);
}

static tw_status run_readonly(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return launch(plan, job, kernel_of(twi_cuda_correlate_readonly, &plan->problem), &shape, false, NULL);
}

static void explain_readonly(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_window(kernel);
    declare_mask(kernel, false, true);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_of(twi_cuda_correlate_readonly, kernel->problem);
}

const twi_code twi_correlate_readonly_cuda = {
    .cost = cost_readonly,
    .prepare = prepare_readonly,
    .run = run_readonly,
    .explain = explain_readonly,
};

/* ---- tiled ------------------------------------------------------------------------------------------ */

enum { TILE_OUTPUTS_WIDTH = 32, TILE_OUTPUTS_HEIGHT = 32 };

static const char *refuses_tiled(const tw_context *context, const tw_problem *problem)
{
    return twi_cuda_refuses_tile(context, problem, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT);
}

static double cost_tiled(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.005, 0.0002);
}

static tw_status shape_tiled(const tw_plan *plan, twi_cuda_shape *shape)
{
    TWI_TRY(twi_cuda_block_shape(plan, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT, shape));
    shape->shared = twi_cuda_tile_bytes(&plan->problem, shape->block_width, shape->block_height);
    return TW_OK;
}

/* The mask is in constant memory where it has room there. */
static const void *kernel_tiled(const tw_problem *problem)
{
    return kernel_of(is_constant(problem) ? twi_cuda_correlate_tiled : twi_cuda_correlate_tiled_global, problem);
}

static tw_status prepare_tiled(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_tiled(&plan->problem), shape.shared));
    return is_constant(&plan->problem) ? TW_OK : send_mask(plan);
}

static tw_status run_tiled(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    TWI_TRY(shape_tiled(plan, &shape));
    return launch(plan, job, kernel_tiled(&plan->problem), &shape, is_constant(&plan->problem), NULL);
}

static void explain_tiled(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, TILE_OUTPUTS_WIDTH, TILE_OUTPUTS_HEIGHT);
    twi_cuda_declare_tile(kernel);
    declare_mask(kernel, is_constant(kernel->problem), false);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_tiled(kernel->problem);
}

const twi_code twi_correlate_tiled_cuda = {
    .refuses = refuses_tiled,
    .cost = cost_tiled,
    .prepare = prepare_tiled,
    .run = run_tiled,
    .explain = explain_tiled,
};

/* ---- texture ---------------------------------------------------------------------------------------- */

static const char *refuses_texture(const tw_context *context, const tw_problem *problem)
{
    const char *reason = refuses_large(context, problem);
    return reason ? reason : twi_cuda_refuses_texture(context, problem);
}

static double cost_texture(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return cost_per_position(problem, 0.002, 0.001);
}

static tw_status prepare_texture(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_of(twi_cuda_correlate_texture_kernels, &plan->problem), 0));
    return twi_cuda_prepare_texture(plan);
}

static tw_status run_texture(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    twi_cuda_texture texture;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_find_texture(plan, job, &texture));
    return launch(plan, job, kernel_of(twi_cuda_correlate_texture_kernels, &plan->problem), &shape, true, &texture);
}

static void explain_texture(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_cuda_declare_texture(kernel);
    declare_mask(kernel, true, false);
    twi_cuda_declare_output(kernel, false);
    kernel->function = kernel_of(twi_cuda_correlate_texture_kernels, kernel->problem);
}

const twi_code twi_correlate_texture_cuda = {
    .refuses = refuses_texture,
    .cost = cost_texture,
    .prepare = prepare_texture,
    .run = run_texture,
    .release = twi_cuda_release_texture,
    .explain = explain_texture,
};
