/*
 * Minima or maxima of order_bands.tmpl.h. The includer's, undefined at the end: BAND (the kernel: min3, for one), PICK,
 * and RADIUS, 1 or 2. Down the columns first, each row loaded once and two outputs made of what their windows share;
 * then along the rows.
 */
#if RADIUS == 1
#define COLUMNS(at, GIVE)                                                                                              \
    do {                                                                                                               \
        V first = ROW(rows[0] + (at)), second = ROW(rows[1] + (at));                                                   \
        for (int i = 0; i < TWI_ORDER_BAND; i += 2) {                                                                  \
            const V third = ROW(rows[i + 2] + (at)), fourth = ROW(rows[i + 3] + (at));                                 \
            const V shared = PICK(second, third);                                                                      \
            GIVE(i, PICK(first, shared));                                                                              \
            GIVE(i + 1, PICK(shared, fourth));                                                                         \
            first = third;                                                                                             \
            second = fourth;                                                                                           \
        }                                                                                                              \
    } while (0)
#else
#define COLUMNS(at, GIVE)                                                                                              \
    do {                                                                                                               \
        V first = ROW(rows[0] + (at)), third = ROW(rows[2] + (at)), fourth = ROW(rows[3] + (at));                      \
        V upper = PICK(ROW(rows[1] + (at)), third);                                                                    \
        for (int i = 0; i < TWI_ORDER_BAND; i += 2) {                                                                  \
            const V fifth = ROW(rows[i + 4] + (at)), sixth = ROW(rows[i + 5] + (at));                                  \
            const V lower = PICK(fourth, fifth);                                                                       \
            const V shared = PICK(upper, lower);                                                                       \
            GIVE(i, PICK(first, shared));                                                                              \
            GIVE(i + 1, PICK(shared, sixth));                                                                          \
            first = third;                                                                                             \
            third = fifth;                                                                                             \
            fourth = sixth;                                                                                            \
            upper = lower;                                                                                             \
        }                                                                                                              \
    } while (0)
#endif

INLINE void JOIN(JOIN(BAND, piece), NAME)(const K *const *rows, K *const *out, int64_t n, int64_t c, K *room,
                                          bool stream)
{
#define TO_ROOM(i, v) STORE(room + (i)*ROOM + x, v)
    EACH(n + 2 * RADIUS * c)
    {
        COLUMNS(x, TO_ROOM);
    }
#undef TO_ROOM
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        const K *const from = room + i * ROOM;
        K *const to = out[i];
        EACH(n)
        {
#if RADIUS == 1
            const V best = PICK(PICK(LOAD(from + x), LOAD(from + x + c)), LOAD(from + x + 2 * c));
#else
            const V inner = PICK(PICK(LOAD(from + x + c), LOAD(from + x + 2 * c)), LOAD(from + x + 3 * c));
            const V best = PICK(PICK(LOAD(from + x), inner), LOAD(from + x + 4 * c));
#endif
            RESULT(to + x, best, stream);
        }
    }
}

#ifdef FLOWS
/* Of each column of a, which b follows, and those up to RADIUS to its right. */
INLINE V JOIN(JOIN(BAND, right), NAME)(V a, V b)
{
    V best = PICK(a, JOIN(v_after, LANE)(a, b, 1));
#if RADIUS == 2
    best = PICK(best, JOIN(v_after, LANE)(a, b, 2));
#endif
    return best;
}

INLINE void JOIN(JOIN(BAND, flow), NAME)(const K *const *rows, K *const *out, int64_t n, bool stream)
{
    V columns[TWI_ORDER_BAND], next[TWI_ORDER_BAND], right[TWI_ORDER_BAND];
#define TO_COLUMNS(i, v) columns[i] = v
#define TO_NEXT(i, v) next[i] = v
    COLUMNS(RADIUS - STEP, TO_COLUMNS);
    COLUMNS(RADIUS, TO_NEXT);
    for (int i = 0; i < TWI_ORDER_BAND; i++) {
        right[i] = JOIN(JOIN(BAND, right), NAME)(columns[i], next[i]);
        columns[i] = next[i];
    }
    EACH(n)
    {
        COLUMNS(x + RADIUS + STEP, TO_NEXT);
        for (int i = 0; i < TWI_ORDER_BAND; i++) {
            const V best = JOIN(JOIN(BAND, right), NAME)(columns[i], next[i]);
            RESULT(out[i] + x, PICK(JOIN(v_before, LANE)(right[i], best, RADIUS), best), stream);
            right[i] = best;
            columns[i] = next[i];
        }
    }
#undef TO_NEXT
#undef TO_COLUMNS
}
#endif
#undef COLUMNS
#undef RADIUS
#undef PICK
#undef BAND
