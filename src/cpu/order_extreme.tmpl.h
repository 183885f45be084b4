/*
 * Minimum or maximum over windows of any size: OP_NAME, with PICK(a, b) the one of two that wins. NAME, K as in
 * order_lines.tmpl.h. A position that is counted twice changes nothing, so a line of 2k positions is
 * two of k, and one of any length is two that overlap: the time grows with the window's logarithm at most.
 */
#define EXTREME(name) JOIN(JOIN(name, OP_NAME), NAME)

static void EXTREME(pair)(K *to, const K *from, int64_t second, int64_t n)
{
    const K *const other = from + second;
#pragma omp simd
    for (int64_t x = 0; x < n; x++) /* also in place: what is read lies ahead of what is written */
        to[x] = PICK(from[x], other[x]);
}

static void EXTREME(four)(K *to, const K *from, int64_t second, int64_t third, int64_t fourth, int64_t n)
{
    const K *const b = from + second;
    const K *const c = from + third;
    const K *const d = from + fourth;
#pragma omp simd
    for (int64_t x = 0; x < n; x++) {
        const K low = PICK(from[x], b[x]);
        const K high = PICK(c[x], d[x]);
        to[x] = PICK(low, high);
    }
}

/* ---- Rectangles --------------------------------------------------------------------------------- */

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
static K *EXTREME(across)(const K *line, K *work, int64_t n, int64_t width, int64_t c)
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
        EXTREME(four)(work, from, side * c, 2 * side * c, 3 * side * c, n + (width - 4 * side) * c);
        from = work;
    }
    const int64_t last = width - side; /* where the last part starts, so that it ends with the window */
    if (width <= 2 * side)
        EXTREME(pair)(work, from, last * c, n);
    else
        EXTREME(four)(work, from, side * c, twi_min_i64(2 * side, last) * c, last * c, n);
    return work;
}

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
                EXTREME(pair)(ring + i * pitch, ring + i * pitch, pitch, row);
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
        /* a column beside the row is one of the row's, or all of the border's key */
        for (int64_t i = 0; i < setup->before + setup->after; i++) {
            const int64_t from = setup->halo[i];
            line[i < setup->before ? i : i + row] = from < 0 ? (K)setup->outside : middle[from];
        }
        for (int64_t x = 0; x < row; x += setup->strip) {
            const int64_t n = twi_min_i64(setup->strip, row - x);
            JOIN(deliver, NAME)(setup, job, y, x, EXTREME(across)(line + x, work, n, setup->width, setup->channels), n);
        }
    }
}

/* ---- Footprints --------------------------------------------------------------------------------- */

/* best = PICK(best, a, b) */
static void EXTREME(join)(K *restrict best, const K *a, const K *b, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const K both = PICK(a[x], b[x]);
        best[x] = PICK(best[x], both);
    }
}

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
                EXTREME(pair)(lines + k * pitch, lines + (k - 1) * pitch, c << (k - 1), n + halo - (c << k) + c);
            if (t < height - 1)
                continue;
            for (int64_t i = 0; i < setup->run_count; i++) {
                const twi_order_run run = setup->runs[i];
                const K *from = kept + ((t + 1 + run.row) % height * setup->levels + run.level) * pitch;
                const int64_t last = run.last - (c << run.level);
                if (i == 0)
                    EXTREME(pair)(best, from + run.first, last - run.first, n);
                else
                    EXTREME(join)(best, from + run.first, from + last, n);
            }
            JOIN(deliver, NAME)(setup, job, job->first + t - (height - 1), first, best, n);
        }
    }
}
#undef EXTREME
