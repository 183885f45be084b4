/*
 * Image files: read by content, written by the name's ending, whole or not at all.
 * Pixels are as stored: no rotation, no colour conversion. What a file says beside its pixels (ICC profile,
 * resolution, EXIF, XMP, orientation, GeoTIFF tags, NoData) travels with the image, byte for byte, to
 * formats that hold it.
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
   An image of more than `most_bytes` bytes of pixels is refused with TWI_IO_MEMORY before memory is taken. */
twi_io_status twi_io_read(const char *path, int64_t page, uint64_t most_bytes, twi_io_image *result);

/* An image of that size with its own pixels, undefined, and no metadata. */
twi_io_status twi_io_create(int64_t width, int64_t height, int32_t channels, tw_type type, twi_io_image *result);

/* Whether the format that `path` names ("-": `stdout_format`) can hold such an image, before any work is done. */
twi_io_status twi_io_can_write(const char *path, const char *stdout_format, tw_type type, int32_t channels);

/* Writes the image beside its name and renames it there; "-" is stdout, in `stdout_format` ("png", "npy", ...).
   Metadata that the format cannot hold is listed in *lost, a sentence for a warning, "" if none
   (valid until the thread's next call); `lost` may be NULL. */
twi_io_status twi_io_write(const char *path, const char *stdout_format, const twi_io_image *image, const char **lost);

/* Frees pixels and metadata and clears the struct. */
void twi_io_free(twi_io_image *image);

/* Name of the format that an image was read from ("png", "jpeg", "tiff", "pnm", "npy"); "npy" if none. */
const char *twi_io_format(const twi_io_image *image);

/* Removes the temporary file of a write in progress, if any: the one call that a signal handler may make. */
void twi_io_cleanup(void);

/* The calling thread's last failure, one sentence that begins with the file's name. */
const char *twi_io_message(void);

#endif
