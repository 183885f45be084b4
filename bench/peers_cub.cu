/* Reductions, histogram and running sums by NVIDIA's CUB beside a copy kernel and one that only reads, in the same run,
   by events: 100 launches in a row over buffers that no cache holds, as `tilewise bench` does; median, least and most
   of 9. nvcc -O3 -arch=sm_90 bench/peers_cub.cu -o peers_cub && ./peers_cub [-g] [-n LOG2] [NAME...] -g: as CUDA graphs
   of 10 launches. NAME: only rows whose name begins so. LOG2: only 2^LOG2 elements. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

enum { LAUNCHES = 100, GRAPH = 10, ROUNDS = 9, WARM_UPS = 3 };

static const size_t beyond_caches = (size_t)512 << 20;

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

/* Bytes without a pattern; of floats between 1 and 2, their low bits. */
static __global__ void fill(uint32_t *words, size_t count, uint32_t keep, uint32_t add)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint64_t z = i * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    words[i] = ((uint32_t)(z >> 32) & keep) | add;
}

static __global__ void copy(const uint4 *src, uint4 *dst, size_t count)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        dst[i] = src[i];
}

/* Four loads under way a thread; what they make is stored in a case that no compiler can exclude. */
static __global__ void read(const uint4 *src, uint32_t *never, size_t count)
{
    const size_t stride = gridDim.x * (size_t)blockDim.x;
    uint32_t all = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += 4 * stride) {
        uint4 of[4] = {};
        for (int k = 0; k < 4; k++)
            if (i + k * stride < count)
                of[k] = __ldg(src + i + k * stride);
        for (int k = 0; k < 4; k++)
            all |= of[k].x ^ of[k].y ^ of[k].z ^ of[k].w;
    }
    if (all == 1)
        *never = all;
}

struct options {
    bool graph;
    int only; /* log2 of the elements; 0: all */
    int names;
    char **name;
};

struct bench {
    const options *o;
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    char *src; /* sources in turn, then where results go */
    char *dst;
    void *scratch;
    size_t scratch_bytes;
};

static bool wanted(const options *o, const char *name)
{
    for (int i = 0; i < o->names; i++)
        if (std::strncmp(name, o->name[i], std::strlen(o->name[i])) == 0)
            return true;
    return o->names == 0;
}

/* Milliseconds between the events around what `queue` queues. */
template <typename Queue> static float time_of(const bench &b, Queue queue)
{
    float time = 0;
    must(cudaEventRecord(b.begin, b.stream));
    queue();
    must(cudaEventRecord(b.end, b.stream));
    must(cudaEventSynchronize(b.end));
    must(cudaEventElapsedTime(&time, b.begin, b.end));
    return time;
}

/* `work` (which image) queues one launch. `moved`: the bytes that it reads and writes. */
template <typename Work>
static void measure(const bench &b, const char *name, int log2, size_t src_bytes, size_t moved, Work work)
{
    if (!wanted(b.o, name))
        return;
    const int pairs = (int)std::max<size_t>(1, std::min<size_t>(LAUNCHES, beyond_caches / src_bytes));
    const int together = b.o->graph ? GRAPH : LAUNCHES;
    float rounds[ROUNDS];
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    const auto queue = [&] {
        for (int i = 0; i < together; i++)
            must(work(b.src + i % pairs * src_bytes));
    };
    if (b.o->graph) {
        must(cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeRelaxed));
        queue();
        must(cudaStreamEndCapture(b.stream, &graph));
        must(cudaGraphInstantiate(&ready, graph, 0));
        must(cudaGraphLaunch(ready, b.stream));
    }
    for (int i = 0; i < WARM_UPS; i++)
        must(work(b.src));
    must(cudaStreamSynchronize(b.stream));
    for (float &round : rounds) {
        float total = 0;
        for (int done = 0; done < LAUNCHES; done += together)
            total += time_of(b, [&] {
                if (ready)
                    must(cudaGraphLaunch(ready, b.stream));
                else
                    queue();
            });
        round = total / LAUNCHES;
    }
    if (ready) {
        must(cudaGraphExecDestroy(ready));
        must(cudaGraphDestroy(graph));
    }
    std::sort(rounds, rounds + ROUNDS);
    std::printf("%-20s 2^%-2d %9.5f ms (%.5f to %.5f) %7.1f GB/s\n", name, log2, rounds[ROUNDS / 2], rounds[0],
                rounds[ROUNDS - 1], (double)moved / rounds[ROUNDS / 2] / 1e6);
    std::fflush(stdout);
}

/* A call of CUB, of which `work` (scratch, its bytes, source) is asked first how much scratch it takes. */
template <typename Work>
static void measure_cub(bench &b, const char *name, int log2, size_t src_bytes, size_t moved, Work work)
{
    size_t bytes = 0;
    must(work(nullptr, bytes, b.src));
    if (bytes > b.scratch_bytes) {
        must(cudaFree(b.scratch));
        must(cudaMalloc(&b.scratch, bytes));
        b.scratch_bytes = bytes;
    }
    measure(b, name, log2, src_bytes, moved, [&](char *src) { return work(b.scratch, bytes, src); });
}

