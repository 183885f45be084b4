/*
 * box_slide_plain.tmpl.h for u8 with 16-bit column sums: the change from a window to the next fits 16 bits, so half the
 * vectors; the windows' sums, 32 bits wide, are kept as even and odd elements. With one channel the prefix sum
 * runs over pairs (madd): the odd elements' sums are the pairs', an even one's is its pair's less the odd change.
 *
 * The quotient in f32: a sum is below 2^24, so exact, and (sum + 1/2) / count is at least 1 / 2 count from any integer.
 * The two roundings move it by less than 256 * 2^-23, which is less than that while count < 16384.
 */
typedef struct windows {
    vec even;
    vec odd;
} windows;

/* Lane i of the even (odd) result: the sum three elements before the next vector's element 2i (2i + 1). */
INLINE windows tail_of_3(windows w)
{
    static const int32_t pick[2][16] = {{-2, 0, 1, -2, 0, 1, -2, 0, 1, -2, 0, 1, -2, 0, 1, -2},
                                        {1, -2, 0, 1, -2, 0, 1, -2, 0, 1, -2, 0, 1, -2, 0, 1}};
    /* of the last three elements, -2 is the odd one before, 1 the last even, 0 the last odd */
    windows tail;
    vec *to[2] = {&tail.even, &tail.odd};
    for (int i = 0; i < 2; i++) {
        const vec which = v_load(pick[i]);
        const vec even = v_pick(w.even, OP(set1_epi32)(LANES - 1));
        const vec odd = v_pick(w.odd, OP(add_epi32)(OP(set1_epi32)(LANES - 1), OP(srai_epi32)(which, 1)));
        *to[i] = v_choose(OP(slli_epi32)(which, 31), even, odd);
    }
    return tail;
}

INLINE vec slide16_step(const uint16_t *right, const uint16_t *left, const int c, windows *carry, vec_float inverse,
                        vec_float half)
{
    const vec change = OP(sub_epi16)(v_load(right), v_load(left));
    const vec high = OP(srai_epi32)(change, 16);
    windows sum;
    if (c == 1) {
        sum.odd = OP(add_epi32)(v_scan(OP(madd_epi16)(change, OP(set1_epi16)(1)), 1), carry->odd);
        sum.even = OP(sub_epi32)(sum.odd, high);
        carry->odd = v_tail(sum.odd, 1);
    } else {
        const vec low = OP(srai_epi32)(OP(slli_epi32)(change, 16), 16);
        const int stride = c == 4 ? 2 : c == 3 ? 3 : 1;
        if (c == 3) { /* three elements on, even and odd change places: two such steps are three lanes */
            sum.even = v_scan(OP(add_epi32)(low, v_up(high, 2)), 3);
            sum.odd = v_scan(OP(add_epi32)(high, v_up(low, 1)), 3);
        } else {
            sum.even = v_scan(low, stride);
            sum.odd = v_scan(high, stride);
        }
        sum.even = OP(add_epi32)(sum.even, carry->even);
        sum.odd = OP(add_epi32)(sum.odd, carry->odd);
        if (c == 3) {
            *carry = tail_of_3(sum);
        } else {
            carry->even = v_tail(sum.even, stride);
            carry->odd = v_tail(sum.odd, stride);
        }
    }
    const vec even = OP(cvttps_epi32)(OP(fmadd_ps)(OP(cvtepi32_ps)(sum.even), inverse, half));
    const vec odd = OP(cvttps_epi32)(OP(fmadd_ps)(OP(cvtepi32_ps)(sum.odd), inverse, half));
    return OP_BITS(or)(even, OP(slli_epi32)(odd, 16));
}

INLINE void slide16_by(uint8_t *restrict out, const uint16_t *restrict right, const uint16_t *restrict left, int64_t n,
                       uint32_t *total, double inverse, const int c)
{
    const vec_float factor = OP(set1_ps)((float)inverse);
    const vec_float half = OP(set1_ps)(0.5f * (float)inverse);
    uint32_t first[2][LANES];
    for (int i = 0; i < LANES; i++) {
        first[0][i] = total[2 * i % c];
        first[1][i] = total[(2 * i + 1) % c];
    }
    windows carry = {v_load(first[0]), v_load(first[1])};
    for (int64_t x = 0; x < n; x += VEC) {
        const vec lower = slide16_step(right + x, left + x, c, &carry, factor, half);
        const vec upper = slide16_step(right + x + VEC / 2, left + x + VEC / 2, c, &carry, factor, half);
        v_store(out + x, v_bytes(lower, upper));
    }
    /* The carry of the next chunk's elements 0 ... c-1; after a chunk that is not whole none follows. */
    v_store(first[0], carry.even);
    v_store(first[1], carry.odd);
    for (int k = 0; k < c; k++)
        total[k] = c == 1 ? first[1][0] : first[k % 2][k / 2];
}

static void slide_slide16_u8(uint8_t *restrict out, uint32_t *restrict sums, const uint16_t *restrict right,
                             const uint16_t *restrict left, int64_t n, uint32_t *total, const twi_box_setup *setup)
{
    const double inverse = setup->divider.inverse;
    (void)sums;
    switch (setup->channels) {
    case 1:
        slide16_by(out, right, left, n, total, inverse, 1);
        break;
    case 2:
        slide16_by(out, right, left, n, total, inverse, 2);
        break;
    case 3:
        slide16_by(out, right, left, n, total, inverse, 3);
        break;
    default:
        slide16_by(out, right, left, n, total, inverse, 4);
        break;
    }
}
