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

/* Of each device: the last step, and the one that was noted. */
static struct {
    int last;
    int noted;
} devices[DEVICES];

static int number_of(const tw_context *context)
{
    for (int i = 0; i < DEVICES; i++)
        if (members[i] == context)
            return i;
    fail_msg("%s", "a context that no one knows");
    return -1;
}

static tw_status queue(const tw_context *context, step s, int also)
{
    int *last = &devices[number_of(context)].last;
    assert_true(count < MOST_STEPS);
    s.after[0] = *last;
    s.after[1] = also;
    steps[count] = s;
    *last = count++;
    return TW_OK;
}

static tw_status queue_copy(const tw_context *context, const tw_image *src, const tw_image *dst)
{
    return queue(context, (step){.src = *src, .dst = *dst, .copies = true}, -1);
}

static tw_status queue_run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    return queue(plan->context, (step){.plan = plan, .src = *src, .dst = *dst, .first = first}, -1);
}

static tw_status mark(const tw_context *context)
{
    const int own = number_of(context);
    devices[own].noted = devices[own].last;
    return TW_OK;
}

static tw_status await(const tw_context *context, const tw_context *other)
{
    return queue(context, (step){.plan = NULL}, devices[number_of(other)].noted);
}

static bool is_ready(const step *s)
{
    return !s->done && (s->after[0] < 0 || steps[s->after[0]].done) && (s->after[1] < 0 || steps[s->after[1]].done);
}

static void do_step(step *s)
{
    if (s->copies)
        assert_ok(cpu->queue_copy(members[0], &s->src, &s->dst));
    else if (s->plan)
        assert_ok(cpu->queue_run(s->plan, &s->src, &s->dst, s->first));
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
        devices[i].last = devices[i].noted = -1;
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
    queues.queue_copy = queue_copy;
    queues.queue_run = queue_run;
    queues.mark = mark;
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

/* Filters of several heights and a transposition, one after the other, on two or three images. */
typedef struct link {
    tw_problem problem;
    tw_spread_plan *plan;
} link;

static link make_link(tw_context *context, const tw_image *a, const tw_image *b, int which)
{
    static const int heights[] = {3, 9, 1, 5};
    link l = {.plan = NULL};
    if (which == 4) {
        assert_ok(tw_transpose_problem(a, b, TW_TRANSPOSE, &l.problem));
    } else {
        tw_box_params params = box_params(3, heights[which], TW_BORDER_WRAP);
        assert_ok(tw_box_problem(a, b, &params, &l.problem));
    }
    assert_ok(tw_spread_plan_create(context, &l.problem, NULL, &l.plan));
    return l;
}

enum { SIDE = 90, LINKS = 5, RUNS = 12, REACH = 9 };

static void run_chain(tw_context *context, const link *links, const picture *src, picture *now, picture *next)
{
    tw_spread *spreads[3] = {NULL};
    int at = 0;
    for (int i = 0; i < 3; i++)
        assert_ok(tw_spread_create(context, SIDE, SIDE, 1, TW_U8, REACH, &spreads[i]));
    assert_ok(tw_spread_put(spreads[0], &src->image));
    assert_ok(tw_image_copy(context, &src->image, &now->image));
    for (int run = 0; run < RUNS; run++) {
        const link *l = &links[next_random(&chance) % LINKS];
        const int to = (at + 1 + (int)(next_random(&chance) % 2)) % 3;
        tw_plan *plan = NULL;
        const picture swap = *now;
        assert_ok(tw_spread_run(l->plan, spreads[at], spreads[to]));
        at = to;
        assert_ok(tw_plan_create(context, &l->problem, NULL, &plan));
        assert_ok(tw_plan_run(plan, &now->image, &next->image));
        tw_plan_destroy(plan);
        *now = *next;
        *next = swap;
    }
    assert_ok(tw_spread_get(spreads[at], &next->image));
    assert_true(same_pixels(&now->image, &next->image));
    for (int i = 0; i < 3; i++)
        tw_spread_destroy(spreads[i]);
}

static void any_order_that_is_allowed_gives_the_same_bytes(void **state)
{
    tw_context *context = open_queues();
    picture src = make_picture(SIDE, SIDE, 1, TW_U8, 0);
    picture now = make_picture(SIDE, SIDE, 1, TW_U8, 0);
    picture next = make_picture(SIDE, SIDE, 1, TW_U8, 0);
    link links[LINKS];
    (void)state;
    fill_random(&src.image, 2);
    for (int i = 0; i < LINKS; i++)
        links[i] = make_link(context, &src.image, &now.image, i);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        chance = trial + 1;
        run_chain(context, links, &src, &now, &next);
    }
    for (int i = 0; i < LINKS; i++)
        tw_spread_plan_destroy(links[i].plan);
    close_queues(context);
    free_picture(&src);
    free_picture(&now);
    free_picture(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_that_is_allowed_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
