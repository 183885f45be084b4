/* Image files: what is read is what was stored, what is written is read again, and metadata come along. */
#include <fcntl.h>

#include "testing_io.h"
#include "io/metadata.h"

/* ---- Reading files that others made ----------------------------------------------------------- */

/* "NAME.N.npy" holds the pixels of page N of NAME. */
static bool compare_with_stored(const char *stored)
{
    char name[512];
    twi_io_image image;
    twi_io_image expected;
    const size_t length = strlen(stored);
    const char *end = stored + length - 6;
    if (length < 6 || end[0] != '.' || end[1] < '0' || end[1] > '9' || strcmp(end + 2, ".npy") != 0)
        return false;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - 6), stored);
    assert_io_ok(twi_io_read(stored, 0, no_limit, &expected));
    assert_io_ok(twi_io_read(name, end[1] - '0', no_limit, &image));
    assert_same_pixels(&image.image, &expected.image, name);
    assert_int_equal((uintptr_t)image.image.data % 256, 0);
    assert_int_equal(image.image.pitch % 64, 0);
    twi_io_free(&image);
    twi_io_free(&expected);
    return true;
}

static void files_give_the_pixels_that_were_stored(void **state)
{
    (void)state;
    assert_true(visit_files(TW_TEST_DATA "/io", compare_with_stored) > 90);
}

static bool refuse_file(const char *name)
{
    twi_io_image image;
    assert_io_refused(twi_io_read(name, 0, no_limit, &image), TWI_IO_INPUT, name, ": ");
    assert_null(image.image.data);
    assert_null(image.metadata);
    return true;
}

static void files_that_cannot_be_right_are_refused(void **state)
{
    (void)state;
    assert_true(visit_files(TW_TEST_DATA "/io/refused", refuse_file) > 60);
}

/* The reader of the expected pixels above, itself against bytes that are written out. */
static void npy_is_read_as_numpy_defines_it(void **state)
{
    (void)state;
    static const char file[] = "\x93NUMPY\1\0\x46\0{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"
                               "          \n\1\0\2\0\3\0\0\1\5\0\xff\xff";
    static const uint16_t expected[2][3] = {{1, 2, 3}, {256, 5, 65535}};
    const char *path = in_folder("a.npy");
    twi_io_image image;
    write_file(path, file, sizeof file - 1);
    assert_io_ok(twi_io_read(path, 0, no_limit, &image));
    assert_int_equal(image.image.type, TW_U16);
    assert_int_equal(image.image.width, 3);
    assert_int_equal(image.image.height, 2);
    for (int y = 0; y < 2; y++)
        assert_memory_equal((char *)image.image.data + y * image.image.pitch, expected[y], sizeof expected[y]);
    assert_string_equal(twi_io_format(&image), "npy");
    twi_io_free(&image);
    assert_int_equal(unlink(path), 0);
}

static void content_decides_and_not_the_name(void **state)
{
    (void)state;
    const char *path = in_folder("really-a-pgm.png");
    twi_io_image image;
    write_file(path, "P5 1 1 255\n\7", 12);
    assert_io_ok(twi_io_read(path, 0, no_limit, &image));
    assert_string_equal(twi_io_format(&image), "pnm");
    assert_int_equal(*(uint8_t *)image.image.data, 7);
    twi_io_free(&image);
    assert_int_equal(unlink(path), 0);
}

static void a_page_that_is_not_there_is_wrong_usage(void **state)
{
    (void)state;
    twi_io_image image;
    const char *pages = TW_TEST_DATA "/io/pages-bigtiff.tif";
    assert_io_refused(twi_io_read(pages, 3, no_limit, &image), TWI_IO_USAGE, pages, "page 3: the file has 3");
    assert_io_refused(twi_io_read(pages, INT64_MAX, no_limit, &image), TWI_IO_USAGE, pages, "the file has 3");
    assert_io_refused(twi_io_read(pages, -1, no_limit, &image), TWI_IO_USAGE, pages, "page -1");
    const char *single = TW_TEST_DATA "/io/grey.jpg";
    assert_io_refused(twi_io_read(single, 1, no_limit, &image), TWI_IO_USAGE, single, "JPEG files have page 0 alone");
}

/* ---- Round trips -------------------------------------------------------------------------------- */

