/* Plans and what contexts keep: memory, progress, variants by name, and failure at any allocation. */
#include "testing.h"

/* An allocator that counts and fails at one chosen allocation. */
typedef struct ledger {
    int live;
    int taken;
    int fail_at; /* the first allocation is 1; 0: never */
} ledger;

static void *ledger_allocate(void *user, size_t size, size_t alignment)
{
    ledger *l = user;
    void *memory = NULL;
    if (++l->taken == l->fail_at || posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    l->live++;
    return memory;
}

static void ledger_release(void *user, void *memory)
{
    ledger *l = user;
    l->live--;
    free(memory);
}

static tw_context_options with_ledger(ledger *l)
{
    tw_context_options options = tw_context_defaults();
    options.backend = TW_CPU;
    options.threads = 2;
    options.allocator = (tw_allocator){ledger_allocate, ledger_release, l};
    return options;
}

static tw_context *context_with(const tw_context_options *options)
{
    tw_context *context = NULL;
    assert_ok(tw_context_create(options, &context));
    return context;
}

/* All that needs memory, by one variant: a context, images, the Simple tier, an in-place plan. Frees what it made. */
static tw_status whole_life(ledger *l, const char *variant, tw_type type)
{
    const tw_context_options options = with_ledger(l);
    const tw_plan_options by_name = {.variant = variant};
    const tw_box_params params = box_params(7, 5, TW_BORDER_REFLECT);
    tw_context *context = NULL;
    tw_plan *plan = NULL;
    tw_image src = {0};
    tw_image dst = {0};
    tw_problem problem;
    tw_status status = tw_context_create(&options, &context);
    if (status == TW_OK)
        status = tw_image_create(context, 70, 40, 1, type, TW_MEMORY_HOST, &src);
    if (status == TW_OK)
        status = tw_image_create(context, 70, 40, 1, type, TW_MEMORY_PINNED, &dst);
    if (status == TW_OK) {
        fill_random(&src, 9);
        status = tw_box(context, &src, &dst, &params);
    }
    if (status == TW_OK)
        status = tw_box_problem(&src, &src, &params, &problem);
    if (status == TW_OK)
        status = tw_plan_create(context, &problem, &by_name, &plan);
    if (status == TW_OK)
        status = tw_plan_run(plan, &src, &src);
    if (status == TW_OK)
        assert_true(same_pixels(&src, &dst));
    tw_plan_destroy(plan);
    tw_image_free(context, &src);
    tw_image_free(context, &dst);
    tw_context_destroy(context);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    tw_variant_info variant;
    (void)state;
    for (size_t i = 0; tw_variant_get(i, &variant); i++) {
        if (variant.backend != TW_CPU)
            continue;
        for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++) {
            const tw_image image = {(void *)(uintptr_t)256, 70, 40, 1024, 1, type, TW_HOST};
            const tw_box_params params = box_params(7, 5, TW_BORDER_REFLECT);
            tw_context *context = context_with(NULL);
            tw_problem problem;
            assert_ok(tw_box_problem(&image, &image, &params, &problem));
            const bool out = tw_context_backend(context) == TW_CPU && tw_variant_refuses(i, context, &problem);
            tw_context_destroy(context);
            if (out)
                continue;
            tw_status status = TW_ERROR_MEMORY;
            int at = 1;
            for (; status != TW_OK; at++) {
                ledger l = {.fail_at = at};
                status = whole_life(&l, variant.name, type);
                if (status != TW_OK && (status != TW_ERROR_MEMORY || !strstr(tw_error_message(), "memory")))
                    fail_msg("%s, %s: allocation %d fails: %s, \"%s\"", variant.name, tw_type_name(type), at,
                             tw_status_name(status), tw_error_message());
                if (l.live != 0)
                    fail_msg("%s, %s: allocation %d fails: %d left", variant.name, tw_type_name(type), at, l.live);
            }
            assert_true(at > 5);
        }
    }
}

