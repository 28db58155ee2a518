/* Why there is no such tensor; see missing_tensor.h. */
#include "runtime/missing_tensor.h"

#include "support/text/nearest.h"

enum { listedNames = 8 };

/* What training adds to the name of a parameter. */
static const struct {
  const char *ending, *what;
} trainingTensors[] = {{"__grad", "gradients"},
                       {"__velocity", "optimizer state"},
                       {"__exp_avg", "optimizer state"},
                       {"__exp_avg_sq", "optimizer state"},
                       {"__step", "optimizer state"}};

static bool endsWith(SambaStringRef name, const char *ending) {
  size_t size = strlen(ending);
  return name.size > size && memcmp(name.data + name.size - size, ending, size) == 0;
}

static const char *nameOfTraining(SambaStringRef name, SambaStringRef *out_parameter) {
  for (size_t i = 0; i < sizeof trainingTensors / sizeof *trainingTensors; ++i)
    if (endsWith(name, trainingTensors[i].ending)) {
      *out_parameter = (SambaStringRef){name.data, name.size - strlen(trainingTensors[i].ending)};
      return trainingTensors[i].what;
    }
  return NULL;
}

static bool isForTraining(const SambaPef *pef) {
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    if (pef->graphs[g].mode == SAMBA_PEF_GRAPH_TRAINING)
      return true;
  return false;
}

static SambaStatus noteNames(const SambaPef *pef, SambaStatus status, SambaStringRef name) {
  SambaNearest nearest = sambaNearestStart(name);
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    sambaNearestOffer(&nearest, pef->symbols[s].name);
  if (nearest.found.size)
    status = sambaStatusNote(status, "did you mean '%.*s'?", SAMBA_STRING_ARGS(nearest.found));

  for (uint32_t g = 0; g < pef->graphs_count; ++g) {
    const SambaPefGraph *graph = &pef->graphs[g];
    for (uint32_t i = 0; i < graph->inputs_count && i < listedNames; ++i)
      status = sambaStatusNote(status, "input '%.*s'",
                               SAMBA_STRING_ARGS(pef->symbols[graph->inputs[i].symbol].name));
    for (uint32_t i = 0; i < graph->outputs_count && i < listedNames; ++i)
      status = sambaStatusNote(status, "output '%.*s'",
                               SAMBA_STRING_ARGS(pef->symbols[graph->outputs[i].symbol].name));
  }
  return status;
}

SambaStatus sambaExplainMissingTensor(const SambaPef *pef, SambaStringRef name) {
  SambaStringRef parameter = {0};
  const char *what = nameOfTraining(name, &parameter);
  if (what && !isForTraining(pef))
    return sambaStatusMake(SAMBA_INVALID,
                           "there is no tensor named '%.*s': this PEF was compiled for inference "
                           "and has no %s; compile the model with --training",
                           SAMBA_STRING_ARGS(name), what);

  uint32_t symbol = what ? sambaPefFindSymbol(pef, parameter) : SAMBA_PEF_NONE;
  if (symbol != SAMBA_PEF_NONE && endsWith(name, "__grad"))
    return sambaStatusMake(SAMBA_INVALID,
                           "there is no tensor named '%.*s': only what was compiled with "
                           "requires_grad has a gradient, and '%.*s' was not",
                           SAMBA_STRING_ARGS(name), SAMBA_STRING_ARGS(parameter));
  return noteNames(
      pef,
      sambaStatusMake(SAMBA_INVALID, "there is no tensor named '%.*s'", SAMBA_STRING_ARGS(name)),
      name);
}
