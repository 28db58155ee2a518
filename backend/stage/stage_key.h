/* The content of a stage graph as bytes: graphs with equal keys get equal plans, so that what was
 * planned once can be looked up. */
#ifndef SAMBA_BACKEND_STAGE_STAGE_KEY_H
#define SAMBA_BACKEND_STAGE_STAGE_KEY_H

#include "backend/stage/stage.h"
#include "support/text/string_ref.h"

/* Everything about the graph that decides how it is mapped and what that costs: stages, mappings,
 * and the tensors they use, whatever their numbers. Not names and layers. Memory from the arena. */
SambaStringRef sambaStageGraphKey(const SambaStageGraph *graph, SambaArena *arena);

#endif
