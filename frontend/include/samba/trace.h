/* Tracing: building one graph, operator by operator.
 *
 * A SambaTraceValue is metadata plus a value of the graph: tracing never looks at data. Shapes and
 * dtypes come from the operator table, so an error appears at the builder call, with the operator's
 * name. A failed call returns NULL and is remembered: later calls on NULL values do nothing, and
 * compiling the trace returns the first failure.
 *
 *   SambaTrace *trace = sambaTraceCreate(context, "forward");
 *   SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){1, 784});
 *   SambaTraceValue *w = sambaTraceParameter(trace, "fc.weight", SAMBA_DTYPE_F32, 2,
 *                                            (int64_t[]){10, 784}, weights);
 *   sambaTraceOutput(trace, "y", sambaRelu(sambaLinear(x, w, NULL)));
 *   SambaStatus status = sambaCompileTrace(trace, NULL, "model.pef");
 *   sambaTraceDestroy(trace); */
#ifndef SAMBA_TRACE_H
#define SAMBA_TRACE_H

#include "samba/attribute.h"
#include "samba/tensor.h"
#include "samba/trace_record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A graph that is being built, and one value of it, owned by the trace. */
typedef struct SambaTrace SambaTrace;
typedef struct SambaTraceValue SambaTraceValue;

SAMBA_EXPORT void sambaTraceDestroy(SambaTrace *trace);
/* The first failure so far, borrowed; NULL when there is none. */
SAMBA_EXPORT SambaStatus sambaTraceStatus(const SambaTrace *trace);

/* What a value is. dims: borrowed; names are borrowed, "" for what is no argument. kind: input,
 * weight, buffer, ...; "" for what is computed. */
SAMBA_EXPORT SambaTrace *sambaTraceValueGetTrace(const SambaTraceValue *value);
SAMBA_EXPORT SambaDType sambaTraceValueGetDType(const SambaTraceValue *value);
SAMBA_EXPORT uint32_t sambaTraceValueGetRank(const SambaTraceValue *value);
SAMBA_EXPORT const int64_t *sambaTraceValueGetDims(const SambaTraceValue *value);
SAMBA_EXPORT SambaStringRef sambaTraceValueGetName(const SambaTraceValue *value);
SAMBA_EXPORT SambaStringRef sambaTraceValueGetKind(const SambaTraceValue *value);
SAMBA_EXPORT SambaStringRef sambaTraceValueGetRegion(const SambaTraceValue *value);
SAMBA_EXPORT bool sambaTraceValueGetRequiresGrad(const SambaTraceValue *value);
/* Its number: arguments and results of operators count in order of creation. The record calls value
 * 7 %7. */
SAMBA_EXPORT uint32_t sambaTraceValueGetId(const SambaTraceValue *value);

/* Operators created from now on belong to this layer: its name is their location and reaches every
 * report. NULL or "": none. `file` and `line` say where it comes from (NULL: unknown). */
SAMBA_EXPORT void sambaTraceSetLayer(SambaTrace *trace, SambaStringRef name, const char *file,
                                     unsigned line);

/* Operators created while this is set keep their precision (samba.graphamp = false), whatever the
 * rest of the graph is computed in: positions, for instance. */
SAMBA_EXPORT void sambaTraceKeepPrecision(SambaTrace *trace, bool keep);

/* What a hyperparameter is: a number that is bound at each launch. Its tensor has rank 0. */
typedef struct SambaTraceArgin {
  const char *kind;   /* lr, weight_decay, momentum, dropout_rate, dropout_seed, other */
  const char *group;  /* one name that sets all of them */
  double value;       /* by default */
  double least, most; /* equal: any */
} SambaTraceArgin;

/* What a function argument is. Zeroed fields mean: none. */
typedef struct SambaArgument {
  SambaStringRef name; /* empty or taken: "_N" is appended */
  const char *kind;    /* input, weight, buffer, optimizer_state, constant, argin */
  SambaTensorType type;
  SambaStringRef region;
  const char *memory; /* ddr, hbm, host */
  bool requires_grad;
  const SambaTraceArgin *argin; /* of kind argin */
  /* At most one of: a range of a file, memory. */
  const char *file;
  uint64_t file_offset;
  const void *data; /* row-major, copied into the IR as a dense tensor */
} SambaArgument;
SAMBA_EXPORT SambaTraceValue *sambaTraceArgument(SambaTrace *trace, const SambaArgument *argument);
SAMBA_EXPORT SambaTraceValue *sambaTraceInput(SambaTrace *trace, const char *name, SambaDType dtype,
                                              uint32_t rank, const int64_t *dims);
