/* transpose and lut: operations whose result has another shape or type, by every variant on this machine. */
#include "testing.h"

/* ---- Turns --------------------------------------------------------------------------------------- */

static bool exchanges(tw_turn turn)
{
    return turn == TW_TRANSPOSE || turn == TW_TRANSVERSE || turn == TW_ROTATE_90 || turn == TW_ROTATE_270;
}

/* Where the pixel (x, y) of a W x H image goes, said for each turn by itself. */
static void goes_to(tw_turn turn, int64_t w, int64_t h, int64_t x, int64_t y, int64_t *to_x, int64_t *to_y)
{
    const int64_t places[TW_TURN_COUNT][2] = {
        [TW_TRANSPOSE] = {y, x},
        [TW_TRANSVERSE] = {h - 1 - y, w - 1 - x},
        [TW_ROTATE_90] = {h - 1 - y, x},
        [TW_ROTATE_180] = {w - 1 - x, h - 1 - y},
        [TW_ROTATE_270] = {y, w - 1 - x},
        [TW_FLIP_HORIZONTAL] = {w - 1 - x, y},
        [TW_FLIP_VERTICAL] = {x, h - 1 - y},
    };
    *to_x = places[turn][0];
    *to_y = places[turn][1];
}

static void check_turn(const picture *src, const picture *dst, tw_turn turn, const char *variant)
{
    const tw_image *in = &src->image;
    for (int64_t y = 0; y < in->height; y++)
        for (int64_t x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                int64_t to_x = 0;
                int64_t to_y = 0;
                goes_to(turn, in->width, in->height, x, y, &to_x, &to_y);
                if (get(in, x, y, c) != get(&dst->image, to_x, to_y, c))
                    fail_msg("%s %s: pixel %d,%d", variant, tw_turn_name(turn), (int)x, (int)y);
            }
    assert_true(guards_hold(dst));
}

static void each_turn(int64_t width, int64_t height, int channels, tw_type type)
{
    picture src = make_picture(width, height, channels, type, 24);
    fill_random(&src.image, 5);
    for (tw_turn turn = TW_TRANSPOSE; turn < TW_TURN_COUNT; turn++) {
        const bool exchange = exchanges(turn);
        picture dst = make_picture(exchange ? height : width, exchange ? width : height, channels, type, 8);
        walk w = {.threads = 2};
        tw_problem problem;
        assert_ok(tw_transpose_problem(&src.image, &dst.image, turn, &problem));
        while (next_variant(&w, &problem)) {
            assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
            check_turn(&src, &dst, turn, w.variant.name);
        }
        free_picture(&dst);
    }
    free_picture(&src);
}

static void pixels_go_where_the_turn_says(void **state)
{
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++)
        for (int channels = 1; channels <= 4; channels++) {
            each_turn(67, 35, channels, type);
            each_turn(1, 9, channels, type);
        }
    each_turn(1, 1, 1, TW_U8);
    each_turn(300, 530, 1, TW_U8);
    each_turn(257, 129, 1, TW_F32);
}

static void four_quarters_are_a_whole(void **state)
{
    tw_context *context = NULL;
    picture a = make_picture(31, 20, 3, TW_U16, 0);
    picture b = make_picture(20, 31, 3, TW_U16, 0);
    picture c = make_picture(31, 20, 3, TW_U16, 0);
    (void)state;
    fill_random(&a.image, 1);
    assert_ok(tw_context_create(NULL, &context));
    assert_ok(tw_transpose(context, &a.image, &b.image, TW_ROTATE_90));
    assert_ok(tw_transpose(context, &b.image, &c.image, TW_ROTATE_90));
    assert_false(same_pixels(&a.image, &c.image));
    assert_ok(tw_transpose(context, &c.image, &c.image, TW_ROTATE_180));
    assert_true(same_pixels(&a.image, &c.image));
    tw_context_destroy(context);
    free_picture(&a);
    free_picture(&b);
    free_picture(&c);
}

