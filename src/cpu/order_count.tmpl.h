/* One threshold for a tile (order_thresholds.tmpl.h): NAME, COLUMN the count of a column's part of a window, SUM of a
 * window. */

static void JOIN(count_first, NAME)(COLUMN *restrict columns, const uint8_t *restrict row, uint8_t threshold, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        columns[x] = (COLUMN)(columns[x] + (row[x] <= threshold));
}

static void JOIN(count_next, NAME)(COLUMN *restrict columns, const uint8_t *restrict enter,
                                   const uint8_t *restrict leave, uint8_t threshold, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        columns[x] = (COLUMN)(columns[x] + (enter[x] <= threshold) - (leave[x] <= threshold));
}

static void JOIN(count_widen, NAME)(SUM *restrict to, const COLUMN *restrict from, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = from[x];
}

static void JOIN(count_subtract, NAME)(SUM *restrict to, const SUM *restrict from, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = (SUM)(to[x] - from[x]);
}

/* Four neighbours' sum. */
static void JOIN(count_four, NAME)(SUM *restrict to, const SUM *restrict from, int64_t distance, int64_t n)
{
    const SUM *const b = from + distance;
    const SUM *const c = b + distance;
    const SUM *const d = c + distance;
    for (int64_t x = 0; x < n; x++)
        to[x] = (SUM)((from[x] + b[x]) + (c[x] + d[x]));
}

static void JOIN(count_add, NAME)(SUM *restrict to, const SUM *restrict from, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = (SUM)(to[x] + from[x]);
}

/* Raises a block's results to threshold + 1 where at most `rank` positions hold the threshold or less; how many. */
static uint8_t JOIN(count_raise, NAME)(uint8_t *restrict result, const SUM *restrict sum, SUM rank, uint8_t threshold)
{
    uint8_t raised = 0;
    for (int64_t x = 0; x < COUNT_BLOCK; x++) {
        const uint8_t value = sum[x] <= rank ? (uint8_t)(threshold + 1) : 0;
        raised = (uint8_t)(raised + (value != 0));
        result[x] = result[x] > value ? result[x] : value;
    }
    return raised;
}

/* The windows' sums along a row. */
static SUM *JOIN(count_across, NAME)(const count_tile *tile, const COLUMN *columns, SUM *sum)
{
    const int64_t c = tile->setup->channels;
    SUM *line = sum + tile->pitch;
    SUM *next = line + tile->pitch;
    int64_t length = tile->length;
    memset(sum, 0, (size_t)tile->n * sizeof *sum);
    JOIN(count_widen, NAME)(line, columns, length);
    if (tile->one_more)
        JOIN(count_subtract, NAME)(sum, line + tile->setup->width * c, tile->n);
    for (int level = 0; level < tile->levels; level++) {
        for (int i = 0; i < tile->term_count; i++)
            if (tile->terms[i].level == level)
                JOIN(count_add, NAME)(sum, line + tile->terms[i].first, tile->n);
        length -= (3 * c) << (2 * level);
        if (level + 1 < tile->levels)
            JOIN(count_four, NAME)(next, line, c << (2 * level), length);
        SUM *const swap = line;
        line = next;
        next = swap;
    }
    return sum;
}

/* The outputs above middle->threshold, in the blocks of rows first ... last-1 that have some between `low` and `high`.
 */
static void JOIN(pass, NAME)(const count_tile *tile, const above *low, const above *high, above *middle, int64_t first,
                             int64_t last)
{
    const twi_order_setup *setup = tile->setup;
    const uint8_t threshold = (uint8_t)middle->threshold;
    COLUMN *columns = (COLUMN *)(void *)tile->lines;
    SUM *sums = (SUM *)(void *)(columns + tile->pitch);
    memset(columns, 0, (size_t)tile->length * sizeof *columns);
    for (int64_t i = first; i < first + setup->height; i++)
        JOIN(count_first, NAME)(columns, tile->source + i * tile->pitch, threshold, tile->length);
    for (int64_t y = first; y < last; y++) {
        const uint8_t *leave = tile->source + (y - 1) * tile->pitch;
        if (y > first)
            JOIN(count_next, NAME)
        (columns, leave + setup->height * tile->pitch, leave, threshold, tile->length);
        if (!row_is_open(low, high, y))
            continue;
        const SUM *sum = JOIN(count_across, NAME)(tile, columns, sums);
        for (int64_t block = 0; block < tile->n / COUNT_BLOCK; block++)
            if (block_is_open(low, high, y, block))
                middle->blocks[y][block] =
                    JOIN(count_raise, NAME)(tile->result + y * tile->pitch + block * COUNT_BLOCK,
                                            sum + block * COUNT_BLOCK, (SUM)setup->rank, threshold);
    }
}
