/* The machine: parameter table, geometry and consistency; see machine.h. Everything by parameter
 * comes from parameters.def, so a new parameter is one row there and one in shipped.def. */
#include "backend/machine/machine.h"

#include "support/number/integer.h"

#include <stddef.h>
#include <string.h>

typedef struct ParameterRow {
  const char *name, *unit, *description;
  int64_t minimum, maximum;
  size_t offset;
} ParameterRow;

static const ParameterRow parameters[SAMBA_PARAMETER_COUNT] = {
#define X(name, unit, minimum, maximum, description)                                               \
  {#name, unit, description, minimum, maximum, offsetof(SambaMachine, name)},
#include "backend/machine/parameters.def"
#undef X
};

const char *sambaParameterName(SambaParameter parameter) {
  return (unsigned)parameter < SAMBA_PARAMETER_COUNT ? parameters[parameter].name : "invalid";
}

const char *sambaParameterUnit(SambaParameter parameter) {
  return (unsigned)parameter < SAMBA_PARAMETER_COUNT ? parameters[parameter].unit : "";
}

const char *sambaParameterDescription(SambaParameter parameter) {
  return (unsigned)parameter < SAMBA_PARAMETER_COUNT ? parameters[parameter].description : "";
}

SambaStringRef sambaParameterWord(SambaParameter parameter, int64_t value) {
  const char *words = sambaParameterUnit(parameter);
  if (!strchr(words, '|'))
    return (SambaStringRef){NULL, 0};
  for (; value > 0 && words; --value) {
    words = strchr(words, '|');
    words += words != NULL;
  }
  return value || !words ? (SambaStringRef){NULL, 0} : (SambaStringRef){words, strcspn(words, "|")};
}

bool sambaParameterFromWord(SambaParameter parameter, SambaStringRef word, int64_t *out_value) {
  SambaStringRef known;
  for (int64_t value = 0; (known = sambaParameterWord(parameter, value)).size; ++value)
    if (sambaStringRefEqual(known, word)) {
      *out_value = value;
      return true;
    }
  return false;
}

void sambaParameterNames(SambaText *out) {
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i)
    sambaTextFormat(out, "%s%s", i ? ", " : "", parameters[i].name);
}

SambaParameter sambaParameterFromName(SambaStringRef name) {
  int parameter = 0;
  while (parameter < SAMBA_PARAMETER_COUNT &&
         !sambaStringRefEqualC(name, parameters[parameter].name))
    ++parameter;
  return (SambaParameter)parameter;
}

int64_t sambaMachineGet(const SambaMachine *machine, SambaParameter parameter) {
  if ((unsigned)parameter >= SAMBA_PARAMETER_COUNT)
    return 0;
  return *(const int64_t *)((const char *)machine + parameters[parameter].offset);
}

void sambaMachineSet(SambaMachine *machine, SambaParameter parameter, int64_t value,
                     SambaReason reason) {
  if ((unsigned)parameter >= SAMBA_PARAMETER_COUNT)
    return;
  *(int64_t *)((char *)machine + parameters[parameter].offset) = value;
  machine->reasons[parameter] = reason;
}

static const struct {
  const char *key, *word;
} reason_kinds[SAMBA_REASON_COUNT] = {
#define X(enumerator, key, word) {key, word},
    SAMBA_REASON_KINDS(X)
#undef X
};

const char *sambaReasonKey(SambaReasonKind kind) { return reason_kinds[kind].key; }

uint32_t sambaMachineCountReasons(const SambaMachine *machine, SambaReasonKind kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < SAMBA_PARAMETER_COUNT; ++i)
    count += machine->reasons[i].kind == kind;
  return count;
}

void sambaMachineReasons(const SambaMachine *machine, SambaText *out) {
  for (int i = 1; i <= SAMBA_REASON_COUNT; ++i) { /* assumed comes last */
    SambaReasonKind kind = (SambaReasonKind)(i % SAMBA_REASON_COUNT);
    sambaTextFormat(out, "%s%u%s %s", i > 1 ? ", " : "", sambaMachineCountReasons(machine, kind),
                    i > 1 ? "" : " parameters", reason_kinds[kind].word);
  }
}

static bool isPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static SambaStatus checkPowerOfTwo(const SambaMachine *machine, SambaParameter parameter,
                                   const char *reason) {
  int64_t value = sambaMachineGet(machine, parameter);
  if (isPowerOfTwo(value))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "machine '%s': %s is %lld, expected a power of two: %s",
                         machine->name, sambaParameterName(parameter), (long long)value, reason);
}

static SambaStatus checkMultiple(const SambaMachine *machine, SambaParameter whole,
                                 SambaParameter part) {
  int64_t a = sambaMachineGet(machine, whole);
  int64_t b = sambaMachineGet(machine, part);
  if (a % b == 0)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "machine '%s': %s is %lld, expected a multiple of %s, which is %lld",
                         machine->name, sambaParameterName(whole), (long long)a,
                         sambaParameterName(part), (long long)b);
}

