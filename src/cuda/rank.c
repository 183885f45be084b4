/* rank on CUDA, the fast variants: columns and histogram for one channel of u8, halving for all images. */
#include "cuda/host.h"

static double outputs_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height;
}

/* ---- columns -------------------------------------------------------------------------------------------- */

enum { COLUMNS_WIDTH = 512, COLUMNS_HEIGHT = 32 };

static const char *refuses_columns(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->footprint)
        return "it does whole windows only";
    if (problem->rank != 12)
        return "it does medians alone";
    if (problem->window.anchor_x != 2 || problem->window.anchor_y != 2)
        return "it does centred windows only";
    return NULL;
}

static double cost_columns(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 15000 + 0.0025 * outputs_of(problem);
}

static tw_status prepare_columns(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_median_columns[false], 0));
    return twi_cuda_load_kernel(plan, twi_cuda_median_columns[true], 0);
}

static tw_status run_columns(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    box.strip_height = COLUMNS_HEIGHT;
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = 1,
        .outputs_width = COLUMNS_WIDTH,
        .outputs_height = COLUMNS_HEIGHT,
    };
    return twi_cuda_launch_box(twi_cuda_median_columns[twi_cuda_aligned_to(job, 16)], &shape, box, job->stream);
}

const twi_code twi_rank_columns_cuda = {
    .refuses = refuses_columns,
    .cost = cost_columns,
    .prepare = prepare_columns,
    .run = run_columns,
};

/* ---- halving -------------------------------------------------------------------------------------------- */

static const void *kernel_halving(const tw_problem *problem)
{
    const int32_t side = problem->window.width;
    return side == problem->window.height && side % 2 ? twi_cuda_median_halving[(side - 7) / 2][problem->type] : NULL;
}

static const char *refuses_halving(const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    (void)context;
    if (problem->footprint)
        return "it does whole windows only";
    if (!kernel_halving(problem))
        return "it does 7x7, 9x9 and 11x11, the last but for f64";
    return problem->rank == window->width * window->height / 2 ? NULL : "it does medians alone";
}

static double cost_halving(const tw_context *context, const tw_problem *problem)
{
    static const double nanoseconds[TWI_CUDA_HALVINGS] = {0.017, 0.026, 0.044};
    const size_t size = tw_type_size(problem->type);
    (void)context;
    return 15000 + nanoseconds[(problem->window.width - 7) / 2] *
                       (size < 4    ? 0.5
                        : size == 4 ? 1
                                    : 4) *
                       outputs_of(problem) * problem->channels;
}

static tw_status prepare_halving(tw_plan *plan)
{
    return twi_cuda_load_kernel(plan, kernel_halving(&plan->problem), 0);
}

static tw_status run_halving(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int32_t channels = problem->channels;
    const bool pairs = tw_type_size(problem->type) < 4;
    const twi_cuda_shape shape = {
        .block_width = TWI_CUDA_HALVING_ACROSS,
        .block_height = TWI_CUDA_HALVING_DOWN,
        .outputs_width = (unsigned)(4 * (TWI_CUDA_HALVING_ACROSS / channels) * channels),
        .outputs_height = (pairs ? 4 : 2) * TWI_CUDA_HALVING_DOWN,
    };
    return twi_cuda_launch_box(kernel_halving(problem), &shape, twi_cuda_box_arguments(plan, job), job->stream);
}

const twi_code twi_rank_halving_cuda = {
    .refuses = refuses_halving,
    .cost = cost_halving,
    .prepare = prepare_halving,
    .run = run_halving,
};

/* ---- histogram ------------------------------------------------------------------------------------------ */

/* The fewest threads of which most make outputs, and their kernel for windows of that width. */
static const twi_cuda_histogram *histogram_of(const tw_window *window)
{
    const int32_t words = window->width < 10 ? 3 : (window->width + 6) / 4;
    for (int i = 0; i < TWI_CUDA_HISTOGRAMS; i++) {
        const twi_cuda_histogram *histogram = &twi_cuda_rank_histogram[i];
        if ((histogram->words == words || histogram->words == 0) && histogram->threads >= 3 * window->width)
            return histogram;
    }
    return NULL;
}

static const char *refuses_histogram(const tw_context *context, const tw_problem *problem)
{
    const twi_cuda_histogram *histogram = histogram_of(&problem->window);
    if (problem->footprint)
        return "it does whole windows only";
    if (!histogram)
        return "the window is too wide";
    if (context && (size_t)histogram->shared > twi_cuda_state_of(context)->shared_limit)
        return "its counts do not fit in the device's shared memory";
    return NULL;
}

/* Counts that change do not depend on the window, those that are added up grow with its width. */
static double cost_histogram(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 50000 + (0.0165 + 0.00042 * problem->window.width) * outputs_of(problem);
}

static tw_status prepare_histogram(tw_plan *plan)
{
    const twi_cuda_histogram *histogram = histogram_of(&plan->problem.window);
    return twi_cuda_load_kernel(plan, histogram->kernel, (size_t)histogram->shared);
}

static tw_status run_histogram(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_histogram *histogram = histogram_of(&problem->window);
    const int32_t width = histogram->threads - problem->window.width + 1;
    const size_t blocks = twi_cuda_state_of(plan->context)->shared_limit / (size_t)histogram->shared;
    const twi_cuda_strip strip = {(int32_t)blocks, 1, 32, problem->window.height / 2.0};
    twi_cuda_order argument = {.box = twi_cuda_box_arguments(plan, job), .rank = (uint32_t)problem->rank};
    argument.box.strip_width = width;
    argument.box.strip_height =
        twi_cuda_strip_rows(plan, twi_divide_up(problem->width, width), job->last - job->first, &strip);
    const twi_cuda_shape shape = {
        .block_width = (unsigned)histogram->threads,
        .block_height = 1,
        .outputs_width = (unsigned)width,
        .outputs_height = (unsigned)argument.box.strip_height,
        .shared = (size_t)histogram->shared,
    };
    return twi_cuda_launch(histogram->kernel, &shape, &argument, problem->width, &argument.box.left,
                           &argument.box.first, job->last, job->stream);
}

const twi_code twi_rank_histogram_cuda = {
    .refuses = refuses_histogram,
    .cost = cost_histogram,
    .prepare = prepare_histogram,
    .run = run_histogram,
};
