/* `tilewise bench`: the table, the JSON and the report of a bench. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/recipe.h"
#include "cli/report.h"
#include "cli/wisdom.h"

/* ---- Text ---------------------------------------------------------------------------------------- */

static void print_spread(const twi_spread *spread)
{
    if (spread->count == 0)
        printf("  %9s %9s %9s", "-", "-", "-");
    else
        printf("  %9.5g %9.5g %9.5g", spread->median, spread->smallest, spread->largest);
}

static void print_row(const twi_bench_row *row, bool cuda)
{
    printf("%-14s", row->name);
    if (row->why[0] != '\0') {
        printf("  not timed: %s\n", row->why);
        return;
    }
    print_spread(&row->kernel);
    printf("  %8.4g", row->gigabytes);
    if (row->share.count > 0)
        printf("  %5.3f %5.3f %5.3f", row->share.median, row->share.smallest, row->share.largest);
    else if (cuda)
        printf("  %17s", "");
    if (cuda)
        print_spread(&row->roundtrip);
    putchar('\n');
}

const twi_bench_row *twi_bench_fastest(const twi_bench_result *result, const twi_bench_row *but)
{
    const twi_bench_row *best = NULL;
    for (size_t i = 0; i < result->count; i++) {
        const twi_bench_row *row = &result->rows[i];
        if (row != but && row->kernel.count > 0 && (!best || row->kernel.median < best->kernel.median))
            best = row;
    }
    return best;
}

static void print_winner(const twi_bench_result *result, FILE *out)
{
    const twi_bench_row *first = twi_bench_fastest(result, NULL);
    const twi_bench_row *second = first ? twi_bench_fastest(result, first) : NULL;
    if (!second)
        return;
    if (first->kernel.largest < second->kernel.smallest)
        (void)fprintf(out, "Fastest kernel: %s, in %.2f of the time of %s, the next.\n", first->name,
                      first->kernel.median / second->kernel.median, second->name);
    else
        (void)fprintf(out, "No fastest kernel: the times of %s and %s overlap.\n", first->name, second->name);
}

void twi_bench_notes(const twi_args *args, const twi_bench_result *result, bool cuda, FILE *out)
{
    const double pair = (double)result->pair_bytes / (1 << 20);
    (void)fprintf(
        out,
        "kernel ms: a launch's share of %d in a row%s, after %d warm-ups; median, least and most of %d such figures. "
        "Clock: %s. It includes %s; it leaves out transfers, planning, allocation and files.\n",
        (int)TWI_BENCH_LAUNCHES, args->graph ? ", as CUDA graphs of 10" : " (fewer where one takes more than 20 ms)",
        (int)TWI_BENCH_WARM_UPS, result->copy.kernel.count, cuda ? "the device's events" : "the host's",
        cuda ? "what lies between launches" : "starting the threads");
    (void)fprintf(out, "Images: %zu of src and dst in turn, %spitch %" PRId64 " bytes, %.4g MiB together: %s.\n",
                  result->pairs, args->flat ? "of one value, " : "", result->pitch, pair * (double)result->pairs,
                  !result->beyond_caches ? "caches may serve some of them" : "more than the caches hold");
    (void)fputs("GB/s: bytes of the image read once and written once, over the median.\n"
                "share: the time of a plain copy of as many bytes over the variant's, from figures taken in turn.\n",
                out);
    if (cuda)
        (void)fprintf(
            out,
            "round trip ms: host clock around a call on host images (%s memory): upload, kernel, download, %d times; "
            "it leaves out planning and files.\n"
            "Transfers alone, ms: upload %.5g (%.5g to %.5g), download %.5g (%.5g to %.5g).\n",
            args->pinned ? "pinned" : "ordinary", (int)TWI_BENCH_ROUND_TRIPS, result->upload.median,
            result->upload.smallest, result->upload.largest, result->download.median, result->download.smallest,
            result->download.largest);
    print_winner(result, out);
}

