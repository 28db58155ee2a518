/* What a module computes; see module_values.h.
 *
 * A graph that calls sections is run call by call. Any other body becomes one stage graph: a clone
 * of it, whose composite operators are replaced by what they are made of and whose constants became
 * arguments, is read as the compiler reads a section, and its stages are evaluated one by one. */
#include "lowering/check/module_values.h"

#include "backend/evaluate/evaluate.h"
#include "backend/section/check/section_check.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/stages/read_section.h"
#include "support/container/pointer_map.h"
#include "support/number/shape.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* One evaluation of a module. */
enum { mostDepth = 64 };
typedef struct Evaluation {
  MlirOperation module;
  int depth; /* of calls */
  const SambaInputOptions *options;
  const SambaModuleValues *original; /* may be NULL */
  SambaArena *arena;
} Evaluation;

static size_t elementsOf(const SambaTensorType *type) {
  size_t elements = 1;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    elements *= (size_t)type->dims[axis];
  return elements;
}

/*===-- Inputs --------------------------------------------------------------------------------===*/

static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
  return bits ^ (bits >> 32);
}

static uint64_t hashText(uint64_t hash, SambaStringRef text) {
  for (size_t i = 0; i < text.size; ++i)
    hash = mix(hash ^ (uint8_t)text.data[i]);
  return mix(hash + text.size);
}

/* Numbers from -2 to 2 in steps of 1/64, which every float type can hold; integers as asked. */
static double *randomValues(const Evaluation *evaluation, uint64_t seed,
                            const SambaTensorType *type) {
  size_t elements = elementsOf(type);
  double *values = SAMBA_ARENA_ARRAY(evaluation->arena, double, elements + 1);
  uint64_t range = type->dtype == SAMBA_DTYPE_I1 ? 2 : (uint64_t)evaluation->options->integers;
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = mix(seed + i * 0x632be59bd9b4e019u);
    values[i] = sambaDTypeIsFloat(type->dtype) ? (double)((int64_t)(bits % 257) - 128) / 64
                                               : (double)(bits % range);
  }
  return values;
}

static SambaStatus denseValues(SambaArena *arena, MlirAttribute value, double **out_values) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type));
  if (!mlirAttributeIsADenseElements(value))
    value = sambaResourceToDense(value);
  if (mlirAttributeIsNull(value))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has a constant whose elements are not there");
  size_t elements = elementsOf(&type);
  uint32_t size = sambaDTypeBytes(type.dtype);
  const uint8_t *raw = mlirDenseElementsAttrGetRawData(value);
  bool splat = mlirDenseElementsAttrIsSplat(value);

  *out_values = SAMBA_ARENA_ARRAY(arena, double, elements + 1);
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = 0;
    if (type.dtype != SAMBA_DTYPE_I1)
      memcpy(&bits, raw + (splat ? 0 : i) * size, size);
    else
      bits = splat ? mlirDenseElementsAttrGetBoolSplatValue(value) != 0
                   : mlirDenseElementsAttrGetBoolValue(value, (intptr_t)i);
    (*out_values)[i] = sambaEvaluateBits(type.dtype, bits);
  }
  return NULL;
}

/*===-- Bodies of samba and linalg operations -------------------------------------------------===*/

/* Composite operators of the body as what they are made of. */
static bool expandComposites(MlirBlock body) {
  MlirOperation previous = {NULL};
  MlirOperation operation = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(operation)) {
    const SambaOperator *operator = sambaOperatorOf(operation);
    if (operator && !operator->view && !operator->stages) {
      if (!sambaOperationDecompose(operation))
        return false;
    } else {
      previous = operation;
    }
    operation = mlirOperationIsNull(previous) ? mlirBlockGetFirstOperation(body)
                                              : mlirOperationGetNextInBlock(previous);
  }
  return true;
}

/* A view of a view is read through a copy: not every two have a map in common. */
static void copyViews(MlirBlock body) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsView(operation))
      continue;
    MlirValue viewed = mlirOperationGetOperand(operation, 0);
    MlirOperation maker = sambaDefiningOperation(viewed);
    if (mlirOperationIsNull(maker) || !sambaOperationIsView(maker))
      continue;
    MlirOperation copy = sambaOperationCreate(
        "samba.contiguous", mlirOperationGetLocation(operation), 1, &viewed, 0, NULL);
    if (mlirOperationIsNull(copy))
      continue;
    mlirBlockInsertOwnedOperationBefore(body, operation, copy);
    mlirOperationSetOperand(operation, 0, mlirOperationGetResult(copy, 0));
  }
}

