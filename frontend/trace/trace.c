/* The graph builder; see trace.h. */
#include "frontend/trace/trace.h"

#include "dialect/registry/dialects.h"
#include "dialect/samba/samba.h"
#include "support/container/string_map.h"
#include "support/text/escape.h"

#include "support/number/shape.h"
#include "llvm-c/blake3.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct SambaTrace {
  MlirContext context;
  SambaArena arena;
  SambaStatus status;
  const char *name;
  MlirBlock block; /* null once finished */
  MlirLocation location;
  SambaStringRef layer;
  bool keep_precision;
  uint32_t next_id;
  SambaStringMap names; /* of arguments and results */
  SAMBA_ARRAY(MlirAttribute) argument_attributes;
  SAMBA_ARRAY(MlirAttribute) result_attributes;
  SAMBA_ARRAY(MlirValue) results;
  SAMBA_ARRAY(SambaTensor *) owners; /* tensors whose storage we release */
  SambaStrings lines, line_layers;   /* of the record */
};

SambaTrace *sambaTraceCreate(MlirContext context, const char *graph_name) {
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
  for (size_t i = 0; i < trace->owners.size; ++i) {
    const SambaStorage *storage = &trace->owners.data[i]->storage;
    if (storage->kind == SAMBA_STORAGE_OWNED && storage->release)
      storage->release(storage->data, storage->user_data);
  }

  if (trace->block.ptr)
    mlirBlockDestroy(trace->block);
  sambaStringMapFree(&trace->names);
  sambaArrayFree(&trace->argument_attributes);
  sambaArrayFree(&trace->result_attributes);
  sambaArrayFree(&trace->results);
  sambaArrayFree(&trace->owners);
  sambaArrayFree(&trace->lines);
  sambaArrayFree(&trace->line_layers);
  sambaStatusFree(trace->status);
  sambaArenaDestroy(&trace->arena);
  free(trace);
}

void sambaTensorSetStorage(SambaTensor *tensor, const SambaStorage *storage) {
  tensor->storage = *storage;
  if (storage->kind == SAMBA_STORAGE_OWNED && storage->release)
    sambaArrayAppend(&tensor->trace->owners, tensor);
}

MlirContext sambaTraceContext(const SambaTrace *trace) { return trace->context; }
SambaArena *sambaTraceArena(SambaTrace *trace) { return &trace->arena; }
SambaStatus sambaTraceStatus(const SambaTrace *trace) { return trace->status; }

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

