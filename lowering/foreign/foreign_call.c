/* Operations of other dialects as samba operations; see foreign_call.h. */
#include "lowering/foreign/foreign_call.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

void sambaForeignFail(SambaForeignCall *call, SambaStatus status) {
  if (call->expansion.status)
    sambaStatusFree(status);
  else
    call->expansion.status = status;
}

SambaTensorType sambaForeignType(const SambaForeignCall *call, uint32_t value) {
  return value < call->expansion.types.size ? *sambaExpansionType(&call->expansion, value)
                                            : (SambaTensorType){0};
}

/* ---- Attributes ---- */

int64_t sambaForeignInt(const SambaForeignCall *call, const char *name) {
  MlirAttribute attribute = sambaOperationAttribute(call->operation, name);
  return mlirAttributeIsNull(attribute) || !mlirAttributeIsAInteger(attribute)
             ? 0
             : mlirIntegerAttrGetValueInt(attribute);
}

bool sambaForeignFlag(const SambaForeignCall *call, const char *name) {
  MlirAttribute attribute = sambaOperationAttribute(call->operation, name);
  return !mlirAttributeIsNull(attribute) && mlirAttributeIsABool(attribute) &&
         mlirBoolAttrGetValue(attribute);
}

static intptr_t listSize(MlirAttribute list) {
  if (mlirAttributeIsNull(list))
    return 0;
  if (mlirAttributeIsADenseElements(list))
    return (intptr_t)mlirElementsAttrGetNumElements(list);
  if (mlirAttributeIsAArray(list))
    return mlirArrayAttrGetNumElements(list);
  return mlirDenseArrayGetNumElements(list);
}

static int64_t listElement(MlirAttribute list, intptr_t index) {
  if (mlirAttributeIsADenseElements(list))
    return (int64_t)sambaForeignElement(list, index);
  if (mlirAttributeIsAArray(list))
    return mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(list, index));
  return mlirAttributeIsADenseI32Array(list) ? mlirDenseI32ArrayGetElement(list, index)
                                             : mlirDenseI64ArrayGetElement(list, index);
}

static uint32_t listInts(SambaForeignCall *call, MlirAttribute list, const char *what, int64_t *out,
                         uint32_t most) {
  intptr_t size = listSize(list);
  if (size > (intptr_t)most) {
    sambaForeignFail(call, sambaStatusMake(SAMBA_UNSUPPORTED,
                                           "%s has %lld numbers; at most %u are possible", what,
                                           (long long)size, most));
    return 0;
  }
  for (intptr_t i = 0; i < size; ++i)
    out[i] = listElement(list, i);
  return (uint32_t)size;
}

uint32_t sambaForeignInts(SambaForeignCall *call, const char *name, int64_t *out, uint32_t most) {
  return listInts(call, sambaOperationAttribute(call->operation, name), name, out, most);
}

double sambaForeignNumber(const SambaForeignCall *call, const char *name) {
  MlirAttribute attribute = sambaOperationAttribute(call->operation, name);
  if (mlirAttributeIsNull(attribute))
    return 0;
  return mlirAttributeIsAFloat(attribute) ? mlirFloatAttrGetValueDouble(attribute)
                                          : (double)mlirIntegerAttrGetValueInt(attribute);
}

bool sambaForeignSays(const SambaForeignCall *call, const char *name, const char *word) {
  MlirAttribute attribute = sambaOperationAttribute(call->operation, name);
  if (mlirAttributeIsNull(attribute))
    return false;
  SambaText text = {0};
  mlirAttributePrint(attribute, sambaTextSink, &text);
  bool says = strstr(sambaTextGet(&text), word) != NULL;
  sambaTextFree(&text);
  return says;
}

/* ---- Known operands ---- */

MlirAttribute sambaForeignElements(MlirValue value) {
  static const struct {
    const char *name, *attribute;
  } constants[] = {{"tosa.const", "values"},
                   {"tosa.const_shape", "values"},
                   {"arith.constant", "value"},
                   {"samba.constant", "value"}};
  MlirOperation owner = sambaDefiningOperation(value);
  for (size_t i = 0; !mlirOperationIsNull(owner) && i < sizeof constants / sizeof *constants; ++i)
    if (sambaOperationIs(owner, constants[i].name)) {
      MlirAttribute elements = sambaOperationAttribute(owner, constants[i].attribute);
      return mlirAttributeIsADenseElements(elements) ? elements : (MlirAttribute){NULL};
    }
  return (MlirAttribute){NULL};
}

