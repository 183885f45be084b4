/*
 * Images whose rows lie on the devices of a context, a band on each, with room above and below for the rows that
 * windows reach. A run brings those from their owners' memory (a copy between devices) into that room, so that each
 * device has its part (part.c) as one image and makes its rows of the result where they stay. Runs are queued: devices
 * wait for each other by events, the caller's thread for none of them. Figures come to the host, as records of each
 * device's rows or columns.
 */
#include <inttypes.h>
#include <string.h>

#include "core/group.h"
#include "core/image.h"

typedef struct band {
    tw_context *context;
    int64_t first; /* its rows of the image */
    int64_t last;
    tw_image room;    /* reach rows, its own, and as many again */
    uint64_t readers; /* devices that have fetched its rows since it was written */
} band;

struct tw_spread {
    tw_context *context;
    tw_image shape; /* of the whole; no pixels */
    int64_t reach;
    int count;
    band *bands;
};

/* What one device does in a run. */
typedef struct duty {
    tw_plan *plan;
    tw_part part;
    tw_image gathered; /* its source, where that is not its band and rows around it */
    /* figures: */
    tw_plan *squares; /* the second look */
    tw_image found;   /* records where the device works, */
    tw_image records; /* and on the host */
} duty;

struct tw_spread_plan {
    tw_context *context;
    tw_problem problem;
    bool figures;    /* go to the host */
    bool columns;    /* of columns, whose pixels are gathered */
    tw_tally *tally; /* of the whole image; NULL: of rows or columns */
    int count;
    duty *duties;
};

static tw_memory_kind kind_on(const tw_context *context)
{
    return context->backend->id == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
}

static tw_status lacks_devices(int count)
{
    return twi_fail(TW_ERROR_DEVICE,
                    "%d of the context's devices work: too few, or fewer than when the images and the plan were made",
                    count);
}

/* ---- Images -------------------------------------------------------------------------------------- */

static tw_status make_band(const tw_spread *spread, band *b)
{
    const tw_image *shape = &spread->shape;
    int64_t rows = 0;
    if (spread->reach > (INT64_MAX - shape->height) / 2)
        return twi_fail(TW_ERROR_LIMIT, "reach %" PRId64 ": too many rows", spread->reach);
    rows = b->last - b->first + 2 * spread->reach;
    return tw_image_create(b->context, shape->width, rows, shape->channels, shape->type, kind_on(b->context), &b->room);
}

tw_status tw_spread_create(tw_context *context, int64_t width, int64_t height, int32_t channels, tw_type type,
                           int64_t reach, tw_spread **result)
{
    tw_context *members[TWI_MOST_DEVICES];
    void *memory = NULL;
    void *bands = NULL;
    if (!context || !result)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", context ? "spread" : "context");
    *result = NULL;
    if (width < 1 || height < 1 || reach < 0)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "%" PRId64 "x%" PRId64 " pixels, reach %" PRId64 ": use 1 or more, and 0 or more", width,
                        height, reach);
    TWI_TRY(twi_host_allocate(context, sizeof(tw_spread), &memory));
    const int count = (int)twi_min_i64(twi_members(context, members), height);
    tw_status status = count == 0 ? lacks_devices(0) : twi_host_allocate(context, (size_t)count * sizeof(band), &bands);
    if (!bands) {
        twi_host_release(context, memory);
        return status;
    }
    tw_spread *spread = memory;
    *spread = (tw_spread){
        .context = context,
        .shape = {.width = width, .height = height, .channels = channels, .type = type},
        .reach = reach,
        .count = count,
        .bands = bands,
    };
    memset(bands, 0, (size_t)count * sizeof(band));
    for (int i = 0; i < count; i++) {
        spread->bands[i].context = members[i];
        spread->bands[i].first = twi_cut_at(height, count, i);
        spread->bands[i].last = twi_cut_at(height, count, i + 1);
    }
    for (int i = 0; i < count && status == TW_OK; i++)
        status = make_band(spread, &spread->bands[i]);
    if (status != TW_OK) {
        tw_spread_destroy(spread);
        return status;
    }
    *result = spread;
    return TW_OK;
}

