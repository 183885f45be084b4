/* scan and integral in plain C: the level that runs on any processor. */
#include "cpu/scan_level.tmpl.h"

const twi_code twi_scan_c_cpu = {
    .cost = twi_scan_cost_c,
    .prepare = twi_scan_prepare,
    .run = run_scan,
    .whole = true,
};

const twi_code twi_integral_c_cpu = {
    .cost = twi_scan_cost_c,
    .prepare = twi_integral_prepare,
    .run = run_integral,
    .whole = true,
};
