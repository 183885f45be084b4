/* Problems: checked as a whole, compared, printed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plan.h"
#include "core/wisdom.h"

/* Whether the element type holds the border's value: integers exactly, floats within their range. */
static bool holds(tw_type type, double value)
{
    static const struct {
        double low;
        double high;
    } range[] = {
        [TW_U8] = {0, UINT8_MAX},
        [TW_U16] = {0, UINT16_MAX},
        [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX},
    };
    if (type == TW_F64)
        return true;
    if (type == TW_F32)
        return !isfinite(value) || isfinite((float)value);
    return value >= range[type].low && value <= range[type].high && value == floor(value);
}

tw_status twi_problem_begin(tw_op op, const tw_image *src, const tw_image *dst, const tw_window *window,
                            const tw_border *border, tw_problem *problem)
{
    bool in_place = false;
    TWI_TRY(twi_images_check(src, dst, &in_place));
    *problem = (tw_problem){
        .op = op,
        .type = src->type,
        .out_type = dst->type,
        .channels = src->channels,
        .width = src->width,
        .height = src->height,
        .window = *window,
        .border = *border,
        .memory = src->memory,
        .in_place = in_place,
        .divisor = 1,
    };
    return TW_OK;
}

static bool is_order(tw_op op)
{
    return op == TW_OP_MIN || op == TW_OP_MAX || op == TW_OP_RANK;
}

static tw_status check_window(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const bool masked = problem->op == TW_OP_CORRELATE || problem->op == TW_OP_SEPCONV;
    const int most = masked ? TW_MAX_MASK : problem->footprint ? TW_MAX_FOOTPRINT : TW_MAX_WINDOW;
    if (window->width < 1 || window->height < 1 || window->width > most || window->height > most)
        return twi_fail(TW_ERROR_ARGUMENT, "%s %dx%d: both sides must be 1 to %d",
                        masked               ? "mask"
                        : problem->footprint ? "footprint"
                                             : "window",
                        (int)window->width, (int)window->height, most);
    if (window->anchor_x < 0 || window->anchor_x >= window->width || window->anchor_y < 0 ||
        window->anchor_y >= window->height)
        return twi_fail(TW_ERROR_ARGUMENT, "anchor %d,%d lies outside the %dx%d window", (int)window->anchor_x,
                        (int)window->anchor_y, (int)window->width, (int)window->height);
    return TW_OK;
}

static tw_status check_border(const tw_problem *problem)
{
    const tw_border *border = &problem->border;
    if ((unsigned)border->mode >= TW_BORDER_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "border mode %d is unknown: use TW_BORDER_ZERO to TW_BORDER_IGNORE",
                        (int)border->mode);
    if (border->mode == TW_BORDER_IGNORE && problem->op != TW_OP_MIN && problem->op != TW_OP_MAX)
        return twi_fail(TW_ERROR_ARGUMENT, "border ignore is for min and max, not for %s", tw_op_name(problem->op));
    if (border->mode == TW_BORDER_CONSTANT && !holds(problem->type, border->value))
        return twi_fail(TW_ERROR_ARGUMENT, "border constant:%.17g: a %s image cannot hold that value", border->value,
                        tw_type_name(problem->type));
    return TW_OK;
}

/* Whole numbers that are exact in f64. */
static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) <= 0x1p53;
}

static tw_status check_mask(const tw_problem *problem)
{
    const bool separable = problem->op == TW_OP_SEPCONV;
    if (!problem->mask.integers == !problem->mask.floats ||
        (separable && !problem->column.integers == !problem->column.floats))
        return twi_fail(TW_ERROR_ARGUMENT, "mask: give integers or floats, one of the two");
    if (separable && !problem->mask.integers != !problem->column.integers)
        return twi_fail(TW_ERROR_ARGUMENT, "row and column must both be integers or both floats");
    if (problem->divisor == 0 || !isfinite(problem->divisor) || !isfinite(problem->offset))
        return twi_fail(TW_ERROR_ARGUMENT, "divisor %g, offset %g: use finite numbers, the divisor not 0",
                        problem->divisor, problem->offset);
    if (problem->mask.integers && (!is_whole(problem->divisor) || !is_whole(problem->offset)))
        return twi_fail(TW_ERROR_ARGUMENT, "divisor %.17g, offset %.17g: an integer mask takes whole numbers",
                        problem->divisor, problem->offset);
    return TW_OK;
}

static tw_status check_order(const tw_problem *problem)
{
    const int64_t count = twi_footprint_count(&problem->window, problem->footprint);
    if (count == 0)
        return twi_fail(TW_ERROR_ARGUMENT, "the footprint is empty: at least one position must take part");
    if (problem->rank < 0 || problem->rank >= count)
        return twi_fail(TW_ERROR_ARGUMENT, "rank %" PRId64 ": use 0 to %" PRId64 " with %" PRId64 " positions",
                        problem->rank, count - 1, count);
    return TW_OK;
}

