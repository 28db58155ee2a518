/* samba-materialize-views: puts samba.contiguous (a copy) where a view cannot be read in place - a
 * reshape of a strided view, a padded window over a part of a tensor, a repeated constant or an
 * argin that must be in memory - and where a graph returns something that is no result of an
 * operation. Some views are the same in a form that needs no copy: they take it before
 * (simplify_views.h).
 *
 * The reader of sections is the judge: what it cannot compose is copied. Afterwards every operation
 * can read its operands through views alone. A copy belongs to the phase of those that read it, so
 * that a phase that runs alone finds what it reads; each phase has a copy of its own. Only what an
 * operator makes is copied once, when its own phase has a copy. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/read_section.h"
#include "passes/section/simplify_views.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/* The chain of views above a value, outermost (nearest to the base) first; what needs no memory is
 * its base. */
typedef SAMBA_ARRAY(MlirOperation) Chain;

static MlirValue appendChain(MlirValue value, void *user) {
  Chain *chain = user;
  MlirOperation view = sambaDefiningOperation(value);
  if (mlirOperationIsNull(view) || !(sambaOperationIsView(view) || sambaOperationIsSource(view)))
    return value;
  sambaMapInputs(view, appendChain, chain);
  sambaArrayAppend(chain, view);
  return value;
}

/* Of what the regions of an operation read from outside. */
static void appendCaptured(MlirOperation operation, Chain *chain) {
  if (mlirOperationGetNumRegions(operation))
    sambaMapInputs(operation, appendChain, chain);
}

static MlirValue insertCopy(MlirValue value, MlirOperation before, SambaPefSectionType phase) {
  SambaOperationParts parts = {.name = "samba.contiguous",
                               .location = mlirOperationGetLocation(before),
                               .operand_count = 1,
                               .operands = &value,
                               .result_count = -1};
  MlirOperation copy = sambaBuildOperation(&parts);
  sambaPhaseSet(copy, phase);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, copy);
  return mlirOperationGetResult(copy, 0);
}

/* True when `operation` can read operand i through its views. */
static bool readsInPlace(MlirOperation operation, intptr_t i) {
  Chain chain = {0};
  appendChain(mlirOperationGetOperand(operation, i), &chain);
  if (chain.size == 0 && !sambaValueIsArgin(mlirOperationGetOperand(operation, i)))
    return true;
  appendCaptured(operation, &chain);
  sambaArrayAppend(&chain, operation);
  SambaArena arena = {0};
  SambaSectionStages stages;
  SambaStatus status = sambaOperationsRead(chain.data, (uint32_t)chain.size, &arena, &stages);
  bool fine = sambaStatusGetCode(status) != SAMBA_UNSUPPORTED;

  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  sambaArrayFree(&chain);
  return fine;
}

static SambaPefSectionType laterOf(SambaPefSectionType a, SambaPefSectionType b) {
  return sambaPefSectionTypePlace(a) < sambaPefSectionTypePlace(b) ? b : a;
}

static uint32_t placeOf(MlirOperation operation) {
  return sambaPefSectionTypePlace(sambaPhaseOf(operation));
}

/* The first operation in [from, to) in front of which one of the phase may stand, or `to`. */
static MlirOperation afterEarlierPhases(MlirOperation from, MlirOperation to,
                                        SambaPefSectionType phase) {
  MlirOperation at = from;
  for (; !mlirOperationEqual(from, to); from = mlirOperationGetNextInBlock(from))
    if (!sambaOperationIsSource(from) && !sambaOperationIsConstant(from) &&
        placeOf(from) < sambaPefSectionTypePlace(phase))
      at = mlirOperationGetNextInBlock(from);
  return at;
}

/* The copies that a graph has so far. */
typedef struct Copies {
  bool trains;                                            /* else everything is one phase */
  SambaPointerMap by_phase[SAMBA_PEF_SECTION_TYPE_COUNT]; /* value -> index in made */
  MlirValue *made;
  uint32_t count;
} Copies;

/* Whether an operator makes what the value is a view of: then it is what it is until the operator
 * runs again. Arguments may be written between phases. */
static bool isOfOperator(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker) || !sambaOperationIsView(maker))
    return !mlirOperationIsNull(maker) && sambaOperationIsOperator(maker);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); ++i)
    if (!isOfOperator(mlirOperationGetOperand(maker, i)))
      return false;
  return true;
}

/* The copy that a user of this phase may take: its phase's own, or one that was made in the phase
 * of the value itself; false: there is none. */
static bool findCopy(const Copies *copies, MlirValue value, SambaPefSectionType phase,
                     uint32_t *out_index) {
  uint32_t own = sambaPefSectionTypePlace(phase);
  uint32_t made = sambaPefSectionTypePlace(sambaPhaseOfValue(value));
  if (sambaPointerMapGet(&copies->by_phase[own], value.ptr, out_index))
    return true;
  return made < own && isOfOperator(value) &&
         sambaPointerMapGet(&copies->by_phase[made], value.ptr, out_index);
}

