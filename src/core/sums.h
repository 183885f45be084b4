/* Running sums of integers, in dst's types: exact, so that what lies before a part may be added to its own sums. */
#ifndef TWI_SUMS_H
#define TWI_SUMS_H

#include "core/base.h"

/* Element i of a row of sums. */
static inline int64_t twi_sum_at(const void *row, tw_type type, int64_t i)
{
    if (type == TW_F64)
        return (int64_t)((const double *)row)[i];
    if (tw_type_size(type) == 4)
        return type == TW_U32 ? (int64_t)((const uint32_t *)row)[i] : ((const int32_t *)row)[i];
    return ((const int64_t *)row)[i];
}

/* Adds a row of `before` to one of `count` sums, whose type holds the results. */
static inline void twi_add_before(void *row, tw_type type, const int64_t *before, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (type == TW_F64)
            ((double *)row)[i] += (double)before[i];
        else if (tw_type_size(type) == 4)
            ((uint32_t *)row)[i] += (uint32_t)before[i];
        else
            ((uint64_t *)row)[i] += (uint64_t)before[i];
    }
}

#endif
