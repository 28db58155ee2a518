/* Why there is no such tensor; see missing_tensor.h. */
#include "runtime/missing_tensor.h"

#include "support/number/shape.h"
#include "support/text/nearest.h"

enum { listedNames = 8, listedDims = 32 };

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

static SambaStatus noteSymbol(SambaStatus status, const char *role, const SambaPefSymbol *symbol) {
  int64_t dims[listedDims];
  char shape[SAMBA_SHAPE_TEXT_BYTES];
  uint32_t rank = symbol->dims_count < listedDims ? symbol->dims_count : listedDims;
  for (uint32_t a = 0; a < rank; ++a)
    dims[a] = (int64_t)symbol->dims[a].size;
  return sambaStatusNote(
      status, "%s '%.*s' is %s", role, SAMBA_STRING_ARGS(symbol->name),
      sambaShapeFormat(shape, sizeof shape, rank, dims, sambaDTypeName(symbol->host_dtype)));
}

SambaStatus sambaNoteInputs(const SambaPef *pef, SambaStatus status) {
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].inputs_count && i < listedNames; ++i)
      status = noteSymbol(status, "input", &pef->symbols[pef->graphs[g].inputs[i].symbol]);
  return status;
}

static SambaStatus noteNames(const SambaPef *pef, SambaStatus status, SambaStringRef name) {
  SambaNearest nearest = sambaNearestStart(name);
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    sambaNearestOffer(&nearest, pef->symbols[s].name);
  if (nearest.found.size)
    status = sambaStatusNote(status, "did you mean '%.*s'?", SAMBA_STRING_ARGS(nearest.found));

  status = sambaNoteInputs(pef, status);
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].outputs_count && i < listedNames; ++i)
      status = noteSymbol(status, "output", &pef->symbols[pef->graphs[g].outputs[i].symbol]);
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
