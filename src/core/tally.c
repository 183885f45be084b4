/* Figures of a whole image whose rows come in bands: each row's record by a plan, put together here in the order of the
   definition. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "core/plan.h"
#include "core/sequence.h"

/* What was found of a channel so far. */
typedef struct total {
    twi_i128 exact;
    int64_t lowest; /* keys */
    int64_t highest;
    twi_stats stats;     /* the places, and the count of what is not 0 */
    twi_sequence values; /* the sums of rows, then those of squares */
} total;

struct tw_tally {
    tw_context *context;
    tw_problem problem;
    int64_t row; /* the next one */
    bool again;  /* all rows have come once, and come again for the squares about the means */
    total totals[4];
    uint64_t *counts; /* of a histogram: [value][channel] */
    tw_plan *plan;    /* of the last band */
    tw_image found;   /* what it makes */
};

bool twi_looks_twice(const tw_problem *problem)
{
    return problem->op == TW_OP_REDUCE && problem->figures & (TW_FIGURE_VAR | TW_FIGURE_STD);
}

/* Elements of a histogram. */
static size_t counts_of(const tw_problem *problem)
{
    return problem->op == TW_OP_HISTOGRAM ? twi_table_entries(problem) * (size_t)problem->channels : 0;
}

tw_status tw_tally_create(tw_context *context, const tw_problem *problem, tw_tally **result)
{
    void *memory = NULL;
    void *counts = NULL;
    if (!context || !problem || !result)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !context ? "context" : !problem ? "problem" : "tally");
    *result = NULL;
    TWI_TRY(twi_problem_check(problem));
    if (problem->op != TW_OP_HISTOGRAM &&
        (problem->op != TW_OP_REDUCE || problem->axis != TW_AXIS_ALL || problem->figures & TW_FIGURE_SQUARES))
        return twi_fail(TW_ERROR_ARGUMENT, "a tally is for the histogram or the figures of a whole image");
    TWI_TRY(twi_host_allocate(context, sizeof(tw_tally), &memory));
    tw_tally *tally = memory;
    memset(tally, 0, sizeof *tally);
    tally->context = context;
    tally->problem = *problem;
    const tw_status status = twi_host_allocate(context, counts_of(problem) * sizeof *tally->counts, &counts);
    if (status != TW_OK) {
        twi_host_release(context, memory);
        return status;
    }
    tally->counts = counts;
    twi_tally_clear(tally);
    *result = tally;
    return TW_OK;
}

void tw_tally_destroy(tw_tally *tally)
{
    if (!tally)
        return;
    tw_plan_destroy(tally->plan);
    tw_image_free(tally->context, &tally->found);
    twi_host_release(tally->context, tally->counts);
    twi_host_release(tally->context, tally);
}

void twi_tally_clear(tw_tally *tally)
{
    tally->row = 0;
    tally->again = false;
    memset(tally->totals, 0, sizeof tally->totals);
    memset(tally->counts, 0, counts_of(&tally->problem) * sizeof *tally->counts);
}

bool tw_tally_wants(const tw_tally *tally)
{
    return tally && tally->row < tally->problem.height;
}

/* ---- What a band is asked for --------------------------------------------------------------------- */

static double sum_of(const tw_tally *tally, int channel)
{
    const bool floats = TWI_BIT(tally->problem.type) & TWI_FLOATS;
    const total *t = &tally->totals[channel];
    return floats ? t->stats.sum : (double)t->exact;
}

static double pixels_of(const tw_tally *tally)
{
    return (double)tally->problem.width * (double)tally->problem.height;
}

/* All that a row's record must have. */
static unsigned figures_of(unsigned figures)
{
    if (figures & (TW_FIGURE_MEAN | TW_FIGURE_VAR | TW_FIGURE_STD))
        figures |= TW_FIGURE_SUM;
    if (figures & TW_FIGURE_ARGMIN)
        figures |= TW_FIGURE_MIN;
    if (figures & TW_FIGURE_ARGMAX)
        figures |= TW_FIGURE_MAX;
    return figures & ~(unsigned)(TW_FIGURE_MEAN | TW_FIGURE_VAR | TW_FIGURE_STD);
}

tw_status tw_tally_problem(const tw_tally *tally, int64_t rows, tw_problem *problem)
{
    if (!tally || !problem)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", tally ? "problem" : "tally");
    if (rows < 1 || rows > tally->problem.height - tally->row)
        return twi_fail(TW_ERROR_ARGUMENT, "a band of %" PRId64 " rows: %" PRId64 " are left of %" PRId64, rows,
                        tally->problem.height - tally->row, tally->problem.height);
    *problem = tally->problem;
    problem->height = rows;
    if (problem->op == TW_OP_HISTOGRAM)
        return TW_OK;
    problem->axis = TW_AXIS_X;
    problem->figures = tally->again ? TW_FIGURE_SQUARES : figures_of(problem->figures);
    for (int channel = 0; channel < problem->channels && tally->again; channel++)
        problem->about[channel] = sum_of(tally, channel) / pixels_of(tally);
    return TW_OK;
}

/* ---- Records --------------------------------------------------------------------------------------- */

static int64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return twi_key_f64(bits);
}

static void add_record(tw_tally *tally, total *t, const twi_stats *record)
{
    const bool first = tally->row == 0;
    const int64_t lowest = key_of(record->min);
    const int64_t highest = key_of(record->max);
    t->exact += record->sum_high * ((twi_i128)1 << 64) + record->sum_low;
    twi_sequence_add(&t->values, 0, record->sum);
    t->stats.count_nonzero += record->count_nonzero;
    if (first || lowest < t->lowest) {
        t->lowest = lowest;
        t->stats.argmin_x = record->argmin_x;
        t->stats.argmin_y = tally->row;
    }
    if (first || highest > t->highest) {
        t->highest = highest;
        t->stats.argmax_x = record->argmax_x;
        t->stats.argmax_y = tally->row;
    }
}

