/* The machine: one plain struct that planner, placer, router, encoder and simulator all ask.
 *
 * Every parameter is a row of backend/machine/parameters.def: X(name, unit, minimum, maximum,
 * description). Values of the shipped machines, each with its reason, are in
 * backend/machine/shipped.def. A PEF carries the whole table; the simulator knows no other machine.
 */
#ifndef SAMBA_BACKEND_MACHINE_MACHINE_H
#define SAMBA_BACKEND_MACHINE_MACHINE_H

#include "support/base/status.h"
#include "support/text/string_ref.h"
#include "support/text/text.h"

#include <stdint.h>

typedef enum {
#define X(name, unit, minimum, maximum, description) SAMBA_PARAMETER_##name,
#include "backend/machine/parameters.def"
#undef X
  SAMBA_PARAMETER_COUNT
} SambaParameter;

/* How the value of a parameter is known. X(enumerator, key in machine files, word in reports): a
 * publication says it; a formula over such values gives it; a public ancestor or a standard has it;
 * nobody says it. */
#define SAMBA_REASON_KINDS(X)                                                                      \
  X(ASSUMED, "assumed", "assumed")                                                                 \
  X(SOURCED, "source", "sourced")                                                                  \
  X(DERIVED, "derived", "derived")                                                                 \
  X(ANALOGY, "analogy", "by analogy")
typedef enum {
#define X(enumerator, key, word) SAMBA_REASON_##enumerator,
  SAMBA_REASON_KINDS(X)
#undef X
      SAMBA_REASON_COUNT
} SambaReasonKind;

/* The publication, the formula or the ancestor; NULL when assumed. The text is borrowed (static
 * storage or the arena of whoever parsed the file). */
typedef struct SambaReason {
  SambaReasonKind kind;
  const char *text;
} SambaReason;

typedef struct SambaMachine {
  char name[64];
  /* Values in the unit of the table (integers: bandwidths are in MB/s, times in ps or cycles),
   * indexed by name. */
#define X(name, unit, minimum, maximum, description) int64_t name;
#include "backend/machine/parameters.def"
#undef X
  SambaReason reasons[SAMBA_PARAMETER_COUNT];
} SambaMachine;

/* What joins units: the words of the parameter `network`. */
enum { SAMBA_NETWORK_MESH, SAMBA_NETWORK_IDEAL };

/* What a grid site holds. */
typedef enum { SAMBA_SITE_PCU, SAMBA_SITE_PMU } SambaSiteKind;

/* "clock_hz, grid_columns, ...": what exists, for messages. */
void sambaParameterNames(SambaText *out);

const char *sambaParameterName(SambaParameter parameter);
const char *sambaParameterUnit(SambaParameter parameter);
const char *sambaParameterDescription(SambaParameter parameter);
/* A parameter whose unit is a list of words, as "mesh|ideal", has their places as its values. The
 * word of a value; empty: it is a number. */
SambaStringRef sambaParameterWord(SambaParameter parameter, int64_t value);
/* The value that a word stands for; false: the parameter has no such word. */
bool sambaParameterFromWord(SambaParameter parameter, SambaStringRef word, int64_t *out_value);
SambaParameter
sambaParameterFromName(SambaStringRef name); /* SAMBA_PARAMETER_COUNT when there is none */
int64_t sambaMachineGet(const SambaMachine *machine, SambaParameter parameter);
void sambaMachineSet(SambaMachine *machine, SambaParameter parameter, int64_t value,
                     SambaReason reason);
/* "source", "derived", ...: what a machine file calls the kind. */
const char *sambaReasonKey(SambaReasonKind kind);
/* "5 parameters sourced, 12 derived, 22 by analogy, 33 assumed": what is known of a machine. */
void sambaMachineReasons(const SambaMachine *machine, SambaText *out);
uint32_t sambaMachineCountReasons(const SambaMachine *machine, SambaReasonKind kind);
/* Every value within its range and the values consistent with each other; names the parameter that
 * is not. */
SambaStatus sambaMachineCheck(const SambaMachine *machine);

/* Geometry. Sites are (x, y), 0 <= x < grid_columns, 0 <= y < grid_rows; site index = y *
 * grid_columns + x. One switch per site. (x + y) even: PCU, odd: PMU (checkerboard). */
SambaSiteKind sambaMachineSiteKind(const SambaMachine *machine, int32_t x, int32_t y);
int64_t sambaMachineSiteCount(const SambaMachine *machine);
int64_t sambaMachinePcuCount(const SambaMachine *machine);
int64_t sambaMachinePmuCount(const SambaMachine *machine);
/* Tiles are blocks of tile_columns x tile_rows sites, numbered row by row from the top left. The
 * mesh runs across their edges. */
uint32_t sambaMachineTileCount(const SambaMachine *machine);
uint32_t sambaMachineTileAt(const SambaMachine *machine, int32_t x, int32_t y);
/* Address generator i (0 <= i < ag_count) enters the network at the switch of this site, and
 * nowhere else, on its own port. It belongs to the tile there. */
void sambaMachineAgSite(const SambaMachine *machine, int32_t ag, int32_t *out_x, int32_t *out_y);
/* Whether it stands above the grid; else it stands below. */
bool sambaMachineAgIsAbove(const SambaMachine *machine, int32_t ag);
/* Cycles from the switch at (x0,y0) to its neighbour (x1,y1): hop latency, more across a
 * die edge. */
int64_t sambaMachineHopCycles(const SambaMachine *machine, int32_t x0, int32_t y0, int32_t x1,
                              int32_t y1);
/* FIFOs in which a vector that stays a step longer holds up those behind it. */
static inline bool sambaMachineFifosAreShort(const SambaMachine *machine) {
  return machine->fifo_depth <= machine->credit_cycles + 1;
}

/* What addresses of tensors are multiples of: a burst, because generators count whole bursts from a
 * tensor's first byte, and no two tensors share one. Devices may keep track of what was written by
 * lines of SAMBA_MEMORY_LINE bytes, so it is never less. */
enum { SAMBA_MEMORY_LINE = 64 };
/* What lies within a symbol, a part of it or what a call binds of it, begins at a multiple of so
 * many bytes from its start: of those lines eight are one byte of what keeps track of them. */
enum { SAMBA_MEMORY_PART = 8 * SAMBA_MEMORY_LINE };
uint64_t sambaMachineMemoryAlignment(const SambaMachine *machine);
/* Of parts of a tensor: both. */
uint64_t sambaMachinePartAlignment(const SambaMachine *machine);

#endif
