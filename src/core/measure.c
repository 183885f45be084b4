/* tw_tune: which variant is the fastest, by trying them on images of the problem's kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/measure.h"
#include "core/random.h"
#include "core/wisdom.h"

enum {
    ROUNDS = 9,         /* figures of each variant, taken in turn */
    MOST_LAUNCHES = 100 /* in a row, for one figure */
};

static const double figure_ms = 10;                 /* what a figure takes at least, but for the limit above */
static const double hopeless = 32;                  /* estimated to take so many times the least: not tried */
static const double far_behind = 4;                 /* a first run so many times the fastest: not timed any further */
static const int64_t most_bytes = INT64_C(1) << 28; /* of the source: of a larger image, the upper part is enough */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

twi_spread twi_spread_of(double *samples, int count)
{
    twi_spread spread = {.count = count};
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    spread.smallest = samples[0];
    spread.largest = samples[count - 1];
    spread.median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
    return spread;
}

void twi_fill_ordinary(const tw_image *image)
{
    twi_random r = twi_random_of(1);
    const int64_t elements = image->width * image->channels;
    for (int64_t y = 0; y < image->height; y++) {
        char *row = (char *)image->data + y * image->pitch;
        for (int64_t i = 0; i < elements; i++) {
            const uint64_t bits = twi_next(&r);
            const double real = (double)(bits >> 40);
            const float single = (float)real;
            const size_t size = tw_type_size(image->type);
            const void *from = image->type == TW_F32   ? (const void *)&single
                               : image->type == TW_F64 ? (const void *)&real
                                                       : (const void *)&bits;
            memcpy(row + i * (int64_t)size, from, size);
        }
    }
}

/* ---- A contest ----------------------------------------------------------------------------------- */

typedef struct contender {
    const twi_variant *variant;
    tw_plan *plan; /* NULL: has left the contest */
    int launches;
    double samples[ROUNDS];
    twi_spread spread; /* milliseconds a run */
} contender;

typedef struct contest {
    tw_context *context;
    tw_problem problem; /* the one that is measured: on the back end's own memory, and not in place */
    tw_image src;
    tw_image dst;
    contender *contenders;
    size_t count;
} contest;

/* The problem on images that are measured in its stead. */
static tw_problem stand_in(const tw_context *context, const tw_problem *problem)
{
    tw_problem measured = *problem;
    const double row = (double)problem->width * problem->channels * (double)tw_type_size(problem->type);
    const int64_t rows = (int64_t)((double)most_bytes / fmax(row, 256)); /* no pitch is shorter */
    measured.memory = context->backend->id == TW_CUDA ? TW_DEVICE : TW_HOST;
    measured.in_place = false;
    measured.height = twi_min_i64(problem->height, twi_max_i64(rows, problem->window.height));
    return measured;
}

static tw_status take_images(contest *c)
{
    const tw_problem *p = &c->problem;
    const bool device = p->memory == TW_DEVICE;
    tw_image host = {0};
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(tw_image_create(c->context, p->width, p->height, p->channels, p->type, TW_MEMORY_HOST, &host));
    twi_fill_ordinary(&host);
    tw_status status = TW_OK;
    if (device)
        status = tw_image_create(c->context, p->width, p->height, p->channels, p->type, TW_MEMORY_DEVICE, &c->src);
    if (status == TW_OK && device)
        status = tw_image_copy(c->context, &host, &c->src);
    if (device)
        tw_image_free(c->context, &host);
    else
        c->src = host;
    twi_out_shape(p, &width, &height);
    if (status == TW_OK)
        status = tw_image_create(c->context, width, height, p->channels, p->out_type,
                                 device ? TW_MEMORY_DEVICE : TW_MEMORY_HOST, &c->dst);
    return status;
}

/* All variants that do the problem and are not beyond hope. */
static tw_status enter(contest *c, const tw_problem *problem)
{
    void *memory = NULL;
    double least = 0;
    TWI_TRY(twi_host_allocate(c->context, twi_variant_total * sizeof(contender), &memory));
    c->contenders = memory;
    for (size_t i = 0; i < twi_variant_total; i++) {
        const twi_variant *variant = &twi_variants[i];
        if (twi_refusal(variant, c->context, problem) || twi_refusal(variant, c->context, &c->problem))
            continue;
        const double cost = variant->code->cost(c->context, &c->problem);
        least = c->count == 0 || cost < least ? cost : least;
        c->contenders[c->count++] = (contender){.variant = variant};
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->contenders[i].variant->code->cost(c->context, &c->problem) <= hopeless * least)
            c->contenders[kept++] = c->contenders[i];
    c->count = kept;
    return TW_OK;
}

/* Milliseconds a run, over `launches` in a row. */
static tw_status time_runs(const contest *c, tw_plan *plan, int launches, double *figure)
{
    double total = 0;
    TWI_TRY(twi_report(c->context, 0)); /* a chance to stop */
    const tw_progress kept = c->context->progress;
    c->context->progress = NULL; /* the runs are no progress of the caller's work */
    const tw_status status = c->context->backend->time(c->context, plan, &c->src, &c->dst, 1, launches, false, &total);
    c->context->progress = kept;
    *figure = total / launches;
    return status;
}

