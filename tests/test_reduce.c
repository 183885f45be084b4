/*
 * Figures of arrays: whatever the size, shape, pitch and values, every back end and every number of threads gives the
 * reference's bytes. TW_ARRAYS is how many random arrays are tried (300; the whole test is 10000), TW_FIRST_ARRAY the
 * number of the first. TW_LARGE_ARRAYS=1 adds arrays of more than 2^31 elements, of 2 and 16 GiB.
 */
#include "testing.h"

#include <stdio.h>

#include "core/random.h"
#include "verify/verify.h"

static int64_t number_of(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

/* ---- Random arrays --------------------------------------------------------------------------------------- */

/* A length of up to 2^(most + 1): any, or beside a power of two or a multiple of a leaf's 4096 values. */
static int64_t length_of(twi_random *r, uint64_t most)
{
    const int64_t power = INT64_C(1) << twi_below(r, most + 1);
    const int64_t leaves = 4096 * (int64_t)(1 + twi_below(r, 5));
    const int64_t near = most >= 14 && twi_below(r, 4) == 0 ? leaves : power;
    if (twi_below(r, 2) == 0)
        return power + (int64_t)twi_below(r, (uint64_t)power);
    return near == 1 ? 1 : near - 1 + (int64_t)twi_below(r, 3);
}

static int64_t gap_of(twi_random *r)
{
    const uint64_t most[] = {1, 1, 70, 5000};
    return (int64_t)twi_below(r, most[twi_below(r, COUNT(most))]);
}

static twi_case random_array(int64_t index)
{
    static const unsigned usual[] = {TW_FIGURE_ALL,    TW_FIGURE_SUM,    TW_FIGURE_MIN, TW_FIGURE_MAX,
                                     TW_FIGURE_ARGMIN, TW_FIGURE_ARGMAX, TW_FIGURE_STD, TW_FIGURE_COUNT_NONZERO};
    twi_random generator = twi_random_of((uint64_t)index);
    twi_random *r = &generator;
    twi_case which = {.problem = {.op = TW_OP_REDUCE, .out_type = TW_STATS, .divisor = 1}};
    tw_problem *problem = &which.problem;
    problem->window = tw_window_centred(1, 1);
    problem->type = (tw_type)twi_below(r, TW_TYPE_COUNT);
    problem->channels = twi_below(r, 3) > 0 ? 1 : (int32_t)(1 + twi_below(r, 4));
    problem->memory = twi_below(r, 4) == 0 ? TW_HOST : TW_DEVICE;
    problem->axis = twi_below(r, 2) == 0 ? TW_AXIS_ALL : (tw_axis)twi_below(r, TW_AXIS_COUNT);
    problem->figures =
        twi_below(r, 3) == 0 ? (unsigned)(1 + twi_below(r, TW_FIGURE_ALL)) : usual[twi_below(r, COUNT(usual))];
    if (twi_below(r, 6) == 0)
        problem->figures = (problem->figures & ~(unsigned)(TW_FIGURE_VAR | TW_FIGURE_STD)) | TW_FIGURE_SQUARES;
    for (int i = 0; i < 4; i++)
        problem->about[i] = (double)(int64_t)twi_next(r) * 0x1p-60;
    const int64_t elements = length_of(r, twi_below(r, 40) == 0 ? 20 : 15);
    problem->width = twi_below(r, 3) == 0 ? elements : length_of(r, 9);
    if (problem->width > elements)
        problem->width = elements;
    problem->height = elements / problem->width;
    if (twi_below(r, 6) == 0) {
        const int64_t width = problem->width;
        problem->width = problem->height;
        problem->height = width;
    }
    which.src_gap = gap_of(r) / (1 + problem->height / 4096); /* memory has an end */
    which.dst_gap = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 9) / (1 + elements / 16384);
    which.src_offset = twi_below(r, 2) == 0 ? 0 : (int64_t)twi_below(r, 70);
    which.pattern = twi_below(r, 3) == 0 ? TWI_PATTERN_BITS : (twi_pattern)twi_below(r, TWI_PATTERN_COUNT);
    which.seed = twi_next(r);
    which.threads = 1;
    return which;
}

/* A variant on so many threads. */
typedef struct threaded {
    twi_candidate candidate;
    twi_candidate variant;
    int threads;
} threaded;

static tw_status solve_threaded(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                const tw_image *src, const tw_image *dst)
{
    const threaded *t = (const threaded *)(const void *)self;
    const int before = context->threads;
    context->threads = t->threads;
    const tw_status status = t->variant.solve(&t->variant, context, problem, src, dst);
    context->threads = before;
    return status;
}

static void check_variant(twi_prover *prover, const twi_variant *variant, const twi_case *which, int64_t index)
{
    static const int threads[] = {1, 2, 3, 7};
    const tw_context *context = twi_prover_context(prover, variant->backend);
    if (!context || twi_refusal(variant, context, &which->problem))
        return;
    for (size_t i = 0; i < (variant->backend == TW_CPU ? COUNT(threads) : 1); i++) {
        char why[500];
        threaded t = {.variant = twi_variant_candidate(variant), .threads = threads[i]};
        t.candidate = t.variant;
        t.candidate.solve = solve_threaded;
        if (!twi_prover_check(prover, &t.candidate, why, sizeof why))
            fail_msg("array %lld, %d threads: %s", (long long)index, threads[i], why);
    }
}

