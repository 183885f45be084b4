/* lut on CUDA: where a plan keeps the table, and the kernels by the sizes of elements and entries. */
#include <string.h>

#include "cuda/host.h"
#include "cuda/lut_kernels.h"
#include "cuda/pattern.h"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

typedef const void *const kernel_table[2][TWI_CUDA_ENTRIES];

static size_t table_bytes(const tw_problem *problem)
{
    return twi_table_entries(problem) * (size_t)problem->table_channels * tw_type_size(problem->out_type);
}

/* The number of an entry's size: its logarithm. */
static int entry_of(const tw_problem *problem)
{
    return __builtin_ctz((unsigned)tw_type_size(problem->out_type));
}

static const void *kernel_of(const tw_problem *problem, kernel_table table)
{
    return table[problem->type == TW_U16][entry_of(problem)];
}

static double elements_of(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height * problem->channels;
}

static twi_cuda_lut arguments(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_lut lut = {
        .src = job->src.data,
        .dst = job->dst.data,
        .src_pitch = job->src.pitch,
        .dst_pitch = job->dst.pitch,
        .columns = job->dst.width * job->dst.channels,
        .rows = job->last,
        .first = job->first,
        .table = plan->scratch,
        .table_channels = plan->problem.table_channels,
    };
    return lut;
}

/* A copy of the table in the plan's scratch memory. */
static tw_status send_table(tw_plan *plan)
{
    const size_t bytes = table_bytes(&plan->problem);
    TWI_TRY(twi_plan_scratch(plan, bytes));
    return twi_cuda_send(plan->context, plan->scratch, plan->problem.table, bytes);
}

static tw_status prepare_blocks(tw_plan *plan, kernel_table table)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_load_kernel(plan, kernel_of(&plan->problem, table), 0);
}

/* A thread an element; `argument` is, or begins with, `lut`. */
static tw_status launch_blocks(const tw_plan *plan, const twi_job *job, kernel_table table, void *argument,
                               twi_cuda_lut *lut)
{
    twi_cuda_shape shape;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    return twi_cuda_launch(kernel_of(&plan->problem, table), &shape, argument, lut->columns, &lut->left, &lut->first,
                           lut->rows, job->stream);
}

/* ---- What the variants do to memory ------------------------------------------------------------------- */

/* The thread's element column, and its row at this step. */
static int64_t column_of(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_x * kernel->outputs_width + visit->x;
}

static int64_t row_of(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->block_y * kernel->outputs_height + visit->y + visit->step * kernel->block_height;
}

static bool exists(const twi_kernel *kernel, const twi_visit *visit)
{
    return column_of(kernel, visit) < kernel->columns && row_of(kernel, visit) < kernel->rows;
}

static int64_t address_of_source(const twi_kernel *kernel, const twi_visit *visit)
{
    if (!exists(kernel, visit))
        return TWI_NO_ADDRESS;
    return row_of(kernel, visit) * kernel->src_pitch +
           column_of(kernel, visit) * (int64_t)tw_type_size(kernel->problem->type);
}

static int64_t address_of_output(const twi_kernel *kernel, const twi_visit *visit)
{
    if (!exists(kernel, visit))
        return TWI_NO_ADDRESS;
    return row_of(kernel, visit) * kernel->dst_pitch +
           column_of(kernel, visit) * (int64_t)tw_type_size(kernel->problem->out_type);
}

/* The entry of the element's channel and value. */
static int64_t address_of_entry(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const int64_t element = column_of(kernel, visit);
    const int bits = 8 * (int)tw_type_size(problem->type);
    if (!exists(kernel, visit))
        return TWI_NO_ADDRESS;
    const int64_t entry = (element % problem->table_channels << bits) + twi_explained_pixel(kernel, element, bits);
    return entry * (int64_t)tw_type_size(problem->out_type);
}

/* Each thread of a block does so many rows: an element read, looked up in `space`, and written. */
static void declare_look_up(twi_kernel *kernel, twi_space space)
{
    const int64_t rows = kernel->outputs_height / kernel->block_height;
    const int32_t out_bytes = (int32_t)tw_type_size(kernel->problem->out_type);
    const twi_access source = {.what = "source",
                               .space = TWI_SPACE_GLOBAL,
                               .bytes = (int32_t)tw_type_size(kernel->problem->type),
                               .steps = rows,
                               .address = address_of_source};
    const twi_access entry = {
        .what = "table", .space = space, .bytes = out_bytes, .steps = rows, .address = address_of_entry};
    const twi_access output = {.what = "output",
                               .space = TWI_SPACE_GLOBAL,
                               .store = true,
                               .bytes = out_bytes,
                               .steps = rows,
                               .address = address_of_output};
    twi_declare(kernel, source);
    twi_declare(kernel, entry);
    twi_declare(kernel, output);
    kernel->by_pixels = true;
}

