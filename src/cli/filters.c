/* The commands on images: read, filter, write. */
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/recipe.h"

/* What a filter holds while it works. */
typedef struct filter {
    const twi_args *args;
    twi_command_id id;
    twi_recipe recipe;
    const char *format; /* the input's: that of stdout */
    twi_io_image input;
    twi_io_image output;
    twi_progress progress;
    tw_context *context;
} filter;

static twi_exit read_input(filter *f, tw_image *src)
{
    const twi_args *args = f->args;
    twi_exit result = twi_read_input(args, &f->input, src);
    if (result != TWI_EXIT_DONE)
        return result;
    f->format = twi_io_format(&f->input);
    result = twi_recipe_fit(args, f->id, src, args->type, &f->recipe);
    if (result != TWI_EXIT_DONE)
        return result;
    const twi_io_status status = twi_io_can_write(args->operands[1], f->format, f->recipe.out_type, src->channels);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* ---- Work ---------------------------------------------------------------------------------------- */

static twi_exit open_context(filter *f, tw_op op, int64_t steps)
{
    const bool shown = twi_progress_start(f->args, steps, &f->progress);
    return twi_open_context(f->args, op, shown ? twi_progress_report : NULL, &f->progress, &f->context);
}

/* Plans the problem and runs it `times` times. */
static tw_status run(const filter *f, const tw_problem *problem, const tw_image *src, int32_t times)
{
    const tw_plan_options options = {
        .variant = f->args->variant, .block_width = f->args->block_width, .block_height = f->args->block_height};
    tw_plan *plan = NULL;
    tw_status status = tw_plan_create(f->context, problem, &options, &plan);
    for (int32_t i = 0; i < times && status == TW_OK; i++)
        status = tw_plan_run(plan, src, &f->output.image);
    tw_plan_destroy(plan);
    return status;
}

/* A filter that is one operation; further iterations work in place. */
static twi_exit solve(filter *f, const tw_image *src)
{
    const int32_t iterations = f->args->iterations;
    const tw_image *dst = &f->output.image;
    tw_problem problem;
    tw_status status = twi_recipe_problem(f->args, &f->recipe, src, dst, &problem);
    if (status != TW_OK)
        return twi_complain_status(status);
    const twi_exit opened = open_context(f, problem.op, iterations);
    if (opened != TWI_EXIT_DONE)
        return opened;
    status = run(f, &problem, src, 1);
    if (status == TW_OK && iterations > 1)
        status = twi_recipe_problem(f->args, &f->recipe, dst, dst, &problem);
    if (status == TW_OK && iterations > 1)
        status = run(f, &problem, dst, iterations - 1);
    twi_progress_end();
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static const tw_morphology morphologies[TWI_COMMAND_COUNT] = {
    [TWI_OPEN] = TW_OPEN,     [TWI_CLOSE] = TW_CLOSE,       [TWI_GRADIENT] = TW_GRADIENT,
    [TWI_TOPHAT] = TW_TOPHAT, [TWI_BLACKHAT] = TW_BLACKHAT,
};

/* open, close and what is built of them. */
static twi_exit morph(filter *f, const tw_image *src)
{
    const tw_order_params params = {f->recipe.window, f->recipe.footprint, f->recipe.border};
    const int32_t iterations = f->args->iterations;
    const twi_exit opened = open_context(f, TW_OP_MIN, 2 * (int64_t)iterations);
    if (opened != TWI_EXIT_DONE)
        return opened;
    const tw_status status = tw_morph(f->context, src, &f->output.image, morphologies[f->id], &params, iterations);
    twi_progress_end();
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

/* ---- The whole ----------------------------------------------------------------------------------- */

static twi_exit write_output(filter *f)
{
    const char *lost = "";
    f->output.metadata = f->input.metadata;
    f->input.metadata = NULL;
    twi_io_crop(&f->output, f->args->view_x, f->args->view_y);
    twi_io_status status = f->recipe.turn ? twi_io_turn(&f->output, f->recipe.turn) : TWI_IO_OK;
    if (status == TWI_IO_OK)
        status = twi_io_write(f->args->operands[1], f->format, &f->output, &lost);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    if (lost[0] != '\0' && !f->args->quiet)
        (void)twi_complain(TWI_EXIT_DONE, "warning: %s", lost);
    return TWI_EXIT_DONE;
}

static twi_exit filter_image(filter *f)
{
    const twi_args *args = f->args;
    tw_image src;
    if (strcmp(args->operands[1], "-") == 0 && isatty(STDOUT_FILENO) == 1)
        return twi_complain(TWI_EXIT_USAGE, "output '-' is a terminal: redirect stdout, or name a file");
    twi_exit result = twi_recipe_take(args, f->id, false, &f->recipe);
    if (result == TWI_EXIT_DONE)
        result = read_input(f, &src);
    if (result != TWI_EXIT_DONE)
        return result;
    const twi_recipe *recipe = &f->recipe;
    const twi_io_status status =
        twi_io_create(recipe->out_width, recipe->out_height, src.channels, recipe->out_type, &f->output);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    result = morphologies[f->id] ? morph(f, &src) : solve(f, &src);
    return result == TWI_EXIT_DONE ? write_output(f) : result;
}

twi_exit twi_command_filter(const twi_args *args)
{
    filter f = {.args = args, .id = (twi_command_id)(args->command - twi_commands)};
    const twi_exit result = filter_image(&f);
    tw_context_destroy(f.context);
    twi_io_free(&f.output);
    twi_io_free(&f.input);
    twi_recipe_free(&f.recipe);
    return result;
}
