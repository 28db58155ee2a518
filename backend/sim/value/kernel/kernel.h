/* A SIMD kernel: a lane program over a loop nest, as one function of LLVM IR.
 *
 * The nest is: parallel loops (the last one vectorized, or none), then the reduced loops in chain
 * order (the last one vectorized when a lane reduction runs along it). Trip counts and strides are
 * run-time arguments; what is compiled in is the program, the types, and per port whether the
 * vectorized loop walks it with stride 0, 1 or another. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_H

#include "backend/sim/value/lane/emit.h"

/* How values are kept on the host inside slots and tokens. */
typedef enum { SAMBA_STORAGE_F32, SAMBA_STORAGE_I32, SAMBA_STORAGE_I64 } SambaStorage;
static inline SambaStorage sambaStorageOf(SambaDType dtype) {
  return sambaDTypeIsFloat(dtype)   ? SAMBA_STORAGE_F32
         : dtype == SAMBA_DTYPE_I64 ? SAMBA_STORAGE_I64
                                    : SAMBA_STORAGE_I32;
}
static inline uint32_t sambaStorageBytes(SambaStorage storage) {
  return storage == SAMBA_STORAGE_I64 ? 8 : 4;
}

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
                            instead; or  SAMBA_KERNEL_NO_OP */
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

SambaKernelLayout sambaKernelLayout(const SambaKernelSpec *spec);
/* Does the value depend on a reduction? values: one flag per program value, filled here. */
void sambaKernelDependence(const SambaKernelSpec *spec, bool *out_depends);
/* Adds the function to emit->module. */
void sambaKernelEmit(SambaEmit *emit, const SambaKernelSpec *spec, const char *name);

#endif
