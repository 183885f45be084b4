/* Where bands lie. All have the same height, so that one plan serves them: the last one begins earlier instead. */
#include <string.h>

#include "cli/bands.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

tw_image twi_describe(const tw_image *like, int64_t address, int64_t width, int64_t height, tw_type type)
{
    const int64_t pitch = width * like->channels * (int64_t)tw_type_size(type);
    return (tw_image){(void *)(uintptr_t)address, width, height, pitch, like->channels, type, TW_HOST};
}

twi_exit twi_view_of(const twi_args *args, const twi_reader *reader, tw_image *view)
{
    const tw_image *shape = twi_reader_shape(reader);
    const tw_image whole = twi_describe(shape, 8, shape->width, shape->height, shape->type);
    *view = whole;
    if (args->view_width == 0)
        return TWI_EXIT_DONE;
    const tw_status status =
        tw_image_view(&whole, args->view_x, args->view_y, args->view_width, args->view_height, view);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

twi_exit twi_bands_of(const twi_filter *f, const tw_image *view, twi_bands *bands, bool *cuttable)
{
    const twi_recipe *recipe = &f->recipe;
    const int64_t far = INT64_MAX / 4 / 8 * 8;
    const tw_image src = twi_describe(view, 8, view->width, view->height, view->type);
    const tw_image dst = twi_describe(view, far, recipe->out_width, recipe->out_height, recipe->out_type);
    tw_problem problem;
    const tw_status status = twi_filter_problem(f, &src, &dst, &problem);
    if (status != TW_OK)
        return twi_complain_status(status);
    const int64_t above = problem.window.anchor_y;
    const int64_t below = problem.window.height - 1 - above;
    *bands = (twi_bands){
        .height = view->height,
        .end = view->height,
        .rows = view->height,
        .halo = problem.window.height > 1 ? most(above, below) * twi_filter_runs(f) : 0,
        .wraps = recipe->border.mode == TW_BORDER_WRAP,
        .upward = recipe->turn == TW_FLIP_VERTICAL || recipe->turn == TW_ROTATE_180,
    };
    *cuttable = problem.op != TW_OP_INTEGRAL && (problem.op != TW_OP_SCAN || problem.axis == TW_AXIS_X) &&
                !((unsigned)recipe->turn & TW_TRANSPOSE);
    return TWI_EXIT_DONE;
}

/* New output rows a band. */
static int64_t step_of(const twi_bands *bands)
{
    return bands->rows - 2 * bands->halo;
}

/* The first row that is read, and one past the last; beyond the image where it wraps. */
static int64_t top_of(const twi_bands *bands)
{
    const int64_t top = bands->begin - bands->halo;
    return bands->wraps ? top : most(top, 0);
}

static int64_t bottom_of(const twi_bands *bands)
{
    const int64_t bottom = bands->end + bands->halo;
    return bands->wraps ? bottom : least(bottom, bands->height);
}

int64_t twi_bands_most(const twi_bands *bands)
{
    return least(bottom_of(bands) - top_of(bands), bands->height);
}

bool twi_bands_are_possible(const twi_bands *bands)
{
    return bands->rows >= twi_bands_most(bands) || step_of(bands) > 0;
}

void twi_bands_cut(twi_bands *bands)
{
    const int64_t rest = bottom_of(bands) - top_of(bands) - 2 * bands->halo;
    bands->count = bands->rows >= twi_bands_most(bands) ? 1 : (rest + step_of(bands) - 1) / step_of(bands);
}

twi_band twi_bands_get(const twi_bands *bands, int64_t index)
{
    const int64_t halo = bands->halo;
    const int64_t step = step_of(bands);
    const int64_t height = bands->height;
    if (bands->rows >= height) /* the border is the image's own */
        return (twi_band){0, 0, bands->begin, bands->end};
    const int64_t top = top_of(bands);
    twi_band band = {.first = least(top + index * step, bottom_of(bands) - bands->rows)};
    band.place = band.first;
    band.from = index == 0 ? bands->begin : top + index * step + halo;
    band.to = index == bands->count - 1 ? bands->end : top + (index + 1) * step + halo;
    if (bands->upward)
        band.first = height - bands->rows - band.first;
    return band;
}

static void *row_of(const tw_image *image, int64_t y)
{
    return (char *)image->data + y * image->pitch;
}

/* Rows from ... to - 1 of those that begin with `first`; beyond the image they wrap. */
static twi_io_status read_rows(const twi_bands *bands, twi_reader *reader, int64_t above, int64_t first,
                               const tw_image *rows, int64_t from, int64_t to)
{
    const int64_t height = bands->height;
    while (from < to) {
        const int64_t row = (from % height + height) % height;
        tw_image part = *rows;
        part.data = row_of(rows, from - first);
        part.height = least(to - from, height - row);
        const twi_io_status status = twi_reader_rows(reader, above + row, &part);
        if (status != TWI_IO_OK)
            return status;
        from += part.height;
    }
    return TWI_IO_OK;
}

twi_io_status twi_bands_read(const twi_bands *bands, twi_reader *reader, int64_t above, int64_t first,
                             const tw_image *rows, int64_t first_before, const tw_image *before)
{
    const int64_t last = first + rows->height;
    const int64_t from = before ? most(first, first_before) : first;
    const int64_t to = before ? most(from, least(last, first_before + before->height)) : first;
    for (int64_t y = from; y < to; y++)
        memcpy(row_of(rows, y - first), row_of(before, y - first_before), (size_t)rows->pitch);
    if (from >= to) /* nothing in common */
        return read_rows(bands, reader, above, first, rows, first, last);
    const twi_io_status status = read_rows(bands, reader, above, first, rows, first, from);
    return status == TWI_IO_OK ? read_rows(bands, reader, above, first, rows, to, last) : status;
}
