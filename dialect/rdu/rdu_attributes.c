/* #rdu.machine and #rdu.mapping: their checks and their structs; and the rdu.* attributes that IR
 * may carry. */
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

/*===-- Machine -------------------------------------------------------------------------------===*/

static bool isInteger(MlirAttribute value) {
  return !mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value) &&
         !mlirAttributeIsABool(value);
}

/* The reason that a key of a parameter's entry gives: source = "...", assumed and the like. */
static bool readReason(MlirNamedAttribute part, SambaReason *out_reason) {
  SambaStringRef key = sambaFromMlir(mlirIdentifierStr(part.name));
  int kind = 0;
  while (kind < SAMBA_REASON_COUNT &&
         !sambaStringRefEqualC(key, sambaReasonKey((SambaReasonKind)kind)))
    ++kind;
  if (kind == SAMBA_REASON_ASSUMED) {
    *out_reason = (SambaReason){SAMBA_REASON_ASSUMED, NULL};
    return mlirAttributeIsAUnit(part.attribute);
  }
  if (kind == SAMBA_REASON_COUNT || !mlirAttributeIsAString(part.attribute))
    return false;
  MlirStringRef text = mlirStringAttrGetValue(part.attribute); /* NUL-terminated, the context's */
  *out_reason = (SambaReason){(SambaReasonKind)kind, text.data};
  return text.length > 0;
}

/* A value: a number, or one of the parameter's words. */
static bool readValue(SambaParameter parameter, MlirAttribute value, int64_t *out_value) {
  if (mlirAttributeIsNull(value))
    return false;
  if (mlirAttributeIsAString(value))
    return sambaParameterFromWord(parameter, sambaFromMlir(mlirStringAttrGetValue(value)),
                                  out_value);
  if (!isInteger(value))
    return false;
  *out_value = mlirIntegerAttrGetValueInt(value);
  return true;
}

static SambaStatus refuseParameter(SambaParameter parameter) {
  const char *name = sambaParameterName(parameter);
  if (sambaParameterWord(parameter, 0).size)
    return sambaStatusMake(
        SAMBA_INVALID,
        "#rdu.machine: '%s' must be one of %s, as a string, alone or as the value of a dictionary",
        name, sambaParameterUnit(parameter));
  return sambaStatusMake(SAMBA_INVALID,
                         "#rdu.machine: '%s' must be <integer>, {value = <integer>, assumed} "
                         "or {value = <integer>, source = \"...\"}, where derived or analogy "
                         "may stand for source",
                         name);
}

/* {value = 4, source = "..."} with the key of any kind of reason, or 4 alone, which is assumed. */
static SambaStatus readParameter(SambaParameter parameter, MlirAttribute entry, int64_t *out_value,
                                 SambaReason *out_reason) {
  bool alone = !mlirAttributeIsADictionary(entry);
  MlirAttribute value = alone ? entry : mlirAttributeGetNull();
  int reasons = alone;
  bool known = true;

  *out_reason = (SambaReason){SAMBA_REASON_ASSUMED, NULL};
  for (intptr_t i = 0; known && !alone && i < mlirDictionaryAttrGetNumElements(entry); ++i) {
    MlirNamedAttribute part = mlirDictionaryAttrGetElement(entry, i);
    if (sambaStringRefEqualC(sambaFromMlir(mlirIdentifierStr(part.name)), "value")) {
      value = part.attribute;
      continue;
    }
    known = readReason(part, out_reason);
    ++reasons;
  }

  bool valid = known && reasons == 1 && readValue(parameter, value, out_value);
  return valid ? NULL : refuseParameter(parameter);
}

/* A failure that ends with the names of what there is. */
static SambaStatus withNames(SambaStatus status, const char *what, void (*list)(SambaText *)) {
  SambaText names = {0};
  list(&names);
  status = sambaStatusNote(status, "the %s are %s", what, sambaTextGet(&names));
  sambaTextFree(&names);
  return status;
}

/* base = "sn40l": the values that the entries do not give. */
static SambaStatus readBase(MlirAttribute base, SambaMachine *out_machine) {
  const SambaMachine *shipped = mlirAttributeIsAString(base)
                                    ? sambaMachineFind(sambaFromMlir(mlirStringAttrGetValue(base)))
                                    : NULL;
  if (!shipped)
    return withNames(
        sambaStatusMake(SAMBA_INVALID, "#rdu.machine: base must be the name of a shipped machine"),
        "shipped machines", sambaMachineNames);
  *out_machine = *shipped;
  return NULL;
}

