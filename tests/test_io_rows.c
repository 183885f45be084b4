/* Images by rows: in any order and any portion, what is read and written is what whole images are. */
#include <fcntl.h>
#include <utime.h>

#include "testing_io.h"

/* ---- Reading -------------------------------------------------------------------------------------- */

/* Rows of `reader` in portions of `step`, in the order that is asked for, beside `whole`. */
static void compare_portions(twi_reader *reader, const tw_image *whole, int64_t step, bool upward, const char *name)
{
    twi_io_image got;
    const int64_t portions = (whole->height + step - 1) / step;
    assert_io_ok(twi_io_create(whole->width, whole->height, whole->channels, whole->type, &got));
    for (int64_t i = 0; i < portions; i++) {
        const int64_t first = (upward ? portions - 1 - i : i) * step;
        tw_image rows = got.image;
        rows.data = (char *)rows.data + first * rows.pitch;
        rows.height = whole->height - first < step ? whole->height - first : step;
        assert_io_ok(twi_reader_rows(reader, first, &rows));
    }
    assert_same_pixels(&got.image, whole, name);
    twi_io_free(&got);
}

/* The file's metadata, as a TIFF of one pixel that has them. */
static uint8_t *metadata_bytes(const twi_io_image *image, size_t *size)
{
    twi_io_image one;
    const char *path = in_folder("metadata.tif");
    assert_io_ok(twi_io_create(1, 1, 1, TW_U8, &one));
    *(uint8_t *)one.image.data = 0;
    one.metadata = image->metadata;
    assert_io_ok(twi_io_write(path, NULL, &one, NULL));
    one.metadata = NULL;
    twi_io_free(&one);
    uint8_t *bytes = load_file(path, size);
    assert_int_equal(unlink(path), 0);
    return bytes;
}

static void assert_same_metadata(const twi_io_image *a, const twi_io_image *b, const char *name)
{
    size_t size = 0;
    size_t other_size = 0;
    uint8_t *bytes = metadata_bytes(a, &size);
    uint8_t *others = metadata_bytes(b, &other_size);
    if (size != other_size || memcmp(bytes, others, size) != 0)
        fail_msg("%s: other metadata", name);
    free(bytes);
    free(others);
}

static bool check_file(const char *name)
{
    twi_io_image whole;
    twi_io_image described;
    twi_reader *reader;
    if (strstr(name, ".md"))
        return false;
    assert_io_ok(twi_io_read(name, 0, no_limit, &whole));
    for (int64_t step = 1; step <= whole.image.height + 1; step += 1 + step / 2) {
        assert_io_ok(twi_reader_open(name, 0, no_limit, &reader));
        compare_portions(reader, &whole.image, step, false, name);
        compare_portions(reader, &whole.image, step, true, name); /* the same reader again, from the end */
        twi_reader_close(reader);
    }
    assert_io_ok(twi_reader_open(name, 0, no_limit, &reader));
    /* what is known before the pixels, and that the rest of the file is checked after them */
    twi_reader_describe(reader, &described);
    assert_same_metadata(&described, &whole, name);
    assert_string_equal(twi_io_format(&described), twi_io_format(&whole));
    compare_portions(reader, &whole.image, 3, false, name);
    assert_io_ok(twi_reader_end(reader));
    twi_reader_close(reader);
    twi_io_free(&described);
    twi_io_free(&whole);
    return true;
}

static void rows_are_those_of_the_whole_image(void **state)
{
    (void)state;
    assert_true(visit_files(TW_TEST_DATA "/io", check_file) > 180);
}

static bool find_damage(const char *name)
{
    twi_reader *reader;
    twi_io_status status = twi_reader_open(name, 0, 1 << 24, &reader);
    if (status == TWI_IO_OK) {
        twi_io_image row;
        const tw_image *shape = twi_reader_shape(reader);
        assert_io_ok(twi_io_create(shape->width, 1, shape->channels, shape->type, &row));
        for (int64_t y = 0; y < shape->height && status == TWI_IO_OK; y++)
            status = twi_reader_rows(reader, y, &row.image);
        if (status == TWI_IO_OK)
            status = twi_reader_end(reader);
        twi_io_free(&row);
        twi_reader_close(reader);
    }
    if ((status != TWI_IO_INPUT && status != TWI_IO_MEMORY) || strncmp(twi_io_message(), name, strlen(name)) != 0)
        fail_msg("%s: %d, %s", name, (int)status, twi_io_message());
    return true;
}

static void damage_is_found_by_rows_too(void **state)
{
    (void)state;
    assert_true(visit_files(TW_TEST_DATA "/io/refused", find_damage) > 60);
}

