/* Builds sections by hand for the timing tests: units, ports and streams without any compiler. */
#ifndef SAMBA_TEST_BACKEND_SIM_SECTIONS_H
#define SAMBA_TEST_BACKEND_SIM_SECTIONS_H

#include "backend/sim/timing/timing.h"

enum { SECTION_MOST_UNITS = 2048, SECTION_MOST_STREAMS = 8192, SECTION_MOST_SYMBOLS = 16 };

typedef struct TestSection {
  SambaArena arena;
  SambaSection section;
  SambaBinding bindings[SECTION_MOST_SYMBOLS];
  uint64_t next_address;
} TestSection;

/* A chain: trips outermost first and the strides that go with them, both of `count` numbers. */
typedef struct TestChain {
  uint32_t count, trips[8];
  int64_t strides[8];
} TestChain;

TestSection *testSectionCreate(void);
void testSectionDestroy(TestSection *test);
/* A symbol of its own place in device memory (1 MiB apart, 64 KiB aligned). */
uint32_t testSymbol(TestSection *test, SambaDType dtype, uint64_t elements, bool written);
/* LOAD and STORE of one port each; the port's token is what the counters from token_level cover. */
uint32_t testLoad(TestSection *test, const char *name, uint32_t symbol, TestChain chain,
                  uint32_t token_level);
uint32_t testStore(TestSection *test, const char *name, uint32_t symbol, TestChain chain,
                   uint32_t token_level);
/* BUFFER; ports are added with testWrite and testRead, which return the port's index. */
uint32_t testBuffer(TestSection *test, const char *name, uint32_t slots, uint64_t slot_elements);
uint32_t testWrite(TestSection *test, uint32_t unit, SambaDType dtype, TestChain chain,
                   uint32_t slot_level, uint32_t token_level);
uint32_t testRead(TestSection *test, uint32_t unit, SambaDType dtype, TestChain chain,
                  uint32_t slot_level, uint32_t token_level);
/* COMPUTE with an empty program; inputs and outputs are added after it. */
uint32_t testCompute(TestSection *test, const char *name, uint32_t count, const uint32_t *trips,
                     uint32_t token_level);
uint32_t testInput(TestSection *test, uint32_t unit, SambaDType dtype, uint32_t level,
                   uint64_t token_elements, const int64_t *strides);
uint32_t testOutput(TestSection *test, uint32_t unit, SambaDType dtype, uint32_t level,
                    uint64_t token_elements, const int64_t *strides, uint32_t value);
void testProgram(TestSection *test, uint32_t unit, bool systolic, uint64_t reduce_mask,
                 uint32_t op_count, const SambaLaneOp *ops);
/* A stream from one output port to one input port; more destinations with testFork. */
uint32_t testConnect(TestSection *test, uint32_t source, uint32_t output, uint32_t destination,
                     uint32_t input);
void testFork(TestSection *test, uint32_t stream, uint32_t destination, uint32_t input);

/* A buffer that is always full and streams `tokens` tokens of `elements` elements, and one that
 * takes them all: ends of a section without DRAM. */
uint32_t testFountain(TestSection *test, const char *name, SambaDType dtype, uint32_t tokens,
                      uint32_t elements);
uint32_t testSink(TestSection *test, const char *name, SambaDType dtype, uint32_t tokens,
                  uint32_t elements);

/* A copy of a shipped machine to change. */
SambaMachine testMachine(const char *name);
/* The engines that count cycles. */
typedef enum { TEST_FAST, TEST_CYCLE, TEST_ENGINES } TestEngine;
const char *testEngineName(TestEngine engine);
SambaStatus testExecute(TestEngine engine, const SambaMachine *machine, const TestSection *test,
                        const SambaTimingOptions *options, SambaTimingResult *out_result);
/* Runs and fails the test on an error. The caller frees the result. */
SambaTimingResult testTimeBy(TestEngine engine, const SambaMachine *machine,
                             const TestSection *test);
uint64_t testCyclesBy(TestEngine engine, const SambaMachine *machine, const TestSection *test);
/* The same by the fast engine. */
SambaTimingResult testTime(const SambaMachine *machine, const TestSection *test);
/* The failure's message, which must be a fault; copied into text. */
void testFaultBy(TestEngine engine, const SambaMachine *machine, const TestSection *test,
                 uint64_t max_cycles, char *text, size_t size);
void testFault(const SambaMachine *machine, const TestSection *test, uint64_t max_cycles,
               char *text, size_t size);
uint64_t testCycles(const SambaMachine *machine, const TestSection *test);

#define TEST_CHAIN(count, ...) ((TestChain){count, __VA_ARGS__})

#endif
