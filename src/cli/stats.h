/* What `stats` finds out about one image, in stages, as a filter's (filter.h): read, compute, then text or JSON. */
#ifndef TWI_STATS_H
#define TWI_STATS_H

#include "cli/engine.h"
#include "cli/json.h"

typedef struct twi_stats {
    const twi_args *args;
    const char *from; /* the file's name, "-" for stdin */
    int sharers;      /* works of this kind that the memory is for */
    twi_io_image input;
    tw_image src;     /* the input, or its --view */
    tw_image records; /* of type TW_STATS */
    tw_image counts;  /* of the histogram; no data without --histogram */
} twi_stats;

/* On failure the line has been printed; free it in any case. */
twi_exit twi_stats_read(twi_stats *s);
twi_exit twi_stats_compute(twi_stats *s, twi_engine *engine);

/* What its lines are. */
tw_axis twi_stats_axis(const twi_args *args);
/* Memory for the results, of an image that is described. */
twi_exit twi_stats_prepare(twi_stats *s);
/* Reads and computes, in bands where --memory does not hold the image. */
twi_exit twi_stats_find(twi_stats *s);

/* Prints tables. */
void twi_stats_print(const twi_stats *s, FILE *out);
/* An object of the schema tilewise.stats/1; NULL: out of memory. */
json_t *twi_stats_json(const twi_stats *s);

void twi_stats_free(twi_stats *s);

#endif