static void record(SambaTrace *trace, const char *line) {
  sambaArrayAppend(&trace->lines, line);
  sambaArrayAppend(&trace->line_layers, trace->layer.size ? trace->layer.data : "");
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

static SambaTensor *newTensor(SambaTrace *trace, MlirValue value, const SambaTensorType *type) {
  SambaTensor *tensor = SAMBA_ARENA_NEW(&trace->arena, SambaTensor);
  tensor->trace = trace;
  tensor->value = value;
  tensor->type = *type;
  tensor->id = trace->next_id++;
  return tensor;
}

static MlirNamedAttribute textAttribute(SambaTrace *trace, const char *name, SambaStringRef text) {
  return sambaNamedAttribute(trace->context, name,
                             mlirStringAttrGet(trace->context, sambaToMlir(text)));
}

static SambaStatus checkType(const SambaTensorType *type) {
  int64_t elements = 1;
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

/* The dictionary of the function's argument that the tensor is. */
static MlirAttribute argumentAttributes(SambaTrace *trace, const SambaArgument *argument,
                                        const SambaTensor *tensor, MlirAttribute data) {
  MlirNamedAttribute attributes[6];
  intptr_t count = 0;

  attributes[count++] = textAttribute(trace, SAMBA_NAME_ATTRIBUTE, tensor->name);
  attributes[count++] = textAttribute(trace, SAMBA_KIND_ATTRIBUTE, tensor->kind);
  if (argument->region.size)
    attributes[count++] = textAttribute(trace, SAMBA_REGION_ATTRIBUTE, tensor->region);
  if (tensor->memory.size)
    attributes[count++] = textAttribute(trace, SAMBA_MEMORY_ATTRIBUTE, tensor->memory);
  if (argument->requires_grad)
    attributes[count++] = sambaNamedAttribute(trace->context, SAMBA_REQUIRES_GRAD_ATTRIBUTE,
                                              mlirBoolAttrGet(trace->context, 1));
  if (!mlirAttributeIsNull(data))
    attributes[count++] = sambaNamedAttribute(trace->context, SAMBA_VALUE_ATTRIBUTE, data);
  return mlirDictionaryAttrGet(trace->context, count, attributes);
}

/* "%3 = weight "w" : 4x4xf32 region "shared" requires_grad"; a region of its own is not told. */
static void recordArgument(SambaTrace *trace, const SambaTensor *tensor, const char *kind,
                           SambaStringRef shown) {
  char type[160];
  const char *line =
      sambaArenaFormat(&trace->arena, "%%%u = %s %.*s : %s", tensor->id, kind,
                       SAMBA_STRING_ARGS(shown), sambaTensorTypeFormat(&tensor->type, type));
  if (tensor->region.size && !sambaStringRefEqual(tensor->region, tensor->name)) {
    SambaStringRef region = sambaStringEscape(&trace->arena, tensor->region);
    line = sambaArenaFormat(&trace->arena, "%s region %.*s", line, SAMBA_STRING_ARGS(region));
  }
  if (tensor->requires_grad)
    line = sambaArenaFormat(&trace->arena, "%s requires_grad", line);
  record(trace, line);
}

SambaTensor *sambaTraceArgument(SambaTrace *trace, const SambaArgument *argument) {
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
  SambaTensor *tensor = newTensor(trace, value, &argument->type);

  tensor->name = name;
  tensor->kind = sambaStringRefCopy(&trace->arena, sambaStringRef(kind));
  tensor->region = name;
  if (argument->region.size)
    tensor->region = sambaStringRefCopy(&trace->arena, argument->region);
  if (argument->memory)
    tensor->memory = sambaStringRefCopy(&trace->arena, sambaStringRef(argument->memory));
  tensor->requires_grad = argument->requires_grad;
  if (!argument->file && argument->data)
    tensor->storage =
        (SambaStorage){.kind = SAMBA_STORAGE_BORROWED, .data = (void *)(uintptr_t)argument->data};

  MlirAttribute data = argumentData(trace, argument, location);
  sambaArrayAppend(&trace->argument_attributes, argumentAttributes(trace, argument, tensor, data));
  recordArgument(trace, tensor, kind, shown);
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

SambaTensor *sambaTraceInput(SambaTrace *trace, const char *name, SambaDType dtype, uint32_t rank,
                             const int64_t *dims) {
  SambaArgument argument = simpleArgument("input", name, dtype, rank, dims);
  return sambaTraceArgument(trace, &argument);
}

SambaTensor *sambaTraceParameter(SambaTrace *trace, const char *name, SambaDType dtype,
                                 uint32_t rank, const int64_t *dims, const void *data) {
  SambaArgument argument = simpleArgument("weight", name, dtype, rank, dims);
  argument.data = data;
  return sambaTraceArgument(trace, &argument);
}

SambaTensor *sambaTraceParameterFile(SambaTrace *trace, const char *name, SambaDType dtype,
                                     uint32_t rank, const int64_t *dims, const char *file,
                                     uint64_t offset) {
  SambaArgument argument = simpleArgument("weight", name, dtype, rank, dims);
  argument.file = file;
  argument.file_offset = offset;
  return sambaTraceArgument(trace, &argument);
}

/* One number belongs to the graph: x * 2 is another model than x * 3. Tables are data. */
static void recordConstant(SambaTrace *trace, const SambaTensor *tensor, const void *data,
                           bool splat) {
  char type[160], number[40] = "";
  if (splat && sambaDTypeIsFloat(tensor->type.dtype)) {
    float value = sambaLoadFloat(tensor->type.dtype, data, 0);
    snprintf(number, sizeof number, " %.9g", (double)value);
  } else if (splat) {
    int64_t value = 0;
    memcpy(&value, data, sambaDTypeBytes(tensor->type.dtype));
    snprintf(number, sizeof number, " %lld", (long long)value);
  }
  record(trace, sambaArenaFormat(&trace->arena, "%%%u = constant%s : %s", tensor->id, number,
                                 sambaTensorTypeFormat(&tensor->type, type)));
}

SambaTensor *sambaTraceConstant(SambaTrace *trace, const SambaTensorType *type, const void *data,
                                bool splat) {
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
  SambaTensor *tensor = newTensor(trace, mlirOperationGetResult(operation, 0), type);
  recordConstant(trace, tensor, data, splat);
  return tensor;
}

SambaTensor *sambaTraceScalar(SambaTrace *trace, SambaDType dtype, double value) {
  SambaTensorType type = {.dtype = dtype};
  uint64_t bits = sambaDTypeBitsOfNumber(dtype, value);
  return sambaTraceConstant(trace, &type, &bits, true);
}

void sambaTraceKeepPrecision(SambaTrace *trace, bool keep) { trace->keep_precision = keep; }

typedef struct {
  char *data;
  size_t size, capacity;
} Text;

static void __attribute__((format(printf, 2, 3))) append(Text *text, const char *format, ...) {
  va_list arguments;
  for (;;) {
    va_start(arguments, format);
    int length = vsnprintf(text->data ? text->data + text->size : NULL, text->capacity - text->size,
                           format, arguments);
    va_end(arguments);
    if (text->data && (size_t)length < text->capacity - text->size) {
      text->size += (size_t)length;
      return;
    }
    text->capacity = 2 * text->capacity + (size_t)length + 64;
    text->data = sambaReallocate(text->data, text->capacity, 1);
  }
}

static void appendAttribute(Text *text, const SambaAttribute *attribute) {
  append(text, "%.*s = ", SAMBA_STRING_ARGS(attribute->name));
  switch (attribute->kind) {
  case SAMBA_ATTRIBUTE_INT:
  case SAMBA_ATTRIBUTE_BOOL:
    append(text, "%lld", (long long)attribute->value.integer);
    break;
  case SAMBA_ATTRIBUTE_FLOAT:
    append(text, "%.17g", attribute->value.real);
    break;
  case SAMBA_ATTRIBUTE_INTS:
    for (size_t i = 0; i < attribute->value.integers.size; ++i)
      append(text, "%s%lld", i ? " " : "[", (long long)attribute->value.integers.data[i]);
    append(text, attribute->value.integers.size ? "]" : "[]");
    break;
  case SAMBA_ATTRIBUTE_FLOATS:
    for (size_t i = 0; i < attribute->value.reals.size; ++i)
      append(text, "%s%.17g", i ? " " : "[", attribute->value.reals.data[i]);
    append(text, attribute->value.reals.size ? "]" : "[]");
    break;
  case SAMBA_ATTRIBUTE_STRING:
    append(text, "'%.*s'", SAMBA_STRING_ARGS(attribute->value.string));
    break;
  case SAMBA_ATTRIBUTE_DTYPE:
    append(text, "%s", sambaDTypeName(attribute->value.dtype));
  }
}

/* "%7 = linear(%1, %2) {out_dtype = f32} : 1x128xf32" */
static void recordCall(SambaTrace *trace, const SambaOperatorCall *call,
                       SambaTensor *const *operands, SambaTensor *const *results) {
  Text text = {0};
  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i)
    append(&text, "%s%%%u", i ? ", " : "", results[i]->id);
  append(&text, " = %s(", call->operator->name);
  for (uint32_t i = 0; i < call->operand_count; ++i)
    append(&text, "%s%%%u", i ? ", " : "", operands[i]->id);
  append(&text, ")");

  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    append(&text, i ? ", " : " {");
    appendAttribute(&text, &call->attributes[i]);
  }

  char type[160];
  append(&text, "%s : %s", call->attribute_count ? "}" : "",
         sambaTensorTypeFormat(&results[0]->type, type));
  record(trace, sambaArenaCopy(&trace->arena, text.data, text.size + 1));
  free(text.data);
}

static SambaStatus annotate(const SambaTrace *trace, const char *name, SambaStatus status) {
  if (trace->layer.size)
    return sambaStatusAnnotate(status, "%s (layer %.*s)", name, SAMBA_STRING_ARGS(trace->layer));
  return sambaStatusAnnotate(status, "%s", name);
}

SambaStatus sambaTraceOperator(SambaTrace *trace, const char *name, uint32_t operand_count,
                               SambaTensor *const *operands, uint32_t attribute_count,
                               const SambaAttribute *attributes, SambaTensor **out_results) {
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
    recordCall(trace, &call, operands, out_results);
  }

  free(types);
  free(values);
  return status ? annotate(trace, name, status) : NULL;
}

