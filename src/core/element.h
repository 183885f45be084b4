/* Elements by type: what an integer type holds, and how a number is stored as an element of any type. */
#ifndef TWI_ELEMENT_H
#define TWI_ELEMENT_H

#include "core/base.h"
#include "core/wide.h"

typedef struct twi_range {
    int64_t low;
    int64_t high;
} twi_range;

/* Of TW_U8 to TW_I32. */
static inline twi_range twi_range_of(tw_type type)
{
    static const twi_range ranges[] = {
        [TW_U8] = {0, UINT8_MAX},
        [TW_U16] = {0, UINT16_MAX},
        [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX},
    };
    return ranges[type];
}

/* An element of an integer type. */
static inline int64_t twi_get_integer(const void *element, tw_type type)
{
    switch (type) {
    case TW_U8:
        return *(const uint8_t *)element;
    case TW_U16:
        return *(const uint16_t *)element;
    case TW_I16:
        return *(const int16_t *)element;
    default:
        return *(const int32_t *)element;
    }
}

/* Stores an integer that the integer type holds. */
static inline void twi_put_integer(void *element, tw_type type, int64_t value)
{
    switch (type) {
    case TW_U8:
        *(uint8_t *)element = (uint8_t)value;
        break;
    case TW_U16:
        *(uint16_t *)element = (uint16_t)value;
        break;
    case TW_I16:
        *(int16_t *)element = (int16_t)value;
        break;
    default:
        *(int32_t *)element = (int32_t)value;
        break;
    }
}

/* Stores an integer result, saturated, as an element of any type. */
static inline void twi_store_integer(void *element, tw_type type, twi_i128 value)
{
    if (type == TW_F32)
        *(float *)element = twi_f32_of_wide(value);
    else if (type == TW_F64)
        *(double *)element = twi_f64_of_wide(value);
    else
        twi_put_integer(element, type, twi_saturate(value, twi_range_of(type).low, twi_range_of(type).high));
}

/* Stores a float result as an element of any type: integers by rounding half to even. */
static inline void twi_store_float(void *element, tw_type type, double value)
{
    if (type == TW_F32)
        *(float *)element = twi_canonical_f32((float)value);
    else if (type == TW_F64)
        *(double *)element = twi_canonical_f64(value);
    else
        twi_put_integer(element, type, twi_round_even(value, twi_range_of(type).low, twi_range_of(type).high));
}

#endif
