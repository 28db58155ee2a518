/* Sections made by hand; see sections.h. */
#include "test/backend/sim/sections.h"

#include "backend/machine/shipped.h"
#include "backend/sim/cycle/cycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

TestSection *testSectionCreate(void) {
  TestSection *test = sambaAllocateZeroed(1, sizeof *test);
  test->section.arena = &test->arena;
  test->section.name = "test";
  test->section.units = SAMBA_ARENA_ARRAY(&test->arena, SambaUnit, SECTION_MOST_UNITS);
  test->section.streams = SAMBA_ARENA_ARRAY(&test->arena, SambaStream, SECTION_MOST_STREAMS);
  test->section.symbols = SAMBA_ARENA_ARRAY(&test->arena, SambaFormal, SECTION_MOST_SYMBOLS);
  return test;
}

void testSectionDestroy(TestSection *test) {
  sambaArenaDestroy(&test->arena);
  free(test);
}

static const void *copyOf(TestSection *test, const void *data, size_t size) {
  return sambaArenaCopy(&test->arena, data, size);
}

uint32_t testSymbol(TestSection *test, SambaDType dtype, uint64_t elements, bool written) {
  uint32_t index = test->section.symbol_count++;
  uint64_t bytes = elements * sambaDTypeBytes(dtype);
  test->section.symbols[index] = (SambaFormal){"s", dtype, elements, written};
  test->bindings[index] = (SambaBinding){NULL, bytes, test->next_address, NULL};
  test->next_address += (bytes + 0xFFFF) / 0x10000 * 0x10000 + 0x100000;
  return index;
}

static SambaAccess makeAccess(TestSection *test, TestChain chain, uint32_t slot_level,
                              uint32_t token_level) {
  return (SambaAccess){.counter_count = chain.count,
                       .trips = copyOf(test, chain.trips, chain.count * sizeof *chain.trips),
                       .strides = copyOf(test, chain.strides, chain.count * sizeof *chain.strides),
                       .slot_level = slot_level,
                       .token_level = token_level};
}

static uint64_t tokenElements(TestChain chain, uint32_t token_level) {
  uint64_t elements = 1;
  for (uint32_t c = token_level; c < chain.count; ++c)
    elements *= chain.trips[c];
  return elements;
}

static SambaUnit *addUnit(TestSection *test, SambaUnitKind kind, const char *name,
                          uint32_t *out_index) {
  *out_index = test->section.unit_count++;
  SambaUnit *unit = &test->section.units[*out_index];
  *unit = sambaUnitMake(kind, name, "");
  unit->inputs = SAMBA_ARENA_ARRAY(&test->arena, SambaPort, 8);
  unit->outputs = SAMBA_ARENA_ARRAY(&test->arena, SambaPort, 8);
  return unit;
}

/* A load, whose data leave by output 0, or a store, whose data come by input 0. */
static uint32_t addMemoryUnit(TestSection *test, SambaUnitKind kind, const char *name,
                              uint32_t symbol, TestChain chain, uint32_t token_level) {
  uint32_t index;
  SambaUnit *unit = addUnit(test, kind, name, &index);
  bool load = kind == SAMBA_UNIT_LOAD;
  unit->load_store.symbol = symbol;
  unit->output_count = load;
  unit->input_count = !load;
  *(load ? unit->outputs : unit->inputs) =
      (SambaPort){.dtype = test->section.symbols[symbol].dtype,
                  .block = 1,
                  .access = makeAccess(test, chain, 0, token_level),
                  .token_elements = tokenElements(chain, token_level)};
  return index;
}

uint32_t testLoad(TestSection *test, const char *name, uint32_t symbol, TestChain chain,
                  uint32_t token_level) {
  return addMemoryUnit(test, SAMBA_UNIT_LOAD, name, symbol, chain, token_level);
}

uint32_t testStore(TestSection *test, const char *name, uint32_t symbol, TestChain chain,
                   uint32_t token_level) {
  return addMemoryUnit(test, SAMBA_UNIT_STORE, name, symbol, chain, token_level);
}

