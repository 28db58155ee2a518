/* What a LOAD keeps: the data that it asked for, until they have left in order. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_LOAD_DELIVERY_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_LOAD_DELIVERY_H

#include "backend/sim/timing/engine/timing_state.h"

void sambaLoadDeliveryInit(SambaEngine *engine, SambaActor *actor);
/* A LOAD has so many places for pieces of its pattern. */
static inline uint64_t sambaLoadPlaces(const SambaMachine *machine) {
  return 2 * (uint64_t)machine->ag_bursts;
}
/* Whether there are places for `pieces` more even if nothing has left of what was asked for since
 * token `token` began: then consumers cannot hold up the LOAD before it ends. */
static inline bool sambaLoadHasPlacesFrom(const SambaEngine *engine, const SambaMemoryState *memory,
                                          uint64_t token, uint64_t pieces) {
  uint64_t places = sambaLoadPlaces(engine->machine), before = memory->pieces;
  if (token < memory->token_end)
    before = sambaMemoryTokenAt(memory, token)->pieces;
  return memory->pieces_kept + pieces <= places && memory->pieces - before + pieces <= places;
}
/* Vectors of the token that takers have held up last which have left by cycle `at`; below 0: of the
 * token before it so many have not. */
static inline int64_t sambaLoadLeft(const SambaMemoryState *memory, uint64_t at) {
  if (at < memory->resumes_at)
    return memory->held_left;
  uint64_t since = sambaTimeMin(at - memory->resumes_at, 2 * memory->held_cycles);
  return memory->held_left + 1 +
         (int64_t)sambaTimeScale(memory->held_vectors, since, sambaTimeMax(memory->held_cycles, 1));
}
/* That token is not all through yet, and no other one has been since. */
static inline bool sambaLoadResumes(SambaMemoryState *memory, uint64_t at) {
  if (memory->resumes)
    memory->resumes = memory->held_token + 1 >= memory->token_base &&
                      sambaLoadLeft(memory, at) < (int64_t)memory->held_vectors;
  return memory->resumes;
}
/* The places of what has left by cycle `at` are free. */
void sambaLoadFreePlaces(const SambaEngine *engine, SambaMemoryState *memory, uint64_t at);
/* Whether the LOAD may walk `pieces` more now. If not, *out_at is the cycle at which the oldest
 * ones have left, SAMBA_TIME_UNKNOWN: the LOAD is looked at again when that is known, or when a
 * consumer makes room (*out_full). */
bool sambaLoadHasPlaces(SambaEngine *engine, uint32_t actor, uint64_t pieces, uint64_t *out_at,
                        bool *out_full);
/* Enters a group of the token begun last, whose data are on the way. The caller fills in what it
 * holds. Returns its number. */
uint64_t sambaLoadAsk(SambaEngine *engine, SambaActor *actor, uint32_t pieces,
                      SambaLoadGroup **out_group, SambaLoadRun **out_run);
/* It is known when the data of a group are there, the last ones at cycle `last`. */
void sambaLoadArrive(SambaEngine *engine, SambaMemoryState *memory, uint32_t group,
                     SambaDramTimes times, uint64_t last);
/* The cycle after the one in which the last data come that are known to come. */
uint64_t sambaLoadDataEnd(const SambaMemoryState *memory);
/* Lets leave what can. Tokens leave in order, each no faster than its port. */
void sambaLoadDeliver(SambaEngine *engine, uint32_t actor);

#endif
