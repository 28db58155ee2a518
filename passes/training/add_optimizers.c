/* samba-add-optimizers: the optimizer's step as operations. Phases are added where they belong:
 * ZEROGRAD in front, the sums of gradients behind BCKWD, then GRADNORM, then OPT. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/training/optimizer_kinds.h"
#include "support/base/index.h"
#include "support/container/string_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* One optimizer of the graph. */
typedef struct Optimizer {
  const SambaOptimizerKind *kind;
  double values[SAMBA_SETTING_COUNT];
  SambaStringRef group;
  uint32_t whole; /* the optimizer that it is part of: itself, or the one that it joins */
  uint32_t parameters;
  MlirValue settings[SAMBA_SETTING_COUNT]; /* argins and constants, made when first asked for */
} Optimizer;

/* A weight, or an input, and its gradient. */
typedef struct Parameter {
  uint32_t argument, result;
  uint32_t optimizer; /* SAMBA_NO_INDEX: none, as for inputs */
  SambaStringRef name;
  SambaTensorType type;
  MlirValue gradient; /* the last one so far */
} Parameter;

typedef struct Step {
  SambaInterface interface;
  SambaArena arena;
  MlirContext context;
  MlirLocation location;
  MlirOperation first, terminator; /* of the body */
  SAMBA_ARRAY(Optimizer) optimizers;
  SAMBA_ARRAY(Parameter) parameters;
  SambaStringMap arguments; /* by name */
  MlirValue count;          /* of steps, with this one; null until asked for */
  bool narrows;             /* f32 will be bf16 */
  bool failed;
} Step;

/* ---- Building ---- */

static MlirAttribute text(const Step *step, SambaStringRef value) {
  return mlirStringAttrGet(step->context, sambaToMlir(value));
}

/* `samba.name` of some operands before `before`, in a phase. */
static MlirValue build(Step *step, MlirOperation before, const char *phase, const char *name,
                       intptr_t operand_count, const MlirValue *operands, intptr_t attribute_count,
                       const MlirNamedAttribute *attributes, intptr_t result_count,
                       MlirValue *out_results) {
  MlirNamedAttribute all[5];
  intptr_t count = attribute_count;
  if (step->failed)
    return (MlirValue){NULL};
  if (attribute_count)
    memcpy(all, attributes, (size_t)attribute_count * sizeof *all);
  all[count++] =
      sambaNamedAttribute(step->context, SAMBA_PHASE_ATTRIBUTE, text(step, sambaStringRef(phase)));
  if (strcmp(phase, "GRADNORM") == 0) /* a sum of squares needs f32 in every precision */
    all[count++] = sambaNamedAttribute(step->context, SAMBA_KEEP_PRECISION_ATTRIBUTE,
                                       mlirBoolAttrGet(step->context, 0));
  SambaOperationParts parts = {.name = name,
                               .location = step->location,
                               .operand_count = operand_count,
                               .operands = operands,
                               .result_count = -1,
                               .attribute_count = count,
                               .attributes = all};
  MlirOperation made = sambaBuildOperationIn(sambaBodyOf(step->interface.function), before, &parts);
  if (mlirOperationIsNull(made)) { /* an error was emitted */
    step->failed = true;
    return (MlirValue){NULL};
  }
  for (intptr_t i = 0; i < result_count; ++i)
    out_results[i] = mlirOperationGetResult(made, i);
  return mlirOperationGetResult(made, 0);
}

static MlirValue buildUnary(Step *step, const char *phase, const char *name, MlirValue x) {
  return build(step, step->terminator, phase, name, 1, &x, 0, NULL, 0, NULL);
}

static MlirValue buildBinary(Step *step, const char *phase, const char *name, MlirValue a,
                             MlirValue b) {
  return build(step, step->terminator, phase, name, 2, (MlirValue[]){a, b}, 0, NULL, 0, NULL);
}

static MlirValue buildScalar(Step *step, MlirOperation before, const char *phase, SambaDType dtype,
                             double number) {
  SambaTensorType type = {.dtype = dtype};
  uint64_t bits = sambaDTypeBitsOfNumber(dtype, number);
  MlirNamedAttribute value = sambaNamedAttribute(
      step->context, "value", sambaDenseAttribute(step->context, &type, &bits, true));
  return build(step, before, phase, "samba.constant", 0, NULL, 1, &value, 0, NULL);
}