uint32_t testBuffer(TestSection *test, const char *name, uint32_t slots, uint64_t slot_elements) {
  uint32_t index;
  SambaUnit *unit = addUnit(test, SAMBA_UNIT_BUFFER, name, &index);
  unit->buffer.slot_count = slots;
  unit->buffer.slot_elements = slot_elements;
  return index;
}

static SambaPort bufferPort(TestSection *test, SambaDType dtype, TestChain chain,
                            uint32_t slot_level, uint32_t token_level) {
  return (SambaPort){.dtype = dtype,
                     .block = 1,
                     .access = makeAccess(test, chain, slot_level, token_level),
                     .token_elements = tokenElements(chain, token_level)};
}

uint32_t testWrite(TestSection *test, uint32_t unit, SambaDType dtype, TestChain chain,
                   uint32_t slot_level, uint32_t token_level) {
  SambaUnit *u = &test->section.units[unit];
  u->inputs[u->input_count] = bufferPort(test, dtype, chain, slot_level, token_level);
  return u->input_count++;
}

uint32_t testRead(TestSection *test, uint32_t unit, SambaDType dtype, TestChain chain,
                  uint32_t slot_level, uint32_t token_level) {
  SambaUnit *u = &test->section.units[unit];
  u->outputs[u->output_count] = bufferPort(test, dtype, chain, slot_level, token_level);
  return u->output_count++;
}

uint32_t testCompute(TestSection *test, const char *name, uint32_t count, const uint32_t *trips,
                     uint32_t token_level) {
  uint32_t index;
  SambaUnit *unit = addUnit(test, SAMBA_UNIT_COMPUTE, name, &index);
  unit->compute.counter_count = count;
  unit->compute.trips = copyOf(test, trips, count * sizeof *trips);
  unit->compute.token_level = token_level;
  return index;
}

uint32_t testInput(TestSection *test, uint32_t unit, SambaDType dtype, uint32_t level,
                   uint64_t token_elements, const int64_t *strides) {
  SambaUnit *u = &test->section.units[unit];
  u->inputs[u->input_count] = (SambaPort){
      .dtype = dtype,
      .block = 1,
      .compute.level = level,
      .token_elements = token_elements,
      .compute.strides = copyOf(test, strides, u->compute.counter_count * sizeof *strides)};
  return u->input_count++;
}

uint32_t testOutput(TestSection *test, uint32_t unit, SambaDType dtype, uint32_t level,
                    uint64_t token_elements, const int64_t *strides, uint32_t value) {
  SambaUnit *u = &test->section.units[unit];
  u->outputs[u->output_count] = (SambaPort){
      .dtype = dtype,
      .block = 1,
      .compute.level = level,
      .compute.value = value,
      .token_elements = token_elements,
      .compute.strides = copyOf(test, strides, u->compute.counter_count * sizeof *strides)};
  return u->output_count++;
}

void testProgram(TestSection *test, uint32_t unit, bool systolic, uint64_t reduce_mask,
                 uint32_t op_count, const SambaLaneOp *ops) {
  test->section.units[unit].compute.program =
      (SambaProgram){.systolic = systolic,
                     .reduce_mask = reduce_mask,
                     .op_count = op_count,
                     .ops = copyOf(test, ops, op_count * sizeof *ops)};
}

static void appendStream(TestSection *test, SambaPort *port, uint32_t stream) {
  uint32_t *streams = SAMBA_ARENA_ARRAY(&test->arena, uint32_t, port->stream_count + 1);
  if (port->stream_count)
    memcpy(streams, port->streams, port->stream_count * sizeof *streams);
  streams[port->stream_count++] = stream;
  port->streams = streams;
}

