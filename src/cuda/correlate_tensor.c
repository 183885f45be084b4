/* correlate on CUDA, variant tensor: the mask as banded matrices, the shape of blocks (correlate_tensor.cu). */
#include "cuda/planes.h"

enum { MOST_PLANES = 3, PART = 32, PIECE = 16, STEPS = 4, MOST_WARPS_DOWN = 4 };

/* Rows that a step makes. */
static int64_t step_of(int warps_down)
{
    return (int64_t)TWI_CUDA_BAND_HEIGHT * warps_down;
}

/* How a problem is cut up. */
typedef struct layout {
    int planes;
    int64_t parts; /* of a mask's row */
    int64_t before;
    int64_t staged;
    int64_t pitch;
    int stages;
    int warps_down;
    int64_t shared; /* bytes of a block's shared memory */
} layout;

static int64_t shared_of(const tw_problem *problem, const layout *l)
{
    const int64_t rows = step_of(l->warps_down) + problem->window.height - 1;
    return l->stages * rows * l->pitch + l->staged * (int64_t)sizeof(int32_t);
}

/* With two stages in `limit` bytes if they have room; else a block is one step, of as many rows as fit. */
static layout lay_out(const tw_problem *problem, int64_t limit)
{
    const tw_window *window = &problem->window;
    const int64_t left = (int64_t)window->anchor_x * problem->channels;
    const int64_t right = (int64_t)(window->width - 1 - window->anchor_x) * problem->channels;
    layout l = {
        .planes = twi_cuda_planes(problem),
        .before = twi_round_up(left, 4),
        .stages = 2,
        .warps_down = 1,
    };
    /* the last of 16 output columns must find its last pixel in the last part */
    l.parts = twi_round_up(l.before + 15 + right + 1, PART) / PART;
    l.staged =
        twi_round_up(twi_round_up(l.before, PIECE) - l.before + TWI_CUDA_BAND_WIDTH - 16 + PART * l.parts, PIECE);
    l.pitch = l.staged + (l.staged / PIECE % 2 == 0 ? PIECE : 0);
    if (shared_of(problem, &l) > limit) {
        l.stages = 1;
        l.warps_down = MOST_WARPS_DOWN;
        while (l.warps_down > 1 && shared_of(problem, &l) > limit)
            l.warps_down--;
    }
    l.shared = shared_of(problem, &l);
    return l;
}

static layout layout_of(const tw_plan *plan)
{
    return lay_out(&plan->problem, (int64_t)twi_cuda_state_of(plan->context)->shared_limit);
}

static const char *refuses_tensor(const tw_context *context, const tw_problem *problem)
{
    const char *reason = twi_cuda_refuses_planes(problem, MOST_PLANES);
    if (!reason)
        reason = twi_cuda_refuses_band(context, problem);
    if (reason || !context)
        return reason;
    const int64_t limit = (int64_t)twi_cuda_state_of(context)->shared_limit;
    return lay_out(problem, limit).shared > limit
               ? "the rows that such a window reads do not fit in the device's shared memory"
               : NULL;
}

/* A row of the mask is a product for each plane and part. */
static double cost_tensor(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const layout l = lay_out(problem, INT32_MAX);
    const double moved = (double)tw_type_size(problem->out_type);
    (void)context;
    return 8000 +
           outputs * (0.0005 + 0.00024 * moved + 0.00007 * (double)(l.planes * l.parts * problem->window.height));
}

/* ---- Matrices ------------------------------------------------------------------------------------------ */

/* The mask's column that a pixel meets, -1 if none: pixel and output counted in the elements of a part's first
   32 and of its 16 outputs. */
static int64_t column_at(const tw_problem *problem, const layout *l, int64_t pixel, int64_t output)
{
    const int64_t from = pixel - l->before - output + (int64_t)problem->window.anchor_x * problem->channels;
    const int64_t column = from / problem->channels;
    return from >= 0 && from % problem->channels == 0 && column < problem->window.width ? column : -1;
}

/* The words of all lanes for a row of the mask and a part, in each plane `stride` bytes apart. */
static void fill_row(const tw_problem *problem, const layout *l, int64_t part, int64_t row, int64_t stride, uint8_t *to)
{
    for (int at = 0; at < TWI_CUDA_BAND_WORDS * 4; at++) {
        const int lane = at / 16;
        const int word = at / 4 % 4;
        const int64_t pixel = PART * part + 16 * (word / 2) + 4 * (lane % 4) + at % 4;
        const int64_t column = column_at(problem, l, pixel, 2 * (lane / 4) + word % 2);
        uint8_t bytes[MOST_PLANES] = {0};
        if (column >= 0)
            (void)twi_cuda_cut(twi_cuda_weight(problem, row * problem->window.width + column), l->planes, bytes);
        for (int plane = 0; plane < l->planes; plane++)
            to[plane * stride + at] = bytes[plane];
    }
}

static tw_status prepare_tensor(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const layout l = layout_of(plan);
    const int64_t row_bytes = TWI_CUDA_BAND_WORDS * 4;
    const int64_t stride = l.parts * problem->window.height * row_bytes;
    const size_t bytes = (size_t)(l.planes * stride);
    void *memory = NULL;
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_correlate_tensor_kernels[problem->out_type], (size_t)l.shared));
    TWI_TRY(twi_plan_scratch(plan, bytes));
    TWI_TRY(twi_host_allocate(plan->context, bytes, &memory));
    uint8_t *to = memory;
    for (int64_t part = 0; part < l.parts; part++)
        for (int64_t row = 0; row < problem->window.height; row++, to += row_bytes)
            fill_row(problem, &l, part, row, stride, to);
    const tw_status status = twi_cuda_send(plan->context, plan->scratch, memory, bytes);
    twi_host_release(plan->context, memory);
    return status;
}

static tw_status run_tensor(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const layout l = layout_of(plan);
    const int64_t strip = step_of(l.warps_down) * (l.stages > 1 ? STEPS : 1);
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = (unsigned)(TWI_CUDA_BAND_WARPS * l.warps_down),
        .outputs_width = TWI_CUDA_BAND_WIDTH,
        .outputs_height = (unsigned)strip,
        .shared = (size_t)l.shared,
    };
    twi_cuda_correlate_tensor argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .quotient = twi_cuda_quotient_of(problem),
        .matrices = plan->scratch,
        .planes = l.planes,
        .parts = (int32_t)l.parts,
        .before = (int32_t)l.before,
        .staged = (int32_t)l.staged,
        .pitch = (int32_t)l.pitch,
        .stages = l.stages,
    };
    argument.box.strip_height = (int32_t)strip;
    return twi_cuda_launch(twi_cuda_correlate_tensor_kernels[problem->out_type], &shape, &argument,
                           problem->width * problem->channels, &argument.box.left, &argument.box.first, job->last,
                           job->stream);
}

const twi_code twi_correlate_tensor_cuda = {
    .refuses = refuses_tensor,
    .cost = cost_tensor,
    .prepare = prepare_tensor,
    .run = run_tensor,
};
