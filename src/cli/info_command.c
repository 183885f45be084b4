/* `tilewise info` and `tilewise explain`: what there is on this machine, and why not more. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/recipe.h"

/* ---- info ---------------------------------------------------------------------------------------- */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const char *const formats[] = {"png", "jpeg", "tiff", "pnm", "pfm", "npy"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* The index-th device of a back end; false if there is none. */
static bool device_at(tw_backend backend, int index, tw_device_info *info)
{
    int count = 0;
    return tw_device_count(backend, &count) == TW_OK && index < count &&
           tw_device_describe(backend, index, info) == TW_OK;
}

static void print_info(void)
{
    tw_device_info info;
    printf("tilewise %s\nbuild    %s CUDA, with OpenMP, %s\n", tw_version(), TW_WITH_CUDA ? "with" : "without",
           COMPILER);
    if (device_at(TW_CPU, 0, &info))
        printf("cpu      %s, %s\n", info.name, info.detail);
    for (int i = 0; device_at(TW_CUDA, i, &info); i++)
        printf("cuda:%-3d %s, %s\n", i, info.name, info.detail);
    if (tw_cuda_reason()[0] != '\0')
        printf("cuda     none: %s\n", tw_cuda_reason());
    fputs("formats ", stdout);
    for (size_t i = 0; i < FORMATS; i++)
        printf(" %s", formats[i]);
    putchar('\n');
}

static json_t *json_devices(tw_backend backend)
{
    json_t *devices = json_array();
    tw_device_info info;
    for (int i = 0; device_at(backend, i, &info); i++)
        (void)json_array_append_new(devices, json_pack("{s:s, s:s}", "name", info.name, "detail", info.detail));
    return devices;
}

static json_t *json_info(void)
{
    json_t *names = json_array();
    for (size_t i = 0; i < FORMATS; i++)
        (void)json_array_append_new(names, json_string(formats[i]));
    return json_pack("{s:s, s:s, s:{s:b, s:b, s:s}, s:o, s:o, s:s, s:o}", "schema", "tilewise.info/1", "version",
                     tw_version(), "build", "cuda", TW_WITH_CUDA, "openmp", 1, "compiler", COMPILER, "cpu",
                     json_devices(TW_CPU), "cuda", json_devices(TW_CUDA), "cuda_reason", tw_cuda_reason(), "formats",
                     names);
}

twi_exit twi_command_info(const twi_args *args)
{
    if (args->json)
        return twi_print_json(json_info());
    print_info();
    return TWI_EXIT_DONE;
}

/* ---- explain --list ------------------------------------------------------------------------------ */

/* What asks for each variant: a context of its back end, if there is one. */
typedef struct listing {
    tw_problem problem;
    tw_context *contexts[TW_BACKEND_COUNT];
} listing;

static const char *refusal(const listing *l, size_t index, tw_backend backend)
{
    tw_problem problem = l->problem;
    problem.memory = backend == TW_CUDA ? TW_DEVICE : TW_HOST;
    const char *reason = tw_variant_refuses(index, l->contexts[backend], &problem);
    return !reason && !l->contexts[backend] ? tw_cuda_reason() : reason;
}

static void print_listing(const listing *l)
{
    tw_variant_info info;
    char text[320];
    (void)tw_problem_text(&l->problem, text, sizeof text);
    printf("%s\n", text);
    for (size_t i = 0; tw_variant_get(i, &info); i++) {
        if (info.op != l->problem.op)
            continue;
        const char *reason = refusal(l, i, info.backend);
        printf("%-14s %-5s %s%s%s\n", info.name, tw_backend_name(info.backend), info.summary,
               reason ? "; does not apply: " : "", reason ? reason : "");
    }
}

static json_t *json_listing(const listing *l)
{
    tw_variant_info info;
    char text[320];
    json_t *variants = json_array();
    (void)tw_problem_text(&l->problem, text, sizeof text);
    for (size_t i = 0; tw_variant_get(i, &info); i++) {
        if (info.op != l->problem.op)
            continue;
        const char *reason = refusal(l, i, info.backend);
        (void)json_array_append_new(variants, json_pack("{s:s, s:s, s:s, s:b, s:s?}", "name", info.name, "device",
                                                        tw_backend_name(info.backend), "summary", info.summary,
                                                        "applies", !reason, "reason", reason));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "schema", "tilewise.explain/1", "version", tw_version(), "problem", text,
                     "variants", variants);
}

static twi_exit explain(const twi_args *args, twi_recipe *recipe)
{
    listing l = {0};
    twi_exit code = twi_describe_problem(args, recipe, &l.problem);
    if (code != TWI_EXIT_DONE)
        return code;
    for (int i = TW_CPU; i < TW_BACKEND_COUNT; i++) {
        tw_context_options options = tw_context_defaults();
        options.backend = (tw_backend)i;
        /* a back end that does not work says so in its variants' lines */
        (void)tw_context_create(&options, &l.contexts[i]);
    }
    if (args->json)
        code = twi_print_json(json_listing(&l));
    else
        print_listing(&l);
    for (int i = TW_CPU; i < TW_BACKEND_COUNT; i++)
        tw_context_destroy(l.contexts[i]);
    return code;
}

twi_exit twi_command_explain(const twi_args *args)
{
    twi_recipe recipe;
    if (!args->list)
        return twi_complain(TWI_EXIT_USAGE,
                            "explain %s: give --list, which prints its variants; see 'tilewise help explain'",
                            args->operands[0]);
    const twi_exit code = explain(args, &recipe);
    twi_recipe_free(&recipe);
    return code;
}
