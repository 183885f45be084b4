/*
 * Figures of the whole image. Integers, extremes and counts: each rank's record, put together in the ranks' order. Sums
 * of floats and of squares: each rank the sums of its rows, all of them added in the order of core/exact.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/sequence.h"
#include "mpi/plan.h"
#include "ops/sample.h"

/* Memory of the plan: tables, and images of records. */
enum { SUMS = 0, COUNTS = 1, PLACES = 2, RECORDS = 3, OWN = 0, ROWS = 1 };

enum {
    NEEDS_SUM = TW_FIGURE_SUM | TW_FIGURE_MEAN | TW_FIGURE_VAR | TW_FIGURE_STD,
    NEEDS_SQUARES = TW_FIGURE_VAR | TW_FIGURE_STD
};

/* What a rank's own record must have. */
static unsigned own_figures(const tw_problem *problem)
{
    unsigned figures = problem->figures & ~(unsigned)NEEDS_SUM;
    figures |= figures & TW_FIGURE_ARGMIN ? TW_FIGURE_MIN : 0u;
    figures |= figures & TW_FIGURE_ARGMAX ? TW_FIGURE_MAX : 0u;
    if ((problem->figures & NEEDS_SUM) && !twi_is_float(problem->type))
        figures |= TW_FIGURE_SUM;
    return figures;
}

static bool adds_rows(const tw_problem *problem)
{
    return (problem->figures & NEEDS_SQUARES) || ((problem->figures & NEEDS_SUM) && twi_is_float(problem->type));
}

static tw_status prepare_rows(tw_mpi_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const twi_rect own = twi_own_part(plan);
    const int channels = problem->channels;
    if (problem->height > INT_MAX / channels)
        return twi_mpi_fail(TW_ERROR_LIMIT, "%" PRId64 " rows: between ranks the sums of %d are the most",
                            problem->height, INT_MAX / channels);
    plan->tables[SUMS] = calloc((size_t)problem->height * (size_t)channels, sizeof(double));
    if (!plan->tables[SUMS])
        return twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: the sums of %" PRId64 " rows", problem->height);
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(int), &plan->tables[COUNTS]));
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(int), &plan->tables[PLACES]));
    for (int rank = 0; rank < plan->mpi->size; rank++) {
        int64_t first = 0;
        int64_t last = 0;
        tw_mpi_rows(plan->mpi, problem->height, rank, &first, &last);
        ((int *)plan->tables[COUNTS])[rank] = (int)(last - first) * channels;
        ((int *)plan->tables[PLACES])[rank] = (int)first * channels;
    }
    if (own.height == 0 || !twi_is_float(problem->type))
        return TW_OK;
    tw_problem rows = twi_sized(problem, own.width, own.height);
    rows.axis = TW_AXIS_X;
    rows.figures = TW_FIGURE_SUM;
    TWI_MPI_TRY(twi_local_plan(plan, &rows, &plan->local[ROWS]));
    return twi_plan_memory(plan, ROWS, 1, own.height, TW_STATS);
}

static tw_status prepare(tw_mpi_plan *plan)
{
    const twi_rect own = twi_own_part(plan);
    tw_problem local = twi_sized(&plan->problem, own.width, own.height);
    local.figures = own_figures(&plan->problem);
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, (size_t)plan->problem.channels * sizeof(tw_stats), &plan->tables[RECORDS]));
    TWI_MPI_TRY(twi_plan_memory(plan, OWN, 1, 1, TW_STATS));
    if (own.height > 0 && local.figures != 0)
        TWI_MPI_TRY(twi_local_plan(plan, &local, &plan->local[OWN]));
    return adds_rows(&plan->problem) ? prepare_rows(plan) : TW_OK;
}

/* ---- Sums, added in the definition's order ----------------------------------------------------------------- */

static double *own_sums(const tw_mpi_plan *plan)
{
    return (double *)plan->tables[SUMS] + ((const int *)plan->tables[PLACES])[plan->mpi->rank];
}

/* The sums of all rows are on every rank then; the sum of each channel. */
static void add_rows(const tw_mpi_plan *plan, double *sums)
{
    const double *rows = plan->tables[SUMS];
    const int channels = plan->problem.channels;
    (void)MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, plan->tables[SUMS], plan->tables[COUNTS],
                         plan->tables[PLACES], MPI_DOUBLE, plan->mpi->communicator);
    for (int c = 0; c < channels; c++) {
        twi_sequence sequence = {.count = {0}};
        for (int64_t y = 0; y < plan->problem.height; y++)
            twi_sequence_add(&sequence, 0, rows[y * channels + c]);
        sums[c] = twi_sequence_sum(&sequence);
    }
}

