/*
 * Running sums of integers that go on from share to share: each makes those of its rows alone, which are exact, says
 * what they come to, and adds what lies before them. Shares wait for the one before, in threads of their own or in
 * ascending order in one.
 */
#include <pthread.h>
#include <string.h>

#include "core/element.h"
#include "core/group.h"
#include "core/sums.h"

struct twi_carry {
    twi_chain *chain;
    int number;
    int64_t *before; /* a row of what lies before the share's first */
    int64_t *rest;   /* a row of what its source adds to its last row of sums */
    tw_image last;   /* that row, on the host */
    tw_image row;    /* `before` on the back end's memory */
};

struct twi_chain {
    const tw_context *context;
    tw_problem problem; /* of the whole image */
    int64_t width;      /* of the result */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
    int known;  /* shares that know what lies before them */
    int broken; /* the first share that has failed */
    twi_carry *carries;
};

static int64_t elements_of(const twi_chain *chain)
{
    return chain->width * chain->problem.channels;
}

/* ---- Made and freed ---------------------------------------------------------------------------------- */

static tw_status fill_chain(twi_chain *chain)
{
    if (pthread_mutex_init(&chain->lock, NULL) != 0)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: a lock was refused");
    if (pthread_cond_init(&chain->changed, NULL) == 0)
        return TW_OK;
    (void)pthread_mutex_destroy(&chain->lock);
    return twi_fail(TW_ERROR_MEMORY, "out of memory: a condition was refused");
}

tw_status twi_chain_create(const tw_context *context, const tw_problem *problem, int count, twi_chain **result)
{
    void *memory = NULL;
    int64_t height = 0;
    TWI_TRY(twi_host_allocate(context, sizeof(twi_chain) + (size_t)count * sizeof(twi_carry), &memory));
    twi_chain *chain = memory;
    *chain = (twi_chain){.context = context, .problem = *problem, .count = count, .carries = (twi_carry *)(chain + 1)};
    twi_out_shape(problem, &chain->width, &height);
    for (int i = 0; i < count; i++)
        chain->carries[i] = (twi_carry){.chain = chain, .number = i};
    const tw_status status = fill_chain(chain);
    if (status != TW_OK) {
        twi_host_release(context, memory);
        return status;
    }
    *result = chain;
    return TW_OK;
}

tw_status twi_chain_join(twi_chain *chain, int number, tw_plan *plan)
{
    twi_carry *carry = &chain->carries[number];
    const size_t bytes = (size_t)elements_of(chain) * sizeof(int64_t);
    const tw_memory_kind kind = plan->context->backend->id == TW_CUDA ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    void *memory = NULL;
    if (!plan->variant->code->whole)
        return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s of %s makes some rows at a time", plan->variant->name,
                        tw_op_name(plan->problem.op));
    TWI_TRY(twi_host_allocate(chain->context, 2 * bytes, &memory));
    memset(memory, 0, 2 * bytes);
    carry->before = memory;
    carry->rest = carry->before + elements_of(chain);
    plan->carry = carry;
    TWI_TRY(tw_image_create(plan->context, chain->width, 1, chain->problem.channels, chain->problem.out_type,
                            TW_MEMORY_HOST, &carry->last));
    return tw_image_create(plan->context, chain->width, 1, chain->problem.channels, TW_I64, kind, &carry->row);
}

void twi_chain_leave(tw_plan *plan)
{
    twi_carry *carry = plan->carry;
    if (!carry)
        return;
    tw_image_free(plan->context, &carry->last);
    tw_image_free(plan->context, &carry->row);
    twi_host_release(carry->chain->context, carry->before);
    plan->carry = NULL;
}

void twi_chain_destroy(twi_chain *chain)
{
    if (!chain)
        return;
    (void)pthread_cond_destroy(&chain->changed);
    (void)pthread_mutex_destroy(&chain->lock);
    twi_host_release(chain->context, chain);
}

/* ---- Runs -------------------------------------------------------------------------------------------- */

void twi_chain_begin(twi_chain *chain)
{
    chain->known = 1;
    chain->broken = chain->count;
}

void twi_carry_start(const tw_plan *plan, const tw_image *src, int64_t last)
{
    const twi_carry *carry = plan->carry;
    const twi_chain *chain = carry->chain;
    const int64_t channels = src->channels;
    const int64_t size = (int64_t)tw_type_size(src->type);
    const bool table = chain->problem.op == TW_OP_INTEGRAL;
    if (carry->number + 1 == chain->count || (!table && !chain->problem.exclusive))
        return;
    const char *row = (const char *)src->data + (last - 1) * src->pitch;
    const char *end = row + (src->width - 1) * channels * size;
    for (int64_t i = table ? channels : 0; i < elements_of(chain); i++) {
        if (table)
            carry->rest[i] = carry->rest[i - channels] + twi_get_integer(row + (i - channels) * size, src->type);
        else
            carry->rest[i] = twi_get_integer(end + i % channels * size, src->type);
    }
}

/* Tells the next share; `total`: the last row of this one's own sums. */
static void pass_on(const twi_carry *carry, const void *total)
{
    twi_chain *chain = carry->chain;
    const int64_t elements = elements_of(chain);
    const int64_t channels = chain->problem.channels;
    int64_t *before = chain->carries[carry->number + 1].before;
    for (int64_t i = 0; i < elements; i++) {
        const int64_t at = chain->problem.op == TW_OP_INTEGRAL ? i : elements - channels + i % channels;
        before[i] = carry->before[i] + carry->rest[i] + twi_sum_at(total, chain->problem.out_type, at);
    }
    (void)pthread_mutex_lock(&chain->lock);
    chain->known = carry->number + 2;
    (void)pthread_cond_broadcast(&chain->changed);
    (void)pthread_mutex_unlock(&chain->lock);
}

/* Until the share before has told; false: one before has failed. */
static bool is_told(const twi_carry *carry)
{
    twi_chain *chain = carry->chain;
    (void)pthread_mutex_lock(&chain->lock);
    while (chain->known <= carry->number && chain->broken > carry->number)
        (void)pthread_cond_wait(&chain->changed, &chain->lock);
    const bool told = chain->known > carry->number;
    (void)pthread_mutex_unlock(&chain->lock);
    return told;
}

tw_status twi_carry_add(const tw_plan *plan, const tw_image *dst)
{
    const twi_carry *carry = plan->carry;
    const twi_chain *chain = carry->chain;
    tw_image row;
    TWI_TRY(tw_image_view(dst, 0, dst->height - 1, dst->width, 1, &row));
    TWI_TRY(tw_image_copy(plan->context, &row, &carry->last));
    if (!is_told(carry))
        return twi_fail(TW_ERROR_CANCELLED, "the rows above were not made");
    if (carry->number + 1 < chain->count)
        pass_on(carry, carry->last.data);
    if (carry->number == 0)
        return TW_OK;
    row = carry->last;
    row.data = carry->before;
    row.type = TW_I64;
    row.pitch = elements_of(chain) * (int64_t)sizeof *carry->before;
    TWI_TRY(tw_image_copy(plan->context, &row, &carry->row));
    return plan->context->backend->add_row(plan->context, &carry->row, dst);
}

void twi_carry_fail(const tw_plan *plan)
{
    twi_chain *chain = plan->carry->chain;
    (void)pthread_mutex_lock(&chain->lock);
    chain->broken = plan->carry->number < chain->broken ? plan->carry->number : chain->broken;
    (void)pthread_cond_broadcast(&chain->changed);
    (void)pthread_mutex_unlock(&chain->lock);
}
