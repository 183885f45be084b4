/* transpose with AVX2: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/transpose_level.tmpl.h"

const twi_code twi_transpose_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_transpose_cost_avx2,
    .run = run,
};
