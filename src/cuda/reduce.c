/*
 * reduce on CUDA. fast: one sweep for sums of integers, extremes and counts, warps that make leaves for sums of floats,
 * and a last kernel that makes the records. The others show ways to fold a leaf's lanes.
 */
#include <string.h>

#include "core/exact.h"
#include "cuda/host.h"
#include "cuda/pattern.h"
#include "cuda/reduce_kernels.h"

enum {
    SWEEP_BLOCKS = 8,             /* a multiprocessor */
    IMAGE_THREADS = 1024,         /* of a block that makes the image's record, */
    IMAGE_VALUES = 32 * TWI_LEAF, /* and the sums that it adds up */
    COLUMN_THREADS = 256,
    STRIP_COLUMNS = 32,
    STRIP_THREADS = 16
};

/* ---- What the figures need --------------------------------------------------------------------------- */

static bool is_float(const tw_problem *problem)
{
    return (TWI_BIT(problem->type) & TWI_FLOATS) != 0;
}

static bool needs_squares(const tw_problem *problem)
{
    return (problem->figures & (TW_FIGURE_VAR | TW_FIGURE_STD | TW_FIGURE_SQUARES)) != 0;
}

static bool needs_sums(const tw_problem *problem)
{
    return (problem->figures & (TW_FIGURE_SUM | TW_FIGURE_MEAN | TW_FIGURE_VAR | TW_FIGURE_STD)) != 0;
}

static int sweep_of(const tw_problem *problem)
{
    int sweep = 0;
    if (needs_sums(problem) && !is_float(problem))
        sweep |= TWI_CUDA_EXACT;
    if (problem->figures & (TW_FIGURE_MIN | TW_FIGURE_MAX | TW_FIGURE_ARGMIN | TW_FIGURE_ARGMAX))
        sweep |= TWI_CUDA_RANGE;
    if (problem->figures & TW_FIGURE_COUNT_NONZERO)
        sweep |= TWI_CUDA_COUNTS;
    return sweep;
}

/* ---- Scratch ------------------------------------------------------------------------------------------- */

/* How the work is cut, and where the scratch's parts lie. */
typedef struct layout {
    int sweep;
    int64_t records; /* a channel's */
    int64_t parts;   /* tallies of a record */
    int64_t leaves;  /* of a row */
    int64_t items;   /* sums that a row's pixels make, or columns' groups */
    int64_t total;   /* of a channel */
    int64_t tallies_at;
    int64_t sums_at;
    int64_t folded_at; /* sums of sums */
    int64_t means_at;
    int64_t bytes;
} layout;

static bool add_area(layout *l, int64_t count, int64_t size, int64_t *at)
{
    int64_t bytes = 0;
    *at = l->bytes;
    return twi_mul_i64(count, size, &bytes) && twi_add_i64(l->bytes, bytes, &l->bytes) &&
           twi_add_i64(l->bytes, 255, &l->bytes) && (l->bytes = l->bytes / 256 * 256, true);
}

/* Leaves of a row that one block puts together: all of them, or each by itself. */
static int64_t together_of(int64_t leaves)
{
    return TWI_CUDA_LEAF_WARPS % leaves == 0 ? leaves : 1;
}

