/* What the tests of image files share: a folder of their own, small files, and comparisons. */
#ifndef TESTING_IO_H
#define TESTING_IO_H

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"
#include "io/io.h"

#define assert_io_ok(call)                                                                                             \
    do {                                                                                                               \
        if ((call) != TWI_IO_OK)                                                                                       \
            fail_msg("%s: %s", #call, twi_io_message());                                                               \
    } while (0)

/* The call fails with that status and a message that begins with `name` and holds `words`. */
#define assert_io_refused(call, status, name, words)                                                                   \
    do {                                                                                                               \
        const twi_io_status got_status = (call);                                                                       \
        const char *got_text = twi_io_message();                                                                       \
        if (got_status != (status) || strncmp(got_text, name, strlen(name)) != 0 || !strstr(got_text, words))          \
            fail_msg("%s: %d, \"%s\"", #call, (int)got_status, got_text);                                              \
    } while (0)

static const uint64_t no_limit = UINT64_MAX;

static char io_folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    /* in memory where there is such a place: thousands of small files, many of them synchronised */
    const char *root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(io_folder, sizeof io_folder, "%s/tilewise_test_io_XXXXXX", root);
    return mkdtemp(io_folder) ? 0 : -1;
}

/* Removes the folder, which fails if a test left a file behind. */
static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(io_folder);
}

/* The path of a file of that name in the folder. One of a few static texts. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    (void)snprintf(path, sizeof paths[0], "%s/%s", io_folder, name);
    return path;
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The whole file, to be freed. */
static inline uint8_t *load_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

/* Calls visit() with the path of each file in the folder; how many of them it took for its own. */
static inline int visit_files(const char *folder, bool (*visit)(const char *path))
{
    int taken = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[512];
        struct stat facts;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_int_equal(stat(path, &facts), 0);
        taken += S_ISREG(facts.st_mode) && visit(path);
    }
    (void)closedir(directory);
    return taken;
}

/* How many entries the folder has. */
static inline int files_in(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(directory);
    return count;
}

static inline size_t row_bytes(const tw_image *image)
{
    return (size_t)image->width * (size_t)image->channels * tw_type_size(image->type);
}

static inline void assert_same_pixels(const tw_image *a, const tw_image *b, const char *name)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels || a->type != b->type)
        fail_msg("%s: %dx%d c%d %s, not %dx%d c%d %s", name, (int)a->width, (int)a->height, (int)a->channels,
                 tw_type_name(a->type), (int)b->width, (int)b->height, (int)b->channels, tw_type_name(b->type));
    for (int64_t y = 0; y < a->height; y++)
        if (memcmp((char *)a->data + y * a->pitch, (char *)b->data + y * b->pitch, row_bytes(a)) != 0)
            fail_msg("%s: row %d differs", name, (int)y);
}

/* An image of repeatable bytes; floats hold NaN and infinities, which must survive as they are. */
static inline twi_io_image noise_image(int64_t width, int64_t height, int32_t channels, tw_type type)
{
    twi_io_image made;
    uint32_t seed = 12345;
    assert_io_ok(twi_io_create(width, height, channels, type, &made));
    for (int64_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)made.image.data + y * made.image.pitch;
        for (size_t i = 0; i < row_bytes(&made.image); i++) {
            seed = seed * 1664525 + 1013904223;
            row[i] = (uint8_t)(seed >> 24);
        }
    }
    if (type == TW_F32)
        ((float *)made.image.data)[0] = NAN;
    if (type == TW_F64)
        ((double *)made.image.data)[0] = -INFINITY;
    return made;
}

#endif
