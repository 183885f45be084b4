/* What commands share, and `tilewise help`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/memory.h"
#include "cli/recipe.h"
#include "cli/wisdom.h"

/* ---- Devices and names --------------------------------------------------------------------------- */

/* The index-th variant of the operation *data. */
static const char *variant_name(size_t index, const void *data)
{
    tw_variant_info info;
    for (size_t i = 0; tw_variant_get(i, &info); i++)
        if (info.op == *(const tw_op *)data && index-- == 0)
            return info.name;
    return NULL;
}

/* The back ends that have the variant, as bits; 0 if none. */
static unsigned backends_of(tw_op op, const char *name)
{
    tw_variant_info info;
    unsigned backends = 0;
    for (size_t i = 0; tw_variant_get(i, &info); i++)
        if (info.op == op && strcmp(info.name, name) == 0)
            backends |= 1u << info.backend;
    return backends;
}

twi_exit twi_check_variants(const char *variants, tw_op op, tw_backend *backend)
{
    unsigned common = ~0u;
    while (*variants) {
        char name[64];
        const size_t length = strcspn(variants, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, variants);
        const unsigned backends = backends_of(op, name);
        if (!backends) {
            const char *near = twi_near(name, variant_name, &op);
            if (near)
                return twi_complain(TWI_EXIT_USAGE, "--variant '%s': did you mean %s?", name, near);
            return twi_complain(TWI_EXIT_USAGE,
                                "--variant '%s': this build%s has none: see 'tilewise explain --list %s'", name,
                                TW_WITH_CUDA ? "" : ", without CUDA,", tw_op_name(op));
        }
        if (*backend != TW_AUTO && !(backends & (1u << *backend)))
            return twi_complain(TWI_EXIT_USAGE, "--variant %s is not for --device %s: use --device %s", name,
                                tw_backend_name(*backend), tw_backend_name(*backend == TW_CPU ? TW_CUDA : TW_CPU));
        common &= backends;
        variants += length;
        variants += *variants == ',';
    }
    if (!common)
        return twi_complain(TWI_EXIT_USAGE, "--variant: some of these are for cpu alone and some for cuda alone: "
                                            "name those of one device");
    if (*backend == TW_AUTO && common != (1u << TW_CPU | 1u << TW_CUDA))
        *backend = common & (1u << TW_CPU) ? TW_CPU : TW_CUDA;
    return TWI_EXIT_DONE;
}

twi_exit twi_require_device(const twi_args *args)
{
    if (args->backend != TW_CUDA || tw_cuda_reason()[0] == '\0')
        return TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_DEVICE, "--device cuda: %s", tw_cuda_reason());
}

int twi_devices(const twi_args *args, int numbers[])
{
    int count = args->device_count;
    if (count < 0 && tw_device_count(TW_CUDA, &count) != TW_OK)
        count = 0;
    count = count < TWI_DEVICES ? count : TWI_DEVICES;
    for (int i = 0; i < count; i++)
        numbers[i] = args->device_count < 0 ? i : args->devices[i];
    return count;
}

twi_exit twi_open_context(const twi_args *args, tw_op op, int threads, uint64_t device_memory, tw_progress progress,
                          void *user, tw_context **context)
{
    tw_context_options options = tw_context_defaults();
    int numbers[TWI_DEVICES];
    options.backend = args->backend;
    options.device = args->device;
    options.devices = numbers;
    options.device_count = twi_devices(args, numbers);
    options.threads = threads;
    options.device_memory = device_memory;
    options.progress = progress;
    options.progress_user = user;
    twi_exit result = twi_require_device(args);
    if (result == TWI_EXIT_DONE && args->variant)
        result = twi_check_variants(args->variant, op, &options.backend);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_status status = tw_context_create(&options, context);
    if (status != TW_OK)
        return twi_complain_status(status);
    if (args->command->kind == TWI_OPERAND_FILE && !args->variant)
        twi_wisdom_load(args, *context);
    return TWI_EXIT_DONE;
}

/* ---- Inputs ---------------------------------------------------------------------------------------- */

