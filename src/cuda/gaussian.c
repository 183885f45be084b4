/* gaussian on CUDA, variant tensor: the matrices of weights, and the kernel for a window (gaussian_tensor.cu). */
#include "cuda/host.h"

enum { PART_WORDS = TWI_CUDA_PART_WORDS, PLANES = 2 };

/* The largest kernel reaches 56 from an output. */
enum { MOST_TAPS = 2 * 56 + 1 };

/* How far a window reaches from its output along its rows, in elements. A gaussian's window is centred. */
static int64_t reach_x(const tw_problem *problem)
{
    return (int64_t)(problem->window.width / 2) * problem->channels;
}

static const twi_cuda_gaussian_kernel *kernel_of(const tw_problem *problem)
{
    for (int i = 0; i < TWI_CUDA_GAUSSIAN_TENSORS; i++) {
        const twi_cuda_band *band = &twi_cuda_gaussian_tensor[i].band;
        if (reach_x(problem) <= band->reach_x && problem->window.height / 2 <= band->reach_y)
            return &twi_cuda_gaussian_tensor[i];
    }
    return NULL;
}

static const char *refuses_tensor(const tw_context *context, const tw_problem *problem)
{
    if (!twi_gaussian_is_fixed(problem))
        return "it does the fixed point of u8, which asks for sigmas of 0.5 or more and more than one tap on both axes";
    if (!kernel_of(problem))
        return "the window reaches more than 56 elements along a row, or 56 rows, from its output";
    return twi_cuda_refuses_band(context, problem);
}

/* Matrix products of 32 x 16 outputs, and what all kernels do beside them. */
static double cost_tensor(const tw_context *context, const tw_problem *problem)
{
    const twi_cuda_gaussian_kernel *kernel = kernel_of(problem);
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    (void)context;
    return 9000 + outputs * (0.00035 + 0.000018 * (8 * kernel->parts_x + 16 * kernel->parts_y));
}

/* ---- Weights --------------------------------------------------------------------------------------- */

/* The weights of one axis, each `step` from the next. */
typedef struct axis {
    int32_t weights[MOST_TAPS];
    int32_t reach; /* of the outermost from the output */
    int32_t step;
} axis;

static axis axis_of(double sigma, int32_t taps, int32_t step)
{
    double exact[MOST_TAPS];
    axis a = {.reach = taps / 2 * step, .step = step};
    twi_gaussian_weights(sigma, taps, exact);
    twi_gaussian_fixed(exact, taps, a.weights);
    return a;
}

/* Byte `plane` of the weight at that distance from the output, 0 the low one; 0 where there is no weight. */
static uint32_t byte_at(const axis *a, int32_t distance, int plane)
{
    if (distance < -a->reach || distance > a->reach || distance % a->step != 0)
        return 0;
    return (uint32_t)a->weights[(distance + a->reach) / a->step] >> (8 * plane) & 255;
}

/* Those at `first` and the next, and at two `apart` from them. */
static uint32_t word_at(const axis *a, int32_t first, int32_t apart, int plane)
{
    return byte_at(a, first, plane) | byte_at(a, first + 1, plane) << 8 | byte_at(a, first + apart, plane) << 16 |
           byte_at(a, first + apart + 1, plane) << 24;
}

/* Part k of the sums along rows. Word i of a thread has 4 neighbouring elements of 32, for one output of 16 (band.cuh,
   column_of()). */
static void fill_along(const axis *a, const twi_cuda_band *band, int plane, int k, uint32_t *part)
{
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int32_t element = 32 * k + 8 * (lane % 4) + 4 * (i / 2);
            const int32_t output = 4 * (lane / 8) + lane / 4 % 2 + 2 * (i % 2);
            part[4 * lane + i] = word_at(a, element - output - band->reach_x, 2, plane);
        }
    }
}

/* Part k of those down columns, of which words 0 and 1 are for the first of a pair of steps, 2 and 3 for the second. */
static void fill_down(const axis *a, const twi_cuda_gaussian_kernel *kernel, int odd, int plane, int k, uint32_t *part)
{
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int32_t step = (2 * k + odd + i / 2) % (2 * kernel->parts_y);
            const int32_t output = lane / 4 + 8 * (i % 2);
            const int32_t row = 16 * step + 2 * (lane % 4);
            part[4 * lane + i] = word_at(a, row - output - kernel->band.reach_y, 8, plane);
        }
    }
}

static size_t table_bytes(const twi_cuda_gaussian_kernel *kernel)
{
    return (size_t)PLANES * (size_t)(kernel->parts_x + 2 * kernel->parts_y) * PART_WORDS * sizeof(uint32_t);
}

static void fill_table(const tw_problem *problem, const twi_cuda_gaussian_kernel *kernel, uint32_t *part)
{
    const axis along = axis_of(problem->sigma_x, problem->window.width, problem->channels);
    const axis down = axis_of(problem->sigma_y, problem->window.height, 1);
    for (int plane = 0; plane < PLANES; plane++)
        for (int k = 0; k < kernel->parts_x; k++, part += PART_WORDS)
            fill_along(&along, &kernel->band, plane, k, part);
    for (int odd = 0; odd < 2; odd++)
        for (int plane = 0; plane < PLANES; plane++)
            for (int k = 0; k < kernel->parts_y; k++, part += PART_WORDS)
                fill_down(&down, kernel, odd, plane, k, part);
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static tw_status prepare_tensor(tw_plan *plan)
{
    const twi_cuda_gaussian_kernel *kernel = kernel_of(&plan->problem);
    void *table = NULL;
    TWI_TRY(twi_cuda_load_kernel(plan, kernel->kernel, (size_t)kernel->band.shared));
    TWI_TRY(twi_plan_scratch(plan, table_bytes(kernel)));
    TWI_TRY(twi_host_allocate(plan->context, table_bytes(kernel), &table));
    fill_table(&plan->problem, kernel, table);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, table, table_bytes(kernel));
    twi_host_release(plan->context, table);
    return status;
}

static tw_status run_tensor(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_gaussian_kernel *kernel = kernel_of(&plan->problem);
    twi_cuda_gaussian argument = {.box = twi_cuda_box_arguments(plan, job), .weights = plan->scratch};
    return twi_cuda_launch_band(plan, kernel->kernel, &kernel->band, &argument, &argument.box, job->stream);
}

const twi_code twi_gaussian_tensor_cuda = {
    .refuses = refuses_tensor,
    .cost = cost_tensor,
    .prepare = prepare_tensor,
    .run = run_tensor,
};
