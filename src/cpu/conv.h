/*
 * Correlation, separable convolution and Gaussian on the CPU, shared by their levels (plain C, AVX2, AVX-512): what a
 * plan prepares, once. The levels are one template compiled three times: conv_c.c, conv_avx2.c, conv_avx512.c.
 *
 * Output rows are computed in bands of TWI_CONV_BAND, in strips of columns. Source rows come into a ring of lines,
 * with their borders, in the form that the inner loop wants (twi_conv_unit). A separable filter puts the results of
 * its row pass there instead. Then one inner loop serves all: sums of lines, shifted and weighted.
 */
#ifndef TWI_CPU_CONV_H
#define TWI_CPU_CONV_H

#include "cpu/rows.h"

/* What a line's elements, the weights and the sums are. Integer sums are modular: only the whole sum must fit. */
typedef enum twi_conv_unit {
    TWI_CONV_BYTES, /* an element is 4 u8 of 4 rows, a weight 4 bytes; sums of 32 bits (vector levels only) */
    TWI_CONV_WORDS, /* an element is 2 i16 of 2 rows, a weight 2 i16; sums of 32 bits (vector levels only) */
    TWI_CONV_PAIRS, /* an element is an u8, a tap has two of them; sums of 16 bits (vector levels only) */
    TWI_CONV_FIVE,  /* an element is an u8; sums of 32 bits with a 5x5 mask of bytes (AVX-512 only) */
    TWI_CONV_FOLD,  /* the row pass of the fixed-point Gaussian: an element is an u8 (vector levels only) */
    TWI_CONV_NEAR,  /* the same for few taps */
    TWI_CONV_SIDES, /* the same for 5x5 taps and one channel (AVX-512 only) */
    TWI_CONV_I32,
    TWI_CONV_I64,
    TWI_CONV_I128, /* weights of 64 bits */
    TWI_CONV_F32,  /* sums by fma in row-major order */
    TWI_CONV_F64,
    TWI_CONV_UNITS
} twi_conv_unit;

typedef enum twi_conv_level { TWI_CONV_C, TWI_CONV_AVX2, TWI_CONV_AVX512 } twi_conv_level;

enum {
    TWI_CONV_BAND = 4,    /* output rows computed together: they share the loads of the lines */
    TWI_CONV_CHUNK = 512, /* elements of a row whose sums stay in the L1 cache */
    TWI_CONV_TILE = 64    /* elements that a kernel computes at least, and the slack of every line */
};

/* One shifted line, and the rows of the band that it belongs to (a bit each). */
typedef struct twi_conv_tap {
    int32_t line;
    int32_t offset;
    int32_t second; /* TWI_CONV_PAIRS: the offset of the other element */
    uint32_t rows;
} twi_conv_tap;

/* A sum of shifted lines. */
typedef struct twi_conv_pass {
    twi_conv_unit unit;
    int32_t width;
    int32_t height;
    int64_t count; /* of taps */
    twi_conv_tap *taps;
    void *weights; /* TWI_CONV_BAND for each tap */
    bool whole;    /* taps of weight 0 are there */
    int64_t start; /* what integer sums begin with */
} twi_conv_pass;

/* The weights of TWI_CONV_NEAR: two taps, and where in a block of 16 bytes each lane of 32 bits has its elements. */
typedef struct twi_conv_near {
    uint8_t order[16];
    int16_t weights[2];
} twi_conv_near;

/* The weights of TWI_CONV_SIDES: for the window's bytes 0 and 2, 2 and 4, 1 and 3. */
typedef struct twi_conv_sides {
    int16_t left[2];
    int16_t right[2];
    int16_t inner[2];
} twi_conv_sides;

/* Correlation of u8 in 16 bits: conv_pairs.c says when it is exact. */
typedef struct twi_conv_pairs {
    int32_t count;                    /* of columns that are not all 0, made even by one that is there already */
    int32_t columns[TW_MAX_MASK + 1]; /* neighbours in this list are added in pairs */
    int32_t start;                    /* makes every sum positive, and rounds it */
    int32_t magic;                    /* the quotient is (sum * magic) >> 16 >> shift; 0: the sum */
    int32_t shift;
    int32_t take; /* from the quotient, for the result */
} twi_conv_pairs;

/* How the 32-bit levels divide: conv_finish_vector.tmpl.h says why each is exact. */
typedef enum twi_conv_division {
    TWI_CONV_SHORT, /* sums of 16 bits: twi_conv_pairs */
    TWI_CONV_SHIFT, /* a power of two, 1 too */
    TWI_CONV_FLOAT, /* sums below 2^22 */
    TWI_CONV_DOUBLE
} twi_conv_division;

