/* dst = a - b, saturated: the last step of gradient, tophat and blackhat. */
#include <omp.h>

#include "core/exact.h"
#include "cpu/cpu.h"

static void subtract_row(tw_type type, const void *a, const void *b, void *dst, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        switch (type) {
        case TW_U8: {
            const int difference = ((const uint8_t *)a)[i] - ((const uint8_t *)b)[i];
            ((uint8_t *)dst)[i] = (uint8_t)(difference < 0 ? 0 : difference);
            break;
        }
        case TW_U16: {
            const int difference = ((const uint16_t *)a)[i] - ((const uint16_t *)b)[i];
            ((uint16_t *)dst)[i] = (uint16_t)(difference < 0 ? 0 : difference);
            break;
        }
        case TW_I16: {
            const int difference = ((const int16_t *)a)[i] - ((const int16_t *)b)[i];
            ((int16_t *)dst)[i] = (int16_t)twi_saturate(difference, INT16_MIN, INT16_MAX);
            break;
        }
        case TW_I32: {
            const int64_t difference = (int64_t)((const int32_t *)a)[i] - ((const int32_t *)b)[i];
            ((int32_t *)dst)[i] = (int32_t)twi_saturate(difference, INT32_MIN, INT32_MAX);
            break;
        }
        case TW_F32:
            ((float *)dst)[i] = twi_canonical_f32(((const float *)a)[i] - ((const float *)b)[i]);
            break;
        default:
            ((double *)dst)[i] = twi_canonical_f64(((const double *)a)[i] - ((const double *)b)[i]);
            break;
        }
    }
}

tw_status twi_cpu_subtract(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst)
{
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t y = 0; y < dst->height; y++)
        subtract_row(dst->type, (const char *)a->data + y * a->pitch, (const char *)b->data + y * b->pitch,
                     (char *)dst->data + y * dst->pitch, dst->width * dst->channels);
    return TW_OK;
}
