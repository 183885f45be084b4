/* Files without a name, for bytes that memory shall not hold. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/format.h"

int twi_io_scratch(const char *beside)
{
    static const char name[] = "tilewise.XXXXXX";
    const char *slash = beside && strcmp(beside, "-") != 0 ? strrchr(beside, '/') : NULL;
    const char *set = getenv("TMPDIR");
    const char *folder = beside && strcmp(beside, "-") != 0 ? (slash ? beside : ".") : set && *set ? set : "/var/tmp";
    const size_t length = slash ? (size_t)(slash - beside) + 1 : strlen(folder);
    char *path = malloc(length + sizeof name + 1);
    if (!path)
        return -1;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, sizeof name);
    path[length] = '\0';
    int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* file systems without nameless files */
        path[length] = '/';
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            (void)unlink(path);
    }
    free(path);
    return fd;
}

static twi_io_status failed(const char *what, int reason)
{
    return twi_io_fail(TWI_IO_OUTPUT, "a temporary file", "cannot be %s: %s", what, strerror(reason));
}

twi_io_status twi_io_scratch_write(int fd, uint64_t offset, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t done = pwrite(fd, at, count, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return failed("written", errno);
        at += done;
        offset += (uint64_t)done;
        count -= (size_t)done;
    }
    return TWI_IO_OK;
}

twi_io_status twi_io_scratch_read(int fd, uint64_t offset, void *bytes, size_t count)
{
    char *at = bytes;
    while (count > 0) {
        const ssize_t done = pread(fd, at, count, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return failed("read", done < 0 ? errno : EIO);
        at += done;
        offset += (uint64_t)done;
        count -= (size_t)done;
    }
    return TWI_IO_OK;
}
