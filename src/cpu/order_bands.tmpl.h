/*
 * Windows of 3x3 and 5x5, four rows at a time: NAME, with K and LINES, whose order_lines.tmpl.h fetches and delivers; V
 * a vector of STEP keys, LOAD, STORE, VMIN, VMAX; INPUT and OUTPUT make elements keys and back, if LINES does not;
 * DIRECT: whether elements can be read in place.
 *
 * A kernel gives output elements 0 ... n-1 of four rows. Window row j of output row i is rows[i + j], which points at
 * the first position of element 0; up to a line behind the last position may be read. `room` holds what a piece of
 * columns has in common: lines of ROOM keys.
 */
#define EACH(n) SIMD for (int64_t x = 0; x < (n); x += STEP)
#define PIECE (TWI_ORDER_PIECE / (int64_t)sizeof(K))
#define ROOM ((TWI_ORDER_PIECE + TWI_SLACK) / (int64_t)sizeof(K))
#define ROW(p) INPUT(LOAD(p))
#define RESULT(p, v, stream) PUT(p, OUTPUT(v), stream)
#define MIDDLE(a, b, c) VMAX(VMIN(a, b), VMIN(VMAX(a, b), c))
#define SWAP(a, b)                                                                                                     \
    do {                                                                                                               \
        const V low = VMIN(a, b);                                                                                      \
        b = VMAX(a, b);                                                                                                \
        a = low;                                                                                                       \
    } while (0)

/* ---- Minimum and maximum ------------------------------------------------------------------------ */

#define BAND3 min3_piece
#define BAND5 min5_piece
#define PICK VMIN
#include "cpu/order_bands_extreme.tmpl.h"
#undef PICK
#undef BAND5
#undef BAND3
#define BAND3 max3_piece
#define BAND5 max5_piece
#define PICK VMAX
#include "cpu/order_bands_extreme.tmpl.h"
#undef PICK
#undef BAND5
#undef BAND3

/* ---- Medians ------------------------------------------------------------------------------------ */

/* What the sorted columns of a 3x3 window leave: the highest low, the lowest high, and of the middles two until the
   third column makes `lesser` their middle. */
typedef struct JOIN(triples, NAME) {
    V low;
    V high;
    V lesser;
    V larger;
} JOIN(triples, NAME);

/* The column of a, and of two keys in order. */
#define COLUMN(t, position, a, lower, upper)                                                                           \
    do {                                                                                                               \
        const V rest = VMAX(a, lower);                                                                                 \
        const V low = VMIN(a, lower);                                                                                  \
        const V middle = VMIN(rest, upper);                                                                            \
        const V high = VMAX(rest, upper);                                                                              \
        t.low = position == 0 ? low : VMAX(t.low, low);                                                                \
        t.high = position == 0 ? high : VMIN(t.high, high);                                                            \
        if (position == 2) {                                                                                           \
            t.lesser = VMAX(t.lesser, VMIN(t.larger, middle));                                                         \
        } else {                                                                                                       \
            t.larger = position == 0 ? middle : VMAX(t.lesser, middle);                                                \
            t.lesser = position == 0 ? middle : VMIN(t.lesser, middle);                                                \
        }                                                                                                              \
    } while (0)

/* The median is the middle of the highest low, the middle middle and the lowest high. */
INLINE void JOIN(median3_piece, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *r[TWI_ORDER_BAND + TWI_ORDER_SMALLEST - 1];
    K *const o0 = out[0], *const o1 = out[1], *const o2 = out[2], *const o3 = out[3];
    for (int i = 0; i < TWI_ORDER_BAND + TWI_ORDER_SMALLEST - 1; i++) {
        const K *const from = rows[i];
        K *const to = room + i * ROOM;
        if (!IS_KEY) {
            EACH(n + 2 * c)
            {
                STORE(to + x, ROW(from + x));
            }
        }
        r[i] = IS_KEY ? from : to;
    }
    const K *const r0 = r[0], *const r1 = r[1], *const r2 = r[2], *const r3 = r[3], *const r4 = r[4], *const r5 = r[5];
    EACH(n)
    {
        JOIN(triples, NAME) t0, t1, t2, t3;
#define COLUMNS(position)                                                                                              \
    do {                                                                                                               \
        const int64_t at = x + position * c;                                                                           \
        V a = LOAD(r1 + at), b = LOAD(r2 + at), d = LOAD(r3 + at), e = LOAD(r4 + at);                                  \
        const V third = b;                                                                                             \
        const V fourth = d;                                                                                            \
        SWAP(a, b);                                                                                                    \
        SWAP(d, e);                                                                                                    \
        COLUMN(t0, position, LOAD(r0 + at), a, b);                                                                     \
        COLUMN(t1, position, fourth, a, b);                                                                            \
        COLUMN(t2, position, third, d, e);                                                                             \
        COLUMN(t3, position, LOAD(r5 + at), d, e);                                                                     \
    } while (0)
        COLUMNS(0);
        COLUMNS(1);
        COLUMNS(2);
#undef COLUMNS
        RESULT(o0 + x, MIDDLE(t0.low, t0.lesser, t0.high), stream);
        RESULT(o1 + x, MIDDLE(t1.low, t1.lesser, t1.high), stream);
        RESULT(o2 + x, MIDDLE(t2.low, t2.lesser, t2.high), stream);
        RESULT(o3 + x, MIDDLE(t3.low, t3.lesser, t3.high), stream);
    }
}
#undef COLUMN

