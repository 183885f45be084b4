/*
 * The semantics as code that C and CUDA both include: where a border position reads, how a mean is
 * rounded, in which order floats are added. One definition, so both sides agree by construction.
 */
#ifndef TWI_EXACT_H
#define TWI_EXACT_H

#include <stdint.h>

#ifdef __CUDACC__
#define TWI_EXACT static __host__ __device__ __forceinline__
#else
#define TWI_EXACT static inline
#endif

/* The borders by number, equal to tw_border_mode (status.c asserts it): .cu files do not include the
   public header. */
enum { TWI_ZERO, TWI_CONSTANT, TWI_REPLICATE, TWI_REFLECT, TWI_MIRROR, TWI_WRAP };

/* The index in 0 ... n-1 that position i reads, or -1 where the border's value is read instead.
   The rule is applied as often as needed, so any i is legal. */
TWI_EXACT int64_t twi_border_index(int64_t i, int64_t n, int border)
{
    int64_t period;
    if (i >= 0 && i < n)
        return i;
    switch (border) {
    case TWI_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case TWI_REFLECT: /* abcd|dcba repeats every 2n */
        period = 2 * n;
        i %= period;
        i = i < 0 ? i + period : i;
        return i < n ? i : period - 1 - i;
    case TWI_MIRROR: /* abcd|cb repeats every 2n - 2 */
        if (n == 1)
            return 0;
        period = 2 * n - 2;
        i %= period;
        i = i < 0 ? i + period : i;
        return i < n ? i : period - i;
    case TWI_WRAP:
        i %= n;
        return i < 0 ? i + n : i;
    default:
        return -1;
    }
}

/* floor(sum / n), or floor((2 sum + n) / 2n) for nearest, ties up. n >= 1. The second equals
   floor((sum + n/2) / n) with n/2 rounded down, which cannot overflow for any window of 32-bit pixels. */
TWI_EXACT int64_t twi_mean_integer(int64_t sum, int64_t n, int nearest)
{
    int64_t quotient, remainder;
    if (nearest)
        sum += n / 2;
    quotient = sum / n;
    remainder = sum % n;
    return remainder < 0 ? quotient - 1 : quotient;
}

/* ---- Correlation: wide integers, division, saturation --------------------------------------- */

__extension__ typedef __int128 twi_i128;

/* floor(sum / divisor), or floor((2 sum + divisor) / (2 divisor)) for nearest, ties up. divisor is not 0. */
TWI_EXACT twi_i128 twi_quotient(twi_i128 sum, int64_t divisor, int nearest)
{
    const twi_i128 by = divisor < 0 ? -(twi_i128)divisor : divisor;
    twi_i128 quotient;
    if (divisor < 0)
        sum = -sum;
    if (nearest)
        sum += by / 2;
    quotient = sum / by;
    return sum % by < 0 ? quotient - 1 : quotient;
}

TWI_EXACT int64_t twi_saturate(twi_i128 value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : (int64_t)value;
}

/* Any NaN becomes the one quiet NaN: processors differ in which payload and sign they keep. */
TWI_EXACT float twi_canonical_f32(float value)
{
    union {
        uint32_t bits;
        float value;
    } nan = {0x7fc00000u};
    return value == value ? value : nan.value;
}

TWI_EXACT double twi_canonical_f64(double value)
{
    union {
        uint64_t bits;
        double value;
    } nan = {0x7ff8000000000000u};
    return value == value ? value : nan.value;
}

/* The nearest integer, ties to even, between low and high; 0 for NaN. */
TWI_EXACT int64_t twi_round_even(double value, int64_t low, int64_t high)
{
    if (!(value == value))
        return 0;
    value = __builtin_rint(value);
    return value <= (double)low ? low : value >= (double)high ? high : (int64_t)value;
}

/* ---- Order: floats as integers --------------------------------------------------------------- */

/* Keys whose order as integers is -inf < ... < -0 < +0 < ... < inf < NaN; all NaN have one key. The map is its own
   inverse but for NaN, which comes back as the canonical one. */
