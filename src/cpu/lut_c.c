/* lut in plain C: the level that runs on any processor. */
#include "cpu/cpu.h"
#include "cpu/lut_level.tmpl.h"

const twi_code twi_lut_c_cpu = {
    .cost = twi_lut_cost_c,
    .run = run,
};
