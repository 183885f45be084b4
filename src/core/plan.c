/* Plans: choose, prepare, run, destroy. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/group.h"
#include "core/wisdom.h"

tw_status twi_plan_scratch(tw_plan *plan, size_t bytes)
{
    tw_context *context = plan->context;
    const tw_memory_kind kind = context->backend->id == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    return context->backend->allocate(context, bytes, kind, &plan->scratch);
}

/* Room for a copy of the source, for in-place work on the back end's memory. Host images on a CUDA
   context need none: they pass through separate device images. */
static tw_status take_copy(tw_plan *plan)
{
    tw_context *context = plan->context;
    const tw_problem *problem = &plan->problem;
    const bool device = context->backend->id == TW_CUDA;
    int64_t row = 0;
    int64_t bytes = 0;
    if (!problem->in_place || (device && problem->memory == TW_HOST))
        return TW_OK;
    if (!twi_mul_i64(problem->width, problem->channels * (int64_t)tw_type_size(problem->type), &row) ||
        !twi_add_i64(row, 255, &row) || !twi_mul_i64(row / 256 * 256, problem->height, &bytes))
        return twi_fail(TW_ERROR_LIMIT, "an image of %" PRId64 "x%" PRId64 " pixels cannot be counted in bytes",
                        problem->width, problem->height);
    plan->copy_pitch = row / 256 * 256;
    return context->backend->allocate(context, (size_t)bytes, device ? TW_MEMORY_DEVICE : TW_MEMORY_HOST, &plan->copy);
}

/* The plan outlives the caller's mask and footprint. */
static tw_status keep_arrays(tw_plan *plan)
{
    const tw_problem problem = plan->problem;
    const size_t bytes = twi_problem_array_bytes(&problem);
    if (bytes == 0)
        return TW_OK;
    TWI_TRY(twi_host_allocate(plan->context, bytes, &plan->arrays));
    twi_problem_copy(&problem, plan->arrays, &plan->problem);
    return TW_OK;
}

/* The variant of that name for the context's back end. */
static tw_status named_variant(const tw_context *context, const tw_problem *problem, const char *name,
                               const twi_variant **result)
{
    bool known = false;
    for (size_t i = 0; i < twi_variant_total; i++) {
        const twi_variant *variant = &twi_variants[i];
        if (variant->op != problem->op || strcmp(variant->name, name) != 0)
            continue;
        known = true;
        if (variant->backend != context->backend->id)
            continue;
        const char *reason = twi_refusal(variant, context, problem);
        if (reason)
            return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s of %s: %s", name, tw_op_name(problem->op), reason);
        *result = variant;
        return TW_OK;
    }
    if (known)
        return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s of %s does not exist for %s", name, tw_op_name(problem->op),
                        tw_backend_name(context->backend->id));
    return twi_fail(TW_ERROR_ARGUMENT, "%s has no variant %s", tw_op_name(problem->op), name);
}

/* Measures the problem at this size, if it was not before. */
static tw_status measure(tw_context *context, const tw_problem *problem)
{
    bool exact = false;
    return twi_wisdom_choice(context, problem, &exact) && exact ? TW_OK : tw_tune(context, problem, NULL, 0, NULL);
}

static tw_status check(const tw_context *context, const tw_problem *problem, const tw_plan_options *options)
{
    TWI_TRY(twi_problem_check(problem));
    if (problem->memory == TW_DEVICE && context->backend->id != TW_CUDA)
        return twi_fail(TW_ERROR_ARGUMENT, "device images need a CUDA context, this one is on %s",
                        tw_backend_name(context->backend->id));
    if (options->block_width < 0 || options->block_height < 0 || !options->block_width != !options->block_height)
        return twi_fail(TW_ERROR_ARGUMENT, "block %dx%d: give both sides, at least 1, or neither",
                        (int)options->block_width, (int)options->block_height);
    if ((unsigned)options->planning >= TW_PLANNING_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "planning %d is unknown: use TW_PLAN_ESTIMATE or TW_PLAN_MEASURE",
                        (int)options->planning);
    return TW_OK;
}

static tw_status find_variant(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                              const twi_variant **variant)
{
    if (options->variant)
        return named_variant(context, problem, options->variant, variant);
    if (options->planning == TW_PLAN_MEASURE)
        TWI_TRY(measure(context, problem));
    *variant = twi_choose(context, problem);
    if (!*variant)
        return twi_fail(TW_ERROR_UNSUPPORTED, "no variant of %s on %s does this problem", tw_op_name(problem->op),
                        tw_backend_name(context->backend->id));
    return TW_OK;
}

/* All that the plan needs on its context's own device. */
static tw_status settle(tw_plan *plan, const tw_plan_options *options)
{
    const tw_context *context = plan->context;
    TWI_TRY(find_variant(plan->context, &plan->problem, options, &plan->variant));
    TWI_TRY(take_copy(plan));
    if (context->backend->prepare)
        TWI_TRY(context->backend->prepare(plan));
    const twi_code *code = plan->variant->code; /* NOLINT: found, or failed */
    return code->prepare ? code->prepare(plan) : TW_OK;
}

