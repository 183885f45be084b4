/*
 * From sums in lanes of 32 bits to 8 or 16 bits, in vectors. The quotients come by a shift, or in f32: (sum + 1/2) /
 * divisor is at least 1 / 2 divisor away from any integer; the inverse and the fma are in error by 2^-24 of it each, so
 * the floor is right for sums below 2^22.
 */
typedef struct scaler {
    twi_conv_division division;
    int shift;
    vec_float inverse;
    vec_float half;
    vec offset;
} scaler;

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

/* Packing works within blocks of 16 bytes: this brings the blocks' 4-byte (8-byte) parts into order. */
INLINE vec order_bytes(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
#else
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

INLINE vec order_words(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v);
#else
    return _mm256_permute4x64_epi64(v, 0xd8);
#endif
}

INLINE void narrow_bytes(char *to, const int32_t *sums, int64_t n, const scaler *by, twi_conv_division division,
                         bool stream)
{
    for (int64_t x = 0; x < n; x += 4 * LANES) {
        const vec a = scale_vector(v_load(sums + x), by, division);
        const vec b = scale_vector(v_load(sums + x + LANES), by, division);
        const vec c = scale_vector(v_load(sums + x + 2 * LANES), by, division);
        const vec d = scale_vector(v_load(sums + x + 3 * LANES), by, division);
        v_put(to + x, order_bytes(OP(packus_epi16)(OP(packs_epi32)(a, b), OP(packs_epi32)(c, d))), stream);
    }
}

INLINE void narrow_words(char *to, const int32_t *sums, int64_t n, const scaler *by, twi_conv_division division,
                         bool positive, bool stream)
{
    for (int64_t x = 0; x < n; x += 2 * LANES) {
        const vec a = scale_vector(v_load(sums + x), by, division);
        const vec b = scale_vector(v_load(sums + x + LANES), by, division);
        v_put(to + 2 * x, order_words(positive ? OP(packus_epi32)(a, b) : OP(packs_epi32)(a, b)), stream);
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
INLINE void narrow_fixed(char *to, const int32_t *sums, int64_t n, bool stream)
{
    for (int64_t x = 0; x < n; x += 4 * LANES) {
        const vec a = OP(srli_epi32)(v_load(sums + x), 24);
        const vec b = OP(srli_epi32)(v_load(sums + x + LANES), 24);
        const vec c = OP(srli_epi32)(v_load(sums + x + 2 * LANES), 24);
        const vec d = OP(srli_epi32)(v_load(sums + x + 3 * LANES), 24);
        v_put(to + x, OP(packus_epi16)(OP(packs_epi32)(a, b), OP(packs_epi32)(c, d)), stream);
    }
}

/* False: not for these units, types or divisors. */
static bool finish_vectors(const twi_conv_setup *setup, const int32_t *sums, int64_t n, char *to, char *stage)
{
    const twi_conv_scale *scale = &setup->scale;
    const bool narrows = setup->out_type == TW_U8 || setup->out_type == TW_U16 || setup->out_type == TW_I16;
    if (setup->main.unit > TWI_CONV_I32 || !narrows || scale->division == TWI_CONV_DOUBLE)
        return false;
    const float inverse = 1.0f / (float)scale->divisor;
    const scaler by = {
        .shift = scale->shift,
        .inverse = OP(set1_ps)(inverse),
        .half = OP(set1_ps)(0.5f * inverse),
        .offset = OP(set1_epi32)((int32_t)scale->offset),
    };
    /* straight to the output where only whole vectors are written, and streamed ones are aligned */
    const bool direct = n % TWI_CONV_TILE == 0 && (!setup->stream || (uintptr_t)to % VEC == 0);
    const bool stream = direct && setup->stream;
    char *out = direct ? to : stage;
    if (setup->fixed && stream)
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
