/*
 * Windows of 3x3 and 5x5, eight rows at a time: NAME, with K and LINES, whose order_lines.tmpl.h fetches and delivers;
 * V a vector of STEP keys, LOAD, STORE, VMIN, VMAX; INPUT and OUTPUT make elements keys and back, if LINES does not;
 * DIRECT: whether elements can be read in place.
 *
 * A kernel gives output elements 0 ... n-1 of eight rows. Window row j of output row i is rows[i + j], which points at
 * the first position of element 0; up to a line behind the last position may be read. `room` holds what a piece of
 * columns has in common: lines of ROOM keys.
 *
 * FLOWS: there are registers enough to do without the room. A flow makes whole rows of one channel, the window's middle
 * anchored. What a vector's columns have in common stays in registers until its neighbours are there, so that each line
 * of the image is loaded once: of rows whose distance is a power of two the L1 cache holds eight, and a kernel that
 * comes back to a line finds it gone. A line before the first position and behind the last is read.
 */
#if defined(__AVX512BW__)
#define FLOWS
#endif
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

#define BAND min3
#define PICK VMIN
#define RADIUS 1
#include "cpu/order_bands_extreme.tmpl.h"
#define BAND min5
#define PICK VMIN
#define RADIUS 2
#include "cpu/order_bands_extreme.tmpl.h"
#define BAND max3
#define PICK VMAX
#define RADIUS 1
#include "cpu/order_bands_extreme.tmpl.h"
#define BAND max5
#define PICK VMAX
#define RADIUS 2
#include "cpu/order_bands_extreme.tmpl.h"

/* ---- Medians ------------------------------------------------------------------------------------ */

/* A sorted column of a 3x3 window. */
typedef struct JOIN(triple, NAME) {
    V low;
    V middle;
    V high;
} JOIN(triple, NAME);

/* The column of a key and of two in order. */
INLINE JOIN(triple, NAME) JOIN(sorted, NAME)(V key, V lower, V upper)
{
    const V rest = VMAX(key, lower);
    const JOIN(triple, NAME) column = {VMIN(key, lower), VMIN(rest, upper), VMAX(rest, upper)};
    return column;
}

/* What the sorted columns of a 3x3 window leave: the highest low, the lowest high, and of the middles two until the
   third column makes `lesser` their middle. */
typedef struct JOIN(triples, NAME) {
    V low;
    V high;
    V lesser;
    V larger;
} JOIN(triples, NAME);

/* One more column: of a, and of two keys in order. */
#define COLUMN(t, position, a, lower, upper)                                                                           \
    do {                                                                                                               \
        const JOIN(triple, NAME) column = JOIN(sorted, NAME)(a, lower, upper);                                         \
        t.low = position == 0 ? column.low : VMAX(t.low, column.low);                                                  \
        t.high = position == 0 ? column.high : VMIN(t.high, column.high);                                              \
        if (position == 2) {                                                                                           \
            t.lesser = VMAX(t.lesser, VMIN(t.larger, column.middle));                                                  \
        } else {                                                                                                       \
            t.larger = position == 0 ? column.middle : VMAX(t.lesser, column.middle);                                  \
            t.lesser = position == 0 ? column.middle : VMIN(t.lesser, column.middle);                                  \
        }                                                                                                              \
    } while (0)

/* The rows' elements as keys, in the room's first lines unless the rows hold keys. */
INLINE K *JOIN(key_rows, NAME)(const K *const *rows, const K **keys, int count, int64_t n, K *room)
{
    for (int i = 0; i < count; i++)
        keys[i] = IS_KEY ? rows[i] : room + i * ROOM;
    if (!IS_KEY)
        EACH(n)
        {
            for (int i = 0; i < count; i++)
                STORE(room + i * ROOM + x, ROW(rows[i] + x));
        }
    return room + (IS_KEY ? 0 : count) * ROOM;
}

/* Four rows. The median is the middle of the highest low, the middle middle and the lowest high. */
INLINE void JOIN(median3_rows, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, bool stream)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2];
    const K *const r3 = rows[3], *const r4 = rows[4], *const r5 = rows[5];
    K *const o0 = out[0], *const o1 = out[1], *const o2 = out[2], *const o3 = out[3];
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

INLINE void JOIN(median3_piece, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *keys[TWI_ORDER_BAND_ROWS];
    (void)JOIN(key_rows, NAME)(rows, keys, TWI_ORDER_BAND + 2, n + 2 * c, room);
    for (int i = 0; i < TWI_ORDER_BAND; i += 4)
        JOIN(median3_rows, NAME)(keys + i, out + i, n, c, stream);
}
#undef COLUMN

