/* correlate on CUDA, variant blocked: weights as its threads load them, rows in shared memory (correlate_blocked.cu).
 */
#include <string.h>

#include "cuda/host.h"

/* Of shared memory, so that a multiprocessor holds two blocks; one chunk of rows may need more. */
enum { SHARED_WISH = 100 << 10, LEAST_ROWS = 8 };

/* The outputs of a block. */
static int64_t block_width(const tw_problem *problem)
{
    return (int64_t)32 / problem->channels * TWI_CUDA_BLOCKED_ALONG * problem->channels;
}

enum { BLOCK_HEIGHT = TWI_CUDA_BLOCKED_WARPS * TWI_CUDA_BLOCKED_DOWN };

/* Elements of a row in shared memory, and rows there at a time. */
typedef struct layout {
    int64_t pitch;
    int64_t rows;
    int64_t shared;
} layout;

static layout lay_out(const tw_problem *problem)
{
    const int64_t size = (int64_t)twi_cuda_value_size(twi_cuda_sum_of(problem));
    const int64_t all = BLOCK_HEIGHT + problem->window.height - 1;
    layout l = {.pitch = block_width(problem) + (int64_t)(problem->window.width - 1) * problem->channels};
    /* equal chunks, as few as the wish allows: warps wait for each other at their ends */
    const int64_t most = twi_max_i64(LEAST_ROWS, SHARED_WISH / (l.pitch * size));
    const int64_t chunks = twi_divide_up(all, most);
    l.rows = twi_divide_up(all, chunks);
    l.shared = l.rows * l.pitch * size;
    return l;
}

static const void *kernel_of(const tw_problem *problem)
{
    return twi_cuda_correlate_blocked_kernels[problem->type][twi_cuda_sum_of(problem)];
}

static const char *refuses_blocked(const tw_context *context, const tw_problem *problem)
{
    if (!kernel_of(problem))
        return "it has no sums of 128 bits";
    if (context && lay_out(problem).shared > (int64_t)twi_cuda_state_of(context)->shared_limit)
        return "the rows that such a window reads do not fit in the device's shared memory";
    return NULL;
}

static double cost_blocked(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double taps = (double)problem->window.width * (problem->window.height + TWI_CUDA_BLOCKED_DOWN - 1);
    (void)context;
    return 8000 + outputs * (0.009 + 0.0001 * taps * twi_cuda_sum_cost(twi_cuda_sum_of(problem)));
}

/* For input row j, counted from the first that the first of DOWN outputs reads, and each column of the mask: the
   weights of the outputs, rows j, j - 1, ... of the mask; 0 where it has no such row. */
static void spread(const tw_problem *problem, const char *values, size_t size, char *to)
{
    const tw_window *window = &problem->window;
    for (int32_t j = 0; j < window->height + TWI_CUDA_BLOCKED_DOWN - 1; j++)
        for (int32_t i = 0; i < window->width; i++)
            for (int32_t r = 0; r < TWI_CUDA_BLOCKED_DOWN; r++, to += size)
                if (j >= r && j - r < window->height)
                    memcpy(to, values + (size_t)((j - r) * window->width + i) * size, size);
}

static tw_status prepare_blocked(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int64_t taps = (int64_t)problem->window.width * problem->window.height;
    const int sum = twi_cuda_sum_of(problem);
    const size_t size = twi_cuda_value_size(sum);
    const int64_t input_rows = problem->window.height + TWI_CUDA_BLOCKED_DOWN - 1;
    /* threads load a set of weights ahead: beyond the last is one more */
    const size_t spread_bytes = (size_t)(input_rows * problem->window.width + 1) * TWI_CUDA_BLOCKED_DOWN * size;
    void *memory = NULL;
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_of(problem), (size_t)lay_out(problem).shared));
    TWI_TRY(twi_plan_scratch(plan, spread_bytes));
    TWI_TRY(twi_host_allocate(plan->context, spread_bytes + (size_t)taps * size, &memory));
    char *const values = (char *)memory + spread_bytes;
    memset(memory, 0, spread_bytes);
    twi_cuda_convert_values(&problem->mask, sum, taps, values);
    spread(problem, values, size, memory);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, memory, spread_bytes);
    twi_host_release(plan->context, memory);
    return status;
}

static tw_status run_blocked(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const layout l = lay_out(problem);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = TWI_CUDA_BLOCKED_WARPS,
        .outputs_width = (unsigned)block_width(problem),
        .outputs_height = BLOCK_HEIGHT,
        .shared = (size_t)l.shared,
    };
    twi_cuda_correlate_blocked argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .scale = twi_cuda_scale_of(problem, twi_cuda_sum_of(problem)),
        .weights = plan->scratch,
        .pitch = (int32_t)l.pitch,
        .rows = (int32_t)l.rows,
    };
    return twi_cuda_launch(kernel_of(problem), &shape, &argument, problem->width * problem->channels,
                           &argument.box.left, &argument.box.first, job->last, job->stream);
}

const twi_code twi_correlate_blocked_cuda = {
    .refuses = refuses_blocked,
    .cost = cost_blocked,
    .prepare = prepare_blocked,
    .run = run_blocked,
};
