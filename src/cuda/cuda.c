/* The CUDA back end: contexts, and runs on device images. */
#include <string.h>

#include "cuda/host.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

static tw_status read_limits(twi_cuda_state *state, int device)
{
    struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;
    TWI_CUDA(cudaGetDeviceProperties(&properties, device));
    /* asking for one kernel shows whether this build has code for the device, and that the device answers */
    const cudaError_t error = cudaFuncGetAttributes(&attributes, twi_cuda_copy_kernel);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return twi_fail(TW_ERROR_DEVICE, "CUDA device %d, %s, compute capability %d.%d: %s", device, properties.name,
                        properties.major, properties.minor, cudaGetErrorString(error));
    }
    state->shared_limit = properties.sharedMemPerBlockOptin;
    state->block_limit = properties.maxThreadsPerBlock;
    state->processors = properties.multiProcessorCount;
    state->capability = 10 * properties.major + properties.minor;
    state->early = state->capability >= 90 && attributes.ptxVersion >= 90; /* older code does not wait */
    TWI_CUDA(cudaDeviceGetAttribute(&state->f64_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device));
    state->copy_pitch_limit = properties.memPitch;
    state->texture_alignment = properties.textureAlignment;
    state->texture_pitch_alignment = properties.texturePitchAlignment;
    for (int i = 0; i < 3; i++)
        state->texture_limit[i] = properties.maxTexture2DLinear[i];
    return TW_OK;
}

static tw_status fill_state(twi_cuda_state *state, int device)
{
    TWI_TRY(read_limits(state, device));
    TWI_CUDA(cudaStreamCreate(&state->compute));
    TWI_CUDA(cudaStreamCreateWithFlags(&state->upload, cudaStreamNonBlocking));
    TWI_CUDA(cudaStreamCreateWithFlags(&state->download, cudaStreamNonBlocking));
    TWI_CUDA(cudaEventCreate(&state->begin));
    TWI_CUDA(cudaEventCreate(&state->end));
    TWI_CUDA(cudaEventCreateWithFlags(&state->computed, cudaEventDisableTiming));
    TWI_CUDA(cudaEventCreateWithFlags(&state->turned, cudaEventDisableTiming));
    for (int i = 0; i < TWI_CUDA_SLOTS; i++) {
        TWI_CUDA(cudaEventCreateWithFlags(&state->arrived[i], cudaEventDisableTiming));
        TWI_CUDA(cudaEventCreateWithFlags(&state->departed[i], cudaEventDisableTiming));
    }
    return TW_OK;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        (void)cudaEventDestroy(event);
}

static void destroy_stream(cudaStream_t stream)
{
    if (stream)
        (void)cudaStreamDestroy(stream);
}

/* Frees whatever there is. Failures are passed over: a lost device must not keep the host's memory. */
static void empty_state(tw_context *context)
{
    twi_cuda_state *state = twi_cuda_state_of(context);
    twi_cuda_free_transfer(context);
    destroy_stream(state->compute);
    destroy_stream(state->upload);
    destroy_stream(state->download);
    destroy_event(state->begin);
    destroy_event(state->end);
    destroy_event(state->computed);
    destroy_event(state->turned);
    for (int i = 0; i < TWI_CUDA_SLOTS; i++) {
        destroy_event(state->arrived[i]);
        destroy_event(state->departed[i]);
    }
    (void)cudaGetLastError();
}

/* On a device that is current. */
static tw_status open_device(tw_context *context)
{
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(context, sizeof(twi_cuda_state), &memory));
    memset(memory, 0, sizeof(twi_cuda_state));
    context->state = memory;
    const tw_status status = fill_state(memory, context->device);
    if (status == TW_OK)
        return TW_OK;
    empty_state(context);
    twi_host_release(context, memory);
    context->state = NULL;
    /* whatever it was, the device cannot be used, and the message says why */
    return TW_ERROR_DEVICE;
}

static tw_status count_cuda(int *count)
{
    (void)twi_cuda_count_devices(count);
    return TW_OK;
}

static tw_status open_cuda(tw_context *context)
{
    int count = 0;
    int before = 0;
    const char *reason = twi_cuda_count_devices(&count);
    if (count == 0)
        return twi_fail(TW_ERROR_DEVICE, "no CUDA device: %s", reason);
    if (context->device >= count)
        return twi_fail(TW_ERROR_DEVICE, "CUDA device %d: this machine has %d, numbered from 0", context->device,
                        count);
    if (twi_cuda_enter(context, &before) != TW_OK)
        return TW_ERROR_DEVICE;
    return twi_cuda_leave(before, open_device(context));
}

static void close_cuda(tw_context *context)
{
    int before = 0;
    const bool entered = twi_cuda_enter(context, &before) == TW_OK;
    empty_state(context);
    twi_cuda_state *state = twi_cuda_state_of(context);
    while (state->blocks) { /* the list is ours; the memory is the caller's, who may still use it */
        twi_cuda_block *entry = state->blocks;
        state->blocks = entry->next;
        twi_host_release(context, entry);
    }
    twi_host_release(context, state);
    context->state = NULL;
    if (entered)
        (void)twi_cuda_leave(before, TW_OK);
}

