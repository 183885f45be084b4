/* From sums to output elements: the quotient and the offset, then saturation or rounding into the type. */
#include "core/element.h"

/* floor(sum / divisor) + offset. (sum + 1/2) / divisor is at least 1 / 2 divisor away from any integer, and in error by
   less than 2^-19 / divisor in f64, as sums are below 2^31 and each of the two roundings adds 2^-53 of it. */
static void scale_i32(int32_t *sums, int64_t n, const twi_conv_scale *scale)
{
    const int32_t offset = (int32_t)scale->offset;
    const double inverse = 1.0 / (double)scale->divisor;
    if (scale->divisor == 1) {
        for (int64_t x = 0; x < n; x++)
            sums[x] += offset;
        return;
    }
    for (int64_t x = 0; x < n; x++) {
        const double quotient = ((double)sums[x] + 0.5) * inverse;
        const int32_t truncated = (int32_t)quotient;
        sums[x] = truncated - (quotient < truncated) + offset;
    }
}

static void scale_i64(int64_t *sums, int64_t n, const twi_conv_scale *scale)
{
    const int64_t divisor = scale->divisor;
    if ((divisor & (divisor - 1)) == 0) {
        const int shift = __builtin_ctzll((unsigned long long)divisor);
        for (int64_t x = 0; x < n; x++)
            sums[x] = (sums[x] >> shift) + scale->offset;
        return;
    }
    for (int64_t x = 0; x < n; x++)
        sums[x] = sums[x] / divisor - (sums[x] % divisor < 0) + scale->offset;
}

#define SCALE_FLOAT(NAME_, T)                                                                                          \
    static void NAME_(T *sums, int64_t n, const twi_conv_scale *scale)                                                 \
    {                                                                                                                  \
        const T divisor = (T)scale->float_divisor;                                                                     \
        const T offset = (T)scale->float_offset;                                                                       \
        const T inverse = (T)1 / divisor;                                                                              \
        if (scale->inverts)                                                                                            \
            for (int64_t x = 0; x < n; x++)                                                                            \
                sums[x] = sums[x] * inverse + offset;                                                                  \
        else                                                                                                           \
            for (int64_t x = 0; x < n; x++)                                                                            \
                sums[x] = sums[x] / divisor + offset;                                                                  \
    }
SCALE_FLOAT(scale_f32, float)
SCALE_FLOAT(scale_f64, double)

typedef void store_function(void *to, const void *from, int64_t n);

#define SAVE(NAME_, FROM, TO, VALUE)                                                                                   \
    static void NAME_(void *to, const void *from, int64_t n)                                                           \
    {                                                                                                                  \
        TO *restrict out = to;                                                                                         \
        const FROM *restrict in = from;                                                                                \
        for (int64_t x = 0; x < n; x++) {                                                                              \
            const FROM v = in[x];                                                                                      \
            out[x] = (TO)(VALUE);                                                                                      \
        }                                                                                                              \
    }
