/* Fusion rules on a graph; see fusion_rules.h. */
#include "passes/section/fusion_rules.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/registry/registry.h"
#include "passes/section/pinned_sections.h"
#include "passes/section/placed_values.h"
#include "support/container/pointer_map.h"
#include "support/file/input_file.h"
#include "support/text/nearest.h"
#include "support/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const heuristicNames[] = {"fuse", "alone", "apart"};
enum { heuristicCount = sizeof heuristicNames / sizeof *heuristicNames };

static bool findHeuristic(const char *name, SambaHeuristic *out) {
  for (uint32_t h = 0; h < heuristicCount; ++h)
    if (strcmp(heuristicNames[h], name) == 0) {
      *out = (SambaHeuristic)h;
      return true;
    }
  return false;
}

SambaHeuristic sambaHeuristicOf(const SambaRule *rule) {
  SambaHeuristic found = rule ? SAMBA_HEURISTIC_FUSE : SAMBA_HEURISTIC_ALONE;
  if (rule && rule->heuristic)
    findHeuristic(rule->heuristic, &found);
  return found;
}

/* Rules name operators of the table that are no views: sections are made of those. */
static SambaStatus checkType(const char *path, const SambaRule *rule, const char *type) {
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(type));
  if (operator && !operator->view)
    return NULL;
  if (operator)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s:%u: rule '%s': %s only changes how a tensor is looked at, and rules "
                           "see through it; leave the node out",
                           path, rule->line, rule->name, type);

  SambaNearest nearest = sambaNearestStart(sambaStringRef(type));
  for (uint32_t i = 0; sambaOperatorAt(i); ++i)
    sambaNearestOffer(&nearest, sambaStringRef(sambaOperatorAt(i)->name));
  return sambaStatusMake(SAMBA_INVALID, "%s:%u: rule '%s': there is no operator '%s'%s%.*s%s", path,
                         rule->line, rule->name, type, nearest.found.size ? "; did you mean " : "",
                         (int)nearest.found.size, nearest.found.data,
                         nearest.found.size ? "?" : "");
}

static SambaStatus checkTypes(const char *path, const SambaRule *rule) {
  for (uint32_t f = 0; f < rule->form_count; ++f)
    for (uint32_t n = 0; n < rule->forms[f].node_count; ++n)
      for (uint32_t t = 0; t < rule->forms[f].nodes[n].type_count; ++t)
        SAMBA_RETURN_IF_ERROR(checkType(path, rule, rule->forms[f].nodes[n].types[t]));
  return NULL;
}

static void warnOfHeuristic(MlirOperation module, const char *path, const SambaRule *rule) {
  SambaHeuristic unused;
  if (!rule->heuristic || findHeuristic(rule->heuristic, &unused))
    return;
  SambaText text = {0};
  sambaTextFormat(&text,
                  "%s:%u: rule '%s': heuristic '%s' is not known here (fuse, alone and apart are); "
                  "its operators are fused and the planner maps them",
                  path, rule->line, rule->name, rule->heuristic);
  sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticWarning,
                mlirStringRefCreate(text.data, text.size), 0, NULL);
  sambaTextFree(&text);
}

/* The rules that come with Samba (passes/section/rules), as texts. */
extern const char samba_rules_llama[], samba_rules_gpt2[], samba_rules_bert[], samba_rules_resnet[];
static const struct {
  const char *name, *text;
} shipped[] = {{"llama", samba_rules_llama},
               {"gpt2", samba_rules_gpt2},
               {"bert", samba_rules_bert},
               {"resnet", samba_rules_resnet}};

static const char *shippedText(const char *name) {
  for (size_t i = 0; i < sizeof shipped / sizeof *shipped; ++i)
    if (strcmp(shipped[i].name, name) == 0)
      return shipped[i].text;
  return NULL;
}

static SambaStatus readFile(const char *path, uint8_t **out_data, uint64_t *out_size) {
  int fd;
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &fd, out_size));
  SambaStatus status = sambaInputFileRead(fd, path, *out_size, out_data);
  close(fd);
  return status;
}

bool sambaFusionRulesRead(MlirOperation module, const char *path, SambaArena *arena,
                          SambaRules *out_rules) {
  uint8_t *data = NULL;
  uint64_t size;
  const char *text = shippedText(path);
  SambaStatus status = text ? NULL : readFile(path, &data, &size);
  if (!status)
    status = sambaRulesRead(path, text ? text : (const char *)data, text ? strlen(text) : size,
                            arena, out_rules);
  free(data);

  for (uint32_t r = 0; !status && r < out_rules->count; ++r)
    status = checkTypes(path, &out_rules->rules[r]);
  if (status)
    return sambaEmitOpStatus(module, status);
  for (uint32_t r = 0; r < out_rules->count; ++r)
    warnOfHeuristic(module, path, &out_rules->rules[r]);
  return true;
}

