/* box on CUDA, variant separable: chunks of the image, and the passes over each (box_separable.cu). */
#include "cuda/host.h"

enum {
    DIGIT_BITS = 4, /* of the window's size that a pass deals with */
    BLOCK_WIDTH = 64,
    BLOCK_HEIGHT = 4,
    ARRAYS = 4,         /* sums along rows, sums down columns, and two for the sums of 16 to alternate between */
    SMALLEST_ROWS = 64, /* chunks are not cut below these, */
    SMALLEST_COLUMNS = 1024,
};

/* ... and cut above this, so that the arrays stay small beside the images and near the device's cache. */
static const int64_t scratch_wish = (int64_t)32 << 20;

/* Outputs of a chunk, and the arrays of sums that it needs, which hold all that its windows read. */
typedef struct chunk {
    int64_t columns; /* elements */
    int64_t rows;
    int64_t pitch; /* of the arrays, in their elements */
    int64_t lines;
    int64_t array; /* bytes of each */
} chunk;

static int64_t sum_size(tw_type type)
{
    return type == TW_F64 ? (int64_t)sizeof(double[2]) : 8;
}

static chunk fit(const tw_problem *problem, int64_t columns, int64_t rows)
{
    chunk c = {.columns = columns, .rows = rows};
    c.pitch = (columns + (int64_t)(problem->window.width - 1) * problem->channels + 31) / 32 * 32;
    c.lines = rows + problem->window.height - 1;
    c.array = c.pitch * c.lines * sum_size(problem->type);
    return c;
}

/* Chunks as large as wished for, but not so small that most of the work is that beside the outputs. */
static chunk choose_chunk(const tw_problem *problem)
{
    const int64_t least_rows = twi_max_i64(SMALLEST_ROWS, problem->window.height);
    const int64_t least_columns =
        twi_max_i64(SMALLEST_COLUMNS, (int64_t)problem->window.width * problem->channels) / BLOCK_WIDTH * BLOCK_WIDTH;
    /* first below any size whose product could overflow */
    int64_t columns = twi_min_i64(problem->width, (int64_t)1 << 24) * problem->channels;
    int64_t rows = twi_min_i64(problem->height, (int64_t)1 << 16);
    while (fit(problem, columns, rows).array * ARRAYS > scratch_wish) {
        if (rows > least_rows)
            rows = twi_max_i64(least_rows, rows / 2);
        else if (columns > least_columns)
            columns = twi_max_i64(least_columns, (columns + 1) / 2);
        else
            break;
    }
    return fit(problem, columns, rows);
}

static int64_t digits_of(int32_t size)
{
    int64_t digits = 0;
    for (; size > 0; size >>= DIGIT_BITS)
        digits++;
    return digits;
}

/* Every pass moves sums of 8 or 16 bytes out and in, and reads up to 16 values and 15 more an output. */
static double cost_separable(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double passes = (double)(digits_of(problem->window.width) + digits_of(problem->window.height));
    (void)context;
    return 10000 + 0.004 * outputs * passes * (double)sum_size(problem->type) / 8;
}

static tw_status prepare_separable(tw_plan *plan)
{
    const tw_type type = plan->problem.type;
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_separable_first[type], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_separable_next[type], 0));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_separable_last[type], 0));
    return twi_plan_scratch(plan, (size_t)(choose_chunk(&plan->problem).array * ARRAYS));
}

/* The passes of one direction. `step` is the distance of neighbours in it; `kernel` is the pass's by turn. */
typedef struct direction {
    int32_t size; /* the window's */
    int64_t step;
    bool down;
    void *values; /* what the first pass reads */
    void *sums;
    const void *first; /* kernels: of the first pass, those after it, and the last */
    const void *next;
    const void *last;
} direction;

/* Queues the passes; `pass` holds what they share. */
static tw_status run_direction(const direction *d, twi_cuda_pass pass, void *const spare[2], void *stream)
{
    static const twi_cuda_shape shape = {BLOCK_WIDTH, BLOCK_HEIGHT, BLOCK_WIDTH, BLOCK_HEIGHT, 0};
    const int64_t columns = pass.sum_columns;
    const int64_t rows = pass.sum_rows;
    pass.values = d->values;
    pass.after = d->sums;
    for (int bits = 0, turn = 0; d->size >> bits > 0; bits += DIGIT_BITS, turn = !turn) {
        const int64_t unit = (int64_t)1 << bits;             /* positions that a value sums */
        const int64_t taken = d->size & (unit - 1);          /* positions that earlier passes have added */
        const int64_t rest = d->size - (unit << DIGIT_BITS); /* what a sum of 16 leaves of the window */
        const bool last = rest < 0;
        pass.digit = (int32_t)(d->size >> bits & ((1 << DIGIT_BITS) - 1));
        pass.step = d->step * unit;
        pass.skip = d->step * taken;
        pass.before = taken > 0 ? d->sums : NULL;
        pass.blocks = last ? NULL : spare[turn];
        pass.block_columns = columns + (d->down ? 0 : rest * d->step);
        pass.block_rows = rows + (d->down ? rest : 0);
        pass.first = 0;
        TWI_TRY(twi_cuda_launch(last        ? d->last
                                : bits == 0 ? d->first
                                            : d->next,
                                &shape, &pass, last ? columns : twi_max_i64(columns, pass.block_columns), &pass.left,
                                &pass.first, last ? rows : twi_max_i64(rows, pass.block_rows), stream));
        pass.values = pass.blocks;
    }
    return TW_OK;
}

/* The chunk whose first output is at (left, top). */
static tw_status run_chunk(const tw_plan *plan, const twi_job *job, const chunk *c, int64_t left, int64_t top)
{
    const tw_problem *problem = &plan->problem;
    const tw_window *window = &problem->window;
    char *const scratch = plan->scratch;
    void *const spare[2] = {scratch + 2 * c->array, scratch + 3 * c->array};
    const int64_t rows = twi_min_i64(c->rows, job->last - top);
    twi_cuda_pass pass = {
        .box = twi_cuda_box_arguments(plan, job),
        .pitch = c->pitch,
        .sum_columns = twi_min_i64(c->columns, problem->width * problem->channels - left),
        .sum_rows = rows + window->height - 1,
        .chunk_left = left,
        .chunk_top = top,
    };
    const void *first = twi_cuda_separable_first[problem->type];
    const void *next = twi_cuda_separable_next[problem->type];
    const direction along = {
        .size = window->width,
        .step = problem->channels,
        .sums = scratch,
        .first = first,
        .next = next,
        /* a window of one digit has only the pass that reads the image */
        .last = window->width < 1 << DIGIT_BITS ? first : next,
    };
    const direction down = {
        .size = window->height,
        .step = c->pitch,
        .down = true,
        .values = scratch,
        .sums = scratch + c->array,
        .first = next,
        .next = next,
        .last = twi_cuda_separable_last[problem->type],
    };
    TWI_TRY(run_direction(&along, pass, spare, job->stream));
    pass.sum_rows = rows;
    return run_direction(&down, pass, spare, job->stream);
}

static tw_status run_separable(const tw_plan *plan, const twi_job *job)
{
    const chunk c = choose_chunk(&plan->problem);
    const int64_t columns = plan->problem.width * plan->problem.channels;
    for (int64_t top = job->first; top < job->last; top += c.rows)
        for (int64_t left = 0; left < columns; left += c.columns)
            TWI_TRY(run_chunk(plan, job, &c, left, top));
    return TW_OK;
}

const twi_code twi_box_separable_cuda = {
    .cost = cost_separable,
    .prepare = prepare_separable,
    .run = run_separable,
};
