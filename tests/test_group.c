/* Contexts over several devices: three of the CPU's stand for as many GPUs. */
#include <stdatomic.h>

#include "testing.h"

#include "core/group.h"
#include "verify/verify.h"

static const int three[] = {0, 0, 0};

static tw_context_options three_of(tw_backend backend)
{
    tw_context_options options = tw_context_defaults();
    options.backend = backend;
    options.threads = 3;
    options.devices = three;
    options.device_count = 3;
    return options;
}

static tw_context *open_three(tw_backend backend)
{
    const tw_context_options options = three_of(backend);
    tw_context *context = NULL;
    assert_ok(tw_context_create(&options, &context));
    return context;
}

/* ---- The same bytes ------------------------------------------------------------------------------ */

static tw_context *devices;

static tw_status solve_on_three(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                const tw_image *src, const tw_image *dst)
{
    tw_plan *plan = NULL;
    (void)self;
    (void)context;
    TWI_TRY(tw_plan_create(devices, problem, NULL, &plan));
    tw_status status = tw_plan_run(plan, src, dst);
    if (status == TW_OK && !problem->in_place)
        status = tw_plan_run(plan, src, dst);
    tw_plan_destroy(plan);
    return status;
}

static void three_devices_give_the_bytes_of_one(void **state)
{
    const twi_candidate candidate = {.name = "three", .solve = solve_on_three};
    twi_prover *prover = NULL;
    (void)state;
    devices = open_three(TW_CPU);
    assert_ok(twi_prover_create(TW_CPU, three, 0, &prover));
    for (int op = 0; op < TW_OP_COUNT; op++) {
        for (int64_t i = 0; i < 60; i++) {
            char why[512];
            twi_case which;
            twi_make_case((tw_op)op, 3, i, &which);
            assert_ok(twi_prover_load(prover, &which));
            if (!twi_prover_check(prover, &candidate, why, sizeof why))
                fail_msg("%s", why);
        }
    }
    twi_prover_destroy(prover);
    tw_context_destroy(devices);
}

static void rows_of_a_result_are_shared_as_well(void **state)
{
    tw_context *context = open_three(TW_CPU);
    picture src = make_picture(40, 30, 1, TW_U8, 0);
    picture whole = make_picture(40, 30, 1, TW_U8, 0);
    picture some = make_picture(40, 30, 1, TW_U8, 0);
    const tw_box_params params = box_params(5, 7, TW_BORDER_WRAP);
    tw_plan *plan = NULL;
    tw_problem problem;
    tw_image expected;
    tw_image got;
    (void)state;
    fill_random(&src.image, 4);
    assert_ok(tw_box_problem(&src.image, &whole.image, &params, &problem));
    assert_ok(tw_plan_create(context, &problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, &src.image, &whole.image));
    for (int64_t first = 0; first < 30; first++) {
        for (int64_t rows = 1; rows <= 30 - first; rows++) {
            assert_ok(tw_image_view(&whole.image, 0, first, 40, rows, &expected));
            assert_ok(tw_image_view(&some.image, 0, 0, 40, rows, &got));
            assert_ok(tw_plan_run_rows(plan, &src.image, &got, first));
            assert_true(same_pixels(&expected, &got));
        }
    }
    tw_plan_destroy(plan);
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&whole);
    free_picture(&some);
}

/* What is measured is one device, and plans that measure share as others do. */
static void one_device_is_measured(void **state)
{
    const tw_plan_options options = {.planning = TW_PLAN_MEASURE};
    tw_context *context = open_three(TW_CPU);
    picture src = make_picture(40, 30, 1, TW_U8, 0);
    picture table = make_picture(41, 31, 1, TW_U32, 0);
    picture measured = make_picture(41, 31, 1, TW_U32, 0);
    tw_plan *plan = NULL;
    tw_problem problem;
    size_t count = 0;
    (void)state;
    fill_random(&src.image, 6);
    assert_ok(tw_integral_problem(&src.image, &table.image, &problem));
    assert_ok(tw_tune(context, &problem, NULL, 0, &count));
    assert_true(count > 0);
    assert_ok(tw_integral(context, &src.image, &table.image));
    assert_ok(tw_plan_create(context, &problem, &options, &plan));
    assert_ok(tw_plan_run(plan, &src.image, &measured.image));
    assert_true(same_pixels(&table.image, &measured.image));
    tw_plan_destroy(plan);
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&table);
    free_picture(&measured);
}

