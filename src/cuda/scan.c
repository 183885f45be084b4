/* scan and integral on CUDA: which kernels make the sums, and the words by which spans of a line know of each other. */
#include "core/exact.h"
#include "cuda/host.h"
#include "cuda/scan_kernels.h"

_Static_assert((int)TWI_CUDA_SCAN_TYPES == (int)TWI_CUDA_TYPES, "the types of pixels");

typedef const void *const kernel_table[TWI_CUDA_OUTS];

static int sum_of(const tw_problem *problem)
{
    if (problem->out_type == TW_F32)
        return TWI_CUDA_SUM_FLOAT;
    if (problem->out_type == TW_F64)
        return TWI_CUDA_SUM_DOUBLE;
    return tw_type_size(problem->out_type) == 4 ? TWI_CUDA_SUM_32 : TWI_CUDA_SUM_64;
}

static double bytes_of(const tw_problem *problem)
{
    const size_t bytes = tw_type_size(problem->type) + tw_type_size(problem->out_type);
    return (double)problem->width * (double)problem->height * problem->channels * (double)bytes;
}

/* Each row a line. */
static twi_cuda_scan arguments(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_scan scan = {
        .src = job->src.data,
        .dst = job->dst.data,
        .src_pitch = job->src.pitch,
        .dst_pitch = job->dst.pitch,
        .width = problem->width,
        .rows = problem->height,
        .lines = problem->height * problem->channels,
        .pixels = problem->width,
        .channels = problem->channels,
        .exclusive = problem->exclusive,
    };
    return scan;
}

/* ---- Rows and columns ------------------------------------------------------------------------------ */

/* Whether rows of an image begin where four elements, or 16 bytes, can be moved at a time. */
static bool starts_fit(const void *data, int64_t pitch, int64_t rows, tw_type type)
{
    const uint64_t bytes = 4 * tw_type_size(type) < 16 ? 4 * tw_type_size(type) : 16;
    return ((uintptr_t)data | (rows > 1 ? (uint64_t)pitch : 0)) % bytes == 0;
}

static bool aligned(const tw_problem *problem, const twi_cuda_scan *scan)
{
    return scan->channels == 1 && scan->width % 4 == 0 && scan->pixels == scan->width &&
           starts_fit(scan->src, scan->src_pitch, scan->rows, problem->type) &&
           starts_fit(scan->dst, scan->dst_pitch, scan->rows, problem->out_type);
}

/* As many warps as a line has work for, and lines until a block has 128 threads. */
static twi_cuda_shape shape_of_lines(int64_t width)
{
    unsigned warps = 1;
    while (warps < TWI_CUDA_SCAN_WARPS && (int64_t)warps * TWI_CUDA_SCAN_WARP < width)
        warps *= 2;
    const unsigned lines = warps < 4 ? 4 / warps : 1;
    const twi_cuda_shape shape = {32 * warps, lines, lines, 1, 0};
    return shape;
}

static tw_status scan_rows(const tw_plan *plan, twi_cuda_scan *scan, void *stream)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_shape shape = shape_of_lines(scan->width);
    const void *kernel = twi_cuda_scan_lines[aligned(problem, scan)][problem->type][sum_of(problem)];
    scan->first = 0;
    return twi_cuda_launch(kernel, &shape, scan, scan->lines, &scan->left, &scan->first, 1, stream);
}

static tw_status scan_columns(const void *kernel, twi_cuda_scan *scan, void *stream)
{
    const twi_cuda_shape shape = {32, TWI_CUDA_SCAN_WARPS, 32, 1, 0};
    scan->first = 0;
    return twi_cuda_launch(kernel, &shape, scan, scan->width * scan->channels, &scan->left, &scan->first, 1, stream);
}

/* ---- The whole image ------------------------------------------------------------------------------- */

static int64_t spans_of(const tw_problem *problem)
{
    return (problem->width * problem->height + TWI_SCAN_SPAN - 1) / TWI_SCAN_SPAN;
}

static size_t words_of(const tw_problem *problem)
{
    return 1 + 2 * (size_t)(spans_of(problem) * problem->channels);
}

/* One line, of rows that touch if they do. */
static void join_rows(twi_cuda_scan *scan, int64_t size_in, int64_t size_out)
{
    const int64_t elements = scan->width * scan->channels;
    scan->pixels = scan->width * scan->rows;
    scan->lines = scan->channels;
    if (scan->rows == 1 || (scan->src_pitch == elements * size_in && scan->dst_pitch == elements * size_out)) {
        scan->width = scan->pixels;
        scan->rows = 1;
    }
}

static tw_status scan_all(const tw_plan *plan, twi_cuda_scan *scan, void *stream)
{
    const tw_problem *problem = &plan->problem;
    const int64_t words = spans_of(problem) * problem->channels;
    const twi_cuda_shape shape = {32 * TWI_CUDA_SCAN_WARPS, 1, 1, 1, 0};
    join_rows(scan, (int64_t)tw_type_size(problem->type), (int64_t)tw_type_size(problem->out_type));
    scan->tickets = plan->scratch;
    scan->totals = scan->tickets + 1;
    scan->ends = scan->totals + words;
    TWI_CUDA(cudaMemsetAsync(plan->scratch, 0, words_of(problem) * sizeof(uint64_t), stream));
    return twi_cuda_launch(twi_cuda_scan_chained[aligned(problem, scan)][problem->type][sum_of(problem)], &shape, scan,
                           words, &scan->left, &scan->first, 1, stream);
}

