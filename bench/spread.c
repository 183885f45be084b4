/*
 * Several GPUs of one host beside one of them: runs on images that stay there, the halo's copy alone, figures of such
 * images, round trips of a large image of the host, filtered and as a table of sums; and one hash per problem for one
 * GPU, all of them, and the CPU.
 *
 *     spread SIDE RUNS [DEVICES]      u8 images of SIDE x SIDE; DEVICES: as many contexts, on the GPUs in turn
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tilewise.h"

enum { ROUNDS = 7, MOST = 16 };

static void check(tw_status status)
{
    if (status == TW_OK)
        return;
    (void)fprintf(stderr, "%s\n", tw_error_message());
    exit(1);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double print_times(const char *what, int devices, double *ms)
{
    qsort(ms, ROUNDS, sizeof *ms, ascending);
    printf("%-24s %d: %9.4f ms (%.4f to %.4f)\n", what, devices, ms[ROUNDS / 2], ms[0], ms[ROUNDS - 1]);
    return ms[ROUNDS / 2];
}

static uint64_t hash_of(const tw_image *image)
{
    const int64_t bytes = image->width * (int64_t)tw_type_size(image->type);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int64_t y = 0; y < image->height; y++) {
        const unsigned char *row = (const unsigned char *)image->data + y * image->pitch;
        for (int64_t x = 0; x < bytes; x++)
            hash = (hash ^ row[x]) * UINT64_C(1099511628211);
    }
    return hash;
}

static tw_context *open_devices(tw_backend backend, int count, int gpus)
{
    int numbers[MOST];
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    for (int i = 0; i < count; i++)
        numbers[i] = gpus > 0 ? i % gpus : 0;
    options.backend = backend;
    options.devices = numbers;
    options.device_count = count;
    check(tw_context_create(&options, &context));
    return context;
}

/* Milliseconds a run of a chain of `runs` on images that stay on the devices. */
static double time_chain(tw_context *context, int devices, const tw_problem *problem, const tw_image *src, int runs,
                         const char *what, const tw_image *dst)
{
    tw_spread *a = NULL;
    tw_spread *b = NULL;
    tw_spread_plan *plan = NULL;
    double ms[ROUNDS];
    double queued = 0;
    const int64_t reach = problem->window.height;
    check(tw_spread_create(context, src->width, src->height, 1, TW_U8, reach, &a));
    check(tw_spread_create(context, src->width, src->height, 1, TW_U8, reach, &b));
    check(tw_spread_plan_create(context, problem, NULL, &plan));
    check(tw_spread_put(a, src));
    check(tw_spread_run(plan, a, b));
    check(tw_spread_get(b, dst));
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        for (int i = 0; i < runs; i++)
            check(tw_spread_run(plan, i % 2 ? b : a, i % 2 ? a : b));
        queued = (now() - start) / runs;
        check(tw_spread_wait(a));
        ms[round] = (now() - start) / runs;
    }
    tw_spread_plan_destroy(plan);
    tw_spread_destroy(a);
    tw_spread_destroy(b);
    const double median = print_times(what, devices, ms);
    printf("  of which queueing by the host: %.4f ms\n", queued);
    return median;
}

/* A window's rows from one GPU to the next, alone. */
static void time_halo(int gpus, int64_t width, int64_t rows)
{
    tw_context *first = open_devices(TW_CUDA, 1, 1);
    tw_context_options options = tw_context_defaults();
    tw_context *second = NULL;
    tw_image from;
    tw_image to;
    double ms[ROUNDS];
    char what[40];
    options.backend = TW_CUDA;
    options.device = gpus > 1;
    check(tw_context_create(&options, &second));
    check(tw_image_create(first, width, rows, 1, TW_U8, TW_MEMORY_DEVICE, &to));
    check(tw_image_create(second, width, rows, 1, TW_U8, TW_MEMORY_DEVICE, &from));
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        for (int i = 0; i < 100; i++)
            check(tw_image_copy(first, &from, &to));
        ms[round] = (now() - start) / 100;
    }
    (void)snprintf(what, sizeof what, "halo of %" PRId64 " rows, waited", rows);
    (void)print_times(what, gpus > 1 ? 2 : 1, ms);
    tw_image_free(first, &to);
    tw_image_free(second, &from);
    tw_context_destroy(first);
    tw_context_destroy(second);
}

static double time_round_trip(tw_context *context, int devices, const tw_problem *problem, const tw_image *src,
                              const tw_image *dst, const char *what)
{
    tw_plan *plan = NULL;
    double ms[ROUNDS];
    check(tw_plan_create(context, problem, NULL, &plan));
    check(tw_plan_run(plan, src, dst));
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        check(tw_plan_run(plan, src, dst));
        ms[round] = now() - start;
    }
    tw_plan_destroy(plan);
    return print_times(what, devices, ms);
}

/* One thread's copy does not fill the host's memory; this is what all of them reach. */
static void time_host(tw_context *cpu, const tw_image *src, const tw_image *dst)
{
    double ms[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        check(tw_image_copy(cpu, src, dst));
        ms[round] = now() - start;
    }
    const double median = print_times("copy on the host", 0, ms);
    printf("host: %.1f GB/s read and written\n", 2e-6 * (double)src->width * (double)src->height / median);
}

