/* A structured operation as a plain struct: what the patterns of samba-raise-linalg look at, and
 * what they write calls of operators for.
 *
 * MLIR-free. A nest is a box of dimensions, operands that are read through affine maps, a body of
 * scalars in topological order, and outputs. Patterns (patterns.h) append calls to an expansion,
 * in which the operands' values are those of `value`. */
#ifndef SAMBA_LOWERING_RAISE_NEST_H
#define SAMBA_LOWERING_RAISE_NEST_H

#include "dialect/samba/table/calls/expansion.h"

enum { SAMBA_MAX_NEST_OPERANDS = 24, SAMBA_MAX_NEST_OUTPUTS = 8, SAMBA_MAX_NEST_SCALARS = 256 };
#define SAMBA_NEST_UNIT UINT32_MAX

typedef enum {
  SAMBA_SCALAR_OPERAND,   /* an element of an operand, at its map */
  SAMBA_SCALAR_CONSTANT,  /* bits in its dtype */
  SAMBA_SCALAR_INDEX,     /* the place along a dimension */
  SAMBA_SCALAR_NUMBER,    /* a constant of type index */
  SAMBA_SCALAR_OPERATION, /* an operator of the table on scalars before it */
  SAMBA_SCALAR_SUM,       /* of two indices; so are the next two */
  SAMBA_SCALAR_DIFFERENCE,
  SAMBA_SCALAR_PRODUCT,
  SAMBA_SCALAR_AS_INDEX,   /* an integer that becomes an index */
  SAMBA_SCALAR_FROM_INDEX, /* an index that becomes an integer */
  SAMBA_SCALAR_FMA,        /* a * b + c in one rounding */
  SAMBA_SCALAR_EXTRACT     /* an element of an operand, at the indices */
} SambaScalarKind;

typedef struct SambaScalar {
  SambaScalarKind kind;
  SambaDType dtype; /* SAMBA_DTYPE_COUNT: index */
  /* OPERATION: the operator. A cast goes to `dtype`; `inverted`: the result is negated (i1). */
  const char *operator;
  bool inverted;
  bool counts;        /* OPERATION: it is the operator only where no operand is negative */
  uint32_t operand;   /* OPERAND, EXTRACT: of the nest */
  uint32_t dimension; /* INDEX */
  uint64_t bits;      /* CONSTANT, NUMBER */
  uint32_t count, scalars[SAMBA_MAX_RANK];
} SambaScalar;

typedef struct SambaNestOperand {
  SambaTensorType type;
  SambaAxisMap axes[SAMBA_MAX_RANK]; /* what EXTRACT reads has no map */
  uint32_t value;                    /* of the expansion */
  bool is_splat;                     /* every element is `bits`, and there is no value */
  bool is_undefined;                 /* tensor.empty: no value */
  uint64_t bits;
  /* The operand is a pad of another value: `low` and `high` elements that are `fill` around it. */
  bool is_padded;
  SambaTensorType inner_type;
  uint32_t inner_value;
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  double fill;
} SambaNestOperand;

typedef struct SambaNest {
  uint32_t dim_count;
  int64_t extents[SAMBA_MAX_STAGE_DIMS];
  bool reduced[SAMBA_MAX_STAGE_DIMS];
  bool reduces; /* one of them is */
  uint32_t operand_count;
  /* Inputs, then what the outputs start from, then what only EXTRACT reads. */
  SambaNestOperand operands[SAMBA_MAX_NEST_OPERANDS];
  uint32_t input_count, output_count;
  uint32_t scalar_count;
  SambaScalar *scalars;
  uint32_t yields[SAMBA_MAX_NEST_OUTPUTS]; /* the scalar that each output takes */
} SambaNest;

/* A pattern: appends the calls that compute the outputs and fills out_results, of the outputs'
 * types. False: the nest is not of this form (the expansion is then thrown away, as it is when it
 * has a status). */
typedef bool (*SambaNestPattern)(const SambaNest *nest, SambaExpansion *expansion,
                                 uint32_t *out_results);

static inline const SambaNestOperand *sambaNestOutput(const SambaNest *nest, uint32_t output) {
  return &nest->operands[nest->input_count + output];
}
static inline const SambaScalar *sambaNestYield(const SambaNest *nest, uint32_t output) {
  return &nest->scalars[nest->yields[output]];
}
/* The dimension that an axis walks from 0 in steps of 1; SAMBA_NEST_UNIT where it has one element
 * or another map (out_plain says which). */
uint32_t sambaNestAxisDimension(const SambaNest *nest, const SambaAxisMap *axis, bool *out_plain);
/* Marks the scalar and those that it is made of; out_marks: one per scalar. */
void sambaNestMark(const SambaNest *nest, uint32_t scalar, bool *out_marks);
/* Whether the scalar, or one that it is made of, is an element of the operand. */
bool sambaNestReads(const SambaNest *nest, uint32_t scalar, uint32_t operand);

#endif
