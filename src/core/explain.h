/*
 * What a kernel does to memory, declared by its variant (twi_code.explain) access by access. Counts of requests,
 * sectors and bank conflicts are calculated from it (verify/explain.c).
 */
#ifndef TWI_EXPLAIN_DECLARED_H
#define TWI_EXPLAIN_DECLARED_H

#include "core/plan.h"

typedef enum twi_space {
    TWI_SPACE_GLOBAL = 0,
    TWI_SPACE_TEXTURE,
    TWI_SPACE_SHARED,
    TWI_SPACE_CONSTANT,
    TWI_SPACE_COUNT
} twi_space;

/* Threads of a warp whose window lies in the image take another path through the code than those whose does not. */
typedef enum twi_path { TWI_PATH_ANY = 0, TWI_PATH_INSIDE, TWI_PATH_OUTSIDE } twi_path;

/* A thread that comes by an access. */
typedef struct twi_visit {
    int64_t block_x;
    int64_t block_y;
    int32_t x; /* of the thread in its block */
    int32_t y;
    twi_path path; /* the access's */
    int64_t step;  /* how often the thread has come by before */
} twi_visit;

/* What an address function returns for a thread that takes no part. */
enum { TWI_NO_ADDRESS = -1 };

/* Of 1 to 32 bits of shared memory, the hardware adds once for all lanes that ask for one word: it counts them. Other
   additions are made one after the other. */
typedef enum twi_adds { TWI_ADDS_NOTHING = 0, TWI_ADDS_ONE, TWI_ADDS_ANY } twi_adds;

typedef struct twi_access {
    const char *what; /* "source"; accesses of one name, space and direction are counted together */
    twi_space space;
    bool store;
    int32_t bytes; /* of a thread: 1, 2, 4, 8 or 16 */
    twi_path path;
    int64_t steps; /* how often each thread comes by */
    /* In bytes from where the image, array or tile begins, which is aligned to 256. */
    int64_t (*address)(const twi_kernel *kernel, const twi_visit *visit);
    twi_adds adds; /* a store that adds to what is there */
} twi_access;

enum { TWI_MOST_ACCESSES = 8 };

struct twi_kernel {
    /* What is asked for. */
    const tw_problem *problem;
    int32_t block_width; /* 0: the variant's own, which it then sets; left alone where it has no choice */
    int32_t block_height;
    int64_t src_pitch; /* bytes, as of images that tw_image_create() makes */
    int64_t dst_pitch;
    bool flat; /* all pixels have one value; else 32 neighbours have 32 values, spread over the type's range */

    /* What the variant declares. */
    int64_t columns; /* of the outputs over which blocks are laid: elements or pixels, rows */
    int64_t rows;
    int32_t outputs_width; /* of a block */
    int32_t outputs_height;
    const void *function; /* for the driver; NULL: not known */
    size_t shared;        /* bytes of shared memory a block, */
    size_t dynamic;       /* and those of them that the launch adds */
    int32_t barriers;     /* that each thread of a block passes */
    int64_t period;       /* blocks after which a line of them does the same again, where it is not for sectors alone */
    const char *part;     /* which kernel it is, of a variant that has several; NULL: there is one */
    bool by_pixels;       /* addresses depend on the pixels' values */
    size_t count;
    twi_access accesses[TWI_MOST_ACCESSES];
};

static inline void twi_declare(twi_kernel *kernel, twi_access access)
{
    kernel->accesses[kernel->count++] = access;
}

/* The pixel's value that a kernel whose addresses depend on it is told: of 2^bits values. */
static inline int64_t twi_explained_pixel(const twi_kernel *kernel, int64_t element, int bits)
{
    return kernel->flat ? 0 : (element << (bits - 5)) & (((int64_t)1 << bits) - 1);
}

#endif
