/* The page of `tilewise bench --report`: one file of HTML, made of sections, that needs nothing else. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/banks.h"
#include "cli/recipe.h"
#include "cli/report.h"
#include "cli/wisdom.h"

static const char head[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1c2128; --soft: #57606a; --paper: #ffffff; --line: #d0d7de; "
    "--shade: #f6f8fa }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #dde3ea; --soft: #9aa4b0; --paper: #14181d; "
    "--line: #39424c; --shade: #1d232a } }\n"
    "body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; "
    "color: var(--ink); background: var(--paper) }\n"
    "h1 { font-size: 1.6rem; margin-bottom: 0 } h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem } "
    "h3 { font-size: 1rem; margin: 1.5rem 0 0.5rem }\n"
    "p { margin: 0.5rem 0 } .soft { color: var(--soft) } code { font-size: 0.95em }\n"
    ".wide { overflow-x: auto }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums }\n"
    "th, td { padding: 0.25rem 0.75rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap "
    "}\n"
    "th { font-weight: 600; background: var(--shade) } th:first-child, td:first-child, td.text { text-align: left }\n"
    "dl { display: grid; grid-template-columns: max-content auto; gap: 0.2rem 1.5rem; margin: 1rem 0 }\n"
    "dt { color: var(--soft) } dd { margin: 0 }\n"
    "svg { width: 100%; height: auto } svg [fill=black] { fill: var(--ink) } svg [stroke=black] { stroke: var(--ink) } "
    "svg [color=black] { color: var(--ink) } "
    "svg [color=gray] { color: var(--line) }\n"
    "</style>\n";

/* ---- Text ---------------------------------------------------------------------------------------- */

static void put_text(const char *text, FILE *page)
{
    for (; *text; text++) {
        if (*text == '<')
            (void)fputs("&lt;", page);
        else if (*text == '&')
            (void)fputs("&amp;", page);
        else
            (void)fputc(*text, page);
    }
}

static void put_fact(const char *name, const char *value, FILE *page)
{
    (void)fprintf(page, "<dt>%s</dt><dd>", name);
    put_text(value, page);
    (void)fputs("</dd>\n", page);
}

static const twi_bench_result *largest(const twi_bench_report *report)
{
    return &report->results[report->count - 1];
}

static const char *operation(const twi_bench_report *report)
{
    return report->args->operands[0];
}

/* The machine, the problem, and how it was asked for. */
static void put_facts(const twi_bench_report *report, FILE *page)
{
    const twi_args *args = report->args;
    const twi_bench_result *result = largest(report);
    char text[512];
    const time_t now = time(NULL);
    struct tm day;
    (void)fputs("<dl>\n", page);
    (void)snprintf(text, sizeof text, "%s, %s", report->device->name, report->device->detail);
    put_fact("Device", text, page);
    if (!report->cuda && args->threads > 0) {
        (void)snprintf(text, sizeof text, "%d", args->threads);
        put_fact("Threads", text, page);
    }
    (void)snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 " to %" PRId64 "x%" PRId64 ", %s, %d channel%s",
                   report->results[0].problem.width, report->results[0].problem.height, result->problem.width,
                   result->problem.height, tw_type_name(result->problem.type), (int)result->problem.channels,
                   result->problem.channels == 1 ? "" : "s");
    put_fact("Images", text, page);
    (void)tw_problem_text(&result->problem, text, sizeof text);
    put_fact("Largest problem", text, page);
    (void)snprintf(text, sizeof text, "%s%s%s", args->odd_pitch ? "odd" : "a multiple of 256 bytes",
                   args->graph ? "; launched as CUDA graphs" : "", args->pinned ? "; pinned host memory" : "");
    put_fact("Pitch", text, page);
    if (args->block_width > 0) {
        (void)snprintf(text, sizeof text, "%dx%d threads, for variants that have a choice", (int)args->block_width,
                       (int)args->block_height);
        put_fact("Blocks", text, page);
    }
    put_fact("Library", tw_version(), page);
    if (gmtime_r(&now, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day) > 0)
        put_fact("Date", text, page);
    (void)fputs("</dl>\n", page);
}

/* ---- Tables -------------------------------------------------------------------------------------- */

static void put_spread(const twi_spread *spread, const char *format, FILE *page)
{
    char low[32];
    char middle[32];
    char high[32];
    (void)snprintf(middle, sizeof middle, format, spread->median);
    (void)snprintf(low, sizeof low, format, spread->smallest);
    (void)snprintf(high, sizeof high, format, spread->largest);
    if (spread->count == 0)
        (void)fputs("<td></td>", page);
    else
        (void)fprintf(page, "<td>%s <span class=\"soft\">(%s to %s)</span></td>", middle, low, high);
}

