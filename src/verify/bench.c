/* Measuring variants: images that no cache holds, launches by the back end's clock, rounds in turn. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verify/bench.h"
#include "verify/verify.h"

/* A launch that is estimated to take longer is timed only by name. */
static const double most_seconds = 2;

/* The images and plans of a bench. */
typedef struct bench {
    tw_context *context;
    const twi_bench_request *request;
    twi_bench_result *result;
    const twi_variant **variants; /* of the rows */
    tw_plan **plans;              /* NULL for rows that are not timed */
    tw_image host_src;            /* on the host: what the pairs are filled from, and the round trips */
    tw_image host_dst;
    void *block;  /* the pairs' memory, of the back end */
    int64_t slot; /* bytes from one of their images to the next */
    tw_image *src;
    tw_image *dst;
    tw_image *copy_src; /* of the same bytes, as the plain copy sees them */
    tw_image *copy_dst;
} bench;

static double milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static bool on_cuda(const bench *b)
{
    return b->context->backend->id == TW_CUDA;
}

/* ---- Images -------------------------------------------------------------------------------------- */

/* What decides the bytes of an image. */
typedef struct extent {
    int64_t width;
    int64_t height;
    int32_t channels;
    tw_type type;
} extent;

static extent extent_in(const tw_problem *problem)
{
    const extent e = {problem->width, problem->height, problem->channels, problem->type};
    return e;
}

static extent extent_out(const tw_problem *problem)
{
    extent e = {.channels = problem->channels, .type = problem->out_type};
    twi_out_shape(problem, &e.width, &e.height);
    return e;
}

static int64_t row_bytes(extent e)
{
    return e.width * e.channels * (int64_t)tw_type_size(e.type);
}

/* The pitch that the request asks for, for such an image: a pitch in bytes is that of src, and dst gets the same
   gap. */
static int64_t pitch_of(const twi_bench_request *request, extent e)
{
    const int64_t row = row_bytes(e);
    const int64_t size = (int64_t)tw_type_size(e.type);
    if (request->odd_pitch)
        return row / size % 2 == 0 ? row + size : row;
    if (request->pitch > 0)
        return (request->pitch - row_bytes(extent_in(&request->problem)) + row + size - 1) / size * size;
    return e.type == TW_STATS ? row : (row + 255) / 256 * 256;
}

