/* `tilewise stats`: figures of an image, its rows or its columns, and how often each value occurs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch.h"
#include "cli/jobs.h"
#include "cli/stats.h"

/* ---- Stages -------------------------------------------------------------------------------------- */

tw_axis twi_stats_axis(const twi_args *args)
{
    return args->lines == TW_AXIS_COUNT ? TW_AXIS_ALL : args->lines;
}

twi_exit twi_stats_read(twi_stats *s)
{
    return twi_read_input(s->args, s->from, s->sharers, &s->input, &s->src);
}

/* Memory for an image without gaps. */
static twi_exit make_image(int64_t width, int64_t height, int32_t channels, tw_type type, tw_image *image)
{
    const size_t row = (size_t)width * (size_t)channels * tw_type_size(type);
    *image = (tw_image){calloc((size_t)height, row), width, height, (int64_t)row, channels, type, TW_HOST};
    return image->data ? TWI_EXIT_DONE : twi_complain(TWI_EXIT_MEMORY, "out of memory: the results");
}

twi_exit twi_stats_prepare(twi_stats *s)
{
    const tw_axis axis = twi_stats_axis(s->args);
    const int64_t values = s->src.type == TW_U8 ? 256 : 65536;
    if (s->args->histogram && s->src.type != TW_U8 && s->src.type != TW_U16)
        return twi_complain(TWI_EXIT_USAGE, "--histogram counts the values of u8 and u16 images: this one is %s",
                            tw_type_name(s->src.type));
    const twi_exit result = make_image(axis == TW_AXIS_Y ? s->src.width : 1, axis == TW_AXIS_X ? s->src.height : 1,
                                       s->src.channels, TW_STATS, &s->records);
    return result == TWI_EXIT_DONE && s->args->histogram ? make_image(values, 1, s->src.channels, TW_U64, &s->counts)
                                                         : result;
}

static tw_status reduce(twi_stats *s, twi_engine *engine)
{
    const tw_reduce_params params = {.axis = twi_stats_axis(s->args), .figures = s->args->figures};
    tw_problem problem;
    const tw_status status = tw_reduce_problem(&s->src, &s->records, &params, &problem);
    return status == TW_OK ? twi_engine_run(engine, &problem, &s->src, &s->records, 1) : status;
}

