/* The commands on images: read, filter, write. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch.h"
#include "cli/filter.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/stream.h"

/* ---- Stages -------------------------------------------------------------------------------------- */

twi_exit twi_filter_fit(twi_filter *f, const tw_image *src, const char *format)
{
    const twi_args *args = f->args;
    f->format = args->format ? args->format : format;
    const twi_exit result = twi_recipe_fit(args, f->id, src, args->type, &f->recipe);
    if (result != TWI_EXIT_DONE)
        return result;
    const twi_io_status status = twi_io_can_write(f->to, f->format, f->recipe.out_type, src->channels);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

twi_exit twi_filter_read(twi_filter *f)
{
    const twi_exit result = twi_read_input(f->args, f->from, f->sharers, &f->input, &f->src);
    return result == TWI_EXIT_DONE ? twi_filter_fit(f, &f->src, twi_io_format(&f->input)) : result;
}

/* What open, close and their like are to the library; the other filters are one operation. */
static const tw_morphology morphologies[TWI_COMMAND_COUNT] = {
    [TWI_OPEN] = TW_OPEN,     [TWI_CLOSE] = TW_CLOSE,       [TWI_GRADIENT] = TW_GRADIENT,
    [TWI_TOPHAT] = TW_TOPHAT, [TWI_BLACKHAT] = TW_BLACKHAT,
};

static bool is_morphology(const twi_filter *f)
{
    return morphologies[f->id] != 0;
}

tw_status twi_filter_problem(const twi_filter *f, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const tw_order_params params = {f->recipe.window, f->recipe.footprint, f->recipe.border};
    return is_morphology(f) ? tw_order_problem(TW_OP_MIN, src, dst, &params, 0, problem)
                            : twi_recipe_problem(f->args, &f->recipe, src, dst, problem);
}

tw_status twi_filter_prepare(const twi_filter *f, twi_engine *engine, const tw_image *src, const tw_image *dst)
{
    tw_problem problem;
    if (is_morphology(f)) /* the context keeps plans for its steps */
        return TW_OK;
    tw_status status = twi_filter_problem(f, src, dst, &problem);
    if (status == TW_OK)
        status = twi_engine_prepare(engine, &problem);
    if (status == TW_OK && f->args->iterations > 1)
        status = twi_filter_problem(f, dst, dst, &problem);
    if (status == TW_OK && f->args->iterations > 1)
        status = twi_engine_prepare(engine, &problem);
    return status;
}

/* A filter that is one operation; further iterations work in place. */
static tw_status solve(const twi_filter *f, twi_engine *engine, const tw_image *src, const tw_image *dst)
{
    const int32_t iterations = f->args->iterations;
    tw_problem problem;
    tw_status status = twi_filter_problem(f, src, dst, &problem);
    if (status == TW_OK)
        status = twi_engine_run(engine, &problem, src, dst, 1);
    if (status == TW_OK && iterations > 1)
        status = twi_filter_problem(f, dst, dst, &problem);
    if (status == TW_OK && iterations > 1)
        status = twi_engine_run(engine, &problem, dst, dst, iterations - 1);
    return status;
}

tw_status twi_filter_run(const twi_filter *f, twi_engine *engine, const tw_image *src, const tw_image *dst)
{
    const tw_order_params params = {f->recipe.window, f->recipe.footprint, f->recipe.border};
    const tw_plan_options options = twi_engine_options(engine);
    const bool asked = options.variant || options.block_width > 0; /* else the context keeps its plans */
    return is_morphology(f) ? tw_morph(engine->context, src, dst, morphologies[f->id], &params, f->args->iterations,
                                       asked ? &options : NULL)
                            : solve(f, engine, src, dst);
}

/* The result may be many times as large as what was read. */
static twi_exit check_room(const twi_filter *f)
{
    const twi_recipe *recipe = &f->recipe;
    const tw_image *in = &f->input.image;
    const uint64_t share = twi_memory_limit(f->args) / (uint64_t)f->sharers;
    const double result = (double)recipe->out_width * (double)recipe->out_height * (double)in->channels *
                          (double)tw_type_size(recipe->out_type);
    if ((double)in->pitch * (double)in->height + result <= (double)share)
        return TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_MEMORY,
                        "%s: image and result do not fit into %" PRIu64 " bytes of memory: give a higher --memory",
                        f->from, share);
}

