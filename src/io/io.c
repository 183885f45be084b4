/* The table of formats: which one a file's content is, and which one a name asks for. Whole images. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "io/metadata.h"

/* Adding a format is its file and its row here. */
static const twi_format *const formats[] = {
    &twi_format_png, &twi_format_jpeg, &twi_format_tiff, &twi_format_pnm, &twi_format_npy,
};

enum { FORMATS = sizeof formats / sizeof formats[0], HEAD_BYTES = 16, ALIGNMENT = 256, PITCH_UNIT = 64 };

/* ---- Messages ------------------------------------------------------------------------------- */

static _Thread_local char message[4608];

twi_io_status twi_io_fail(twi_io_status status, const char *name, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(message, sizeof message, "%s: ", name);
    va_start(arguments, format);
    if (length >= 0 && (size_t)length < sizeof message)
        (void)vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    /* one line, whatever a name or a codec's words hold */
    for (char *at = message; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    return status;
}

const char *twi_io_message(void)
{
    return message;
}

/* Adds to a list of words: "a", "a, b". */
static void add_word(char *text, size_t size, const char *word, const char *separator)
{
    const size_t length = strlen(text);
    (void)snprintf(text + length, size - length, "%s%s", length > 0 ? separator : "", word);
}

/* ---- Images --------------------------------------------------------------------------------- */

uint64_t twi_image_bytes(uint64_t width, uint64_t height, int32_t channels, tw_type type, uint64_t *pitch)
{
    uint64_t row = 0;
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(width, (uint64_t)channels * tw_type_size(type), &row) || row > INT64_MAX - PITCH_UNIT)
        row = INT64_MAX - PITCH_UNIT;
    row = (row + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    if (pitch)
        *pitch = row;
    return __builtin_mul_overflow(row, height, &bytes) || bytes > INT64_MAX ? UINT64_MAX : bytes;
}

twi_io_status twi_image_limit(const char *name, uint64_t width, uint64_t height, int32_t channels, tw_type type,
                              uint64_t most_bytes)
{
    if (width < 1 || height < 1 || channels < 1 || channels > 4 || tw_type_size(type) == 0)
        return twi_io_fail(TWI_IO_USAGE, name, "an image of %llux%llu pixels with %d channel%s of type %s",
                           (unsigned long long)width, (unsigned long long)height, (int)channels,
                           channels == 1 ? "" : "s", tw_type_name(type));
    if (twi_image_bytes(width, height, channels, type, NULL) > most_bytes)
        return twi_io_fail(TWI_IO_MEMORY, name,
                           "%llux%llu pixels with %d channel%s of %s exceed the limit of %llu bytes",
                           (unsigned long long)width, (unsigned long long)height, (int)channels,
                           channels == 1 ? "" : "s", tw_type_name(type), (unsigned long long)most_bytes);
    return TWI_IO_OK;
}

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

/* ---- Which format ----------------------------------------------------------------------------- */

const twi_format *twi_format_of(const uint8_t *head, size_t count)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->sniff(head, count))
            return formats[i];
    return NULL;
}

void twi_format_titles(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < FORMATS; i++)
        add_word(text, size, formats[i]->title, ", ");
}

/* The format that has this ending or name; *ending becomes its own spelling of it. */
static const twi_format *find_format(const char **ending)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcasecmp(formats[i]->name, *ending) == 0) {
            *ending = formats[i]->name;
            return formats[i];
        }
        for (const char *const *known = formats[i]->endings; *known; known++) {
            if (strcasecmp(*known, *ending) == 0) {
                *ending = *known;
                return formats[i];
            }
        }
    }
    return NULL;
}

/* All endings, or those that can hold such an image (type below TW_ELEMENT_COUNT). */
static void list_endings(char *text, size_t size, tw_type type, int32_t channels)
{
    text[0] = '\0';
    for (size_t i = 0; i < FORMATS; i++) {
        for (const char *const *known = formats[i]->endings; *known; known++) {
            char word[16];
            if (type != TW_ELEMENT_COUNT && !formats[i]->can_hold(*known, type, channels))
                continue;
            (void)snprintf(word, sizeof word, ".%s", *known);
            add_word(text, size, word, " ");
        }
    }
}

twi_io_status twi_format_choose(const char *path, const char *stdout_format, tw_type type, int32_t channels,
                                const twi_format **format)
{
    char known[128];
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "stdout" : path;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const char *ending = standard ? stdout_format : dot ? dot + 1 : "";
    *format = find_format(&ending);
    if (!*format) {
        list_endings(known, sizeof known, TW_ELEMENT_COUNT, 0);
        return twi_io_fail(TWI_IO_USAGE, name, "%s\"%s\" names no format: use one of %s", standard ? "" : "its ending ",
                           ending, known);
    }
    if (!(*format)->can_hold(ending, type, channels)) {
        list_endings(known, sizeof known, type, channels);
        return twi_io_fail(TWI_IO_USAGE, name, "a %s%s file cannot hold %d channel%s of %s: use one of %s",
                           standard ? "" : ".", ending, (int)channels, channels == 1 ? "" : "s", tw_type_name(type),
                           known);
    }
    return TWI_IO_OK;
}

twi_io_status twi_io_can_write(const char *path, const char *stdout_format, tw_type type, int32_t channels)
{
    const twi_format *format;
    TWI_IO_TRY(twi_format_choose(path, stdout_format, type, channels, &format));
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return twi_io_fail(TWI_IO_USAGE, "stdout", "is a terminal: an image is written to a file or a pipe");
    return TWI_IO_OK;
}

const char *twi_format_lost(const char *name, const twi_format *format, unsigned kinds)
{
    static const char *const words[TWI_KINDS] = {"ICC profile", "EXIF",        "XMP",
                                                 "resolution",  "orientation", "georeference and NoData"};
    static _Thread_local char text[4608];
    char list[96] = "";
    if (kinds == 0)
        return "";
    for (unsigned i = 0; i < TWI_KINDS; i++)
        if (kinds & 1U << i)
            add_word(list, sizeof list, words[i], ", ");
    (void)snprintf(text, sizeof text, "%s: left out, since %s cannot hold it: %s", name, format->title, list);
    return text;
}

/* ---- Whole images ------------------------------------------------------------------------------- */

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
