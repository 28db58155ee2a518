/* One operation of rdu -> SambaUnit; see section_text.h. Dictionaries of ports are read key by key:
 * an unknown key, a value of the wrong form or a list of the wrong length is an error that names
 * unit and port. */
#include "backend/section/access.h"
#include "dialect/rdu/rdu_types.h"
#include "dialect/rdu/section/section_text.h"
#include "dialect/samba/samba.h"

static bool isI64(MlirAttribute value) {
  return mlirAttributeIsAInteger(value) && !mlirAttributeIsABool(value);
}

/*===-- Dictionaries --------------------------------------------------------------------------===*/

typedef struct Key {
  const char *name;
  enum { keyInteger, keyList, keyDictionary, keyArray } form;
  int64_t least, most; /* of an integer, or of each entry of a list */
  union {
    int64_t *integer;
    struct {
      const int64_t **data;
      int64_t *size;
    } list;
    MlirAttribute *attribute;
  } out;
} Key;

static SambaStatus readKey(SambaArena *arena, const Key *key, MlirAttribute value) {
  switch (key->form) {
  case keyInteger:
    if (!isI64(value))
      return sambaStatusMake(SAMBA_INVALID, "'%s' must be an integer", key->name);
    *key->out.integer = mlirIntegerAttrGetValueInt(value);
    if (*key->out.integer < key->least || *key->out.integer > key->most)
      return sambaStatusMake(SAMBA_INVALID, "'%s' is %lld, but must be from %lld to %lld",
                             key->name, (long long)*key->out.integer, (long long)key->least,
                             (long long)key->most);
    return NULL;
  case keyList: {
    if (!mlirAttributeIsADenseI64Array(value))
      return sambaStatusMake(SAMBA_INVALID, "'%s' must be a list of integers", key->name);
    intptr_t size = mlirDenseArrayGetNumElements(value);
    int64_t *data = SAMBA_ARENA_ARRAY(arena, int64_t, (size_t)size);
    for (intptr_t i = 0; i < size; ++i) {
      data[i] = mlirDenseI64ArrayGetElement(value, i);
      if (data[i] < key->least || data[i] > key->most)
        return sambaStatusMake(SAMBA_INVALID,
                               "'%s' has %lld, but entries must be from %lld to %lld", key->name,
                               (long long)data[i], (long long)key->least, (long long)key->most);
    }
    *key->out.list.data = data;
    *key->out.list.size = size;
    return NULL;
  }
  default:
    if (key->form == keyDictionary ? !mlirAttributeIsADictionary(value)
                                   : !mlirAttributeIsAArray(value))
      return sambaStatusMake(SAMBA_INVALID, "'%s' must be a %s", key->name,
                             key->form == keyDictionary ? "dictionary" : "list of dictionaries");
    *key->out.attribute = value;
    return NULL;
  }
}

static SambaStatus readKeys(SambaArena *arena, MlirAttribute dictionary, const Key *keys,
                            size_t count) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(dictionary); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(dictionary, i);
    SambaStringRef name = sambaFromMlir(mlirIdentifierStr(entry.name));
    size_t k = 0;
    while (k < count && !sambaStringRefEqualC(name, keys[k].name))
      ++k;
    if (k == count)
      return sambaStatusMake(SAMBA_INVALID, "there is no '%.*s' here", SAMBA_STRING_ARGS(name));
    SAMBA_RETURN_IF_ERROR(readKey(arena, &keys[k], entry.attribute));
  }
  return NULL;
}

#define INTEGER(key, low, high, variable)                                                          \
  {.name = (key), .form = keyInteger, .least = (low), .most = (high), .out.integer = &(variable)}
#define LIST(key, low, high, values, count)                                                        \
  {                                                                                                \
    .name = (key), .form = keyList, .least = (low), .most = (high), .out.list = {                  \
      &(values),                                                                                   \
      &(count)                                                                                     \
    }                                                                                              \
  }
#define NESTED(key, kind, variable) {.name = (key), .form = (kind), .out.attribute = &(variable)}

/*===-- Ports ---------------------------------------------------------------------------------===*/

typedef struct Reader {
  SambaArena *arena;
  SambaUnit *unit;
  MlirOperation op;
  bool output; /* which side is being read */
  uint32_t port;
} Reader;

