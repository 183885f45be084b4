/*
 * histogram on the CPU. Every thread counts in tables of its own. A processor adds to one counter a cycle: of bytes
 * whose neighbours are close, as in most photographs, pairs are counted, whose counters then lie in the nearest cache,
 * and 16 equal bytes at once. Other bytes go to as many as 12 tables, which take them in turn: a value that comes
 * several times in a row would else wait for its own counter.
 */
#include <stddef.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/rows.h"

enum {
    TURNS = 12,          /* a multiple of 1 to 4: an element's table is one of its channel */
    PIECE = TURNS << 12, /* elements of a row that a thread takes at a time */
    RUN = 16,            /* bytes of which it is seen at once that they are equal */
    PAIRED = 1 << 22,    /* elements of a thread, and of a piece, that are worth counting pairs */
    PAIRED_PIECE = 1 << 10
};

typedef struct byte_tables {
    uint64_t totals[4][256];
    int64_t counted; /* in the narrow tables: they are emptied before they could overflow */
    uint32_t single[TURNS][256];
    uint32_t pairs[256][256]; /* not touched where pairs are not counted */
} byte_tables;

typedef struct counting {
    const tw_plan *plan;
    const twi_job *job;
    int64_t pieces; /* of a row */
    bool paired;    /* pairs may be counted */
} counting;

/* Bytes of a thread's tables. */
static int64_t room_of(const tw_problem *problem)
{
    return problem->type == TW_U8 ? (int64_t)sizeof(byte_tables)
                                  : problem->channels * (int64_t)(65536 * sizeof(uint64_t));
}

static void *tables_of(const tw_plan *plan, int64_t worker)
{
    return (char *)plan->scratch + worker * twi_area_bytes(room_of(&plan->problem));
}

/* ---- Bytes --------------------------------------------------------------------------------------------- */

static void count_bytes(const uint8_t *at, int64_t n, uint32_t (*tables)[256])
{
    for (; n >= TURNS; n -= TURNS, at += TURNS)
        for (int k = 0; k < TURNS; k++)
            tables[k][at[k]]++;
    for (int k = 0; k < n; k++)
        tables[k][at[k]]++;
}

static void count_pairs(const uint8_t *at, int64_t n, byte_tables *tables)
{
    uint32_t *const pairs = &tables->pairs[0][0];
    for (; n >= RUN; n -= RUN, at += RUN) {
        uint64_t words[2];
        memcpy(words, at, RUN);
        if (words[0] == words[1] && words[0] == at[0] * UINT64_C(0x0101010101010101)) {
            tables->single[0][at[0]] += RUN;
            continue;
        }
        for (int k = 0; k < RUN / 2; k++)
            pairs[(uint16_t)(words[k / 4] >> k % 4 * 16)]++;
    }
    for (int k = 0; k < n; k++)
        tables->single[0][at[k]]++;
}

/* Whether most pairs at the piece's beginning are of neighbouring values. Others would have to be fetched from memory
   before their time. */
static bool are_close(const uint8_t *at)
{
    enum { SAMPLES = 64, STEP = 8, NEAR = 16 };
    int close = 0;
    for (const uint8_t *pair = at; pair < at + SAMPLES * STEP; pair += STEP)
        close += pair[0] < pair[1] + NEAR && pair[1] < pair[0] + NEAR;
    return close >= SAMPLES * 3 / 4;
}

/* What the narrow tables have goes to the totals. */
static void empty(byte_tables *tables, int channels, bool paired)
{
    for (int k = 0; k < TURNS; k++)
        for (int value = 0; value < 256; value++)
            tables->totals[k % channels][value] += tables->single[k][value];
    memset(tables->single, 0, sizeof tables->single);
    tables->counted = 0;
    for (int first = 0; first < 256 && paired; first++) {
        uint64_t sum = 0;
        for (int second = 0; second < 256; second++) {
            sum += tables->pairs[first][second];
            tables->totals[0][second] += tables->pairs[first][second];
        }
        tables->totals[0][first] += sum;
    }
    if (paired)
        memset(tables->pairs, 0, sizeof tables->pairs);
}

static void count_piece(const counting *c, const uint8_t *at, int64_t n, byte_tables *tables)
{
    if (tables->counted > UINT32_MAX - PIECE)
        empty(tables, c->plan->problem.channels, c->paired);
    tables->counted += n;
    if (c->paired && n >= PAIRED_PIECE && are_close(at))
        count_pairs(at, n, tables);
    else
        count_bytes(at, n, tables->single);
}

/* ---- Words --------------------------------------------------------------------------------------------- */

static void count_words(const uint16_t *at, int64_t n, int channels, uint64_t (*tables)[65536])
{
    for (int64_t i = 0; i < n; i += channels)
        for (int k = 0; k < channels; k++)
            tables[k][at[i + k]]++;
}

/* ---- The variant --------------------------------------------------------------------------------------- */

static tw_status count_pieces(void *argument, int64_t first, int64_t last, int worker)
{
    const counting *c = argument;
    const tw_image *src = &c->job->src;
    void *const tables = tables_of(c->plan, worker);
    for (int64_t i = first; i < last; i++) {
        const int64_t start = i % c->pieces * PIECE;
        const int64_t n = twi_min_i64(src->width * src->channels - start, PIECE);
        const char *row = (const char *)src->data + i / c->pieces * src->pitch;
        if (src->type == TW_U8)
            count_piece(c, (const uint8_t *)row + start, n, tables);
        else
            count_words((const uint16_t *)(const void *)row + start, n, src->channels, tables);
    }
    if (src->type == TW_U8)
        empty(tables, src->channels, c->paired);
    return TW_OK;
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const int64_t entries = (int64_t)twi_table_entries(problem);
    const int channels = problem->channels;
    const int threads = plan->context->threads;
    const double elements = (double)problem->width * (double)problem->height;
    counting c = {.plan = plan,
                  .job = job,
                  .pieces = twi_divide_up(problem->width * channels, PIECE),
                  .paired = problem->type == TW_U8 && channels == 1 && elements / threads >= PAIRED};
    uint64_t *counts = job->dst.data;
    const int64_t room = problem->type == TW_U16 || c.paired ? room_of(problem) : (int64_t)offsetof(byte_tables, pairs);
    for (int worker = 0; worker < threads; worker++)
        memset(tables_of(plan, worker), 0, (size_t)room);
    TWI_TRY(twi_cpu_parallel(plan, problem->height * c.pieces, count_pieces, &c));
    memset(counts, 0, (size_t)(entries * channels) * sizeof *counts);
    for (int worker = 0; worker < threads; worker++) {
        const uint64_t *totals = tables_of(plan, worker); /* of bytes: they come first */
        for (int64_t i = 0; i < entries * channels; i++)
            counts[i % entries * channels + i / entries] += totals[i];
    }
    return TW_OK;
}

static tw_status prepare(tw_plan *plan)
{
    int64_t total = 0;
    if (!twi_mul_i64(plan->context->threads, twi_area_bytes(room_of(&plan->problem)), &total))
        return twi_fail(TW_ERROR_LIMIT, "the tables of %d threads cannot be counted", plan->context->threads);
    return twi_plan_scratch(plan, (size_t)total);
}

static double cost(const tw_context *context, const tw_problem *problem)
{
    const double elements = (double)problem->width * (double)problem->height * problem->channels;
    return 20000 + elements * 0.3 / (context ? context->threads : 1);
}

const twi_code twi_histogram_c_cpu = {
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .whole = true,
};