static SambaStatus readParameters(MlirAttribute body, bool *seen, SambaMachine *out_machine) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(body); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(body, i);
    SambaStringRef key = sambaFromMlir(mlirIdentifierStr(entry.name));
    if (sambaStringRefEqualC(key, "base"))
      continue;
    SambaParameter parameter = sambaParameterFromName(key);
    if (parameter == SAMBA_PARAMETER_COUNT)
      return withNames(sambaStatusMake(SAMBA_INVALID, "#rdu.machine has no parameter '%.*s'",
                                       SAMBA_STRING_ARGS(key)),
                       "parameters", sambaParameterNames);

    int64_t value;
    SambaReason reason;
    SAMBA_RETURN_IF_ERROR(readParameter(parameter, entry.attribute, &value, &reason));
    sambaMachineSet(out_machine, parameter, value, reason);
    seen[parameter] = true;
  }
  return NULL;
}

/* The first parameter in which two machines differ; SAMBA_PARAMETER_COUNT when there is none. */
static SambaParameter firstDifference(const SambaMachine *machine, const SambaMachine *other) {
  int parameter = 0;
  while (parameter < SAMBA_PARAMETER_COUNT && sambaMachineGet(machine, (SambaParameter)parameter) ==
                                                  sambaMachineGet(other, (SambaParameter)parameter))
    ++parameter;
  return (SambaParameter)parameter;
}

/* Every report names its machine, so a machine that is called like a shipped one must be that
 * one. */
static SambaStatus checkName(const SambaMachine *machine) {
  const SambaMachine *shipped = sambaMachineFind(sambaStringRef(machine->name));
  if (!shipped)
    return NULL;
  SambaParameter parameter = firstDifference(machine, shipped);
  if (parameter == SAMBA_PARAMETER_COUNT)
    return NULL;
  return sambaStatusNote(
      sambaStatusMake(SAMBA_INVALID,
                      "#rdu.machine: %s is %lld, but the shipped machine '%s' has %lld",
                      sambaParameterName(parameter), (long long)sambaMachineGet(machine, parameter),
                      machine->name, (long long)sambaMachineGet(shipped, parameter)),
      "give a machine with values of its own a name of its own, as in #rdu.machine<\"my_%s\", ...>",
      machine->name);
}

static SambaStatus readMachine(SambaStringRef name, MlirAttribute body, SambaMachine *out_machine) {
  *out_machine = (SambaMachine){0};
  const SambaMachine *shipped = sambaMachineFind(name);
  bool seen[SAMBA_PARAMETER_COUNT] = {false};

  if (!name.size || name.size >= sizeof out_machine->name)
    return sambaStatusMake(SAMBA_INVALID, "#rdu.machine needs a name of 1 to %zu characters",
                           sizeof out_machine->name - 1);
  if (!mlirDictionaryAttrGetNumElements(body)) {
    if (!shipped)
      return withNames(sambaStatusMake(SAMBA_INVALID,
                                       "#rdu.machine: there is no shipped machine '%.*s'; give "
                                       "base = \"...\" and what differs, or every parameter",
                                       SAMBA_STRING_ARGS(name)),
                       "shipped machines", sambaMachineNames);
    *out_machine = *shipped;
    return NULL;
  }

  MlirAttribute base =
      mlirDictionaryAttrGetElementByName(body, mlirStringRefCreateFromCString("base"));
  if (!mlirAttributeIsNull(base))
    SAMBA_RETURN_IF_ERROR(readBase(base, out_machine));
  memset(out_machine->name, 0, sizeof out_machine->name);
  memcpy(out_machine->name, name.data, name.size);
  SAMBA_RETURN_IF_ERROR(readParameters(body, seen, out_machine));

  for (int parameter = 0; parameter < SAMBA_PARAMETER_COUNT; ++parameter)
    if (mlirAttributeIsNull(base) && !seen[parameter])
      return sambaStatusNote(
          sambaStatusMake(SAMBA_INVALID, "#rdu.machine lacks parameter '%s' (%s, %s)",
                          sambaParameterName((SambaParameter)parameter),
                          sambaParameterDescription((SambaParameter)parameter),
                          sambaParameterUnit((SambaParameter)parameter)),
          "with base = \"sn40l\", what is not given is taken from that shipped machine");
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaMachineCheck(out_machine), "#rdu.machine"));
  return checkName(out_machine);
}

SambaStatus sambaMachineFromAttribute(MlirAttribute attribute, SambaMachine *out_machine) {
  if (!sambaAttributeIs(attribute, SAMBA_MACHINE_KIND))
    return sambaStatusMake(SAMBA_INVALID, "the machine must be #rdu.machine<...>");
  return readMachine(sambaFromMlir(sambaAttributeHead(attribute)), sambaAttributeBody(attribute),
                     out_machine);
}

