/* samba-mixed-precision: which tensors are bf16.
 *
 * mp0 leaves the graph as it is. mp1 casts the inputs of contractions to bf16; they accumulate in
 * f32 and their results stay f32. mp4 makes every f32 tensor bf16: arguments and results remember
 * f32 as what the host sees (samba.host_dtype). */
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

static bool isF32(MlirValue value) {
  return mlirTypeIsAShaped(mlirValueGetType(value)) &&
         mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(value)));
}

static MlirType toBf16(MlirType type) {
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t a = 0; a < rank && a < SAMBA_MAX_RANK; ++a)
    dims[a] = mlirShapedTypeGetDimSize(type, a);
  return mlirRankedTensorTypeGet(rank, dims, mlirBF16TypeGet(mlirTypeGetContext(type)),
                                 mlirAttributeGetNull());
}

static MlirValue castToBf16(MlirValue value, MlirOperation before) {
  MlirContext context = mlirOperationGetContext(before);
  MlirNamedAttribute dtype =
      sambaNamedAttribute(context, "dtype", mlirTypeAttrGet(mlirBF16TypeGet(context)));
  SambaOperationParts parts = {.name = "samba.cast",
                               .location = mlirOperationGetLocation(before),
                               .operand_count = 1,
                               .operands = &value,
                               .result_count = -1,
                               .attribute_count = 1,
                               .attributes = &dtype};
  MlirOperation cast = sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts);
  sambaPhaseTake(cast, before);
  return mlirOperationGetResult(cast, 0);
}

static bool takesOutDType(const SambaOperator *row) {
  return sambaOperatorAttribute(row, sambaStringRef("out_dtype"));
}

/* Structured operations and what stands around them - views, constants, empty tensors - say their
 * types in bodies: they keep them. */
static bool isOfOthers(MlirOperation operation) {
  return !sambaOperatorNameOf(operation).size && !sambaOperationIs(operation, "func.return");
}

static bool isF16(MlirValue value) {
  return mlirTypeIsAShaped(mlirValueGetType(value)) &&
         mlirTypeIsAF16(mlirShapedTypeGetElementType(mlirValueGetType(value)));
}

/* `samba.graphamp = false` keeps an operation as it is. A contraction of f16 has no result in
 * bf16. */
static bool mayNarrow(MlirOperation operation) {
  const SambaOperator *row = sambaOperatorOf(operation);
  if (isOfOthers(operation) ||
      (row && takesOutDType(row) && isF16(mlirOperationGetOperand(operation, 0))))
    return false;
  MlirAttribute amp = sambaOperationAttribute(operation, SAMBA_KEEP_PRECISION_ATTRIBUTE);
  return mlirAttributeIsNull(amp) || !mlirAttributeIsABool(amp) || mlirBoolAttrGetValue(amp);
}

/* The two factors become bf16 and the result stays f32, as does a bias, which is added to it. A
 * composite (attention) has no result of its own precision: all its operands become bf16, and its
 * result is widened again. */
static void castContraction(MlirOperation operation, const SambaOperator *row) {
  MlirContext context = mlirOperationGetContext(operation);
  bool accumulates = takesOutDType(row);

  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (isF32(mlirOperationGetOperand(operation, i)) && (i < 2 || !accumulates))
      mlirOperationSetOperand(operation, i,
                              castToBf16(mlirOperationGetOperand(operation, i), operation));
  MlirNamedAttribute f32 =
      sambaNamedAttribute(context, "dtype", mlirTypeAttrGet(mlirF32TypeGet(context)));
  if (accumulates) {
    mlirOperationSetAttributeByName(operation, sambaMlirString("out_dtype"), f32.attribute);
    return;
  }

  MlirValue result = mlirOperationGetResult(operation, 0);
  mlirValueSetType(result, toBf16(mlirValueGetType(result)));
  MlirOperation wide =
      sambaOperationCreate("samba.cast", mlirOperationGetLocation(operation), 1, &result, 1, &f32);
  sambaPhaseTake(wide, operation);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(operation), operation, wide);
  mlirValueReplaceAllUsesExcept(result, mlirOperationGetResult(wide, 0), 1, &wide);
}

