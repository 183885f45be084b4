/*
 * One level of correlation, separable convolution and Gaussian: everything that runs. Included by conv_c.c,
 * conv_avx2.c and conv_avx512.c, which differ in LEVEL, in the compiler's flags and, by them, in vector.h.
 */
#include <math.h>
#include <string.h>

#include "cpu/conv.h"
#include "cpu/level.h"

#include "cpu/conv_lines.tmpl.h"
#ifdef LEVEL_VECTOR
#include "cpu/conv_finish_vector.tmpl.h"
#endif
#include "cpu/conv_finish.tmpl.h"

typedef void sum_function(const twi_conv_pass *pass, const void *const *lines, int64_t x, int64_t n, void *band);

/* ---- The inner loops -------------------------------------------------------------------------------- */

#define NAME i64
#define T int64_t
#define W int64_t
#define A uint64_t
#define MAC(sum, weight, element) ((sum) + (uint64_t)(weight) * (uint64_t)(element))
#include "cpu/conv_sum.tmpl.h"

#define NAME i128
#define T twi_i128
#define W int64_t
#define A twi_i128
#define MAC(sum, weight, element) ((sum) + (weight) * (element))
#include "cpu/conv_sum.tmpl.h"

#ifdef LEVEL_VECTOR
#include "cpu/conv_vector.tmpl.h"
#include "cpu/conv_fold.tmpl.h"
#else
#define NAME i32
#define T uint32_t
#define W uint32_t
#define A uint32_t
#define MAC(sum, weight, element) ((sum) + (weight) * (element))
#include "cpu/conv_sum.tmpl.h"

#define NAME f32
#define T float
#define W float
#define A float
#define MAC(sum, weight, element) fmaf(weight, element, sum)
#include "cpu/conv_sum.tmpl.h"

#define NAME f64
#define T double
#define W double
#define A double
#define MAC(sum, weight, element) fma(weight, element, sum)
#include "cpu/conv_sum.tmpl.h"
#endif

static sum_function *const sum_functions[TWI_CONV_UNITS] = {
#ifdef LEVEL_VECTOR
    [TWI_CONV_BYTES] = sum_bytes, [TWI_CONV_PAIRS] = sum_pairs, [TWI_CONV_WORDS] = sum_words,
#endif
    [TWI_CONV_I32] = sum_i32,     [TWI_CONV_I64] = sum_i64,     [TWI_CONV_I128] = sum_i128,
    [TWI_CONV_F32] = sum_f32,     [TWI_CONV_F64] = sum_f64,
};

/* ---- The run ----------------------------------------------------------------------------------------- */

/* A strip of a job: output elements first ... first + n - 1 of each row, and the worker's scratch. */
typedef struct strip {
    const twi_conv_setup *setup;
    const twi_job *job;
    int64_t first;
    int64_t n;
    char *scratch;
} strip;

static char *line_in(const strip *s, int64_t quartet, int64_t line)
{
    const twi_conv_layout *layout = &twi_conv_layouts[s->setup->main.unit];
    const int64_t bytes = twi_conv_quartet_bytes(s->setup);
    return s->scratch + s->setup->ring_at + quartet % s->setup->quartets * bytes +
           line * bytes / (TWI_CONV_BAND / layout->rows);
}

/* The widened row r of a quartet, for a row pass. */
static char *wide_line(const strip *s, int r)
{
    const twi_conv_setup *setup = s->setup;
    return s->scratch + setup->wide_at +
           r * twi_conv_pitch(setup->strip + setup->beside) * twi_conv_layouts[setup->row.unit].element;
}

/* The row pass of a quartet, from the widened rows into the ring. */
static void filter_rows(const strip *s, int64_t quartet)
{
    const twi_conv_setup *setup = s->setup;
    const twi_conv_unit from = setup->row.unit;
    const twi_conv_unit to = setup->main.unit;
    const int64_t element = twi_conv_layouts[to].element;
    const int64_t sums_row = TWI_CONV_CHUNK * twi_conv_layouts[from].sum;
    char *sums = s->scratch + setup->sums_at;
    const void *lines[TWI_CONV_BAND];
    for (int r = 0; r < TWI_CONV_BAND; r++)
        lines[r] = wide_line(s, r);
#ifdef LEVEL_VECTOR
    if (from == TWI_CONV_FOLD) {
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            fold_rows(&setup->row, (const uint8_t *)lines[r] + setup->beside / 2,
                      (const uint8_t *)lines[r + 1] + setup->beside / 2, s->n, line_in(s, quartet, r / 2));
        return;
    }
#endif
    for (int64_t x = 0; x < s->n; x += TWI_CONV_CHUNK) {
        const int64_t n = twi_min_i64(TWI_CONV_CHUNK, s->n - x);
        sum_functions[from](&setup->row, lines, x, n, sums);
        if (setup->fixed)
            for (int r = 0; r < TWI_CONV_BAND; r++)
                shift_sums((uint32_t *)(void *)(sums + r * sums_row), n);
        if (to == TWI_CONV_WORDS)
            for (int r = 0; r < TWI_CONV_BAND; r += 2)
                (setup->fixed ? pair_fixed : pair_sums)(line_in(s, quartet, r / 2) + x * element, sums + r * sums_row,
                                                        sums + (r + 1) * sums_row, n);
        else
            for (int r = 0; r < TWI_CONV_BAND; r++)
                widen_sums[from][to](line_in(s, quartet, r) + x * element, sums + r * sums_row, n);
    }
}

