/* samba-request-training: what a user asks for on the command line, written into the graph: its
 * losses, what is trained, the optimizer, and which numbers are bound at launch. Front ends that
 * know all that by themselves (tracing) write it themselves. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/training/optimizer_kinds.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"

#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

typedef struct Request {
  SambaInterface interface;
  SambaArena arena;
  SambaStringRef losses, frozen; /* names, separated by commas */
} Request;

static MlirContext contextOf(const Request *request) {
  return mlirOperationGetContext(request->interface.function);
}

static MlirAttribute text(const Request *request, const char *value) {
  return mlirStringAttrGet(contextOf(request), sambaMlirString(value));
}

static SambaStringRef nameOf(MlirAttribute dictionary) {
  return sambaInterfaceText(dictionary, SAMBA_NAME_ATTRIBUTE);
}

static bool isKind(MlirAttribute dictionary, const char *kind) {
  return sambaStringRefEqualC(sambaInterfaceText(dictionary, SAMBA_KIND_ATTRIBUTE), kind);
}

static bool isFloat(MlirValue value) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  bool is = !status && sambaDTypeIsFloat(type.dtype);
  sambaStatusFree(status);
  return is;
}

/* The next of some names that commas separate; false at the end. */
static bool takeName(SambaStringRef *names, SambaStringRef *out_name) {
  if (!names->size)
    return false;
  const char *comma = memchr(names->data, ',', names->size);
  out_name->data = names->data;
  out_name->size = comma ? (size_t)(comma - names->data) : names->size;
  size_t used = out_name->size + (comma != NULL);
  names->data += used;
  names->size -= used;
  return true;
}

/* ---- Losses ---- */

static const char *listNames(Request *request, bool of_results) {
  SambaText list = {0};
  size_t count = of_results ? request->interface.results.size : request->interface.arguments.size;
  const MlirAttribute *dictionaries =
      of_results ? request->interface.results.data : request->interface.arguments.data;
  for (size_t i = 0, shown = 0; i < count; ++i) {
    if (!of_results && !isKind(dictionaries[i], "weight"))
      continue;
    sambaTextFormat(&list, "%s%.*s", shown ? ", " : "", SAMBA_STRING_ARGS(nameOf(dictionaries[i])));
    if (++shown == 12) {
      sambaTextAppendC(&list, ", ...");
      break;
    }
  }
  return sambaTextToArena(&list, &request->arena);
}

static bool markLoss(Request *request, size_t result) {
  MlirAttribute *dictionary = &request->interface.results.data[result];
  if (!isFloat(request->interface.returned.data[result]))
    return sambaEmitOpError(request->interface.function,
                            "loss '%.*s' has no float dtype; a loss that is trained on is f32, "
                            "bf16 or f16",
                            SAMBA_STRING_ARGS(nameOf(*dictionary)));
  sambaInterfaceSet(dictionary, SAMBA_KIND_ATTRIBUTE, text(request, "loss"));
  return true;
}

static bool markNamedLosses(Request *request) {
  SambaStringRef names = request->losses, name;
  while (takeName(&names, &name)) {
    size_t i = 0;
    while (i < request->interface.results.size &&
           !sambaStringRefEqual(nameOf(request->interface.results.data[i]), name))
      ++i;
    if (i == request->interface.results.size)
      return sambaEmitOpError(request->interface.function,
                              "there is no result '%.*s' to be the loss; results are %s",
                              SAMBA_STRING_ARGS(name), listNames(request, true));
    if (!markLoss(request, i))
      return false;
  }
  return true;
}

/* Does the operation hand on its first operand's numbers: a view, a cast, x * 1, x + 0? */
static bool isIdentity(MlirOperation operation) {
  if (sambaOperationIsView(operation) || sambaOperationIs(operation, "samba.cast") ||
      sambaOperationIs(operation, "samba.contiguous"))
    return true;
  bool product = sambaOperationIs(operation, "samba.mul");
  if (!product && !sambaOperationIs(operation, "samba.add"))
    return false;
  MlirOperation constant = sambaDefiningOperation(mlirOperationGetOperand(operation, 1));
  if (mlirOperationIsNull(constant) || !sambaOperationIsSplat(constant))
    return false;
  MlirAttribute value = sambaSplatValue(constant);
  return mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirAttributeGetType(value))) &&
         mlirDenseElementsAttrGetFloatSplatValue(value) == (product ? 1.0f : 0.0f);
}

