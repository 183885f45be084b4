/*
 * TIFF and BigTIFF. Read through libtiff: strips and tiles, any of its compressions, contiguous or separate planes,
 * any page. Tags beside the pixels are read by tags.c, since libtiff would judge and convert them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/metadata.h"

static const char *const endings[] = {"tif", "tiff", NULL};

/* Room for libtiff's tables and odd tile sizes beyond the image's own limit. */
static const uint64_t slack_bytes = (uint64_t)64 << 20;

/* What libtiff's callbacks work on. */
typedef struct job {
    twi_source *source;
    uint64_t position;
    bool decoding;  /* pixels: a complaint means damage */
    char text[256]; /* libtiff's first complaint */
} job;

/* How samples in the file become elements in memory. */
typedef enum conversion { COPY = 0, HALF, BITS, PALETTE } conversion;

typedef struct layout {
    uint32_t width;
    uint32_t height;
    uint16_t samples; /* in the file, a pixel */
    uint16_t bits;
    uint16_t format;
    uint16_t photometric;
    uint16_t compression;
    bool separate; /* a plane a sample */
    bool invert;   /* 0 is white */
    conversion conversion;
    tw_type type;
    int32_t channels;
    const uint16_t *palette[3];
    int palette_shift;
} layout;

static bool sniff(const uint8_t *head, size_t count)
{
    static const char starts[4][5] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (int i = 0; i < 4; i++)
        if (count >= 4 && memcmp(head, starts[i], 4) == 0)
            return true;
    return false;
}

static bool can_hold(const char *ending, tw_type type, int32_t channels)
{
    (void)ending;
    return (unsigned)type < TW_TYPE_COUNT && channels >= 1 && channels <= 4;
}

/* ---- libtiff's view of a source -------------------------------------------------------------- */

static tmsize_t on_read(thandle_t handle, void *bytes, tmsize_t count)
{
    job *work = handle;
    const size_t got = count > 0 ? twi_source_read_at(work->source, work->position, bytes, (size_t)count) : 0;
    work->position += got;
    return (tmsize_t)got;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t count)
{
    (void)handle;
    (void)bytes;
    (void)count;
    return -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    job *work = handle;
    const uint64_t from = whence == SEEK_CUR ? work->position : whence == SEEK_END ? work->source->size : 0;
    work->position = from + offset;
    return work->position;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle)
{
    const job *work = handle;
    return work->source->size;
}

static int on_map(thandle_t handle, void **base, toff_t *size)
{
    (void)handle;
    (void)base;
    (void)size;
    return 0;
}

static void on_unmap(thandle_t handle, void *base, toff_t size)
{
    (void)handle;
    (void)base;
    (void)size;
}

TWI_PRINTF(4, 0)
static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    job *work = user;
    (void)tiff;
    (void)module;
    if (work->text[0] == '\0')
        (void)vsnprintf(work->text, sizeof work->text, format, arguments);
    return 1;
}

/* libjpeg only warns of damaged pixels and invents the rest; here that is a failure. */
TWI_PRINTF(4, 0)
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    const job *work = user;
    if (work->decoding && module && strcmp(module, "JPEGLib") == 0)
        return on_error(tiff, user, module, format, arguments);
    return 1;
}

