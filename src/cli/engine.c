/* Engines: a context and its plans. */
#include "cli/engine.h"

/* Half of what is free on that of the GPUs which has the least; 0 if there is none. */
static uint64_t half_of_free(const twi_args *args)
{
    int numbers[TWI_DEVICES];
    int count = twi_devices(args, numbers);
    uint64_t least = 0;
    if (count == 0)
        numbers[count++] = args->device;
    for (int i = 0; i < count; i++) {
        uint64_t free_bytes = 0;
        if (tw_device_free_memory(numbers[i], &free_bytes) == TW_OK && (least == 0 || free_bytes / 2 < least))
            least = free_bytes / 2;
    }
    return least;
}

twi_exit twi_engine_open(const twi_args *args, tw_op op, int threads, int sharers, tw_progress progress, void *user,
                         twi_engine *engine)
{
    uint64_t bound = 0;
    if (args->backend != TW_CPU)
        bound = (args->memory > 0 ? args->memory : half_of_free(args)) / (uint64_t)sharers;
    *engine = (twi_engine){.args = args};
    const twi_exit result = twi_open_context(args, op, threads, bound, progress, user, &engine->context);
    if (tw_context_backend(engine->context) == TW_CUDA)
        engine->device_memory = bound;
    return result;
}

void twi_engine_close(twi_engine *engine)
{
    for (int i = 0; i < TWI_ENGINE_PLANS; i++)
        tw_plan_destroy(engine->kept[i].plan);
    tw_context_destroy(engine->context);
    *engine = (twi_engine){0};
}

/* Compares what the images decide; all else is the command line's. */
static bool same_images(const tw_problem *a, const tw_problem *b)
{
    return a->op == b->op && a->in_place == b->in_place && a->type == b->type && a->out_type == b->out_type &&
           a->channels == b->channels && a->width == b->width && a->height == b->height && a->figures == b->figures;
}

tw_plan_options twi_engine_options(const twi_engine *engine)
{
    const twi_args *args = engine->args;
    const tw_plan_options options = {
        .variant = args->variant, .block_width = args->block_width, .block_height = args->block_height};
    return options;
}

static tw_status plan_for(twi_engine *engine, const tw_problem *problem, tw_plan **plan)
{
    const tw_plan_options options = twi_engine_options(engine);
    for (int i = 0; i < TWI_ENGINE_PLANS; i++) {
        *plan = engine->kept[i].plan;
        if (*plan && same_images(&engine->kept[i].problem, problem))
            return TW_OK;
    }
    tw_plan **place = &engine->kept[engine->next].plan;
    tw_plan_destroy(*place);
    *place = NULL;
    const tw_status status = tw_plan_create(engine->context, problem, &options, place);
    engine->kept[engine->next].problem = *problem;
    engine->next = (engine->next + 1) % TWI_ENGINE_PLANS;
    *plan = *place;
    return status;
}

tw_status twi_engine_prepare(twi_engine *engine, const tw_problem *problem)
{
    tw_plan *plan = NULL;
    return plan_for(engine, problem, &plan);
}

tw_status twi_engine_run(twi_engine *engine, const tw_problem *problem, const tw_image *src, const tw_image *dst,
                         int32_t times)
{
    tw_plan *plan = NULL;
    tw_status status = plan_for(engine, problem, &plan);
    for (int32_t i = 0; i < times && status == TW_OK; i++)
        status = tw_plan_run(plan, src, dst);
    return status;
}
