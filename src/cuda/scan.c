/* scan and integral on CUDA: which kernels make the sums, and the words by which spans of a line know of each other. */
#include "core/exact.h"
#include "core/explain.h"
#include "cuda/host.h"
#include "cuda/scan_kernels.h"

_Static_assert((int)TWI_CUDA_SCAN_TYPES == (int)TWI_CUDA_TYPES, "the types of pixels");

enum {
    COLUMN_THREADS = 512,
    LEAST_WARPS = 4,     /* of a block of columns, */
    MOST_WARPS = 8,      /* of a block of lines, */
    WARPS_AT_WORK = 16,  /* of all those on a multiprocessor: more would ask memory for too much at a time, */
    NARROW_AT_WORK = 24, /* and with pixels of less than 4 bytes */
};

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

/* ---- Rows ------------------------------------------------------------------------------------------ */

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

/* Pixels of a block that wait in shared memory: a stage of so many warps. */
static size_t stage_bytes(const tw_problem *problem, unsigned warps)
{
    return (size_t)warps * TWI_CUDA_SCAN_WARP * tw_type_size(problem->type);
}

/* Whether they find room there beside all else. */
static bool has_room(const tw_plan *plan, size_t bytes)
{
    enum { ELSE = 4 << 10 };
    return twi_cuda_state_of(plan->context)->shared_limit >= bytes + ELSE;
}

/* Queues blocks for all items, but at most `blocks` for a multiprocessor. */
static tw_status launch_staying(const tw_plan *plan, const void *kernel, const twi_cuda_shape *shape,
                                twi_cuda_scan *scan, int64_t items, int64_t blocks, void *stream)
{
    const int64_t most = blocks * twi_cuda_state_of(plan->context)->processors * shape->outputs_width;
    scan->first = 0;
    return twi_cuda_launch(kernel, shape, scan, twi_min_i64(items, most), &scan->left, &scan->first, 1, stream);
}

/* As many warps as a line has work for, and lines until a block has 128 threads. */
static twi_cuda_shape shape_of_lines(const tw_plan *plan, bool fits)
{
    const tw_problem *problem = &plan->problem;
    unsigned warps = 1;
    while (warps < MOST_WARPS && (int64_t)warps * TWI_CUDA_SCAN_WARP < problem->width &&
           has_room(plan, stage_bytes(problem, 2 * warps)))
        warps *= 2;
    const unsigned lines = warps < TWI_CUDA_SCAN_LINES ? TWI_CUDA_SCAN_LINES / warps : 1;
    const twi_cuda_shape shape = {32 * warps, lines, lines, 1, fits ? stage_bytes(problem, warps * lines) : 0};
    return shape;
}

/* As many warps as a row has work for. They get more shared memory than they need where more than SHORT_AT_WORK would
   be at work otherwise. */
static twi_cuda_shape shape_of_short(const tw_plan *plan)
{
    enum { SHORT_AT_WORK = 32, OTHER = 3 << 10 /* what a block has besides */ };
    const tw_problem *problem = &plan->problem;
    const unsigned warps = (unsigned)twi_divide_up(problem->width, TWI_CUDA_SHORT_WARP);
    const size_t needed = warps * TWI_CUDA_SHORT_WARP * tw_type_size(problem->type);
    const size_t share = twi_cuda_state_of(plan->context)->shared_limit * warps / SHORT_AT_WORK;
    const twi_cuda_shape shape = {32 * warps, 1, 1, 1, share > needed + OTHER ? share - OTHER : needed};
    return shape;
}

/* Whether rows, if aligned, are such for which a block each is the faster. */
static bool are_short(const tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    return problem->width >= TWI_CUDA_SHORT_WARP && problem->width <= TWI_SCAN_SPAN &&
           tw_type_size(problem->type) < 8 && has_room(plan, shape_of_short(plan).shared);
}