static TIFF *open_tiff(job *work, uint64_t most_bytes)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    const uint64_t most = most_bytes < INT64_MAX - slack_bytes ? most_bytes + slack_bytes : INT64_MAX;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, work);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, work);
    TIFF *tiff =
        TIFFClientOpenExt("", "rm", work, on_read, on_write, on_seek, on_close, on_size, on_map, on_unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static twi_io_status damaged(const job *work)
{
    const char *text = work->text;
    if (work->source->error != 0)
        return twi_source_short(work->source);
    /* where libtiff begins with the file's name, which it was not told */
    if (strncmp(text, ": ", 2) == 0)
        text += 2;
    return twi_io_fail(TWI_IO_INPUT, work->source->name, "damaged or truncated TIFF: %s",
                       text[0] != '\0' ? text : "no directory of an image");
}

/* ---- What the page is ------------------------------------------------------------------------ */

static twi_io_status choose_page(TIFF *tiff, job *work, int64_t page)
{
    if (page == 0)
        return TWI_IO_OK;
    if (page <= UINT16_MAX && TIFFSetDirectory(tiff, (tdir_t)page))
        return TWI_IO_OK;
    const int64_t pages = TIFFNumberOfDirectories(tiff);
    if (page < pages)
        return damaged(work);
    return twi_io_fail(TWI_IO_USAGE, work->source->name, "page %lld: the file has %lld, counted from 0",
                       (long long)page, (long long)pages);
}

/* Type and conversion of the samples; false if there is none. */
static bool choose_type(layout *page)
{
    static const struct {
        uint16_t format;
        uint16_t bits;
        tw_type type;
        conversion conversion;
    } known[] = {
        {SAMPLEFORMAT_UINT, 1, TW_U8, BITS},     {SAMPLEFORMAT_UINT, 2, TW_U8, BITS},
        {SAMPLEFORMAT_UINT, 4, TW_U8, BITS},     {SAMPLEFORMAT_UINT, 8, TW_U8, COPY},
        {SAMPLEFORMAT_UINT, 16, TW_U16, COPY},   {SAMPLEFORMAT_INT, 16, TW_I16, COPY},
        {SAMPLEFORMAT_INT, 32, TW_I32, COPY},    {SAMPLEFORMAT_IEEEFP, 16, TW_F32, HALF},
        {SAMPLEFORMAT_IEEEFP, 32, TW_F32, COPY}, {SAMPLEFORMAT_IEEEFP, 64, TW_F64, COPY},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].format == page->format && known[i].bits == page->bits) {
            page->type = known[i].type;
            page->conversion = known[i].conversion;
            return true;
        }
    }
    return false;
}

