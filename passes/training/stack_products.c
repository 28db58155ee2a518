/* samba-stack-products: equal products of many layers that nobody waits for become one product of
 * stacked operands. The gradients of weights are such: a step needs them at its end only. One by
 * one each of them is a section that fills and drains the chip, and whose operands must all be
 * there before it begins; stacked, that is paid once. Operands and results lie where they would lie
 * anyhow, but side by side (samba.stack, samba.unstack). */
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/samba_attribute_names.h"
#include "passes/passes.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/* Stacked operands live until the last layer's are made: no more of memory than a quarter. */
enum { operandCount = 2, leastProducts = 2, memoryShare = 4 };

/* Products with one key are equal but for what they read. */
typedef struct Group {
  SAMBA_ARRAY(MlirOperation) products;
} Group;

typedef struct Stacking {
  MlirOperation function;
  SAMBA_ARRAY(Group) groups; /* in the order of their first products */
  SambaStringMap by_key;
  const SambaStringMap *shared; /* regions that several values of the module have */
  SambaPointerMap stack_of;     /* value -> the stack in which it lies */
  SAMBA_ARRAY(MlirOperation) stacks;
  uint64_t bytes_left; /* that may still be stacked */
  uint64_t alignment;  /* of parts of what lies in memory */
} Stacking;

/*===-- Which products ------------------------------------------------------------------------===*/

/* A view that can be taken of stacked values as of one. */
static bool isLifted(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.reshape") ||
         sambaOperationIs(operation, "samba.permute");
}

/* What the value is a view of. */
static MlirValue baseOf(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  for (; !mlirOperationIsNull(maker) && isLifted(maker); maker = sambaDefiningOperation(value))
    value = mlirOperationGetOperand(maker, 0);
  return value;
}

/* Whether the operator's result lies where one of its operands does (samba-update-in-place). */
static bool putsInto(MlirOperation operation) {
  const SambaOperator *row = sambaOperatorOf(operation);
  uint32_t count = (uint32_t)mlirOperationGetNumOperands(operation);
  return row && sambaOperatorPutsInto(row, count) != UINT32_MAX;
}

/* Whether an operator leaves the value in memory of which nobody says where it is. */
static bool mayBePlaced(MlirValue base) {
  MlirOperation maker = sambaDefiningOperation(base);
  if (mlirOperationIsNull(maker) || !sambaOperationIsOperator(maker) || putsInto(maker) ||
      !mlirAttributeIsNull(sambaOperationAttribute(maker, SAMBA_REGION_ATTRIBUTE)))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(base); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(base, use);
    if (sambaOperationIs(user, "func.return") || putsInto(user))
      return false;
  }
  return true;
}

/* Whether only later phases, or the graph's end, read the value: as it is, or through views. */
static bool isReadLater(MlirValue value, SambaPefSectionType phase) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    if (sambaOperationIs(user, "func.return"))
      continue;
    if (sambaOperationIsView(user) ? !isReadLater(mlirOperationGetResult(user, 0), phase)
                                   : sambaPhaseOf(user) == phase)
      return false;
  }
  return true;
}

/* Whether the graph returns the value in a region that others have, too: it has its place. */
static bool isReturnedToShared(const Stacking *stacking, MlirValue value) {
  uint32_t unused;
  SambaStringRef region =
      sambaRegionOfResult(stacking->function, sambaGraphResultOf(stacking->function, value));
  return region.size && sambaStringMapGet(stacking->shared, region, &unused);
}

static bool isCandidate(const Stacking *stacking, MlirOperation operation) {
  if (!sambaOperationIs(operation, "samba.matmul") ||
      sambaPhaseOf(operation) == SAMBA_PEF_SECTION_FWD ||
      !mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_REGION_ATTRIBUTE)) ||
      !isReadLater(sambaMatchResult(operation), sambaPhaseOf(operation)) ||
      isReturnedToShared(stacking, sambaMatchResult(operation)))
    return false;
  bool fits = true;
  for (intptr_t o = 0; o < operandCount && fits; ++o)
    fits = sambaMatchRank(mlirOperationGetOperand(operation, o)) ==
               sambaMatchRank(sambaMatchResult(operation)) &&
           mayBePlaced(baseOf(mlirOperationGetOperand(operation, o)));
  return fits;
}

