/* The samba.* attributes that arguments, results, operations and modules may carry: one table says
 * where each may stand and what it must be; docs/dialects.md tells what they mean. Anything else
 * that starts with "samba." is an error. */
#include "dialect/samba/graph.h"
#include "dialect/samba/ops/hook_functions.h"
#include "dialect/samba/ops/interface_attributes.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/training/optimizer_kinds.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* What an attribute is attached to. */
typedef struct Site {
  MlirOperation op;
  SambaAttributePlace place;
  unsigned index;
  MlirType type; /* of the argument or result; null on operations */
} Site;

static bool isOneOf(MlirAttribute value, const char *const *words) {
  return mlirAttributeIsAString(value) &&
         sambaStringRefIsOneOf(sambaFromMlir(mlirStringAttrGetValue(value)), words);
}

/* Each check returns NULL when the value is right, else what it must be. */
static const char *checkText(const Site *site, MlirAttribute value) {
  (void)site;
  return mlirAttributeIsAString(value) ? NULL : "a string";
}
static const char *checkPhase(const Site *site, MlirAttribute value) {
  static const char *const phases[] = {"ZEROGRAD", "FWD", "BCKWD", "REDUCE",
                                       "GRADNORM", "OPT", NULL};
  (void)site;
  return isOneOf(value, phases)
             ? NULL
             : "\"ZEROGRAD\", \"FWD\", \"BCKWD\", \"REDUCE\", \"GRADNORM\" or \"OPT\"";
}
/* Arithmetic is rewritten, and its attributes with it; a copy into a region stays. */
static const char *checkRegion(const Site *site, MlirAttribute value) {
  if (site->place == SAMBA_ON_OPERATION &&
      !sambaStringRefEqualC(sambaFromMlir(sambaOperationName(site->op)), "samba.contiguous"))
    return "on a samba.contiguous, whose result the region holds from there on";
  return checkText(site, value);
}
static const char *checkFlag(const Site *site, MlirAttribute value) {
  (void)site;
  return mlirAttributeIsABool(value) ? NULL : "true or false";
}
static const char *checkKind(const Site *site, MlirAttribute value) {
  static const char *const arguments[] = {"input",    "weight",   "buffer", "optimizer_state",
                                          "gradient", "constant", "argin",  NULL};
  static const char *const results[] = {"output", "loss", "update", "gradient", NULL};
  if (site->place == SAMBA_ON_ARGUMENT)
    return isOneOf(value, arguments) ? NULL
                                     : "\"input\", \"weight\", \"buffer\", \"optimizer_state\", "
                                       "\"gradient\", \"constant\" or \"argin\"";
  return isOneOf(value, results) ? NULL : "\"output\", \"loss\", \"update\" or \"gradient\"";
}
static const char *checkMemory(const Site *site, MlirAttribute value) {
  static const char *const memories[] = {"ddr", "hbm", "host", NULL};
  (void)site;
  return isOneOf(value, memories) ? NULL : "\"ddr\", \"hbm\" or \"host\"";
}
static const char *checkDType(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsAType(value) &&
              (sambaDTypeFromType(mlirTypeAttrGetValue(value)) != SAMBA_DTYPE_COUNT ||
               mlirTypeIsAF64(mlirTypeAttrGetValue(value)));
  return fits ? NULL : "an element type: f32, bf16, f16, f64, i1, i8, ui8, i16, i32 or i64";
}
static const char *checkValue(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = sambaAttributeIs(value, SAMBA_EXTERNAL_KIND) ||
              sambaAttributeIs(value, SAMBA_DERIVED_KIND) || mlirAttributeIsAElements(value);
  return fits ? NULL : "#samba.external<...>, #samba.derived<...> or a dense tensor";
}
static const char *checkArgin(const Site *site, MlirAttribute value) {
  (void)site;
  return sambaAttributeIs(value, SAMBA_ARGIN_KIND) ? NULL : "#samba.argin<...>";
}
static const char *checkOptimizers(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsAArray(value);
  for (intptr_t i = 0; fits && i < mlirArrayAttrGetNumElements(value); ++i)
    fits = sambaAttributeIs(mlirArrayAttrGetElement(value, i), SAMBA_OPTIMIZER_KIND);
  return fits ? NULL : "a list of #samba.optimizer<...>";
}
static const char *checkNumber(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsAInteger(value) && !mlirAttributeIsABool(value) &&
              mlirIntegerAttrGetValueInt(value) >= 0;
  return fits ? NULL : "an integer of 0 or more";
}
static const char *checkBlock(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsADenseI64Array(value) && mlirDenseArrayGetNumElements(value) == 2 &&
              mlirDenseI64ArrayGetElement(value, 0) > 0 &&
              mlirDenseI64ArrayGetElement(value, 0) <= mlirDenseI64ArrayGetElement(value, 1);
  return fits ? NULL : "array<i64: ELEMENTS, STEP>, a block and the step to the next";
}
static const char *checkGraph(const Site *site, MlirAttribute value) {
  static const char *const modes[] = {"training", "inference", NULL};
  (void)site;
  bool fits = mlirAttributeIsADictionary(value) && mlirDictionaryAttrGetNumElements(value) == 1;
  if (fits) {
    MlirAttribute mode = sambaDictionaryFind(value, "mode");
    fits = !mlirAttributeIsNull(mode) && isOneOf(mode, modes);
  }
  return fits ? NULL : "{mode = \"training\"} or {mode = \"inference\"}";
}
static const char *checkGraphs(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsAArray(value);
  for (intptr_t i = 0; fits && i < mlirArrayAttrGetNumElements(value); ++i)
    fits = mlirAttributeIsAFlatSymbolRef(mlirArrayAttrGetElement(value, i));
  return fits ? NULL : "a list of functions, [@forward]";
}
static const char *checkConstants(const Site *site, MlirAttribute value) {
  (void)site;
  bool fits = mlirAttributeIsAArray(value);
  for (intptr_t i = 0; fits && i < mlirArrayAttrGetNumElements(value); ++i)
    fits = mlirAttributeIsAString(mlirArrayAttrGetElement(value, i));
  return fits ? NULL : "a list of names";
}
static const char *checkNames(const Site *site, MlirAttribute value) {
  bool fits = mlirAttributeIsAArray(value) &&
              (!mlirTypeIsAShaped(site->type) ||
               mlirArrayAttrGetNumElements(value) == mlirShapedTypeGetRank(site->type));
  for (intptr_t i = 0; fits && i < mlirArrayAttrGetNumElements(value); ++i)
    fits = mlirAttributeIsAString(mlirArrayAttrGetElement(value, i));
  return fits ? NULL : "a list with one string per dimension";
}
static const char *checkDictionary(const Site *site, MlirAttribute value) {
  (void)site;
  return mlirAttributeIsADictionary(value) ? NULL : "a dictionary";
}