void tw_spread_destroy(tw_spread *spread)
{
    if (!spread)
        return;
    for (int i = 0; i < spread->count; i++)
        tw_image_free(spread->bands[i].context, &spread->bands[i].room);
    twi_host_release(spread->context, spread->bands);
    twi_host_release(spread->context, spread);
}

/* The rows that the band owns, where they lie. */
static tw_image own_rows(const tw_spread *spread, const band *b)
{
    tw_image own = b->room;
    own.data = (char *)own.data + spread->reach * own.pitch;
    own.height = b->last - b->first;
    return own;
}

static tw_status check_host(const tw_spread *spread, const tw_image *image)
{
    if (!spread)
        return twi_fail(TW_ERROR_ARGUMENT, "spread is NULL");
    TWI_TRY(tw_image_check(image));
    const tw_image *shape = &spread->shape;
    if (image->memory != TW_HOST || image->width != shape->width || image->height != shape->height ||
        image->channels != shape->channels || image->type != shape->type)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "the image is %s of %" PRId64 "x%" PRId64 " with %d channels, the spread %s of %" PRId64
                        "x%" PRId64 " with %d, and the image must be on the host",
                        tw_type_name(image->type), image->width, image->height, (int)image->channels,
                        tw_type_name(shape->type), shape->width, shape->height, (int)shape->channels);
    return TW_OK;
}

/* Whether its bands lie on the first of the devices that work, in their order. */
static bool lies_on(const tw_spread *spread, tw_context *const *members, int count)
{
    for (int i = 0; i < spread->count; i++)
        if (i >= count || spread->bands[i].context != members[i])
            return false;
    return true;
}

/* A band's way between the host and its device. */
typedef struct way {
    tw_context *context;
    tw_image from;
    tw_image to;
    twi_outcome outcome;
} way;

static void *go(void *item)
{
    way *w = item;
    twi_note_outcome(&w->outcome, tw_image_copy(w->context, &w->from, &w->to));
    return NULL;
}

/* Between the host and all devices at a time; after what is queued there. */
static tw_status transfer(const tw_spread *spread, const tw_image *image, bool up)
{
    way ways[TWI_MOST_DEVICES];
    TWI_TRY(check_host(spread, image));
    TWI_TRY(tw_spread_wait(spread));
    for (int i = 0; i < spread->count; i++) {
        const band *b = &spread->bands[i];
        const tw_image own = own_rows(spread, b);
        tw_image rows;
        TWI_TRY(tw_image_view(image, 0, b->first, image->width, b->last - b->first, &rows));
        ways[i] = (way){.context = b->context, .from = up ? rows : own, .to = up ? own : rows};
    }
    twi_run_threads(go, ways, sizeof *ways, spread->count);
    for (int i = 0; i < spread->count; i++)
        TWI_TRY(twi_pass_outcome(&ways[i].outcome, ways[i].context));
    return TW_OK;
}

tw_status tw_spread_put(tw_spread *spread, const tw_image *image)
{
    return transfer(spread, image, true);
}

tw_status tw_spread_get(const tw_spread *spread, const tw_image *image)
{
    return transfer(spread, image, false);
}

tw_status tw_spread_wait(const tw_spread *spread)
{
    if (!spread)
        return twi_fail(TW_ERROR_ARGUMENT, "spread is NULL");
    tw_context *members[TWI_MOST_DEVICES];
    const int count = twi_members(spread->context, members);
    if (!lies_on(spread, members, count))
        return lacks_devices(count);
    for (int i = 0; i < count; i++) /* also those that have no rows of it may still copy some */
        TWI_TRY(members[i]->backend->finish(members[i]));
    return TW_OK;
}

/* ---- Plans --------------------------------------------------------------------------------------- */

static tw_memory memory_of(const tw_context *context)
{
    return kind_on(context) == TW_MEMORY_DEVICE ? TW_DEVICE : TW_HOST;
}

static tw_status gather(tw_context *context, const tw_problem *part, tw_image *image)
{
    return tw_image_create(context, part->width, part->height, part->channels, part->type, kind_on(context), image);
}

