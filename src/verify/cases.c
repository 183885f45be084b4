/* Which problems are tried: the classic ones, and random ones that lean toward the edges of the code. */
#include <math.h>
#include <string.h>

#include "verify/verify.h"
#include "core/random.h"

enum { CLASSIC_CASES = 3 };

/* Window positions that the reference may visit in an ordinary case, and in the rare large one. */
static const int64_t ordinary_work = 3000000;
static const int64_t large_work = 60000000;

int64_t twi_classic_cases(tw_op op)
{
    return op == TW_OP_BOX ? CLASSIC_CASES : 0;
}

static void classic_case(int64_t index, twi_case *which)
{
    static const struct {
        int64_t width;
        int64_t height;
        twi_pattern pattern;
    } classic[CLASSIC_CASES] = {
        {5, 5, TWI_PATTERN_IMPULSE},
        {1, 1, TWI_PATTERN_HIGHEST},
        {1003, 769, TWI_PATTERN_RAMP},
    };
    const tw_box_params defaults = tw_box_defaults();
    *which = (twi_case){
        .problem = {.op = TW_OP_BOX,
                    .type = TW_U8,
                    .out_type = TW_U8,
                    .divisor = 1,
                    .channels = 1,
                    .width = classic[index].width,
                    .height = classic[index].height,
                    .window = defaults.window,
                    .border = defaults.border,
                    .rounding = defaults.rounding,
                    .memory = TW_DEVICE},
        .pattern = classic[index].pattern,
        .threads = 2,
    };
}

/* A side of a window: the sizes that have code of their own, then any. */
static int32_t random_side(twi_random *r, int32_t most)
{
    static const int32_t usual[] = {1, 2, 3, 3, 3, 4, 5, 5, 7, 8, 9, 11, 15, 16, 17, 31, 32, 33, 63, 65, 101, 255, 257};
    const int32_t side =
        twi_below(r, 4) > 0 ? usual[twi_below(r, sizeof usual / sizeof usual[0])] : (int32_t)(1 + twi_below(r, 130));
    return side < most ? side : most;
}

static tw_window random_window(twi_random *r, int32_t most)
{
    tw_window window;
    if (twi_below(r, 40) == 0) { /* a huge one: sums beyond 32 bits */
        const uint64_t huge = most < 4200 ? (uint64_t)most : 4200;
        window.width = (int32_t)(1 + twi_below(r, huge));
        window.height = (int32_t)(1 + twi_below(r, huge));
    } else {
        window.width = random_side(r, most);
        window.height = twi_below(r, 3) > 0 ? window.width : random_side(r, most);
    }
    window = tw_window_centred(window.width, window.height);
    if (twi_below(r, 3) == 0) {
        window.anchor_x = (int32_t)twi_below(r, (uint64_t)window.width);
        window.anchor_y = (int32_t)twi_below(r, (uint64_t)window.height);
    }
    return window;
}

/* A side of an image of at most `most` pixels: small, near a power of two (where blocks, strips and
   vectors end), or any. */
static int64_t random_length(twi_random *r, int64_t most)
{
    int64_t length;
    switch (twi_below(r, 4)) {
    case 0:
        length = (int64_t)(1 + twi_below(r, 9));
        break;
    case 1:
        length = ((int64_t)16 << twi_below(r, 8)) + (int64_t)twi_below(r, 5) - 2;
        break;
    case 2:
        length = (int64_t)(1 + twi_below(r, 300));
        break;
    default:
        length = (int64_t)(1 + twi_below(r, (uint64_t)most));
        break;
    }
    return twi_max_i64(1, twi_min_i64(length, most));
}

static double random_border_value(twi_random *r, tw_type type)
{
    static const double floats[] = {0.1, -3.5, 1e30, -0.0, INFINITY, NAN};
    switch (type) {
    case TW_U8:
        return (double)twi_below(r, 256);
    case TW_U16:
        return (double)twi_below(r, 65536);
    case TW_I16:
        return (double)twi_below(r, 65536) - 32768;
    case TW_I32:
        return (double)twi_below(r, 4294967296u) - 2147483648.0;
    default:
        return floats[twi_below(r, sizeof floats / sizeof floats[0])];
    }
}

/* Alignment of rows: tight, padded to vectors, or odd. */
static int64_t random_gap(twi_random *r)
{
    return twi_below(r, 3) == 0 ? 0 : (int64_t)twi_below(r, 40);
}

