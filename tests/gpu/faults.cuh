/* What the tests with planted faults share. */
#ifndef FAULTS_CUH
#define FAULTS_CUH

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exact.h"
#include "tilewise.h"

enum { BORDERS = TWI_WRAP + 1, SKIPPED = 77 };

/* Leaves a known pattern in the shared memory of every multiprocessor, so that a hole in a tile shows. */
static __global__ void poison(unsigned char *sink)
{
    __shared__ unsigned char all[40000];
    for (int i = (int)threadIdx.x; i < (int)sizeof all; i += (int)blockDim.x)
        all[i] = 0xa5;
    __syncthreads();
    if (all[threadIdx.x] != 0xa5)
        *sink = 1;
}

static void require(bool good, const char *what, const char *why)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void cuda(cudaError_t error, const char *what)
{
    require(error == cudaSuccess, what, cudaGetErrorString(error));
}

static void library(tw_status status, const char *what)
{
    require(status == TW_OK, what, tw_error_message());
}

#endif
