/* reduce with AVX2: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/reduce_level.tmpl.h"

const twi_code twi_reduce_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_reduce_cost_avx2,
    .prepare = twi_reduce_prepare,
    .run = run,
    .whole = true,
};
