/*
 * Operations whose result depends on whole columns: each rank gets a strip of columns with all their rows, and works on
 * it as one machine would; so the order of a column's sum is the definition's, whatever the number of ranks. The
 * results go back to the rows' ranks.
 */
#include "mpi/plan.h"

enum { STRIP = 0, RESULT = 1, SUMS = 2 };

static twi_cut columns_of(const tw_problem *problem)
{
    const twi_cut cut = {.kind = TWI_CUT_COLUMNS, .whole = {0, 0, problem->width, problem->height}};
    return cut;
}

static twi_cut result_columns(const tw_mpi_plan *plan)
{
    const bool table = plan->problem.op == TW_OP_INTEGRAL;
    const twi_cut cut = {.kind = TWI_CUT_COLUMNS,
                         .whole = {table, table, plan->out_width - table, plan->out_height - table}};
    return cut;
}

static bool is_empty(twi_rect rect)
{
    return rect.width == 0 || rect.height == 0;
}

static tw_status prepare(tw_mpi_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const twi_cut cut = columns_of(problem);
    const twi_rect part = twi_cut_part(plan->mpi, &cut, plan->mpi->rank);
    if (is_empty(part))
        return TW_OK;
    const tw_problem local = twi_sized(problem, part.width, part.height);
    TWI_MPI_TRY(twi_local_plan(plan, &local, &plan->local[0]));
    TWI_MPI_TRY(twi_plan_memory(plan, STRIP, part.width, part.height, problem->type));
    return twi_plan_memory(plan, RESULT, part.width, plan->out_height, problem->out_type);
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    const tw_problem *problem = &plan->problem;
    const tw_image *strip = &plan->memory[STRIP];
    const tw_image *result = &plan->memory[RESULT];
    const twi_cut rows = twi_cut_rows(problem->width, problem->height);
    const twi_cut columns = columns_of(problem);
    const twi_cut from = result_columns(plan);
    const twi_cut to = twi_cut_rows(plan->out_width, plan->out_height);
    TWI_MPI_TRY(twi_move(mpi, twi_pixel_bytes(&src->rows), &rows, &src->rows, &columns, strip));
    tw_status status = TW_OK;
    if (plan->local[0])
        status = twi_mpi_core(tw_plan_run(plan->local[0], strip, result));
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    if (problem->op == TW_OP_REDUCE && plan->local[0]) /* columns of a strip are counted from its first */
        twi_move_places(result, problem->figures, twi_cut_part(mpi, &columns, mpi->rank).x, 0);
    return twi_move(mpi, twi_pixel_bytes(&dst->rows), &from, result, &to, &dst->rows);
}

const twi_ways twi_ways_strips = {prepare, run};

/* ---- Integrals of floats: running sums of rows, then down the columns of these ------------------------------ */

static tw_status prepare_table(tw_mpi_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const twi_cut rows = twi_cut_rows(problem->width, problem->height);
    const twi_cut columns = columns_of(problem);
    const twi_rect own = twi_cut_part(plan->mpi, &rows, plan->mpi->rank);
    const twi_rect strip = twi_cut_part(plan->mpi, &columns, plan->mpi->rank);
    tw_problem along = twi_sized(problem, own.width, own.height);
    along.op = TW_OP_SCAN;
    along.axis = TW_AXIS_X;
    tw_problem down = along;
    down.type = problem->out_type;
    down.axis = TW_AXIS_Y;
    down.width = strip.width;
    down.height = strip.height;
    if (!is_empty(own)) {
        TWI_MPI_TRY(twi_local_plan(plan, &along, &plan->local[1]));
        TWI_MPI_TRY(twi_plan_memory(plan, SUMS, own.width, own.height, problem->out_type));
    }
    if (is_empty(strip))
        return TW_OK;
    TWI_MPI_TRY(twi_local_plan(plan, &down, &plan->local[0]));
    TWI_MPI_TRY(twi_plan_memory(plan, STRIP, strip.width, strip.height, problem->out_type));
    return twi_plan_memory(plan, RESULT, strip.width, strip.height, problem->out_type);
}

static tw_status run_table(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    const int64_t pixel = twi_pixel_bytes(&dst->rows);
    const twi_cut rows = twi_cut_rows(plan->problem.width, plan->problem.height);
    const twi_cut columns = columns_of(&plan->problem);
    const twi_cut from = result_columns(plan);
    const twi_cut to = twi_cut_rows(plan->out_width, plan->out_height);
    tw_status status = TW_OK;
    if (plan->local[1])
        status = twi_mpi_core(tw_plan_run(plan->local[1], &src->rows, &plan->memory[SUMS]));
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    TWI_MPI_TRY(twi_move(mpi, pixel, &rows, &plan->memory[SUMS], &columns, &plan->memory[STRIP]));
    if (plan->local[0])
        status = twi_mpi_core(tw_plan_run(plan->local[0], &plan->memory[STRIP], &plan->memory[RESULT]));
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    twi_clear_edges(dst, twi_cut_part(mpi, &to, mpi->rank));
    return twi_move(mpi, pixel, &from, &plan->memory[RESULT], &to, &dst->rows);
}

const twi_ways twi_ways_float_table = {prepare_table, run_table};
