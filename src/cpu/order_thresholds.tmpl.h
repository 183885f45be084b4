/*
 * The element of a rank in a rectangle of bytes, by thresholds, for a tile of strips (order_strips.tmpl.h).
 *
 * For a threshold, the positions of each window that lie above it are counted by sums that slide down the columns and
 * then along the rows: about nine additions and comparisons of bytes, whatever the window's size. The output
 * is how many thresholds lie below it, that is have enough positions above them. Thresholds are tried upward and
 * downward from a guess until no output lies beyond, so that a tile takes as many as its outputs span values.
 *
 * Vectors of GNU C: the compilers make of them what the level has. Their comparisons give bytes of ones, which are -1.
 * Where a level's vectors are shorter than the tile's, a tile's vector is several, which lie side by side like
 * channels.
 */
#ifndef TWI_CPU_ORDER_THRESHOLDS_H
#define TWI_CPU_ORDER_THRESHOLDS_H

enum { BATCH = 4 }; /* thresholds at a time, which share the loads of the source and of the results */

#ifdef LEVEL_VECTOR
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef int8_t bytes __attribute__((vector_size(WIDTH)));   /* what is compared */
typedef uint8_t counts __attribute__((vector_size(WIDTH))); /* what is added up, and may wrap */
typedef uint16_t words __attribute__((vector_size(WIDTH)));
enum { PARTS = TWI_ORDER_VECTOR / WIDTH };
#undef WIDTH

/* Which outputs, in any of a tile's vectors, lie above the last threshold of a batch; and above its first in all. */
typedef struct beyond {
    bytes some;
    bytes every;
} beyond;

/* The columns of the windows of row 0, but for its last one. Bytes are lowered by 128, to be compared as signed ones.
 */
static void count_first(const tile_u8 *tile, bytes first, counts *columns)
{
    const int64_t height = tile->setup->height;
    const int64_t length = tile->length * PARTS;
    for (int64_t x = 0; x < length; x++) {
        const bytes *from = (const bytes *)(const void *)tile->source + length + x;
        counts count[BATCH] = {{0}};
        for (int64_t y = 1; y < height; y++, from += length)
            for (int k = 0; k < BATCH; k++)
                count[k] -= (counts)(*from > first + (int8_t)k);
        for (int k = 0; k < BATCH; k++)
            columns[x * BATCH + k] = count[k];
    }
}

/* What raises a row: its thresholds, its columns and the source's lines that enter them and leave them. The line before
   the first row holds nothing above any threshold. */
typedef struct threshold_row {
    bytes first;
    const bytes *enter;
    const bytes *leave;
    counts *columns;
} threshold_row;

/* Column x, from the row before to this one. */
INLINE counts *next_column(const threshold_row *row, int64_t x)
{
    const bytes in = row->enter[x];
    const bytes out = row->leave[x];
    counts *count = row->columns + x * BATCH;
    for (int k = 0; k < BATCH; k++)
        count[k] += (counts)(out > row->first + (int8_t)k) - (counts)(in > row->first + (int8_t)k);
    return count;
}

/* Along a row: windows of at most 255 positions. Sums are lowered by 128. */
static beyond raise_narrow(const twi_order_setup *setup, threshold_row row, counts *result, beyond found)
{
    const int64_t strip = setup->strip * PARTS;
    const int64_t step = setup->channels * PARTS;
    const int64_t behind = (setup->width - 1) * step;
    const bytes zero = {0};
    const bytes least = zero + (int8_t)(setup->width * setup->height - setup->rank - 1 - 128);
    for (int64_t channel = 0; channel < step; channel++) {
        counts sum[BATCH];
        for (int k = 0; k < BATCH; k++)
            sum[k] = (counts){0} + 128;
        for (int64_t x = channel; x < channel + behind; x += step) {
            const counts *enter = next_column(&row, x);
            for (int k = 0; k < BATCH; k++)
                sum[k] += enter[k];
        }
        for (int64_t x = channel; x < strip; x += step) {
            const counts *enter = next_column(&row, x + behind);
            const counts *leave = row.columns + x * BATCH;
            counts value = result[x];
            for (int k = 0; k < BATCH; k++) {
                sum[k] += enter[k];
                const bytes above = (bytes)sum[k] > least;
                value -= (counts)above;
                found.every = k == 0 ? found.every & above : found.every;
                found.some = k == BATCH - 1 ? found.some | above : found.some;
                sum[k] -= leave[k];
            }
            result[x] = value;
        }
    }
    return found;
}

