/*
 * Runs on host images. The image goes up, is worked on and comes back in pieces of rows, so that the
 * three overlap: uploads, kernels and downloads have a stream each, tied by events.
 *
 * The device's copy engines read and write page-locked memory at full speed. An image in ordinary memory
 * is copied through rings of page-locked pieces by a team of threads, while earlier pieces travel.
 *
 * One thread, the conductor, makes all CUDA calls; it is the caller's, so progress is reported from there.
 * The other threads only copy memory.
 *
 * A variant that needs the whole image runs once, when all of it is on its way.
 *
 * In place (dst is src) needs no copy: uploads queue rows in ascending order, and an output row is computed
 * only once all rows down to itself have been uploaded (rows_needed() is never below `last`), so a row of
 * the host image is overwritten after it has been read, and every later reader finds it on the device.
 */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/exact.h"
#include "core/group.h"
#include "core/image.h"
#include "cuda/host.h"

enum {
    SMALLEST_PIECE = 64 << 10,
    LARGEST_STAGED = 1 << 20,  /* larger pieces would leave the processor's cache */
    LONGEST_STAGED = 4 << 20,  /* rows longer than this are not staged: the ring would grow with them */
    SMALLEST_STAGED = 1 << 17, /* below, starting the team costs more than it saves */
    PINNED_PIECES = 64,
};

/* A host image and how it is cut: pieces of whole rows, the last one perhaps shorter. */
typedef struct side {
    const tw_image *image;
    int64_t row;    /* bytes */
    int64_t piece;  /* rows */
    int64_t pieces; /* of the image */
    bool staged;    /* its pieces pass through a ring */
    char *ring;
} side;

typedef struct pipeline {
    const tw_plan *plan;
    side in;
    side out;
    twi_job job;   /* on the device */
    int64_t first; /* the result's row that is dst's first */

    /* The conductor's: what has been queued. */
    int64_t sent;     /* pieces, upwards */
    int64_t launched; /* rows of dst */
    int64_t fetched;  /* pieces, back */

    /* What is complete, in pieces; piece i has slot i % TWI_CUDA_SLOTS of the rings and events. */
    atomic_llong arrived;
    atomic_llong departed;
    atomic_llong delivered;
    /* The next piece that a copying thread takes. */
    atomic_llong next_in;
    atomic_llong next_out;
    /* One past the last piece that was copied into, or out of, the slot. */
    atomic_llong filled[TWI_CUDA_SLOTS];
    atomic_llong emptied[TWI_CUDA_SLOTS];
    atomic_bool stop;
} pipeline;

/* ---- Buffers ---------------------------------------------------------------------------------- */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return twi_max_i64(low, twi_min_i64(value, high));
}

/* Rows of a piece that travels through the ring, or straight from page-locked memory. */
static int64_t staged_rows(int64_t row, int64_t height)
{
    return clamp(clamp(row * height / 32, SMALLEST_PIECE, LARGEST_STAGED) / row, 1, height);
}

static int64_t pinned_rows(int64_t row, int64_t height)
{
    return clamp(twi_max_i64(row * height / PINNED_PIECES, LARGEST_STAGED) / row, 1, height);
}

static bool can_stage(int64_t row, int64_t height)
{
    return row <= LONGEST_STAGED && row * height >= SMALLEST_STAGED;
}

static void free_device(const tw_context *context, void **memory, size_t *size)
{
    twi_cuda_release_device(context, *size, *memory);
    *memory = NULL;
    *size = 0;
}

/* Kernels may read what lies beside a row's pixels, and rows that are still on their way, and make no use of it. All
   memory has a value here, so that initcheck reports mistakes alone. */
static tw_status grow_device(const tw_context *context, void **memory, size_t *size, size_t bytes)
{
    if (bytes <= *size)
        return TW_OK;
    free_device(context, memory, size);
    TWI_TRY(twi_cuda_allocate_device(context, bytes, memory));
    *size = bytes;
    TWI_CUDA(cudaMemsetAsync(*memory, 0, bytes, twi_cuda_state_of(context)->upload));
    return TW_OK;
}

