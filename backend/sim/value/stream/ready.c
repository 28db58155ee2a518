/* Units that may be able to go on; see ready.h. */
#include "backend/sim/value/stream/ready.h"

#include "support/base/memory.h"

#include <stdlib.h>

void sambaReadyInitialize(SambaReadyList *list, uint32_t count) {
  *list = (SambaReadyList){.capacity = count + 1};
  list->ring = sambaAllocate(sambaArraySize(list->capacity, sizeof *list->ring));
  list->units = sambaAllocateZeroed(list->capacity, sizeof *list->units);
  for (uint32_t i = 0; i < count; ++i)
    atomic_init(&list->units[i].state, SAMBA_READY_IDLE);
  pthread_mutex_init(&list->mutex, NULL);
  pthread_cond_init(&list->changed, NULL);
}

void sambaReadyDestroy(SambaReadyList *list) {
  pthread_mutex_destroy(&list->mutex);
  pthread_cond_destroy(&list->changed);
  free(list->units);
  free(list->ring);
}

void sambaReadyReopen(SambaReadyList *list) { list->stop = false; }

static void push(SambaReadyList *list, uint32_t unit) {
  pthread_mutex_lock(&list->mutex);
  list->ring[(list->head + list->size++) % list->capacity] = unit;
  if (list->waiting)
    pthread_cond_signal(&list->changed);
  pthread_mutex_unlock(&list->mutex);
}

void sambaReadyWake(SambaReadyList *list, uint32_t unit) {
  atomic_int *state = &list->units[unit].state;

  /* What the unit is woken for was stored before its state is read: a unit that is found queued
   * will see it. Pairs with the fence in sambaReadyBegin; without them both sides may read the
   * older value, and the wake is lost. */
  atomic_thread_fence(memory_order_seq_cst);
  int seen = atomic_load_explicit(state, memory_order_acquire);

  for (;;) {
    if (seen == SAMBA_READY_QUEUED || seen == SAMBA_READY_AGAIN)
      return;
    int wanted = seen == SAMBA_READY_IDLE ? SAMBA_READY_QUEUED : SAMBA_READY_AGAIN;
    if (atomic_compare_exchange_weak(state, &seen, wanted)) {
      if (wanted == SAMBA_READY_QUEUED)
        push(list, unit);
      return;
    }
  }
}

bool sambaReadyTake(SambaReadyList *list, uint32_t *out_unit) {
  bool taken = false;

  pthread_mutex_lock(&list->mutex);
  while (!list->stop && !taken) {
    if (list->size > 0) {
      *out_unit = list->ring[list->head];
      list->head = (list->head + 1) % list->capacity;
      --list->size;
      ++list->running;
      taken = true;
    } else if (list->running == 0) {
      list->stop = true;
      pthread_cond_broadcast(&list->changed);
    } else {
      ++list->waiting;
      pthread_cond_wait(&list->changed, &list->mutex);
      --list->waiting;
    }
  }
  pthread_mutex_unlock(&list->mutex);

  return taken;
}

void sambaReadyBegin(SambaReadyList *list, uint32_t unit) {
  atomic_store(&list->units[unit].state, SAMBA_READY_RUNNING);
  atomic_thread_fence(memory_order_seq_cst);
}

bool sambaReadyRest(SambaReadyList *list, uint32_t unit) {
  int running = SAMBA_READY_RUNNING;
  return atomic_compare_exchange_strong(&list->units[unit].state, &running, SAMBA_READY_IDLE);
}

void sambaReadyLeave(SambaReadyList *list, bool stop) {
  pthread_mutex_lock(&list->mutex);
  --list->running;
  list->stop |= stop;
  if (list->stop || (list->size == 0 && list->running == 0))
    pthread_cond_broadcast(&list->changed);
  pthread_mutex_unlock(&list->mutex);
}