double sambaForeignElement(MlirAttribute elements, int64_t index) {
  MlirType type = mlirShapedTypeGetElementType(mlirAttributeGetType(elements));
  if (mlirTypeIsAIndex(type))
    return (double)(int64_t)mlirDenseElementsAttrGetIndexValue(elements, index);

  const char *raw = mlirDenseElementsAttrGetRawData(elements);
  int64_t at = mlirDenseElementsAttrIsSplat(elements) ? 0 : index;
  switch (sambaDTypeFromType(type)) {
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return (double)sambaLoadFloat(sambaDTypeFromType(type), raw, (uint64_t)at);
  case SAMBA_DTYPE_I1:
    return mlirDenseElementsAttrGetBoolValue(elements, index);
  case SAMBA_DTYPE_I8:
    return ((const int8_t *)raw)[at];
  case SAMBA_DTYPE_UI8:
    return ((const uint8_t *)raw)[at];
  case SAMBA_DTYPE_I16:
    return ((const int16_t *)raw)[at];
  case SAMBA_DTYPE_I32:
    return ((const int32_t *)raw)[at];
  case SAMBA_DTYPE_I64:
    return (double)((const int64_t *)raw)[at];
  default:
    return 0;
  }
}

uint32_t sambaForeignOperandInts(SambaForeignCall *call, uint32_t number, int64_t *out,
                                 uint32_t most) {
  MlirAttribute elements = sambaForeignElements(mlirOperationGetOperand(call->operation, number));
  if (!mlirAttributeIsNull(elements))
    return listInts(call, elements, "an operand", out, most);
  sambaForeignFail(call,
                   sambaStatusMake(SAMBA_UNSUPPORTED,
                                   "wants a constant as operand %u, because shapes are known when "
                                   "a model is compiled; canonicalize the module first",
                                   number));
  return 0;
}

bool sambaForeignIndex(MlirValue value, int64_t *out) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (mlirOperationIsNull(owner) || !sambaOperationIs(owner, "arith.constant"))
    return false;
  MlirAttribute number = sambaOperationAttribute(owner, "value");
  if (!mlirAttributeIsAInteger(number))
    return false;
  *out = mlirIntegerAttrGetValueInt(number);
  return true;
}

void sambaForeignMixed(SambaForeignCall *call, const char *name, uint32_t *next, uint32_t count,
                       int64_t *out) {
  int64_t listed[SAMBA_MAX_RANK];
  uint32_t found = sambaForeignInts(call, name, listed, SAMBA_MAX_RANK);
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = i < found ? listed[i] : 0;
    if (out[i] == INT64_MIN &&
        !sambaForeignIndex(mlirOperationGetOperand(call->operation, (*next)++), &out[i]))
      sambaForeignFail(
          call, sambaStatusMake(SAMBA_UNSUPPORTED,
                                "has a number in %s that is known only at run time; a graph's "
                                "shapes and places are known when it is compiled",
                                name));
  }
}

MlirValue sambaForeignTensorOf(MlirValue scalar) {
  MlirOperation owner = sambaDefiningOperation(scalar);
  bool element = !mlirOperationIsNull(owner) && sambaOperationIs(owner, "tensor.extract") &&
                 mlirOperationGetNumOperands(owner) == 1;
  return element ? mlirOperationGetOperand(owner, 0) : (MlirValue){NULL};
}

MlirValue sambaForeignExtract(MlirOperation before, MlirLocation location, MlirValue tensor) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  return sambaBuildUnaryOrMore(mlirOperationGetBlock(before), before, location, "tensor.extract", 1,
                               &tensor, element);
}

bool sambaForeignOperandIs(const SambaForeignCall *call, uint32_t number, double wanted) {
  MlirAttribute elements = sambaForeignElements(mlirOperationGetOperand(call->operation, number));
  int64_t count = mlirAttributeIsNull(elements) ? 0 : mlirElementsAttrGetNumElements(elements);
  for (int64_t i = 0; i < count; ++i)
    if (sambaForeignElement(elements, i) != wanted)
      return false;
  return count > 0;
}

/* ---- Padding ---- */

static uint32_t padBy(SambaForeignCall *call, uint32_t x, const int64_t *low, const int64_t *high,
                      double number) {
  uint32_t rank = sambaForeignType(call, x).rank;
  return SAMBA_FOREIGN_CALL(call, "pad", (uint32_t[]){x}, sambaIntsAttribute("low", low, rank),
                            sambaIntsAttribute("high", high, rank),
                            sambaFloatAttribute("value", number));
}

