/* Figures of an image whose rows come in bands, against those of the whole image. */
#include <math.h>

#include "testing.h"

enum { WIDTH = 4321, HEIGHT = 37 };

/* Adds all rows, in bands of that height, as often as they are wanted. */
static void add_all(tw_tally *tally, const tw_image *src, int64_t rows)
{
    int64_t y = 0;
    while (tw_tally_wants(tally)) {
        const int64_t count = y + rows < src->height ? rows : src->height - y;
        tw_image band;
        assert_ok(tw_image_view(src, 0, y, src->width, count, &band));
        assert_ok(tw_tally_add(tally, &band));
        y = (y + count) % src->height;
    }
}

static void compare(tw_context *context, const tw_problem *problem, const tw_image *src, int64_t width, int64_t rows)
{
    picture whole = make_picture(width, 1, src->channels, problem->out_type, 0);
    picture parts = make_picture(width, 1, src->channels, problem->out_type, 0);
    tw_tally *tally = NULL;
    tw_plan *plan = NULL;
    assert_ok(tw_plan_create(context, problem, NULL, &plan));
    assert_ok(tw_plan_run(plan, src, &whole.image));
    tw_plan_destroy(plan);
    assert_ok(tw_tally_create(context, problem, &tally));
    add_all(tally, src, rows);
    assert_ok(tw_tally_finish(tally, &parts.image));
    tw_tally_destroy(tally);
    assert_memory_equal(whole.image.data, parts.image.data,
                        (size_t)(width * src->channels) * tw_type_size(problem->out_type));
    free_picture(&whole);
    free_picture(&parts);
}

static void figures_of_bands_are_those_of_the_whole(void **state)
{
    tw_context *context = context_on_cpu();
    (void)state;
    for (int type = 0; type < TW_TYPE_COUNT; type++) {
        picture src = make_picture(WIDTH, HEIGHT, 3, (tw_type)type, 0);
        picture record = make_picture(1, 1, 3, TW_STATS, 0);
        fill_random(&src.image, 9);
        put(&src.image, 4000, 20, 1, type >= TW_F32 ? NAN : 3);
        put(&src.image, 17, 36, 2, type >= TW_F32 ? -INFINITY : 0);
        for (unsigned figures = 1; figures <= TW_FIGURE_ALL; figures += figures < 8 ? 1 : 84) {
            tw_reduce_params params = tw_reduce_defaults();
            tw_problem problem;
            params.figures = figures;
            assert_ok(tw_reduce_problem(&src.image, &record.image, &params, &problem));
            compare(context, &problem, &src.image, 1, 1 + (int64_t)figures % HEIGHT);
        }
        free_picture(&src);
        free_picture(&record);
    }
    tw_context_destroy(context);
}

/* More rows than a leaf of the sums has values. */
static void a_tall_image_has_several_leaves(void **state)
{
    tw_context *context = context_on_cpu();
    picture src = make_picture(3, 9001, 1, TW_F32, 0);
    picture record = make_picture(1, 1, 1, TW_STATS, 0);
    tw_problem problem;
    (void)state;
    fill_random(&src.image, 10);
    assert_ok(tw_reduce_problem(&src.image, &record.image, NULL, &problem));
    compare(context, &problem, &src.image, 1, 1000);
    compare(context, &problem, &src.image, 1, 4096);
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&record);
}

static void histograms_of_bands_are_that_of_the_whole(void **state)
{
    tw_context *context = context_on_cpu();
    (void)state;
    for (int type = TW_U8; type <= TW_U16; type++) {
        const int64_t entries = type == TW_U8 ? 256 : 65536;
        picture src = make_picture(300, HEIGHT, 2, (tw_type)type, 0);
        picture counts = make_picture(entries, 1, 2, TW_U64, 0);
        tw_problem problem;
        fill_random(&src.image, 11);
        assert_ok(tw_histogram_problem(&src.image, &counts.image, &problem));
        compare(context, &problem, &src.image, entries, 10);
        free_picture(&src);
        free_picture(&counts);
    }
    tw_context_destroy(context);
}

static void misuse_is_named(void **state)
{
    tw_context *context = context_on_cpu();
    picture src = make_picture(20, 10, 1, TW_U8, 0);
    picture wide = make_picture(21, 10, 1, TW_U8, 0);
    picture record = make_picture(1, 1, 1, TW_STATS, 0);
    picture rows = make_picture(1, 10, 1, TW_STATS, 0);
    tw_reduce_params params = tw_reduce_defaults();
    tw_tally *tally = NULL;
    tw_problem problem;
    tw_problem band;
    (void)state;
    params.axis = TW_AXIS_X;
    assert_ok(tw_reduce_problem(&src.image, &rows.image, &params, &problem));
    assert_refused(tw_tally_create(context, &problem, &tally), TW_ERROR_ARGUMENT, "whole image");
    assert_ok(tw_reduce_problem(&src.image, &record.image, NULL, &problem));
    assert_refused(tw_tally_create(NULL, &problem, &tally), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_tally_create(context, NULL, &tally), TW_ERROR_ARGUMENT, "problem is NULL");
    assert_refused(tw_tally_create(context, &problem, NULL), TW_ERROR_ARGUMENT, "tally is NULL");
    assert_ok(tw_tally_create(context, &problem, &tally));
    assert_refused(tw_tally_finish(tally, &record.image), TW_ERROR_ARGUMENT, "wants 10 more rows");
    assert_refused(tw_tally_add(tally, &wide.image), TW_ERROR_ARGUMENT, "not those of the plan");
    assert_refused(tw_tally_add(NULL, &src.image), TW_ERROR_ARGUMENT, "tally is NULL");
    assert_refused(tw_tally_problem(tally, 11, &band), TW_ERROR_ARGUMENT, "band of 11 rows");
    assert_refused(tw_tally_problem(tally, 0, &band), TW_ERROR_ARGUMENT, "band of 0 rows");
    assert_refused(tw_tally_add_found(tally, 9, &rows.image), TW_ERROR_ARGUMENT, "found is stats of 1x10");
    fill_random(&src.image, 1);
    assert_ok(tw_tally_add(tally, &src.image));
    assert_refused(tw_tally_finish(tally, &record.image), TW_ERROR_ARGUMENT, "for the squares");
    assert_ok(tw_tally_add(tally, &src.image));
    assert_false(tw_tally_wants(tally));
    assert_refused(tw_tally_add(tally, &src.image), TW_ERROR_ARGUMENT, "0 are left");
    assert_refused(tw_tally_finish(tally, &rows.image), TW_ERROR_ARGUMENT, "dst must be");
    assert_ok(tw_tally_finish(tally, &record.image));
    tw_tally_destroy(tally);
    tw_tally_destroy(NULL);
    assert_false(tw_tally_wants(NULL));
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&wide);
    free_picture(&record);
    free_picture(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_bands_are_those_of_the_whole),
        cmocka_unit_test(a_tall_image_has_several_leaves),
        cmocka_unit_test(histograms_of_bands_are_that_of_the_whole),
        cmocka_unit_test(misuse_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
