/* transpose on CUDA: how a turn is a walk over the source, and which kernel moves its pixels. */
#include "cuda/host.h"
#include "cuda/pattern.h"
#include "cuda/transpose_kernels.h"

static int64_t pixel_bytes(const tw_problem *problem)
{
    return problem->channels * (int64_t)tw_type_size(problem->type);
}

static bool exchanges(const tw_problem *problem)
{
    return ((unsigned)problem->turn & TWI_TURN_EXCHANGE) != 0;
}

static double bytes_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height * (double)pixel_bytes(problem);
}

/* The walk over the source for images of these pitches; returns where it begins there, in bytes. */
static int64_t walk_of(const tw_problem *problem, int64_t src_pitch, int64_t dst_pitch, twi_cuda_transpose *t)
{
    const unsigned turn = problem->turn;
    const int64_t pixel = pixel_bytes(problem);
    const bool exchange = exchanges(problem);
    int64_t start = 0;
    *t = (twi_cuda_transpose){
        .right = exchange ? src_pitch : pixel,
        .down = exchange ? pixel : src_pitch,
        .dst_pitch = dst_pitch,
    };
    twi_out_shape(problem, &t->width, &t->height);
    if (turn & TWI_TURN_LEFT_RIGHT) {
        start += (t->width - 1) * t->right;
        t->right = -t->right;
    }
    if (turn & TWI_TURN_TOP_BOTTOM) {
        start += (t->height - 1) * t->down;
        t->down = -t->down;
    }
    return start;
}

static twi_cuda_transpose arguments(const tw_problem *problem, const twi_job *job)
{
    twi_cuda_transpose t;
    const int64_t start = walk_of(problem, job->src.pitch, job->dst.pitch, &t);
    t.src = (const char *)job->src.data + start;
    t.dst = job->dst.data;
    return t;
}

typedef const void *const kernel_table[TWI_CUDA_UNITS][4];

/* What all rows of both images begin at multiples of: a power of two, TWI_CUDA_LARGEST_UNIT at most. */
static int64_t alignment_of(const twi_job *job)
{
    const uint64_t bits = (uintptr_t)job->src.data | (uintptr_t)job->dst.data | (uint64_t)job->src.pitch |
                          (uint64_t)job->dst.pitch | TWI_CUDA_LARGEST_UNIT;
    return (int64_t)(bits & (~bits + 1));
}

/* The largest units that a pixel is whole ones of: their number in the tables. */
static int unit_of(int64_t pixel, int64_t alignment)
{
    int unit = 0;
    while (unit + 1 < TWI_CUDA_UNITS && (pixel | alignment) % ((int64_t)2 << unit) == 0)
        unit++;
    return unit;
}

/* ---- What the variants to learn from do to memory ------------------------------------------------- */

/* A pixel's units of an aligned image: their bytes, and which of them a step is for. */
static int64_t unit_bytes(const twi_kernel *kernel)
{
    return (int64_t)1 << unit_of(pixel_bytes(kernel->problem), TWI_CUDA_LARGEST_UNIT);
}

static int64_t units_of(const twi_kernel *kernel)
{
    return pixel_bytes(kernel->problem) / unit_bytes(kernel);
}

static int64_t unit_at(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->step % units_of(kernel) * unit_bytes(kernel);
}

/* What becomes pixel (x, y) of dst, and that pixel. */
static int64_t address_of_source(const twi_kernel *kernel, const twi_visit *visit, int64_t x, int64_t y)
{
    twi_cuda_transpose t;
    const int64_t start = walk_of(kernel->problem, kernel->src_pitch, kernel->dst_pitch, &t);
    return x < t.width && y < t.height ? start + x * t.right + y * t.down + unit_at(kernel, visit) : TWI_NO_ADDRESS;
}

static int64_t address_of_output(const twi_kernel *kernel, const twi_visit *visit, int64_t x, int64_t y)
{
    int64_t width;
    int64_t height;
    twi_out_shape(kernel->problem, &width, &height);
    if (x >= width || y >= height)
        return TWI_NO_ADDRESS;
    return y * kernel->dst_pitch + x * pixel_bytes(kernel->problem) + unit_at(kernel, visit);
}

