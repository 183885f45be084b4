/*
 * The fixed-point Gaussian with 5x5 taps on one channel (AVX-512). Lane i of phase p is element 4i + p, so the bytes
 * p ... p + 4 of a row that it reads lie where the lane is, and no shuffle is needed: every second byte, as a word,
 * puts bytes k and k + 2 of the window in a lane. Bytes 0 and 4 have one weight and are added first. What is multiplied
 * is {0 + 4, 2}, or {2, 0 + 4}, and {1, 3}: two instructions for 16 elements.
 */
typedef struct sides_weights {
    vec start;
    vec left;
    vec right;
    vec inner;
} sides_weights;

INLINE sides_weights load_sides(const twi_conv_pass *pass)
{
    const twi_conv_sides *from = pass->weights;
    const sides_weights weights = {OP(set1_epi32)((int32_t)pass->start), v_words(from->left), v_words(from->right),
                                   v_words(from->inner)};
    return weights;
}

INLINE void sides_row(const sides_weights *weights, const uint8_t *row, vec *sums)
{
    vec words[6];
    UNROLL
    for (int k = 0; k < 6; k += 2) {
        const vec data = v_load(row + k);
        words[k] = OP_BITS(and)(data, OP(set1_epi16)(UINT8_MAX));
        words[k + 1] = OP(srli_epi16)(data, 8);
    }
    UNROLL
    for (int p = 0; p < 2; p++) {
        const vec left = _mm512_mask_add_epi16(words[p], 0x55555555, words[p], words[p + 4]);
        const vec right = _mm512_mask_add_epi16(words[p + 4], 0xaaaaaaaa, words[p + 4], words[p]);
        sums[p] = mac_words_vector(mac_words_vector(weights->start, weights->left, left), weights->inner, words[p + 1]);
        sums[p + 2] =
            mac_words_vector(mac_words_vector(weights->start, weights->right, right), weights->inner, words[p + 3]);
    }
}

/* A line of the ring. */
INLINE void sides_line(const vec *upper, const vec *lower, char *to)
{
    UNROLL
    for (int p = 0; p < PHASES; p++)
        v_store(to + p * VEC, near_pair(upper[p], lower[p]));
}

static void sides_rows(const twi_conv_setup *setup, const uint8_t *upper, const uint8_t *lower, int64_t n, char *to)
{
    const sides_weights weights = load_sides(&setup->row);
    for (int64_t x = 0; x < n; x += VEC) {
        vec a[PHASES], b[PHASES];
        sides_row(&weights, upper + x, a);
        sides_row(&weights, lower + x, b);
        sides_line(a, b, to + 4 * x);
    }
}

/* The upper bytes of a phase's sums, beside those of the phases before. */
INLINE vec sides_bytes(vec bytes, int p, vec sums)
{
    switch (p) {
    case 0:
        return OP(srli_epi32)(sums, 24);
    case 1:
        return five_merge(bytes, 0x2, sums, 0x00000300);
    case 2:
        return five_merge(bytes, 0x4, sums, 0x00030000);
    default:
        return _mm512_mask_mov_epi8(bytes, 0x8888888888888888, sums);
    }
}

/* Bytes between what is read of a row and what comes into the L1 cache for it: half of them is as good, and twice. */
enum { SIDES_AHEAD = 512 };

/* The results of 64 elements, and between them, where they wait for each other, the lines of the 64 that come next. */
INLINE void sides_step(const sides_weights *rows, const fixed_weights *columns, const band *b, int64_t i, bool more,
                       burst *out, bool stream)
{
    const int64_t next = b->x + i + VEC;
    const void *const *from = rows_at(b, next);
    vec bytes[TWI_CONV_BAND], upper[PHASES], lower[PHASES];
    look_ahead(b, i, 1, VEC);
    for (int r = 0; r < TWI_CONV_BAND; r++)
        __builtin_prefetch((const char *)b->rows[r] + next + SIDES_AHEAD);
    UNROLL
    for (int p = 0; p < PHASES; p++) {
        vec sums[TWI_CONV_BAND];
        fixed_sums(columns, b, i, p, 4, sums);
        UNROLL
        for (int r = 0; r < TWI_CONV_BAND; r++)
            bytes[r] = sides_bytes(bytes[r], p, sums[r]);
        if (more)
            sides_row(rows, (const uint8_t *)from[p] + next, p % 2 == 0 ? upper : lower);
        if (more && p % 2 == 1)
            sides_line(upper, lower, b->newest[p / 2] + 4 * next);
    }
    UNROLL
    for (int r = 0; r < TWI_CONV_BAND; r++)
        put_result(b, out, r, i, with_upper_bit(bytes[r]), stream);
    leave(b, out, i + VEC, stream);
}

INLINE void sides_band(const twi_conv_setup *setup, const band *b, bool stream)
{
    const sides_weights rows = load_sides(&setup->row);
    const fixed_weights columns = load_fixed(&setup->main, 4);
    const void *const *from = rows_at(b, b->x);
    burst out;
    int64_t i = 0;
    for (int r = 0; r < TWI_CONV_BAND; r += 2)
        sides_rows(setup, (const uint8_t *)from[r] + b->x, (const uint8_t *)from[r + 1] + b->x, VEC,
                   b->newest[r / 2] + 4 * b->x);
    for (; i + VEC < b->n; i += VEC)
        sides_step(&rows, &columns, b, i, true, &out, stream);
    sides_step(&rows, &columns, b, i, false, &out, stream);
}

static void band_sides(const twi_conv_setup *setup, const band *b)
{
    if (b->stream)
        sides_band(setup, b, true);
    else
        sides_band(setup, b, false);
}
