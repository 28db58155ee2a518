/* SambaSection -> rdu.section; see section_io.h. */
#include "dialect/rdu/section/section_io.h"

#include "backend/section/access.h"
#include "backend/section/token_shape.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/rdu_types.h"
#include "dialect/rdu/section/section_text.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

/*===-- Dictionaries --------------------------------------------------------------------------===*/

typedef struct Entries {
  MlirContext context;
  intptr_t size;
  MlirNamedAttribute items[24];
} Entries;

static void add(Entries *entries, const char *name, MlirAttribute value) {
  entries->items[entries->size++] = sambaNamedAttribute(entries->context, name, value);
}
static void addInteger(Entries *entries, const char *name, int64_t value) {
  add(entries, name, mlirIntegerAttrGet(mlirIntegerTypeGet(entries->context, 64), value));
}
static void addText(Entries *entries, const char *name, const char *text) {
  add(entries, name, mlirStringAttrGet(entries->context, mlirStringRefCreateFromCString(text)));
}
static void addFlag(Entries *entries, const char *name, bool value) {
  if (value)
    add(entries, name, mlirUnitAttrGet(entries->context));
}
static void addList(Entries *entries, const char *name, uint32_t size, const int64_t *values) {
  add(entries, name, mlirDenseI64ArrayGet(entries->context, size, values));
}
static void addTrips(Entries *entries, const char *name, uint32_t size, const uint32_t *trips) {
  int64_t wide[64];
  for (uint32_t i = 0; i < size && i < 64; ++i)
    wide[i] = trips[i];
  if (size)
    addList(entries, name, size, wide);
}
static MlirAttribute dictionaryOf(const Entries *entries) {
  return mlirDictionaryAttrGet(entries->context, entries->size, entries->items);
}

/*===-- Ports ---------------------------------------------------------------------------------===*/

static void addAccess(Entries *entries, const SambaAccess *access) {
  addTrips(entries, "slots", access->slot_level, access->trips);
  addTrips(entries, "loops", access->token_level - access->slot_level,
           access->trips + access->slot_level);
  addTrips(entries, "tile", access->counter_count - access->token_level,
           access->trips + access->token_level);
  if (access->base)
    addInteger(entries, "base", access->base);
  addList(entries, "strides", access->counter_count, access->strides);
  if (access->guard_count) {
    MlirAttribute *guards = sambaAllocate(sambaArraySize(access->guard_count, sizeof *guards));
    for (uint32_t g = 0; g < access->guard_count; ++g) {
      Entries guard = {.context = entries->context};
      addInteger(&guard, "constant", access->guards[g].constant);
      addInteger(&guard, "limit", access->guards[g].limit);
      addList(&guard, "strides", access->counter_count, access->guards[g].strides);
      guards[g] = dictionaryOf(&guard);
    }
    add(entries, "guards", mlirArrayAttrGet(entries->context, access->guard_count, guards));
    free(guards);
  }

  if (access->fill)
    addInteger(entries, "fill", (int64_t)access->fill);
  if (access->has_index) {
    Entries index = {.context = entries->context};
    addInteger(&index, "counters", access->index_counters);
    addInteger(&index, "stride", access->index_stride);
    addInteger(&index, "limit", access->index_limit);
    add(entries, "index", dictionaryOf(&index));
  }
}

static MlirAttribute portToIr(MlirContext context, const SambaUnit *unit, bool output,
                              uint32_t index) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  Entries entries = {.context = context};
  if (port->stream_count != 1)
    addInteger(&entries, "streams", port->stream_count);
  if (port->block != 1)
    addInteger(&entries, "block", port->block);
  if (sambaPortHasAccess(unit, output, index)) {
    addAccess(&entries, &port->access);
  } else if (unit->kind == SAMBA_UNIT_COMPUTE) {
    if (port->compute.level != unit->compute.token_level)
      addInteger(&entries, "level", port->compute.level);
    addList(&entries, "strides", unit->compute.counter_count, port->compute.strides);
  }

  return dictionaryOf(&entries);
}

