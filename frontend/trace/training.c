/* What a graph that learns has beside operators; see training.h. */
#include "samba/training.h"
#include "frontend/trace/trace.h"

#include "dialect/samba/samba.h"
#include "frontend/trace/trace_state.h"
#include "samba/operators.h"
#include "samba/random.h"
#include "support/base/index.h"
#include "support/number/shape.h"
#include "support/text/escape.h"
#include "support/text/text.h"

/* ---- What is trained ---- */

static bool isKind(const SambaTraceValue *tensor, const char *kind) {
  return sambaStringRefEqualC(tensor->kind, kind);
}

/* "weight "fc.weight"", or what the tensor is otherwise. */
static const char *describe(const SambaTraceValue *tensor) {
  SambaArena *arena = &tensor->trace->arena;
  if (tensor->argument == SAMBA_NO_INDEX)
    return "a computed tensor";
  SambaStringRef shown = sambaStringEscape(arena, tensor->name);
  return sambaArenaFormat(arena, "%.*s %.*s", SAMBA_STRING_ARGS(tensor->kind),
                          SAMBA_STRING_ARGS(shown));
}

SambaTraceValue *sambaTraceSetRequiresGrad(SambaTraceValue *tensor, bool requires_grad) {
  if (!tensor || tensor->trace->status)
    return NULL;
  SambaTrace *trace = tensor->trace;
  bool fits = isKind(tensor, "weight") || isKind(tensor, "input");

  if (!fits) {
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID,
                                          "%s cannot require a gradient; weights and inputs can",
                                          describe(tensor)));
    return NULL;
  }
  if (requires_grad && !sambaDTypeIsFloat(tensor->type.dtype)) {
    sambaTraceFail(trace,
                   sambaStatusMake(SAMBA_INVALID,
                                   "%s is %s, but only tensors of f32, bf16 or f16 can require a "
                                   "gradient",
                                   describe(tensor), sambaDTypeName(tensor->type.dtype)));
    return NULL;
  }

  tensor->requires_grad = requires_grad;
  sambaTraceRecordArgument(trace, &trace->arguments.data[tensor->argument]);
  return tensor;
}

SambaTraceValue *sambaTraceUniformParameter(SambaTrace *trace, const char *name, uint32_t rank,
                                            const int64_t *dims, double bound,
                                            uint64_t *generator) {
  SambaTraceValue *tensor = sambaTraceParameter(trace, name, SAMBA_DTYPE_F32, rank, dims, NULL);
  if (!tensor)
    return NULL;
  size_t count = (size_t)sambaShapeElements(rank, dims);
  float *data = SAMBA_ARENA_ARRAY(&trace->arena, float, count + 1);
  for (size_t i = 0; i < count; ++i) { /* 53 bits, all of which a double holds */
    double share = (double)(sambaRandomDraw(generator) >> 11) * 0x1p-53;
    data[i] = (float)(bound * (2 * share - 1));
  }

  trace->arguments.data[tensor->argument].data =
      sambaDenseAttribute(trace->context, &tensor->type, data, false);
  return sambaTraceSetRequiresGrad(tensor, true);
}

/* ---- Losses ---- */

static SambaStatus checkLoss(SambaTrace *trace, SambaStringRef name,
                             const SambaTraceValue *tensor) {
  if (sambaDTypeIsFloat(tensor->type.dtype))
    return NULL;
  SambaStringRef shown = sambaStringEscape(&trace->arena, name);
  return sambaStatusMake(SAMBA_INVALID, "loss %.*s is %s, but a loss must be f32, bf16 or f16",
                         SAMBA_STRING_ARGS(shown), sambaDTypeName(tensor->type.dtype));
}