/* A variant that finds no memory leaves the contest: tuning may succeed without it. */
static void tuning_survives_any_allocation_that_fails(void **state)
{
    const tw_image image = {(void *)(uintptr_t)256, 70, 40, 1024, 1, TW_U8, TW_HOST};
    const tw_box_params params = box_params(7, 5, TW_BORDER_REFLECT);
    tw_problem problem;
    (void)state;
    assert_ok(tw_box_problem(&image, &image, &params, &problem));
    int at = 1;
    for (bool reached = true; reached; at++) {
        ledger l = {.fail_at = at};
        const tw_context_options options = with_ledger(&l);
        tw_context *context = NULL;
        tw_status status = tw_context_create(&options, &context);
        if (status == TW_OK)
            status = tw_tune(context, &problem, NULL, 0, NULL);
        if (status != TW_OK)
            assert_refused(status, TW_ERROR_MEMORY, "memory");
        tw_context_destroy(context);
        assert_int_equal(l.live, 0);
        reached = l.taken >= at;
    }
    assert_true(at > 8);
}

static void a_run_allocates_nothing(void **state)
{
    ledger l = {0};
    const tw_context_options options = with_ledger(&l);
    tw_context *context = context_with(&options);
    picture src = make_picture(200, 100, 3, TW_U8, 0);
    picture dst = make_picture(200, 100, 3, TW_U8, 0);
    tw_plan *plan = NULL;
    tw_problem problem;
    (void)state;
    fill_random(&src.image, 4);
    assert_ok(tw_box_problem(&src.image, &dst.image, NULL, &problem));
    assert_ok(tw_plan_create(context, &problem, NULL, &plan));
    const int planned = l.taken;
    for (int i = 0; i < 10; i++)
        assert_ok(tw_plan_run(plan, &src.image, &dst.image));
    assert_int_equal(l.taken, planned);
    tw_plan_destroy(plan);

    assert_ok(tw_box(context, &src.image, &dst.image, NULL));
    const int kept = l.taken;
    for (int i = 0; i < 10; i++)
        assert_ok(tw_box(context, &src.image, &dst.image, NULL));
    assert_int_equal(l.taken, kept);
    tw_context_destroy(context);
    assert_int_equal(l.live, 0);
    free_picture(&src);
    free_picture(&dst);
}

/* More problems in turn than a context keeps plans for: each result is still its own. */
static void kept_plans_are_never_mixed_up(void **state)
{
    ledger l = {0};
    const tw_context_options options = with_ledger(&l);
    tw_context *context = context_with(&options);
    picture src = make_picture(60, 50, 1, TW_U8, 0);
    picture dst = make_picture(60, 50, 1, TW_U8, 0);
    picture expected = make_picture(60, 50, 1, TW_U8, 0);
    int live = 0;
    (void)state;
    fill_random(&src.image, 11);
    for (int i = 0; i < 40; i++) {
        tw_box_params params = box_params(1 + i % 7, 1 + i % 5, (tw_border_mode)(i % TW_BORDER_IGNORE));
        tw_context *fresh = context_with(NULL);
        params.border.value = i % 3;
        assert_ok(tw_box(context, &src.image, &dst.image, &params));
        assert_ok(tw_box(fresh, &src.image, &expected.image, &params));
        tw_context_destroy(fresh);
        assert_true(same_pixels(&dst.image, &expected.image));
        if (i == 20)
            live = l.live;
    }
    assert_true(l.live <= live + 4); /* plans are replaced, not gathered */
    tw_context_destroy(context);
    assert_int_equal(l.live, 0);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&expected);
}

