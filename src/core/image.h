/* Rows of images in memory, and the places that records in them name. */
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

/* Records of a part name its places; they become those of the whole, where the part begins at (right, down). */
static inline void twi_move_places(const tw_image *records, unsigned figures, int64_t right, int64_t down)
{
    for (int64_t y = 0; y < records->height; y++) {
        tw_stats *row = twi_row(records, y);
        for (int64_t i = 0; i < records->width * records->channels; i++) {
            row[i].argmin_x += figures & TW_FIGURE_ARGMIN ? right : 0;
            row[i].argmin_y += figures & TW_FIGURE_ARGMIN ? down : 0;
            row[i].argmax_x += figures & TW_FIGURE_ARGMAX ? right : 0;
            row[i].argmax_y += figures & TW_FIGURE_ARGMAX ? down : 0;
        }
    }
}

#endif
