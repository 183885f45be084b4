/*
 * PNG through libpng. Below 8 bits samples expand to the full range, palettes to RGB, tRNS to alpha. The chunks
 * beside the pixels (iCCP, pHYs, eXIf, XMP's iTXt) are handled here, byte for byte: libpng would judge them.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/metadata.h"

static const char *const endings[] = {"png", NULL};
static const char xmp_keyword[] = "XML:com.adobe.xmp";
static const char icc_name[] = "ICC profile";
static const char exif_prefix[6] = "Exif\0";

enum { MOST_SIDE = 0x7fffffff, DEFLATE_RATIO = 1032 };

/* What libpng's callbacks work on. */
typedef struct job {
    twi_source *source;
    twi_sink *sink;
    twi_metadata metadata; /* collected before the image exists */
    uint8_t *chunk;        /* one that is being written: a failure jumps past its owner */
    bool starved;          /* memory was refused */
    char text[160];        /* libpng's words on failure */
} job;

static bool sniff(const uint8_t *head, size_t count)
{
    return count >= 8 && png_sig_cmp(head, 0, 8) == 0;
}

static bool can_hold(const char *ending, tw_type type, int32_t channels)
{
    (void)ending;
    return (type == TW_U8 || type == TW_U16) && channels >= 1 && channels <= 4;
}

static PNG_NORETURN void on_error(png_structp png, png_const_charp text)
{
    job *work = png_get_error_ptr(png);
    (void)snprintf(work->text, sizeof work->text, "%s", text);
    png_longjmp(png, 1);
}

static png_voidp on_allocate(png_structp png, png_alloc_size_t size)
{
    job *work = png_get_mem_ptr(png);
    void *memory = malloc(size);
    work->starved |= !memory;
    return memory;
}

static void on_release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void read_bytes(png_structp png, png_bytep bytes, size_t count)
{
    job *work = png_get_io_ptr(png);
    if (twi_source_read(work->source, bytes, count) < count)
        png_error(png, "truncated");
}

/* Inflates a zlib stream of unknown length, at most TWI_MOST_BLOB, into the blob. false: out of memory. What is
   damaged or too large is left out. */
static bool inflate_blob(const uint8_t *bytes, size_t size, twi_blob *blob)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    uint8_t *data = NULL;
    size_t room = 0;
    int state = Z_OK;
    if (blob->size > 0 || inflateInit(&stream) != Z_OK)
        return true;
    while (state == Z_OK && stream.avail_out == 0 && room < TWI_MOST_BLOB) {
        const size_t grown = room > 0 ? 2 * room : 4096;
        uint8_t *larger = realloc(data, grown);
        if (!larger) {
            (void)inflateEnd(&stream);
            free(data);
            return false;
        }
        data = larger;
        stream.next_out = data + room;
        stream.avail_out = (uInt)(grown - room);
        room = grown;
        state = inflate(&stream, Z_NO_FLUSH);
    }
    const size_t length = room - stream.avail_out;
    (void)inflateEnd(&stream);
    if (state != Z_STREAM_END || length == 0) {
        free(data);
        return true;
    }
    *blob = (twi_blob){data, length};
    return true;
}

/* Behind the NUL that ends the text at `at`; NULL if none does. */
static const uint8_t *behind_text(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *nul = at ? memchr(at, 0, (size_t)(end - at)) : NULL;
    return nul ? nul + 1 : NULL;
}

/* iTXt: keyword, compressed or not, method, language, keyword again, text. */
static bool take_xmp(job *work, const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;
    if (size < sizeof xmp_keyword + 2 || memcmp(bytes, xmp_keyword, sizeof xmp_keyword) != 0)
        return true;
    const bool compressed = bytes[sizeof xmp_keyword] == 1;
    const uint8_t *text = behind_text(behind_text(bytes + sizeof xmp_keyword + 2, end), end);
    if (!text)
        return true;
    return compressed ? inflate_blob(text, (size_t)(end - text), &work->metadata.xmp)
                      : twi_blob_set(&work->metadata.xmp, text, (size_t)(end - text));
}

