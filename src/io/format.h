/*
 * What the files of io/ share: the bytes of a file that is read (twi_source) or written (twi_sink), and
 * the row that a format has in the table of format.c. Adding a format is one file and one row.
 */
#ifndef TWI_FORMAT_H
#define TWI_FORMAT_H

#include "core/image.h"
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

/* ---- The bytes of a file that is read ---------------------------------------------------------- */

#define TWI_UNKNOWN_SIZE UINT64_MAX

/* A file, a pipe, or bytes in memory. Never mapped: a file that shrinks gives a short read, not a signal. */
typedef struct twi_source {
    const char *name;  /* for messages */
    uint64_t size;     /* TWI_UNKNOWN_SIZE for a pipe */
    uint64_t position; /* of the next twi_source_read(); of a pipe it only moves forward */
    int error;         /* errno of the read that failed, else 0 */

    /* private to source.c */
    bool standard; /* stdin, which stays open */
    int fd;        /* -1: memory */
    int64_t base;
    int64_t changed[2]; /* when the file last was, seconds and nanoseconds */
    const uint8_t *memory;
    uint8_t *owned; /* what is freed: the buffer, or the pipe's whole content */
    uint64_t begin; /* the buffer holds the bytes [begin, end) of the file */
    uint64_t end;
} twi_source;

twi_io_status twi_source_open(const char *path, twi_source *source);
twi_source twi_source_memory(const char *name, const void *bytes, size_t size);
void twi_source_close(twi_source *source);

/* The next `count` bytes, fewer at the end or after an error. */
size_t twi_source_read(twi_source *source, void *bytes, size_t count);
/* The first bytes (at most `count`, at most 4096) without consuming them; only before the first read. */
const uint8_t *twi_source_peek(twi_source *source, size_t count, size_t *got);
/* Makes `offset` the position. Fails where a pipe would have to go back. */
twi_io_status twi_source_seek(twi_source *source, uint64_t offset);
/* Makes twi_source_read_at work: takes a pipe into memory, at most `most` bytes. */
twi_io_status twi_source_spool(twi_source *source, uint64_t most);
/* The bytes at `offset`, independent of twi_source_read. */
size_t twi_source_read_at(twi_source *source, uint64_t offset, void *bytes, size_t count);
/* The failure after a read that came out short. */
twi_io_status twi_source_short(const twi_source *source);
/* INPUT failure if `least` bytes, which the header implies, are more than what the file still has. */
twi_io_status twi_source_expect(const twi_source *source, uint64_t least);
/* INPUT failure if the file's size or time is no longer what it was when it was opened. */
twi_io_status twi_source_unchanged(const twi_source *source);

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Bytes of an image in memory, rows padded to the pitch; UINT64_MAX for what no memory holds. *pitch may be NULL. */
uint64_t twi_image_bytes(uint64_t width, uint64_t height, int32_t channels, tw_type type, uint64_t *pitch);
/* MEMORY failure if those are more than `most_bytes`; USAGE for what is no image. */
twi_io_status twi_image_limit(const char *name, uint64_t width, uint64_t height, int32_t channels, tw_type type,
                              uint64_t most_bytes);

/* How rows lie in files whose pixels are plain elements, row behind row. */
typedef struct twi_flat {
    uint64_t offset; /* of the first byte in the file */
    bool big;        /* the highest byte of an element first */
    bool upward;     /* the lowest row first */
} twi_flat;

/* ---- Reading -------------------------------------------------------------------------------- */

typedef struct twi_format twi_format;

/* In which order a reader gives rows. */
typedef enum twi_access {
    TWI_ACCESS_ANY = 0, /* any */
    TWI_ACCESS_COSTLY,  /* any, but those before the last ones cost a new beginning */
    TWI_ACCESS_NEXT     /* the format's rows() gives those that come next; reader.c begins again and skips */
} twi_access;

struct twi_reader {
    twi_source source;
    const twi_format *format;
    int64_t page;
    uint64_t most_bytes;
    bool whole;   /* all rows will be read at once, and most_bytes is the limit of the image */
    int64_t next; /* the row behind the last one that was read */

    /* what a format's open() sets */
    tw_image shape; /* no pixels; by twi_reader_accept() */
    twi_metadata *metadata;
    twi_access access;
    uint64_t held; /* bytes of memory that reading takes, beside the rows */
    void *state;   /* freed by the format's close() */
};

/* twi_reader_open(), with the limit of the whole image if `whole`. */
twi_io_status twi_reader_start(const char *path, int64_t page, uint64_t most_bytes, bool whole, twi_reader **reader);

/* Sets the shape, and takes an empty metadata record; refuses what is beyond the limit, before memory is taken. */
twi_io_status twi_reader_accept(twi_reader *reader, uint64_t width, uint64_t height, int32_t channels, tw_type type);
/* MEMORY failure if `bytes` that must be held to read by rows are beyond the limit; else they are reader->held. */
twi_io_status twi_reader_hold(twi_reader *reader, uint64_t bytes, const char *why);