typedef SAMBA_ARRAY(double *) Values;

/* Constants of several different numbers become arguments, behind those that are there. */
static SambaStatus liftConstants(SambaArena *arena, MlirBlock body, Values *arguments) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    MlirAttribute value = sambaOperationAttribute(operation, "value");
    bool is_constant = sambaOperationIs(operation, "samba.constant") ||
                       sambaOperationIs(operation, "arith.constant");
    if (!is_constant || mlirAttributeIsNull(value) || !mlirAttributeIsAElements(value) ||
        (mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value)))
      continue;
    double *values;
    SAMBA_RETURN_IF_ERROR(denseValues(arena, value, &values));
    MlirValue result = mlirOperationGetResult(operation, 0);
    MlirValue argument =
        mlirBlockAddArgument(body, mlirValueGetType(result), mlirOperationGetLocation(operation));
    mlirValueReplaceAllUsesOfWith(result, argument);
    mlirOperationDestroy(operation);
    sambaArrayAppend(arguments, values);
  }
  return NULL;
}

/* func.return as samba.yield: what the reader of sections wants. */
static void yieldResults(MlirBlock body) {
  MlirOperation last = mlirBlockGetTerminator(body);
  if (!sambaOperationIs(last, "func.return"))
    return;
  intptr_t count = mlirOperationGetNumOperands(last);
  MlirValue *values = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *values));
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetOperand(last, i);
  sambaBuildOperationIn(body, last,
                        &(SambaOperationParts){.name = "samba.yield",
                                               .location = mlirOperationGetLocation(last),
                                               .operand_count = count,
                                               .operands = values});
  mlirOperationDestroy(last);
  free(values);
}

static SambaStatus evaluateStages(SambaArena *arena, const SambaSectionStages *stages,
                                  const Values *arguments, double **out_results) {
  const SambaStageGraph *graph = stages->graph;
  double **values = sambaAllocateZeroed((size_t)graph->tensor_count + 1, sizeof *values);
  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *tensor = &graph->tensors[t];
    uint32_t formal = stages->tensor_formal[t];
    size_t elements = 1;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      elements *= (size_t)tensor->dims[axis];
    if (tensor->alias_of != SAMBA_NO_INDEX)
      values[t] = values[tensor->alias_of];
    else if (tensor->role == SAMBA_TENSOR_ARGUMENT && formal != SAMBA_NO_INDEX)
      values[t] = arguments->data[formal];
    else
      values[t] = SAMBA_ARENA_ARRAY(arena, double, elements + 1);
  }

  SambaStatus status = sambaEvaluateStages(graph, false, values);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    if (graph->tensors[t].role == SAMBA_TENSOR_RESULT)
      out_results[stages->tensor_formal[t] - stages->argument_count] = values[t];
  free(values);
  return status;
}

/* Results of a function or samba.section; `copy` is a clone of it, which is changed. */
static SambaStatus evaluateClone(SambaArena *arena, MlirOperation copy, Values *arguments,
                                 double **out_results) {
  MlirBlock body = sambaBodyOf(copy);
  SambaSectionStages stages;
  mlirOperationRemoveAttributeByName(copy, sambaMlirString("arg_attrs"));
  if (!expandComposites(body))
    return sambaStatusMake(SAMBA_INVALID, "has an operator that cannot be taken apart");
  SAMBA_RETURN_IF_ERROR(liftConstants(arena, body, arguments));
  copyViews(body);
  yieldResults(body);
  SAMBA_RETURN_IF_ERROR(sambaSectionRead(copy, arena, arena, &stages));
  return evaluateStages(arena, &stages, arguments, out_results);
}

static SambaStatus evaluateBody(SambaArena *arena, MlirOperation function, double *const *given,
                                double **out_results) {
  Values arguments = {0};
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(sambaBodyOf(function)); ++i)
    sambaArrayAppend(&arguments, given[i]);
  MlirOperation copy = mlirOperationClone(function);
  SambaStatus status = evaluateClone(arena, copy, &arguments, out_results);
  mlirOperationDestroy(copy);
  sambaArrayFree(&arguments);
  return status;
}