/* From here on the region holds this value. */
static MlirValue keepInRegion(Step *step, MlirOperation before, const char *phase, MlirValue value,
                              SambaStringRef region) {
  MlirNamedAttribute attribute =
      sambaNamedAttribute(step->context, SAMBA_REGION_ATTRIBUTE, text(step, region));
  return build(step, before, phase, "samba.contiguous", 1, &value, 1, &attribute, 0, NULL);
}

static MlirValue buildCast(Step *step, const char *phase, MlirValue value, SambaDType dtype) {
  SambaTensorType type;
  if (step->failed)
    return value;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  sambaStatusFree(status); /* a gradient has a type of ours */
  if (type.dtype == dtype)
    return value;
  MlirNamedAttribute attribute = sambaNamedAttribute(
      step->context, "dtype", mlirTypeAttrGet(sambaDTypeToType(step->context, dtype)));
  return build(step, step->terminator, phase, "samba.cast", 1, &value, 1, &attribute, 0, NULL);
}

/* An argument filled with zeros. */
static MlirValue addZeros(Step *step, SambaStringRef name, const char *kind,
                          const SambaTensorType *type) {
  uint64_t zero = 0;
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(step->context, SAMBA_NAME_ATTRIBUTE, text(step, name)),
      sambaNamedAttribute(step->context, SAMBA_KIND_ATTRIBUTE, text(step, sambaStringRef(kind))),
      sambaNamedAttribute(step->context, SAMBA_VALUE_ATTRIBUTE,
                          sambaDenseAttribute(step->context, type, &zero, true))};
  return sambaInterfaceAddArgument(&step->interface, sambaTensorTypeToMlir(step->context, type), 3,
                                   attributes);
}

/* The value is written back to the argument of that name. */
static void addUpdate(Step *step, SambaStringRef name, MlirValue value) {
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(step->context, SAMBA_NAME_ATTRIBUTE, text(step, name)),
      sambaNamedAttribute(step->context, SAMBA_REGION_ATTRIBUTE, text(step, name)),
      sambaNamedAttribute(step->context, SAMBA_KIND_ATTRIBUTE,
                          text(step, sambaStringRef("update")))};
  if (!step->failed)
    sambaInterfaceAddResult(&step->interface, value, 3, attributes);
}

static SambaStringRef named(Step *step, SambaStringRef of, const char *suffix) {
  return sambaStringRef(sambaArenaFormat(&step->arena, "%.*s__%s", SAMBA_STRING_ARGS(of), suffix));
}

/* ---- What is trained by what ---- */

/* Groups of parameters are one optimizer of one kind, with one bound for the norm. */
static bool joinOptimizer(Step *step, Optimizer *optimizer, MlirAttribute joins) {
  uint32_t number = (uint32_t)step->optimizers.size;
  optimizer->whole = number;
  if (mlirAttributeIsNull(joins))
    return true;
  int64_t whole = mlirIntegerAttrGetValueInt(joins);
  const Optimizer *other = whole >= 0 && whole < number ? &step->optimizers.data[whole] : NULL;
  double *norm = &optimizer->values[SAMBA_SETTING_MAX_GRAD_NORM];
  if (!other || other->whole != whole || other->kind != optimizer->kind ||
      (*norm > 0 && *norm != other->values[SAMBA_SETTING_MAX_GRAD_NORM]))
    return sambaEmitOpError(step->interface.function,
                            "samba.optimizers: number %u joins %lld; it may join an earlier one "
                            "that joins none, of its kind, with the same max_grad_norm",
                            number, (long long)whole);
  optimizer->whole = (uint32_t)whole;
  *norm = other->values[SAMBA_SETTING_MAX_GRAD_NORM];
  return true;
}

