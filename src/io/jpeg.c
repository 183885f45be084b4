/*
 * JPEG through libjpeg-turbo, 8 bits, grey or RGB. Decoded with the accurate integer transform and smooth
 * upsampling, so that pixels depend on nothing but the file. Written at quality 95 without chroma subsampling.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "io/format.h"
#include "io/metadata.h"

static const char *const endings[] = {"jpg", "jpeg", NULL};
static const char exif_prefix[6] = "Exif\0";
static const char xmp_prefix[29] = "http://ns.adobe.com/xap/1.0/";

enum { QUALITY = 95, MOST_SCANS = 500, MOST_SEGMENT = 65533, MOST_ICC = 255 * 65519, BUFFER_BYTES = 1 << 16 };

/* libjpeg's structs come first in ours, so that its callbacks find the rest. */
typedef struct failure {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX];
} failure;

typedef struct input {
    struct jpeg_source_mgr base;
    twi_source *source;
    bool ended;
    JOCTET buffer[BUFFER_BYTES];
} input;

typedef struct output {
    struct jpeg_destination_mgr base;
    twi_sink *sink;
    JOCTET buffer[BUFFER_BYTES];
} output;

static bool sniff(const uint8_t *head, size_t count)
{
    return count >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

static bool can_hold(const char *ending, tw_type type, int32_t channels)
{
    (void)ending;
    return type == TW_U8 && (channels == 1 || channels == 3);
}

static void on_error(j_common_ptr codec)
{
    failure *fault = (failure *)codec->err;
    codec->err->format_message(codec, fault->text);
    longjmp(fault->jump, 1);
}

/* libjpeg only warns of damaged pixels and invents the rest; here that is a failure. */
static void on_message(j_common_ptr codec, int level)
{
    const int code = codec->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_TOO_MUCH_DATA && code != JWRN_ADOBE_XFORM &&
        code != JWRN_BOGUS_ICC)
        on_error(codec);
}