static bool lay_out(const tw_plan *plan, layout *l)
{
    const tw_problem *problem = &plan->problem;
    const int64_t channels = problem->channels;
    const int64_t step = TWI_CUDA_SWEEP_THREADS * (16 / (int64_t)tw_type_size(problem->type));
    const int64_t most = (int64_t)SWEEP_BLOCKS * twi_cuda_state_of(plan->context)->processors;
    *l = (layout){.sweep = sweep_of(problem)};
    if (problem->axis == TW_AXIS_Y) {
        l->records = problem->width;
        l->parts = twi_divide_up(problem->height, TWI_CUDA_PART_ROWS);
        l->items = twi_divide_up(problem->height, TWI_GROUP);
        if (!twi_mul_i64(l->items, problem->width, &l->total))
            return false;
    } else {
        l->records = problem->axis == TW_AXIS_X ? problem->height : 1;
        l->parts =
            problem->axis == TW_AXIS_X ? 1 : twi_min_i64(most, twi_divide_up(problem->width, step) * problem->height);
        l->leaves = twi_divide_up(problem->width, TWI_LEAF);
        l->items = l->leaves / together_of(l->leaves);
        if (!twi_mul_i64(l->items, problem->height, &l->total))
            return false;
    }
    const bool sums = (needs_sums(problem) && is_float(problem)) || needs_squares(problem);
    int64_t tallies = 0;
    int64_t values = 0;
    return twi_mul_i64(l->sweep ? l->records * channels : 0, l->parts, &tallies) &&
           twi_mul_i64(sums ? channels : 0, l->total, &values) &&
           add_area(l, tallies, sizeof(twi_cuda_tally), &l->tallies_at) &&
           add_area(l, values, sizeof(double), &l->sums_at) && add_area(l, values, sizeof(double), &l->folded_at) &&
           add_area(l, needs_squares(problem) ? l->records * channels : 0, 2 * sizeof(double), &l->means_at);
}

static void *area(const tw_plan *plan, int64_t at)
{
    return (char *)plan->scratch + at;
}

static tw_status take_scratch(tw_plan *plan, bool counted, int64_t bytes)
{
    if (!counted)
        return twi_fail(TW_ERROR_LIMIT, "the scratch memory for %lldx%lld pixels cannot be counted",
                        (long long)plan->problem.width, (long long)plan->problem.height);
    return twi_plan_scratch(plan, (size_t)twi_max_i64(bytes, 256));
}

static twi_cuda_plane plane_of(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_plane plane = {
        .src = job->src.data,
        .pitch = job->src.pitch,
        .width = plan->problem.width,
        .height = plan->problem.height,
        .channels = plan->problem.channels,
        .vectors = plan->problem.channels == 1 && ((uintptr_t)job->src.data | (uint64_t)job->src.pitch) % 16 == 0,
    };
    return plane;
}

/* An array of sums as rows of `width` values. */
static twi_cuda_plane plane_of_sums(const void *sums, int64_t width, int64_t height)
{
    const twi_cuda_plane plane = {
        .src = sums, .pitch = width * (int64_t)sizeof(double), .width = width, .height = height, .channels = 1};
    return plane;
}

/* ---- fast -------------------------------------------------------------------------------------------- */

/* What a column's sums reach: a leaf of leaves of groups. */
static const char *refuses_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->axis == TW_AXIS_Y && twi_divide_up(problem->height, TWI_GROUP) > (int64_t)TWI_LEAF * TWI_LEAF)
        return "its columns are at most 2^29 pixels high";
    return NULL;
}

static double bytes_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height * problem->channels * (double)tw_type_size(problem->type);
}

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    const int looks = (sweep_of(problem) != 0) + (is_float(problem) && needs_sums(problem)) + needs_squares(problem);
    (void)context;
    return 6000 + looks * 0.00025 * bytes_of(problem);
}

static tw_status prepare_fast(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const bool columns = problem->axis == TW_AXIS_Y;
    layout l;
    const bool counted = lay_out(plan, &l);
    TWI_TRY(take_scratch(plan, counted, l.bytes));
    if (l.sweep)
        TWI_TRY(twi_cuda_load_kernel(
            plan, (columns ? twi_cuda_reduce_tallies : twi_cuda_reduce_sweep)[problem->type][l.sweep], 0));
    for (int squares = 0; squares < 2; squares++)
        TWI_TRY(twi_cuda_load_kernel(
            plan, (columns ? twi_cuda_reduce_columns : twi_cuda_reduce_leaf)[problem->type][squares], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_reduce_leaf[TW_F64][0], 0));
    return twi_cuda_load_kernel(plan,
                                columns                      ? twi_cuda_reduce_strip
                                : problem->axis == TW_AXIS_X ? twi_cuda_reduce_record
                                                             : twi_cuda_reduce_image,
                                0);
}

