/* Byte order: numbers in memory blocks, and whole rows of elements. */
#ifndef TWI_BYTES_H
#define TWI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this machine keeps a number's highest byte first. */
static inline bool twi_host_big(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* A number of `size` bytes (1 to 8) at `at`, which need not be aligned. */
static inline uint64_t twi_get(const uint8_t *at, size_t size, bool big)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[big ? i : size - 1 - i];
    return value;
}

static inline void twi_put(uint8_t *at, size_t size, bool big, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        at[big ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

/* Reverses the bytes of each of `count` elements of `size` bytes: 1, 2, 4 or 8. */
static inline void twi_swap(void *data, size_t count, size_t size)
{
    uint8_t *at = data;
    for (size_t i = 0; size > 1 && i < count; i++, at += size) {
        for (size_t j = 0; j < size / 2; j++) {
            const uint8_t kept = at[j];
            at[j] = at[size - 1 - j];
            at[size - 1 - j] = kept;
        }
    }
}

#endif
