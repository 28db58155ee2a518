/* What one firing of an emitted unit takes, from its records and the machine's parameters: the laws
 * of docs/timing-model.md without what only a run knows. */
#ifndef SAMBA_BACKEND_ESTIMATE_UNIT_LAW_H
#define SAMBA_BACKEND_ESTIMATE_UNIT_LAW_H

#include "backend/machine/machine.h"
#include "backend/section/port_cycles.h"
#include "backend/section/section.h"

/* A firing of a PCU. */
typedef struct SambaComputeLaw {
  double work;    /* cycles that it occupies the unit, its ports apart */
  double latency; /* from there to its output */
  double first;   /* part of the firing before the first vector of an output is made */
} SambaComputeLaw;
SambaComputeLaw sambaComputeLaw(const SambaUnit *unit, const SambaMachine *machine);

/* A token of a load or store, in the mean of its tokens. */
typedef struct SambaMemoryLaw {
  double bytes;    /* that the memory moves: whole bursts of the elements that guards enable */
  double issue;    /* cycles in which the generator asks for them */
  double runs;     /* pieces of memory that it asks for one after the other */
  double requests; /* of these, each within one channel */
  double run;      /* bytes of such a piece, which the counters from `level` on walk */
  uint32_t level;
} SambaMemoryLaw;
SambaMemoryLaw sambaMemoryLaw(const SambaSection *section, const SambaUnit *unit,
                              const SambaMachine *machine);

/* Cycles of a token at a port of a PMU, in the mean of its tokens. */
double sambaPmuTokenCycles(const SambaSection *section, const SambaUnit *unit, bool output,
                           uint32_t port, const SambaMachine *machine, SambaPortPatterns *patterns);

/* Vectors of one token on a stream: of a scalar stream each element is one, and a token without
 * elements is one too. width: bytes of a vector. */
double sambaTokenVectors(const SambaPort *port, SambaStreamKind kind, uint64_t width);

#endif
