/* min, max and rank in plain C: the level that runs on any processor. */
#include "cpu/order_level.tmpl.h"

#define CODE(op)                                                                                                       \
    const twi_code twi_##op##_c_cpu = {                                                                                \
        .cost = twi_order_cost_c,                                                                                      \
        .prepare = twi_order_prepare,                                                                                  \
        .run = run,                                                                                                    \
        .release = twi_order_release,                                                                                  \
    }

CODE(min);
CODE(max);
CODE(rank);
