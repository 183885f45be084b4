/*
 * TIFF tags: directories as TIFF files and EXIF blocks both hold them. Read from any byte order, classic or
 * BigTIFF; kept and written in little-endian order.
 */
#ifndef TWI_TAGS_H
#define TWI_TAGS_H

#include "io/format.h"

enum {
    TWI_TAG_WIDTH = 256,
    TWI_TAG_HEIGHT = 257,
    TWI_TAG_BITS = 258,
    TWI_TAG_COMPRESSION = 259,
    TWI_TAG_PHOTOMETRIC = 262,
    TWI_TAG_DESCRIPTION = 270,
    TWI_TAG_MAKE = 271,
    TWI_TAG_MODEL = 272,
    TWI_TAG_STRIP_OFFSETS = 273,
    TWI_TAG_ORIENTATION = 274,
    TWI_TAG_SAMPLES = 277,
    TWI_TAG_ROWS_PER_STRIP = 278,
    TWI_TAG_STRIP_BYTES = 279,
    TWI_TAG_X_RESOLUTION = 282,
    TWI_TAG_Y_RESOLUTION = 283,
    TWI_TAG_PLANAR = 284,
    TWI_TAG_RESOLUTION_UNIT = 296,
    TWI_TAG_SOFTWARE = 305,
    TWI_TAG_DATE_TIME = 306,
    TWI_TAG_ARTIST = 315,
    TWI_TAG_EXTRA_SAMPLES = 338,
    TWI_TAG_SAMPLE_FORMAT = 339,
    TWI_TAG_XMP = 700,
    TWI_TAG_COPYRIGHT = 33432,
    TWI_TAG_PIXEL_SCALE = 33550,
    TWI_TAG_TIE_POINTS = 33922,
    TWI_TAG_TRANSFORMATION = 34264,
    TWI_TAG_EXIF = 34665,
    TWI_TAG_ICC = 34675,
    TWI_TAG_GEO_KEYS = 34735,
    TWI_TAG_GEO_DOUBLES = 34736,
    TWI_TAG_GEO_TEXT = 34737,
    TWI_TAG_GPS = 34853,
    TWI_TAG_INTEROPERABILITY = 40965,
    TWI_TAG_GDAL_METADATA = 42112,
    TWI_TAG_GDAL_NODATA = 42113
};

/* Types of values. */
enum {
    TWI_TAG_BYTE = 1,
    TWI_TAG_ASCII = 2,
    TWI_TAG_SHORT = 3,
    TWI_TAG_LONG = 4,
    TWI_TAG_RATIONAL = 5,
    TWI_TAG_UNDEFINED = 7,
    TWI_TAG_DOUBLE = 12,
    TWI_TAG_IFD = 13,
    TWI_TAG_LONG8 = 16,
    TWI_TAG_IFD8 = 18
};

typedef struct twi_tag {
    uint16_t id;
    uint16_t type;
    uint64_t count;
    uint8_t *data; /* little-endian, owned */
} twi_tag;

typedef struct twi_tags {
    twi_tag *list;
    size_t count;
} twi_tags;

/* Bytes of the tag's values. */
uint64_t twi_tag_bytes(const twi_tag *tag);
const twi_tag *twi_tags_find(const twi_tags *tags, uint16_t id);
/* Value `index` of a BYTE, SHORT, LONG or LONG8 tag; `otherwise` if it is not there. */
uint64_t twi_tags_number(const twi_tags *tags, uint16_t id, size_t index, uint64_t otherwise);

/* Adds a tag, values little-endian; an id that is there already stays as it is. false: out of memory. */
bool twi_tags_add(twi_tags *tags, uint16_t id, uint16_t type, uint64_t count, const void *data);
/* Adds one SHORT or LONG. */
bool twi_tags_add_number(twi_tags *tags, uint16_t id, uint16_t type, uint32_t value);
void twi_tags_free(twi_tags *tags);

/* The three directories that matter: the image's own, its EXIF and its GPS. */
typedef struct twi_directories {
    twi_tags image;
    twi_tags exif;
    twi_tags gps;
} twi_directories;

/* Reads the directory at `offset` (0: the first) of a TIFF file or EXIF block, of the image's tags only those
   for which `wanted` holds (NULL: all). Tags that are damaged are left out. false: out of memory. */
bool twi_directories_read(twi_source *source, uint64_t offset, bool (*wanted)(uint16_t id), twi_directories *result);
void twi_directories_free(twi_directories *directories);

/* Bytes of the header and all directories as a TIFF file begins with them; 16 bytes aligned. */
uint64_t twi_directories_bytes(const twi_directories *directories, bool bigtiff);
/* Writes them to `out`, which holds that many bytes. Tags that point to the EXIF and GPS directories are
   expected in `image`, with any value. */
void twi_directories_write(twi_directories *directories, bool bigtiff, uint8_t *out);

#endif
