/* samba-update-in-place: what a region holds is overwritten by the calls that write it, so whoever
 * reads an earlier value must come before, or have a copy of it.
 *
 * Calls are taken in order. At a call that writes a region, the region's current values - its
 * arguments, then the result that was written last - are about to be lost. Readers that come later
 * are moved in front of the call when nothing that they need comes from it and their phase is the
 * same; the others read a copy that is taken right before the call. So does the call itself, when
 * its section does not read at the indices at which it writes (backend/stage/in_place.h). */
#include "backend/stage/in_place.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/known_stages.h"
#include "passes/passes.h"
#include "passes/section/number_calls.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>

/* A region that calls write, and the values that it holds at the place that is looked at. */
typedef struct {
  SambaStringRef name;
  SAMBA_ARRAY(MlirValue) held;
} Region;

typedef struct {
  MlirOperation function;
  MlirSymbolTable symbols; /* of the module: its sections */
  SAMBA_ARRAY(Region) regions;
  SambaStringMap by_name;
  SambaPointerMap copy_sections; /* type -> index in copies */
  SAMBA_ARRAY(MlirOperation) copies;
  uint32_t put_rows; /* regions that were named for them */
  bool changed;
} Update;

static MlirOperation findSection(const Update *u, MlirOperation call) {
  return mlirSymbolTableLookup(
      u->symbols, mlirFlatSymbolRefAttrGetValue(sambaOperationAttribute(call, "callee")));
}

/*===-- Regions of a graph --------------------------------------------------------------------===*/

static Region *regionNamed(Update *u, SambaStringRef name) {
  uint32_t index;
  if (sambaStringMapInsert(&u->by_name, name, (uint32_t)u->regions.size, &index)) {
    Region region = {.name = name};
    index = (uint32_t)u->regions.size;
    sambaArrayAppend(&u->regions, region);
  }
  return &u->regions.data[index];
}

static void collectArguments(Update *u) {
  MlirBlock body = sambaBodyOf(u->function);
  SambaRegions regions = {0};
  sambaRegionsRead(u->function, &regions);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    SambaStringRef name = regions.of_argument.data[i];
    MlirAttribute block =
        sambaFunctionAttribute(u->function, "arg_attrs", i, SAMBA_BLOCK_ATTRIBUTE);
    if (name.size && mlirAttributeIsNull(block)) /* blocks are among what writers leave alone */
      sambaArrayAppend(&regionNamed(u, name)->held, mlirBlockGetArgument(body, i));
  }
  sambaRegionsFree(&regions);
}

/* What is written has the type of everything else that the region holds. */
static bool checkType(const Region *region, MlirOperation call, MlirType type) {
  MlirType other = type;
  for (size_t i = 0; i < region->held.size; ++i)
    if (!mlirTypeEqual(mlirValueGetType(region->held.data[i]), type))
      other = mlirValueGetType(region->held.data[i]);
  if (mlirTypeEqual(other, type))
    return true;

  SambaText text = {0};
  mlirTypePrint(type, sambaTextSink, &text);
  sambaTextFormat(&text, " into region '%.*s', which holds ", SAMBA_STRING_ARGS(region->name));
  mlirTypePrint(other, sambaTextSink, &text);
  sambaEmitOpError(call, "writes %s; all values of a region that is written have one type",
                   sambaTextGet(&text));
  sambaTextFree(&text);
  return false;
}

/*===-- Uses ----------------------------------------------------------------------------------===*/

static bool isBefore(MlirOperation first, MlirOperation second) {
  return mlirOperationIsBeforeInBlock(first, second);
}

static bool uses(MlirOperation operation, MlirValue value) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(operation, i), value))
      return true;
  return false;
}

typedef SAMBA_ARRAY(MlirOperation) Operations;

static int inOrder(const void *left, const void *right) {
  const MlirOperation *a = left, *b = right;
  if (mlirOperationEqual(*a, *b))
    return 0;
  return isBefore(*a, *b) ? -1 : 1;
}

/* Operations behind the call that read the value, in order. */
static Operations readersBehind(MlirOperation call, MlirValue value) {
  Operations readers = {0};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation reader = mlirOpOperandGetOwner(use);
    if (isBefore(call, reader))
      sambaArrayAppend(&readers, reader);
  }
  if (readers.size)
    qsort(readers.data, readers.size, sizeof *readers.data, inOrder);

  size_t kept = 0; /* one that reads the value twice is there twice */
  for (size_t i = 0; i < readers.size; ++i)
    if (!kept || !mlirOperationEqual(readers.data[kept - 1], readers.data[i]))
      readers.data[kept++] = readers.data[i];
  readers.size = kept;
  return readers;
}

