/* What every level of every operation uses, with vectors or without. */
#ifndef TWI_CPU_LEVEL_H
#define TWI_CPU_LEVEL_H

#include <string.h>

#include "cpu/rows.h"
#include "cpu/vector.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#ifndef LEVEL_VECTOR
#define INLINE static inline __attribute__((always_inline))

/* Plain C has no streaming store. */
static inline void put(void *restrict dst, const void *restrict src, int64_t bytes, bool stream)
{
    (void)stream;
    memcpy(dst, src, (size_t)bytes);
}

static inline void finish_stream(bool stream)
{
    (void)stream;
}
#endif

/* Into the L2 cache: source rows that are wanted when the next row is begun. */
static inline void bring_near(const void *p, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += TWI_LINE)
        __builtin_prefetch((const char *)p + i, 0, 2);
}

/* Into the L1 cache: what a loop that runs through memory reads after a page more. */
static inline void bring_next(const void *p, int64_t bytes)
{
    enum { AHEAD = 4096 };
    for (int64_t i = AHEAD; i < AHEAD + bytes; i += TWI_LINE)
        __builtin_prefetch((const char *)p + i);
}

#endif
