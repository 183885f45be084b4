/* The command on several ranks: what main() calls, whether or not this build has MPI. */
#ifndef TWI_MPI_COMMAND_H
#define TWI_MPI_COMMAND_H

#include "cli/args.h"

/* Where a launcher such as mpirun started this process: joins the others. This process's number, of which 0 alone
   prints what is the same on all; 0 where there is no launcher. */
int twi_ranks_join(void);
/* Does the command, together with the other ranks if there are any. */
twi_exit twi_ranks_run(const twi_args *args);
/* Before the process ends. */
void twi_ranks_leave(void);

#endif
