/* Image files that end early, lie or cannot be written: one clear error, and what was there stays as it was. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "testing_io.h"
#include "io/format.h"
#include "io/tags.h"

static const char *const lossless[] = {"a.png", "a.jpg", "a.tif", "a.pnm", "a.npy"};

/* ---- Input ----------------------------------------------------------------------------------------- */

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_F32};
    for (size_t i = 0; i < COUNT(lossless); i++) {
        for (size_t t = 0; t < COUNT(types); t++) {
            const char *path = in_folder(lossless[i]);
            size_t size;
            if (twi_io_can_write(path, NULL, types[t], 3) != TWI_IO_OK)
                continue;
            twi_io_image image = noise_image(5, 4, 3, types[t]);
            assert_io_ok(twi_io_write(path, NULL, &image, NULL));
            twi_io_free(&image);
            uint8_t *bytes = load_file(path, &size);
            for (size_t length = 0; length < size; length++) {
                write_file(path, bytes, length);
                assert_io_refused(twi_io_read(path, 0, no_limit, &image), TWI_IO_INPUT, path, ": ");
            }
            free(bytes);
            assert_int_equal(unlink(path), 0);
        }
    }
}

/* Reads the file whatever it is: an image, or a message that begins with its name. */
static void read_anything(const char *path)
{
    twi_io_image image;
    const twi_io_status status = twi_io_read(path, 0, 1 << 20, &image);
    if (status != TWI_IO_OK) {
        assert_null(image.image.data);
        assert_memory_equal(twi_io_message(), path, strlen(path));
    }
    twi_io_free(&image);
}

/* Every truncation of a small file, and every byte of it changed. */
static bool damage_file(const char *name)
{
    const char *path = in_folder("damaged");
    size_t size;
    uint8_t *bytes = load_file(name, &size);
    /* the expected pixels of the other test are one kind of file */
    const bool taken = size <= 700 && !strstr(name, ".0.npy");
    for (size_t length = 0; length < size && taken; length++) {
        write_file(path, bytes, length);
        read_anything(path);
    }
    for (size_t at = 0; at < size && taken; at++) {
        bytes[at] ^= 0xff;
        write_file(path, bytes, size);
        read_anything(path);
        bytes[at] ^= 0xff;
    }
    free(bytes);
    return taken;
}

static void damaged_files_of_others_never_crash(void **state)
{
    (void)state;
    assert_true(visit_files(TW_TEST_DATA "/io", damage_file) > 60);
    assert_int_equal(unlink(in_folder("damaged")), 0);
}

static void an_image_beyond_the_limit_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    twi_io_image image;
    for (size_t i = 0; i < COUNT(lossless); i++) {
        const char *path = in_folder(lossless[i]);
        image = noise_image(64, 64, 3, TW_U8);
        assert_io_ok(twi_io_write(path, NULL, &image, NULL));
        twi_io_free(&image);
        assert_io_refused(twi_io_read(path, 0, 64 * 64 * 3 - 1, &image), TWI_IO_MEMORY, path, "exceed the limit");
        assert_io_ok(twi_io_read(path, 0, 64 * 64 * 3, &image));
        twi_io_free(&image);
        assert_int_equal(unlink(path), 0);
    }
}

