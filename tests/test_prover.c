/* Proves the prover: a wrong implementation must be caught, whatever it does wrong. Each planted fault gives
   the reference's answer but for one mistake of a kind that real kernels make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "verify/verify.h"

static twi_prover *prover;

static int open_prover(void **state)
{
    (void)state;
    return twi_prover_create(TW_CPU, &(const int){0}, 0, &prover) != TW_OK;
}

static int close_prover(void **state)
{
    (void)state;
    twi_prover_destroy(prover);
    return 0;
}

static tw_status reference(tw_context *context, const tw_problem *problem, const tw_image *src, const tw_image *dst)
{
    const tw_plan_options options = {.variant = "reference"};
    tw_plan *plan = NULL;
    TWI_TRY(tw_plan_create(context, problem, &options, &plan));
    const tw_status status = tw_plan_run(plan, src, dst);
    tw_plan_destroy(plan);
    return status;
}

static tw_status honest(const twi_candidate *self, tw_context *context, const tw_problem *problem, const tw_image *src,
                        const tw_image *dst)
{
    (void)self;
    return reference(context, problem, src, dst);
}

/* The window begins one pixel too early: wrong everywhere that the pixels differ. */
static tw_status shifted_window(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                const tw_image *src, const tw_image *dst)
{
    tw_problem wrong = *problem;
    (void)self;
    wrong.window.anchor_x = problem->window.anchor_x + 1;
    return reference(context, &wrong, src, dst);
}

/* Right inside, but positions outside the image read the neighbouring rule: the off-by-one of each border. */
static tw_status neighbouring_border(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                     const tw_image *src, const tw_image *dst)
{
    static const tw_border_mode mistaken_for[TW_BORDER_IGNORE] = {
        [TW_BORDER_ZERO] = TW_BORDER_REPLICATE, [TW_BORDER_CONSTANT] = TW_BORDER_ZERO,
        [TW_BORDER_REPLICATE] = TW_BORDER_ZERO, [TW_BORDER_REFLECT] = TW_BORDER_MIRROR,
        [TW_BORDER_MIRROR] = TW_BORDER_REFLECT, [TW_BORDER_WRAP] = TW_BORDER_REFLECT,
    };
    tw_problem wrong = *problem;
    (void)self;
    wrong.border.mode = mistaken_for[problem->border.mode];
    return reference(context, &wrong, src, dst);
}

/* The last column is never written, as by a loop over whole vectors. */
static tw_status missing_column(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                const tw_image *src, const tw_image *dst)
{
    uint8_t *last = (uint8_t *)dst->data + dst->width - 1;
    (void)self;
    const uint8_t before = *last;
    TWI_TRY(reference(context, problem, src, dst));
    *last = before;
    return TW_OK;
}

/* One byte of the gap between two rows is written, as by a vector store at a row's end. */
static tw_status touched_padding(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                 const tw_image *src, const tw_image *dst)
{
    (void)self;
    TWI_TRY(reference(context, problem, src, dst));
    ((uint8_t *)dst->data)[dst->width] = 0;
    return TW_OK;
}

static tw_status touched_before(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                const tw_image *src, const tw_image *dst)
{
    (void)self;
    TWI_TRY(reference(context, problem, src, dst));
    ((uint8_t *)dst->data)[-1] = 0;
    return TW_OK;
}

/* A NaN reaches one output too far, as by a running sum. */
static tw_status spread_nan(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                            const tw_image *src, const tw_image *dst)
{
    (void)self;
    TWI_TRY(reference(context, problem, src, dst));
    for (int64_t y = 0; y < dst->height; y++) {
        float *row = (float *)(void *)((char *)dst->data + y * dst->pitch);
        for (int64_t x = 1; x < dst->width; x++) {
            if (isnan(row[x - 1]) && !isnan(row[x])) {
                row[x] = NAN;
                return TW_OK;
            }
        }
    }
    return TW_OK;
}

/* -NaN for NaN: equal to people, not to the byte. */
static tw_status other_nan(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                           const tw_image *src, const tw_image *dst)
{
    (void)self;
    TWI_TRY(reference(context, problem, src, dst));
    for (int64_t x = 0; x < dst->width; x++) {
        float *pixel = (float *)dst->data + x;
        if (isnan(*pixel)) {
            *pixel = -NAN;
            return TW_OK;
        }
    }
    return TW_OK;
}

