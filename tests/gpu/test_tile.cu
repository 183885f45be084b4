/*
 * Test of the tests, on the GPU: the classic tile of a 5x5 mask, 32x32 outputs from 36x36 elements in shared memory,
 * sound and with the mistakes that such kernels are known for. The comparison with the CPU's reference must accept
 * the first and catch each of the others.
 *
 *   corner   a corner of the tile is filled with the row of the side next to it, as by a thread that brings the
 *            columns beside its own row and leaves the corners to them
 *   before   the barrier stands before the fill, so a thread may read what another has yet to write:
 *            `compute-sanitizer --tool racecheck` reports it, whatever the pixels
 *   early    threads without an output return before they have filled their share of the tile
 *
 * With a name as its argument the test runs that kernel alone, for such tools.
 */
#include "faults.cuh"

enum { SIDE = 32, RADIUS = 2, TAPS = 2 * RADIUS + 1, TILE = SIDE + 2 * RADIUS, WIDTH = 1003, HEIGHT = 769 };
enum { DIVISOR = 32, OFFSET = 3 };

enum fault { SOUND, CORNER, BEFORE, EARLY, FAULTS };

static const char *const names[FAULTS] = {"sound", "corner", "before", "early"};

static const unsigned char border_value = 200;

typedef struct mask {
    int32_t tap[TAPS * TAPS];
} mask;

/* Where the tile's row j lies for its column i: for the fault, corners take the nearest row of the sides. */
static __device__ int tile_row(int i, int j, fault planted)
{
    const bool beside = i < RADIUS || i >= TILE - RADIUS;
    if (planted != CORNER || !beside)
        return j;
    return j < RADIUS ? RADIUS : j >= TILE - RADIUS ? TILE - RADIUS - 1 : j;
}

template <fault PLANTED>
static __global__ void tiled(const unsigned char *src, unsigned char *dst, int border, unsigned char value,
                             const mask weights)
{
    __shared__ unsigned char tile[TILE][TILE];
    const int left = (int)blockIdx.x * SIDE;
    const int top = (int)blockIdx.y * SIDE;
    const int x = left + (int)threadIdx.x;
    const int y = top + (int)threadIdx.y;
    if (PLANTED == EARLY && (x >= WIDTH || y >= HEIGHT))
        return;
    if (PLANTED == BEFORE)
        __syncthreads();
    for (int at = (int)threadIdx.y * SIDE + (int)threadIdx.x; at < TILE * TILE; at += SIDE * SIDE) {
        const int i = at % TILE;
        const int j = at / TILE;
        const int64_t column = twi_border_index(left - RADIUS + i, WIDTH, border);
        const int64_t row = twi_border_index(top - RADIUS + tile_row(i, j, PLANTED), HEIGHT, border);
        tile[j][i] = column < 0 || row < 0 ? value : src[row * WIDTH + column];
    }
    if (PLANTED != BEFORE)
        __syncthreads();
    if (x >= WIDTH || y >= HEIGHT)
        return;
    int32_t sum = 0;
    for (int j = 0; j < TAPS; j++)
        for (int i = 0; i < TAPS; i++)
            sum += weights.tap[j * TAPS + i] * tile[threadIdx.y + j][threadIdx.x + i];
    dst[(int64_t)y * WIDTH + x] = (unsigned char)twi_saturate(twi_quotient(sum, DIVISOR, 0) + OFFSET, 0, UINT8_MAX);
}

typedef struct images {
    unsigned char *src; /* on the host */
    unsigned char *want;
    unsigned char *got;
    unsigned char *device_src;
    unsigned char *device_dst;
    mask weights;
} images;

static const size_t bytes = (size_t)WIDTH * HEIGHT;

/* The right answer, by the CPU's reference. */
static void compute_reference(tw_context *context, const images *im, int border)
{
    const tw_image src = {im->src, WIDTH, HEIGHT, WIDTH, 1, TW_U8, TW_HOST};
    const tw_image dst = {im->want, WIDTH, HEIGHT, WIDTH, 1, TW_U8, TW_HOST};
    tw_plan_options options = {};
    tw_correlate_params params = {};
    tw_problem problem;
    tw_plan *plan = NULL;
    options.variant = "reference";
    params.window = tw_window_centred(TAPS, TAPS);
    params.mask.integers = im->weights.tap;
    params.divisor = DIVISOR;
    params.offset = OFFSET;
    params.border.mode = (tw_border_mode)border;
    params.border.value = border == TWI_CONSTANT ? border_value : 0;
    library(tw_correlate_problem(&src, &dst, &params, &problem), "tw_correlate_problem");
    library(tw_plan_create(context, &problem, &options, &plan), "tw_plan_create");
    library(tw_plan_run(plan, &src, &dst), "tw_plan_run");
    tw_plan_destroy(plan);
}

