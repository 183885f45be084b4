/* Small tables of numbers, such as masks and footprints: from text, a text file or NumPy's .npy. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/npy.h"

enum { MOST_BYTES = 1 << 24 /* of a file: far more than the largest table in the longest numbers */ };

/* A table that grows row by row. */
typedef struct table {
    const char *name; /* for messages */
    int32_t most;     /* of each side */
    size_t room;
    size_t count;
    int32_t in_row; /* numbers of the row that is being read */
    twi_matrix *matrix;
} table;

/* ---- Text ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* Behind a decimal number: sign, digits with at most one point, exponent. NULL if none stands there. */
static const char *skip_number(const char *at, bool *real)
{
    at += *at == '+' || *at == '-';
    const char *digits = at;
    at = skip_digits(at);
    size_t count = (size_t)(at - digits);
    if (*at == '.') {
        *real = true;
        digits = ++at;
        at = skip_digits(at);
        count += (size_t)(at - digits);
    }
    if (count == 0)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        *real = true;
        at++;
        at += *at == '+' || *at == '-';
        digits = at;
        at = skip_digits(at);
        if (at == digits)
            return NULL;
    }
    return at;
}

static twi_io_status add(table *t, double value)
{
    twi_matrix *matrix = t->matrix;
    if (t->in_row == t->most)
        return twi_io_fail(TWI_IO_USAGE, t->name, "row %d has more than %d numbers", (int)matrix->height + 1,
                           (int)t->most);
    if (t->count == t->room) {
        const size_t room = t->room > 0 ? 2 * t->room : 64;
        double *larger = realloc(matrix->values, room * sizeof *larger);
        if (!larger)
            return twi_io_fail(TWI_IO_MEMORY, t->name, "out of memory for %zu numbers", room);
        matrix->values = larger;
        t->room = room;
    }
    matrix->values[t->count++] = value;
    t->in_row++;
    return TWI_IO_OK;
}

static twi_io_status end_row(table *t)
{
    twi_matrix *matrix = t->matrix;
    if (matrix->height == 0)
        matrix->width = t->in_row;
    if (t->in_row != matrix->width)
        return twi_io_fail(TWI_IO_USAGE, t->name, "row %d has another length (%d) than the first (%d)",
                           (int)matrix->height + 1, (int)t->in_row, (int)matrix->width);
    if (matrix->height == t->most)
        return twi_io_fail(TWI_IO_USAGE, t->name, "there are more than %d rows", (int)t->most);
    matrix->height++;
    t->in_row = 0;
    return TWI_IO_OK;
}

static twi_io_status no_number(const table *t, const char *at)
{
    const size_t word = strcspn(at, " \t\r\n,;");
    const int length = word > 0 ? (int)(word < 32 ? word : 32) : *at >= ' ';
    return twi_io_fail(TWI_IO_USAGE, t->name,
                       "'%.*s' in row %d is no number: give numbers like 2, -1, 0.5 or 1e-3, columns split by blanks "
                       "or commas, rows by ';' or line ends",
                       length, at, (int)t->matrix->height + 1);
}

/* Numbers up to the end of the text. Lines without numbers are skipped, and so is the end of a last row. */
static twi_io_status parse(table *t, const char *at)
{
    bool comma = false; /* the last thing was one */
    for (;;) {
        while (is_blank(*at))
            at++;
        if (*at == '\0' || *at == ';' || *at == '\n') {
            if (comma || (*at == ';' && t->in_row == 0))
                return no_number(t, at);
            if (t->in_row > 0)
                TWI_IO_TRY(end_row(t));
            if (*at++ == '\0')
                return TWI_IO_OK;
            continue;
        }
        const char *after = skip_number(at, &t->matrix->real);
        if (!after || !(is_blank(*after) || strchr(",;\n", *after))) /* strchr finds the end, too */
            return no_number(t, at);
        const double value = strtod(at, NULL);
        if (!isfinite(value))
            return twi_io_fail(TWI_IO_USAGE, t->name, "a number in row %d is larger than any f64",
                               (int)t->matrix->height + 1);
        TWI_IO_TRY(add(t, value));
        while (is_blank(*after))
            after++;
        comma = *after == ',';
        at = after + comma;
    }
}

/* On failure the matrix holds what there was until then. */
static twi_io_status parse_table(const char *name, const char *text, int32_t most, twi_matrix *result)
{
    table t = {.name = name, .most = most, .matrix = result};
    TWI_IO_TRY(parse(&t, text));
    return result->height > 0 ? TWI_IO_OK : twi_io_fail(TWI_IO_USAGE, name, "holds no number");
}