static void putAttributes(MlirOperation operation, SambaText *key) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(operation); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(operation, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    sambaTextFormat(key, " %.*s=", SAMBA_MLIR_STRING_ARGS(name));
    mlirAttributePrint(attribute.attribute, sambaTextSink, key);
  }
}

static void putType(MlirValue value, SambaText *key) {
  sambaTextAppendC(key, " : ");
  mlirTypePrint(mlirValueGetType(value), sambaTextSink, key);
}

/* Equal texts: equal products of equal views. */
static SambaText keyOf(MlirOperation product) {
  SambaText key = {0};
  putAttributes(product, &key);
  for (intptr_t o = 0; o < operandCount; ++o) {
    MlirValue value = mlirOperationGetOperand(product, o);
    MlirValue base = baseOf(value);
    while (!mlirValueEqual(value, base)) {
      MlirOperation view = sambaDefiningOperation(value);
      sambaTextFormat(&key, "; %.*s", SAMBA_MLIR_STRING_ARGS(sambaOperationName(view)));
      putAttributes(view, &key);
      value = mlirOperationGetOperand(view, 0);
    }
    putType(base, &key);
  }
  return key;
}

static void collect(Stacking *stacking, SambaArena *arena) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(stacking->function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!isCandidate(stacking, operation))
      continue;
    SambaText key = keyOf(operation);
    uint32_t index = (uint32_t)stacking->groups.size;
    if (sambaStringMapInsert(&stacking->by_key, sambaStringRefCopy(arena, sambaTextRef(&key)),
                             index, &index)) {
      sambaArrayAppend(&stacking->groups, (Group){0});
      index = (uint32_t)stacking->groups.size - 1;
    }
    sambaArrayAppend(&stacking->groups.data[index].products, operation);
    sambaTextFree(&key);
  }
}

/*===-- Stacks --------------------------------------------------------------------------------===*/

static uint64_t bytesOf(MlirValue value) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(value));
  uint64_t bytes = sambaDTypeBytes(sambaDTypeFromType(element));
  for (intptr_t axis = 0; axis < sambaMatchRank(value); ++axis)
    bytes *= (uint64_t)sambaMatchSize(value, axis);
  return bytes;
}

/* A tensor of as many values of the type. */
static MlirType stackedType(MlirType type, intptr_t count) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t *dims = sambaAllocate(sambaArraySize((size_t)rank + 1, sizeof *dims));
  dims[0] = count;
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis + 1] = mlirShapedTypeGetDimSize(type, axis);
  MlirType stacked = mlirRankedTensorTypeGet(rank + 1, dims, mlirShapedTypeGetElementType(type),
                                             mlirAttributeGetNull());
  free(dims);
  return stacked;
}

/* The stack that has just these values in this order; null: there is none. */
static MlirOperation findStack(const Stacking *stacking, const MlirValue *values, intptr_t count) {
  uint32_t number;
  if (!sambaPointerMapGet(&stacking->stack_of, values[0].ptr, &number))
    return (MlirOperation){NULL};
  MlirOperation stack = stacking->stacks.data[number];
  bool same = mlirOperationGetNumOperands(stack) == count;
  for (intptr_t i = 0; i < count && same; ++i)
    same = mlirValueEqual(mlirOperationGetOperand(stack, i), values[i]);
  return same ? stack : (MlirOperation){NULL};
}

