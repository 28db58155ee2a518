/* Groups as text for people: which stages run as one pipeline of PCUs, and what each group is. */
#ifndef SAMBA_BACKEND_GROUP_GROUP_PRINT_H
#define SAMBA_BACKEND_GROUP_GROUP_PRINT_H

#include "backend/group/group.h"
#include "support/text/text.h"

/* A line per group: its stages with their names, its dimensions, what its units do. Numbers of
 * stages are those of sambaStageGraphPrint. */
void sambaGroupsPrint(const SambaStageGraph *graph, const SambaGroups *groups, SambaText *text);

#endif
