/*
 * min, max and rank on the CPU: the method for a problem, its scratch, its estimate. Compiled for any processor; only
 * the levels' files use more.
 */
#include <inttypes.h>
#include <string.h>

#include "cpu/order.h"

/* What the rows kept for a window may take, so that they stay in the L2 cache. */
static const int64_t kept_bytes = 384 << 10;

static int64_t window_count(const tw_problem *problem)
{
    return twi_footprint_count(&problem->window, problem->footprint);
}

static bool is_full(const tw_problem *problem)
{
    return !problem->footprint || window_count(problem) == (int64_t)problem->window.width * problem->window.height;
}

/* The runs of the footprint, or of the whole window, in `runs` if it is not NULL. */
static int64_t find_runs(const tw_problem *problem, twi_order_run *runs)
{
    const tw_window *window = &problem->window;
    int64_t count = 0;
    for (int32_t j = 0; j < window->height; j++) {
        const uint8_t *row = problem->footprint ? problem->footprint + (int64_t)j * window->width : NULL;
        for (int32_t first = 0, last = 0; first < window->width; first = last + 1) {
            for (last = first; last < window->width && (!row || row[last]); last++) {
            }
            if (last == first)
                continue;
            if (runs) {
                twi_order_run run = {.row = j};
                run.first = (int64_t)first * problem->channels;
                run.last = (int64_t)last * problem->channels;
                while (2 << run.level <= last - first)
                    run.level++;
                runs[count] = run;
            }
            count++;
        }
    }
    return count;
}

/* Selecting takes a time for each position and bit, sliding one for each run, which for a histogram of 16 bits is twice
   as long. */
static bool suits_sliding(const tw_problem *problem)
{
    return window_count(problem) > 19 * find_runs(problem, NULL);
}

/* Windows, in positions, for which a network is the fastest: below, selecting is, for 16 bits; above, thresholds for
   bytes, whose time does not grow, but depends on the image. The last column is where the rows are long enough to slide
   along them. */
static bool suits_network(const tw_problem *problem)
{
    static const int64_t ends[TW_TYPE_COUNT][3] = {
        [TW_U8] = {1, 121, 121},
        [TW_U16] = {25, TWI_NETWORK_POSITIONS, TWI_NETWORK_POSITIONS},
        [TW_I16] = {25, TWI_NETWORK_POSITIONS, TWI_NETWORK_POSITIONS},
        [TW_I32] = {1, TWI_NETWORK_POSITIONS, 484},
        [TW_F32] = {1, TWI_NETWORK_POSITIONS, 484},
        [TW_F64] = {1, TWI_NETWORK_POSITIONS, 400},
    };
    const int64_t count = window_count(problem);
    const int64_t *end = ends[problem->type];
    return count >= end[0] && count <= end[suits_sliding(problem) ? 2 : 1];
}

static twi_order_method choose_method(const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    const bool ranks = problem->op == TW_OP_RANK;
    const bool full = is_full(problem);
    const int32_t side = window->width == window->height ? window->width : 0;
    if (full && (side == TWI_ORDER_SMALLEST || side == TWI_ORDER_LARGEST) &&
        (!ranks || problem->rank == side * side / 2))
        return TWI_ORDER_BANDS;
    if (!ranks)
        return full ? TWI_ORDER_SLIDE : TWI_ORDER_FOOTPRINT;
    if (full && suits_network(problem))
        return TWI_ORDER_NETWORK;
    if (full && problem->type == TW_U8 && window->width <= UINT8_MAX && window->height <= UINT8_MAX)
        return TWI_ORDER_THRESHOLDS;
    if (suits_sliding(problem))
        return tw_type_size(problem->type) <= 2 ? TWI_ORDER_HISTOGRAM : TWI_ORDER_PLACES;
    return TWI_ORDER_SELECT;
}

/* ---- The key that positions outside have -------------------------------------------------------- */

static int64_t key_of(tw_type type, double value)
{
    if (type == TW_F32) {
        const float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return twi_key_f32(bits);
    }
    if (type == TW_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return twi_key_f64(bits);
    }
    return (int64_t)value;
}

/* A key that loses against every element. Where it wins, all lie outside, and the result is the neutral element: for
   floats the infinity, which for min is another key, as NaN loses against it (order_keys.h). */
static int64_t ignored_key(tw_type type, bool highest)
{
    static const int64_t ends[TW_TYPE_COUNT][2] = {
        [TW_U8] = {0, UINT8_MAX},
        [TW_U16] = {0, UINT16_MAX},
        [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX},
        [TW_F32] = {-0x7f800001, INT32_MAX},
        [TW_F64] = {-0x7ff0000000000001, INT64_MAX},
    };
    return ends[type][!highest];
}

