/* reduce in plain C: the level that runs on any processor. */
#include "cpu/reduce_level.tmpl.h"

const twi_code twi_reduce_c_cpu = {
    .cost = twi_reduce_cost_c,
    .prepare = twi_reduce_prepare,
    .run = run,
    .whole = true,
};