/* A value that is not known is chosen where a mask says that x is not. */
uint32_t sambaForeignPadWith(SambaForeignCall *call, uint32_t x, const int64_t *low,
                             const int64_t *high, uint32_t value) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t one = sambaExpandScalar(expansion, SAMBA_DTYPE_I1, 1);
  SambaTensorType type = sambaForeignType(call, x);
  uint32_t inside = sambaExpandBroadcast(expansion, one, type.rank, type.dims);
  uint32_t number = sambaExpandReshape(expansion, value, 0, NULL);
  uint32_t operands[] = {padBy(call, inside, low, high, 0), padBy(call, x, low, high, 0), number};
  return sambaExpandCall(expansion, "where", 3, operands, 0, NULL);
}

uint32_t sambaForeignPad(SambaForeignCall *call, uint32_t x, const int64_t *low,
                         const int64_t *high, uint32_t number) {
  if (number == SAMBA_FOREIGN_NO_VALUE)
    return padBy(call, x, low, high, 0);
  MlirValue value = mlirOperationGetOperand(call->operation, number);
  MlirAttribute elements = sambaForeignElements(value);
  MlirOperation owner = sambaDefiningOperation(value);
  if (!mlirAttributeIsNull(elements))
    return padBy(call, x, low, high, sambaForeignElement(elements, 0));
  if (!mlirOperationIsNull(owner) && sambaOperationIs(owner, "arith.constant")) {
    MlirAttribute known = sambaOperationAttribute(owner, "value");
    return padBy(call, x, low, high,
                 mlirAttributeIsAFloat(known) ? mlirFloatAttrGetValueDouble(known)
                                              : (double)mlirIntegerAttrGetValueInt(known));
  }
  return sambaForeignPadWith(call, x, low, high, call->operands[number]);
}

/* ---- The driver ---- */

/* A scalar: a number that is known, or the element of a tensor of rank 0 (out_tensor). */
static uint32_t readScalar(SambaForeignCall *call, MlirValue scalar, MlirValue *out_tensor) {
  SambaDType dtype = sambaDTypeFromType(mlirValueGetType(scalar));
  MlirOperation owner = sambaDefiningOperation(scalar);
  if (dtype == SAMBA_DTYPE_COUNT)
    return SAMBA_FOREIGN_NO_VALUE;
  *out_tensor = sambaForeignTensorOf(scalar);
  if (!mlirValueIsNull(*out_tensor))
    return sambaExpandOperand(&call->expansion, &(SambaTensorType){.dtype = dtype});
  if (mlirOperationIsNull(owner) || !sambaOperationIs(owner, "arith.constant"))
    return SAMBA_FOREIGN_NO_VALUE;
  MlirAttribute value = sambaOperationAttribute(owner, "value");
  return sambaExpandScalar(&call->expansion, dtype,
                           mlirAttributeIsAFloat(value)
                               ? mlirFloatAttrGetValueDouble(value)
                               : (double)mlirIntegerAttrGetValueInt(value));
}

uint32_t sambaForeignScalar(SambaForeignCall *call, MlirValue scalar) {
  MlirValue tensor = {NULL};
  uint32_t value = readScalar(call, scalar, &tensor);
  if (!mlirValueIsNull(tensor)) {
    call->more = value;
    call->more_tensor = tensor;
  }
  return value;
}

/* The type of a tensor, or of the tensor of rank 0 that a scalar is the element of. */
static SambaStatus readType(MlirType type, SambaTensorType *out) {
  *out = (SambaTensorType){.dtype = sambaDTypeFromType(type)};
  return out->dtype == SAMBA_DTYPE_COUNT ? sambaTensorTypeFromMlir(type, out) : NULL;
}

