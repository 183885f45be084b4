/* A result made in parts, as for an image that is larger than memory or shared by several devices. */
#include "verify/parts.h"

/* The regions of src that the part reads, one below the other. */
static tw_status gather(tw_context *context, const tw_part *part, const tw_image *src, const tw_image *rows)
{
    int64_t y = 0;
    for (int32_t i = 0; i < part->count; i++) {
        const tw_region *region = &part->reads[i];
        tw_image from;
        tw_image to;
        TWI_TRY(tw_image_view(src, region->x, region->y, region->width, region->height, &from));
        TWI_TRY(tw_image_view(rows, 0, y, region->width, region->height, &to));
        TWI_TRY(tw_image_copy(context, &from, &to));
        y += region->height;
    }
    return TW_OK;
}

/* The variant, or the planner's choice where it does no part of this size. */
static tw_status plan_part(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                           tw_plan **plan)
{
    const tw_status status = tw_plan_create(context, problem, options, plan);
    return status == TW_ERROR_UNSUPPORTED ? tw_plan_create(context, problem, NULL, plan) : status;
}

static tw_status run_part(tw_context *context, const tw_part *part, const tw_plan_options *options, const tw_image *src,
                          const tw_image *dst)
{
    const tw_problem *problem = &part->problem;
    tw_image rows;
    tw_plan *plan = NULL;
    TWI_TRY(tw_image_create(context, problem->width, problem->height, problem->channels, problem->type,
                            problem->memory == TW_DEVICE ? TW_MEMORY_DEVICE : TW_MEMORY_HOST, &rows));
    tw_status status = gather(context, part, src, &rows);
    if (status == TW_OK)
        status = plan_part(context, problem, options, &plan);
    if (status == TW_OK)
        status = tw_plan_run_rows(plan, &rows, dst, part->first);
    tw_plan_destroy(plan);
    tw_image_free(context, &rows);
    return status;
}

tw_status twi_run_parts(tw_context *context, const tw_problem *problem, const tw_plan_options *options, int64_t cut,
                        const tw_image *src, const tw_image *dst)
{
    for (int64_t first = 0; first < dst->height; first = first < cut ? cut : dst->height) {
        const int64_t last = first < cut ? cut : dst->height;
        tw_part part;
        tw_image rows;
        TWI_TRY(tw_problem_part(problem, first, last, &part));
        TWI_TRY(tw_image_view(dst, 0, first, dst->width, last - first, &rows));
        TWI_TRY(run_part(context, &part, options, src, &rows));
    }
    return TW_OK;
}
