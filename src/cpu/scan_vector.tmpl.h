/* The sums of a tile in vectors. */
#if defined(__AVX512BW__)
typedef __m512d vec_double;
#define ODD_LANES(v, more) _mm512_mask_add_pd(v, 0xaa, more, v)
#define UPPER_LANES(v, more) _mm512_mask_add_pd(v, 0xcc, more, v)
#define IN_QUADS(v, lanes) _mm512_permutex_pd(v, lanes)
#define WITHOUT_FIRST(v) _mm512_maskz_mov_pd(0xee, v)
#else
typedef __m256d vec_double;
#define ODD_LANES(v, more) _mm256_blend_pd(v, _mm256_add_pd(more, v), 0xa)
#define UPPER_LANES(v, more) _mm256_blend_pd(v, _mm256_add_pd(more, v), 0xc)
#define IN_QUADS(v, lanes) _mm256_permute4x64_pd(v, lanes)
#define WITHOUT_FIRST(v) _mm256_blend_pd(v, _mm256_setzero_pd(), 1)
#endif
enum { WIDE = VEC / 8 /* lanes of 64 bits */, QUAD_VECTORS = TWI_SCAN_QUADS / WIDE };

/* Lane i gets lane i - distance, the lowest ones the last of the vector before. */
INLINE vec v_follow(vec before, vec v, int distance)
{
#if defined(__AVX512BW__)
    switch (distance) {
    case 1:
        return _mm512_alignr_epi64(v, before, 7);
    case 2:
        return _mm512_alignr_epi64(v, before, 6);
    default:
        return _mm512_alignr_epi64(v, before, 4);
    }
#else
    const vec middle = _mm256_permute2x128_si256(before, v, 0x21);
    return distance == 1 ? _mm256_alignr_epi8(v, middle, 8) : middle;
#endif
}

INLINE vec_double d_follow(vec_double before, vec_double v, int distance)
{
#if defined(__AVX512BW__)
    return _mm512_castsi512_pd(v_follow(_mm512_castpd_si512(before), _mm512_castpd_si512(v), distance));
#else
    return _mm256_castsi256_pd(v_follow(_mm256_castpd_si256(before), _mm256_castpd_si256(v), distance));
#endif
}

static void scan_u32(uint32_t *sums, uint32_t carry)
{
    vec before = OP(set1_epi32)((int32_t)carry);
    for (int i = 0; i < TWI_SCAN_TILE; i += LANES) {
        const vec sum = OP(add_epi32)(v_scan(v_load(sums + i), 1), before);
        v_store(sums + i, sum);
        before = v_pick(sum, OP(set1_epi32)(LANES - 1));
    }
}

INLINE vec v_wide(uint64_t value)
{
#if defined(__AVX512BW__)
    return _mm512_set1_epi64((long long)value);
#else
    return _mm256_set1_epi64x((long long)value);
#endif
}

/* All lanes are the last one. */
INLINE vec v_last_wide(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi64(_mm512_set1_epi64(WIDE - 1), v);
#else
    return _mm256_permute4x64_epi64(v, 0xff);
#endif
}

static void scan_u64(uint64_t *sums, uint64_t carry)
{
    const vec zero = OP(set1_epi32)(0);
    vec before = v_wide(carry);
    for (int i = 0; i < TWI_SCAN_TILE; i += WIDE) {
        vec sum = v_load(sums + i);
        UNROLL
        for (int distance = 1; distance < WIDE; distance *= 2)
            sum = OP(add_epi64)(sum, v_follow(zero, sum, distance));
        sum = OP(add_epi64)(sum, before);
        v_store(sums + i, sum);
        before = v_last_wide(sum);
    }
}

/* The steps of Hillis and Steele; then base + q of each quad, and the total. */
INLINE double scan_quads(vec_double *q, double base)
{
    vec_double more;
    UNROLL
    for (int distance = 1; distance < WIDE; distance *= 2) {
        UNROLL
        for (int i = QUAD_VECTORS - 1; i >= 0; i--) {
            more = d_follow(i > 0 ? q[i - 1] : OP(setzero_pd)(), q[i], distance);
            q[i] = OP(add_pd)(more, q[i]);
        }
    }
    UNROLL
    for (int far = 1; far < QUAD_VECTORS; far *= 2) {
        UNROLL
        for (int i = QUAD_VECTORS - 1; i >= far; i--)
            q[i] = OP(add_pd)(q[i - far], q[i]);
    }
    double last[WIDE];
    OP(storeu_pd)(last, q[QUAD_VECTORS - 1]);
    UNROLL
    for (int i = QUAD_VECTORS - 1; i >= 0; i--) {
        more = d_follow(i > 0 ? q[i - 1] : OP(setzero_pd)(), q[i], 1);
        q[i] = OP(add_pd)(OP(set1_pd)(base), more);
    }
    return last[WIDE - 1];
}

/* The last lanes of the quads in four vectors. */
INLINE vec_double last_of_quads(const vec_double *r)
{
#if defined(__AVX512BW__)
    const __m512i last = _mm512_setr_epi64(3, 7, 11, 15, 3, 7, 11, 15);
    const vec_double first = _mm512_permutex2var_pd(r[0], last, r[1]);
    const vec_double second = _mm512_permutex2var_pd(r[2], last, r[3]);
    return _mm512_shuffle_f64x2(first, second, 0x44);
#else
    const vec_double odd = _mm256_unpackhi_pd(r[0], r[1]);
    return _mm256_permute2f128_pd(odd, _mm256_unpackhi_pd(r[2], r[3]), 0x31);
#endif
}

/* What lies before the quads of vector k of four, in all lanes of each. */
INLINE vec_double spread_quads(vec_double before, int k)
{
#if defined(__AVX512BW__)
    const __m512i quads = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
    return _mm512_permutexvar_pd(_mm512_add_epi64(quads, _mm512_set1_epi64(2 * k)), before);
#else
    switch (k) {
    case 0:
        return _mm256_permute4x64_pd(before, 0x00);
    case 1:
        return _mm256_permute4x64_pd(before, 0x55);
    case 2:
        return _mm256_permute4x64_pd(before, 0xaa);
    default:
        return _mm256_permute4x64_pd(before, 0xff);
    }
#endif
}

INLINE double scan_tile(double *sums, double base, bool exclusive)
{
    vec_double q[QUAD_VECTORS];
    UNROLL
    for (int i = 0; i < QUAD_VECTORS; i++) {
        vec_double r[4];
        UNROLL
        for (int k = 0; k < 4; k++) {
            double *const at = sums + (4 * i + k) * WIDE;
            r[k] = OP(loadu_pd)(at);
            r[k] = ODD_LANES(r[k], OP(movedup_pd)(r[k]));
            r[k] = UPPER_LANES(r[k], IN_QUADS(r[k], 0x55));
            OP(storeu_pd)(at, r[k]);
        }
        q[i] = last_of_quads(r);
    }
    const double total = scan_quads(q, base);
    UNROLL
    for (int i = 0; i < QUAD_VECTORS; i++) {
        UNROLL
        for (int k = 0; k < 4; k++) {
            double *const at = sums + (4 * i + k) * WIDE;
            vec_double r = OP(loadu_pd)(at);
            if (exclusive)
                r = WITHOUT_FIRST(IN_QUADS(r, 0x90));
            OP(storeu_pd)(at, OP(add_pd)(spread_quads(q[i], k), r));
        }
    }
    return total;
}

/* Returns the tile's total; `base` is g + x. */
static double scan_f64(double *sums, double base, bool exclusive)
{
    return exclusive ? scan_tile(sums, base, true) : scan_tile(sums, base, false);
}
