/* The scheduler: units that may be able to go on wait in a list; threads take them, one thread per
 * unit at a time, and let each run until it waits. When the list is empty and nobody runs, either
 * all are done or the network is stuck. */
#include "backend/sim/value/network/value_engine.h"

#include <stdlib.h>
#include <string.h>

typedef struct SambaSchedule {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  uint32_t *ready; /* a ring of units */
  uint32_t head, size, capacity, running, waiting;
  bool stop;
  SambaStatus fault;
  uint32_t fault_unit;
} SambaSchedule;

static void pushReady(SambaSchedule *schedule, uint32_t unit) {
  pthread_mutex_lock(&schedule->mutex);
  schedule->ready[(schedule->head + schedule->size++) % schedule->capacity] = unit;
  if (schedule->waiting)
    pthread_cond_signal(&schedule->changed);
  pthread_mutex_unlock(&schedule->mutex);
}

void sambaScheduleWake(SambaRun *run, uint32_t unit) {
  atomic_int *activity = &run->units[unit].activity;

  /* What the unit is woken for was stored before its activity is read: a unit found queued will see
   * it. Pairs with the fence in work(); without them both sides may read the older value, and the
   * wake is lost. */
  atomic_thread_fence(memory_order_seq_cst);
  int seen = atomic_load_explicit(activity, memory_order_acquire);

  for (;;) {
    if (seen == SAMBA_UNIT_QUEUED || seen == SAMBA_UNIT_AGAIN)
      return;
    int wanted = seen == SAMBA_UNIT_IDLE ? SAMBA_UNIT_QUEUED : SAMBA_UNIT_AGAIN;
    if (atomic_compare_exchange_weak(activity, &seen, wanted)) {
      if (wanted == SAMBA_UNIT_QUEUED)
        pushReady(run->schedule, unit);
      return;
    }
  }
}

static SambaStatus fire(SambaRun *run, SambaRunUnit *unit) {
  switch (unit->unit->kind) {
  case SAMBA_UNIT_LOAD:
    return sambaLoadFire(run, unit);
  case SAMBA_UNIT_STORE:
    return sambaStoreFire(run, unit);
  case SAMBA_UNIT_BUFFER:
    return sambaBufferFire(run, unit);
  case SAMBA_UNIT_COMPUTE:
    return sambaComputeFire(run, unit);
  }
  return NULL;
}

/* Of several faults at once, the one of the first unit is kept. */
static void keepFault(SambaSchedule *schedule, SambaStatus status, uint32_t unit) {
  if (!schedule->fault || unit < schedule->fault_unit) {
    sambaStatusFree(schedule->fault);
    schedule->fault = status;
    schedule->fault_unit = unit;
  } else {
    sambaStatusFree(status);
  }
}

static void *work(void *argument) {
  SambaRun *run = argument;
  SambaSchedule *schedule = run->schedule;

  pthread_mutex_lock(&schedule->mutex);
  while (!schedule->stop) {
    if (schedule->size == 0) {
      if (schedule->running == 0) {
        schedule->stop = true;
        pthread_cond_broadcast(&schedule->changed);
        break;
      }
      ++schedule->waiting;
      pthread_cond_wait(&schedule->changed, &schedule->mutex);
      --schedule->waiting;
      continue;
    }

    uint32_t index = schedule->ready[schedule->head];
    schedule->head = (schedule->head + 1) % schedule->capacity;
    --schedule->size;
    ++schedule->running;
    pthread_mutex_unlock(&schedule->mutex);
    SambaRunUnit *unit = &run->units[index];
    SambaStatus status = NULL;
    for (int running = SAMBA_UNIT_RUNNING;; running = SAMBA_UNIT_RUNNING) {
      atomic_store(&unit->activity, SAMBA_UNIT_RUNNING);
      atomic_thread_fence(memory_order_seq_cst);
      status = fire(run, unit);
      /* Woken meanwhile: what it waits for may be there by now. */
      if (status || atomic_compare_exchange_strong(&unit->activity, &running, SAMBA_UNIT_IDLE))
        break;
    }

    pthread_mutex_lock(&schedule->mutex);
    --schedule->running;
    if (status) {
      keepFault(schedule, status, index);
      schedule->stop = true;
    }

    if (schedule->stop || (schedule->size == 0 && schedule->running == 0))
      pthread_cond_broadcast(&schedule->changed);
  }

  pthread_mutex_unlock(&schedule->mutex);
  return NULL;
}

static bool isDone(const SambaRunUnit *unit) {
  return unit->unit->kind == SAMBA_UNIT_BUFFER ? sambaBufferDone(unit)
                                               : unit->fired == unit->firings;
}

/* A place that waits: a unit, and for a buffer one of its ports. */
typedef struct Place {
  uint32_t unit;
  bool output;
  uint32_t port;
} Place;

/* What this place waits for: fills the queue (or NULL: another port of the same buffer), and
 * whether it is for space. */
