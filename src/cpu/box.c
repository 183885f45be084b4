/*
 * The mean on the CPU: the method for a problem, its scratch, its estimate. Compiled for any processor; only the
 * levels' files use more.
 */
#include <inttypes.h>
#include <string.h>

#include "cpu/box.h"
#include "cpu/divide.h"

/* What a strip of the tree's sums may take, so that it stays in the L2 cache. */
static const int64_t strip_bytes = 384 << 10;

/* The largest magnitude of an element, once i16 has been made positive. */
static int64_t largest(tw_type type)
{
    return type == TW_U8 ? UINT8_MAX : UINT16_MAX;
}

static twi_box_method choose_method(const tw_problem *problem, bool vector)
{
    const tw_window *window = &problem->window;
    const int64_t count = (int64_t)window->width * window->height;
    const bool square = window->width == window->height;
    if (square && (window->width == TWI_BOX_SMALLEST || window->width == TWI_BOX_LARGEST))
        return TWI_BOX_SMALL;
    if (TWI_BIT(problem->type) & TWI_FLOATS)
        return TWI_BOX_TREE;
    /* column sums differ by less than 2^15; the float division is exact up to there (box_slide16_vector.tmpl.h) */
    if (vector && problem->type == TW_U8 && window->height <= 128 && count < 16384)
        return TWI_BOX_SLIDE16;
    if (problem->type != TW_I32 && count * largest(problem->type) + count / 2 <= INT32_MAX)
        return TWI_BOX_SLIDE32;
    return TWI_BOX_SLIDE64;
}

/* For sums below 2^31: e < count <= 2^k and shift = 31 + k suffice (divide.h), and magic fits 32 bits. */
static void make_magic(twi_box_divider *divider)
{
    int k = 0;
    while ((INT64_C(1) << k) < divider->count)
        k++;
    if (k > 31)
        return; /* such windows are summed in 64 bits */
    divider->shift = 31 + k;
    divider->magic = (uint32_t)twi_magic(divider->count, divider->shift);
}

/* For the small method on u8: sums of up to 25 bytes. */
static void make_magic16(twi_box_divider *divider)
{
    int64_t magic = 0;
    int shift = 0;
    if (divider->count > TWI_BOX_LARGEST * TWI_BOX_LARGEST ||
        !twi_find_magic16(divider->count, divider->count * UINT8_MAX + divider->half, &magic, &shift))
        return;
    divider->magic16 = (uint32_t)magic;
    divider->shift16 = shift - 16;
}

static twi_box_divider make_divider(const tw_problem *problem)
{
    const int64_t count = (int64_t)problem->window.width * problem->window.height;
    twi_box_divider divider = {.count = count, .inverse = 1.0 / (double)count};
    divider.half = problem->rounding == TW_ROUND_NEAREST ? count / 2 : 0;
    divider.start = (uint32_t)(divider.half + (problem->type == TW_I16 ? 32768 * count : 0));
    make_magic(&divider);
    make_magic16(&divider);
    return divider;
}

/* Elements of the line that a worker of the method keeps: the row, its halo, and what kernels read beside. */
static bool worker_bytes(const tw_problem *problem, twi_box_setup *setup)
{
    const int64_t size = (int64_t)tw_type_size(problem->type);
    int64_t offset = 0;
    int64_t line = 0;
    int64_t *total = &setup->worker_bytes;
    if (setup->method == TWI_BOX_SMALL) {
        const int64_t rows = TWI_BOX_BAND + TWI_BOX_LARGEST - 1;
        return twi_add_area(total, rows, TWI_BOX_TILE, &offset) &&
               twi_add_area(total, TWI_BOX_BAND, TWI_BOX_STAGE, &offset);
    }
    const int64_t halo = setup->before + setup->after;
    if (setup->method == TWI_BOX_TREE) {
        const int64_t pair = problem->type == TW_F64 ? 16 : 8;
        int64_t lines = 1; /* 2^k - 1 lines of blocks below the largest, the window's lines of sums that wait, 3 more */
        while (lines * 2 <= setup->window.height)
            lines *= 2;
        setup->lines = lines - 1 + setup->window.height + 3;
        const int64_t fit = strip_bytes / (pair * setup->lines) / TWI_LINE * TWI_LINE;
        setup->strip = twi_min_i64(twi_max_i64(fit, TWI_LINE), 1024);
        return twi_add_area(total, setup->strip + halo + TWI_SLACK, pair, &offset) &&
               twi_add_area(total, setup->strip * setup->lines, pair, &offset) &&
               twi_add_area(total, setup->strip, size, &offset);
    }
    const int64_t sum = setup->method == TWI_BOX_SLIDE64 ? 8 : 4;
    return twi_add_i64(setup->row, halo + TWI_SLACK, &line) && twi_add_area(total, line, sum, &offset) &&
           twi_add_area(total, TWI_BOX_CHUNK + TWI_LINE, sum, &offset) &&
           twi_add_area(total, TWI_BOX_CHUNK + TWI_LINE, size, &offset);
}