static MlirAttribute typeOf(MlirOperation call) { return sambaOperationAttribute(call, "type"); }

static bool writesRegion(Update *u, MlirOperation call) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); ++r)
    if (sambaRegionOfCallResult(u->function, call, r).size)
      return true;
  return false;
}

/* Moves the reader, and what it needs from between, in front of the call. False: it needs the call,
 * belongs to another phase, or something that it needs writes a region. */
static bool moveBefore(Update *u, MlirOperation reader, MlirOperation call) {
  Operations needed = {0};
  bool fits = sambaOperationIs(reader, "samba.call");
  if (fits)
    sambaArrayAppend(&needed, reader);

  for (size_t n = 0; n < needed.size && fits; ++n) {
    MlirOperation operation = needed.data[n];
    fits = !mlirOperationEqual(operation, call) && !writesRegion(u, operation) &&
           mlirAttributeEqual(typeOf(operation), typeOf(call));
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation) && fits; ++i) {
      MlirOperation maker = sambaDefiningOperation(mlirOperationGetOperand(operation, i));
      bool known = mlirOperationIsNull(maker) || isBefore(maker, call);
      for (size_t k = 0; k < needed.size && !known; ++k)
        known = mlirOperationEqual(needed.data[k], maker);
      if (!known)
        sambaArrayAppend(&needed, maker);
    }
  }

  if (fits) { /* in the order in which they stand */
    MlirOperation next, operation = mlirOperationGetNextInBlock(call);
    for (; needed.size; operation = next) {
      next = mlirOperationGetNextInBlock(operation);
      for (size_t k = 0; k < needed.size; ++k)
        if (mlirOperationEqual(needed.data[k], operation)) {
          mlirOperationMoveBefore(operation, call);
          needed.data[k] = needed.data[--needed.size];
          break;
        }
    }
    u->changed = true;
  }
  sambaArrayFree(&needed);
  return fits;
}

/*===-- Copies --------------------------------------------------------------------------------===*/

/* A section that copies one tensor of this type, on the machine of the call's section. */
static MlirOperation copySection(Update *u, MlirType type, MlirOperation call) {
  uint32_t index;
  if (sambaPointerMapGet(&u->copy_sections, type.ptr, &index))
    return u->copies.data[index];
  MlirContext context = mlirOperationGetContext(call);
  MlirLocation location = mlirOperationGetLocation(call);
  MlirBlock body = mlirBlockCreate(1, &type, &location);
  MlirValue argument = mlirBlockGetArgument(body, 0);
  MlirOperation none = {NULL};

  SambaOperationParts copy = {.name = "samba.contiguous",
                              .location = location,
                              .operand_count = 1,
                              .operands = &argument,
                              .result_count = 1,
                              .results = &type};
  MlirValue result = mlirOperationGetResult(sambaBuildOperationIn(body, none, &copy), 0);
  SambaOperationParts yield = {
      .name = "samba.yield", .location = location, .operand_count = 1, .operands = &result};
  sambaBuildOperationIn(body, none, &yield);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);

  char name[32];
  snprintf(name, sizeof name, "save%zu", u->copies.size);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "sym_name", mlirStringAttrGet(context, sambaMlirString(name))),
      sambaNamedAttribute(context, "function_type",
                          mlirTypeAttrGet(mlirFunctionTypeGet(context, 1, &type, 1, &type))),
      sambaNamedAttribute(context, "machine",
                          sambaOperationAttribute(findSection(u, call), "machine"))};
  SambaOperationParts parts = {.name = "samba.section",
                               .location = location,
                               .attribute_count = 3,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  MlirOperation section = sambaBuildOperation(&parts);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(u->function), u->function, section);
  mlirSymbolTableInsert(u->symbols, section);
  sambaPointerMapSet(&u->copy_sections, type.ptr, (uint32_t)u->copies.size);
  sambaArrayAppend(&u->copies, section);
  return section;
}