/* Also on GPUs, where there are some: three times the first stands for three. */
static void steps_of_morphology_are_shared_as_well(void **state)
{
    static const int64_t heights[] = {90, 17, 2};
    tw_context_options options = tw_context_defaults();
    tw_context *alone = NULL;
    int gpus = 0;
    (void)state;
    options.backend = TW_CPU;
    assert_ok(tw_context_create(&options, &alone));
    assert_ok(tw_device_count(TW_CUDA, &gpus));
    for (int kind = 0; kind < (gpus > 0) + 1; kind++) {
        tw_context *context = open_three(kind == 0 ? TW_CPU : TW_CUDA);
        for (int i = 0; i < TW_MORPHOLOGY_COUNT * TW_BORDER_COUNT * 3; i += 1 + 4 * kind) {
            const int64_t height = heights[i % 3];
            tw_order_params params = tw_order_defaults();
            picture src = make_picture(41, height, 1, TW_U8, 0);
            picture expected = make_picture(41, height, 1, TW_U8, 0);
            picture got = make_picture(41, height, 1, TW_U8, 0);
            params.window = (tw_window){3, 4, 1, i % 4};
            params.border = (tw_border){(tw_border_mode)(i / 3 % TW_BORDER_COUNT), 90};
            const tw_morphology morphology = (tw_morphology)(i / 3 / TW_BORDER_COUNT);
            fill_random(&src.image, (unsigned)i);
            assert_ok(tw_morph(alone, &src.image, &expected.image, morphology, &params, 1 + i % 4, NULL));
            assert_ok(tw_morph(context, &src.image, &got.image, morphology, &params, 1 + i % 4, NULL));
            assert_true(same_pixels(&expected.image, &got.image));
            assert_ok(tw_morph(context, &src.image, &src.image, morphology, &params, 1 + i % 4, NULL));
            assert_true(same_pixels(&expected.image, &src.image));
            free_picture(&src);
            free_picture(&expected);
            free_picture(&got);
        }
        tw_context_destroy(context);
    }
    tw_context_destroy(alone);
}

static bool stop(void *user, double done)
{
    (void)done;
    ++*(int *)user;
    return false;
}

static void who_stops_a_call_is_not_asked_again(void **state)
{
    tw_context_options options = tw_context_defaults();
    const tw_box_params params = box_params(3, 3, TW_BORDER_WRAP);
    picture src = make_picture(40, 60, 1, TW_U8, 0);
    picture dst = make_picture(40, 60, 1, TW_U8, 0);
    tw_context *context = NULL;
    int asked = 0;
    (void)state;
    options.backend = TW_CPU;
    options.devices = three;
    options.device_count = 3;
    options.progress = stop;
    options.progress_user = &asked;
    fill_random(&src.image, 5);
    assert_ok(tw_context_create(&options, &context));
    assert_refused(tw_box(context, &src.image, &dst.image, &params), TW_ERROR_CANCELLED, "stopped");
    assert_int_equal(asked, 1);
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
}

/* ---- Devices that fail ---------------------------------------------------------------------------- */

static tw_status failure;

static tw_status broken_run(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    (void)plan;
    (void)src;
    (void)dst;
    (void)first;
    return twi_fail(failure, "it has fallen off the bus");
}

static tw_status broken_prepare(tw_plan *plan)
{
    return broken_run(plan, NULL, NULL, 0);
}

static bool early; /* when plans are made */

