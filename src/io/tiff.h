/* The two halves of TIFF: reading (tiff.c) and what is written before the pixels (tiff_head.c). */
#ifndef TWI_TIFF_H
#define TWI_TIFF_H

#include "io/format.h"

/* As twi_format's head. */
twi_io_status twi_tiff_head(const char *name, const tw_image *image, const twi_metadata *metadata, twi_head *head,
                            unsigned *kept);

#endif
