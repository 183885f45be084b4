/*
 * TIFF and BigTIFF, read through libtiff: strips and tiles, any of its compressions, contiguous or separate planes,
 * any page. Tags beside the pixels are read by tags.c, since libtiff would judge and convert them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/metadata.h"
#include "io/tiff.h"

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

enum { MOST_PLANES = 4 };

/* More than this in a compressed strip, and reading its last row alone is costly. */
static const uint64_t small_strip = (uint64_t)4 << 20;

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
    bool tiled;
    bool flat; /* uncompressed strips: rows are read past libtiff */
    uint32_t tile_width;
    uint32_t tile_height; /* or rows of a strip */
    uint64_t tile_bytes;  /* of a tile as libtiff gives it, or of a row of a strip */
} layout;

/* What reading keeps. */
typedef struct reading {
    job work;
    layout page;
    TIFF *tiff[MOST_PLANES];   /* compressed strips in planes: one each, since each has a place of its own */
    int64_t next[MOST_PLANES]; /* the row that each would read next */
    uint8_t *scratch;          /* a tile, or a row of a strip */
    tw_image kept;             /* a row of tiles, the last that was decoded; no data: there was no room */
    int64_t kept_first;        /* its first row; -1: none */
} reading;

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

static twi_io_status failed(const reading *state)
{
    return damaged(&state->work);
}

/* Row `y` of a plane of uncompressed strips, as it is in the file. */
static bool read_flat_row(reading *state, uint32_t y, uint16_t plane, uint8_t *out)
{
    const layout *page = &state->page;
    TIFF *tiff = state->tiff[0];
    const uint64_t bytes = packed_bytes(page, page->width);
    const uint32_t strips = (uint32_t)(((uint64_t)page->height + page->tile_height - 1) / page->tile_height);
    const uint32_t strip = plane * strips + y / page->tile_height;
    const uint64_t skip = y % page->tile_height * bytes;
    if (skip + bytes > TIFFGetStrileByteCount(tiff, strip) ||
        twi_source_read_at(state->work.source, TIFFGetStrileOffset(tiff, strip) + skip, out, (size_t)bytes) < bytes)
        return false;
    if (TIFFIsByteSwapped(tiff) && page->bits > 8)
        twi_swap(out, (size_t)(bytes / (page->bits / 8)), page->bits / 8);
    return true;
}

/* The same of compressed ones, which libtiff only decodes from a strip's first row on. */
static bool read_strip_row(reading *state, uint32_t y, uint16_t plane, uint8_t *out)
{
    const int64_t begin = y - y % state->page.tile_height;
    int64_t *next = &state->next[plane];
    if (*next > y || *next < begin)
        *next = begin;
    for (; *next <= y; (*next)++)
        if (TIFFReadScanline(state->tiff[plane], out, (uint32_t)*next, plane) < 0)
            return false;
    return true;
}

static twi_io_status read_strips(reading *state, int64_t first, const tw_image *rows)
{
    const layout *page = &state->page;
    const bool straight = page->flat && page->conversion == COPY && !page->separate;
    for (uint16_t plane = 0; plane < planes_of(page); plane++) {
        for (int64_t y = 0; y < rows->height; y++) {
            const uint32_t row = (uint32_t)(first + y);
            uint8_t *out = straight ? twi_row(rows, y) : state->scratch;
            if (!(page->flat ? read_flat_row(state, row, plane, out) : read_strip_row(state, row, plane, out)))
                return failed(state);
            if (!straight)
                place(page, rows, out, 0, y, page->width, plane);
        }
    }
    return TWI_IO_OK;
}

