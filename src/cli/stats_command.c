/* `tilewise stats`: figures of an image, its rows or its columns, and how often each value occurs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/recipe.h"

/* What the command holds while it works. */
typedef struct stats {
    const twi_args *args;
    tw_axis lines;
    twi_io_image input;
    tw_image src; /* the input, or its --view */
    twi_progress progress;
    tw_context *context;
    tw_image records; /* of type TW_STATS */
    tw_image counts;  /* of the histogram; no data without --histogram */
} stats;

/* ---- Work ---------------------------------------------------------------------------------------- */

/* Memory for an image without gaps. */
static twi_exit make_image(int64_t width, int64_t height, int32_t channels, tw_type type, tw_image *image)
{
    const size_t row = (size_t)width * (size_t)channels * tw_type_size(type);
    *image = (tw_image){calloc((size_t)height, row), width, height, (int64_t)row, channels, type, TW_HOST};
    return image->data ? TWI_EXIT_DONE : twi_complain(TWI_EXIT_MEMORY, "out of memory: the results");
}

static tw_status run(const stats *s, const tw_problem *problem, const tw_image *dst)
{
    const tw_plan_options options = {
        .variant = s->args->variant, .block_width = s->args->block_width, .block_height = s->args->block_height};
    tw_plan *plan = NULL;
    tw_status status = tw_plan_create(s->context, problem, &options, &plan);
    if (status == TW_OK)
        status = tw_plan_run(plan, &s->src, dst);
    tw_plan_destroy(plan);
    return status;
}

static twi_exit reduce(stats *s)
{
    const tw_reduce_params params = {s->lines, s->args->figures};
    const int64_t width = params.axis == TW_AXIS_Y ? s->src.width : 1;
    const int64_t height = params.axis == TW_AXIS_X ? s->src.height : 1;
    tw_problem problem;
    twi_exit result = make_image(width, height, s->src.channels, TW_STATS, &s->records);
    if (result != TWI_EXIT_DONE)
        return result;
    tw_status status = tw_reduce_problem(&s->src, &s->records, &params, &problem);
    if (status != TW_OK)
        return twi_complain_status(status);
    const bool shown = twi_progress_start(s->args, 1, &s->progress);
    result = twi_open_context(s->args, TW_OP_REDUCE, shown ? twi_progress_report : NULL, &s->progress, &s->context);
    if (result != TWI_EXIT_DONE)
        return result;
    status = run(s, &problem, &s->records);
    twi_progress_end();
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static twi_exit count_values(stats *s)
{
    const int64_t values = s->src.type == TW_U8 ? 256 : 65536;
    if (s->src.type != TW_U8 && s->src.type != TW_U16)
        return twi_complain(TWI_EXIT_USAGE, "--histogram counts the values of u8 and u16 images: this one is %s",
                            tw_type_name(s->src.type));
    const twi_exit result = make_image(values, 1, s->src.channels, TW_U64, &s->counts);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_status status = tw_histogram(s->context, &s->src, &s->counts);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

/* ---- Figures as text and as JSON ------------------------------------------------------------------- */

static bool is_float(const stats *s)
{
    return s->src.type == TW_F32 || s->src.type == TW_F64;
}

static const tw_stats *record_of(const stats *s, int64_t line, int32_t channel)
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
static json_t *json_sum(const stats *s, const tw_stats *record)
{
    char digits[48];
    if (is_float(s))
        return json_number(record->sum);
    if (record->sum_high == ((int64_t)record->sum_low < 0 ? -1 : 0))
        return json_integer((json_int_t)record->sum_low);
    exact_text(record, digits, sizeof digits);
    return json_string(digits);
}

static json_t *json_extreme(const stats *s, double value)
{
    return is_float(s) ? json_number(value) : json_integer((json_int_t)value);
}

static json_t *json_figure(const stats *s, unsigned figure, const tw_stats *record)
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
static void print_figure(const stats *s, unsigned figure, const tw_stats *record)
{
    json_t *value = json_figure(s, figure, record);
    if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        (void)json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(value);
}

/* ---- Output ---------------------------------------------------------------------------------------- */

static int64_t line_count(const stats *s)
{
    return s->records.width * s->records.height;
}

static json_t *json_channel(const stats *s, int32_t channel)
{
    json_t *object = json_object();
    for (int i = 0; twi_figure_name(i); i++) {
        const unsigned figure = 1u << i;
        json_t *list = s->lines == TW_AXIS_ALL ? NULL : json_array();
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

static twi_exit print_json(const stats *s)
{
    json_t *channels = json_array();
    for (int32_t channel = 0; channel < s->src.channels; channel++)
        (void)json_array_append_new(channels, json_channel(s, channel));
    return twi_print_json_exact(json_pack("{s:s, s:I, s:I, s:s, s:o}", "schema", "tilewise.stats/1", "width",
                                          (json_int_t)s->src.width, "height", (json_int_t)s->src.height, "dtype",
                                          tw_type_name(s->src.type), "channels", channels));
}

/* A line a record and channel, below the names of its columns. */
static void print_lines(const stats *s)
{
    const tw_axis lines = s->lines;
    printf("%s%schannel",
           lines == TW_AXIS_ALL ? ""
           : lines == TW_AXIS_X ? "row"
                                : "column",
           lines == TW_AXIS_ALL ? "" : "\t");
    for (int i = 0; twi_figure_name(i); i++)
        if (s->args->figures & 1u << i)
            printf("\t%s", twi_figure_name(i));
    putchar('\n');
    for (int64_t line = 0; line < line_count(s); line++) {
        for (int32_t channel = 0; channel < s->src.channels; channel++) {
            if (lines != TW_AXIS_ALL)
                printf("%" PRId64 "\t", line);
            printf("%d", (int)channel);
            for (int i = 0; twi_figure_name(i); i++) {
                if (!(s->args->figures & 1u << i))
                    continue;
                putchar('\t');
                print_figure(s, 1u << i, record_of(s, line, channel));
            }
            putchar('\n');
        }
    }
}

static void print_counts(const stats *s)
{
    const uint64_t *counts = s->counts.data;
    printf("\nvalue");
    for (int32_t channel = 0; channel < s->src.channels; channel++)
        printf("\tcount %d", (int)channel);
    putchar('\n');
    for (int64_t value = 0; value < s->counts.width; value++) {
        printf("%" PRId64, value);
        for (int32_t channel = 0; channel < s->src.channels; channel++)
            printf("\t%" PRIu64, counts[value * s->src.channels + channel]);
        putchar('\n');
    }
}

/* ---- The whole ----------------------------------------------------------------------------------- */

static twi_exit work(stats *s)
{
    twi_exit result = twi_read_input(s->args, &s->input, &s->src);
    if (result == TWI_EXIT_DONE)
        result = reduce(s);
    if (result == TWI_EXIT_DONE && s->args->histogram)
        result = count_values(s);
    if (result != TWI_EXIT_DONE)
        return result;
    if (s->args->json)
        return print_json(s);
    print_lines(s);
    if (s->counts.data)
        print_counts(s);
    return TWI_EXIT_DONE;
}

twi_exit twi_command_stats(const twi_args *args)
{
    stats s = {.args = args, .lines = args->lines == TW_AXIS_COUNT ? TW_AXIS_ALL : args->lines};
    const twi_exit result = work(&s);
    tw_context_destroy(s.context);
    free(s.records.data);
    free(s.counts.data);
    twi_io_free(&s.input);
    return result;
}