static void free_rings(twi_cuda_state *state)
{
    (void)cudaFreeHost(state->ring_in);
    (void)cudaFreeHost(state->ring_out);
    state->ring_in = NULL;
    state->ring_out = NULL;
    state->ring_bytes = 0;
}

static tw_status reserve_rings(twi_cuda_state *state, size_t bytes)
{
    if (bytes <= state->ring_bytes)
        return TW_OK;
    free_rings(state);
    tw_status status = twi_cuda_allocate_pinned(bytes, &state->ring_in);
    if (status == TW_OK)
        status = twi_cuda_allocate_pinned(bytes, &state->ring_out);
    if (status != TW_OK) {
        free_rings(state);
        return status;
    }
    state->ring_bytes = bytes;
    return TW_OK;
}

/* The pitch of the device images: a multiple of 256 suits every kernel. */
static int64_t device_pitch(int64_t row)
{
    return twi_round_up(row, 256);
}

/* Bytes of a device image with rows of `row` bytes. */
static bool device_bytes(int64_t row, int64_t height, int64_t *bytes)
{
    return row <= INT64_MAX - 255 && twi_mul_i64(device_pitch(row), height, bytes);
}

/* Bytes of a ring for such an image, 0 if it needs none. */
static int64_t ring_bytes(int64_t row, int64_t height)
{
    if (!can_stage(row, height))
        return 0;
    const int64_t piece = staged_rows(row, height);
    const int64_t pieces = twi_divide_up(height, piece);
    return twi_min_i64(pieces, TWI_CUDA_SLOTS) * piece * row;
}

tw_status twi_cuda_reserve(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    twi_cuda_state *state = twi_cuda_state_of(plan->context);
    int64_t width = 0;
    int64_t height = 0;
    int64_t row_in = 0;
    int64_t row_out = 0;
    int64_t bytes_in = 0;
    int64_t bytes_out = 0;
    twi_out_shape(problem, &width, &height);
    if (!twi_mul_i64(problem->width, problem->channels * (int64_t)tw_type_size(problem->type), &row_in) ||
        !twi_mul_i64(width, problem->channels * (int64_t)tw_type_size(problem->out_type), &row_out) ||
        !device_bytes(row_in, problem->height, &bytes_in) || !device_bytes(row_out, height, &bytes_out))
        return twi_fail(TW_ERROR_LIMIT, "an image of %lldx%lld pixels cannot be counted in bytes",
                        (long long)problem->width, (long long)problem->height);
    tw_status status = grow_device(plan->context, &state->device_src, &state->device_src_bytes, (size_t)bytes_in);
    if (status == TW_OK)
        status = grow_device(plan->context, &state->device_dst, &state->device_dst_bytes, (size_t)bytes_out);
    if (status == TW_OK)
        status =
            reserve_rings(state, (size_t)twi_max_i64(ring_bytes(row_in, problem->height), ring_bytes(row_out, height)));
    if (status != TW_OK) { /* the caller may try again with less */
        free_device(plan->context, &state->device_src, &state->device_src_bytes);
        free_device(plan->context, &state->device_dst, &state->device_dst_bytes);
    }
    return status;
}

void twi_cuda_free_transfer(tw_context *context)
{
    twi_cuda_state *state = twi_cuda_state_of(context);
    free_device(context, &state->device_src, &state->device_src_bytes);
    free_device(context, &state->device_dst, &state->device_dst_bytes);
    free_rings(state);
}

/* ---- The copying threads ------------------------------------------------------------------------ */

static int64_t piece_first(const side *s, int64_t piece)
{
    return piece * s->piece;
}

static int64_t piece_rows(const side *s, int64_t piece)
{
    return twi_min_i64(s->piece, s->image->height - piece_first(s, piece));
}

