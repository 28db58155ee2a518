/* Operations of the table: seen as calls, inferred, verified, created; and how errors are emitted
 * at them. */
#include "dialect/samba/samba.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/*===-- Diagnostics ---------------------------------------------------------------------------===*/

/* "PREFIX message" at location. */
static bool emitStatus(MlirLocation location, const char *prefix, SambaStatus status) {
  SambaArena arena = {0};
  size_t count = sambaStatusGetNoteCount(status);
  MlirStringRef *notes = SAMBA_ARENA_ARRAY(&arena, MlirStringRef, count);
  for (size_t i = 0; i < count; ++i)
    notes[i] = mlirStringRefCreateFromCString(sambaStatusGetNote(status, i));

  const char *text =
      sambaArenaFormat(&arena, "%s%.*s", prefix, (int)sambaStatusGetHeadlineSize(status),
                       sambaStatusGetMessage(status));
  if (!mlirLocationIsNull(location))
    sambaDiagnose(location, MlirDiagnosticError, mlirStringRefCreateFromCString(text),
                  (intptr_t)count, notes);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return false;
}

bool sambaEmitOpStatus(MlirOperation op, SambaStatus status) {
  SambaArena arena = {0};
  const char *prefix =
      sambaArenaFormat(&arena, "'%.*s' op ", SAMBA_MLIR_STRING_ARGS(sambaOperationName(op)));
  emitStatus(mlirOperationGetLocation(op), prefix, status);
  sambaArenaDestroy(&arena);
  return false;
}

static char *formatText(const char *format, va_list arguments) {
  char *text = NULL;
  return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

bool sambaEmitOpError(MlirOperation op, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = formatText(format, arguments);
  va_end(arguments);
  sambaEmitOpStatus(op, sambaStatusMake(SAMBA_INVALID, "%s", text ? text : format));
  free(text);
  return false;
}

/*===-- Calls ---------------------------------------------------------------------------------===*/

static SambaStringRef mnemonicOf(MlirStringRef name) {
  static const char prefix[] = "samba.";
  if (name.length <= sizeof prefix - 1 || memcmp(name.data, prefix, sizeof prefix - 1))
    return (SambaStringRef){NULL, 0};
  return (SambaStringRef){name.data + sizeof prefix - 1, name.length - (sizeof prefix - 1)};
}

const SambaOperator *sambaOperatorOf(MlirOperation op) {
  SambaStringRef name = mnemonicOf(sambaOperationName(op));
  return name.size ? sambaOperatorFind(name) : NULL;
}

/* Attributes with a dot in their name belong to a dialect, not to the call. */
static SambaStatus makeCall(SambaArena *arena, const SambaOperator *operator, intptr_t count,
                            const MlirValue *operands, MlirAttribute dictionary,
                            SambaOperatorCall *out_call) {
  if (!operator)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has no row in the operator table");
  SambaTensorType *types = SAMBA_ARENA_ARRAY(arena, SambaTensorType, (size_t)count);

  for (intptr_t i = 0; i < count; ++i) {
    SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(operands[i]), &types[i]);
    if (status)
      return sambaStatusAnnotate(status, "operand %lld", (long long)i);
  }

  intptr_t size = mlirDictionaryAttrGetNumElements(dictionary);
  SambaAttribute *attributes = SAMBA_ARENA_ARRAY(arena, SambaAttribute, (size_t)size);
  uint32_t used = 0;

  for (intptr_t i = 0; i < size; ++i) {
    MlirNamedAttribute attribute = mlirDictionaryAttrGetElement(dictionary, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    if (!memchr(name.data, '.', name.length))
      SAMBA_RETURN_IF_ERROR(sambaAttributeFromMlir(arena, attribute, &attributes[used++]));
  }

  *out_call = (SambaOperatorCall){.operator = operator,
                                  .operand_count = (uint32_t)count,
                                  .operands = types,
                                  .attribute_count = used,
                                  .attributes = attributes};
  return NULL;
}

static SambaStatus callOfOperation(SambaArena *arena, const SambaOperator *operator,
                                   MlirOperation op, SambaOperatorCall *out_call) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirValue *operands = SAMBA_ARENA_ARRAY(arena, MlirValue, (size_t)count);
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  return makeCall(arena, operator, count, operands, sambaOperationAttributes(op), out_call);
}