void testFork(TestSection *test, uint32_t stream, uint32_t destination, uint32_t input) {
  SambaStream *s = &test->section.streams[stream];
  SambaEndpoint *ends = SAMBA_ARENA_ARRAY(&test->arena, SambaEndpoint, s->destination_count + 1);
  if (s->destination_count)
    memcpy(ends, s->destinations, s->destination_count * sizeof *ends);
  ends[s->destination_count++] = (SambaEndpoint){destination, input};
  s->destinations = ends;
  appendStream(test, &test->section.units[destination].inputs[input], stream);
}

uint32_t testConnect(TestSection *test, uint32_t source, uint32_t output, uint32_t destination,
                     uint32_t input) {
  uint32_t stream = test->section.stream_count++;
  test->section.streams[stream] =
      (SambaStream){.kind = SAMBA_STREAM_VECTOR, .source = {source, output}};
  appendStream(test, &test->section.units[source].outputs[output], stream);
  testFork(test, stream, destination, input);
  return stream;
}

uint32_t testFountain(TestSection *test, const char *name, SambaDType dtype, uint32_t tokens,
                      uint32_t elements) {
  uint32_t unit = testBuffer(test, name, 1, elements);
  testRead(test, unit, dtype, TEST_CHAIN(2, {tokens, elements}, {0, 1}), 1, 1);
  return unit;
}

uint32_t testSink(TestSection *test, const char *name, SambaDType dtype, uint32_t tokens,
                  uint32_t elements) {
  uint32_t unit = testBuffer(test, name, 1, elements);
  testWrite(test, unit, dtype, TEST_CHAIN(2, {tokens, elements}, {0, 1}), 1, 1);
  return unit;
}

SambaStatus testExecute(TestEngine engine, const SambaMachine *machine, const TestSection *test,
                        const SambaTimingOptions *options, SambaTimingResult *out_result) {
  return engine == TEST_CYCLE
             ? sambaCycleExecute(machine, &test->section, test->bindings, NULL, options, out_result)
             : sambaTimingExecute(machine, &test->section, test->bindings, NULL, options,
                                  out_result);
}

const char *testEngineName(TestEngine engine) { return engine == TEST_CYCLE ? "cycle" : "fast"; }

void testFaultBy(TestEngine engine, const SambaMachine *machine, const TestSection *test,
                 uint64_t max_cycles, char *text, size_t size) {
  SambaTimingOptions options = {.max_cycles = max_cycles};
  SambaTimingResult result;
  SambaStatus status = testExecute(engine, machine, test, &options, &result);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_FAULT);
  assert_non_null(result.units); /* what was counted until then */
  sambaTimingResultFree(&result);
  snprintf(text, size, "%s", sambaStatusGetMessage(status));
  sambaStatusFree(status);
}

void testFault(const SambaMachine *machine, const TestSection *test, uint64_t max_cycles,
               char *text, size_t size) {
  testFaultBy(TEST_FAST, machine, test, max_cycles, text, size);
}

SambaMachine testMachine(const char *name) {
  const SambaMachine *machine = sambaMachineFind(sambaStringRef(name));
  assert_non_null(machine);
  return *machine;
}

SambaTimingResult testTimeBy(TestEngine engine, const SambaMachine *machine,
                             const TestSection *test) {
  SambaTimingResult result;
  SambaStatus status = testExecute(engine, machine, test, NULL, &result);
  if (status)
    fail_msg("%s engine: %s", testEngineName(engine), sambaStatusGetMessage(status));
  return result;
}

uint64_t testCyclesBy(TestEngine engine, const SambaMachine *machine, const TestSection *test) {
  SambaTimingResult result = testTimeBy(engine, machine, test);
  uint64_t cycles = result.cycles;
  sambaTimingResultFree(&result);
  return cycles;
}

SambaTimingResult testTime(const SambaMachine *machine, const TestSection *test) {
  return testTimeBy(TEST_FAST, machine, test);
}

uint64_t testCycles(const SambaMachine *machine, const TestSection *test) {
  return testCyclesBy(TEST_FAST, machine, test);
}
