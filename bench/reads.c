/* Sums on the CPU beside a loop that only reads: what of the memory's speed they reach. In turn, in one process, with
   as many threads; median, least and most of the shares. cc -O3 -march=native -fopenmp -Iinclude bench/reads.c -L$build
   -Wl,-rpath,$build -ltilewise -o reads && ./reads [THREADS] */
#include <immintrin.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "tilewise.h"

enum { ROUNDS = 31, SIDE = 16384 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void must(tw_status status)
{
    if (status == TW_OK)
        return;
    (void)fprintf(stderr, "%s\n", tw_error_message());
    exit(1);
}

/* All words combined, eight vectors at a time; a part a thread. */
static int64_t read_all(const void *memory, int64_t bytes, int threads)
{
    int64_t all = 0;
#pragma omp parallel num_threads(threads) reduction(^ : all)
    {
        const int64_t part = bytes / omp_get_num_threads() / 512 * 512;
        const char *at = (const char *)memory + omp_get_thread_num() * part;
        __m512i sums[8];
        for (int k = 0; k < 8; k++)
            sums[k] = _mm512_setzero_si512();
        for (const char *const end = at + part; at < end; at += 512)
            for (int k = 0; k < 8; k++)
                sums[k] = _mm512_xor_si512(sums[k], _mm512_load_si512(at + 64 * k));
        for (int k = 0; k < 8; k++)
            all ^= _mm512_reduce_add_epi64(sums[k]);
    }
    return all;
}

static void compare(tw_context *context, tw_type type, int threads)
{
    const tw_reduce_params params = {.axis = TW_AXIS_ALL, .figures = TW_FIGURE_SUM};
    tw_image image;
    tw_stats stats;
    const tw_image record = {&stats, 1, 1, sizeof stats, 1, TW_STATS, TW_HOST};
    double shares[ROUNDS];
    double reads[ROUNDS];
    volatile int64_t seen = 0;
    must(tw_image_create(context, SIDE, SIDE, 1, type, TW_MEMORY_HOST, &image));
    const int64_t bytes = image.pitch * image.height;
    for (int64_t i = 0; i < SIDE * (int64_t)SIDE; i++) {
        if (type == TW_F32)
            ((float *)image.data)[i] = (float)(i % 1021);
        else
            ((uint8_t *)image.data)[i] = (uint8_t)(i % 251);
    }
    for (int i = -1; i < ROUNDS; i++) { /* the first warms up */
        const double begin = omp_get_wtime();
        seen = seen ^ read_all(image.data, bytes, threads);
        const double middle = omp_get_wtime();
        must(tw_reduce(context, &image, &record, &params));
        const double end = omp_get_wtime();
        if (i < 0)
            continue;
        reads[i] = (double)bytes / (middle - begin) / 1e9;
        shares[i] = (middle - begin) / (end - middle);
    }
    qsort(reads, ROUNDS, sizeof reads[0], by_value);
    qsort(shares, ROUNDS, sizeof shares[0], by_value);
    printf("sum %s %dx%d, %d threads: reading alone %.2f GB/s; share %.3f (%.3f to %.3f)\n", tw_type_name(type), SIDE,
           SIDE, threads, reads[ROUNDS / 2], shares[ROUNDS / 2], shares[0], shares[ROUNDS - 1]);
    tw_image_free(context, &image);
}

int main(int count, char **arguments)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CPU;
    options.threads = count > 1 ? atoi(arguments[1]) : 0;
    must(tw_context_create(&options, &context));
    compare(context, TW_U8, tw_context_threads(context));
    compare(context, TW_F32, tw_context_threads(context));
    tw_context_destroy(context);
    return 0;
}