/* Whether the values may be stacked, or are; *bytes: what a new stack takes is added. */
static bool mayBeStacked(const Stacking *stacking, const MlirValue *values, intptr_t count,
                         uint64_t *bytes) {
  if (!mlirOperationIsNull(findStack(stacking, values, count)))
    return true;
  SambaPointerMap seen = {0};
  bool fits = true;
  for (intptr_t i = 0; i < count && fits; ++i) {
    uint32_t unused;
    fits = !sambaPointerMapGet(&stacking->stack_of, values[i].ptr, &unused) &&
           !sambaPointerMapGet(&seen, values[i].ptr, &unused);
    sambaPointerMapSet(&seen, values[i].ptr, 0);
    *bytes += bytesOf(values[i]);
    fits &= bytesOf(values[i]) % stacking->alignment == 0;
  }
  sambaPointerMapFree(&seen);
  return fits;
}

static MlirValue stack(Stacking *stacking, MlirOperation before, const MlirValue *values,
                       intptr_t count) {
  MlirOperation made = findStack(stacking, values, count);
  if (mlirOperationIsNull(made)) {
    MlirType type = stackedType(mlirValueGetType(values[0]), count);
    SambaOperationParts parts = {.name = "samba.stack",
                                 .location = mlirOperationGetLocation(before),
                                 .operand_count = count,
                                 .operands = values,
                                 .result_count = 1,
                                 .results = &type};
    made = sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts);
    for (intptr_t i = 0; i < count; ++i)
      sambaPointerMapSet(&stacking->stack_of, values[i].ptr, (uint32_t)stacking->stacks.size);
    sambaArrayAppend(&stacking->stacks, made);
  }
  return mlirOperationGetResult(made, 0);
}

/*===-- Stacked products ----------------------------------------------------------------------===*/

/* The attribute of a view, with `first` in front of its numbers and each of those larger by `more`.
 */
static MlirAttribute liftNumbers(MlirAttribute numbers, int64_t first, int64_t more) {
  intptr_t count = mlirDenseArrayGetNumElements(numbers);
  int64_t *lifted = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *lifted));
  lifted[0] = first;
  for (intptr_t i = 0; i < count; ++i)
    lifted[i + 1] = mlirDenseI64ArrayGetElement(numbers, i) + more;
  MlirAttribute attribute =
      mlirDenseI64ArrayGet(mlirAttributeGetContext(numbers), count + 1, lifted);
  free(lifted);
  return attribute;
}

/* The views between `base` and `value`, taken of the stacked bases, before root. */
static MlirValue lift(MlirOperation root, MlirValue value, MlirValue base, MlirValue stacked) {
  if (mlirValueEqual(value, base))
    return stacked;
  MlirOperation view = sambaDefiningOperation(value);
  MlirValue below = lift(root, mlirOperationGetOperand(view, 0), base, stacked);
  bool reshapes = sambaOperationIs(view, "samba.reshape");
  const char *name = reshapes ? "shape" : "dims";
  int64_t count = sambaMatchSize(stacked, 0);
  MlirAttribute numbers =
      liftNumbers(sambaOperationAttribute(view, name), reshapes ? count : 0, reshapes ? 0 : 1);
  MlirNamedAttribute attributes[2] = {
      sambaNamedAttribute(mlirOperationGetContext(root), name, numbers)};
  SambaOperationParts parts = {.name = reshapes ? "samba.reshape" : "samba.permute",
                               .location = mlirOperationGetLocation(view),
                               .operand_count = 1,
                               .operands = &below,
                               .result_count = -1,
                               .attribute_count = 1 + sambaPhaseAttribute(view, &attributes[1]),
                               .attributes = attributes};
  return mlirOperationGetResult(sambaBuildOperationIn(mlirOperationGetBlock(root), root, &parts),
                                0);
}

/* "layers.*.fc" of layers.0.fc and layers.1.fc: what the names of all products begin and end with,
 * in whole words. Where all have one name, or none, that of the first. */
