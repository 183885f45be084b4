/*
 * reduce on CUDA, the variants to learn from: sums of the whole image by blocks that make a leaf each, which differ in
 * how they fold its lanes.
 */
#include "core/exact.h"
#include "cuda/pattern.h"
#include "cuda/reduce.h"

typedef struct layout {
    int64_t items; /* of a row */
    int64_t total; /* of a channel */
    int64_t sums_at;
    int64_t folded_at;
    int64_t lanes_at;
    twi_cuda_areas areas;
} layout;

static const char *refuses(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->axis != TW_AXIS_ALL)
        return "it makes figures of the whole image";
    if (problem->figures & ~(unsigned)(TW_FIGURE_SUM | TW_FIGURE_MEAN))
        return "it makes sums and means alone";
    if (problem->type == TW_I32 && (double)problem->width * (double)problem->height > 0x1p32)
        return "its sums have 64 bits, too few for 2^32 pixels of i32";
    return NULL;
}

static bool in_global(int fold)
{
    return fold < TWI_CUDA_SHARED;
}

static layout lay_out(const tw_problem *problem, int fold)
{
    layout l = {.items = twi_divide_up(problem->width, TWI_LEAF)};
    l.total = l.items * problem->height;
    const int64_t bytes = problem->channels * (int64_t)sizeof(double);
    l.sums_at = twi_cuda_add_area(&l.areas, l.total, bytes);
    l.folded_at = twi_cuda_add_area(&l.areas, l.total, bytes);
    l.lanes_at = twi_cuda_add_area(&l.areas, in_global(fold) ? l.total : 0, bytes * TWI_LANES);
    return l;
}

static tw_status prepare(tw_plan *plan, int fold)
{
    const bool floats = twi_cuda_has_floats(&plan->problem);
    const layout l = lay_out(&plan->problem, fold);
    TWI_TRY(twi_cuda_take_areas(plan, &l.areas));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_reduce_fold[fold][plan->problem.type], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_reduce_fold_sums[fold][floats], 0));
    return twi_cuda_load_kernel(plan, twi_cuda_reduce_fold_record[floats], 0);
}

static tw_status launch(const twi_job *job, const void *kernel, twi_cuda_fold fold, int64_t channels)
{
    static const twi_cuda_shape shape = {TWI_LANES, 1, 1, 1, 0};
    return twi_cuda_launch(kernel, &shape, &fold, fold.total, &fold.left, &fold.first, channels, job->stream);
}

/* Sums as rows of `width` values. */
static twi_cuda_plane plane_of_sums(const void *sums, int64_t width, int64_t height)
{
    const twi_cuda_plane plane = {
        .src = sums, .pitch = width * (int64_t)sizeof(double), .width = width, .height = height, .channels = 1};
    return plane;
}

static tw_status run(const tw_plan *plan, const twi_job *job, int which)
{
    const tw_problem *problem = &plan->problem;
    const bool floats = twi_cuda_has_floats(problem);
    const int64_t channels = problem->channels;
    const layout l = lay_out(problem, which);
    twi_cuda_fold fold = {
        .plane = twi_cuda_plane_of(&job->src),
        .sums = twi_cuda_area(plan, l.sums_at),
        .lanes = twi_cuda_area(plan, l.lanes_at),
        .items = l.items,
        .total = l.total,
    };
    void *other = twi_cuda_area(plan, l.folded_at);
    TWI_TRY(launch(job, twi_cuda_reduce_fold[which][problem->type], fold, channels));
    int64_t width = l.items;
    int64_t height = problem->height * channels;
    while (width > 1 || height > channels) {
        void *sums = fold.sums;
        if (width == 1) { /* the sums of the image's rows are a sequence again */
            width = height / channels;
            height = channels;
        }
        fold.plane = plane_of_sums(sums, width, height);
        fold.items = twi_divide_up(width, TWI_LEAF);
        fold.total = fold.items * height;
        fold.sums = other;
        TWI_TRY(launch(job, twi_cuda_reduce_fold_sums[which][floats], fold, 1));
        other = sums;
        width = fold.items;
    }
    fold.record = twi_cuda_record_of(plan, job, TW_FIGURE_ALL);
    fold.total = 1;
    return launch(job, twi_cuda_reduce_fold_record[floats], fold, 1);
}

/* ---- What the variants to learn from do to memory -------------------------------------------------------- */

enum { SUM_BYTES = 8, WARP = 32, FOLD_STEPS = 7 /* of 128 lanes */ };

static int64_t leaves_of_row(const twi_kernel *kernel)
{
    return twi_divide_up(kernel->problem->width, TWI_LEAF);
}