#ifdef FLOWS
/* The columns at x of four output rows. */
INLINE void JOIN(median3_columns, NAME)(const K *const *rows, int64_t x, JOIN(triple, NAME) * columns)
{
    V a = ROW(rows[1] + x), b = ROW(rows[2] + x), c = ROW(rows[3] + x), d = ROW(rows[4] + x);
    const V third = b;
    const V fourth = c;
    SWAP(a, b);
    SWAP(c, d);
    columns[0] = JOIN(sorted, NAME)(ROW(rows[0] + x), a, b);
    columns[1] = JOIN(sorted, NAME)(fourth, a, b);
    columns[2] = JOIN(sorted, NAME)(third, c, d);
    columns[3] = JOIN(sorted, NAME)(ROW(rows[5] + x), c, d);
}

/* Columns that lie `distance` after those of a, which b follows. */
INLINE JOIN(triple, NAME) JOIN(triples_after, NAME)(JOIN(triple, NAME) a, JOIN(triple, NAME) b, int distance)
{
    const JOIN(triple, NAME)
        columns = {JOIN(v_after, LANE)(a.low, b.low, distance), JOIN(v_after, LANE)(a.middle, b.middle, distance),
                   JOIN(v_after, LANE)(a.high, b.high, distance)};
    return columns;
}

/* Columns are sorted once for three windows. Four rows at a time: the registers do not hold the columns of eight. */
INLINE void JOIN(median3_flow, NAME)(const K *const *rows, K *const *out, int64_t n, bool stream)
{
    for (int first = 0; first < TWI_ORDER_BAND; first += 4) {
        JOIN(triple, NAME) columns[4], next[4];
        JOIN(median3_columns, NAME)(rows + first, 0, columns);
        EACH(n)
        {
            JOIN(median3_columns, NAME)(rows + first, x + STEP, next);
            for (int i = 0; i < 4; i++) {
                const JOIN(triple, NAME) a = columns[i];
                const JOIN(triple, NAME) b = JOIN(triples_after, NAME)(a, next[i], 1);
                const JOIN(triple, NAME) c = JOIN(triples_after, NAME)(a, next[i], 2);
                const V low = VMAX(VMAX(a.low, b.low), c.low);
                const V middle = MIDDLE(a.middle, b.middle, c.middle);
                const V high = VMIN(VMIN(a.high, b.high), c.high);
                RESULT(out[first + i] + x, MIDDLE(low, middle, high), stream);
                columns[i] = next[i];
            }
        }
    }
}
#endif

/* The columns of four rows, sorted: lines 0 ... 3. */
INLINE void JOIN(median5_columns, NAME)(const K *const *rows, int64_t n, K *room)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3];
    EACH(n)
    {
        V a = LOAD(r0 + x), b = LOAD(r1 + x), c = LOAD(r2 + x), d = LOAD(r3 + x);
        SWAP(a, b);
        SWAP(c, d);
        SWAP(a, c);
        SWAP(b, d);
        SWAP(b, c);
        STORE(room + x, a);
        STORE(room + ROOM + x, b);
        STORE(room + 2 * ROOM + x, c);
        STORE(room + 3 * ROOM + x, d);
    }
}

/* Two neighbouring columns, merged (Batcher's odd-even merge, 1968): lines 4 ... 11. */
INLINE void JOIN(median5_pairs, NAME)(int64_t n, int64_t c, K *room)
{
    EACH(n)
    {
        const K *left = room + x;
        const K *right = left + c;
        K *to = room + 4 * ROOM + x;
        V v0 = LOAD(left), v1 = LOAD(left + ROOM), v2 = LOAD(left + 2 * ROOM), v3 = LOAD(left + 3 * ROOM);
        V v4 = LOAD(right), v5 = LOAD(right + ROOM), v6 = LOAD(right + 2 * ROOM), v7 = LOAD(right + 3 * ROOM);
        SWAP(v0, v4);
        SWAP(v1, v5);
        SWAP(v2, v6);
        SWAP(v3, v7);
        SWAP(v2, v4);
        SWAP(v3, v5);
        SWAP(v1, v2);
        SWAP(v3, v4);
        SWAP(v5, v6);
        STORE(to, v0);
        STORE(to + ROOM, v1);
        STORE(to + 2 * ROOM, v2);
        STORE(to + 3 * ROOM, v3);
        STORE(to + 4 * ROOM, v4);
        STORE(to + 5 * ROOM, v5);
        STORE(to + 6 * ROOM, v6);
        STORE(to + 7 * ROOM, v7);
    }
}

/* The middle of the window of which the sorted keys p ... u are left, when its last row is put to them: of two sorted
   rows, p and a ..., the sixth is the lowest of u and of the highest of pairs. */