/* ---- What each operation has beside its window -------------------------------------------------- */

/* The case's mask and column, or its footprint, or its table. */
static _Thread_local union {
    int32_t integers[2][TW_MAX_MASK * TW_MAX_MASK];
    double floats[2][TW_MAX_MASK * TW_MAX_MASK];
    uint8_t footprint[TW_MAX_MASK * TW_MAX_MASK];
    uint64_t table[4 * 65536]; /* for 4 channels of f64 */
} room;

/* Values of one kind: small ones, bytes, any 32 bits, some of 8 to 22 bits (sums of 24 or 32), or all alike. */
static void random_integers(twi_random *r, uint64_t kind, int32_t *values, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        switch (kind) {
        case 0:
            values[i] = (int32_t)twi_below(r, 5) - 2;
            break;
        case 1:
            values[i] = (int32_t)twi_below(r, 256) - 128;
            break;
        case 2:
            values[i] = (int32_t)(uint32_t)twi_next(r);
            break;
        case 3: {
            const int32_t half = (int32_t)1 << (7 + twi_below(r, 15));
            values[i] = (int32_t)twi_below(r, 2 * (uint64_t)half) - half;
            break;
        }
        default:
            values[i] = 1;
            break;
        }
    }
}

/* The outer product of two lines, which separable variants must find. */
static void rank_one(int32_t *values, int32_t width, int32_t height)
{
    int32_t row[TW_MAX_MASK];
    int32_t column[TW_MAX_MASK];
    for (int32_t i = 0; i < width; i++)
        row[i] = values[i] % 16;
    for (int32_t j = 0; j < height; j++)
        column[j] = values[j * width] % 16;
    for (int32_t j = 0; j < height; j++)
        for (int32_t i = 0; i < width; i++)
            values[j * width + i] = row[i] * column[j];
}

static void random_values(twi_random *r, bool floats, uint64_t kind, int which, int32_t count, tw_values *values)
{
    if (!floats) {
        random_integers(r, kind, room.integers[which], count);
        values->integers = room.integers[which];
        return;
    }
    for (int32_t i = 0; i < count; i++)
        room.floats[which][i] = (double)(int64_t)twi_next(r) * 0x1p-63;
    values->floats = room.floats[which];
}

static void random_mask(twi_random *r, bool usual, tw_problem *problem)
{
    static const double divisors[] = {1, 1, 9, 16, 255, -7, 1000003};
    const bool floats = !usual && twi_below(r, 4) == 0;
    const uint64_t kind = usual ? twi_below(r, 2) : twi_below(r, 5);
    const int32_t width = problem->window.width;
    const int32_t height = problem->window.height;
    if (problem->op == TW_OP_SEPCONV) {
        random_values(r, floats, kind, 0, width, &problem->mask);
        random_values(r, floats, kind, 1, height, &problem->column);
    } else {
        random_values(r, floats, kind, 0, width * height, &problem->mask);
        if (!floats && twi_below(r, 4) == 0)
            rank_one(room.integers[0], width, height);
    }
    problem->divisor = divisors[twi_below(r, sizeof divisors / sizeof divisors[0])];
    problem->offset = twi_below(r, 2) == 0 ? 0 : (double)twi_below(r, 300) - 100;
    if (twi_below(r, 2) == 0)
        problem->out_type = (tw_type)twi_below(r, TW_TYPE_COUNT);
}

static void random_footprint(twi_random *r, tw_problem *problem)
{
    const int32_t positions = problem->window.width * problem->window.height;
    const uint64_t kind = twi_below(r, 6);
    if (problem->window.width <= TW_MAX_MASK && problem->window.height <= TW_MAX_MASK && kind < 3) {
        if (kind < 2)
            (void)tw_footprint(kind == 0 ? TW_CROSS : TW_ELLIPSE, problem->window.width, problem->window.height,
                               room.footprint);
        else
            for (int32_t i = 0, dense = twi_below(r, 2) == 0; i < positions; i++)
                room.footprint[i] = (uint8_t)(dense ? twi_below(r, 10) > 0 : twi_below(r, 3) == 0);
        room.footprint[positions / 2] = 1; /* never empty */
        problem->footprint = room.footprint;
    }
    if (problem->op == TW_OP_RANK) {
        const int64_t count = twi_footprint_count(&problem->window, problem->footprint);
        problem->rank = twi_below(r, 2) == 0 ? count / 2 : (int64_t)twi_below(r, (uint64_t)count);
    } else if (twi_below(r, 4) == 0) {
        problem->border.mode = TW_BORDER_IGNORE;
    }
}

