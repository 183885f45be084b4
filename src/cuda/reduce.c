/*
 * reduce on CUDA, variant fast. A kernel looks at all pixels, and the last of its blocks put together what all have
 * made: one launch for most figures, another one for what needs the mean, and a third for the extremes of columns of
 * floats.
 */
#include <string.h>

#include "core/exact.h"
#include "cuda/reduce.h"

/* ---- What the figures need --------------------------------------------------------------------------- */

enum {
    SUMS = TW_FIGURE_SUM | TW_FIGURE_MEAN,
    SPREAD = TW_FIGURE_VAR | TW_FIGURE_STD, /* needs the mean before */
    SQUARES = SPREAD | TW_FIGURE_SQUARES
};

/* All but the squares, as a set. */
static int needs(const tw_problem *problem)
{
    int set = problem->figures & (SUMS | SPREAD) ? TWI_CUDA_SUM : 0;
    if (problem->figures & (TW_FIGURE_MIN | TW_FIGURE_ARGMIN))
        set |= TWI_CUDA_LOWEST;
    if (problem->figures & (TW_FIGURE_MAX | TW_FIGURE_ARGMAX))
        set |= TWI_CUDA_HIGHEST;
    if (problem->figures & TW_FIGURE_COUNT_NONZERO)
        set |= TWI_CUDA_COUNTS;
    return set;
}

enum { EXTREMES = TWI_CUDA_LOWEST | TWI_CUDA_HIGHEST };

/* The sets that there are kernels for. */
static const int all_sets[TWI_CUDA_SETS] = {TWI_CUDA_SUM, TWI_CUDA_LOWEST, TWI_CUDA_HIGHEST,
                                            EXTREMES,     TWI_CUDA_COUNTS, TWI_CUDA_EVERYTHING};
static const int few_sets[TWI_CUDA_FEW_SETS] = {TWI_CUDA_SUM, EXTREMES, TWI_CUDA_EVERYTHING};

/* The first that has all of `set`; the last has everything. */
static int find_set(const int *sets, int set)
{
    int i = 0;
    while ((sets[i] & set) != set)
        i++;
    return i;
}

/* ---- Looks: what is launched -------------------------------------------------------------------------------- */

enum { MOST_LOOKS = 3 };

typedef struct look {
    const void *kernel;
    unsigned figures; /* that it makes */
    bool squares;
    int64_t grid[2];       /* blocks */
    twi_cuda_reduce units; /* the argument of either kind of kernel, but for addresses */
    twi_cuda_columns columns;
    int64_t words_at[TWI_CUDA_REDUCE_LEVELS]; /* areas of units */
    int64_t begun_at[TWI_CUDA_REDUCE_LEVELS];
    int64_t sums_at; /* and of columns */
    int64_t extremes_at;
    int64_t counts_at;
    int64_t arrived_at;
} look;

/* A plan's looks, and its scratch memory. */
typedef struct layout {
    const tw_plan *plan;
    bool joined;
    look looks[MOST_LOOKS];
    int count;
    int64_t means_at;
    twi_cuda_areas areas;
} layout;

static look *add_look(layout *l, unsigned figures, bool squares)
{
    look *k = &l->looks[l->count++];
    *k = (look){.figures = figures, .squares = squares};
    return k;
}

/* Whether the pixels may be taken together: rows without gaps as one row; of columns, the elements of a word. */
static bool is_joined(const tw_problem *problem, const tw_image *src)
{
    const int64_t row = problem->width * problem->channels * (int64_t)tw_type_size(problem->type);
    if (problem->axis == TW_AXIS_Y)
        return ((uintptr_t)src->data | (uint64_t)src->pitch | (uint64_t)row) % 4 == 0;
    return src->pitch == row || problem->height == 1;
}

static bool is_narrow(const tw_problem *problem)
{
    return problem->width <= TWI_CUDA_NARROW_WIDTH;
}

/* ---- Rows, and the whole image ------------------------------------------------------------------------------ */

