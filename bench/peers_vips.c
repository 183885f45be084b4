/*
 * A filter by tilewise and by libvips, beside memcpy, on the same image in the same run, taken in turn.
 *     peers_vips [WIDTHxHEIGHT [SIDE [THREADS [FILTER]]]]        default 4096x4096 3 2 max
 * FILTER: correlate is vips_conv with integers that are no product of a row and a column; gaussian is vips_convsep with
 * 1 4 6 4 1 for 5 taps (ours: sigma 1.1), else vips_gaussblur of sigma (SIDE - 1) / 8; max and median are vips_rank.
 * libvips reads and writes the same memory, without its cache of operations. Prints how many pixels differ, and by how
 * much: the Gaussians have other weights, and libvips 8.14 convolves with weights of few bits unless VIPS_NOVECTOR is
 * set in the environment; then its vips_conv gives our bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vips/vips.h>

#include "tilewise.h"

enum { MOST_ROUNDS = 15, MOST_SIDE = 101 };

typedef struct work {
    int side;
    int sum; /* of the mask */
    int32_t mask[MOST_SIDE * MOST_SIDE];
} work;

static void must(bool good, const char *message)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void must_tw(tw_status status)
{
    must(status == TW_OK, tw_error_message());
}

static void must_vips(int status)
{
    must(status == 0, vips_error_buffer());
}

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* ---- The filters: our problem, and how libvips does it --------------------------------------------------------- */

static VipsImage *matrix(int width, int height, const double *values, double scale)
{
    VipsImage *image = vips_image_new_matrix_from_array(width, height, values, width * height);
    must(image != NULL, vips_error_buffer());
    vips_image_set_double(image, "scale", scale);
    return image;
}

/* Small integers of both signs whose sum is the divisor. */
static void correlate(work *w, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const int count = w->side * w->side;
    w->sum = 0;
    for (int i = 0; i < count; i++) {
        w->mask[i] = i * 7 % 11 - 4 + (i == count / 2 ? 40 : 0);
        w->sum += w->mask[i];
    }
    tw_correlate_params params = {0};
    params.window = tw_window_centred(w->side, w->side);
    params.border.mode = TW_BORDER_REPLICATE;
    params.rounding = TW_ROUND_NEAREST;
    params.divisor = w->sum;
    params.mask.integers = w->mask;
    must_tw(tw_correlate_problem(src, dst, &params, problem));
}

static void vips_correlate(const work *w, VipsImage *in, VipsImage **out)
{
    static double values[MOST_SIDE * MOST_SIDE];
    for (int i = 0; i < w->side * w->side; i++)
        values[i] = w->mask[i];
    VipsImage *mask = matrix(w->side, w->side, values, w->sum);
    must_vips(vips_conv(in, out, mask, "precision", VIPS_PRECISION_INTEGER, NULL));
    g_object_unref(mask);
}

static double sigma_of(const work *w)
{
    return w->side == 5 ? 1.1 : (w->side - 1) / 8.0;
}

static void gaussian(work *w, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    tw_gaussian_params params = tw_gaussian_defaults();
    params.width = params.height = w->side;
    params.sigma_x = params.sigma_y = sigma_of(w);
    must_tw(tw_gaussian_problem(src, dst, &params, problem));
}

static void vips_gaussian(const work *w, VipsImage *in, VipsImage **out)
{
    static const double binomial[] = {1, 4, 6, 4, 1};
    if (w->side != 5) {
        must_vips(vips_gaussblur(in, out, sigma_of(w), "precision", VIPS_PRECISION_INTEGER, NULL));
        return;
    }
    VipsImage *mask = matrix(5, 1, binomial, 16);
    must_vips(vips_convsep(in, out, mask, "precision", VIPS_PRECISION_INTEGER, NULL));
    g_object_unref(mask);
}

static void order(tw_op op, const work *w, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    tw_order_params params = tw_order_defaults();
    params.window = tw_window_centred(w->side, w->side);
    params.border.mode = op == TW_OP_MAX ? TW_BORDER_IGNORE : TW_BORDER_REPLICATE;
    must_tw(tw_order_problem(op, src, dst, &params, op == TW_OP_MAX ? 0 : tw_order_count(&params) / 2, problem));
}

static void largest(work *w, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    order(TW_OP_MAX, w, src, dst, problem);
}

static void middle(work *w, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    order(TW_OP_RANK, w, src, dst, problem);
}

static void vips_largest(const work *w, VipsImage *in, VipsImage **out)
{
    must_vips(vips_rank(in, out, w->side, w->side, w->side * w->side - 1, NULL));
}

static void vips_middle(const work *w, VipsImage *in, VipsImage **out)
{
    must_vips(vips_rank(in, out, w->side, w->side, w->side * w->side / 2, NULL));
}

static const struct filter {
    const char *name;
    void (*make)(work *w, const tw_image *src, const tw_image *dst, tw_problem *problem);
    void (*by_vips)(const work *w, VipsImage *in, VipsImage **out);
} filters[] = {
    {"correlate", correlate, vips_correlate},
    {"gaussian", gaussian, vips_gaussian},
    {"max", largest, vips_largest},
    {"median", middle, vips_middle},
};