static bool readOptimizers(Step *step) {
  MlirAttribute list =
      sambaOperationAttribute(step->interface.function, SAMBA_OPTIMIZERS_ATTRIBUTE);
  for (intptr_t i = 0; !mlirAttributeIsNull(list) && i < mlirArrayAttrGetNumElements(list); ++i) {
    MlirAttribute attribute = mlirArrayAttrGetElement(list, i);
    MlirAttribute body = sambaAttributeBody(attribute);
    Optimizer optimizer = {.kind =
                               sambaOptimizerFind(sambaFromMlir(sambaAttributeHead(attribute)))};
    sambaOptimizerDefaults(optimizer.kind, optimizer.values);
    for (uint32_t k = 0; k < optimizer.kind->setting_count; ++k) {
      SambaOptimizerSettingName name = optimizer.kind->settings[k].name;
      MlirAttribute value = sambaDictionaryFind(body, sambaOptimizerSettingName(name));
      if (!mlirAttributeIsNull(value))
        optimizer.values[name] = mlirAttributeIsAFloat(value)
                                     ? mlirFloatAttrGetValueDouble(value)
                                     : (double)mlirIntegerAttrGetValueInt(value);
    }
    optimizer.group = sambaInterfaceText(body, "group");
    if (!joinOptimizer(step, &optimizer, sambaDictionaryFind(body, "joins")))
      return false;
    sambaArrayAppend(&step->optimizers, optimizer);
  }
  return true;
}

/* An input, or a weight that names no optimizer, has a gradient, but nothing changes it. */
static bool findOptimizer(Step *step, MlirAttribute argument, Parameter *parameter) {
  MlirAttribute number = sambaDictionaryFind(argument, SAMBA_OPTIMIZER_ATTRIBUTE);
  parameter->optimizer = SAMBA_NO_INDEX;
  if (mlirAttributeIsNull(number))
    return true;
  parameter->optimizer = (uint32_t)mlirIntegerAttrGetValueInt(number);
  if (parameter->optimizer < step->optimizers.size) {
    ++step->optimizers.data[parameter->optimizer].parameters;
    return true;
  }
  return sambaEmitOpError(
      step->interface.function, "argument '%.*s' names optimizer %u, but samba.optimizers has %zu",
      SAMBA_STRING_ARGS(parameter->name), parameter->optimizer, step->optimizers.size);
}

static bool findParameters(Step *step) {
  SambaInterface *interface = &step->interface;
  for (uint32_t a = 0; a < interface->arguments.size; ++a)
    sambaStringMapInsert(&step->arguments,
                         sambaInterfaceText(interface->arguments.data[a], SAMBA_NAME_ATTRIBUTE), a,
                         NULL);
  for (uint32_t r = 0; r < interface->results.size; ++r) {
    SambaStringRef of = sambaInterfaceText(interface->results.data[r], SAMBA_GRAD_OF_ATTRIBUTE);
    if (!of.size)
      continue;
    uint32_t a = 0; /* the verifier has found that there is one */
    sambaStringMapGet(&step->arguments, of, &a);
    Parameter parameter = {.argument = a, .result = r, .name = of};
    parameter.gradient = interface->returned.data[r];
    if (!findOptimizer(step, interface->arguments.data[a], &parameter))
      return false;
    sambaStatusFree(sambaTensorTypeFromMlir(mlirValueGetType(parameter.gradient), &parameter.type));
    sambaArrayAppend(&step->parameters, parameter);
  }

  for (uint32_t i = 0; i < step->optimizers.size; ++i)
    if (!step->optimizers.data[i].parameters)
      return sambaEmitOpError(interface->function,
                              "optimizer %u (%s) trains nothing: no argument with a gradient says "
                              "samba.optimizer = %u",
                              i, step->optimizers.data[i].kind->name, i);
  return true;
}

/* ---- Gradients: summed, clipped ---- */

static SambaStringRef gradientName(const Step *step, const Parameter *parameter) {
  return sambaInterfaceText(step->interface.results.data[parameter->result], SAMBA_NAME_ATTRIBUTE);
}

static bool clips(const Step *step, const Parameter *parameter) {
  return parameter->optimizer != SAMBA_NO_INDEX &&
         step->optimizers.data[parameter->optimizer].values[SAMBA_SETTING_MAX_GRAD_NORM] > 0;
}

