/* The CUDA back end: devices, contexts, memory, copies, and runs on device images. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/host.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

tw_status twi_cuda_fail(cudaError_t error, const char *call)
{
    const int name = (int)strcspn(call, "(");
    /* the runtime also keeps the error for its next caller, who did not cause it */
    (void)cudaGetLastError();
    return twi_fail(error == cudaErrorMemoryAllocation ? TW_ERROR_MEMORY : TW_ERROR_CUDA, "%.*s: %s", name, call,
                    cudaGetErrorString(error));
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* The number of devices; where there is none, 0 and why. */
static const char *count_devices(int *count)
{
    int driver = 0;
    *count = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return "no NVIDIA driver is installed";
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        *count = 0;
        return cudaGetErrorString(error);
    }
    return *count > 0 ? "" : "no CUDA device was found";
}

const char *tw_cuda_reason(void)
{
    int count = 0;
    return count_devices(&count);
}

static tw_status count_cuda(int *count)
{
    (void)count_devices(count);
    return TW_OK;
}

static tw_status describe_cuda(int device, tw_device_info *info)
{
    struct cudaDeviceProp properties;
    TWI_CUDA(cudaGetDeviceProperties(&properties, device));
    (void)snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    (void)snprintf(info->detail, sizeof info->detail, "compute capability %d.%d, %d multiprocessors, %.0f GiB",
                   properties.major, properties.minor, properties.multiProcessorCount,
                   (double)properties.totalGlobalMem / 0x1p30);
    return TW_OK;
}

tw_status twi_cuda_enter(const tw_context *context, int *before)
{
    TWI_CUDA(cudaGetDevice(before));
    TWI_CUDA(cudaSetDevice(context->device));
    return TW_OK;
}

tw_status twi_cuda_leave(int before, tw_status status)
{
    /* a failure here must not hide what has been done: the next call on a lost device fails anyway */
    (void)cudaSetDevice(before);
    return status;
}

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

static tw_status open_cuda(tw_context *context)
{
    int count = 0;
    int before = 0;
    const char *reason = count_devices(&count);
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
    while (state->pinned) { /* the list is ours; the memory is the caller's, who may still use it */
        twi_cuda_pinned *entry = state->pinned;
        state->pinned = entry->next;
        twi_host_release(context, entry);
    }
    twi_host_release(context, state);
    context->state = NULL;
    if (entered)
        (void)twi_cuda_leave(before, TW_OK);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

tw_status twi_cuda_allocate_device(size_t bytes, void **memory)
{
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess)
        return TW_OK;
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation)
        return twi_cuda_fail(error, "cudaMalloc");
    (void)cudaGetLastError();
    return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu bytes of device memory were refused", bytes);
}

tw_status twi_cuda_allocate_pinned(size_t bytes, void **memory)
{
    const cudaError_t error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    if (error == cudaSuccess)
        return TW_OK;
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation)
        return twi_cuda_fail(error, "cudaHostAlloc");
    (void)cudaGetLastError();
    return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu bytes of page-locked memory were refused", bytes);
}

/* Page-locked memory with its entry in the context's list. */
static tw_status allocate_listed(tw_context *context, size_t bytes, void **memory)
{
    twi_cuda_state *state = twi_cuda_state_of(context);
    void *place = NULL;
    TWI_TRY(twi_host_allocate(context, sizeof(twi_cuda_pinned), &place));
    const tw_status status = twi_cuda_allocate_pinned(bytes, memory);
    if (status != TW_OK) {
        twi_host_release(context, place);
        return status;
    }
    twi_cuda_pinned *entry = place;
    entry->memory = *memory;
    entry->next = state->pinned;
    state->pinned = entry;
    return TW_OK;
}

/* Ordinary memory in huge pages: first writes to a large image then fault rarely. It is only advice. */
static tw_status allocate_host(tw_context *context, size_t bytes, void **memory)
{
    const size_t page = (size_t)2 << 20;
    TWI_TRY(twi_host_allocate(context, bytes, memory));
    const size_t skip = (page - (uintptr_t)*memory % page) % page;
    if (bytes >= skip + page)
        (void)madvise((char *)*memory + skip, (bytes - skip) / page * page, MADV_HUGEPAGE);
    return TW_OK;
}