INLINE V JOIN(median5_last, NAME)(V p, V q, V r, V s, V t, V u, const K *row, int64_t c)
{
    V a = LOAD(row), b = LOAD(row + c), d = LOAD(row + 2 * c), e = LOAD(row + 3 * c), f = LOAD(row + 4 * c);
    SWAP(a, b);
    SWAP(e, f);
    SWAP(d, f);
    SWAP(d, e);
    SWAP(a, e);
    SWAP(b, f);
    SWAP(a, d);
    SWAP(b, e);
    SWAP(b, d);
    const V low = VMIN(VMAX(p, f), VMAX(q, e));
    const V high = VMIN(VMAX(r, d), VMAX(s, b));
    return VMIN(VMIN(low, high), VMIN(VMAX(t, a), u));
}

/*
 * Two output rows. Their windows share 20 keys, two pairs and a column, of which those of rank 7 ... 12 can be a
 * median, as five more follow: Batcher's merges without what those do not need, the first without ranks 0 ... 2 and 13
 * ... 15 of its 16, the second as if the column followed seven lower keys.
 */
INLINE void JOIN(median5_rows, NAME)(const K *upper, const K *lower, K *const *out, int64_t n, int64_t c, const K *room,
                                     bool stream)
{
    K *const first = out[0], *const second = out[1];
    EACH(n)
    {
        const K *pair = room + 4 * ROOM + x;
        const K *column = room + 4 * c + x;
        V v0 = LOAD(pair), v1 = LOAD(pair + ROOM), v2 = LOAD(pair + 2 * ROOM), v3 = LOAD(pair + 3 * ROOM);
        V v4 = LOAD(pair + 4 * ROOM), v5 = LOAD(pair + 5 * ROOM);
        V v6 = LOAD(pair + 6 * ROOM), v7 = LOAD(pair + 7 * ROOM);
        pair += 2 * c;
        V v8 = LOAD(pair), v9 = LOAD(pair + ROOM), v10 = LOAD(pair + 2 * ROOM), v11 = LOAD(pair + 3 * ROOM);
        V v12 = LOAD(pair + 4 * ROOM), v13 = LOAD(pair + 5 * ROOM);
        V v14 = LOAD(pair + 6 * ROOM), v15 = LOAD(pair + 7 * ROOM);
        v8 = VMAX(v0, v8);
        SWAP(v4, v12);
        SWAP(v4, v8);
        SWAP(v2, v10);
        v6 = VMIN(v6, v14);
        SWAP(v6, v10);
        v4 = VMAX(v2, v4);
        SWAP(v6, v8);
        SWAP(v10, v12);
        v9 = VMAX(v1, v9);
        SWAP(v5, v13);
        SWAP(v5, v9);
        SWAP(v3, v11);
        v7 = VMIN(v7, v15);
        SWAP(v7, v11);
        SWAP(v3, v5);
        SWAP(v7, v9);
        v11 = VMIN(v11, v13);
        SWAP(v3, v4);
        SWAP(v5, v6);
        SWAP(v7, v8);
        SWAP(v9, v10);
        SWAP(v11, v12);
        V a = LOAD(column), b = LOAD(column + ROOM), d = LOAD(column + 2 * ROOM), e = LOAD(column + 3 * ROOM);
        v11 = VMIN(v11, b);
        v3 = VMAX(v11, v3);
        SWAP(v7, v3);
        SWAP(e, v5);
        v9 = VMIN(v9, v5);
        v7 = VMAX(e, v7);
        SWAP(v9, v3);
        v12 = VMIN(v12, d);
        v4 = VMAX(v12, v4);
        SWAP(v8, v4);
        SWAP(v10, a);
        v6 = VMAX(v10, v6);
        SWAP(v6, v8);
        a = VMIN(a, v4);
        SWAP(v6, v7);
        SWAP(v8, v9);
        SWAP(a, v3);
        RESULT(first + x, JOIN(median5_last, NAME)(v6, v7, v8, v9, a, v3, upper + x, c), stream);
        RESULT(second + x, JOIN(median5_last, NAME)(v6, v7, v8, v9, a, v3, lower + x, c), stream);
    }
}