static tw_status scan_rows(const tw_plan *plan, twi_cuda_scan *scan, void *stream)
{
    const tw_problem *problem = &plan->problem;
    const bool fits = aligned(problem, scan);
    if (fits && are_short(plan)) {
        const twi_cuda_shape whole = shape_of_short(plan);
        scan->first = 0;
        return twi_cuda_launch(twi_cuda_scan_short[problem->type][sum_of(problem)], &whole, scan, scan->lines,
                               &scan->left, &scan->first, 1, stream);
    }
    const twi_cuda_shape shape = shape_of_lines(plan, fits);
    const unsigned warps = tw_type_size(problem->type) < 4 ? NARROW_AT_WORK : WARPS_AT_WORK;
    const int64_t blocks = fits ? 32 * warps / (shape.block_width * shape.block_height) : scan->lines;
    return launch_staying(plan, twi_cuda_scan_lines[fits][problem->type][sum_of(problem)], &shape, scan, scan->lines,
                          blocks, stream);
}

static tw_status load_rows(const tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    if (are_short(plan))
        TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_scan_short[problem->type][sum_of(problem)],
                                     shape_of_short(plan).shared));
    for (int fits = 0; fits < 2; fits++)
        TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_scan_lines[fits][problem->type][sum_of(problem)],
                                     shape_of_lines(plan, fits == 1).shared));
    return TW_OK;
}

/* ---- Columns --------------------------------------------------------------------------------------------- */

/* Blocks go down the image side by side: fewer rows of threads where there are many, so that all are under way, with
   COLUMN_THREADS on a multiprocessor. */
static tw_status scan_columns(const tw_plan *plan, const void *kernel, twi_cuda_scan *scan, void *stream)
{
    const int64_t elements = scan->width * scan->channels;
    const int64_t threads = (int64_t)twi_cuda_state_of(plan->context)->processors * COLUMN_THREADS;
    twi_cuda_shape shape = {32, TWI_CUDA_SCAN_WARPS, 32, 1, 0};
    while (shape.block_height > LEAST_WARPS && twi_round_up(elements, 32) * shape.block_height > threads)
        shape.block_height /= 2;
    scan->first = 0;
    return twi_cuda_launch(kernel, &shape, scan, elements, &scan->left, &scan->first, 1, stream);
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

/* The stages of an aligned image's block, if they find room; none for pixels of 8 bytes. */
static bool has_stages(const tw_plan *plan, size_t *bytes)
{
    const tw_problem *problem = &plan->problem;
    const bool none = tw_type_size(problem->type) == 8;
    *bytes = none ? 0 : TWI_CUDA_SPAN_STAGES * stage_bytes(problem, TWI_CUDA_SPAN_WARPS);
    return has_room(plan, *bytes);
}

static tw_status scan_all(const tw_plan *plan, twi_cuda_scan *scan, void *stream)
{
    const tw_problem *problem = &plan->problem;
    const int64_t words = spans_of(problem) * problem->channels;
    size_t bytes;
    join_rows(scan, (int64_t)tw_type_size(problem->type), (int64_t)tw_type_size(problem->out_type));
    const bool fits = has_stages(plan, &bytes) && aligned(problem, scan);
    const twi_cuda_shape shape = {32 * TWI_CUDA_SPAN_WARPS, 1, 1, 1, fits ? bytes : 0};
    scan->tickets = plan->scratch;
    scan->totals = scan->tickets + 1;
    scan->befores = scan->totals + words;
    TWI_CUDA(cudaMemsetAsync(plan->scratch, 0, words_of(problem) * sizeof(uint64_t), stream));
    return launch_staying(plan, twi_cuda_scan_chained[fits][problem->type][sum_of(problem)], &shape, scan, words + 1, 1,
                          stream);
}

static tw_status load_all(const tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    size_t bytes;
    if (has_stages(plan, &bytes))
        TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_scan_chained[1][problem->type][sum_of(problem)], bytes));
    return twi_cuda_load_kernel(plan, twi_cuda_scan_chained[0][problem->type][sum_of(problem)], 0);
}

