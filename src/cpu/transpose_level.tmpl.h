/* transpose for a level: pixels of every size. */
#include "cpu/level.h"
#include "cpu/transpose.h"

/* Bytes of a source row, and of a row of dst at most, that a tile has. */
enum { TILE_IN = TWI_LINE, TILE_OUT = 4 * TWI_LINE };

/* `rows` rows of `bytes` bytes, and a call for the bytes that follow, if there are any. */
static void fill(char *tile, const char *src, int64_t src_pitch, int64_t rows, int64_t bytes, bool more)
{
    for (int64_t y = 0; y < rows; y++, tile += TILE_IN, src += src_pitch) {
        if (more)
            bring_near(src + TILE_IN, TILE_IN);
        if (bytes == TILE_IN)
            memcpy(tile, src, TILE_IN);
        else
            memcpy(tile, src, (size_t)bytes);
    }
}

#ifdef LEVEL_VECTOR
enum { BLOCKS = VEC / 16, LINE_VECTORS = TWI_LINE / VEC };

INLINE __m128i block_at(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* 16 bytes each of BLOCKS rows. */
INLINE vec v_rows(const char *p, int64_t pitch)
{
#if defined(__AVX512BW__)
    const vec low = _mm512_inserti32x4(_mm512_castsi128_si512(block_at(p)), block_at(p + pitch), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(low, block_at(p + 2 * pitch), 2), block_at(p + 3 * pitch), 3);
#else
    return _mm256_inserti128_si256(_mm256_castsi128_si256(block_at(p)), block_at(p + pitch), 1);
#endif
}
#endif

#define UNIT 1
#ifdef LEVEL_VECTOR
#define UNPACK_LOW OP(unpacklo_epi8)
#define UNPACK_HIGH OP(unpackhi_epi8)
#endif
#include "cpu/transpose_unit.tmpl.h"

#define UNIT 2
#ifdef LEVEL_VECTOR
#define UNPACK_LOW OP(unpacklo_epi16)
#define UNPACK_HIGH OP(unpackhi_epi16)
#endif
#include "cpu/transpose_unit.tmpl.h"

#define UNIT 4
#ifdef LEVEL_VECTOR
#define UNPACK_LOW OP(unpacklo_epi32)
#define UNPACK_HIGH OP(unpackhi_epi32)
#endif
#include "cpu/transpose_unit.tmpl.h"

#define UNIT 8
#ifdef LEVEL_VECTOR
#define UNPACK_LOW OP(unpacklo_epi64)
#define UNPACK_HIGH OP(unpackhi_epi64)
#endif
#include "cpu/transpose_unit.tmpl.h"

#define UNIT 16
#ifdef LEVEL_VECTOR
#define UNPACK_LOW(a, b) (a)
#define UNPACK_HIGH(a, b) (b)
#endif
#include "cpu/transpose_unit.tmpl.h"

/* ---- Pixels of other sizes ------------------------------------------------------------------------ */

/* A copy of a constant size is a few moves. */
INLINE void move(char *to, const char *from, int64_t pixel)
{
    switch (pixel) {
    case 3:
        memcpy(to, from, 3);
        break;
    case 6:
        memcpy(to, from, 6);
        break;
    case 12:
        memcpy(to, from, 12);
        break;
    case 24:
        memcpy(to, from, 24);
        break;
    default:
        memcpy(to, from, 32);
        break;
    }
}

/* In squares that the first cache holds. */
INLINE void exchange_pixels(const twi_turn_walk *walk, int64_t pixel)
{
    enum { SIDE = 16 };
    for (int64_t y = 0; y < walk->count; y += SIDE)
        for (int64_t x = walk->first; x < walk->last; x++)
            for (int64_t j = y; j < twi_min_i64(y + SIDE, walk->count); j++)
                move(walk->dst + x * walk->dst_pitch + j * pixel, walk->src + j * walk->src_pitch + x * pixel, pixel);
}

INLINE void mirror_pixels(char *dst, const char *src, int64_t count, int64_t pixel)
{
    for (int64_t x = 0; x < count; x++)
        move(dst + x * pixel, src + (count - 1 - x) * pixel, pixel);
}

/* ---- All -------------------------------------------------------------------------------------------- */

static void exchange(const twi_turn_walk *walk, int64_t pixel)
{
    switch (pixel) {
    case 1:
        exchange_1(walk);
        break;
    case 2:
        exchange_2(walk);
        break;
    case 3:
        exchange_pixels(walk, 3);
        break;
    case 4:
        exchange_4(walk);
        break;
    case 6:
        exchange_pixels(walk, 6);
        break;
    case 8:
        exchange_8(walk);
        break;
    case 12:
        exchange_pixels(walk, 12);
        break;
    case 16:
        exchange_16(walk);
        break;
    case 24:
        exchange_pixels(walk, 24);
        break;
    default:
        exchange_pixels(walk, 32);
        break;
    }
}

static void mirror(char *dst, const char *src, int64_t count, int64_t pixel)
{
    switch (pixel) {
    case 1:
        mirror_1(dst, src, count);
        break;
    case 2:
        mirror_2(dst, src, count);
        break;
    case 3:
        mirror_pixels(dst, src, count, 3);
        break;
    case 4:
        mirror_4(dst, src, count);
        break;
    case 6:
        mirror_pixels(dst, src, count, 6);
        break;
    case 8:
        mirror_8(dst, src, count);
        break;
    case 12:
        mirror_pixels(dst, src, count, 12);
        break;
    case 16:
        mirror_16(dst, src, count);
        break;
    case 24:
        mirror_pixels(dst, src, count, 24);
        break;
    default:
        mirror_pixels(dst, src, count, 32);
        break;
    }
}

/* A row at a time. */
static void flip(const twi_turn_walk *walk, int64_t pixel)
{
    for (int64_t y = walk->first; y < walk->last; y++) {
        const char *const src = walk->src + y * walk->src_pitch;
        char *const dst = walk->dst + y * walk->dst_pitch;
        if (walk->mirror)
            mirror(dst, src, walk->count, pixel);
        else
            put(dst, src, walk->count * pixel, walk->stream);
    }
    finish_stream(walk->stream);
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const int64_t pixel = plan->problem.channels * (int64_t)tw_type_size(plan->problem.type);
    const twi_turn_walk walk = twi_turn_walk_of(plan, job);
    if (walk.exchange)
        exchange(&walk, pixel);
    else
        flip(&walk, pixel);
    return TW_OK;
}