/* Columns of five, sorted: lines 0 ... 4. */
INLINE void JOIN(median5_columns, NAME)(const K *const *rows, int64_t n, K *room)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3], *const r4 = rows[4];
    EACH(n)
    {
        V a = ROW(r0 + x), b = ROW(r1 + x), c = ROW(r2 + x), d = ROW(r3 + x), e = ROW(r4 + x);
        SWAP(a, b);
        SWAP(d, e);
        SWAP(c, e);
        SWAP(c, d);
        SWAP(a, d);
        SWAP(b, e);
        SWAP(a, c);
        SWAP(b, d);
        SWAP(b, c);
        STORE(room + x, a);
        STORE(room + ROOM + x, b);
        STORE(room + 2 * ROOM + x, c);
        STORE(room + 3 * ROOM + x, d);
        STORE(room + 4 * ROOM + x, e);
    }
}

/* Two neighbouring columns, merged (Batcher's odd-even merge, 1968): lines 5 ... 14. */
INLINE void JOIN(median5_pairs, NAME)(int64_t n, int64_t c, K *room)
{
    EACH(n)
    {
        const K *from = room + x;
        K *to = room + 5 * ROOM + x;
        V v0 = LOAD(from), v1 = LOAD(from + ROOM), v2 = LOAD(from + 2 * ROOM);
        V v3 = LOAD(from + 3 * ROOM), v4 = LOAD(from + 4 * ROOM);
        from += c;
        V v5 = LOAD(from), v6 = LOAD(from + ROOM), v7 = LOAD(from + 2 * ROOM);
        V v8 = LOAD(from + 3 * ROOM), v9 = LOAD(from + 4 * ROOM);
        SWAP(v1, v9);
        SWAP(v1, v5);
        SWAP(v3, v7);
        SWAP(v3, v5);
        SWAP(v7, v9);
        SWAP(v2, v6);
        SWAP(v0, v8);
        SWAP(v4, v8);
        SWAP(v0, v2);
        SWAP(v4, v6);
        SWAP(v0, v1);
        SWAP(v2, v3);
        SWAP(v4, v5);
        SWAP(v6, v7);
        SWAP(v8, v9);
        STORE(to, v0);
        STORE(to + ROOM, v1);
        STORE(to + 2 * ROOM, v2);
        STORE(to + 3 * ROOM, v3);
        STORE(to + 4 * ROOM, v4);
        STORE(to + 5 * ROOM, v5);
        STORE(to + 6 * ROOM, v6);
        STORE(to + 7 * ROOM, v7);
        STORE(to + 8 * ROOM, v8);
        STORE(to + 9 * ROOM, v9);
    }
}

/*
 * Two pairs and a column are the window. Of the pairs' 20 values only those of rank 7 ... 12 can be the median, as the
 * column adds 0 to 5 lower ones: Batcher's merge without what these six do not need. Of them, a, and the
 * column, b, both sorted, the sixth is the lowest of max(a[i], b[4 - i]) and a[5].
 */
