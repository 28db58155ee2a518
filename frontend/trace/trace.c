/* The graph builder; see trace.h. */
#include "frontend/trace/trace.h"

#include "dialect/registry/dialects.h"
#include "dialect/samba/samba.h"
#include "frontend/trace/trace_state.h"
#include "support/base/index.h"
#include "support/number/shape.h"
#include "support/text/escape.h"

#include "llvm-c/blake3.h"

#include <stdio.h>
#include <stdlib.h>

SambaTrace *sambaTraceCreateInContext(MlirContext context, const char *graph_name) {
  SambaTrace *trace = sambaAllocateZeroed(1, sizeof *trace);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  sambaRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("samba"));
  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("func"));
  trace->context = context;
  trace->name = sambaArenaFormat(&trace->arena, "%s", graph_name);
  trace->location = mlirLocationUnknownGet(context);
  trace->block = mlirBlockCreate(0, NULL, NULL);
  return trace;
}

void sambaTraceDestroy(SambaTrace *trace) {
  if (!trace)
    return;
  if (trace->block.ptr)
    mlirBlockDestroy(trace->block);
  sambaStringMapFree(&trace->names);
  sambaStringMapFree(&trace->rates);
  sambaArrayFree(&trace->arguments);
  sambaArrayFree(&trace->results);
  sambaArrayFree(&trace->optimizers);
  for (size_t i = 0; i < trace->tensors.size; ++i)
    sambaTensorRelease(trace->tensors.data[i].tensor);
  sambaArrayFree(&trace->tensors);
  sambaPointerMapFree(&trace->tensor_values);
  sambaArrayFree(&trace->lines);
  sambaArrayFree(&trace->line_layers);
  sambaArrayFree(&trace->constants);
  sambaStatusFree(trace->status);
  sambaArenaDestroy(&trace->arena);
  free(trace);
}

MlirContext sambaTraceContext(const SambaTrace *trace) { return trace->context; }
SambaArena *sambaTraceArena(SambaTrace *trace) { return &trace->arena; }
SambaStatus sambaTraceStatus(const SambaTrace *trace) { return trace->status; }

SambaTrace *sambaTraceValueGetTrace(const SambaTraceValue *value) { return value->trace; }
SambaDType sambaTraceValueGetDType(const SambaTraceValue *value) { return value->type.dtype; }
uint32_t sambaTraceValueGetRank(const SambaTraceValue *value) { return value->type.rank; }
const int64_t *sambaTraceValueGetDims(const SambaTraceValue *value) { return value->type.dims; }
SambaStringRef sambaTraceValueGetName(const SambaTraceValue *value) { return value->name; }
SambaStringRef sambaTraceValueGetKind(const SambaTraceValue *value) { return value->kind; }
SambaStringRef sambaTraceValueGetRegion(const SambaTraceValue *value) { return value->region; }
bool sambaTraceValueGetRequiresGrad(const SambaTraceValue *value) { return value->requires_grad; }
uint32_t sambaTraceValueGetId(const SambaTraceValue *value) { return value->id; }

void sambaTraceFail(SambaTrace *trace, SambaStatus status) {
  if (trace->status)
    sambaStatusFree(status);
  else
    trace->status = status;
}

void sambaTraceSetLayer(SambaTrace *trace, SambaStringRef name, const char *file, unsigned line) {
  MlirLocation place = file ? mlirLocationFileLineColGet(
                                  trace->context, mlirStringRefCreateFromCString(file), line, 0)
                            : mlirLocationUnknownGet(trace->context);
  trace->layer = sambaStringRefCopy(&trace->arena, name);
  trace->location =
      name.size ? mlirLocationNameGet(trace->context, sambaToMlir(name), place) : place;
}