static tw_status launch_sweep(const tw_plan *plan, const twi_job *job, const layout *l)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_shape rows = {TWI_CUDA_SWEEP_THREADS, 1, 1, 1, 0};
    const twi_cuda_shape columns = {COLUMN_THREADS, 1, COLUMN_THREADS, 1, 0};
    twi_cuda_sweep sweep = {
        .plane = plane_of(plan, job),
        .tallies = area(plan, l->tallies_at),
        .blocks = l->records * l->parts,
        .rows = problem->axis == TW_AXIS_X,
    };
    if (problem->axis == TW_AXIS_Y)
        return twi_cuda_launch(twi_cuda_reduce_tallies[problem->type][l->sweep], &columns, &sweep,
                               problem->width * problem->channels, &sweep.left, &sweep.first, l->parts, job->stream);
    return twi_cuda_launch(twi_cuda_reduce_sweep[problem->type][l->sweep], &rows, &sweep, sweep.blocks, &sweep.left,
                           &sweep.first, problem->channels, job->stream);
}

/* Sums of sums until a record has at most `most` values, which *sums then shows; l->folded_at has room. */
static tw_status fold_sums(const tw_plan *plan, const twi_job *job, const layout *l, int64_t most, double **sums,
                           int64_t *values)
{
    const twi_cuda_shape shape = {32 * TWI_CUDA_LEAF_WARPS, 1, TWI_CUDA_LEAF_WARPS, 1, 0};
    double *other = area(plan, l->folded_at);
    int64_t width = l->items;
    int64_t height = plan->problem.height * plan->problem.channels;
    /* a row's sums first; those of the image's rows are a sequence again */
    while (width > 1 || (plan->problem.axis == TW_AXIS_ALL && height > plan->problem.channels)) {
        if (width == 1) {
            width = height / plan->problem.channels;
            height = plan->problem.channels;
        }
        if (width <= most && height == l->records * plan->problem.channels)
            break;
        twi_cuda_leaves leaves = {
            .plane = plane_of_sums(*sums, width, height),
            .sums = other,
            .leaves = twi_divide_up(width, TWI_LEAF),
        };
        leaves.together = (int32_t)together_of(leaves.leaves);
        leaves.total = leaves.leaves * height / leaves.together;
        TWI_TRY(twi_cuda_launch(twi_cuda_reduce_leaf[TW_F64][0], &shape, &leaves, leaves.leaves * height, &leaves.left,
                                &leaves.first, 1, job->stream));
        other = *sums;
        *sums = leaves.sums;
        width = leaves.leaves / leaves.together;
    }
    *values = width;
    return TW_OK;
}

/* Sums of pixels, or of their squared differences to the means. */
static tw_status launch_leaves(const tw_plan *plan, const twi_job *job, const layout *l, bool squares, double **sums,
                               int64_t *values)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_shape rows = {32 * TWI_CUDA_LEAF_WARPS, 1, TWI_CUDA_LEAF_WARPS, 1, 0};
    const twi_cuda_shape columns = {COLUMN_THREADS, 1, COLUMN_THREADS, 1, 0};
    twi_cuda_leaves leaves = {
        .plane = plane_of(plan, job),
        .sums = area(plan, l->sums_at),
        .means = area(plan, l->means_at),
        .records = l->records,
        .record_step = problem->axis == TW_AXIS_X,
        .leaves = l->leaves,
        .total = l->total,
        .together = problem->axis == TW_AXIS_Y ? 1 : (int32_t)together_of(l->leaves),
    };
    *sums = leaves.sums;
    *values = l->items;
    if (problem->axis == TW_AXIS_Y)
        return twi_cuda_launch(twi_cuda_reduce_columns[problem->type][squares], &columns, &leaves,
                               problem->width * problem->channels, &leaves.left, &leaves.first, l->items, job->stream);
    TWI_TRY(twi_cuda_launch(twi_cuda_reduce_leaf[problem->type][squares], &rows, &leaves, l->leaves * problem->height,
                            &leaves.left, &leaves.first, problem->channels, job->stream));
    return fold_sums(plan, job, l, problem->axis == TW_AXIS_ALL ? IMAGE_VALUES : TWI_LEAF, sums, values);
}

