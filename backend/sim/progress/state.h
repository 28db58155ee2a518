/* The state of a section that goes on without time: its units, and the streams between them. An
 * actor is a load, a store, a compute unit, or one port of a buffer. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_STATE_H
#define SAMBA_BACKEND_SIM_PROGRESS_STATE_H

#include "backend/sim/progress/array.h"
#include "backend/sim/progress/generator.h"
#include "backend/sim/progress/lanes.h"
#include "backend/sim/progress/slots.h"

typedef struct SambaProgressUnit {
  uint32_t actor_first;
  SambaProgressProgram program; /* COMPUTE */
  SambaProgressInput *inputs;   /* COMPUTE */
  SambaProgressOutput *outputs;
  union {
    SambaLanes lanes;
    SambaArray array;
    SambaSlots slots;
    SambaProgressGenerator generator;
  };
} SambaProgressUnit;

typedef struct SambaProgress {
  SambaArena arena;
  const SambaMachine *machine;
  const SambaSection *section;
  SambaAgenda agenda;
  SambaFlows flows;
  SambaProgressUnit *units;
  uint32_t actor_count;
  uint32_t *actor_units; /* unit of each actor */
  bool stopped, ends;
} SambaProgress;

static inline uint32_t sambaProgressActorsOf(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER ? unit->input_count + unit->output_count : 1;
}
static inline bool sambaProgressIsArray(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_COMPUTE && unit->compute.program.systolic;
}
bool sambaProgressActorIsDone(const SambaProgress *progress, uint32_t actor);

#endif
