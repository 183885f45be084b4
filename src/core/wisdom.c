/* Wisdom: entries of a context, the choice by them, and their text. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/wisdom.h"

#define FORMAT "tilewise-wisdom 1"

/* MOST_LINE holds an entry: two numbers of 19 digits, and the fields. */
enum {
    MOST_ENTRIES = 4096,
    MOST_NAME = 32,
    MOST_CLASS = 192,
    MOST_DEVICE = 448,
    MOST_LINE = MOST_NAME + MOST_CLASS + MOST_DEVICE + 48
};

typedef struct entry {
    char variant[MOST_NAME];
    char class[MOST_CLASS];
    char device[MOST_DEVICE];
    int64_t width;
    int64_t height;
} entry;

struct twi_wisdom {
    char device[MOST_DEVICE]; /* the context's own */
    entry *entries;
    size_t count;
    size_t room;
};

/* ---- Keeping ------------------------------------------------------------------------------------- */

/* The context's device in one line: what was measured on another one does not apply to it. */
static tw_status describe(const tw_context *context, char *text, size_t size)
{
    const twi_backend *backend = context->backend;
    tw_device_info info;
    char threads[32] = "";
    TWI_TRY(backend->describe(context->device, &info));
    if (backend->id == TW_CPU)
        (void)snprintf(threads, sizeof threads, "%d threads, ", context->threads);
    (void)snprintf(text, size, "%s, %s%s, %s", tw_backend_name(backend->id), threads, info.name, info.detail);
    for (char *at = text; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return TW_OK;
}

static tw_status take_wisdom(tw_context *context)
{
    void *memory = NULL;
    if (context->wisdom)
        return TW_OK;
    TWI_TRY(twi_host_allocate(context, sizeof(twi_wisdom), &memory));
    twi_wisdom *wisdom = memory;
    *wisdom = (twi_wisdom){0};
    const tw_status status = describe(context, wisdom->device, sizeof wisdom->device);
    if (status == TW_OK)
        context->wisdom = wisdom;
    else
        twi_host_release(context, memory);
    return status;
}

void twi_wisdom_free(tw_context *context)
{
    if (context->wisdom)
        twi_host_release(context, context->wisdom->entries);
    twi_host_release(context, context->wisdom);
    context->wisdom = NULL;
}

/* Room for `more` entries, so that adding them cannot fail. */
static tw_status reserve(tw_context *context, size_t more)
{
    void *memory = NULL;
    TWI_TRY(take_wisdom(context));
    twi_wisdom *wisdom = context->wisdom;
    const size_t wanted = wisdom->count + more < MOST_ENTRIES ? wisdom->count + more : MOST_ENTRIES;
    if (wanted <= wisdom->room)
        return TW_OK;
    TWI_TRY(twi_host_allocate(context, wanted * sizeof(entry), &memory));
    if (wisdom->count > 0)
        memcpy(memory, wisdom->entries, wisdom->count * sizeof(entry));
    twi_host_release(context, wisdom->entries);
    wisdom->entries = memory;
    wisdom->room = wanted;
    return TW_OK;
}

/* There is room. The oldest entry goes where there are too many; a newer one of the same problem replaces it. */
static void add(twi_wisdom *wisdom, const entry *new)
{
    for (size_t i = 0; i < wisdom->count; i++) {
        const entry *old = &wisdom->entries[i];
        if (old->width == new->width && old->height == new->height &&strcmp(old->class, new->class) == 0 &&
            strcmp(old->device, new->device) == 0) {
            wisdom->entries[i] = *new;
            return;
        }
    }
    if (wisdom->count == MOST_ENTRIES)
        memmove(wisdom->entries, wisdom->entries + 1, --wisdom->count * sizeof *wisdom->entries);
    wisdom->entries[wisdom->count++] = *new;
}

tw_status twi_wisdom_add(tw_context *context, const tw_problem *problem, const twi_variant *variant)
{
    entry new = {.width = problem->width, .height = problem->height};
    TWI_TRY(reserve(context, 1));
    (void)snprintf(new.variant, sizeof new.variant, "%s", variant->name);
    (void)twi_problem_class(problem, new.class, sizeof new.class);
    memcpy(new.device, context->wisdom->device, sizeof new.device);
    add(context->wisdom, &new);
    twi_drop_kept(context);
    return TW_OK;
}

void tw_wisdom_forget(tw_context *context)
{
    if (!context)
        return;
    twi_wisdom_free(context);
    twi_drop_kept(context);
}

/* ---- Choosing ------------------------------------------------------------------------------------ */

static const twi_variant *variant_of(const tw_context *context, const tw_problem *problem, const char *name)
{
    for (size_t i = 0; i < twi_variant_total; i++)
        if (twi_variants[i].op == problem->op && twi_variants[i].backend == context->backend->id &&
            strcmp(twi_variants[i].name, name) == 0)
            return twi_refusal(&twi_variants[i], context, problem) ? NULL : &twi_variants[i];
    return NULL;
}

/* How far two lengths are apart: 0 for equal ones, 1 for the double or the half. */
static double distance(int64_t a, int64_t b)
{
    return fabs(log2((double)a / (double)b));
}

const twi_variant *twi_wisdom_choice(const tw_context *context, const tw_problem *problem, bool *exact)
{
    const twi_wisdom *wisdom = context->wisdom;
    const twi_variant *best = NULL;
    double least = 0;
    char class[MOST_CLASS];
    if (!wisdom || wisdom->count == 0)
        return NULL;
    (void)twi_problem_class(problem, class, sizeof class);
    for (size_t i = 0; i < wisdom->count; i++) {
        const entry *e = &wisdom->entries[i];
        const double x = distance(e->width, problem->width);
        const double y = distance(e->height, problem->height);
        if (x > 1 || y > 1 || (best && x + y >= least) || strcmp(e->class, class) != 0 ||
            strcmp(e->device, wisdom->device) != 0)
            continue;
        const twi_variant *variant = variant_of(context, problem, e->variant);
        if (!variant)
            continue;
        best = variant;
        least = x + y;
        *exact = e->width == problem->width && e->height == problem->height;
    }
    return best;
}

/* ---- Text ---------------------------------------------------------------------------------------- */

/* A text in the making, which may be cut off but is always counted. */
typedef struct writer {
    char *text;
    size_t size;
    size_t length;
    uint32_t hash;
} writer;

static void put_line(writer *w, const char *format, ...) TWI_PRINTF(2, 3);

static void put_line(writer *w, const char *format, ...)
{
    char line[MOST_LINE];
    va_list arguments;
    va_start(arguments, format);
    const int printed = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t length = printed < 0 ? 0 : (size_t)printed;
    w->hash = twi_hash(w->hash, line, length);
    for (size_t i = 0; i < length; i++, w->length++)
        if (w->length + 1 < w->size)
            w->text[w->length] = line[i];
}

size_t tw_wisdom_export(const tw_context *context, char *text, size_t size)
{
    writer w = {.text = text, .size = text ? size : 0, .hash = TWI_HASH_SEED};
    const twi_wisdom *wisdom = context ? context->wisdom : NULL;
    const size_t count = wisdom ? wisdom->count : 0;
    put_line(&w, FORMAT "\nlibrary %s\n", tw_version());
    for (size_t i = 0; i < count; i++) {
        const entry *e = &wisdom->entries[i];
        put_line(&w, "%s\t%" PRId64 "x%" PRId64 "\t%s\t%s\n", e->variant, e->width, e->height, e->class, e->device);
    }
    put_line(&w, "end %zu %08" PRIx32 "\n", count, w.hash);
    if (w.size > 0)
        w.text[w.length < w.size ? w.length : w.size - 1] = '\0';
    return w.length;
}

/* A text that is read line by line. */
typedef struct reader {
    const char *at;
    const char *end;
    int64_t line; /* the number of `text` */
    char text[MOST_LINE];
} reader;

static tw_status damaged(const reader *r, const char *what)
{
    return twi_fail(TW_ERROR_ARGUMENT, "wisdom is damaged: line %" PRId64 " %s", r->line, what);
}

/* The next line without its end, of printable characters and tabs alone. */
static tw_status next_line(reader *r)
{
    const size_t left = (size_t)(r->end - r->at);
    const char *stop = left > 0 ? memchr(r->at, '\n', left) : NULL;
    r->line++;
    if (!stop)
        return damaged(r, left > 0 ? "does not end" : "is missing");
    const size_t length = (size_t)(stop - r->at);
    if (length >= sizeof r->text)
        return damaged(r, "is too long");
    for (size_t i = 0; i < length; i++)
        if ((r->at[i] < ' ' || r->at[i] > '~') && r->at[i] != '\t')
            return damaged(r, "holds what is no text");
    memcpy(r->text, r->at, length);
    r->text[length] = '\0';
    r->at = stop + 1;
    return TW_OK;
}

/* Takes a number of digits alone, from 1 on, off the front of *text. */
static bool take_number(const char **text, int64_t *number)
{
    int64_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (!twi_mul_i64(value, 10, &value) || !twi_add_i64(value, *at - '0', &value))
            return false;
    *text = at;
    *number = value;
    return value > 0;
}

/* Takes what stands before the next tab, or all that is left, off the front of *text. */
static bool take_field(const char **text, char *field, size_t size)
{
    const size_t length = strcspn(*text, "\t");
    if (length == 0 || length >= size)
        return false;
    memcpy(field, *text, length);
    field[length] = '\0';
    *text += length;
    *text += **text == '\t';
    return true;
}

static tw_status read_entry(const reader *r, entry *e)
{
    char size[48];
    const char *text = r->text;
    const char *side = size;
    const bool sound = take_field(&text, e->variant, sizeof e->variant) && take_field(&text, size, sizeof size) &&
                       take_field(&text, e->class, sizeof e->class) && take_field(&text, e->device, sizeof e->device) &&
                       *text == '\0';
    if (!sound || !take_number(&side, &e->width) || *side++ != 'x' || !take_number(&side, &e->height) || *side != '\0')
        return damaged(r, "is no entry");
    return TW_OK;
}

/* Reads the head, whose versions decide whether the rest can be understood. */
static tw_status read_head(reader *r)
{
    static const char family[] = "tilewise-wisdom ";
    static const char library[] = "library ";
    TWI_TRY(next_line(r));
    if (strncmp(r->text, family, sizeof family - 1) != 0)
        return damaged(r, "is not that of wisdom");
    if (strcmp(r->text, FORMAT) != 0)
        return twi_fail(TW_ERROR_UNSUPPORTED, "wisdom of another form: '%.60s', this is '%s'", r->text, FORMAT);
    TWI_TRY(next_line(r));
    if (strncmp(r->text, library, sizeof library - 1) != 0)
        return damaged(r, "names no library");
    if (strcmp(r->text + sizeof library - 1, tw_version()) != 0)
        return twi_fail(TW_ERROR_UNSUPPORTED, "wisdom of another version: %.60s, this is %s",
                        r->text + sizeof library - 1, tw_version());
    return TW_OK;
}

/* Reads a whole text; its entries go to `wisdom`, which has room, or nowhere if that is NULL. */
static tw_status read_text(const char *text, size_t size, twi_wisdom *wisdom, size_t *count)
{
    reader r = {.at = text, .end = text + size};
    entry e;
    char end[48];
    TWI_TRY(read_head(&r));
    for (*count = 0;; ++*count) {
        const size_t before = (size_t)(r.at - text);
        TWI_TRY(next_line(&r));
        if (strncmp(r.text, "end ", 4) == 0) {
            (void)snprintf(end, sizeof end, "end %zu %08" PRIx32, *count, twi_hash(TWI_HASH_SEED, text, before));
            break;
        }
        if (*count == MOST_ENTRIES)
            return damaged(&r, "is one entry too many");
        TWI_TRY(read_entry(&r, &e));
        if (wisdom)
            add(wisdom, &e);
    }
    if (strcmp(r.text, end) != 0)
        return damaged(&r, "does not agree with what is above it");
    return r.at == r.end ? TW_OK : damaged(&r, "should be the last");
}

tw_status tw_wisdom_import(tw_context *context, const char *text, size_t size)
{
    size_t count = 0;
    TWI_TRY(twi_context_check(context));
    if (!text)
        return twi_fail(TW_ERROR_ARGUMENT, "text is NULL");
    /* once to see that all of it is sound, once to take it */
    TWI_TRY(read_text(text, size, NULL, &count));
    TWI_TRY(reserve(context, count));
    TWI_TRY(read_text(text, size, context->wisdom, &count));
    twi_drop_kept(context);
    for (int i = 0; i < context->other_count; i++)
        TWI_TRY(tw_wisdom_import(context->others[i], text, size));
    return TW_OK;
}
