/*
 * How well ranks share the work: a chain of filters on an image in memory, halos exchanged before each.
 *     mpirun -n 2 bench_ranks box 1 16384x8192      the filter (box, median, gaussian), its radius, the image (u8)
 * Prints the time of a filter, of its slowest rank: the median, least and most of 7.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewise_mpi.h"

enum { ROUNDS = 7, CHAIN = 4 };

static tw_mpi *mpi;

static void must(tw_status status)
{
    if (status == TW_OK)
        return;
    fprintf(stderr, "bench_ranks: %s %s\n", tw_mpi_error_message(), tw_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void set_problem(const char *name, int radius, const tw_image *src, const tw_image *dst, tw_problem *problem)
{
    const tw_window window = tw_window_centred(2 * radius + 1, 2 * radius + 1);
    const tw_border border = {TW_BORDER_WRAP, 0};
    const tw_box_params box = {window, border, TW_ROUND_NEAREST};
    const tw_order_params order = {window, NULL, border};
    const tw_gaussian_params gaussian = {radius / 4.0, radius / 4.0, 4, 0, 0, border};
    if (strcmp(name, "median") == 0)
        must(tw_order_problem(TW_OP_RANK, src, dst, &order, tw_order_count(&order) / 2, problem));
    else if (strcmp(name, "gaussian") == 0)
        must(tw_gaussian_problem(src, dst, &gaussian, problem));
    else
        must(tw_box_problem(src, dst, &box, problem));
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    long width = 4096;
    long height = 4096;
    double times[ROUNDS];
    tw_mpi_image images[2];
    tw_image whole[2];
    tw_problem problem;
    tw_mpi_plan *plan = NULL;
    MPI_Init(&argc, &argv);
    if (argc < 4 || sscanf(argv[3], "%ldx%ld", &width, &height) != 2) {
        fprintf(stderr, "usage: bench_ranks box|median|gaussian RADIUS WxH\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    must(tw_mpi_create(MPI_COMM_WORLD, NULL, &mpi));
    for (int i = 0; i < 2; i++)
        must(tw_mpi_image_create(mpi, width, height, 1, TW_U8, &images[i]));
    for (int64_t i = 0; i < images[0].rows.pitch * images[0].rows.height; i++)
        ((unsigned char *)images[0].rows.data)[i] = (unsigned char)(i * 2654435761u >> 13);
    must(tw_mpi_describe(&images[0], &images[1], &whole[0], &whole[1]));
    set_problem(argv[1], atoi(argv[2]), &whole[0], &whole[1], &problem);
    must(tw_mpi_plan_create(mpi, &problem, &plan));
    for (int round = -1; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int i = 0; i < CHAIN; i++)
            must(tw_mpi_plan_run(plan, &images[i % 2], &images[1 - i % 2]));
        const double mine = 1e3 * (MPI_Wtime() - start) / CHAIN;
        double slowest = 0;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (round >= 0) /* the first warms up */
            times[round] = slowest;
    }
    qsort(times, ROUNDS, sizeof times[0], ascending);
    if (tw_mpi_rank(mpi) == 0)
        printf("%s radius %s, %s u8: %d ranks of %d threads: %.2f ms (%.2f to %.2f)\n", argv[1], argv[2], argv[3],
               tw_mpi_size(mpi), tw_context_threads(tw_mpi_context(mpi)), times[ROUNDS / 2], times[0],
               times[ROUNDS - 1]);
    tw_mpi_plan_destroy(plan);
    for (int i = 0; i < 2; i++)
        tw_mpi_image_free(mpi, &images[i]);
    tw_mpi_destroy(mpi);
    MPI_Finalize();
    return 0;
}
