/*
 * Many files. Workers take one file after the other and read, compute and write it; for computing they borrow one of a
 * few engines. The thread that began prints what has become of each file, in the order of the list, whichever is done
 * first. On the CPU there are as many engines as workers, and the threads are divided among them, so that no processor
 * has two masters; on a GPU there are two, so that the one's transfers run while the other computes.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/batch.h"
#include "cli/filter.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "cli/stream.h"

enum { AHEAD = 4 /* files for each worker that wait for an earlier one */ };

/* What has become of a job. */
typedef struct outcome {
    bool known;
    twi_exit code;
    int64_t milliseconds;
    twi_complaints said;
    json_t *figures; /* of stats, with --json */
    char *text;      /* of stats, without */
} outcome;

typedef struct batch {
    const twi_args *args;
    twi_args silent; /* the same without the progress of a single file */
    twi_command_id id;
    twi_recipe recipe; /* of a filter, but for what each image adds */
    twi_jobs jobs;
    size_t to_do; /* jobs that are not skipped */
    outcome *outcomes;
    twi_engine *engines;
    int engine_count;
    int threads;
    int workers;
    pthread_rwlock_t room; /* in the memory: for several files, or for a large one alone */

    pthread_mutex_t lock; /* guards what follows, and `known` */
    pthread_cond_t changed;
    twi_engine **idle;
    int idle_count;
    size_t next;    /* job to be taken */
    size_t printed; /* jobs that have been printed; changed, as `stopped`, by the thread that began alone */
    bool stopped;   /* no more are taken */
} batch;

typedef struct tally {
    size_t done;
    size_t skipped;
    size_t failed;
} tally;

/* ---- Workers ------------------------------------------------------------------------------------- */

static twi_engine *borrow_engine(batch *b)
{
    (void)pthread_mutex_lock(&b->lock);
    while (b->idle_count == 0)
        (void)pthread_cond_wait(&b->changed, &b->lock);
    twi_engine *engine = b->idle[--b->idle_count];
    (void)pthread_mutex_unlock(&b->lock);
    return engine;
}

static void return_engine(batch *b, twi_engine *engine)
{
    (void)pthread_mutex_lock(&b->lock);
    b->idle[b->idle_count++] = engine;
    (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&b->lock);
}

static twi_exit in_stages(batch *b, twi_filter *f)
{
    twi_exit result = twi_filter_read(f);
    if (result == TWI_EXIT_DONE) {
        twi_engine *engine = borrow_engine(b);
        result = twi_filter_compute(f, engine);
        return_engine(b, engine);
    }
    return result == TWI_EXIT_DONE ? twi_filter_write(f) : result;
}

static twi_exit filter_file(batch *b, const twi_job *job, bool alone)
{
    twi_filter f = {.args = &b->silent,
                    .id = b->id,
                    .from = job->from,
                    .to = job->to,
                    .sharers = b->workers,
                    .recipe = twi_recipe_share(&b->recipe)};
    const twi_exit result = alone ? twi_stream_filter(&f) : in_stages(b, &f);
    twi_filter_free(&f);
    return result;
}

/* The figures, as text or for a line of JSON. */
static twi_exit keep_figures(const twi_stats *s, outcome *o)
{
    size_t size = 0;
    bool whole;
    if (s->args->json) {
        o->figures = twi_stats_json(s);
        whole = o->figures != NULL;
    } else {
        FILE *text = open_memstream(&o->text, &size);
        if (text) {
            (void)fprintf(text, "==> %s <==\n", s->from);
            twi_stats_print(s, text);
        }
        whole = text && ferror(text) == 0;
        whole = text && fclose(text) == 0 && whole;
    }
    if (whole)
        return TWI_EXIT_DONE;
    free(o->text);
    o->text = NULL;
    return twi_complain(TWI_EXIT_MEMORY, "out of memory: the results");
}

static twi_exit measure_in_stages(batch *b, twi_stats *s)
{
    twi_exit result = twi_stats_read(s);
    if (result == TWI_EXIT_DONE) {
        twi_engine *engine = borrow_engine(b);
        result = twi_stats_compute(s, engine);
        return_engine(b, engine);
    }
    return result;
}