/* The levels above so many sequences of values that have figures of the set, until each record has one. */
static void add_levels(layout *l, look *k, int64_t count, int64_t sequences, int set)
{
    const tw_problem *problem = &l->plan->problem;
    const int words = (set & TWI_CUDA_SUM ? 1 : 0) + (set & TWI_CUDA_LOWEST ? 2 : 0) +
                      (set & TWI_CUDA_HIGHEST ? 2 : 0) + (set & TWI_CUDA_COUNTS ? 1 : 0);
    twi_cuda_reduce *a = &k->units;
    a->shares = count;
    k->grid[0] = a->blocks;
    k->grid[1] = 1;
    for (;;) {
        if (count == 1 && problem->axis == TW_AXIS_ALL) { /* the sums of a channel's rows are a sequence */
            count = sequences / problem->channels;
            sequences = problem->channels;
        }
        if (count == 1)
            break;
        twi_cuda_level *level = &a->level[a->levels];
        *level = (twi_cuda_level){
            .count = count,
            .nodes = twi_divide_up(count, TWI_LEAF),
            .sequences = sequences,
            .values = count * sequences,
        };
        k->words_at[a->levels] = twi_cuda_add_area(&l->areas, level->values, words * (int64_t)sizeof(uint64_t));
        k->begun_at[a->levels] = twi_cuda_add_area(&l->areas, level->nodes * sequences, sizeof(uint32_t));
        k->grid[0] += level->nodes * sequences;
        count = level->nodes;
        a->levels++;
    }
    const int64_t waiting = k->grid[0] - a->blocks;
    a->counted = waiting > TWI_CUDA_HELD * (int64_t)twi_cuda_state_of(l->plan->context)->processors;
}

/* Sums in the order of floats: pieces are rows, or leaves where rows are few and long. `which`: TWI_CUDA_LEAVES,
   TWI_CUDA_ALL_LEAVES or TWI_CUDA_SQUARES. */
static void add_leaves(layout *l, int which, unsigned figures)
{
    const tw_problem *problem = &l->plan->problem;
    look *k = add_look(l, figures, which == TWI_CUDA_SQUARES);
    twi_cuda_reduce *a = &k->units;
    const bool narrow = is_narrow(problem) && which != TWI_CUDA_ALL_LEAVES;
    const int64_t leaves = twi_divide_up(problem->width, TWI_LEAF);
    const bool rows = leaves <= 4 || (leaves <= TWI_CUDA_ROW_LEAVES && problem->height >= 2048);
    k->kernel = twi_cuda_reduce_leaf[problem->type][which + narrow];
    a->plane.width = problem->width;
    a->plane.height = problem->height;
    a->unit = rows ? problem->width : TWI_LEAF;
    a->units = rows ? 1 : leaves;
    a->pieces = a->units;
    a->blocks = problem->channels *
                (narrow ? twi_divide_up(problem->height, TWI_CUDA_NARROW_ROWS) : problem->height * a->units);
    add_levels(l, k, a->units, problem->height * problem->channels,
               which == TWI_CUDA_ALL_LEAVES ? TWI_CUDA_EVERYTHING : TWI_CUDA_SUM);
}

/* Everything else, in any order: as many blocks as are at work at a time, which take pieces in turn. */
static void add_sweep(layout *l, int set, unsigned figures)
{
    const tw_problem *problem = &l->plan->problem;
    const bool of_rows = problem->axis == TW_AXIS_X;
    const bool joined = l->joined && !of_rows;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    const bool brief = of_rows && problem->width * size <= TWI_CUDA_SHORT_BYTES;
    const int *const sets = brief ? few_sets : all_sets;
    const int which = find_set(sets, set);
    const int64_t sequences = problem->channels * (of_rows ? problem->height : 1);
    look *k = add_look(l, figures, false);
    twi_cuda_reduce *a = &k->units;
    k->kernel = brief ? twi_cuda_reduce_short_rows[problem->type][which] : twi_cuda_reduce_sweep[problem->type][which];
    a->plane.width = joined ? problem->width * problem->height : problem->width;
    a->plane.height = joined ? 1 : problem->height;
    a->unit = TWI_CUDA_ROUND_BYTES / size;
    a->units = twi_divide_up(a->plane.width, a->unit);
    a->pieces = a->units * (of_rows ? 1 : a->plane.height);
    const int64_t wave = twi_min_i64(8 * (int64_t)twi_cuda_state_of(l->plan->context)->processors, TWI_CUDA_SHARES);
    const int64_t least = twi_divide_up(a->pieces, size == 2 ? TWI_CUDA_MOST_PIECES_16 : TWI_CUDA_MOST_PIECES);
    const int64_t shares = twi_min_i64(twi_max_i64(wave / sequences, least), a->pieces);
    a->blocks = shares * sequences;
    add_levels(l, k, shares, sequences, sets[which]);
    if (brief)
        k->grid[0] = twi_divide_up(sequences, TWI_CUDA_SHORT_ROWS);
}

