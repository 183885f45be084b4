/* lut on the CPU: what the levels cost, in nanoseconds. */
#ifndef TWI_CPU_LUT_H
#define TWI_CPU_LUT_H

#include "cpu/cpu.h"

double twi_lut_cost_c(const tw_context *context, const tw_problem *problem);
double twi_lut_cost_avx2(const tw_context *context, const tw_problem *problem);
double twi_lut_cost_avx512(const tw_context *context, const tw_problem *problem);

#endif
