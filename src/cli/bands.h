/* The rows of a file in bands, as a filter needs them: windows of equal height that overlap by its halo. */
#ifndef TWI_BANDS_H
#define TWI_BANDS_H

#include "cli/filter.h"

typedef struct twi_bands {
    int64_t height; /* of all rows */
    int64_t begin;  /* the output rows that are wanted begin and end there: all, unless several processes share them */
    int64_t end;
    int64_t rows; /* of a band, halo and all; at most height + 2 * halo */
    int64_t halo; /* above and below an output row */
    bool wraps;   /* above the first row is the last one */
    bool upward;  /* the first output row is the last row; without halo */
    int64_t count;
} twi_bands;

/* An image of that size that lies nowhere: only its description is read. */
tw_image twi_describe(const tw_image *like, int64_t address, int64_t width, int64_t height, tw_type type);

/* The description of the file's image, or of its --view. On failure the line has been printed. */
twi_exit twi_view_of(const twi_args *args, const twi_reader *reader, tw_image *view);

/* Bands that make all rows, of an image of which only the description is read. `cuttable`: any band of rows makes rows
   of the result, which what sums down the image and what makes rows columns do not. On failure the line has been
   printed. */
twi_exit twi_bands_of(const twi_filter *f, const tw_image *view, twi_bands *bands, bool *cuttable);

/* What band `index` reads and makes. */
typedef struct twi_band {
    int64_t first; /* the row that its source begins with; beyond the image where it wraps */
    int64_t place; /* the output row that its result begins with */
    int64_t from;  /* the output rows that are right, and not those of another band */
    int64_t to;
} twi_band;

/* The rows of a band that makes everything. */
int64_t twi_bands_most(const twi_bands *bands);

/* Whether bands of so many rows make any at all. */
bool twi_bands_are_possible(const twi_bands *bands);

/* Sets the count. */
void twi_bands_cut(twi_bands *bands);
twi_band twi_bands_get(const twi_bands *bands, int64_t index);

/* Fills `rows`, an image of a band whose first row is `first`: what `before`, the band whose first row is
   `first_before`, has of it is copied, the rest is read. `above` is the row of the file that is row 0. `before` may be
   NULL. */
twi_io_status twi_bands_read(const twi_bands *bands, twi_reader *reader, int64_t above, int64_t first,
                             const tw_image *rows, int64_t first_before, const tw_image *before);

#endif