static void set_errors(failure *fault)
{
    (void)jpeg_std_error(&fault->base);
    fault->base.error_exit = on_error;
    fault->base.emit_message = on_message;
    fault->text[0] = '\0';
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void do_nothing(j_decompress_ptr codec)
{
    (void)codec;
}

static boolean fill_input(j_decompress_ptr codec)
{
    input *in = (input *)codec->src;
    const size_t got = twi_source_read(in->source, in->buffer, sizeof in->buffer);
    if (got == 0) {
        in->ended = true;
        ERREXIT(codec, JERR_INPUT_EOF);
    }
    in->base.next_input_byte = in->buffer;
    in->base.bytes_in_buffer = got;
    return TRUE;
}

static void skip_input(j_decompress_ptr codec, long count)
{
    struct jpeg_source_mgr *base = codec->src;
    while (count > (long)base->bytes_in_buffer) {
        count -= (long)base->bytes_in_buffer;
        (void)fill_input(codec);
    }
    if (count > 0) {
        base->next_input_byte += count;
        base->bytes_in_buffer -= (size_t)count;
    }
}

/* A small file can ask for any number of passes over a large image. */
static void count_scans(j_common_ptr codec)
{
    if (((j_decompress_ptr)codec)->input_scan_number > MOST_SCANS)
        ERREXIT(codec, JERR_BAD_PROGRESSION);
}

static uint64_t count_blocks(const struct jpeg_decompress_struct *codec)
{
    uint64_t blocks = 0;
    for (int i = 0; i < codec->num_components; i++)
        blocks += (uint64_t)codec->comp_info[i].width_in_blocks * codec->comp_info[i].height_in_blocks;
    return blocks;
}

/* Each coded block takes a bit at least, but for arithmetic coding. */
static uint64_t least_bytes(const struct jpeg_decompress_struct *codec)
{
    return codec->arith_code ? 0 : count_blocks(codec) / 8;
}

static bool take_markers(j_decompress_ptr codec, twi_metadata *metadata)
{
    JOCTET *profile = NULL;
    unsigned length = 0;
    bool fine = true;
    for (jpeg_saved_marker_ptr marker = codec->marker_list; marker && fine; marker = marker->next) {
        const JOCTET *data = marker->data;
        const size_t size = marker->data_length;
        if (marker->marker != JPEG_APP0 + 1)
            continue;
        if (size > sizeof exif_prefix && memcmp(data, exif_prefix, sizeof exif_prefix) == 0)
            fine = twi_blob_set(&metadata->exif, data + sizeof exif_prefix, size - sizeof exif_prefix);
        else if (size > sizeof xmp_prefix && memcmp(data, xmp_prefix, sizeof xmp_prefix) == 0)
            fine = twi_blob_set(&metadata->xmp, data + sizeof xmp_prefix, size - sizeof xmp_prefix);
    }
    if (fine && jpeg_read_icc_profile(codec, &profile, &length))
        fine = twi_blob_set(&metadata->icc, profile, length);
    free(profile);
    /* 1:1 without a unit is what encoders write who know nothing */
    if (codec->saw_JFIF_marker && codec->X_density > 0 && codec->Y_density > 0 && codec->density_unit <= 2 &&
        (codec->density_unit > 0 || codec->X_density != codec->Y_density))
        metadata->resolution = (twi_resolution){{codec->X_density, codec->Y_density},
                                                {1, 1},
                                                codec->density_unit == 0   ? TWI_UNIT_NONE
                                                : codec->density_unit == 1 ? TWI_UNIT_INCH
                                                                           : TWI_UNIT_CENTIMETRE};
    return fine && twi_metadata_from_exif(metadata);
}

/* What reading keeps; libjpeg's callbacks know its parts. */
typedef struct decoder {
    struct jpeg_decompress_struct codec;
    struct jpeg_progress_mgr progress;
    failure fault;
    input in;
} decoder;

static twi_io_status fault_of(const decoder *state)
{
    if (state->in.ended)
        return twi_source_short(state->in.source);
    if (state->fault.base.msg_code == JERR_OUT_OF_MEMORY)
        return twi_io_fail(TWI_IO_MEMORY, state->in.source->name, "out of memory for libjpeg");
    return twi_io_fail(TWI_IO_INPUT, state->in.source->name, "damaged JPEG: %s", state->fault.text);
}

/* Header, checks, and the shape. */
static twi_io_status prepare(twi_reader *reader, j_decompress_ptr codec)
{
    const twi_source *source = &reader->source;
    jpeg_save_markers(codec, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(codec, JPEG_APP0 + 2, 0xffff);
    (void)jpeg_read_header(codec, TRUE);
    const bool grey = codec->jpeg_color_space == JCS_GRAYSCALE;
    if (!grey && codec->jpeg_color_space != JCS_YCbCr && codec->jpeg_color_space != JCS_RGB)
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "a JPEG of %d components%s: grey and RGB (YCbCr) are supported; convert it first",
                           codec->num_components, codec->num_components == 4 ? " (CMYK)" : "");
    codec->out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    codec->dct_method = JDCT_ISLOW;
    codec->do_fancy_upsampling = TRUE;
    if (source->size != TWI_UNKNOWN_SIZE && least_bytes(codec) > source->size)
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "truncated: %ux%u pixels need at least %llu bytes, the file has %llu", codec->image_width,
                           codec->image_height, (unsigned long long)least_bytes(codec),
                           (unsigned long long)source->size);
    TWI_IO_TRY(twi_reader_accept(reader, codec->image_width, codec->image_height, grey ? 1 : 3, TW_U8));
    reader->access = TWI_ACCESS_NEXT;
    /* libjpeg holds the coefficients of all blocks then */
    return jpeg_has_multiple_scans(codec) ? twi_reader_hold(reader, count_blocks(codec) * DCTSIZE2 * sizeof(JCOEF),
                                                            "a JPEG in several scans is held in memory as a whole")
                                          : TWI_IO_OK;
}

static twi_io_status begin(twi_reader *reader, decoder *state)
{
    if (setjmp(state->fault.jump))
        return fault_of(state);
    jpeg_create_decompress(&state->codec);
    state->codec.src = &state->in.base;
    state->codec.progress = &state->progress;
    TWI_IO_TRY(prepare(reader, &state->codec));
    (void)jpeg_start_decompress(&state->codec);
    if (!take_markers(&state->codec, reader->metadata))
        return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "out of memory for metadata");
    return TWI_IO_OK;
}

