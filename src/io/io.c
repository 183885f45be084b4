/* Whole images. */
#include <stdlib.h>

#include "io/metadata.h"

enum { ALIGNMENT = 256 };

static twi_io_status make_image(const char *name, uint64_t width, uint64_t height, int32_t channels, tw_type type,
                                uint64_t most_bytes, twi_io_image *result)
{
    uint64_t pitch = 0;
    void *data = NULL;
    *result = (twi_io_image){0};
    TWI_IO_TRY(twi_image_limit(name, width, height, channels, type, most_bytes));
    const uint64_t bytes = twi_image_bytes(width, height, channels, type, &pitch);
    if (bytes > SIZE_MAX || posix_memalign(&data, ALIGNMENT, (size_t)bytes) != 0)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory: %llu bytes for %llux%llu pixels were refused",
                           (unsigned long long)bytes, (unsigned long long)width, (unsigned long long)height);
    result->image = (tw_image){data, (int64_t)width, (int64_t)height, (int64_t)pitch, channels, type, TW_HOST};
    return TWI_IO_OK;
}

twi_io_status twi_io_create(int64_t width, int64_t height, int32_t channels, tw_type type, twi_io_image *result)
{
    return make_image("new image", width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0, channels, type,
                      INT64_MAX, result);
}

void twi_io_free(twi_io_image *image)
{
    if (!image)
        return;
    free(image->image.data);
    twi_metadata_free(image->metadata);
    *image = (twi_io_image){0};
}

const char *twi_io_format(const twi_io_image *image)
{
    return image->metadata && image->metadata->format ? image->metadata->format : twi_format_npy.name;
}

twi_io_status twi_io_read(const char *path, int64_t page, uint64_t most_bytes, twi_io_image *result)
{
    twi_reader *reader;
    *result = (twi_io_image){0};
    TWI_IO_TRY(twi_reader_start(path, page, most_bytes, true, &reader));
    const twi_io_status status = twi_reader_all(reader, most_bytes, result);
    twi_reader_close(reader);
    return status;
}

twi_io_status twi_reader_all(twi_reader *reader, uint64_t most_bytes, twi_io_image *result)
{
    const tw_image shape = *twi_reader_shape(reader);
    twi_io_image image = {0};
    *result = image;
    TWI_IO_TRY(make_image(reader->source.name, (uint64_t)shape.width, (uint64_t)shape.height, shape.channels,
                          shape.type, most_bytes, &image));
    twi_io_status status = twi_reader_rows(reader, 0, &image.image);
    if (status == TWI_IO_OK)
        status = twi_reader_end(reader);
    if (status != TWI_IO_OK) {
        twi_io_free(&image);
        return status;
    }
    twi_reader_describe(reader, result);
    result->image = image.image;
    return TWI_IO_OK;
}

twi_io_status twi_io_write(const char *path, const char *stdout_format, const twi_io_image *image, const char **lost)
{
    twi_writer *writer;
    TWI_IO_TRY(twi_writer_open(path, stdout_format, image, &writer));
    return twi_writer_close(writer, twi_writer_rows(writer, &image->image), lost);
}
