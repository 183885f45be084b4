/* What a file says beside its pixels: between EXIF blocks, TIFF tags and the struct that holds both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/metadata.h"

/* Text about the picture that TIFF keeps beside its pixels and EXIF in its first directory. */
static const uint16_t text_tags[] = {TWI_TAG_DESCRIPTION, TWI_TAG_MAKE,   TWI_TAG_MODEL,    TWI_TAG_SOFTWARE,
                                     TWI_TAG_DATE_TIME,   TWI_TAG_ARTIST, TWI_TAG_COPYRIGHT};

static const uint16_t geo_tags[] = {TWI_TAG_PIXEL_SCALE,   TWI_TAG_TIE_POINTS,  TWI_TAG_TRANSFORMATION,
                                    TWI_TAG_GEO_KEYS,      TWI_TAG_GEO_DOUBLES, TWI_TAG_GEO_TEXT,
                                    TWI_TAG_GDAL_METADATA, TWI_TAG_GDAL_NODATA};

static const uint16_t other_tags[] = {
    TWI_TAG_ORIENTATION, TWI_TAG_X_RESOLUTION, TWI_TAG_Y_RESOLUTION, TWI_TAG_RESOLUTION_UNIT,
    TWI_TAG_XMP,         TWI_TAG_ICC,          TWI_TAG_EXIF,         TWI_TAG_GPS};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool listed(const uint16_t *list, size_t count, uint16_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

bool twi_metadata_wants(uint16_t id)
{
    return listed(text_tags, COUNT(text_tags), id) || listed(geo_tags, COUNT(geo_tags), id) ||
           listed(other_tags, COUNT(other_tags), id);
}

void twi_metadata_free(twi_metadata *metadata)
{
    if (!metadata)
        return;
    free(metadata->icc.bytes);
    free(metadata->exif.bytes);
    free(metadata->xmp.bytes);
    twi_tags_free(&metadata->geo);
    free(metadata);
}

bool twi_blob_set(twi_blob *blob, const void *bytes, size_t size)
{
    if (blob->size > 0 || size == 0 || size > TWI_MOST_BLOB)
        return true;
    blob->bytes = malloc(size);
    if (!blob->bytes)
        return false;
    memcpy(blob->bytes, bytes, size);
    blob->size = size;
    return true;
}

static bool has_resolution(const twi_metadata *metadata)
{
    return metadata->resolution.denominator[0] > 0 && metadata->resolution.denominator[1] > 0;
}

/* Square pixels of no known size are what every file means that says nothing. */
static bool says_something(const twi_resolution *resolution)
{
    return resolution->unit != TWI_UNIT_NONE || (uint64_t)resolution->numerator[0] * resolution->denominator[1] !=
                                                    (uint64_t)resolution->numerator[1] * resolution->denominator[0];
}

unsigned twi_metadata_kinds(const twi_metadata *metadata)
{
    unsigned kinds = 0;
    if (!metadata)
        return 0;
    kinds |= metadata->icc.size > 0 ? TWI_HAS_ICC : 0;
    kinds |= metadata->exif.size > 0 ? TWI_HAS_EXIF : 0;
    kinds |= metadata->xmp.size > 0 ? TWI_HAS_XMP : 0;
    kinds |= has_resolution(metadata) && says_something(&metadata->resolution) ? TWI_HAS_RESOLUTION : 0;
    /* 1 is what a file without the tag means as well */
    kinds |= metadata->orientation > 1 ? TWI_HAS_ORIENTATION : 0;
    kinds |= metadata->geo.count > 0 ? TWI_HAS_GEO : 0;
    return kinds;
}

static uint16_t orientation_of(const twi_tags *tags)
{
    const uint64_t value = twi_tags_number(tags, TWI_TAG_ORIENTATION, 0, 0);
    return value <= 8 ? (uint16_t)value : 0;
}

static twi_resolution resolution_of(const twi_tags *tags)
{
    static const uint16_t ids[2] = {TWI_TAG_X_RESOLUTION, TWI_TAG_Y_RESOLUTION};
    const uint64_t unit = twi_tags_number(tags, TWI_TAG_RESOLUTION_UNIT, 0, 2);
    twi_resolution result = {.unit = unit == 2 ? TWI_UNIT_INCH : unit == 3 ? TWI_UNIT_CENTIMETRE : TWI_UNIT_NONE};
    for (int i = 0; i < 2; i++) {
        const twi_tag *tag = twi_tags_find(tags, ids[i]);
        if (!tag || tag->type != TWI_TAG_RATIONAL || twi_get(tag->data, 4, false) == 0 ||
            twi_get(tag->data + 4, 4, false) == 0)
            return (twi_resolution){0};
        result.numerator[i] = (uint32_t)twi_get(tag->data, 4, false);
        result.denominator[i] = (uint32_t)twi_get(tag->data + 4, 4, false);
    }
    return result;
}

bool twi_metadata_from_exif(twi_metadata *metadata)
{
    twi_directories directories;
    twi_source source = twi_source_memory("", metadata->exif.bytes, metadata->exif.size);
    if (!twi_directories_read(&source, 0, twi_metadata_wants, &directories))
        return false;
    metadata->orientation = orientation_of(&directories.image);
    if (!has_resolution(metadata))
        metadata->resolution = resolution_of(&directories.image);
    twi_directories_free(&directories);
    return true;
}

/* Adds copies of the tags of `from` that are listed (`list` NULL: all) and that a classic TIFF can hold. */
static bool copy_tags(const twi_tags *from, const uint16_t *list, size_t count, twi_tags *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const twi_tag *tag = &from->list[i];
        if (tag->type < TWI_TAG_LONG8 && (!list || listed(list, count, tag->id)) &&
            !twi_tags_add(to, tag->id, tag->type, tag->count, tag->data))
            return false;
    }
    return true;
}