twi_exit twi_stats_compute(twi_stats *s, twi_engine *engine)
{
    const twi_exit result = twi_stats_prepare(s);
    if (result != TWI_EXIT_DONE)
        return result;
    tw_status status = reduce(s, engine);
    if (status == TW_OK && s->args->histogram)
        status = tw_histogram(engine->context, &s->src, &s->counts);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

void twi_stats_free(twi_stats *s)
{
    free(s->records.data);
    free(s->counts.data);
    s->records.data = NULL;
    s->counts.data = NULL;
    twi_io_free(&s->input);
}

/* ---- Figures as text and as JSON ------------------------------------------------------------------- */

static bool is_float(const twi_stats *s)
{
    return s->src.type == TW_F32 || s->src.type == TW_F64;
}

static const tw_stats *record_of(const twi_stats *s, int64_t line, int32_t channel)
{
    return (const tw_stats *)s->records.data + line * s->src.channels + channel;
}

/* A sum of integers in decimal digits. */
static void exact_text(const tw_stats *record, char *text, size_t size)
{
    __extension__ typedef unsigned __int128 wide;
    const bool negative = record->sum_high < 0;
    wide left = (wide)(uint64_t)record->sum_high << 64 | record->sum_low;
    char digits[48];
    size_t count = 0;
    if (negative)
        left = ~left + 1;
    do {
        digits[count++] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left > 0);
    if (negative)
        digits[count++] = '-';
    for (size_t i = 0; i < count && i + 1 < size; i++)
        text[i] = digits[count - 1 - i];
    text[count < size ? count : size - 1] = '\0';
}

static json_t *json_number(double value)
{
    if (value - value == 0)
        return json_real(value);
    return json_string(value > 0 ? "Infinity" : value < 0 ? "-Infinity" : "NaN");
}

/* Numbers of 64 bits as numbers, larger sums as their digits. */
static json_t *json_sum(const twi_stats *s, const tw_stats *record)
{
    char digits[48];
    if (is_float(s))
        return json_number(record->sum);
    if (record->sum_high == ((int64_t)record->sum_low < 0 ? -1 : 0))
        return json_integer((json_int_t)record->sum_low);
    exact_text(record, digits, sizeof digits);
    return json_string(digits);
}

static json_t *json_extreme(const twi_stats *s, double value)
{
    return is_float(s) ? json_number(value) : json_integer((json_int_t)value);
}

static json_t *json_figure(const twi_stats *s, unsigned figure, const tw_stats *record)
{
    switch (figure) {
    case TW_FIGURE_SUM:
        return json_sum(s, record);
    case TW_FIGURE_MEAN:
        return json_number(record->mean);
    case TW_FIGURE_VAR:
        return json_number(record->var);
    case TW_FIGURE_STD:
        return json_number(record->std);
    case TW_FIGURE_MIN:
        return json_extreme(s, record->min);
    case TW_FIGURE_MAX:
        return json_extreme(s, record->max);
    case TW_FIGURE_ARGMIN:
        return json_pack("[I, I]", (json_int_t)record->argmin_x, (json_int_t)record->argmin_y);
    case TW_FIGURE_ARGMAX:
        return json_pack("[I, I]", (json_int_t)record->argmax_x, (json_int_t)record->argmax_y);
    default:
        return json_integer((json_int_t)record->count_nonzero);
    }
}

/* Words without their quotes. */
static void print_figure(const twi_stats *s, unsigned figure, const tw_stats *record, FILE *out)
{
    json_t *value = json_figure(s, figure, record);
    if (json_is_string(value))
        (void)fputs(json_string_value(value), out);
    else
        (void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(value);
}

/* ---- Output ---------------------------------------------------------------------------------------- */

static int64_t line_count(const twi_stats *s)
{
    return s->records.width * s->records.height;
}

static json_t *json_channel(const twi_stats *s, int32_t channel)
{
    json_t *object = json_object();
    for (int i = 0; twi_figure_name(i); i++) {
        const unsigned figure = 1u << i;
        json_t *list = twi_stats_axis(s->args) == TW_AXIS_ALL ? NULL : json_array();
        if (!(s->args->figures & figure)) {
            json_decref(list);
            continue;
        }
        for (int64_t line = 0; list && line < line_count(s); line++)
            (void)json_array_append_new(list, json_figure(s, figure, record_of(s, line, channel)));
        (void)json_object_set_new(object, twi_figure_name(i),
                                  list ? list : json_figure(s, figure, record_of(s, 0, channel)));
    }
    if (s->counts.data) {
        json_t *counts = json_array();
        for (int64_t value = 0; value < s->counts.width; value++)
            (void)json_array_append_new(
                counts,
                json_integer((json_int_t)((const uint64_t *)s->counts.data)[value * s->src.channels + channel]));
        (void)json_object_set_new(object, "histogram", counts);
    }
    return object;
}

json_t *twi_stats_json(const twi_stats *s)
{
    json_t *channels = json_array();
    for (int32_t channel = 0; channel < s->src.channels; channel++)
        (void)json_array_append_new(channels, json_channel(s, channel));
    return json_pack("{s:s, s:I, s:I, s:s, s:o}", "schema", "tilewise.stats/1", "width", (json_int_t)s->src.width,
                     "height", (json_int_t)s->src.height, "dtype", tw_type_name(s->src.type), "channels", channels);
}

/* A line a record and channel, below the names of its columns. */
static void print_lines(const twi_stats *s, FILE *out)
{
    const tw_axis lines = twi_stats_axis(s->args);
    (void)fprintf(out, "%s%schannel",
                  lines == TW_AXIS_ALL ? ""
                  : lines == TW_AXIS_X ? "row"
                                       : "column",
                  lines == TW_AXIS_ALL ? "" : "\t");
    for (int i = 0; twi_figure_name(i); i++)
        if (s->args->figures & 1u << i)
            (void)fprintf(out, "\t%s", twi_figure_name(i));
    (void)putc('\n', out);
    for (int64_t line = 0; line < line_count(s); line++) {
        for (int32_t channel = 0; channel < s->src.channels; channel++) {
            if (lines != TW_AXIS_ALL)
                (void)fprintf(out, "%" PRId64 "\t", line);
            (void)fprintf(out, "%d", (int)channel);
            for (int i = 0; twi_figure_name(i); i++) {
                if (!(s->args->figures & 1u << i))
                    continue;
                (void)putc('\t', out);
                print_figure(s, 1u << i, record_of(s, line, channel), out);
            }
            (void)putc('\n', out);
        }
    }
}

static void print_counts(const twi_stats *s, FILE *out)
{
    const uint64_t *counts = s->counts.data;
    (void)fprintf(out, "\nvalue");
    for (int32_t channel = 0; channel < s->src.channels; channel++)
        (void)fprintf(out, "\tcount %d", (int)channel);
    (void)putc('\n', out);
    for (int64_t value = 0; value < s->counts.width; value++) {
        (void)fprintf(out, "%" PRId64, value);
        for (int32_t channel = 0; channel < s->src.channels; channel++)
            (void)fprintf(out, "\t%" PRIu64, counts[value * s->src.channels + channel]);
        (void)putc('\n', out);
    }
}

void twi_stats_print(const twi_stats *s, FILE *out)
{
    print_lines(s, out);
    if (s->counts.data)
        print_counts(s, out);
}

/* ---- A single file --------------------------------------------------------------------------------- */

static twi_exit work(twi_stats *s)
{
    const twi_exit result = twi_stats_find(s);
    if (result != TWI_EXIT_DONE)
        return result;
    if (s->args->json)
        return twi_print_json_exact(twi_stats_json(s));
    twi_stats_print(s, stdout);
    return TWI_EXIT_DONE;
}

twi_exit twi_command_stats(const twi_args *args)
{
    if (twi_jobs_asked(args))
        return twi_batch(args);
    twi_stats s = {.args = args, .from = args->operands[0], .sharers = 1};
    const twi_exit result = work(&s);
    twi_stats_free(&s);
    return result;
}
