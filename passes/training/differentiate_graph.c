/* samba-differentiate-graph: the gradients of a training graph's losses become results.
 *
 * The graph's calls go into an expansion, sambaDifferentiate appends their reverse, and what was
 * appended becomes operations of phase BCKWD. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/calls/differentiate.h"
#include "support/base/index.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Differentiation {
  SambaInterface interface;
  SambaArena arena;
  SambaExpansion expansion;
  SambaPointerMap value_of;         /* SSA value -> value of the expansion */
  SAMBA_ARRAY(MlirValue) values;    /* of every value of the forward graph */
  SAMBA_ARRAY(MlirOperation) steps; /* the operation of every step */
  SAMBA_ARRAY(uint32_t) losses;     /* results of the graph */
  SAMBA_ARRAY(uint32_t) wanted;     /* arguments of the graph */
} Differentiation;

static bool requiresGradient(MlirAttribute dictionary) {
  MlirAttribute value = sambaDictionaryFind(dictionary, SAMBA_REQUIRES_GRAD_ATTRIBUTE);
  return !mlirAttributeIsNull(value) && mlirBoolAttrGetValue(value);
}

static SambaStringRef nameOf(MlirAttribute dictionary) {
  return sambaInterfaceText(dictionary, SAMBA_NAME_ATTRIBUTE);
}

/* A graph that has gradients, or operations of other phases than FWD: its step is written out. */
static bool isDifferentiated(const SambaInterface *interface) {
  for (size_t i = 0; i < interface->results.size; ++i)
    if (sambaInterfaceText(interface->results.data[i], SAMBA_GRAD_OF_ATTRIBUTE).size)
      return true;
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(interface->function));
  while (!mlirOperationIsNull(operation) && sambaPhaseOf(operation) == SAMBA_PEF_SECTION_FWD)
    operation = mlirOperationGetNextInBlock(operation);
  return !mlirOperationIsNull(operation);
}

static bool isFloat(MlirValue value) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  bool is = !status && sambaDTypeIsFloat(type.dtype);
  sambaStatusFree(status);
  return is;
}

/* The results that are losses, the arguments that want a gradient. False after an error. */
static bool findEnds(Differentiation *state) {
  MlirBlock body = sambaBodyOf(state->interface.function);
  for (uint32_t i = 0; i < state->interface.results.size; ++i) {
    MlirAttribute result = state->interface.results.data[i];
    if (!sambaStringRefEqualC(sambaInterfaceText(result, SAMBA_KIND_ATTRIBUTE), "loss"))
      continue;
    if (!isFloat(state->interface.returned.data[i]))
      return sambaEmitOpError(state->interface.function,
                              "loss '%.*s' has no float dtype; a loss that is trained on is f32, "
                              "bf16 or f16",
                              SAMBA_STRING_ARGS(nameOf(result)));
    sambaArrayAppend(&state->losses, i);
  }
  if (!state->losses.size)
    return sambaEmitOpError(state->interface.function,
                            "is trained, but none of its results is a loss (samba.kind = "
                            "\"loss\"); name one");

  for (uint32_t i = 0; i < state->interface.arguments.size; ++i) {
    if (!requiresGradient(state->interface.arguments.data[i]))
      continue;
    if (!isFloat(mlirBlockGetArgument(body, i)))
      return sambaEmitOpError(state->interface.function,
                              "argument '%.*s' requires a gradient, but has no float dtype",
                              SAMBA_STRING_ARGS(nameOf(state->interface.arguments.data[i])));
    sambaArrayAppend(&state->wanted, i);
  }
  return true;
}

static void addValue(Differentiation *state, MlirValue value, uint32_t number) {
  while (state->values.size <= number)
    sambaArrayAppend(&state->values, (MlirValue){NULL});
  state->values.data[number] = value;
  sambaPointerMapSet(&state->value_of, value.ptr, number);
}

static SambaStatus addOperand(Differentiation *state, MlirValue value) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  addValue(state, value, sambaExpandOperand(&state->expansion, &type));
  return NULL;
}

static uint32_t numberOf(const Differentiation *state, MlirValue value) {
  uint32_t number = SAMBA_NO_INDEX;
  sambaPointerMapGet(&state->value_of, value.ptr, &number);
  return number;
}

