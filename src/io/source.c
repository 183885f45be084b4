/* The bytes of a file that is read: a regular file, a pipe, or memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/format.h"

enum { BUFFER_BYTES = 1 << 18 };

twi_io_status twi_source_open(const char *path, twi_source *source)
{
    const bool standard = strcmp(path, "-") == 0;
    struct stat facts;
    *source = (twi_source){.name = standard ? "stdin" : path, .size = TWI_UNKNOWN_SIZE, .standard = standard};
    source->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0 || fstat(source->fd, &facts) != 0) {
        const int reason = errno;
        twi_source_close(source);
        return twi_io_fail(TWI_IO_INPUT, source->name, "cannot be opened: %s", strerror(reason));
    }
    if (S_ISDIR(facts.st_mode)) {
        twi_source_close(source);
        return twi_io_fail(TWI_IO_INPUT, source->name, "is a directory, not a file");
    }
    /* files of /proc say that they are regular and have 0 bytes: those are read like pipes */
    const off_t here = S_ISREG(facts.st_mode) ? lseek(source->fd, 0, SEEK_CUR) : -1;
    if (here >= 0 && facts.st_size > here) {
        source->base = here;
        source->size = (uint64_t)(facts.st_size - here);
        source->changed[0] = facts.st_mtim.tv_sec;
        source->changed[1] = facts.st_mtim.tv_nsec;
    }
    source->owned = malloc(BUFFER_BYTES);
    if (!source->owned) {
        twi_source_close(source);
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory for a read buffer");
    }
    return TWI_IO_OK;
}

twi_source twi_source_memory(const char *name, const void *bytes, size_t size)
{
    return (twi_source){.name = name, .size = size, .fd = -1, .memory = bytes};
}

void twi_source_close(twi_source *source)
{
    if (source->fd >= 0 && !source->standard)
        (void)close(source->fd);
    free(source->owned);
    source->owned = NULL;
    source->fd = -1;
}

enum { WHERE_IT_STANDS = -1 };

/* Reads until `count` bytes, the end, or an error: from `offset` of a file on, or where the descriptor stands. */
static size_t read_fully(twi_source *source, off_t offset, uint8_t *bytes, size_t count)
{
    size_t done = 0;
    while (done < count && source->error == 0) {
        const ssize_t got = offset == WHERE_IT_STANDS
                                ? read(source->fd, bytes + done, count - done)
                                : pread(source->fd, bytes + done, count - done, offset + (off_t)done);
        if (got == 0)
            break;
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            source->error = errno;
    }
    return done;
}

/* The bytes at the position, past the buffer. */
static size_t load(twi_source *source, uint8_t *bytes, size_t count)
{
    if (source->size == TWI_UNKNOWN_SIZE)
        return read_fully(source, WHERE_IT_STANDS, bytes, count);
    return twi_source_read_at(source, source->position, bytes, count);
}

static void fill(twi_source *source)
{
    source->begin = source->position;
    source->end = source->begin + load(source, source->owned, BUFFER_BYTES);
}

size_t twi_source_read(twi_source *source, void *bytes, size_t count)
{
    uint8_t *out = bytes;
    size_t done = 0;
    while (done < count) {
        const size_t left = count - done;
        size_t now;
        if (source->position >= source->begin && source->position < source->end) {
            const uint64_t kept = source->end - source->position;
            now = kept < left ? (size_t)kept : left;
            memcpy(out + done, source->owned + (source->position - source->begin), now);
        } else if (source->memory || left >= BUFFER_BYTES) {
            now = load(source, out + done, left);
        } else {
            fill(source);
            now = 0;
            if (source->end == source->begin)
                break;
            continue;
        }
        source->position += now;
        done += now;
        if (now == 0)
            break;
    }
    return done;
}

