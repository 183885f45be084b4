/* The mean with AVX-512: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/box_level.tmpl.h"
#include "cpu/cpu.h"

const twi_code twi_box_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512,
    .cost = twi_box_cost_avx512,
    .prepare = twi_box_prepare_vector,
    .run = run,
};
