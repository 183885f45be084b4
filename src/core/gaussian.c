/* Gaussian weights, computed once on the host: every variant gets the same numbers. */
#include <math.h>

#include "core/plan.h"

void twi_gaussian_weights(double sigma, int32_t taps, double *weights)
{
    const int32_t radius = taps / 2;
    double sum = 0;
    for (int32_t i = 0; i < taps; i++) {
        const double x = (double)(i - radius);
        weights[i] = i == radius ? 1 : sigma > 0 ? exp(-0.5 * x * x / (sigma * sigma)) : 0;
    }
    for (int32_t i = 0; i < radius; i++) /* the small ones first, and symmetric */
        sum += weights[i] + weights[taps - 1 - i];
    sum += weights[radius];
    for (int32_t i = 0; i < taps; i++)
        weights[i] /= sum;
}

/* The change of the squared error when tap i and its mirror image grow by `step`, the middle paying for both. */
static double change(const double *weights, const int32_t *fixed, int32_t radius, int32_t i, int32_t step)
{
    const double side = fixed[i] - weights[i] * 65536;
    const double middle = fixed[radius] - weights[radius] * 65536;
    return 2 * ((side + step) * (side + step) - side * side) + (middle - 2 * step) * (middle - 2 * step) -
           middle * middle;
}

void twi_gaussian_fixed(const double *weights, int32_t taps, int32_t *fixed)
{
    const int32_t radius = taps / 2;
    int32_t middle = 65536;
    for (int32_t i = 0; i < radius; i++) {
        fixed[i] = (int32_t)floor(weights[i] * 65536 + 0.5);
        middle -= 2 * fixed[i];
    }
    fixed[radius] = middle;
    /* rounding left its rest on the middle: spread it, one step at a time, while the squared error falls */
    for (bool better = true; better;) {
        better = false;
        for (int32_t i = 0; i < radius; i++) {
            for (int32_t step = -1; step <= 1; step += 2) {
                if (fixed[i] + step < 0 || change(weights, fixed, radius, i, step) > -1e-9)
                    continue;
                fixed[i] += step;
                fixed[radius] -= 2 * step;
                better = true;
            }
        }
    }
    for (int32_t i = 0; i < radius; i++)
        fixed[taps - 1 - i] = fixed[i];
}

/*
 * Where fixed point shows in at most 0.2 % of random pixels. Below sigma 0.5 nearly all the weight is on one tap, so
 * that rounding to 8.8 bits shows. The rounded weights of a wide axis are averaged over the other one, which must not
 * be many times narrower. Outside zero and constant borders a part of the weights is left, whose sum is off by more the
 * more there are. And the wider both axes, the nearer all results are to one value, which may lie between two numbers.
 */
bool twi_gaussian_is_fixed(const tw_problem *problem)
{
    const double least = fmin(problem->sigma_x, problem->sigma_y);
    const double most = fmax(problem->sigma_x, problem->sigma_y);
    const bool valued = problem->border.mode == TW_BORDER_ZERO || problem->border.mode == TW_BORDER_CONSTANT;
    return problem->type == TW_U8 && problem->window.width > 1 && problem->window.height > 1 && least >= 0.5 &&
           most <= (valued ? 10 : 50) && most <= 12 * least;
}