/* A row of tiles, the first at row `top`: those rows of it that `rows` has, whose first is `first`. */
static bool read_tile_row(reading *state, int64_t top, int64_t first, const tw_image *rows)
{
    const layout *page = &state->page;
    const int64_t begin = top > first ? top : first;
    const int64_t end = twi_min_i64(top + page->tile_height, first + rows->height);
    TIFF *tiff = state->tiff[0];
    const uint64_t step = TIFFTileRowSize64(tiff);
    for (uint16_t plane = 0; plane < planes_of(page); plane++) {
        for (uint64_t x = 0; x < page->width; x += page->tile_width) {
            const uint64_t width = page->width - x < page->tile_width ? page->width - x : page->tile_width;
            if (TIFFReadTile(tiff, state->scratch, (uint32_t)x, (uint32_t)top, 0, plane) < 0)
                return false;
            for (int64_t y = begin; y < end; y++)
                place(page, rows, state->scratch + (uint64_t)(y - top) * step, (int64_t)x, y - first, width, plane);
        }
    }
    return true;
}

static twi_io_status read_tiles(reading *state, int64_t first, const tw_image *rows)
{
    const int64_t height = state->page.tile_height;
    tw_image *kept = &state->kept;
    for (int64_t top = first - first % height; top < first + rows->height; top += height) {
        const bool all = top >= first && twi_min_i64(top + height, state->page.height) <= first + rows->height;
        if (all || !kept->data) {
            if (!read_tile_row(state, top, first, rows))
                return failed(state);
            continue;
        }
        if (state->kept_first != top) {
            state->kept_first = -1;
            if (!read_tile_row(state, top, top, kept))
                return failed(state);
            state->kept_first = top;
        }
        for (int64_t y = twi_max_i64(top, first); y < twi_min_i64(top + height, first + rows->height); y++)
            memcpy(twi_row(rows, y - first), twi_row(kept, y - top), twi_row_bytes(rows));
    }
    return TWI_IO_OK;
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

/* libtiff holds a compressed strip as it is in the file. */
static twi_io_status take_large_strips(twi_reader *reader, const reading *state)
{
    uint64_t most = 0;
    reader->access = TWI_ACCESS_COSTLY;
    for (uint32_t strip = 0; strip < TIFFNumberOfStrips(state->tiff[0]); strip++) {
        const uint64_t bytes = TIFFGetStrileByteCount(state->tiff[0], strip);
        most = bytes > most ? bytes : most;
    }
    return twi_reader_hold(reader, most * planes_of(&state->page), "a compressed strip is held in memory");
}

/* Tiles, or strips as tiles of whole rows; and the memory for them. */
static twi_io_status take_tiles(twi_reader *reader, reading *state)
{
    layout *page = &state->page;
    TIFF *tiff = state->tiff[0];
    const char *name = reader->source.name;
    uint16_t fill = FILLORDER_MSB2LSB;
    state->kept_first = -1;
    page->tiled = TIFFIsTiled(tiff);
    if (page->tiled) {
        (void)TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &page->tile_width);
        (void)TIFFGetField(tiff, TIFFTAG_TILELENGTH, &page->tile_height);
        page->tile_bytes = TIFFTileSize64(tiff);
        if (page->tile_width == 0 || page->tile_height == 0 ||
            TIFFTileRowSize64(tiff) < packed_bytes(page, page->tile_width) ||
            page->tile_bytes / page->tile_height < packed_bytes(page, page->tile_width))
            return failed(state);
        if (page->tile_bytes > slack_bytes && page->tile_bytes - slack_bytes > reader->most_bytes)
            return twi_io_fail(TWI_IO_MEMORY, name, "tiles of %ux%u pixels exceed the limit", page->tile_width,
                               page->tile_height);
    } else {
        (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &page->tile_height);
        (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &fill);
        page->tile_bytes = TIFFScanlineSize64(tiff);
        if (page->tile_height == 0 || page->tile_bytes < packed_bytes(page, page->width) ||
            page->tile_bytes > INT64_MAX)
            return failed(state);
        if (page->tile_height > page->height)
            page->tile_height = page->height;
        page->flat = page->compression == COMPRESSION_NONE && fill == FILLORDER_MSB2LSB;
        if (!page->flat && page->tile_bytes * page->tile_height > small_strip)
            TWI_IO_TRY(take_large_strips(reader, state));
    }
    state->scratch = malloc((size_t)page->tile_bytes);
    if (!state->scratch)
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for a %s", page->tiled ? "tile" : "row");
    reader->held += page->tile_bytes;
    const uint64_t kept = twi_row_bytes(&reader->shape) * page->tile_height;
    if (page->tiled && !reader->whole && kept <= reader->most_bytes / 8 && (state->kept.data = malloc((size_t)kept))) {
        void *data = state->kept.data;
        state->kept = reader->shape;
        state->kept.data = data;
        state->kept.height = page->tile_height;
        reader->held += kept;
    }
    return TWI_IO_OK;
}

