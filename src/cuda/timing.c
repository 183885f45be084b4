/* Times on the device: launches in a row between two events, or as one CUDA graph. */
#include <time.h>

#include "core/image.h"
#include "cuda/host.h"

/* What is timed: a plan, or, without one, plain copies. */
typedef struct series {
    tw_context *context;
    tw_plan *plan;
    const tw_image *src;
    const tw_image *dst;
    size_t pairs;
    int launches;
} series;

/* The bytes from an image's first pixel to its last, the gaps between rows included. */
static int64_t span(const tw_image *image)
{
    return image->pitch * (image->height - 1) + (int64_t)twi_row_bytes(image);
}

/* Where the types differ, as many bytes as the smaller image has. */
static tw_status queue_copy(const tw_context *context, const tw_image *src, const tw_image *dst, cudaStream_t stream)
{
    const uint64_t per_block = (uint64_t)TWI_CUDA_COPY_THREADS * TWI_CUDA_COPY_BYTES;
    const void *from = src->data;
    void *to = dst->data;
    uint64_t bytes = (uint64_t)twi_min_i64(span(src), span(dst));
    const uint64_t blocks = (bytes + per_block - 1) / per_block;
    const bool aligned = ((uintptr_t)from | (uintptr_t)to) % TWI_CUDA_COPY_BYTES == 0;
    const bool device = src->memory == TW_DEVICE && dst->memory == TW_DEVICE;
    if (!device || src->pitch != dst->pitch || !aligned || blocks > INT32_MAX)
        return twi_cuda_copy_rows(context, to, dst->pitch, from, src->pitch,
                                  twi_min_i64((int64_t)twi_row_bytes(src), (int64_t)twi_row_bytes(dst)), src->height,
                                  stream);
    void *arguments[] = {&from, &to, &bytes};
    const dim3 grid = {(unsigned)blocks, 1, 1};
    const dim3 block = {TWI_CUDA_COPY_THREADS, 1, 1};
    TWI_CUDA(cudaLaunchKernel(twi_cuda_copy_kernel, grid, block, arguments, 0, stream));
    return TW_OK;
}

static tw_status queue_series(const series *s, cudaStream_t stream)
{
    for (int i = 0; i < s->launches; i++) {
        const size_t pair = (size_t)i % s->pairs;
        twi_job job;
        if (!s->plan) {
            TWI_TRY(queue_copy(s->context, &s->src[pair], &s->dst[pair], stream));
        } else {
            TWI_TRY(twi_cuda_start(s->plan, &s->src[pair], &s->dst[pair], stream, &job));
            TWI_TRY(s->plan->variant->code->run(s->plan, &job));
        }
    }
    return TW_OK;
}

/* The time between the two events, once the device has passed both. */
static tw_status elapsed(const twi_cuda_state *state, double *milliseconds)
{
    float time = 0;
    TWI_CUDA(cudaEventSynchronize(state->end));
    TWI_CUDA(cudaEventElapsedTime(&time, state->begin, state->end));
    *milliseconds = (double)time;
    return TW_OK;
}

static tw_status time_stream(const series *s, double *milliseconds)
{
    const twi_cuda_state *state = twi_cuda_state_of(s->context);
    TWI_CUDA(cudaEventRecord(state->begin, state->compute));
    TWI_TRY(queue_series(s, state->compute));
    TWI_CUDA(cudaEventRecord(state->end, state->compute));
    return elapsed(state, milliseconds);
}

/* Records the series as a graph instead of running it. The capture is ended even if queueing failed. */
static tw_status capture(const series *s, cudaStream_t stream, cudaGraph_t *graph)
{
    TWI_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    const tw_status status = queue_series(s, stream);
    const cudaError_t error = cudaStreamEndCapture(stream, graph);
    if (status != TW_OK) {
        (void)cudaGetLastError();
        return status;
    }
    return error == cudaSuccess ? TW_OK : twi_cuda_fail(error, "cudaStreamEndCapture");
}

static tw_status time_launch(const twi_cuda_state *state, cudaGraphExec_t ready, double *milliseconds)
{
    TWI_CUDA(cudaGraphLaunch(ready, state->compute)); /* the first launch also uploads the graph */
    TWI_CUDA(cudaStreamSynchronize(state->compute));
    TWI_CUDA(cudaEventRecord(state->begin, state->compute));
    TWI_CUDA(cudaGraphLaunch(ready, state->compute));
    TWI_CUDA(cudaEventRecord(state->end, state->compute));
    return elapsed(state, milliseconds);
}

static tw_status time_graph(const series *s, double *milliseconds)
{
    const twi_cuda_state *state = twi_cuda_state_of(s->context);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    tw_status status = capture(s, state->compute, &graph);
    if (status == TW_OK) {
        const cudaError_t error = cudaGraphInstantiate(&ready, graph, 0);
        status = error == cudaSuccess ? time_launch(state, ready, milliseconds)
                                      : twi_cuda_fail(error, "cudaGraphInstantiate");
    }
    if (ready)
        (void)cudaGraphExecDestroy(ready);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return status;
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

/* Host images: whole round trips, by the host's clock. */
static tw_status time_host(const series *s, double *milliseconds)
{
    const double begin = now();
    for (int i = 0; i < s->launches; i++) {
        const size_t pair = (size_t)i % s->pairs;
        TWI_TRY(twi_cuda_run_host(s->plan, &s->src[pair], &s->dst[pair], 0));
    }
    *milliseconds = now() - begin;
    return TW_OK;
}

tw_status twi_cuda_time(tw_context *context, tw_plan *plan, const tw_image *src, const tw_image *dst, size_t pairs,
                        int launches, bool graph, double *milliseconds)
{
    const series s = {context, plan, src, dst, pairs, launches};
    int before = 0;
    tw_status status;
    TWI_TRY(twi_cuda_enter(context, &before));
    if (plan && plan->problem.memory == TW_HOST)
        status = time_host(&s, milliseconds);
    else
        status = graph ? time_graph(&s, milliseconds) : time_stream(&s, milliseconds);
    return twi_cuda_leave(before, status);
}
