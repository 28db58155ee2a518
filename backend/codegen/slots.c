/* Slots of buffers as small as the orders of their streams allow; see slots.h. */
#include "backend/codegen/slots.h"

#include "backend/section/banks.h"
#include "backend/section/gathering.h"
#include "backend/section/slot_need.h"

/* A port's counters while they are laid out anew. */
typedef struct Counters {
  const SambaAccess *access;
  uint32_t count;
  uint32_t *trips;
  int64_t *strides;
  int64_t **guards;
} Counters;

/* Adds `trips` steps of counter c: each adds `stride` to the address, and `step` of its own steps
 * to the guards. */
static void append(Counters *counters, uint32_t c, uint64_t trips, int64_t stride, int64_t step) {
  if (trips == 1)
    return;
  uint32_t at = counters->count++;
  counters->trips[at] = (uint32_t)trips;
  counters->strides[at] = stride;
  for (uint32_t g = 0; g < counters->access->guard_count; ++g)
    counters->guards[g][at] = counters->access->guards[g].strides[c] * step;
}

/* Joins the last two counters, which step slots, where the guards step them as one. */
static void join(Counters *counters) {
  uint32_t last = counters->count - 1;
  if (counters->count < 2)
    return;
  uint64_t trips = (uint64_t)counters->trips[last - 1] * counters->trips[last];
  bool one = trips <= UINT32_MAX;
  for (uint32_t g = 0; g < counters->access->guard_count && one; ++g)
    one = counters->guards[g][last - 1] == counters->guards[g][last] * counters->trips[last];
  if (!one)
    return;

  counters->trips[last - 1] = (uint32_t)trips;
  for (uint32_t g = 0; g < counters->access->guard_count; ++g)
    counters->guards[g][last - 1] = counters->guards[g][last];
  counters->count = last;
}

/* The access of a port whose slots are cut. */
static SambaAccess cutAccess(const SambaAccess *access, SambaSlotCut cut, SambaArena *arena) {
  const int64_t extent = (int64_t)(cut.stride * cut.parts), parts = (int64_t)cut.parts;
  const size_t most = (size_t)access->counter_count + 1;
  Counters counters = {.access = access,
                       .trips = SAMBA_ARENA_ARRAY(arena, uint32_t, most),
                       .strides = SAMBA_ARENA_ARRAY(arena, int64_t, most),
                       .guards = SAMBA_ARENA_ARRAY(arena, int64_t *, access->guard_count)};
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, access->guard_count);
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    guards[g] = access->guards[g];
    guards[g].strides = counters.guards[g] = SAMBA_ARENA_ARRAY(arena, int64_t, most);
  }

  SambaAccess made = *access;
  uint32_t c = 0;
  for (; c < access->slot_level; ++c)
    append(&counters, c, access->trips[c], access->strides[c], 1);
  while (access->trips[c] == 1)
    ++c;
  int64_t left = access->trips[c] / parts; /* steps of the counter that stay within a slot */
  append(&counters, c, cut.parts, 0, left);
  join(&counters);
  made.slot_level = counters.count;
  append(&counters, c, (uint64_t)left, access->strides[c], 1);

  for (++c; c <= access->counter_count; ++c) {
    if (c == access->token_level)
      made.token_level = counters.count;
    if (c == access->counter_count)
      break;
    int64_t stride = access->strides[c];
    append(&counters, c, access->trips[c], stride % extent ? stride : stride / parts, 1);
  }

  made.base = access->base / extent * (int64_t)cut.stride + access->base % extent;
  made.counter_count = counters.count;
  made.trips = counters.trips;
  made.strides = counters.strides;
  made.guards = guards;
  return made;
}

/* As many slots as hold what the old ones held, as far as so many pass and fit. */
static uint32_t slotsOf(const SambaMachine *machine, const SambaUnit *unit, uint64_t parts) {
  uint64_t passed = sambaUnitFirings(unit), depth = unit->buffer.slot_count;
  uint64_t slots = (depth < passed ? depth : passed) * parts;
  uint64_t elements = unit->buffer.slot_elements / parts;
  uint64_t fit =
      (uint64_t)machine->pmu_bytes / sambaSlotBytes(machine, elements, unit->inputs[0].dtype);
  return (uint32_t)(slots < fit ? slots : fit);
}

/* Cuts the slots of a buffer once; false when they are as small as they get. */
static bool cutSlots(const SambaMachine *machine, SambaArena *arena, SambaUnit *unit) {
  const SambaSlotCut cut = sambaSlotCut(unit);
  const uint32_t slots = slotsOf(machine, unit, cut.parts);
  if (cut.parts == 1 || slots < 2)
    return false;

  uint32_t count = unit->input_count + unit->output_count;
  SambaAccess *accesses = SAMBA_ARENA_ARRAY(arena, SambaAccess, count);
  for (uint32_t p = 0; p < count; ++p) {
    const SambaPort *port =
        p < unit->input_count ? &unit->inputs[p] : &unit->outputs[p - unit->input_count];
    accesses[p] = cutAccess(&port->access, cut, arena);
    if (accesses[p].counter_count > (uint64_t)machine->unit_counters)
      return false;
  }
  for (uint32_t p = 0; p < count; ++p)
    (p < unit->input_count ? &unit->inputs[p] : &unit->outputs[p - unit->input_count])->access =
        accesses[p];
  unit->buffer.slot_elements /= cut.parts;
  unit->buffer.slot_count = slots;
  return true;
}

void sambaFitSlots(const SambaMachine *machine, SambaSection *section, bool gathers) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    while (section->units[u].kind == SAMBA_UNIT_BUFFER &&
           !(gathers && sambaUnitGathers(section, &section->units[u])) &&
           cutSlots(machine, section->arena, &section->units[u]))
      ;
}
