/*
 * Minimum or maximum over windows of any size: OP_NAME, with PICK(a, b) the one of two that wins. NAME, K as in
 * order_lines.tmpl.h. A position that is counted twice changes nothing, so a line of 2k positions is
 * two of k, and one of any length is two that overlap: the time grows with the window's logarithm at most.
 */
#define EXTREME(name) JOIN(JOIN(name, OP_NAME), NAME)
#define KEYS_ARE_ELEMENTS (DIRECT && setup->type != TW_F32)

/* Both also in place: what is read lies ahead of what is written. Whole vectors: up to one more is read and written. */
static void EXTREME(pair)(K *to, const K *from, int64_t second, int64_t n, bool stream)
{
    SIMD for (int64_t x = 0; x < n; x += STEP) PUT(to + x, VPICK(LOAD(from + x), LOAD(from + x + second)), stream);
}

static void EXTREME(four)(K *to, const K *from, int64_t second, int64_t third, int64_t fourth, int64_t n, bool stream)
{
    SIMD for (int64_t x = 0; x < n; x += STEP)
    {
        const V low = VPICK(LOAD(from + x), LOAD(from + x + second));
        const V high = VPICK(LOAD(from + x + third), LOAD(from + x + fourth));
        PUT(to + x, VPICK(low, high), stream);
    }
}

/* best = PICK(best, a, b) */
static void EXTREME(join)(K *restrict best, const K *a, const K *b, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const K both = PICK(a[x], b[x]);
        best[x] = PICK(best[x], both);
    }
}

/* ---- Rectangles: along the rows ------------------------------------------------------------------ */

#if defined(__AVX512BW__)
enum { EXTREME(reach) = VEC / (12 * (int)sizeof(K)) }; /* the channels of which 12 positions lie within a vector */

INLINE vec EXTREME(of_four)(const K *from, int64_t c)
{
    return VPICK(VPICK(v_load(from), v_load(from + c)), VPICK(v_load(from + 2 * c), v_load(from + 3 * c)));
}

/* Of 16 positions from those of 4, which stay in registers: a vector and the next. A vector behind the last position
   is read. */
static void EXTREME(sixteen)(K *to, const K *from, int64_t n, int64_t c)
{
    const vec step = OP(set1_epi32)((int32_t)(c * (int64_t)sizeof(K))); /* four positions in lanes of 4 bytes */
    const vec second = OP(add_epi32)(v_numbers(), step);
    const vec third = OP(add_epi32)(second, step);
    const vec fourth = OP(add_epi32)(third, step);
    vec here = EXTREME(of_four)(from, c);
    for (int64_t x = 0; x < n; x += STEP) {
        const vec next = EXTREME(of_four)(from + x + STEP, c);
        const vec low = VPICK(here, _mm512_permutex2var_epi32(here, second, next));
        const vec high =
            VPICK(_mm512_permutex2var_epi32(here, third, next), _mm512_permutex2var_epi32(here, fourth, next));
        v_store(to + x, VPICK(low, high));
        here = next;
    }
}
#endif

/* The window's columns at n elements of a line; `work` has room for those and the window. */
static void EXTREME(across)(K *to, const K *line, K *work, int64_t n, int64_t width, int64_t c, bool stream)
{
    const K *from = line;
    int64_t side = 1;
#if defined(__AVX512BW__)
    if (width > 16 && c <= EXTREME(reach)) {
        EXTREME(sixteen)(work, line, n + (width - 16) * c, c);
        from = work;
        side = 16;
    }
#endif
    for (; 4 * side < width; side *= 4) {
        EXTREME(four)(work, from, side * c, 2 * side * c, 3 * side * c, n + (width - 4 * side) * c, false);
        from = work;
    }
    const int64_t last = width - side; /* where the last part starts, so that it ends with the window */
    if (width <= 2 * side)
        EXTREME(pair)(to, from, last * c, n, stream);
    else
        EXTREME(four)(to, from, side * c, twi_min_i64(2 * side, last) * c, last * c, n, stream);
}

