/* Correlation, separable convolution and Gaussian on the CPU: what a plan prepares. Compiled for any processor. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cpu/conv.h"

/* What the ring of a strip may take, so that it stays in the L2 cache. */
static const int64_t ring_bytes = 256 << 10;

const twi_conv_layout twi_conv_layouts[TWI_CONV_UNITS] = {
    [TWI_CONV_BYTES] = {4, 4, 4, 4},
    [TWI_CONV_WORDS] = {2, 4, 4, 4},
    [TWI_CONV_PAIRS] = {1, 1, 4, 2},
    [TWI_CONV_FIVE] = {1, 1, 4, 4},
    [TWI_CONV_FOLD] = {1, 1, 2, 4},
    [TWI_CONV_NEAR] = {1, 1, sizeof(twi_conv_near), 4},
    [TWI_CONV_SIDES] = {1, 1, sizeof(twi_conv_sides), 4},
    [TWI_CONV_I32] = {1, 4, 4, 4},
    [TWI_CONV_I64] = {1, 8, 8, 8},
    [TWI_CONV_I128] = {1, 16, 8, 16},
    [TWI_CONV_F32] = {1, 4, 4, 4},
    [TWI_CONV_F64] = {1, 8, 8, 8},
};

/* ---- Taps -------------------------------------------------------------------------------------- */

/* A pass's weights as numbers: exactly one is set. */
typedef struct numbers {
    const int64_t *integers;
    const double *floats;
} numbers;

static int64_t lines_of(twi_conv_unit unit, int32_t height)
{
    const int64_t rows = twi_conv_layouts[unit].rows;
    return (height + TWI_CONV_BAND - 2 + rows) / rows;
}

/* In how many pieces the largest weight must be cut. */
static int64_t pieces_of(twi_conv_unit unit, twi_conv_level level, numbers weights, int64_t count)
{
    const int64_t limit = twi_conv_piece(unit, level);
    int64_t pieces = 1;
    for (int64_t i = 0; weights.integers && i < count; i++) {
        const int64_t value = weights.integers[i];
        pieces = twi_max_i64(pieces, ((value < 0 ? -value : value) - 1) / limit + 1);
    }
    return pieces;
}

/* The piece of `value` that lies `piece` limits away from 0. */
static int64_t cut(int64_t value, int64_t piece, int64_t limit)
{
    if (piece > 0)
        value = value > 0 ? twi_max_i64(0, value - piece * limit) : twi_min_i64(0, value + piece * limit);
    return twi_max_i64(-limit, twi_min_i64(limit, value));
}

/* The weights of one tap for one row of the band, one for each row of the line. */
static void store_integers(const twi_conv_pass *pass, int64_t at, const int64_t *values)
{
    char *to = (char *)pass->weights + at * twi_conv_layouts[pass->unit].weight;
    for (int k = 0; k < twi_conv_layouts[pass->unit].rows; k++) {
        const int8_t byte = (int8_t)values[k];
        const int16_t word = (int16_t)values[k];
        const uint32_t half = (uint32_t)(uint64_t)values[k];
        switch (pass->unit) {
        case TWI_CONV_BYTES:
            memcpy(to + k, &byte, sizeof byte);
            break;
        case TWI_CONV_WORDS:
            memcpy(to + 2 * k, &word, sizeof word);
            break;
        case TWI_CONV_I32:
            memcpy(to, &half, sizeof half);
            break;
        default:
            memcpy(to, values, sizeof *values);
            break;
        }
    }
}

static void store_float(const twi_conv_pass *pass, int64_t at, double value)
{
    if (pass->unit == TWI_CONV_F32)
        ((float *)pass->weights)[at] = (float)value;
    else
        ((double *)pass->weights)[at] = value;
}

