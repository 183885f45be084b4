/*
 * One level of the mean: everything that runs, for all types. Included by box_c.c, box_avx2.c and
 * box_avx512.c, which differ in the compiler's flags and, by them, in vector.h.
 *
 * The border stays out of the kernels. Rows outside are found by twi_box_row(); columns outside are
 * copied, by the halo table, beside the line that a kernel reads (slide: column sums; tree: a source
 * row) or into a small tile (small).
 */
#include "cpu/box.h"
#include "cpu/level.h"

static char *worker_scratch(const twi_box_setup *setup, const twi_job *job)
{
    return setup->workers + job->worker * setup->worker_bytes;
}

/* The first address at or after `p` that a cache line starts at. */
static void *line_aligned(void *p)
{
    return (char *)p + (TWI_LINE - (uintptr_t)p % TWI_LINE) % TWI_LINE;
}

/* ---- Integer types: T the element, ACC the sums of small windows, MEAN their quotient ------------- */

#define PLUS(a, b) ((a) + (b))
#define AS_ACC(sum) ((ACC)(sum)) /* 16-bit sums are added as int */
#define TREE3(v0, v1, v2) PLUS(v0, PLUS(v1, v2))
#define TREE5(v0, v1, v2, v3, v4) PLUS(v0, PLUS(PLUS(v1, v2), PLUS(v3, v4)))

#define NAME u8
#define T uint8_t
#ifdef LEVEL_VECTOR
#define ADD OP(add_epi16)
#define SUB OP(sub_epi16)
#define LOW(v) OP_BITS (and)(v, OP(set1_epi16)(255))
#define HIGH(v) OP(srli_epi16)(v, 8)
#define PAIR(v) OP(maddubs_epi16)(v, OP(set1_epi8)(1))
#define INPUT(v) (v)
#define OUTPUT(v) (v)
#define JOINED(even, odd) OP_BITS(or)(even, OP(slli_epi16)(odd, 8))
#define CONSTANTS                                                                                                      \
    const vec start = OP(set1_epi16)((short)setup->divider.start);                                                     \
    const vec magic = OP(set1_epi16)((short)setup->divider.magic16);                                                   \
    const __m128i shift = _mm_cvtsi32_si128(setup->divider.shift16);
#define QUOTIENT(sum)                                                                                                  \
    (plain ? OP(mulhi_epu16)(sum, magic) : OP(srl_epi16)(OP(mulhi_epu16)(OP(add_epi16)(sum, start), magic), shift))
#include "cpu/box_small_vector.tmpl.h"
#undef QUOTIENT
#undef CONSTANTS
#undef JOINED
#undef OUTPUT
#undef INPUT
#undef PAIR
#undef HIGH
#undef LOW
#undef SUB
#undef ADD
#define SUM uint16_t
#define TOTAL uint32_t
#define BITS slide16
#define START(setup) ((setup)->divider.start)
#define SLIDE_KERNEL "cpu/box_slide16_vector.tmpl.h"
#include "cpu/box_sums.tmpl.h"
#else
#define ACC uint16_t
#define WIDE(v) (v)
#define MEAN(sum) ((uint8_t)((((uint32_t)(uint16_t)((uint32_t)(sum) + d.start) * d.magic16) >> 16) >> d.shift16))
#include "cpu/box_small_plain.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#endif
#define BIAS 0
#include "cpu/box_slide.tmpl.h"
#undef BIAS
#undef T
#undef NAME

#define NAME u16
#define T uint16_t
#ifdef LEVEL_VECTOR
#define INPUT(v) (v)
#define OUTPUT(v) (v)
#include "cpu/box_small_16.tmpl.h"
#undef OUTPUT
#undef INPUT
#else
#define ACC uint32_t
#define WIDE(v) (v)
#define MEAN(sum) ((uint16_t)(((uint64_t)((sum) + d.start) * d.magic) >> d.shift))
#include "cpu/box_small_plain.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#endif
#define BIAS 0
#include "cpu/box_slide.tmpl.h"
#undef BIAS
#undef T
#undef NAME

/* i16 sums are made positive by 32768 for each element, which lowers the mean by 32768 exactly */
#define NAME i16
#define T int16_t
#ifdef LEVEL_VECTOR
#define INPUT(v) OP_BITS (xor)(v, OP(set1_epi16)(-32768))
#define OUTPUT(v) OP_BITS (xor)(v, OP(set1_epi16)(-32768))
#include "cpu/box_small_16.tmpl.h"
#undef OUTPUT
#undef INPUT
#else
#define ACC uint32_t
#define WIDE(v) ((uint32_t)(v))
#define MEAN(sum) ((int16_t)((int32_t)(((uint64_t)((sum) + d.start) * d.magic) >> d.shift) - 32768))
#include "cpu/box_small_plain.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#endif
#define BIAS 32768
#include "cpu/box_slide.tmpl.h"
#undef BIAS
#undef T
#undef NAME

