/* sepconv and gaussian on CUDA: weights; separable: chunks of the image, and the two passes over each; fused. */
#include "cuda/host.h"

enum {
    BLOCK_WIDTH = 32,
    BLOCK_HEIGHT = 8,
    SMALLEST_ROWS = 64, /* chunks are not cut below these, */
    SMALLEST_COLUMNS = 1024,
};

/* ... and cut above this, so that the lines stay small beside the images and in the device's cache. */
static const int64_t scratch_wish = (int64_t)32 << 20;

/* Where everything lies in the plan's scratch memory, and the outputs of a chunk. */
typedef struct layout {
    int64_t column_weights; /* bytes from the start; the row's weights are first */
    int64_t lines;
    int64_t bytes;   /* of all */
    int64_t columns; /* outputs: elements */
    int64_t rows;
    int64_t pitch; /* of the lines, in their elements */
} layout;

static int sum_of(const tw_problem *problem)
{
    if (problem->op == TW_OP_SEPCONV)
        return twi_cuda_sum_of(problem);
    return twi_gaussian_is_fixed(problem) ? TWI_CUDA_SUM_FIXED : TWI_CUDA_SUM_F64;
}

/* Bytes of an element of the lines. */
static int64_t line_size(int sum)
{
    static const int64_t size[TWI_CUDA_SEPARABLE_SUMS] = {
        [TWI_CUDA_SUM_I32] = 4, [TWI_CUDA_SUM_I64] = 8, [TWI_CUDA_SUM_I128] = 16,
        [TWI_CUDA_SUM_F32] = 4, [TWI_CUDA_SUM_F64] = 8, [TWI_CUDA_SUM_FIXED] = 2,
    };
    return size[sum];
}

static int64_t lines_bytes(const tw_problem *problem, const layout *l, int sum)
{
    return l->pitch * (l->rows + problem->window.height - 1) * line_size(sum);
}

/* The weights alone: those of the lines begin where these end. */
static layout lay_out_weights(const tw_problem *problem)
{
    const size_t size = twi_cuda_value_size(sum_of(problem));
    layout l = {.column_weights = twi_round_up(problem->window.width * (int64_t)size, 256)};
    l.lines = l.column_weights + twi_round_up(problem->window.height * (int64_t)size, 256);
    return l;
}

static layout lay_out(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const int sum = sum_of(problem);
    const int64_t least_rows = twi_max_i64(SMALLEST_ROWS, window->height);
    layout l = lay_out_weights(problem);
    /* below any size whose product could overflow */
    l.columns = twi_min_i64(problem->width, (int64_t)1 << 24) * problem->channels;
    l.rows = twi_min_i64(problem->height, (int64_t)1 << 16);
    l.pitch = twi_round_up(l.columns, 32);
    while (lines_bytes(problem, &l, sum) > scratch_wish && (l.rows > least_rows || l.columns > SMALLEST_COLUMNS)) {
        if (l.rows > least_rows)
            l.rows = twi_max_i64(least_rows, l.rows / 2);
        else
            l.columns = twi_max_i64(SMALLEST_COLUMNS, (l.columns + 1) / 2);
        l.pitch = twi_round_up(l.columns, 32);
    }
    l.bytes = l.lines + lines_bytes(problem, &l, sum);
    return l;
}

/* A pass moves a line's element out or in, and reads a window's side of values an output. */
static double cost_separable(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double taps = (double)problem->window.width + problem->window.height;
    const int sum = sum_of(problem);
    const double times = sum == TWI_CUDA_SUM_FIXED ? 1 : twi_cuda_sum_cost(sum);
    (void)context;
    return 10000 + outputs * (0.004 + 0.001 * (double)line_size(sum) + 0.0003 * taps * times);
}

/* ---- Weights ----------------------------------------------------------------------------------------- */

/* The weights of one axis of a gaussian, in the type of its sums. */
static tw_status gaussian_values(const tw_context *context, double sigma, int32_t taps, int sum, void *to)
{
    void *memory = NULL;
    if (sum != TWI_CUDA_SUM_FIXED) {
        twi_gaussian_weights(sigma, taps, to);
        return TW_OK;
    }
    TWI_TRY(twi_host_allocate(context, (size_t)taps * sizeof(double), &memory));
    twi_gaussian_weights(sigma, taps, memory);
    twi_gaussian_fixed(memory, taps, to);
    twi_host_release(context, memory);
    return TW_OK;
}