static MlirLocation commonLocation(const Group *group) {
  SambaStringRef first = sambaLayerOfLocation(mlirOperationGetLocation(group->products.data[0]));
  size_t before = first.size, behind = first.size;
  for (size_t i = 1; i < group->products.size; ++i) {
    SambaStringRef name = sambaLayerOfLocation(mlirOperationGetLocation(group->products.data[i]));
    size_t same = 0;
    while (same < before && same < name.size && first.data[same] == name.data[same])
      ++same;
    before = same;
    same = 0;
    while (same < behind && same < name.size &&
           first.data[first.size - 1 - same] == name.data[name.size - 1 - same])
      ++same;
    behind = same;
  }
  while (before && first.data[before - 1] != '.')
    --before;
  while (behind && first.data[first.size - behind] != '.')
    --behind;
  if (!first.size || before + behind >= first.size)
    return mlirOperationGetLocation(group->products.data[0]);

  SambaText name = {0};
  sambaTextFormat(&name, "%.*s*%.*s", (int)before, first.data, (int)behind,
                  first.data + first.size - behind);
  MlirOperation root = group->products.data[0];
  MlirLocation location =
      mlirLocationNameGet(mlirOperationGetContext(root), sambaToMlir(sambaTextRef(&name)),
                          mlirOperationGetLocation(root));
  sambaTextFree(&name);
  return location;
}

/* The views of the operand of a product that is gone: those that nobody takes any more. */
static void eraseViews(MlirValue value) {
  MlirOperation view = sambaDefiningOperation(value);
  while (!mlirOperationIsNull(view) && isLifted(view) &&
         mlirOpOperandIsNull(mlirValueGetFirstUse(value))) {
    value = mlirOperationGetOperand(view, 0);
    mlirOperationDestroy(view);
    view = sambaDefiningOperation(value);
  }
}

/* Where the phase of the operation ends: the first operation of a later one, or the graph's end. */
static MlirOperation endOfPhase(MlirOperation operation) {
  SambaPefSectionType phase = sambaPhaseOf(operation);
  MlirOperation last = operation;
  for (MlirOperation next = operation; !mlirOperationIsNull(next);
       next = mlirOperationGetNextInBlock(next))
    if (sambaOperationIsOperator(next) && sambaPhaseOf(next) == phase)
      last = next;
  return mlirOperationGetNextInBlock(last);
}

/* What the operands are views of: those of all first operands, then those of all second ones;
 * malloc'ed. */
static MlirValue *basesOf(const Group *group) {
  size_t count = group->products.size;
  MlirValue *bases = sambaAllocate(sambaArraySize(count * operandCount, sizeof *bases));
  for (size_t i = 0; i < count; ++i)
    for (size_t o = 0; o < operandCount; ++o)
      bases[o * count + i] = baseOf(mlirOperationGetOperand(group->products.data[i], (intptr_t)o));
  return bases;
}

static void replaceProducts(Stacking *stacking, const Group *group, const MlirValue *bases) {
  intptr_t count = (intptr_t)group->products.size;
  MlirOperation product = group->products.data[0], root = endOfPhase(product);
  MlirValue operands[operandCount];
  for (intptr_t o = 0; o < operandCount; ++o) {
    MlirValue stacked = stack(stacking, root, bases + o * count, count);
    operands[o] = lift(root, mlirOperationGetOperand(product, o), bases[o * count], stacked);
  }

  MlirType type = mlirValueGetType(sambaMatchResult(product));
  MlirType whole = stackedType(type, count);
  SambaOperationParts parts = {.name = "samba.matmul",
                               .location = commonLocation(group),
                               .operand_count = operandCount,
                               .operands = operands,
                               .result_count = 1,
                               .results = &whole};
  MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(root), root, &parts);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(product); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(product, i);
    mlirOperationSetAttributeByName(made, mlirIdentifierStr(attribute.name), attribute.attribute);
  }
  MlirType *types = sambaAllocate(sambaArraySize((size_t)count, sizeof *types));
  for (intptr_t i = 0; i < count; ++i)
    types[i] = type;
  MlirValue result = sambaMatchResult(made);
  SambaOperationParts unstack = {.name = "samba.unstack",
                                 .location = parts.location,
                                 .operand_count = 1,
                                 .operands = &result,
                                 .result_count = count,
                                 .results = types};
  MlirOperation apart = sambaBuildOperationIn(mlirOperationGetBlock(root), root, &unstack);
  free(types);

  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation replaced = group->products.data[i];
    MlirValue read[operandCount];
    for (intptr_t o = 0; o < operandCount; ++o)
      read[o] = mlirOperationGetOperand(replaced, o);
    mlirValueReplaceAllUsesOfWith(sambaMatchResult(replaced), mlirOperationGetResult(apart, i));
    mlirOperationDestroy(replaced);
    for (intptr_t o = 0; o < operandCount; ++o)
      eraseViews(read[o]);
  }
}

