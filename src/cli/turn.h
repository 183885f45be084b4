/* Turns that make columns of rows, of images that memory does not hold. */
#ifndef TWI_TURN_H
#define TWI_TURN_H

#include "cli/filter.h"
#include "cli/progress.h"

typedef struct twi_turning {
    const twi_filter *f;
    twi_engine *engine;
    twi_reader *reader;
    twi_writer *writer;
    tw_image view;          /* the part of the file that is turned: no pixels */
    uint64_t budget;        /* bytes of memory */
    twi_progress *progress; /* NULL: none is shown */
} twi_turning;

/* Turns bands of rows, keeps them in a file without a name, and puts the rows of the result together from their pieces.
   On failure the line has been printed. */
twi_exit twi_turn_by_pieces(const twi_turning *turning);

#endif