static void random_gaussian(twi_random *r, tw_problem *problem)
{
    problem->sigma_x = (double)twi_below(r, 120) / 16;
    problem->sigma_y = twi_below(r, 3) > 0 ? problem->sigma_x : (double)twi_below(r, 120) / 16;
    problem->window = tw_window_centred(problem->window.width | 1, problem->window.height | 1);
}

static void random_table(twi_random *r, tw_problem *problem)
{
    problem->type = twi_below(r, 2) == 0 ? TW_U8 : TW_U16;
    problem->out_type = twi_below(r, 2) == 0 ? problem->type : (tw_type)twi_below(r, TW_TYPE_COUNT);
    problem->table_channels = twi_below(r, 2) == 0 ? 1 : problem->channels;
    const size_t bytes = twi_table_entries(problem) * (size_t)problem->table_channels * tw_type_size(problem->out_type);
    for (size_t i = 0; i < bytes / sizeof room.table[0]; i++)
        room.table[i] = twi_next(r);
    problem->table = room.table;
}

static void random_reduce(twi_random *r, tw_problem *problem)
{
    /* one figure, any set, or all: variants have code of their own for some */
    static const unsigned usual[] = {TW_FIGURE_ALL, TW_FIGURE_SUM,    TW_FIGURE_MEAN, TW_FIGURE_MIN,
                                     TW_FIGURE_MAX, TW_FIGURE_ARGMAX, TW_FIGURE_STD,  TW_FIGURE_COUNT_NONZERO};
    problem->axis = (tw_axis)twi_below(r, TW_AXIS_COUNT);
    problem->figures = twi_below(r, 3) == 0 ? (unsigned)(1 + twi_below(r, TW_FIGURE_ALL))
                                            : usual[twi_below(r, sizeof usual / sizeof usual[0])];
    if (twi_below(r, 5) == 0) {
        problem->figures = (problem->figures & ~(unsigned)(TW_FIGURE_VAR | TW_FIGURE_STD)) | TW_FIGURE_SQUARES;
        for (int channel = 0; channel < 4; channel++)
            problem->about[channel] = (double)(int64_t)twi_next(r) * 0x1p-55;
    }
    problem->out_type = TW_STATS;
}

/* Any type that dst may have. */
static void random_sums(twi_random *r, tw_problem *problem)
{
    const unsigned types = twi_sum_types(problem->op, problem->type);
    problem->axis = problem->op == TW_OP_SCAN ? (tw_axis)twi_below(r, TW_AXIS_COUNT) : TW_AXIS_X;
    problem->exclusive = problem->op == TW_OP_SCAN && twi_below(r, 3) == 0;
    do
        problem->out_type = (tw_type)twi_below(r, TW_STATS);
    while (!(types & TWI_BIT(problem->out_type)));
}

/* The largest side of a window; 0 for operations without one. */
static int32_t largest_side(tw_op op)
{
    switch (op) {
    case TW_OP_TRANSPOSE:
    case TW_OP_LUT:
    case TW_OP_REDUCE:
    case TW_OP_HISTOGRAM:
    case TW_OP_SCAN:
    case TW_OP_INTEGRAL:
        return 0;
    case TW_OP_BOX:
        return TW_MAX_WINDOW;
    case TW_OP_CORRELATE:
    case TW_OP_SEPCONV:
        return TW_MAX_MASK;
    default:
        return 257;
    }
}

