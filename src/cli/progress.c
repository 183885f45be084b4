#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"

volatile sig_atomic_t twi_progress_shown;

double twi_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool twi_progress_start(const twi_args *args, int64_t steps, twi_progress *progress)
{
    const double now = twi_seconds();
    *progress = (twi_progress){
        .name = args->command->name,
        .always = args->progress == TWI_PROGRESS_ALWAYS,
        .start = now,
        .last = now - 1,
        .steps = steps,
    };
    return !args->quiet && (progress->always || (args->progress == TWI_PROGRESS_AUTO && isatty(STDERR_FILENO) == 1));
}

static bool is_due(const twi_progress *progress, double now)
{
    return (progress->always || now - progress->start >= 1) && now - progress->last >= 0.1;
}

/* Overwrites the line that is shown. */
static void show(twi_progress *progress, double now, const char *text)
{
    twi_progress_shown = 1;
    (void)fprintf(stderr, "\rtilewise: %-*s", progress->width, text);
    progress->width = (int)strlen(text);
    (void)fflush(stderr);
    progress->last = now;
}

bool twi_progress_report(void *user, double done)
{
    twi_progress *progress = user;
    const double now = twi_seconds();
    char text[TWI_PROGRESS_WIDTH];
    /* a share that falls is the next step's; all but the last one's reach 1 */
    if ((done < progress->done || progress->done >= 1) && progress->step + 1 < progress->steps)
        progress->step++;
    progress->done = done;
    const double share = ((double)progress->step + done) / (double)progress->steps;
    (void)snprintf(text, sizeof text, "%s %3.0f %%", progress->name, 100 * share);
    if (is_due(progress, now))
        show(progress, now, text);
    return true;
}

/* "1 h 5 min", "5 min 10 s", "10 s" */
static void duration_text(double duration, char *text, size_t size)
{
    const long long whole = (long long)(duration + 0.5);
    if (whole >= 3600)
        (void)snprintf(text, size, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        (void)snprintf(text, size, "%lld min %lld s", whole / 60, whole % 60);
    else
        (void)snprintf(text, size, "%lld s", whole);
}

void twi_progress_files(twi_progress *progress, size_t done, size_t all)
{
    const double now = twi_seconds();
    const double rate = (double)done / (now - progress->start + 1e-9);
    char left[48];
    char text[128];
    if (!is_due(progress, now))
        return;
    duration_text(done > 0 ? (double)(all - done) / rate : 0, left, sizeof left);
    if (done > 0)
        (void)snprintf(text, sizeof text, "%s %zu of %zu files, %.1f/s, %s left", progress->name, done, all, rate,
                       left);
    else
        (void)snprintf(text, sizeof text, "%s 0 of %zu files", progress->name, all);
    show(progress, now, text);
}

const char twi_progress_blank[TWI_PROGRESS_WIDTH + 3] =
    "\r                                                                        \r";

void twi_progress_end(void)
{
    if (twi_progress_shown)
        (void)fputs(twi_progress_blank, stderr);
    (void)fflush(stderr);
    twi_progress_shown = 0;
}
