/*
 * The command on several ranks. What makes rows of rows is one pass: each rank reads the rows of its result and those
 * around them that the filter needs, by itself, in bands as one process does with all rows; no pixel travels.
 * What makes columns of rows, and sums, is done on rows in memory by libtilewise_mpi. Results that are flat files are
 * written by all ranks at once, others by the first, which all send their rows to.
 *
 * What fails on one rank has its line there; then all leave with the same code. What is wrong for all, such as a file
 * that is not there, is found by the first rank, before the others look.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bands.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/stats.h"
#include "cli/stream.h"
#include "mpi/command.h"
#include "mpi/file.h"

static bool joined;
static int provided; /* MPI's promise about threads */

/* ---- Ranks ----------------------------------------------------------------------------------------------- */

int twi_ranks_join(void)
{
    /* what Open MPI, MPICH and Slurm tell the processes that they start */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    int rank = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        joined = joined || getenv(names[i]);
    if (!joined)
        return 0;
    (void)MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
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

/* Where ranks choose together, --variant has no say. */
static twi_exit refuse_variant(const twi_args *args, const tw_mpi *mpi)
{
    if (!args->variant || mpi->rank > 0)
        return args->variant ? TWI_EXIT_USAGE : TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_USAGE, "--variant: on several ranks %s chooses by itself", args->command->name);
}

