/*
 * Running sums of floats over the whole image, row after row as one line, in the order of core/exact.h: the line is cut
 * into spans, whose totals are added from the left. A rank has its rows and those before them up to where the span of
 * its first pixel begins, so that it knows the totals of the spans that end in its rows. These are collected; then each
 * rank makes its sums.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "core/element.h"
#include "core/prefix.h"
#include "mpi/plan.h"
#include "ops/sample.h"

/* Memory of the plan: tables, and an image. */
enum { TOTALS = 0, COUNTS = 1, PLACES = 2, ROWS = 3, LINE = 0 };

/* A rank's pixels on the line, and where the first one's span begins. */
typedef struct stretch {
    int64_t begin;
    int64_t first;
    int64_t last;
} stretch;

static stretch stretch_of(const tw_mpi_plan *plan, int rank)
{
    const int64_t width = plan->problem.width;
    int64_t top = 0;
    int64_t bottom = 0;
    tw_mpi_rows(plan->mpi, plan->problem.height, rank, &top, &bottom);
    const stretch s = {top * width / TWI_SCAN_SPAN * TWI_SCAN_SPAN, top * width, bottom * width};
    return s;
}

/* The spans that end in the rank's rows: from its first pixel's on. */
static int64_t spans_of(const stretch *s)
{
    return s->last / TWI_SCAN_SPAN - s->first / TWI_SCAN_SPAN;
}

/* The rows that a rank works on. */
static twi_rect rows_for(const tw_mpi_plan *plan, int rank)
{
    const int64_t width = plan->problem.width;
    const stretch s = stretch_of(plan, rank);
    const int64_t top = s.begin / width;
    const twi_rect rows = {0, top, width, s.last > s.first ? s.last / width - top : 0};
    return rows;
}

static tw_status prepare(tw_mpi_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const twi_rect rows = rows_for(plan, plan->mpi->rank);
    const int64_t spans = problem->width * problem->height / TWI_SCAN_SPAN;
    if (spans > INT_MAX / 4)
        return twi_mpi_fail(TW_ERROR_LIMIT, "a line of %" PRId64 " spans: %d are the most", spans, INT_MAX / 4);
    plan->tables[TOTALS] = calloc((size_t)(spans + 1) * (size_t)problem->channels, sizeof(double));
    if (!plan->tables[TOTALS])
        return twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: the totals of %" PRId64 " spans", spans);
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(int), &plan->tables[COUNTS]));
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(int), &plan->tables[PLACES]));
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(twi_rect), &plan->tables[ROWS]));
    for (int rank = 0; rank < plan->mpi->size; rank++) {
        const stretch s = stretch_of(plan, rank);
        ((int *)plan->tables[COUNTS])[rank] = (int)spans_of(&s) * problem->channels;
        ((twi_rect *)plan->tables[ROWS])[rank] = rows_for(plan, rank);
        ((int *)plan->tables[PLACES])[rank] = (int)(s.first / TWI_SCAN_SPAN) * problem->channels;
    }
    return rows.height > 0 ? twi_plan_memory(plan, LINE, rows.width, rows.height, problem->type) : TW_OK;
}

/* The values of the line from there on. */
static double value_at(const tw_mpi_plan *plan, const twi_sampler *s, int64_t top, int64_t i)
{
    const int64_t width = plan->problem.width;
    return twi_sample_float(s, i % width, i / width - top);
}

static void find_totals(const tw_mpi_plan *plan, double *totals)
{
    const stretch own = stretch_of(plan, plan->mpi->rank);
    const int64_t top = own.begin / plan->problem.width;
    const int channels = plan->problem.channels;
    for (int64_t span = 0; span < spans_of(&own); span++) {
        for (int c = 0; c < channels; c++) {
            const twi_sampler s = {&plan->memory[LINE], plan->problem.border, c};
            twi_line line = {.tile = {.count = 0}};
            const int64_t first = own.begin + span * TWI_SCAN_SPAN;
            for (int64_t i = first; i < first + TWI_SCAN_SPAN; i++)
                (void)twi_line_next(&line, value_at(plan, &s, top, i), 0);
            twi_prefix_step(&line.prefix, line.tile.total);
            totals[(own.begin / TWI_SCAN_SPAN + span) * channels + c] = line.prefix.spans;
        }
    }
}

static void make_sums(const tw_mpi_plan *plan, const double *totals, const tw_image *dst)
{
    const stretch own = stretch_of(plan, plan->mpi->rank);
    const int64_t width = plan->problem.width;
    const int64_t top = own.begin / width;
    const int channels = plan->problem.channels;
    const int64_t size = (int64_t)tw_type_size(dst->type);
    for (int c = 0; c < channels; c++) {
        const twi_sampler s = {&plan->memory[LINE], plan->problem.border, c};
        double before = 0;
        for (int64_t span = 0; span < own.begin / TWI_SCAN_SPAN; span++)
            before += totals[span * channels + c];
        twi_line line = {.prefix = {.spans = before, .base = before}};
        for (int64_t i = own.begin; i < own.last; i++) {
            const double sum = twi_line_next(&line, value_at(plan, &s, top, i), plan->problem.exclusive);
            if (i >= own.first)
                twi_store_float((char *)dst->data + (i - own.first) / width * dst->pitch +
                                    (i % width * channels + c) * size,
                                dst->type, sum);
        }
    }
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    double *totals = plan->tables[TOTALS];
    const twi_cut from = twi_cut_rows(plan->problem.width, plan->problem.height);
    const twi_cut to = {.kind = TWI_CUT_LIST, .list = plan->tables[ROWS]};
    TWI_MPI_TRY(twi_move(mpi, twi_pixel_bytes(&src->rows), &from, &src->rows, &to, &plan->memory[LINE]));
    find_totals(plan, totals);
    (void)MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, totals, plan->tables[COUNTS], plan->tables[PLACES],
                         MPI_DOUBLE, mpi->communicator);
    make_sums(plan, totals, &dst->rows);
    return TW_OK;
}

const twi_ways twi_ways_spans = {prepare, run};
