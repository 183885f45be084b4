/*
 * The nouns of the library, all structs and no code:
 *   problem  (public)  what is to be computed
 *   variant            one implementation of an operation, a row of the registry
 *   plan               a problem, the variant that will run it, its parameters and scratch
 *   back end           where plans run: the CPU, or CUDA devices
 */
#ifndef TWI_PLAN_H
#define TWI_PLAN_H

#include "core/base.h"

/* Sets of types, borders and channel counts, for the registry's columns. */
#define TWI_BIT(value) (1u << (value))
#define TWI_INTEGERS (TWI_BIT(TW_U8) | TWI_BIT(TW_U16) | TWI_BIT(TW_I16) | TWI_BIT(TW_I32))
#define TWI_FLOATS (TWI_BIT(TW_F32) | TWI_BIT(TW_F64))
#define TWI_ALL_TYPES (TWI_INTEGERS | TWI_FLOATS)
#define TWI_ALL_BORDERS (TWI_BIT(TW_BORDER_IGNORE) - 1u)  /* all that every filter has */
#define TWI_ORDER_BORDERS (TWI_BIT(TW_BORDER_COUNT) - 1u) /* those of min and max */
#define TWI_NO_BORDER TWI_BIT(TW_BORDER_ZERO)             /* operations without a window */
#define TWI_ALL_CHANNELS (TWI_BIT(1) | TWI_BIT(2) | TWI_BIT(3) | TWI_BIT(4))

/* The work of a run: output rows first ... last-1 of dst. src and dst never overlap here: in place
   has been resolved by then. Both live where the variant's back end works. */
typedef struct twi_job {
    tw_image src;
    tw_image dst;
    int64_t first;
    int64_t last;
    int worker;   /* CPU: 0 ... threads - 1; no two jobs at a time have the same */
    void *stream; /* CUDA: the cudaStream_t to queue on */
} twi_job;

/* Rows that are copied from one device's memory to another's. */
typedef struct twi_fetch {
    const tw_context *owner; /* of the device where `from` lies */
    tw_image from;
    tw_image to;
} twi_fetch;

/* What a device queues at a time, when several work on images that stay with them (spread.c): it fetches rows, and
   makes those of the plan's result from `first` on, on the back end's own memory. */
typedef struct twi_turn {
    const twi_fetch *fetches;
    int fetch_count;
    tw_plan *plan;
    tw_image src;
    tw_image dst;
    int64_t first;
} twi_turn;

/* What a kernel does to memory, as its variant declares it (core/explain.h). */
typedef struct twi_kernel twi_kernel;

/* What a variant's file provides: exactly one const object of this type. Members may be NULL where said. */
typedef struct twi_code {
    /* The reason why the variant cannot do the problem, beyond its row's columns; NULL if it can.
       `context` is NULL where only the problem is in question. The member may be NULL. */
    const char *(*refuses)(const tw_context *context, const tw_problem *problem);
    /* The planner's estimate, nanoseconds on a typical device of the back end; the lowest wins. */
    double (*cost)(const tw_context *context, const tw_problem *problem);
    /* Chooses parameters and takes scratch with twi_plan_scratch() or its own means; may be NULL. */
    tw_status (*prepare)(tw_plan *plan);
    /* Computes the job's rows. Allocates nothing. */
    tw_status (*run)(const tw_plan *plan, const twi_job *job);
    /* The job always has all rows of dst: any of them may depend on any of src, or the variant divides the work
       itself (on the CPU by twi_cpu_parallel). Otherwise output row y reads the window's rows around source row y. */
    bool whole;
    /* Frees what prepare took by its own means; may be NULL. */
    void (*release)(tw_plan *plan);
    /* Declares the accesses of the kernel that does kernel->problem; NULL: they are not described. */
    void (*explain)(twi_kernel *kernel);
} twi_code;

/* A row of the registry (variants.def): which implementation exists, for what, and its code. */
typedef struct twi_variant {
    const char *name;
    tw_op op;
    tw_backend backend;
    unsigned types;
    unsigned channels;
    unsigned borders;
    int32_t smallest_window; /* both sides, inclusive */
    int32_t largest_window;
    const twi_code *code;
    const char *summary;
} twi_variant;

/* What a kernel takes of a multiprocessor, as the driver says. */
typedef struct twi_occupancy {
    int registers; /* a thread */
    int local;     /* bytes a thread that do not fit in registers */
    int blocks;    /* that a multiprocessor holds at a time */
    int threads;   /* that it holds at most */
} twi_occupancy;

