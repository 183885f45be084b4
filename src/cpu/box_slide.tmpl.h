/* Sliding sums for one integer type NAME, T. BIAS is what makes its elements positive; not defined: only in 64 bits. */

#ifdef BIAS
#define SUM uint32_t /* modular: differences may pass below 0 */
#define TOTAL uint32_t
#define BITS slide32
#define QUOTIENT(sum) ((T)((int32_t)(((uint64_t)(sum)*d.magic) >> d.shift) - BIAS))
#define START(setup) ((setup)->divider.start)
#ifdef LEVEL_VECTOR
#define SLIDE_KERNEL "cpu/box_slide_vector.tmpl.h"
#else
#define SLIDE_KERNEL "cpu/box_slide_plain.tmpl.h"
#endif
#include "cpu/box_sums.tmpl.h"
#endif

/*
 * The f64 quotient is within 2^-19 of the true one, as any mean is below 2^32 and each of the roundings
 * adds 2^-53 of it. So its integer part is off by at most 1, which the remainder shows.
 */
static inline T JOIN(quotient64, NAME)(int64_t sum, int64_t count, double inverse)
{
    const int64_t quotient = (int64_t)((double)sum * inverse);
    const int64_t remainder = sum - quotient * count;
    return (T)(quotient + (remainder >= count) - (remainder < 0));
}
#define SUM int64_t
#define TOTAL int64_t
#define BITS slide64
#define QUOTIENT(sum) JOIN(quotient64, NAME)(sum, d.count, d.inverse)
#define START(setup) ((setup)->divider.half)
#define SLIDE_KERNEL "cpu/box_slide_plain.tmpl.h"
#include "cpu/box_sums.tmpl.h"
