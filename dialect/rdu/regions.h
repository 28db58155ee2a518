/* Regions of a graph: which values share memory by name. docs/dialects.md says what they mean. */
#ifndef SAMBA_DIALECT_RDU_REGIONS_H
#define SAMBA_DIALECT_RDU_REGIONS_H

#include "support/base/memory.h"
#include "support/container/string_map.h"

#include "mlir-c/IR.h"

/* The dictionary entry of argument ("arg_attrs") or result ("res_attrs") number `index`; null when
 * there is none. */
MlirAttribute sambaFunctionAttribute(MlirOperation function, const char *list, intptr_t index,
                                     const char *name);

/* Names and regions of a graph's interface, both ways, as they were when this was made. The texts
 * are borrowed from the context. */
typedef struct SambaRegions { /* zero-initialize */
  /* Per argument; empty: memory of its own. Of several arguments with the same name, that name is
   * the region of the first. */
  SAMBA_ARRAY(SambaStringRef) of_argument;
  SambaStringMap argument_named; /* name -> its first argument */
  SambaStringMap argument_in;    /* region -> its first argument */
  SambaStringMap result_in;      /* region -> its first result */
} SambaRegions;

void sambaRegionsRead(MlirOperation function, SambaRegions *out_regions);
void sambaRegionsFree(SambaRegions *regions);

/* Borrowed from the context; empty: memory of its own. */
SambaStringRef sambaRegionOfResult(MlirOperation function, intptr_t index);
/* Of a result of a samba.call in the graph: what the call says, else what the graph's result that
 * it becomes says. */
SambaStringRef sambaRegionOfCallResult(MlirOperation function, MlirOperation call, intptr_t result);

/* The first result of the graph that the value becomes, or -1. */
intptr_t sambaGraphResultOf(MlirOperation function, MlirValue value);

/* Calls `visit` with each result of the graph that the value, or a part of it (samba.unstack),
 * becomes, until it returns an error. */
typedef SambaStatus (*SambaVisitGraphResult)(void *user, intptr_t result);
SambaStatus sambaVisitGraphResults(MlirOperation function, MlirValue value,
                                   SambaVisitGraphResult visit, void *user);
/* Whether there is one. */
bool sambaGraphReturns(MlirOperation function, MlirValue value);

#endif
