/* What hangs on a lazy tensor: a value of a graph that may be computed already. */
#ifndef SAMBA_TOOLS_LIBSAMBA_LAZY_EXPRESSION_H
#define SAMBA_TOOLS_LIBSAMBA_LAZY_EXPRESSION_H

#include "dialect/samba/table/core/operator.h"
#include "samba/lazy.h"
#include "support/base/memory.h"

struct SambaLazyNode;

/* One result of a node. */
typedef struct SambaLazyValue {
  struct SambaLazyNode *node;
  uint32_t result;
} SambaLazyValue;

/* A call of an operator, or a leaf: data that were there. Never changed by what happens to the
 * tensors of the user, which only refer to it. */
typedef struct SambaLazyNode {
  uint32_t references;
  SambaContext *context;
  struct SambaLazyNode *next_free; /* while it waits to be freed */

  const SambaOperator *operator; /* NULL: a leaf */
  uint32_t operand_count, attribute_count;
  SambaLazyValue *operands; /* one reference each */
  SambaAttribute *attributes;
  SambaArena arena; /* of the attributes */

  uint32_t result_count;
  SambaTensorType types[SAMBA_MAX_RESULTS];
  /* The data as far as they are computed, shared with the tensors that have them. */
  SambaTensor *values[SAMBA_MAX_RESULTS];

  bool requires_grad;
  bool forgotten;     /* by backward: no gradient passes any more */
  bool scheduled;     /* a schedule holds one of its results as an output */
  SambaTensor *owner; /* of a leaf: the tensor that gets the gradient; NULL when it is gone */
} SambaLazyNode;

SambaLazyNode *sambaLazyNodeRetain(SambaLazyNode *node);
void sambaLazyNodeRelease(SambaLazyNode *node);

/* The tensor's value in the graph; no node: it has none yet. Borrowed. */
SambaLazyValue sambaLazyValueOf(const SambaTensor *tensor);
/* The same for an operand: a tensor with data of its own becomes a leaf. */
SambaStatus sambaLazyValueOfOperand(SambaContext *context, SambaTensor *tensor,
                                    SambaLazyValue *out_value);
/* Hangs a value on a tensor, in place of what hung there. */
void sambaLazyHang(SambaTensor *tensor, SambaLazyValue value);
/* Keeps the data of a result; a node whose results are all there and that no gradient needs forgets
 * how they are computed. */
void sambaLazySetComputed(SambaLazyValue value, SambaTensor *data);
/* Forgets how the node is computed, if nobody can need it. */
void sambaLazyCollapse(SambaLazyNode *node);

/* sambaTensorOperator, but for who computes the results: out_count of them. */
SambaStatus sambaLazyCall(SambaContext *context, const char *name, uint32_t operand_count,
                          SambaTensor *const *operands, uint32_t attribute_count,
                          const SambaAttribute *attributes, uint32_t *out_count,
                          SambaTensor **out_results);

/* The data of the source into the tensor's memory; shape and type agree. */
SambaStatus sambaLazyWriteInPlace(SambaTensor *tensor, const SambaTensor *source);

/* "tensor 'y' of shape 2x3xf32", in a buffer of SAMBA_LAZY_TEXT_BYTES. */
enum { SAMBA_LAZY_TEXT_BYTES = 512 };
const char *sambaLazyDescribe(const SambaTensor *tensor, char *buffer);

#endif