static void only_squares_are_transposed_in_place(void **state)
{
    tw_context *context = NULL;
    tw_image turned;
    picture square = make_picture(21, 21, 1, TW_U8, 3);
    picture kept = make_picture(21, 21, 1, TW_U8, 0);
    picture wide = make_picture(20, 10, 1, TW_U8, 0);
    (void)state;
    fill_random(&square.image, 7);
    assert_ok(tw_context_create(NULL, &context));
    assert_ok(tw_image_copy(context, &square.image, &kept.image));
    assert_ok(tw_transpose(context, &square.image, &square.image, TW_TRANSPOSE));
    check_turn(&kept, &square, TW_TRANSPOSE, "in place");
    turned = wide.image;
    turned.width = 10;
    turned.height = 20;
    turned.pitch = 10;
    assert_refused(tw_transpose(context, &wide.image, &turned, TW_ROTATE_90), TW_ERROR_ARGUMENT, "square");
    assert_refused(tw_transpose(context, &wide.image, &wide.image, TW_TRANSPOSE), TW_ERROR_ARGUMENT, "10x20");
    assert_refused(tw_transpose(context, &wide.image, &wide.image, (tw_turn)0), TW_ERROR_ARGUMENT, "turn 0");
    assert_refused(tw_transpose(context, &wide.image, &wide.image, (tw_turn)8), TW_ERROR_ARGUMENT, "turn 8");
    tw_context_destroy(context);
    free_picture(&square);
    free_picture(&kept);
    free_picture(&wide);
}

/* ---- Tables ---------------------------------------------------------------------------------------- */

static void entries_are_moved_as_they_are(void **state)
{
    static double table[4 * 65536];
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++)
        table[i] = (double)((i * 2654435761u) % 121);
    for (tw_type type = TW_U8; type <= TW_U16; type++)
        for (int channels = 1; channels <= 4; channels++)
            for (int own = 0; own < 2; own++) {
                const size_t entries = type == TW_U8 ? 256 : 65536;
                const tw_lut_params params = {table, own ? channels : 1};
                picture src = make_picture(130, 40, channels, type, 2);
                picture dst = make_picture(130, 40, channels, TW_F64, 16);
                walk w = {.threads = 2};
                tw_problem problem;
                fill_random(&src.image, 3);
                put(&src.image, 5, 6, 0, type == TW_U8 ? 255 : 65535);
                assert_ok(tw_lut_problem(&src.image, &dst.image, &params, &problem));
                while (next_variant(&w, &problem)) {
                    assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                    for (int64_t y = 0; y < 40; y++)
                        for (int64_t x = 0; x < 130; x++)
                            for (int c = 0; c < channels; c++) {
                                const size_t first = own ? (size_t)c * entries : 0;
                                const double expected = table[first + (size_t)get(&src.image, x, y, c)];
                                if (get(&dst.image, x, y, c) != expected)
                                    fail_msg("%s: pixel %d,%d", w.variant.name, (int)x, (int)y);
                            }
                    assert_true(guards_hold(&dst));
                }
                free_picture(&src);
                free_picture(&dst);
            }
}

static void plans_keep_their_table(void **state)
{
    uint8_t table[256];
    const tw_lut_params params = {table, 1};
    tw_context *context = NULL;
    tw_plan *plan = NULL;
    tw_problem problem;
    picture image = make_picture(70, 3, 1, TW_U8, 0);
    (void)state;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(255 - i);
    fill(&image.image, 10);
    assert_ok(tw_context_create(NULL, &context));
    assert_ok(tw_lut_problem(&image.image, &image.image, &params, &problem));
    assert_ok(tw_plan_create(context, &problem, NULL, &plan));
    memset(table, 0, sizeof table);
    assert_ok(tw_plan_run(plan, &image.image, &image.image));
    assert_true(get(&image.image, 69, 2, 0) == 245);
    /* another table is another problem, for the plans that a context keeps */
    assert_ok(tw_lut(context, &image.image, &image.image, &params));
    assert_true(get(&image.image, 69, 2, 0) == 0);
    table[0] = 77;
    assert_ok(tw_lut(context, &image.image, &image.image, &params));
    assert_true(get(&image.image, 69, 2, 0) == 77);
    tw_plan_destroy(plan);
    tw_context_destroy(context);
    free_picture(&image);
}

