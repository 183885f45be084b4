/* Lines of keys of one kind, NAME with type K: rows of the bordered image in, results out. BIAS: what lowers a key. */

static inline K JOIN(lower, NAME)(K a, K b)
{
    return a < b ? a : b;
}

static inline K JOIN(higher, NAME)(K a, K b)
{
    return a > b ? a : b;
}

static void JOIN(fill, NAME)(K *to, K value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = value;
}

/* Key of the halo's element `from`, a column as the table gives it. */
static K JOIN(beside, NAME)(const twi_order_setup *setup, const void *row, int64_t from)
{
    K key = (K)(setup->outside - BIAS);
    if (from >= 0)
        JOIN(keys, NAME)(setup->type, row, from, 1, &key);
    return key;
}

/* Elements `start` ... start + n - 1 of row y of the bordered image; start and end may lie in the halos. */
static void JOIN(fetch, NAME)(const twi_order_setup *setup, const tw_image *src, int64_t y, int64_t start, int64_t n,
                              K *to)
{
    const int64_t inside = twi_border_index(y, src->height, setup->border);
    const void *row = (const char *)src->data + inside * src->pitch;
    const int64_t end = start + n;
    const int64_t low = twi_max_i64(start, 0);
    const int64_t high = twi_min_i64(end, setup->row);
    if (inside < 0) {
        JOIN(fill, NAME)(to, (K)(setup->outside - BIAS), n);
        return;
    }
    for (int64_t x = start; x < twi_min_i64(end, 0); x++)
        to[x - start] = JOIN(beside, NAME)(setup, row, setup->halo[x + setup->before]);
    if (low < high)
        JOIN(keys, NAME)(setup->type, row, low, high - low, to + (low - start));
    for (int64_t x = twi_max_i64(start, setup->row); x < end; x++)
        to[x - start] = JOIN(beside, NAME)(setup, row, setup->halo[x - setup->row + setup->before]);
}

/* The window's rows of output row y for n outputs from element `first` on, with their halos. Those that the row before
   had are kept. */
static void JOIN(window_rows, NAME)(const twi_order_setup *setup, const twi_job *job, int64_t y, int64_t first,
                                    int64_t n, K *kept, const K **rows)
{
    const int64_t height = setup->height;
    const int64_t pitch = setup->pitch / (int64_t)sizeof(K);
    const int64_t top = y - setup->anchor_y;
    const int64_t start = first - setup->before;
    const int64_t with_halo = setup->before + n + setup->after;
    for (int64_t j = 0; j < height; j++) {
        K *row = kept + (y + j) % height * pitch;
        if (y == job->first || j == height - 1)
            JOIN(fetch, NAME)(setup, &job->src, top + j, start, with_halo, row);
        rows[j] = row;
    }
}

/* n results, which are used up, as elements x ... of output row y. */
static void JOIN(deliver, NAME)(const twi_order_setup *setup, const twi_job *job, int64_t y, int64_t x, K *keys,
                                int64_t n)
{
    const int64_t size = (int64_t)tw_type_size(setup->type);
    JOIN(elements, NAME)(setup->type, keys, n);
    put((char *)job->dst.data + y * job->dst.pitch + x * size, keys, n * size, setup->stream);
}
