/* Filters of files in bands: how many rows a band has, and what the three stages do. */
#include <inttypes.h>
#include <string.h>

#include "cli/bands.h"
#include "cli/memory.h"
#include "cli/pipeline.h"
#include "cli/progress.h"
#include "cli/stream.h"
#include "cli/turn.h"

/* Source and result of a band: larger ones are no faster, since their pages must be made and leave the caches. */
static const uint64_t comfortable = (uint64_t)32 << 20;

typedef struct stream {
    twi_filter *f;
    const twi_share *share; /* the rows that are wanted, NULL: all, in a file */
    twi_reader *reader;
    twi_writer *writer;
    twi_engine engine;
    twi_progress progress;
    bool shown;
    uint64_t budget; /* bytes for bands and plans */
    tw_image view;   /* the part of the file that counts: no pixels */
    twi_bands bands;
    bool cuttable;               /* any band of rows makes rows of the result: not for what sums down the image */
    bool by_pieces;              /* it takes more than bands: rows become columns */
    bool refused;                /* the library had no memory for the last plan, as its message says */
    twi_io_image src[TWI_SLOTS]; /* whole rows of the file */
    twi_io_image dst[TWI_SLOTS];
} stream;

/* ---- How many rows a band has ---------------------------------------------------------------------- */

/* Bytes that a row of a band takes, in `slots` bands at a time. */
static uint64_t row_bytes(const stream *s, uint64_t slots)
{
    const tw_image *shape = twi_reader_shape(s->reader);
    const twi_recipe *recipe = &s->f->recipe;
    const uint64_t src = (uint64_t)(shape->width * shape->channels) * tw_type_size(shape->type);
    const uint64_t dst = (uint64_t)(recipe->out_width * shape->channels) * tw_type_size(recipe->out_type);
    /* what passes one after the other leave between them */
    const uint64_t copies = twi_filter_runs(s->f) > 1 ? 2 : 0;
    return slots * (src + dst) + copies * dst;
}

/* Bytes of everything in one band. */
static uint64_t whole_bytes(const stream *s)
{
    const int64_t most = twi_bands_most(&s->bands);
    const int64_t out = s->f->recipe.out_height; /* may be more than the image's, where no band is cut */
    const uint64_t rows = (uint64_t)(s->cuttable || most > out ? most : out);
    uint64_t bytes = 0;
    return __builtin_mul_overflow(rows, row_bytes(s, 1), &bytes) ? UINT64_MAX : bytes;
}

static twi_exit too_little(const stream *s)
{
    const int64_t most = twi_bands_most(&s->bands);
    const int64_t least = 2 * s->bands.halo + 1;
    const int64_t rows = !s->cuttable ? s->view.height : least < most ? least : most; /* all do without a halo */
    const uint64_t bytes = s->cuttable ? (uint64_t)rows * row_bytes(s, 1) : whole_bytes(s);
    if (s->refused && s->engine.device_memory > 0)
        return twi_complain_status(TW_ERROR_MEMORY);
    if (s->refused && bytes <= s->budget) /* a band is little beside what the filter takes for itself */
        return twi_complain(TWI_EXIT_MEMORY, "%s: %s: give a smaller window, or a higher --memory",
                            s->f->args->command->name, tw_error_message());
    return twi_complain(TWI_EXIT_MEMORY,
                        "%s: %" PRId64 "x%" PRId64 " pixels: %s takes %" PRId64 " row%s at a time, more than %" PRIu64
                        " bytes, for which %" PRIu64 " bytes of memory are too little: give a higher --memory",
                        strcmp(s->f->from, "-") == 0 ? "stdin" : s->f->from, s->view.width, s->view.height,
                        s->f->args->command->name, rows, rows == 1 ? "" : "s", bytes, twi_memory_limit(s->f->args));
}

static void free_slots(stream *s)
{
    for (int i = 0; i < TWI_SLOTS; i++) {
        twi_io_free(&s->src[i]);
        twi_io_free(&s->dst[i]);
    }
}

static twi_io_status take_slots(stream *s)
{
    const tw_image *shape = twi_reader_shape(s->reader);
    const twi_recipe *recipe = &s->f->recipe;
    const int64_t height = s->bands.rows >= s->bands.height ? recipe->out_height : s->bands.rows;
    twi_io_status status = TWI_IO_OK;
    for (int i = 0; i < TWI_SLOTS && i < s->bands.count && status == TWI_IO_OK; i++) {
        status = twi_io_create(shape->width, s->bands.rows, shape->channels, shape->type, &s->src[i]);
        if (status == TWI_IO_OK)
            status = twi_io_create(recipe->out_width, height, shape->channels, recipe->out_type, &s->dst[i]);
    }
    return status;
}

