/* Stage graphs as text for people, to see what the planner was given and what it decided. */
#ifndef SAMBA_BACKEND_STAGE_STAGE_PRINT_H
#define SAMBA_BACKEND_STAGE_STAGE_PRINT_H

#include "backend/stage/stage.h"
#include "support/text/text.h"

/* A line per tensor, stage, operand and operation, and one for the mapping of a stage that has one.
 * In maps d0, d1, ... are the stage's dimensions. */
void sambaStageGraphPrint(const SambaStageGraph *graph, SambaText *text);

#endif
