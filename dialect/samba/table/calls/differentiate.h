/* Reverse-mode differentiation of a graph of operator calls, MLIR-free.
 *
 * The graph is an expansion (expansion.h): its first values are the arguments, its steps the calls
 * in order. Differentiating appends the calls that compute the gradients. Every operator's rule is
 * the column `differentiate` of its row; the pass samba-differentiate-graph makes IR of what is
 * appended, tests evaluate it. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CALLS_DIFFERENTIATE_H
#define SAMBA_DIALECT_SAMBA_TABLE_CALLS_DIFFERENTIATE_H

#include "dialect/samba/table/calls/expansion.h"

/* How gradients pass through an operator. */
typedef enum {
  SAMBA_GRADIENT_MISSING,   /* nobody has said: differentiating through it is refused by name */
  SAMBA_GRADIENT_NONE,      /* its result does not change with its operands, or is a number that
                               has no gradient; the row says so */
  SAMBA_GRADIENT_RULE,      /* by the row's `differentiate` */
  SAMBA_GRADIENT_INHERITED, /* through the calls that it is made of: decompose it first */
} SambaGradientKind;
SambaGradientKind sambaOperatorGradientKind(const SambaOperator *operator);

/* One call in reverse: what a row's `differentiate` reads and writes. Numbers are values of the
 * expansion, in which the rule makes its calls. */
typedef struct SambaGradientCall {
  const SambaOperatorCall *call; /* as it went forward */
  const uint32_t *operands, *results;
  const uint32_t *result_gradients; /* of each result; SAMBA_NO_INDEX: nothing flows there */
  const bool *needed;               /* per operand: is its gradient asked for? */
  uint32_t *operand_gradients;      /* to be filled, with the operand's type; SAMBA_NO_INDEX
                                       (as it was) means zero */
} SambaGradientCall;

/* What to differentiate. Arrays are borrowed for the call. */
typedef struct SambaDifferentiation {
  uint32_t seed_count;
  const uint32_t *seeds;          /* values of the graph, of a float dtype */
  const uint32_t *seed_gradients; /* values too: the gradient that flows into each */
  uint32_t wanted_count;
  const uint32_t *wanted; /* values whose gradients are asked for */
} SambaDifferentiation;

typedef struct SambaGradients {
  uint32_t *gradients; /* per wanted value: its gradient; SAMBA_NO_INDEX: nothing flows there */
  uint32_t *cuts;      /* per wanted value without gradient: the first step behind it through which
                          none passes; SAMBA_NO_INDEX: no seed depends on it */
  uint32_t *origins;   /* per appended step: the step that it is the reverse of */
  uint32_t first_step; /* the first appended step */
} SambaGradients;

/* Appends the reverse of the graph's calls: every step that lies between a wanted value and a seed,
 * last first, and one addition for each further use of a value. An operator whose kind is MISSING
 * or INHERITED there is an error that names it; *out_step is then that step. Results are in the
 * expansion's arena. */
SambaStatus sambaDifferentiate(SambaExpansion *graph, const SambaDifferentiation *what,
                               SambaGradients *out, uint32_t *out_step);

/* The gradient that flows into result 0. */
static inline uint32_t sambaGradientOfResult(const SambaGradientCall *gradient) {
  return gradient->result_gradients[0];
}

#endif
