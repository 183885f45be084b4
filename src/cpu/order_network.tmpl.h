/*
 * Runs a network (order_network.h) over a tile of strips: NAME, K as in order_lines.tmpl.h. A slot is a vector, so each
 * exchange serves as many of the network's tiles as there are strips. Nothing depends on the values.
 */
#define LANES (TWI_ORDER_VECTOR / (int64_t)sizeof(K))

#define SLOT(place) ((K *)(void *)(slots + (place)))

/* Functions of their own, so that their few variables stay in registers. */
__attribute__((noinline)) static void JOIN(exchange, NAME)(int64_t *slots, const twi_order_exchange *next,
                                                           const twi_order_exchange *end)
{
    for (; next < end; next++) {
        const K *const a = SLOT(next->a);
        const K *const b = SLOT(next->b);
        K *const low = SLOT(next->low);
        K *const high = SLOT(next->high);
#pragma omp simd
        for (int64_t lane = 0; lane < LANES; lane++) { /* also in place */
            const K x = a[lane];
            const K y = b[lane];
            low[lane] = JOIN(lower, NAME)(x, y);
            high[lane] = JOIN(higher, NAME)(x, y);
        }
    }
}

__attribute__((noinline)) static void JOIN(choose, NAME)(int64_t *slots, const twi_order_pair *next,
                                                         const twi_order_pair *end, K *restrict to)
{
    K best[LANES];
    for (int64_t lane = 0; lane < LANES; lane++)
        best[lane] = HIGHEST;
    for (; next < end; next++) {
        const K *const a = SLOT(next->a);
        const K *const b = SLOT(next->b);
        K highest[LANES]; /* in a loop of its own, or gcc 12 unrolls the outer one into elements */
        for (int64_t lane = 0; lane < LANES; lane++)
            highest[lane] = JOIN(higher, NAME)(a[lane], b[lane]);
        for (int64_t lane = 0; lane < LANES; lane++)
            best[lane] = JOIN(lower, NAME)(best[lane], highest[lane]);
    }
    for (int64_t lane = 0; lane < LANES; lane++)
        to[lane] = best[lane];
}
#undef SLOT

/* The network's tile at vector x of row y. */
static void JOIN(run_network, NAME)(const JOIN(tile, NAME) * tile, int64_t x, int64_t y)
{
    const twi_order_network *network = &tile->setup->network;
    const int64_t c = tile->setup->channels;
    const twi_order_exchange *exchanges = network->exchanges;
    const twi_order_pair *pairs = network->pairs;
    int64_t *const slots = (int64_t *)(void *)tile->room;
    K *slot = (K *)(void *)slots;
    for (int64_t j = 0; j < network->input_height; j++) {
        const K *from = tile->source + ((y + 1 + j) * tile->length + x) * LANES;
        for (int64_t i = 0; i < network->input_width; i++, from += c * LANES, slot += LANES)
            memcpy(slot, from, TWI_ORDER_VECTOR);
    }
    const int64_t outputs = (int64_t)network->tile_width * network->tile_height;
    for (int64_t i = 0; i < outputs; i++) {
        const twi_order_output output = network->outputs[i];
        K *to = tile->result + ((y + output.y) * tile->pitch + x + output.x * c) * LANES;
        JOIN(exchange, NAME)(slots, exchanges, exchanges + output.exchanges);
        JOIN(choose, NAME)(slots, pairs, pairs + output.pairs, to);
        exchanges += output.exchanges;
        pairs += output.pairs;
    }
}

static void JOIN(compute_network, NAME)(const JOIN(tile, NAME) * tile)
{
    const twi_order_network *network = &tile->setup->network;
    const int64_t c = tile->setup->channels;
    for (int64_t y = 0; y < tile->rows; y += network->tile_height)
        for (int64_t first = 0; first < tile->setup->strip; first += network->tile_width * c)
            for (int64_t x = first; x < first + c; x++)
                JOIN(run_network, NAME)(tile, x, y);
}
#undef LANES
