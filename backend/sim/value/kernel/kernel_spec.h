/* SIMD kernels as data: what one computes, and what its arguments are.
 *
 * A kernel runs a lane program over a loop nest: parallel loops (the last one vectorized, or none),
 * then the reduced loops in chain order (the last one vectorized when a lane reduction runs along
 * it). Trip counts and strides are run-time arguments; what is compiled in is the program, the
 * types, and per port whether the vectorized loop walks it with stride 0, 1 or another. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_SPEC_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_SPEC_H

#include "backend/section/section.h"

typedef enum { SAMBA_WALK_BROADCAST, SAMBA_WALK_CONTIGUOUS, SAMBA_WALK_STRIDED } SambaWalk;

typedef struct SambaKernelPort {
  uint8_t dtype;  /* SambaDType */
  uint8_t walk;   /* SambaWalk along the vectorized loop */
  uint16_t value; /* outputs: the program value */
} SambaKernelPort;

enum { SAMBA_KERNEL_NO_OP = 0xFFFF };

typedef struct SambaKernelSpec {
  uint32_t input_count, output_count, counter_count, op_count;
  const SambaKernelPort *inputs, *outputs;
  const SambaLaneOp *ops;
  const uint8_t
      *counter_walks; /* per COUNTER op in program order: SambaWalk (contiguous: steps by one) */
  uint32_t parallel_loops, reduced_loops;
  uint16_t width;        /* lanes of the vectorized loop, 1: none */
  uint16_t reduce_lanes; /* L of lane reductions, 0: elements in order */
  bool
      vector_reduced; /* the vectorized loop is the last reduced one (then width == reduce_lanes) */
  bool parks;         /* accumulators live on between calls */
  uint8_t external_walk; /* SambaWalk of the accumulator argument */
  uint16_t external_op;  /* this op's value (a systolic MAC) is read from the accumulator argument
                            instead; or SAMBA_KERNEL_NO_OP */
} SambaKernelSpec;

/* Arguments of a kernel: an array of int64_t, in this order; ports = inputs, outputs, counters,
 * accumulators. */
typedef struct SambaKernelLayout {
  uint32_t ports, loops, reductions;
  uint32_t pointers;     /* [inputs + outputs] addresses of the first element, then [counters] first
                            values */
  uint32_t trips;        /* [loops] */
  uint32_t strides;      /* [ports][loops] in elements (accumulator port: in points) */
  uint32_t accumulators; /* [reductions] addresses; with external_op one */
  uint32_t points;       /* parallel points: stride between the lanes of parked accumulators */
  uint32_t position;     /* flattened reduction index of the first element, modulo reduce_lanes */
  uint32_t first, last;  /* 1: start from the identity; 1: run what follows the reductions */
  uint32_t argins;       /* address of the argument block */
  uint32_t count;
} SambaKernelLayout;

typedef void (*SambaKernelFunction)(const int64_t *arguments);

static inline bool sambaKernelIsReduction(uint8_t opcode) {
  return sambaLaneOpClass(opcode) == 'R';
}
SambaKernelLayout sambaKernelLayout(const SambaKernelSpec *spec);
/* Which program values depend on a reduction; one flag per value. */
void sambaKernelDependence(const SambaKernelSpec *spec, bool *out_depends);

#endif