static twi_exit open_engine(stream *s, tw_backend backend)
{
    twi_args args = *s->f->args;
    args.backend = backend;
    twi_engine_close(&s->engine);
    const int sharers = s->f->sharers > 1 ? TWI_ENGINES_A_GPU + 1 : 1; /* those of the other files keep theirs */
    const twi_exit result = twi_engine_open(&args, twi_filter_op(s->f), args.threads, sharers,
                                            s->shown ? twi_progress_report : NULL, &s->progress, &s->engine);
    s->engine.args = s->f->args;
    return result;
}

/* The view's columns of whole rows. */
static tw_image seen_of(const stream *s, const tw_image *rows)
{
    tw_image seen = *rows;
    seen.data = (char *)rows->data + s->f->args->view_x * rows->channels * (int64_t)tw_type_size(rows->type);
    seen.width = s->view.width;
    return seen;
}

/* Bands of so many rows, with their memory and plans: fewer rows, and no memory, if that is too much. */
static twi_exit try_bands(stream *s)
{
    const uint64_t before = twi_memory_allocated();
    twi_bands_cut(&s->bands);
    tw_status status = TW_ERROR_MEMORY;
    if (take_slots(s) == TWI_IO_OK) {
        const tw_image src = seen_of(s, &s->src[0].image);
        status = twi_filter_prepare(s->f, &s->engine, &src, &s->dst[0].image);
        s->refused = status == TW_ERROR_MEMORY;
    }
    const uint64_t taken = twi_memory_allocated() - before;
    if (status == TW_OK && (taken <= s->budget || s->bands.count == 1))
        return TWI_EXIT_DONE;
    free_slots(s);
    if (status != TW_OK && status != TW_ERROR_MEMORY)
        return twi_complain_status(status);
    /* a tenth less than what would just do; half where memory was refused */
    const double share = status == TW_OK ? 0.9 * (double)s->budget / (double)taken : 0.5;
    s->bands.rows = (int64_t)(share * (double)s->bands.rows);
    return TWI_EXIT_DONE;
}

static bool is_possible(const stream *s)
{
    return s->cuttable ? twi_bands_are_possible(&s->bands) : s->bands.rows >= s->bands.height;
}

static bool fits_whole(const stream *s)
{
    return whole_bytes(s) <= s->budget;
}

/* Rows that are comfortable, and not many times the halo, as far as the budget allows. */
static int64_t most_rows(const stream *s)
{
    const uint64_t all = (uint64_t)twi_bands_most(&s->bands);
    const uint64_t allowed = fits_whole(s) ? all : s->budget / row_bytes(s, TWI_SLOTS);
    const uint64_t enough = comfortable / row_bytes(s, 1) + 16 * (uint64_t)s->bands.halo;
    const uint64_t rows = s->cuttable && enough < allowed ? enough : allowed;
    return (int64_t)(rows < all ? rows : all);
}

/* Whether the CPU may do what a GPU has no memory for. */
static bool may_move(const stream *s)
{
    const twi_args *args = s->f->args;
    return args->backend == TW_AUTO && !args->variant && tw_context_backend(s->engine.context) != TW_CPU;
}

/* Whether rows become columns. */
static bool transposes(const stream *s)
{
    return ((unsigned)s->f->recipe.turn & TW_TRANSPOSE) != 0;
}

/* Bands, and their memory: of a device without room smaller ones, then the CPU where it may be any. */
static twi_exit fit_bands(stream *s)
{
    s->bands.rows = most_rows(s);
    while (is_possible(s)) {
        const twi_exit result = try_bands(s);
        if (result != TWI_EXIT_DONE || s->dst[0].image.data)
            return result;
    }
    s->by_pieces = transposes(s);
    if (s->by_pieces)
        return TWI_EXIT_DONE;
    if (!may_move(s))
        return too_little(s);
    const twi_exit result = open_engine(s, TW_CPU);
    return result == TWI_EXIT_DONE ? fit_bands(s) : result;
}

/* ---- Stages ------------------------------------------------------------------------------------------ */