/* Gradients that change after BCKWD made them have memory of their own from the start. */
static void addGradientMemory(Step *step, bool accumulate) {
  for (size_t i = 0; i < step->parameters.size; ++i) {
    Parameter *parameter = &step->parameters.data[i];
    if (!accumulate && !clips(step, parameter))
      continue;
    SambaStringRef name = gradientName(step, parameter);
    addZeros(step, name, "gradient", &parameter->type);
    if (accumulate) {
      MlirValue zero = buildScalar(step, step->first, "ZEROGRAD", parameter->type.dtype, 0);
      MlirNamedAttribute shape = sambaNamedAttribute(
          step->context, "shape",
          mlirDenseI64ArrayGet(step->context, parameter->type.rank, parameter->type.dims));
      zero = build(step, step->first, "ZEROGRAD", "samba.expand", 1, &zero, 1, &shape, 0, NULL);
      zero = keepInRegion(step, step->first, "ZEROGRAD", zero, name);
      parameter->gradient = buildBinary(step, "BCKWD", "samba.add", zero, parameter->gradient);
    }
    if (clips(step, parameter))
      parameter->gradient =
          keepInRegion(step, step->terminator, "BCKWD", parameter->gradient, name);
  }
}

/* The sum of the squares of a tensor, in f32. */
static MlirValue buildSquares(Step *step, MlirValue x) {
  x = buildCast(step, "GRADNORM", x, SAMBA_DTYPE_F32);
  return buildUnary(step, "GRADNORM", "samba.sum",
                    buildBinary(step, "GRADNORM", "samba.mul", x, x));
}

/* Is the parameter of that optimizer, in whichever of its groups? */
static bool isOf(const Step *step, const Parameter *parameter, uint32_t whole) {
  return parameter->optimizer != SAMBA_NO_INDEX &&
         step->optimizers.data[parameter->optimizer].whole == whole;
}

/* Gradients times min(1, max / (norm + 1e-6)), the norm over all parameters of the optimizer. */
static void clipGradients(Step *step, uint32_t index) {
  double most = step->optimizers.data[index].values[SAMBA_SETTING_MAX_GRAD_NORM];
  const char *phase = "GRADNORM";
  MlirValue squares = {NULL};
  if (most <= 0 || step->optimizers.data[index].whole != index)
    return;

  for (size_t i = 0; i < step->parameters.size; ++i) {
    if (!isOf(step, &step->parameters.data[i], index))
      continue;
    MlirValue one = buildSquares(step, step->parameters.data[i].gradient);
    squares = squares.ptr ? buildBinary(step, phase, "samba.add", squares, one) : one;
  }
  if (!squares.ptr)
    return;

  MlirValue norm = buildUnary(step, phase, "samba.sqrt", squares);
  norm = buildBinary(step, phase, "samba.add", norm,
                     buildScalar(step, step->terminator, phase, SAMBA_DTYPE_F32, 1e-6));
  MlirValue share =
      buildBinary(step, phase, "samba.div",
                  buildScalar(step, step->terminator, phase, SAMBA_DTYPE_F32, most), norm);
  share = buildBinary(step, phase, "samba.minimum", share,
                      buildScalar(step, step->terminator, phase, SAMBA_DTYPE_F32, 1));
  for (size_t i = 0; i < step->parameters.size; ++i) {
    Parameter *parameter = &step->parameters.data[i];
    if (!isOf(step, parameter, index))
      continue;
    MlirValue scaled =
        buildBinary(step, phase, "samba.mul",
                    buildCast(step, phase, parameter->gradient, SAMBA_DTYPE_F32), share);
    parameter->gradient = buildCast(step, phase, scaled, parameter->type.dtype);
  }
}

/* ---- The update ---- */

