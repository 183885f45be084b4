/*
 * The runs that bench/explain.py compares with a profiler's counters: for each case and each described variant, what
 * is predicted, and, asked to, one launch of the kernel on such images.
 *
 * usage: explain_probe        prints a line of JSON a run, in order
 *        explain_probe run    launches the kernels, in the same order
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/explain.h"

/* Sizes are ragged: blocks at all edges, of other counts than those between, are part of the prediction. */
typedef struct probe {
    tw_op op;
    tw_type type;
    tw_type out_type;
    int32_t channels;
    int64_t width;
    int64_t height;
    int32_t window;
    tw_border_mode border;
    bool cross; /* of min and max: a footprint */
    int32_t block_width;
    int32_t block_height;
} probe;

static const probe probes[] = {
    {TW_OP_BOX, TW_U8, TW_U8, 1, 1003, 769, 3, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_BOX, TW_U8, TW_U8, 1, 1024, 768, 3, TW_BORDER_MIRROR, false, 32, 8},
    {TW_OP_BOX, TW_F32, TW_F32, 1, 1003, 769, 3, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_BOX, TW_F64, TW_F64, 1, 517, 301, 3, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_BOX, TW_U8, TW_U8, 3, 517, 301, 5, TW_BORDER_MIRROR, false, 0, 0},
    {TW_OP_CORRELATE, TW_U8, TW_U8, 1, 1003, 769, 3, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_CORRELATE, TW_F32, TW_F32, 1, 1003, 769, 5, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_CORRELATE, TW_F64, TW_F64, 1, 517, 301, 7, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_MIN, TW_U8, TW_U8, 1, 1003, 769, 3, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_MAX, TW_F32, TW_F32, 1, 517, 301, 5, TW_BORDER_REPLICATE, true, 0, 0},
    {TW_OP_RANK, TW_U8, TW_U8, 1, 517, 301, 3, TW_BORDER_REPLICATE, false, 0, 0},
    {TW_OP_RANK, TW_F32, TW_F32, 1, 517, 301, 5, TW_BORDER_MIRROR, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_U8, TW_U8, 1, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_F32, TW_F32, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_F32, TW_F32, 1, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_F64, TW_F64, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_U8, TW_U8, 3, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_TRANSPOSE, TW_F32, TW_F32, 4, 517, 301, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_LUT, TW_U8, TW_U8, 1, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_LUT, TW_U8, TW_F32, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_LUT, TW_U8, TW_F64, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_REDUCE, TW_U8, TW_STATS, 1, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_REDUCE, TW_F32, TW_STATS, 1, 8192, 133, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_REDUCE, TW_F32, TW_STATS, 1, 9001, 133, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_LUT, TW_U16, TW_U16, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_HISTOGRAM, TW_U8, TW_U64, 1, 1003, 769, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_HISTOGRAM, TW_U8, TW_U64, 3, 517, 301, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_HISTOGRAM, TW_U16, TW_U64, 1, 1024, 768, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_SCAN, TW_U8, TW_U32, 1, 3001, 133, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_SCAN, TW_I32, TW_I64, 1, 4096, 131, 1, TW_BORDER_ZERO, false, 0, 0},
    {TW_OP_SCAN, TW_U16, TW_F64, 3, 517, 101, 1, TW_BORDER_ZERO, false, 0, 0},
};

/* What the problems point to. */
static int32_t integers[TW_MAX_MASK];
static double floats[TW_MAX_MASK];
static uint8_t footprint[TW_MAX_MASK];
static uint64_t table[65536];

static void check(tw_status status)
{
    if (status == TW_OK)
        return;
    (void)fprintf(stderr, "explain_probe: %s\n", tw_error_message());
    exit(1);
}

/* ---- Problems ---------------------------------------------------------------------------------- */

static void make_problem(const probe *p, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const tw_window window = tw_window_centred(p->window, p->window);
    const tw_border border = {p->border, 0};
    const tw_box_params box = {window, border, TW_ROUND_FLOOR};
    const tw_values mask = {p->type < TW_F32 ? integers : NULL, p->type < TW_F32 ? NULL : floats};
    const tw_correlate_params correlate = {window, mask, 1, 0, border, TW_ROUND_FLOOR};
    const tw_order_params order = {window, p->cross ? footprint : NULL, border};
    const tw_reduce_params reduce = {.axis = TW_AXIS_ALL, .figures = TW_FIGURE_SUM};
    const tw_lut_params lut = {.table = table, .channels = 1};
    const tw_scan_params scan = {.axis = TW_AXIS_X};
    switch (p->op) {
    case TW_OP_BOX:
        check(tw_box_problem(src, dst, &box, problem));
        break;
    case TW_OP_CORRELATE:
        check(tw_correlate_problem(src, dst, &correlate, problem));
        break;
    case TW_OP_TRANSPOSE:
        check(tw_transpose_problem(src, dst, TW_TRANSPOSE, problem));
        break;
    case TW_OP_REDUCE:
        check(tw_reduce_problem(src, dst, &reduce, problem));
        break;
    case TW_OP_LUT:
        check(tw_lut_problem(src, dst, &lut, problem));
        break;
    case TW_OP_HISTOGRAM:
        check(tw_histogram_problem(src, dst, problem));
        break;
    case TW_OP_SCAN:
        check(tw_scan_problem(src, dst, &scan, problem));
        break;
    default:
        if (p->cross)
            check(tw_footprint(TW_CROSS, p->window, p->window, footprint));
        check(tw_order_problem(p->op, src, dst, &order, tw_order_count(&order) / 2, problem));
        break;
    }
}