/* One operation of the graph as a step of the expansion. */
static SambaStatus addStep(Differentiation *state, MlirOperation operation) {
  SambaOperatorCall call;
  if (!sambaOperatorOf(operation)) /* a constant */
    return addOperand(state, mlirOperationGetResult(operation, 0));
  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(&state->arena, operation, &call));
  uint32_t *operands = SAMBA_ARENA_ARRAY(&state->arena, uint32_t, call.operand_count + 1);
  for (uint32_t i = 0; i < call.operand_count; ++i)
    operands[i] = numberOf(state, mlirOperationGetOperand(operation, i));

  uint32_t first = sambaExpandCall(&state->expansion, call.operator->name, call.operand_count,
                                   operands, call.attribute_count, call.attributes);
  SambaStatus status = state->expansion.status;
  state->expansion.status = NULL;
  SAMBA_RETURN_IF_ERROR(status);
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r)
    addValue(state, mlirOperationGetResult(operation, r), first + (uint32_t)r);
  sambaArrayAppend(&state->steps, operation);
  return NULL;
}

/* A composite whose gradient is that of what it is made of is decomposed first. */
static bool isInherited(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  return operator && sambaOperatorGradientKind(operator) == SAMBA_GRADIENT_INHERITED;
}

/* Whether another operator stands for the operation where a gradient passes. */
static bool isTrainedAsAnother(Differentiation *state, MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (!operator || !operator->trained_as || !operator->trained_so)
    return operator && operator->trained_as;
  SambaOperatorCall call;
  SambaStatus status = sambaOperatorCallFromOperation(&state->arena, operation, &call);
  bool so = !status && operator->trained_so(&call);
  sambaStatusFree(status); /* addStep says it */
  return so;
}

/* Puts what leaves more for the gradient in the place of an operation; null after an error. */
static MlirOperation trainedForm(Differentiation *state, MlirOperation operation) {
  if (!isTrainedAsAnother(state, operation))
    return operation;
  const SambaOperator *operator = sambaOperatorOf(operation);
  char name[64];
  snprintf(name, sizeof name, "samba.%s", operator->trained_as);
  MlirValue operands[sizeof operator->operands / sizeof *operator->operands];
  intptr_t attribute_count = mlirOperationGetNumAttributes(operation);
  MlirNamedAttribute *attributes =
      sambaAllocate(sambaArraySize((size_t)attribute_count + 1, sizeof *attributes));
  SambaOperationParts parts = {.name = name,
                               .location = mlirOperationGetLocation(operation),
                               .operand_count = mlirOperationGetNumOperands(operation),
                               .operands = operands,
                               .result_count = -1,
                               .attribute_count = attribute_count,
                               .attributes = attributes};
  for (intptr_t i = 0; i < parts.operand_count; ++i)
    operands[i] = mlirOperationGetOperand(operation, i);
  for (intptr_t i = 0; i < attribute_count; ++i)
    attributes[i] = mlirOperationGetAttribute(operation, i);
  MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(operation), operation, &parts);
  free(attributes);
  if (mlirOperationIsNull(made))
    return made;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0),
                                mlirOperationGetResult(made, 0));
  mlirOperationDestroy(operation);
  return made;
}

/* The graph as an expansion: values that depend on something trained decide what is decomposed. */
static bool addGraph(Differentiation *state) {
  MlirBlock body = sambaBodyOf(state->interface.function);
  MlirOperation terminator = mlirBlockGetTerminator(body);
  SambaPointerMap trained = {0};
  MlirOperation previous = {NULL};
  bool fine = true;

  for (size_t i = 0; i < state->wanted.size; ++i)
    sambaPointerMapSet(&trained, mlirBlockGetArgument(body, state->wanted.data[i]).ptr, 1);
  for (intptr_t i = 0; fine && i < mlirBlockGetNumArguments(body); ++i) {
    SambaStatus status = addOperand(state, mlirBlockGetArgument(body, i));
    fine = !status || sambaEmitOpStatus(state->interface.function, status);
  }

  MlirOperation operation = mlirBlockGetFirstOperation(body);
  while (fine && !mlirOperationEqual(operation, terminator)) {
    bool depends = false;
    uint32_t unused;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation) && !depends; ++i)
      depends = sambaPointerMapGet(&trained, mlirOperationGetOperand(operation, i).ptr, &unused);
    if (depends && isInherited(operation)) {
      fine = sambaOperationDecompose(operation);
    } else {
      operation = depends ? trainedForm(state, operation) : operation;
      if (mlirOperationIsNull(operation)) {
        fine = false;
        break;
      }
      for (intptr_t r = 0; r < mlirOperationGetNumResults(operation) && depends; ++r)
        sambaPointerMapSet(&trained, mlirOperationGetResult(operation, r).ptr, 1);
      SambaStatus status = addStep(state, operation);
      fine = !status || sambaEmitOpStatus(operation, status);
      previous = operation;
    }
    operation = mlirOperationIsNull(previous) ? mlirBlockGetFirstOperation(body)
                                              : mlirOperationGetNextInBlock(previous);
  }

  /* What was decomposed is returned by another operation now. */
  for (size_t i = 0; i < state->interface.returned.size; ++i)
    state->interface.returned.data[i] = mlirOperationGetOperand(terminator, (intptr_t)i);
  sambaPointerMapFree(&trained);
  return fine;
}

