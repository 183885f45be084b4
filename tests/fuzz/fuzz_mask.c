/* The reader of masks and footprints: the input as a file, text or NPY, and as a text of the command line. Whatever it
   holds, the result is a table of finite numbers within the limits, or there is a message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

enum { MOST = 255 };

static void check(twi_io_status status, twi_matrix *matrix)
{
    bool sound = status != TWI_IO_OK && twi_io_message()[0] != '\0' && !matrix->values;
    if (status == TWI_IO_OK) {
        sound = matrix->width >= 1 && matrix->height >= 1 && matrix->width <= MOST && matrix->height <= MOST;
        for (int32_t i = 0; sound && i < matrix->width * matrix->height; i++)
            sound = matrix->real || matrix->values[i] == floor(matrix->values[i]);
    }
    if (!sound)
        abort();
    twi_io_matrix_free(matrix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    twi_matrix matrix;
    twi_source source = twi_source_memory("input", data, size);
    check(twi_matrix_from(&source, MOST, &matrix), &matrix);
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check(twi_io_matrix_parse("text", text, MOST, &matrix), &matrix);
    free(text);
    return 0;
}
