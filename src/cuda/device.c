/* CUDA devices: their errors, which there are, and which one is current. */
#include <stdio.h>
#include <string.h>

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

const char *twi_cuda_count_devices(int *count)
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
    return twi_cuda_count_devices(&count);
}

tw_status twi_cuda_describe(int device, tw_device_info *info)
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

static tw_status ask_free(uint64_t *bytes)
{
    size_t left = 0;
    size_t all = 0;
    TWI_CUDA(cudaMemGetInfo(&left, &all));
    *bytes = left;
    return TW_OK;
}

tw_status twi_cuda_free_memory(int device, uint64_t *bytes)
{
    const tw_context context = {.device = device};
    int before = 0;
    TWI_TRY(twi_cuda_enter(&context, &before));
    return twi_cuda_leave(before, ask_free(bytes));
}
