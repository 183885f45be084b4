/*
 * Makes networks (order_network.h), by halving a tile of outputs (Adams, Fast median filters using separable sorting
 * networks, 2021; here for any rectangle and rank).
 *
 * What all windows of a tile cover is sorted. The windows of one half of it cover more: that is sorted too and merged
 * in, and of the result only those kept that can still have the rank. At one output all of the window is in. What
 * several parts need is sorted once. All is written as exchanges of values that are never overwritten; then what no
 * output needs is dropped, and the values get slots.
 */
#include "cpu/order_network.h"

#include <string.h>

/* An array that grows. */
typedef struct store {
    void *items;
    size_t size; /* bytes of an item */
    size_t count;
    size_t room;
} store;

/* Values in order, in builder.lists. */
typedef struct list {
    size_t first;
    size_t count;
} list;

/* A rectangle of inputs, sorted. */
typedef struct sorted {
    int32_t left;
    int32_t right;
    int32_t top;
    int32_t bottom;
    list values;
} sorted;

typedef struct exchange {
    int32_t a;
    int32_t b;
    int32_t low; /* two new values */
    int32_t high;
} exchange;

typedef struct pair {
    int32_t a;
    int32_t b;
} pair;

typedef struct builder {
    const tw_context *context;
    tw_status status; /* of the first allocation that failed; then all goes on with nothing */
    int32_t width;    /* the window */
    int32_t height;
    int64_t rank;
    int32_t input_width;
    int32_t value_count;
    store lists;     /* int32_t */
    store sorted;    /* sorted */
    store exchanges; /* exchange */
    store outputs;   /* twi_order_output */
    store pairs;     /* pair */
} builder;

/* ---- Arrays that grow --------------------------------------------------------------------------- */

/* Room for `count` more items at the end; NULL if there is none. */
static void *extend(builder *b, store *to, size_t count)
{
    if (b->status != TW_OK)
        return NULL;
    if (to->count + count > to->room) {
        const size_t room = 2 * (to->count + count) + 64;
        void *items = NULL;
        b->status = twi_host_allocate(b->context, room * to->size, &items);
        if (b->status != TW_OK)
            return NULL;
        if (to->count)
            memcpy(items, to->items, to->count * to->size);
        twi_host_release(b->context, to->items);
        to->items = items;
        to->room = room;
    }
    to->count += count;
    return (char *)to->items + (to->count - count) * to->size;
}

static int32_t value_at(const builder *b, list values, size_t i)
{
    return ((const int32_t *)b->lists.items)[values.first + i];
}

static void set_value(builder *b, list values, size_t i, int32_t value)
{
    ((int32_t *)b->lists.items)[values.first + i] = value;
}

static list new_list(builder *b, size_t count)
{
    const list made = {b->lists.count, count};
    return extend(b, &b->lists, count) ? made : (list){0, 0};
}

/* ---- Merging ------------------------------------------------------------------------------------ */

static void add_exchange(builder *b, list values, size_t i, size_t j)
{
    exchange *made = extend(b, &b->exchanges, 1);
    if (!made)
        return;
    made->a = value_at(b, values, i);
    made->b = value_at(b, values, j);
    made->low = b->value_count++;
    made->high = b->value_count++;
    set_value(b, values, i, made->low);
    set_value(b, values, j, made->high);
}

/* The values at first, first + step ... of a list. */
static list every_second(builder *b, list from, size_t first)
{
    const list made = new_list(b, (from.count + 1 - first) / 2);
    for (size_t i = 0; i < made.count; i++)
        set_value(b, made, i, value_at(b, from, first + 2 * i));
    return made;
}

/* Batcher's odd-even merge (1968), for any lengths. */
static list merge(builder *b, list left, list right)
{
    const list made = new_list(b, left.count + right.count);
    const size_t mark = b->lists.count;
    if (made.count == 0)
        return made;
    if (left.count == 0 || right.count == 0 || made.count == 2) {
        for (size_t i = 0; i < made.count; i++)
            set_value(b, made, i, i < left.count ? value_at(b, left, i) : value_at(b, right, i - left.count));
        if (left.count == 1 && right.count == 1)
            add_exchange(b, made, 0, 1);
        return made;
    }
    const list even_left = every_second(b, left, 0);
    const list even_right = every_second(b, right, 0);
    const list odd_left = every_second(b, left, 1);
    const list odd_right = every_second(b, right, 1);
    const list even = merge(b, even_left, even_right);
    const list odd = merge(b, odd_left, odd_right);
    if (b->status != TW_OK)
        return (list){0, 0};
    /* even 0, odd 0, even 1, odd 1 ...: then each odd one is exchanged with the even one behind it */
    size_t place = 0;
    for (size_t i = 0; i < even.count || i < odd.count; i++) {
        if (i < even.count)
            set_value(b, made, place++, value_at(b, even, i));
        if (i < odd.count)
            set_value(b, made, place++, value_at(b, odd, i));
    }
    for (size_t i = 1; i < even.count && i - 1 < odd.count; i++)
        add_exchange(b, made, 2 * i - 1, 2 * i);
    b->lists.count = mark;
    return made;
}

