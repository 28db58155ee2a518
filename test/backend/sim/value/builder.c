/* Sections built by hand; see builder.h. */
#include "test/backend/sim/value/builder.h"
#include "backend/machine/shipped.h"
#include "backend/section/check/section_check.h"

#include <stdlib.h>
#include <string.h>

enum { maximumUnits = 256, maximumStreams = 1024, maximumPorts = 32, maximumOps = 256 };

void builderInitialize(Builder *builder) {
  memset(builder, 0, sizeof *builder);
  builder->section.arena = &builder->arena;
  builder->section.name = "test";
  builder->section.symbols = SAMBA_ARENA_ARRAY(&builder->arena, SambaFormal, 16);
  builder->section.units = SAMBA_ARENA_ARRAY(&builder->arena, SambaUnit, maximumUnits);
  builder->section.streams = SAMBA_ARENA_ARRAY(&builder->arena, SambaStream, maximumStreams);
}

void builderDestroy(Builder *builder) {
  for (uint32_t i = 0; i < builder->section.symbol_count; ++i) {
    free(builder->bindings[i].data);
    free(builder->bindings[i].written);
  }
  sambaArenaDestroy(&builder->arena);
}

uint32_t builderSymbol(Builder *builder, const char *name, SambaDType dtype, uint64_t elements,
                       bool written) {
  uint32_t index = builder->section.symbol_count++;
  uint64_t bytes = elements * sambaDTypeBytes(dtype);
  builder->section.symbols[index] = (SambaFormal){name, dtype, elements, written};
  builder->bindings[index] =
      (SambaBinding){aligned_alloc(64, (bytes + 63) / 64 * 64), bytes, 0x1000 * (index + 1), NULL};
  memset(builder->bindings[index].data, 0, bytes);
  return index;
}

uint32_t *builderTrips(Builder *builder, uint32_t count, const uint32_t *values) {
  return sambaArenaCopy(&builder->arena, values, count * sizeof *values);
}
int64_t *builderStrides(Builder *builder, uint32_t count, const int64_t *values) {
  return sambaArenaCopy(&builder->arena, values, count * sizeof *values);
}

SambaAccess builderAccess(uint32_t counters, uint32_t token_level, const uint32_t *trips,
                          const int64_t *strides) {
  return (SambaAccess){
      .counter_count = counters, .trips = trips, .token_level = token_level, .strides = strides};
}

static uint64_t accessElements(const SambaAccess *access) {
  uint64_t elements = 1;
  for (uint32_t c = access->token_level; c < access->counter_count; ++c)
    elements *= access->trips[c];
  return elements;
}

static uint32_t addUnit(Builder *builder, SambaUnitKind kind) {
  uint32_t index = builder->section.unit_count++;
  SambaUnit *unit = &builder->section.units[index];
  *unit = sambaUnitMake(
      kind, sambaArenaFormat(&builder->arena, "%s%u", sambaUnitKindName(kind), index), "");
  unit->inputs = SAMBA_ARENA_ARRAY(&builder->arena, SambaPort, maximumPorts);
  unit->outputs = SAMBA_ARENA_ARRAY(&builder->arena, SambaPort, maximumPorts);
  return index;
}

static SambaPort initPort(Builder *builder, SambaPort port) {
  port.streams = SAMBA_ARENA_ARRAY(&builder->arena, uint32_t, maximumPorts);
  port.block = port.block ? port.block : 1;
  return port;
}

uint32_t builderInput(Builder *builder, uint32_t unit, SambaPort port) {
  SambaUnit *u = &builder->section.units[unit];
  u->inputs[u->input_count] = initPort(builder, port);
  return u->input_count++;
}

uint32_t builderOutput(Builder *builder, uint32_t unit, SambaPort port) {
  SambaUnit *u = &builder->section.units[unit];
  u->outputs[u->output_count] = initPort(builder, port);
  return u->output_count++;
}

/* The data port of a load or store of this symbol. */
static SambaPort memoryPort(const Builder *builder, uint32_t symbol, const SambaAccess *access) {
  return (SambaPort){.dtype = builder->section.symbols[symbol].dtype,
                     .access = *access,
                     .token_elements = accessElements(access)};
}

uint32_t builderLoad(Builder *builder, uint32_t symbol, SambaAccess access) {
  uint32_t unit = addUnit(builder, SAMBA_UNIT_LOAD);
  builder->section.units[unit].load_store.symbol = symbol;
  builderOutput(builder, unit, memoryPort(builder, symbol, &access));
  return unit;
}

uint32_t builderStore(Builder *builder, uint32_t symbol, SambaAccess access) {
  uint32_t unit = addUnit(builder, SAMBA_UNIT_STORE);
  builder->section.units[unit].load_store.symbol = symbol;
  builderInput(builder, unit, memoryPort(builder, symbol, &access));
  return unit;
}

