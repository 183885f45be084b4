/*
 * From sums in lanes of 32 bits to 8 or 16 bits, in vectors. The quotients come by a shift, or in f32: (sum + 1/2) /
 * divisor is at least 1 / 2 divisor away from any integer; the inverse and the fma are in error by 2^-24 of it each, so
 * the floor is right for sums below 2^22.
 */
typedef struct scaler {
    int shift;
    vec_float inverse;
    vec_float half;
    vec offset;
} scaler;

INLINE scaler make_scaler(const twi_conv_setup *setup)
{
    const twi_conv_scale *scale = &setup->scale;
    const float inverse = 1.0f / (float)scale->divisor;
    const scaler by = {
        .shift = scale->shift,
        .inverse = OP(set1_ps)(inverse),
        .half = OP(set1_ps)(0.5f * inverse),
        .offset = OP(set1_epi32)((int32_t)scale->offset),
    };
    return by;
}

INLINE vec scale_vector(vec sum, const scaler *by, twi_conv_division division)
{
    if (division == TWI_CONV_SHIFT)
        sum = OP(sra_epi32)(sum, _mm_cvtsi32_si128(by->shift));
    if (division == TWI_CONV_FLOAT) {
        const vec_float quotient = OP(fmadd_ps)(OP(cvtepi32_ps)(sum), by->inverse, by->half);
#if defined(__AVX512BW__)
        sum = _mm512_cvt_roundps_epi32(quotient, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
        sum = _mm256_cvttps_epi32(_mm256_floor_ps(quotient));
#endif
    }
    return OP(add_epi32)(sum, by->offset);
}

/* Four vectors packed to bytes lie in blocks of 16, 4 bytes of each: this puts all of the first before the next. */
INLINE vec order_bytes(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
#else
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

/* The blocks of 16 bytes of a and b in turn, a's first: the first half of them, and the last. */
INLINE vec first_blocks(vec a, vec b)
{
#if defined(__AVX512BW__)
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
#else
    return _mm256_permute2x128_si256(a, b, 0x20);
#endif
}

INLINE vec last_blocks(vec a, vec b)
{
#if defined(__AVX512BW__)
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
#else
    return _mm256_permute2x128_si256(a, b, 0x31);
#endif
}

/* The results of four vectors of sums, in blocks of 16 bytes that have 4 of each. */
INLINE vec pack_bytes(const vec *sums, const scaler *by, twi_conv_division division)
{
    const vec a = scale_vector(sums[0], by, division);
    const vec b = scale_vector(sums[1], by, division);
    const vec c = scale_vector(sums[2], by, division);
    const vec d = scale_vector(sums[3], by, division);
    return OP(packus_epi16)(OP(packs_epi32)(a, b), OP(packs_epi32)(c, d));
}

INLINE void narrow_bytes(char *to, const int32_t *sums, int64_t n, const scaler *by, twi_conv_division division,
                         bool stream)
{
    for (int64_t x = 0; x < n; x += 4 * LANES) {
        const vec four[] = {v_load(sums + x), v_load(sums + x + LANES), v_load(sums + x + 2 * LANES),
                            v_load(sums + x + 3 * LANES)};
        v_put(to + x, order_bytes(pack_bytes(four, by, division)), stream);
    }
}

INLINE void narrow_words(char *to, const int32_t *sums, int64_t n, const scaler *by, twi_conv_division division,
                         bool positive, bool stream)
{
    for (int64_t x = 0; x < n; x += 2 * LANES) {
        const vec a = scale_vector(v_load(sums + x), by, division);
        const vec b = scale_vector(v_load(sums + x + LANES), by, division);
        v_put(to + 2 * x, v_packed_in_order(positive ? OP(packus_epi32)(a, b) : OP(packs_epi32)(a, b)), stream);
    }
}

INLINE void narrow(tw_type type, char *to, const int32_t *sums, int64_t n, const scaler *by, twi_conv_division division,
                   bool stream)
{
    if (type == TW_U8)
        narrow_bytes(to, sums, n, by, division, stream);
    else if (type == TW_U16)
        narrow_words(to, sums, n, by, division, true, stream);
    else
        narrow_words(to, sums, n, by, division, false, stream);
}

/* Sums of 24 fractional bits, in the order of conv_fold.tmpl.h. */
INLINE vec fixed_bytes(const vec *sums)
{
#if defined(__AVX512BW__)
    const vec order = _mm512_set1_epi32(0x0f0b0703); /* a block's upper bytes, to where the mask lets them */
    vec bytes = OP(shuffle_epi8)(sums[0], order);
    bytes = _mm512_mask_shuffle_epi8(bytes, 0x00f000f000f000f0, sums[1], order);
    bytes = _mm512_mask_shuffle_epi8(bytes, 0x0f000f000f000f00, sums[2], order);
    return _mm512_mask_shuffle_epi8(bytes, 0xf000f000f000f000, sums[3], order);
#else
    const vec a = OP(srli_epi32)(sums[0], 24);
    const vec b = OP(srli_epi32)(sums[1], 24);
    const vec c = OP(srli_epi32)(sums[2], 24);
    const vec d = OP(srli_epi32)(sums[3], 24);
    return OP(packus_epi16)(OP(packs_epi32)(a, b), OP(packs_epi32)(c, d));
#endif
}

INLINE void narrow_fixed(char *to, const int32_t *sums, int64_t n, bool stream)
{
    for (int64_t x = 0; x < n; x += 4 * LANES) {
        const vec four[] = {v_load(sums + x), v_load(sums + x + LANES), v_load(sums + x + 2 * LANES),
                            v_load(sums + x + 3 * LANES)};
        v_put(to + x, fixed_bytes(four), stream);
    }
}

/* ---- Sums of 16 bits, in the order of unpacked bytes -------------------------------------------------- */

typedef struct short_scaler {
    int shift;
    vec magic;
    vec plus;
    vec minus;
    vec take;
} short_scaler;

INLINE vec scale_short(vec sum, const short_scaler *by, bool divides)
{
    return divides ? v_words_right(OP(mulhi_epu16)(sum, by->magic), by->shift) : sum;
}

INLINE short_scaler make_short_scaler(const twi_conv_pairs *pairs)
{
    const short_scaler by = {
        .shift = pairs->shift,
        .magic = OP(set1_epi16)((int16_t)(uint16_t)pairs->magic),
        .plus = OP(set1_epi16)((int16_t)(uint16_t)(pairs->take < 0 ? -pairs->take : 0)),
        .minus = OP(set1_epi16)((int16_t)(uint16_t)(pairs->take > 0 ? pairs->take : 0)),
        .take = OP(set1_epi16)((int16_t)twi_max_i64(-INT16_MAX, twi_min_i64(INT16_MAX, pairs->take))),
    };
    return by;
}

/* The results that fit into 16 bits. */
INLINE vec take_short(vec quotient, const short_scaler *by)
{
    return OP(subs_epu16)(OP(adds_epu16)(quotient, by->plus), by->minus);
}

/* As bytes: in each block of 16 those of a, then those of b. */
INLINE vec pack_shorts(vec a, vec b)
{
    const vec most = OP(set1_epi16)(UINT8_MAX);
    return OP(packus_epi16)(OP(min_epu16)(a, most), OP(min_epu16)(b, most));
}

/* The same of quotients by 2 or more, which are below 2^15: to take away or to add more than that is the same. */
INLINE vec pack_quotients(vec a, vec b, const short_scaler *by)
{
    return OP(packus_epi16)(OP(subs_epi16)(a, by->take), OP(subs_epi16)(b, by->take));
}

INLINE void narrow_pairs(tw_type type, char *to, const uint16_t *sums, int64_t n, const short_scaler *by, bool divides,
                         bool stream)
{
    for (int64_t x = 0; x < n; x += VEC) {
        const vec low = scale_short(v_load(sums + x), by, divides);
        const vec high = scale_short(v_load(sums + x + VEC / 2), by, divides);
        if (type == TW_I16) {
            const vec a = OP(sub_epi16)(OP(add_epi16)(low, by->plus), by->minus);
            const vec b = OP(sub_epi16)(OP(add_epi16)(high, by->plus), by->minus);
            v_put(to + 2 * x, first_blocks(a, b), stream);
            v_put(to + 2 * x + VEC, last_blocks(a, b), stream);
            continue;
        }
        if (type == TW_U8 && divides) {
            v_put(to + x, pack_quotients(low, high, by), stream);
            continue;
        }
        const vec a = take_short(low, by);
        const vec b = take_short(high, by);
        if (type == TW_U16) {
            v_put(to + 2 * x, first_blocks(a, b), stream);
            v_put(to + 2 * x + VEC, last_blocks(a, b), stream);
        } else {
            v_put(to + x, pack_shorts(a, b), stream);
        }
    }
}

INLINE void finish_pairs(const twi_conv_setup *setup, const uint16_t *sums, int64_t n, char *to, bool stream)
{
    const twi_conv_pairs *pairs = &setup->scale.pairs;
    const short_scaler by = make_short_scaler(pairs);
    const bool divides = pairs->magic != 0;
    if (setup->out_type == TW_U8 && divides)
        narrow_pairs(TW_U8, to, sums, n, &by, true, stream);
    else if (setup->out_type == TW_U8)
        narrow_pairs(TW_U8, to, sums, n, &by, false, stream);
    else if (setup->out_type == TW_U16)
        narrow_pairs(TW_U16, to, sums, n, &by, divides, stream);
    else
        narrow_pairs(TW_I16, to, sums, n, &by, divides, stream);
}

/* False: not for these units, types or divisors. */
static bool finish_vectors(const twi_conv_setup *setup, const void *sums, int64_t n, char *to, char *stage)
{
    const twi_conv_scale *scale = &setup->scale;
    const bool narrows = setup->out_type == TW_U8 || setup->out_type == TW_U16 || setup->out_type == TW_I16;
    if (setup->main.unit > TWI_CONV_I32 || !narrows || scale->division == TWI_CONV_DOUBLE)
        return false;
    const scaler by = make_scaler(setup);
    /* straight to the output where only whole vectors are written, and streamed ones are aligned */
    const bool direct = n % TWI_CONV_TILE == 0 && (!setup->stream || (uintptr_t)to % VEC == 0);
    const bool stream = direct && setup->stream;
    char *out = direct ? to : stage;
    if (setup->main.unit == TWI_CONV_PAIRS && stream)
        finish_pairs(setup, sums, n, out, true);
    else if (setup->main.unit == TWI_CONV_PAIRS)
        finish_pairs(setup, sums, n, out, false);
    else if (setup->fixed && stream)
        narrow_fixed(out, sums, n, true);
    else if (setup->fixed)
        narrow_fixed(out, sums, n, false);
    else if (scale->division == TWI_CONV_SHIFT && stream)
        narrow(setup->out_type, out, sums, n, &by, TWI_CONV_SHIFT, true);
    else if (scale->division == TWI_CONV_SHIFT)
        narrow(setup->out_type, out, sums, n, &by, TWI_CONV_SHIFT, false);
    else if (stream)
        narrow(setup->out_type, out, sums, n, &by, TWI_CONV_FLOAT, true);
    else
        narrow(setup->out_type, out, sums, n, &by, TWI_CONV_FLOAT, false);
    if (!direct)
        put(to, stage, n * (int64_t)tw_type_size(setup->out_type), setup->stream);
    return true;
}
