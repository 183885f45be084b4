/* Memory of a context with a CUDA device, and copies between any two places. */
#include <sys/mman.h>

#include "core/image.h"
#include "cuda/host.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

tw_status twi_cuda_allocate_device(const tw_context *context, size_t bytes, void **memory)
{
    twi_cuda_state *state = twi_cuda_state_of(context);
    const uint64_t most = context->device_memory;
    *memory = NULL;
    if (most > 0 && (state->taken > most || bytes > most - state->taken))
        return twi_fail(
            TW_ERROR_MEMORY,
            "out of memory: %zu bytes of device memory beside %llu are more than the %llu that may be taken", bytes,
            (unsigned long long)state->taken, (unsigned long long)most);
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) {
        state->taken += bytes;
        return TW_OK;
    }
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation)
        return twi_cuda_fail(error, "cudaMalloc");
    (void)cudaGetLastError();
    return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu bytes of device memory were refused", bytes);
}

void twi_cuda_release_device(const tw_context *context, size_t bytes, void *memory)
{
    (void)cudaFree(memory);
    twi_cuda_state_of(context)->taken -= bytes;
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

/* Device or page-locked memory with its entry in the context's list. */
static tw_status allocate_listed(tw_context *context, size_t bytes, bool device, void **memory)
{
    twi_cuda_state *state = twi_cuda_state_of(context);
    void *place = NULL;
    TWI_TRY(twi_host_allocate(context, sizeof(twi_cuda_block), &place));
    const tw_status status =
        device ? twi_cuda_allocate_device(context, bytes, memory) : twi_cuda_allocate_pinned(bytes, memory);
    if (status != TW_OK) {
        twi_host_release(context, place);
        return status;
    }
    twi_cuda_block *entry = place;
    *entry = (twi_cuda_block){.memory = *memory, .bytes = device ? bytes : 0, .next = state->blocks};
    state->blocks = entry;
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

tw_status twi_cuda_allocate(tw_context *context, size_t bytes, tw_memory_kind kind, void **memory)
{
    int before = 0;
    if (kind == TW_MEMORY_HOST)
        return allocate_host(context, bytes, memory);
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, allocate_listed(context, bytes, kind == TW_MEMORY_DEVICE, memory));
}

/* Frees memory of the list; false if it is not there. */
static bool release_listed(tw_context *context, void *memory)
{
    for (twi_cuda_block **link = &twi_cuda_state_of(context)->blocks; *link; link = &(*link)->next) {
        twi_cuda_block *entry = *link;
        if (entry->memory != memory)
            continue;
        *link = entry->next;
        if (entry->bytes > 0)
            twi_cuda_release_device(context, entry->bytes, memory);
        else
            (void)cudaFreeHost(memory);
        twi_host_release(context, entry);
        return true;
    }
    return false;
}

void twi_cuda_release(tw_context *context, void *memory, tw_memory_kind kind)
{
    int before = 0;
    const bool entered = twi_cuda_enter(context, &before) == TW_OK;
    if (!release_listed(context, memory) && kind != TW_MEMORY_DEVICE)
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

static tw_status copy_image(const tw_context *context, const tw_image *src, const tw_image *dst)
{
    cudaStream_t stream = twi_cuda_state_of(context)->compute;
    TWI_TRY(twi_cuda_copy_rows(context, dst->data, dst->pitch, src->data, src->pitch, (int64_t)twi_row_bytes(src),
                               src->height, stream));
    TWI_CUDA(cudaStreamSynchronize(stream));
    return TW_OK;
}

tw_status twi_cuda_copy(const tw_context *context, const tw_image *src, const tw_image *dst)
{
    int before = 0;
    TWI_TRY(twi_cuda_enter(context, &before));
    return twi_cuda_leave(before, copy_image(context, src, dst));
}
