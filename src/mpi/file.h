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

/* Collective. A file that is read must hold `rows` rows of that many bytes. After a failed open there is nothing to
   close. */
tw_status twi_file_open(const tw_mpi *mpi, const tw_mpi_file *file, bool write, int64_t rows, int64_t row_bytes,
                        twi_file *result);
/* Collective: closes it, whatever became of this rank's work. The status that all ranks agree on. */
tw_status twi_file_close(twi_file *file, tw_status status);

/* Rows first, first + 1, ... of the file, read or written as it was opened, by this rank alone. */
tw_status twi_file_move(twi_file *file, int64_t first, const tw_image *rows);

#endif