/*===-- rdu sections --------------------------------------------------------------------------===*/

static uint64_t toBits(SambaDType dtype, double value) {
  if (sambaDTypeIsFloat(dtype) && dtype != SAMBA_DTYPE_F32)
    return sambaNarrowToBits(dtype, (float)value);
  uint64_t bits = (uint64_t)(int64_t)value;
  float number = (float)value;
  if (dtype == SAMBA_DTYPE_F32) {
    bits = 0;
    memcpy(&bits, &number, sizeof number);
  }
  return bits;
}

static SambaSectionFormal createFormal(const SambaTensorType *type, const double *values) {
  size_t elements = elementsOf(type);
  uint32_t size = sambaDTypeBytes(type->dtype);
  SambaSectionFormal formal = {.bytes = elements * size};
  size_t padded = (formal.bytes + 64) / 64 * 64;
  formal.data = aligned_alloc(64, padded);
  if (!formal.data)
    abort();
  memset(formal.data, 0, padded);
  for (size_t i = 0; values && i < elements; ++i) {
    uint64_t bits = toBits(type->dtype, values[i]);
    memcpy(formal.data + i * size, &bits, size);
  }
  return formal;
}

static double *formalValues(SambaArena *arena, const SambaSectionFormal *formal,
                            const SambaTensorType *type) {
  size_t elements = elementsOf(type);
  uint32_t size = sambaDTypeBytes(type->dtype);
  double *values = SAMBA_ARENA_ARRAY(arena, double, elements + 1);
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, formal->data + i * size, size);
    values[i] = sambaEvaluateBits(type->dtype, bits);
  }
  return values;
}

static SambaStatus readSection(SambaArena *arena, MlirOperation callee, SambaMachine *out_machine,
                               SambaSection **out_section) {
  MlirAttribute machine = sambaOperationAttribute(callee, "machine");
  if (mlirAttributeIsNull(machine))
    return sambaStatusMake(SAMBA_INVALID, "has no machine");
  SAMBA_RETURN_IF_ERROR(sambaMachineFromAttribute(machine, out_machine));
  SAMBA_RETURN_IF_ERROR(sambaSectionFromIr(callee, arena, out_section, NULL));
  return sambaSectionCheck(*out_section);
}

/* A call's operands are formals or, where they are hyperparameters of the graph, slots of the
 * argument block; its results are the last formals. */
static SambaStatus runSection(SambaArena *arena, MlirOperation call, MlirOperation callee,
                              double *const *operands, double **out_results) {
  intptr_t operand_count = mlirOperationGetNumOperands(call);
  intptr_t result_count = mlirOperationGetNumResults(call);
  SambaSectionRunner run = sambaGetSectionRunner();
  SambaMachine machine;
  SambaSection *section;
  if (!run)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "is not run: this program has no simulator");
  SAMBA_RETURN_IF_ERROR(readSection(arena, callee, &machine, &section));

  SAMBA_ARRAY(SambaSectionFormal) formals = {0};
  SAMBA_ARRAY(uint64_t) argins = {0};
  SambaStatus status = NULL;
  for (intptr_t i = 0; !status && i < operand_count + result_count; ++i) {
    bool is_operand = i < operand_count;
    MlirValue value = is_operand ? mlirOperationGetOperand(call, i)
                                 : mlirOperationGetResult(call, i - operand_count);
    SambaTensorType type;
    status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
    if (!status && is_operand && sambaValueIsArgin(value))
      sambaArrayAppend(&argins, toBits(type.dtype, operands[i][0]));
    else if (!status)
      sambaArrayAppend(&formals, createFormal(&type, is_operand ? operands[i] : NULL));
  }

  if (!status)
    status = run(&machine, section, formals.data, argins.data, (uint32_t)argins.size);
  for (intptr_t r = 0; !status && r < result_count; ++r) {
    SambaTensorType type;
    status = sambaTensorTypeFromMlir(mlirValueGetType(mlirOperationGetResult(call, r)), &type);
    if (!status)
      out_results[r] = formalValues(
          arena, &formals.data[formals.size - (size_t)result_count + (size_t)r], &type);
  }
  for (size_t f = 0; f < formals.size; ++f)
    free(formals.data[f].data);
  sambaArrayFree(&formals);
  sambaArrayFree(&argins);
  return status;
}

