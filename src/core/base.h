/* Private basics that every part of the library may use: checked sizes, attributes, failure. */
#ifndef TWI_BASE_H
#define TWI_BASE_H

#include "tilewise.h"

#define TWI_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Pass a failure on. */
#define TWI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        tw_status twi_try_status = (call);                                                                             \
        if (twi_try_status != TW_OK)                                                                                   \
            return twi_try_status;                                                                                     \
    } while (0)

/* Sets the calling thread's message and returns `status`, so that `return twi_fail(...)` reads well. */
tw_status twi_fail(tw_status status, const char *format, ...) TWI_PRINTF(2, 3);

/* false, and *result unspecified, where the sum or product does not fit. */
static inline bool twi_add_i64(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool twi_mul_i64(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

static inline int64_t twi_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t twi_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b, and a to the next multiple of b; a not negative, b positive, a + b in range. */
static inline int64_t twi_divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t twi_round_up(int64_t a, int64_t b)
{
    return twi_divide_up(a, b) * b;
}

#endif