/* ---- fast ------------------------------------------------------------------------------------------ */

/* One block keeps the accounts of the others. */
static const char *refuses_fast(const tw_context *context, const tw_problem *problem)
{
    return context && problem->axis == TW_AXIS_ALL && twi_cuda_state_of(context)->processors < 2
               ? "the device has one multiprocessor"
               : NULL;
}

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.00026 * bytes_of(problem);
}

static tw_status prepare_fast(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    switch (problem->axis) {
    case TW_AXIS_X:
        return load_rows(plan);
    case TW_AXIS_Y:
        return twi_cuda_load_kernel(plan, twi_cuda_scan_columns[problem->type][sum_of(problem)], 0);
    default:
        TWI_TRY(load_all(plan));
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
        return scan_columns(plan, twi_cuda_scan_columns[problem->type][sum_of(problem)], &scan, job->stream);
    default:
        return scan_all(plan, &scan, job->stream);
    }
}

const twi_code twi_scan_fast_cuda = {
    .refuses = refuses_fast,
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
    .whole = true,
};

/* ---- fast, for integrals of floats: rows, then columns of the result --------------------------------- */

static const void *kernel_again(const tw_problem *problem)
{
    return twi_cuda_scan_columns[TW_F64][sum_of(problem)];
}

static tw_status prepare_floats(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_again(&plan->problem), 0));
    return load_rows(plan);
}

static tw_status run_floats(const tw_plan *plan, const twi_job *job)
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
    return scan_columns(plan, kernel_again(problem), &scan, job->stream);
}

/* ---- and of integers: sums of tiles, and the table from these ------------------------------------------ */

typedef struct layout {
    int64_t strips; /* of a channel */
    int64_t chunks;
    int32_t chunk_rows;
    int64_t sums; /* elements of the arrays */
    int64_t tops;
} layout;

/* False: the scratch memory cannot be counted. */
static bool lay_out(const tw_plan *plan, layout *l)
{
    enum { STEP = 32, BLOCKS = 8 /* a multiprocessor, so that the last ones to end are few */ };
    const tw_problem *problem = &plan->problem;
    const int64_t strips = twi_divide_up(problem->width + 1, TWI_CUDA_STRIP);
    const int64_t all = strips * problem->channels;
    const int64_t across = twi_divide_up(all, TWI_CUDA_STRIP_WARPS);
    const int64_t blocks = BLOCKS * (int64_t)twi_cuda_state_of(plan->context)->processors;
    *l = (layout){.strips = strips, .chunk_rows = TWI_CUDA_STRIP_ROWS};
    while (l->chunk_rows > STEP && across * twi_divide_up(problem->height, l->chunk_rows) < blocks)
        l->chunk_rows /= 2;
    l->chunks = twi_divide_up(problem->height, l->chunk_rows);
    return l->strips <= INT32_MAX && l->chunks <= INT32_MAX &&
           twi_mul_i64(all, twi_round_up(problem->height + l->chunks, 4), &l->sums) &&
           twi_mul_i64(all * TWI_CUDA_STRIP, l->chunks, &l->tops) && l->sums < INT64_MAX / 16 - l->tops;
}

/* Whether the arrays' elements have 64 bits, as all sums but those of 32 bits. */
static int is_wide(const tw_problem *problem)
{
    return sum_of(problem) != TWI_CUDA_SUM_32;
}

static tw_status prepare_integers(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int wide = is_wide(problem);
    layout l;
    if (!lay_out(plan, &l))
        return twi_fail(TW_ERROR_LIMIT, "the scratch memory for %lldx%lld pixels cannot be counted",
                        (long long)problem->width, (long long)problem->height);
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_integral_sums[problem->type][wide], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_integral_lefts[wide], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_integral_tops[wide], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_integral_table[problem->type][sum_of(problem)], 0));
    return twi_plan_scratch(plan, (size_t)(l.sums + l.tops) * (wide ? sizeof(uint64_t) : sizeof(uint32_t)));
}

