/* rdu.section -> SambaSection; see section_io.h. Units are read one by one (unit_from_ir.c), then
 * what joins them. */
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/rdu_types.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/rdu/section/section_text.h"
#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"

#include <stdlib.h>

static SambaStatus readFormals(MlirOperation op, SambaArena *arena, SambaSection *section) {
  MlirType type = mlirTypeAttrGetValue(sambaOperationAttribute(op, "function_type"));
  MlirAttribute attributes = sambaOperationAttribute(op, "arg_attrs");

  section->symbol_count = (uint32_t)mlirFunctionTypeGetNumInputs(type);
  section->symbols = SAMBA_ARENA_ARRAY(arena, SambaFormal, section->symbol_count);
  if (mlirFunctionTypeGetNumResults(type))
    return sambaStatusMake(SAMBA_INVALID, "a section writes to its arguments and has no results");

  for (uint32_t i = 0; i < section->symbol_count; ++i) {
    MlirType symbol = mlirFunctionTypeGetInput(type, i);
    SambaPort typed = {0};
    if (!sambaTypeIsRdu(symbol) || sambaRduTypeKind(symbol) != SAMBA_RDU_SYMBOL)
      return sambaStatusMake(SAMBA_INVALID, "argument %u must be a !rdu.symbol", i);
    SAMBA_RETURN_IF_ERROR(
        sambaStatusAnnotate(sambaPortTypeFromIr(&typed, symbol), "argument %u", i));
    MlirAttribute dictionary =
        mlirAttributeIsNull(attributes) ? attributes : mlirArrayAttrGetElement(attributes, i);
    MlirAttribute name = mlirAttributeIsNull(dictionary)
                             ? dictionary
                             : sambaDictionaryFind(dictionary, SAMBA_SYMBOL_NAME_ATTRIBUTE);
    bool written =
        !mlirAttributeIsNull(dictionary) &&
        !mlirAttributeIsNull(sambaDictionaryFind(dictionary, SAMBA_SYMBOL_WRITTEN_ATTRIBUTE));
    section->symbols[i] =
        (SambaFormal){.name = mlirAttributeIsNull(name) ? sambaArenaFormat(arena, "arg%u", i)
                                                        : sambaTextOf(arena, name),
                      .dtype = typed.dtype,
                      .elements = typed.token_elements,
                      .written = written};
  }

  return NULL;
}

static SambaStatus readRoute(MlirOperation op, SambaArena *arena, SambaStream *stream) {
  MlirAttribute hops = sambaOperationAttribute(op, "hops");
  stream->hop_count = (uint32_t)mlirArrayAttrGetNumElements(hops);
  SambaHop *parsed = SAMBA_ARENA_ARRAY(arena, SambaHop, stream->hop_count);
  for (uint32_t i = 0; i < stream->hop_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaHopParse(
        sambaFromMlir(mlirStringAttrGetValue(mlirArrayAttrGetElement(hops, i))), &parsed[i]));
  stream->hops = parsed;
  return NULL;
}

static SambaStreamKind streamKind(MlirType type) {
  switch (sambaRduTypeKind(type)) {
  case SAMBA_RDU_SCALAR:
    return SAMBA_STREAM_SCALAR;
  case SAMBA_RDU_CONTROL:
    return SAMBA_STREAM_CONTROL;
  default:
    return SAMBA_STREAM_VECTOR;
  }
}

/* Streams get their numbers from the ports that make them. */
static void numberStreams(SambaArena *arena, SambaSection *section, const MlirOperation *ops,
                          SambaPointerMap *numbers) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    section->stream_count += (uint32_t)mlirOperationGetNumResults(ops[u]);
  section->streams = SAMBA_ARENA_ARRAY(arena, SambaStream, section->stream_count);
  uint32_t next = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    uint32_t result = 0;
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      SambaPort *port = &section->units[u].outputs[p];
      uint32_t *streams = SAMBA_ARENA_ARRAY(arena, uint32_t, port->stream_count);
      for (uint32_t s = 0; s < port->stream_count; ++s, ++result) {
        MlirValue value = mlirOperationGetResult(ops[u], result);
        section->streams[next] =
            (SambaStream){.kind = streamKind(mlirValueGetType(value)), .source = {u, p}};
        sambaPointerMapSet(numbers, value.ptr, next);
        streams[s] = next++;
      }
      port->streams = streams;
    }
  }
}

/* Joins inputs to streams: each stream's destinations by counting first, then filling. */
static SambaStatus joinStreams(SambaArena *arena, SambaSection *section, const MlirOperation *ops,
                               const SambaPointerMap *numbers) {
  SambaEndpoint **ends = SAMBA_ARENA_ARRAY(arena, SambaEndpoint *, section->stream_count);
  uint32_t *filled = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);

  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t u = 0; u < section->unit_count; ++u) {
      SambaUnit *unit = &section->units[u];
      intptr_t operand = sambaUnitIsAddressGenerator(unit);
      for (uint32_t p = 0; p < unit->input_count; ++p) {
        SambaPort *port = &unit->inputs[p];
        uint32_t *streams = pass ? SAMBA_ARENA_ARRAY(arena, uint32_t, port->stream_count) : NULL;
        for (uint32_t s = 0; s < port->stream_count; ++s, ++operand) {
          uint32_t number;
          if (!sambaPointerMapGet(numbers, mlirOperationGetOperand(ops[u], operand).ptr, &number))
            return sambaStatusMake(SAMBA_INVALID,
                                   "unit '%s': operand %lld is not a stream of this section",
                                   unit->name, (long long)operand);
          if (pass) {
            streams[s] = number;
            ends[number][filled[number]++] = (SambaEndpoint){u, p};
          } else {
            ++section->streams[number].destination_count;
          }
        }
        if (pass)
          port->streams = streams;
      }
    }
    for (uint32_t i = 0; !pass && i < section->stream_count; ++i)
      section->streams[i].destinations = ends[i] =
          SAMBA_ARENA_ARRAY(arena, SambaEndpoint, section->streams[i].destination_count);
  }

  return NULL;
}

