/* rank on CUDA, variant places: how the outputs are cut into tiles, and what its kernels know of a footprint. */
#include <math.h>
#include <string.h>

#include "cuda/host.h"

enum {
    LARGE_WIDTH = 256, /* a tile that is sorted in global memory */
    LARGE_HEIGHT = 128,
    LARGE_PIECE = 64,
    MOST_SIDE = 254, /* of what a tile reads that is sorted in shared memory */
    BLOCK = 8        /* that a walk looks at together */
};

/* What decides how long a footprint takes; 0 of whole windows. */
typedef struct counts {
    int32_t positions; /* that take part */
    int32_t changes;   /* that a window gets as it goes down a row, as many as it loses; 0: too many to matter */
} counts;

/* How outputs are cut into tiles. */
typedef struct places {
    const twi_cuda_places_kernel *size; /* NULL: tiles are sorted in global memory */
    int32_t width;                      /* outputs */
    int32_t height;
    int32_t piece;
    double nanoseconds; /* an output takes, estimated */
    counts counts;
} places;

/* ---- Footprints ----------------------------------------------------------------------------------------- */

static bool takes_part(const tw_problem *problem, int32_t i, int32_t j)
{
    const tw_window *window = &problem->window;
    return j >= 0 && j < window->height && problem->footprint[(int64_t)j * window->width + i];
}

static counts counts_of(const tw_problem *problem)
{
    counts c = {0};
    if (!problem->footprint)
        return c;
    c.positions = (int32_t)twi_footprint_count(&problem->window, problem->footprint);
    for (int32_t j = 0; j < problem->window.height; j++)
        for (int32_t i = 0; i < problem->window.width; i++)
            c.changes += takes_part(problem, i, j) && !takes_part(problem, i, j - 1);
    if (2 * c.changes >= c.positions)
        c.changes = 0;
    return c;
}

static int32_t read_width(const tw_problem *problem, const places *p)
{
    return p->width + problem->window.width - 1;
}

/* Words of a row of places (twi_cuda_footprint). */
static int32_t pitch_of(const tw_problem *problem, const places *p)
{
    return (p->size ? p->width / 2 : p->width) + problem->window.width - 1;
}

static int32_t map_words(const tw_problem *problem, const places *p)
{
    return (int32_t)twi_divide_up((int64_t)problem->window.height * read_width(problem, p), 32) + 1;
}

/* Where lists and map lie, in words. */
static int64_t enters_at(const counts *c)
{
    return twi_round_up(c->positions, 4);
}

static int64_t leaves_at(const counts *c)
{
    return enters_at(c) + twi_round_up(c->changes, 4);
}

static int64_t map_at(const counts *c)
{
    return leaves_at(c) + twi_round_up(c->changes, 4);
}

static int64_t footprint_words(const tw_problem *problem, const places *p)
{
    return problem->footprint ? map_at(&p->counts) + map_words(problem, p) : 0;
}

/* Writes the lists and the map. */
static void describe_footprint(const tw_problem *problem, const places *p, uint32_t *words)
{
    const int32_t pitch = pitch_of(problem, p);
    uint32_t *all = words;
    uint32_t *enters = words + enters_at(&p->counts);
    uint32_t *leaves = words + leaves_at(&p->counts);
    uint32_t *const map = words + map_at(&p->counts);
    for (int32_t j = 0; j < problem->window.height; j++) {
        for (int32_t i = 0; i < problem->window.width; i++) {
            const int64_t bit = (int64_t)j * read_width(problem, p) + i;
            if (!takes_part(problem, i, j))
                continue;
            map[bit / 32] |= 0x80000000u >> (bit % 32);
            *all++ = (uint32_t)(j * pitch + i);
            if (p->counts.changes == 0)
                continue;
            if (!takes_part(problem, i, j + 1))
                *enters++ = (uint32_t)((j + 1) * pitch + i);
            if (!takes_part(problem, i, j - 1))
                *leaves++ = (uint32_t)(j * pitch + i);
        }
    }
}

/* ---- Tiles ---------------------------------------------------------------------------------------------- */

static size_t item_bytes(const tw_problem *problem, bool large)
{
    const size_t size = tw_type_size(problem->type);
    if (large && size < 4)
        return 8;
    return size < 4 ? 4 : 2 * size;
}

/* Bytes of a block. */
static size_t shared_bytes(const tw_problem *problem, const places *p)
{
    const size_t threads = p->size ? (size_t)p->size->threads : TWI_CUDA_PLACES_THREADS;
    const size_t sort = (TWI_CUDA_PLACES_ITEMS + 1) * threads * item_bytes(problem, !p->size);
    size_t march = 0;
    if (p->size && problem->footprint) {
        const int64_t rows = p->height + problem->window.height - 1;
        march = TWI_CUDA_PLACES_ITEMS * threads * 2 + 4 * (size_t)(rows * pitch_of(problem, p) + map_words(problem, p));
    } else if (p->size) {
        march = TWI_CUDA_PLACES_ITEMS * threads * 6 + 16;
    }
    return sort > march ? sort : march;
}

