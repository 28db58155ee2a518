/* The host tensors that a session remembers, those of the model that was traced, and what is done
 * with all of them at once; see samba/session.h. */
#include "runtime/tensors.h"

#include <stdlib.h>
#include <string.h>

static SambaStatus find(const SambaSession *session, SambaStringRef name, uint32_t *out_symbol) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  return sambaFindSymbol(session->loaded, name, out_symbol);
}

static SambaMemoryType memoryOf(const SambaPefRegion *region) {
  switch (region->memory_requested) {
  case SAMBA_PEF_MEMORY_HBM:
    return SAMBA_MEMORY_HBM;
  case SAMBA_PEF_MEMORY_DDR:
    return SAMBA_MEMORY_DDR;
  case SAMBA_PEF_MEMORY_HOST:
    return SAMBA_MEMORY_HOST;
  default:
    return SAMBA_MEMORY_AUTO;
  }
}

/* A host tensor for the symbol, without data. */
static SambaStatus mirror(SambaLoadedPef *loaded, uint32_t symbol) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  const SambaPefRegion *region = &loaded->pef->regions[record->region];
  SambaTensor **tensor = &loaded->traced[symbol];
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(record->host_dtype, record->dims_count,
                                               sambaSymbolDims(loaded, symbol), record->name,
                                               tensor));
  sambaTensorSetRegionName(*tensor, region->name);
  sambaTensorSetMemoryType(*tensor, memoryOf(region));
  sambaTensorSetFastAccess(*tensor, loaded->fast[symbol]);
  return record->flags & SAMBA_PEF_REQUIRES_GRAD ? sambaTensorSetRequiresGrad(*tensor, true) : NULL;
}

SambaStatus sambaSessionGetTensor(SambaSession *session, SambaStringRef name,
                                  SambaTensor **out_tensor) {
  uint32_t symbol;
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(find(session, name, &symbol));
  SambaLoadedPef *loaded = session->loaded;
  if (loaded->forgotten[symbol])
    return sambaStatusMake(SAMBA_INVALID,
                           "tensor '%.*s' was taken out of the session; give it another one with "
                           "an update",
                           SAMBA_STRING_ARGS(name));

  if (!loaded->traced[symbol])
    SAMBA_RETURN_IF_ERROR(mirror(loaded, symbol));
  *out_tensor = sambaTensorRetain(loaded->traced[symbol]);
  return NULL;
}

SambaStatus sambaSessionUpdateTensor(SambaSession *session, SambaStringRef name,
                                     SambaTensor *tensor) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, name, &symbol));
  SambaLoadedPef *loaded = session->loaded;
  if (tensor) {
    const SambaHostData shape = {sambaTensorGetDType(tensor), sambaTensorGetRank(tensor),
                                 sambaTensorGetDims(tensor), NULL};
    SAMBA_RETURN_IF_ERROR(sambaCheckSymbolShape(loaded, symbol, &shape));
  }

  SambaTensor *old = loaded->traced[symbol];
  loaded->traced[symbol] = sambaTensorRetain(tensor);
  loaded->forgotten[symbol] = !tensor;
  sambaTensorRelease(old);
  return NULL;
}

/* ---- All at once ---- */

static bool canBeWritten(const SambaTensor *tensor) {
  return tensor && (sambaTensorHasData(tensor) || sambaTensorGetMaterializer(tensor, NULL));
}

static SambaStatus writeKinds(SambaLoadedPef *loaded, uint32_t kinds) {
  for (uint32_t s = 0; s < loaded->pef->symbols_count; ++s)
    if (kinds & 1u << loaded->pef->symbols[s].kind && canBeWritten(loaded->traced[s]))
      SAMBA_RETURN_IF_ERROR(sambaWriteTensor(loaded, s, loaded->traced[s]));
  return NULL;
}

static SambaStatus readKinds(SambaLoadedPef *loaded, uint32_t kinds, bool in_place) {
  for (uint32_t s = 0; s < loaded->pef->symbols_count; ++s) {
    if (!(kinds & 1u << loaded->pef->symbols[s].kind) || loaded->forgotten[s])
      continue;
    if (!loaded->traced[s])
      SAMBA_RETURN_IF_ERROR(mirror(loaded, s));
    SAMBA_RETURN_IF_ERROR(sambaReadTensor(loaded, s, loaded->traced[s], in_place));
  }
  return NULL;
}

SambaStatus sambaSessionTransferTraced(SambaSession *session) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  return writeKinds(session->loaded, ~0u);
}

SambaStatus sambaSessionSync(SambaSession *session, SambaSyncDirection direction, uint32_t kinds,
                             bool in_place) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  return direction == SAMBA_SYNC_TO_HOST ? readKinds(session->loaded, kinds, in_place)
                                         : writeKinds(session->loaded, kinds);
}

/* ---- Fast access ---- */

SambaStatus sambaSessionGetFastAccess(const SambaSession *session, SambaStringRef name,
                                      bool *out_fast) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, name, &symbol));
  *out_fast = session->loaded->fast[symbol];
  return NULL;
}

SambaStatus sambaSessionSetFastAccess(SambaSession *session, SambaStringRef name, bool fast) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, name, &symbol));
  session->loaded->fast[symbol] = fast;
  return NULL;
}