static tw_status nearest_for_floor(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                                   const tw_image *src, const tw_image *dst)
{
    tw_problem wrong = *problem;
    (void)self;
    wrong.rounding = problem->rounding == TW_ROUND_FLOOR ? TW_ROUND_NEAREST : TW_ROUND_FLOOR;
    return reference(context, &wrong, src, dst);
}

static tw_status failing(const twi_candidate *self, tw_context *context, const tw_problem *problem, const tw_image *src,
                         const tw_image *dst)
{
    (void)self;
    (void)context;
    (void)problem;
    (void)src;
    (void)dst;
    return twi_fail(TW_ERROR_CUDA, "planted");
}

static twi_case u8_case(tw_border_mode border)
{
    const twi_case which = {
        .problem = {.op = TW_OP_BOX,
                    .type = TW_U8,
                    .out_type = TW_U8,
                    .divisor = 1,
                    .channels = 1,
                    .width = 37,
                    .height = 11,
                    .window = {5, 4, 2, 2},
                    .border = {border, 77}},
        .src_gap = 3,
        .dst_gap = 5,
        .src_offset = 1,
        .dst_offset = 2,
        .pattern = TWI_PATTERN_RANDOM,
        .seed = 5,
        .threads = 2,
    };
    return which;
}

static twi_case f32_case(twi_pattern pattern)
{
    twi_case which = u8_case(TW_BORDER_REFLECT);
    which.problem.type = TW_F32;
    which.problem.out_type = TW_F32;
    which.pattern = pattern;
    return which;
}

/* Whether the fault is caught; the sentence must hold `words`. */
static void expect_caught(const twi_case *which, twi_candidate fault, const char *words)
{
    char why[512] = "";
    assert_int_equal(twi_prover_load(prover, which), TW_OK);
    assert_false(twi_prover_check(prover, &fault, why, sizeof why));
    if (!strstr(why, words))
        fail_msg("'%s' does not say '%s'", why, words);
}

static void an_honest_answer_passes(void **state)
{
    const twi_candidate candidate = {.name = "honest", .solve = honest};
    char why[512] = "";
    (void)state;
    for (int border = 0; border < TW_BORDER_IGNORE; border++) {
        const twi_case which = u8_case((tw_border_mode)border);
        assert_int_equal(twi_prover_load(prover, &which), TW_OK);
        assert_true(twi_prover_check(prover, &candidate, why, sizeof why));
    }
}

static void an_off_by_one_is_caught_at_each_border(void **state)
{
    (void)state;
    for (int border = 0; border < TW_BORDER_IGNORE; border++) {
        const twi_case which = u8_case((tw_border_mode)border);
        expect_caught(&which, (twi_candidate){.name = "fault", .solve = neighbouring_border}, "fault mismatch at (");
        expect_caught(&which, (twi_candidate){.name = "fault", .solve = shifted_window}, "fault mismatch at (");
    }
}

static void a_missing_column_is_caught(void **state)
{
    const twi_case which = u8_case(TW_BORDER_ZERO);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = missing_column}, "fault mismatch at (36, 0)");
}

static void one_wrong_padding_byte_is_caught(void **state)
{
    const twi_case which = u8_case(TW_BORDER_ZERO);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = touched_padding}, "wrote outside the image");
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = touched_before}, "wrote outside the image");
}

static void one_spread_nan_is_caught(void **state)
{
    const twi_case which = f32_case(TWI_PATTERN_SPECIAL);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = spread_nan}, "got=nan");
}

static void another_nan_is_caught(void **state)
{
    const twi_case which = f32_case(TWI_PATTERN_SPECIAL);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = other_nan}, "got=-nan");
}

static void the_wrong_rounding_is_caught(void **state)
{
    const twi_case which = u8_case(TW_BORDER_WRAP);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = nearest_for_floor}, "fault mismatch at (");
}

static void a_failing_candidate_is_caught(void **state)
{
    const twi_case which = u8_case(TW_BORDER_WRAP);
    (void)state;
    expect_caught(&which, (twi_candidate){.name = "fault", .solve = failing}, "fault failed: planted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_answer_passes),      cmocka_unit_test(an_off_by_one_is_caught_at_each_border),
        cmocka_unit_test(a_missing_column_is_caught),   cmocka_unit_test(one_wrong_padding_byte_is_caught),
        cmocka_unit_test(one_spread_nan_is_caught),     cmocka_unit_test(another_nan_is_caught),
        cmocka_unit_test(the_wrong_rounding_is_caught), cmocka_unit_test(a_failing_candidate_is_caught),
    };
    return cmocka_run_group_tests(tests, open_prover, close_prover);
}