INLINE void JOIN(median5_piece, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *keys[TWI_ORDER_BAND_ROWS];
    K *const lines = JOIN(key_rows, NAME)(rows, keys, TWI_ORDER_BAND_ROWS, n + 4 * c, room);
    for (int i = 0; i < TWI_ORDER_BAND; i += 2) {
        JOIN(median5_columns, NAME)(keys + i + 1, n + 4 * c, lines);
        JOIN(median5_pairs, NAME)(n + 2 * c, c, lines);
        JOIN(median5_rows, NAME)(keys[i], keys[i + 5], out + i, n, c, lines, stream);
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

#ifdef FLOWS
typedef void JOIN(flow, NAME)(const K *const *rows, K *const *out, int64_t n, bool stream);

#define FLOW(name)                                                                                                     \
    static void JOIN(JOIN(name, whole), NAME)(const K *const *rows, K *const *out, int64_t n, bool stream)             \
    {                                                                                                                  \
        if (stream)                                                                                                    \
            JOIN(JOIN(name, flow), NAME)(rows, out, n, true);                                                          \
        else                                                                                                           \
            JOIN(JOIN(name, flow), NAME)(rows, out, n, false);                                                         \
    }
FLOW(min3)
FLOW(min5)
FLOW(max3)
FLOW(max5)
FLOW(median3)
#undef FLOW

/* NULL: there is none. */
static JOIN(flow, NAME) * JOIN(band_flow, NAME)(const twi_order_setup *setup, tw_op op)
{
    const bool three = setup->width == TWI_ORDER_SMALLEST;
    if (setup->channels != 1 || setup->before != setup->after)
        return NULL;
    if (op == TW_OP_RANK)
        return three ? JOIN(median3_whole, NAME) : NULL;
    if (op == TW_OP_MAX)
        return three ? JOIN(max3_whole, NAME) : JOIN(max5_whole, NAME);
    return three ? JOIN(min3_whole, NAME) : JOIN(min5_whole, NAME);
}
#endif

/* Elements first ... first + n - 1 of the band at row y, through copies of its source rows with their halos. */
static void JOIN(band_tile, NAME)(const twi_order_setup *setup, const twi_job *job, JOIN(piece, NAME) * kernel,
                                  int64_t y, int64_t first, int64_t n, char *place)
{
    const int64_t rows = TWI_ORDER_BAND + setup->height - 1;
    const int64_t valid = twi_min_i64(TWI_ORDER_BAND, job->last - y);
    const int64_t pitch = (TWI_ORDER_CHUNK + TWI_SLACK) / (int64_t)sizeof(K);
    const K *tile[TWI_ORDER_BAND_ROWS];
    K *stage[TWI_ORDER_BAND];
    K *lines = take(&place, (TWI_ORDER_BAND + TWI_ORDER_BAND_ROWS) * pitch * (int64_t)sizeof(K));
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
        stage[i] = lines + (TWI_ORDER_BAND_ROWS + i) * pitch;
    for (int64_t x = 0; x < n; x += PIECE) {
        const K *from[TWI_ORDER_BAND_ROWS];
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
static void JOIN(band_inner, NAME)(const twi_order_setup *setup, const twi_job *job, tw_op op, int64_t y, int64_t first,
                                   int64_t last, char *place)
{
    JOIN(piece, NAME) *kernel = JOIN(band_kernel, NAME)(setup, op);
    K *room =
        (K *)(void *)(place + twi_area_bytes((TWI_ORDER_BAND + TWI_ORDER_BAND_ROWS) * (TWI_ORDER_CHUNK + TWI_SLACK)));
    const K *from[TWI_ORDER_BAND_ROWS];
    K *to[TWI_ORDER_BAND];
    for (int64_t i = 0; i < TWI_ORDER_BAND + setup->height - 1; i++)
        from[i] = (const K *)(const void *)((const char *)job->src.data + (y - setup->anchor_y + i) * job->src.pitch) +
                  first - setup->before;
    for (int64_t i = 0; i < TWI_ORDER_BAND; i++)
        to[i] = (K *)(void *)((char *)job->dst.data + (y + i) * job->dst.pitch) + first;
#ifdef FLOWS
    JOIN(flow, NAME) *flow = JOIN(band_flow, NAME)(setup, op);
    if (flow) {
        flow(from, to, last - first, setup->stream);
        return;
    }
#endif
    for (int64_t x = first; x < last; x += PIECE) {
        kernel(from, to, twi_min_i64(PIECE, last - x), setup->channels, room, setup->stream);
        for (int64_t i = 0; i < TWI_ORDER_BAND + setup->height - 1; i++)
            from[i] += PIECE;
        for (int64_t i = 0; i < TWI_ORDER_BAND; i++)
            to[i] += PIECE;
    }
}

static void JOIN(run_bands, NAME)(const twi_order_setup *setup, const twi_job *job, tw_op op)
{
    const int64_t line = TWI_LINE / (int64_t)sizeof(K);
    const int64_t chunk = TWI_ORDER_CHUNK / (int64_t)sizeof(K);
    const int64_t left = twi_round_up(setup->before, line);
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
            JOIN(band_inner, NAME)(setup, job, op, y, left, left + inner, place);
        for (int64_t x = first + inner; x < setup->row; x += chunk)
            JOIN(band_tile, NAME)(setup, job, kernel, y, x, twi_min_i64(chunk, setup->row - x), place);
    }
}
#undef FLOWS
#undef SWAP
#undef MIDDLE
#undef RESULT
#undef ROW
#undef ROOM
#undef PIECE
#undef EACH