/* ---- Columns ------------------------------------------------------------------------------------------------ */

static void add_strips(layout *l, look *k, int64_t strips, int64_t parts)
{
    k->grid[0] = strips;
    k->grid[1] = parts;
    k->columns.parts = parts;
    k->arrived_at = twi_cuda_add_area(&l->areas, strips, sizeof(uint32_t));
}

static void add_columns(layout *l, int set, unsigned figures)
{
    const tw_problem *problem = &l->plan->problem;
    const int which = find_set(few_sets, set);
    const int64_t size = (int64_t)tw_type_size(problem->type);
    const int64_t elements = problem->width * problem->channels;
    const int64_t strip = TWI_CUDA_STRIP * (l->joined && size < 4 ? 4 / size : 1);
    const int64_t strips = twi_divide_up(elements, strip);
    const int64_t wanted = twi_divide_up(8 * (int64_t)twi_cuda_state_of(l->plan->context)->processors, strips);
    const int64_t unit = TWI_CUDA_STRIP_ROWS * TWI_CUDA_CHUNK_ROWS;
    look *k = add_look(l, figures, false);
    k->kernel = twi_cuda_reduce_columns[l->joined][problem->type][which];
    k->columns.part_rows = twi_min_i64(twi_divide_up(twi_divide_up(problem->height, wanted), unit) * unit,
                                       TWI_CUDA_PART_ROWS / unit * unit);
    add_strips(l, k, strips, twi_divide_up(problem->height, k->columns.part_rows));
    const int64_t values = k->columns.parts * elements; /* fewer than pixels */
    if (few_sets[which] & TWI_CUDA_SUM)
        k->sums_at = twi_cuda_add_area(&l->areas, values, sizeof(int64_t));
    if (few_sets[which] & EXTREMES)
        k->extremes_at = twi_cuda_add_area(&l->areas, values, sizeof(twi_cuda_extremes));
    if (few_sets[which] & TWI_CUDA_COUNTS)
        k->counts_at = twi_cuda_add_area(&l->areas, values, sizeof(uint64_t));
}

static void add_lanes(layout *l, bool squares, unsigned figures)
{
    const tw_problem *problem = &l->plan->problem;
    const int64_t elements = problem->width * problem->channels;
    const int64_t leaves = twi_divide_up(problem->height, (int64_t)TWI_LEAF * TWI_GROUP);
    look *k = add_look(l, figures, squares);
    k->kernel = twi_cuda_reduce_lanes[problem->type][squares];
    add_strips(l, k, twi_divide_up(elements, TWI_CUDA_STRIP), TWI_CUDA_LANE_PARTS);
    k->sums_at = twi_cuda_add_area(&l->areas, elements, leaves * TWI_CUDA_LANE_PARTS * (int64_t)sizeof(double));
}

/* ---- The plan ------------------------------------------------------------------------------------------------- */

static layout lay_out(const tw_plan *plan, bool joined)
{
    const tw_problem *problem = &plan->problem;
    const bool columns = problem->axis == TW_AXIS_Y;
    const int set = needs(problem);
    layout l = {.plan = plan, .joined = joined};
    if (problem->figures & SPREAD)
        l.means_at = twi_cuda_add_area(&l.areas, columns ? problem->width : problem->height,
                                       problem->channels * (int64_t)sizeof(double));
    if (!twi_cuda_has_floats(problem) || !(set & TWI_CUDA_SUM)) {
        if (set)
            (columns ? add_columns : add_sweep)(&l, set, ~(unsigned)SQUARES);
    } else if (columns || is_narrow(problem)) { /* in looks of their own */
        if (columns)
            add_lanes(&l, false, SUMS);
        else
            add_leaves(&l, TWI_CUDA_LEAVES, SUMS);
        if (set != TWI_CUDA_SUM)
            (columns ? add_columns : add_sweep)(&l, set & ~TWI_CUDA_SUM, ~(unsigned)(SUMS | SQUARES));
    } else {
        add_leaves(&l, set == TWI_CUDA_SUM ? TWI_CUDA_LEAVES : TWI_CUDA_ALL_LEAVES, ~(unsigned)SQUARES);
    }
    if (problem->figures & SQUARES) {
        if (columns)
            add_lanes(&l, true, SQUARES);
        else
            add_leaves(&l, TWI_CUDA_SQUARES, SQUARES);
    }
    return l;
}

