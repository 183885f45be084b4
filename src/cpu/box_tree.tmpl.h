/*
 * Windows of any size for a float type: the blocks of exact.h by doubling. The sum of 2k values is that of k plus
 * that of the next k, at every position at once, so the time grows with the window's logarithm, and no
 * sum depends on where it lies. The includer's: NAME, T, ACC, WIDE(), PLUS(), MEAN(), and how a line of
 * sums is kept (f64: high and low parts apart, so that vectors hold either): LINE, PARTS, LINE_AT(memory, n),
 * MOVED(line, n), GET(line, x), SET(line, x, sum); these are undefined at the end.
 *
 * Lines never overlap but in tree_double, which reads ahead of what it writes: so every loop is free to use vectors.
 */

/* The source elements from `first - before` on that `n` windows read, halos by the table. */
static void JOIN(tree_fetch, NAME)(const twi_box_setup *setup, const T *row, int64_t first, int64_t n, LINE to)
{
    const int64_t start = first - setup->before;
    const int64_t end = first + n + setup->after;
    const int64_t low = twi_max_i64(start, 0);
    const int64_t high = twi_min_i64(end, setup->row);
    for (int64_t x = start; x < 0; x++) {
        const int64_t from = setup->halo[x + setup->before];
        SET(to, x - start, WIDE(from < 0 ? *(const T *)setup->outside : row[from]));
    }
#pragma omp simd
    for (int64_t x = low; x < high; x++)
        SET(to, x - start, WIDE(row[x]));
    for (int64_t x = setup->row; x < end; x++) {
        const int64_t from = setup->halo[x - setup->row + setup->before];
        SET(to, x - start, WIDE(from < 0 ? *(const T *)setup->outside : row[from]));
    }
}

static void JOIN(tree_copy, NAME)(LINE to, LINE from, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        SET(to, x, GET(from, x));
}

/* line[x] += line[x + distance], in place */
static void JOIN(tree_double, NAME)(LINE line, int64_t distance, int64_t n)
{
    const LINE ahead = MOVED(line, distance);
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        SET(line, x, PLUS(GET(line, x), GET(ahead, x)));
}

static void JOIN(tree_add, NAME)(LINE sum, LINE block, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        SET(sum, x, PLUS(GET(sum, x), GET(block, x)));
}

/* The sums of the window's row at n elements: `line` holds them and what follows, and is used up. */
static void JOIN(tree_row, NAME)(const twi_box_setup *setup, LINE line, LINE sum, int64_t n)
{
    const int64_t width = setup->window.width;
    int64_t done = 0;
    for (int64_t size = 1; size <= width; size *= 2) {
        if (width & size) {
            if (done == 0)
                JOIN(tree_copy, NAME)(sum, line, n);
            else
                JOIN(tree_add, NAME)(sum, MOVED(line, done * setup->channels), n);
            done += size;
        }
        if (size * 2 <= width)
            JOIN(tree_double, NAME)(line, size * setup->channels, n + (width - 2 * size) * setup->channels);
    }
}

/* old + now, and `now` in the place of `old` */
static void JOIN(tree_double_down, NAME)(LINE old, LINE now, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++) {
        const ACC sum = PLUS(GET(old, x), GET(now, x));
        SET(old, x, GET(now, x));
        SET(now, x, sum);
    }
}

/* The waiting sum + the block below it; the new sum waits in its place. */
static void JOIN(tree_join, NAME)(LINE waiting, LINE sum, LINE block, int64_t n)
{
#pragma omp simd
    for (int64_t x = 0; x < n; x++) {
        const ACC joined = PLUS(GET(waiting, x), GET(block, x));
        SET(waiting, x, GET(sum, x));
        SET(sum, x, joined);
    }
}

/*
 * The column's sum in `sum`, after the row sum number t, in `block`, has come. A block of 2k rows is the one of k
 * that ended k rows ago plus the one that ends now, so the last k of each size are kept in a ring. The
 * sum of the window's first blocks waits likewise until the next block, of `size` rows, ends.
 */
static void JOIN(tree_column, NAME)(int64_t height, LINE ring, LINE block, LINE sum, int64_t t, int64_t n)
{
    bool started = false;
    for (int64_t size = 1; size <= height; size *= 2) {
        if (height & size) {
            if (started) {
                JOIN(tree_join, NAME)(MOVED(ring, t % size * n), sum, block, n);
                ring = MOVED(ring, size * n);
            } else {
                JOIN(tree_copy, NAME)(sum, block, n);
            }
            started = true;
        }
        if (size * 2 <= height) {
            JOIN(tree_double_down, NAME)(MOVED(ring, t % size * n), block, n);
            ring = MOVED(ring, size * n);
        }
    }
}

static void JOIN(tree_mean, NAME)(T *out, LINE sum, int64_t n, const twi_box_divider *divider)
{
    const twi_box_divider d = *divider;
#pragma omp simd
    for (int64_t x = 0; x < n; x++)
        out[x] = MEAN(GET(sum, x));
}

static void JOIN(run_tree, NAME)(const twi_box_setup *setup, const twi_job *job)
{
    const int64_t strip = setup->strip;
    const int64_t height = setup->window.height;
    const int64_t ring_size = (setup->lines - 2) * strip;
    const int64_t line_size = strip + setup->before + setup->after + TWI_LINE;
    double *memory = (double *)(void *)worker_scratch(setup, job);
    double *const rings = memory + 2 * strip * PARTS;
    double *const lines = rings + ring_size * PARTS;
    const LINE sum = LINE_AT(memory, strip);
    const LINE block = LINE_AT(memory + strip * PARTS, strip);
    const LINE ring = LINE_AT(rings, ring_size);
    const LINE line = LINE_AT(lines, line_size);
    T *stage = line_aligned(lines + line_size * PARTS);
    for (int64_t first = 0; first < setup->row; first += strip) {
        const int64_t n = twi_min_i64(strip, setup->row - first);
        memset(rings, 0, (size_t)(ring_size * PARTS) * sizeof *rings);
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

#undef SET
#undef GET
#undef MOVED
#undef LINE_AT
#undef PARTS
#undef LINE
