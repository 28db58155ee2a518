/* The units of a network that may be able to go on: a list from which threads take them. One thread
 * at a time has a unit. The list knows units by their index and nothing else of them. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STREAM_READY_H
#define SAMBA_BACKEND_SIM_VALUE_STREAM_READY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  SAMBA_READY_IDLE,    /* waits for something */
  SAMBA_READY_QUEUED,  /* in the list */
  SAMBA_READY_RUNNING, /* a thread has it */
  SAMBA_READY_AGAIN    /* a thread has it, and it was woken meanwhile */
} SambaReadyState;

typedef struct SambaReadyUnit {
  atomic_int state; /* SambaReadyState */
  char rest[60];    /* of a cache line: no other unit's state shares it */
} SambaReadyUnit;

typedef struct SambaReadyList {
  SambaReadyUnit *units;
  pthread_mutex_t mutex; /* guards the rest */
  pthread_cond_t changed;
  uint32_t *ring;
  uint32_t head, size, capacity, running, waiting;
  bool stop;
} SambaReadyList;

/* A list for `count` units, all idle. */
void sambaReadyInitialize(SambaReadyList *list, uint32_t count);
void sambaReadyDestroy(SambaReadyList *list);
/* After all threads have left a list that ran empty: units can be woken and taken again. */
void sambaReadyReopen(SambaReadyList *list);
/* Puts a unit into the list, or has the thread that runs it look again. Safe from every thread. */
void sambaReadyWake(SambaReadyList *list, uint32_t unit);

/* Waits for a unit and takes it. False when the list is stopped, or empty while no unit runs: then
 * no unit can become ready any more. */
bool sambaReadyTake(SambaReadyList *list, uint32_t *out_unit);
/* Called before the unit that was taken is run, each time. */
void sambaReadyBegin(SambaReadyList *list, uint32_t unit);
/* The unit waits. False when it was woken since sambaReadyBegin: it must be run again. */
bool sambaReadyRest(SambaReadyList *list, uint32_t unit);
/* The thread gives the unit back; stop: the list ends for all threads. */
void sambaReadyLeave(SambaReadyList *list, bool stop);

#endif
