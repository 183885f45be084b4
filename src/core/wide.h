/* Integers of 128 bits as floats, for C and CUDA as exact.h: rounded once, whatever a compiler makes of such a cast. */
#ifndef TWI_WIDE_H
#define TWI_WIDE_H

#include "core/exact.h"

/* An integer of 64 bits that, times `scale`, a power of two, rounds as `value` does: what was shifted out is in its
   last bit, which lies far below those that a float keeps. */
TWI_EXACT int64_t twi_highest_bits(twi_i128 value, double *scale)
{
    *scale = 1;
    while (value != (int64_t)value) {
        value = value >> 1 | (value & 1);
        *scale *= 2;
    }
    return (int64_t)value;
}

TWI_EXACT float twi_f32_of_wide(twi_i128 value)
{
    double scale;
    const int64_t bits = twi_highest_bits(value, &scale);
    return (float)bits * (float)scale;
}

TWI_EXACT double twi_f64_of_wide(twi_i128 value)
{
    double scale;
    const int64_t bits = twi_highest_bits(value, &scale);
    return (double)bits * scale;
}

#endif