enum {
  onOperation = 1 << SAMBA_ON_OPERATION,
  onArgument = 1 << SAMBA_ON_ARGUMENT,
  onResult = 1 << SAMBA_ON_RESULT
};

static const struct {
  const char *name;
  unsigned places;
  const char *(*check)(const Site *, MlirAttribute);
} known[] = {
    {SAMBA_NAME_ATTRIBUTE, onArgument | onResult, checkText},
    {SAMBA_KIND_ATTRIBUTE, onArgument | onResult, checkKind},
    {SAMBA_REGION_ATTRIBUTE, onArgument | onResult | onOperation, checkRegion},
    {SAMBA_HOST_DTYPE_ATTRIBUTE, onArgument | onResult, checkDType},
    {SAMBA_VALUE_ATTRIBUTE, onArgument, checkValue},
    {SAMBA_MEMORY_ATTRIBUTE, onArgument | onResult, checkMemory},
    {SAMBA_REQUIRES_GRAD_ATTRIBUTE, onArgument, checkFlag},
    {SAMBA_ARGIN_ATTRIBUTE, onArgument, checkArgin},
    {SAMBA_MASTER_ATTRIBUTE, onArgument, checkText},
    {SAMBA_BLOCK_ATTRIBUTE, onArgument, checkBlock},
    {SAMBA_DIM_NAME_ATTRIBUTE, onArgument | onResult, checkNames},
    {SAMBA_SHARD_ATTRIBUTE, onArgument | onResult, checkDictionary},
    {SAMBA_GRAD_OF_ATTRIBUTE, onResult, checkText},
    {SAMBA_OPERATION_NAME_ATTRIBUTE, onOperation, checkText},
    {SAMBA_OPERATION_STAGE_ATTRIBUTE, onOperation, checkText},
    {SAMBA_PHASE_ATTRIBUTE, onOperation, checkPhase},
    {SAMBA_KEEP_PRECISION_ATTRIBUTE, onOperation, checkFlag},
    {SAMBA_SECTION_START_ATTRIBUTE, onOperation, checkFlag},
    {SAMBA_OPTIMIZER_ATTRIBUTE, onArgument, checkNumber},
    {SAMBA_OPTIMIZERS_ATTRIBUTE, onOperation, checkOptimizers},
    {SAMBA_ACCUMULATE_ATTRIBUTE, onOperation, checkFlag},
    {SAMBA_CONSTANTS_ATTRIBUTE, onOperation, checkConstants},
    {SAMBA_GRAPH_ATTRIBUTE, onOperation, checkGraph},
    {SAMBA_GRAPHS_ATTRIBUTE, onOperation, checkGraphs},
};