static twi_io_status choose_colours(TIFF *tiff, const job *work, layout *page)
{
    uint16_t *map[3];
    const char *name = work->source->name;
    const bool integer = page->type == TW_U8 || page->type == TW_U16;
    switch (page->photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
        return TWI_IO_OK;
    case PHOTOMETRIC_MINISWHITE:
        if (!integer)
            return twi_io_fail(TWI_IO_INPUT, name, "a TIFF of %s where 0 is white: only u8 and u16 can be inverted",
                               tw_type_name(page->type));
        page->invert = true;
        page->photometric = PHOTOMETRIC_MINISBLACK;
        return TWI_IO_OK;
    case PHOTOMETRIC_PALETTE:
        if (page->samples != 1 || page->type != TW_U8 ||
            !TIFFGetField(tiff, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
            return twi_io_fail(TWI_IO_INPUT, name,
                               "a TIFF with a palette: 1, 2, 4 or 8 bits and a colour map are right");
        page->conversion = PALETTE;
        page->channels = 3;
        /* entries have 16 bits, but some programs write 8 */
        for (int i = 0; i < 3; i++) {
            page->palette[i] = map[i];
            for (int j = 0; j < 1 << page->bits; j++)
                if (map[i][j] > UINT8_MAX)
                    page->palette_shift = 8;
        }
        return TWI_IO_OK;
    case PHOTOMETRIC_YCBCR:
        /* libtiff converts what JPEG compressed, and nothing else of this kind */
        if (page->compression == COMPRESSION_JPEG && page->samples == 3 && page->type == TW_U8 &&
            TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB)) {
            page->photometric = PHOTOMETRIC_RGB;
            return TWI_IO_OK;
        }
        break;
    default:
        break;
    }
    return twi_io_fail(TWI_IO_INPUT, name,
                       "a TIFF of photometric kind %u: grey, RGB, palette, and YCbCr inside JPEG are supported",
                       (unsigned)page->photometric);
}

static twi_io_status read_layout(TIFF *tiff, const job *work, layout *page)
{
    uint16_t planar = PLANARCONFIG_CONTIG;
    const char *name = work->source->name;
    *page = (layout){0};
    (void)TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page->width);
    (void)TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page->height);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page->bits);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page->format);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &page->compression);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &page->photometric))
        page->photometric = page->samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    if (page->format == SAMPLEFORMAT_VOID)
        page->format = SAMPLEFORMAT_UINT;
    page->separate = planar == PLANARCONFIG_SEPARATE && page->samples > 1;
    page->channels = page->samples;
    if (page->width == 0 || page->height == 0)
        return twi_io_fail(TWI_IO_INPUT, name, "a TIFF page of %ux%u pixels", page->width, page->height);
    if (page->samples < 1 || page->samples > 4)
        return twi_io_fail(TWI_IO_INPUT, name, "a TIFF of %u samples a pixel: 1 to 4 are supported",
                           (unsigned)page->samples);
    if (!choose_type(page) || (page->bits < 8 && page->samples > 1))
        return twi_io_fail(
            TWI_IO_INPUT, name,
            "a TIFF of %u-bit samples of format %u, %u a pixel: unsigned of 1, 2, 4 (one a pixel), 8 and "
            "16 bits, signed of 16 and 32, and floats of 16, 32 and 64 are supported",
            (unsigned)page->bits, (unsigned)page->format, (unsigned)page->samples);
    if (page->compression == COMPRESSION_OJPEG || !TIFFIsCODECConfigured(page->compression))
        return twi_io_fail(TWI_IO_INPUT, name, "a TIFF of compression %u, which is not supported",
                           (unsigned)page->compression);
    return choose_colours(tiff, work, page);
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* IEEE half to single precision; every half is exact there. */
static float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half >> 15) << 31;
    uint32_t exponent = half >> 10 & 31;
    uint32_t fraction = half & 1023;
    uint32_t bits = sign;
    float value;
    if (exponent == 31) {
        bits |= 0x7f800000 | fraction << 13;
    } else if (exponent > 0) {
        bits |= (exponent + 112) << 23 | fraction << 13;
    } else if (fraction > 0) {
        /* below the normal range: shift until the leading bit is where singles imply it */
        for (exponent = 113; !(fraction & 1024); exponent--)
            fraction <<= 1;
        bits |= exponent << 23 | (fraction & 1023) << 13;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `count` samples of the file to elements at `out`, `step` elements apart. */
static void unpack(const layout *page, const uint8_t *in, size_t count, void *out, size_t step)
{
    const size_t size = tw_type_size(page->type);
    const unsigned most = (1U << (page->bits < 8 ? page->bits : 8)) - 1;
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = (uint8_t *)out + i * step * size;
        if (page->conversion == COPY) {
            memcpy(at, in + i * size, size);
        } else if (page->conversion == HALF) {
            uint16_t half;
            memcpy(&half, in + 2 * i, sizeof half);
            const float value = half_to_float(half);
            memcpy(at, &value, sizeof value);
        } else {
            const size_t bit = i * page->bits;
            const unsigned value = (unsigned)in[bit / 8] >> (8 - page->bits - bit % 8) & most;
            if (page->conversion == BITS)
                *at = (uint8_t)(value * (UINT8_MAX / most));
            else
                for (int j = 0; j < 3; j++)
                    at[j] = (uint8_t)(page->palette[j][value] >> page->palette_shift);
        }
    }
}

/* Elements of the image that a run of samples of plane `plane` makes, beginning at pixel (x, y). */
static void place(const layout *page, const tw_image *image, const uint8_t *in, int64_t x, int64_t y, size_t pixels,
                  uint16_t plane)
{
    const size_t size = tw_type_size(image->type);
    char *out = (char *)twi_row(image, y) + ((size_t)x * (size_t)image->channels + plane) * size;
    if (page->separate || page->conversion == PALETTE)
        unpack(page, in, pixels, out, (size_t)image->channels);
    else if (page->conversion == COPY)
        memcpy(out, in, pixels * (size_t)image->channels * size);
    else
        unpack(page, in, pixels * (size_t)image->channels, out, 1);
}