/* The ranks of this rank's host. */
static int count_neighbours(const tw_mpi *mpi)
{
    MPI_Comm host;
    int count = 1;
    (void)MPI_Comm_split_type(mpi->communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    (void)MPI_Comm_size(host, &count);
    (void)MPI_Comm_free(&host);
    return count;
}

/* Opens the ranks with what the line says. A rank's device, threads and share of the host's memory are its own: `mine`,
 * a copy of the line, gets them. */
static twi_exit open_ranks(const twi_args *args, twi_args *mine, tw_mpi **mpi)
{
    tw_context_options options = tw_context_defaults();
    options.backend = args->backend;
    options.threads = args->threads;
    options.device_memory = args->memory;
    const tw_status status = tw_mpi_create(MPI_COMM_WORLD, &options, mpi);
    if (status != TW_OK) {
        int rank = 0;
        (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? twi_complain(twi_exit_of(status), "%s", tw_mpi_error_message()) : twi_exit_of(status);
    }
    mine->device = (*mpi)->device;
    mine->threads = tw_context_threads((*mpi)->context);
    mine->progress = TWI_PROGRESS_NEVER;
    if (args->memory == 0)
        mine->memory = twi_memory_limit(args) / (uint64_t)count_neighbours(*mpi);
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

/* Bytes of a rank's rows: of those of the first, which has as many as any. */
static uint64_t bytes_of_rows(const tw_mpi *mpi, int64_t width, int64_t height, int32_t channels, tw_type type)
{
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, height, 0, &first, &last);
    return (uint64_t)(last - first) * (uint64_t)(width * channels) * tw_type_size(type);
}

/* Rows that each rank must hold at once, of which no band would do: by the rank that may take the least. */
static twi_exit check_memory(const twi_args *args, const tw_mpi *mpi, const char *name, const char *what,
                             uint64_t bytes)
{
    uint64_t own[2] = {twi_memory_for_bands(args), twi_memory_limit(args)};
    uint64_t least[2] = {0, 0};
    (void)MPI_Allreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, mpi->communicator);
    if (bytes <= least[0])
        return TWI_EXIT_DONE;
    return mpi->rank > 0 ? TWI_EXIT_MEMORY
                         : twi_complain(TWI_EXIT_MEMORY,
                                        "%s: %s take %" PRIu64 " bytes of each rank's memory, of which %" PRIu64
                                        " are too little: take more ranks, or give a higher --memory",
                                        name, what, bytes, least[1]);
}

/* This rank's rows of the image, in memory of `memory`. `more`: bytes that what is made of them will take. */
static twi_exit read_own(const twi_args *args, const tw_mpi *mpi, input *in, uint64_t more, twi_io_image *memory,
                         tw_mpi_image *own)
{
    const tw_image *file = twi_reader_shape(in->reader);
    const uint64_t bytes = bytes_of_rows(mpi, file->width, in->whole.height, file->channels, file->type);
    int64_t first = 0;
    int64_t last = 0;
    const twi_exit fits = check_memory(args, mpi, args->operands[0], "its rows", bytes + more);
    if (fits != TWI_EXIT_DONE)
        return fits;
    tw_mpi_rows(mpi, in->whole.height, mpi->rank, &first, &last);
    twi_io_status status =
        twi_io_create(file->width, last > first ? last - first : 1, file->channels, file->type, memory);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    *own = (tw_mpi_image){memory->image, in->whole.height};
    own->rows.data = (char *)own->rows.data + args->view_x * twi_pixel_bytes(&own->rows);
    own->rows.width = in->whole.width;
    own->rows.height = last - first;
    if (first == last)
        return TWI_EXIT_DONE;
    status = twi_reader_rows(in->reader, args->view_y + first, &memory->image);
    if (status == TWI_IO_OK)
        status = twi_reader_end(in->reader);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* ---- Filters --------------------------------------------------------------------------------------------- */

typedef struct work {
    tw_mpi *mpi;
    twi_filter filter;
    input in;
    bool in_bands;       /* rows of the result depend on those around them alone */
    twi_io_image source; /* memory of rows that are read, else */
    tw_mpi_image made;   /* this rank's rows of the result, where they wait in memory */
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
    if (result == TWI_EXIT_DONE)
        result = twi_filter_fit(f, &w->in.whole, twi_reader_format(w->in.reader));
    twi_bands bands;
    tw_backend backend = f->args->backend;
    if (result == TWI_EXIT_DONE && f->args->variant)
        result = twi_check_variants(f->args->variant, twi_filter_op(f), &backend);
    return result == TWI_EXIT_DONE ? twi_bands_of(f, &w->in.whole, &bands, &w->in_bands) : result;
}

/* Memory for this rank's rows of the result. */
static tw_status take_result(work *w)
{
    const twi_recipe *recipe = &w->filter.recipe;
    return tw_mpi_image_create(w->mpi, recipe->out_width, recipe->out_height, w->in.whole.channels, recipe->out_type,
                               &w->made);
}

static uint64_t bytes_of_result(const work *w)
{
    const twi_recipe *recipe = &w->filter.recipe;
    return bytes_of_rows(w->mpi, recipe->out_width, recipe->out_height, w->in.whole.channels, recipe->out_type);
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
    twi_exit code = read_own(f->args, w->mpi, &w->in, bytes_of_result(w), &w->source, &own);
    if (code == TWI_EXIT_DONE)
        code = refuse_variant(f->args, w->mpi);
    code = agree(w->mpi, code);
    if (code != TWI_EXIT_DONE)
        return code;
    tw_status status = take_result(w);
    if (status == TW_OK)
        status = tw_mpi_describe(&own, &w->made, &whole_src, &whole_dst);
    if (status == TW_OK)
        status = twi_mpi_core(twi_recipe_problem(f->args, recipe, &whole_src, &whole_dst, &problem));
    status = twi_mpi_agree(w->mpi, status);
    if (status == TW_OK)
        status = tw_mpi_run(w->mpi, &problem, &own, &w->made);
    return status == TW_OK ? TWI_EXIT_DONE : complain(w->mpi, status);
}

/* All else: this rank's rows of the result in bands, which `put` gets. `kept`: bytes that it keeps them in. */
static twi_exit make_rows(work *w, twi_exit (*put)(void *user, int64_t first, const tw_image *rows), void *user,
                          uint64_t kept)
{
    twi_share share = {.reader = w->in.reader, .view = w->in.whole, .put = put, .user = user, .kept = kept};
    tw_mpi_rows(w->mpi, w->filter.recipe.out_height, w->mpi->rank, &share.begin, &share.end);
    return share.begin < share.end ? twi_stream_share(&w->filter, &share) : TWI_EXIT_DONE;
}

static twi_exit put_into_memory(void *user, int64_t first, const tw_image *rows)
{
    const work *w = user;
    int64_t begin = 0;
    int64_t end = 0;
    tw_mpi_rows(w->mpi, w->made.height, w->mpi->rank, &begin, &end);
    const tw_image *made = &w->made.rows;
    twi_copy_rows(twi_row(made, first - begin), made->pitch, rows->data, rows->pitch, (int64_t)twi_row_bytes(rows),
                  rows->height);
    return TWI_EXIT_DONE;
}

static twi_exit make_in_memory(work *w)
{
    const uint64_t bytes = bytes_of_result(w);
    twi_exit code = check_memory(w->filter.args, w->mpi, w->filter.to,
                                 "a format that one rank must write: until then its rows", bytes);
    if (code != TWI_EXIT_DONE)
        return code;
    const tw_status status = take_result(w);
    if (status != TW_OK)
        return complain(w->mpi, status);
    return agree(w->mpi, make_rows(w, put_into_memory, w, bytes));
}

/* A failure of writing that all ranks have agreed on. */
static twi_exit judge_output(const work *w, tw_status status)
{
    if (status == TW_OK)
        return TWI_EXIT_DONE;
    (void)complain(w->mpi, status);
    return TWI_EXIT_OUTPUT;
}

static twi_exit put_into_file(void *user, int64_t first, const tw_image *rows)
{
    return twi_file_move(user, first, rows) == TW_OK ? TWI_EXIT_DONE
                                                     : twi_complain(TWI_EXIT_OUTPUT, "%s", tw_mpi_error_message());
}

static twi_exit make_in_file(work *w, const tw_mpi_file *file)
{
    twi_file open;
    const twi_exit opened = judge_output(w, twi_file_open(w->mpi, file, true, 0, 0, &open));
    if (opened != TWI_EXIT_DONE)
        return opened;
    const twi_exit code = agree(w->mpi, make_rows(w, put_into_file, &open, 0));
    const tw_status closed = twi_file_close(&open, TW_OK);
    return code == TWI_EXIT_DONE ? judge_output(w, closed) : code;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

/* What the first rank says of the file. */
typedef struct target {
    int code;
    bool shared; /* all ranks write */
    int64_t offset;
    char name[4096]; /* in the making; "": there is none, or it is too long */
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
    const char *name = twi_writer_temporary(*writer);
    if (name && strlen(name) < sizeof to->name) {
        memcpy(to->name, name, strlen(name) + 1);
        to->shared = twi_writer_share(*writer, &offset) != NULL;
        to->offset = (int64_t)offset;
    }
    return TWI_EXIT_DONE;
}

/* Rows y ... y + rows.height - 1 of the result, from the ranks that have them to the first one's memory. */
static tw_status collect_rows(const work *w, twi_rect *parts, int64_t y, const tw_image *rows)
{
    const tw_image *made = &w->made.rows;
    const twi_cut from = {.kind = TWI_CUT_LIST, .list = parts};
    const twi_cut to = {.kind = TWI_CUT_NONE, .whole = {0, y, made->width, rows->height}};
    tw_image own = *made;
    for (int rank = 0; rank < w->mpi->size; rank++) {
        int64_t first = 0;
        int64_t last = 0;
        tw_mpi_rows(w->mpi, w->made.height, rank, &first, &last);
        const int64_t begin = first > y ? first : y;
        const int64_t end = last < y + rows->height ? last : y + rows->height;
        parts[rank] = (twi_rect){0, begin, made->width, end > begin ? end - begin : 0};
        if (rank == w->mpi->rank && end > begin)
            own.data = (char *)made->data + (begin - first) * made->pitch;
    }
    return twi_move(w->mpi, twi_pixel_bytes(made), &from, &own, &to, rows);
}

enum { PORTION = 32 << 20 /* bytes that the first rank collects and writes at a time */ };

/* By the first rank, portion by portion. */
static twi_exit write_portions(const work *w, twi_writer *writer, void *parts, twi_io_image *portion)
{
    const tw_image *made = &w->made.rows;
    const int64_t row = made->width * twi_pixel_bytes(made);
    const int64_t step = row < PORTION ? PORTION / row : 1;
    tw_image rows = {.height = step < w->made.height ? step : w->made.height};
    twi_exit code = TWI_EXIT_DONE;
    if (w->mpi->rank == 0) {
        const twi_io_status taken = twi_io_create(made->width, rows.height, made->channels, made->type, portion);
        code = taken == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(taken);
        rows = portion->image;
    }
    code = as_first(w->mpi, code);
    for (int64_t y = 0; y < w->made.height && code == TWI_EXIT_DONE; y += rows.height) {
        rows.height = step < w->made.height - y ? step : w->made.height - y;
        const tw_status moved = collect_rows(w, parts, y, &rows);
        if (moved != TW_OK)
            return complain(w->mpi, moved);
        const twi_io_status written = w->mpi->rank == 0 ? twi_writer_rows(writer, &rows) : TWI_IO_OK;
        code = as_first(w->mpi, written == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(written));
    }
    return code;
}

static twi_exit write_by_first(work *w, twi_writer *writer)
{
    void *parts = NULL;
    twi_io_image portion = {0};
    twi_exit code = w->in_bands ? make_in_memory(w) : TWI_EXIT_DONE;
    if (code == TWI_EXIT_DONE) {
        const tw_status status = twi_mpi_agree(w->mpi, twi_mpi_table(w->mpi, sizeof(twi_rect), &parts));
        code = status == TW_OK ? write_portions(w, writer, parts, &portion) : complain(w->mpi, status);
    }
    twi_io_free(&portion);
    free(parts);
    return code;
}

static twi_exit write_by_all(work *w, const target *to)
{
    const tw_mpi_file file = {to->name, to->offset};
    if (w->in_bands)
        return make_in_file(w, &file);
    return judge_output(w, tw_mpi_write(w->mpi, &file, &w->made));
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
    if (w->mpi->rank > 0 && to.name[0] != '\0') /* the first rank may be killed, also while it waits for the disk */
        twi_io_adopt(to.name);
    twi_exit code = to.shared ? write_by_all(w, &to) : write_by_first(w, writer);
    if (w->mpi->rank == 0)
        code = close_output(w, writer, code);
    code = as_first(w->mpi, code);
    twi_io_adopt(NULL);
    return code;
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
    if (code == TWI_EXIT_DONE && !w->in_bands)
        code = compute_in_memory(w);
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
    if (code == TWI_EXIT_DONE)
        code = refuse_variant(args, mpi);
    if (code == TWI_EXIT_DONE && args->histogram && in->whole.type != TW_U8 && in->whole.type != TW_U16)
        code = mpi->rank > 0
                   ? TWI_EXIT_USAGE
                   : twi_complain(TWI_EXIT_USAGE, "--histogram counts the values of u8 and u16 images: this one is %s",
                                  tw_type_name(in->whole.type));
    code = agree(mpi, code);
    if (code != TWI_EXIT_DONE)
        return code;
    code = agree(mpi, read_own(args, mpi, in, 0, &s->input, &own));
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
    if (provided < MPI_THREAD_SERIALIZED) /* of all ranks, as it is of the library */
        return twi_complain(TWI_EXIT_DEVICE, "this MPI lets one thread alone call it: the command needs "
                                             "MPI_THREAD_SERIALIZED");
    twi_exit code = open_ranks(args, &mine, &mpi);
    if (code != TWI_EXIT_DONE)
        return code;
    mention_idle(args, mpi);
    code = filters ? filter(&mine, mpi) : stats(&mine, mpi);
    tw_mpi_destroy(mpi);
    return code;
}
