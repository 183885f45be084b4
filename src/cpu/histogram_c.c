/*
 * histogram in plain C: the level that runs on any processor. A processor adds to one counter a cycle: of bytes whose
 * neighbours are close, as in most photographs, pairs are counted, whose counters then lie in the nearest cache, and
 * 16 equal bytes at once. Other bytes go to as many as 12 tables, which take them in turn: a value that comes several
 * times in a row would else wait for its own counter.
 */
#include <stddef.h>
#include <string.h>

#include "cpu/histogram.h"
#include "cpu/level.h"

enum {
    TURNS = 12,          /* a multiple of 1 to 4: an element's table is one of its channel */
    PIECE = TURNS << 10, /* elements of a row that a thread takes at a time */
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

/* ---- Bytes --------------------------------------------------------------------------------------------- */

static void count_singles(const uint8_t *at, int64_t n, uint32_t (*tables)[256])
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
static void empty(const twi_counting *counting, void *memory)
{
    byte_tables *const tables = memory;
    for (int k = 0; k < TURNS; k++)
        for (int value = 0; value < 256; value++)
            tables->totals[k % counting->channels][value] += tables->single[k][value];
    memset(tables->single, 0, sizeof tables->single);
    tables->counted = 0;
    if (!counting->paired)
        return;
    for (int first = 0; first < 256; first++) {
        uint64_t sum = 0;
        for (int second = 0; second < 256; second++) {
            sum += tables->pairs[first][second];
            tables->totals[0][second] += tables->pairs[first][second];
        }
        tables->totals[0][first] += sum;
    }
    memset(tables->pairs, 0, sizeof tables->pairs);
}

static void count_bytes(const twi_counting *counting, const void *at, int64_t n, void *memory)
{
    byte_tables *const tables = memory;
    if (tables->counted > UINT32_MAX - PIECE)
        empty(counting, tables);
    tables->counted += n;
    if (counting->paired && n >= PAIRED_PIECE && are_close(at)) {
        count_pairs(at, n, tables);
        return;
    }
    bring_near((const char *)at + n, n);
    count_singles(at, n, tables->single);
}

/* ---- Words --------------------------------------------------------------------------------------------- */

static void count_words(const twi_counting *counting, const void *at, int64_t n, void *memory)
{
    const uint16_t *const words = at;
    const int channels = counting->channels;
    uint64_t(*const tables)[65536] = memory;
    for (int64_t i = 0; i < n; i += channels)
        for (int k = 0; k < channels; k++)
            tables[k][words[i + k]]++;
}

/* ---- The variant --------------------------------------------------------------------------------------- */

/* Bytes of a thread's tables. */
static int64_t room_of(const tw_problem *problem)
{
    return problem->type == TW_U8 ? (int64_t)sizeof(byte_tables)
                                  : problem->channels * (int64_t)(65536 * sizeof(uint64_t));
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    const bool bytes = problem->type == TW_U8;
    const double elements = (double)problem->width * (double)problem->height;
    const bool paired = bytes && problem->channels == 1 && elements / plan->context->threads >= PAIRED;
    const int64_t room = room_of(problem);
    const twi_counting counting = {
        .channels = problem->channels,
        .room = room,
        .clear = !bytes || paired ? room : (int64_t)offsetof(byte_tables, pairs),
        .piece = PIECE,
        .paired = paired,
        .count = bytes ? count_bytes : count_words,
        .empty = bytes ? empty : NULL,
    };
    return twi_histogram_run(plan, job, &counting);
}

static tw_status prepare(tw_plan *plan)
{
    return twi_histogram_prepare(plan, room_of(&plan->problem));
}

static double cost(const tw_context *context, const tw_problem *problem)
{
    return twi_histogram_cost(context, problem, 0.3);
}

const twi_code twi_histogram_c_cpu = {
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .whole = true,
};
