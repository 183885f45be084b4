/*
 * reduce on the CPU: how rows, columns and the whole image are cut among threads, and how their parts become records.
 * Sums of integers, extremes and counts may be put together in any order; sums of floats follow core/exact.h: leaves
 * of a row are computed wherever, and added up by one thread.
 */
#include "core/sequence.h"
#include "cpu/cpu.h"
#include "cpu/reduce.h"
#include "cpu/rows.h"

enum {
    CHANNELS = 4,
    PIECE_LEAVES = 4, /* of a row: what a thread takes at a time, near enough for several looks at it */
    PIECE = PIECE_LEAVES * TWI_LEAF,
    PIECES_A_THREAD = 1024, /* of the whole image, before their leaves are added up */
    STRIP = 512,            /* columns, in elements, that a thread takes */
    EXACT_ROWS = 1 << 20    /* rows whose sum in 64 bits is exact for any type */
};

/* What the figures need. */
typedef struct demand {
    bool floats; /* sums by leaves */
    bool exact;  /* sums of integers */
    bool squares;
    bool range;
    bool places;
    bool counts;
} demand;

/* What is known of a channel's pixels. */
typedef struct tally {
    twi_i128 exact;
    double sum;
    double squares;
    uint64_t counts;
    int64_t lowest; /* keys */
    int64_t highest;
    int64_t lowest_x;
    int64_t lowest_y;
    int64_t highest_x;
    int64_t highest_y;
} tally;

/* A run. */
typedef struct reduction {
    const tw_plan *plan;
    const twi_job *job;
    const twi_reduce_kernels *kernels;
    demand want;
    int channels;
    int64_t pieces;      /* of a row */
    int64_t first;       /* the piece of the image that `leaves` begins with */
    double *leaves;      /* of the pieces that are under way: PIECE_LEAVES * channels each */
    const double *means; /* in the second look: the mean of every lane */
    char *workers;
    int64_t worker_bytes;
} reduction;

/* A worker's scratch, for rows and the whole image. */
typedef struct row_room {
    tally tallies[CHANNELS];
    twi_sequence row[CHANNELS];
    twi_sequence all[CHANNELS];
    double means[TWI_LANES * CHANNELS];
} row_room;

/* And for columns. */
typedef struct column_room {
    double lanes[TWI_LANES][STRIP];
    twi_sequence sequences[STRIP];
    double group[STRIP];
    double sums[STRIP];
    double squares[STRIP];
    double means[STRIP];
    int64_t exact[STRIP];
    twi_i128 total[STRIP];
    int64_t lowest[STRIP];
    int64_t highest[STRIP];
    int64_t lowest_y[STRIP];
    int64_t highest_y[STRIP];
    uint64_t counts[STRIP];
} column_room;

static demand demand_of(const tw_problem *problem)
{
    const unsigned figures = problem->figures;
    const bool floats = (TWI_BIT(problem->type) & TWI_FLOATS) != 0;
    demand want = {
        .squares = (figures & (TW_FIGURE_VAR | TW_FIGURE_STD | TW_FIGURE_SQUARES)) != 0,
        .places = (figures & (TW_FIGURE_ARGMIN | TW_FIGURE_ARGMAX)) != 0,
        .counts = (figures & TW_FIGURE_COUNT_NONZERO) != 0,
    };
    const bool sums = (figures & (TW_FIGURE_SUM | TW_FIGURE_MEAN | TW_FIGURE_VAR | TW_FIGURE_STD)) != 0;
    want.floats = sums && floats;
    want.exact = sums && !floats;
    want.range = want.places || (figures & (TW_FIGURE_MIN | TW_FIGURE_MAX)) != 0;
    return want;
}

/* ---- Records ------------------------------------------------------------------------------------- */

/* What squares are made about, where it is not the mean; NULL: it is. */
static const double *about_of(const reduction *r)
{
    return r->plan->problem.figures & TW_FIGURE_SQUARES ? r->plan->problem.about : NULL;
}

static double mean_of(const reduction *r, tally *t, double count)
{
    if (r->want.exact)
        t->sum = (double)t->exact;
    return t->sum / count;
}

