/*
 * What the files of io/ share: the bytes of a file that is read (twi_source) or written (twi_sink), and
 * the row that a format has in the table of io.c. Adding a format is one file and one row.
 */
#ifndef TWI_FORMAT_H
#define TWI_FORMAT_H

#include "core/base.h"
#include "io/io.h"

/* Sets the thread's message to "NAME: sentence", on one line, and returns `status`. */
twi_io_status twi_io_fail(twi_io_status status, const char *name, const char *format, ...) TWI_PRINTF(3, 4);

/* Pass a failure on. */
#define TWI_IO_TRY(call)                                                                                               \
    do {                                                                                                               \
        twi_io_status twi_try_io_status = (call);                                                                      \
        if (twi_try_io_status != TWI_IO_OK)                                                                            \
            return twi_try_io_status;                                                                                  \
    } while (0)

/* ---- Reading -------------------------------------------------------------------------------- */

#define TWI_UNKNOWN_SIZE UINT64_MAX

/* A file, a pipe, or bytes in memory. Never mapped: a file that shrinks gives a short read, not a signal. */
typedef struct twi_source {
    const char *name; /* for messages */
    uint64_t size;    /* TWI_UNKNOWN_SIZE for a pipe */
    uint64_t position;
    int error; /* errno of the read that failed, else 0 */

    /* private to source.c */
    bool standard; /* stdin, which stays open */
    int fd;        /* -1: memory */
    int64_t base;
    const uint8_t *memory;
    uint8_t *owned; /* what is freed: the buffer, or the pipe's whole content */
    size_t begin;   /* the buffer holds [begin, end) */
    size_t end;
} twi_source;

twi_io_status twi_source_open(const char *path, twi_source *source);
twi_source twi_source_memory(const char *name, const void *bytes, size_t size);
void twi_source_close(twi_source *source);

/* The next `count` bytes, fewer at the end or after an error. */
size_t twi_source_read(twi_source *source, void *bytes, size_t count);
/* The first bytes (at most `count`, at most 4096) without consuming them; only before the first read. */
const uint8_t *twi_source_peek(twi_source *source, size_t count, size_t *got);
/* Makes twi_source_read_at work: takes a pipe into memory, at most `most` bytes. */
twi_io_status twi_source_spool(twi_source *source, uint64_t most);
/* The bytes at `offset`, independent of twi_source_read. */
size_t twi_source_read_at(twi_source *source, uint64_t offset, void *bytes, size_t count);
/* The failure after a read that came out short. */
twi_io_status twi_source_short(const twi_source *source);

typedef struct twi_request {
    int64_t page;
    uint64_t most_bytes;
} twi_request;

/* Takes memory for the image, pixels undefined, and an empty metadata record; refuses sizes beyond the request. */
twi_io_status twi_image_take(const twi_source *source, const twi_request *request, uint64_t width, uint64_t height,
                             int32_t channels, tw_type type, twi_io_image *result);

/* INPUT failure if `least` bytes, which the header implies, are more than what the file still has. */
twi_io_status twi_source_expect(const twi_source *source, uint64_t least);

static inline void *twi_row(const tw_image *image, int64_t y)
{
    return (char *)image->data + y * image->pitch;
}

/* Elements in a row, all channels counted. */
static inline size_t twi_row_elements(const tw_image *image)
{
    return (size_t)image->width * (size_t)image->channels;
}

static inline size_t twi_row_bytes(const tw_image *image)
{
    return twi_row_elements(image) * tw_type_size(image->type);
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* A file in the making, beside its target. Written front to back, so that a pipe will do as well. */
typedef struct twi_sink {
    const char *name; /* for messages */
    int error;        /* errno of the write that failed, else 0 */

    /* private to sink.c */
    bool standard; /* stdout, which stays open */
    int fd;
    char *target;          /* NULL: written in place (stdout, devices, pipes) */
    char *temporary;       /* beside it */
    struct twi_sink *next; /* that has a temporary file */
    uint8_t *buffer;
    size_t used;
} twi_sink;

twi_io_status twi_sink_open(const char *path, twi_sink *sink);
/* false if this or an earlier write failed. */
bool twi_sink_write(twi_sink *sink, const void *bytes, size_t count);
/* Row `y` of the image in the given byte order; `scratch` holds a row. */
bool twi_sink_row(twi_sink *sink, const tw_image *image, int64_t y, bool big, void *scratch);
/* The failure after a write that did not succeed. */
twi_io_status twi_sink_failed(const twi_sink *sink);
/* `status` OK: all bytes reach the disk and the target appears, or a failure; else it is removed. Frees the sink. */
twi_io_status twi_sink_close(twi_sink *sink, twi_io_status status);

/* ---- Formats -------------------------------------------------------------------------------- */

typedef struct twi_format {
    const char *name;           /* "png", also the name for stdout */
    const char *title;          /* "PNG", for sentences */
    const char *const *endings; /* of file names, lower case, NULL at the end */
    bool pages;                 /* a file may hold more than one */
    bool (*sniff)(const uint8_t *head, size_t count);
    twi_io_status (*read)(twi_source *source, const twi_request *request, twi_io_image *result);
    /* Whether a file of that ending (or the format's name) can hold such an image. */
    bool (*can_hold)(const char *ending, tw_type type, int32_t channels);
    /* Writes the image; adds to *kept the kinds of metadata (TWI_HAS_...) that the file holds. */
    twi_io_status (*write)(twi_sink *sink, const tw_image *image, const twi_metadata *metadata, unsigned *kept);
} twi_format;

extern const twi_format twi_format_png;
extern const twi_format twi_format_jpeg;
extern const twi_format twi_format_tiff;
extern const twi_format twi_format_pnm;
extern const twi_format twi_format_npy;

#endif