SambaTensor *sambaTraceCall(SambaTrace *trace, const char *name, uint32_t operand_count,
                            SambaTensor *const *operands, uint32_t attribute_count,
                            const SambaAttribute *attributes) {
  if (!trace || trace->status)
    return NULL;
  while (operand_count && !operands[operand_count - 1])
    --operand_count;
  SambaTensor *result = NULL;
  SambaStatus status = sambaTraceOperator(trace, name, operand_count, operands, attribute_count,
                                          attributes, &result);
  if (status)
    sambaTraceFail(trace, status);
  return status ? NULL : result;
}

SambaTensor *sambaTraceBuild(const char *name, uint32_t required, uint32_t operand_count,
                             SambaTensor *const *operands, uint32_t attribute_count,
                             const SambaAttribute *attributes) {
  for (uint32_t i = 0; i < required; ++i)
    if (!operands[i])
      return NULL;
  return sambaTraceCall(operands[0]->trace, name, operand_count, operands, attribute_count,
                        attributes);
}

void sambaTraceResult(SambaTrace *trace, SambaStringRef name, const char *kind,
                      SambaStringRef region, SambaTensor *tensor) {
  if (trace->status)
    return;
  if (!tensor) {
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID, "result %zu of graph %s is missing",
                                          trace->results.size, trace->name));
    return;
  }

  SambaStringRef unique = uniqueName(trace, name, kind);
  MlirNamedAttribute attributes[3] = {
      textAttribute(trace, SAMBA_NAME_ATTRIBUTE, unique),
      textAttribute(trace, SAMBA_KIND_ATTRIBUTE, sambaStringRef(kind))};
  if (region.size)
    attributes[2] = textAttribute(trace, SAMBA_REGION_ATTRIBUTE, region);
  sambaArrayAppend(&trace->result_attributes,
                   mlirDictionaryAttrGet(trace->context, region.size ? 3 : 2, attributes));
  sambaArrayAppend(&trace->results, tensor->value);
  SambaStringRef shown = sambaStringEscape(&trace->arena, unique);
  const char *line =
      sambaArenaFormat(&trace->arena, "%s %.*s = %%%u", kind, SAMBA_STRING_ARGS(shown), tensor->id);
  if (region.size) {
    shown = sambaStringEscape(&trace->arena, region);
    line = sambaArenaFormat(&trace->arena, "%s region %.*s", line, SAMBA_STRING_ARGS(shown));
  }
  record(trace, line);
}

