/*
 * Host images on several devices: each makes some rows of the result, from the pixels that they are made of (part.c),
 * by a plan and in a thread of its own. The caller's thread works for the first device. Figures of a whole image are
 * put together from each device's records of rows (tally.c); what goes down columns is cut into columns; sums of
 * integers go on from share to share (carry.c). What has no parts is one share. Where border wrap joins both ends of
 * the image, the few rows that need both are shares of their own, of the first device.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/group.h"
#include "core/image.h"

typedef struct share {
    tw_plan *plan;
    tw_plan *squares; /* figures of a whole image: the second look */
    tw_part part;
    /* rows of the result that it makes; of records that are added up, rows of the source; of those of columns, columns
     */
    int64_t first;
    int64_t last;
    tw_image gathered; /* its source, where that is no rectangle of the image */
    tw_image found;    /* records that are added up */
    const struct run *run;
    twi_outcome outcome;
} share;

/* What all shares of a run see. */
typedef struct run {
    const struct twi_group *group;
    const tw_image *src;
    const tw_image *dst;
    int64_t first; /* the result's row that is dst's first */
    bool squares;
} run;

/* How a problem is shared. */
typedef enum way {
    ROWS,    /* of the result */
    TALLY,   /* rows of the source, whose records are added up */
    COLUMNS, /* each for itself */
    CARRY,   /* rows of sums, to which what lies before them is added */
    STAGES,  /* sums along rows, then down columns */
    ALONE    /* not at all */
} way;

struct twi_group {
    way way;
    int threads; /* shares that have one each; those after them are the caller's, as the first is */
    int count;
    share *shares;
    tw_tally *tally;  /* TALLY */
    twi_chain *chain; /* CARRY */
    tw_plan *along;   /* STAGES */
    tw_plan *down;
    tw_plan_options options;
    void *copy; /* in place: of the source, copy_pitch bytes a row */
    int64_t copy_pitch;
};

static way way_of(const tw_problem *problem)
{
    const bool floats = TWI_BIT(problem->type) & TWI_FLOATS;
    switch (problem->op) {
    case TW_OP_HISTOGRAM:
        return TALLY;
    case TW_OP_REDUCE:
        if (problem->figures & TW_FIGURE_SQUARES)
            return ALONE;
        return problem->axis == TW_AXIS_ALL ? TALLY : problem->axis == TW_AXIS_Y ? COLUMNS : ROWS;
    case TW_OP_SCAN: /* floats over the whole image are added in an order that knows no rows */
        if (problem->axis == TW_AXIS_ALL)
            return floats ? ALONE : CARRY;
        return problem->axis == TW_AXIS_Y ? COLUMNS : ROWS;
    case TW_OP_INTEGRAL:
        return floats ? STAGES : CARRY;
    default:
        return ROWS;
    }
}

int twi_members(tw_context *context, tw_context *members[TWI_MOST_DEVICES])
{
    int count = 0;
    if (!context->lost)
        members[count++] = context;
    for (int i = 0; i < context->other_count; i++)
        if (!context->others[i]->lost)
            members[count++] = context->others[i];
    return count;
}

tw_status twi_no_device(void)
{
    return twi_fail(TW_ERROR_DEVICE, "none of the context's devices works any more");
}

void twi_note_outcome(twi_outcome *outcome, tw_status status)
{
    outcome->status = twi_is_failure_of_device(status) ? TW_ERROR_DEVICE : status;
    if (status != TW_OK)
        (void)snprintf(outcome->message, sizeof outcome->message, "%s", tw_error_message());
}

tw_status twi_pass_outcome(const twi_outcome *outcome, const tw_context *context)
{
    if (outcome->status == TW_ERROR_DEVICE)
        return twi_fail(TW_ERROR_DEVICE, "%s device %d: %s", tw_backend_name(context->backend->id), context->device,
                        outcome->message);
    return outcome->status == TW_OK ? TW_OK : twi_fail(outcome->status, "%s", outcome->message);
}

void twi_run_threads(void *(*work)(void *item), void *items, size_t size, int count)
{
    pthread_t threads[TWI_MOST_DEVICES];
    bool started[TWI_MOST_DEVICES] = {false};
    char *item = items;
    for (int i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, work, item + (size_t)i * size) == 0;
    for (int i = 0; i < count; i++)
        if (!started[i])
            (void)work(item + (size_t)i * size);
    for (int i = 1; i < count; i++)
        if (started[i])
            (void)pthread_join(threads[i], NULL);
}

bool twi_group_takes(const tw_context *context, const tw_problem *problem)
{
    return context->other_count > 0 && problem->memory == TW_HOST;
}

/* ---- Cutting ------------------------------------------------------------------------------------- */

