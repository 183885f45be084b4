/* Correlation, separable convolution and Gaussian in plain C: the level that runs on any processor. */
#define LEVEL TWI_CONV_C
#include "cpu/conv_level.tmpl.h"

/* One code for the three operations: the plan knows which. */
#define CODE                                                                                                           \
    {                                                                                                                  \
        .cost = cost, .prepare = prepare, .run = run, .release = twi_conv_release                                      \
    }
const twi_code twi_correlate_c_cpu = CODE;
const twi_code twi_sepconv_c_cpu = CODE;
const twi_code twi_gaussian_c_cpu = CODE;
