/*
 * The kernels of reduce for one type. Before each inclusion:
 *   T               the elements' C type
 *   NAME            what the kernels' names end with
 *   NARROW, RUN     integers: a type that holds the sum of RUN elements; floats define neither
 *   KEY, KEY_OF     an integer type and a map to it that keep the order of elements
 *   WIDE_KEY        from such a key to twi_key_f64 of the element
 */
#ifdef LANE_REGISTERS
/* Whole steps of the lanes of one channel; returns how many elements that is. */
static int64_t JOIN(add_steps, NAME)(double *restrict lanes, const T *restrict at, int64_t n)
{
    typedef T eight __attribute__((vector_size(8 * sizeof(T))));
    const int64_t steps = n / TWI_LANES;
    eight_lanes sums[EIGHTS];
    UNROLL
    for (int k = 0; k < EIGHTS; k++)
        memcpy(&sums[k], lanes + 8 * k, sizeof sums[k]);
    for (int64_t i = 0; i < steps; i++, at += TWI_LANES) {
        bring_next(at, TWI_LANES * sizeof(T));
        UNROLL
        for (int k = 0; k < EIGHTS; k++) {
            eight values;
            memcpy(&values, at + 8 * k, sizeof values);
            sums[k] += __builtin_convertvector(values, eight_lanes);
        }
    }
    UNROLL
    for (int k = 0; k < EIGHTS; k++)
        memcpy(lanes + 8 * k, &sums[k], sizeof sums[k]);
    return steps * TWI_LANES;
}
#endif

static void JOIN(add, NAME)(double *restrict lanes, int64_t period, const void *restrict row, int64_t n)
{
    const T *restrict at = row;
#ifdef LANE_REGISTERS
    if (period == TWI_LANES) {
        const int64_t done = JOIN(add_steps, NAME)(lanes, at, n);
        at += done;
        n -= done;
    }
#endif
    for (; n >= period; n -= period, at += period)
        for (int64_t k = 0; k < period; k++)
            lanes[k] += (double)at[k];
    for (int64_t k = 0; k < n; k++)
        lanes[k] += (double)at[k];
}

static void JOIN(add_squares, NAME)(double *restrict lanes, int64_t period, const double *restrict means,
                                    const void *restrict row, int64_t n)
{
    const T *restrict at = row;
    for (; n > 0; n -= period, at += period) {
        const int64_t some = n < period ? n : period;
        for (int64_t k = 0; k < some; k++) {
            const double difference = (double)at[k] - means[k];
            lanes[k] += difference * difference;
        }
    }
}

#ifdef NARROW
static void JOIN(sum_row, NAME)(int64_t *sums, const void *restrict row, int64_t n)
{
    const T *restrict at = row;
    if (n >= TWI_REDUCE_BLOCK) {
        int64_t wide[TWI_REDUCE_BLOCK] = {0};
        while (n >= TWI_REDUCE_BLOCK) {
            NARROW narrow[TWI_REDUCE_BLOCK] = {0};
            const int64_t blocks = n / TWI_REDUCE_BLOCK < RUN ? n / TWI_REDUCE_BLOCK : RUN;
            for (int64_t b = 0; b < blocks; b++, at += TWI_REDUCE_BLOCK) {
                bring_next(at, TWI_REDUCE_BLOCK * sizeof(T));
                for (int k = 0; k < TWI_REDUCE_BLOCK; k++)
                    narrow[k] = (NARROW)(narrow[k] + at[k]);
            }
            for (int k = 0; k < TWI_REDUCE_BLOCK; k++)
                wide[k] += narrow[k];
            n -= blocks * TWI_REDUCE_BLOCK;
        }
        for (int half = TWI_REDUCE_BLOCK / 2; half >= TWI_REDUCE_REST; half /= 2)
            for (int k = 0; k < half; k++)
                wide[k] += wide[k + half];
        for (int k = 0; k < TWI_REDUCE_REST; k++)
            sums[k] += wide[k];
    }
    for (; n >= TWI_REDUCE_REST; n -= TWI_REDUCE_REST, at += TWI_REDUCE_REST)
        for (int k = 0; k < TWI_REDUCE_REST; k++)
            sums[k] += at[k];
    for (int64_t k = 0; k < n; k++)
        sums[k] += at[k];
}

static void JOIN(sum_columns, NAME)(int64_t *restrict sums, const void *restrict row, int64_t n)
{
    const T *restrict at = row;
    for (int64_t k = 0; k < n; k++)
        sums[k] += at[k];
}
#endif

/* Keeps the extremes of n elements, each with its own. */
static inline void JOIN(keep, NAME)(KEY *restrict low, KEY *restrict high, const T *restrict at, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const KEY key = KEY_OF(at[k]);
        low[k] = key < low[k] ? key : low[k];
        high[k] = key > high[k] ? key : high[k];
    }
}

/* The extremes of whole blocks, of which there is one or more, folded; returns how many elements that is. */
static int64_t JOIN(range_blocks, NAME)(KEY *restrict lowest, KEY *restrict highest, const T *restrict at, int64_t n)
{
    KEY low[TWI_REDUCE_BLOCK];
    KEY high[TWI_REDUCE_BLOCK];
    int64_t done = 0;
    for (int k = 0; k < TWI_REDUCE_BLOCK; k++)
        low[k] = high[k] = KEY_OF(at[k]);
    for (; n - done >= TWI_REDUCE_BLOCK; done += TWI_REDUCE_BLOCK) {
        bring_next(at + done, TWI_REDUCE_BLOCK * sizeof(T));
        JOIN(keep, NAME)(low, high, at + done, TWI_REDUCE_BLOCK);
    }
    for (int half = TWI_REDUCE_BLOCK / 2; half >= TWI_REDUCE_REST; half /= 2) {
        for (int k = 0; k < half; k++) {
            low[k] = low[k + half] < low[k] ? low[k + half] : low[k];
            high[k] = high[k + half] > high[k] ? high[k + half] : high[k];
        }
    }
    memcpy(lowest, low, TWI_REDUCE_REST * sizeof *low);
    memcpy(highest, high, TWI_REDUCE_REST * sizeof *high);
    return done;
}