/* What is not compressed takes its full size in the file. */
static twi_io_status expect_pixels(const twi_source *source, const layout *page)
{
    const uint64_t row = packed_bytes(page, page->width) * planes_of(page);
    if (page->compression != COMPRESSION_NONE)
        return TWI_IO_OK;
    return twi_source_expect(source, row > UINT64_MAX / page->height ? UINT64_MAX - 1 : row * page->height);
}

static twi_io_status open_page(twi_reader *reader, reading *state)
{
    job *work = &state->work;
    layout *page = &state->page;
    layout same;
    TIFF *tiff = state->tiff[0] = open_tiff(work, reader->most_bytes);
    if (!tiff)
        return damaged(work);
    TWI_IO_TRY(choose_page(tiff, work, reader->page));
    TWI_IO_TRY(read_layout(tiff, work, page));
    TWI_IO_TRY(expect_pixels(work->source, page));
    TWI_IO_TRY(twi_reader_accept(reader, page->width, page->height, page->channels, page->type));
    TWI_IO_TRY(take_tiles(reader, state));
    TWI_IO_TRY(read_metadata(tiff, work, page, reader->metadata));
    for (uint16_t i = 1; i < planes_of(page) && !page->tiled && !page->flat; i++) {
        state->tiff[i] = open_tiff(work, reader->most_bytes);
        if (!state->tiff[i])
            return damaged(work);
        TWI_IO_TRY(choose_page(state->tiff[i], work, reader->page));
        TWI_IO_TRY(read_layout(state->tiff[i], work, &same));
    }
    work->text[0] = '\0';
    work->decoding = true;
    return TWI_IO_OK;
}

static twi_io_status open_tiff_file(twi_reader *reader)
{
    const uint64_t most = reader->most_bytes < UINT64_MAX - slack_bytes ? reader->most_bytes + slack_bytes : UINT64_MAX;
    TWI_IO_TRY(twi_source_spool(&reader->source, most));
    reading *state = reader->state = calloc(1, sizeof *state);
    if (!state)
        return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "out of memory for reading");
    state->work.source = &reader->source;
    return open_page(reader, state);
}

static twi_io_status read_tiff(twi_reader *reader, int64_t first, const tw_image *rows)
{
    reading *state = reader->state;
    TWI_IO_TRY(state->page.tiled ? read_tiles(state, first, rows) : read_strips(state, first, rows));
    if (state->work.text[0] != '\0')
        return failed(state);
    if (state->page.invert)
        invert(rows);
    return TWI_IO_OK;
}

static void close_tiff(twi_reader *reader)
{
    reading *state = reader->state;
    if (!state)
        return;
    for (int i = 0; i < MOST_PLANES; i++)
        if (state->tiff[i])
            TIFFClose(state->tiff[i]);
    free(state->scratch);
    free(state->kept.data);
    free(state);
}

const twi_format twi_format_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .endings = endings,
    .pages = true,
    .sniff = sniff,
    .can_hold = can_hold,
    .open = open_tiff_file,
    .rows = read_tiff,
    .close = close_tiff,
    .head = twi_tiff_head,
};
