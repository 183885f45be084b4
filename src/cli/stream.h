/* A filter of one file in bands of rows: the next one is read, and the last one is written, while one is computed. */
#ifndef TWI_STREAM_H
#define TWI_STREAM_H

#include "cli/filter.h"

/* Reads, computes and writes; the recipe has been taken. The bands are as high as is comfortable and --memory
   allows. On failure the line has been printed; free the filter in any case. */
twi_exit twi_stream_filter(twi_filter *f);

#endif