#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
#define SAVE_INTEGER(NAME_, FROM)                                                                                      \
    SAVE(NAME_##_u8, FROM, uint8_t, CLAMP(v, 0, UINT8_MAX))                                                            \
    SAVE(NAME_##_u16, FROM, uint16_t, CLAMP(v, 0, UINT16_MAX))                                                         \
    SAVE(NAME_##_i16, FROM, int16_t, CLAMP(v, INT16_MIN, INT16_MAX))                                                   \
    SAVE(NAME_##_i32, FROM, int32_t, CLAMP(v, INT32_MIN, INT32_MAX))                                                   \
    SAVE(NAME_##_f32, FROM, float, v)                                                                                  \
    SAVE(NAME_##_f64, FROM, double, v)
SAVE_INTEGER(store_i32, int32_t)
SAVE_INTEGER(store_i64, int64_t)
SAVE(store_fixed, uint32_t, uint8_t, v >> 24)

/* Adding and taking away 1.5 * 2^23 (2^52) rounds to the nearest integer, ties to even. NaN becomes 0. */
#define ROUND_F32(v, low, high) (CLAMP((v) == (v) ? (v) : 0.0f, low, high) + 0x1.8p23f - 0x1.8p23f)
#define ROUND_F64(v, low, high) (CLAMP((v) == (v) ? (v) : 0.0, low, high) + 0x1.8p52 - 0x1.8p52)
SAVE(store_f32_u8, float, uint8_t, ROUND_F32(v, 0.0f, 255.0f))
SAVE(store_f32_u16, float, uint16_t, ROUND_F32(v, 0.0f, 65535.0f))
SAVE(store_f32_i16, float, int16_t, ROUND_F32(v, -32768.0f, 32767.0f))
SAVE(store_f32_i32, float, int32_t, ROUND_F64((double)v, -2147483648.0, 2147483647.0))
SAVE(store_f32_f32, float, float, twi_canonical_f32(v))
SAVE(store_f32_f64, float, double, twi_canonical_f64((double)v))
SAVE(store_f64_u8, double, uint8_t, ROUND_F64(v, 0.0, 255.0))
SAVE(store_f64_u16, double, uint16_t, ROUND_F64(v, 0.0, 65535.0))
SAVE(store_f64_i16, double, int16_t, ROUND_F64(v, -32768.0, 32767.0))
SAVE(store_f64_i32, double, int32_t, ROUND_F64(v, -2147483648.0, 2147483647.0))
SAVE(store_f64_f32, double, float, twi_canonical_f32((float)v))
SAVE(store_f64_f64, double, double, twi_canonical_f64(v))

#define SAVE_ROW(NAME_)                                                                                                \
    {                                                                                                                  \
        [TW_U8] = NAME_##_u8, [TW_U16] = NAME_##_u16, [TW_I16] = NAME_##_i16, [TW_I32] = NAME_##_i32,                  \
        [TW_F32] = NAME_##_f32, [TW_F64] = NAME_##_f64,                                                                \
    }
static store_function *const stores[TWI_CONV_UNITS][TW_TYPE_COUNT] = {
    [TWI_CONV_BYTES] = SAVE_ROW(store_i32), [TWI_CONV_WORDS] = SAVE_ROW(store_i32),
    [TWI_CONV_I32] = SAVE_ROW(store_i32),   [TWI_CONV_I64] = SAVE_ROW(store_i64),
    [TWI_CONV_F32] = SAVE_ROW(store_f32),   [TWI_CONV_F64] = SAVE_ROW(store_f64),
};

/* Quotients that 64 bits may not hold go to their type at once. */
static void store_i128(char *to, const twi_i128 *sums, int64_t n, const twi_conv_setup *setup)
{
    const twi_conv_scale *scale = &setup->scale;
    const int64_t size = (int64_t)tw_type_size(setup->out_type);
    for (int64_t x = 0; x < n; x++)
        twi_store_integer(to + x * size, setup->out_type, twi_quotient(sums[x], scale->divisor, 0) + scale->offset);
}

/* n elements of an output row from their sums, which are used up. */
static void finish(const twi_conv_setup *setup, void *sums, int64_t n, char *to, void *stage)
{
    const twi_conv_scale *scale = &setup->scale;
    const int64_t bytes = n * (int64_t)tw_type_size(setup->out_type);
#ifdef LEVEL_VECTOR
    if (finish_vectors(setup, sums, n, to, stage))
        return;
#endif
    switch (setup->main.unit) {
    case TWI_CONV_I64:
        scale_i64(sums, n, scale);
        break;
    case TWI_CONV_I128:
        store_i128(stage, sums, n, setup);
        put(to, stage, bytes, setup->stream);
        return;
    case TWI_CONV_F32:
        scale_f32(sums, n, scale);
        break;
    case TWI_CONV_F64:
        scale_f64(sums, n, scale);
        break;
    default:
        if (!setup->fixed)
            scale_i32(sums, n, scale);
        break;
    }
    (setup->fixed ? store_fixed : stores[setup->main.unit][setup->out_type])(stage, sums, n);
    put(to, stage, bytes, setup->stream);
}
