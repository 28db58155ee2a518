/* Gradients of lazy tensors: the compiler's differentiation, by way of a training graph whose loss
 * is the tensor; see samba/lazy.h. */
#include "samba/training.h"
#include "support/number/dtype.h"
#include "support/number/shape.h"
#include "support/text/string_ref.h"
#include "tools/libsamba/lazy/device.h"
#include "tools/libsamba/lazy/graph.h"

#include <stdio.h>
#include <stdlib.h>

static const char lossName[] = "out";

static SambaStatus checkGradient(const SambaTensor *tensor, const SambaTensor *gradient) {
  char mine[SAMBA_LAZY_TEXT_BYTES], its[SAMBA_LAZY_TEXT_BYTES];
  if (!gradient && sambaTensorGetNumElements(tensor) != 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "backward: %s has more than one element; give a gradient of its shape",
                           sambaLazyDescribe(tensor, mine));
  uint32_t rank = sambaTensorGetRank(tensor);
  if (gradient && (sambaTensorGetRank(gradient) != rank ||
                   sambaTensorGetDType(gradient) != sambaTensorGetDType(tensor) ||
                   memcmp(sambaTensorGetDims(gradient), sambaTensorGetDims(tensor),
                          rank * sizeof(int64_t)) != 0))
    return sambaStatusMake(SAMBA_INVALID, "backward: the gradient is %s, but it is for %s",
                           sambaLazyDescribe(gradient, its), sambaLazyDescribe(tensor, mine));
  return NULL;
}

/* Has a call on the way forgotten how it was computed? */
static bool isForgotten(const SambaLazyGraph *graph) {
  for (size_t i = 0; i < graph->traced.size; ++i) {
    const SambaLazyNode *node = graph->traced.data[i].node;
    if (node->forgotten && sambaPointerMapGet(&graph->reached, node, &(uint32_t){0}))
      return true;
  }
  return false;
}

static SambaStatus traceLoss(SambaLazyGraph *graph, SambaLazyValue value) {
  static const char again[] = "backward: gradients have passed here once, and the expressions are "
                              "forgotten; retain the graph in the call before";
  SambaTraceValue *loss;
  if (value.node->forgotten)
    return sambaStatusMake(SAMBA_INVALID, again);
  sambaLazyReach(graph, value.node);
  SAMBA_RETURN_IF_ERROR(sambaLazyTrace(graph, value, &loss));
  if (isForgotten(graph))
    return sambaStatusMake(SAMBA_INVALID, again);
  sambaTraceLoss(graph->trace, lossName, loss);
  return NULL;
}

/* ---- The run ---- */

/* Ones, where no gradient is given. */
static SambaStatus writeSeed(SambaSession *session, const SambaTensor *tensor,
                             SambaTensor *gradient) {
  SambaTensor *ones = NULL;
  char name[SAMBA_LAZY_NAME_BYTES];
  snprintf(name, sizeof name, "%s__grad", lossName);
  if (!gradient) {
    SambaDType dtype = sambaTensorGetDType(tensor);
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateZeros(
        dtype, sambaTensorGetRank(tensor), sambaTensorGetDims(tensor), (SambaStringRef){0}, &ones));
    uint32_t one = sambaFloatToBits(dtype, 1); /* the tensor has one element */
    memcpy(sambaTensorGetDataPtr(ones), &one, sambaDTypeBytes(dtype));
  }
  SambaStatus status =
      sambaSessionWriteTensor(session, sambaStringRef(name), gradient ? gradient : ones);
  sambaTensorRelease(ones);
  return status;
}

/* grad += more, rounded to the type of both. */
static SambaStatus addTo(SambaTensor *grad, const SambaTensor *more) {
  SambaDType dtype = sambaTensorGetDType(grad);
  int64_t count = sambaTensorGetNumElements(grad), bytes = sambaTensorGetNumBytes(grad);
  uint32_t size = sambaDTypeBytes(dtype);
  uint8_t *sum = sambaAllocate((size_t)bytes), *term = sambaAllocate((size_t)bytes);
  SambaStatus status = sambaTensorReadData(grad, sum, bytes);
  if (!status)
    status = sambaTensorReadData(more, term, bytes);
  for (int64_t i = 0; i < count && !status; ++i) {
    uint32_t bits = sambaFloatToBits(dtype, sambaLoadFloat(dtype, sum, (uint64_t)i) +
                                                sambaLoadFloat(dtype, term, (uint64_t)i));
    memcpy(sum + i * size, &bits, size);
  }
  if (!status)
    status = sambaTensorWriteData(grad, sum, bytes, false);
  free(sum);
  free(term);
  return status;
}

static SambaStatus accumulate(SambaTensor *leaf, SambaTensor *gradient) {
  SambaTensor *grad = sambaTensorGetGrad(leaf);
  return grad ? addTo(grad, gradient) : sambaTensorSetGrad(leaf, gradient);
}

