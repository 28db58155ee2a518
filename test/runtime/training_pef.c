/* A PEF for the tests of sessions; see training_pef.h. */
#include "test/runtime/training_pef.h"

#include "backend/machine/shipped.h"
#include "backend/pef/container/writer.h"
#include "support/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
  const char *name;
  SambaPefSymbolKind kind;
  uint32_t flags;
} symbols[trainingSymbols] = {{"x", SAMBA_PEF_SYMBOL_INPUT, 0},
                              {"fc.weight", SAMBA_PEF_SYMBOL_WEIGHT, SAMBA_PEF_REQUIRES_GRAD},
                              {"fc.bias", SAMBA_PEF_SYMBOL_WEIGHT, 0},
                              {"bn.mean", SAMBA_PEF_SYMBOL_BUFFER, 0},
                              {"fc.weight__velocity", SAMBA_PEF_SYMBOL_OPTIMIZER_STATE, 0},
                              {"fc.weight__grad", SAMBA_PEF_SYMBOL_GRADIENT, 0},
                              {"loss", SAMBA_PEF_SYMBOL_LOSS, 0}};

static const struct {
  const char *name, *group;
  SambaPefArginKind kind;
  SambaDType dtype;
  uint64_t value;
} argins[trainingArgins] = {
    {"lr", "lr", SAMBA_PEF_ARGIN_LR, SAMBA_DTYPE_F32, 0x3dcccccd},
    {"weight_decay", "weight_decay", SAMBA_PEF_ARGIN_WEIGHT_DECAY, SAMBA_DTYPE_F32, 0},
    {"momentum", "", SAMBA_PEF_ARGIN_MOMENTUM, SAMBA_DTYPE_F32, 0x3f666666},
    {"drop1", "p", SAMBA_PEF_ARGIN_DROPOUT_RATE, SAMBA_DTYPE_F32, 0x3f000000},
    {"drop2", "p", SAMBA_PEF_ARGIN_DROPOUT_RATE, SAMBA_DTYPE_F32, 0x3e800000},
    {"drop1.seed", "", SAMBA_PEF_ARGIN_DROPOUT_SEED, SAMBA_DTYPE_I64, 0},
    {"drop2.seed", "", SAMBA_PEF_ARGIN_DROPOUT_SEED, SAMBA_DTYPE_I64, 0},
    {"temperature", "", SAMBA_PEF_ARGIN_OTHER, SAMBA_DTYPE_F32, 0x3f800000}};

static const SambaPefSectionType types[trainingSections] = {
    SAMBA_PEF_SECTION_ZEROGRAD, SAMBA_PEF_SECTION_FWD,    SAMBA_PEF_SECTION_FWD,
    SAMBA_PEF_SECTION_BCKWD,    SAMBA_PEF_SECTION_REDUCE, SAMBA_PEF_SECTION_GRADNORM,
    SAMBA_PEF_SECTION_OPT};
static const uint32_t schedule[trainingCalls] = {0, 1, 2, 1, 3, 4, 5, 6};

static void addSymbols(SambaPef *pef) {
  pef->symbols_count = pef->regions_count = trainingSymbols;
  pef->symbols = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSymbol, trainingSymbols);
  pef->regions = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefRegion, trainingSymbols);
  for (uint32_t i = 0; i < trainingSymbols; ++i) {
    SambaPefSymbol *symbol = &pef->symbols[i];
    sambaPefSymbolInitialize(symbol);
    symbol->name = sambaStringRef(symbols[i].name);
    symbol->kind = symbols[i].kind;
    symbol->flags = symbols[i].flags;
    symbol->dims_count = i != trainingLoss;
    symbol->dims = SAMBA_ARENA_NEW(&pef->arena, SambaPefDim);
    symbol->dims->size = 4;
    symbol->bytes = i == trainingLoss ? 4 : 16;
    symbol->region = i;
    symbol->address = 512 * i;

    SambaPefRegion *region = &pef->regions[i];
    sambaPefRegionInitialize(region);
    region->name = symbol->name;
    region->memory = SAMBA_PEF_MEMORY_HBM;
    region->address = symbol->address;
    region->bytes = region->alignment = 512;
    region->owners_count = 1;
    region->owners = SAMBA_ARENA_NEW(&pef->arena, SambaPefOwner);
    region->owners->symbol = i;
  }
  pef->symbols[trainingWeight].grad_symbol = trainingGradient;
}

static void addArgins(SambaPef *pef) {
  pef->argins_count = trainingArgins;
  pef->argins = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefArgin, trainingArgins);
  for (uint32_t i = 0; i < trainingArgins; ++i) {
    sambaPefArginInitialize(&pef->argins[i]);
    pef->argins[i].name = sambaStringRef(argins[i].name);
    pef->argins[i].group = sambaStringRef(argins[i].group);
    pef->argins[i].kind = argins[i].kind;
    pef->argins[i].dtype = argins[i].dtype;
    pef->argins[i].default_value = argins[i].value;
    if (argins[i].kind != SAMBA_PEF_ARGIN_DROPOUT_SEED)
      pef->argins[i].flags = SAMBA_PEF_HAS_DEFAULT;
  }
}