tw_status twi_problem_check(const tw_problem *problem)
{
    if ((unsigned)problem->op >= TW_OP_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "operation %d is unknown", (int)problem->op);
    if ((unsigned)problem->type >= TW_TYPE_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "type %d is unknown: use TW_U8 to TW_F64", (int)problem->type);
    if ((unsigned)problem->out_type >= TW_TYPE_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "output type %d is unknown: use TW_U8 to TW_F64", (int)problem->out_type);
    if (problem->channels < 1 || problem->channels > 4 || problem->width < 1 || problem->height < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "a problem of %" PRId64 "x%" PRId64 " pixels with %d channels",
                        problem->width, problem->height, (int)problem->channels);
    if ((unsigned)problem->rounding >= TW_ROUNDING_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "rounding %d is unknown: use TW_ROUND_FLOOR or TW_ROUND_NEAREST",
                        (int)problem->rounding);
    if (problem->memory != TW_HOST && problem->memory != TW_DEVICE)
        return twi_fail(TW_ERROR_ARGUMENT, "memory %d is unknown: use TW_HOST or TW_DEVICE", (int)problem->memory);
    TWI_TRY(check_window(problem));
    TWI_TRY(check_border(problem));
    if (problem->op == TW_OP_CORRELATE || problem->op == TW_OP_SEPCONV)
        return check_mask(problem);
    if (problem->out_type != problem->type)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is %s, src %s: %s keeps the type", tw_type_name(problem->out_type),
                        tw_type_name(problem->type), tw_op_name(problem->op));
    return is_order(problem->op) ? check_order(problem) : TW_OK;
}

int64_t twi_footprint_count(const tw_window *window, const uint8_t *footprint)
{
    const int64_t positions = (int64_t)window->width * window->height;
    int64_t count = 0;
    if (!footprint)
        return positions;
    for (int64_t i = 0; i < positions; i++)
        count += footprint[i] != 0;
    return count;
}

/* ---- Arrays: mask, column and footprint ------------------------------------------------------- */

static size_t values_bytes(const tw_values *values, size_t count)
{
    return values->integers ? count * sizeof *values->integers : values->floats ? count * sizeof *values->floats : 0;
}

static const void *values_data(const tw_values *values)
{
    return values->integers ? (const void *)values->integers : values->floats;
}

static size_t mask_count(const tw_problem *problem)
{
    const size_t width = (size_t)problem->window.width;
    return problem->op == TW_OP_SEPCONV ? width : width * (size_t)problem->window.height;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

size_t twi_problem_array_bytes(const tw_problem *problem)
{
    const size_t positions = (size_t)problem->window.width * (size_t)problem->window.height;
    return round_up(values_bytes(&problem->mask, mask_count(problem))) +
           round_up(values_bytes(&problem->column, (size_t)problem->window.height)) +
           (problem->footprint ? positions : 0);
}

static char *copy_values(tw_values *values, size_t count, char *memory)
{
    const size_t bytes = values_bytes(values, count);
    if (bytes == 0)
        return memory;
    memcpy(memory, values_data(values), bytes);
    if (values->integers)
        values->integers = (const int32_t *)(const void *)memory;
    else
        values->floats = (const double *)(const void *)memory;
    return memory + round_up(bytes);
}

void twi_problem_copy(const tw_problem *problem, void *memory, tw_problem *copy)
{
    *copy = *problem;
    char *at = copy_values(&copy->mask, mask_count(problem), memory);
    at = copy_values(&copy->column, (size_t)problem->window.height, at);
    if (problem->footprint) {
        memcpy(at, problem->footprint, (size_t)problem->window.width * (size_t)problem->window.height);
        copy->footprint = (const uint8_t *)at;
    }
}

static bool same_values(const tw_values *a, const tw_values *b, size_t count)
{
    if (!a->integers != !b->integers || !a->floats != !b->floats)
        return false;
    const size_t bytes = values_bytes(a, count);
    return bytes == 0 || memcmp(values_data(a), values_data(b), bytes) == 0;
}

static bool same_footprint(const tw_problem *a, const tw_problem *b)
{
    if (!a->footprint || !b->footprint)
        return !a->footprint && !b->footprint;
    return memcmp(a->footprint, b->footprint, (size_t)a->window.width * (size_t)a->window.height) == 0;
}

static bool same_border(tw_border a, tw_border b)
{
    if (a.mode != b.mode)
        return false;
    /* -0 and 0 are equal but not the same bytes; two NaN are the same border */
    return a.mode != TW_BORDER_CONSTANT ||
           (a.value == b.value ? signbit(a.value) == signbit(b.value) : isnan(a.value) && isnan(b.value));
}

bool twi_problem_equal(const tw_problem *a, const tw_problem *b)
{
    return a->op == b->op && a->type == b->type && a->out_type == b->out_type && a->channels == b->channels &&
           a->width == b->width && a->height == b->height && a->window.width == b->window.width &&
           a->window.height == b->window.height && a->window.anchor_x == b->window.anchor_x &&
           a->window.anchor_y == b->window.anchor_y && same_border(a->border, b->border) &&
           a->rounding == b->rounding && a->memory == b->memory && a->in_place == b->in_place &&
           a->divisor == b->divisor && a->offset == b->offset && a->sigma_x == b->sigma_x && a->sigma_y == b->sigma_y &&
           a->rank == b->rank && same_values(&a->mask, &b->mask, mask_count(a)) &&
           same_values(&a->column, &b->column, (size_t)a->window.height) && same_footprint(a, b);
}

/* ---- Text ---------------------------------------------------------------------------------------- */

uint32_t twi_hash(uint32_t seed, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ byte[i]) * 16777619u;
    return seed;
}