static void make_record(const reduction *r, tally *t, double count, twi_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->mean = mean_of(r, t, count);
    stats->sum = t->sum;
    stats->sum_low = (uint64_t)t->exact;
    stats->sum_high = (int64_t)(t->exact >> 64);
    stats->var = about_of(r) ? t->squares : t->squares / count;
    stats->min = twi_value_of_key(t->lowest);
    stats->max = twi_value_of_key(t->highest);
    stats->argmin_x = t->lowest_x;
    stats->argmin_y = t->lowest_y;
    stats->argmax_x = t->highest_x;
    stats->argmax_y = t->highest_y;
    stats->count_nonzero = t->counts;
    twi_stats_finish((int)r->plan->problem.figures, stats);
}

static twi_stats *record_at(const reduction *r, int64_t x, int64_t y)
{
    char *row = (char *)r->job->dst.data + y * r->job->dst.pitch;
    return (twi_stats *)(void *)row + x * r->channels;
}

/* ---- A piece of a row ---------------------------------------------------------------------------- */

static void clear(tally *tallies, int count)
{
    memset(tallies, 0, (size_t)count * sizeof *tallies);
    for (int i = 0; i < count; i++) {
        tallies[i].lowest = INT64_MAX; /* above every key, and below */
        tallies[i].highest = INT64_MIN;
    }
}

/* The fold of core/exact.h for all channels; only the first `used` lanes hold something. */
static void fold_lanes(double *lanes, int64_t used, int64_t channels)
{
    for (int64_t half = TWI_LANES / 2; half > 0; half /= 2) {
        for (int64_t k = 0; k < (used - half) * channels; k++)
            lanes[k] += lanes[half * channels + k];
        used = twi_min_i64(used, half);
    }
}

/* The sums of the leaves of so many pixels, channel by channel. */
static void sum_leaves(const reduction *r, const char *at, int64_t pixels, double *leaves)
{
    const int64_t size = (int64_t)tw_type_size(r->plan->problem.type);
    const int64_t channels = r->channels;
    double lanes[TWI_LANES * CHANNELS];
    for (; pixels > 0; pixels -= TWI_LEAF, at += TWI_LEAF * channels * size, leaves += channels) {
        const int64_t some = twi_min_i64(pixels, TWI_LEAF);
        const int64_t used = twi_min_i64(some, TWI_LANES); /* the others hold +0, which changes nothing */
        memset(lanes, 0, (size_t)(used * channels) * sizeof lanes[0]);
        if (r->means)
            r->kernels->add_squares(lanes, TWI_LANES * channels, r->means, at, some * channels);
        else
            r->kernels->add(lanes, TWI_LANES * channels, at, some * channels);
        fold_lanes(lanes, used, channels);
        memcpy(leaves, lanes, (size_t)channels * sizeof *leaves);
    }
}

static void find_range(const reduction *r, const char *at, int64_t n, int64_t x, int64_t y, tally *tallies)
{
    const twi_reduce_kernels *kernels = r->kernels;
    const int channels = r->channels;
    int64_t lowest[TWI_REDUCE_REST];
    int64_t highest[TWI_REDUCE_REST];
    kernels->range_row(lowest, highest, at, n, channels);
    for (int channel = 0; channel < channels; channel++) {
        tally *t = &tallies[channel];
        int64_t low = lowest[channel];
        int64_t high = highest[channel];
        for (int k = channel; k < TWI_REDUCE_REST; k += channels) {
            low = twi_min_i64(low, lowest[k]);
            high = twi_max_i64(high, highest[k]);
        }
        if (low < t->lowest) {
            t->lowest = low;
            t->lowest_x = r->want.places ? x + kernels->find(at, n, channels, channel, low) / channels : 0;
            t->lowest_y = y;
        }
        if (high > t->highest) {
            t->highest = high;
            t->highest_x = r->want.places ? x + kernels->find(at, n, channels, channel, high) / channels : 0;
            t->highest_y = y;
        }
    }
}

