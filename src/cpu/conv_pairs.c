/*
 * When a correlation of u8 fits into 16 bits. A vector instruction adds two products of u8 and i8 to an i16, which it
 * saturates: so no two weights that are added in a pair may exceed 128 together, above 0 or below. The sums are kept
 * modulo 2^16, raised by a multiple of the divisor that makes the lowest of them positive.
 */
#include "cpu/conv.h"
#include "cpu/divide.h"

/* The columns with a weight, an even number of them: the last may be there twice, the second time with weight 0. */
static void find_columns(const tw_problem *problem, twi_conv_pairs *pairs)
{
    const tw_window *window = &problem->window;
    pairs->count = 0;
    for (int32_t i = 0; i < window->width; i++) {
        bool used = false;
        for (int32_t j = 0; j < window->height; j++)
            used = used || problem->mask.integers[j * window->width + i] != 0;
        if (used)
            pairs->columns[pairs->count++] = i;
    }
    if (pairs->count % 2 != 0) {
        pairs->columns[pairs->count] = pairs->columns[pairs->count - 1];
        pairs->count++;
    }
}

bool twi_conv_fits_pair(int64_t a, int64_t b)
{
    const int64_t above = twi_max_i64(a, 0) + twi_max_i64(b, 0);
    const int64_t below = twi_min_i64(a, 0) + twi_min_i64(b, 0);
    return a <= INT8_MAX && b <= INT8_MAX && above <= 128 && below >= -128;
}

/* Whether no pair of products saturates, and what all products are at least and at most. */
static bool add_products(const tw_problem *problem, const twi_conv_pairs *pairs, int64_t *low, int64_t *high)
{
    const int64_t sign = problem->divisor < 0 ? -1 : 1;
    for (int32_t j = 0; j < problem->window.height; j++) {
        const int32_t *row = problem->mask.integers + (int64_t)j * problem->window.width;
        for (int32_t k = 0; k < pairs->count; k += 2) {
            const bool twice = pairs->columns[k] == pairs->columns[k + 1];
            const int64_t a = sign * row[pairs->columns[k]];
            const int64_t b = twice ? 0 : sign * row[pairs->columns[k + 1]];
            if (!twi_conv_fits_pair(a, b))
                return false;
            *low += (twi_min_i64(a, 0) + twi_min_i64(b, 0)) * UINT8_MAX;
            *high += (twi_max_i64(a, 0) + twi_max_i64(b, 0)) * UINT8_MAX;
        }
    }
    return true;
}

/* The division of sums up to `largest`, if a factor of 16 bits can do it. */
static bool find_magic(int64_t divisor, int64_t largest, twi_conv_pairs *pairs)
{
    int64_t magic = 0;
    int shift = 0;
    if (divisor == 1)
        return true;
    if (!twi_find_magic16(divisor, largest, &magic, &shift))
        return false;
    pairs->magic = (int32_t)magic;
    pairs->shift = shift - 16;
    return true;
}

bool twi_conv_find_pairs(const tw_problem *problem, twi_conv_pairs *pairs)
{
    const bool narrow = problem->out_type == TW_U8 || problem->out_type == TW_U16 || problem->out_type == TW_I16;
    const int64_t divisor = (int64_t)(problem->divisor < 0 ? -problem->divisor : problem->divisor);
    const int64_t offset = (int64_t)problem->offset;
    const int64_t half = problem->rounding == TW_ROUND_NEAREST ? divisor / 2 : 0;
    int64_t low = 0;
    int64_t high = 0;
    *pairs = (twi_conv_pairs){0};
    if (problem->type != TW_U8 || !narrow || divisor > UINT16_MAX || offset > UINT16_MAX || offset < -UINT16_MAX)
        return false;
    find_columns(problem, pairs);
    if (!add_products(problem, pairs, &low, &high))
        return false;
    const int64_t raised = (-low + divisor - 1) / divisor;
    const int64_t largest = high + raised * divisor + half;
    const int64_t take = raised - offset;
    if (largest > UINT16_MAX || take > UINT16_MAX || take < -UINT16_MAX || !find_magic(divisor, largest, pairs))
        return false;
    if (problem->out_type == TW_I16 && (-take < INT16_MIN || largest / divisor - take > INT16_MAX))
        return false;
    pairs->start = (int32_t)(raised * divisor + half);
    pairs->take = (int32_t)take;
    return true;
}