/* The error is of one operation inside the section. */
static SambaStatus faultOf(SambaStatus status, MlirOperation at, MlirOperation *out_fault,
                           const char *unit) {
  if (!status || !out_fault)
    return sambaStatusAnnotate(status, "unit '%s'", unit);
  *out_fault = at;
  return status;
}

/* How many units and routes the body has, and that it has nothing else. */
static SambaStatus countBody(MlirBlock block, uint32_t *out_units, uint32_t *out_routes) {
  *out_units = *out_routes = 0;
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at)) {
    if (sambaUnitKindOf(at) >= 0)
      ++*out_units;
    else if (sambaStringRefEqualC(sambaFromMlir(sambaOperationName(at)), "rdu.route"))
      ++*out_routes;
    else
      return sambaStatusMake(SAMBA_INVALID,
                             "'%.*s' is not a unit; a section holds rdu.load, rdu.store, "
                             "rdu.buffer, rdu.compute and rdu.route",
                             SAMBA_MLIR_STRING_ARGS(sambaOperationName(at)));
  }
  return NULL;
}

/* The units, without the indices of their streams; ops: the operation of each. */
static SambaStatus readUnits(MlirBlock block, SambaArena *arena, SambaSection *section,
                             MlirOperation *ops, MlirOperation *out_fault) {
  uint32_t u = 0;
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at)) {
    if (sambaUnitKindOf(at) < 0)
      continue;
    SambaUnit *unit = &section->units[u];
    SambaStatus status = sambaUnitFromIr(at, arena, unit);
    if (!unit->name[0])
      unit->name = sambaArenaFormat(arena, "%s%u", sambaUnitKindName(unit->kind), u);
    if (status)
      return faultOf(status, at, out_fault, unit->name);

    if (sambaUnitIsAddressGenerator(unit)) {
      MlirValue symbol = mlirOperationGetOperand(at, 0);
      if (!mlirValueIsABlockArgument(symbol) ||
          !mlirBlockEqual(mlirBlockArgumentGetOwner(symbol), block))
        return sambaStatusMake(
            SAMBA_INVALID, "unit '%s': its symbol must be an argument of the section", unit->name);
      unit->load_store.symbol = (uint32_t)mlirBlockArgumentGetArgNumber(symbol);
    }
    ops[u++] = at;
  }
  return NULL;
}

static SambaStatus readRoutes(MlirBlock block, SambaArena *arena, SambaSection *section,
                              SambaPointerMap *numbers, MlirOperation *out_fault) {
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at)) {
    uint32_t number;
    if (sambaUnitKindOf(at) >= 0)
      continue;
    if (!sambaPointerMapGet(numbers, mlirOperationGetOperand(at, 0).ptr, &number))
      return sambaStatusMake(SAMBA_INVALID, "a route's operand is not a stream of this section");
    SambaStream *stream = &section->streams[number];
    if (stream->hop_count)
      return sambaStatusMake(SAMBA_INVALID, "the stream from unit '%s' has two routes",
                             section->units[stream->source.unit].name);
    SAMBA_RETURN_IF_ERROR(faultOf(readRoute(at, arena, stream), at, out_fault,
                                  section->units[stream->source.unit].name));
  }
  return NULL;
}

static SambaStatus readBody(MlirOperation op, SambaArena *arena, SambaSection *section,
                            SambaPointerMap *numbers, MlirOperation *out_fault) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(op));
  uint32_t routes;
  SAMBA_RETURN_IF_ERROR(countBody(block, &section->unit_count, &routes));

  section->units = SAMBA_ARENA_ARRAY(arena, SambaUnit, section->unit_count);
  MlirOperation *ops = SAMBA_ARENA_ARRAY(arena, MlirOperation, section->unit_count);
  SAMBA_RETURN_IF_ERROR(readUnits(block, arena, section, ops, out_fault));
  numberStreams(arena, section, ops, numbers);
  SAMBA_RETURN_IF_ERROR(joinStreams(arena, section, ops, numbers));
  return routes ? readRoutes(block, arena, section, numbers, out_fault) : NULL;
}

SambaStatus sambaSectionFromIr(MlirOperation op, SambaArena *arena, SambaSection **out_section,
                               MlirOperation *out_fault) {
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  *out_section = section;
  section->arena = arena;
  section->name = sambaTextOf(arena, sambaOperationAttribute(op, "sym_name"));
  section->split_k = !mlirAttributeIsNull(sambaOperationAttribute(op, "split_k"));
  SambaPointerMap numbers = {0};
  if (out_fault)
    *out_fault = op;
  SambaStatus status = readFormals(op, arena, section);
  if (!status)
    status = readBody(op, arena, section, &numbers, out_fault);
  sambaPointerMapFree(&numbers);
  return status;
}