/* The squared differences to the mean, row by row. */
static void square_rows(const tw_mpi_plan *plan, const tw_image *rows, const double *mean)
{
    double *sums = own_sums(plan);
    for (int64_t y = 0; y < rows->height; y++)
        for (int c = 0; c < rows->channels; c++) {
            const twi_sampler pixels = {rows, plan->problem.border, c};
            twi_sequence sequence = {.count = {0}};
            for (int64_t x = 0; x < rows->width; x++) {
                const double difference = twi_sample_float(&pixels, x, y) - mean[c];
                twi_sequence_add(&sequence, 0, difference * difference);
            }
            sums[y * rows->channels + c] = twi_sequence_sum(&sequence);
        }
}

static tw_status sum_rows(const tw_mpi_plan *plan, const tw_image *rows)
{
    const tw_image *records = &plan->memory[ROWS];
    if (!plan->local[ROWS])
        return TW_OK;
    TWI_CORE_TRY(tw_plan_run(plan->local[ROWS], rows, records));
    for (int64_t y = 0; y < records->height; y++)
        for (int c = 0; c < records->channels; c++)
            own_sums(plan)[y * records->channels + c] =
                ((const tw_stats *)(const void *)((const char *)records->data + y * records->pitch))[c].sum;
    return TW_OK;
}

/* ---- Records, in the ranks' order ----------------------------------------------------------------------------- */

static int64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return twi_key_f64(bits);
}

/* `next` is of the rows below; the first of equal extremes counts. */
static void join(twi_stats *all, const twi_stats *next)
{
    const twi_i128 high = (twi_i128)all->sum_high + next->sum_high;
    const twi_i128 sum = high * ((twi_i128)1 << 64) + (twi_i128)all->sum_low + (twi_i128)next->sum_low;
    all->sum_low = (uint64_t)sum;
    all->sum_high = (int64_t)(sum >> 64);
    all->sum = (double)sum;
    all->count_nonzero += next->count_nonzero;
    if (key_of(next->min) < key_of(all->min)) {
        all->min = next->min;
        all->argmin_x = next->argmin_x;
        all->argmin_y = next->argmin_y;
    }
    if (key_of(next->max) > key_of(all->max)) {
        all->max = next->max;
        all->argmax_x = next->argmax_x;
        all->argmax_y = next->argmax_y;
    }
}

/* All ranks' records become one a channel. */
static void join_records(const tw_mpi_plan *plan, twi_stats *records)
{
    const tw_mpi *mpi = plan->mpi;
    const int channels = plan->problem.channels;
    const twi_stats *all = plan->tables[RECORDS];
    bool begun = false;
    (void)MPI_Allgather(plan->memory[OWN].data, channels * (int)sizeof *all, MPI_BYTE, plan->tables[RECORDS],
                        channels * (int)sizeof *all, MPI_BYTE, mpi->communicator);
    for (int rank = 0; rank < mpi->size; rank++) {
        int64_t first = 0;
        int64_t last = 0;
        tw_mpi_rows(mpi, plan->problem.height, rank, &first, &last);
        if (first == last)
            continue;
        for (int c = 0; c < channels; c++) {
            if (begun)
                join(&records[c], &all[rank * channels + c]);
            else
                records[c] = all[rank * channels + c];
        }
        begun = true;
    }
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_problem *problem = &plan->problem;
    const double count = (double)problem->width * (double)problem->height;
    const bool squares = problem->figures & NEEDS_SQUARES;
    twi_stats records[4];
    double sums[4];
    double means[4];
    memset(plan->memory[OWN].data, 0, (size_t)plan->memory[OWN].pitch);
    tw_status status = TW_OK;
    if (plan->local[OWN])
        status = twi_mpi_core(tw_plan_run(plan->local[OWN], &src->rows, &plan->memory[OWN]));
    if (status == TW_OK)
        status = sum_rows(plan, &src->rows);
    TWI_MPI_TRY(twi_mpi_agree(plan->mpi, status));
    twi_shift_records(&plan->memory[OWN], problem->figures, 0, twi_own_part(plan).y);
    join_records(plan, records);
    if (twi_is_float(problem->type) && adds_rows(problem)) {
        add_rows(plan, sums);
        for (int c = 0; c < problem->channels; c++)
            records[c].sum = sums[c];
    }
    for (int c = 0; c < problem->channels; c++)
        means[c] = records[c].mean = records[c].sum / count;
    if (squares) {
        square_rows(plan, &src->rows, means);
        add_rows(plan, sums);
    }
    for (int c = 0; c < problem->channels; c++) {
        records[c].var = squares ? sums[c] / count : 0;
        twi_stats_finish((int)problem->figures, &records[c]);
    }
    if (dst->rows.height > 0)
        memcpy(dst->rows.data, records, (size_t)problem->channels * sizeof *records);
    return TW_OK;
}

const twi_ways twi_ways_record = {prepare, run};
