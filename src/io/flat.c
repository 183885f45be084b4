/* Rows that lie in a file as they lie in memory, but for the order of bytes: NPY, raw PNM, uncompressed TIFF. */
#include "io/bytes.h"
#include "io/format.h"

static bool read_run(twi_source *source, const tw_image *rows, int64_t y, int64_t count)
{
    const size_t bytes = (size_t)count * twi_row_bytes(rows);
    return twi_source_read(source, twi_row(rows, y), bytes) == bytes;
}

twi_io_status twi_flat_read(twi_reader *reader, const twi_flat *flat, int64_t first, const tw_image *rows)
{
    const int64_t above = flat->upward ? reader->shape.height - first - rows->height : first;
    bool fine = true;
    TWI_IO_TRY(twi_source_seek(&reader->source, flat->offset + (uint64_t)above * twi_row_bytes(rows)));
    if (twi_solid(rows) && !flat->upward) {
        fine = read_run(&reader->source, rows, 0, rows->height);
    } else {
        for (int64_t i = 0; i < rows->height && fine; i++)
            fine = read_run(&reader->source, rows, flat->upward ? rows->height - 1 - i : i, 1);
    }
    if (!fine)
        return twi_source_short(&reader->source);
    for (int64_t y = 0; y < rows->height && flat->big != twi_host_big(); y++)
        twi_swap(twi_row(rows, y), twi_row_elements(rows), tw_type_size(rows->type));
    return TWI_IO_OK;
}
