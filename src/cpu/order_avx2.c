/* min, max and rank with AVX2: compiled with its flags (cmake/cpu.cmake) and run where the processor has it. */
#include "cpu/cpu.h"
#include "cpu/order_level.tmpl.h"

#define CODE(op)                                                                                                       \
    const twi_code twi_##op##_avx2_cpu = {                                                                             \
        .refuses = twi_cpu_refuses_avx2,                                                                               \
        .cost = twi_order_cost_avx2,                                                                                   \
        .prepare = twi_order_prepare,                                                                                  \
        .run = run,                                                                                                    \
        .release = twi_order_release,                                                                                  \
    }

CODE(min);
CODE(max);
CODE(rank);
