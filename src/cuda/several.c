/* Several devices: which memory one reaches of another, rows that it fetches from there, and what it waits for. */
#include "core/image.h"
#include "cuda/host.h"

enum {
    MOST_NUMBER = 63,        /* of a device whose memory others are known to reach */
    LARGEST_FETCH = 4 << 20, /* bytes; of more, a copy engine's start is a small part */
};

/* ---- Reach ------------------------------------------------------------------------------------------- */

static bool reaches(const tw_context *context, const tw_context *other)
{
    return context->device == other->device ||
           (other->device <= MOST_NUMBER && twi_cuda_state_of(context)->reachable >> other->device & 1);
}

/* Where the hardware has no path between the two, or has as many as it can, the driver's copies go through the host's
   memory. */
static tw_status link_devices(const tw_context *context, const tw_context *other)
{
    int path = 0;
    if (context->device == other->device)
        return TW_OK;
    TWI_CUDA(cudaDeviceCanAccessPeer(&path, context->device, other->device));
    if (!path)
        return TW_OK;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other->device, 0);
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    if (error == cudaErrorTooManyPeers)
        return TW_OK;
    if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
        return twi_cuda_fail(error, "cudaDeviceEnablePeerAccess");
    if (other->device <= MOST_NUMBER)
        twi_cuda_state_of(context)->reachable |= UINT64_C(1) << other->device;
    return TW_OK;
}

tw_status twi_cuda_link(const tw_context *context, const tw_context *other)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, link_devices(context, other));
}

/* ---- Rows of others -------------------------------------------------------------------------------------- */

/* Whether a kernel fetches it: few bytes, for which a copy engine takes longer to start than to copy. */
static bool is_small(const tw_context *context, const twi_fetch *fetch)
{
    const uint64_t all = (uintptr_t)fetch->from.data | (uintptr_t)fetch->to.data | (uint64_t)fetch->from.pitch |
                         (uint64_t)fetch->to.pitch;
    return reaches(context, fetch->owner) && all % TWI_CUDA_COPY_BYTES == 0 &&
           (int64_t)twi_row_bytes(&fetch->from) <= LARGEST_FETCH / fetch->from.height;
}

static tw_status launch_fetches(twi_cuda_fetches *f, unsigned count, cudaStream_t stream)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < count; i++)
        most = f->list[i].vectors * f->list[i].rows > most ? f->list[i].vectors * f->list[i].rows : most;
    const dim3 grid = {(most + TWI_CUDA_COPY_THREADS - 1) / TWI_CUDA_COPY_THREADS, count, 1};
    const dim3 block = {TWI_CUDA_COPY_THREADS, 1, 1};
    void *arguments[] = {f};
    TWI_CUDA(cudaLaunchKernel(twi_cuda_fetch_kernel, grid, block, arguments, 0, stream));
    return TW_OK;
}

static tw_status queue_fetches(const tw_context *context, const twi_fetch *fetches, int count)
{
    cudaStream_t stream = twi_cuda_state_of(context)->compute;
    twi_cuda_fetches small;
    unsigned smalls = 0;
    for (int i = 0; i < count; i++) {
        const tw_image *from = &fetches[i].from;
        const tw_image *to = &fetches[i].to;
        if (!is_small(context, &fetches[i])) {
            TWI_TRY(twi_cuda_copy_rows(context, to->data, to->pitch, from->data, from->pitch,
                                       (int64_t)twi_row_bytes(from), from->height, stream));
            continue;
        }
        small.list[smalls++] = (twi_cuda_fetch){
            .from = from->data,
            .to = to->data,
            .from_pitch = from->pitch,
            .to_pitch = to->pitch,
            .bytes = (uint32_t)twi_row_bytes(from),
            .vectors = (uint32_t)twi_divide_up((int64_t)twi_row_bytes(from), TWI_CUDA_COPY_BYTES),
            .rows = (uint32_t)from->height,
        };
        if (smalls == TWI_CUDA_FETCHES) {
            TWI_TRY(launch_fetches(&small, smalls, stream));
            smalls = 0;
        }
    }
    return smalls > 0 ? launch_fetches(&small, smalls, stream) : TW_OK;
}

/* ---- Sums ---------------------------------------------------------------------------------------------------- */

tw_status twi_cuda_add_row(const tw_context *context, const tw_image *row, const tw_image *dst)
{
    static const twi_cuda_shape shape = {64, 4, 64, 4, 0};
    const int kind = dst->type == TW_F64            ? TWI_CUDA_ADD_DOUBLE
                     : tw_type_size(dst->type) == 4 ? TWI_CUDA_ADD_32
                                                    : TWI_CUDA_ADD_64;
    twi_cuda_addition argument = {
        .row = row->data,
        .dst = dst->data,
        .dst_pitch = dst->pitch,
        .columns = dst->width * dst->channels,
        .rows = dst->height,
    };
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, twi_cuda_launch(twi_cuda_addition_kernels[kind], &shape, &argument, argument.columns,
                                                  &argument.left, &argument.first, argument.rows,
                                                  twi_cuda_state_of(context)->compute));
}

/* ---- Turns ------------------------------------------------------------------------------------------------- */

static tw_status queue_turn(const twi_turn *turn)
{
    const twi_cuda_state *state = twi_cuda_state_of(turn->plan->context);
    twi_job job;
    TWI_TRY(queue_fetches(turn->plan->context, turn->fetches, turn->fetch_count));
    TWI_TRY(twi_cuda_start(turn->plan, &turn->src, &turn->dst, state->compute, &job));
    job.dst = twi_from_row(&turn->dst, turn->first);
    job.first = turn->first;
    job.last = turn->first + turn->dst.height;
    TWI_TRY(turn->plan->variant->code->run(turn->plan, &job));
    TWI_CUDA(cudaEventRecord(state->turned, state->compute));
    return TW_OK;
}

tw_status twi_cuda_queue_turn(const twi_turn *turn)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(turn->plan->context, &before));
    return twi_cuda_leave(before, queue_turn(turn));
}

static tw_status queue_waits(const tw_context *context, const tw_context *const *others, int count)
{
    for (int i = 0; i < count; i++)
        TWI_CUDA(cudaStreamWaitEvent(twi_cuda_state_of(context)->compute, twi_cuda_state_of(others[i])->turned, 0));
    return TW_OK;
}

tw_status twi_cuda_await(const tw_context *context, const tw_context *const *others, int count)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, queue_waits(context, others, count));
}

static tw_status finish(const tw_context *context)
{
    TWI_CUDA(cudaStreamSynchronize(twi_cuda_state_of(context)->compute));
    return TW_OK;
}

tw_status twi_cuda_finish(const tw_context *context)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, finish(context));
}
