/* Decisions as a file; see dump_decisions.h. */
#include "pipeline/dump_decisions.h"

#include "backend/decision/decision.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/mapping.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "passes/section/layer_names.h"
#include "passes/section/outline_sections.h"
#include "support/container/pointer_map.h"
#include "support/file/atomic_file.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

/* An operator of a graph. */
typedef struct Found {
  int64_t number;       /* in the graph */
  SambaStringRef layer; /* the call's: several calls may share the section */
  MlirOperation inside; /* it in its section */
  SambaOperatorDecision decision;
} Found;

/* A section whose mappings are texts already: equal calls share them. */
typedef struct Mapped {
  MlirOperation *operators;
  uint32_t count;
  SambaOperatorDecision *decisions;
} Mapped;

typedef struct Dump {
  MlirSymbolTable symbols;
  SambaArena arena;
  SambaPointerMap mapped_of; /* sections, to an index of the list */
  SAMBA_ARRAY(Mapped) mapped;
  SAMBA_ARRAY(Found) found;   /* of one graph */
  int64_t calls, last_number; /* last_number: of the first operator of the last call */
  SambaLayerNames names;
  SAMBA_ARRAY(uint32_t) name_of; /* of the graphs' operators, in order */
  SAMBA_ARRAY(SambaOperatorDecision) decisions;
} Dump;

static const char *printAttribute(SambaArena *arena, MlirAttribute attribute) {
  SambaText text = {0};
  mlirAttributePrint(attribute, sambaTextSink, &text);
  const char *printed = sambaTextToArena(&text, arena);
  return printed;
}

/* The mappings of an operator of a section. */
static SambaOperatorDecision decisionOf(Dump *dump, MlirOperation operation) {
  SambaOperatorDecision decision = {.section = -1};
  while (!mlirAttributeIsNull(sambaMappingAttributeOf(operation, decision.mapping_count)))
    ++decision.mapping_count;
  decision.mappings = SAMBA_ARENA_ARRAY(&dump->arena, const char *, decision.mapping_count + 1);
  for (uint32_t m = 0; m < decision.mapping_count; ++m)
    decision.mappings[m] = printAttribute(&dump->arena, sambaMappingAttributeOf(operation, m));
  return decision;
}

static const Mapped *mappedOf(Dump *dump, MlirOperation section) {
  uint32_t index;
  if (sambaPointerMapGet(&dump->mapped_of, section.ptr, &index))
    return &dump->mapped.data[index];
  Mapped mapped = {0};
  mapped.operators = sambaFunctionOperators(section, &mapped.count);
  mapped.decisions = SAMBA_ARENA_ARRAY(&dump->arena, SambaOperatorDecision, mapped.count + 1);
  uint32_t divisor = sambaParallelDivisor(section);
  for (uint32_t i = 0; i < mapped.count; ++i) {
    mapped.decisions[i] = decisionOf(dump, mapped.operators[i]);
    mapped.decisions[i].parallel = divisor > 1 ? divisor : 0;
  }
  sambaPointerMapSet(&dump->mapped_of, section.ptr, (uint32_t)dump->mapped.size);
  sambaArrayAppend(&dump->mapped, mapped);
  return &dump->mapped.data[dump->mapped.size - 1];
}

/* Calls that were added since the graph was partitioned have no operators of it. */
static void visitCall(Dump *dump, MlirOperation call) {
  MlirAttribute numbers =
      mlirOperationGetDiscardableAttributeByName(call, sambaMlirString(SAMBA_OPERATORS_ATTRIBUTE));
  MlirAttribute layers =
      mlirOperationGetDiscardableAttributeByName(call, sambaMlirString(SAMBA_LAYERS_ATTRIBUTE));
  if (mlirAttributeIsNull(numbers))
    return;
  MlirAttribute callee = sambaOperationAttribute(call, "callee");
  MlirOperation section =
      mlirSymbolTableLookup(dump->symbols, mlirFlatSymbolRefAttrGetValue(callee));
  const Mapped *mapped = mappedOf(dump, section);

  /* Parts of one section of the graph follow each other, and may have one more operator each, which
   * puts them together. */
  intptr_t count = mlirDenseArrayGetNumElements(numbers);
  count = count < (intptr_t)mapped->count ? count : (intptr_t)mapped->count;
  int64_t first = count ? mlirDenseI64ArrayGetElement(numbers, 0) : -1;
  bool is_part = count && dump->found.size && first == dump->last_number;
  dump->last_number = first;
  dump->calls -= is_part;
  for (intptr_t i = 0; i < count; ++i) {
    MlirStringRef layer = mlirStringAttrGetValue(mlirArrayAttrGetElement(layers, i));
    Found found = {.number = mlirDenseI64ArrayGetElement(numbers, i),
                   .layer = sambaFromMlir(layer),
                   .inside = mapped->operators[i],
                   .decision = mapped->decisions[i]};
    found.decision.section = dump->calls;
    sambaArrayAppend(&dump->found, found);
  }
  ++dump->calls;
}

