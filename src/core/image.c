/* Image descriptors: checks, views, overlap. Nothing here touches a pixel. */
#include <inttypes.h>

#include "core/plan.h"

/* What addresses and pitches are a multiple of: an element's size, of a record that of its widest member. */
static int64_t alignment_of(tw_type type)
{
    return type == TW_STATS ? (int64_t)sizeof(double) : (int64_t)tw_type_size(type);
}

/* Bytes from the first to one past the last byte of the pixels, and of one row. */
static bool extent(const tw_image *image, int64_t *row, int64_t *total)
{
    int64_t last;
    return twi_mul_i64(image->width, (int64_t)tw_type_size(image->type) * image->channels, row) &&
           twi_mul_i64(image->height - 1, image->pitch, &last) && twi_add_i64(last, *row, total);
}

tw_status tw_image_check(const tw_image *image)
{
    int64_t row = 0;
    int64_t total = 0;
    if (!image)
        return twi_fail(TW_ERROR_ARGUMENT, "image is NULL");
    const int64_t size = alignment_of(image->type);
    if (size == 0)
        return twi_fail(TW_ERROR_ARGUMENT, "image type %d is unknown: use TW_U8 to TW_STATS", (int)image->type);
    if (image->width < 1 || image->height < 1)
        return twi_fail(TW_ERROR_ARGUMENT, "image of %" PRId64 "x%" PRId64 " pixels: both sides must be at least 1",
                        image->width, image->height);
    if (image->channels < 1 || image->channels > 4)
        return twi_fail(TW_ERROR_ARGUMENT, "image of %d channels: use 1 to 4", (int)image->channels);
    if (image->memory != TW_HOST && image->memory != TW_DEVICE)
        return twi_fail(TW_ERROR_ARGUMENT, "image memory %d is unknown: use TW_HOST or TW_DEVICE", (int)image->memory);
    if (!image->data)
        return twi_fail(TW_ERROR_ARGUMENT, "image data is NULL");
    if ((uintptr_t)image->data % (uintptr_t)size != 0)
        return twi_fail(TW_ERROR_ARGUMENT, "image data %p is not aligned to its %s elements", image->data,
                        tw_type_name(image->type));
    if (image->pitch < 0 || image->pitch % size != 0)
        return twi_fail(TW_ERROR_ARGUMENT, "pitch %" PRId64 " is not a multiple of the element size %" PRId64,
                        image->pitch, size);
    if (!extent(image, &row, &total))
        return twi_fail(TW_ERROR_LIMIT,
                        "image of %" PRId64 "x%" PRId64 " pixels, pitch %" PRId64
                        ": its bytes cannot be counted in 63 bits",
                        image->width, image->height, image->pitch);
    if (image->pitch < row)
        return twi_fail(TW_ERROR_ARGUMENT, "pitch %" PRId64 " is less than a row of %" PRId64 " bytes", image->pitch,
                        row);
    if ((uint64_t)total > UINTPTR_MAX - (uintptr_t)image->data)
        return twi_fail(TW_ERROR_LIMIT, "image of %" PRId64 "x%" PRId64 " pixels reaches past the address space",
                        image->width, image->height);
    return TW_OK;
}

tw_status tw_image_view(const tw_image *image, int64_t x, int64_t y, int64_t width, int64_t height, tw_image *view)
{
    TWI_TRY(tw_image_check(image));
    if (!view)
        return twi_fail(TW_ERROR_ARGUMENT, "view is NULL");
    /* compared by subtraction: x + width may overflow */
    if (x < 0 || y < 0 || width < 1 || height < 1 || x > image->width - 1 || y > image->height - 1 ||
        width > image->width - x || height > image->height - y)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "view %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " does not lie inside the %" PRId64
                        "x%" PRId64 " image",
                        x, y, width, height, image->width, image->height);
    *view = *image;
    view->data = (char *)image->data + y * image->pitch + x * image->channels * (int64_t)tw_type_size(image->type);
    view->width = width;
    view->height = height;
    return TW_OK;
}

/* Whether two images of one pitch that lie in one allocation share a pixel: rectangles of one parent may
   interleave in memory without touching. a begins first; rows are a_row and b_row bytes long. */
static bool rectangles_meet(const tw_image *a, const tw_image *b, int64_t a_row, int64_t b_row)
{
    const int64_t distance = (int64_t)((uintptr_t)b->data - (uintptr_t)a->data);
    const int64_t down = distance / a->pitch; /* distance >= 0 */
    const int64_t right = distance % a->pitch;
    /* b starts `right` bytes into row `down` of a; or, seen from the next row, pitch - right to the left */
    return (down < a->height && right < a_row) || (down + 1 < a->height && a->pitch - right < b_row);
}

static bool overlap(const tw_image *src, const tw_image *dst)
{
    int64_t src_row = 0;
    int64_t dst_row = 0;
    int64_t src_total = 0;
    int64_t dst_total = 0;
    (void)extent(src, &src_row, &src_total); /* checked before */
    (void)extent(dst, &dst_row, &dst_total);
    const uintptr_t s = (uintptr_t)src->data;
    const uintptr_t d = (uintptr_t)dst->data;
    if (s + (uintptr_t)src_total <= d || d + (uintptr_t)dst_total <= s)
        return false;
    if (src->pitch != dst->pitch || src->pitch == 0)
        return true;
    return s <= d ? rectangles_meet(src, dst, src_row, dst_row) : rectangles_meet(dst, src, dst_row, src_row);
}

tw_status twi_images_check(const tw_image *src, const tw_image *dst, int64_t width, int64_t height, bool *in_place)
{
    TWI_TRY(tw_image_check(src));
    TWI_TRY(tw_image_check(dst));
    if (dst->width != width || dst->height != height || src->channels != dst->channels)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "dst is %" PRId64 "x%" PRId64 " with %d channel%s, for src of %" PRId64 "x%" PRId64
                        " with %d it must be %" PRId64 "x%" PRId64 " with %d",
                        dst->width, dst->height, (int)dst->channels, dst->channels == 1 ? "" : "s", src->width,
                        src->height, (int)src->channels, width, height, (int)src->channels);
    if (src->memory != dst->memory)
        return twi_fail(TW_ERROR_ARGUMENT, "src and dst must both live on the host or both on the device");
    const bool same = src->data == dst->data && src->type == dst->type;
    if (same && (src->width != width || src->height != height))
        return twi_fail(TW_ERROR_ARGUMENT,
                        "dst is src, but a result of %" PRId64 "x%" PRId64 " cannot take the place of %" PRId64
                        "x%" PRId64 ": in place needs the same size (a square, where rows become columns)",
                        width, height, src->width, src->height);
    *in_place = same && src->pitch == dst->pitch;
    if (!*in_place && overlap(src, dst))
        return twi_fail(TW_ERROR_ARGUMENT, "dst overlaps src in part: use the same image for both, or separate ones");
    return TW_OK;
}