typedef struct twi_backend {
    tw_backend id;
    /* Whether the device works; on failure the message says why it does not. */
    tw_status (*open)(tw_context *context);
    void (*close)(tw_context *context);
    tw_status (*count)(int *count);
    tw_status (*describe)(int device, tw_device_info *info);
    /* Bytes that nobody holds of a device that is there; NULL where devices have no memory of their own. */
    tw_status (*free_memory)(int device, uint64_t *bytes);
    /* Memory of the kind that the back end owns; what release gets is what allocate gave. */
    tw_status (*allocate)(tw_context *context, size_t bytes, tw_memory_kind kind, void **memory);
    void (*release)(tw_context *context, void *memory, tw_memory_kind kind);
    tw_status (*copy)(const tw_context *context, const tw_image *src, const tw_image *dst);
    /* Takes what the back end itself needs to run the plan, so that runs allocate nothing; may be NULL. */
    tw_status (*prepare)(tw_plan *plan);
    /* dst = a - b, saturated to the type; images of one type and size on the back end's own memory, dst may be a or b.
     */
    tw_status (*subtract)(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst);
    /* Queues the addition of a row of TW_I64 to each row of sums of integers (core/sums.h), likewise. */
    tw_status (*add_row)(const tw_context *context, const tw_image *row, const tw_image *dst);
    /* Runs a plan on checked images, to completion: dst is the result from row `first` on, all of it where the variant
       is whole or dst is src. */
    tw_status (*run)(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first);
    /* Queues it on a stream; NULL where the back end has none. */
    tw_status (*enqueue)(tw_plan *plan, const tw_image *src, const tw_image *dst, void *stream);
    /* For several devices: queues a turn of the plan's context; await() puts those that follow behind the last turns of
       others, if they had any; finish() waits for all of its own. link() lets the context reach the other's memory. The
       last three may do nothing. */
    tw_status (*queue_turn)(const twi_turn *turn);
    tw_status (*await)(const tw_context *context, const tw_context *const *others, int count);
    tw_status (*finish)(const tw_context *context);
    tw_status (*link)(const tw_context *context, const tw_context *other);
    /* Milliseconds for `launches` runs in a row on images of the back end's own memory, taking the
       `pairs` images of src and dst in turn. With `graph` they are launched as one CUDA graph (the CPU
       ignores it). `plan` NULL: plain copies of the same images, what every figure is compared with. */
    tw_status (*time)(tw_context *context, tw_plan *plan, const tw_image *src, const tw_image *dst, size_t pairs,
                      int launches, bool graph, double *milliseconds);
    /* Of blocks of so many threads and bytes of dynamic shared memory; NULL where the back end has no kernels. */
    tw_status (*occupancy)(tw_context *context, const void *kernel, int threads, size_t dynamic,
                           twi_occupancy *occupancy);
} twi_backend;

extern const twi_variant twi_variants[];
extern const size_t twi_variant_total;
/* Never NULL for TW_CPU and TW_CUDA. */
const twi_backend *twi_find_backend(tw_backend id);

/* Plans that the Simple tier keeps, so that a loop over images plans once. */
enum { TWI_KEPT_PLANS = 4 };

typedef struct twi_wisdom twi_wisdom;
typedef struct twi_carry twi_carry;

struct tw_context {
    const twi_backend *backend;
    int device;
    int threads;
    uint64_t device_memory; /* the most bytes to take of it; 0: all there is */
    tw_allocator allocator;
    tw_progress progress;
    void *progress_user;
    void *state; /* the back end's own */
    tw_plan *kept[TWI_KEPT_PLANS];
    unsigned next_kept;
    twi_wisdom *wisdom; /* what was measured or imported; NULL: nothing yet */
    /* A context over several devices is one on the first of them that knows the others (group.c). */
    tw_context **others;
    int other_count;
    bool rest_goes_on; /* when a device fails */
    bool lost;         /* its device failed */
};

struct tw_plan {
    tw_context *context;
    tw_problem problem;
    const twi_variant *variant;
    int32_t block_width; /* as the caller asked; 0: the variant's own */
    int32_t block_height;
    void *scratch; /* of the back end's memory */
    void *copy;    /* in place: a copy of the source, copy_pitch bytes a row, of the back end's memory */
    int64_t copy_pitch;
    void *arrays;            /* copies of the problem's mask, column, footprint and table */
    void *state;             /* the variant's own, freed by its release */
    struct twi_group *group; /* shares of several devices (group.c); NULL: one device makes all */
    twi_carry *carry;        /* the sums are a share's, and what lies before it is to be added (carry.c) */
};

/* One reason why `variant` does not do `problem` (as tw_variant_refuses), or NULL. */
const char *twi_refusal(const twi_variant *variant, const tw_context *context, const tw_problem *problem);

/* The fastest variant by what was measured before, else by estimate; NULL if none applies. */
const twi_variant *twi_choose(const tw_context *context, const tw_problem *problem);
const twi_variant *twi_choose_by_estimate(const tw_context *context, const tw_problem *problem);

