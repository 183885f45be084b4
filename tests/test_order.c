/*
 * What spread images wait for. Devices are queues here: copies and work are only noted when they are queued, and done
 * when someone waits, in any order that queues and events allow. A wait that is missing shows as wrong pixels.
 */
#include "testing.h"

#include "core/group.h"

enum { MOST_STEPS = 4000, DEVICES = 3, TRIALS = 40 };

/* Something queued: a copy, work, or nothing but a place in its queue. */
typedef struct step {
    tw_plan *plan;
    tw_image src;
    tw_image dst;
    int64_t first;
    bool copies;
    bool done;
    int after[2]; /* steps that come before; -1: none */
} step;

static step steps[MOST_STEPS];
static int count;
static unsigned chance;
static const twi_backend *cpu;
static const tw_context *members[DEVICES];

/* Of each device: the last step, and the end of its last turn. */
static struct {
    int last;
    int turned;
} devices[DEVICES];

static int number_of(const tw_context *context)
{
    for (int i = 0; i < DEVICES; i++)
        if (members[i] == context)
            return i;
    fail_msg("%s", "a context that no one knows");
    return -1;
}

static void queue(const tw_context *context, step s, int also)
{
    int *last = &devices[number_of(context)].last;
    assert_true(count < MOST_STEPS);
    s.after[0] = *last;
    s.after[1] = also;
    steps[count] = s;
    *last = count++;
}

static tw_status queue_turn(const twi_turn *turn)
{
    const tw_context *context = turn->plan->context;
    const int own = number_of(context);
    for (int i = 0; i < turn->fetch_count; i++)
        queue(context, (step){.src = turn->fetches[i].from, .dst = turn->fetches[i].to, .copies = true}, -1);
    queue(context, (step){.plan = turn->plan, .src = turn->src, .dst = turn->dst, .first = turn->first}, -1);
    devices[own].turned = devices[own].last;
    return TW_OK;
}

static tw_status await(const tw_context *context, const tw_context *const *others, int awaited)
{
    for (int i = 0; i < awaited; i++)
        queue(context, (step){.plan = NULL}, devices[number_of(others[i])].turned);
    return TW_OK;
}

static bool is_ready(const step *s)
{
    return !s->done && (s->after[0] < 0 || steps[s->after[0]].done) && (s->after[1] < 0 || steps[s->after[1]].done);
}

static void do_step(step *s)
{
    if (s->copies)
        assert_ok(cpu->copy(members[0], &s->src, &s->dst));
    else if (s->plan)
        assert_ok(cpu->run(s->plan, &s->src, &s->dst, s->first));
    s->done = true;
}

/* Does all steps, of those that are ready any. */
static tw_status finish(const tw_context *context)
{
    (void)context;
    for (int left = count; left > 0; left--) {
        int ready[MOST_STEPS];
        int choices = 0;
        for (int i = 0; i < count; i++)
            if (is_ready(&steps[i]))
                ready[choices++] = i;
        assert_true(choices > 0);
        do_step(&steps[ready[next_random(&chance) % (unsigned)choices]]);
    }
    count = 0;
    for (int i = 0; i < DEVICES; i++)
        devices[i].last = devices[i].turned = -1;
    return TW_OK;
}

/* ---- A context of such devices ---------------------------------------------------------------------- */

static twi_backend queues;

static tw_context *open_queues(void)
{
    static const int numbers[DEVICES] = {0, 0, 0};
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CPU;
    options.threads = DEVICES;
    options.devices = numbers;
    options.device_count = DEVICES;
    assert_ok(tw_context_create(&options, &context));
    cpu = context->backend;
    queues = *cpu;
    queues.queue_turn = queue_turn;
    queues.await = await;
    queues.finish = finish;
    members[0] = context;
    for (int i = 0; i < DEVICES - 1; i++)
        members[1 + i] = context->others[i];
    context->backend = &queues;
    for (int i = 0; i < context->other_count; i++)
        context->others[i]->backend = &queues;
    count = 0;
    (void)finish(context);
    return context;
}

static void close_queues(tw_context *context)
{
    context->backend = cpu;
    for (int i = 0; i < context->other_count; i++)
        context->others[i]->backend = cpu;
    tw_context_destroy(context);
}

/* ---- Chains -------------------------------------------------------------------------------------- */

enum { RUNS = 14, REACH = 9, MOST_LINKS = 5, IMAGES = 3 };

/* A filter or transposition, and the shapes of its images. */
typedef struct link {
    int from;
    int to;
    tw_problem problem;
    tw_spread_plan *plan;
} link;

/* Images of two shapes, on the devices and what they must be, and links by which any may be made from any other. */
typedef struct chains {
    tw_context *context;
    tw_spread *spreads[2][IMAGES];
    picture pictures[2][IMAGES];
    link links[MOST_LINKS];
    int count;
} chains;