/* All but the sums of floats. */
static void take_exact(const reduction *r, const char *at, int64_t pixels, int64_t x, int64_t y, tally *tallies)
{
    const int64_t n = pixels * r->channels;
    int64_t sums[TWI_REDUCE_REST] = {0};
    uint64_t counts[TWI_REDUCE_REST] = {0};
    if (r->want.exact)
        r->kernels->sum_row(sums, at, n);
    if (r->want.counts)
        r->kernels->count_row(counts, at, n);
    if (r->want.range)
        find_range(r, at, n, x, y, tallies);
    for (int k = 0; k < TWI_REDUCE_REST; k++) {
        tallies[k % r->channels].exact += sums[k];
        tallies[k % r->channels].counts += counts[k];
    }
}

/* Piece `index` of row y: its place, and its pixels. */
static const char *piece_of(const reduction *r, int64_t y, int64_t index, int64_t *pixels)
{
    const tw_image *src = &r->job->src;
    *pixels = twi_min_i64(src->width - index * PIECE, PIECE);
    return (const char *)src->data + y * src->pitch + index * PIECE * r->channels * (int64_t)tw_type_size(src->type);
}

/* Adds a piece's leaves, of which there are enough for so many pixels, to the sums of the row. */
static void add_leaves(const reduction *r, const double *leaves, int64_t pixels, twi_sequence *row)
{
    for (; pixels > 0; pixels -= TWI_LEAF, leaves += r->channels)
        for (int channel = 0; channel < r->channels; channel++)
            twi_sequence_add(&row[channel], 1, leaves[channel]);
}

static void spread_means(const reduction *r, tally *tallies, double count, double *means)
{
    for (int channel = 0; channel < r->channels; channel++)
        means[channel] = about_of(r) ? about_of(r)[channel] : mean_of(r, &tallies[channel], count);
    const int64_t lanes = twi_min_i64(r->plan->problem.width, TWI_LANES); /* those that a row has */
    for (int64_t k = r->channels; k < lanes * r->channels; k++)
        means[k] = means[k - r->channels];
}

/* ---- Rows ---------------------------------------------------------------------------------------- */

/* The sum of a row that is one piece, into the first of its leaves. */
static void fold_row(const reduction *r, int64_t pixels, double *leaves)
{
    fold_lanes(leaves, twi_divide_up(pixels, TWI_LEAF), r->channels);
}

static void sum_row(const reduction *r, int64_t y, row_room *room, double *sums)
{
    double leaves[PIECE_LEAVES * CHANNELS];
    if (r->pieces == 1) {
        int64_t pixels = 0;
        const char *at = piece_of(r, y, 0, &pixels);
        sum_leaves(r, at, pixels, leaves);
        fold_row(r, pixels, leaves);
        memcpy(sums, leaves, (size_t)r->channels * sizeof *sums);
        return;
    }
    for (int64_t piece = 0; piece < r->pieces; piece++) {
        int64_t pixels = 0;
        const char *at = piece_of(r, y, piece, &pixels);
        sum_leaves(r, at, pixels, leaves);
        add_leaves(r, leaves, pixels, room->row);
    }
    for (int channel = 0; channel < r->channels; channel++)
        sums[channel] = twi_sequence_sum(&room->row[channel]);
}

static tw_status reduce_rows(void *argument, int64_t first, int64_t last, int worker)
{
    reduction r = *(const reduction *)argument;
    const double count = (double)r.plan->problem.width;
    row_room *room = (row_room *)(void *)(r.workers + worker * r.worker_bytes);
    double sums[CHANNELS] = {0};
    for (int64_t y = first; y < last; y++) {
        clear(room->tallies, r.channels);
        for (int64_t piece = 0; piece < r.pieces; piece++) {
            int64_t pixels = 0;
            const char *at = piece_of(&r, y, piece, &pixels);
            take_exact(&r, at, pixels, piece * PIECE, y, room->tallies);
        }
        r.means = NULL;
        if (r.want.floats)
            sum_row(&r, y, room, sums);
        for (int channel = 0; channel < r.channels && r.want.floats; channel++)
            room->tallies[channel].sum = sums[channel];
        if (r.want.squares) {
            spread_means(&r, room->tallies, count, room->means);
            r.means = room->means;
            sum_row(&r, y, room, sums);
        }
        for (int channel = 0; channel < r.channels; channel++) {
            room->tallies[channel].squares = r.want.squares ? sums[channel] : 0;
            make_record(&r, &room->tallies[channel], count, record_at(&r, 0, y) + channel);
        }
    }
    return TW_OK;
}