/* `bytes` of the back end's memory as plan->scratch, aligned to 256; freed with the plan. */
tw_status twi_plan_scratch(tw_plan *plan, size_t bytes);

/* Host memory by the context's allocator, aligned to 256; fails with TW_ERROR_MEMORY. */
tw_status twi_host_allocate(const tw_context *context, size_t bytes, void **memory);
void twi_host_release(const tw_context *context, void *memory);

/* TW_ERROR_ARGUMENT for NULL. */
tw_status twi_context_check(const tw_context *context);

/* The Simple tier: runs the problem through a plan that the context makes once and keeps. */
tw_status twi_run_kept(tw_context *context, const tw_problem *problem, const tw_image *src, const tw_image *dst);

/* A plan of the context's own device, whatever others it has. */
tw_status twi_plan_create_one(tw_context *context, const tw_problem *problem, const tw_plan_options *options,
                              tw_plan **plan);

/* Whether a tally wants all rows twice: for the squares about the means. */
bool twi_looks_twice(const tw_problem *problem);
/* A tally begins anew. */
void twi_tally_clear(tw_tally *tally);
/* Lines of the source as a problem of their own, whatever the operation: columns, or rows. */
void twi_cut_lines(const tw_problem *whole, bool columns, int64_t first, int64_t last, tw_part *part);

/* Destroys the plans that the Simple tier keeps, so that the next calls choose again. */
void twi_drop_kept(tw_context *context);

/* Calls the progress callback, if any; TW_ERROR_CANCELLED if it asks to stop. */
tw_status twi_report(const tw_context *context, double done);

/* Completes a problem that has all of the operation's own fields with what the images say, and checks everything. */
tw_status twi_problem_complete(const tw_image *src, const tw_image *dst, tw_problem *problem);
/* The size of dst. */
void twi_out_shape(const tw_problem *problem, int64_t *width, int64_t *height);
/* Bytes of the problem's arrays, and a problem that points to copies of them in `memory` (so many bytes). */
size_t twi_problem_array_bytes(const tw_problem *problem);
void twi_problem_copy(const tw_problem *problem, void *memory, tw_problem *copy);

/* The steps of a tw_turn. */
enum { TWI_TURN_EXCHANGE = 1, TWI_TURN_LEFT_RIGHT = 2, TWI_TURN_TOP_BOTTOM = 4 };

/* Values that an element of src can have, so many entries has a channel of a table: 256 or 65536. */
static inline size_t twi_table_entries(const tw_problem *problem)
{
    return problem->type == TW_U8 ? 256 : 65536;
}

/* The types, as a set, that dst of a scan or integral of such pixels may have. */
unsigned twi_sum_types(tw_op op, tw_type type);
/* Whether dst's type holds every sum of a scan or integral exactly, whatever the pixels; floats may be rounded. */
bool twi_sums_fit(const tw_problem *problem);

/* How many positions of the window take part in min, max and rank. */
int64_t twi_footprint_count(const tw_window *window, const uint8_t *footprint);

/* Finds integers with mask[j * width + i] = column[j] * row[i] for all positions; false: there are none. */
bool twi_factor(const int32_t *mask, int32_t width, int32_t height, int64_t *row, int64_t *column);

enum { TWI_MAX_GAUSSIAN = 4095 };

/* Gaussian weights of an odd number of taps, computed in f64, with sum 1; sigma 0: 1 in the middle. */
void twi_gaussian_weights(double sigma, int32_t taps, double *weights);
/* The same in fixed point: integers with sum 65536, the squared error least. */
void twi_gaussian_fixed(const double *weights, int32_t taps, int32_t *fixed);
/* Whether a gaussian is done in fixed point by definition: u8, more than a tap on both axes, the sigmas in range. */
bool twi_gaussian_is_fixed(const tw_problem *problem);

/* A problem checked as a whole: every field in range. */
tw_status twi_problem_check(const tw_problem *problem);
bool twi_problem_equal(const tw_problem *a, const tw_problem *b);

/* The image whose row `first` is the given one's row 0: kernels count rows of the whole result. */
static inline tw_image twi_from_row(const tw_image *image, int64_t first)
{
    tw_image whole = *image;
    whole.data = (void *)((uintptr_t)image->data - (uintptr_t)(first * image->pitch));
    whole.height = image->height + first;
    return whole;
}

/* The descriptors of a two-image operation: sound, dst of that size, both in one place, no partial overlap.
 *in_place tells whether dst is src. */
tw_status twi_images_check(const tw_image *src, const tw_image *dst, int64_t width, int64_t height, bool *in_place);

#endif
