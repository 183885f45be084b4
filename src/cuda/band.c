/* CUDA, the kernels called tensor that march down strips (band.cuh): how strips are cut, matrices of weights. */
#include "cuda/host.h"

enum { STRIP = 128, STEP = 16, LEAST_ROWS = 64, PART_WORDS = TWI_CUDA_PART_WORDS };

const char *twi_cuda_refuses_band(const tw_context *context, const tw_problem *problem)
{
    if (context && twi_cuda_state_of(context)->capability < 80)
        return "it needs tensor cores of compute capability 8.0 or later";
    return twi_cuda_refuses_march(problem);
}

/* ---- Strips ---------------------------------------------------------------------------------------- */

/* Rows of a block: as few waves of blocks as the kernel's limit of rows allows, each filling the device. */
static int32_t strip_rows(const tw_plan *plan, const twi_cuda_band *band, int64_t columns, int64_t rows)
{
    const int64_t wave = band->blocks * (int64_t)twi_cuda_state_of(plan->context)->processors;
    const int64_t strips = twi_divide_up(columns, STRIP);
    const int64_t waves = twi_divide_up(rows * strips, band->rows * wave);
    const int64_t chunks = twi_max_i64(1, waves * wave / strips);
    const int64_t whole = twi_divide_up(twi_divide_up(rows, chunks), STEP) * STEP;
    return (int32_t)twi_min_i64(band->rows, twi_max_i64(LEAST_ROWS, whole));
}

tw_status twi_cuda_launch_band(const tw_plan *plan, const void *kernel, const twi_cuda_band *band, void *argument,
                               twi_cuda_box *box, void *stream)
{
    const int64_t columns = box->width * box->channels;
    box->strip_width = STRIP;
    box->strip_height = strip_rows(plan, band, columns, box->last - box->first);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = 4,
        .outputs_width = STRIP,
        .outputs_height = (unsigned)box->strip_height,
        .shared = (size_t)band->shared,
    };
    return twi_cuda_launch(kernel, &shape, argument, columns, &box->left, &box->first, box->last, stream);
}

/* ---- Kernels with weights ------------------------------------------------------------------------------ */

static int64_t reach_of(int32_t size, int32_t anchor)
{
    return twi_max_i64(anchor, size - 1 - anchor);
}

const twi_cuda_band_kernel *twi_cuda_find_band(const twi_cuda_band_kernel *kernels, int count,
                                               const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    for (int i = 0; i < count; i++)
        if (reach_of(window->width, window->anchor_x) * problem->channels <= kernels[i].band.reach_x &&
            reach_of(window->height, window->anchor_y) <= kernels[i].band.reach_y)
            return &kernels[i];
    return NULL;
}

/* The products of 16 rows of a warp, and what all kernels do beside them. */
double twi_cuda_band_cost(const twi_cuda_band_kernel *kernel, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double products = kernel->planes * (4.0 * kernel->parts_x + 8.0 * kernel->parts_y);
    return 9000 + outputs * (0.00035 + 0.000018 * products);
}

/* The weights of one axis. */
typedef struct axis {
    const int32_t *weights;
    int32_t taps;
    int32_t anchor; /* the tap at the output */
    int32_t step;   /* from tap to tap, in elements or rows */
} axis;

/* Byte `plane` of the weight at that distance from the output, 0 the low one; 0 where there is no weight. */
static uint32_t byte_at(const axis *a, int32_t distance, int plane)
{
    const int32_t place = distance + a->anchor * a->step;
    if (place < 0 || place >= a->taps * a->step || place % a->step != 0)
        return 0;
    return (uint32_t)a->weights[place / a->step] >> (8 * plane) & 255;
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
static void fill_down(const axis *a, const twi_cuda_band_kernel *kernel, int odd, int plane, int k, uint32_t *part)
{
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int32_t step = (2 * k + odd + i / 2) % (2 * kernel->parts_y);
            const int32_t output = lane / 4 + 8 * (i % 2);
            const int32_t row = STEP * step + 2 * (lane % 4);
            part[4 * lane + i] = word_at(a, row - output - kernel->band.reach_y, 8, plane);
        }
    }
}

static size_t parts_bytes(const twi_cuda_band_kernel *kernel)
{
    return (size_t)(kernel->planes * (kernel->parts_x + 2 * kernel->parts_y)) * PART_WORDS * sizeof(uint32_t);
}

static void fill_parts(const axis *along, const axis *down, const twi_cuda_band_kernel *kernel, uint32_t *part)
{
    for (int plane = 0; plane < kernel->planes; plane++)
        for (int k = 0; k < kernel->parts_x; k++, part += PART_WORDS)
            fill_along(along, &kernel->band, plane, k, part);
    for (int odd = 0; odd < 2; odd++)
        for (int plane = 0; plane < kernel->planes; plane++)
            for (int k = 0; k < kernel->parts_y; k++, part += PART_WORDS)
                fill_down(down, kernel, odd, plane, k, part);
}

tw_status twi_cuda_prepare_band(tw_plan *plan, const twi_cuda_band_kernel *kernel, const int32_t *row,
                                const int32_t *column)
{
    const tw_window *window = &plan->problem.window;
    const axis along = {row, window->width, window->anchor_x, plan->problem.channels};
    const axis down = {column, window->height, window->anchor_y, 1};
    void *parts = NULL;
    TWI_TRY(twi_cuda_load_kernel(plan, kernel->kernel, (size_t)kernel->band.shared));
    TWI_TRY(twi_plan_scratch(plan, parts_bytes(kernel)));
    TWI_TRY(twi_host_allocate(plan->context, parts_bytes(kernel), &parts));
    fill_parts(&along, &down, kernel, parts);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, parts, parts_bytes(kernel));
    twi_host_release(plan->context, parts);
    return status;
}