/* The graph of the operators while it is made. */
typedef SAMBA_ARRAY(uint32_t) Indices;
typedef struct Edges {
  SambaPointerMap number_of; /* of each operator */
  Indices readers;           /* of one operator */
} Edges;

static void collectReaders(Edges *edges, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    uint32_t number;
    bool passes = sambaOperationIsView(user) || sambaOperationIsPlacement(user);
    for (intptr_t r = 0; passes && r < mlirOperationGetNumResults(user); ++r)
      collectReaders(edges, mlirOperationGetResult(user, r));
    if (!passes && sambaPointerMapGet(&edges->number_of, user.ptr, &number))
      sambaArrayAppend(&edges->readers, number);
  }
}

static int compareNumbers(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Lists of readers, each once; then those of makers, which come out ascending. */
static void listEdges(const MlirOperation *operators, uint32_t count, SambaArena *arena,
                      SambaRuleGraph *graph) {
  Edges edges = {0};
  Indices all = {0};
  uint32_t *starts = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  uint32_t *maker_starts = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 2);
  sambaArrayReserve(&all, 1);
  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&edges.number_of, operators[i].ptr, i);

  for (uint32_t i = 0; i < count; ++i) {
    edges.readers.size = 0;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(operators[i]); ++r)
      collectReaders(&edges, mlirOperationGetResult(operators[i], r));
    if (edges.readers.size)
      qsort(edges.readers.data, edges.readers.size, sizeof *edges.readers.data, compareNumbers);
    for (size_t k = 0; k < edges.readers.size; ++k)
      if (!k || edges.readers.data[k] != edges.readers.data[k - 1]) {
        sambaArrayAppend(&all, edges.readers.data[k]);
        ++maker_starts[edges.readers.data[k] + 2];
      }
    starts[i + 1] = (uint32_t)all.size;
  }

  /* Entry i + 1 counts up from the start of operator i to its end. */
  uint32_t *makers = SAMBA_ARENA_ARRAY(arena, uint32_t, all.size + 1);
  for (uint32_t i = 1; i < count; ++i)
    maker_starts[i + 1] += maker_starts[i];
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = starts[i]; k < starts[i + 1]; ++k)
      makers[maker_starts[all.data[k] + 1]++] = i;
  graph->reader_starts = starts;
  graph->readers = sambaArenaCopy(arena, all.data, all.size * sizeof *all.data);
  graph->maker_starts = maker_starts;
  graph->makers = makers;
  sambaArrayFree(&all);
  sambaArrayFree(&edges.readers);
  sambaPointerMapFree(&edges.number_of);
}

/* "": no rule may have it. */
static const char *typeOf(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  MlirStringRef start = sambaMlirString(SAMBA_SECTION_START_ATTRIBUTE);
  bool begins = !mlirAttributeIsNull(mlirOperationGetAttributeByName(operation, start));
  bool updates = sambaPhaseOf(operation) == SAMBA_PEF_SECTION_OPT;
  return operator && !begins && !updates ? operator->name : "";
}

void sambaFusionRulesMatch(const SambaRules *rules, const uint32_t *joined,
                           MlirOperation *operators, uint32_t count, SambaArena *arena,
                           SambaFusedOperators *out_fused) {
  const char **types = SAMBA_ARENA_ARRAY(arena, const char *, count + 1);
  uint32_t *parts = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1); /* that share no section */
  uint32_t *order = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    types[i] = typeOf(operators[i]);
    parts[i] = i ? parts[i - 1] : 0;
    if (i && (sambaPhaseOf(operators[i]) != sambaPhaseOf(operators[i - 1]) ||
              sambaBordersByPlaces(operators, i)))
      ++parts[i];
  }
  SambaRuleGraph graph = {.count = count, .types = types, .barrier = parts};
  SambaRuleGroups groups;
  listEdges(operators, count, arena, &graph);
  sambaRulesMatch(rules, &graph, joined, arena, &groups, order);

  if (joined)
    sambaPinnedSectionsCheck(joined, groups.group_of, operators, count);
  *out_fused = (SambaFusedOperators){SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1), groups.groups};
  MlirOperation *before = sambaArenaCopy(arena, operators, count * sizeof *operators);
  for (uint32_t i = 0; i < count; ++i) {
    operators[i] = before[order[i]];
    out_fused->group_of[i] = groups.group_of[order[i]];
  }
}
