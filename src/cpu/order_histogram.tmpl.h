/*
 * The element of a rank among any positions, for keys of 8 and 16 bits: NAME, K as in order_lines.tmpl.h. A histogram
 * slides along the rows (Huang, 1979): at each step a key leaves and one enters for each run of the footprint. The time
 * grows with the number of runs, which for a rectangle is its height.
 */
#define FINE_BITS 4                     /* of a key, that a middle count leaves out */
#define BLOCK_BITS (4 * (int)sizeof(K)) /* that a block's leaves out */
#define BINS ((int64_t)1 << (8 * sizeof(K)))

typedef struct JOIN(histogram, NAME) {
    uint32_t *fine;   /* how many of each key */
    uint32_t *middle; /* of 16 bits alone, where blocks are longer */
    uint32_t *blocks;
    int64_t block; /* where the last result was */
    int64_t below; /* how many lie in lower blocks */
} JOIN(histogram, NAME);

static inline void JOIN(count_key, NAME)(JOIN(histogram, NAME) * h, K key, uint32_t change)
{
    const int64_t index = (int64_t)key - LOWEST;
    h->fine[index] += change;
    if (BLOCK_BITS > FINE_BITS)
        h->middle[index >> FINE_BITS] += change;
    h->blocks[index >> BLOCK_BITS] += change;
    h->below += index >> BLOCK_BITS < h->block ? (int32_t)change : 0;
}

static inline K JOIN(find_rank, NAME)(JOIN(histogram, NAME) * h, int64_t rank)
{
    while (h->below > rank)
        h->below -= h->blocks[--h->block];
    while (h->below + h->blocks[h->block] <= rank)
        h->below += h->blocks[h->block++];
    int64_t index = h->block << BLOCK_BITS;
    int64_t below = h->below;
    if (BLOCK_BITS > FINE_BITS)
        for (; below + h->middle[index >> FINE_BITS] <= rank; index += 1 << FINE_BITS)
            below += h->middle[index >> FINE_BITS];
    for (; below + h->fine[index] <= rank; index++)
        below += h->fine[index];
    return (K)(index + LOWEST);
}

/* In strips. */
static void JOIN(run_histogram, NAME)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t height = setup->height;
    const int64_t c = setup->channels;
    char *place = order_scratch(setup, job);
    K *kept = take(&place, height * setup->pitch);
    K *found = take(&place, setup->strip * (int64_t)sizeof(K));
    const K **rows = take(&place, height * (int64_t)sizeof *rows);
    JOIN(histogram, NAME) h = {.fine = take(&place, BINS * (int64_t)sizeof(uint32_t))};
    h.middle = take(&place, (BINS >> FINE_BITS) * (int64_t)sizeof(uint32_t));
    h.blocks = take(&place, 0);
    for (int64_t first = 0; first < setup->row; first += setup->strip) {
        const int64_t n = twi_min_i64(setup->strip, setup->row - first);
        for (int64_t y = job->first; y < job->last; y++) {
            JOIN(window_rows, NAME)(setup, job, y, first, n, kept, rows);
            for (int64_t channel = 0; channel < c; channel++) {
                memset(h.fine, 0, (size_t)BINS * sizeof *h.fine);
                memset(h.middle, 0, (size_t)(BINS >> FINE_BITS) * sizeof *h.middle);
                memset(h.blocks, 0, (size_t)(BINS >> BLOCK_BITS) * sizeof *h.blocks);
                h.below = h.block = 0;
                for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++)
                    for (int64_t x = channel + run->first; x < channel + run->last; x += c)
                        JOIN(count_key, NAME)(&h, rows[run->row][x], 1);
                for (int64_t x = channel; x < n; x += c) {
                    found[x] = JOIN(find_rank, NAME)(&h, setup->rank);
                    if (x + c >= n)
                        break;
                    for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++) {
                        JOIN(count_key, NAME)(&h, rows[run->row][x + run->first], UINT32_MAX);
                        JOIN(count_key, NAME)(&h, rows[run->row][x + run->last], 1);
                    }
                }
            }
            JOIN(deliver, NAME)(setup, job, y, first, found, n);
        }
    }
}
#undef BINS
#undef BLOCK_BITS
#undef FINE_BITS
