/* Filters from file to file: each rank makes its rows in bands, from rows of src that it reads itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "mpi/file.h"
#include "mpi/plan.h"

/* A rank's way through its rows. All ranks make as many bands, of as many rows at most. */
typedef struct pass {
    tw_mpi_plan plan; /* owns what a band takes */
    twi_file src;
    twi_file dst;
    int64_t step; /* rows of a band's result */
    int64_t bands;
    int64_t first; /* rows of this rank */
    int64_t last;
} pass;

static tw_status check(const tw_problem *problem, const tw_mpi_file *src, const tw_mpi_file *dst, int64_t most_bytes)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!src || !dst || !src->path || !dst->path)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !src || !src->path ? "src" : "dst");
    TWI_CORE_TRY(tw_problem_size(problem, &width, &height));
    if (twi_ways_of(problem) != &twi_ways_rows)
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

/* Reads and computes rows first ... last-1; `made` is where they are. */
static tw_status make_band(pass *p, int64_t first, int64_t last, tw_image *made)
{
    tw_mpi_plan *plan = &p->plan;
    const twi_stretch stretch = twi_stretch_of(&plan->problem, first, last);
    const tw_problem *band = &stretch.problem;
    twi_place runs[2];
    twi_plan_release(plan);
    TWI_MPI_TRY(twi_local_plan(plan, band, &plan->local[0]));
    TWI_MPI_TRY(twi_plan_memory(plan, 0, band->width, band->height, band->type));
    TWI_MPI_TRY(twi_plan_memory(plan, 1, band->width, band->height, band->out_type));
    const int count = twi_stretch_runs(&stretch, plan->problem.height, &plan->memory[0], runs);
    for (int i = 0; i < count; i++) {
        tw_image rows = plan->memory[0];
        rows.data = runs[i].data;
        rows.height = runs[i].rect.height;
        TWI_MPI_TRY(twi_file_read(&p->src, runs[i].rect.y, &rows));
    }
    TWI_CORE_TRY(tw_plan_run(plan->local[0], &plan->memory[0], &plan->memory[1]));
    *made = plan->memory[1];
    made->data = (char *)made->data + (first - stretch.from) * made->pitch;
    made->height = last - first;
    return TW_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static tw_status run(pass *p)
{
    const tw_problem *problem = &p->plan.problem;
    for (int64_t band = 0; band < p->bands; band++) {
        const int64_t first = least(p->first + band * p->step, p->last);
        const int64_t last = least(first + p->step, p->last);
        tw_image made = {NULL,
                         problem->width,
                         0,
                         problem->width * problem->channels * (int64_t)tw_type_size(problem->out_type),
                         problem->channels,
                         problem->out_type,
                         TW_HOST};
        TWI_MPI_TRY(twi_mpi_agree(p->plan.mpi, first < last ? make_band(p, first, last, &made) : TW_OK));
        TWI_MPI_TRY(twi_file_move_all(&p->dst, first, &made, p->step));
    }
    return TW_OK;
}

tw_status tw_mpi_filter(tw_mpi *mpi, const tw_problem *problem, const tw_mpi_file *src, const tw_mpi_file *dst,
                        int64_t most_bytes)
{
    if (!mpi)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    TWI_MPI_TRY(twi_mpi_agree(mpi, check(problem, src, dst, most_bytes)));
    pass p = {.plan = {.mpi = mpi, .problem = *problem}};
    const int64_t rows = (problem->height + mpi->size - 1) / mpi->size; /* the most that a rank has */
    p.step = band_rows(problem, most_bytes, rows);
    p.bands = (rows + p.step - 1) / p.step;
    tw_mpi_rows(mpi, problem->height, mpi->rank, &p.first, &p.last);
    TWI_MPI_TRY(twi_file_open(mpi, src, false, &p.src));
    tw_status status = twi_file_open(mpi, dst, true, &p.dst);
    if (status == TW_OK) {
        status = run(&p);
        const tw_status closed = twi_file_close(&p.dst);
        status = status == TW_OK ? closed : status;
    }
    const tw_status closed = twi_file_close(&p.src);
    twi_plan_release(&p.plan);
    return status == TW_OK ? closed : status;
}
