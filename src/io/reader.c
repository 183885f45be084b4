/* Images read by rows: opening, the order of rows, and what is checked at the end. Formats do the rest. */
#include <inttypes.h>
#include <stdlib.h>

#include "io/metadata.h"

enum { HEAD_BYTES = 16 };

twi_io_status twi_reader_accept(twi_reader *reader, uint64_t width, uint64_t height, int32_t channels, tw_type type)
{
    const char *name = reader->source.name;
    /* by rows, one row must fit */
    TWI_IO_TRY(twi_image_limit(name, width, reader->whole ? height : 1, channels, type, reader->most_bytes));
    TWI_IO_TRY(twi_image_limit(name, width, height, channels, type, INT64_MAX));
    reader->shape = (tw_image){NULL, (int64_t)width, (int64_t)height, 0, channels, type, TW_HOST};
    reader->shape.pitch = (int64_t)twi_row_bytes(&reader->shape);
    reader->metadata = calloc(1, sizeof *reader->metadata);
    if (!reader->metadata)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for metadata");
    reader->metadata->format = reader->format->name;
    return TWI_IO_OK;
}

twi_io_status twi_reader_hold(twi_reader *reader, uint64_t bytes, const char *why)
{
    reader->held = bytes;
    if (reader->whole || bytes <= reader->most_bytes)
        return TWI_IO_OK;
    return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "%s: %" PRIu64 " bytes, the limit is %" PRIu64, why, bytes,
                       reader->most_bytes);
}

static twi_io_status open_source(twi_reader *reader)
{
    twi_source *source = &reader->source;
    size_t count = 0;
    const uint8_t *head = twi_source_peek(source, HEAD_BYTES, &count);
    if (count == 0)
        return source->error != 0 ? twi_source_short(source)
                                  : twi_io_fail(TWI_IO_INPUT, source->name, "is empty, not an image file");
    reader->format = twi_format_of(head, count);
    if (!reader->format) {
        char known[64];
        twi_format_titles(known, sizeof known);
        return twi_io_fail(TWI_IO_INPUT, source->name, "is none of the known kinds of image file: %s", known);
    }
    if (reader->page > 0 && !reader->format->pages)
        return twi_io_fail(TWI_IO_USAGE, source->name, "page %lld: %s files have page 0 alone", (long long)reader->page,
                           reader->format->title);
    return reader->format->open(reader);
}

twi_io_status twi_reader_start(const char *path, int64_t page, uint64_t most_bytes, bool whole, twi_reader **result)
{
    *result = NULL;
    if (page < 0)
        return twi_io_fail(TWI_IO_USAGE, path, "page %lld: pages are counted from 0", (long long)page);
    twi_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return twi_io_fail(TWI_IO_MEMORY, path, "out of memory for reading");
    reader->page = page;
    reader->most_bytes = most_bytes;
    reader->whole = whole;
    twi_io_status status = twi_source_open(path, &reader->source);
    if (status == TWI_IO_OK)
        status = open_source(reader);
    if (status == TWI_IO_OK)
        *result = reader;
    else
        twi_reader_close(reader);
    return status;
}

twi_io_status twi_reader_open(const char *path, int64_t page, uint64_t most_bytes, twi_reader **reader)
{
    return twi_reader_start(path, page, most_bytes, false, reader);
}

const tw_image *twi_reader_shape(const twi_reader *reader)
{
    return &reader->shape;
}

const char *twi_reader_format(const twi_reader *reader)
{
    return reader->format->name;
}

bool twi_reader_is_random(const twi_reader *reader)
{
    return reader->access == TWI_ACCESS_ANY && reader->source.size != TWI_UNKNOWN_SIZE;
}

uint64_t twi_reader_held(const twi_reader *reader)
{
    return reader->held;
}

/* Frees what the format's open() took. */
static void close_format(twi_reader *reader)
{
    if (reader->format)
        reader->format->close(reader);
    reader->state = NULL;
    twi_metadata_free(reader->metadata);
    reader->metadata = NULL;
}

/* The file again from its first byte. */
static twi_io_status begin_again(twi_reader *reader)
{
    const tw_image shape = reader->shape;
    TWI_IO_TRY(twi_source_seek(&reader->source, 0));
    close_format(reader);
    reader->next = 0;
    TWI_IO_TRY(reader->format->open(reader));
    if (reader->shape.width == shape.width && reader->shape.height == shape.height &&
        reader->shape.channels == shape.channels && reader->shape.type == shape.type)
        return TWI_IO_OK;
    return twi_io_fail(TWI_IO_INPUT, reader->source.name, "was changed while it was read");
}

/* Makes `first` the row that comes next. */
static twi_io_status reach(twi_reader *reader, int64_t first)
{
    tw_image row = reader->shape;
    if (first < reader->next)
        TWI_IO_TRY(begin_again(reader));
    if (first == reader->next)
        return TWI_IO_OK;
    row.height = 1;
    row.data = malloc(twi_row_bytes(&row));
    if (!row.data)
        return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "out of memory for a row");
    twi_io_status status = TWI_IO_OK;
    for (; reader->next < first && status == TWI_IO_OK; reader->next++)
        status = reader->format->rows(reader, reader->next, &row);
    free(row.data);
    return status;
}

twi_io_status twi_reader_rows(twi_reader *reader, int64_t first, const tw_image *rows)
{
    if (first < 0 || rows->height < 1 || first > reader->shape.height - rows->height)
        return twi_io_fail(TWI_IO_USAGE, reader->source.name, "rows %lld to %lld: it has %lld", (long long)first,
                           (long long)(first + rows->height - 1), (long long)reader->shape.height);
    if (reader->access == TWI_ACCESS_NEXT)
        TWI_IO_TRY(reach(reader, first));
    TWI_IO_TRY(reader->format->rows(reader, first, rows));
    reader->next = first + rows->height;
    return TWI_IO_OK;
}

twi_io_status twi_reader_end(twi_reader *reader)
{
    if (reader->next == reader->shape.height && reader->format->end)
        TWI_IO_TRY(reader->format->end(reader));
    return twi_source_unchanged(&reader->source);
}

void twi_reader_describe(twi_reader *reader, twi_io_image *result)
{
    *result = (twi_io_image){reader->shape, reader->metadata};
    reader->metadata = NULL;
}

void twi_reader_close(twi_reader *reader)
{
    if (!reader)
        return;
    close_format(reader);
    twi_source_close(&reader->source);
    free(reader);
}
