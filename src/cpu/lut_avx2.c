/* lut with AVX2: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/lut_level.tmpl.h"

const twi_code twi_lut_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_lut_cost_avx2,
    .run = run,
};