static bool castContractions(MlirOperation function) {
  MlirOperation next;
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    const SambaOperator *row = sambaOperatorOf(operation);
    if (row && row->contraction && mayNarrow(operation) &&
        mlirOperationGetNumOperands(operation) > 1 &&
        isF32(mlirOperationGetOperand(operation, 0)) &&
        isF32(mlirOperationGetOperand(operation, 1)))
      castContraction(operation, row);
  }
  return true;
}

/* ---- mp4 ---- */

static MlirAttribute withHostDType(MlirAttribute dictionary, MlirContext context) {
  intptr_t count =
      mlirAttributeIsNull(dictionary) ? 0 : mlirDictionaryAttrGetNumElements(dictionary);
  MlirNamedAttribute *entries = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *entries));

  for (intptr_t i = 0; i < count; ++i)
    entries[i] = mlirDictionaryAttrGetElement(dictionary, i);
  if (count && !mlirAttributeIsNull(sambaDictionaryFind(dictionary, SAMBA_HOST_DTYPE_ATTRIBUTE))) {
    free(entries);
    return dictionary;
  }

  entries[count] = sambaNamedAttribute(context, SAMBA_HOST_DTYPE_ATTRIBUTE,
                                       mlirTypeAttrGet(mlirF32TypeGet(context)));
  MlirAttribute result = mlirDictionaryAttrGet(context, count + 1, entries);
  free(entries);

  return result;
}

/* Whether operand number `index` of the operation is taken as f32 whatever the precision:
 * hyperparameters (0.999 in bf16 would be 1) and an optimizer's state, to which a step adds less
 * than a bf16 could hold. */
static bool takesF32(MlirOperation operation, intptr_t index) {
  const SambaOperator *row = sambaOperatorOf(operation);
  if (!row || !mayNarrow(operation))
    return row || isOfOthers(operation);
  uint32_t first = row->states ? row->states : row->host_scalars;
  return first && index >= (intptr_t)first;
}

/* Nobody uses the value but those who take it as f32. A weight with a copy in f32 is never one:
 * steps write it in bf16. */
static bool staysF32(MlirValue value) {
  if (sambaValueIsArgin(value)) /* those who compute with it in bf16 cast it: castKept */
    return true;
  if (!mlirAttributeIsNull(sambaArgumentAttribute(value, SAMBA_MASTER_ATTRIBUTE)))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(value);
  bool any = !mlirOpOperandIsNull(use);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    if (!takesF32(sambaUserInBlockOf(value, use), mlirOpOperandGetOperandNumber(use)))
      return false;
  }
  return any;
}

/* Argument or result types of the function: f32 tensors become bf16, their attributes say f32 for
 * the host. */
static void convertInterface(MlirOperation function, const char *list, intptr_t count,
                             MlirType *types, const bool *keep) {
  MlirContext context = mlirOperationGetContext(function);
  MlirAttribute given = sambaOperationAttribute(function, list);
  MlirAttribute *entries = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *entries));

  for (intptr_t i = 0; i < count; ++i) {
    entries[i] = mlirAttributeIsNull(given) ? mlirDictionaryAttrGet(context, 0, NULL)
                                            : mlirArrayAttrGetElement(given, i);
    if (keep[i] || !mlirTypeIsAShaped(types[i]) ||
        !mlirTypeIsAF32(mlirShapedTypeGetElementType(types[i])))
      continue;
    types[i] = toBf16(types[i]);
    entries[i] = withHostDType(entries[i], context);
  }

  if (count)
    mlirOperationSetAttributeByName(function, sambaMlirString(list),
                                    mlirArrayAttrGet(context, count, entries));
  free(entries);
}

static MlirAttribute constantToBf16(MlirAttribute value) {
  MlirType type = toBf16(mlirAttributeGetType(value));
  if (mlirDenseElementsAttrIsSplat(value)) {
    double number =
        sambaBf16ToFloat(sambaNarrowToBf16(mlirDenseElementsAttrGetFloatSplatValue(value)));
    MlirContext context = mlirAttributeGetContext(value);
    return mlirDenseElementsAttrSplatGet(
        type, mlirFloatAttrDoubleGet(context, mlirBF16TypeGet(context), number));
  }

  intptr_t count = mlirElementsAttrGetNumElements(value);
  uint16_t *bits = sambaAllocate(sambaArraySize((size_t)count, sizeof *bits));
  for (intptr_t i = 0; i < count; ++i)
    bits[i] = sambaNarrowToBf16(mlirDenseElementsAttrGetFloatValue(value, i));
  MlirAttribute result = mlirDenseElementsAttrBFloat16Get(type, count, bits);
  free(bits);

  return result;
}

