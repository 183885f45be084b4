/*
 * Thresholds for a tile (order_thresholds.tmpl.h) in vectors of bytes, counting what lies above: first the columns of
 * all its rows, kept, since a line that was just stored is slow to load at another distance; then what is four, 16 ...
 * columns wide; then the windows.
 *
 * Vectors of 256 bits on every level: comparing signed bytes into vectors is as fast as anything that AVX-512 has. So
 * the source's bytes are lowered by 128 here.
 */
#ifndef TWI_CPU_ORDER_COUNT_VECTOR_H
#define TWI_CPU_ORDER_COUNT_VECTOR_H

enum { STRIDE = sizeof(__m256i) };

INLINE __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void store(uint8_t *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* The 16-bit values of STRIDE / 2 bytes. */
INLINE __m256i words_of(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Bytes of ones where a >= least. */
INLINE __m256i least_bytes(__m256i a, __m256i least)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(a, least), a);
}

/* The same for words, those of a and then b. */
INLINE __m256i least_words(__m256i a, __m256i b, __m256i least)
{
    a = _mm256_cmpeq_epi16(_mm256_max_epu16(a, least), a);
    b = _mm256_cmpeq_epi16(_mm256_max_epu16(b, least), b);
    return _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xd8);
}

/* Raises the chosen bytes at p to `value`; how many are chosen. */
INLINE int raise_bytes(uint8_t *p, __m256i chosen, __m256i value)
{
    store(p, _mm256_max_epu8(load(p), _mm256_and_si256(chosen, value)));
    return __builtin_popcount((unsigned)_mm256_movemask_epi8(chosen));
}

static void lower_bytes(uint8_t *line, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        line[x] ^= 0x80;
}

/* Line y of the parts of 4^level columns: bytes, or words where a part may hold more than 255 positions. */
static uint8_t *part_line(const count_tile *tile, int level, int64_t y)
{
    return (uint8_t *)tile->lines +
           ((level == 0 ? 0 : 2 * level - 1) * TWI_ORDER_TILE_ROWS + y * (level == 0 ? 1 : 2)) * tile->pitch;
}

static bool part_is_wide(const count_tile *tile, int level)
{
    return tile->setup->width * tile->setup->height > UINT8_MAX && tile->setup->height << (2 * level) > UINT8_MAX;
}

static void count_columns(const count_tile *tile, uint8_t threshold, int64_t first, int64_t last)
{
    const int64_t pitch = tile->pitch;
    const __m256i most = _mm256_set1_epi8((char)(threshold ^ 0x80));
    for (int64_t x = 0; x < tile->length; x += STRIDE) {
        const uint8_t *leave = tile->source + first * pitch + x;
        const uint8_t *enter = leave;
        uint8_t *to = part_line(tile, 0, first) + x;
        __m256i count = _mm256_setzero_si256();
        for (int64_t i = 1; i < tile->setup->height; i++, enter += pitch)
            count = _mm256_sub_epi8(count, _mm256_cmpgt_epi8(load(enter), most));
        for (int64_t y = first; y < last; y++, enter += pitch, leave += pitch, to += pitch) {
            count = _mm256_sub_epi8(count, _mm256_cmpgt_epi8(load(enter), most));
            store(to, count);
            count = _mm256_add_epi8(count, _mm256_cmpgt_epi8(load(leave), most));
        }
    }
}

static void four_bytes(uint8_t *to, const uint8_t *from, int64_t distance, int64_t n)
{
    for (int64_t x = 0; x < n; x += STRIDE) {
        const uint8_t *at = from + x;
        const __m256i left = _mm256_add_epi8(load(at), load(at + distance));
        const __m256i right = _mm256_add_epi8(load(at + 2 * distance), load(at + 3 * distance));
        store(to + x, _mm256_add_epi8(left, right));
    }
}

static void four_widened(uint8_t *to, const uint8_t *from, int64_t distance, int64_t n)
{
    for (int64_t x = 0; x < n; x += STRIDE / 2) {
        const uint8_t *at = from + x;
        const __m256i left = _mm256_add_epi16(words_of(at), words_of(at + distance));
        const __m256i right = _mm256_add_epi16(words_of(at + 2 * distance), words_of(at + 3 * distance));
        store(to + 2 * x, _mm256_add_epi16(left, right));
    }
}

