/* Ranks: their contexts, the rows that each has, and errors that all of them agree on. */
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/ranks.h"

enum { MESSAGE = 1024 };

static _Thread_local char message[MESSAGE];

const char *tw_mpi_error_message(void)
{
    return message;
}

tw_status twi_mpi_fail(tw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments); /* NOLINT: va_start() is the line above */
    va_end(arguments);
    return status;
}

tw_status twi_mpi_core(tw_status status)
{
    return status == TW_OK ? TW_OK : twi_mpi_fail(status, "%s", tw_error_message());
}

tw_status twi_mpi_agree(const tw_mpi *mpi, tw_status status)
{
    struct {
        int status;
        int rank;
    } mine = {(int)status, mpi->rank}, worst;
    char text[MESSAGE];
    (void)MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, mpi->communicator);
    if (worst.status == TW_OK)
        return TW_OK;
    memcpy(text, message, sizeof text);
    (void)MPI_Bcast(text, MESSAGE, MPI_CHAR, worst.rank, mpi->communicator);
    return mpi->size == 1 ? (tw_status)worst.status
                          : twi_mpi_fail((tw_status)worst.status, "rank %d: %.1000s", worst.rank, text);
}

tw_status twi_mpi_table(const tw_mpi *mpi, size_t entry, void **table)
{
    *table = calloc((size_t)mpi->size, entry);
    return *table ? TW_OK : twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: a table of %d ranks", mpi->size);
}

/* ---- A rank's place on its host ------------------------------------------------------------------------ */

/* The processors that a rank may use. Ranks that are bound keep theirs; where they overlap, each gets its share. */
static int fair_threads(MPI_Comm host)
{
    cpu_set_t set;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
    int all = 0;
    (void)MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, host);
    const int share = all > online ? (int)((int64_t)mine * online / all) : mine;
    return share > 0 ? share : 1;
}

/* Options for this rank: its device, its threads. */
static tw_status place_rank(MPI_Comm communicator, tw_context_options *options)
{
    MPI_Comm host;
    int number = 0;
    int devices = 0;
    (void)MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    (void)MPI_Comm_rank(host, &number);
    if (options->threads == 0)
        options->threads = fair_threads(host);
    (void)MPI_Comm_free(&host);
    if (options->backend == TW_CPU)
        return TW_OK;
    TWI_CORE_TRY(tw_device_count(TW_CUDA, &devices));
    if (devices > 0)
        options->device = number % devices;
    return TW_OK;
}

tw_status tw_mpi_create(MPI_Comm communicator, const tw_context_options *options, tw_mpi **result)
{
    tw_context_options placed = options ? *options : tw_context_defaults();
    if (!result)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    *result = NULL;
    tw_mpi *mpi = malloc(sizeof *mpi);
    tw_mpi outline = {.most_bytes = (int64_t)1 << 30};
    (void)MPI_Comm_dup(communicator, &outline.communicator);
    (void)MPI_Comm_rank(outline.communicator, &outline.rank);
    (void)MPI_Comm_size(outline.communicator, &outline.size);
    tw_status status = place_rank(outline.communicator, &placed);
    if (!mpi)
        status = twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: a rank was refused");
    if (status == TW_OK)
        status = twi_mpi_core(tw_context_create(&placed, &outline.context));
    outline.device = placed.device;
    status = twi_mpi_agree(&outline, status);
    if (status != TW_OK || !mpi) {
        tw_context_destroy(outline.context);
        (void)MPI_Comm_free(&outline.communicator);
        free(mpi);
        return status;
    }
    *mpi = outline;
    *result = mpi;
    return TW_OK;
}

void tw_mpi_destroy(tw_mpi *mpi)
{
    if (!mpi)
        return;
    tw_context_destroy(mpi->context);
    (void)MPI_Comm_free(&mpi->communicator);
    free(mpi);
}

int tw_mpi_rank(const tw_mpi *mpi)
{
    return mpi->rank;
}

int tw_mpi_size(const tw_mpi *mpi)
{
    return mpi->size;
}

tw_context *tw_mpi_context(const tw_mpi *mpi)
{
    return mpi->context;
}

/* ---- Spread images ------------------------------------------------------------------------------------- */

void tw_mpi_rows(const tw_mpi *mpi, int64_t height, int rank, int64_t *first, int64_t *last)
{
    /* height * rank / size without the product, which may overflow */
    const int64_t whole = height / mpi->size;
    const int64_t rest = height % mpi->size;
    *first = whole * rank + rest * rank / mpi->size;
    *last = whole * (rank + 1) + rest * (rank + 1) / mpi->size;
}

