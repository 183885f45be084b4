/* One case, one candidate: images with guarded surroundings, the reference's answer, the comparison. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/element.h"
#include "core/random.h"
#include "verify/parts.h"
#include "verify/verify.h"

enum { GUARD = 0xA5, MARGIN = 512 /* bytes before and after an image that nobody may touch */ };

/* Bytes on the host with, where there is a GPU, as many on the device. */
typedef struct buffer {
    uint8_t *host;
    size_t size;
    tw_image device; /* one row of bytes */
} buffer;

struct twi_prover {
    tw_context *cpu;
    tw_context *cuda; /* NULL: none */
    buffer src;
    buffer dst;
    uint8_t *expected; /* the reference's dst buffer, guards included */
    size_t expected_size;
    twi_case loaded;
    tw_image src_image; /* on the host, inside src.host */
    tw_image dst_image;
    size_t src_bytes;
    size_t dst_bytes;
};

static tw_status grow(uint8_t **memory, size_t *size, size_t bytes)
{
    if (bytes <= *size)
        return TW_OK;
    free(*memory);
    *size = 0;
    *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!*memory)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu bytes for a test image", bytes);
    *size = bytes;
    return TW_OK;
}

static tw_status grow_buffer(twi_prover *prover, buffer *b, size_t bytes)
{
    TWI_TRY(grow(&b->host, &b->size, bytes));
    if (prover->cuda && b->device.width < (int64_t)bytes) {
        tw_image_free(prover->cuda, &b->device);
        TWI_TRY(tw_image_create(prover->cuda, (int64_t)bytes, 1, 1, TW_U8, TW_MEMORY_DEVICE, &b->device));
    }
    return TW_OK;
}

static tw_status open_context(tw_backend backend, const int *devices, int count, tw_context **context)
{
    tw_context_options options = tw_context_defaults();
    options.backend = backend;
    options.device = devices[0];
    options.devices = devices;
    options.device_count = count;
    return tw_context_create(&options, context);
}

tw_status twi_prover_create(tw_backend backend, const int *devices, int count, twi_prover **result)
{
    static const int first = 0;
    twi_prover *prover = calloc(1, sizeof *prover);
    *result = NULL;
    if (!prover)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: the prover");
    tw_status status = open_context(TW_CPU, &first, 0, &prover->cpu);
    if (status == TW_OK && backend != TW_CPU) {
        status = open_context(TW_CUDA, devices, count, &prover->cuda);
        if (status == TW_ERROR_DEVICE && backend == TW_AUTO)
            status = TW_OK;
    }
    if (status != TW_OK) {
        twi_prover_destroy(prover);
        return status;
    }
    *result = prover;
    return TW_OK;
}

void twi_prover_destroy(twi_prover *prover)
{
    if (!prover)
        return;
    tw_image_free(prover->cuda, &prover->src.device);
    tw_image_free(prover->cuda, &prover->dst.device);
    tw_context_destroy(prover->cuda);
    tw_context_destroy(prover->cpu);
    free(prover->src.host);
    free(prover->dst.host);
    free(prover->expected);
    free(prover);
}

tw_context *twi_prover_context(const twi_prover *prover, tw_backend backend)
{
    return backend == TW_CUDA ? prover->cuda : prover->cpu;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

static double float_value(twi_random *r, twi_pattern pattern, bool single)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
    const uint64_t bits = twi_next(r);
    const double ordinary = (double)(int64_t)bits * 0x1p-63;
    switch (pattern) {
    case TWI_PATTERN_BITS: {
        double any;
        if (single) {
            float narrow;
            memcpy(&narrow, &bits, sizeof narrow);
            return (double)narrow;
        }
        memcpy(&any, &bits, sizeof any);
        return any;
    }
    case TWI_PATTERN_SPECIAL:
        return twi_below(r, 60) == 0 ? special[twi_below(r, 4)] : ordinary;
    case TWI_PATTERN_HIGHEST:
        return single ? 3.4028234663852886e38 : 1e300;
    case TWI_PATTERN_LOWEST:
        return -0.0;
    default:
        return ordinary;
    }
}

