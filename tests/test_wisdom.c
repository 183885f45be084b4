/* Wisdom: what is measured is remembered, exported and imported whole or not at all, and never more than a choice. */
#include <inttypes.h>
#include <stdio.h>

#include "core/wisdom.h"
#include "testing.h"

static tw_problem mean_of(int64_t width, int64_t height, tw_type type, int32_t window)
{
    const tw_image src = {(void *)(uintptr_t)256, width, height, 8 * width, 1, type, TW_HOST};
    tw_image dst = src;
    tw_box_params params = tw_box_defaults();
    tw_problem problem;
    dst.data = (void *)(uintptr_t)((uint64_t)1 << 40);
    params.window = tw_window_centred(window, window);
    assert_ok(tw_box_problem(&src, &dst, &params, &problem));
    return problem;
}

/* The whole text, with its length; the caller frees it. */
static char *exported(const tw_context *context, size_t *length)
{
    *length = tw_wisdom_export(context, NULL, 0);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    assert_int_equal(tw_wisdom_export(context, text, *length + 1), *length);
    assert_int_equal(strlen(text), *length);
    return text;
}

/* A text with a right last line. */
static size_t sealed(char *text, size_t size, const char *version, const char *entries, int count)
{
    const int length = snprintf(text, size, "tilewise-wisdom 1\nlibrary %s\n%s", version, entries);
    const uint32_t hash = twi_hash(TWI_HASH_SEED, text, (size_t)length);
    return (size_t)length +
           (size_t)snprintf(text + length, size - (size_t)length, "end %d %08" PRIx32 "\n", count, hash);
}

/* The entry's line for that problem on this context's device. */
static void entry_line(tw_context *context, const tw_problem *problem, const char *variant, char *line, size_t size)
{
    size_t length = 0;
    char class[200];
    assert_ok(tw_tune(context, problem, NULL, 0, NULL));
    char *text = exported(context, &length);
    (void)twi_problem_class(problem, class, sizeof class);
    const char *device = strstr(text, class) + strlen(class) + 1;
    (void)snprintf(line, size, "%s\t%" PRId64 "x%" PRId64 "\t%s\t%.*s\n", variant, problem->width, problem->height,
                   class, (int)strcspn(device, "\n"), device);
    free(text);
    tw_wisdom_forget(context);
}

static const char *chosen(tw_context *context, const tw_problem *problem)
{
    static char name[64];
    tw_plan *plan = NULL;
    assert_ok(tw_plan_create(context, problem, NULL, &plan));
    (void)snprintf(name, sizeof name, "%s", tw_plan_variant(plan));
    tw_plan_destroy(plan);
    return name;
}

/* Imports one entry that says so, whatever is true. */
static void claim(tw_context *context, const tw_problem *problem, const char *variant)
{
    char line[600];
    char text[800];
    entry_line(context, problem, variant, line, sizeof line);
    const size_t size = sealed(text, sizeof text, tw_version(), line, 1);
    assert_ok(tw_wisdom_import(context, text, size));
}

static void what_is_measured_is_exported_and_imported(void **state)
{
    tw_context *context = context_on_cpu();
    tw_context *other = context_on_cpu();
    const tw_problem problem = mean_of(200, 100, TW_U8, 5);
    tw_timing timings[16];
    size_t count = 0;
    size_t length = 0;
    size_t again = 0;
    (void)state;
    assert_ok(tw_tune(context, &problem, timings, COUNT(timings), &count));
    assert_true(count >= 1 && count <= COUNT(timings));
    int winners = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(timings[i].least <= timings[i].median && timings[i].median <= timings[i].most);
        assert_true(i == 0 || timings[i - 1].median <= timings[i].median);
        winners += timings[i].chosen;
        if (timings[i].chosen)
            assert_string_equal(chosen(context, &problem), timings[i].variant);
    }
    assert_int_equal(winners, 1);
    char *text = exported(context, &length);
    assert_non_null(strstr(text, "\t200x100\tbox u8 c1 s5x5 zero floor\tcpu, 2 threads, "));
    assert_ok(tw_wisdom_import(other, text, length));
    char *copy = exported(other, &again);
    assert_string_equal(text, copy);
    /* cut off, never past the end */
    for (size_t size = 1; size < length; size++) {
        copy[size] = '#';
        assert_int_equal(tw_wisdom_export(other, copy, size), length);
        assert_true(strlen(copy) == size - 1 && copy[size] == '#');
    }
    free(text);
    free(copy);
    tw_context_destroy(context);
    tw_context_destroy(other);
}

