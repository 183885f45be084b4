/*
 * Pixels of UNIT bytes. In vectors, K = 16 / UNIT of them are 16 bytes, and UNPACK_LOW and UNPACK_HIGH interleave two
 * vectors within blocks of 16 bytes. Interleaving vector i of K with vector i + K/2, all of them log2(K) times,
 * exchanges rows and columns of each K x K pixels: a pixel's vector and its place there make a number, whose bits
 * rotate by one each time.
 */
enum { JOIN(K, UNIT) = 16 / UNIT };

#ifdef UNPACK_LOW
/* The first line of each of K rows of dst, from K columns of the tile. */
INLINE void JOIN(lines, UNIT)(const char *tile, vec line[LINE_VECTORS][JOIN(K, UNIT)])
{
    enum { COUNT = JOIN(K, UNIT) };
    for (int h = 0; h < LINE_VECTORS; h++) {
        vec *const a = line[h];
        UNROLL
        for (int i = 0; i < COUNT; i++)
            a[i] = v_rows(tile + (h * BLOCKS * COUNT + i) * TILE_IN, COUNT * TILE_IN);
        UNROLL
        for (int size = COUNT; size > 1; size /= 2) {
            vec b[COUNT];
            UNROLL
            for (int i = 0; i < COUNT / 2; i++) {
                b[2 * i] = UNPACK_LOW(a[i], a[i + COUNT / 2]);
                b[2 * i + 1] = UNPACK_HIGH(a[i], a[i + COUNT / 2]);
            }
            UNROLL
            for (int i = 0; i < COUNT; i++)
                a[i] = b[i];
        }
    }
}

/* The tile's columns as rows of dst, `bytes` bytes of each. */
static void JOIN(empty, UNIT)(const char *tile, char *dst, int64_t dst_pitch, int64_t columns, int64_t bytes,
                              bool stream)
{
    enum { COUNT = JOIN(K, UNIT) };
    for (int64_t x = 0; x < columns; x += COUNT, dst += COUNT * dst_pitch) {
        const int64_t count = twi_min_i64(columns - x, COUNT);
        for (int64_t at = 0; at < bytes; at += TWI_LINE) {
            vec line[LINE_VECTORS][COUNT];
            JOIN(lines, UNIT)(tile + at / UNIT * TILE_IN + x * UNIT, line);
            if (count == COUNT && at + TWI_LINE <= bytes) {
                UNROLL
                for (int i = 0; i < COUNT; i++)
                    for (int h = 0; h < LINE_VECTORS; h++)
                        v_put(dst + i * dst_pitch + at + h * VEC, line[h][i], stream);
            } else {
                for (int64_t i = 0; i < count; i++) {
                    vec part[LINE_VECTORS];
                    for (int h = 0; h < LINE_VECTORS; h++)
                        part[h] = line[h][i];
                    memcpy(dst + i * dst_pitch + at, part, (size_t)twi_min_i64(bytes - at, TWI_LINE));
                }
            }
        }
    }
}
#else
static void JOIN(empty, UNIT)(const char *tile, char *dst, int64_t dst_pitch, int64_t columns, int64_t bytes,
                              bool stream)
{
    (void)stream;
    for (int64_t x = 0; x < columns; x++)
        for (int64_t y = 0; y < bytes / UNIT; y++)
            memcpy(dst + x * dst_pitch + y * UNIT, tile + y * TILE_IN + x * UNIT, UNIT);
}
#endif

/* Tiles of the source go through a buffer in the first cache: their own lines would fall into a few sets of it. */
static void JOIN(exchange, UNIT)(const twi_turn_walk *walk)
{
    /* what lies beside the image is exchanged, too, and not used */
    _Alignas(TWI_LINE) char tile[TILE_OUT / UNIT * TILE_IN] = {0};
    const int64_t most = walk->burst / UNIT;
    for (int64_t y = 0; y < walk->count; y += most) {
        const int64_t rows = twi_min_i64(most, walk->count - y);
        for (int64_t x = walk->first; x < walk->last; x += TILE_IN / UNIT) {
            const int64_t columns = twi_min_i64(TILE_IN / UNIT, walk->last - x);
            fill(tile, walk->src + y * walk->src_pitch + x * UNIT, walk->src_pitch, rows, columns * UNIT,
                 walk->last - x > TILE_IN / UNIT);
            JOIN(empty, UNIT)
            (tile, walk->dst + x * walk->dst_pitch + y * UNIT, walk->dst_pitch, columns, rows * UNIT, walk->stream);
        }
    }
    finish_stream(walk->stream);
}

static void JOIN(mirror, UNIT)(char *dst, const char *src, int64_t count)
{
    for (int64_t x = 0; x < count; x++)
        memcpy(dst + x * UNIT, src + (count - 1 - x) * UNIT, UNIT);
}

#undef UNIT
#undef UNPACK_LOW
#undef UNPACK_HIGH
