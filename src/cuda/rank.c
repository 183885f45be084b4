/* rank on CUDA, the fast variants: columns and histogram for one channel of u8, halving and places for all images. */
#include <math.h>

#include "cuda/host.h"

static double outputs_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height;
}

/* ---- columns -------------------------------------------------------------------------------------------- */

enum { COLUMNS_WIDTH = 512, COLUMNS_HEIGHT = 32 };

static const char *refuses_columns(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->footprint)
        return "it does whole windows only";
    if (problem->rank != 12)
        return "it does medians alone";
    if (problem->window.anchor_x != 2 || problem->window.anchor_y != 2)
        return "it does centred windows only";
    return NULL;
}

static double cost_columns(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 15000 + 0.0025 * outputs_of(problem);
}

static tw_status prepare_columns(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_median_columns[false], 0));
    return twi_cuda_load_kernel(plan, twi_cuda_median_columns[true], 0);
}

static tw_status run_columns(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_box box = twi_cuda_box_arguments(plan, job);
    box.strip_height = COLUMNS_HEIGHT;
    const twi_cuda_shape shape = {
        .block_width = 32,
        .block_height = 1,
        .outputs_width = COLUMNS_WIDTH,
        .outputs_height = COLUMNS_HEIGHT,
    };
    return twi_cuda_launch_box(twi_cuda_median_columns[twi_cuda_aligned_to(job, 16)], &shape, box, job->stream);
}

const twi_code twi_rank_columns_cuda = {
    .refuses = refuses_columns,
    .cost = cost_columns,
    .prepare = prepare_columns,
    .run = run_columns,
};

/* ---- halving -------------------------------------------------------------------------------------------- */

static const void *kernel_halving(const tw_problem *problem)
{
    const int32_t side = problem->window.width;
    return side == problem->window.height && side % 2 ? twi_cuda_median_halving[(side - 7) / 2][problem->type] : NULL;
}

static const char *refuses_halving(const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    (void)context;
    if (problem->footprint)
        return "it does whole windows only";
    if (!kernel_halving(problem))
        return "it does 7x7, 9x9 and 11x11, the last but for f64";
    return problem->rank == window->width * window->height / 2 ? NULL : "it does medians alone";
}

static double cost_halving(const tw_context *context, const tw_problem *problem)
{
    static const double nanoseconds[TWI_CUDA_HALVINGS] = {0.017, 0.026, 0.044};
    const size_t size = tw_type_size(problem->type);
    (void)context;
    return 15000 + nanoseconds[(problem->window.width - 7) / 2] *
                       (size < 4    ? 0.5
                        : size == 4 ? 1
                                    : 4) *
                       outputs_of(problem) * problem->channels;
}

static tw_status prepare_halving(tw_plan *plan)
{
    return twi_cuda_load_kernel(plan, kernel_halving(&plan->problem), 0);
}

static tw_status run_halving(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int32_t channels = problem->channels;
    const bool pairs = tw_type_size(problem->type) < 4;
    const twi_cuda_shape shape = {
        .block_width = TWI_CUDA_HALVING_ACROSS,
        .block_height = TWI_CUDA_HALVING_DOWN,
        .outputs_width = (unsigned)(4 * (TWI_CUDA_HALVING_ACROSS / channels) * channels),
        .outputs_height = (pairs ? 4 : 2) * TWI_CUDA_HALVING_DOWN,
    };
    return twi_cuda_launch_box(kernel_halving(problem), &shape, twi_cuda_box_arguments(plan, job), job->stream);
}

const twi_code twi_rank_halving_cuda = {
    .refuses = refuses_halving,
    .cost = cost_halving,
    .prepare = prepare_halving,
    .run = run_halving,
};

/* ---- histogram ------------------------------------------------------------------------------------------ */

/* The fewest threads of which most make outputs, and their kernel for windows of that width. */
static const twi_cuda_histogram *histogram_of(const tw_window *window)
{
    const int32_t words = window->width < 10 ? 3 : (window->width + 6) / 4;
    for (int i = 0; i < TWI_CUDA_HISTOGRAMS; i++) {
        const twi_cuda_histogram *histogram = &twi_cuda_rank_histogram[i];
        if ((histogram->words == words || histogram->words == 0) && histogram->threads >= 3 * window->width)
            return histogram;
    }
    return NULL;
}

static const char *refuses_histogram(const tw_context *context, const tw_problem *problem)
{
    const twi_cuda_histogram *histogram = histogram_of(&problem->window);
    if (problem->footprint)
        return "it does whole windows only";
    if (!histogram)
        return "the window is too wide";
    if (context && (size_t)histogram->shared > twi_cuda_state_of(context)->shared_limit)
        return "its counts do not fit in the device's shared memory";
    return NULL;
}

/* Counts that change do not depend on the window, those that are added up grow with its width. */
static double cost_histogram(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 50000 + (0.0165 + 0.00042 * problem->window.width) * outputs_of(problem);
}

