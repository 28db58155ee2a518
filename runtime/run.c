/* Runs: which calls, what may be missing, launching them; see samba/session.h. */
#include "runtime/clock.h"
#include "runtime/follow_weights.h"
#include "runtime/masters.h"
#include "runtime/run_plan.h"
#include "runtime/session.h"
#include "runtime/tensors.h"

#include <stdlib.h>
#include <string.h>

/* ---- Planning ---- */

static bool callBinds(const SambaPefCall *call, uint32_t symbol) {
  for (uint32_t b = 0; b < call->bindings_count; ++b)
    if (call->bindings[b].kind == SAMBA_PEF_BINDING_SYMBOL && call->bindings[b].symbol == symbol)
      return true;
  return false;
}

static bool isBound(const SambaPef *pef, uint32_t symbol) {
  for (uint32_t c = 0; c < pef->calls_count; ++c)
    if (callBinds(&pef->calls[c], symbol))
      return true;
  return false;
}

bool sambaSessionSkipInput(SambaSession *session, SambaStringRef name) {
  SambaLoadedPef *loaded = session->loaded;
  uint32_t index;
  if (!loaded || !sambaStringMapGet(&loaded->names, name, &index) ||
      loaded->pef->symbols[index].kind != SAMBA_PEF_SYMBOL_INPUT || isBound(loaded->pef, index))
    return false;
  loaded->set[index] = true;
  return true;
}

/* Is it asked for everything? */
static bool isWhole(const SambaRunOrder *order) {
  return !order->group_count && !order->type_count && !order->has_from && !order->has_until;
}

static SambaStatus checkForward(const SambaPef *pef, const uint32_t *calls, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaPefSectionType type = pef->sections[pef->calls[calls[i]].section].type;
    if (type != SAMBA_PEF_SECTION_FWD)
      return sambaStatusMake(SAMBA_INVALID,
                             "call %u is of type %s, but the model was traced without losses or "
                             "optimizers; only FWD sections run",
                             calls[i], sambaPefSectionTypeName(type));
  }
  return NULL;
}

SambaStatus sambaSessionPlanRun(const SambaSession *session, const SambaRunOrder *order,
                                uint32_t **out_calls, uint32_t *out_count) {
  static const SambaSectionType forward = SAMBA_SECTION_FWD;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  const SambaLoadedPef *loaded = session->loaded;
  SambaRunOrder own = *order;
  if (loaded->forward_only && isWhole(order)) {
    own.types = &forward;
    own.type_count = 1;
  }

  SAMBA_RETURN_IF_ERROR(sambaRunOrderPlan(loaded->pef, &own, out_calls, out_count));
  SambaStatus status =
      loaded->forward_only ? checkForward(loaded->pef, *out_calls, *out_count) : NULL;
  if (status)
    free(*out_calls);
  return status;
}

bool sambaSessionFindMissingInput(const SambaSession *session, const SambaRunOrder *order,
                                  SambaTensorInfo *out_info) {
  const SambaLoadedPef *loaded = session->loaded;
  if (!loaded)
    return false;
  const SambaPef *pef = loaded->pef;
  bool is_whole = !order || (isWhole(order) && !order->graph.size);
  uint32_t *calls = NULL, count = 0;
  if (!is_whole) /* what cannot be planned is refused when it shall run */
    sambaStatusFree(sambaSessionPlanRun(session, order, &calls, &count));

  const SambaPefSymbol *missing = NULL;
  for (uint32_t g = 0; g < pef->graphs_count && !missing; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].inputs_count && !missing; ++i) {
      uint32_t index = pef->graphs[g].inputs[i].symbol;
      bool is_read = is_whole;
      for (uint32_t c = 0; c < count && !is_read; ++c)
        is_read = callBinds(&pef->calls[calls[c]], index);
      if (is_read && !loaded->set[index] && pef->symbols[index].init == SAMBA_PEF_INIT_NONE)
        missing = &pef->symbols[index];
    }

  free(calls);
  if (missing)
    sambaStatusFree(sambaSessionGetTensorInfo(session, missing->name, out_info));
  return missing;
}

/* ---- Running ---- */

/* Runs one call and adds what it did to the reports, also when a fault ended it. */
static SambaStatus launch(SambaLoadedPef *loaded, uint32_t call, const uint64_t *argins) {
  SambaDeviceActivity activity = {0};
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaFollowWeights(loaded, call), "call %u", call));
  SambaStatus status = sambaStatusAnnotate(
      loaded->device->functions->launch(loaded->device, call, argins, &activity), "call %u", call);
  sambaMastersAfter(loaded, call, status != NULL);

  SambaSectionReport *section = &loaded->sections[loaded->pef->calls[call].section];
  section->calls += !status;
  sambaDeviceActivityAdd(&section->activity, &activity);
  loaded->report.calls += !status;
  sambaDeviceActivityAdd(&loaded->report.activity, &activity);
  return status;
}

/* Stores the hyperparameters that the run brings and finds what its launches get. A run that is
 * refused leaves the stored ones as they were. */
static SambaStatus bindHyperparameters(SambaLoadedPef *loaded, const SambaRunOptions *options,
                                       const uint32_t *calls, uint32_t count,
                                       const uint64_t **out_argins) {
  SambaHyperparameters *stored = &loaded->hyperparameters;
  uint32_t argins = loaded->pef->argins_count;
  SambaArena before = {0};
  const uint64_t *values = NULL;
  const bool *given = NULL;
  if (options->hyperparameter_count) {
    values = sambaArenaCopy(&before, stored->values, argins * sizeof *values);
    given = sambaArenaCopy(&before, stored->given, argins * sizeof *given);
  }

  SambaStatus status =
      sambaHyperparametersSet(stored, options->hyperparameter_count, options->hyperparameters);
  if (!status)
    status = sambaHyperparametersBind(stored, calls, count, options->evaluate, out_argins);
  if (status && values && argins) {
    memcpy(stored->values, values, argins * sizeof *values);
    memcpy(stored->given, given, argins * sizeof *given);
  }
  sambaArenaDestroy(&before);
  return status;
}

