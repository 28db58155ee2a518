/* samba-partition-sections: which operators share a section, then outlining. Why a section ends is
 * said on its calls.
 *
 * o0: every operator its own section. o1: greedy along the trace (grow_sections.h). o3: a search
 * over all sections and orders that starts from the sections of o1 (backend/partition). Mapped
 * spatially, the graph is one section. */
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/read_operators.h"
#include "passes/passes.h"
#include "passes/section/grow_sections.h"
#include "passes/section/outline_sections.h"
#include "passes/section/pinned_sections.h"
#include "passes/section/search_sections.h"
#include "passes/section/section_end.h"
#include "passes/section/section_trial.h"
#include "passes/section/updates.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

/* The first operation of the block that reads the value, through views or not; null: none. */
static MlirOperation firstReader(MlirValue value) {
  MlirOperation first = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    if (sambaOperationIsView(user))
      user = firstReader(mlirOperationGetResult(user, 0));
    if (!mlirOperationIsNull(user) &&
        (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first)))
      first = user;
  }
  return first;
}

/* An argin belongs to the layer that reads it first, unless it says another. A call of a section
 * tells no more which of its layers that was. */
static void nameLayersOfArgins(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    MlirLocation location = mlirValueGetLocation(argument);
    if (!sambaValueIsArgin(argument) || sambaLayerOfLocation(location).size)
      continue;
    MlirOperation reader = firstReader(argument);
    if (mlirOperationIsNull(reader))
      continue;
    SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(reader));
    if (layer.size)
      mlirBlockArgumentSetLocation(argument, mlirLocationNameGet(mlirOperationGetContext(function),
                                                                 sambaToMlir(layer), location));
  }
}

static bool isForeign(MlirOperation operation) {
  if (!sambaOperationIs(operation, "func.return"))
    return !sambaOperatorNameOf(operation).size;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirOperation maker = sambaDefiningOperation(mlirOperationGetOperand(operation, i));
    if (mlirOperationIsNull(maker) || sambaOperationIsView(maker))
      return true;
  }
  return false;
}

/* Passes of others may have changed what samba-materialize-views made: there are operations of
 * other dialects, or a graph returns what no operator of it makes. */
static bool hasForeign(MlirOperation module) {
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function))
      continue;
    MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
      if (isForeign(operation))
        return true;
  }
  return false;
}

/*===-- The ways to partition a graph ---------------------------------------------------------===*/

/* o0: every operator is a section. */
static uint32_t partitionApart(const SambaSectionGraph *partition, MlirContext context,
                               uint32_t *section_of, MlirAttribute *ends) {
  const SambaSectionEnd end = {.kind = SAMBA_END_BY_REQUEST};
  const MlirOperation none = {NULL};
  for (uint32_t i = 0; i < partition->count; ++i) {
    section_of[i] = i;
    ends[i] = sambaSectionEndAttribute(
        &end, context, i + 1 < partition->count ? partition->operators[i + 1] : none);
  }
  return partition->count;
}

/* The operators of a rule's group that begins with this one and ends before the limit; else 0. */
static uint32_t groupByRule(const SambaSectionGraph *partition, uint32_t first, uint32_t limit) {
  const SambaRuleGroup *group = sambaGroupOfOperator(partition, first);
  if (!group || sambaHeuristicOf(group->rule) == SAMBA_HEURISTIC_APART ||
      (first && sambaGroupOfOperator(partition, first - 1) == group) || group->member_count > limit)
    return 0;
  return group->member_count;
}

/* Operators that the search keeps together: those of rules, the updates of parameters, and
 * elementwise operators that branch and become one value again, each within the section that it has
 * by o1. */
static void groupOperators(const SambaSectionGraph *partition, const uint32_t *sizes,
                           uint32_t count, uint32_t *group) {
  uint32_t first = 0, groups = 0;
  for (uint32_t s = 0; s < count; first += sizes[s++]) {
    const MlirOperation *operators = &partition->operators[first];
    bool updates = sambaPhaseOf(operators[0]) == SAMBA_PEF_SECTION_OPT;
    for (uint32_t at = 0, size; at < sizes[s]; at += size, ++groups) {
      size = sambaPinnedOperators(partition, first + at);
      if (!size)
        size = updates ? sambaWholeUpdates(operators + at, 0, sizes[s] - at)
                       : groupByRule(partition, first + at, sizes[s] - at);
      if (!size)
        size = sambaBranchingOperators(operators + at, sizes[s] - at);
      for (uint32_t i = 0; i < size; ++i)
        group[first + at + i] = groups;
    }
  }
}

