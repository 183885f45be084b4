/*
 * Figures and histograms of the whole image: each rank finds those of its rows, all ranks get all of them, and put them
 * together in the ranks' order by a tally, which adds in the definition's. For the variance twice: every rank must know
 * the means before it can square.
 */
#include "mpi/plan.h"

/* Memory of the plan: a table, and images. */
enum { PARTS = 0, EVERYTHING = 1, OWN = 0, ALL = 1 };

/* Where what a rank finds lies in what all find: a record a row, or a row of counts a rank. */
static twi_rect found_by(const tw_mpi_plan *plan, int rank)
{
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(plan->mpi, plan->problem.height, rank, &first, &last);
    if (plan->problem.op == TW_OP_HISTOGRAM)
        return (twi_rect){0, rank, plan->out_width, last > first};
    return (twi_rect){0, first, 1, last - first};
}

static tw_status prepare(tw_mpi_plan *plan)
{
    const tw_mpi *mpi = plan->mpi;
    const bool counts = plan->problem.op == TW_OP_HISTOGRAM;
    const twi_rect all = {0, 0, plan->out_width, counts ? mpi->size : plan->problem.height};
    const twi_rect own = found_by(plan, mpi->rank);
    TWI_MPI_TRY(twi_mpi_table(mpi, sizeof(twi_rect), &plan->tables[PARTS]));
    TWI_MPI_TRY(twi_mpi_table(mpi, sizeof(twi_rect), &plan->tables[EVERYTHING]));
    for (int rank = 0; rank < mpi->size; rank++) {
        ((twi_rect *)plan->tables[PARTS])[rank] = found_by(plan, rank);
        ((twi_rect *)plan->tables[EVERYTHING])[rank] = all;
    }
    if (own.height > 0)
        TWI_MPI_TRY(twi_plan_memory(plan, OWN, own.width, own.height, plan->problem.out_type));
    return twi_plan_memory(plan, ALL, all.width, all.height, plan->problem.out_type);
}

/* What the tally wants to know of this rank's rows. */
static tw_status find_own(tw_mpi_plan *plan, const tw_tally *tally, const tw_image *rows)
{
    tw_problem problem;
    if (rows->height == 0)
        return TW_OK;
    TWI_CORE_TRY(tw_tally_problem(tally, rows->height, &problem));
    tw_plan_destroy(plan->local[0]);
    plan->local[0] = NULL;
    TWI_MPI_TRY(twi_local_plan(plan, &problem, &plan->local[0]));
    return twi_mpi_core(tw_plan_run(plan->local[0], rows, &plan->memory[OWN]));
}

/* One look at all rows. */
static tw_status look(tw_mpi_plan *plan, tw_tally *tally, const tw_image *rows)
{
    const tw_mpi *mpi = plan->mpi;
    const tw_image *all = &plan->memory[ALL];
    const twi_cut from = {.kind = TWI_CUT_LIST, .list = plan->tables[PARTS]};
    const twi_cut to = {.kind = TWI_CUT_LIST, .list = plan->tables[EVERYTHING]};
    TWI_MPI_TRY(twi_mpi_agree(mpi, find_own(plan, tally, rows)));
    TWI_MPI_TRY(twi_move(mpi, twi_pixel_bytes(all), &from, &plan->memory[OWN], &to, all));
    for (int rank = 0; rank < mpi->size; rank++) {
        const twi_rect part = found_by(plan, rank);
        int64_t first = 0;
        int64_t last = 0;
        tw_mpi_rows(mpi, plan->problem.height, rank, &first, &last);
        tw_image found = *all;
        found.data = (char *)all->data + part.y * all->pitch;
        found.height = part.height;
        if (first < last)
            TWI_CORE_TRY(tw_tally_add_found(tally, last - first, &found));
    }
    return TW_OK;
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    tw_tally *tally = NULL;
    tw_status status =
        twi_mpi_agree(plan->mpi, twi_mpi_core(tw_tally_create(plan->mpi->context, &plan->problem, &tally)));
    while (status == TW_OK && tw_tally_wants(tally))
        status = look(plan, tally, &src->rows);
    if (status == TW_OK && dst->rows.height > 0)
        status = twi_mpi_core(tw_tally_finish(tally, &dst->rows));
    tw_tally_destroy(tally);
    return status;
}

const twi_ways twi_ways_tally = {prepare, run};
