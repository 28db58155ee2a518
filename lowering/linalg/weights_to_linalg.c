/* The data of a graph's arguments, in the module; see weights_to_linalg.h. */
#include "lowering/linalg/weights_to_linalg.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/file/input_file.h"
#include "support/file/path.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <unistd.h>

/*===-- Data ----------------------------------------------------------------------------------===*/

static int64_t entryOf(MlirAttribute dictionary, const char *name, int64_t otherwise) {
  MlirAttribute entry = mlirDictionaryAttrGetElementByName(dictionary, sambaMlirString(name));
  return mlirAttributeIsNull(entry) ? otherwise : mlirIntegerAttrGetValueInt(entry);
}

/* A range of a file as dense elements. */
static SambaStatus readExternal(MlirContext context, MlirAttribute value,
                                const SambaTensorType *type, const SambaWeightsOptions *options,
                                MlirAttribute *out_elements) {
  SambaArena arena = {0};
  MlirAttribute body = sambaAttributeBody(value);
  const char *path = sambaPathJoin(&arena, sambaStringRef(options->folder),
                                   sambaFromMlir(sambaAttributeHead(value)));
  int64_t bytes = sambaDTypeBytes(type->dtype);
  for (uint32_t a = 0; a < type->rank; ++a)
    bytes *= type->dims[a];
  int64_t offset = entryOf(body, "offset", 0); /* as many bytes as the type has: the verifier */
  uint64_t size;
  uint8_t *data = NULL;
  int fd;
  SambaStatus status = sambaInputFileOpenInside(options->data_folder, path, &fd, &size);

  if (!status) {
    if ((uint64_t)offset > size || (uint64_t)bytes > size - (uint64_t)offset ||
        lseek(fd, offset, SEEK_SET) != offset)
      status = sambaStatusMake(SAMBA_INVALID, "%s: ends before byte %lld, where its data end", path,
                               (long long)(offset + bytes));
    else
      status = sambaInputFileRead(fd, path, (uint64_t)bytes, &data);
    close(fd);
  }
  if (!status)
    *out_elements = sambaDenseAttribute(context, type, data, false);
  free(data);
  sambaArenaDestroy(&arena);
  return status;
}

/* The elements of samba.value, in the argument's type. */
static SambaStatus elementsOf(MlirValue argument, MlirAttribute value,
                              const SambaWeightsOptions *options, MlirAttribute *out_elements) {
  MlirContext context = mlirTypeGetContext(mlirValueGetType(argument));
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(argument), &type));
  if (type.dtype == SAMBA_DTYPE_UI8)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "its data are ui8, of which arith has no constants; "
                                              "leave weights as arguments");
  if (sambaAttributeIs(value, SAMBA_EXTERNAL_KIND))
    return readExternal(context, value, &type, options, out_elements);
  if (!mlirAttributeIsAElements(value))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "its data are computed from others "
                                              "(#samba.derived); leave weights as arguments");
  *out_elements = value;
  return NULL;
}

/*===-- Constants and globals -----------------------------------------------------------------===*/

static MlirValue buildLoad(MlirOperation before, MlirLocation location, const char *name,
                           MlirType type, MlirNamedAttribute attribute) {
  SambaOperationParts parts = {.name = name,
                               .location = location,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 1,
                               .attributes = &attribute};
  return mlirOperationGetResult(
      sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts), 0);
}

/* A symbol of the module that none is yet: the name, or with a number behind. */
static MlirAttribute freeSymbol(MlirOperation function, SambaStringRef name) {
  MlirContext context = mlirOperationGetContext(function);
  MlirOperation module = mlirOperationGetParentOperation(function);
  SambaArena arena = {0};
  const char *text = sambaStringRefCopy(&arena, name).data;
  for (unsigned number = 1;; ++number) {
    bool taken = false;
    for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
         !mlirOperationIsNull(operation) && !taken;
         operation = mlirOperationGetNextInBlock(operation)) {
      MlirAttribute symbol = sambaOperationAttribute(operation, "sym_name");
      taken = !mlirAttributeIsNull(symbol) &&
              sambaStringRefEqualC(sambaFromMlir(mlirStringAttrGetValue(symbol)), text);
    }
    if (!taken)
      break;
    text = sambaArenaFormat(&arena, "%.*s_%u", SAMBA_STRING_ARGS(name), number);
  }
  MlirAttribute symbol = mlirStringAttrGet(context, sambaMlirString(text));
  sambaArenaDestroy(&arena);
  return symbol;
}

/* ml_program.global in front of the function; a load of it in the function. One-shot bufferization
 * knows global_load alone, not global_load_const. */