twi_exit twi_read_input(const twi_args *args, const char *path, int sharers, twi_io_image *input, tw_image *src)
{
    const twi_io_status status = twi_io_read(path, args->page, twi_memory_limit(args) / 2 / (uint64_t)sharers, input);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    *src = input->image;
    if (args->view_width == 0)
        return TWI_EXIT_DONE;
    const tw_status seen =
        tw_image_view(&input->image, args->view_x, args->view_y, args->view_width, args->view_height, src);
    return seen == TW_OK ? TWI_EXIT_DONE : twi_complain_status(seen);
}

/* ---- Problems without an image ------------------------------------------------------------------- */

/* Options that describe some filter, but not this one. */
static twi_exit check_options(const twi_args *args, twi_command_id filter)
{
    uint64_t filters = 0;
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        filters |= (uint64_t)(twi_commands[i].kind == TWI_OPERAND_FILE) << i;
    for (size_t i = 0; i < twi_option_count; i++) {
        const twi_option *option = &twi_options[i];
        if (args->given[i] && (option->commands & filters) && !twi_option_applies(option, filter))
            return twi_complain(TWI_EXIT_USAGE, "--%s is no option of %s: leave it out", option->name,
                                twi_commands[filter].name);
    }
    return TWI_EXIT_DONE;
}

enum { LARGEST = 8 /* bytes of the largest element: the alignment that suits all */ };

static tw_image described(const twi_args *args, int64_t address, int64_t width, int64_t height, tw_type type)
{
    const int64_t pitch = width * args->channels * (int64_t)tw_type_size(type);
    const tw_image image = {(void *)(uintptr_t)address, width, height, pitch, args->channels, type, TW_HOST};
    return image;
}

twi_exit twi_describe_problem(const twi_args *args, twi_recipe *recipe, tw_problem *problem)
{
    const tw_type type = args->type == TW_ELEMENT_COUNT ? TW_U8 : args->type;
    twi_command_id filter;
    tw_op op;
    *recipe = (twi_recipe){0};
    if (!twi_find_filter(args->operands[0], &filter, &op))
        return TWI_EXIT_USAGE;
    twi_exit result = check_options(args, filter);
    if (result == TWI_EXIT_DONE)
        result = twi_recipe_take(args, filter, true, recipe);
    if (result != TWI_EXIT_DONE)
        return result;
    recipe->op = op;
    /* descriptors that lie nowhere, apart from each other: only they are read, no pixel (at most 3.2e10 bytes a row) */
    const int64_t pitch = args->image_width * args->channels * (int64_t)tw_type_size(type);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(pitch, args->image_height, &bytes) || bytes > INT64_MAX / 4)
        return twi_complain(TWI_EXIT_MEMORY, "--size %" PRId64 "x%" PRId64 ": such an image fits no memory",
                            args->image_width, args->image_height);
    const tw_image src = described(args, LARGEST, args->image_width, args->image_height, type);
    result = twi_recipe_fit(args, filter, &src, args->to, recipe);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_image dst = described(args, bytes / LARGEST * LARGEST + 2 * (int64_t)LARGEST, recipe->out_width,
                                   recipe->out_height, recipe->out_type);
    const tw_status status = twi_recipe_problem(args, recipe, &src, &dst, problem);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

/* ---- help ---------------------------------------------------------------------------------------- */

twi_exit twi_command_help(const twi_args *args)
{
    const char *topic = args->operands[0];
    if (args->man)
        twi_print_man();
    else if (args->completion)
        twi_print_completion(args->completion);
    else if (!topic)
        twi_print_overview();
    else {
        const twi_command *command = twi_find_command(topic);
        if (!command) {
            const char *meant = twi_command_meant(topic);
            return twi_complain(TWI_EXIT_USAGE,
                                meant ? "no command '%s' to help with: did you mean '%s'?"
                                      : "no command '%s' to help with: see '%s'",
                                topic, meant ? meant : "tilewise help");
        }
        twi_print_help(command);
    }
    return TWI_EXIT_DONE;
}

twi_exit twi_write_page(const char *path, twi_exit (*put)(const void *subject, FILE *page), const void *subject)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    if (!page)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %s", path);
    twi_exit code = put(subject, page);
    const bool whole = ferror(page) == 0;
    if ((fclose(page) != 0 || !whole) && code == TWI_EXIT_DONE)
        code = twi_complain(TWI_EXIT_MEMORY, "out of memory: %s", path);
    if (code == TWI_EXIT_DONE) {
        const twi_io_status status = twi_io_write_bytes(path, text, size);
        code = status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
    }
    free(text);
    return code;
}
