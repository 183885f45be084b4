/* Any bytes as an image file. What can be read is written in every format that holds it, and read again: the same
   pixels, but for JPEG. What cannot be read leaves a message and nothing else. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"

enum { MOST_BYTES = 1 << 20, PAGES = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void remove_folder(void)
{
    (void)rmdir(folder);
}

/* One folder for the whole run, in memory where there is such a place. */
static void make_folder(void)
{
    struct stat facts;
    const char *root = stat("/dev/shm", &facts) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/fuzz_io_XXXXXX", root);
    require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
}

static void require_same_pixels(const tw_image *a, const tw_image *b)
{
    const size_t row = (size_t)a->width * (size_t)a->channels * tw_type_size(a->type);
    require(a->width == b->width && a->height == b->height && a->channels == b->channels && a->type == b->type);
    for (int64_t y = 0; y < a->height; y++)
        require(memcmp((char *)a->data + y * a->pitch, (char *)b->data + y * b->pitch, row) == 0);
}

static void check_round_trips(const twi_io_image *image)
{
    static const char *const endings[] = {"png", "jpg", "tif", "pnm", "npy"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[96];
        const char *lost = NULL;
        twi_io_image again;
        (void)snprintf(path, sizeof path, "%s/again.%s", folder, endings[i]);
        if (twi_io_can_write(path, NULL, image->image.type, image->image.channels) != TWI_IO_OK)
            continue;
        const twi_io_status status = twi_io_write(path, NULL, image, &lost);
        /* a side can be longer than a JPEG's longest */
        require(status == TWI_IO_OK || (status == TWI_IO_USAGE && strcmp(endings[i], "jpg") == 0));
        if (status != TWI_IO_OK)
            continue;
        require(lost != NULL && twi_io_read(path, 0, 2 * MOST_BYTES, &again) == TWI_IO_OK);
        if (strcmp(endings[i], "jpg") != 0)
            require_same_pixels(&image->image, &again.image);
        twi_io_free(&again);
        require(unlink(path) == 0);
    }
}

/* The same rows in portions, the last ones first, and then on from there. */
static void check_portions(const char *path, int64_t page, const tw_image *image)
{
    twi_reader *reader;
    twi_io_image rows;
    require(twi_reader_open(path, page, 16 * MOST_BYTES, &reader) == TWI_IO_OK);
    require(twi_io_create(image->width, image->height, image->channels, image->type, &rows) == TWI_IO_OK);
    tw_image upper = rows.image;
    tw_image lower = rows.image;
    upper.height = image->height / 2;
    lower.height -= upper.height;
    lower.data = (char *)lower.data + upper.height * lower.pitch;
    require(twi_reader_rows(reader, upper.height, &lower) == TWI_IO_OK);
    require(upper.height == 0 || twi_reader_rows(reader, 0, &upper) == TWI_IO_OK);
    require_same_pixels(image, &rows.image);
    twi_io_free(&rows);
    twi_reader_close(reader);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[96];
    twi_io_image image;
    if (folder[0] == '\0')
        make_folder();
    (void)snprintf(path, sizeof path, "%s/input", folder);
    write_file(path, data, size);
    for (int64_t page = 0; page < PAGES; page++) {
        const twi_io_status status = twi_io_read(path, page, MOST_BYTES, &image);
        if (status == TWI_IO_OK) {
            check_round_trips(&image);
            check_portions(path, page, &image.image);
        } else {
            require(!image.image.data && !image.metadata && strncmp(twi_io_message(), path, strlen(path)) == 0);
        }
        twi_io_free(&image);
    }
    require(unlink(path) == 0);
    return 0;
}
