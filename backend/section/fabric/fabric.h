/* The fabric: what the network's configuration bits hold - which flows each unit port sends and
 * takes, and the entries of the switches. It knows no streams: those are recovered from it
 * (recover_streams.h).
 *
 * A flow is named, at every place, by (stream kind, physical lane, flow id). Units on the grid meet
 * the switch of their own site through its UNIT port, address generators meet the switch beside
 * them through its AG port. A link carries lane and flow id unchanged: what leaves (x, y) SOUTH
 * enters (x, y+1) from NORTH; a switch entry may change both. */
#ifndef SAMBA_BACKEND_SECTION_FABRIC_FABRIC_H
#define SAMBA_BACKEND_SECTION_FABRIC_FABRIC_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* One flow at a port of a unit, as the port's record names it. */
typedef struct SambaFlowEnd {
  uint32_t unit, port;
  bool output;
  SambaStreamKind kind;
  uint8_t lane;
  uint16_t flow;
} SambaFlowEnd;

/* One entry of a switch: what enters at `in` leaves at `out`; several entries with one `in` are a
 * multicast. */
typedef struct SambaSwitchEntry {
  int32_t x, y;
  SambaStreamKind kind;
  SambaSwitchLane in, out;
} SambaSwitchEntry;

/* ends: per unit in order, its inputs then its outputs, per port its flows in round-robin order.
 * entries: ascending by (y, x, kind, in, out). */
typedef struct SambaFabric {
  uint32_t end_count, entry_count;
  SambaFlowEnd *ends;
  SambaSwitchEntry *entries;
} SambaFabric;

/* On an ideal network there are no switches: every stream is a wire of its own, from one port to
 * all that take it. The flow id at a port is then the number of its wire, counted for each kind of
 * stream in the order of the output ends, and the lane is the port's number among the ports of that
 * kind on its side of the unit. */
enum { SAMBA_IDEAL_WIRES = 4096 }; /* of each kind: what the field of a flow id can number */

/* How many physical lanes of a kind a unit (or AG) has on its input or output side. */
uint32_t sambaUnitLanes(const SambaMachine *machine, SambaStreamKind kind, bool output);
/* How many lanes of a kind a switch port has in each direction (N, E, S, W). */
uint32_t sambaLinkLanes(const SambaMachine *machine, SambaStreamKind kind);
/* The switch that a placed unit meets. */
void sambaUnitSwitch(const SambaMachine *machine, const SambaUnit *unit, int32_t *out_x,
                     int32_t *out_y);
const char *sambaStreamKindName(SambaStreamKind kind); /* "vector", "scalar", "control" */
const char *sambaSwitchPortName(uint8_t port); /* "north", ... "unit", "ag"; NULL when undefined */
/* An address generator enters the network at the edge of its tile (sambaMachineAgSite); refuses a
 * lane of switch (x, y) that names one which does so elsewhere. */
SambaStatus sambaSwitchCheckGenerator(const SambaMachine *machine, int32_t x, int32_t y,
                                      const SambaSwitchLane *lane);
/* Total order of switch lanes and entries. */
int sambaSwitchLaneCompare(const SambaSwitchLane *a, const SambaSwitchLane *b);
int sambaSwitchEntryCompare(const SambaSwitchEntry *a, const SambaSwitchEntry *b);

/* Every unit on a site of its kind (compute: PCU, buffer: PMU) or, load and store, at an address
 * generator; no two at one place. */
SambaStatus sambaPlacementCheck(const SambaMachine *machine, const SambaUnit *units,
                                uint32_t unit_count);

/* The entries of all switches, of the hops of a routed section; ascending, in the arena. */
SambaSwitchEntry *sambaSwitchEntriesCollect(const SambaSection *section, SambaArena *arena,
                                            uint32_t *out_count);

/* Takes the network's bits out of a placed and, on a mesh, routed section; an error names what is
 * not placed or routed. Of several destinations at one unit, the i-th in the stream's list gets the
 * i-th hop (in hop order) that ends at that unit. */
SambaStatus sambaFabricCollect(const SambaSection *section, const SambaMachine *machine,
                               SambaArena *arena, SambaFabric *out_fabric);

#endif