static MlirType typeOfSite(MlirOperation op, SambaAttributePlace place, unsigned index) {
  MlirAttribute type = place == SAMBA_ON_OPERATION ? mlirAttributeGetNull()
                                                   : sambaOperationAttribute(op, "function_type");
  if (mlirAttributeIsNull(type) || !mlirAttributeIsAType(type) ||
      !mlirTypeIsAFunction(mlirTypeAttrGetValue(type)))
    return (MlirType){NULL};
  MlirType function = mlirTypeAttrGetValue(type);
  intptr_t count = place == SAMBA_ON_ARGUMENT ? mlirFunctionTypeGetNumInputs(function)
                                              : mlirFunctionTypeGetNumResults(function);
  if ((intptr_t)index >= count)
    return (MlirType){NULL};
  return place == SAMBA_ON_ARGUMENT ? mlirFunctionTypeGetInput(function, index)
                                    : mlirFunctionTypeGetResult(function, index);
}

/* The dictionary of argument or result number index; null when it has none. */
static MlirAttribute dictionaryAt(MlirOperation op, const char *list, intptr_t index) {
  MlirAttribute all = sambaOperationAttribute(op, list);
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      index >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  return mlirArrayAttrGetElement(all, index);
}

/* The element type in which a value is stored: that of the host, by default the argument's. */
static MlirType storedElement(const Site *site) {
  MlirAttribute host = dictionaryAt(site->op, "arg_attrs", site->index);
  host = mlirAttributeIsNull(host) ? host : sambaDictionaryFind(host, SAMBA_HOST_DTYPE_ATTRIBUTE);
  if (!mlirAttributeIsNull(host) && mlirAttributeIsAType(host))
    return mlirTypeAttrGetValue(host);
  return mlirShapedTypeGetElementType(site->type);
}

/* A file range has exactly the bytes of the tensor as the host sees it. */
static bool checkValueFits(const Site *site, MlirAttribute value) {
  SambaTensorType type;
  SambaStatus status = site->type.ptr ? sambaTensorTypeFromMlir(site->type, &type)
                                      : sambaStatusMake(SAMBA_INVALID, "no type");
  if (status) { /* others say what is wrong with the type */
    sambaStatusFree(status);
    return true;
  }

  MlirType element = storedElement(site);
  if (sambaAttributeIs(value, SAMBA_EXTERNAL_KIND)) {
    SambaDType stored = sambaDTypeFromType(element);
    int64_t expected =
        stored == SAMBA_DTYPE_COUNT ? 8 : sambaDTypeBytes(stored); /* f64 exists on the host only */
    for (uint32_t axis = 0; axis < type.rank; ++axis)
      if (sambaMulOverflows(expected, type.dims[axis], &expected))
        expected = -1;
    int64_t bytes =
        mlirIntegerAttrGetValueInt(sambaDictionaryFind(sambaAttributeBody(value), "bytes"));
    if (bytes != expected)
      return sambaEmitOpError(site->op,
                              "argument %u: samba.value has %lld bytes, but the tensor has %lld",
                              site->index, (long long)bytes, (long long)expected);
  } else if (mlirAttributeIsAElements(value)) {
    MlirType expected =
        mlirRankedTensorTypeGet(type.rank, type.dims, element, mlirAttributeGetNull());
    if (!mlirTypeEqual(mlirAttributeGetType(value), expected))
      return sambaEmitOpError(
          site->op, "argument %u: samba.value does not have the argument's type", site->index);
  }

  return true;
}

