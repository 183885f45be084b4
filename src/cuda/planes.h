/* Integer masks on u8 images as the fast kernels take them: planes of signed bytes, and a division without dividing. */
#ifndef TWI_CUDA_PLANES_H
#define TWI_CUDA_PLANES_H

#include "cuda/host.h"

/* A value of 32 bits whose sums fit in 32 bits, too, has at most so many. */
enum { TWI_CUDA_MOST_PLANES = 4 };

/* The mask's (a sepconv's row's) value `tap` for a divisor that is positive: negated where the problem's is not. */
int64_t twi_cuda_weight(const tw_problem *problem, int64_t tap);

/* Writes the signed bytes of a weight, the highest first; false: it needs more than `planes`. */
bool twi_cuda_cut(int64_t weight, int planes, uint8_t *bytes);

/* How many planes the mask needs: at most TWI_CUDA_MOST_PLANES, as refuses_planes has passed it. */
int twi_cuda_planes(const tw_problem *problem);

/* Why the fast kernels cannot do the problem in `planes` planes and sums of 32 bits, or NULL. */
const char *twi_cuda_refuses_planes(const tw_problem *problem, int planes);

/* Why sums of a correlate or sepconv cannot be divided in 32 bits, or NULL. */
const char *twi_cuda_refuses_quotient(const tw_problem *problem);

/* How they are divided. */
twi_cuda_quotient twi_cuda_quotient_of(const tw_problem *problem);

#endif