static void four_words(uint8_t *to, const uint8_t *from, int64_t distance, int64_t n)
{
    for (int64_t x = 0; x < 2 * n; x += STRIDE) {
        const uint8_t *at = from + x;
        const __m256i left = _mm256_add_epi16(load(at), load(at + 2 * distance));
        const __m256i right = _mm256_add_epi16(load(at + 4 * distance), load(at + 6 * distance));
        store(to + x, _mm256_add_epi16(left, right));
    }
}

/* All parts of the rows that are open. */
static void count_parts(const count_tile *tile, const above *low, const above *high, int64_t first, int64_t last)
{
    int64_t length = tile->length;
    for (int level = 1; level < tile->levels; level++) {
        const int64_t distance = tile->setup->channels << (2 * (level - 1));
        length -= 3 * distance;
        for (int64_t y = first; y < last; y++) {
            const uint8_t *from = part_line(tile, level - 1, y);
            uint8_t *to = part_line(tile, level, y);
            if (!row_is_open(low, high, y))
                continue;
            if (!part_is_wide(tile, level))
                four_bytes(to, from, distance, length);
            else if (!part_is_wide(tile, level - 1))
                four_widened(to, from, distance, length);
            else
                four_words(to, from, distance, length);
        }
    }
}

/* STRIDE / 2 words of a line, of columns x ... */
INLINE __m256i part_words(const uint8_t *line, bool wide, int64_t x)
{
    return wide ? load(line + 2 * x) : words_of(line + x);
}

static void pass_narrow(const count_tile *tile, const above *low, const above *high, above *middle, int64_t first,
                        int64_t last)
{
    const __m256i least = _mm256_set1_epi8((char)(tile->setup->width * tile->setup->height - tile->setup->rank));
    const __m256i value = _mm256_set1_epi8((char)(middle->threshold + 1));
    const uint8_t *lines[COUNT_TERMS + 1];
    count_columns(tile, (uint8_t)middle->threshold, first, last);
    count_parts(tile, low, high, first, last);
    for (int64_t y = first; y < last; y++) {
        const uint8_t *behind = part_line(tile, 0, y) + tile->setup->width * tile->setup->channels;
        for (int i = 0; i < tile->term_count; i++)
            lines[i] = part_line(tile, tile->terms[i].level, y) + tile->terms[i].first;
        for (int64_t block = 0; block < tile->n / COUNT_BLOCK; block++) {
            int raised = 0;
            if (!block_is_open(low, high, y, block))
                continue;
            for (int64_t x = block * COUNT_BLOCK; x < (block + 1) * COUNT_BLOCK; x += STRIDE) {
                __m256i sum = load(lines[0] + x);
                for (int i = 1; i < tile->term_count; i++)
                    sum = _mm256_add_epi8(sum, load(lines[i] + x));
                if (tile->one_more)
                    sum = _mm256_sub_epi8(sum, load(behind + x));
                raised += raise_bytes(tile->result + y * tile->pitch + x, least_bytes(sum, least), value);
            }
            middle->blocks[y][block] = (uint8_t)raised;
        }
    }
}

static void pass_medium(const count_tile *tile, const above *low, const above *high, above *middle, int64_t first,
                        int64_t last)
{
    const __m256i least = _mm256_set1_epi16((short)(tile->setup->width * tile->setup->height - tile->setup->rank));
    const __m256i value = _mm256_set1_epi8((char)(middle->threshold + 1));
    const uint8_t *lines[COUNT_TERMS + 1];
    bool wide[COUNT_TERMS + 1];
    count_columns(tile, (uint8_t)middle->threshold, first, last);
    count_parts(tile, low, high, first, last);
    for (int i = 0; i < tile->term_count; i++)
        wide[i] = part_is_wide(tile, tile->terms[i].level);
    for (int64_t y = first; y < last; y++) {
        const uint8_t *behind = part_line(tile, 0, y) + tile->setup->width * tile->setup->channels;
        for (int i = 0; i < tile->term_count; i++)
            lines[i] = part_line(tile, tile->terms[i].level, y) + (wide[i] ? 2 : 1) * tile->terms[i].first;
        for (int64_t block = 0; block < tile->n / COUNT_BLOCK; block++) {
            int raised = 0;
            if (!block_is_open(low, high, y, block))
                continue;
            for (int64_t x = block * COUNT_BLOCK; x < (block + 1) * COUNT_BLOCK; x += STRIDE) {
                __m256i left = part_words(lines[0], wide[0], x);
                __m256i right = part_words(lines[0], wide[0], x + STRIDE / 2);
                for (int i = 1; i < tile->term_count; i++) {
                    left = _mm256_add_epi16(left, part_words(lines[i], wide[i], x));
                    right = _mm256_add_epi16(right, part_words(lines[i], wide[i], x + STRIDE / 2));
                }
                if (tile->one_more) {
                    left = _mm256_sub_epi16(left, words_of(behind + x));
                    right = _mm256_sub_epi16(right, words_of(behind + x + STRIDE / 2));
                }
                raised += raise_bytes(tile->result + y * tile->pitch + x, least_words(left, right, least), value);
            }
            middle->blocks[y][block] = (uint8_t)raised;
        }
    }
}

