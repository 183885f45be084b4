/* Plans over ranks: which way an operation takes, and what all ways share. */
#include <inttypes.h>
#include <stdlib.h>

#include "mpi/plan.h"

const twi_ways *twi_ways_of(const tw_problem *problem)
{
    const bool floats = twi_is_float(problem->type);
    switch (problem->op) {
    case TW_OP_REDUCE:
    case TW_OP_SCAN:
        if (problem->axis == TW_AXIS_X)
            return &twi_ways_lines;
        if (problem->axis == TW_AXIS_Y)
            return &twi_ways_strips;
        return problem->op == TW_OP_REDUCE ? &twi_ways_tally : floats ? &twi_ways_spans : &twi_ways_carry;
    case TW_OP_HISTOGRAM:
        return &twi_ways_tally;
    case TW_OP_INTEGRAL:
        return floats ? &twi_ways_float_table : &twi_ways_carry;
    default:
        return &twi_ways_rows;
    }
}

tw_problem twi_sized(const tw_problem *problem, int64_t width, int64_t height)
{
    tw_problem local = *problem;
    local.width = width;
    local.height = height;
    local.memory = TW_HOST;
    local.in_place = false;
    return local;
}

tw_status twi_local_plan(tw_mpi_plan *plan, const tw_problem *problem, tw_plan **local)
{
    return twi_mpi_core(tw_plan_create(plan->mpi->context, problem, NULL, local));
}

tw_status twi_plan_memory(tw_mpi_plan *plan, int which, int64_t width, int64_t height, tw_type type)
{
    return twi_mpi_core(tw_image_create(plan->mpi->context, width, height, plan->problem.channels, type,
                                        TW_MEMORY_PINNED, &plan->memory[which]));
}

/* Descriptors apart from each other, at addresses that suit every element; nothing lies there. */
tw_status tw_mpi_describe(const tw_mpi_image *src, const tw_mpi_image *dst, tw_image *whole_src, tw_image *whole_dst)
{
    enum { UNIT = 256 };
    if (!src || !dst || !whole_src || !whole_dst)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !src ? "src" : !dst ? "dst" : "a result");
    const bool same = src->rows.data == dst->rows.data && src->rows.type == dst->rows.type;
    int64_t row = 0;
    int64_t bytes = 0;
    *whole_src = src->rows;
    *whole_dst = dst->rows;
    whole_src->height = src->height;
    whole_dst->height = dst->height;
    if (__builtin_mul_overflow(src->rows.width, twi_pixel_bytes(&src->rows), &row) || row > INT64_MAX - UNIT ||
        __builtin_mul_overflow(row + UNIT, src->height, &bytes) || bytes > INT64_MAX / 4)
        return twi_mpi_fail(TW_ERROR_LIMIT,
                            "src: an image of %" PRId64 "x%" PRId64 " pixels cannot be counted in bytes",
                            src->rows.width, src->height);
    whole_src->pitch = row;
    whole_dst->pitch = dst->rows.width * twi_pixel_bytes(&dst->rows);
    whole_src->data = (void *)(uintptr_t)UNIT; // NOLINT(performance-no-int-to-ptr)
    whole_dst->data = same ? whole_src->data : (void *)(uintptr_t)(bytes / UNIT * UNIT + 2 * (int64_t)UNIT); // NOLINT
    return TW_OK;
}

tw_status tw_mpi_plan_create(tw_mpi *mpi, const tw_problem *problem, tw_mpi_plan **result)
{
    if (!mpi || !problem || !result)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "%s is NULL", !mpi ? "mpi" : !problem ? "problem" : "plan");
    *result = NULL;
    tw_mpi_plan *plan = calloc(1, sizeof *plan);
    tw_status status = plan ? TW_OK : twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: a plan was refused");
    if (plan) {
        *plan = (tw_mpi_plan){.mpi = mpi, .problem = *problem, .ways = twi_ways_of(problem)};
        status = twi_mpi_core(tw_problem_size(problem, &plan->out_width, &plan->out_height));
    }
    if (status == TW_OK && problem->memory != TW_HOST)
        status = twi_mpi_fail(TW_ERROR_ARGUMENT, "a problem on a device: the ranks' images are in host memory");
    if (plan && status == TW_OK)
        status = plan->ways->prepare(plan);
    status = twi_mpi_agree(mpi, status);
    if (status != TW_OK) {
        tw_mpi_plan_destroy(plan);
        return status;
    }
    *result = plan;
    return TW_OK;
}

void twi_plan_release(tw_mpi_plan *plan)
{
    for (int i = 0; i < TWI_MPI_PARTS; i++) {
        tw_plan_destroy(plan->local[i]);
        plan->local[i] = NULL;
        tw_image_free(plan->mpi->context, &plan->memory[i]);
    }
    for (int i = 0; i < TWI_MPI_TABLES; i++) {
        free(plan->tables[i]);
        plan->tables[i] = NULL;
    }
}

void tw_mpi_plan_destroy(tw_mpi_plan *plan)
{
    if (!plan)
        return;
    twi_plan_release(plan);
    free(plan);
}

static tw_status check_image(const tw_mpi_plan *plan, const tw_mpi_image *image, const char *name, int64_t width,
                             int64_t height, tw_type type)
{
    TWI_MPI_TRY(twi_mpi_image_check(plan->mpi, image, name));
    if (image->rows.width == width && image->height == height && image->rows.type == type &&
        image->rows.channels == plan->problem.channels)
        return TW_OK;
    return twi_mpi_fail(TW_ERROR_ARGUMENT,
                        "%s: %" PRId64 "x%" PRId64 " %s c%d, the plan is for %" PRId64 "x%" PRId64 " %s c%d", name,
                        image->rows.width, image->height, tw_type_name(image->rows.type), (int)image->rows.channels,
                        width, height, tw_type_name(type), (int)plan->problem.channels);
}

static tw_status check_images(const tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    const tw_problem *p = &plan->problem;
    TWI_MPI_TRY(check_image(plan, src, "src", p->width, p->height, p->type));
    TWI_MPI_TRY(check_image(plan, dst, "dst", plan->out_width, plan->out_height, p->out_type));
    if (src->rows.data == dst->rows.data && src->rows.height > 0 && !p->in_place)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "dst is src, but the plan was made for separate images: set in_place");
    return TW_OK;
}

tw_status tw_mpi_plan_run(tw_mpi_plan *plan, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    if (!plan)
        return twi_mpi_fail(TW_ERROR_ARGUMENT, "plan is NULL");
    TWI_MPI_TRY(twi_mpi_agree(plan->mpi, check_images(plan, src, dst)));
    return plan->ways->run(plan, src, dst);
}

tw_status tw_mpi_run(tw_mpi *mpi, const tw_problem *problem, const tw_mpi_image *src, const tw_mpi_image *dst)
{
    tw_mpi_plan *plan = NULL;
    TWI_MPI_TRY(tw_mpi_plan_create(mpi, problem, &plan));
    const tw_status status = tw_mpi_plan_run(plan, src, dst);
    tw_mpi_plan_destroy(plan);
    return status;
}
