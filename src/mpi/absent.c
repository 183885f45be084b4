/* The command where it is built without MPI. */
#include <stdlib.h>
#include <string.h>

#include "mpi/command.h"

int twi_ranks_join(void)
{
    return 0;
}

twi_exit twi_ranks_run(const twi_args *args)
{
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    if (ranks && strcmp(ranks, "1") != 0)
        return twi_complain(TWI_EXIT_USAGE,
                            "one of %.20s processes of mpirun, but built without MPI: build with TW_MPI=ON", ranks);
    return args->command->run(args);
}

void twi_ranks_leave(void)
{
}