void sambaTraceLoss(SambaTrace *trace, const char *name, SambaTraceValue *tensor) {
  if (trace->status)
    return;
  SambaStatus status = tensor ? checkLoss(trace, sambaStringRef(name), tensor) : NULL;
  if (status)
    sambaTraceFail(trace, status);
  else
    sambaTraceResult(trace, sambaStringRef(name), "loss", (SambaStringRef){0}, tensor);
}

static SambaStatus selectLosses(SambaTrace *trace, uint32_t count, const int64_t *results) {
  for (uint32_t i = 0; i < count; ++i) {
    int64_t index = results[i];
    if (index < 0 || index >= (int64_t)trace->results.size)
      return sambaStatusMake(SAMBA_INVALID, "loss %lld: graph %s has results 0 to %lld",
                             (long long)index, trace->name, (long long)trace->results.size - 1);
    for (uint32_t k = 0; k < i; ++k)
      if (results[k] == index)
        return sambaStatusMake(SAMBA_INVALID, "result %lld is a loss twice; once is enough",
                               (long long)index);
    const SambaTraceResultState *result = &trace->results.data[index];
    if (sambaStringRefEqualC(result->kind, "update"))
      return sambaStatusMake(SAMBA_INVALID, "result %lld is an update, which is no loss",
                             (long long)index);
    SAMBA_RETURN_IF_ERROR(checkLoss(trace, result->name, result->tensor));
  }
  return NULL;
}

void sambaTraceSelectLosses(SambaTrace *trace, uint32_t count, const int64_t *results) {
  if (trace->status)
    return;
  SambaStatus status = selectLosses(trace, count, results);
  if (status) {
    sambaTraceFail(trace, status);
    return;
  }

  for (size_t r = 0; r < trace->results.size; ++r) {
    SambaTraceResultState *result = &trace->results.data[r];
    bool is_loss = false;
    for (uint32_t i = 0; i < count; ++i)
      is_loss |= results[i] == (int64_t)r;
    if (sambaStringRefEqualC(result->kind, "update"))
      continue;
    result->kind = sambaStringRef(is_loss ? "loss" : "output");
    sambaTraceRecordResult(trace, result);
  }
}

/* ---- Buffers and layers ---- */

SambaTraceValue *sambaTraceBuffer(SambaTrace *trace, const char *name, SambaDType dtype,
                                  uint32_t rank, const int64_t *dims, const void *data) {
  SambaArgument argument = {.name = sambaStringRef(name),
                            .kind = "buffer",
                            .type = {.dtype = dtype, .rank = rank},
                            .data = data};
  for (uint32_t axis = 0; axis < rank && axis < SAMBA_MAX_RANK; ++axis)
    argument.type.dims[axis] = dims[axis];
  return sambaTraceArgument(trace, &argument);
}

void sambaTraceUpdate(SambaTraceValue *argument, SambaTraceValue *value) {
  SambaTrace *trace = argument ? argument->trace : NULL;
  if (!trace || trace->status || !value)
    return;
  if (!isKind(argument, "buffer") && !isKind(argument, "weight")) {
    sambaTraceFail(trace,
                   sambaStatusMake(SAMBA_INVALID, "%s cannot be updated; buffers and weights can",
                                   describe(argument)));
    return;
  }

  if (!mlirTypeEqual(mlirValueGetType(argument->value), mlirValueGetType(value->value))) {
    char expected[160], found[160];
    sambaTraceFail(trace, sambaStatusMake(SAMBA_INVALID, "%s is %s, but its update is %s",
                                          describe(argument),
                                          sambaTensorTypeFormat(&argument->type, expected),
                                          sambaTensorTypeFormat(&value->type, found)));
    return;
  }
  sambaTraceAddResult(trace, argument->name, "update", argument->region, value);
}

static SambaTraceValue *times(SambaTraceValue *x, double factor) {
  return x ? sambaMul(x, sambaTraceScalar(x->trace, x->type.dtype, factor)) : NULL;
}

