/* The shipped machines: one constant struct per column of shipped.def. */
#include "backend/machine/shipped.h"

#define CELL_VALUE(value, ...) value
#define CELL_REASON(value, ...) {__VA_ARGS__}
#define CELL(name, cell)                                                                           \
  .name = CELL_VALUE cell, .reasons[SAMBA_PARAMETER_##name] = CELL_REASON cell,

#define X(name, tiny, plasticine, sn10, sn40l) +1
_Static_assert(0
#include "backend/machine/shipped.def"
                   == (int)SAMBA_PARAMETER_COUNT,
               "shipped.def has one row per parameter");

static const SambaMachine machines[] = {
    {
        .name = "tiny",
#define X(name, tiny, plasticine, sn10, sn40l) CELL(name, tiny)
#include "backend/machine/shipped.def"
    },
    {
        .name = "plasticine",
#define X(name, tiny, plasticine, sn10, sn40l) CELL(name, plasticine)
#include "backend/machine/shipped.def"
    },
    {
        .name = "sn10",
#define X(name, tiny, plasticine, sn10, sn40l) CELL(name, sn10)
#include "backend/machine/shipped.def"
    },
    {
        .name = "sn40l",
#define X(name, tiny, plasticine, sn10, sn40l) CELL(name, sn40l)
#include "backend/machine/shipped.def"
    },
};

const SambaMachine *sambaMachineShipped(int index) {
  return index >= 0 && index < (int)(sizeof machines / sizeof machines[0]) ? &machines[index]
                                                                           : NULL;
}

const SambaMachine *sambaMachineFind(SambaStringRef name) {
  for (int i = 0; sambaMachineShipped(i); ++i)
    if (sambaStringRefEqualC(name, machines[i].name))
      return &machines[i];
  return NULL;
}

void sambaMachineNames(SambaText *out) {
  const SambaMachine *machine;
  for (int i = 0; (machine = sambaMachineShipped(i)); ++i)
    sambaTextFormat(out, "%s%s", i ? ", " : "", machine->name);
}