static bool isShipped(const SambaMachine *machine) {
  const SambaMachine *shipped = sambaMachineFind(sambaStringRef(machine->name));
  return shipped && firstDifference(machine, shipped) == SAMBA_PARAMETER_COUNT;
}

static MlirAttribute valueToAttribute(MlirContext context, SambaParameter parameter,
                                      int64_t value) {
  SambaStringRef word = sambaParameterWord(parameter, value);
  return word.size ? mlirStringAttrGet(context, mlirStringRefCreate(word.data, word.size))
                   : mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value);
}

MlirAttribute sambaMachineToAttribute(MlirLocation location, const SambaMachine *machine) {
  MlirContext context = mlirLocationGetContext(location);
  MlirNamedAttribute entries[SAMBA_PARAMETER_COUNT];
  intptr_t count = isShipped(machine) ? 0 : SAMBA_PARAMETER_COUNT;

  for (intptr_t i = 0; i < count; ++i) {
    const SambaReason *reason = &machine->reasons[i];
    MlirAttribute value =
        valueToAttribute(context, (SambaParameter)i, sambaMachineGet(machine, (SambaParameter)i));
    MlirNamedAttribute parts[2] = {
        sambaNamedAttribute(context, "value", value),
        sambaNamedAttribute(
            context, sambaReasonKey(reason->kind),
            reason->text ? mlirStringAttrGet(context, mlirStringRefCreateFromCString(reason->text))
                         : mlirUnitAttrGet(context))};
    entries[i] = sambaNamedAttribute(context, sambaParameterName((SambaParameter)i),
                                     mlirDictionaryAttrGet(context, 2, parts));
  }

  return sambaAttributeGet(location, SAMBA_MACHINE_KIND,
                           mlirStringRefCreateFromCString(machine->name),
                           mlirDictionaryAttrGet(context, count, entries));
}

/*===-- Mapping -------------------------------------------------------------------------------===*/

/* The lists of a mapping: of what they have an entry each, and the smallest and the largest. */
static const struct {
  const char *name;
  enum { perDimension, perOperand, perPipelineLoop } each;
  int64_t least, most;
} lists[] = {
    {"tile", perDimension, 1, INT64_MAX},
    {"unroll", perDimension, 1, UINT32_MAX},
    {"order", perDimension, 0, SAMBA_MAX_STAGE_DIMS - 1},
    {"level", perOperand, 0, SAMBA_MAX_STAGE_DIMS},
    {"depth", perOperand, 0, UINT32_MAX},
    {"joined", perOperand, 0, 2},
    {"pipeline", perPipelineLoop, 0, SAMBA_MAX_STAGE_DIMS - 1},
};
enum { listTile, listUnroll, listOrder, listLevel, listDepth, listJoined, listPipeline, listCount };

/* How long a list may be. */
static intptr_t mostEntries(int list) {
  switch (lists[list].each) {
  case perDimension:
    return SAMBA_MAX_STAGE_DIMS;
  case perOperand:
    return SAMBA_MAX_STAGE_OPERANDS;
  default:
    return SAMBA_MAX_PIPELINE_DIMS;
  }
}

static int64_t listEntry(const SambaMapping *mapping, int list, uint32_t k) {
  switch (list) {
  case listTile:
    return mapping->tile[k];
  case listUnroll:
    return mapping->unroll[k];
  case listOrder:
    return mapping->order[k];
  case listLevel:
    return mapping->operand_level[k];
  case listDepth:
    return mapping->operand_depth[k];
  case listJoined:
    return mapping->operand_joined[k];
  default:
    return mapping->pipeline_dims[k];
  }
}

static void setListEntry(SambaMapping *mapping, int list, intptr_t k, int64_t number) {
  switch (list) {
  case listTile:
    mapping->tile[k] = number;
    break;
  case listUnroll:
    mapping->unroll[k] = (uint32_t)number;
    break;
  case listOrder:
    mapping->order[k] = (uint32_t)number;
    break;
  case listLevel:
    mapping->operand_level[k] = (uint32_t)number;
    break;
  case listDepth:
    mapping->operand_depth[k] = (uint32_t)number;
    break;
  case listJoined:
    mapping->operand_joined[k] = (uint32_t)number;
    break;
  default:
    mapping->pipeline_dims[k] = (uint32_t)number;
  }
}