/* Rows first, first + 1, ... of a file whose rows are flat. */
twi_io_status twi_flat_read(twi_reader *reader, const twi_flat *flat, int64_t first, const tw_image *rows);

/* ---- The bytes of a file that is written -------------------------------------------------------- */

/* A file in the making, beside its target. Written front to back, so that a pipe will do as well. */
typedef struct twi_sink {
    const char *name; /* for messages */
    int error;        /* errno of the write that failed, else 0 */

    /* private to sink.c */
    bool standard; /* stdout, which stays open */
    int fd;
    char *target;    /* NULL: written in place (stdout, devices, pipes) */
    char *temporary; /* beside it */
    uint8_t *buffer;
    size_t used;
    uint64_t position;     /* of the next byte */
    struct twi_sink *next; /* of those that have a temporary file */
} twi_sink;

twi_io_status twi_sink_open(const char *path, twi_sink *sink);
/* false if this or an earlier write failed. */
bool twi_sink_write(twi_sink *sink, const void *bytes, size_t count);
/* What is written next goes to `offset`. Fails where the sink is no regular file, unless it is there. */
twi_io_status twi_sink_seek(twi_sink *sink, uint64_t offset);
/* What was written so far is in the file of that name; NULL: written in place, or that failed. */
const char *twi_sink_share(twi_sink *sink);
/* The failure after a write that did not succeed. */
twi_io_status twi_sink_failed(const twi_sink *sink);
/* `status` OK: all bytes reach the disk and the target appears, or a failure; else it is removed. Frees the sink. */
twi_io_status twi_sink_close(twi_sink *sink, twi_io_status status);

/* ---- Writing ---------------------------------------------------------------------------------- */

struct twi_writer {
    twi_sink sink;
    const twi_format *format;
    tw_image shape;
    int64_t next;  /* the row that comes next */
    unsigned lost; /* kinds of metadata that the file does not hold */
    void *state;   /* freed by the format's finish() */
};

/* What stands before the rows of a flat file. */
typedef struct twi_head {
    uint8_t *bytes; /* the owner frees them */
    twi_flat flat;  /* flat.offset: how many they are */
} twi_head;

/* ---- Formats -------------------------------------------------------------------------------- */

struct twi_format {
    const char *name;           /* "png", also the name for stdout */
    const char *title;          /* "PNG", for sentences */
    const char *const *endings; /* of file names, lower case, NULL at the end */
    bool pages;                 /* a file may hold more than one */
    bool (*sniff)(const uint8_t *head, size_t count);
    /* Whether a file of that ending (or the format's name) can hold such an image. */
    bool (*can_hold)(const char *ending, tw_type type, int32_t channels);

    /* Reads up to the pixels. */
    twi_io_status (*open)(twi_reader *reader);
    /* Rows first, first + 1, ... in what order reader->access says. */
    twi_io_status (*rows)(twi_reader *reader, int64_t first, const tw_image *rows);
    /* Checks what comes behind the last row; may be NULL. */
    twi_io_status (*end)(twi_reader *reader);
    /* Frees the state, which may be NULL. */
    void (*close)(twi_reader *reader);

    /* Formats whose rows are flat: what stands before them. Adds to *kept the kinds of metadata (TWI_HAS_...) that it
       holds. */
    twi_io_status (*head)(const char *name, const tw_image *shape, const twi_metadata *metadata, twi_head *head,
                          unsigned *kept);
    /* The others: writes up to the pixels, adding to *kept; rows, in order; the end, or, if `status` is a failure,
       nothing, and frees the state, which may be NULL. */
    twi_io_status (*create)(twi_writer *writer, const twi_metadata *metadata, unsigned *kept);
    twi_io_status (*put)(twi_writer *writer, const tw_image *rows);
    twi_io_status (*finish)(twi_writer *writer, twi_io_status status);
};

extern const twi_format twi_format_png;
extern const twi_format twi_format_jpeg;
extern const twi_format twi_format_tiff;
extern const twi_format twi_format_pnm;
extern const twi_format twi_format_npy;

/* The format of a file that begins with these bytes, NULL if none. */
const twi_format *twi_format_of(const uint8_t *head, size_t count);
/* The titles of all formats, for sentences. */
void twi_format_titles(char *text, size_t size);
/* The format that a path or, for "-", `stdout_format` names, if it can hold such an image. */
twi_io_status twi_format_choose(const char *path, const char *stdout_format, tw_type type, int32_t channels,
                                const twi_format **format);
/* One sentence about the kinds of metadata that a file could not take, "" if none; valid until the thread's next. */
const char *twi_format_lost(const char *name, const twi_format *format, unsigned kinds);

#endif
