/*
 * The inner loop in vectors. The includer's, undefined at the end: NAME, T (a line's element), S (a sum),
 * START(integer) (a vector of them), MAC(sum, weight, elements); for floats also W (a weight), V (a vector of sums),
 * LOAD(address), STORE(address, sums) and SPLAT(weight). What is not given is that of integers of 32 bits.
 *
 * PAIRED: a tap is two elements, put side by side in blocks of 16 bytes; the first of two vectors holds elements 0-7 of
 * each, then 8-15.
 *
 * FULL: masks have a tap for each weight.
 *
 * FINISH(setup, sums, results): the results of a row's tile; there is band_NAME() then.
 */
#ifndef T
#define T uint32_t
#define S uint32_t
#define START(value) OP(set1_epi32)((int32_t)(uint32_t)(uint64_t)(value))
#endif
#ifndef V
#define W int32_t
#define V vec
#define LOAD(p) v_load(p)
#define STORE(p, v) v_store(p, v)
#define SPLAT(w) OP(set1_epi32)(w)
#endif

INLINE void JOIN(mac, NAME)(V *sums, V weight, const V *data)
{
    UNROLL
    for (int c = 0; c < COLUMNS; c++)
        sums[c] = MAC(sums[c], weight, data[c]);
}

#ifdef FULL
/* A line's taps, for `rows` of the band; the next line's weights. */
INLINE const W *JOIN(add_line, NAME)(const twi_conv_pass *pass, const void *line, int64_t x, uint32_t rows,
                                     const W *weight, V sums[][COLUMNS])
{
    const int64_t step = pass->taps[1].offset;
    const T *at = (const T *)line + x;
    for (int64_t i = 0; i < pass->width; i++, at += step, weight += TWI_CONV_BAND) {
        V data[COLUMNS];
        UNROLL
        for (int c = 0; c < COLUMNS; c++)
            data[c] = LOAD((const char *)at + c * VEC);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            if (rows >> r & 1)
                JOIN(mac, NAME)(sums[r], SPLAT(weight[r]), data);
    }
    return weight;
}

/* A mask of three rows and two columns or more: the rows of the band that a line belongs to are constants, so that
   nothing branches on them. */
INLINE void JOIN(add_lines, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, V sums[][COLUMNS])
{
    const void *const *below = lines + pass->height;
    const W *weight = pass->weights;
    weight = JOIN(add_line, NAME)(pass, lines[0], x, 1, weight, sums);
    weight = JOIN(add_line, NAME)(pass, lines[1], x, 3, weight, sums);
    weight = JOIN(add_line, NAME)(pass, lines[2], x, 7, weight, sums);
    for (lines += 3; lines < below; lines++)
        weight = JOIN(add_line, NAME)(pass, *lines, x, 15, weight, sums);
    weight = JOIN(add_line, NAME)(pass, below[0], x, 14, weight, sums);
    weight = JOIN(add_line, NAME)(pass, below[1], x, 12, weight, sums);
    JOIN(add_line, NAME)(pass, below[2], x, 8, weight, sums);
}
#endif

/* A tile: some vectors of each row of the band, in registers until all taps are added. */
INLINE void JOIN(sum_tile, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, V sums[][COLUMNS])
{
    const W *weight = pass->weights;
    UNROLL
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        UNROLL
        for (int c = 0; c < COLUMNS; c++)
            sums[r][c] = START(pass->start);
    }
#ifdef FULL
    if (pass->height >= 3 && pass->width > 1) {
        JOIN(add_lines, NAME)(pass, lines, x, sums);
        return;
    }
#endif
    for (int64_t t = 0; t < pass->count; t++, weight += TWI_CONV_BAND) {
        const twi_conv_tap tap = pass->taps[t];
        const char *line = (const char *)((const T *)lines[tap.line] + x + tap.offset);
        V data[COLUMNS];
#ifdef PAIRED
        const char *other = (const char *)((const T *)lines[tap.line] + x + tap.second);
        UNROLL
        for (int c = 0; c < COLUMNS; c += 2) {
            const vec a = LOAD(line + c / 2 * VEC);
            const vec b = LOAD(other + c / 2 * VEC);
            data[c] = OP(unpacklo_epi8)(a, b);
            data[c + 1] = OP(unpackhi_epi8)(a, b);
        }
#else
        UNROLL
        for (int c = 0; c < COLUMNS; c++)
            data[c] = LOAD(line + c * VEC);
#endif
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            if (tap.rows >> r & 1)
                JOIN(mac, NAME)(sums[r], SPLAT(weight[r]), data);
    }
}

static void JOIN(sum, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, int64_t n, void *to)
{
    const int64_t tile = COLUMNS * (int64_t)(sizeof(V) / sizeof(S));
    const int64_t end = twi_round_up(n, TWI_CONV_TILE); /* the blocks of conv_fold.tmpl.h */
    for (int64_t i = 0; i < end; i += tile) {
        V sums[TWI_CONV_BAND][COLUMNS];
        JOIN(sum_tile, NAME)(pass, lines, x + i, sums);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++) {
            UNROLL
            for (int c = 0; c < COLUMNS; c++)
                STORE((char *)((S *)to + r * TWI_CONV_CHUNK + i) + c * VEC, sums[r][c]);
        }
    }
}

#ifdef FINISH
/* The results of a band, without storing sums. */
static void JOIN(band, NAME)(const twi_conv_setup *setup, const band *b)
{
    const int64_t tile = COLUMNS * (int64_t)(sizeof(V) / sizeof(S));
    vec results[TWI_CONV_BAND][COLUMNS] = {0};
    for (int64_t i = 0; i < b->n; i += tile) {
        V sums[TWI_CONV_BAND][COLUMNS];
        look_ahead(b, i, sizeof(T), COLUMNS * VEC);
        JOIN(sum_tile, NAME)(&setup->main, lines_at(b, b->x + i), b->x + i, sums);
        put_tile(b, (i - tile) * (int64_t)sizeof(S), results[0], COLUMNS, b->stream);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            FINISH(setup, sums[r], results[r]);
    }
    put_tile(b, (b->n - 1) / tile * tile * (int64_t)sizeof(S), results[0], COLUMNS, b->stream);
}
#endif

#undef NAME
#undef T
#undef S
#undef W
#undef V
#undef LOAD
#undef STORE
#undef SPLAT
#undef START
#undef MAC
#undef PAIRED
#undef FULL
#undef FINISH