static chains make_chains(int64_t width, int64_t height)
{
    chains c = {.context = open_queues()};
    for (int shape = 0; shape < 2; shape++) {
        for (int i = 0; i < IMAGES; i++) {
            picture *p = &c.pictures[shape][i];
            *p = shape == 0 ? make_picture(width, height, 1, TW_U8, 0) : make_picture(height, width, 1, TW_U8, 0);
            assert_ok(
                tw_spread_create(c.context, p->image.width, p->image.height, 1, TW_U8, REACH, &c.spreads[shape][i]));
        }
    }
    return c;
}

static void free_chains(chains *c)
{
    for (int i = 0; i < c->count; i++)
        tw_spread_plan_destroy(c->links[i].plan);
    for (int i = 0; i < 2 * IMAGES; i++) {
        tw_spread_destroy(c->spreads[i % 2][i / 2]);
        free_picture(&c->pictures[i % 2][i / 2]);
    }
    close_queues(c->context);
}

static void add_link(chains *c, int from, int to, const tw_problem *problem)
{
    link *l = &c->links[c->count++];
    *l = (link){.from = from, .to = to, .problem = *problem};
    assert_ok(tw_spread_plan_create(c->context, problem, NULL, &l->plan));
}

static void add_box(chains *c, int shape, int width, int height)
{
    const tw_box_params params = box_params(width, height, TW_BORDER_WRAP);
    tw_problem problem;
    assert_ok(tw_box_problem(&c->pictures[shape][0].image, &c->pictures[shape][1].image, &params, &problem));
    add_link(c, shape, shape, &problem);
}

static void add_turn(chains *c, int from, int to)
{
    tw_problem problem;
    assert_ok(tw_transpose_problem(&c->pictures[from][0].image, &c->pictures[to][1].image, TW_TRANSPOSE, &problem));
    add_link(c, from, to, &problem);
}

static void run_link(const chains *c)
{
    const link *l = &c->links[next_random(&chance) % (unsigned)c->count];
    const int from = (int)(next_random(&chance) % IMAGES);
    const int to = (from + 1 + (int)(next_random(&chance) % (IMAGES - 1))) % IMAGES;
    tw_plan *plan = NULL;
    assert_ok(tw_spread_run(l->plan, c->spreads[l->from][from], c->spreads[l->to][to]));
    assert_ok(tw_plan_create(c->context, &l->problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, &c->pictures[l->from][from].image, &c->pictures[l->to][to].image));
    tw_plan_destroy(plan);
}

static void compare(const tw_spread *spread, const tw_image *expected)
{
    picture got = make_picture(expected->width, expected->height, 1, TW_U8, 0);
    assert_ok(tw_spread_get(spread, &got.image));
    assert_true(same_pixels(expected, &got.image));
    free_picture(&got);
}

/* Figures of columns, whose pixels lie on all devices, after what is still queued. */
static void compare_columns(const chains *c, int which)
{
    const tw_image *image = &c->pictures[0][which].image;
    const tw_reduce_params params = {.axis = TW_AXIS_Y, .figures = TW_FIGURE_ALL};
    picture expected = make_picture(image->width, 1, 1, TW_STATS, 0);
    picture got = make_picture(image->width, 1, 1, TW_STATS, 0);
    tw_spread_plan *plan = NULL;
    tw_problem problem;
    assert_ok(tw_reduce_problem(image, &got.image, &params, &problem));
    assert_ok(tw_spread_plan_create(c->context, &problem, NULL, &plan));
    assert_ok(tw_spread_reduce(plan, c->spreads[0][which], &got.image));
    assert_ok(tw_reduce(c->context, image, &expected.image, &params));
    assert_true(same_pixels(&expected.image, &got.image));
    tw_spread_plan_destroy(plan);
    free_picture(&expected);
    free_picture(&got);
}

static void try_orders(chains *c)
{
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        chance = trial + 1;
        for (int i = 0; i < 2 * IMAGES; i++) {
            const tw_image *image = &c->pictures[i % 2][i / 2].image;
            fill_random(image, (unsigned)i);
            assert_ok(tw_spread_put(c->spreads[i % 2][i / 2], image));
        }
        for (int run = 0; run < RUNS; run++)
            run_link(c);
        compare_columns(c, (int)(trial % IMAGES));
        for (int i = 0; i < 2 * IMAGES; i++)
            compare(c->spreads[i % 2][i / 2], &c->pictures[i % 2][i / 2].image);
    }
    free_chains(c);
}

static void any_order_that_is_allowed_gives_the_same_bytes(void **state)
{
    static const int heights[] = {3, 9, 1, 5};
    chains c = make_chains(90, 90);
    (void)state;
    for (size_t i = 0; i < COUNT(heights); i++)
        add_box(&c, 0, 3, heights[i]);
    add_turn(&c, 0, 0);
    try_orders(&c);
}

static void also_where_images_have_fewer_rows_than_there_are_devices(void **state)
{
    chains c = make_chains(2, 90);
    (void)state;
    add_box(&c, 0, 1, 9);
    add_box(&c, 1, 9, 1);
    add_turn(&c, 0, 1);
    add_turn(&c, 1, 0);
    try_orders(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_that_is_allowed_gives_the_same_bytes),
        cmocka_unit_test(also_where_images_have_fewer_rows_than_there_are_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
