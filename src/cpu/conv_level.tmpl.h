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

/* Four output rows, what they are made of, and the chunk of them that is being computed. */
typedef struct band {
    const void **lines;               /* rows of the source in place, or of the ring: */
    const void **inner;               /* the same, or rows of the source, if `lines` are copies of their ends */
    char *newest[TWI_CONV_BAND];      /* the last of those, which */
    const void *rows[TWI_CONV_BAND];  /* a row pass makes of these, from where the first window begins */
    const void *ends[TWI_CONV_BAND];  /* the same, or TWI_CONV_SIDES: copies of a row's first tile, and of those */
    int64_t starts_at;                /* before here, whose windows may reach over its start */
    int64_t ends_at;                  /* from here on, whose windows may reach over its end */
    const char *ahead[TWI_CONV_BAND]; /* rows of the source that the next band needs first, from element 0 on */
    int64_t x;
    int64_t n;
    char *to[TWI_CONV_BAND];
    bool stream;
} band;

INLINE bool is_inner(const band *b, int64_t x)
{
    return x >= b->starts_at && x < b->ends_at;
}

/* What a row pass reads for elements x and those behind it that are like it: first, inner or last. */
INLINE const void *const *rows_at(const band *b, int64_t x)
{
    return is_inner(b, x) ? b->rows : b->ends;
}

/* The lines for elements x and those behind it that are like it: first, inner or last. */
INLINE const void *const *lines_at(const band *b, int64_t x)
{
    return is_inner(b, x) ? b->inner : b->lines;
}

/* Rows that the next band needs, on their way into the L2 cache: `bytes` of each, from element i of the chunk on. */
INLINE void look_ahead(const band *b, int64_t i, int64_t size, int64_t bytes)
{
    for (int r = 0; r < TWI_CONV_BAND; r++)
        bring_near(b->ahead[r] + (b->x + i) * size, bytes);
}

#ifdef LEVEL_VECTOR
/* Bytes on their way past the cache: memory takes 256 of a row sooner than 64 of each row in turn. */
enum { BURST = 256 };
typedef struct burst {
    _Alignas(TWI_LINE) char rows[TWI_CONV_BAND][BURST];
} burst;

INLINE void put_result(const band *b, burst *out, int r, int64_t i, vec bytes, bool stream)
{
    v_store(stream ? out->rows[r] + i % BURST : b->to[r] + i, bytes);
}

/* The results of a tile, `columns` vectors of each row, to byte `at` of the chunk; below 0 there is none. Kernels call
   it when the next tile's lines have been loaded: where dst and src are a multiple of 4 KiB apart, a load just beside a
   store waits for it. */
INLINE void put_tile(const band *b, int64_t at, const vec *results, int columns, bool stream)
{
    UNROLL
    for (int r = 0; r < TWI_CONV_BAND && at >= 0; r++) {
        UNROLL
        for (int c = 0; c < columns; c++)
            v_put(b->to[r] + at + c * VEC, results[r * columns + c], stream);
    }
}

/* To the rows, as soon as there is enough of them: each row has that at another element, since it costs less than all
   at once. Element end - 1 was the last. */
INLINE void leave(const band *b, const burst *out, int64_t end, bool stream)
{
    for (int64_t r = 0; r < TWI_CONV_BAND && stream; r++) {
        const int64_t past = end - r * VEC;
        if (past % BURST != 0 && end < b->n)
            continue;
        for (int64_t i = past <= 0 ? 0 : (past - 1) / BURST * BURST + r * VEC; i < end; i += VEC)
            v_put(b->to[r] + i, v_load(out->rows[r] + i % BURST), true);
    }
}
#endif

/* From lines to results in the registers. */
typedef void band_function(const twi_conv_setup *setup, const band *b);
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
#include "cpu/conv_near.tmpl.h"
#if defined(__AVX512VNNI__)
#include "cpu/conv_five.tmpl.h"
#include "cpu/conv_fixed.tmpl.h"
#include "cpu/conv_sides.tmpl.h"
#endif
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

#ifdef LEVEL_VECTOR
/* The row passes of the fixed-point Gaussian: a line of the ring from two rows, whose first windows begin there. */
typedef void row_function(const twi_conv_setup *setup, const uint8_t *upper, const uint8_t *lower, int64_t n, char *to);

