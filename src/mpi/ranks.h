/* What the files of mpi/ share: a rank and its communicator, errors that all agree on, pixels that change places. */
#ifndef TWI_MPI_RANKS_H
#define TWI_MPI_RANKS_H

#include "core/image.h"
#include "tilewise_mpi.h"

struct tw_mpi {
    MPI_Comm communicator;
    int rank;
    int size;
    tw_context *context;
    int device;         /* of the context, if it is on CUDA */
    int64_t most_bytes; /* of a message, and of a call of MPI-IO: counts are ints, and more has failed before */
};

/* ---- Failures --------------------------------------------------------------------------------------- */

/* Sets the thread's message and returns `status`. */
tw_status twi_mpi_fail(tw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The result of a function of the core, whose message becomes this library's. */
tw_status twi_mpi_core(tw_status status);

/* Collective: TW_OK if all ranks say so; else the worst status, with the message of a rank that has it. */
tw_status twi_mpi_agree(const tw_mpi *mpi, tw_status status);

/* Pass a failure on, of this library and of the core. */
#define TWI_MPI_TRY(call)                                                                                              \
    do {                                                                                                               \
        const tw_status twi_try_status = (call);                                                                       \
        if (twi_try_status != TW_OK)                                                                                   \
            return twi_try_status;                                                                                     \
    } while (0)
#define TWI_CORE_TRY(call) TWI_MPI_TRY(twi_mpi_core(call))

/* ---- Pixels that change places ------------------------------------------------------------------------ */

/* A part of the whole image, in pixels; without width or height there is none. */
typedef struct twi_rect {
    int64_t x;
    int64_t y;
    int64_t width;
    int64_t height;
} twi_rect;

/* The rectangle of the whole image that lies in memory. */
typedef struct twi_place {
    twi_rect rect;
    char *data; /* of its first pixel; read for this rank's own places alone */
    int64_t pitch;
} twi_place;

/* What one rank needs. A pixel may be needed more than once. */
typedef struct twi_needs {
    const twi_place *list;
    int count;
} twi_needs;

/* Messages under way. */
typedef struct twi_exchange {
    MPI_Request *requests;
    int count;
} twi_exchange;

/*
 * Collective: every rank gets what it needs from those that have it. `have` and `needs` hold an entry a rank, and all
 * ranks know all of them, so that nobody has to ask. Between start and finish the memory of both must be left alone.
 * After a failed start there is nothing to finish.
 */
tw_status twi_exchange_start(const tw_mpi *mpi, int64_t pixel_bytes, const twi_place *have, const twi_needs *needs,
                             twi_exchange *exchange);
void twi_exchange_finish(twi_exchange *exchange);

/* How an image is cut: into the rows of tw_mpi_rows(), into columns likewise, not at all (one rank has it), or as a
   list says, where parts may overlap. */
typedef enum twi_cut_kind { TWI_CUT_ROWS = 0, TWI_CUT_COLUMNS, TWI_CUT_NONE, TWI_CUT_LIST } twi_cut_kind;

typedef struct twi_cut {
    twi_cut_kind kind;
    twi_rect whole;       /* of what; its x and y are where it lies in the image */
    int owner;            /* TWI_CUT_NONE */
    bool backward;        /* the first rank has the last rows or columns */
    const twi_rect *list; /* TWI_CUT_LIST: of each rank */
} twi_cut;

/* What the rank has. */
twi_rect twi_cut_part(const tw_mpi *mpi, const twi_cut *cut, int rank);
/* All rows of an image of that size, by tw_mpi_rows(). */
twi_cut twi_cut_rows(int64_t width, int64_t height);

/* Collective: pixels that lie as `from` says come to lie as `to` says. The images are this rank's parts, with memory
   where a part is not empty. */
tw_status twi_move(const tw_mpi *mpi, int64_t pixel_bytes, const twi_cut *from, const tw_image *from_image,
                   const twi_cut *to, const tw_image *to_image);

/* Memory for a table of an entry a rank; fails with TW_ERROR_MEMORY. */
tw_status twi_mpi_table(const tw_mpi *mpi, size_t entry, void **table);

/* ---- Spread images ------------------------------------------------------------------------------------ */

/* Whether the rank's image is sound and has the rows that the rank should have. */
tw_status twi_mpi_image_check(const tw_mpi *mpi, const tw_mpi_image *image, const char *name);

#endif
