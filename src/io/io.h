/*
 * Image files: read by content, written by the name's ending, whole or not at all.
 * Pixels are as stored: no rotation, no colour conversion. What a file says beside its pixels (ICC profile,
 * resolution, EXIF, XMP, orientation, GeoTIFF tags, NoData) travels with the image, byte for byte, to
 * formats that hold it.
 *
 * PNG   1 to 16 bits; below 8 bits expanded to the full range, palette to RGB, tRNS to alpha
 * JPEG  8 bits, grey or RGB; CMYK is refused; written at quality 95 without chroma subsampling (4:4:4)
 * TIFF  1 to 4 samples a pixel, strips or tiles, either byte order, BigTIFF; half floats become f32; where 0 is
 *       white the values are inverted; written as uncompressed strips, BigTIFF above 4 GB
 * PNM   values as stored, u8 up to a maximum of 255, u16 above; a PBM's bits become 0 (black) and 255; PFM is f32
 * NPY   height x width, or height x width x channels
 */
#ifndef TWI_IO_H
#define TWI_IO_H

#include "tilewise.h"

/* What went wrong, in the classes of the command's exit codes. twi_io_message() has the sentence. */
typedef enum twi_io_status {
    TWI_IO_OK = 0,
    TWI_IO_USAGE,  /* a format that does not exist or cannot hold the image; a page that is not there */
    TWI_IO_INPUT,  /* unreadable, truncated, malformed or lying input */
    TWI_IO_OUTPUT, /* could not be written; nothing was changed */
    TWI_IO_MEMORY  /* memory or a limit */
} twi_io_status;

/* Everything beside the pixels; opaque outside io/. */
typedef struct twi_metadata twi_metadata;

/* An image that owns its pixels (image.data, 256-byte aligned, pitch a multiple of 64) and metadata. */
typedef struct twi_io_image {
    tw_image image;
    twi_metadata *metadata; /* may be NULL */
} twi_io_image;

/* Reads page `page` (0 is the first; more than 0 for multi-page TIFF only) of the file, "-" for stdin.
   An image of more than `most_bytes` bytes of pixels, rows padded to the pitch, is refused with TWI_IO_MEMORY
   before memory is taken. A TIFF from a pipe is kept in memory as a whole and may be about as large as that. */
twi_io_status twi_io_read(const char *path, int64_t page, uint64_t most_bytes, twi_io_image *result);

/* An image of that size with its own pixels, undefined, and no metadata. */
twi_io_status twi_io_create(int64_t width, int64_t height, int32_t channels, tw_type type, twi_io_image *result);

/* Whether the format that `path` names ("-": `stdout_format`) can hold such an image, before any work is done. */
twi_io_status twi_io_can_write(const char *path, const char *stdout_format, tw_type type, int32_t channels);

/* Writes the image beside its name and renames it there; "-" is stdout, in `stdout_format` ("png", "npy", ...).
   A replaced file's permissions are kept, and one that may not be written is left alone. A symbolic link stays: the
   file that it leads to is replaced. Devices and pipes are written to directly.
   Metadata that the format cannot hold is listed in *lost, a sentence for a warning, "" if none
   (valid until the thread's next call); `lost` may be NULL. */
twi_io_status twi_io_write(const char *path, const char *stdout_format, const twi_io_image *image, const char **lost);

/* Tells the metadata that the image is now a part of the one that was read, its first pixel that one's (x, y):
   the georeference moves along. */
void twi_io_crop(twi_io_image *image, int64_t x, int64_t y);

/* Tells the metadata that the image is now the one that was read, turned; width and height are the turned one's.
   The georeference and the resolution are turned with it. Its pixels now lie as they are to be shown: an orientation
   becomes 1. */
twi_io_status twi_io_turn(twi_io_image *image, tw_turn turn);

/* ---- Images by rows ------------------------------------------------------------------------------- */

/* An image in a file, of which any rows can be read. Used by one thread at a time. */
typedef struct twi_reader twi_reader;

/* As twi_io_read(), but reads the head of the file alone. What must be held in memory to read rows is at most
   `most_bytes`: all pixels of an interlaced PNG, the coefficients of a JPEG in several scans, a pipe's whole content
   where the format needs it (PNG and TIFF). `path` must stay valid until the reader is closed. */
twi_io_status twi_reader_open(const char *path, int64_t page, uint64_t most_bytes, twi_reader **reader);

/* Size, channels and type, without pixels; valid until the reader is closed. */
const tw_image *twi_reader_shape(const twi_reader *reader);

/* The format's name. */
const char *twi_reader_format(const twi_reader *reader);

/* Whether rows can be read in any order at no extra cost: from files of NPY, raw PNM, and TIFF in tiles or small
   strips. From others, rows before those that were read last are decoded from the file's begin, or a large strip's; a
   pipe does not give them again at all. */
