/* What a plan over ranks is made of. Kinds of operations, by how far a result reaches:
     rows.c    filters: the rows around a rank's own; turns
     strips.c  what goes down columns: a strip of columns, of all rows
     sums.c    what goes on from row to row: each rank its part, and a little that is passed on; spans.c the same for
               floats, whose order is the definition's
     tally.c   figures of the whole image */
#ifndef TWI_MPI_PLAN_H
#define TWI_MPI_PLAN_H

#include "mpi/ranks.h"

enum { TWI_MPI_PARTS = 3, TWI_MPI_TABLES = 4 };

typedef struct twi_ways {
    tw_status (*prepare)(tw_mpi_plan *plan);
    tw_status (*run)(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst);
} twi_ways;

struct tw_mpi_plan {
    tw_mpi *mpi;
    tw_problem problem; /* of the whole images; its arrays are the caller's, and gone after prepare */
    int64_t out_width;
    int64_t out_height;
    const twi_ways *ways;

    /* what prepare makes, and destroy frees */
    tw_plan *local[TWI_MPI_PARTS]; /* NULL: this rank has nothing to do there */
    tw_image memory[TWI_MPI_PARTS];
    void *tables[TWI_MPI_TABLES]; /* by malloc */
};

extern const twi_ways twi_ways_rows;        /* rows.c */
extern const twi_ways twi_ways_strips;      /* strips.c */
extern const twi_ways twi_ways_float_table; /* strips.c: integral of floats */
extern const twi_ways twi_ways_lines;       /* sums.c: each row for itself */
extern const twi_ways twi_ways_carry;       /* sums.c: scan of the whole image and integral, of integers */
extern const twi_ways twi_ways_spans;       /* spans.c: scan of the whole image, of floats */
extern const twi_ways twi_ways_tally;       /* tally.c: reduce of the whole image, histogram */

/* Which of them the problem takes. */
const twi_ways *twi_ways_of(const tw_problem *problem);
/* Frees what prepare makes. */
void twi_plan_release(tw_mpi_plan *plan);

/* This rank's part of the problem: another size, separate images. */
tw_status twi_local_plan(tw_mpi_plan *plan, const tw_problem *problem, tw_plan **local);
/* The problem for images of that size. */
tw_problem twi_sized(const tw_problem *problem, int64_t width, int64_t height);
/* An image of the context's memory, freed with the plan. */
tw_status twi_plan_memory(tw_mpi_plan *plan, int which, int64_t width, int64_t height, tw_type type);
/* The operation itself on this rank's rows, as local[0]. */
tw_status twi_prepare_own(tw_mpi_plan *plan);
/* The rows of src that this rank has. */
twi_rect twi_own_part(const tw_mpi_plan *plan);
/* The first column of an integral, and its first row where it is this rank's. `own`: the rows of dst that are. */
void twi_clear_edges(const tw_mpi_image *dst, twi_rect own);

static inline bool twi_is_float(tw_type type)
{
    return type == TW_F32 || type == TW_F64;
}

#endif
