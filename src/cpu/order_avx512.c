/* min, max and rank with AVX-512: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/order_level.tmpl.h"

#define CODE(op)                                                                                                       \
    const twi_code twi_##op##_avx512_cpu = {                                                                           \
        .refuses = twi_cpu_refuses_avx512,                                                                             \
        .cost = twi_order_cost_avx512,                                                                                 \
        .prepare = twi_order_prepare,                                                                                  \
        .run = run,                                                                                                    \
        .release = twi_order_release,                                                                                  \
    }

CODE(min);
CODE(max);
CODE(rank);