/* Fills the next tap with line `line` shifted by i; true if any row of the band has a part in it. */
static bool make_tap(const twi_conv_pass *pass, numbers weights, int64_t line, int32_t i, int64_t piece, int64_t limit,
                     int64_t channels)
{
    const int rows = twi_conv_layouts[pass->unit].rows;
    twi_conv_tap tap = {.line = (int32_t)line, .offset = (int32_t)(i * channels)};
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        int64_t values[4] = {0};
        bool used = false;
        for (int k = 0; k < rows; k++) {
            const int64_t j = line * rows + k - r;
            if (j < 0 || j >= pass->height)
                continue;
            const int64_t at = j * pass->width + i;
            if (weights.floats) {
                store_float(pass, pass->count * TWI_CONV_BAND + r, weights.floats[at]);
                used = true; /* 0 too: 0 * NaN and -0 + 0 count */
            } else {
                values[k] = cut(weights.integers[at], piece, limit);
                used = used || values[k] != 0 || pass->whole;
            }
        }
        if (weights.integers)
            store_integers(pass, pass->count * TWI_CONV_BAND + r, values);
        tap.rows |= (uint32_t)used << r;
    }
    pass->taps[pass->count] = tap;
    return tap.rows != 0;
}

/* Row-major for each row of the band: line by line, from the left. */
static void make_taps(twi_conv_pass *pass, numbers weights, int64_t channels, int64_t pieces, twi_conv_level level)
{
    const int64_t lines = lines_of(pass->unit, pass->height);
    const int64_t limit = twi_conv_piece(pass->unit, level);
    pass->count = 0;
    for (int64_t piece = 0; piece < pieces; piece++)
        for (int64_t line = 0; line < lines; line++)
            for (int32_t i = 0; i < pass->width; i++)
                pass->count += make_tap(pass, weights, line, i, piece, limit, channels);
}

/* Line by line, the columns two at a time; a weight is the two bytes, twice. */
static void make_pairs(twi_conv_pass *pass, numbers weights, const twi_conv_pairs *pairs, int64_t channels)
{
    uint32_t *to = pass->weights;
    pass->count = 0;
    for (int32_t line = 0; line < pass->height + TWI_CONV_BAND - 1; line++) {
        for (int32_t k = 0; k < pairs->count; k += 2) {
            const int32_t a = pairs->columns[k];
            const int32_t b = pairs->columns[k + 1];
            twi_conv_tap tap = {line, (int32_t)(a * channels), (int32_t)(b * channels), 0};
            for (int r = 0; r < TWI_CONV_BAND; r++) {
                const int64_t at = (int64_t)(line - r) * pass->width;
                const bool inside = line >= r && line - r < pass->height;
                const uint8_t first = inside ? (uint8_t)weights.integers[at + a] : 0;
                const uint8_t second = inside && a != b ? (uint8_t)weights.integers[at + b] : 0;
                to[pass->count * TWI_CONV_BAND + r] = (uint32_t)(first | second << 8) * 0x10001u;
                tap.rows |= (uint32_t)(first != 0 || second != 0) << r;
            }
            pass->taps[pass->count] = tap;
            pass->count += tap.rows != 0;
        }
    }
}

/* Columns 0 ... 3 of each row, column 4 of the first four rows, the last: conv_five.tmpl.h */
static void make_five(twi_conv_pass *pass, numbers weights)
{
    int8_t *to = pass->weights;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 4; i++)
            to[4 * j + i] = (int8_t)weights.integers[5 * j + i];
    for (int j = 0; j < 4; j++) {
        to[20 + j] = (int8_t)weights.integers[5 * j + 4];
        to[24 + j] = j < 3 ? 0 : (int8_t)weights.integers[24];
    }
}

/*
 * A symmetric row is folded in the middle: tap t stands for the two elements `offset` to both sides of it, with one
 * weight. The middle itself is counted twice, with half its weight, which is even (twi_gaussian_fixed takes two at a
 * time from it); a weight of 2^15 is cut in two.
 */