static tw_status run_integers(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int wide = is_wide(problem);
    const twi_cuda_shape tiles = {32, TWI_CUDA_STRIP_WARPS, TWI_CUDA_STRIP_WARPS, 1, 0};
    const twi_cuda_shape carries = {TWI_CUDA_CARRY_THREADS, 1, TWI_CUDA_CARRY_THREADS, 1, 0};
    layout l;
    (void)lay_out(plan, &l);
    twi_cuda_integral a = {
        .src = job->src.data,
        .dst = job->dst.data,
        .src_pitch = job->src.pitch,
        .dst_pitch = job->dst.pitch,
        .width = problem->width,
        .rows = problem->height,
        .sums = plan->scratch,
        .tops = (char *)plan->scratch + l.sums * (int64_t)(wide ? sizeof(uint64_t) : sizeof(uint32_t)),
        .channels = problem->channels,
        .strips = (int32_t)l.strips,
        .chunks = (int32_t)l.chunks,
        .chunk_rows = l.chunk_rows,
        .whole = problem->channels == 1 && starts_fit(job->src.data, job->src.pitch, problem->height, problem->type) &&
                 starts_fit(job->dst.data, job->dst.pitch, problem->height + 1, problem->out_type),
    };
    const int64_t all = l.strips * problem->channels;
    const struct {
        const void *kernel;
        const twi_cuda_shape *shape;
        int64_t columns;
        int64_t rows;
    } steps[] = {
        {twi_cuda_integral_sums[problem->type][wide], &tiles, all, l.chunks},
        {twi_cuda_integral_lefts[wide], &carries, (problem->height + l.chunks) * problem->channels, 1},
        {twi_cuda_integral_tops[wide], &carries, all * TWI_CUDA_STRIP, 1},
        {twi_cuda_integral_table[problem->type][sum_of(problem)], &tiles, all, l.chunks},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        a.first = 0;
        TWI_TRY(twi_cuda_launch(steps[i].kernel, steps[i].shape, &a, steps[i].columns, &a.left, &a.first, steps[i].rows,
                                job->stream));
    }
    return TW_OK;
}

/* ---- fast, for integrals ------------------------------------------------------------------------------- */

static bool is_float(const tw_problem *problem)
{
    return (TWI_BIT(problem->type) & TWI_FLOATS) != 0;
}

static double cost_integral(const tw_context *context, const tw_problem *problem)
{
    return 15000 + (is_float(problem) ? 2 : 1.5) * cost_fast(context, problem);
}

static tw_status prepare_integral(tw_plan *plan)
{
    return is_float(&plan->problem) ? prepare_floats(plan) : prepare_integers(plan);
}

