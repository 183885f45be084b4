/*
 * The element of a rank among any positions, for keys of 8 and 16 bits: NAME, K as in order_lines.tmpl.h. A histogram
 * slides along the rows (Huang, 1979): at each step a key leaves and one enters for each run of the footprint. The time
 * grows with the number of runs, which for a rectangle is its height.
 */
typedef struct JOIN(histogram, NAME) {
    uint32_t *fine;   /* of each key */
    uint32_t *coarse; /* of 2^TWI_ORDER_COARSE of them */
    int64_t below;    /* how many lie below `value` */
    int64_t value;
} JOIN(histogram, NAME);

static inline void JOIN(count_key, NAME)(JOIN(histogram, NAME) * h, K key, uint32_t change)
{
    const int64_t index = (int64_t)key - LOWEST;
    h->fine[index] += change;
    h->coarse[index >> TWI_ORDER_COARSE] += change;
    h->below += index < h->value ? (int32_t)change : 0;
}

/* From the value that was found before to that of the rank, in large steps where they do not pass it. */
static inline void JOIN(find_rank, NAME)(JOIN(histogram, NAME) * h, int64_t rank)
{
    const int64_t step = 1 << TWI_ORDER_COARSE;
    while (h->below > rank) {
        const int64_t before = h->value % step ? 0 : h->coarse[h->value / step - 1];
        const bool large = before && h->below - before > rank;
        h->value -= large ? step : 1;
        h->below -= large ? before : h->fine[h->value];
    }
    while (h->below + h->fine[h->value] <= rank) {
        const int64_t here = h->value % step ? 0 : h->coarse[h->value / step];
        const bool large = h->value % step == 0 && h->below + here <= rank;
        h->below += large ? here : h->fine[h->value];
        h->value += large ? step : 1;
    }
}

/* In strips; the source rows that a window covers are kept as keys with their halos. */
static void JOIN(run_histogram, NAME)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t height = setup->height;
    const int64_t halo = setup->before + setup->after;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t c = setup->channels;
    const size_t bins = (size_t)1 << (8 * sizeof(K));
    char *place = order_scratch(setup, job);
    K *kept = take(&place, height * setup->pitch);
    K *found = take(&place, setup->strip * (int64_t)sizeof(K));
    const K **rows = take(&place, height * (int64_t)sizeof *rows);
    JOIN(histogram, NAME) h = {.fine = take(&place, (int64_t)(bins * sizeof *h.fine))};
    h.coarse = take(&place, 0);
    for (int64_t first = 0; first < setup->row; first += setup->strip) {
        const int64_t n = twi_min_i64(setup->strip, setup->row - first);
        for (int64_t t = 0; t < job->last - job->first + height - 1; t++) {
            JOIN(fetch, NAME)
            (setup, &job->src, job->first - setup->anchor_y + t, first - setup->before, n + halo,
             kept + t % height * pitch);
            if (t < height - 1)
                continue;
            for (int64_t j = 0; j < height; j++)
                rows[j] = kept + (t + 1 + j) % height * pitch;
            for (int64_t channel = 0; channel < c; channel++) {
                memset(h.fine, 0, bins * sizeof *h.fine);
                memset(h.coarse, 0, (bins >> TWI_ORDER_COARSE) * sizeof *h.coarse);
                h.below = h.value = 0;
                for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++)
                    for (int64_t x = channel + run->first; x < channel + run->last; x += c)
                        JOIN(count_key, NAME)(&h, rows[run->row][x], 1);
                for (int64_t x = channel; x < n; x += c) {
                    JOIN(find_rank, NAME)(&h, setup->rank);
                    found[x] = (K)(h.value + LOWEST);
                    if (x + c >= n)
                        break;
                    for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++) {
                        JOIN(count_key, NAME)(&h, rows[run->row][x + run->first], UINT32_MAX);
                        JOIN(count_key, NAME)(&h, rows[run->row][x + run->last], 1);
                    }
                }
            }
            JOIN(deliver, NAME)(setup, job, job->first + t - (height - 1), first, found, n);
        }
    }
}