/* What is shared in rows, is a sequence of steps, goes on from share to share, is done in two stages, and is not
 * shared. */
static tw_status call_box(tw_context *context, const tw_image *src, const tw_image *dst)
{
    return tw_box(context, src, dst, NULL);
}

static tw_status call_line(tw_context *context, const tw_image *src, const tw_image *dst)
{
    const tw_scan_params params = {.axis = TW_AXIS_ALL, .exclusive = true};
    return tw_scan(context, src, dst, &params);
}

static tw_status call_open(tw_context *context, const tw_image *src, const tw_image *dst)
{
    return tw_morph(context, src, dst, TW_OPEN, NULL, 2, NULL);
}

static const struct work {
    tw_status (*call)(tw_context *context, const tw_image *src, const tw_image *dst);
    tw_type type;
    tw_type out_type;
    int64_t more; /* columns and rows of the result */
} works[] = {
    {call_box, TW_U8, TW_U8, 0},    {call_open, TW_U8, TW_U8, 0},     {call_line, TW_U8, TW_U32, 0},
    {call_line, TW_F32, TW_F64, 0}, {tw_integral, TW_U16, TW_F64, 1}, {tw_integral, TW_F32, TW_F64, 1},
};
static const struct work *work = &works[0];

static picture make_result(void)
{
    return make_picture(50 + work->more, 20 + work->more, 1, work->out_type, 0);
}

/* Works on devices of which those in the set fail. */
static tw_status run_with_broken(tw_context *context, unsigned broken, picture *dst)
{
    twi_backend bad = *context->backend;
    const twi_backend *good = context->backend;
    picture src = make_picture(50, 20, 1, work->type, 0);
    tw_status status = TW_OK;
    bad.run = broken_run;
    bad.prepare = early ? broken_prepare : bad.prepare;
    fill_random(&src.image, 8);
    context->backend = broken & 1 ? &bad : good;
    for (int i = 0; i < context->other_count; i++)
        context->others[i]->backend = broken & 2u << i ? &bad : good;
    status = work->call(context, &src.image, &dst->image);
    context->backend = good;
    for (int i = 0; i < context->other_count; i++)
        context->others[i]->backend = good;
    free_picture(&src);
    return status;
}

static void check_failures(tw_status status, bool when)
{
    failure = status;
    early = when;
    tw_spread *spread = NULL;
    picture whole = make_result();
    picture bytes = make_picture(50, 20, 1, TW_U8, 0);
    tw_context *context = open_three(TW_CPU);
    assert_ok(run_with_broken(context, 0, &whole));
    tw_context_destroy(context);
    context = open_three(TW_CPU);
    assert_refused(run_with_broken(context, 7, &whole), TW_ERROR_DEVICE, "it has fallen off the bus");
    tw_context_destroy(context);
    context = open_three(TW_CPU);
    assert_ok(run_with_broken(context, 0, &whole));
    if (work == &works[0])
        assert_refused(run_with_broken(context, 2, &whole), TW_ERROR_DEVICE, "device 0: it has fallen off the bus");
    tw_context_destroy(context);
    for (unsigned broken = 1; broken < 7; broken++) {
        picture rest = make_result();
        context = open_three(TW_AUTO);
        assert_ok(run_with_broken(context, broken, &rest));
        assert_true(same_pixels(&whole.image, &rest.image));
        assert_ok(run_with_broken(context, 0, &rest)); /* and stay without them */
        assert_true(same_pixels(&whole.image, &rest.image));
        tw_context_destroy(context);
        free_picture(&rest);
    }
    context = open_three(TW_AUTO);
    assert_ok(tw_spread_create(context, 50, 20, 1, TW_U8, 0, &spread));
    assert_ok(run_with_broken(context, 1, &whole));
    assert_refused(tw_spread_put(spread, &bytes.image), TW_ERROR_DEVICE, "2 of the context's devices work");
    tw_spread_destroy(spread);
    assert_refused(run_with_broken(context, 7, &whole), TW_ERROR_DEVICE, "none of the context's devices works");
    assert_refused(tw_spread_create(context, 50, 20, 1, TW_U8, 0, &spread), TW_ERROR_DEVICE, "0 of the context's");
    assert_refused(run_with_broken(context, 0, &whole), TW_ERROR_DEVICE, "none of the context's devices works");
    tw_context_destroy(context);
    free_picture(&whole);
    free_picture(&bytes);
}

