/*
 * The column pass of the fixed-point Gaussian over few rows, for 32 registers: from lines to bytes without memory
 * between them. A line is two rows; the first belongs to rows 0 and 1 of the band, the last to rows 2 and 3, those
 * between to all. The number of lines is a constant of the caller: compilers move sums about in loops.
 *
 * Sums begin with a product and not with pass->start: the 2^31 that it would add is the upper bit of the result.
 */
enum { FIXED_LINES = 8 };

/* Of rows 0 and 1; rows 2 and 3 have the same a line later. */
typedef struct fixed_weights {
    vec lines[FIXED_LINES - 1][2];
} fixed_weights;

INLINE fixed_weights load_fixed(const twi_conv_pass *pass, int count)
{
    const int32_t *from = pass->weights;
    fixed_weights weights;
    UNROLL
    for (int line = 0; line < count - 1; line++) {
        UNROLL
        for (int r = 0; r < 2; r++)
            weights.lines[line][r] = OP(set1_epi32)(from[line * TWI_CONV_BAND + r]);
    }
    return weights;
}

/* Vector v of four, of each row. */
INLINE void fixed_sums(const fixed_weights *weights, const band *b, int64_t i, int v, int count, vec *sums)
{
    UNROLL
    for (int line = 0; line < count; line++) {
        const vec data = v_load((const char *)b->lines[line] + 4 * (b->x + i) + v * VEC);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++) {
            const int step = line - r / 2;
            if (step == 0)
                sums[r] = OP(madd_epi16)(data, weights->lines[step][r % 2]);
            else if (step > 0 && step < count - 1)
                sums[r] = mac_words_vector(sums[r], weights->lines[step][r % 2], data);
        }
    }
}

INLINE vec with_upper_bit(vec bytes)
{
    return OP_BITS(xor)(bytes, OP(set1_epi8)(INT8_MIN));
}

INLINE void fixed_band(const twi_conv_setup *setup, const band *b, int count, bool stream)
{
    const fixed_weights weights = load_fixed(&setup->main, count);
    burst out;
    for (int64_t i = 0; i < b->n; i += VEC) {
        vec sums[4][TWI_CONV_BAND];
        look_ahead(b, i, 1, VEC);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            near_tile(&setup->row, (const uint8_t *)b->rows[r] + b->x + i, (const uint8_t *)b->rows[r + 1] + b->x + i,
                      b->newest[r / 2] + 4 * (b->x + i));
        UNROLL
        for (int v = 0; v < 4; v++)
            fixed_sums(&weights, b, i, v, count, sums[v]);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++) {
            const vec four[] = {sums[0][r], sums[1][r], sums[2][r], sums[3][r]};
            put_result(b, &out, r, i, with_upper_bit(fixed_bytes(four)), stream);
        }
        leave(b, &out, i + VEC, stream);
    }
}

#define FIXED_BAND(count)                                                                                              \
    static void band_fixed_##count(const twi_conv_setup *setup, const band *b)                                         \
    {                                                                                                                  \
        if (b->stream)                                                                                                 \
            fixed_band(setup, b, count, true);                                                                         \
        else                                                                                                           \
            fixed_band(setup, b, count, false);                                                                        \
    }
FIXED_BAND(3)
FIXED_BAND(4)
FIXED_BAND(5)
FIXED_BAND(6)
FIXED_BAND(7)
FIXED_BAND(8)
#undef FIXED_BAND

/* NULL: too many taps, or weights so large that they are cut in two. */
static band_function *find_fixed(const twi_conv_setup *setup)
{
    const twi_conv_pass *pass = &setup->main;
    static band_function *const bands[] = {[3] = band_fixed_3, [4] = band_fixed_4, [5] = band_fixed_5,
                                           [6] = band_fixed_6, [7] = band_fixed_7, [FIXED_LINES] = band_fixed_8};
    const int64_t count = (pass->height + 3) / 2;
    return setup->row.unit == TWI_CONV_NEAR && count == pass->count && count <= FIXED_LINES ? bands[count] : NULL;
}