SambaStatus sambaOperatorCallFromOperation(SambaArena *arena, MlirOperation op,
                                           SambaOperatorCall *out_call) {
  return callOfOperation(arena, sambaOperatorOf(op), op, out_call);
}

bool sambaInferOperator(const SambaOpHooks *hooks, const SambaInference *inference,
                        MlirType *out_types) {
  SambaArena arena = {0};
  SambaOperatorCall call;
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SambaStatus status = makeCall(&arena, hooks->data, inference->operand_count, inference->operands,
                                inference->attributes, &call);
  if (!status)
    status = sambaOperatorInfer(&call, results);
  if (status)
    emitStatus(inference->location,
               sambaArenaFormat(&arena, "'%.*s' op ", SAMBA_MLIR_STRING_ARGS(hooks->name)), status);
  else
    for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i)
      out_types[i] = sambaTensorTypeToMlir(inference->context, &results[i]);
  sambaArenaDestroy(&arena);

  return !status;
}

static SambaStatus checkResult(MlirOperation op, uint32_t i, const SambaTensorType *wanted) {
  SambaTensorType actual;
  SAMBA_RETURN_IF_ERROR(
      sambaTensorTypeFromMlir(mlirValueGetType(mlirOperationGetResult(op, i)), &actual));
  bool same = actual.rank == wanted->rank && actual.dtype == wanted->dtype;

  for (uint32_t axis = 0; same && axis < wanted->rank; ++axis)
    same = actual.dims[axis] == wanted->dims[axis];
  char make[160];
  char got[160];
  char number[16] = "";
  if (mlirOperationGetNumResults(op) > 1)
    snprintf(number, sizeof number, " %u", i);
  return same ? NULL
              : sambaStatusMake(
                    SAMBA_INVALID,
                    "result%s is tensor<%s>, but operands and attributes make tensor<%s>", number,
                    sambaTensorTypeFormat(&actual, got), sambaTensorTypeFormat(wanted, make));
}

bool sambaVerifyOperator(const SambaOpHooks *hooks, MlirOperation op) {
  SambaArena arena = {0};
  SambaOperatorCall call;
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SambaStatus status = callOfOperation(&arena, hooks->data, op, &call);
  if (!status)
    status = sambaOperatorInfer(&call, results);
  for (uint32_t i = 0; !status && i < hooks->result_count; ++i)
    status = checkResult(op, i, &results[i]);
  sambaArenaDestroy(&arena);
  return status ? sambaEmitOpStatus(op, status) : true;
}

MlirOperation sambaOperationCreate(const char *name, MlirLocation location, intptr_t operand_count,
                                   const MlirValue *operands, intptr_t attribute_count,
                                   const MlirNamedAttribute *attributes) {
  MlirOperationState state = mlirOperationStateGet(mlirStringRefCreateFromCString(name), location);
  mlirOperationStateAddOperands(&state, operand_count, operands);
  mlirOperationStateAddAttributes(&state, attribute_count, attributes);
  mlirOperationStateEnableResultTypeInference(&state);
  return mlirOperationCreate(&state);
}

/*===-- Constants -----------------------------------------------------------------------------===*/

bool sambaInferConstant(const SambaOpHooks *hooks, const SambaInference *inference,
                        MlirType *out_type) {
  MlirAttribute value = sambaDictionaryFind(inference->attributes, "value");
  SambaTensorType type;
  SambaStatus status =
      mlirAttributeIsNull(value) || !mlirAttributeIsAElements(value)
          ? sambaStatusMake(SAMBA_INVALID,
                            "attribute 'value' (a dense or dense_resource tensor) is missing")
          : sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type);
  SambaArena arena = {0};

  if (status)
    emitStatus(inference->location,
               sambaArenaFormat(&arena, "'%.*s' op ", SAMBA_MLIR_STRING_ARGS(hooks->name)), status);
  else
    *out_type = mlirAttributeGetType(value);
  sambaArenaDestroy(&arena);

  return !status;
}

bool sambaVerifyConstant(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute value = sambaOperationAttribute(op, "value");
  if (!mlirTypeEqual(mlirAttributeGetType(value), mlirValueGetType(mlirOperationGetResult(op, 0))))
    return sambaEmitOpError(op, "the result must have the type of attribute 'value'");
  return true;
}

bool sambaFoldConstant(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
                       MlirValue *out_value, MlirAttribute *out_constant) {
  (void)hooks, (void)constants, (void)out_value;
  *out_constant = sambaOperationAttribute(op, "value");
  return true;
}