/* How long the side is that is cut. */
static int64_t length_of(const struct twi_group *group, const tw_problem *problem)
{
    int64_t width = 0;
    int64_t height = 0;
    twi_out_shape(problem, &width, &height);
    return group->way == COLUMNS ? width : group->way == TALLY ? problem->height : height;
}

/* How many shares it has at most. A table of sums has a row more than its source. */
static int64_t most_shares(const struct twi_group *group, const tw_problem *problem)
{
    const bool table = problem->op == TW_OP_INTEGRAL;
    return group->way == ALONE ? 1 : length_of(group, problem) / (table ? 2 : 1);
}

static tw_status cut(const struct twi_group *group, const tw_problem *problem, share *s)
{
    const int64_t rows = s->last - s->first;
    if (group->way == ALONE || (group->way == ROWS && problem->op != TW_OP_REDUCE))
        return tw_problem_part(problem, s->first, s->last, &s->part);
    twi_cut_lines(problem, group->way == COLUMNS, s->first, s->last - (problem->op == TW_OP_INTEGRAL), &s->part);
    return group->tally ? tw_tally_problem(group->tally, rows, &s->part.problem) : TW_OK;
}

static tw_status make_share(struct twi_group *group, const tw_problem *problem, tw_context *context, share *s)
{
    int64_t width = 0;
    int64_t height = 0;
    TWI_TRY(cut(group, problem, s));
    tw_problem *part = &s->part.problem;
    TWI_TRY(twi_plan_create_one(context, part, &group->options, &s->plan));
    if (s->part.count > 1)
        TWI_TRY(tw_image_create(context, part->width, part->height, part->channels, part->type, TW_MEMORY_PINNED,
                                &s->gathered));
    if (group->chain)
        return twi_chain_join(group->chain, (int)(s - group->shares), s->plan);
    if (!group->tally)
        return TW_OK;
    twi_out_shape(part, &width, &height);
    TWI_TRY(tw_image_create(context, width, height, part->channels, part->out_type, TW_MEMORY_HOST, &s->found));
    if (!twi_looks_twice(problem))
        return TW_OK;
    tw_problem squares = *part;
    squares.figures = TW_FIGURE_SQUARES;
    return twi_plan_create_one(context, &squares, &group->options, &s->squares);
}

/* Rows at the image's ends whose windows reach around it, where they are few beside a share. */
static void find_seams(const tw_problem *problem, int64_t share_rows, int64_t *above, int64_t *below)
{
    const tw_window *window = &problem->window;
    *above = *below = 0;
    if (problem->border.mode != TW_BORDER_WRAP || share_rows <= 2 * (int64_t)window->height)
        return;
    *above = window->anchor_y;
    *below = window->height - 1 - window->anchor_y;
}

static tw_status make_shares(tw_plan *plan, tw_context *const *members, int count)
{
    struct twi_group *group = plan->group;
    const tw_problem *problem = &plan->problem;
    const int64_t length = length_of(group, problem);
    void *memory = NULL;
    int64_t above = 0;
    int64_t below = 0;
    group->threads = (int)twi_min_i64(count, most_shares(group, problem));
    if (group->way == ROWS)
        find_seams(problem, length / count, &above, &below);
    const int shares = group->threads + (above > 0) + (below > 0);
    TWI_TRY(twi_host_allocate(plan->context, (size_t)shares * sizeof(share), &memory));
    memset(memory, 0, (size_t)shares * sizeof(share));
    group->shares = memory;
    group->count = shares;
    if (group->way == TALLY)
        TWI_TRY(tw_tally_create(plan->context, problem, &group->tally));
    if (group->way == CARRY)
        TWI_TRY(twi_chain_create(plan->context, problem, group->count, &group->chain));
    for (int i = 0; i < group->count; i++) {
        share *s = &group->shares[i];
        if (i < group->threads) {
            s->first = above + twi_cut_at(length - above - below, group->threads, i);
            s->last = above + twi_cut_at(length - above - below, group->threads, i + 1);
        } else {
            s->first = i == group->threads && above > 0 ? 0 : length - below;
            s->last = i == group->threads && above > 0 ? above : length;
        }
        tw_context *member = members[i < group->threads ? i : 0];
        const tw_status status = make_share(group, problem, member, s);
        if (twi_is_failure_of_device(status))
            member->lost = plan->context->rest_goes_on; /* NOLINT: there are as many members as threads */
        if (status != TW_OK)
            return twi_is_failure_of_device(status) ? TW_ERROR_DEVICE : status;
    }
    plan->variant = group->shares[0].plan->variant;
    return TW_OK;
}

