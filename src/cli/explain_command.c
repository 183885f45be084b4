/* `tilewise explain`: which variants there are, and what one of them does to memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/banks.h"
#include "cli/json.h"
#include "cli/recipe.h"

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
        (void)json_array_append_new(variants,
                                    json_pack("{s:s, s:s, s:s, s:b, s:s?, s:b}", "name", info.name, "device",
                                              tw_backend_name(info.backend), "summary", info.summary, "applies",
                                              !reason, "reason", reason, "described", (int)twi_is_explained(i)));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "schema", "tilewise.explain/1", "version", tw_version(), "problem", text,
                     "variants", variants);
}

static twi_exit list(const twi_args *args, listing *l)
{
    twi_exit code = TWI_EXIT_DONE;
    for (int i = TW_CPU; i < TW_BACKEND_COUNT; i++) {
        tw_context_options options = tw_context_defaults();
        options.backend = (tw_backend)i;
        /* a back end that does not work says so in its variants' lines */
        (void)tw_context_create(&options, &l->contexts[i]);
    }
    if (args->json)
        code = twi_print_json(json_listing(l));
    else
        print_listing(l);
    for (int i = TW_CPU; i < TW_BACKEND_COUNT; i++)
        tw_context_destroy(l->contexts[i]);
    return code;
}

/* Without an operation there is no problem that a variant could refuse: the registry alone. */
static void print_registry(void)
{
    tw_variant_info info;
    for (int op = 0; op < TW_OP_COUNT; op++) {
        printf("%s%s\n", op > 0 ? "\n" : "", tw_op_name((tw_op)op));
        for (size_t i = 0; tw_variant_get(i, &info); i++)
            if (info.op == (tw_op)op)
                printf("%-14s %-5s %s\n", info.name, tw_backend_name(info.backend), info.summary);
    }
}

static json_t *json_registry(void)
{
    tw_variant_info info;
    json_t *variants = json_array();
    for (size_t i = 0; tw_variant_get(i, &info); i++)
        (void)json_array_append_new(variants,
                                    json_pack("{s:s, s:s, s:s, s:s, s:b}", "operation", tw_op_name(info.op), "name",
                                              info.name, "device", tw_backend_name(info.backend), "summary",
                                              info.summary, "described", (int)twi_is_explained(i)));
    return json_pack("{s:s, s:s, s:n, s:o}", "schema", "tilewise.explain/1", "version", tw_version(), "problem",
                     "variants", variants);
}

static twi_exit list_registry(const twi_args *args)
{
    for (size_t i = 0; i < twi_option_count; i++) {
        const char *name = twi_options[i].name;
        if (args->given[i] && strcmp(name, "list") != 0 && strcmp(name, "json") != 0)
            return twi_complain(TWI_EXIT_USAGE, "--%s: name the operation that it is for, as in 'explain --list box'",
                                name);
    }
    if (args->json)
        return twi_print_json(json_registry());
    print_registry();
    return TWI_EXIT_DONE;
}

/* ---- explain --variant: the driver's part -------------------------------------------------------- */

/* Registers and occupancy, or why they are not known. */
typedef struct driver {
    bool answers;
    twi_occupancy occupancy;
    char reason[512];
} driver;

static driver ask_driver(const twi_explanation *e)
{
    driver d = {.answers = false};
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CUDA;
    d.answers =
        tw_context_create(&options, &context) == TW_OK && twi_explain_occupancy(context, e, &d.occupancy) == TW_OK;
    if (!d.answers)
        (void)snprintf(d.reason, sizeof d.reason, "%s", tw_error_message());
    tw_context_destroy(context);
    return d;
}

static int threads_of(const twi_explanation *e)
{
    return e->kernel.block_width * e->kernel.block_height;
}

static double share_of(const driver *d, const twi_explanation *e)
{
    return (double)d->occupancy.blocks * threads_of(e) / d->occupancy.threads;
}

/* ---- As text ------------------------------------------------------------------------------------- */

static const char *const space_names[TWI_SPACE_COUNT] = {
    [TWI_SPACE_GLOBAL] = "global",
    [TWI_SPACE_TEXTURE] = "texture",
    [TWI_SPACE_SHARED] = "shared",
    [TWI_SPACE_CONSTANT] = "constant",
};

/* The pixels that addresses depend on, NULL if they do not. */
static const char *pixels_of(const twi_explanation *e)
{
    if (!e->kernel.by_pixels)
        return NULL;
    return e->kernel.flat ? "flat" : "different";
}

