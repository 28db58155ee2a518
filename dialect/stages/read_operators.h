/* Operators of a graph as one stage graph, as they would be in a section. */
#ifndef SAMBA_DIALECT_STAGES_READ_OPERATORS_H
#define SAMBA_DIALECT_STAGES_READ_OPERATORS_H

#include "dialect/stages/read_section.h"

/* Reads operators, in the order of their block, with the views and repeated values that they read,
 * as outlining will see them. */
SambaStatus sambaOperatorsRead(const MlirOperation *operators, uint32_t count, SambaArena *arena,
                               SambaStageGraph **out_graph);
/* The same, with the stages' origins: operations are numbers of operators, SAMBA_NO_INDEX for views
 * and repeated values. */
SambaStatus sambaOperatorsReadStages(const MlirOperation *operators, uint32_t count,
                                     SambaArena *arena, SambaSectionStages *out_stages);
/* Whether the structured operations of a graph can be read; emits an error at the first that
 * cannot. */
bool sambaGraphCheckStructured(MlirOperation function);

#endif