static tw_status run_integral(const tw_plan *plan, const twi_job *job)
{
    return is_float(&plan->problem) ? run_floats(plan, job) : run_integers(plan, job);
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

/* What they do to memory. A block has two arrays of a chunk's sums, `values` and `spare`; a thread's accesses to them
   in a chunk are numbered in the order of the source. */
enum {
    CHUNK = TWI_CUDA_SCAN_CHUNK,
    SCHEME_STEPS = 10, /* distances or strides of 1, 2, 4 ... 512 */
    SPARE = CHUNK,     /* where the second array begins */
    NOTHING = -1
};

typedef struct scheme {
    int loads; /* of a chunk */
    int stores;
    int barriers;
    int (*load)(int number, int thread); /* the element of the arrays, or NOTHING */
    int (*store)(int number, int thread);
} scheme;

/* The last loads of each: the thread's sum, and the chunk's. */
static int load_sums(int number, int thread, int array)
{
    return array + (number == 0 ? thread : CHUNK - 1);
}

static int load_hillis(int number, int thread)
{
    const int step = number / 2;
    const int array = step % 2 == 0 ? 0 : SPARE;
    const int other = thread - (1 << step);
    if (step == SCHEME_STEPS)
        return load_sums(number % 2, thread, array);
    if (number % 2 == 0)
        return array + thread;
    return other < 0 ? NOTHING : array + other;
}

static int store_hillis(int number, int thread)
{
    return (number % 2 == 0 ? 0 : SPARE) + thread;
}

/* The right end of the thread's part in a step of blelloch's tree, or NOTHING; and the end of its left half. */
static int right_end(int stride, int thread)
{
    const int right = (thread + 1) * 2 * stride - 1;
    return right < CHUNK ? right : NOTHING;
}

static int left_end(int stride, int thread)
{
    const int right = right_end(stride, thread);
    return right < 0 ? NOTHING : right - stride;
}

/* The stride of a step up the tree, or down. */
static int stride_of(int step)
{
    return step < SCHEME_STEPS ? 1 << step : CHUNK >> (step % SCHEME_STEPS + 1);
}

static int load_blelloch(int number, int thread)
{
    const int step = (number - 1) / 2;
    if (number == 0)
        return thread;
    if (step < 2 * SCHEME_STEPS)
        return number % 2 == 1 ? left_end(stride_of(step), thread) : right_end(stride_of(step), thread);
    if (number == 1 + 4 * SCHEME_STEPS)
        return thread;
    return load_sums(number - 2 - 4 * SCHEME_STEPS, thread, SPARE);
}

static int store_blelloch(int number, int thread)
{
    const int down = number - 2 - SCHEME_STEPS;
    if (number == 0)
        return thread;
    if (number <= SCHEME_STEPS)
        return right_end(stride_of(number - 1), thread);
    if (down < 0)
        return thread == 0 ? CHUNK - 1 : NOTHING;
    if (down == 2 * SCHEME_STEPS)
        return SPARE + thread;
    return down % 2 == 0 ? left_end(stride_of(SCHEME_STEPS + down / 2), thread)
                         : right_end(stride_of(SCHEME_STEPS + down / 2), thread);
}

static int load_shuffle(int number, int thread)
{
    if (number == 0)
        return thread;
    return number == 1 ? SPARE + thread % 32 : load_sums(number - 2, thread, 0);
}

static int store_shuffle(int number, int thread)
{
    if (number == 1)
        return thread % 32 == 0 ? SPARE + thread / 32 : NOTHING;
    return thread;
}

static const scheme schemes[] = {
    {2 * SCHEME_STEPS + 2, SCHEME_STEPS + 1, SCHEME_STEPS + 2, load_hillis, store_hillis},
    {4 * SCHEME_STEPS + 4, 3 * SCHEME_STEPS + 3, 2 * SCHEME_STEPS + 5, load_blelloch, store_blelloch},
    {4, 3, 4, load_shuffle, store_shuffle},
};

/* The last but one is of threads that have a pixel. */
static int64_t address_of_load(const twi_kernel *kernel, const twi_visit *visit, const scheme *s)
{
    const int number = (int)(visit->step % s->loads);
    const int element = s->load(number, visit->x);
    if (number == s->loads - 2 && visit->step / s->loads * CHUNK + visit->x >= kernel->problem->width)
        return TWI_NO_ADDRESS;
    return element < 0 ? TWI_NO_ADDRESS : element * (int64_t)tw_type_size(kernel->problem->out_type);
}

static int64_t address_of_store(const twi_kernel *kernel, const twi_visit *visit, const scheme *s)
{
    const int element = s->store((int)(visit->step % s->stores), visit->x);
    return element < 0 ? TWI_NO_ADDRESS : element * (int64_t)tw_type_size(kernel->problem->out_type);
}

/* The pixel of a thread in this chunk, of rows that are a pitch apart. */
static int64_t address_of_pixel(const twi_kernel *kernel, const twi_visit *visit, int64_t pitch, tw_type type)
{
    const int64_t channels = kernel->problem->channels;
    const int64_t x = visit->step * CHUNK + visit->x;
    if (x >= kernel->problem->width)
        return TWI_NO_ADDRESS;
    return visit->block_x / channels * pitch + (x * channels + visit->block_x % channels) * (int64_t)tw_type_size(type);
}

static int64_t address_of_source(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_pixel(kernel, visit, kernel->src_pitch, kernel->problem->type);
}

static int64_t address_of_output(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_pixel(kernel, visit, kernel->dst_pitch, kernel->problem->out_type);
}

static void explain_lesson(twi_kernel *kernel, const scheme *s, kernel_table *kernels,
                           int64_t (*load)(const twi_kernel *kernel, const twi_visit *visit),
                           int64_t (*store)(const twi_kernel *kernel, const twi_visit *visit))
{
    const tw_problem *problem = kernel->problem;
    const int64_t chunks = twi_divide_up(problem->width, CHUNK);
    const int32_t size = (int32_t)tw_type_size(problem->out_type);
    const twi_access accesses[] = {
        {.what = "source",
         .space = TWI_SPACE_GLOBAL,
         .bytes = (int32_t)tw_type_size(problem->type),
         .steps = chunks,
         .address = address_of_source},
        {.what = "sums",
         .space = TWI_SPACE_SHARED,
         .store = true,
         .bytes = size,
         .steps = chunks * s->stores,
         .address = store},
        {.what = "sums", .space = TWI_SPACE_SHARED, .bytes = size, .steps = chunks * s->loads, .address = load},
        {.what = "output",
         .space = TWI_SPACE_GLOBAL,
         .store = true,
         .bytes = size,
         .steps = chunks,
         .address = address_of_output},
    };
    kernel->block_width = CHUNK;
    kernel->block_height = 1;
    kernel->outputs_width = 1;
    kernel->outputs_height = 1;
    kernel->columns = problem->height * problem->channels;
    kernel->rows = 1;
    kernel->period = problem->channels;
    kernel->function = kernels[problem->type][sum_of(problem)];
    kernel->shared = 2 * (size_t)CHUNK * (size_t)size;
    kernel->barriers = (int32_t)(chunks * s->barriers);
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++)
        twi_declare(kernel, accesses[i]);
}