static bool add_pointers(twi_directories *directories)
{
    return (directories->exif.count == 0 || twi_tags_add_number(&directories->image, TWI_TAG_EXIF, TWI_TAG_LONG, 0)) &&
           (directories->gps.count == 0 || twi_tags_add_number(&directories->image, TWI_TAG_GPS, TWI_TAG_LONG, 0));
}

/* An EXIF block of its own with the directories' text tags, EXIF, GPS and that orientation. */
static bool make_exif(const twi_directories *from, uint16_t orientation, twi_blob *exif)
{
    twi_directories made = {0};
    bool fine = copy_tags(&from->image, text_tags, COUNT(text_tags), &made.image) &&
                copy_tags(&from->exif, NULL, 0, &made.exif) && copy_tags(&from->gps, NULL, 0, &made.gps) &&
                add_pointers(&made);
    if (fine && (orientation > 1 || made.image.count > 0)) {
        fine = orientation == 0 || twi_tags_add_number(&made.image, TWI_TAG_ORIENTATION, TWI_TAG_SHORT, orientation);
        const uint64_t size = twi_directories_bytes(&made, false);
        if (fine && size <= TWI_MOST_BLOB) {
            exif->bytes = malloc((size_t)size);
            fine = exif->bytes != NULL;
            if (fine) {
                twi_directories_write(&made, false, exif->bytes);
                exif->size = (size_t)size;
            }
        }
    }
    twi_directories_free(&made);
    return fine;
}

bool twi_metadata_exif(const twi_metadata *metadata, twi_blob *exif)
{
    static const twi_directories none = {0};
    *exif = (twi_blob){0};
    if (!metadata)
        return true;
    if (metadata->exif.size > 0)
        return twi_blob_set(exif, metadata->exif.bytes, metadata->exif.size);
    return make_exif(&none, metadata->orientation, exif);
}

static bool blob_from_tag(twi_blob *blob, const twi_tags *tags, uint16_t id)
{
    const twi_tag *tag = twi_tags_find(tags, id);
    return !tag || twi_blob_set(blob, tag->data, (size_t)twi_tag_bytes(tag));
}

bool twi_metadata_from_tiff(twi_metadata *metadata, twi_directories *directories)
{
    const twi_tags *tags = &directories->image;
    bool text = directories->exif.count > 0 || directories->gps.count > 0;
    metadata->orientation = orientation_of(tags);
    metadata->resolution = resolution_of(tags);
    for (size_t i = 0; i < COUNT(text_tags); i++)
        text = text || twi_tags_find(tags, text_tags[i]);
    /* a lone orientation is no EXIF: twi_metadata_exif() makes one where a format needs it */
    return (!text || make_exif(directories, metadata->orientation, &metadata->exif)) &&
           blob_from_tag(&metadata->xmp, tags, TWI_TAG_XMP) && blob_from_tag(&metadata->icc, tags, TWI_TAG_ICC) &&
           copy_tags(tags, geo_tags, COUNT(geo_tags), &metadata->geo);
}