/* The thread's place among all. */
static int64_t across(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_x * kernel->block_width + visit->x;
}

static int64_t down(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_y * kernel->block_height + visit->y;
}

static int64_t source_by_rows(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_source(kernel, visit, down(kernel, visit), across(kernel, visit));
}

static int64_t output_by_rows(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_output(kernel, visit, down(kernel, visit), across(kernel, visit));
}

static int64_t source_by_columns(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_source(kernel, visit, across(kernel, visit), down(kernel, visit));
}

static int64_t output_by_columns(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_output(kernel, visit, across(kernel, visit), down(kernel, visit));
}

/* The row of the tile, of the source or of dst, that the thread does at this step. */
static int64_t tile_row(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->y + visit->step / units_of(kernel) * TWI_CUDA_TILE_ROWS;
}

static int64_t source_of_tile(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_source(kernel, visit, visit->block_x * TWI_CUDA_TILE_SIDE + tile_row(kernel, visit),
                             visit->block_y * TWI_CUDA_TILE_SIDE + visit->x);
}

static int64_t output_of_tile(const twi_kernel *kernel, const twi_visit *visit)
{
    return address_of_output(kernel, visit, visit->block_x * TWI_CUDA_TILE_SIDE + visit->x,
                             visit->block_y * TWI_CUDA_TILE_SIDE + tile_row(kernel, visit));
}

static int64_t in_tile(const twi_kernel *kernel, const twi_visit *visit, int64_t place)
{
    return place * pixel_bytes(kernel->problem) + unit_at(kernel, visit);
}