/* Names are unique over arguments and results; an empty or taken one gets _N. */
static SambaStringRef uniqueName(SambaTrace *trace, SambaStringRef wanted, const char *otherwise) {
  SambaStringRef base =
      wanted.size ? sambaStringRefCopy(&trace->arena, wanted) : sambaStringRef(otherwise);
  SambaStringRef name = base;
  uint32_t present = 0;
  if (wanted.size && sambaStringMapInsert(&trace->names, name, 0, &present))
    return name;
  for (uint32_t n = present;; ++n) {
    char *text = sambaArenaAllocate(&trace->arena, base.size + 16);
    memcpy(text, base.data, base.size);
    name = (SambaStringRef){text, base.size + (size_t)snprintf(text + base.size, 16, "_%u", n)};
    if (sambaStringMapInsert(&trace->names, name, 0, NULL))
      return name;
  }
}

static SambaTraceValue *newTensor(SambaTrace *trace, MlirValue value, const SambaTensorType *type) {
  SambaTraceValue *tensor = SAMBA_ARENA_NEW(&trace->arena, SambaTraceValue);
  tensor->trace = trace;
  tensor->value = value;
  tensor->type = *type;
  tensor->id = trace->next_id++;
  tensor->argument = SAMBA_NO_INDEX;
  return tensor;
}

static MlirNamedAttribute textAttribute(SambaTrace *trace, const char *name, SambaStringRef text) {
  return sambaNamedAttribute(trace->context, name,
                             mlirStringAttrGet(trace->context, sambaToMlir(text)));
}

static SambaStatus checkType(const SambaTensorType *type) {
  int64_t elements = 1;
  if ((unsigned)type->dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "has elements of type %s, which no device has; expected f32, bf16, f16, "
                           "i1, i8, ui8, i16, i32 or i64",
                           sambaDTypeName(type->dtype));
  if (type->rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has rank %u, but tensors have rank %d at most",
                           type->rank, SAMBA_MAX_RANK);
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    if (type->dims[axis] < 0 || type->dims[axis] >= (int64_t)1 << 48 ||
        sambaMulOverflows(elements, type->dims[axis], &elements) || elements >= (int64_t)1 << 48)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "dimension %u is %lld; dimensions must not be negative, tensors less than 2^48 elements",
          axis, (long long)type->dims[axis]);
  return NULL;
}

/* The attribute samba.value: a range of a file, numbers, or null when the argument has no data. */
static MlirAttribute argumentData(SambaTrace *trace, const SambaArgument *argument,
                                  MlirLocation location) {
  if (!argument->file)
    return argument->data
               ? sambaDenseAttribute(trace->context, &argument->type, argument->data, false)
               : mlirAttributeGetNull();

  int64_t bytes = sambaShapeElements(argument->type.rank, argument->type.dims) *
                  (int64_t)sambaDTypeBytes(argument->type.dtype);
  MlirType i64 = mlirIntegerTypeGet(trace->context, 64);
  MlirNamedAttribute range[] = {
      sambaNamedAttribute(trace->context, "bytes", mlirIntegerAttrGet(i64, bytes)),
      sambaNamedAttribute(trace->context, "offset",
                          mlirIntegerAttrGet(i64, (int64_t)argument->file_offset))};
  return sambaAttributeGet(location, SAMBA_EXTERNAL_KIND,
                           mlirStringRefCreateFromCString(argument->file),
                           mlirDictionaryAttrGet(trace->context, 2, range));
}

