/*
 * The element of a rank among any positions, for signed keys: NAME, K as in order_lines.tmpl.h, V, STEP, LOAD, STORE
 * and, for vectors, BELOW(n, a, b): n + 1 where a < b, and REACHED(n, rank, a, b): a where n <= rank, else b.
 *
 * The result is the highest key with at most `rank` keys below it, and is found from its highest bit on: a bit is set
 * if the key with that bit, and none after it, still has no more. The time grows with the positions and bits alone,
 * each vector goes its own way, and nothing depends on the values.
 */
enum { JOIN(SELECT_VECTORS, NAME) = 4 }; /* at a time, so that counts are not waited for */
#define SELECT_VECTORS JOIN(SELECT_VECTORS, NAME)

static void JOIN(select_block, NAME)(const twi_order_setup *setup, const K *const *rows, int64_t x, K lowest, int bits,
                                     K *to)
{
    const int64_t c = setup->channels;
    const V rank = SPLAT((K)setup->rank);
    V found[SELECT_VECTORS];
    for (int i = 0; i < SELECT_VECTORS; i++)
        found[i] = SPLAT(lowest);
    for (int bit = bits - 1; bit >= 0; bit--) {
        const V step = SPLAT((K)((uint64_t)1 << bit));
        V tried[SELECT_VECTORS];
        V count[SELECT_VECTORS];
        for (int i = 0; i < SELECT_VECTORS; i++) {
            tried[i] = PLUS(found[i], step);
            count[i] = SPLAT(0);
        }
        for (int64_t r = 0; r < setup->run_count; r++) {
            const twi_order_run *run = &setup->runs[r];
            const K *from = rows[run->row] + x + run->first;
            const K *last = rows[run->row] + x + run->last;
            for (; from < last; from += c)
                for (int i = 0; i < SELECT_VECTORS; i++)
                    count[i] = BELOW(count[i], LOAD(from + i * STEP), tried[i]);
        }
        for (int i = 0; i < SELECT_VECTORS; i++)
            found[i] = REACHED(count[i], rank, tried[i], found[i]);
    }
    for (int i = 0; i < SELECT_VECTORS; i++)
        STORE(to + i * STEP, found[i]);
}

/* In strips. */
static void JOIN(run_select, NAME)(const twi_order_setup *setup, const twi_job *job)
{
    const int bits = setup->type == TW_U8 ? 8 : setup->type <= TW_I16 ? 16 : 8 * (int)sizeof(K);
    const K lowest = setup->type == TW_U8 || (BIAS == 0 && setup->type == TW_U16) ? 0
                     : setup->type <= TW_I16                                      ? (K)INT16_MIN
                                                                                  : (K)LOWEST;
    char *place = order_scratch(setup, job);
    K *kept = take(&place, setup->height * setup->pitch);
    K *found = take(&place, setup->strip * (int64_t)sizeof(K));
    const K **rows = take(&place, 0);
    for (int64_t first = 0; first < setup->row; first += setup->strip) {
        const int64_t n = twi_min_i64(setup->strip, setup->row - first);
        for (int64_t y = job->first; y < job->last; y++) {
            JOIN(window_rows, NAME)(setup, job, y, first, n, kept, rows);
            for (int64_t x = 0; x < n; x += SELECT_VECTORS * STEP)
                JOIN(select_block, NAME)(setup, rows, x, lowest, bits, found + x);
            JOIN(deliver, NAME)(setup, job, y, first, found, n);
        }
    }
}
#undef SELECT_VECTORS
