/* Many files at a time: while one is computed, others are read and written. */
#ifndef TWI_BATCH_H
#define TWI_BATCH_H

#include "cli/args.h"

/* Works on all files that the line of a filter or of stats names. A file that fails has its line and stops no other;
   then the code is TWI_EXIT_NO. */
twi_exit twi_batch(const twi_args *args);

#endif
