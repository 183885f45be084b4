/*
 * The 3x3 kernel of f32 in vectors of 512 bits. Converting to f64 is what costs most: each element is converted once,
 * and the window's other two taps are moved out of the vectors that are there. a * 1 + b is a + b to the bit; it runs
 * on the ports of multiplications, which conversions leave free.
 */
enum { F64_LANES = 8 };

INLINE __m512d f32_plus(__m512d a, __m512d b)
{
    return _mm512_fmadd_pd(a, _mm512_set1_pd(1), b);
}

/* Elements by ... by + 7 of two vectors side by side; `by` is a constant of the caller. */
INLINE __m512d f32_moved(__m512d low, __m512d high, int by)
{
    const __m512i l = _mm512_castpd_si512(low), h = _mm512_castpd_si512(high);
    switch (by) {
    case 1:
        return _mm512_castsi512_pd(_mm512_alignr_epi64(h, l, 1));
    case 2:
        return _mm512_castsi512_pd(_mm512_alignr_epi64(h, l, 2));
    case 3:
        return _mm512_castsi512_pd(_mm512_alignr_epi64(h, l, 3));
    case 4:
        return _mm512_castsi512_pd(_mm512_alignr_epi64(h, l, 4));
    case 6:
        return _mm512_castsi512_pd(_mm512_alignr_epi64(h, l, 6));
    default:
        return high;
    }
}

INLINE __m256 f32_mean(__m512d s0, __m512d s1, __m512d s2, double inverse)
{
    const __m512d sum = f32_plus(s0, f32_plus(s1, s2));
    const __m256 mean = _mm512_cvtpd_ps(_mm512_mul_pd(sum, _mm512_set1_pd(inverse)));
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_mask_mov_ps(mean, _mm256_cmp_ps_mask(mean, mean, _CMP_UNORD_Q), nan);
}

/* Eight row sums of each row at x, the next elements being converted into `have`. */
INLINE void f32_row_sums(const float *const *rows, int64_t x, __mmask8 readable, int c, __m512d *have, __m512d *sum)
{
    for (int i = 0; i < TWI_BOX_BAND + 2; i++) {
        const __m512d next = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(readable, rows[i] + x + F64_LANES));
        sum[i] = f32_plus(have[i], f32_plus(f32_moved(have[i], next, c), f32_moved(have[i], next, 2 * c)));
        have[i] = next;
    }
}

INLINE void f32_small3(const float *const *rows, float *const *out, int64_t n, double inverse, int c, bool stream)
{
    __m512d have[TWI_BOX_BAND + 2], sum[TWI_BOX_BAND + 2];
    __m256 low[TWI_BOX_BAND];
    for (int i = 0; i < TWI_BOX_BAND + 2; i++)
        have[i] = _mm512_cvtps_pd(_mm256_loadu_ps(rows[i]));
    for (int64_t x = 0; x < n; x += 2 * F64_LANES) { /* whole cache lines */
        /* past the end only the taps of the last outputs may be read */
        const __mmask8 readable = (__mmask8)(x + 2 * F64_LANES < n ? 0xff : (1 << 2 * c) - 1);
        f32_row_sums(rows, x, 0xff, c, have, sum);
        for (int i = 0; i < TWI_BOX_BAND; i++)
            low[i] = f32_mean(sum[i], sum[i + 1], sum[i + 2], inverse);
        f32_row_sums(rows, x + F64_LANES, readable, c, have, sum);
        for (int i = 0; i < TWI_BOX_BAND; i++) {
            const __m256 high = f32_mean(sum[i], sum[i + 1], sum[i + 2], inverse);
            v_put(out[i] + x, _mm512_castps_si512(_mm512_insertf32x8(_mm512_castps256_ps512(low[i]), high, 1)), stream);
        }
    }
}

static void small3_f32(const float *const *rows, float *const *out, int64_t n, const twi_box_setup *setup, bool stream)
{
    const double inverse = setup->divider.inverse;
    switch (setup->channels) {
    case 1:
        f32_small3(rows, out, n, inverse, 1, stream);
        break;
    case 2:
        f32_small3(rows, out, n, inverse, 2, stream);
        break;
    case 3:
        f32_small3(rows, out, n, inverse, 3, stream);
        break;
    default:
        f32_small3(rows, out, n, inverse, 4, stream);
        break;
    }
}
