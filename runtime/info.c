/* What a PEF has, for the users of a session: tensors, hyperparameters, section types, the record
 * of its trace. */
#include "runtime/run_plan.h"
#include "runtime/session.h"
#include "runtime/values.h"

#include <stdlib.h>

/* The values of the interface are those of the format. */
#define SAME(name)                                                                                 \
  _Static_assert((int)SAMBA_##name == (int)SAMBA_PEF_##name, "the format has another value")
SAME(SECTION_ZEROGRAD);
SAME(SECTION_FWD);
SAME(SECTION_BCKWD);
SAME(SECTION_OPT);
SAME(SECTION_REDUCE);
SAME(SECTION_GRADNORM);
SAME(SECTION_TYPE_COUNT);
SAME(SYMBOL_INPUT);
SAME(SYMBOL_WEIGHT);
SAME(SYMBOL_BUFFER);
SAME(SYMBOL_OPTIMIZER_STATE);
SAME(SYMBOL_CONSTANT);
SAME(SYMBOL_OUTPUT);
SAME(SYMBOL_LOSS);
SAME(SYMBOL_UPDATE);
SAME(SYMBOL_ACTIVATION);
SAME(SYMBOL_GRADIENT);
SAME(ARGIN_OTHER);
SAME(ARGIN_LR);
SAME(ARGIN_WEIGHT_DECAY);
SAME(ARGIN_MOMENTUM);
SAME(ARGIN_DROPOUT_RATE);
SAME(ARGIN_DROPOUT_SEED);
#undef SAME

/* ---- Tensors ---- */

static SambaMemoryType memoryOf(const SambaPefRegion *region) {
  static const SambaMemoryType types[] = {[SAMBA_PEF_MEMORY_ANY] = SAMBA_MEMORY_AUTO,
                                          [SAMBA_PEF_MEMORY_HBM] = SAMBA_MEMORY_HBM,
                                          [SAMBA_PEF_MEMORY_DDR] = SAMBA_MEMORY_DDR,
                                          [SAMBA_PEF_MEMORY_HOST] = SAMBA_MEMORY_HOST};
  return types[region->memory];
}

static SambaStringRef nameOf(const SambaPef *pef, uint32_t symbol) {
  return symbol == SAMBA_PEF_NONE ? sambaStringRef("") : pef->symbols[symbol].name;
}

static SambaTensorInfo describeTensor(SambaLoadedPef *loaded, uint32_t symbol) {
  const SambaPef *pef = loaded->pef;
  const SambaPefSymbol *record = &pef->symbols[symbol];
  const SambaPefRegion *region = &pef->regions[record->region];
  return (SambaTensorInfo){.name = record->name,
                           .kind = (SambaSymbolKind)record->kind,
                           .dtype = record->host_dtype,
                           .rank = record->dims_count,
                           .dims = sambaSymbolDims(loaded, symbol),
                           .requires_grad = record->flags & SAMBA_PEF_REQUIRES_GRAD,
                           .fast_access = loaded->fast[symbol],
                           .gradient = nameOf(pef, record->grad_symbol),
                           .update_of = nameOf(pef, record->update_of),
                           .has_init = record->init != SAMBA_PEF_INIT_NONE,
                           .region = region->name,
                           .memory = memoryOf(region),
                           .device_bytes = record->bytes};
}

SambaStatus sambaSessionFindTensor(const SambaSession *session, SambaStringRef name,
                                   const SambaPefSymbol **out_symbol) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(session->loaded, name, &symbol));
  *out_symbol = &session->loaded->pef->symbols[symbol];
  return NULL;
}

SambaStatus sambaSessionGetTensorInfo(const SambaSession *session, SambaStringRef name,
                                      SambaTensorInfo *out_info) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(session->loaded, name, &symbol));
  *out_info = describeTensor(session->loaded, symbol);
  return NULL;
}

void sambaSessionForEachTensor(const SambaSession *session, uint32_t kinds,
                               void (*visit)(void *user, const SambaTensorInfo *info), void *user) {
  SambaLoadedPef *loaded = session->loaded;
  for (uint32_t s = 0; loaded && s < loaded->pef->symbols_count; ++s)
    if (kinds & 1u << loaded->pef->symbols[s].kind) {
      SambaTensorInfo info = describeTensor(loaded, s);
      visit(user, &info);
    }
}