/* ---- The whole image ----------------------------------------------------------------------------- */

static tw_status reduce_pieces(void *argument, int64_t first, int64_t last, int worker)
{
    const reduction *r = argument;
    row_room *room = (row_room *)(void *)(r->workers + worker * r->worker_bytes);
    for (int64_t i = first; i < last; i++) {
        const int64_t y = (r->first + i) / r->pieces;
        const int64_t piece = (r->first + i) % r->pieces;
        int64_t pixels = 0;
        const char *at = piece_of(r, y, piece, &pixels);
        if (!r->means)
            take_exact(r, at, pixels, piece * PIECE, y, room->tallies);
        if (!r->means && !r->want.floats)
            continue;
        sum_leaves(r, at, pixels, r->leaves + i * PIECE_LEAVES * r->channels);
        if (r->pieces == 1)
            fold_row(r, pixels, r->leaves + i * PIECE_LEAVES * r->channels);
    }
    return TW_OK;
}

/* Adds the leaves of `count` pieces up, in order. */
static void collect(const reduction *r, int64_t count, row_room *room)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = (r->first + i) % r->pieces;
        const double *leaves = r->leaves + i * PIECE_LEAVES * r->channels;
        int64_t pixels = 0;
        (void)piece_of(r, 0, index, &pixels);
        if (r->pieces == 1) { /* the row's sum already */
            for (int channel = 0; channel < r->channels; channel++)
                twi_sequence_add(&room->all[channel], 0, leaves[channel]);
            continue;
        }
        add_leaves(r, leaves, pixels, room->row);
        for (int channel = 0; channel < r->channels && index == r->pieces - 1; channel++)
            twi_sequence_add(&room->all[channel], 0, twi_sequence_sum(&room->row[channel]));
    }
}

/* Looks at all pieces. The sums by leaves, if there are any, go to `sums`. */
static tw_status look(reduction *r, double *sums)
{
    row_room *room = (row_room *)(void *)r->workers;
    const int64_t total = r->plan->problem.height * r->pieces;
    const int64_t most = (int64_t)PIECES_A_THREAD * r->plan->context->threads;
    for (r->first = 0; r->first < total; r->first += most) {
        const int64_t count = twi_min_i64(total - r->first, most);
        TWI_TRY(twi_cpu_parallel(r->plan, count, reduce_pieces, r));
        if (r->means || r->want.floats)
            collect(r, count, room);
    }
    for (int channel = 0; channel < r->channels; channel++)
        sums[channel] = twi_sequence_sum(&room->all[channel]);
    return TW_OK;
}

static bool is_before(int64_t x, int64_t y, int64_t other_x, int64_t other_y)
{
    return y < other_y || (y == other_y && x < other_x);
}

/* Adds what another worker has seen. */
static void merge(tally *t, const tally *other)
{
    t->exact += other->exact;
    t->counts += other->counts;
    if (other->lowest < t->lowest ||
        (other->lowest == t->lowest && is_before(other->lowest_x, other->lowest_y, t->lowest_x, t->lowest_y))) {
        t->lowest = other->lowest;
        t->lowest_x = other->lowest_x;
        t->lowest_y = other->lowest_y;
    }
    if (other->highest > t->highest ||
        (other->highest == t->highest && is_before(other->highest_x, other->highest_y, t->highest_x, t->highest_y))) {
        t->highest = other->highest;
        t->highest_x = other->highest_x;
        t->highest_y = other->highest_y;
    }
}

static tw_status reduce_all(reduction *r)
{
    const tw_problem *problem = &r->plan->problem;
    const double count = (double)problem->width * (double)problem->height;
    row_room *room = (row_room *)(void *)r->workers;
    double sums[CHANNELS];
    for (int i = 0; i < r->plan->context->threads; i++)
        clear(((row_room *)(void *)(r->workers + i * r->worker_bytes))->tallies, r->channels);
    TWI_TRY(look(r, sums));
    for (int channel = 0; channel < r->channels; channel++) {
        room->tallies[channel].sum = sums[channel];
        for (int i = 1; i < r->plan->context->threads; i++)
            merge(&room->tallies[channel],
                  &((const row_room *)(const void *)(r->workers + i * r->worker_bytes))->tallies[channel]);
    }
    if (r->want.squares) {
        spread_means(r, room->tallies, count, room->means);
        r->means = room->means;
        TWI_TRY(look(r, sums));
    }
    for (int channel = 0; channel < r->channels; channel++) {
        room->tallies[channel].squares = r->want.squares ? sums[channel] : 0;
        make_record(r, &room->tallies[channel], count, record_at(r, 0, 0) + channel);
    }
    return TW_OK;
}

