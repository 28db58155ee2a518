/* One call of a section as a network of running units: the structs that all kinds of units share.
 *
 * A unit is worked on by one thread at a time and runs until it waits for a token, for space or for
 * a slot. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_UNIT_RUN_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_UNIT_RUN_H

#include "backend/machine/machine.h"
#include "backend/sim/call/call.h"
#include "backend/sim/value/kernel/jit.h"
#include "backend/sim/value/stream/port.h"

#include <signal.h>

typedef struct SambaUnitRun {
  const SambaUnit *unit;
  uint32_t index;
  SambaPortRun *inputs, *outputs;
  uint64_t firings, fired; /* LOAD, STORE, COMPUTE; a BUFFER counts per port (buffer_unit.c) */
  uint32_t *counters;      /* outer counters of the next firing */
  uint32_t outer_count;
  const uint32_t *outer_trips;
  void *state; /* of its kind; in the arena of the section's run */
  uint64_t macs, lane_operations;
} SambaUnitRun;

/* What all calls of an engine share; borrowed. */
typedef struct SambaValueContext {
  SambaPool *pool;
  SambaJit *jit;
  const SambaMachine *machine;
  const char *cpu;                   /* that kernels are compiled for; NULL: the host's */
  bool trap_nan;                     /* a NaN written to memory is the fault `not a number` */
  bool keep_passes;                  /* passes are not joined */
  const volatile sig_atomic_t *stop; /* non-zero: the fault `interrupted`; NULL: nothing stops it */
} SambaValueContext;

/* In which order a port's tokens pass, of those that joined tokens are made of: counters, and how
 * many firings of the original section a step of each is. */
typedef struct SambaTokenOrder {
  uint32_t count;
  const uint32_t *trips;
  const uint64_t *firings;
} SambaTokenOrder;

/* One call. */
typedef struct SambaSectionRun {
  SambaValueContext context;
  const SambaSection *original; /* what the call names */
  const SambaSection *section;  /* of the same meaning and the same units, with larger tokens */
  SambaTokenOrder **orders;     /* per unit and port, inputs before outputs; NULL: all as before */
  const SambaBinding *bindings; /* per formal */
  const uint64_t *argins;
  SambaIndexTraces *traces; /* NULL: not wanted */
  SambaArena arena;
  SambaUnitRun *units; /* per unit of the section */
  SambaQueue *queues;
  uint32_t queue_count;
  SambaReadyList ready;
} SambaSectionRun;

/* How many firings of the original section one firing of the unit is. For a BUFFER: 1, its ports
 * count for themselves. */
uint64_t sambaUnitJoinedFirings(const SambaSectionRun *run, const SambaUnitRun *unit);
/* The firing of the original section from whose token this element of the next token comes.
 * port: of the section that runs; fired: how many of its tokens there were before. */
uint64_t sambaOriginalFiring(const SambaSectionRun *run, const SambaUnitRun *unit,
                             const SambaPort *port, uint64_t fired, uint64_t element);

/* A named fault: "FAULT: section 'S', load 'U' of layer 'L', firing N: ..."; firing: of the
 * original section. */
SambaStatus sambaUnitFault(const SambaSectionRun *run, const SambaUnitRun *unit, uint64_t firing,
                           const char *fault, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
