/* Sections built by hand, in a few lines each, for the tests of the value engine. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_BUILDER_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_BUILDER_H

#include "backend/sim/value/values.h"

typedef struct Builder {
  SambaArena arena;
  SambaSection section;
  SambaBinding bindings[16];
} Builder;

void builderInitialize(Builder *builder);
void builderDestroy(Builder *builder); /* frees the bindings' memory too */

/* A formal with zeroed memory of its own; returns its index. */
uint32_t builderSymbol(Builder *builder, const char *name, SambaDType dtype, uint64_t elements,
                       bool written);
/* Copies an array of up to 16 values into the arena. */
uint32_t *builderTrips(Builder *builder, uint32_t count, const uint32_t *values);
int64_t *builderStrides(Builder *builder, uint32_t count, const int64_t *values);
#define TRIPS(b, ...)                                                                              \
  builderTrips(b, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})
#define STRIDES(b, ...)                                                                            \
  builderStrides(b, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

SambaAccess builderAccess(uint32_t counters, uint32_t token_level, const uint32_t *trips,
                          const int64_t *strides);
/* Units with their ports; streams come afterwards. Names are made from the kind and the index. */
uint32_t builderLoad(Builder *builder, uint32_t symbol, SambaAccess access);
uint32_t builderStore(Builder *builder, uint32_t symbol, SambaAccess access);
uint32_t builderBuffer(Builder *builder, SambaDType dtype, uint32_t slots, uint64_t slot_elements);
uint32_t builderCompute(Builder *builder, uint32_t counters, uint32_t token_level, uint32_t *trips);
/* Appends a port; returns its index. */
uint32_t builderInput(Builder *builder, uint32_t unit, SambaPort port);
uint32_t builderOutput(Builder *builder, uint32_t unit, SambaPort port);
uint32_t builderBufferWrite(Builder *builder, uint32_t unit, SambaAccess access);
uint32_t builderBufferRead(Builder *builder, uint32_t unit, SambaAccess access);
uint32_t builderComputeInput(Builder *builder, uint32_t unit, SambaDType dtype, uint32_t level,
                             uint64_t elements, int64_t *strides);
uint32_t builderComputeOutput(Builder *builder, uint32_t unit, SambaDType dtype, uint32_t level,
                              uint64_t elements, int64_t *strides, uint32_t value);
/* Appends a lane operation; returns its value. All inputs come first. */
uint32_t builderOp(Builder *builder, uint32_t unit, SambaLaneOpcode opcode, SambaDType type,
                   uint32_t a, uint32_t c, uint32_t d, uint64_t immediate);
/* A stream from one output to one input; to add a destination: builderDestination. */
uint32_t builderStream(Builder *builder, uint32_t source, uint32_t source_port,
                       uint32_t destination, uint32_t destination_port);
void builderDestination(Builder *builder, uint32_t stream, uint32_t destination,
                        uint32_t destination_port);

/* Creates an engine for the shipped machine "sn40l" (or another), checks the section, runs it. */
SambaStatus builderRun(Builder *builder, const char *machine, const SambaValuesOptions *options,
                       SambaValuesStatistics *out_statistics);

#endif