/* Row y of the result. Its columns' extremes are in `line`, behind the elements that windows read to the left. */
static void EXTREME(finish_row)(const twi_order_setup *setup, const twi_job *job, int64_t y, K *line, K *work)
{
    const int64_t row = setup->row;
    const K *middle = line + setup->before;
    char *const to = (char *)job->dst.data + y * job->dst.pitch;
    /* a column beside the row is one of the row's, or all of the border's key */
    for (int64_t i = 0; i < setup->before + setup->after; i++) {
        const int64_t from = setup->halo[i];
        line[i < setup->before ? i : i + row] = from < 0 ? (K)setup->outside : middle[from];
    }
    for (int64_t x = 0; x < row; x += setup->strip) {
        const int64_t n = twi_min_i64(setup->strip, row - x);
        K *place = (K *)(void *)to + x;
        if (KEYS_ARE_ELEMENTS && n % STEP == 0 && (uintptr_t)place % TWI_LINE == 0) {
            EXTREME(across)(place, line + x, work, n, setup->width, setup->channels, setup->stream);
        } else {
            EXTREME(across)(work, line + x, work, n, setup->width, setup->channels, false);
            JOIN(deliver, NAME)(setup, job, y, x, work, n);
        }
    }
}

/* ---- Rectangles: down the columns ---------------------------------------------------------------- */

/* to = keys, prefix = PICK(prefix, keys), out = PICK(prefix, suffix). */
static void EXTREME(advance)(const K *restrict keys, K *restrict prefix, const K *restrict suffix, K *restrict out,
                             int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const K best = PICK(prefix[x], keys[x]);
        prefix[x] = best;
        out[x] = PICK(best, suffix[x]);
    }
}

/*
 * Down the columns by van Herk's method (1992), for whole rows: the rows come in blocks of the window's height. A
 * window that starts at row p of a block is the rest of that block, kept in `ring` as the extremes of rows p
 * to the block's end, and the first p rows of the next, kept in `prefix`. A row of the next block takes
 * the place in the ring that was used last.
 */
static void EXTREME(run_slide)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t height = setup->height;
    const int64_t row = setup->row;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t piece = TWI_ORDER_CHUNK / (int64_t)sizeof(K);
    char *place = order_scratch(setup, job);
    K *ring = take(&place, (height + 1) * setup->pitch);
    K *prefix = ring + height * pitch;
    K *line = take(&place, (row + setup->before + setup->after) * (int64_t)sizeof(K));
    K *work = take(&place, 0);
    for (int64_t y = job->first; y < job->last; y++) {
        const int64_t phase = (y - job->first) % height;
        const int64_t next = y - setup->anchor_y + height - 1;
        K *middle = line + setup->before;
        if (phase == 0) {
            for (int64_t i = y == job->first ? 0 : height - 1; i < height; i++)
                JOIN(fetch, NAME)(setup, &job->src, next - (height - 1) + i, 0, row, ring + i * pitch);
            for (int64_t i = height - 2; i >= 0; i--)
                EXTREME(pair)(ring + i * pitch, ring + i * pitch, pitch, row, false);
            JOIN(fill, NAME)(prefix, (K)(LOSER), row);
            memcpy(middle, ring, (size_t)row * sizeof(K));
        } else {
            K *keys = ring + (phase - 1) * pitch;
            for (int64_t x = 0; x < row; x += piece) {
                const int64_t n = twi_min_i64(piece, row - x);
                JOIN(fetch, NAME)(setup, &job->src, next, x, n, keys + x);
                EXTREME(advance)(keys + x, prefix + x, keys + pitch + x, middle + x, n);
            }
        }
        EXTREME(finish_row)(setup, job, y, line, work);
    }
}

/* The lines that a band of eight rows is made of, and those that it makes. */
typedef struct EXTREME(lines) {
    const K *old[TWI_ORDER_BAND];
    const K *common[TWI_ORDER_COMMON];
    const K *fresh[TWI_ORDER_BAND];
    int64_t commons;
    K *group;
    K *out[TWI_ORDER_BAND];
} EXTREME(lines);

/* Elements first ... end - 1 of a band: out[i] is the extreme of old[i] and those behind it, of all common lines, and
   of fresh[0] ... fresh[i]; `group` that of all fresh ones. */
