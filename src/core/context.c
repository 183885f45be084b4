/* Contexts: a device, an allocator, a progress callback, and the plans that the Simple tier keeps. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/group.h"
#include "core/wisdom.h"

enum { HOST_ALIGNMENT = 256, MOST_THREADS = 1024 };

/* Blocks from here on ask for pages of 2 MiB: a band of rows of a large image touches more small ones than the
   processor keeps translations of. */
static const size_t large_bytes = 8 << 20;

static void *default_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= large_bytes) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        const size_t before = (page - (uintptr_t)memory % page) % page;
        (void)madvise((char *)memory + before, bytes - before, MADV_HUGEPAGE); /* advice: nothing depends on it */
    }
#endif
    return memory;
}

static void default_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

tw_status twi_host_allocate(const tw_context *context, size_t bytes, void **memory)
{
    const tw_allocator *allocator = &context->allocator;
    *memory = allocator->allocate(allocator->user, bytes > 0 ? bytes : 1, HOST_ALIGNMENT);
    if (!*memory)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: %zu bytes of host memory were refused", bytes);
    return TW_OK;
}

void twi_host_release(const tw_context *context, void *memory)
{
    if (memory)
        context->allocator.release(context->allocator.user, memory);
}

/* The processors that this process may run on. */
static int usable_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static void *wait_for_lock(void *lock)
{
    (void)pthread_mutex_lock(lock);
    (void)pthread_mutex_unlock(lock);
    return NULL;
}

/* Starts as many threads as a run will, all at once: where the system refuses one, OpenMP would end the process. */
static tw_status try_threads(const tw_context *context)
{
    const int others = context->threads - 1;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *memory = NULL;
    int started = 0;
    TWI_TRY(twi_host_allocate(context, (size_t)others * sizeof(pthread_t), &memory));
    pthread_t *threads = memory;
    (void)pthread_mutex_lock(&lock);
    while (started < others && pthread_create(&threads[started], NULL, wait_for_lock, &lock) == 0)
        started++;
    (void)pthread_mutex_unlock(&lock);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    twi_host_release(context, memory);
    if (started < others)
        return twi_fail(TW_ERROR_MEMORY, "threads %d: the system allows %d at present: use fewer", context->threads,
                        started + 1);
    return TW_OK;
}

tw_context_options tw_context_defaults(void)
{
    const tw_context_options options = {.backend = TW_AUTO};
    return options;
}

/* Each may copy from each. */
static tw_status link_all(tw_context *context)
{
    tw_context *members[TWI_MOST_DEVICES];
    const int count = twi_members(context, members);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                TWI_TRY(context->backend->link(members[i], members[j]));
    return TW_OK;
}

/* Opens the devices beside the first, of the context's back end; under TW_AUTO those that can be opened. */
static tw_status open_others(tw_context *context, const tw_context_options *options)
{
    void *memory = NULL;
    if (options->device_count < 2)
        return TW_OK;
    TWI_TRY(twi_host_allocate(context, (size_t)(options->device_count - 1) * sizeof *context->others, &memory));
    context->others = memory;
    context->rest_goes_on = options->backend == TW_AUTO;
    for (int i = 1; i < options->device_count; i++) {
        tw_context_options other = *options;
        other.backend = context->backend->id;
        other.device = options->devices[i];
        other.threads = context->threads;
        other.device_count = 0;
        other.progress = NULL;
        const tw_status status = tw_context_create(&other, &context->others[context->other_count]);
        if (status == TW_OK)
            context->other_count++;
        else if (!context->rest_goes_on || status != TW_ERROR_DEVICE)
            return status;
    }
    return link_all(context);
}

static tw_status open_backend(tw_context *context, tw_backend id)
{
    context->backend = twi_find_backend(id);
    return context->backend->open(context);
}