static bool hasOptimizer(const SambaPef *pef, const uint32_t *calls, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (pef->sections[pef->calls[calls[i]].section].type == SAMBA_PEF_SECTION_OPT)
      return true;
  return false;
}

/* ---- What goes in and comes out ---- */

static SambaStatus findTensor(const SambaLoadedPef *loaded, const char *role,
                              const SambaTensor *tensor, uint32_t *out_symbol) {
  SambaStringRef name = sambaTensorGetName(tensor);
  if (!name.size)
    return sambaStatusMake(
        SAMBA_INVALID, "an %s of the run has no name; give it that of a tensor of the PEF", role);
  return sambaStatusAnnotate(sambaFindSymbol(loaded, name, out_symbol), "%s", role);
}

static SambaStatus prepareInputs(SambaLoadedPef *loaded, const SambaRunOptions *options,
                                 SambaOutgoing *inputs) {
  for (uint32_t i = 0; i < options->input_count; ++i) {
    uint32_t symbol;
    if (!options->inputs[i])
      continue;
    SAMBA_RETURN_IF_ERROR(findTensor(loaded, "input", options->inputs[i], &symbol));
    SAMBA_RETURN_IF_ERROR(sambaOutgoingPrepare(loaded, symbol, options->inputs[i], &inputs[i]));
  }
  return NULL;
}

static SambaStatus checkOutputs(SambaLoadedPef *loaded, const SambaRunOptions *options) {
  for (uint32_t i = 0; i < options->output_count; ++i) {
    uint32_t symbol;
    if (!options->outputs[i])
      continue;
    SAMBA_RETURN_IF_ERROR(findTensor(loaded, "output", options->outputs[i], &symbol));
    SAMBA_RETURN_IF_ERROR(sambaCheckTensor(loaded, symbol, options->outputs[i]));
  }
  return NULL;
}

static SambaStatus writeInputs(SambaLoadedPef *loaded, const SambaRunOptions *options,
                               const SambaOutgoing *inputs) {
  for (uint32_t i = 0; i < options->input_count; ++i)
    if (options->inputs[i])
      SAMBA_RETURN_IF_ERROR(sambaWriteValues(loaded, inputs[i].symbol, &inputs[i].data));
  return NULL;
}

static SambaStatus readOutputs(SambaLoadedPef *loaded, const SambaRunOptions *options) {
  for (uint32_t i = 0; i < options->output_count; ++i) {
    uint32_t symbol;
    if (!options->outputs[i])
      continue;
    SAMBA_RETURN_IF_ERROR(findTensor(loaded, "output", options->outputs[i], &symbol));
    SAMBA_RETURN_IF_ERROR(sambaReadTensor(loaded, symbol, options->outputs[i], true));
  }
  return NULL;
}

/* ---- A run ---- */

typedef struct {
  const SambaRunOptions *options;
  void (*progress)(void *user, uint32_t done, uint32_t total);
  void *user;
  uint32_t *calls, count;
  const uint64_t *argins;
  SambaOutgoing *inputs;
} Run;

static SambaStatus launchAll(SambaLoadedPef *loaded, const Run *run) {
  SambaStatus status = NULL;
  double start = sambaClockNow();
  double cpu = sambaClockRead(CLOCK_PROCESS_CPUTIME_ID);
  for (uint32_t i = 0; i < run->count && !status; ++i) {
    if (run->progress)
      run->progress(run->user, i, run->count);
    status = launch(loaded, run->calls[i], run->argins);
  }

  sambaMastersEnd(loaded);
  loaded->report.simulate_seconds += sambaClockNow() - start;
  loaded->report.simulate_cpu_seconds += sambaClockRead(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  loaded->step += !status && hasOptimizer(loaded->pef, run->calls, run->count);
  return status;
}

/* Everything that can be refused comes before the first write. */
static SambaStatus runPlanned(SambaLoadedPef *loaded, Run *run) {
  SAMBA_RETURN_IF_ERROR(prepareInputs(loaded, run->options, run->inputs));
  SAMBA_RETURN_IF_ERROR(checkOutputs(loaded, run->options));
  SAMBA_RETURN_IF_ERROR(
      bindHyperparameters(loaded, run->options, run->calls, run->count, &run->argins));
  SAMBA_RETURN_IF_ERROR(writeInputs(loaded, run->options, run->inputs));
  SAMBA_RETURN_IF_ERROR(launchAll(loaded, run));
  return readOutputs(loaded, run->options);
}

SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                            void (*progress)(void *user, uint32_t done, uint32_t total),
                            void *user) {
  static const SambaRunOptions everything = {0};
  Run run = {.options = options ? options : &everything, .progress = progress, .user = user};
  SAMBA_RETURN_IF_ERROR(sambaSessionPlanRun(session, &run.options->order, &run.calls, &run.count));

  run.inputs = sambaAllocateZeroed(run.options->input_count, sizeof *run.inputs);
  SambaStatus status = runPlanned(session->loaded, &run);
  for (uint32_t i = 0; i < run.options->input_count; ++i)
    sambaOutgoingFree(&run.inputs[i]);
  free(run.inputs);
  free(run.calls);
  return status;
}
