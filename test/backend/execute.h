/* Running a lowered section on the value engine and comparing it with the naive evaluation. */
#ifndef SAMBA_TEST_BACKEND_EXECUTE_H
#define SAMBA_TEST_BACKEND_EXECUTE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/stage/stage.h"

/* The section of the mapped graph, split and checked as the compiler does it. */
SambaStatus lowerGraph(const SambaStageGraph *graph, const SambaMachine *machine, SambaArena *arena,
                       SambaSection **out_section);
/* Lowers the mapped graph, checks and splits the section, executes it on random data and compares
 * every result bit for bit. NULL when all is well or the machine lacks room (SAMBA_EXHAUSTED is
 * returned); SAMBA_MISMATCH names the element. */
SambaStatus executeGraph(const SambaStageGraph *graph, const SambaMachine *machine, uint64_t seed);

#endif