/* ---- Differences --------------------------------------------------------------------------------- */

static tw_status subtract_images(const tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst)
{
    static const twi_cuda_shape shape = {64, 4, 64, 4, 0};
    cudaStream_t stream = twi_cuda_state_of(context)->compute;
    twi_cuda_subtract argument = {
        .a = a->data,
        .b = b->data,
        .dst = dst->data,
        .a_pitch = a->pitch,
        .b_pitch = b->pitch,
        .dst_pitch = dst->pitch,
        .columns = dst->width * dst->channels,
        .rows = dst->height,
    };
    TWI_TRY(twi_cuda_launch(twi_cuda_subtract_kernels[dst->type], &shape, &argument, argument.columns, &argument.left,
                            &argument.first, argument.rows, stream));
    TWI_CUDA(cudaStreamSynchronize(stream));
    return TW_OK;
}

static tw_status subtract_cuda(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, subtract_images(context, a, b, dst));
}

/* ---- Runs on device images -------------------------------------------------------------------- */

/* Rows between two progress reports; without a callback all rows are one piece of work. */
static int64_t rows_per_report(const tw_plan *plan, int64_t height)
{
    const int64_t floor_rows = 8 * (int64_t)plan->problem.window.height;
    const bool pieces = plan->context->progress && !plan->variant->code->whole;
    return pieces ? twi_max_i64((height + 31) / 32, floor_rows) : height;
}

static tw_status run_device(const tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    cudaStream_t stream = twi_cuda_state_of(plan->context)->compute;
    const int64_t step = rows_per_report(plan, dst->height);
    const int64_t end = first + dst->height;
    twi_job job;
    TWI_TRY(twi_cuda_start(plan, src, dst, stream, &job));
    job.dst = twi_from_row(dst, first);
    for (job.first = first; job.first < end; job.first = job.last) {
        job.last = twi_min_i64(end, job.first + step);
        TWI_TRY(plan->variant->code->run(plan, &job));
        TWI_CUDA(cudaStreamSynchronize(stream));
        TWI_TRY(twi_report(plan->context, (double)(job.last - first) / (double)dst->height));
    }
    return TW_OK;
}

static tw_status run_cuda(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, plan->problem.memory == TW_DEVICE ? run_device(plan, src, dst, first)
                                                                    : twi_cuda_run_host(plan, src, dst, first));
}

static tw_status queue_device(const tw_plan *plan, const tw_image *src, const tw_image *dst, cudaStream_t stream)
{
    twi_job job;
    TWI_TRY(twi_cuda_start(plan, src, dst, stream, &job));
    return plan->variant->code->run(plan, &job);
}

static tw_status enqueue_cuda(tw_plan *plan, const tw_image *src, const tw_image *dst, void *stream)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, queue_device(plan, src, dst, stream));
}

static tw_status prepare_cuda(tw_plan *plan)
{
    int before = 0;
    if (plan->problem.memory == TW_DEVICE)
        return TW_OK;
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, twi_cuda_reserve(plan));
}

static tw_status ask_occupancy(int device, const void *kernel, int threads, size_t dynamic, twi_occupancy *occupancy)
{
    struct cudaFuncAttributes attributes;
    TWI_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    if (dynamic > (size_t)attributes.maxDynamicSharedSizeBytes)
        TWI_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
    TWI_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occupancy->blocks, kernel, threads, dynamic));
    TWI_CUDA(cudaDeviceGetAttribute(&occupancy->threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    occupancy->registers = attributes.numRegs;
    occupancy->local = (int)attributes.localSizeBytes;
    return TW_OK;
}

static tw_status occupancy_cuda(tw_context *context, const void *kernel, int threads, size_t dynamic,
                                twi_occupancy *occupancy)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, ask_occupancy(context->device, kernel, threads, dynamic, occupancy));
}

const twi_backend twi_cuda_backend = {
    .id = TW_CUDA,
    .open = open_cuda,
    .close = close_cuda,
    .count = count_cuda,
    .describe = twi_cuda_describe,
    .free_memory = twi_cuda_free_memory,
    .allocate = twi_cuda_allocate,
    .release = twi_cuda_release,
    .copy = twi_cuda_copy,
    .prepare = prepare_cuda,
    .subtract = subtract_cuda,
    .add_row = twi_cuda_add_row,
    .run = run_cuda,
    .queue_turn = twi_cuda_queue_turn,
    .await = twi_cuda_await,
    .finish = twi_cuda_finish,
    .link = twi_cuda_link,
    .enqueue = enqueue_cuda,
    .time = twi_cuda_time,
    .occupancy = occupancy_cuda,
};
