/* The explicit tables: variants, and back ends. Nothing registers itself. */
#include <stdio.h>
#include <string.h>

#include "core/wisdom.h"

/* The rows' code, declared by the rows themselves. */
#define ROW(op, OP, name, backend, BACKEND, types, channels, borders, smallest, largest, summary)                      \
    extern const twi_code twi_##op##_##name##_##backend;
#include "core/variants.def"
#undef ROW

#define ROW(op, OP, name, backend, BACKEND, types, channels, borders, smallest, largest, summary)                      \
    {#name,  TW_OP_##OP, TW_##BACKEND, types, channels, borders, smallest, largest, &twi_##op##_##name##_##backend,    \
     summary},
const twi_variant twi_variants[] = {
#include "core/variants.def"
};
#undef ROW

const size_t twi_variant_total = sizeof twi_variants / sizeof twi_variants[0];

extern const twi_backend twi_cpu_backend;
extern const twi_backend twi_cuda_backend;

const twi_backend *twi_find_backend(tw_backend id)
{
    return id == TW_CUDA ? &twi_cuda_backend : &twi_cpu_backend;
}

/* The refusal with its figures, valid until the thread's next call. */
static _Thread_local char reason[160];

const char *twi_refusal(const twi_variant *variant, const tw_context *context, const tw_problem *problem)
{
    const tw_window *window = &problem->window;
    if (variant->op != problem->op)
        return "it is a variant of another operation";
    if (context && context->backend->id != variant->backend) {
        (void)snprintf(reason, sizeof reason, "it runs on %s, the context on %s", tw_backend_name(variant->backend),
                       tw_backend_name(context->backend->id));
        return reason;
    }
    if (problem->memory == TW_DEVICE && variant->backend != TW_CUDA)
        return "the images live on a CUDA device";
    if (!(variant->types & TWI_BIT(problem->type))) {
        (void)snprintf(reason, sizeof reason, "it does not do type %s", tw_type_name(problem->type));
        return reason;
    }
    if (!(variant->channels & TWI_BIT(problem->channels))) {
        (void)snprintf(reason, sizeof reason, "it does not do %d channels", (int)problem->channels);
        return reason;
    }
    if (!(variant->borders & TWI_BIT(problem->border.mode))) {
        (void)snprintf(reason, sizeof reason, "it does not do border %s", tw_border_name(problem->border.mode));
        return reason;
    }
    if (window->width < variant->smallest_window || window->height < variant->smallest_window ||
        window->width > variant->largest_window || window->height > variant->largest_window) {
        (void)snprintf(reason, sizeof reason, "it does windows of %d to %d a side, this one is %dx%d",
                       (int)variant->smallest_window, (int)variant->largest_window, (int)window->width,
                       (int)window->height);
        return reason;
    }
    return variant->code->refuses ? variant->code->refuses(context, problem) : NULL;
}

const twi_variant *twi_choose(const tw_context *context, const tw_problem *problem)
{
    bool exact = false;
    const twi_variant *remembered = twi_wisdom_choice(context, problem, &exact);
    return remembered ? remembered : twi_choose_by_estimate(context, problem);
}

const twi_variant *twi_choose_by_estimate(const tw_context *context, const tw_problem *problem)
{
    const twi_variant *best = NULL;
    double lowest = 0;
    for (size_t i = 0; i < twi_variant_total; i++) {
        const twi_variant *variant = &twi_variants[i];
        if (twi_refusal(variant, context, problem))
            continue;
        const double cost = variant->code->cost(context, problem);
        if (!best || cost < lowest) {
            best = variant;
            lowest = cost;
        }
    }
    return best;
}

size_t tw_variant_count(void)
{
    return twi_variant_total;
}

bool tw_variant_get(size_t index, tw_variant_info *info)
{
    if (index >= twi_variant_total || !info)
        return false;
    const twi_variant *variant = &twi_variants[index];
    info->name = variant->name;
    info->summary = variant->summary;
    info->op = variant->op;
    info->backend = variant->backend;
    return true;
}

const char *tw_variant_refuses(size_t index, const tw_context *context, const tw_problem *problem)
{
    if (index >= twi_variant_total)
        return "there is no such variant";
    if (!problem || twi_problem_check(problem) != TW_OK)
        return "the problem is not sound";
    return twi_refusal(&twi_variants[index], context, problem);
}