static void measure_memory(bench &b, int log2, size_t bytes)
{
    const size_t count = bytes / sizeof(uint4);
    measure(b, "copy f32", log2, bytes, 2 * bytes, [&](char *src) {
        copy<<<(unsigned)((count + 255) / 256), 256, 0, b.stream>>>((const uint4 *)src, (uint4 *)b.dst, count);
        return cudaGetLastError();
    });
    measure(b, "read f32", log2, bytes, bytes, [&](char *src) {
        const unsigned blocks = (unsigned)std::min<size_t>(132 * 8, (count + 1023) / 1024);
        read<<<blocks, 256, 0, b.stream>>>((const uint4 *)src, (uint32_t *)b.dst, count);
        return cudaGetLastError();
    });
}

/* T: of pixels; S: of their sum. */
template <typename T, typename S> static void measure_reduce(bench &b, const char *type, int log2)
{
    const int64_t n = (int64_t)1 << log2;
    const size_t bytes = (size_t)n * sizeof(T);
    char name[32];
    std::snprintf(name, sizeof name, "sum %s", type);
    measure_cub(b, name, log2, bytes, bytes, [&](void *scratch, size_t &size, char *src) {
        return cub::DeviceReduce::Sum(scratch, size, (const T *)src, (S *)b.dst, n, b.stream);
    });
    std::snprintf(name, sizeof name, "max %s", type);
    measure_cub(b, name, log2, bytes, bytes, [&](void *scratch, size_t &size, char *src) {
        return cub::DeviceReduce::Max(scratch, size, (const T *)src, (T *)b.dst, n, b.stream);
    });
    std::snprintf(name, sizeof name, "argmax %s", type);
    measure_cub(b, name, log2, bytes, bytes, [&](void *scratch, size_t &size, char *src) {
        return cub::DeviceReduce::ArgMax(scratch, size, (const T *)src, (T *)b.dst, (int64_t *)(b.dst + 256), n,
                                         b.stream);
    });
}

static void measure_histogram(bench &b, int log2)
{
    const int64_t n = (int64_t)1 << log2;
    measure_cub(b, "histogram u8", log2, (size_t)n, (size_t)n, [&](void *scratch, size_t &size, char *src) {
        return cub::DeviceHistogram::HistogramEven(scratch, size, (const uint8_t *)src, (unsigned *)b.dst, 257, 0, 256,
                                                   n, b.stream);
    });
}

static void measure_scan(bench &b, int log2)
{
    const int64_t n = (int64_t)1 << log2;
    const size_t bytes = (size_t)n * sizeof(float);
    measure_cub(b, "scan f32", log2, bytes, 2 * bytes, [&](void *scratch, size_t &size, char *src) {
        return cub::DeviceScan::InclusiveSum(scratch, size, (const float *)src, (float *)b.dst, n, b.stream);
    });
}

static void refill(const bench &b, size_t bytes, uint32_t keep, uint32_t add)
{
    fill<<<(unsigned)(bytes / 4 / 256), 256>>>((uint32_t *)b.src, bytes / 4, keep, add);
    must(cudaDeviceSynchronize());
}

int main(int count, char **arguments)
{
    options o = {};
    for (int i = 1; i < count && !o.name; i++) {
        if (std::strcmp(arguments[i], "-g") == 0) {
            o.graph = true;
        } else if (std::strcmp(arguments[i], "-n") == 0 && i + 1 < count) {
            o.only = std::atoi(arguments[++i]);
        } else {
            o.name = arguments + i;
            o.names = count - i;
        }
    }
    cudaDeviceProp device;
    must(cudaGetDeviceProperties(&device, 0));
    std::printf("CUB %d.%d.%d on %s%s\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION, device.name,
                o.graph ? ", as graphs" : "");
    const int log2s[] = {20, 24, 28, 30};
    const size_t bytes = (size_t)4 << 30;
    bench b = {};
    b.o = &o;
    must(cudaStreamCreate(&b.stream));
    must(cudaEventCreate(&b.begin));
    must(cudaEventCreate(&b.end));
    must(cudaMalloc(&b.src, bytes));
    must(cudaMalloc(&b.dst, bytes));
    for (const int log2 : log2s) {
        if (o.only != 0 && o.only != log2)
            continue;
        refill(b, bytes, 0x007fffffu, 0x3f800000u);
        measure_memory(b, log2, (size_t)4 << log2);
        measure_reduce<float, float>(b, "f32", log2);
        measure_scan(b, log2);
        refill(b, bytes, 0xffffffffu, 0);
        measure_reduce<uint8_t, uint64_t>(b, "u8", log2);
        measure_reduce<uint16_t, uint64_t>(b, "u16", log2);
        measure_reduce<int32_t, int64_t>(b, "i32", log2);
        measure_histogram(b, log2);
    }
    must(cudaFree(b.src));
    must(cudaFree(b.dst));
    must(cudaFree(b.scratch));
    return 0;
}
