/* Outlining; see outline_sections.h. */
#include "passes/section/outline_sections.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef SAMBA_ARRAY(MlirValue) Values;

/* One section while it is made. */
typedef struct {
  MlirOperation function;
  const SambaPointerMap *numbers; /* of the graph's operators */
  MlirBlock body;
  Values inputs;          /* values of the graph that become arguments */
  SambaPointerMap cloned; /* value of the graph -> index in values */
  Values values;          /* values of the section's body */
  Values results;         /* values of the graph that leave the section */
} Outline;

MlirOperation *sambaFunctionOperators(MlirOperation function, uint32_t *out_count) {
  SAMBA_ARRAY(MlirOperation) operators = {0};
  MlirOperation next = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(next))
    if (sambaOperationIsOperator(next))
      sambaArrayAppend(&operators, next);
  *out_count = (uint32_t)operators.size;
  return operators.data;
}

static SambaPointerMap numberOperators(MlirOperation function) {
  uint32_t count;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  SambaPointerMap numbers = {0};
  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&numbers, operators[i].ptr, i);
  free(operators);
  return numbers;
}

static void mapValue(Outline *outline, MlirValue outside, MlirValue inside) {
  sambaArrayAppend(&outline->values, inside);
  sambaPointerMapSet(&outline->cloned, outside.ptr, (uint32_t)outline->values.size - 1);
}

static MlirOperation cloneInto(Outline *outline, MlirOperation operation);

static MlirValue insideOf(Outline *outline, MlirValue outside) {
  uint32_t index;
  if (sambaPointerMapGet(&outline->cloned, outside.ptr, &index))
    return outline->values.data[index];
  MlirOperation owner = sambaDefiningOperation(outside);

  if (!mlirOperationIsNull(owner) &&
      (sambaOperationIsView(owner) || sambaOperationIsSource(owner))) {
    cloneInto(outline, owner);
    return insideOf(outline, outside);
  }

  MlirValue argument = mlirBlockAddArgument(outline->body, mlirValueGetType(outside),
                                            mlirOperationGetLocation(outline->function));
  sambaArrayAppend(&outline->inputs, outside);
  mapValue(outline, outside, argument);

  return argument;
}

static MlirValue readInside(MlirValue value, void *outline) { return insideOf(outline, value); }

static MlirOperation cloneInto(Outline *outline, MlirOperation operation) {
  MlirOperation clone = mlirOperationClone(operation);
  sambaMapInputs(clone, readInside, outline);

  /* The call says in which phase the section runs and what is written where: equal sections are one
   * whatever their phases and regions. */
  mlirOperationRemoveDiscardableAttributeByName(clone, sambaMlirString(SAMBA_PHASE_ATTRIBUTE));
  mlirOperationRemoveDiscardableAttributeByName(clone, sambaMlirString(SAMBA_REGION_ATTRIBUTE));
  mlirOperationRemoveDiscardableAttributeByName(clone, sambaMlirString(SAMBA_SECTION_ATTRIBUTE));
  mlirOperationRemoveDiscardableAttributeByName(clone, sambaMlirString(SAMBA_PARALLEL_ATTRIBUTE));
  mlirBlockAppendOwnedOperation(outline->body, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(operation); ++i)
    mapValue(outline, mlirOperationGetResult(operation, i), mlirOperationGetResult(clone, i));
  return clone;
}

/* True when somebody outside the section reads the value, through views or not. */
static bool leaves(const SambaPointerMap *members, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    uint32_t unused;
    if (sambaOperationIsView(user)) {
      if (leaves(members, mlirOperationGetResult(user, 0)))
        return true;
    } else if (!sambaPointerMapGet(members, user.ptr, &unused)) {
      return true;
    }
  }
  return false;
}

/* Which arguments are scalars of the launch: their kinds; null when none is. */
static MlirAttribute argumentKinds(const Outline *outline, MlirContext context) {
  size_t count = outline->inputs.size;
  MlirAttribute *kinds = sambaAllocate(sambaArraySize(count + 1, sizeof *kinds));
  MlirNamedAttribute argin = sambaNamedAttribute(
      context, SAMBA_KIND_ATTRIBUTE, mlirStringAttrGet(context, sambaMlirString("argin")));
  bool any = false;

  for (size_t i = 0; i < count; ++i) {
    bool is_argin = sambaValueIsArgin(outline->inputs.data[i]);
    kinds[i] = mlirDictionaryAttrGet(context, is_argin, &argin);
    any |= is_argin;
  }
  MlirAttribute all =
      any ? mlirArrayAttrGet(context, (intptr_t)count, kinds) : mlirAttributeGetNull();
  free(kinds);
  return all;
}