static SambaStatus readGuards(Reader *reader, MlirAttribute list, uint32_t counters,
                              SambaAccess *access) {
  access->guard_count = (uint32_t)mlirArrayAttrGetNumElements(list);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(reader->arena, SambaGuard, access->guard_count);

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    MlirAttribute dictionary = mlirArrayAttrGetElement(list, g);
    if (!mlirAttributeIsADictionary(dictionary))
      return sambaStatusMake(SAMBA_INVALID,
                             "guard %u must be {constant = 0, limit = 28, strides = [...]}", g);
    int64_t size = -1;
    const Key keys[] = {INTEGER("constant", INT64_MIN, INT64_MAX, guards[g].constant),
                        INTEGER("limit", INT64_MIN, INT64_MAX, guards[g].limit),
                        LIST("strides", INT64_MIN, INT64_MAX, guards[g].strides, size)};
    SambaStatus status = readKeys(reader->arena, dictionary, keys, sizeof keys / sizeof *keys);
    if (!status && size != counters)
      status = sambaStatusMake(SAMBA_INVALID, "needs 'strides' for the %u counters", counters);
    if (status)
      return sambaStatusAnnotate(status, "guard %u", g);
  }

  access->guards = guards;
  return NULL;
}

static SambaStatus readAccess(Reader *reader, MlirAttribute dictionary, SambaPort *port,
                              int64_t *streams, int64_t *block) {
  const int64_t *slots = NULL, *loops = NULL, *tile = NULL;
  int64_t slotCount = 0, loopCount = 0, tileCount = 0, strideCount = -1, fill = 0;
  MlirAttribute guards = mlirAttributeGetNull();
  MlirAttribute index = mlirAttributeGetNull();
  SambaAccess *access = &port->access;

  const Key keys[] = {INTEGER("streams", 0, UINT16_MAX, *streams),
                      INTEGER("block", 1, UINT32_MAX, *block),
                      LIST("slots", 1, UINT32_MAX, slots, slotCount),
                      LIST("loops", 1, UINT32_MAX, loops, loopCount),
                      LIST("tile", 1, UINT32_MAX, tile, tileCount),
                      INTEGER("base", INT64_MIN, INT64_MAX, access->base),
                      LIST("strides", INT64_MIN, INT64_MAX, access->strides, strideCount),
                      NESTED("guards", keyArray, guards),
                      INTEGER("fill", INT64_MIN, INT64_MAX, fill),
                      NESTED("index", keyDictionary, index)};
  SAMBA_RETURN_IF_ERROR(readKeys(reader->arena, dictionary, keys, sizeof keys / sizeof *keys));
  if (slotCount && reader->unit->kind != SAMBA_UNIT_BUFFER)
    return sambaStatusMake(SAMBA_INVALID, "'slots' are for buffers");
  int64_t count = slotCount + loopCount + tileCount;
  if (count > 64)
    return sambaStatusMake(SAMBA_INVALID, "has %lld counters; a chain has at most 64",
                           (long long)count);
  if (strideCount < 0 && count == 0)
    strideCount = 0;
  if (strideCount != count)
    return sambaStatusMake(SAMBA_INVALID,
                           "needs one of 'strides' per counter of slots, loops and tile: %lld",
                           (long long)count);
  uint32_t *trips = SAMBA_ARENA_ARRAY(reader->arena, uint32_t, (size_t)count);
  uint32_t used = 0;
  for (int64_t i = 0; i < slotCount; ++i)
    trips[used++] = (uint32_t)slots[i];
  for (int64_t i = 0; i < loopCount; ++i)
    trips[used++] = (uint32_t)loops[i];
  for (int64_t i = 0; i < tileCount; ++i)
    trips[used++] = (uint32_t)tile[i];
  access->counter_count = (uint32_t)count;
  access->trips = trips;
  access->slot_level = (uint32_t)slotCount;
  access->token_level = (uint32_t)(slotCount + loopCount);
  access->fill = (uint64_t)fill;
  if (!mlirAttributeIsNull(guards))
    SAMBA_RETURN_IF_ERROR(readGuards(reader, guards, access->counter_count, access));
  if (mlirAttributeIsNull(index))
    return NULL;
  int64_t counters = 0;
  const Key index_keys[] = {INTEGER("counters", 0, 64, counters),
                            INTEGER("stride", INT64_MIN, INT64_MAX, access->index_stride),
                            INTEGER("limit", 0, INT64_MAX, access->index_limit)};
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
      readKeys(reader->arena, index, index_keys, sizeof index_keys / sizeof *index_keys), "index"));
  access->has_index = true;
  access->index_counters = (uint32_t)counters;

  return NULL;
}

