/* One line on stderr for every failure, and the exit code that goes with it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static _Thread_local twi_complaints *kept;

twi_complaints *twi_keep_complaints(twi_complaints *complaints)
{
    twi_complaints *before = kept;
    kept = complaints;
    return before;
}

twi_exit twi_complain(twi_exit code, const char *format, ...)
{
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* a file's name may hold anything, a second line or an escape sequence among it */
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '\x7f')
            *at = '?';
    if (kept) {
        char **place = code == TWI_EXIT_DONE ? &kept->warning : &kept->failure;
        free(*place);
        *place = strdup(line);
        return code;
    }
    (void)fflush(stdout);
    (void)fprintf(stderr, "tilewise: %s\n", line);
    return code;
}

twi_exit twi_exit_of(tw_status status)
{
    static const twi_exit codes[TW_STATUS_COUNT] = {
        [TW_OK] = TWI_EXIT_DONE,
        [TW_ERROR_ARGUMENT] = TWI_EXIT_USAGE,
        [TW_ERROR_UNSUPPORTED] = TWI_EXIT_USAGE,
        [TW_ERROR_MEMORY] = TWI_EXIT_MEMORY,
        [TW_ERROR_LIMIT] = TWI_EXIT_MEMORY,
        [TW_ERROR_DEVICE] = TWI_EXIT_DEVICE,
        [TW_ERROR_CUDA] = TWI_EXIT_NO,
        [TW_ERROR_CANCELLED] = TWI_EXIT_NO,
        [TW_ERROR_FILE] = TWI_EXIT_INPUT,
    };
    return codes[status];
}

twi_exit twi_complain_status(tw_status status)
{
    return twi_complain(twi_exit_of(status), "%s", tw_error_message());
}

static twi_exit exit_of(twi_io_status status)
{
    static const twi_exit codes[] = {
        [TWI_IO_OK] = TWI_EXIT_DONE,       [TWI_IO_USAGE] = TWI_EXIT_USAGE,   [TWI_IO_INPUT] = TWI_EXIT_INPUT,
        [TWI_IO_OUTPUT] = TWI_EXIT_OUTPUT, [TWI_IO_MEMORY] = TWI_EXIT_MEMORY,
    };
    return codes[status];
}

twi_exit twi_complain_io(twi_io_status status)
{
    return twi_complain(exit_of(status), "%s", twi_io_message());
}

twi_exit twi_complain_option(const char *option, twi_io_status status)
{
    return twi_complain(exit_of(status), "--%s %s", option, twi_io_message());
}