/* The piece's place in the ring: its rows follow each other without gaps. */
static char *ring_place(const side *s, int64_t piece)
{
    return s->ring + piece % TWI_CUDA_SLOTS * s->piece * s->row;
}

/* The piece's place in an image that is cut like the side's. */
static char *image_place(const side *s, const tw_image *image, int64_t piece)
{
    return (char *)image->data + piece_first(s, piece) * image->pitch;
}

/* Takes the piece that `next` shows, unless it is not below `end` or another thread is faster. */
static bool take(atomic_llong *next, long long end, long long *piece)
{
    *piece = atomic_load(next);
    return *piece < end && atomic_compare_exchange_strong(next, piece, *piece + 1);
}

/* Copies one piece that has come back to the image; false if there is none. */
static bool deliver(pipeline *p)
{
    const side *out = &p->out;
    long long piece = 0;
    if (!out->staged || !take(&p->next_out, atomic_load(&p->departed), &piece))
        return false;
    twi_copy_rows(image_place(out, out->image, piece), out->image->pitch, ring_place(out, piece), out->row, out->row,
                  piece_rows(out, piece));
    atomic_store(&p->emptied[piece % TWI_CUDA_SLOTS], piece + 1);
    atomic_fetch_add(&p->delivered, 1);
    return true;
}

/* Copies one piece of the image into a slot that is free; false if there is none. */
static bool supply(pipeline *p)
{
    const side *in = &p->in;
    const int64_t end = twi_min_i64(in->pieces, atomic_load(&p->arrived) + TWI_CUDA_SLOTS);
    long long piece = 0;
    if (!in->staged || !take(&p->next_in, end, &piece))
        return false;
    twi_copy_rows(ring_place(in, piece), in->row, image_place(in, in->image, piece), in->image->pitch, in->row,
                  piece_rows(in, piece));
    atomic_store(&p->filled[piece % TWI_CUDA_SLOTS], piece + 1);
    return true;
}

static void copy_pieces(pipeline *p)
{
    while (!atomic_load(&p->stop) && ((p->in.staged && atomic_load(&p->next_in) < p->in.pieces) ||
                                      (p->out.staged && atomic_load(&p->next_out) < p->out.pieces))) {
        if (!deliver(p) && !supply(p))
            (void)sched_yield();
    }
}

/* ---- The conductor ------------------------------------------------------------------------------- */

/* How many of the first source rows the output rows first ... last-1 read. Never less than `last`, since
   the anchor lies in the window. Rows past the bottom need no look: the window that has some also holds
   the last row. */
static int64_t rows_needed(const tw_problem *problem, int64_t first, int64_t last)
{
    const int64_t height = problem->height;
    const int64_t top = first - problem->window.anchor_y;
    int64_t needed = twi_min_i64(height, last - problem->window.anchor_y + problem->window.height - 1);
    for (int64_t y = top; y < 0 && needed < height; y++)
        needed = twi_max_i64(needed, 1 + twi_border_index(y, height, (int)problem->border.mode));
    return needed;
}

static tw_status send(pipeline *p, bool *busy)
{
    const tw_context *context = p->plan->context;
    const twi_cuda_state *state = twi_cuda_state_of(context);
    const side *in = &p->in;
    const int64_t piece = p->sent;
    const int64_t slot = piece % TWI_CUDA_SLOTS;
    if (piece == in->pieces || piece - atomic_load(&p->arrived) == TWI_CUDA_SLOTS ||
        (in->staged && atomic_load(&p->filled[slot]) != piece + 1))
        return TW_OK;
    const char *from = in->staged ? ring_place(in, piece) : image_place(in, in->image, piece);
    const int64_t pitch = in->staged ? in->row : in->image->pitch;
    TWI_TRY(twi_cuda_copy_rows(context, image_place(in, &p->job.src, piece), p->job.src.pitch, from, pitch, in->row,
                               piece_rows(in, piece), state->upload));
    TWI_CUDA(cudaEventRecord(state->arrived[slot], state->upload));
    p->sent++;
    *busy = true;
    return TW_OK;
}