static MlirValue buildGlobal(MlirOperation function, MlirOperation before, MlirLocation location,
                             SambaStringRef name, MlirType type, MlirAttribute elements) {
  MlirContext context = mlirOperationGetContext(function);
  MlirAttribute symbol = freeSymbol(function, name);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "sym_name", symbol),
      sambaNamedAttribute(context, "type", mlirTypeAttrGet(type)),
      sambaNamedAttribute(context, "value", elements),
      sambaNamedAttribute(context, "sym_visibility",
                          mlirStringAttrGet(context, sambaMlirString("private")))};
  SambaOperationParts parts = {.name = "ml_program.global",
                               .location = location,
                               .attribute_count = 4,
                               .attributes = attributes};
  sambaBuildOperationIn(mlirOperationGetBlock(function), function, &parts);
  MlirNamedAttribute global = sambaNamedAttribute(
      context, "global", mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(symbol)));
  return buildLoad(before, location, "ml_program.global_load", type, global);
}

/*===-- Arguments -----------------------------------------------------------------------------===*/

static MlirAttribute attributesOf(MlirOperation function, intptr_t argument) {
  MlirAttribute all = sambaOperationAttribute(function, "arg_attrs");
  return mlirAttributeIsNull(all) || argument >= mlirArrayAttrGetNumElements(all)
             ? mlirDictionaryAttrGet(mlirOperationGetContext(function), 0, NULL)
             : mlirArrayAttrGetElement(all, argument);
}

/* The function's type and attributes of arguments without one of them. */
static void dropArgument(MlirOperation function, intptr_t dropped) {
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock body = sambaBodyOf(function);
  MlirType type = mlirTypeAttrGetValue(sambaOperationAttribute(function, "function_type"));
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), kept = 0;
  intptr_t results = mlirFunctionTypeGetNumResults(type);
  SambaArena arena = {0};
  MlirType *types = SAMBA_ARENA_ARRAY(&arena, MlirType, (size_t)(inputs + results));
  MlirAttribute *attributes = SAMBA_ARENA_ARRAY(&arena, MlirAttribute, (size_t)inputs);
  for (intptr_t i = 0; i < inputs; ++i) {
    if (i == dropped)
      continue;
    attributes[kept] = attributesOf(function, i);
    types[kept++] = mlirFunctionTypeGetInput(type, i);
  }
  for (intptr_t i = 0; i < results; ++i)
    types[kept + i] = mlirFunctionTypeGetResult(type, i);

  mlirBlockEraseArgument(body, (unsigned)dropped);
  MlirType changed = mlirFunctionTypeGet(context, kept, types, results, types + kept);
  mlirOperationSetAttributeByName(function, sambaMlirString("function_type"),
                                  mlirTypeAttrGet(changed));
  mlirOperationSetAttributeByName(function, sambaMlirString("arg_attrs"),
                                  mlirArrayAttrGet(context, kept, attributes));
  sambaArenaDestroy(&arena);
}

bool sambaWeightsToLinalg(MlirOperation function, const SambaWeightsOptions *options) {
  MlirBlock body = sambaBodyOf(function);
  MlirOperation first = mlirBlockGetFirstOperation(body);
  if (options->form == SAMBA_WEIGHTS_ARGUMENTS)
    return true;

  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body);) {
    MlirAttribute attributes = attributesOf(function, i), elements;
    MlirAttribute value = sambaDictionaryFind(attributes, SAMBA_VALUE_ATTRIBUTE);
    MlirAttribute named = sambaDictionaryFind(attributes, SAMBA_NAME_ATTRIBUTE);
    MlirValue argument = mlirBlockGetArgument(body, i);
    SambaStringRef name = mlirAttributeIsNull(named) ? sambaStringRef("weight")
                                                     : sambaFromMlir(mlirStringAttrGetValue(named));
    if (mlirAttributeIsNull(value)) {
      ++i;
      continue;
    }
    SambaStatus status = elementsOf(argument, value, options, &elements);
    if (status)
      return sambaEmitOpStatus(
          function, sambaStatusAnnotate(status, "argument '%.*s'", SAMBA_STRING_ARGS(name)));
    MlirType type = mlirValueGetType(argument);
    MlirLocation location = mlirOperationGetLocation(first);
    MlirNamedAttribute constant =
        sambaNamedAttribute(mlirOperationGetContext(function), "value", elements);
    MlirValue made = options->form == SAMBA_WEIGHTS_CONSTANTS
                         ? buildLoad(first, location, "arith.constant", type, constant)
                         : buildGlobal(function, first, location, name, type, elements);
    mlirValueReplaceAllUsesOfWith(argument, made);
    dropArgument(function, i);
  }
  return true;
}
