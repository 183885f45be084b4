/* The CPU back end: host memory, and runs cut into bands of rows, one a thread. */
#include <omp.h>
#include <stdio.h>

#include "core/group.h"
#include "core/image.h"
#include "core/sums.h"
#include "cpu/cpu.h"

static tw_status open_cpu(tw_context *context)
{
    if (context->device != 0)
        return twi_fail(TW_ERROR_DEVICE, "CPU device %d: there is only device 0", context->device);
    return TW_OK;
}

static void close_cpu(tw_context *context)
{
    (void)context;
}

static tw_status count_cpu(int *count)
{
    *count = 1;
    return TW_OK;
}

static tw_status describe_cpu(int device, tw_device_info *info)
{
    (void)device;
    __builtin_cpu_init();
    twi_cpu_name(info->name, sizeof info->name);
    const int processors = omp_get_num_procs();
    (void)snprintf(info->detail, sizeof info->detail, "%d processor%s%s%s", processors, processors == 1 ? "" : "s",
                   __builtin_cpu_supports("avx2") ? ", AVX2" : "",
                   __builtin_cpu_supports("avx512bw") ? ", AVX-512" : "");
    return TW_OK;
}

static tw_status allocate_cpu(tw_context *context, size_t bytes, tw_memory_kind kind, void **memory)
{
    (void)kind;
    return twi_host_allocate(context, bytes, memory);
}

static void release_cpu(tw_context *context, void *memory, tw_memory_kind kind)
{
    (void)kind;
    twi_host_release(context, memory);
}

static tw_status copy_cpu(const tw_context *context, const tw_image *src, const tw_image *dst)
{
#pragma omp parallel num_threads(context->threads)
    {
        const int64_t first = src->height * omp_get_thread_num() / omp_get_num_threads();
        const int64_t last = src->height * (omp_get_thread_num() + 1) / omp_get_num_threads();
        twi_copy_rows(twi_row(dst, first), dst->pitch, twi_row(src, first), src->pitch, (int64_t)twi_row_bytes(src),
                      last - first);
    }
    return TW_OK;
}

static tw_status add_row_cpu(const tw_context *context, const tw_image *row, const tw_image *dst)
{
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t y = 0; y < dst->height; y++)
        twi_add_before((char *)dst->data + y * dst->pitch, dst->type, row->data, dst->width * dst->channels);
    return TW_OK;
}

tw_status twi_cpu_parallel(const tw_plan *plan, int64_t count, twi_cpu_part *part, void *argument)
{
    const int threads = (int)twi_min_i64(plan->context->threads, count);
    tw_status result = TW_OK;
#pragma omp parallel num_threads(threads)
    {
        const int worker = omp_get_thread_num();
        const int workers = omp_get_num_threads();
        const int64_t share = count / workers; /* not count * worker / workers: the product may overflow */
        const int64_t rest = count % workers;
        const int64_t first = share * worker + rest * worker / workers;
        const int64_t last = share * (worker + 1) + rest * (worker + 1) / workers;
        const tw_status status = part(argument, first, last, worker);
        if (status != TW_OK) {
#pragma omp atomic write
            result = status;
        }
    }
    return result;
}

typedef struct bands {
    const tw_plan *plan;
    const twi_job *job;
} bands;

static tw_status run_band(void *argument, int64_t first, int64_t last, int worker)
{
    const bands *b = argument;
    twi_job job = *b->job;
    job.first += first;
    job.last = b->job->first + last;
    job.worker = worker;
    return b->plan->variant->code->run(b->plan, &job);
}

/* Runs the job's rows, an equal band for each thread. */
static tw_status run_bands(const tw_plan *plan, const twi_job *job)
{
    bands b = {plan, job};
    return twi_cpu_parallel(plan, job->last - job->first, run_band, &b);
}

/* Rows between two progress reports: enough that starting a band, which reads a window's height of
   rows, stays a small part of the work. */
static int64_t rows_per_report(const tw_plan *plan, int64_t height)
{
    const int64_t share = (height + 31) / 32;
    const int64_t floor_rows = 16 * (int64_t)plan->problem.window.height * plan->context->threads;
    return plan->context->progress && !plan->variant->code->whole ? twi_max_i64(share, floor_rows) : height;
}

static tw_status run_cpu(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    const int64_t step = rows_per_report(plan, dst->height);
    const int64_t end = first + dst->height;
    twi_job job = {.src = *src, .dst = twi_from_row(dst, first)};
    if (src->data == dst->data) {
        job.src.data = plan->copy;
        job.src.pitch = plan->copy_pitch;
        TWI_TRY(copy_cpu(plan->context, src, &job.src));
    }
    for (job.first = first; job.first < end; job.first = job.last) {
        job.last = twi_min_i64(end, job.first + step);
        TWI_TRY(plan->variant->code->whole ? plan->variant->code->run(plan, &job) : run_bands(plan, &job));
        TWI_TRY(twi_report(plan->context, (double)(job.last - first) / (double)dst->height));
    }
    return plan->carry ? twi_carry_add(plan, dst) : TW_OK;
}

static tw_status time_cpu(tw_context *context, tw_plan *plan, const tw_image *src, const tw_image *dst, size_t pairs,
                          int launches, bool graph, double *milliseconds)
{
    (void)graph;
    const double start = omp_get_wtime();
    for (int i = 0; i < launches; i++) {
        const size_t pair = (size_t)i % pairs;
        TWI_TRY(plan ? run_cpu(plan, &src[pair], &dst[pair], 0) : copy_cpu(context, &src[pair], &dst[pair]));
    }
    *milliseconds = 1e3 * (omp_get_wtime() - start);
    return TW_OK;
}

/* Nothing is queued here: what was called is complete. */
static tw_status pass(const tw_context *context)
{
    (void)context;
    return TW_OK;
}

static tw_status pass_others(const tw_context *context, const tw_context *const *others, int count)
{
    (void)context;
    (void)others;
    (void)count;
    return TW_OK;
}

static tw_status pass_other(const tw_context *context, const tw_context *other)
{
    return pass_others(context, &other, 1);
}

static tw_status run_turn(const twi_turn *turn)
{
    for (int i = 0; i < turn->fetch_count; i++)
        TWI_TRY(copy_cpu(turn->plan->context, &turn->fetches[i].from, &turn->fetches[i].to));
    return run_cpu(turn->plan, &turn->src, &turn->dst, turn->first);
}

const twi_backend twi_cpu_backend = {
    .id = TW_CPU,
    .open = open_cpu,
    .close = close_cpu,
    .count = count_cpu,
    .describe = describe_cpu,
    .allocate = allocate_cpu,
    .release = release_cpu,
    .copy = copy_cpu,
    .subtract = twi_cpu_subtract,
    .add_row = add_row_cpu,
    .run = run_cpu,
    .queue_turn = run_turn,
    .await = pass_others,
    .finish = pass,
    .link = pass_other,
    .time = time_cpu,
};