/* The value behind identities. */
static MlirValue behindIdentities(MlirValue value) {
  for (;;) {
    MlirOperation owner = sambaDefiningOperation(value);
    if (mlirOperationIsNull(owner) || !isIdentity(owner))
      return value;
    value = mlirOperationGetOperand(owner, 0);
  }
}

/* Adds what the values in the set are computed from. */
static void spreadToOperands(MlirOperation function, SambaPointerMap *set) {
  SAMBA_ARRAY(MlirOperation) operations = {0};
  MlirOperation next = mlirBlockGetFirstOperation(sambaBodyOf(function));
  uint32_t unused;
  for (; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(next))
    sambaArrayAppend(&operations, next);

  for (size_t i = operations.size; i-- > 0;) {
    MlirOperation operation = operations.data[i];
    bool reached = false;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(operation) && !reached; ++r)
      reached = sambaPointerMapGet(set, mlirOperationGetResult(operation, r).ptr, &unused);
    for (intptr_t k = 0; reached && k < mlirOperationGetNumOperands(operation); ++k)
      sambaPointerMapSet(set, mlirOperationGetOperand(operation, k).ptr, 1);
  }
  sambaArrayFree(&operations);
}

/* Without names the losses are the float results on which no other result depends, seen through
 * identities. Those that are left out are named in a remark. */
static bool markFinalLosses(Request *request) {
  SambaInterface *interface = &request->interface;
  SambaPointerMap needed = {0}; /* values that another result depends on */
  bool fine = true, any = false;
  uint32_t unused;

  for (size_t i = 0; i < interface->returned.size; ++i) {
    MlirOperation owner = sambaDefiningOperation(behindIdentities(interface->returned.data[i]));
    for (intptr_t k = 0; !mlirOperationIsNull(owner) && k < mlirOperationGetNumOperands(owner); ++k)
      sambaPointerMapSet(&needed, mlirOperationGetOperand(owner, k).ptr, 1);
  }
  spreadToOperands(interface->function, &needed);

  for (size_t i = 0; fine && i < interface->results.size; ++i) {
    MlirValue value = behindIdentities(interface->returned.data[i]);
    bool is_update = sambaInterfaceText(interface->results.data[i], SAMBA_REGION_ATTRIBUTE).size;
    if (is_update || !isFloat(interface->returned.data[i]))
      continue;
    if (sambaPointerMapGet(&needed, value.ptr, &unused)) {
      const char *remark = sambaArenaFormat(
          &request->arena, "result '%.*s' is no loss, because another result depends on it",
          SAMBA_STRING_ARGS(nameOf(interface->results.data[i])));
      sambaDiagnose(mlirOperationGetLocation(interface->function), MlirDiagnosticRemark,
                    sambaMlirString(remark), 0, NULL);
      continue;
    }
    fine = markLoss(request, i);
    any = true;
  }

  sambaPointerMapFree(&needed);
  if (fine && !any)
    return sambaEmitOpError(interface->function,
                            "is trained, but has no result of a float dtype to be the loss");
  return fine;
}

static bool markLosses(Request *request) {
  if (request->losses.size)
    return markNamedLosses(request);
  for (size_t i = 0; i < request->interface.results.size; ++i)
    if (isKind(request->interface.results.data[i], "loss"))
      return true;
  return markFinalLosses(request);
}

/* ---- What is trained ---- */

