/* The mean's arguments from arbitrary bytes. Wild descriptors must be refused or be sound; small sound problems
   must give the reference's bytes by every variant, with nothing touched around the pixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/verify.h"

/* The numbers that an input is made of: 0 where it has run out. */
enum { WILD = 23, TAME = 19 };

/* Window positions of a problem: the reference visits each, and a fuzzer needs many runs a second. */
static const int64_t most_positions = 100000;

static void read_numbers(const uint8_t *data, size_t size, size_t width, int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t there = width < size ? width : size;
        numbers[i] = 0;
        memcpy(&numbers[i], data, there);
        data += there;
        size -= there;
    }
}

static tw_image wild_image(const int64_t *n)
{
    const tw_image image = {
        .data = (void *)(uintptr_t)n[0],
        .width = n[1],
        .height = n[2],
        .pitch = n[3],
        .channels = (int32_t)n[4],
        .type = (tw_type)n[5],
        .memory = (tw_memory)n[6],
    };
    return image;
}

/* Descriptors of any bits: nothing is allocated or read, so accepting one must mean that it is sound. */
static void try_wild_descriptors(const uint8_t *data, size_t size)
{
    int64_t n[WILD];
    tw_image view;
    tw_problem problem;
    char text[64];
    read_numbers(data, size, 8, n, WILD);
    const tw_image src = wild_image(n);
    const tw_image dst = wild_image(n + 7);
    tw_box_params params = {
        .window = {(int32_t)n[14], (int32_t)(n[14] >> 32), (int32_t)n[15], (int32_t)(n[15] >> 32)},
        .border = {.mode = (tw_border_mode)n[16]},
        .rounding = (tw_rounding)n[17],
    };
    memcpy(&params.border.value, &n[18], sizeof params.border.value);
    if (tw_image_check(&src) == TW_OK && (src.width < 1 || src.height < 1 || !src.data || src.pitch < src.width))
        abort();
    if (tw_image_view(&src, n[19], n[20], n[21], n[22], &view) == TW_OK && tw_image_check(&view) != TW_OK)
        abort();
    if (tw_box_problem(&src, &dst, &params, &problem) == TW_OK) {
        const tw_window *window = &problem.window;
        if (window->anchor_x < 0 || window->anchor_x >= window->width || src.width != dst.width)
            abort();
        (void)tw_problem_text(&problem, text, sizeof text);
    }
}

static void try_small_problem(const uint8_t *data, size_t size, twi_prover *prover)
{
    int64_t n[TAME];
    char why[1024];
    read_numbers(data, size, 2, n, TAME);
    twi_case c = {
        .problem = {.op = TW_OP_BOX,
                    .type = (tw_type)(n[0] % TW_TYPE_COUNT),
                    .out_type = (tw_type)(n[0] % TW_TYPE_COUNT),
                    .channels = 1 + (int32_t)(n[1] % 4),
                    .width = 1 + n[2] % 150,
                    .height = 1 + n[3] % 40,
                    .window = tw_window_centred(1 + (int32_t)(n[4] % 40), 1 + (int32_t)(n[5] % 40)),
                    .border = {(tw_border_mode)(n[6] % TW_BORDER_IGNORE), (double)(n[7] % 128)},
                    .rounding = (tw_rounding)(n[8] % TW_ROUNDING_COUNT),
                    .memory = TW_HOST,
                    .in_place = n[9] % 2 == 1},
        .src_gap = n[10] % 20,
        .dst_gap = n[11] % 20,
        .src_offset = n[12] % 20,
        .dst_offset = n[13] % 20,
        .pattern = (twi_pattern)(n[14] % TWI_PATTERN_COUNT),
        .seed = (uint64_t)n[15],
        .threads = 1 + (int)(n[16] % 3),
    };
    c.problem.window.anchor_x = (int32_t)(n[17] % c.problem.window.width);
    c.problem.window.anchor_y = (int32_t)(n[18] % c.problem.window.height);
    if (c.problem.width * c.problem.height * c.problem.channels * c.problem.window.width * c.problem.window.height >
        most_positions)
        return;
    if (twi_prover_load(prover, &c) != TW_OK)
        abort();
    for (size_t i = 0; i < twi_variant_total; i++) {
        const twi_candidate candidate = twi_variant_candidate(&twi_variants[i]);
        if (twi_variants[i].backend != TW_CPU ||
            tw_variant_refuses(i, twi_prover_context(prover, TW_CPU), &c.problem) ||
            twi_prover_check(prover, &candidate, why, sizeof why))
            continue;
        (void)fprintf(stderr, "%s\n", why);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static twi_prover *prover;
    if (!prover && twi_prover_create(TW_CPU, &(const int){0}, 0, &prover) != TW_OK)
        abort();
    if (size > 0 && data[0] % 2 == 0)
        try_wild_descriptors(data + 1, size - 1);
    else if (size > 0)
        try_small_problem(data + 1, size - 1, prover);
    return 0;
}