/* The list of ports; left out when each is plain: one stream, nothing to say. */
static void addPorts(Entries *entries, const char *name, const SambaUnit *unit, bool output) {
  uint32_t count = output ? unit->output_count : unit->input_count;
  bool plain = true;
  MlirAttribute *ports = sambaAllocate(sambaArraySize(count, sizeof *ports));
  for (uint32_t i = 0; i < count; ++i) {
    ports[i] = portToIr(entries->context, unit, output, i);
    plain = plain && mlirDictionaryAttrGetNumElements(ports[i]) == 0;
  }
  if (!plain)
    add(entries, name, mlirArrayAttrGet(entries->context, count, ports));
  free(ports);
}

/*===-- Types ---------------------------------------------------------------------------------===*/

/* The shape of an output's tokens, where the counters tell it; else one dimension. */
static uint32_t tokenShape(const SambaUnit *unit, uint32_t index, int64_t *dims) {
  const SambaPort *port = &unit->outputs[index];
  uint32_t rank = 0;
  uint64_t product = 1;

  if (sambaPortHasAccess(unit, true, index)) {
    for (uint32_t c = port->access.token_level; c < port->access.counter_count; ++c)
      dims[rank++] = port->access.trips[c], product *= port->access.trips[c];
  } else if (unit->kind == SAMBA_UNIT_COMPUTE) {
    for (uint32_t c = unit->compute.counter_count;
         c-- > port->compute.level;) /* row-major from the inside, or not at all */
      if (port->compute.strides[c]) {
        if ((uint64_t)port->compute.strides[c] != product)
          return dims[0] = (int64_t)port->token_elements, 1;
        dims[rank++] = unit->compute.trips[c], product *= unit->compute.trips[c];
      }
    for (uint32_t i = 0; i < rank / 2; ++i) {
      int64_t swapped = dims[i];
      dims[i] = dims[rank - 1 - i];
      dims[rank - 1 - i] = swapped;
    }
  }

  if (rank && product == port->token_elements)
    return rank;
  return dims[0] = (int64_t)port->token_elements, 1;
}

/* The counters of a stream whose order nobody states: those of its source, where its takers have
 * them too, as far as they have any; else the ones that they have in common. */
static uint32_t streamShape(const SambaSection *section, const SambaStream *stream, int64_t *dims) {
  const SambaUnit *source = &section->units[stream->source.unit];
  const SambaTokenShape made = sambaTokenShape(source, true, stream->source.port);
  SambaTokenShape all = made;
  bool same = true, agree = true;

  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaEndpoint *end = &stream->destinations[d];
    SambaTokenShape taken = sambaTokenShape(&section->units[end->unit], false, end->port);
    same &= sambaTokenShapeRefines(&made, &taken) || sambaTokenShapeRefines(&taken, &made);
    agree = agree && sambaTokenShapesMeet(&all, &taken, &all);
  }
  if (same)
    return tokenShape(source, stream->source.port, dims);

  dims[0] = (int64_t)source->outputs[stream->source.port].token_elements;
  for (uint32_t d = 0; agree && d < all.rank; ++d)
    dims[d] = (int64_t)all.dims[d];
  return agree ? all.rank : 1;
}

static MlirType streamType(MlirContext context, const SambaSection *section, uint32_t stream) {
  const SambaStream *s = &section->streams[stream];
  const SambaPort *port = &section->units[s->source.unit].outputs[s->source.port];
  if (s->kind == SAMBA_STREAM_CONTROL || port->token_elements == 0)
    return sambaRduTypeGet(context, SAMBA_RDU_CONTROL, 0, NULL, SAMBA_ORDER_NONE, NULL,
                           (MlirType){NULL});
  int64_t dims[SAMBA_MAX_COUNTERS];
  bool stated = port->order_count && s->kind == SAMBA_STREAM_VECTOR;
  uint32_t rank = stated ? port->order_count : streamShape(section, s, dims);
  for (uint32_t c = 0; stated && c < rank; ++c)
    dims[c] = (int64_t)port->order[c].trips;
  return sambaRduTypeGet(context,
                         s->kind == SAMBA_STREAM_SCALAR ? SAMBA_RDU_SCALAR : SAMBA_RDU_VECTOR, rank,
                         dims, stated ? port->order_kind : SAMBA_ORDER_NONE, port->order,
                         sambaDTypeToType(context, port->dtype));
}