/* data may be NULL: such a weight is written before the network runs. */
SAMBA_EXPORT SambaTraceValue *sambaTraceParameter(SambaTrace *trace, const char *name,
                                                  SambaDType dtype, uint32_t rank,
                                                  const int64_t *dims, const void *data);
/* A weight in a file: raw little-endian elements from `offset` on. The path is kept as given. */
SAMBA_EXPORT SambaTraceValue *sambaTraceParameterFile(SambaTrace *trace, const char *name,
                                                      SambaDType dtype, uint32_t rank,
                                                      const int64_t *dims, const char *file,
                                                      uint64_t offset);
/* The argument that stands for a tensor of the host: made when the tensor is first met, the same
 * one afterwards. Name, region, memory type and requires_grad come from the tensor, its data never.
 * kind as above. The trace holds a reference. Two tensors with one name are refused. */
SAMBA_EXPORT SambaTraceValue *sambaTraceTensor(SambaTrace *trace, SambaTensor *tensor,
                                               const char *kind);
/* NULL when the graph does not have it. */
SAMBA_EXPORT SambaTraceValue *sambaTraceFindTensor(const SambaTrace *trace,
                                                   const SambaTensor *tensor);
/* Borrowed from the trace; NULL for what stands for no tensor. */
SAMBA_EXPORT SambaTensor *sambaTraceValueGetTensor(const SambaTraceValue *value);
/* All tensors of the host that the graph has, in the order in which they were met. */
SAMBA_EXPORT void sambaTraceForEachTensor(const SambaTrace *trace,
                                          void (*visit)(void *user, SambaTraceValue *value,
                                                        SambaTensor *tensor),
                                          void *user);
/* A small constant in the IR. data: row-major; one element stands for all when splat. */
SAMBA_EXPORT SambaTraceValue *sambaTraceConstant(SambaTrace *trace, const SambaTensorType *type,
                                                 const void *data, bool splat);
/* A rank-0 constant. */
SAMBA_EXPORT SambaTraceValue *sambaTraceScalar(SambaTrace *trace, SambaDType dtype, double value);

/* Any operator of the table. Every tensor must belong to `trace`. results: one per result of the
 * operator. The status starts with the operator's name and layer. */
SAMBA_EXPORT SambaStatus sambaTraceOperator(
    SambaTrace *trace, const char *name, uint32_t operand_count, SambaTraceValue *const *operands,
    uint32_t attribute_count, const SambaAttribute *attributes, SambaTraceValue **out_results);
/* The same for one result; NULL on failure, which the trace remembers. NULL operands at the end are
 * left out. */
SAMBA_EXPORT SambaTraceValue *sambaTraceCall(SambaTrace *trace, const char *name,
                                             uint32_t operand_count,
                                             SambaTraceValue *const *operands,
                                             uint32_t attribute_count,
                                             const SambaAttribute *attributes);
/* sambaTraceCall in the trace of the first operand; NULL when one of the first `required` operands
 * is NULL. */
SAMBA_EXPORT SambaTraceValue *sambaTraceBuild(const char *name, uint32_t required,
                                              uint32_t operand_count,
                                              SambaTraceValue *const *operands,
                                              uint32_t attribute_count,
                                              const SambaAttribute *attributes);

/* Declares the next result of the graph. */
SAMBA_EXPORT void sambaTraceOutput(SambaTrace *trace, const char *name, SambaTraceValue *tensor);
/* kind: output, loss, update. With a region, the result is written back to the argument that owns
 * the region; it may be empty. */
SAMBA_EXPORT void sambaTraceResult(SambaTrace *trace, SambaStringRef name, const char *kind,
                                   SambaStringRef region, SambaTraceValue *tensor);

/* Ends the trace, which takes nothing more, and writes it as a module of MLIR, which samba-compile
 * takes as a model. path: a file, or "-" for standard output. Files of weights are named as they
 * were given; who reads the module looks for them from its folder on. */
SAMBA_EXPORT SambaStatus sambaTraceWrite(SambaTrace *trace, const char *path);

/* What was traced so far, as text. Borrowed until the trace changes. */
SAMBA_EXPORT const SambaTraceRecord *sambaTraceGetRecord(SambaTrace *trace);

#ifdef __cplusplus
}
#endif

#endif