/* Value `lane` + 128 step of the block's leaf. */
static int64_t address_of_value(const twi_kernel *kernel, const twi_visit *visit, int64_t lane)
{
    const tw_problem *problem = kernel->problem;
    const int64_t start = visit->block_x % leaves_of_row(kernel) * TWI_LEAF;
    const int64_t i = lane + visit->step * TWI_LANES;
    if (i >= twi_min_i64(problem->width - start, TWI_LEAF))
        return TWI_NO_ADDRESS;
    return visit->block_x / leaves_of_row(kernel) * kernel->src_pitch +
           ((start + i) * problem->channels + visit->block_y) * (int64_t)tw_type_size(problem->type);
}

static int64_t value_by_threads(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_value(kernel, visit, visit->x);
}

/* shuffle: a warp holds every fourth lane. */
static int64_t value_by_fours(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_value(kernel, visit, visit->x % WARP * 4 + visit->x / WARP);
}

/* The block's lanes, in global memory one block's after the other's. */
static int64_t lane_at(const twi_kernel *kernel, const twi_visit *visit, int64_t lane)
{
    const int64_t item = kernel->shared > 0 ? 0 : visit->block_y * kernel->columns + visit->block_x;
    return (item * TWI_LANES + lane) * SUM_BYTES;
}

static int64_t first_lane(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x == 0 ? lane_at(kernel, visit, 0) : TWI_NO_ADDRESS;
}

static int64_t own_lane(const twi_kernel *kernel, const twi_visit *visit)
{
    return lane_at(kernel, visit, visit->x);
}

/* neighboured: the bits of the lane's number turned round. */
static int64_t turned_lane(const twi_kernel *kernel, const twi_visit *visit)
{
    int64_t turned = 0;
    for (int bit = 0; bit < FOLD_STEPS; bit++)
        turned |= (int64_t)(visit->x >> bit & 1) << (FOLD_STEPS - 1 - bit);
    return lane_at(kernel, visit, turned);
}

/* Folding neighbours at distances of 1, 2, ... 64: the lane that stays, and the one that is added. */
static int64_t kept_neighbour(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x % (2 << visit->step) == 0 ? lane_at(kernel, visit, visit->x) : TWI_NO_ADDRESS;
}

static int64_t added_neighbour(const twi_kernel *kernel, const twi_visit *visit)
{
    return kept_neighbour(kernel, visit) < 0 ? TWI_NO_ADDRESS
                                             : lane_at(kernel, visit, visit->x + ((int64_t)1 << visit->step));
}

/* Folding halves at distances of 64, 32, ... 1. */
static int64_t kept_half(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x < TWI_LANES / 2 >> visit->step ? lane_at(kernel, visit, visit->x) : TWI_NO_ADDRESS;
}

static int64_t added_half(const twi_kernel *kernel, const twi_visit *visit)
{
    return kept_half(kernel, visit) < 0 ? TWI_NO_ADDRESS
                                        : lane_at(kernel, visit, visit->x + (TWI_LANES / 2 >> visit->step));
}

/* The same by the whole of the first warp from a distance of 32 on. */
static int64_t kept_unrolled(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x < (visit->step == 0 ? 2 * WARP : WARP) ? lane_at(kernel, visit, visit->x) : TWI_NO_ADDRESS;
}

static int64_t added_unrolled(const twi_kernel *kernel, const twi_visit *visit)
{
    return kept_unrolled(kernel, visit) < 0 ? TWI_NO_ADDRESS
                                            : lane_at(kernel, visit, visit->x + (TWI_LANES / 2 >> visit->step));
}

/* shuffle: the sum of each warp, and all of these, which the first thread adds up. */
static int64_t warps_sum(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x % WARP == 0 ? lane_at(kernel, visit, visit->x / WARP) : TWI_NO_ADDRESS;
}

static int64_t sum_of_warp(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x == 0 ? lane_at(kernel, visit, visit->step) : TWI_NO_ADDRESS;
}

static int64_t leafs_sum(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t item = visit->block_y * kernel->columns + visit->block_x;
    return visit->x == 0 ? item * SUM_BYTES : TWI_NO_ADDRESS;
}

static void declare_lanes(twi_kernel *kernel, bool store, int64_t steps,
                          int64_t (*address)(const twi_kernel *kernel, const twi_visit *visit))
{
    const twi_access access = {
        .what = "lanes",
        .space = kernel->shared > 0 ? TWI_SPACE_SHARED : TWI_SPACE_GLOBAL,
        .store = store,
        .bytes = SUM_BYTES,
        .steps = steps,
        .address = address,
    };
    twi_declare(kernel, access);
}

