/* How a body combines its accumulator with what it computes: one of the machine's reductions. */
#ifndef SAMBA_DIALECT_STAGES_READ_REDUCTION_H
#define SAMBA_DIALECT_STAGES_READ_REDUCTION_H

#include "dialect/stages/body_operations.h"
#include "dialect/stages/read_body.h"

typedef struct SambaReduction {
  uint8_t opcode;          /* SAMBA_LANE_REDUCE_ADD ... */
  const SambaBodyRow *row; /* combines two of its results, or one with an initial value */
  bool is_unsigned;        /* the sign bits of what is reduced are turned */
} SambaReduction;

/* Appends the reduction to the program of a stage whose body has been read. */
SambaStatus sambaReductionRead(SambaBodyStage *stage, MlirValue yielded,
                               SambaReduction *out_reduction, uint16_t *out_value);
/* Whether a reduction that starts at the value - bits of the dtype - is one of the elements
 * alone. */
bool sambaReductionIsIdentity(const SambaReduction *reduction, SambaDType dtype, uint64_t bits);

#endif