static tw_status make_duty(const tw_spread_plan *plan, const tw_plan_options *options, tw_context *context,
                           int64_t first, int64_t last, duty *d)
{
    TWI_TRY(tw_problem_part(&plan->problem, first, last, &d->part));
    d->part.problem.memory = memory_of(context);
    TWI_TRY(twi_plan_create_one(context, &d->part.problem, options, &d->plan));
    return plan->problem.op == TW_OP_TRANSPOSE ? gather(context, &d->part.problem, &d->gathered) : TW_OK;
}

/* The figures of some rows or columns. */
static tw_status make_figures(const tw_spread_plan *plan, const tw_plan_options *options, tw_context *context,
                              int64_t first, int64_t last, duty *d)
{
    tw_problem *part = &d->part.problem;
    int64_t width = 0;
    int64_t height = 0;
    twi_cut_lines(&plan->problem, plan->columns, first, last, &d->part);
    if (plan->tally)
        TWI_TRY(tw_tally_problem(plan->tally, last - first, part));
    part->memory = memory_of(context);
    TWI_TRY(twi_plan_create_one(context, part, options, &d->plan));
    if (plan->columns)
        TWI_TRY(gather(context, part, &d->gathered));
    twi_out_shape(part, &width, &height);
    TWI_TRY(tw_image_create(context, width, height, part->channels, part->out_type, kind_on(context), &d->found));
    /* page-locked: one copy then brings all of their short rows */
    TWI_TRY(tw_image_create(context, width, height, part->channels, part->out_type, TW_MEMORY_PINNED, &d->records));
    if (!plan->tally || !twi_looks_twice(&plan->problem))
        return TW_OK;
    tw_problem squares = *part;
    squares.figures = TW_FIGURE_SQUARES;
    return twi_plan_create_one(context, &squares, options, &d->squares);
}

/* How long the side is that devices share. */
static int64_t length_of(const tw_spread_plan *plan)
{
    int64_t width = 0;
    int64_t height = 0;
    twi_out_shape(&plan->problem, &width, &height);
    return plan->columns ? width : plan->figures ? plan->problem.height : height;
}

static tw_status make_duties(tw_spread_plan *plan, const tw_plan_options *options)
{
    tw_context *members[TWI_MOST_DEVICES];
    const int64_t length = length_of(plan);
    void *memory = NULL;
    const int count = (int)twi_min_i64(twi_members(plan->context, members), length);
    if (count == 0)
        return lacks_devices(0);
    if (plan->figures && (plan->problem.op == TW_OP_HISTOGRAM || plan->problem.axis == TW_AXIS_ALL))
        TWI_TRY(tw_tally_create(plan->context, &plan->problem, &plan->tally));
    TWI_TRY(twi_host_allocate(plan->context, (size_t)count * sizeof(duty), &memory));
    memset(memory, 0, (size_t)count * sizeof(duty));
    plan->duties = memory;
    plan->count = count;
    for (int i = 0; i < count; i++)
        TWI_TRY((plan->figures ? make_figures : make_duty)(plan, options, members[i], twi_cut_at(length, count, i),
                                                           twi_cut_at(length, count, i + 1), &plan->duties[i]));
    return TW_OK;
}

tw_status tw_spread_plan_create(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                                tw_spread_plan **result)
{
    void *memory = NULL;
    if (!context || !problem || !result)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !context ? "context" : !problem ? "problem" : "plan");
    *result = NULL;
    TWI_TRY(twi_problem_check(problem));
    TWI_TRY(twi_host_allocate(context, sizeof(tw_spread_plan), &memory));
    tw_spread_plan *plan = memory;
    *plan = (tw_spread_plan){
        .context = context,
        .problem = *problem,
        .figures = problem->op == TW_OP_REDUCE || problem->op == TW_OP_HISTOGRAM,
        .columns = problem->op == TW_OP_REDUCE && problem->axis == TW_AXIS_Y,
    };
    const tw_status status = make_duties(plan, options);
    if (status != TW_OK) {
        tw_spread_plan_destroy(plan);
        return status;
    }
    *result = plan;
    return TW_OK;
}