/* A path that reads from a pipe which holds these bytes. */
static const char *pipe_of(const void *bytes, size_t size, int *end)
{
    static char path[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    assert_int_equal(close(ends[1]), 0);
    *end = ends[0];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    return path;
}

static void a_lying_header_in_a_pipe_is_bounded_by_the_limit(void **state)
{
    (void)state;
    static const char pgm[] = "P5 100000 100000 255\n";
    twi_io_image image;
    int end;
    const char *path = pipe_of(pgm, sizeof pgm - 1, &end);
    assert_io_refused(twi_io_read(path, 0, 1 << 20, &image), TWI_IO_MEMORY, path, "exceed the limit of 1048576");
    assert_int_equal(close(end), 0);
    path = pipe_of("P5 10 10 255\n", 13, &end);
    assert_io_refused(twi_io_read(path, 0, 1 << 20, &image), TWI_IO_INPUT, path, "truncated");
    assert_int_equal(close(end), 0);
}

static void every_format_is_read_from_a_pipe(void **state)
{
    (void)state;
    twi_io_image image = noise_image(20, 10, 3, TW_U8);
    for (size_t i = 0; i < COUNT(lossless); i++) {
        const char *path = in_folder(lossless[i]);
        twi_io_image from_file;
        twi_io_image from_pipe;
        size_t size;
        int end;
        assert_io_ok(twi_io_write(path, NULL, &image, NULL));
        uint8_t *bytes = load_file(path, &size);
        assert_io_ok(twi_io_read(path, 0, no_limit, &from_file));
        assert_io_ok(twi_io_read(pipe_of(bytes, size, &end), 0, no_limit, &from_pipe));
        assert_same_pixels(&from_pipe.image, &from_file.image, path);
        assert_int_equal(close(end), 0);
        twi_io_free(&from_file);
        twi_io_free(&from_pipe);
        free(bytes);
        assert_int_equal(unlink(path), 0);
    }
    twi_io_free(&image);
}

static void input_that_cannot_be_opened_says_why(void **state)
{
    (void)state;
    twi_io_image image;
    assert_io_refused(twi_io_read(io_folder, 0, no_limit, &image), TWI_IO_INPUT, io_folder, "is a directory");
    assert_io_refused(twi_io_read("/no/such.png", 0, no_limit, &image), TWI_IO_INPUT,
                      "/no/such.png: ", "No such file or directory");
    assert_io_refused(twi_io_read("/dev/null", 0, no_limit, &image), TWI_IO_INPUT, "/dev/null: ", "is empty");
    /* one line, whatever the name */
    assert_io_refused(twi_io_read("a\nb", 0, no_limit, &image), TWI_IO_INPUT, "a?b: ", "No such file");
}

/* A directory of tags that all point to the same large block must not multiply it. */
static void tags_cannot_take_more_memory_than_the_file_has(void **state)
{
    (void)state;
    enum { ENTRIES = 200, SIZE = 8 + 2 + ENTRIES * 12 + 4 + 1000 };
    static uint8_t file[SIZE] = "II*\0\x08\0\0\0\xc8\0";
    twi_directories directories;
    uint64_t total = 0;
    for (int i = 0; i < ENTRIES; i++) {
        uint8_t *entry = file + 10 + 12 * i;
        memcpy(entry, "\0\0\x01\0\xe8\x03\0\0\x6e\x09\0\0", 12);
        entry[0] = (uint8_t)i;
    }
    twi_source source = twi_source_memory("x", file, sizeof file);
    assert_true(twi_directories_read(&source, 0, NULL, &directories));
    for (size_t i = 0; i < directories.image.count; i++)
        total += twi_tag_bytes(&directories.image.list[i]);
    assert_in_range(total, 1000, SIZE);
    twi_directories_free(&directories);
}

/* ---- Output ------------------------------------------------------------------------------------------ */

static void assert_holds(const char *path, const char *text)
{
    size_t size;
    uint8_t *bytes = load_file(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

static void a_full_disk_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    const struct rlimit little = {1000, RLIM_INFINITY};
    struct rlimit before;
    twi_io_image image = noise_image(200, 200, 3, TW_U8);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < COUNT(lossless); i++) {
        const char *path = in_folder(lossless[i]);
        write_file(path, "old", 3);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "cannot be written: File too");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(files_in(io_folder), 1);
        assert_holds(path, "old");
        assert_int_equal(unlink(path), 0);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    twi_io_free(&image);
}

static void a_device_without_space_is_an_error(void **state)
{
    (void)state;
    twi_io_image image = noise_image(4, 4, 3, TW_U8);
    for (size_t i = 0; i < COUNT(lossless); i++) {
        const char *path = in_folder(lossless[i]);
        assert_int_equal(symlink("/dev/full", path), 0);
        assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "No space left on device");
        assert_int_equal(files_in(io_folder), 1);
        assert_int_equal(unlink(path), 0);
    }
    twi_io_free(&image);
}

