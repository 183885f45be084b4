/* correlate on CUDA, variant separable: an integer mask that is a column times a row, as the sepconv that it is. Exact
   sums do not depend on their order, so the result is the same. */
#include "cuda/host.h"

/* Row and column as a sepconv takes them. */
typedef struct factors {
    int32_t row[TW_MAX_MASK];
    int32_t column[TW_MAX_MASK];
} factors;

static bool narrow(const int64_t *values, int32_t count, int32_t *to)
{
    for (int32_t i = 0; i < count; i++) {
        if (values[i] < INT32_MIN || values[i] > INT32_MAX)
            return false;
        to[i] = (int32_t)values[i];
    }
    return true;
}

/* Whether the mask is a product; if so, the sepconv that makes the same, which points to `f`. */
static bool passes_of(const tw_problem *problem, factors *f, tw_problem *passes)
{
    const tw_window *window = &problem->window;
    int64_t row[TW_MAX_MASK];
    int64_t column[TW_MAX_MASK];
    if (!problem->mask.integers || problem->type == TW_F32 || problem->type == TW_F64 ||
        !twi_factor(problem->mask.integers, window->width, window->height, row, column) ||
        !narrow(row, window->width, f->row) || !narrow(column, window->height, f->column))
        return false;
    *passes = *problem;
    passes->op = TW_OP_SEPCONV;
    passes->mask.integers = f->row;
    passes->column.integers = f->column;
    passes->memory = TW_DEVICE; /* where a job's images are by then, */
    passes->in_place = false;   /* and no longer the same */
    return true;
}

static const char *refuses_separable(const tw_context *context, const tw_problem *problem)
{
    factors f;
    tw_problem passes;
    (void)context;
    return passes_of(problem, &f, &passes) ? NULL : "it does integer masks that are a column times a row";
}

static double cost_separable(const tw_context *context, const tw_problem *problem)
{
    factors f;
    tw_problem passes;
    (void)passes_of(problem, &f, &passes); /* it is: the problem was not refused */
    return twi_choose(context, &passes)->code->cost(context, &passes);
}

static tw_status prepare_separable(tw_plan *plan)
{
    factors f;
    tw_problem passes;
    tw_plan *inner = NULL;
    (void)passes_of(&plan->problem, &f, &passes);
    TWI_TRY(tw_plan_create(plan->context, &passes, NULL, &inner));
    plan->state = inner;
    return TW_OK;
}

static tw_status run_separable(const tw_plan *plan, const twi_job *job)
{
    const tw_plan *inner = plan->state;
    return inner->variant->code->run(inner, job);
}

static void release_separable(tw_plan *plan)
{
    tw_plan_destroy(plan->state);
}

const twi_code twi_correlate_separable_cuda = {
    .refuses = refuses_separable,
    .cost = cost_separable,
    .prepare = prepare_separable,
    .run = run_separable,
    .release = release_separable,
};
