/* The end of a trace: the function with its attributes, and the module around it. */
#include "dialect/samba/samba.h"
#include "frontend/trace/trace.h"
#include "frontend/trace/trace_state.h"
#include "support/base/index.h"

#include <stdlib.h>

static MlirNamedAttribute textAttribute(SambaTrace *trace, const char *name, SambaStringRef text) {
  return sambaNamedAttribute(trace->context, name,
                             mlirStringAttrGet(trace->context, sambaToMlir(text)));
}

/* In a training graph a weight also says that it is frozen: compiling it trains no other. */
static bool tellsGradient(const SambaTrace *trace, const SambaTraceValue *tensor) {
  return tensor->requires_grad ||
         (sambaTraceIsTraining(trace) && sambaStringRefEqualC(tensor->kind, "weight") &&
          sambaDTypeIsFloat(tensor->type.dtype));
}

static MlirAttribute argumentAttributes(SambaTrace *trace,
                                        const SambaTraceArgumentState *argument) {
  const SambaTraceValue *tensor = argument->tensor;
  MlirNamedAttribute attributes[8];
  intptr_t count = 0;

  attributes[count++] = textAttribute(trace, SAMBA_NAME_ATTRIBUTE, tensor->name);
  attributes[count++] = textAttribute(trace, SAMBA_KIND_ATTRIBUTE, tensor->kind);
  if (argument->has_region)
    attributes[count++] = textAttribute(trace, SAMBA_REGION_ATTRIBUTE, tensor->region);
  if (tensor->memory.size)
    attributes[count++] = textAttribute(trace, SAMBA_MEMORY_ATTRIBUTE, tensor->memory);
  if (tellsGradient(trace, tensor))
    attributes[count++] =
        sambaNamedAttribute(trace->context, SAMBA_REQUIRES_GRAD_ATTRIBUTE,
                            mlirBoolAttrGet(trace->context, tensor->requires_grad));
  if (!mlirAttributeIsNull(argument->data))
    attributes[count++] =
        sambaNamedAttribute(trace->context, SAMBA_VALUE_ATTRIBUTE, argument->data);
  if (!mlirAttributeIsNull(argument->argin))
    attributes[count++] =
        sambaNamedAttribute(trace->context, SAMBA_ARGIN_ATTRIBUTE, argument->argin);
  if (argument->optimizer != SAMBA_NO_INDEX && tensor->requires_grad)
    attributes[count++] = sambaNamedAttribute(
        trace->context, SAMBA_OPTIMIZER_ATTRIBUTE,
        mlirIntegerAttrGet(mlirIntegerTypeGet(trace->context, 64), argument->optimizer));
  return mlirDictionaryAttrGet(trace->context, count, attributes);
}

static MlirAttribute resultAttributes(SambaTrace *trace, const SambaTraceResultState *result) {
  MlirNamedAttribute attributes[3] = {textAttribute(trace, SAMBA_NAME_ATTRIBUTE, result->name),
                                      textAttribute(trace, SAMBA_KIND_ATTRIBUTE, result->kind)};
  if (result->region.size)
    attributes[2] = textAttribute(trace, SAMBA_REGION_ATTRIBUTE, result->region);
  return mlirDictionaryAttrGet(trace->context, result->region.size ? 3 : 2, attributes);
}

/* #samba.optimizer<"sgd", group = "fast.", lr = 0.1, ...> */
static MlirAttribute optimizerAttribute(SambaTrace *trace,
                                        const SambaTraceOptimizerState *optimizer) {
  const SambaOptimizerKind *kind = optimizer->kind;
  MlirNamedAttribute entries[SAMBA_MAX_OPTIMIZER_SETTINGS + 2];
  MlirType f64 = mlirF64TypeGet(trace->context);
  uint32_t count = 0;

  for (; count < kind->setting_count; ++count) {
    SambaOptimizerSettingName name = kind->settings[count].name;
    entries[count] =
        sambaNamedAttribute(trace->context, sambaOptimizerSettingName(name),
                            mlirFloatAttrDoubleGet(trace->context, f64, optimizer->values[name]));
  }
  if (optimizer->group.size)
    entries[count++] = textAttribute(trace, "group", optimizer->group);
  if (optimizer->joins != SAMBA_NO_INDEX)
    entries[count++] = sambaNamedAttribute(
        trace->context, "joins",
        mlirIntegerAttrGet(mlirIntegerTypeGet(trace->context, 64), optimizer->joins));
  return sambaAttributeGet(mlirLocationUnknownGet(trace->context), SAMBA_OPTIMIZER_KIND,
                           mlirStringRefCreateFromCString(kind->name),
                           mlirDictionaryAttrGet(trace->context, count, entries));
}

