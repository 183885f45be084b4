/* How kernels are started: what all arguments have, blocks, grids. */
#include "core/exact.h"
#include "cuda/host.h"

_Static_assert((int)TWI_CUDA_U8 == (int)TW_U8 && (int)TWI_CUDA_U16 == (int)TW_U16 && (int)TWI_CUDA_I16 == (int)TW_I16 &&
                   (int)TWI_CUDA_I32 == (int)TW_I32 && (int)TWI_CUDA_F32 == (int)TW_F32 &&
                   (int)TWI_CUDA_F64 == (int)TW_F64,
               "cuda.h and tilewise.h number the types alike");

/* The hardware's limits of a grid, the same for every device. */
static const int64_t most_blocks_x = INT32_MAX;
static const int64_t most_blocks_y = 65535;

/* Whether every sum of the window, with the rounding's count / 2 added, fits in 32 bits: u16 and i16 up to
   65536 positions (i16 is offset by 32768 to be positive), u8 up to 2^24. */
static bool narrow_sums(const tw_problem *problem, int64_t count)
{
    switch (problem->type) {
    case TW_U8:
        return count <= 1 << 24;
    case TW_U16:
    case TW_I16:
        return count <= 1 << 16;
    default:
        return false;
    }
}

/* The value that a position outside reads, as the image's type holds it. */
static double border_value(const tw_problem *problem)
{
    if (problem->border.mode != TW_BORDER_CONSTANT)
        return 0;
    return problem->type == TW_F32 ? (double)(float)problem->border.value : problem->border.value;
}

twi_cuda_box twi_cuda_box_arguments(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    const int64_t count = (int64_t)window->width * window->height;
    const twi_cuda_box box = {
        .src = job->src.data,
        .dst = job->dst.data,
        .src_pitch = job->src.pitch,
        .dst_pitch = job->dst.pitch,
        .width = problem->width,
        .height = problem->height,
        .first = job->first,
        .last = job->last,
        .channels = problem->channels,
        .window_width = window->width,
        .window_height = window->height,
        .anchor_x = window->anchor_x,
        .anchor_y = window->anchor_y,
        .row_before = twi_border_index(-1, problem->height, (int)problem->border.mode),
        .row_after = twi_border_index(problem->height, problem->height, (int)problem->border.mode),
        .column_before = twi_border_index(-1, problem->width, (int)problem->border.mode),
        .column_after = twi_border_index(problem->width, problem->width, (int)problem->border.mode),
        .border = (int32_t)problem->border.mode,
        .nearest = problem->rounding == TW_ROUND_NEAREST,
        .narrow = narrow_sums(problem, count),
        .value = border_value(problem),
        .count = count,
        .inverse = 1.0 / (double)count,
        .reciprocal = count > 1 ? UINT64_MAX / (uint64_t)count + 1 : 0,
    };
    return box;
}

tw_status twi_cuda_block_shape(const tw_plan *plan, unsigned width, unsigned height, twi_cuda_shape *shape)
{
    const int64_t limit = twi_cuda_state_of(plan->context)->block_limit;
    if (plan->block_width > 0) {
        width = (unsigned)plan->block_width;
        height = (unsigned)plan->block_height;
    }
    if ((int64_t)width > limit || (int64_t)height > limit || (int64_t)width * height > limit)
        return twi_fail(TW_ERROR_ARGUMENT, "block %ux%u: the device's blocks have at most %d threads", width, height,
                        (int)limit);
    *shape = (twi_cuda_shape){width, height, width, height, 0};
    return TW_OK;
}

size_t twi_cuda_tile_bytes(const tw_problem *problem, int64_t block_width, int64_t block_height)
{
    const int64_t width = block_width + (int64_t)(problem->window.width - 1) * problem->channels;
    const int64_t height = block_height + problem->window.height - 1;
    return (size_t)(width * height) * tw_type_size(problem->type);
}

const char *twi_cuda_refuses_tile(const tw_context *context, const tw_problem *problem, int block_width,
                                  int block_height)
{
    if (context && twi_cuda_tile_bytes(problem, block_width, block_height) > twi_cuda_state_of(context)->shared_limit)
        return "the tile of such a window does not fit in the device's shared memory";
    return NULL;
}

/* On a device that is current. */
static tw_status load_kernel(const tw_plan *plan, const void *kernel, size_t shared)
{
    struct cudaFuncAttributes attributes;
    const size_t limit = twi_cuda_state_of(plan->context)->shared_limit;
    TWI_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.sharedSizeBytes > limit || shared > limit - attributes.sharedSizeBytes)
        return twi_fail(TW_ERROR_UNSUPPORTED,
                        "variant %s needs %zu bytes of shared memory a block, the device has %zu: use a smaller block "
                        "or another variant",
                        plan->variant->name, shared + attributes.sharedSizeBytes, limit);
    if (shared > (size_t)attributes.maxDynamicSharedSizeBytes)
        TWI_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    return TW_OK;
}