/* A memory is there with capacity, channels and bandwidth, or with none of them. */
static SambaStatus checkMemory(const SambaMachine *machine, SambaParameter bytes,
                               SambaParameter channels, SambaParameter mbps) {
  bool present = sambaMachineGet(machine, bytes) > 0;
  SambaParameter others[2] = {channels, mbps};
  for (int i = 0; i < 2; ++i)
    if ((sambaMachineGet(machine, others[i]) > 0) != present)
      return sambaStatusMake(
          SAMBA_INVALID,
          "machine '%s': %s is %lld but %s is %lld, expected both zero (no such "
          "memory) or both positive",
          machine->name, sambaParameterName(bytes), (long long)sambaMachineGet(machine, bytes),
          sambaParameterName(others[i]), (long long)sambaMachineGet(machine, others[i]));
  return NULL;
}

static SambaStatus checkDram(const SambaMachine *machine) {
  SAMBA_RETURN_IF_ERROR(checkMemory(machine, SAMBA_PARAMETER_hbm_bytes,
                                    SAMBA_PARAMETER_hbm_channels,
                                    SAMBA_PARAMETER_hbm_channel_mbps));
  SAMBA_RETURN_IF_ERROR(checkMemory(machine, SAMBA_PARAMETER_ddr_bytes,
                                    SAMBA_PARAMETER_ddr_channels,
                                    SAMBA_PARAMETER_ddr_channel_mbps));
  if (machine->hbm_bytes == 0 && machine->ddr_bytes == 0)
    return sambaStatusMake(
        SAMBA_INVALID,
        "machine '%s': hbm_bytes and ddr_bytes are both 0, expected at least one memory",
        machine->name);
  const char *reason = "addresses are split into channel, row and burst by bits";

  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_dram_burst_bytes, reason));
  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_dram_row_bytes, reason));
  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_dram_interleave_bytes, reason));
  SAMBA_RETURN_IF_ERROR(
      checkMultiple(machine, SAMBA_PARAMETER_dram_row_bytes, SAMBA_PARAMETER_dram_burst_bytes));
  SAMBA_RETURN_IF_ERROR(checkMultiple(machine, SAMBA_PARAMETER_dram_interleave_bytes,
                                      SAMBA_PARAMETER_dram_burst_bytes));
  if (machine->dram_write_low >= machine->dram_write_high)
    return sambaStatusMake(
        SAMBA_INVALID,
        "machine '%s': dram_write_low is %lld, expected less than dram_write_high, which is %lld",
        machine->name, (long long)machine->dram_write_low, (long long)machine->dram_write_high);
  if (machine->dram_refresh_ps >= machine->dram_refresh_interval_ps)
    return sambaStatusMake(SAMBA_INVALID,
                           "machine '%s': dram_refresh_ps is %lld, expected less than "
                           "dram_refresh_interval_ps, which is %lld",
                           machine->name, (long long)machine->dram_refresh_ps,
                           (long long)machine->dram_refresh_interval_ps);
  return NULL;
}

/* Fields of an address say which array, which bank and which byte of a word; and a machine with
 * half the banks must not be faster, which holds when its banks are unions of the others. */
static SambaStatus checkMemoryUnit(const SambaMachine *machine) {
  const char *why = "addresses are split";
  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_pmu_banks, why));
  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_pmu_word_bytes, why));
  if (machine->pmu_bank_arrays)
    SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_pmu_bank_arrays, why));

  int64_t least = machine->pmu_banks * machine->pmu_word_bytes *
                  (machine->pmu_bank_arrays ? machine->pmu_bank_arrays : 1);
  if (machine->pmu_bytes % least)
    return sambaStatusMake(
        SAMBA_INVALID,
        "machine '%s': pmu_bytes is %lld, expected a multiple of %lld: a word in "
        "each array of each bank",
        machine->name, (long long)machine->pmu_bytes, (long long)least);
  return NULL;
}

