/*
 * tilewise on several machines: an image is spread over the ranks of an MPI communicator by rows, and every result has
 * the bytes that one process would make, whatever the number of ranks.
 *
 * Rank r of n has the rows h * r / n up to (not including) h * (r + 1) / n of an image of h rows; none, where there are
 * fewer rows than ranks.
 *
 * Functions that are "collective" must be called by all ranks of the communicator, in the same order and with the same
 * arguments but for the memory of images. They agree on errors: where one rank fails, all return its status and have
 * its message, so that none waits for one that gave up. Failures of MPI itself go to the communicator's error handler,
 * which by default ends the program.
 *
 * All functions of one tw_mpi must be called by one thread, the one that MPI_THREAD_FUNNELED asks for.
 */
#ifndef TILEWISE_MPI_H
#define TILEWISE_MPI_H

#include <mpi.h>

#include "tilewise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator of the library's own, and this rank's context. */
typedef struct tw_mpi tw_mpi;

/*
 * Collective. `communicator` is duplicated. `options` NULL: the defaults. Where they ask for TW_AUTO or TW_CUDA, the
 * device is the rank's number among those of its host, modulo the devices there; ranks that share the processors of a
 * host share its threads, where `threads` is 0.
 */
TW_API tw_status tw_mpi_create(MPI_Comm communicator, const tw_context_options *options, tw_mpi **mpi);
/* Collective, before MPI_Finalize(). NULL is allowed. */
TW_API void tw_mpi_destroy(tw_mpi *mpi);

/* The calling thread's last failure of a function of this header; "" if there was none. Valid until the next one. */
TW_API const char *tw_mpi_error_message(void);

/* This rank's number, and how many there are; `mpi` is not NULL here. None of the next four is collective. */
TW_API int tw_mpi_rank(const tw_mpi *mpi);
TW_API int tw_mpi_size(const tw_mpi *mpi);
/* This rank's context, for work of its own. */
TW_API tw_context *tw_mpi_context(const tw_mpi *mpi);
/* The rows first ... last-1 that `rank` (0 to size - 1) has of an image of `height` rows. */
TW_API void tw_mpi_rows(const tw_mpi *mpi, int64_t height, int rank, int64_t *first, int64_t *last);

/* A rank's part of an image that is spread over the ranks. It owns nothing. */
typedef struct tw_mpi_image {
    tw_image rows;  /* this rank's rows, in host memory; of height 0 where it has none */
    int64_t height; /* of the whole image */
} tw_mpi_image;

/* Memory for this rank's rows of an image of `height` rows in all, page-locked where the context is a GPU's; contents
   undefined. Not collective. */
TW_API tw_status tw_mpi_image_create(tw_mpi *mpi, int64_t width, int64_t height, int32_t channels, tw_type type,
                                     tw_mpi_image *image);
/* Not collective; before tw_mpi_destroy(). NULL is allowed. */
TW_API void tw_mpi_image_free(tw_mpi *mpi, tw_mpi_image *image);

/* Collective: rank `root` has the whole image, on the host, the others pass NULL. All ranks' images agree with it in
   size, channels and type: else TW_ERROR_ARGUMENT. */
TW_API tw_status tw_mpi_scatter(tw_mpi *mpi, int root, const tw_image *whole, const tw_mpi_image *image);
TW_API tw_status tw_mpi_gather(tw_mpi *mpi, int root, const tw_mpi_image *image, const tw_image *whole);

/*
 * Descriptors of the whole images, for tw_box_problem() and its kin, which give the problem of a plan. They lie
 * nowhere: nothing must be read or written through them.
 */
TW_API tw_status tw_mpi_describe(const tw_mpi_image *src, const tw_mpi_image *dst, tw_image *whole_src,
                                 tw_image *whole_dst);

typedef struct tw_mpi_plan tw_mpi_plan;

/*
 * Collective. The problem is that of the whole images, of any operation. Records and counts (tw_reduce() of columns or
 * of the whole image, tw_histogram()) are images of one row: the last rank has it.
 */
TW_API tw_status tw_mpi_plan_create(tw_mpi *mpi, const tw_problem *problem, tw_mpi_plan **plan);
/* Not collective; before tw_mpi_destroy(). NULL is allowed. */
TW_API void tw_mpi_plan_destroy(tw_mpi_plan *plan);

/* Collective: returns when this rank's rows of dst are complete. dst may be src, where the problem has in_place. */
TW_API tw_status tw_mpi_plan_run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst);

/* Collective: a plan for one run. */
TW_API tw_status tw_mpi_run(tw_mpi *mpi, const tw_problem *problem, const tw_mpi_image *src, const tw_mpi_image *dst);

/* A file whose pixels lie as they do in memory, row after row without gaps, from byte `offset` on. */
typedef struct tw_mpi_file {
    const char *path;
    int64_t offset;
} tw_mpi_file;

/* Collective: this rank's rows, from or to a file that exists, which all ranks see under its path. TW_ERROR_FILE where
   it cannot be opened, read or written, or is too short. */
TW_API tw_status tw_mpi_read(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image);
TW_API tw_status tw_mpi_write(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image);

/*
 * Collective: filters one file into another in bands of at most `most_bytes` a rank (0: as a whole); each band is read
 * with the rows around it that the filter needs, so that no pixel travels between ranks. For operations with a window
 * and for TW_OP_LUT; others need the images in memory (TW_ERROR_ARGUMENT). dst exists, and is not src.
 */
TW_API tw_status tw_mpi_filter(tw_mpi *mpi, const tw_problem *problem, const tw_mpi_file *src, const tw_mpi_file *dst,
                               int64_t most_bytes);

#ifdef __cplusplus
}
#endif
#endif
