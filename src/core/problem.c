/* Problems: checked as a whole, compared, printed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/plan.h"

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

tw_status twi_problem_check(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    if ((unsigned)problem->op >= TW_OP_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "operation %d is unknown", (int)problem->op);
    if ((unsigned)problem->type >= TW_TYPE_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "type %d is unknown: use TW_U8 to TW_F64", (int)problem->type);
    if (problem->channels < 1 || problem->channels > 4 || problem->width < 1 || problem->height < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "a problem of %" PRId64 "x%" PRId64 " pixels with %d channels",
                        problem->width, problem->height, (int)problem->channels);
    if (window->width < 1 || window->height < 1 || window->width > TW_MAX_WINDOW || window->height > TW_MAX_WINDOW)
        return twi_fail(TW_ERROR_ARGUMENT, "window %dx%d: both sides must be 1 to %d", (int)window->width,
                        (int)window->height, TW_MAX_WINDOW);
    if (window->anchor_x < 0 || window->anchor_x >= window->width || window->anchor_y < 0 ||
        window->anchor_y >= window->height)
        return twi_fail(TW_ERROR_ARGUMENT, "anchor %d,%d lies outside the %dx%d window", (int)window->anchor_x,
                        (int)window->anchor_y, (int)window->width, (int)window->height);
    if ((unsigned)problem->border.mode >= TW_BORDER_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "border mode %d is unknown: use TW_BORDER_ZERO to TW_BORDER_WRAP",
                        (int)problem->border.mode);
    if (problem->border.mode == TW_BORDER_CONSTANT && !holds(problem->type, problem->border.value))
        return twi_fail(TW_ERROR_ARGUMENT, "border constant:%.17g: a %s image cannot hold that value",
                        problem->border.value, tw_type_name(problem->type));
    if ((unsigned)problem->rounding >= TW_ROUNDING_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "rounding %d is unknown: use TW_ROUND_FLOOR or TW_ROUND_NEAREST",
                        (int)problem->rounding);
    if (problem->memory != TW_HOST && problem->memory != TW_DEVICE)
        return twi_fail(TW_ERROR_ARGUMENT, "memory %d is unknown: use TW_HOST or TW_DEVICE", (int)problem->memory);
    return TW_OK;
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
    return a->op == b->op && a->type == b->type && a->channels == b->channels && a->width == b->width &&
           a->height == b->height && a->window.width == b->window.width && a->window.height == b->window.height &&
           a->window.anchor_x == b->window.anchor_x && a->window.anchor_y == b->window.anchor_y &&
           same_border(a->border, b->border) && a->rounding == b->rounding && a->memory == b->memory &&
           a->in_place == b->in_place;
}

size_t tw_problem_text(const tw_problem *problem, char *text, size_t size)
{
    char border[48];
    if (!problem) {
        if (size > 0)
            text[0] = '\0';
        return 0;
    }
    const bool constant = problem->border.mode == TW_BORDER_CONSTANT;
    (void)snprintf(border, sizeof border, constant ? "%s:%.17g" : "%s", tw_border_name(problem->border.mode),
                   problem->border.value);
    const int length =
        snprintf(text, size, "%s %s c%d %" PRId64 "x%" PRId64 " s%dx%d a%d,%d %s %s %s%s", tw_op_name(problem->op),
                 tw_type_name(problem->type), (int)problem->channels, problem->width, problem->height,
                 (int)problem->window.width, (int)problem->window.height, (int)problem->window.anchor_x,
                 (int)problem->window.anchor_y, border, tw_rounding_name(problem->rounding),
                 problem->memory == TW_DEVICE ? "device" : "host", problem->in_place ? " in-place" : "");
    return length < 0 ? 0 : (size_t)length;
}

tw_window tw_window_centred(int32_t width, int32_t height)
{
    const tw_window window = {width, height, width / 2, height / 2};
    return window;
}
