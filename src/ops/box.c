/* box, the mean over a window: its arguments, its problem, and the definition as scalar code. */
#include "core/exact.h"
#include "core/plan.h"

tw_box_params tw_box_defaults(void)
{
    const tw_box_params params = {
        .window = {3, 3, 1, 1},
        .border = {TW_BORDER_ZERO, 0},
        .rounding = TW_ROUND_FLOOR,
    };
    return params;
}

tw_status tw_box_problem(const tw_image *src, const tw_image *dst, const tw_box_params *params, tw_problem *problem)
{
    const tw_box_params defaults = tw_box_defaults();
    bool in_place = false;
    if (!problem)
        return twi_fail(TW_ERROR_ARGUMENT, "problem is NULL");
    if (!params)
        params = &defaults;
    TWI_TRY(twi_images_check(src, dst, &in_place));
    if (src->type != dst->type)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is %s, src %s: box keeps the type", tw_type_name(dst->type),
                        tw_type_name(src->type));
    const tw_problem made = {
        .op = TW_OP_BOX,
        .type = src->type,
        .channels = src->channels,
        .width = src->width,
        .height = src->height,
        .window = params->window,
        .border = params->border,
        .rounding = params->rounding,
        .memory = src->memory,
        .in_place = in_place,
    };
    TWI_TRY(twi_problem_check(&made));
    *problem = made;
    return TW_OK;
}

tw_status tw_box(tw_context *context, const tw_image *src, const tw_image *dst, const tw_box_params *params)
{
    tw_problem problem;
    tw_plan *plan = NULL;
    if (!context)
        return twi_fail(TW_ERROR_ARGUMENT, "context is NULL");
    TWI_TRY(tw_box_problem(src, dst, params, &problem));
    TWI_TRY(twi_kept_plan(context, &problem, &plan));
    return tw_plan_run(plan, src, dst);
}

/* ---- The reference: one position at a time, as docs/semantics.md says it --------------------- */

/* What a window position reads, as an integer (integer types) or a double (float types). */
typedef struct reader {
    const tw_image *image;
    tw_border border;
    int channel;
} reader;

/* The address of the element at (x, y), or NULL where the border's value is read. */
static const void *element_at(const reader *r, int64_t x, int64_t y)
{
    const tw_image *image = r->image;
    const int64_t column = twi_border_index(x, image->width, (int)r->border.mode);
    const int64_t row = twi_border_index(y, image->height, (int)r->border.mode);
    if (column < 0 || row < 0)
        return NULL;
    return (const char *)image->data + row * image->pitch +
           (column * image->channels + r->channel) * (int64_t)tw_type_size(image->type);
}

static int64_t read_integer(const reader *r, int64_t x, int64_t y)
{
    const void *element = element_at(r, x, y);
    if (!element)
        return r->border.mode == TW_BORDER_CONSTANT ? (int64_t)r->border.value : 0;
    switch (r->image->type) {
    case TW_U8:
        return *(const uint8_t *)element;
    case TW_U16:
        return *(const uint16_t *)element;
    case TW_I16:
        return *(const int16_t *)element;
    default:
        return *(const int32_t *)element;
    }
}

static double read_float(const reader *r, int64_t x, int64_t y)
{
    const void *element = element_at(r, x, y);
    const bool single = r->image->type == TW_F32;
    if (!element) {
        const double value = r->border.mode == TW_BORDER_CONSTANT ? r->border.value : 0;
        return single ? (double)(float)value : value;
    }
    return single ? (double)*(const float *)element : *(const double *)element;
}

static int64_t sum_integers(const reader *r, int64_t x, int64_t y, const tw_window *window)
{
    int64_t sum = 0;
    for (int32_t j = 0; j < window->height; j++)
        for (int32_t i = 0; i < window->width; i++)
            sum += read_integer(r, x - window->anchor_x + i, y - window->anchor_y + j);
    return sum;
}

/* The fixed shape of float sums (exact.h), as the recursion that it is. `at` gives value i. */
typedef struct line {
    const reader *reader;
    const tw_window *window;
    int64_t x;
    int64_t y;
} line;

static twi_pair sum_row(const line *l, int32_t n);

/* Value i of a line of pixels (down < 0), or the sum of row i of the window. */
static twi_pair value_at(const line *l, bool rows, int32_t i)
{
    if (!rows)
        return twi_pair_of(read_float(l->reader, l->x + i, l->y));
    const line row = {l->reader, l->window, l->x, l->y + i};
    return sum_row(&row, l->window->width);
}

static twi_pair sum_block(const line *l, bool rows, int32_t first, int32_t size)
{
    if (size == 1)
        return value_at(l, rows, first);
    return twi_pair_add(sum_block(l, rows, first, size / 2), sum_block(l, rows, first + size / 2, size / 2));
}

static twi_pair sum_line(const line *l, bool rows, int32_t n)
{
    twi_pair sum = {0, 0};
    int32_t done = 0;
    for (int32_t size = 1; size <= n; size *= 2) {
        if (!(n & size))
            continue;
        const twi_pair block = sum_block(l, rows, done, size);
        sum = done == 0 ? block : twi_pair_add(sum, block);
        done += size;
    }
    return sum;
}

static twi_pair sum_row(const line *l, int32_t n)
{
    return sum_line(l, false, n);
}

static twi_pair sum_floats(const reader *r, int64_t x, int64_t y, const tw_window *window)
{
    const line window_rows = {r, window, x - window->anchor_x, y - window->anchor_y};
    return sum_line(&window_rows, true, window->height);
}

static void store_mean(const reader *r, const tw_problem *problem, int64_t x, int64_t y, void *element)
{
    const tw_window *window = &problem->window;
    const int64_t count = (int64_t)window->width * window->height;
    const int nearest = problem->rounding == TW_ROUND_NEAREST;
    switch (problem->type) {
    case TW_U8:
        *(uint8_t *)element = (uint8_t)twi_mean_integer(sum_integers(r, x, y, window), count, nearest);
        break;
    case TW_U16:
        *(uint16_t *)element = (uint16_t)twi_mean_integer(sum_integers(r, x, y, window), count, nearest);
        break;
    case TW_I16:
        *(int16_t *)element = (int16_t)twi_mean_integer(sum_integers(r, x, y, window), count, nearest);
        break;
    case TW_I32:
        *(int32_t *)element = (int32_t)twi_mean_integer(sum_integers(r, x, y, window), count, nearest);
        break;
    case TW_F32:
        *(float *)element = twi_mean_f32(sum_floats(r, x, y, window).high, 1.0 / (double)count);
        break;
    default:
        *(double *)element = twi_mean_f64(sum_floats(r, x, y, window), (double)count);
        break;
    }
}

static tw_status run_reference(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->type);
    for (int64_t y = job->first; y < job->last; y++) {
        char *row = (char *)job->dst.data + y * job->dst.pitch;
        for (int64_t x = 0; x < problem->width; x++) {
            for (int channel = 0; channel < problem->channels; channel++) {
                const reader r = {&job->src, problem->border, channel};
                store_mean(&r, problem, x, y, row + (x * problem->channels + channel) * size);
            }
        }
    }
    return TW_OK;
}

/* Never the fastest: chosen only by name or where nothing else applies. */
static double cost_reference(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 10.0 * (double)problem->width * (double)problem->height * problem->channels * problem->window.width *
           problem->window.height;
}

const twi_code twi_box_reference_cpu = {
    .cost = cost_reference,
    .run = run_reference,
};