void sambaTraceOutput(SambaTrace *trace, const char *name, SambaTensor *tensor) {
  sambaTraceResult(trace, sambaStringRef(name), "output", (SambaStringRef){0}, tensor);
}

static MlirOperation createFunction(SambaTrace *trace) {
  MlirContext context = trace->context;
  intptr_t inputs = mlirBlockGetNumArguments(trace->block);
  intptr_t outputs = (intptr_t)trace->results.size;
  MlirType *types = sambaAllocateZeroed((size_t)(inputs + outputs) + 1, sizeof *types);

  for (intptr_t i = 0; i < inputs; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(trace->block, i));
  for (intptr_t i = 0; i < outputs; ++i)
    types[inputs + i] = mlirValueGetType(trace->results.data[i]);
  MlirLocation unknown = mlirLocationUnknownGet(context);
  MlirOperationState end =
      mlirOperationStateGet(mlirStringRefCreateFromCString("func.return"), unknown);
  mlirOperationStateAddOperands(&end, outputs, trace->results.data);
  mlirBlockAppendOwnedOperation(trace->block, mlirOperationCreate(&end));

  MlirNamedAttribute mode = textAttribute(trace, "mode", sambaStringRef("inference"));
  MlirNamedAttribute attributes[] = {
      textAttribute(trace, "sym_name", sambaStringRef(trace->name)),
      sambaNamedAttribute(
          context, "function_type",
          mlirTypeAttrGet(mlirFunctionTypeGet(context, inputs, types, outputs, types + inputs))),
      sambaNamedAttribute(context, "arg_attrs",
                          mlirArrayAttrGet(context, inputs, trace->argument_attributes.data)),
      sambaNamedAttribute(context, "res_attrs",
                          mlirArrayAttrGet(context, outputs, trace->result_attributes.data)),
      sambaNamedAttribute(context, SAMBA_GRAPH_ATTRIBUTE,
                          mlirDictionaryAttrGet(context, 1, &mode))};
  MlirRegion region = mlirRegionCreate();

  mlirRegionAppendOwnedBlock(region, trace->block);
  trace->block = (MlirBlock){NULL};
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("func.func"), unknown);
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation function = mlirOperationCreate(&state);
  free(types);

  return function;
}