static void leave(contender *who)
{
    tw_plan_destroy(who->plan);
    who->plan = NULL;
}

/* Plans and first runs. A variant that finds no memory leaves; with the last of them, that is the contest's failure. */
static tw_status warm_up(contest *c)
{
    tw_status failure = TW_OK;
    double least = 0;
    bool timed = false;
    for (size_t i = 0; i < c->count; i++) {
        contender *who = &c->contenders[i];
        const tw_plan_options options = {.variant = who->variant->name};
        double *figure = &who->samples[0];
        tw_status status = twi_plan_create_one(c->context, &c->problem, &options, &who->plan);
        for (int runs = 0; runs < 2 && status == TW_OK; runs++)
            status = time_runs(c, who->plan, 1, figure);
        if (status == TW_OK)
            least = !timed || *figure < least ? *figure : least;
        else if (status == TW_ERROR_MEMORY)
            leave(who);
        else
            return status;
        timed = timed || status == TW_OK;
        failure = status == TW_OK ? failure : status;
    }
    for (size_t i = 0; i < c->count; i++) {
        contender *who = &c->contenders[i];
        const double figure = who->samples[0];
        if (who->plan && figure > far_behind * least)
            leave(who);
        who->launches = figure * MOST_LAUNCHES > figure_ms ? 1 + (int)(figure_ms / figure) : MOST_LAUNCHES;
    }
    return timed ? TW_OK : failure;
}

/* A round after the other, so that what disturbs the machine disturbs all alike. */
static tw_status time_rounds(contest *c)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < c->count; i++)
            if (c->contenders[i].plan)
                TWI_TRY(
                    time_runs(c, c->contenders[i].plan, c->contenders[i].launches, &c->contenders[i].samples[round]));
    for (size_t i = 0; i < c->count; i++) {
        double sorted[ROUNDS];
        memcpy(sorted, c->contenders[i].samples, sizeof sorted);
        if (c->contenders[i].plan)
            c->contenders[i].spread = twi_spread_of(sorted, ROUNDS);
    }
    return TW_OK;
}

/* The fastest first; those that have left, last. */
static int by_median(const void *a, const void *b)
{
    const contender *x = a;
    const contender *y = b;
    if (!x->plan || !y->plan)
        return (x->plan == NULL) - (y->plan == NULL);
    return (x->spread.median > y->spread.median) - (x->spread.median < y->spread.median);
}

/* In all rounds but one: by chance that comes once in 51 times. */
static bool clearly_faster(const contender *one, const contender *other)
{
    int lost = 0;
    for (int round = 0; round < ROUNDS; round++)
        lost += one->samples[round] >= other->samples[round];
    return lost <= 1;
}

/* The first, once sorted; but the estimate's choice where the difference is no more than the machine's unrest. */
static size_t winner(const contest *c, const tw_problem *problem)
{
    const twi_variant *estimated = twi_choose_by_estimate(c->context, problem);
    for (size_t i = 1; i < c->count && c->contenders[i].plan; i++)
        if (c->contenders[i].variant == estimated && !clearly_faster(&c->contenders[0], &c->contenders[i]))
            return i;
    return 0;
}

static tw_status hold(contest *c, const tw_problem *problem)
{
    TWI_TRY(enter(c, problem));
    if (c->count == 0)
        return twi_fail(TW_ERROR_UNSUPPORTED, "no variant of %s on %s does this problem", tw_op_name(problem->op),
                        tw_backend_name(c->context->backend->id));
    TWI_TRY(take_images(c));
    TWI_TRY(warm_up(c));
    TWI_TRY(time_rounds(c));
    qsort(c->contenders, c->count, sizeof *c->contenders, by_median);
    return TW_OK;
}

static void end(contest *c)
{
    for (size_t i = 0; i < c->count; i++)
        tw_plan_destroy(c->contenders[i].plan);
    twi_host_release(c->context, c->contenders);
    tw_image_free(c->context, &c->src);
    tw_image_free(c->context, &c->dst);
}

tw_status tw_tune(tw_context *context, const tw_problem *problem, tw_timing *timings, size_t room, size_t *count)
{
    TWI_TRY(twi_context_check(context));
    if (!problem || (!timings && room > 0))
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", problem ? "timings" : "problem");
    TWI_TRY(twi_problem_check(problem));
    if (count)
        *count = 0;
    contest c = {.context = context, .problem = stand_in(context, problem)};
    tw_status status = hold(&c, problem);
    if (status == TW_OK) {
        const size_t best = winner(&c, problem);
        status = twi_wisdom_add(context, problem, c.contenders[best].variant);
        size_t timed = 0;
        for (; timed < c.count && c.contenders[timed].plan; timed++) {
            const contender *who = &c.contenders[timed];
            if (timed < room)
                timings[timed] = (tw_timing){who->variant->name, who->spread.median, who->spread.smallest,
                                             who->spread.largest, timed == best};
        }
        if (count)
            *count = timed;
    }
    end(&c);
    return status;
}
