/*
 * Times of an operation's variants, beside those of a plain copy of the same images, taken in turn. Only what
 * the prover has passed on a small image of the same kind is timed. Linked by the command, no part of the library.
 */
#ifndef TWI_BENCH_H
#define TWI_BENCH_H

#include "core/measure.h"

enum {
    TWI_BENCH_LAUNCHES = 100, /* in a row, for one figure; fewer where one takes more than 20 ms */
    TWI_BENCH_WARM_UPS = 3,
    TWI_BENCH_ROUNDS = 9, /* figures of the copy and of each variant, in turn */
    TWI_BENCH_ROUND_TRIPS = 20,
    TWI_BENCH_GRAPH = 10 /* launches of a CUDA graph */
};

typedef struct twi_bench_request {
    tw_problem problem;   /* its memory is set by the context's back end */
    const char *variants; /* names separated by commas, NULL: all */
    int64_t pitch;        /* of src, bytes; 0: a multiple of 256 */
    bool odd_pitch;       /* the shortest odd number of elements */
    int32_t block_width;  /* as tw_plan_options */
    int32_t block_height;
    bool graph;
    bool pinned; /* host images of the round trip in pinned memory */
    bool flat;   /* images of one value: all lanes of a warp then ask a table for one entry */
} twi_bench_request;

typedef struct twi_bench_row {
    const char *name;
    char why[512];        /* why it was not timed, "" if it was */
    bool wrong;           /* because it differs from the reference */
    int launches;         /* in a row, for one figure */
    twi_spread kernel;    /* milliseconds a launch */
    twi_spread share;     /* the copy's time over the variant's, of the same round */
    twi_spread roundtrip; /* milliseconds, CUDA only */
    double gigabytes;     /* bytes read once and written once, 1e9 a second, by the median */
} twi_bench_row;

typedef struct twi_bench_result {
    tw_problem problem;
    int64_t pitch; /* of src */
    int64_t dst_pitch;
    size_t pairs;       /* images of src and dst that are taken in turn */
    int64_t pair_bytes; /* of one of each */
    bool beyond_caches; /* they are more than the caches hold */
    twi_bench_row copy;
    twi_bench_row *rows;
    size_t count;
    twi_spread upload; /* milliseconds of the image alone, CUDA only */
    twi_spread download;
} twi_bench_result;

/* TW_OK also where a variant was not timed: see its row. Free the result in any case. */
tw_status twi_bench(tw_context *context, const twi_bench_request *request, twi_bench_result *result);
void twi_bench_free(twi_bench_result *result);

#endif