static SambaStatus readMappingNumber(SambaStringRef key, MlirAttribute value, SambaMapping *out) {
  bool phases = sambaStringRefEqualC(key, "phases");
  if (!phases && !sambaStringRefEqualC(key, "group"))
    return sambaStatusMake(SAMBA_INVALID,
                           "#rdu.mapping has no '%.*s'; it has tile, unroll, order, level, "
                           "depth, joined, group, pipeline and phases",
                           SAMBA_STRING_ARGS(key));

  if (!isInteger(value) || mlirIntegerAttrGetValueInt(value) < 0 ||
      mlirIntegerAttrGetValueInt(value) > UINT32_MAX)
    return sambaStatusMake(SAMBA_INVALID, "#rdu.mapping: '%s' must be an integer from 0 to %lld",
                           phases ? "phases" : "group", (long long)UINT32_MAX);

  *(phases ? &out->phases : &out->group) = (uint32_t)mlirIntegerAttrGetValueInt(value);
  return NULL;
}

/* All lists of a mapping that have an entry per dimension have one length. */
static SambaStatus readDimCount(int list, intptr_t size, SambaMapping *out) {
  if (lists[list].each != perDimension)
    return NULL;
  if (out->dim_count && out->dim_count != (uint32_t)size)
    return sambaStatusMake(
        SAMBA_INVALID,
        "#rdu.mapping: tile, unroll and order must have one length, but there are %u and %lld",
        out->dim_count, (long long)size);
  out->dim_count = (uint32_t)size;
  return NULL;
}

static SambaStatus readMappingList(int list, MlirAttribute value, SambaMapping *out) {
  intptr_t limit = mostEntries(list);
  if (!mlirAttributeIsADenseI64Array(value) || mlirDenseArrayGetNumElements(value) > limit)
    return sambaStatusMake(SAMBA_INVALID,
                           "#rdu.mapping: '%s' must be a list of at most %lld integers",
                           lists[list].name, (long long)limit);
  intptr_t size = mlirDenseArrayGetNumElements(value);
  SAMBA_RETURN_IF_ERROR(readDimCount(list, size, out));

  uint32_t used = 0;
  for (intptr_t k = 0; k < size; ++k) {
    int64_t number = mlirDenseI64ArrayGetElement(value, k);
    if (number < lists[list].least || number > lists[list].most)
      return sambaStatusMake(
          SAMBA_INVALID,
          "#rdu.mapping: '%s' has %lld, but every entry must be at least %lld and at most %lld",
          lists[list].name, (long long)number, (long long)lists[list].least,
          (long long)lists[list].most);
    setListEntry(out, list, k, number);
    used |= list == listOrder && number < size ? 1u << number : 0;
  }
  if (list == listPipeline)
    out->pipeline_count = (uint32_t)size;

  if (list == listOrder && used != (1u << size) - 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "#rdu.mapping: 'order' must name each of the %lld dimensions once",
                           (long long)size);
  return NULL;
}

static SambaStatus readMapping(MlirAttribute body, SambaMapping *out) {
  *out = (SambaMapping){0};
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(body); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(body, i);
    SambaStringRef key = sambaFromMlir(mlirIdentifierStr(entry.name));
    int list = 0;
    while (list < listCount && !sambaStringRefEqualC(key, lists[list].name))
      ++list;
    SAMBA_RETURN_IF_ERROR(list < listCount ? readMappingList(list, entry.attribute, out)
                                           : readMappingNumber(key, entry.attribute, out));
  }

  return NULL;
}

SambaStatus sambaMappingFromAttribute(MlirAttribute attribute, SambaMapping *out_mapping) {
  if (!sambaAttributeIs(attribute, SAMBA_MAPPING_KIND))
    return sambaStatusMake(SAMBA_INVALID, "a mapping must be #rdu.mapping<...>");
  return readMapping(sambaAttributeBody(attribute), out_mapping);
}

MlirAttribute sambaMappingToAttribute(MlirLocation location, const SambaMapping *mapping,
                                      uint32_t operand_count) {
  MlirContext context = mlirLocationGetContext(location);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirNamedAttribute entries[listCount + 2];
  intptr_t used = 0;

  for (int list = 0; list < listCount; ++list) {
    int64_t numbers[SAMBA_MAX_STAGE_DIMS] = {0};
    const uint32_t sizes[] = {mapping->dim_count, operand_count, mapping->pipeline_count};
    uint32_t size = sizes[lists[list].each];
    bool any = list == listPipeline && size;
    for (uint32_t k = 0; k < size; ++k) {
      numbers[k] = listEntry(mapping, list, k);
      any = any || numbers[k];
    }
    while (lists[list].each == perOperand && size && !numbers[size - 1])
      --size;
    if (any)
      entries[used++] = sambaNamedAttribute(context, lists[list].name,
                                            mlirDenseI64ArrayGet(context, size, numbers));
  }

  if (mapping->group)
    entries[used++] =
        sambaNamedAttribute(context, "group", mlirIntegerAttrGet(i64, mapping->group));
  if (mapping->phases)
    entries[used++] =
        sambaNamedAttribute(context, "phases", mlirIntegerAttrGet(i64, mapping->phases));
  return sambaAttributeGet(location, SAMBA_MAPPING_KIND, mlirStringRefCreate("", 0),
                           mlirDictionaryAttrGet(context, used, entries));
}

