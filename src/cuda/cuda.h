/*
 * What the kernels (.cu) and the host code (.c) share: the arguments of kernels and the tables of kernels.
 *
 * A .cu file holds kernels only and exports tables of their addresses; the host code is C and starts them
 * through cudaLaunchKernel() (host.h, twi_cuda_launch_box). So the library needs no C++ runtime, and templates
 * stay inside one .cu file.
 */
#ifndef TWI_CUDA_H
#define TWI_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The argument of every kernel of `box`, passed by value. "Element" is one channel of one pixel: a row has
   width * channels of them, and all kernels count columns in elements. */
typedef struct twi_cuda_box {
    const void *src;
    void *dst;
    int64_t src_pitch; /* bytes */
    int64_t dst_pitch;
    int64_t width; /* pixels */
    int64_t height;
    int64_t left;  /* the element column where the grid starts: 0 but for grids past the hardware's limits */
    int64_t first; /* output rows first ... last-1 */
    int64_t last;
    int32_t channels;
    int32_t window_width;
    int32_t window_height;
    int32_t anchor_x;
    int32_t anchor_y;
    int32_t border;  /* TWI_ZERO ... TWI_WRAP of exact.h */
    int32_t nearest; /* 1: round to nearest; 0: floor */
    /* u8, u16, i16: every sum of the window fits in 32 bits, so that `reciprocal` divides it */
    int32_t narrow;
    double value;   /* what a position outside reads with TWI_ZERO and TWI_CONSTANT, as the image's type holds it */
    int64_t count;  /* window_width * window_height */
    double inverse; /* 1.0 / count */
    uint64_t reciprocal; /* 2^64 / count rounded up, 0 for a count of 1 (it would need 65 bits) */
} twi_cuda_box;

/* A kernel's address for each element type, in the order of tw_type (u8 u16 i16 i32 f32 f64); NULL: none. */
enum { TWI_CUDA_TYPES = 6 };

/* box_direct.cu, box_tiled.cu: a thread an output element, blocks of any shape. */
extern const void *const twi_cuda_box_direct[TWI_CUDA_TYPES];
extern const void *const twi_cuda_box_tiled[TWI_CUDA_TYPES];

/* copy.cu: void (const void *src, void *dst, uint64_t bytes), 16 bytes a thread; both 16-byte aligned. */
enum { TWI_CUDA_COPY_THREADS = 256, TWI_CUDA_COPY_BYTES = 16 };
extern const void *const twi_cuda_copy_kernel;

#ifdef __cplusplus
}
#endif
#endif