static void every_format_returns_what_it_was_given(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.tif", "a.TIFF", "a.pnm", "a.pgm", "a.ppm", "a.pfm", "a.npy"};
    int count = 0;
    for (tw_type type = 0; type < TW_TYPE_COUNT; type++) {
        for (int32_t channels = 1; channels <= 4; channels++) {
            twi_io_image image = noise_image(71, 13, channels, type);
            for (size_t i = 0; i < COUNT(names); i++) {
                const char *path = in_folder(names[i]);
                const char *lost = NULL;
                twi_io_image again;
                const twi_io_status can = twi_io_can_write(path, NULL, type, channels);
                assert_int_equal(twi_io_write(path, NULL, &image, &lost), can);
                if (can == TWI_IO_OK) {
                    assert_string_equal(lost, "");
                    assert_io_ok(twi_io_read(path, 0, no_limit, &again));
                    assert_same_pixels(&again.image, &image.image, path);
                    twi_io_free(&again);
                    assert_int_equal(unlink(path), 0);
                    count++;
                }
            }
            twi_io_free(&image);
        }
    }
    /* png 2 types x 4, tiff twice and npy 6 x 4, pnm 3 x 2, pgm and ppm 2, pfm 2 */
    assert_int_equal(count, 8 + 3 * 24 + 6 + 2 + 2 + 2);
}

static void a_format_that_cannot_hold_the_image_names_those_that_can(void **state)
{
    (void)state;
    assert_io_refused(twi_io_can_write("a.png", NULL, TW_F32, 1), TWI_IO_USAGE,
                      "a.png: ", "cannot hold 1 channel of f32: use one of .tif .tiff .pnm .pfm .npy");
    assert_io_refused(twi_io_can_write("a.jpg", NULL, TW_U8, 4), TWI_IO_USAGE,
                      "a.jpg: ", "use one of .png .tif .tiff .npy");
    assert_io_refused(twi_io_can_write("dir.png/a", NULL, TW_U8, 1), TWI_IO_USAGE, "dir.png/a: ", "names no format");
    assert_io_refused(twi_io_can_write("a.gif", NULL, TW_U8, 1), TWI_IO_USAGE, "a.gif: ", ".png .jpg .jpeg .tif");
    assert_io_refused(twi_io_can_write("-", "webp", TW_U8, 1), TWI_IO_USAGE, "stdout: ", "webp");
    assert_io_refused(twi_io_can_write("-", "jpeg", TW_U16, 1), TWI_IO_USAGE, "stdout: ", "jpeg file cannot hold");
}