/* The operation's own fields. */
static void random_own(twi_random *r, bool usual, tw_problem *problem)
{
    switch (problem->op) {
    case TW_OP_CORRELATE:
    case TW_OP_SEPCONV:
        random_mask(r, usual, problem);
        break;
    case TW_OP_GAUSSIAN:
        random_gaussian(r, problem);
        break;
    case TW_OP_MIN:
    case TW_OP_MAX:
    case TW_OP_RANK:
        random_footprint(r, problem);
        break;
    case TW_OP_TRANSPOSE:
        problem->turn = twi_below(r, 2) == 0 ? TW_TRANSPOSE : (tw_turn)(1 + twi_below(r, TW_TURN_COUNT - 1));
        break;
    case TW_OP_LUT:
        random_table(r, problem);
        break;
    case TW_OP_REDUCE:
        random_reduce(r, problem);
        break;
    case TW_OP_HISTOGRAM:
        problem->type = twi_below(r, 2) == 0 ? TW_U8 : TW_U16;
        problem->out_type = TW_U64;
        break;
    case TW_OP_SCAN:
    case TW_OP_INTEGRAL:
        random_sums(r, problem);
        break;
    default:
        break;
    }
}

static void random_case(tw_op op, twi_random *r, twi_case *which)
{
    tw_problem *problem = &which->problem;
    int64_t out_width = 0;
    int64_t out_height = 0;
    const int64_t work = twi_below(r, 50) == 0 ? large_work : ordinary_work;
    memset(which, 0, sizeof *which);
    problem->op = op;
    problem->type = twi_below(r, 3) == 0 ? TW_U8 : (tw_type)twi_below(r, TW_TYPE_COUNT);
    problem->out_type = problem->type;
    problem->divisor = 1;
    problem->channels = twi_below(r, 2) == 0 ? 1 : (int32_t)(1 + twi_below(r, 4));
    problem->window = tw_window_centred(1, 1);
    /* small masks on bytes, which most variants have code of their own for */
    const bool usual = largest_side(op) > 0 && twi_below(r, 4) == 0;
    if (usual) {
        problem->type = problem->out_type = TW_U8;
        problem->channels = twi_below(r, 4) > 0 ? 1 : problem->channels;
    }
    if (largest_side(op) > 0) {
        const int32_t side = twi_below(r, 3) == 0 ? 3 : 5;
        problem->window = usual ? tw_window_centred(side, side) : random_window(r, largest_side(op));
        problem->border.mode = (tw_border_mode)twi_below(r, TW_BORDER_IGNORE);
        if (problem->border.mode == TW_BORDER_CONSTANT)
            problem->border.value = random_border_value(r, problem->type);
        problem->rounding = (tw_rounding)twi_below(r, TW_ROUNDING_COUNT);
    }
    problem->memory = twi_below(r, 2) == 0 ? TW_HOST : TW_DEVICE;
    random_own(r, usual, problem);

    const int64_t positions =
        twi_max_i64(1, work / ((int64_t)problem->window.width * problem->window.height * problem->channels));
    problem->width = random_length(r, twi_min_i64(3000, positions));
    problem->height = random_length(r, twi_min_i64(2000, twi_max_i64(1, positions / problem->width)));
    if (op == TW_OP_TRANSPOSE && twi_below(r, 4) == 0) /* a square, which can be turned in place */
        problem->width = problem->height;
    if ((op == TW_OP_SCAN || op == TW_OP_INTEGRAL) && !twi_sums_fit(problem))
        problem->out_type = problem->type <= TW_U16 ? TW_U64 : TW_I64;
    twi_out_shape(problem, &out_width, &out_height);
    problem->in_place = problem->out_type == problem->type && problem->width == out_width &&
                        problem->height == out_height && twi_below(r, 8) == 0;

    which->src_gap = random_gap(r);
    which->dst_gap = random_gap(r);
    which->src_offset = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 70);
    which->dst_offset = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 70);
    if (twi_below(r, 3) == 0) { /* everything aligned: the paths of whole vectors */
        which->src_gap = 63 - (problem->width * problem->channels - 1) % 64;
        which->dst_gap = 63 - (out_width * problem->channels - 1) % 64;
        which->src_offset = 0;
        which->dst_offset = 0;
    }
    which->pattern = twi_below(r, 2) == 0 ? TWI_PATTERN_RANDOM : (twi_pattern)twi_below(r, TWI_PATTERN_COUNT);
    which->seed = twi_next(r);
    which->threads = (int)(1 + twi_below(r, 7));
}

void twi_make_case(tw_op op, uint64_t seed, int64_t index, twi_case *which)
{
    if (index < twi_classic_cases(op)) {
        classic_case(index, which);
        return;
    }
    twi_random r = twi_random_of(seed ^ ((uint64_t)index * 0x9e3779b97f4a7c15u) ^ (uint64_t)op);
    random_case(op, &r, which);
}