/* The attribute samba.argin, or null. */
static MlirAttribute arginAttribute(SambaTrace *trace, SambaDType dtype,
                                    const SambaTraceArgin *argin, MlirLocation location) {
  MlirContext context = trace->context;
  MlirType f64 = mlirF64TypeGet(context);
  if (!argin)
    return mlirAttributeGetNull();

  MlirAttribute value =
      sambaDTypeIsFloat(dtype)
          ? mlirFloatAttrDoubleGet(context, f64, argin->value)
          : mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), (int64_t)argin->value);
  MlirNamedAttribute entries[5] = {
      textAttribute(trace, "kind", sambaStringRef(argin->kind)),
      textAttribute(trace, "group", sambaStringRef(argin->group)),
      sambaNamedAttribute(context, "default", value),
      sambaNamedAttribute(context, "min", mlirFloatAttrDoubleGet(context, f64, argin->least)),
      sambaNamedAttribute(context, "max", mlirFloatAttrDoubleGet(context, f64, argin->most))};
  bool bounded = argin->most > argin->least;
  return sambaAttributeGet(location, SAMBA_ARGIN_KIND, mlirStringRefCreateFromCString(""),
                           mlirDictionaryAttrGet(context, bounded ? 5 : 3, entries));
}

SambaTraceValue *sambaTraceArgument(SambaTrace *trace, const SambaArgument *argument) {
  if (trace->status)
    return NULL;
  const char *kind = argument->kind ? argument->kind : "input";
  SambaStringRef name = uniqueName(trace, argument->name, kind);
  SambaStringRef shown = sambaStringEscape(&trace->arena, name);
  SambaStatus status = checkType(&argument->type);

  if (status) {
    sambaTraceFail(trace, sambaStatusAnnotate(status, "%s %.*s", kind, SAMBA_STRING_ARGS(shown)));
    return NULL;
  }

  MlirLocation location = mlirLocationNameGet(trace->context, sambaToMlir(name),
                                              mlirLocationUnknownGet(trace->context));
  MlirValue value = mlirBlockAddArgument(
      trace->block, sambaTensorTypeToMlir(trace->context, &argument->type), location);
  SambaTraceValue *tensor = newTensor(trace, value, &argument->type);

  tensor->name = name;
  tensor->kind = sambaStringRefCopy(&trace->arena, sambaStringRef(kind));
  tensor->region = name;
  if (argument->region.size)
    tensor->region = sambaStringRefCopy(&trace->arena, argument->region);
  if (argument->memory)
    tensor->memory = sambaStringRefCopy(&trace->arena, sambaStringRef(argument->memory));
  tensor->requires_grad = argument->requires_grad;

  SambaTraceArgumentState state = {
      .tensor = tensor,
      .data = argumentData(trace, argument, location),
      .argin = arginAttribute(trace, argument->type.dtype, argument->argin, location),
      .has_region = argument->region.size > 0,
      .optimizer = SAMBA_NO_INDEX,
      .line = SAMBA_NO_INDEX};
  tensor->argument = (uint32_t)trace->arguments.size;
  sambaTraceRecordArgument(trace, &state);
  sambaArrayAppend(&trace->arguments, state);
  return tensor;
}

static SambaArgument simpleArgument(const char *kind, const char *name, SambaDType dtype,
                                    uint32_t rank, const int64_t *dims) {
  SambaArgument argument = {
      .name = sambaStringRef(name), .kind = kind, .type = {.dtype = dtype, .rank = rank}};
  if (rank <= SAMBA_MAX_RANK && rank)
    memcpy(argument.type.dims, dims, rank * sizeof *dims);
  return argument;
}

SambaTraceValue *sambaTraceInput(SambaTrace *trace, const char *name, SambaDType dtype,
                                 uint32_t rank, const int64_t *dims) {
  SambaArgument argument = simpleArgument("input", name, dtype, rank, dims);
  return sambaTraceArgument(trace, &argument);
}

SambaTraceValue *sambaTraceParameter(SambaTrace *trace, const char *name, SambaDType dtype,
                                     uint32_t rank, const int64_t *dims, const void *data) {
  SambaArgument argument = simpleArgument("weight", name, dtype, rank, dims);
  argument.data = data;
  return sambaTraceArgument(trace, &argument);
}

SambaTraceValue *sambaTraceParameterFile(SambaTrace *trace, const char *name, SambaDType dtype,
                                         uint32_t rank, const int64_t *dims, const char *file,
                                         uint64_t offset) {
  SambaArgument argument = simpleArgument("weight", name, dtype, rank, dims);
  argument.file = file;
  argument.file_offset = offset;
  return sambaTraceArgument(trace, &argument);
}