/* iCCP: name, method, profile. */
static bool take_icc(job *work, const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;
    const uint8_t *method = behind_text(bytes, end);
    if (!method || method == end)
        return true;
    return inflate_blob(method + 1, (size_t)(end - method) - 1, &work->metadata.icc);
}

static bool take_exif(job *work, const uint8_t *bytes, size_t size)
{
    /* the prefix belongs to JPEG, but some programs write it here */
    const size_t skip = size > 6 && memcmp(bytes, exif_prefix, sizeof exif_prefix) == 0 ? sizeof exif_prefix : 0;
    return twi_blob_set(&work->metadata.exif, bytes + skip, size - skip);
}

static void take_resolution(job *work, const uint8_t *bytes, size_t size)
{
    twi_resolution *resolution = &work->metadata.resolution;
    if (size != 9 || bytes[8] > 1 || twi_get(bytes, 4, true) == 0 || twi_get(bytes + 4, 4, true) == 0)
        return;
    for (int i = 0; i < 2; i++) {
        resolution->numerator[i] = (uint32_t)twi_get(bytes + 4 * i, 4, true);
        resolution->denominator[i] = 1;
    }
    resolution->unit = bytes[8] == 1 ? TWI_UNIT_METRE : TWI_UNIT_NONE;
}

/* Every chunk that is not pixels comes by here. */
static int on_chunk(png_structp png, png_unknown_chunkp chunk)
{
    job *work = png_get_user_chunk_ptr(png);
    const bool critical = (chunk->name[0] & 0x20) == 0;
    bool fine = true;
    if (chunk->size == 0)
        return !critical;
    if (memcmp(chunk->name, "iCCP", 4) == 0)
        fine = take_icc(work, chunk->data, chunk->size);
    else if (memcmp(chunk->name, "iTXt", 4) == 0)
        fine = take_xmp(work, chunk->data, chunk->size);
    else if (memcmp(chunk->name, "eXIf", 4) == 0)
        fine = take_exif(work, chunk->data, chunk->size);
    else if (memcmp(chunk->name, "pHYs", 4) == 0)
        take_resolution(work, chunk->data, chunk->size);
    return fine ? !critical : -1;
}

static bool has_palette(png_structp png, png_infop info)
{
    return png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE;
}

/* The image in memory as the header says; libpng set to deliver just that, or a byte a pixel that names a colour. */
static twi_io_status prepare(png_structp png, png_infop info, job *work, const twi_request *request,
                             twi_io_image *result)
{
    png_set_user_limits(png, MOST_SIDE, MOST_SIDE);
    png_set_chunk_malloc_max(png, TWI_MOST_BLOB);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_user_chunk_fn(png, work, on_chunk);
    png_set_read_fn(png, work, read_bytes);
    png_read_info(png, info);
    const uint64_t width = png_get_image_width(png, info);
    const uint64_t height = png_get_image_height(png, info);
    const int colours = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) ? 3 : 1;
    const int alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    /* before libpng takes memory for a row */
    TWI_IO_TRY(twi_source_expect(work->source, png_get_rowbytes(png, info) * height / DEFLATE_RATIO));
    TWI_IO_TRY(twi_image_take(work->source, request, width, height, colours + alpha,
                              png_get_bit_depth(png, info) == 16 ? TW_U16 : TW_U8, result));
    if (has_palette(png, info))
        png_set_packing(png);
    else
        png_set_expand(png);
    if (!twi_host_big())
        png_set_swap(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (has_palette(png, info) ? width : twi_row_bytes(&result->image)))
        png_error(png, "rows of an unexpected length");
    return TWI_IO_OK;
}

/* The names of colours at the begin of each row become colours. libpng would take black for a name beyond the palette.
 */