static SambaStatus readLanePort(Reader *reader, MlirAttribute dictionary, SambaPort *port,
                                int64_t *streams, int64_t *block) {
  int64_t level = reader->unit->compute.token_level;
  int64_t size = -1;

  const Key keys[] = {INTEGER("streams", 0, UINT16_MAX, *streams),
                      INTEGER("block", 1, UINT32_MAX, *block), INTEGER("level", 0, 64, level),
                      LIST("strides", INT64_MIN, INT64_MAX, port->compute.strides, size)};
  SAMBA_RETURN_IF_ERROR(readKeys(reader->arena, dictionary, keys, sizeof keys / sizeof *keys));
  if (size < 0)
    port->compute.strides =
        SAMBA_ARENA_ARRAY(reader->arena, int64_t, reader->unit->compute.counter_count);
  else if (size != reader->unit->compute.counter_count)
    return sambaStatusMake(SAMBA_INVALID, "needs one of 'strides' per counter of the unit: %u",
                           reader->unit->compute.counter_count);
  port->compute.level = (uint32_t)level;

  return NULL;
}

/* Token type of a port: that of its streams, which all have one. */
SambaStatus sambaPortTypeFromIr(SambaPort *port, MlirType type) {
  SambaDType dtype = SAMBA_DTYPE_F32;
  uint64_t elements = 0;

  if (sambaRduTypeKind(type) != SAMBA_RDU_CONTROL) {
    dtype = sambaDTypeFromType(sambaRduTypeElement(type));
    if (dtype == SAMBA_DTYPE_COUNT)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "has elements that the machine does not have");
    int64_t product = 1;
    for (intptr_t i = 0; i < sambaRduTypeRank(type); ++i)
      if (sambaMulOverflows(product, sambaRduTypeDim(type, i), &product))
        return sambaStatusMake(SAMBA_INVALID, "has tokens of more than 2^63 elements");
    elements = (uint64_t)product;
  }

  port->dtype = dtype;
  port->token_elements = elements;
  return NULL;
}

/* The order that the type of a port's streams states. */
static void readOrder(SambaArena *arena, SambaPort *port, MlirType type) {
  uint32_t rank = (uint32_t)sambaRduTypeRank(type);
  SambaOrderStep *order = SAMBA_ARENA_ARRAY(arena, SambaOrderStep, rank);
  port->order_kind = sambaRduTypeOrder(type, order);
  port->order_count = port->order_kind == SAMBA_ORDER_NONE ? 0 : rank;
  port->order = order;
}

/* One side's ports. `values`: the operands or results that are streams, in order. */
static SambaStatus readPorts(Reader *reader, const char *key, bool output, intptr_t value_count,
                             const MlirValue *values, uint32_t *out_count, SambaPort **out_ports) {
  MlirAttribute list = sambaOperationAttribute(reader->op, key);
  bool plain = mlirAttributeIsNull(list);
  uint32_t count = (uint32_t)(plain ? value_count : mlirArrayAttrGetNumElements(list));
  SambaPort *ports = SAMBA_ARENA_ARRAY(reader->arena, SambaPort, count);
  MlirAttribute empty = mlirDictionaryAttrGet(mlirOperationGetContext(reader->op), 0, NULL);
  intptr_t at = 0;

  reader->output = output;
  for (uint32_t p = 0; p < count; ++p) {
    MlirAttribute dictionary = plain ? empty : mlirArrayAttrGetElement(list, p);
    SambaPort *port = &ports[p];
    int64_t streams = 1, block = 1;
    reader->port = p;
    SambaStatus status = NULL;
    const Key plain_keys[] = {INTEGER("streams", 0, UINT16_MAX, streams),
                              INTEGER("block", 1, UINT32_MAX, block)};
    if (!mlirAttributeIsADictionary(dictionary))
      status = sambaStatusMake(SAMBA_INVALID, "must be a dictionary");
    else if (sambaPortHasAccess(reader->unit, output, p))
      status = readAccess(reader, dictionary, port, &streams, &block);
    else if (reader->unit->kind == SAMBA_UNIT_COMPUTE)
      status = readLanePort(reader, dictionary, port, &streams, &block);
    else
      status = readKeys(reader->arena, dictionary, plain_keys, 2);
    if (!status && at + streams > value_count)
      status = sambaStatusMake(SAMBA_INVALID, "takes %lld streams, but the unit has only %lld left",
                               (long long)streams, (long long)(value_count - at));
    for (int64_t s = 0; !status && s < streams; ++s) {
      MlirType type = mlirValueGetType(values[at + s]);
      if (!mlirTypeEqual(type, mlirValueGetType(values[at])))
        status = sambaStatusMake(SAMBA_INVALID, "has streams of different types");
      else if (s == 0)
        status = sambaPortTypeFromIr(port, type);
    }
    if (!status && streams > 0)
      readOrder(reader->arena, port, mlirValueGetType(values[at]));

    if (status)
      return sambaStatusAnnotate(status, "%s %u", output ? "output" : "input", p);
    port->stream_count = (uint32_t)streams;
    port->block = (uint32_t)block;
    at += streams;
  }

  if (at != value_count)
    return sambaStatusMake(SAMBA_INVALID, "its %s take %lld streams, but it has %lld",
                           output ? "outputs" : "inputs", (long long)at, (long long)value_count);
  *out_count = count;
  *out_ports = ports;

  return NULL;
}