static twi_io_status read_text(twi_source *source, int32_t most, twi_matrix *result)
{
    char *text = NULL;
    size_t room = 4096;
    size_t count = 0;
    do {
        room *= 2;
        char *larger = room <= MOST_BYTES ? realloc(text, room + 1) : NULL;
        if (!larger) {
            free(text);
            return room <= MOST_BYTES
                       ? twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for %zu bytes of text", room)
                       : twi_io_fail(TWI_IO_USAGE, source->name, "has more than %zu bytes: too many for such a table",
                                     count);
        }
        text = larger;
        count += twi_source_read(source, text + count, room - count);
    } while (count == room);
    text[count] = '\0';
    twi_io_status status = TWI_IO_OK;
    if (source->error != 0)
        status = twi_source_short(source);
    else if (memchr(text, '\0', count))
        status = twi_io_fail(TWI_IO_INPUT, source->name, "is neither text nor NPY");
    else /* behind the mark that Windows puts before UTF-8 */
        status = parse_table(source->name, text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0), most, result);
    free(text);
    return status;
}

/* ---- NPY ------------------------------------------------------------------------------------ */

/* What an element is: its kind ('b' bool, 'i', 'u', 'f'), its bytes and their order. */
typedef struct element {
    char kind;
    size_t size;
    bool big_endian;
} element;

static bool find_element(const char *descr, element *result)
{
    static const char *const codes[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (descr[0] != '\0' && strchr("<>|=", descr[0]) && strcmp(descr + 1, codes[i]) == 0) {
            *result = (element){codes[i][0], (size_t)(codes[i][1] - '0'),
                                descr[0] == '>' || (descr[0] == '=' && twi_host_big())};
            return true;
        }
    }
    return false;
}

static double value_of(const element *e, const uint8_t *bytes)
{
    const uint64_t bits = twi_get(bytes, e->size, e->big_endian);
    if (e->kind == 'f' && e->size == 4) {
        const uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    if (e->kind == 'f') {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (e->kind == 'i') {
        /* the sign bit counts negative */
        const uint64_t sign = UINT64_C(1) << (8 * e->size - 1);
        return (double)(int64_t)((bits ^ sign) - sign);
    }
    return (double)bits;
}

static twi_io_status read_elements(twi_source *source, const twi_npy *head, const element *e, twi_matrix *result)
{
    const size_t width = (size_t)result->width;
    const size_t height = (size_t)result->height;
    for (size_t i = 0; i < width * height; i++) {
        uint8_t bytes[8];
        const size_t place = head->fortran ? i % height * width + i / height : i;
        if (twi_source_read(source, bytes, e->size) < e->size)
            return twi_source_short(source);
        result->values[place] = value_of(e, bytes);
        if (e->kind != 'f' && fabs(result->values[place]) >= 0x1p53)
            return twi_io_fail(TWI_IO_USAGE, source->name, "holds an integer of 2^53 or beyond, which f64 may round");
    }
    return TWI_IO_OK;
}

/* One dimension is a row. */
static twi_io_status read_npy(twi_source *source, int32_t most, twi_matrix *result)
{
    twi_npy head;
    element e;
    TWI_IO_TRY(twi_npy_header(source, &head));
    if (!find_element(head.descr, &e))
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "an NPY array of type \"%s\": bool, integers of 8 to 64 bits, f4 and f8 are supported",
                           head.descr);
    if (head.dimensions != 1 && head.dimensions != 2)
        return twi_io_fail(TWI_IO_USAGE, source->name, "a %d-dimensional NPY array: use rows and columns",
                           head.dimensions);
    const uint64_t width = head.shape[head.dimensions - 1];
    const uint64_t height = head.dimensions == 2 ? head.shape[0] : 1;
    if (width < 1 || height < 1 || width > (uint64_t)most || height > (uint64_t)most)
        return twi_io_fail(TWI_IO_USAGE, source->name, "%llux%llu numbers: both sides must be 1 to %d",
                           (unsigned long long)width, (unsigned long long)height, (int)most);
    result->width = (int32_t)width;
    result->height = (int32_t)height;
    result->real = e.kind == 'f';
    const size_t count = (size_t)width * (size_t)height;
    result->values = malloc(count * sizeof *result->values);
    if (!result->values)
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for %zu numbers", count);
    return read_elements(source, &head, &e, result);
}

/* ---- Files ---------------------------------------------------------------------------------- */

twi_io_status twi_io_matrix_parse(const char *name, const char *text, int32_t most, twi_matrix *result)
{
    *result = (twi_matrix){0};
    const twi_io_status status = parse_table(name, text, most, result);
    if (status != TWI_IO_OK)
        twi_io_matrix_free(result);
    return status;
}

twi_io_status twi_matrix_from(twi_source *source, int32_t most, twi_matrix *result)
{
    size_t count = 0;
    *result = (twi_matrix){0};
    const uint8_t *head = twi_source_peek(source, 16, &count);
    const twi_io_status status =
        twi_npy_sniff(head, count) ? read_npy(source, most, result) : read_text(source, most, result);
    if (status != TWI_IO_OK)
        twi_io_matrix_free(result);
    return status;
}

twi_io_status twi_io_matrix_read(const char *path, int32_t most, twi_matrix *result)
{
    twi_source source;
    *result = (twi_matrix){0};
    TWI_IO_TRY(twi_source_open(path, &source));
    const twi_io_status status = twi_matrix_from(&source, most, result);
    twi_source_close(&source);
    return status;
}

void twi_io_matrix_free(twi_matrix *matrix)
{
    free(matrix->values);
    *matrix = (twi_matrix){0};
}