#define LESSON(NAME, SCHEME)                                                                                           \
    static tw_status prepare_##NAME(tw_plan *plan)                                                                     \
    {                                                                                                                  \
        return twi_cuda_load_kernel(plan, twi_cuda_scan_##NAME[plan->problem.type][sum_of(&plan->problem)], 0);        \
    }                                                                                                                  \
    static tw_status run_##NAME(const tw_plan *plan, const twi_job *job)                                               \
    {                                                                                                                  \
        return run_lesson(plan, job, twi_cuda_scan_##NAME);                                                            \
    }                                                                                                                  \
    static int64_t load_of_##NAME(const twi_kernel *kernel, const twi_visit *visit)                                    \
    {                                                                                                                  \
        return address_of_load(kernel, visit, &schemes[SCHEME]);                                                       \
    }                                                                                                                  \
    static int64_t store_of_##NAME(const twi_kernel *kernel, const twi_visit *visit)                                   \
    {                                                                                                                  \
        return address_of_store(kernel, visit, &schemes[SCHEME]);                                                      \
    }                                                                                                                  \
    static void explain_##NAME(twi_kernel *kernel)                                                                     \
    {                                                                                                                  \
        explain_lesson(kernel, &schemes[SCHEME], twi_cuda_scan_##NAME, load_of_##NAME, store_of_##NAME);               \
    }                                                                                                                  \
    const twi_code twi_scan_##NAME##_cuda = {                                                                          \
        .refuses = refuses_lesson,                                                                                     \
        .cost = cost_lesson,                                                                                           \
        .prepare = prepare_##NAME,                                                                                     \
        .run = run_##NAME,                                                                                             \
        .whole = true,                                                                                                 \
        .explain = explain_##NAME,                                                                                     \
    }
LESSON(hillis, 0);
LESSON(blelloch, 1);
LESSON(shuffle, 2);