static twi_exit measure_file(batch *b, const twi_job *job, bool alone, outcome *o)
{
    twi_stats s = {.args = &b->silent, .from = job->from, .sharers = b->workers};
    twi_exit result = alone ? twi_stats_find(&s) : measure_in_stages(b, &s);
    if (result == TWI_EXIT_DONE)
        result = keep_figures(&s, o);
    twi_stats_free(&s);
    return result;
}

/* The next job that is to be worked on, NULL at the end. Nobody gets far ahead of the slowest: what waits to be printed
   takes memory. */
static const twi_job *take_job(batch *b)
{
    const twi_job *job = NULL;
    (void)pthread_mutex_lock(&b->lock);
    while (!job && !b->stopped && b->next < b->jobs.count) {
        if (b->next >= b->printed + (size_t)AHEAD * (size_t)b->workers)
            (void)pthread_cond_wait(&b->changed, &b->lock);
        else if (!b->jobs.list[b->next++].skipped)
            job = &b->jobs.list[b->next - 1];
    }
    (void)pthread_mutex_unlock(&b->lock);
    return job;
}

static twi_exit attempt(batch *b, const twi_job *job, bool alone, outcome *o)
{
    return b->id == TWI_STATS ? measure_file(b, job, alone, o) : filter_file(b, job, alone);
}

/* A file for which its share of the memory is not enough gets all of it, once no other is in work: as if it were the
   only one, in bands if need be. */
static void work_on(batch *b, const twi_job *job, outcome *o)
{
    o->code = TWI_EXIT_MEMORY;
    if (b->to_do > 1) {
        (void)pthread_rwlock_rdlock(&b->room);
        o->code = attempt(b, job, false, o);
        (void)pthread_rwlock_unlock(&b->room);
    }
    if (o->code == TWI_EXIT_MEMORY) {
        (void)pthread_rwlock_wrlock(&b->room);
        twi_memory_give_back();
        o->code = attempt(b, job, true, o);
        (void)pthread_rwlock_unlock(&b->room);
    }
}

static void *work(void *user)
{
    batch *b = user;
    for (const twi_job *job = take_job(b); job; job = take_job(b)) {
        outcome *o = &b->outcomes[job - b->jobs.list];
        const double start = twi_seconds();
        (void)twi_keep_complaints(&o->said);
        work_on(b, job, o);
        (void)twi_keep_complaints(NULL);
        o->milliseconds = (int64_t)(1000 * (twi_seconds() - start));
        (void)pthread_mutex_lock(&b->lock);
        o->known = true;
        (void)pthread_cond_broadcast(&b->changed);
        (void)pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

/* ---- What has become of each ----------------------------------------------------------------------- */

static void print_line(json_t *object)
{
    char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (line)
        (void)puts(line);
    else
        (void)twi_complain(TWI_EXIT_MEMORY, "out of memory: a line of JSON");
    free(line);
    json_decref(object);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        (void)json_object_set_new(object, key, twi_json_name(text));
}

/* Prints the job's line of JSON. */
static void print_job(const batch *b, size_t index)
{
    const twi_job *job = &b->jobs.list[index];
    outcome *o = &b->outcomes[index];
    const bool failed = o->code != TWI_EXIT_DONE;
    json_t *object = json_pack("{s:s, s:I}", "schema", "tilewise.file/1", "index", (json_int_t)index);
    set_text(object, "input", job->from);
    set_text(object, "output", job->to);
    set_text(object, "status", job->skipped ? "skipped" : failed ? "failed" : "done");
    if (!job->skipped)
        (void)json_object_set_new(object, "milliseconds", json_integer(o->milliseconds));
    if (failed)
        (void)json_object_set_new(object, "code", json_integer((json_int_t)o->code));
    set_text(object, "message", failed ? o->said.failure : NULL);
    set_text(object, "warning", o->said.warning);
    if (o->figures)
        (void)json_object_set_new(object, "stats", o->figures);
    o->figures = NULL;
    print_line(object);
}

/* Prints what a single file's work would have said, with the file's name if it is not in there. */
static void pass_on(const twi_job *job, twi_exit code, const char *text)
{
    if (strstr(text, job->from) || (job->to && strstr(text, job->to)))
        (void)twi_complain(code, "%s", text);
    else
        (void)twi_complain(code, "%s: %s", job->from, text);
}

/* Prints what has become of a job, and frees it. */
static void print_outcome(const batch *b, size_t index, tally *counts)
{
    const twi_job *job = &b->jobs.list[index];
    outcome *o = &b->outcomes[index];
    counts->skipped += job->skipped;
    counts->failed += o->code != TWI_EXIT_DONE;
    counts->done += !job->skipped && o->code == TWI_EXIT_DONE;
    if (o->said.warning || o->said.failure || o->text || b->args->json)
        twi_progress_end();
    if (o->said.warning)
        pass_on(job, TWI_EXIT_DONE, o->said.warning);
    if (o->code != TWI_EXIT_DONE)
        pass_on(job, o->code, o->said.failure ? o->said.failure : "out of memory");
    if (b->args->json)
        print_job(b, index);
    else if (o->text)
        (void)printf("%s%s", counts->done > 1 ? "\n" : "", o->text);
    (void)fflush(stdout);
    free(o->said.failure);
    free(o->said.warning);
    free(o->text);
    *o = (outcome){.known = true};
}

static void print_summary(const batch *b, const tally *counts, double elapsed)
{
    const size_t all = b->jobs.count;
    if (b->args->json)
        print_line(json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "schema", "tilewise.batch/1", "files", (json_int_t)all,
                             "done", (json_int_t)counts->done, "skipped", (json_int_t)counts->skipped, "failed",
                             (json_int_t)counts->failed, "milliseconds", (json_int_t)(1000 * elapsed)));
    if (!b->args->quiet)
        (void)twi_complain(TWI_EXIT_DONE, "%zu of %zu files done, %zu skipped, %zu failed, in %.2f s", counts->done,
                           all, counts->skipped, counts->failed, elapsed);
}

/* Whether the job's outcome is known; if not, waits a tenth of a second or for a change. */
static bool is_known(batch *b, size_t index)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 100 * 1000 * 1000;
    if (until.tv_nsec >= 1000 * 1000 * 1000) {
        until.tv_nsec -= 1000 * 1000 * 1000;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&b->lock);
    const bool known = b->outcomes[index].known;
    if (!known)
        (void)pthread_cond_timedwait(&b->changed, &b->lock, &until);
    (void)pthread_mutex_unlock(&b->lock);
    return known;
}