static tw_status prepare_histogram(tw_plan *plan)
{
    const twi_cuda_histogram *histogram = histogram_of(&plan->problem.window);
    return twi_cuda_load_kernel(plan, histogram->kernel, (size_t)histogram->shared);
}

static tw_status run_histogram(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const twi_cuda_histogram *histogram = histogram_of(&problem->window);
    const int32_t width = histogram->threads - problem->window.width + 1;
    const size_t blocks = twi_cuda_state_of(plan->context)->shared_limit / (size_t)histogram->shared;
    const twi_cuda_strip strip = {(int32_t)blocks, 1, 32, problem->window.height / 2.0};
    twi_cuda_order argument = {.box = twi_cuda_box_arguments(plan, job), .rank = (uint32_t)problem->rank};
    argument.box.strip_width = width;
    argument.box.strip_height =
        twi_cuda_strip_rows(plan, twi_divide_up(problem->width, width), job->last - job->first, &strip);
    const twi_cuda_shape shape = {
        .block_width = (unsigned)histogram->threads,
        .block_height = 1,
        .outputs_width = (unsigned)width,
        .outputs_height = (unsigned)argument.box.strip_height,
        .shared = (size_t)histogram->shared,
    };
    return twi_cuda_launch(histogram->kernel, &shape, &argument, problem->width, &argument.box.left,
                           &argument.box.first, job->last, job->stream);
}

const twi_code twi_rank_histogram_cuda = {
    .refuses = refuses_histogram,
    .cost = cost_histogram,
    .prepare = prepare_histogram,
    .run = run_histogram,
};

/* ---- places --------------------------------------------------------------------------------------------- */

enum {
    PLACES_LARGE_WIDTH = 256, /* a tile that is sorted in global memory */
    PLACES_LARGE_HEIGHT = 128,
    PLACES_LARGE_PIECE = 64,
    PLACES_SIDE = 254 /* at most, of what a tile reads that is sorted in shared memory */
};

/* How outputs are cut into tiles. */
typedef struct places {
    const twi_cuda_places_kernel *size; /* NULL: tiles are sorted in global memory */
    int32_t width;                      /* outputs */
    int32_t height;
    int32_t piece;
    double nanoseconds; /* an output takes, estimated */
} places;

static size_t places_item(const tw_problem *problem, bool large)
{
    const size_t size = tw_type_size(problem->type);
    if (large && size < 4)
        return 8;
    return size < 4 ? 4 : 2 * size;
}

/* Bytes of a block. */
static size_t places_shared(const tw_problem *problem, const twi_cuda_places_kernel *size)
{
    const size_t threads = size ? (size_t)size->threads : TWI_CUDA_PLACES_THREADS;
    const size_t sort = (TWI_CUDA_PLACES_ITEMS + 1) * threads * places_item(problem, !size);
    const size_t march = size ? TWI_CUDA_PLACES_ITEMS * threads * 6 + 16 : 0;
    return sort > march ? sort : march;
}

/* Items of a large tile, as they are sorted. */
static int64_t places_items(const tw_problem *problem)
{
    const int64_t width = PLACES_LARGE_WIDTH + problem->window.width - 1;
    const int64_t height = PLACES_LARGE_HEIGHT + problem->window.height - 1;
    return twi_round_up(width * height, TWI_CUDA_PLACES_ITEMS * TWI_CUDA_PLACES_THREADS);
}

/* Nanoseconds of steps along the order: from an output to the next the rank changes by about the root of a side of the
   window's positions, between which lie others of the tile. */
static double places_walk(const tw_window *window, double positions)
{
    const double side = window->width < window->height ? window->width : window->height;
    return 0.0015 * sqrt(side) * positions / ((double)window->width * window->height);
}

/* What a tile's windows read is about as much wider than high as the window: so there are the most outputs of what is
   sorted. */
static places places_of_size(const tw_problem *problem, const twi_cuda_places_kernel *size)
{
    const tw_window *window = &problem->window;
    const double room = TWI_CUDA_PLACES_ITEMS * size->threads;
    const double ideal = sqrt(room * (window->width + 7) / (window->height + 7));
    int64_t across = twi_max_i64(twi_min_i64((int64_t)ideal, PLACES_SIDE), window->width) / 2 * 2;
    places p = {.size = size, .nanoseconds = HUGE_VAL};
    p.width = (int32_t)twi_min_i64(across - window->width + 1, twi_max_i64(problem->width, 2));
    if (p.width < 1 || across > PLACES_SIDE)
        return p;
    across = twi_round_up(p.width + window->width - 1, 2);
    p.height = (int32_t)twi_min_i64((int64_t)room / across, PLACES_SIDE) - window->height + 1;
    if (p.height < 1)
        return p;
    const int32_t pieces = size->threads > p.width ? size->threads / p.width : 1;
    p.piece = (int32_t)twi_max_i64(twi_divide_up(p.height, pieces), twi_divide_up(window->height, 8));
    const double sort = (0.0027 * log2(room) - 0.017) * (problem->type == TW_F64 ? 2 : 1);
    const double words = window->width / 2 + 1;
    const double jobs = (double)p.width * (double)twi_divide_up(p.height, p.piece);
    const double idle = 1 + size->threads / (8 * jobs); /* few threads wait for shared memory together */
    p.nanoseconds = 0.005 + sort * room / ((double)p.width * p.height) + places_walk(window, room) +
                    0.00033 * words * (2 + (double)window->height / p.piece) * idle;
    return p;
}

