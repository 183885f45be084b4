/* Progress of long work as one line on stderr that is overwritten and, at the end, removed. */
#ifndef TWI_PROGRESS_H
#define TWI_PROGRESS_H

#include <signal.h>

#include "cli/args.h"

typedef struct twi_progress {
    const char *name; /* the command's */
    bool always;      /* from the first report on; else after a second */
    double start;
    double last;
    int64_t steps; /* runs that the work is made of, each reporting its own share */
    int64_t step;
    double done; /* of the step */
} twi_progress;

/* Whether progress is to be shown at all, and if so, a progress that starts now. */
bool twi_progress_start(const twi_args *args, int64_t steps, twi_progress *progress);

/* A tw_progress callback; `user` is the twi_progress. */
bool twi_progress_report(void *user, double done);

/* Removes the line, if one is shown. */
void twi_progress_end(void);

/* Whether a line is shown: read by signal handlers. */
extern volatile sig_atomic_t twi_progress_shown;

#endif
