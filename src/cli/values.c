/* Values of options, read strictly: digits only, the whole text, within the range. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/values.h"

/* ---- Numbers ------------------------------------------------------------------------------------- */

/* Reads a whole number of `low` (>= 0) to `high` and moves *text behind it. */
static bool read_number(const char **text, int64_t low, int64_t high, int64_t *value)
{
    const char *at = *text;
    int64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const int digit = *at - '0';
        if (number > (INT64_MAX - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    if (at == *text || number < low || number > high)
        return false;
    *text = at;
    *value = number;
    return true;
}

static bool whole_number(const char *text, int64_t low, int64_t high, int64_t *value)
{
    return read_number(&text, low, high, value) && *text == '\0';
}

static bool number32(const char *text, int32_t low, int32_t high, int32_t *value)
{
    int64_t number = 0;
    if (!whole_number(text, low, high, &number))
        return false;
    *value = (int32_t)number;
    return true;
}

/* `count` numbers with a separator between them. */
static bool numbers(const char *text, char separator, int64_t low, int64_t high, int count, int64_t *values)
{
    for (int i = 0; i < count; i++) {
        if (i > 0 && *text++ != separator)
            return false;
        if (!read_number(&text, low, high, &values[i]))
            return false;
    }
    return *text == '\0';
}

/* "WxH", or "N" for both. */
static bool sides(const char *text, int64_t high, int64_t *width, int64_t *height)
{
    int64_t values[2];
    if (whole_number(text, 1, high, &values[0]))
        values[1] = values[0];
    else if (!numbers(text, 'x', 1, high, 2, values))
        return false;
    *width = values[0];
    *height = values[1];
    return true;
}

/* A real number as strtod reads it, but for blanks before it and for what no double holds; *text is moved behind it. */
static bool read_real(const char **text, double *value)
{
    char *end = NULL;
    if (**text == '\0' || strchr(" \t\n\v\f\r", **text))
        return false;
    errno = 0;
    *value = strtod(*text, &end);
    if (end == *text || (errno == ERANGE && isinf(*value)))
        return false;
    *text = end;
    return true;
}

static bool real_number(const char *text, double *value)
{
    return read_real(&text, value) && *text == '\0';
}

/* One that is neither NaN nor infinite. */
static bool finite_number(const char *text, double *value)
{
    return real_number(text, value) && isfinite(*value);
}

/* ---- Windows and images -------------------------------------------------------------------------- */

bool twi_set_radius(twi_args *args, const char *text)
{
    int32_t radius = 0;
    if (!number32(text, 0, (TW_MAX_WINDOW - 1) / 2, &radius))
        return false;
    args->window.width = args->window.height = 2 * radius + 1;
    args->radius_given = true;
    return true;
}

bool twi_set_window(twi_args *args, const char *text)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!sides(text, TW_MAX_WINDOW, &width, &height))
        return false;
    args->window.width = (int32_t)width;
    args->window.height = (int32_t)height;
    args->size_given = true;
    return true;
}

bool twi_set_anchor(twi_args *args, const char *text)
{
    int64_t values[2];
    if (!numbers(text, ',', 0, TW_MAX_WINDOW - 1, 2, values))
        return false;
    args->window.anchor_x = (int32_t)values[0];
    args->window.anchor_y = (int32_t)values[1];
    args->anchor_given = true;
    return true;
}

/* Names as SciPy and OpenCV have them too. "BORDER_" in front is cut off; case does not matter. */
static const struct {
    const char *name;
    tw_border_mode mode;
} borders[] = {
    {"zero", TW_BORDER_ZERO},           {"zero fill", TW_BORDER_ZERO},  {"constant", TW_BORDER_ZERO},
    {"replicate", TW_BORDER_REPLICATE}, {"clamp", TW_BORDER_REPLICATE}, {"nearest", TW_BORDER_REPLICATE},
    {"reflect", TW_BORDER_REFLECT},     {"mirror", TW_BORDER_MIRROR},   {"reflect_101", TW_BORDER_MIRROR},
    {"reflect101", TW_BORDER_MIRROR},   {"wrap", TW_BORDER_WRAP},       {"grid-constant", TW_BORDER_ZERO},
    {"grid-mirror", TW_BORDER_REFLECT}, {"grid-wrap", TW_BORDER_WRAP},
};