/* o3: what o1 finds, and the search that starts from it. */
static uint32_t partitionBySearch(const SambaSectionGraph *partition, SambaSearchTime *time,
                                  uint32_t *section_of, MlirAttribute *ends) {
  uint32_t count = partition->count;
  uint32_t seeds = sambaGrowSections(partition, section_of, ends);
  uint32_t *seed = sambaAllocateZeroed(seeds + 1, sizeof *seed);
  uint32_t *group = sambaAllocate(sambaArraySize(count + 1, sizeof *group));
  uint32_t *stretch = sambaAllocate(sambaArraySize(count + 1, sizeof *stretch));
  uint32_t *most = sambaAllocate(sambaArraySize(count + 1, sizeof *most));
  for (uint32_t i = 0; i < count; ++i) {
    ++seed[section_of[i]];
    stretch[i] = i ? stretch[i - 1] + sambaStartsSection(partition, i) : 0;
    most[stretch[i]] = sambaMostOperators(partition->operators[i]);
  }
  groupOperators(partition, seed, seeds, group);

  SambaSearchRequest request = {.target = partition->target,
                                .operators = partition->operators,
                                .count = count,
                                .group = group,
                                .stretch = stretch,
                                .most = most,
                                .seed = seed,
                                .seed_count = seeds};
  uint32_t sections = sambaSearchSections(&request, time, section_of, ends);
  free(seed);
  free(group);
  free(stretch);
  free(most);
  return sections;
}

/* How many of the first operators fit as one section; out_why: why no more do. */
static uint32_t findFitting(const SambaSectionGraph *partition, SambaText *out_why) {
  SambaPlanCost unused;
  uint32_t fits = 0, beyond = partition->count;
  while (beyond - fits > 1) {
    uint32_t middle = fits + (beyond - fits) / 2;
    if (sambaSectionTry(partition->target, partition->operators, middle, &unused, NULL))
      fits = middle;
    else
      beyond = middle;
  }
  sambaSectionTry(partition->target, partition->operators, beyond, &unused, out_why);
  return fits;
}

static SambaStringRef layerOf(MlirOperation operation) {
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  return layer.size ? layer : sambaOperatorNameOf(operation);
}

/* Says what is missing for the graph to be one section. */
static bool refuseSpatial(MlirOperation function, const SambaSectionGraph *partition) {
  SambaText why = {0};
  uint32_t fits = findFitting(partition, &why);
  const char *machine = partition->target->machine->name;
  SambaStringRef beyond = layerOf(partition->operators[fits]);
  SambaStringRef last = fits ? layerOf(partition->operators[fits - 1]) : sambaStringRef("");
  sambaEmitOpError(function,
                   "mapping=spatial: %u operators are to be on %s at once, but only the first %u, "
                   "up to '%.*s', fit; with '%.*s': %s; use mapping=section or a larger machine",
                   partition->count, machine, fits, SAMBA_STRING_ARGS(last),
                   SAMBA_STRING_ARGS(beyond), sambaTextGet(&why));
  sambaTextFree(&why);
  return false;
}

/* The graph is one section. */
static bool partitionSpatially(MlirOperation function, const SambaSectionGraph *partition,
                               uint32_t *section_of, MlirAttribute *ends) {
  SambaPlanCost unused;
  for (uint32_t i = 0; i < partition->count; ++i) {
    section_of[i] = 0;
    if (i && sambaStartsSection(partition, i))
      return sambaEmitOpError(partition->operators[i],
                              "mapping=spatial: a section must begin here, by a phase of training "
                              "or samba.starts_section, but the graph is to be one section; use "
                              "mapping=section");
  }
  if (partition->count &&
      !sambaSectionTry(partition->target, partition->operators, partition->count, &unused, NULL))
    return refuseSpatial(function, partition);
  MlirContext context = mlirOperationGetContext(function);
  const SambaSectionEnd end = {.kind = SAMBA_END_OF_GRAPH};
  ends[0] = sambaSectionEndAttribute(&end, context, (MlirOperation){NULL});
  mlirOperationSetDiscardableAttributeByName(function, sambaMlirString(SAMBA_SPATIAL_ATTRIBUTE),
                                             mlirUnitAttrGet(context));
  return true;
}

/* Seconds of the search when none are given. A graph that trains has about five times the
 * operators of its forward part. */
enum { usualSeconds = 3, usualSecondsToTrain = 15 };

/* How a module is partitioned. */
typedef struct Manner {
  const char *opt;
  bool spatial, usual_time;
  SambaSearchTime time;
} Manner;