static twi_exit get(void *user, int64_t index)
{
    stream *s = user;
    const twi_band band = twi_bands_get(&s->bands, index);
    const twi_band before = twi_bands_get(&s->bands, index > 0 ? index - 1 : 0);
    const twi_io_status status =
        twi_bands_read(&s->bands, s->reader, s->f->args->view_y, band.first, &s->src[index % TWI_SLOTS].image,
                       before.first, index > 0 ? &s->src[(index - 1) % TWI_SLOTS].image : NULL);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

static twi_exit work(void *user, int64_t index)
{
    stream *s = user;
    const tw_image src = seen_of(s, &s->src[index % TWI_SLOTS].image);
    const tw_image *dst = &s->dst[index % TWI_SLOTS].image;
    tw_status status = twi_filter_run(s->f, &s->engine, &src, dst);
    if (status == TW_ERROR_MEMORY && may_move(s)) {
        const twi_exit result = open_engine(s, TW_CPU);
        if (result != TWI_EXIT_DONE)
            return result;
        status = twi_filter_run(s->f, &s->engine, &src, dst);
    }
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static twi_exit put(void *user, int64_t index)
{
    stream *s = user;
    tw_image rows = s->dst[index % TWI_SLOTS].image;
    const twi_band band = twi_bands_get(&s->bands, index);
    if (s->cuttable) {
        rows.data = (char *)rows.data + (band.from - band.place) * rows.pitch;
        rows.height = band.to - band.from;
    }
    if (s->share)
        return s->share->put(s->share->user, band.from, &rows);
    const twi_io_status status = twi_writer_rows(s->writer, &rows);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* ---- The whole --------------------------------------------------------------------------------------- */

/* Leaves so many bytes to others than the bands. */
static void set_aside(stream *s, uint64_t bytes)
{
    s->budget -= bytes < s->budget ? bytes : s->budget;
}

static twi_exit open_input(stream *s)
{
    twi_filter *f = s->f;
    const twi_io_status status = twi_reader_open(f->from, f->args->page, s->budget, &s->reader);
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    const twi_exit result = twi_view_of(f->args, s->reader, &s->view);
    return result == TWI_EXIT_DONE ? twi_filter_fit(f, &s->view, twi_reader_format(s->reader)) : result;
}

static twi_exit open_output(stream *s)
{
    twi_filter *f = s->f;
    const twi_recipe *recipe = &f->recipe;
    twi_reader_describe(s->reader, &f->output);
    f->output.image = twi_describe(&s->view, 0, recipe->out_width, recipe->out_height, recipe->out_type);
    const twi_exit result = twi_filter_describe(f);
    if (result != TWI_EXIT_DONE)
        return result;
    const twi_io_status status = twi_writer_open(f->to, f->format, &f->output, &s->writer);
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

static twi_exit compute(stream *s)
{
    const uint64_t device = s->engine.device_memory;
    const uint64_t budget = device > 0 && device < s->budget ? device : s->budget;
    if (s->by_pieces)
        return twi_turn_by_pieces(
            &(twi_turning){s->f, &s->engine, s->reader, s->writer, s->view, budget, s->shown ? &s->progress : NULL});
    s->progress.steps *= s->bands.count;
    return twi_pipeline_run(&(twi_pipeline){s, s->bands.count, get, work, put});
}

static twi_exit prepare(stream *s)
{
    twi_filter *f = s->f;
    twi_exit result = twi_bands_of(f, &s->view, &s->bands, &s->cuttable);
    set_aside(s, twi_reader_held(s->reader));
    if (s->share) {
        set_aside(s, s->share->kept);
        s->bands.begin = s->share->begin;
        s->bands.end = s->share->end;
    }
    s->shown = twi_progress_start(f->args, twi_filter_runs(f), &s->progress);
    if (result == TWI_EXIT_DONE)
        result = open_engine(s, f->args->backend);
    s->by_pieces = transposes(s) && !fits_whole(s);
    return result == TWI_EXIT_DONE && !s->by_pieces ? fit_bands(s) : result;
}

/* What was read did not change meanwhile. */
static twi_exit end_input(stream *s, twi_exit result)
{
    const twi_io_status status = result == TWI_EXIT_DONE ? twi_reader_end(s->reader) : TWI_IO_OK;
    return status == TWI_IO_OK ? result : twi_complain_io(status);
}

/* The result appears if all of it was written. */
static twi_exit end_output(stream *s, twi_exit result)
{
    const char *lost = "";
    /* of a failure the line has been printed */
    const twi_io_status status = twi_writer_close(s->writer, result == TWI_EXIT_DONE ? TWI_IO_OK : TWI_IO_INPUT, &lost);
    if (result == TWI_EXIT_DONE && status != TWI_IO_OK)
        result = twi_complain_io(status);
    if (result == TWI_EXIT_DONE)
        twi_filter_warn(s->f, lost);
    return result;
}

static void release(stream *s)
{
    free_slots(s);
    twi_engine_close(&s->engine);
}

twi_exit twi_stream_filter(twi_filter *f)
{
    stream s = {.f = f, .budget = twi_memory_for_bands(f->args)};
    twi_exit result = open_input(&s);
    if (result == TWI_EXIT_DONE)
        result = prepare(&s);
    if (result == TWI_EXIT_DONE)
        result = open_output(&s);
    if (result == TWI_EXIT_DONE)
        result = compute(&s);
    twi_progress_end();
    result = end_output(&s, end_input(&s, result));
    release(&s);
    twi_reader_close(s.reader);
    return result;
}

twi_exit twi_stream_share(twi_filter *f, const twi_share *share)
{
    stream s = {
        .f = f, .share = share, .reader = share->reader, .view = share->view, .budget = twi_memory_for_bands(f->args)};
    twi_exit result = prepare(&s);
    if (result == TWI_EXIT_DONE)
        result = compute(&s);
    twi_progress_end();
    result = end_input(&s, result);
    release(&s);
    return result;
}