bool twi_set_border(twi_args *args, const char *text)
{
    static const char prefix[] = "border_";
    static const char constant[] = "constant:";
    args->border_given = true;
    if (strcasecmp(text, "border_default") == 0) /* OpenCV's: the bare word would be read as this command's */
        text = "mirror";
    if (strncasecmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    if (strncasecmp(text, constant, sizeof constant - 1) == 0) {
        args->border.mode = TW_BORDER_CONSTANT;
        return real_number(text + sizeof constant - 1, &args->border.value);
    }
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        if (strcasecmp(text, borders[i].name) == 0) {
            args->border = (tw_border){borders[i].mode, 0};
            return true;
        }
    }
    return false;
}

bool twi_set_any_border(twi_args *args, const char *text)
{
    if (strcasecmp(text, tw_border_name(TW_BORDER_IGNORE)) != 0)
        return twi_set_border(args, text);
    args->border = (tw_border){TW_BORDER_IGNORE, 0};
    args->border_given = true;
    return true;
}

bool twi_set_rounding(twi_args *args, const char *text)
{
    for (int i = 0; i < TW_ROUNDING_COUNT; i++) {
        if (strcmp(text, tw_rounding_name((tw_rounding)i)) == 0) {
            args->rounding = (tw_rounding)i;
            return true;
        }
    }
    return false;
}

bool twi_set_view(twi_args *args, const char *text)
{
    int64_t values[4];
    if (!numbers(text, ',', 0, INT64_MAX, 4, values) || values[2] < 1 || values[3] < 1)
        return false;
    args->view_x = values[0];
    args->view_y = values[1];
    args->view_width = values[2];
    args->view_height = values[3];
    return true;
}

bool twi_set_page(twi_args *args, const char *text)
{
    return whole_number(text, 0, INT32_MAX, &args->page);
}

/* One of the first `count` types. */
static bool type_name(const char *text, int count, tw_type *type)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(text, tw_type_name((tw_type)i)) == 0) {
            *type = (tw_type)i;
            return true;
        }
    }
    return false;
}

bool twi_set_type(twi_args *args, const char *text)
{
    return type_name(text, TW_TYPE_COUNT, &args->type);
}

bool twi_set_sum_type(twi_args *args, const char *text)
{
    return type_name(text, TW_STATS, &args->type);
}

bool twi_set_to(twi_args *args, const char *text)
{
    return type_name(text, TW_STATS, &args->to);
}

bool twi_set_image_size(twi_args *args, const char *text)
{
    return sides(text, 1000000000, &args->image_width, &args->image_height);
}

bool twi_set_channels(twi_args *args, const char *text)
{
    return number32(text, 1, 4, &args->channels);
}

bool twi_set_pitch(twi_args *args, const char *text)
{
    args->odd_pitch = strcmp(text, "odd") == 0;
    args->pitch = 0;
    return args->odd_pitch || whole_number(text, 1, 1000000000000, &args->pitch);
}

/* ---- Masks, weights and ranks -------------------------------------------------------------------- */

/* Numbers or a file's name: which of the two, and what they hold, is seen when the filter is made (arrays.c). */
bool twi_set_mask(twi_args *args, const char *text)
{
    args->mask = text;
    return *text != '\0';
}

bool twi_set_row(twi_args *args, const char *text)
{
    args->row = text;
    return *text != '\0';
}

bool twi_set_column(twi_args *args, const char *text)
{
    args->column = text;
    return *text != '\0';
}

bool twi_set_footprint(twi_args *args, const char *text)
{
    args->footprint = text;
    return *text != '\0';
}

bool twi_set_divisor(twi_args *args, const char *text)
{
    args->divisor = 1;
    args->divisor_is_sum = strcmp(text, "sum") == 0;
    return args->divisor_is_sum || (finite_number(text, &args->divisor) && args->divisor != 0);
}

bool twi_set_offset(twi_args *args, const char *text)
{
    return finite_number(text, &args->offset);
}