SambaTraceValue *sambaTraceConstant(SambaTrace *trace, const SambaTensorType *type,
                                    const void *data, bool splat) {
  if (trace->status)
    return NULL;
  SambaStatus status = checkType(type);

  if (status) {
    sambaTraceFail(trace, sambaStatusAnnotate(status, "constant"));
    return NULL;
  }

  MlirNamedAttribute value = sambaNamedAttribute(
      trace->context, "value", sambaDenseAttribute(trace->context, type, data, splat));
  MlirType result = sambaTensorTypeToMlir(trace->context, type);
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("samba.constant"), trace->location);
  mlirOperationStateAddAttributes(&state, 1, &value);
  mlirOperationStateAddResults(&state, 1, &result);
  MlirOperation operation = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(trace->block, operation);
  SambaTraceValue *tensor = newTensor(trace, mlirOperationGetResult(operation, 0), type);
  sambaTraceRecordConstant(trace, tensor, data, splat);
  return tensor;
}

SambaTraceValue *sambaTraceScalar(SambaTrace *trace, SambaDType dtype, double value) {
  SambaTensorType type = {.dtype = dtype};
  uint64_t bits = sambaDTypeBitsOfNumber(dtype, value);
  return sambaTraceConstant(trace, &type, &bits, true);
}

void sambaTraceKeepPrecision(SambaTrace *trace, bool keep) { trace->keep_precision = keep; }

static SambaStatus annotate(const SambaTrace *trace, const char *name, SambaStatus status) {
  if (trace->layer.size)
    return sambaStatusAnnotate(status, "%s (layer %.*s)", name, SAMBA_STRING_ARGS(trace->layer));
  return sambaStatusAnnotate(status, "%s", name);
}

SambaStatus sambaTraceOperator(SambaTrace *trace, const char *name, uint32_t operand_count,
                               SambaTraceValue *const *operands, uint32_t attribute_count,
                               const SambaAttribute *attributes, SambaTraceValue **out_results) {
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(name)),
                            .operand_count = operand_count,
                            .attribute_count = attribute_count,
                            .attributes = attributes};
  if (!call.operator)
    return annotate(trace, name, sambaStatusMake(SAMBA_UNSUPPORTED, "there is no such operator"));
  SambaTensorType *types =
      sambaAllocateZeroed(operand_count + sambaOperatorResults(call.operator), sizeof *types);
  SambaTensorType *results = types + operand_count;
  MlirValue *values = sambaAllocateZeroed(operand_count + 1, sizeof *values);
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < operand_count && !status; ++i) {
    if (!operands[i] || operands[i]->trace != trace)
      status = sambaStatusMake(SAMBA_INVALID, "operand %u is %s", i,
                               operands[i] ? "a tensor of another trace" : "missing");
    else
      types[i] = operands[i]->type, values[i] = operands[i]->value;
  }

  call.operands = types;
  if (!status)
    status = sambaOperatorInfer(&call, results);
  if (!status) {
    MlirOperationState state = mlirOperationStateGet(
        mlirStringRefCreateFromCString(sambaArenaFormat(&trace->arena, "samba.%s", name)),
        trace->location);
    mlirOperationStateAddOperands(&state, operand_count, values);
    for (uint32_t i = 0; i < attribute_count; ++i) {
      MlirNamedAttribute attribute =
          mlirNamedAttributeGet(mlirIdentifierGet(trace->context, sambaToMlir(attributes[i].name)),
                                sambaAttributeToMlir(trace->context, &attributes[i]));
      mlirOperationStateAddAttributes(&state, 1, &attribute);
    }

    if (trace->keep_precision) {
      MlirNamedAttribute keep = sambaNamedAttribute(trace->context, SAMBA_KEEP_PRECISION_ATTRIBUTE,
                                                    mlirBoolAttrGet(trace->context, false));
      mlirOperationStateAddAttributes(&state, 1, &keep);
    }

    for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i) {
      MlirType type = sambaTensorTypeToMlir(trace->context, &results[i]);
      mlirOperationStateAddResults(&state, 1, &type);
    }

    MlirOperation operation = mlirOperationCreate(&state);
    mlirBlockAppendOwnedOperation(trace->block, operation);
    for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i)
      out_results[i] = newTensor(trace, mlirOperationGetResult(operation, i), &results[i]);
    sambaTraceRecordCall(trace, &call, operands, out_results);
  }

  free(types);
  free(values);
  return status ? annotate(trace, name, status) : NULL;
}