static int64_t outside_key(const tw_problem *problem)
{
    switch (problem->border.mode) {
    case TW_BORDER_IGNORE:
        return ignored_key(problem->type, problem->op == TW_OP_MAX);
    case TW_BORDER_CONSTANT:
        return key_of(problem->type, problem->border.value);
    default:
        return 0;
    }
}

/* ---- Scratch ------------------------------------------------------------------------------------ */

/* Bytes from a kept row of so many elements to the next: whole lines, and no power of two, since rows that lie 4096
   bytes apart would share one set of the cache. */
static int64_t row_pitch(int64_t elements, int64_t size)
{
    return (elements * size / TWI_LINE + 3) / 2 * 2 * TWI_LINE + TWI_LINE;
}

static int64_t key_size(const twi_order_setup *setup)
{
    const int64_t size = (int64_t)tw_type_size(setup->type);
    if (setup->method != TWI_ORDER_SELECT || size > 2)
        return size;
    return setup->wide ? 4 : 2;
}

/* Elements of a strip of which `lines` rows are kept. */
static int64_t strip_of(const twi_order_setup *setup, int64_t lines, int64_t size)
{
    const int64_t line = TWI_LINE;
    const int64_t fit = kept_bytes / (lines * size) - setup->before - setup->after;
    return twi_min_i64(twi_max_i64(fit, 4 * line), TWI_ORDER_CHUNK) / line * line;
}

/* Strips that share a row among them, and a tile's rows: so long that what windows read beyond them costs little, and
   so few that a tile stays in the cache. */
static void set_strips(twi_order_setup *setup)
{
    const int64_t lanes = TWI_ORDER_VECTOR / key_size(setup);
    const int64_t longest = 128;
    const int64_t tiles = (setup->row + lanes * longest - 1) / (lanes * longest);
    setup->strip = (setup->row + lanes * tiles - 1) / (lanes * tiles);
    setup->strip_pitch = setup->strip;
    setup->tile_rows = twi_min_i64(twi_max_i64(32, setup->height), 128);
    if (setup->method == TWI_ORDER_NETWORK) {
        const int64_t whole = setup->network.tile_width * setup->channels;
        setup->strip_pitch = twi_round_up(setup->strip, whole);
        setup->tile_rows = 32;
    }
}

/* A tile is so wide that a window, which is entered anew in each row, costs little beside the steps along it, and so
   high that few positions are sorted for an output. */
static bool places_bytes(twi_order_setup *setup, int64_t size)
{
    const int64_t least = 512;
    int64_t *total = &setup->worker_bytes;
    int64_t offset = 0;
    setup->strip = twi_min_i64(setup->row, setup->channels * twi_max_i64(least, setup->width));
    setup->tile_rows = 128;
    setup->pitch = setup->tile_rows + setup->height - 1;
    const int64_t positions = twi_order_tile_positions(setup);
    return twi_add_area(total, setup->strip + setup->before + setup->after, size, &offset) &&
           twi_add_area(total, setup->tile_rows * setup->strip, size, &offset) &&
           twi_add_area(total, positions, 2 * size, &offset) && twi_add_area(total, positions, 2 * size, &offset) &&
           twi_add_area(total, positions, (int64_t)sizeof(uint32_t), &offset) &&
           twi_add_area(total, twi_order_words(positions), (int64_t)sizeof(uint64_t), &offset);
}

/* What a worker of the method keeps. Every window passes 2^31 elements of halo at most: nothing here overflows before
   twi_add_area looks. */