static void make_folds(twi_conv_pass *pass, numbers weights, int64_t channels)
{
    const int32_t radius = pass->width / 2;
    int16_t *to = pass->weights;
    pass->count = 0;
    for (int32_t i = 0; i <= radius; i++) {
        int64_t rest = weights.integers[radius + i] / (i == 0 ? 2 : 1);
        for (; rest > 0; rest -= to[pass->count - 1]) {
            pass->taps[pass->count].offset = (int32_t)(i * channels);
            to[pass->count++] = (int16_t)twi_min_i64(rest, INT16_MAX);
        }
    }
}

/* Where the lanes of a block have elements at `distance` to both sides of the middle, in two bytes of each. */
static void order_near(twi_conv_near *step, int which, int64_t radius, int64_t distance)
{
    for (int lane = 0; lane < 4; lane++) {
        step->order[4 * lane + 2 * which] = (uint8_t)(lane + radius - distance);
        step->order[4 * lane + 2 * which + 1] = (uint8_t)(lane + radius + distance);
    }
}

/* Two folded taps a step. Where their number is odd, the middle is alone in the first, as two words with half its
   weight each: bit 7 of a place makes a 0. */
static void make_near(twi_conv_pass *pass, numbers weights, int64_t channels)
{
    const int32_t radius = pass->width / 2;
    const int16_t half = (int16_t)(weights.integers[radius] / 2);
    twi_conv_near *step = pass->weights;
    int32_t i = 0;
    pass->taps->rows = (uint32_t)(radius % 2);
    if (radius % 2 == 0) {
        order_near(step, 0, radius * channels, 0);
        order_near(step, 1, radius * channels, 0);
        for (int byte = 1; byte < 16; byte += 2)
            step->order[byte] = 0x80;
        step->weights[0] = step->weights[1] = half;
        step++;
        i++;
    }
    for (; i <= radius; i += 2, step++) {
        order_near(step, 0, radius * channels, i * channels);
        order_near(step, 1, radius * channels, (i + 1) * channels);
        step->weights[0] = i == 0 ? half : (int16_t)weights.integers[radius + i];
        step->weights[1] = (int16_t)weights.integers[radius + i + 1];
    }
    pass->count = step - (twi_conv_near *)pass->weights;
}

static void make_sides(twi_conv_pass *pass, numbers weights)
{
    const int16_t outer = (int16_t)weights.integers[0];
    const int16_t inner = (int16_t)weights.integers[1];
    const int16_t middle = (int16_t)weights.integers[2];
    *(twi_conv_sides *)pass->weights = (twi_conv_sides){{outer, middle}, {middle, outer}, {inner, inner}};
    pass->count = 1;
}

/* ---- Weights of a problem ------------------------------------------------------------------------ */

/* Fills the pass's weights in host memory as its arithmetic wants them; the divisor's sign goes into `main`. */
static void fill_weights(const tw_problem *problem, const twi_conv_choice *choice, bool main, void *memory)
{
    const tw_window *window = &problem->window;
    const int32_t width = choice->separable && main ? 1 : window->width;
    const int32_t height = choice->separable && !main ? 1 : window->height;
    const int32_t count = width * height;
    const tw_values *values = problem->op == TW_OP_SEPCONV && main ? &problem->column : &problem->mask;
    const int64_t sign = main && problem->divisor < 0 ? -1 : 1;
    int64_t *integers = memory;
    double *floats = memory;
    if (problem->op == TW_OP_GAUSSIAN) {
        const int32_t taps = main ? height : width;
        int32_t *fixed = (int32_t *)(void *)(floats + taps);
        twi_gaussian_weights(main ? problem->sigma_y : problem->sigma_x, taps, floats);
        if (choice->fixed) {
            twi_gaussian_fixed(floats, taps, fixed);
            for (int32_t i = 0; i < taps; i++)
                integers[i] = fixed[i];
        }
    } else if (choice->main >= TWI_CONV_F32) {
        for (int32_t i = 0; i < count; i++)
            floats[i] = values->integers ? (double)values->integers[i] : values->floats[i];
    } else {
        for (int32_t i = 0; i < count; i++)
            integers[i] = sign * (!choice->separable ? values->integers[i]
                                  : main             ? choice->column_values[i]
                                                     : choice->row_values[i]);
    }
}