/*===-- Graphs --------------------------------------------------------------------------------===*/

static bool isCall(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.call") || sambaOperationIs(operation, "func.call");
}

/* Whether the function is more than the body of a section. */
static bool hasCalls(MlirOperation function) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  while (!mlirOperationIsNull(operation) && !isCall(operation) &&
         !sambaOperationIsPlacement(operation))
    operation = mlirOperationGetNextInBlock(operation);
  return !mlirOperationIsNull(operation);
}

static SambaStatus elementsOfValue(MlirValue value, size_t *out_count) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  *out_count = (size_t)sambaShapeElements(type.rank, type.dims);
  return NULL;
}

/* samba.stack and samba.unstack: elements one after the other. */
static SambaStatus evaluatePlacement(SambaArena *arena, MlirOperation operation,
                                     double *const *operands, double **out_results) {
  intptr_t operand_count = mlirOperationGetNumOperands(operation);
  size_t all, used = 0;
  SAMBA_RETURN_IF_ERROR(elementsOfValue(operand_count == 1 ? mlirOperationGetOperand(operation, 0)
                                                           : mlirOperationGetResult(operation, 0),
                                        &all));
  double *whole = SAMBA_ARENA_ARRAY(arena, double, all + 1);
  for (intptr_t i = 0; i < operand_count; ++i) {
    size_t count;
    SAMBA_RETURN_IF_ERROR(elementsOfValue(mlirOperationGetOperand(operation, i), &count));
    memcpy(whole + used, operands[i], count * sizeof *whole);
    used += count;
  }

  used = 0;
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
    size_t count;
    SAMBA_RETURN_IF_ERROR(elementsOfValue(mlirOperationGetResult(operation, r), &count));
    out_results[r] = whole + used;
    used += count;
  }
  return NULL;
}

/* An operation between calls, a view: by itself, as the body of a function of its own. */
static SambaStatus evaluateAlone(SambaArena *arena, MlirOperation operation, double *const *given,
                                 double **out_results) {
  intptr_t count = mlirOperationGetNumOperands(operation);
  MlirLocation location = mlirOperationGetLocation(operation);
  MlirRegion region = mlirRegionCreate();
  MlirBlock body = mlirBlockCreate(0, NULL, NULL);
  MlirOperation copy = mlirOperationClone(operation);
  mlirRegionAppendOwnedBlock(region, body);
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(
        copy, i,
        mlirBlockAddArgument(body, mlirValueGetType(mlirOperationGetOperand(operation, i)),
                             location));
  mlirBlockAppendOwnedOperation(body, copy);

  intptr_t result_count = mlirOperationGetNumResults(copy);
  MlirValue *results = SAMBA_ARENA_ARRAY(arena, MlirValue, (size_t)result_count + 1);
  for (intptr_t r = 0; r < result_count; ++r)
    results[r] = mlirOperationGetResult(copy, r);
  sambaBuildOperationIn(body, (MlirOperation){NULL},
                        &(SambaOperationParts){.name = "samba.yield",
                                               .location = location,
                                               .operand_count = result_count,
                                               .operands = results});
  MlirContext context = mlirOperationGetContext(operation);
  MlirNamedAttribute symbol = sambaNamedAttribute(
      context, "sym_name", mlirStringAttrGet(context, sambaMlirString("alone")));
  MlirOperation function = sambaBuildOperation(&(SambaOperationParts){.name = "samba.section",
                                                                      .location = location,
                                                                      .attribute_count = 1,
                                                                      .attributes = &symbol,
                                                                      .region_count = 1,
                                                                      .regions = &region});
  SambaStatus status = evaluateBody(arena, function, given, out_results);
  mlirOperationDestroy(function);
  return status;
}

static MlirOperation findCallee(MlirOperation module, MlirAttribute callee) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    MlirAttribute name = sambaOperationAttribute(operation, "sym_name");
    if (!mlirAttributeIsNull(name) &&
        mlirStringRefEqual(mlirStringAttrGetValue(name), mlirFlatSymbolRefAttrGetValue(callee)))
      break;
  }
  return operation;
}