static void jpeg_stays_close_and_repeats_itself(void **state)
{
    (void)state;
    const char *path = in_folder("a.jpg");
    twi_io_image image;
    twi_io_image again;
    size_t size[2];
    uint8_t *bytes[2];
    assert_io_ok(twi_io_read(TW_TEST_DATA "/io/rgb-444.jpg", 0, no_limit, &image));
    for (int i = 0; i < 2; i++) {
        assert_io_ok(twi_io_write(path, NULL, &image, NULL));
        bytes[i] = load_file(path, &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    assert_io_ok(twi_io_read(path, 0, no_limit, &again));
    for (int64_t y = 0; y < image.image.height; y++)
        for (size_t i = 0; i < row_bytes(&image.image); i++)
            assert_in_range(((uint8_t *)again.image.data)[y * again.image.pitch + (int64_t)i] + 12 -
                                ((uint8_t *)image.image.data)[y * image.image.pitch + (int64_t)i],
                            0, 24);
    free(bytes[0]);
    free(bytes[1]);
    twi_io_free(&again);
    twi_io_free(&image);
    assert_int_equal(unlink(path), 0);
}

/* ---- Metadata ------------------------------------------------------------------------------------ */

static const char xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>";

/* An EXIF block with a description, a maker, a program, an exposure time, a latitude and that orientation. */
static twi_blob make_exif(uint32_t orientation)
{
    static const uint8_t exposure[8] = {1, 0, 0, 0, 100, 0, 0, 0};
    twi_directories made = {0};
    twi_blob exif;
    assert_true(twi_tags_add(&made.image, TWI_TAG_DESCRIPTION, TWI_TAG_ASCII, 10, "ImageJ=1\n"));
    assert_true(twi_tags_add(&made.image, TWI_TAG_MAKE, TWI_TAG_ASCII, 6, "Maker"));
    assert_true(twi_tags_add(&made.image, TWI_TAG_SOFTWARE, TWI_TAG_ASCII, 8, "Program"));
    assert_true(twi_tags_add_number(&made.image, TWI_TAG_ORIENTATION, TWI_TAG_SHORT, orientation));
    assert_true(twi_tags_add_number(&made.image, TWI_TAG_EXIF, TWI_TAG_LONG, 0));
    assert_true(twi_tags_add_number(&made.image, TWI_TAG_GPS, TWI_TAG_LONG, 0));
    assert_true(twi_tags_add(&made.exif, 33434, TWI_TAG_RATIONAL, 1, exposure));
    assert_true(twi_tags_add(&made.gps, 1, TWI_TAG_ASCII, 2, "N"));
    exif.size = (size_t)twi_directories_bytes(&made, false);
    exif.bytes = malloc(exif.size);
    assert_non_null(exif.bytes);
    twi_directories_write(&made, false, exif.bytes);
    twi_directories_free(&made);
    return exif;
}

/* A profile longer than one segment of a JPEG. */
static void set_profile(twi_blob *icc)
{
    icc->size = 70000;
    icc->bytes = malloc(icc->size);
    assert_non_null(icc->bytes);
    for (size_t i = 0; i < icc->size; i++)
        icc->bytes[i] = (uint8_t)(i * i >> 3);
}

static twi_io_image decorated_image(void)
{
    static const uint8_t scale[24] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40};
    static const uint8_t keys[8] = {1, 0, 1, 0, 0, 0, 0, 0};
    twi_io_image image = noise_image(9, 5, 3, TW_U8);
    twi_metadata *metadata = calloc(1, sizeof *metadata);
    assert_non_null(metadata);
    image.metadata = metadata;
    set_profile(&metadata->icc);
    metadata->exif = make_exif(6);
    metadata->orientation = 6;
    assert_true(twi_blob_set(&metadata->xmp, xmp, sizeof xmp - 1));
    metadata->resolution = (twi_resolution){{300, 200}, {1, 1}, TWI_UNIT_INCH};
    assert_true(twi_tags_add(&metadata->geo, TWI_TAG_PIXEL_SCALE, 12, 3, scale));
    assert_true(twi_tags_add(&metadata->geo, TWI_TAG_GEO_KEYS, TWI_TAG_SHORT, 4, keys));
    assert_true(twi_tags_add(&metadata->geo, TWI_TAG_GEO_TEXT, TWI_TAG_ASCII, 8, "WGS 84|"));
    assert_true(twi_tags_add(&metadata->geo, TWI_TAG_GDAL_METADATA, TWI_TAG_ASCII, 4, "<a>"));
    assert_true(twi_tags_add(&metadata->geo, TWI_TAG_GDAL_NODATA, TWI_TAG_ASCII, 6, "-9999"));
    return image;
}

static void assert_same_blob(const twi_blob *a, const twi_blob *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void assert_same_tags(const twi_tags *a, const twi_tags *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const twi_tag *other = twi_tags_find(b, a->list[i].id);
        assert_non_null(other);
        assert_int_equal(a->list[i].type, other->type);
        assert_int_equal(a->list[i].count, other->count);
        assert_memory_equal(a->list[i].data, other->data, twi_tag_bytes(other));
    }
}

static twi_io_image write_and_read(const twi_io_image *image, const char *name, const char *lost_words)
{
    twi_io_image again;
    const char *path = in_folder(name);
    const char *lost = NULL;
    assert_io_ok(twi_io_write(path, NULL, image, &lost));
    if (lost_words[0] == '\0')
        assert_string_equal(lost, "");
    else if (strncmp(lost, path, strlen(path)) != 0 || !strstr(lost, lost_words))
        fail_msg("lost: \"%s\", not \"%s\"", lost, lost_words);
    assert_io_ok(twi_io_read(path, 0, no_limit, &again));
    assert_int_equal(unlink(path), 0);
    return again;
}

static void png_and_jpeg_keep_profile_exif_and_xmp(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg"};
    twi_io_image image = decorated_image();
    for (size_t i = 0; i < COUNT(names); i++) {
        twi_io_image again = write_and_read(&image, names[i], "cannot hold it: georeference and NoData");
        assert_same_blob(&again.metadata->icc, &image.metadata->icc);
        assert_same_blob(&again.metadata->exif, &image.metadata->exif);
        assert_same_blob(&again.metadata->xmp, &image.metadata->xmp);
        assert_int_equal(again.metadata->orientation, 6);
        uint32_t inches[2];
        assert_true(twi_resolution_in(again.metadata, TWI_UNIT_INCH, 65535, inches));
        assert_int_equal(inches[0], 300);
        assert_int_equal(inches[1], 200);
        twi_io_free(&again);
    }
    twi_io_free(&image);
}

static void tiff_keeps_everything(void **state)
{
    (void)state;
    twi_io_image image = decorated_image();
    twi_io_image again = write_and_read(&image, "a.tif", "");
    assert_same_blob(&again.metadata->icc, &image.metadata->icc);
    assert_same_blob(&again.metadata->exif, &image.metadata->exif);
    assert_same_blob(&again.metadata->xmp, &image.metadata->xmp);
    assert_same_tags(&image.metadata->geo, &again.metadata->geo);
    assert_memory_equal(&image.metadata->resolution, &again.metadata->resolution, sizeof(twi_resolution));
    assert_int_equal(again.metadata->orientation, 6);
    /* and once more from the file's own metadata */
    twi_io_image third = write_and_read(&again, "b.tif", "");
    assert_same_tags(&third.metadata->geo, &again.metadata->geo);
    assert_same_blob(&third.metadata->exif, &again.metadata->exif);
    twi_io_free(&third);
    twi_io_free(&again);
    twi_io_free(&image);
}

static void a_lone_orientation_reaches_files_that_have_it_in_exif(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.tif"};
    twi_io_image image;
    assert_io_ok(twi_io_read(TW_TEST_DATA "/io/orientation-1.tif", 0, no_limit, &image));
    assert_int_equal(image.metadata->orientation, 6);
    for (size_t i = 0; i < COUNT(names); i++) {
        twi_io_image again = write_and_read(&image, names[i], "");
        assert_int_equal(again.metadata->orientation, 6);
        assert_int_equal(again.image.width, image.image.width);
        twi_io_free(&again);
    }
    twi_io_image plain = write_and_read(&image, "a.pgm", "PNM cannot hold it: orientation");
    twi_io_free(&plain);
    twi_io_free(&image);
}

static void resolution_changes_its_unit_and_not_its_value(void **state)
{
    (void)state;
    twi_io_image image = noise_image(3, 2, 1, TW_U8);
    image.metadata = calloc(1, sizeof *image.metadata);
    assert_non_null(image.metadata);
    image.metadata->resolution = (twi_resolution){{11811, 7874}, {1, 1}, TWI_UNIT_METRE};
    twi_io_image tiff = write_and_read(&image, "a.tif", "");
    assert_int_equal(tiff.metadata->resolution.unit, TWI_UNIT_CENTIMETRE);
    assert_int_equal(tiff.metadata->resolution.numerator[0], 11811);
    assert_int_equal(tiff.metadata->resolution.denominator[0], 100);
    twi_io_image png = write_and_read(&tiff, "a.png", "");
    assert_int_equal(png.metadata->resolution.numerator[0], 11811);
    assert_int_equal(png.metadata->resolution.numerator[1], 7874);
    twi_io_free(&png);
    twi_io_free(&tiff);
    /* pixels that are not square, of no known size */
    image.metadata->resolution = (twi_resolution){{2, 1}, {1, 1}, TWI_UNIT_NONE};
    twi_io_image jpeg = write_and_read(&image, "a.jpg", "");
    assert_int_equal(jpeg.metadata->resolution.unit, TWI_UNIT_NONE);
    assert_int_equal(jpeg.metadata->resolution.numerator[0], 2);
    twi_io_free(&jpeg);
    twi_io_free(&image);
}

static void output_depends_on_nothing_but_the_image(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.tif", "a.ppm", "a.npy"};
    twi_io_image image = decorated_image();
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t size[2];
        uint8_t *bytes[2];
        for (int j = 0; j < 2; j++) {
            const char *path = in_folder(names[i]);
            assert_io_ok(twi_io_write(path, NULL, &image, NULL));
            bytes[j] = load_file(path, &size[j]);
            assert_int_equal(unlink(path), 0);
            /* what lies between the rows is not the image */
            memset((char *)image.image.data + row_bytes(&image.image), j + 1,
                   (size_t)image.image.pitch - row_bytes(&image.image));
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    twi_io_free(&image);
}

static void the_meaning_of_tiff_samples_is_kept(void **state)
{
    (void)state;
    twi_io_image image = noise_image(4, 3, 3, TW_F32);
    image.metadata = calloc(1, sizeof *image.metadata);
    assert_non_null(image.metadata);
    image.metadata->samples = (twi_samples){true, 1, 2, {0, 0}};
    twi_io_image again = write_and_read(&image, "a.tif", "");
    assert_true(again.metadata->samples.known);
    assert_int_equal(again.metadata->samples.photometric, 1);
    assert_int_equal(again.metadata->samples.extra_count, 2);
    twi_io_free(&again);
    twi_io_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_is_read_as_numpy_defines_it),
        cmocka_unit_test(files_give_the_pixels_that_were_stored),
        cmocka_unit_test(files_that_cannot_be_right_are_refused),
        cmocka_unit_test(content_decides_and_not_the_name),
        cmocka_unit_test(a_page_that_is_not_there_is_wrong_usage),
        cmocka_unit_test(every_format_returns_what_it_was_given),
        cmocka_unit_test(a_format_that_cannot_hold_the_image_names_those_that_can),
        cmocka_unit_test(jpeg_stays_close_and_repeats_itself),
        cmocka_unit_test(png_and_jpeg_keep_profile_exif_and_xmp),
        cmocka_unit_test(tiff_keeps_everything),
        cmocka_unit_test(a_lone_orientation_reaches_files_that_have_it_in_exif),
        cmocka_unit_test(resolution_changes_its_unit_and_not_its_value),
        cmocka_unit_test(output_depends_on_nothing_but_the_image),
        cmocka_unit_test(the_meaning_of_tiff_samples_is_kept),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
