/* scan and integral with AVX2: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/scan_level.tmpl.h"

const twi_code twi_scan_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_scan_cost_avx2,
    .prepare = twi_scan_prepare,
    .run = run_scan,
    .whole = true,
};

const twi_code twi_integral_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_scan_cost_avx2,
    .prepare = twi_integral_prepare,
    .run = run_integral,
    .whole = true,
};