static tw_status make_pass(tw_plan *plan, const twi_conv_choice *choice, twi_conv_level level, bool main,
                           twi_conv_pass *pass)
{
    const tw_problem *problem = &plan->problem;
    pass->unit = main ? choice->main : choice->row;
    pass->whole = choice->fixed;
    pass->width = choice->separable && main ? 1 : problem->window.width;
    pass->height = choice->separable && !main ? 1 : problem->window.height;
    const int64_t count = (int64_t)pass->width * pass->height;
    const bool floats = pass->unit >= TWI_CONV_F32;
    void *values = NULL;
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(plan->context, (size_t)count * (sizeof(double) + sizeof(int32_t)), &values));
    fill_weights(problem, choice, main, values);
    const numbers weights = {floats ? NULL : values, floats ? values : NULL};
    const int64_t pieces = pieces_of(pass->unit, level, weights, count);
    const int64_t taps = pieces * lines_of(pass->unit, pass->height) * (pass->width + 1);
    const int64_t tap_bytes = (taps * (int64_t)sizeof(twi_conv_tap) + 63) / 64 * 64;
    const tw_status status = twi_host_allocate(
        plan->context, (size_t)(tap_bytes + taps * TWI_CONV_BAND * twi_conv_layouts[pass->unit].weight), &memory);
    if (status == TW_OK) {
        pass->taps = memory;
        pass->weights = (char *)memory + tap_bytes;
        if (pass->unit == TWI_CONV_NEAR)
            make_near(pass, weights, problem->channels);
        else if (pass->unit == TWI_CONV_SIDES)
            make_sides(pass, weights);
        else if (pass->unit == TWI_CONV_FOLD)
            make_folds(pass, weights, problem->channels);
        else if (pass->unit == TWI_CONV_FIVE)
            make_five(pass, weights);
        else if (pass->unit == TWI_CONV_PAIRS)
            make_pairs(pass, weights, &choice->pairs, problem->channels);
        else
            make_taps(pass, weights, problem->channels, pieces, level);
        /* u16 and fixed-point rows are shifted into i16: what that takes away from the sum */
        if (pass->unit == TWI_CONV_WORDS && (choice->fixed || (!choice->separable && problem->type == TW_U16)))
            for (int64_t i = 0; i < count; i++)
                pass->start += 32768 * weights.integers[i];
    }
    twi_host_release(plan->context, values);
    return status;
}

/* Whether a power of two, in the sums' type, has an inverse there. */
static bool inverts(const twi_conv_scale *scale, bool single)
{
    int exponent;
    const double inverse = 1 / scale->float_divisor;
    return fabs(frexp(scale->float_divisor, &exponent)) == 0.5 &&
           (single ? isnormal((float)inverse) : isnormal(inverse));
}

