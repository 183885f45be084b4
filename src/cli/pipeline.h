/* Work in portions of which the next is read, and the last is written, while one is computed. */
#ifndef TWI_PIPELINE_H
#define TWI_PIPELINE_H

#include "cli/cli.h"

enum { TWI_SLOTS = 2 };

/* A stage does portion `index`, whose memory is that of slot index % TWI_SLOTS. On failure it has printed the line. */
typedef twi_exit twi_stage(void *user, int64_t index);

typedef struct twi_pipeline {
    void *user;
    int64_t count;   /* of portions */
    twi_stage *get;  /* in a thread of its own; the slot of the portion before is still whole */
    twi_stage *work; /* in the caller's thread */
    twi_stage *put;  /* in a thread of its own; may be NULL */
} twi_pipeline;

/* All portions through all stages, in ascending order. The first failure ends it; its line is printed then. */
twi_exit twi_pipeline_run(const twi_pipeline *pipeline);

#endif
