/* The rdu passes: the section as a struct, one algorithm of backend/, what it changed into IR. */
#include "backend/estimate/stream_rates.h"
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"
#include "backend/section/stream_numbers.h"
#include "backend/split/split_programs.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "lowering/passes.h"

#include "backend/section/check/section_check.h"
#include "mlir-c/BuiltinAttributes.h"

/* A pass: what it does to the section, and how its changes get into the IR. */
typedef struct Step {
  SambaStatus (*run)(SambaSection *section, const SambaMachine *machine);
  /* How far a section has come: run has changed it if and only if this changes. */
  uint32_t (*progress)(const SambaSection *section);
  SambaStatus (*write)(MlirOperation operation, SambaSection *section);
} Step;

static SambaStatus runOn(const Step *step, MlirOperation operation, const SambaMachine *machine,
                         SambaKnownSection *known, bool *out_changed) {
  uint32_t before = step->progress(known->section);
  SAMBA_RETURN_IF_ERROR(step->run(known->section, machine));
  *out_changed = step->progress(known->section) != before;
  return *out_changed ? step->write(operation, known->section) : NULL;
}

/* Only what the step has changed is written: large sections are long texts of hops, and those that
 * are done already come again with each attempt for others. */
static bool runOnSection(MlirOperation operation, const Step *step) {
  SambaKnownSection *known = NULL;
  SambaMachine machine;
  bool changed = false;
  MlirAttribute attribute = sambaOperationAttribute(operation, "machine");
  SambaStatus status =
      mlirAttributeIsNull(attribute)
          ? sambaStatusMake(SAMBA_INVALID, "has no machine; rdu-set-machine gives one")
          : sambaMachineFromAttribute(attribute, &machine);
  if (!status)
    status = sambaKnownSectionTake(operation, &known);
  if (!status)
    status = runOn(step, operation, &machine, known, &changed);

  if (!status && changed)
    sambaKnownSectionKeep(operation, known);
  else if (!status)
    sambaKnownSectionGiveBack(operation, known);
  else
    sambaKnownSectionDestroy(known);
  if (status && sambaStatusGetCode(status) == SAMBA_EXHAUSTED)
    sambaMarkFailedSection(operation); /* another mapping may do */
  return !status || sambaEmitOpStatus(operation, status);
}

bool sambaRduSetMachine(MlirOperation module, const char *target) {
  SambaMachine machine;
  MlirAttribute attribute;
  SambaStatus status =
      sambaTargetMachine(mlirOperationGetLocation(module), target, &machine, &attribute);
  if (status)
    return sambaEmitOpStatus(module, sambaStatusAnnotate(status, "target"));

  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "rdu.section") &&
        mlirAttributeIsNull(sambaOperationAttribute(operation, "machine")))
      mlirOperationSetAttributeByName(operation, sambaMlirString("machine"), attribute);
  return true;
}

static uint32_t countUnits(const SambaSection *section) { return section->unit_count; }

static uint32_t countPlaced(const SambaSection *section) {
  uint32_t placed = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    placed += sambaUnitIsPlaced(&section->units[u]);
  return placed;
}

static uint32_t countRouted(const SambaSection *section) {
  uint32_t routed = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    routed += section->streams[s].hop_count > 0;
  return routed;
}

static SambaStatus writeAll(MlirOperation operation, SambaSection *section) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  sambaSectionReplaceIr(operation, section);
  sambaSectionNumberStreams(section);
  return NULL;
}

static SambaStatus writeSites(MlirOperation operation, SambaSection *section) {
  sambaSectionSitesToIr(operation, section);
  return NULL;
}

static SambaStatus writeRoutes(MlirOperation operation, SambaSection *section) {
  sambaSectionRoutesToIr(operation, section);
  return NULL;
}

/* Links may slow a section down to these shares of the pace at which its units could run, in
 * percent. Half the section would be as slow as the last one. */
static const uint32_t paces[] = {100, 80, 65, 50};
enum { PACE_COUNT = sizeof paces / sizeof paces[0] };

