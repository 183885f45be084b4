/* What the tests share: cmocka, images with guard bytes, and the walk over every variant that applies. */
#ifndef TESTING_H
#define TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tilewise.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        if ((call) != TW_OK)                                                                                           \
            fail_msg("%s: %s", #call, tw_error_message());                                                             \
    } while (0)

/* The call fails with that status, and the message holds `words`. */
#define assert_refused(call, status, words)                                                                            \
    do {                                                                                                               \
        const tw_status got_status = (call);                                                                           \
        if (got_status != (status) || !strstr(tw_error_message(), words))                                              \
            fail_msg("%s: %s, \"%s\"", #call, tw_status_name(got_status), tw_error_message());                         \
    } while (0)

/* An image in memory of its own: 64 guard bytes before and behind, `gap` bytes between rows. */
typedef struct picture {
    tw_image image;
    unsigned char *memory;
    size_t size;
} picture;

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

/* A context on the CPU, of two threads. */
static inline tw_context *context_on_cpu(void)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CPU;
    options.threads = 2;
    assert_ok(tw_context_create(&options, &context));
    return context;
}

static inline picture make_picture(int64_t width, int64_t height, int channels, tw_type type, int64_t gap)
{
    const int64_t pitch = width * channels * (int64_t)tw_type_size(type) + gap;
    picture p = {.size = (size_t)(pitch * height) + 2 * (size_t)GUARD};
    p.memory = malloc(p.size);
    assert_non_null(p.memory);
    memset(p.memory, GUARD_BYTE, p.size);
    p.image = (tw_image){p.memory + GUARD, width, height, pitch, channels, type, TW_HOST};
    return p;
}

static inline void free_picture(picture *p)
{
    free(p->memory);
    p->memory = NULL;
}

static inline void *element(const tw_image *image, int64_t x, int64_t y, int channel)
{
    return (char *)image->data + y * image->pitch +
           (x * image->channels + channel) * (int64_t)tw_type_size(image->type);
}

static inline void put(const tw_image *image, int64_t x, int64_t y, int channel, double value)
{
    void *place = element(image, x, y, channel);
    switch (image->type) {
    case TW_U8:
        *(uint8_t *)place = (uint8_t)value;
        break;
    case TW_U16:
        *(uint16_t *)place = (uint16_t)value;
        break;
    case TW_I16:
        *(int16_t *)place = (int16_t)value;
        break;
    case TW_I32:
        *(int32_t *)place = (int32_t)value;
        break;
    case TW_F32:
        *(float *)place = (float)value;
        break;
    default:
        *(double *)place = value;
        break;
    }
}

static inline double get(const tw_image *image, int64_t x, int64_t y, int channel)
{
    const void *place = element(image, x, y, channel);
    switch (image->type) {
    case TW_U8:
        return *(const uint8_t *)place;
    case TW_U16:
        return *(const uint16_t *)place;
    case TW_I16:
        return *(const int16_t *)place;
    case TW_I32:
        return *(const int32_t *)place;
    case TW_F32:
        return (double)*(const float *)place;
    default:
        return *(const double *)place;
    }
}

static inline void fill(const tw_image *image, double value)
{
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                put(image, x, y, c, value);
}

/* The same values in every run (the C standard's example generator). */
static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) & 0x7fffu;
}

/* Values that every type holds: 0 to 120; signed types also below 0, float types with fractions. */
static inline void fill_random(const tw_image *image, unsigned seed)
{
    const bool is_signed = image->type != TW_U8 && image->type != TW_U16;
    const bool is_float = image->type == TW_F32 || image->type == TW_F64;
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                double value = (double)(next_random(&seed) % 121);
                if (is_signed && next_random(&seed) % 2 == 0)
                    value = -value;
                if (is_float)
                    value += (double)next_random(&seed) / 32768;
                put(image, x, y, c, value);
            }
}

static inline bool same_pixels(const tw_image *a, const tw_image *b)
{
    const size_t row = (size_t)a->width * (size_t)a->channels * tw_type_size(a->type);
    for (int64_t y = 0; y < a->height; y++)
        if (memcmp(element(a, 0, y, 0), element(b, 0, y, 0), row) != 0)
            return false;
    return true;
}

/* Whether all bytes of the picture's memory outside the pixels still hold the guard byte. */
static inline bool guards_hold(const picture *p)
{
    const tw_image *image = &p->image;
    const int64_t row = image->width * image->channels * (int64_t)tw_type_size(image->type);
    for (size_t i = 0; i < p->size; i++) {
        const int64_t at = (int64_t)i - GUARD;
        const bool pixel = at >= 0 && at < image->pitch * image->height && at % image->pitch < row;
        if (!pixel && p->memory[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

static inline tw_box_params box_params(int width, int height, tw_border_mode border)
{
    tw_box_params params = tw_box_defaults();
    params.window = tw_window_centred(width, height);
    params.border.mode = border;
    return params;
}

/* Every variant that does a problem on this machine, each with a context and a plan of its own:
       walk w = {.threads = 2};
       while (next_variant(&w, &problem))
           assert_ok(tw_plan_run(w.plan, &src, &dst)); */
typedef struct walk {
    int threads; /* 0: all */
    size_t next;
    tw_variant_info variant;
    tw_context *context;
    tw_plan *plan;
} walk;

static inline bool next_variant(walk *w, const tw_problem *problem)
{
    tw_plan_destroy(w->plan);
    tw_context_destroy(w->context);
    w->plan = NULL;
    w->context = NULL;
    while (tw_variant_get(w->next, &w->variant)) {
        const size_t index = w->next++;
        int devices = 0;
        assert_ok(tw_device_count(w->variant.backend, &devices));
        if (devices == 0 || tw_variant_refuses(index, NULL, problem))
            continue;
        tw_context_options options = tw_context_defaults();
        const tw_plan_options by_name = {.variant = w->variant.name};
        options.backend = w->variant.backend;
        options.threads = w->threads;
        assert_ok(tw_context_create(&options, &w->context));
        if (!tw_variant_refuses(index, w->context, problem)) {
            assert_ok(tw_plan_create(w->context, problem, &by_name, &w->plan));
            return true;
        }
        tw_context_destroy(w->context);
        w->context = NULL;
    }
    return false;
}

#endif
