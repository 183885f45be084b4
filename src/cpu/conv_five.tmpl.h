/*
 * Correlation of u8 with a 5x5 mask of i8: products of four bytes at once, added in lanes of 32 bits (VNNI). Lane i of
 * phase p is the sum of element 4i + p, so a vector loaded from element p on has columns 0 ... 3 of the window in the
 * lanes of phase p, as they lie in memory. For column 4 alone that would leave three products of four unused. Its bytes
 * of four rows are put together in a lane instead, a quartet: a transposition in two steps. The fifth row is the last
 * of the next quartet. So 64 sums of 25 products take 4 * (5 + 1 + 1) instructions.
 *
 * Where the sums fit into 16 bits they are packed before column 4 is added, two rows at a time, and are divided there:
 * 4 * 5 + 2 * 3 instructions, and two to divide instead of eight.
 */
enum { FIVE = 5, PHASES = 4 };

/* The bytes of two rows in turn: those of phases 0 and 2, and of 1 and 3. */
typedef struct five_pair {
    vec even;
    vec odd;
} five_pair;

/* What the weights are in a tile: those of columns 0 ... 3 of each row, of column 4 in rows 0 ... 3, and the last. */
typedef struct five_weights {
    int32_t fours[FIVE];
    int32_t column;
    int32_t corner;
} five_weights;

/* Bytes of `into` whose bit in each four of `mask` is set are taken from `from`, at their place in `order`. */
INLINE vec five_merge(vec into, unsigned mask, vec from, int32_t order)
{
    const __m128i places = _mm_add_epi8(_mm_set1_epi32(order), _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
    return _mm512_mask_shuffle_epi8(into, mask * UINT64_C(0x1111111111111111), from, _mm512_broadcast_i32x4(places));
}

INLINE five_pair five_pair_of(vec upper, vec lower)
{
    const five_pair pair = {five_merge(upper, 0xa, lower, 0x02000000), five_merge(lower, 0x5, upper, 0x00030001)};
    return pair;
}

INLINE void five_quartet(vec *quartet, five_pair upper, five_pair lower)
{
    quartet[0] = five_merge(upper.even, 0xc, lower.even, 0x01000000);
    quartet[1] = five_merge(upper.odd, 0xc, lower.odd, 0x01000000);
    quartet[2] = five_merge(lower.even, 0x3, upper.even, 0x00000302);
    quartet[3] = five_merge(lower.odd, 0x3, upper.odd, 0x00000302);
}

INLINE void five_add(vec *sums, int32_t weights, const vec *data)
{
    UNROLL
    for (int p = 0; p < PHASES; p++)
        sums[p] = mac_bytes_vector(sums[p], OP(set1_epi32)(weights), data[p]);
}

/* Columns 0 ... 3 of 64 elements of each row of the band. */
INLINE void five_fours(const twi_conv_pass *pass, const void *const *lines, int64_t x, vec sums[][PHASES])
{
    const five_weights *weights = pass->weights;
    UNROLL
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        UNROLL
        for (int p = 0; p < PHASES; p++)
            sums[r][p] = OP(set1_epi32)((int32_t)pass->start);
    }
    UNROLL
    for (int line = 0; line < FIVE + TWI_CONV_BAND - 1; line++) {
        const uint8_t *row = (const uint8_t *)lines[line] + x;
        UNROLL
        for (int p = 0; p < PHASES; p++) {
            const vec data = v_load(row + p);
            UNROLL
            for (int r = 0; r < TWI_CONV_BAND; r++)
                if (line >= r && line - r < FIVE)
                    sums[r][p] = mac_bytes_vector(sums[r][p], OP(set1_epi32)(weights->fours[line - r]), data);
        }
    }
}

/* Column 4, by quartets of rows. */
INLINE void five_quartets(const twi_conv_pass *pass, const void *const *lines, int64_t x, vec sums[][PHASES])
{
    const five_weights *weights = pass->weights;
    vec above = OP_BITS(setzero)(); /* column 4 of the row before */
    five_pair pairs[FIVE + TWI_CONV_BAND - 1];
    UNROLL
    for (int line = 0; line < FIVE + TWI_CONV_BAND - 1; line++) {
        const vec column = v_load((const uint8_t *)lines[line] + x + PHASES);
        vec data[PHASES];
        pairs[line] = five_pair_of(above, column);
        above = column;
        if (line < PHASES - 1)
            continue;
        /* of the rows up to this one: the fifth for one row of the band, the first four for the next */
        five_quartet(data, pairs[line - 2], pairs[line]);
        if (line >= PHASES)
            five_add(sums[line - PHASES], weights->corner, data);
        if (line < PHASES + TWI_CONV_BAND - 1)
            five_add(sums[line - PHASES + 1], weights->column, data);
    }
}