/* ---- The run ------------------------------------------------------------------------------------------------------
 */

static VipsImage *as_vips(const tw_image *image)
{
    VipsImage *view = vips_image_new_from_memory(image->data, (size_t)(image->pitch * image->height), (int)image->width,
                                                 (int)image->height, 1, VIPS_FORMAT_UCHAR);
    must(view != NULL, vips_error_buffer());
    return view;
}

static void run_vips(const struct filter *filter, const work *w, const tw_image *src, const tw_image *dst)
{
    VipsImage *in = as_vips(src);
    VipsImage *to = as_vips(dst);
    VipsImage *out = NULL;
    filter->by_vips(w, in, &out);
    must_vips(vips_image_write(out, to));
    g_object_unref(out);
    g_object_unref(to);
    g_object_unref(in);
}

int main(int argc, char **argv)
{
    static work w;
    long long width = 4096;
    long long height = 4096;
    const char *name = argc > 4 ? argv[4] : "max";
    const struct filter *filter = NULL;
    w.side = argc > 2 ? atoi(argv[2]) : 3;
    const int threads = argc > 3 ? atoi(argv[3]) : 2;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            filter = &filters[i];
    must(filter != NULL, "FILTER is correlate, gaussian, max or median");
    must(argc <= 1 || sscanf(argv[1], "%lldx%lld", &width, &height) == 2, "give the size as WIDTHxHEIGHT");
    must(w.side >= 3 && w.side % 2 == 1 && w.side <= MOST_SIDE && threads >= 1,
         "SIDE is odd, 3 to 101; THREADS from 1");
    must(width % 256 == 0, "WIDTH is a multiple of 256: libvips takes rows without gaps"); /* the pitch of our rows */
    must_vips(VIPS_INIT(argv[0]));
    vips_cache_set_max(0);
    vips_concurrency_set(threads);

    tw_context_options options = tw_context_defaults();
    options.backend = TW_CPU;
    options.threads = threads;
    tw_context *context = NULL;
    must_tw(tw_context_create(&options, &context));
    tw_image src, dst, by_vips;
    tw_image *const images[] = {&src, &dst, &by_vips};
    uint32_t random = 1;
    for (int i = 0; i < 3; i++) {
        must_tw(tw_image_create(context, width, height, 1, TW_U8, TW_MEMORY_HOST, images[i]));
        for (int64_t k = 0; k < images[i]->pitch * height; k++) { /* touched: no page faults inside a measurement */
            random = random * 1664525u + 1013904223u;
            ((uint8_t *)images[i]->data)[k] = (uint8_t)(random >> 24);
        }
    }
    tw_problem problem;
    tw_plan *plan = NULL;
    filter->make(&w, &src, &dst, &problem);
    must_tw(tw_plan_create(context, &problem, NULL, &plan));

    double copy_times[MOST_ROUNDS], tilewise_times[MOST_ROUNDS], vips_times[MOST_ROUNDS];
    int rounds = MOST_ROUNDS;
    for (int i = 0; i < rounds; i++) {
        const double start = milliseconds();
        must_tw(tw_image_copy(context, &src, &dst));
        const double copied = milliseconds();
        must_tw(tw_plan_run(plan, &src, &dst));
        const double done = milliseconds();
        run_vips(filter, &w, &src, &by_vips);
        copy_times[i] = copied - start;
        tilewise_times[i] = done - copied;
        vips_times[i] = milliseconds() - done;
        if (vips_times[i] > 1000) /* where libvips takes seconds its spread is small beside them */
            rounds = 3;
    }
    long long differ = 0;
    int most = 0;
    for (int64_t k = 0; k < width * height; k++) {
        const int by = abs(((const uint8_t *)dst.data)[k] - ((const uint8_t *)by_vips.data)[k]);
        differ += by != 0;
        most = by > most ? by : most;
    }
    const double copied = median(copy_times, rounds);
    const double ours = median(tilewise_times, rounds);
    const double theirs = median(vips_times, rounds);
    printf("%s %lldx%lld s%dx%d, %d threads, median of %d, libvips %s\n", name, width, height, w.side, w.side, threads,
           rounds, vips_version_string());
    printf("memcpy    %9.3f ms\n", copied);
    printf("tilewise  %9.3f ms  %.3f of memcpy's speed (variant %s)\n", ours, copied / ours, tw_plan_variant(plan));
    printf("libvips   %9.3f ms  %.3f of memcpy's speed\n", theirs, copied / theirs);
    printf("tilewise is %.2f times as fast; %lld pixels differ, by %d at most\n", theirs / ours, differ, most);
    tw_plan_destroy(plan);
    for (int i = 0; i < 3; i++)
        tw_image_free(context, images[i]);
    tw_context_destroy(context);
    vips_shutdown();
    return 0;
}
