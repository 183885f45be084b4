/*
 * The row pass of the fixed-point Gaussian, in vectors of u8. Two elements to both sides of the middle are put side by
 * side and added in 16 bits; two such sums are put side by side and multiplied and added in 32 bits.
 *
 * All that is unpacked within blocks of 16 elements, so a vector of bytes becomes four vectors of 32-bit lanes:
 * elements 0-3 of each block, 4-7, 8-11 and 12-15. The ring keeps that order, since the column pass needs none, and
 * packing (narrow_fixed) undoes it.
 */
typedef struct folded {
    vec low; /* elements 0-7 of each block, in 8.8 bits and a half, less 2^15 */
    vec high;
} folded;

/* Sums of two elements in 16 bits: elements 0-7 of each block, and 8-15. */
INLINE folded fold(const uint8_t *middle, int64_t offset)
{
    const vec a = v_load(middle - offset);
    const vec b = v_load(middle + offset);
    const vec ones = OP(set1_epi8)(1);
    const folded sums = {OP(maddubs_epi16)(OP(unpacklo_epi8)(a, b), ones),
                         OP(maddubs_epi16)(OP(unpackhi_epi8)(a, b), ones)};
    return sums;
}

INLINE folded fold_row(const twi_conv_pass *pass, const uint8_t *middle)
{
    const int16_t *weight = pass->weights;
    vec s0 = OP(set1_epi32)((int32_t)pass->start);
    vec s1 = s0, s2 = s0, s3 = s0;
    int64_t t = 0;
    for (; t + 1 < pass->count; t += 2) {
        int32_t both;
        memcpy(&both, weight + t, sizeof both);
        const vec weights = OP(set1_epi32)(both);
        const folded a = fold(middle, pass->taps[t].offset);
        const folded b = fold(middle, pass->taps[t + 1].offset);
        s0 = mac_words_vector(s0, weights, OP(unpacklo_epi16)(a.low, b.low));
        s1 = mac_words_vector(s1, weights, OP(unpackhi_epi16)(a.low, b.low));
        s2 = mac_words_vector(s2, weights, OP(unpacklo_epi16)(a.high, b.high));
        s3 = mac_words_vector(s3, weights, OP(unpackhi_epi16)(a.high, b.high));
    }
    if (t < pass->count) {
        const vec none = OP_BITS(setzero)();
        const vec last = OP(set1_epi32)(weight[t]);
        const folded a = fold(middle, pass->taps[t].offset);
        s0 = mac_words_vector(s0, last, OP(unpacklo_epi16)(a.low, none));
        s1 = mac_words_vector(s1, last, OP(unpackhi_epi16)(a.low, none));
        s2 = mac_words_vector(s2, last, OP(unpacklo_epi16)(a.high, none));
        s3 = mac_words_vector(s3, last, OP(unpackhi_epi16)(a.high, none));
    }
    const vec middle_of_range = OP(set1_epi16)(INT16_MIN);
    const folded row = {
        OP_BITS(xor)(OP(packus_epi32)(OP(srli_epi32)(s0, 8), OP(srli_epi32)(s1, 8)), middle_of_range),
        OP_BITS(xor)(OP(packus_epi32)(OP(srli_epi32)(s2, 8), OP(srli_epi32)(s3, 8)), middle_of_range),
    };
    return row;
}

/* A line of the ring from two rows, from where the first windows begin. */
static void fold_rows(const twi_conv_setup *setup, const uint8_t *upper, const uint8_t *lower, int64_t n, char *to)
{
    for (int64_t x = 0; x < n; x += VEC) {
        const folded a = fold_row(&setup->row, upper + setup->beside / 2 + x);
        const folded b = fold_row(&setup->row, lower + setup->beside / 2 + x);
        v_store(to + 4 * x, OP(unpacklo_epi16)(a.low, b.low));
        v_store(to + 4 * x + VEC, OP(unpackhi_epi16)(a.low, b.low));
        v_store(to + 4 * x + 2 * VEC, OP(unpacklo_epi16)(a.high, b.high));
        v_store(to + 4 * x + 3 * VEC, OP(unpackhi_epi16)(a.high, b.high));
    }
}