/*===-- Units ---------------------------------------------------------------------------------===*/

SambaStatus sambaI64FromIr(MlirOperation op, const char *name, int64_t least, int64_t most,
                           int64_t *out_value) {
  MlirAttribute value = sambaOperationAttribute(op, name);
  if (mlirAttributeIsNull(value))
    return NULL;
  if (!isI64(value) || mlirIntegerAttrGetValueInt(value) < least ||
      mlirIntegerAttrGetValueInt(value) > most)
    return sambaStatusMake(SAMBA_INVALID, "'%s' must be an integer from %lld to %lld", name,
                           (long long)least, (long long)most);
  *out_value = mlirIntegerAttrGetValueInt(value);
  return NULL;
}

static intptr_t listSize(MlirAttribute list) {
  return mlirAttributeIsNull(list) ? 0 : mlirDenseArrayGetNumElements(list);
}

static SambaStatus readPlacement(MlirOperation op, SambaUnit *unit) {
  MlirAttribute site = sambaOperationAttribute(op, "site");
  if (!mlirAttributeIsNull(site)) {
    for (intptr_t i = 0; i < listSize(site); ++i)
      if (listSize(site) != 2 || mlirDenseI64ArrayGetElement(site, i) < 0 ||
          mlirDenseI64ArrayGetElement(site, i) > INT32_MAX)
        return sambaStatusMake(SAMBA_INVALID, "'site' must be [column, row]");
    unit->x = (int32_t)mlirDenseI64ArrayGetElement(site, 0);
    unit->y = (int32_t)mlirDenseI64ArrayGetElement(site, 1);
  }

  if (!sambaUnitIsAddressGenerator(unit))
    return NULL;
  int64_t ag = SAMBA_NO_INDEX;
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "ag", 0, INT32_MAX, &ag));
  unit->load_store.ag = (uint32_t)ag;
  return NULL;
}

static SambaStatus readChain(SambaArena *arena, MlirOperation op, SambaUnit *unit) {
  MlirAttribute lists[2] = {sambaOperationAttribute(op, "loops"),
                            sambaOperationAttribute(op, "tile")};
  MlirAttribute reduce = sambaOperationAttribute(op, "reduce");

  unit->compute.token_level = (uint32_t)listSize(lists[0]);
  unit->compute.counter_count = (uint32_t)(listSize(lists[0]) + listSize(lists[1]));
  if (unit->compute.counter_count > 64)
    return sambaStatusMake(SAMBA_INVALID, "has %u counters; a chain has at most 64",
                           unit->compute.counter_count);
  uint32_t *trips = SAMBA_ARENA_ARRAY(arena, uint32_t, unit->compute.counter_count);

  for (uint32_t c = 0; c < unit->compute.counter_count; ++c) {
    bool inner = c >= unit->compute.token_level;
    int64_t trip =
        mlirDenseI64ArrayGetElement(lists[inner], inner ? c - unit->compute.token_level : c);
    if (trip < 1 || trip > UINT32_MAX)
      return sambaStatusMake(SAMBA_INVALID,
                             "counter %u runs %lld times, but must run 1 to %u times", c,
                             (long long)trip, UINT32_MAX);
    trips[c] = (uint32_t)trip;
  }

  unit->compute.trips = trips;
  for (intptr_t i = 0; i < listSize(reduce); ++i) {
    int64_t counter = mlirDenseI64ArrayGetElement(reduce, i);
    if (counter < 0 || counter >= unit->compute.counter_count)
      return sambaStatusMake(SAMBA_INVALID, "'reduce' names counter %lld, but the unit has %u",
                             (long long)counter, unit->compute.counter_count);
    unit->compute.program.reduce_mask |= (uint64_t)1 << counter;
  }

  unit->compute.program.systolic = !mlirAttributeIsNull(sambaOperationAttribute(op, "systolic"));
  unit->compute.program.lane_reduce =
      !mlirAttributeIsNull(sambaOperationAttribute(op, "lane_reduce"));
  return NULL;
}

