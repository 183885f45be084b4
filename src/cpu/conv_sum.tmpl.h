/* The inner loop in plain C: NAME, T (a line's element), W (a weight), A (a sum), MAC(sum, weight, element) are the
   includer's, and undefined at the end. Elements 0 ... n-1 of a band's rows; row r's sums begin at sums + r *
   TWI_CONV_CHUNK. */
static void JOIN(mac, NAME)(A *restrict sums, const T *restrict line, W weight, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        sums[x] = MAC(sums[x], weight, line[x]);
}

static void JOIN(sum, NAME)(const twi_conv_pass *pass, const void *const *lines, int64_t x, int64_t n, void *to)
{
    const W *weight = pass->weights;
    A *sums = to;
    for (int64_t r = 0; r < TWI_CONV_BAND; r++)
        for (int64_t i = 0; i < n; i++)
            sums[r * TWI_CONV_CHUNK + i] = (A)pass->start;
    for (int64_t t = 0; t < pass->count; t++, weight += TWI_CONV_BAND) {
        const twi_conv_tap tap = pass->taps[t];
        const T *line = (const T *)lines[tap.line] + x + tap.offset;
        for (int r = 0; r < TWI_CONV_BAND; r++)
            if (tap.rows >> r & 1)
                JOIN(mac, NAME)(sums + r * TWI_CONV_CHUNK, line, weight[r], n);
    }
}

#undef NAME
#undef T
#undef W
#undef A
#undef MAC