static twi_io_status open_jpeg(twi_reader *reader)
{
    decoder *state = reader->state = calloc(1, sizeof *state);
    if (!state)
        return twi_io_fail(TWI_IO_MEMORY, reader->source.name, "out of memory for a read buffer");
    state->codec.err = &state->fault.base;
    state->progress.progress_monitor = count_scans;
    state->in.source = &reader->source;
    state->in.base = (struct jpeg_source_mgr){.init_source = do_nothing,
                                              .fill_input_buffer = fill_input,
                                              .skip_input_data = skip_input,
                                              .resync_to_restart = jpeg_resync_to_restart,
                                              .term_source = do_nothing};
    set_errors(&state->fault);
    return begin(reader, state);
}

static twi_io_status read_jpeg(twi_reader *reader, int64_t first, const tw_image *rows)
{
    decoder *state = reader->state;
    (void)first;
    if (setjmp(state->fault.jump))
        return fault_of(state);
    for (int64_t done = 0; done < rows->height;) {
        JSAMPROW row = twi_row(rows, done);
        done += jpeg_read_scanlines(&state->codec, &row, 1);
    }
    return TWI_IO_OK;
}

static twi_io_status end_jpeg(twi_reader *reader)
{
    decoder *state = reader->state;
    if (setjmp(state->fault.jump))
        return fault_of(state);
    (void)jpeg_finish_decompress(&state->codec);
    return TWI_IO_OK;
}

static void close_jpeg(twi_reader *reader)
{
    decoder *state = reader->state;
    if (!state)
        return;
    jpeg_destroy_decompress(&state->codec);
    free(state);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void start_output(j_compress_ptr codec)
{
    output *out = (output *)codec->dest;
    out->base.next_output_byte = out->buffer;
    out->base.free_in_buffer = sizeof out->buffer;
}

static boolean empty_output(j_compress_ptr codec)
{
    output *out = (output *)codec->dest;
    if (!twi_sink_write(out->sink, out->buffer, sizeof out->buffer))
        ERREXIT(codec, JERR_FILE_WRITE);
    start_output(codec);
    return TRUE;
}

static void finish_output(j_compress_ptr codec)
{
    output *out = (output *)codec->dest;
    if (!twi_sink_write(out->sink, out->buffer, sizeof out->buffer - out->base.free_in_buffer))
        ERREXIT(codec, JERR_FILE_WRITE);
}

static void write_segment(j_compress_ptr codec, const void *prefix, size_t prefix_size, const twi_blob *blob)
{
    jpeg_write_m_header(codec, JPEG_APP0 + 1, (unsigned)(prefix_size + blob->size));
    for (size_t i = 0; i < prefix_size; i++)
        jpeg_write_m_byte(codec, ((const uint8_t *)prefix)[i]);
    for (size_t i = 0; i < blob->size; i++)
        jpeg_write_m_byte(codec, blob->bytes[i]);
}

/* What is too large for a JPEG's segments is not kept. */
static void write_metadata(j_compress_ptr codec, const twi_metadata *metadata, const twi_blob *exif, unsigned *kept)
{
    if (exif->size > 0 && exif->size <= MOST_SEGMENT - sizeof exif_prefix) {
        write_segment(codec, exif_prefix, sizeof exif_prefix, exif);
        *kept |= TWI_HAS_EXIF | TWI_HAS_ORIENTATION;
    }
    if (metadata && metadata->xmp.size > 0 && metadata->xmp.size <= MOST_SEGMENT - sizeof xmp_prefix) {
        write_segment(codec, xmp_prefix, sizeof xmp_prefix, &metadata->xmp);
        *kept |= TWI_HAS_XMP;
    }
    if (metadata && metadata->icc.size > 0 && metadata->icc.size <= MOST_ICC) {
        jpeg_write_icc_profile(codec, metadata->icc.bytes, (unsigned)metadata->icc.size);
        *kept |= TWI_HAS_ICC;
    }
}

/* The density goes into the JFIF segment, in the unit that it came in where JPEG has it. */
static void set_resolution(j_compress_ptr codec, const twi_metadata *metadata, unsigned *kept)
{
    uint32_t density[2];
    const twi_unit unit = metadata ? metadata->resolution.unit : TWI_UNIT_NONE;
    if (!twi_resolution_in(metadata, unit == TWI_UNIT_METRE ? TWI_UNIT_INCH : unit, UINT16_MAX, density))
        return;
    codec->density_unit = unit == TWI_UNIT_NONE ? 0 : unit == TWI_UNIT_CENTIMETRE ? 2 : 1;
    codec->X_density = (UINT16)density[0];
    codec->Y_density = (UINT16)density[1];
    *kept |= TWI_HAS_RESOLUTION;
}

/* What writing keeps. */
typedef struct encoder {
    struct jpeg_compress_struct codec;
    failure fault;
    output out;
    twi_blob exif;
} encoder;

static twi_io_status write_failed(const encoder *state)
{
    const twi_sink *sink = state->out.sink;
    if (sink->error != 0)
        return twi_sink_failed(sink);
    return twi_io_fail(TWI_IO_MEMORY, sink->name, "libjpeg failed: %s", state->fault.text);
}

static twi_io_status write_head(encoder *state, const tw_image *shape, const twi_metadata *metadata, unsigned *kept)
{
    j_compress_ptr codec = &state->codec;
    if (setjmp(state->fault.jump))
        return write_failed(state);
    jpeg_create_compress(codec);
    codec->dest = &state->out.base;
    codec->image_width = (JDIMENSION)shape->width;
    codec->image_height = (JDIMENSION)shape->height;
    codec->input_components = shape->channels;
    codec->in_color_space = shape->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, QUALITY, TRUE);
    codec->dct_method = JDCT_ISLOW;
    codec->comp_info[0].h_samp_factor = 1;
    codec->comp_info[0].v_samp_factor = 1;
    set_resolution(codec, metadata, kept);
    jpeg_start_compress(codec, TRUE);
    write_metadata(codec, metadata, &state->exif, kept);
    return TWI_IO_OK;
}

