/* histogram on CUDA: the kernels by the type, and how many blocks share the work. */
#include "cuda/histogram_kernels.h"
#include "cuda/host.h"
#include "cuda/pattern.h"

static int kernel_of(const tw_problem *problem)
{
    return problem->type == TW_U16;
}

static double bytes_of(const tw_problem *problem)
{
    return (double)problem->height * (double)twi_cuda_row_bytes(problem, problem->type);
}

/* The kernels' argument, for counts that are 0. */
static tw_status start(const tw_plan *plan, const twi_job *job, twi_cuda_count *count)
{
    const tw_problem *problem = &plan->problem;
    const size_t counters = twi_table_entries(problem) * (size_t)problem->channels;
    *count = (twi_cuda_count){
        .src = job->src.data,
        .src_pitch = job->src.pitch,
        .width = problem->width,
        .rows = problem->height,
        .counts = job->dst.data,
        .channels = problem->channels,
    };
    TWI_CUDA(cudaMemsetAsync(job->dst.data, 0, counters * sizeof(uint64_t), job->stream));
    return TW_OK;
}

/* ---- What the variants to learn from do to memory ------------------------------------------------------ */

static int bits_of(const tw_problem *problem)
{
    return 8 * (int)tw_type_size(problem->type);
}

/* In the counts, of a value and channel. */
static int64_t address_of_count(const twi_kernel *kernel, int64_t value, int64_t channel)
{
    return (value * kernel->problem->channels + channel) * (int64_t)sizeof(uint64_t);
}

static int64_t address_of_element(const twi_kernel *kernel, int64_t element, int64_t y)
{
    return y * kernel->src_pitch + element * (int64_t)tw_type_size(kernel->problem->type);
}

/* global: the thread's element. */
static int64_t element_of(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t element = visit->block_x * kernel->outputs_width + visit->x;
    const int64_t y = visit->block_y * kernel->outputs_height + visit->y;
    return element < kernel->columns && y < kernel->rows ? element : TWI_NO_ADDRESS;
}

static int64_t source_of_element(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t element = element_of(kernel, visit);
    return element < 0 ? element
                       : address_of_element(kernel, element, visit->block_y * kernel->outputs_height + visit->y);
}

static int64_t count_of_element(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t element = element_of(kernel, visit);
    if (element < 0)
        return element;
    return address_of_count(kernel, twi_explained_pixel(kernel, element, bits_of(kernel->problem)),
                            element % kernel->problem->channels);
}

/* shared: the block's first pixel and channel, and the thread's pixel in the row of this step. */
static int64_t first_pixel(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_x / kernel->problem->channels * TWI_CUDA_COUNT_WIDTH;
}

static int64_t channel_of(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_x % kernel->problem->channels;
}

static int64_t pixel_of(const twi_kernel *kernel, const twi_visit *visit, int64_t *y)
{
    const int64_t x = first_pixel(kernel, visit) + visit->x;
    *y = visit->block_y * TWI_CUDA_COUNT_ROWS + visit->y + visit->step * TWI_CUDA_COUNT_HEIGHT;
    if (x >= kernel->problem->width || *y >= kernel->rows)
        return TWI_NO_ADDRESS;
    return x * kernel->problem->channels + channel_of(kernel, visit);
}

static int64_t source_of_pixel(const twi_kernel *kernel, const twi_visit *visit)
{
    int64_t y;
    const int64_t element = pixel_of(kernel, visit, &y);
    return element < 0 ? element : address_of_element(kernel, element, y);
}

/* The word of the block's table with a value's counter. */
static int64_t address_of_counter(const twi_kernel *kernel, int64_t value)
{
    return value / (int64_t)tw_type_size(kernel->problem->type) * (int64_t)sizeof(uint32_t);
}

static int64_t counter_of_pixel(const twi_kernel *kernel, const twi_visit *visit)
{
    int64_t y;
    const int64_t element = pixel_of(kernel, visit, &y);
    return element < 0 ? element
                       : address_of_counter(kernel, twi_explained_pixel(kernel, element, bits_of(kernel->problem)));
}

/* The value, or word, of a thread that goes through the table. */
static int64_t turn_of(const twi_visit *visit)
{
    return visit->y * TWI_CUDA_COUNT_WIDTH + visit->x + visit->step * (TWI_CUDA_COUNT_WIDTH * TWI_CUDA_COUNT_HEIGHT);
}

static int64_t cleared_word(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t at = turn_of(visit) * (int64_t)sizeof(uint32_t);
    return at < (int64_t)kernel->dynamic ? at : TWI_NO_ADDRESS;
}

static int64_t counter_of_value(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t value = turn_of(visit);
    return value >> bits_of(kernel->problem) == 0 ? address_of_counter(kernel, value) : TWI_NO_ADDRESS;
}