/* The operator's result that a chain of permutations turns into `value`; null: there is none, or
 * something reads a step of the chain besides `copy` and reshapes, which take the copy too.
 * out_axes: where each axis of the result is in it. */
static MlirValue permutedResult(MlirValue value, MlirOperation copy, int64_t *out_axes) {
  MlirOperation below = copy;
  int64_t axes[SAMBA_MAX_RANK];
  intptr_t rank = sambaMatchRank(value);
  MlirOperation maker = sambaDefiningOperation(value);
  for (intptr_t i = 0; i < rank; ++i)
    axes[i] = i;
  for (; !mlirOperationIsNull(maker) && sambaOperationIs(maker, "samba.permute");
       maker = sambaDefiningOperation(value)) {
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      bool copied = mlirOperationEqual(below, copy) && sambaOperationIsReshape(user);
      if (!mlirOperationEqual(user, below) && !copied)
        return (MlirValue){NULL};
    }
    MlirAttribute dims = sambaOperationAttribute(maker, "dims");
    for (intptr_t i = 0; i < rank; ++i)
      axes[i] = mlirDenseI64ArrayGetElement(dims, axes[i]);
    below = maker;
    value = mlirOperationGetOperand(maker, 0);
  }
  if (mlirOperationIsNull(maker) || sambaOperationIsView(maker) || !sambaOperationIsOperator(maker))
    return (MlirValue){NULL};
  for (intptr_t i = 0; i < rank; ++i)
    out_axes[axes[i]] = i;
  return value;
}

/* Operand i becomes a view, unless the operation cannot read it in place. */
static void readOrKeep(MlirOperation operation, intptr_t i, MlirValue view) {
  MlirValue before = mlirOperationGetOperand(operation, i);
  mlirOperationSetOperand(operation, i, view);
  if (!readsInPlace(operation, i))
    mlirOperationSetOperand(operation, i, before);
}

/* Later phases read the copy of a result in another order, turned back, where all that reads the
 * result is the copy and they: then it is in memory once. */
static void readCopyTurned(MlirValue value, MlirValue copy) {
  int64_t axes[SAMBA_MAX_RANK];
  MlirOperation made = sambaDefiningOperation(copy);
  MlirValue result = permutedResult(value, made, axes);
  if (mlirValueIsNull(result) || mlirValueEqual(result, value))
    return;
  SAMBA_ARRAY(MlirOpOperand) uses = {0};
  uint32_t others = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (sambaOperationIsOperator(user) && placeOf(user) > placeOf(made))
      sambaArrayAppend(&uses, use);
    else
      ++others; /* the first permutation is one */
  }
  if (uses.size && others == 1) {
    MlirContext context = mlirOperationGetContext(made);
    MlirNamedAttribute dims = sambaNamedAttribute(
        context, "dims", mlirDenseI64ArrayGet(context, sambaMatchRank(result), axes));
    MlirValue turned =
        sambaRaiseBuild(mlirOperationGetNextInBlock(made), "samba.permute", 1, &copy, 1, &dims);
    for (size_t i = 0; i < uses.size; ++i)
      readOrKeep(mlirOpOperandGetOwner(uses.data[i]), mlirOpOperandGetOperandNumber(uses.data[i]),
                 turned);
  }
  sambaArrayFree(&uses);
}

/* Copies once per value and phase: later users take the same copy. */
static MlirValue copyOf(Copies *copies, MlirValue value, MlirOperation before) {
  SambaPefSectionType phase = laterOf(sambaPhaseOf(before), sambaPhaseOfValue(value));
  SambaPointerMap *known = &copies->by_phase[sambaPefSectionTypePlace(phase)];
  uint32_t index;
  if (findCopy(copies, value, phase, &index))
    return copies->made[index];
  MlirOperation owner = sambaDefiningOperation(value);
  MlirOperation next = before;
  if (!mlirOperationIsNull(owner)) /* right behind the view, so that it stands before every user */
    next = mlirOperationGetNextInBlock(owner);
  if (copies->trains)
    next = afterEarlierPhases(next, before, phase);
  index = copies->count++;
  copies->made[index] = insertCopy(value, next, phase);
  sambaPointerMapSet(known, value.ptr, index);
  if (copies->trains && phase == sambaPhaseOfValue(value))
    readCopyTurned(value, copies->made[index]);
  return copies->made[index];
}

