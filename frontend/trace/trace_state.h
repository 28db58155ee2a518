/* What the files of the tracer share: the graph as far as it is built. For clients: trace.h and
 * training.h. */
#ifndef SAMBA_FRONTEND_TRACE_TRACE_STATE_H
#define SAMBA_FRONTEND_TRACE_TRACE_STATE_H

#include "dialect/samba/table/training/optimizer_kinds.h"
#include "frontend/trace/value.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"
#include "support/text/text.h"
#include "support/text/trace_record.h"

/* An argument; its attributes are written when the graph is finished. */
typedef struct SambaTraceArgumentState {
  SambaTraceValue *tensor;
  MlirAttribute data;  /* samba.value, or null */
  MlirAttribute argin; /* samba.argin, or null */
  bool has_region;     /* of its own: to be written */
  uint32_t optimizer;  /* SAMBA_NO_INDEX: none */
  uint32_t line;       /* of the record */
} SambaTraceArgumentState;

typedef struct SambaTraceResultState {
  SambaTraceValue *tensor;
  SambaStringRef name, kind, region;
  uint32_t line;
} SambaTraceResultState;

typedef struct SambaTraceOptimizerState {
  const SambaOptimizerKind *kind;
  double values[SAMBA_SETTING_COUNT];
  SambaStringRef prefix, group; /* as given; what stands before its hyperparameters */
  const char *description;      /* for the record: kind, parameters and settings */
  uint32_t line;                /* of the record */
  uint32_t joins;  /* the optimizer whose further parameters it has; SAMBA_NO_INDEX: none */
  bool takes_rest; /* every weight that requires a gradient and that no other one has */
} SambaTraceOptimizerState;

/* A tensor of the host and the argument that stands for it. */
typedef struct SambaTraceTensorState {
  SambaTensor *tensor; /* one reference */
  SambaTraceValue *value;
} SambaTraceTensorState;

struct SambaTrace {
  MlirContext context;
  SambaArena arena;
  SambaStatus status;
  const char *name;
  MlirBlock block; /* null once finished */
  MlirLocation location;
  SambaStringRef layer;
  bool keep_precision;
  bool accumulates; /* gradients are summed until ZEROGRAD */
  uint32_t next_id;
  SambaStringMap names; /* of arguments and results */
  SambaStringMap rates; /* "LAYER=RATE" of dropout -> argument */
  SAMBA_ARRAY(SambaTraceArgumentState) arguments;
  SAMBA_ARRAY(SambaTraceResultState) results;
  SAMBA_ARRAY(SambaTraceOptimizerState) optimizers;
  SAMBA_ARRAY(SambaTraceTensorState) tensors;
  SambaPointerMap tensor_values;   /* indices of them, by tensor */
  SambaStrings lines, line_layers; /* of the record */
  SambaStrings constants;          /* names of numbers that are no arguments */
  SambaTraceRecord record;         /* the last one that was asked for */
};

/* ---- trace.c ---- */

/* Appends a result under exactly this name, which lives as long as the trace. */
void sambaTraceAddResult(SambaTrace *trace, SambaStringRef name, const char *kind,
                         SambaStringRef region, SambaTraceValue *tensor);

/* ---- record.c ---- */

/* Appends a line, which must live as long as the trace; its number. */
uint32_t sambaTraceRecordLine(SambaTrace *trace, const char *line);
/* Moves the text into a line: a new one when it is SAMBA_NO_INDEX, else in its place. */
void sambaTraceRecordSet(SambaTrace *trace, uint32_t *line, SambaText *text);
/* Writes the line of an argument or result, again when it has one. */
void sambaTraceRecordArgument(SambaTrace *trace, SambaTraceArgumentState *argument);
void sambaTraceRecordResult(SambaTrace *trace, SambaTraceResultState *result);
void sambaTraceRecordConstant(SambaTrace *trace, const SambaTraceValue *tensor, const void *data,
                              bool splat);
void sambaTraceRecordCall(SambaTrace *trace, const SambaOperatorCall *call,
                          SambaTraceValue *const *operands, SambaTraceValue *const *results);
/* ---- training.c ---- */

/* Is it a training graph: has it a loss or an optimizer? */
bool sambaTraceIsTraining(const SambaTrace *trace);
/* Gives every weight that is trained its optimizer; refuses a training that misses something. */
SambaStatus sambaTraceAssignOptimizers(SambaTrace *trace);

#endif
