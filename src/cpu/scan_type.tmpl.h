/*
 * The kernels of scan for a pair of types. To be defined: T and O, the types of values and of stored sums; A, which
 * they are made in; NAME; TILE, which makes the sums of a tile; STORE, which makes an O.
 */
static void JOIN(along, NAME)(twi_scan_line *line, const void *in, void *out, int64_t n, int64_t step, bool exclusive)
{
    _Alignas(TWI_LINE) A room[LEAD + TWI_SCAN_TILE]; /* as if one more value came before */
    A *const sums = room + LEAD;
    const T *from = in;
    O *to = out;
    for (; n > 0; n -= TWI_SCAN_TILE, from += TWI_SCAN_TILE * step, to += TWI_SCAN_TILE * step) {
        const int64_t some = twi_min_i64(n, TWI_SCAN_TILE);
        if (some < TWI_SCAN_TILE)
            memset(room, 0, sizeof room);
        if (step == 1)
            for (int64_t i = 0; i < some; i++)
                sums[i] = (A)from[i];
        else
            for (int64_t i = 0; i < some; i++)
                sums[i] = (A)from[i * step];
        const A *const made = TILE(line, sums, exclusive);
        if (step == 1)
            for (int64_t i = 0; i < some; i++)
                to[i] = STORE(made[i]);
        else
            for (int64_t i = 0; i < some; i++)
                to[i * step] = STORE(made[i]);
    }
}

static void JOIN(down, NAME)(const void *groups, void *group, const void *in, void *out, int64_t n, bool exclusive)
{
    const A *const before = groups;
    A *const sums = group;
    const T *const from = in;
    O *restrict const to = out;
    if (exclusive) {
        for (int64_t k = 0; k < n; k++) {
            const A value = (A)from[k];
            to[k] = STORE(before[k] + sums[k]);
            sums[k] += value;
        }
    } else {
        for (int64_t k = 0; k < n; k++) {
            const A value = (A)from[k];
            sums[k] += value;
            to[k] = STORE(before[k] + sums[k]);
        }
    }
}

static void JOIN(close, NAME)(void *groups, void *group, int64_t n)
{
    A *const before = groups;
    A *const sums = group;
    for (int64_t k = 0; k < n; k++)
        before[k] += sums[k];
    memset(group, 0, (size_t)n * sizeof *sums);
}

static const twi_scan_kernels JOIN(kernels, NAME) = {JOIN(along, NAME), JOIN(down, NAME), JOIN(close, NAME)};

#undef T
#undef O
#undef A
#undef NAME
#undef TILE
#undef STORE