static SambaStatus evaluateFunction(const Evaluation *evaluation, MlirOperation function,
                                    double *const *given, double **out_results);

static SambaStatus evaluateOperation(const Evaluation *evaluation, MlirOperation operation,
                                     double *const *operands, double **out_results) {
  if (!isCall(operation)) {
    MlirAttribute value = sambaOperationAttribute(operation, "value");
    if (sambaOperationIs(operation, "samba.constant"))
      return denseValues(evaluation->arena, value, &out_results[0]);
    if (sambaOperationIsPlacement(operation))
      return evaluatePlacement(evaluation->arena, operation, operands, out_results);
    return evaluateAlone(evaluation->arena, operation, operands, out_results);
  }

  MlirAttribute name = sambaOperationAttribute(operation, "callee");
  MlirOperation callee = findCallee(evaluation->module, name);
  SambaStringRef text = sambaFromMlir(mlirFlatSymbolRefAttrGetValue(name));
  Evaluation inner = *evaluation;
  SambaStatus status;
  if (mlirBlockIsNull(sambaBodyOf(callee)) || ++inner.depth > mostDepth)
    status = sambaStatusMake(SAMBA_UNSUPPORTED, "is recursive, or has no body");
  else
    status = sambaOperationIs(callee, "rdu.section")
                 ? runSection(evaluation->arena, operation, callee, operands, out_results)
                 : evaluateFunction(&inner, callee, operands, out_results);
  return sambaStatusAnnotate(status, "@%.*s", SAMBA_STRING_ARGS(text));
}

/* Operation by operation; values by the SSA values that they are of. */
static SambaStatus evaluateCalls(const Evaluation *evaluation, MlirOperation function,
                                 double *const *given, double **out_results) {
  MlirBlock body = sambaBodyOf(function);
  SambaPointerMap number_of = {0};
  Values values = {0};
  SambaStatus status = NULL;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    sambaPointerMapSet(&number_of, mlirBlockGetArgument(body, i).ptr, (uint32_t)values.size);
    sambaArrayAppend(&values, given[i]);
  }

  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    size_t operand_count = (size_t)mlirOperationGetNumOperands(operation);
    size_t result_count = (size_t)mlirOperationGetNumResults(operation);
    double **operands = SAMBA_ARENA_ARRAY(evaluation->arena, double *, operand_count + 1);
    double **results = SAMBA_ARENA_ARRAY(evaluation->arena, double *, result_count + 1);
    for (size_t i = 0; i < operand_count; ++i) {
      uint32_t number = 0;
      sambaPointerMapGet(&number_of, mlirOperationGetOperand(operation, (intptr_t)i).ptr, &number);
      operands[i] = values.data[number];
    }
    if (sambaOperationIs(operation, "func.return")) {
      memcpy(out_results, operands, operand_count * sizeof *operands);
      break;
    }
    status = evaluateOperation(evaluation, operation, operands, results);
    for (size_t r = 0; !status && r < result_count; ++r) {
      sambaPointerMapSet(&number_of, mlirOperationGetResult(operation, (intptr_t)r).ptr,
                         (uint32_t)values.size);
      sambaArrayAppend(&values, results[r]);
    }
  }

  sambaPointerMapFree(&number_of);
  sambaArrayFree(&values);
  return status;
}

static SambaStatus evaluateFunction(const Evaluation *evaluation, MlirOperation function,
                                    double *const *given, double **out_results) {
  return hasCalls(function) ? evaluateCalls(evaluation, function, given, out_results)
                            : evaluateBody(evaluation->arena, function, given, out_results);
}

static const char *nameOf(SambaArena *arena, MlirAttribute dictionary, const char *otherwise,
                          size_t number) {
  SambaStringRef name = sambaInterfaceText(dictionary, SAMBA_NAME_ATTRIBUTE);
  return name.size ? sambaStringRefCopy(arena, name).data
                   : sambaArenaFormat(arena, "%s%zu", otherwise, number);
}

