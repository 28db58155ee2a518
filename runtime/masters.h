/* Weights of 16 bits and their copies in f32 (`master` of the PEF's symbols). A step is taken from
 * the copy, and writes both. Whoever else writes a weight makes its copy stale: before a call
 * touches the copy, its elements that do not round to the weight's are replaced by these. That is
 * done once after any number of writes; while nobody writes, it costs nothing. */
#ifndef SAMBA_RUNTIME_MASTERS_H
#define SAMBA_RUNTIME_MASTERS_H

#include "runtime/session_state.h"

/* Finds the pairs of a PEF that its device has loaded. All are stale: nobody has compared them. */
void sambaMastersFind(SambaLoadedPef *loaded);
void sambaMastersFree(SambaMasters *masters);

/* The host writes the symbol. */
void sambaMastersWritten(SambaLoadedPef *loaded, uint32_t symbol);
/* The call is about to be launched. */
void sambaMastersBefore(SambaLoadedPef *loaded, uint32_t call);
/* Does the call touch the copy, and is that stale? */
bool sambaMastersAreRead(const SambaLoadedPef *loaded, uint32_t call, const SambaMasterPair *pair);
/* It has been, to its end or not. */
void sambaMastersAfter(SambaLoadedPef *loaded, uint32_t call, bool failed);
/* The run has no more calls. */
void sambaMastersEnd(SambaLoadedPef *loaded);

#endif