/* ---- Columns ------------------------------------------------------------------------------------- */

/* Folds the lanes of n columns, of which `used` hold something, into the first. */
static void fold_columns(double (*lanes)[STRIP], int64_t used, int64_t n)
{
    for (int64_t half = TWI_LANES / 2; half > 0; half /= 2) {
        for (int64_t j = 0; j + half < used; j++)
            for (int64_t k = 0; k < n; k++)
                lanes[j][k] += lanes[j + half][k];
        used = twi_min_i64(used, half);
    }
}

/* The sums of n columns from element `left` on, or of their squared differences to the means. */
static void sum_columns(const reduction *r, column_room *room, const char *at, int64_t n, double *sums)
{
    const int64_t height = r->plan->problem.height;
    const int64_t pitch = r->job->src.pitch;
    const int64_t leaf_rows = (int64_t)TWI_LEAF * TWI_GROUP;
    for (int64_t top = 0; top < height; top += leaf_rows) {
        const int64_t bottom = twi_min_i64(height, top + leaf_rows);
        const int64_t groups = twi_divide_up(bottom - top, TWI_GROUP);
        memset(room->lanes, 0, sizeof room->lanes);
        for (int64_t g = 0; g < groups; g++) {
            const int64_t first = top + g * TWI_GROUP;
            memset(room->group, 0, sizeof room->group);
            for (int64_t y = first; y < twi_min_i64(first + TWI_GROUP, bottom); y++) {
                if (r->means)
                    r->kernels->add_squares(room->group, STRIP, r->means, at + y * pitch, n);
                else
                    r->kernels->add(room->group, STRIP, at + y * pitch, n);
            }
            for (int64_t k = 0; k < n; k++)
                room->lanes[g % TWI_LANES][k] += room->group[k];
        }
        fold_columns(room->lanes, twi_min_i64(groups, TWI_LANES), n);
        for (int64_t k = 0; k < n && height > leaf_rows; k++)
            twi_sequence_add(&room->sequences[k], 1, room->lanes[0][k]);
    }
    for (int64_t k = 0; k < n; k++)
        sums[k] = height > leaf_rows ? twi_sequence_sum(&room->sequences[k]) : room->lanes[0][k];
}

static void look_at_columns(const reduction *r, column_room *room, const char *at, int64_t n)
{
    for (int k = 0; k < STRIP; k++) {
        room->lowest[k] = INT64_MAX;
        room->highest[k] = INT64_MIN;
        room->total[k] = 0;
        room->exact[k] = 0;
        room->counts[k] = 0;
        room->lowest_y[k] = room->highest_y[k] = 0;
        room->sums[k] = room->squares[k] = 0;
    }
    for (int64_t y = 0; y < r->plan->problem.height; y++, at += r->job->src.pitch) {
        if (r->want.exact)
            r->kernels->sum_columns(room->exact, at, n);
        if (r->want.counts)
            r->kernels->count_columns(room->counts, at, n);
        if (r->want.range)
            r->kernels->range_columns(room->lowest, room->highest, room->lowest_y, room->highest_y, at, n, y);
        if (y % EXACT_ROWS != EXACT_ROWS - 1 && y != r->plan->problem.height - 1)
            continue;
        for (int64_t k = 0; k < n; k++) {
            room->total[k] += room->exact[k];
            room->exact[k] = 0;
        }
    }
}

