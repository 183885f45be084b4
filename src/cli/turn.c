/*
 * A turned image larger than memory. A band of h rows, turned, is an image of h columns; it is kept solid, so that the
 * rows of it which one band of the result needs, a piece, are bytes side by side. All reads and writes are large.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/pipeline.h"
#include "cli/turn.h"

/* Larger bands are no faster. */
static const uint64_t comfortable = (uint64_t)256 << 20;

typedef struct turner {
    const twi_turning *t;
    int scratch;
    size_t pixel;      /* bytes */
    int64_t rows;      /* of the image in a band of the first pass, of the result in one of the second */
    int64_t bands;     /* of the first pass */
    int64_t band_rows; /* rows of each of those, but the last */
    twi_io_image from[TWI_SLOTS];
    twi_io_image to[TWI_SLOTS]; /* first pass: as bytes */
} turner;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static twi_exit judge(twi_io_status status)
{
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(status);
}

/* Rows of the image before band `index`, and of it. */
static int64_t begin_of(const turner *s, int64_t index)
{
    return index * s->band_rows;
}

static int64_t height_of(const turner *s, int64_t index)
{
    return least(s->band_rows, s->t->view.height - begin_of(s, index));
}

static void free_slots(turner *s)
{
    for (int i = 0; i < TWI_SLOTS; i++) {
        twi_io_free(&s->from[i]);
        twi_io_free(&s->to[i]);
    }
}

/* ---- First pass: bands of rows, turned --------------------------------------------------------------- */

static twi_exit get_rows(void *user, int64_t index)
{
    turner *s = user;
    tw_image rows = s->from[index % TWI_SLOTS].image;
    rows.height = height_of(s, index);
    return judge(twi_reader_rows(s->t->reader, s->t->f->args->view_y + begin_of(s, index), &rows));
}

/* Band `index`, turned. */
static tw_image turned(const turner *s, int64_t index)
{
    tw_image image = s->t->view;
    image.data = s->to[index % TWI_SLOTS].image.data;
    image.width = height_of(s, index);
    image.height = s->t->view.width;
    image.pitch = image.width * (int64_t)s->pixel;
    return image;
}