static void a_plan_that_measures_remembers(void **state)
{
    tw_context *context = context_on_cpu();
    const tw_problem problem = mean_of(120, 90, TW_F32, 3);
    tw_plan_options options = {.planning = TW_PLAN_MEASURE};
    tw_plan *plan = NULL;
    size_t length = 0;
    (void)state;
    assert_ok(tw_plan_create(context, &problem, &options, &plan));
    assert_string_equal(chosen(context, &problem), tw_plan_variant(plan));
    tw_plan_destroy(plan);
    char *text = exported(context, &length);
    assert_non_null(strstr(text, "\nend 1 "));
    free(text);
    options.planning = TW_PLANNING_COUNT;
    assert_refused(tw_plan_create(context, &problem, &options, &plan), TW_ERROR_ARGUMENT, "planning 2");
    tw_context_destroy(context);
}

static void an_entry_serves_its_class_and_sizes_near_it(void **state)
{
    tw_context *context = context_on_cpu();
    tw_problem problem = mean_of(400, 300, TW_U8, 3);
    char line[600];
    char more[600];
    char both[1300];
    char text[1500];
    (void)state;
    claim(context, &problem, "reference");
    assert_string_equal(chosen(context, &problem), "reference");
    problem = mean_of(800, 150, TW_U8, 3);
    assert_string_equal(chosen(context, &problem), "reference");
    problem.in_place = true;
    problem.window.anchor_x = 0;
    assert_string_equal(chosen(context, &problem), "reference");
    problem = mean_of(801, 300, TW_U8, 3);
    assert_string_not_equal(chosen(context, &problem), "reference");
    problem = mean_of(400, 300, TW_U16, 3);
    assert_string_not_equal(chosen(context, &problem), "reference");
    problem = mean_of(400, 300, TW_U8, 5);
    assert_string_not_equal(chosen(context, &problem), "reference");
    /* of two entries the nearer one */
    problem = mean_of(600, 300, TW_U8, 3);
    entry_line(context, &problem, "c", line, sizeof line);
    problem = mean_of(400, 300, TW_U8, 3);
    entry_line(context, &problem, "reference", more, sizeof more);
    (void)snprintf(both, sizeof both, "%s%s", more, line);
    assert_ok(tw_wisdom_import(context, text, sealed(text, sizeof text, tw_version(), both, 2)));
    problem = mean_of(420, 300, TW_U8, 3);
    assert_string_equal(chosen(context, &problem), "reference");
    problem = mean_of(580, 300, TW_U8, 3);
    assert_string_equal(chosen(context, &problem), "c");
    tw_wisdom_forget(context);
    assert_string_not_equal(chosen(context, &problem), "reference");
    tw_context_destroy(context);
}

static void what_does_not_apply_leaves_the_estimate(void **state)
{
    tw_context *context = context_on_cpu();
    const tw_problem problem = mean_of(64, 48, TW_U8, 3);
    char estimated[64];
    char line[600];
    char text[800];
    size_t length = 0;
    (void)state;
    (void)snprintf(estimated, sizeof estimated, "%s", chosen(context, &problem));
    claim(context, &problem, "quantum");
    assert_string_equal(chosen(context, &problem), estimated);
    /* `c` of ranks ends at windows that the reference still does: it refuses the problem at hand */
    const tw_image src = {(void *)(uintptr_t)256, 8, 8, 64, 1, TW_U8, TW_HOST};
    tw_order_params params = tw_order_defaults();
    tw_problem wide;
    params.window = tw_window_centred(2001, 1);
    assert_ok(tw_order_problem(TW_OP_RANK, &src, &src, &params, 5, &wide));
    claim(context, &wide, "c");
    assert_string_equal(chosen(context, &wide), "reference");
    /* another machine's entry is kept, and does not apply */
    tw_wisdom_forget(context);
    entry_line(context, &problem, "reference", line, sizeof line);
    char *device = strstr(line, "2 threads");
    *device = '9';
    assert_ok(tw_wisdom_import(context, text, sealed(text, sizeof text, tw_version(), line, 1)));
    assert_string_equal(chosen(context, &problem), estimated);
    char *copy = exported(context, &length);
    assert_non_null(strstr(copy, line));
    free(copy);
    tw_context_destroy(context);
}