/*===-- Units ---------------------------------------------------------------------------------===*/

typedef struct Writer {
  const SambaSection *section;
  MlirContext context;
  MlirLocation location;
  MlirBlock block;
  MlirType *types;         /* per stream */
  MlirValue *values;       /* per stream; what stands for it so far */
  MlirOperation *stand_in; /* per stream: used before its unit exists */
} Writer;

static MlirValue valueOf(Writer *writer, uint32_t stream) {
  if (!writer->values[stream].ptr) {
    SambaOperationParts parts = {.name = "builtin.unrealized_conversion_cast",
                                 .location = writer->location,
                                 .result_count = 1,
                                 .results = &writer->types[stream]};
    writer->stand_in[stream] = sambaBuildOperation(&parts);
    writer->values[stream] = mlirOperationGetResult(writer->stand_in[stream], 0);
  }
  return writer->values[stream];
}

static void settle(Writer *writer, uint32_t stream, MlirValue value) {
  if (writer->stand_in[stream].ptr) {
    mlirValueReplaceAllUsesOfWith(writer->values[stream], value);
    mlirOperationDestroy(writer->stand_in[stream]);
  }
  writer->values[stream] = value;
}

static void addPlace(Entries *entries, const SambaUnit *unit) {
  if (sambaUnitIsPlaced(unit) && !sambaUnitIsAddressGenerator(unit))
    addList(entries, "site", 2, (const int64_t[]){unit->x, unit->y});
  else if (sambaUnitIsPlaced(unit))
    addInteger(entries, "ag", unit->load_store.ag);
}

static void addUnitAttributes(Entries *entries, const SambaUnit *unit) {
  addText(entries, "name", unit->name);
  if (unit->layer && unit->layer[0])
    addText(entries, "layer", unit->layer);
  if (unit->lanes)
    addInteger(entries, "lanes", unit->lanes);
  if (unit->kind == SAMBA_UNIT_BUFFER) {
    addInteger(entries, "depth", unit->buffer.slot_count);
    addInteger(entries, "slot_elements", (int64_t)unit->buffer.slot_elements);
    if (unit->buffer.banking != SAMBA_BANKING_COLUMN)
      addText(entries, "banking", sambaBankingName(unit->buffer.banking));
    if (unit->buffer.row_words)
      addInteger(entries, "row_words", unit->buffer.row_words);
    if (unit->buffer.skew)
      addInteger(entries, "skew", unit->buffer.skew);
    addFlag(entries, "in_place", unit->buffer.in_place);
    if (unit->buffer.loop_carried)
      addInteger(entries, "initial", (int64_t)unit->buffer.initial);
  }

  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    int64_t reduced[64];
    uint32_t count = 0;
    addTrips(entries, "loops", unit->compute.token_level, unit->compute.trips);
    addTrips(entries, "tile", unit->compute.counter_count - unit->compute.token_level,
             unit->compute.trips + unit->compute.token_level);
    for (uint32_t c = 0; c < unit->compute.counter_count && c < 64; ++c)
      if (unit->compute.program.reduce_mask >> c & 1)
        reduced[count++] = c;
    if (count)
      addList(entries, "reduce", count, reduced);
    addFlag(entries, "systolic", unit->compute.program.systolic);
    addFlag(entries, "lane_reduce", unit->compute.program.lane_reduce);
  }

  addPlace(entries, unit);
  addPorts(entries, "inputs", unit, false);
  addPorts(entries, "outputs", unit, true);
}

