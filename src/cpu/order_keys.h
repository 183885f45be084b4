/*
 * Elements to keys and back, for the five kinds of keys: u8, u16, i16, i32, i64. Minima, maxima and networks take the
 * kind of the element's own order; counting and selection (order_select.tmpl.h) take signed kinds, so u16 is
 * lowered by 32768 there.
 */
#ifndef TWI_CPU_ORDER_KEYS_H
#define TWI_CPU_ORDER_KEYS_H

#include "cpu/level.h"
#include "cpu/order.h"

/* Elements at ... at + n - 1 of a row as keys. */
static inline void keys_u8(tw_type type, const void *row, int64_t at, int64_t n, uint8_t *to)
{
    (void)type;
    memcpy(to, (const uint8_t *)row + at, (size_t)n);
}

static inline void keys_u16(tw_type type, const void *row, int64_t at, int64_t n, uint16_t *to)
{
    (void)type;
    memcpy(to, (const uint16_t *)row + at, (size_t)n * sizeof *to);
}

static void keys_i16(tw_type type, const void *row, int64_t at, int64_t n, int16_t *restrict to)
{
    const uint8_t *restrict bytes = (const uint8_t *)row + at;
    const uint16_t *restrict words = (const uint16_t *)row + at;
    if (type == TW_U8)
        for (int64_t i = 0; i < n; i++)
            to[i] = bytes[i];
    else if (type == TW_U16)
        for (int64_t i = 0; i < n; i++)
            to[i] = (int16_t)(words[i] ^ 0x8000u);
    else
        memcpy(to, (const int16_t *)row + at, (size_t)n * sizeof *to);
}

static void keys_i32(tw_type type, const void *row, int64_t at, int64_t n, int32_t *restrict to)
{
    switch (type) {
    case TW_U8:
        for (int64_t i = 0; i < n; i++)
            to[i] = ((const uint8_t *)row)[at + i];
        break;
    case TW_U16:
        for (int64_t i = 0; i < n; i++)
            to[i] = ((const uint16_t *)row)[at + i];
        break;
    case TW_I16:
        for (int64_t i = 0; i < n; i++)
            to[i] = ((const int16_t *)row)[at + i];
        break;
    default:
        memcpy(to, (const int32_t *)row + at, (size_t)n * sizeof *to);
        if (type == TW_F32)
            for (int64_t i = 0; i < n; i++)
                to[i] = twi_key_f32((uint32_t)to[i]);
        break;
    }
}

static void keys_i64(tw_type type, const void *row, int64_t at, int64_t n, int64_t *restrict to)
{
    (void)type;
    memcpy(to, (const double *)row + at, (size_t)n * sizeof *to);
    for (int64_t i = 0; i < n; i++)
        to[i] = twi_key_f64((uint64_t)to[i]);
}

/* n keys as elements, in place: an element is never longer than its key. */
static inline void elements_u8(tw_type type, uint8_t *keys, int64_t n)
{
    (void)type;
    (void)keys;
    (void)n;
}

static inline void elements_u16(tw_type type, uint16_t *keys, int64_t n)
{
    (void)type;
    (void)keys;
    (void)n;
}

static void elements_i16(tw_type type, int16_t *keys, int64_t n)
{
    uint8_t *bytes = (uint8_t *)keys;
    if (type == TW_U8)
        for (int64_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)keys[i];
    else if (type == TW_U16)
        for (int64_t i = 0; i < n; i++)
            keys[i] = (int16_t)(keys[i] ^ INT16_MIN);
}

static void elements_i32(tw_type type, int32_t *keys, int64_t n)
{
    const int64_t size = (int64_t)tw_type_size(type);
    if (type == TW_F32)
        for (int64_t i = 0; i < n; i++)
            keys[i] = keys[i] == INT32_MAX ? 0x7f800000 : (int32_t)twi_unkey_f32(keys[i]);
    else if (size < 4)
        for (int64_t i = 0; i < n; i++) {
            const uint32_t key = (uint32_t)keys[i]; /* its low bytes are the element, on the machines that there are */
            const uint8_t low = (uint8_t)key;
            const uint16_t both = (uint16_t)key;
            memcpy((char *)keys + i * size, size == 1 ? (const void *)&low : (const void *)&both, (size_t)size);
        }
}

static void elements_i64(tw_type type, int64_t *keys, int64_t n)
{
    (void)type;
    for (int64_t i = 0; i < n; i++)
        keys[i] = keys[i] == INT64_MAX ? 0x7ff0000000000000 : (int64_t)twi_unkey_f64(keys[i]);
}

static inline char *order_scratch(const twi_order_setup *setup, const twi_job *job)
{
    return setup->workers + job->worker * setup->worker_bytes;
}

/* The next area of a worker's scratch. */
static inline void *take(char **place, int64_t bytes)
{
    char *taken = *place;
    *place += twi_area_bytes(bytes);
    return taken;
}

#endif
