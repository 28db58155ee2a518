/* The arguments and results of a graph (a func.func), while a pass adds some: read once, changed in
 * memory, written once. */
#ifndef SAMBA_DIALECT_SAMBA_INTERFACE_H
#define SAMBA_DIALECT_SAMBA_INTERFACE_H

#include "support/base/memory.h"
#include "support/text/string_ref.h"

#include "mlir-c/IR.h"

typedef struct SambaInterface {
  MlirOperation function;
  SAMBA_ARRAY(MlirAttribute) arguments; /* one dictionary per argument */
  SAMBA_ARRAY(MlirAttribute) results;   /* one dictionary per result */
  SAMBA_ARRAY(MlirValue) returned;      /* the results' values */
} SambaInterface;

/* Fills a zeroed interface; free it in any case. */
void sambaInterfaceRead(MlirOperation function, SambaInterface *out_interface);
void sambaInterfaceFree(SambaInterface *interface);
/* Sets the function's type, its attributes and what it returns. */
void sambaInterfaceWrite(const SambaInterface *interface);

/* Appends an argument to the body at once; the rest is written by sambaInterfaceWrite. */
MlirValue sambaInterfaceAddArgument(SambaInterface *interface, MlirType type, intptr_t count,
                                    const MlirNamedAttribute *attributes);
void sambaInterfaceAddResult(SambaInterface *interface, MlirValue value, intptr_t count,
                             const MlirNamedAttribute *attributes);
/* Adds or replaces an entry of an argument's or result's dictionary. */
void sambaInterfaceSet(MlirAttribute *dictionary, const char *name, MlirAttribute value);
/* A string entry, borrowed from the context; empty when there is none. */
SambaStringRef sambaInterfaceText(MlirAttribute dictionary, const char *name);

/* Does the graph say that it is trained: samba.graph = {mode = "training"}? */
bool sambaGraphIsTraining(MlirOperation function);

#endif
