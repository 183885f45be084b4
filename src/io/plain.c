/* Files of plain bytes, such as text: read and written as a whole. */
#include <stdlib.h>

#include "io/format.h"

/* `memory` has room for one byte more than there may be. */
static twi_io_status read_whole(twi_source *source, size_t most, char *memory, size_t *size)
{
    if (!memory)
        return twi_io_fail(TWI_IO_MEMORY, source->name, "out of memory: %zu bytes", most);
    *size = twi_source_read(source, memory, most + 1);
    if (source->error != 0)
        return twi_source_short(source);
    if (*size > most)
        return twi_io_fail(TWI_IO_INPUT, source->name, "more than %zu bytes", most);
    memory[*size] = '\0';
    return TWI_IO_OK;
}

twi_io_status twi_io_read_bytes(const char *path, size_t most, char **bytes, size_t *size)
{
    twi_source source;
    *bytes = NULL;
    TWI_IO_TRY(twi_source_open(path, &source));
    char *memory = malloc(most + 1);
    const twi_io_status status = read_whole(&source, most, memory, size);
    twi_source_close(&source);
    if (status == TWI_IO_OK)
        *bytes = memory;
    else
        free(memory);
    return status;
}

twi_io_status twi_io_write_bytes(const char *path, const void *bytes, size_t size)
{
    twi_sink sink;
    TWI_IO_TRY(twi_sink_open(path, &sink));
    return twi_sink_close(&sink, twi_sink_write(&sink, bytes, size) ? TWI_IO_OK : twi_sink_failed(&sink));
}