static void put_row(const twi_bench_report *report, const twi_bench_row *row, FILE *page)
{
    (void)fprintf(page, "<tr><td>%s</td>", row->name);
    if (row->why[0] != '\0') {
        (void)fprintf(page, "<td class=\"text soft\" colspan=\"%d\">not timed: ", report->cuda ? 4 : 3);
        put_text(row->why, page);
        (void)fputs("</td></tr>\n", page);
        return;
    }
    put_spread(&row->kernel, "%.4g", page);
    (void)fprintf(page, "<td>%.4g</td>", row->gigabytes);
    put_spread(&row->share, "%.3f", page);
    if (report->cuda)
        put_spread(&row->roundtrip, "%.4g", page);
    (void)fputs("</tr>\n", page);
}

static void put_table(const twi_bench_report *report, const twi_bench_result *result, FILE *page)
{
    (void)fprintf(page,
                  "<div class=\"wide\"><table>\n<tr><th>variant</th><th>ms</th><th>GB/s</th>"
                  "<th>share of copy</th>%s</tr>\n",
                  report->cuda ? "<th>round trip, ms</th>" : "");
    put_row(report, &result->copy, page);
    for (size_t i = 0; i < result->count; i++)
        put_row(report, &result->rows[i], page);
    (void)fputs("</table></div>\n", page);
}

/* ---- Plots --------------------------------------------------------------------------------------- */

/* What a plot shows of a row. */
typedef twi_spread figure_of(const twi_bench_row *row);

static twi_spread share_of(const twi_bench_row *row)
{
    return row->share;
}

static twi_spread kernel_of(const twi_bench_row *row)
{
    return row->kernel;
}

static twi_spread roundtrip_of(const twi_bench_row *row)
{
    return row->roundtrip;
}

/* The gigabytes of a launch are in the median figure; the spread's ends are those of its time. */
static twi_spread bandwidth_of(const twi_bench_row *row)
{
    twi_spread spread = row->kernel;
    if (spread.count > 0) {
        const double bytes = row->gigabytes * row->kernel.median;
        spread.median = row->gigabytes;
        spread.smallest = bytes / row->kernel.largest;
        spread.largest = bytes / row->kernel.smallest;
    }
    return spread;
}

/* The series of row `index` of each size. */
static twi_series series_of(const twi_bench_report *report, size_t index, figure_of *figure)
{
    twi_series series = {.name = largest(report)->rows[index].name, .colour = (int)index};
    for (size_t i = 0; i < report->count; i++)
        series.points[i] = figure(&report->results[i].rows[index]);
    return series;
}

/* What the copy takes; or, for shares, that it is the measure. */
static twi_series copy_series(const twi_bench_report *report, figure_of *figure)
{
    twi_series series = {.name = "plain copy", .dashed = true};
    const twi_spread one = {1, 1, 1, 1};
    for (size_t i = 0; i < report->count; i++)
        series.points[i] = figure == share_of ? one : figure(&report->results[i].copy);
    return series;
}

static bool has_points(const twi_series *series)
{
    int count = 0;
    for (size_t i = 0; i < TWI_MOST_SIZES; i++)
        count += series->points[i].count;
    return count > 0;
}

static twi_exit draw(const twi_bench_report *report, twi_plot plot, bool first, FILE *page)
{
    plot.count = report->count;
    for (size_t i = 0; i < report->count; i++)
        plot.sizes[i] = &report->results[i].problem;
    return twi_plot_draw(&plot, first, page);
}

/* A figure of every variant that was timed at some size, and of the copy. */
static twi_exit draw_all(const twi_bench_report *report, figure_of *figure, twi_plot plot, bool first, FILE *page)
{
    const size_t rows = largest(report)->count;
    twi_series *series = calloc(rows + 1, sizeof *series);
    if (!series)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a plot");
    series[plot.series_count++] = copy_series(report, figure);
    for (size_t i = 0; i < rows; i++) {
        const twi_series one = series_of(report, i, figure);
        if (has_points(&one))
            series[plot.series_count++] = one;
    }
    plot.series = series;
    const twi_exit code = draw(report, plot, first, page);
    free(series);
    return code;
}

/* ---- Sections ------------------------------------------------------------------------------------ */

static twi_exit put_largest(const twi_bench_report *report, FILE *page)
{
    const twi_bench_result *result = largest(report);
    (void)fprintf(page, "<p class=\"soft\">%" PRId64 "x%" PRId64 " pixels: medians, with the least and the most.</p>\n",
                  result->problem.width, result->problem.height);
    put_table(report, result, page);
    return TWI_EXIT_DONE;
}

static twi_exit put_bandwidth(const twi_bench_report *report, FILE *page)
{
    (void)fputs("<p class=\"soft\">Bytes of the image read once and written once, over the time, whatever a variant "
                "really moves. Bars: least and most; they stand a little apart so that "
                "all can be seen.</p>\n",
                page);
    const twi_plot plot = {.name = "bandwidth", .label = "effective bandwidth, GB/s", .logarithmic = true};
    return draw_all(report, bandwidth_of, plot, true, page);
}

