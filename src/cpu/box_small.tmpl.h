/*
 * Windows of 3x3 and 5x5 for one type: bands of four rows, cut into an inner part that the kernels read in place
 * and a tile at each end. NAME, T and the kernels small3 and small5 are the includer's, and whether they can store past
 * the cache themselves: KERNEL_STREAMS.
 */

/* The band at row y, of which `valid` rows are wanted, in elements first ... last-1: through a tile that
   holds the source rows with their halos. */
static void JOIN(small_tile, NAME)(const twi_box_setup *setup, const T *const *rows, T *const *out, int64_t valid,
                                   int64_t first, int64_t last, void *scratch)
{
    const int64_t height = setup->window.height;
    const int64_t line = TWI_LINE / (int64_t)sizeof(T);
    const int64_t low = twi_max_i64(first - setup->before, 0);
    const int64_t high = twi_min_i64(last + setup->after, setup->row);
    const T *tile[TWI_BOX_BAND + TWI_BOX_LARGEST - 1];
    T *stage[TWI_BOX_BAND];
    char *place = scratch;
    for (int64_t i = 0; i < TWI_BOX_BAND + height - 1; i++, place += TWI_BOX_TILE) {
        T *to = (T *)(void *)place; /* to[0] is element first - before */
        tile[i] = to;
        for (int64_t x = first - setup->before; x < 0; x++) {
            const int64_t from = setup->halo[x + setup->before];
            *to++ = from < 0 ? *(const T *)setup->outside : rows[i][from];
        }
        memcpy(to, rows[i] + low, (size_t)(high - low) * sizeof(T));
        to += high - low;
        for (int64_t x = setup->row; x < last + setup->after; x++) {
            const int64_t from = setup->halo[x - setup->row + setup->before];
            *to++ = from < 0 ? *(const T *)setup->outside : rows[i][from];
        }
    }
    for (int64_t i = 0; i < TWI_BOX_BAND; i++, place += TWI_BOX_STAGE)
        stage[i] = (T *)(void *)place;
    const int64_t n = twi_round_up(last - first, line);
    (height == TWI_BOX_SMALLEST ? JOIN(small3, NAME) : JOIN(small5, NAME))(tile, stage, n, setup, false);
    for (int64_t i = 0; i < valid; i++)
        memcpy(out[i] + first, stage[i], (size_t)(last - first) * sizeof(T));
}

/* Elements first ... last-1, a multiple of a cache line, whose windows lie in the row. */
static void JOIN(small_inner, NAME)(const twi_box_setup *setup, const T *const *rows, T *const *out, int64_t valid,
                                    int64_t first, int64_t last, int64_t pitch, void *scratch)
{
    const int64_t chunk = 4096 / (int64_t)sizeof(T);
    const T *from[TWI_BOX_BAND + TWI_BOX_LARGEST - 1];
    T *to[TWI_BOX_BAND];
    /* four whole lines at a time can go straight to their place; else they are staged and copied out */
    const bool aligned = ((uintptr_t)(out[0] + first) | (uintptr_t)pitch) % TWI_LINE == 0;
    const bool stream = KERNEL_STREAMS && setup->stream && aligned;
    const bool direct = valid == TWI_BOX_BAND && (stream || !setup->stream);
    for (int64_t x = first; x < last; x += chunk) {
        const int64_t n = twi_min_i64(chunk, last - x);
        for (int64_t i = 0; i < TWI_BOX_BAND + setup->window.height - 1; i++)
            from[i] = rows[i] + x - setup->before;
        for (int64_t i = 0; i < TWI_BOX_BAND; i++)
            to[i] = direct ? out[i] + x : (T *)(void *)((char *)scratch + i * TWI_BOX_STAGE);
        (setup->window.height == TWI_BOX_SMALLEST ? JOIN(small3, NAME) : JOIN(small5, NAME))(from, to, n, setup,
                                                                                             direct && stream);
        if (!direct)
            for (int64_t i = 0; i < valid; i++)
                put(out[i] + x, to[i], n * (int64_t)sizeof(T), setup->stream);
    }
}

static void JOIN(run_small, NAME)(const twi_box_setup *setup, const twi_job *job)
{
    const int64_t line = TWI_LINE / (int64_t)sizeof(T);
    const int64_t left = twi_round_up(setup->before, line);
    const int64_t inner = (setup->row - left - setup->after) / line * line;
    const T *rows[TWI_BOX_BAND + TWI_BOX_LARGEST - 1];
    T *out[TWI_BOX_BAND];
    char *scratch = worker_scratch(setup, job);
    for (int64_t y = job->first; y < job->last; y += TWI_BOX_BAND) {
        const int64_t valid = twi_min_i64(TWI_BOX_BAND, job->last - y);
        for (int64_t i = 0; i < TWI_BOX_BAND + setup->window.height - 1; i++)
            rows[i] = twi_box_row(setup, &job->src, y - setup->window.anchor_y + i);
        for (int64_t i = 0; i < TWI_BOX_BAND; i++)
            out[i] = (T *)(void *)((char *)job->dst.data + (i < valid ? y + i : y) * job->dst.pitch);
        if (inner <= 0) {
            JOIN(small_tile, NAME)(setup, rows, out, valid, 0, setup->row, scratch);
            continue;
        }
        if (left > 0)
            JOIN(small_tile, NAME)(setup, rows, out, valid, 0, left, scratch);
        JOIN(small_inner, NAME)(setup, rows, out, valid, left, left + inner, job->dst.pitch, scratch);
        if (left + inner < setup->row)
            JOIN(small_tile, NAME)(setup, rows, out, valid, left + inner, setup->row, scratch);
    }
}