SambaTraceValue *sambaTraceCall(SambaTrace *trace, const char *name, uint32_t operand_count,
                                SambaTraceValue *const *operands, uint32_t attribute_count,
                                const SambaAttribute *attributes) {
  if (!trace || trace->status)
    return NULL;
  while (operand_count && !operands[operand_count - 1])
    --operand_count;
  SambaTraceValue *result = NULL;
  SambaStatus status = sambaTraceOperator(trace, name, operand_count, operands, attribute_count,
                                          attributes, &result);
  if (status)
    sambaTraceFail(trace, status);
  return status ? NULL : result;
}

SambaTraceValue *sambaTraceBuild(const char *name, uint32_t required, uint32_t operand_count,
                                 SambaTraceValue *const *operands, uint32_t attribute_count,
                                 const SambaAttribute *attributes) {
  for (uint32_t i = 0; i < required; ++i)
    if (!operands[i])
      return NULL;
  return sambaTraceCall(operands[0]->trace, name, operand_count, operands, attribute_count,
                        attributes);
}

void sambaTraceAddResult(SambaTrace *trace, SambaStringRef name, const char *kind,
                         SambaStringRef region, SambaTraceValue *tensor) {
  SambaTraceResultState result = {.tensor = tensor,
                                  .name = name,
                                  .kind = sambaStringRefCopy(&trace->arena, sambaStringRef(kind)),
                                  .region = region.size ? sambaStringRefCopy(&trace->arena, region)
                                                        : (SambaStringRef){0},
                                  .line = SAMBA_NO_INDEX};
  sambaTraceRecordResult(trace, &result);
  sambaArrayAppend(&trace->results, result);
}

void sambaTraceResult(SambaTrace *trace, SambaStringRef name, const char *kind,
                      SambaStringRef region, SambaTraceValue *tensor) {
  if (trace->status)
    return;
  if (!tensor) {
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID, "result %zu of graph %s is missing",
                                          trace->results.size, trace->name));
    return;
  }
  sambaTraceAddResult(trace, uniqueName(trace, name, kind), kind, region, tensor);
}

void sambaTraceOutput(SambaTrace *trace, const char *name, SambaTraceValue *tensor) {
  sambaTraceResult(trace, sambaStringRef(name), "output", (SambaStringRef){0}, tensor);
}

const SambaTraceRecord *sambaTraceGetRecord(SambaTrace *trace) {
  trace->record = (SambaTraceRecord){.line_count = (uint32_t)trace->lines.size,
                                     .lines = trace->lines.data,
                                     .layers = trace->line_layers.data};
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  for (size_t i = 0; i < trace->lines.size; ++i) {
    llvm_blake3_hasher_update(&hasher, trace->lines.data[i], strlen(trace->lines.data[i]));
    llvm_blake3_hasher_update(&hasher, "\n", 1);
  }
  llvm_blake3_hasher_finalize(&hasher, trace->record.digest, sizeof trace->record.digest);
  return &trace->record;
}

void sambaTraceNameConstant(SambaTrace *trace, SambaStringRef name) {
  sambaArrayAppend(&trace->constants, sambaStringRefCopy(&trace->arena, name).data);
}
