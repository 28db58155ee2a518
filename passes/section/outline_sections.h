/* Outlining: operators that were given section numbers become module-level samba.section symbols
 * and samba.calls. */
#ifndef SAMBA_PASSES_SECTION_OUTLINE_SECTIONS_H
#define SAMBA_PASSES_SECTION_OUTLINE_SECTIONS_H

#include "support/base/memory.h"
#include "support/container/string_map.h"

#include "mlir-c/IR.h"

/* The operators of a function in order: what is neither a view nor a constant nor the terminator.
 * malloc'ed. */
MlirOperation *sambaFunctionOperators(MlirOperation function, uint32_t *out_count);

/* The sections that a module has so far, by their text without locations; zero-initialize. */
typedef struct SambaOutlinedSection {
  char *text; /* owned; a key of by_text */
  MlirOperation section;
} SambaOutlinedSection;
typedef struct SambaOutlinedSections {
  SAMBA_ARRAY(SambaOutlinedSection) list;
  SambaStringMap by_text; /* to an index of the list */
} SambaOutlinedSections;
void sambaOutlinedSectionsFree(SambaOutlinedSections *sections);

/* section_of[i]: section number (dense, any order that is topological when sections are sorted by
 * it) of operator i. ends[s]: why section s ends, an attribute of its call. Views and repeated
 * constants are cloned into every section that reads them. Equal sections become one symbol.
 * call_id counts on over the graphs of the module. */
void sambaOutlineSections(SambaOutlinedSections *sections, MlirOperation function,
                          const MlirOperation *operators, const uint32_t *section_of,
                          const MlirAttribute *ends, uint32_t count, uint32_t section_count,
                          MlirAttribute machine, int64_t *call_id);

#endif
