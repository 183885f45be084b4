/* NumPy's .npy: versions 1 to 3 are read, version 1 in C order and little-endian is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/metadata.h"
#include "io/npy.h"

static const char magic[6] = "\x93NUMPY";
static const char *const endings[] = {"npy", NULL};

enum { MOST_HEADER = 65536, HEADER_UNIT = 64 };

/* NumPy's names of the element types, without the byte order. The last three are written alone: no operation reads
   them. */
static const char type_codes[][3] = {"u1", "u2", "i2", "i4", "f4", "f8", "u4", "i8", "u8"};
enum { WRITTEN_TYPES = sizeof type_codes / sizeof type_codes[0] };

bool twi_npy_sniff(const uint8_t *head, size_t count)
{
    return count >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

static bool can_hold(const char *ending, tw_type type, int32_t channels)
{
    (void)ending;
    return (unsigned)type < WRITTEN_TYPES && channels >= 1 && channels <= 4;
}

/* ---- The header: a Python dictionary of three entries ---------------------------------------- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* Behind `word` and the blanks around it; NULL if something else stands there. */
static const char *expect(const char *at, const char *word)
{
    if (!at)
        return NULL;
    at = skip_blanks(at);
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 ? skip_blanks(at + length) : NULL;
}

/* A quoted string of at most size - 1 characters. */
static const char *parse_string(const char *at, char *text, size_t size)
{
    const char quote = *at;
    size_t length = 0;
    if (quote != '\'' && quote != '"')
        return NULL;
    for (at++; *at && *at != quote; at++) {
        if (length == size - 1)
            return NULL;
        text[length++] = *at;
    }
    text[length] = '\0';
    return *at == quote ? skip_blanks(at + 1) : NULL;
}

/* "(3, 4)", "(5,)", "()". More than three dimensions are counted, not kept. */
static const char *parse_shape(const char *at, twi_npy *result)
{
    at = expect(at, "(");
    while (at && *at != ')') {
        uint64_t value = 0;
        const char *first = at;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
                return NULL;
        if (at == first)
            return NULL;
        if (result->dimensions < 3)
            result->shape[result->dimensions] = value;
        result->dimensions++;
        at = skip_blanks(at + (*at == 'L')); /* Python 2 wrote long integers so */
        if (*at != ')')
            at = expect(at, ",");
    }
    return expect(at, ")");
}

static const char *parse_bool(const char *at, bool *value)
{
    const char *after = expect(at, "True");
    *value = after != NULL;
    return after ? after : expect(at, "False");
}

/* false if the text is no header of an array; its descr may still name a type that is not supported. */
static bool parse_header(const char *at, twi_npy *result)
{
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    at = expect(at, "{");
    while (at && *at != '}') {
        char key[16];
        at = expect(parse_string(at, key, sizeof key), ":");
        if (!at)
            return false;
        if (strcmp(key, "descr") == 0 && !has_descr) {
            has_descr = true;
            /* a list is a structured type: nothing that is supported, and nothing to be parsed */
            if (*at == '[') {
                (void)snprintf(result->descr, sizeof result->descr, "structured");
                return true;
            }
            at = parse_string(at, result->descr, sizeof result->descr);
        } else if (strcmp(key, "fortran_order") == 0 && !has_order) {
            has_order = true;
            at = parse_bool(at, &result->fortran);
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = true;
            at = parse_shape(at, result);
        } else {
            return false;
        }
        if (at && *at != '}')
            at = expect(at, ",");
    }
    at = expect(at, "}");
    return at && *at == '\0' && has_descr && has_order && has_shape;
}

/* The element type and byte order that a descr names. */
static bool find_type(const char *descr, tw_type *result, bool *big_endian)
{
    const char order = descr[0];
    if (order == '\0' || !strchr("<>|=", order))
        return false;
    for (int type = 0; type < TW_TYPE_COUNT; type++) {
        if (strcmp(type_codes[type], descr + 1) == 0) {
            *result = (tw_type)type;
            *big_endian = order == '>' || (order == '=' && twi_host_big());
            return order != '|' || tw_type_size(*result) == 1;
        }
    }
    return false;
}

twi_io_status twi_npy_header(twi_source *source, twi_npy *result)
{
    uint8_t start[8];
    uint8_t length_bytes[4];
    *result = (twi_npy){0};
    if (twi_source_read(source, start, sizeof start) < sizeof start)
        return twi_source_short(source);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return twi_io_fail(TWI_IO_INPUT, source->name, "NPY version %d.%d: 1.0, 2.0 and 3.0 are supported", start[6],
                           start[7]);
    const size_t width = start[6] == 1 ? 2 : 4;
    if (twi_source_read(source, length_bytes, width) < width)
        return twi_source_short(source);
    const uint64_t length = twi_get(length_bytes, width, false);
    if (length > MOST_HEADER)
        return twi_io_fail(TWI_IO_INPUT, source->name, "an NPY header of %llu bytes: %d is the most",
                           (unsigned long long)length, (int)MOST_HEADER);
    char *text = calloc((size_t)length + 1, 1);
    if (!text)
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for the header");
    if (twi_source_read(source, text, (size_t)length) < length) {
        free(text);
        return twi_source_short(source);
    }
    const bool sound = strlen(text) == length && parse_header(text, result);
    free(text);
    return sound ? TWI_IO_OK : twi_io_fail(TWI_IO_INPUT, source->name, "its NPY header is malformed");
}

/* ---- Reading -------------------------------------------------------------------------------- */

typedef struct array {
    twi_flat flat;
    bool fortran;
} array;

static twi_io_status open_npy(twi_reader *reader)
{
    twi_source *source = &reader->source;
    twi_npy head;
    tw_type type = TW_U8;
    bool big_endian = false;
    TWI_IO_TRY(twi_npy_header(source, &head));
    if (!find_type(head.descr, &type, &big_endian))
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "an NPY array of type \"%s\": u1, u2, i2, i4, f4 and f8 are supported, in either byte order",
                           head.descr);
    const uint64_t channels = head.dimensions == 3 ? head.shape[2] : 1;
    if (head.dimensions < 2 || head.dimensions > 3 || channels > 4)
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "a %d-dimensional NPY array%s: height x width and height x width x channels, 1 to 4 of "
                           "them, are supported",
                           head.dimensions, head.dimensions == 3 ? " with more than 4 channels" : "");
    if (head.shape[0] == 0 || head.shape[1] == 0 || channels == 0)
        return twi_io_fail(TWI_IO_INPUT, source->name, "an NPY array without elements");
    uint64_t bytes;
    if (__builtin_mul_overflow(head.shape[0], head.shape[1], &bytes) ||
        __builtin_mul_overflow(bytes, channels * tw_type_size(type), &bytes))
        bytes = UINT64_MAX - 1;
    TWI_IO_TRY(twi_source_expect(source, bytes));
    TWI_IO_TRY(twi_reader_accept(reader, head.shape[1], head.shape[0], (int32_t)channels, type));
    array *state = reader->state = malloc(sizeof *state);
    if (!state)
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for reading");
    *state = (array){{source->position, big_endian, false}, head.fortran};
    return TWI_IO_OK;
}

