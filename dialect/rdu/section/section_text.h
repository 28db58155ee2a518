/* Inside the adapters between rdu operations and SambaSection: what their files share. */
#ifndef SAMBA_DIALECT_RDU_SECTION_SECTION_TEXT_H
#define SAMBA_DIALECT_RDU_SECTION_SECTION_TEXT_H

#include "backend/section/section.h"
#include "dialect/bridge/bridge.h"
#include "support/text/string_ref.h"

/* One unit read by itself, for its op's verifier: everything but which streams it is on. */
SambaStatus sambaUnitFromIr(MlirOperation op, SambaArena *arena, SambaUnit *out_unit);

/* The kind that an operation is (rdu.load ..), -1: no unit. */
int sambaUnitKindOf(MlirOperation op);
/* dtype and elements of a port's token, from the type of its streams or of a symbol. */
SambaStatus sambaPortTypeFromIr(SambaPort *port, MlirType type);
/* An integer attribute within [least, most]; absent: *out_value is left alone. */
SambaStatus sambaI64FromIr(MlirOperation op, const char *name, int64_t least, int64_t most,
                           int64_t *out_value);
/* A string attribute, copied into the arena. */
const char *sambaTextOf(SambaArena *arena, MlirAttribute text);

/* The program of a rdu.compute: region to struct. unit: input_count and the outputs are there. */
SambaStatus sambaProgramFromIr(MlirOperation op, SambaArena *arena, SambaUnit *unit);
/* Makes the region's block of a compute unit. */
MlirRegion sambaProgramToIr(const SambaUnit *unit, MlirLocation location);

/* "(3,0) west 0:3 -> unit 1:0" */
const char *sambaHopFormat(SambaArena *arena, const SambaHop *hop);
SambaStatus sambaHopParse(SambaStringRef text, SambaHop *out_hop);

#endif
