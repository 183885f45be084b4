/* What a file says beside its pixels, in the one form that all formats are read into and written from. */
#ifndef TWI_METADATA_H
#define TWI_METADATA_H

#include "io/tags.h"

/* Kinds, as bits. */
enum {
    TWI_HAS_ICC = 1 << 0,
    TWI_HAS_EXIF = 1 << 1,
    TWI_HAS_XMP = 1 << 2,
    TWI_HAS_RESOLUTION = 1 << 3,
    TWI_HAS_ORIENTATION = 1 << 4,
    TWI_HAS_GEO = 1 << 5,
    TWI_KINDS = 6
};

/* The most bytes of one profile or block that are kept. */
#define TWI_MOST_BLOB ((size_t)64 << 20)

typedef struct twi_blob {
    uint8_t *bytes;
    size_t size; /* 0: none */
} twi_blob;

typedef enum twi_unit {
    TWI_UNIT_NONE = 0, /* only the ratio of x to y means something */
    TWI_UNIT_INCH,
    TWI_UNIT_CENTIMETRE,
    TWI_UNIT_METRE
} twi_unit;

/* Pixels a unit, as fractions: TIFF's are kept exactly. denominator 0: not said. */
typedef struct twi_resolution {
    uint32_t numerator[2];
    uint32_t denominator[2];
    twi_unit unit;
} twi_resolution;

/* What TIFF says about the samples beyond their type. */
typedef struct twi_samples {
    bool known;
    uint16_t photometric;
    uint16_t extra_count;
    uint16_t extra[4];
} twi_samples;

struct twi_metadata {
    const char *format; /* the format's name that the image was read from */
    twi_blob icc;
    twi_blob exif; /* from "II" or "MM" on */
    twi_blob xmp;
    twi_resolution resolution;
    uint16_t orientation; /* 1 to 8 as in TIFF and EXIF; 0: not said */
    twi_tags geo;         /* GeoTIFF's, GDAL's metadata and NoData */
    twi_samples samples;
};

void twi_metadata_free(twi_metadata *metadata);

/* A copy of the bytes; one that is there already stays. false: out of memory. Nothing or too much is left out. */
bool twi_blob_set(twi_blob *blob, const void *bytes, size_t size);

/* The kinds that there are. `metadata` may be NULL, here and below. */
unsigned twi_metadata_kinds(const twi_metadata *metadata);

/* Fills orientation and, if none is known, resolution from the EXIF block. false: out of memory. */
bool twi_metadata_from_exif(twi_metadata *metadata);

/* The tags of a TIFF's directory that metadata is made of. */
bool twi_metadata_wants(uint16_t id);
/* Moves what the directories of a TIFF file hold to the metadata. false: out of memory. */
bool twi_metadata_from_tiff(twi_metadata *metadata, twi_directories *directories);
/* Adds all that the metadata hold to a new TIFF file's directories. false: out of memory. */
bool twi_metadata_to_tiff(const twi_metadata *metadata, twi_directories *directories);

/* The EXIF block for a file that says orientation only there: the one that was read, or one made for the
   orientation. Size 0 if neither is needed. The caller frees the bytes. false: out of memory. */
bool twi_metadata_exif(const twi_metadata *metadata, twi_blob *exif);

/* The resolution in another unit, rounded to integers of 1 to `most`; false if there is none or it does not fit. */
bool twi_resolution_in(const twi_metadata *metadata, twi_unit unit, uint32_t most, uint32_t result[2]);

#endif
