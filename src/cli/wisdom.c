/* The wisdom file: found, read, and written by one command at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/wisdom.h"

enum { MOST_BYTES = 1 << 22, WAITS = 100 /* of 50 ms each, for another command to finish */ };

bool twi_wisdom_path(char path[TWI_MOST_PATH])
{
    const char *named = getenv("TILEWISE_WISDOM");
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    if (named)
        length = snprintf(path, TWI_MOST_PATH, "%s", named);
    else if (cache && cache[0] == '/') /* a relative one is to be ignored, says its specification */
        length = snprintf(path, TWI_MOST_PATH, "%s/tilewise/wisdom", cache);
    else if (home && home[0] != '\0')
        length = snprintf(path, TWI_MOST_PATH, "%s/.cache/tilewise/wisdom", home);
    return length > 0 && length < TWI_MOST_PATH;
}

/* A pipe or a device, which might be waited for, or never end. */
static bool is_special(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

/* False, and the note printed, if the file is there but cannot be used. */
static bool import(const twi_args *args, const char *path, tw_context *context)
{
    char *text = NULL;
    size_t size = 0;
    const char *why = "";
    if (access(path, F_OK) != 0)
        return true;
    if (is_special(path))
        why = "it is no ordinary file";
    else if (twi_io_read_bytes(path, MOST_BYTES, &text, &size) != TWI_IO_OK)
        why = twi_io_message();
    else if (tw_wisdom_import(context, text, size) != TW_OK)
        why = tw_error_message();
    free(text);
    if (why[0] != '\0' && !args->quiet)
        (void)twi_complain(TWI_EXIT_DONE, "note: wisdom file '%s' is not used: %s", path, why);
    return why[0] == '\0';
}

void twi_wisdom_load(const twi_args *args, tw_context *context)
{
    char path[TWI_MOST_PATH];
    if (twi_wisdom_path(path))
        (void)import(args, path, context);
}

/* ---- Writing ------------------------------------------------------------------------------------- */

twi_exit twi_make_folders(const char *path)
{
    char folder[TWI_MOST_PATH];
    struct stat facts;
    for (size_t i = 1; i < sizeof folder && path[i] != '\0'; i++) {
        if (path[i] != '/')
            continue;
        (void)snprintf(folder, sizeof folder, "%.*s", (int)i, path);
        const int reason = mkdir(folder, 0777) == 0 ? 0 : errno;
        /* it may be there, and yet be one that mkdir is not allowed to make */
        if (reason != 0 && (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)))
            return twi_complain(TWI_EXIT_OUTPUT, "folder '%s' cannot be made: %s", folder, strerror(reason));
    }
    return TWI_EXIT_DONE;
}

/* A lock on the folder that `path` lies in, so that nothing is left behind. -1: none was to be had in time, or the file
   system has none; then two commands at once may lose an entry, but never leave half a file. */
static int lock_folder(const char *path)
{
    char folder[TWI_MOST_PATH];
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < WAITS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK)
            break;
        (void)nanosleep(&pause, NULL);
    }
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* All that the context remembers; the caller frees it. */
static char *exported(const tw_context *context, size_t *size)
{
    *size = tw_wisdom_export(context, NULL, 0);
    char *text = malloc(*size + 1);
    if (text)
        (void)tw_wisdom_export(context, text, *size + 1);
    return text;
}

/* The file's entries, and over them the context's own. */
static twi_exit merge(const twi_args *args, const char *path, tw_context *context)
{
    size_t size = 0;
    char *own = exported(context, &size);
    if (!own)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %zu bytes of wisdom", size);
    tw_wisdom_forget(context);
    (void)import(args, path, context);
    tw_status status = tw_wisdom_import(context, own, size);
    free(own);
    if (status != TW_OK)
        return twi_complain_status(status);
    char *all = exported(context, &size);
    if (!all)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %zu bytes of wisdom", size);
    const twi_io_status written = twi_io_write_bytes(path, all, size);
    free(all);
    return written == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_io(written);
}

twi_exit twi_wisdom_save(const twi_args *args, const char *path, tw_context *context)
{
    twi_exit code = twi_make_folders(path);
    if (code != TWI_EXIT_DONE)
        return code;
    if (is_special(path))
        return twi_complain(TWI_EXIT_OUTPUT, "wisdom file '%s' is no ordinary file: name one with TILEWISE_WISDOM",
                            path);
    const int lock = lock_folder(path);
    code = merge(args, path, context);
    if (lock >= 0)
        (void)close(lock);
    return code;
}