/* For a layout of the tile, whose pixel (column, row) lies at PLACE: what fills it and what is read. */
#define TILE_LAYOUT(NAME, PLACE)                                                                                       \
    static int64_t place_##NAME(int64_t row, int64_t column)                                                           \
    {                                                                                                                  \
        return PLACE;                                                                                                  \
    }                                                                                                                  \
    static int64_t filled_##NAME(const twi_kernel *kernel, const twi_visit *visit)                                     \
    {                                                                                                                  \
        return source_of_tile(kernel, visit) < 0                                                                       \
                   ? TWI_NO_ADDRESS                                                                                    \
                   : in_tile(kernel, visit, place_##NAME(tile_row(kernel, visit), visit->x));                          \
    }                                                                                                                  \
    static int64_t read_##NAME(const twi_kernel *kernel, const twi_visit *visit)                                       \
    {                                                                                                                  \
        return output_of_tile(kernel, visit) < 0                                                                       \
                   ? TWI_NO_ADDRESS                                                                                    \
                   : in_tile(kernel, visit, place_##NAME(visit->x, tile_row(kernel, visit)));                          \
    }
TILE_LAYOUT(shared, row *TWI_CUDA_TILE_SIDE + column)
TILE_LAYOUT(padded, row *(TWI_CUDA_TILE_SIDE + 1) + column)
TILE_LAYOUT(swizzled, row *TWI_CUDA_TILE_SIDE + (column ^ row))

typedef int64_t address_function(const twi_kernel *kernel, const twi_visit *visit);

static void declare_pixels(twi_kernel *kernel, const char *what, twi_space space, bool store, int64_t pixels,
                           address_function *address)
{
    const twi_access access = {
        .what = what,
        .space = space,
        .store = store,
        .bytes = (int32_t)unit_bytes(kernel),
        .steps = pixels * units_of(kernel),
        .address = address,
    };
    twi_declare(kernel, access);
}

static const void *kernel_for_aligned(const twi_kernel *kernel, kernel_table table)
{
    return table[unit_of(pixel_bytes(kernel->problem), TWI_CUDA_LARGEST_UNIT)][units_of(kernel) - 1];
}

static void declare_tiles(twi_kernel *kernel, kernel_table table, int32_t pitch, address_function *filled,
                          address_function *read)
{
    enum { PIXELS = TWI_CUDA_TILE_SIDE / TWI_CUDA_TILE_ROWS }; /* of a thread */
    kernel->block_width = TWI_CUDA_TILE_SIDE;
    kernel->block_height = TWI_CUDA_TILE_ROWS;
    kernel->outputs_width = TWI_CUDA_TILE_SIDE;
    kernel->outputs_height = TWI_CUDA_TILE_SIDE;
    twi_out_shape(kernel->problem, &kernel->columns, &kernel->rows);
    declare_pixels(kernel, "source", TWI_SPACE_GLOBAL, false, PIXELS, source_of_tile);
    declare_pixels(kernel, "tile", TWI_SPACE_SHARED, true, PIXELS, filled);
    declare_pixels(kernel, "tile", TWI_SPACE_SHARED, false, PIXELS, read);
    declare_pixels(kernel, "output", TWI_SPACE_GLOBAL, true, PIXELS, output_of_tile);
    kernel->function = kernel_for_aligned(kernel, table);
    kernel->shared = (size_t)(TWI_CUDA_TILE_SIDE * pitch) * (size_t)pixel_bytes(kernel->problem);
    kernel->barriers = 1;
}

static void explain_shared(twi_kernel *kernel)
{
    declare_tiles(kernel, twi_cuda_transpose_shared, TWI_CUDA_TILE_SIDE, filled_shared, read_shared);
}

static void explain_padded(twi_kernel *kernel)
{
    declare_tiles(kernel, twi_cuda_transpose_padded, TWI_CUDA_TILE_SIDE + 1, filled_padded, read_padded);
}

static void explain_swizzled(twi_kernel *kernel)
{
    declare_tiles(kernel, twi_cuda_transpose_swizzled, TWI_CUDA_TILE_SIDE, filled_swizzled, read_swizzled);
}

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

static void explain_columns(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_out_shape(kernel->problem, &kernel->columns, &kernel->rows);
    declare_pixels(kernel, "source", TWI_SPACE_GLOBAL, false, 1, source_by_columns);
    declare_pixels(kernel, "output", TWI_SPACE_GLOBAL, true, 1, output_by_columns);
    kernel->function = kernel_for_aligned(kernel, twi_cuda_transpose_columns);
}

static void explain_rows(twi_kernel *kernel)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    twi_out_shape(kernel->problem, &kernel->rows, &kernel->columns);
    declare_pixels(kernel, "source", TWI_SPACE_GLOBAL, false, 1, source_by_rows);
    declare_pixels(kernel, "output", TWI_SPACE_GLOBAL, true, 1, output_by_rows);
    kernel->function = kernel_for_aligned(kernel, twi_cuda_transpose_rows);
}

/* ---- The variants to learn from ------------------------------------------------------------------ */

static const char *refuses_flips(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return exchanges(problem) ? NULL : "a flip leaves rows rows: there is nothing to transpose";
}

/* Loads all kernels that runs may need, which depends on where the images lie. */
static tw_status load_kernels(const tw_plan *plan, kernel_table table)
{
    const int64_t pixel = pixel_bytes(&plan->problem);
    for (int unit = 0; unit < TWI_CUDA_UNITS; unit++)
        if (pixel >> unit << unit == pixel && pixel >> unit <= 4)
            TWI_TRY(twi_cuda_load_kernel(plan, table[unit][(pixel >> unit) - 1], 0));
    return TW_OK;
}

static const void *kernel_of(const tw_plan *plan, const twi_job *job, kernel_table table)
{
    const int64_t pixel = pixel_bytes(&plan->problem);
    const int unit = unit_of(pixel, alignment_of(job));
    return table[unit][(pixel >> unit) - 1];
}

static tw_status prepare_direct(tw_plan *plan, kernel_table table)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return load_kernels(plan, table);
}

static double cost_rows(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.004 * bytes_of(problem);
}

static tw_status prepare_rows(tw_plan *plan)
{
    return prepare_direct(plan, twi_cuda_transpose_rows);
}

static tw_status run_rows(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_transpose t = arguments(&plan->problem, job);
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_launch(kernel_of(plan, job, twi_cuda_transpose_rows), &shape, &t, t.height, &t.left, &t.first,
                           t.width, job->stream);
}