/* What the argument in the same place had at first; NULL: there is none like it. */
static double *originalInput(const Evaluation *evaluation, SambaStringRef graph, size_t number,
                             const SambaTensorType *type) {
  const SambaModuleValues *original = evaluation->original;
  for (size_t a = 0; original && a < original->arguments.size; ++a) {
    const SambaGraphValue *argument = &original->arguments.data[a];
    if (argument->number == number && sambaStringRefEqualC(graph, argument->graph) &&
        elementsOf(&argument->type) == elementsOf(type))
      return sambaArenaCopy(evaluation->arena, argument->elements,
                            elementsOf(type) * sizeof *argument->elements);
  }
  return NULL;
}

static SambaStatus makeInput(const Evaluation *evaluation, SambaStringRef graph,
                             const SambaInterface *interface, size_t number, double **out_values) {
  MlirAttribute dictionary = interface->arguments.data[number];
  MlirAttribute value = sambaDictionaryFind(dictionary, SAMBA_VALUE_ATTRIBUTE);
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(interface->function), (intptr_t)number);
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(argument), &type));
  if (!mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value))
    return denseValues(evaluation->arena, value, out_values);

  bool has_name = sambaInterfaceText(dictionary, SAMBA_NAME_ATTRIBUTE).size > 0;
  *out_values = has_name ? NULL : originalInput(evaluation, graph, number, &type);
  if (*out_values)
    return NULL;
  const char *name = nameOf(evaluation->arena, dictionary, "arg", number);
  uint64_t seed = hashText(hashText(mix(evaluation->options->seed), graph), sambaStringRef(name));
  *out_values = randomValues(evaluation, seed, &type);
  return NULL;
}

static SambaStatus evaluateGraph(const Evaluation *evaluation, MlirOperation function,
                                 SambaModuleValues *values) {
  SambaInterface interface = {0};
  sambaInterfaceRead(function, &interface);
  SambaArena *arena = evaluation->arena;
  MlirAttribute symbol = sambaOperationAttribute(function, "sym_name");
  SambaStringRef graph = sambaStringRefCopy(arena, sambaFromMlir(mlirStringAttrGetValue(symbol)));
  double **arguments = SAMBA_ARENA_ARRAY(arena, double *, interface.arguments.size + 1);
  double **results = SAMBA_ARENA_ARRAY(arena, double *, interface.results.size + 1);
  SambaStatus status = NULL;
  for (size_t i = 0; !status && i < interface.arguments.size; ++i)
    status = makeInput(evaluation, graph, &interface, i, &arguments[i]);
  for (size_t i = 0; !status && i < interface.arguments.size; ++i) {
    SambaGraphValue argument = {.graph = graph.data, .number = i, .elements = arguments[i]};
    MlirValue value = mlirBlockGetArgument(sambaBodyOf(function), (intptr_t)i);
    status = sambaTensorTypeFromMlir(mlirValueGetType(value), &argument.type);
    sambaArrayAppend(&values->arguments, argument);
  }
  if (!status)
    status = evaluateFunction(evaluation, function, arguments, results);

  for (size_t r = 0; !status && r < interface.results.size; ++r) {
    SambaGraphValue result = {.graph = graph.data,
                              .number = r,
                              .name = nameOf(arena, interface.results.data[r], "out", r),
                              .elements = results[r]};
    status = sambaTensorTypeFromMlir(mlirValueGetType(interface.returned.data[r]), &result.type);
    sambaArrayAppend(&values->results, result);
  }
  sambaInterfaceFree(&interface);
  return sambaStatusAnnotate(status, "graph @%s", graph.data);
}

/* What other functions call. */
static bool isPrivate(MlirOperation function) {
  MlirAttribute visibility = sambaOperationAttribute(function, "sym_visibility");
  return !mlirAttributeIsNull(visibility) &&
         sambaStringRefEqualC(sambaFromMlir(mlirStringAttrGetValue(visibility)), "private");
}

SambaStatus sambaModuleEvaluate(MlirOperation module, const SambaInputOptions *options,
                                const SambaModuleValues *original, SambaModuleValues *out_values) {
  Evaluation evaluation = {
      .module = module, .options = options, .original = original, .arena = &out_values->arena};
  SambaStatus status = sambaModuleCheckAnyGraph(module);
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && !isPrivate(operation))
      status = evaluateGraph(&evaluation, operation, out_values);
  return status;
}

void sambaModuleValuesFree(SambaModuleValues *values) {
  sambaArrayFree(&values->arguments);
  sambaArrayFree(&values->results);
  sambaArenaDestroy(&values->arena);
}
