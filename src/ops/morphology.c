/*
 * erode, dilate and what is built of them: a sequence of min and max on the back end's own memory. Images of the host
 * go there once and come back once, whatever the number of steps. Of several devices each makes some rows of the
 * result, from those around them that all steps together reach.
 */
#include <inttypes.h>
#include <string.h>

#include "core/group.h"

/* How erosions and dilations are done. */
typedef struct manner {
    tw_order_params params;
    int32_t iterations;
    const tw_plan_options *options; /* NULL: the planner's choice */
} manner;

/* Runs the problem so many times on the context's own device, whatever others it has. */
static tw_status run(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                     const tw_image *src, const tw_image *dst, int32_t times)
{
    tw_plan *plan = NULL;
    tw_status status = TW_OK;
    if (options || context->other_count > 0)
        TWI_TRY(twi_plan_create_one(context, problem, options, &plan));
    for (int32_t i = 0; i < times && status == TW_OK; i++)
        status = plan ? tw_plan_run(plan, src, dst) : twi_run_kept(context, problem, src, dst);
    tw_plan_destroy(plan);
    return status;
}

/* min or max, as often as it is asked for: the first time from src to dst, the others in place. */
static tw_status repeat(tw_context *context, tw_op op, const manner *how, const tw_image *src, const tw_image *dst)
{
    tw_problem problem;
    TWI_TRY(tw_order_problem(op, src, dst, &how->params, 0, &problem));
    TWI_TRY(run(context, &problem, how->options, src, dst, 1));
    if (how->iterations == 1)
        return TW_OK;
    TWI_TRY(tw_order_problem(op, dst, dst, &how->params, 0, &problem));
    return run(context, &problem, how->options, dst, dst, how->iterations - 1);
}

/* The same with the window turned by 180 degrees; `footprint` has room for the turned one. */
static manner turned(const manner *how, uint8_t *footprint)
{
    const tw_order_params *params = &how->params;
    const tw_window *window = &params->window;
    const int64_t positions = (int64_t)window->width * window->height;
    manner result = *how;
    result.params.window.anchor_x = window->width - 1 - window->anchor_x;
    result.params.window.anchor_y = window->height - 1 - window->anchor_y;
    for (int64_t i = 0; params->footprint && i < positions; i++)
        footprint[i] = params->footprint[positions - 1 - i];
    result.params.footprint = params->footprint ? footprint : NULL;
    return result;
}

/* Open (first = min) or close (first = max). */
static tw_status there_and_back(tw_context *context, tw_op first, const manner *how, const tw_image *src,
                                const tw_image *dst)
{
    const tw_order_params *params = &how->params;
    const size_t positions = params->footprint ? (size_t)params->window.width * (size_t)params->window.height : 0;
    void *footprint = NULL;
    TWI_TRY(repeat(context, first, how, src, dst)); /* checks the window, too */
    TWI_TRY(twi_host_allocate(context, positions, &footprint));
    const manner back = turned(how, footprint);
    const tw_status status = repeat(context, first == TW_OP_MIN ? TW_OP_MAX : TW_OP_MIN, &back, dst, dst);
    twi_host_release(context, footprint);
    return status;
}

/* Images on the back end's own memory, `other` an image like them. */
static tw_status morph(tw_context *context, const tw_image *src, const tw_image *dst, tw_morphology morphology,
                       const manner *how, const tw_image *other)
{
    switch (morphology) {
    case TW_ERODE:
        return repeat(context, TW_OP_MIN, how, src, dst);
    case TW_DILATE:
        return repeat(context, TW_OP_MAX, how, src, dst);
    case TW_OPEN:
        return there_and_back(context, TW_OP_MIN, how, src, dst);
    case TW_CLOSE:
        return there_and_back(context, TW_OP_MAX, how, src, dst);
    case TW_GRADIENT:
        TWI_TRY(repeat(context, TW_OP_MAX, how, src, other));
        TWI_TRY(repeat(context, TW_OP_MIN, how, src, dst));
        return context->backend->subtract(context, other, dst, dst);
    case TW_TOPHAT:
        TWI_TRY(there_and_back(context, TW_OP_MIN, how, src, other));
        return context->backend->subtract(context, src, other, dst);
    default:
        TWI_TRY(there_and_back(context, TW_OP_MAX, how, src, other));
        return context->backend->subtract(context, other, src, dst);
    }
}

static bool needs_other(tw_morphology morphology)
{
    return morphology == TW_GRADIENT || morphology == TW_TOPHAT || morphology == TW_BLACKHAT;
}

static tw_status create_like(tw_context *context, const tw_image *image, tw_memory_kind kind, tw_image *result)
{
    return tw_image_create(context, image->width, image->height, image->channels, image->type, kind, result);
}

/* ---- Bands of rows ------------------------------------------------------------------------------------ */

/* All that is asked for. */
typedef struct task {
    const tw_image *src;
    const tw_image *dst;
    tw_morphology morphology;
    manner how;
} task;

/* A step that all devices take before any takes the next. */
struct band;
typedef tw_status step(struct band *b);

/* What one device makes of it: rows first ... last-1 of the result. */
typedef struct band {
    const task *task;
    tw_context *context;
    int64_t first;
    int64_t last;
    int64_t top; /* the source's row that is the images' first; with border wrap perhaps one before the image */
    tw_image images[3];
    step *step;
    twi_outcome outcome;
} band;

/* Rows whose results the cut ends do not spoil lie so far from them. */
static void find_rows(band *b, int64_t *rows)
{
    const int64_t height = b->task->src->height;
    const int64_t reach = (int64_t)b->task->how.iterations * (b->task->how.params.window.height - 1);
    int64_t bottom = twi_min_i64(height, b->last + reach);
    b->top = twi_max_i64(0, b->first - reach);
    if (b->task->how.params.border.mode == TW_BORDER_WRAP) {
        b->top = b->first - reach;
        bottom = b->last + reach;
    }
    if (bottom - b->top >= height) {
        b->top = 0;
        bottom = height;
    }
    *rows = bottom - b->top;
}