INLINE void JOIN(median5_row, NAME)(K *to, int64_t n, int64_t c, const K *room, bool stream)
{
    EACH(n)
    {
        const K *pair = room + 5 * ROOM + x;
        const K *column = room + 4 * c + x;
        V v0 = LOAD(pair), v1 = LOAD(pair + ROOM), v2 = LOAD(pair + 2 * ROOM), v3 = LOAD(pair + 3 * ROOM);
        V v4 = LOAD(pair + 4 * ROOM), v5 = LOAD(pair + 5 * ROOM), v6 = LOAD(pair + 6 * ROOM);
        V v7 = LOAD(pair + 7 * ROOM), v8 = LOAD(pair + 8 * ROOM), v9 = LOAD(pair + 9 * ROOM);
        pair += 2 * c;
        V v10 = LOAD(pair), v11 = LOAD(pair + ROOM), v12 = LOAD(pair + 2 * ROOM), v13 = LOAD(pair + 3 * ROOM);
        V v14 = LOAD(pair + 4 * ROOM), v15 = LOAD(pair + 5 * ROOM), v16 = LOAD(pair + 6 * ROOM);
        V v17 = LOAD(pair + 7 * ROOM), v18 = LOAD(pair + 8 * ROOM), v19 = LOAD(pair + 9 * ROOM);
        SWAP(v2, v18);
        v10 = VMAX(v2, v10);
        SWAP(v6, v14);
        v10 = VMAX(v6, v10);
        v14 = VMIN(v14, v18);
        v12 = VMAX(v4, v12);
        v16 = VMAX(v0, v16);
        v8 = VMIN(v8, v16);
        SWAP(v8, v12);
        SWAP(v8, v10);
        v12 = VMIN(v12, v14);
        v3 = VMIN(v3, v19);
        v11 = VMAX(v3, v11);
        v7 = VMIN(v7, v15);
        SWAP(v7, v11);
        SWAP(v5, v13);
        SWAP(v1, v17);
        v9 = VMIN(v9, v17);
        v5 = VMAX(v1, v5);
        v9 = VMIN(v9, v13);
        v7 = VMAX(v5, v7);
        SWAP(v9, v11);
        SWAP(v7, v8);
        SWAP(v9, v10);
        SWAP(v11, v12);
        v7 = VMAX(v7, LOAD(column + 4 * ROOM));
        v8 = VMAX(v8, LOAD(column + 3 * ROOM));
        v9 = VMAX(v9, LOAD(column + 2 * ROOM));
        v10 = VMAX(v10, LOAD(column + ROOM));
        v11 = VMAX(v11, LOAD(column));
        RESULT(to + x, VMIN(VMIN(VMIN(v7, v8), VMIN(v9, v10)), VMIN(v11, v12)), stream);
    }
}

INLINE void JOIN(median5_piece, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        JOIN(median5_columns, NAME)(rows + i, n + 4 * c, room);
        JOIN(median5_pairs, NAME)(n + 2 * c, c, room);
        JOIN(median5_row, NAME)(out[i], n, c, room, stream);
    }
}

/* ---- The bands ---------------------------------------------------------------------------------- */

typedef void JOIN(piece, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream);

/* Each kernel as a function of its own for one channel, where distances are constants, and for streaming. */
#define KERNEL(name)                                                                                                   \
    static void JOIN(name, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)      \
    {                                                                                                                  \
        if (stream)                                                                                                    \
            JOIN(JOIN(name, piece), NAME)(rows, out, n, c, room, true);                                                \
        else                                                                                                           \
            JOIN(JOIN(name, piece), NAME)(rows, out, n, c, room, false);                                               \
    }
KERNEL(min3)
KERNEL(min5)
KERNEL(max3)
KERNEL(max5)
KERNEL(median3)
KERNEL(median5)
#undef KERNEL

static JOIN(piece, NAME) * JOIN(band_kernel, NAME)(const twi_order_setup *setup, tw_op op)
{
    const bool three = setup->width == TWI_ORDER_SMALLEST;
    if (op == TW_OP_RANK)
        return three ? JOIN(median3, NAME) : JOIN(median5, NAME);
    if (op == TW_OP_MAX)
        return three ? JOIN(max3, NAME) : JOIN(max5, NAME);
    return three ? JOIN(min3, NAME) : JOIN(min5, NAME);
}

