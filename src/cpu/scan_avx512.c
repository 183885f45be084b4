/* scan and integral with AVX-512: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/scan_level.tmpl.h"

const twi_code twi_scan_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512,
    .cost = twi_scan_cost_avx512,
    .prepare = twi_scan_prepare,
    .run = run_scan,
    .whole = true,
};

const twi_code twi_integral_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512,
    .cost = twi_scan_cost_avx512,
    .prepare = twi_integral_prepare,
    .run = run_integral,
    .whole = true,
};
