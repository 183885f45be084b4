/* Masks that are the product of a column and a row. */
#include "core/plan.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int64_t divisor_of(const int32_t *line, int32_t width)
{
    int64_t divisor = 0;
    for (int32_t i = 0; i < width; i++)
        divisor = greatest_common_divisor(divisor, line[i]);
    return divisor;
}

/* With a row whose values have no common divisor, all rows are whole multiples of it or the mask is no product. */
bool twi_factor(const int32_t *mask, int32_t width, int32_t height, int64_t *row, int64_t *column)
{
    const int32_t *line = mask; /* the first row that is not all 0 */
    int64_t divisor = divisor_of(line, width);
    while (divisor == 0) {
        line += width;
        if (line == mask + width * height)
            return false;
        divisor = divisor_of(line, width);
    }
    for (int32_t i = 0; i < width; i++)
        row[i] = line[i] / divisor;
    int32_t pivot = 0;
    while (row[pivot] == 0)
        pivot++;
    for (int32_t j = 0; j < height; j++) {
        if (mask[j * width + pivot] % row[pivot] != 0)
            return false;
        column[j] = mask[j * width + pivot] / row[pivot];
        for (int32_t i = 0; i < width; i++)
            if (column[j] * row[i] != mask[j * width + i])
                return false;
    }
    return true;
}
