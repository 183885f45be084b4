/* Figures of an image larger than memory, whose rows come in bands: of the whole image by a tally, of rows as they
   come, of columns strip by strip, for each of which all bands are read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bands.h"
#include "cli/memory.h"
#include "cli/pipeline.h"
#include "cli/progress.h"
#include "cli/stats.h"

/* Larger bands are no faster. */
static const uint64_t comfortable = (uint64_t)16 << 20;

typedef struct stream {
    twi_stats *s;
    twi_reader *reader;
    twi_engine engine;
    twi_progress progress;
    uint64_t budget; /* bytes of a GPU's memory too */
    int64_t rows;    /* of a band but the last */
    int64_t bands;
    twi_io_image src[TWI_SLOTS];
    tw_tally *figures;  /* of the whole image; NULL: of lines */
    tw_tally *counts;   /* of the histogram; NULL: none is asked for */
    tw_stats *lines;    /* the records of a band's rows */
    twi_io_image strip; /* all rows of some columns, the first of them strip_x */
    int64_t strip_x;
} stream;

static twi_exit judge(tw_status status)
{
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static twi_exit judge_io(twi_io_status status)
{
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* ---- Bands ----------------------------------------------------------------------------------------- */

static int64_t begin_of(const stream *t, int64_t index)
{
    return index * t->rows;
}

/* The part of band `index` that counts. */
static tw_image band_of(const stream *t, int64_t index)
{
    const int64_t left = t->s->src.height - begin_of(t, index);
    tw_image band = t->src[index % TWI_SLOTS].image;
    band.height = left < t->rows ? left : t->rows;
    band.width = t->s->src.width;
    band.data = (char *)band.data + t->s->args->view_x * band.channels * (int64_t)tw_type_size(band.type);
    return band;
}

static twi_exit get(void *user, int64_t index)
{
    stream *t = user;
    tw_image rows = t->src[index % TWI_SLOTS].image;
    rows.height = band_of(t, index).height;
    return judge_io(twi_reader_rows(t->reader, t->s->args->view_y + begin_of(t, index), &rows));
}

/* ---- What is made of a band --------------------------------------------------------------------------- */

static tw_image records_at(tw_stats *records, int64_t width, int64_t height, int32_t channels)
{
    const int64_t pitch = width * channels * (int64_t)sizeof(tw_stats);
    return (tw_image){records, width, height, pitch, channels, TW_STATS, TW_HOST};
}

static tw_status tally_band(stream *t, const tw_image *band)
{
    const tw_image found = records_at(t->lines, 1, band->height, band->channels);
    tw_problem problem;
    tw_status status = tw_tally_problem(t->figures, band->height, &problem);
    if (status == TW_OK)
        status = twi_engine_run(&t->engine, &problem, band, &found, 1);
    return status == TW_OK ? tw_tally_add_found(t->figures, band->height, &found) : status;
}

/* The records of all lines of an image, of which the first has the place (x, y) in the one that was read. */
static tw_status reduce_lines(stream *t, const tw_image *src, const tw_image *records, int64_t x, int64_t y)
{
    const unsigned figures = t->s->args->figures;
    const tw_reduce_params params = {.axis = twi_stats_axis(t->s->args), .figures = figures};
    tw_problem problem;
    tw_status status = tw_reduce_problem(src, records, &params, &problem);
    if (status == TW_OK)
        status = twi_engine_run(&t->engine, &problem, src, records, 1);
    for (int64_t i = 0; i < records->width * records->height * records->channels && status == TW_OK; i++) {
        tw_stats *record = (tw_stats *)records->data + i;
        record->argmin_x += figures & TW_FIGURE_ARGMIN ? x : 0;
        record->argmin_y += figures & TW_FIGURE_ARGMIN ? y : 0;
        record->argmax_x += figures & TW_FIGURE_ARGMAX ? x : 0;
        record->argmax_y += figures & TW_FIGURE_ARGMAX ? y : 0;
    }
    return status;
}

static void copy_columns(const stream *t, const tw_image *band, int64_t y)
{
    const tw_image *strip = &t->strip.image;
    const int64_t pixel = band->channels * (int64_t)tw_type_size(band->type);
    for (int64_t i = 0; i < band->height; i++)
        memcpy((char *)strip->data + (y + i) * strip->pitch,
               (const char *)band->data + i * band->pitch + t->strip_x * pixel, (size_t)(strip->width * pixel));
}

static twi_exit work(void *user, int64_t index)
{
    stream *t = user;
    const tw_image band = band_of(t, index);
    const int64_t y = begin_of(t, index);
    const tw_image records =
        records_at((tw_stats *)t->s->records.data + y * band.channels, 1, band.height, band.channels);
    tw_status status = TW_OK;
    if (t->figures)
        status = tally_band(t, &band);
    else if (t->strip.image.data)
        copy_columns(t, &band, y);
    else
        status = reduce_lines(t, &band, &records, 0, y);
    if (status == TW_OK && tw_tally_wants(t->counts))
        status = tw_tally_add(t->counts, &band);
    return judge(status);
}

static twi_exit pass(stream *t)
{
    return twi_pipeline_run(&(twi_pipeline){.user = t, .count = t->bands, .get = get, .work = work});
}

/* ---- Passes over all bands ----------------------------------------------------------------------------- */

static twi_exit reduce_image(stream *t)
{
    twi_exit result = TWI_EXIT_DONE;
    while (tw_tally_wants(t->figures) && result == TWI_EXIT_DONE)
        result = pass(t);
    return result == TWI_EXIT_DONE ? judge(tw_tally_finish(t->figures, &t->s->records)) : result;
}

static twi_exit reduce_columns(stream *t)
{
    tw_image *strip = &t->strip.image;
    const int64_t width = strip->width;
    twi_exit result = TWI_EXIT_DONE;
    for (t->strip_x = 0; t->strip_x < t->s->src.width && result == TWI_EXIT_DONE; t->strip_x += width) {
        const int64_t left = t->s->src.width - t->strip_x;
        strip->width = left < width ? left : width;
        tw_stats *first = (tw_stats *)t->s->records.data + t->strip_x * strip->channels;
        const tw_image records = records_at(first, strip->width, 1, strip->channels);
        result = pass(t);
        if (result == TWI_EXIT_DONE)
            result = judge(reduce_lines(t, strip, &records, t->strip_x, 0));
    }
    return result;
}

/* ---- Memory ------------------------------------------------------------------------------------------ */

/* Rows of so many bytes that the share of the budget holds. */
static int64_t rows_in(uint64_t budget, uint64_t row, int64_t most)
{
    const uint64_t rows = budget / row;
    return rows < (uint64_t)most ? (int64_t)rows : most;
}

static twi_exit take_bands(stream *t, tw_axis axis)
{
    const tw_image *shape = twi_reader_shape(t->reader);
    const tw_image *src = &t->s->src;
    const uint64_t pixel = (uint64_t)src->channels * tw_type_size(src->type);
    const uint64_t row = TWI_SLOTS * (uint64_t)shape->width * pixel + sizeof(tw_stats) * (uint64_t)src->channels;
    const uint64_t share = t->budget / 2 < comfortable ? t->budget / 2 : comfortable;
    const int64_t columns =
        axis == TW_AXIS_Y ? rows_in(t->budget / 2, (uint64_t)src->height * pixel, src->width) : src->width;
    twi_io_status status = TWI_IO_OK;
    t->rows = rows_in(share, row, src->height);
    if (t->rows < 1 || columns < 1) {
        (void)twi_complain(TWI_EXIT_MEMORY,
                           "%s: %" PRId64 "x%" PRId64 " pixels: not a %s of them fits into the "
                           "memory that may be taken: give a higher --memory",
                           strcmp(t->s->from, "-") == 0 ? "stdin" : t->s->from, src->width, src->height,
                           t->rows < 1 ? "row" : "column");
        return TWI_EXIT_MEMORY;
    }
    t->bands = (src->height + t->rows - 1) / t->rows;
    for (int i = 0; i < TWI_SLOTS && status == TWI_IO_OK; i++)
        status = twi_io_create(shape->width, t->rows, shape->channels, shape->type, &t->src[i]);
    if (status == TWI_IO_OK && axis == TW_AXIS_Y)
        status = twi_io_create(columns, src->height, src->channels, src->type, &t->strip);
    return judge_io(status);
}

/* The tallies, which outlive all bands. */
static twi_exit take_tallies(stream *t)
{
    const twi_stats *s = t->s;
    const tw_reduce_params params = {.axis = TW_AXIS_ALL, .figures = s->args->figures};
    tw_problem problem;
    tw_status status = TW_OK;
    if (twi_stats_axis(s->args) == TW_AXIS_ALL) {
        status = tw_reduce_problem(&s->src, &s->records, &params, &problem);
        if (status == TW_OK)
            status = tw_tally_create(t->engine.context, &problem, &t->figures);
    }
    if (status == TW_OK && s->args->histogram) {
        status = tw_histogram_problem(&s->src, &s->counts, &problem);
        if (status == TW_OK)
            status = tw_tally_create(t->engine.context, &problem, &t->counts);
    }
    if (status != TW_OK)
        return twi_complain_status(status);
    t->lines = calloc((size_t)(t->rows * s->src.channels), sizeof *t->lines);
    return t->lines ? TWI_EXIT_DONE : twi_complain(TWI_EXIT_MEMORY, "out of memory: the figures of a band");
}

static void free_memory(stream *t)
{
    for (int i = 0; i < TWI_SLOTS; i++)
        twi_io_free(&t->src[i]);
    twi_io_free(&t->strip);
    tw_tally_destroy(t->figures);
    tw_tally_destroy(t->counts);
    free(t->lines);
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

static twi_exit find_in_bands(stream *t)
{
    twi_stats *s = t->s;
    const tw_axis axis = twi_stats_axis(s->args);
    twi_exit result = twi_stats_prepare(s);
    if (result == TWI_EXIT_DONE)
        result = take_bands(t, axis);
    if (result == TWI_EXIT_DONE)
        result = take_tallies(t);
    t->progress.steps *= 2 * t->bands;
    if (result == TWI_EXIT_DONE)
        result = axis == TW_AXIS_X ? pass(t) : axis == TW_AXIS_Y ? reduce_columns(t) : reduce_image(t);
    if (result == TWI_EXIT_DONE && t->counts)
        result = judge(tw_tally_finish(t->counts, &s->counts));
    return result == TWI_EXIT_DONE ? judge_io(twi_reader_end(t->reader)) : result;
}

/* An image that the memory holds. */
static twi_exit find_at_once(stream *t)
{
    twi_stats *s = t->s;
    twi_exit result = judge_io(twi_reader_all(t->reader, t->budget, &s->input));
    if (result != TWI_EXIT_DONE)
        return result;
    s->src.pitch = s->input.image.pitch;
    s->src.data = (char *)s->input.image.data + s->args->view_y * s->src.pitch +
                  s->args->view_x * s->src.channels * (int64_t)tw_type_size(s->src.type);
    return twi_stats_compute(s, &t->engine);
}

static twi_exit find(stream *t, const twi_args *args)
{
    twi_stats *s = t->s;
    t->budget = twi_memory_for_bands(s->args);
    twi_exit result = judge_io(twi_reader_open(s->from, s->args->page, t->budget, &t->reader));
    if (result == TWI_EXIT_DONE)
        result = twi_view_of(s->args, t->reader, &s->src);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_image *shape = twi_reader_shape(t->reader);
    const uint64_t whole =
        (uint64_t)shape->height * (uint64_t)(shape->width * shape->channels) * tw_type_size(shape->type);
    const uint64_t held = twi_reader_held(t->reader);
    const bool shown = twi_progress_start(s->args, s->args->histogram ? 2 : 1, &t->progress);
    result = twi_engine_open(args, TW_OP_REDUCE, args->threads, s->sharers > 1 ? TWI_ENGINES_A_GPU + 1 : 1,
                             shown ? twi_progress_report : NULL, &t->progress, &t->engine);
    t->engine.args = s->args;
    t->budget -= held < t->budget ? held : t->budget;
    if (t->engine.device_memory > 0 && t->engine.device_memory / 2 < t->budget)
        t->budget = t->engine.device_memory / 2; /* the rest is for plans */
    if (result == TWI_EXIT_DONE)
        result = whole <= t->budget ? find_at_once(t) : find_in_bands(t);
    twi_progress_end();
    return result;
}

/* `args`: the line, but for the device. *on_gpu: it was one. */
static twi_exit attempt(twi_stats *s, const twi_args *args, bool *on_gpu)
{
    stream t = {.s = s};
    const twi_exit result = find(&t, args);
    *on_gpu = t.engine.device_memory > 0;
    free_memory(&t);
    twi_engine_close(&t.engine);
    twi_reader_close(t.reader);
    return result;
}

/* What a GPU has no memory for, the CPU does where it may, if the file can be read again. */
twi_exit twi_stats_find(twi_stats *s)
{
    twi_args on_cpu = *s->args;
    twi_complaints said = {0};
    twi_complaints *before = twi_keep_complaints(&said);
    bool on_gpu = false;
    twi_exit result = attempt(s, s->args, &on_gpu);
    (void)twi_keep_complaints(before);
    if (result == TWI_EXIT_MEMORY && on_gpu && s->args->backend == TW_AUTO && strcmp(s->from, "-") != 0) {
        on_cpu.backend = TW_CPU;
        twi_stats_free(s);
        result = attempt(s, &on_cpu, &on_gpu);
    } else {
        if (said.warning)
            (void)twi_complain(TWI_EXIT_DONE, "%s", said.warning);
        if (said.failure)
            (void)twi_complain(result, "%s", said.failure);
    }
    free(said.warning);
    free(said.failure);
    return result;
}