/*
 * i32: sums of 25 elements are exact in f64. (sum + 1/2) / count is at least 1 / 2 count away from any
 * integer, and less than 2^-20 in error: rounding down gives the floor of sum / count.
 */
static inline int32_t floor_i32(double value)
{
    const int32_t truncated = (int32_t)value;
    return truncated - (value < truncated);
}
#define NAME i32
#define T int32_t
#define ACC double
#define WIDE(v) ((double)(v))
#define MEAN(sum) floor_i32(((sum) + ((double)d.half + 0.5)) * d.inverse)
#include "cpu/box_small_plain.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#include "cpu/box_slide.tmpl.h"
#undef T
#undef NAME

/* ---- Float types: sums in the order of exact.h ----------------------------------------------------- */

typedef double *plain_line;

#define NAME f32
#define T float
#define ACC double
#define WIDE(v) ((double)(v))
#define MEAN(sum) twi_mean_f32(sum, d.inverse)
#if defined(__AVX512BW__)
#include "cpu/box_small_f32.tmpl.h"
#define OWN_SMALL3
#endif
#include "cpu/box_small_plain.tmpl.h"
#undef OWN_SMALL3
#define LINE plain_line
#define PARTS 1
#define LINE_AT(memory, n) (memory)
#define MOVED(line, n) ((line) + (n))
#define GET(line, x) ((line)[x])
#define SET(line, x, sum) ((line)[x] = (sum))
#include "cpu/box_tree.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#undef T
#undef NAME

#undef PLUS
#undef AS_ACC
#define PLUS(a, b) twi_pair_add(a, b)
#define AS_ACC(sum) (sum)
typedef struct pair_line {
    double *high;
    double *low;
} pair_line;

static inline void pair_set(pair_line line, int64_t x, twi_pair sum)
{
    line.high[x] = sum.high;
    line.low[x] = sum.low;
}

#define NAME f64
#define T double
#define ACC twi_pair
#define WIDE(v) twi_pair_of(v)
#define MEAN(sum) twi_mean_f64(sum, (double)d.count)
#include "cpu/box_small_plain.tmpl.h"
#define LINE pair_line
#define PARTS 2
#define LINE_AT(memory, n) ((pair_line){memory, (memory) + (n)})
#define MOVED(line, n) ((pair_line){(line).high + (n), (line).low + (n)})
#define GET(line, x) ((twi_pair){(line).high[x], (line).low[x]})
#define SET(line, x, sum) pair_set(line, x, sum)
#include "cpu/box_tree.tmpl.h"
#undef WIDE
#undef MEAN
#undef ACC
#undef T
#undef NAME
#undef PLUS

typedef void run_function(const twi_box_setup *setup, const twi_job *job);

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    static run_function *const functions[TW_TYPE_COUNT][TWI_BOX_TREE + 1] = {
#ifdef LEVEL_VECTOR
        [TW_U8][TWI_BOX_SLIDE16] = run_slide16_u8,
#endif
        [TW_U8][TWI_BOX_SMALL] = run_small_u8,       [TW_U8][TWI_BOX_SLIDE32] = run_slide32_u8,
        [TW_U8][TWI_BOX_SLIDE64] = run_slide64_u8,   [TW_U16][TWI_BOX_SMALL] = run_small_u16,
        [TW_U16][TWI_BOX_SLIDE32] = run_slide32_u16, [TW_U16][TWI_BOX_SLIDE64] = run_slide64_u16,
        [TW_I16][TWI_BOX_SMALL] = run_small_i16,     [TW_I16][TWI_BOX_SLIDE32] = run_slide32_i16,
        [TW_I16][TWI_BOX_SLIDE64] = run_slide64_i16, [TW_I32][TWI_BOX_SMALL] = run_small_i32,
        [TW_I32][TWI_BOX_SLIDE64] = run_slide64_i32, [TW_F32][TWI_BOX_SMALL] = run_small_f32,
        [TW_F32][TWI_BOX_TREE] = run_tree_f32,       [TW_F64][TWI_BOX_SMALL] = run_small_f64,
        [TW_F64][TWI_BOX_TREE] = run_tree_f64,
    };
    const twi_box_setup *setup = plan->scratch;
    functions[plan->problem.type][setup->method](setup, job);
    finish_stream(setup->stream);
    return TW_OK;
}