static void the_bytes_do_not_depend_on_it(void **state)
{
    static const char *const variants[] = {"reference", "c", "avx2", "avx512"};
    tw_context *context = context_on_cpu();
    const tw_problem problem = mean_of(150, 70, TW_F32, 7);
    const tw_box_params params = {problem.window, problem.border, problem.rounding};
    picture src = make_picture(150, 70, 1, TW_F32, 4);
    picture first = make_picture(150, 70, 1, TW_F32, 8);
    picture next = make_picture(150, 70, 1, TW_F32, 0);
    (void)state;
    fill_random(&src.image, 3);
    assert_ok(tw_box(context, &src.image, &first.image, &params));
    for (size_t i = 0; i < COUNT(variants); i++) {
        claim(context, &problem, variants[i]); /* and the kept plan goes */
        assert_ok(tw_box(context, &src.image, &next.image, &params));
        assert_true(same_pixels(&first.image, &next.image));
    }
    free_picture(&src);
    free_picture(&first);
    free_picture(&next);
    tw_context_destroy(context);
}

static void a_damaged_text_is_refused_whole(void **state)
{
    tw_context *context = context_on_cpu();
    const tw_problem problem = mean_of(64, 48, TW_U8, 3);
    char line[600];
    char sound[800];
    char text[800];
    size_t length = 0;
    (void)state;
    entry_line(context, &problem, "reference", line, sizeof line);
    const size_t size = sealed(sound, sizeof sound, tw_version(), line, 1);
    for (size_t cut = 0; cut < size; cut++)
        assert_refused(tw_wisdom_import(context, sound, cut), TW_ERROR_ARGUMENT, "damaged");
    for (size_t i = 0; i < size; i++) {
        memcpy(text, sound, size);
        text[i] = (char)(text[i] ^ 1);
        assert_int_not_equal(tw_wisdom_import(context, text, size), TW_OK);
    }
    (void)snprintf(text, sizeof text, "%.790s\n", sound);
    assert_refused(tw_wisdom_import(context, text, size + 1), TW_ERROR_ARGUMENT, "should be the last");
    assert_refused(tw_wisdom_import(context, NULL, 0), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_wisdom_import(NULL, sound, size), TW_ERROR_ARGUMENT, "context");
    /* nothing of all that was taken */
    char *after = exported(context, &length);
    assert_non_null(strstr(after, "\nend 0 "));
    free(after);
    assert_ok(tw_wisdom_import(context, sound, size));
    tw_context_destroy(context);
}

static void lines_that_are_no_entries_are_refused(void **state)
{
    static const char *const lines[] = {
        "\n",
        "c\n",
        "c\t4x4\tbox\n",
        "c\t4x4\tbox\tcpu\tmore\n",
        "c\t4x4\t\tcpu\n",
        "\t4x4\tbox\tcpu\n",
        "c\t4\tbox\tcpu\n",
        "c\t0x4\tbox\tcpu\n",
        "c\t-4x4\tbox\tcpu\n",
        "c\t4x4 \tbox\tcpu\n",
        "c\t4x99999999999999999999\tbox\tcpu\n",
        "a-name-that-is-far-too-long-for-a-variant\t4x4\tbox\tcpu\n",
        "c\t4x4\tbox\tcp\x01u\n",
        "c\t4x4\tbox\tcp\xc3\xbcu\n",
    };
    tw_context *context = context_on_cpu();
    char text[800];
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++)
        assert_refused(tw_wisdom_import(context, text, sealed(text, sizeof text, tw_version(), lines[i], 1)),
                       TW_ERROR_ARGUMENT, "line 3");
    tw_context_destroy(context);
}

static void another_version_is_told_apart_from_damage(void **state)
{
    tw_context *context = context_on_cpu();
    char text[800];
    (void)state;
    assert_refused(tw_wisdom_import(context, text, sealed(text, sizeof text, "0.0.9", "", 0)), TW_ERROR_UNSUPPORTED,
                   "0.0.9");
    assert_refused(tw_wisdom_import(context, "tilewise-wisdom 2\nanything", 26), TW_ERROR_UNSUPPORTED,
                   "'tilewise-wisdom 2'");
    tw_context_destroy(context);
}

