/*
 * The kernels of small windows (box_small_plain.tmpl.h says what they compute) for 8- and 16-bit elements. A vector of
 * elements is added as two vectors of double width, its even and its odd elements: that needs a mask or a shift each,
 * where unpacking in order needs shuffles. With one channel a load at an even distance serves both.
 *
 * The includer's: NAME, T, ADD and SUB of the wide lanes, LOW() and HIGH() (the even and odd elements), JOINED(even,
 * odd), PAIR() (even + odd), QUOTIENT(sum) (simpler where `plain`: nothing to add or shift), INPUT() and OUTPUT() (the
 * element's bias), CONSTANTS.
 */
typedef struct JOIN(halves, NAME) {
    vec even;
    vec odd;
} JOIN(halves, NAME);
#define HALVES JOIN(halves, NAME)

INLINE HALVES JOIN(row_sum, NAME)(const T *p, int64_t c, int side)
{
    HALVES sum;
    if (c == 1 && side == 3) {
        const vec a = INPUT(v_load(p)), b = INPUT(v_load(p + 2));
        const vec middle = ADD(HIGH(a), LOW(b));
        sum.even = ADD(LOW(a), middle);
        sum.odd = ADD(middle, HIGH(b));
        return sum;
    }
    if (c == 1) {
        const vec a = INPUT(v_load(p)), b = INPUT(v_load(p + 2)), e = INPUT(v_load(p + 4));
        const vec middle = PAIR(b);
        sum.even = ADD(ADD(PAIR(a), middle), LOW(e));
        sum.odd = ADD(ADD(HIGH(a), middle), PAIR(e));
        return sum;
    }
    const vec first = INPUT(v_load(p));
    sum.even = LOW(first);
    sum.odd = HIGH(first);
    for (int i = 1; i < side; i++) {
        const vec next = INPUT(v_load(p + i * c));
        sum.even = ADD(sum.even, LOW(next));
        sum.odd = ADD(sum.odd, HIGH(next));
    }
    return sum;
}

INLINE HALVES JOIN(plus, NAME)(HALVES a, HALVES b)
{
    a.even = ADD(a.even, b.even);
    a.odd = ADD(a.odd, b.odd);
    return a;
}

INLINE HALVES JOIN(minus, NAME)(HALVES a, HALVES b)
{
    a.even = SUB(a.even, b.even);
    a.odd = SUB(a.odd, b.odd);
    return a;
}

INLINE void JOIN(small_lines, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup,
                                    int64_t c, int side, bool plain, bool stream)
{
    const T *r[TWI_BOX_BAND + TWI_BOX_LARGEST - 1];
    T *o[TWI_BOX_BAND];
    CONSTANTS(void) plain;
    for (int i = 0; i < TWI_BOX_BAND + side - 1; i++)
        r[i] = rows[i];
    for (int i = 0; i < TWI_BOX_BAND; i++)
        o[i] = out[i];
    for (int64_t x = 0; x < n; x += VEC / (int64_t)sizeof(T)) {
        HALVES s[TWI_BOX_BAND + TWI_BOX_LARGEST - 1];
        HALVES sum[TWI_BOX_BAND];
        for (int i = 0; i < TWI_BOX_BAND + side - 1; i++)
            s[i] = JOIN(row_sum, NAME)(r[i] + x, c, side);
        if (side == 3) {
            const HALVES upper = JOIN(plus, NAME)(s[1], s[2]), lower = JOIN(plus, NAME)(s[3], s[4]);
            sum[0] = JOIN(plus, NAME)(upper, s[0]);
            sum[1] = JOIN(plus, NAME)(upper, s[3]);
            sum[2] = JOIN(plus, NAME)(lower, s[2]);
            sum[3] = JOIN(plus, NAME)(lower, s[5]);
        } else {
            sum[0] =
                JOIN(plus, NAME)(JOIN(plus, NAME)(JOIN(plus, NAME)(s[0], s[1]), JOIN(plus, NAME)(s[2], s[3])), s[4]);
            for (int i = 1; i < TWI_BOX_BAND; i++)
                sum[i] = JOIN(plus, NAME)(sum[i - 1], JOIN(minus, NAME)(s[i + 4], s[i - 1]));
        }
        for (int i = 0; i < TWI_BOX_BAND; i++)
            v_put(o[i] + x, OUTPUT(JOINED(QUOTIENT(sum[i].even), QUOTIENT(sum[i].odd))), stream);
    }
}

/* One code for each side, for one channel and for more, and for sums that need neither start nor shift. */
INLINE void JOIN(small_side, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup, int side,
                                   bool stream)
{
    const bool plain = setup->divider.start == 0 && setup->divider.shift16 == 0;
    if (setup->channels == 1 && plain)
        JOIN(small_lines, NAME)(rows, out, n, setup, 1, side, true, stream);
    else if (setup->channels == 1)
        JOIN(small_lines, NAME)(rows, out, n, setup, 1, side, false, stream);
    else
        JOIN(small_lines, NAME)(rows, out, n, setup, setup->channels, side, false, stream);
}

static void JOIN(small3, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup, bool stream)
{
    JOIN(small_side, NAME)(rows, out, n, setup, 3, stream);
}

static void JOIN(small5, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup, bool stream)
{
    JOIN(small_side, NAME)(rows, out, n, setup, 5, stream);
}

#undef HALVES

#define KERNEL_STREAMS true
#include "cpu/box_small.tmpl.h"
#undef KERNEL_STREAMS
