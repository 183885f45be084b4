/*
 * Filters: a row of the result depends on those around it in the source. A rank works on up to three stretches of its
 * rows. The middle needs rows of this rank alone, and is made from them where they lie, while the rows that the upper
 * and the lower stretch need of other ranks travel. Where ranks have few rows, or src is dst, there is one stretch, of
 * a copy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/plan.h"

/* Memory of the plan: tables, and for each stretch but the middle a band of src and of the result. */
enum { PLACES = 0, NEEDS = 1, HAVE = 2, RESULT = TWI_MPI_PARTS };

enum { RUNS = 2 * TWI_MPI_PARTS /* of rows, the most that a rank needs: those of a band may wrap */ };

/* The stretches of a rank, the middle first if there is one. */
typedef struct stretches {
    int count;
    bool middle;
    twi_stretch list[TWI_MPI_PARTS];
} stretches;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

twi_stretch twi_stretch_of(const tw_problem *problem, int64_t first, int64_t last)
{
    const int64_t height = problem->height;
    const int64_t above = problem->window.anchor_y;
    const int64_t below = problem->window.height - 1 - above;
    const bool wraps = problem->border.mode == TW_BORDER_WRAP;
    int64_t from = first - above;
    int64_t to = last + below;
    if (wraps && to - from >= height) {
        from = 0;
        to = height;
    } else if (!wraps && (from < 0 || to > height)) {
        /* the border may read rows as far inside as the window reaches outside */
        const int64_t reach = above > below ? above : below;
        from = first > reach ? first - reach : 0;
        to = least(last + reach, height);
    }
    const twi_stretch stretch = {first, last, from, twi_sized(problem, problem->width, to - from)};
    return stretch;
}

static stretches stretches_of(const tw_mpi_plan *plan, int rank)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    stretches all = {.count = 0};
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(plan->mpi, problem->height, rank, &first, &last);
    const int64_t top = first + window->anchor_y;
    const int64_t bottom = last - (window->height - 1 - window->anchor_y);
    if (first == last)
        return all;
    if (problem->in_place || bottom - top < window->height) {
        all.list[all.count++] = twi_stretch_of(problem, first, last);
        return all;
    }
    all.middle = true;
    all.list[all.count++] = twi_stretch_of(problem, top, bottom);
    if (top > first)
        all.list[all.count++] = twi_stretch_of(problem, first, top);
    if (bottom < last)
        all.list[all.count++] = twi_stretch_of(problem, bottom, last);
    return all;
}

int twi_stretch_runs(const twi_stretch *stretch, int64_t whole, const tw_image *band, twi_place *runs)
{
    int64_t from = stretch->from;
    const int64_t to = from + stretch->problem.height;
    int count = 0;
    while (from < to) {
        const int64_t row = (from + whole) % whole;
        const int64_t rows = least(to - from, whole - row);
        runs[count++] = (twi_place){{0, row, stretch->problem.width, rows},
                                    band->data ? (char *)band->data + (from - stretch->from) * band->pitch : NULL,
                                    band->pitch};
        from += rows;
    }
    return count;
}

/* ---- In memory ------------------------------------------------------------------------------------------ */

/* Everything that a rank needs of others. */
static void list_needs(tw_mpi_plan *plan, int rank)
{
    static const tw_image elsewhere;
    twi_place *places = (twi_place *)plan->tables[PLACES] + (int64_t)rank * RUNS;
    twi_needs *needs = (twi_needs *)plan->tables[NEEDS] + rank;
    const stretches all = stretches_of(plan, rank);
    *needs = (twi_needs){places, 0};
    for (int i = all.middle; i < all.count; i++)
        needs->count +=
            twi_stretch_runs(&all.list[i], plan->problem.height,
                             rank == plan->mpi->rank ? &plan->memory[i] : &elsewhere, places + needs->count);
}

static tw_status prepare(tw_mpi_plan *plan)
{
    const stretches own = stretches_of(plan, plan->mpi->rank);
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, RUNS * sizeof(twi_place), &plan->tables[PLACES]));
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(twi_needs), &plan->tables[NEEDS]));
    TWI_MPI_TRY(twi_mpi_table(plan->mpi, sizeof(twi_place), &plan->tables[HAVE]));
    for (int i = 0; i < own.count; i++) {
        const tw_problem *band = &own.list[i].problem;
        TWI_MPI_TRY(twi_local_plan(plan, band, &plan->local[i]));
        if (i == 0 && own.middle)
            continue;
        TWI_MPI_TRY(twi_plan_memory(plan, i, band->width, band->height, band->type));
        TWI_MPI_TRY(twi_plan_memory(plan, RESULT + i, band->width, band->height, band->out_type));
    }
    for (int rank = 0; rank < plan->mpi->size; rank++)
        list_needs(plan, rank);
    return TW_OK;
}

static tw_image rows_from(const tw_image *image, int64_t row, int64_t height)
{
    tw_image rows = *image;
    rows.data = (char *)image->data + row * image->pitch;
    rows.height = height;
    return rows;
}

static void copy_rows(const tw_image *from, const tw_image *to)
{
    for (int64_t y = 0; y < to->height; y++)
        memcpy((char *)to->data + y * to->pitch, (const char *)from->data + y * from->pitch,
               (size_t)(to->width * twi_pixel_bytes(to)));
}

/* Around the middle come rows that the other stretches make afterwards. */
static tw_status run_middle(tw_mpi_plan *plan, const twi_stretch *middle, int64_t first, const tw_image *src,
                            const tw_image *dst)
{
    const int64_t height = middle->problem.height;
    const tw_image from = rows_from(src, middle->from - first, height);
    const tw_image to = rows_from(dst, middle->from - first, height);
    return twi_mpi_core(tw_plan_run(plan->local[0], &from, &to));
}

static tw_status run_edge(tw_mpi_plan *plan, int i, const twi_stretch *edge, int64_t first, const tw_image *dst)
{
    const tw_image *made = &plan->memory[RESULT + i];
    TWI_CORE_TRY(tw_plan_run(plan->local[i], &plan->memory[i], made));
    const tw_image from = rows_from(made, edge->first - edge->from, edge->last - edge->first);
    const tw_image to = rows_from(dst, edge->first - first, edge->last - edge->first);
    copy_rows(&from, &to);
    return TW_OK;
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    const stretches own = stretches_of(plan, mpi->rank);
    const twi_cut rows = twi_cut_rows(plan->problem.width, plan->problem.height);
    twi_place *have = plan->tables[HAVE];
    twi_exchange exchange;
    tw_status status = TW_OK;
    for (int rank = 0; rank < mpi->size; rank++)
        have[rank] = (twi_place){twi_cut_part(mpi, &rows, rank), src->rows.data, src->rows.pitch};
    const int64_t first = have[mpi->rank].rect.y;
    TWI_MPI_TRY(twi_exchange_start(mpi, twi_pixel_bytes(&src->rows), have, plan->tables[NEEDS], &exchange));
    if (own.middle)
        status = run_middle(plan, &own.list[0], first, &src->rows, &dst->rows);
    twi_exchange_finish(&exchange);
    for (int i = own.middle; i < own.count && status == TW_OK; i++)
        status = run_edge(plan, i, &own.list[i], first, &dst->rows);
    return twi_mpi_agree(mpi, status);
}

const twi_ways twi_ways_rows = {prepare, run};