/* Where a range of so many is cut in two: at a multiple of a power of two, so that neighbours share what is sorted. */
static int32_t cut(int32_t first, int32_t last)
{
    int32_t step = 1;
    while (2 * step <= last - first)
        step *= 2;
    const int32_t at = last / step * step;
    return at > first ? at : first + (last - first + 2) / 2;
}

/* Columns left ... right of rows top ... bottom, sorted; of columns that are sorted first, or of rows. */
static list sort(builder *b, int32_t left, int32_t right, int32_t top, int32_t bottom, bool by_columns)
{
    for (size_t i = 0; i < b->sorted.count; i++) {
        const sorted *known = (const sorted *)b->sorted.items + i;
        if (known->left == left && known->right == right && known->top == top && known->bottom == bottom)
            return known->values;
    }
    list values;
    if (left == right && top == bottom) {
        values = new_list(b, 1);
        if (values.count)
            set_value(b, values, 0, top * b->input_width + left);
    } else if (left < right && (by_columns || top == bottom)) {
        const int32_t at = cut(left, right);
        const list first = sort(b, left, at - 1, top, bottom, by_columns);
        values = merge(b, first, sort(b, at, right, top, bottom, by_columns));
    } else {
        const int32_t at = cut(top, bottom);
        const list first = sort(b, left, right, top, at - 1, by_columns);
        values = merge(b, first, sort(b, left, right, at, bottom, by_columns));
    }
    sorted *made = extend(b, &b->sorted, 1);
    if (made)
        *made = (sorted){left, right, top, bottom, values};
    return values;
}

/* ---- Halving ------------------------------------------------------------------------------------ */

/* The part of a tile at (x, y), and of what all its windows cover those values that can have the rank: `below` more
   were lower than they. */
typedef struct part {
    int32_t x;
    int32_t y;
    int32_t width;
    int32_t height;
    int64_t below;
    list kept;
} part;

static int64_t covered(const builder *b, const part *p)
{
    return (int64_t)(b->width - p->width + 1) * (b->height - p->height + 1);
}

/* Of the values that all of a part's windows cover, those with too many others below or above them cannot have the
 * rank. */
static void prune(const builder *b, part *p)
{
    const int64_t outside = (int64_t)b->width * b->height - covered(b, p);
    const int64_t lowest = b->rank > outside ? b->rank - outside : 0;
    const int64_t highest = twi_min_i64(b->rank, covered(b, p) - 1);
    if (b->status != TW_OK)
        return;
    p->kept.first += (size_t)(lowest - p->below);
    p->kept.count = (size_t)(highest - lowest + 1);
    p->below = lowest;
}

/* The value of a rank among two sorted lists is the lowest of the highest of each choice of rank + 1 from their fronts.
 */
static void add_output(builder *b, const part *p, list left, list right)
{
    const size_t chosen = (size_t)(b->rank - p->below) + 1;
    twi_order_output *output = extend(b, &b->outputs, 1);
    if (!output)
        return;
    *output = (twi_order_output){.exchanges = (int32_t)b->exchanges.count, .x = p->x, .y = p->y};
    for (size_t i = 0; i <= chosen; i++) {
        const size_t j = chosen - i;
        if (i > left.count || j > right.count)
            continue;
        pair *made = extend(b, &b->pairs, 1);
        if (!made)
            return;
        made->a = i > 0 ? value_at(b, left, i - 1) : value_at(b, right, j - 1);
        made->b = j > 0 ? value_at(b, right, j - 1) : made->a;
        output->pairs++;
    }
}

static void halve(builder *b, const part *whole)
{
    const bool across = whole->width >= whole->height;
    const int32_t half = (across ? whole->width : whole->height) / 2;
    for (int i = 0; i < 2 && b->status == TW_OK; i++) {
        part p = *whole;
        p.width = across ? half : p.width;
        p.height = across ? p.height : half;
        p.x += across && i ? half : 0;
        p.y += !across && i ? half : 0;
        /* what the half's windows cover beside what those of the whole do */
        const int32_t left = whole->x + whole->width - 1;
        const int32_t right = whole->x + b->width - 1;
        const int32_t top = whole->y + whole->height - 1;
        const int32_t bottom = whole->y + b->height - 1;
        const list more = across
                              ? sort(b, i ? right + 1 : left - half, i ? right + half : left - 1, top, bottom, true)
                              : sort(b, left, right, i ? bottom + 1 : top - half, i ? bottom + half : top - 1, false);
        if (p.width == 1 && p.height == 1) {
            add_output(b, &p, p.kept, more);
        } else {
            p.kept = merge(b, p.kept, more);
            prune(b, &p);
            halve(b, &p);
        }
    }
}

