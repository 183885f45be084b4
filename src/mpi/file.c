/*
 * Files that all ranks read and write at once, by MPI-IO: pixels that lie as in memory, so that a rank's rows are bytes
 * at a known place. Collective calls are capped, and all ranks make as many of them.
 */
#include <inttypes.h>
#include <limits.h>

#include "mpi/file.h"

/* Rows of a call. */
static int64_t rows_a_call(const tw_mpi *mpi, int64_t row_bytes)
{
    return row_bytes < mpi->most_bytes ? mpi->most_bytes / row_bytes : 1;
}

static tw_status failed(const tw_mpi_file *file, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    (void)MPI_Error_string(code, text, &length);
    return twi_mpi_fail(TW_ERROR_FILE, "%s: cannot be %s: %s", file->path, what, text);
}

tw_status twi_file_open(const tw_mpi *mpi, const tw_mpi_file *file, bool write, twi_file *result)
{
    *result = (twi_file){.mpi = mpi, .file = file, .write = write};
    tw_status status = TW_OK;
    if (!file || !file->path || file->offset < 0)
        status = twi_mpi_fail(TW_ERROR_ARGUMENT, "file: a path and an offset of 0 or more are needed");
    TWI_MPI_TRY(twi_mpi_agree(mpi, status));
    const int code = MPI_File_open(mpi->communicator, file->path, write ? MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                                   MPI_INFO_NULL, &result->handle);
    return twi_mpi_agree(mpi, code == MPI_SUCCESS ? TW_OK : failed(file, "opened", code));
}

tw_status twi_file_close(twi_file *file)
{
    const int code = MPI_File_close(&file->handle);
    return twi_mpi_agree(file->mpi, code == MPI_SUCCESS ? TW_OK : failed(file->file, "closed", code));
}

/* One call for rows that lie at `data`. */
static tw_status move_once(twi_file *f, bool all, MPI_Datatype row, int64_t row_bytes, char *data, int64_t first,
                           int count)
{
    MPI_Status status;
    int got = 0;
    const MPI_Offset at = f->file->offset + first * row_bytes;
    int code;
    if (f->write)
        code = MPI_File_write_at_all(f->handle, at, data, count, row, &status);
    else if (all)
        code = MPI_File_read_at_all(f->handle, at, data, count, row, &status);
    else
        code = MPI_File_read_at(f->handle, at, data, count, row, &status);
    const char *what = f->write ? "written" : "read";
    if (code != MPI_SUCCESS)
        return failed(f->file, what, code);
    if (count == 0)
        return TW_OK;
    (void)MPI_Get_elements(&status, MPI_BYTE, &got);
    if (got < (int64_t)count * row_bytes)
        return twi_mpi_fail(TW_ERROR_FILE, "%s: cannot be %s: %d of %" PRId64 " bytes at %" PRId64, f->file->path, what,
                            got, count * row_bytes, (int64_t)at);
    return TW_OK;
}

/* `calls` 0: as many as the rows need, by this rank alone. Where one fails, the others are made all the same. */
static tw_status move_rows(twi_file *f, int64_t first, const tw_image *rows, int64_t calls)
{
    const int64_t row_bytes = rows->width * twi_pixel_bytes(rows);
    const int64_t step = rows_a_call(f->mpi, row_bytes);
    const int64_t needed = (rows->height + step - 1) / step;
    MPI_Datatype plain;
    MPI_Datatype row;
    tw_status status = TW_OK;
    if (row_bytes > INT_MAX)
        return twi_mpi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " bytes: by MPI %d are the most", row_bytes, INT_MAX);
    (void)MPI_Type_contiguous((int)row_bytes, MPI_BYTE, &plain);
    (void)MPI_Type_create_resized(plain, 0, (MPI_Aint)rows->pitch, &row);
    (void)MPI_Type_commit(&row);
    for (int64_t call = 0; call < (calls > 0 ? calls : needed); call++) {
        const int64_t done = call < needed ? call * step : rows->height;
        const int64_t left = rows->height - done;
        const tw_status moved = move_once(f, calls > 0, row, row_bytes, (char *)rows->data + done * rows->pitch,
                                          first + done, (int)(left < step ? left : step));
        status = status == TW_OK ? moved : status;
    }
    (void)MPI_Type_free(&plain);
    (void)MPI_Type_free(&row);
    return status;
}

tw_status twi_file_read(twi_file *file, int64_t first, const tw_image *rows)
{
    return move_rows(file, first, rows, 0);
}

tw_status twi_file_move_all(twi_file *file, int64_t first, const tw_image *rows, int64_t most_rows)
{
    const int64_t step = rows_a_call(file->mpi, rows->width * twi_pixel_bytes(rows));
    const int64_t calls = (most_rows + step - 1) / step;
    return twi_mpi_agree(file->mpi, move_rows(file, first, rows, calls > 0 ? calls : 1));
}

/* ---- A rank's rows ------------------------------------------------------------------------------------- */

static tw_status move_image(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image, bool write)
{
    twi_file open;
    if (!mpi)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "mpi is NULL");
    TWI_MPI_TRY(twi_mpi_agree(mpi, twi_mpi_image_check(mpi, image, "image")));
    TWI_MPI_TRY(twi_file_open(mpi, file, write, &open));
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, image->height, mpi->rank, &first, &last);
    const tw_status moved = twi_file_move_all(&open, first, &image->rows, (image->height + mpi->size - 1) / mpi->size);
    const tw_status closed = twi_file_close(&open);
    return moved == TW_OK ? closed : moved;
}

tw_status tw_mpi_read(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image)
{
    return move_image(mpi, file, image, false);
}

tw_status tw_mpi_write(tw_mpi *mpi, const tw_mpi_file *file, const tw_mpi_image *image)
{
    return move_image(mpi, file, image, true);
}