static tw_status reduce_columns(void *argument, int64_t first, int64_t last, int worker)
{
    reduction r = *(const reduction *)argument;
    const tw_problem *problem = &r.plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    const int64_t elements = problem->width * r.channels;
    const double count = (double)problem->height;
    column_room *room = (column_room *)(void *)(r.workers + worker * r.worker_bytes);
    for (int64_t strip = first; strip < last; strip++) {
        const int64_t left = strip * STRIP;
        const int64_t n = twi_min_i64(elements - left, STRIP);
        const char *at = (const char *)r.job->src.data + left * size;
        tally t = {0};
        look_at_columns(&r, room, at, n);
        r.means = NULL;
        if (r.want.floats)
            sum_columns(&r, room, at, n, room->sums);
        if (r.want.squares) {
            for (int64_t k = 0; k < n; k++)
                room->means[k] = about_of(&r) ? about_of(&r)[(left + k) % r.channels]
                                              : (r.want.exact ? (double)room->total[k] : room->sums[k]) / count;
            r.means = room->means;
            sum_columns(&r, room, at, n, room->squares);
        }
        for (int64_t k = 0; k < n; k++) {
            t.exact = room->total[k];
            t.sum = room->sums[k];
            t.squares = room->squares[k];
            t.counts = room->counts[k];
            t.lowest = room->lowest[k];
            t.highest = room->highest[k];
            t.lowest_x = t.highest_x = (left + k) / r.channels;
            t.lowest_y = room->lowest_y[k];
            t.highest_y = room->highest_y[k];
            make_record(&r, &t, count, record_at(&r, 0, 0) + left + k);
        }
    }
    return TW_OK;
}

/* ---- Plans --------------------------------------------------------------------------------------- */

/* Where the scratch's parts lie. */
typedef struct layout {
    int64_t worker_bytes;
    int64_t leaves_at;
    int64_t total;
} layout;

static bool lay_out(const tw_plan *plan, layout *l)
{
    const bool columns = plan->problem.axis == TW_AXIS_Y;
    const int64_t threads = plan->context->threads;
    const int64_t leaves = columns ? 0 : PIECES_A_THREAD * threads * PIECE_LEAVES * plan->problem.channels;
    int64_t at = 0;
    *l = (layout){.worker_bytes = twi_area_bytes(columns ? sizeof(column_room) : sizeof(row_room))};
    return twi_add_area(&l->total, threads, l->worker_bytes, &at) &&
           twi_add_area(&l->total, leaves, sizeof(double), &l->leaves_at);
}

tw_status twi_reduce_prepare(tw_plan *plan)
{
    layout l;
    if (!lay_out(plan, &l))
        return twi_fail(TW_ERROR_LIMIT, "the scratch memory of %d threads cannot be counted", plan->context->threads);
    TWI_TRY(twi_plan_scratch(plan, (size_t)l.total));
    memset(plan->scratch, 0, (size_t)l.total); /* sequences begin empty, and every sum leaves them so */
    return TW_OK;
}

tw_status twi_reduce_run(const tw_plan *plan, const twi_job *job, const twi_reduce_kernels *kernels)
{
    const tw_problem *problem = &plan->problem;
    const int64_t elements = problem->width * problem->channels;
    layout l;
    (void)lay_out(plan, &l); /* prepare has seen that it can be */
    reduction r = {
        .plan = plan,
        .job = job,
        .kernels = kernels,
        .want = demand_of(problem),
        .channels = problem->channels,
        .pieces = twi_divide_up(problem->width, PIECE),
        .leaves = (double *)(void *)((char *)plan->scratch + l.leaves_at),
        .workers = plan->scratch,
        .worker_bytes = l.worker_bytes,
    };
    switch (problem->axis) {
    case TW_AXIS_X:
        return twi_cpu_parallel(plan, problem->height, reduce_rows, &r);
    case TW_AXIS_Y:
        return twi_cpu_parallel(plan, twi_divide_up(elements, STRIP), reduce_columns, &r);
    default:
        return reduce_all(&r);
    }
}

/* ---- Estimates ----------------------------------------------------------------------------------- */

/* Nanoseconds: so many for a byte and look by one thread. */
static double estimate(const tw_context *context, const tw_problem *problem, double byte)
{
    const demand want = demand_of(problem);
    const int looks = (want.floats || want.exact) + want.squares + want.range + want.counts;
    const double bytes =
        (double)problem->width * (double)problem->height * problem->channels * (double)tw_type_size(problem->type);
    return looks * bytes * byte / (context ? context->threads : 1);
}

double twi_reduce_cost_c(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.3);
}

double twi_reduce_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.06);
}

double twi_reduce_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.04);
}
