/* See timed_ahead.h. */
#include "backend/sim/timed_ahead.h"

#include "backend/sim/call/stop.h"
#include "backend/sim/progress/progress.h"
#include "support/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A waiting caller looks so often whether the user wants it to stop. */
enum { STOP_POLL_NS = 20 * 1000 * 1000 };

typedef enum { JOB_WAITS, JOB_RUNS, JOB_DONE } JobState;

typedef struct Job {
  SambaAheadCall call; /* its bindings are its own */
  JobState state;
  SambaAheadResult answer;
  struct Job *next;
} Job;

struct SambaTimedAhead {
  const SambaMachine *machine;
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* a job came, or one is done */
  volatile sig_atomic_t stop;
  bool closes;
  Job *jobs; /* in the order in which they came */
  uint32_t count;
  int thread_count;
  pthread_t *threads;
};

/* Times a call: whether its section ends, unless that is known, and when. */
static SambaAheadResult timeWhole(const SambaMachine *machine, const SambaAheadCall *call) {
  SambaAheadResult answer = {.ends = call->options.known_to_end};
  SambaTimingOptions options = call->options;
  if (!answer.ends) {
    SambaProgress *progress =
        sambaProgressRun(machine, call->section, options.max_cycles, options.stop);
    answer.ends = !sambaProgressWasStopped(progress) && sambaProgressEnds(progress);
    sambaProgressFree(progress);
  }
  options.known_to_end = answer.ends;
  answer.status =
      sambaTimingExecute(machine, call->section, call->bindings, NULL, &options, &answer.result);
  return answer;
}

static Job *waitingJob(const SambaTimedAhead *ahead) {
  for (Job *job = ahead->jobs; job; job = job->next)
    if (job->state == JOB_WAITS)
      return job;
  return NULL;
}

/* Times the next call that nobody has begun with; the mutex is held. False when there is none. */
static bool timeNext(SambaTimedAhead *ahead, const volatile sig_atomic_t *stop) {
  Job *job = waitingJob(ahead);
  if (!job)
    return false;
  SambaAheadCall call = job->call;
  call.options.stop = stop;
  job->state = JOB_RUNS;
  pthread_mutex_unlock(&ahead->mutex);
  SambaAheadResult answer = timeWhole(ahead->machine, &call);
  pthread_mutex_lock(&ahead->mutex);
  job->answer = answer;
  job->state = JOB_DONE;
  pthread_cond_broadcast(&ahead->changed);
  return true;
}

static void *work(void *argument) {
  SambaTimedAhead *ahead = argument;
  pthread_mutex_lock(&ahead->mutex);
  while (!ahead->closes)
    if (!timeNext(ahead, &ahead->stop))
      pthread_cond_wait(&ahead->changed, &ahead->mutex);
  pthread_mutex_unlock(&ahead->mutex);
  return NULL;
}

SambaTimedAhead *sambaTimedAheadCreate(const SambaMachine *machine, int threads) {
  SambaTimedAhead *ahead = sambaAllocateZeroed(1, sizeof *ahead);
  ahead->machine = machine;
  ahead->threads = sambaAllocate(sambaArraySize((size_t)threads, sizeof *ahead->threads));
  pthread_mutex_init(&ahead->mutex, NULL);
  pthread_cond_init(&ahead->changed, NULL);
  while (ahead->thread_count < threads &&
         pthread_create(&ahead->threads[ahead->thread_count], NULL, work, ahead) == 0)
    ++ahead->thread_count;

  if (ahead->thread_count)
    return ahead;
  sambaTimedAheadDestroy(ahead);
  return NULL;
}

static void freeJob(Job *job) {
  free((void *)job->call.bindings);
  free(job);
}

void sambaTimedAheadDestroy(SambaTimedAhead *ahead) {
  if (!ahead)
    return;
  pthread_mutex_lock(&ahead->mutex);
  ahead->closes = true;
  sambaStop(&ahead->stop);
  pthread_cond_broadcast(&ahead->changed);
  pthread_mutex_unlock(&ahead->mutex);
  for (int i = 0; i < ahead->thread_count; ++i)
    pthread_join(ahead->threads[i], NULL);

  for (Job *job = ahead->jobs, *next; job; job = next) {
    next = job->next;
    sambaStatusFree(job->answer.status);
    sambaTimingResultFree(&job->answer.result);
    freeJob(job);
  }
  pthread_cond_destroy(&ahead->changed);
  pthread_mutex_destroy(&ahead->mutex);
  free(ahead->threads);
  free(ahead);
}

uint32_t sambaTimedAheadCount(const SambaTimedAhead *ahead) { return ahead->count; }

/* Where the list points to the job of a call; to NULL when there is none. Only the caller's thread
 * changes the list, so it needs no lock to look. */
static Job **findJob(SambaTimedAhead *ahead, uint32_t image, const SambaBinding *bindings) {
  Job **at = &ahead->jobs;
  for (; *at; at = &(*at)->next) {
    bool same = (*at)->call.image == image;
    for (uint32_t f = 0; same && f < (*at)->call.section->symbol_count; ++f)
      same = (*at)->call.bindings[f].address == bindings[f].address;
    if (same)
      break;
  }
  return at;
}

bool sambaTimedAheadHas(const SambaTimedAhead *ahead, uint32_t image,
                        const SambaBinding *bindings) {
  return *findJob((SambaTimedAhead *)ahead, image, bindings) != NULL;
}

void sambaTimedAheadAdd(SambaTimedAhead *ahead, const SambaAheadCall *call) {
  size_t bytes = sambaArraySize(call->section->symbol_count + 1, sizeof *call->bindings);
  SambaBinding *bindings = sambaAllocate(bytes);
  memcpy(bindings, call->bindings, call->section->symbol_count * sizeof *bindings);
  Job *job = sambaAllocateZeroed(1, sizeof *job);
  job->call = *call;
  job->call.bindings = bindings;

  pthread_mutex_lock(&ahead->mutex);
  Job **last = &ahead->jobs;
  while (*last)
    last = &(*last)->next;
  *last = job;
  ++ahead->count;
  pthread_cond_broadcast(&ahead->changed);
  pthread_mutex_unlock(&ahead->mutex);
}

/* Times other calls until a job is done, then waits; the user's wish to stop goes on to who runs
 * it. */
static void waitFor(SambaTimedAhead *ahead, const Job *job, const volatile sig_atomic_t *stop) {
  while (job->state != JOB_DONE) {
    if (timeNext(ahead, stop))
      continue;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STOP_POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&ahead->changed, &ahead->mutex, &until);
    if (sambaIsStopped(stop))
      sambaStop(&ahead->stop);
  }
}

bool sambaTimedAheadTake(SambaTimedAhead *ahead, uint32_t image, const SambaBinding *bindings,
                         const volatile sig_atomic_t *stop, SambaAheadResult *out_result) {
  Job **at = findJob(ahead, image, bindings), *job = *at;
  if (!job)
    return false;

  pthread_mutex_lock(&ahead->mutex);
  bool begun = job->state != JOB_WAITS;
  if (begun)
    waitFor(ahead, job, stop);
  *at = job->next;
  --ahead->count;
  pthread_mutex_unlock(&ahead->mutex);
  *out_result = job->answer;
  freeJob(job);
  return begun;
}
