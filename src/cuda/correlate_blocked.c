/* correlate on CUDA, variant blocked: the mask as its threads read it, rows in shared memory (correlate_blocked.cu). */
#include <string.h>

#include "cuda/host.h"

enum { VECTOR = 16 }; /* bytes */

/* Vectors of a row of the mask and of one in shared memory, and what is there at a time. */
typedef struct layout {
    int64_t shift;
    int64_t mask_pitch;
    int64_t pitch;
    int64_t rows;
    int64_t shared; /* bytes */
} layout;

static int64_t shared_of(const layout *l, int64_t rows)
{
    return VECTOR * (rows * l->mask_pitch + (TWI_CUDA_BLOCKED_HEIGHT + rows - 1) * l->pitch);
}

static layout lay_out(const tw_context *context, const tw_problem *problem)
{
    const int sum = twi_cuda_fast_sum_of(context, problem);
    const int64_t lanes = VECTOR / (int64_t)twi_cuda_value_size(sum);
    const int64_t width = problem->window.width;
    const int64_t height = problem->window.height;
    const int64_t sum_size = sum == TWI_CUDA_SUM_I32 || sum == TWI_CUDA_SUM_F32 ? 4 : 8;
    /* what leaves room for as many blocks on a multiprocessor as their registers do, and 1 KiB a block for itself */
    const int64_t wish = sum_size == 4 ? 55 << 10 : 112 << 10;
    const int64_t finish = TWI_CUDA_BLOCKED_HEIGHT * (TWI_CUDA_BLOCKED_WIDTH / TWI_CUDA_BLOCKED_WARP_WIDTH) *
                           (TWI_CUDA_BLOCKED_WARP_WIDTH * sum_size + VECTOR);
    layout l = {.shift = (lanes - width % lanes) % lanes, .rows = height};
    l.mask_pitch = (l.shift + width) / lanes;
    /* a thread's last vector is that of its last column and output */
    l.pitch = twi_divide_up(l.shift + TWI_CUDA_BLOCKED_WIDTH + width - 1, lanes) | 1;
    while (l.rows > 1 && shared_of(&l, l.rows) > wish)
        l.rows--;
    /* equal parts: warps wait for each other at their ends */
    l.rows = twi_divide_up(height, twi_divide_up(height, l.rows));
    l.shared = twi_max_i64(shared_of(&l, l.rows), finish);
    return l;
}

static const void *kernel_of(const tw_context *context, const tw_problem *problem)
{
    return twi_cuda_correlate_blocked_kernels[problem->type][twi_cuda_fast_sum_of(context, problem)];
}

static const char *refuses_blocked(const tw_context *context, const tw_problem *problem)
{
    if (!kernel_of(context, problem))
        return "it has no sums of 128 bits";
    if (context && lay_out(context, problem).shared > (int64_t)twi_cuda_state_of(context)->shared_limit)
        return "the rows that such a window reads do not fit in the device's shared memory";
    return NULL;
}

static double cost_blocked(const tw_context *context, const tw_problem *problem)
{
    static const double product[TWI_CUDA_SUMS] = {
        [TWI_CUDA_SUM_I32] = 6.6e-5,
        [TWI_CUDA_SUM_I64] = 16e-5,
        [TWI_CUDA_SUM_F32] = 4.1e-5,
        [TWI_CUDA_SUM_F64] = 7.8e-5,
    };
    const double columns = (double)twi_round_up(problem->width, TWI_CUDA_BLOCKED_WIDTH);
    const double rows = (double)twi_round_up(problem->height, TWI_CUDA_BLOCKED_HEIGHT);
    const double taps = (double)problem->window.width * problem->window.height;
    const int sum = twi_cuda_fast_sum_of(context, problem);
    return 8000 + columns * rows * problem->channels * (0.004 + taps * product[sum]);
}

static tw_status prepare_blocked(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int64_t taps = (int64_t)problem->window.width * problem->window.height;
    const int sum = twi_cuda_fast_sum_of(plan->context, problem);
    const size_t size = twi_cuda_value_size(sum);
    const layout l = lay_out(plan->context, problem);
    const size_t row = (size_t)problem->window.width * size;
    const size_t pitch = (size_t)l.mask_pitch * VECTOR;
    const size_t bytes = pitch * (size_t)problem->window.height;
    void *memory = NULL;
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_of(plan->context, problem), (size_t)l.shared));
    TWI_TRY(twi_plan_scratch(plan, bytes));
    TWI_TRY(twi_host_allocate(plan->context, bytes + (size_t)taps * size, &memory));
    char *const padded = memory;
    char *const values = padded + bytes;
    memset(padded, 0, bytes);
    twi_cuda_convert_values(&problem->mask, sum, taps, values);
    for (int32_t j = 0; j < problem->window.height; j++)
        memcpy(padded + (size_t)(j + 1) * pitch - row, values + (size_t)j * row, row);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, padded, bytes);
    twi_host_release(plan->context, memory);
    return status;
}

static tw_status run_blocked(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const layout l = lay_out(plan->context, problem);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = TWI_CUDA_BLOCKED_WARPS,
        .outputs_width = (unsigned)(TWI_CUDA_BLOCKED_WIDTH * problem->channels),
        .outputs_height = TWI_CUDA_BLOCKED_HEIGHT,
        .shared = (size_t)l.shared,
    };
    twi_cuda_correlate_blocked argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .scale = twi_cuda_scale_of(problem, twi_cuda_sum_of(problem)),
        .weights = plan->scratch,
        .mask_pitch = (int32_t)l.mask_pitch,
        .pitch = (int32_t)l.pitch,
        .shift = (int32_t)l.shift,
        .rows = (int32_t)l.rows,
    };
    return twi_cuda_launch(kernel_of(plan->context, problem), &shape, &argument, problem->width * problem->channels,
                           &argument.box.left, &argument.box.first, job->last, job->stream);
}

const twi_code twi_correlate_blocked_cuda = {
    .refuses = refuses_blocked,
    .cost = cost_blocked,
    .prepare = prepare_blocked,
    .run = run_blocked,
};