/* A copy of the value, taken right before the call and in its phase. */
static MlirValue saveBefore(Update *u, MlirValue value, MlirOperation call) {
  MlirContext context = mlirOperationGetContext(call);
  MlirType type = mlirValueGetType(value);
  MlirOperation section = copySection(u, type, call);
  MlirAttribute layer =
      mlirStringAttrGet(context, sambaToMlir(sambaLayerOfLocation(mlirOperationGetLocation(call))));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(
          context, "callee",
          mlirFlatSymbolRefAttrGet(
              context, mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name")))),
      sambaNamedAttribute(context, "id", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 0)),
      sambaNamedAttribute(context, "type", typeOf(call)),
      sambaNamedAttribute(context, SAMBA_LAYERS_ATTRIBUTE, mlirArrayAttrGet(context, 1, &layer))};
  SambaOperationParts parts = {.name = "samba.call",
                               .location = mlirOperationGetLocation(call),
                               .operand_count = 1,
                               .operands = &value,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 4,
                               .attributes = attributes};
  MlirOperation save = sambaBuildOperation(&parts);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(call), call, save);
  u->changed = true;
  return mlirOperationGetResult(save, 0);
}

/*===-- Rows and slices that are put into a tensor --------------------------------------------===*/

/* What an operation of a section puts something into, an argument; null: it is another one. */
static MlirValue baseOfPut(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  uint32_t count = (uint32_t)mlirOperationGetNumOperands(operation);
  uint32_t base = operator ? sambaOperatorPutsInto(operator, count) : UINT32_MAX;
  return base == UINT32_MAX ? (MlirValue){NULL} : mlirOperationGetOperand(operation, base);
}

/* Which result of the section an operation makes; nobody in the section reads what was put. */
static intptr_t resultOf(MlirOperation operation) {
  MlirOperation yield = mlirBlockGetTerminator(mlirOperationGetBlock(operation));
  intptr_t number = 0;
  while (
      number + 1 < mlirOperationGetNumOperands(yield) &&
      !mlirValueEqual(mlirOperationGetOperand(yield, number), mlirOperationGetResult(operation, 0)))
    ++number;
  return number;
}

static void setRegionOf(MlirOperation call, intptr_t result, SambaStringRef region) {
  MlirContext context = mlirOperationGetContext(call);
  intptr_t count = mlirOperationGetNumResults(call);
  MlirAttribute given =
      mlirOperationGetDiscardableAttributeByName(call, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE));
  MlirAttribute *names = sambaAllocate(sambaArraySize((size_t)count, sizeof *names));
  for (intptr_t r = 0; r < count; ++r)
    names[r] = mlirAttributeIsNull(given) ? mlirStringAttrGet(context, sambaMlirString(""))
                                          : mlirArrayAttrGetElement(given, r);
  names[result] = mlirStringAttrGet(context, sambaToMlir(region));
  mlirOperationSetDiscardableAttributeByName(call, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE),
                                             mlirArrayAttrGet(context, count, names));
  free(names);
}

static bool hasResultIn(const Update *u, MlirOperation call, SambaStringRef region) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); ++r)
    if (sambaStringRefEqual(sambaRegionOfCallResult(u->function, call, r), region))
      return true;
  return false;
}

/* Whether an argument, or a result of other calls than these two, has the region. */
static bool isTaken(const Update *u, SambaStringRef region, MlirOperation maker,
                    MlirOperation call) {
  SambaRegions regions = {0};
  uint32_t unused;
  sambaRegionsRead(u->function, &regions);
  bool taken = sambaStringMapGet(&regions.argument_in, region, &unused);
  sambaRegionsFree(&regions);

  MlirOperation other = mlirBlockGetFirstOperation(sambaBodyOf(u->function));
  for (; !mlirOperationIsNull(other) && !taken; other = mlirOperationGetNextInBlock(other))
    taken = sambaOperationIs(other, "samba.call") && !mlirOperationEqual(other, maker) &&
            !mlirOperationEqual(other, call) && hasResultIn(u, other, region);
  return taken;
}

/* Whether the value may be made in the region in which the call puts rows into it: nobody else
 * wants either. */
static bool mayBeMadeIn(const Update *u, MlirValue value, SambaStringRef region,
                        MlirOperation call) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker) || !sambaOperationIs(maker, "samba.call"))
    return false;
  intptr_t own = mlirOpResultGetResultNumber(value);
  return sambaGraphResultOf(u->function, value) < 0 && !hasResultIn(u, maker, region) &&
         !sambaRegionOfCallResult(u->function, maker, own).size && !isTaken(u, region, maker, call);
}

