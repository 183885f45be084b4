/* Correlation, separable convolution and Gaussian with AVX-512. */
#define LEVEL TWI_CONV_AVX512
#include "cpu/conv_level.tmpl.h"
#include "cpu/cpu.h"

/* One code for the three operations: the plan knows which. */
#define CODE                                                                                                           \
    {                                                                                                                  \
        .refuses = twi_cpu_refuses_avx512_vnni, .cost = cost, .prepare = prepare, .run = run,                          \
        .release = twi_conv_release                                                                                    \
    }
const twi_code twi_correlate_avx512_cpu = CODE;
const twi_code twi_sepconv_avx512_cpu = CODE;
const twi_code twi_gaussian_avx512_cpu = CODE;