static void a_plan_wants_images_of_its_problem(void **state)
{
    tw_context *context = context_with(NULL);
    picture src = make_picture(20, 10, 1, TW_U16, 0);
    picture dst = make_picture(20, 10, 1, TW_U16, 4);
    picture wide = make_picture(21, 10, 1, TW_U16, 0);
    picture wide_dst = make_picture(21, 10, 1, TW_U16, 0);
    picture other = make_picture(20, 10, 1, TW_I16, 0);
    tw_plan *plan = NULL;
    tw_plan *in_place = NULL;
    tw_problem problem;
    (void)state;
    fill_random(&src.image, 1);
    fill_random(&wide.image, 1);
    assert_ok(tw_box_problem(&src.image, &dst.image, NULL, &problem));
    assert_ok(tw_plan_create(context, &problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, &src.image, &dst.image)); /* the pitch is free */
    assert_refused(tw_plan_run(plan, &wide.image, &wide_dst.image), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_plan_run(plan, &other.image, &other.image), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_plan_run(plan, &src.image, &other.image), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_plan_run(plan, &src.image, &wide.image), TW_ERROR_ARGUMENT, "must be");
    assert_refused(tw_plan_run(plan, &src.image, &src.image), TW_ERROR_ARGUMENT, "in_place");
    assert_refused(tw_plan_run(NULL, &src.image, &dst.image), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_refused(tw_plan_run(plan, NULL, &dst.image), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_plan_run(plan, &src.image, NULL), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_plan_enqueue(plan, &src.image, &dst.image, NULL), TW_ERROR_ARGUMENT, "tw_plan_run");
    problem.in_place = true; /* an in-place plan does separate images as well */
    assert_ok(tw_plan_create(context, &problem, NULL, &in_place));
    assert_ok(tw_plan_run(in_place, &src.image, &dst.image));
    assert_ok(tw_plan_run(in_place, &src.image, &src.image));
    assert_true(same_pixels(&src.image, &dst.image));
    tw_plan_destroy(in_place);
    tw_plan_destroy(plan);
    tw_plan_destroy(NULL);
    assert_string_equal(tw_plan_variant(NULL), "");
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&wide);
    free_picture(&wide_dst);
    free_picture(&other);
}

static void a_wrong_argument_of_a_plan_is_named(void **state)
{
    tw_context_options options = tw_context_defaults();
    const tw_image image = {(void *)(uintptr_t)256, 20, 10, 20, 1, TW_U8, TW_HOST};
    tw_plan_options by = {.variant = "no-such"};
    tw_plan *plan = NULL;
    tw_problem problem;
    tw_problem bad;
    (void)state;
    options.backend = TW_CPU;
    tw_context *context = context_with(&options);
    assert_ok(tw_box_problem(&image, &image, NULL, &problem));
    assert_refused(tw_plan_create(NULL, &problem, NULL, &plan), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_plan_create(context, NULL, NULL, &plan), TW_ERROR_ARGUMENT, "problem is NULL");
    assert_refused(tw_plan_create(context, &problem, NULL, NULL), TW_ERROR_ARGUMENT, "plan is NULL");
    assert_refused(tw_plan_create(context, &problem, &by, &plan), TW_ERROR_ARGUMENT, "box has no variant no-such");
    assert_null(plan);
    by = (tw_plan_options){.block_width = 16};
    assert_refused(tw_plan_create(context, &problem, &by, &plan), TW_ERROR_ARGUMENT, "block 16x0");
    by = (tw_plan_options){.block_width = -16, .block_height = 16};
    assert_refused(tw_plan_create(context, &problem, &by, &plan), TW_ERROR_ARGUMENT, "block -16x16");
#define REFUSED(field, value, words)                                                                                   \
    do {                                                                                                               \
        bad = problem;                                                                                                 \
        bad.field = value;                                                                                             \
        assert_refused(tw_plan_create(context, &bad, NULL, &plan), TW_ERROR_ARGUMENT, words);                          \
    } while (0)
    REFUSED(op, (tw_op)99, "operation 99");
    REFUSED(type, (tw_type)99, "(99)");
    REFUSED(type, TW_STATS, "stats");
    REFUSED(channels, 0, "0 channels");
    REFUSED(width, 0, "0x10");
    REFUSED(height, -1, "20x-1");
    REFUSED(window.width, 0, "window 0x3");
    REFUSED(window.anchor_y, 7, "anchor 1,7");
    REFUSED(border.mode, (tw_border_mode)9, "border mode 9");
    REFUSED(rounding, (tw_rounding)9, "rounding 9");
    REFUSED(memory, (tw_memory)9, "memory 9");
    REFUSED(memory, TW_DEVICE, "CUDA context");
#undef REFUSED
    tw_context_destroy(context);
}