static twi_exit put_share(const twi_bench_report *report, FILE *page)
{
    (void)fputs("<p class=\"soft\">The time of a plain copy of as many bytes over the variant's, from figures taken in "
                "turn: at 1, filtering costs no more than reading and writing the pixels.</p>\n",
                page);
    const twi_plot plot = {.name = "share", .label = "share of a plain copy"};
    return draw_all(report, share_of, plot, false, page);
}

static bool has_fastest(const twi_bench_report *report)
{
    return report->cuda && twi_bench_fastest(largest(report), NULL);
}

static twi_exit put_roundtrip(const twi_bench_report *report, FILE *page)
{
    const twi_bench_row *best = twi_bench_fastest(largest(report), NULL);
    const size_t index = (size_t)(best - largest(report)->rows);
    twi_series series[] = {
        series_of(report, index, kernel_of),
        series_of(report, index, roundtrip_of),
        {.name = "upload alone", .colour = 2},
        {.name = "download alone", .colour = 4},
    };
    series[0].name = "kernel";
    series[0].colour = 0;
    series[1].name = "round trip";
    series[1].colour = 1;
    for (size_t i = 0; i < report->count; i++) {
        series[2].points[i] = report->results[i].upload;
        series[3].points[i] = report->results[i].download;
    }
    (void)fprintf(
        page,
        "<p class=\"soft\">Variant <code>%s</code>: the kernel on images that lie on the device, and a call on "
        "images of the host, whose transfers overlap with it. The transfers alone are single copies of an image.</p>\n",
        best->name);
    const twi_plot plot = {.name = "roundtrip",
                           .label = "time, ms",
                           .logarithmic = true,
                           .series = series,
                           .series_count = sizeof series / sizeof series[0]};
    return draw(report, plot, false, page);
}

/* The row of that name that was timed at the largest size, or NULL. */
static const twi_bench_row *row_named(const twi_bench_report *report, const char *name)
{
    const twi_bench_result *result = largest(report);
    for (size_t i = 0; i < result->count; i++)
        if (strcmp(result->rows[i].name, name) == 0 && result->rows[i].kernel.count > 0)
            return &result->rows[i];
    return NULL;
}

static bool has_tiles(const twi_bench_report *report)
{
    return row_named(report, "direct") && row_named(report, "tiled");
}

static twi_exit put_tiles(const twi_bench_report *report, FILE *page)
{
    const twi_bench_result *result = largest(report);
    const twi_bench_row *direct = row_named(report, "direct");
    const twi_bench_row *tiled = row_named(report, "tiled");
    twi_series series[] = {
        series_of(report, (size_t)(direct - result->rows), kernel_of),
        series_of(report, (size_t)(tiled - result->rows), kernel_of),
    };
    for (size_t i = 0; i < report->count; i++) {
        const tw_problem *problem = &report->results[i].problem;
        const double scale = 1e6 / ((double)problem->width * (double)problem->height);
        for (size_t j = 0; j < 2; j++) {
            series[j].points[i].median *= scale;
            series[j].points[i].smallest *= scale;
            series[j].points[i].largest *= scale;
        }
    }
    const bool apart =
        direct->kernel.largest < tiled->kernel.smallest || tiled->kernel.largest < direct->kernel.smallest;
    (void)fputs("<p class=\"soft\"><code>direct</code>: every thread reads its whole neighbourhood from global memory. "
                "<code>tiled</code>: a block brings it into shared memory once.",
                page);
    if (apart)
        (void)fprintf(page,
                      " At %" PRId64 "x%" PRId64 " <code>tiled</code> takes %.2f times as long as "
                      "<code>direct</code>.</p>\n",
                      result->problem.width, result->problem.height, tiled->kernel.median / direct->kernel.median);
    else
        (void)fprintf(page, " At %" PRId64 "x%" PRId64 " their times overlap.</p>\n", result->problem.width,
                      result->problem.height);
    const twi_plot plot = {.name = "tiles",
                           .label = "time for a pixel, ns",
                           .logarithmic = true,
                           .series = series,
                           .series_count = sizeof series / sizeof series[0]};
    return draw(report, plot, false, page);
}

/* What the row's variant does to memory at the largest size; false if it is not described or has no banks to draw. */
static bool explain_banks(const twi_bench_report *report, size_t row, twi_explanation *explanation)
{
    const twi_bench_result *result = largest(report);
    size_t index = 0;
    return report->cuda && result->rows[row].kernel.count > 0 &&
           twi_find_explained(result->problem.op, result->rows[row].name, &index) &&
           twi_explain(index, &result->problem, report->args->block_width, report->args->block_height,
                       report->args->flat, explanation) == TW_OK &&
           twi_banks_any(explanation);
}

