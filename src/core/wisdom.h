/*
 * Which variant was measured to be the fastest, by problem: kept in a context, exported and imported as text.
 * Problems are matched by their class, which leaves out what decides no speed, and by size. Only time depends on it:
 * an entry for a variant that refuses the problem at hand is passed over.
 */
#ifndef TWI_WISDOM_H
#define TWI_WISDOM_H

#include "core/plan.h"

/* FNV-1a (Fowler, Noll, Vo), to tell short data apart in a line of text. */
#define TWI_HASH_SEED 2166136261u
uint32_t twi_hash(uint32_t seed, const void *data, size_t bytes);

/* The problem as tw_problem_text() prints it, without its size, its place, its anchor, and the values of masks,
   sigmas and borders: "correlate u8>i16 c1 s3x3 replicate floor int8". The length that the whole text has. */
size_t twi_problem_class(const tw_problem *problem, char *text, size_t size);

/* The variant of the entry of the problem's class on the context's device whose size is the nearest, both sides within
   a factor of 2, that does the problem; NULL if there is none. *exact: of the same size. */
const twi_variant *twi_wisdom_choice(const tw_context *context, const tw_problem *problem, bool *exact);

/* Remembers that the variant is the fastest. */
tw_status twi_wisdom_add(tw_context *context, const tw_problem *problem, const twi_variant *variant);

void twi_wisdom_free(tw_context *context);

#endif
