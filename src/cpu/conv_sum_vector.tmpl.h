/*
 * The inner loop in vectors. The includer's, undefined at the end: NAME, T (a line's element), S (a sum),
 * START(integer) (a vector of them), MAC(sum, weight, elements); for floats also W (a weight), V (a vector of sums),
 * LOAD(address), STORE(address, sums) and SPLAT(weight). What is not given is that of integers of 32 bits.
 *
 * PAIRED: a tap is two elements, put side by side in blocks of 16 bytes; the first of two vectors holds elements 0-7 of
 * each, then 8-15.
 */
#ifndef T
#define T uint32_t
#define S uint32_t
#define START(value) OP(set1_epi32)((int32_t)(uint32_t)(uint64_t)(value))
#endif
#ifndef V
#define W int32_t
#define V vec
#define LOAD(p) v_load(p)
#define STORE(p, v) v_store(p, v)
#define SPLAT(w) OP(set1_epi32)(w)
#endif

typedef struct JOIN(columns, NAME) {
#define MEMBER(i) V v##i;
    COLUMNS(MEMBER)
#undef MEMBER
} JOIN(columns, NAME);

INLINE JOIN(columns, NAME) JOIN(mac, NAME)(JOIN(columns, NAME) sums, V weight, JOIN(columns, NAME) data)
{
#define COLUMN(i) sums.v##i = MAC(sums.v##i, weight, data.v##i);
    COLUMNS(COLUMN)
#undef COLUMN
    return sums;
}

INLINE void JOIN(store, NAME)(void *to, JOIN(columns, NAME) sums)
{
#define COLUMN(i) STORE((char *)to + (i)*VEC, sums.v##i);
    COLUMNS(COLUMN)
#undef COLUMN
}

/* A tile: some vectors of each row of the band, in registers until all taps are added. */
static void JOIN(sum_tile, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, S *to)
{
    const W *weight = pass->weights;
    JOIN(columns, NAME) s0, s1, s2, s3;
#define COLUMN(i) s0.v##i = START(pass->start);
    COLUMNS(COLUMN)
#undef COLUMN
    s1 = s2 = s3 = s0;
    for (int64_t t = 0; t < pass->count; t++, weight += TWI_CONV_BAND) {
        const twi_conv_tap tap = pass->taps[t];
        const T *line = (const T *)lines[tap.line] + x + tap.offset;
        JOIN(columns, NAME) data;
#ifdef PAIRED
        const T *other = (const T *)lines[tap.line] + x + tap.second;
#define BLOCK(i, low, high)                                                                                            \
    const vec a##i = LOAD(line + (i)*VEC), b##i = LOAD(other + (i)*VEC);                                               \
    data.low = OP(unpacklo_epi8)(a##i, b##i);                                                                          \
    data.high = OP(unpackhi_epi8)(a##i, b##i);
        BLOCKS(BLOCK)
#undef BLOCK
#else
#define COLUMN(i) data.v##i = LOAD((const char *)line + (i)*VEC);
        COLUMNS(COLUMN)
#undef COLUMN
#endif
        if (tap.rows & 1)
            s0 = JOIN(mac, NAME)(s0, SPLAT(weight[0]), data);
        if (tap.rows & 2)
            s1 = JOIN(mac, NAME)(s1, SPLAT(weight[1]), data);
        if (tap.rows & 4)
            s2 = JOIN(mac, NAME)(s2, SPLAT(weight[2]), data);
        if (tap.rows & 8)
            s3 = JOIN(mac, NAME)(s3, SPLAT(weight[3]), data);
    }
    JOIN(store, NAME)(to, s0);
    JOIN(store, NAME)(to + TWI_CONV_CHUNK, s1);
    JOIN(store, NAME)(to + 2 * TWI_CONV_CHUNK, s2);
    JOIN(store, NAME)(to + 3 * TWI_CONV_CHUNK, s3);
}

static void JOIN(sum, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, int64_t n, void *band)
{
    const int64_t tile = (int64_t)(sizeof(JOIN(columns, NAME)) / sizeof(S));
    const int64_t end = (n + TWI_CONV_TILE - 1) / TWI_CONV_TILE * TWI_CONV_TILE; /* the blocks of conv_fold.tmpl.h */
    for (int64_t i = 0; i < end; i += tile)
        JOIN(sum_tile, NAME)(pass, lines, x + i, (S *)band + i);
}

#undef NAME
#undef T
#undef S
#undef W
#undef V
#undef LOAD
#undef STORE
#undef SPLAT
#undef START
#undef MAC
#undef PAIRED