static int compareFound(const void *a, const void *b) {
  int64_t x = ((const Found *)a)->number, y = ((const Found *)b)->number;
  return (x > y) - (x < y);
}

/* Operators in the order of the graph. What was split into parts of several calls has a mapping in
 * each of them, and none as a whole. */
static void orderFound(Dump *dump) {
  Found *found = dump->found.data;
  size_t kept = 0;
  if (dump->found.size)
    qsort(found, dump->found.size, sizeof *found, compareFound);
  for (size_t i = 0; i < dump->found.size; ++i) {
    if (kept && found[kept - 1].number == found[i].number)
      found[kept - 1].decision.mapping_count = 0;
    else
      found[kept++] = found[i];
  }
  dump->found.size = kept;
}

static void visitGraph(Dump *dump, MlirOperation function) {
  dump->found.size = 0;
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "samba.call"))
      visitCall(dump, operation);
  orderFound(dump);
  for (size_t i = 0; i < dump->found.size; ++i) {
    uint32_t place;
    const Found *found = &dump->found.data[i];
    SambaStringRef kind = sambaFromMlir(sambaOperationName(found->inside));
    uint32_t name = sambaLayerNamesAdd(&dump->names, found->layer, kind, &place);
    sambaArrayAppend(&dump->name_of, name);
    sambaArrayAppend(&dump->decisions, found->decision);
  }
}

/* The decisions by layer: a list each, in the order of the graphs. */
static SambaDecisions byLayer(Dump *dump) {
  uint32_t count = (uint32_t)dump->names.list.size;
  SambaDecisions all = {count, SAMBA_ARENA_ARRAY(&dump->arena, SambaLayerDecisions, count + 1)};
  for (uint32_t l = 0; l < count; ++l)
    all.layers[l] =
        (SambaLayerDecisions){.name = dump->names.list.data[l].name,
                              .operators = SAMBA_ARENA_ARRAY(&dump->arena, SambaOperatorDecision,
                                                             dump->names.list.data[l].count)};
  for (size_t i = 0; i < dump->name_of.size; ++i) {
    SambaLayerDecisions *layer = &all.layers[dump->name_of.data[i]];
    layer->operators[layer->count++] = dump->decisions.data[i];
  }
  return all;
}

static void freeDump(Dump *dump) {
  for (size_t i = 0; i < dump->mapped.size; ++i)
    free(dump->mapped.data[i].operators);
  sambaArrayFree(&dump->mapped);
  sambaArrayFree(&dump->found);
  sambaArrayFree(&dump->name_of);
  sambaArrayFree(&dump->decisions);
  sambaPointerMapFree(&dump->mapped_of);
  sambaLayerNamesFree(&dump->names);
  sambaArenaDestroy(&dump->arena);
  mlirSymbolTableDestroy(dump->symbols);
}

SambaStatus sambaDecisionsDump(MlirOperation module, const char *path) {
  Dump dump = {.symbols = mlirSymbolTableCreate(module)};
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      visitGraph(&dump, operation);

  SambaText text = {0};
  SambaDecisions decisions = byLayer(&dump);
  sambaDecisionsPrint(&decisions, &text);
  SambaStatus status = sambaWriteFile(path, sambaTextGet(&text), text.size);
  sambaTextFree(&text);
  freeDump(&dump);
  return status;
}