/* ---- fast ------------------------------------------------------------------------------------------ */

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.00026 * bytes_of(problem);
}

static tw_status load_pair(const tw_plan *plan, kernel_table kernels[2][TWI_CUDA_SCAN_TYPES])
{
    for (int i = 0; i < 2; i++)
        TWI_TRY(twi_cuda_load_kernel(plan, kernels[i][plan->problem.type][sum_of(&plan->problem)], 0));
    return TW_OK;
}

static tw_status prepare_fast(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    switch (problem->axis) {
    case TW_AXIS_X:
        return load_pair(plan, twi_cuda_scan_lines);
    case TW_AXIS_Y:
        return twi_cuda_load_kernel(plan, twi_cuda_scan_columns[problem->type][sum_of(problem)], 0);
    default:
        TWI_TRY(load_pair(plan, twi_cuda_scan_chained));
        return twi_plan_scratch(plan, words_of(problem) * sizeof(uint64_t));
    }
}

static tw_status run_fast(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_scan scan = arguments(plan, job);
    switch (problem->axis) {
    case TW_AXIS_X:
        return scan_rows(plan, &scan, job->stream);
    case TW_AXIS_Y:
        return scan_columns(twi_cuda_scan_columns[problem->type][sum_of(problem)], &scan, job->stream);
    default:
        return scan_all(plan, &scan, job->stream);
    }
}

const twi_code twi_scan_fast_cuda = {
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
    .whole = true,
};

/* ---- fast, for integrals: rows, then columns of the result ------------------------------------------- */

static const void *kernel_again(const tw_problem *problem)
{
    static const int types[TWI_CUDA_OUTS] = {TWI_CUDA_FROM_32, TWI_CUDA_FROM_64, TWI_CUDA_F64, TWI_CUDA_F32};
    const int sum = sum_of(problem);
    return twi_cuda_scan_columns[types[sum]][sum];
}

static double cost_integral(const tw_context *context, const tw_problem *problem)
{
    return 2 * cost_fast(context, problem) + 5000;
}

static tw_status prepare_integral(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_again(&plan->problem), 0));
    return load_pair(plan, twi_cuda_scan_lines);
}

static tw_status run_integral(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const size_t pixel = (size_t)problem->channels * tw_type_size(problem->out_type);
    twi_cuda_scan scan = arguments(plan, job);
    TWI_CUDA(cudaMemsetAsync(job->dst.data, 0, (size_t)job->dst.width * pixel, job->stream));
    TWI_CUDA(cudaMemset2DAsync(job->dst.data, (size_t)job->dst.pitch, 0, pixel, (size_t)job->dst.height, job->stream));
    scan.dst = (char *)job->dst.data + job->dst.pitch + pixel;
    TWI_TRY(scan_rows(plan, &scan, job->stream));
    scan.src = scan.dst;
    scan.src_pitch = scan.dst_pitch;
    return scan_columns(kernel_again(problem), &scan, job->stream);
}

const twi_code twi_integral_fast_cuda = {
    .cost = cost_integral,
    .prepare = prepare_integral,
    .run = run_integral,
    .whole = true,
};

/* ---- The variants to learn from ---------------------------------------------------------------------- */

static const char *refuses_lesson(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return problem->axis == TW_AXIS_X ? NULL : "it scans along rows";
}

static double cost_lesson(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.001 * bytes_of(problem);
}

static tw_status run_lesson(const tw_plan *plan, const twi_job *job, kernel_table *kernels)
{
    const twi_cuda_shape shape = {TWI_CUDA_SCAN_CHUNK, 1, 1, 1, 0};
    twi_cuda_scan scan = arguments(plan, job);
    return twi_cuda_launch(kernels[plan->problem.type][sum_of(&plan->problem)], &shape, &scan, scan.lines, &scan.left,
                           &scan.first, 1, job->stream);
}

#define LESSON(NAME)                                                                                                   \
    static tw_status prepare_##NAME(tw_plan *plan)                                                                     \
    {                                                                                                                  \
        return twi_cuda_load_kernel(plan, twi_cuda_scan_##NAME[plan->problem.type][sum_of(&plan->problem)], 0);        \
    }                                                                                                                  \
    static tw_status run_##NAME(const tw_plan *plan, const twi_job *job)                                               \
    {                                                                                                                  \
        return run_lesson(plan, job, twi_cuda_scan_##NAME);                                                            \
    }                                                                                                                  \
    const twi_code twi_scan_##NAME##_cuda = {                                                                          \
        .refuses = refuses_lesson,                                                                                     \
        .cost = cost_lesson,                                                                                           \
        .prepare = prepare_##NAME,                                                                                     \
        .run = run_##NAME,                                                                                             \
        .whole = true,                                                                                                 \
    }
LESSON(hillis);
LESSON(blelloch);
LESSON(shuffle);