/* Is it the name of numbers that operators have taken in? They have no gradient anyway. */
static bool isConstant(const Request *request, SambaStringRef name) {
  MlirAttribute names =
      sambaOperationAttribute(request->interface.function, SAMBA_CONSTANTS_ATTRIBUTE);
  for (intptr_t i = 0; !mlirAttributeIsNull(names) && i < mlirArrayAttrGetNumElements(names); ++i)
    if (sambaStringRefEqual(
            sambaFromMlir(mlirStringAttrGetValue(mlirArrayAttrGetElement(names, i))), name))
      return true;
  return false;
}

static bool freeze(Request *request) {
  SambaStringRef names = request->frozen, name;
  while (takeName(&names, &name)) {
    size_t i = 0;
    SambaInterface *interface = &request->interface;
    while (i < interface->arguments.size &&
           !(isKind(interface->arguments.data[i], "weight") &&
             sambaStringRefEqual(nameOf(interface->arguments.data[i]), name)))
      ++i;
    if (i == interface->arguments.size && isConstant(request, name))
      continue;
    if (i == interface->arguments.size)
      return sambaEmitOpError(interface->function,
                              "there is no weight '%.*s' to freeze; weights are %s",
                              SAMBA_STRING_ARGS(name), listNames(request, false));
    sambaInterfaceSet(&interface->arguments.data[i], SAMBA_REQUIRES_GRAD_ATTRIBUTE,
                      mlirBoolAttrGet(contextOf(request), 0));
  }
  return true;
}

/* Every float weight, unless it says otherwise; the optimizer that was asked for trains it. */
static void markTrainable(Request *request, bool has_optimizer) {
  SambaInterface *interface = &request->interface;
  MlirBlock body = sambaBodyOf(interface->function);
  for (size_t i = 0; i < interface->arguments.size; ++i) {
    MlirAttribute *dictionary = &interface->arguments.data[i];
    if (isKind(*dictionary, "weight") && isFloat(mlirBlockGetArgument(body, (intptr_t)i)) &&
        mlirAttributeIsNull(sambaDictionaryFind(*dictionary, SAMBA_REQUIRES_GRAD_ATTRIBUTE)))
      sambaInterfaceSet(dictionary, SAMBA_REQUIRES_GRAD_ATTRIBUTE,
                        mlirBoolAttrGet(contextOf(request), 1));
    MlirAttribute trained = sambaDictionaryFind(*dictionary, SAMBA_REQUIRES_GRAD_ATTRIBUTE);
    if (has_optimizer && isKind(*dictionary, "weight") && !mlirAttributeIsNull(trained) &&
        mlirBoolAttrGetValue(trained))
      sambaInterfaceSet(dictionary, SAMBA_OPTIMIZER_ATTRIBUTE,
                        mlirIntegerAttrGet(mlirIntegerTypeGet(contextOf(request), 64), 0));
  }
}

/* ---- Buffers: operands whose new value an operator computes ---- */

static uint32_t operandNamed(const SambaOperator *row, const char *name) {
  uint32_t i = 0;
  while (strcmp(row->operands[i], name) != 0)
    ++i;
  return i;
}

/* The argument becomes a buffer, the result its new value. */
static void markBuffer(Request *request, intptr_t argument, MlirValue value) {
  SambaInterface *interface = &request->interface;
  MlirAttribute *dictionary = &interface->arguments.data[argument];
  SambaStringRef name = nameOf(*dictionary);
  MlirAttribute region = mlirStringAttrGet(contextOf(request), sambaToMlir(name));
  if (!isKind(*dictionary, "weight") && !isKind(*dictionary, "buffer"))
    return;
  sambaInterfaceSet(dictionary, SAMBA_KIND_ATTRIBUTE, text(request, "buffer"));

  for (size_t i = 0; i < interface->returned.size; ++i)
    if (mlirValueEqual(interface->returned.data[i], value)) {
      sambaInterfaceSet(&interface->results.data[i], SAMBA_KIND_ATTRIBUTE, text(request, "update"));
      sambaInterfaceSet(&interface->results.data[i], SAMBA_REGION_ATTRIBUTE, region);
      return;
    }
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(contextOf(request), SAMBA_NAME_ATTRIBUTE, region),
      sambaNamedAttribute(contextOf(request), SAMBA_KIND_ATTRIBUTE, text(request, "update")),
      sambaNamedAttribute(contextOf(request), SAMBA_REGION_ATTRIBUTE, region)};
  sambaInterfaceAddResult(interface, value, 3, attributes);
}

