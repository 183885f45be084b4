/*
 * Division of sums by a multiplication and a shift: floor(sum / divisor) = (sum * magic) >> shift.
 *
 * magic = ceil(2^shift / divisor) exceeds the true factor by less than 1 part: with e = magic * divisor - 2^shift,
 * sum * magic / 2^shift = sum / divisor + sum * e / (divisor * 2^shift). The floor is right while the last term stays
 * under 1 / divisor, that is while sum * e < 2^shift.
 */
#ifndef TWI_CPU_DIVIDE_H
#define TWI_CPU_DIVIDE_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t twi_magic(int64_t divisor, int shift)
{
    return (int64_t)(((UINT64_C(1) << shift) + (uint64_t)divisor - 1) / (uint64_t)divisor);
}

/* A factor of 16 bits for all sums up to `largest`, with the smallest shift from 16 to 31. False: there is none. */
static inline bool twi_find_magic16(int64_t divisor, int64_t largest, int64_t *magic, int *shift)
{
    for (*shift = 16; *shift < 32; ++*shift) {
        const int64_t power = INT64_C(1) << *shift;
        *magic = twi_magic(divisor, *shift);
        if (*magic <= UINT16_MAX && largest * (*magic * divisor - power) < power)
            return true;
    }
    return false;
}

#endif