SambaTraceValue *sambaTraceBatchNorm(SambaTraceValue *x, SambaTraceValue *weight,
                                     SambaTraceValue *bias, SambaTraceValue *mean,
                                     SambaTraceValue *variance, double eps, double momentum) {
  SambaTraceValue *results[5] = {NULL};
  sambaBatchNormTraining(x, weight, bias, mean, variance, eps, 1 - momentum, results);
  if (!results[0])
    return NULL;

  int64_t count = sambaShapeElements(x->type.rank, x->type.dims) / x->type.dims[1];
  if (count < 2) {
    sambaTraceFail(x->trace,
                   sambaStatusMake(SAMBA_INVALID,
                                   "batch normalization needs two values per channel or more to "
                                   "train, but has %lld",
                                   (long long)count));
    return NULL;
  }
  SambaTraceValue *fresh = times(results[4], momentum * (double)count / (double)(count - 1));
  sambaTraceUpdate(mean, results[1]);
  sambaTraceUpdate(variance, sambaAdd(times(variance, 1 - momentum), fresh));
  return results[0];
}

/* The hyperparameter LAYER__NAME. */
static SambaTraceValue *layerArgin(SambaTrace *trace, const char *name, SambaDType dtype,
                                   const SambaTraceArgin *argin) {
  SambaStringRef layer = trace->layer.size ? trace->layer : sambaStringRef("dropout");
  SambaArgument argument = {.name = sambaStringRef(sambaArenaFormat(
                                &trace->arena, "%.*s__%s", SAMBA_STRING_ARGS(layer), name)),
                            .kind = "argin",
                            .type = {.dtype = dtype},
                            .argin = argin};
  return sambaTraceArgument(trace, &argument);
}

/* LAYER__p. A layer that is called again has the same one, so that one value sets all calls. */
static SambaTraceValue *dropoutRate(SambaTrace *trace, double p, double most) {
  SambaTraceArgin rate = {.kind = "dropout_rate", .group = "p", .value = p, .most = most};
  SambaStringRef key = sambaStringRef(
      sambaArenaFormat(&trace->arena, "%.*s=%.17g", SAMBA_STRING_ARGS(trace->layer), p));
  uint32_t argument;
  if (trace->layer.size && sambaStringMapGet(&trace->rates, key, &argument))
    return trace->arguments.data[argument].tensor;

  SambaTraceValue *made = layerArgin(trace, "p", SAMBA_DTYPE_F32, &rate);
  if (made && trace->layer.size)
    sambaStringMapInsert(&trace->rates, key, made->argument, NULL);
  return made;
}

SambaTraceValue *sambaTraceDropout(SambaTraceValue *x, double p) {
  const double most = 0.99999994; /* the largest f32 below 1 */
  if (!x || x->trace->status)
    return NULL;
  if (!(p >= 0 && p <= most)) {
    sambaTraceFail(x->trace, sambaStatusMake(SAMBA_INVALID,
                                             "dropout: p is %g, but must be at least 0 and less "
                                             "than 1",
                                             p));
    return NULL;
  }

  SambaTraceArgin seed = {.kind = "dropout_seed", .group = "seed"};
  SambaTraceValue *rate_tensor = dropoutRate(x->trace, p, most);
  SambaTraceValue *seed_tensor = layerArgin(x->trace, "seed", SAMBA_DTYPE_I64, &seed);
  SambaTraceValue *y, *mask;
  return sambaDropout(x, rate_tensor, seed_tensor, &y, &mask) ? y : NULL;
}

/* ---- Optimizers ---- */