tw_status tw_context_create(const tw_context_options *options, tw_context **result)
{
    const tw_context_options defaults = tw_context_defaults();
    tw_status status;
    if (!result)
        return twi_fail(TW_ERROR_ARGUMENT, "context is NULL");
    *result = NULL;
    if (!options)
        options = &defaults;
    if ((unsigned)options->backend >= TW_BACKEND_COUNT)
        return twi_fail(TW_ERROR_ARGUMENT, "back end %d is unknown: use TW_AUTO, TW_CPU or TW_CUDA",
                        (int)options->backend);
    if (options->device_count < 0 || options->device_count > TWI_MOST_DEVICES ||
        (options->device_count > 0 && !options->devices))
        return twi_fail(TW_ERROR_ARGUMENT, "device count %d%s: use 0 to %d, and name as many devices",
                        options->device_count, options->devices ? "" : " without devices", (int)TWI_MOST_DEVICES);
    const int device = options->device_count > 0 ? options->devices[0] : options->device;
    if (device < 0)
        return twi_fail(TW_ERROR_ARGUMENT, "device %d: use 0 or more", device);
    if (options->threads < 0 || options->threads > MOST_THREADS)
        return twi_fail(TW_ERROR_ARGUMENT, "threads %d: use 0 (all) to %d", options->threads, (int)MOST_THREADS);
    if (!options->allocator.allocate != !options->allocator.release)
        return twi_fail(TW_ERROR_ARGUMENT, "allocator: give both allocate and release, or neither");

    tw_allocator allocator = options->allocator;
    if (!allocator.allocate) {
        allocator.allocate = default_allocate;
        allocator.release = default_release;
    }
    tw_context *context = allocator.allocate(allocator.user, sizeof *context, HOST_ALIGNMENT);
    if (!context)
        return twi_fail(TW_ERROR_MEMORY, "out of memory: a context was refused");
    *context = (tw_context){
        .device = device,
        .threads = options->threads > 0 ? options->threads : usable_threads(),
        .device_memory = options->device_memory,
        .allocator = allocator,
        .progress = options->progress,
        .progress_user = options->progress_user,
    };
    if (options->device_count > 1)
        context->threads = context->threads > options->device_count ? context->threads / options->device_count : 1;
    status = try_threads(context);
    if (status == TW_OK)
        status = open_backend(context, options->backend == TW_CPU ? TW_CPU : TW_CUDA);
    if (status == TW_ERROR_DEVICE && options->backend == TW_AUTO)
        status = open_backend(context, TW_CPU);
    if (status != TW_OK) {
        twi_host_release(context, context);
        return status;
    }
    status = open_others(context, options);
    if (status != TW_OK) {
        tw_context_destroy(context);
        return status;
    }
    *result = context;
    return TW_OK;
}

void tw_context_destroy(tw_context *context)
{
    if (!context)
        return;
    twi_drop_kept(context);
    twi_wisdom_free(context);
    for (int i = 0; i < context->other_count; i++)
        tw_context_destroy(context->others[i]);
    twi_host_release(context, context->others);
    context->backend->close(context);
    twi_host_release(context, context);
}

tw_backend tw_context_backend(const tw_context *context)
{
    return context ? context->backend->id : TW_AUTO;
}

int tw_context_threads(const tw_context *context)
{
    return context ? context->threads : 0;
}

tw_status twi_report(const tw_context *context, double done)
{
    if (context->progress && !context->progress(context->progress_user, done))
        return twi_fail(TW_ERROR_CANCELLED, "stopped by the progress callback at %.0f %%", 100 * done);
    return TW_OK;
}

void twi_drop_kept(tw_context *context)
{
    for (int i = 0; i < TWI_KEPT_PLANS; i++) {
        tw_plan_destroy(context->kept[i]);
        context->kept[i] = NULL;
    }
}

static tw_status kept_plan(tw_context *context, const tw_problem *problem, tw_plan **plan)
{
    for (int i = 0; i < TWI_KEPT_PLANS; i++) {
        if (context->kept[i] && twi_problem_equal(&context->kept[i]->problem, problem)) {
            *plan = context->kept[i];
            return TW_OK;
        }
    }
    tw_plan **place = &context->kept[context->next_kept];
    tw_plan_destroy(*place);
    *place = NULL;
    TWI_TRY(tw_plan_create(context, problem, NULL, place));
    context->next_kept = (context->next_kept + 1) % TWI_KEPT_PLANS;
    *plan = *place;
    return TW_OK;
}

tw_status twi_context_check(const tw_context *context)
{
    return context ? TW_OK : twi_fail(TW_ERROR_ARGUMENT, "context is NULL");
}

tw_status twi_run_kept(tw_context *context, const tw_problem *problem, const tw_image *src, const tw_image *dst)
{
    tw_plan *plan = NULL;
    TWI_TRY(kept_plan(context, problem, &plan));
    return tw_plan_run(plan, src, dst);
}

tw_status tw_device_count(tw_backend backend, int *count)
{
    if (!count || (backend != TW_CPU && backend != TW_CUDA))
        return twi_fail(TW_ERROR_ARGUMENT, "devices are counted for TW_CPU or TW_CUDA, into a place that is not NULL");
    return twi_find_backend(backend)->count(count);
}