static row_function *const row_functions[TWI_CONV_UNITS] = {
    [TWI_CONV_FOLD] = fold_rows,
    [TWI_CONV_NEAR] = near_rows,
#if defined(__AVX512VNNI__)
    [TWI_CONV_SIDES] = sides_rows,
#endif
};
#endif

static band_function *find_band(const twi_conv_setup *setup)
{
#ifdef LEVEL_VECTOR
    if (setup->main.unit == TWI_CONV_F32 && setup->out_type == TW_F32)
        return band_f32;
#endif
#if defined(__AVX512VNNI__)
    if (setup->main.unit == TWI_CONV_FIVE)
        return band_five;
    if (setup->row.unit == TWI_CONV_SIDES)
        return band_sides;
    if (setup->fixed)
        return find_fixed(setup);
#endif
    (void)setup;
    return NULL;
}

/* ---- The run ----------------------------------------------------------------------------------------- */

/* A strip of a job: output elements first ... first + n - 1 of each row, and the worker's scratch. */
typedef struct strip {
    const twi_conv_setup *setup;
    const twi_job *job;
    int64_t first;
    int64_t n;
    bool in_place; /* lines are the rows of the source: no window reaches over their ends */
    char *scratch;
} strip;

/* What the windows of the strip read of row `line`, of those that the first band needs: from their first element on. */
static const char *source_line(const strip *s, int64_t line)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *src = &s->job->src;
    const int64_t y = twi_border_index(s->job->first - setup->anchor_y + line, src->height, setup->border);
    return y < 0 ? setup->outside
                 : (const char *)src->data + y * src->pitch +
                       (s->first - setup->before) * (int64_t)tw_type_size(setup->type);
}

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

