/*
 * The prover: every variant against the scalar reference, byte for byte, padding included. It is linked by the
 * command and the tests, and is no part of the library.
 *
 * A case is a problem, how its images lie in memory, and what their pixels hold. A candidate is anything
 * that claims to solve it: a variant of the registry, or a test's planted fault.
 */
#ifndef TWI_VERIFY_H
#define TWI_VERIFY_H

#include "core/plan.h"

/* What the source's pixels hold. */
typedef enum twi_pattern {
    TWI_PATTERN_RANDOM,  /* every value of an integer type; floats of -1 to 1 */
    TWI_PATTERN_BITS,    /* floats of any bits: all magnitudes, NaN, infinities; integers as RANDOM */
    TWI_PATTERN_SPECIAL, /* ordinary floats with a few NaN, infinities and -0; integers: extremes alone */
    TWI_PATTERN_HIGHEST, /* all the type's highest value: the largest sums */
    TWI_PATTERN_LOWEST,  /* all the lowest: the most negative sums, -0 for floats */
    TWI_PATTERN_IMPULSE, /* 0 but for one highest value in the middle */
    TWI_PATTERN_RAMP,    /* element i is (37 i + 11) mod 256 */
    TWI_PATTERN_COUNT
} twi_pattern;

typedef struct twi_case {
    tw_problem problem; /* memory: where a CUDA candidate gets its images; the CPU's are on the host */
    int64_t src_gap;    /* elements between the end of a row and the next */
    int64_t dst_gap;
    int64_t src_offset; /* elements before the first pixel: the images' alignment */
    int64_t dst_offset;
    twi_pattern pattern;
    uint64_t seed;
    int threads; /* for CPU variants */
} twi_case;

/* Solves the problem for these images, which live where problem->memory says. */
typedef struct twi_candidate {
    const char *name;
    tw_status (*solve)(const struct twi_candidate *self, tw_context *context, const tw_problem *problem,
                       const tw_image *src, const tw_image *dst);
    const twi_variant *variant; /* of the registry, or NULL */
    tw_plan_options options;
} twi_candidate;

/* Working memory of a series of checks: contexts and buffers that grow. */
typedef struct twi_prover twi_prover;

/* `devices`, `count`: as in tw_context_options, but that the first is named in any case. A CUDA context is made if
   backend is TW_CUDA (its absence is then the error TW_ERROR_DEVICE) or TW_AUTO (where one works). */
tw_status twi_prover_create(tw_backend backend, const int *devices, int count, twi_prover **prover);
void twi_prover_destroy(twi_prover *prover);

/* The prover's context on that back end, NULL if it has none. */
tw_context *twi_prover_context(const twi_prover *prover, tw_backend backend);

/* The candidate that runs a variant of the registry through a plan. */
twi_candidate twi_variant_candidate(const twi_variant *variant);

/* Makes the case's images and the reference's answer. Failing here is not a candidate's fault. */
tw_status twi_prover_load(twi_prover *prover, const twi_case *which);

/* Whether the candidate's answer to the loaded case is the reference's, and nothing outside the pixels
   was touched. If not, `why` gets one sentence: "NAME mismatch at (x, y): reference=R, got=G (...)". */
bool twi_prover_check(twi_prover *prover, const twi_candidate *candidate, char *why, size_t size);

/* Case number `index` of the operation: first the classic ones, then random ones, the same for one seed. Its
   mask or footprint is valid until the thread's next call. */
void twi_make_case(tw_op op, uint64_t seed, int64_t index, twi_case *which);
/* How many classic cases the operation has. */
int64_t twi_classic_cases(tw_op op);

/* Whether `name` is one of the names separated by commas. */
bool twi_listed(const char *names, const char *name);

typedef struct twi_verify_request {
    tw_op op;             /* TW_OP_COUNT: every operation */
    const char *variants; /* names separated by commas; NULL: every one but the reference */
    tw_backend backend;   /* TW_AUTO: the CPU, and CUDA where it works */
    const int *devices;   /* CUDA's numbers */
    int device_count;     /* more than one: a context over all of them; 0: the first alone */
    int32_t block_width;  /* as tw_plan_options; 0: the variant's own */
    int32_t block_height;
    uint64_t seed;
    int64_t cases; /* random ones, beside the classic ones */
    /* One line a case, "1003x769, direct=PASS, tiled=PASS", and one for each failure. */
    void (*line)(void *user, const char *text, bool failure);
    void *user;
} twi_verify_request;

typedef struct twi_verify_result {
    int64_t cases;    /* in which at least one variant ran */
    int64_t checks;   /* variants in those cases */
    int64_t failures; /* checks that failed */
} twi_verify_result;

/* TW_OK also where variants fail: see result->failures. Errors: no such variant, no such device, memory. */
tw_status twi_verify(const twi_verify_request *request, twi_verify_result *result);

#endif
