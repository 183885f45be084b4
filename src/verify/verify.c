/* Every variant of the registry that a request names, over classic and random cases. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verify/verify.h"

bool twi_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; *at;) {
        const size_t part = strcspn(at, ",");
        if (part == length && strncmp(at, name, length) == 0)
            return true;
        at += part;
        at += *at == ',';
    }
    return false;
}

static bool wanted(const twi_verify_request *request, const twi_variant *variant)
{
    if (request->op != TW_OP_COUNT && variant->op != request->op)
        return false;
    if (request->backend != TW_AUTO && variant->backend != request->backend)
        return false;
    if (request->variants)
        return twi_listed(request->variants, variant->name);
    return strcmp(variant->name, "reference") != 0; /* it would be compared with itself */
}

/* Each name in the request must be a variant that can run here. */
static tw_status check_names(const twi_verify_request *request)
{
    char name[64];
    for (const char *at = request->variants ? request->variants : ""; *at;) {
        const size_t part = strcspn(at, ",");
        bool known = false;
        (void)snprintf(name, sizeof name, "%.*s", (int)(part < sizeof name ? part : sizeof name - 1), at);
        for (size_t i = 0; i < twi_variant_total; i++)
            known = known || (wanted(request, &twi_variants[i]) && strcmp(twi_variants[i].name, name) == 0);
        if (!known)
            return twi_fail(TW_ERROR_ARGUMENT, "variant '%s' does not exist%s%s%s%s", name,
                            request->op == TW_OP_COUNT ? "" : " for ",
                            request->op == TW_OP_COUNT ? "" : tw_op_name(request->op),
                            request->backend == TW_AUTO ? "" : " on ",
                            request->backend == TW_AUTO ? "" : tw_backend_name(request->backend));
        at += part;
        at += *at == ',';
    }
    return TW_OK;
}

/* Whether the variant takes the case on this machine. A CPU variant gets it on the host. */
static bool takes(const twi_prover *prover, const twi_variant *variant, const twi_case *which)
{
    tw_problem problem = which->problem;
    const tw_context *context = twi_prover_context(prover, variant->backend);
    if (!context)
        return false;
    if (variant->backend != TW_CUDA)
        problem.memory = TW_HOST;
    return !twi_refusal(variant, context, &problem);
}

/* Appends to a line; what does not fit is cut. */
static void append(char *line, size_t size, const char *name, bool pass)
{
    const size_t used = strlen(line);
    (void)snprintf(line + used, size - used, ", %s=%s", name, pass ? "PASS" : "FAIL");
}

/* `title`: the line above those of the case, or NULL. */
static tw_status verify_case(const twi_verify_request *request, twi_prover *prover, const twi_case *which,
                             const char *title, twi_verify_result *result)
{
    char line[512];
    char why[512];
    bool loaded = false;
    (void)snprintf(line, sizeof line, "%" PRId64 "x%" PRId64, which->problem.width, which->problem.height);
    for (size_t i = 0; i < twi_variant_total; i++) {
        const twi_variant *variant = &twi_variants[i];
        if (variant->op != which->problem.op || !wanted(request, variant) || !takes(prover, variant, which))
            continue;
        if (!loaded)
            TWI_TRY(twi_prover_load(prover, which));
        if (!loaded && title)
            request->line(request->user, title, false);
        loaded = true;
        twi_candidate candidate = twi_variant_candidate(variant);
        candidate.options.block_width = request->block_width;
        candidate.options.block_height = request->block_height;
        const bool pass = twi_prover_check(prover, &candidate, why, sizeof why);
        append(line, sizeof line, variant->name, pass);
        result->checks++;
        if (!pass) {
            result->failures++;
            request->line(request->user, why, true);
        }
    }
    if (loaded) {
        result->cases++;
        request->line(request->user, line, false);
    }
    return TW_OK;
}

static tw_status verify_op(const twi_verify_request *request, twi_prover *prover, tw_op op, twi_verify_result *result)
{
    const int64_t classic = twi_classic_cases(op);
    const int64_t before = result->cases;
    const int64_t goal = before + classic + request->cases;
    /* some cases suit none of the variants asked for: others are drawn in their place, within reason */
    const int64_t most = classic + 50 * request->cases;
    for (int64_t i = 0; i < most && result->cases < goal; i++) {
        twi_case which;
        twi_make_case(op, request->seed, i, &which);
        const bool named = request->op != TW_OP_COUNT || result->cases > before;
        TWI_TRY(verify_case(request, prover, &which, named ? NULL : tw_op_name(op), result));
    }
    return TW_OK;
}

tw_status twi_verify(const twi_verify_request *request, twi_verify_result *result)
{
    twi_prover *prover = NULL;
    *result = (twi_verify_result){0};
    TWI_TRY(check_names(request));
    TWI_TRY(twi_prover_create(request->backend, request->devices, request->device_count, &prover));
    tw_status status = TW_OK;
    for (int op = 0; op < TW_OP_COUNT && status == TW_OK; op++)
        if (request->op == TW_OP_COUNT || request->op == (tw_op)op)
            status = verify_op(request, prover, (tw_op)op, result);
    twi_prover_destroy(prover);
    if (status == TW_OK && result->cases == 0)
        return twi_fail(TW_ERROR_UNSUPPORTED, "nothing to verify: no variant that was asked for runs on this machine");
    return status;
}