static bool worker_bytes(twi_order_setup *setup)
{
    const int64_t halo = setup->before + setup->after;
    const int64_t size = key_size(setup);
    int64_t *total = &setup->worker_bytes;
    int64_t offset = 0;
    int64_t lines = setup->height;
    switch (setup->method) {
    case TWI_ORDER_BANDS:
        lines = TWI_ORDER_BAND + TWI_ORDER_BAND_ROWS;
        return twi_add_area(total, lines, TWI_ORDER_CHUNK + TWI_SLACK, &offset) &&
               twi_add_area(total, TWI_ORDER_ROOM, TWI_ORDER_PIECE + TWI_SLACK, &offset);
    case TWI_ORDER_SLIDE:
    case TWI_ORDER_GROUPS:
        setup->pitch = row_pitch(setup->row + halo, size);
        setup->strip = twi_max_i64(TWI_ORDER_CHUNK / size, halo);
        if (setup->method == TWI_ORDER_SLIDE)
            return twi_add_area(total, lines + 1, setup->pitch, &offset) &&
                   twi_add_area(total, 1, setup->pitch, &offset) &&
                   twi_add_area(total, 2 * setup->strip + halo, size, &offset);
        return twi_add_area(total, lines + TWI_ORDER_BAND - 1, setup->pitch, &offset) &&
               twi_add_area(total, lines / TWI_ORDER_BAND, setup->pitch, &offset) &&
               twi_add_area(total, TWI_ORDER_BAND, setup->pitch, &offset) &&
               twi_add_area(total, 2 * setup->strip + halo, size, &offset);
    case TWI_ORDER_FOOTPRINT:
        lines *= setup->levels;
        break;
    case TWI_ORDER_THRESHOLDS:
    case TWI_ORDER_NETWORK:
        set_strips(setup);
        return twi_add_area(total, (TWI_ORDER_VECTOR / size + 1) * setup->strip_pitch + halo, size, &offset) &&
               twi_add_area(total, (setup->tile_rows + setup->height) * (setup->strip_pitch + halo), TWI_ORDER_VECTOR,
                            &offset) &&
               twi_add_area(total, setup->tile_rows * setup->strip_pitch, TWI_ORDER_VECTOR, &offset) &&
               twi_add_area(total,
                            setup->method == TWI_ORDER_NETWORK ? setup->network.slots : 4 * (setup->strip + halo),
                            TWI_ORDER_VECTOR, &offset);
    case TWI_ORDER_PLACES:
        return places_bytes(setup, size);
    case TWI_ORDER_HISTOGRAM:
        setup->strip = TWI_ORDER_CHUNK;
        setup->pitch = row_pitch(setup->strip + halo, size);
        return twi_add_area(total, lines, setup->pitch, &offset) && twi_add_area(total, setup->strip, size, &offset) &&
               twi_add_area(total, lines, (int64_t)sizeof(void *), &offset) &&
               twi_add_area(total, 3, (int64_t)sizeof(uint32_t) << (8 * size), &offset);
    default:
        break;
    }
    setup->strip = strip_of(setup, lines, size);
    setup->pitch = row_pitch(setup->strip + halo, size);
    return twi_add_area(total, lines, setup->pitch, &offset) && twi_add_area(total, setup->strip, size, &offset) &&
           twi_add_area(total, setup->height, (int64_t)sizeof(void *), &offset);
}

static int64_t find_levels(const tw_problem *problem)
{
    int64_t longest = 1;
    for (int32_t j = 0; j < problem->window.height; j++) {
        int64_t length = 0;
        for (int32_t i = 0; i < problem->window.width; i++) {
            length = problem->footprint[(int64_t)j * problem->window.width + i] ? length + 1 : 0;
            longest = twi_max_i64(longest, length);
        }
    }
    int64_t levels = 1;
    while (INT64_C(1) << levels <= longest)
        levels++;
    return levels;
}

/* The window. Rows and columns farther from the image than twice its size repeat what nearer ones hold, which cannot
   change a minimum or maximum: there, windows are cut to that, and how many rows are left decides the method. */
static void set_window(const tw_problem *problem, twi_order_setup *setup)
{
    const tw_window *window = &problem->window;
    int64_t left = window->anchor_x;
    int64_t right = window->width - 1 - left;
    int64_t up = window->anchor_y;
    int64_t down = window->height - 1 - up;
    if (setup->method == TWI_ORDER_SLIDE) {
        left = twi_min_i64(left, 2 * problem->width);
        right = twi_min_i64(right, 2 * problem->width);
        up = twi_min_i64(up, 2 * problem->height);
        down = twi_min_i64(down, 2 * problem->height);
    }
    setup->width = left + 1 + right;
    setup->height = up + 1 + down;
    if (setup->method == TWI_ORDER_SLIDE && setup->height >= TWI_ORDER_GROUPS_LEAST &&
        setup->height <= TWI_ORDER_GROUPS_MOST)
        setup->method = TWI_ORDER_GROUPS;
    setup->anchor_y = up;
    setup->before = left * problem->channels;
    setup->after = right * problem->channels;
}

/* A tile's side for a window's: longer ones share more, but what they keep leaves the cache. */
static int32_t tile_side(int32_t window)
{
    int32_t side = 1;
    while (side < 8 && 2 * side <= window * 4 / 5)
        side *= 2;
    return side;
}

static tw_status make_network(tw_plan *plan, twi_order_network *network)
{
    TWI_TRY(twi_host_allocate(plan->context, sizeof *network, &plan->state));
    memset(plan->state, 0, sizeof *network);
    const tw_window *window = &plan->problem.window;
    TWI_TRY(twi_order_network_make(plan->context, &plan->problem, tile_side(window->width), tile_side(window->height),
                                   plan->state));
    memcpy(network, plan->state, sizeof *network);
    return TW_OK;
}