static int64_t physical_memory(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* So many pairs that the next one to be read has left the caches: half a gigabyte on a GPU, four times the
   last cache on a CPU, but no more than a quarter of the memory. */
static size_t pairs_of(const bench *b, int64_t pair)
{
    const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int64_t goal = on_cuda(b) ? INT64_C(512) << 20 : 4 * (cache > 0 ? cache : INT64_C(64) << 20);
    const int64_t most = b->request->graph ? TWI_BENCH_GRAPH : TWI_BENCH_LAUNCHES;
    if (!on_cuda(b))
        goal = twi_min_i64(goal, physical_memory() / 4);
    const int64_t pairs = twi_max_i64(1, twi_min_i64(most, twi_divide_up(goal, pair)));
    b->result->beyond_caches = pairs * pair >= goal;
    return (size_t)pairs;
}

/* Image `index` of the block, whose slots are `slot` bytes apart. */
static tw_image image_at(const bench *b, size_t index, int64_t slot, extent e, int64_t pitch)
{
    const tw_image image = {
        .data = (char *)b->block + (int64_t)index * slot,
        .width = e.width,
        .height = e.height,
        .pitch = pitch,
        .channels = e.channels,
        .type = e.type,
        .memory = b->result->problem.memory,
    };
    return image;
}

/* As rows of bytes, as many as src has: half of the bytes that a run reads and writes, so that a copy moves as many. */
static tw_image copied(const bench *b, const tw_image *image)
{
    const twi_bench_result *result = b->result;
    const extent in = extent_in(&result->problem);
    const extent out = extent_out(&result->problem);
    tw_image bytes = *image;
    bytes.width = (row_bytes(in) * in.height + row_bytes(out) * out.height) / (2 * in.height);
    bytes.pitch = (result->pitch * in.height + result->dst_pitch * out.height) / (2 * in.height);
    bytes.width = twi_max_i64(1, bytes.width);
    bytes.pitch = twi_max_i64(bytes.width, bytes.pitch);
    bytes.height = in.height;
    bytes.channels = 1;
    bytes.type = TW_U8;
    return bytes;
}

static tw_status take_pairs(bench *b)
{
    twi_bench_result *result = b->result;
    const tw_problem *problem = &result->problem;
    const extent in = extent_in(problem);
    const extent out = extent_out(problem);
    const tw_memory_kind kind = on_cuda(b) ? TW_MEMORY_DEVICE : TW_MEMORY_HOST;
    int64_t slot = 0; /* holds src or dst */
    int64_t dst_slot = 0;
    int64_t total = 0;
    if (!twi_mul_i64(result->pitch, in.height, &slot) || !twi_mul_i64(result->dst_pitch, out.height, &dst_slot) ||
        !twi_add_i64(twi_max_i64(slot, dst_slot), 255, &slot) || !twi_mul_i64(slot / 256 * 256, 2, &total))
        return twi_fail(TW_ERROR_LIMIT, "images of %" PRId64 "x%" PRId64 " pixels cannot be counted in bytes",
                        problem->width, problem->height);
    slot = slot / 256 * 256;
    b->slot = slot;
    result->pair_bytes = 2 * slot;
    result->pairs = pairs_of(b, total);
    if (!twi_mul_i64(total, (int64_t)result->pairs, &total) || (!on_cuda(b) && total > physical_memory()))
        return twi_fail(TW_ERROR_MEMORY, "two images of %" PRId64 "x%" PRId64 " pixels do not fit the memory",
                        problem->width, problem->height);
    TWI_TRY(b->context->backend->allocate(b->context, (size_t)total, kind, &b->block));
    const size_t pairs = result->pairs;
    b->src = calloc(4 * pairs, sizeof *b->src);
    if (!b->src)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu descriptors", 4 * pairs);
    b->dst = b->src + pairs;
    b->copy_src = b->dst + pairs;
    b->copy_dst = b->copy_src + pairs;
    for (size_t i = 0; i < pairs; i++) {
        b->src[i] = image_at(b, i, slot, in, result->pitch);
        b->dst[i] = image_at(b, pairs + i, slot, out, result->dst_pitch);
        b->copy_src[i] = copied(b, &b->src[i]);
        b->copy_dst[i] = copied(b, &b->dst[i]);
    }
    TWI_TRY(tw_image_check(&b->dst[0]));
    return tw_image_check(&b->src[0]);
}

static tw_status take_images(bench *b)
{
    const extent in = extent_in(&b->result->problem);
    const extent out = extent_out(&b->result->problem);
    const tw_memory_kind kind = b->request->pinned ? TW_MEMORY_PINNED : TW_MEMORY_HOST;
    TWI_TRY(take_pairs(b));
    TWI_TRY(tw_image_create(b->context, in.width, in.height, in.channels, in.type, kind, &b->host_src));
    if (b->request->flat)
        memset(b->host_src.data, 0, (size_t)(b->host_src.pitch * in.height));
    else
        twi_fill_ordinary(&b->host_src);
    if (on_cuda(b))
        TWI_TRY(tw_image_create(b->context, out.width, out.height, out.channels, out.type, kind, &b->host_dst));
    for (size_t i = 0; i < b->result->pairs; i++) {
        /* the destinations too, so that all pages are there before the clock runs */
        tw_image from = b->copy_src[i];
        tw_image to = b->copy_dst[i];
        from.width = from.pitch = to.width = to.pitch = b->slot;
        from.height = to.height = 1;
        TWI_TRY(tw_image_copy(b->context, &b->host_src, &b->src[i]));
        TWI_TRY(tw_image_copy(b->context, &from, &to));
    }
    return TW_OK;
}

/* ---- Rows: which variants are timed -------------------------------------------------------------- */

/* Elements between the end of a row and the next. */
static int64_t gap_of(const twi_bench_request *request, extent e)
{
    return (pitch_of(request, e) - row_bytes(e)) / (int64_t)tw_type_size(e.type);
}

/* A smaller problem of the same kind, small enough for the reference to be quick. Not smaller than the window, if that
   can be: some variants refuse such images. */
static twi_case small_case(const bench *b)
{
    twi_case which = {.problem = b->result->problem, .pattern = TWI_PATTERN_RANDOM, .seed = 1};
    tw_problem *problem = &which.problem;
    const double window = (double)problem->window.width * problem->window.height * problem->channels;
    const bool whole = (double)problem->window.width * problem->window.height * window < 5e8;
    const int64_t least_width = whole ? twi_min_i64(problem->width, problem->window.width) : 1;
    const int64_t least_height = whole ? twi_min_i64(problem->height, problem->window.height) : 1;
    problem->width = twi_min_i64(problem->width, twi_max_i64(509, least_width));
    problem->height = twi_min_i64(problem->height, twi_max_i64(131, least_height));
    while ((double)problem->width * (double)problem->height * window > 3e7 && problem->height > least_height)
        problem->height = twi_max_i64(least_height, (problem->height + 1) / 2);
    while ((double)problem->width * (double)problem->height * window > 3e7 && problem->width > least_width)
        problem->width = twi_max_i64(least_width, (problem->width + 1) / 2);
    which.src_gap = gap_of(b->request, extent_in(problem));
    which.dst_gap = gap_of(b->request, extent_out(problem));
    which.threads = b->context->threads;
    return which;
}

/* Fills row->why if the prover does not pass the variant. */
static void prove(const bench *b, twi_prover *prover, const twi_variant *variant, twi_bench_row *row)
{
    twi_candidate candidate = twi_variant_candidate(variant);
    candidate.options.block_width = b->request->block_width;
    candidate.options.block_height = b->request->block_height;
    row->wrong = !twi_prover_check(prover, &candidate, row->why, sizeof row->why);
    if (!row->wrong)
        row->why[0] = '\0';
}

static tw_status make_row(bench *b, twi_prover *prover, const twi_variant *variant)
{
    const tw_plan_options options = {
        .variant = variant->name, .block_width = b->request->block_width, .block_height = b->request->block_height};
    const size_t index = b->result->count;
    twi_bench_row *row = &b->result->rows[index];
    const char *reason = twi_refusal(variant, b->context, &b->result->problem);
    row->name = variant->name;
    b->variants[index] = variant;
    b->result->count++;
    const double seconds = reason ? 0 : variant->code->cost(b->context, &b->result->problem) / 1e9;
    if (reason)
        (void)snprintf(row->why, sizeof row->why, "%s", reason);
    else if (seconds > most_seconds && !b->request->variants)
        (void)snprintf(row->why, sizeof row->why, "about %.2g s a launch; name it to have it timed", seconds);
    else
        prove(b, prover, variant, row);
    if (row->why[0] != '\0')
        return TW_OK;
    return tw_plan_create(b->context, &b->result->problem, &options, &b->plans[index]);
}

static tw_status make_rows(bench *b)
{
    twi_prover *prover = NULL;
    const twi_case which = small_case(b);
    b->result->rows = calloc(twi_variant_total, sizeof *b->result->rows);
    b->variants = calloc(twi_variant_total, sizeof *b->variants);
    b->plans = calloc(twi_variant_total, sizeof *b->plans);
    if (!b->result->rows || !b->variants || !b->plans)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu rows", twi_variant_total);
    TWI_TRY(twi_prover_create(b->context->backend->id, &b->context->device, 0, &prover));
    tw_status status = twi_prover_load(prover, &which);
    for (size_t i = 0; i < twi_variant_total && status == TW_OK; i++) {
        const twi_variant *variant = &twi_variants[i];
        if (variant->op == b->result->problem.op && variant->backend == b->context->backend->id &&
            (!b->request->variants || twi_listed(b->request->variants, variant->name)))
            status = make_row(b, prover, variant);
    }
    twi_prover_destroy(prover);
    return status;
}

/* ---- Kernels ------------------------------------------------------------------------------------- */

/* One figure: milliseconds a launch, over `launches` of them. A plan of NULL is the copy. */
static tw_status time_launches(const bench *b, tw_plan *plan, int launches, double *figure)
{
    const bool graph = b->request->graph && on_cuda(b);
    const int together = graph && launches > TWI_BENCH_GRAPH ? TWI_BENCH_GRAPH : launches;
    double total = 0;
    int done = 0;
    for (; done < launches; done += together) {
        double part = 0;
        TWI_TRY(b->context->backend->time(b->context, plan, plan ? b->src : b->copy_src, plan ? b->dst : b->copy_dst,
                                          b->result->pairs, together, graph, &part));
        total += part;
    }
    *figure = total / done;
    return TW_OK;
}

/* Warms up, and sets how many launches make a figure. */
static tw_status warm_up(const bench *b, tw_plan *plan, twi_bench_row *row)
{
    const double begin = milliseconds();
    double figure = 0;
    for (int i = 0; i < TWI_BENCH_WARM_UPS && milliseconds() - begin < 2000; i++)
        TWI_TRY(time_launches(b, plan, 1, &figure));
    row->launches = figure > 20 ? (int)twi_max_i64(1, (int64_t)(500 / figure)) : TWI_BENCH_LAUNCHES;
    return TW_OK;
}

/* The rows' samples, a round after the other, so that what disturbs the machine disturbs all alike. */
static tw_status time_rounds(const bench *b, double (*kernel)[TWI_BENCH_ROUNDS], double (*share)[TWI_BENCH_ROUNDS],
                             double *copy)
{
    twi_bench_result *result = b->result;
    const double begin = milliseconds();
    int rounds = 0;
    TWI_TRY(warm_up(b, NULL, &result->copy));
    for (size_t i = 0; i < result->count; i++)
        if (b->plans[i])
            TWI_TRY(warm_up(b, b->plans[i], &result->rows[i]));
    while (rounds < TWI_BENCH_ROUNDS && (rounds < 3 || milliseconds() - begin < 20e3)) {
        TWI_TRY(time_launches(b, NULL, result->copy.launches, &copy[rounds]));
        for (size_t i = 0; i < result->count; i++) {
            if (!b->plans[i])
                continue;
            TWI_TRY(time_launches(b, b->plans[i], result->rows[i].launches, &kernel[i][rounds]));
            share[i][rounds] = copy[rounds] / kernel[i][rounds];
        }
        rounds++;
    }
    const extent in = extent_in(&result->problem);
    const extent out = extent_out(&result->problem);
    const double bytes = (double)row_bytes(in) * (double)in.height + (double)row_bytes(out) * (double)out.height;
    result->copy.kernel = twi_spread_of(copy, rounds);
    result->copy.gigabytes = bytes / result->copy.kernel.median / 1e6;
    for (size_t i = 0; i < result->count; i++) {
        twi_bench_row *row = &result->rows[i];
        if (!b->plans[i])
            continue;
        row->kernel = twi_spread_of(kernel[i], rounds);
        row->share = twi_spread_of(share[i], rounds);
        row->gigabytes = bytes / row->kernel.median / 1e6;
    }
    return TW_OK;
}

static tw_status time_kernels(const bench *b)
{
    double copy[TWI_BENCH_ROUNDS];
    double(*samples)[TWI_BENCH_ROUNDS] = calloc(2 * b->result->count + 1, sizeof *samples);
    if (!samples)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: samples");
    const tw_status status = time_rounds(b, samples, samples + b->result->count, copy);
    free(samples);
    return status;
}

/* ---- Round trips --------------------------------------------------------------------------------- */

static tw_status time_round_trip(const bench *b, const twi_variant *variant, twi_bench_row *row)
{
    const tw_plan_options options = {
        .variant = variant->name, .block_width = b->request->block_width, .block_height = b->request->block_height};
    double samples[TWI_BENCH_ROUND_TRIPS];
    tw_problem problem = b->result->problem;
    tw_plan *plan = NULL;
    problem.memory = TW_HOST;
    TWI_TRY(tw_plan_create(b->context, &problem, &options, &plan));
    tw_status status = tw_plan_run(plan, &b->host_src, &b->host_dst); /* warms up */
    for (int i = 0; i < TWI_BENCH_ROUND_TRIPS && status == TW_OK; i++) {
        const double begin = milliseconds();
        status = tw_plan_run(plan, &b->host_src, &b->host_dst);
        samples[i] = milliseconds() - begin;
    }
    tw_plan_destroy(plan);
    if (status == TW_OK)
        row->roundtrip = twi_spread_of(samples, TWI_BENCH_ROUND_TRIPS);
    return status;
}

static tw_status time_transfer(const bench *b, const tw_image *from, const tw_image *to, twi_spread *spread)
{
    double samples[TWI_BENCH_ROUND_TRIPS];
    TWI_TRY(tw_image_copy(b->context, from, to));
    for (int i = 0; i < TWI_BENCH_ROUND_TRIPS; i++) {
        const double begin = milliseconds();
        TWI_TRY(tw_image_copy(b->context, from, to));
        samples[i] = milliseconds() - begin;
    }
    *spread = twi_spread_of(samples, TWI_BENCH_ROUND_TRIPS);
    return TW_OK;
}

static tw_status time_transfers(const bench *b)
{
    for (size_t i = 0; i < b->result->count; i++)
        if (b->plans[i])
            TWI_TRY(time_round_trip(b, b->variants[i], &b->result->rows[i]));
    TWI_TRY(time_transfer(b, &b->host_src, &b->src[0], &b->result->upload));
    return time_transfer(b, &b->dst[0], &b->host_dst, &b->result->download);
}

/* ---- The whole ----------------------------------------------------------------------------------- */

static tw_status measure(bench *b)
{
    twi_bench_result *result = b->result;
    result->problem.memory = on_cuda(b) ? TW_DEVICE : TW_HOST;
    const tw_problem *problem = &result->problem;
    const int64_t row = row_bytes(extent_in(problem));
    const int64_t asked = b->request->pitch;
    if (asked > 0 && (asked < row || asked % (int64_t)tw_type_size(problem->type) != 0))
        return twi_fail(TW_ERROR_ARGUMENT, "pitch %" PRId64 ": a row has %" PRId64 " bytes, an element %zu", asked, row,
                        tw_type_size(problem->type));
    result->pitch = pitch_of(b->request, extent_in(problem));
    result->dst_pitch = pitch_of(b->request, extent_out(problem));
    TWI_TRY(make_rows(b));
    TWI_TRY(take_images(b));
    TWI_TRY(time_kernels(b));
    return on_cuda(b) ? time_transfers(b) : TW_OK;
}

tw_status twi_bench(tw_context *context, const twi_bench_request *request, twi_bench_result *result)
{
    bench b = {.context = context, .request = request, .result = result};
    *result = (twi_bench_result){.problem = request->problem, .copy = {.name = "copy"}};
    const tw_status status = measure(&b);
    for (size_t i = 0; b.plans && i < result->count; i++)
        tw_plan_destroy(b.plans[i]);
    tw_image_free(context, &b.host_src);
    tw_image_free(context, &b.host_dst);
    if (b.block)
        context->backend->release(context, b.block, on_cuda(&b) ? TW_MEMORY_DEVICE : TW_MEMORY_HOST);
    free(b.src);
    free(b.plans);
    free(b.variants);
    return status;
}

void twi_bench_free(twi_bench_result *result)
{
    free(result->rows);
    *result = (twi_bench_result){0};
}
