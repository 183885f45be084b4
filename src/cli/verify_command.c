/* `tilewise verify`: the prover's lines as text or JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/recipe.h"
#include "verify/verify.h"

/* Text goes out line by line; JSON keeps the failures alone. */
static void print_line(void *user, const char *text, bool failure)
{
    json_t *failures = user;
    if (!failures)
        puts(text);
    else if (failure)
        (void)json_array_append_new(failures, json_string(text));
}

static twi_exit print_json(const twi_args *args, const twi_verify_result *result, json_t *failures)
{
    return twi_print_json(json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:O}", "schema", "tilewise.verify/1", "version",
                                    tw_version(), "seed", (json_int_t)args->seed, "cases", (json_int_t)result->cases,
                                    "checks", (json_int_t)result->checks, "failed", (json_int_t)result->failures,
                                    "failures", failures));
}

static twi_exit verify(const twi_args *args, json_t *failures)
{
    int numbers[TWI_DEVICES] = {args->device};
    twi_verify_result result;
    twi_verify_request request = {
        .op = TW_OP_COUNT,
        .variants = args->variant,
        .backend = args->backend,
        .devices = numbers,
        .device_count = twi_devices(args, numbers),
        .block_width = args->block_width,
        .block_height = args->block_height,
        .seed = args->seed,
        .cases = args->cases,
        .line = print_line,
        .user = failures,
    };
    twi_command_id filter;
    if (args->operands[0] && !twi_find_filter(args->operands[0], &filter, &request.op))
        return TWI_EXIT_USAGE;
    const twi_exit found = twi_require_device(args);
    if (found != TWI_EXIT_DONE)
        return found;
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a line that is done is seen, whatever comes after */
    const tw_status status = twi_verify(&request, &result);
    if (status != TW_OK)
        return twi_complain_status(status);
    const twi_exit printed = failures ? print_json(args, &result, failures) : TWI_EXIT_DONE;
    if (printed != TWI_EXIT_DONE || result.failures == 0)
        return printed;
    return twi_complain(TWI_EXIT_NO, "%" PRId64 " of %" PRId64 " checks differ from the reference", result.failures,
                        result.checks);
}

twi_exit twi_command_verify(const twi_args *args)
{
    json_t *failures = args->json ? json_array() : NULL;
    if (args->json && !failures)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: the JSON text");
    const twi_exit code = verify(args, failures);
    json_decref(failures);
    return code;
}
