/* A graph of lazy values as a trace. */
#ifndef SAMBA_TOOLS_LIBSAMBA_LAZY_GRAPH_H
#define SAMBA_TOOLS_LIBSAMBA_LAZY_GRAPH_H

#include "samba/trace.h"
#include "support/container/pointer_map.h"
#include "tools/libsamba/lazy/expression.h"

/* A node and its values in the trace; an argument has one. */
typedef struct SambaLazyTraced {
  SambaLazyNode *node;
  SambaTraceValue *values[SAMBA_MAX_RESULTS];
} SambaLazyTraced;

/* What an argument of the graph holds: argument i is called in{i}. */
typedef struct SambaLazyInput {
  SambaTensor *data;  /* one reference */
  SambaTensor *owner; /* gets the gradient; NULL: there is none. One reference */
} SambaLazyInput;

typedef struct SambaLazyGraph { /* zero-initialize, then set context and gradients */
  SambaContext *context;
  /* Values that a gradient passes are computed again from what requires it. */
  bool gradients;
  SambaTrace *trace;
  SAMBA_ARRAY(SambaLazyTraced) traced;
  SambaPointerMap indices; /* of nodes in traced */
  SambaPointerMap reached; /* nodes that a gradient reaches */
  SAMBA_ARRAY(SambaLazyInput) inputs;
  uint32_t operators;
} SambaLazyGraph;

/* "in3", in a buffer of SAMBA_LAZY_NAME_BYTES. */
enum { SAMBA_LAZY_NAME_BYTES = 32 };
SambaStringRef sambaLazyInputName(uint32_t input, char *buffer);

/* To be called first where `gradients` is set: what a gradient of this value reaches. */
void sambaLazyReach(SambaLazyGraph *graph, SambaLazyNode *node);
/* The value in the graph's trace, with everything that it is computed from. */
SambaStatus sambaLazyTrace(SambaLazyGraph *graph, SambaLazyValue value,
                           SambaTraceValue **out_value);
/* Makes data of inputs that are lazy: before a session is asked to hold the graph, because making
 * them may use the session. */
SambaStatus sambaLazyMakeInputs(SambaContext *context, size_t count, const SambaLazyInput *inputs);
void sambaLazyGraphFree(SambaLazyGraph *graph);

#endif