/* ---- The last bits ------------------------------------------------------------------------------ */

enum { TOGETHER = 4 }; /* rows: their windows share most of their lines */

/* Counts what lies below `tried` in one line of a window. */
static __m256i count_line(const uint8_t *line, int64_t width, int64_t c, __m256i tried, __m256i count)
{
    for (int64_t i = 0; i < width; i++, line += c)
        count = _mm256_sub_epi8(count, _mm256_cmpgt_epi8(tried, load(line)));
    return count;
}

/* The same for lines that the windows of four rows share. */
static void count_lines(const uint8_t *line, int64_t pitch, int64_t lines, int64_t width, int64_t c,
                        const __m256i *tried, __m256i *count)
{
    const __m256i t0 = tried[0], t1 = tried[1], t2 = tried[2], t3 = tried[3];
    __m256i n0 = count[0], n1 = count[1], n2 = count[2], n3 = count[3];
    for (; lines > 0; lines--, line += pitch) {
        const uint8_t *at = line;
        for (int64_t i = 0; i < width; i++, at += c) {
            const __m256i v = load(at);
            n0 = _mm256_sub_epi8(n0, _mm256_cmpgt_epi8(t0, v));
            n1 = _mm256_sub_epi8(n1, _mm256_cmpgt_epi8(t1, v));
            n2 = _mm256_sub_epi8(n2, _mm256_cmpgt_epi8(t2, v));
            n3 = _mm256_sub_epi8(n3, _mm256_cmpgt_epi8(t3, v));
        }
    }
    count[0] = n0;
    count[1] = n1;
    count[2] = n2;
    count[3] = n3;
}

/* From results that are right but for their `bits` lowest bits: sets a bit where the window has at most `rank` elements
   below what that gives. Every output goes its own way; windows of up to 255 positions. */
static void finish_bits(const count_tile *tile, int bits)
{
    const twi_order_setup *setup = tile->setup;
    const __m256i rank = _mm256_set1_epi8((char)setup->rank);
    for (int64_t y = 0; y < tile->height; y += TOGETHER) {
        for (int64_t x = 0; x < tile->n; x += STRIDE) {
            const uint8_t *source = tile->source + y * tile->pitch + x;
            uint8_t *result = tile->result + y * tile->pitch + x;
            for (int bit = bits - 1; bit >= 0; bit--) {
                const __m256i step = _mm256_set1_epi8((char)(1 << bit));
                __m256i tried[TOGETHER];
                __m256i lowered[TOGETHER];
                __m256i count[TOGETHER];
                for (int row = 0; row < TOGETHER; row++) {
                    tried[row] = _mm256_add_epi8(load(result + row * tile->pitch), step);
                    lowered[row] = _mm256_xor_si256(tried[row], _mm256_set1_epi8(INT8_MIN));
                    count[row] = _mm256_setzero_si256();
                }
                const int64_t shared = setup->height - (TOGETHER - 1);
                if (shared > 0)
                    count_lines(source + (TOGETHER - 1) * tile->pitch, tile->pitch, shared, setup->width,
                                setup->channels, lowered, count);
                for (int64_t row = 0; row < TOGETHER; row++)
                    for (int64_t j = row; j < row + setup->height; j++)
                        if (shared <= 0 || j < TOGETHER - 1 || j >= setup->height)
                            count[row] = count_line(source + j * tile->pitch, setup->width, setup->channels,
                                                    lowered[row], count[row]);
                for (int row = 0; row < TOGETHER; row++)
                    (void)raise_bytes(result + row * tile->pitch, least_bytes(rank, count[row]), tried[row]);
            }
        }
    }
}

#endif