static void markBuffers(Request *request) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(request->interface.function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    const SambaOperator *row = sambaOperatorOf(operation);
    for (uint32_t r = 0; row && r < sambaOperatorResults(row); ++r) {
      if (!row->updates[r])
        continue;
      MlirValue old = mlirOperationGetOperand(operation, operandNamed(row, row->updates[r]));
      if (mlirValueIsABlockArgument(old))
        markBuffer(request, mlirBlockArgumentGetArgNumber(old),
                   mlirOperationGetResult(operation, r));
    }
  }
}

/* ---- Hyperparameters of layers: constants become argins ---- */

static const struct {
  const char *operand, *kind;
  double least, most;
} layerHyperparameters[] = {{"p", "dropout_rate", 0, 0.99999994}, {"seed", "dropout_seed", 0, 0}};
enum { layerHyperparameterCount = sizeof layerHyperparameters / sizeof *layerHyperparameters };

/* The number in a constant of rank 0. False: it is none. */
static bool scalarOf(MlirValue value, double *out_number) {
  MlirOperation owner = sambaDefiningOperation(value);
  SambaTensorType type;
  if (mlirOperationIsNull(owner) || !sambaOperationIsSplat(owner))
    return false;
  MlirAttribute elements = sambaSplatValue(owner);
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  bool fine = !status && type.rank == 0;
  sambaStatusFree(status);
  if (fine && type.dtype == SAMBA_DTYPE_F32)
    *out_number = (double)mlirDenseElementsAttrGetFloatSplatValue(elements);
  else if (fine && type.dtype == SAMBA_DTYPE_I64)
    *out_number = (double)mlirDenseElementsAttrGetInt64SplatValue(elements);
  else
    return false;
  return true;
}

static void bindAtLaunch(Request *request, MlirOperation operation, uint32_t operand, size_t which,
                         double number) {
  MlirContext context = contextOf(request);
  MlirValue value = mlirOperationGetOperand(operation, operand);
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  const char *name =
      layer.size
          ? sambaArenaFormat(&request->arena, "%.*s__%s", SAMBA_STRING_ARGS(layer),
                             layerHyperparameters[which].operand)
          : sambaArenaFormat(&request->arena, "argument%zu__%s", request->interface.arguments.size,
                             layerHyperparameters[which].operand);
  MlirType f64 = mlirF64TypeGet(context);
  MlirNamedAttribute entries[5] = {
      sambaNamedAttribute(context, "kind", text(request, layerHyperparameters[which].kind)),
      sambaNamedAttribute(context, "group", text(request, layerHyperparameters[which].operand)),
      sambaNamedAttribute(
          context, "default",
          isFloat(value) ? mlirFloatAttrDoubleGet(context, f64, number)
                         : mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), (int64_t)number)),
      sambaNamedAttribute(context, "min",
                          mlirFloatAttrDoubleGet(context, f64, layerHyperparameters[which].least)),
      sambaNamedAttribute(context, "max",
                          mlirFloatAttrDoubleGet(context, f64, layerHyperparameters[which].most))};
  bool bounded = layerHyperparameters[which].most > 0;
  MlirAttribute argin =
      sambaAttributeGet(mlirOperationGetLocation(operation), SAMBA_ARGIN_KIND, sambaMlirString(""),
                        mlirDictionaryAttrGet(context, bounded ? 5 : 3, entries));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, SAMBA_NAME_ATTRIBUTE, text(request, name)),
      sambaNamedAttribute(context, SAMBA_KIND_ATTRIBUTE, text(request, "argin")),
      sambaNamedAttribute(context, SAMBA_ARGIN_ATTRIBUTE, argin)};

  mlirOperationSetOperand(
      operation, operand,
      sambaInterfaceAddArgument(&request->interface, mlirValueGetType(value), 3, attributes));
}