const char *sambaTextOf(SambaArena *arena, MlirAttribute text) {
  return sambaStringRefCopy(arena, sambaFromMlir(mlirStringAttrGetValue(text))).data;
}

int sambaUnitKindOf(MlirOperation op) {
  SambaStringRef name = sambaFromMlir(sambaOperationName(op));
  for (int kind = SAMBA_UNIT_LOAD; kind <= SAMBA_UNIT_COMPUTE; ++kind)
    if (name.size > 4 && memcmp(name.data, "rdu.", 4) == 0 &&
        sambaStringRefEqualC((SambaStringRef){name.data + 4, name.size - 4},
                             sambaUnitKindName((SambaUnitKind)kind)))
      return kind;
  return -1;
}

static SambaStatus readBuffer(MlirOperation op, SambaBuffer *buffer) {
  int64_t depth = 0, elements = 0, row_words = 0, skew = 0, initial = 0;
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "depth", 1, UINT32_MAX, &depth));
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "slot_elements", 1, INT64_MAX, &elements));
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "row_words", 1, UINT32_MAX, &row_words));
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "skew", 1, UINT32_MAX, &skew));
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "initial", INT64_MIN, INT64_MAX, &initial));

  MlirAttribute banking = sambaOperationAttribute(op, "banking");
  if (!mlirAttributeIsNull(banking))
    buffer->banking = sambaBankingFromName(sambaFromMlir(mlirStringAttrGetValue(banking)));
  if (buffer->banking == SAMBA_BANKING_COUNT)
    return sambaStatusMake(SAMBA_INVALID, "'banking' is \"column\", \"row\" or \"diagonal\"");

  buffer->slot_count = (uint32_t)depth;
  buffer->slot_elements = (uint64_t)elements;
  buffer->row_words = (uint32_t)row_words;
  buffer->skew = (uint32_t)skew;
  buffer->in_place = !mlirAttributeIsNull(sambaOperationAttribute(op, "in_place"));
  buffer->loop_carried = !mlirAttributeIsNull(sambaOperationAttribute(op, "initial"));
  buffer->initial = (uint64_t)initial;
  return NULL;
}

SambaStatus sambaUnitFromIr(MlirOperation op, SambaArena *arena, SambaUnit *unit) {
  *unit = sambaUnitMake((SambaUnitKind)sambaUnitKindOf(op), "", "");
  MlirAttribute name = sambaOperationAttribute(op, "name");
  MlirAttribute layer = sambaOperationAttribute(op, "layer");

  if (!mlirAttributeIsNull(name))
    unit->name = sambaTextOf(arena, name);
  if (!mlirAttributeIsNull(layer))
    unit->layer = sambaTextOf(arena, layer);
  bool memory = sambaUnitIsAddressGenerator(unit);
  SAMBA_RETURN_IF_ERROR(readPlacement(op, unit));
  int64_t lanes = 0;
  SAMBA_RETURN_IF_ERROR(sambaI64FromIr(op, "lanes", 1, SAMBA_MAX_LANES, &lanes));
  unit->lanes = (uint32_t)lanes;

  if (unit->kind == SAMBA_UNIT_BUFFER)
    SAMBA_RETURN_IF_ERROR(readBuffer(op, &unit->buffer));

  if (unit->kind == SAMBA_UNIT_COMPUTE)
    SAMBA_RETURN_IF_ERROR(readChain(arena, op, unit));
  intptr_t operands = mlirOperationGetNumOperands(op);
  intptr_t results = mlirOperationGetNumResults(op);
  MlirValue *values = SAMBA_ARENA_ARRAY(arena, MlirValue, (size_t)(operands + results));
  for (intptr_t i = 0; i < operands; ++i)
    values[i] = mlirOperationGetOperand(op, i);
  for (intptr_t i = 0; i < results; ++i)
    values[operands + i] = mlirOperationGetResult(op, i);
  Reader reader = {.arena = arena, .unit = unit, .op = op};
  SAMBA_RETURN_IF_ERROR(readPorts(&reader, "inputs", false, operands - memory, values + memory,
                                  &unit->input_count, &unit->inputs));
  SAMBA_RETURN_IF_ERROR(readPorts(&reader, "outputs", true, results, values + operands,
                                  &unit->output_count, &unit->outputs));
  return unit->kind == SAMBA_UNIT_COMPUTE ? sambaProgramFromIr(op, arena, unit) : NULL;
}
