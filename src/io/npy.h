/* What images (npy.c) and small tables of numbers (matrix.c) share of NumPy's .npy. */
#ifndef TWI_NPY_H
#define TWI_NPY_H

#include "io/format.h"

/* A header as it stands: nothing of it is checked beyond its form. */
typedef struct twi_npy {
    char descr[32]; /* "<i4"; "structured" for a list of fields */
    bool fortran;
    int dimensions;
    uint64_t shape[3]; /* of the first three dimensions */
} twi_npy;

bool twi_npy_sniff(const uint8_t *head, size_t count);

/* Reads the source up to its elements. */
twi_io_status twi_npy_header(twi_source *source, twi_npy *result);

/* twi_io_matrix_read() of an open source. */
twi_io_status twi_matrix_from(twi_source *source, int32_t most, twi_matrix *result);

#endif
