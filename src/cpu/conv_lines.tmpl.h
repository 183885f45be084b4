/*
 * How rows come into lines: fetched with their borders, widened to the arithmetic's elements, put together by two or
 * four where the unit wants that.
 */

/* Copies an element of 1, 2, 4 or 8 bytes. */
static void copy_element(void *to, const void *from, int64_t size)
{
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
        break;
    }
}

/* Copies `count` elements beside row `from`, those that the table names from `halo` on. */
static void fetch_halo(const twi_conv_setup *setup, const char *from, const int64_t *halo, int64_t count, char *to)
{
    const int64_t size = (int64_t)tw_type_size(setup->type);
    for (int64_t i = 0; i < count; i++)
        copy_element(to + i * size, halo[i] < 0 ? setup->outside : from + halo[i] * size, size);
}

/* ---- Widening: raw elements to those of a unit ------------------------------------------------------ */

typedef void widen_function(void *to, const void *from, int64_t n);

#define WIDEN(NAME_, FROM, TO)                                                                                         \
    static void NAME_(void *to, const void *from, int64_t n)                                                           \
    {                                                                                                                  \
        TO *restrict out = to;                                                                                         \
        const FROM *restrict in = from;                                                                                \
        for (int64_t x = 0; x < n; x++)                                                                                \
            out[x] = (TO)in[x];                                                                                        \
    }
#define WIDEN_INTEGER(NAME_, FROM)                                                                                     \
    WIDEN(NAME_##_i32, FROM, int32_t)                                                                                  \
    WIDEN(NAME_##_i64, FROM, int64_t)                                                                                  \
    WIDEN(NAME_##_i128, FROM, twi_i128)                                                                                \
    WIDEN(NAME_##_f32, FROM, float)                                                                                    \
    WIDEN(NAME_##_f64, FROM, double)
WIDEN(widen_u8_u8, uint8_t, uint8_t)
WIDEN_INTEGER(widen_u8, uint8_t)
WIDEN_INTEGER(widen_u16, uint16_t)
WIDEN_INTEGER(widen_i16, int16_t)
WIDEN_INTEGER(widen_i32, int32_t)
WIDEN(widen_i64_i64, int64_t, int64_t)
WIDEN(widen_i64_i128, int64_t, twi_i128)
WIDEN(widen_i128_i128, twi_i128, twi_i128)
WIDEN(widen_f32_f32, float, float)
WIDEN(widen_f32_f64, float, double)
WIDEN(widen_f64_f64, double, double)

#define WIDEN_ROW(NAME_)                                                                                               \
    [TWI_CONV_I32] = NAME_##_i32, [TWI_CONV_I64] = NAME_##_i64, [TWI_CONV_I128] = NAME_##_i128,                        \
    [TWI_CONV_F32] = NAME_##_f32, [TWI_CONV_F64] = NAME_##_f64
static widen_function *const widen_pixels[TW_TYPE_COUNT][TWI_CONV_UNITS] = {
    [TW_U8] = {WIDEN_ROW(widen_u8), [TWI_CONV_PAIRS] = widen_u8_u8, [TWI_CONV_FIVE] = widen_u8_u8,
               [TWI_CONV_FOLD] = widen_u8_u8, [TWI_CONV_NEAR] = widen_u8_u8, [TWI_CONV_SIDES] = widen_u8_u8},
    [TW_U16] = {WIDEN_ROW(widen_u16)},
    [TW_I16] = {WIDEN_ROW(widen_i16)},
    [TW_I32] = {WIDEN_ROW(widen_i32)},
    [TW_F32] = {[TWI_CONV_F32] = widen_f32_f32, [TWI_CONV_F64] = widen_f32_f64},
    [TW_F64] = {[TWI_CONV_F64] = widen_f64_f64},
};
/* The sums of a row pass, as the column pass wants them. */
static widen_function *const widen_sums[TWI_CONV_UNITS][TWI_CONV_UNITS] = {
    [TWI_CONV_I32] = {WIDEN_ROW(widen_i32)},
    [TWI_CONV_I64] = {[TWI_CONV_I64] = widen_i64_i64, [TWI_CONV_I128] = widen_i64_i128},
    [TWI_CONV_I128] = {[TWI_CONV_I128] = widen_i128_i128},
    [TWI_CONV_F32] = {[TWI_CONV_F32] = widen_f32_f32},
    [TWI_CONV_F64] = {[TWI_CONV_F64] = widen_f64_f64},
};

/* Fixed point: a row's sum of 16 fractional bits to 8. */
static void shift_sums(uint32_t *sums, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        sums[x] >>= 8;
}

/* ---- Lines of several rows (vector levels) ---------------------------------------------------------- */

#define PAIR(NAME_, FROM, SHIFT)                                                                                       \
    static void NAME_(void *to, const void *upper, const void *lower, int64_t n)                                       \
    {                                                                                                                  \
        uint32_t *restrict out = to;                                                                                   \
        const FROM *restrict a = upper;                                                                                \
        const FROM *restrict b = lower;                                                                                \
        for (int64_t x = 0; x < n; x++)                                                                                \
            out[x] = (uint32_t)(uint16_t)(a[x] - SHIFT) | (uint32_t)(b[x] - SHIFT) << 16;                              \
    }
PAIR(pair_u8, uint8_t, 0)
PAIR(pair_u16, uint16_t, 32768)
PAIR(pair_i16, int16_t, 0)
PAIR(pair_sums, int32_t, 0)
PAIR(pair_fixed, int32_t, 32768)

static void make_pair(tw_type type, void *to, const void *upper, const void *lower, int64_t n)
{
    (type == TW_U8 ? pair_u8 : type == TW_U16 ? pair_u16 : pair_i16)(to, upper, lower, n);
}

static void make_quad(void *to, const char *const *rows, int64_t n)
{
    uint32_t *restrict out = to;
    const uint8_t *restrict a = (const uint8_t *)rows[0];
    const uint8_t *restrict b = (const uint8_t *)rows[1];
    const uint8_t *restrict c = (const uint8_t *)rows[2];
    const uint8_t *restrict d = (const uint8_t *)rows[3];
    for (int64_t x = 0; x < n; x++)
        out[x] = a[x] | (uint32_t)b[x] << 8 | (uint32_t)c[x] << 16 | (uint32_t)d[x] << 24;
}