void tw_spread_plan_destroy(tw_spread_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < plan->count; i++) {
        duty *d = &plan->duties[i];
        if (!d->plan)
            continue;
        tw_image_free(d->plan->context, &d->gathered);
        tw_image_free(d->plan->context, &d->found);
        tw_image_free(d->plan->context, &d->records);
        tw_plan_destroy(d->squares);
        tw_plan_destroy(d->plan);
    }
    tw_tally_destroy(plan->tally);
    twi_host_release(plan->context, plan->duties);
    twi_host_release(plan->context, plan);
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

/* A turn, and what it points to. */
typedef struct turn {
    twi_turn it;
    twi_fetch fetches[2 * TWI_MOST_DEVICES]; /* from each band for each region of a part */
} turn;

/* Some rows of the image to `to`, from those that own them; `skip`: the band that has its own already, -1 for none. */
static tw_status fetch_rows(const tw_spread *src, const tw_region *read, const tw_image *to, int skip, turn *t)
{
    for (int i = 0; i < src->count; i++) {
        const band *owner = &src->bands[i];
        const int64_t first = twi_max_i64(read->y, owner->first);
        const int64_t last = twi_min_i64(read->y + read->height, owner->last);
        const tw_image rows = own_rows(src, owner);
        if (first >= last || i == skip)
            continue;
        twi_fetch *fetch = &t->fetches[t->it.fetch_count++];
        fetch->owner = owner->context;
        TWI_TRY(tw_image_view(&rows, read->x, first - owner->first, read->width, last - first, &fetch->from));
        TWI_TRY(tw_image_view(to, 0, first - read->y, read->width, last - first, &fetch->to));
    }
    return TW_OK;
}

/* Where in the part's source the band's own rows are; -1 if they are not, all of them, side by side. */
static int64_t place_of(const tw_part *part, const band *b)
{
    int64_t y = 0;
    for (int32_t i = 0; i < part->count; i++) {
        const tw_region *read = &part->reads[i];
        if (b->first >= read->y && b->last <= read->y + read->height)
            return y + b->first - read->y;
        y += read->height;
    }
    return -1;
}

/* Band `own` with the rows around it that the part has. */
static tw_status surround(const tw_spread *src, const duty *d, int own, turn *t)
{
    const band *b = &src->bands[own];
    const int64_t above = place_of(&d->part, b);
    const int64_t below = d->part.problem.height - above - (b->last - b->first);
    tw_image *source = &t->it.src;
    int64_t y = 0;
    if (above < 0 || above > src->reach || below > src->reach)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "the source's reach is %" PRId64 " rows, rows %" PRId64 " to %" PRId64 " need %" PRId64
                        " above and %" PRId64 " below",
                        src->reach, b->first, b->last, twi_max_i64(above, 0), twi_max_i64(below, 0));
    *source = b->room;
    source->data = (char *)source->data + (src->reach - above) * source->pitch;
    source->height = d->part.problem.height;
    for (int32_t i = 0; i < d->part.count; i++) {
        const tw_region *read = &d->part.reads[i];
        tw_image rows;
        TWI_TRY(tw_image_view(source, 0, y, source->width, read->height, &rows));
        TWI_TRY(fetch_rows(src, read, &rows, y <= above && above < y + read->height ? own : -1, t));
        y += read->height;
    }
    return TW_OK;
}

static bool is_like(const tw_spread *spread, const tw_context *context, int64_t width, int64_t height, int32_t channels,
                    tw_type type)
{
    const tw_image *shape = &spread->shape;
    return spread->context == context && shape->width == width && shape->height == height &&
           shape->channels == channels && shape->type == type;
}

static bool is_made_on(const tw_spread_plan *plan, const tw_spread *dst)
{
    bool same = plan->count == dst->count;
    for (int i = 0; i < plan->count && same; i++)
        same = plan->duties[i].plan->context == dst->bands[i].context;
    return same;
}