static void bindLayerHyperparameters(Request *request) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(request->interface.function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    const SambaOperator *row = sambaOperatorOf(operation);
    for (uint32_t i = row && row->host_scalars ? row->host_scalars : UINT32_MAX;
         row && i < (uint32_t)mlirOperationGetNumOperands(operation); ++i)
      for (size_t k = 0; k < layerHyperparameterCount; ++k) {
        double number;
        if (strcmp(row->operands[i], layerHyperparameters[k].operand) == 0 &&
            scalarOf(mlirOperationGetOperand(operation, i), &number))
          bindAtLaunch(request, operation, i, k, number);
      }
  }
}

/* ---- The optimizer ---- */

static bool setOptimizer(Request *request, SambaStringRef text_of_optimizer) {
  MlirContext context = contextOf(request);
  MlirOperation function = request->interface.function;
  const SambaOptimizerKind *kind;
  double values[SAMBA_SETTING_COUNT];
  SambaStatus status = sambaOptimizerParse(text_of_optimizer, &kind, values);
  if (status)
    return sambaEmitOpStatus(function, sambaStatusAnnotate(status, "optimizer"));

  MlirNamedAttribute entries[SAMBA_MAX_OPTIMIZER_SETTINGS];
  for (uint32_t i = 0; i < kind->setting_count; ++i) {
    SambaOptimizerSettingName name = kind->settings[i].name;
    entries[i] =
        sambaNamedAttribute(context, sambaOptimizerSettingName(name),
                            mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), values[name]));
  }
  MlirAttribute optimizer = sambaAttributeGet(
      mlirOperationGetLocation(function), SAMBA_OPTIMIZER_KIND, sambaMlirString(kind->name),
      mlirDictionaryAttrGet(context, kind->setting_count, entries));
  if (mlirAttributeIsNull(optimizer))
    return false;
  mlirOperationSetAttributeByName(function, sambaMlirString(SAMBA_OPTIMIZERS_ATTRIBUTE),
                                  mlirArrayAttrGet(context, 1, &optimizer));
  return true;
}

static void setMode(Request *request, bool accumulate) {
  MlirContext context = contextOf(request);
  MlirOperation function = request->interface.function;
  MlirNamedAttribute mode = sambaNamedAttribute(context, "mode", text(request, "training"));
  mlirOperationSetAttributeByName(function, sambaMlirString(SAMBA_GRAPH_ATTRIBUTE),
                                  mlirDictionaryAttrGet(context, 1, &mode));
  mlirOperationRemoveAttributeByName(function, sambaMlirString(SAMBA_CONSTANTS_ATTRIBUTE));
  if (accumulate)
    mlirOperationSetAttributeByName(function, sambaMlirString(SAMBA_ACCUMULATE_ATTRIBUTE),
                                    mlirBoolAttrGet(context, 1));
}

bool sambaRequestTraining(MlirOperation module, const char *loss, const char *optimizer,
                          const char *freeze_list, const char *accumulate) {
  bool sums = strcmp(accumulate, "true") == 0;
  if (!sums && strcmp(accumulate, "false") != 0)
    return sambaEmitOpError(
        module, "samba-request-training: accumulate wants true or false, not '%s'", accumulate);
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    Request request = {.losses = sambaStringRef(loss), .frozen = sambaStringRef(freeze_list)};
    sambaInterfaceRead(operation, &request.interface);
    markBuffers(&request);
    bool fine = markLosses(&request) && freeze(&request) &&
                (!optimizer[0] || setOptimizer(&request, sambaStringRef(optimizer)));
    if (fine) {
      markTrainable(&request, optimizer[0]);
      bindLayerHyperparameters(&request);
      setMode(&request, sums);
      sambaInterfaceWrite(&request.interface);
    }
    sambaInterfaceFree(&request.interface);
    sambaArenaDestroy(&request.arena);
    if (!fine)
      return false;
  }
  return true;
}