/* All rows have come: their sums are final, and in the first of two looks the means are known. */
static void close_look(tw_tally *tally)
{
    for (int channel = 0; channel < tally->problem.channels; channel++) {
        total *t = &tally->totals[channel];
        const double sum = twi_sequence_sum(&t->values);
        if (tally->again)
            t->stats.var = sum;
        else
            t->stats.sum = sum;
    }
    if (twi_looks_twice(&tally->problem) && !tally->again) {
        tally->again = true;
        tally->row = 0;
    }
}

static void add_rows(tw_tally *tally, const tw_image *found)
{
    const int channels = tally->problem.channels;
    for (int64_t y = 0; y < found->height; y++, tally->row++) {
        const twi_stats *records = (const twi_stats *)(const void *)((const char *)found->data + y * found->pitch);
        for (int channel = 0; channel < channels; channel++) {
            if (tally->again)
                twi_sequence_add(&tally->totals[channel].values, 0, records[channel].var);
            else
                add_record(tally, &tally->totals[channel], &records[channel]);
        }
    }
    if (tally->row == tally->problem.height)
        close_look(tally);
}

tw_status tw_tally_add_found(tw_tally *tally, int64_t rows, const tw_image *found)
{
    tw_problem problem = {.op = TW_OP_REDUCE};
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(tw_tally_problem(tally, rows, &problem));
    TWI_TRY(tw_image_check(found));
    twi_out_shape(&problem, &width, &height);
    if (found->type != problem.out_type || found->width != width || found->height != height ||
        found->channels != problem.channels || found->memory != TW_HOST)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "found is %s of %" PRId64 "x%" PRId64 ", for %" PRId64 " rows it must be %s of %" PRId64
                        "x%" PRId64 " on the host",
                        tw_type_name(found->type), found->width, found->height, rows, tw_type_name(problem.out_type),
                        width, height);
    if (problem.op == TW_OP_REDUCE) {
        add_rows(tally, found);
        return TW_OK;
    }
    for (size_t i = 0; i < counts_of(&problem); i++)
        tally->counts[i] += ((const uint64_t *)found->data)[i];
    tally->row += rows;
    return TW_OK;
}

/* ---- Bands of pixels ----------------------------------------------------------------------------- */

static tw_status plan_band(tw_tally *tally, const tw_problem *problem)
{
    int64_t width = 0;
    int64_t height = 0;
    if (tally->plan && twi_problem_equal(&tally->plan->problem, problem))
        return TW_OK;
    tw_plan_destroy(tally->plan);
    tally->plan = NULL;
    tw_image_free(tally->context, &tally->found);
    twi_out_shape(problem, &width, &height);
    TWI_TRY(tw_image_create(tally->context, width, height, problem->channels, problem->out_type, TW_MEMORY_HOST,
                            &tally->found));
    return tw_plan_create(tally->context, problem, NULL, &tally->plan);
}

tw_status tw_tally_add(tw_tally *tally, const tw_image *band)
{
    tw_problem problem = {.op = TW_OP_REDUCE};
    TWI_TRY(tw_image_check(band));
    TWI_TRY(tw_tally_problem(tally, band->height, &problem));
    problem.memory = TW_HOST;
    TWI_TRY(plan_band(tally, &problem));
    TWI_TRY(tw_plan_run(tally->plan, band, &tally->found));
    return tw_tally_add_found(tally, band->height, &tally->found);
}

/* ---- The result ------------------------------------------------------------------------------------ */

static void make_record(const tw_tally *tally, int channel, twi_stats *record)
{
    const total *t = &tally->totals[channel];
    *record = t->stats;
    record->sum = sum_of(tally, channel);
    record->sum_low = (uint64_t)t->exact;
    record->sum_high = (int64_t)(t->exact >> 64);
    record->mean = record->sum / pixels_of(tally);
    record->var = t->stats.var / pixels_of(tally);
    record->min = twi_value_of_key(t->lowest);
    record->max = twi_value_of_key(t->highest);
    twi_stats_finish((int)tally->problem.figures, record);
}

tw_status tw_tally_finish(const tw_tally *tally, const tw_image *dst)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!tally)
        return twi_fail(TW_ERROR_ARGUMENT, "tally is NULL");
    TWI_TRY(tw_image_check(dst));
    const tw_problem *problem = &tally->problem;
    if (tw_tally_wants(tally))
        return twi_fail(TW_ERROR_ARGUMENT, "the tally wants %" PRId64 " more rows%s", problem->height - tally->row,
                        tally->again ? ", for the squares" : "");
    twi_out_shape(problem, &width, &height);
    if (dst->type != problem->out_type || dst->width != width || dst->height != height ||
        dst->channels != problem->channels || dst->memory != TW_HOST)
        return twi_fail(TW_ERROR_ARGUMENT, "dst must be %s of %" PRId64 "x%" PRId64 " with %d channels on the host",
                        tw_type_name(problem->out_type), width, height, (int)problem->channels);
    if (problem->op == TW_OP_HISTOGRAM)
        memcpy(dst->data, tally->counts, counts_of(problem) * sizeof *tally->counts);
    for (int channel = 0; channel < problem->channels && problem->op == TW_OP_REDUCE; channel++)
        make_record(tally, channel, (twi_stats *)dst->data + channel);
    return TW_OK;
}
