/* The map of what a request asks of the 32 banks of shared memory, as SVG. */
#ifndef TWI_BANKS_H
#define TWI_BANKS_H

#include <stdio.h>

#include "verify/explain.h"

/* Whether the variant uses shared memory. */
bool twi_banks_any(const twi_explanation *explanation);

/* An <svg> element with a map for each access to shared memory: of the block's request with the most conflicts, which
   lane asks for which word, and which words wait for others of their bank. Its ink suits light and dark pages. */
void twi_banks_draw(const twi_explanation *explanation, FILE *out);

/* "32-way conflict", "no conflict". */
void twi_banks_words(int degree, char *text, size_t size);

#endif
