/* Problems: checked as a whole, compared, printed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plan.h"
#include "core/element.h"
#include "core/wisdom.h"

/* Whether the element type holds the border's value: integers exactly, floats within their range. */
static bool holds(tw_type type, double value)
{
    if (type == TW_F64)
        return true;
    if (type == TW_F32)
        return !isfinite(value) || isfinite((float)value);
    const twi_range range = twi_range_of(type);
    return value >= (double)range.low && value <= (double)range.high && value == floor(value);
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

/* Whole numbers that are exact in f64. 2^53 itself is not among them: it may be another one, rounded. */
static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) < 0x1p53;
}

/* The divisor in the type of the sums. */
static double divisor_of_sums(const tw_problem *problem)
{
    const bool narrow = problem->type == TW_F32 || (problem->mask.floats && problem->type != TW_F64);
    return narrow ? (double)(float)problem->divisor : problem->divisor;
}

static tw_status check_mask(const tw_problem *problem)
{
    const bool separable = problem->op == TW_OP_SEPCONV;
    if (!problem->mask.integers == !problem->mask.floats ||
        (separable && !problem->column.integers == !problem->column.floats))
        return twi_fail(TW_ERROR_ARGUMENT, "mask: give integers or floats, one of the two");
    if (separable && !problem->mask.integers != !problem->column.integers)
        return twi_fail(TW_ERROR_ARGUMENT, "row and column must both be integers or both floats");
    const double divisor = divisor_of_sums(problem);
    if (problem->divisor == 0 || !isfinite(problem->divisor) || !isfinite(problem->offset))
        return twi_fail(TW_ERROR_ARGUMENT, "divisor %g, offset %g: use finite numbers, the divisor not 0",
                        problem->divisor, problem->offset);
    if (divisor == 0 || !isfinite(divisor))
        return twi_fail(TW_ERROR_ARGUMENT, "divisor %g: it is %g in f32, the type of the sums", problem->divisor,
                        divisor);
    if (problem->mask.integers && (!is_whole(problem->divisor) || !is_whole(problem->offset)))
        return twi_fail(TW_ERROR_ARGUMENT,
                        "divisor %.17g, offset %.17g: an integer mask takes whole numbers between -2^53 and 2^53",
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

static tw_status check_turn(const tw_problem *problem)
{
    if ((unsigned)problem->turn < 1 || (unsigned)problem->turn >= TW_TURN_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "turn %d is unknown: use TW_TRANSPOSE to TW_TRANSVERSE", (int)problem->turn);
    return TW_OK;
}

static tw_status check_table(const tw_problem *problem)
{
    if (!problem->table)
        return twi_fail(TW_ERROR_ARGUMENT, "table is NULL");
    if (problem->table_channels != 1 && problem->table_channels != problem->channels)
        return twi_fail(TW_ERROR_ARGUMENT, "a table of %d channels for an image of %d: use 1, or as many",
                        (int)problem->table_channels, (int)problem->channels);
    return TW_OK;
}

static tw_status check_axis(const tw_problem *problem)
{
    if ((unsigned)problem->axis >= TW_AXIS_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "axis %d is unknown: use TW_AXIS_X, TW_AXIS_Y or TW_AXIS_ALL",
                        (int)problem->axis);
    return TW_OK;
}

static tw_status check_reduce(const tw_problem *problem)
{
    TWI_TRY(check_axis(problem));
    if (problem->figures < 1 || problem->figures > (TW_FIGURE_ALL | TW_FIGURE_SQUARES))
        return twi_fail(TW_ERROR_ARGUMENT, "figures 0x%x: use a set of TW_FIGURE_SUM to TW_FIGURE_SQUARES",
                        problem->figures);
    if (problem->figures & TW_FIGURE_SQUARES && problem->figures & (TW_FIGURE_VAR | TW_FIGURE_STD))
        return twi_fail(TW_ERROR_ARGUMENT, "figures 0x%x: TW_FIGURE_SQUARES takes the place of TW_FIGURE_VAR and _STD",
                        problem->figures);
    return TW_OK;
}

/* "u8, u16 or f32", the types of a set. */
static const char *list_types(unsigned set, char *text, size_t size)
{
    text[0] = '\0';
    for (tw_type type = TW_U8; type < TW_ELEMENT_COUNT; type++) {
        const size_t used = strlen(text);
        if (set & TWI_BIT(type))
            (void)snprintf(text + used, size - used, "%s%s",
                           used == 0                           ? ""
                           : set < TWI_BIT((unsigned)type + 1) ? " or "
                                                               : ", ",
                           tw_type_name(type));
    }
    return text;
}

/* ---- Running sums ---------------------------------------------------------------------------------- */

unsigned twi_sum_types(tw_op op, tw_type type)
{
    static const unsigned sets[TW_TYPE_COUNT] = {
        [TW_U8] = TWI_BIT(TW_U32) | TWI_BIT(TW_U64) | TWI_BIT(TW_F64),
        [TW_U16] = TWI_BIT(TW_U32) | TWI_BIT(TW_U64) | TWI_BIT(TW_F64),
        [TW_I16] = TWI_BIT(TW_I32) | TWI_BIT(TW_I64) | TWI_BIT(TW_F64),
        [TW_I32] = TWI_BIT(TW_I64) | TWI_BIT(TW_F64),
        [TW_F32] = TWI_BIT(TW_F32) | TWI_BIT(TW_F64),
        [TW_F64] = TWI_BIT(TW_F64),
    };
    return op == TW_OP_INTEGRAL ? sets[type] & ~TWI_BIT(TW_F32) : sets[type];
}

/* How many values the largest sum has. */
static twi_i128 summed(const tw_problem *problem)
{
    const bool along = problem->op == TW_OP_INTEGRAL || problem->axis != TW_AXIS_Y;
    const bool down = problem->op == TW_OP_INTEGRAL || problem->axis != TW_AXIS_X;
    return (twi_i128)(along ? problem->width : 1) * (down ? problem->height : 1);
}

bool twi_sums_fit(const tw_problem *problem)
{
    /* integers of f64 are exact up to 2^53; in 64 bits the lowest value is kept free, as a mark for kernels */
    static const twi_range ranges[TW_ELEMENT_COUNT] = {
        [TW_I32] = {INT32_MIN, INT32_MAX},
        [TW_U32] = {0, UINT32_MAX},
        [TW_I64] = {-INT64_MAX, INT64_MAX},
        [TW_U64] = {0, INT64_MAX},
        [TW_F64] = {-(INT64_C(1) << 53), INT64_C(1) << 53},
    };
    const twi_range out = ranges[problem->out_type];
    if (TWI_BIT(problem->type) & TWI_FLOATS)
        return true;
    const twi_range in = twi_range_of(problem->type);
    /* by division: the product of a problem's sides may be as long as 126 bits */
    return summed(problem) <= out.high / in.high && (in.low == 0 || summed(problem) <= out.low / in.low);
}

static tw_status check_sums(const tw_problem *problem)
{
    const unsigned types = twi_sum_types(problem->op, problem->type);
    char known[80];
    TWI_TRY(check_axis(problem));
    if (!(types & TWI_BIT(problem->out_type)))
        return twi_fail(TW_ERROR_ARGUMENT, "%s makes no %s of %s: use %s", tw_op_name(problem->op),
                        tw_type_name(problem->out_type), tw_type_name(problem->type),
                        list_types(types, known, sizeof known));
    if (!twi_sums_fit(problem))
        return twi_fail(TW_ERROR_LIMIT,
                        "%s of %" PRId64 "x%" PRId64 " pixels: a sum of %.0f values of %s may exceed %s%s",
                        tw_op_name(problem->op), problem->width, problem->height, (double)summed(problem),
                        tw_type_name(problem->type), tw_type_name(problem->out_type),
                        tw_type_size(problem->out_type) < 8 ? ": use a wider type"
                        : problem->out_type == TW_F64       ? ", exact up to 2^53: use 64-bit integers"
                                                            : "");
    return TW_OK;
}

/* ---- What each operation asks of a problem -------------------------------------------------------- */

#define SUM_TYPES (TWI_BIT(TW_I32) | TWI_BIT(TW_U32) | TWI_BIT(TW_I64) | TWI_BIT(TW_U64) | TWI_FLOATS)

static const struct {
    bool window;                                   /* it has a window and a border */
    unsigned types;                                /* of src */
    unsigned out_types;                            /* of dst; 0: the type of src */
    tw_status (*check)(const tw_problem *problem); /* of what it alone has */
} rules[TW_OP_COUNT] = {
    [TW_OP_BOX] = {true, TWI_ALL_TYPES, 0, NULL},
    [TW_OP_CORRELATE] = {true, TWI_ALL_TYPES, TWI_ALL_TYPES, check_mask},
    [TW_OP_SEPCONV] = {true, TWI_ALL_TYPES, TWI_ALL_TYPES, check_mask},
    [TW_OP_GAUSSIAN] = {true, TWI_ALL_TYPES, 0, NULL},
    [TW_OP_MIN] = {true, TWI_ALL_TYPES, 0, check_order},
    [TW_OP_MAX] = {true, TWI_ALL_TYPES, 0, check_order},
    [TW_OP_RANK] = {true, TWI_ALL_TYPES, 0, check_order},
    [TW_OP_TRANSPOSE] = {false, TWI_ALL_TYPES, 0, check_turn},
    [TW_OP_LUT] = {false, TWI_BIT(TW_U8) | TWI_BIT(TW_U16), TWI_ALL_TYPES, check_table},
    [TW_OP_REDUCE] = {false, TWI_ALL_TYPES, TWI_BIT(TW_STATS), check_reduce},
    [TW_OP_HISTOGRAM] = {false, TWI_BIT(TW_U8) | TWI_BIT(TW_U16), TWI_BIT(TW_U64), NULL},
    [TW_OP_SCAN] = {false, TWI_ALL_TYPES, SUM_TYPES, check_sums},
    [TW_OP_INTEGRAL] = {false, TWI_ALL_TYPES, SUM_TYPES & ~TWI_BIT(TW_F32), check_sums},
};

void twi_out_shape(const tw_problem *problem, int64_t *width, int64_t *height)
{
    const bool exchange = problem->op == TW_OP_TRANSPOSE && ((unsigned)problem->turn & TWI_TURN_EXCHANGE);
    *width = exchange ? problem->height : problem->width;
    *height = exchange ? problem->width : problem->height;
    if (problem->op == TW_OP_HISTOGRAM)
        *width = (int64_t)twi_table_entries(problem);
    if (problem->op == TW_OP_REDUCE && problem->axis != TW_AXIS_Y)
        *width = 1;
    if (problem->op == TW_OP_HISTOGRAM || (problem->op == TW_OP_REDUCE && problem->axis != TW_AXIS_X))
        *height = 1;
    if (problem->op == TW_OP_INTEGRAL) { /* of the longest sides no image can be made */
        *width += *width < INT64_MAX;
        *height += *height < INT64_MAX;
    }
}

static tw_status check_types(const tw_problem *problem)
{
    const unsigned types = rules[problem->op].types;
    const unsigned out_types = rules[problem->op].out_types;
    char known[80];
    if ((unsigned)problem->type >= TW_ELEMENT_COUNT || !(types & TWI_BIT(problem->type)))
        return twi_fail(TW_ERROR_ARGUMENT, "%s does not take elements of type %s (%d): use %s", tw_op_name(problem->op),
                        tw_type_name(problem->type), (int)problem->type, list_types(types, known, sizeof known));
    if (out_types == 0 && problem->out_type != problem->type)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is %s, src %s: %s keeps the type", tw_type_name(problem->out_type),
                        tw_type_name(problem->type), tw_op_name(problem->op));
    if (out_types != 0 &&
        ((unsigned)problem->out_type >= TW_ELEMENT_COUNT || !(out_types & TWI_BIT(problem->out_type))))
        return twi_fail(TW_ERROR_ARGUMENT, "%s does not make elements of type %s (%d): use %s", tw_op_name(problem->op),
                        tw_type_name(problem->out_type), (int)problem->out_type,
                        list_types(out_types, known, sizeof known));
    return TW_OK;
}

tw_status twi_problem_check(const tw_problem *problem)
{
    if ((unsigned)problem->op >= TW_OP_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "operation %d is unknown", (int)problem->op);
    if (problem->channels < 1 || problem->channels > 4 || problem->width < 1 || problem->height < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "a problem of %" PRId64 "x%" PRId64 " pixels with %d channels",
                        problem->width, problem->height, (int)problem->channels);
    if ((unsigned)problem->rounding >= TW_ROUNDING_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "rounding %d is unknown: use TW_ROUND_FLOOR or TW_ROUND_NEAREST",
                        (int)problem->rounding);
    if (problem->memory != TW_HOST && problem->memory != TW_DEVICE)
        return twi_fail(TW_ERROR_ARGUMENT, "memory %d is unknown: use TW_HOST or TW_DEVICE", (int)problem->memory);
    TWI_TRY(check_types(problem));
    TWI_TRY(check_window(problem));
    TWI_TRY(check_border(problem));
    return rules[problem->op].check ? rules[problem->op].check(problem) : TW_OK;
}

tw_status tw_problem_size(const tw_problem *problem, int64_t *width, int64_t *height)
{
    if (!problem || !width || !height)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !problem ? "problem" : !width ? "width" : "height");
    TWI_TRY(twi_problem_check(problem));
    twi_out_shape(problem, width, height);
    return TW_OK;
}

