/* What a row of the operator table is, and calls of operators.
 *
 * MLIR-free C. A row says everything about an operator: its documentation, operands, attributes
 * with defaults, shape and dtype rule, structured stages, and the ONNX operator that it is. Tracing
 * (frontend/trace) and the dialect's type inference and verifier call the same rules, so an error
 * appears at the builder call and in IR with the same words. Adding an operator means adding a row:
 * the TableGen entry, the C builder and the importer's row are made from it (generate.c). */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_OPERATOR_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_OPERATOR_H

#include "backend/stage/stage.h"
#include "samba/attribute.h"
#include "support/base/status.h"
#include "support/number/dtype.h"
#include "support/text/string_ref.h"

struct SambaOperator;
struct SambaExpansion;
struct SambaGradientCall;
struct SambaStageBuilder;

/* One use of an operator: types and attributes only; nobody here sees values. */
typedef struct SambaOperatorCall {
  const struct SambaOperator *operator;
  uint32_t operand_count;
  const SambaTensorType
      *operands; /* optional operands at the end are left out; variadic ones are all listed */
  uint32_t attribute_count;
  const SambaAttribute *attributes;
} SambaOperatorCall;

/* What an attribute that a call does not give means. */
typedef enum {
  SAMBA_ABSENT_REFUSED, /* the attribute is required */
  SAMBA_ABSENT_MEANT,   /* a meaning of its own, which the row's `meaning` says */
  SAMBA_ABSENT_DEFAULT  /* the row's default */
} SambaAbsence;

typedef struct SambaAttributeRow {
  const char *name;
  SambaAttributeKind kind;
  SambaAbsence absence;
  union {
    int64_t integer; /* INT, BOOL; INTS: of every number */
    double real;
    const char *string;
  } otherwise;         /* the default */
  const char *meaning; /* for documents; may be "" */
  const char *choices; /* STRING: "mean, sum, none"; NULL: any text */
} SambaAttributeRow;

/* How an attribute is read from an ONNX node. Attributes that are not listed have the same name and
 * default there. */
typedef struct SambaOnnxAttribute {
  const char *attribute, *onnx; /* onnx NULL: ONNX has none, the default holds */
  bool differs;                 /* ONNX's default is `otherwise` */
  double otherwise;
} SambaOnnxAttribute;

/* An ONNX operator that is this one: the same operands in the same order, and one result. */
typedef struct SambaOnnxForm {
  const char *name;
  int64_t first, last; /* versions of the operator set; last 0: the latest that is known */
  SambaOnnxAttribute attributes[2];
} SambaOnnxForm;

/* The C function that a front end gets for an operator: samba and the name in camel case. */
typedef enum {
  SAMBA_BUILDER_BY_HAND,  /* written, or none */
  SAMBA_BUILDER_ALL,      /* made: takes the operands, then every attribute */
  SAMBA_BUILDER_OPERANDS, /* made: takes the operands alone */
  SAMBA_BUILDER_PROMOTING /* made: takes two operands and promotes them to one dtype */
} SambaBuilderForm;

/* A row of the table: all that is said about an operator. What the dialect's TableGen, the builders
 * of frontend/trace, the ONNX importer and the reference say about it is made from here. */
