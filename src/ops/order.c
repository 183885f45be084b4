/* min, max, median, rank and percentile: arguments, problems, and the definitions as scalar code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/sample.h"

tw_order_params tw_order_defaults(void)
{
    const tw_order_params params = {
        .window = {3, 3, 1, 1},
        .footprint = NULL,
        .border = {TW_BORDER_REPLICATE, 0},
    };
    return params;
}

int64_t tw_order_count(const tw_order_params *params)
{
    const tw_window *window = params ? &params->window : NULL;
    if (!window || window->width < 1 || window->height < 1)
        return 0;
    if (params->footprint && (window->width > TW_MAX_FOOTPRINT || window->height > TW_MAX_FOOTPRINT))
        return 0; /* a window that was never filled in may ask for more bytes than there are */
    return twi_footprint_count(window, params->footprint);
}

int64_t tw_percentile_rank(int64_t count, double percentile)
{
    /* count * percentile may be a whole number that f64 division by 100 misses by an ulp: n * p / 100 in that order */
    const double rank = floor((double)count * percentile / 100);
    if (!(rank >= 0)) /* a NaN, too */
        return 0;
    return rank >= (double)count ? count - 1 : (int64_t)rank;
}

tw_status tw_footprint(tw_shape shape, int32_t width, int32_t height, uint8_t *footprint)
{
    if ((unsigned)shape >= TW_SHAPE_COUNT || width < 1 || height < 1 || width > TW_MAX_FOOTPRINT ||
        height > TW_MAX_FOOTPRINT || !footprint)
        return twi_fail(TW_ERROR_ARGUMENT, "shape %d of %dx%d: use TW_RECT to TW_ELLIPSE, sides of 1 to %d", (int)shape,
                        (int)width, (int)height, TW_MAX_FOOTPRINT);
    const int64_t w = width;
    const int64_t h = height;
    for (int64_t j = 0; j < h; j++) {
        for (int64_t i = 0; i < w; i++) {
            const int64_t x = 2 * i - w + 1;
            const int64_t y = 2 * j - h + 1;
            footprint[j * w + i] = shape == TW_RECT    ? 1
                                   : shape == TW_CROSS ? i == w / 2 || j == h / 2
                                                       : x * x * h * h + y * y * w * w <= w * w * h * h;
        }
    }
    return TW_OK;
}

tw_status tw_order_problem(tw_op op, const tw_image *src, const tw_image *dst, const tw_order_params *params,
                           int64_t rank, tw_problem *problem)
{
    const tw_order_params defaults = tw_order_defaults();
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (op != TW_OP_MIN && op != TW_OP_MAX && op != TW_OP_RANK)
        return twi_fail(TW_ERROR_ARGUMENT, "operation %s is no order filter: use min, max or rank", tw_op_name(op));
    if (!params)
        params = &defaults;
    tw_problem made = {
        .op = op,
        .window = params->window,
        .border = params->border,
        .footprint = params->footprint,
        .rank = op == TW_OP_RANK ? rank : 0,
    };
    TWI_TRY(twi_problem_complete(src, dst, &made));
    const int64_t count = tw_order_count(params);
    if (count == (int64_t)made.window.width * made.window.height)
        made.footprint = NULL;
    if (op == TW_OP_RANK && (rank == 0 || rank == count - 1)) { /* the faster operations */
        made.op = rank == 0 ? TW_OP_MIN : TW_OP_MAX;
        made.rank = 0;
    }
    *problem = made;
    return TW_OK;
}

static tw_status run_order(tw_op op, tw_context *context, const tw_image *src, const tw_image *dst,
                           const tw_order_params *params, int64_t rank)
{
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    TWI_TRY(tw_order_problem(op, src, dst, params, rank, &problem));
    return twi_run_kept(context, &problem, src, dst);
}

tw_status tw_min(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params)
{
    return run_order(TW_OP_MIN, context, src, dst, params, 0);
}

tw_status tw_max(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params)
{
    return run_order(TW_OP_MAX, context, src, dst, params, 0);
}

tw_status tw_median(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params)
{
    const tw_order_params defaults = tw_order_defaults();
    return run_order(TW_OP_RANK, context, src, dst, params, tw_order_count(params ? params : &defaults) / 2);
}

tw_status tw_rank(tw_context *context, const tw_image *src, const tw_image *dst, const tw_order_params *params,
                  int64_t rank)
{
    return run_order(TW_OP_RANK, context, src, dst, params, rank);
}