/* What the sums begin with, and what becomes of them. */
static void make_scale(const tw_problem *problem, const twi_conv_choice *choice, twi_conv_setup *setup)
{
    if (setup->fixed) {
        /* rounds the row to 8.8 bits, and adds to it the half that rounds the column: its weights' sum is 1 */
        setup->row.start += (1 << 7) + (1 << 15);
        if (setup->row.unit == TWI_CONV_NEAR || setup->row.unit == TWI_CONV_SIDES)
            setup->row.start -= 1 << 23; /* 8.8 bits less 2^15 */
        return;
    }
    if (problem->op == TW_OP_GAUSSIAN) {
        setup->scale.float_divisor = 1;
        setup->scale.inverts = true;
        setup->scale.float_offset = -0.0; /* which changes no number */
        return;
    }
    if (setup->main.unit >= TWI_CONV_F32) {
        const bool single = setup->main.unit == TWI_CONV_F32;
        setup->scale.float_divisor = single ? (double)(float)problem->divisor : problem->divisor;
        setup->scale.inverts = inverts(&setup->scale, single);
        setup->scale.float_offset = problem->offset;
        return;
    }
    setup->scale.divisor = (int64_t)(problem->divisor < 0 ? -problem->divisor : problem->divisor);
    setup->scale.offset = (int64_t)problem->offset;
    setup->scale.shift = __builtin_ctzll((unsigned long long)setup->scale.divisor);
    setup->scale.division = choice->short_sums                                           ? TWI_CONV_SHORT
                            : setup->scale.divisor == (INT64_C(1) << setup->scale.shift) ? TWI_CONV_SHIFT
                            : choice->small                                              ? TWI_CONV_FLOAT
                                                                                         : TWI_CONV_DOUBLE;
    setup->scale.pairs = choice->pairs;
    if (choice->short_sums)
        setup->main.start = choice->pairs.start;
    else if (problem->rounding == TW_ROUND_NEAREST)
        setup->main.start += setup->scale.divisor / 2;
}

/* ---- Scratch ------------------------------------------------------------------------------------- */

/* The widest strip whose ring stays in the cache. */
static int64_t choose_strip(const twi_conv_setup *setup)
{
    const twi_conv_layout *layout = &twi_conv_layouts[setup->main.unit];
    const int64_t column = setup->quartets * TWI_CONV_BAND / layout->rows * layout->element;
    const int64_t fit = ring_bytes / column / TWI_CONV_CHUNK * TWI_CONV_CHUNK;
    const int64_t whole = twi_round_up(setup->elements, TWI_CONV_TILE);
    return twi_min_i64(whole, twi_max_i64(fit, TWI_CONV_CHUNK));
}

/* Whether the source's rows are lines as they are, and it pays. Pairs of bytes are computed so fast that the copy in
   the ring, whose lines do not fall into one set of the cache, is worth more. */
static bool reads_in_place(const twi_conv_setup *setup)
{
    if (setup->copies_ends)
        return false;
    switch (setup->separable ? setup->row.unit : setup->main.unit) {
    case TWI_CONV_FOLD:
    case TWI_CONV_NEAR:
        return true;
    case TWI_CONV_I32:
        return setup->type == TW_I32;
    case TWI_CONV_F32:
        return setup->type == TW_F32;
    case TWI_CONV_F64:
        return setup->type == TW_F64;
    default:
        return false;
    }
}

/* Whether the kernel takes the lines of a row's ends from elsewhere than those between them. */
static bool copies_ends(const twi_conv_setup *setup, twi_conv_level level)
{
    return setup->row.unit == TWI_CONV_SIDES || setup->main.unit == TWI_CONV_FIVE ||
           (setup->main.unit == TWI_CONV_F32 && !setup->separable && setup->type == TW_F32 &&
            setup->out_type == TW_F32 && level != TWI_CONV_C);
}

/* The columns that need no copy of their lines. They begin where vectors are aligned if the rows are. */
static void find_inner(twi_conv_setup *setup)
{
    const int64_t tile = TWI_CONV_TILE;
    const int64_t last = setup->elements - (setup->beside - setup->before) - 2 * tile; /* which kernels may load */
    setup->inner_first = twi_round_up(setup->before, tile);
    setup->inner_end = last / tile * tile;
    if (!reads_in_place(setup) || setup->inner_end <= setup->inner_first)
        setup->inner_first = setup->inner_end = setup->elements;
}

