/* Float means against the exact mean: at most 4 ulp off, NaN and infinities local, no drift. Gaussians in fixed point
   against those in f64. */
#include "testing.h"

/* An exact sum of doubles: parts that do not overlap, smallest first (Shewchuk, Adaptive precision
   floating-point arithmetic, 1997). Enough parts for the whole range of a double. */
typedef struct exact {
    double part[64];
    int parts;
} exact;

static void add(exact *sum, double value)
{
    int kept = 0;
    for (int i = 0; i < sum->parts; i++) {
        const double high = value + sum->part[i];
        const double back = high - value;
        const double low = (value - (high - back)) + (sum->part[i] - back);
        if (low != 0)
            sum->part[kept++] = low;
        value = high;
    }
    assert_true(kept < (int)COUNT(sum->part));
    sum->part[kept++] = value;
    sum->parts = kept;
}

/* The exact sum to about one part in 2^53. */
static double rounded(const exact *sum)
{
    double total = 0;
    for (int i = 0; i < sum->parts; i++)
        total += sum->part[i];
    return total;
}

static exact window_sum(const tw_image *image, int64_t x, int64_t y, int channel, const tw_box_params *params)
{
    exact sum = {.parts = 0};
    const tw_window *w = &params->window;
    for (int64_t v = y - w->anchor_y; v < y - w->anchor_y + w->height; v++)
        for (int64_t u = x - w->anchor_x; u < x - w->anchor_x + w->width; u++)
            if (u >= 0 && v >= 0 && u < image->width && v < image->height) /* zero border */
                add(&sum, get(image, u, v, channel));
    return sum;
}

/* The distance between `got` and the exact mean, in units of the mean's last place in `type`. */
static double ulps_off(exact sum, double count, double got, tw_type type)
{
    const double mean = fabs(rounded(&sum) / count);
    const double ulp = type == TW_F32 ? (double)nextafterf((float)mean, INFINITY) - (double)(float)mean
                                      : nextafter(mean, INFINITY) - mean;
    /* got * count, exactly, as two doubles */
    const double high = got * count;
    add(&sum, -high);
    add(&sum, -fma(got, count, -high));
    return fabs(rounded(&sum)) / count / ulp;
}

/* Magnitudes of 2^-12 to 2^12, both signs: sums lose leading digits. */
static void fill_wide(const tw_image *image, unsigned seed)
{
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                const double mantissa = 1 + (next_random(&seed) + next_random(&seed) / 32768.0) / 32768;
                const double value = ldexp(mantissa, (int)(next_random(&seed) % 25) - 12);
                put(image, x, y, c, next_random(&seed) % 2 ? value : -value);
            }
}

static void the_mean_is_within_4_ulp(void **state)
{
    static const int windows[][2] = {{1, 1}, {3, 3}, {2, 5}, {7, 4}, {15, 15}, {31, 31}, {64, 33}, {101, 101}};
    (void)state;
    for (tw_type type = TW_F32; type <= TW_F64; type++)
        for (size_t i = 0; i < COUNT(windows); i++) {
            /* a few windows wholly inside, and those of the edges */
            const int width = windows[i][0] + 12;
            const int height = windows[i][1] + 3;
            picture src = make_picture(width, height, 1, type, 0);
            picture dst = make_picture(width, height, 1, type, 0);
            const tw_box_params params = box_params(windows[i][0], windows[i][1], TW_BORDER_ZERO);
            const double count = windows[i][0] * windows[i][1];
            tw_problem problem;
            walk w = {0};
            int ran = 0;
            fill_wide(&src.image, 5 + (unsigned)i);
            assert_ok(tw_box_problem(&src.image, &dst.image, &params, &problem));
            for (; next_variant(&w, &problem); ran++) {
                assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                for (int64_t y = 0; y < height; y += 1 + height / 9)
                    for (int64_t x = 0; x < width; x += 1 + width / 13) {
                        const exact sum = window_sum(&src.image, x, y, 0, &params);
                        const double off = ulps_off(sum, count, get(&dst.image, x, y, 0), type);
                        if (!(off <= 4))
                            fail_msg("%s, %s %dx%d: (%d, %d) is %g ulp off the exact mean", w.variant.name,
                                     tw_type_name(type), windows[i][0], windows[i][1], (int)x, (int)y, off);
                    }
            }
            assert_true(ran > 0);
            free_picture(&src);
            free_picture(&dst);
        }
}