tw_status twi_problem_complete(const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(tw_image_check(src));
    TWI_TRY(tw_image_check(dst));
    problem->type = src->type;
    problem->out_type = dst->type;
    problem->channels = src->channels;
    problem->width = src->width;
    problem->height = src->height;
    problem->memory = src->memory;
    if (!rules[problem->op].window)
        problem->window = (tw_window){1, 1, 0, 0};
    TWI_TRY(twi_problem_check(problem));
    twi_out_shape(problem, &width, &height);
    return twi_images_check(src, dst, width, height, &problem->in_place);
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

/* ---- Arrays: mask, column, footprint and table ------------------------------------------------------- */

enum { MASK, COLUMN, FOOTPRINT, TABLE, ARRAYS };

typedef struct array {
    const void *data; /* NULL: the problem has none */
    size_t bytes;
} array;

static array array_of_values(const tw_values *values, size_t count)
{
    if (values->integers)
        return (array){values->integers, count * sizeof *values->integers};
    return (array){values->floats, values->floats ? count * sizeof *values->floats : 0};
}

static array array_of(const tw_problem *problem, int which)
{
    const size_t width = (size_t)problem->window.width;
    const size_t height = (size_t)problem->window.height;
    switch (which) {
    case MASK:
        return array_of_values(&problem->mask, problem->op == TW_OP_SEPCONV ? width : width * height);
    case COLUMN:
        return array_of_values(&problem->column, height);
    case FOOTPRINT:
        return (array){problem->footprint, problem->footprint ? width * height : 0};
    default:
        return (array){problem->table, problem->table ? twi_table_entries(problem) * (size_t)problem->table_channels *
                                                            tw_type_size(problem->out_type)
                                                      : 0};
    }
}

static void set_values(tw_values *values, const void *data)
{
    if (values->integers)
        values->integers = data;
    else
        values->floats = data;
}

static void set_array(tw_problem *problem, int which, const void *data)
{
    switch (which) {
    case MASK:
        set_values(&problem->mask, data);
        break;
    case COLUMN:
        set_values(&problem->column, data);
        break;
    case FOOTPRINT:
        problem->footprint = data;
        break;
    default:
        problem->table = data;
        break;
    }
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

size_t twi_problem_array_bytes(const tw_problem *problem)
{
    size_t bytes = 0;
    for (int i = 0; i < ARRAYS; i++)
        bytes += round_up(array_of(problem, i).bytes);
    return bytes;
}

void twi_problem_copy(const tw_problem *problem, void *memory, tw_problem *copy)
{
    char *at = memory;
    *copy = *problem;
    for (int i = 0; i < ARRAYS; i++) {
        const array from = array_of(problem, i);
        if (!from.data)
            continue;
        memcpy(at, from.data, from.bytes);
        set_array(copy, i, at);
        at += round_up(from.bytes);
    }
}

/* Of problems with the same operation, window and types, so that the sizes tell integers from floats. */
static bool same_arrays(const tw_problem *a, const tw_problem *b)
{
    for (int i = 0; i < ARRAYS; i++) {
        const array left = array_of(a, i);
        const array right = array_of(b, i);
        if (left.bytes != right.bytes || (left.bytes > 0 && memcmp(left.data, right.data, left.bytes) != 0))
            return false;
    }
    return true;
}

static bool same_border(tw_border a, tw_border b)
{
    if (a.mode != b.mode)
        return false;
    /* -0 and 0 are equal but not the same bytes; two NaN are the same border */
    return a.mode != TW_BORDER_CONSTANT ||
           (a.value == b.value ? signbit(a.value) == signbit(b.value) : isnan(a.value) && isnan(b.value));
}

/* By bits, so that NaN is NaN; numbers that nobody reads are compared as well. */
static bool same_about(const tw_problem *a, const tw_problem *b)
{
    uint64_t left[4];
    uint64_t right[4];
    memcpy(left, a->about, sizeof left);
    memcpy(right, b->about, sizeof right);
    return memcmp(left, right, sizeof left) == 0;
}

bool twi_problem_equal(const tw_problem *a, const tw_problem *b)
{
    return a->op == b->op && a->type == b->type && a->out_type == b->out_type && a->channels == b->channels &&
           a->width == b->width && a->height == b->height && a->window.width == b->window.width &&
           a->window.height == b->window.height && a->window.anchor_x == b->window.anchor_x &&
           a->window.anchor_y == b->window.anchor_y && same_border(a->border, b->border) &&
           a->rounding == b->rounding && a->memory == b->memory && a->in_place == b->in_place &&
           a->divisor == b->divisor && a->offset == b->offset && a->sigma_x == b->sigma_x && a->sigma_y == b->sigma_y &&
           a->rank == b->rank && a->turn == b->turn && a->axis == b->axis && a->exclusive == b->exclusive &&
           a->figures == b->figures && same_about(a, b) && a->table_channels == b->table_channels && same_arrays(a, b);
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
    for (int i = 0; i < ARRAYS; i++)
        value = twi_hash(value, array_of(problem, i).data, array_of(problem, i).bytes);
    return value;
}

/* Of an array of int32, or none. */
static bool fits_in_8_bits(array integers)
{
    const int32_t *value = integers.data;
    for (size_t i = 0; i < integers.bytes / sizeof *value; i++)
        if (value[i] < INT8_MIN || value[i] > INT8_MAX)
            return false;
    return true;
}

/* A mask by what decides its speed. */
static const char *mask_class(const tw_problem *problem)
{
    if (!problem->mask.integers)
        return "float";
    return fits_in_8_bits(array_of(problem, MASK)) && fits_in_8_bits(array_of(problem, COLUMN)) ? "int8" : "int32";
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
    case TW_OP_TRANSPOSE:
        (void)snprintf(text, size, " %s", tw_turn_name(problem->turn));
        break;
    case TW_OP_REDUCE:
        (void)snprintf(text, size, " %s figures%x", tw_axis_name(problem->axis), problem->figures);
        if (exact && problem->figures & TW_FIGURE_SQUARES) {
            const size_t used = strlen(text);
            (void)snprintf(text + used, size - used, " about:%08" PRIx32,
                           twi_hash(TWI_HASH_SEED, problem->about, sizeof problem->about));
        }
        break;
    case TW_OP_SCAN:
        (void)snprintf(text, size, " %s %s", tw_axis_name(problem->axis),
                       problem->exclusive ? "exclusive" : "inclusive");
        break;
    case TW_OP_LUT:
        if (exact)
            (void)snprintf(text, size, " table%d:%08" PRIx32, (int)problem->table_channels, array_hash(problem));
        else
            (void)snprintf(text, size, " table%d", (int)problem->table_channels);
        break;
    default:
        break;
    }
    if (problem->footprint) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, " shape:%08" PRIx32, array_hash(problem));
    }
}