/* ---- What is needed, when, and where it lies ---------------------------------------------------- */

enum {
    DISTANCE = 20, /* steps between a value's exchange and its reader: it has then left the processor's store queue */
    WINDOW = 64    /* steps among which the next one is looked for */
};

/* A value. Steps are counted from 1. */
typedef struct place {
    bool needed;
    int32_t made; /* the step that made it, or INT32_MAX */
    int32_t last; /* the last step that reads it; 0: none does, or no more */
    int32_t slot;
} place;

/* Exchanges that are needed, and outputs, in order. */
typedef struct step {
    const exchange *exchange; /* NULL: an output */
    const twi_order_output *output;
    const pair *pairs; /* of the output */
} step;

/* From the last to the first: an exchange of which nothing is needed needs nothing. Returns how many steps there are,
   which end at steps[total - 1]. */
static size_t find_steps(const builder *b, place *places, step *steps, size_t total)
{
    const exchange *exchanges = b->exchanges.items;
    const twi_order_output *outputs = b->outputs.items;
    const pair *pairs = (const pair *)b->pairs.items + b->pairs.count;
    size_t output = b->outputs.count;
    size_t first = total;
    for (size_t i = b->exchanges.count + 1; i-- > 0;) {
        for (; output > 0 && outputs[output - 1].exchanges == (int32_t)i; output--) {
            pairs -= outputs[output - 1].pairs;
            steps[--first] = (step){NULL, &outputs[output - 1], pairs};
            for (int32_t k = 0; k < outputs[output - 1].pairs; k++)
                places[pairs[k].a].needed = places[pairs[k].b].needed = true;
        }
        if (i > 0 && (places[exchanges[i - 1].low].needed || places[exchanges[i - 1].high].needed)) {
            steps[--first] = (step){&exchanges[i - 1], NULL, NULL};
            places[exchanges[i - 1].a].needed = places[exchanges[i - 1].b].needed = true;
        }
    }
    return total - first;
}

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* When the last value was made that a step reads. */
static int32_t ready_at(const step *s, const place *places)
{
    int32_t ready = 0;
    if (s->exchange)
        return later(places[s->exchange->a].made, places[s->exchange->b].made);
    for (int32_t k = 0; k < s->output->pairs; k++)
        ready = later(ready, later(places[s->pairs[k].a].made, places[s->pairs[k].b].made));
    return ready;
}

/* Steps in an order in which none reads what was made just before it: the first whose values are old enough, or else
   that whose are the oldest. `next` is room for a chain of those that wait. */
static void schedule(const step *from, step *to, size_t count, place *places, size_t *next)
{
    for (size_t i = 0; i <= count; i++)
        next[i] = i; /* next[i]: the first that waits behind i of them */
    for (int32_t now = 1; now <= (int32_t)count; now++) {
        size_t chosen = 0;
        int32_t oldest = INT32_MAX;
        size_t before = 0;
        for (size_t seen = 0, link = 0; seen < WINDOW && next[link] < count && oldest > now - DISTANCE; seen++) {
            const size_t i = next[link];
            const int32_t ready = ready_at(&from[i], places);
            if (ready < oldest) {
                oldest = ready;
                chosen = i;
                before = link;
            }
            link = i + 1;
        }
        next[before] = next[chosen + 1];
        to[now - 1] = from[chosen];
        if (from[chosen].exchange)
            places[from[chosen].exchange->low].made = places[from[chosen].exchange->high].made = now;
    }
}

static void find_last(const step *steps, size_t count, place *places)
{
    for (size_t i = 0; i < count; i++) {
        const step *s = &steps[i];
        if (s->exchange)
            places[s->exchange->a].last = places[s->exchange->b].last = (int32_t)i + 1;
        else
            for (int32_t k = 0; k < s->output->pairs; k++)
                places[s->pairs[k].a].last = places[s->pairs[k].b].last = (int32_t)i + 1;
    }
}

/* Slots that are free. */
typedef struct pool {
    int32_t *free;
    int32_t free_count;
    int32_t used; /* slots that there are */
} pool;

/* The slot of a value that is read at a step; free from then on, if that is its last. */
static twi_order_slot read_slot(pool *slots, place *p, size_t time)
{
    if (p->last == (int32_t)time) {
        p->last = 0;
        slots->free[slots->free_count++] = p->slot;
    }
    return (twi_order_slot)(p->slot * TWI_NETWORK_SLOT);
}

static twi_order_slot take_slot(pool *slots, place *p)
{
    p->slot = slots->free_count > 0 ? slots->free[--slots->free_count] : slots->used++;
    return (twi_order_slot)(p->slot * TWI_NETWORK_SLOT);
}