static const SambaQueue *waitsFor(const SambaRunUnit *unit, Place place, bool *out_space,
                                  Place *out_next) {
  *out_next = place;
  if (unit->unit->kind == SAMBA_UNIT_BUFFER) {
    bool other_is_output;
    uint32_t other;
    const SambaQueue *queue =
        sambaBufferWaits(unit, place.output, place.port, &other_is_output, &other);
    *out_space = place.output;
    if (!queue)
      out_next->output = other_is_output, out_next->port = other;
    return queue;
  }

  for (uint32_t i = 0; i < unit->unit->input_count; ++i) {
    bool needed = unit->unit->kind != SAMBA_UNIT_COMPUTE || sambaComputeNeedsToken(unit, i);
    const SambaQueue *queue = needed ? sambaPortWaits(&unit->inputs[i], false) : NULL;
    *out_space = false;
    if (queue)
      return queue;
  }

  for (uint32_t i = 0; i < unit->unit->output_count; ++i) {
    const SambaQueue *queue = sambaPortWaits(&unit->outputs[i], true);
    *out_space = true;
    if (queue)
      return queue;
  }

  return NULL;
}

/* A unit that is not done: for a buffer, one of its ports that is not. */
static bool findStuck(const SambaRun *run, Place *out_place) {
  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    const SambaRunUnit *unit = &run->units[u];
    if (isDone(unit))
      continue;
    *out_place = (Place){u, false, 0};
    if (unit->unit->kind == SAMBA_UNIT_BUFFER)
      sambaBufferFirstWaiting(unit, &out_place->output, &out_place->port);
    return true;
  }
  return false;
}

typedef SAMBA_ARRAY(Place) Places;

static bool contains(const Places *places, Place place) {
  for (size_t i = 0; i < places->size; ++i) {
    const Place *p = &places->data[i];
    if (p->unit == place.unit && p->output == place.output && p->port == place.port)
      return true;
  }
  return false;
}

/* Walks the waits from an unfinished unit until they come back to a place, or to a unit that has
 * ended. */
static SambaStatus explainStuck(const SambaRun *run, Place place) {
  const SambaRunUnit *first = &run->units[place.unit];
  Places seen = {0};
  SambaStatus status = sambaRunFault(run, first, first->fired, "deadlock", "no unit can go on");

  while (!contains(&seen, place) && seen.size < 64) {
    sambaArrayAppend(&seen, place);
    const SambaRunUnit *unit = &run->units[place.unit];
    bool space = false;
    Place next;
    const SambaQueue *queue = waitsFor(unit, place, &space, &next);
    if (!queue) {
      if (contains(&seen, next))
        break;
      status = sambaStatusNote(status, "'%s': %s %u waits for %s %u", unit->unit->name,
                               place.output ? "output" : "input", place.port,
                               next.output ? "output" : "input", next.port);
      place = next;
      continue;
    }
    uint32_t other = space ? queue->destination : queue->source;
    const SambaRunUnit *peer = &run->units[other];
    if (!space && isDone(peer)) {
      sambaStatusFree(status);
      status = sambaRunFault(run, unit, unit->fired, "starved",
                             "input %u waits for a token of %s '%s', which has ended",
                             queue->destination_port, sambaUnitKindName(peer->unit->kind),
                             peer->unit->name);
      break;
    }
    status = sambaStatusNote(status, "'%s' waits for %s '%s'", unit->unit->name,
                             space ? "space in" : "a token of", peer->unit->name);
    place = (Place){other, false, 0};
    if (peer->unit->kind == SAMBA_UNIT_BUFFER)
      place = (Place){other, !space, space ? queue->destination_port : queue->source_port};
  }

  sambaArrayFree(&seen);
  return status;
}

SambaStatus sambaScheduleExecute(SambaRun *run) {
  const uint32_t count = run->section->unit_count;
  SambaSchedule schedule = {.capacity = count + 1,
                            .ready = sambaAllocate(sambaArraySize(count + 1, sizeof(uint32_t)))};
  pthread_mutex_init(&schedule.mutex, NULL);
  pthread_cond_init(&schedule.changed, NULL);
  run->schedule = &schedule;
  for (uint32_t u = 0; u < count; ++u)
    sambaScheduleWake(run, u);
  int extra = run->values->options.threads - 1;
  int started = 0;

  pthread_t *threads =
      sambaAllocate(sambaArraySize((size_t)(extra > 0 ? extra : 0), sizeof *threads));
  while (started < extra && pthread_create(&threads[started], NULL, work, run) == 0)
    ++started;
  work(run);
  for (int i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  free(threads);
  SambaStatus status = schedule.fault;
  Place stuck;
  if (!status && findStuck(run, &stuck))
    status = explainStuck(run, stuck);
  pthread_mutex_destroy(&schedule.mutex);
  pthread_cond_destroy(&schedule.changed);
  free(schedule.ready);
  run->schedule = NULL;

  return status;
}