/* Sectors of memory, cycles of shared and constant memory. */
static int64_t units_of(const twi_explained *access, const twi_counts *counts)
{
    return access->space == TWI_SPACE_SHARED || access->space == TWI_SPACE_CONSTANT ? counts->wavefronts
                                                                                    : counts->sectors;
}

/* "2 to 3 sectors", "up to 32-way", "1 cycle": what a request of the block is answered with. */
static void describe_request(const twi_explained *access, char *text, size_t size)
{
    const char *unit = access->space == TWI_SPACE_CONSTANT ? "cycle" : "sector";
    if (access->block.requests == 0)
        (void)snprintf(text, size, "none");
    else if (access->space == TWI_SPACE_SHARED && access->least < access->most)
        (void)snprintf(text, size, "up to %d-way", access->most);
    else if (access->space == TWI_SPACE_SHARED)
        twi_banks_words(access->most, text, size);
    else if (access->least == access->most)
        (void)snprintf(text, size, "%d %s%s", access->most, unit, access->most == 1 ? "" : "s");
    else
        (void)snprintf(text, size, "%d to %d %ss", access->least, access->most, unit);
}

static void print_accesses(const twi_explanation *e)
{
    printf("%-9s%-6s %-18s %5s | %9s %9s  %-17s | %13s %13s\n", "memory", "", "what", "bytes", "requests", "elements",
           "each answered by", "requests", "in all");
    for (size_t i = 0; i < e->count; i++) {
        const twi_explained *access = &e->accesses[i];
        const bool cycles = access->space == TWI_SPACE_SHARED || access->space == TWI_SPACE_CONSTANT;
        char answer[40];
        describe_request(access, answer, sizeof answer);
        printf("%-9s%-6s %-18s %5d | %9" PRId64 " %9" PRId64 "  %-17s | %13" PRId64 " %13" PRId64 " %s\n",
               space_names[access->space], twi_direction(access), access->what, (int)access->bytes,
               access->block.requests, access->block.elements, answer, access->image.requests,
               units_of(access, &access->image), cycles ? "cycles" : "sectors");
    }
}

/* Loads, stores or additions of global memory, all accesses together. */
static twi_counts global_counts(const twi_explanation *e, const char *direction, bool image)
{
    twi_counts sum = {0};
    for (size_t i = 0; i < e->count; i++) {
        const twi_explained *access = &e->accesses[i];
        const twi_counts *counts = image ? &access->image : &access->block;
        if (access->space != TWI_SPACE_GLOBAL || strcmp(twi_direction(access), direction) != 0)
            continue;
        sum.requests += counts->requests;
        sum.elements += counts->elements;
        sum.sectors += counts->sectors;
    }
    return sum;
}

static void print_global(const twi_explanation *e)
{
    static const char *const directions[] = {"load", "store", "add"};
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
        const twi_counts block = global_counts(e, directions[i], false);
        const twi_counts image = global_counts(e, directions[i], true);
        if (image.requests == 0 && i == 2) /* few variants add */
            continue;
        printf("global %ss%*s a block: requests %" PRId64 ", elements %" PRId64 "; the image: requests %" PRId64,
               directions[i], 6 - (int)strlen(directions[i]), "", block.requests, block.elements, image.requests);
        if (image.requests > 0)
            printf(", sectors of 32 bytes a request %.2f", (double)image.sectors / (double)image.requests);
        putchar('\n');
    }
}

static int bank_of(const twi_banks *banks, int lane)
{
    return (int)(banks->address[lane] / TWI_WORD % TWI_BANKS);
}

/* The banks of the first word of each lane, '-' for a lane that takes no part. */
static void print_banks(const twi_explanation *e)
{
    for (size_t i = 0; i < e->count; i++) {
        const twi_explained *access = &e->accesses[i];
        char conflict[40];
        if (access->space != TWI_SPACE_SHARED || access->block.requests == 0)
            continue;
        twi_banks_words(access->worst.degree, conflict, sizeof conflict);
        printf("\nshared %s, %s: %s; banks of lanes 0 to 31%s\n ", twi_direction(access), access->what, conflict,
               access->worst.degree > 1 ? " in a request with the most conflicts" : "");
        for (int lane = 0; lane < TWI_WARP; lane++) {
            if (access->worst.address[lane] < 0)
                printf("  -");
            else
                printf(" %2d", bank_of(&access->worst, lane));
        }
        putchar('\n');
    }
}

