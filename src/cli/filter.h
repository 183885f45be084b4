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

/* Adds to the recipe what the image says, which is described, and checks that the result can be written. `format` is
   the input's. */
twi_exit twi_filter_fit(twi_filter *f, const tw_image *src, const char *format);
/* The filter's problem for these images; of open and what is like it, that of one step. */
tw_status twi_filter_problem(const twi_filter *f, const tw_image *src, const tw_image *dst, tw_problem *problem);
/* Makes the plans of the filter's runs ahead of them. */
tw_status twi_filter_prepare(const twi_filter *f, twi_engine *engine, const tw_image *src, const tw_image *dst);
/* All of the filter's runs, from one image in memory to another. */
tw_status twi_filter_run(const twi_filter *f, twi_engine *engine, const tw_image *src, const tw_image *dst);
/* Makes the input's metadata, which f->output has by now, the result's, whose size it has. */
twi_exit twi_filter_describe(twi_filter *f);
/* Says what the file could not hold. */
void twi_filter_warn(const twi_filter *f, const char *lost);

/* The operation that the filter's engine is opened for, and how many runs, each with its own progress, it takes. */
tw_op twi_filter_op(const twi_filter *f);
int64_t twi_filter_runs(const twi_filter *f);

#endif
