/* What the body of a reduction does with its accumulator; what reductions, contractions and windows
 * begin with. */
#ifndef SAMBA_LOWERING_RAISE_REDUCE_FORM_H
#define SAMBA_LOWERING_RAISE_REDUCE_FORM_H

#include "lowering/raise/frame.h"

typedef struct SambaReduceRow {
  const char *combine; /* the operator that combines the accumulator with an element */
  const char *reduce;  /* that reduces */
  bool booleans;       /* it is for i1 */
} SambaReduceRow;

typedef struct SambaReduction {
  const SambaReduceRow *row;
  bool is_product; /* the element is the product of two */
  uint32_t element, factors[2];
} SambaReduction;

/* output = combine(output, element), where the element does not depend on any output. */
bool sambaReductionOf(const SambaNest *nest, uint32_t output, SambaReduction *out);
/* What the output starts from, combined with `reduced`, which is of the output's type; nothing to
 * do where it starts from the combination's neutral element. False: it starts from nothing. */
bool sambaReductionStart(const SambaNest *nest, SambaExpansion *expansion, uint32_t output,
                         const SambaReduceRow *row, uint32_t reduced, uint32_t *out_result);
/* The dimensions that an output walks, one bit each. */
uint32_t sambaReductionKept(const SambaNest *nest);
/* A value of a frame as the output: moved, in its shape, and with what the output starts from. */
bool sambaReductionFinish(const SambaNest *nest, SambaExpansion *expansion, uint32_t output,
                          const SambaReduceRow *row, uint32_t value, const SambaFrame *frame,
                          uint32_t *out_result);

#endif