static void declare_fold(twi_kernel *kernel, int fold)
{
    static int64_t (*const kept[])(const twi_kernel *, const twi_visit *) = {kept_neighbour, kept_half, kept_half,
                                                                             kept_unrolled};
    static int64_t (*const added[])(const twi_kernel *, const twi_visit *) = {added_neighbour, added_half, added_half,
                                                                              added_unrolled};
    /* from a distance of 32 on, unrolled's threads hold their sums, and store them for others alone */
    const bool held = fold == TWI_CUDA_UNROLLED;
    declare_lanes(kernel, true, 1, fold == TWI_CUDA_NEIGHBOURED ? turned_lane : own_lane);
    declare_lanes(kernel, false, held ? 2 : FOLD_STEPS, kept[fold]);
    declare_lanes(kernel, false, FOLD_STEPS, added[fold]);
    declare_lanes(kernel, true, held ? FOLD_STEPS - 1 : FOLD_STEPS, kept[fold]);
    if (!held)
        declare_lanes(kernel, false, 1, first_lane);
    kernel->barriers = held ? 2 : FOLD_STEPS;
}

static void explain_fold(twi_kernel *kernel, int fold)
{
    const tw_problem *problem = kernel->problem;
    const twi_access source = {
        .what = "source",
        .space = TWI_SPACE_GLOBAL,
        .bytes = (int32_t)tw_type_size(problem->type),
        .steps = twi_divide_up(twi_min_i64(problem->width, TWI_LEAF), TWI_LANES),
        .address = fold == TWI_CUDA_SHUFFLE ? value_by_fours : value_by_threads,
    };
    const twi_access sum = {
        .what = "sums", .space = TWI_SPACE_GLOBAL, .store = true, .bytes = SUM_BYTES, .steps = 1, .address = leafs_sum};
    kernel->block_width = TWI_LANES;
    kernel->block_height = 1;
    kernel->outputs_width = 1;
    kernel->outputs_height = 1;
    kernel->period = leaves_of_row(kernel);
    kernel->columns = kernel->period * problem->height;
    kernel->rows = problem->channels;
    kernel->part = "the one that makes the sums of leaves, of 4096 pixels of a row";
    kernel->function = twi_cuda_reduce_fold[fold][problem->type];
    if (!in_global(fold))
        kernel->shared = SUM_BYTES * (size_t)(fold == TWI_CUDA_SHUFFLE ? TWI_LANES / WARP : TWI_LANES);
    twi_declare(kernel, source);
    if (fold == TWI_CUDA_SHUFFLE) {
        declare_lanes(kernel, true, 1, warps_sum);
        declare_lanes(kernel, false, TWI_LANES / WARP, sum_of_warp);
        kernel->barriers = 1;
    } else {
        declare_fold(kernel, fold);
    }
    twi_declare(kernel, sum);
}

#define FOLD_VARIANT(NAME, FOLD, COST)                                                                                 \
    static double cost_##NAME(const tw_context *context, const tw_problem *problem)                                    \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        return 12000 + (COST)*twi_cuda_src_bytes(problem);                                                             \
    }                                                                                                                  \
    static tw_status prepare_##NAME(tw_plan *plan)                                                                     \
    {                                                                                                                  \
        return prepare(plan, FOLD);                                                                                    \
    }                                                                                                                  \
    static tw_status run_##NAME(const tw_plan *plan, const twi_job *job)                                               \
    {                                                                                                                  \
        return run(plan, job, FOLD);                                                                                   \
    }                                                                                                                  \
    static void explain_##NAME(twi_kernel *kernel)                                                                     \
    {                                                                                                                  \
        explain_fold(kernel, FOLD);                                                                                    \
    }                                                                                                                  \
    const twi_code twi_reduce_##NAME##_cuda = {                                                                        \
        .refuses = refuses,                                                                                            \
        .cost = cost_##NAME,                                                                                           \
        .prepare = prepare_##NAME,                                                                                     \
        .run = run_##NAME,                                                                                             \
        .whole = true,                                                                                                 \
        .explain = explain_##NAME,                                                                                     \
    };
FOLD_VARIANT(neighboured, TWI_CUDA_NEIGHBOURED, 0.003)
FOLD_VARIANT(interleaved, TWI_CUDA_INTERLEAVED, 0.002)
FOLD_VARIANT(shared, TWI_CUDA_SHARED, 0.001)
FOLD_VARIANT(unrolled, TWI_CUDA_UNROLLED, 0.0008)
FOLD_VARIANT(shuffle, TWI_CUDA_SHUFFLE, 0.0007)