SambaStatus sambaTraceFinish(SambaTrace *trace, MlirModule *out_module) {
  *out_module = (MlirModule){NULL};
  if (!trace->status && !trace->block.ptr)
    sambaTraceFail(trace,
                   sambaStatusMake(SAMBA_INVALID, "graph %s is finished already", trace->name));
  if (!trace->status && !trace->results.size)
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID, "graph %s has no results", trace->name));
  if (trace->status) {
    SambaStatus status = trace->status;
    trace->status = sambaStatusMake(SAMBA_INVALID, "graph %s has failed",
                                    trace->name); /* nothing more is built */
    return status;
  }

  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(trace->context));
  MlirAttribute graph =
      mlirFlatSymbolRefAttrGet(trace->context, mlirStringRefCreateFromCString(trace->name));
  mlirOperationSetAttributeByName(mlirModuleGetOperation(module),
                                  mlirStringRefCreateFromCString(SAMBA_GRAPHS_ATTRIBUTE),
                                  mlirArrayAttrGet(trace->context, 1, &graph));
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), createFunction(trace));
  if (!mlirOperationVerify(mlirModuleGetOperation(module))) {
    mlirModuleDestroy(module);
    return sambaStatusMake(SAMBA_INVALID, "graph %s does not verify (see the diagnostics)",
                           trace->name);
  }

  *out_module = module;
  return NULL;
}

void sambaTraceRecordOptimizer(SambaTrace *trace, SambaStringRef kind, SambaStringRef group) {
  SambaStringRef shown = sambaStringEscape(&trace->arena, group);
  record(trace, sambaArenaFormat(&trace->arena, "optimizer %.*s = %.*s", SAMBA_STRING_ARGS(shown),
                                 SAMBA_STRING_ARGS(kind)));
}

SambaTraceRecord sambaTraceGetRecord(SambaTrace *trace) {
  SambaTraceRecord result = {.line_count = (uint32_t)trace->lines.size,
                             .lines = trace->lines.data,
                             .layers = trace->line_layers.data};
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  for (size_t i = 0; i < trace->lines.size; ++i) {
    llvm_blake3_hasher_update(&hasher, trace->lines.data[i], strlen(trace->lines.data[i]));
    llvm_blake3_hasher_update(&hasher, "\n", 1);
  }
  llvm_blake3_hasher_finalize(&hasher, result.digest, sizeof result.digest);
  return result;
}