static void output_that_cannot_be_made_says_why(void **state)
{
    (void)state;
    twi_io_image image = noise_image(4, 4, 1, TW_U8);
    const char *path = in_folder("folder.png");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "Is a directory");
    assert_int_equal(rmdir(path), 0);
    path = in_folder("no/such.png");
    assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "No such file or directory");
    path = in_folder("dangling.png");
    assert_int_equal(symlink("nowhere.png", path), 0);
    assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "No such file or directory");
    assert_int_equal(unlink(path), 0);
    /* root may write everywhere */
    if (geteuid() != 0) {
        assert_int_equal(chmod(io_folder, 0500), 0);
        path = in_folder("a.png");
        assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "Permission denied");
        assert_int_equal(chmod(io_folder, 0700), 0);
        write_file(path, "old", 3);
        assert_int_equal(chmod(path, 0400), 0);
        assert_io_refused(twi_io_write(path, NULL, &image, NULL), TWI_IO_OUTPUT, path, "Permission denied");
        assert_int_equal(unlink(path), 0);
    }
    twi_io_free(&image);
}

static mode_t mode_of(const char *path)
{
    struct stat facts;
    assert_int_equal(lstat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void permissions_are_kept_or_follow_the_mask(void **state)
{
    (void)state;
    twi_io_image image = noise_image(4, 4, 1, TW_U8);
    const char *path = in_folder("a.png");
    const mode_t mask = umask(027);
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    assert_int_equal(mode_of(path), 0604);
    (void)umask(mask);
    assert_int_equal(files_in(io_folder), 1);
    assert_int_equal(unlink(path), 0);
    twi_io_free(&image);
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
    (void)state;
    struct stat facts;
    twi_io_image image = noise_image(4, 4, 1, TW_U8);
    twi_io_image again;
    const char *target = in_folder("target.png");
    const char *path = in_folder("link.png");
    write_file(target, "old", 3);
    assert_int_equal(symlink("target.png", path), 0);
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    assert_int_equal(lstat(path, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_io_ok(twi_io_read(target, 0, no_limit, &again));
    assert_same_pixels(&again.image, &image.image, target);
    twi_io_free(&again);
    twi_io_free(&image);
    assert_int_equal(files_in(io_folder), 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(target), 0);
}

static void a_fifo_gets_the_file(void **state)
{
    (void)state;
    uint8_t got[64] = {0};
    twi_io_image image = noise_image(2, 1, 1, TW_U8);
    const char *path = in_folder("a.pgm");
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDWR | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    assert_int_equal(read(reader, got, sizeof got), 13);
    assert_memory_equal(got, "P5\n2 1\n255\n", 11);
    assert_int_equal(close(reader), 0);
    assert_int_equal(unlink(path), 0);
    twi_io_free(&image);
}

static void stdin_and_stdout_are_files_too(void **state)
{
    (void)state;
    static const char *const formats[] = {"png", "tiff", "pnm", "npy"};
    twi_io_image image = noise_image(6, 5, 3, TW_U8);
    (void)fflush(NULL);
    const int old_input = dup(STDIN_FILENO);
    const int old_output = dup(STDOUT_FILENO);
    for (size_t i = 0; i < COUNT(formats); i++) {
        int ends[2];
        twi_io_image again;
        assert_int_equal(pipe(ends), 0);
        assert_true(dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[0], STDIN_FILENO) >= 0);
        const twi_io_status written = twi_io_write("-", formats[i], &image, NULL);
        assert_true(dup2(old_output, STDOUT_FILENO) >= 0);
        assert_int_equal(close(ends[1]), 0);
        const twi_io_status got = twi_io_read("-", 0, no_limit, &again);
        assert_true(dup2(old_input, STDIN_FILENO) >= 0);
        assert_int_equal(close(ends[0]), 0);
        assert_int_equal(written, TWI_IO_OK);
        assert_io_ok(got);
        assert_string_equal(twi_io_format(&again), formats[i]);
        assert_same_pixels(&again.image, &image.image, formats[i]);
        twi_io_free(&again);
    }
    assert_int_equal(close(old_input), 0);
    assert_int_equal(close(old_output), 0);
    twi_io_free(&image);
}

/* As a signal does to two writers in a process of its own. `ended`: one of them has given up, and its name is taken. */
static void clean_up_two(bool ended)
{
    twi_sink sinks[2];
    char temporary[64];
    bool sound = twi_sink_open(in_folder("a.png"), &sinks[0]) == TWI_IO_OK &&
                 twi_sink_open(in_folder("b.png"), &sinks[1]) == TWI_IO_OK && files_in(io_folder) == 2;
    if (sound && ended) {
        sound = twi_sink_close(&sinks[0], TWI_IO_INPUT) == TWI_IO_INPUT && files_in(io_folder) == 1;
        (void)snprintf(temporary, sizeof temporary, ".a.png.%ld.0.tmp", (long)getpid());
        write_file(in_folder(temporary), "x", 1);
    }
    twi_io_cleanup();
    _exit(sound ? 0 : 1);
}

static void a_signal_leaves_no_temporary_file(void **state)
{
    (void)state;
    for (int ended = 0; ended <= 1; ended++) {
        int result = -1;
        char temporary[64];
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            clean_up_two(ended == 1);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        assert_int_equal(files_in(io_folder), ended);
        (void)snprintf(temporary, sizeof temporary, ".a.png.%ld.0.tmp", (long)child);
        assert_int_equal(unlink(in_folder(temporary)), ended - 1);
    }
}

static void a_temporary_file_of_others_is_not_in_the_way(void **state)
{
    (void)state;
    const char *path = in_folder("a.png");
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".a.png.%ld.0.tmp", (long)getpid());
    write_file(in_folder(temporary), "x", 1);
    twi_io_image image = noise_image(4, 4, 1, TW_U8);
    assert_io_ok(twi_io_write(path, NULL, &image, NULL));
    assert_int_equal(files_in(io_folder), 2);
    twi_io_free(&image);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(in_folder(temporary)), 0);
}

/* As threads do, and processes of one number in two containers: the last that ends wins, and each file is whole. */
static void two_writers_of_a_name_do_not_mix(void **state)
{
    (void)state;
    char path[PATH_MAX];
    twi_sink first;
    twi_sink second;
    struct stat facts;
    (void)snprintf(path, sizeof path, "%s", in_folder("a.npy"));
    assert_io_ok(twi_sink_open(path, &first));
    assert_io_ok(twi_sink_open(path, &second));
    assert_true(twi_sink_write(&second, "second", 6));
    assert_true(twi_sink_write(&first, "one", 3));
    assert_io_ok(twi_sink_close(&first, TWI_IO_OK));
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 3);
    assert_io_ok(twi_sink_close(&second, TWI_IO_OK));
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 6);
    assert_int_equal(files_in(io_folder), 1);
    assert_int_equal(unlink(path), 0);
}