static twi_io_status create_jpeg(twi_writer *writer, const twi_metadata *metadata, unsigned *kept)
{
    const tw_image *shape = &writer->shape;
    const char *name = writer->sink.name;
    if (shape->width > JPEG_MAX_DIMENSION || shape->height > JPEG_MAX_DIMENSION)
        return twi_io_fail(TWI_IO_USAGE, name, "%lldx%lld pixels: a side of a JPEG has %ld at most",
                           (long long)shape->width, (long long)shape->height, JPEG_MAX_DIMENSION);
    encoder *state = writer->state = calloc(1, sizeof *state);
    if (!state || !twi_metadata_exif(metadata, &state->exif))
        return twi_io_fail(TWI_IO_MEMORY, name, "out of memory for writing");
    state->codec.err = &state->fault.base;
    state->out.sink = &writer->sink;
    state->out.base = (struct jpeg_destination_mgr){
        .init_destination = start_output, .empty_output_buffer = empty_output, .term_destination = finish_output};
    set_errors(&state->fault);
    return write_head(state, shape, metadata, kept);
}

static twi_io_status put_jpeg(twi_writer *writer, const tw_image *rows)
{
    encoder *state = writer->state;
    if (setjmp(state->fault.jump))
        return write_failed(state);
    for (int64_t y = 0; y < rows->height; y++) {
        JSAMPROW row = twi_row(rows, y);
        (void)jpeg_write_scanlines(&state->codec, &row, 1);
    }
    return TWI_IO_OK;
}

static twi_io_status write_end(encoder *state)
{
    if (setjmp(state->fault.jump))
        return write_failed(state);
    jpeg_finish_compress(&state->codec);
    return TWI_IO_OK;
}

static twi_io_status finish_jpeg(twi_writer *writer, twi_io_status status)
{
    encoder *state = writer->state;
    if (!state)
        return status;
    if (status == TWI_IO_OK)
        status = write_end(state);
    jpeg_destroy_compress(&state->codec);
    free(state->exif.bytes);
    free(state);
    return status;
}

const twi_format twi_format_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .endings = endings,
    .sniff = sniff,
    .can_hold = can_hold,
    .open = open_jpeg,
    .rows = read_jpeg,
    .end = end_jpeg,
    .close = close_jpeg,
    .create = create_jpeg,
    .put = put_jpeg,
    .finish = finish_jpeg,
};