/* The window and how it is read, with a blank before them; likewise. */
static void window_text(const tw_problem *problem, bool exact, char *text, size_t size)
{
    const tw_window *window = &problem->window;
    char anchor[32] = "";
    char value[32] = "";
    text[0] = '\0';
    if ((unsigned)problem->op < TW_OP_COUNT && !rules[problem->op].window)
        return;
    if (exact)
        (void)snprintf(anchor, sizeof anchor, " a%d,%d", (int)window->anchor_x, (int)window->anchor_y);
    if (exact && problem->border.mode == TW_BORDER_CONSTANT)
        (void)snprintf(value, sizeof value, ":%.17g", problem->border.value);
    (void)snprintf(text, size, " s%dx%d%s %s%s %s", (int)window->width, (int)window->height, anchor,
                   tw_border_name(problem->border.mode), value, tw_rounding_name(problem->rounding));
}

static size_t problem_text(const tw_problem *problem, bool exact, char *text, size_t size)
{
    char extent[48] = "";
    char place[20] = "";
    char window[128];
    char own[96];
    const bool keeps_type = problem->out_type == problem->type;
    if (exact) {
        (void)snprintf(extent, sizeof extent, " %" PRId64 "x%" PRId64, problem->width, problem->height);
        (void)snprintf(place, sizeof place, " %s%s", problem->memory == TW_DEVICE ? "device" : "host",
                       problem->in_place ? " in-place" : "");
    }
    window_text(problem, exact, window, sizeof window);
    own_text(problem, exact, own, sizeof own);
    const int length =
        snprintf(text, size, "%s %s%s%s c%d%s%s%s%s", tw_op_name(problem->op), tw_type_name(problem->type),
                 keeps_type ? "" : ">", keeps_type ? "" : tw_type_name(problem->out_type), (int)problem->channels,
                 extent, window, place, own);
    return length < 0 ? 0 : (size_t)length;
}

size_t twi_problem_class(const tw_problem *problem, char *text, size_t size)
{
    return problem_text(problem, false, text, size);
}

size_t tw_problem_text(const tw_problem *problem, char *text, size_t size)
{
    if (problem)
        return problem_text(problem, true, text, size);
    if (size > 0)
        text[0] = '\0';
    return 0;
}

tw_window tw_window_centred(int32_t width, int32_t height)
{
    const tw_window window = {width, height, width / 2, height / 2};
    return window;
}