static void JOIN(range_row, NAME)(int64_t *lowest, int64_t *highest, const void *restrict row, int64_t n, int channels)
{
    const T *restrict at = row;
    KEY low[TWI_REDUCE_REST];
    KEY high[TWI_REDUCE_REST];
    int64_t done = 0;
    if (n >= TWI_REDUCE_BLOCK)
        done = JOIN(range_blocks, NAME)(low, high, at, n);
    else /* classes without an element of their own begin with one of their channel */
        for (int k = 0; k < TWI_REDUCE_REST; k++)
            low[k] = high[k] = KEY_OF(at[k < n ? k : k % channels]);
    for (; n - done >= TWI_REDUCE_REST; done += TWI_REDUCE_REST)
        JOIN(keep, NAME)(low, high, at + done, TWI_REDUCE_REST);
    JOIN(keep, NAME)(low, high, at + done, n - done);
    for (int k = 0; k < TWI_REDUCE_REST; k++) {
        lowest[k] = WIDE_KEY(low[k]);
        highest[k] = WIDE_KEY(high[k]);
    }
}

static int64_t JOIN(find, NAME)(const void *restrict row, int64_t n, int channels, int channel, int64_t wanted)
{
    const T *restrict at = row;
    int64_t i = 0;
    /* whole blocks that hold it in no channel are passed over at a vector's speed */
    for (; i + TWI_REDUCE_BLOCK <= n; i += TWI_REDUCE_BLOCK) {
        int hits = 0;
        for (int k = 0; k < TWI_REDUCE_BLOCK; k++)
            hits |= WIDE_KEY(KEY_OF(at[i + k])) == wanted;
        if (!hits)
            continue;
        for (int k = channel; k < TWI_REDUCE_BLOCK; k += channels)
            if (WIDE_KEY(KEY_OF(at[i + k])) == wanted)
                return i + k;
    }
    for (i += channel; i < n; i += channels)
        if (WIDE_KEY(KEY_OF(at[i])) == wanted)
            break;
    return i;
}

static void JOIN(range_columns, NAME)(int64_t *restrict lowest, int64_t *restrict highest, int64_t *restrict lowest_y,
                                      int64_t *restrict highest_y, const void *restrict row, int64_t n, int64_t y)
{
    const T *restrict at = row;
    for (int64_t k = 0; k < n; k++) {
        const int64_t key = WIDE_KEY(KEY_OF(at[k]));
        lowest_y[k] = key < lowest[k] ? y : lowest_y[k];
        lowest[k] = key < lowest[k] ? key : lowest[k];
        highest_y[k] = key > highest[k] ? y : highest_y[k];
        highest[k] = key > highest[k] ? key : highest[k];
    }
}

static void JOIN(count_row, NAME)(uint64_t *counts, const void *restrict row, int64_t n)
{
    const T *restrict at = row;
    while (n >= TWI_REDUCE_BLOCK) {
        uint32_t narrow[TWI_REDUCE_BLOCK] = {0};
        const int64_t most = UINT32_MAX / (TWI_REDUCE_BLOCK / TWI_REDUCE_REST); /* so that they can be folded */
        int64_t blocks = n / TWI_REDUCE_BLOCK < most ? n / TWI_REDUCE_BLOCK : most;
        n -= blocks * TWI_REDUCE_BLOCK;
        for (; blocks > 0; blocks--, at += TWI_REDUCE_BLOCK)
            for (int k = 0; k < TWI_REDUCE_BLOCK; k++)
                narrow[k] += at[k] != 0;
        for (int half = TWI_REDUCE_BLOCK / 2; half >= TWI_REDUCE_REST; half /= 2)
            for (int k = 0; k < half; k++)
                narrow[k] += narrow[k + half];
        for (int k = 0; k < TWI_REDUCE_REST; k++)
            counts[k] += narrow[k];
    }
    for (int64_t k = 0; k < n; k++)
        counts[k % TWI_REDUCE_REST] += at[k] != 0;
}

static void JOIN(count_columns, NAME)(uint64_t *restrict counts, const void *restrict row, int64_t n)
{
    const T *restrict at = row;
    for (int64_t k = 0; k < n; k++)
        counts[k] += at[k] != 0;
}

static const twi_reduce_kernels JOIN(kernels, NAME) = {
    .add = JOIN(add, NAME),
    .add_squares = JOIN(add_squares, NAME),
#ifdef NARROW
    .sum_row = JOIN(sum_row, NAME),
    .sum_columns = JOIN(sum_columns, NAME),
#endif
    .range_row = JOIN(range_row, NAME),
    .find = JOIN(find, NAME),
    .range_columns = JOIN(range_columns, NAME),
    .count_row = JOIN(count_row, NAME),
    .count_columns = JOIN(count_columns, NAME),
};

#undef T
#undef NAME
#undef NARROW
#undef RUN
#undef KEY
#undef KEY_OF
#undef WIDE_KEY