/* A setting as an operand: an argin, or a constant. */
static MlirValue settingOf(Step *step, Optimizer *optimizer, SambaOptimizerSettingName name) {
  if (optimizer->settings[name].ptr)
    return optimizer->settings[name];
  const SambaOptimizerSetting *setting = optimizer->kind->settings;
  while (setting->name != name)
    ++setting;
  double value = optimizer->values[name];
  if (!setting->bound)
    return optimizer->settings[name] =
               buildScalar(step, step->terminator, "OPT", SAMBA_DTYPE_F32, value);

  MlirType f64 = mlirF64TypeGet(step->context);
  MlirAttribute word = text(step, sambaStringRef(sambaOptimizerSettingName(name)));
  MlirNamedAttribute entries[] = {
      sambaNamedAttribute(step->context, "kind", word),
      sambaNamedAttribute(step->context, "group", word),
      sambaNamedAttribute(step->context, "default",
                          mlirFloatAttrDoubleGet(step->context, f64, value)),
      sambaNamedAttribute(step->context, "min",
                          mlirFloatAttrDoubleGet(step->context, f64, setting->least))};
  SambaStringRef argin_name =
      sambaStringRef(sambaArenaFormat(&step->arena, "%.*s%s", SAMBA_STRING_ARGS(optimizer->group),
                                      sambaOptimizerSettingName(name)));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(step->context, SAMBA_NAME_ATTRIBUTE, text(step, argin_name)),
      sambaNamedAttribute(step->context, SAMBA_KIND_ATTRIBUTE, text(step, sambaStringRef("argin"))),
      sambaNamedAttribute(step->context, SAMBA_ARGIN_ATTRIBUTE,
                          sambaAttributeGet(step->location, SAMBA_ARGIN_KIND, sambaMlirString(""),
                                            mlirDictionaryAttrGet(step->context, 4, entries)))};
  SambaTensorType scalar = {.dtype = SAMBA_DTYPE_F32};
  return optimizer->settings[name] = sambaInterfaceAddArgument(
             &step->interface, sambaTensorTypeToMlir(step->context, &scalar), 3, attributes);
}

/* How many steps there were, with this one. */
static MlirValue stepCount(Step *step) {
  SambaStringRef name = sambaStringRef("OPT__step");
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64};
  if (step->count.ptr)
    return step->count;
  MlirValue before = addZeros(step, name, "optimizer_state", &type);
  MlirValue one = buildScalar(step, step->terminator, "OPT", SAMBA_DTYPE_I64, 1);
  step->count = buildBinary(step, "OPT", "samba.add", before, one);
  addUpdate(step, name, step->count);
  return step->count;
}

/* torch.optim.SGD is the momentum operator from the second step on: the first velocity is the
 * gradient, because the velocity before is 0. */
static void updateBySgd(Step *step, const Parameter *parameter, Optimizer *optimizer,
                        MlirValue weight) {
  SambaStringRef state = named(step, parameter->name, optimizer->kind->states[0]);
  MlirValue one = buildScalar(step, step->terminator, "OPT", SAMBA_DTYPE_F32, 1);
  MlirNamedAttribute nesterov = sambaNamedAttribute(
      step->context, "nesterov",
      mlirBoolAttrGet(step->context, optimizer->values[SAMBA_SETTING_NESTEROV] != 0));
  MlirValue operands[] = {weight,
                          parameter->gradient,
                          addZeros(step, state, "optimizer_state", &parameter->type),
                          settingOf(step, optimizer, SAMBA_SETTING_LR),
                          buildScalar(step, step->terminator, "OPT", SAMBA_DTYPE_I64, 1),
                          settingOf(step, optimizer, SAMBA_SETTING_MOMENTUM),
                          one,
                          settingOf(step, optimizer, SAMBA_SETTING_WEIGHT_DECAY)};
  MlirValue results[2];
  build(step, step->terminator, "OPT", "samba.momentum_update", 8, operands, 1, &nesterov, 2,
        results);
  addUpdate(step, parameter->name, results[0]);
  addUpdate(step, state, results[1]);
}

/* A weight of 16 bits is rounded at each step, which a small step does not survive. */
static bool keepsMaster(const Step *step, const Parameter *parameter, const Optimizer *optimizer) {
  return optimizer->values[SAMBA_SETTING_FP32_PARAMS] != 0 &&
         (step->narrows || parameter->type.dtype != SAMBA_DTYPE_F32);
}

