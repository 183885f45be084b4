/* Two kernels of order_bands.tmpl.h, BAND3 and BAND5: the minimum or the maximum, by PICK. Down the columns first, each
   row loaded once and two outputs made of what their windows share; then along the rows. */

INLINE void JOIN(BAND3, NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room, bool stream)
{
    EACH(n + 2 * c)
    {
        V first = ROW(rows[0] + x), second = ROW(rows[1] + x);
        for (int i = 0; i < TWI_ORDER_BAND; i += 2) {
            const V third = ROW(rows[i + 2] + x), fourth = ROW(rows[i + 3] + x);
            const V shared = PICK(second, third);
            STORE(room + i * ROOM + x, PICK(first, shared));
            STORE(room + (i + 1) * ROOM + x, PICK(shared, fourth));
            first = third;
            second = fourth;
        }
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
    EACH(n + 4 * c)
    {
        V first = ROW(rows[0] + x), third = ROW(rows[2] + x), fourth = ROW(rows[3] + x);
        V upper = PICK(ROW(rows[1] + x), third);
        for (int i = 0; i < TWI_ORDER_BAND; i += 2) {
            const V fifth = ROW(rows[i + 4] + x), sixth = ROW(rows[i + 5] + x);
            const V lower = PICK(fourth, fifth);
            const V shared = PICK(upper, lower);
            STORE(room + i * ROOM + x, PICK(first, shared));
            STORE(room + (i + 1) * ROOM + x, PICK(shared, sixth));
            first = third;
            third = fifth;
            fourth = sixth;
            upper = lower;
        }
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
