/*
 * Netpbm's PBM, PGM and PPM, plain and raw, and PFM. Values are as stored, whatever the maximum is; only the
 * bits of a PBM expand, to 0 (black) and 255. Written raw; PFM little-endian.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/metadata.h"

static const char *const endings[] = {"pgm", "ppm", "pnm", "pfm", NULL};

typedef struct header {
    char kind; /* '1' to '6', 'f' or 'F' */
    uint64_t width;
    uint64_t height;
    uint64_t most; /* the largest value of a sample */
    twi_flat flat; /* of raw kinds; PFM alone has a choice of byte order, and its lowest row first */
} header;

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool sniff(const uint8_t *head, size_t count)
{
    return count >= 3 && head[0] == 'P' && ((head[1] >= '1' && head[1] <= '6') || head[1] == 'f' || head[1] == 'F') &&
           (is_blank(head[2]) || head[2] == '#');
}

static bool can_hold(const char *ending, tw_type type, int32_t channels)
{
    const bool integer = type == TW_U8 || type == TW_U16;
    if (strcmp(ending, "pgm") == 0)
        return integer && channels == 1;
    if (strcmp(ending, "ppm") == 0)
        return integer && channels == 3;
    if (strcmp(ending, "pfm") == 0 && type != TW_F32)
        return false;
    return (integer || type == TW_F32) && (channels == 1 || channels == 3);
}

/* ---- Text ----------------------------------------------------------------------------------- */

/* The next byte, or -1. A comment, "#" to the end of the line, reads as its line feed. */
static int next_char(twi_source *source)
{
    uint8_t c = 0;
    if (twi_source_read(source, &c, 1) < 1)
        return -1;
    if (c == '#')
        while (c != '\n' && c != '\r')
            if (twi_source_read(source, &c, 1) < 1)
                return -1;
    return c;
}

static int skip_to_text(twi_source *source)
{
    int c;
    do
        c = next_char(source);
    while (is_blank(c));
    return c;
}

/* A decimal number and the one blank behind it; at the end of the file no blank is needed. */
static twi_io_status read_number(twi_source *source, const char *what, uint64_t *value)
{
    int c = skip_to_text(source);
    if (c < 0)
        return twi_source_short(source);
    *value = 0;
    for (; c >= '0' && c <= '9'; c = next_char(source))
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, c - '0', value))
            return twi_io_fail(TWI_IO_INPUT, source->name, "its %s has too many digits", what);
    if (c >= 0 && !is_blank(c))
        return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: byte 0x%02x in its %s", (unsigned)c, what);
    return TWI_IO_OK;
}

/* PFM's scale: only its sign matters, negative for little-endian. */
static twi_io_status read_scale(twi_source *source, header *head)
{
    char text[32];
    size_t length = 0;
    char *end;
    int c = skip_to_text(source);
    for (; c >= 0 && !is_blank(c) && length < sizeof text - 1; c = next_char(source))
        text[length++] = (char)c;
    text[length] = '\0';
    const double scale = strtod(text, &end);
    if (c < 0)
        return twi_source_short(source);
    if (!is_blank(c) || length == 0 || *end != '\0' || !(scale < 0 || scale > 0))
        return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: its scale is \"%s\", not a number other than 0",
                           text);
    head->flat.big = scale > 0;
    return TWI_IO_OK;
}

static twi_io_status read_header(twi_source *source, header *head)
{
    char start[2];
    if (twi_source_read(source, start, sizeof start) < sizeof start)
        return twi_source_short(source);
    *head = (header){.kind = start[1], .most = 1, .flat.big = true};
    TWI_IO_TRY(read_number(source, "width", &head->width));
    TWI_IO_TRY(read_number(source, "height", &head->height));
    if (head->width == 0 || head->height == 0)
        return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: an image of %llux%llu pixels",
                           (unsigned long long)head->width, (unsigned long long)head->height);
    if (head->kind == 'f' || head->kind == 'F')
        return read_scale(source, head);
    if (head->kind != '1' && head->kind != '4')
        TWI_IO_TRY(read_number(source, "maximum", &head->most));
    if (head->most < 1 || head->most > UINT16_MAX)
        return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: a maximum of %llu, 1 to 65535 is right",
                           (unsigned long long)head->most);
    return TWI_IO_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void set_sample(const tw_image *image, void *row, size_t i, uint64_t value)
{
    if (image->type == TW_U8)
        ((uint8_t *)row)[i] = (uint8_t)value;
    else
        ((uint16_t *)row)[i] = (uint16_t)value;
}

static twi_io_status too_large(const twi_source *source, const header *head, uint64_t value)
{
    return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: a sample of %llu where %llu is the maximum",
                       (unsigned long long)value, (unsigned long long)head->most);
}

/* Plain bits need no blank between them. */
static twi_io_status read_plain_bits(twi_source *source, const tw_image *image, uint8_t *row)
{
    for (int64_t x = 0; x < image->width; x++) {
        const int c = skip_to_text(source);
        if (c < 0)
            return twi_source_short(source);
        if (c != '0' && c != '1')
            return twi_io_fail(TWI_IO_INPUT, source->name, "malformed: byte 0x%02x among the bits", (unsigned)c);
        row[x] = c == '0' ? UINT8_MAX : 0;
    }
    return TWI_IO_OK;
}