/* location: of its first operator, which errors name. */
static MlirOperation createSection(Outline *outline, MlirContext context, MlirAttribute machine,
                                   MlirLocation location) {
  size_t inputs = outline->inputs.size;
  size_t results = outline->results.size;
  MlirType *types = sambaAllocate(sambaArraySize(inputs + results + 1, sizeof *types));
  MlirValue *yielded = sambaAllocate(sambaArraySize(results + 1, sizeof *yielded));

  for (size_t i = 0; i < inputs; ++i)
    types[i] = mlirValueGetType(outline->inputs.data[i]);
  for (size_t i = 0; i < results; ++i) {
    types[inputs + i] = mlirValueGetType(outline->results.data[i]);
    yielded[i] = insideOf(outline, outline->results.data[i]);
  }

  MlirOperation none = {NULL};
  SambaOperationParts yield = {.name = "samba.yield",
                               .location = location,
                               .operand_count = (intptr_t)results,
                               .operands = yielded};
  sambaBuildOperationIn(outline->body, none, &yield);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, outline->body);
  MlirType type =
      mlirFunctionTypeGet(context, (intptr_t)inputs, types, (intptr_t)results, types + inputs);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "sym_name",
                          mlirStringAttrGet(context, sambaMlirString("section"))),
      sambaNamedAttribute(context, "function_type", mlirTypeAttrGet(type)),
      sambaNamedAttribute(context, "machine", machine),
      {0}};
  intptr_t attribute_count = 3;
  MlirAttribute kinds = argumentKinds(outline, context);
  if (!mlirAttributeIsNull(kinds))
    attributes[attribute_count++] = sambaNamedAttribute(context, "arg_attrs", kinds);
  SambaOperationParts parts = {.name = "samba.section",
                               .location = location,
                               .attribute_count = attribute_count,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  free(types);
  free(yielded);

  return sambaBuildOperation(&parts);
}

/* The text of a section without locations: equal text, equal section. */
static SambaText textOf(MlirOperation section) {
  SambaText text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(section, flags, sambaTextSink, &text);
  mlirOpPrintingFlagsDestroy(flags);
  return text;
}

void sambaOutlinedSectionsFree(SambaOutlinedSections *sections) {
  for (size_t i = 0; i < sections->list.size; ++i)
    free(sections->list.data[i].text);
  sambaArrayFree(&sections->list);
  sambaStringMapFree(&sections->by_text);
}

/* An earlier section with the same text, or the section itself, now with a name and in front of the
 * function. */
static MlirOperation mergeSection(SambaOutlinedSections *sections, MlirOperation section,
                                  MlirOperation function) {
  SambaText text = textOf(section);
  uint32_t earlier;

  if (!sambaStringMapInsert(&sections->by_text, sambaTextRef(&text), (uint32_t)sections->list.size,
                            &earlier)) {
    sambaTextFree(&text);
    mlirOperationDestroy(section);
    return sections->list.data[earlier].section;
  }

  char name[32];
  int length = snprintf(name, sizeof name, "s%zu", sections->list.size);
  MlirStringRef symbol = mlirStringRefCreate(name, (size_t)length);

  mlirOperationSetAttributeByName(section, sambaMlirString("sym_name"),
                                  mlirStringAttrGet(mlirOperationGetContext(section), symbol));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(function), function, section);
  SambaOutlinedSection made = {text.data, section};
  sambaArrayAppend(&sections->list, made);

  return section;
}

/* The user's layers of the members, in order: what tells two calls of one section apart in
 * reports. */
static MlirAttribute layersOf(MlirContext context, const MlirOperation *members, uint32_t count) {
  MlirAttribute *layers = sambaAllocate(sambaArraySize(count + 1, sizeof *layers));
  for (uint32_t i = 0; i < count; ++i)
    layers[i] = mlirStringAttrGet(
        context, sambaToMlir(sambaLayerOfLocation(mlirOperationGetLocation(members[i]))));
  MlirAttribute list = mlirArrayAttrGet(context, count, layers);
  free(layers);
  return list;
}