static void a_failing_device_ends_the_call_or_the_rest_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(works); i++) {
        work = &works[i];
        check_failures(TW_ERROR_DEVICE, false);
        check_failures(TW_ERROR_CUDA, false); /* what the device's work itself fails with */
        check_failures(TW_ERROR_DEVICE, true);
        check_failures(TW_ERROR_CUDA, true);
    }
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* An allocator that counts and fails at one chosen allocation, from any thread. */
typedef struct ledger {
    atomic_int live;
    atomic_int taken;
    int fail_at;
} ledger;

static void *ledger_allocate(void *user, size_t size, size_t alignment)
{
    ledger *l = user;
    void *memory = NULL;
    if (atomic_fetch_add(&l->taken, 1) == l->fail_at || posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    (void)atomic_fetch_add(&l->live, 1);
    return memory;
}

static void ledger_release(void *user, void *memory)
{
    ledger *l = user;
    (void)atomic_fetch_sub(&l->live, 1);
    free(memory);
}

static tw_status work_with(ledger *l, const tw_image *src, const tw_image *dst)
{
    tw_context_options options = three_of(TW_CPU);
    tw_context *context = NULL;
    options.allocator = (tw_allocator){ledger_allocate, ledger_release, l};
    tw_status status = tw_context_create(&options, &context);
    if (status == TW_OK)
        status = work->call(context, src, dst);
    tw_context_destroy(context);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(works); i++) {
        work = &works[i];
        picture src = make_picture(50, 20, 1, work->type, 0);
        picture dst = make_result();
        tw_status status = TW_ERROR_MEMORY;
        int at = 0;
        fill_random(&src.image, 3);
        for (; status != TW_OK; at++) {
            ledger l = {.fail_at = at};
            status = work_with(&l, &src.image, &dst.image);
            if (status != TW_OK)
                assert_int_equal(status, TW_ERROR_MEMORY);
            assert_int_equal(l.live, 0);
        }
        assert_true(at > 10);
        free_picture(&src);
        free_picture(&dst);
    }
}

/* ---- Misuse -------------------------------------------------------------------------------------- */

static void wrong_lists_of_devices_are_named(void **state)
{
    static const int wrong[] = {0, -1};
    static const int many[] = {0, 9};
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    (void)state;
    options.backend = TW_CPU;
    options.device_count = 2;
    assert_refused(tw_context_create(&options, &context), TW_ERROR_ARGUMENT, "device count 2 without devices");
    options.devices = wrong;
    assert_refused(tw_context_create(&options, &context), TW_ERROR_ARGUMENT, "device -1");
    options.devices = many;
    assert_refused(tw_context_create(&options, &context), TW_ERROR_DEVICE, "CPU device 9");
    options.device_count = TWI_MOST_DEVICES + 1;
    assert_refused(tw_context_create(&options, &context), TW_ERROR_ARGUMENT, "device count 65");
    options.device_count = -1;
    assert_refused(tw_context_create(&options, &context), TW_ERROR_ARGUMENT, "device count -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_devices_give_the_bytes_of_one),
        cmocka_unit_test(rows_of_a_result_are_shared_as_well),
        cmocka_unit_test(one_device_is_measured),
        cmocka_unit_test(steps_of_morphology_are_shared_as_well),
        cmocka_unit_test(who_stops_a_call_is_not_asked_again),
        cmocka_unit_test(a_failing_device_ends_the_call_or_the_rest_go_on),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(wrong_lists_of_devices_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
