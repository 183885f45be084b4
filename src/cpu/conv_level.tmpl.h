/*
 * One level of correlation, separable convolution and Gaussian: everything that runs. Included by conv_c.c,
 * conv_avx2.c and conv_avx512.c, which differ in the compiler's flags and, by them, in vector.h.
 */
#include <math.h>
#include <string.h>

#include "cpu/conv.h"
#include "cpu/vector.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#ifndef LEVEL_VECTOR
/* Plain C has no streaming store. */
static void put(void *restrict dst, const void *restrict src, int64_t bytes, bool stream)
{
    (void)stream;
    memcpy(dst, src, (size_t)bytes);
}

static void finish_stream(bool stream)
{
    (void)stream;
}
#endif

#include "cpu/conv_lines.tmpl.h"
#include "cpu/conv_finish.tmpl.h"

typedef void sum_function(const twi_conv_pass *pass, const void *const *lines, int64_t x, int64_t n, void *band);

/* ---- The inner loops -------------------------------------------------------------------------------- */

#define NAME i64
#define T int64_t
#define W int64_t
#define A uint64_t
#define MAC(sum, weight, element) ((sum) + (uint64_t)(weight) * (uint64_t)(element))
#include "cpu/conv_sum.tmpl.h"
#undef NAME
#undef T
#undef W
#undef A
#undef MAC

#define NAME i128
#define T twi_i128
#define W int64_t
#define A twi_i128
#define MAC(sum, weight, element) ((sum) + (weight) * (element))
#include "cpu/conv_sum.tmpl.h"
#undef NAME
#undef T
#undef W
#undef A
#undef MAC

#ifdef LEVEL_VECTOR
#include "cpu/conv_vector.tmpl.h"
#else
#define NAME i32
#define T uint32_t
#define W uint32_t
#define A uint32_t
#define MAC(sum, weight, element) ((sum) + (weight) * (element))
#include "cpu/conv_sum.tmpl.h"
#undef NAME
#undef T
#undef W
#undef A
#undef MAC

#define NAME f32
#define T float
#define W float
#define A float
#define MAC(sum, weight, element) fmaf(weight, element, sum)
#include "cpu/conv_sum.tmpl.h"
#undef NAME
#undef T
#undef W
#undef A
#undef MAC

#define NAME f64
#define T double
#define W double
#define A double
#define MAC(sum, weight, element) fma(weight, element, sum)
#include "cpu/conv_sum.tmpl.h"
#undef NAME
#undef T
#undef W
#undef A
#undef MAC
#endif

static sum_function *const sum_functions[TWI_CONV_UNITS] = {
#ifdef LEVEL_VECTOR
    [TWI_CONV_BYTES] = sum_bytes, [TWI_CONV_WORDS] = sum_words,
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

/* The row pass of a quartet, from the widened rows into the ring. */
static void filter_rows(const strip *s, int64_t quartet, const char *wide, int64_t wide_bytes)
{
    const twi_conv_setup *setup = s->setup;
    const twi_conv_unit from = setup->row.unit;
    const twi_conv_unit to = setup->main.unit;
    const int64_t element = twi_conv_layouts[to].element;
    const int64_t sums_bytes = TWI_CONV_CHUNK * twi_conv_layouts[from].sum;
    char *sums = s->scratch + setup->sums_at;
    const void *lines[TWI_CONV_BAND];
    for (int r = 0; r < TWI_CONV_BAND; r++)
        lines[r] = wide + r * wide_bytes;
    for (int64_t x = 0; x < s->n; x += TWI_CONV_CHUNK) {
        const int64_t n = twi_min_i64(TWI_CONV_CHUNK, s->n - x);
        sum_functions[from](&setup->row, lines, x, n, sums);
        if (setup->fixed)
            for (int r = 0; r < TWI_CONV_BAND; r++)
                shift_sums((uint32_t *)(void *)(sums + r * sums_bytes), n);
        if (to == TWI_CONV_WORDS)
            for (int r = 0; r < TWI_CONV_BAND; r += 2)
                (setup->fixed ? pair_fixed : pair_sums)(line_in(s, quartet, r / 2) + x * element, sums + r * sums_bytes,
                                                        sums + (r + 1) * sums_bytes, n);
        else
            for (int r = 0; r < TWI_CONV_BAND; r++)
                widen_sums[from][to](line_in(s, quartet, r) + x * element, sums + r * sums_bytes, n);
    }
}

/* Brings the next four rows into the ring. */
static void make_quartet(const strip *s, int64_t quartet)
{
    const twi_conv_setup *setup = s->setup;
    const int64_t pitch = twi_conv_pitch(setup->strip + setup->beside);
    const int64_t raw_bytes = pitch * (int64_t)tw_type_size(setup->type);
    const int64_t n = s->n + setup->beside;
    char *raw = s->scratch + setup->raw_at;
    char *wide = s->scratch + setup->wide_at;
    for (int r = 0; r < TWI_CONV_BAND; r++)
        fetch_row(setup, &s->job->src, s->job->first - setup->anchor_y + TWI_CONV_BAND * quartet + r, s->first, s->n,
                  raw + r * raw_bytes);
    if (setup->separable) {
        const int64_t wide_bytes = pitch * twi_conv_layouts[setup->row.unit].element;
        for (int r = 0; r < TWI_CONV_BAND; r++)
            widen_pixels[setup->type][setup->row.unit](wide + r * wide_bytes, raw + r * raw_bytes, n);
        filter_rows(s, quartet, wide, wide_bytes);
    } else if (setup->main.unit == TWI_CONV_BYTES) {
        make_quad(line_in(s, quartet, 0), raw, raw_bytes, n);
    } else if (setup->main.unit == TWI_CONV_WORDS) {
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            make_pair(setup->type, line_in(s, quartet, r / 2), raw + r * raw_bytes, raw + (r + 1) * raw_bytes, n);
    } else {
        for (int r = 0; r < TWI_CONV_BAND; r++)
            widen_pixels[setup->type][setup->main.unit](line_in(s, quartet, r), raw + r * raw_bytes, n);
    }
}

/* Output rows y ... y + rows - 1 of the strip, from the lines of the ring. */
static void finish_band(const strip *s, const void *const *lines, int64_t y, int64_t rows)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *dst = &s->job->dst;
    const int64_t size = (int64_t)tw_type_size(setup->out_type);
    const int64_t sums_bytes = TWI_CONV_CHUNK * twi_conv_layouts[setup->main.unit].sum;
    char *sums = s->scratch + setup->sums_at;
    char *stage = s->scratch + setup->stage_at;
    for (int64_t x = 0; x < s->n; x += TWI_CONV_CHUNK) {
        const int64_t n = twi_min_i64(TWI_CONV_CHUNK, s->n - x);
        sum_functions[setup->main.unit](&setup->main, lines, x, n, sums);
        for (int64_t r = 0; r < rows; r++) {
            finish(setup, sums + r * sums_bytes, n, stage);
            put((char *)dst->data + (y + r) * dst->pitch + (s->first + x) * size, stage, n * size, setup->stream);
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
        finish_band(s, lines, y, twi_min_i64(TWI_CONV_BAND, s->job->last - y));
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
