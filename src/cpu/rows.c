/* Areas of scratch, and what lies outside the image. */
#include "cpu/rows.h"

/* Outputs from here on are larger than the cache. */
static const int64_t stream_bytes = 8 << 20;

bool twi_add_area(int64_t *total, int64_t count, int64_t size, int64_t *offset)
{
    int64_t bytes = 0;
    *offset = *total;
    return twi_mul_i64(count, size, &bytes) && bytes <= INT64_MAX - 2 * TWI_SLACK &&
           twi_add_i64(*total, twi_area_bytes(bytes), total);
}

void twi_fill_halo(const tw_problem *problem, int64_t before, int64_t after, int64_t *halo)
{
    const int64_t channels = problem->channels;
    for (int64_t i = 0; i < before + after; i++) {
        /* counted from the first column to the left; the row itself is skipped */
        const int64_t pixel = i / channels - before / channels + (i < before ? 0 : problem->width);
        const int64_t column = twi_border_index(pixel, problem->width, (int)problem->border.mode);
        halo[i] = column < 0 ? -1 : column * channels + i % channels;
    }
}

void twi_fill_outside(const tw_problem *problem, int64_t count, void *outside)
{
    const double value = problem->border.mode == TW_BORDER_CONSTANT ? problem->border.value : 0;
    for (int64_t i = 0; i < count; i++) {
        switch (problem->type) {
        case TW_U8:
            ((uint8_t *)outside)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)outside)[i] = (uint16_t)value;
            break;
        case TW_I16:
            ((int16_t *)outside)[i] = (int16_t)value;
            break;
        case TW_I32:
            ((int32_t *)outside)[i] = (int32_t)value;
            break;
        case TW_F32:
            ((float *)outside)[i] = (float)value;
            break;
        default:
            ((double *)outside)[i] = value;
            break;
        }
    }
}

bool twi_output_streams(const tw_problem *problem, int64_t elements)
{
    int64_t bytes = 0;
    return !twi_mul_i64(elements, (int64_t)tw_type_size(problem->out_type), &bytes) ||
           !twi_mul_i64(bytes, problem->height, &bytes) || bytes >= stream_bytes;
}