static twi_cuda_finish finish_of(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const double count = problem->axis == TW_AXIS_X   ? (double)problem->width
                         : problem->axis == TW_AXIS_Y ? (double)problem->height
                                                      : (double)problem->width * (double)problem->height;
    twi_cuda_finish finish = {
        .dst = job->dst.data,
        .dst_pitch = job->dst.pitch,
        .width = problem->width,
        .count = count,
        .channels = problem->channels,
        .integers = !is_float(problem),
        .figures = (int32_t)problem->figures,
        .axis = (int32_t)problem->axis,
        .records = 1,
    };
    memcpy(finish.about, problem->about, sizeof finish.about);
    return finish;
}

static tw_status launch_finish(const tw_plan *plan, const twi_job *job, twi_cuda_finish finish)
{
    static const twi_cuda_shape record = {32 * TWI_CUDA_LEAF_WARPS, 1, TWI_CUDA_LEAF_WARPS, 1, 0};
    static const twi_cuda_shape image = {IMAGE_THREADS, 1, 1, 1, 0};
    static const twi_cuda_shape strip = {STRIP_COLUMNS, STRIP_THREADS, STRIP_COLUMNS, 1, 0};
    int64_t *left = &finish.left;
    int64_t *first = &finish.first;
    switch (plan->problem.axis) {
    case TW_AXIS_X:
        return twi_cuda_launch(twi_cuda_reduce_record, &record, &finish, finish.records, left, first, finish.channels,
                               job->stream);
    case TW_AXIS_Y:
        return twi_cuda_launch(twi_cuda_reduce_strip, &strip, &finish, finish.records * finish.channels, left, first, 1,
                               job->stream);
    default:
        return twi_cuda_launch(twi_cuda_reduce_image, &image, &finish, 1, left, first, finish.channels, job->stream);
    }
}

static tw_status run_fast(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_finish finish = finish_of(plan, job);
    double *sums = NULL;
    layout l;
    (void)lay_out(plan, &l); /* prepare has seen that it can be */
    finish.records = l.records;
    if (l.sweep) {
        TWI_TRY(launch_sweep(plan, job, &l));
        finish.tallies = area(plan, l.tallies_at);
        finish.parts = l.parts;
    }
    if (is_float(problem) && needs_sums(problem)) {
        TWI_TRY(launch_leaves(plan, job, &l, false, &sums, &finish.values));
        finish.sums = sums;
    }
    if (needs_squares(problem)) {
        finish.means = area(plan, l.means_at);
        TWI_TRY(launch_finish(plan, job, finish));
        TWI_TRY(launch_leaves(plan, job, &l, true, &sums, &finish.values));
        finish.sums = NULL; /* the squares have taken their place */
        finish.squares = sums;
    }
    return launch_finish(plan, job, finish);
}

const twi_code twi_reduce_fast_cuda = {
    .refuses = refuses_fast,
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
    .whole = true,
};

/* ---- The variants to learn from: sums of the whole image ------------------------------------------------ */

typedef struct fold_layout {
    int64_t items; /* of a row */
    int64_t total; /* of a channel */
    int64_t sums_at;
    int64_t folded_at;
    int64_t lanes_at;
    int64_t bytes;
} fold_layout;

static const char *refuses_fold(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->axis != TW_AXIS_ALL)
        return "it makes figures of the whole image";
    if (problem->figures & ~(unsigned)(TW_FIGURE_SUM | TW_FIGURE_MEAN))
        return "it makes sums and means";
    if (problem->type == TW_I32 && (double)problem->width * (double)problem->height > 0x1p32)
        return "its sums have 64 bits, too few for 2^32 pixels of i32";
    return NULL;
}

static bool in_global(int fold)
{
    return fold < TWI_CUDA_SHARED;
}

