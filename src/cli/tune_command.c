/* `tilewise tune`: measures, prints what was measured, and keeps the choice. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/recipe.h"
#include "cli/wisdom.h"

enum { MOST_TIMINGS = 32 };

typedef struct tuning {
    tw_problem problem;
    tw_device_info device;
    char path[TWI_MOST_PATH];
    tw_timing timings[MOST_TIMINGS]; /* the fastest first */
    size_t count;
} tuning;

static void print_text(const tuning *t)
{
    char text[320];
    size_t chosen = 0;
    (void)tw_problem_text(&t->problem, text, sizeof text);
    printf("%s\n%s, %s\n\n%-14s  %9s %9s %9s\n", text, t->device.name, t->device.detail, "variant", "ms", "least",
           "most");
    for (size_t i = 0; i < t->count; i++) {
        const tw_timing *row = &t->timings[i];
        printf("%-14s  %9.5g %9.5g %9.5g\n", row->variant, row->median, row->least, row->most);
        chosen = row->chosen ? i : chosen;
    }
    if (chosen == 0)
        printf("\nChosen: %s.\n", t->timings[0].variant);
    else
        printf("\nChosen: %s, the estimate's choice: %s is not clearly faster.\n", t->timings[chosen].variant,
               t->timings[0].variant);
    printf("Kept in %s.\n", t->path);
}

static json_t *json_tuning(const tuning *t)
{
    char text[320];
    json_t *variants = json_array();
    (void)tw_problem_text(&t->problem, text, sizeof text);
    for (size_t i = 0; i < t->count; i++) {
        const tw_timing *row = &t->timings[i];
        (void)json_array_append_new(variants, json_pack("{s:s, s:{s:f, s:f, s:f}, s:b}", "name", row->variant, "ms",
                                                        "median", row->median, "min", row->least, "max", row->most,
                                                        "chosen", (int)row->chosen));
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s}, s:o, s:s}", "schema", "tilewise.tune/1", "version", tw_version(),
                     "problem", text, "device", "name", t->device.name, "detail", t->device.detail, "variants",
                     variants, "file", t->path);
}

static twi_exit tune(const twi_args *args, tw_context *context, tuning *t)
{
    tw_status status = tw_device_describe(tw_context_backend(context), args->device, &t->device);
    if (status == TW_OK)
        status = tw_tune(context, &t->problem, t->timings, MOST_TIMINGS, &t->count);
    if (status != TW_OK)
        return twi_complain_status(status);
    t->count = t->count < MOST_TIMINGS ? t->count : MOST_TIMINGS;
    const twi_exit code = twi_wisdom_save(args, t->path, context);
    if (code == TWI_EXIT_DONE && args->json)
        return twi_print_json(json_tuning(t));
    if (code == TWI_EXIT_DONE)
        print_text(t);
    return code;
}

twi_exit twi_command_tune(const twi_args *args)
{
    tw_context *context = NULL;
    tuning t = {0};
    twi_recipe recipe;
    twi_exit code = twi_describe_problem(args, &recipe, &t.problem);
    if (code == TWI_EXIT_DONE && !twi_wisdom_path(t.path))
        code = twi_complain(TWI_EXIT_OUTPUT, "there is no place for a wisdom file: name one with TILEWISE_WISDOM");
    if (code == TWI_EXIT_DONE)
        code = twi_open_context(args, t.problem.op, args->threads, 0, NULL, NULL, &context);
    if (code == TWI_EXIT_DONE)
        code = tune(args, context, &t);
    tw_context_destroy(context);
    twi_recipe_free(&recipe);
    return code;
}