static void expand_palette(png_structp png, png_infop info, const tw_image *image)
{
    png_colorp colours = NULL;
    png_bytep alphas = NULL;
    int count = 0;
    int transparent = 0;
    (void)png_get_PLTE(png, info, &colours, &count);
    (void)png_get_tRNS(png, info, &alphas, &transparent, NULL);
    for (int64_t y = 0; y < image->height; y++) {
        uint8_t *row = twi_row(image, y);
        for (int64_t x = image->width; x-- > 0;) { /* from the end: a pixel never lies before its name */
            const int name = row[x];
            uint8_t *pixel = row + x * image->channels;
            if (name >= count)
                png_error(png, "a pixel names a colour beyond the palette");
            pixel[0] = colours[name].red;
            pixel[1] = colours[name].green;
            pixel[2] = colours[name].blue;
            if (image->channels == 4)
                pixel[3] = name < transparent ? alphas[name] : UINT8_MAX;
        }
    }
}

static twi_io_status decode(png_structp png, png_infop info, job *work, const twi_request *request,
                            twi_io_image *result)
{
    if (setjmp(png_jmpbuf(png))) {
        if (strcmp(work->text, "truncated") == 0)
            return twi_source_short(work->source);
        if (work->starved)
            return twi_io_fail(TWI_IO_MEMORY, work->source->name, "out of memory for libpng");
        return twi_io_fail(TWI_IO_INPUT, work->source->name, "damaged PNG: %s", work->text);
    }
    TWI_IO_TRY(prepare(png, info, work, request, result));
    const int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? PNG_INTERLACE_ADAM7_PASSES : 1;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < result->image.height; y++)
            png_read_row(png, twi_row(&result->image, y), NULL);
    if (has_palette(png, info))
        expand_palette(png, info, &result->image);
    /* the chunks behind the pixels, and whether the file is whole */
    png_read_end(png, NULL);
    return TWI_IO_OK;
}

static twi_io_status read_png(twi_source *source, const twi_request *request, twi_io_image *result)
{
    job work = {.source = source};
    twi_io_status status = TWI_IO_MEMORY;
    png_structp png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &work, on_error, on_warning, &work, on_allocate, on_release);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info)
        status = decode(png, info, &work, request, result);
    else
        (void)twi_io_fail(status, source->name, "out of memory for libpng");
    png_destroy_read_struct(&png, &info, NULL);
    if (result->metadata) {
        *result->metadata = work.metadata;
        if (status == TWI_IO_OK && !twi_metadata_from_exif(result->metadata))
            status = twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for metadata");
    } else {
        free(work.metadata.icc.bytes);
        free(work.metadata.exif.bytes);
        free(work.metadata.xmp.bytes);
    }
    return status;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_bytes(png_structp png, png_bytep bytes, size_t count)
{
    job *work = png_get_io_ptr(png);
    if (!twi_sink_write(work->sink, bytes, count))
        png_error(png, "write");
}

static void write_flush(png_structp png)
{
    (void)png;
}

/* A chunk of the text `head`, its NUL and `extra` more zero bytes, and the data, deflated or as they are.
   false: out of memory. */
static bool write_chunk(png_structp png, job *work, const char *name, const char *head, size_t extra,
                        const twi_blob *blob, bool deflated)
{
    const size_t skip = strlen(head) + 1 + extra;
    uLongf size = deflated ? compressBound((uLong)blob->size) : (uLongf)blob->size;
    uint8_t *bytes = calloc(skip + size, 1);
    work->chunk = bytes;
    if (!bytes)
        return false;
    memcpy(bytes, head, strlen(head));
    if (!deflated)
        memcpy(bytes + skip, blob->bytes, blob->size);
    else if (compress2(bytes + skip, &size, blob->bytes, (uLong)blob->size, Z_BEST_COMPRESSION) != Z_OK)
        size = 0;
    png_write_chunk(png, (png_const_bytep)name, bytes, skip + size);
    free(bytes);
    work->chunk = NULL;
    return true;
}

