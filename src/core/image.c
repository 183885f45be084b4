/* Image descriptors: checks, views, overlap. Nothing here touches a pixel. */
#include <inttypes.h>

#include "core/plan.h"

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
    const int64_t size = (int64_t)tw_type_size(image->type);
    if (size == 0)
        return twi_fail(TW_ERROR_ARGUMENT, "image type %d is unknown: use TW_U8 to TW_F64", (int)image->type);
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

/* Whether two images of equal size and pitch that lie in one allocation share a pixel: rectangles of
   one parent may interleave in memory without touching. */
static bool rectangles_meet(const tw_image *a, const tw_image *b, int64_t row)
{
    const int64_t distance = (int64_t)((uintptr_t)b->data - (uintptr_t)a->data);
    const int64_t down = distance / a->pitch; /* distance >= 0 */
    const int64_t right = distance % a->pitch;
    /* b starts `right` bytes into row `down` of a; or, seen from the next row, pitch - right to the left */
    return (down < a->height && right < row) || (down + 1 < a->height && a->pitch - right < row);
}

static bool overlap(const tw_image *src, const tw_image *dst)
{
    int64_t row = 0;
    int64_t src_total = 0;
    int64_t dst_total = 0;
    (void)extent(src, &row, &src_total); /* checked before */
    (void)extent(dst, &row, &dst_total);
    const uintptr_t s = (uintptr_t)src->data;
    const uintptr_t d = (uintptr_t)dst->data;
    if (s + (uintptr_t)src_total <= d || d + (uintptr_t)dst_total <= s)
        return false;
    if (src->pitch != dst->pitch || src->pitch == 0)
        return true;
    return s <= d ? rectangles_meet(src, dst, row) : rectangles_meet(dst, src, row);
}

tw_status twi_images_check(const tw_image *src, const tw_image *dst, bool *in_place)
{
    TWI_TRY(tw_image_check(src));
    TWI_TRY(tw_image_check(dst));
    if (src->width != dst->width || src->height != dst->height || src->channels != dst->channels)
        return twi_fail(TW_ERROR_ARGUMENT,
                        "dst is %" PRId64 "x%" PRId64 " with %d channels, src %" PRId64 "x%" PRId64
                        " with %d: they must agree",
                        dst->width, dst->height, (int)dst->channels, src->width, src->height, (int)src->channels);
    if (src->memory != dst->memory)
        return twi_fail(TW_ERROR_ARGUMENT, "src and dst must both live on the host or both on the device");
    *in_place = src->data == dst->data && src->pitch == dst->pitch && src->type == dst->type;
    if (!*in_place && overlap(src, dst))
        return twi_fail(TW_ERROR_ARGUMENT, "dst overlaps src in part: use the same image for both, or separate ones");
    return TW_OK;
}