/* Bytes of a run of pixels of one plane in the file. */
static uint64_t packed_bytes(const layout *page, uint64_t pixels)
{
    return (pixels * page->bits * (page->separate ? 1 : page->samples) + 7) / 8;
}

static uint16_t planes_of(const layout *page)
{
    return page->separate ? page->samples : 1;
}

static twi_io_status read_strips(TIFF *tiff, const job *work, const layout *page, const tw_image *image)
{
    const uint64_t bytes = TIFFScanlineSize64(tiff);
    if (bytes < packed_bytes(page, page->width) || bytes > INT64_MAX)
        return damaged(work);
    uint8_t *row = malloc((size_t)bytes);
    if (!row)
        return twi_io_fail(TWI_IO_MEMORY, work->source->name, "out of memory for a row");
    bool fine = true;
    for (uint16_t plane = 0; plane < planes_of(page); plane++) {
        for (uint32_t y = 0; y < page->height && fine; y++) {
            fine = TIFFReadScanline(tiff, row, y, plane) >= 0;
            if (fine)
                place(page, image, row, 0, y, page->width, plane);
        }
    }
    free(row);
    return fine ? TWI_IO_OK : damaged(work);
}

/* One tile of one plane, its part inside the image. */
static bool read_tile(TIFF *tiff, const layout *page, const tw_image *image, uint8_t *tile, uint32_t tile_width,
                      uint32_t tile_height, uint32_t x, uint32_t y, uint16_t plane)
{
    const uint32_t width = page->width - x < tile_width ? page->width - x : tile_width;
    const uint32_t height = page->height - y < tile_height ? page->height - y : tile_height;
    const uint64_t step = TIFFTileRowSize64(tiff);
    if (TIFFReadTile(tiff, tile, x, y, 0, plane) < 0)
        return false;
    for (uint32_t i = 0; i < height; i++)
        place(page, image, tile + i * step, x, y + i, width, plane);
    return true;
}

static twi_io_status read_tiles(TIFF *tiff, const job *work, const layout *page, const twi_request *request,
                                const tw_image *image)
{
    uint32_t width = 0;
    uint32_t height = 0;
    (void)TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
    (void)TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
    const uint64_t bytes = TIFFTileSize64(tiff);
    if (width == 0 || height == 0 || TIFFTileRowSize64(tiff) < packed_bytes(page, width) ||
        bytes / height < packed_bytes(page, width))
        return damaged(work);
    if (bytes > slack_bytes && bytes - slack_bytes > request->most_bytes)
        return twi_io_fail(TWI_IO_MEMORY, work->source->name, "tiles of %ux%u pixels exceed the limit", width, height);
    uint8_t *tile = malloc((size_t)bytes);
    if (!tile)
        return twi_io_fail(TWI_IO_MEMORY, work->source->name, "out of memory for a tile");
    bool fine = true;
    for (uint16_t plane = 0; plane < planes_of(page); plane++)
        for (uint64_t y = 0; y < page->height && fine; y += height)
            for (uint64_t x = 0; x < page->width && fine; x += width)
                fine = read_tile(tiff, page, image, tile, width, height, (uint32_t)x, (uint32_t)y, plane);
    free(tile);
    return fine ? TWI_IO_OK : damaged(work);
}

static void invert(const tw_image *image)
{
    for (int64_t y = 0; y < image->height; y++) {
        uint8_t *row = twi_row(image, y);
        /* all bits flipped is the maximum less the value */
        for (size_t i = 0; i < twi_row_bytes(image); i++)
            row[i] = (uint8_t)~row[i];
    }
}