/* Types follow from operands by the operator table again. */
static SambaStatus retype(MlirOperation operation, SambaArena *arena) {
  MlirContext context = mlirOperationGetContext(operation);
  if (sambaOperationIs(operation, "samba.call"))
    return sambaStatusMake(SAMBA_INVALID, "samba-mixed-precision runs before sections are made");
  if (sambaOperationIs(operation, "samba.constant")) {
    MlirAttribute value = sambaOperationAttribute(operation, "value");
    if (!isF32(mlirOperationGetResult(operation, 0)) ||
        staysF32(mlirOperationGetResult(operation, 0)))
      return NULL;
    if (!mlirAttributeIsADenseElements(value))
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "its values are not in the IR, so samba-mixed-precision cannot convert "
          "them; make it an argument with samba.value");
    MlirAttribute narrow = constantToBf16(value);
    mlirOperationSetAttributeByName(operation, sambaMlirString("value"), narrow);
    mlirValueSetType(mlirOperationGetResult(operation, 0), mlirAttributeGetType(narrow));
    return NULL;
  }

  if (!sambaOperatorOf(operation))
    return NULL;
  const char *const dtypes[] = {"dtype", "out_dtype"};
  for (int i = 0; i < 2 && mayNarrow(operation); ++i) {
    MlirAttribute dtype = sambaOperationAttribute(operation, dtypes[i]);
    if (!mlirAttributeIsNull(dtype) && mlirAttributeIsAType(dtype) &&
        mlirTypeIsAF32(mlirTypeAttrGetValue(dtype)))
      mlirOperationSetAttributeByName(operation, sambaMlirString(dtypes[i]),
                                      mlirTypeAttrGet(mlirBF16TypeGet(context)));
  }

  SambaOperatorCall call;
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(arena, operation, &call));
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(&call, results));
  for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i)
    mlirValueSetType(mlirOperationGetResult(operation, i),
                     sambaTensorTypeToMlir(context, &results[i]));
  return NULL;
}

/* samba.cast of an f32 value to f32. As a kept operation it widens what will be narrow, else it
 * will be narrow itself. */
static MlirOperation boundary(MlirValue value, MlirOperation at, bool kept) {
  MlirContext context = mlirOperationGetContext(at);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "dtype", mlirTypeAttrGet(mlirF32TypeGet(context))),
      sambaNamedAttribute(context, SAMBA_KEEP_PRECISION_ATTRIBUTE,
                          mlirBoolAttrGet(context, false))};
  MlirOperation cast = sambaOperationCreate("samba.cast", mlirOperationGetLocation(at), 1, &value,
                                            kept ? 2 : 1, attributes);
  sambaPhaseTake(cast, at);
  return cast;
}

/* What the operation, which keeps f32, reads instead of the value. */
static MlirValue widened(MlirValue value, void *user) {
  const MlirOperation *operation = user;
  MlirOperation owner = sambaDefiningOperation(value);
  bool made = !mlirOperationIsNull(owner) && (sambaOperatorOf(owner) || isOfOthers(owner));
  if (!isF32(value) || (made ? !mayNarrow(owner) : staysF32(value)))
    return value;
  MlirOperation wide = boundary(value, *operation, true);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(*operation), *operation, wide);
  return mlirOperationGetResult(wide, 0);
}

/* Between an operation that keeps f32 and those that do not stand casts. */
static void isolate(MlirOperation operation) {
  MlirBlock block = mlirOperationGetBlock(operation);
  sambaMapInputs(operation, widened, &operation);

  for (intptr_t i = 0; i < mlirOperationGetNumResults(operation); ++i) {
    MlirValue value = mlirOperationGetResult(operation, i);
    SAMBA_ARRAY(MlirOpOperand) uses = {0};
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (isF32(value) && mayNarrow(sambaUserInBlockOf(value, use)) &&
          !sambaOperationIs(sambaUserInBlockOf(value, use), "samba.cast"))
        sambaArrayAppend(&uses, use);
    if (uses.size) {
      MlirOperation narrow = boundary(value, operation, false);
      for (size_t u = 0; u < uses.size; ++u)
        mlirOperationSetOperand(mlirOpOperandGetOwner(uses.data[u]),
                                mlirOpOperandGetOperandNumber(uses.data[u]),
                                mlirOperationGetResult(narrow, 0));
      mlirBlockInsertOwnedOperationAfter(block, operation, narrow);
    }
    sambaArrayFree(&uses);
  }
}