/* ---- Hyperparameters ---- */

static SambaArginInfo describeArgin(const SambaLoadedPef *loaded, uint32_t argin) {
  const SambaPefArgin *record = &loaded->pef->argins[argin];
  return (SambaArginInfo){.name = record->name,
                          .group = record->group,
                          .layer = record->layer,
                          .kind = (SambaArginKind)record->kind,
                          .dtype = record->dtype,
                          .has_default = record->flags & SAMBA_PEF_HAS_DEFAULT,
                          .default_value =
                              sambaHyperparametersNumber(record, record->default_value),
                          .value = sambaHyperparametersValue(&loaded->hyperparameters, argin)};
}

void sambaSessionForEachArgin(const SambaSession *session, uint32_t kinds,
                              void (*visit)(void *user, const SambaArginInfo *info), void *user) {
  const SambaLoadedPef *loaded = session->loaded;
  for (uint32_t i = 0; loaded && i < loaded->pef->argins_count; ++i)
    if (kinds & 1u << loaded->pef->argins[i].kind) {
      SambaArginInfo info = describeArgin(loaded, i);
      visit(user, &info);
    }
}

/* ---- Sections ---- */

uint32_t sambaSessionGetSectionTypes(const SambaSession *session) {
  return session->loaded ? sambaSectionTypesOf(session->loaded->pef) : 0;
}

void sambaSessionForEachSection(const SambaSession *session,
                                void (*visit)(void *user, const SambaSectionInfo *info),
                                void *user) {
  const SambaPef *pef = sambaSessionGetPef(session);
  for (uint32_t s = 0; pef && s < pef->sections_count; ++s)
    visit(user,
          &(SambaSectionInfo){s, pef->sections[s].name, (SambaSectionType)pef->sections[s].type});
}

void sambaSessionForEachCall(const SambaSession *session,
                             void (*visit)(void *user, uint32_t section), void *user) {
  const SambaPef *pef = sambaSessionGetPef(session);
  for (uint32_t c = 0; pef && c < pef->calls_count; ++c)
    visit(user, pef->calls[c].section);
}

/* ---- How it was made ---- */

void sambaSessionForEachOption(const SambaSession *session,
                               void (*visit)(void *user, const SambaOptionInfo *info), void *user) {
  const SambaPef *pef = sambaSessionGetPef(session);
  for (uint32_t i = 0; pef && i < pef->options_count; ++i)
    visit(user, &(SambaOptionInfo){pef->options[i].key, pef->options[i].value});
}

void sambaSessionForEachGraph(const SambaSession *session,
                              void (*visit)(void *user, const SambaGraphInfo *info), void *user) {
  const SambaPef *pef = sambaSessionGetPef(session);
  for (uint32_t g = 0; pef && g < pef->graphs_count; ++g) {
    const SambaPefGraph *graph = &pef->graphs[g];
    bool is_spatial = graph->mapping == SAMBA_PEF_MAPPING_SPATIAL;
    visit(user, &(SambaGraphInfo){.name = graph->name,
                                  .is_training = graph->mode == SAMBA_PEF_GRAPH_TRAINING,
                                  .mapping = is_spatial ? "spatial" : "section",
                                  .first_call = graph->first_call,
                                  .call_count = graph->call_count});
  }
}

/* ---- The trace ---- */

SambaStatus sambaSessionCheckTrace(SambaSession *session, SambaStringRef graph,
                                   const SambaTraceRecord *traced) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  const SambaPef *pef = session->loaded->pef;
  uint32_t at = 0;
  if (graph.size)
    SAMBA_RETURN_IF_ERROR(sambaFindGraph(pef, graph, &at));
  if (at >= pef->graphs_count || !pef->graphs[at].trace.size)
    return sambaStatusMake(SAMBA_INVALID, "the PEF has no record of a trace to compare with");

  const SambaPefBytes *trace = &pef->graphs[at].trace;
  return sambaTraceRecordCompare((SambaStringRef){(const char *)trace->data, trace->size}, traced,
                                 &session->loaded->forward_only);
}
