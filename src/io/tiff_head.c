/*
 * What stands before the pixels of a TIFF that is written: header, tags, and where the uncompressed strips lie. Made
 * by hand, since rows follow front to back: libtiff would have to go back in the file, which a pipe cannot, and would
 * rewrite the tags' fractions.
 */
#include <stdlib.h>

#include <tiffio.h>

#include "io/bytes.h"
#include "io/metadata.h"
#include "io/tiff.h"

enum { STRIP_BYTES = 1 << 18 };

static uint64_t rows_per_strip(const tw_image *image)
{
    const uint64_t rows = STRIP_BYTES / twi_row_bytes(image);
    const uint64_t height = (uint64_t)image->height;
    return rows < 1 ? 1 : rows > height ? height : rows;
}

static uint64_t pixel_bytes(const tw_image *image)
{
    return twi_row_bytes(image) * (uint64_t)image->height;
}

/* A SHORT for each channel, all the same. */
static bool add_per_channel(twi_tags *tags, uint16_t id, uint16_t value, int32_t channels)
{
    uint8_t values[8];
    for (int32_t i = 0; i < channels; i++)
        twi_put(values + 2 * i, 2, false, value);
    return twi_tags_add(tags, id, TWI_TAG_SHORT, (uint64_t)channels, values);
}

/* Photometric kind and extra samples: the input's where they fit, else grey or RGB with alpha. */
static bool add_colours(twi_tags *tags, const twi_metadata *metadata, int32_t channels)
{
    uint8_t extra[8];
    twi_samples samples = {.photometric = channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB,
                           .extra_count = channels % 2 == 0,
                           .extra = {EXTRASAMPLE_UNASSALPHA}};
    if (metadata && metadata->samples.known &&
        (metadata->samples.photometric == PHOTOMETRIC_RGB ? 3 : 1) + metadata->samples.extra_count == channels)
        samples = metadata->samples;
    for (uint16_t i = 0; i < samples.extra_count; i++)
        twi_put(extra + 2 * i, 2, false, samples.extra[i]);
    return twi_tags_add_number(tags, TWI_TAG_PHOTOMETRIC, TWI_TAG_SHORT, samples.photometric) &&
           (samples.extra_count == 0 ||
            twi_tags_add(tags, TWI_TAG_EXTRA_SAMPLES, TWI_TAG_SHORT, samples.extra_count, extra));
}

/* Offset and length of each strip, the first at `offset`. */
static bool add_strips(twi_tags *tags, const tw_image *image, bool bigtiff)
{
    const uint64_t rows = rows_per_strip(image);
    const uint64_t strips = ((uint64_t)image->height + rows - 1) / rows;
    const uint16_t type = bigtiff ? TWI_TAG_LONG8 : TWI_TAG_LONG;
    uint8_t *zeros = calloc((size_t)strips, bigtiff ? 8 : 4);
    const bool fine = zeros && twi_tags_add(tags, TWI_TAG_STRIP_OFFSETS, type, strips, zeros) &&
                      twi_tags_add(tags, TWI_TAG_STRIP_BYTES, type, strips, zeros);
    free(zeros);
    return fine;
}

static void fill_strips(const twi_tags *tags, const tw_image *image, bool bigtiff, uint64_t offset)
{
    const twi_tag *offsets = twi_tags_find(tags, TWI_TAG_STRIP_OFFSETS);
    const twi_tag *lengths = twi_tags_find(tags, TWI_TAG_STRIP_BYTES);
    const size_t word = bigtiff ? 8 : 4;
    const uint64_t whole = rows_per_strip(image) * twi_row_bytes(image);
    uint64_t left = pixel_bytes(image);
    for (size_t i = 0; i < offsets->count; i++) {
        const uint64_t length = left < whole ? left : whole;
        twi_put(offsets->data + i * word, word, false, offset);
        twi_put(lengths->data + i * word, word, false, length);
        offset += length;
        left -= length;
    }
}

static bool describe(const tw_image *image, const twi_metadata *metadata, bool bigtiff, twi_directories *directories)
{
    static const uint16_t sample_formats[TW_TYPE_COUNT] = {
        [TW_U8] = SAMPLEFORMAT_UINT, [TW_U16] = SAMPLEFORMAT_UINT,   [TW_I16] = SAMPLEFORMAT_INT,
        [TW_I32] = SAMPLEFORMAT_INT, [TW_F32] = SAMPLEFORMAT_IEEEFP, [TW_F64] = SAMPLEFORMAT_IEEEFP};
    twi_tags *tags = &directories->image;
    const int32_t channels = image->channels;
    *directories = (twi_directories){0};
    return twi_tags_add_number(tags, TWI_TAG_WIDTH, TWI_TAG_LONG, (uint32_t)image->width) &&
           twi_tags_add_number(tags, TWI_TAG_HEIGHT, TWI_TAG_LONG, (uint32_t)image->height) &&
           add_per_channel(tags, TWI_TAG_BITS, (uint16_t)(8 * tw_type_size(image->type)), channels) &&
           twi_tags_add_number(tags, TWI_TAG_COMPRESSION, TWI_TAG_SHORT, COMPRESSION_NONE) &&
           add_colours(tags, metadata, channels) && add_strips(tags, image, bigtiff) &&
           twi_tags_add_number(tags, TWI_TAG_SAMPLES, TWI_TAG_SHORT, (uint32_t)channels) &&
           twi_tags_add_number(tags, TWI_TAG_ROWS_PER_STRIP, TWI_TAG_LONG, (uint32_t)rows_per_strip(image)) &&
           twi_tags_add_number(tags, TWI_TAG_PLANAR, TWI_TAG_SHORT, PLANARCONFIG_CONTIG) &&
           add_per_channel(tags, TWI_TAG_SAMPLE_FORMAT, sample_formats[image->type], channels) &&
           twi_metadata_to_tiff(metadata, directories);
}

/* The whole head of the file; NULL: out of memory. The caller frees it. */
static uint8_t *make_head(const tw_image *image, const twi_metadata *metadata, uint64_t *size)
{
    twi_directories directories;
    uint8_t *head = NULL;
    bool bigtiff = pixel_bytes(image) > UINT32_MAX;
    bool fine = describe(image, metadata, bigtiff, &directories);
    if (fine && !bigtiff && twi_directories_bytes(&directories, false) > UINT32_MAX - pixel_bytes(image)) {
        twi_directories_free(&directories);
        bigtiff = true;
        fine = describe(image, metadata, bigtiff, &directories);
    }
    if (fine) {
        *size = twi_directories_bytes(&directories, bigtiff);
        fill_strips(&directories.image, image, bigtiff, *size);
        head = malloc((size_t)*size);
        if (head)
            twi_directories_write(&directories, bigtiff, head);
    }
    twi_directories_free(&directories);
    return head;
}

twi_io_status twi_tiff_head(const char *name, const tw_image *image, const twi_metadata *metadata, twi_head *head,
                            unsigned *kept)
{
    if (image->width > UINT32_MAX || image->height > UINT32_MAX)
        return twi_io_fail(TWI_IO_USAGE, name, "%lldx%lld pixels: a side of a TIFF has %u at most",
                           (long long)image->width, (long long)image->height, UINT32_MAX);
    *head = (twi_head){0};
    head->bytes = make_head(image, metadata, &head->flat.offset);
    if (!head->bytes)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for writing");
    *kept |= twi_metadata_kinds(metadata);
    return TWI_IO_OK;
}
