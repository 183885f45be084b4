/* Inside the CUDA back end's host code: its state in a context, errors, launches, host images. */
#ifndef TWI_CUDA_HOST_H
#define TWI_CUDA_HOST_H

#include <cuda_runtime_api.h>

#include "core/plan.h"
#include "cuda/cuda.h"

/* ---- Devices and their errors (device.c) ------------------------------------------------------- */

/* The failure of a call, as "cudaMalloc: out of memory"; `call` is its source text. */
tw_status twi_cuda_fail(cudaError_t error, const char *call);

/* Pass the failure of a CUDA call on. */
#define TWI_CUDA(call)                                                                                                 \
    do {                                                                                                               \
        const cudaError_t twi_cuda_error = (call);                                                                     \
        if (twi_cuda_error != cudaSuccess)                                                                             \
            return twi_cuda_fail(twi_cuda_error, #call);                                                               \
    } while (0)

/* How many there are, and why where there is none. */
const char *twi_cuda_count_devices(int *count);
tw_status twi_cuda_describe(int device, tw_device_info *info);
tw_status twi_cuda_free_memory(int device, uint64_t *bytes);

/* Makes the context's device the thread's current one; *before is for twi_cuda_leave, which restores the
   caller's and passes `status` through. Every entry from outside is between the two. */
tw_status twi_cuda_enter(const tw_context *context, int *before);
tw_status twi_cuda_leave(int before, tw_status status);

/* ---- The context's state -------------------------------------------------------------------- */

/* Pieces of a host image that are on their way at a time, in each direction. */
enum { TWI_CUDA_SLOTS = 24 };

/* A block of device or page-locked memory that the context gave out: release must tell it from ordinary memory. */
typedef struct twi_cuda_block {
    void *memory;
    size_t bytes; /* of the device; 0: page-locked */
    struct twi_cuda_block *next;
} twi_cuda_block;

typedef struct twi_cuda_state {
    /* What the device can do. */
    size_t shared_limit; /* bytes of shared memory that a block may have, by opting in */
    int block_limit;     /* threads of a block */
    int processors;      /* multiprocessors */
    int capability;      /* 90 for compute capability 9.0 */
    bool early;          /* its kernels may begin before those ahead in the stream have ended (launch.c) */
    int f64_ratio;       /* how many times as many operations of f32 as of f64 it makes */
    size_t copy_pitch_limit;
    size_t texture_alignment;       /* of a texture's base address */
    size_t texture_pitch_alignment; /* of its pitch */
    int texture_limit[3];           /* width in texels, height, pitch in bytes */
    uint64_t reachable;             /* devices whose memory its kernels may read, a bit each (several.c) */

    cudaStream_t compute; /* ordered with CUDA's default stream, as a caller expects */
    cudaStream_t upload;
    cudaStream_t download;
    cudaEvent_t begin; /* with a clock */
    cudaEvent_t end;
    cudaEvent_t computed;
    cudaEvent_t turned;                   /* the end of its last turn (several.c) */
    cudaEvent_t arrived[TWI_CUDA_SLOTS];  /* a piece has been uploaded */
    cudaEvent_t departed[TWI_CUDA_SLOTS]; /* a piece has been downloaded */

    /* Host images pass through these; they only grow (transfer.c). */
    void *device_src;
    void *device_dst;
    size_t device_src_bytes;
    size_t device_dst_bytes;
    void *ring_in; /* page-locked, TWI_CUDA_SLOTS pieces */
    void *ring_out;
    size_t ring_bytes; /* of each */

    twi_cuda_block *blocks;
    uint64_t taken; /* bytes of the device's memory, of those blocks and what is above */
} twi_cuda_state;

static inline twi_cuda_state *twi_cuda_state_of(const tw_context *context)
{
    return context->state;
}

/* ---- Memory and copies (memory.c) --------------------------------------------------------------- */

/* As the back end's functions of these names. */
tw_status twi_cuda_allocate(tw_context *context, size_t bytes, tw_memory_kind kind, void **memory);
void twi_cuda_release(tw_context *context, void *memory, tw_memory_kind kind);
tw_status twi_cuda_copy(const tw_context *context, const tw_image *src, const tw_image *dst);

/* Device or page-locked memory, with the size in the message of a failure; of the device not more than the context
   may take. */
tw_status twi_cuda_allocate_device(const tw_context *context, size_t bytes, void **memory);
void twi_cuda_release_device(const tw_context *context, size_t bytes, void *memory);
tw_status twi_cuda_allocate_pinned(size_t bytes, void **memory);

/* Queues the copy of `rows` rows of `row` bytes, in any direction, whatever the pitches. */
tw_status twi_cuda_copy_rows(const tw_context *context, void *dst, int64_t dst_pitch, const void *src,
                             int64_t src_pitch, int64_t row, int64_t rows, cudaStream_t stream);

/* Copies a small array to the device, before any work that is queued later on whatever stream. */
tw_status twi_cuda_send(const tw_context *context, void *device, const void *host, size_t bytes);

/* Bytes of a row's pixels, if they are of that type. */
static inline int64_t twi_cuda_row_bytes(const tw_problem *problem, tw_type type)
{
    return problem->width * problem->channels * (int64_t)tw_type_size(type);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

/* How a kernel is started: its blocks, and the outputs (elements x rows) that each of them makes. */
typedef struct twi_cuda_shape {
    unsigned block_width;
    unsigned block_height;
    unsigned outputs_width;
    unsigned outputs_height;
    size_t shared; /* bytes of dynamic shared memory */
} twi_cuda_shape;

/* The kernels' argument for the job. */
twi_cuda_box twi_cuda_box_arguments(const tw_plan *plan, const twi_job *job);

/* The plan's block shape where the caller gave one, else width x height; each thread makes one output.
   Fails where the device has no such blocks. */
tw_status twi_cuda_block_shape(const tw_plan *plan, unsigned width, unsigned height, twi_cuda_shape *shape);

/* For a variant's prepare: loads the kernel, so that no run does, and allows it that much dynamic shared
   memory. Fails where the device's limit is lower. */
tw_status twi_cuda_load_kernel(const tw_plan *plan, const void *kernel, size_t shared);

/* The job of a run over all rows. In place, it queues the copy of the source that the job then reads. */
tw_status twi_cuda_start(const tw_plan *plan, const tw_image *src, const tw_image *dst, cudaStream_t stream,
                         twi_job *job);

/* Queues the kernel over `columns` columns and the rows *first ... last - 1, in as many grids as the hardware's
   limits ask for. `argument` is the kernel's only argument; `left` and `first` point into it, at the column and
   row where a grid starts: block (i, j) makes outputs from *left + i * outputs_width and *first + j * outputs_height
   on, those that lie inside. */
tw_status twi_cuda_launch(const void *kernel, const twi_cuda_shape *shape, void *argument, int64_t columns,
                          int64_t *left, int64_t *first, int64_t last, void *stream);

/* The same for kernels that wait themselves for what the stream has before them (twi_await_stream()): where the device
   can, it brings their blocks in place meanwhile. */
tw_status twi_cuda_launch_early(const tw_plan *plan, const void *kernel, const twi_cuda_shape *shape, void *argument,
                                int64_t columns, int64_t *left, int64_t *first, int64_t last, void *stream);

/* As twi_cuda_launch() for a kernel whose argument is a twi_cuda_box, over all elements of the box's rows. */
tw_status twi_cuda_launch_box(const void *kernel, const twi_cuda_shape *shape, twi_cuda_box box, void *stream);

/* Blocks that march down strips: how many a multiprocessor holds, their rows' unit and least number, and how many rows'
   time goes by before a block's first output. */
typedef struct twi_cuda_strip {
    int32_t blocks;
    int32_t step;
    int32_t least;
    double before;
} twi_cuda_strip;
/* The rows of a strip by which all blocks are done the soonest: the device works in waves of as many as it holds. */
int32_t twi_cuda_strip_rows(const tw_plan *plan, int64_t strips, int64_t rows, const twi_cuda_strip *strip);

/* Whether rows of both images begin at multiples of `bytes`, a power of two. */
bool twi_cuda_aligned_to(const twi_job *job, uint64_t bytes);

/* The shared memory of a block's tile (element.cuh). */
size_t twi_cuda_tile_bytes(const tw_problem *problem, int64_t block_width, int64_t block_height);
/* The refusal where a tile of blocks of that shape has no room on the device, or NULL. */
const char *twi_cuda_refuses_tile(const tw_context *context, const tw_problem *problem, int block_width,
                                  int block_height);

/* ---- Order filters (order.c) -------------------------------------------------------------------------- */

/* For whole windows, of whose positions the output's own always takes part: makes of border `ignore` a constant that
   wins over no element. */
void twi_cuda_ignore_outside(const tw_problem *problem, twi_cuda_box *box);

/* ---- Weighted sums (correlate.c) ------------------------------------------------------------------ */

/* What the sums of a correlate or sepconv are made in: TWI_CUDA_SUM_... */
int twi_cuda_sum_of(const tw_problem *problem);
/* The same, but F64 in place of I64 where its sums are exact and the device is the faster with it. */
int twi_cuda_fast_sum_of(const tw_context *context, const tw_problem *problem);
twi_cuda_scale twi_cuda_scale_of(const tw_problem *problem, int sum);
/* Bytes of a mask's value for such sums, and the values converted. */
size_t twi_cuda_value_size(int sum);
void twi_cuda_convert_values(const tw_values *values, int sum, int64_t count, void *to);
/* What a position costs, as a multiple of that of the cheapest sums. */
double twi_cuda_sum_cost(int sum);

/* ---- Strips of u8 images (march.c, band.c) --------------------------------------------------------- */

/* Why a problem is not one for kernels that march down strips, or NULL. */
const char *twi_cuda_refuses_march(const tw_problem *problem);
/* The same where they use tensor cores; the window's reach aside. */
const char *twi_cuda_refuses_band(const tw_context *context, const tw_problem *problem);
/* The first of `count` kernels with weights that reaches as far as the window, NULL if none does. */
const twi_cuda_band_kernel *twi_cuda_find_band(const twi_cuda_band_kernel *kernels, int count,
                                               const tw_problem *problem);
/* Nanoseconds that such a kernel takes. */
double twi_cuda_band_cost(const twi_cuda_band_kernel *kernel, const tw_problem *problem);
/* Loads it, and puts its matrices of these weights into the plan's scratch memory. */
tw_status twi_cuda_prepare_band(tw_plan *plan, const twi_cuda_band_kernel *kernel, const int32_t *row,
                                const int32_t *column);
/* Queues a kernel with or without weights. `argument` is its only one, and `box` points into it. */
tw_status twi_cuda_launch_band(const tw_plan *plan, const void *kernel, const twi_cuda_band *band, void *argument,
                               twi_cuda_box *box, void *stream);

/* ---- Textures (texture.c) ------------------------------------------------------------------------ */

/* A variant called texture keeps its textures in plan->state, and uses plan->scratch. */
const char *twi_cuda_refuses_texture(const tw_context *context, const tw_problem *problem);
tw_status twi_cuda_prepare_texture(tw_plan *plan);
void twi_cuda_release_texture(tw_plan *plan);
/* The texture that shows the job's source; queues a copy to scratch where the hardware cannot address it. */
tw_status twi_cuda_find_texture(const tw_plan *plan, const twi_job *job, twi_cuda_texture *texture);

/* ---- Host images (transfer.c) ---------------------------------------------------------------- */

/* The buffers that a plan's host images pass through. */
tw_status twi_cuda_reserve(tw_plan *plan);
/* Runs a plan on host images, upload, work and download overlapped; dst is the result from row `first` on. */
tw_status twi_cuda_run_host(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first);
void twi_cuda_free_transfer(tw_context *context);

/* ---- Several devices (several.c): as the back end's functions of these names ------------------------------ */

tw_status twi_cuda_add_row(const tw_context *context, const tw_image *row, const tw_image *dst);
tw_status twi_cuda_link(const tw_context *context, const tw_context *other);
tw_status twi_cuda_queue_turn(const twi_turn *turn);
tw_status twi_cuda_await(const tw_context *context, const tw_context *const *others, int count);
tw_status twi_cuda_finish(const tw_context *context);

/* ---- Timing (timing.c) ---------------------------------------------------------------------------- */

tw_status twi_cuda_time(tw_context *context, tw_plan *plan, const tw_image *src, const tw_image *dst, size_t pairs,
                        int launches, bool graph, double *milliseconds);

#endif
