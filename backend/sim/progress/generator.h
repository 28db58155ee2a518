/* Loads and stores without time. Memory answers some time, so only what comes in over streams holds
 * them up: data and indices of stores, indices and control tokens of loads; and room on the stream
 * of a load, which walks at most twice ag_bursts pieces of its pattern ahead of what has left. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_GENERATOR_H
#define SAMBA_BACKEND_SIM_PROGRESS_GENERATOR_H

#include "backend/sim/progress/port.h"

typedef struct SambaProgressGenerator {
  const SambaUnit *unit;
  bool is_load;
  uint64_t firings, token_elements;
  uint64_t index_elements; /* elements for one index value */
  uint64_t index_pieces;   /* pieces in which they are asked for */
  uint64_t group_elements; /* elements of a store that one request covers, at most */
  uint64_t pieces_ahead;
  uint32_t data, index;       /* inputs; SAMBA_NO_INDEX: none */
  uint64_t passed;            /* STORE: elements */
  SambaProgressInput *inputs; /* of the unit */
  SambaProgressOutput *outputs;
} SambaProgressGenerator;

void sambaProgressGeneratorBuild(SambaProgressGenerator *generator, SambaArena *arena,
                                 const SambaFlows *flows, const SambaMachine *machine,
                                 const SambaSection *section, uint32_t unit);
void sambaProgressGeneratorAdvance(SambaProgressGenerator *generator, SambaFlows *flows);
bool sambaProgressGeneratorIsDone(const SambaProgressGenerator *generator);
/* Firings that are over. */
uint64_t sambaProgressGeneratorFirings(const SambaProgressGenerator *generator);
/* An input without which it does not go on; SAMBA_NO_INDEX: there is none. */
uint32_t sambaProgressGeneratorMissing(const SambaProgressGenerator *generator,
                                       const SambaFlows *flows);

#endif
