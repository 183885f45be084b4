/* Three stages, two of them threads, which wait for each other's portions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pipeline.h"

enum { GET = 0, WORK, PUT, STAGES };
enum { STACK_BYTES = 4 << 20 };

typedef struct state {
    const twi_pipeline *pipeline;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t done[STAGES]; /* portions behind each stage */
    twi_exit result;      /* the first failure; the others stop */
    char *line;           /* and its line */
} state;

/* Whether portion `index` may pass a stage: the stage before has made it, and its slot was taken over by the next. */
static bool is_free(const state *s, int stage, int64_t index)
{
    return (stage == GET || s->done[stage - 1] > index) && (stage == PUT || s->done[stage + 1] > index - TWI_SLOTS);
}

/* Takes all portions through a stage. */
static void run_stage(state *s, int stage)
{
    twi_stage *const stages[STAGES] = {s->pipeline->get, s->pipeline->work, s->pipeline->put};
    twi_complaints complaints = {0};
    twi_complaints *before = twi_keep_complaints(&complaints);
    (void)pthread_mutex_lock(&s->lock);
    for (int64_t index = 0; index < s->pipeline->count && s->result == TWI_EXIT_DONE; index++) {
        while (!is_free(s, stage, index) && s->result == TWI_EXIT_DONE)
            (void)pthread_cond_wait(&s->moved, &s->lock);
        if (s->result != TWI_EXIT_DONE)
            break;
        (void)pthread_mutex_unlock(&s->lock);
        const twi_exit result = stages[stage](s->pipeline->user, index);
        (void)pthread_mutex_lock(&s->lock);
        s->done[stage] = index + 1;
        if (result != TWI_EXIT_DONE && s->result == TWI_EXIT_DONE) {
            s->result = result;
            s->line = complaints.failure;
            complaints.failure = NULL;
        }
        (void)pthread_cond_broadcast(&s->moved);
    }
    (void)pthread_mutex_unlock(&s->lock);
    (void)twi_keep_complaints(before);
    free(complaints.failure);
    free(complaints.warning);
}

static void *run_get(void *argument)
{
    run_stage(argument, GET);
    return NULL;
}

static void *run_put(void *argument)
{
    run_stage(argument, PUT);
    return NULL;
}

static void stop(state *s, twi_exit result)
{
    (void)pthread_mutex_lock(&s->lock);
    s->result = result;
    (void)pthread_cond_broadcast(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
}

/* A thread with a stack that codecs do with: what is usual may be more than a bound on memory has left. */
static int start(pthread_t *thread, void *(*run)(void *), state *s)
{
    pthread_attr_t attributes;
    int reason = pthread_attr_init(&attributes);
    if (reason != 0)
        return reason;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    reason = pthread_create(thread, &attributes, run, s);
    (void)pthread_attr_destroy(&attributes);
    return reason;
}

static twi_exit run_threads(const twi_pipeline *pipeline)
{
    state s = {.pipeline = pipeline, .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    pthread_t getter;
    pthread_t putter;
    if (!pipeline->put)
        s.done[PUT] = INT64_MAX;
    int reason = start(&getter, run_get, &s);
    if (reason != 0)
        return twi_complain(TWI_EXIT_MEMORY, "no thread to read with: %s", strerror(reason));
    if (pipeline->put)
        reason = start(&putter, run_put, &s);
    if (reason == 0) {
        run_stage(&s, WORK);
        if (pipeline->put)
            (void)pthread_join(putter, NULL);
    } else {
        stop(&s, twi_complain(TWI_EXIT_MEMORY, "no thread to write with: %s", strerror(reason)));
    }
    (void)pthread_join(getter, NULL);
    if (s.line)
        (void)twi_complain(s.result, "%s", s.line);
    free(s.line);
    return s.result;
}

twi_exit twi_pipeline_run(const twi_pipeline *pipeline)
{
    if (pipeline->count > 1)
        return run_threads(pipeline);
    twi_exit result = pipeline->get(pipeline->user, 0);
    if (result == TWI_EXIT_DONE)
        result = pipeline->work(pipeline->user, 0);
    return result == TWI_EXIT_DONE && pipeline->put ? pipeline->put(pipeline->user, 0) : result;
}