/* Row and column, each where `l` has its place. */
static tw_status fill_weights(const tw_plan *plan, const layout *l, char *to)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    const int sum = sum_of(problem);
    if (problem->op == TW_OP_GAUSSIAN) {
        TWI_TRY(gaussian_values(plan->context, problem->sigma_x, window->width, sum, to));
        return gaussian_values(plan->context, problem->sigma_y, window->height, sum, to + l->column_weights);
    }
    twi_cuda_convert_values(&problem->mask, sum, window->width, to);
    twi_cuda_convert_values(&problem->column, sum, window->height, to + l->column_weights);
    return TW_OK;
}

static tw_status send_weights(const tw_plan *plan, const layout *l)
{
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(plan->context, (size_t)l->lines, &memory));
    tw_status status = fill_weights(plan, l, memory);
    if (status == TW_OK)
        status = twi_cuda_send(plan->context, plan->scratch, memory, (size_t)l->lines);
    twi_host_release(plan->context, memory);
    return status;
}

static tw_status prepare_separable(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const layout l = lay_out(problem);
    const int sum = sum_of(problem);
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_sepconv_along[problem->type][sum], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_sepconv_down[sum], 0));
    TWI_TRY(twi_plan_scratch(plan, (size_t)l.bytes));
    return send_weights(plan, &l);
}

/* ---- Passes ------------------------------------------------------------------------------------------ */

/* How a column's sum becomes an element. That of a gaussian in f64 is not scaled: dividing by 1 and adding -0
   leave every number as it is, the zeros' signs included. */
static twi_cuda_scale scale_of(const tw_problem *problem, int sum)
{
    const twi_cuda_scale none = {
        .divisor = 1,
        .float_divisor = 1,
        .float_offset = -0.0,
        .out_type = (int32_t)problem->out_type,
    };
    return problem->op == TW_OP_SEPCONV ? twi_cuda_scale_of(problem, sum) : none;
}

/* The chunk whose first output is at (left, top). */
static tw_status run_chunk(const tw_plan *plan, const twi_job *job, const layout *l, int64_t left, int64_t top)
{
    static const twi_cuda_shape shape = {BLOCK_WIDTH, BLOCK_HEIGHT, BLOCK_WIDTH, BLOCK_HEIGHT, 0};
    const tw_problem *problem = &plan->problem;
    const int sum = sum_of(problem);
    const int64_t rows = twi_min_i64(l->rows, job->last - top);
    char *const scratch = plan->scratch;
    twi_cuda_sepconv pass = {
        .box = twi_cuda_box_arguments(plan, job),
        .scale = scale_of(problem, sum),
        .weights = scratch,
        .lines = scratch + l->lines,
        .pitch = l->pitch,
        .columns = twi_min_i64(l->columns, problem->width * problem->channels - left),
        .rows = rows + problem->window.height - 1,
        .chunk_left = left,
        .chunk_top = top,
    };
    TWI_TRY(twi_cuda_launch(twi_cuda_sepconv_along[problem->type][sum], &shape, &pass, pass.columns, &pass.left,
                            &pass.first, pass.rows, job->stream));
    pass.weights = scratch + l->column_weights;
    pass.rows = rows;
    pass.first = 0;
    return twi_cuda_launch(twi_cuda_sepconv_down[sum], &shape, &pass, pass.columns, &pass.left, &pass.first, pass.rows,
                           job->stream);
}

static tw_status run_separable(const tw_plan *plan, const twi_job *job)
{
    const layout l = lay_out(&plan->problem);
    const int64_t columns = plan->problem.width * plan->problem.channels;
    for (int64_t top = job->first; top < job->last; top += l.rows)
        for (int64_t left = 0; left < columns; left += l.columns)
            TWI_TRY(run_chunk(plan, job, &l, left, top));
    return TW_OK;
}

const twi_code twi_sepconv_separable_cuda = {
    .cost = cost_separable,
    .prepare = prepare_separable,
    .run = run_separable,
};

const twi_code twi_gaussian_separable_cuda = {
    .cost = cost_separable,
    .prepare = prepare_separable,
    .run = run_separable,
};

/* ---- fused ------------------------------------------------------------------------------------------- */

enum { ALONG = TWI_CUDA_FUSED_ALONG, STEP = TWI_CUDA_FUSED_STEP, FUSED_ROWS = 320, FUSED_WAVES = 6 };
enum { ENOUGH_BLOCKS = 192, PIECE_BYTES = 1 << 20 };