static uint32_t array_hash(const tw_problem *problem)
{
    uint32_t value = TWI_HASH_SEED;
    value = twi_hash(value, values_data(&problem->mask), values_bytes(&problem->mask, mask_count(problem)));
    value =
        twi_hash(value, values_data(&problem->column), values_bytes(&problem->column, (size_t)problem->window.height));
    if (problem->footprint)
        value = twi_hash(value, problem->footprint, (size_t)problem->window.width * (size_t)problem->window.height);
    return value;
}

static bool fits_in_8_bits(const tw_values *values, size_t count)
{
    for (size_t i = 0; values->integers && i < count; i++)
        if (values->integers[i] < INT8_MIN || values->integers[i] > INT8_MAX)
            return false;
    return true;
}

/* A mask by what decides its speed. */
static const char *mask_class(const tw_problem *problem)
{
    if (!problem->mask.integers)
        return "float";
    return fits_in_8_bits(&problem->mask, mask_count(problem)) &&
                   fits_in_8_bits(&problem->column, (size_t)problem->window.height)
               ? "int8"
               : "int32";
}

/* What only this operation has, with a blank before it; numbers that decide no speed only if `exact`. */
static void own_text(const tw_problem *problem, bool exact, char *text, size_t size)
{
    text[0] = '\0';
    switch (problem->op) {
    case TW_OP_CORRELATE:
    case TW_OP_SEPCONV:
        if (exact)
            (void)snprintf(text, size, " %s:%08" PRIx32 " d%.17g o%.17g", problem->mask.integers ? "int" : "float",
                           array_hash(problem), problem->divisor, problem->offset);
        else
            (void)snprintf(text, size, " %s", mask_class(problem));
        break;
    case TW_OP_GAUSSIAN:
        if (exact)
            (void)snprintf(text, size, " sigma%.17g,%.17g", problem->sigma_x, problem->sigma_y);
        else
            (void)snprintf(text, size, " %s", twi_gaussian_is_fixed(problem) ? "fixed" : "float");
        break;
    case TW_OP_RANK:
        (void)snprintf(text, size, " k%" PRId64, problem->rank);
        break;
    default:
        break;
    }
    if (problem->footprint) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, " shape:%08" PRIx32, array_hash(problem));
    }
}

size_t twi_problem_class(const tw_problem *problem, char *text, size_t size)
{
    char out[8] = "";
    char own[96];
    if (problem->out_type != problem->type)
        (void)snprintf(out, sizeof out, ">%s", tw_type_name(problem->out_type));
    own_text(problem, false, own, sizeof own);
    const int length =
        snprintf(text, size, "%s %s%s c%d s%dx%d %s %s%s", tw_op_name(problem->op), tw_type_name(problem->type), out,
                 (int)problem->channels, (int)problem->window.width, (int)problem->window.height,
                 tw_border_name(problem->border.mode), tw_rounding_name(problem->rounding), own);
    return length < 0 ? 0 : (size_t)length;
}

size_t tw_problem_text(const tw_problem *problem, char *text, size_t size)
{
    char border[48];
    char out[8] = "";
    char own[96];
    if (!problem) {
        if (size > 0)
            text[0] = '\0';
        return 0;
    }
    const bool constant = problem->border.mode == TW_BORDER_CONSTANT;
    (void)snprintf(border, sizeof border, constant ? "%s:%.17g" : "%s", tw_border_name(problem->border.mode),
                   problem->border.value);
    if (problem->out_type != problem->type)
        (void)snprintf(out, sizeof out, ">%s", tw_type_name(problem->out_type));
    own_text(problem, true, own, sizeof own);
    const int length =
        snprintf(text, size, "%s %s%s c%d %" PRId64 "x%" PRId64 " s%dx%d a%d,%d %s %s %s%s%s", tw_op_name(problem->op),
                 tw_type_name(problem->type), out, (int)problem->channels, problem->width, problem->height,
                 (int)problem->window.width, (int)problem->window.height, (int)problem->window.anchor_x,
                 (int)problem->window.anchor_y, border, tw_rounding_name(problem->rounding),
                 problem->memory == TW_DEVICE ? "device" : "host", problem->in_place ? " in-place" : "", own);
    return length < 0 ? 0 : (size_t)length;
}

tw_window tw_window_centred(int32_t width, int32_t height)
{
    const tw_window window = {width, height, width / 2, height / 2};
    return window;
}
