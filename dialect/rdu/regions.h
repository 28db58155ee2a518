/* Regions of a graph: which values share memory by name. docs/dialects.md says what they mean. */
#ifndef SAMBA_DIALECT_RDU_REGIONS_H
#define SAMBA_DIALECT_RDU_REGIONS_H

#include "support/text/string_ref.h"

#include "mlir-c/IR.h"

/* The dictionary entry of argument ("arg_attrs") or result ("res_attrs") number `index`; null when
 * there is none. */
MlirAttribute sambaFunctionAttribute(MlirOperation function, const char *list, intptr_t index,
                                     const char *name);

/* Borrowed from the context; empty: memory of its own. Of several arguments of one graph with the
 * same name, that name is the region of the first. */
SambaStringRef sambaRegionOfArgument(MlirOperation function, intptr_t index);
SambaStringRef sambaRegionOfResult(MlirOperation function, intptr_t index);
/* Of a result of a samba.call in the graph: what the call says, else what the graph's result that
 * it becomes says. */
SambaStringRef sambaRegionOfCallResult(MlirOperation function, MlirOperation call, intptr_t result);

/* The first result of the graph that the value becomes, or -1. */
intptr_t sambaGraphResultOf(MlirOperation function, MlirValue value);

#endif
