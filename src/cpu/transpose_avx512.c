/* transpose with AVX-512: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/transpose_level.tmpl.h"

const twi_code twi_transpose_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512,
    .cost = twi_transpose_cost_avx512,
    .run = run,
};