SambaStatus sambaMachineCheck(const SambaMachine *machine) {
  if (machine->name[0] == '\0' || !memchr(machine->name, '\0', sizeof machine->name))
    return sambaStatusMake(SAMBA_INVALID, "machine without a name, expected 1 to %zu bytes",
                           sizeof machine->name - 1);

  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    int64_t value = sambaMachineGet(machine, (SambaParameter)i);
    if (value < parameters[i].minimum || value > parameters[i].maximum)
      return sambaStatusMake(
          SAMBA_INVALID, "machine '%s': %s (%s) is %lld, expected %lld to %lld %s", machine->name,
          parameters[i].name, parameters[i].description, (long long)value,
          (long long)parameters[i].minimum, (long long)parameters[i].maximum, parameters[i].unit);
  }

  SAMBA_RETURN_IF_ERROR(checkMultiple(machine, SAMBA_PARAMETER_grid_columns, SAMBA_PARAMETER_dies));
  SAMBA_RETURN_IF_ERROR(
      checkMultiple(machine, SAMBA_PARAMETER_grid_columns, SAMBA_PARAMETER_tile_columns));
  SAMBA_RETURN_IF_ERROR(
      checkMultiple(machine, SAMBA_PARAMETER_grid_rows, SAMBA_PARAMETER_tile_rows));
  int64_t die_columns = machine->grid_columns / machine->dies;
  if (die_columns % machine->tile_columns)
    return sambaStatusMake(SAMBA_INVALID,
                           "machine '%s': tile_columns is %lld, expected a divisor of the %lld "
                           "columns of a die: a tile lies on one die",
                           machine->name, (long long)machine->tile_columns, (long long)die_columns);
  if (machine->systolic_accumulators < machine->systolic_rows * machine->systolic_columns)
    return sambaStatusMake(SAMBA_INVALID,
                           "machine '%s': systolic_accumulators is %lld, expected at least one per "
                           "MAC of the %lld x %lld array",
                           machine->name, (long long)machine->systolic_accumulators,
                           (long long)machine->systolic_rows, (long long)machine->systolic_columns);
  SAMBA_RETURN_IF_ERROR(checkPowerOfTwo(machine, SAMBA_PARAMETER_simd_lanes,
                                        "lane reductions fold the lanes by halves"));
  SAMBA_RETURN_IF_ERROR(checkMemoryUnit(machine));
  return checkDram(machine);
}

SambaSiteKind sambaMachineSiteKind(const SambaMachine *machine, int32_t x, int32_t y) {
  (void)machine;
  return ((x ^ y) & 1) == 0 ? SAMBA_SITE_PCU : SAMBA_SITE_PMU;
}

int64_t sambaMachineSiteCount(const SambaMachine *machine) {
  return machine->grid_columns * machine->grid_rows;
}

int64_t sambaMachinePcuCount(const SambaMachine *machine) {
  return (sambaMachineSiteCount(machine) + 1) / 2;
}

int64_t sambaMachinePmuCount(const SambaMachine *machine) {
  return sambaMachineSiteCount(machine) / 2;
}

uint32_t sambaMachineTileCount(const SambaMachine *machine) {
  return (uint32_t)(sambaMachineSiteCount(machine) / (machine->tile_columns * machine->tile_rows));
}

uint32_t sambaMachineTileAt(const SambaMachine *machine, int32_t x, int32_t y) {
  int64_t tiles_in_row = machine->grid_columns / machine->tile_columns;
  return (uint32_t)(y / machine->tile_rows * tiles_in_row + x / machine->tile_columns);
}

/* The outer edges are the upper edges of the tiles in the top row, from left to right, and then the
 * lower edges of those in the bottom row. (One row of tiles has both; rows between have none, and
 * reach memory through the mesh.) The AGs are dealt to the edges in order, as evenly as their
 * number allows. */
static int64_t outerEdgeOfAg(const SambaMachine *machine, int32_t ag) {
  int64_t edges = 2 * (machine->grid_columns / machine->tile_columns);
  return ag * edges / machine->ag_count;
}

/* The AGs of an edge are spread evenly along it. */
void sambaMachineAgSite(const SambaMachine *machine, int32_t ag, int32_t *out_x, int32_t *out_y) {
  int64_t tiles_in_row = machine->grid_columns / machine->tile_columns;
  int64_t edge = outerEdgeOfAg(machine, ag);
  int64_t first = sambaCeilDiv(edge * machine->ag_count, 2 * tiles_in_row);
  int64_t end = sambaCeilDiv((edge + 1) * machine->ag_count, 2 * tiles_in_row);

  int64_t along = (2 * (ag - first) + 1) * machine->tile_columns / (2 * (end - first));
  *out_x = (int32_t)(edge % tiles_in_row * machine->tile_columns + along);
  *out_y = edge < tiles_in_row ? 0 : (int32_t)machine->grid_rows - 1;
}

bool sambaMachineAgIsAbove(const SambaMachine *machine, int32_t ag) {
  return outerEdgeOfAg(machine, ag) < machine->grid_columns / machine->tile_columns;
}

int64_t sambaMachineHopCycles(const SambaMachine *machine, int32_t x0, int32_t y0, int32_t x1,
                              int32_t y1) {
  (void)y0;
  (void)y1;
  int64_t die_columns = machine->grid_columns / machine->dies;
  return machine->hop_cycles +
         (x0 / die_columns != x1 / die_columns ? machine->die_crossing_cycles : 0);
}

uint64_t sambaMachineMemoryAlignment(const SambaMachine *machine) {
  return machine->dram_burst_bytes < SAMBA_MEMORY_LINE ? SAMBA_MEMORY_LINE
                                                       : (uint64_t)machine->dram_burst_bytes;
}

uint64_t sambaMachinePartAlignment(const SambaMachine *machine) {
  uint64_t alignment = sambaMachineMemoryAlignment(machine);
  return alignment < SAMBA_MEMORY_PART ? SAMBA_MEMORY_PART : alignment;
}
