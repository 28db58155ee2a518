/* The placer's own view of a section: slots (sites, then address generators), units on them, nets
 * over the units.
 *
 * Private to backend/place: place.c builds and checks it, place_initial.c fills it, place_anneal.c
 * improves it. */
#ifndef SAMBA_BACKEND_PLACE_PLACER_PLACEMENT_H
#define SAMBA_BACKEND_PLACE_PLACER_PLACEMENT_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "support/base/index.h"

#include <stdbool.h>

/* SAMBA_SLOT_STORE: an address generator's way to memory, where loads and stores share generators.
 */
typedef enum {
  SAMBA_SLOT_PCU,
  SAMBA_SLOT_PMU,
  SAMBA_SLOT_AG,
  SAMBA_SLOT_STORE,
  SAMBA_SLOT_CLASSES
} SambaSlotClass;

typedef struct SambaPlacementBox {
  int32_t x0, x1, y0, y1; /* in cycles */
} SambaPlacementBox;

typedef struct SambaPlacement {
  const SambaSection *section;
  const SambaMachine *machine;
  int32_t width, height;
  const uint32_t *rates; /* of the section's streams */
  /* slot = y * width + x, then site_count + ag, then site_count + ag_count + ag for stores. */
  uint32_t site_count, ag_count, slot_count;
  const int32_t *column_cycles;   /* latency from column 0 to column x */
  int32_t row_cycles;             /* latency from row to row */
  const int32_t *slot_x, *slot_y; /* switch of each slot: beside an address generator */
  uint32_t unit_count, class_count[SAMBA_SLOT_CLASSES];
  SambaSlotClass *unit_class;
  uint32_t *unit_slot; /* SAMBA_NO_INDEX: not placed yet */
  bool *unit_fixed;    /* placed by hand */
  /* Of loads and stores that share generators: what their streams carry together, in permille of a
   * lane; of others 0. */
  uint32_t *unit_rate;
  int64_t generator_rate; /* the same of a generator that is asked for all it gives */
  /* Of a store behind a PMU that gathers: whether each unit is one of those that fill it, and rests
   * while it stores; of all other units NULL. */
  const bool **unit_rests;
  uint32_t *occupant;       /* per slot: the unit there, SAMBA_NO_INDEX when free */
  int32_t *unit_x, *unit_y; /* position in cycles */
  /* Nets: the distinct units of each stream that joins at least two; and the nets of each unit. */
  uint32_t net_count;
  uint32_t *net_start, *net_units;
  uint32_t *net_weight;
  uint32_t *unit_net_start, *unit_nets;
} SambaPlacement;

static inline void sambaPlacementSet(SambaPlacement *placement, uint32_t unit, uint32_t slot) {
  placement->unit_slot[unit] = slot;
  placement->occupant[slot] = unit;
  placement->unit_x[unit] = placement->column_cycles[placement->slot_x[slot]];
  placement->unit_y[unit] = placement->slot_y[slot] * placement->row_cycles;
}

static inline SambaSlotClass sambaPlacementSlotClass(const SambaPlacement *placement,
                                                     uint32_t slot) {
  if (slot >= placement->site_count)
    return slot < placement->site_count + placement->ag_count ? SAMBA_SLOT_AG : SAMBA_SLOT_STORE;
  bool pcu = sambaMachineSiteKind(placement->machine, placement->slot_x[slot],
                                  placement->slot_y[slot]) == SAMBA_SITE_PCU;
  return pcu ? SAMBA_SLOT_PCU : SAMBA_SLOT_PMU;
}

/* What the unit in a slot carries as a load or store that may share its generator. */
static inline int64_t sambaPlacementRate(const SambaPlacement *placement, uint32_t slot) {
  uint32_t unit = placement->occupant[slot];
  return unit == SAMBA_NO_INDEX ? 0 : placement->unit_rate[unit];
}

/* The other slot of a generator that a load and a store may share; a slot of generators. */
static inline uint32_t sambaPlacementPartner(const SambaPlacement *placement, uint32_t slot) {
  uint32_t stores = placement->site_count + placement->ag_count;
  return slot < stores ? slot + placement->ag_count : slot - placement->ag_count;
}

/* What it costs that the load or store in one slot shares its generator with the one in another:
 * together they may ask for more than a generator gives. Each permille of a lane beyond that weighs
 * more than ways do, because it holds up the section. What is gathered is stored as fast as can be,
 * which takes a generator from any load but those that rest meanwhile. */
static inline int64_t sambaPlacementSharedCost(const SambaPlacement *placement, uint32_t slot,
                                               uint32_t partner) {
  enum { permille = 1 << 13 };
  bool is_store = sambaPlacementSlotClass(placement, slot) == SAMBA_SLOT_STORE;
  uint32_t store = placement->occupant[is_store ? slot : partner];
  uint32_t load = placement->occupant[is_store ? partner : slot];
  int64_t one = sambaPlacementRate(placement, slot);
  int64_t other = sambaPlacementRate(placement, partner);
  if (store != SAMBA_NO_INDEX && load != SAMBA_NO_INDEX && placement->unit_rests[store])
    return placement->unit_rests[store][load] ? 0 : permille * placement->unit_rate[load];
  int64_t more = one + other - placement->generator_rate;
  return one && other && more > 0 ? permille * more : 0;
}

static inline int32_t sambaPlacementBoxLength(SambaPlacementBox box) {
  return box.x1 - box.x0 + box.y1 - box.y0;
}
static inline int64_t sambaPlacementBoxCost(const SambaPlacement *placement, uint32_t net,
                                            SambaPlacementBox box) {
  return (int64_t)placement->net_weight[net] * sambaPlacementBoxLength(box);
}
/* The box around the units of a net; the cost of all nets. */
SambaPlacementBox sambaPlacementBox(const SambaPlacement *placement, uint32_t net);
int64_t sambaPlacementCost(const SambaPlacement *placement);

/* Places every unit that has no slot; there is room (place.c has counted). Scratch memory comes
 * from the arena. */
void sambaPlacementInitial(SambaPlacement *placement, SambaArena *arena);
/* Improves a complete placement; hand-placed units stay. */
void sambaPlacementAnneal(SambaPlacement *placement, SambaArena *arena);

#endif