static tw_status check_device(tw_backend backend, int device)
{
    int count = 0;
    TWI_TRY(tw_device_count(backend, &count));
    if (device < 0 || device >= count)
        return twi_fail(TW_ERROR_DEVICE, "%s device %d: this machine has %d", tw_backend_name(backend), device, count);
    return TW_OK;
}

tw_status tw_device_describe(tw_backend backend, int device, tw_device_info *info)
{
    if (!info)
        return twi_fail(TW_ERROR_ARGUMENT, "info is NULL");
    TWI_TRY(check_device(backend, device));
    return twi_find_backend(backend)->describe(device, info);
}

tw_status tw_device_free_memory(int device, uint64_t *bytes)
{
    if (!bytes)
        return twi_fail(TW_ERROR_ARGUMENT, "bytes is NULL");
    TWI_TRY(check_device(TW_CUDA, device));
    return twi_find_backend(TW_CUDA)->free_memory(device, bytes);
}

tw_status tw_image_create(tw_context *context, int64_t width, int64_t height, int32_t channels, tw_type type,
                          tw_memory_kind kind, tw_image *image)
{
    /* a stand-in address: the descriptor is checked before memory is taken */
    tw_image made = {(void *)(uintptr_t)HOST_ALIGNMENT, width, height, 0, channels, type, TW_HOST};
    int64_t row = 0;
    int64_t bytes = 0;
    if (!context || !image)
        return twi_fail(TW_ERROR_ARGUMENT, "%s is NULL", context ? "image" : "context");
    *image = (tw_image){0};
    if ((unsigned)kind > TW_MEMORY_DEVICE)
        return twi_fail(TW_ERROR_ARGUMENT, "memory kind %d is unknown", (int)kind);
    if (kind == TW_MEMORY_DEVICE && context->backend->id != TW_CUDA)
        return twi_fail(TW_ERROR_ARGUMENT, "device memory needs a CUDA context, this one is on %s",
                        tw_backend_name(context->backend->id));
    if (width > 0 && channels > 0 && channels <= 4 &&
        (!twi_mul_i64(width, (int64_t)tw_type_size(type) * channels, &row) ||
         !twi_add_i64(row, HOST_ALIGNMENT - 1, &row)))
        return twi_fail(TW_ERROR_LIMIT, "a row of %lld pixels cannot be counted in bytes", (long long)width);
    made.pitch = row / HOST_ALIGNMENT * HOST_ALIGNMENT;
    made.memory = kind == TW_MEMORY_DEVICE ? TW_DEVICE : TW_HOST;
    TWI_TRY(tw_image_check(&made));
    if (!twi_mul_i64(made.pitch, height, &bytes))
        return twi_fail(TW_ERROR_LIMIT, "an image of %lldx%lld pixels cannot be counted in bytes", (long long)width,
                        (long long)height);
    TWI_TRY(context->backend->allocate(context, (size_t)bytes, kind, &made.data));
    *image = made;
    return TW_OK;
}

void tw_image_free(tw_context *context, tw_image *image)
{
    if (!context || !image || !image->data)
        return;
    context->backend->release(context, image->data, image->memory == TW_DEVICE ? TW_MEMORY_DEVICE : TW_MEMORY_HOST);
    *image = (tw_image){0};
}

tw_status tw_image_copy(tw_context *context, const tw_image *src, const tw_image *dst)
{
    bool same = false;
    if (!context)
        return twi_fail(TW_ERROR_ARGUMENT, "context is NULL");
    TWI_TRY(tw_image_check(src));
    TWI_TRY(tw_image_check(dst));
    if (src->type != dst->type)
        return twi_fail(TW_ERROR_ARGUMENT, "dst is %s, src %s: they must agree", tw_type_name(dst->type),
                        tw_type_name(src->type));
    if (context->backend->id != TW_CUDA && (src->memory == TW_DEVICE || dst->memory == TW_DEVICE))
        return twi_fail(TW_ERROR_ARGUMENT, "device images need a CUDA context, this one is on %s",
                        tw_backend_name(context->backend->id));
    tw_image twin = *dst;
    twin.memory = src->memory;
    TWI_TRY(twi_images_check(src, &twin, src->width, src->height, &same));
    return same ? TW_OK : context->backend->copy(context, src, dst);
}
