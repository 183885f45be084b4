/*
 * What a variant's kernel does to memory, calculated from the accesses that it declares: no device is needed.
 * Linked by the command and the tests, no part of the library.
 *
 * A request is what one instruction of a warp asks of memory; textures are asked by four lanes at a time. Global memory
 * and textures answer in sectors of 32 bytes. Shared memory has 32 banks of 4-byte words and takes a cycle, a
 * wavefront, for as many words as lie in different banks; accesses of 8 and 16 bytes are taken by halves and quarters
 * of the warp, two of which are taken at once where they are loads and lanes side by side ask for the same. Constant
 * memory hands out one word a cycle.
 */
#ifndef TWI_VERIFY_EXPLAIN_H
#define TWI_VERIFY_EXPLAIN_H

#include "core/explain.h"

enum { TWI_WARP = 32, TWI_QUAD = 4, TWI_BANKS = 32, TWI_WORD = 4, TWI_SECTOR = 32 };

typedef struct twi_counts {
    int64_t requests;
    int64_t elements;   /* lanes that took part in them */
    int64_t sectors;    /* global and texture */
    int64_t wavefronts; /* shared and constant: cycles */
    int64_t conflicts;  /* shared: wavefronts beyond those of words in different banks */
} twi_counts;

/* One request to shared memory: the address of each lane, or TWI_NO_ADDRESS. */
typedef struct twi_banks {
    int64_t address[TWI_WARP];
    int32_t bytes;
    bool store;
    twi_adds adds;
    int degree; /* the most different words of one bank in a part of the warp that is taken together, of additions
                   one after the other the most lanes; 1: no conflict */
} twi_banks;

typedef struct twi_explained {
    const char *what;
    twi_space space;
    bool store;
    twi_adds adds;
    int32_t bytes;
    twi_counts block; /* of the block in the image's middle */
    twi_counts image; /* of all blocks */
    int least;        /* sectors, degree or cycles of a request of that block */
    int most;
    twi_banks worst; /* of shared memory: the first request of that block with the most conflicts */
} twi_explained;

typedef struct twi_explanation {
    twi_kernel kernel; /* as the variant declared it; its problem is the caller's */
    int64_t blocks_x;
    int64_t blocks_y;
    size_t count;
    twi_explained accesses[TWI_MOST_ACCESSES];
} twi_explanation;

/* Counts one request. */
int twi_count_sectors(const int64_t address[TWI_WARP], int32_t bytes);
int twi_count_words(const int64_t address[TWI_WARP], int32_t bytes); /* different ones, of constant memory */
int twi_count_wavefronts(twi_banks *banks);                          /* sets the degree, too */
/* How many lanes from `first` on shared memory takes together; the next are taken after them. */
int twi_lanes_together(const twi_banks *banks, int first);

/* "load", "store" or "add". */
const char *twi_direction(const twi_explained *access);

/* Counts what result->kernel declares. */
tw_status twi_explain_declared(twi_explanation *result);

/* Whether variant `index` of the registry is described. */
bool twi_is_explained(size_t index);
/* The operation's described variant of that name; false if there is none. */
bool twi_find_explained(tw_op op, const char *name, size_t *index);

/* Block sides of 0: the variant's own. Fails for a variant that is not described or does not do the problem. */
tw_status twi_explain(size_t index, const tw_problem *problem, int32_t block_width, int32_t block_height, bool flat,
                      twi_explanation *result);

/* What the driver of the context's device says of the kernel. */
tw_status twi_explain_occupancy(tw_context *context, const twi_explanation *explanation, twi_occupancy *occupancy);

#endif