static SambaStatus takeParameter(SambaTrace *trace, uint32_t optimizer, uint32_t position,
                                 SambaTraceValue *tensor) {
  const char *kind = trace->optimizers.data[optimizer].kind->name;
  if (!tensor || tensor->trace != trace)
    return sambaStatusMake(SAMBA_INVALID, "%s: parameter %u is %s", kind, position,
                           tensor ? "a tensor of another trace" : "missing");
  if (!isKind(tensor, "weight"))
    return sambaStatusMake(SAMBA_INVALID, "%s: parameter %u is %s; optimizers train weights", kind,
                           position, describe(tensor));

  SambaTraceArgumentState *argument = &trace->arguments.data[tensor->argument];
  if (argument->optimizer != SAMBA_NO_INDEX)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: %s has optimizer %u (%s) already; a parameter has one optimizer",
                           kind, describe(tensor), argument->optimizer,
                           trace->optimizers.data[argument->optimizer].kind->name);
  argument->optimizer = optimizer;
  return NULL;
}

/* "sgd(%1, %2) {nesterov = 0}" */
static const char *describeOptimizer(SambaTrace *trace, const SambaTraceOptimizerState *optimizer,
                                     uint32_t count, SambaTraceValue *const *parameters) {
  const SambaOptimizerKind *kind = optimizer->kind;
  SambaText text = {0};

  sambaTextAppendC(&text, kind->name);
  for (uint32_t i = 0; i < count; ++i)
    sambaTextFormat(&text, "%s%%%u%s", i ? ", " : "(", parameters[i]->id,
                    i + 1 == count ? ")" : "");
  sambaOptimizerAppendSettings(&text, kind, optimizer->values);
  if (optimizer->joins != SAMBA_NO_INDEX)
    sambaTextFormat(&text, " of optimizer %u", optimizer->joins);
  return sambaTextToArena(&text, &trace->arena);
}

/* Gives the optimizer its place in the record: "optimizer "head." = sgd(%1, %2) {nesterov = 0}". */
static void setGroup(SambaTrace *trace, SambaTraceOptimizerState *optimizer, SambaStringRef group) {
  SambaStringRef shown = sambaStringEscape(&trace->arena, group);
  SambaText text = {0};
  optimizer->group = group;
  sambaTextFormat(&text, "optimizer %.*s = %s", SAMBA_STRING_ARGS(shown), optimizer->description);
  sambaTraceRecordSet(trace, &optimizer->line, &text);
}

/* Optimizers of one prefix get their numbers behind it, the first of them too: else "lr" would be
 * the name of one hyperparameter and could not stand for all of them. */
static void groupOptimizers(SambaTrace *trace, const char *prefix) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < trace->optimizers.size; ++i)
    same += sambaStringRefEqualC(trace->optimizers.data[i].prefix, prefix);
  for (uint32_t i = 0; i < trace->optimizers.size; ++i) {
    SambaTraceOptimizerState *optimizer = &trace->optimizers.data[i];
    if (sambaStringRefEqualC(optimizer->prefix, prefix))
      setGroup(trace, optimizer,
               same == 1
                   ? optimizer->prefix
                   : sambaStringRef(sambaArenaFormat(&trace->arena, "%soptimizer_%u.", prefix, i)));
  }
}

/* A group is of the last optimizer's kind, and has its max_grad_norm. */
static SambaStatus joinLast(const SambaTrace *trace, SambaTraceOptimizerState *group) {
  if (!trace->optimizers.size)
    return sambaStatusMake(SAMBA_INVALID, "a parameter group wants an optimizer before it");
  uint32_t last = (uint32_t)trace->optimizers.size - 1;
  group->joins = trace->optimizers.data[last].joins;
  group->joins = group->joins == SAMBA_NO_INDEX ? last : group->joins;
  const SambaTraceOptimizerState *optimizer = &trace->optimizers.data[group->joins];
  if (group->kind != optimizer->kind)
    return sambaStatusMake(SAMBA_INVALID, "a parameter group of %s cannot be %s",
                           optimizer->kind->name, group->kind->name);

  double *norm = &group->values[SAMBA_SETTING_MAX_GRAD_NORM];
  double whole = optimizer->values[SAMBA_SETTING_MAX_GRAD_NORM];
  if (*norm > 0 && *norm != whole)
    return sambaStatusMake(SAMBA_INVALID,
                           "a parameter group has max_grad_norm %g, but its optimizer %g; the norm "
                           "is over all groups",
                           *norm, whole);
  *norm = whole;
  return NULL;
}