/* Double `index` of a tag's data. */
static double double_at(const uint8_t *data, size_t index)
{
    double value;
    const uint64_t bits = twi_get(data + 8 * index, 8, false);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_double(uint8_t *data, size_t index, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    twi_put(data + 8 * index, 8, false, bits);
}

static void add_to_double(uint8_t *data, size_t index, double addend)
{
    put_double(data, index, double_at(data, index) + addend);
}

/* GeoTIFF ties raster positions (i, j, k) to places by points, or by a 4x4 matrix in rows. */
void twi_io_crop(twi_io_image *image, int64_t x, int64_t y)
{
    const twi_tags *geo = image->metadata ? &image->metadata->geo : NULL;
    for (size_t i = 0; geo && i < geo->count; i++) {
        const twi_tag *tag = &geo->list[i];
        if (tag->type != TWI_TAG_DOUBLE)
            continue;
        if (tag->id == TWI_TAG_TIE_POINTS) {
            for (size_t point = 0; point + 6 <= tag->count; point += 6) {
                add_to_double(tag->data, point, -(double)x);
                add_to_double(tag->data, point + 1, -(double)y);
            }
        } else if (tag->id == TWI_TAG_TRANSFORMATION && tag->count == 16) {
            for (size_t row = 0; row < 12; row += 4)
                add_to_double(tag->data, row + 3,
                              double_at(tag->data, row) * (double)x + double_at(tag->data, row + 1) * (double)y);
        }
    }
}

/* ---- Turns ----------------------------------------------------------------------------------------- */

/* A turned image of width x height pixels: rows and columns were exchanged, then left and right, top and bottom. */
typedef struct turned {
    bool exchange;
    bool left_right;
    bool top_bottom;
    double width;
    double height;
} turned;

static void remove_tag(twi_tags *tags, uint16_t id)
{
    for (size_t i = tags->count; i-- > 0;) {
        if (tags->list[i].id != id)
            continue;
        free(tags->list[i].data);
        tags->count--;
        memmove(&tags->list[i], &tags->list[i + 1], (tags->count - i) * sizeof *tags->list);
    }
}

/* The tag if it holds `count` doubles or more. */
static const twi_tag *doubles_of(const twi_tags *tags, uint16_t id, uint64_t count)
{
    const twi_tag *tag = twi_tags_find(tags, id);
    return tag && tag->type == TWI_TAG_DOUBLE && tag->count >= count ? tag : NULL;
}

/* A scale and a point, which cannot say that axes are exchanged or run backwards, as the matrix that can. */
static bool scale_to_matrix(twi_tags *geo)
{
    const twi_tag *scale = doubles_of(geo, TWI_TAG_PIXEL_SCALE, 3);
    const twi_tag *tie = doubles_of(geo, TWI_TAG_TIE_POINTS, 6);
    uint8_t matrix[16 * 8] = {0};
    if (!scale || !tie)
        return true;
    for (size_t axis = 0; axis < 3; axis++) {
        /* rows run downward, northings upward */
        const double step = axis == 1 ? -double_at(scale->data, axis) : double_at(scale->data, axis);
        put_double(matrix, 5 * axis, step);
        put_double(matrix, 4 * axis + 3, double_at(tie->data, 3 + axis) - step * double_at(tie->data, axis));
    }
    put_double(matrix, 15, 1);
    remove_tag(geo, TWI_TAG_PIXEL_SCALE);
    remove_tag(geo, TWI_TAG_TIE_POINTS);
    return twi_tags_add(geo, TWI_TAG_TRANSFORMATION, TWI_TAG_DOUBLE, 16, matrix);
}

/* The matrix of the turned image: its positions are first turned back. */
static void turn_matrix(uint8_t *matrix, const turned *t)
{
    for (size_t row = 0; row < 12; row += 4) {
        const double right = double_at(matrix, row + t->exchange);
        const double down = double_at(matrix, row + !t->exchange);
        put_double(matrix, row, t->left_right ? -right : right);
        put_double(matrix, row + 1, t->top_bottom ? -down : down);
        add_to_double(matrix, row + 3, (t->left_right ? right * t->width : 0) + (t->top_bottom ? down * t->height : 0));
    }
}

/* A raster position. */
static void turn_point(uint8_t *data, size_t point, const turned *t)
{
    const double x = double_at(data, point + t->exchange);
    const double y = double_at(data, point + !t->exchange);
    put_double(data, point, t->left_right ? t->width - x : x);
    put_double(data, point + 1, t->top_bottom ? t->height - y : y);
}

/* Where pixels are points, position 0 is the first one's middle: the last one's is the image's side less 1. */
static bool pixels_are_points(const twi_tags *geo)
{
    enum { RASTER_TYPE = 1025, IS_POINT = 2 };
    const twi_tag *keys = twi_tags_find(geo, TWI_TAG_GEO_KEYS);
    for (size_t i = 4; keys && i + 4 <= keys->count; i += 4)
        if (twi_tags_number(geo, TWI_TAG_GEO_KEYS, i, 0) == RASTER_TYPE)
            return twi_tags_number(geo, TWI_TAG_GEO_KEYS, i + 3, 0) == IS_POINT;
    return false;
}

static bool turn_geo(twi_tags *geo, turned t)
{
    if (pixels_are_points(geo)) {
        t.width--;
        t.height--;
    }
    if (!scale_to_matrix(geo))
        return false;
    const twi_tag *matrix = doubles_of(geo, TWI_TAG_TRANSFORMATION, 16);
    const twi_tag *points = doubles_of(geo, TWI_TAG_TIE_POINTS, 6);
    if (matrix)
        turn_matrix(matrix->data, &t);
    for (size_t point = 0; points && point + 6 <= points->count; point += 6)
        turn_point(points->data, point, &t);
    /* what could not be turned would be wrong: a scale without a point, tags of too few numbers */
    remove_tag(geo, TWI_TAG_PIXEL_SCALE);
    if (!matrix)
        remove_tag(geo, TWI_TAG_TRANSFORMATION);
    if (!points)
        remove_tag(geo, TWI_TAG_TIE_POINTS);
    return true;
}

/* The EXIF block with that orientation and without what describes the pixels as they lay: thumbnail, resolution. */
static bool turn_exif(twi_blob *exif, const turned *t, uint16_t orientation)
{
    enum { PIXEL_WIDTH = 0xa002, PIXEL_HEIGHT = 0xa003 };
    twi_directories directories;
    twi_blob made = {0};
    twi_source source = twi_source_memory("", exif->bytes, exif->size);
    if (!twi_directories_read(&source, 0, twi_metadata_wants, &directories))
        return false;
    if (t->exchange) {
        remove_tag(&directories.exif, PIXEL_WIDTH);
        remove_tag(&directories.exif, PIXEL_HEIGHT);
    }
    const bool fine = make_exif(&directories, orientation, &made);
    twi_directories_free(&directories);
    if (fine) {
        free(exif->bytes);
        *exif = made;
    }
    return fine;
}

/* Every tiff:Orientation, an attribute or an element, becomes 1. */
static void turn_xmp(twi_blob *xmp)
{
    static const char word[] = "tiff:Orientation";
    const size_t length = sizeof word - 1;
    for (size_t i = 0; i + length < xmp->size; i++) {
        if (memcmp(xmp->bytes + i, word, length) != 0)
            continue;
        size_t at = i + length;
        while (at < xmp->size && strchr("=\"'> \t\r\n", xmp->bytes[at]) && xmp->bytes[at] != '\0')
            at++;
        if (at < xmp->size && xmp->bytes[at] >= '1' && xmp->bytes[at] <= '8')
            xmp->bytes[at] = '1';
    }
}

twi_io_status twi_io_turn(twi_io_image *image, tw_turn turn)
{
    twi_metadata *metadata = image->metadata;
    const turned t = {
        .exchange = (turn & 1) != 0,
        .left_right = (turn & 2) != 0,
        .top_bottom = (turn & 4) != 0,
        .width = (double)image->image.width,
        .height = (double)image->image.height,
    };
    if (!metadata)
        return TWI_IO_OK;
    if (t.exchange) {
        const twi_resolution from = metadata->resolution;
        for (int i = 0; i < 2; i++) {
            metadata->resolution.numerator[i] = from.numerator[1 - i];
            metadata->resolution.denominator[i] = from.denominator[1 - i];
        }
    }
    metadata->orientation = metadata->orientation > 0 ? 1 : 0;
    turn_xmp(&metadata->xmp);
    if (!turn_geo(&metadata->geo, t) ||
        (metadata->exif.size > 0 && !turn_exif(&metadata->exif, &t, metadata->orientation)))
        return twi_io_fail(TWI_IO_MEMORY, "metadata", "out of memory");
    return TWI_IO_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

static bool add_resolution(const twi_metadata *metadata, twi_tags *tags)
{
    static const uint16_t units[] = {
        [TWI_UNIT_NONE] = 1, [TWI_UNIT_INCH] = 2, [TWI_UNIT_CENTIMETRE] = 3, [TWI_UNIT_METRE] = 3};
    const twi_resolution *resolution = &metadata->resolution;
    if (!has_resolution(metadata))
        return true;
    for (int i = 0; i < 2; i++) {
        uint32_t denominator = resolution->denominator[i];
        uint8_t fraction[8];
        /* a metre's denominator is 1: PNG has no fractions */
        if (resolution->unit == TWI_UNIT_METRE)
            denominator *= 100;
        twi_put(fraction, 4, false, resolution->numerator[i]);
        twi_put(fraction + 4, 4, false, denominator);
        if (!twi_tags_add(tags, i == 0 ? TWI_TAG_X_RESOLUTION : TWI_TAG_Y_RESOLUTION, TWI_TAG_RATIONAL, 1, fraction))
            return false;
    }
    return twi_tags_add_number(tags, TWI_TAG_RESOLUTION_UNIT, TWI_TAG_SHORT, units[resolution->unit]);
}

bool twi_metadata_to_tiff(const twi_metadata *metadata, twi_directories *directories)
{
    twi_directories exif;
    twi_tags *tags = &directories->image;
    if (!metadata)
        return true;
    twi_source source = twi_source_memory("", metadata->exif.bytes, metadata->exif.size);
    if (!twi_directories_read(&source, 0, twi_metadata_wants, &exif))
        return false;
    const bool fine = copy_tags(&exif.image, text_tags, COUNT(text_tags), tags) &&
                      copy_tags(&exif.exif, NULL, 0, &directories->exif) &&
                      copy_tags(&exif.gps, NULL, 0, &directories->gps) && add_pointers(directories) &&
                      add_resolution(metadata, tags) &&
                      (metadata->orientation == 0 ||
                       twi_tags_add_number(tags, TWI_TAG_ORIENTATION, TWI_TAG_SHORT, metadata->orientation)) &&
                      (metadata->xmp.size == 0 ||
                       twi_tags_add(tags, TWI_TAG_XMP, TWI_TAG_BYTE, metadata->xmp.size, metadata->xmp.bytes)) &&
                      (metadata->icc.size == 0 ||
                       twi_tags_add(tags, TWI_TAG_ICC, TWI_TAG_UNDEFINED, metadata->icc.size, metadata->icc.bytes)) &&
                      copy_tags(&metadata->geo, NULL, 0, tags);
    twi_directories_free(&exif);
    return fine;
}

bool twi_resolution_in(const twi_metadata *metadata, twi_unit unit, uint32_t most, uint32_t result[2])
{
    static const double metres[] = {[TWI_UNIT_INCH] = 0.0254, [TWI_UNIT_CENTIMETRE] = 0.01, [TWI_UNIT_METRE] = 1};
    if (!metadata || !has_resolution(metadata))
        return false;
    const twi_resolution *from = &metadata->resolution;
    /* a ratio is no length: it converts to nothing but itself */
    if ((from->unit == TWI_UNIT_NONE) != (unit == TWI_UNIT_NONE))
        return false;
    const double scale = unit == TWI_UNIT_NONE || unit == from->unit ? 1 : metres[unit] / metres[from->unit];
    for (int i = 0; i < 2; i++) {
        const double value = round(from->numerator[i] * scale / from->denominator[i]);
        if (value < 1 || value > most)
            return false;
        result[i] = (uint32_t)value;
    }
    return true;
}