void twi_order_release(tw_plan *plan)
{
    if (plan->state)
        twi_order_network_free(plan->context, plan->state);
    twi_host_release(plan->context, plan->state);
}

tw_status twi_order_prepare(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    int64_t total = 0;
    int64_t setup_at = 0;
    int64_t halo_at = 0;
    int64_t runs_at = 0;
    int64_t workers_at = 0;
    twi_order_setup setup = {
        .method = choose_method(problem),
        .type = problem->type,
        .highest = problem->op == TW_OP_MAX,
        .wide = window_count(problem) > INT16_MAX,
        .border = (int)problem->border.mode,
        .channels = problem->channels,
        .rank = problem->rank,
        .outside = outside_key(problem),
    };
    set_window(problem, &setup);
    if (setup.method == TWI_ORDER_NETWORK)
        TWI_TRY(make_network(plan, &setup.network));
    if (setup.method == TWI_ORDER_FOOTPRINT)
        setup.levels = find_levels(problem);
    if (setup.method == TWI_ORDER_FOOTPRINT || setup.method == TWI_ORDER_HISTOGRAM ||
        setup.method == TWI_ORDER_PLACES || setup.method == TWI_ORDER_SELECT)
        setup.run_count = find_runs(problem, NULL);
    if (!twi_mul_i64(problem->width, problem->channels, &setup.row) || !worker_bytes(&setup) ||
        !twi_add_area(&total, 1, (int64_t)sizeof setup, &setup_at) ||
        !twi_add_area(&total, setup.before + setup.after, (int64_t)sizeof *setup.halo, &halo_at) ||
        !twi_add_area(&total, setup.run_count, (int64_t)sizeof *setup.runs, &runs_at) ||
        !twi_add_area(&total, plan->context->threads, setup.worker_bytes, &workers_at))
        return twi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " pixels need more scratch than can be counted",
                        problem->width);
    setup.stream = twi_output_streams(problem, setup.row);
    TWI_TRY(twi_plan_scratch(plan, (size_t)total));
    char *scratch = plan->scratch;
    int64_t *halo = (int64_t *)(void *)(scratch + halo_at);
    twi_order_run *runs = (twi_order_run *)(void *)(scratch + runs_at);
    twi_fill_halo(problem, setup.before, setup.after, halo);
    if (setup.run_count)
        (void)find_runs(problem, runs);
    for (int64_t i = 0; i < setup.run_count && setup.method == TWI_ORDER_PLACES; i++) {
        runs[i].first = runs[i].first / setup.channels * setup.pitch + runs[i].row;
        runs[i].last = runs[i].last / setup.channels * setup.pitch + runs[i].row;
    }
    setup.halo = halo;
    setup.runs = runs;
    setup.workers = scratch + workers_at;
    memcpy(scratch + setup_at, &setup, sizeof setup);
    return TW_OK;
}

/* ---- Estimates ---------------------------------------------------------------------------------- */

/* Nanoseconds for a byte of an element by one thread. `speed`: how much slower than AVX-512 a level is. */
static double estimate(const tw_context *context, const tw_problem *problem, double speed)
{
    const tw_window *window = &problem->window;
    const double count = (double)window_count(problem);
    const double size = (double)tw_type_size(problem->type);
    const double bytes = (double)problem->width * (double)problem->height * problem->channels * size;
    const int threads = context ? context->threads : 1;
    double byte = 0.1;
    switch (choose_method(problem)) {
    case TWI_ORDER_BANDS:
        byte = problem->op != TW_OP_RANK ? 0.04 : window->width == TWI_ORDER_SMALLEST ? 0.06 : 0.25;
        break;
    case TWI_ORDER_SLIDE:
        byte = 0.12;
        break;
    case TWI_ORDER_FOOTPRINT:
        byte = 0.1 + 0.03 * (double)window->height;
        break;
    case TWI_ORDER_NETWORK:
        byte = 1 + 0.03 * count;
        break;
    case TWI_ORDER_THRESHOLDS:
        byte = 3;
        break;
    case TWI_ORDER_HISTOGRAM:
        byte = 3 * (double)find_runs(problem, NULL);
        break;
    case TWI_ORDER_PLACES:
        byte = (30 + 2.2 * (double)find_runs(problem, NULL) + count / 400) / size;
        break;
    default:
        byte = 0.1 * count * (size < 2 ? 2 : size);
        break;
    }
    return bytes * byte * speed / threads;
}

double twi_order_cost_c(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 4);
}

double twi_order_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 1.5);
}

double twi_order_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 1);
}