static void addGroup(SambaTrace *trace, bool joins, const char *settings, const char *prefix,
                     uint32_t count, SambaTraceValue *const *parameters) {
  SambaTraceOptimizerState optimizer = {
      .takes_rest = !count, .line = SAMBA_NO_INDEX, .joins = SAMBA_NO_INDEX};
  if (trace->status)
    return;
  SambaStatus status =
      sambaOptimizerParse(sambaStringRef(settings), &optimizer.kind, optimizer.values);
  if (!status && joins)
    status = joinLast(trace, &optimizer);
  if (status) {
    sambaTraceFail(trace, sambaStatusAnnotate(status, "optimizer"));
    return;
  }

  optimizer.prefix = sambaStringRefCopy(&trace->arena, sambaStringRef(prefix));
  uint32_t number = (uint32_t)trace->optimizers.size;
  sambaArrayAppend(&trace->optimizers, optimizer);
  for (uint32_t i = 0; i < count && !status; ++i)
    status = takeParameter(trace, number, i, parameters[i]);
  if (status) {
    sambaTraceFail(trace, sambaStatusAnnotate(status, "optimizer"));
    return;
  }

  trace->optimizers.data[number].description =
      describeOptimizer(trace, &optimizer, count, parameters);
  groupOptimizers(trace, prefix);
}

void sambaTraceAddOptimizer(SambaTrace *trace, const char *settings, const char *prefix,
                            uint32_t count, SambaTraceValue *const *parameters) {
  addGroup(trace, false, settings, prefix, count, parameters);
}

void sambaTraceAddParameterGroup(SambaTrace *trace, const char *settings, const char *prefix,
                                 uint32_t count, SambaTraceValue *const *parameters) {
  addGroup(trace, true, settings, prefix, count, parameters);
}

void sambaTraceAccumulateGradients(SambaTrace *trace) { trace->accumulates = true; }

/* ---- The whole graph ---- */

bool sambaTraceIsTraining(const SambaTrace *trace) {
  for (size_t i = 0; i < trace->results.size; ++i)
    if (sambaStringRefEqualC(trace->results.data[i].kind, "loss"))
      return true;
  return trace->optimizers.size > 0;
}

static bool isTrained(const SambaTraceArgumentState *argument) {
  return argument->tensor->requires_grad && isKind(argument->tensor, "weight");
}

/* The weights that no optimizer was given go to the one that takes the rest. */
static uint32_t assignRest(SambaTrace *trace, uint32_t optimizer) {
  uint32_t trained = 0;
  for (size_t i = 0; i < trace->arguments.size; ++i) {
    SambaTraceArgumentState *argument = &trace->arguments.data[i];
    if (!isTrained(argument))
      continue;
    if (argument->optimizer == SAMBA_NO_INDEX && trace->optimizers.data[optimizer].takes_rest)
      argument->optimizer = optimizer;
    trained += argument->optimizer == optimizer;
  }
  return trained;
}

SambaStatus sambaTraceAssignOptimizers(SambaTrace *trace) {
  for (uint32_t i = 0; i < trace->optimizers.size; ++i)
    if (!assignRest(trace, i))
      return sambaStatusMake(SAMBA_INVALID,
                             "optimizer %u (%s) trains nothing: none of its weights requires a "
                             "gradient",
                             i, trace->optimizers.data[i].kind->name);

  bool any = false;
  for (size_t i = 0; i < trace->arguments.size; ++i)
    any |= trace->arguments.data[i].tensor->requires_grad;
  if (!any && sambaTraceIsTraining(trace))
    return sambaStatusMake(SAMBA_INVALID, "is trained, but nothing requires a gradient");
  return NULL;
}
