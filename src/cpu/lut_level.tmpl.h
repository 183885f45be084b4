/*
 * lut for a level. Results are made in a buffer, a piece of a row at a time, and go from there past the cache. Bytes
 * from bytes by one table are made in vectors; all others one by one, at the pace at which the cache answers.
 */
#include "cpu/level.h"
#include "cpu/lut.h"

/* Elements of a piece: whole pixels of any number of channels. */
enum { PIECE = 1536 };

typedef void look_up_function(void *to, const void *from, int64_t count, const void *table, int64_t table_channels);

/* Element i is of channel i % CHANNELS of the table. */
#define EACH(CHANNELS)                                                                                                 \
    for (int64_t i = 0; i < count; i += (CHANNELS))                                                                    \
        for (int64_t c = 0; c < (CHANNELS); c++)                                                                       \
    out[i + c] = entry[c * entries + in[i + c]]

#define LOOK_UP(NAME, T, E)                                                                                            \
    static void NAME(void *to, const void *from, int64_t count, const void *table, int64_t table_channels)             \
    {                                                                                                                  \
        const int64_t entries = INT64_C(1) << 8 * sizeof(T);                                                           \
        const T *const in = from;                                                                                      \
        const E *const entry = table;                                                                                  \
        E *const out = to;                                                                                             \
        switch (table_channels) {                                                                                      \
        case 1:                                                                                                        \
            EACH(1);                                                                                                   \
            break;                                                                                                     \
        case 2:                                                                                                        \
            EACH(2);                                                                                                   \
            break;                                                                                                     \
        case 3:                                                                                                        \
            EACH(3);                                                                                                   \
            break;                                                                                                     \
        default:                                                                                                       \
            EACH(4);                                                                                                   \
            break;                                                                                                     \
        }                                                                                                              \
    }
LOOK_UP(bytes_to_8, uint8_t, uint8_t)
LOOK_UP(bytes_to_16, uint8_t, uint16_t)
LOOK_UP(bytes_to_32, uint8_t, uint32_t)
LOOK_UP(bytes_to_64, uint8_t, uint64_t)
LOOK_UP(words_to_8, uint16_t, uint8_t)
LOOK_UP(words_to_16, uint16_t, uint16_t)
LOOK_UP(words_to_32, uint16_t, uint32_t)
LOOK_UP(words_to_64, uint16_t, uint64_t)

#ifdef LEVEL_VECTOR
/* Vectors that are looked up together, while a part of the table is at hand. */
enum { TOGETHER = 4 };

#if defined(__AVX512VBMI__)
/* Two halves of 128 entries; a byte's highest bit tells which. */
INLINE void look_up_vectors(vec *v, const uint8_t *table)
{
    const vec t[4] = {v_load(table), v_load(table + 64), v_load(table + 128), v_load(table + 192)};
    UNROLL
    for (int i = 0; i < TOGETHER; i++)
        v[i] = _mm512_mask_blend_epi8(_mm512_movepi8_mask(v[i]), _mm512_permutex2var_epi8(t[0], v[i], t[1]),
                                      _mm512_permutex2var_epi8(t[2], v[i], t[3]));
}
#else
/* Sixteen parts of 16 entries. A byte whose upper half is not the part's number gets its highest bit set, which makes
   the shuffle give 0. */
INLINE void look_up_vectors(vec *v, const uint8_t *table)
{
    vec sum[TOGETHER] = {0};
    for (int part = 0; part < 16; part++) {
        const vec number = OP(set1_epi8)((char)(16 * part));
        const vec entries = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * part)));
        UNROLL
        for (int i = 0; i < TOGETHER; i++) {
            const vec index = OP(adds_epu8)(OP_BITS(xor)(v[i], number), OP(set1_epi8)(0x70));
            sum[i] = OP_BITS(or)(sum[i], OP(shuffle_epi8)(entries, index));
        }
    }
    UNROLL
    for (int i = 0; i < TOGETHER; i++)
        v[i] = sum[i];
}
#endif

static void bytes_in_vectors(void *to, const void *from, int64_t count, const void *table, int64_t table_channels)
{
    const uint8_t *in = from;
    uint8_t *out = to;
    int64_t i = 0;
    for (; i + TOGETHER * VEC <= count; i += TOGETHER * VEC) {
        vec v[TOGETHER];
        UNROLL
        for (int k = 0; k < TOGETHER; k++)
            v[k] = v_load(in + i + k * VEC);
        look_up_vectors(v, table);
        UNROLL
        for (int k = 0; k < TOGETHER; k++)
            v_store(out + i + k * VEC, v[k]);
    }
    bytes_to_8(out + i, in + i, count - i, table, table_channels);
}
#endif

static look_up_function *function_of(const tw_problem *problem)
{
    static look_up_function *const functions[2][4] = {
        {bytes_to_8, bytes_to_16, bytes_to_32, bytes_to_64},
        {words_to_8, words_to_16, words_to_32, words_to_64},
    };
#ifdef LEVEL_VECTOR
    if (problem->type == TW_U8 && problem->table_channels == 1 && tw_type_size(problem->out_type) == 1)
        return bytes_in_vectors;
#endif
    return functions[problem->type == TW_U16][__builtin_ctz((unsigned)tw_type_size(problem->out_type))];
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const tw_problem *problem = &plan->problem;
    look_up_function *const look_up = function_of(problem);
    const int64_t size_in = (int64_t)tw_type_size(problem->type);
    const int64_t size_out = (int64_t)tw_type_size(problem->out_type);
    const int64_t count = problem->width * problem->channels;
    const bool stream = twi_output_streams(problem, count);
    _Alignas(TWI_LINE) char piece[PIECE * sizeof(uint64_t)];
    for (int64_t y = job->first; y < job->last; y++) {
        const char *const src = (const char *)job->src.data + y * job->src.pitch;
        char *const dst = (char *)job->dst.data + y * job->dst.pitch;
        for (int64_t x = 0; x < count; x += PIECE) {
            const int64_t n = twi_min_i64(PIECE, count - x);
            bring_next(src + x * size_in, n * size_in);
            look_up(piece, src + x * size_in, n, problem->table, problem->table_channels);
            put(dst + x * size_out, piece, n * size_out, stream);
        }
    }
    finish_stream(stream);
    return TW_OK;
}