SambaStatus sambaCheckRduAttribute(MlirStringRef mnemonic, MlirStringRef head, MlirAttribute body) {
  if (sambaStringRefEqualC(sambaFromMlir(mnemonic), "machine")) {
    SambaMachine machine;
    return readMachine(sambaFromMlir(head), body, &machine);
  }
  SambaMapping mapping;
  if (head.length)
    return sambaStatusMake(SAMBA_INVALID, "#rdu.mapping takes no name");
  return readMapping(body, &mapping);
}

/*===-- rdu.* on IR ---------------------------------------------------------------------------===*/

static bool isMappingOrList(MlirAttribute value) {
  bool fits = mlirAttributeIsAArray(value);
  for (intptr_t i = 0; fits && i < mlirArrayAttrGetNumElements(value); ++i)
    fits = sambaAttributeIs(mlirArrayAttrGetElement(value, i), SAMBA_MAPPING_KIND);
  return fits || sambaAttributeIs(value, SAMBA_MAPPING_KIND);
}

static bool isMachine(MlirAttribute value) { return sambaAttributeIs(value, SAMBA_MACHINE_KIND); }
static bool isDivisor(MlirAttribute value) {
  return mlirAttributeIsAInteger(value) && mlirIntegerAttrGetValueInt(value) >= 1 &&
         mlirIntegerAttrGetValueInt(value) <= SAMBA_MOST_PARALLEL_DIVISOR;
}
static bool isList(MlirAttribute value) { return mlirAttributeIsADenseI64Array(value); }

static const struct {
  const char *name;
  unsigned places; /* bits of SambaAttributePlace */
  bool (*fits)(MlirAttribute value);
  const char *expected;
} known[] = {
    {SAMBA_MODULE_MACHINE_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isMachine, "#rdu.machine<...>"},
    {SAMBA_MAPPING_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isMappingOrList,
     "#rdu.mapping<...> or a list of them"},
    {SAMBA_SYMBOL_NAME_ATTRIBUTE, 1 << SAMBA_ON_ARGUMENT, mlirAttributeIsAString, "a string"},
    {SAMBA_SYMBOL_WRITTEN_ATTRIBUTE, 1 << SAMBA_ON_ARGUMENT, mlirAttributeIsAUnit,
     "without a value"},
    {SAMBA_LANE_REDUCE_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAUnit, "without a value"},
    {SAMBA_ADDRESS_ATTRIBUTE, 1 << SAMBA_ON_ARGUMENT | 1 << SAMBA_ON_OPERATION, isInteger,
     "an integer"},
    {SAMBA_ADDRESSES_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isList, "a list of integers"},
    {SAMBA_ACTIVATIONS_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isList, "a list of integers"},
    {SAMBA_REGIONS_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAArray, "a list of strings"},
    {SAMBA_LAYERS_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAArray, "a list of strings"},
    {SAMBA_END_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsADictionary, "a dictionary"},
    {SAMBA_SPATIAL_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAUnit, "without a value"},
    {SAMBA_STAGE_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAString, "a string"},
    {SAMBA_PARALLEL_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isDivisor, "an integer from 1 to 4096"},
    {SAMBA_SECTION_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isInteger, "an integer"},
    {SAMBA_OPERATORS_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, isList, "a list of integers"},
    {SAMBA_FAILED_ATTRIBUTE, 1 << SAMBA_ON_OPERATION, mlirAttributeIsAUnit, "without a value"},
};

bool sambaVerifyRduAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                             MlirNamedAttribute attribute) {
  SambaStringRef name = sambaFromMlir(mlirIdentifierStr(attribute.name));
  (void)index;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (sambaStringRefEqualC(name, known[i].name) && known[i].places >> place & 1)
      return known[i].fits(attribute.attribute) ||
             sambaEmitOpError(op, "attribute '%s' must be %s", known[i].name, known[i].expected);
  return sambaEmitOpError(op,
                          "attribute '%.*s' does not exist in the rdu dialect or cannot stand here",
                          SAMBA_STRING_ARGS(name));
}