static void explain_blocks(twi_kernel *kernel, twi_space space, kernel_table table)
{
    twi_cuda_declare_blocks(kernel, BLOCK_WIDTH, BLOCK_HEIGHT);
    declare_look_up(kernel, space);
    kernel->function = kernel_of(kernel->problem, table);
}

static void explain_constant(twi_kernel *kernel)
{
    explain_blocks(kernel, TWI_SPACE_CONSTANT, twi_cuda_lut_constant_kernels);
}

static void explain_global(twi_kernel *kernel)
{
    explain_blocks(kernel, TWI_SPACE_GLOBAL, twi_cuda_lut_global);
}

static void explain_readonly(twi_kernel *kernel)
{
    explain_blocks(kernel, TWI_SPACE_GLOBAL, twi_cuda_lut_readonly);
}

enum { PIECE = 16 /* bytes of the table that a thread copies at a time */ };

static int64_t address_of_piece(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t threads = (int64_t)kernel->block_width * kernel->block_height;
    const int64_t piece = (int64_t)visit->y * kernel->block_width + visit->x + visit->step * threads;
    return piece * PIECE < (int64_t)table_bytes(kernel->problem) ? piece * PIECE : TWI_NO_ADDRESS;
}

static void explain_shared(twi_kernel *kernel)
{
    enum { THREADS = TWI_CUDA_LUT_WIDTH * TWI_CUDA_LUT_HEIGHT };
    const int64_t bytes = (int64_t)table_bytes(kernel->problem);
    twi_access piece = {.what = "table, brought in",
                        .space = TWI_SPACE_GLOBAL,
                        .bytes = PIECE,
                        .steps = twi_divide_up(bytes / PIECE, THREADS),
                        .address = address_of_piece};
    twi_cuda_declare_blocks(kernel, TWI_CUDA_LUT_WIDTH, TWI_CUDA_LUT_HEIGHT);
    kernel->block_width = TWI_CUDA_LUT_WIDTH;
    kernel->block_height = TWI_CUDA_LUT_HEIGHT;
    kernel->outputs_width = TWI_CUDA_LUT_WIDTH;
    kernel->outputs_height = TWI_CUDA_LUT_ROWS;
    twi_declare(kernel, piece);
    piece.space = TWI_SPACE_SHARED;
    piece.store = true;
    twi_declare(kernel, piece);
    declare_look_up(kernel, TWI_SPACE_SHARED);
    kernel->function = kernel_of(kernel->problem, twi_cuda_lut_shared);
    kernel->shared = kernel->dynamic = (size_t)bytes;
    kernel->barriers = 1;
}

/* ---- constant --------------------------------------------------------------------------------------- */

static const char *refuses_constant(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return table_bytes(problem) > TWI_CUDA_TABLE_BYTES
               ? "the table has more than the 3584 bytes of constant memory that a launch brings along"
               : NULL;
}

static double cost_constant(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.02 * elements_of(problem);
}

static tw_status prepare_constant(tw_plan *plan)
{
    return prepare_blocks(plan, twi_cuda_lut_constant_kernels);
}

static tw_status run_constant(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_lut_constant argument;
    argument.lut = arguments(plan, job);
    memcpy(argument.table, plan->problem.table, table_bytes(&plan->problem));
    return launch_blocks(plan, job, twi_cuda_lut_constant_kernels, &argument, &argument.lut);
}

const twi_code twi_lut_constant_cuda = {
    .refuses = refuses_constant,
    .cost = cost_constant,
    .prepare = prepare_constant,
    .run = run_constant,
    .explain = explain_constant,
};

/* ---- global, readonly --------------------------------------------------------------------------------- */

static double cost_global(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + 0.003 * elements_of(problem);
}

static tw_status prepare_global(tw_plan *plan)
{
    TWI_TRY(prepare_blocks(plan, twi_cuda_lut_global));
    return send_table(plan);
}

static tw_status run_global(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_lut lut = arguments(plan, job);
    return launch_blocks(plan, job, twi_cuda_lut_global, &lut, &lut);
}

const twi_code twi_lut_global_cuda = {
    .cost = cost_global,
    .prepare = prepare_global,
    .run = run_global,
    .explain = explain_global,
};

static tw_status prepare_readonly(tw_plan *plan)
{
    TWI_TRY(prepare_blocks(plan, twi_cuda_lut_readonly));
    return send_table(plan);
}

