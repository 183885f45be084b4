/* The commands on images, and those that print what this program and this machine are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/help.h"
#include "cli/progress.h"

/* ---- Devices and names --------------------------------------------------------------------------- */

static const char *op_name(size_t index, const void *data)
{
    (void)data;
    return index < TW_OP_COUNT ? tw_op_name((tw_op)index) : NULL;
}

bool twi_find_op(const char *name, tw_op *op)
{
    for (int i = 0; i < TW_OP_COUNT; i++) {
        if (strcmp(tw_op_name((tw_op)i), name) == 0) {
            *op = (tw_op)i;
            return true;
        }
    }
    const char *near = twi_near(name, op_name, NULL);
    (void)twi_complain(TWI_EXIT_USAGE,
                       near ? "unknown operation '%s': did you mean '%s'?" : "unknown operation '%s': see %s", name,
                       near ? near : "'tilewise help'");
    return false;
}

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

/* Checks the names in `variants` and narrows *backend, if it is auto, to the one that has them all. */
static twi_exit check_variants(const char *variants, tw_op op, tw_backend *backend)
{
    unsigned common = ~0u;
    while (*variants) {
        char name[64];
        const size_t length = strcspn(variants, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, variants);
        const unsigned backends = backends_of(op, name);
        if (!backends) {
            const char *near = twi_near(name, variant_name, &op);
            return twi_complain(TWI_EXIT_USAGE,
                                near ? "--variant '%s': did you mean %s?"
                                     : "--variant '%s': this build has none: see 'tilewise explain --list %s'",
                                name, near ? near : tw_op_name(op));
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

twi_exit twi_open_context(const twi_args *args, tw_op op, tw_progress progress, void *user, tw_context **context)
{
    tw_context_options options = tw_context_defaults();
    options.backend = args->backend;
    options.device = args->device;
    options.threads = args->threads;
    options.progress = progress;
    options.progress_user = user;
    twi_exit result = twi_require_device(args);
    if (result == TWI_EXIT_DONE && args->variant)
        result = check_variants(args->variant, op, &options.backend);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_status status = tw_context_create(&options, context);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

/* ---- Filters ------------------------------------------------------------------------------------- */

/* Writes the problem that the options and the images pose. */
typedef tw_status (*problem_maker)(const twi_args *args, const tw_image *src, const tw_image *dst, tw_problem *problem);

/* What a filter holds while it works. */
typedef struct filter {
    const twi_args *args;
    const char *format; /* the input's: that of stdout */
    twi_io_image input;
    twi_io_image output;
    tw_context *context;
    tw_plan *plan;
} filter;

/* Reading is refused past what the machine's memory holds. */
static uint64_t memory_bound(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static twi_exit read_input(filter *f)
{
    const twi_args *args = f->args;
    const tw_image *image = &f->input.image;
    twi_io_status status = twi_io_read(args->operands[0], args->page, memory_bound(), &f->input);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    f->format = twi_io_format(&f->input);
    if (args->type != TW_TYPE_COUNT && args->type != image->type)
        return twi_complain(TWI_EXIT_USAGE, "--dtype %s: %s keeps the input's type, which is %s: leave --dtype out",
                            tw_type_name(args->type), args->command->name, tw_type_name(image->type));
    status = twi_io_can_write(args->operands[1], f->format, image->type, image->channels);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

static twi_exit solve(filter *f, const tw_image *src, tw_op op, problem_maker make)
{
    const twi_args *args = f->args;
    const tw_plan_options options = {args->variant, args->block_width, args->block_height};
    tw_problem problem;
    twi_progress progress;
    const bool shown = twi_progress_start(args, &progress);
    tw_status status = make(args, src, &f->output.image, &problem);
    if (status != TW_OK)
        return twi_complain_status(status);
    const twi_exit opened = twi_open_context(args, op, shown ? twi_progress_report : NULL, &progress, &f->context);
    if (opened != TWI_EXIT_DONE)
        return opened;
    status = tw_plan_create(f->context, &problem, &options, &f->plan);
    if (status == TW_OK)
        status = tw_plan_run(f->plan, src, &f->output.image);
    twi_progress_end();
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static twi_exit write_output(filter *f)
{
    const char *lost = "";
    f->output.metadata = f->input.metadata;
    f->input.metadata = NULL;
    twi_io_crop(&f->output, f->args->view_x, f->args->view_y);
    const twi_io_status status = twi_io_write(f->args->operands[1], f->format, &f->output, &lost);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    if (lost[0] != '\0' && !f->args->quiet)
        (void)twi_complain(TWI_EXIT_DONE, "warning: %s", lost);
    return TWI_EXIT_DONE;
}

static twi_exit filter_image(filter *f, tw_op op, problem_maker make)
{
    const twi_args *args = f->args;
    tw_image src;
    if (strcmp(args->operands[1], "-") == 0 && isatty(STDOUT_FILENO) == 1)
        return twi_complain(TWI_EXIT_USAGE, "output '-' is a terminal: redirect stdout, or name a file");
    twi_exit result = read_input(f);
    if (result != TWI_EXIT_DONE)
        return result;
    src = f->input.image;
    if (args->view_width > 0) {
        const tw_status status =
            tw_image_view(&f->input.image, args->view_x, args->view_y, args->view_width, args->view_height, &src);
        if (status != TW_OK)
            return twi_complain_status(status);
    }
    const twi_io_status status = twi_io_create(src.width, src.height, src.channels, src.type, &f->output);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    result = solve(f, &src, op, make);
    return result == TWI_EXIT_DONE ? write_output(f) : result;
}

/* Reads, filters and writes an image. */
static twi_exit run_filter(const twi_args *args, tw_op op, problem_maker make)
{
    filter f = {.args = args};
    const twi_exit result = filter_image(&f, op, make);
    tw_plan_destroy(f.plan);
    tw_context_destroy(f.context);
    twi_io_free(&f.output);
    twi_io_free(&f.input);
    return result;
}

static tw_status box_problem(const twi_args *args, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const tw_box_params params = {args->window, args->border, args->rounding};
    return tw_box_problem(src, dst, &params, problem);
}

twi_exit twi_command_box(const twi_args *args)
{
    return run_filter(args, TW_OP_BOX, box_problem);
}

/* ---- Problems without an image ------------------------------------------------------------------- */

twi_exit twi_describe_problem(const twi_args *args, tw_problem *problem)
{
    static const problem_maker makers[TW_OP_COUNT] = {
        [TW_OP_BOX] = box_problem,
    };
    const tw_type type = args->type == TW_TYPE_COUNT ? TW_U8 : args->type;
    const int64_t size = (int64_t)tw_type_size(type);
    tw_op op;
    if (!twi_find_op(args->operands[0], &op))
        return TWI_EXIT_USAGE;
    if (!makers[op])
        return twi_complain(TWI_EXIT_USAGE, "%s %s: the options describe problems of box alone", args->command->name,
                            tw_op_name(op));
    /* descriptors that lie nowhere, apart from each other: only they are read, no pixel (at most 3.2e10 bytes a row) */
    const int64_t pitch = args->image_width * args->channels * size;
    int64_t bytes = 0;
    if (__builtin_mul_overflow(pitch, args->image_height, &bytes) || bytes > INT64_MAX / 4)
        return twi_complain(TWI_EXIT_MEMORY, "--size %" PRId64 "x%" PRId64 ": such an image fits no memory",
                            args->image_width, args->image_height);
    tw_image src = {
        (void *)(uintptr_t)size, args->image_width, args->image_height, pitch, args->channels, type, TW_HOST};
    tw_image dst = src;
    dst.data = (void *)(uintptr_t)(size + bytes);
    const tw_status status = makers[op](args, &src, &dst, problem);
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
        if (!command)
            return twi_complain(TWI_EXIT_USAGE, "no command '%s' to help with: see 'tilewise help'", topic);
        twi_print_help(command);
    }
    return TWI_EXIT_DONE;
}
