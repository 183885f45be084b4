/* A small generator for test data: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
   generators, 2014). The same numbers on every machine. */
#ifndef TWI_RANDOM_H
#define TWI_RANDOM_H

#include <stdint.h>

typedef struct twi_random {
    uint64_t state;
} twi_random;

static inline twi_random twi_random_of(uint64_t seed)
{
    const twi_random r = {seed};
    return r;
}

static inline uint64_t twi_next(twi_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 ... n-1; n at most 2^32, near enough to even for tests. */
static inline uint64_t twi_below(twi_random *r, uint64_t n)
{
    return ((twi_next(r) >> 32) * n) >> 32;
}

#endif
