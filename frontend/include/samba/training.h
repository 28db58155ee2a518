/* Tracing a graph that learns: losses, what is trained, buffers, dropout, optimizers.
 *
 *   SambaTraceValue *w = sambaTraceParameter(trace, "fc.weight", ...);
 *   sambaTraceSetRequiresGrad(w, true);
 *   sambaTraceLoss(trace, "loss", sambaCrossEntropy(y, labels, NULL, NULL, "mean"));
 *   sambaTraceAddOptimizer(trace, "sgd,lr=0.1,momentum=0.9", "", 0, NULL);
 *
 * A graph with a loss or an optimizer is a training graph: compiling it adds gradients and the
 * optimizer's step, and no option asks for them. What is wrong is refused at the call, as in the
 * rest of tracing; what only the whole graph tells, by sambaTraceFinish. */
#ifndef SAMBA_TRAINING_H
#define SAMBA_TRAINING_H

#include "samba/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a weight or an input gets a gradient, NAME__grad; a weight that gets none is frozen. The
 * dtype must be a float. Returns the tensor; NULL stays NULL. */
SAMBA_EXPORT SambaTraceValue *sambaTraceSetRequiresGrad(SambaTraceValue *tensor,
                                                        bool requires_grad);

/* A trained weight of f32 whose first values are drawn uniformly from [-bound, bound), row-major,
 * by splitmix64. The generator starts at any number and goes on. */
SAMBA_EXPORT SambaTraceValue *sambaTraceUniformParameter(SambaTrace *trace, const char *name,
                                                         uint32_t rank, const int64_t *dims,
                                                         double bound, uint64_t *generator);

/* Declares the next result as a loss. Several losses are summed for the gradients. */
SAMBA_EXPORT void sambaTraceLoss(SambaTrace *trace, const char *name, SambaTraceValue *tensor);
/* Makes losses of exactly these results (in order of declaration, from 0) and outputs of all other
 * losses. A graph with an optimizer and no loss leaves the choice to the compiler, when it is
 * compiled with inference=false: the float results on which no other result depends. */
SAMBA_EXPORT void sambaTraceSelectLosses(SambaTrace *trace, uint32_t count, const int64_t *results);

/* A tensor that the graph itself writes, such as running statistics. data may be NULL. */
SAMBA_EXPORT SambaTraceValue *sambaTraceBuffer(SambaTrace *trace, const char *name,
                                               SambaDType dtype, uint32_t rank, const int64_t *dims,
                                               const void *data);
/* From the next run on, the buffer or weight holds this value. */
SAMBA_EXPORT void sambaTraceUpdate(SambaTraceValue *argument, SambaTraceValue *value);

/* Batch normalization with the statistics of the batch. The buffers `mean` and `variance` take a
 * share `momentum` of them, the variance n / (n - 1) times, as torch.nn.BatchNorm does. */
SAMBA_EXPORT SambaTraceValue *sambaTraceBatchNorm(SambaTraceValue *x, SambaTraceValue *weight,
                                                  SambaTraceValue *bias, SambaTraceValue *mean,
                                                  SambaTraceValue *variance, double eps,
                                                  double momentum);
/* Elements are 0 with probability p, the rest is divided by 1 - p. Two hyperparameters come with
 * it, LAYER__p (group p) and LAYER__seed. Calls in one layer with one p have one LAYER__p, and
 * seeds of their own: LAYER__seed, LAYER__seed_0, ... */
SAMBA_EXPORT SambaTraceValue *sambaTraceDropout(SambaTraceValue *x, double p);

/* Trains weights by "KIND,KEY=NUMBER,..", as samba-compile --optimizer takes it. No parameters: all
 * weights that require a gradient and that no other optimizer has. A parameter that requires no
 * gradient when the graph is finished stays as it is. `prefix` stands before the names of the
 * hyperparameters: "head." makes head.lr. Optimizers of one prefix get their numbers behind it,
 * optimizer_0.lr and optimizer_1.lr, so that each has hyperparameters of its own and `lr` sets all.
 * A weight that requires a gradient and has no optimizer gets its gradient, and stays as it is. */
SAMBA_EXPORT void sambaTraceAddOptimizer(SambaTrace *trace, const char *settings,
                                         const char *prefix, uint32_t count,
                                         SambaTraceValue *const *parameters);
/* More parameters of the optimizer that was added last, with settings and hyperparameters of their
 * own. The kind is the same. max_grad_norm belongs to the whole optimizer, and so is the same or
 * not given: the norm is over the gradients of all its groups. */
SAMBA_EXPORT void sambaTraceAddParameterGroup(SambaTrace *trace, const char *settings,
                                              const char *prefix, uint32_t count,
                                              SambaTraceValue *const *parameters);
/* Gradients are summed over launches of BCKWD until ZEROGRAD, for micro-batches. */
SAMBA_EXPORT void sambaTraceAccumulateGradients(SambaTrace *trace);

#ifdef __cplusplus
}
#endif

#endif