/* The function's own attributes beside its type. */
static void addGraphAttributes(SambaTrace *trace, MlirOperationState *state) {
  bool trains = sambaTraceIsTraining(trace);
  MlirNamedAttribute mode =
      textAttribute(trace, "mode", sambaStringRef(trains ? "training" : "inference"));
  MlirNamedAttribute attributes[4] = {sambaNamedAttribute(
      trace->context, SAMBA_GRAPH_ATTRIBUTE, mlirDictionaryAttrGet(trace->context, 1, &mode))};
  intptr_t count = 1;

  if (trace->optimizers.size) {
    MlirAttribute *list = sambaAllocateZeroed(trace->optimizers.size, sizeof *list);
    for (size_t i = 0; i < trace->optimizers.size; ++i)
      list[i] = optimizerAttribute(trace, &trace->optimizers.data[i]);
    attributes[count++] = sambaNamedAttribute(
        trace->context, SAMBA_OPTIMIZERS_ATTRIBUTE,
        mlirArrayAttrGet(trace->context, (intptr_t)trace->optimizers.size, list));
    free(list);
  }
  if (trace->constants.size) {
    MlirAttribute *names = sambaAllocateZeroed(trace->constants.size, sizeof *names);
    for (size_t i = 0; i < trace->constants.size; ++i)
      names[i] = mlirStringAttrGet(trace->context,
                                   mlirStringRefCreateFromCString(trace->constants.data[i]));
    attributes[count++] = sambaNamedAttribute(
        trace->context, SAMBA_CONSTANTS_ATTRIBUTE,
        mlirArrayAttrGet(trace->context, (intptr_t)trace->constants.size, names));
    free(names);
  }
  if (trains && trace->accumulates)
    attributes[count++] = sambaNamedAttribute(trace->context, SAMBA_ACCUMULATE_ATTRIBUTE,
                                              mlirBoolAttrGet(trace->context, true));
  mlirOperationStateAddAttributes(state, count, attributes);
}

static void addReturn(SambaTrace *trace) {
  size_t count = trace->results.size;
  MlirValue *values = sambaAllocateZeroed(count, sizeof *values);
  for (size_t i = 0; i < count; ++i)
    values[i] = trace->results.data[i].tensor->value;
  MlirOperationState end = mlirOperationStateGet(mlirStringRefCreateFromCString("func.return"),
                                                 mlirLocationUnknownGet(trace->context));
  mlirOperationStateAddOperands(&end, (intptr_t)count, values);
  mlirBlockAppendOwnedOperation(trace->block, mlirOperationCreate(&end));
  free(values);
}

static MlirOperation createFunction(SambaTrace *trace) {
  MlirContext context = trace->context;
  size_t inputs = trace->arguments.size, outputs = trace->results.size;
  MlirType *types = sambaAllocateZeroed(inputs + outputs + 1, sizeof *types);
  MlirAttribute *dictionaries = sambaAllocateZeroed(inputs + outputs + 1, sizeof *dictionaries);

  for (size_t i = 0; i < inputs; ++i) {
    types[i] = mlirValueGetType(trace->arguments.data[i].tensor->value);
    dictionaries[i] = argumentAttributes(trace, &trace->arguments.data[i]);
  }
  for (size_t i = 0; i < outputs; ++i) {
    types[inputs + i] = mlirValueGetType(trace->results.data[i].tensor->value);
    dictionaries[inputs + i] = resultAttributes(trace, &trace->results.data[i]);
  }
  addReturn(trace);

  MlirType type =
      mlirFunctionTypeGet(context, (intptr_t)inputs, types, (intptr_t)outputs, types + inputs);
  MlirNamedAttribute attributes[] = {
      textAttribute(trace, "sym_name", sambaStringRef(trace->name)),
      sambaNamedAttribute(context, "function_type", mlirTypeAttrGet(type)),
      sambaNamedAttribute(context, "arg_attrs",
                          mlirArrayAttrGet(context, (intptr_t)inputs, dictionaries)),
      sambaNamedAttribute(context, "res_attrs",
                          mlirArrayAttrGet(context, (intptr_t)outputs, dictionaries + inputs))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, trace->block);
  trace->block = (MlirBlock){NULL};

  MlirOperationState state = mlirOperationStateGet(mlirStringRefCreateFromCString("func.func"),
                                                   mlirLocationUnknownGet(context));
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  addGraphAttributes(trace, &state);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation function = mlirOperationCreate(&state);
  free(types);
  free(dictionaries);
  return function;
}

static void checkFinish(SambaTrace *trace) {
  if (!trace->status && !trace->block.ptr)
    sambaTraceFail(trace,
                   sambaStatusMake(SAMBA_INVALID, "graph %s is finished already", trace->name));
  if (!trace->status && !trace->results.size)
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID, "graph %s has no results", trace->name));
  SambaStatus status = trace->status ? NULL : sambaTraceAssignOptimizers(trace);
  if (status)
    sambaTraceFail(trace, sambaStatusAnnotate(status, "graph %s", trace->name));
}

SambaStatus sambaTraceFinish(SambaTrace *trace, MlirModule *out_module) {
  *out_module = (MlirModule){NULL};
  checkFinish(trace);
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