static void EXTREME(band)(const EXTREME(lines) * b, int64_t first, int64_t end)
{
    SIMD for (int64_t x = first; x < end; x += STEP)
    {
        V upper[TWI_ORDER_BAND];
        V best = LOAD(b->common[0] + x);
        for (int64_t i = 1; i < b->commons; i++)
            best = VPICK(best, LOAD(b->common[i] + x));
        for (int i = TWI_ORDER_BAND - 1; i >= 0; i--)
            upper[i] = best = VPICK(best, LOAD(b->old[i] + x));
        best = LOAD(b->fresh[0] + x);
        STORE(b->out[0] + x, VPICK(upper[0], best));
        for (int i = 1; i < TWI_ORDER_BAND; i++) {
            best = VPICK(best, LOAD(b->fresh[i] + x));
            STORE(b->out[i] + x, VPICK(upper[i], best));
        }
        STORE(b->group + x, best);
    }
}

/* What a job of run_groups keeps. Its rows are counted from the first that a window reads. */
typedef struct EXTREME(stack) {
    const twi_order_setup *setup;
    const twi_job *job;
    int64_t kept;    /* rows in the ring */
    int64_t groups;  /* of those that a band has in common */
    int64_t singles; /* rows above these */
    K *ring;
    K *group; /* one more */
    K *lines;
} EXTREME(stack);

/* Row r of the bordered image, which may be read in place: there or in the ring. */
static const K *EXTREME(row_of)(const EXTREME(stack) * s, int64_t r, bool in_place)
{
    const tw_image *src = &s->job->src;
    const int64_t y = twi_border_index(s->job->first - s->setup->anchor_y + r, src->height, s->setup->border);
    if (in_place && y >= 0)
        return (const K *)(const void *)((const char *)src->data + y * src->pitch);
    return s->ring + r % s->kept * (s->setup->pitch / (int64_t)sizeof(K));
}

/* Elements x ... end - 1 of row r into the ring, unless they are read in place. */
static void EXTREME(keep)(const EXTREME(stack) * s, int64_t r, int64_t x, int64_t end, bool in_place)
{
    const K *kept = EXTREME(row_of)(s, r, false);
    if (x < end && kept == EXTREME(row_of)(s, r, in_place))
        JOIN(fetch, NAME)(s->setup, &s->job->src, s->job->first - s->setup->anchor_y + r, x, end - x, (K *)kept + x);
}

/* Elements first ... end - 1 of the columns of the band at row `at` of the job, of whose rows `valid` are wanted. */
static void EXTREME(run_band)(const EXTREME(stack) * s, int64_t at, int64_t valid, int64_t first, int64_t end,
                              bool in_place)
{
    const twi_order_setup *setup = s->setup;
    const tw_image *src = &s->job->src;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t piece = TWI_ORDER_PIECE / (int64_t)sizeof(K);
    const int64_t size = (int64_t)tw_type_size(setup->type);
    const int64_t next = at + setup->height - 1;
    const int64_t band = at / TWI_ORDER_BAND;
    EXTREME(lines) lines = {.commons = s->singles + s->groups, .group = s->group + band % (s->groups + 1) * pitch};
    for (int64_t i = 0; i < TWI_ORDER_BAND; i++) {
        lines.old[i] = EXTREME(row_of)(s, at + i, in_place);
        lines.fresh[i] = EXTREME(row_of)(s, next + twi_min_i64(i, valid - 1), in_place);
        lines.out[i] = s->lines + i * pitch + setup->before;
    }
    for (int64_t i = 0; i < s->singles; i++)
        lines.common[i] = EXTREME(row_of)(s, at + TWI_ORDER_BAND + i, in_place);
    for (int64_t k = 0; k < s->groups; k++)
        lines.common[s->singles + k] = s->group + (band + 1 + k) % (s->groups + 1) * pitch;
    for (int64_t x = first; x < end; x += piece) {
        const int64_t till = twi_min_i64(x + piece, end);
        for (int64_t i = 0; i < valid; i++) {
            const int64_t ahead = s->job->first - setup->anchor_y + next + i + TWI_ORDER_BAND;
            if (ahead >= 0 && ahead < src->height)
                bring_near((const char *)src->data + ahead * src->pitch + x * size, (till - x) * size);
            EXTREME(keep)(s, next + i, x, till, in_place);
        }
        EXTREME(band)(&lines, x, till);
    }
}