static MlirAttribute text(MlirContext context, SambaStringRef value) {
  return mlirStringAttrGet(context, sambaToMlir(value));
}

/* A dense tensor of ones. */
static MlirAttribute ones(MlirContext context, const SambaTensorType *type) {
  uint64_t bits = sambaDTypeBitsOfNumber(type->dtype, 1);
  return sambaDenseAttribute(context, type, &bits, true);
}

/* The argument from which the host gives the gradient that flows into a loss: ones, if it does
 * not. */
static void addLossGradient(Differentiation *state, uint32_t loss, uint32_t *out_number) {
  MlirContext context = mlirOperationGetContext(state->interface.function);
  SambaStringRef name = sambaStringRef(sambaArenaFormat(
      &state->arena, "%.*s__grad", SAMBA_STRING_ARGS(nameOf(state->interface.results.data[loss]))));
  SambaTensorType type =
      *sambaExpansionType(&state->expansion, numberOf(state, state->interface.returned.data[loss]));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, SAMBA_NAME_ATTRIBUTE, text(context, name)),
      sambaNamedAttribute(context, SAMBA_KIND_ATTRIBUTE, text(context, sambaStringRef("gradient"))),
      sambaNamedAttribute(context, SAMBA_VALUE_ATTRIBUTE, ones(context, &type))};
  MlirValue value = sambaInterfaceAddArgument(&state->interface,
                                              sambaTensorTypeToMlir(context, &type), 3, attributes);

  *out_number = sambaExpandOperand(&state->expansion, &type);
  addValue(state, value, *out_number);
}

static bool emitRuleError(Differentiation *state, SambaStatus status, uint32_t step) {
  MlirOperation at = step < state->steps.size ? state->steps.data[step] : state->interface.function;
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(at));
  if (layer.size)
    status = sambaStatusNote(status, "in layer '%.*s'", SAMBA_STRING_ARGS(layer));
  return sambaEmitOpStatus(at, status);
}

/* What stands between a parameter and the losses. */
static bool emitNoGradient(Differentiation *state, uint32_t argument, uint32_t cut) {
  SambaStringRef name = nameOf(state->interface.arguments.data[argument]);
  if (cut == SAMBA_NO_INDEX)
    return sambaEmitOpError(state->interface.function,
                            "parameter '%.*s' gets no gradient: no loss depends on it; freeze it",
                            SAMBA_STRING_ARGS(name));
  MlirOperation at = state->steps.data[cut];
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(at));
  return sambaEmitOpError(at, "parameter '%.*s' gets no gradient: %s (layer %.*s) has none",
                          SAMBA_STRING_ARGS(name), sambaOperatorOf(at)->name,
                          SAMBA_STRING_ARGS(layer));
}

/* The appended steps as operations before the end. */
static bool buildGradients(Differentiation *state, const SambaGradients *gradients,
                           MlirValue *values) {
  MlirContext context = mlirOperationGetContext(state->interface.function);
  MlirOperation terminator = mlirBlockGetTerminator(sambaBodyOf(state->interface.function));
  MlirNamedAttribute phase =
      sambaNamedAttribute(context, SAMBA_PHASE_ATTRIBUTE, text(context, sambaStringRef("BCKWD")));
  MlirAttribute backward = text(context, sambaStringRef("samba.backward"));
  bool fine = true;

  memcpy(values, state->values.data, state->values.size * sizeof *values);
  for (size_t s = gradients->first_step; fine && s < state->expansion.steps.size; ++s) {
    MlirOperation forward = state->steps.data[gradients->origins[s - gradients->first_step]];
    MlirLocation location = mlirOperationGetLocation(forward);
    location = mlirLocationFusedGet(context, 1, &location, backward);
    fine = sambaExpansionBuildStep(&state->expansion, s, terminator, location, 1, &phase, values);
  }
  return fine;
}

static void addGradientResults(Differentiation *state, const SambaGradients *gradients,
                               const MlirValue *values) {
  MlirContext context = mlirOperationGetContext(state->interface.function);
  for (size_t i = 0; i < state->wanted.size; ++i) {
    SambaStringRef of = nameOf(state->interface.arguments.data[state->wanted.data[i]]);
    MlirAttribute name =
        text(context,
             sambaStringRef(sambaArenaFormat(&state->arena, "%.*s__grad", SAMBA_STRING_ARGS(of))));
    MlirNamedAttribute attributes[] = {
        sambaNamedAttribute(context, SAMBA_NAME_ATTRIBUTE, name),
        sambaNamedAttribute(context, SAMBA_REGION_ATTRIBUTE, name),
        sambaNamedAttribute(context, SAMBA_KIND_ATTRIBUTE,
                            text(context, sambaStringRef("gradient"))),
        sambaNamedAttribute(context, SAMBA_GRAD_OF_ATTRIBUTE, text(context, of))};
    sambaInterfaceAddResult(&state->interface, values[gradients->gradients[i]], 4, attributes);
  }
}

