/*
 * The vectors of a level: OP(add_epi16) is _mm512_add_epi16 or _mm256_add_epi16, by the flags that the file is
 * compiled with; plain C has none. What the two widths do differently is written here once.
 */
#ifndef TWI_CPU_VECTOR_H
#define TWI_CPU_VECTOR_H

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LEVEL_VECTOR
#define OP(name) _mm512_##name
#define OP_BITS(name) _mm512_##name##_si512
#elif defined(__AVX2__)
#define LEVEL_VECTOR
#define OP(name) _mm256_##name
#define OP_BITS(name) _mm256_##name##_si256
#endif

#ifdef LEVEL_VECTOR
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Loops of few rounds whose arrays are to be registers. */
#define UNROLL _Pragma("GCC unroll 16")

/* Constant arguments must reach the body: a loop for each channel count, not one that asks each time. */
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512BW__)
typedef __m512i vec;
typedef __m512 vec_float;
#else
typedef __m256i vec;
typedef __m256 vec_float;
#endif
enum { VEC = sizeof(vec), LANES = VEC / 4 /* of 32 bits */ };

INLINE vec v_load(const void *p)
{
    return OP_BITS(loadu)((const vec *)p);
}

INLINE void v_store(void *p, vec v)
{
    OP_BITS(storeu)((vec *)p, v);
}

INLINE void v_put(void *p, vec v, bool stream)
{
    if (stream)
        OP_BITS(stream)((vec *)p, v);
    else
        v_store(p, v);
}

/* 16 bytes in each block of 16. */
INLINE vec v_blocks(const void *p)
{
    const __m128i block = _mm_loadu_si128((const __m128i *)p);
#if defined(__AVX512BW__)
    return _mm512_broadcast_i32x4(block);
#else
    return _mm256_broadcastsi128_si256(block);
#endif
}

/* Two words in each lane of 32 bits. */
INLINE vec v_words(const int16_t *words)
{
    int32_t both;
    memcpy(&both, words, sizeof both);
    return OP(set1_epi32)(both);
}

/* Words shifted right, all by as many bits. Zen 4 shifts by a vector of numbers beside the multipliers, by one number
   in their place. */
INLINE vec v_words_right(vec v, int bits)
{
#if defined(__AVX512BW__)
    return _mm512_srlv_epi16(v, _mm512_set1_epi16((int16_t)bits));
#else
    return _mm256_srl_epi16(v, _mm_cvtsi32_si128(bits));
#endif
}

/* Bit by bit: a where `mask` is set, else b. */
INLINE vec v_select(vec mask, vec a, vec b)
{
#if defined(__AVX512BW__)
    return _mm512_ternarylogic_epi32(mask, a, b, 0xca);
#else
    return _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b));
#endif
}

/* The 32-bit lanes' numbers. */
INLINE vec v_numbers(void)
{
    static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_load(numbers);
}

/* Lane i gets lane index[i]. */
INLINE vec v_pick(vec v, vec index)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi32(index, v);
#else
    return _mm256_permutevar8x32_epi32(v, index);
#endif
}

/* Lane i gets lane i - distance, the lowest lanes 0. */
INLINE vec v_up(vec v, int distance)
{
    const vec index = OP(sub_epi32)(v_numbers(), OP(set1_epi32)(distance));
#if defined(__AVX512BW__)
    return _mm512_maskz_permutexvar_epi32((__mmask16)(0xffffu << distance), index, v);
#else
    return _mm256_andnot_si256(_mm256_srai_epi32(index, 31), v_pick(v, index));
#endif
}

/* Lane i gets the sum of lanes i, i - stride, i - 2 stride ... */
INLINE vec v_scan(vec v, int stride)
{
    for (int distance = stride; distance < LANES; distance *= 2)
        v = OP(add_epi32)(v, v_up(v, distance));
    return v;
}

/* Lane i gets lane LANES - stride + i % stride: what the next vector continues from. */
INLINE vec v_tail(vec v, int stride)
{
    static const int32_t phase[5][16] = {
        [1] = {0},
        [2] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
        [3] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0},
        [4] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
    };
    return v_pick(v, OP(add_epi32)(v_load(phase[stride]), OP(set1_epi32)(LANES - stride)));
}

/* Lane by lane: a where `choice` is negative, else b. */
INLINE vec v_choose(vec choice, vec a, vec b)
{
#if defined(__AVX512BW__)
    return _mm512_mask_blend_epi32(_mm512_movepi32_mask(choice), b, a);
#else
    return _mm256_blendv_epi8(b, a, _mm256_srai_epi32(choice, 31));
#endif
}

/* NaN becomes the canonical one. */
INLINE vec v_canonical_f32(vec_float v)
{
    const vec nan = OP(set1_epi32)(0x7fc00000);
#if defined(__AVX512BW__)
    return _mm512_mask_mov_epi32(_mm512_castps_si512(v), _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
#else
    return _mm256_blendv_epi8(_mm256_castps_si256(v), nan, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
#endif
}

/* Packing two vectors works within blocks of 16 bytes, the first's 8 bytes before the second's: this puts all of the
   first before the second. */
INLINE vec v_packed_in_order(vec packed)
{
#if defined(__AVX512BW__)
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
#else
    return _mm256_permute4x64_epi64(packed, 0xd8);
#endif
}

/* 16-bit lanes below 256, of a and then b, as bytes. */
INLINE vec v_bytes(vec a, vec b)
{
    return v_packed_in_order(OP(packus_epi16)(a, b));
}

/* Copies a computed piece of a row out. Streaming stores go past the cache, in whole lines only. */
static inline void put(void *restrict dst, const void *restrict src, int64_t bytes, bool stream)
{
    char *to = dst;
    const char *from = src;
    if (stream && bytes >= 256) {
        const int64_t head = (int64_t)((64 - (uintptr_t)to % 64) % 64);
        memcpy(to, from, (size_t)head);
        to += head, from += head, bytes -= head;
        for (; bytes >= 64; to += 64, from += 64, bytes -= 64)
            for (int i = 0; i < 64; i += VEC)
                OP_BITS(stream)((vec *)(void *)(to + i), v_load(from + i));
    }
    memcpy(to, from, (size_t)bytes);
}

/* Streaming stores are weakly ordered: they must be seen before the run is over. */
static inline void finish_stream(bool stream)
{
    if (stream)
        _mm_sfence();
}

#endif
#endif