/* Phases of 16 elements one after the other, and back: a transposition. */
INLINE vec five_order(vec v)
{
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return OP(shuffle_epi8)(v, _mm512_broadcast_i32x4(order));
}

/* The sums in 16 bits, phases 0 and 1, then 2 and 3, with column 4 by pairs of rows. */
INLINE void five_pairs(const twi_conv_pass *pass, const void *const *lines, int64_t x, vec sums[][PHASES],
                       vec shorts[][2])
{
    const five_weights *weights = pass->weights;
    const vec first = OP(set1_epi16)((int16_t)weights->column);
    const vec second = OP(set1_epi16)((int16_t)(weights->column >> 16));
    const vec last = OP(set1_epi16)((int16_t)(weights->corner >> 16)); /* of a pair's second row */
    vec above = five_order(v_load((const uint8_t *)lines[0] + x + PHASES));
    UNROLL
    for (int r = 0; r < TWI_CONV_BAND; r++) {
        shorts[r][0] = OP(packus_epi32)(sums[r][0], sums[r][1]);
        shorts[r][1] = OP(packus_epi32)(sums[r][2], sums[r][3]);
    }
    UNROLL
    for (int line = 0; line < FIVE + TWI_CONV_BAND - 2; line++) {
        const vec below = five_order(v_load((const uint8_t *)lines[line + 1] + x + PHASES));
        const vec pair[] = {OP(unpacklo_epi8)(above, below), OP(unpackhi_epi8)(above, below)};
        above = below;
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++) {
            if (line != r && line != r + 2 && line != r + 3)
                continue;
            const vec weight = line == r ? first : line == r + 2 ? second : last;
            shorts[r][0] = OP(add_epi16)(shorts[r][0], OP(maddubs_epi16)(pair[0], weight));
            shorts[r][1] = OP(add_epi16)(shorts[r][1], OP(maddubs_epi16)(pair[1], weight));
        }
    }
}

INLINE void five_band(const twi_conv_setup *setup, const band *b, twi_conv_division division, bool stream)
{
    const scaler by = make_scaler(setup);
    const short_scaler short_by = make_short_scaler(&setup->scale.pairs);
    vec bytes[TWI_CONV_BAND] = {0};
    for (int64_t i = 0; i < b->n; i += VEC) {
        const void *const *lines = lines_at(b, b->x + i);
        vec sums[TWI_CONV_BAND][PHASES], shorts[TWI_CONV_BAND][2];
        look_ahead(b, i, 1, VEC);
        five_fours(&setup->main, lines, b->x + i, sums);
        put_tile(b, i - VEC, bytes, 1, stream);
        if (division == TWI_CONV_SHORT)
            five_pairs(&setup->main, lines, b->x + i, sums, shorts);
        else
            five_quartets(&setup->main, lines, b->x + i, sums);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            bytes[r] = five_order(division == TWI_CONV_SHORT
                                      ? pack_quotients(scale_short(shorts[r][0], &short_by, true),
                                                       scale_short(shorts[r][1], &short_by, true), &short_by)
                                      : pack_bytes(sums[r], &by, division));
    }
    put_tile(b, (b->n - 1) / VEC * VEC, bytes, 1, stream);
}

static void band_five(const twi_conv_setup *setup, const band *b)
{
    if (setup->scale.division == TWI_CONV_SHORT && b->stream)
        five_band(setup, b, TWI_CONV_SHORT, true);
    else if (setup->scale.division == TWI_CONV_SHORT)
        five_band(setup, b, TWI_CONV_SHORT, false);
    else if (setup->scale.division == TWI_CONV_SHIFT && b->stream)
        five_band(setup, b, TWI_CONV_SHIFT, true);
    else if (setup->scale.division == TWI_CONV_SHIFT)
        five_band(setup, b, TWI_CONV_SHIFT, false);
    else if (b->stream)
        five_band(setup, b, TWI_CONV_FLOAT, true);
    else
        five_band(setup, b, TWI_CONV_FLOAT, false);
}
