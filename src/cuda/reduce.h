/* What the variants of reduce share on the host: what figures need, records, and the parts of scratch memory. */
#ifndef TWI_CUDA_REDUCE_H
#define TWI_CUDA_REDUCE_H

#include "cuda/host.h"
#include "cuda/reduce_kernels.h"

static inline bool twi_cuda_has_floats(const tw_problem *problem)
{
    return (TWI_BIT(problem->type) & TWI_FLOATS) != 0;
}

static inline double twi_cuda_src_bytes(const tw_problem *problem)
{
    return (double)problem->width * (double)problem->height * problem->channels * (double)tw_type_size(problem->type);
}

static inline twi_cuda_plane twi_cuda_plane_of(const tw_image *src)
{
    const twi_cuda_plane plane = {
        .src = src->data, .pitch = src->pitch, .width = src->width, .height = src->height, .channels = src->channels};
    return plane;
}

/* A record of those figures. */
static inline twi_cuda_record twi_cuda_record_of(const tw_plan *plan, const twi_job *job, unsigned figures)
{
    const tw_problem *problem = &plan->problem;
    const double width = problem->axis == TW_AXIS_Y ? 1 : (double)problem->width;
    const double height = problem->axis == TW_AXIS_X ? 1 : (double)problem->height;
    const twi_cuda_record record = {
        .dst = job->dst.data,
        .dst_pitch = job->dst.pitch,
        .records = problem->axis == TW_AXIS_X   ? problem->height
                   : problem->axis == TW_AXIS_Y ? problem->width
                                                : 1,
        .width = problem->width,
        .count = width * height,
        .channels = problem->channels,
        .figures = (int32_t)(problem->figures & figures),
    };
    return record;
}

/* Areas of the plan's scratch memory. */
typedef struct twi_cuda_areas {
    int64_t bytes;
    bool uncounted; /* more than 64 bits can count */
} twi_cuda_areas;

/* Room for `count` things of `size` bytes; returns where. */
static inline int64_t twi_cuda_add_area(twi_cuda_areas *areas, int64_t count, int64_t size)
{
    const int64_t at = areas->bytes;
    int64_t bytes = 0;
    if (!twi_mul_i64(count, size, &bytes) || !twi_add_i64(bytes, 255, &bytes) ||
        !twi_add_i64(at, bytes / 256 * 256, &areas->bytes))
        areas->uncounted = true;
    return at;
}

static inline void *twi_cuda_area(const tw_plan *plan, int64_t at)
{
    return (char *)plan->scratch + at;
}

static inline tw_status twi_cuda_take_areas(tw_plan *plan, const twi_cuda_areas *areas)
{
    if (areas->uncounted)
        return twi_fail(TW_ERROR_LIMIT, "the scratch memory for %lldx%lld pixels cannot be counted",
                        (long long)plan->problem.width, (long long)plan->problem.height);
    return twi_plan_scratch(plan, (size_t)twi_max_i64(areas->bytes, 256));
}

#endif