static void rows_that_are_not_there_are_refused(void **state)
{
    (void)state;
    const char *name = TW_TEST_DATA "/io/pages-bigtiff.tif";
    twi_io_image row;
    twi_reader *reader;
    assert_io_ok(twi_reader_open(name, 1, no_limit, &reader));
    const tw_image *shape = twi_reader_shape(reader);
    assert_io_ok(twi_io_create(shape->width, 1, shape->channels, shape->type, &row));
    assert_io_refused(twi_reader_rows(reader, shape->height, &row.image), TWI_IO_USAGE, name, "it has");
    assert_io_refused(twi_reader_rows(reader, -1, &row.image), TWI_IO_USAGE, name, "it has");
    assert_io_ok(twi_reader_rows(reader, shape->height - 1, &row.image));
    twi_io_free(&row);
    twi_reader_close(reader);
}

static void what_must_be_held_is_bounded(void **state)
{
    (void)state;
    twi_reader *reader;
    const char *name = TW_TEST_DATA "/io/rgb-420-progressive.jpg";
    assert_io_refused(twi_reader_open(name, 0, 1000, &reader), TWI_IO_MEMORY, name, "the limit is 1000");
    assert_null(reader);
    name = TW_TEST_DATA "/io/colour-2-8-bit-interlaced.png";
    assert_io_refused(twi_reader_open(name, 0, 64, &reader), TWI_IO_MEMORY, name, "interlaced");
}

static void a_file_that_changes_is_noticed(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npy", "a.png", "a.tif", "a.pgm", "a.jpg"};
    twi_io_image image = noise_image(20, 10, 1, TW_U8);
    const struct utimbuf past = {1, 1};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = in_folder(names[i]);
        twi_reader *reader;
        assert_io_ok(twi_io_write(path, NULL, &image, NULL));
        for (int change = 0; change < 3; change++) {
            twi_io_image got;
            assert_io_ok(twi_reader_open(path, 0, no_limit, &reader));
            assert_io_ok(twi_io_create(20, 10, 1, TW_U8, &got));
            assert_io_ok(twi_reader_rows(reader, 0, &got.image));
            if (change == 1)
                assert_int_equal(utime(path, &past), 0);
            if (change == 2)
                write_file(path, "", 1);
            if (change == 0)
                assert_io_ok(twi_reader_end(reader));
            else
                assert_io_refused(twi_reader_end(reader), TWI_IO_INPUT, path, "was changed while it was read");
            twi_io_free(&got);
            twi_reader_close(reader);
        }
        assert_int_equal(unlink(path), 0);
    }
    twi_io_free(&image);
}

/* ---- Writing -------------------------------------------------------------------------------------- */

static void write_portions(const char *path, const twi_io_image *image, int64_t step)
{
    twi_writer *writer;
    twi_io_status status = TWI_IO_OK;
    assert_io_ok(twi_writer_open(path, NULL, image, &writer));
    for (int64_t y = 0; y < image->image.height && status == TWI_IO_OK; y += step) {
        tw_image rows = image->image;
        rows.data = (char *)rows.data + y * rows.pitch;
        rows.height = rows.height - y < step ? rows.height - y : step;
        status = twi_writer_rows(writer, &rows);
    }
    assert_io_ok(twi_writer_close(writer, status, NULL));
}

static void portions_make_the_bytes_of_the_whole(void **state)
{
    (void)state;
    static const char *const endings[] = {"npy", "png", "tif", "pgm", "ppm", "pfm", "jpg"};
    for (int type = 0; type < TW_TYPE_COUNT; type++) {
        for (int32_t channels = 1; channels <= 4; channels++) {
            twi_io_image image = noise_image(19, 23, channels, (tw_type)type);
            for (size_t i = 0; i < COUNT(endings); i++) {
                char name[32];
                size_t sizes[2];
                (void)snprintf(name, sizeof name, "whole.%s", endings[i]);
                const char *path = in_folder(name);
                if (twi_io_can_write(path, NULL, (tw_type)type, channels) != TWI_IO_OK)
                    continue;
                assert_io_ok(twi_io_write(path, NULL, &image, NULL));
                uint8_t *whole = load_file(path, &sizes[0]);
                for (int64_t step = 1; step < 23; step += 6) {
                    write_portions(path, &image, step);
                    uint8_t *bytes = load_file(path, &sizes[1]);
                    if (sizes[0] != sizes[1] || memcmp(whole, bytes, sizes[0]) != 0)
                        fail_msg("%s of %s in portions of %d rows", path, tw_type_name((tw_type)type), (int)step);
                    free(bytes);
                }
                free(whole);
                assert_int_equal(unlink(path), 0);
            }
            twi_io_free(&image);
        }
    }
}

