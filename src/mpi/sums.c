/*
 * Sums of integers, which are exact in any order, and what needs no sum of other ranks: each rank does its rows, and
 * what lies before them is added.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/sums.h"
#include "mpi/plan.h"
#include "ops/sample.h"

twi_rect twi_own_part(const tw_mpi_plan *plan)
{
    const twi_cut rows = twi_cut_rows(plan->problem.width, plan->problem.height);
    return twi_cut_part(plan->mpi, &rows, plan->mpi->rank);
}

tw_status twi_prepare_own(tw_mpi_plan *plan)
{
    const twi_rect own = twi_own_part(plan);
    const tw_problem local = twi_sized(&plan->problem, own.width, own.height);
    return own.height > 0 ? twi_local_plan(plan, &local, &plan->local[0]) : TW_OK;
}

/* ---- Each row for itself -------------------------------------------------------------------------------- */

static tw_status run_lines(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    tw_status status = TW_OK;
    if (plan->local[0])
        status = twi_mpi_core(tw_plan_run(plan->local[0], &src->rows, &dst->rows));
    if (status == TW_OK && plan->problem.op == TW_OP_REDUCE)
        twi_move_places(&dst->rows, plan->problem.figures, 0, twi_own_part(plan).y);
    return twi_mpi_agree(plan->mpi, status);
}

const twi_ways twi_ways_lines = {twi_prepare_own, run_lines};

/* ---- Running sums of integers: a row of what lies before is added -------------------------------------------- */

enum { MINE = 0, BEFORE = 1 };

/* Elements of a row of dst. */
static int64_t row_elements(const tw_mpi_plan *plan)
{
    return plan->out_width * plan->problem.channels;
}

static tw_status prepare_carry(tw_mpi_plan *plan)
{
    const twi_rect own = twi_own_part(plan);
    const int64_t elements = row_elements(plan);
    if (elements > INT_MAX)
        return twi_mpi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " sums: between ranks %d are the most", elements,
                            INT_MAX);
    for (int i = MINE; i <= BEFORE; i++) {
        plan->tables[i] = calloc((size_t)elements, sizeof(int64_t));
        if (!plan->tables[i])
            return twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: a row of %" PRId64 " sums", elements);
    }
    TWI_MPI_TRY(twi_prepare_own(plan));
    if (plan->problem.op == TW_OP_SCAN || own.height == 0)
        return TW_OK;
    return twi_plan_memory(plan, 0, plan->out_width, own.height + 1, plan->problem.out_type);
}

/* Adds the row to each of the image's. */
static void add_row(const tw_image *image, const int64_t *before)
{
    for (int64_t y = 0; y < image->height; y++)
        twi_add_before(twi_row(image, y), image->type, before, image->width * image->channels);
}

/* What this rank's rows add to those below: of a table its last row, of a line its sum, for all pixels of a row. */
static void total_of(const tw_mpi_plan *plan, const tw_image *src, const tw_image *sums, int64_t *total)
{
    const tw_problem *problem = &plan->problem;
    const void *last = twi_row(sums, sums->height - 1);
    const int64_t elements = row_elements(plan);
    const int channels = problem->channels;
    for (int64_t i = 0; i < elements; i++)
        total[i] = twi_sum_at(last, sums->type, problem->op == TW_OP_INTEGRAL ? i : elements - channels + i % channels);
    if (problem->op == TW_OP_INTEGRAL || !problem->exclusive)
        return;
    for (int64_t i = 0; i < elements; i++) {
        const twi_sampler pixel = {src, problem->border, (int)(i % channels)};
        total[i] += twi_sample_integer(&pixel, src->width - 1, src->height - 1);
    }
}

void twi_clear_edges(const tw_mpi_image *dst, twi_rect own)
{
    const size_t pixel = (size_t)twi_pixel_bytes(&dst->rows);
    for (int64_t y = 0; y < own.height; y++)
        memset(twi_row(&dst->rows, y), 0, own.y + y == 0 ? (size_t)own.width * pixel : pixel);
}

static tw_status run_carry(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    const bool table = plan->problem.op == TW_OP_INTEGRAL;
    const int64_t elements = row_elements(plan);
    tw_image sums = table ? plan->memory[0] : dst->rows;
    int64_t *before = plan->tables[BEFORE];
    tw_status status = TW_OK;
    memset(plan->tables[MINE], 0, (size_t)elements * sizeof *before);
    memset(before, 0, (size_t)elements * sizeof *before); /* the first rank gets nothing */
    if (plan->local[0])
        status = twi_mpi_core(tw_plan_run(plan->local[0], &src->rows, &sums));
    if (plan->local[0] && status == TW_OK)
        total_of(plan, &src->rows, &sums, plan->tables[MINE]);
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    (void)MPI_Exscan(plan->tables[MINE], before, (int)elements, MPI_INT64_T, MPI_SUM, mpi->communicator);
    if (table && plan->local[0]) { /* without the row of zeros above */
        sums.data = twi_row(&sums, 1);
        sums.height--;
    }
    if (plan->local[0])
        add_row(&sums, before);
    if (!table)
        return TW_OK;
    const twi_cut from = {.kind = TWI_CUT_ROWS, .whole = {0, 1, plan->out_width, plan->out_height - 1}};
    const twi_cut to = twi_cut_rows(plan->out_width, plan->out_height);
    twi_clear_edges(dst, twi_cut_part(mpi, &to, mpi->rank));
    return twi_move(mpi, twi_pixel_bytes(&dst->rows), &from, &sums, &to, &dst->rows);
}

const twi_ways twi_ways_carry = {prepare_carry, run_carry};
