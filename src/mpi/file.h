/* Rows of a flat file that all ranks have open. */
#ifndef TWI_MPI_FILE_H
#define TWI_MPI_FILE_H

#include "mpi/ranks.h"

typedef struct twi_file {
    const tw_mpi *mpi;
    const tw_mpi_file *file;
    bool write;
    MPI_File handle;
} twi_file;

/* Collective. After a failed open there is nothing to close. */
tw_status twi_file_open(const tw_mpi *mpi, const tw_mpi_file *file, bool write, twi_file *result);
tw_status twi_file_close(twi_file *file);

/* Rows first, first + 1, ... of the file, by this rank alone. */
tw_status twi_file_read(twi_file *file, int64_t first, const tw_image *rows);
/* Collective: reads or writes, as the file was opened; no rank has more than `most_rows`. */
tw_status twi_file_move_all(twi_file *file, int64_t first, const tw_image *rows, int64_t most_rows);

#endif