/* Fortran order: column after column, all of the first channel before the second. */
static twi_io_status read_columns(twi_reader *reader, const twi_flat *flat, int64_t first, const tw_image *rows)
{
    const size_t size = tw_type_size(rows->type);
    const size_t bytes = (size_t)rows->height * size;
    /* parts of columns lie apart: the source's buffer would be filled for each */
    const bool apart = rows->height < reader->shape.height && reader->source.size != TWI_UNKNOWN_SIZE;
    uint8_t *column = malloc(bytes);
    twi_io_status status = TWI_IO_OK;
    if (!column)
        return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "out of memory for a column");
    for (int64_t i = 0; i < rows->width * rows->channels && status == TWI_IO_OK; i++) {
        const int64_t element = i % rows->width * rows->channels + i / rows->width;
        const uint64_t offset = flat->offset + (uint64_t)(i * reader->shape.height + first) * size;
        status = twi_source_seek(&reader->source, offset);
        if (status == TWI_IO_OK && (apart ? twi_source_read_at(&reader->source, offset, column, bytes)
                                          : twi_source_read(&reader->source, column, bytes)) < bytes)
            status = twi_source_short(&reader->source);
        if (status == TWI_IO_OK && flat->big != twi_host_big())
            twi_swap(column, (size_t)rows->height, size);
        for (int64_t y = 0; y < rows->height && status == TWI_IO_OK; y++)
            memcpy((char *)twi_row(rows, y) + (size_t)element * size, column + (size_t)y * size, size);
    }
    free(column);
    return status;
}

static twi_io_status read_npy(twi_reader *reader, int64_t first, const tw_image *rows)
{
    const array *state = reader->state;
    return state->fortran ? read_columns(reader, &state->flat, first, rows)
                          : twi_flat_read(reader, &state->flat, first, rows);
}

static void close_npy(twi_reader *reader)
{
    free(reader->state);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static twi_io_status make_head(const char *name, const tw_image *image, const twi_metadata *metadata, twi_head *result,
                               unsigned *kept)
{
    char shape[64];
    const size_t size = tw_type_size(image->type);
    char *head = malloc(3 * HEADER_UNIT);
    (void)metadata;
    (void)kept;
    if (!head)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for the header");
    if (image->channels == 1)
        (void)snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)image->height, (long long)image->width);
    else
        (void)snprintf(shape, sizeof shape, "(%lld, %lld, %d)", (long long)image->height, (long long)image->width,
                       (int)image->channels);
    const int text =
        snprintf(head + 10, 3 * HEADER_UNIT - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                 size == 1 ? '|' : '<', type_codes[image->type], shape);
    /* blanks and a newline so that the elements begin at a multiple of 64 */
    const size_t total = (10 + (size_t)text + 1 + HEADER_UNIT - 1) / HEADER_UNIT * HEADER_UNIT;
    memcpy(head, magic, sizeof magic);
    head[6] = 1;
    head[7] = 0;
    twi_put((uint8_t *)head + 8, 2, false, total - 10);
    memset(head + 10 + text, ' ', total - 10 - (size_t)text);
    head[total - 1] = '\n';
    result->bytes = (uint8_t *)head;
    result->flat = (twi_flat){.offset = total};
    return TWI_IO_OK;
}

const twi_format twi_format_npy = {
    .name = "npy",
    .title = "NPY",
    .endings = endings,
    .sniff = twi_npy_sniff,
    .can_hold = can_hold,
    .open = open_npy,
    .rows = read_npy,
    .close = close_npy,
    .head = make_head,
};