static bool checkGradient(const Site *site) {
  static const char *const gradient[] = {"gradient", NULL};
  MlirAttribute result = dictionaryAt(site->op, "res_attrs", site->index);
  MlirAttribute kind = sambaDictionaryFind(result, SAMBA_KIND_ATTRIBUTE);
  if (mlirAttributeIsNull(kind) || !isOneOf(kind, gradient))
    return sambaEmitOpError(
        site->op, "result %u: samba.grad_of is for results of kind \"gradient\"", site->index);
  return sambaVerifyResultGradients(site->op, site->index);
}

/* A number of #samba.argin as an element of the argument: of 32 or 64 bits, and whole for
 * integers. */
static bool fitsArgin(SambaDType dtype, MlirAttribute number) {
  if (mlirAttributeIsNull(number))
    return true;
  if (dtype == SAMBA_DTYPE_F32)
    return mlirAttributeIsAInteger(number) || fabs(mlirFloatAttrGetValueDouble(number)) <= FLT_MAX;
  if (!mlirAttributeIsAInteger(number))
    return false;
  int64_t value = mlirIntegerAttrGetValueInt(number);
  return dtype == SAMBA_DTYPE_I64 || (value >= INT32_MIN && value <= INT32_MAX);
}

static bool isArgin(const Site *site) {
  static const char *const argin[] = {"argin", NULL};
  if (site->place != SAMBA_ON_ARGUMENT)
    return false;
  MlirAttribute kind =
      sambaDictionaryFind(dictionaryAt(site->op, "arg_attrs", site->index), SAMBA_KIND_ATTRIBUTE);
  return !mlirAttributeIsNull(kind) && isOneOf(kind, argin);
}

/* An argument of kind argin: a scalar, and in a graph what the user may set. */
static bool checkArginFits(const Site *site) {
  MlirAttribute all = dictionaryAt(site->op, "arg_attrs", site->index);
  MlirAttribute argin = sambaDictionaryFind(all, SAMBA_ARGIN_ATTRIBUTE);
  SambaTensorType type = {.dtype = SAMBA_DTYPE_COUNT};
  if (site->type.ptr)
    sambaStatusFree(sambaTensorTypeFromMlir(site->type, &type));

  bool graph = sambaOperationIs(site->op, "func.func");
  if (!isArgin(site) || (graph && mlirAttributeIsNull(argin)))
    return sambaEmitOpError(site->op,
                            "argument %u: kind \"argin\" and samba.argin = #samba.argin<...> go "
                            "together, but one of them is missing",
                            site->index);
  if (type.rank != 0 || (type.dtype != SAMBA_DTYPE_F32 && type.dtype != SAMBA_DTYPE_I32 &&
                         type.dtype != SAMBA_DTYPE_I64))
    return sambaEmitOpError(
        site->op, "argument %u: an argin is a scalar: tensor<f32>, tensor<i32> or tensor<i64>",
        site->index);
  static const char *const numbers[] = {"default", "min", "max"};
  for (int i = 0; i < 3 && graph; ++i)
    if (!fitsArgin(type.dtype, sambaDictionaryFind(sambaAttributeBody(argin), numbers[i])))
      return sambaEmitOpError(site->op, "argument %u: '%s' of #samba.argin is no %s", site->index,
                              numbers[i], sambaDTypeName(type.dtype));
  return true;
}

