/* lut with AVX-512 and VBMI: compiled with their flags (cmake/cpu.cmake) and run where the processor has them. */
#include "cpu/cpu.h"
#include "cpu/lut_level.tmpl.h"

const twi_code twi_lut_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512_vbmi,
    .cost = twi_lut_cost_avx512,
    .run = run,
};
