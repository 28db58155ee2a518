/* The phase of an operation: what it does in a step of training, and so the type of the section
 * that runs it. The attribute samba.phase says it; an operation without one belongs to FWD. */
#ifndef SAMBA_DIALECT_SAMBA_PHASE_H
#define SAMBA_DIALECT_SAMBA_PHASE_H

#include "backend/pef/pef.h"

#include "mlir-c/IR.h"

SambaPefSectionType sambaPhaseOf(MlirOperation operation);
/* Of what makes the value: the latest phase of the views on the way and of the operation below
 * them. FWD for arguments and constants. */
SambaPefSectionType sambaPhaseOfValue(MlirValue value);

/* `made` does a part of what `from` does, so it belongs to the same phase. Whoever builds
 * operations from others says so with this; constants have no phase. */
void sambaPhaseTake(MlirOperation made, MlirOperation from);
/* The same as an attribute to build with; the number of attributes, 0 for FWD. */
intptr_t sambaPhaseAttribute(MlirOperation from, MlirNamedAttribute *out_attribute);
/* FWD is said by no attribute. */
void sambaPhaseSet(MlirOperation operation, SambaPefSectionType phase);

/* Refuses operators of a graph whose phases are not in the order of a step, and phases of training
 * in a graph for inference; emits the error at the first one. */
bool sambaPhasesCheck(const MlirOperation *operators, uint32_t count);

#endif
