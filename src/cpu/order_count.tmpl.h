/* One threshold for a tile (order_count.h): NAME, COLUMN the count of a column's part of a window, SUM of a window. */

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

/* Raises results to threshold + 1 where at most `rank` positions hold the threshold or less; how many. */
static int32_t JOIN(count_raise, NAME)(uint8_t *restrict result, const SUM *restrict sum, SUM rank, uint8_t threshold,
                                       int64_t n)
{
    int32_t raised = 0;
    for (int64_t x = 0; x < n; x++) {
        const uint8_t value = sum[x] <= rank ? (uint8_t)(threshold + 1) : 0;
        raised += value != 0;
        result[x] = result[x] > value ? result[x] : value;
    }
    return raised;
}

/* The windows' sums along a row: width in base 4, a digit at a time. */
static SUM *JOIN(count_across, NAME)(const count_tile *tile, const COLUMN *columns)
{
    const int64_t c = tile->setup->channels;
    const int64_t n = tile->n;
    const int64_t length = n + tile->setup->before + tile->setup->after;
    const int64_t pitch = tile->pitch;
    SUM *sum = (SUM *)(void *)tile->lines;
    SUM *line = sum + pitch;
    SUM *next = line + pitch;
    int64_t done = 0;
    JOIN(count_widen, NAME)(line, columns, length);
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t side = 1, left = tile->setup->width; left > 0; side *= 4, left /= 4) {
        for (int64_t digit = left % 4; digit > 0; digit--, done += side)
            JOIN(count_add, NAME)(sum, line + done * c, n);
        if (left < 4)
            break;
        JOIN(count_four, NAME)(next, line, side * c, length - (4 * side - 1) * c);
        SUM *const swap = line;
        line = next;
        next = swap;
    }
    return sum;
}

/* The outputs above middle->threshold, in rows that have some between `low` and `high`. */
static void JOIN(pass, NAME)(const count_tile *tile, const above *low, const above *high, above *middle)
{
    const twi_order_setup *setup = tile->setup;
    const int64_t length = tile->n + setup->before + setup->after;
    const uint8_t threshold = (uint8_t)middle->threshold;
    COLUMN *columns = (COLUMN *)(void *)tile->columns;
    int64_t last = tile->height; /* no row from here on is needed */
    int64_t first = 0;
    while (low->rows[last - 1] == high->rows[last - 1])
        last--;
    while (low->rows[first] == high->rows[first])
        first++;
    memcpy(middle->rows, low->rows, sizeof middle->rows);
    memset(columns, 0, (size_t)length * sizeof *columns);
    for (int64_t i = first; i < first + setup->height; i++)
        JOIN(count_first, NAME)(columns, tile->source + i * tile->pitch, threshold, length);
    for (int64_t y = first; y < last; y++) {
        const uint8_t *leave = tile->source + (y - 1) * tile->pitch;
        if (y > first)
            JOIN(count_next, NAME)(columns, leave + setup->height * tile->pitch, leave, threshold, length);
        if (low->rows[y] == high->rows[y])
            continue;
        const SUM *sum = JOIN(count_across, NAME)(tile, columns);
        middle->rows[y] =
            JOIN(count_raise, NAME)(tile->result + y * tile->pitch, sum, (SUM)setup->rank, threshold, tile->n);
    }
}
