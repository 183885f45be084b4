/* Correlation, separable convolution and Gaussian in plain C: the level that runs on any processor. */
#include "cpu/conv_level.tmpl.h"

static double cost(const tw_context *context, const tw_problem *problem)
{
    return twi_conv_cost(context, problem, TWI_CONV_C);
}

static tw_status prepare(tw_plan *plan)
{
    return twi_conv_prepare(plan, TWI_CONV_C);
}

/* One code for the three operations: the plan knows which. */
#define CODE                                                                                                           \
    {                                                                                                                  \
        .cost = cost, .prepare = prepare, .run = run, .release = twi_conv_release                                      \
    }
const twi_code twi_correlate_c_cpu = CODE;
const twi_code twi_sepconv_c_cpu = CODE;
const twi_code twi_gaussian_c_cpu = CODE;