bool sambaVerifySambaAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                               MlirNamedAttribute attribute) {
  static const char *const places[] = {"an operation", "an argument", "a result"};
  SambaStringRef name = sambaFromMlir(mlirIdentifierStr(attribute.name));

  Site site = {op, place, index, typeOfSite(op, place, index)};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (!sambaStringRefEqualC(name, known[i].name))
      continue;
    if (!(known[i].places >> place & 1))
      return sambaEmitOpError(op, "attribute '%s' cannot stand on %s", known[i].name,
                              places[place]);
    const char *expected = known[i].check(&site, attribute.attribute);
    if (expected && place == SAMBA_ON_OPERATION)
      return sambaEmitOpError(op, "attribute '%s' must be %s", known[i].name, expected);
    if (expected)
      return sambaEmitOpError(op, "%s %u: attribute '%s' must be %s",
                              place == SAMBA_ON_ARGUMENT ? "argument" : "result", index,
                              known[i].name, expected);
    if (known[i].check == checkValue)
      return checkValueFits(&site, attribute.attribute);
    if (known[i].check == checkArgin || (known[i].check == checkKind && isArgin(&site)))
      return checkArginFits(&site);
    if (sambaStringRefEqualC(name, SAMBA_GRAD_OF_ATTRIBUTE))
      return checkGradient(&site);
    if (sambaStringRefEqualC(name, SAMBA_MASTER_ATTRIBUTE))
      return sambaVerifyMasters(op, index);
    if (place == SAMBA_ON_RESULT && sambaStringRefEqualC(name, SAMBA_REGION_ATTRIBUTE))
      return sambaVerifyResultRegions(op, index);
    return true;
  }

  return sambaEmitOpError(op, "there is no attribute '%.*s' in the samba dialect",
                          SAMBA_STRING_ARGS(name));
}

/*===-- The dictionary attributes -------------------------------------------------------------===*/

typedef struct Entry {
  const char *name;
  char form; /* i integer >= 0, d number, s string, t element type, [ list, { dictionary */
  bool required;
} Entry;

static bool isInteger(MlirAttribute value) {
  return mlirAttributeIsAInteger(value) && !mlirAttributeIsABool(value);
}

static SambaStatus checkEntries(const char *what, MlirAttribute body, const Entry *entries,
                                size_t count) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(body); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(body, i);
    SambaStringRef name = sambaFromMlir(mlirIdentifierStr(entry.name));
    size_t k = 0;
    while (k < count && !sambaStringRefEqualC(name, entries[k].name))
      ++k;
    if (k == count)
      return sambaStatusMake(SAMBA_INVALID, "%s has no '%.*s'", what, SAMBA_STRING_ARGS(name));
    MlirAttribute value = entry.attribute;
    bool fits = false;
    const char *expected = "";
    switch (entries[k].form) {
    case 'i':
      fits = isInteger(value) && mlirIntegerAttrGetValueInt(value) >= 0,
      expected = "an integer of 0 or more";
      break;
    case 'd':
      fits = (mlirAttributeIsAFloat(value) && isfinite(mlirFloatAttrGetValueDouble(value))) ||
             isInteger(value),
      expected = "a finite number";
      break;
    case 's':
      fits = mlirAttributeIsAString(value), expected = "a string";
      break;
    case '[':
      fits = mlirAttributeIsAArray(value) || mlirAttributeIsADenseI64Array(value),
      expected = "a list";
      break;
    default:
      fits = mlirAttributeIsADictionary(value), expected = "a dictionary";
    }
    if (!fits)
      return sambaStatusMake(SAMBA_INVALID, "%s: '%s' must be %s", what, entries[k].name, expected);
  }

  for (size_t k = 0; k < count; ++k)
    if (entries[k].required && mlirAttributeIsNull(sambaDictionaryFind(body, entries[k].name)))
      return sambaStatusMake(SAMBA_INVALID, "%s needs '%s'", what, entries[k].name);
  return NULL;
}

