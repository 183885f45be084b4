/*
 * Windows of any size for a float type: the blocks of exact.h by doubling. The sum of 2k values is that of k plus
 * that of the next k, at every position at once, so the time grows with the window's logarithm, and no
 * sum depends on where it lies. NAME, T, ACC, WIDE(), PLUS(), MEAN() are the includer's.
 */

static void JOIN(widen, NAME)(ACC *restrict to, const T *restrict from, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = WIDE(from[x]);
}

/* The source elements from `first - before` on that `n` windows read, halos by the table. */
static void JOIN(tree_fetch, NAME)(const twi_box_setup *setup, const T *row, int64_t first, int64_t n, ACC *to)
{
    const int64_t start = first - setup->before;
    const int64_t end = first + n + setup->after;
    const int64_t low = twi_max_i64(start, 0);
    const int64_t high = twi_min_i64(end, setup->row);
    for (int64_t x = start; x < 0; x++) {
        const int64_t from = setup->halo[x + setup->before];
        to[x - start] = WIDE(from < 0 ? *(const T *)setup->outside : row[from]);
    }
    JOIN(widen, NAME)(to + (low - start), row + low, high - low);
    for (int64_t x = setup->row; x < end; x++) {
        const int64_t from = setup->halo[x - setup->row + setup->before];
        to[x - start] = WIDE(from < 0 ? *(const T *)setup->outside : row[from]);
    }
}

/* line[x] += line[x + distance], in place: what is read lies ahead of what is written. */
static void JOIN(tree_double, NAME)(ACC *line, int64_t distance, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        line[x] = PLUS(line[x], line[x + distance]);
}

static void JOIN(tree_add, NAME)(ACC *restrict sum, const ACC *restrict block, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        sum[x] = PLUS(sum[x], block[x]);
}

/* The sums of the window's row at n elements: `line` holds them and what follows, and is used up. */
static void JOIN(tree_row, NAME)(const twi_box_setup *setup, ACC *line, ACC *sum, int64_t n)
{
    const int64_t width = setup->window.width;
    int64_t done = 0;
    for (int64_t size = 1; size <= width; size *= 2) {
        if (width & size) {
            if (done == 0)
                memcpy(sum, line, (size_t)n * sizeof *sum);
            else
                JOIN(tree_add, NAME)(sum, line + done * setup->channels, n);
            done += size;
        }
        if (size * 2 <= width)
            JOIN(tree_double, NAME)(line, size * setup->channels, n + (width - 2 * size) * setup->channels);
    }
}

/* old + now, and `now` in the place of `old`. */
static void JOIN(tree_double_down, NAME)(ACC *restrict old, ACC *restrict now, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const ACC sum = PLUS(old[x], now[x]);
        old[x] = now[x];
        now[x] = sum;
    }
}

/* The waiting sum + the block below it; the new sum waits in its place. */
static void JOIN(tree_join, NAME)(ACC *restrict waiting, ACC *restrict sum, const ACC *restrict block, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const ACC joined = PLUS(waiting[x], block[x]);
        waiting[x] = sum[x];
        sum[x] = joined;
    }
}

/*
 * The column's sum in `sum`, after the row sum number t, in `block`, has come. A block of 2k rows is the one of k
 * that ended k rows ago plus the one that ends now, so the last k of each size are kept in a ring. The
 * sum of the window's first blocks waits likewise until the next block, of `size` rows, ends.
 */
static void JOIN(tree_column, NAME)(int64_t height, ACC *ring, ACC *block, ACC *sum, int64_t t, int64_t n)
{
    bool started = false;
    for (int64_t size = 1; size <= height; size *= 2) {
        if (height & size) {
            if (started) {
                JOIN(tree_join, NAME)(ring + t % size * n, sum, block, n);
                ring += size * n;
            } else {
                memcpy(sum, block, (size_t)n * sizeof *sum);
            }
            started = true;
        }
        if (size * 2 <= height) {
            JOIN(tree_double_down, NAME)(ring + t % size * n, block, n);
            ring += size * n;
        }
    }
}

static void JOIN(tree_mean, NAME)(T *restrict out, const ACC *restrict sum, int64_t n, const twi_box_divider *divider)
{
    const twi_box_divider d = *divider;
    for (int64_t x = 0; x < n; x++)
        out[x] = MEAN(sum[x]);
}

static void JOIN(run_tree, NAME)(const twi_box_setup *setup, const twi_job *job)
{
    const int64_t strip = setup->strip;
    const int64_t height = setup->window.height;
    ACC *sum = (ACC *)(void *)worker_scratch(setup, job);
    ACC *block = sum + strip;
    ACC *ring = block + strip;
    ACC *line = ring + (setup->lines - 2) * strip;
    T *stage = line_aligned(line + strip + setup->before + setup->after + TWI_BOX_LINE);
    for (int64_t first = 0; first < setup->row; first += strip) {
        const int64_t n = twi_min_i64(strip, setup->row - first);
        memset(ring, 0, (size_t)((setup->lines - 2) * strip) * sizeof *ring);
        for (int64_t t = 0; t < job->last - job->first + height - 1; t++) {
            const T *row = twi_box_row(setup, &job->src, job->first - setup->window.anchor_y + t);
            JOIN(tree_fetch, NAME)(setup, row, first, n, line);
            JOIN(tree_row, NAME)(setup, line, block, n);
            JOIN(tree_column, NAME)(height, ring, block, sum, t, n);
            if (t < height - 1)
                continue;
            const int64_t y = job->first + t - (height - 1);
            JOIN(tree_mean, NAME)(stage, sum, n, &setup->divider);
            put((T *)(void *)((char *)job->dst.data + y * job->dst.pitch) + first, stage, n * (int64_t)sizeof(T),
                setup->stream);
        }
    }
}