static void print_driver(const twi_explanation *e, const driver *d)
{
    if (!d->answers) {
        printf("registers and occupancy: not known here: %s\n", d->reason);
        return;
    }
    printf("registers      %d a thread", d->occupancy.registers);
    if (d->occupancy.local > 0)
        printf(", and %d bytes of local memory", d->occupancy.local);
    printf("\noccupancy      %.0f %%: %d blocks a multiprocessor, %d of %d threads\n", 100 * share_of(d, e),
           d->occupancy.blocks, d->occupancy.blocks * threads_of(e), d->occupancy.threads);
}

static void print_text(const tw_variant_info *info, const twi_explanation *e)
{
    const twi_kernel *kernel = &e->kernel;
    const driver d = ask_driver(e);
    char text[320];
    (void)tw_problem_text(kernel->problem, text, sizeof text);
    printf("%s\n%s: %s\n", text, info->name, info->summary);
    printf("blocks of %dx%d threads for %dx%d outputs; %" PRId64 "x%" PRId64 " blocks\n", (int)kernel->block_width,
           (int)kernel->block_height, (int)kernel->outputs_width, (int)kernel->outputs_height, e->blocks_x,
           e->blocks_y);
    if (kernel->part)
        printf("of several kernels, %s\n", kernel->part);
    if (kernel->by_pixels)
        printf(kernel->flat ? "pixels all of one value\n"
                            : "pixels such that 32 neighbours have 32 values (--flat: all one)\n");
    printf("\n%-40s | %-38s | the image\n", "", "a block in the middle");
    print_accesses(e);
    putchar('\n');
    print_global(e);
    printf("barriers       %d\nshared memory  %zu bytes a block\n", (int)kernel->barriers, kernel->shared);
    print_driver(e, &d);
    print_banks(e);
}

/* ---- As JSON ------------------------------------------------------------------------------------- */

static json_t *json_counts(const twi_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "requests", (json_int_t)counts->requests, "elements",
                     (json_int_t)counts->elements, "sectors", (json_int_t)counts->sectors, "cycles",
                     (json_int_t)counts->wavefronts, "conflicts", (json_int_t)counts->conflicts);
}

static json_t *json_banks(const twi_explained *access)
{
    json_t *lanes = json_array();
    if (access->space != TWI_SPACE_SHARED) {
        json_decref(lanes);
        return json_null();
    }
    for (int lane = 0; lane < TWI_WARP; lane++)
        (void)json_array_append_new(
            lanes, access->worst.address[lane] < 0 ? json_null() : json_integer(bank_of(&access->worst, lane)));
    return json_pack("{s:i, s:o}", "degree", access->worst.degree, "lanes", lanes);
}

static json_t *json_access(const twi_explained *access)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:{s:i, s:i}, s:o}", "what", access->what, "memory",
                     space_names[access->space], "direction", twi_direction(access), "bytes", (int)access->bytes,
                     "block", json_counts(&access->block), "image", json_counts(&access->image), "request", "least",
                     access->least, "most", access->most, "banks", json_banks(access));
}

static json_t *json_driver(const twi_explanation *e, const driver *d)
{
    if (!d->answers)
        return json_pack("{s:s}", "reason", d->reason);
    return json_pack("{s:i, s:i, s:i, s:i, s:f}", "registers", d->occupancy.registers, "local_bytes",
                     d->occupancy.local, "blocks", d->occupancy.blocks, "threads", d->occupancy.blocks * threads_of(e),
                     "share", share_of(d, e));
}

static json_t *json_global(const twi_explanation *e, const char *direction)
{
    const twi_counts block = global_counts(e, direction, false);
    const twi_counts image = global_counts(e, direction, true);
    return json_pack("{s:o, s:o}", "block", json_counts(&block), "image", json_counts(&image));
}

static json_t *json_explanation(const tw_variant_info *info, const twi_explanation *e)
{
    const twi_kernel *kernel = &e->kernel;
    const driver d = ask_driver(e);
    char text[320];
    json_t *accesses = json_array();
    (void)tw_problem_text(kernel->problem, text, sizeof text);
    for (size_t i = 0; i < e->count; i++)
        (void)json_array_append_new(accesses, json_access(&e->accesses[i]));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:i, s:i}, s:{s:i, s:i}, s:{s:I, s:I}, s:s?, s:s?, s:o, s:o, s:o, s:o, s:i, s:I, "
        "s:o}",
        "schema", "tilewise.explain.variant/1", "version", tw_version(), "problem", text, "variant", info->name,
        "block", "width", (int)kernel->block_width, "height", (int)kernel->block_height, "outputs", "width",
        (int)kernel->outputs_width, "height", (int)kernel->outputs_height, "blocks", "x", (json_int_t)e->blocks_x, "y",
        (json_int_t)e->blocks_y, "kernel", kernel->part, "pixels", pixels_of(e), "global_loads", json_global(e, "load"),
        "global_stores", json_global(e, "store"), "global_adds", json_global(e, "add"), "accesses", accesses,
        "barriers", (int)kernel->barriers, "shared_bytes", (json_int_t)kernel->shared, "occupancy", json_driver(e, &d));
}

