/* The files of one command line: which are read, and where each result goes. */
#ifndef TWI_JOBS_H
#define TWI_JOBS_H

#include "cli/args.h"

typedef struct twi_job {
    char *from;
    char *to;     /* NULL: no file (stats) */
    bool skipped; /* --resume: the result is there and newer, nothing is to be done */
} twi_job;

typedef struct twi_jobs {
    twi_job *list;
    size_t count;
} twi_jobs;

/* Whether the line of a filter or of stats asks for more than one named file to become another. */
bool twi_jobs_asked(const twi_args *args);

/* Whether a filter's output is the folder of its results, not the one result. */
bool twi_jobs_to_folder(const twi_args *args);

/* Finds the files and names the results, makes the folder for them, and refuses what cannot go well as a whole, such as
   two results of one name. On failure the line has been printed; free the jobs in any case. */
twi_exit twi_jobs_plan(const twi_args *args, twi_jobs *jobs);
void twi_jobs_free(twi_jobs *jobs);

#endif