static SambaStatus checkExternal(SambaStringRef head, MlirAttribute body) {
  static const Entry entries[] = {
      {"offset", 'i', true}, {"bytes", 'i', true}, {"checksum", 's', false}};
  if (!head.size)
    return sambaStatusMake(
        SAMBA_INVALID,
        "#samba.external needs a file: #samba.external<\"model.onnx\", offset = 0, bytes = 4>");
  SAMBA_RETURN_IF_ERROR(
      checkEntries("#samba.external", body, entries, sizeof entries / sizeof *entries));
  int64_t end;

  if (sambaAddOverflows(mlirIntegerAttrGetValueInt(sambaDictionaryFind(body, "offset")),
                        mlirIntegerAttrGetValueInt(sambaDictionaryFind(body, "bytes")), &end))
    return sambaStatusMake(SAMBA_INVALID,
                           "#samba.external: offset + bytes is beyond the largest file");
  return NULL;
}

static SambaStatus checkDerived(SambaStringRef head, MlirAttribute body) {
  static const Entry entries[] = {
      {"operands", '[', true}, {"types", '[', true}, {"attributes", '{', false}};
  const SambaOperator *operator = sambaOperatorFind(head);

  if (!operator)
    return sambaStatusMake(SAMBA_INVALID, "#samba.derived: there is no operation '%.*s'",
                           SAMBA_STRING_ARGS(head));
  SAMBA_RETURN_IF_ERROR(
      checkEntries("#samba.derived", body, entries, sizeof entries / sizeof *entries));
  MlirAttribute operands = sambaDictionaryFind(body, "operands");
  MlirAttribute types = sambaDictionaryFind(body, "types");
  if (!mlirAttributeIsAArray(operands) || !mlirAttributeIsAArray(types) ||
      mlirArrayAttrGetNumElements(operands) != mlirArrayAttrGetNumElements(types))
    return sambaStatusMake(SAMBA_INVALID, "#samba.derived needs one type per operand");
  intptr_t count = mlirArrayAttrGetNumElements(operands);
  SambaArena arena = {0};
  SambaTensorType *tensors = SAMBA_ARENA_ARRAY(&arena, SambaTensorType, (size_t)count);
  SambaStatus status = NULL;

  for (intptr_t i = 0; !status && i < count; ++i) {
    MlirAttribute operand = mlirArrayAttrGetElement(operands, i);
    MlirAttribute type = mlirArrayAttrGetElement(types, i);
    if (!sambaAttributeIs(operand, SAMBA_EXTERNAL_KIND) &&
        !sambaAttributeIs(operand, SAMBA_DERIVED_KIND) && !mlirAttributeIsAElements(operand))
      status = sambaStatusMake(SAMBA_INVALID,
                               "#samba.derived: operand %lld must be #samba.external<...>, "
                               "#samba.derived<...> or a dense tensor",
                               (long long)i);
    else
      status = mlirAttributeIsAType(type)
                   ? sambaTensorTypeFromMlir(mlirTypeAttrGetValue(type), &tensors[i])
                   : sambaStatusMake(SAMBA_INVALID, "#samba.derived: type %lld is not a type",
                                     (long long)i);
  }

  MlirAttribute attributes = sambaDictionaryFind(body, "attributes");
  intptr_t size =
      mlirAttributeIsNull(attributes) ? 0 : mlirDictionaryAttrGetNumElements(attributes);
  SambaAttribute *converted = SAMBA_ARENA_ARRAY(&arena, SambaAttribute, (size_t)size);

  for (intptr_t i = 0; !status && i < size; ++i)
    status =
        sambaAttributeFromMlir(&arena, mlirDictionaryAttrGetElement(attributes, i), &converted[i]);
  SambaOperatorCall call = {.operator = operator,
                            .operand_count = (uint32_t)count,
                            .operands = tensors,
                            .attribute_count = (uint32_t)size,
                            .attributes = converted};
  SambaTensorType *results =
      SAMBA_ARENA_ARRAY(&arena, SambaTensorType, sambaOperatorResults(operator));
  if (!status)
    status = sambaStatusAnnotate(sambaOperatorInfer(&call, results), "#samba.derived<\"%.*s\">",
                                 SAMBA_STRING_ARGS(head));
  sambaArenaDestroy(&arena);

  return status;
}

