/* How a correlation, separable convolution or Gaussian is computed on the CPU: the narrowest arithmetic that provably
   holds every sum, and whether a mask is done as a row and a column. */
#include "cpu/box.h"
#include "cpu/conv.h"

/* Sums up to here are divided in f32: conv_finish_vector.tmpl.h */
static const int64_t small_bound = 1 << 22;

/* |value| without overflow. */
static twi_i128 magnitude(int64_t value)
{
    return value < 0 ? -(twi_i128)value : value;
}

static twi_i128 total_of(const int64_t *values, int64_t count, twi_i128 *largest)
{
    twi_i128 total = 0;
    *largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const twi_i128 size = magnitude(values[i]);
        total += size;
        *largest = size > *largest ? size : *largest;
    }
    return total;
}

/* The largest magnitude of an element of an integer type. */
static int64_t largest_element(tw_type type)
{
    static const int64_t largest[] = {
        [TW_U8] = UINT8_MAX,
        [TW_U16] = UINT16_MAX,
        [TW_I16] = -(int64_t)INT16_MIN,
        [TW_I32] = -(int64_t)INT32_MIN,
    };
    return largest[type];
}

/* Plain integers that hold sums up to `bound`. */
static twi_conv_unit integers_for(twi_i128 bound)
{
    return bound <= INT32_MAX ? TWI_CONV_I32 : bound <= INT64_MAX / 2 ? TWI_CONV_I64 : TWI_CONV_I128;
}

int64_t twi_conv_piece(twi_conv_unit unit, twi_conv_level level)
{
    switch (unit) {
    case TWI_CONV_BYTES: /* AVX2 adds two products of a byte and a weight in 16 bits: 2 * 255 * 64 fits */
        return level == TWI_CONV_AVX2 ? 64 : INT8_MAX;
    case TWI_CONV_WORDS:
    case TWI_CONV_FOLD:
        return INT16_MAX;
    default:
        return INT64_MAX;
    }
}

/* The unit of a pass over elements up to `element`, with sums up to `bound`. */
static twi_conv_unit unit_for(bool bytes, int64_t element, twi_i128 largest, twi_i128 bound, twi_conv_level level)
{
    const twi_conv_unit plain = integers_for(bound);
    if (plain != TWI_CONV_I32 || level == TWI_CONV_C)
        return plain;
    if (bytes && largest <= 2 * twi_conv_piece(TWI_CONV_BYTES, level))
        return TWI_CONV_BYTES;
    if (element <= INT16_MAX && largest <= INT16_MAX)
        return TWI_CONV_WORDS;
    return plain;
}

/* Relative time of a pass for an element: its lines, each as often as it is shifted. A pass of one row loads a line for
   each product, others share a load between the rows of a band. */
static double pass_time(twi_conv_unit unit, int32_t width, int32_t height)
{
    static const double unit_time[] = {
        [TWI_CONV_BYTES] = 1,   [TWI_CONV_WORDS] = 1,  [TWI_CONV_PAIRS] = 0.25, [TWI_CONV_FIVE] = 0.1,
        [TWI_CONV_FOLD] = 0.25, [TWI_CONV_NEAR] = 0.2, [TWI_CONV_SIDES] = 0.1,  [TWI_CONV_I32] = 1,
        [TWI_CONV_I64] = 6,     [TWI_CONV_I128] = 60,  [TWI_CONV_F32] = 1,      [TWI_CONV_F64] = 2,
    };
    const int rows = twi_conv_layouts[unit].rows;
    const int32_t lines = height == 1 ? 2 : (height + TWI_CONV_BAND - 2 + rows) / rows;
    return unit_time[unit] * lines * width;
}

static void choose_lines(const tw_problem *problem, twi_conv_level level, twi_i128 extra, twi_conv_choice *choice)
{
    const int64_t element = largest_element(problem->type);
    twi_i128 largest = 0;
    const twi_i128 row_bound = total_of(choice->row_values, problem->window.width, &largest) * element;
    const twi_i128 column_total = total_of(choice->column_values, problem->window.height, &largest);
    choice->separable = true;
    choice->row = integers_for(row_bound);
    if (choice->row == TWI_CONV_I128) {
        choice->main = TWI_CONV_I128;
        return;
    }
    /* 2^127 holds any such sum: 255 values of 31 bits twice, and an element of 31 bits, are below 2^109 */
    const twi_i128 bound = row_bound * column_total + extra;
    choice->small = bound < small_bound;
    choice->main = unit_for(false, row_bound > INT16_MAX ? INT32_MAX : (int64_t)row_bound, largest, bound, level);
    if (choice->main > TWI_CONV_WORDS && choice->main < choice->row)
        choice->main = choice->row;
}

/* Whether the fifth column of a 5x5 mask can be added in 16 bits, by pairs of rows, and the sums divided there. */
static bool five_in_pairs(const tw_problem *problem, const twi_conv_pairs *pairs)
{
    const int32_t *mask = problem->mask.integers;
    const int64_t sign = problem->divisor < 0 ? -1 : 1;
    return pairs->magic != 0 && twi_conv_fits_pair(sign * mask[4], sign * mask[9]) &&
           twi_conv_fits_pair(sign * mask[14], sign * mask[19]);
}