/*
 * Down the columns for windows of some height, a band of eight rows at a time, so that a line is loaded once for all
 * eight. Row i's window begins at the i-th of eight `old` rows and ends at the i-th of eight `fresh` ones. What lies
 * between is common to the band: the extremes of earlier bands' fresh rows, a line for eight, and the few rows above
 * those. Whole vectors are read in place where keys are elements.
 */
static void EXTREME(run_groups)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t row = setup->row;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t shared = setup->height - 1 - TWI_ORDER_BAND;
    const int64_t whole = KEYS_ARE_ELEMENTS ? row / STEP * STEP : 0;
    char *place = order_scratch(setup, job);
    EXTREME(stack)
    s = {.setup = setup,
         .job = job,
         .kept = setup->height + TWI_ORDER_BAND - 1,
         .groups = shared / TWI_ORDER_BAND,
         .singles = shared % TWI_ORDER_BAND};
    s.ring = take(&place, s.kept * setup->pitch);
    s.group = take(&place, (s.groups + 1) * setup->pitch);
    s.lines = take(&place, TWI_ORDER_BAND * setup->pitch);
    K *work = take(&place, 0);
    for (int64_t r = 0; r < setup->height - 1; r++)
        EXTREME(keep)(&s, r, 0, row, false);
    for (int64_t k = 0; k < s.groups; k++) { /* as earlier bands would have left them */
        const K *from = s.ring + (TWI_ORDER_BAND + s.singles + k * TWI_ORDER_BAND) * pitch;
        K *to = s.group + (k + 1) * pitch;
        EXTREME(pair)(to, from, pitch, row, false);
        for (int64_t i = 2; i < TWI_ORDER_BAND; i += 2)
            EXTREME(join)(to, from + i * pitch, from + (i + 1) * pitch, row);
    }
    for (int64_t y = job->first; y < job->last; y += TWI_ORDER_BAND) {
        const int64_t valid = twi_min_i64(TWI_ORDER_BAND, job->last - y);
        EXTREME(run_band)(&s, y - job->first, valid, 0, whole, true);
        EXTREME(run_band)(&s, y - job->first, valid, whole, row, false);
        for (int64_t i = 0; i < valid; i++)
            EXTREME(finish_row)(setup, job, y + i, s.lines + i * pitch, work);
    }
}

/* ---- Footprints --------------------------------------------------------------------------------- */

/* In strips. Of every source row those of 1, 2, 4 ... positions are kept as long as a window may need them: a run of
   the footprint is two of them, one at its start and one at its end. */
static void EXTREME(run_footprint)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t height = setup->height;
    const int64_t halo = setup->before + setup->after;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t c = setup->channels;
    char *place = order_scratch(setup, job);
    K *kept = take(&place, height * setup->levels * setup->pitch);
    K *best = take(&place, 0);
    for (int64_t first = 0; first < setup->row; first += setup->strip) {
        const int64_t n = twi_min_i64(setup->strip, setup->row - first);
        for (int64_t t = 0; t < job->last - job->first + height - 1; t++) {
            K *lines = kept + t % height * setup->levels * pitch;
            JOIN(fetch, NAME)
            (setup, &job->src, job->first - setup->anchor_y + t, first - setup->before, n + halo, lines);
            for (int64_t k = 1; k < setup->levels; k++)
                EXTREME(pair)(lines + k * pitch, lines + (k - 1) * pitch, c << (k - 1), n + halo - (c << k) + c, false);
            if (t < height - 1)
                continue;
            for (int64_t i = 0; i < setup->run_count; i++) {
                const twi_order_run run = setup->runs[i];
                const K *from = kept + ((t + 1 + run.row) % height * setup->levels + run.level) * pitch;
                const int64_t last = run.last - (c << run.level);
                if (i == 0)
                    EXTREME(pair)(best, from + run.first, last - run.first, n, false);
                else
                    EXTREME(join)(best, from + run.first, from + last, n);
            }
            JOIN(deliver, NAME)(setup, job, job->first + t - (height - 1), first, best, n);
        }
    }
}
#undef KEYS_ARE_ELEMENTS
#undef EXTREME