static void isolateKept(MlirBlock body) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if ((sambaOperatorOf(operation) || isOfOthers(operation)) && !mayNarrow(operation))
      isolate(operation);
  }
}

/* A result of an update that is the new state. */
static bool isNewState(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  const SambaOperator *row = mlirOperationIsNull(maker) ? NULL : sambaOperatorOf(maker);
  return row && row->states && mlirOpResultGetResultNumber(value) > 0;
}

/* Argins and states stay f32: a learning rate of 0.1 is not 0.1001. Who computes with them in bf16
 * casts them. */
static void castKept(MlirBlock body) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
      MlirValue value = mlirOperationGetOperand(operation, i);
      bool returned = !sambaOperatorOf(operation) && !sambaValueIsArgin(value);
      if (!(sambaValueIsArgin(value) || isNewState(value)) || returned || !isF32(value) ||
          takesF32(operation, i))
        continue;
      MlirOperation narrow = boundary(value, operation, false);
      mlirBlockInsertOwnedOperationBefore(body, operation, narrow);
      mlirOperationSetOperand(operation, i, mlirOperationGetResult(narrow, 0));
    }
}

static bool convertFunction(MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock body = sambaBodyOf(function);
  MlirOperation terminator = mlirBlockGetTerminator(body);
  intptr_t arguments = mlirBlockGetNumArguments(body);
  intptr_t results = mlirOperationGetNumOperands(terminator);
  MlirType *types = sambaAllocate(sambaArraySize((size_t)(arguments + results) + 1, sizeof *types));

  castKept(body);
  isolateKept(body);
  bool *keep = sambaAllocateZeroed((size_t)(arguments + results) + 1, sizeof *keep);
  for (intptr_t i = 0; i < arguments; ++i) {
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
    keep[i] = staysF32(mlirBlockGetArgument(body, i));
  }

  convertInterface(function, "arg_attrs", arguments, types, keep);
  for (intptr_t i = 0; i < arguments; ++i)
    mlirBlockArgumentSetType(mlirBlockGetArgument(body, i), types[i]);
  SambaArena arena = {0};
  bool fine = true;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       fine && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    SambaStatus status = retype(operation, &arena);
    if (status)
      fine = sambaEmitOpStatus(operation, status);
  }

  sambaArenaDestroy(&arena);
  for (intptr_t i = 0; i < results; ++i) {
    types[arguments + i] = mlirFunctionTypeGetResult(
        mlirTypeAttrGetValue(sambaOperationAttribute(function, "function_type")), i);
    keep[arguments + i] = isF32(mlirOperationGetOperand(terminator, i));
  }
  convertInterface(function, "res_attrs", results, types + arguments, keep + arguments);
  mlirOperationSetAttributeByName(
      function, sambaMlirString("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(context, arguments, types, results, types + arguments)));
  free(keep);
  free(types);

  return fine;
}

bool sambaMixedPrecision(MlirOperation module, const char *preset) {
  static const struct {
    const char *name;
    bool (*convert)(MlirOperation function);
  } presets[] = {{"mp0", NULL},
                 {"f32", NULL},
                 {"mp1", castContractions},
                 {"mp4", convertFunction},
                 {"bf16", convertFunction}};

  for (size_t i = 0; i < sizeof presets / sizeof *presets; ++i) {
    if (strcmp(preset, presets[i].name) != 0)
      continue;
    bool fine = !presets[i].convert || sambaModuleCheckGraphs(module);
    for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
         fine && !mlirOperationIsNull(operation);
         operation = mlirOperationGetNextInBlock(operation))
      if (sambaOperationIsGraph(operation) && presets[i].convert)
        fine = presets[i].convert(operation);
    return fine;
  }

  return sambaEmitOpError(module, "samba-mixed-precision: preset wants mp0, mp1 or mp4, not '%s'",
                          preset);
}
