/* Lazy tensors: operators on tensors that are computed when somebody wants the result.
 *
 *   sambaTensorOperator(context, "matmul", 2, (SambaTensor *[]){a, b}, 0, NULL, &y);
 *   sambaTensorOperator(context, "relu", 1, &y, 0, NULL, &z);
 *   sambaTensorRealize(1, &z, NULL);      compiles both and runs them on the context's device
 *   sambaTensorReadData(z, numbers, bytes);
 *
 * A result is a tensor with a type and a shape, from the operator's rules, and without data; what
 * it is computed from hangs on it as an expression. Realizing compiles the expressions of all
 * tensors that are asked for as one graph, in memory, and gives each of them its data. What is
 * computed already is not computed again: a realized tensor is an input of what uses it.
 *
 * The data are also made when something else needs them: a view of the result that is materialized,
 * a session that it is written to. Views of samba/tensor.h pass no gradients; operators do.
 *
 * An expression refers to the values that its operands had when it was made: sambaTensorReplace of
 * an operand does not change it. Data that are written in place (sambaTensorAssign,
 * sambaTensorWriteData) are shared: what is computed later sees what was written. */
#ifndef SAMBA_LAZY_H
#define SAMBA_LAZY_H

#include "samba/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any operator of the table by its name without "samba.". Types are strict, as in
 * sambaTraceOperator; "cast" converts. out_results: one tensor per result of the operator, one
 * reference each, all NULL after an error, which starts with the operator's name. A float result
 * requires a gradient when an operand does, except through "detach" and what has none. */
SAMBA_EXPORT SambaStatus sambaTensorOperator(SambaContext *context, const char *name,
                                             uint32_t operand_count, SambaTensor *const *operands,
                                             uint32_t attribute_count,
                                             const SambaAttribute *attributes,
                                             SambaTensor **out_results);

/* Has it data? What is not lazy and not empty has. */
SAMBA_EXPORT bool sambaTensorIsRealized(const SambaTensor *tensor);

/* ---- Schedules ---- */

/* Tensors that are computed together: their graph, compiled. */
typedef struct SambaSchedule SambaSchedule;

/* Compiles what the tensors need. Those that are realized are left out. A tensor can be scheduled
 * once, until the schedule has run or is destroyed. */
SAMBA_EXPORT SambaStatus sambaTensorSchedule(uint32_t count, SambaTensor *const *tensors,
                                             SambaSchedule **out_schedule);
/* How many operators the graph has; a subgraph that several tensors share counts once. */
SAMBA_EXPORT uint32_t sambaScheduleGetOperatorCount(const SambaSchedule *schedule);
/* How many launches of sections it takes; 0 when nothing is to be computed. */
SAMBA_EXPORT uint32_t sambaScheduleGetCallCount(const SambaSchedule *schedule);
/* Device memory for what lies between the operators: what the planner takes, and what it would be
 * if nothing shared a place. */
SAMBA_EXPORT void sambaScheduleGetMemory(const SambaSchedule *schedule, uint64_t *out_planned,
                                         uint64_t *out_sum);
/* Computes the tensors and gives them their data. To be called once. */
SAMBA_EXPORT SambaStatus sambaScheduleRun(SambaSchedule *schedule);
SAMBA_EXPORT void sambaScheduleDestroy(SambaSchedule *schedule);

typedef struct SambaRealizeOptions {
  bool keep_statistics; /* the context's statistics do not count this */
} SambaRealizeOptions;

/* Schedules the tensors and runs the schedule. Realized ones are left alone, one that is scheduled
 * already is refused; without any other nothing is compiled or launched. options may be NULL. */
SAMBA_EXPORT SambaStatus sambaTensorRealize(uint32_t count, SambaTensor *const *tensors,
                                            const SambaRealizeOptions *options);

/* What realizing and backward did in this context. */
typedef struct SambaContextStatistics {
  uint64_t compilations; /* of graphs that the context did not know yet */
  uint64_t launches;     /* of sections */
  uint64_t cycles;
} SambaContextStatistics;
SAMBA_EXPORT void sambaContextGetStatistics(const SambaContext *context,
                                            SambaContextStatistics *out_statistics);

/* ---- New values ---- */

/* The tensor becomes `source`, with its element type; only the shapes must agree.
 * The source must not require a gradient, and the tensor not be computed from what does. */
SAMBA_EXPORT SambaStatus sambaTensorReplace(SambaTensor *tensor, SambaTensor *source);
/* The values of `source`. Shape, element type, devices and shard axis must agree, and the source
 * must not require a gradient. A realized tensor is written in place, after the source has been
 * realized; another one is replaced. Assigning a tensor to itself does nothing. */
SAMBA_EXPORT SambaStatus sambaTensorAssign(SambaTensor *tensor, SambaTensor *source);
/* A number instead of a tensor: every element, converted to the tensor's type. */
SAMBA_EXPORT SambaStatus sambaTensorAssignScalar(SambaTensor *tensor, SambaScalar number);

/* ---- Devices ---- */

/* The tensor itself (one more reference) when it lies on that one device; a copy there otherwise,
 * with its gradient; on several devices a replica on each. An expression that is not computed yet
 * stays with the copy. */
SAMBA_EXPORT SambaStatus sambaTensorToDevices(SambaTensor *tensor, uint32_t count,
                                              const SambaStringRef *devices,
                                              SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorToDevicesInPlace(SambaTensor *tensor, uint32_t count,
                                                     const SambaStringRef *devices);

/* ---- Gradients ---- */

/* Adds the gradients of this tensor to those of the tensors that it is computed from, that require
 * one and that are not computed themselves (sambaTensorGetGrad). gradient: of the tensor, with its
 * shape and type; NULL for one element: 1. It is taken as it is and gets no gradient itself. The
 * tensor is realized too. Afterwards the expressions are forgotten for gradients, unless `retain`:
 * a second call is refused then. */
SAMBA_EXPORT SambaStatus sambaTensorBackward(SambaTensor *tensor, SambaTensor *gradient,
                                             bool retain);

#ifdef __cplusplus
}
#endif

#endif