static bool lay_out_fold(const tw_problem *problem, int fold, fold_layout *f)
{
    layout l = {0};
    int64_t lanes = 0;
    int64_t values = 0;
    *f = (fold_layout){.items = twi_divide_up(problem->width, TWI_LEAF)};
    const bool counted =
        twi_mul_i64(f->items, problem->height, &f->total) && twi_mul_i64(f->total, problem->channels, &values) &&
        twi_mul_i64(in_global(fold) ? values : 0, TWI_LANES, &lanes) &&
        add_area(&l, values, sizeof(double), &f->sums_at) && add_area(&l, values, sizeof(double), &f->folded_at) &&
        add_area(&l, lanes, sizeof(double), &f->lanes_at);
    f->bytes = l.bytes;
    return counted;
}

static tw_status prepare_fold(tw_plan *plan, int fold)
{
    fold_layout f;
    const bool counted = lay_out_fold(&plan->problem, fold, &f);
    TWI_TRY(take_scratch(plan, counted, f.bytes));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_reduce_fold[fold][plan->problem.type], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_reduce_fold_sums[fold][is_float(&plan->problem)], 0));
    return twi_cuda_load_kernel(plan, twi_cuda_reduce_image, 0);
}

static tw_status launch_fold(const twi_job *job, const void *kernel, twi_cuda_fold fold, int64_t channels)
{
    static const twi_cuda_shape shape = {TWI_LANES, 1, 1, 1, 0};
    return twi_cuda_launch(kernel, &shape, &fold, fold.total, &fold.left, &fold.first, channels, job->stream);
}

static tw_status run_fold(const tw_plan *plan, const twi_job *job, int which)
{
    const tw_problem *problem = &plan->problem;
    const int64_t channels = problem->channels;
    twi_cuda_finish finish = finish_of(plan, job);
    fold_layout f;
    (void)lay_out_fold(problem, which, &f);
    twi_cuda_fold fold = {
        .plane = plane_of(plan, job),
        .sums = area(plan, f.sums_at),
        .lanes = area(plan, f.lanes_at),
        .items = f.items,
        .total = f.total,
    };
    void *other = area(plan, f.folded_at);
    TWI_TRY(launch_fold(job, twi_cuda_reduce_fold[which][problem->type], fold, channels));
    int64_t width = f.items;
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
        TWI_TRY(launch_fold(job, twi_cuda_reduce_fold_sums[which][is_float(problem)], fold, 1));
        other = sums;
        width = fold.items;
    }
    if (is_float(problem)) {
        finish.sums = fold.sums;
        finish.values = 1;
    } else {
        finish.exact = fold.sums;
    }
    return launch_finish(plan, job, finish);
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
    declare_lanes(kernel, true, 1, fold == TWI_CUDA_NEIGHBOURED ? turned_lane : own_lane);
    declare_lanes(kernel, false, FOLD_STEPS, kept[fold]);
    declare_lanes(kernel, false, FOLD_STEPS, added[fold]);
    declare_lanes(kernel, true, FOLD_STEPS, kept[fold]);
    declare_lanes(kernel, false, 1, first_lane);
    kernel->barriers = fold == TWI_CUDA_UNROLLED ? 2 : FOLD_STEPS;
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
        return 12000 + (COST)*bytes_of(problem);                                                                       \
    }                                                                                                                  \
    static tw_status prepare_##NAME(tw_plan *plan)                                                                     \
    {                                                                                                                  \
        return prepare_fold(plan, FOLD);                                                                               \
    }                                                                                                                  \
    static tw_status run_##NAME(const tw_plan *plan, const twi_job *job)                                               \
    {                                                                                                                  \
        return run_fold(plan, job, FOLD);                                                                              \
    }                                                                                                                  \
    static void explain_##NAME(twi_kernel *kernel)                                                                     \
    {                                                                                                                  \
        explain_fold(kernel, FOLD);                                                                                    \
    }                                                                                                                  \
    const twi_code twi_reduce_##NAME##_cuda = {                                                                        \
        .refuses = refuses_fold,                                                                                       \
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
