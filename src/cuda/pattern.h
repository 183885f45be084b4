/* The declared access patterns (core/explain.h) of kernels whose threads make one output each, as their variants put
   them together. The device code that they follow is in element.cuh. */
#ifndef TWI_CUDA_PATTERN_H
#define TWI_CUDA_PATTERN_H

#include "core/explain.h"

/* Blocks as asked for, else width x height; a thread an element. */
void twi_cuda_declare_blocks(twi_kernel *kernel, int32_t width, int32_t height);

/* Each thread reads all positions of its window, with a path for windows inside the image and one for others; through
   a texture on one path for both. More steps than positions begin with the first again. */
void twi_cuda_declare_window(twi_kernel *kernel);
void twi_cuda_declare_texture(twi_kernel *kernel);
/* With each of them a value from an array, the same for all threads: a mask, a footprint. `paths`: on two, as above. */
void twi_cuda_declare_values(twi_kernel *kernel, const char *what, twi_space space, int32_t bytes, bool paths);
/* A block fills its tile, passes a barrier and reads the windows there. */
void twi_cuda_declare_tile(twi_kernel *kernel);
/* Each thread writes its element. */
void twi_cuda_declare_output(twi_kernel *kernel, bool paths);

#endif
