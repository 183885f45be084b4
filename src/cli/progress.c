#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"

volatile sig_atomic_t twi_progress_shown;

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool twi_progress_start(const twi_args *args, int64_t steps, twi_progress *progress)
{
    const double now = seconds();
    *progress = (twi_progress){
        .name = args->command->name,
        .always = args->progress == TWI_PROGRESS_ALWAYS,
        .start = now,
        .last = now - 1,
        .steps = steps,
    };
    return !args->quiet && (progress->always || (args->progress == TWI_PROGRESS_AUTO && isatty(STDERR_FILENO) == 1));
}

bool twi_progress_report(void *user, double done)
{
    twi_progress *progress = user;
    const double now = seconds();
    /* a share that falls is the next step's; all but the last one's reach 1 */
    if ((done < progress->done || progress->done >= 1) && progress->step + 1 < progress->steps)
        progress->step++;
    progress->done = done;
    const double share = ((double)progress->step + done) / (double)progress->steps;
    const bool due = progress->always || now - progress->start >= 1;
    if (due && now - progress->last >= 0.1) {
        twi_progress_shown = 1;
        (void)fprintf(stderr, "\rtilewise: %s %3.0f %%", progress->name, 100 * share);
        (void)fflush(stderr);
        progress->last = now;
    }
    return true;
}

void twi_progress_end(void)
{
    if (twi_progress_shown)
        (void)fprintf(stderr, "\r%*s\r", 40, "");
    (void)fflush(stderr);
    twi_progress_shown = 0;
}