/* How many of `height` rows this rank has. */
static int64_t own_rows(const tw_mpi *mpi, int64_t height)
{
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, height, mpi->rank, &first, &last);
    return last - first;
}

tw_status tw_mpi_image_create(tw_mpi *mpi, int64_t width, int64_t height, int32_t channels, tw_type type,
                              tw_mpi_image *image)
{
    if (!mpi || !image)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !mpi ? "mpi" : "image");
    *image = (tw_mpi_image){.height = height};
    if (height < 1)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "an image of %" PRId64 " rows: use 1 or more", height);
    const int64_t rows = own_rows(mpi, height);
    /* a rank without rows has an address too, for descriptors that must not be NULL */
    TWI_CORE_TRY(
        tw_image_create(mpi->context, width, rows > 0 ? rows : 1, channels, type, TW_MEMORY_PINNED, &image->rows));
    image->rows.height = rows;
    return TW_OK;
}

void tw_mpi_image_free(tw_mpi *mpi, tw_mpi_image *image)
{
    if (!mpi || !image)
        return;
    tw_image_free(mpi->context, &image->rows);
    *image = (tw_mpi_image){0};
}

tw_status twi_mpi_image_check(const tw_mpi *mpi, const tw_mpi_image *image, const char *name)
{
    if (!image)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", name);
    if (image->height < 1)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s: an image of %" PRId64 " rows: use 1 or more", name, image->height);
    const int64_t rows = own_rows(mpi, image->height);
    if (image->rows.height != rows)
        return twi_mpi_fail(TW_ERROR_ARGUMENT,
                            "%s: %" PRId64 " rows, of %" PRId64 " rank %d of %d has %" PRId64 " (tw_mpi_rows)", name,
                            image->rows.height, image->height, mpi->rank, mpi->size, rows);
    if (image->rows.memory != TW_HOST)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s: rows on a device: use host memory", name);
    if (rows == 0)
        return TW_OK;
    return twi_mpi_core(tw_image_check(&image->rows));
}

/* ---- One rank has all ---------------------------------------------------------------------------------- */

static tw_status check_whole(const tw_mpi *mpi, int root, const tw_mpi_image *image, const tw_image *whole)
{
    TWI_MPI_TRY(twi_mpi_image_check(mpi, image, "image"));
    if (root < 0 || root >= mpi->size)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "root %d: the ranks are 0 to %d", root, mpi->size - 1);
    if (mpi->rank != root)
        return TW_OK;
    TWI_CORE_TRY(tw_image_check(whole));
    if (whole->width != image->rows.width || whole->height != image->height || whole->memory != TW_HOST ||
        whole->channels != image->rows.channels || whole->type != image->rows.type)
        return twi_mpi_fail(TW_ERROR_ARGUMENT,
                            "whole: %" PRId64 "x%" PRId64 " %s c%d, the ranks' rows are of %" PRId64 "x%" PRId64
                            " %s c%d, in host memory",
                            whole->width, whole->height, tw_type_name(whole->type), (int)whole->channels,
                            image->rows.width, image->height, tw_type_name(image->rows.type),
                            (int)image->rows.channels);
    return TW_OK;
}

/* Between the rows of all ranks and the whole image of one. */
static tw_status move_whole(tw_mpi *mpi, int root, const tw_mpi_image *image, const tw_image *whole, bool gather)
{
    static const tw_image nothing;
    if (!mpi)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    TWI_MPI_TRY(twi_mpi_agree(mpi, check_whole(mpi, root, image, whole)));
    const twi_cut rows = twi_cut_rows(image->rows.width, image->height);
    const twi_cut one = {.kind = TWI_CUT_NONE, .whole = rows.whole, .owner = root};
    const int64_t pixel = twi_pixel_bytes(&image->rows);
    const tw_image *all = mpi->rank == root ? whole : &nothing;
    return gather ? twi_move(mpi, pixel, &rows, &image->rows, &one, all)
                  : twi_move(mpi, pixel, &one, all, &rows, &image->rows);
}

tw_status tw_mpi_scatter(tw_mpi *mpi, int root, const tw_image *whole, const tw_mpi_image *image)
{
    return move_whole(mpi, root, image, whole, false);
}

tw_status tw_mpi_gather(tw_mpi *mpi, int root, const tw_mpi_image *image, const tw_image *whole)
{
    return move_whole(mpi, root, image, whole, true);
}