static void the_oldest_of_too_many_entries_goes(void **state)
{
    tw_context *context = context_on_cpu();
    const size_t room = 4096 * 64;
    char *lines = malloc(room);
    char *text = malloc(room + 200);
    const tw_problem problem = mean_of(64, 48, TW_U8, 3);
    size_t used = 0;
    size_t length = 0;
    (void)state;
    assert_true(lines && text);
    for (int i = 1; i <= 4096; i++)
        used += (size_t)snprintf(lines + used, room - used, "c\t%dx1\tbox\tcpu\n", i);
    assert_ok(tw_wisdom_import(context, text, sealed(text, room + 200, tw_version(), lines, 4096)));
    assert_ok(tw_tune(context, &problem, NULL, 0, NULL));
    char *after = exported(context, &length);
    assert_non_null(strstr(after, "\nend 4096 "));
    assert_null(strstr(after, "\nc\t1x1\t"));
    assert_non_null(strstr(after, "\nc\t2x1\t"));
    assert_non_null(strstr(after, "\t64x48\tbox u8"));
    used += (size_t)snprintf(lines + used, room - used, "c\t4097x1\tbox\tcpu\n");
    assert_refused(tw_wisdom_import(context, text, sealed(text, room + 200, tw_version(), lines, 4097)),
                   TW_ERROR_ARGUMENT, "too many");
    free(after);
    free(lines);
    free(text);
    tw_context_destroy(context);
}

static void tuning_wants_arguments_and_leaves_no_progress(void **state)
{
    tw_context *context = context_on_cpu();
    tw_problem problem = mean_of(64, 48, TW_U8, 3);
    (void)state;
    assert_refused(tw_tune(NULL, &problem, NULL, 0, NULL), TW_ERROR_ARGUMENT, "context");
    assert_refused(tw_tune(context, NULL, NULL, 0, NULL), TW_ERROR_ARGUMENT, "problem");
    assert_refused(tw_tune(context, &problem, NULL, 1, NULL), TW_ERROR_ARGUMENT, "timings");
    problem.memory = TW_DEVICE;
    assert_refused(tw_tune(context, &problem, NULL, 0, NULL), TW_ERROR_UNSUPPORTED, "no variant");
    problem.channels = 9;
    assert_refused(tw_tune(context, &problem, NULL, 0, NULL), TW_ERROR_ARGUMENT, "9 channels");
    tw_wisdom_forget(NULL);
    assert_true(tw_wisdom_export(NULL, NULL, 0) > 0);
    tw_context_destroy(context);
}

/* Stops at the given call. */
static bool stop_at(void *user, double done)
{
    int *left = user;
    assert_true(done == 0);
    return --*left > 0;
}

/* A billion rows of a byte, each with a pitch of 256: a part stands for them. */
static void a_narrow_image_takes_no_more_memory(void **state)
{
    tw_context *context = context_on_cpu();
    const tw_problem problem = mean_of(1, 1000000000, TW_U8, 1);
    (void)state;
    assert_ok(tw_tune(context, &problem, NULL, 0, NULL));
    tw_context_destroy(context);
}

static void tuning_can_be_stopped(void **state)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    const tw_problem problem = mean_of(64, 48, TW_U8, 3);
    int left = 5;
    (void)state;
    options.backend = TW_CPU;
    options.progress = stop_at;
    options.progress_user = &left;
    assert_ok(tw_context_create(&options, &context));
    assert_refused(tw_tune(context, &problem, NULL, 0, NULL), TW_ERROR_CANCELLED, "stopped");
    assert_int_equal(left, 0);
    tw_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_measured_is_exported_and_imported),
        cmocka_unit_test(a_plan_that_measures_remembers),
        cmocka_unit_test(an_entry_serves_its_class_and_sizes_near_it),
        cmocka_unit_test(what_does_not_apply_leaves_the_estimate),
        cmocka_unit_test(the_bytes_do_not_depend_on_it),
        cmocka_unit_test(a_damaged_text_is_refused_whole),
        cmocka_unit_test(lines_that_are_no_entries_are_refused),
        cmocka_unit_test(another_version_is_told_apart_from_damage),
        cmocka_unit_test(the_oldest_of_too_many_entries_goes),
        cmocka_unit_test(tuning_wants_arguments_and_leaves_no_progress),
        cmocka_unit_test(a_narrow_image_takes_no_more_memory),
        cmocka_unit_test(tuning_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
