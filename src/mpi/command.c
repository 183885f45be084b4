/*
 * The command on several ranks. A filter with a window is one pass: each rank reads the rows of its result and those
 * around them that the filter needs, by itself, and does what one process does with a whole image; no pixel travels.
 * Turns and sums are done on rows in memory by libtilewise_mpi. Results that are flat files are written by all ranks at
 * once, others by the first, which all send their rows to.
 *
 * What fails on one rank has its line there; then all leave with the same code. What is wrong for all, such as a file
 * that is not there, is found by the first rank, before the others look.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bands.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/stats.h"
#include "mpi/command.h"
#include "mpi/ranks.h"

static bool joined;

/* ---- Ranks ----------------------------------------------------------------------------------------------- */

int twi_ranks_join(void)
{
    /* what Open MPI, MPICH and Slurm tell the processes that they start */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    int rank = 0;
    int provided = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        joined = joined || getenv(names[i]);
    if (!joined)
        return 0;
    (void)MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void twi_ranks_leave(void)
{
    if (!joined)
        return;
    /* the work is done; mpirun sends this to the others as soon as one leaves with a code of failure */
    (void)signal(SIGTERM, SIG_IGN);
    (void)MPI_Finalize();
}

/* The worst code of all ranks. */
static twi_exit agree(const tw_mpi *mpi, twi_exit code)
{
    int mine = (int)code;
    int worst = 0;
    (void)MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, mpi->communicator);
    return (twi_exit)worst;
}

/* The code of the first rank. */
static twi_exit as_first(const tw_mpi *mpi, twi_exit code)
{
    int first = (int)code;
    (void)MPI_Bcast(&first, 1, MPI_INT, 0, mpi->communicator);
    return (twi_exit)first;
}

/* A failure that all ranks have agreed on. */
static twi_exit complain(const tw_mpi *mpi, tw_status status)
{
    const twi_exit code = twi_exit_of(status);
    return mpi->rank == 0 ? twi_complain(code, "%s", tw_mpi_error_message()) : code;
}

/* Opens the ranks with what the line says. A rank's device and threads are its own: `mine`, a copy of the line, gets
 * them. */