/* Descriptors of images that lie nowhere. */
static void describe(const probe *p, tw_image *src, tw_image *dst)
{
    enum { SOMEWHERE = 256, ELSEWHERE = 1 << 30, PITCH = 1 << 20 };
    const bool turned = p->op == TW_OP_TRANSPOSE;
    *src = (tw_image){(void *)(uintptr_t)SOMEWHERE, p->width, p->height, PITCH, p->channels, p->type, TW_DEVICE};
    *dst = (tw_image){(void *)(uintptr_t)ELSEWHERE,
                      turned ? p->height : p->width,
                      turned ? p->width : p->height,
                      PITCH,
                      p->channels,
                      p->out_type,
                      TW_DEVICE};
    if (p->op == TW_OP_REDUCE || p->op == TW_OP_HISTOGRAM)
        dst->width = dst->height = 1;
    if (p->op == TW_OP_HISTOGRAM)
        dst->width = p->type == TW_U8 ? 256 : 65536;
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static void print_run(const twi_explanation *e, const char *variant)
{
    static const char *const spaces[TWI_SPACE_COUNT] = {"global", "texture", "shared", "constant"};
    char text[320];
    (void)tw_problem_text(e->kernel.problem, text, sizeof text);
    printf("{\"variant\": \"%s\", \"problem\": \"%s\", \"block\": \"%dx%d\", \"pixels\": \"%s\", \"accesses\": [",
           variant, text, (int)e->kernel.block_width, (int)e->kernel.block_height,
           !e->kernel.by_pixels ? "any"
           : e->kernel.flat     ? "flat"
                                : "different");
    for (size_t i = 0; i < e->count; i++) {
        const twi_explained *access = &e->accesses[i];
        printf("%s{\"what\": \"%s\", \"space\": \"%s\", \"direction\": \"%s\", \"requests\": %" PRId64
               ", \"sectors\": %" PRId64 ", \"wavefronts\": %" PRId64 ", \"conflicts\": %" PRId64 "}",
               i > 0 ? ", " : "", access->what, spaces[access->space], twi_direction(access), access->image.requests,
               access->image.sectors, access->image.wavefronts, access->image.conflicts);
    }
    printf("]}\n");
}

/* Pixels as twi_explained_pixel() tells them, of u8 and u16. */
static void fill(const twi_kernel *kernel, const tw_image *host)
{
    const int bits = 8 * (int)tw_type_size(host->type);
    for (int64_t y = 0; y < host->height; y++) {
        char *row = (char *)host->data + y * host->pitch;
        for (int64_t x = 0; x < host->width * host->channels; x++) {
            const int64_t value = twi_explained_pixel(kernel, x, bits);
            if (host->type == TW_U8)
                ((uint8_t *)row)[x] = (uint8_t)value;
            else
                ((uint16_t *)row)[x] = (uint16_t)value;
        }
    }
}

static void launch(tw_context *context, const probe *p, const twi_explanation *e, const char *variant)
{
    const tw_plan_options options = {
        .variant = variant, .block_width = p->block_width, .block_height = p->block_height};
    tw_problem problem;
    tw_image sketch;
    tw_image src;
    tw_image dst;
    tw_image host;
    tw_plan *plan;
    describe(p, &sketch, &dst);
    check(tw_image_create(context, p->width, p->height, p->channels, p->type, TW_MEMORY_DEVICE, &src));
    check(tw_image_create(context, dst.width, dst.height, p->channels, p->out_type, TW_MEMORY_DEVICE, &dst));
    check(tw_image_create(context, p->width, p->height, p->channels, p->type, TW_MEMORY_HOST, &host));
    memset(host.data, 0, (size_t)(host.pitch * host.height));
    if (e->kernel.by_pixels)
        fill(&e->kernel, &host);
    check(tw_image_copy(context, &host, &src));
    make_problem(p, &src, &dst, &problem);
    check(tw_plan_create(context, &problem, &options, &plan));
    check(tw_plan_run(plan, &src, &dst));
    tw_plan_destroy(plan);
    tw_image_free(context, &host);
    tw_image_free(context, &dst);
    tw_image_free(context, &src);
}

/* The variant once, or once for each kind of pixels if its addresses depend on them. */
static void run(tw_context *context, const probe *p, size_t index)
{
    const char *variant = twi_variants[index].name;
    tw_image src;
    tw_image dst;
    tw_problem problem;
    twi_explanation e;
    describe(p, &src, &dst);
    make_problem(p, &src, &dst, &problem);
    for (int flat = 0; flat < 2; flat++) {
        if (twi_explain(index, &problem, p->block_width, p->block_height, flat == 1, &e) != TW_OK)
            return;
        if (flat && !e.kernel.by_pixels)
            return;
        if (context)
            launch(context, p, &e, variant);
        else
            print_run(&e, variant);
    }
}

int main(int argc, char **argv)
{
    const bool launches = argc == 2 && strcmp(argv[1], "run") == 0;
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    if (argc > 1 && !launches) {
        (void)fprintf(stderr, "usage: explain_probe [run]\n");
        return 2;
    }
    options.backend = TW_CUDA;
    if (launches)
        check(tw_context_create(&options, &context));
    for (int i = 0; i < TW_MAX_MASK; i++) {
        integers[i] = i % 7 - 3;
        floats[i] = 0.5 * (i % 7);
    }
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++)
        for (size_t index = 0; index < twi_variant_total; index++)
            if (twi_variants[index].op == probes[i].op && twi_is_explained(index))
                run(context, &probes[i], index);
    tw_context_destroy(context);
    return 0;
}
