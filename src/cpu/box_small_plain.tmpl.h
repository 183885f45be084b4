/*
 * The kernels of small windows as loops that compilers vectorise. NAME, T, ACC, WIDE(), AS_ACC(), MEAN() and the
 * TREE macros are the includer's.
 *
 * They give output elements 0 ... n-1 of four rows. Window row j of output row i is rows[i + j], which points at the
 * first tap of element 0. The sums of rows are shared between the four. OWN_SMALL3: the includer has the 3x3 kernel,
 * which stores past the cache itself.
 */
#ifndef OWN_SMALL3
static void JOIN(small3, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup, bool stream)
{
    const twi_box_divider d = setup->divider;
    const int64_t c = setup->channels;
    const T *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2];
    const T *const r3 = rows[3], *const r4 = rows[4], *const r5 = rows[5];
    T *const o0 = out[0], *const o1 = out[1], *const o2 = out[2], *const o3 = out[3];
    (void)stream;
#define ROW_SUM(r) AS_ACC(TREE3(WIDE(r[x]), WIDE(r[x + c]), WIDE(r[x + 2 * c])))
#pragma omp simd
    for (int64_t x = 0; x < n; x++) {
        const ACC s0 = ROW_SUM(r0), s1 = ROW_SUM(r1), s2 = ROW_SUM(r2);
        const ACC s3 = ROW_SUM(r3), s4 = ROW_SUM(r4), s5 = ROW_SUM(r5);
        o0[x] = MEAN(TREE3(s0, s1, s2));
        o1[x] = MEAN(TREE3(s1, s2, s3));
        o2[x] = MEAN(TREE3(s2, s3, s4));
        o3[x] = MEAN(TREE3(s3, s4, s5));
    }
#undef ROW_SUM
}
#endif

static void JOIN(small5, NAME)(const T *const *rows, T *const *out, int64_t n, const twi_box_setup *setup, bool stream)
{
    const twi_box_divider d = setup->divider;
    const int64_t c = setup->channels;
    const T *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3];
    const T *const r4 = rows[4], *const r5 = rows[5], *const r6 = rows[6], *const r7 = rows[7];
    T *const o0 = out[0], *const o1 = out[1], *const o2 = out[2], *const o3 = out[3];
    (void)stream;
#define ROW_SUM(r) AS_ACC(TREE5(WIDE(r[x]), WIDE(r[x + c]), WIDE(r[x + 2 * c]), WIDE(r[x + 3 * c]), WIDE(r[x + 4 * c])))
#pragma omp simd
    for (int64_t x = 0; x < n; x++) {
        const ACC s0 = ROW_SUM(r0), s1 = ROW_SUM(r1), s2 = ROW_SUM(r2), s3 = ROW_SUM(r3);
        const ACC s4 = ROW_SUM(r4), s5 = ROW_SUM(r5), s6 = ROW_SUM(r6), s7 = ROW_SUM(r7);
        o0[x] = MEAN(TREE5(s0, s1, s2, s3, s4));
        o1[x] = MEAN(TREE5(s1, s2, s3, s4, s5));
        o2[x] = MEAN(TREE5(s2, s3, s4, s5, s6));
        o3[x] = MEAN(TREE5(s3, s4, s5, s6, s7));
    }
#undef ROW_SUM
}

#ifdef OWN_SMALL3
#define KERNEL_STREAMS (setup->window.height == TWI_BOX_SMALLEST)
#else
#define KERNEL_STREAMS false
#endif
#include "cpu/box_small.tmpl.h"
#undef KERNEL_STREAMS