/* ---- The references ---------------------------------------------------------------------------- */

/* An element as the key that orders it (exact.h). */
static int64_t key_at(const twi_sampler *s, int64_t x, int64_t y)
{
    const double value = twi_sample_float(s, x, y);
    if (s->image->type == TW_F32) {
        const float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return twi_key_f32(bits);
    }
    if (s->image->type == TW_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return twi_key_f64(bits);
    }
    return (int64_t)value;
}

static void store_key(void *element, tw_type type, int64_t key)
{
    if (type == TW_F32) {
        const uint32_t bits = twi_unkey_f32((int32_t)key);
        memcpy(element, &bits, sizeof bits);
    } else if (type == TW_F64) {
        const uint64_t bits = twi_unkey_f64(key);
        memcpy(element, &bits, sizeof bits);
    } else {
        twi_store_integer(element, type, key);
    }
}

/* What max (min) gives where no position of the window takes part: the lowest (highest) value, for floats the
   infinity. */
static int64_t neutral_key(tw_type type, bool highest)
{
    static const int64_t ends[TW_TYPE_COUNT][2] = {
        [TW_U8] = {0, UINT8_MAX},
        [TW_U16] = {0, UINT16_MAX},
        [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX},
        [TW_F32] = {-0x7f800001, 0x7f800000},
        [TW_F64] = {-0x7ff0000000000001, 0x7ff0000000000000},
    };
    return ends[type][highest];
}

/* The next position of the window that takes part, from *index on; false at the end. */
static bool next_key(const tw_problem *problem, const twi_sampler *s, int64_t x, int64_t y, int64_t *index,
                     int64_t *key)
{
    const tw_window *window = &problem->window;
    const int64_t count = (int64_t)window->width * window->height;
    for (; *index < count; ++*index) {
        const int64_t px = x - window->anchor_x + *index % window->width;
        const int64_t py = y - window->anchor_y + *index / window->width;
        if (problem->footprint && !problem->footprint[*index])
            continue;
        if (problem->border.mode == TW_BORDER_IGNORE && !twi_sample(s, px, py))
            continue;
        *key = key_at(s, px, py);
        ++*index;
        return true;
    }
    return false;
}

static void extreme_pixel(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element)
{
    const tw_problem *problem = &plan->problem;
    const bool highest = problem->op == TW_OP_MAX;
    int64_t best = neutral_key(problem->type, !highest);
    int64_t key = 0;
    int64_t index = 0;
    for (bool first = true; next_key(problem, s, x, y, &index, &key); first = false)
        if (first || (highest ? key > best : key < best))
            best = key;
    store_key(element, problem->out_type, best);
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* `keys` is the worker's room for a window of them. */
static void rank_pixel(const tw_problem *problem, const twi_sampler *s, int64_t x, int64_t y, int64_t *keys,
                       void *element)
{
    int64_t index = 0;
    size_t count = 0;
    while (next_key(problem, s, x, y, &index, &keys[count]))
        count++;
    qsort(keys, count, sizeof *keys, compare_keys);
    store_key(element, problem->out_type, keys[problem->rank]);
}

static tw_status run_extreme(const tw_plan *plan, const twi_job *job)
{
    return twi_each_element(plan, job, extreme_pixel);
}

const twi_code twi_min_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_extreme,
};

const twi_code twi_max_reference_cpu = {
    .cost = twi_cost_reference,
    .run = run_extreme,
};

static size_t window_positions(const tw_plan *plan)
{
    return (size_t)plan->problem.window.width * (size_t)plan->problem.window.height + 1;
}

static tw_status prepare_rank(tw_plan *plan)
{
    return twi_plan_scratch(plan, window_positions(plan) * sizeof(int64_t) * (size_t)plan->context->threads);
}

static tw_status run_rank(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    int64_t *keys = (int64_t *)plan->scratch + window_positions(plan) * (size_t)job->worker;
    for (int64_t y = job->first; y < job->last; y++) {
        char *row = (char *)job->dst.data + y * job->dst.pitch;
        for (int64_t x = 0; x < problem->width; x++) {
            for (int channel = 0; channel < problem->channels; channel++) {
                const twi_sampler s = {&job->src, problem->border, channel};
                rank_pixel(problem, &s, x, y, keys, row + (x * problem->channels + channel) * size);
            }
        }
    }
    return TW_OK;
}

const twi_code twi_rank_reference_cpu = {
    .cost = twi_cost_reference,
    .prepare = prepare_rank,
    .run = run_rank,
};