/* A result without elements has nothing to copy: it is a constant of its own. */
static bool replaceEmpty(MlirOperation terminator, intptr_t index, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  MlirContext context = mlirOperationGetContext(terminator);
  bool empty = false;

  for (int64_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    empty |= mlirShapedTypeGetDimSize(type, axis) == 0;
  if (!empty)
    return false;
  MlirNamedAttribute attribute =
      sambaNamedAttribute(context, "value", mlirDenseElementsAttrGet(type, 0, NULL));
  SambaOperationParts parts = {.name = "samba.constant",
                               .location = mlirOperationGetLocation(terminator),
                               .result_count = -1,
                               .attribute_count = 1,
                               .attributes = &attribute};
  MlirOperation constant = sambaBuildOperation(&parts);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(terminator), terminator, constant);
  mlirOperationSetOperand(terminator, index, mlirOperationGetResult(constant, 0));

  return true;
}

/* The end of the phase in which the value is made: behind its maker, in front of the first operator
 * of a later phase. */
static MlirOperation endOfPhase(MlirOperation terminator, MlirValue value,
                                SambaPefSectionType phase) {
  if (!sambaGraphTrains(terminator))
    return terminator;
  MlirOperation maker = sambaDefiningOperation(value);
  MlirOperation at = mlirOperationIsNull(maker)
                         ? mlirBlockGetFirstOperation(mlirOperationGetBlock(terminator))
                         : mlirOperationGetNextInBlock(maker);
  while (!mlirOperationEqual(at, terminator) &&
         !(sambaOperationIsOperator(at) && placeOf(at) > sambaPefSectionTypePlace(phase)))
    at = mlirOperationGetNextInBlock(at);
  return at;
}

/* Later phases read the copy of what a phase returns: its elements lie as they say, and what it is
 * a view of need not be stored. */
static void readCopy(MlirValue value, MlirValue copy) {
  MlirOperation made = sambaDefiningOperation(copy);
  SAMBA_ARRAY(MlirOpOperand) uses = {0};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!sambaOperationIs(user, "func.return") && mlirOperationIsBeforeInBlock(made, user))
      sambaArrayAppend(&uses, use);
  }
  for (size_t i = 0; i < uses.size; ++i)
    mlirOperationSetOperand(mlirOpOperandGetOwner(uses.data[i]),
                            mlirOpOperandGetOperandNumber(uses.data[i]), copy);
  sambaArrayFree(&uses);
}

static void materializeReturns(MlirOperation terminator) {
  SambaPointerMap returned = {0};
  uint32_t unused;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(terminator); ++i) {
    MlirValue value = mlirOperationGetOperand(terminator, i);
    if (replaceEmpty(terminator, i, value))
      continue;
    MlirOperation owner = sambaDefiningOperation(value);
    bool copy = mlirOperationIsNull(owner) || !sambaOperationIsOperator(owner);
    copy = copy || sambaPointerMapGet(&returned, value.ptr, &unused);
    if (!copy) {
      sambaPointerMapSet(&returned, value.ptr, (uint32_t)i);
      continue;
    }
    SambaPefSectionType phase = sambaPhaseOfValue(value);
    MlirValue copied = insertCopy(value, endOfPhase(terminator, value, phase), phase);
    mlirOperationSetOperand(terminator, i, copied);
    if (!mlirOperationIsNull(owner) && sambaOperationIsView(owner))
      readCopy(value, copied);
  }
  sambaPointerMapFree(&returned);
}

static void materializeFunction(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  sambaSimplifyViews(body);
  SAMBA_ARRAY(MlirOperation) operations = {0};
  size_t uses = 0;

  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    sambaArrayAppend(&operations, operation);
    uses += (size_t)mlirOperationGetNumOperands(operation);
  }

  Copies copies = {.trains = sambaGraphTrains(function),
                   .made = sambaAllocate(sambaArraySize(uses + 1, sizeof *copies.made))};
  for (size_t n = 0; n < operations.size; ++n) {
    MlirOperation operation = operations.data[n];
    if (!sambaOperationIsOperator(operation) && !sambaOperationIsView(operation))
      continue;
    if (sambaOperationIsReshape(operation)) { /* of a strided view */
      MlirOperation source = sambaDefiningOperation(mlirOperationGetOperand(operation, 0));
      bool strided = !mlirOperationIsNull(source) && sambaOperatorNameOf(source).size &&
                     sambaOperationIsView(source) && !sambaOperationIsReshape(source);
      if (strided || !readsInPlace(operation, 0))
        mlirOperationSetOperand(operation, 0,
                                copyOf(&copies, mlirOperationGetOperand(operation, 0), operation));
      continue;
    }
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
      if (!readsInPlace(operation, i))
        mlirOperationSetOperand(operation, i,
                                copyOf(&copies, mlirOperationGetOperand(operation, i), operation));
  }

  materializeReturns(mlirBlockGetTerminator(body));
  free(copies.made);
  for (uint32_t p = 0; p < SAMBA_PEF_SECTION_TYPE_COUNT; ++p)
    sambaPointerMapFree(&copies.by_phase[p]);
  sambaArrayFree(&operations);
}

bool sambaMaterializeViews(MlirOperation module) {
  MlirOperation next;
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIsGraph(operation))
      materializeFunction(operation);
  }
  return true;
}