/* The regions that copies in the section write; null when there are none. */
static MlirAttribute regionsOf(const Outline *outline, MlirContext context) {
  MlirAttribute *regions =
      sambaAllocate(sambaArraySize(outline->results.size + 1, sizeof *regions));
  MlirAttribute none = mlirStringAttrGet(context, sambaMlirString(""));
  bool any = false;
  for (size_t i = 0; i < outline->results.size; ++i) {
    regions[i] = sambaOperationAttribute(mlirOpResultGetOwner(outline->results.data[i]),
                                         SAMBA_REGION_ATTRIBUTE);
    any |= !mlirAttributeIsNull(regions[i]);
    regions[i] = mlirAttributeIsNull(regions[i]) ? none : regions[i];
  }
  MlirAttribute list = any ? mlirArrayAttrGet(context, (intptr_t)outline->results.size, regions)
                           : mlirAttributeGetNull();
  free(regions);
  return list;
}

/* The numbers of the members in the graph. */
static MlirAttribute numbersOf(const Outline *outline, MlirContext context,
                               const MlirOperation *members, uint32_t count) {
  int64_t *numbers = sambaAllocate(sambaArraySize(count + 1, sizeof *numbers));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t number = 0;
    sambaPointerMapGet(outline->numbers, members[i].ptr, &number);
    numbers[i] = number;
  }
  MlirAttribute list = mlirDenseI64ArrayGet(context, count, numbers);
  free(numbers);
  return list;
}

static MlirOperation createCall(Outline *outline, MlirOperation section,
                                const MlirOperation *members, uint32_t count, MlirOperation before,
                                int64_t id) {
  MlirContext context = mlirOperationGetContext(section);
  MlirType *types = sambaAllocate(sambaArraySize(outline->results.size + 1, sizeof *types));

  for (size_t i = 0; i < outline->results.size; ++i)
    types[i] = mlirValueGetType(outline->results.data[i]);
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  const char *type = sambaPefSectionTypeName(sambaPhaseOf(members[0]));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "callee", mlirFlatSymbolRefAttrGet(context, symbol)),
      sambaNamedAttribute(context, "id", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), id)),
      sambaNamedAttribute(context, "type", mlirStringAttrGet(context, sambaMlirString(type))),
      sambaNamedAttribute(context, SAMBA_LAYERS_ATTRIBUTE, layersOf(context, members, count)),
      sambaNamedAttribute(context, SAMBA_OPERATORS_ATTRIBUTE,
                          numbersOf(outline, context, members, count))};
  MlirAttribute regions = regionsOf(outline, context);
  SambaOperationParts parts = {.name = "samba.call",
                               .location = mlirOperationGetLocation(members[0]),
                               .operand_count = (intptr_t)outline->inputs.size,
                               .operands = outline->inputs.data,
                               .result_count = (intptr_t)outline->results.size,
                               .results = types,
                               .attribute_count = 5,
                               .attributes = attributes};
  MlirOperation call = sambaBuildOperation(&parts);
  if (!mlirAttributeIsNull(regions))
    mlirOperationSetDiscardableAttributeByName(call, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE),
                                               regions);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, call);
  for (size_t i = 0; i < outline->results.size; ++i)
    mlirValueReplaceAllUsesOfWith(outline->results.data[i],
                                  mlirOperationGetResult(call, (intptr_t)i));
  free(types);
  return call;
}

static void outlineOne(SambaOutlinedSections *sections, MlirOperation function,
                       const SambaPointerMap *numbers, const MlirOperation *members, uint32_t count,
                       MlirAttribute machine, MlirAttribute end, int64_t id) {
  MlirContext context = mlirOperationGetContext(function);
  Outline outline = {
      .function = function, .numbers = numbers, .body = mlirBlockCreate(0, NULL, NULL)};
  SambaPointerMap set = {0};

  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&set, members[i].ptr, i);
  for (uint32_t i = 0; i < count; ++i) {
    cloneInto(&outline, members[i]);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(members[i]); ++r)
      if (leaves(&set, mlirOperationGetResult(members[i], r)))
        sambaArrayAppend(&outline.results, mlirOperationGetResult(members[i], r));
  }

  sambaPointerMapFree(&set);
  MlirOperation made =
      createSection(&outline, context, machine, mlirOperationGetLocation(members[0]));
  uint32_t divisor = 1;
  for (uint32_t i = 0; i < count; ++i)
    if (sambaParallelDivisor(members[i]) > divisor)
      divisor = sambaParallelDivisor(members[i]);
  if (divisor > 1)
    sambaSetParallelDivisor(made, divisor);
  MlirOperation section = mergeSection(sections, made, function);
  MlirOperation call = createCall(&outline, section, members, count,
                                  mlirBlockGetTerminator(sambaBodyOf(function)), id);
  mlirOperationSetDiscardableAttributeByName(call, sambaMlirString(SAMBA_END_ATTRIBUTE), end);
  sambaArrayFree(&outline.inputs);
  sambaArrayFree(&outline.values);
  sambaArrayFree(&outline.results);
  sambaPointerMapFree(&outline.cloned);
}