static tw_status run_readonly(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_lut lut = arguments(plan, job);
    return launch_blocks(plan, job, twi_cuda_lut_readonly, &lut, &lut);
}

const twi_code twi_lut_readonly_cuda = {
    .cost = cost_global,
    .prepare = prepare_readonly,
    .run = run_readonly,
    .explain = explain_readonly,
};

/* ---- shared ------------------------------------------------------------------------------------------- */

static const char *refuses_shared(const tw_context *context, const tw_problem *problem)
{
    if (context && table_bytes(problem) > twi_cuda_state_of(context)->shared_limit)
        return "the table does not fit in the device's shared memory";
    return NULL;
}

/* Large tables leave room for few blocks. */
static double cost_shared(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 5000 + (table_bytes(problem) > 32768 ? 0.004 : 0.002) * elements_of(problem);
}

static tw_status prepare_shared(tw_plan *plan)
{
    const void *kernel = kernel_of(&plan->problem, twi_cuda_lut_shared);
    TWI_TRY(twi_cuda_load_kernel(plan, kernel, table_bytes(&plan->problem)));
    return send_table(plan);
}

static tw_status run_shared(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_lut lut = arguments(plan, job);
    const twi_cuda_shape shape = {
        .block_width = TWI_CUDA_LUT_WIDTH,
        .block_height = TWI_CUDA_LUT_HEIGHT,
        .outputs_width = TWI_CUDA_LUT_WIDTH,
        .outputs_height = TWI_CUDA_LUT_ROWS,
        .shared = table_bytes(&plan->problem),
    };
    return twi_cuda_launch(kernel_of(&plan->problem, twi_cuda_lut_shared), &shape, &lut, lut.columns, &lut.left,
                           &lut.first, lut.rows, job->stream);
}

const twi_code twi_lut_shared_cuda = {
    .refuses = refuses_shared,
    .cost = cost_shared,
    .prepare = prepare_shared,
    .run = run_shared,
    .explain = explain_shared,
};

/* ---- fast --------------------------------------------------------------------------------------------- */

static const char *refuses_fast(const tw_context *context, const tw_problem *problem)
{
    if (problem->type != TW_U8)
        return "it does 256 entries";
    if (problem->table_channels > 1)
        return "it does one table for all channels";
    if (problem->width > INT32_MAX / 4)
        return "the image is wider than 2^29 pixels";
    if (context && twi_cuda_state_of(context)->shared_limit < TWI_CUDA_LUT_SHARED)
        return "its tables do not fit in the device's shared memory";
    return NULL;
}

static double cost_fast(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 7000 + 0.00028 * elements_of(problem) * (1 + (double)tw_type_size(problem->out_type));
}

static tw_status prepare_fast(tw_plan *plan)
{
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_lut_fast[entry_of(&plan->problem)].kernel, TWI_CUDA_LUT_SHARED));
    return send_table(plan);
}

static tw_status run_fast(const tw_plan *plan, const twi_job *job)
{
    const twi_cuda_lut_segments *const fast = &twi_cuda_lut_fast[entry_of(&plan->problem)];
    const twi_cuda_shape shape = {TWI_CUDA_LUT_THREADS, 1, 1, 1, TWI_CUDA_LUT_SHARED};
    const int64_t pixels = 16 / (int64_t)tw_type_size(plan->problem.out_type); /* of a piece */
    const int64_t warps = TWI_CUDA_LUT_THREADS / 32;
    const int64_t wave = warps * TWI_CUDA_LUT_BLOCKS * twi_cuda_state_of(plan->context)->processors;
    twi_cuda_lut lut = arguments(plan, job);
    const int64_t segments = (lut.columns + fast->elements - 1) / fast->elements * (lut.rows - lut.first);
    int64_t left = 0;
    int64_t line = 0;
    /* a small image keeps the device busy before its blocks save on tables */
    lut.rounds = (int32_t)twi_max_i64(1, twi_min_i64(fast->rounds, segments / wave));
    lut.vectors = (((uintptr_t)lut.src | (uint64_t)lut.src_pitch) % (uint64_t)pixels |
                   ((uintptr_t)lut.dst | (uint64_t)lut.dst_pitch) % 16) == 0;
    const int64_t blocks = (segments + warps * lut.rounds - 1) / (warps * lut.rounds);
    /* a line of blocks, which find their segments themselves */
    return twi_cuda_launch(fast->kernel, &shape, &lut, blocks, &left, &line, 1, job->stream);
}

const twi_code twi_lut_fast_cuda = {
    .refuses = refuses_fast,
    .cost = cost_fast,
    .prepare = prepare_fast,
    .run = run_fast,
};