/* A call that puts something into a tensor stores nothing else of it, so this lies where its result
 * does. */
static void settlePut(Update *u, MlirOperation call, MlirOperation put) {
  MlirValue base = baseOfPut(put);
  intptr_t number = mlirBlockArgumentGetArgNumber(base), result = resultOf(put);
  SambaStringRef region = sambaRegionOfCallResult(u->function, call, result);
  char name[32];
  if (!region.size) {
    do {
      snprintf(name, sizeof name, "rows%u", u->put_rows++);
      region = sambaStringRef(name);
    } while (isTaken(u, region, call, call));
    setRegionOf(call, result, region);
  }

  MlirValue value = mlirOperationGetOperand(call, number);
  MlirOperation maker = sambaDefiningOperation(value);
  if (!mlirOperationIsNull(maker) && sambaOperationIs(maker, "samba.call") &&
      sambaStringRefEqual(
          sambaRegionOfCallResult(u->function, maker, mlirOpResultGetResultNumber(value)), region))
    return; /* settled before */
  if (!mayBeMadeIn(u, value, region, call)) {
    value = saveBefore(u, value, call);
    mlirOperationSetOperand(call, number, value);
  }
  setRegionOf(sambaDefiningOperation(value), mlirOpResultGetResultNumber(value), region);
}

static void settlePuts(Update *u, MlirOperation call) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(findSection(u, call), 0));
  MlirOperation operation = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (!mlirValueIsNull(baseOfPut(operation)))
      settlePut(u, call, operation);
}

static void replaceIn(MlirOperation operation, MlirValue from, MlirValue to) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(operation, i), from))
      mlirOperationSetOperand(operation, i, to);
}

/*===-- One write -----------------------------------------------------------------------------===*/

static uint32_t tensorOfFormal(const SambaSectionStages *stages, uint32_t formal) {
  for (uint32_t t = 0; t < stages->graph->tensor_count; ++t)
    if (stages->tensor_formal[t] == formal && stages->graph->tensors[t].alias_of == SAMBA_NO_INDEX)
      return t;
  return SAMBA_NO_INDEX;
}

/* The call's section may write result `result` over the operands that are the value. */
static SambaStatus mayOverwrite(Update *u, MlirOperation call, MlirValue value, intptr_t result,
                                bool *out_may) {
  SambaKnownStages *known;
  MlirOperation section = findSection(u, call);
  SAMBA_RETURN_IF_ERROR(sambaKnownStagesTake(section, &known));
  const SambaSectionStages *stages = &known->stages;
  uint32_t updated = tensorOfFormal(stages, stages->argument_count + (uint32_t)result);
  uint32_t formal = 0;
  *out_may = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call) && *out_may; ++i) {
    MlirValue operand = mlirOperationGetOperand(call, i);
    if (sambaValueIsArgin(operand)) /* no formal */
      continue;
    uint32_t old = tensorOfFormal(stages, formal++);
    if (mlirValueEqual(operand, value))
      *out_may = old != SAMBA_NO_INDEX && updated != SAMBA_NO_INDEX &&
                 sambaStageGraphUpdatesInPlace(stages->graph, old, updated);
  }
  sambaKnownStagesKeep(section, known);
  return NULL;
}

/* Result number `result` of the call overwrites the value. */
static SambaStatus overwrite(Update *u, MlirOperation call, MlirValue value, intptr_t result) {
  Operations readers = readersBehind(call, value);
  size_t left = 0;
  for (size_t i = 0; i < readers.size; ++i)
    if (!moveBefore(u, readers.data[i], call))
      readers.data[left++] = readers.data[i];

  bool may = true;
  SambaStatus status = NULL;
  if (uses(call, value))
    status = mayOverwrite(u, call, value, result, &may);
  if (!status && (left || !may)) {
    MlirValue saved = saveBefore(u, value, call);
    for (size_t i = 0; i < left; ++i)
      replaceIn(readers.data[i], value, saved);
    if (!may)
      replaceIn(call, value, saved);
  }
  sambaArrayFree(&readers);
  return status;
}

