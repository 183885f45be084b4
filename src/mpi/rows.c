/*
 * What needs some rows or columns of the source for a row of the result (tw_problem_part): filters and turns. Of a
 * filter a rank makes its rows in up to three stretches. The middle needs rows of this rank alone, and is made from
 * them where they lie, while the rows that the upper and the lower stretch need of other ranks travel. Where ranks have
 * few rows, where src is dst, and of a turn, there is one stretch, of a copy.
 */
#include <stdlib.h>

#include "mpi/plan.h"

/* Tables of the plan. */
enum { STRETCHES = 0, PLACES = 1, NEEDS = 2, HAVE = 3 };

/* Rows of a rank, and what makes them. */
typedef struct stretch {
    int64_t first;
    int64_t last;
    bool inside; /* the part reads rows of this rank alone, in one run */
    tw_part part;
} stretch;

typedef struct stretches {
    int count;
    stretch list[TWI_MPI_PARTS];
} stretches;

enum { RUNS = 2 * TWI_MPI_PARTS /* regions that a rank needs at most */ };

static tw_status add_stretch(const tw_mpi_plan *plan, int64_t first, int64_t last, bool inside, stretches *all)
{
    if (first == last)
        return TW_OK;
    stretch *s = &all->list[all->count++];
    *s = (stretch){.first = first, .last = last, .inside = inside};
    return twi_mpi_core(tw_problem_part(&plan->problem, first, last, &s->part));
}

static tw_status find_stretches(const tw_mpi_plan *plan, int rank, stretches *all)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(plan->mpi, plan->out_height, rank, &first, &last);
    const int64_t top = first + window->anchor_y;
    const int64_t bottom = last - (window->height - 1 - window->anchor_y);
    all->count = 0;
    if (problem->in_place || problem->op == TW_OP_TRANSPOSE || bottom - top < window->height)
        return add_stretch(plan, first, last, false, all);
    TWI_MPI_TRY(add_stretch(plan, top, bottom, true, all));
    TWI_MPI_TRY(add_stretch(plan, first, top, false, all));
    return add_stretch(plan, bottom, last, false, all);
}

/* The regions that a part reads, as they come to lie in `band`, which has memory for this rank's own. */
static int list_reads(const tw_part *part, const tw_image *band, twi_place *places)
{
    int64_t above = 0;
    for (int i = 0; i < part->count; i++) {
        const tw_region *r = &part->reads[i];
        places[i] = (twi_place){{r->x, r->y, r->width, r->height}, band->data, band->pitch};
        if (band->data)
            places[i].data += above * band->pitch;
        above += r->height;
    }
    return part->count;
}

/* Everything that a rank needs of others. */
static tw_status list_needs(tw_mpi_plan *plan, int rank)
{
    static const tw_image elsewhere;
    stretches *all = (stretches *)plan->tables[STRETCHES] + rank;
    twi_place *places = (twi_place *)plan->tables[PLACES] + (int64_t)rank * RUNS;
    twi_needs *needs = (twi_needs *)plan->tables[NEEDS] + rank;
    *needs = (twi_needs){places, 0};
    TWI_MPI_TRY(find_stretches(plan, rank, all));
    for (int i = 0; i < all->count; i++)
        if (!all->list[i].inside)
            needs->count += list_reads(&all->list[i].part, rank == plan->mpi->rank ? &plan->memory[i] : &elsewhere,
                                       places + needs->count);
    return TW_OK;
}

static tw_status prepare_own(tw_mpi_plan *plan)
{
    stretches own;
    TWI_MPI_TRY(find_stretches(plan, plan->mpi->rank, &own));
    for (int i = 0; i < own.count; i++) {
        const tw_problem *problem = &own.list[i].part.problem;
        TWI_MPI_TRY(twi_local_plan(plan, problem, &plan->local[i]));
        if (!own.list[i].inside)
            TWI_MPI_TRY(twi_plan_memory(plan, i, problem->width, problem->height, problem->type));
    }
    return TW_OK;
}

static tw_status prepare(tw_mpi_plan *plan)
{
    static const size_t entries[] = {
        [STRETCHES] = sizeof(stretches),
        [PLACES] = RUNS * sizeof(twi_place),
        [NEEDS] = sizeof(twi_needs),
        [HAVE] = sizeof(twi_place),
    };
    for (int i = STRETCHES; i <= HAVE; i++)
        TWI_MPI_TRY(twi_mpi_table(plan->mpi, entries[i], &plan->tables[i]));
    TWI_MPI_TRY(prepare_own(plan));
    for (int rank = 0; rank < plan->mpi->size; rank++)
        TWI_MPI_TRY(list_needs(plan, rank));
    return TW_OK;
}

static tw_image rows_from(const tw_image *image, int64_t row, int64_t height)
{
    tw_image rows = *image;
    rows.data = (char *)image->data + row * image->pitch;
    rows.height = height;
    return rows;
}

static tw_status run_stretch(tw_mpi_plan *plan, int i, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const int me = plan->mpi->rank;
    const stretch *s = &((const stretches *)plan->tables[STRETCHES])[me].list[i];
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(plan->mpi, plan->out_height, me, &first, &last);
    const tw_image to = rows_from(&dst->rows, s->first - first, s->last - s->first);
    const tw_image from =
        s->inside ? rows_from(&src->rows, s->part.reads[0].y - first, s->part.reads[0].height) : plan->memory[i];
    return twi_mpi_core(tw_plan_run_rows(plan->local[i], &from, &to, s->part.first));
}

static tw_status run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_mpi *mpi = plan->mpi;
    const stretches *own = (const stretches *)plan->tables[STRETCHES] + mpi->rank;
    const twi_cut rows = twi_cut_rows(plan->problem.width, plan->problem.height);
    twi_place *have = plan->tables[HAVE];
    twi_exchange exchange;
    tw_status status = TW_OK;
    int next = 0;
    for (int rank = 0; rank < mpi->size; rank++)
        have[rank] = (twi_place){twi_cut_part(mpi, &rows, rank), src->rows.data, src->rows.pitch};
    TWI_MPI_TRY(twi_exchange_start(mpi, twi_pixel_bytes(&src->rows), have, plan->tables[NEEDS], &exchange));
    if (own->count > 0 && own->list[0].inside)
        status = run_stretch(plan, next++, src, dst);
    twi_exchange_finish(&exchange);
    for (; next < own->count && status == TW_OK; next++)
        status = run_stretch(plan, next, src, dst);
    return twi_mpi_agree(mpi, status);
}

const twi_ways twi_ways_rows = {prepare, run};