static int64_t integer_value(twi_random *r, twi_pattern pattern, twi_range range)
{
    switch (pattern) {
    case TWI_PATTERN_SPECIAL:
        return twi_below(r, 2) == 0 ? range.low : range.high;
    case TWI_PATTERN_HIGHEST:
        return range.high;
    case TWI_PATTERN_LOWEST:
        return range.low;
    default:
        return range.low + (int64_t)twi_below(r, (uint64_t)(range.high - range.low) + 1);
    }
}

/* Floats as they are: twi_store_float() would make all NaN one. */
static void put_value(void *element, tw_type type, twi_random *r, twi_pattern pattern)
{
    if (type == TW_F32)
        *(float *)element = (float)float_value(r, pattern, true);
    else if (type == TW_F64)
        *(double *)element = float_value(r, pattern, false);
    else
        twi_put_integer(element, type, integer_value(r, pattern, twi_range_of(type)));
}

static void put_pixels(const twi_case *which, const tw_image *image)
{
    const int64_t size = (int64_t)tw_type_size(image->type);
    const int64_t elements = image->width * image->channels;
    const int64_t middle = image->height / 2 * elements + image->width / 2 * image->channels;
    twi_random r = twi_random_of(which->seed);
    for (int64_t y = 0; y < image->height; y++) {
        char *row = (char *)image->data + y * image->pitch;
        for (int64_t i = 0; i < elements; i++) {
            const int64_t index = y * elements + i;
            if (which->pattern == TWI_PATTERN_RAMP)
                twi_store_integer(row + i * size, image->type, (37 * index + 11) % 256);
            else if (which->pattern != TWI_PATTERN_IMPULSE)
                put_value(row + i * size, image->type, &r, which->pattern);
            else if (index >= middle && index < middle + image->channels)
                put_value(row + i * size, image->type, &r, TWI_PATTERN_HIGHEST);
            else
                memset(row + i * size, 0, (size_t)size);
        }
    }
}

/* ---- Loading a case ---------------------------------------------------------------------------- */

/* An image of the case inside a buffer: margin, offset, rows with gaps, margin. */
static tw_image place(int64_t width, int64_t height, int32_t channels, tw_type type, int64_t gap, int64_t offset,
                      size_t *bytes)
{
    const int64_t size = (int64_t)tw_type_size(type);
    const tw_image image = {
        .data = (void *)(uintptr_t)(MARGIN + offset * size), /* relative to the buffer, until moved() places it */
        .width = width,
        .height = height,
        .pitch = (width * channels + gap) * size,
        .channels = channels,
        .type = type,
        .memory = TW_HOST,
    };
    *bytes = (size_t)(2 * MARGIN + offset * size + image.pitch * image.height);
    return image;
}

static tw_image moved(tw_image image, const void *base, tw_memory memory)
{
    image.data = (char *)base + (uintptr_t)image.data;
    image.memory = memory;
    return image;
}

static tw_status reference_answer(twi_prover *prover)
{
    tw_problem problem = prover->loaded.problem;
    const tw_plan_options options = {.variant = "reference"};
    tw_plan *plan = NULL;
    problem.memory = TW_HOST;
    problem.in_place = false;
    const tw_image src = moved(prover->src_image, prover->src.host, TW_HOST);
    const tw_image dst = moved(prover->dst_image, prover->expected, TW_HOST);
    TWI_TRY(tw_plan_create(prover->cpu, &problem, &options, &plan));
    const tw_status status = tw_plan_run(plan, &src, &dst);
    tw_plan_destroy(plan);
    return status;
}