static void writeUnit(Writer *writer, const SambaUnit *unit) {
  bool memory = sambaUnitIsAddressGenerator(unit);
  Entries entries = {.context = writer->context};
  SAMBA_ARRAY(MlirValue) operands = {0};
  SAMBA_ARRAY(MlirType) results = {0};
  addUnitAttributes(&entries, unit);
  if (memory)
    sambaArrayAppend(&operands, mlirBlockGetArgument(writer->block, unit->load_store.symbol));
  for (uint32_t p = 0; p < unit->input_count; ++p)
    for (uint32_t s = 0; s < unit->inputs[p].stream_count; ++s)
      sambaArrayAppend(&operands, valueOf(writer, unit->inputs[p].streams[s]));
  for (uint32_t p = 0; p < unit->output_count; ++p)
    for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s)
      sambaArrayAppend(&results, writer->types[unit->outputs[p].streams[s]]);
  MlirRegion program = {NULL};

  if (unit->kind == SAMBA_UNIT_COMPUTE)
    program = sambaProgramToIr(unit, writer->location);
  char name[16] = "rdu.";
  SambaOperationParts parts = {.name = strcat(name, sambaUnitKindName(unit->kind)),
                               .location = writer->location,
                               .operand_count = (intptr_t)operands.size,
                               .operands = operands.data,
                               .result_count = (intptr_t)results.size,
                               .results = results.data,
                               .attribute_count = entries.size,
                               .attributes = entries.items,
                               .region_count = program.ptr != NULL,
                               .regions = &program};
  MlirOperation op = sambaBuildOperation(&parts);
  mlirBlockAppendOwnedOperation(writer->block, op);
  intptr_t result = 0;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s)
      settle(writer, unit->outputs[p].streams[s], mlirOperationGetResult(op, result++));
  sambaArrayFree(&operands);
  sambaArrayFree(&results);
}

static void writeRoute(Writer *writer, uint32_t index) {
  const SambaStream *stream = &writer->section->streams[index];
  if (!stream->hop_count)
    return;
  SambaArena arena = {0};

  Entries entries = {.context = writer->context};
  MlirAttribute *hops = SAMBA_ARENA_ARRAY(&arena, MlirAttribute, stream->hop_count);
  for (uint32_t h = 0; h < stream->hop_count; ++h)
    hops[h] = mlirStringAttrGet(
        writer->context, mlirStringRefCreateFromCString(sambaHopFormat(&arena, &stream->hops[h])));
  add(&entries, "hops", mlirArrayAttrGet(writer->context, stream->hop_count, hops));
  MlirValue value = valueOf(writer, index);
  SambaOperationParts parts = {.name = "rdu.route",
                               .location = writer->location,
                               .operand_count = 1,
                               .operands = &value,
                               .attribute_count = entries.size,
                               .attributes = entries.items};
  mlirBlockAppendOwnedOperation(writer->block, sambaBuildOperation(&parts));
  sambaArenaDestroy(&arena);
}

/*===-- Sections ------------------------------------------------------------------------------===*/

static void addFormals(Writer *writer, Entries *entries) {
  uint32_t count = writer->section->symbol_count;
  MlirType *types = sambaAllocate(sambaArraySize(count, sizeof *types));
  MlirAttribute *attributes = sambaAllocate(sambaArraySize(count, sizeof *attributes));

  for (uint32_t i = 0; i < count; ++i) {
    const SambaFormal *formal = &writer->section->symbols[i];
    int64_t elements = (int64_t)formal->elements;
    Entries own = {.context = writer->context};
    types[i] = sambaRduTypeGet(writer->context, SAMBA_RDU_SYMBOL, 1, &elements, SAMBA_ORDER_NONE,
                               NULL, sambaDTypeToType(writer->context, formal->dtype));
    addText(&own, SAMBA_SYMBOL_NAME_ATTRIBUTE, formal->name);
    addFlag(&own, SAMBA_SYMBOL_WRITTEN_ATTRIBUTE, formal->written);
    attributes[i] = dictionaryOf(&own);
    mlirBlockAddArgument(writer->block, types[i], writer->location);
  }

  add(entries, "function_type",
      mlirTypeAttrGet(mlirFunctionTypeGet(writer->context, count, types, 0, NULL)));
  if (count)
    add(entries, "arg_attrs", mlirArrayAttrGet(writer->context, count, attributes));
  free(types);
  free(attributes);
}

