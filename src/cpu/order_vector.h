/* Comparing vectors lane by lane, for the kinds of keys of the order filters: AVX2 has no 64-bit minimum, and compares
   into vectors; AVX-512 compares into masks. */
#ifndef TWI_CPU_ORDER_VECTOR_H
#define TWI_CPU_ORDER_VECTOR_H

#include "cpu/vector.h"

#ifdef LEVEL_VECTOR
#define EXTREMES(lanes)                                                                                                \
    INLINE vec v_min_##lanes(vec a, vec b)                                                                             \
    {                                                                                                                  \
        return OP(min_##lanes)(a, b);                                                                                  \
    }                                                                                                                  \
    INLINE vec v_max_##lanes(vec a, vec b)                                                                             \
    {                                                                                                                  \
        return OP(max_##lanes)(a, b);                                                                                  \
    }
EXTREMES(epu8)
EXTREMES(epu16)
EXTREMES(epi16)
EXTREMES(epi32)

#define SUMS(lanes, integer, splat)                                                                                    \
    INLINE vec v_splat_##lanes(integer value)                                                                          \
    {                                                                                                                  \
        return OP(splat)(value);                                                                                       \
    }                                                                                                                  \
    INLINE vec v_plus_##lanes(vec a, vec b)                                                                            \
    {                                                                                                                  \
        return OP(add_##lanes)(a, b);                                                                                  \
    }
SUMS(epi16, int16_t, set1_epi16)
SUMS(epi32, int32_t, set1_epi32)
#if defined(__AVX512BW__)
SUMS(epi64, int64_t, set1_epi64)
#else
SUMS(epi64, int64_t, set1_epi64x)
#endif
#undef SUMS

#if defined(__AVX512BW__)
EXTREMES(epi64)

/* Elements as they follow one another from a to b: those that begin `bytes` bytes after a does, or before b does. */
#define AFTER(a, b, bytes)                                                                                             \
    ((bytes) % 4 == 0 ? _mm512_alignr_epi32(b, a, (bytes) / 4)                                                         \
                      : _mm512_alignr_epi8(_mm512_alignr_epi32(b, a, 4), a, bytes))
#define BEFORE(a, b, bytes)                                                                                            \
    ((bytes) % 4 == 0 ? _mm512_alignr_epi32(b, a, 16 - (bytes) / 4)                                                    \
                      : _mm512_alignr_epi8(b, _mm512_alignr_epi32(b, a, 12), 16 - (bytes)))
/* `distance` elements after a, or before b: 1 or 2. */
#define NEIGHBOURS(lanes, size)                                                                                        \
    INLINE vec v_after_##lanes(vec a, vec b, int distance)                                                             \
    {                                                                                                                  \
        return distance == 1 ? AFTER(a, b, size) : AFTER(a, b, 2 * size);                                              \
    }                                                                                                                  \
    INLINE vec v_before_##lanes(vec a, vec b, int distance)                                                            \
    {                                                                                                                  \
        return distance == 1 ? BEFORE(a, b, size) : BEFORE(a, b, 2 * size);                                            \
    }
NEIGHBOURS(epu8, 1)
NEIGHBOURS(epu16, 2)
NEIGHBOURS(epi16, 2)
NEIGHBOURS(epi32, 4)
NEIGHBOURS(epi64, 8)
#undef NEIGHBOURS
#undef BEFORE
#undef AFTER

/* n + 1 where a < b; a where n <= most, else b. */
#define SELECTION(lanes, one)                                                                                          \
    INLINE vec v_below_##lanes(vec n, vec a, vec b)                                                                    \
    {                                                                                                                  \
        return _mm512_mask_add_##lanes(n, _mm512_cmplt_##lanes##_mask(a, b), n, one);                                  \
    }                                                                                                                  \
    INLINE vec v_reached_##lanes(vec n, vec most, vec a, vec b)                                                        \
    {                                                                                                                  \
        return _mm512_mask_blend_##lanes(_mm512_cmple_##lanes##_mask(n, most), b, a);                                  \
    }
SELECTION(epi16, _mm512_set1_epi16(1))
SELECTION(epi32, _mm512_set1_epi32(1))
SELECTION(epi64, _mm512_set1_epi64(1))
#else
INLINE vec v_min_epi64(vec a, vec b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

INLINE vec v_max_epi64(vec a, vec b)
{
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
}

#define SELECTION(lanes)                                                                                               \
    INLINE vec v_below_##lanes(vec n, vec a, vec b)                                                                    \
    {                                                                                                                  \
        return _mm256_sub_##lanes(n, _mm256_cmpgt_##lanes(b, a));                                                      \
    }                                                                                                                  \
    INLINE vec v_reached_##lanes(vec n, vec most, vec a, vec b)                                                        \
    {                                                                                                                  \
        return _mm256_blendv_epi8(a, b, _mm256_cmpgt_##lanes(n, most));                                                \
    }
SELECTION(epi16)
SELECTION(epi32)
SELECTION(epi64)
#endif
#undef SELECTION

/* exact.h's key of f32 bits, and back. */
INLINE vec v_flip_f32(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_ternarylogic_epi32(v, _mm512_srai_epi32(v, 31), _mm512_set1_epi32(INT32_MAX), 0x78); /* a ^ (b & c) */
#else
    return OP_BITS(xor)(v, OP(srli_epi32)(OP(srai_epi32)(v, 31), 1));
#endif
}

INLINE vec v_key_f32(vec bits)
{
    const vec nan = OP(set1_epi32)(0x7fc00000);
#if defined(__AVX512BW__)
    const __m512 value = _mm512_castsi512_ps(bits);
    return v_flip_f32(_mm512_mask_mov_epi32(bits, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), nan));
#else
    const __m256 value = _mm256_castsi256_ps(bits);
    const vec unordered = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    return v_flip_f32(_mm256_blendv_epi8(bits, nan, unordered));
#endif
}

INLINE vec v_element_f32(vec key)
{
    return v_flip_f32(key);
}
#undef EXTREMES
#endif

#endif
