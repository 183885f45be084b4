/* Where the images of one command line are worked on: a context, and the plans last made with it, so that images of one
   size are planned for once. For one thread at a time. */
#ifndef TWI_ENGINE_H
#define TWI_ENGINE_H

#include "cli/args.h"

enum {
    TWI_ENGINE_PLANS = 2, /* the first iteration's, and that of the others, in place */
    TWI_ENGINES_A_GPU = 2 /* that serve many files: the one's transfers run while the other computes */
};

typedef struct twi_engine {
    const twi_args *args;
    tw_context *context;
    uint64_t device_memory; /* the most that it takes of a GPU's memory; 0: it works on the CPU */
    struct {
        tw_problem problem;
        tw_plan *plan; /* NULL: none yet */
    } kept[TWI_ENGINE_PLANS];
    unsigned next;
} twi_engine;

/* Opens the device that --device and --variant ask for, with `threads` CPU threads (0: all). Of a GPU's memory it takes
   up to --memory, or half of what is free, divided by `sharers`, the engines that there are on it. `op`: the operation
   that --variant is of; progress may be NULL. On failure the line has been printed; close the engine in any case. */
twi_exit twi_engine_open(const twi_args *args, tw_op op, int threads, int sharers, tw_progress progress, void *user,
                         twi_engine *engine);
void twi_engine_close(twi_engine *engine);

/* What --variant and --block ask for. */
tw_plan_options twi_engine_options(const twi_engine *engine);

/* Makes the plan for the problem, which its runs use, if there is none yet. */
tw_status twi_engine_prepare(twi_engine *engine, const tw_problem *problem);

/* Runs the problem `times` times, with --variant and --block as asked. The problems of an engine are one command
   line's: they may differ in operation, place, type, channels, size and figures. */
tw_status twi_engine_run(twi_engine *engine, const tw_problem *problem, const tw_image *src, const tw_image *dst,
                         int32_t times);

#endif