static tw_status prepare(tw_plan *plan, bool vector)
{
    const tw_problem *problem = &plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    const bool has_value = problem->border.mode <= TW_BORDER_CONSTANT;
    int64_t total = 0;
    int64_t setup_at = 0;
    int64_t halo_at = 0;
    int64_t outside_at = 0;
    int64_t workers_at = 0;
    twi_box_setup setup = {
        .method = choose_method(problem, vector),
        .channels = problem->channels,
        .window = problem->window,
        .border = (int)problem->border.mode,
        .before = (int64_t)problem->window.anchor_x * problem->channels,
        .after = (int64_t)(problem->window.width - 1 - problem->window.anchor_x) * problem->channels,
        .divider = make_divider(problem),
    };
    if (!twi_mul_i64(problem->width, problem->channels, &setup.row) || !worker_bytes(problem, &setup) ||
        !twi_add_area(&total, 1, (int64_t)sizeof setup, &setup_at) ||
        !twi_add_area(&total, setup.before + setup.after, (int64_t)sizeof *setup.halo, &halo_at) ||
        !twi_add_area(&total, has_value ? setup.row : 0, size, &outside_at) ||
        !twi_add_area(&total, plan->context->threads, setup.worker_bytes, &workers_at))
        return twi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " pixels need more scratch than can be counted",
                        problem->width);
    setup.stream = twi_output_streams(problem, setup.row);
    TWI_TRY(twi_plan_scratch(plan, (size_t)total));
    char *scratch = plan->scratch;
    int64_t *halo = (int64_t *)(void *)(scratch + halo_at);
    twi_fill_halo(problem, setup.before, setup.after, halo);
    if (has_value)
        twi_fill_outside(problem, setup.row, scratch + outside_at);
    setup.halo = halo;
    setup.outside = scratch + outside_at;
    setup.workers = scratch + workers_at;
    memcpy(scratch + setup_at, &setup, sizeof setup);
    return TW_OK;
}

tw_status twi_box_prepare(tw_plan *plan)
{
    return prepare(plan, false);
}

tw_status twi_box_prepare_vector(tw_plan *plan)
{
    return prepare(plan, true);
}

/* Nanoseconds for an element by one thread, from memory; a share of them for each of several threads. */
typedef struct rates {
    double small_byte; /* the small method, for each byte of an element */
    double slide;
    double tree_step; /* for each doubling of a float window */
} rates;

static double estimate(const tw_context *context, const tw_problem *problem, bool vector, const rates *rate)
{
    const tw_window *window = &problem->window;
    const double elements = (double)problem->width * (double)problem->height * problem->channels;
    const double size = (double)tw_type_size(problem->type);
    const int threads = context ? context->threads : 1;
    double element = rate->slide * size;
    switch (choose_method(problem, vector)) {
    case TWI_BOX_SMALL:
        element = rate->small_byte * size * window->width / TWI_BOX_SMALLEST;
        break;
    case TWI_BOX_TREE:
        for (int32_t side = 1; side < window->width || side < window->height; side *= 2)
            element += rate->tree_step * size;
        break;
    default:
        break;
    }
    return elements * element / threads;
}

double twi_box_cost_c(const tw_context *context, const tw_problem *problem)
{
    const rates rate = {0.4, 0.9, 0.3};
    return estimate(context, problem, false, &rate);
}

double twi_box_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    const rates rate = {0.1, 0.3, 0.15};
    return estimate(context, problem, true, &rate);
}

double twi_box_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    const rates rate = {0.08, 0.25, 0.12};
    return estimate(context, problem, true, &rate);
}