static void random_arrays_have_the_figures_of_the_reference(void **state)
{
    const int64_t first = number_of("TW_FIRST_ARRAY", 0);
    const int64_t count = number_of("TW_ARRAYS", 300);
    twi_prover *prover = NULL;
    (void)state;
    assert_ok(twi_prover_create(TW_AUTO, &(const int){0}, 0, &prover));
    for (int64_t index = first; index < first + count; index++) {
        twi_case which = random_array(index);
        if (!twi_prover_context(prover, TW_CUDA))
            which.problem.memory = TW_HOST;
        assert_ok(twi_prover_load(prover, &which));
        for (size_t i = 0; i < twi_variant_total; i++)
            if (twi_variants[i].op == TW_OP_REDUCE)
                check_variant(prover, &twi_variants[i], &which, index);
    }
    twi_prover_destroy(prover);
}

static void an_array_of_nothing_is_an_error(void **state)
{
    uint8_t pixel = 0;
    tw_stats stats;
    const tw_image record = {&stats, 1, 1, sizeof stats, 1, TW_STATS, TW_HOST};
    const tw_image narrow = {&pixel, 0, 1, 1, 1, TW_U8, TW_HOST};
    const tw_image low = {&pixel, 1, 0, 1, 1, TW_U8, TW_HOST};
    tw_context *context = NULL;
    (void)state;
    assert_ok(tw_context_create(NULL, &context));
    assert_refused(tw_reduce(context, &narrow, &record, NULL), TW_ERROR_ARGUMENT, "at least 1");
    assert_refused(tw_reduce(context, &low, &record, NULL), TW_ERROR_ARGUMENT, "at least 1");
    tw_context_destroy(context);
}

/* ---- Large arrays ------------------------------------------------------------------------------------------ */

/* All elements of an image are `value`, but for the last, which is `last`. */
static void fill_image(tw_context *context, const tw_image *image, int32_t value, int32_t last)
{
    const int64_t size = (int64_t)tw_type_size(image->type);
    const int64_t total = image->width * image->height;
    picture part = make_picture(INT64_C(1) << 24, 1, 1, image->type, 0);
    fill(&part.image, value);
    for (int64_t done = 0; done < total; done += part.image.width) {
        tw_image from = part.image;
        tw_image to = *image;
        from.width = to.width = total - done < from.width ? total - done : from.width;
        to.height = 1;
        to.data = (char *)image->data + done * size;
        from.pitch = to.pitch = from.width * size;
        if (done + from.width == total)
            put(&from, from.width - 1, 0, 0, last);
        assert_ok(tw_image_copy(context, &from, &to));
    }
    free_picture(&part);
}

static void check_large(tw_backend backend, tw_type type, int64_t elements, int32_t value, int32_t last)
{
    const tw_memory_kind kind = backend == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    tw_image image;
    tw_image record;
    tw_stats stats;
    const tw_image here = {&stats, sizeof stats, 1, sizeof stats, 1, TW_U8, TW_HOST};
    options.backend = backend;
    if (tw_context_create(&options, &context) == TW_ERROR_DEVICE)
        return;
    assert_non_null(context);
    assert_ok(tw_image_create(context, elements, 1, 1, type, kind, &image));
    assert_ok(tw_image_create(context, sizeof stats, 1, 1, TW_U8, kind, &record));
    fill_image(context, &image, value, last);
    tw_image dst = record;
    dst.width = 1;
    dst.type = TW_STATS;
    assert_ok(tw_reduce(context, &image, &dst, NULL));
    assert_ok(tw_image_copy(context, &record, &here));
    __extension__ const __int128 sum = (__int128)value * (elements - 1) + last;
    assert_int_equal(stats.sum_low, (uint64_t)sum);
    assert_int_equal(stats.sum_high, (int64_t)(sum >> 64));
    assert_true(stats.sum == (double)sum);
    assert_true(stats.min == (value < last ? value : last));
    assert_true(stats.max == (value < last ? last : value));
    assert_int_equal(stats.argmin_x, value < last ? 0 : elements - 1);
    assert_int_equal(stats.argmax_x, value < last ? elements - 1 : 0);
    assert_int_equal(stats.argmin_y, 0);
    assert_int_equal(stats.count_nonzero, elements - 1);
    tw_image_free(context, &record);
    tw_image_free(context, &image);
    tw_context_destroy(context);
}

static void sums_of_large_arrays_are_exact(void **state)
{
    (void)state;
    check_large(TW_CPU, TW_U8, (INT64_C(1) << 25) + 5, 255, 0);
    check_large(TW_CPU, TW_I32, (INT64_C(1) << 24) + 5, INT32_MIN, 0);
    check_large(TW_CUDA, TW_U8, (INT64_C(1) << 25) + 5, 255, 0);
    check_large(TW_CUDA, TW_I32, (INT64_C(1) << 24) + 5, INT32_MIN, 0);
    if (!number_of("TW_LARGE_ARRAYS", 0))
        return;
    check_large(TW_CPU, TW_U8, (INT64_C(1) << 31) + 5, 255, 0);
    check_large(TW_CUDA, TW_U8, (INT64_C(1) << 31) + 5, 255, 0);
    /* a sum beyond 64 bits */
    check_large(TW_CUDA, TW_I32, (INT64_C(1) << 32) + 5, INT32_MIN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arrays_have_the_figures_of_the_reference),
        cmocka_unit_test(an_array_of_nothing_is_an_error),
        cmocka_unit_test(sums_of_large_arrays_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
