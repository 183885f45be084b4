/* Two kernels of order_bands.tmpl.h, BAND3 and BAND5: the minimum or the maximum, by PICK. */

INLINE void JOIN(BAND3, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2];
    const K *const r3 = rows[3], *const r4 = rows[4], *const r5 = rows[5];
    K *const o0 = out[0], *const o1 = out[1], *const o2 = out[2], *const o3 = out[3];
    (void)room;
#define ACROSS(r) PICK(PICK(LOAD(r + x), LOAD(r + x + c)), LOAD(r + x + 2 * c))
    EACH(n)
    {
        const V v0 = ACROSS(r0), v1 = ACROSS(r1), v2 = ACROSS(r2), v3 = ACROSS(r3), v4 = ACROSS(r4), v5 = ACROSS(r5);
        const V upper = PICK(v1, v2);
        const V lower = PICK(v3, v4);
        PUT(o0 + x, PICK(v0, upper), stream);
        PUT(o1 + x, PICK(upper, v3), stream);
        PUT(o2 + x, PICK(v2, lower), stream);
        PUT(o3 + x, PICK(lower, v5), stream);
    }
#undef ACROSS
}

/* Down the columns first, so that each is loaded once; then along the rows. */
INLINE void JOIN(BAND5, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    const K *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3];
    const K *const r4 = rows[4], *const r5 = rows[5], *const r6 = rows[6], *const r7 = rows[7];
    EACH(n + 4 * c)
    {
        const V v1 = LOAD(r1 + x), v2 = LOAD(r2 + x), v5 = LOAD(r5 + x);
        const V from3 = PICK(LOAD(r3 + x), LOAD(r4 + x));
        const V from2 = PICK(v2, from3);
        const V from1 = PICK(v1, from2);
        const V to6 = PICK(v5, LOAD(r6 + x));
        STORE(room + x, PICK(LOAD(r0 + x), from1));
        STORE(room + ROOM + x, PICK(from1, v5));
        STORE(room + 2 * ROOM + x, PICK(from2, to6));
        STORE(room + 3 * ROOM + x, PICK(PICK(from3, to6), LOAD(r7 + x)));
    }
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        const K *const from = room + i * ROOM;
        K *const to = out[i];
        EACH(n)
        {
            const V inner = PICK(PICK(LOAD(from + x + c), LOAD(from + x + 2 * c)), LOAD(from + x + 3 * c));
            PUT(to + x, PICK(PICK(LOAD(from + x), inner), LOAD(from + x + 4 * c)), stream);
        }
    }
}
