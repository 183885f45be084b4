/* Two kernels of order_bands.tmpl.h, BAND3 and BAND5: the minimum or the maximum, by PICK. Down the columns first, so
   that each is loaded once; then along the rows. */

INLINE void JOIN(BAND3, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2];
    const K *const r3 = rows[3], *const r4 = rows[4], *const r5 = rows[5];
    EACH(n + 2 * c)
    {
        const V v2 = ROW(r2 + x), v3 = ROW(r3 + x);
        const V upper = PICK(ROW(r1 + x), v2);
        const V lower = PICK(v3, ROW(r4 + x));
        STORE(room + x, PICK(ROW(r0 + x), upper));
        STORE(room + ROOM + x, PICK(upper, v3));
        STORE(room + 2 * ROOM + x, PICK(v2, lower));
        STORE(room + 3 * ROOM + x, PICK(lower, ROW(r5 + x)));
    }
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        const K *const from = room + i * ROOM;
        K *const to = out[i];
        EACH(n)
        {
            const V best = PICK(PICK(LOAD(from + x), LOAD(from + x + c)), LOAD(from + x + 2 * c));
            RESULT(to + x, best, stream);
        }
    }
}

INLINE void JOIN(BAND5, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3];
    const K *const r4 = rows[4], *const r5 = rows[5], *const r6 = rows[6], *const r7 = rows[7];
    EACH(n + 4 * c)
    {
        const V v1 = ROW(r1 + x), v2 = ROW(r2 + x), v5 = ROW(r5 + x);
        const V from3 = PICK(ROW(r3 + x), ROW(r4 + x));
        const V from2 = PICK(v2, from3);
        const V from1 = PICK(v1, from2);
        const V to6 = PICK(v5, ROW(r6 + x));
        STORE(room + x, PICK(ROW(r0 + x), from1));
        STORE(room + ROOM + x, PICK(from1, v5));
        STORE(room + 2 * ROOM + x, PICK(from2, to6));
        STORE(room + 3 * ROOM + x, PICK(PICK(from3, to6), ROW(r7 + x)));
    }
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        const K *const from = room + i * ROOM;
        K *const to = out[i];
        EACH(n)
        {
            const V inner = PICK(PICK(LOAD(from + x + c), LOAD(from + x + 2 * c)), LOAD(from + x + 3 * c));
            RESULT(to + x, PICK(PICK(LOAD(from + x), inner), LOAD(from + x + 4 * c)), stream);
        }
    }
}
