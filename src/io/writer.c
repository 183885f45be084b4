/* Images written by rows: a sink, and the format that its name asks for. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/bytes.h"
#include "io/metadata.h"

/* ---- Rows as they are ----------------------------------------------------------------------------- */

/* What a flat file's writer keeps. */
typedef struct flat {
    twi_flat layout;
    uint8_t *row; /* one with its bytes in the file's order */
} flat;

static twi_io_status create_flat(twi_writer *writer, const twi_metadata *metadata, unsigned *kept)
{
    twi_head head = {0};
    flat *state = writer->state = calloc(1, sizeof *state);
    if (!state || !(state->row = malloc(twi_row_bytes(&writer->shape))))
        return twi_io_fail(TWI_IO_MEMORY, writer->sink.name, "out of memory for writing");
    TWI_IO_TRY(writer->format->head(writer->sink.name, &writer->shape, metadata, &head, kept));
    state->layout = head.flat;
    const bool fine = twi_sink_write(&writer->sink, head.bytes, (size_t)head.flat.offset);
    free(head.bytes);
    return fine ? TWI_IO_OK : twi_sink_failed(&writer->sink);
}

static bool put_row(twi_sink *sink, const flat *state, const tw_image *image, int64_t y)
{
    const size_t size = tw_type_size(image->type);
    if (size == 1 || state->layout.big == twi_host_big())
        return twi_sink_write(sink, twi_row(image, y), twi_row_bytes(image));
    memcpy(state->row, twi_row(image, y), twi_row_bytes(image));
    twi_swap(state->row, twi_row_elements(image), size);
    return twi_sink_write(sink, state->row, twi_row_bytes(image));
}

static twi_io_status put_flat(twi_writer *writer, const tw_image *rows)
{
    const flat *state = writer->state;
    const twi_flat *layout = &state->layout;
    const bool swapped = tw_type_size(rows->type) > 1 && layout->big != twi_host_big();
    bool fine = true;
    if (layout->upward) {
        const int64_t below = writer->shape.height - writer->next - rows->height;
        TWI_IO_TRY(twi_sink_seek(&writer->sink, layout->offset + (uint64_t)below * twi_row_bytes(rows)));
        for (int64_t y = rows->height; y-- > 0 && fine;)
            fine = put_row(&writer->sink, state, rows, y);
    } else if (twi_solid(rows) && !swapped) {
        fine = twi_sink_write(&writer->sink, rows->data, (size_t)rows->height * twi_row_bytes(rows));
    } else {
        for (int64_t y = 0; y < rows->height && fine; y++)
            fine = put_row(&writer->sink, state, rows, y);
    }
    return fine ? TWI_IO_OK : twi_sink_failed(&writer->sink);
}

static void free_flat(twi_writer *writer)
{
    flat *state = writer->state;
    if (state)
        free(state->row);
    free(state);
}

const char *twi_writer_share(twi_writer *writer, uint64_t *offset)
{
    const flat *state = writer->state;
    if (!writer->format->head || state->layout.upward || writer->next > 0 ||
        (state->layout.big != twi_host_big() && tw_type_size(writer->shape.type) > 1))
        return NULL;
    const char *name = twi_sink_share(&writer->sink);
    if (!name)
        return NULL;
    *offset = state->layout.offset;
    writer->next = writer->shape.height;
    return name;
}

const char *twi_writer_temporary(const twi_writer *writer)
{
    return writer->sink.temporary;
}

/* ---- All formats ---------------------------------------------------------------------------------- */

twi_io_status twi_writer_open(const char *path, const char *stdout_format, const twi_io_image *image,
                              twi_writer **result)
{
    unsigned kept = 0;
    const tw_image *shape = &image->image;
    const twi_format *format;
    *result = NULL;
    TWI_IO_TRY(twi_format_choose(path, stdout_format, shape->type, shape->channels, &format));
    twi_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return twi_io_fail(TWI_IO_MEMORY, path, "out of memory for writing");
    twi_io_status status = twi_sink_open(path, &writer->sink);
    if (status != TWI_IO_OK) {
        free(writer);
        return status;
    }
    writer->format = format;
    writer->shape = *shape;
    status =
        format->head ? create_flat(writer, image->metadata, &kept) : format->create(writer, image->metadata, &kept);
    if (status != TWI_IO_OK)
        return twi_writer_close(writer, status, NULL);
    writer->lost = twi_metadata_kinds(image->metadata) & ~kept;
    *result = writer;
    return TWI_IO_OK;
}

twi_io_status twi_writer_rows(twi_writer *writer, const tw_image *rows)
{
    if (rows->height > writer->shape.height - writer->next)
        return twi_io_fail(TWI_IO_USAGE, writer->sink.name, "rows up to %lld: it has %lld",
                           (long long)writer->next + (long long)rows->height, (long long)writer->shape.height);
    TWI_IO_TRY(writer->format->head ? put_flat(writer, rows) : writer->format->put(writer, rows));
    writer->next += rows->height;
    return TWI_IO_OK;
}

twi_io_status twi_writer_close(twi_writer *writer, twi_io_status status, const char **lost)
{
    if (!writer)
        return status;
    if (status == TWI_IO_OK && writer->next < writer->shape.height)
        status = twi_io_fail(TWI_IO_USAGE, writer->sink.name, "%lld of %lld rows were written", (long long)writer->next,
                             (long long)writer->shape.height);
    if (writer->format->head)
        free_flat(writer);
    else
        status = writer->format->finish(writer, status);
    const char *name = writer->sink.name;
    status = twi_sink_close(&writer->sink, status);
    if (status == TWI_IO_OK && lost)
        *lost = twi_format_lost(name, writer->format, writer->lost);
    free(writer);
    return status;
}
