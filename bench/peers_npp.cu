/* The mean by NVIDIA's NPP beside a copy kernel, on the same images in the same run, by events.
   nvcc -O3 bench/peers_npp.cu -o peers_npp -lnppif -lnppc && ./peers_npp [SIDE]
   NPP's box has the replicate border only. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <nppi_filtering_functions.h>

enum { PAIRS = 3, REPETITIONS = 15, WARM_UPS = 3 };

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

static __global__ void fill(unsigned char *image, size_t bytes)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < bytes)
        image[i] = (unsigned char)((i * 2654435761u) >> 13);
}

static __global__ void copy(const uint4 *src, uint4 *dst, size_t count)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        dst[i] = src[i];
}

/* Prints the median, least and most of single calls, and returns the median. */
template <typename Work> static float measure(const char *name, float copy_ms, Work work)
{
    float times[REPETITIONS];
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    for (int i = -WARM_UPS; i < REPETITIONS; i++) {
        float time = 0;
        must(cudaEventRecord(begin));
        work((i + WARM_UPS) % PAIRS);
        must(cudaEventRecord(end));
        must(cudaEventSynchronize(end));
        must(cudaEventElapsedTime(&time, begin, end));
        if (i >= 0)
            times[i] = time;
    }
    std::sort(times, times + REPETITIONS);
    const float median = times[REPETITIONS / 2];
    std::printf("%-24s %9.4f ms (%.4f to %.4f), share of copy %.4f\n", name, median, times[0], times[REPETITIONS - 1],
                (copy_ms > 0 ? copy_ms : median) / median);
    return median;
}

int main(int count, char **arguments)
{
    const int side = count > 1 ? std::atoi(arguments[1]) : 16384;
    const size_t bytes = (size_t)side * side;
    unsigned char *src[PAIRS], *dst[PAIRS];
    NppStreamContext context = {};
    cudaDeviceProp device;
    must(cudaGetDeviceProperties(&device, 0));
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    for (int i = 0; i < PAIRS; i++) {
        must(cudaMalloc(&src[i], bytes));
        must(cudaMalloc(&dst[i], bytes));
        fill<<<(unsigned)((bytes + 255) / 256), 256>>>(src[i], bytes);
    }
    std::printf("%dx%d u8 on %s\n", side, side, device.name);
    const float copy_ms = measure("copy kernel", 0, [&](int i) {
        copy<<<(unsigned)((bytes / 16 + 255) / 256), 256>>>((const uint4 *)src[i], (uint4 *)dst[i], bytes / 16);
    });
    for (int window = 3; window <= 31; window += 28) {
        char name[40];
        std::snprintf(name, sizeof name, "NPP box %dx%d", window, window);
        measure(name, copy_ms, [&](int i) {
            const NppStatus status = nppiFilterBoxBorder_8u_C1R_Ctx(
                src[i], side, {side, side}, {0, 0}, dst[i], side, {side, side}, {window, window},
                {window / 2, window / 2}, NPP_BORDER_REPLICATE, context);
            if (status != NPP_SUCCESS) {
                std::fprintf(stderr, "NPP status %d\n", (int)status);
                std::exit(1);
            }
        });
    }
    return 0;
}