static tw_status check_run(const tw_spread_plan *plan, const tw_spread *src, const tw_spread *dst)
{
    int64_t width = 0;
    int64_t height = 0;
    char text[160];
    tw_context *members[TWI_MOST_DEVICES];
    if (!plan || !src || !dst)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !plan ? "plan" : !src ? "src" : "dst");
    const tw_problem *problem = &plan->problem;
    if (plan->figures)
        return twi_fail(TW_ERROR_ARGUMENT, "a plan of %s makes no spread image: use tw_spread_reduce",
                        tw_op_name(problem->op));
    twi_out_shape(problem, &width, &height);
    (void)tw_problem_text(problem, text, sizeof text);
    if (src == dst)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is src: bands need a result of their own");
    if (!is_like(src, plan->context, problem->width, problem->height, problem->channels, problem->type) ||
        !is_like(dst, plan->context, width, height, problem->channels, problem->out_type))
        return twi_fail(TW_ERROR_ARGUMENT, "the images are not those of the plan and its context: %s", text);
    const int count = twi_members(plan->context, members);
    if (!lies_on(src, members, count) || !lies_on(dst, members, count) || !is_made_on(plan, dst))
        return lacks_devices(count);
    return TW_OK;
}

/* Sets of devices, by their place among those that work. */
static uint64_t device_set(int i)
{
    return UINT64_C(1) << i;
}

/* Those whose rows the duty reads. */
static uint64_t owners_of(const tw_spread *src, const duty *d)
{
    uint64_t owners = 0;
    for (int32_t i = 0; i < d->part.count; i++) {
        const tw_region *read = &d->part.reads[i];
        for (int j = 0; j < src->count; j++)
            if (read->y < src->bands[j].last && src->bands[j].first < read->y + read->height)
                owners |= device_set(j);
    }
    return owners;
}

/* Device i waits for those whose rows it will read, and for those that have read what it will overwrite. dst: NULL for
   figures. */
static tw_status queue_waits(const tw_spread_plan *plan, const tw_spread *src, const tw_spread *dst, int i)
{
    const tw_context *context = plan->duties[i].plan->context;
    const uint64_t awaited = owners_of(src, &plan->duties[i]) | (dst ? dst->bands[i].readers : 0);
    const tw_context *others[TWI_MOST_DEVICES];
    tw_context *members[TWI_MOST_DEVICES];
    const int count = twi_members(plan->context, members);
    int waits = 0;
    for (int j = 0; j < count; j++)
        if (j != i && awaited & device_set(j))
            others[waits++] = members[j];
    return waits > 0 ? context->backend->await(context, others, waits) : TW_OK;
}

/* Device i makes dst, by the duty's plan or, of figures, by that of the second look. */
static tw_status queue_duty(const duty *d, tw_plan *plan, const tw_spread *src, const tw_image *dst, int i)
{
    turn t;
    t.it = (twi_turn){.fetches = t.fetches, .plan = plan, .src = d->gathered, .dst = *dst, .first = d->part.first};
    if (d->gathered.data)
        TWI_TRY(fetch_rows(src, &d->part.reads[0], &d->gathered, -1, &t));
    else
        TWI_TRY(surround(src, d, i, &t));
    return plan->context->backend->queue_turn(&t.it);
}

/* Who has read which rows since they were made. */
static void note_readers(const tw_spread_plan *plan, const tw_spread *src, const tw_spread *dst)
{
    for (int i = 0; i < dst->count; i++)
        dst->bands[i].readers = 0;
    for (int i = 0; i < plan->count; i++) {
        const uint64_t owners = owners_of(src, &plan->duties[i]);
        for (int j = 0; j < src->count; j++)
            src->bands[j].readers |= owners & device_set(j) ? device_set(i) : 0;
    }
}

/* All wait before any begins: for the turns of the runs before. */
tw_status tw_spread_run(tw_spread_plan *plan, const tw_spread *src, const tw_spread *dst)
{
    TWI_TRY(check_run(plan, src, dst));
    for (int i = 0; i < plan->count; i++)
        TWI_TRY(queue_waits(plan, src, dst, i));
    note_readers(plan, src, dst);
    for (int i = 0; i < plan->count; i++) {
        const tw_image rows = own_rows(dst, &dst->bands[i]);
        TWI_TRY(queue_duty(&plan->duties[i], plan->duties[i].plan, src, &rows, i));
    }
    return TW_OK;
}

