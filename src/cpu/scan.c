/*
 * scan and integral on the CPU: how lines are cut among threads. Rows and columns go to one thread each. Of a line that
 * is the whole image, all threads first find the totals of some spans, then make the sums of these, which are still in
 * the caches. An integral goes by bands of whole groups of rows: their running sums stay in the caches until columns
 * are summed.
 */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/rows.h"
#include "cpu/scan.h"

enum {
    CHANNELS = 4,
    LARGEST = 8,               /* bytes of an element */
    PIECE = 8 * TWI_SCAN_TILE, /* pixels that are stored at a time */
    SPANS_A_THREAD = 16,       /* of the whole image, before their sums are made */
    BAND_BYTES = 4 << 20,      /* of running sums of rows, if that is a group of them at least */
    STRIP = 1024               /* columns, in elements, that a thread takes */
};

/* A run. */
typedef struct scan {
    const tw_plan *plan;
    const twi_scan_level *level;
    const twi_scan_kernels *kernels;
    tw_image src;
    tw_image dst;
    bool exclusive;
    bool stream;

    /* the whole image: the spans at hand, and their sums, a channel each */
    int64_t first;
    twi_scan_line *totals;

    /* columns: sums of the groups before */
    char *groups;
} scan;

static int sums_of(const tw_problem *problem)
{
    if (problem->out_type == TW_F32)
        return TWI_SCAN_F32;
    if (problem->out_type == TW_F64)
        return TWI_SCAN_F64;
    return tw_type_size(problem->out_type) == 4 ? TWI_SCAN_32 : TWI_SCAN_64;
}

static char *pixel_at(const tw_image *image, int64_t index)
{
    const int64_t pixel = image->channels * (int64_t)tw_type_size(image->type);
    return (char *)image->data + index / image->width * image->pitch + index % image->width * pixel;
}

/* ---- Along rows ------------------------------------------------------------------------------------ */

/* Copies n pixels, row after row, from an image or, if `out`, into it. */
static void move_pixels(const scan *s, const tw_image *image, int64_t index, int64_t n, char *pixels, bool out)
{
    const int64_t pixel = image->channels * (int64_t)tw_type_size(image->type);
    while (n > 0) {
        const int64_t some = twi_min_i64(n, image->width - index % image->width);
        if (out)
            s->level->put(pixel_at(image, index), pixels, some * pixel, s->stream);
        else
            memcpy(pixels, pixel_at(image, index), (size_t)(some * pixel));
        index += some;
        pixels += some * pixel;
        n -= some;
    }
}

/* The sums of pixels first ... last-1 of the image; nothing is stored if only `lines`, a channel each, are wanted. */
static void scan_pixels(const scan *s, int64_t first, int64_t last, twi_scan_line *lines, bool store)
{
    const int64_t channels = s->src.channels;
    const int64_t size_in = (int64_t)tw_type_size(s->src.type);
    const int64_t size_out = (int64_t)tw_type_size(s->dst.type);
    _Alignas(TWI_LINE) char in[PIECE * CHANNELS * LARGEST];
    _Alignas(TWI_LINE) char out[PIECE * CHANNELS * LARGEST];
    for (int64_t index = first; index < last; index += PIECE) {
        const int64_t n = twi_min_i64(PIECE, last - index);
        const char *from = in;
        if (index % s->src.width + n <= s->src.width)
            from = pixel_at(&s->src, index);
        else
            move_pixels(s, &s->src, index, n, in, false);
        for (int64_t channel = 0; channel < channels; channel++)
            s->kernels->along(&lines[channel], from + channel * size_in, out + channel * size_out, n, channels,
                              s->exclusive);
        if (store)
            move_pixels(s, &s->dst, index, n, out, true);
    }
}

static tw_status scan_rows(void *argument, int64_t first, int64_t last, int worker)
{
    const scan *s = argument;
    (void)worker;
    for (int64_t y = first; y < last; y++) {
        twi_scan_line lines[CHANNELS] = {{.integer = 0}};
        scan_pixels(s, y * s->src.width, (y + 1) * s->src.width, lines, true);
    }
    s->level->finish(s->stream);
    return TW_OK;
}

/* ---- The whole image ------------------------------------------------------------------------------- */

static tw_status sum_spans(void *argument, int64_t first, int64_t last, int worker)
{
    const scan *s = argument;
    const int64_t channels = s->src.channels;
    (void)worker;
    memset(&s->totals[first * channels], 0, (size_t)((last - first) * channels) * sizeof *s->totals);
    for (int64_t i = first; i < last; i++)
        scan_pixels(s, (s->first + i) * TWI_SCAN_SPAN, (s->first + i + 1) * TWI_SCAN_SPAN, &s->totals[i * channels],
                    false);
    return TW_OK;
}