/* Of a value that some pixel of the block has: 32 neighbours have all that there are. */
static int64_t count_of_value(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const int64_t value = turn_of(visit);
    const int64_t pixels = twi_min_i64(32, problem->width - first_pixel(kernel, visit));
    for (int64_t i = 0; i < pixels; i++) {
        const int64_t element = (first_pixel(kernel, visit) + i) * problem->channels + channel_of(kernel, visit);
        if (twi_explained_pixel(kernel, element, bits_of(problem)) == value)
            return address_of_count(kernel, value, channel_of(kernel, visit));
    }
    return TWI_NO_ADDRESS;
}

static void declare_source(twi_kernel *kernel, int64_t steps,
                           int64_t (*address)(const twi_kernel *kernel, const twi_visit *visit))
{
    const twi_access source = {.what = "source",
                               .space = TWI_SPACE_GLOBAL,
                               .bytes = (int32_t)tw_type_size(kernel->problem->type),
                               .steps = steps,
                               .address = address};
    twi_declare(kernel, source);
    kernel->by_pixels = true;
}

static void declare_counts(twi_kernel *kernel, int64_t steps,
                           int64_t (*address)(const twi_kernel *kernel, const twi_visit *visit))
{
    const twi_access counts = {.what = "counts",
                               .space = TWI_SPACE_GLOBAL,
                               .store = true,
                               .adds = TWI_ADDS_ANY,
                               .bytes = sizeof(uint64_t),
                               .steps = steps,
                               .address = address};
    twi_declare(kernel, counts);
}

/* ---- global ------------------------------------------------------------------------------------------ */

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

static double cost_global(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 8000 + 0.05 * bytes_of(problem);
}

static tw_status prepare_global(tw_plan *plan)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_load_kernel(plan, twi_cuda_histogram_global[kernel_of(&plan->problem)], 0);
}

static tw_status run_global(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    twi_cuda_count count;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(start(plan, job, &count));
    return twi_cuda_launch(twi_cuda_histogram_global[kernel_of(&plan->problem)], &shape, &count,
                           count.width * count.channels, &count.left, &count.first, count.rows, job->stream);
}

static void explain_global(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    declare_source(kernel, 1, source_of_element);
    declare_counts(kernel, 1, count_of_element);
    kernel->function = twi_cuda_histogram_global[kernel_of(kernel->problem)];
}

const twi_code twi_histogram_global_cuda = {
    .cost = cost_global,
    .prepare = prepare_global,
    .run = run_global,
    .whole = true,
    .explain = explain_global,
};

/* ---- shared ------------------------------------------------------------------------------------------ */

/* Of a block. */
static size_t table_bytes(const tw_problem *problem)
{
    return problem->type == TW_U8 ? 256 * sizeof(uint32_t) : TWI_CUDA_COUNT_WORDS;
}

static const char *refuses_table(const tw_context *context, size_t bytes)
{
    return context && twi_cuda_state_of(context)->shared_limit < bytes
               ? "a block's tables do not fit in the device's shared memory"
               : NULL;
}

static const char *refuses_shared(const tw_context *context, const tw_problem *problem)
{
    return refuses_table(context, table_bytes(problem));
}

static double cost_shared(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 8000 + (problem->type == TW_U8 ? 0.002 : 0.01) * bytes_of(problem);
}

static tw_status prepare_shared(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    return twi_cuda_load_kernel(plan, twi_cuda_histogram_shared[kernel_of(problem)], table_bytes(problem));
}

static tw_status run_shared(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_shape shape = {TWI_CUDA_COUNT_WIDTH, TWI_CUDA_COUNT_HEIGHT, 1, TWI_CUDA_COUNT_ROWS,
                                  table_bytes(problem)};
    const int64_t blocks = twi_divide_up(problem->width, TWI_CUDA_COUNT_WIDTH) * problem->channels;
    twi_cuda_count count;
    TWI_TRY(start(plan, job, &count));
    return twi_cuda_launch(twi_cuda_histogram_shared[kernel_of(problem)], &shape, &count, blocks, &count.left,
                           &count.first, count.rows, job->stream);
}