/* Elements x ... x + n - 1 of the lines, from four source rows. */
static void make_lines(const strip *s, int64_t quartet, int64_t x, const char *const *rows, int64_t n)
{
    const twi_conv_setup *setup = s->setup;
    const twi_conv_unit unit = setup->separable ? setup->row.unit : setup->main.unit;
    const int64_t at = x * twi_conv_layouts[unit].element;
    if (unit == TWI_CONV_BYTES) {
        make_quad(line_in(s, quartet, 0) + at, rows, n);
    } else if (unit == TWI_CONV_WORDS) {
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            make_pair(setup->type, line_in(s, quartet, r / 2) + at, rows[r], rows[r + 1], n);
    } else {
        for (int r = 0; r < TWI_CONV_BAND; r++)
            widen_pixels[setup->type][unit]((setup->separable ? wide_line(s, r) : line_in(s, quartet, r)) + at, rows[r],
                                            n);
    }
}

/* Brings the next four rows into the ring: what lies beside the image by way of a copy, the rest from the source. */
static void make_quartet(const strip *s, int64_t quartet)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *src = &s->job->src;
    const int64_t size = (int64_t)tw_type_size(setup->type);
    const int64_t start = s->first - setup->before;
    const int64_t end = start + s->n + setup->beside;
    const int64_t left = twi_max_i64(0, -start);
    const int64_t right = twi_max_i64(0, end - setup->elements);
    const int64_t inner = end - start - left - right;
    char *edge = s->scratch + setup->edge_at;
    const char *rows[TWI_CONV_BAND];
    const char *lefts[TWI_CONV_BAND];
    const char *rights[TWI_CONV_BAND];
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        const int64_t y = s->job->first - setup->anchor_y + TWI_CONV_BAND * quartet + r;
        const int64_t row = twi_border_index(y, src->height, setup->border);
        const char *from = row < 0 ? setup->outside : (const char *)src->data + row * src->pitch;
        rows[r] = row < 0 ? from : from + (start + left) * size;
        fetch_halo(setup, from, setup->halo + setup->before - left, left, edge);
        lefts[r] = edge;
        edge += left * size;
        fetch_halo(setup, from, setup->halo + setup->before, right, edge);
        rights[r] = edge;
        edge += right * size;
    }
    if (left > 0)
        make_lines(s, quartet, 0, lefts, left);
    make_lines(s, quartet, left, rows, inner);
    if (right > 0)
        make_lines(s, quartet, left + inner, rights, right);
    if (setup->separable)
        filter_rows(s, quartet);
}

/* The source rows of the next quartet are on their way while sums are computed: elements x ... x + n - 1 of them. */
static void prefetch(const strip *s, int64_t quartet, int64_t x, int64_t n)
{
    const tw_image *src = &s->job->src;
    const int64_t size = (int64_t)tw_type_size(s->setup->type);
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        const int64_t y = s->job->first - s->setup->anchor_y + TWI_CONV_BAND * quartet + r;
        if (y >= 0 && y < src->height)
            bring_near((const char *)src->data + y * src->pitch + (s->first + x) * size, n * size);
    }
}

/* Output rows y ... y + rows - 1 of the strip, from the lines of the ring. */
static void finish_band(const strip *s, const void *const *lines, int64_t next, int64_t y, int64_t rows)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *dst = &s->job->dst;
    const int64_t size = (int64_t)tw_type_size(setup->out_type);
    const int64_t sums_row = TWI_CONV_CHUNK * twi_conv_layouts[setup->main.unit].sum;
    char *sums = s->scratch + setup->sums_at;
    char *stage = s->scratch + setup->stage_at;
    for (int64_t x = 0; x < s->n; x += TWI_CONV_CHUNK) {
        const int64_t n = twi_min_i64(TWI_CONV_CHUNK, s->n - x);
        prefetch(s, next, x, n);
        sum_functions[setup->main.unit](&setup->main, lines, x, n, sums);
        for (int64_t r = 0; r < rows; r++) {
            char *to = (char *)dst->data + (y + r) * dst->pitch + (s->first + x) * size;
            finish(setup, sums + r * sums_row, n, to, stage);
        }
    }
}

static void run_strip(const strip *s)
{
    const twi_conv_setup *setup = s->setup;
    const int64_t parts = TWI_CONV_BAND / twi_conv_layouts[setup->main.unit].rows;
    const void **lines = (const void **)(void *)(s->scratch + setup->lines_at);
    int64_t made = 0;
    for (int64_t y = s->job->first, band = 0; y < s->job->last; y += TWI_CONV_BAND, band++) {
        for (; made < band + setup->quartets; made++)
            make_quartet(s, made);
        for (int64_t i = 0; i < setup->quartets * parts; i++)
            lines[i] = line_in(s, band + i / parts, i % parts);
        finish_band(s, lines, made, y, twi_min_i64(TWI_CONV_BAND, s->job->last - y));
    }
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const twi_conv_setup *setup = plan->state;
    strip s = {.setup = setup, .job = job, .scratch = setup->workers + job->worker * setup->worker_bytes};
    for (s.first = 0; s.first < setup->elements; s.first += setup->strip) {
        s.n = twi_min_i64(setup->strip, setup->elements - s.first);
        run_strip(&s);
    }
    finish_stream(setup->stream);
    return TW_OK;
}

static tw_status prepare(tw_plan *plan)
{
    return twi_conv_prepare(plan, LEVEL);
}

static double cost(const tw_context *context, const tw_problem *problem)
{
    return twi_conv_cost(context, problem, LEVEL);
}