/* All sections share one image of no code at all; every call binds all hyperparameters. */
static void addSchedule(SambaPef *pef, uint32_t present) {
  static const uint8_t code[8] = {0};
  pef->images_count = 1;
  pef->images = SAMBA_ARENA_NEW(&pef->arena, SambaPefImage);
  sambaPefImageInitialize(pef->images);
  pef->images->name = sambaStringRef("empty");
  pef->images->code = (SambaPefBytes){code, sizeof code};

  uint32_t ids[trainingSections] = {0};
  pef->sections = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSection, trainingSections);
  for (uint32_t s = 0; s < trainingSections; ++s)
    if (present & (1u << types[s])) {
      ids[s] = pef->sections_count++;
      pef->sections[ids[s]] = (SambaPefSection){
          .name = sambaStringRef(sambaPefSectionTypeName(types[s])), .type = types[s]};
    }

  pef->calls = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefCall, trainingCalls);
  for (uint32_t c = 0; c < trainingCalls; ++c) {
    if (!(present & (1u << types[schedule[c]])))
      continue;
    SambaPefCall *call = &pef->calls[pef->calls_count++];
    sambaPefCallInitialize(call);
    call->section = ids[schedule[c]];
    call->bindings_count = trainingArgins;
    call->bindings = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefBinding, trainingArgins);
    for (uint32_t i = 0; i < trainingArgins; ++i)
      call->bindings[i] = (SambaPefBinding){
          .kind = SAMBA_PEF_BINDING_ARGIN, .formal = i, .symbol = SAMBA_PEF_NONE, .argin = i};
  }
}

static void addGraph(SambaPef *pef, uint32_t present) {
  bool is_training = present & (1u << SAMBA_PEF_SECTION_BCKWD);
  pef->graphs_count = 1;
  pef->graphs = SAMBA_ARENA_NEW(&pef->arena, SambaPefGraph);
  *pef->graphs =
      (SambaPefGraph){.name = sambaStringRef("main"),
                      .mode = is_training ? SAMBA_PEF_GRAPH_TRAINING : SAMBA_PEF_GRAPH_INFERENCE,
                      .inputs_count = 1,
                      .outputs_count = 1,
                      .call_count = pef->calls_count};
  pef->graphs->inputs = SAMBA_ARENA_NEW(&pef->arena, SambaPefInput);
  pef->graphs->inputs->symbol = trainingX;
  pef->graphs->outputs = SAMBA_ARENA_NEW(&pef->arena, SambaPefOutput);
  pef->graphs->outputs->symbol = trainingLoss;
  pef->graphs->outputs->flags = SAMBA_PEF_OUTPUT_LOSS;
}

void writeChangedTrainingPef(const char *path, uint32_t present, void (*change)(SambaPef *pef)) {
  SambaPef *pef = sambaPefCreate();
  sambaPefSetMachine(pef, sambaMachineFind(sambaStringRef("tiny")));
  present = present ? present : ~0u;
  addSymbols(pef);
  addArgins(pef);
  addSchedule(pef, present);
  addGraph(pef, present);
  if (change)
    change(pef);
  succeeded(sambaPefWrite(pef, path));
  sambaPefDestroy(pef);
}

void writeTrainingPef(const char *path, uint32_t present) {
  writeChangedTrainingPef(path, present, NULL);
}

SambaSession *openRecorded(const char *path, Recording *recording) {
  SambaDeviceFactory factory = recordingDevice(recording);
  SambaSession *session = NULL;
  succeeded(sambaSessionOpen(path, &factory, &session));
  return session;
}

int openRecordedPef(const char *path, void **state) {
  RecordedPef *pef = sambaAllocateZeroed(1, sizeof *pef);
  pef->path = path;
  pef->session = openRecorded(path, &pef->recording);
  *state = pef;
  return 0;
}

int closeRecordedPef(void **state) {
  RecordedPef *pef = *state;
  const char *path = pef->path;
  sambaSessionClose(pef->session);
  recordingFree(&pef->recording);
  free(pef);
  return unlink(path);
}

const char *launchedCalls(Recording *recording, size_t from) {
  SambaText text = {0};
  for (size_t i = from; i < recording->entries.size; ++i)
    if (recording->entries.data[i].kind == RECORDED_LAUNCH)
      sambaTextFormat(&text, "%s%u", text.size ? " " : "", recording->entries.data[i].index);
  return sambaTextToArena(&text, &recording->arena);
}

const Recorded *launchAt(const Recording *recording, size_t n) {
  for (size_t i = 0; i < recording->entries.size; ++i)
    if (recording->entries.data[i].kind == RECORDED_LAUNCH && n-- == 0)
      return &recording->entries.data[i];
  fail_msg("there are fewer launches");
  return NULL;
}

void refusedWith(SambaStatus status, const char *text) {
  if (!status)
    fail_msg("not refused: %s", text);
  if (!strstr(sambaStatusGetMessage(status), text))
    fail_msg("'%s' does not say '%s'", sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

void succeeded(SambaStatus status) {
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
}
