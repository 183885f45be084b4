/* box on CUDA, the variants whose blocks march down strips of u8 images: tensor and running. */
#include "cuda/host.h"

static double outputs_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height;
}

/* A border's rule is applied once, columns are counted in 32 bits. */
const char *twi_cuda_refuses_march(const tw_problem *problem)
{
    if (problem->width < problem->window.width || problem->height < problem->window.height)
        return "the image is smaller than the window";
    if (problem->width > (INT32_MAX - 4096) / problem->channels)
        return "the image is wider than 2^31 elements";
    return NULL;
}

/* ---- tensor: windows that reach at most 24 pixels from their output ------------------------------- */

static int32_t reach_of(const tw_window *window)
{
    const int64_t across = twi_max_i64(window->anchor_x, window->width - 1 - window->anchor_x);
    const int64_t down = twi_max_i64(window->anchor_y, window->height - 1 - window->anchor_y);
    return (int32_t)twi_max_i64(across, down);
}

/* The kernel for windows of that reach, NULL if there is none. */
static const twi_cuda_tensor *tensor_of(const tw_problem *problem)
{
    for (int i = 0; i < TWI_CUDA_TENSORS; i++)
        if (reach_of(&problem->window) <= twi_cuda_box_tensor[i].band.reach_x)
            return &twi_cuda_box_tensor[i];
    return NULL;
}

static const void *tensor_kernel(const tw_problem *problem)
{
    return tensor_of(problem)->kernel[problem->rounding == TW_ROUND_NEAREST];
}

/* The kernel divides by a rounded-up reciprocal, exactly while n < 2^15 and sums are below 2^23; the largest window has
   49 x 49 positions, its rows sums up to 49 * 255, whose high byte is below 64. */
static const char *refuses_tensor(const tw_context *context, const tw_problem *problem)
{
    if (!tensor_of(problem))
        return "the window reaches more than 24 pixels from its output";
    if (problem->window.width == 1 && problem->window.height == 1)
        return "a window of one pixel is a copy";
    return twi_cuda_refuses_band(context, problem);
}

static double cost_tensor(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 9000 + (tensor_of(problem) == &twi_cuda_box_tensor[0] ? 0.00064 : 0.0008) * outputs_of(problem);
}

static tw_status prepare_tensor(tw_plan *plan)
{
    return twi_cuda_load_kernel(plan, tensor_kernel(&plan->problem), (size_t)tensor_of(&plan->problem)->band.shared);
}

static tw_status run_tensor(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_tensor *tensor = tensor_of(&plan->problem);
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    return twi_cuda_launch_band(plan, tensor_kernel(&plan->problem), &tensor->band, &box, &box, job->stream);
}

const twi_code twi_box_tensor_cuda = {
    .refuses = refuses_tensor,
    .cost = cost_tensor,
    .prepare = prepare_tensor,
    .run = run_tensor,
};

/* ---- running ---------------------------------------------------------------------------------------- */

enum { RUNNING_MOST_ROWS = 128, RUNNING_MOST_COLUMNS = 1024, RUNNING_MOST_POSITIONS = 30000, RUNNING_BLOCKS = 3 };

/* Limits of the kernel: a column's sum and the difference of two fit in 16 bits; a window's sum, offset by 16 times
   32768, is below 2^23, so that it is a float without loss, and the division by a rounded-up reciprocal is
   exact while n < 2^15. */
static const char *refuses_running(const tw_context *context, const tw_problem *problem)
{
    const int64_t count = (int64_t)problem->window.width * problem->window.height;
    (void)context;
    if (problem->window.height > RUNNING_MOST_ROWS)
        return "the window has more than 128 rows";
    if (problem->window.width > RUNNING_MOST_COLUMNS) /* the rest of a block's columns are outputs */
        return "the window has more than 1024 columns";
    if (count > RUNNING_MOST_POSITIONS)
        return "the window has more than 30000 positions";
    return twi_cuda_refuses_march(problem);
}

static double cost_running(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 15000 + (0.00084 + 0.0000005 * problem->window.height) * outputs_of(problem);
}

static const void *running_of(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const bool centred = window->width % 2 == 1 && window->anchor_x == window->width / 2;
    return twi_cuda_box_running[centred ? window->width / 2 % 8 : TWI_CUDA_RUNNING - 1];
}

static tw_status prepare_running(tw_plan *plan)
{
    return twi_cuda_load_kernel(plan, running_of(&plan->problem), TWI_CUDA_RUNNING_SHARED);
}

/* Equal strips, as few as the block's columns allow. */
static int32_t running_strip(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const int64_t left = twi_divide_up(window->anchor_x, 8) * 8;
    const int64_t right = twi_divide_up(window->width - 1 - window->anchor_x, 8) * 8;
    const int64_t strips = twi_divide_up(problem->width, (TWI_CUDA_RUNNING_COLUMNS - left - right) / 16 * 16);
    return (int32_t)(twi_divide_up(twi_divide_up(problem->width, strips), 16) * 16);
}

/* As many rows that all blocks are on the device at once: a second wave would double the time. A few more than that:
   the kernel takes the surplus off the first and the last blocks. */
static int32_t running_rows(const tw_plan *plan, int64_t rows, int32_t strip)
{
    const int64_t wave = RUNNING_BLOCKS * (int64_t)twi_cuda_state_of(plan->context)->processors;
    const int64_t chunks = twi_max_i64(1, wave / twi_divide_up(plan->problem.width, strip));
    const int64_t surplus = chunks > 1 ? rows * 4 / 5 / chunks : 0;
    return (int32_t)twi_min_i64(1 << 20, twi_divide_up(twi_divide_up(rows + surplus, chunks), 4) * 4);
}

static tw_status run_running(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    box.strip_width = running_strip(&plan->problem);
    box.strip_height = running_rows(plan, job->last - job->first, box.strip_width);
    const twi_cuda_shape shape = {
        .block_width = 256,
        .block_height = 1,
        .outputs_width = (unsigned)box.strip_width,
        .outputs_height = (unsigned)box.strip_height,
        .shared = TWI_CUDA_RUNNING_SHARED,
    };
    return twi_cuda_launch_box(running_of(&plan->problem), &shape, box, job->stream);
}

const twi_code twi_box_running_cuda = {
    .refuses = refuses_running,
    .cost = cost_running,
    .prepare = prepare_running,
    .run = run_running,
};