/* One past the last row of dst that may be queued now: its source rows are on their way, and they are enough for a
   kernel, since each start reads a window's height of rows again. */
static int64_t rows_ready(const pipeline *p)
{
    const tw_problem *problem = &p->plan->problem;
    const int64_t height = p->out.image->height;
    const int64_t rows = twi_min_i64(p->in.image->height, p->sent * p->in.piece);
    if (rows == p->in.image->height)
        return height;
    if (p->plan->variant->code->whole)
        return 0;
    const int64_t enough = twi_max_i64((p->in.piece + 1) / 2, problem->window.height);
    const int64_t ready = rows + problem->window.anchor_y - problem->window.height + 1 - p->first;
    const int64_t last = twi_min_i64(ready, height);
    return last >= p->launched + enough && rows_needed(problem, p->first + p->launched, p->first + last) <= rows ? last
                                                                                                                 : 0;
}

static tw_status launch(pipeline *p, bool *busy)
{
    const twi_cuda_state *state = twi_cuda_state_of(p->plan->context);
    const int64_t last = rows_ready(p);
    if (last <= p->launched)
        return TW_OK;
    TWI_CUDA(cudaStreamWaitEvent(state->compute, state->arrived[(p->sent - 1) % TWI_CUDA_SLOTS], 0));
    p->job.first = p->first + p->launched;
    p->job.last = p->first + last;
    TWI_TRY(p->plan->variant->code->run(p->plan, &p->job));
    if (p->plan->carry)
        TWI_TRY(twi_carry_add(p->plan, &p->job.dst));
    TWI_CUDA(cudaEventRecord(state->computed, state->compute));
    TWI_CUDA(cudaStreamWaitEvent(state->download, state->computed, 0));
    p->launched = last;
    *busy = true;
    return TW_OK;
}

static tw_status fetch(pipeline *p, bool *busy)
{
    const tw_context *context = p->plan->context;
    const twi_cuda_state *state = twi_cuda_state_of(context);
    const side *out = &p->out;
    const int64_t piece = p->fetched;
    const int64_t slot = piece % TWI_CUDA_SLOTS;
    if (piece == out->pieces || p->launched < piece_first(out, piece) + piece_rows(out, piece) ||
        piece - atomic_load(&p->departed) == TWI_CUDA_SLOTS ||
        (out->staged && piece >= TWI_CUDA_SLOTS && atomic_load(&p->emptied[slot]) != piece - TWI_CUDA_SLOTS + 1))
        return TW_OK;
    char *to = out->staged ? ring_place(out, piece) : image_place(out, out->image, piece);
    const int64_t pitch = out->staged ? out->row : out->image->pitch;
    const char *from = (const char *)state->device_dst + piece_first(out, piece) * p->job.dst.pitch;
    TWI_TRY(twi_cuda_copy_rows(context, to, pitch, from, p->job.dst.pitch, out->row, piece_rows(out, piece),
                               state->download));
    TWI_CUDA(cudaEventRecord(state->departed[slot], state->download));
    p->fetched++;
    *busy = true;
    return TW_OK;
}

/* Counts the pieces whose events have passed. */
static tw_status settle(atomic_llong *complete, int64_t queued, const cudaEvent_t *events, bool *busy)
{
    while (atomic_load(complete) < queued) {
        const cudaError_t error = cudaEventQuery(events[atomic_load(complete) % TWI_CUDA_SLOTS]);
        if (error == cudaErrorNotReady)
            return TW_OK;
        if (error != cudaSuccess)
            return twi_cuda_fail(error, "cudaEventQuery");
        atomic_fetch_add(complete, 1);
        *busy = true;
    }
    return TW_OK;
}