static bool plan_worker(twi_conv_setup *setup)
{
    const int64_t size = (int64_t)tw_type_size(setup->type);
    const twi_conv_layout *row = &twi_conv_layouts[setup->row.unit];
    const twi_conv_layout *main = &twi_conv_layouts[setup->main.unit];
    const int64_t line = twi_conv_pitch(setup->strip + setup->beside);
    int64_t *total = &setup->worker_bytes;
    return twi_add_area(total, TWI_CONV_BAND * setup->beside, size, &setup->edge_at) &&
           twi_add_area(total, setup->separable ? TWI_CONV_BAND * line : 0, row->element, &setup->wide_at) &&
           twi_add_area(total, setup->quartets, twi_conv_quartet_bytes(setup), &setup->ring_at) &&
           twi_add_area(total, TWI_CONV_BAND * TWI_CONV_CHUNK, twi_max_i64(row->sum, main->sum), &setup->sums_at) &&
           twi_add_area(total, TWI_CONV_CHUNK, (int64_t)sizeof(double), &setup->stage_at) &&
           twi_add_area(total, 2 * setup->quartets * TWI_CONV_BAND, (int64_t)sizeof(void *), &setup->lines_at);
}

static tw_status prepare_setup(tw_plan *plan, twi_conv_level level, twi_conv_setup *setup)
{
    const tw_problem *problem = &plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    const int64_t channels = problem->channels;
    int64_t total = 0;
    int64_t halo_at = 0;
    int64_t outside_at = 0;
    int64_t workers_at = 0;
    twi_conv_choice choice;
    twi_conv_choose(problem, level, &choice);
    *setup = (twi_conv_setup){
        .separable = choice.separable,
        .fixed = choice.fixed,
        .type = problem->type,
        .out_type = problem->out_type,
        .before = problem->window.anchor_x * channels,
        .beside = (problem->window.width - 1) * channels,
        .channels = channels,
        .anchor_y = problem->window.anchor_y,
        .border = (int)problem->border.mode,
    };
    TWI_TRY(make_pass(plan, &choice, level, true, &setup->main));
    if (setup->separable)
        TWI_TRY(make_pass(plan, &choice, level, false, &setup->row));
    make_scale(problem, &choice, setup);
    setup->quartets = (problem->window.height + 2) / TWI_CONV_BAND + 1;
    if (!twi_mul_i64(problem->width, channels, &setup->elements))
        return twi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " pixels cannot be counted", problem->width);
    setup->stream = twi_output_streams(problem, setup->elements);
    setup->strip = choose_strip(setup);
    setup->copies_ends = copies_ends(setup, level);
    find_inner(setup);
    if (!plan_worker(setup) || !twi_add_area(&total, setup->beside, (int64_t)sizeof *setup->halo, &halo_at) ||
        !twi_add_area(&total, setup->strip + setup->beside, size, &outside_at) ||
        !twi_add_area(&total, plan->context->threads, setup->worker_bytes, &workers_at))
        return twi_fail(TW_ERROR_LIMIT, "a %dx%d window needs more scratch than can be counted",
                        (int)problem->window.width, (int)problem->window.height);
    TWI_TRY(twi_plan_scratch(plan, (size_t)total));
    char *scratch = plan->scratch;
    int64_t *halo = (int64_t *)(void *)(scratch + halo_at);
    twi_fill_halo(problem, setup->before, setup->beside - setup->before, halo);
    twi_fill_outside(problem, setup->strip + setup->beside, scratch + outside_at);
    setup->halo = halo;
    setup->outside = scratch + outside_at;
    setup->workers = scratch + workers_at;
    /* kernels read the slack of lines, whatever it holds: it must hold something */
    memset(setup->workers, 0, (size_t)setup->worker_bytes * (size_t)plan->context->threads);
    return TW_OK;
}

tw_status twi_conv_prepare(tw_plan *plan, twi_conv_level level)
{
    TWI_TRY(twi_host_allocate(plan->context, sizeof(twi_conv_setup), &plan->state));
    memset(plan->state, 0, sizeof(twi_conv_setup));
    return prepare_setup(plan, level, plan->state);
}

void twi_conv_release(tw_plan *plan)
{
    twi_conv_setup *setup = plan->state;
    if (!setup)
        return;
    twi_host_release(plan->context, setup->row.taps);
    twi_host_release(plan->context, setup->main.taps);
    twi_host_release(plan->context, setup);
}