/* Result `result` of the call is what the region holds from here on. */
static SambaStatus writeRegion(Update *u, MlirOperation call, intptr_t result, Region *region) {
  for (size_t i = 0; i < region->held.size; ++i)
    SAMBA_RETURN_IF_ERROR(overwrite(u, call, region->held.data[i], result));
  region->held.size = 0;
  sambaArrayAppend(&region->held, mlirOperationGetResult(call, result));
  return NULL;
}

/* Of two results of one call for the same region the later one wins; the other is an activation. */
static bool isWrittenAgain(Update *u, MlirOperation call, intptr_t result, SambaStringRef name) {
  for (intptr_t r = result + 1; r < mlirOperationGetNumResults(call); ++r)
    if (sambaStringRefEqual(sambaRegionOfCallResult(u->function, call, r), name))
      return true;
  return false;
}

static bool updateCall(Update *u, MlirOperation call) {
  MlirContext context = mlirOperationGetContext(call);
  intptr_t results = mlirOperationGetNumResults(call);
  MlirAttribute *names = sambaAllocate(sambaArraySize((size_t)results + 1, sizeof *names));
  bool any = false, fine = true;

  for (intptr_t r = 0; r < results && fine; ++r) {
    SambaStringRef name = sambaRegionOfCallResult(u->function, call, r);
    if (name.size && isWrittenAgain(u, call, r, name))
      name = (SambaStringRef){NULL, 0};
    names[r] = mlirStringAttrGet(context, sambaToMlir(name));
    if (!name.size)
      continue;
    any = true;
    Region *region = regionNamed(u, name);
    fine = checkType(region, call, mlirValueGetType(mlirOperationGetResult(call, r)));
    SambaStatus status = fine ? writeRegion(u, call, r, region) : NULL;
    if (status)
      fine = sambaEmitOpStatus(call, status);
  }

  if (any && fine)
    mlirOperationSetDiscardableAttributeByName(call, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE),
                                               mlirArrayAttrGet(context, results, names));
  free(names);
  return fine;
}

/* A result with a region is what the region holds in the end. */
static bool checkResults(Update *u) {
  MlirOperation terminator = mlirBlockGetTerminator(sambaBodyOf(u->function));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(terminator); ++i) {
    SambaStringRef name = sambaRegionOfResult(u->function, i);
    MlirValue value = mlirOperationGetOperand(terminator, i);
    MlirOperation maker = sambaDefiningOperation(value);
    if (!name.size || (!mlirOperationIsNull(maker) && !sambaOperationIs(maker, "samba.call")))
      continue;
    const Region *region = regionNamed(u, name);
    bool held = false;
    for (size_t k = 0; k < region->held.size; ++k)
      held |= mlirValueEqual(region->held.data[k], value);
    if (!held)
      return sambaEmitOpError(u->function,
                              "result %ld is not the last value that the graph writes into region "
                              "'%.*s'; leave its samba.region out or return the last value",
                              (long)i, SAMBA_STRING_ARGS(name));
  }
  return true;
}

static bool updateFunction(Update *u) {
  bool fine = true;
  collectArguments(u);
  MlirOperation next, operation = mlirBlockGetFirstOperation(sambaBodyOf(u->function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "samba.call"))
      settlePuts(u, operation);
  operation = mlirBlockGetFirstOperation(sambaBodyOf(u->function));
  for (; !mlirOperationIsNull(operation) && fine; operation = next) {
    if (sambaOperationIs(operation, "samba.call"))
      fine = updateCall(u, operation);
    next = mlirOperationGetNextInBlock(operation);
  }
  fine = fine && checkResults(u);
  for (size_t i = 0; i < u->regions.size; ++i)
    sambaArrayFree(&u->regions.data[i].held);
  u->regions.size = 0;
  sambaStringMapFree(&u->by_name);
  u->by_name = (SambaStringMap){0};
  return fine;
}

bool sambaUpdateInPlace(MlirOperation module) {
  Update update = {.symbols = mlirSymbolTableCreate(module)};
  bool fine = true;
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation) && fine;
       operation = mlirOperationGetNextInBlock(operation)) {
    update.function = operation;
    if (sambaOperationIsGraph(operation))
      fine = updateFunction(&update);
  }
  if (update.changed)
    sambaNumberCalls(module);
  mlirSymbolTableDestroy(update.symbols);
  sambaArrayFree(&update.regions);
  sambaArrayFree(&update.copies);
  sambaPointerMapFree(&update.copy_sections);
  sambaStringMapFree(&update.by_name);
  return fine;
}