/* Keeps all streams fed until the last piece is where it belongs. */
static tw_status conduct_pieces(pipeline *p)
{
    const twi_cuda_state *state = twi_cuda_state_of(p->plan->context);
    const atomic_llong *finished = p->out.staged ? &p->delivered : &p->departed;
    int64_t reported = 0;
    while (reported < p->out.pieces) {
        bool busy = false;
        TWI_TRY(send(p, &busy));
        TWI_TRY(fetch(p, &busy));
        TWI_TRY(launch(p, &busy));
        TWI_TRY(settle(&p->arrived, p->sent, state->arrived, &busy));
        TWI_TRY(settle(&p->departed, p->fetched, state->departed, &busy));
        const int64_t done = atomic_load(finished);
        if (done > reported)
            TWI_TRY(twi_report(p->plan->context, (double)done / (double)p->out.pieces));
        else if (!busy)
            (void)sched_yield();
        reported = done;
    }
    return TW_OK;
}

/* After a failure or a cancellation nothing may still read or write the caller's memory. */
static tw_status conduct(pipeline *p)
{
    const twi_cuda_state *state = twi_cuda_state_of(p->plan->context);
    const tw_status status = conduct_pieces(p);
    if (status != TW_OK) {
        atomic_store(&p->stop, true);
        (void)cudaStreamSynchronize(state->upload);
        (void)cudaStreamSynchronize(state->compute);
        (void)cudaStreamSynchronize(state->download);
    }
    (void)cudaGetLastError(); /* an event that was asked too early is no error of the next caller's */
    return status;
}

static tw_status conduct_team(pipeline *p)
{
    const int copiers = p->plan->context->threads > 3 ? p->plan->context->threads - 1 : 2;
    tw_status status = TW_OK;
#pragma omp parallel num_threads(copiers + 1)
    {
#pragma omp single
        if (omp_get_num_threads() == 1) { /* no team to be had: the driver copies, and nothing overlaps */
            p->in.staged = false;
            p->out.staged = false;
        }
        if (omp_get_thread_num() == 0)
            status = conduct(p);
        else
            copy_pieces(p);
    }
    return status;
}

/* ---- A run ---------------------------------------------------------------------------------------- */

static bool is_pinned_at(const void *address)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, address);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

/* Both ends are asked: a caller may have page-locked a part only. */
static bool is_pinned(const tw_image *image, int64_t row)
{
    return is_pinned_at(image->data) &&
           is_pinned_at((const char *)image->data + (image->height - 1) * image->pitch + row - 1);
}

static tw_image device_image(const tw_image *host, void *data, int64_t row)
{
    tw_image image = *host;
    image.data = data;
    image.pitch = device_pitch(row);
    image.memory = TW_DEVICE;
    return image;
}

static side side_of(const tw_image *host, void *ring)
{
    const int64_t row = (int64_t)twi_row_bytes(host);
    side s = {.image = host, .row = row, .ring = ring};
    s.staged = can_stage(row, host->height) && !is_pinned(host, row);
    s.piece = s.staged ? staged_rows(row, host->height) : pinned_rows(row, host->height);
    s.pieces = (host->height + s.piece - 1) / s.piece;
    return s;
}

tw_status twi_cuda_run_host(tw_plan *plan, const tw_image *src, const tw_image *dst, int64_t first)
{
    const twi_cuda_state *state = twi_cuda_state_of(plan->context);
    /* allocates only where another plan's failed growth took the buffers away */
    TWI_TRY(twi_cuda_reserve(plan));
    tw_image used = *src; /* what no row of dst reads stays where it is: nothing is on its way when the run is over */
    if (!plan->variant->code->whole)
        used.height = rows_needed(&plan->problem, first, first + dst->height);
    pipeline p = {
        .plan = plan, .in = side_of(&used, state->ring_in), .out = side_of(dst, state->ring_out), .first = first};
    const tw_image device_dst = device_image(dst, state->device_dst, p.out.row);
    p.job.src = device_image(src, state->device_src, p.in.row);
    p.job.dst = twi_from_row(&device_dst, first);
    p.job.stream = state->compute;
    return p.in.staged || p.out.staged ? conduct_team(&p) : conduct(&p);
}