/* Items of a large tile, as they are sorted. */
static int64_t large_items(const tw_problem *problem)
{
    const int64_t width = LARGE_WIDTH + problem->window.width - 1;
    const int64_t height = LARGE_HEIGHT + problem->window.height - 1;
    return twi_round_up(width * height, TWI_CUDA_PLACES_ITEMS * TWI_CUDA_PLACES_THREADS);
}

/* Nanoseconds of steps along the order: from an output to the next the rank changes by about the root of a side of the
   window's positions, between which lie others of the tile. */
static double walk_time(const tw_window *window, double positions)
{
    const double side = window->width < window->height ? window->width : window->height;
    return 0.0015 * sqrt(side) * positions / ((double)window->width * window->height);
}

/* The same of a footprint, and counting: the rank changes by about the root of the positions that do; where that is
   far, places are found by counting all positions anew, half as far each time. */
static double footprint_time(const places *p, double read, double compared)
{
    const double changes = p->counts.changes > 0 ? 2 * p->counts.changes : p->counts.positions;
    const double all = p->counts.positions;
    const double walk = 0.0013 * sqrt(changes) * read / all;
    const double search = 0.9 * log2(1.5 * read / all) * compared * all;
    return 0.03 + compared * (changes + 1.5 * all / p->piece) + fmin(walk, search);
}

/* Outputs across and down of what a tile of that size can read, and their time. What their windows read is about as
   much wider than high as the window: so there are the most outputs of what is sorted. */
static places places_of_size(const tw_problem *problem, const twi_cuda_places_kernel *size, const counts *c)
{
    const tw_window *window = &problem->window;
    const double room = TWI_CUDA_PLACES_ITEMS * size->threads;
    const double ideal = sqrt(room * (window->width + 7) / (window->height + 7));
    int64_t across = twi_max_i64(twi_min_i64((int64_t)ideal, MOST_SIDE), window->width) / 2 * 2;
    places p = {.size = size, .nanoseconds = HUGE_VAL, .counts = *c};
    p.width = (int32_t)twi_min_i64(across - window->width + 1, twi_max_i64(problem->width, 2));
    if (problem->footprint)
        p.width = p.width / 2 * 2;
    if (p.width < 1 || across > MOST_SIDE)
        return p;
    across = twi_round_up(p.width + window->width - 1, 2);
    p.height = (int32_t)twi_min_i64((int64_t)room / across, MOST_SIDE) - window->height + 1;
    if (p.height < 1)
        return p;
    const int32_t columns = problem->footprint ? p.width / 2 : p.width;
    const int32_t pieces = size->threads > columns ? size->threads / columns : 1;
    p.piece = (int32_t)twi_max_i64(twi_divide_up(p.height, pieces), twi_divide_up(window->height, 8));
    const double sort = (0.0027 * log2(room) - 0.017) * (problem->type == TW_F64 ? 2 : 1);
    const double words = window->width / 2 + 1;
    const double jobs = (double)columns * (double)twi_divide_up(p.height, p.piece);
    const double idle = 1 + size->threads / (8 * jobs); /* few threads wait for shared memory together */
    p.nanoseconds = 0.005 + sort * room / ((double)p.width * p.height);
    p.nanoseconds += problem->footprint
                         ? footprint_time(&p, room, 0.00018 * idle)
                         : walk_time(window, room) + 0.00033 * words * (2 + (double)window->height / p.piece) * idle;
    return p;
}

static bool places_fit(const tw_context *context, const tw_problem *problem, const places *p)
{
    return !context || shared_bytes(problem, p) <= twi_cuda_state_of(context)->shared_limit;
}

/* The fastest way; its width is 0 where there is none. */
static places places_of(const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const counts c = counts_of(problem);
    const double side = sqrt((double)window->width * window->height);
    places best = {.nanoseconds = HUGE_VAL};
    places large = {.width = LARGE_WIDTH, .height = LARGE_HEIGHT, .piece = LARGE_PIECE, .counts = c};
    if (places_fit(context, problem, &large)) {
        best = large;
        best.nanoseconds = 0.06 + 0.0035 * side * (problem->type == TW_F64 ? 1.3 : 1);
        best.nanoseconds += problem->footprint ? footprint_time(&large, (double)large_items(problem), 0.001)
                                               : walk_time(window, (double)large_items(problem));
    }
    for (int i = 0; i < TWI_CUDA_PLACES_SIZES; i++) {
        const places p =
            places_of_size(problem, problem->footprint ? &twi_cuda_rank_footprint[i] : &twi_cuda_rank_places[i], &c);
        if (p.nanoseconds < best.nanoseconds && places_fit(context, problem, &p))
            best = p;
    }
    return best;
}

/* ---- The variant ---------------------------------------------------------------------------------------- */

static const char *refuses_places(const tw_context *context, const tw_problem *problem)
{
    if (places_of(context, problem).width == 0)
        return "what such windows read does not fit in the device's shared memory";
    return NULL;
}

