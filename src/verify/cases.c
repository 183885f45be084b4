/* Which problems are tried: the classic ones, and random ones that lean toward the edges of the code. */
#include <math.h>
#include <string.h>

#include "verify/verify.h"
#include "verify/random.h"

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
    static const int32_t usual[] = {1, 2, 3, 3, 3, 3, 4, 5, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 101, 255, 257};
    const int32_t side =
        twi_below(r, 4) > 0 ? usual[twi_below(r, sizeof usual / sizeof usual[0])] : (int32_t)(1 + twi_below(r, 130));
    return side < most ? side : most;
}

static tw_window random_window(twi_random *r)
{
    tw_window window;
    if (twi_below(r, 40) == 0) { /* a huge one: sums beyond 32 bits */
        window.width = (int32_t)(1 + twi_below(r, 4200));
        window.height = (int32_t)(1 + twi_below(r, 4200));
    } else {
        window.width = random_side(r, TW_MAX_WINDOW);
        window.height = twi_below(r, 3) > 0 ? window.width : random_side(r, TW_MAX_WINDOW);
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

static void random_case(tw_op op, twi_random *r, twi_case *which)
{
    tw_problem *problem = &which->problem;
    const int64_t work = twi_below(r, 50) == 0 ? large_work : ordinary_work;
    memset(which, 0, sizeof *which);
    problem->op = op;
    problem->type = twi_below(r, 3) == 0 ? TW_U8 : (tw_type)twi_below(r, TW_TYPE_COUNT);
    problem->channels = twi_below(r, 2) == 0 ? 1 : (int32_t)(1 + twi_below(r, 4));
    problem->window = random_window(r);
    problem->border.mode = (tw_border_mode)twi_below(r, TW_BORDER_COUNT);
    if (problem->border.mode == TW_BORDER_CONSTANT)
        problem->border.value = random_border_value(r, problem->type);
    problem->rounding = (tw_rounding)twi_below(r, TW_ROUNDING_COUNT);
    problem->memory = twi_below(r, 2) == 0 ? TW_HOST : TW_DEVICE;
    problem->in_place = twi_below(r, 8) == 0;

    const int64_t positions =
        twi_max_i64(1, work / ((int64_t)problem->window.width * problem->window.height * problem->channels));
    problem->width = random_length(r, twi_min_i64(3000, positions));
    problem->height = random_length(r, twi_min_i64(2000, twi_max_i64(1, positions / problem->width)));

    which->src_gap = random_gap(r);
    which->dst_gap = random_gap(r);
    which->src_offset = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 70);
    which->dst_offset = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 70);
    if (twi_below(r, 3) == 0) { /* everything aligned: the paths of whole vectors */
        const int64_t row = problem->width * problem->channels;
        which->src_gap = (64 - row % 64) % 64;
        which->dst_gap = which->src_gap;
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