bool twi_set_sigma(twi_args *args, const char *text)
{
    if (!read_real(&text, &args->sigma_x))
        return false;
    args->sigma_y = args->sigma_x;
    if (*text == ',' && !real_number(text + 1, &args->sigma_y))
        return false;
    return (*text == ',' || *text == '\0') && args->sigma_x >= 0 && args->sigma_y >= 0 && isfinite(args->sigma_x) &&
           isfinite(args->sigma_y);
}

bool twi_set_truncate(twi_args *args, const char *text)
{
    return finite_number(text, &args->truncate) && args->truncate > 0;
}

bool twi_set_direction(twi_args *args, const char *text)
{
    args->direction = *text == 'y' ? TW_DIRECTION_Y : TW_DIRECTION_X;
    return strcmp(text, "x") == 0 || strcmp(text, "y") == 0;
}

bool twi_set_flip(twi_args *args, const char *text)
{
    args->flip = strcmp(text, "horizontal") == 0 ? TW_FLIP_HORIZONTAL
                 : strcmp(text, "vertical") == 0 ? TW_FLIP_VERTICAL
                                                 : TW_FLIP_BOTH;
    return args->flip != TW_FLIP_BOTH || strcmp(text, "both") == 0;
}

bool twi_set_lines(twi_args *args, const char *text)
{
    args->lines = *text == 'x' ? TW_AXIS_X : *text == 'y' ? TW_AXIS_Y : TW_AXIS_ALL;
    return strcmp(text, tw_axis_name(args->lines)) == 0;
}

/* The command that it is for tells which of these counts. */
bool twi_set_any_axis(twi_args *args, const char *text)
{
    const bool lines = twi_set_lines(args, text);
    return twi_set_direction(args, text) || lines || twi_set_flip(args, text);
}

const char *twi_figure_name(int index)
{
    static const char *const names[] = {"sum", "mean",   "var",    "std",           "min",
                                        "max", "argmin", "argmax", "count_nonzero", NULL};
    return names[index];
}

bool twi_set_figures(twi_args *args, const char *text)
{
    for (args->figures = 0; *text; text += *text == ',') {
        const size_t length = strcspn(text, ",");
        int i = 0;
        while (twi_figure_name(i) &&
               (strlen(twi_figure_name(i)) != length || strncmp(twi_figure_name(i), text, length) != 0))
            i++;
        if (!twi_figure_name(i))
            return false;
        args->figures |= 1u << i;
        text += length;
    }
    return args->figures != 0;
}

bool twi_set_degrees(twi_args *args, const char *text)
{
    return number32(text, 90, 270, &args->degrees) && args->degrees % 90 == 0;
}

bool twi_set_table(twi_args *args, const char *text)
{
    args->table = text;
    return *text != '\0';
}

bool twi_set_shape(twi_args *args, const char *text)
{
    static const char *const names[TW_SHAPE_COUNT] = {
        [TW_RECT] = "rect",
        [TW_CROSS] = "cross",
        [TW_ELLIPSE] = "ellipse",
    };
    args->shape_given = true;
    for (int i = 0; i < TW_SHAPE_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            args->shape = (tw_shape)i;
            return true;
        }
    }
    return false;
}

bool twi_set_iterations(twi_args *args, const char *text)
{
    return number32(text, 1, INT32_MAX, &args->iterations);
}

bool twi_set_rank(twi_args *args, const char *text)
{
    return whole_number(text, 0, (int64_t)TW_MAX_WINDOW * TW_MAX_WINDOW - 1, &args->rank);
}

bool twi_set_percentile(twi_args *args, const char *text)
{
    return finite_number(text, &args->percentile) && args->percentile >= 0 && args->percentile <= 100;
}

/* ---- Where and how ------------------------------------------------------------------------------- */

/* Numbers split by commas, or "all". */
static bool list_devices(twi_args *args, const char *text)
{
    args->device_count = -1;
    if (strcmp(text, "all") == 0)
        return true;
    args->device_count = 0;
    do {
        char number[8];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof number || args->device_count == TWI_DEVICES)
            return false;
        (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
        if (!number32(number, 0, 1023, &args->devices[args->device_count++]))
            return false;
        text += length;
    } while (*text++ == ',');
    args->device = args->devices[0];
    if (args->device_count == 1)
        args->device_count = 0;
    return true;
}