static bool has_banks(const twi_bench_report *report)
{
    twi_explanation explanation;
    for (size_t i = 0; i < largest(report)->count; i++)
        if (explain_banks(report, i, &explanation))
            return true;
    return false;
}

static twi_exit put_banks(const twi_bench_report *report, FILE *page)
{
    (void)fputs("<p class=\"soft\">Calculated, not measured: of each access to shared memory the request with the most "
                "conflicts. Columns are the 32 banks, lines the addresses; a cell has the lanes of the warp that ask "
                "for its word. Words of one bank (red) are handed out one after the other.</p>\n",
                page);
    for (size_t i = 0; i < largest(report)->count; i++) {
        twi_explanation explanation;
        if (!explain_banks(report, i, &explanation))
            continue;
        (void)fprintf(page, "<h3>%s</h3>\n", largest(report)->rows[i].name);
        twi_banks_draw(&explanation, page);
    }
    return TWI_EXIT_DONE;
}

static twi_exit put_method(const twi_bench_report *report, FILE *page)
{
    char *notes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&notes, &size);
    if (!out)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a page");
    twi_bench_notes(report->args, largest(report), report->cuda, out);
    if (fclose(out) != 0) {
        free(notes);
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a page");
    }
    (void)fputs("<p>Only variants that agreed with the reference in this run are timed. The figures of the copy and of "
                "all variants are taken in turn. For the largest size:</p>\n",
                page);
    char *rest = notes;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (line[0] == '\0')
            continue;
        (void)fputs("<p>", page);
        put_text(line, page);
        (void)fputs("</p>\n", page);
    }
    free(notes);
    return TWI_EXIT_DONE;
}

static twi_exit put_figures(const twi_bench_report *report, FILE *page)
{
    for (size_t i = 0; i < report->count; i++) {
        const tw_problem *problem = &report->results[i].problem;
        (void)fprintf(page, "<h3>%" PRId64 "x%" PRId64 "%s</h3>\n", problem->width, problem->height,
                      report->results[i].beyond_caches ? "" : " (caches may serve some of the images)");
        put_table(report, &report->results[i], page);
    }
    return TWI_EXIT_DONE;
}

/* The page, in order. A section that does not apply is left out; each writes what is below its title. */
static const struct {
    const char *title;
    bool (*applies)(const twi_bench_report *report); /* NULL: always */
    twi_exit (*put)(const twi_bench_report *report, FILE *page);
} sections[] = {
    {"The largest image", NULL, put_largest},   {"Bandwidth against size", NULL, put_bandwidth},
    {"Share of a plain copy", NULL, put_share}, {"Kernel and round trip", has_fastest, put_roundtrip},
    {"Direct and tiled", has_tiles, put_tiles}, {"Banks of shared memory", has_banks, put_banks},
    {"How it was measured", NULL, put_method},  {"All figures", NULL, put_figures},
};

static twi_exit put_page(const void *subject, FILE *page)
{
    const twi_bench_report *report = subject;
    const char *name = operation(report);
    twi_command_id filter = TWI_BENCH;
    tw_op op = TW_OP_BOX;
    (void)fprintf(page,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>tilewise bench %s"
                  "</title>\n%s</head>\n<body>\n<h1>tilewise bench %s</h1>\n<p class=\"soft\">",
                  name, head, name);
    if (twi_find_filter(name, &filter, &op)) /* a name such as histogram is a part of a command's */
        put_text(twi_commands[filter].summary, page);
    (void)fputs("</p>\n", page);
    put_facts(report, page);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (sections[i].applies && !sections[i].applies(report))
            continue;
        (void)fprintf(page, "<section>\n<h2>%s</h2>\n", sections[i].title);
        const twi_exit code = sections[i].put(report, page);
        if (code != TWI_EXIT_DONE)
            return code;
        (void)fputs("</section>\n", page);
    }
    (void)fputs("</body>\n</html>\n", page);
    return TWI_EXIT_DONE;
}

twi_exit twi_report_path(const twi_args *args, bool cuda, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s/bench-%s-%s.html", args->report, args->operands[0],
                                tw_backend_name(cuda ? TW_CUDA : TW_CPU));
    if (length < 0 || (size_t)length >= size)
        return twi_complain(TWI_EXIT_OUTPUT, "--report: the name of the folder is too long");
    const twi_exit code = twi_make_folders(path);
    if (code == TWI_EXIT_DONE && access(args->report, W_OK | X_OK) != 0)
        return twi_complain(TWI_EXIT_OUTPUT, "--report %s: files cannot be made there: %s", args->report,
                            strerror(errno));
    return code;
}

twi_exit twi_report_write(const twi_bench_report *report, const char *path)
{
    return twi_write_page(path, put_page, report);
}