/* The row pass of elements x ... x + n - 1, at most a chunk, from four rows into lines of the ring. */
static void filter_rows(const strip *s, const void *const *rows, char *const *lines, int64_t x, int64_t n)
{
    const twi_conv_setup *setup = s->setup;
    const twi_conv_unit from = setup->row.unit;
    const twi_conv_unit to = setup->main.unit;
    const int64_t at = x * twi_conv_layouts[to].element;
    const int64_t sums_row = TWI_CONV_CHUNK * twi_conv_layouts[from].sum;
    char *sums = s->scratch + setup->sums_at;
#ifdef LEVEL_VECTOR
    if (row_functions[from]) {
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            row_functions[from](setup, (const uint8_t *)rows[r] + x, (const uint8_t *)rows[r + 1] + x, n,
                                lines[r / 2] + at);
        return;
    }
#endif
    sum_functions[from](&setup->row, rows, x, n, sums);
    if (setup->fixed)
        for (int r = 0; r < TWI_CONV_BAND; r++)
            shift_sums((uint32_t *)(void *)(sums + r * sums_row), n);
    if (to == TWI_CONV_WORDS)
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            (setup->fixed ? pair_fixed : pair_sums)(lines[r / 2] + at, sums + r * sums_row, sums + (r + 1) * sums_row,
                                                    n);
    else
        for (int r = 0; r < TWI_CONV_BAND; r++)
            widen_sums[from][to](lines[r] + at, sums + r * sums_row, n);
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

/* Where the tiles end whose windows may reach over the strip's start. */
static int64_t starts_at(const strip *s)
{
    return twi_max_i64(TWI_CONV_TILE, twi_round_up(s->setup->before, TWI_CONV_TILE));
}

/* Where the tiles begin whose windows may reach over the strip's end. */
static int64_t ends_at(const strip *s)
{
    const int64_t after = s->setup->beside - s->setup->before;
    return twi_max_i64(0, s->n - after) / TWI_CONV_TILE * TWI_CONV_TILE;
}

/* Whether results of TWI_CONV_FIVE are stored where loads of every fourth row or more are due, but for a multiple of 4
   KiB: such loads wait. */
static bool collides(const strip *s)
{
    const uintptr_t quarter = 1024;
    const tw_image *src = &s->job->src;
    const tw_image *dst = &s->job->dst;
    const uintptr_t apart = ((uintptr_t)dst->data - (uintptr_t)src->data) % quarter;
    return ((uintptr_t)src->pitch | (uintptr_t)dst->pitch) % quarter == 0 && apart > 0 && apart < 3 * TWI_CONV_TILE;
}

/* Whether a row is read where it is, but for its first tiles and its last: of TWI_CONV_FIVE one that is long. */
static bool copies_ends(const strip *s)
{
    return s->setup->copies_ends &&
           (s->setup->main.unit != TWI_CONV_FIVE || (ends_at(s) > 2 * TWI_CONV_CHUNK && !collides(s)));
}

/* Brings the next four rows into lines: what lies beside the image by way of a copy, the rest from the source. Or of
   each row the first tiles and the last alone. */
static void copy_quartet(const strip *s, int64_t quartet)
{
    const twi_conv_setup *setup = s->setup;
    const bool whole = !copies_ends(s);
    const tw_image *src = &s->job->src;
    const int64_t size = (int64_t)tw_type_size(setup->type);
    const int64_t start = s->first - setup->before;
    const int64_t end = start + s->n + setup->beside;
    const int64_t left = twi_max_i64(0, -start);
    const int64_t right = twi_max_i64(0, end - setup->elements);
    const int64_t inner = end - start - left - right;
    const int64_t head = whole ? inner : twi_min_i64(inner, starts_at(s) + setup->beside - left);
    const int64_t tail = whole ? 0 : twi_min_i64(inner, left + inner - ends_at(s));
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
    make_lines(s, quartet, left, rows, head);
    if (tail > 0) {
        for (int r = 0; r < TWI_CONV_BAND; r++)
            rows[r] += (inner - tail) * size;
        make_lines(s, quartet, left + inner - tail, rows, tail);
    }
    if (right > 0)
        make_lines(s, quartet, left + inner, rights, right);
}

/* Lines, and for a row pass the rows that they are made of, of a quartet. */
static void find_quartet(const strip *s, int64_t quartet, band *b)
{
    const bool ends = s->setup->row.unit == TWI_CONV_SIDES;
    const twi_conv_layout *layout = &twi_conv_layouts[s->setup->main.unit];
    for (int i = 0; i < TWI_CONV_BAND / layout->rows; i++)
        b->newest[i] = line_in(s, quartet, i);
    for (int r = 0; r < TWI_CONV_BAND && s->setup->separable; r++) {
        b->rows[r] = s->in_place || ends ? source_line(s, TWI_CONV_BAND * quartet + r) : wide_line(s, r);
        b->ends[r] = ends ? wide_line(s, r) : b->rows[r];
    }
}

/* The rows of the source that a quartet is made of: outside of the image any will do. */
static void find_ahead(const strip *s, int64_t quartet, band *b)
{
    const tw_image *src = &s->job->src;
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        const int64_t line = s->job->first - s->setup->anchor_y + TWI_CONV_BAND * quartet + r;
        const int64_t y = twi_max_i64(0, twi_min_i64(line, src->height - 1));
        b->ahead[r] = (const char *)src->data + y * src->pitch + s->first * (int64_t)tw_type_size(s->setup->type);
    }
}

/* Whether vectors may be stored where output rows y ... y + rows - 1 of the strip are. */
static bool takes_vectors(const strip *s, int64_t y, int64_t rows)
{
    const tw_image *dst = &s->job->dst;
    const char *first = (const char *)dst->data + y * dst->pitch + s->first * (int64_t)tw_type_size(s->setup->out_type);
    return rows == TWI_CONV_BAND && (!s->setup->stream || ((uintptr_t)first | (uintptr_t)dst->pitch) % TWI_LINE == 0);
}

/* The chunk's results to output rows y ... y + rows - 1, by way of the scratch where whole vectors do not fit. */
static void store_band(const strip *s, band_function *compute, band *b, int64_t y, int64_t rows)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *dst = &s->job->dst;
    const int64_t size = (int64_t)tw_type_size(setup->out_type);
    char *first = (char *)dst->data + y * dst->pitch + (s->first + b->x) * size;
    const bool direct = takes_vectors(s, y, rows) && b->n % TWI_CONV_TILE == 0;
    for (int r = 0; r < TWI_CONV_BAND; r++)
        b->to[r] = direct ? first + r * dst->pitch : s->scratch + setup->sums_at + r * TWI_CONV_CHUNK * size;
    b->stream = direct && setup->stream;
    compute(setup, b);
    for (int64_t r = 0; !direct && r < rows; r++)
        put(first + r * dst->pitch, b->to[r], b->n * size, setup->stream);
}

