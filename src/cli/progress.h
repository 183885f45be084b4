/* Progress of long work as one line on stderr that is overwritten and, at the end, removed. */
#ifndef TWI_PROGRESS_H
#define TWI_PROGRESS_H

#include <signal.h>

#include "cli/args.h"

enum { TWI_PROGRESS_WIDTH = 72 };

typedef struct twi_progress {
    const char *name; /* the command's */
    bool always;      /* from the first report on; else after a second */
    double start;
    double last;
    int64_t steps; /* runs that the work is made of, each reporting its own share */
    int64_t step;
    double done; /* of the step */
    int width;   /* of the text that is shown */
} twi_progress;

/* Of a clock that nobody sets. */
double twi_seconds(void);

/* Whether progress is to be shown at all, and if so, a progress that starts now. */
bool twi_progress_start(const twi_args *args, int64_t steps, twi_progress *progress);

/* A tw_progress callback; `user` is the twi_progress. */
bool twi_progress_report(void *user, double done);

/* Shows how many files of how many are done. */
void twi_progress_files(twi_progress *progress, size_t done, size_t all);

/* Removes the line, if one is shown. */
void twi_progress_end(void);

/* Whether a line is shown: read by signal handlers, which remove it by writing `blank`. */
extern volatile sig_atomic_t twi_progress_shown;
extern const char twi_progress_blank[TWI_PROGRESS_WIDTH + 3];

#endif