static bool differentiate(Differentiation *state) {
  uint32_t *seeds = SAMBA_ARENA_ARRAY(&state->arena, uint32_t, state->losses.size + 1);
  uint32_t *seed_gradients = SAMBA_ARENA_ARRAY(&state->arena, uint32_t, state->losses.size + 1);
  uint32_t *wanted = SAMBA_ARENA_ARRAY(&state->arena, uint32_t, state->wanted.size + 1);
  MlirBlock body = sambaBodyOf(state->interface.function);

  for (size_t i = 0; i < state->losses.size; ++i) {
    seeds[i] = numberOf(state, state->interface.returned.data[state->losses.data[i]]);
    addLossGradient(state, state->losses.data[i], &seed_gradients[i]);
  }
  for (size_t i = 0; i < state->wanted.size; ++i)
    wanted[i] = numberOf(state, mlirBlockGetArgument(body, state->wanted.data[i]));

  SambaDifferentiation what = {(uint32_t)state->losses.size, seeds, seed_gradients,
                               (uint32_t)state->wanted.size, wanted};
  SambaGradients gradients;
  uint32_t step;
  SambaStatus status = sambaDifferentiate(&state->expansion, &what, &gradients, &step);
  if (status)
    return emitRuleError(state, status, step);
  for (size_t i = 0; i < state->wanted.size; ++i)
    if (gradients.gradients[i] == SAMBA_NO_INDEX)
      return emitNoGradient(state, state->wanted.data[i], gradients.cuts[i]);

  MlirValue *values = SAMBA_ARENA_ARRAY(&state->arena, MlirValue, state->expansion.types.size + 1);
  if (!buildGradients(state, &gradients, values))
    return false;
  addGradientResults(state, &gradients, values);
  sambaInterfaceWrite(&state->interface);
  return true;
}

static bool dependsOn(const SambaPointerMap *values, MlirOperation operation) {
  uint32_t unused;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (sambaPointerMapGet(values, mlirOperationGetOperand(operation, i).ptr, &unused))
      return true;
  return false;
}

static bool hasFloats(MlirOperation operation) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(operation, 0));
  return mlirTypeIsAShaped(type) && mlirTypeIsAFloat(mlirShapedTypeGetElementType(type));
}

/* Structured operations have no rule: one that reads a trained parameter would lose its gradient.
 */
static bool checkStructured(Differentiation *state) {
  MlirBlock body = sambaBodyOf(state->interface.function);
  SambaPointerMap trained = {0};
  bool fine = true;
  for (size_t i = 0; i < state->wanted.size; ++i)
    sambaPointerMapSet(&trained, mlirBlockGetArgument(body, state->wanted.data[i]).ptr, 0);

  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       fine && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    intptr_t results = mlirOperationGetNumResults(operation);
    if (!results || !dependsOn(&trained, operation))
      continue;
    if (!sambaOperatorNameOf(operation).size && hasFloats(operation))
      fine = sambaEmitOpError(operation, "has no gradient, because no operator of samba was "
                                         "recognized in it; write it with operators, or freeze the "
                                         "parameters that it reads");
    for (intptr_t i = 0; i < results; ++i)
      sambaPointerMapSet(&trained, mlirOperationGetResult(operation, i).ptr, 0);
  }
  sambaPointerMapFree(&trained);
  return fine;
}

static bool differentiateFunction(MlirOperation function) {
  Differentiation differentiation = {0};
  Differentiation *state = &differentiation;
  state->expansion = (SambaExpansion){.arena = &state->arena, .find = sambaOperatorFind};
  sambaInterfaceRead(function, &state->interface);

  bool fine = isDifferentiated(&state->interface) || (findEnds(state) && checkStructured(state) &&
                                                      addGraph(state) && differentiate(state));

  sambaExpansionFree(&state->expansion);
  sambaInterfaceFree(&state->interface);
  sambaPointerMapFree(&state->value_of);
  sambaArrayFree(&state->values);
  sambaArrayFree(&state->steps);
  sambaArrayFree(&state->losses);
  sambaArrayFree(&state->wanted);
  sambaArenaDestroy(&state->arena);
  return fine;
}

bool sambaDifferentiateGraph(MlirOperation module) {
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && sambaGraphIsTraining(operation) &&
        !differentiateFunction(operation))
      return false;
  return true;
}