const twi_code twi_transpose_rows_cuda = {
    .refuses = refuses_flips,
    .cost = cost_rows,
    .prepare = prepare_rows,
    .run = run_rows,
    .whole = true,
    .explain = explain_rows,
};

static double cost_columns(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + (exchanges(problem) ? 0.003 : 0.001) * bytes_of(problem);
}

static tw_status prepare_columns(tw_plan *plan)
{
    return prepare_direct(plan, twi_cuda_transpose_columns);
}

static tw_status launch_columns(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_transpose t = arguments(&plan->problem, job);
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_launch(kernel_of(plan, job, twi_cuda_transpose_columns), &shape, &t, t.width, &t.left, &t.first,
                           t.height, job->stream);
}

const twi_code twi_transpose_columns_cuda = {
    .cost = cost_columns,
    .prepare = prepare_columns,
    .run = launch_columns,
    .whole = true,
    .explain = explain_columns,
};

static const twi_cuda_shape tile_shape = {
    .block_width = TWI_CUDA_TILE_SIDE,
    .block_height = TWI_CUDA_TILE_ROWS,
    .outputs_width = TWI_CUDA_TILE_SIDE,
    .outputs_height = TWI_CUDA_TILE_SIDE,
};

static tw_status launch_tiles(const tw_plan *plan, const twi_job *job, kernel_table table)
{
    twi_cuda_transpose t = arguments(&plan->problem, job);
    return twi_cuda_launch(kernel_of(plan, job, table), &tile_shape, &t, t.width, &t.left, &t.first, t.height,
                           job->stream);
}

#define TILE_VARIANT(NAME, COST)                                                                                       \
    static double cost_##NAME(const tw_context *context, const tw_problem *problem)                                    \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        return 5000 + (COST)*bytes_of(problem);                                                                        \
    }                                                                                                                  \
    static tw_status prepare_##NAME(tw_plan *plan)                                                                     \
    {                                                                                                                  \
        return load_kernels(plan, twi_cuda_transpose_##NAME);                                                          \
    }                                                                                                                  \
    static tw_status run_##NAME(const tw_plan *plan, const twi_job *job)                                               \
    {                                                                                                                  \
        return launch_tiles(plan, job, twi_cuda_transpose_##NAME);                                                     \
    }                                                                                                                  \
    const twi_code twi_transpose_##NAME##_cuda = {                                                                     \
        .refuses = refuses_flips,                                                                                      \
        .cost = cost_##NAME,                                                                                           \
        .prepare = prepare_##NAME,                                                                                     \
        .run = run_##NAME,                                                                                             \
        .whole = true,                                                                                                 \
        .explain = explain_##NAME,                                                                                     \
    };
TILE_VARIANT(shared, 0.0015)
TILE_VARIANT(padded, 0.0009)
TILE_VARIANT(swizzled, 0.0009)

/* ---- fast ------------------------------------------------------------------------------------------ */

static const char *refuses_fast(const tw_context *context, const tw_problem *problem)
{
    const int64_t pixel = pixel_bytes(problem);
    (void)context;
    if (exchanges(problem) && (pixel > TWI_CUDA_LARGEST_UNIT || (pixel & (pixel - 1)) != 0))
        return "its pixels have 1, 2, 4, 8 or 16 bytes";
    return NULL;
}

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 4000 + 0.0005 * bytes_of(problem);
}

static tw_status load_tiles(const tw_plan *plan, const twi_cuda_transpose_fast *tiles)
{
    return twi_cuda_load_kernel(plan, tiles->kernel, (size_t)tiles->shared);
}

static tw_status prepare_fast(tw_plan *plan)
{
    const int unit = unit_of(pixel_bytes(&plan->problem), TWI_CUDA_LARGEST_UNIT);
    if (exchanges(&plan->problem)) {
        TWI_TRY(load_kernels(plan, twi_cuda_transpose_padded));
        if (unit < TWI_CUDA_SHIFTED_UNITS)
            TWI_TRY(load_tiles(plan, &twi_cuda_transpose_shifted[unit]));
        return load_tiles(plan, &twi_cuda_transpose_tiles[unit]);
    }
    for (int i = 0; i < TWI_CUDA_UNITS; i++)
        TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_flip[i], 0));
    return prepare_columns(plan);
}