uint32_t builderBuffer(Builder *builder, SambaDType dtype, uint32_t slots, uint64_t slot_elements) {
  uint32_t unit = addUnit(builder, SAMBA_UNIT_BUFFER);
  builder->section.units[unit].buffer.slot_count = slots;
  builder->section.units[unit].buffer.slot_elements = slot_elements;
  builder->section.units[unit].inputs[0].dtype =
      dtype; /* until ports are there, the place that remembers the type */
  return unit;
}

uint32_t builderBufferWrite(Builder *builder, uint32_t unit, SambaAccess access) {
  SambaDType dtype = builder->section.units[unit].inputs[0].dtype;
  return builderInput(
      builder, unit,
      (SambaPort){.dtype = dtype, .access = access, .token_elements = accessElements(&access)});
}

uint32_t builderBufferRead(Builder *builder, uint32_t unit, SambaAccess access) {
  SambaDType dtype = builder->section.units[unit].inputs[0].dtype;
  return builderOutput(
      builder, unit,
      (SambaPort){.dtype = dtype, .access = access, .token_elements = accessElements(&access)});
}

uint32_t builderCompute(Builder *builder, uint32_t counters, uint32_t token_level,
                        uint32_t *trips) {
  uint32_t unit = addUnit(builder, SAMBA_UNIT_COMPUTE);
  SambaUnit *u = &builder->section.units[unit];
  u->compute.counter_count = counters, u->compute.token_level = token_level,
  u->compute.trips = trips;
  u->compute.program.ops = SAMBA_ARENA_ARRAY(&builder->arena, SambaLaneOp, maximumOps);
  return unit;
}

uint32_t builderComputeInput(Builder *builder, uint32_t unit, SambaDType dtype, uint32_t level,
                             uint64_t elements, int64_t *strides) {
  return builderInput(builder, unit,
                      (SambaPort){.dtype = dtype,
                                  .compute.level = level,
                                  .token_elements = elements,
                                  .compute.strides = strides});
}

uint32_t builderComputeOutput(Builder *builder, uint32_t unit, SambaDType dtype, uint32_t level,
                              uint64_t elements, int64_t *strides, uint32_t value) {
  return builderOutput(builder, unit,
                       (SambaPort){.dtype = dtype,
                                   .compute.level = level,
                                   .token_elements = elements,
                                   .compute.strides = strides,
                                   .compute.value = value});
}

uint32_t builderOp(Builder *builder, uint32_t unit, SambaLaneOpcode opcode, SambaDType type,
                   uint32_t a, uint32_t c, uint32_t d, uint64_t immediate) {
  SambaProgram *program = &builder->section.units[unit].compute.program;
  SambaLaneOp *ops = (SambaLaneOp *)program->ops;
  ops[program->op_count] = (SambaLaneOp){
      (uint8_t)opcode, (uint8_t)type, {(uint16_t)a, (uint16_t)c, (uint16_t)d}, immediate};
  return builder->section.units[unit].input_count + program->op_count++;
}

static void listStream(SambaPort *port, uint32_t stream) {
  ((uint32_t *)port->streams)[port->stream_count++] = stream;
}

uint32_t builderStream(Builder *builder, uint32_t source, uint32_t source_port,
                       uint32_t destination, uint32_t destination_port) {
  uint32_t index = builder->section.stream_count++;
  SambaPort *from = &builder->section.units[source].outputs[source_port];
  SambaEndpoint *ends = SAMBA_ARENA_ARRAY(&builder->arena, SambaEndpoint, maximumPorts);
  builder->section.streams[index] =
      (SambaStream){.kind = from->token_elements ? SAMBA_STREAM_VECTOR : SAMBA_STREAM_CONTROL,
                    .source = {source, source_port},
                    .destinations = ends};
  listStream(from, index);
  builderDestination(builder, index, destination, destination_port);
  return index;
}

void builderDestination(Builder *builder, uint32_t stream, uint32_t destination,
                        uint32_t destination_port) {
  SambaStream *s = &builder->section.streams[stream];
  ((SambaEndpoint *)s->destinations)[s->destination_count++] =
      (SambaEndpoint){destination, destination_port};
  listStream(&builder->section.units[destination].inputs[destination_port], stream);
}

SambaStatus builderRun(Builder *builder, const char *machine, const SambaValuesOptions *options,
                       SambaValuesStatistics *out_statistics) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(&builder->section));
  SambaValuesOptions one = {.threads = 1};
  SambaValues *values;
  SAMBA_RETURN_IF_ERROR(sambaValuesCreate(sambaMachineFind(sambaStringRef(machine)),
                                          options ? options : &one, &values));
  SambaStatus status =
      sambaValuesExecute(values, &builder->section, builder->bindings, NULL, 0, NULL);
  if (out_statistics)
    sambaValuesGetStatistics(values, out_statistics);
  sambaValuesDestroy(values);
  return status;
}