tw_status twi_prover_load(twi_prover *prover, const twi_case *which)
{
    const tw_problem *problem = &which->problem;
    int64_t width = 0;
    int64_t height = 0;
    twi_out_shape(problem, &width, &height);
    prover->loaded = *which;
    prover->src_image = place(problem->width, problem->height, problem->channels, problem->type, which->src_gap,
                              which->src_offset, &prover->src_bytes);
    prover->dst_image = place(width, height, problem->channels, problem->out_type, which->dst_gap, which->dst_offset,
                              &prover->dst_bytes);
    if (which->problem.in_place) {
        prover->dst_image = prover->src_image;
        prover->dst_bytes = prover->src_bytes;
    }
    TWI_TRY(grow_buffer(prover, &prover->src, prover->src_bytes));
    TWI_TRY(grow_buffer(prover, &prover->dst, prover->dst_bytes));
    TWI_TRY(grow(&prover->expected, &prover->expected_size, prover->dst_bytes));

    /* random bytes around the source's pixels: whoever reads them gets a wrong sum */
    twi_random r = twi_random_of(~which->seed);
    for (size_t i = 0; i < prover->src_bytes; i++)
        prover->src.host[i] = (uint8_t)(twi_next(&r) >> 56);
    const tw_image src = moved(prover->src_image, prover->src.host, TW_HOST);
    put_pixels(which, &src);
    if (which->problem.in_place)
        memcpy(prover->expected, prover->src.host, prover->src_bytes);
    else
        memset(prover->expected, GUARD, prover->dst_bytes);
    return reference_answer(prover);
}

/* ---- Checking a candidate ---------------------------------------------------------------------- */

/* Solves it again, a third of the problems in two parts: a run must leave nothing behind that changes the next one. */
static tw_status solve_again(const twi_candidate *self, tw_context *context, tw_plan *plan, const tw_image *src,
                             const tw_image *dst)
{
    const int64_t some = src->width + 7 * src->height;
    if (dst->height == 1 || some % 3 != 0)
        return tw_plan_run(plan, src, dst);
    const tw_status status =
        twi_run_parts(context, &plan->problem, &self->options, 1 + some % (dst->height - 1), src, dst);
    return status == TW_ERROR_UNSUPPORTED ? tw_plan_run(plan, src, dst) : status;
}

static tw_status solve_by_plan(const twi_candidate *self, tw_context *context, const tw_problem *problem,
                               const tw_image *src, const tw_image *dst)
{
    tw_plan *plan = NULL;
    TWI_TRY(tw_plan_create(context, problem, &self->options, &plan));
    tw_status status = tw_plan_run(plan, src, dst);
    if (status == TW_OK && !problem->in_place)
        status = solve_again(self, context, plan, src, dst);
    tw_plan_destroy(plan);
    return status;
}

twi_candidate twi_variant_candidate(const twi_variant *variant)
{
    const twi_candidate candidate = {
        .name = variant->name,
        .solve = solve_by_plan,
        .variant = variant,
        .options = {.variant = variant->name},
    };
    return candidate;
}

/* All bytes of a buffer, between the host and the device. */
static tw_status transfer(twi_prover *prover, buffer *b, size_t bytes, bool up)
{
    tw_image host = {b->host, (int64_t)bytes, 1, (int64_t)bytes, 1, TW_U8, TW_HOST};
    tw_image device = b->device;
    device.width = (int64_t)bytes;
    return up ? tw_image_copy(prover->cuda, &host, &device) : tw_image_copy(prover->cuda, &device, &host);
}

static tw_status solve(twi_prover *prover, const twi_candidate *candidate)
{
    const bool on_cuda = candidate->variant && candidate->variant->backend == TW_CUDA;
    tw_context *context = on_cuda ? prover->cuda : prover->cpu;
    tw_problem problem = prover->loaded.problem;
    const int threads = prover->cpu->threads;
    if (on_cuda && !prover->cuda)
        return twi_fail(TW_ERROR_DEVICE, "%s", tw_cuda_reason());
    if (!on_cuda)
        problem.memory = TW_HOST;

    if (problem.in_place)
        memcpy(prover->dst.host, prover->src.host, prover->src_bytes);
    else
        memset(prover->dst.host, GUARD, prover->dst_bytes);
    if (problem.memory == TW_HOST) {
        const tw_image dst = moved(prover->dst_image, prover->dst.host, TW_HOST);
        const tw_image src = problem.in_place ? dst : moved(prover->src_image, prover->src.host, TW_HOST);
        prover->cpu->threads = prover->loaded.threads;
        const tw_status status = candidate->solve(candidate, context, &problem, &src, &dst);
        prover->cpu->threads = threads;
        return status;
    }
    const tw_image dst = moved(prover->dst_image, prover->dst.device.data, TW_DEVICE);
    const tw_image src = problem.in_place ? dst : moved(prover->src_image, prover->src.device.data, TW_DEVICE);
    TWI_TRY(transfer(prover, &prover->src, prover->src_bytes, true));
    TWI_TRY(transfer(prover, &prover->dst, prover->dst_bytes, true));
    TWI_TRY(candidate->solve(candidate, context, &problem, &src, &dst));
    return transfer(prover, &prover->dst, prover->dst_bytes, false);
}

