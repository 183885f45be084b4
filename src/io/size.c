/* How much memory an image takes, and whether that is allowed. */
#include "io/format.h"

enum { PITCH_UNIT = 64 };

uint64_t twi_image_bytes(uint64_t width, uint64_t height, int32_t channels, tw_type type, uint64_t *pitch)
{
    uint64_t row = 0;
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(width, (uint64_t)channels * tw_type_size(type), &row) || row > INT64_MAX - PITCH_UNIT)
        row = INT64_MAX - PITCH_UNIT;
    row = (row + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    if (pitch)
        *pitch = row;
    return __builtin_mul_overflow(row, height, &bytes) || bytes > INT64_MAX ? UINT64_MAX : bytes;
}

twi_io_status twi_image_limit(const char *name, uint64_t width, uint64_t height, int32_t channels, tw_type type,
                              uint64_t most_bytes)
{
    if (width < 1 || height < 1 || channels < 1 || channels > 4 || tw_type_size(type) == 0)
        return twi_io_fail(TWI_IO_USAGE, name, "an image of %llux%llu pixels with %d channel%s of type %s",
                           (unsigned long long)width, (unsigned long long)height, (int)channels,
                           channels == 1 ? "" : "s", tw_type_name(type));
    if (twi_image_bytes(width, height, channels, type, NULL) > most_bytes)
        return twi_io_fail(TWI_IO_MEMORY, name,
                           "%llux%llu pixels with %d channel%s of %s exceed the limit of %llu bytes%s",
                           (unsigned long long)width, (unsigned long long)height, (int)channels,
                           channels == 1 ? "" : "s", tw_type_name(type), (unsigned long long)most_bytes,
                           most_bytes < INT64_MAX ? " that memory has for them: give a higher --memory" : "");
    return TWI_IO_OK;
}
