/* The gradients with which a backward pass begins; see sambaSessionInitOutputGrads. */
#include "runtime/tensors.h"

#include <stdlib.h>
#include <string.h>

/* What is written before anything is checked to the end: nothing. Per symbol that is an output. */
typedef struct {
  SambaLoadedPef *loaded;
  uint32_t count;
  uint32_t *gradients;   /* symbols to write */
  SambaTensor **tensors; /* what: one reference each */
} Plan;

static bool isOutput(const SambaPef *pef, uint32_t symbol) {
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].outputs_count; ++i)
      if (pef->graphs[g].outputs[i].symbol == symbol)
        return true;
  return false;
}

/* Adds a gradient, or changes what is written into it; tensor NULL: ones. */
static SambaStatus add(Plan *plan, uint32_t gradient, SambaTensor *tensor) {
  const SambaPefSymbol *record = &plan->loaded->pef->symbols[gradient];
  SambaTensor *written = sambaTensorRetain(tensor);
  if (!tensor)
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateOnes(record->host_dtype, record->dims_count,
                                                sambaSymbolDims(plan->loaded, gradient),
                                                record->name, &written));

  uint32_t at = 0;
  while (at < plan->count && plan->gradients[at] != gradient)
    ++at;
  if (at == plan->count)
    plan->gradients[plan->count++] = gradient;
  sambaTensorRelease(plan->tensors[at]);
  plan->tensors[at] = written;
  return NULL;
}

/* An output that is no loss has no gradient: that is no mistake when all outputs are meant. */
static SambaStatus addOutput(Plan *plan, uint32_t symbol) {
  uint32_t gradient;
  SambaStatus status = sambaFindGradient(plan->loaded, symbol, &gradient);
  if (!status)
    return add(plan, gradient, NULL);
  sambaStatusFree(status);
  return NULL;
}

static SambaStatus addAllOutputs(Plan *plan) {
  const SambaPef *pef = plan->loaded->pef;
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].outputs_count; ++i)
      SAMBA_RETURN_IF_ERROR(addOutput(plan, pef->graphs[g].outputs[i].symbol));
  return NULL;
}

static SambaStatus addNamedOutput(Plan *plan, SambaStringRef name) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(plan->loaded, name, &symbol));
  if (!isOutput(plan->loaded->pef, symbol))
    return sambaStatusMake(SAMBA_INVALID,
                           "'%.*s' is no output, so no backward pass begins with its gradient",
                           SAMBA_STRING_ARGS(name));
  return addOutput(plan, symbol);
}

/* The gradient must exist here: the user named it. */
static SambaStatus addNamed(Plan *plan, SambaStringRef name, SambaTensor *tensor) {
  uint32_t symbol, gradient;
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(plan->loaded, name, &symbol));
  SAMBA_RETURN_IF_ERROR(sambaFindGradient(plan->loaded, symbol, &gradient));
  return add(plan, gradient, tensor);
}

static bool isAmong(SambaStringRef name, uint32_t count, const SambaStringRef *names) {
  for (uint32_t i = 0; i < count; ++i)
    if (sambaStringRefEqual(names[i], name))
      return true;
  return false;
}

static SambaStatus addCustom(Plan *plan, uint32_t count, const SambaStringRef *outputs,
                             const SambaOutputGradOptions *options) {
  for (uint32_t i = 0; i < options->custom_count; ++i) {
    SambaStringRef name = options->custom_names[i];
    if (count && !isAmong(name, count, outputs) &&
        !isAmong(name, options->extra_count, options->extra))
      return sambaStatusMake(SAMBA_INVALID,
                             "there is a gradient for '%.*s', which is not among the outputs that "
                             "were given",
                             SAMBA_STRING_ARGS(name));
    SAMBA_RETURN_IF_ERROR(addNamed(plan, name, options->custom[i]));
  }
  return NULL;
}

static SambaStatus fill(Plan *plan, uint32_t count, const SambaStringRef *outputs,
                        const SambaOutputGradOptions *options) {
  if (!count)
    SAMBA_RETURN_IF_ERROR(addAllOutputs(plan));
  for (uint32_t i = 0; i < count; ++i)
    SAMBA_RETURN_IF_ERROR(addNamedOutput(plan, outputs[i]));
  for (uint32_t i = 0; i < options->extra_count; ++i)
    SAMBA_RETURN_IF_ERROR(addNamed(plan, options->extra[i], NULL));
  return addCustom(plan, count, outputs, options);
}

/* All gradients are checked before the first one is written. */
static SambaStatus writeAll(const Plan *plan) {
  SambaOutgoing *outgoing = sambaAllocateZeroed(plan->count, sizeof *outgoing);
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < plan->count && !status; ++i)
    status = sambaOutgoingPrepare(plan->loaded, plan->gradients[i], plan->tensors[i], &outgoing[i]);
  for (uint32_t i = 0; i < plan->count && !status; ++i)
    status = sambaWriteValues(plan->loaded, plan->gradients[i], &outgoing[i].data);
  for (uint32_t i = 0; i < plan->count; ++i)
    sambaOutgoingFree(&outgoing[i]);
  free(outgoing);
  return status;
}

SambaStatus sambaSessionInitOutputGrads(SambaSession *session, uint32_t count,
                                        const SambaStringRef *outputs,
                                        const SambaOutputGradOptions *options) {
  static const SambaOutputGradOptions ones = {0};
  options = options ? options : &ones;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  if (options->variable_batch)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "gradients of a variable batch size are not "
                                              "supported; compile the model for the batch size");

  Plan plan = {.loaded = session->loaded};
  uint32_t most = session->loaded->pef->symbols_count;
  plan.gradients = sambaAllocateZeroed(most, sizeof *plan.gradients);
  plan.tensors = sambaAllocateZeroed(most, sizeof(SambaTensor *));
  SambaStatus status = fill(&plan, count, outputs, options);
  if (!status)
    status = writeAll(&plan);
  for (uint32_t i = 0; i < plan.count; ++i)
    sambaTensorRelease(plan.tensors[i]);
  free(plan.gradients);
  free(plan.tensors);
  return status;
}
