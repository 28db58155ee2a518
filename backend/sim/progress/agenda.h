/* Which actors are to be looked at again: those for which there is much to do first, because a look
 * costs the same when there is little. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_AGENDA_H
#define SAMBA_BACKEND_SIM_PROGRESS_AGENDA_H

#include "support/base/memory.h"

typedef struct SambaAgendaList {
  uint32_t *ring;
  bool *listed; /* per actor */
  uint32_t mask, head, size;
} SambaAgendaList;

typedef struct SambaAgenda {
  SambaAgendaList soon, later; /* an actor may be in both */
} SambaAgenda;

static inline void sambaAgendaListInit(SambaAgendaList *list, SambaArena *arena, uint32_t actors) {
  uint32_t slots = 1;
  while (slots < actors)
    slots *= 2;
  *list = (SambaAgendaList){.ring = SAMBA_ARENA_ARRAY(arena, uint32_t, slots),
                            .listed = SAMBA_ARENA_ARRAY(arena, bool, slots),
                            .mask = slots - 1};
}

static inline void sambaAgendaInit(SambaAgenda *agenda, SambaArena *arena, uint32_t actors) {
  sambaAgendaListInit(&agenda->soon, arena, actors);
  sambaAgendaListInit(&agenda->later, arena, actors);
}

static inline void sambaAgendaAdd(SambaAgenda *agenda, uint32_t actor, bool soon) {
  SambaAgendaList *list = soon ? &agenda->soon : &agenda->later;
  if (list->listed[actor])
    return;
  list->listed[actor] = true;
  list->ring[(list->head + list->size++) & list->mask] = actor;
}

/* False: nothing is left to look at. */
static inline bool sambaAgendaNext(SambaAgenda *agenda, uint32_t *out_actor) {
  SambaAgendaList *list = agenda->soon.size ? &agenda->soon : &agenda->later;
  if (!list->size)
    return false;
  *out_actor = list->ring[list->head++ & list->mask];
  --list->size;
  list->listed[*out_actor] = false;
  return true;
}

#endif