static SambaStatus takeGradients(const SambaLazyGraph *graph, SambaSession *session) {
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < graph->inputs.size && !status; ++i) {
    char name[SAMBA_LAZY_NAME_BYTES], gradient_name[SAMBA_LAZY_NAME_BYTES + 8];
    SambaTensor *gradient, *owner = graph->inputs.data[i].owner;
    if (!owner)
      continue;
    snprintf(gradient_name, sizeof gradient_name, "%s__grad", sambaLazyInputName(i, name).data);
    status = sambaSessionReadTensor(session, sambaStringRef(gradient_name), &gradient);
    if (status)
      break;
    status = accumulate(owner, gradient);
    sambaTensorRelease(gradient);
  }
  return status;
}

/* The tensor's own value was computed on the way. */
static SambaStatus takeLoss(SambaTensor *tensor, SambaLazyValue value, SambaSession *session) {
  SambaTensor *data;
  if (sambaTensorHasData(tensor))
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(session, sambaStringRef(lossName), &data));
  SambaStatus status = sambaTensorSetData(tensor, data);
  if (!status)
    sambaLazySetComputed(value, data);
  sambaTensorRelease(data);
  return status;
}

static SambaStatus runGraph(const SambaLazyGraph *graph, SambaTensor *tensor, SambaLazyValue value,
                            SambaTensor *gradient) {
  SambaLazyProgram *program;
  SambaSession *session;
  SAMBA_RETURN_IF_ERROR(
      sambaLazyMakeInputs(graph->context, graph->inputs.size, graph->inputs.data));
  SAMBA_RETURN_IF_ERROR(sambaLazyCompile(graph->context, graph->trace, &program));
  SambaStatus status = sambaLazyLoad(graph->context, program, &session);
  sambaLazyProgramRelease(program);
  for (uint32_t i = 0; i < graph->inputs.size && !status; ++i) {
    char name[SAMBA_LAZY_NAME_BYTES];
    status =
        sambaSessionWriteTensor(session, sambaLazyInputName(i, name), graph->inputs.data[i].data);
  }
  if (!status)
    status = writeSeed(session, tensor, gradient);
  if (!status)
    status = sambaLazyRun(graph->context, session, true);
  if (!status)
    status = takeGradients(graph, session);
  return status ? status : takeLoss(tensor, value, session);
}

/* ---- The call ---- */

/* No gradient passes the calls any more; what is computed stays as data. */
static void forget(const SambaLazyGraph *graph) {
  for (size_t i = 0; i < graph->traced.size; ++i) {
    SambaLazyNode *node = graph->traced.data[i].node;
    if (node->operator && node->requires_grad)
      sambaLazyNodeRetain(node);
  }
  for (size_t i = 0; i < graph->traced.size; ++i) {
    SambaLazyNode *node = graph->traced.data[i].node;
    if (!node->operator || !node->requires_grad)
      continue;
    node->forgotten = true;
  }
  for (size_t i = graph->traced.size; i-- > 0;) {
    SambaLazyNode *node = graph->traced.data[i].node;
    if (!node->forgotten)
      continue;
    sambaLazyCollapse(node);
    sambaLazyNodeRelease(node);
  }
}

/* backward of a tensor that is not computed: its gradient is what is given. */
static SambaStatus backwardOfLeaf(SambaTensor *tensor, SambaTensor *gradient) {
  SambaTensor *seed;
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateZeros(sambaTensorGetDType(tensor), sambaTensorGetRank(tensor),
                             sambaTensorGetDims(tensor), (SambaStringRef){0}, &seed));
  uint32_t one = sambaFloatToBits(sambaTensorGetDType(tensor), 1);
  SambaStatus status = NULL;
  if (gradient)
    status = sambaLazyWriteInPlace(seed, gradient);
  else
    memcpy(sambaTensorGetDataPtr(seed), &one, sambaDTypeBytes(sambaTensorGetDType(tensor)));
  if (!status)
    status = accumulate(tensor, seed);
  sambaTensorRelease(seed);
  return status;
}

SambaStatus sambaTensorBackward(SambaTensor *tensor, SambaTensor *gradient, bool retain) {
  char text[SAMBA_LAZY_TEXT_BYTES];
  SambaLazyValue value = sambaLazyValueOf(tensor);
  if (!sambaTensorGetRequiresGrad(tensor))
    return sambaStatusMake(SAMBA_INVALID,
                           "backward: %s does not require a gradient, and neither does anything "
                           "that it is computed from",
                           sambaLazyDescribe(tensor, text));
  SAMBA_RETURN_IF_ERROR(checkGradient(tensor, gradient));
  if (gradient)
    SAMBA_RETURN_IF_ERROR(sambaTensorRealize(1, &gradient, NULL));
  if (!value.node || (!value.node->operator && !value.node->forgotten))
    return backwardOfLeaf(tensor, gradient);

  SambaLazyGraph graph = {.context = value.node->context, .gradients = true};
  SambaStatus status = traceLoss(&graph, value);
  if (!status)
    status = runGraph(&graph, tensor, value, gradient);
  if (!status && !retain)
    forget(&graph);
  sambaLazyGraphFree(&graph);
  return status;
}