static double numberOf(MlirAttribute body, const char *name, double otherwise) {
  MlirAttribute value = sambaDictionaryFind(body, name);
  if (mlirAttributeIsNull(value))
    return otherwise;
  return mlirAttributeIsAFloat(value) ? mlirFloatAttrGetValueDouble(value)
                                      : (double)mlirIntegerAttrGetValueInt(value);
}

static SambaStatus checkArginBody(SambaStringRef head, MlirAttribute body) {
  static const char *const kinds[] = {"lr",           "weight_decay", "momentum", "dropout_rate",
                                      "dropout_seed", "other",        NULL};
  static const Entry entries[] = {{"kind", 's', true},
                                  {"group", 's', false},
                                  {"default", 'd', true},
                                  {"min", 'd', false},
                                  {"max", 'd', false}};
  if (head.size)
    return sambaStatusMake(SAMBA_INVALID,
                           "#samba.argin takes no name, only kind, group, default, min and max");
  SAMBA_RETURN_IF_ERROR(
      checkEntries("#samba.argin", body, entries, sizeof entries / sizeof *entries));
  if (!isOneOf(sambaDictionaryFind(body, "kind"), kinds))
    return sambaStatusMake(SAMBA_INVALID,
                           "#samba.argin: kind must be \"lr\", \"weight_decay\", \"momentum\", "
                           "\"dropout_rate\", \"dropout_seed\" or \"other\"");
  double value = numberOf(body, "default", 0);

  if (value < numberOf(body, "min", value) || value > numberOf(body, "max", value))
    return sambaStatusMake(SAMBA_INVALID, "#samba.argin: default %g is outside [%g, %g]", value,
                           numberOf(body, "min", -INFINITY), numberOf(body, "max", INFINITY));
  return NULL;
}

/* #samba.optimizer<"sgd", lr = 0.1, momentum = 0.9>; `group` stands before the names of its
 * hyperparameters, `joins` is the number of the one whose further parameters it trains. */
static SambaStatus checkOptimizer(SambaStringRef head, MlirAttribute body) {
  const SambaOptimizerKind *kind = sambaOptimizerFind(head);
  double values[SAMBA_SETTING_COUNT];
  if (!kind)
    return sambaStatusAnnotate(sambaOptimizerUnknown(head), "#samba.optimizer");
  sambaOptimizerDefaults(kind, values);

  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(body); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(body, i);
    SambaStringRef name = sambaFromMlir(mlirIdentifierStr(entry.name));
    if (sambaStringRefEqualC(name, "group") && mlirAttributeIsAString(entry.attribute))
      continue;
    if (sambaStringRefEqualC(name, "joins") && isInteger(entry.attribute))
      continue;
    if (!mlirAttributeIsAFloat(entry.attribute) && !isInteger(entry.attribute))
      return sambaStatusMake(SAMBA_INVALID, "#samba.optimizer: '%.*s' must be a number",
                             SAMBA_STRING_ARGS(name));
    SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
        sambaOptimizerSet(kind, name, numberOf(body, mlirIdentifierStr(entry.name).data, 0),
                          values),
        "#samba.optimizer"));
  }
  return sambaStatusAnnotate(sambaOptimizerCheck(kind, values), "#samba.optimizer");
}

SambaStatus sambaCheckSambaAttribute(MlirStringRef mnemonic, MlirStringRef head,
                                     MlirAttribute body) {
  SambaStringRef word = sambaFromMlir(mnemonic);
  SambaStringRef name = sambaFromMlir(head);
  if (sambaStringRefEqualC(word, "external"))
    return checkExternal(name, body);
  if (sambaStringRefEqualC(word, "derived"))
    return checkDerived(name, body);
  if (sambaStringRefEqualC(word, "optimizer"))
    return checkOptimizer(name, body);
  return checkArginBody(name, body);
}
