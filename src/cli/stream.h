/* A filter of one file in bands of rows: the next one is read, and the last one is written, while one is computed. */
#ifndef TWI_STREAM_H
#define TWI_STREAM_H

#include "cli/filter.h"

/* Reads, computes and writes; the recipe has been taken. The bands are as high as is comfortable and --memory
   allows. On failure the line has been printed; free the filter in any case. */
twi_exit twi_stream_filter(twi_filter *f);

/* Rows of a result that several processes make, this one's. */
typedef struct twi_share {
    twi_reader *reader; /* of the filter's input, which has been fitted to the recipe */
    tw_image view;      /* as twi_view_of() */
    int64_t begin;
    int64_t end;
    /* Takes rows first, first + 1, ..., which come in ascending order. On failure it has printed the line. */
    twi_exit (*put)(void *user, int64_t first, const tw_image *rows);
    void *user;
    uint64_t kept; /* bytes of memory that `put` keeps them in */
} twi_share;

/* The same for such rows, at least one, of filters any rows of which can be made (`cuttable` of twi_bands_of()).
   `put` is called by a thread of its own if there are several bands. */
twi_exit twi_stream_share(twi_filter *f, const twi_share *share);

#endif
