/*
 * The column pass of the fixed-point Gaussian over few rows, for 32 registers: from lines to bytes without memory
 * between them. A line is two rows; the first belongs to rows 0 and 1 of the band, the last to rows 2 and 3, those
 * between to all. The number of lines is a constant of the caller: compilers move sums about in loops.
 */
INLINE void fixed_band(const twi_conv_setup *setup, const band *b, int count, bool stream)
{
    const twi_conv_pass *pass = &setup->main;
    const int32_t *weights = pass->weights;
    for (int64_t i = 0; i < b->n; i += VEC) {
        look_ahead(b, i, 1, VEC);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r += 2)
            near_tile(&setup->row, (const uint8_t *)b->rows[r] + b->x + i, (const uint8_t *)b->rows[r + 1] + b->x + i,
                      b->newest[r / 2] + 4 * (b->x + i));
        vec sums[TWI_CONV_BAND][4];
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++) {
            UNROLL
            for (int v = 0; v < 4; v++)
                sums[r][v] = OP(set1_epi32)((int32_t)pass->start);
        }
        UNROLL
        for (int line = 0; line < count; line++) {
            UNROLL
            for (int v = 0; v < 4; v++) {
                const vec data = v_load((const char *)b->lines[line] + 4 * (b->x + i) + v * VEC);
                UNROLL
                for (int r = 0; r < TWI_CONV_BAND; r++)
                    if (r < 2 ? line < count - 1 : line > 0)
                        sums[r][v] =
                            mac_words_vector(sums[r][v], OP(set1_epi32)(weights[line * TWI_CONV_BAND + r]), data);
            }
        }
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            v_put(b->to[r] + i, fixed_bytes(sums[r]), stream);
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
                                           [6] = band_fixed_6, [7] = band_fixed_7, [8] = band_fixed_8};
    const int64_t count = (pass->height + 3) / 2;
    return setup->row.unit == TWI_CONV_NEAR && count == pass->count && count < (int64_t)(sizeof bands / sizeof *bands)
               ? bands[count]
               : NULL;
}
