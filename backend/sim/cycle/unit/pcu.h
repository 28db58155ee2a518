/* A PCU: a body that takes its operands step by step, and ports that send what it made.
 *
 * A step of a SIMD body is one vector of lanes; a step of the array is one k step of a pass. The
 * body takes a step when the vectors that the step needs are there, in the order of the tokens. A
 * vector leaves its FIFO in the step that uses its last element for the first time; what is needed
 * again stays in registers. A port takes one vector per cycle. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_H

#include "backend/sim/cycle/unit/pcu_state.h"

void sambaPcuBuild(SambaPcu *pcu, SambaArena *arena, const SambaNetwork *network,
                   const SambaSection *section, uint32_t unit);
/* A unit that is stepped soon: fetches its ports into the host's cache. */
void sambaPcuFetchPorts(const SambaPcu *pcu);
/* The same a little later: what its ports need. */
void sambaPcuFetch(const SambaPcu *pcu, const SambaNetwork *network);
/* The same a little later: what the FIFOs that it fetched keep elsewhere. */
void sambaPcuFetchBehind(const SambaPcu *pcu, const SambaNetwork *network);
/* From this cycle on, those before `end` in which it has something to do, and how many. Returns the
 * next one; the clock stands at the last one. */
uint64_t sambaPcuStepThrough(SambaPcu *pcu, SambaNetwork *network, uint64_t end, uint64_t *steps);

#endif