static double cost_places(const tw_context *context, const tw_problem *problem)
{
    return 30000 + places_of(context, problem).nanoseconds * (double)problem->width * (double)problem->height *
                       problem->channels;
}

static const void *kernel_places(const tw_problem *problem, const places *p)
{
    if (p->size)
        return p->size->kernel[problem->type];
    return problem->footprint ? twi_cuda_rank_footprint_large[problem->type]
                              : twi_cuda_rank_places_large[problem->type];
}

/* Blocks that sort in global memory: no more than have work, or than the memory that may be taken has room for. */
static int64_t large_blocks(const tw_plan *plan, const places *p, size_t *bytes)
{
    static const size_t most = (size_t)512 << 20;
    const tw_problem *problem = &plan->problem;
    const int64_t tiles =
        twi_divide_up(problem->width, p->width) * problem->channels * twi_divide_up(problem->height, p->height);
    *bytes = 2 * (size_t)large_items(problem) * item_bytes(problem, true);
    const int64_t room = twi_max_i64(1, (int64_t)(most / *bytes));
    return twi_min_i64(twi_min_i64(tiles, room), twi_cuda_state_of(plan->context)->processors);
}

/* The scratch memory begins with what large tiles need, all in all a multiple of 16 bytes. */
static size_t sorting_bytes(const tw_plan *plan, const places *p)
{
    size_t bytes = 0;
    return p->size ? 0 : (size_t)large_blocks(plan, p, &bytes) * bytes;
}

static tw_status send_footprint(const tw_plan *plan, const places *p)
{
    const size_t bytes = 4 * (size_t)footprint_words(&plan->problem, p);
    void *words = NULL;
    if (bytes == 0)
        return TW_OK;
    TWI_TRY(twi_host_allocate(plan->context, bytes, &words));
    memset(words, 0, bytes);
    describe_footprint(&plan->problem, p, words);
    const tw_status status = twi_cuda_send(plan->context, (char *)plan->scratch + sorting_bytes(plan, p), words, bytes);
    twi_host_release(plan->context, words);
    return status;
}

static tw_status prepare_places(tw_plan *plan)
{
    TWI_TRY(twi_host_allocate(plan->context, sizeof(places), &plan->state));
    places *p = plan->state;
    *p = places_of(plan->context, &plan->problem);
    TWI_TRY(twi_cuda_load_kernel(plan, kernel_places(&plan->problem, p), shared_bytes(&plan->problem, p)));
    const size_t bytes = sorting_bytes(plan, p) + 4 * (size_t)footprint_words(&plan->problem, p);
    if (bytes == 0)
        return TW_OK;
    TWI_TRY(twi_plan_scratch(plan, bytes));
    return send_footprint(plan, p);
}

static void release_places(tw_plan *plan)
{
    twi_host_release(plan->context, plan->state);
}

static tw_status run_places(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const places *p = plan->state;
    const uint32_t *words = (const uint32_t *)((const char *)plan->scratch + sorting_bytes(plan, p));
    /* kernels of whole windows take its first member alone */
    twi_cuda_footprint argument = {
        .tiles =
            {
                .box = twi_cuda_box_arguments(plan, job),
                .rank = (uint32_t)problem->rank,
                .piece = p->piece,
                .tiles_across = twi_divide_up(problem->width, p->width) * problem->channels,
                .tiles_down = twi_divide_up(job->last - job->first, p->height),
                .scratch = plan->scratch,
            },
    };
    twi_cuda_box *box = &argument.tiles.box;
    box->strip_width = p->width;
    box->strip_height = p->height;
    if (problem->footprint) {
        argument.offsets = (const int32_t *)words;
        argument.positions = p->counts.positions;
        argument.changes = p->counts.changes;
        argument.enters = (int32_t)enters_at(&p->counts);
        argument.leaves = (int32_t)leaves_at(&p->counts);
        argument.pitch = pitch_of(problem, p);
        argument.words = map_words(problem, p);
        argument.bits = words + map_at(&p->counts);
        argument.far = fmaxf(BLOCK, 0.75F * (float)p->counts.positions);
    }
    twi_cuda_shape shape = {
        .block_width = p->size ? (unsigned)p->size->threads : TWI_CUDA_PLACES_THREADS,
        .block_height = 1,
        .outputs_width = (unsigned)p->width,
        .outputs_height = (unsigned)p->height,
        .shared = shared_bytes(problem, p),
    };
    int64_t columns = argument.tiles.tiles_across * p->width;
    if (!p->size) {
        size_t bytes = 0;
        columns = large_blocks(plan, p, &bytes) * p->width;
        shape.outputs_height = (unsigned)(job->last - job->first);
    }
    return twi_cuda_launch(kernel_places(problem, p), &shape, &argument, columns, &box->left, &box->first, job->last,
                           job->stream);
}

const twi_code twi_rank_places_cuda = {
    .refuses = refuses_places,
    .cost = cost_places,
    .prepare = prepare_places,
    .run = run_places,
    .release = release_places,
};