tw_status twi_cuda_load_kernel(const tw_plan *plan, const void *kernel, size_t shared)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, load_kernel(plan, kernel, shared));
}

/* twi_cuda_launch(); `attribute`, if any, is that of each launch. */
static tw_status launch_all(const void *kernel, const twi_cuda_shape *shape, void *argument, int64_t columns,
                            int64_t *left, int64_t *first, int64_t last, void *stream, cudaLaunchAttribute *attribute)
{
    const int64_t most_rows = most_blocks_y * shape->outputs_height;
    const int64_t most_columns = most_blocks_x * shape->outputs_width;
    void *arguments[] = {argument};
    cudaLaunchConfig_t launch = {.blockDim = {shape->block_width, shape->block_height, 1},
                                 .dynamicSmemBytes = shape->shared,
                                 .stream = stream,
                                 .attrs = attribute,
                                 .numAttrs = attribute ? 1 : 0};
    for (; *first < last; *first += most_rows) {
        const int64_t down = twi_divide_up(twi_min_i64(last - *first, most_rows), shape->outputs_height);
        for (*left = 0; *left < columns; *left += most_columns) {
            const int64_t across = twi_divide_up(twi_min_i64(columns - *left, most_columns), shape->outputs_width);
            launch.gridDim = (dim3){(unsigned)across, (unsigned)down, 1};
            TWI_CUDA(cudaLaunchKernelExC(&launch, kernel, arguments));
        }
    }
    return TW_OK;
}

tw_status twi_cuda_launch(const void *kernel, const twi_cuda_shape *shape, void *argument, int64_t columns,
                          int64_t *left, int64_t *first, int64_t last, void *stream)
{
    return launch_all(kernel, shape, argument, columns, left, first, last, stream, NULL);
}

tw_status twi_cuda_launch_early(const tw_plan *plan, const void *kernel, const twi_cuda_shape *shape, void *argument,
                                int64_t columns, int64_t *left, int64_t *first, int64_t last, void *stream)
{
    cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                 .val = {.programmaticStreamSerializationAllowed = 1}};
    return launch_all(kernel, shape, argument, columns, left, first, last, stream,
                      twi_cuda_state_of(plan->context)->early ? &early : NULL);
}

tw_status twi_cuda_launch_box(const void *kernel, const twi_cuda_shape *shape, twi_cuda_box box, void *stream)
{
    return twi_cuda_launch(kernel, shape, &box, box.width * box.channels, &box.left, &box.first, box.last, stream);
}

bool twi_cuda_aligned_to(const twi_job *job, uint64_t bytes)
{
    const uint64_t all =
        (uintptr_t)job->src.data | (uintptr_t)job->dst.data | (uint64_t)job->src.pitch | (uint64_t)job->dst.pitch;
    return all % bytes == 0;
}

int32_t twi_cuda_strip_rows(const tw_plan *plan, int64_t strips, int64_t rows, const twi_cuda_strip *strip)
{
    const int64_t wave = strip->blocks * (int64_t)twi_cuda_state_of(plan->context)->processors;
    const int64_t most = twi_min_i64(512, twi_divide_up(rows, strip->least));
    double least = 0;
    int64_t best = 1;
    for (int64_t chunks = 1; chunks <= most; chunks++) {
        const int64_t each = twi_divide_up(twi_divide_up(rows, chunks), strip->step) * strip->step;
        const double time = (double)twi_divide_up(strips * chunks, wave) * ((double)each + strip->before);
        if (chunks == 1 || time < least) {
            least = time;
            best = each;
        }
    }
    return (int32_t)twi_min_i64(best, (1 << 20) / strip->step * strip->step);
}

tw_status twi_cuda_start(const tw_plan *plan, const tw_image *src, const tw_image *dst, cudaStream_t stream,
                         twi_job *job)
{
    *job = (twi_job){.src = *src, .dst = *dst, .last = dst->height, .stream = stream};
    if (src->data != dst->data)
        return TW_OK;
    job->src.data = plan->copy;
    job->src.pitch = plan->copy_pitch;
    return twi_cuda_copy_rows(plan->context, plan->copy, plan->copy_pitch, src->data, src->pitch,
                              twi_cuda_row_bytes(&plan->problem, src->type), src->height, stream);
}