static void wrong_tables_are_named(void **state)
{
    static const uint8_t table[3 * 256];
    tw_problem problem;
    picture bytes = make_picture(8, 8, 4, TW_U8, 0);
    picture other = make_picture(8, 8, 4, TW_U8, 0);
    picture integers = make_picture(8, 8, 4, TW_I32, 0);
    const tw_lut_params none = {NULL, 1};
    const tw_lut_params three = {table, 3};
    const tw_lut_params one = {table, 1};
    (void)state;
    assert_refused(tw_lut_problem(&bytes.image, &other.image, NULL, &problem), TW_ERROR_ARGUMENT, "params");
    assert_refused(tw_lut_problem(&bytes.image, &other.image, &none, &problem), TW_ERROR_ARGUMENT, "table is NULL");
    assert_refused(tw_lut_problem(&bytes.image, &other.image, &three, &problem), TW_ERROR_ARGUMENT, "3 channels");
    assert_refused(tw_lut_problem(&integers.image, &other.image, &one, &problem), TW_ERROR_ARGUMENT, "u8 or u16");
    free_picture(&bytes);
    free_picture(&other);
    free_picture(&integers);
}

/* ---- Elements of results ------------------------------------------------------------------------------ */

static void filters_refuse_the_elements_of_results(void **state)
{
    tw_problem problem;
    (void)state;
    for (tw_type type = TW_U32; type < TW_ELEMENT_COUNT; type++) {
        picture src = make_picture(8, 8, 1, type, 0);
        picture dst = make_picture(8, 8, 1, type, 0);
        assert_ok(tw_image_check(&src.image));
        assert_refused(tw_box_problem(&src.image, &dst.image, NULL, &problem), TW_ERROR_ARGUMENT, tw_type_name(type));
        assert_refused(tw_transpose_problem(&src.image, &dst.image, TW_TRANSPOSE, &problem), TW_ERROR_ARGUMENT,
                       "transpose");
        free_picture(&src);
        free_picture(&dst);
    }
}

/* Sizes that follow from a wrong argument would mislead. */
static void arguments_are_judged_before_sizes(void **state)
{
    tw_problem problem;
    picture src = make_picture(8, 4, 1, TW_F32, 0);
    picture dst = make_picture(8, 4, 1, TW_F32, 0);
    picture counts = make_picture(256, 1, 1, TW_U64, 0);
    (void)state;
    assert_refused(tw_transpose_problem(&src.image, &dst.image, (tw_turn)9, &problem), TW_ERROR_ARGUMENT, "turn 9");
    assert_refused(tw_histogram_problem(&src.image, &counts.image, &problem), TW_ERROR_ARGUMENT, "u8 or u16");
    free_picture(&src);
    free_picture(&dst);
    free_picture(&counts);
}

/* Their pixels are not there, and nothing asks for them. */
static void the_longest_sides_have_no_integral(void **state)
{
    double pixel = 0;
    tw_problem problem;
    const tw_image src = {(void *)1, INT64_MAX, 1, INT64_MAX, 1, TW_U8, TW_HOST};
    const tw_image dst = {&pixel, 1, 1, sizeof pixel, 1, TW_F64, TW_HOST};
    (void)state;
    assert_int_equal(tw_integral_type(&src), TW_ELEMENT_COUNT);
    assert_refused(tw_integral_problem(&src, &dst, &problem), TW_ERROR_LIMIT, "may exceed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_go_where_the_turn_says),
        cmocka_unit_test(four_quarters_are_a_whole),
        cmocka_unit_test(only_squares_are_transposed_in_place),
        cmocka_unit_test(entries_are_moved_as_they_are),
        cmocka_unit_test(plans_keep_their_table),
        cmocka_unit_test(wrong_tables_are_named),
        cmocka_unit_test(filters_refuse_the_elements_of_results),
        cmocka_unit_test(arguments_are_judged_before_sizes),
        cmocka_unit_test(the_longest_sides_have_no_integral),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