bool twi_set_device(twi_args *args, const char *text)
{
    static const char numbered[] = "cuda:";
    args->device = 0;
    args->device_count = 0;
    if (strncmp(text, numbered, sizeof numbered - 1) == 0) {
        args->backend = TW_CUDA;
        return list_devices(args, text + sizeof numbered - 1);
    }
    for (int i = 0; i < TW_BACKEND_COUNT; i++) {
        if (strcmp(text, tw_backend_name((tw_backend)i)) == 0) {
            args->backend = (tw_backend)i;
            return true;
        }
    }
    return false;
}

/* Whether the names exist depends on the operation: the commands look them up. */
bool twi_set_variants(twi_args *args, const char *text)
{
    args->variant = text;
    return *text != '\0' && *text != ',' && !strstr(text, ",,") && text[strlen(text) - 1] != ',';
}

bool twi_set_variant(twi_args *args, const char *text)
{
    return twi_set_variants(args, text) && !strchr(text, ',');
}

bool twi_set_block(twi_args *args, const char *text)
{
    int64_t values[2];
    if (!numbers(text, 'x', 1, 1024, 2, values))
        return false;
    args->block_width = (int32_t)values[0];
    args->block_height = (int32_t)values[1];
    return true;
}

/* A number of bytes, or with K, M, G or T behind it of powers of 1024. */
bool twi_set_memory(twi_args *args, const char *text)
{
    static const char units[] = "KMGT";
    int64_t value = 0;
    if (!read_number(&text, 1, INT64_MAX, &value))
        return false;
    const char *unit = *text ? strchr(units, toupper((unsigned char)*text)) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        if (__builtin_mul_overflow(value, 1024, &value))
            return false;
    if (text[unit != NULL] != '\0')
        return false;
    args->memory = (uint64_t)value;
    return true;
}

bool twi_set_threads(twi_args *args, const char *text)
{
    return number32(text, 1, 1024, &args->threads);
}

bool twi_set_progress(twi_args *args, const char *text)
{
    static const char *const names[] = {
        [TWI_PROGRESS_AUTO] = "auto",
        [TWI_PROGRESS_ALWAYS] = "always",
        [TWI_PROGRESS_NEVER] = "never",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            args->progress = (twi_progress_mode)i;
            return true;
        }
    }
    return false;
}

bool twi_set_report(twi_args *args, const char *text)
{
    args->report = text;
    return text[0] != '\0';
}

bool twi_set_svg(twi_args *args, const char *text)
{
    args->svg = text;
    return text[0] != '\0';
}

bool twi_set_files_from(twi_args *args, const char *text)
{
    args->files_from = text;
    return text[0] != '\0';
}

bool twi_set_format(twi_args *args, const char *text)
{
    static const char *const known[] = {"png", "jpg", "jpeg", "tif", "tiff", "pnm", "pgm", "ppm", "pfm", "npy"};
    args->format = text;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i]) == 0)
            return true;
    return false;
}

bool twi_set_seed(twi_args *args, const char *text)
{
    int64_t seed = 0;
    if (!whole_number(text, 0, INT64_MAX, &seed))
        return false;
    args->seed = (uint64_t)seed;
    return true;
}

bool twi_set_cases(twi_args *args, const char *text)
{
    return whole_number(text, 0, 1000000000, &args->cases);
}

bool twi_set_completion(twi_args *args, const char *text)
{
    args->completion = text;
    return strcmp(text, "bash") == 0 || strcmp(text, "zsh") == 0 || strcmp(text, "fish") == 0;
}

/* ---- Switches ------------------------------------------------------------------------------------ */

#define SWITCH(name)                                                                                                   \
    bool twi_set_##name(twi_args *args, const char *text)                                                              \
    {                                                                                                                  \
        (void)text;                                                                                                    \
        args->name = true;                                                                                             \
        return true;                                                                                                   \
    }

SWITCH(graph)
SWITCH(pinned)
SWITCH(exclusive)
SWITCH(histogram)
SWITCH(flat)
SWITCH(list)
SWITCH(json)
SWITCH(quiet)
SWITCH(resume)
SWITCH(man)
SWITCH(help)