static bool places_fit(const tw_context *context, const tw_problem *problem, const twi_cuda_places_kernel *size)
{
    return !context || places_shared(problem, size) <= twi_cuda_state_of(context)->shared_limit;
}

/* The fastest way; its width is 0 where there is none. */
static places places_of(const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const double side = sqrt((double)window->width * window->height);
    places best = {.nanoseconds = HUGE_VAL};
    if (places_fit(context, problem, NULL))
        best = (places){
            .width = PLACES_LARGE_WIDTH,
            .height = PLACES_LARGE_HEIGHT,
            .piece = PLACES_LARGE_PIECE,
            .nanoseconds = 0.06 + 0.0035 * side * (problem->type == TW_F64 ? 1.3 : 1) +
                           places_walk(window, (double)places_items(problem)),
        };
    for (int i = 0; i < TWI_CUDA_PLACES_SIZES; i++) {
        const twi_cuda_places_kernel *size = &twi_cuda_rank_places[i];
        const places p = places_of_size(problem, size);
        if (p.nanoseconds < best.nanoseconds && places_fit(context, problem, size))
            best = p;
    }
    return best;
}

static const char *refuses_places(const tw_context *context, const tw_problem *problem)
{
    if (problem->footprint)
        return "it does whole windows only";
    if (places_of(context, problem).width == 0)
        return "what such windows read does not fit in the device's shared memory";
    return NULL;
}

static double cost_places(const tw_context *context, const tw_problem *problem)
{
    return 30000 + places_of(context, problem).nanoseconds * outputs_of(problem) * problem->channels;
}

static const void *kernel_places(const tw_problem *problem, const places *p)
{
    return p->size ? p->size->kernel[problem->type] : twi_cuda_rank_places_large[problem->type];
}

/* Blocks that sort in global memory: no more than have work, or than the memory that may be taken has room for. */
static int64_t places_blocks(const tw_plan *plan, const places *p, size_t *bytes)
{
    static const size_t most = (size_t)512 << 20;
    const tw_problem *problem = &plan->problem;
    const int64_t tiles =
        twi_divide_up(problem->width, p->width) * problem->channels * twi_divide_up(problem->height, p->height);
    *bytes = 2 * (size_t)places_items(problem) * places_item(problem, true);
    const int64_t room = twi_max_i64(1, (int64_t)(most / *bytes));
    return twi_min_i64(twi_min_i64(tiles, room), twi_cuda_state_of(plan->context)->processors);
}

static tw_status prepare_places(tw_plan *plan)
{
    const places p = places_of(plan->context, &plan->problem);
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_places(&plan->problem, &p), places_shared(&plan->problem, p.size)));
    if (p.size)
        return TW_OK;
    size_t bytes = 0;
    const int64_t blocks = places_blocks(plan, &p, &bytes);
    return twi_plan_scratch(plan, (size_t)blocks * bytes);
}

static tw_status run_places(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const places p = places_of(plan->context, problem);
    twi_cuda_places argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .rank = (uint32_t)problem->rank,
        .piece = p.piece,
        .tiles_across = twi_divide_up(problem->width, p.width) * problem->channels,
        .tiles_down = twi_divide_up(job->last - job->first, p.height),
        .scratch = plan->scratch,
    };
    argument.box.strip_width = p.width;
    argument.box.strip_height = p.height;
    twi_cuda_shape shape = {
        .block_width = TWI_CUDA_PLACES_THREADS,
        .block_height = 1,
        .outputs_width = (unsigned)p.width,
        .outputs_height = (unsigned)p.height,
        .shared = places_shared(problem, p.size),
    };
    int64_t columns = argument.tiles_across * p.width;
    if (p.size) {
        shape.block_width = (unsigned)p.size->threads;
    } else {
        size_t bytes = 0;
        columns = places_blocks(plan, &p, &bytes) * p.width;
        shape.outputs_height = (unsigned)(job->last - job->first);
    }
    return twi_cuda_launch(kernel_places(problem, &p), &shape, &argument, columns, &argument.box.left,
                           &argument.box.first, job->last, job->stream);
}

const twi_code twi_rank_places_cuda = {
    .refuses = refuses_places,
    .cost = cost_places,
    .prepare = prepare_places,
    .run = run_places,
};
