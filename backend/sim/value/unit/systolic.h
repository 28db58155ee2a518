/* A systolic firing on the host: which counters are rows, columns, batch and k, and the tiled walk
 * over them. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_SYSTOLIC_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_SYSTOLIC_H

#include "backend/sim/value/kernel/tile_kernels.h"
#include "backend/sim/value/stream/port.h"

typedef struct SambaSystolic {
  const SambaTileKernels *kernels;
  uint32_t element_bytes;
  bool swapped;                           /* operand 0 of the mac is the vector side */
  uint64_t rows, columns, batches, depth; /* the vector side's elements are columns */
  int64_t *row_offsets, *column_offsets;  /* into the operands' blocks */
  int64_t *batch_rows, *batch_columns;    /* offsets of a batch for both operands */
  int64_t *outer_rows, *outer_columns;    /* per outer run of k */
  int64_t outer_count, inner_count, row_step, column_step;
  bool columns_contiguous; /* else they are packed */
  bool shared_columns;     /* all batches have the same columns */
  int32_t *row_table;      /* per k, when runs are short and columns are packed; else NULL */
  int64_t *packed_outer;   /* offsets of runs of k in a packed panel: wide, then narrow */
  int64_t pack_outer, pack_inner,
      pack_step; /* k as runs of the column operand alone, for packing */
  int64_t *pack_offsets;
  uint64_t key; /* names this way of packing */
} SambaSystolic;

/* strides: of both operands in their blocks (counter_count entries each), by the mac's operand
 * order. sharers: how many units get each operand's tokens, and share what is packed of them.
 * out_strides: where the accumulator of a point is, per counter. NULL: too large for tables; a SIMD
 * kernel must do. */
SambaSystolic *sambaSystolicCreate(SambaArena *arena, const SambaUnit *unit, const SambaLaneOp *mac,
                                   const char *cpu, const int64_t *const strides[2],
                                   const uint32_t sharers[2], int64_t *out_strides);
/* Runs one firing. operands: tokens in the mac's order with the offsets of their first elements. */
void sambaSystolicRun(const SambaSystolic *systolic, SambaPool *pool, const SambaToken operands[2],
                      void *accumulators, bool first);
uint64_t sambaSystolicPoints(const SambaSystolic *systolic); /* accumulators */

#endif