/* The same for up to 65535 positions: sums of the even and of the odd bytes. */
static beyond raise_wide(const twi_order_setup *setup, threshold_row row, counts *result, beyond found)
{
    const int64_t strip = setup->strip * PARTS;
    const int64_t step = setup->channels * PARTS;
    const int64_t behind = (setup->width - 1) * step;
    const words zero = {0};
    const words low = zero + 0xff;
    const words least = zero + (uint16_t)(setup->width * setup->height - setup->rank - 1);
    for (int64_t channel = 0; channel < step; channel++) {
        words even[BATCH] = {{0}};
        words odd[BATCH] = {{0}};
        for (int64_t x = channel; x < channel + behind; x += step) {
            const counts *enter = next_column(&row, x);
            for (int k = 0; k < BATCH; k++) {
                even[k] += (words)enter[k] & low;
                odd[k] += (words)enter[k] >> 8;
            }
        }
        for (int64_t x = channel; x < strip; x += step) {
            const counts *enter = next_column(&row, x + behind);
            const counts *leave = row.columns + x * BATCH;
            counts value = result[x];
            for (int k = 0; k < BATCH; k++) {
                even[k] += (words)enter[k] & low;
                odd[k] += (words)enter[k] >> 8;
                const bytes above = (bytes)(((words)(even[k] > least) & low) | ((words)(odd[k] > least) & ~low));
                value -= (counts)above;
                found.every = k == 0 ? found.every & above : found.every;
                found.some = k == BATCH - 1 ? found.some | above : found.some;
                even[k] -= (words)leave[k] & low;
                odd[k] -= (words)leave[k] >> 8;
            }
            result[x] = value;
        }
    }
    return found;
}

/* Adds to each result how many of the thresholds threshold ... threshold + BATCH - 1 lie below the output. */
static beyond raise_batch(const tile_u8 *tile, int threshold)
{
    const twi_order_setup *setup = tile->setup;
    const bytes zero = {0};
    const bytes first = zero + (int8_t)(threshold - 128);
    const bool narrow = setup->width * setup->height <= UINT8_MAX;
    const int64_t length = tile->length * PARTS;
    threshold_row row = {
        .first = first, .leave = (const bytes *)(const void *)tile->source, .columns = (counts *)(void *)tile->room};
    beyond found = {.some = zero, .every = ~zero};
    count_first(tile, first, row.columns);
    for (int64_t y = 0; y < tile->rows; y++) {
        counts *result = (counts *)(void *)tile->result + y * setup->strip * PARTS;
        row.enter = row.leave + setup->height * length;
        found = narrow ? raise_narrow(setup, row, result, found) : raise_wide(setup, row, result, found);
        row.leave += length;
    }
    return found;
}

static bool is_some(bytes v)
{
    bool some = false;
    for (size_t i = 0; i < sizeof v; i++)
        some |= v[i] != 0;
    return some;
}

/* Any start is right: an average of elements is a near one. */
static int guess(const tile_u8 *tile)
{
    const uint8_t *middle =
        tile->source + ((tile->rows + tile->setup->height) / 2 * tile->length + tile->length / 2) * TWI_ORDER_VECTOR;
    int sum = 0;
    for (int i = 0; i < TWI_ORDER_VECTOR; i++)
        sum += middle[i];
    return sum / TWI_ORDER_VECTOR / BATCH * BATCH;
}

static void compute_thresholds(const tile_u8 *tile)
{
    const int64_t covered = (tile->rows + tile->setup->height) * tile->length * PARTS;
    const int64_t outputs = tile->rows * tile->setup->strip * PARTS;
    bytes *source = (bytes *)(void *)tile->source;
    counts *result = (counts *)(void *)tile->result;
    int low = guess(tile);
    const bytes half = (bytes){0} + (int8_t)INT8_MIN;
    memset(source, 0, (size_t)tile->length * TWI_ORDER_VECTOR);
    memset(result, 0, (size_t)outputs * sizeof *result);
    for (int64_t i = 0; i < covered; i++)
        source[i] ^= half;
    const beyond start = raise_batch(tile, low);
    bool some = is_some(start.some);
    for (int high = low + BATCH; some && high <= UINT8_MAX; high += BATCH)
        some = is_some(raise_batch(tile, high).some);
    bool every = !is_some(~start.every);
    while (!every && low > 0) {
        low -= BATCH;
        every = !is_some(~raise_batch(tile, low).every);
    }
    for (int64_t i = 0; i < outputs; i++)
        result[i] += (uint8_t)low;
}

static void run_thresholds(const twi_order_setup *setup, const twi_job *job)
{
    run_strips_u8(setup, job, compute_thresholds);
}

#endif