static void drop_shares(tw_plan *plan)
{
    struct twi_group *group = plan->group;
    for (int i = 0; i < group->count; i++) {
        share *s = &group->shares[i];
        if (!s->plan)
            continue;
        twi_chain_leave(s->plan);
        tw_image_free(s->plan->context, &s->gathered);
        tw_image_free(s->plan->context, &s->found);
        tw_plan_destroy(s->squares);
        tw_plan_destroy(s->plan);
    }
    tw_tally_destroy(group->tally);
    twi_chain_destroy(group->chain);
    twi_host_release(plan->context, group->shares);
    group->tally = NULL;
    group->chain = NULL;
    group->shares = NULL;
    group->count = 0;
}

/* On the devices that work. Where it fails there are no shares. */
static tw_status share_out(tw_plan *plan)
{
    tw_context *members[TWI_MOST_DEVICES] = {NULL};
    for (;;) {
        const int count = twi_members(plan->context, members);
        if (count == 0)
            return twi_no_device();
        const tw_status status = make_shares(plan, members, count);
        if (status == TW_OK)
            return TW_OK;
        drop_shares(plan);
        if (twi_members(plan->context, members) == count)
            return status;
    }
}

/* In place a device would find its neighbours' results among the pixels that it reads; of columns, those that had been
   made when a device failed. */
static tw_status take_copy(const tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    int64_t bytes = 0;
    if (!problem->in_place || (plan->group->way == COLUMNS && !plan->context->rest_goes_on))
        return TW_OK;
    if (!twi_mul_i64(problem->width, problem->channels * (int64_t)tw_type_size(problem->type),
                     &plan->group->copy_pitch) ||
        !twi_mul_i64(plan->group->copy_pitch, problem->height, &bytes))
        return twi_fail(TW_ERROR_LIMIT, "an image of %" PRId64 "x%" PRId64 " pixels cannot be counted in bytes",
                        problem->width, problem->height);
    return twi_host_allocate(plan->context, (size_t)bytes, &plan->group->copy);
}

/* A table of floats: sums along rows, and down the columns of these, where they lie. */
static tw_status create_stages(tw_plan *plan)
{
    struct twi_group *group = plan->group;
    tw_problem stage = plan->problem;
    if (group->options.variant)
        return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s makes all at once", group->options.variant);
    plan->variant = twi_choose(plan->context, &plan->problem);
    stage.op = TW_OP_SCAN;
    stage.axis = TW_AXIS_X;
    TWI_TRY(tw_plan_create(plan->context, &stage, &group->options, &group->along));
    stage.type = stage.out_type;
    stage.axis = TW_AXIS_Y;
    stage.in_place = true;
    return tw_plan_create(plan->context, &stage, &group->options, &group->down);
}

tw_status twi_group_create(tw_plan *plan, const tw_plan_options *options, bool alone)
{
    void *memory = NULL;
    TWI_TRY(twi_host_allocate(plan->context, sizeof(struct twi_group), &memory));
    plan->group = memory;
    *plan->group = (struct twi_group){.way = alone ? ALONE : way_of(&plan->problem), .options = *options};
    if (plan->group->way == STAGES)
        return create_stages(plan);
    TWI_TRY(share_out(plan));
    if (options->variant) /* the caller's text need not last */
        plan->group->options.variant = plan->variant->name;
    return take_copy(plan);
}