/* A row of one bad value among ones: every window that does not hold it gives 1, to the byte. */
static void bad_values_stay_in_their_window(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e30, -3e38};
    enum { WIDTH = 700, HEIGHT = 9, AT_X = 300, AT_Y = 4 };
    (void)state;
    for (tw_type type = TW_F32; type <= TW_F64; type++)
        for (size_t i = 0; i < COUNT(bad); i++)
            for (int side = 3; side <= 101; side += 14) {
                picture src = make_picture(WIDTH, HEIGHT, 1, type, 0);
                picture dst = make_picture(WIDTH, HEIGHT, 1, type, 0);
                const tw_box_params params = box_params(side, 5, TW_BORDER_REPLICATE);
                tw_problem problem;
                walk w = {0};
                fill(&src.image, 1);
                put(&src.image, AT_X, AT_Y, 0, bad[i]);
                assert_ok(tw_box_problem(&src.image, &dst.image, &params, &problem));
                while (next_variant(&w, &problem)) {
                    assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                    for (int y = 0; y < HEIGHT; y++)
                        for (int x = 0; x < WIDTH; x++) {
                            const double got = get(&dst.image, x, y, 0);
                            const bool holds = abs(x - AT_X) <= side / 2 && abs(y - AT_Y) <= 2;
                            const bool right = !holds          ? got == 1
                                               : isnan(bad[i]) ? isnan(got)
                                               : isinf(bad[i]) ? got == bad[i]
                                                               : fabs(got) > 1e20;
                            if (!right)
                                fail_msg("%s, %s, window %dx5 and %g: (%d, %d) is %g", w.variant.name,
                                         tw_type_name(type), side, bad[i], x, y, got);
                        }
                }
                free_picture(&src);
                free_picture(&dst);
            }
}

/* Whatever the payload and sign of the NaN that go in, and for infinity minus infinity, one NaN comes out. */
static void every_nan_is_the_same_nan(void **state)
{
    static const uint32_t single[] = {0x7fc00000u, 0xffc00000u, 0x7fc12345u, 0xffffffffu, 0x7f800001u};
    static const uint64_t twice[] = {0x7ff8000000000000u, 0xfff8000000000000u, 0x7ff8000012345678u, 0xffffffffffffffffu,
                                     0x7ff0000000000001u};
    (void)state;
    for (tw_type type = TW_F32; type <= TW_F64; type++)
        for (size_t i = 0; i <= COUNT(single); i++) {
            picture src = make_picture(3, 3, 1, type, 0);
            picture dst = make_picture(3, 3, 1, type, 0);
            tw_problem problem;
            walk w = {0};
            fill(&src.image, 2);
            if (i == COUNT(single)) {
                put(&src.image, 0, 0, 0, INFINITY);
                put(&src.image, 1, 1, 0, -INFINITY);
            } else {
                memcpy(element(&src.image, 1, 1, 0),
                       type == TW_F32 ? (const void *)&single[i] : (const void *)&twice[i], tw_type_size(type));
            }
            assert_ok(tw_box_problem(&src.image, &dst.image, NULL, &problem));
            while (next_variant(&w, &problem)) {
                assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
                if (memcmp(element(&dst.image, 0, 0, 0),
                           type == TW_F32 ? (const void *)&single[0] : (const void *)&twice[0],
                           tw_type_size(type)) != 0)
                    fail_msg("%s, %s: NaN number %d does not come out as the one NaN", w.variant.name,
                             tw_type_name(type), (int)i);
            }
            free_picture(&src);
            free_picture(&dst);
        }
}