/* One more is printed. An output that nobody takes any more ends the work. */
static void go_on(batch *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->printed++;
    b->stopped = ferror(stdout) != 0;
    (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&b->lock);
}

/* No more jobs are taken. */
static void stop(batch *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->stopped = true;
    (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&b->lock);
}

/* Prints the outcomes in their order while the workers are at it. */
static void print_outcomes(batch *b, tally *counts)
{
    twi_progress progress;
    const bool shown = twi_progress_start(b->args, 1, &progress);
    while (b->printed < b->jobs.count && !b->stopped) {
        if (is_known(b, b->printed)) {
            print_outcome(b, b->printed, counts);
            go_on(b);
        }
        if (shown)
            twi_progress_files(&progress, counts->done + counts->failed, b->to_do);
    }
    twi_progress_end();
}

/* ---- The whole ------------------------------------------------------------------------------------- */

/* The threads that the line allows: on the CPU by its own count, whatever the device. */
static twi_exit count_threads(batch *b)
{
    tw_context *context = NULL;
    const tw_context_options options = {.backend = TW_CPU, .threads = b->args->threads};
    const tw_status status = tw_context_create(&options, &context);
    if (status != TW_OK)
        return twi_complain_status(status);
    b->threads = tw_context_threads(context);
    tw_context_destroy(context);
    return TWI_EXIT_DONE;
}

static tw_op op_of(const batch *b)
{
    const twi_filter f = {.id = b->id, .recipe = b->recipe};
    return b->id == TWI_STATS ? TW_OP_REDUCE : twi_filter_op(&f);
}

/* One more engine: a worker's, of their share of the threads, or on the next GPU one of the few for all. */
static twi_exit open_engine(batch *b)
{
    int numbers[TWI_DEVICES];
    const int devices = twi_devices(b->args, numbers);
    const int index = b->engine_count++;
    twi_engine *engine = &b->engines[index];
    twi_args own = *b->args;
    if (devices > 0) { /* files are shared among several GPUs, not rows */
        own.device = numbers[index % devices];
        own.device_count = 0;
    }
    own.quiet = own.quiet || index > 0; /* one note about the wisdom file is enough */
    const twi_exit result =
        twi_engine_open(&own, op_of(b), b->threads / b->workers, TWI_ENGINES_A_GPU + 1, NULL, NULL, engine);
    engine->args = b->args;
    if (result == TWI_EXIT_DONE)
        return_engine(b, engine);
    return result;
}

