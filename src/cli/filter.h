/* One image's way through a filter, in stages: read, compute, write. A single file (filters.c) and each of many
   (batch.c) go through the same. */
#ifndef TWI_FILTER_H
#define TWI_FILTER_H

#include "cli/engine.h"
#include "cli/recipe.h"

typedef struct twi_filter {
    const twi_args *args;
    twi_command_id id;
    const char *from; /* names of files, "-" for stdin and stdout */
    const char *to;
    int sharers; /* works of this kind that the memory is for */
    twi_recipe recipe;
    const char *format; /* the input's: that of stdout */
    twi_io_image input;
    tw_image src; /* the input, or its --view */
    twi_io_image output;
} twi_filter;

/* The stages, which follow each other. On failure the line has been printed; free the filter in any case. */

/* Reads the image and adds to the recipe, which has been taken, what it says; checks that the result can be written. */
twi_exit twi_filter_read(twi_filter *f);
/* Makes the output and lets go of the input's pixels. */
twi_exit twi_filter_compute(twi_filter *f, twi_engine *engine);
twi_exit twi_filter_write(twi_filter *f);

void twi_filter_free(twi_filter *f);

/* The operation that the filter's engine is opened for, and how many runs, each with its own progress, it takes. */
tw_op twi_filter_op(const twi_filter *f);
int64_t twi_filter_runs(const twi_filter *f);

#endif