const uint8_t *twi_source_peek(twi_source *source, size_t count, size_t *got)
{
    if (source->memory) {
        *got = source->size < count ? (size_t)source->size : count;
        return source->memory;
    }
    if (source->end == 0)
        fill(source);
    *got = source->end < count ? (size_t)source->end : count;
    return source->owned;
}

twi_io_status twi_source_seek(twi_source *source, uint64_t offset)
{
    uint8_t dropped[4096];
    if (source->size != TWI_UNKNOWN_SIZE || (offset >= source->begin && offset <= source->end)) {
        source->position = offset;
        return TWI_IO_OK;
    }
    if (offset < source->position)
        return twi_io_fail(TWI_IO_MEMORY, source->name,
                           "rows of it are needed again, and a pipe gives them once: use a file");
    while (source->position < offset) {
        const uint64_t left = offset - source->position;
        if (twi_source_read(source, dropped, left < sizeof dropped ? (size_t)left : sizeof dropped) == 0)
            return twi_source_short(source);
    }
    return TWI_IO_OK;
}

twi_io_status twi_source_spool(twi_source *source, uint64_t most)
{
    size_t room = BUFFER_BYTES;
    size_t size;
    if (source->size != TWI_UNKNOWN_SIZE)
        return TWI_IO_OK;
    if (source->end == 0)
        fill(source);
    size = (size_t)source->end;
    /* the buffer itself grows into the whole content */
    while (size == room && source->error == 0) {
        uint8_t *larger = room <= most / 2 ? realloc(source->owned, 2 * room) : NULL;
        if (!larger)
            return twi_io_fail(TWI_IO_MEMORY, source->name,
                               "a pipe of more than %zu bytes: this format needs it in memory; use a file", room);
        source->owned = larger;
        size += read_fully(source, WHERE_IT_STANDS, larger + room, room);
        room *= 2;
    }
    if (source->error != 0)
        return twi_source_short(source);
    source->memory = source->owned;
    source->size = size;
    source->begin = source->end = 0;
    return TWI_IO_OK;
}

size_t twi_source_read_at(twi_source *source, uint64_t offset, void *bytes, size_t count)
{
    if (source->size == TWI_UNKNOWN_SIZE || offset >= source->size)
        return 0;
    if (count > source->size - offset)
        count = (size_t)(source->size - offset);
    if (!source->memory)
        return read_fully(source, source->base + (off_t)offset, bytes, count);
    memcpy(bytes, source->memory + offset, count);
    return count;
}

twi_io_status twi_source_short(const twi_source *source)
{
    if (source->error != 0)
        return twi_io_fail(TWI_IO_INPUT, source->name, "cannot be read: %s", strerror(source->error));
    return twi_io_fail(TWI_IO_INPUT, source->name, "truncated: the file ends before its image does");
}

twi_io_status twi_source_expect(const twi_source *source, uint64_t least)
{
    const uint64_t left = source->size == TWI_UNKNOWN_SIZE ? UINT64_MAX : source->size - source->position;
    if (least > left)
        return twi_io_fail(TWI_IO_INPUT, source->name,
                           "truncated: its header promises an image of at least %llu bytes, %llu are there",
                           (unsigned long long)least, (unsigned long long)left);
    return TWI_IO_OK;
}

twi_io_status twi_source_unchanged(const twi_source *source)
{
    struct stat facts;
    if (source->fd < 0 || source->memory || source->size == TWI_UNKNOWN_SIZE)
        return TWI_IO_OK;
    if (fstat(source->fd, &facts) != 0)
        return twi_io_fail(TWI_IO_INPUT, source->name, "cannot be read: %s", strerror(errno));
    if ((uint64_t)(facts.st_size - source->base) == source->size && facts.st_mtim.tv_sec == source->changed[0] &&
        facts.st_mtim.tv_nsec == source->changed[1])
        return TWI_IO_OK;
    return twi_io_fail(TWI_IO_INPUT, source->name, "was changed while it was read: run again when nobody writes to it");
}