static bool partitionFunction(MlirOperation function, const SambaPlanTarget *target, Manner *manner,
                              const SambaRules *rules, SambaOutlinedSections *sections,
                              int64_t *call_id) {
  uint32_t count;
  if (!sambaGraphCheckStructured(function))
    return false;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  if (!sambaPhasesCheck(operators, count)) {
    free(operators);
    return false;
  }
  nameLayersOfArgins(function);
  uint32_t *section_of = sambaAllocate(sambaArraySize(count + 1, sizeof *section_of));
  MlirAttribute *ends = sambaAllocate(sambaArraySize(count + 1, sizeof *ends));

  SambaArena arena = {0};
  SambaSectionGraph partition = {
      .target = target, .operators = operators, .count = count, .border = count};
  bool apart = strcmp(manner->opt, "o0") == 0, fine = true;
  if (!apart) {
    partition.border = sambaScalarsFirst(operators, count);
    sambaSmallUpdatesFirst(operators, partition.border, count);
  }
  uint32_t *joined =
      manner->spatial ? NULL : sambaPinnedSections(target, !apart, operators, count, &arena);
  if (!apart && (rules->count || joined))
    sambaFusionRulesMatch(rules, joined, operators, count, &arena, &partition.fused);
  uint32_t section_count = count > 0;
  if (manner->usual_time && sambaGraphTrains(function))
    manner->time.given = usualSecondsToTrain;
  if (manner->spatial)
    fine = partitionSpatially(function, &partition, section_of, ends);
  else if (apart)
    section_count = partitionApart(&partition, mlirOperationGetContext(function), section_of, ends);
  else if (strcmp(manner->opt, "o3") == 0)
    section_count = partitionBySearch(&partition, &manner->time, section_of, ends);
  else
    section_count = sambaGrowSections(&partition, section_of, ends);

  if (fine)
    sambaOutlineSections(sections, function, operators, section_of, ends, count, section_count,
                         target->attribute, call_id);
  sambaArenaDestroy(&arena);
  free(section_of);
  free(ends);
  free(operators);
  return fine;
}

static bool readManner(MlirOperation module, const char *opt, const char *mapping,
                       const char *search_seconds, Manner *out_manner) {
  static const char *const levels[] = {"o0", "o1", "o3", NULL};
  static const char *const mappings[] = {"section", "spatial", NULL};
  char *end;
  *out_manner = (Manner){.opt = opt, .spatial = strcmp(mapping, "spatial") == 0};
  if (!sambaStringRefIsOneOf(sambaStringRef(opt), levels))
    return sambaEmitOpError(module, "samba-partition-sections: opt wants o0, o1 or o3, not '%s'",
                            opt);
  if (!sambaStringRefIsOneOf(sambaStringRef(mapping), mappings))
    return sambaEmitOpError(
        module, "samba-partition-sections: mapping wants section or spatial, not '%s'", mapping);
  out_manner->time.given = usualSeconds;
  out_manner->usual_time = !search_seconds[0];
  if (out_manner->usual_time)
    return true;
  out_manner->time.given = strtod(search_seconds, &end);
  if (end == search_seconds || *end || !(out_manner->time.given >= 0))
    return sambaEmitOpError(
        module, "samba-partition-sections: search_seconds wants a number from 0 on, not '%s'",
        search_seconds);
  return true;
}

bool sambaPartitionSections(MlirOperation module, const char *target, const char *opt,
                            const char *mapping, const char *search_seconds,
                            const char *rule_file) {
  Manner manner;
  if (!readManner(module, opt, mapping, search_seconds, &manner))
    return false;
  if (!sambaModuleCheckGraphs(module))
    return false;
  if (hasForeign(module) && !sambaMaterializeViews(module))
    return false;
  SambaMachine machine;
  SambaPlanTarget plan_target = {.machine = &machine};
  SambaStatus status = sambaTargetMachine(mlirOperationGetLocation(module), target, &machine,
                                          &plan_target.attribute);
  if (!status)
    status = sambaModuleOrderGraphs(module);
  if (status)
    return sambaEmitOpStatus(module, status);
  SambaOutlinedSections sections = {0};
  SambaArena arena = {0};
  SambaRules rules = {0};
  int64_t call_id = 0;
  plan_target.counts = sambaPortCountsCreate(&machine);
  bool fine = !rule_file[0] || sambaFusionRulesRead(module, rule_file, &arena, &rules);

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       fine && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      fine = partitionFunction(operation, &plan_target, &manner, &rules, &sections, &call_id);
  sambaOutlinedSectionsFree(&sections);
  sambaPortCountsFree(plan_target.counts);
  sambaArenaDestroy(&arena);
  if (!fine)
    return false;
  status = call_id == 0 ? sambaModuleMachine(module, &machine) : NULL;
  if (status) /* there is no section that says what the machine is */
    mlirOperationSetAttributeByName(module, sambaMlirString(SAMBA_MODULE_MACHINE_ATTRIBUTE),
                                    plan_target.attribute);
  sambaStatusFree(status);

  return true;
}