typedef struct SambaOperator {
  const char *name; /* "linear"; the IR op is samba.linear */

  /* For documents. */
  const char *formula;        /* of elementwise operators: what an element of the result is */
  const char *summary;        /* of all others: one line */
  const char *computes;       /* what the line does not say; may be NULL */
  const char *constraints[8]; /* number 1 is what errors cite as (C1) */
  const char *example;        /* of IR; NULL (elementwise operators): the op on 2x3 elements */
  const char *source;         /* where the definition is from; NULL: torch.<name> */

  /* Operands by name. "bias?" may be left out and is at the end, "inputs*" is one or more. */
  const char *operands[12];
  const char *results[SAMBA_MAX_RESULTS]; /* by name; none: one, `result` */
  /* Per result: the operand whose new value it is (running statistics), where there is one. */
  const char *updates[SAMBA_MAX_RESULTS];
  /* The operand that the result is but for what the operator stores, by name; NULL: none. It must
   * lie in memory, where the result does, and nothing of it is read. */
  const char *puts_into;
  SambaAttributeRow attributes[12]; /* ends with a NULL name */
  SambaOnnxForm onnx[3];            /* ends with a NULL name */
  SambaBuilderForm builder;

  bool view;             /* moves no data by itself: reshape, transpose, expand, slice, pad ... */
  bool elementwise;      /* numpy broadcasting, one point of output per point of the box */
  bool contraction;      /* matmul-like: mp1 casts its inputs */
  uint32_t host_scalars; /* operands from here on are hyperparameters, which keep their dtype; 0:
                            there are none */
  uint32_t
      states; /* an optimizer's state: operands from here on to the hyperparameters, and results
                 from 1 on; it may be f32 beside narrower parameters. 0: there is none */

  /* Facts that the functions of a family read. */
  uint32_t dtypes;    /* the set that operand 0 may have, one bit each */
  uint8_t opcode;     /* the lane operation at its heart, where there is one */
  uint8_t spatial;    /* convolutions and pools: spatial dimensions */
  bool predicate;     /* the result is i1 */
  bool channels_last; /* convolutions and pools: images are N x spatial x C */

  /* Checks the call and fills result types. Errors cite the constraint: "(C2) weight's dimension 1
   * is 700, but ...". */
  SambaStatus (*infer)(const SambaOperatorCall *call, SambaTensorType *out_results);
  /* Appends the call's stages. operands: tensors of the graph, in the call's order; results:
   * tensors already appended (dtype, shape of infer). Intermediate tensors are appended by the
   * function. NULL for views (they have `compose`). */
  SambaStatus (*stages)(const SambaOperatorCall *call, SambaStageGraph *graph,
                        const uint32_t *operands, const uint32_t *results, const char *layer);
  /* Elementwise families: appends the scalar program; x are the operands in f32, i32, i64 or i1;
   * returns the value before conversion to the result's dtype. */
  uint16_t (*program)(const SambaOperatorCall *call, struct SambaStageBuilder *builder,
                      const uint16_t *x);
  /* Views with one viewed operand (operand 0) that are affine: fills how each axis of operand 0 is
   * read from the axes of the result (coefficients[i]: result axis i). out_operand->tensor is left
   * alone. Reshape and other non-affine views: NULL (a reshape is an alias of its operand). */
  SambaStatus (*compose)(const SambaOperatorCall *call, const SambaTensorType *result,
                         SambaStageOperand *out_operand);
  /* Composite operators: appends the calls that compute the results to the expansion (expansion.h),
   * in which `operands` are the call's; samba-decompose-composites applies it. NULL for most
   * others. An operator that has stages too keeps them where the machine can hold them as one
   * section; both ways give the same bits. */
  SambaStatus (*decompose)(const SambaOperatorCall *call, struct SambaExpansion *expansion,
                           const uint32_t *operands, uint32_t *out_results);
  /* Appends the calls that compute the gradients of the operands that need one (differentiate.h).
   * NULL and `decompose`: gradients pass through the decomposition. `no_gradient`: through the
   * operator passes none, because its results are numbers that do not change in small steps. */
  SambaStatus (*differentiate)(const struct SambaGradientCall *gradient,
                               struct SambaExpansion *expansion);
  bool no_gradient;
  /* The operator that stands for this one where a gradient passes, with the same operands and
   * attributes; its first result is this one's, and the others are what its gradient takes. NULL:
   * it stands for itself. */
  const char *trained_as;
  bool (*trained_so)(const SambaOperatorCall *call); /* of which calls that holds; NULL: of all */
  /* Elementwise operators of one operand: the derivative at x, where the result is y; all in f32.
   */
  uint32_t (*slope)(const SambaOperatorCall *call, struct SambaExpansion *expansion, uint32_t x,
                    uint32_t y);
  /* Losses of a tensor and its target: the values of their elements' losses, all in f32. */
  uint32_t (*loss)(const SambaOperatorCall *call, struct SambaExpansion *expansion, uint32_t x,
                   uint32_t target);
} SambaOperator;

uint32_t sambaOperatorLeastOperands(const SambaOperator *operator);
uint32_t sambaOperatorMostOperands(const SambaOperator *operator); /* UINT32_MAX: variadic */
uint32_t sambaOperatorResults(const SambaOperator *operator);      /* 1 to SAMBA_MAX_RESULTS */
/* The number of the operand `puts_into`; UINT32_MAX: there is none, or the call leaves it out. */
uint32_t sambaOperatorPutsInto(const SambaOperator *operator, uint32_t operand_count);
/* The attribute of this name; NULL: the operator has none. */
const SambaAttributeRow *sambaOperatorAttribute(const SambaOperator *operator, SambaStringRef name);

/* Checks operand count, attribute names and kinds, then op->infer. Errors do not start with the
 * op's name: callers add it. */
SambaStatus sambaOperatorInfer(const SambaOperatorCall *call, SambaTensorType *out_results);

/* Attributes of a call. NULL when absent. */
const SambaAttribute *sambaOperatorCallFind(const SambaOperatorCall *call, const char *name);
/* The value, or the row's default; where there is neither 0 or "". INT and BOOL; FLOAT; STRING. */
int64_t sambaOperatorCallInt(const SambaOperatorCall *call, const char *name);
double sambaOperatorCallFloat(const SambaOperatorCall *call, const char *name);
SambaStringRef sambaOperatorCallString(const SambaOperatorCall *call, const char *name);
/* For attributes whose absence means what follows from the operands. */
int64_t sambaOperatorCallIntOr(const SambaOperatorCall *call, const char *name, int64_t otherwise);

/* "4x3xf32" into buffer (at least 160 bytes); returns buffer. For messages. */
const char *sambaTensorTypeFormat(const SambaTensorType *type, char *buffer);

/* The bits of a number in a dtype: rounded to nearest even, canonical NaN; integers toward zero,
 * saturated to 64 bits, then wrapped. */
uint64_t sambaDTypeBitsOfNumber(SambaDType dtype, double value);

#endif
