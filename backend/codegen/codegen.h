/* Codegen: a mapped stage graph becomes the units and streams of a section. */
#ifndef SAMBA_BACKEND_CODEGEN_CODEGEN_H
#define SAMBA_BACKEND_CODEGEN_CODEGEN_H

#include "backend/machine/machine.h"
#include "backend/stage/stage.h"

/* Emits a graph whose stages all have mappings (sambaPlanTiles, or by hand). Symbols of
 * the section: the argument tensors in order, then the results. The section and all it
 * points to live in `arena`, which must outlive it; names of tensors and layers are
 * borrowed from the graph. COMPUTE programs may be longer than a PCU holds:
 * sambaSplitPrograms. SAMBA_INVALID when a mapping breaks a rule, SAMBA_EXHAUSTED when a
 * buffer does not fit a PMU or address generators do not suffice, SAMBA_UNSUPPORTED for an
 * indexed read of an intermediate; the message names the stage. */
SambaStatus sambaCodegenSection(const SambaStageGraph *graph, const SambaMachine *machine,
                                SambaArena *arena, SambaSection **out_section);

/* The same for a plan that is only tried: all units, ports and streams, but the slots of the
 * buffers are as the mappings have them, and their banks are not laid out, which takes longer than
 * all else. */
SambaStatus sambaCodegenDraft(const SambaStageGraph *graph, const SambaMachine *machine,
                              SambaArena *arena, SambaSection **out_section);

#endif