static void print_table(const tw_device_info *device, const twi_bench_result *result, bool cuda)
{
    char text[320];
    (void)tw_problem_text(&result->problem, text, sizeof text);
    printf("%s\n%s, %s\n\n%-14s  %9s %9s %9s  %8s  %17s%s\n", text, device->name, device->detail, "variant",
           "kernel ms", "least", "most", "GB/s", "share least  most", cuda ? "  round trip     least      most" : "");
    print_row(&result->copy, cuda);
    for (size_t i = 0; i < result->count; i++)
        print_row(&result->rows[i], cuda);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static json_t *json_spread(const twi_spread *spread)
{
    if (spread->count == 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:i}", "median", spread->median, "min", spread->smallest, "max", spread->largest,
                     "samples", spread->count);
}

static json_t *json_row(const twi_bench_row *row)
{
    if (row->why[0] != '\0')
        return json_pack("{s:s, s:b, s:s}", "name", row->name, "timed", 0, "reason", row->why);
    return json_pack("{s:s, s:b, s:i, s:o, s:f, s:o, s:o}", "name", row->name, "timed", 1, "launches", row->launches,
                     "kernel_ms", json_spread(&row->kernel), "gbps", row->gigabytes, "share_of_copy",
                     json_spread(&row->share), "roundtrip_ms", json_spread(&row->roundtrip));
}

static json_t *json_result(const twi_args *args, const tw_device_info *device, const twi_bench_result *result)
{
    char text[320];
    json_t *rows = json_array();
    (void)tw_problem_text(&result->problem, text, sizeof text);
    for (size_t i = 0; i < result->count; i++)
        (void)json_array_append_new(rows, json_row(&result->rows[i]));
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:i, s:{s:s, s:s}, s:I, s:b, s:b, s:b, s:i, s:o, s:o, s:o, s:o}",
        "schema", "tilewise.bench/1", "version", tw_version(), "problem", text, "width",
        (json_int_t)result->problem.width, "height", (json_int_t)result->problem.height, "pitch",
        (json_int_t)result->pitch, "dtype", tw_type_name(result->problem.type), "out_dtype",
        tw_type_name(result->problem.out_type), "channels", (int)result->problem.channels, "device", "name",
        device->name, "detail", device->detail, "pairs", (json_int_t)result->pairs, "graph", (int)args->graph, "pinned",
        (int)args->pinned, "flat", (int)args->flat, "warm_ups", (int)TWI_BENCH_WARM_UPS, "copy",
        json_row(&result->copy), "variants", rows, "upload_ms", json_spread(&result->upload), "download_ms",
        json_spread(&result->download));
}

/* ---- The command --------------------------------------------------------------------------------- */

/* What the rows say as an exit code: a variant that differs is a negative answer, one that was asked for by
   name and cannot do the problem a mistake. */
static twi_exit judge(const twi_args *args, const twi_bench_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].wrong)
            return twi_complain(TWI_EXIT_NO, "%s is not timed: %s", result->rows[i].name, result->rows[i].why);
    for (size_t i = 0; i < result->count; i++)
        if (args->variant && result->rows[i].why[0] != '\0')
            return twi_complain(TWI_EXIT_USAGE, "--variant %s: %s", result->rows[i].name, result->rows[i].why);
    return TWI_EXIT_DONE;
}

/* One size, as text or JSON. */
static twi_exit bench_once(const twi_args *args, tw_context *context, const tw_device_info *device,
                           const twi_bench_request *request)
{
    const bool cuda = tw_context_backend(context) == TW_CUDA;
    twi_bench_result result;
    const tw_status status = twi_bench(context, request, &result);
    twi_exit code = status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
    if (code == TWI_EXIT_DONE && args->json) {
        code = twi_print_json(json_result(args, device, &result));
    } else if (code == TWI_EXIT_DONE) {
        print_table(device, &result, cuda);
        putchar('\n');
        twi_bench_notes(args, &result, cuda, stdout);
    }
    if (code == TWI_EXIT_DONE)
        code = judge(args, &result);
    twi_bench_free(&result);
    return code;
}

