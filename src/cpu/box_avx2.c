/* The mean with AVX2 and FMA: compiled with their flags (cmake/cpu.cmake) and run where the processor has them. */
#include "cpu/box_level.tmpl.h"
#include "cpu/cpu.h"

const twi_code twi_box_avx2_cpu = {
    .refuses = twi_cpu_refuses_avx2,
    .cost = twi_box_cost_avx2,
    .prepare = twi_box_prepare_vector,
    .run = run,
};
