/* Files of plain bytes, such as text: read and written as a whole. */
#include <stdlib.h>

#include "io/format.h"

twi_io_status twi_io_read_bytes(const char *path, size_t most, char **bytes, size_t *size)
{
    twi_source source;
    *bytes = NULL;
    TWI_IO_TRY(twi_source_open(path, &source));
    char *memory = malloc(most + 1);
    const size_t got = memory ? twi_source_read(&source, memory, most + 1) : 0;
    twi_io_status status = TWI_IO_OK;
    if (!memory)
        status = twi_io_fail(TWI_IO_MEMORY, source.name, "out of memory: %zu bytes", most);
    else if (source.error != 0)
        status = twi_source_short(&source);
    else if (got > most)
        status = twi_io_fail(TWI_IO_INPUT, source.name, "more than %zu bytes", most);
    twi_source_close(&source);
    if (status != TWI_IO_OK) {
        free(memory);
        return status;
    }
    memory[got] = '\0';
    *bytes = memory;
    *size = got;
    return TWI_IO_OK;
}

twi_io_status twi_io_write_bytes(const char *path, const void *bytes, size_t size)
{
    twi_sink sink;
    TWI_IO_TRY(twi_sink_open(path, &sink));
    return twi_sink_close(&sink, twi_sink_write(&sink, bytes, size) ? TWI_IO_OK : twi_sink_failed(&sink));
}
