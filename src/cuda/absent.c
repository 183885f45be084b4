/* The CUDA back end of a build without CUDA: it says so. */
#include "core/plan.h"

static const char words[] = "this build of tilewise has no CUDA";

static tw_status open_absent(tw_context *context)
{
    (void)context;
    return twi_fail(TW_ERROR_DEVICE, "%s", words);
}

static tw_status count_absent(int *count)
{
    *count = 0;
    return TW_OK;
}

const char *tw_cuda_reason(void)
{
    return words;
}

/* No context is ever open on it: the other members are never called. */
const twi_backend twi_cuda_backend = {
    .id = TW_CUDA,
    .open = open_absent,
    .count = count_absent,
};
