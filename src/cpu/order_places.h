/*
 * A window as a set of places (order_places.tmpl.h), a bit for each. The member of a rank is looked for from the word
 * of the one before: a step along a row moves few members past it.
 */
#ifndef TWI_CPU_ORDER_PLACES_H
#define TWI_CPU_ORDER_PLACES_H

#include "cpu/order_keys.h"

typedef struct twi_places {
    uint64_t *words;
    int64_t word;  /* where the last member was found */
    int64_t below; /* members in lower words */
} twi_places;

/* `change` is 1 for a place that is not in the set, and -1 for one that is. */
static inline void places_toggle(twi_places *set, uint32_t place, int64_t change)
{
    set->words[place / 64] ^= UINT64_C(1) << place % 64;
    set->below += place / 64 < set->word ? change : 0;
}

/* The set becomes the window whose first position has the place *places. */
static void places_enter(twi_places *set, const twi_order_setup *setup, const uint32_t *places)
{
    const size_t words = (size_t)twi_order_words(twi_order_tile_positions(setup));
    memset(set->words, 0, words * sizeof *set->words);
    set->word = set->below = 0;
    for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++)
        for (int64_t at = run->first; at < run->last; at += setup->pitch)
            places_toggle(set, places[at], 1);
}

/* From that window to the next in the row. */
static inline void places_slide(twi_places *set, const twi_order_setup *setup, const uint32_t *places)
{
    for (const twi_order_run *run = setup->runs; run < setup->runs + setup->run_count; run++) {
        places_toggle(set, places[run->first], -1);
        places_toggle(set, places[run->last], 1);
    }
}

/* The place of the member with `rank` members below it. */
static inline int64_t places_find(twi_places *set, int64_t rank)
{
    while (set->below > rank)
        set->below -= __builtin_popcountll(set->words[--set->word]);
    for (int count; set->below + (count = __builtin_popcountll(set->words[set->word])) <= rank; set->word++)
        set->below += count;
    uint64_t bits = set->words[set->word];
    for (int64_t lower = rank - set->below; lower > 0; lower--)
        bits &= bits - 1;
    return set->word * 64 + __builtin_ctzll(bits);
}

#endif
