/* The sentence about a failure. */
#include <stdarg.h>
#include <stdio.h>

#include "io/format.h"

static _Thread_local char message[4608];

twi_io_status twi_io_fail(twi_io_status status, const char *name, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(message, sizeof message, "%s: ", name);
    va_start(arguments, format);
    if (length >= 0 && (size_t)length < sizeof message)
        (void)vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    /* one line, whatever a name or a codec's words hold */
    for (char *at = message; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    return status;
}

const char *twi_io_message(void)
{
    return message;
}
