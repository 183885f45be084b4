/*
 * Tiles of strips: NAME, K as in order_lines.tmpl.h. A row is cut into strips of equal length, as many as a vector of
 * TWI_ORDER_VECTOR bytes has lanes, and vector x of a tile's row holds element x of each strip. So the neighbour
 * at any distance is another whole vector: nothing is shifted, and every load is aligned. The last strips begin earlier
 * where they would pass the row's end: then some outputs are computed twice.
 */
#define LANES (TWI_ORDER_VECTOR / (int64_t)sizeof(K))

typedef struct JOIN(tile, NAME) {
    const twi_order_setup *setup;
    K *source;      /* of vectors: rows of `length`, the windows' rows, and one before them */
    K *result;      /* of vectors: rows of `pitch` */
    char *room;     /* for the method */
    int64_t length; /* vectors that the windows of a strip cover in a row */
    int64_t pitch;  /* vectors of its outputs, and what makes them whole tiles of a network */
    int64_t rows;   /* of outputs */
} JOIN(tile, NAME);

/* LANES x LANES elements, transposed: each riffle of the whole, as of a pack of cards, turns the index by one bit. */
static void JOIN(turn, NAME)(K *restrict block)
{
    const int64_t half = LANES * LANES / 2;
    K other[LANES * LANES];
    for (int64_t side = LANES; side > 1; side /= 2) {
        memcpy(other, block, sizeof other);
        for (int64_t i = 0; i < half; i++) {
            block[2 * i] = other[i];
            block[2 * i + 1] = other[half + i];
        }
    }
}

/* Where a strip begins, in elements from where the tile's first one does. */
static int64_t JOIN(strip_at, NAME)(const twi_order_setup *setup, int64_t first, int64_t lane)
{
    const int64_t last = setup->row - setup->strip;
    return twi_min_i64(first + lane * setup->strip, last) - twi_min_i64(first, last);
}

/* A line's strips as n vectors, up to LANES more of whatever follows them; and back. */
static void JOIN(gather, NAME)(const twi_order_setup *setup, int64_t first, const K *line, K *to, int64_t n)
{
    K block[LANES * LANES];
    for (int64_t x = 0; x < n; x += LANES) {
        for (int64_t lane = 0; lane < LANES; lane++)
            memcpy(block + lane * LANES, line + JOIN(strip_at, NAME)(setup, first, lane) + x, LANES * sizeof(K));
        JOIN(turn, NAME)(block);
        memcpy(to + x * LANES, block, (size_t)(twi_min_i64(LANES, n - x) * LANES) * sizeof(K));
    }
}

static void JOIN(spread, NAME)(const twi_order_setup *setup, int64_t first, const K *from, K *line, int64_t n)
{
    K block[LANES * LANES];
    for (int64_t x = 0; x < n; x += LANES) {
        const int64_t width = twi_min_i64(LANES, n - x);
        memcpy(block, from + x * LANES, (size_t)(width * LANES) * sizeof(K));
        JOIN(turn, NAME)(block);
        for (int64_t lane = 0; lane < LANES; lane++)
            memcpy(line + JOIN(strip_at, NAME)(setup, first, lane) + x, block + lane * LANES,
                   (size_t)width * sizeof(K));
    }
}

typedef void JOIN(compute, NAME)(const JOIN(tile, NAME) * tile);

static void JOIN(run_strips, NAME)(const twi_order_setup *setup, const twi_job *job, JOIN(compute, NAME) * compute)
{
    const int64_t halo = setup->before + setup->after;
    const int64_t pitch = setup->strip_pitch;
    const int64_t length = pitch + halo;
    const int64_t span = LANES * setup->strip;
    char *place = order_scratch(setup, job);
    K *line = take(&place, (span + pitch + halo) * (int64_t)sizeof(K));
    K *source = take(&place, (setup->tile_rows + setup->height) * length * TWI_ORDER_VECTOR);
    K *result = take(&place, setup->tile_rows * pitch * TWI_ORDER_VECTOR);
    JOIN(tile, NAME)
    tile = {.setup = setup, .source = source, .result = result, .room = place, .length = length, .pitch = pitch};
    for (int64_t y = job->first; y < job->last; y += tile.rows) {
        tile.rows = twi_min_i64(setup->tile_rows, job->last - y);
        for (int64_t first = 0; first < setup->row; first += span) {
            const int64_t start = twi_min_i64(first, setup->row - setup->strip);
            const int64_t n = twi_min_i64(first + span, setup->row) - start;
            for (int64_t i = 0; i < tile.rows + setup->height - 1; i++) {
                JOIN(fetch, NAME)(setup, &job->src, y - setup->anchor_y + i, start - setup->before, n + halo, line);
                JOIN(gather, NAME)(setup, first, line, source + (i + 1) * length * LANES, length);
            }
            compute(&tile);
            for (int64_t i = 0; i < tile.rows; i++) {
                JOIN(spread, NAME)(setup, first, result + i * pitch * LANES, line, setup->strip);
                JOIN(deliver, NAME)(setup, job, y + i, start, line, n);
            }
        }
    }
}
#undef LANES