static void choose_mask(const tw_problem *problem, twi_conv_level level, twi_i128 extra, twi_conv_choice *choice)
{
    const tw_window *window = &problem->window;
    const int64_t element = largest_element(problem->type);
    twi_i128 largest = 0;
    twi_i128 total = 0;
    for (int64_t i = 0; i < (int64_t)window->width * window->height; i++) {
        const twi_i128 size = magnitude(problem->mask.integers[i]);
        total += size;
        largest = size > largest ? size : largest;
    }
    /* u16 is shifted into i16 */
    const int64_t shifted = problem->type == TW_U16 ? INT16_MAX : problem->type == TW_I16 ? INT16_MAX : element;
    choice->small = total * element + extra < small_bound;
    choice->main = unit_for(problem->type == TW_U8, shifted, largest, total * element + extra, level);
    choice->short_sums = level != TWI_CONV_C && twi_conv_find_pairs(problem, &choice->pairs);
    if (choice->short_sums)
        choice->main = TWI_CONV_PAIRS;
    if (level == TWI_CONV_AVX512 && problem->type == TW_U8 && problem->out_type == TW_U8 && problem->channels == 1 &&
        window->width == 5 && window->height == 5 && largest <= INT8_MAX && choice->small) {
        choice->main = TWI_CONV_FIVE;
        choice->short_sums = choice->short_sums && five_in_pairs(problem, &choice->pairs);
    }
    if (window->width == 1 || window->height == 1 ||
        !twi_factor(problem->mask.integers, window->width, window->height, choice->row_values, choice->column_values))
        return;
    twi_conv_choice lines = *choice;
    lines.short_sums = false;
    choose_lines(problem, level, extra, &lines);
    const double direct = pass_time(choice->main, window->width, window->height);
    if (pass_time(lines.row, window->width, 1) + pass_time(lines.main, 1, window->height) + 4 < direct)
        *choice = lines;
}

/* Whether the largest of a Gaussian's five fixed-point weights fits into 16 bits. */
static bool middle_is_word(double sigma)
{
    double weights[5];
    int32_t fixed[5];
    twi_gaussian_weights(sigma, 5, weights);
    twi_gaussian_fixed(weights, 5, fixed);
    return fixed[2] <= INT16_MAX;
}

void twi_conv_choose(const tw_problem *problem, twi_conv_level level, twi_conv_choice *choice)
{
    const tw_window *window = &problem->window;
    const bool floats = problem->type == TW_F32 || problem->type == TW_F64;
    *choice = (twi_conv_choice){.separable = problem->op != TW_OP_CORRELATE};
    if (problem->op == TW_OP_GAUSSIAN) {
        choice->fixed = twi_gaussian_is_fixed(problem);
        /* a lane's elements, and those of three more lanes, in 16 bytes */
        const bool near = (window->width - 1) * problem->channels + 4 <= 16;
        const bool sides = choice->fixed && level == TWI_CONV_AVX512 && problem->channels == 1 && window->width == 5 &&
                           window->height == 5 && middle_is_word(problem->sigma_x) && middle_is_word(problem->sigma_y);
        choice->row = !choice->fixed        ? TWI_CONV_F64
                      : level == TWI_CONV_C ? TWI_CONV_I32
                      : sides               ? TWI_CONV_SIDES
                      : near                ? TWI_CONV_NEAR
                                            : TWI_CONV_FOLD;
        choice->main = !choice->fixed ? TWI_CONV_F64 : level == TWI_CONV_C ? TWI_CONV_I32 : TWI_CONV_WORDS;
        return;
    }
    if (floats || problem->mask.floats) {
        choice->row = problem->type == TW_F64 ? TWI_CONV_F64 : TWI_CONV_F32;
        choice->main = choice->row;
        return;
    }
    /* beside the sum: half the divisor for rounding, the offset */
    const twi_i128 extra = magnitude((int64_t)problem->divisor) + magnitude((int64_t)problem->offset);
    if (problem->op == TW_OP_CORRELATE) {
        choose_mask(problem, level, extra, choice);
        return;
    }
    for (int32_t i = 0; i < window->width; i++)
        choice->row_values[i] = problem->mask.integers[i];
    for (int32_t j = 0; j < window->height; j++)
        choice->column_values[j] = problem->column.integers[j];
    choose_lines(problem, level, extra, choice);
}

/* Nanoseconds for an element and a unit of pass_time, by one thread. */
double twi_conv_cost(const tw_context *context, const tw_problem *problem, twi_conv_level level)
{
    static const double nanoseconds[] = {[TWI_CONV_C] = 0.6, [TWI_CONV_AVX2] = 0.04, [TWI_CONV_AVX512] = 0.02};
    const tw_window *window = &problem->window;
    const int threads = context ? context->threads : 1;
    twi_conv_choice choice;
    twi_conv_choose(problem, level, &choice);
    const double time = choice.separable
                            ? pass_time(choice.row, window->width, 1) + pass_time(choice.main, 1, window->height)
                            : pass_time(choice.main, window->width, window->height);
    return (double)problem->width * (double)problem->height * problem->channels * (time + 4) * nanoseconds[level] /
           threads;
}