/* The sums of columns reach so far: a leaf of leaves of groups. */
static const char *refuses(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    if (problem->axis == TW_AXIS_Y && twi_divide_up(problem->height, TWI_GROUP) > (int64_t)TWI_LEAF * TWI_LEAF)
        return "its columns are at most 2^29 pixels high";
    if (problem->axis != TW_AXIS_Y && (double)problem->height * problem->channels > 0x1p31)
        return "its images have at most 2^31 rows, those of each channel counted";
    return NULL;
}

static double cost(const tw_context *context, const tw_problem *problem)
{
    const int looks = (needs(problem) != 0) + ((problem->figures & SQUARES) != 0); /* at least one */
    (void)context;
    return 3000 + looks * 0.00022 * twi_cuda_src_bytes(problem);
}

/* Words and counters are 0 between launches. */
static tw_status clear(const tw_plan *plan, int64_t bytes)
{
    cudaStream_t stream = twi_cuda_state_of(plan->context)->compute;
    int before = 0;
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    cudaError_t error = cudaMemsetAsync(plan->scratch, 0, (size_t)bytes, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return twi_cuda_leave(before, error == cudaSuccess ? TW_OK : twi_cuda_fail(error, "cudaMemsetAsync"));
}

static tw_status prepare(tw_plan *plan)
{
    twi_cuda_areas most = {0}; /* the images of a run decide which layout it is */
    for (int joined = 0; joined < 2; joined++) {
        const layout l = lay_out(plan, joined);
        most.bytes = twi_max_i64(most.bytes, l.areas.bytes);
        most.uncounted = most.uncounted || l.areas.uncounted;
        for (int i = 0; i < l.count; i++)
            TWI_TRY(twi_cuda_load_kernel(plan, l.looks[i].kernel, 0));
    }
    TWI_TRY(twi_cuda_take_areas(plan, &most));
    return clear(plan, most.bytes);
}

static tw_status launch_units(const layout *l, look *k, const twi_job *job, const twi_cuda_record *record,
                              const twi_cuda_middle *middle)
{
    static const twi_cuda_shape shape = {TWI_LANES, 1, 1, 1, 0};
    twi_cuda_reduce *a = &k->units;
    a->plane.src = job->src.data;
    a->plane.pitch = job->src.pitch;
    a->plane.channels = job->src.channels;
    a->record = *record;
    a->middle = *middle;
    for (int i = 0; i < a->levels; i++) {
        a->level[i].words = twi_cuda_area(l->plan, k->words_at[i]);
        a->level[i].begun = twi_cuda_area(l->plan, k->begun_at[i]);
    }
    return twi_cuda_launch_early(l->plan, k->kernel, &shape, a, k->grid[0], &a->left, &a->first, k->grid[1],
                                 job->stream);
}

static tw_status launch_columns(const layout *l, look *k, const twi_job *job, const twi_cuda_record *record,
                                const twi_cuda_middle *middle)
{
    static const twi_cuda_shape shape = {TWI_CUDA_STRIP, TWI_CUDA_STRIP_ROWS, 1, 1, 0};
    twi_cuda_columns *a = &k->columns;
    a->plane = twi_cuda_plane_of(&job->src);
    a->record = *record;
    a->middle = *middle;
    a->sums = twi_cuda_area(l->plan, k->sums_at);
    a->extremes = twi_cuda_area(l->plan, k->extremes_at);
    a->counts = twi_cuda_area(l->plan, k->counts_at);
    a->arrived = twi_cuda_area(l->plan, k->arrived_at);
    return twi_cuda_launch_early(l->plan, k->kernel, &shape, a, k->grid[0], &a->left, &a->first, k->grid[1],
                                 job->stream);
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    layout l = lay_out(plan, is_joined(problem, &job->src));
    double *means = problem->figures & SPREAD ? twi_cuda_area(plan, l.means_at) : NULL;
    for (int i = 0; i < l.count; i++) {
        look *k = &l.looks[i];
        twi_cuda_record record = twi_cuda_record_of(plan, job, k->figures);
        twi_cuda_middle middle = {.means = means, .squares = k->squares};
        memcpy(middle.about, problem->about, sizeof middle.about);
        record.add = i > 0;
        record.means = i == 0 ? means : NULL;
        TWI_TRY((problem->axis == TW_AXIS_Y ? launch_columns : launch_units)(&l, k, job, &record, &middle));
    }
    return TW_OK;
}

const twi_code twi_reduce_fast_cuda = {
    .refuses = refuses,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .whole = true,
};
