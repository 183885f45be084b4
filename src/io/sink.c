/* A file in the making: written beside its target and renamed onto it, so that it appears whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/format.h"

enum { BUFFER_BYTES = 1 << 18, NAME_KEPT = 200, MOST_ATTEMPTS = 1000 };

/* ---- Files in the making ---------------------------------------------------------------------- */

/* The sinks that have a temporary file, of all threads: what a signal must remove. */
static twi_sink *pending;
static const char *adopted;                 /* another process's, or NULL */
static atomic_flag held = ATOMIC_FLAG_INIT; /* guards both */

/* Waits as a signal handler may. */
static void hold(void)
{
    while (atomic_flag_test_and_set(&held))
        (void)poll(NULL, 0, 1);
}

/* With the thread's signals blocked: a handler would wait for what its own thread holds. */
static void hold_quietly(sigset_t *before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
    hold();
}

static void let_go(const sigset_t *before)
{
    atomic_flag_clear(&held);
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

void twi_io_cleanup(void)
{
    hold(); /* and never let go: from here on no thread makes a file */
    for (const twi_sink *sink = pending; sink; sink = sink->next)
        (void)unlink(sink->temporary);
    if (adopted)
        (void)unlink(adopted);
}

void twi_io_adopt(const char *name)
{
    sigset_t before;
    hold_quietly(&before);
    adopted = name;
    let_go(&before);
}

/* Opens the temporary file, which is remembered before a signal can come. 0, or the reason. */
static int make_temporary(twi_sink *sink, mode_t mode)
{
    sigset_t before;
    hold_quietly(&before);
    sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const int reason = sink->fd >= 0 ? 0 : errno;
    if (reason == 0) {
        sink->next = pending;
        pending = sink;
    }
    let_go(&before);
    return reason;
}

static void forget_temporary(twi_sink *sink)
{
    sigset_t before;
    hold_quietly(&before);
    for (twi_sink **at = &pending; *at; at = &(*at)->next) {
        if (*at == sink) {
            *at = sink->next;
            break;
        }
    }
    let_go(&before);
    free(sink->temporary);
    sink->temporary = NULL;
}

/* ---- Opening and closing ----------------------------------------------------------------------- */

/* Closes and frees everything; the temporary file, if it is still there, goes. */
static void drop(twi_sink *sink)
{
    if (sink->temporary) {
        (void)unlink(sink->temporary);
        forget_temporary(sink);
    }
    if (sink->fd >= 0 && !sink->standard)
        (void)close(sink->fd);
    free(sink->target);
    free(sink->buffer);
    sink->fd = -1;
    sink->target = NULL;
    sink->buffer = NULL;
}

static twi_io_status refuse(twi_sink *sink, int reason)
{
    drop(sink);
    if (reason == ENOMEM)
        return twi_io_fail(TWI_IO_MEMORY, sink->name, "out of memory for writing");
    return twi_io_fail(TWI_IO_OUTPUT, sink->name, "cannot be written: %s", strerror(reason));
}

/* ".NAME.PID.ATTEMPT.tmp" in the target's folder; a long name is cut so that the result is a legal one. */
static char *temporary_name(const char *target, int attempt)
{
    const char *slash = strrchr(target, '/');
    const char *base = slash ? slash + 1 : target;
    const size_t size = strlen(target) + 48;
    char *name = malloc(size);
    if (name)
        (void)snprintf(name, size, "%.*s.%.*s.%ld.%d.tmp", (int)(base - target), target, (int)NAME_KEPT, base,
                       (long)getpid(), attempt);
    return name;
}

/* 0, or the reason. */
static int try_temporary(twi_sink *sink, int attempt, mode_t mode)
{
    sink->temporary = temporary_name(sink->target, attempt);
    if (!sink->temporary)
        return ENOMEM;
    const int reason = make_temporary(sink, mode);
    if (reason != 0) {
        free(sink->temporary);
        sink->temporary = NULL;
    }
    return reason;
}

/* 0, or the reason. `old`: the file that is replaced, NULL for a new one. */
static int open_temporary(twi_sink *sink, const struct stat *old)
{
    int reason = EEXIST;
    /* one that is there may be in use: by a thread, or by a process that has the same number in another container */
    for (int attempt = 0; attempt < MOST_ATTEMPTS && reason == EEXIST; attempt++)
        reason = try_temporary(sink, attempt, old ? S_IRUSR | S_IWUSR : 0666);
    if (reason != 0)
        return reason;
    if (old) {
        mode_t kept = old->st_mode & 07777;
        /* the owner too where we may; without it, no set-user-id that would now mean somebody else */
        if (fchown(sink->fd, old->st_uid, old->st_gid) != 0)
            kept &= 0777;
        if (fchmod(sink->fd, kept) != 0)
            return errno;
    }
    return 0;
}

/* 0, or the reason. A symbolic link stays one: the file that it leads to is replaced, as cp would. */
static int open_target(twi_sink *sink, const char *path)
{
    struct stat facts;
    const char *slash = strrchr(path, '/');
    if (stat(path, &facts) == 0) {
        if (S_ISDIR(facts.st_mode))
            return EISDIR;
        if (!S_ISREG(facts.st_mode)) {
            sink->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
            return sink->fd < 0 ? errno : 0;
        }
        /* a rename would succeed without asking the file */
        if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
            return errno;
        sink->target = realpath(path, NULL);
        return sink->target ? open_temporary(sink, &facts) : errno;
    }
    if (errno != ENOENT)
        return errno;
    if (lstat(path, &facts) == 0 || (slash && slash[1] == '\0') || path[0] == '\0')
        return ENOENT;
    sink->target = strdup(path);
    return sink->target ? open_temporary(sink, NULL) : ENOMEM;
}

twi_io_status twi_sink_open(const char *path, twi_sink *sink)
{
    const bool standard = strcmp(path, "-") == 0;
    int reason = 0;
    *sink = (twi_sink){.name = standard ? "stdout" : path, .standard = standard, .fd = standard ? STDOUT_FILENO : -1};
    if (!standard)
        reason = open_target(sink, path);
    if (reason == 0 && isatty(sink->fd)) {
        drop(sink);
        return twi_io_fail(TWI_IO_USAGE, sink->name, "is a terminal: an image is written to a file or a pipe");
    }
    if (reason == 0) {
        sink->buffer = malloc(BUFFER_BYTES);
        reason = sink->buffer ? 0 : ENOMEM;
    }
    return reason == 0 ? TWI_IO_OK : refuse(sink, reason);
}

static void write_fully(twi_sink *sink, const uint8_t *bytes, size_t count)
{
    while (count > 0 && sink->error == 0) {
        const ssize_t done = write(sink->fd, bytes, count);
        if (done >= 0) {
            bytes += done;
            count -= (size_t)done;
        } else if (errno != EINTR) {
            sink->error = errno;
        }
    }
}

static void flush(twi_sink *sink)
{
    write_fully(sink, sink->buffer, sink->used);
    sink->used = 0;
}

bool twi_sink_write(twi_sink *sink, const void *bytes, size_t count)
{
    sink->position += count;
    if (count > BUFFER_BYTES - sink->used)
        flush(sink);
    if (count > BUFFER_BYTES) {
        write_fully(sink, bytes, count);
    } else if (count > 0) {
        memcpy(sink->buffer + sink->used, bytes, count);
        sink->used += count;
    }
    return sink->error == 0;
}

twi_io_status twi_sink_seek(twi_sink *sink, uint64_t offset)
{
    if (offset == sink->position)
        return TWI_IO_OK;
    if (!sink->target)
        return twi_io_fail(TWI_IO_MEMORY, sink->name,
                           "its rows are not written from the first to the last, which a pipe needs: use a file");
    flush(sink);
    if (sink->error == 0 && lseek(sink->fd, (off_t)offset, SEEK_SET) < 0)
        sink->error = errno;
    sink->position = offset;
    return sink->error == 0 ? TWI_IO_OK : twi_sink_failed(sink);
}

const char *twi_sink_share(twi_sink *sink)
{
    if (!sink->temporary)
        return NULL;
    flush(sink);
    return sink->error == 0 ? sink->temporary : NULL;
}

twi_io_status twi_sink_failed(const twi_sink *sink)
{
    return twi_io_fail(TWI_IO_OUTPUT, sink->name, "cannot be written: %s", strerror(sink->error));
}

/* The new name reaches the disk as well. The file is whole either way, so a refusal is no failure. */
static void sync_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *folder = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

/* 0, or the reason. */
static int commit(twi_sink *sink)
{
    flush(sink);
    if (sink->error != 0)
        return sink->error;
    if (sink->standard)
        return 0;
    /* EINVAL: a pipe or device, which has no disk to reach */
    if (fsync(sink->fd) != 0 && errno != EINVAL)
        return errno;
    const int fd = sink->fd;
    sink->fd = -1;
    if (close(fd) != 0)
        return errno;
    if (!sink->target)
        return 0;
    if (rename(sink->temporary, sink->target) != 0)
        return errno;
    forget_temporary(sink);
    sync_folder(sink->target);
    return 0;
}

twi_io_status twi_sink_close(twi_sink *sink, twi_io_status status)
{
    if (status == TWI_IO_OK) {
        const int reason = commit(sink);
        if (reason != 0)
            return refuse(sink, reason);
    }
    drop(sink);
    return status;
}
