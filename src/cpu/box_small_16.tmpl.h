/*
 * The vector kernels of small windows for u16 and i16; the latter's elements are made positive by INPUT() and
 * back by OUTPUT(), which the floor allows: the mean of x + 32768 is that of x, plus 32768.
 *
 * The quotient in f32: sums of 25 elements are below 2^24, so exact, and (sum + 1/2) / count is at least 1 / 50 from
 * any integer; the two roundings move it by less than 65536 * 2^-23.
 */
#define ADD OP(add_epi32)
#define SUB OP(sub_epi32)
#define LOW(v) OP_BITS (and)(v, OP(set1_epi32)(0xffff))
#define HIGH(v) OP(srli_epi32)(v, 16)
#define PAIR(v) ADD(LOW(v), HIGH(v))
#define JOINED(even, odd) OP_BITS(or)(even, OP(slli_epi32)(odd, 16))
#define CONSTANTS                                                                                                      \
    const float inverse = (float)setup->divider.inverse;                                                               \
    const vec_float factor = OP(set1_ps)(inverse);                                                                     \
    const vec_float start = OP(set1_ps)(((float)setup->divider.half + 0.5f) * inverse);
#define QUOTIENT(sum) OP(cvttps_epi32)(OP(fmadd_ps)(OP(cvtepi32_ps)(sum), factor, start))
#include "cpu/box_small_vector.tmpl.h"
#undef QUOTIENT
#undef CONSTANTS
#undef JOINED
#undef PAIR
#undef HIGH
#undef LOW
#undef SUB
#undef ADD
