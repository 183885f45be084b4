/* Correlation, separable convolution and Gaussian with AVX2. */
#include "cpu/conv_level.tmpl.h"
#include "cpu/cpu.h"

static double cost(const tw_context *context, const tw_problem *problem)
{
    return twi_conv_cost(context, problem, TWI_CONV_AVX2);
}

static tw_status prepare(tw_plan *plan)
{
    return twi_conv_prepare(plan, TWI_CONV_AVX2);
}

/* One code for the three operations: the plan knows which. */
#define CODE                                                                                                           \
    {                                                                                                                  \
        .refuses = twi_cpu_refuses_avx2, .cost = cost, .prepare = prepare, .run = run, .release = twi_conv_release     \
    }
const twi_code twi_correlate_avx2_cpu = CODE;
const twi_code twi_sepconv_avx2_cpu = CODE;
const twi_code twi_gaussian_avx2_cpu = CODE;