/* Views and operators that are not used any more, last first. */
static void eraseDead(MlirOperation function) {
  SAMBA_ARRAY(MlirOperation) operations = {0};
  MlirOperation next = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(next))
    sambaArrayAppend(&operations, next);
  for (size_t i = operations.size; i-- > 0;) {
    MlirOperation operation = operations.data[i];
    bool used =
        sambaOperationIs(operation, "func.return") || sambaOperationIs(operation, "samba.call");
    for (intptr_t r = 0; r < mlirOperationGetNumResults(operation) && !used; ++r)
      used = !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, r)));
    if (!used)
      mlirOperationDestroy(operation);
  }
  sambaArrayFree(&operations);
}

/* The first operation of the block that uses a result; null: none does. */
static MlirOperation firstUser(MlirOperation operation) {
  MlirOperation first = {NULL};
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
    MlirValue value = mlirOperationGetResult(operation, r);
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = sambaUserInBlockOf(value, use);
      if (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first))
        first = user;
    }
  }
  return first;
}

/* Calls were appended behind what says where their operands and results lie: this goes between
 * them, the last one first, as one may use another. */
static void movePlacements(MlirOperation function) {
  SAMBA_ARRAY(MlirOperation) placements = {0};
  MlirOperation next = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(next))
    if (sambaOperationIsPlacement(next))
      sambaArrayAppend(&placements, next);
  for (size_t i = placements.size; i-- > 0;)
    mlirOperationMoveBefore(placements.data[i], firstUser(placements.data[i]));
  sambaArrayFree(&placements);
}

/* Constants and views stand in front of all calls; calls were appended in schedule order. */
static void hoistConstants(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  MlirOperation first = mlirBlockGetFirstOperation(body);
  MlirOperation next;
  for (MlirOperation operation = first; !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIsConstant(operation) && !mlirOperationEqual(operation, first))
      mlirOperationMoveBefore(operation, first);
  }
}

void sambaOutlineSections(SambaOutlinedSections *sections, MlirOperation function,
                          const MlirOperation *operators, const uint32_t *section_of,
                          const MlirAttribute *ends, uint32_t count, uint32_t section_count,
                          MlirAttribute machine, int64_t *call_id) {
  /* Operators by section, in order: a counting sort. */
  uint32_t *starts = sambaAllocateZeroed(section_count + 1, sizeof *starts);
  MlirOperation *sorted = sambaAllocate(sambaArraySize(count + 1, sizeof *sorted));

  for (uint32_t i = 0; i < count; ++i)
    ++starts[section_of[i] + 1];
  for (uint32_t s = 0; s < section_count; ++s)
    starts[s + 1] += starts[s];
  uint32_t *cursor = sambaAllocate(sambaArraySize(section_count + 1, sizeof *cursor));
  memcpy(cursor, starts, (section_count + 1) * sizeof *cursor);
  for (uint32_t i = 0; i < count; ++i)
    sorted[cursor[section_of[i]]++] = operators[i];
  SambaPointerMap numbers = numberOperators(function);
  for (uint32_t s = 0; s < section_count; ++s)
    if (starts[s + 1] > starts[s])
      outlineOne(sections, function, &numbers, sorted + starts[s], starts[s + 1] - starts[s],
                 machine, ends[s], (*call_id)++);
  sambaPointerMapFree(&numbers);
  free(starts);
  free(cursor);
  free(sorted);
  hoistConstants(function);
  eraseDead(function);
  movePlacements(function);
}