/* Sizes that double up to the one that is asked for, from one whose longer side has 256 pixels or a little more. */
static size_t count_sizes(const tw_problem *problem)
{
    enum { LEAST = 256 };
    size_t count = 1;
    while (count < TWI_MOST_SIZES && (problem->width >> count >= LEAST || problem->height >> count >= LEAST) &&
           problem->width >> count > 0 && problem->height >> count > 0)
        count++;
    return count;
}

/* All sizes, the smallest first; a table each, when it is done. */
static twi_exit bench_sizes(const twi_args *args, tw_context *context, const twi_bench_request *request,
                            const twi_bench_report *report, twi_bench_result *results)
{
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (size_t i = 0; i < report->count; i++) {
        twi_bench_request one = *request;
        one.problem.width >>= report->count - 1 - i;
        one.problem.height >>= report->count - 1 - i;
        const tw_status status = twi_bench(context, &one, &results[i]);
        if (status != TW_OK)
            return twi_complain_status(status);
        print_table(report->device, &results[i], report->cuda);
        putchar('\n');
    }
    twi_bench_notes(args, &results[report->count - 1], report->cuda, stdout);
    return TWI_EXIT_DONE;
}

static twi_exit bench_report(const twi_args *args, tw_context *context, const tw_device_info *device,
                             const twi_bench_request *request)
{
    twi_bench_result results[TWI_MOST_SIZES] = {0};
    char path[TWI_MOST_PATH];
    const twi_bench_report report = {
        .args = args,
        .device = device,
        .cuda = tw_context_backend(context) == TW_CUDA,
        .results = results,
        .count = count_sizes(&request->problem),
    };
    /* what can fail early does so before minutes of measuring */
    twi_exit code = twi_plot_ready();
    if (code == TWI_EXIT_DONE)
        code = twi_report_path(args, report.cuda, path, sizeof path);
    if (code == TWI_EXIT_DONE)
        code = bench_sizes(args, context, request, &report, results);
    if (code == TWI_EXIT_DONE)
        code = twi_report_write(&report, path);
    if (code == TWI_EXIT_DONE)
        printf("Report: %s\n", path);
    for (size_t i = 0; i < report.count; i++) {
        if (code == TWI_EXIT_DONE)
            code = judge(args, &results[i]);
        twi_bench_free(&results[i]);
    }
    return code;
}

static twi_exit bench(const twi_args *args, tw_context *context, const twi_bench_request *request)
{
    const tw_backend backend = tw_context_backend(context);
    tw_device_info device;
    if (backend != TW_CUDA && (args->graph || args->pinned))
        return twi_complain(TWI_EXIT_USAGE, "--%s is for cuda, and this would run on the cpu: leave it out",
                            args->graph ? "graph" : "pinned");
    if (args->report && (args->json || args->pitch > 0))
        return twi_complain(TWI_EXIT_USAGE, "--report %s: leave --%s out", args->report,
                            args->json ? "json" : "pitch BYTES");
    const tw_status status = tw_device_describe(backend, args->device, &device);
    if (status != TW_OK)
        return twi_complain_status(status);
    return args->report ? bench_report(args, context, &device, request) : bench_once(args, context, &device, request);
}

twi_exit twi_command_bench(const twi_args *args)
{
    tw_context *context = NULL;
    twi_recipe recipe;
    twi_bench_request request = {
        .variants = args->variant,
        .pitch = args->pitch,
        .odd_pitch = args->odd_pitch,
        .block_width = args->block_width,
        .block_height = args->block_height,
        .graph = args->graph,
        .pinned = args->pinned,
        .flat = args->flat,
    };
    twi_exit code = twi_describe_problem(args, &recipe, &request.problem);
    if (code == TWI_EXIT_DONE)
        code = twi_open_context(args, request.problem.op, args->threads, 0, NULL, NULL, &context);
    if (code == TWI_EXIT_DONE)
        code = bench(args, context, &request);
    tw_context_destroy(context);
    twi_recipe_free(&recipe);
    return code;
}