static tw_status allocate_cuda(tw_context *context, size_t bytes, tw_memory_kind kind, void **memory)
{
    int before = 0;
    if (kind == TW_MEMORY_HOST)
        return allocate_host(context, bytes, memory);
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, kind == TW_MEMORY_PINNED ? allocate_listed(context, bytes, memory)
                                                           : twi_cuda_allocate_device(bytes, memory));
}

/* Frees memory of the list; false if it is not there. */
static bool release_listed(tw_context *context, void *memory)
{
    for (twi_cuda_pinned **link = &twi_cuda_state_of(context)->pinned; *link; link = &(*link)->next) {
        twi_cuda_pinned *entry = *link;
        if (entry->memory != memory)
            continue;
        *link = entry->next;
        (void)cudaFreeHost(memory);
        twi_host_release(context, entry);
        return true;
    }
    return false;
}

static void release_cuda(tw_context *context, void *memory, tw_memory_kind kind)
{
    int before = 0;
    const bool entered = twi_cuda_enter(context, &before) == TW_OK;
    if (kind == TW_MEMORY_DEVICE)
        (void)cudaFree(memory);
    else if (!release_listed(context, memory))
        twi_host_release(context, memory);
    if (entered)
        (void)twi_cuda_leave(before, TW_OK);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

tw_status twi_cuda_copy_rows(const tw_context *context, void *dst, int64_t dst_pitch, const void *src,
                             int64_t src_pitch, int64_t row, int64_t rows, cudaStream_t stream)
{
    const int64_t limit = (int64_t)twi_cuda_state_of(context)->copy_pitch_limit;
    if (rows == 1 || (dst_pitch == row && src_pitch == row)) {
        TWI_CUDA(cudaMemcpyAsync(dst, src, (size_t)(rows * row), cudaMemcpyDefault, stream));
    } else if (dst_pitch <= limit && src_pitch <= limit) {
        TWI_CUDA(cudaMemcpy2DAsync(dst, (size_t)dst_pitch, src, (size_t)src_pitch, (size_t)row, (size_t)rows,
                                   cudaMemcpyDefault, stream));
    } else {
        for (int64_t y = 0; y < rows; y++)
            TWI_CUDA(cudaMemcpyAsync((char *)dst + y * dst_pitch, (const char *)src + y * src_pitch, (size_t)row,
                                     cudaMemcpyDefault, stream));
    }
    return TW_OK;
}

tw_status twi_cuda_send(const tw_context *context, void *device, const void *host, size_t bytes)
{
    cudaStream_t stream = twi_cuda_state_of(context)->compute;
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    cudaError_t error = cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return twi_cuda_leave(before, error == cudaSuccess ? TW_OK : twi_cuda_fail(error, "cudaMemcpyAsync"));
}

static int64_t image_row_bytes(const tw_image *image)
{
    return image->width * image->channels * (int64_t)tw_type_size(image->type);
}

static tw_status copy_image(const tw_context *context, const tw_image *src, const tw_image *dst)
{
    cudaStream_t stream = twi_cuda_state_of(context)->compute;
    TWI_TRY(twi_cuda_copy_rows(context, dst->data, dst->pitch, src->data, src->pitch, image_row_bytes(src), src->height,
                               stream));
    TWI_CUDA(cudaStreamSynchronize(stream));
    return TW_OK;
}

static tw_status copy_cuda(const tw_context *context, const tw_image *src, const tw_image *dst)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, copy_image(context, src, dst));
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

tw_status twi_cuda_start(const tw_plan *plan, const tw_image *src, const tw_image *dst, cudaStream_t stream,
                         twi_job *job)
{
    *job = (twi_job){.src = *src, .dst = *dst, .last = dst->height, .stream = stream};
    if (src->data != dst->data)
        return TW_OK;
    job->src.data = plan->copy;
    job->src.pitch = plan->copy_pitch;
    return twi_cuda_copy_rows(plan->context, plan->copy, plan->copy_pitch, src->data, src->pitch, image_row_bytes(src),
                              src->height, stream);
}

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
    .describe = describe_cuda,
    .allocate = allocate_cuda,
    .release = release_cuda,
    .copy = copy_cuda,
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