/* Behind a long stretch of huge values the means are those of a row without it, to the byte. */
static void nothing_drifts_along_a_row(void **state)
{
    enum { WIDTH = 20000, HUGE_WIDTH = 15000, SIDE = 15 };
    (void)state;
    for (tw_type type = TW_F32; type <= TW_F64; type++) {
        picture src = make_picture(WIDTH, 1, 1, type, 0);
        picture dst = make_picture(WIDTH, 1, 1, type, 0);
        picture calm_src = make_picture(WIDTH, 1, 1, type, 0);
        picture calm_dst = make_picture(WIDTH, 1, 1, type, 0);
        const tw_box_params params = box_params(SIDE, 1, TW_BORDER_MIRROR);
        tw_problem problem;
        walk w = {0};
        fill_wide(&src.image, 77);
        fill_wide(&calm_src.image, 77);
        for (int x = 0; x < HUGE_WIDTH; x++)
            put(&src.image, x, 0, 0, 1e30 * get(&src.image, x, 0, 0));
        assert_ok(tw_box_problem(&src.image, &dst.image, &params, &problem));
        while (next_variant(&w, &problem)) {
            tw_image tail;
            tw_image calm_tail;
            assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
            assert_ok(tw_plan_run(w.plan, &calm_src.image, &calm_dst.image));
            assert_ok(tw_image_view(&dst.image, HUGE_WIDTH + SIDE, 0, WIDTH - HUGE_WIDTH - SIDE, 1, &tail));
            assert_ok(tw_image_view(&calm_dst.image, HUGE_WIDTH + SIDE, 0, WIDTH - HUGE_WIDTH - SIDE, 1, &calm_tail));
            if (!same_pixels(&tail, &calm_tail))
                fail_msg("%s, %s: huge values changed the means behind them", w.variant.name, tw_type_name(type));
        }
        free_picture(&src);
        free_picture(&dst);
        free_picture(&calm_src);
        free_picture(&calm_dst);
    }
}

/* The share of pixels of random bytes where fixed point gives another value than f64, rounded. */
static double share_beside_exact(tw_context *context, double sigma_x, double sigma_y, tw_border_mode border)
{
    enum { SIDE = 300 };
    const tw_gaussian_params params = {.sigma_x = sigma_x, .sigma_y = sigma_y, .truncate = 4, .border = {border, 0}};
    const tw_type types[] = {TW_U8, TW_F64};
    picture found[2];
    int others = 0;
    for (int i = 0; i < 2; i++) {
        unsigned state = 1;
        found[i] = make_picture(SIDE, SIDE, 1, types[i], 0);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                put(&found[i].image, x, y, 0, next_random(&state) % 256);
        assert_ok(tw_gaussian(context, &found[i].image, &found[i].image, &params));
    }
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const double beside = fabs(get(&found[0].image, x, y, 0) - nearbyint(get(&found[1].image, x, y, 0)));
            assert_true(beside <= 1);
            others += beside > 0;
        }
    }
    free_picture(&found[0]);
    free_picture(&found[1]);
    return others / (double)(SIDE * SIDE);
}

/* Where it would not be, Gaussians of u8 are done in f64. */
static void fixed_point_is_near_the_exact_result(void **state)
{
    static const struct {
        double x, y;
        tw_border_mode border;
    } all[] = {{0.5, 0.5, TW_BORDER_MIRROR}, {1, 1, TW_BORDER_ZERO},       {6, 0.5, TW_BORDER_REPLICATE},
               {2.5, 30, TW_BORDER_MIRROR},  {10, 10, TW_BORDER_ZERO},     {25, 25, TW_BORDER_ZERO},
               {0.5, 30, TW_BORDER_WRAP},    {20, 0.6, TW_BORDER_REFLECT}, {40, 40, TW_BORDER_MIRROR}};
    tw_context *context = NULL;
    (void)state;
    assert_ok(tw_context_create(NULL, &context));
    for (size_t i = 0; i < COUNT(all); i++) {
        const double share = share_beside_exact(context, all[i].x, all[i].y, all[i].border);
        if (share > 0.002)
            fail_msg("sigma %g, %g, border %s: %.3f %% of the pixels differ", all[i].x, all[i].y,
                     tw_border_name(all[i].border), 100 * share);
    }
    tw_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_within_4_ulp),
        cmocka_unit_test(bad_values_stay_in_their_window),
        cmocka_unit_test(every_nan_is_the_same_nan),
        cmocka_unit_test(nothing_drifts_along_a_row),
        cmocka_unit_test(fixed_point_is_near_the_exact_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
