/* Variants called registers: which of a filter's kernels fits the images' addresses and size (registers.cuh). */
#include "cuda/host.h"

/* What a block of 4 warps makes: bytes of a row, and rows. An f64 thread has twice the bytes and half the rows. */
typedef struct tile {
    int32_t bytes;
    int32_t rows;
    int32_t beyond; /* bytes beyond a row's end that blocks must cover */
} tile;

static const tile aligned_tile = {4 * 512, 4, 0};
static const tile aligned_tile_f64 = {4 * 1024, 2, 0};
static const tile small_tile = {128, 8, 0};
static const tile small_tile_f64 = {256, 8, 0};

/* What each filter has for a type and its channels. */
static const twi_cuda_registers *kernels_of(const tw_problem *problem)
{
    const twi_cuda_registers(*filter)[4] = problem->op == TW_OP_BOX    ? twi_cuda_box_registers
                                           : problem->op == TW_OP_RANK ? twi_cuda_median_registers
                                                                       : twi_cuda_extreme_registers;
    return &filter[problem->type][problem->channels - 1];
}

static const char *refuses_registers(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->footprint)
        return "it does whole windows only";
    if (problem->op == TW_OP_RANK && problem->rank != 4)
        return "it does medians alone";
    if (problem->window.anchor_x != 1 || problem->window.anchor_y != 1)
        return "it does centred windows only";
    return NULL;
}

/* It moves at the memory's speed, but for the arithmetic of f64, and medians. */
static double cost_registers(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double size = (double)tw_type_size(problem->type);
    (void)context;
    return 4000 + 0.0006 * outputs * (problem->type == TW_F64 || problem->op == TW_OP_RANK ? 2 * size : size);
}

static tw_status prepare_registers(tw_plan *plan)
{
    const twi_cuda_registers *kernels = kernels_of(&plan->problem);
    TWI_TRY(twi_cuda_load_kernel(plan, kernels->aligned, 0));
    TWI_TRY(twi_cuda_load_kernel(plan, kernels->shifted, 0));
    return twi_cuda_load_kernel(plan, kernels->small, 0);
}

/* Whether tiles are too few to fill the device: below 8 warps of 512 bytes a multiprocessor. Small images also
   let the kernel count bytes in 32 bits. */
static bool is_small(const tw_plan *plan, const twi_job *job)
{
    const int64_t span = twi_max_i64(job->src.pitch, job->dst.pitch);
    const int64_t warps = 8 * (int64_t)twi_cuda_state_of(plan->context)->processors;
    if (span > INT32_MAX / plan->problem.height)
        return false;
    return twi_cuda_row_bytes(&plan->problem, plan->problem.type) / 512 *
               ((job->last - job->first) / aligned_tile.rows) <
           warps;
}

static tw_status run_registers(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_registers *kernels = kernels_of(&plan->problem);
    const bool wide = plan->problem.type == TW_F64;
    const void *kernel = kernels->shifted;
    tile made = {4 * kernels->shifted_bytes, wide ? 2 : 4, kernels->shifted_beyond};
    if (twi_cuda_aligned_to(job, 4) && is_small(plan, job)) {
        kernel = kernels->small;
        made = wide ? small_tile_f64 : small_tile;
    } else if (twi_cuda_aligned_to(job, 16)) {
        kernel = kernels->aligned;
        made = wide ? aligned_tile_f64 : aligned_tile;
    }
    const int32_t size = (int32_t)tw_type_size(plan->problem.type);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = 4,
        .outputs_width = (unsigned)(made.bytes / size),
        .outputs_height = (unsigned)made.rows,
    };
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    if (plan->problem.border.mode == TW_BORDER_IGNORE)
        twi_cuda_ignore_outside(&plan->problem, &box);
    box.flip = plan->problem.op == TW_OP_MIN ? UINT32_MAX : 0;
    return twi_cuda_launch(kernel, &shape, &box, box.width * box.channels + made.beyond / size, &box.left, &box.first,
                           box.last, job->stream);
}

#define CODE                                                                                                           \
    {                                                                                                                  \
        .refuses = refuses_registers, .cost = cost_registers, .prepare = prepare_registers, .run = run_registers,      \
    }

const twi_code twi_box_registers_cuda = CODE;
const twi_code twi_min_registers_cuda = CODE;
const twi_code twi_max_registers_cuda = CODE;
const twi_code twi_rank_registers_cuda = CODE;
