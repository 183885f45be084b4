/*
 * Files that all ranks read and write at once, by MPI-IO: pixels that lie as in memory, so that a rank's rows are bytes
 * at a known place. Each rank makes calls of its own: its bytes are one stretch, for which collective calls gain
 * nothing, and those of Open MPI 4.1 do not report a full disk, nor the end of a file.
 */
#include <inttypes.h>
#include <limits.h>

#include "mpi/file.h"

static tw_status failed(const tw_mpi_file *file, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    (void)MPI_Error_string(code, text, &length);
    return twi_mpi_fail(TW_ERROR_FILE, "%s: cannot be %s: %s", file->path, what, text);
}

/* Before any rank works for nothing. */
static tw_status check_size(const twi_file *f, int64_t rows, int64_t row_bytes)
{
    MPI_Offset size = 0;
    int64_t needed = 0;
    const int code = MPI_File_get_size(f->handle, &size);
    if (code != MPI_SUCCESS)
        return failed(f->file, "read", code);
    if (__builtin_mul_overflow(rows, row_bytes, &needed) || __builtin_add_overflow(needed, f->file->offset, &needed) ||
        size < needed)
        return twi_mpi_fail(TW_ERROR_FILE,
                            "%s: cannot be read: %" PRId64 " bytes are too few for %" PRId64 " rows from byte %" PRId64
                            " on",
                            f->file->path, (int64_t)size, rows, f->file->offset);
    return TW_OK;
}

tw_status twi_file_open(const tw_mpi *mpi, const tw_mpi_file *file, bool write, int64_t rows, int64_t row_bytes,
                        twi_file *result)
{
    *result = (twi_file){.mpi = mpi, .file = file, .write = write};
    tw_status status = TW_OK;
    if (!file || !file->path || file->offset < 0)
        status = twi_mpi_fail(TW_ERROR_ARGUMENT, "file: a path and an offset of 0 or more are needed");
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    if (!file)
        return status;
    const int code = MPI_File_open(mpi->communicator, file->path, write ? MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                                   MPI_INFO_NULL, &result->handle);
    TWI_MPI_TRY(twi_mpi_agree(mpi, code == MPI_SUCCESS ? TW_OK : failed(file, "opened", code)));
    status = twi_mpi_agree(mpi, write ? TW_OK : check_size(result, rows, row_bytes));
    if (status != TW_OK)
        (void)MPI_File_close(&result->handle);
    return status;
}

tw_status twi_file_close(twi_file *file, tw_status status)
{
    const int code = MPI_File_close(&file->handle);
    if (status == TW_OK && code != MPI_SUCCESS)
        status = failed(file->file, "closed", code);
    return twi_mpi_agree(file->mpi, status);
}

/* One call for rows that lie at `data`. */
static tw_status move_once(twi_file *f, MPI_Datatype row, int64_t row_bytes, char *data, int64_t first, int count)
{
    MPI_Status status;
    int got = 0;
    const char *what = f->write ? "written" : "read";
    const MPI_Offset at = f->file->offset + first * row_bytes;
    const int code = f->write ? MPI_File_write_at(f->handle, at, data, count, row, &status)
                              : MPI_File_read_at(f->handle, at, data, count, row, &status);
    if (code != MPI_SUCCESS)
        return failed(f->file, what, code);
    (void)MPI_Get_elements(&status, MPI_BYTE, &got);
    if (got < (int64_t)count * row_bytes)
        return twi_mpi_fail(TW_ERROR_FILE, "%s: cannot be %s: %d of %" PRId64 " bytes at %" PRId64, f->file->path, what,
                            got, count * row_bytes, (int64_t)at);
    return TW_OK;
}

tw_status twi_file_move(twi_file *f, int64_t first, const tw_image *rows)
{
    const int64_t row_bytes = rows->width * twi_pixel_bytes(rows);
    const int64_t step = row_bytes < f->mpi->most_bytes ? f->mpi->most_bytes / row_bytes : 1;
    MPI_Datatype plain;
    MPI_Datatype row;
    tw_status status = TW_OK;
    if (row_bytes > INT_MAX)
        return twi_mpi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " bytes: by MPI %d are the most", row_bytes, INT_MAX);
    (void)MPI_Type_contiguous((int)row_bytes, MPI_BYTE, &plain);
    (void)MPI_Type_create_resized(plain, 0, (MPI_Aint)rows->pitch, &row);
    (void)MPI_Type_commit(&row);
    for (int64_t y = 0; y < rows->height && status == TW_OK; y += step) {
        const int64_t left = rows->height - y;
        status = move_once(f, row, row_bytes, (char *)rows->data + y * rows->pitch, first + y,
                           (int)(left < step ? left : step));
    }
    (void)MPI_Type_free(&plain);
    (void)MPI_Type_free(&row);
    return status;
}

/* ---- A rank's rows ------------------------------------------------------------------------------------- */

static tw_status move_image(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image, bool write)
{
    twi_file open;
    int64_t first = 0;
    int64_t last = 0;
    if (!mpi)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    TWI_MPI_TRY(twi_mpi_agree(mpi, twi_mpi_image_check(mpi, image, "image")));
    TWI_MPI_TRY(
        twi_file_open(mpi, file, write, image->height, image->rows.width * twi_pixel_bytes(&image->rows), &open));
    tw_mpi_rows(mpi, image->height, mpi->rank, &first, &last);
    return twi_file_close(&open, twi_file_move(&open, first, &image->rows));
}

tw_status tw_mpi_read(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image)
{
    return move_image(mpi, file, image, false);
}

tw_status tw_mpi_write(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image)
{
    return move_image(mpi, file, image, true);
}
