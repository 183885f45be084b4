/* min and max on CUDA, variant herk: its groups, and how an image is cut into strips (order_herk.cu). */
#include "cuda/host.h"

/* Groups between an output's own and its window's last rows, whose extremes a thread keeps in shared memory. */
enum { MOST_BETWEEN = 32, OUTPUTS = 32 };

/* The kernels with the largest groups that fit the window, NULL if none do. */
static const twi_cuda_herk *herk_of(const tw_window *window)
{
    for (int i = 0; i < TWI_CUDA_HERKS; i++) {
        const twi_cuda_herk *herk = &twi_cuda_extreme_herk[i];
        const bool down = herk->down == 1 ? window->height == 1 : window->height >= 2 * herk->down;
        const bool across = herk->across == 1 ? window->width == 1 : window->width >= 2 * herk->across;
        if (down && across)
            return herk;
    }
    return NULL;
}

static const void *kernel_of(const tw_problem *problem)
{
    return herk_of(&problem->window)->kernel[problem->op == TW_OP_MAX];
}

static int32_t groups_between(const tw_window *window)
{
    return window->height / herk_of(window)->down - 1;
}

static size_t shared_of(const tw_problem *problem)
{
    return TWI_CUDA_HERK_SHARED + (size_t)groups_between(&problem->window) * TWI_CUDA_HERK_GROUP;
}

static const char *refuses_herk(const tw_context *context, const tw_problem *problem)
{
    if (problem->footprint)
        return "it does whole windows only";
    if (!herk_of(&problem->window))
        return "it does windows of at least 4x4, and lines of at least 16";
    if (groups_between(&problem->window) > MOST_BETWEEN)
        return "the window is too high for its width";
    if (context && shared_of(problem) > twi_cuda_state_of(context)->shared_limit)
        return "the window is too high for the device's shared memory";
    if (problem->width < problem->window.width || problem->height < twi_max_i64(3, problem->window.height))
        return "the image is smaller than the window, or has fewer than 3 rows";
    if (problem->width > INT32_MAX - 4096)
        return "the image is wider than 2^31 pixels";
    return NULL;
}

/* Groups cost a little, down and across; a strip takes a while to begin, however small the image. */
static double cost_herk(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height;
    const twi_cuda_herk *herk = herk_of(&problem->window);
    const int32_t groups = problem->window.height / herk->down + problem->window.width / herk->across;
    (void)context;
    return 21500 + (0.00042 + 0.000023 * groups) * outputs;
}

static tw_status prepare_herk(tw_plan *plan)
{
    return twi_cuda_load_kernel(plan, kernel_of(&plan->problem), shared_of(&plan->problem));
}

/* As many outputs as the block's columns allow; the kernel begins up to 3 columns before them. */
static int32_t strip_of(const tw_window *window)
{
    const int32_t before = (4 - window->anchor_x % 4) % 4;
    return (TWI_CUDA_HERK_COLUMNS - (window->width - 1) - before) / OUTPUTS * OUTPUTS;
}

static tw_status run_herk(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_strip strip = {2, 16, 64, 16 + problem->window.height / 4.0};
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    box.strip_width = strip_of(&problem->window);
    box.strip_height =
        twi_cuda_strip_rows(plan, twi_divide_up(problem->width, box.strip_width), job->last - job->first, &strip);
    if (problem->border.mode == TW_BORDER_IGNORE)
        twi_cuda_ignore_outside(problem, &box);
    const twi_cuda_shape shape = {
        .block_width = 256,
        .block_height = 1,
        .outputs_width = (unsigned)box.strip_width,
        .outputs_height = (unsigned)box.strip_height,
        .shared = shared_of(problem),
    };
    return twi_cuda_launch_box(kernel_of(problem), &shape, box, job->stream);
}

const twi_code twi_min_herk_cuda = {
    .refuses = refuses_herk,
    .cost = cost_herk,
    .prepare = prepare_herk,
    .run = run_herk,
};

const twi_code twi_max_herk_cuda = {
    .refuses = refuses_herk,
    .cost = cost_herk,
    .prepare = prepare_herk,
    .run = run_herk,
};