static void the_registry_gives_a_reason_for_each_refusal(void **state)
{
    const tw_image image = {(void *)(uintptr_t)256, 20, 10, 20, 1, TW_U8, TW_HOST};
    tw_context_options options = tw_context_defaults();
    tw_variant_info variant;
    tw_problem problem;
    size_t done_by = 0;
    (void)state;
    options.backend = TW_CPU;
    tw_context *context = context_with(&options);
    assert_ok(tw_box_problem(&image, &image, NULL, &problem));
    for (size_t i = 0; i < tw_variant_count(); i++) {
        assert_true(tw_variant_get(i, &variant));
        assert_true(variant.name[0] != '\0' && variant.summary[0] != '\0' && variant.op < TW_OP_COUNT);
        const char *reason = tw_variant_refuses(i, context, &problem);
        if (variant.backend == TW_CUDA)
            assert_non_null(reason);
        assert_true(!reason || reason[0] != '\0');
        done_by += !reason;
    }
    assert_true(done_by >= 1);
    assert_false(tw_variant_get(tw_variant_count(), &variant));
    assert_false(tw_variant_get(0, NULL));
    assert_non_null(tw_variant_refuses(tw_variant_count(), context, &problem));
    assert_non_null(tw_variant_refuses(0, context, NULL));
    problem.window.width = 0;
    assert_non_null(tw_variant_refuses(0, context, &problem));
    tw_context_destroy(context);
}

/* ---- Progress ---------------------------------------------------------------------------------- */

typedef struct watch {
    int calls;
    int stop_at; /* 0: never */
    double last;
    bool fell;
} watch;

static bool watching(void *user, double done)
{
    watch *w = user;
    w->calls++;
    w->fell = w->fell || done < w->last || done < 0 || done > 1;
    w->last = done;
    return w->calls != w->stop_at;
}

static void progress_rises_to_the_end_and_can_stop(void **state)
{
    watch w = {0};
    tw_context_options options = tw_context_defaults();
    picture src = make_picture(300, 3000, 1, TW_U8, 0);
    picture dst = make_picture(300, 3000, 1, TW_U8, 0);
    picture quiet = make_picture(300, 3000, 1, TW_U8, 0);
    (void)state;
    options.progress = watching;
    options.progress_user = &w;
    tw_context *context = context_with(&options);
    tw_context *without = context_with(NULL);
    fill_random(&src.image, 2);
    assert_ok(tw_box(context, &src.image, &dst.image, NULL));
    assert_ok(tw_box(without, &src.image, &quiet.image, NULL));
    assert_true(same_pixels(&dst.image, &quiet.image));
    assert_true(w.calls >= 1 && !w.fell && w.last == 1);
    w = (watch){.stop_at = 1};
    assert_refused(tw_box(context, &src.image, &dst.image, NULL), TW_ERROR_CANCELLED, "progress callback");
    assert_int_equal(w.calls, 1);
    w = (watch){0}; /* a stopped context goes on working */
    assert_ok(tw_box(context, &src.image, &dst.image, NULL));
    assert_true(same_pixels(&dst.image, &quiet.image));
    tw_context_destroy(context);
    tw_context_destroy(without);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(tuning_survives_any_allocation_that_fails),
        cmocka_unit_test(a_run_allocates_nothing),
        cmocka_unit_test(kept_plans_are_never_mixed_up),
        cmocka_unit_test(a_plan_wants_images_of_its_problem),
        cmocka_unit_test(a_wrong_argument_of_a_plan_is_named),
        cmocka_unit_test(the_registry_gives_a_reason_for_each_refusal),
        cmocka_unit_test(progress_rises_to_the_end_and_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