twi_exit twi_filter_compute(twi_filter *f, twi_engine *engine)
{
    const twi_recipe *recipe = &f->recipe;
    const twi_exit room = check_room(f);
    if (room != TWI_EXIT_DONE)
        return room;
    const twi_io_status made =
        twi_io_create(recipe->out_width, recipe->out_height, f->src.channels, recipe->out_type, &f->output);
    if (made != TWI_IO_OK)
        return twi_complain_io(made);
    const tw_status status = twi_filter_run(f, engine, &f->src, &f->output.image);
    if (status != TW_OK)
        return twi_complain_status(status);
    f->output.metadata = f->input.metadata;
    f->input.metadata = NULL;
    twi_io_free(&f->input);
    return TWI_EXIT_DONE;
}

twi_exit twi_filter_describe(twi_filter *f)
{
    twi_io_crop(&f->output, f->args->view_x, f->args->view_y);
    const twi_io_status status = f->recipe.turn ? twi_io_turn(&f->output, f->recipe.turn) : TWI_IO_OK;
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

void twi_filter_warn(const twi_filter *f, const char *lost)
{
    if (lost[0] != '\0' && !f->args->quiet)
        (void)twi_complain(TWI_EXIT_DONE, "warning: %s", lost);
}

twi_exit twi_filter_write(twi_filter *f)
{
    const char *lost = "";
    const twi_exit result = twi_filter_describe(f);
    if (result != TWI_EXIT_DONE)
        return result;
    const twi_io_status status = twi_io_write(f->to, f->format, &f->output, &lost);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    twi_filter_warn(f, lost);
    return TWI_EXIT_DONE;
}

void twi_filter_free(twi_filter *f)
{
    twi_io_free(&f->output);
    twi_io_free(&f->input);
    twi_recipe_free(&f->recipe);
}

tw_op twi_filter_op(const twi_filter *f)
{
    return is_morphology(f) ? TW_OP_MIN : f->recipe.op;
}

int64_t twi_filter_runs(const twi_filter *f)
{
    return (is_morphology(f) ? 2 : 1) * (int64_t)f->args->iterations;
}

/* ---- A single file --------------------------------------------------------------------------------- */

static twi_exit filter_image(twi_filter *f)
{
    struct stat facts;
    const bool standard = strcmp(f->to, "-") == 0;
    if (standard && isatty(STDOUT_FILENO) == 1)
        return twi_complain(TWI_EXIT_USAGE, "output '-' is a terminal: redirect stdout, or name a file");
    if (!standard && stat(f->to, &facts) == 0 && S_ISDIR(facts.st_mode))
        return twi_complain(TWI_EXIT_OUTPUT,
                            "output '%s' is a folder: name a file, or the folder with a '/' at its end", f->to);
    const twi_exit result = twi_recipe_take(f->args, f->id, false, &f->recipe);
    return result == TWI_EXIT_DONE ? twi_stream_filter(f) : result;
}

twi_exit twi_command_filter(const twi_args *args)
{
    if (args->format && !twi_jobs_to_folder(args) && strcmp(args->operands[1], "-") != 0)
        return twi_complain(TWI_EXIT_USAGE, "--format %s: the ending of '%s' says its format: leave --format out",
                            args->format, args->operands[1]);
    if (twi_jobs_asked(args))
        return twi_batch(args);
    twi_filter f = {.args = args,
                    .id = (twi_command_id)(args->command - twi_commands),
                    .from = args->operands[0],
                    .to = args->operands[1],
                    .sharers = 1};
    const twi_exit result = filter_image(&f);
    twi_filter_free(&f);
    return result;
}