bool twi_reader_is_random(const twi_reader *reader);

/* Bytes of memory that reading takes, beside the rows. */
uint64_t twi_reader_held(const twi_reader *reader);

/* Reads rows first, first + 1, ... into all of `rows`, an image of the file's width, channels and type. */
twi_io_status twi_reader_rows(twi_reader *reader, int64_t first, const tw_image *rows);

/* All of the image, of at most `most_bytes`, as twi_io_read(): with twi_reader_end() and the metadata. */
twi_io_status twi_reader_all(twi_reader *reader, uint64_t most_bytes, twi_io_image *result);

/* After the last row that is needed: what follows it is checked, if it was the image's last, and that the file did
   not change since it was opened. */
twi_io_status twi_reader_end(twi_reader *reader);

/* The shape and the metadata, which are no longer the reader's; no pixels. */
void twi_reader_describe(twi_reader *reader, twi_io_image *result);

/* NULL is nothing. */
void twi_reader_close(twi_reader *reader);

/* A file in the making, written by rows. */
typedef struct twi_writer twi_writer;

/* As twi_io_write() up to the pixels. Of `image` size, channels, type and metadata count, until this call returns.
   `path` must stay valid until the writer is closed. */
twi_io_status twi_writer_open(const char *path, const char *stdout_format, const twi_io_image *image,
                              twi_writer **writer);

/* The next rows, all of `rows`. A PFM, whose lowest row comes first, must be a regular file, unless these are all. */
twi_io_status twi_writer_rows(twi_writer *writer, const tw_image *rows);

/* `status` OK: the file appears, if all rows were written. Else it is removed, and `status` returned. Frees the
   writer in any case; NULL is nothing. `lost` as for twi_io_write(). */
twi_io_status twi_writer_close(twi_writer *writer, twi_io_status status, const char **lost);

/* Lets other processes write the rows, of a writer that has written none: the name of the file in the making, in which
   they follow each other as in memory, without gaps, from byte *offset on. The writer is then closed after the last of
   them. NULL, and nothing changed: not in this format (NPY, TIFF and PNM of bytes can), or to a pipe. */
const char *twi_writer_share(twi_writer *writer, uint64_t *offset);

/* The name of the file in the making; NULL: it is a pipe, or the like. */
const char *twi_writer_temporary(const twi_writer *writer);

/* A file in the making of another process, which twi_io_cleanup() shall remove as well: that process may be killed.
   NULL: none. The name must stay valid until the next call. */
void twi_io_adopt(const char *name);

/* A file without a name, for bytes that memory shall not hold: in the folder of `beside`, or where temporary files go
   if that is NULL or "-". -1 on failure. It is gone when it is closed or the process ends. */
int twi_io_scratch(const char *beside);
/* Bytes of it, at `offset`; TWI_IO_OUTPUT, with the reason, if they cannot be written or read. */
twi_io_status twi_io_scratch_write(int fd, uint64_t offset, const void *bytes, size_t count);
twi_io_status twi_io_scratch_read(int fd, uint64_t offset, void *bytes, size_t count);

/* Frees pixels and metadata and clears the struct. */
void twi_io_free(twi_io_image *image);

/* Name of the format that an image was read from ("png", "jpeg", "tiff", "pnm", "npy"); "npy" if none. */
const char *twi_io_format(const twi_io_image *image);

/* A small table of numbers: a mask, a footprint. */
typedef struct twi_matrix {
    int32_t width;
    int32_t height;
    bool real;      /* a decimal point or an exponent stood somewhere, or the file's type is a float */
    double *values; /* row by row; those of text are finite */
} twi_matrix;

/* Rows split by ';' or line ends, columns by blanks or commas; both sides at most `most`. `name` is for messages. */
twi_io_status twi_io_matrix_parse(const char *name, const char *text, int32_t most, twi_matrix *result);
/* The same from a file ("-": stdin): text, or NPY of one or two dimensions, of bool, any integer, f4 or f8. */
twi_io_status twi_io_matrix_read(const char *path, int32_t most, twi_matrix *result);
/* Frees the values and clears the struct. */
void twi_io_matrix_free(twi_matrix *matrix);

/* A whole file of at most `most` bytes, and a NUL behind them; the caller frees it. */
twi_io_status twi_io_read_bytes(const char *path, size_t most, char **bytes, size_t *size);
/* Writes a whole file as twi_io_write() does. */
twi_io_status twi_io_write_bytes(const char *path, const void *bytes, size_t size);

/* Removes the temporary files of all writes in progress, of any thread: the one call that a signal handler may make,
   and the last of this header's before the process ends. */
void twi_io_cleanup(void);

/* The calling thread's last failure, one sentence that begins with the file's name. */
const char *twi_io_message(void);

#endif
