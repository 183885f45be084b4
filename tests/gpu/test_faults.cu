/*
 * Test of the tests, on the GPU: a small tiled kernel with faults planted on purpose, each of which the
 * comparison with the CPU's reference must catch. Without a fault the kernel must agree, or the rest proves
 * nothing.
 *
 * The faults: for each border, reading one position beside the right one; and, in blocks that hang over the
 * image's edge, threads without an output that return before the barrier. Why the latter is unsafe: all
 * threads of a block must reach the same __syncthreads(), or what it does is undefined. On today's hardware
 * the others pass without those that are gone, so nothing hangs, but the share of the tile that the missing
 * threads should have filled holds what an earlier block left there: right by luck, wrong some day. An
 * earlier or later GPU may wait for them forever. `compute-sanitizer --tool synccheck` reported nothing on an
 * H200 (CUDA 13.0): the threads have exited. So the comparison is what catches it.
 */
#include "faults.cuh"

enum { SIDE = 16, TILE = SIDE + 2, WIDTH = 1003, HEIGHT = 769 };

enum fault { NONE, BESIDE, EARLY };

static const unsigned char border_value = 200;

/* The index rule, with the fault: where a position outside reads a pixel, its neighbour; where it reads
   the value, the image is taken to end one pixel early. */
static __device__ int64_t index_of(int64_t i, int64_t n, int border, fault planted)
{
    const int64_t index = twi_border_index(i, n, border);
    if (planted != BESIDE)
        return index;
    if (border == TWI_ZERO || border == TWI_CONSTANT)
        return i < n - 1 ? index : -1;
    return i >= 0 && i < n ? index : index + (index + 1 < n ? 1 : -1);
}

static __global__ void tiled(const unsigned char *src, unsigned char *dst, int width, int height, int border,
                             unsigned char value, fault planted)
{
    __shared__ unsigned char tile[TILE][TILE];
    const int left = (int)blockIdx.x * SIDE;
    const int top = (int)blockIdx.y * SIDE;
    const int x = left + (int)threadIdx.x;
    const int y = top + (int)threadIdx.y;
    if (planted == EARLY && (x >= width || y >= height))
        return;
    for (int at = (int)threadIdx.y * SIDE + (int)threadIdx.x; at < TILE * TILE; at += SIDE * SIDE) {
        const int64_t column = index_of(left - 1 + at % TILE, width, border, planted);
        const int64_t row = index_of(top - 1 + at / TILE, height, border, planted);
        tile[at / TILE][at % TILE] = column < 0 || row < 0 ? value : src[row * width + column];
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    int64_t sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum += tile[threadIdx.y + j][threadIdx.x + i];
    dst[(int64_t)y * width + x] = (unsigned char)twi_mean_integer(sum, 9, 0);
}

typedef struct images {
    unsigned char *src; /* on the host */
    unsigned char *want;
    unsigned char *got;
    unsigned char *device_src;
    unsigned char *device_dst;
} images;

/* The right answer, by the CPU's reference. */
static void compute_reference(tw_context *context, const images *im, int border)
{
    const tw_image src = {im->src, WIDTH, HEIGHT, WIDTH, 1, TW_U8, TW_HOST};
    const tw_image dst = {im->want, WIDTH, HEIGHT, WIDTH, 1, TW_U8, TW_HOST};
    tw_plan_options options = {};
    tw_box_params params = tw_box_defaults();
    tw_problem problem;
    tw_plan *plan = NULL;
    options.variant = "reference";
    params.border.mode = (tw_border_mode)border;
    params.border.value = border == TWI_CONSTANT ? border_value : 0;
    library(tw_box_problem(&src, &dst, &params, &problem), "tw_box_problem");
    library(tw_plan_create(context, &problem, &options, &plan), "tw_plan_create");
    library(tw_plan_run(plan, &src, &dst), "tw_plan_run");
    tw_plan_destroy(plan);
}

/* Pixels of the kernel that differ from the reference. */
static int count_wrong(const images *im, int border, fault planted)
{
    const size_t bytes = (size_t)WIDTH * HEIGHT;
    const dim3 grid((WIDTH + SIDE - 1) / SIDE, (HEIGHT + SIDE - 1) / SIDE);
    int wrong = 0;
    poison<<<2048, 256>>>(im->device_dst);
    cuda(cudaGetLastError(), "poison");
    cuda(cudaMemset(im->device_dst, 0x5a, bytes), "cudaMemset");
    tiled<<<grid, dim3(SIDE, SIDE)>>>(im->device_src, im->device_dst, WIDTH, HEIGHT, border,
                                      border == TWI_CONSTANT ? border_value : 0, planted);
    cuda(cudaGetLastError(), "tiled");
    cuda(cudaMemcpy(im->got, im->device_dst, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < bytes; i++)
        wrong += im->got[i] != im->want[i];
    return wrong;
}

/* Whether the kernel is right without a fault and wrong with each. */
static bool check_border(const images *im, int border)
{
    static const struct {
        fault planted;
        const char *text;
    } faults[] = {{BESIDE, "reads beside the right position"}, {EARLY, "returns before the barrier"}};
    const char *name = tw_border_name((tw_border_mode)border);
    bool good = true;
    const int sound = count_wrong(im, border, NONE);
    if (sound != 0) {
        printf("FAIL border %s: the sound kernel has %d wrong pixels\n", name, sound);
        return false;
    }
    for (const auto &f : faults) {
        const int wrong = count_wrong(im, border, f.planted);
        printf("%s border %s, a kernel that %s: %d wrong pixels\n", wrong > 0 ? "caught" : "MISSED", name, f.text,
               wrong);
        good = good && wrong > 0;
    }
    return good;
}

int main(void)
{
    const size_t bytes = (size_t)WIDTH * HEIGHT;
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    images im = {};
    bool good = true;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: %s\n", tw_cuda_reason());
        return SKIPPED;
    }
    options.backend = TW_CPU;
    library(tw_context_create(&options, &context), "tw_context_create");
    im.src = (unsigned char *)malloc(bytes);
    im.want = (unsigned char *)malloc(bytes);
    im.got = (unsigned char *)malloc(bytes);
    require(im.src && im.want && im.got, "malloc", "out of memory");
    cuda(cudaMalloc(&im.device_src, bytes), "cudaMalloc");
    cuda(cudaMalloc(&im.device_dst, bytes), "cudaMalloc");
    srand(1);
    for (size_t i = 0; i < bytes; i++)
        im.src[i] = (unsigned char)(rand() >> 7);
    cuda(cudaMemcpy(im.device_src, im.src, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    for (int border = 0; border < BORDERS; border++) {
        compute_reference(context, &im, border);
        good = check_border(&im, border) && good;
    }
    cuda(cudaFree(im.device_src), "cudaFree");
    cuda(cudaFree(im.device_dst), "cudaFree");
    free(im.src);
    free(im.want);
    free(im.got);
    tw_context_destroy(context);
    printf("%s\n", good ? "PASS: every planted fault was caught" : "FAIL");
    return good ? 0 : 1;
}