static tw_status create(tw_context *context, const tw_problem *problem, const tw_plan_options *options, bool one,
                        tw_plan **result)
{
    static const tw_plan_options none;
    void *memory = NULL;
    if (!context || !problem || !result)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !context ? "context" : !problem ? "problem" : "plan");
    *result = NULL;
    if (!options)
        options = &none;
    TWI_TRY(check(context, problem, options));
    TWI_TRY(twi_host_allocate(context, sizeof(tw_plan), &memory));
    tw_plan *plan = memory;
    *plan = (tw_plan){
        .context = context,
        .problem = *problem,
        .block_width = options->block_width,
        .block_height = options->block_height,
    };
    const bool several = !one && twi_group_takes(context, problem);
    tw_status status = keep_arrays(plan);
    if (status == TW_OK)
        status = several ? twi_group_create(plan, options, false) : settle(plan, options);
    if (status == TW_ERROR_UNSUPPORTED && several) {
        twi_group_destroy(plan);
        status = twi_group_create(plan, options, true);
    }
    if (status != TW_OK) {
        tw_plan_destroy(plan);
        return status;
    }
    *result = plan;
    return TW_OK;
}

tw_status tw_plan_create(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                         tw_plan **result)
{
    return create(context, problem, options, false, result);
}

tw_status twi_plan_create_one(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                              tw_plan **result)
{
    return create(context, problem, options, true, result);
}

void tw_plan_destroy(tw_plan *plan)
{
    if (!plan)
        return;
    tw_context *context = plan->context;
    const tw_memory_kind kind = context->backend->id == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    if (plan->group)
        twi_group_destroy(plan);
    else if (plan->variant && plan->variant->code->release)
        plan->variant->code->release(plan);
    if (plan->scratch)
        context->backend->release(context, plan->scratch, kind);
    if (plan->copy)
        context->backend->release(context, plan->copy, kind);
    twi_host_release(context, plan->arrays);
    twi_host_release(context, plan);
}

/* Whether the images are those of the plan's problem; dst from row `first` of the result on. */
static tw_status fits(const tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first, bool *in_place)
{
    int64_t width = 0;
    int64_t height = 0;
    if (!plan)
        return twi_fail(TW_ERROR_ARGUMENT, "plan is NULL");
    const tw_problem *problem = &plan->problem;
    TWI_TRY(tw_image_check(src));
    TWI_TRY(tw_image_check(dst));
    if (src->type != problem->type || dst->type != problem->out_type || src->channels != problem->channels ||
        src->width != problem->width || src->height != problem->height || src->memory != problem->memory) {
        char text[160];
        (void)tw_problem_text(problem, text, sizeof text);
        return twi_fail(TW_ERROR_ARGUMENT,
                        "the images (%s to %s c%d %" PRId64 "x%" PRId64 " %s) are not those of the plan: %s",
                        tw_type_name(src->type), tw_type_name(dst->type), (int)src->channels, src->width, src->height,
                        src->memory == TW_DEVICE ? "device" : "host", text);
    }
    twi_out_shape(problem, &width, &height);
    if (first < 0 || first >= height || dst->height > height - first)
        return twi_fail(TW_ERROR_ARGUMENT, "%" PRId64 " rows from row %" PRId64 " on: the result has %" PRId64,
                        dst->height, first, height);
    return twi_images_check(src, dst, width, dst->height, in_place);
}

/* Likewise, dst being all of the result. */
static tw_status fits_whole(const tw_plan *plan, const tw_image *src, const tw_image *dst)
{
    bool in_place = false;
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(fits(plan, src, dst, 0, &in_place));
    twi_out_shape(&plan->problem, &width, &height);
    TWI_TRY(twi_images_check(src, dst, width, height, &in_place));
    if (in_place && !plan->problem.in_place)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is src, but the plan was made for separate images: set in_place");
    return TW_OK;
}

static tw_status run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    return plan->group ? twi_group_run(plan, src, dst, first) : plan->context->backend->run(plan, src, dst, first);
}

tw_status tw_plan_run(tw_plan *plan, const tw_image *src, const tw_image *dst)
{
    TWI_TRY(fits_whole(plan, src, dst));
    return run(plan, src, dst, 0);
}

tw_status tw_plan_run_rows(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    bool in_place = false;
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(fits(plan, src, dst, first, &in_place));
    twi_out_shape(&plan->problem, &width, &height);
    if (in_place)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is src: rows of a result need an image of their own");
    if (plan->variant->code->whole && dst->height < height)
        return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s of %s makes all %" PRId64 " rows at once, not %" PRId64,
                        plan->variant->name, tw_op_name(plan->problem.op), height, dst->height);
    return run(plan, src, dst, first);
}

tw_status tw_plan_enqueue(tw_plan *plan, const tw_image *src, const tw_image *dst, void *stream)
{
    TWI_TRY(fits_whole(plan, src, dst));
    if (src->memory != TW_DEVICE || !plan->context->backend->enqueue)
        return twi_fail(TW_ERROR_ARGUMENT, "only device images can be queued on a stream: use tw_plan_run");
    return plan->context->backend->enqueue(plan, src, dst, stream);
}

const char *tw_plan_variant(const tw_plan *plan)
{
    return plan ? plan->variant->name : "";
}