/* Elements first ... first + n - 1 of the band at row y, through copies of its source rows with their halos. */
static void JOIN(band_tile, NAME)(const twi_order_setup *setup, const twi_job *job, JOIN(piece, NAME) * kernel,
                                  int64_t y, int64_t first, int64_t n, char *place)
{
    const int64_t rows = TWI_ORDER_BAND + setup->height - 1;
    const int64_t valid = twi_min_i64(TWI_ORDER_BAND, job->last - y);
    const int64_t pitch = (TWI_ORDER_CHUNK + TWI_SLACK) / (int64_t)sizeof(K);
    const K *tile[TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1];
    K *stage[TWI_ORDER_BAND];
    K *lines = take(&place, (2 * TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1) * pitch * (int64_t)sizeof(K));
    K *room = take(&place, 0);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t from = y - setup->anchor_y + i;
        K *line = lines + i * pitch;
        tile[i] = line;
        /* rows below those that the last valid one needs are anything */
        if (i < valid + setup->height - 1)
            JOIN(fetch, LINES)(setup, &job->src, from, first - setup->before, n + setup->before + setup->after, line);
        else
            tile[i] = lines;
    }
    for (int64_t i = 0; i < TWI_ORDER_BAND; i++)
        stage[i] = lines + (TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1 + i) * pitch;
    for (int64_t x = 0; x < n; x += PIECE) {
        const K *from[TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1];
        K *to[TWI_ORDER_BAND];
        for (int64_t i = 0; i < rows; i++)
            from[i] = tile[i] + x;
        for (int64_t i = 0; i < TWI_ORDER_BAND; i++)
            to[i] = stage[i] + x;
        kernel(from, to, twi_min_i64(PIECE, n - x), setup->channels, room, false);
    }
    for (int64_t i = 0; i < valid; i++)
        JOIN(deliver, LINES)(setup, job, y + i, first, stage[i], n);
}

/* Whole lines of a band whose windows lie in the image: from place to place. */
static void JOIN(band_inner, NAME)(const twi_order_setup *setup, const twi_job *job, JOIN(piece, NAME) * kernel,
                                   int64_t y, int64_t first, int64_t last, char *place, bool stream)
{
    K *room = (K *)(void *)(place + twi_area_bytes((2 * TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1) *
                                                   (TWI_ORDER_CHUNK + TWI_SLACK)));
    const char *src = (const char *)job->src.data + (y - setup->anchor_y) * job->src.pitch;
    char *dst = (char *)job->dst.data + y * job->dst.pitch;
    for (int64_t x = first; x < last; x += PIECE) {
        const K *from[TWI_ORDER_BAND + TWI_ORDER_LARGEST - 1];
        K *to[TWI_ORDER_BAND];
        for (int64_t i = 0; i < TWI_ORDER_BAND + setup->height - 1; i++)
            from[i] = (const K *)(const void *)(src + i * job->src.pitch) + x - setup->before;
        for (int64_t i = 0; i < TWI_ORDER_BAND; i++)
            to[i] = (K *)(void *)(dst + i * job->dst.pitch) + x;
        kernel(from, to, twi_min_i64(PIECE, last - x), setup->channels, room, stream);
    }
}

static void JOIN(run_bands, NAME)(const twi_order_setup *setup, const twi_job *job, tw_op op)
{
    const int64_t line = TWI_LINE / (int64_t)sizeof(K);
    const int64_t chunk = TWI_ORDER_CHUNK / (int64_t)sizeof(K);
    const int64_t left = (setup->before + line - 1) / line * line;
    const int64_t inner = twi_max_i64(0, (setup->row - left - setup->after - line) / line * line);
    const bool aligned = ((uintptr_t)job->dst.data | (uintptr_t)job->dst.pitch) % TWI_LINE == 0;
    JOIN(piece, NAME) *kernel = JOIN(band_kernel, NAME)(setup, op);
    char *place = order_scratch(setup, job);
    for (int64_t y = job->first; y < job->last; y += TWI_ORDER_BAND) {
        const int64_t top = y - setup->anchor_y;
        const bool inside = DIRECT && inner > 0 && y + TWI_ORDER_BAND <= job->last && top >= 0 &&
                            top + TWI_ORDER_BAND + setup->height - 1 <= job->src.height && (aligned || !setup->stream);
        const int64_t first = inside ? left : setup->row;
        for (int64_t x = 0; x < first; x += chunk)
            JOIN(band_tile, NAME)(setup, job, kernel, y, x, twi_min_i64(chunk, first - x), place);
        if (inside)
            JOIN(band_inner, NAME)(setup, job, kernel, y, left, left + inner, place, setup->stream);
        for (int64_t x = first + inner; x < setup->row; x += chunk)
            JOIN(band_tile, NAME)(setup, job, kernel, y, x, twi_min_i64(chunk, setup->row - x), place);
    }
}
#undef SWAP
#undef MIDDLE
#undef RESULT
#undef ROW
#undef ROOM
#undef PIECE
#undef EACH
