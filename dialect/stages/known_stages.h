/* Stage graphs of sections that have been built already: whoever has read a samba.section leaves
 * its graph in the context's store under the digest of its IR, and the next one takes it. */
#ifndef SAMBA_DIALECT_STAGES_KNOWN_STAGES_H
#define SAMBA_DIALECT_STAGES_KNOWN_STAGES_H

#include "dialect/stages/read_section.h"

typedef struct SambaKnownStages {
  SambaArena arena;  /* of the graph */
  SambaArena tables; /* of its stages and mappings */
  SambaSectionStages stages;
  uint64_t *packed; /* the tables, while nobody has them */
} SambaKnownStages;

/* What sambaSectionRead says of the section, built now or before: the caller's, to change, to keep
 * or to destroy. */
SambaStatus sambaKnownStagesTake(MlirOperation section, SambaKnownStages **out_known);
/* The section's IR says what the graph and its mappings say from now on. */
void sambaKnownStagesKeep(MlirOperation section, SambaKnownStages *known);
void sambaKnownStagesDestroy(SambaKnownStages *known); /* may be NULL */

#endif
