/* erode, dilate and what is built of them: a sequence of min and max through the plans that the context keeps. */
#include <inttypes.h>
#include <string.h>

#include "core/plan.h"

/* min or max, `iterations` times: the first from src to dst, the others in place. */
static tw_status repeat(tw_context *context, tw_op op, const tw_order_params *params, int32_t iterations,
                        const tw_image *src, const tw_image *dst)
{
    tw_problem problem;
    for (int32_t i = 0; i < iterations; i++) {
        const tw_image *from = i == 0 ? src : dst;
        TWI_TRY(tw_order_problem(op, from, dst, params, 0, &problem));
        TWI_TRY(twi_run_kept(context, &problem, from, dst));
    }
    return TW_OK;
}

/* The window turned by 180 degrees; `footprint` has room for the turned one. */
static tw_order_params turned(const tw_order_params *params, uint8_t *footprint)
{
    const tw_window *window = &params->window;
    const int64_t positions = (int64_t)window->width * window->height;
    tw_order_params result = *params;
    result.window.anchor_x = window->width - 1 - window->anchor_x;
    result.window.anchor_y = window->height - 1 - window->anchor_y;
    for (int64_t i = 0; params->footprint && i < positions; i++)
        footprint[i] = params->footprint[positions - 1 - i];
    result.footprint = params->footprint ? footprint : NULL;
    return result;
}

/* Open (first = min) or close (first = max). */
static tw_status there_and_back(tw_context *context, tw_op first, const tw_order_params *params, int32_t iterations,
                                const tw_image *src, const tw_image *dst)
{
    const size_t positions = params->footprint ? (size_t)params->window.width * (size_t)params->window.height : 0;
    void *footprint = NULL;
    TWI_TRY(repeat(context, first, params, iterations, src, dst)); /* checks the window, too */
    TWI_TRY(twi_host_allocate(context, positions, &footprint));
    const tw_order_params back = turned(params, footprint);
    const tw_status status = repeat(context, first == TW_OP_MIN ? TW_OP_MAX : TW_OP_MIN, &back, iterations, dst, dst);
    twi_host_release(context, footprint);
    return status;
}

/* Images on the back end's own memory, `other` an image like them. */
static tw_status morph(tw_context *context, const tw_image *src, const tw_image *dst, tw_morphology morphology,
                       const tw_order_params *params, int32_t iterations, const tw_image *other)
{
    switch (morphology) {
    case TW_ERODE:
        return repeat(context, TW_OP_MIN, params, iterations, src, dst);
    case TW_DILATE:
        return repeat(context, TW_OP_MAX, params, iterations, src, dst);
    case TW_OPEN:
        return there_and_back(context, TW_OP_MIN, params, iterations, src, dst);
    case TW_CLOSE:
        return there_and_back(context, TW_OP_MAX, params, iterations, src, dst);
    case TW_GRADIENT:
        TWI_TRY(repeat(context, TW_OP_MAX, params, iterations, src, other));
        TWI_TRY(repeat(context, TW_OP_MIN, params, iterations, src, dst));
        return context->backend->subtract(context, other, dst, dst);
    case TW_TOPHAT:
        TWI_TRY(there_and_back(context, TW_OP_MIN, params, iterations, src, other));
        return context->backend->subtract(context, src, other, dst);
    default:
        TWI_TRY(there_and_back(context, TW_OP_MAX, params, iterations, src, other));
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

/* Host images on a CUDA context go up once and come down once, whatever the number of steps. */
static tw_status morph_on_device(tw_context *context, const tw_image *src, const tw_image *dst,
                                 tw_morphology morphology, const tw_order_params *params, int32_t iterations)
{
    tw_image images[3] = {{0}, {0}, {0}};
    tw_status status = TW_OK;
    for (int i = 0; i < (needs_other(morphology) ? 3 : 2) && status == TW_OK; i++)
        status = create_like(context, src, TW_MEMORY_DEVICE, &images[i]);
    if (status == TW_OK)
        status = tw_image_copy(context, src, &images[0]);
    if (status == TW_OK)
        status = morph(context, &images[0], &images[1], morphology, params, iterations, &images[2]);
    if (status == TW_OK)
        status = tw_image_copy(context, &images[1], dst);
    for (int i = 0; i < 3; i++)
        tw_image_free(context, &images[i]);
    return status;
}

tw_status tw_morph(tw_context *context, const tw_image *src, const tw_image *dst, tw_morphology morphology,
                   const tw_order_params *params, int32_t iterations)
{
    const tw_order_params defaults = tw_order_defaults();
    tw_image other = {0};
    tw_problem problem;
    TWI_TRY(twi_context_check(context));
    if ((unsigned)morphology >= TW_MORPHOLOGY_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "morphology %d is unknown: use TW_ERODE to TW_BLACKHAT", (int)morphology);
    if (iterations < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "%" PRId32 " iterations: use 1 or more", iterations);
    if (!params)
        params = &defaults;
    TWI_TRY(tw_order_problem(TW_OP_MIN, src, dst, params, 0, &problem)); /* every argument, before any work */
    if (context->backend->id == TW_CUDA && src->memory == TW_HOST)
        return morph_on_device(context, src, dst, morphology, params, iterations);
    if (needs_other(morphology))
        TWI_TRY(create_like(context, src, src->memory == TW_DEVICE ? TW_MEMORY_DEVICE : TW_MEMORY_HOST, &other));
    const tw_status status = morph(context, src, dst, morphology, params, iterations, &other);
    tw_image_free(context, &other);
    return status;
}