static void updateByAdamw(Step *step, const Parameter *parameter, Optimizer *optimizer,
                          MlirValue weight) {
  const char *const *names = optimizer->kind->states;
  bool has_master = keepsMaster(step, parameter, optimizer);
  SambaTensorType type = parameter->type;
  SambaStringRef states[3];
  MlirValue operands[7];
  intptr_t count = 0, state_count = has_master ? 3 : 2;

  if (has_master)
    type.dtype = SAMBA_DTYPE_F32;
  else
    operands[count++] = weight;
  operands[count++] = parameter->gradient;
  for (intptr_t i = 0; i < state_count; ++i) {
    states[i] = named(step, parameter->name, names[i]);
    operands[count++] = addZeros(step, states[i], "optimizer_state", &type);
  }
  operands[count++] = settingOf(step, optimizer, SAMBA_SETTING_LR);
  operands[count++] = stepCount(step);
  operands[count++] = settingOf(step, optimizer, SAMBA_SETTING_WEIGHT_DECAY);

  static const SambaOptimizerSettingName constants[] = {SAMBA_SETTING_BETA1, SAMBA_SETTING_BETA2,
                                                        SAMBA_SETTING_EPS};
  MlirType f64 = mlirF64TypeGet(step->context);
  MlirNamedAttribute attributes[3];
  for (int i = 0; i < 3; ++i)
    attributes[i] = sambaNamedAttribute(
        step->context, sambaOptimizerSettingName(constants[i]),
        mlirFloatAttrDoubleGet(step->context, f64, optimizer->values[constants[i]]));
  MlirValue results[4];
  if (has_master)
    sambaInterfaceSet(&step->interface.arguments.data[parameter->argument], SAMBA_MASTER_ATTRIBUTE,
                      text(step, states[state_count - 1]));
  const char *update = has_master ? "samba.adamw_master_update" : "samba.adamw_update";
  build(step, step->terminator, "OPT", update, count, operands, 3, attributes, state_count + 1,
        results);
  addUpdate(step, parameter->name, results[0]);
  for (intptr_t i = 0; i < state_count; ++i)
    addUpdate(step, states[i], results[i + 1]);
}

static void updateParameters(Step *step) {
  MlirBlock body = sambaBodyOf(step->interface.function);
  for (size_t i = 0; i < step->parameters.size; ++i) {
    const Parameter *parameter = &step->parameters.data[i];
    if (parameter->optimizer == SAMBA_NO_INDEX)
      continue;
    Optimizer *optimizer = &step->optimizers.data[parameter->optimizer];
    MlirValue weight = mlirBlockGetArgument(body, parameter->argument);
    if (optimizer->kind->kind == SAMBA_OPTIMIZER_SGD)
      updateBySgd(step, parameter, optimizer, weight);
    else
      updateByAdamw(step, parameter, optimizer, weight);
  }
}

static bool isAccumulating(MlirOperation function) {
  MlirAttribute flag = sambaOperationAttribute(function, SAMBA_ACCUMULATE_ATTRIBUTE);
  return !mlirAttributeIsNull(flag) && mlirBoolAttrGetValue(flag);
}

static bool addToFunction(MlirOperation function, bool narrows) {
  MlirBlock body = sambaBodyOf(function);
  Step made = {.context = mlirOperationGetContext(function),
               .location = mlirOperationGetLocation(function),
               .first = mlirBlockGetFirstOperation(body),
               .terminator = mlirBlockGetTerminator(body),
               .narrows = narrows};
  Step *step = &made;
  bool accumulate = isAccumulating(function);

  sambaInterfaceRead(function, &step->interface);
  bool fine = readOptimizers(step) && findParameters(step);
  if (fine) {
    addGradientMemory(step, accumulate);
    for (uint32_t i = 0; i < step->optimizers.size; ++i)
      clipGradients(step, i);
    for (size_t i = 0; i < step->parameters.size; ++i)
      step->interface.returned.data[step->parameters.data[i].result] =
          step->parameters.data[i].gradient;
    updateParameters(step);
    fine = !step->failed;
  }
  if (fine) {
    mlirOperationRemoveAttributeByName(function, sambaMlirString(SAMBA_OPTIMIZERS_ATTRIBUTE));
    mlirOperationRemoveAttributeByName(function, sambaMlirString(SAMBA_ACCUMULATE_ATTRIBUTE));
    sambaInterfaceWrite(&step->interface);
  }

  sambaInterfaceFree(&step->interface);
  sambaArrayFree(&step->optimizers);
  sambaArrayFree(&step->parameters);
  sambaStringMapFree(&step->arguments);
  sambaArenaDestroy(&step->arena);
  return fine;
}

bool sambaAddOptimizers(MlirOperation module, const char *precision) {
  bool narrows = strcmp(precision, "mp4") == 0 || strcmp(precision, "bf16") == 0;
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    bool asked =
        sambaOperationIsGraph(operation) &&
        (!mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_OPTIMIZERS_ATTRIBUTE)) ||
         isAccumulating(operation));
    if (asked && !addToFunction(operation, narrows))
      return false;
  }
  return true;
}
