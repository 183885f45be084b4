/* Correlation, separable convolution and Gaussian with AVX2. */
#define LEVEL TWI_CONV_AVX2
#include "cpu/conv_level.tmpl.h"
#include "cpu/cpu.h"

/* One code for the three operations: the plan knows which. */
#define CODE                                                                                                           \
    {                                                                                                                  \
        .refuses = twi_cpu_refuses_avx2, .cost = cost, .prepare = prepare, .run = run, .release = twi_conv_release     \
    }
const twi_code twi_correlate_avx2_cpu = CODE;
const twi_code twi_sepconv_avx2_cpu = CODE;
const twi_code twi_gaussian_avx2_cpu = CODE;