static bool write_metadata(png_structp png, job *work, const twi_metadata *metadata, const twi_blob *exif,
                           unsigned *kept)
{
    uint32_t pixels[2];
    uint8_t physical[9] = {0};
    if (!metadata)
        return true;
    if (metadata->icc.size > 0) {
        if (!write_chunk(png, work, "iCCP", icc_name, 1, &metadata->icc, true))
            return false;
        *kept |= TWI_HAS_ICC;
    }
    const bool ratio = metadata->resolution.unit == TWI_UNIT_NONE;
    if (twi_resolution_in(metadata, ratio ? TWI_UNIT_NONE : TWI_UNIT_METRE, MOST_SIDE, pixels)) {
        twi_put(physical, 4, true, pixels[0]);
        twi_put(physical + 4, 4, true, pixels[1]);
        physical[8] = !ratio;
        png_write_chunk(png, (png_const_bytep) "pHYs", physical, sizeof physical);
        *kept |= TWI_HAS_RESOLUTION;
    }
    if (exif->size > 0) {
        png_write_chunk(png, (png_const_bytep) "eXIf", exif->bytes, exif->size);
        *kept |= TWI_HAS_EXIF | TWI_HAS_ORIENTATION;
    }
    if (metadata->xmp.size > 0) {
        /* not compressed, method 0, no language, no translated keyword */
        if (!write_chunk(png, work, "iTXt", xmp_keyword, 4, &metadata->xmp, false))
            return false;
        *kept |= TWI_HAS_XMP;
    }
    return true;
}

static twi_io_status encode(png_structp png, png_infop info, job *work, const tw_image *image,
                            const twi_metadata *metadata, const twi_blob *exif, unsigned *kept)
{
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(png))) {
        if (work->sink->error != 0)
            return twi_sink_failed(work->sink);
        return twi_io_fail(TWI_IO_MEMORY, work->sink->name, "libpng failed: %s", work->text);
    }
    png_set_write_fn(png, work, write_bytes, write_flush);
    png_set_user_limits(png, MOST_SIDE, MOST_SIDE);
    if (image->width > MOST_SIDE || image->height > MOST_SIDE)
        return twi_io_fail(TWI_IO_USAGE, work->sink->name, "%lldx%lld pixels: a side of a PNG has %d at most",
                           (long long)image->width, (long long)image->height, (int)MOST_SIDE);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8 * (int)tw_type_size(image->type),
                 colours[image->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* half the time of libpng's own choice for a tenth more bytes, measured on a 4096x4096 RGB picture */
    png_set_compression_level(png, Z_BEST_SPEED);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
    png_write_info(png, info);
    if (!write_metadata(png, work, metadata, exif, kept))
        return twi_io_fail(TWI_IO_MEMORY, work->sink->name, "out of memory for metadata");
    if (!twi_host_big())
        png_set_swap(png);
    for (int64_t y = 0; y < image->height; y++)
        png_write_row(png, twi_row(image, y));
    png_write_end(png, NULL);
    return TWI_IO_OK;
}

static twi_io_status write_png(twi_sink *sink, const tw_image *image, const twi_metadata *metadata, unsigned *kept)
{
    job work = {.sink = sink};
    twi_blob exif;
    twi_io_status status = TWI_IO_MEMORY;
    if (!twi_metadata_exif(metadata, &exif))
        return twi_io_fail(TWI_IO_MEMORY, sink->name, "out of memory for metadata");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &work, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info)
        status = encode(png, info, &work, image, metadata, &exif, kept);
    else
        (void)twi_io_fail(status, sink->name, "out of memory for libpng");
    png_destroy_write_struct(&png, &info);
    free(work.chunk);
    free(exif.bytes);
    return status;
}

const twi_format twi_format_png = {
    .name = "png",
    .title = "PNG",
    .endings = endings,
    .sniff = sniff,
    .read = read_png,
    .can_hold = can_hold,
    .write = write_png,
};
