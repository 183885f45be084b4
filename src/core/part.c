/* Parts: which of the source's pixels some rows of a result depend on, as a problem of their own. */
#include <inttypes.h>

#include "core/plan.h"

/* Source rows top ... bottom-1 and, for a window that reads around the image, the rest from row 0 on. */
static void read_rows(const tw_problem *whole, int64_t top, int64_t bottom, int64_t rest, tw_part *part)
{
    part->reads[0] = (tw_region){0, top, whole->width, bottom - top};
    part->reads[1] = (tw_region){0, 0, whole->width, rest};
    part->count = rest > 0 ? 2 : 1;
    part->problem.height = bottom - top + rest;
}

/* Rows that lie outside of a source are read from it as from the whole image, since what its border shows of either
   end lies in the source, or is no pixel. */
static void read_window(const tw_problem *whole, int64_t first, int64_t last, tw_part *part)
{
    const int64_t height = whole->height;
    const int64_t above = first - whole->window.anchor_y; /* rows above ... below-1 of the endless image are read */
    const int64_t below = last - whole->window.anchor_y + whole->window.height - 1;
    int64_t top = twi_max_i64(0, above);
    int64_t bottom = twi_min_i64(height, below);
    if (whole->border.mode == TW_BORDER_WRAP) {
        if (below - above >= height)
            read_rows(whole, 0, height, 0, part);
        else if (above < 0)
            read_rows(whole, height + above, height, below, part);
        else
            read_rows(whole, above, bottom, below - bottom, part);
        part->first = below - above >= height ? first : first - above;
        return;
    }
    if (whole->border.mode == TW_BORDER_REFLECT || whole->border.mode == TW_BORDER_MIRROR) {
        if (above < 0)
            bottom = twi_max_i64(bottom, twi_min_i64(height, 1 - above));
        if (below > height)
            top = twi_min_i64(top, twi_max_i64(0, 2 * height - 1 - below));
    }
    read_rows(whole, top, bottom, 0, part);
    part->first = first - top;
}

/* Rows that turn into other rows, or columns that turn into rows. */
static void read_turned(const tw_problem *whole, int64_t first, int64_t last, tw_part *part)
{
    const unsigned turn = (unsigned)whole->turn;
    const bool exchange = turn & TWI_TURN_EXCHANGE;
    const int64_t length = exchange ? whole->width : whole->height;
    const int64_t from = turn & TWI_TURN_TOP_BOTTOM ? length - last : first;
    if (exchange) {
        part->reads[0] = (tw_region){from, 0, last - first, whole->height};
        part->problem.width = last - first;
    } else {
        part->reads[0] = (tw_region){0, from, whole->width, last - first};
        part->problem.height = last - first;
    }
    part->count = 1;
}

/* Whether a row of the result depends on the window's rows of the source alone. */
static bool goes_by_rows(const tw_problem *problem)
{
    switch (problem->op) {
    case TW_OP_SCAN:
        return problem->axis == TW_AXIS_X;
    case TW_OP_REDUCE: /* its records name rows of the whole image */
    case TW_OP_HISTOGRAM:
    case TW_OP_INTEGRAL:
        return false;
    default:
        return true;
    }
}

void twi_cut_lines(const tw_problem *whole, bool columns, int64_t first, int64_t last, tw_part *part)
{
    const int64_t count = last - first;
    *part = (tw_part){.problem = *whole, .count = 1};
    if (columns) {
        part->problem.width = count;
        part->reads[0] = (tw_region){first, 0, count, whole->height};
    } else {
        part->problem.height = count;
        part->reads[0] = (tw_region){0, first, whole->width, count};
    }
}

tw_status tw_problem_part(const tw_problem *whole, int64_t first, int64_t last, tw_part *part)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!whole || !part)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", whole ? "part" : "problem");
    TWI_TRY(twi_problem_check(whole));
    twi_out_shape(whole, &width, &height);
    if (first < 0 || first >= last || last > height)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "rows %" PRId64 " to %" PRId64 " of %" PRId64 ": a part has at least one, the last excluded",
                        first, last, height);
    *part = (tw_part){.problem = *whole};
    part->problem.in_place = false;
    if (first == 0 && last == height)
        read_rows(whole, 0, whole->height, 0, part);
    else if (whole->op == TW_OP_TRANSPOSE)
        read_turned(whole, first, last, part);
    else if (goes_by_rows(whole))
        read_window(whole, first, last, part);
    else
        return twi_fail(TW_ERROR_UNSUPPORTED,
                        "%s has no parts: rows of its result depend on more than some rows of the source",
                        tw_op_name(whole->op));
    return TW_OK;
}