/* From sums to results: floor((sum + half) / divisor) + offset; floats sum / divisor + offset. */
typedef struct twi_conv_scale {
    int64_t divisor; /* positive: the weights carry its sign; `half` is in the pass's start already */
    int64_t offset;
    twi_conv_division division;
    int shift;
    twi_conv_pairs pairs;
    bool inverts; /* dividing by float_divisor is multiplying by its inverse, to the last bit */
    double float_divisor;
    double float_offset;
} twi_conv_scale;

typedef struct twi_conv_setup {
    bool separable;    /* a row pass fills the ring, `main` is the column pass */
    bool fixed;        /* the Gaussian of u8: rows of 8.8 bits, sums of 24 fractional bits */
    twi_conv_pass row; /* */
    twi_conv_pass main;
    twi_conv_scale scale;
    tw_type type;
    tw_type out_type;
    int64_t elements;    /* of a row */
    int64_t before;      /* elements that a window reads to the left of its own, and in all beside its own */
    int64_t beside;      /* */
    int64_t inner_first; /* elements inner_first ... inner_end - 1 are computed from the source's rows in place: */
    int64_t inner_end;   /* no window there, nor what a kernel loads beside it, reaches over a row's ends */
    int64_t channels;
    int64_t anchor_y;
    int border;
    bool copies_ends; /* instead: no strips of their own at a row's ends, but a copy of these, if that pays */
    bool stream;      /* the output is larger than the cache: store past it */
    int64_t strip;    /* columns computed together, in elements */
    int64_t quartets; /* the ring's groups of TWI_CONV_BAND rows */
    /* All below lies in the plan's scratch. */
    const int64_t *halo; /* the element that each of those beside a row reads, or -1 */
    const void *outside; /* elements of the border's value, enough for a strip and its halo */
    char *workers;
    int64_t worker_bytes;
    int64_t edge_at; /* in a worker's scratch: what four rows read beside the image */
    int64_t wide_at;
    int64_t ring_at;
    int64_t sums_at;
    int64_t stage_at;
    int64_t lines_at; /* pointers to the lines of a band */
} twi_conv_setup;

/* Rows that one line of the unit holds, and bytes of its element, weight and sum. */
typedef struct twi_conv_layout {
    int rows;
    int element;
    int weight;
    int sum;
} twi_conv_layout;

extern const twi_conv_layout twi_conv_layouts[TWI_CONV_UNITS];

/* Elements from a line to the next: no power of two, where all lines would share one set of the cache. */
static inline int64_t twi_conv_pitch(int64_t elements)
{
    return elements + 3 * TWI_CONV_TILE;
}

/* Bytes of TWI_CONV_BAND rows in the ring. */
static inline int64_t twi_conv_quartet_bytes(const twi_conv_setup *setup)
{
    const twi_conv_layout *layout = &twi_conv_layouts[setup->main.unit];
    return twi_conv_pitch(setup->strip + (setup->separable ? 0 : setup->beside)) * layout->element * TWI_CONV_BAND /
           layout->rows;
}

/* How a problem is computed. */
typedef struct twi_conv_choice {
    bool separable;
    bool fixed;
    bool small; /* integer sums, with half the divisor, stay below 2^22 */
    twi_conv_unit row;
    twi_conv_unit main;
    int64_t row_values[TW_MAX_MASK]; /* integer masks that are done as a row and a column */
    int64_t column_values[TW_MAX_MASK];
    bool short_sums;      /* of TWI_CONV_PAIRS, and of TWI_CONV_FIVE where they do: `pairs` */
    twi_conv_pairs pairs; /* */
} twi_conv_choice;

/* Whether sums of 16 bits are enough for a correlation with an integer mask, and how. */
bool twi_conv_find_pairs(const tw_problem *problem, twi_conv_pairs *pairs);
/* Whether two products of a byte and one of these weights fit into 16 bits together. */
bool twi_conv_fits_pair(int64_t a, int64_t b);

void twi_conv_choose(const tw_problem *problem, twi_conv_level level, twi_conv_choice *choice);
/* The largest weight of the unit: larger ones are cut into several taps. */
int64_t twi_conv_piece(twi_conv_unit unit, twi_conv_level level);

tw_status twi_conv_prepare(tw_plan *plan, twi_conv_level level);
void twi_conv_release(tw_plan *plan);
double twi_conv_cost(const tw_context *context, const tw_problem *problem, twi_conv_level level);

#endif