static twi_exit turn_rows(void *user, int64_t index)
{
    turner *s = user;
    const tw_image dst = turned(s, index);
    tw_image src = s->from[index % TWI_SLOTS].image;
    src.data = (char *)src.data + (size_t)s->t->f->args->view_x * s->pixel;
    src.width = s->t->view.width;
    src.height = height_of(s, index);
    const tw_status status = twi_filter_run(s->t->f, s->t->engine, &src, &dst);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static uint64_t bytes_before(const turner *s, int64_t index)
{
    return (uint64_t)begin_of(s, index) * (uint64_t)s->t->view.width * s->pixel;
}

static twi_exit put_turned(void *user, int64_t index)
{
    turner *s = user;
    const tw_image image = turned(s, index);
    return judge(
        twi_io_scratch_write(s->scratch, bytes_before(s, index), image.data, (size_t)(image.height * image.pitch)));
}

static twi_exit turn_bands(turner *s)
{
    const tw_image *shape = twi_reader_shape(s->t->reader);
    const tw_image *view = &s->t->view;
    const int64_t bytes = s->rows * view->width * (int64_t)s->pixel;
    twi_io_status status = TWI_IO_OK;
    s->band_rows = s->rows;
    s->bands = (view->height + s->rows - 1) / s->rows;
    for (int i = 0; i < TWI_SLOTS && status == TWI_IO_OK; i++) {
        status = twi_io_create(shape->width, s->rows, shape->channels, shape->type, &s->from[i]);
        if (status == TWI_IO_OK)
            status = twi_io_create(bytes, 1, 1, TW_U8, &s->to[i]);
    }
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    return twi_pipeline_run(&(twi_pipeline){s, s->bands, get_rows, turn_rows, put_turned});
}

/* ---- Second pass: rows of the result, from pieces of all bands --------------------------------------- */

/* Rows of the result before band `index`, and of it. */
static int64_t result_begin(const turner *s, int64_t index)
{
    return index * s->rows;
}

static int64_t result_height(const turner *s, int64_t index)
{
    return least(s->rows, s->t->view.width - result_begin(s, index));
}

/* The pieces, one behind the other. */
static twi_exit get_pieces(void *user, int64_t index)
{
    turner *s = user;
    char *at = s->from[index % TWI_SLOTS].image.data;
    twi_io_status status = TWI_IO_OK;
    for (int64_t band = 0; band < s->bands && status == TWI_IO_OK; band++) {
        const uint64_t row = (uint64_t)height_of(s, band) * s->pixel;
        const size_t bytes = (size_t)((uint64_t)result_height(s, index) * row);
        status =
            twi_io_scratch_read(s->scratch, bytes_before(s, band) + (uint64_t)result_begin(s, index) * row, at, bytes);
        at += bytes;
    }
    return judge(status);
}

/* Each piece's rows, side by side with those of the others. */
static twi_exit join_pieces(void *user, int64_t index)
{
    turner *s = user;
    const tw_image *rows = &s->to[index % TWI_SLOTS].image;
    const char *from = s->from[index % TWI_SLOTS].image.data;
    const bool backward = ((unsigned)s->t->f->recipe.turn & TW_FLIP_HORIZONTAL) != 0;
    for (int64_t band = 0; band < s->bands; band++) {
        const size_t bytes = (size_t)height_of(s, band) * s->pixel;
        const int64_t x = backward ? rows->width - begin_of(s, band) - height_of(s, band) : begin_of(s, band);
        char *to = (char *)rows->data + (size_t)x * s->pixel;
        for (int64_t y = 0; y < result_height(s, index); y++, from += bytes, to += rows->pitch)
            memcpy(to, from, bytes);
    }
    if (s->t->progress)
        (void)twi_progress_report(s->t->progress, 1);
    return TWI_EXIT_DONE;
}

static twi_exit put_rows(void *user, int64_t index)
{
    turner *s = user;
    tw_image rows = s->to[index % TWI_SLOTS].image;
    rows.height = result_height(s, index);
    return judge(twi_writer_rows(s->t->writer, &rows));
}

static twi_exit join_bands(turner *s)
{
    const tw_image *view = &s->t->view;
    const int64_t bytes = s->rows * view->height * (int64_t)s->pixel;
    twi_io_status status = TWI_IO_OK;
    for (int i = 0; i < TWI_SLOTS && status == TWI_IO_OK; i++) {
        status = twi_io_create(bytes, 1, 1, TW_U8, &s->from[i]);
        if (status == TWI_IO_OK)
            status = twi_io_create(view->height, s->rows, view->channels, view->type, &s->to[i]);
    }
    if (status != TWI_IO_OK)
        return twi_complain_io(status);
    const int64_t count = (view->width + s->rows - 1) / s->rows;
    return twi_pipeline_run(&(twi_pipeline){s, count, get_pieces, join_pieces, put_rows});
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

/* Rows of so many pixels, and as many again for what is made of them, in two slots. */
static int64_t rows_for(const turner *s, int64_t width, int64_t most)
{
    const uint64_t budget = s->t->budget < comfortable ? s->t->budget : comfortable;
    const uint64_t rows = budget / (2 * TWI_SLOTS * (uint64_t)width * s->pixel);
    return rows < (uint64_t)most ? (int64_t)rows : most;
}

static twi_exit run_passes(turner *s, int64_t first_rows, int64_t second_rows)
{
    s->rows = first_rows;
    twi_exit result = turn_bands(s);
    free_slots(s);
    s->rows = second_rows;
    if (result == TWI_EXIT_DONE)
        result = join_bands(s);
    free_slots(s);
    return result;
}

twi_exit twi_turn_by_pieces(const twi_turning *turning)
{
    const tw_image *view = &turning->view;
    turner s = {.t = turning, .pixel = (size_t)view->channels * tw_type_size(view->type)};
    const int64_t first = rows_for(&s, twi_reader_shape(turning->reader)->width, view->height);
    const int64_t second = rows_for(&s, view->height, view->width);
    if (first < 1 || second < 1)
        return twi_complain(TWI_EXIT_MEMORY,
                            "%s: %" PRId64 "x%" PRId64 " pixels: not a row of them fits into the memory that may be "
                            "taken: give a higher --memory",
                            turning->f->from, view->width, view->height);
    s.scratch = twi_io_scratch(turning->f->to);
    if (s.scratch < 0)
        return twi_complain(TWI_EXIT_OUTPUT, "%s: no temporary file beside it, which a turn of a large image needs",
                            turning->f->to);
    if (turning->progress)
        turning->progress->steps = (view->height + first - 1) / first + (view->width + second - 1) / second;
    const twi_exit result = run_passes(&s, first, second);
    (void)close(s.scratch);
    return result;
}
