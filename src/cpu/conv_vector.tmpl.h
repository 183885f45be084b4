/* The inner loops of the levels with vectors: the arithmetic of each unit. */

/* Vectors of a tile: as many as the registers hold for four rows. */
#if defined(__AVX512BW__)
enum { COLUMNS = 4 };
typedef __m512d vec_double;
typedef __m512_u loose_float; /* at any address */
typedef __m512d_u loose_double;
#else
enum { COLUMNS = 2 };
typedef __m256d vec_double;
typedef __m256_u loose_float;
typedef __m256d_u loose_double;
#endif

/* Sums of 4 products of u8 and i8, or of 2 of i16, in lanes of 32 bits. */
INLINE vec mac_bytes_vector(vec sum, vec weight, vec data)
{
#if defined(__AVX512VNNI__)
    return _mm512_dpbusd_epi32(sum, data, weight);
#else
    return OP(add_epi32)(sum, OP(madd_epi16)(OP(maddubs_epi16)(data, weight), OP(set1_epi16)(1)));
#endif
}

INLINE vec mac_words_vector(vec sum, vec weight, vec data)
{
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sum, data, weight);
#else
    return OP(add_epi32)(sum, OP(madd_epi16)(data, weight));
#endif
}

INLINE void finish_f32(const twi_conv_setup *setup, const vec_float *sums, vec *results)
{
    const twi_conv_scale *scale = &setup->scale;
    const float divisor = (float)scale->float_divisor;
    const vec_float offset = OP(set1_ps)((float)scale->float_offset);
    UNROLL
    for (int c = 0; c < COLUMNS; c++) {
        const vec_float quotient = scale->inverts ? OP(mul_ps)(sums[c], OP(set1_ps)(1.0f / divisor))
                                                  : OP(div_ps)(sums[c], OP(set1_ps)(divisor));
        results[c] = v_canonical_f32(OP(add_ps)(quotient, offset));
    }
}

#define NAME pairs
#define T uint8_t
#define S uint16_t
#define START(value) OP(set1_epi16)((int16_t)(uint16_t)(uint64_t)(value))
#define MAC(sum, weight, data) OP(add_epi16)(sum, OP(maddubs_epi16)(data, weight))
#define PAIRED
#include "cpu/conv_sum_vector.tmpl.h"

#define NAME bytes
#define MAC(sum, weight, data) mac_bytes_vector(sum, weight, data)
#include "cpu/conv_sum_vector.tmpl.h"

#define NAME words
#define MAC(sum, weight, data) mac_words_vector(sum, weight, data)
#include "cpu/conv_sum_vector.tmpl.h"

#define NAME i32
#define MAC(sum, weight, data) OP(add_epi32)(sum, OP(mullo_epi32)(data, weight))
#include "cpu/conv_sum_vector.tmpl.h"

/* Loads of floats are volatile: else GCC loads again for each product, and most of these loads cross a line. */
#define FULL
#define NAME f32
#define T float
#define S float
#define W float
#define V vec_float
#define LOAD(p) (*(const volatile loose_float *)(const void *)(p))
#define STORE(p, v) OP(storeu_ps)((float *)(void *)(p), v)
#define SPLAT(w) OP(set1_ps)(w)
#define START(value) OP(set1_ps)((float)(value))
#define MAC(sum, weight, data) OP(fmadd_ps)(weight, data, sum)
#define FINISH finish_f32
#include "cpu/conv_sum_vector.tmpl.h"

#define FULL
#define NAME f64
#define T double
#define S double
#define W double
#define V vec_double
#define LOAD(p) (*(const volatile loose_double *)(const void *)(p))
#define STORE(p, v) OP(storeu_pd)((double *)(void *)(p), v)
#define SPLAT(w) OP(set1_pd)(w)
#define START(value) OP(set1_pd)((double)(value))
#define MAC(sum, weight, data) OP(fmadd_pd)(weight, data, sum)
#include "cpu/conv_sum_vector.tmpl.h"