/* ---- The map ------------------------------------------------------------------------------------- */

static twi_exit put_map(const void *explanation, FILE *page)
{
    twi_banks_draw(explanation, page);
    return TWI_EXIT_DONE;
}

static twi_exit write_map(const char *path, const tw_variant_info *info, const twi_explanation *e)
{
    if (!twi_banks_any(e))
        return twi_complain(TWI_EXIT_USAGE, "--svg %s: variant %s uses no shared memory, whose banks could be drawn",
                            path, info->name);
    return twi_write_page(path, put_map, e);
}

/* ---- The command --------------------------------------------------------------------------------- */

/* "direct, tiled": those that are described. */
static void list_described(tw_op op, char *text, size_t size)
{
    tw_variant_info info;
    text[0] = '\0';
    for (size_t i = 0; tw_variant_get(i, &info); i++) {
        const size_t used = strlen(text);
        if (info.op == op && twi_is_explained(i))
            (void)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", info.name);
    }
}

static twi_exit explain(const twi_args *args, tw_problem *problem)
{
    const bool only_map = args->svg && strcmp(args->svg, "-") == 0;
    tw_backend backend = TW_AUTO;
    size_t index = 0;
    tw_variant_info info;
    twi_explanation e;
    twi_exit code = twi_check_variants(args->variant, problem->op, &backend);
    if (code != TWI_EXIT_DONE)
        return code;
    if (!twi_find_explained(problem->op, args->variant, &index)) {
        char described[256];
        list_described(problem->op, described, sizeof described);
        return twi_complain(TWI_EXIT_USAGE, "--variant %s: what it does to memory is not described%s%s", args->variant,
                            described[0] ? ": use one of " : ", nor are this operation's others", described);
    }
    (void)tw_variant_get(index, &info);
    problem->memory = TW_DEVICE; /* where kernels find their images */
    const tw_status status = twi_explain(index, problem, args->block_width, args->block_height, args->flat, &e);
    if (status != TW_OK)
        return twi_complain_status(status);
    if (args->block_width > 0 &&
        (e.kernel.block_width != args->block_width || e.kernel.block_height != args->block_height))
        return twi_complain(TWI_EXIT_USAGE, "--block %dx%d: blocks of variant %s have %dx%d threads, no others",
                            (int)args->block_width, (int)args->block_height, info.name, (int)e.kernel.block_width,
                            (int)e.kernel.block_height);
    if (args->svg)
        code = write_map(args->svg, &info, &e);
    if (code != TWI_EXIT_DONE || only_map)
        return code;
    if (args->json)
        return twi_print_json(json_explanation(&info, &e));
    print_text(&info, &e);
    return TWI_EXIT_DONE;
}

twi_exit twi_command_explain(const twi_args *args)
{
    twi_recipe recipe;
    listing l = {0};
    if (!args->operands[0])
        return args->list ? list_registry(args)
                          : twi_complain(TWI_EXIT_USAGE,
                                         "explain takes OP: none was given; --list prints the variants of all");
    if (!args->list == !args->variant)
        return twi_complain(TWI_EXIT_USAGE,
                            "explain %s: give either --list, which prints its variants, or --variant NAME, one of "
                            "them; see 'tilewise help explain'",
                            args->operands[0]);
    if (args->list && (args->svg || args->flat || args->block_width > 0))
        return twi_complain(TWI_EXIT_USAGE, "--list: --svg, --flat and --block are for --variant");
    if (args->json && args->svg && strcmp(args->svg, "-") == 0)
        return twi_complain(TWI_EXIT_USAGE, "--svg -: leave --json out, or name a file");
    twi_exit code = twi_describe_problem(args, &recipe, &l.problem);
    if (code == TWI_EXIT_DONE)
        code = args->list ? list(args, &l) : explain(args, &l.problem);
    twi_recipe_free(&recipe);
    return code;
}
