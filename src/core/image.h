/* Rows of images in memory. */
#ifndef TWI_IMAGE_H
#define TWI_IMAGE_H

#include <string.h>

#include "core/base.h"

static inline void *twi_row(const tw_image *image, int64_t y)
{
    return (char *)image->data + y * image->pitch;
}

static inline int64_t twi_pixel_bytes(const tw_image *image)
{
    return image->channels * (int64_t)tw_type_size(image->type);
}

/* Elements in a row, all channels counted. */
static inline size_t twi_row_elements(const tw_image *image)
{
    return (size_t)image->width * (size_t)image->channels;
}

static inline size_t twi_row_bytes(const tw_image *image)
{
    return twi_row_elements(image) * tw_type_size(image->type);
}

/* Whether the image's rows lie one behind the other without a gap. */
static inline bool twi_solid(const tw_image *image)
{
    return image->pitch == (int64_t)twi_row_bytes(image);
}

/* `rows` rows of `bytes` bytes, which do not overlap. */
static inline void twi_copy_rows(void *dst, int64_t dst_pitch, const void *src, int64_t src_pitch, int64_t bytes,
                                 int64_t rows)
{
    if (dst_pitch == bytes && src_pitch == bytes) {
        memcpy(dst, src, (size_t)(bytes * rows));
        return;
    }
    for (int64_t y = 0; y < rows; y++)
        memcpy((char *)dst + y * dst_pitch, (const char *)src + y * src_pitch, (size_t)bytes);
}

#endif