static twi_exit open_ranks(const twi_args *args, twi_args *mine, tw_mpi **mpi)
{
    tw_context_options options = tw_context_defaults();
    options.backend = args->backend;
    options.threads = args->threads;
    const tw_status status = tw_mpi_create(MPI_COMM_WORLD, &options, mpi);
    if (status != TW_OK) {
        int rank = 0;
        (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? twi_complain(twi_exit_of(status), "%s", tw_mpi_error_message()) : twi_exit_of(status);
    }
    mine->device = (*mpi)->device;
    mine->threads = tw_context_threads((*mpi)->context);
    return TWI_EXIT_DONE;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

/* What a rank knows of the input. */
typedef struct input {
    twi_reader *reader;
    tw_image whole; /* a descriptor: the image, or its --view; nothing lies there */
} input;

static twi_exit open_input(const twi_args *args, const char *path, input *in)
{
    if (strcmp(path, "-") == 0)
        return twi_complain(TWI_EXIT_USAGE, "input '-': several processes cannot read stdin: name a file");
    const twi_io_status status = twi_reader_open(path, args->page, twi_memory_limit(args), &in->reader);
    return status == TWI_IO_OK ? twi_view_of(args, in->reader, &in->whole) : twi_complain_io(status);
}

/* Memory for so many rows of the file, and what of them is the image's. */
static twi_exit take_rows(const twi_args *args, const input *in, int64_t height, twi_io_image *memory, tw_image *rows)
{
    const tw_image *file = twi_reader_shape(in->reader);
    const twi_io_status status = twi_io_create(file->width, height, file->channels, file->type, memory);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    *rows = memory->image;
    rows->data = (char *)rows->data + args->view_x * twi_pixel_bytes(rows);
    rows->width = in->whole.width;
    return TWI_EXIT_DONE;
}

/* This rank's rows of the image, in memory of `memory`. */
static twi_exit read_own(const twi_args *args, const tw_mpi *mpi, input *in, twi_io_image *memory, tw_mpi_image *own)
{
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, in->whole.height, mpi->rank, &first, &last);
    const twi_exit taken = take_rows(args, in, last > first ? last - first : 1, memory, &own->rows);
    own->height = in->whole.height;
    own->rows.height = last - first;
    if (taken != TWI_EXIT_DONE || first == last)
        return taken;
    twi_io_status status = twi_reader_rows(in->reader, args->view_y + first, &memory->image);
    if (status == TWI_IO_OK)
        status = twi_reader_end(in->reader);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* ---- Filters --------------------------------------------------------------------------------------------- */

typedef struct work {
    tw_mpi *mpi;
    twi_filter filter;
    input in;
    twi_io_image source; /* memory of rows that are read */
    twi_io_image band;   /* what a filter makes of them */
    tw_mpi_image made;   /* memory of rows of the result, where it is not the filter's */
    tw_mpi_image result; /* this rank's rows of the result */
} work;

/* All that needs no pixel. */
static twi_exit prepare(work *w)
{
    twi_filter *f = &w->filter;
    struct stat facts;
    if (strcmp(f->to, "-") == 0 && isatty(STDOUT_FILENO) == 1)
        return twi_complain(TWI_EXIT_USAGE, "output '-' is a terminal: redirect stdout, or name a file");
    if (strcmp(f->to, "-") != 0 && stat(f->to, &facts) == 0 && S_ISDIR(facts.st_mode))
        return twi_complain(TWI_EXIT_OUTPUT, "output '%s' is a folder: name a file", f->to);
    twi_exit result = twi_recipe_take(f->args, f->id, false, &f->recipe);
    if (result == TWI_EXIT_DONE)
        result = open_input(f->args, f->from, &w->in);
    return result == TWI_EXIT_DONE ? twi_filter_fit(f, &w->in.whole, twi_reader_format(w->in.reader)) : result;
}

/* Turns and sums: this rank's rows are read, and the library moves what it must. */
static twi_exit compute_in_memory(work *w)
{
    const twi_filter *f = &w->filter;
    const twi_recipe *recipe = &f->recipe;
    tw_mpi_image own = {.height = 0};
    tw_image whole_src;
    tw_image whole_dst;
    tw_problem problem;
    twi_exit code = read_own(f->args, w->mpi, &w->in, &w->source, &own);
    if (code == TWI_EXIT_DONE && f->args->variant)
        code = twi_complain(TWI_EXIT_USAGE, "--variant: on several ranks %s chooses by itself", f->args->command->name);
    code = agree(w->mpi, code);
    if (code != TWI_EXIT_DONE)
        return code;
    tw_status status = tw_mpi_image_create(w->mpi, recipe->out_width, recipe->out_height, own.rows.channels,
                                           recipe->out_type, &w->made);
    if (status == TW_OK)
        status = tw_mpi_describe(&own, &w->made, &whole_src, &whole_dst);
    if (status == TW_OK)
        status = twi_mpi_core(twi_recipe_problem(f->args, recipe, &whole_src, &whole_dst, &problem));
    status = twi_mpi_agree(w->mpi, status);
    if (status == TW_OK)
        status = tw_mpi_run(w->mpi, &problem, &own, &w->made);
    w->result = w->made;
    return status == TW_OK ? TWI_EXIT_DONE : complain(w->mpi, status);
}

/* Whether a result's rows depend on those around them alone. */
static bool is_local(const twi_filter *f)
{
    switch (twi_filter_op(f)) {
    case TW_OP_TRANSPOSE:
    case TW_OP_REDUCE:
    case TW_OP_HISTOGRAM:
    case TW_OP_SCAN:
    case TW_OP_INTEGRAL:
        return false;
    default:
        return true;
    }
}

/* All of the filter's runs on a band of rows, wide enough that what its cut edges spoil is not this rank's. */
static twi_exit run_band(work *w, const tw_image *band, int64_t skip)
{
    const twi_filter *f = &w->filter;
    twi_engine engine;
    twi_exit code = twi_engine_open(f->args, twi_filter_op(f), f->args->threads, NULL, NULL, &engine);
    if (code == TWI_EXIT_DONE) {
        const twi_io_status made =
            twi_io_create(band->width, band->height, band->channels, f->recipe.out_type, &w->band);
        code = made == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(made);
    }
    if (code == TWI_EXIT_DONE) {
        const tw_status status = twi_filter_run(f, &engine, band, &w->band.image);
        code = status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
    }
    twi_engine_close(&engine);
    const int64_t rows = w->result.rows.height;
    w->result.rows = w->band.image;
    w->result.rows.data = (char *)w->band.image.data + skip * w->band.image.pitch;
    w->result.rows.height = rows;
    return code;
}

/* Filters: the rank's rows of the result from those of the file around them. */
static twi_exit compute_band(work *w)
{
    const twi_filter *f = &w->filter;
    const tw_image *whole = &w->in.whole;
    twi_bands bands;
    tw_image band = *whole;
    bool cuttable = false;
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(w->mpi, whole->height, w->mpi->rank, &first, &last);
    w->result = (tw_mpi_image){*whole, whole->height};
    w->result.rows.type = f->recipe.out_type;
    w->result.rows.height = last - first;
    twi_exit code = twi_bands_of(f, whole, &bands, &cuttable);
    if (code != TWI_EXIT_DONE || first == last)
        return code;
    int64_t from = first - bands.halo;
    int64_t to = last + bands.halo;
    const bool all = to - from >= whole->height;
    if (all || (!bands.wraps && from < 0))
        from = 0;
    if (all || (!bands.wraps && to > whole->height))
        to = whole->height;
    bands.rows = to - from;
    code = take_rows(f->args, &w->in, bands.rows, &w->source, &band);
    if (code != TWI_EXIT_DONE)
        return code;
    twi_io_status read = twi_bands_read(&bands, w->in.reader, f->args->view_y, from, &w->source.image, 0, NULL);
    if (read == TWI_IO_OK)
        read = twi_reader_end(w->in.reader);
    return read == TWI_IO_OK ? run_band(w, &band, first - from) : twi_complain_io(read);
}

/* ---- Results --------------------------------------------------------------------------------------------- */

/* What the first rank says of the file. */
typedef struct target {
    int code;
    bool shared; /* all ranks write */
    int64_t offset;
    char name[4096];
} target;

static twi_exit open_output(work *w, target *to, twi_writer **writer)
{
    twi_filter *f = &w->filter;
    const twi_recipe *recipe = &f->recipe;
    uint64_t offset = 0;
    twi_reader_describe(w->in.reader, &f->output);
    f->output.image = twi_describe(&w->in.whole, 0, recipe->out_width, recipe->out_height, recipe->out_type);
    const twi_exit described = twi_filter_describe(f);
    if (described != TWI_EXIT_DONE)
        return described;
    const twi_io_status status = twi_writer_open(f->to, f->format, &f->output, writer);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    const char *name = twi_writer_share(*writer, &offset);
    to->shared = name && strlen(name) < sizeof to->name;
    if (to->shared) {
        to->offset = (int64_t)offset;
        memcpy(to->name, name, strlen(name) + 1);
    }
    return TWI_EXIT_DONE;
}

/* Through the first rank's memory. */
static twi_exit write_by_first(work *w, twi_writer *writer)
{
    const tw_image *shape = &w->filter.output.image; /* the first rank has its description */
    twi_io_image whole = {0};
    twi_io_status made = TWI_IO_OK;
    if (w->mpi->rank == 0)
        made = twi_io_create(shape->width, shape->height, shape->channels, shape->type, &whole);
    twi_exit code = agree(w->mpi, made == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(made));
    if (code == TWI_EXIT_DONE) {
        const tw_status moved = tw_mpi_gather(w->mpi, 0, &w->result, w->mpi->rank == 0 ? &whole.image : NULL);
        code = moved == TW_OK ? TWI_EXIT_DONE : complain(w->mpi, moved);
    }
    if (code == TWI_EXIT_DONE && w->mpi->rank == 0) {
        const twi_io_status written = twi_writer_rows(writer, &whole.image);
        code = written == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(written);
    }
    twi_io_free(&whole);
    return as_first(w->mpi, code);
}

static twi_exit write_by_all(work *w, const target *to)
{
    const tw_mpi_file file = {to->name, to->offset};
    const tw_status status = tw_mpi_write(w->mpi, &file, &w->result);
    if (status == TW_OK)
        return TWI_EXIT_DONE;
    (void)complain(w->mpi, status);
    return TWI_EXIT_OUTPUT;
}

/* The file appears, or is removed. */
static twi_exit close_output(const work *w, twi_writer *writer, twi_exit code)
{
    const char *lost = "";
    if (code != TWI_EXIT_DONE) {
        (void)twi_writer_close(writer, TWI_IO_OUTPUT, NULL);
        return code;
    }
    const twi_io_status closed = twi_writer_close(writer, TWI_IO_OK, &lost);
    if (closed != TWI_IO_OK)
        return twi_complain_io(closed);
    twi_filter_warn(&w->filter, lost);
    return TWI_EXIT_DONE;
}

static twi_exit write_result(work *w)
{
    twi_writer *writer = NULL;
    target to = {.code = TWI_EXIT_DONE};
    if (w->mpi->rank == 0)
        to.code = (int)open_output(w, &to, &writer);
    (void)MPI_Bcast(&to, (int)sizeof to, MPI_BYTE, 0, w->mpi->communicator);
    if (to.code != TWI_EXIT_DONE)
        return (twi_exit)to.code;
    twi_exit code = to.shared ? write_by_all(w, &to) : write_by_first(w, writer);
    if (w->mpi->rank == 0)
        code = close_output(w, writer, code);
    return as_first(w->mpi, code);
}

static twi_exit run_filter(work *w)
{
    twi_exit code = TWI_EXIT_DONE;
    if (w->mpi->rank == 0) /* what is wrong for all is said once */
        code = prepare(w);
    code = as_first(w->mpi, code);
    if (code == TWI_EXIT_DONE && w->mpi->rank > 0)
        code = prepare(w);
    code = agree(w->mpi, code);
    if (code == TWI_EXIT_DONE)
        code = is_local(&w->filter) ? agree(w->mpi, compute_band(w)) : compute_in_memory(w);
    return code == TWI_EXIT_DONE ? write_result(w) : code;
}

static twi_exit filter(const twi_args *args, tw_mpi *mpi)
{
    work w = {.mpi = mpi,
              .filter = {.args = args,
                         .id = (twi_command_id)(args->command - twi_commands),
                         .from = args->operands[0],
                         .to = args->operands[1],
                         .sharers = 1}};
    const twi_exit code = run_filter(&w);
    tw_mpi_image_free(mpi, &w.made);
    twi_io_free(&w.source);
    twi_io_free(&w.band);
    twi_reader_close(w.in.reader);
    twi_filter_free(&w.filter);
    return code;
}

/* ---- Figures --------------------------------------------------------------------------------------------- */

/* The operation on this rank's rows; the first rank gets the result in `whole`, rows without gaps, by calloc. */
static twi_exit collect(tw_mpi *mpi, const tw_mpi_image *own, const tw_reduce_params *params, tw_image *whole)
{
    const bool counts = !params;
    const int64_t width = counts                      ? (own->rows.type == TW_U8 ? 256 : 65536)
                          : params->axis == TW_AXIS_Y ? own->rows.width
                                                      : 1;
    const int64_t height = !counts && params->axis == TW_AXIS_X ? own->height : 1;
    const tw_type type = counts ? TW_U64 : TW_STATS;
    tw_mpi_image made = {.height = 0};
    tw_image whole_src;
    tw_image whole_dst;
    tw_problem problem;
    tw_status status = tw_mpi_image_create(mpi, width, height, own->rows.channels, type, &made);
    if (status == TW_OK)
        status = tw_mpi_describe(own, &made, &whole_src, &whole_dst);
    if (status == TW_OK)
        status = twi_mpi_core(counts ? tw_histogram_problem(&whole_src, &whole_dst, &problem)
                                     : tw_reduce_problem(&whole_src, &whole_dst, params, &problem));
    if (status == TW_OK && mpi->rank == 0) {
        const int64_t row = width * twi_pixel_bytes(&made.rows);
        const size_t bytes = (size_t)height * (size_t)row;
        *whole = (tw_image){calloc(1, bytes > 0 ? bytes : 1), width, height, row, own->rows.channels, type, TW_HOST};
        if (!whole->data)
            status = twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: the results");
    }
    status = twi_mpi_agree(mpi, status);
    if (status == TW_OK)
        status = tw_mpi_run(mpi, &problem, own, &made);
    if (status == TW_OK)
        status = tw_mpi_gather(mpi, 0, &made, mpi->rank == 0 ? whole : NULL);
    tw_mpi_image_free(mpi, &made);
    return status == TW_OK ? TWI_EXIT_DONE : complain(mpi, status);
}

static twi_exit run_stats(tw_mpi *mpi, input *in, twi_stats *s)
{
    const twi_args *args = s->args;
    const tw_reduce_params params = {.axis = args->lines == TW_AXIS_COUNT ? TW_AXIS_ALL : args->lines,
                                     .figures = args->figures};
    tw_mpi_image own = {.height = 0};
    twi_exit code = TWI_EXIT_DONE;
    if (mpi->rank == 0)
        code = open_input(args, s->from, in);
    code = as_first(mpi, code);
    if (code == TWI_EXIT_DONE && mpi->rank > 0)
        code = open_input(args, s->from, in);
    if (code == TWI_EXIT_DONE && args->histogram && in->whole.type != TW_U8 && in->whole.type != TW_U16)
        code = mpi->rank > 0
                   ? TWI_EXIT_USAGE
                   : twi_complain(TWI_EXIT_USAGE, "--histogram counts the values of u8 and u16 images: this one is %s",
                                  tw_type_name(in->whole.type));
    code = agree(mpi, code);
    if (code != TWI_EXIT_DONE)
        return code;
    code = agree(mpi, read_own(args, mpi, in, &s->input, &own));
    s->src = in->whole;
    if (code == TWI_EXIT_DONE)
        code = collect(mpi, &own, &params, &s->records);
    if (code == TWI_EXIT_DONE && args->histogram)
        code = collect(mpi, &own, NULL, &s->counts);
    if (code != TWI_EXIT_DONE || mpi->rank > 0)
        return code;
    if (args->json)
        return twi_print_json_exact(twi_stats_json(s));
    twi_stats_print(s, stdout);
    return TWI_EXIT_DONE;
}

static twi_exit stats(const twi_args *args, tw_mpi *mpi)
{
    twi_stats s = {.args = args, .from = args->operands[0], .sharers = 1};
    input in = {.reader = NULL};
    const twi_exit code = as_first(mpi, run_stats(mpi, &in, &s));
    twi_reader_close(in.reader);
    twi_stats_free(&s);
    return code;
}

/* ---- All ------------------------------------------------------------------------------------------------- */

/* mpirun may bind each rank to a processor: with few ranks most of a machine is idle then, and nobody is told. */
static void mention_idle(const twi_args *args, const tw_mpi *mpi)
{
    MPI_Comm host;
    int threads = tw_context_threads(mpi->context);
    int used = 0;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    (void)MPI_Comm_split_type(mpi->communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    (void)MPI_Allreduce(&threads, &used, 1, MPI_INT, MPI_SUM, host);
    (void)MPI_Comm_free(&host);
    if (mpi->rank == 0 && used < online && args->threads == 0 && !args->quiet)
        (void)twi_complain(
            TWI_EXIT_DONE,
            "note: %d of this host's %ld processors: the launcher binds ranks to them (mpirun: --bind-to "
            "none, or --map-by with pe)",
            used, online);
}

twi_exit twi_ranks_run(const twi_args *args)
{
    const bool filters = args->command->run == twi_command_filter;
    int rank = 0;
    tw_mpi *mpi = NULL;
    twi_args mine = *args;
    if (!joined)
        return args->command->run(args);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!filters && args->command->run != twi_command_stats) /* no work on an image: the first rank does it */
        return rank == 0 ? args->command->run(args) : TWI_EXIT_DONE;
    if (twi_jobs_asked(args))
        return rank > 0 ? TWI_EXIT_USAGE
                        : twi_complain(TWI_EXIT_USAGE, "many files at a time are one process's work: leave mpirun out");
    twi_exit code = open_ranks(args, &mine, &mpi);
    if (code != TWI_EXIT_DONE)
        return code;
    mention_idle(args, mpi);
    code = filters ? filter(&mine, mpi) : stats(&mine, mpi);
    tw_mpi_destroy(mpi);
    return code;
}
