/*
 * The row pass of the fixed-point Gaussian with few taps. All that a window reads of a row for the four elements of a
 * lane quartet lies in a block of 16 bytes, so one shuffle puts a lane's bytes side by side: two elements to both sides
 * of the middle, then two others (a tap of conv_fold.tmpl.h each). They are added in pairs in 16 bits, the sums
 * multiplied and added in 32.
 *
 * Vector v of four has elements 4v ... 4v + 3 of each 16: the order of conv_fold.tmpl.h.
 */
INLINE void near_row(const twi_conv_pass *pass, const uint8_t *row, vec *sums)
{
    const twi_conv_near *step = pass->weights;
    const vec ones = OP(set1_epi8)(1);
    vec data[4];
    for (int v = 0; v < 4; v++) {
        data[v] = v_load(row + 4 * v);
        sums[v] = OP(set1_epi32)((int32_t)pass->start);
    }
    if (pass->taps->rows == 0) { /* the middle alone, twice: bytes become words without an addition */
        UNROLL
        for (int v = 0; v < 4; v++)
            sums[v] =
                mac_words_vector(sums[v], v_words(step->weights), OP(shuffle_epi8)(data[v], v_blocks(step->order)));
        step++;
    }
    for (const twi_conv_near *end = (const twi_conv_near *)pass->weights + pass->count; step < end; step++) {
        UNROLL
        for (int v = 0; v < 4; v++)
            sums[v] = mac_words_vector(sums[v], v_words(step->weights),
                                       OP(maddubs_epi16)(OP(shuffle_epi8)(data[v], v_blocks(step->order)), ones));
    }
}

/* Bytes 1 and 2 of the lanes of a, then those of b. */
INLINE vec near_pair(vec a, vec b)
{
#if defined(__AVX512BW__)
    const vec order = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 2, 0, 0, 5, 6, 0, 0, 9, 10, 0, 0, 13, 14, 0, 0));
    return _mm512_mask_shuffle_epi8(OP(slli_epi32)(b, 8), 0x3333333333333333, a, order);
#else
    return v_select(OP(set1_epi32)(UINT16_MAX), OP(srli_epi32)(a, 8), OP(slli_epi32)(b, 8));
#endif
}

/* A line of the ring from two rows, whose first windows begin there. */
INLINE void near_tile(const twi_conv_pass *pass, const uint8_t *upper, const uint8_t *lower, char *to)
{
    vec a[4], b[4];
    near_row(pass, upper, a);
    near_row(pass, lower, b);
    UNROLL
    for (int v = 0; v < 4; v++)
        v_store(to + v * VEC, near_pair(a[v], b[v]));
}

static void near_rows(const twi_conv_setup *setup, const uint8_t *upper, const uint8_t *lower, int64_t n, char *to)
{
    for (int64_t x = 0; x < n; x += VEC)
        near_tile(&setup->row, upper + x, lower + x, to + 4 * x);
}
