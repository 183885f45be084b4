/* Integer masks on u8 images as the fast kernels take them: how values are cut, how sums are divided. */
#include "cuda/planes.h"

#include <math.h>

/* Offsets beyond this leave no room beside a quotient in 32 bits. */
static const int64_t highest_offset = (int64_t)1 << 29;
static const int64_t float_limit = (int64_t)1 << 23;
/* 2^23 as a float: its last bits count. */
static const int32_t float_bits = 0x4b000000;

static int64_t taps_of(const tw_problem *problem)
{
    return (int64_t)problem->window.width * problem->window.height;
}

int64_t twi_cuda_weight(const tw_problem *problem, int64_t tap)
{
    const int64_t value = problem->mask.integers[tap];
    return problem->divisor < 0 ? -value : value;
}

bool twi_cuda_cut(int64_t weight, int planes, uint8_t *bytes)
{
    for (int plane = planes - 1; plane >= 0; plane--) {
        bytes[plane] = (uint8_t)weight;
        weight = (weight - (int8_t)bytes[plane]) / 256;
    }
    return weight == 0;
}

int twi_cuda_planes(const tw_problem *problem)
{
    uint8_t bytes[TWI_CUDA_MOST_PLANES];
    int planes = 1;
    for (int64_t tap = 0; tap < taps_of(problem); tap++)
        while (planes < TWI_CUDA_MOST_PLANES && !twi_cuda_cut(twi_cuda_weight(problem, tap), planes, bytes))
            planes++;
    return planes;
}

/* What a sum starts with so that none is negative, half a divisor included, and the highest that comes of it. */
typedef struct span {
    int64_t divisor;
    int64_t lift; /* quotients that the start adds */
    int64_t start;
    int64_t highest;
} span;

/* The sums of the weights above 0 and of those below, without their sign. */
typedef struct weights {
    int64_t above;
    int64_t below;
} weights;

static void add_weight(int64_t weight, weights *w)
{
    w->above += weight > 0 ? weight : 0;
    w->below -= weight < 0 ? weight : 0;
}

static weights weights_of(const tw_problem *problem)
{
    weights w = {0, 0};
    weights column = {0, 0};
    const int64_t taps = problem->op == TW_OP_SEPCONV ? problem->window.width : taps_of(problem);
    for (int64_t tap = 0; tap < taps; tap++)
        add_weight(twi_cuda_weight(problem, tap), &w);
    if (problem->op != TW_OP_SEPCONV)
        return w;
    for (int64_t tap = 0; tap < problem->window.height; tap++)
        add_weight(problem->column.integers[tap], &column);
    return (weights){w.above * column.above + w.below * column.below, w.above * column.below + w.below * column.above};
}

static span span_of(const tw_problem *problem)
{
    const weights w = weights_of(problem);
    span s = {.divisor = (int64_t)fabs(problem->divisor)};
    s.lift = (w.below * UINT8_MAX + s.divisor - 1) / s.divisor;
    s.start = s.lift * s.divisor + (problem->rounding == TW_ROUND_NEAREST ? s.divisor / 2 : 0);
    s.highest = s.start + w.above * UINT8_MAX;
    return s;
}

const char *twi_cuda_refuses_quotient(const tw_problem *problem)
{
    if (problem->type != TW_U8 || !problem->mask.integers)
        return "it does integer masks on u8 images";
    if (twi_cuda_sum_of(problem) != TWI_CUDA_SUM_I32 || span_of(problem).highest > INT32_MAX - highest_offset)
        return "the mask's sums need more than 31 bits";
    if (fabs(problem->offset) > (double)highest_offset)
        return "the offset leaves no room in 32 bits";
    return NULL;
}

const char *twi_cuda_refuses_planes(const tw_problem *problem, int planes)
{
    const char *refusal = twi_cuda_refuses_quotient(problem);
    if (refusal)
        return refusal;
    if (problem->out_type == TW_F64)
        return "it does not make f64";
    if (twi_cuda_planes(problem) > planes)
        return "the mask's values have more bytes than it takes";
    return NULL;
}

twi_cuda_quotient twi_cuda_quotient_of(const tw_problem *problem)
{
    const span s = span_of(problem);
    const int64_t offset = (int64_t)problem->offset;
    twi_cuda_quotient by = {.division = TWI_CUDA_WHOLE, .start = (int32_t)offset};
    if (s.divisor == 1)
        return by;
    by.start = (int32_t)s.start;
    by.add = (int32_t)(offset - s.lift);
    if (s.highest < float_limit) {
        by.division = TWI_CUDA_FLOAT;
        by.start += float_bits;
        by.add -= float_bits;
        by.reciprocal = (float)(1.0 / (double)s.divisor);
        /* up to 2^-23 above the quotient's own: less than an output's distance to the next, while sums are below 2^23
         */
        if ((double)by.reciprocal * (double)s.divisor < 1)
            by.reciprocal = nextafterf(by.reciprocal, 1);
        return by;
    }
    /* with 2^shift < divisor <= 2^(shift + 1), the multiplier is above 2^(32 + shift) / divisor by less than
       2^(shift + 1) / divisor: too little for a sum below 2^31 to reach the next quotient */
    by.division = TWI_CUDA_MULTIPLY;
    while ((int64_t)2 << by.shift < s.divisor)
        by.shift++;
    by.multiplier = (uint32_t)((((uint64_t)1 << (32 + by.shift)) + (uint64_t)s.divisor - 1) / (uint64_t)s.divisor);
    return by;
}