/* The call with its operands and the declared types of its results. */
static void readCall(SambaForeignCall *call) {
  MlirOperation operation = call->operation;
  call->operand_count = (uint32_t)mlirOperationGetNumOperands(operation);
  call->operands = SAMBA_ARENA_ARRAY(call->expansion.arena, uint32_t, call->operand_count + 1);
  call->tensors = SAMBA_ARENA_ARRAY(call->expansion.arena, MlirValue, call->operand_count + 1);
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    MlirValue operand = mlirOperationGetOperand(operation, i);
    MlirType type = mlirValueGetType(operand);
    SambaTensorType tensor;
    call->operands[i] = SAMBA_FOREIGN_NO_VALUE;
    call->tensors[i] = (MlirValue){NULL};
    if (!mlirTypeIsAShaped(type)) {
      call->operands[i] = readScalar(call, operand, &call->tensors[i]);
      continue;
    }
    SambaStatus status = sambaTensorTypeFromMlir(type, &tensor);
    if (status) {
      sambaForeignFail(call, sambaStatusAnnotate(status, "operand %u", i));
      continue;
    }
    call->operands[i] = sambaExpandOperand(&call->expansion, &tensor);
    call->tensors[i] = operand;
  }

  call->result_count = (uint32_t)mlirOperationGetNumResults(operation);
  for (uint32_t i = 0; i < call->result_count && i < SAMBA_MAX_RESULTS; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(operation, i));
    SambaStatus status = readType(type, &call->types[i]);
    if (status)
      sambaForeignFail(call, sambaStatusAnnotate(status, "result %u", i));
  }
}

/* What the converter wrote has the types that the operation declares. */
static void checkResults(SambaForeignCall *call) {
  for (uint32_t i = 0; !call->expansion.status && i < call->result_count; ++i) {
    SambaTensorType made = sambaForeignType(call, call->results[i]);
    const SambaTensorType *wanted = &call->types[i];
    char have[160], want[160];
    if (made.dtype != wanted->dtype || made.rank != wanted->rank ||
        memcmp(made.dims, wanted->dims, made.rank * sizeof *made.dims) != 0)
      sambaForeignFail(call, sambaStatusMake(SAMBA_INVALID,
                                             "result %u is %s by its operands, but %s is declared",
                                             i, sambaTensorTypeFormat(&made, have),
                                             sambaTensorTypeFormat(wanted, want)));
  }
}

/* Builds the steps before the operation, and lets the results take its place. */
static bool replaceOperation(SambaForeignCall *call) {
  MlirOperation operation = call->operation;
  MlirValue *values = sambaAllocate(sambaArraySize(call->expansion.types.size + 1, sizeof *values));
  bool fine = true;

  for (uint32_t i = 0; i < call->operand_count; ++i)
    if (!mlirValueIsNull(call->tensors[i]))
      values[call->operands[i]] = call->tensors[i];
  if (!mlirValueIsNull(call->more_tensor))
    values[call->more] = call->more_tensor;
  for (size_t s = 0; fine && s < call->expansion.steps.size; ++s)
    fine = sambaExpansionBuildStep(&call->expansion, s, operation,
                                   mlirOperationGetLocation(operation), 0, NULL, values);
  for (uint32_t i = 0; fine && i < call->result_count; ++i) {
    MlirValue old = mlirOperationGetResult(operation, i), made = values[call->results[i]];
    if (!mlirTypeIsAShaped(mlirValueGetType(old)))
      made = sambaForeignExtract(operation, mlirOperationGetLocation(operation), made);
    mlirValueReplaceAllUsesOfWith(old, made);
  }
  if (fine)
    mlirOperationDestroy(operation);
  free(values);
  return fine;
}

bool sambaForeignConvertOperation(MlirOperation operation, const SambaForeignRow *row) {
  SambaArena arena = {0};
  SambaForeignCall call = {.operation = operation,
                           .row = row,
                           .expansion = {.arena = &arena, .find = sambaOperatorFind}};
  readCall(&call);
  if (!call.expansion.status)
    row->convert(&call);
  checkResults(&call);

  SambaStatus status = call.expansion.status;
  call.expansion.status = NULL;
  bool fine = status ? sambaEmitOpStatus(operation, status) : replaceOperation(&call);
  sambaExpansionFree(&call.expansion);
  sambaArenaDestroy(&arena);
  return fine;
}

static const SambaForeignRow *findRow(MlirOperation operation, const SambaForeignRow *rows,
                                      size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (sambaOperationIs(operation, rows[i].name))
      return &rows[i];
  return NULL;
}

bool sambaForeignConvert(MlirOperation function, const SambaForeignRow *rows, size_t row_count) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  while (!mlirOperationIsNull(operation)) {
    MlirOperation next = mlirOperationGetNextInBlock(operation);
    const SambaForeignRow *row = findRow(operation, rows, row_count);
    if (row && !sambaForeignConvertOperation(operation, row))
      return false;
    operation = next;
  }
  return true;
}