static void stackGroup(Stacking *stacking, const Group *group) {
  intptr_t count = (intptr_t)group->products.size;
  if (count < leastProducts)
    return;
  MlirValue *bases = basesOf(group);
  uint64_t bytes = 0;
  MlirValue result = sambaMatchResult(group->products.data[0]);
  bool fits = bytesOf(result) % stacking->alignment == 0;
  for (intptr_t o = 0; o < operandCount && fits; ++o)
    fits = mayBeStacked(stacking, bases + o * count, count, &bytes);
  if (fits && bytes <= stacking->bytes_left) {
    stacking->bytes_left -= bytes;
    replaceProducts(stacking, group, bases);
  }
  free(bases);
}

static void stackProducts(MlirOperation function, const SambaStringMap *shared,
                          const SambaMachine *machine) {
  Stacking stacking = {
      .function = function, .shared = shared, .alignment = sambaMachinePartAlignment(machine)};
  SambaArena arena = {0};
  uint64_t memory = (uint64_t)(machine->hbm_bytes ? machine->hbm_bytes : machine->ddr_bytes);
  stacking.bytes_left = memory / memoryShare;

  collect(&stacking, &arena);
  for (size_t g = 0; g < stacking.groups.size; ++g)
    stackGroup(&stacking, &stacking.groups.data[g]);
  for (size_t g = 0; g < stacking.groups.size; ++g)
    sambaArrayFree(&stacking.groups.data[g].products);
  sambaArrayFree(&stacking.groups);
  sambaArrayFree(&stacking.stacks);
  sambaStringMapFree(&stacking.by_key);
  sambaPointerMapFree(&stacking.stack_of);
  sambaArenaDestroy(&arena);
}

/* Counts the regions of all graphs: out_shared has those of several values. */
static void findSharedRegions(MlirOperation module, SambaStringMap *out_shared) {
  SambaStringMap seen = {0};
  for (MlirOperation graph = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(graph); graph = mlirOperationGetNextInBlock(graph)) {
    if (!sambaOperationIsGraph(graph))
      continue;
    SambaRegions regions = {0};
    sambaRegionsRead(graph, &regions);
    for (size_t i = 0; i < regions.of_argument.size; ++i)
      if (regions.of_argument.data[i].size)
        sambaStringMapInsert(out_shared, regions.of_argument.data[i], 0, NULL);
    sambaRegionsFree(&regions);

    intptr_t results = mlirOperationGetNumOperands(mlirBlockGetTerminator(sambaBodyOf(graph)));
    for (intptr_t r = 0; r < results; ++r) {
      SambaStringRef region = sambaRegionOfResult(graph, r);
      if (region.size && !sambaStringMapInsert(&seen, region, 0, NULL))
        sambaStringMapInsert(out_shared, region, 0, NULL);
    }
  }
  sambaStringMapFree(&seen);
}

bool sambaStackProducts(MlirOperation module, const char *target) {
  SambaMachine machine;
  MlirAttribute unused;
  SambaStatus status =
      sambaTargetMachine(mlirOperationGetLocation(module), target, &machine, &unused);
  if (status)
    return sambaEmitOpStatus(module, status);
  SambaStringMap shared = {0};
  bool counted = false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation) || !sambaGraphTrains(operation))
      continue;
    if (!counted)
      findSharedRegions(module, &shared);
    counted = true;
    stackProducts(operation, &shared, &machine);
  }
  sambaStringMapFree(&shared);
  return true;
}