static tw_status store_spans(void *argument, int64_t first, int64_t last, int worker)
{
    const scan *s = argument;
    const int64_t pixels = s->src.width * s->src.height;
    (void)worker;
    for (int64_t i = first; i < last; i++)
        scan_pixels(s, (s->first + i) * TWI_SCAN_SPAN, twi_min_i64(pixels, (s->first + i + 1) * TWI_SCAN_SPAN),
                    &s->totals[i * s->src.channels], true);
    s->level->finish(s->stream);
    return TW_OK;
}

/* Makes of each span's total what lies before it; `before` goes on. */
static void add_spans(const scan *s, int64_t count, twi_scan_line *before)
{
    for (int64_t i = 0; i < count; i++) {
        for (int64_t channel = 0; channel < s->src.channels; channel++) {
            twi_scan_line *line = &s->totals[i * s->src.channels + channel];
            twi_scan_line *sum = &before[channel];
            const uint64_t integer = line->integer;
            const double spans = line->prefix.spans;
            *line = (twi_scan_line){.integer = sum->integer};
            line->prefix.spans = line->prefix.base = sum->prefix.spans;
            sum->integer += integer;
            sum->prefix.spans += spans;
        }
    }
}

static tw_status scan_all(scan *s)
{
    const int64_t pixels = s->src.width * s->src.height;
    const int64_t spans = twi_divide_up(pixels, TWI_SCAN_SPAN);
    const int64_t most = (int64_t)SPANS_A_THREAD * s->plan->context->threads;
    twi_scan_line before[CHANNELS] = {{.integer = 0}};
    if (s->plan->context->threads == 1) {
        scan_pixels(s, 0, pixels, before, true);
        s->level->finish(s->stream);
        return TW_OK;
    }
    for (s->first = 0; s->first < spans; s->first += most) {
        const int64_t count = twi_min_i64(most, spans - s->first);
        const int64_t whole = twi_min_i64(count, pixels / TWI_SCAN_SPAN - s->first); /* only the last may not be */
        if (whole > 0)
            TWI_TRY(twi_cpu_parallel(s->plan, whole, sum_spans, s));
        if (whole < count)
            memset(&s->totals[whole * s->src.channels], 0, (size_t)s->src.channels * sizeof *s->totals);
        add_spans(s, count, before);
        TWI_TRY(twi_cpu_parallel(s->plan, count, store_spans, s));
    }
    return TW_OK;
}

/* ---- Down columns ---------------------------------------------------------------------------------- */

/* Of n columns from element `left` on; `groups` goes on. */
static void scan_strip(const scan *s, int64_t left, int64_t n, char *groups)
{
    const int64_t size_in = (int64_t)tw_type_size(s->src.type);
    const int64_t size_out = (int64_t)tw_type_size(s->dst.type);
    _Alignas(TWI_LINE) char out[STRIP * LARGEST];
    _Alignas(TWI_LINE) char group[STRIP * LARGEST];
    memset(group, 0, sizeof group);
    for (int64_t y = 0; y < s->src.height; y++) {
        const char *from = (const char *)s->src.data + y * s->src.pitch + left * size_in;
        char *to = (char *)s->dst.data + y * s->dst.pitch + left * size_out;
        for (int64_t i = 0; i < n * size_in && y + 1 < s->src.height; i += TWI_LINE)
            __builtin_prefetch(from + s->src.pitch + i, 0, 2);
        s->kernels->down(groups, group, from, out, n, s->exclusive);
        s->level->put(to, out, n * size_out, s->stream);
        if (y % TWI_GROUP == TWI_GROUP - 1)
            s->kernels->close(groups, group, n);
    }
}

static tw_status scan_columns(void *argument, int64_t first, int64_t last, int worker)
{
    const scan *s = argument;
    const int64_t elements = s->src.width * s->src.channels;
    _Alignas(TWI_LINE) char groups[STRIP * LARGEST];
    (void)worker;
    for (int64_t strip = first; strip < last; strip++) {
        memset(groups, 0, sizeof groups);
        scan_strip(s, strip * STRIP, twi_min_i64(STRIP, elements - strip * STRIP), groups);
    }
    s->level->finish(s->stream);
    return TW_OK;
}

static int64_t strips_of(const scan *s)
{
    return twi_divide_up(s->src.width * s->src.channels, STRIP);
}

/* ---- Plans of scan --------------------------------------------------------------------------------- */

tw_status twi_scan_prepare(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int64_t spans = (int64_t)SPANS_A_THREAD * plan->context->threads;
    if (problem->axis != TW_AXIS_ALL)
        return TW_OK;
    return twi_plan_scratch(plan, (size_t)(spans * problem->channels) * sizeof(twi_scan_line));
}

