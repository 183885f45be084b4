/* The page of a report: its sections follow what was measured, and it needs nothing but itself. */
#include <stdio.h>
#include <unistd.h>

#include "cli/report.h"
#include "testing.h"
#include "verify/explain.h"

enum { SIZES = 7, VARIANTS = 8 };

static char folder[] = "/tmp/tilewise-report-XXXXXX";

static twi_spread around(double value, double unrest)
{
    const twi_spread spread = {value, value * (1 - unrest), value * (1 + 2 * unrest), 9};
    return spread;
}

/* A row whose launch takes `latency` and then the image at that many bytes a millisecond. */
static void measured(twi_bench_row *row, const char *name, double bytes, double latency, double rate)
{
    row->name = name;
    row->launches = 100;
    row->kernel = around(latency + bytes / rate, 0.03);
    row->gigabytes = bytes / row->kernel.median / 1e6;
}

/* One size; on CUDA with round trips. The last row is one that was not timed. */
static twi_bench_result result_of(int64_t side, bool cuda)
{
    static const char *const names[] = {"direct", "tiled", "texture", "separable", "registers", "tensor", "running"};
    const double bytes = 2.0 * (double)side * (double)side;
    twi_bench_result result = {.count = VARIANTS, .pitch = side, .dst_pitch = side, .pairs = 3, .beyond_caches = true};
    result.problem = (tw_problem){
        .op = TW_OP_BOX, .channels = 1, .width = side, .height = side, .window = tw_window_centred(3, 3), .divisor = 1};
    result.rows = calloc(VARIANTS, sizeof *result.rows);
    assert_non_null(result.rows);
    measured(&result.copy, "copy", bytes, 0.0018, 4.2e9);
    for (int i = 0; i < VARIANTS - 1; i++) {
        twi_bench_row *row = &result.rows[i];
        measured(row, names[i], bytes, 0.002 + 0.0004 * i, 5e8 * (1 + i));
        row->share = around(result.copy.kernel.median / row->kernel.median, 0.02);
        if (cuda)
            row->roundtrip = around(0.05 + bytes / 8e7, 0.1);
    }
    result.rows[VARIANTS - 1].name = "reference";
    (void)snprintf(result.rows[VARIANTS - 1].why, sizeof result.rows[0].why, "a <reason> & another");
    if (cuda) {
        result.upload = around(0.02 + bytes / 1e8, 0.1);
        result.download = around(0.02 + bytes / 1.1e8, 0.1);
    }
    return result;
}

/* The page, which the caller frees; without a page the test is skipped, as gnuplot is not there. */
static char *page_of(const char *operation, bool cuda, size_t count)
{
    const tw_device_info device = {"A <device> & more", "of some kind"};
    const char *const operands[] = {operation, NULL};
    const twi_args args = {.operands = operands, .report = folder, .threads = 2};
    twi_bench_result results[SIZES];
    char path[4096];
    char *page = NULL;
    size_t size = 0;
    if (twi_plot_ready() != TWI_EXIT_DONE)
        skip();
    for (size_t i = 0; i < count; i++)
        results[i] = result_of(INT64_C(256) << i, cuda);
    const twi_bench_report report = {&args, &device, cuda, results, count};
    assert_int_equal(twi_report_path(&args, cuda, path, sizeof path), TWI_EXIT_DONE);
    assert_int_equal(twi_report_write(&report, path), TWI_EXIT_DONE);
    assert_int_equal(twi_io_read_bytes(path, 1 << 22, &page, &size), TWI_IO_OK);
    assert_int_equal(strlen(page), size);
    assert_int_equal(remove(path), 0);
    for (size_t i = 0; i < count; i++)
        twi_bench_free(&results[i]);
    return page;
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

/* Maps of banks on a page of CUDA: of the tile, in builds that have it. */
static int maps(void)
{
    size_t index;
    return twi_find_explained(TW_OP_BOX, "tiled", &index) ? 1 : 0;
}

static void a_page_is_sound(const char *page, int plots, int others)
{
    assert_int_equal(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
    assert_string_equal(page + strlen(page) - 8, "</html>\n");
    assert_int_equal(count_of(page, "<svg"), plots + others);
    assert_int_equal(count_of(page, "</svg>"), plots + others);
    assert_int_equal(count_of(page, "<defs>"), 1);
    assert_int_equal(count_of(page, "<section>"), count_of(page, "</section>"));
    assert_int_equal(count_of(page, "<?xml"), 0);
    /* nothing is fetched: no address but those that name SVG's vocabulary, no file, no script */
    assert_int_equal(count_of(page, "http"), 2 * plots + others);
    assert_int_equal(count_of(page, "http://www.w3.org/"), 2 * plots + others);
    assert_int_equal(count_of(page, " src="), 0);
    assert_int_equal(count_of(page, "<link"), 0);
    assert_int_equal(count_of(page, "<script"), 0);
    assert_non_null(strstr(page, "A &lt;device> &amp; more"));
    assert_non_null(strstr(page, "a &lt;reason> &amp; another"));
    assert_null(strstr(page, "nan"));
}

static void a_page_of_cuda_has_every_section(void **state)
{
    char *page = page_of("box", true, SIZES);
    (void)state;
    a_page_is_sound(page, 4, maps());
    assert_int_equal(strstr(page, "Banks of shared memory") != NULL, maps());
    assert_non_null(strstr(page, "Kernel and round trip"));
    assert_non_null(strstr(page, "Direct and tiled"));
    assert_non_null(strstr(page, "16384x16384"));
    free(page);
}

static void a_page_of_the_cpu_has_no_round_trip(void **state)
{
    char *page = page_of("box", false, SIZES);
    (void)state;
    a_page_is_sound(page, 3, 0);
    assert_null(strstr(page, "Kernel and round trip"));
    free(page);
}

static void one_size_is_enough(void **state)
{
    char *page = page_of("box", true, 1);
    (void)state;
    a_page_is_sound(page, 4, maps());
    free(page);
}

static void a_part_of_a_command_has_its_summary(void **state)
{
    char *page = page_of("histogram", false, 1);
    (void)state;
    assert_non_null(strstr(page, "bench histogram"));
    assert_non_null(strstr(page, twi_commands[TWI_STATS].summary));
    free(page);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

/* Nothing else may be left in it. */
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_cuda_has_every_section),
        cmocka_unit_test(a_page_of_the_cpu_has_no_round_trip),
        cmocka_unit_test(one_size_is_enough),
        cmocka_unit_test(a_part_of_a_command_has_its_summary),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
