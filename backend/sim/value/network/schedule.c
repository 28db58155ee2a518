/* The scheduler: threads take units that may be able to go on (ready.h) and let each run until it
 * waits. When none is left and none runs, either all are done or the network is stuck. */
#include "backend/sim/value/network/schedule.h"

#include "backend/sim/call/stop.h"
#include "backend/sim/value/network/stuck.h"
#include "backend/sim/value/unit/buffer_unit.h"
#include "backend/sim/value/unit/compute_unit.h"
#include "backend/sim/value/unit/load_store_unit.h"

#include <stdlib.h>

typedef struct Schedule {
  SambaSectionRun *run;
  pthread_mutex_t mutex; /* guards the fault */
  SambaStatus fault;
  uint32_t fault_unit;
} Schedule;

static SambaStatus fire(SambaSectionRun *run, SambaUnitRun *unit) {
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

/* Runs a unit until it waits. */
static SambaStatus runUnit(SambaSectionRun *run, uint32_t unit) {
  for (;;) {
    if (sambaIsStopped(run->context.stop))
      return sambaUnitFault(run, &run->units[unit],
                            run->units[unit].fired * sambaUnitJoinedFirings(run, &run->units[unit]),
                            "interrupted", "values were not computed to the end");
    sambaReadyBegin(&run->ready, unit);
    SAMBA_RETURN_IF_ERROR(fire(run, &run->units[unit]));
    if (sambaReadyRest(&run->ready, unit))
      return NULL;
  }
}

/* Of several faults at once, the one of the first unit is kept. */
static void keepFault(Schedule *schedule, SambaStatus status, uint32_t unit) {
  pthread_mutex_lock(&schedule->mutex);
  if (!schedule->fault || unit < schedule->fault_unit) {
    sambaStatusFree(schedule->fault);
    schedule->fault = status;
    schedule->fault_unit = unit;
  } else {
    sambaStatusFree(status);
  }
  pthread_mutex_unlock(&schedule->mutex);
}

static void *work(void *argument) {
  Schedule *schedule = argument;
  SambaReadyList *ready = &schedule->run->ready;
  uint32_t unit;

  while (sambaReadyTake(ready, &unit)) {
    SambaStatus status = runUnit(schedule->run, unit);
    if (status)
      keepFault(schedule, status, unit);
    sambaReadyLeave(ready, status != NULL);
  }

  return NULL;
}

static void runThreads(Schedule *schedule, int threads) {
  int extra = threads > 1 ? threads - 1 : 0;
  int started = 0;
  pthread_t *helpers = sambaAllocate(sambaArraySize((size_t)extra, sizeof *helpers));
  while (started < extra && pthread_create(&helpers[started], NULL, work, schedule) == 0)
    ++started;
  work(schedule);
  for (int i = 0; i < started; ++i)
    pthread_join(helpers[i], NULL);
  free(helpers);
}

/* When no unit can go on, queues that are full get more room: a network must not stop because of
 * what a host's queue holds. (What the chip's FIFOs hold is the timing engine's business.) False
 * when no queue was full: then the network is done, or waits for itself. */
static bool growQueues(SambaSectionRun *run) {
  bool grown = false;
  for (uint32_t q = 0; q < run->queue_count; ++q)
    if (sambaQueueGrow(&run->arena, &run->queues[q])) {
      if (!grown)
        sambaReadyReopen(&run->ready);
      sambaReadyWake(&run->ready, run->queues[q].source);
      grown = true;
    }
  return grown;
}

SambaStatus sambaScheduleExecute(SambaSectionRun *run, int threads) {
  Schedule schedule = {.run = run};
  pthread_mutex_init(&schedule.mutex, NULL);
  for (uint32_t u = 0; u < run->section->unit_count; ++u)
    sambaReadyWake(&run->ready, u);

  do
    runThreads(&schedule, threads);
  while (!schedule.fault && growQueues(run));

  pthread_mutex_destroy(&schedule.mutex);
  return schedule.fault ? schedule.fault : sambaStuckExplain(run);
}