/* A value that nothing reads has its slot for the moment only. */
static void drop_slot(pool *slots, const place *p)
{
    if (!p->last)
        slots->free[slots->free_count++] = p->slot;
}

static void write_steps(const step *steps, size_t count, place *places, pool *slots, twi_order_network *network)
{
    twi_order_exchange *next = network->exchanges;
    twi_order_output *output = network->outputs;
    twi_order_pair *made = network->pairs;
    int32_t exchanges = 0;
    for (int32_t v = 0; v < slots->used; v++)
        places[v].slot = v;
    for (size_t i = 0; i < count; i++) {
        const step *s = &steps[i];
        if (s->exchange) {
            place *low = &places[s->exchange->low];
            place *high = &places[s->exchange->high];
            next->a = read_slot(slots, &places[s->exchange->a], i + 1);
            next->b = read_slot(slots, &places[s->exchange->b], i + 1);
            next->low = take_slot(slots, low);
            next->high = take_slot(slots, high);
            drop_slot(slots, low);
            drop_slot(slots, high);
            next++;
            exchanges++;
        } else {
            *output = *s->output;
            output->exchanges = exchanges;
            exchanges = 0;
            for (int32_t k = 0; k < output->pairs; k++, made++) {
                made->a = read_slot(slots, &places[s->pairs[k].a], i + 1);
                made->b = read_slot(slots, &places[s->pairs[k].b], i + 1);
            }
            output++;
        }
    }
    network->slots = slots->used;
}

/* ---- All together ------------------------------------------------------------------------------- */

static tw_status write_network(builder *b, twi_order_network *network)
{
    const size_t values = (size_t)b->value_count;
    const size_t total = b->exchanges.count + b->outputs.count;
    const int32_t inputs = network->input_width * network->input_height;
    void *memory[8] = {NULL};
    const size_t sizes[8] = {
        (b->exchanges.count + 1) * sizeof *network->exchanges,
        b->outputs.count * sizeof *network->outputs,
        b->pairs.count * sizeof *network->pairs,
        values * sizeof(place),
        values * sizeof(int32_t),
        total * sizeof(step),
        total * sizeof(step),
        (total + 1) * sizeof(size_t),
    };
    for (int i = 0; i < 8 && b->status == TW_OK; i++)
        b->status = twi_host_allocate(b->context, sizes[i], &memory[i]);
    network->exchanges = memory[0];
    network->outputs = memory[1];
    network->pairs = memory[2];
    if (b->status == TW_OK) {
        place *places = memory[3];
        step *steps = memory[5];
        pool slots = {.free = memory[4], .used = inputs};
        for (size_t i = 0; i < values; i++)
            places[i] = (place){.made = (int32_t)i < inputs ? -DISTANCE : INT32_MAX};
        const size_t count = find_steps(b, places, memory[6], total);
        schedule((const step *)memory[6] + total - count, steps, count, places, memory[7]);
        find_last(steps, count, places);
        write_steps(steps, count, places, &slots, network);
    }
    for (int i = 3; i < 8; i++)
        twi_host_release(b->context, memory[i]);
    return b->status;
}

tw_status twi_order_network_make(const tw_context *context, const tw_problem *problem, int32_t tile_width,
                                 int32_t tile_height, twi_order_network *network)
{
    builder b = {
        .context = context,
        .width = problem->window.width,
        .height = problem->window.height,
        .rank = problem->rank,
        .input_width = problem->window.width + tile_width - 1,
        .lists.size = sizeof(int32_t),
        .sorted.size = sizeof(sorted),
        .exchanges.size = sizeof(exchange),
        .outputs.size = sizeof(twi_order_output),
        .pairs.size = sizeof(pair),
    };
    part whole = {.width = tile_width, .height = tile_height};
    *network = (twi_order_network){
        .tile_width = tile_width,
        .tile_height = tile_height,
        .input_width = b.input_width,
        .input_height = b.height + tile_height - 1,
    };
    b.value_count = network->input_width * network->input_height;
    whole.kept = sort(&b, tile_width - 1, b.width - 1, tile_height - 1, b.height - 1, true);
    prune(&b, &whole);
    if (tile_width * tile_height > 1)
        halve(&b, &whole);
    else
        add_output(&b, &whole, whole.kept, (list){0, 0});
    if (b.status == TW_OK)
        (void)write_network(&b, network);
    twi_host_release(context, b.lists.items);
    twi_host_release(context, b.sorted.items);
    twi_host_release(context, b.exchanges.items);
    twi_host_release(context, b.outputs.items);
    twi_host_release(context, b.pairs.items);
    return b.status;
}

void twi_order_network_free(const tw_context *context, twi_order_network *network)
{
    twi_host_release(context, network->exchanges);
    twi_host_release(context, network->outputs);
    twi_host_release(context, network->pairs);
}