static twi_io_status read_metadata(TIFF *tiff, const job *work, const layout *page, twi_metadata *metadata)
{
    twi_directories directories;
    uint16_t count = 0;
    uint16_t *extra = NULL;
    if (!twi_directories_read(work->source, TIFFCurrentDirOffset(tiff), twi_metadata_wants, &directories))
        return twi_io_fail(TWI_IO_MEMORY, work->source->name, "out of memory for metadata");
    const bool fine = twi_metadata_from_tiff(metadata, &directories);
    twi_directories_free(&directories);
    if (!fine)
        return twi_io_fail(TWI_IO_MEMORY, work->source->name, "out of memory for metadata");
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &extra);
    const uint16_t colours = page->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    if (page->conversion != PALETTE && count <= 4 && colours + count == page->samples) {
        metadata->samples = (twi_samples){.known = true, .photometric = page->photometric, .extra_count = count};
        for (uint16_t i = 0; i < count; i++)
            metadata->samples.extra[i] = extra[i];
    }
    return TWI_IO_OK;
}

static twi_io_status read_page(TIFF *tiff, job *work, const twi_request *request, twi_io_image *result)
{
    layout page;
    TWI_IO_TRY(choose_page(tiff, work, request->page));
    TWI_IO_TRY(read_layout(tiff, work, &page));
    /* what is not compressed takes its full size in the file */
    const uint64_t planes = page.separate ? page.samples : 1;
    if (page.compression == COMPRESSION_NONE)
        TWI_IO_TRY(twi_source_expect(work->source, packed_bytes(&page, page.width) * planes > UINT64_MAX / page.height
                                                       ? UINT64_MAX - 1
                                                       : packed_bytes(&page, page.width) * planes * page.height));
    TWI_IO_TRY(twi_image_take(work->source, request, page.width, page.height, page.channels, page.type, result));
    work->text[0] = '\0';
    work->decoding = true;
    TWI_IO_TRY(TIFFIsTiled(tiff) ? read_tiles(tiff, work, &page, request, &result->image)
                                 : read_strips(tiff, work, &page, &result->image));
    if (work->text[0] != '\0')
        return damaged(work);
    if (page.invert)
        invert(&result->image);
    return read_metadata(tiff, work, &page, result->metadata);
}

static twi_io_status read_tiff(twi_source *source, const twi_request *request, twi_io_image *result)
{
    job work = {.source = source};
    const uint64_t most =
        request->most_bytes < UINT64_MAX - slack_bytes ? request->most_bytes + slack_bytes : UINT64_MAX;
    TWI_IO_TRY(twi_source_spool(source, most));
    TIFF *tiff = open_tiff(&work, request->most_bytes);
    if (!tiff)
        return damaged(&work);
    const twi_io_status status = read_page(tiff, &work, request, result);
    TIFFClose(tiff);
    return status;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

/*
 * Written by hand, front to back: header, tags, then the rows as uncompressed strips. libtiff would have to go
 * back in the file, which a pipe cannot, and would rewrite the tags' fractions.
 */
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

static twi_io_status write_tiff(twi_sink *sink, const tw_image *image, const twi_metadata *metadata, unsigned *kept)
{
    uint64_t size = 0;
    if (image->width > UINT32_MAX || image->height > UINT32_MAX)
        return twi_io_fail(TWI_IO_USAGE, sink->name, "%lldx%lld pixels: a side of a TIFF has %u at most",
                           (long long)image->width, (long long)image->height, UINT32_MAX);
    uint8_t *head = make_head(image, metadata, &size);
    uint8_t *scratch = malloc(twi_row_bytes(image));
    twi_io_status status = TWI_IO_OK;
    if (!head || !scratch) {
        status = twi_io_fail(TWI_IO_MEMORY, sink->name, "out of memory for writing");
    } else {
        bool fine = twi_sink_write(sink, head, (size_t)size);
        for (int64_t y = 0; y < image->height && fine; y++)
            fine = twi_sink_row(sink, image, y, false, scratch);
        if (!fine)
            status = twi_sink_failed(sink);
    }
    free(head);
    free(scratch);
    *kept |= twi_metadata_kinds(metadata);
    return status;
}

const twi_format twi_format_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .endings = endings,
    .pages = true,
    .sniff = sniff,
    .read = read_tiff,
    .can_hold = can_hold,
    .write = write_tiff,
};