static void run(const images *im, int border, fault planted)
{
    const dim3 grid((WIDTH + SIDE - 1) / SIDE, (HEIGHT + SIDE - 1) / SIDE);
    const dim3 block(SIDE, SIDE);
    const unsigned char value = border == TWI_CONSTANT ? border_value : 0;
    switch (planted) {
    case SOUND:
        tiled<SOUND><<<grid, block>>>(im->device_src, im->device_dst, border, value, im->weights);
        break;
    case CORNER:
        tiled<CORNER><<<grid, block>>>(im->device_src, im->device_dst, border, value, im->weights);
        break;
    case BEFORE:
        tiled<BEFORE><<<grid, block>>>(im->device_src, im->device_dst, border, value, im->weights);
        break;
    default:
        tiled<EARLY><<<grid, block>>>(im->device_src, im->device_dst, border, value, im->weights);
        break;
    }
    cuda(cudaGetLastError(), "tiled");
    cuda(cudaDeviceSynchronize(), "tiled");
}

/* Pixels of the kernel that differ from the reference. */
static int count_wrong(const images *im, int border, fault planted)
{
    int wrong = 0;
    poison<<<2048, 256>>>(im->device_dst);
    cuda(cudaGetLastError(), "poison");
    cuda(cudaMemset(im->device_dst, 0x5a, bytes), "cudaMemset");
    run(im, border, planted);
    cuda(cudaMemcpy(im->got, im->device_dst, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < bytes; i++)
        wrong += im->got[i] != im->want[i];
    return wrong;
}

/* Whether the kernel is right without a fault and wrong with each. */
static bool check_border(const images *im, int border)
{
    const char *name = tw_border_name((tw_border_mode)border);
    bool good = true;
    for (int planted = SOUND; planted < FAULTS; planted++) {
        const int wrong = count_wrong(im, border, (fault)planted);
        const bool expected = planted == SOUND ? wrong == 0 : wrong > 0;
        printf("%s border %s, kernel %s: %d wrong pixels\n", expected ? "good" : "BAD", name, names[planted], wrong);
        good = good && expected;
    }
    return good;
}

static bool check_all(const images *im)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    bool good = true;
    options.backend = TW_CPU;
    library(tw_context_create(&options, &context), "tw_context_create");
    for (int border = 0; border < BORDERS; border++) {
        compute_reference(context, im, border);
        good = check_border(im, border) && good;
    }
    tw_context_destroy(context);
    printf("%s\n", good ? "PASS: every planted fault was caught" : "FAIL");
    return good;
}

/* The kernel of that name, without a look at its pixels. */
static bool run_one(const images *im, const char *name)
{
    for (int planted = SOUND; planted < FAULTS; planted++) {
        if (strcmp(name, names[planted]) == 0) {
            run(im, TWI_REFLECT, (fault)planted);
            return true;
        }
    }
    fprintf(stderr, "no kernel %s: use sound, corner, before or early\n", name);
    return false;
}

int main(int argc, char **argv)
{
    images im = {};
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: %s\n", tw_cuda_reason());
        return SKIPPED;
    }
    im.src = (unsigned char *)malloc(bytes);
    im.want = (unsigned char *)malloc(bytes);
    im.got = (unsigned char *)malloc(bytes);
    require(im.src && im.want && im.got, "malloc", "out of memory");
    cuda(cudaMalloc(&im.device_src, bytes), "cudaMalloc");
    cuda(cudaMalloc(&im.device_dst, bytes), "cudaMalloc");
    srand(1);
    for (size_t i = 0; i < bytes; i++)
        im.src[i] = (unsigned char)(rand() >> 7);
    for (int k = 0; k < TAPS * TAPS; k++) /* no two corners alike, and results that rarely saturate */
        im.weights.tap[k] = k % 2 ? -k / 4 : k / 2 - 1;
    cuda(cudaMemcpy(im.device_src, im.src, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    const bool good = argc > 1 ? run_one(&im, argv[1]) : check_all(&im);
    cuda(cudaFree(im.device_src), "cudaFree");
    cuda(cudaFree(im.device_dst), "cudaFree");
    free(im.src);
    free(im.want);
    free(im.got);
    return good ? 0 : 1;
}