/* ---- Figures --------------------------------------------------------------------------------------- */

/* All devices at their rows or columns; the records come to the host. */
static tw_status look(const tw_spread_plan *plan, const tw_spread *src, bool squares)
{
    for (int i = 0; i < plan->count; i++)
        TWI_TRY(queue_waits(plan, src, NULL, i));
    for (int i = 0; i < plan->count; i++) {
        const duty *d = &plan->duties[i];
        TWI_TRY(queue_duty(d, squares ? d->squares : d->plan, src, &d->found, i));
    }
    for (int i = 0; i < plan->count; i++) {
        const duty *d = &plan->duties[i];
        TWI_TRY(d->plan->context->backend->finish(d->plan->context));
        TWI_TRY(tw_image_copy(d->plan->context, &d->found, &d->records));
    }
    return TW_OK;
}

static tw_status tally_look(const tw_spread_plan *plan, const tw_spread *src, bool squares)
{
    for (int i = 0; i < plan->count && squares; i++) {
        const duty *d = &plan->duties[i];
        tw_problem problem;
        TWI_TRY(tw_tally_problem(plan->tally, d->part.reads[0].height, &problem));
        memcpy(d->squares->problem.about, problem.about, sizeof problem.about);
    }
    TWI_TRY(look(plan, src, squares));
    for (int i = 0; i < plan->count; i++)
        TWI_TRY(tw_tally_add_found(plan->tally, plan->duties[i].part.reads[0].height, &plan->duties[i].records));
    return TW_OK;
}

/* Each device's records are some rows, or columns, of the result. */
static tw_status place_records(const tw_spread_plan *plan, const tw_image *dst)
{
    for (int i = 0; i < plan->count; i++) {
        const duty *d = &plan->duties[i];
        const tw_region *read = &d->part.reads[0];
        tw_image place;
        TWI_TRY(tw_image_view(dst, plan->columns ? read->x : 0, plan->columns ? 0 : read->y, d->records.width,
                              d->records.height, &place));
        twi_move_places(&d->records, plan->problem.figures, read->x, read->y);
        TWI_TRY(tw_image_copy(d->plan->context, &d->records, &place));
    }
    return TW_OK;
}

static tw_status check_figures(const tw_spread_plan *plan, const tw_spread *src, const tw_image *dst)
{
    int64_t width = 0;
    int64_t height = 0;
    tw_context *members[TWI_MOST_DEVICES];
    if (!plan || !src)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", plan ? "src" : "plan");
    const tw_problem *problem = &plan->problem;
    if (!plan->figures)
        return twi_fail(TW_ERROR_ARGUMENT, "a plan of %s makes no figures: use tw_spread_run", tw_op_name(problem->op));
    TWI_TRY(tw_image_check(dst));
    twi_out_shape(problem, &width, &height);
    if (!is_like(src, plan->context, problem->width, problem->height, problem->channels, problem->type) ||
        dst->memory != TW_HOST || dst->type != problem->out_type || dst->width != width || dst->height != height ||
        dst->channels != problem->channels)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "the images are not those of the plan and its context; dst must be %s of %" PRId64 "x%" PRId64
                        " with %d channels on the host",
                        tw_type_name(problem->out_type), width, height, (int)problem->channels);
    const int count = twi_members(plan->context, members);
    bool same = lies_on(src, members, count);
    for (int i = 0; i < plan->count && same; i++)
        same = plan->duties[i].plan->context == members[i]; /* NOLINT: src lies on as many */
    return same ? TW_OK : lacks_devices(count);
}

tw_status tw_spread_reduce(tw_spread_plan *plan, const tw_spread *src, const tw_image *dst)
{
    TWI_TRY(check_figures(plan, src, dst));
    if (!plan->tally) {
        TWI_TRY(look(plan, src, false));
        return place_records(plan, dst);
    }
    twi_tally_clear(plan->tally);
    TWI_TRY(tally_look(plan, src, false));
    if (tw_tally_wants(plan->tally))
        TWI_TRY(tally_look(plan, src, true));
    return tw_tally_finish(plan->tally, dst);
}
