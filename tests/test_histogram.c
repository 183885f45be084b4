/* histogram: images of kinds that variants count in different ways, by every variant on this machine. */
#include "testing.h"

typedef enum kind { CONSTANT, NEARLY, SMOOTH, RANDOM, STRIPES, KINDS } kind;

static uint32_t value_of(kind k, int64_t x, int64_t y, uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    switch (k) {
    case CONSTANT:
        return 0xfefeu;
    case NEARLY: /* constant: one value that runs over whatever counts it in few bits */
        return x % 61 == 0 ? *random >> 16 : 0x4d4du;
    case SMOOTH:
        return (uint32_t)(x / 9 + y / 5) + (*random >> 30);
    case STRIPES: /* rows of one value, of close values, of any */
        return y % 3 == 0 ? (uint32_t)y : y % 3 == 1 ? (uint32_t)(x / 64) : *random >> 13;
    default:
        return *random >> 11;
    }
}

static void fill_kind(const tw_image *image, kind k)
{
    uint32_t random = 5;
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                const uint32_t value = value_of(k, x, y + 40 * c, &random);
                if (image->type == TW_U8)
                    *(uint8_t *)element(image, x, y, c) = (uint8_t)value;
                else
                    *(uint16_t *)element(image, x, y, c) = (uint16_t)value;
            }
}

static void count(const tw_image *image, uint64_t *counts)
{
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                const void *at = element(image, x, y, c);
                const int value = image->type == TW_U8 ? *(const uint8_t *)at : *(const uint16_t *)at;
                counts[value * image->channels + c]++;
            }
}

static void check_counts(int64_t width, int64_t height, int channels, tw_type type, int64_t gap)
{
    const int64_t values = type == TW_U8 ? 256 : 65536;
    picture src = make_picture(width, height, channels, type, gap);
    picture dst = make_picture(values, 1, channels, TW_U64, 0);
    const size_t bytes = (size_t)(values * channels) * sizeof(uint64_t);
    uint64_t *expected = malloc(bytes);
    assert_non_null(expected);
    for (kind k = 0; k < KINDS; k++) {
        walk w = {.threads = 1};
        tw_problem problem;
        fill_kind(&src.image, k);
        memset(expected, 0, bytes);
        count(&src.image, expected);
        assert_ok(tw_histogram_problem(&src.image, &dst.image, &problem));
        while (next_variant(&w, &problem)) {
            memset(dst.image.data, 0xaa, bytes);
            assert_ok(tw_plan_run(w.plan, &src.image, &dst.image));
            if (memcmp(dst.image.data, expected, bytes) != 0)
                fail_msg("%s: %s %dx%d c%d, kind %d", w.variant.name, tw_type_name(type), (int)width, (int)height,
                         channels, (int)k);
            assert_true(guards_hold(&dst));
        }
    }
    free(expected);
    free_picture(&src);
    free_picture(&dst);
}

/* Enough pixels for counts of pairs, and for counters of 16 bits to run over. */
static void large_images_are_counted(void **state)
{
    (void)state;
    check_counts(2053, 2049, 1, TW_U8, 0);
    check_counts(700, 300, 1, TW_U16, 10);
    check_counts(700, 300, 1, TW_U16, 8);
}

static void all_channels_are_counted(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        check_counts(301, 67, channels, TW_U8, 5);
        check_counts(5, 3, channels, TW_U8, 0);
        check_counts(301, 167, channels, TW_U16, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_images_are_counted),
        cmocka_unit_test(all_channels_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
