/* box_slide_plain.tmpl.h in vectors of 32-bit sums: a prefix sum within each, and the last sums carried on. */
INLINE void FN(slide_by)(uint32_t *restrict sums, const uint32_t *restrict right, const uint32_t *restrict left,
                         int64_t n, uint32_t *total, const int c)
{
    uint32_t first[LANES];
    for (int i = 0; i < LANES; i++)
        first[i] = total[i % c];
    vec carry = v_load(first);
    for (int64_t x = 0; x < n; x += LANES) { /* up to a vector past n: the line and the sums have room */
        const vec change = OP(sub_epi32)(v_load(right + x), v_load(left + x));
        const vec sum = OP(add_epi32)(v_scan(change, c), carry);
        carry = v_tail(sum, c);
        v_store(sums + x, sum);
    }
    for (int k = 0; k < c; k++)
        total[k] = sums[n - c + k];
}

static void FN(slide)(T *restrict out, uint32_t *restrict sums, const uint32_t *restrict right,
                      const uint32_t *restrict left, int64_t n, uint32_t *total, const twi_box_setup *setup)
{
    const twi_box_divider d = setup->divider;
    switch (setup->channels) {
    case 1:
        FN(slide_by)(sums, right, left, n, total, 1);
        break;
    case 2:
        FN(slide_by)(sums, right, left, n, total, 2);
        break;
    case 3:
        FN(slide_by)(sums, right, left, n, total, 3);
        break;
    default:
        FN(slide_by)(sums, right, left, n, total, 4);
        break;
    }
    for (int64_t x = 0; x < n; x++)
        out[x] = QUOTIENT(sums[x]);
}
