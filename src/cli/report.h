/* The page of `tilewise bench --report`, and what it shares with the text of `tilewise bench`. */
#ifndef TWI_REPORT_H
#define TWI_REPORT_H

#include "cli/args.h"
#include "cli/plot.h"

typedef struct twi_bench_report {
    const twi_args *args;
    const tw_device_info *device;
    bool cuda;
    const twi_bench_result *results; /* one a size, the smallest first, with the same variants in each */
    size_t count;
} twi_bench_report;

/* Where the page will be: a file of the folder --report names, which is made. On failure the line has been printed. */
twi_exit twi_report_path(const twi_args *args, bool cuda, char *path, size_t size);

/* Writes the page, whole or not at all. On failure the line has been printed. */
twi_exit twi_report_write(const twi_bench_report *report, const char *path);

/* The fastest row by median, but for one that may be NULL; NULL where there is none. */
const twi_bench_row *twi_bench_fastest(const twi_bench_result *result, const twi_bench_row *but);
/* What each figure includes and leaves out, and which row is the fastest: a paragraph a line. */
void twi_bench_notes(const twi_args *args, const twi_bench_result *result, bool cuda, FILE *out);

#endif