static twi_io_status read_plain(twi_source *source, const header *head, const tw_image *image, void *row)
{
    if (head->kind == '1')
        return read_plain_bits(source, image, row);
    for (size_t i = 0; i < twi_row_elements(image); i++) {
        uint64_t value = 0;
        TWI_IO_TRY(read_number(source, "samples", &value));
        if (value > head->most)
            return too_large(source, head, value);
        set_sample(image, row, i, value);
    }
    return TWI_IO_OK;
}

/* Bits from the left, 1 is black. They are read to the row's end and expanded from its start. */
static twi_io_status read_raw_bits(twi_source *source, const tw_image *image, uint8_t *row)
{
    const size_t bytes = ((size_t)image->width + 7) / 8;
    uint8_t *packed = row + (size_t)image->width - bytes;
    if (twi_source_read(source, packed, bytes) < bytes)
        return twi_source_short(source);
    uint8_t byte = 0;
    for (int64_t x = 0; x < image->width; x++) {
        if (x % 8 == 0)
            byte = packed[x / 8];
        row[x] = byte >> (7 - x % 8) & 1 ? 0 : UINT8_MAX;
    }
    return TWI_IO_OK;
}

/* What was read where the maximum is not all that the type holds. */
static twi_io_status check_samples(const twi_source *source, const header *head, const tw_image *rows)
{
    for (int64_t y = 0; y < rows->height; y++) {
        const void *row = twi_row(rows, y);
        for (size_t i = 0; i < twi_row_elements(rows); i++) {
            const uint64_t value = rows->type == TW_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
            if (value > head->most)
                return too_large(source, head, value);
        }
    }
    return TWI_IO_OK;
}

/* Bytes that the image takes in the file at least; wide of the mark only where they cannot be counted. */
static uint64_t least_bytes(const header *head, uint64_t samples_per_pixel, size_t size)
{
    uint64_t row;
    uint64_t bytes;
    if (head->kind == '4')
        row = head->width / 8 + (head->width % 8 != 0);
    else if (head->kind == '1')
        row = head->width;
    else if (__builtin_mul_overflow(head->width, samples_per_pixel * (head->kind <= '3' ? 2 : size), &row))
        return UINT64_MAX - 1;
    if (__builtin_mul_overflow(row, head->height, &bytes))
        return UINT64_MAX - 1;
    /* no blank is needed behind the last plain sample */
    return head->kind <= '3' ? bytes - 1 : bytes;
}

static twi_io_status open_pnm(twi_reader *reader)
{
    twi_source *source = &reader->source;
    header *head = reader->state = calloc(1, sizeof *head);
    if (!head)
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for reading");
    TWI_IO_TRY(read_header(source, head));
    const bool floats = head->kind == 'f' || head->kind == 'F';
    const int32_t channels = head->kind == '3' || head->kind == '6' || head->kind == 'F' ? 3 : 1;
    const tw_type type = floats ? TW_F32 : head->most > UINT8_MAX ? TW_U16 : TW_U8;
    TWI_IO_TRY(twi_source_expect(source, least_bytes(head, (uint64_t)channels, tw_type_size(type))));
    TWI_IO_TRY(twi_reader_accept(reader, head->width, head->height, channels, type));
    reader->access = head->kind <= '3' ? TWI_ACCESS_NEXT : TWI_ACCESS_ANY;
    head->flat.offset = source->position;
    head->flat.upward = floats;
    return TWI_IO_OK;
}

static twi_io_status read_pnm(twi_reader *reader, int64_t first, const tw_image *rows)
{
    twi_source *source = &reader->source;
    const header *head = reader->state;
    if (head->kind > '4') {
        TWI_IO_TRY(twi_flat_read(reader, &head->flat, first, rows));
        const bool any = rows->type == TW_F32 || head->most == UINT16_MAX || head->most == UINT8_MAX;
        return any ? TWI_IO_OK : check_samples(source, head, rows);
    }
    if (head->kind == '4')
        TWI_IO_TRY(twi_source_seek(source, head->flat.offset + (uint64_t)first * ((head->width + 7) / 8)));
    for (int64_t y = 0; y < rows->height; y++) {
        void *row = twi_row(rows, y);
        TWI_IO_TRY(head->kind == '4' ? read_raw_bits(source, rows, row) : read_plain(source, head, rows, row));
    }
    return TWI_IO_OK;
}

static void close_pnm(twi_reader *reader)
{
    free(reader->state);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static twi_io_status make_head(const char *name, const tw_image *image, const twi_metadata *metadata, twi_head *result,
                               unsigned *kept)
{
    enum { MOST_HEAD = 64 };
    char *head = malloc(MOST_HEAD);
    const bool floats = image->type == TW_F32;
    const char kind = floats ? (image->channels == 3 ? 'F' : 'f') : (image->channels == 3 ? '6' : '5');
    const char *most = floats ? "-1.0" : image->type == TW_U8 ? "255" : "65535";
    (void)metadata;
    (void)kept;
    if (!head)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for the header");
    const int length = snprintf(head, MOST_HEAD, "P%c\n%lld %lld\n%s\n", kind, (long long)image->width,
                                (long long)image->height, most);
    result->bytes = (uint8_t *)head;
    result->flat = (twi_flat){.offset = (uint64_t)length, .big = !floats, .upward = floats};
    return TWI_IO_OK;
}

const twi_format twi_format_pnm = {
    .name = "pnm",
    .title = "PNM",
    .endings = endings,
    .sniff = sniff,
    .can_hold = can_hold,
    .open = open_pnm,
    .rows = read_pnm,
    .close = close_pnm,
    .head = make_head,
};
