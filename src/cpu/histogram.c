/* histogram on the CPU: pieces of rows, which threads count in tables of their own, and the sum of these. */
#include <string.h>

#include "core/image.h"
#include "cpu/histogram.h"

typedef struct share {
    const tw_plan *plan;
    const twi_counting *counting;
    tw_image src;   /* rows without gaps are one */
    int64_t pieces; /* of a row */
} share;

static void *tables_of(const tw_plan *plan, const twi_counting *counting, int64_t worker)
{
    return (char *)plan->scratch + worker * twi_area_bytes(counting->room);
}

static tw_status count_pieces(void *argument, int64_t first, int64_t last, int worker)
{
    const share *s = argument;
    const twi_counting *counting = s->counting;
    const int64_t size = (int64_t)tw_type_size(s->src.type);
    void *const tables = tables_of(s->plan, counting, worker);
    for (int64_t i = first; i < last; i++) {
        const int64_t start = i % s->pieces * counting->piece;
        const int64_t n = twi_min_i64(s->src.width * s->src.channels - start, counting->piece);
        const char *row = twi_row(&s->src, i / s->pieces);
        counting->count(counting, row + start * size, n, tables);
    }
    if (counting->empty)
        counting->empty(counting, tables);
    return TW_OK;
}

tw_status twi_histogram_run(const tw_plan *plan, const twi_job *job, const twi_counting *counting)
{
    const int64_t entries = (int64_t)twi_table_entries(&plan->problem);
    const int64_t channels = counting->channels;
    const int threads = plan->context->threads;
    share s = {.plan = plan, .counting = counting, .src = job->src};
    if (twi_solid(&s.src)) {
        s.src.width *= s.src.height;
        s.src.height = 1;
    }
    s.pieces = twi_divide_up(s.src.width * channels, counting->piece);
    for (int worker = 0; worker < threads; worker++)
        memset(tables_of(plan, counting, worker), 0, (size_t)counting->clear);
    TWI_TRY(twi_cpu_parallel(plan, s.src.height * s.pieces, count_pieces, &s));
    uint64_t *counts = job->dst.data;
    memset(counts, 0, (size_t)(entries * channels) * sizeof *counts);
    for (int worker = 0; worker < threads; worker++) {
        const uint64_t *totals = tables_of(plan, counting, worker);
        for (int64_t i = 0; i < entries * channels; i++)
            counts[i % entries * channels + i / entries] += totals[i];
    }
    return TW_OK;
}

tw_status twi_histogram_prepare(tw_plan *plan, int64_t room)
{
    int64_t total = 0;
    if (!twi_mul_i64(plan->context->threads, twi_area_bytes(room), &total))
        return twi_fail(TW_ERROR_LIMIT, "the tables of %d threads cannot be counted", plan->context->threads);
    return twi_plan_scratch(plan, (size_t)total);
}

double twi_histogram_cost(const tw_context *context, const tw_problem *problem, double each)
{
    const double elements = (double)problem->width * (double)problem->height * problem->channels;
    return 20000 + elements * each / (context ? context->threads : 1);
}