static tw_status launch_fast_tiles(const tw_plan *plan, const twi_job *job, const twi_cuda_transpose_fast *tiles)
{
    twi_cuda_transpose t = arguments(&plan->problem, job);
    if (t.down < 0) { /* a source row that is read backwards is dst's column written upwards */
        t.src = (const char *)t.src + (t.height - 1) * t.down;
        t.dst = (char *)t.dst + (t.height - 1) * t.dst_pitch;
        t.down = -t.down;
        t.dst_pitch = -t.dst_pitch;
    }
    t.band = tiles->band;
    const twi_cuda_shape shape = {
        .block_width = TWI_CUDA_FAST_THREADS,
        .block_height = 1,
        .outputs_width = (unsigned)tiles->width,
        .outputs_height = (unsigned)tiles->height,
        .shared = (size_t)tiles->shared,
    };
    return twi_cuda_launch(tiles->kernel, &shape, &t, t.width, &t.left, &t.first, t.height, job->stream);
}

/* Rows of whole pieces of 16 bytes, left and right exchanged or not. */
static tw_status launch_flip(const tw_plan *plan, const twi_job *job)
{
    static const twi_cuda_shape shape = {64, 4, 64, 4, 0};
    const int64_t pixel = pixel_bytes(&plan->problem);
    const bool mirrored = ((unsigned)plan->problem.turn & TWI_TURN_LEFT_RIGHT) != 0;
    twi_cuda_transpose t = arguments(&plan->problem, job);
    const int unit = mirrored ? unit_of(pixel, TWI_CUDA_LARGEST_UNIT) : TWI_CUDA_UNITS - 1;
    if (mirrored) /* from a row's last pixel to its last piece */
        t.src = (const char *)t.src + pixel - TWI_CUDA_LARGEST_UNIT;
    t.right = mirrored ? -TWI_CUDA_LARGEST_UNIT : TWI_CUDA_LARGEST_UNIT;
    t.width = t.width * pixel / TWI_CUDA_LARGEST_UNIT;
    return twi_cuda_launch(twi_cuda_flip[unit], &shape, &t, t.width, &t.left, &t.first, t.height, job->stream);
}

/* Whether pieces of 16 bytes may be moved: of a mirrored row, pixels must not lie across their ends. */
static bool flips_pieces(const tw_problem *problem, const twi_job *job)
{
    const int64_t pixel = pixel_bytes(problem);
    const bool mirrored = ((unsigned)problem->turn & TWI_TURN_LEFT_RIGHT) != 0;
    return alignment_of(job) == TWI_CUDA_LARGEST_UNIT && problem->width * pixel % TWI_CUDA_LARGEST_UNIT == 0 &&
           (!mirrored || (pixel <= TWI_CUDA_LARGEST_UNIT && (pixel & (pixel - 1)) == 0));
}

static tw_status run_fast(const tw_plan *plan, const twi_job *job)
{
    const int unit = unit_of(pixel_bytes(&plan->problem), TWI_CUDA_LARGEST_UNIT);
    if (exchanges(&plan->problem)) {
        if (alignment_of(job) == TWI_CUDA_LARGEST_UNIT)
            return launch_fast_tiles(plan, job, &twi_cuda_transpose_tiles[unit]);
        if (unit < TWI_CUDA_SHIFTED_UNITS)
            return launch_fast_tiles(plan, job, &twi_cuda_transpose_shifted[unit]);
        return launch_tiles(plan, job, twi_cuda_transpose_padded); /* as fast, for larger pixels */
    }
    return flips_pieces(&plan->problem, job) ? launch_flip(plan, job) : launch_columns(plan, job);
}

const twi_code twi_transpose_fast_cuda = {
    .refuses = refuses_fast,
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
    .whole = true,
};
