/* lut on the CPU: estimates. */
#include "cpu/lut.h"

/* `vector`: nanoseconds for a byte from a byte by one thread. */
static double estimate(const tw_context *context, const tw_problem *problem, double vector, double other)
{
    const double elements = (double)problem->width * (double)problem->height * problem->channels;
    const bool bytes = problem->type == TW_U8 && problem->out_type == TW_U8 && problem->table_channels == 1;
    return elements * (bytes ? vector : other) / (context ? context->threads : 1);
}

double twi_lut_cost_c(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.4, 0.5);
}

double twi_lut_cost_avx2(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.2, 0.45);
}

double twi_lut_cost_avx512(const tw_context *context, const tw_problem *problem)
{
    return estimate(context, problem, 0.1, 0.44);
}