static void a_long_name_is_written(void **state)
{
    (void)state;
    char name[252] = {0};
    twi_io_image image = noise_image(4, 4, 1, TW_U8);
    memset(name, 'n', 247);
    memcpy(name + 247, ".png", 4);
    assert_io_ok(twi_io_write(in_folder(name), NULL, &image, NULL));
    assert_int_equal(unlink(in_folder(name)), 0);
    twi_io_free(&image);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    twi_io_image image;
    assert_io_refused(twi_io_create(0, 1, 1, TW_U8, &image), TWI_IO_USAGE, "new image", "0x1");
    assert_io_refused(twi_io_create(1, -1, 1, TW_U8, &image), TWI_IO_USAGE, "new image", "1x0");
    assert_io_refused(twi_io_create(1, 1, 5, TW_U8, &image), TWI_IO_USAGE, "new image", "5 channels");
    assert_io_refused(twi_io_create(INT64_MAX, INT64_MAX, 4, TW_F64, &image), TWI_IO_MEMORY, "new image", "limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(damaged_files_of_others_never_crash),
        cmocka_unit_test(an_image_beyond_the_limit_is_refused_before_memory_is_taken),
        cmocka_unit_test(a_lying_header_in_a_pipe_is_bounded_by_the_limit),
        cmocka_unit_test(every_format_is_read_from_a_pipe),
        cmocka_unit_test(input_that_cannot_be_opened_says_why),
        cmocka_unit_test(tags_cannot_take_more_memory_than_the_file_has),
        cmocka_unit_test(a_full_disk_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(a_device_without_space_is_an_error),
        cmocka_unit_test(output_that_cannot_be_made_says_why),
        cmocka_unit_test(permissions_are_kept_or_follow_the_mask),
        cmocka_unit_test(a_link_stays_and_its_target_is_replaced),
        cmocka_unit_test(a_fifo_gets_the_file),
        cmocka_unit_test(stdin_and_stdout_are_files_too),
        cmocka_unit_test(a_signal_leaves_no_temporary_file),
        cmocka_unit_test(a_temporary_file_of_others_is_not_in_the_way),
        cmocka_unit_test(two_writers_of_a_name_do_not_mix),
        cmocka_unit_test(a_long_name_is_written),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