/* As another process would. */
static void write_behind(const char *name, uint64_t offset, const tw_image *image)
{
    FILE *file = fopen(name, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    for (int64_t y = 0; y < image->height; y++)
        assert_int_equal(fwrite(element(image, 0, y, 0), (size_t)image->width, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void rows_of_a_shared_file_are_written_by_others(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npy", "a.tif", "a.pgm"};
    twi_io_image image = noise_image(20, 10, 1, TW_U8);
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = in_folder(names[i]);
        twi_writer *writer;
        uint64_t offset = 0;
        size_t whole;
        size_t shared;
        assert_io_ok(twi_io_write(path, NULL, &image, NULL));
        uint8_t *expected = load_file(path, &whole);
        assert_int_equal(unlink(path), 0);
        assert_io_ok(twi_writer_open(path, NULL, &image, &writer));
        const char *name = twi_writer_share(writer, &offset);
        assert_non_null(name);
        assert_int_not_equal(access(path, F_OK), 0);
        write_behind(name, offset, &image.image);
        assert_io_ok(twi_writer_close(writer, TWI_IO_OK, NULL));
        uint8_t *bytes = load_file(path, &shared);
        assert_int_equal(shared, whole);
        assert_memory_equal(bytes, expected, whole);
        free(bytes);
        free(expected);
        assert_int_equal(unlink(path), 0);
    }
    twi_io_free(&image);
}

static void a_file_of_packed_rows_is_not_shared(void **state)
{
    (void)state;
    twi_io_image image = noise_image(20, 10, 1, TW_U8);
    const char *path = in_folder("a.png");
    twi_writer *writer;
    uint64_t offset = 0;
    assert_io_ok(twi_writer_open(path, NULL, &image, &writer));
    assert_null(twi_writer_share(writer, &offset));
    assert_io_ok(twi_writer_rows(writer, &image.image));
    assert_io_ok(twi_writer_close(writer, TWI_IO_OK, NULL));
    assert_int_equal(unlink(path), 0);
    twi_io_free(&image);
}

static void a_file_that_lacks_rows_does_not_appear(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npy", "a.png", "a.tif", "a.pgm", "a.jpg"};
    twi_io_image image = noise_image(20, 10, 1, TW_U8);
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = in_folder(names[i]);
        tw_image rows = image.image;
        twi_writer *writer;
        rows.height = 9;
        assert_io_ok(twi_writer_open(path, NULL, &image, &writer));
        assert_io_ok(twi_writer_rows(writer, &rows));
        assert_io_refused(twi_writer_close(writer, TWI_IO_OK, NULL), TWI_IO_USAGE, path, "9 of 10 rows");
        assert_io_ok(twi_writer_open(path, NULL, &image, &writer));
        assert_io_ok(twi_writer_rows(writer, &image.image));
        assert_io_refused(twi_writer_rows(writer, &rows), TWI_IO_USAGE, path, "it has 10");
        assert_int_equal(twi_writer_close(writer, TWI_IO_INPUT, NULL), TWI_IO_INPUT);
        assert_int_equal(files_in(io_folder), 0);
    }
    twi_io_free(&image);
}

/* ---- Pipes ---------------------------------------------------------------------------------------- */

static void a_pipe_gives_rows_once(void **state)
{
    (void)state;
    twi_io_image image = noise_image(20, 10, 1, TW_U8);
    twi_io_image row;
    twi_reader *reader;
    int ends[2];
    char name[32];
    size_t size;
    const char *path = in_folder("a.npy");
    assert_io_ok(twi_io_create(20, 1, 1, TW_U8, &row));
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    uint8_t *bytes = load_file(path, &size);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    assert_int_equal(close(ends[1]), 0);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_io_ok(twi_reader_open(name, 0, no_limit, &reader));
    assert_false(twi_reader_is_random(reader));
    assert_io_ok(twi_reader_rows(reader, 2, &row.image));
    assert_memory_equal(row.image.data, (char *)image.image.data + 2 * image.image.pitch, 20);
    assert_io_ok(twi_reader_rows(reader, 7, &row.image));
    assert_memory_equal(row.image.data, (char *)image.image.data + 7 * image.image.pitch, 20);
    twi_reader_close(reader);
    assert_int_equal(close(ends[0]), 0);
    free(bytes);
    twi_io_free(&row);
    twi_io_free(&image);
    assert_int_equal(unlink(path), 0);
}

static void a_scratch_file_has_no_name(void **state)
{
    (void)state;
    char bytes[4] = "";
    const int fd = twi_io_scratch(in_folder("out.png"));
    assert_true(fd >= 0);
    assert_int_equal(files_in(io_folder), 0);
    assert_int_equal(pwrite(fd, "abc", 3, 5), 3);
    assert_int_equal(pread(fd, bytes, 3, 5), 3);
    assert_string_equal(bytes, "abc");
    assert_int_equal(close(fd), 0);
    assert_int_equal(twi_io_scratch("/no/such/folder/out.png"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_whole_image),
        cmocka_unit_test(damage_is_found_by_rows_too),
        cmocka_unit_test(rows_that_are_not_there_are_refused),
        cmocka_unit_test(what_must_be_held_is_bounded),
        cmocka_unit_test(a_file_that_changes_is_noticed),
        cmocka_unit_test(portions_make_the_bytes_of_the_whole),
        cmocka_unit_test(rows_of_a_shared_file_are_written_by_others),
        cmocka_unit_test(a_file_of_packed_rows_is_not_shared),
        cmocka_unit_test(a_file_that_lacks_rows_does_not_appear),
        cmocka_unit_test(a_pipe_gives_rows_once),
        cmocka_unit_test(a_scratch_file_has_no_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