/* The streams' rates when the section runs at a share of its pace. */
static const uint32_t *ratesAt(const SambaSection *section, const SambaMachine *machine,
                               uint32_t percent, SambaArena *arena) {
  const uint32_t *whole = sambaSectionRates(section, machine, arena);
  uint32_t *rates = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    rates[s] = (whole[s] * percent + 99) / 100;
  return rates;
}

static SambaStatus place(SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  SambaStatus status =
      sambaSectionPlace(section, machine, sambaSectionRates(section, machine, &arena));
  sambaArenaDestroy(&arena);
  return status;
}

/* Lanes have room for what comes in bursts, from memory and for PCUs that take streams in turn, and
 * operands of arrays have lanes of their own, as far as there are enough. SAMBA_EXHAUSTED where
 * there is no room for what comes on average. */
static SambaStatus routeBursts(SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  const uint32_t *rates = sambaSectionRates(section, machine, &arena);
  const uint32_t *fills = sambaSectionBurstRates(section, machine, rates, false, &arena);
  const uint32_t *turns = sambaSectionBurstRates(section, machine, rates, true, &arena);
  const uint32_t *wishes = sambaSectionWishedRates(section, rates, &arena);
  SambaStatus status = sambaSectionRouteDemands(
      section, machine, &(SambaStreamDemands){rates, fills, turns, wishes, NULL});
  sambaArenaDestroy(&arena);
  return status;
}

/* The streams that meet where links cannot carry the section's pace do with less, and all others
 * have the lanes that they would have. */
static SambaStatus routeSomeSlower(SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  const uint32_t *rates = sambaSectionRates(section, machine, &arena);
  SambaStatus status = sambaSectionRouteDemands(
      section, machine,
      &(SambaStreamDemands){.rates = rates,
                            .wishes = sambaSectionWishedRates(section, rates, &arena),
                            .least = ratesAt(section, machine, paces[PACE_COUNT - 1], &arena)});
  sambaArenaDestroy(&arena);
  return status;
}

/* Without bursts operands may still have lanes of their own. What the links cannot carry at the
 * section's pace they may carry at a slower one, of some streams or of all. */
static SambaStatus route(SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  SambaStatus first = routeBursts(section, machine);
  if (sambaStatusGetCode(first) != SAMBA_EXHAUSTED)
    return first;
  sambaStatusFree(first);
  first = NULL;

  for (uint32_t i = 0; i < PACE_COUNT; ++i) {
    const uint32_t *rates = ratesAt(section, machine, paces[i], &arena);
    const uint32_t *wishes = i == 0 ? sambaSectionWishedRates(section, rates, &arena) : NULL;
    SambaStatus status = sambaSectionRoute(section, machine, rates, wishes);
    bool again = sambaStatusGetCode(status) == SAMBA_EXHAUSTED;
    if (again && i == 0) {
      sambaStatusFree(status);
      status = routeSomeSlower(section, machine);
      again = sambaStatusGetCode(status) == SAMBA_EXHAUSTED;
    }
    if (!again) {
      sambaStatusFree(first);
      first = status;
      break;
    }
    if (first)
      sambaStatusFree(status);
    else
      first = status;
  }
  sambaArenaDestroy(&arena);
  return first;
}

static SambaStatus verifySection(SambaSection *section, const SambaMachine *machine) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckStatic(section, machine));
  SambaArena arena = {0};
  SambaStatus status = sambaSectionCheckRoutes(
      section, machine, ratesAt(section, machine, paces[PACE_COUNT - 1], &arena));
  sambaArenaDestroy(&arena);
  return status;
}

bool sambaRduSplitPrograms(MlirOperation section) {
  return runOnSection(section, &(Step){sambaSplitPrograms, countUnits, writeAll});
}
bool sambaRduPlace(MlirOperation section) {
  return runOnSection(section, &(Step){place, countPlaced, writeSites});
}
bool sambaRduRoute(MlirOperation section) {
  return runOnSection(section, &(Step){route, countRouted, writeRoutes});
}
bool sambaRduVerifySection(MlirOperation section) {
  return runOnSection(section, &(Step){verifySection, countUnits, writeAll});
}