static void element_text(const uint8_t *element, tw_type type, char *text, size_t size)
{
    switch (type) {
    case TW_U8:
        (void)snprintf(text, size, "%d", *element);
        break;
    case TW_U16:
        (void)snprintf(text, size, "%d", *(const uint16_t *)element);
        break;
    case TW_I16:
        (void)snprintf(text, size, "%d", *(const int16_t *)element);
        break;
    case TW_I32:
        (void)snprintf(text, size, "%" PRId32, *(const int32_t *)element);
        break;
    case TW_F32:
        (void)snprintf(text, size, "%.9g", (double)*(const float *)element);
        break;
    case TW_U32:
        (void)snprintf(text, size, "%" PRIu32, *(const uint32_t *)element);
        break;
    case TW_I64:
        (void)snprintf(text, size, "%" PRId64, *(const int64_t *)element);
        break;
    case TW_U64:
        (void)snprintf(text, size, "%" PRIu64, *(const uint64_t *)element);
        break;
    default:
        (void)snprintf(text, size, "%.17g", *(const double *)element);
        break;
    }
}

/* What byte `at` of the destination is: a pixel, or a byte that nobody may touch. */
static void describe_difference(const twi_prover *prover, const char *name, size_t at, char *why, size_t size)
{
    const tw_image *image = &prover->dst_image;
    const int64_t element = (int64_t)tw_type_size(image->type);
    const int64_t from_first = (int64_t)at - (int64_t)(uintptr_t)image->data;
    const int64_t y = from_first / image->pitch;
    const int64_t in_row = from_first % image->pitch;
    char problem[200];
    char expected[40];
    char got[40];
    (void)tw_problem_text(&prover->loaded.problem, problem, sizeof problem);
    if (from_first < 0 || y >= image->height || in_row >= image->width * image->channels * element) {
        (void)snprintf(why, size,
                       "%s wrote outside the image: byte %" PRId64 " from its first pixel, pitch %" PRId64 " (%s)",
                       name, from_first, image->pitch, problem);
        return;
    }
    const int64_t index = in_row / element;
    /* of a record, the member: all of them have 8 bytes */
    const size_t start = at - (size_t)(in_row % (image->type == TW_STATS ? (int64_t)sizeof(double) : element));
    element_text(prover->expected + start, image->type, expected, sizeof expected);
    element_text(prover->dst.host + start, image->type, got, sizeof got);
    (void)snprintf(why, size,
                   "%s mismatch at (%" PRId64 ", %" PRId64 "): reference=%s, got=%s (channel %" PRId64 ", %s)", name,
                   index / image->channels, y, expected, got, index % image->channels, problem);
}

bool twi_prover_check(twi_prover *prover, const twi_candidate *candidate, char *why, size_t size)
{
    if (solve(prover, candidate) != TW_OK) {
        char problem[200];
        (void)tw_problem_text(&prover->loaded.problem, problem, sizeof problem);
        (void)snprintf(why, size, "%s failed: %s (%s)", candidate->name, tw_error_message(), problem);
        return false;
    }
    if (memcmp(prover->expected, prover->dst.host, prover->dst_bytes) == 0)
        return true;
    size_t at = 0;
    while (prover->expected[at] == prover->dst.host[at])
        at++;
    describe_difference(prover, candidate->name, at, why, size);
    return false;
}
