/* Wisdom from arbitrary bytes: as a whole text, and as the entries of one whose frame is right. What is refused leaves
   nothing; what is taken comes out as a text that is taken again, and chooses a variant that does the problem. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wisdom.h"

static void require(bool sound)
{
    if (!sound)
        abort();
}

static char *exported(const tw_context *context, size_t *length)
{
    *length = tw_wisdom_export(context, NULL, 0);
    char *text = malloc(*length + 1);
    require(text && tw_wisdom_export(context, text, *length + 1) == *length && strlen(text) == *length);
    return text;
}

static void try_text(tw_context *context, const char *bytes, size_t size)
{
    const tw_image image = {(void *)(uintptr_t)256, 64, 48, 64, 1, TW_U8, TW_HOST};
    size_t length = 0;
    size_t again = 0;
    tw_problem problem;
    tw_plan *plan = NULL;
    const tw_status status = tw_wisdom_import(context, bytes, size);
    char *text = exported(context, &length);
    if (status != TW_OK)
        require(tw_error_message()[0] != '\0' && strstr(text, "\nend 0 "));
    tw_wisdom_forget(context);
    require(tw_wisdom_import(context, text, length) == TW_OK);
    char *copy = exported(context, &again);
    require(length == again && memcmp(text, copy, length) == 0);
    require(tw_box_problem(&image, &image, NULL, &problem) == TW_OK);
    require(tw_plan_create(context, &problem, NULL, &plan) == TW_OK);
    tw_plan_destroy(plan);
    tw_wisdom_forget(context);
    free(text);
    free(copy);
}

/* As many entries as there are lines. */
static void try_entries(tw_context *context, const uint8_t *data, size_t size)
{
    char *text = malloc(size + 200);
    size_t lines = 0;
    require(text != NULL);
    int head = snprintf(text, 100, "tilewise-wisdom 1\nlibrary %s\n", tw_version());
    memcpy(text + head, data, size);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    const size_t length = (size_t)head + size;
    const int end =
        snprintf(text + length, 100, "end %zu %08" PRIx32 "\n", lines, twi_hash(TWI_HASH_SEED, text, length));
    try_text(context, text, length + (size_t)end);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tw_context *context;
    tw_context_options options = tw_context_defaults();
    options.backend = TW_CPU;
    options.threads = 1;
    if (!context)
        require(tw_context_create(&options, &context) == TW_OK);
    try_text(context, (const char *)data, size);
    try_entries(context, data, size);
    return 0;
}
