/* Filters from file to file: each rank makes its rows in bands, from rows of src that it reads itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "mpi/file.h"
#include "mpi/plan.h"

enum { SRC = 0, DST = 1 };

/* A rank's way through its rows. */
typedef struct pass {
    tw_mpi_plan plan; /* owns what a band takes */
    twi_file src;
    twi_file dst;
} pass;

static tw_status check(const tw_problem *problem, const tw_mpi_file *src, const tw_mpi_file *dst, int64_t most_bytes)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!src || !dst || !src->path || !dst->path)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !src || !src->path ? "src" : "dst");
    TWI_CORE_TRY(tw_problem_size(problem, &width, &height));
    if (twi_ways_of(problem) != &twi_ways_rows || problem->op == TW_OP_TRANSPOSE)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s needs more than the rows around a row: use tw_mpi_run() on images",
                            tw_op_name(problem->op));
    if (most_bytes < 0)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%" PRId64 " bytes a band: use 0 (all rows of a rank) or more",
                            most_bytes);
    return TW_OK;
}

/* The rows of a band that most_bytes allow; at least one. */
static int64_t band_rows(const tw_problem *problem, int64_t most_bytes, int64_t rows)
{
    const int64_t sizes = (int64_t)(tw_type_size(problem->type) + tw_type_size(problem->out_type));
    const int64_t fit = most_bytes / (problem->width * problem->channels * sizes) - (problem->window.height - 1);
    return most_bytes == 0 || fit > rows ? rows : fit > 1 ? fit : 1;
}

/* Rows first ... last-1, from one file to the other. */
static tw_status make_band(pass *p, int64_t first, int64_t last)
{
    tw_mpi_plan *plan = &p->plan;
    tw_part part;
    TWI_CORE_TRY(tw_problem_part(&plan->problem, first, last, &part));
    const tw_problem *band = &part.problem;
    twi_plan_release(plan);
    TWI_MPI_TRY(twi_local_plan(plan, band, &plan->local[0]));
    TWI_MPI_TRY(twi_plan_memory(plan, SRC, band->width, band->height, band->type));
    TWI_MPI_TRY(twi_plan_memory(plan, DST, band->width, last - first, band->out_type));
    tw_image rows = plan->memory[SRC];
    for (int i = 0; i < part.count; i++) {
        rows.height = part.reads[i].height;
        TWI_MPI_TRY(twi_file_move(&p->src, part.reads[i].y, &rows));
        rows.data = (char *)rows.data + rows.height * rows.pitch;
    }
    TWI_CORE_TRY(tw_plan_run_rows(plan->local[0], &plan->memory[SRC], &plan->memory[DST], part.first));
    return twi_file_move(&p->dst, first, &plan->memory[DST]);
}

static tw_status run(pass *p, int64_t most_bytes)
{
    const tw_mpi *mpi = p->plan.mpi;
    const tw_problem *problem = &p->plan.problem;
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, problem->height, mpi->rank, &first, &last);
    const int64_t step = band_rows(problem, most_bytes, last - first);
    for (; first < last; first += step)
        TWI_MPI_TRY(make_band(p, first, first + step < last ? first + step : last));
    return TW_OK;
}

tw_status tw_mpi_filter(tw_mpi *mpi, const tw_problem *problem, const tw_mpi_file *src, const tw_mpi_file *dst,
                        int64_t most_bytes)
{
    if (!mpi)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    TWI_MPI_TRY(twi_mpi_agree(mpi, check(problem, src, dst, most_bytes)));
    pass p = {.plan = {.mpi = mpi, .problem = *problem}};
    const int64_t row = problem->width * problem->channels * (int64_t)tw_type_size(problem->type);
    TWI_MPI_TRY(twi_file_open(mpi, src, false, problem->height, row, &p.src));
    tw_status status = twi_file_open(mpi, dst, true, 0, 0, &p.dst);
    if (status == TW_OK)
        status = twi_file_close(&p.dst, run(&p, most_bytes));
    status = twi_file_close(&p.src, status);
    twi_plan_release(&p.plan);
    return status;
}
