/* Copies in f32 become what their weights are; see follow_weights.h. */
#include "runtime/follow_weights.h"

#include "runtime/masters.h"
#include "runtime/values.h"

#include <stdlib.h>

enum { blockElements = 1024 };

/* Elements of the copy that do not round to the weight's become these. Were there any? */
static bool follow(SambaDType dtype, const uint8_t *weight, float *master, uint64_t count) {
  uint16_t narrow[blockElements];
  float rounded[blockElements], wanted[blockElements];
  bool changed = false;
  for (uint64_t at = 0; at < count; at += blockElements) {
    uint64_t size = count - at < blockElements ? count - at : blockElements;
    sambaConvertFloats(SAMBA_DTYPE_F32, master + at, dtype, narrow, size);
    sambaConvertFloats(dtype, narrow, SAMBA_DTYPE_F32, rounded, size);
    sambaConvertFloats(dtype, weight + at * sizeof *narrow, SAMBA_DTYPE_F32, wanted, size);
    for (uint64_t i = 0; i < size; ++i) {
      bool same = rounded[i] == wanted[i];
      master[at + i] = same ? master[at + i] : wanted[i];
      changed |= !same;
    }
  }
  return changed;
}

static SambaStatus reconcile(SambaLoadedPef *loaded, SambaMasterPair *pair) {
  const SambaPefSymbol *weight = &loaded->pef->symbols[pair->weight];
  const SambaPefSymbol *master = &loaded->pef->symbols[pair->master];
  uint8_t *values = sambaAllocate(weight->bytes);
  float *copy = sambaAllocate(master->bytes);

  SambaStatus status = sambaReadSymbol(loaded, pair->weight, values);
  if (!status)
    status = sambaReadSymbol(loaded, pair->master, copy);
  if (!status && follow(weight->device_dtype, values, copy, sambaPefSymbolElements(weight)))
    status = sambaWriteSymbol(loaded, pair->master, copy);
  free(values);
  free(copy);
  SAMBA_RETURN_IF_ERROR(status);

  pair->is_stale = false;
  --loaded->masters.stale;
  return NULL;
}

SambaStatus sambaFollowWeights(SambaLoadedPef *loaded, uint32_t call) {
  SambaMasters *masters = &loaded->masters;
  sambaMastersBefore(loaded, call);
  for (size_t p = 0; p < masters->pairs.size && masters->stale; ++p)
    if (sambaMastersAreRead(loaded, call, &masters->pairs.data[p]))
      SAMBA_RETURN_IF_ERROR(reconcile(loaded, &masters->pairs.data[p]));
  return NULL;
}