static void explain_shared(twi_kernel *kernel)
{
    enum { THREADS = TWI_CUDA_COUNT_WIDTH * TWI_CUDA_COUNT_HEIGHT };
    const tw_problem *problem = kernel->problem;
    const int64_t rows = TWI_CUDA_COUNT_ROWS / TWI_CUDA_COUNT_HEIGHT;
    const int64_t turns = twi_divide_up((int64_t)twi_table_entries(problem), THREADS);
    twi_access table = {.what = "table",
                        .space = TWI_SPACE_SHARED,
                        .store = true,
                        .bytes = sizeof(uint32_t),
                        .steps = twi_divide_up((int64_t)table_bytes(problem), THREADS * (int64_t)sizeof(uint32_t)),
                        .address = cleared_word};
    kernel->block_width = TWI_CUDA_COUNT_WIDTH;
    kernel->block_height = TWI_CUDA_COUNT_HEIGHT;
    kernel->outputs_width = 1;
    kernel->outputs_height = TWI_CUDA_COUNT_ROWS;
    kernel->columns = twi_divide_up(problem->width, TWI_CUDA_COUNT_WIDTH) * problem->channels;
    kernel->rows = problem->height;
    kernel->period = problem->width % TWI_CUDA_COUNT_WIDTH == 0 ? problem->channels : kernel->columns;
    kernel->function = twi_cuda_histogram_shared[kernel_of(problem)];
    kernel->shared = kernel->dynamic = table_bytes(problem);
    kernel->barriers = 2;
    twi_declare(kernel, table);
    declare_source(kernel, rows, source_of_pixel);
    table.adds = problem->type == TW_U8 ? TWI_ADDS_ONE : TWI_ADDS_ANY;
    table.steps = rows;
    table.address = counter_of_pixel;
    twi_declare(kernel, table);
    table.store = false;
    table.adds = TWI_ADDS_NOTHING;
    table.steps = turns;
    table.address = counter_of_value;
    twi_declare(kernel, table);
    declare_counts(kernel, turns, count_of_value);
}

const twi_code twi_histogram_shared_cuda = {
    .refuses = refuses_shared,
    .cost = cost_shared,
    .prepare = prepare_shared,
    .run = run_shared,
    .whole = true,
    .explain = explain_shared,
};

/* ---- fast -------------------------------------------------------------------------------------------- */

static size_t fast_bytes(const tw_problem *problem)
{
    return problem->type == TW_U8 ? (size_t)problem->channels * TWI_CUDA_COUNT_TABLES : TWI_CUDA_COUNT_WORDS;
}

static const void *fast_kernel(const tw_problem *problem)
{
    return problem->type == TW_U8 ? twi_cuda_count_bytes[problem->channels - 1] : twi_cuda_count_words;
}

/* A block a multiprocessor, fewer where there is less to do; of words, as many for each channel. */
static int32_t fast_blocks(const tw_plan *plan)
{
    enum { BLOCK_BYTES = 64 * TWI_CUDA_COUNT_THREADS };
    const tw_problem *problem = &plan->problem;
    const int64_t most = twi_cuda_state_of(plan->context)->processors;
    const int64_t row = twi_divide_up(twi_cuda_row_bytes(problem, problem->type), BLOCK_BYTES);
    const int64_t blocks = problem->height < most ? twi_min_i64(row * problem->height, most) : most;
    return (int32_t)(problem->type == TW_U8 ? blocks : twi_divide_up(blocks, problem->channels) * problem->channels);
}

static const char *refuses_fast(const tw_context *context, const tw_problem *problem)
{
    return refuses_table(context, fast_bytes(problem));
}

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 8000 + 0.0004 * bytes_of(problem) * (problem->type == TW_U8 ? 1 : problem->channels);
}

static tw_status prepare_fast(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    TWI_TRY(twi_cuda_load_kernel(plan, fast_kernel(problem), fast_bytes(problem)));
    if (problem->type == TW_U8)
        return TW_OK;
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_count_finish, 0));
    return twi_plan_scratch(plan, (size_t)fast_blocks(plan) * TWI_CUDA_COUNT_WORDS);
}

static tw_status run_fast(const tw_plan *plan, const twi_job *job)
{
    enum { FINISH_THREADS = 256 };
    const tw_problem *problem = &plan->problem;
    const twi_cuda_shape shape = {TWI_CUDA_COUNT_THREADS, 1, 1, 1, fast_bytes(problem)};
    const twi_cuda_shape finish = {FINISH_THREADS, 1, FINISH_THREADS, 1, 0};
    twi_cuda_count count;
    TWI_TRY(start(plan, job, &count));
    count.blocks = fast_blocks(plan);
    count.tables = plan->scratch;
    count.whole = ((uintptr_t)count.src | (uint64_t)count.src_pitch) % 16 == 0;
    TWI_TRY(
        twi_cuda_launch(fast_kernel(problem), &shape, &count, count.blocks, &count.left, &count.first, 1, job->stream));
    if (problem->type == TW_U8)
        return TW_OK;
    count.first = 0;
    return twi_cuda_launch(twi_cuda_count_finish, &finish, &count, TWI_CUDA_COUNT_PAIRS, &count.left, &count.first, 1,
                           job->stream);
}

const twi_code twi_histogram_fast_cuda = {
    .refuses = refuses_fast,
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
    .whole = true,
};
