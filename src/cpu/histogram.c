/*
 * histogram on the CPU. Every thread counts in tables of its own. For bytes there are as many as 12, which take the
 * elements in turn: a value that comes several times in a row would else wait for its own count.
 */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/rows.h"

enum {
    TURNS = 12,         /* a multiple of 1 to 4: an element's table is one of its channel */
    PIECE = TURNS << 12 /* elements of a row that a thread takes at a time */
};

typedef struct counting {
    const tw_plan *plan;
    const twi_job *job;
    int64_t pieces; /* of a row */
} counting;

static int64_t tables_of(const tw_problem *problem)
{
    return problem->type == TW_U8 ? TURNS : problem->channels;
}

/* Counts of all tables of a thread. */
static int64_t room_of(const tw_problem *problem)
{
    return tables_of(problem) * (int64_t)twi_table_entries(problem);
}

static void count_bytes(const uint8_t *at, int64_t n, uint64_t (*tables)[256])
{
    for (; n >= TURNS; n -= TURNS, at += TURNS)
        for (int k = 0; k < TURNS; k++)
            tables[k][at[k]]++;
    for (int k = 0; k < n; k++)
        tables[k][at[k]]++;
}

static void count_words(const uint16_t *at, int64_t n, int channels, uint64_t (*tables)[65536])
{
    for (int64_t i = 0; i < n; i += channels)
        for (int k = 0; k < channels; k++)
            tables[k][at[i + k]]++;
}

static tw_status count_pieces(void *argument, int64_t first, int64_t last, int worker)
{
    const counting *c = argument;
    const tw_problem *problem = &c->plan->problem;
    const tw_image *src = &c->job->src;
    uint64_t *tables = (uint64_t *)c->plan->scratch + worker * room_of(problem);
    for (int64_t i = first; i < last; i++) {
        const int64_t start = i % c->pieces * PIECE;
        const int64_t n = twi_min_i64(src->width * src->channels - start, PIECE);
        const char *row = (const char *)src->data + i / c->pieces * src->pitch;
        if (problem->type == TW_U8)
            count_bytes((const uint8_t *)row + start, n, (uint64_t(*)[256])(void *)tables);
        else
            count_words((const uint16_t *)(const void *)row + start, n, src->channels,
                        (uint64_t(*)[65536])(void *)tables);
    }
    return TW_OK;
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int64_t entries = (int64_t)twi_table_entries(problem);
    const int64_t channels = problem->channels;
    const int64_t tables = tables_of(problem) * plan->context->threads;
    counting c = {plan, job, twi_divide_up(problem->width * channels, PIECE)};
    uint64_t *counts = job->dst.data;
    memset(plan->scratch, 0, (size_t)(room_of(problem) * plan->context->threads) * sizeof(uint64_t));
    TWI_TRY(twi_cpu_parallel(plan, problem->height * c.pieces, count_pieces, &c));
    memset(counts, 0, (size_t)(entries * channels) * sizeof *counts);
    for (int64_t table = 0; table < tables; table++)
        for (int64_t value = 0; value < entries; value++)
            counts[value * channels + table % channels] += ((const uint64_t *)plan->scratch)[table * entries + value];
    return TW_OK;
}

static tw_status prepare(tw_plan *plan)
{
    int64_t total = 0;
    int64_t offset = 0;
    if (!twi_add_area(&total, room_of(&plan->problem) * plan->context->threads, sizeof(uint64_t), &offset))
        return twi_fail(TW_ERROR_LIMIT, "the tables of %d threads cannot be counted", plan->context->threads);
    return twi_plan_scratch(plan, (size_t)total);
}

static double cost(const tw_context *context, const tw_problem *problem)
{
    const double elements = (double)problem->width * (double)problem->height * problem->channels;
    return 20000 + elements * 0.4 / (context ? context->threads : 1);
}

const twi_code twi_histogram_c_cpu = {
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .whole = true,
};
