/* reduce with AVX-512: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/reduce_level.tmpl.h"

const twi_code twi_reduce_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512,
    .cost = twi_reduce_cost_avx512,
    .prepare = twi_reduce_prepare,
    .run = run,
    .whole = true,
};
