/* The names under which the operators of a module stand in decisions files. */
#ifndef SAMBA_PASSES_SECTION_LAYER_NAMES_H
#define SAMBA_PASSES_SECTION_LAYER_NAMES_H

#include "support/base/memory.h"
#include "support/container/string_map.h"

#include "mlir-c/IR.h"

typedef struct SambaLayerName {
  const char *name;
  uint32_t count; /* operators that have been named so */
} SambaLayerName;

/* Zero-initialize. Operators are named in the order of their graphs, and these in the module's. */
typedef struct SambaLayerNames {
  SambaArena arena;
  SambaStringMap by_name; /* to an index of the list */
  SAMBA_ARRAY(SambaLayerName) list;
  SambaStringMap unnamed; /* operators without a layer, by kind, to an index of the counts */
  SAMBA_ARRAY(uint32_t) unnamed_counts;
} SambaLayerNames;

/* The index in the list of the operator's name: its layer or, without one, "add#2" for the third
 * such add. out_place: how many operators before it had the same name. `kind`: what it is called.
 */
uint32_t sambaLayerNamesAdd(SambaLayerNames *names, SambaStringRef layer, SambaStringRef kind,
                            uint32_t *out_place);
void sambaLayerNamesFree(SambaLayerNames *names);

#endif