tw_status twi_scan_run(const tw_plan *plan, const twi_job *job, const twi_scan_level *level)
{
    const tw_problem *problem = &plan->problem;
    scan s = {
        .plan = plan,
        .level = level,
        .kernels = level->kernels[problem->type][sums_of(problem)],
        .src = job->src,
        .dst = job->dst,
        .exclusive = problem->exclusive,
        .stream = twi_output_streams(problem, problem->width * problem->channels),
        .totals = plan->scratch,
    };
    switch (problem->axis) {
    case TW_AXIS_X:
        return twi_cpu_parallel(plan, problem->height, scan_rows, &s);
    case TW_AXIS_Y:
        return twi_cpu_parallel(plan, strips_of(&s), scan_columns, &s);
    default:
        return scan_all(&s);
    }
}

/* ---- Integrals ------------------------------------------------------------------------------------- */

/* The running sums of a band's rows, and then of its columns. */
typedef struct band {
    scan along;
    scan down;
} band;

static tw_status sum_rows(void *argument, int64_t first, int64_t last, int worker)
{
    band *b = argument;
    return scan_rows(&b->along, first, last, worker);
}

static tw_status sum_columns(void *argument, int64_t first, int64_t last, int worker)
{
    const scan *s = &((const band *)argument)->down;
    const int64_t elements = s->src.width * s->src.channels;
    (void)worker;
    for (int64_t strip = first; strip < last; strip++)
        scan_strip(s, strip * STRIP, twi_min_i64(STRIP, elements - strip * STRIP), s->groups + strip * STRIP * LARGEST);
    s->level->finish(s->stream);
    return TW_OK;
}

/* Where the scratch's parts lie. */
typedef struct layout {
    int64_t rows; /* of a band: whole groups */
    int64_t lines_at;
    int64_t groups_at;
    int64_t total;
} layout;

static bool lay_out(const tw_problem *problem, layout *l)
{
    const int64_t elements = problem->width * problem->channels;
    const int64_t groups = twi_max_i64(1, BAND_BYTES / LARGEST / TWI_GROUP / elements);
    *l = (layout){.rows = groups * TWI_GROUP};
    return twi_add_area(&l->total, elements, l->rows * LARGEST, &l->lines_at) &&
           twi_add_area(&l->total, elements, LARGEST, &l->groups_at);
}

tw_status twi_integral_prepare(tw_plan *plan)
{
    layout l;
    if (!lay_out(&plan->problem, &l))
        return twi_fail(TW_ERROR_LIMIT, "the scratch memory of a row cannot be counted");
    return twi_plan_scratch(plan, (size_t)l.total);
}

tw_status twi_integral_run(const tw_plan *plan, const twi_job *job, const twi_scan_level *level)
{
    const tw_problem *problem = &plan->problem;
    const int sums = sums_of(problem);
    const int64_t elements = problem->width * problem->channels;
    const int64_t size = (int64_t)tw_type_size(problem->out_type);
    char *const origin = (char *)job->dst.data + job->dst.pitch + problem->channels * size;
    layout l;
    (void)lay_out(problem, &l); /* prepare has seen that it can be */
    const scan common = {
        .plan = plan,
        .level = level,
        .src = job->src,
        .groups = (char *)plan->scratch + l.groups_at,
    };
    band b = {common, common};
    b.along.kernels = level->kernels[problem->type][sums];
    b.along.dst = job->dst;
    b.along.dst.data = (char *)plan->scratch + l.lines_at;
    b.along.dst.pitch = elements * size;
    b.along.dst.width = problem->width;
    b.down.kernels = level->again[sums];
    b.down.dst = job->dst;
    b.down.stream = twi_output_streams(problem, elements);
    memset(b.down.groups, 0, (size_t)(elements * LARGEST));
    memset(job->dst.data, 0, (size_t)(job->dst.width * problem->channels * size));
    for (int64_t top = 0; top < problem->height; top += l.rows) {
        const int64_t rows = twi_min_i64(l.rows, problem->height - top);
        b.along.src.data = (char *)job->src.data + top * job->src.pitch;
        b.along.src.height = b.along.dst.height = rows;
        b.down.src = b.along.dst;
        b.down.dst.data = origin + top * job->dst.pitch;
        for (int64_t y = 0; y < rows; y++)
            memset((char *)b.down.dst.data + y * job->dst.pitch - problem->channels * size, 0,
                   (size_t)(problem->channels * size));
        TWI_TRY(twi_cpu_parallel(plan, rows, sum_rows, &b));
        TWI_TRY(twi_cpu_parallel(plan, strips_of(&b.down), sum_columns, &b));
    }
    return TW_OK;
}

/* ---- Estimates ------------------------------------------------------------------------------------- */

/* Nanoseconds: so many for a value by one thread, and what memory takes. */
static double estimate(const tw_context *context, const tw_problem *problem, double value)
{
    const double values = (double)problem->width * (double)problem->height * problem->channels;
    const double bytes = (double)(tw_type_size(problem->type) + tw_type_size(problem->out_type));
    return values * (value + 0.05 * bytes) / (context ? context->threads : 1);
}

double twi_scan_cost_c(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 1.5);
}

double twi_scan_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.8);
}

double twi_scan_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.5);
}