MlirOperation sambaSectionToIr(const SambaSection *section, MlirAttribute machine,
                               MlirLocation location) {
  Writer writer = {.section = section,
                   .context = mlirLocationGetContext(location),
                   .location = location,
                   .block = mlirBlockCreate(0, NULL, NULL)};
  writer.types = sambaAllocateZeroed(section->stream_count + 1, sizeof *writer.types);
  writer.values = sambaAllocateZeroed(section->stream_count + 1, sizeof *writer.values);
  writer.stand_in = sambaAllocateZeroed(section->stream_count + 1, sizeof *writer.stand_in);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    writer.types[s] = streamType(writer.context, section, s);
  Entries entries = {.context = writer.context};
  addText(&entries, "sym_name", section->name);
  addFormals(&writer, &entries);
  if (!mlirAttributeIsNull(machine))
    add(&entries, "machine", machine);
  addFlag(&entries, "split_k", section->split_k);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    bool layered = unit->layer && unit->layer[0];
    writer.location =
        layered ? mlirLocationNameGet(writer.context, mlirStringRefCreateFromCString(unit->layer),
                                      location)
                : location;
    writeUnit(&writer, unit);
  }

  writer.location = location;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    writeRoute(&writer, s);
  free(writer.types);
  free(writer.values);
  free(writer.stand_in);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, writer.block);
  SambaOperationParts parts = {.name = "rdu.section",
                               .location = location,
                               .attribute_count = entries.size,
                               .attributes = entries.items,
                               .region_count = 1,
                               .regions = &region};
  return sambaBuildOperation(&parts);
}

static MlirBlock bodyOf(MlirOperation section) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(section, 0));
}

void sambaSectionReplaceIr(MlirOperation op, const SambaSection *section) {
  static const char *const replaced[] = {"function_type", "arg_attrs", "split_k"};
  MlirAttribute machine = sambaOperationAttribute(op, "machine");
  MlirOperation made = sambaSectionToIr(section, machine, mlirOperationGetLocation(op));
  /* A pass that runs on the section must leave the operation itself where it is. */
  mlirRegionTakeBody(mlirOperationGetRegion(op, 0), mlirOperationGetRegion(made, 0));
  for (size_t i = 0; i < sizeof replaced / sizeof *replaced; ++i) {
    MlirStringRef name = mlirStringRefCreateFromCString(replaced[i]);
    MlirAttribute value = mlirOperationGetAttributeByName(made, name);
    if (!mlirAttributeIsNull(value))
      mlirOperationSetAttributeByName(op, name, value);
  }
  mlirOperationDestroy(made);
}

/*===-- What placer and router change ---------------------------------------------------------===*/

void sambaSectionSitesToIr(MlirOperation op, const SambaSection *section) {
  MlirContext context = mlirOperationGetContext(op);
  MlirOperation at = mlirBlockGetFirstOperation(bodyOf(op));
  uint32_t next = 0;

  for (; !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at)) {
    if (sambaUnitKindOf(at) < 0)
      continue;
    const SambaUnit *unit = &section->units[next++];
    Entries entries = {.context = context};
    addPlace(&entries, unit);
    for (intptr_t i = 0; i < entries.size; ++i)
      mlirOperationSetAttributeByName(at, mlirIdentifierStr(entries.items[i].name),
                                      entries.items[i].attribute);
  }
}

void sambaSectionRoutesToIr(MlirOperation op, const SambaSection *section) {
  Writer writer = {.section = section,
                   .context = mlirOperationGetContext(op),
                   .location = mlirOperationGetLocation(op),
                   .block = bodyOf(op)};
  writer.values = sambaAllocateZeroed(section->stream_count + 1, sizeof *writer.values);
  MlirOperation next;
  uint32_t stream = 0;

  for (MlirOperation at = mlirBlockGetFirstOperation(writer.block); !mlirOperationIsNull(at);
       at = next) {
    next = mlirOperationGetNextInBlock(at);
    if (sambaUnitKindOf(at) < 0)
      mlirOperationDestroy(at); /* a route */
    else
      for (intptr_t i = 0; i < mlirOperationGetNumResults(at); ++i)
        writer.values[stream++] = mlirOperationGetResult(at, i);
  }

  for (uint32_t s = 0; s < section->stream_count; ++s)
    writeRoute(&writer, s);
  free(writer.values);
}