static twi_exit open_first_engine(batch *b)
{
    b->engines = calloc((size_t)b->workers, sizeof *b->engines);
    b->idle = calloc((size_t)b->workers, sizeof *b->idle);
    if (!b->engines || !b->idle)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %d workers", b->workers);
    return open_engine(b);
}

/* As many as workers; on GPUs, which the first engine tells, a few each. */
static int engines_wanted(const batch *b)
{
    if (b->to_do == 0)
        return 0;
    int numbers[TWI_DEVICES];
    const int devices = twi_devices(b->args, numbers);
    const int most = TWI_ENGINES_A_GPU * (devices > 0 ? devices : 1);
    return tw_context_backend(b->engines[0].context) == TW_CUDA && b->workers > most ? most : b->workers;
}

/* The first workers begin on the first engine while the others are opened, which takes a GPU its time. */
static twi_exit run_workers(batch *b, tally *counts)
{
    const int wanted = engines_wanted(b);
    int started = 0;
    twi_exit result = TWI_EXIT_DONE;
    pthread_t *threads = calloc((size_t)b->workers, sizeof *threads);
    if (!threads)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %d workers", b->workers);
    while (started < b->workers && pthread_create(&threads[started], NULL, work, b) == 0)
        started++;
    if (started == 0)
        result = twi_complain(TWI_EXIT_MEMORY, "the system allows no threads");
    while (b->engine_count < wanted && result == TWI_EXIT_DONE)
        result = open_engine(b);
    if (result == TWI_EXIT_DONE)
        print_outcomes(b, counts);
    else
        stop(b);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    free(threads);
    return result;
}

static twi_exit work_on_all(batch *b)
{
    const double start = twi_seconds();
    tally counts = {0};
    b->outcomes = calloc(b->jobs.count + 1, sizeof *b->outcomes);
    if (!b->outcomes)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: %zu files", b->jobs.count);
    for (size_t i = 0; i < b->jobs.count; i++) {
        b->outcomes[i].known = b->jobs.list[i].skipped;
        b->to_do += !b->jobs.list[i].skipped;
    }
    twi_exit result = count_threads(b);
    b->workers = (size_t)b->threads < b->to_do ? b->threads : (int)b->to_do;
    if (b->workers < 1)
        b->workers = 1;
    if (result == TWI_EXIT_DONE && b->to_do > 0)
        result = open_first_engine(b);
    if (result == TWI_EXIT_DONE)
        result = run_workers(b, &counts);
    if (result != TWI_EXIT_DONE || b->stopped)
        return result;
    print_summary(b, &counts, twi_seconds() - start);
    return counts.failed > 0 ? TWI_EXIT_NO : TWI_EXIT_DONE;
}

static void release(batch *b)
{
    for (size_t i = 0; b->outcomes && i < b->jobs.count; i++) {
        json_decref(b->outcomes[i].figures);
        free(b->outcomes[i].text);
        free(b->outcomes[i].said.failure);
        free(b->outcomes[i].said.warning);
    }
    for (int i = 0; i < b->engine_count; i++)
        twi_engine_close(&b->engines[i]);
    free(b->outcomes);
    free(b->engines);
    free(b->idle);
    twi_jobs_free(&b->jobs);
    twi_recipe_free(&b->recipe);
}

twi_exit twi_batch(const twi_args *args)
{
    batch b = {.args = args,
               .silent = *args,
               .id = (twi_command_id)(args->command - twi_commands),
               .room = PTHREAD_RWLOCK_INITIALIZER,
               .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_t clock;
    b.silent.progress = TWI_PROGRESS_NEVER;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&b.changed, &clock);
    twi_exit result = twi_recipe_take(args, b.id, false, &b.recipe);
    if (result == TWI_EXIT_DONE)
        result = twi_jobs_plan(args, &b.jobs);
    if (result == TWI_EXIT_DONE)
        result = work_on_all(&b);
    release(&b);
    (void)pthread_cond_destroy(&b.changed);
    (void)pthread_condattr_destroy(&clock);
    return result;
}
