/* What --memory bounds, and what there is. */
#ifndef TWI_MEMORY_H
#define TWI_MEMORY_H

#include "cli/args.h"

/* The most bytes that the process may take: --memory, else half of what is free. */
uint64_t twi_memory_limit(const twi_args *args);

/* What of it is for bands and plans: without what the process holds now, and its libraries, stacks and buffers. */
uint64_t twi_memory_for_bands(const twi_args *args);

/* Bytes that the process has allocated, whether they were touched or not. */
uint64_t twi_memory_allocated(void);

/* Gives back what was freed, of all threads, which the C library keeps for what comes next. */
void twi_memory_give_back(void);

#endif
