/* The mean in plain C: the level that runs on any processor. */
#include "cpu/box_level.tmpl.h"

const twi_code twi_box_c_cpu = {
    .cost = twi_box_cost_c,
    .prepare = twi_box_prepare,
    .run = run,
};
