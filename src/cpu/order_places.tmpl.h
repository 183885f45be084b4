/*
 * The element of a rank among many positions, for keys of 32 and 64 bits: NAME, K as in order_lines.tmpl.h. All keys
 * that a tile of outputs reads are sorted once, which gives each position a place of its own. A window is a set of
 * places, a bit each, which slides along a row of outputs: for each run of the footprint one leaves and one enters. The
 * result is the key of the set's member number `rank`.
 */
enum { JOIN(DIGIT, NAME) = 11 }; /* bits that a pass of the sort looks at */

typedef struct JOIN(entry, NAME) {
    K key;
    uint32_t at; /* position in the tile: columns one after the other */
} JOIN(entry, NAME);

static inline size_t JOIN(digit, NAME)(K key, int shift)
{
    /* signed keys, lowest first */
    const uint64_t bits = (uint64_t)key - (uint64_t)LOWEST;
    return (size_t)(bits >> shift) & ((1 << JOIN(DIGIT, NAME)) - 1);
}

/* Sorts n entries by the lowest digit first; `other` has the same room. Returns the one of both that holds them. */
static JOIN(entry, NAME) * JOIN(sort, NAME)(JOIN(entry, NAME) * entries, JOIN(entry, NAME) * other, int64_t n)
{
    for (int shift = 0; shift < 8 * (int)sizeof(K); shift += JOIN(DIGIT, NAME)) {
        uint32_t ends[1 << JOIN(DIGIT, NAME)] = {0};
        uint32_t total = 0;
        for (int64_t i = 0; i < n; i++)
            ends[JOIN(digit, NAME)(entries[i].key, shift)]++;
        if (ends[JOIN(digit, NAME)(entries[0].key, shift)] == n)
            continue;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            const uint32_t count = ends[i];
            ends[i] = total;
            total += count;
        }
        for (int64_t i = 0; i < n; i++)
            other[ends[JOIN(digit, NAME)(entries[i].key, shift)]++] = entries[i];
        JOIN(entry, NAME) *const sorted = other;
        other = entries;
        entries = sorted;
    }
    return entries;
}

typedef struct JOIN(sorted_tile, NAME) {
    K *line;
    JOIN(entry, NAME) * entries;
    JOIN(entry, NAME) * other;
    uint32_t *places; /* of each position */
    twi_places set;
} JOIN(sorted_tile, NAME);

/* Sorts what `rows` output rows of n elements from (left, top) on read of a channel, and finds each position's place.
   Returns the entries in order. */
static const JOIN(entry, NAME) * JOIN(sort_tile, NAME)(const twi_order_setup *setup, const twi_job *job,
                                                       const JOIN(sorted_tile, NAME) * tile, int64_t left, int64_t top,
                                                       int64_t n, int64_t rows, int64_t channel)
{
    const int64_t c = setup->channels;
    const int64_t columns = n / c + setup->width - 1;
    int64_t count = 0;
    for (int64_t t = 0; t < rows + setup->height - 1; t++) {
        JOIN(fetch, NAME)
        (setup, &job->src, top - setup->anchor_y + t, left - setup->before, columns * c, tile->line);
        for (int64_t i = 0; i < columns; i++, count++)
            tile->entries[count] = (JOIN(entry, NAME)){tile->line[i * c + channel], (uint32_t)(i * setup->pitch + t)};
    }
    const JOIN(entry, NAME) *sorted = JOIN(sort, NAME)(tile->entries, tile->other, count);
    for (int64_t i = 0; i < count; i++)
        tile->places[sorted[i].at] = (uint32_t)i;
    return sorted;
}

/* In tiles. A tile's positions are kept column by column, so that those of one step lie side by side. */
static void JOIN(run_places, NAME)(const twi_order_setup *setup, const twi_job *job)
{
    const int64_t c = setup->channels;
    const int64_t most = twi_order_tile_positions(setup);
    char *scratch = order_scratch(setup, job);
    K *found = take(&scratch, setup->tile_rows * setup->strip * (int64_t)sizeof(K));
    JOIN(sorted_tile, NAME) tile;
    tile.line = take(&scratch, (setup->strip + setup->before + setup->after) * (int64_t)sizeof(K));
    tile.entries = take(&scratch, most * (int64_t)sizeof *tile.entries);
    tile.other = take(&scratch, most * (int64_t)sizeof *tile.other);
    tile.places = take(&scratch, most * (int64_t)sizeof *tile.places);
    tile.set.words = take(&scratch, twi_order_words(most) * (int64_t)sizeof *tile.set.words);
    for (int64_t left = 0; left < setup->row; left += setup->strip)
        for (int64_t top = job->first; top < job->last; top += setup->tile_rows) {
            const int64_t n = twi_min_i64(setup->strip, setup->row - left);
            const int64_t rows = twi_min_i64(setup->tile_rows, job->last - top);
            for (int64_t channel = 0; channel < c; channel++) {
                const JOIN(entry, NAME) *sorted = JOIN(sort_tile, NAME)(setup, job, &tile, left, top, n, rows, channel);
                for (int64_t y = 0; y < rows; y++) {
                    const uint32_t *places = tile.places + y;
                    places_enter(&tile.set, setup, places);
                    for (int64_t x = channel;; x += c, places += setup->pitch) {
                        found[y * n + x] = sorted[places_find(&tile.set, setup->rank)].key;
                        if (x + c >= n)
                            break;
                        places_slide(&tile.set, setup, places);
                    }
                }
            }
            for (int64_t y = 0; y < rows; y++)
                JOIN(deliver, NAME)(setup, job, top + y, left, found + y * n, n);
        }
}