/* Output rows y ... y + rows - 1 of the strip. While they are computed, those of the source that come next are on their
   way, and the results of the row pass stay in the L1 cache. */
static void finish_band(const strip *s, band *b, int64_t y, int64_t rows)
{
    const twi_conv_setup *setup = s->setup;
    const tw_image *dst = &s->job->dst;
    const int64_t size = (int64_t)tw_type_size(setup->out_type);
    const int64_t source_size = (int64_t)tw_type_size(setup->type);
    const int64_t sums_row = TWI_CONV_CHUNK * twi_conv_layouts[setup->main.unit].sum;
    char *sums = s->scratch + setup->sums_at;
    char *stage = s->scratch + setup->stage_at;
    band_function *compute = find_band(setup);
    const bool row_in_loop = compute && setup->fixed; /* conv_fixed.tmpl.h and conv_sides.tmpl.h have the row pass */
    const bool one_loop = compute && (row_in_loop || !setup->separable); /* it looks ahead, too */
    const bool at_once = one_loop && takes_vectors(s, y, rows) && s->n % TWI_CONV_TILE == 0;
    const int64_t chunk = at_once ? s->n : TWI_CONV_CHUNK;
    for (b->x = 0; b->x < s->n; b->x += chunk) {
        b->n = twi_min_i64(chunk, s->n - b->x);
        if (setup->separable && !row_in_loop)
            filter_rows(s, b->rows, b->newest, b->x, b->n);
        if (compute) {
            store_band(s, compute, b, y, rows);
            continue;
        }
        look_ahead(b, 0, source_size, b->n * source_size);
        sum_functions[setup->main.unit](&setup->main, b->lines, b->x, b->n, sums);
        for (int64_t r = 0; r < rows; r++) {
            char *to = (char *)dst->data + (y + r) * dst->pitch + (s->first + b->x) * size;
            finish(setup, sums + r * sums_row, b->n, to, stage);
        }
    }
}

/* The row pass of a whole quartet. */
static void filter_quartet(const strip *s, const band *b)
{
    int64_t n = 0;
    for (int64_t x = 0; x < s->n; x += n) {
        const int64_t end = x == 0 ? TWI_CONV_TILE : x < b->ends_at ? b->ends_at : s->n;
        n = twi_min_i64(TWI_CONV_CHUNK, twi_min_i64(end, s->n) - x);
        filter_rows(s, rows_at(b, x), b->newest, x, n);
    }
}

static void run_strip(const strip *s)
{
    const twi_conv_setup *setup = s->setup;
    const int64_t parts = TWI_CONV_BAND / twi_conv_layouts[setup->main.unit].rows;
    const int64_t lines = setup->quartets * parts;
    band b = {.lines = (const void **)(void *)(s->scratch + setup->lines_at)};
    b.inner = !setup->separable && copies_ends(s) ? b.lines + lines : b.lines;
    b.starts_at = starts_at(s);
    b.ends_at = ends_at(s);
    int64_t made = 0;
    for (int64_t y = s->job->first, first = 0; y < s->job->last; y += TWI_CONV_BAND, first++) {
        for (; made < first + setup->quartets; made++) {
            if (!s->in_place)
                copy_quartet(s, made);
            find_quartet(s, made, &b);
            if (setup->separable && made < first + setup->quartets - 1)
                filter_quartet(s, &b);
        }
        for (int64_t i = 0; i < lines; i++) {
            b.lines[i] = s->in_place && !setup->separable ? source_line(s, TWI_CONV_BAND * first + i)
                                                          : line_in(s, first + i / parts, i % parts);
            if (b.inner != b.lines)
                b.inner[i] = source_line(s, TWI_CONV_BAND * first + i);
        }
        find_ahead(s, made, &b);
        finish_band(s, &b, y, twi_min_i64(TWI_CONV_BAND, s->job->last - y));
    }
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const twi_conv_setup *setup = plan->state;
    strip s = {.setup = setup, .job = job, .scratch = setup->workers + job->worker * setup->worker_bytes};
    for (s.first = 0; s.first < setup->elements; s.first += s.n) {
        const int64_t end = s.first < setup->inner_first ? setup->inner_first
                            : s.first < setup->inner_end ? setup->inner_end
                                                         : setup->elements;
        s.in_place = s.first >= setup->inner_first && end == setup->inner_end;
        s.n = twi_min_i64(setup->strip, end - s.first);
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