void twi_group_destroy(tw_plan *plan)
{
    if (!plan->group)
        return;
    drop_shares(plan);
    tw_plan_destroy(plan->group->along);
    tw_plan_destroy(plan->group->down);
    twi_host_release(plan->context, plan->group->copy);
    twi_host_release(plan->context, plan->group);
    plan->group = NULL;
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

/* The share's source: a view of the image, or its regions put together. */
static tw_status find_source(const share *s, tw_image *source)
{
    int64_t y = 0;
    for (int32_t i = 0; i < s->part.count; i++) {
        const tw_region *read = &s->part.reads[i];
        TWI_TRY(tw_image_view(s->run->src, read->x, read->y, read->width, read->height, source));
        if (s->part.count > 1) {
            tw_image place;
            TWI_TRY(tw_image_view(&s->gathered, 0, y, read->width, read->height, &place));
            twi_copy_rows(place.data, place.pitch, source->data, source->pitch, (int64_t)twi_row_bytes(source),
                          read->height);
        }
        y += read->height;
    }
    if (s->part.count > 1)
        *source = s->gathered;
    return TW_OK;
}

static tw_status run_share(const struct twi_group *group, const share *s)
{
    const run *r = s->run;
    const tw_problem *problem = &s->part.problem;
    const int64_t first = twi_max_i64(s->first, r->first);
    const int64_t last = twi_min_i64(s->last, r->first + r->dst->height);
    tw_image source;
    tw_image rows;
    if (s->found.data) {
        TWI_TRY(find_source(s, &source));
        return tw_plan_run(r->squares ? s->squares : s->plan, &source, &s->found);
    }
    if (group->way == COLUMNS) {
        TWI_TRY(find_source(s, &source));
        TWI_TRY(tw_image_view(r->dst, s->first, 0, s->last - s->first, r->dst->height, &rows));
        TWI_TRY(tw_plan_run(s->plan, &source, &rows));
        if (problem->op == TW_OP_REDUCE)
            twi_move_places(&rows, problem->figures, s->first, 0);
        return TW_OK;
    }
    if (group->way == CARRY)
        twi_carry_start(s->plan, r->src, s->last);
    if (first >= last)
        return TW_OK;
    TWI_TRY(find_source(s, &source));
    TWI_TRY(tw_image_view(r->dst, 0, first - r->first, r->dst->width, last - first, &rows));
    TWI_TRY(tw_plan_run_rows(s->plan, &source, &rows, s->part.first + first - s->first));
    if (problem->op == TW_OP_REDUCE)
        twi_move_places(&rows, problem->figures, 0, s->first);
    return TW_OK;
}

static void *work(void *argument)
{
    share *s = argument;
    const struct twi_group *group = s->run->group;
    twi_note_outcome(&s->outcome, run_share(group, s));
    if (s->outcome.status != TW_OK && group->chain)
        twi_carry_fail(s->plan);
    return NULL;
}

/* The first failure. */
static tw_status failure_of(const struct twi_group *group)
{
    for (int i = 0; i < group->count; i++)
        TWI_TRY(twi_pass_outcome(&group->shares[i].outcome, group->shares[i].plan->context));
    return TW_OK;
}

static tw_status run_shares(const struct twi_group *group, const run *r)
{
    if (group->chain)
        twi_chain_begin(group->chain);
    for (int i = 0; i < group->count; i++)
        group->shares[i].run = r;
    twi_run_threads(work, group->shares, sizeof *group->shares, group->threads);
    for (int i = group->threads; i < group->count && group->shares[0].outcome.status == TW_OK; i++)
        (void)work(&group->shares[i]); /* seams, which have no use after a failure */
    return failure_of(group);
}

/* A look of all devices at their rows, whose records are added up. */
static tw_status look(const struct twi_group *group, const run *r)
{
    TWI_TRY(run_shares(group, r));
    for (int i = 0; i < group->count; i++) {
        const share *s = &group->shares[i];
        TWI_TRY(tw_tally_add_found(group->tally, s->last - s->first, &s->found));
    }
    return TW_OK;
}

static tw_status run_tally(const struct twi_group *group, run *r)
{
    twi_tally_clear(group->tally);
    TWI_TRY(look(group, r));
    if (tw_tally_wants(group->tally)) {
        r->squares = true;
        for (int i = 0; i < group->count; i++) {
            const share *s = &group->shares[i];
            tw_problem problem;
            TWI_TRY(tw_tally_problem(group->tally, s->last - s->first, &problem));
            memcpy(s->squares->problem.about, problem.about, sizeof problem.about);
        }
        TWI_TRY(look(group, r));
    }
    return tw_tally_finish(group->tally, r->dst);
}

/* Whether shares may be made anew, without the devices that failed. */
static bool loses_devices(const tw_plan *plan)
{
    bool lost = false;
    for (int i = 0; i < plan->group->count && plan->context->rest_goes_on; i++) {
        const share *s = &plan->group->shares[i];
        if (s->outcome.status == TW_ERROR_DEVICE)
            lost = s->plan->context->lost = true;
    }
    return lost;
}

static tw_status run_stages(const tw_plan *plan, const tw_image *src, const tw_image *dst)
{
    const size_t pixel = (size_t)dst->channels * tw_type_size(dst->type);
    tw_image sums;
    for (int64_t y = 0; y < dst->height; y++)
        memset((char *)dst->data + y * dst->pitch, 0, y == 0 ? (size_t)dst->width * pixel : pixel);
    TWI_TRY(tw_image_view(dst, 1, 1, src->width, src->height, &sums));
    TWI_TRY(tw_plan_run(plan->group->along, src, &sums));
    return tw_plan_run(plan->group->down, &sums, &sums);
}

tw_status twi_group_run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    struct twi_group *group = plan->group;
    tw_image source = *src;
    if (group->way == STAGES)
        return run_stages(plan, src, dst);
    if (src->data == dst->data && group->copy) {
        source.data = group->copy;
        source.pitch = group->copy_pitch;
        twi_copy_rows(source.data, source.pitch, src->data, src->pitch, (int64_t)twi_row_bytes(src), src->height);
    }
    for (;;) {
        if (group->count == 0) /* devices failed, in this run or one before */
            TWI_TRY(share_out(plan));
        run r = {group, &source, dst, first, false};
        const tw_status status = group->tally ? run_tally(group, &r) : run_shares(group, &r);
        if (status != TW_ERROR_DEVICE || !loses_devices(plan))
            return status;
        drop_shares(plan);
    }
}