/* Elements of a row that a block makes. */
static int64_t fused_width(const tw_problem *problem)
{
    return (int64_t)(32 / problem->channels * problem->channels * ALONG);
}

static int64_t fused_ring(const tw_problem *problem)
{
    return twi_round_up(problem->window.height - 1, STEP) + STEP;
}

static int64_t fused_strips(const tw_problem *problem)
{
    return (problem->width * problem->channels - 1) / fused_width(problem) + 1;
}

/* Lines, STEP rows of pixels, weights. */
static int64_t fused_shared(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const int64_t pixels = STEP * (fused_width(problem) + (int64_t)(window->width - 1) * problem->channels);
    return fused_ring(problem) * fused_width(problem) * line_size(sum_of(problem)) +
           (pixels + window->width + window->height) * (int64_t)twi_cuda_value_size(sum_of(problem));
}

static const char *refuses_fused(const tw_context *context, const tw_problem *problem)
{
    if (sum_of(problem) == TWI_CUDA_SUM_I128)
        return "its sums need more than 64 bits";
    if (context && fused_shared(problem) > (int64_t)twi_cuda_state_of(context)->shared_limit)
        return "the lines of such a window do not fit in the device's shared memory";
    return NULL;
}

/* Rows of a block, for a job of so many: enough blocks to fill the device, but long strips, as each makes a window's
   lines before its first output. */
static int32_t fused_rows(const tw_context *context, const tw_problem *problem, int64_t rows)
{
    const int64_t least = 2 * (int64_t)problem->window.height;
    const int64_t wanted = FUSED_WAVES * (int64_t)twi_cuda_state_of(context)->processors;
    const int64_t even = rows / (wanted / fused_strips(problem) + 1) + 1;
    return (int32_t)twi_round_up(twi_min_i64(rows, twi_max_i64(least, twi_min_i64(even, FUSED_ROWS))), STEP);
}

/* Beside the taps, lines pass through shared memory. A host image comes in pieces of few rows: too few blocks where
   strips must be long. */
static double cost_fused(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double taps = (double)problem->window.width + problem->window.height;
    const int sum = sum_of(problem);
    const double times = sum == TWI_CUDA_SUM_FIXED ? 1 : twi_cuda_sum_cost(sum);
    const double each = 0.006 + 0.001 * (double)line_size(sum) + 0.00016 * taps * times;
    const int64_t piece = PIECE_BYTES / twi_cuda_row_bytes(problem, problem->type) + 1;
    const int64_t rows = problem->memory == TW_DEVICE ? problem->height : twi_min_i64(problem->height, piece);
    const int64_t blocks = fused_strips(problem) * ((rows - 1) / fused_rows(context, problem, rows) + 1);
    const double idle = (double)ENOUGH_BLOCKS / (double)twi_min_i64(blocks, ENOUGH_BLOCKS);
    return 7000 + outputs * each * idle;
}

static tw_status prepare_fused(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const layout l = lay_out_weights(problem);
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_sepconv_fused[problem->type][sum_of(problem)],
                                 (size_t)fused_shared(problem)));
    TWI_TRY(twi_plan_scratch(plan, (size_t)l.lines));
    return send_weights(plan, &l);
}

static tw_status run_fused(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int sum = sum_of(problem);
    const char *const weights = plan->scratch;
    twi_cuda_fused fused = {
        .box = twi_cuda_box_arguments(plan, job),
        .scale = scale_of(problem, sum),
        .along = weights,
        .down = weights + lay_out_weights(problem).column_weights,
        .ring = (int32_t)fused_ring(problem),
    };
    twi_cuda_box *const box = &fused.box;
    box->strip_height = fused_rows(plan->context, problem, box->last - box->first);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = ALONG,
        .outputs_width = (unsigned)fused_width(problem),
        .outputs_height = (unsigned)box->strip_height,
        .shared = (size_t)fused_shared(problem),
    };
    return twi_cuda_launch(twi_cuda_sepconv_fused[problem->type][sum], &shape, &fused, box->width * box->channels,
                           &box->left, &box->first, box->last, job->stream);
}

const twi_code twi_sepconv_fused_cuda = {
    .refuses = refuses_fused,
    .cost = cost_fused,
    .prepare = prepare_fused,
    .run = run_fused,
};

const twi_code twi_gaussian_fused_cuda = {
    .refuses = refuses_fused,
    .cost = cost_fused,
    .prepare = prepare_fused,
    .run = run_fused,
};