static tw_status send_rows(const band *b)
{
    const tw_image *src = b->task->src;
    const tw_image *image = &b->images[0];
    int64_t count = 0;
    for (int64_t y = 0; y < image->height; y += count) {
        const int64_t row = (b->top + y + src->height) % src->height;
        tw_image from;
        tw_image to;
        count = twi_min_i64(image->height - y, src->height - row);
        TWI_TRY(tw_image_view(src, 0, row, src->width, count, &from));
        TWI_TRY(tw_image_view(image, 0, y, src->width, count, &to));
        TWI_TRY(tw_image_copy(b->context, &from, &to));
    }
    return TW_OK;
}

static tw_status begin(band *b)
{
    tw_image like = *b->task->src;
    const tw_memory_kind kind = b->context->backend->id == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    find_rows(b, &like.height);
    for (int i = 0; i < (needs_other(b->task->morphology) ? 3 : 2); i++)
        TWI_TRY(create_like(b->context, &like, kind, &b->images[i]));
    return send_rows(b);
}

static tw_status compute(band *b)
{
    return morph(b->context, &b->images[0], &b->images[1], b->task->morphology, &b->task->how, &b->images[2]);
}

static tw_status finish(band *b)
{
    const tw_image *made = &b->images[1];
    const tw_image *dst = b->task->dst;
    tw_image from;
    tw_image to;
    TWI_TRY(tw_image_view(made, 0, b->first - b->top, made->width, b->last - b->first, &from));
    TWI_TRY(tw_image_view(dst, 0, b->first, dst->width, b->last - b->first, &to));
    return tw_image_copy(b->context, &from, &to);
}

static void *work(void *item)
{
    band *b = item;
    twi_note_outcome(&b->outcome, b->step(b));
    return NULL;
}

/* A failure; devices that failed are left where the rest may go on. */
static tw_status failure_of(const tw_context *context, const band *bands, int count)
{
    tw_status status = TW_OK;
    for (int i = 0; i < count; i++) {
        const tw_status own = twi_pass_outcome(&bands[i].outcome, bands[i].context);
        status = own == TW_OK ? status : own;
        bands[i].context->lost = bands[i].context->lost || (context->rest_goes_on && own == TW_ERROR_DEVICE);
    }
    return status;
}

/* In place, all rows are read before any is overwritten: so each step ends on all devices before the next begins. */
static tw_status run_steps(const tw_context *context, band *bands, int count)
{
    step *const steps[] = {begin, compute, finish};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (int j = 0; j < count; j++)
            bands[j].step = steps[i];
        twi_run_threads(work, bands, sizeof *bands, count);
        TWI_TRY(failure_of(context, bands, count));
    }
    return TW_OK;
}

static tw_status run_alone(band *b)
{
    TWI_TRY(begin(b));
    TWI_TRY(compute(b));
    return finish(b);
}

static tw_status run_bands(const tw_context *context, band *bands, int count)
{
    const tw_status status = context->other_count > 0 ? run_steps(context, bands, count) : run_alone(bands);
    for (int i = 0; i < count; i++)
        for (int image = 0; image < 3; image++)
            tw_image_free(bands[i].context, &bands[i].images[image]);
    return status;
}

static tw_status share_out(tw_context *context, const task *t, tw_context *const *members, int working)
{
    const int count = (int)twi_min_i64(working, t->src->height);
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(context, (size_t)count * sizeof(band), &memory));
    band *bands = memory;
    memset(bands, 0, (size_t)count * sizeof(band));
    for (int i = 0; i < count; i++) {
        bands[i].task = t;
        bands[i].context = members[i];
        bands[i].first = twi_cut_at(t->src->height, count, i);
        bands[i].last = twi_cut_at(t->src->height, count, i + 1);
    }
    const tw_status status = run_bands(context, bands, count);
    twi_host_release(context, memory);
    return status;
}

/* On the devices that work. */
static tw_status morph_host(tw_context *context, const task *t)
{
    tw_context *members[TWI_MOST_DEVICES];
    for (;;) {
        const int working = twi_members(context, members);
        if (working == 0)
            return twi_no_device();
        const tw_status status = share_out(context, t, members, working);
        if (status != TW_ERROR_DEVICE || twi_members(context, members) == working)
            return status;
    }
}

tw_status tw_morph(tw_context *context, const tw_image *src, const tw_image *dst, tw_morphology morphology,
                   const tw_order_params *params, int32_t iterations, const tw_plan_options *options)
{
    const manner how = {params ? *params : tw_order_defaults(), iterations, options};
    tw_image other = {0};
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    if ((unsigned)morphology >= TW_MORPHOLOGY_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "morphology %d is unknown: use TW_ERODE to TW_BLACKHAT", (int)morphology);
    if (iterations < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "%" PRId32 " iterations: use 1 or more", iterations);
    TWI_TRY(tw_order_problem(TW_OP_MIN, src, dst, &how.params, 0, &problem)); /* every argument, before any work */
    if (src->memory == TW_HOST && (context->backend->id == TW_CUDA || context->other_count > 0)) {
        const task t = {src, dst, morphology, how};
        return morph_host(context, &t);
    }
    if (needs_other(morphology))
        TWI_TRY(create_like(context, src, src->memory == TW_DEVICE ? TW_MEMORY_DEVICE : TW_MEMORY_HOST, &other));
    const tw_status status = morph(context, src, dst, morphology, &how, &other);
    tw_image_free(context, &other);
    return status;
}