static void compare(const tw_image *src, const tw_image *dst, tw_context *cpu, tw_context *const *contexts,
                    const int *counts, int side_of_window, int runs)
{
    tw_order_params max = tw_order_defaults();
    tw_box_params box = tw_box_defaults();
    tw_problem problem;
    double first[2] = {0, 0};
    char what[2][40];
    max.window = box.window = tw_window_centred(side_of_window, side_of_window);
    box.border.mode = TW_BORDER_WRAP;
    if (side_of_window == 3)
        check(tw_box_problem(src, dst, &box, &problem));
    else
        check(tw_order_problem(TW_OP_MAX, src, dst, &max, 0, &problem));
    (void)snprintf(what[0], sizeof what[0], "%s %dx%d, there", tw_op_name(problem.op), side_of_window, side_of_window);
    (void)snprintf(what[1], sizeof what[1], "%s %dx%d, round trip", tw_op_name(problem.op), side_of_window,
                   side_of_window);
    for (int i = 0; contexts[i]; i++) {
        const double chain = time_chain(contexts[i], counts[i], &problem, src, runs, what[0], dst);
        const uint64_t there = hash_of(dst);
        memset(dst->data, 0, (size_t)(dst->pitch * dst->height));
        const double trip = time_round_trip(contexts[i], counts[i], &problem, src, dst, what[1]);
        if (i == 0) {
            first[0] = chain;
            first[1] = trip;
        }
        printf("  %.3f and %.3f times one; hashes %016" PRIx64 " %016" PRIx64 "\n", first[0] / chain, first[1] / trip,
               there, hash_of(dst));
        (void)fflush(stdout);
    }
    memset(dst->data, 0, (size_t)(dst->pitch * dst->height));
    (void)time_round_trip(cpu, 0, &problem, src, dst, "CPU");
    printf("  hash %016" PRIx64 "\n", hash_of(dst));
}

/* All figures of an image that stays there; the second look is for the variance. */
static void time_figures(tw_context *context, int devices, const tw_image *src)
{
    tw_stats found;
    const tw_image dst = {&found, 1, 1, sizeof found, 1, TW_STATS, TW_HOST};
    tw_spread *spread = NULL;
    tw_spread_plan *plan = NULL;
    tw_problem problem;
    double ms[ROUNDS];
    check(tw_reduce_problem(src, &dst, NULL, &problem));
    check(tw_spread_create(context, src->width, src->height, 1, TW_U8, 0, &spread));
    check(tw_spread_plan_create(context, &problem, NULL, &plan));
    check(tw_spread_put(spread, src));
    for (int round = -1; round < ROUNDS; round++) {
        const double start = now();
        check(tw_spread_reduce(plan, spread, &dst));
        if (round >= 0)
            ms[round] = now() - start;
    }
    tw_spread_plan_destroy(plan);
    tw_spread_destroy(spread);
    (void)print_times("figures, there", devices, ms);
    printf("  hash %016" PRIx64 "\n", hash_of(&dst));
}

static void compare_sums(const tw_image *src, tw_context *cpu, tw_context *const *contexts, const int *counts)
{
    tw_image table;
    tw_problem problem;
    check(tw_image_create(contexts[0], src->width + 1, src->height + 1, 1, tw_integral_type(src), TW_MEMORY_PINNED,
                          &table));
    check(tw_integral_problem(src, &table, &problem));
    for (int i = 0; contexts[i]; i++) {
        time_figures(contexts[i], counts[i], src);
        (void)time_round_trip(contexts[i], counts[i], &problem, src, &table, "integral, round trip");
        printf("  hash %016" PRIx64 "\n", hash_of(&table));
        (void)fflush(stdout);
    }
    memset(table.data, 0, (size_t)(table.pitch * table.height));
    (void)time_round_trip(cpu, 0, &problem, src, &table, "CPU");
    printf("  hash %016" PRIx64 "\n", hash_of(&table));
    tw_image_free(contexts[0], &table);
}

int main(int argc, char **argv)
{
    const int64_t side = argc > 1 ? atoll(argv[1]) : 32768;
    const int runs = argc > 2 ? atoi(argv[2]) : 100;
    int gpus = 0;
    check(tw_device_count(TW_CUDA, &gpus));
    const int most = argc > 3 ? atoi(argv[3]) : gpus;
    tw_context *contexts[3] = {NULL};
    int counts[2] = {1, most};
    tw_image src;
    tw_image dst;
    if (side < 256 || runs < 1 || gpus < 1 || most < 1 || most > MOST) {
        (void)fprintf(stderr, "usage: spread SIDE RUNS [DEVICES], and a GPU\n");
        return 2;
    }
    contexts[0] = open_devices(TW_CUDA, 1, gpus);
    if (most > 1)
        contexts[1] = open_devices(TW_CUDA, most, gpus);
    tw_context *cpu = open_devices(TW_CPU, 1, 0);
    check(tw_image_create(contexts[0], side, side, 1, TW_U8, TW_MEMORY_PINNED, &src));
    check(tw_image_create(contexts[0], side, side, 1, TW_U8, TW_MEMORY_PINNED, &dst));
    uint32_t state = 1;
    for (int64_t i = 0; i < src.pitch * side; i++)
        ((unsigned char *)src.data)[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    memset(dst.data, 0, (size_t)(dst.pitch * side));
    time_host(cpu, &src, &dst);
    time_halo(gpus, side, 2);
    time_halo(gpus, side, 30);
    compare(&src, &dst, cpu, contexts, counts, 3, runs);
    compare(&src, &dst, cpu, contexts, counts, 31, runs);
    compare_sums(&src, cpu, contexts, counts);
    tw_image_free(contexts[0], &src);
    tw_image_free(contexts[0], &dst);
    for (int i = 0; contexts[i]; i++)
        tw_context_destroy(contexts[i]);
    tw_context_destroy(cpu);
    return 0;
}