TWI_EXACT int32_t twi_key_f32(uint32_t bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        bits = 0x7fc00000u;
    return (int32_t)(bits & 0x80000000u ? bits ^ 0x7fffffffu : bits);
}

TWI_EXACT uint32_t twi_unkey_f32(int32_t key)
{
    return key < 0 ? (uint32_t)key ^ 0x7fffffffu : (uint32_t)key;
}

TWI_EXACT int64_t twi_key_f64(uint64_t bits)
{
    if ((bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
        bits = 0x7ff8000000000000u;
    return (int64_t)(bits & 0x8000000000000000u ? bits ^ 0x7fffffffffffffffu : bits);
}

TWI_EXACT uint64_t twi_unkey_f64(int64_t key)
{
    return key < 0 ? (uint64_t)key ^ 0x7fffffffffffffffu : (uint64_t)key;
}

/* The element that a key of f64 stands for. */
TWI_EXACT double twi_value_of_key(int64_t key)
{
    union {
        uint64_t bits;
        double value;
    } element = {twi_unkey_f64(key)};
    return element.value;
}

/* ---- Mean of floats ---------------------------------------------------------------------------- */

/*
 * Float sums. The values v[0] ... v[n-1] are cut, from the left, into blocks of 2^k values, one for each bit
 * of n, the smallest first; a block is summed pairwise (its left half + its right half), then the
 * blocks are added from the left. So 3 values are v0 + (v1 + v2), 5 are v0 + ((v1 + v2) + (v3 + v4)).
 * The shape depends on n alone: not on the position, the device or the tile.
 * A window is summed along its rows first, then the row sums along the column, both by this rule.
 */

/* An f64 sum with the error of its additions beside it: as good as twice the precision. An f32 image
   needs only the first part: f32 values are summed in f64. */
typedef struct twi_pair {
    double high; /* the plain sum */
    double low;  /* the sum of what its additions lost */
} twi_pair;

TWI_EXACT twi_pair twi_pair_of(double value)
{
    twi_pair pair;
    pair.high = value;
    pair.low = 0;
    return pair;
}

/* Knuth's two-sum gives the error of an addition exactly, whatever the magnitudes (The Art of
   Computer Programming, vol. 2, 4.2.2, theorem B). */
TWI_EXACT twi_pair twi_pair_add(twi_pair a, twi_pair b)
{
    twi_pair sum;
    double part;
    sum.high = a.high + b.high;
    part = sum.high - a.high;
    sum.low = (a.low + b.low) + ((a.high - (sum.high - part)) + (b.high - part));
    return sum;
}

/* The mean of an f32 window from its f64 sum and 1.0 / count. Any NaN becomes the one quiet NaN, since
   processors differ in which payload and sign they keep. */
TWI_EXACT float twi_mean_f32(double sum, double inverse)
{
    return twi_canonical_f32((float)(sum * inverse));
}

/* The mean of an f64 window: the quotient and its correction by the remainder (needs a true fma). */
TWI_EXACT double twi_mean_f64(twi_pair sum, double count)
{
    double quotient = sum.high / count;
    /* an infinite or NaN sum has no error part: it would turn infinities into NaN */
    if (!(sum.high - sum.high == 0))
        return twi_canonical_f64(sum.high);
    return quotient + (__builtin_fma(-quotient, count, sum.high) + sum.low) / count;
}

/* ---- Reductions -------------------------------------------------------------------------------- */

/*
 * The f64 sum of a sequence of values. It is cut into leaves of TWI_LEAF values, of which the last may be shorter. A
 * leaf has TWI_LANES lanes, which start at +0; value i is added to lane i mod TWI_LANES, in ascending order. Then lane
 * j + 64 is added to lane j for every j below 64, lane j + 32 for every j below 32, and so on: lane 0 is the leaf's
 * sum. The sums of the leaves are a sequence again, until there is one.
 * A row's sum is that of its pixels, an image's sum that of its rows' sums. A column is cut into groups of TWI_GROUP
 * pixels, added in ascending order from +0; the column's sum is that of the sums of its groups.
 * A lane without a value holds +0, which changes no sum: what began at +0 is never -0.
 */
enum { TWI_LEAF = 4096, TWI_LANES = 128, TWI_GROUP = 32 };

/* A leaf's sum. */
TWI_EXACT double twi_fold_lanes(double *lanes)
{
    for (int half = TWI_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return lanes[0];
}

/* tw_figure and tw_stats (status.c asserts it). */
enum {
    TWI_SUM = 1,
    TWI_MEAN = 2,
    TWI_VAR = 4,
    TWI_STD = 8,
    TWI_MIN = 16,
    TWI_MAX = 32,
    TWI_ARGMIN = 64,
    TWI_ARGMAX = 128,
    TWI_COUNT_NONZERO = 256,
    TWI_SQUARES = 512
};

typedef struct twi_stats {
    uint64_t sum_low;
    int64_t sum_high;
    double sum;
    double mean;
    double var;
    double std;
    double min;
    double max;
    int64_t argmin_x;
    int64_t argmin_y;
    int64_t argmax_x;
    int64_t argmax_y;
    uint64_t count_nonzero;
} twi_stats;

/* A record that has all that its figures are made of becomes the one that the caller gets: one quiet NaN, the root,
   and 0 for what was not asked for. */
TWI_EXACT void twi_stats_finish(int figures, twi_stats *stats)
{
    stats->sum_low = figures & TWI_SUM ? stats->sum_low : 0;
    stats->sum_high = figures & TWI_SUM ? stats->sum_high : 0;
    stats->sum = figures & TWI_SUM ? twi_canonical_f64(stats->sum) : 0;
    stats->mean = figures & TWI_MEAN ? twi_canonical_f64(stats->mean) : 0;
    stats->std = figures & TWI_STD ? twi_canonical_f64(__builtin_sqrt(stats->var)) : 0;
    stats->var = figures & (TWI_VAR | TWI_SQUARES) ? twi_canonical_f64(stats->var) : 0;
    stats->min = figures & TWI_MIN ? stats->min : 0;
    stats->max = figures & TWI_MAX ? stats->max : 0;
    stats->argmin_x = figures & TWI_ARGMIN ? stats->argmin_x : 0;
    stats->argmin_y = figures & TWI_ARGMIN ? stats->argmin_y : 0;
    stats->argmax_x = figures & TWI_ARGMAX ? stats->argmax_x : 0;
    stats->argmax_y = figures & TWI_ARGMAX ? stats->argmax_y : 0;
    stats->count_nonzero = figures & TWI_COUNT_NONZERO ? stats->count_nonzero : 0;
}

/* ---- Running sums -------------------------------------------------------------------------------- */

/*
 * The f64 running sums of a line of values, which is cut, from the left, into tiles of TWI_SCAN_TILE values, and those
 * into quads of 4. A quad v0 v1 v2 v3 has the sums
 *     r0 = v0,  r1 = v0 + v1,  r2 = r1 + v2,  r3 = r1 + (v2 + v3).
 * What lies before each of a tile's quads, q, is found from their totals r3 by the scheme of Hillis and Steele: to the
 * total of every quad l at once that of quad l - d is added (on its left) where there is one, for d = 1, 2, 4, 8, 16;
 * then q of quad l is what quad l - 1 has, and +0 for quad 0. What the last quad has is the tile's total.
 * TWI_SCAN_TILE tiles are a span. Their totals are scanned as the values of a tile are; x of a tile is the exclusive
 * sum q + r there. The totals of spans are added from the left, beginning with +0: g is what lies before a span.
 * The running sum that includes value j of a quad is ((g + x) + q) + r_j, the one that excludes it ((g + x) + q) +
 * r_j-1, where r_-1 is +0. As all begins with +0, values that are missing at the end might as well be +0. A column is
 * cut into groups of TWI_GROUP pixels, added in ascending order from +0; the totals of groups are added likewise, and
 * each running sum is that of the groups before and that in the group. An integral is the running sums of columns of
 * the running sums of rows.
 */
enum { TWI_SCAN_QUADS = 32, TWI_SCAN_TILE = 4 * TWI_SCAN_QUADS, TWI_SCAN_SPAN = TWI_SCAN_TILE * TWI_SCAN_TILE };

#endif
