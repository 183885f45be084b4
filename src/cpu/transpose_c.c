/* transpose in plain C: the level that runs on any processor. */
#include "cpu/cpu.h"
#include "cpu/transpose_level.tmpl.h"

const twi_code twi_transpose_c_cpu = {
    .cost = twi_transpose_cost_c,
    .run = run,
};
